#include "support/fit_case.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- files */

void fit_open(fit_case *c) {
  memset(c, 0, sizeof(*c));
  snprintf(c->folder, sizeof(c->folder), "/tmp/mbgrad-fit-XXXXXX");
  assert_non_null(mkdtemp(c->folder));
  snprintf(c->path, sizeof(c->path), "%s/model.json", c->folder);
  assert_int_equal(mbg_context_create(NULL, &c->ctx), MBG_OK);
}

void fit_close(fit_case *c) {
  mbg_identify_destroy(c->id);
  mbg_model_destroy(c->model);
  mbg_context_destroy(c->ctx);
  DIR *folder = opendir(c->folder);
  for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", c->folder, entry->d_name);
    unlink(path);
  }
  closedir(folder);
  rmdir(c->folder);
}

void fit_file(fit_case *c, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", c->folder, name);
  support_write_file(path, text, strlen(text));
}

char *fit_read(fit_case *c, const char *name) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", c->folder, name);
  return support_read_file(path, NULL);
}

void fit_model(fit_case *c, const char *text) {
  char *json = malloc(strlen(text) + 1);
  strcpy(json, text);
  for (char *p = json; *p; p++) {
    *p = *p == '\'' ? '"' : *p;
  }
  fit_file(c, "model.json", json);
  free(json);
}

void fit_gallery(fit_case *c, const char *name) {
  char path[512];
  snprintf(path, sizeof(path), MBG_GALLERY_DIR "/%s/model.json", name);
  char *text = support_read_file(path, NULL);
  fit_file(c, "model.json", text);
  free(text);
}

/* ---------------------------------------------------------------------- measurements */

static void must(const fit_case *c, int status) {
  if (status < 0) {
    fail_msg("%s", mbg_context_error(c->ctx));
  }
}

/* a file of zeros with all its times, so that the model can be loaded */
static void write_zeros(fit_case *c, const fit_measurement *m, char **names, int n) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", c->folder, m->file);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "time");
  for (int k = 0; k < n; k++) {
    fprintf(file, ",%s", names[k]);
  }
  for (double t = m->start; t <= m->end * (1 + 1e-12); t += m->interval) {
    fprintf(file, "\n%.17g", t);
    for (int k = 0; k < n; k++) {
      fprintf(file, ",0");
    }
  }
  fprintf(file, "\n");
  fclose(file);
}

static int signal_index(const mbg_model *model, const char *name) {
  for (int i = 0; i < mbg_model_signal_count(model); i++) {
    if (mbg_model_signal_name(model, i) && !strcmp(mbg_model_signal_name(model, i), name)) {
      return i;
    }
  }
  fail_msg("no signal '%s'", name);
  return -1;
}

/* linear between the nodes, as criteria do it */
static double signal_at(const mbg_run *run, int signal, double t) {
  int n = 0;
  while (n + 2 < mbg_run_node_count(run) && mbg_run_node_time(run, n + 1) <= t) {
    n++;
  }
  const double t0 = mbg_run_node_time(run, n), t1 = mbg_run_node_time(run, n + 1);
  const double s = fmin(1, fmax(0, (t - t0) / (t1 - t0)));
  return (1 - s) * mbg_run_signal(run, n, signal) + s * mbg_run_signal(run, n + 1, signal);
}

static void write_samples(fit_case *c, const fit_measurement *m, const mbg_model *model, const mbg_run *run,
                          char **names, int n) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", c->folder, m->file);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "time");
  for (int k = 0; k < n; k++) {
    fprintf(file, ",%s", names[k]);
  }
  for (double t = m->start; t <= m->end * (1 + 1e-12); t += m->interval) {
    fprintf(file, "\n%.17g", t);
    for (int k = 0; k < n; k++) {
      const double noise = m->sigma > 0 ? m->sigma * support_normal(m->rng) : 0;
      fprintf(file, ",%.17g", signal_at(run, signal_index(model, names[k]), t) + noise);
    }
  }
  fprintf(file, "\n");
  fclose(file);
}

void fit_measure(fit_case *c, const fit_measurement *m) {
  char *list = malloc(strlen(m->columns) + 1), *names[16];
  int n = 0;
  strcpy(list, m->columns);
  for (char *word = strtok(list, " "); word && n < 16; word = strtok(NULL, " ")) {
    names[n++] = word;
  }
  write_zeros(c, m, names, n);
  mbg_model *model;
  mbg_run *run;
  mbg_run_options options;
  mbg_run_options_default(&options, sizeof(options));
  options = m->options ? *m->options : options;
  options.all_signals = 1;
  must(c, mbg_model_load_run(c->ctx, c->path, m->run, &model));
  must(c, mbg_run_create(c->ctx, model, &options, &run));
  if (m->p) {
    must(c, mbg_run_set_parameters(c->ctx, run, m->p));
  }
  must(c, mbg_run_simulate(c->ctx, run));
  write_samples(c, m, model, run, names, n);
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  mbg_context_clear(c->ctx);
  free(list);
}

/* ---------------------------------------------------------------------- fits */

mbg_identify_options fit_options(void) {
  mbg_identify_options o;
  mbg_identify_options_default(&o, sizeof(o));
  o.bias = false;
  return o;
}

int fit_load(fit_case *c, const char *run) {
  mbg_identify_destroy(c->id);
  c->id = NULL;
  mbg_model_destroy(c->model);
  return mbg_model_load_run(c->ctx, c->path, run, &c->model);
}

static int run_fit(fit_case *c, const mbg_identify_options *options) {
  const mbg_identify_options preset = fit_options();
  mbg_context_clear(c->ctx);
  int status = fit_load(c, NULL);
  if (status == MBG_OK) {
    status = mbg_identify_create(c->ctx, c->model, options ? options : &preset, &c->id);
  }
  return status < 0 ? status : mbg_identify_solve(c->ctx, c->id);
}

const mbg_identify_summary *fit_solve(fit_case *c, const mbg_identify_options *options) {
  must(c, run_fit(c, options));
  return mbg_identify_get_summary(c->id);
}

void fit_fails(fit_case *c, const mbg_identify_options *options, int status, const char *message) {
  const int found = run_fit(c, options);
  if (found != status || !strstr(mbg_context_error(c->ctx), message)) {
    fail_msg("status %d: %s", found, mbg_context_error(c->ctx));
  }
}

const mbg_identify_parameter *fit_parameter(const fit_case *c, const char *name) {
  for (int i = 0; i < mbg_identify_get_summary(c->id)->parameters; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(c->id, i);
    if (!strcmp(p->name, name)) {
      return p;
    }
  }
  fail_msg("no parameter '%s'", name);
  return NULL;
}

double fit_value(const fit_case *c, const char *name) { return fit_parameter(c, name)->value; }

bool fit_warned(const fit_case *c, const char *part) {
  for (int i = 0; i < mbg_identify_get_summary(c->id)->warnings; i++) {
    if (strstr(mbg_identify_warning(c->id, i), part)) {
      return true;
    }
  }
  return false;
}
