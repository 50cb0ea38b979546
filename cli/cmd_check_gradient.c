/* mbgrad check --gradient: Taylor test, direct against adjoint, finite differences, another formulation */
#include "cmd_check_gradient.h"

#include "gradient_table.h"
#include "mbgrad/proof.h"
#include "plot.h"
#include "results.h"
#include "run_options.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PER_DECADE = 3, CRITERIA_PER_BLOCK = 3, ENTRIES_MAX = 12 };

/* Verdict on the gradient of a criterion. */
typedef enum { PROVEN, LINEAR, CONSTANT, NOT_PROVEN } verdict;

struct cli_proof {
  cli_run r;
  const mbg_model *model;
  int nc, np;
  const double *adjoint; /*                                                  (nc x np) */
  double *direct;        /*                                                     (nc x np) */
  double *difference;    /* central differences; NAN where not computed         (nc x np) */
  cli_entries entries;
  double same;       /* direct and adjoint agree to this, relative */
  char *other;       /* another formulation, or NULL */
  double *other_far; /* relative difference of its gradient                 (nc) */
};

/* ---------------------------------------------------------------------- verdicts */

static const mbg_proof *proof_of(const cli_proof *p, int k) { return mbg_run_get_proof(p->r.run, k); }

static bool is_constant(const mbg_proof *q) {
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
    if (isfinite(q->taylor[i].difference) && (q->taylor[i].difference != 0 || q->taylor[i].remainder != 0)) {
      return false;
    }
  }
  return true;
}

/* the remainder of the largest step is rounding: no term of second order */
static bool is_linear(const mbg_proof *q) {
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
    if (isfinite(q->taylor[i].remainder)) {
      return q->taylor[i].remainder <= 1e-12 * fmax(fabs(q->value), fabs(q->taylor[i].difference));
    }
  }
  return false;
}

static verdict judge(const cli_proof *p, int k) {
  const mbg_proof *q = proof_of(p, k);
  const bool same = q->direct_vs_adjoint <= p->same;
  if (is_constant(q)) {
    return same ? CONSTANT : NOT_PROVEN;
  }
  if (same && q->taylor_slope >= 1.95 && q->taylor_slope <= 2.05 && q->taylor_decades >= 2.99) {
    return PROVEN;
  }
  return same && is_linear(q) ? LINEAR : NOT_PROVEN;
}

int cli_proof_status(const cli_proof *p) {
  for (int k = 0; k < p->nc; k++) {
    if (judge(p, k) == NOT_PROVEN) {
      return cli_failed("the gradient of '%s' is not proven", mbg_model_criterion_name(p->model, k));
    }
  }
  return CLI_DONE;
}

/* one line for readers; to be freed */
static char *verdict_text(const cli_proof *p, int k) {
  const mbg_proof *q = proof_of(p, k);
  char how[96], far[96] = "no finite difference could be computed";
  snprintf(how, sizeof(how), "direct and adjoint agree to %.1g", fmax(q->direct_vs_adjoint, 1e-16));
  if (isfinite(q->finite_difference)) {
    snprintf(far, sizeof(far), "the best finite difference reaches %.1g (relative step %.0e)", q->finite_difference,
             q->finite_difference_step);
  }
  switch (judge(p, k)) {
  case PROVEN:
    return cli_format("gradient proven: slope %.2f over %.1f decades; %s; %s", q->taylor_slope, q->taylor_decades, how,
                      far);
  case LINEAR:
    return cli_format("gradient proven: linear in the parameters, the remainder is rounding; %s; %s", how, far);
  case CONSTANT:
    return cli_format("gradient proven: no parameter changes this criterion, and the gradient is 0");
  default:
    return isnan(q->taylor_slope)
               ? cli_format("NOT proven: the remainder never falls with slope 2; %s; %s", how, far)
               : cli_format("NOT proven: slope %.2f over %.1f decades only (needed: 2 over 3); %s; %s", q->taylor_slope,
                            q->taylor_decades, how, far);
  }
}

/* ---------------------------------------------------------------------- computation */

/* criteria at the parameters with one entry changed by `change` */
static int evaluate(cli_proof *p, double *trial, int entry, double change, double *psi) {
  mbg_context *ctx = p->r.session.ctx;
  const double before = trial[entry];
  trial[entry] += change;
  int result = mbg_run_set_parameters(ctx, p->r.run, trial);
  result = result == MBG_OK ? mbg_run_simulate(ctx, p->r.run) : result;
  result = result == MBG_OK ? mbg_run_criteria(ctx, p->r.run, psi) : result;
  trial[entry] = before;
  return result;
}

/* central differences by the shown entries at one relative step; kept where they come nearest to the gradient */
static void differences_at(cli_proof *p, double step, double *trial, double *plus, double *minus) {
  for (int i = 0; i < p->entries.count && i < ENTRIES_MAX; i++) {
    const int entry = p->entries.index[i];
    const double h = step * cli_parameter_size(trial, entry);
    if (evaluate(p, trial, entry, h, plus) < 0 || evaluate(p, trial, entry, -h, minus) < 0) {
      mbg_context_clear(p->r.session.ctx); /* the model cannot run there: no difference */
      continue;
    }
    for (int k = 0; k < p->nc; k++) {
      const size_t at = (size_t)k * (size_t)p->np + (size_t)entry;
      const double d = (plus[k] - minus[k]) / (2 * h);
      if (!(fabs(d - p->adjoint[at]) >= fabs(p->difference[at] - p->adjoint[at]))) {
        p->difference[at] = d;
      }
    }
  }
}

static void differences(cli_proof *p) {
  double *trial = cli_resize(NULL, (size_t)(p->np + 2 * p->nc), sizeof(double));
  for (int i = 0; i < p->nc * p->np; i++) {
    p->difference[i] = NAN;
  }
  memcpy(trial, p->r.session.parameters, (size_t)p->np * sizeof(double));
  for (int k = 0; k < p->nc; k++) {
    bool done = !isfinite(proof_of(p, k)->finite_difference);
    for (int j = 0; j < k; j++) {
      done = done || proof_of(p, j)->finite_difference_step == proof_of(p, k)->finite_difference_step;
    }
    if (!done) {
      differences_at(p, proof_of(p, k)->finite_difference_step, trial, trial + p->np, trial + p->np + p->nc);
    }
  }
  free(trial);
}

/* Transposed steps agree to rounding, differential equations that are solved apart to their tolerance. */
static double agreement(const mbg_run *run) { return fmax(1e-10, 1e3 * mbg_run_relative_tolerance(run)); }

static bool is_alpha(const char *formulation) { return !strcmp(formulation, "lie") || !strcmp(formulation, "dae"); }

/* gradient of another formulation, at the same steps where it takes steps */
static int gradient_by(cli_proof *p, const char *formulation, double *g) {
  mbg_context *ctx = p->r.session.ctx;
  mbg_run_options options = p->r.options;
  mbg_run *run = NULL;
  options.formulation = formulation;
  int result = mbg_run_create(ctx, p->model, &options, &run);
  result = result == MBG_OK ? mbg_run_set_parameters(ctx, run, p->r.session.parameters) : result;
  result = result == MBG_OK ? mbg_run_simulate(ctx, run) : result;
  result = result == MBG_OK ? mbg_run_gradient(ctx, run, mbg_run_adjoint_method(run), g, NULL) : result;
  mbg_context_clear(ctx);
  mbg_run_destroy(run);
  return result;
}

/* Another formulation that can simulate the model; formulations with a stepper of another kind come first. */
static void other_formulation(cli_proof *p) {
  static const char *const order[] = {"ali3p", "lie", "qr", "dae"};
  const char *own = mbg_run_formulation(p->r.run), *taken = NULL;
  double *g = cli_resize(NULL, (size_t)p->nc * (size_t)p->np, sizeof(double));
  for (int related = 0; related < 2 && !taken; related++) {
    for (int i = 0; i < (int)(sizeof order / sizeof *order) && !taken; i++) {
      const bool same_stepper = is_alpha(own) && is_alpha(order[i]);
      if (strcmp(own, order[i]) != 0 && same_stepper == related) {
        taken = gradient_by(p, order[i], g) == MBG_OK ? order[i] : NULL;
      }
    }
  }
  for (int k = 0; taken && k < p->nc; k++) {
    const size_t at = (size_t)k * (size_t)p->np;
    p->other_far[k] = cli_gradient_difference(p->adjoint + at, g + at, p->r.session.parameters, p->np);
  }
  p->other = taken ? cli_copy(taken) : NULL;
  free(g);
}

static int compute(cli_proof *p) {
  mbg_context *ctx = p->r.session.ctx;
  p->same = agreement(p->r.run);
  int result = mbg_run_prove(ctx, p->r.run);
  if (result == MBG_OK) {
    p->adjoint = proof_of(p, 0)->gradient;
    result = mbg_run_gradient(ctx, p->r.run, MBG_METHOD_DIRECT, p->direct, NULL);
  }
  const int status = cli_run_status(&p->r, result);
  if (status == CLI_DONE) {
    p->entries = cli_entries_choose(p->model, p->adjoint, p->r.session.parameters, false);
    differences(p);
    other_formulation(p);
  }
  return status;
}

int cli_proof_make(const cli_args *args, cli_proof **out) {
  cli_proof *p = cli_resize(NULL, 1, sizeof(*p));
  *p = (cli_proof){0};
  int status = cli_run_open(&p->r, args, false, true);
  if (status == CLI_DONE) {
    status = cli_need_gradient(p->r.session.model);
  }
  if (status == CLI_DONE) {
    p->model = p->r.session.model;
    p->nc = mbg_model_criterion_count(p->model);
    p->np = mbg_model_parameter_count(p->model);
    const size_t size = (size_t)p->nc * (size_t)p->np;
    p->direct = cli_resize(NULL, 2 * size, sizeof(double));
    p->difference = p->direct + size;
    p->other_far = cli_resize(NULL, (size_t)p->nc, sizeof(double));
    status = compute(p);
  }
  if (status != CLI_DONE) {
    cli_proof_destroy(p);
    p = NULL;
  }
  *out = p;
  return status;
}

void cli_proof_destroy(cli_proof *p) {
  if (!p) {
    return;
  }
  free(p->direct);
  free(p->entries.index);
  free(p->other);
  free(p->other_far);
  cli_run_close(&p->r);
  free(p);
}

/* ---------------------------------------------------------------------- for readers */

static void print_verdicts(const cli_proof *p) {
  int width = 0;
  for (int k = 0; k < p->nc; k++) {
    const int columns = cli_columns(mbg_model_criterion_name(p->model, k));
    width = columns > width ? columns : width;
  }
  for (int k = 0; k < p->nc; k++) {
    const char *name = mbg_model_criterion_name(p->model, k);
    char *first = cli_format("  %s%*s  ", name, width - cli_columns(name), ""), *text = verdict_text(p, k);
    cli_paragraph(first, text);
    free(first);
    free(text);
  }
}

/* the three ways side by side */
static void print_criterion(const cli_proof *p, int k) {
  cli_table table = cli_table_make("lrrrr");
  char *title =
      cli_format("\n%s = %.10g, derivatives by", mbg_model_criterion_name(p->model, k), proof_of(p, k)->value);
  cli_table_texts(&table, "parameter", "direct", "adjoint", "finite differences", "these differ by", NULL);
  for (int i = 0; i < p->entries.count && i < ENTRIES_MAX; i++) {
    char name[256];
    const size_t at = (size_t)k * (size_t)p->np + (size_t)p->entries.index[i];
    (void)mbg_model_parameter_name(p->model, p->entries.index[i], name, sizeof(name));
    cli_table_text(&table, name);
    cli_table_format(&table, "%.10g", p->direct[at]);
    cli_table_format(&table, "%.10g", p->adjoint[at]);
    if (isnan(p->difference[at])) {
      cli_table_texts(&table, "-", "-", NULL);
      continue;
    }
    cli_table_format(&table, "%.10g", p->difference[at]);
    cli_table_format(&table, "%.0e", p->adjoint[at] != 0 ? fabs(p->difference[at] / p->adjoint[at] - 1) : 0);
  }
  cli_heading(title);
  cli_table_print(&table, 2);
  const int left = p->np - (p->entries.count < ENTRIES_MAX ? p->entries.count : ENTRIES_MAX);
  if (left > 0) {
    printf("  ... %d more\n", left);
  }
  cli_table_destroy(&table);
  free(title);
}

static void add_remainder(cli_table *table, const mbg_proof *q, int i, int before) {
  const double r = q->taylor[i].remainder;
  const bool rounding = !(r > 10 * q->taylor_floor);
  if (!isfinite(r)) {
    cli_table_texts(table, "-", "", NULL);
    return;
  }
  cli_table_format(table, rounding ? "~%.2e" : "%.2e", r);
  if (before < 0 || rounding || !(r > 0) || !isfinite(q->taylor[before].remainder)) {
    cli_table_text(table, "");
  } else {
    cli_table_format(table, "%.4g", q->taylor[before].remainder / r);
  }
}

static void print_taylor_block(const cli_proof *p, int first, int count, int each) {
  static const char align[] = "lrrrrrr";
  char own[sizeof(align)];
  snprintf(own, sizeof(own), "%.*s", 1 + 2 * count, align);
  cli_table table = cli_table_make(own);
  cli_table_text(&table, "eps");
  for (int k = first; k < first + count; k++) {
    cli_table_texts(&table, mbg_model_criterion_name(p->model, k), "falls by", NULL);
  }
  for (int i = 0; i < MBG_TAYLOR_POINTS; i += each) {
    cli_table_format(&table, "%.1e", proof_of(p, 0)->taylor[i].eps);
    for (int k = first; k < first + count; k++) {
      add_remainder(&table, proof_of(p, k), i, i - each);
    }
  }
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static void print_taylor(const cli_proof *p, bool full) {
  const int each = full ? 1 : PER_DECADE;
  cli_heading("\nTaylor test");
  cli_paragraph("  ",
                "Remainder |psi(p + eps d) - psi(p) - eps g.d| for a direction d that changes every parameter p by "
                "its own size. With the exact gradient g it falls with eps^2: by 100 per decade. A tilde marks "
                "rounding of psi.");
  for (int first = 0; first < p->nc; first += CRITERIA_PER_BLOCK) {
    if (first > 0) {
      putchar('\n');
    }
    print_taylor_block(p, first, p->nc - first < CRITERIA_PER_BLOCK ? p->nc - first : CRITERIA_PER_BLOCK, each);
  }
}

static double other_worst(const cli_proof *p) {
  double worst = p->other ? 0 : NAN;
  for (int k = 0; p->other && k < p->nc; k++) {
    worst = fmax(worst, p->other_far[k]);
  }
  return worst;
}

static void print_other(const cli_proof *p) {
  const double far = other_worst(p);
  if (!p->other) {
    return;
  }
  const char *own = mbg_run_formulation(p->r.run);
  char *text =
      far > 0 ? cli_format("%s gives the same gradients within %.1g at these steps; the difference is the error of "
                           "the steps and falls with their square.",
                           p->other, far)
              : cli_format("%s gives exactly the same gradients: the model overrides what distinguishes it from %s.",
                           p->other, own);
  char *note =
      is_alpha(own) && is_alpha(p->other)
          ? cli_format("%s lie and dae are one stepper with two presets, so this is no independent proof.", text)
          : cli_format("%s The two have no equation of motion and no stepper in common: this is independent.", text);
  cli_heading("\nother formulation");
  cli_paragraph("  ", note);
  free(note);
  free(text);
}

void cli_proof_print(const cli_proof *p, bool full) {
  char *title =
      cli_format("%s, formulation %s: proof of the gradient", mbg_model_name(p->model), mbg_run_formulation(p->r.run));
  cli_heading(title);
  free(title);
  putchar('\n');
  print_verdicts(p);
  for (int k = 0; k < p->nc; k++) {
    print_criterion(p, k);
  }
  print_taylor(p, full);
  print_other(p);
}

/* ---------------------------------------------------------------------- for programs */

static void json_member(const char *indent, const char *key, double value, const char *after) {
  printf("%s\"%s\": ", indent, key);
  cli_json_number(stdout, value);
  fputs(after, stdout);
}

static void json_criterion(const cli_proof *p, int k) {
  const mbg_proof *q = proof_of(p, k);
  cli_json_string(mbg_model_criterion_name(p->model, k));
  printf(": {\"proven\": %s", judge(p, k) == NOT_PROVEN ? "false" : "true");
  json_member(", ", "value", q->value, "");
  json_member(", ", "taylor_slope", q->taylor_slope, "");
  json_member(", ", "taylor_decades", q->taylor_decades, "");
  json_member(", ", "taylor_floor", q->taylor_floor, "");
  json_member(", ", "direct_vs_adjoint", q->direct_vs_adjoint, "");
  json_member(", ", "finite_difference", q->finite_difference, "");
  json_member(", ", "finite_difference_step", q->finite_difference_step, "");
  json_member(", ", "other_formulation", p->other ? p->other_far[k] : NAN, "");
  fputs(",\n        \"gradient\": ", stdout);
  cli_json_by_parameter(p->model, p->adjoint + (size_t)k * (size_t)p->np);
  fputs(",\n        \"taylor\": [", stdout);
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
    json_member(i > 0 ? ", {" : "{", "eps", q->taylor[i].eps, "");
    json_member(", ", "remainder", q->taylor[i].remainder, "}");
  }
  fputs("]}", stdout);
}

/* the worst of all criteria whose remainder has a slope */
void cli_proof_json(const cli_proof *p) {
  double slope = NAN, decades = NAN, far = 0;
  bool proven = true;
  for (int k = 0; k < p->nc; k++) {
    const mbg_proof *q = proof_of(p, k);
    const verdict v = judge(p, k);
    proven = proven && v != NOT_PROVEN;
    far = fmax(far, q->direct_vs_adjoint);
    if (v == PROVEN || v == NOT_PROVEN) {
      slope = isnan(slope) || fabs(q->taylor_slope - 2) > fabs(slope - 2) ? q->taylor_slope : slope;
      decades = fmin(decades, q->taylor_decades);
    }
  }
  printf("  \"gradient\": {\n    \"proven\": %s", proven ? "true" : "false");
  json_member(",\n    ", "taylor_slope", slope, "");
  json_member(",\n    ", "taylor_decades", decades, "");
  json_member(",\n    ", "direct_vs_adjoint", far, "");
  json_member(",\n    ", "other_formulation", other_worst(p), "");
  printf(",\n    \"formulations\": [\"%s\"%s%s%s]", mbg_run_formulation(p->r.run), p->other ? ", \"" : "",
         p->other ? p->other : "", p->other ? "\"" : "");
  fputs(",\n    \"criteria\": {", stdout);
  for (int k = 0; k < p->nc; k++) {
    fputs(k > 0 ? ",\n      " : "\n      ", stdout);
    json_criterion(p, k);
  }
  fputs("\n    }\n  }", stdout);
}

/* ---------------------------------------------------------------------- plot */

/* the line of slope 2 goes through the middle of the window and ends at the least remainder */
static void take_points(const mbg_proof *q, double *eps, double *remainder, double *square) {
  double scale = NAN, least = INFINITY;
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
    eps[i] = q->taylor[i].eps;
    remainder[i] = q->taylor[i].remainder;
    least = remainder[i] > 0 ? fmin(least, remainder[i]) : least;
  }
  if (q->taylor_last > q->taylor_first) {
    const int middle = (q->taylor_first + q->taylor_last) / 2;
    scale = remainder[middle] / (eps[middle] * eps[middle]);
  }
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
    square[i] = scale * eps[i] * eps[i] >= least ? scale * eps[i] * eps[i] : NAN;
  }
}

int cli_proof_plot(const cli_proof *p, const char *path) {
  double(*points)[3][MBG_TAYLOR_POINTS] = cli_resize(NULL, (size_t)p->nc, sizeof(*points));
  cli_curve(*curves)[2] = cli_resize(NULL, (size_t)p->nc, sizeof(*curves));
  cli_panel *panels = cli_resize(NULL, (size_t)p->nc, sizeof(*panels));
  for (int k = 0; k < p->nc; k++) {
    const int n = MBG_TAYLOR_POINTS;
    take_points(proof_of(p, k), points[k][0], points[k][1], points[k][2]);
    curves[k][0] = (cli_curve){.name = "remainder", .count = n, .x = points[k][0], .y = points[k][1], .dots = true};
    curves[k][1] = (cli_curve){.name = "slope 2", .count = n, .x = points[k][0], .y = points[k][2], .dashed = true};
    panels[k] = (cli_panel){.title = mbg_model_criterion_name(p->model, k),
                            .x_label = "eps",
                            .y_label = "remainder",
                            .log_x = true,
                            .log_y = true,
                            .ncurve = 2,
                            .curves = curves[k]};
  }
  char *title = cli_format("%s: Taylor test of the gradient", mbg_model_name(p->model));
  const int status = cli_plot_write(path, title, panels, p->nc);
  free(title);
  free(panels);
  free(curves);
  free(points);
  return status;
}
