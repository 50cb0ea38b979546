#include "view_page.h"

#include "files.h"
#include "gallery.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- list */

static cli_other *append(cli_others *o, const char *label) {
  const size_t n = (size_t)o->count + 1;
  o->list = cli_resize(o->list, n, sizeof(*o->list));
  o->runs = cli_resize(o->runs, n, sizeof(*o->runs));
  o->labels = cli_resize(o->labels, n, sizeof(*o->labels));
  cli_other *other = &o->list[o->count++];
  *other = (cli_other){.label = cli_format("%s", label)};
  return other;
}

/* all parameters, or NULL: the nominal values */
static int simulate(cli_others *o, cli_run *r, const mbg_model *model, const double *parameters) {
  cli_other *other = &o->list[o->count - 1];
  mbg_context *ctx = r->session.ctx;
  mbg_run_options options = r->options;
  options.keep_poses = true;
  options.progress = NULL;
  cli_run_forward(&options);
  int result = mbg_run_create(ctx, model, &options, &other->run);
  result = result == MBG_OK ? mbg_run_set_parameters(ctx, other->run, parameters) : result;
  result = result == MBG_OK ? mbg_run_simulate(ctx, other->run) : result;
  o->runs[o->count - 1] = other->run;
  o->labels[o->count - 1] = other->label;
  return cli_run_status(r, result);
}

int cli_others_add(cli_others *o, cli_run *r, const mbg_model *model, const double *parameters, const char *label) {
  append(o, label);
  return simulate(o, r, model, parameters);
}

void cli_others_show(const cli_others *o, mbg_view_options *options) {
  options->nother = o->count;
  options->others = o->runs;
  options->labels = o->labels;
}

void cli_others_destroy(cli_others *o) {
  for (int i = 0; i < o->count; i++) {
    mbg_run_destroy(o->list[i].run);
    mbg_model_destroy(o->list[i].model);
    free(o->list[i].label);
  }
  free(o->list);
  free(o->runs);
  free(o->labels);
}

/* ---------------------------------------------------------------------- --with */

static int with_values(cli_others *o, cli_run *r, const char *text) {
  const size_t n = (size_t)mbg_model_parameter_count(r->session.model);
  cli_session own = r->session;
  int status = CLI_DONE;
  own.parameters = cli_resize(NULL, n + 1, sizeof(double));
  if (n > 0) {
    memcpy(own.parameters, r->session.parameters, n * sizeof(double));
  }
  for (const char *p = text; p && status == CLI_DONE; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    char *setting = cli_format("%.*s", (int)strcspn(p, ","), p);
    status = cli_session_set(&own, "with", setting);
    free(setting);
  }
  status = status == CLI_DONE ? cli_others_add(o, r, r->session.model, own.parameters, text) : status;
  free(own.parameters);
  return status;
}

static int with_model(cli_others *o, cli_run *r, const char *name) {
  char *path = cli_model_path(name);
  if (!path) {
    return CLI_BAD_INPUT;
  }
  cli_other *other = append(o, name);
  int status = cli_run_status(r, mbg_model_load_run(r->session.ctx, path, NULL, &other->model));
  free(path);
  if (status == CLI_DONE) {
    status = simulate(o, r, other->model, NULL);
  }
  return status;
}

int cli_others_take(cli_others *o, const cli_args *args, cli_run *r) {
  const char *text;
  int status = CLI_DONE;
  for (int i = 0; status == CLI_DONE && (text = cli_value(args, "with", i)); i++) {
    status = strchr(text, '=') ? with_values(o, r, text) : with_model(o, r, text);
  }
  return status;
}

/* ---------------------------------------------------------------------- page */

static int write_text(const char *text, const char *path) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  fputs(text, f);
  return cli_file_close(f, path);
}

int cli_view_write(cli_run *r, mbg_run *run, const mbg_view_options *options, const char *path, bool quiet) {
  char *page = NULL;
  int status = cli_run_status(r, mbg_view_page(r->session.ctx, run, options, &page));
  if (status == CLI_DONE) {
    status = write_text(page, path);
  }
  if (status == CLI_DONE && !quiet && strcmp(path, "-") != 0) {
    const int bodies = mbg_model_body_count(r->session.model);
    printf("%s: %d %s, t = %g .. %g s, %.0f kB\n", path, bodies, bodies == 1 ? "body" : "bodies",
           mbg_run_node_time(run, 0), mbg_run_node_time(run, mbg_run_node_count(run) - 1), (double)strlen(page) / 1000);
  }
  mbg_text_destroy(r->session.ctx, page);
  return status;
}

/* ---------------------------------------------------------------------- --parameters */

int cli_ghosts_take(const cli_args *args, const cli_session *s, mbg_view_options *options, int **list) {
  const char *text = cli_value(args, "parameters", 0);
  int status = CLI_DONE, n = 0;
  *list = NULL;
  if (!text) {
    return CLI_DONE;
  }
  if (!options->gradient) {
    return cli_bad_input("--parameters needs --gradient");
  }
  *list = cli_resize(NULL, (size_t)mbg_model_parameter_count(s->model) + 1, sizeof(int));
  for (const char *p = text; p && strcmp(text, "none") != 0 && status == CLI_DONE;
       p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    char *name = cli_format("%.*s", (int)strcspn(p, ","), p);
    int first, count;
    status = cli_session_find(s, "parameters", name, &first, &count);
    for (int i = 0; status == CLI_DONE && i < count; i++) {
      bool known = false;
      for (int k = 0; k < n; k++) {
        known = known || (*list)[k] == first + i;
      }
      if (!known) {
        (*list)[n++] = first + i;
      }
    }
    free(name);
  }
  options->ghosts = n;
  options->ghost = *list;
  return status;
}
