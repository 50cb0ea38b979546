#include "session.h"

#include "files.h"
#include "gallery.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- messages */

static int exit_status(int result) {
  switch (result) {
  case MBG_OK:
    return CLI_DONE;
  case MBG_ERROR_INPUT:
  case MBG_ERROR_IO:
  case MBG_ERROR_UNSUPPORTED:
    return CLI_BAD_INPUT;
  default:
    return result < 0 ? CLI_FAILED : CLI_DONE;
  }
}

int cli_session_status(cli_session *s, int result) {
  for (int i = 0; i < mbg_context_message_count(s->ctx); i++) {
    cli_message((cli_severity)mbg_context_message_severity(s->ctx, i), mbg_context_message(s->ctx, i));
  }
  mbg_context_clear(s->ctx);
  return exit_status(result);
}

int cli_session_written(cli_session *s, int result) {
  const int status = cli_session_status(s, result);
  return result == MBG_ERROR_IO ? CLI_FAILED : status;
}

int cli_session_wrote(cli_session *s, int result, char *name, const char *path) {
  if (result == MBG_ERROR_IO) {
    mbg_context_clear(s->ctx); /* it names the file beside */
    return cli_file_end(name, path, false);
  }
  const int status = cli_session_status(s, result);
  if (status == CLI_DONE) {
    return cli_file_end(name, path, true);
  }
  cli_file_give_up(name, path);
  return status;
}

/* ---------------------------------------------------------------------- parameters */

static int unknown_parameter(const cli_session *s, const char *option, const char *name) {
  const int count = mbg_model_parameter_group_count(s->model);
  const char **names = cli_resize(NULL, (size_t)count, sizeof(*names));
  for (int i = 0; i < count; i++) {
    int first, entries;
    (void)mbg_model_parameter_group(s->model, i, &names[i], &first, &entries);
  }
  const char *near = cli_nearest(name, names, count);
  free(names);
  if (near) {
    return cli_bad_input("--%s: the model has no parameter '%s'; did you mean '%s'?", option, name, near);
  }
  return cli_bad_input("--%s: the model has no parameter '%s'", option, name);
}

/* the entries of a name: one, or a whole vector; false for an unknown name */
static bool find_entries(const mbg_model *model, const char *name, int *first, int *count) {
  *first = mbg_model_parameter_find(model, name);
  *count = 1;
  for (int i = 0; *first < 0 && i < mbg_model_parameter_group_count(model); i++) {
    const char *group;
    int begin;
    if (mbg_model_parameter_group(model, i, &group, &begin, count) == MBG_OK && !strcmp(group, name)) {
      *first = begin;
      break;
    }
  }
  return *first >= 0;
}

int cli_session_find(const cli_session *s, const char *option, const char *name, int *first, int *count) {
  return find_entries(s->model, name, first, count) ? CLI_DONE : unknown_parameter(s, option, name);
}

int cli_session_set(cli_session *s, const char *option, const char *setting) {
  const char *equals = strchr(setting, '=');
  if (!equals || equals == setting) {
    return cli_bad_input("--%s: '%s' is not NAME=VALUE", option, setting);
  }
  char *end;
  const double value = strtod(equals + 1, &end);
  if (end == equals + 1 || *end || !isfinite(value)) {
    return cli_bad_input("--%s: '%s' is no number in '%s'", option, equals + 1, setting);
  }
  char *name = cli_format("%.*s", (int)(equals - setting), setting);
  int first, count;
  const int status = cli_session_find(s, option, name, &first, &count);
  for (int i = 0; status == CLI_DONE && i < count; i++) {
    s->parameters[first + i] = value;
  }
  free(name);
  return status;
}

/* the first entry of a parameter that --set has put outside its bounds */
static void warn_entry(const cli_session *s, const char *name, int first, int count) {
  for (int i = first; i < first + count; i++) {
    const double min = mbg_model_parameter_min(s->model, i), max = mbg_model_parameter_max(s->model, i);
    const double value = s->parameters[i];
    if (value < min || value > max) {
      cli_warning("--set: parameter '%s' is %.6g, outside its bounds: %s %.6g", name, value,
                  value < min ? "min" : "max", value < min ? min : max);
      return;
    }
  }
}

/* `check` reports bounds itself */
static void warn_bounds(const cli_session *s, const cli_args *args) {
  const bool told = strcmp(args->command->name, "check") == 0;
  for (int i = 0; !told && i < mbg_model_parameter_group_count(s->model); i++) {
    const char *name;
    int first, count;
    if (mbg_model_parameter_group(s->model, i, &name, &first, &count) == MBG_OK) {
      warn_entry(s, name, first, count > 0 ? count : 1); /* 0: a scalar */
    }
  }
}

/* ---------------------------------------------------------------------- opening */

static int take_parameters(cli_session *s, const cli_args *args) {
  const int count = mbg_model_parameter_count(s->model);
  s->parameters = cli_resize(NULL, (size_t)count, sizeof(double));
  for (int i = 0; i < count; i++) {
    s->parameters[i] = mbg_model_parameter_value(s->model, i);
  }
  const char *setting;
  for (int i = 0; (setting = cli_value(args, "set", i)); i++) {
    const int status = cli_session_set(s, "set", setting);
    if (status != CLI_DONE) {
      return status;
    }
  }
  warn_bounds(s, args);
  return CLI_DONE;
}

int cli_session_open(cli_session *s, const cli_args *args) {
  *s = (cli_session){0};
  if (mbg_context_create(NULL, &s->ctx) < 0) {
    return cli_failed("out of memory");
  }
  char *path = cli_model_path(args->argument[0]);
  if (!path) {
    return CLI_BAD_INPUT;
  }
  int status = cli_session_status(s, mbg_model_load_run(s->ctx, path, cli_value(args, "run", 0), &s->model));
  free(path);
  status = status == CLI_DONE ? cli_files_check(args, s->ctx, s->model) : status;
  return status == CLI_DONE ? take_parameters(s, args) : status;
}

void cli_session_close(cli_session *s) {
  free(s->parameters);
  mbg_model_destroy(s->model);
  mbg_context_destroy(s->ctx);
}
