#include "series.h"

#include "cli.h"
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

/* ---------------------------------------------------------------------- rows */

static double *value_of(const cli_series *s, double *block, int row) {
  return block + (size_t)row * (size_t)s->columns;
}

static void widen(cli_range *r, bool first, double t, double y) {
  if (first) {
    *r = (cli_range){.first = y, .low = y, .low_t = t, .high = y, .high_t = t};
  }
  if (y < r->low) {
    r->low = y;
    r->low_t = t;
  }
  if (y > r->high) {
    r->high = y;
    r->high_t = t;
  }
  r->last = y;
}

static void add_row(cli_series *s, double t, const double *y) {
  for (int c = 0; c < s->columns; c++) {
    widen(&s->range[c], s->rows == 0, t, y[c]);
  }
  if (s->keep && s->rows >= s->room) {
    s->room = 2 * s->room + 64;
    s->time = cli_resize(s->time, (size_t)s->room, sizeof(double));
    s->values = cli_resize(s->values, (size_t)s->room * (size_t)s->columns, sizeof(double));
  }
  if (s->keep) {
    s->time[s->rows] = t;
    memcpy(value_of(s, s->values, s->rows), y, (size_t)s->columns * sizeof(double));
  }
  s->rows++;
}

/* ---------------------------------------------------------------------- nodes */

/* a row at time t between the last two nodes */
static void add_sample(cli_series *s, double t) {
  const double *y0 = s->node[s->nodes == 1 ? 0 : 1], *y1 = s->node[0];
  const double t0 = s->node_time[s->nodes == 1 ? 0 : 1], t1 = s->node_time[0];
  const double part = t1 > t0 ? fmin(1, fmax(0, (t - t0) / (t1 - t0))) : 0;
  for (int c = 0; c < s->columns; c++) {
    s->sample[c] = part == 0 ? y0[c] : part == 1 ? y1[c] : y0[c] + part * (y1[c] - y0[c]);
  }
  add_row(s, t, s->sample);
}

static double sample_time(const cli_series *s) { return s->start + s->rows * s->interval; }

int cli_series_begin(cli_series *s, const mbg_model *model, const char *list, double interval, bool keep) {
  *s = (cli_series){.interval = interval, .keep = keep};
  s->columns = cli_signals_choose(model, list, &s->signal);
  if (s->columns < 0) {
    s->columns = 0;
    return CLI_BAD_INPUT;
  }
  s->names = cli_resize(NULL, (size_t)s->columns, sizeof(*s->names));
  for (int c = 0; c < s->columns; c++) {
    s->names[c] = mbg_model_signal_name(model, s->signal[c]);
  }
  s->range = cli_resize(NULL, (size_t)s->columns, sizeof(*s->range));
  double *rows = cli_resize(NULL, 3 * (size_t)s->columns, sizeof(double));
  s->sample = rows;
  s->node[0] = rows + s->columns;
  s->node[1] = rows + 2 * (size_t)s->columns;
  return CLI_DONE;
}

double *cli_series_next(cli_series *s) { return s->node[1]; }

void cli_series_node(cli_series *s, double t, bool inner) {
  double *now = s->node[1];
  s->node[1] = s->node[0];
  s->node[0] = now;
  s->node_time[1] = s->node_time[0];
  s->node_time[0] = t;
  s->start = s->nodes == 0 ? t : s->start;
  s->nodes++;
  while (s->interval > 0 && s->nodes > 1 && sample_time(s) < t) {
    add_sample(s, sample_time(s));
  }
  if (!(s->interval > 0) && !inner) {
    add_row(s, t, now);
  }
}

/* rows become columns */
static void transpose(cli_series *s) {
  double *columns = cli_resize(NULL, (size_t)s->rows * (size_t)s->columns, sizeof(double));
  for (int i = 0; i < s->rows; i++) {
    for (int c = 0; c < s->columns; c++) {
      columns[(size_t)c * (size_t)s->rows + (size_t)i] = value_of(s, s->values, i)[c];
    }
  }
  free(s->values);
  s->values = columns;
}

void cli_series_end(cli_series *s) {
  if (s->interval > 0 && s->nodes > 0) {
    const double span = s->node_time[0] - s->start;
    const int rows = (int)floor(span / s->interval * (1 + 1e-12) + 1e-9) + 1;
    while (s->rows < rows) {
      add_sample(s, sample_time(s));
    }
  }
  if (s->keep) {
    transpose(s);
  }
}

int cli_series_make(cli_series *s, const mbg_model *model, const mbg_run *run, const char *list, double interval) {
  const int status = cli_series_begin(s, model, list, interval, true);
  for (int node = 0; status == CLI_DONE && node < mbg_run_node_count(run); node++) {
    double *y = cli_series_next(s);
    for (int c = 0; c < s->columns; c++) {
      y[c] = mbg_run_signal(run, node, s->signal[c]);
    }
    cli_series_node(s, mbg_run_node_time(run, node), mbg_run_node_inner(run, node));
  }
  if (status == CLI_DONE) {
    cli_series_end(s);
  }
  return status;
}

void cli_series_destroy(cli_series *s) {
  free(s->names);
  free(s->signal);
  free(s->range);
  free(s->sample);
  free(s->time);
  free(s->values);
}
