/* mbgrad check --gradient: Taylor test, direct against adjoint, finite differences, another formulation */
#include "cmd_check_gradient.h"

#include "creep.h"
#include "event_proof.h"
#include "hessian_proof.h"
#include "mbgrad/proof.h"
#include "results.h"
#include "run_options.h"
#include "step_error.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PER_DECADE = 3, CRITERIA_PER_BLOCK = 3, ENTRIES_MAX = 12 };

/* Verdict on the gradient of a criterion. LIMITED: proven up to a kink, where the sequence of events changes. */
typedef enum { PROVEN, LIMITED, LINEAR, CONSTANT, NOT_PROVEN } verdict;

struct cli_proof {
  cli_run own, *r; /* r: its own, or the caller's */
  const cli_args *args;
  const mbg_model *model;
  int nc, np;
  cli_criteria chosen;
  const double *adjoint; /*                                                  (nc x np) */
  double *direct;        /*                                                     (nc x np) */
  double *difference;    /* central differences; NAN where not computed         (nc x np) */
  cli_entries entries;
  double same;       /* direct and adjoint agree to this, relative */
  char *other;       /* another formulation, or NULL */
  double *other_far; /* relative difference of its gradient                 (nc) */
  bool second;       /* --hessian: */
  cli_hessian_proof hessian;
};

/* ---------------------------------------------------------------------- verdicts */

static const mbg_proof *proof_of(const cli_proof *p, int k) { return mbg_run_get_proof(p->r->run, k); }

/* largest |psi(p + eps d) - psi(p)| of some points */
static double largest_difference(const mbg_proof *q, int first) {
  double largest = 0;
  for (int i = first; i < MBG_TAYLOR_POINTS; i++) {
    largest = isfinite(q->taylor[i].difference) ? fmax(largest, fabs(q->taylor[i].difference)) : largest;
  }
  return largest;
}

/* No parameter changes the criterion: its differences are rounding, which does not grow with eps as any change by a
   parameter would (eps spans eight decades), and no derivative exceeds this rounding. */
static bool is_constant(const cli_proof *p, int k) {
  const mbg_proof *q = proof_of(p, k);
  const double rounding = 1e3 * fmax(largest_difference(q, MBG_TAYLOR_POINTS - 4), 1e-16 * fabs(q->value));
  const size_t at = (size_t)k * (size_t)p->np;
  bool constant = largest_difference(q, 0) <= rounding;
  for (int i = 0; i < p->np; i++) {
    const double size = cli_parameter_size(p->r->session.parameters, i);
    constant = constant && size * fabs(p->adjoint[at + (size_t)i]) <= rounding &&
               size * fabs(p->direct[at + (size_t)i]) <= rounding;
  }
  return constant;
}

static verdict judge(const cli_proof *p, int k) {
  const mbg_proof *q = proof_of(p, k);
  const bool same = q->direct_vs_adjoint <= p->same, two = q->taylor_slope >= 1.95 && q->taylor_slope <= 2.05;
  if (is_constant(p, k)) {
    return CONSTANT;
  }
  if (same && two && (q->taylor_decades >= 2.99 || cli_proof_limited(q))) {
    return q->taylor_decades >= 2.99 ? PROVEN : LIMITED;
  }
  return same && cli_proof_linear(q) ? LINEAR : NOT_PROVEN;
}

static bool is_small(const cli_proof *p, int k) {
  const mbg_step_error *s = mbg_run_get_error(p->r->run, k);
  return !s || judge(p, k) == CONSTANT || cli_error_is_small(s);
}

int cli_proof_status(const cli_proof *p) {
  for (int c = 0; c < p->chosen.count; c++) {
    const int k = p->chosen.index[c];
    if (judge(p, k) == NOT_PROVEN) {
      return cli_failed("the gradient of '%s' is not proven", mbg_model_criterion_name(p->model, k));
    }
  }
  for (int c = 0; c < p->chosen.count; c++) {
    const int k = p->chosen.index[c];
    if (!is_small(p, k)) {
      (void)cli_failed("the gradients are exact for these steps, but the steps are too long for '%s'",
                       mbg_model_criterion_name(p->model, k));
      return CLI_STEPS_TOO_LONG;
    }
  }
  return p->second ? cli_hessian_proof_status(&p->hessian) : CLI_DONE;
}

/* why a gradient is not proven: the condition that it misses; to be freed */
static char *missed(const cli_proof *p, const mbg_proof *q) {
  if (!(q->direct_vs_adjoint <= p->same)) {
    return cli_format("direct and adjoint differ by %.1g (needed: %.0e)", q->direct_vs_adjoint, p->same);
  }
  if (q->sequence_event && q->sequence_eps <= q->taylor[MBG_TAYLOR_POINTS - 1].eps) {
    return cli_format("event '%s' (t = %.6g) %s however little the parameters change", q->sequence_event,
                      q->sequence_time, cli_proof_event_change(q));
  }
  if (isnan(q->taylor_slope)) {
    return cli_format("the remainder never falls with slope 2");
  }
  return cli_format("slope %.2f over %.1f decades only (needed: 2 over 3)", q->taylor_slope, q->taylor_decades);
}

/* the first verdict in one line; to be freed */
static char *exact_text(const cli_proof *p, int k) {
  const mbg_proof *q = proof_of(p, k);
  char how[96], below[96], far[200] = "no finite difference could be computed";
  snprintf(how, sizeof(how), "direct and adjoint agree to %.1g", fmax(q->direct_vs_adjoint, 1e-16));
  const verdict is = judge(p, k);
  if (isfinite(q->finite_difference) && q->finite_difference > 0.01 && is != CONSTANT && is != NOT_PROVEN) {
    snprintf(far, sizeof(far), "but a kink or a jump begins at these values: central differences are off by %.1g",
             q->finite_difference);
  } else if (isfinite(q->finite_difference)) {
    snprintf(far, sizeof(far), "the best finite difference reaches %.1g (relative step %.0e)", q->finite_difference,
             q->finite_difference_step);
  }
  switch (is) {
  case PROVEN:
    return cli_format("gradient proven exact for these steps: slope %.2f over %.1f decades; %s; %s", q->taylor_slope,
                      q->taylor_decades, how, far);
  case LIMITED:
    return cli_format("gradient proven exact for these steps and eps < %.1e, below the kink at %.1e, where the "
                      "sequence of events changes: slope %.2f over %.1f decades; %s; %s",
                      q->taylor[q->taylor_first].eps, q->sequence_eps, q->taylor_slope, q->taylor_decades, how, far);
  case LINEAR:
    snprintf(below, sizeof(below), " and eps < %.1e, where the sequence of events changes", q->sequence_eps);
    return cli_format("gradient proven exact for these steps%s: linear in the parameters, the remainder is rounding; "
                      "%s; %s",
                      q->sequence_event ? below : "", how, far);
  case CONSTANT:
    return cli_format("gradient proven exact for these steps: no parameter changes this criterion beyond rounding, "
                      "and the gradient is 0");
  default:;
    char *why = missed(p, q);
    char *text = cli_format("gradient NOT proven: %s; %s", why, q->direct_vs_adjoint <= p->same ? how : far);
    free(why);
    return text;
  }
}

/* the second verdict in one line, NULL without an estimate; to be freed */
static char *steps_text(const cli_proof *p, int k) {
  char *errors = judge(p, k) == CONSTANT ? NULL : cli_error_text(p->r->run, p->model, k);
  char *text = errors ? cli_format("steps %s: %s", is_small(p, k) ? "small enough" : "TOO LONG", errors) : NULL;
  free(errors);
  return text;
}

char *cli_proof_verdict(const cli_proof *p, int k, bool *good) {
  char *exact = exact_text(p, k), *steps = steps_text(p, k);
  char *text = steps ? cli_format("%s.\n%s", exact, steps) : cli_copy(exact);
  *good = judge(p, k) != NOT_PROVEN && is_small(p, k);
  free(exact);
  free(steps);
  return text;
}

const mbg_run *cli_proof_run(const cli_proof *p) { return p->r->run; }
const mbg_model *cli_proof_model(const cli_proof *p) { return p->model; }
const cli_criteria *cli_proof_criteria(const cli_proof *p) { return &p->chosen; }

/* ---------------------------------------------------------------------- computation */

/* criteria at the parameters with one entry changed by `change` */
static int evaluate(cli_proof *p, double *trial, int entry, double change, double *psi) {
  mbg_context *ctx = p->r->session.ctx;
  const double before = trial[entry];
  trial[entry] += change;
  int result = mbg_run_set_parameters(ctx, p->r->run, trial);
  result = result == MBG_OK ? mbg_run_simulate(ctx, p->r->run) : result;
  result = result == MBG_OK ? mbg_run_criteria(ctx, p->r->run, psi) : result;
  trial[entry] = before;
  return result;
}

/* central differences by the shown entries at one relative step; kept where they come nearest to the gradient */
static void differences_at(cli_proof *p, double step, double *trial, double *plus, double *minus) {
  for (int i = 0; i < p->entries.count && i < ENTRIES_MAX; i++) {
    const int entry = p->entries.index[i];
    const double h = step * cli_parameter_size(trial, entry);
    if (evaluate(p, trial, entry, h, plus) < 0 || evaluate(p, trial, entry, -h, minus) < 0) {
      mbg_context_clear(p->r->session.ctx); /* the model cannot run there: no difference */
      continue;
    }
    for (int c = 0; c < p->chosen.count; c++) {
      const int k = p->chosen.index[c];
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
  memcpy(trial, p->r->session.parameters, (size_t)p->np * sizeof(double));
  for (int c = 0; c < p->chosen.count; c++) {
    const int k = p->chosen.index[c];
    bool done = !isfinite(proof_of(p, k)->finite_difference);
    for (int j = 0; j < c; j++) {
      done = done || proof_of(p, p->chosen.index[j])->finite_difference_step == proof_of(p, k)->finite_difference_step;
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
  mbg_context *ctx = p->r->session.ctx;
  mbg_run_options options = p->r->options;
  mbg_run *run = NULL;
  cli_run_formulation(&options, formulation);
  int result = mbg_run_create(ctx, p->model, &options, &run);
  result = result == MBG_OK ? mbg_run_set_parameters(ctx, run, p->r->session.parameters) : result;
  result = result == MBG_OK ? mbg_run_simulate(ctx, run) : result;
  result = result == MBG_OK ? mbg_run_gradient(ctx, run, mbg_run_adjoint_method(run), g, NULL) : result;
  mbg_context_clear(ctx);
  mbg_run_destroy(run);
  return result;
}

/* Another formulation that can simulate the model; formulations with a stepper of another kind come first. */
static void other_formulation(cli_proof *p) {
  static const char *const order[] = {"ali3p", "lie", "qr", "dae"};
  const char *own = mbg_run_formulation(p->r->run), *taken = NULL;
  double *g = cli_resize(NULL, (size_t)p->nc * (size_t)p->np, sizeof(double));
  for (int related = 0; related < 2 && !taken; related++) {
    for (int i = 0; i < (int)(sizeof order / sizeof *order) && !taken; i++) {
      const bool same_stepper = is_alpha(own) && is_alpha(order[i]);
      if (strcmp(own, order[i]) != 0 && same_stepper == related) {
        taken = gradient_by(p, order[i], g) == MBG_OK ? order[i] : NULL;
      }
    }
  }
  for (int c = 0; taken && c < p->chosen.count; c++) {
    const int k = p->chosen.index[c];
    const size_t at = (size_t)k * (size_t)p->np;
    p->other_far[k] = cli_gradient_difference(p->adjoint + at, g + at, p->r->session.parameters, p->np);
  }
  p->other = taken ? cli_copy(taken) : NULL;
  free(g);
}

static int compute(cli_proof *p) {
  mbg_context *ctx = p->r->session.ctx;
  p->same = agreement(p->r->run);
  int result = mbg_run_prove(ctx, p->r->run);
  if (result == MBG_OK) {
    p->adjoint = proof_of(p, 0)->gradient; /* of all criteria */
    result = mbg_run_gradient(ctx, p->r->run, MBG_METHOD_DIRECT, p->direct, NULL);
  }
  int status = cli_run_status(p->r, result);
  if (status == CLI_DONE) {
    status = cli_error_estimate(p->r, p->args, p->r->run, MBG_METHOD_AUTO);
  }
  if (status == CLI_DONE) {
    p->entries = cli_entries_choose(p->model, p->adjoint, p->r->session.parameters, false);
    differences(p);
    other_formulation(p);
  }
  p->second = status == CLI_DONE && cli_takes(p->args, "hessian") && cli_flag(p->args, "hessian");
  return p->second ? cli_hessian_prove(&p->hessian, p->r, &p->chosen) : status;
}

static int choose_criteria(cli_proof *p, const cli_args *args) {
  const int status = cli_criteria_choose(p->model, cli_value(args, "criteria", 0), &p->chosen);
  return status == CLI_DONE
             ? cli_run_status(p->r, mbg_run_select(p->r->session.ctx, p->r->run, p->chosen.count, p->chosen.index))
             : status;
}

/* proves with the run at hand */
static int prove(cli_proof *p, const cli_args *args, int status, cli_proof **out) {
  if (status == CLI_DONE) {
    status = cli_need_gradient(p->r->session.model);
  }
  if (status == CLI_DONE) {
    p->model = p->r->session.model;
    p->nc = mbg_model_criterion_count(p->model);
    p->np = mbg_model_parameter_count(p->model);
    const size_t size = (size_t)p->nc * (size_t)p->np;
    p->direct = cli_resize(NULL, 2 * size, sizeof(double));
    p->difference = p->direct + size;
    p->other_far = cli_resize(NULL, (size_t)p->nc, sizeof(double));
    status = choose_criteria(p, args);
  }
  if (status == CLI_DONE) {
    status = compute(p);
  }
  if (status != CLI_DONE) {
    cli_proof_destroy(p);
    p = NULL;
  }
  *out = p;
  return status;
}

static cli_proof *begin(const cli_args *args, cli_run *given) {
  cli_proof *p = cli_resize(NULL, 1, sizeof(*p));
  *p = (cli_proof){.args = args};
  p->r = given ? given : &p->own;
  return p;
}

int cli_proof_make(const cli_args *args, cli_proof **out) {
  cli_proof *p = begin(args, NULL);
  return prove(p, args, cli_run_open(p->r, args, false, true), out);
}

int cli_proof_of(const cli_args *args, cli_run *run, cli_proof **out) {
  return prove(begin(args, run), args, CLI_DONE, out);
}

void cli_proof_destroy(cli_proof *p) {
  if (!p) {
    return;
  }
  free(p->direct);
  free(p->chosen.index);
  free(p->entries.index);
  free(p->other);
  free(p->other_far);
  cli_hessian_proof_destroy(&p->hessian);
  if (p->r == &p->own) {
    cli_run_close(p->r);
  }
  free(p);
}

/* ---------------------------------------------------------------------- for readers */

static void print_verdicts(const cli_proof *p) {
  int width = 0;
  for (int c = 0; c < p->chosen.count; c++) {
    const int k = p->chosen.index[c];
    const int columns = cli_columns(mbg_model_criterion_name(p->model, k));
    width = columns > width ? columns : width;
  }
  for (int c = 0; c < p->chosen.count; c++) {
    const int k = p->chosen.index[c];
    const char *name = mbg_model_criterion_name(p->model, k);
    char *first = cli_format("  %s%*s  ", name, width - cli_columns(name), ""), *exact = exact_text(p, k);
    char *second = cli_format("  %*s  ", width, ""), *steps = steps_text(p, k);
    cli_paragraph(first, exact);
    if (steps) {
      cli_paragraph(second, steps);
    }
    free(first);
    free(exact);
    free(second);
    free(steps);
  }
}

/* derivatives by an entry below this are rounding of the criterion and of its larger derivatives */
static double rounding(const cli_proof *p, int k, int entry) {
  const double *g = p->adjoint + (size_t)k * (size_t)p->np, *parameters = p->r->session.parameters;
  double effect = fabs(proof_of(p, k)->value);
  if (judge(p, k) == CONSTANT) {
    return INFINITY;
  }
  for (int i = 0; i < p->np; i++) {
    effect = fmax(effect, cli_parameter_size(parameters, i) * fabs(g[i]));
  }
  return 1e-14 * effect / cli_parameter_size(parameters, entry);
}

static double above(double x, double floor) { return fabs(x) > floor ? x : 0; }

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
    const double zero = rounding(p, k, p->entries.index[i]);
    cli_table_format(&table, "%.10g", above(p->direct[at], zero));
    cli_table_format(&table, "%.10g", above(p->adjoint[at], zero));
    if (isnan(p->difference[at])) {
      cli_table_texts(&table, "-", "-", NULL);
      continue;
    }
    cli_table_format(&table, "%.10g", above(p->difference[at], 1e4 * zero));
    cli_table_format(&table, "%.0e", fabs(p->adjoint[at]) > zero ? fabs(p->difference[at] / p->adjoint[at] - 1) : 0);
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
  for (int c = first; c < first + count; c++) {
    cli_table_texts(&table, mbg_model_criterion_name(p->model, p->chosen.index[c]), "falls by", NULL);
  }
  for (int i = 0; i < MBG_TAYLOR_POINTS; i += each) {
    cli_table_format(&table, "%.1e", proof_of(p, p->chosen.index[0])->taylor[i].eps);
    for (int c = first; c < first + count; c++) {
      add_remainder(&table, proof_of(p, p->chosen.index[c]), i, i - each);
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
  const int count = p->chosen.count;
  for (int first = 0; first < count; first += CRITERIA_PER_BLOCK) {
    if (first > 0) {
      putchar('\n');
    }
    print_taylor_block(p, first, count - first < CRITERIA_PER_BLOCK ? count - first : CRITERIA_PER_BLOCK, each);
  }
}

static double other_worst(const cli_proof *p) {
  double worst = p->other ? 0 : NAN;
  for (int c = 0; p->other && c < p->chosen.count; c++) {
    const int k = p->chosen.index[c];
    worst = fmax(worst, p->other_far[k]);
  }
  return worst;
}

static void print_other(const cli_proof *p) {
  const double far = other_worst(p);
  if (!p->other) {
    return;
  }
  const char *own = mbg_run_formulation(p->r->run);
  char *text =
      far > 0 ? cli_format("%s gives the same gradients within %.1g at its steps; the errors of the steps of both are "
                           "in this difference.",
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
      cli_format("%s, formulation %s: proof of the gradient", mbg_model_name(p->model), mbg_run_formulation(p->r->run));
  cli_heading(title);
  free(title);
  putchar('\n');
  print_verdicts(p);
  for (int c = 0; c < p->chosen.count; c++) {
    print_criterion(p, p->chosen.index[c]);
  }
  print_taylor(p, full);
  cli_proof_print_events(p->r->run, proof_of(p, p->chosen.index[0]));
  cli_creep_print(p->r->session.ctx, p->r->run, p->model, p->r->session.parameters, &p->chosen);
  print_other(p);
  if (p->second) {
    cli_hessian_proof_print(&p->hessian);
  }
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
  printf(": {\"proven\": %s, \"steps_small\": ", judge(p, k) == NOT_PROVEN ? "false" : "true");
  fputs(!mbg_run_get_error(p->r->run, k) ? "null" : is_small(p, k) ? "true" : "false", stdout);
  fputs(", \"error\": ", stdout);
  cli_error_json(p->r->run, p->model, k);
  json_member(", ", "value", q->value, "");
  json_member(", ", "taylor_slope", q->taylor_slope, "");
  json_member(", ", "taylor_decades", q->taylor_decades, "");
  json_member(", ", "taylor_floor", q->taylor_floor, "");
  json_member(", ", "direct_vs_adjoint", q->direct_vs_adjoint, "");
  json_member(", ", "finite_difference", q->finite_difference, "");
  json_member(", ", "finite_difference_step", q->finite_difference_step, "");
  json_member(", ", "other_formulation", p->other ? p->other_far[k] : NAN, "");
  cli_proof_json_events(q);
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
  for (int c = 0; c < p->chosen.count; c++) {
    const int k = p->chosen.index[c];
    const mbg_proof *q = proof_of(p, k);
    const verdict v = judge(p, k);
    proven = proven && v != NOT_PROVEN;
    far = fmax(far, q->direct_vs_adjoint);
    if (v == PROVEN || v == LIMITED || v == NOT_PROVEN) {
      slope = isnan(slope) || fabs(q->taylor_slope - 2) > fabs(slope - 2) ? q->taylor_slope : slope;
      decades = fmin(decades, q->taylor_decades);
    }
  }
  printf("  \"gradient\": {\n    \"proven\": %s,\n    \"error\": ", proven ? "true" : "false");
  cli_error_json_all(p->r->run, p->model);
  json_member(",\n    ", "taylor_slope", slope, "");
  json_member(",\n    ", "taylor_decades", decades, "");
  json_member(",\n    ", "direct_vs_adjoint", far, "");
  json_member(",\n    ", "other_formulation", other_worst(p), "");
  printf(",\n    \"formulations\": [\"%s\"%s%s%s]", mbg_run_formulation(p->r->run), p->other ? ", \"" : "",
         p->other ? p->other : "", p->other ? "\"" : "");
  fputs(",\n    \"criteria\": {", stdout);
  for (int c = 0; c < p->chosen.count; c++) {
    fputs(c > 0 ? ",\n      " : "\n      ", stdout);
    json_criterion(p, p->chosen.index[c]);
  }
  fputs("\n    }\n  }", stdout);
  if (p->second) {
    fputs(",\n", stdout);
    cli_hessian_proof_json(&p->hessian);
  }
}
