/* mbgrad sweep: criteria and gradients over a grid, a random sample or a list of points */
#include "cli.h"
#include "csv_file.h"
#include "gradient_table.h"
#include "points.h"
#include "ranks.h"
#include "results.h"
#include "run_options.h"
#include "slurm.h"
#include "sweep_plot.h"
#include "text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POINTS_MAX = 10000000 };

/* A parameter that is varied: a list of values, or a range. */
typedef struct {
  char *name;
  int index; /* in the parameter vector */
  double low, high;
  int count;    /* of a grid; 0: a range for a sample */
  double *list; /* of a file: a value for each point */
} axis;

/* Everything of one call. */
typedef struct {
  const cli_args *args;
  cli_run r;
  int naxis;
  axis *axes;
  int points;
  uint64_t seed;                 /* of a random sample; with it: sample is true */
  bool sample, listed, gradient; /* listed: the points are those of a file */
  cli_criteria chosen;           /* columns */
  int *input;                    /* parameters of the axes          (naxis) */
  cli_points p;
  cli_point_counts count;
} job;

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
    return bad_vary(text, "the count is no whole number from 1 to 10000000");
  }
  a->count = n == 3 ? (int)x[2] : 0;
  return isfinite(a->high - a->low) ? CLI_DONE : bad_vary(text, "the range is too wide for numbers between its ends");
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

/* a column of a file */
static int take_column(const job *j, axis *a, const cli_csv *csv, int column, const char *path) {
  const mbg_model *m = j->r.session.model;
  const double *values = csv->values + (size_t)column * (size_t)csv->rows;
  *a = (axis){.name = cli_copy(csv->names[column]), .count = csv->rows};
  a->index = mbg_model_parameter_find(m, a->name);
  if (a->index < 0) {
    return cli_bad_input(
        "--points: %s: the model has no parameter '%s' (the first row has names; an entry of a vector: "
        "NAME[i])",
        path, a->name);
  }
  for (const axis *b = j->axes; b < a; b++) {
    if (b->index == a->index) {
      return cli_bad_input("--points: %s: column '%s' is there twice", path, a->name);
    }
  }
  a->list = cli_resize(NULL, (size_t)csv->rows, sizeof(double));
  for (int k = 0; k < csv->rows; k++) {
    if (!isfinite(values[k])) {
      return cli_bad_input("--points: %s: point %d has no number in column '%s'", path, k, a->name);
    }
    a->list[k] = values[k];
  }
  return CLI_DONE;
}

static int take_file(job *j, const char *path) {
  cli_csv csv;
  if (cli_value(j->args, "vary", 0) || j->sample) {
    return cli_bad_input("--points: the file has all points: leave out --%s", j->sample ? "random" : "vary");
  }
  int status = cli_csv_read(&csv, "--points", path);
  if (status == CLI_DONE && csv.rows > POINTS_MAX) {
    status = cli_bad_input("--points: %s: %d points; at most %d", path, csv.rows, POINTS_MAX);
  }
  j->axes = cli_resize(NULL, (size_t)csv.columns + 1, sizeof(*j->axes));
  for (int i = 0; status == CLI_DONE && i < csv.columns; i++) {
    status = take_column(j, &j->axes[i], &csv, i, path);
    j->naxis++;
  }
  j->points = csv.rows;
  cli_csv_destroy(&csv);
  return status;
}

static int take_axes(job *j) {
  const char *path = cli_value(j->args, "points", 0);
  int n = 0, status = CLI_DONE;
  j->listed = path != NULL;
  if (path) {
    return take_file(j, path);
  }
  while (cli_value(j->args, "vary", n)) {
    n++;
  }
  if (n == 0) {
    return cli_bad_input("no parameter is varied: give --vary NAME=FROM:TO:COUNT, or --points FILE.csv");
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
  if (j->listed) {
    return CLI_DONE;
  }
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
  const int status = cli_criteria_choose(j->r.session.model, cli_value(j->args, "criteria", 0), &j->chosen);
  return status != CLI_DONE || j->chosen.count > 0 ? status : cli_bad_input("the model has no criteria");
}

static int take_options(job *j) {
  int seed = 1;
  j->p.jobs = 1;
  j->sample = cli_value(j->args, "random", 0) != NULL;
  j->gradient = !cli_flag(j->args, "no-gradient");
  j->p.ensemble = cli_flag(j->args, "ensemble");
  int status = cli_count(j->args, "random", &j->points);
  status = status == CLI_DONE ? cli_count(j->args, "seed", &seed) : status;
  status = status == CLI_DONE ? cli_count(j->args, "jobs", &j->p.jobs) : status;
  status = status == CLI_DONE ? cli_record_take(j->args, &j->p.record) : status;
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
  if (j->listed) {
    return a->list[point];
  }
  if (j->sample) {
    return a->low + (a->high - a->low) * uniform(j->seed, (uint64_t)point * (uint64_t)j->naxis + (uint64_t)i);
  }
  for (int k = j->naxis - 1; k > i; k--) {
    point /= j->axes[k].count;
  }
  const int k = point % a->count;
  return a->list ? a->list[k] : a->count == 1 ? a->low : a->low + (a->high - a->low) * k / (a->count - 1);
}

static void place(const void *user, int point, double *parameters) {
  const job *j = user;
  for (int i = 0; i < j->naxis; i++) {
    parameters[j->axes[i].index] = coordinate(j, point, i);
  }
}

static int compute_all(job *j) {
  cli_points *p = &j->p;
  j->input = cli_resize(NULL, (size_t)j->naxis, sizeof(int));
  for (int i = 0; i < j->naxis; i++) {
    j->input[i] = j->axes[i].index;
  }
  p->run = &j->r;
  p->points = j->points;
  p->place = place;
  p->user = j;
  p->ninput = j->naxis;
  p->input = j->input;
  p->ncriterion = j->chosen.count;
  p->criterion = j->chosen.index;
  p->gradient = j->gradient;
  const int status = cli_points_run(p, "sweep");
  j->count = cli_point_table_count(&p->table);
  return status;
}

/* ---------------------------------------------------------------------- table */

/* messages of points stay with who computed them: a command that prints those of the first one that failed or has
   warnings, to be freed */
static char *command_of_first(const job *j, bool failed) {
  char *text = cli_format("mbgrad %s %s", failed && j->gradient ? "gradient" : "simulate", j->args->argument[0]);
  int first = 0;
  for (; first < j->points - 1; first++) {
    const double status = *cli_point_table_row(&j->p.table, first);
    if (failed ? status < 0 : status == CLI_POINT_WARNED) {
      break;
    }
  }
  for (int i = 0; i < j->naxis; i++) {
    const double x = coordinate(j, first, i);
    char *shown = cli_format("%g", x);
    char *longer = strtod(shown, NULL) == x ? cli_format("%s --set %s=%s", text, j->axes[i].name, shown)
                                            : cli_format("%s --set %s=%.17g", text, j->axes[i].name, x);
    free(shown);
    free(text);
    text = longer;
  }
  return text;
}

/* exit status: of a table without any result */
static int tell_points(const job *j) {
  const int failed = j->points - j->count.done;
  char *why = command_of_first(j, true), *warnings = command_of_first(j, false);
  if (failed == j->points) {
    (void)cli_failed("no point could be simulated; %s, with the other options, prints the reason of the first", why);
  } else if (failed > 0) {
    cli_warning("%d of %d points could not be simulated; %s, with the other options, prints the reason of the first",
                failed, j->points, why);
  }
  if (j->count.warned > 0) {
    cli_warning("%d of %d points have warnings; %s, with the other options, prints those of the first", j->count.warned,
                j->points, warnings);
  }
  free(why);
  free(warnings);
  return failed == j->points ? CLI_FAILED : CLI_DONE;
}

static int write_table(job *j) {
  const char *path = cli_value(j->args, "out", 0) ? cli_value(j->args, "out", 0) : "-";
  int status;
  if (cli_points_partial(&j->p, &status)) {
    return status;
  }
  status = cli_point_table_write(&j->p.table, path);
  status = status == CLI_DONE ? cli_points_complete(&j->p, "points") : status;
  return status == CLI_DONE ? tell_points(j) : status;
}

/* ---------------------------------------------------------------------- plot */

/* the table by columns: values and slopes of the criteria */
static int draw(const job *j, const char *path, const char **names, const char **units, const char **criteria) {
  const mbg_model *m = j->r.session.model;
  const size_t points = (size_t)j->points, na = (size_t)j->naxis, nc = (size_t)j->chosen.count;
  double *x = cli_resize(NULL, points * na, sizeof(double)), *values = cli_resize(NULL, points * nc, sizeof(double));
  double *slopes = j->gradient ? cli_resize(NULL, points * nc * na, sizeof(double)) : NULL;
  int *counts = cli_resize(NULL, na, sizeof(int));
  for (size_t i = 0; i < na; i++) {
    names[i] = j->axes[i].name;
    units[i] = mbg_model_parameter_unit(m, j->axes[i].index);
    counts[i] = j->axes[i].count;
  }
  for (size_t k = 0; k < nc; k++) {
    criteria[k] = mbg_model_criterion_name(m, j->chosen.index[k]);
  }
  for (size_t k = 0; k < points; k++) {
    const double *row = cli_point_table_row(&j->p.table, (int)k) + 1;
    memcpy(x + k * na, row, na * sizeof(double));
    memcpy(values + k * nc, row + na, nc * sizeof(double));
    if (slopes) {
      memcpy(slopes + k * nc * na, row + na + nc, nc * na * sizeof(double));
    }
  }
  const cli_sweep_table table = {.title = mbg_model_name(m),
                                 .naxis = j->naxis,
                                 .names = names,
                                 .units = units,
                                 .counts = j->sample || j->listed ? NULL : counts,
                                 .points = j->points,
                                 .x = x,
                                 .ncriterion = j->chosen.count,
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
  if (!path || j->count.done == 0 || cli_ranks_own() > 0) {
    return CLI_DONE;
  }
  const char **names = cli_resize(NULL, 2 * (size_t)j->naxis + (size_t)j->chosen.count, sizeof(*names));
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
  if (status == CLI_DONE && !cli_slurm(args, &j.p.record, j.points, &status)) {
    status = compute_all(&j);
    status = status == CLI_DONE ? write_table(&j) : status;
    status = status == CLI_DONE ? write_plot(&j) : status;
  }
  for (int i = 0; i < j.naxis; i++) {
    free(j.axes[i].name);
    free(j.axes[i].list);
  }
  free(j.axes);
  free(j.chosen.index);
  free(j.input);
  cli_points_destroy(&j.p);
  cli_run_close(&j.r);
  return status;
}

static const cli_option options[] = {
    {"vary", "NAME=FROM:TO:COUNT", true,
     "a parameter that is varied; NAME=A,B,...: these values; for --random FROM:TO,"},
    {"random", "N", false, "N random points instead of a grid; NAME alone: between its bounds"},
    {"seed", "N", false, "other random points; default: 1"},
    {"points", "FILE.csv", false, "the points of a file instead: names of parameters, then a row for each point"},
    {"criteria", "A,B,...", false, "these criteria only"},
    {"no-gradient", NULL, false, "values only"},
    {"jobs", "N", false, "N threads"},
    {"ensemble", NULL, false, "four points at a time in vector instructions, with fixed steps; the same numbers"},
    CLI_OPTIONS_RECORDS,
    CLI_OPTIONS_SLURM,
    {"out", "FILE", CLI_FILE_OUT, "write the table: .csv, .h5 or .hdf5; default: CSV to standard output"},
    CLI_OPTION_PLOT,
    CLI_OPTIONS_RUN,
};

extern const cli_command cli_cmd_sweep;

const cli_command cli_cmd_sweep = {
    .name = "sweep",
    .arguments = "MODEL",
    .summary = "table of criteria and gradients over a grid, a sample or a list",
    .details =
        "Simulates the model at every point of a grid, at random points or at those of a file, and writes parameters,\n"
        "criteria and their derivatives by the varied parameters as CSV. Points that cannot be simulated are rows "
        "without values.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = sweep,
    .ranks = true,
};
