/* mbgrad compare --study: gradients by the continuous adjoint of `qr` with five kinds of Jacobian, by minimal
   coordinates and by finite differences; errors of the Jacobian and of finite differences over the perturbation
   (Held and Seifried, Table 1, Figs 3 and 4). */
#include "study.h"

#include "bench/study/study.h"
#include "cli.h"
#include "gradient_table.h"
#include "plot.h"
#include "results.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PERTURBATIONS = 11, FIRST = -2, ROWS = 10, ROUNDS = 3, REPEAT = 300 };

static const double usual = 1e-7; /* perturbation of the states, as in the paper */

/* Central differences have no truncation error of first order: at 1e-7 nothing but rounding is left of them, and the
   cube root of rounding is where they are best. */
static double perturbation_of(study_kind kind) { return kind == STUDY_CENTRAL ? 1e-5 : usual; }

/* One row of Table 1. */
typedef struct {
  const char *key, *name;
  double absolute, relative; /* errors of the gradient */
  long evaluations;          /* of the state equations, 0: not counted */
  double seconds;            /* simulation and gradient */
  double *gradient;          /*                                         (nc x np) */
} row;

typedef struct {
  cli_run *r;
  const mbg_model *model;
  const double *p;
  int nc, np;
  study *s;
  bool pendulum;
  double *exact;         /* gradient                            (nc x np) */
  double *psi, *scratch; /*                                     (nc, nc x np) */
  double tight;          /* tolerance of the exact gradient, 0: closed form */
  int nrow;
  row rows[ROWS];
  double perturbation[PERTURBATIONS]; /* relative */
  double jacobian[PERTURBATIONS];     /* error of the Jacobian by differences (Fig. 3) */
  double jacobian_factors;            /* ... from the factors */
  double jacobian_algorithm;          /* ... from the differentiated algorithm */
  double adjoint[PERTURBATIONS]; /* relative error of the adjoint with the Jacobian by differences; pendulum only */
  double difference[PERTURBATIONS][2]; /* errors of gradients by finite differences, absolute and relative (Fig. 4) */
  double time_jacobian[STUDY_KINDS], time_rates[STUDY_KINDS], time_gradient[STUDY_KINDS];
} comparison;

static const char *const kind_names[STUDY_KINDS] = {"products", "differences", "factors", "algorithm", "central"};

/* of the processor: other programs do not disturb */
static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t entries(const comparison *c) { return (size_t)c->nc * (size_t)c->np; }

/* ---------------------------------------------------------------------- errors */

static void measure(const comparison *c, const double *g, double *absolute, double *relative) {
  *absolute = *relative = 0;
  for (size_t i = 0; i < entries(c); i++) {
    *absolute = fmax(*absolute, fabs(g[i] - c->exact[i]));
  }
  for (int k = 0; k < c->nc; k++) {
    const size_t at = (size_t)k * (size_t)c->np;
    *relative = fmax(*relative, cli_gradient_difference(c->exact + at, g + at, c->p, c->np));
  }
  if (entries(c) == 1 && c->exact[0] != 0) {
    *relative = *absolute / fabs(c->exact[0]); /* as in the paper */
  }
}

static row *add_row(comparison *c, const char *key, const char *name, const double *gradient) {
  row *w = &c->rows[c->nrow++];
  *w = (row){.key = key, .name = name, .gradient = cli_resize(NULL, entries(c), sizeof(double))};
  memcpy(w->gradient, gradient, entries(c) * sizeof(double));
  measure(c, w->gradient, &w->absolute, &w->relative);
  return w;
}

/* ---------------------------------------------------------------------- the exact gradient */

/* directly differentiated, at a tolerance where only rounding is left */
static int differentiate_tightly(comparison *c) {
  mbg_context *ctx = c->r->session.ctx;
  mbg_run_options o = c->r->options;
  mbg_run *run = NULL;
  o.formulation = "qr";
  o.integrator = "dop853";
  o.step = NAN;
  o.tolerance = c->tight = 1e-13;
  int result = mbg_run_create(ctx, c->model, &o, &run);
  result = result == MBG_OK ? mbg_run_set_parameters(ctx, run, c->p) : result;
  result = result == MBG_OK ? mbg_run_simulate(ctx, run) : result;
  result = result == MBG_OK ? mbg_run_gradient(ctx, run, MBG_METHOD_DIRECT, c->exact, NULL) : result;
  mbg_run_destroy(run);
  return result;
}

static int find_exact(comparison *c) {
  c->pendulum = study_is_pendulum(c->s);
  return c->pendulum ? study_pendulum_exact(c->r->session.ctx, c->s, c->psi, c->exact) : differentiate_tightly(c);
}

/* ---------------------------------------------------------------------- Table 1 */

static int adjoint_row(comparison *c, study_kind kind, const char *name) {
  mbg_context *ctx = c->r->session.ctx;
  mbg_run *run = study_run(c->s);
  double least = INFINITY;
  int result = MBG_OK;
  for (int i = 0; i < ROUNDS && result == MBG_OK && (i == 0 || least < 1); i++) {
    const double begin = seconds();
    result = mbg_run_simulate(ctx, run);
    study_choose(c->s, kind, perturbation_of(kind));
    result = result == MBG_OK ? mbg_run_gradient(ctx, run, MBG_METHOD_CONTINUOUS, c->scratch, NULL) : result;
    least = fmin(least, seconds() - begin);
  }
  if (result == MBG_OK) {
    mbg_context_clear(ctx); /* the row shows that differences do not resolve a gradient */
    row *w = add_row(c, kind_names[kind], name, c->scratch);
    w->evaluations = study_evaluations(c->s);
    w->seconds = least;
    c->time_gradient[kind] = w->seconds;
  }
  return result;
}

static int minimal_row(comparison *c) {
  const double begin = seconds();
  const int result = study_pendulum_minimal(c->r->session.ctx, c->s, c->psi, c->scratch);
  const double spent = seconds() - begin;
  if (result == MBG_OK) {
    add_row(c, "minimal", "minimal coordinates, adjoint", c->scratch)->seconds = spent;
  }
  return result;
}

/* the formulation of minimal coordinates for any tree, when this version has it */
static bool has_formulation(const char *key) {
  for (int i = 0; i < mbg_formulation_count(); i++) {
    if (!strcmp(mbg_formulation_key(i), key)) {
      return true;
    }
  }
  return false;
}

static int revolute_row(comparison *c, const char *key) {
  mbg_context *ctx = c->r->session.ctx;
  char *text = study_pendulum_revolute(ctx, c->s);
  mbg_model *model = NULL;
  mbg_run *run = NULL;
  mbg_run_options o;
  double by[4];
  const double begin = seconds();
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = key;
  o.step = (c->r->end - c->r->start) / 20000;
  int result = text ? mbg_model_parse(ctx, "revolute pendulum", text, strlen(text), NULL, &model) : MBG_ERROR_MEMORY;
  result = result == MBG_OK ? mbg_run_create(ctx, model, &o, &run) : result;
  result = result == MBG_OK ? mbg_run_simulate(ctx, run) : result;
  result = result == MBG_OK ? mbg_run_gradient(ctx, run, MBG_METHOD_ADJOINT, by, NULL) : result;
  result = result == MBG_OK ? study_pendulum_gradient(ctx, c->s, by, c->scratch) : result;
  if (result == MBG_OK) {
    const double spent = seconds() - begin;
    add_row(c, key, "revolute body by ali3p, 20000 steps", c->scratch)->seconds = spent;
  }
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  free(text);
  return result;
}

/* ---------------------------------------------------------------------- finite differences of the simulation */

static int criteria_at(comparison *c, const double *p, double *psi) {
  mbg_context *ctx = c->r->session.ctx;
  mbg_run_options o = c->r->options;
  mbg_run *run = NULL;
  o.formulation = "qr";
  o.integrator = "dop853";
  int result = mbg_run_create(ctx, c->model, &o, &run);
  result = result == MBG_OK ? mbg_run_set_parameters(ctx, run, p) : result;
  result = result == MBG_OK ? mbg_run_simulate(ctx, run) : result;
  result = result == MBG_OK && mbg_run_partial(run) ? MBG_ERROR_INTERRUPTED : result;
  result = result == MBG_OK ? mbg_run_criteria(ctx, run, psi) : result;
  mbg_run_destroy(run);
  return result;
}

/* forward differences with one perturbation: np + 1 simulations */
static int difference(comparison *c, double perturbation, const double *base, double *gradient) {
  double *p = cli_resize(NULL, (size_t)c->np, sizeof(double));
  int result = MBG_OK;
  memcpy(p, c->p, (size_t)c->np * sizeof(double));
  for (int j = 0; j < c->np && result == MBG_OK; j++) {
    const double step = perturbation * cli_parameter_size(c->p, j);
    p[j] = c->p[j] + step;
    result = criteria_at(c, p, c->psi);
    for (int k = 0; k < c->nc && result == MBG_OK; k++) {
      gradient[(size_t)k * (size_t)c->np + (size_t)j] = (c->psi[k] - base[k]) / (p[j] - c->p[j]);
    }
    p[j] = c->p[j];
  }
  free(p);
  return result;
}

static int differences(comparison *c) {
  double *base = cli_resize(NULL, (size_t)c->nc, sizeof(double));
  double *best = cli_resize(NULL, entries(c), sizeof(double));
  double least = INFINITY, spent = 0;
  int result = mbg_run_criteria(c->r->session.ctx, study_run(c->s), base);
  for (int i = 0; i < PERTURBATIONS && result == MBG_OK; i++) {
    const double begin = seconds();
    result = difference(c, c->perturbation[i], base, c->scratch);
    measure(c, c->scratch, &c->difference[i][0], &c->difference[i][1]);
    if (result == MBG_OK && c->difference[i][1] < least) {
      least = c->difference[i][1];
      spent = seconds() - begin;
      memcpy(best, c->scratch, entries(c) * sizeof(double));
    }
  }
  if (result == MBG_OK) {
    add_row(c, "finite_differences", "finite differences, best perturbation", best)->seconds =
        spent * (c->np + 1) / c->np;
  }
  free(base);
  free(best);
  return result;
}

/* ---------------------------------------------------------------------- the Jacobian */

/* (S40) with its square, over the entries that are not zero: sqrt(sum ((a - b)/a)^2) */
static double jacobian_error(int n, const double *exact, const double *J) {
  double largest = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    largest = fmax(largest, fabs(exact[i]));
  }
  for (int i = 0; i < n; i++) {
    if (fabs(exact[i]) > 1e-9 * largest) {
      const double e = (J[i] - exact[i]) / exact[i];
      sum += e * e;
    }
  }
  return sqrt(sum);
}

static int jacobians(comparison *c) {
  mbg_context *ctx = c->r->session.ctx;
  const int n = 4 * study_size(c->s) * study_size(c->s);
  double *exact = cli_resize(NULL, 2 * (size_t)n, sizeof(double)), *J = exact + n;
  study_choose(c->s, STUDY_PRODUCTS, usual);
  int result = study_jacobian(ctx, c->s, exact);
  study_choose(c->s, STUDY_FACTORS, usual);
  result = result == MBG_OK ? study_jacobian(ctx, c->s, J) : result;
  c->jacobian_factors = jacobian_error(n, exact, J);
  study_choose(c->s, STUDY_ALGORITHM, usual);
  result = result == MBG_OK ? study_jacobian(ctx, c->s, J) : result;
  c->jacobian_algorithm = jacobian_error(n, exact, J);
  for (int i = 0; i < PERTURBATIONS && result == MBG_OK; i++) {
    study_choose(c->s, STUDY_DIFFERENCES, c->perturbation[i]);
    result = study_jacobian(ctx, c->s, J);
    c->jacobian[i] = jacobian_error(n, exact, J);
  }
  free(exact);
  return result;
}

/* the gradient by the adjoint with Jacobians by differences of every size */
static int adjoint_differences(comparison *c) {
  mbg_context *ctx = c->r->session.ctx;
  int result = MBG_OK;
  for (int i = 0; i < PERTURBATIONS && result == MBG_OK; i++) {
    double absolute;
    study_choose(c->s, STUDY_DIFFERENCES, c->perturbation[i]);
    result = mbg_run_gradient(ctx, study_run(c->s), MBG_METHOD_CONTINUOUS, c->scratch, NULL);
    measure(c, c->scratch, &absolute, &c->adjoint[i]);
  }
  mbg_context_clear(ctx);
  return result;
}

/* times of a Jacobian and of a right-hand side: the least of several rounds, the kinds in turn */
static int time_kinds(comparison *c) {
  mbg_context *ctx = c->r->session.ctx;
  const int n = 4 * study_size(c->s) * study_size(c->s);
  double *J = cli_resize(NULL, (size_t)n, sizeof(double));
  int result = MBG_OK;
  for (int round = 0; round < ROUNDS; round++) {
    for (int kind = 0; kind < STUDY_KINDS && result == MBG_OK; kind++) {
      const double begin = seconds();
      study_choose(c->s, (study_kind)kind, perturbation_of((study_kind)kind));
      for (int i = 0; i < REPEAT && result == MBG_OK; i++) {
        result = study_jacobian(ctx, c->s, J);
      }
      const double middle = seconds();
      result = result == MBG_OK ? study_adjoint_rates(ctx, c->s, REPEAT) : result;
      const double jacobian = (middle - begin) / REPEAT, rates = (seconds() - middle) / REPEAT;
      c->time_jacobian[kind] = round == 0 ? jacobian : fmin(c->time_jacobian[kind], jacobian);
      c->time_rates[kind] = round == 0 ? rates : fmin(c->time_rates[kind], rates);
    }
  }
  free(J);
  return result;
}

/* ---------------------------------------------------------------------- all */

static int compute(comparison *c) {
  mbg_context *ctx = c->r->session.ctx;
  int result = study_open(ctx, c->model, c->p, &c->r->options, &c->s);
  result = result == MBG_OK ? find_exact(c) : result;
  result = result == MBG_OK ? adjoint_row(c, STUDY_PRODUCTS, "adjoint, analytic products") : result;
  result = result == MBG_OK ? adjoint_row(c, STUDY_DIFFERENCES, "adjoint, Jacobian by differences of 1e-7") : result;
  result = result == MBG_OK ? adjoint_row(c, STUDY_CENTRAL, "adjoint, central differences of 1e-5") : result;
  result = result == MBG_OK ? adjoint_row(c, STUDY_FACTORS, "adjoint, derivatives of the factors") : result;
  result = result == MBG_OK ? adjoint_row(c, STUDY_ALGORITHM, "adjoint, differentiated QR algorithm") : result;
  if (c->pendulum) {
    result = result == MBG_OK ? minimal_row(c) : result;
    result = result == MBG_OK && has_formulation("ali3p") ? revolute_row(c, "ali3p") : result;
  }
  result = result == MBG_OK ? differences(c) : result;
  result = result == MBG_OK ? jacobians(c) : result;
  result = result == MBG_OK && c->pendulum ? adjoint_differences(c) : result;
  result = result == MBG_OK ? time_kinds(c) : result;
  return result == MBG_ERROR_INTERRUPTED ? cli_failed("interrupted") : cli_run_status(c->r, result);
}

/* ---------------------------------------------------------------------- for readers */

static void print_rows(const comparison *c) {
  cli_table table = cli_table_make("lrrrr");
  cli_table_texts(&table, "gradient by", "absolute error", "relative error", "evaluations", "time", NULL);
  for (int i = 0; i < c->nrow; i++) {
    const row *w = &c->rows[i];
    cli_table_text(&table, w->name);
    cli_table_format(&table, "%.1e", w->absolute);
    cli_table_format(&table, "%.1e", w->relative);
    if (w->evaluations > 0) {
      cli_table_format(&table, "%ld", w->evaluations);
    } else {
      cli_table_text(&table, "");
    }
    cli_table_format(&table, "%.3g s", w->seconds);
  }
  cli_heading("\ngradient errors (Table 1)");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static void print_perturbations(const comparison *c) {
  cli_table table = cli_table_make("rrrrr");
  cli_table_texts(&table, "perturbation", "Jacobian", "adjoint with it", "gradient, absolute", "relative", NULL);
  for (int i = 0; i < PERTURBATIONS; i++) {
    cli_table_format(&table, "%.0e", c->perturbation[i]);
    cli_table_format(&table, "%.1e", c->jacobian[i]);
    if (c->pendulum) {
      cli_table_format(&table, "%.1e", c->adjoint[i]);
    } else {
      cli_table_text(&table, "");
    }
    cli_table_format(&table, "%.1e", c->difference[i][0]);
    cli_table_format(&table, "%.1e", c->difference[i][1]);
  }
  cli_heading("\nerrors of finite differences (Figs 3 and 4)");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static void add_times(cli_table *table, const char *name, const double *time) {
  cli_table_text(table, name);
  cli_table_format(table, "%.3g us", 1e6 * time[STUDY_PRODUCTS]);
  for (int k = 1; k < STUDY_KINDS; k++) {
    cli_table_format(table, "%.2f", time[k] / time[STUDY_PRODUCTS]);
  }
}

static void print_times(const comparison *c) {
  cli_table table = cli_table_make("lrrrrr");
  cli_table_texts(&table, "time of", "products", "differences", "factors", "algorithm", "central", NULL);
  add_times(&table, "Jacobian", c->time_jacobian);
  add_times(&table, "adjoint right-hand side", c->time_rates);
  add_times(&table, "simulation and gradient", c->time_gradient);
  cli_heading("\nevaluation times, multiples of those of the products");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static void print_text(const comparison *c) {
  cli_heading(mbg_model_name(c->model));
  print_rows(c);
  print_perturbations(c);
  print_times(c);
  char *exact = c->tight > 0 ? cli_format("the direct gradient of qr at the tolerance %g", c->tight)
                             : cli_copy("the closed form of the torsional pendulum");
  char *text =
      cli_format("Exact: %s. Errors are the largest of all criteria and parameters. Perturbations are relative "
                 "for parameters, absolute for states. The Jacobian from the factors differs from the products "
                 "by %.1e, that of the differentiated algorithm by %.1e.",
                 exact, c->jacobian_factors, c->jacobian_algorithm);
  putchar('\n');
  cli_paragraph("  ", text);
  free(text);
  free(exact);
}

/* ---------------------------------------------------------------------- for programs */

static void json_times(const char *name, const double *time, const char *end) {
  printf("    \"%s\": {", name);
  for (int k = 0; k < STUDY_KINDS; k++) {
    printf("%s\"%s\": %.6g", k ? ", " : "", kind_names[k], time[k]);
  }
  printf("}%s\n", end);
}

static void json_row(const comparison *c, const row *w) {
  printf("    {\"method\": \"%s\", \"absolute_error\": %.6g, \"relative_error\": %.6g, \"evaluations\": %ld, "
         "\"seconds\": %.6g, \"criteria\": {",
         w->key, w->absolute, w->relative, w->evaluations, w->seconds);
  for (int k = 0; k < c->nc; k++) {
    fputs(k ? ", " : "", stdout);
    cli_json_string(mbg_model_criterion_name(c->model, k));
    fputs(": ", stdout);
    cli_json_by_parameter(c->model, w->gradient + (size_t)k * (size_t)c->np);
  }
  fputs("}}", stdout);
}

static void print_json(const comparison *c) {
  fputs("{\n  \"model\": ", stdout);
  cli_json_string(mbg_model_name(c->model));
  printf(",\n  \"exact\": \"%s\",\n  \"methods\": [\n", c->tight > 0 ? "tight" : "closed form");
  for (int i = 0; i < c->nrow; i++) {
    json_row(c, &c->rows[i]);
    fputs(i + 1 < c->nrow ? ",\n" : "\n  ],\n", stdout);
  }
  fputs("  \"perturbations\": [\n", stdout);
  for (int i = 0; i < PERTURBATIONS; i++) {
    printf("    {\"perturbation\": %g, \"jacobian\": %.6g, ", c->perturbation[i], c->jacobian[i]);
    if (c->pendulum) {
      printf("\"adjoint\": %.6g, ", c->adjoint[i]);
    }
    printf("\"absolute_error\": %.6g, \"relative_error\": %.6g}%s\n", c->difference[i][0], c->difference[i][1],
           i + 1 < PERTURBATIONS ? "," : "");
  }
  printf("  ],\n  \"jacobian_factors\": %.6g,\n  \"jacobian_algorithm\": %.6g,\n  \"seconds\": {\n",
         c->jacobian_factors, c->jacobian_algorithm);
  json_times("jacobian", c->time_jacobian, ",");
  json_times("adjoint_rates", c->time_rates, ",");
  json_times("gradient", c->time_gradient, "");
  fputs("  }\n}\n", stdout);
}

/* ---------------------------------------------------------------------- files */

static int write_plot(const comparison *c, const char *path) {
  double absolute[PERTURBATIONS], relative[PERTURBATIONS], adjoint[PERTURBATIONS];
  for (int i = 0; i < PERTURBATIONS; i++) {
    absolute[i] = c->difference[i][0];
    relative[i] = c->difference[i][1];
    adjoint[i] = c->rows[0].relative;
  }
  const cli_curve jacobian[] = {{.count = PERTURBATIONS, .x = c->perturbation, .y = c->jacobian, .dots = true}};
  const cli_curve gradient[] = {
      {.name = "absolute", .count = PERTURBATIONS, .x = c->perturbation, .y = absolute, .dots = true},
      {.name = "relative", .count = PERTURBATIONS, .x = c->perturbation, .y = relative, .dots = true},
      {.name = "adjoint, relative", .count = PERTURBATIONS, .x = c->perturbation, .y = adjoint, .dashed = true}};
  const cli_panel panels[] = {{.title = "Jacobian by forward differences (Fig. 3)",
                               .x_label = "perturbation",
                               .y_label = "relative error",
                               .log_x = true,
                               .log_y = true,
                               .ncurve = 1,
                               .curves = jacobian},
                              {.title = "gradient by forward differences of the simulation (Fig. 4)",
                               .x_label = "perturbation",
                               .y_label = "error",
                               .log_x = true,
                               .log_y = true,
                               .ncurve = 3,
                               .curves = gradient}};
  return cli_plot_write(path, mbg_model_name(c->model), panels, 2);
}

static int write_csv(const comparison *c, const char *folder) {
  char *path = cli_format("%s/methods.csv", folder);
  FILE *f = cli_file_open(path);
  int status = f ? CLI_DONE : CLI_FAILED;
  if (f) {
    fputs("method,absolute_error,relative_error,evaluations,seconds\n", f);
    for (int i = 0; i < c->nrow; i++) {
      const row *w = &c->rows[i];
      fprintf(f, "%s,%.6g,%.6g,%ld,%.6g\n", w->key, w->absolute, w->relative, w->evaluations, w->seconds);
    }
    status = cli_file_close(f, path);
  }
  free(path);
  path = cli_format("%s/perturbations.csv", folder);
  f = status == CLI_DONE ? cli_file_open(path) : NULL;
  if (f) {
    fputs("perturbation,jacobian,absolute_error,relative_error\n", f);
    for (int i = 0; i < PERTURBATIONS; i++) {
      fprintf(f, "%g,%.6g,%.6g,%.6g\n", c->perturbation[i], c->jacobian[i], c->difference[i][0], c->difference[i][1]);
    }
    status = cli_file_close(f, path);
  } else {
    status = CLI_FAILED;
  }
  free(path);
  return status;
}

static int write_folder(const comparison *c, const char *folder) {
  char *path = cli_format("%s/study.svg", folder);
  int status = cli_folder_make("--output: ", folder);
  status = status == CLI_DONE ? write_csv(c, folder) : status;
  status = status == CLI_DONE ? write_plot(c, path) : status;
  free(path);
  return status;
}

/* ---------------------------------------------------------------------- the study */

int cli_study(const cli_args *args, cli_run *r) {
  comparison c = {.r = r, .model = r->session.model, .p = r->session.parameters};
  const char *plot = cli_value(args, "plot", 0), *folder = cli_value(args, "output", 0);
  c.nc = mbg_model_criterion_count(c.model);
  c.np = mbg_model_parameter_count(c.model);
  c.exact = cli_resize(NULL, 2 * entries(&c), sizeof(double));
  c.scratch = c.exact + entries(&c);
  c.psi = cli_resize(NULL, (size_t)c.nc, sizeof(double));
  for (int i = 0; i < PERTURBATIONS; i++) {
    c.perturbation[i] = pow(10, FIRST - i);
  }
  int status = compute(&c);
  if (status == CLI_DONE) {
    (cli_flag(args, "json") ? print_json : print_text)(&c);
  }
  status = status == CLI_DONE && plot ? write_plot(&c, plot) : status;
  status = status == CLI_DONE && folder ? write_folder(&c, folder) : status;
  for (int i = 0; i < c.nrow; i++) {
    free(c.rows[i].gradient);
  }
  study_close(c.s);
  free(c.exact);
  free(c.psi);
  return status;
}
