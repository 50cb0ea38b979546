/* mbgrad sweep: criteria and gradients over a grid or a random sample of parameters */
#include "cli.h"
#include "gradient_table.h"
#include "jobs.h"
#include "results.h"
#include "run_options.h"
#include "sweep_plot.h"
#include "text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DONE = 1, WARNED }; /* of a point; an error is negative */
enum { POINTS_MAX = 10000000 };

/* A parameter that is varied: a list of values, or a range. */
typedef struct {
  char *name;
  int index; /* in the parameter vector */
  double low, high;
  int count; /* of a grid; 0: a range for a sample */
  double *list;
} axis;

/* Everything of one call. */
typedef struct {
  const cli_args *args;
  cli_run r;
  int naxis;
  axis *axes;
  int points;
  uint64_t seed; /* of a random sample; with it: sample is true */
  bool sample, gradient;
  int ncriterion, *criterion; /* columns */
  int jobs;
  double *table; /* points x width: status, criteria, gradients */
  int done;
} job;

static size_t width(const job *j) { return 1 + (size_t)j->ncriterion * (1 + (j->gradient ? (size_t)j->naxis : 0)); }

/* ---------------------------------------------------------------------- options */

static int bad_vary(const char *text, const char *why) {
  return cli_bad_input("--vary: '%s': %s; give NAME=FROM:TO:COUNT, NAME=FROM:TO, NAME=A,B,... or NAME", text, why);
}

/* numbers between separators; their count, 0 when one is none */
static int numbers(const char *text, char separator, double *out, int most) {
  int n = 0;
  for (char *end; n < most; text = end + 1) {
    out[n] = strtod(text, &end);
    if (end == text || !isfinite(out[n]) || (*end && *end != separator)) {
      return 0;
    }
    n++;
    if (!*end) {
      return n;
    }
  }
  return 0;
}

/* FROM:TO:COUNT, FROM:TO */
static int take_range(axis *a, const char *text, const char *values) {
  double x[3];
  const int n = numbers(values, ':', x, 3);
  if (n < 2) {
    return bad_vary(text, "that is no range");
  }
  a->low = x[0];
  a->high = x[1];
  if (n == 3 && (x[2] != floor(x[2]) || x[2] < 1 || x[2] > POINTS_MAX)) {
    return bad_vary(text, "the count is no whole number from 1");
  }
  a->count = n == 3 ? (int)x[2] : 0;
  return CLI_DONE;
}

static int take_list(axis *a, const char *text, const char *values) {
  int room = 1;
  for (const char *c = values; *c; c++) {
    room += *c == ',';
  }
  a->list = cli_resize(NULL, (size_t)room, sizeof(double));
  a->count = numbers(values, ',', a->list, room);
  return a->count > 0 ? CLI_DONE : bad_vary(text, "that is no list of numbers");
}

static int take_axis(const job *j, axis *a, const char *text) {
  const mbg_model *m = j->r.session.model;
  const char *equals = strchr(text, '=');
  *a = (axis){.name = cli_format("%.*s", equals ? (int)(equals - text) : (int)strlen(text), text)};
  a->index = mbg_model_parameter_find(m, a->name);
  if (a->index < 0) {
    return cli_bad_input("--vary: the model has no parameter '%s'%s", a->name,
                         strchr(a->name, '[') ? "" : " (an entry of a vector: NAME[i])");
  }
  a->low = mbg_model_parameter_min(m, a->index);
  a->high = mbg_model_parameter_max(m, a->index);
  int status = !equals               ? CLI_DONE
               : strchr(equals, ':') ? take_range(a, text, equals + 1)
                                     : take_list(a, text, equals + 1);
  if (status == CLI_DONE && !a->list && !(isfinite(a->low) && isfinite(a->high))) {
    status = cli_bad_input("--vary: parameter '%s' has no bounds: give a range", a->name);
  }
  for (const axis *b = j->axes; status == CLI_DONE && b < a; b++) {
    if (b->index == a->index) {
      status = cli_bad_input("--vary: '%s' is given twice", a->name);
    }
  }
  return status;
}

static int take_axes(job *j) {
  int n = 0, status = CLI_DONE;
  while (cli_value(j->args, "vary", n)) {
    n++;
  }
  if (n == 0) {
    return cli_bad_input("no parameter is varied: give --vary NAME=FROM:TO:COUNT");
  }
  j->axes = cli_resize(NULL, (size_t)n, sizeof(*j->axes));
  for (int i = 0; status == CLI_DONE && i < n; i++) {
    status = take_axis(j, &j->axes[i], cli_value(j->args, "vary", i));
    j->naxis++;
  }
  return status;
}

/* how many points; a grid needs a count for each axis, a sample a range */
static int count_points(job *j) {
  double points = 1;
  if (j->sample) {
    for (int i = 0; i < j->naxis; i++) {
      if (j->axes[i].list) {
        return cli_bad_input("--vary: '%s' has a list of values; a random sample needs a range", j->axes[i].name);
      }
    }
    return j->points <= POINTS_MAX ? CLI_DONE : cli_bad_input("--random: %d points; at most %d", j->points, POINTS_MAX);
  }
  for (int i = 0; i < j->naxis; i++) {
    if (j->axes[i].count == 0) {
      return cli_bad_input("--vary: '%s' has no count: give %s=FROM:TO:COUNT, or --random N", j->axes[i].name,
                           j->axes[i].name);
    }
    points *= j->axes[i].count;
  }
  if (points > POINTS_MAX) {
    return cli_bad_input("the grid has %.0f points; at most %d", points, POINTS_MAX);
  }
  j->points = (int)points;
  return CLI_DONE;
}

/* columns: all criteria, or the list of --criteria */
static int take_criteria(job *j) {
  cli_criteria chosen;
  const int status = cli_criteria_choose(j->r.session.model, cli_value(j->args, "criteria", 0), &chosen);
  j->criterion = chosen.index;
  j->ncriterion = chosen.count;
  return status != CLI_DONE || j->ncriterion > 0 ? status : cli_bad_input("the model has no criteria");
}

static int take_options(job *j) {
  int seed = 1;
  j->jobs = 1;
  j->sample = cli_value(j->args, "random", 0) != NULL;
  j->gradient = !cli_flag(j->args, "no-gradient");
  int status = cli_count(j->args, "random", &j->points);
  status = status == CLI_DONE ? cli_count(j->args, "seed", &seed) : status;
  status = status == CLI_DONE ? cli_count(j->args, "jobs", &j->jobs) : status;
  status = status == CLI_DONE ? take_axes(j) : status;
  status = status == CLI_DONE ? count_points(j) : status;
  j->seed = (uint64_t)seed;
  return status == CLI_DONE ? take_criteria(j) : status;
}

/* ---------------------------------------------------------------------- points */

/* number `index` of a sequence, between 0 and 1 (splitmix64): a point does not depend on who computes it */
static double uniform(uint64_t seed, uint64_t index) {
  uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* coordinate i of a point; the last axis runs fastest */
static double coordinate(const job *j, int point, int i) {
  const axis *a = &j->axes[i];
  if (j->sample) {
    return a->low + (a->high - a->low) * uniform(j->seed, (uint64_t)point * (uint64_t)j->naxis + (uint64_t)i);
  }
  for (int k = j->naxis - 1; k > i; k--) {
    point /= j->axes[k].count;
  }
  const int k = point % a->count;
  return a->list ? a->list[k] : a->count == 1 ? a->low : a->low + (a->high - a->low) * k / (a->count - 1);
}

static bool has_warning(const mbg_context *ctx) {
  for (int i = 0; i < mbg_context_message_count(ctx); i++) {
    if (mbg_context_message_severity(ctx, i) == MBG_WARNING) {
      return true;
    }
  }
  return false;
}

/* one simulation, perhaps with its gradients: a row of the table, in front DONE or WARNED when it could be done */
static void compute(void *user, int point, void *out) {
  const job *j = user;
  const mbg_model *m = j->r.session.model;
  const int np = mbg_model_parameter_count(m), nc = mbg_model_criterion_count(m);
  double *row = out, *p = cli_resize(NULL, (size_t)np + 1, sizeof(double));
  double *psi = cli_resize(NULL, (size_t)nc * (size_t)(np + 1) + 1, sizeof(double)), *gradient = psi + nc;
  mbg_context *ctx = NULL;
  mbg_run *run = NULL;
  memcpy(p, j->r.session.parameters, (size_t)np * sizeof(double));
  for (int i = 0; i < j->naxis; i++) {
    p[j->axes[i].index] = coordinate(j, point, i);
  }
  int err = mbg_context_create(NULL, &ctx);
  err = err == MBG_OK ? mbg_run_create(ctx, m, &j->r.options, &run) : err;
  err = err == MBG_OK ? mbg_run_set_parameters(ctx, run, p) : err;
  err = err == MBG_OK ? mbg_run_simulate(ctx, run) : err;
  err = err == MBG_OK && mbg_run_partial(run) ? MBG_ERROR_INTERRUPTED : err;
  err = err == MBG_OK ? mbg_run_criteria(ctx, run, psi) : err;
  if (err == MBG_OK && j->gradient) {
    err = mbg_run_gradient(ctx, run, MBG_METHOD_AUTO, gradient, NULL);
  }
  row[0] = err != MBG_OK ? err : has_warning(ctx) ? WARNED : DONE;
  for (int k = 0; err == MBG_OK && k < j->ncriterion; k++) {
    row[1 + k] = psi[j->criterion[k]];
    for (int i = 0; j->gradient && i < j->naxis; i++) {
      row[1 + j->ncriterion + k * j->naxis + i] =
          gradient[(size_t)j->criterion[k] * (size_t)np + (size_t)j->axes[i].index];
    }
  }
  mbg_run_destroy(run);
  mbg_context_destroy(ctx);
  free(psi);
  free(p);
}

static bool interrupted(void *user) {
  const job *j = user;
  return j->r.options.interrupt(j->r.options.user);
}

static int compute_all(job *j) {
  const size_t w = width(j);
  j->table = cli_resize(NULL, (size_t)j->points * w, sizeof(double));
  for (size_t i = 0; i < (size_t)j->points * w; i++) {
    j->table[i] = i % w == 0 ? MBG_ERROR_INTERRUPTED : NAN;
  }
  if (j->jobs > 1) {
    const cli_jobs jobs = {.pieces = j->points,
                           .jobs = j->jobs,
                           .size = w * sizeof(double),
                           .results = j->table,
                           .work = compute,
                           .stop = interrupted,
                           .user = j};
    return cli_jobs_run(&jobs) < 0 ? CLI_FAILED : CLI_DONE;
  }
  for (int k = 0; k < j->points && !interrupted(j); k++) {
    compute(j, k, j->table + (size_t)k * w);
    if (j->r.bar) {
      fprintf(stderr, "\r\033[Kpoint %d of %d", k + 1, j->points);
      fflush(stderr);
    }
  }
  if (j->r.bar) {
    fputs("\r\033[K", stderr);
  }
  return CLI_DONE;
}

/* ---------------------------------------------------------------------- table */

static void put_head(const job *j, FILE *f) {
  const mbg_model *m = j->r.session.model;
  for (int i = 0; i < j->naxis; i++) {
    fprintf(f, "%s,", j->axes[i].name);
  }
  for (int k = 0; k < j->ncriterion; k++) {
    fprintf(f, "%s,", mbg_model_criterion_name(m, j->criterion[k]));
  }
  for (int k = 0; j->gradient && k < j->ncriterion; k++) {
    for (int i = 0; i < j->naxis; i++) {
      fprintf(f, "d%s/d%s,", mbg_model_criterion_name(m, j->criterion[k]), j->axes[i].name);
    }
  }
  fputs("status\n", f);
}

static const char *status_of(double code) {
  return code > 0 ? "ok" : code == MBG_ERROR_INTERRUPTED ? "not run" : "failed";
}

/* numbers that read back exactly; failed points have none */
static int put_table(job *j, FILE *f) {
  int failed = 0;
  put_head(j, f);
  for (int k = 0; k < j->points; k++) {
    const double *row = j->table + (size_t)k * width(j);
    for (int i = 0; i < j->naxis; i++) {
      fprintf(f, "%.17g,", coordinate(j, k, i));
    }
    for (size_t c = 1; c < width(j); c++) {
      if (row[0] > 0) {
        fprintf(f, "%.17g", row[c]);
      }
      fputc(',', f);
    }
    fprintf(f, "%s\n", status_of(row[0]));
    failed += !(row[0] > 0);
    j->done += row[0] > 0;
  }
  return failed;
}

/* the messages of points stay with who computed them: how many have some, and how to read those of the first */
static void warn_of_warnings(const job *j) {
  int count = 0, first = 0;
  for (int k = j->points - 1; k >= 0; k--) {
    if (j->table[(size_t)k * width(j)] == WARNED) {
      count++;
      first = k;
    }
  }
  if (count > 0) {
    fprintf(stderr, "mbgrad: warning: %d of %d points have warnings; mbgrad simulate", count, j->points);
    for (int i = 0; i < j->naxis; i++) {
      fprintf(stderr, " --set %s=%g", j->axes[i].name, coordinate(j, first, i));
    }
    fputs(" prints those of the first\n", stderr);
  }
}

static int write_table(job *j) {
  const char *path = cli_value(j->args, "out", 0) ? cli_value(j->args, "out", 0) : "-";
  FILE *file = cli_file_open(path);
  if (!file) {
    return CLI_FAILED;
  }
  const int failed = put_table(j, file);
  int status = cli_file_close(file, path);
  if (status == CLI_DONE && interrupted(j)) {
    return cli_failed("interrupted; %d of %d points were computed", j->done, j->points);
  }
  if (status == CLI_DONE && j->done == 0) {
    return cli_failed("no point could be simulated");
  }
  if (status == CLI_DONE && failed > 0) {
    fprintf(stderr, "mbgrad: warning: %d of %d points could not be simulated\n", failed, j->points);
  }
  warn_of_warnings(j);
  return status;
}

/* ---------------------------------------------------------------------- plot */

/* the table by columns: values and slopes of the criteria */
static int draw(const job *j, const char *path, const char **names, const char **units, const char **criteria) {
  const mbg_model *m = j->r.session.model;
  const size_t points = (size_t)j->points, na = (size_t)j->naxis, nc = (size_t)j->ncriterion;
  double *x = cli_resize(NULL, points * na, sizeof(double)), *values = cli_resize(NULL, points * nc, sizeof(double));
  double *slopes = j->gradient ? cli_resize(NULL, points * nc * na, sizeof(double)) : NULL;
  int *counts = cli_resize(NULL, na, sizeof(int));
  for (size_t i = 0; i < na; i++) {
    names[i] = j->axes[i].name;
    units[i] = mbg_model_parameter_unit(m, j->axes[i].index);
    counts[i] = j->axes[i].count;
  }
  for (size_t k = 0; k < nc; k++) {
    criteria[k] = mbg_model_criterion_name(m, j->criterion[k]);
  }
  for (size_t k = 0; k < points; k++) {
    const double *row = j->table + k * width(j);
    for (size_t i = 0; i < na; i++) {
      x[k * na + i] = coordinate(j, (int)k, (int)i);
    }
    memcpy(values + k * nc, row + 1, nc * sizeof(double));
    if (slopes) {
      memcpy(slopes + k * nc * na, row + 1 + nc, nc * na * sizeof(double));
    }
  }
  const cli_sweep_table table = {.title = mbg_model_name(m),
                                 .naxis = j->naxis,
                                 .names = names,
                                 .units = units,
                                 .counts = j->sample ? NULL : counts,
                                 .points = j->points,
                                 .x = x,
                                 .ncriterion = j->ncriterion,
                                 .criteria = criteria,
                                 .values = values,
                                 .slopes = slopes};
  const int status = cli_sweep_plot(path, &table);
  free(x);
  free(values);
  free(slopes);
  free(counts);
  return status;
}

static int write_plot(const job *j) {
  const char *path = cli_value(j->args, "plot", 0);
  if (!path || j->done == 0) {
    return CLI_DONE;
  }
  const char **names = cli_resize(NULL, 2 * (size_t)j->naxis + (size_t)j->ncriterion, sizeof(*names));
  const int status = draw(j, path, names, names + j->naxis, names + 2 * j->naxis);
  free(names);
  return status;
}

/* ---------------------------------------------------------------------- the command */

static int sweep(const cli_args *args) {
  job j = {.args = args};
  int status = cli_run_begin(&j.r, args, false, false);
  j.r.options.progress = NULL;
  status = status == CLI_DONE ? take_options(&j) : status;
  if (!j.gradient) {
    cli_run_forward(&j.r.options);
  }
  status = status == CLI_DONE ? compute_all(&j) : status;
  status = status == CLI_DONE ? write_table(&j) : status;
  status = status == CLI_DONE ? write_plot(&j) : status;
  for (int i = 0; i < j.naxis; i++) {
    free(j.axes[i].name);
    free(j.axes[i].list);
  }
  free(j.axes);
  free(j.criterion);
  free(j.table);
  cli_run_close(&j.r);
  return status;
}

static const cli_option options[] = {
    {"vary", "NAME=FROM:TO:COUNT", true,
     "a parameter that is varied; NAME=A,B,...: these values; for --random FROM:TO,"},
    {"random", "N", false, "N random points instead of a grid; NAME alone: between its bounds"},
    {"seed", "N", false, "other random points; default: 1"},
    {"criteria", "A,B,...", false, "these criteria only"},
    {"no-gradient", NULL, false, "values only"},
    {"jobs", "N", false, "N processes at a time"},
    {"out", "FILE.csv", CLI_FILE_OUT, "write the table to a file; default: standard output"},
    CLI_OPTION_PLOT,
    CLI_OPTIONS_RUN,
};

extern const cli_command cli_cmd_sweep;

const cli_command cli_cmd_sweep = {
    .name = "sweep",
    .arguments = "MODEL",
    .summary = "table of criteria and gradients over a grid or a random sample",
    .details =
        "Simulates the model at every point of a grid, or at random points, and writes parameters, criteria and their\n"
        "derivatives by the varied parameters as CSV. Points that cannot be simulated are rows without values.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = sweep,
};
