/* mbgrad compare: all formulations and methods side by side */
#include "cli.h"
#include "gradient_table.h"
#include "plot.h"
#include "results.h"
#include "run_options.h"
#include "study.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 4 };

/* One way to the gradient. */
typedef struct {
  const char *formulation, *method;
  bool done;
  char *why;                      /* error message, or NULL */
  double *psi;                    /*                                         (nc) */
  double *gradient;               /*                                         (nc x np) */
  double value_far, gradient_far; /* largest relative differences to the reference */
  mbg_run_work work;
} way;

typedef struct {
  cli_run *r;
  const mbg_model *model;
  int nc, np, nway;
  way *ways;
  way reference;    /* the model's formulation and its adjoint, more accurate */
  double step;      /* of the reference, on the average, or */
  double tolerance; /* its relative tolerance under error control */
} comparison;

/* ---------------------------------------------------------------------- computation */

static void take_arrays(const comparison *c, way *w) {
  w->psi = cli_resize(NULL, (size_t)c->nc * (size_t)(c->np + 1), sizeof(double));
  w->gradient = w->psi + c->nc;
}

static int simulate(const comparison *c, const mbg_run_options *options, mbg_run **run) {
  mbg_context *ctx = c->r->session.ctx;
  int result = mbg_run_create(ctx, c->model, options, run);
  result = result == MBG_OK ? mbg_run_set_parameters(ctx, *run, c->r->session.parameters) : result;
  result = result == MBG_OK ? mbg_run_simulate(ctx, *run) : result;
  return result == MBG_OK && mbg_run_partial(*run) ? MBG_ERROR_INTERRUPTED : result;
}

static int differentiate(const comparison *c, mbg_run *run, mbg_method method, way *w) {
  mbg_context *ctx = c->r->session.ctx;
  int result = mbg_run_criteria(ctx, run, w->psi);
  result = result == MBG_OK ? mbg_run_gradient(ctx, run, method, w->gradient, NULL) : result;
  w->formulation = mbg_run_formulation(run);
  w->method = mbg_method_name((int)method);
  w->done = result == MBG_OK;
  if (!w->done) {
    w->why = cli_copy(mbg_context_error(ctx));
  }
  w->work = *mbg_run_get_work(run);
  mbg_context_clear(ctx);
  return result;
}

/* all methods that a formulation has on one run; a formulation that cannot run the model is a row with its reason */
static int add_formulation(comparison *c, int index) {
  const char *key = mbg_formulation_key(index);
  mbg_run_options options = c->r->options;
  mbg_run *run = NULL;
  cli_run_formulation(&options, key);
  const int result = simulate(c, &options, &run);
  for (int m = MBG_METHOD_DIRECT; m < MBG_METHOD_COUNT && result != MBG_ERROR_INTERRUPTED; m++) {
    if (!mbg_formulation_has(index, (mbg_method)m)) {
      continue;
    }
    way *w = &c->ways[c->nway++];
    take_arrays(c, w);
    if (result == MBG_OK) {
      (void)differentiate(c, run, (mbg_method)m, w);
    } else {
      w->formulation = key;
      w->method = mbg_method_name(m);
      w->why = cli_copy(mbg_context_error(c->r->session.ctx));
    }
  }
  mbg_context_clear(c->r->session.ctx);
  mbg_run_destroy(run);
  return result == MBG_ERROR_INTERRUPTED ? cli_failed("interrupted") : CLI_DONE;
}

/* half the step, or a hundredth of the tolerance as far as doubles go */
static void refine(comparison *c, mbg_run_options *options) {
  const double relative = mbg_run_relative_tolerance(c->r->run);
  options->formulation = mbg_run_formulation(c->r->run);
  if (relative > 0) {
    options->tolerance = c->tolerance = fmax(relative / 100, 1e-13);
  } else {
    options->tolerance = NAN;
    options->step = c->step = (c->r->end - c->r->start) / (2 * (double)mbg_run_get_work(c->r->run)->steps);
  }
}

static int make_reference(comparison *c) {
  mbg_run_options options = c->r->options;
  mbg_run *run = NULL;
  refine(c, &options);
  take_arrays(c, &c->reference);
  int result = simulate(c, &options, &run);
  if (result == MBG_OK) {
    result = differentiate(c, run, mbg_run_adjoint_method(run), &c->reference);
  }
  mbg_run_destroy(run);
  return result == MBG_ERROR_INTERRUPTED ? cli_failed("interrupted") : cli_run_status(c->r, result);
}

static void measure(const comparison *c, way *w) {
  w->value_far = w->gradient_far = 0;
  for (int k = 0; w->done && k < c->nc; k++) {
    const size_t at = (size_t)k * (size_t)c->np;
    const double value = c->reference.psi[k], away = fabs(w->psi[k] - value);
    w->value_far = fmax(w->value_far, value != 0 ? away / fabs(value) : away);
    w->gradient_far = fmax(w->gradient_far, cli_gradient_difference(c->reference.gradient + at, w->gradient + at,
                                                                    c->r->session.parameters, c->np));
  }
}

static int compute(comparison *c) {
  int status = cli_run_simulate(c->r);
  if (status == CLI_DONE && mbg_run_partial(c->r->run)) {
    return cli_run_interrupted(c->r, "there is nothing to compare");
  }
  status = status == CLI_DONE ? make_reference(c) : status;
  for (int i = 0; status == CLI_DONE && i < mbg_formulation_count(); i++) {
    status = add_formulation(c, i);
  }
  for (int i = 0; i < c->nway; i++) {
    measure(c, &c->ways[i]);
  }
  return status;
}

/* ---------------------------------------------------------------------- for readers */

/* the entries with the largest effect, at most ENTRIES of them */
static int largest_entries(const comparison *c, int k, int *index) {
  const double *g = c->reference.gradient + (size_t)k * (size_t)c->np, *p = c->r->session.parameters;
  int count = 0;
  for (int i = 0; i < c->np; i++) {
    int before = 0;
    for (int j = 0; j < c->np; j++) {
      const double a = cli_parameter_size(p, j) * fabs(g[j]), b = cli_parameter_size(p, i) * fabs(g[i]);
      before += a > b || (a == b && j < i);
    }
    if (before < ENTRIES) {
      index[count++] = i;
    }
  }
  return count;
}

static void add_way(cli_table *table, const comparison *c, const way *w, int k, const int *index, int count) {
  const bool reference = w == &c->reference;
  cli_table_texts(table, reference ? "reference" : w->formulation,
                  !reference         ? w->method
                  : c->tolerance > 0 ? "tighter"
                                     : "half step",
                  NULL);
  if (w->done) {
    cli_table_format(table, "%.8g", w->psi[k]);
  } else {
    cli_table_text(table, "-");
  }
  for (int i = 0; i < count; i++) {
    if (w->done) {
      cli_table_format(table, "%.8g", w->gradient[(size_t)k * (size_t)c->np + (size_t)index[i]]);
    } else {
      cli_table_text(table, "-");
    }
  }
}

static void print_criterion(const comparison *c, int k) {
  static const char align[] = "llrrrrr";
  char own[sizeof(align)];
  int index[ENTRIES];
  const int count = largest_entries(c, k, index);
  snprintf(own, sizeof(own), "%.*s", 3 + count, align);
  cli_table table = cli_table_make(own);
  cli_table_texts(&table, "formulation", "method", "value", NULL);
  for (int i = 0; i < count; i++) {
    char name[256];
    (void)mbg_model_parameter_name(c->model, index[i], name, sizeof(name));
    cli_table_format(&table, "by %s", name);
  }
  for (int i = 0; i < c->nway; i++) {
    add_way(&table, c, &c->ways[i], k, index, count);
  }
  add_way(&table, c, &c->reference, k, index, count);
  char *title = cli_format(count < c->np ? "\n%s (the %d parameters with the largest effect)" : "\n%s",
                           mbg_model_criterion_name(c->model, k), count);
  cli_heading(title);
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
  free(title);
}

static void print_ways(const comparison *c) {
  cli_table table = cli_table_make("llrrrrrr");
  cli_table_texts(&table, "formulation", "method", "values differ", "gradients differ", "steps", "simulation",
                  "gradient", "memory", NULL);
  for (int i = 0; i < c->nway; i++) {
    const way *w = &c->ways[i];
    cli_table_texts(&table, w->formulation, w->method, NULL);
    if (!w->done) {
      cli_table_texts(&table, "-", "-", "", "", "", "", NULL);
      continue;
    }
    cli_table_format(&table, "%.1e", w->value_far);
    cli_table_format(&table, "%.1e", w->gradient_far);
    cli_table_format(&table, "%ld", w->work.steps);
    cli_table_format(&table, "%.3g s", w->work.seconds_simulate);
    cli_table_format(&table, "%.3g s", w->work.seconds_gradient);
    cli_table_format(&table, "%.3g MB", w->work.peak_bytes / 1e6);
  }
  cli_heading("\nall");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static void print_failures(const comparison *c) {
  for (int i = 0; i < c->nway; i++) {
    if (!c->ways[i].done) {
      fprintf(stderr, "note: %s %s: %s\n", c->ways[i].formulation, c->ways[i].method, c->ways[i].why);
    }
  }
}

static void print_text(const comparison *c) {
  cli_heading(mbg_model_name(c->model));
  for (int k = 0; k < c->nc; k++) {
    print_criterion(c, k);
  }
  print_ways(c);
  char *how = c->tolerance > 0 ? cli_format("a relative tolerance of %.1g", c->tolerance)
                               : cli_format("twice as many steps (%.3g s)", c->step);
  char *text =
      cli_format("Reference: %s %s with %s. "
                 "Differences are relative and the largest of all criteria and parameters; those of direct and "
                 "adjoint are the error of the steps. lie and dae are one stepper with two kinds of damping, so their "
                 "agreement is no independent evidence; that of lie and qr is.",
                 c->reference.formulation, c->reference.method, how);
  putchar('\n');
  cli_paragraph("  ", text);
  free(text);
  free(how);
  fflush(stdout);
  print_failures(c);
}

/* ---------------------------------------------------------------------- for programs */

static void json_criteria(const comparison *c, const way *w) {
  fputs(", \"criteria\": {", stdout);
  for (int k = 0; k < c->nc; k++) {
    fputs(k > 0 ? ",\n        " : "\n        ", stdout);
    cli_json_string(mbg_model_criterion_name(c->model, k));
    fputs(": {\"value\": ", stdout);
    cli_json_number(stdout, w->psi[k]);
    fputs(", \"gradient\": ", stdout);
    cli_json_by_parameter(c->model, w->gradient + (size_t)k * (size_t)c->np);
    putchar('}');
  }
  putchar('}');
}

static void json_way(const comparison *c, const way *w) {
  printf("{\"formulation\": \"%s\", \"method\": \"%s\", ", w->formulation, w->method);
  if (!w->done) {
    fputs("\"error\": ", stdout);
    cli_json_string(w->why);
    putchar('}');
    return;
  }
  printf("\"value_difference\": %.6g, \"gradient_difference\": %.6g, \"steps\": %ld, \"seconds_simulate\": %.6g, "
         "\"seconds_gradient\": %.6g, \"peak_bytes\": %.0f",
         w->value_far, w->gradient_far, w->work.steps, w->work.seconds_simulate, w->work.seconds_gradient,
         w->work.peak_bytes);
  json_criteria(c, w);
  putchar('}');
}

static void print_json(const comparison *c) {
  fputs("{\n  \"model\": ", stdout);
  cli_json_string(mbg_model_name(c->model));
  fputs(",\n  \"reference\": ", stdout);
  json_way(c, &c->reference);
  fputs(",\n  \"ways\": [", stdout);
  for (int i = 0; i < c->nway; i++) {
    fputs(i > 0 ? ",\n    " : "\n    ", stdout);
    json_way(c, &c->ways[i]);
  }
  fputs("\n  ]\n}\n", stdout);
}

/* ---------------------------------------------------------------------- plot */

static int write_plot(const comparison *c, const char *path) {
  double *points = cli_resize(NULL, 2 * (size_t)c->nway, sizeof(double));
  char **names = cli_resize(NULL, (size_t)c->nway, sizeof(*names));
  cli_curve *curves = cli_resize(NULL, (size_t)c->nway, sizeof(*curves));
  int count = 0;
  for (int i = 0; i < c->nway; i++) {
    const way *w = &c->ways[i];
    if (w->done) {
      double *point = &points[2 * count];
      point[0] = w->work.seconds_simulate + w->work.seconds_gradient;
      point[1] = w->gradient_far;
      names[count] = cli_format("%s %s", w->formulation, w->method);
      curves[count] = (cli_curve){.name = names[count], .count = 1, .x = point, .y = point + 1, .no_line = true};
      count++;
    }
  }
  const cli_panel panel = {.title = c->tolerance > 0 ? "difference of the gradients to a run with a tighter tolerance"
                                                     : "difference of the gradients to a run with half the step",
                           .x_label = "time of simulation and gradient [s]",
                           .y_label = "relative difference",
                           .log_x = true,
                           .log_y = true,
                           .high = 1.5,
                           .ncurve = count,
                           .curves = curves};
  const int status = cli_plot_write(path, mbg_model_name(c->model), &panel, 1);
  for (int i = 0; i < count; i++) {
    free(names[i]);
  }
  free(names);
  free(curves);
  free(points);
  return status;
}

/* ---------------------------------------------------------------------- the command */

static int run_comparison(const cli_args *args, comparison *c) {
  const int most = mbg_formulation_count() * MBG_METHOD_COUNT;
  c->model = c->r->session.model;
  c->nc = mbg_model_criterion_count(c->model);
  c->np = mbg_model_parameter_count(c->model);
  c->ways = cli_resize(NULL, (size_t)most, sizeof(*c->ways));
  memset(c->ways, 0, (size_t)most * sizeof(*c->ways));
  int status = compute(c);
  if (status == CLI_DONE && cli_flag(args, "json")) {
    print_json(c);
  } else if (status == CLI_DONE) {
    print_text(c);
  }
  if (status == CLI_DONE && cli_value(args, "plot", 0)) {
    status = write_plot(c, cli_value(args, "plot", 0));
  }
  for (int i = 0; i < c->nway; i++) {
    free(c->ways[i].psi);
    free(c->ways[i].why);
  }
  free(c->reference.psi);
  free(c->reference.why);
  free(c->ways);
  return status;
}

static int compare(const cli_args *args) {
  cli_run r;
  comparison c = {.r = &r};
  if (!cli_flag(args, "study") && cli_value(args, "adjoint-tolerance", 0)) {
    return cli_bad_input("--adjoint-tolerance belongs to --study; the comparison has one tolerance");
  }
  int status = cli_run_open(&r, args, false, false);
  if (status == CLI_DONE) {
    status = cli_need_gradient(r.session.model);
  }
  if (status == CLI_DONE && !cli_flag(args, "study") && cli_value(args, "output", 0)) {
    status = cli_bad_input("--output belongs to --study; --plot writes a plot of the comparison");
  }
  if (status == CLI_DONE) {
    status = cli_flag(args, "study") ? cli_study(args, &r) : run_comparison(args, &c);
  }
  cli_run_close(&r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    CLI_OPTION_PLOT,
    CLI_OPTION_JSON,
    {"study", NULL, false, "the study of the paper of qr instead"},
    {"adjoint-tolerance", "NUMBER", false, "of the study: relative tolerance of the backward integration"},
    {"output", "DIR", CLI_FOLDER, "of the study: its tables (CSV) and plots (SVG) into this folder"}};

extern const cli_command cli_cmd_compare;

const cli_command cli_cmd_compare = {
    .name = "compare",
    .arguments = "MODEL",
    .summary = "all formulations and methods side by side",
    .details = "Computes criteria and gradients by every formulation and method, and prints values, derivatives, the\n"
               "difference to a reference (the model's formulation with half the step, or a hundredth of its\n"
               "tolerance), time and memory. With --study: gradients of qr with analytic products, with a Jacobian by\n"
               "differences, from the derivatives of the QR factors and of the QR algorithm, by minimal coordinates\n"
               "and by finite differences, with their errors and times.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = compare,
};
