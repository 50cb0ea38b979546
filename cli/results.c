#include "results.h"

#include "cli.h"
#include "hdf5_file.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- choice of signals */

static int find_signal(const mbg_model *model, const char *name) {
  const int count = mbg_model_signal_count(model);
  const char **names = cli_resize(NULL, (size_t)count, sizeof(*names));
  int found = -1, named = 0;
  for (int i = 0; i < count; i++) {
    const char *own = mbg_model_signal_name(model, i);
    if (own) {
      names[named++] = own;
      found = !strcmp(own, name) ? i : found;
    }
  }
  if (found < 0) {
    const char *near = cli_nearest(name, names, named);
    cli_bad_input("--signals: the model has no signal '%s'%s%s%s", name, near ? "; did you mean '" : "",
                  near ? near : "", near ? "'?" : "");
  }
  free(names);
  return found;
}

static int choose_all(const mbg_model *model, int **signal) {
  const int count = mbg_model_signal_count(model);
  int chosen = 0;
  *signal = cli_resize(NULL, (size_t)count, sizeof(int));
  for (int i = 0; i < count; i++) {
    if (mbg_model_signal_name(model, i)) {
      (*signal)[chosen++] = i;
    }
  }
  return chosen;
}

int cli_signals_choose(const mbg_model *model, const char *list, int **signal) {
  if (!list) {
    return choose_all(model, signal);
  }
  int chosen = 0;
  *signal = cli_resize(NULL, strlen(list) + 1, sizeof(int));
  while (*list) {
    const size_t length = strcspn(list, ",");
    char *name = cli_format("%.*s", (int)length, list);
    const int found = find_signal(model, name);
    free(name);
    if (found < 0) {
      return -1;
    }
    (*signal)[chosen++] = found;
    list += length + (list[length] == ',');
  }
  return chosen;
}

/* ---------------------------------------------------------------------- columns */

static int row_count(const mbg_run *run, double interval) {
  const int nodes = mbg_run_node_count(run);
  const double span = mbg_run_node_time(run, nodes - 1) - mbg_run_node_time(run, 0);
  if (interval > 0) {
    return (int)floor(span / interval * (1 + 1e-12) + 1e-9) + 1;
  }
  int rows = 0;
  for (int node = 0; node < nodes; node++) {
    rows += !mbg_run_node_inner(run, node);
  }
  return rows;
}

static void take_nodes(cli_series *s, const mbg_run *run) {
  for (int i = 0, node = 0; i < s->rows; node++) {
    if (mbg_run_node_inner(run, node)) {
      continue;
    }
    s->time[i] = mbg_run_node_time(run, node);
    for (int c = 0; c < s->columns; c++) {
      s->values[(size_t)c * (size_t)s->rows + (size_t)i] = mbg_run_signal(run, node, s->signal[c]);
    }
    i++;
  }
}

static void take_samples(cli_series *s, const mbg_run *run, double interval) {
  const int nodes = mbg_run_node_count(run);
  const double start = mbg_run_node_time(run, 0);
  int node = 0; /* the sample lies between this one and the next */
  for (int i = 0; i < s->rows; i++) {
    const double t = start + i * interval;
    while (node + 2 < nodes && mbg_run_node_time(run, node + 1) <= t) {
      node++;
    }
    const double t0 = mbg_run_node_time(run, node), t1 = nodes > 1 ? mbg_run_node_time(run, node + 1) : t0;
    const double part = t1 > t0 ? fmin(1, fmax(0, (t - t0) / (t1 - t0))) : 0;
    s->time[i] = t;
    for (int c = 0; c < s->columns; c++) {
      const double y0 = mbg_run_signal(run, node, s->signal[c]);
      const double y1 = nodes > 1 ? mbg_run_signal(run, node + 1, s->signal[c]) : y0;
      s->values[(size_t)c * (size_t)s->rows + (size_t)i] = part == 0 ? y0 : part == 1 ? y1 : y0 + part * (y1 - y0);
    }
  }
}

int cli_series_make(cli_series *s, const mbg_model *model, const mbg_run *run, const char *list, double interval) {
  *s = (cli_series){.rows = row_count(run, interval)};
  s->columns = cli_signals_choose(model, list, &s->signal);
  if (s->columns < 0) {
    s->columns = 0;
    return CLI_BAD_INPUT;
  }
  s->names = cli_resize(NULL, (size_t)s->columns, sizeof(*s->names));
  for (int c = 0; c < s->columns; c++) {
    s->names[c] = mbg_model_signal_name(model, s->signal[c]);
  }
  s->time = cli_resize(NULL, (size_t)s->rows, sizeof(double));
  s->values = cli_resize(NULL, (size_t)s->rows * (size_t)s->columns, sizeof(double));
  if (interval > 0) {
    take_samples(s, run, interval);
  } else {
    take_nodes(s, run);
  }
  return CLI_DONE;
}

void cli_series_destroy(cli_series *s) {
  free(s->names);
  free(s->signal);
  free(s->time);
  free(s->values);
}

/* ---------------------------------------------------------------------- files */

static bool is_hdf5(const char *path) { return cli_ends_with(path, ".h5") || cli_ends_with(path, ".hdf5"); }

int cli_series_path(const char *path) {
  if (strcmp(path, "-") != 0 && !cli_ends_with(path, ".csv") && !is_hdf5(path)) {
    return cli_bad_input("--out: '%s' ends neither with .csv nor with .h5", path);
  }
#ifndef MBG_HDF5
  if (is_hdf5(path)) {
    return cli_bad_input("--out: this program was built without HDF5; '%s' can be written as .csv", path);
  }
#endif
  return CLI_DONE;
}

bool cli_series_is_hdf5(const char *path) { return path && is_hdf5(path); }

void cli_csv_name(FILE *f, const char *name) {
  if (!strpbrk(name, ",\"\n")) {
    fputs(name, f);
    return;
  }
  fputc('"', f);
  for (; *name; name++) {
    fputs(*name == '"' ? "\"\"" : (char[]){*name, 0}, f);
  }
  fputc('"', f);
}

static int write_csv(const cli_series *s, const char *path) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  fputs("t", f);
  for (int c = 0; c < s->columns; c++) {
    fputc(',', f);
    cli_csv_name(f, s->names[c]);
  }
  for (int i = 0; i < s->rows; i++) {
    fprintf(f, "\n%.15g", s->time[i]);
    for (int c = 0; c < s->columns; c++) {
      fprintf(f, ",%.15g", s->values[(size_t)c * (size_t)s->rows + (size_t)i]);
    }
  }
  fputc('\n', f);
  return cli_file_close(f, path);
}

int cli_series_write(const cli_series *s, const cli_origin *o, const char *path) {
  const int status = cli_series_path(path);
  (void)o;
#ifdef MBG_HDF5
  if (status == CLI_DONE && is_hdf5(path)) {
    return cli_hdf5_write(s, o, path);
  }
#endif
  return status == CLI_DONE ? write_csv(s, path) : status;
}

/* ---------------------------------------------------------------------- JSON */

void cli_json_number(FILE *f, double value) {
  char text[40];
  if (!isfinite(value)) {
    fputs("null", f);
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof(text), "%.*g", digits, value);
    if (strtod(text, NULL) == value) {
      break;
    }
  }
  fputs(text, f);
}

static void put_array(FILE *f, const double *v, int count) {
  fputc('[', f);
  for (int i = 0; i < count; i++) {
    fputs(i > 0 ? ", " : "", f);
    cli_json_number(f, v[i]);
  }
  fputc(']', f);
}

void cli_json_by_parameter(const mbg_model *model, const double *v) {
  putchar('{');
  for (int i = 0; i < mbg_model_parameter_group_count(model); i++) {
    const char *name;
    int first, count;
    (void)mbg_model_parameter_group(model, i, &name, &first, &count);
    fputs(i > 0 ? ", " : "", stdout);
    cli_json_string(name);
    fputs(": ", stdout);
    if (count > 0) {
      put_array(stdout, v + first, count);
    } else {
      cli_json_number(stdout, v[first]);
    }
  }
  putchar('}');
}

void cli_json_work(const mbg_run *run) {
  const mbg_run_work *w = mbg_run_get_work(run);
  printf("{\"steps\": %ld, \"newton_iterations\": %ld, \"factorizations\": %ld, \"recomputed_steps\": %ld, "
         "\"seconds_simulate\": %.6g, \"seconds_gradient\": %.6g, \"peak_bytes\": %.0f, "
         "\"drift_position\": %.3g, \"drift_velocity\": %.3g}",
         w->steps, w->newton_iterations, w->factorizations, w->recomputed_steps, w->seconds_simulate,
         w->seconds_gradient, w->peak_bytes, w->drift_position, w->drift_velocity);
}
