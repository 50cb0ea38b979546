/* The fit: one minimization, the best of several, a continuation, the bias of the step. */
#include "optimizers/minimize.h"
#include "problems/identify.h"
#include "problems/spread.h"
#include "run/run.h"

#include <string.h>

const char *mbg_fit_reason_text(int reason) {
  static const char *const texts[] = {[MBG_FIT_NOT_RUN] = "not run",
                                      [MBG_FIT_GRADIENT] = "converged: the gradient is zero",
                                      [MBG_FIT_STEP] = "converged: the steps are zero",
                                      [MBG_FIT_COST] = "converged: the cost does not change any more",
                                      [MBG_FIT_ITERATIONS] = "not converged: too many iterations",
                                      [MBG_FIT_STUCK] = "not converged: no step lowers the cost",
                                      [MBG_FIT_INTERRUPTED] = "interrupted"};
  return reason >= 0 && reason < MBG_COUNT(texts) ? texts[reason] : "unknown";
}

/* what the callbacks of an optimizer need */
typedef struct {
  mbg_context *ctx;
  mbg_identify *id;
} user_data;

/* ---------------------------------------------------------------------- evaluations, recorded */

static int fit_cost(void *user, const double *x, double *cost) {
  const user_data *u = user;
  int status, err = MBG_OK;
  bool found;
  MBG_TRY(mbg__restart_next(u->ctx, u->id, 'f', x, 1, cost, &status, &found));
  if (found) {
    return status;
  }
  status = mbg__identify_simulate(u->ctx, u->id, x);
  if (status < 0) {
    return status;
  }
  *cost = status == MBG_OK ? mbg__identify_cost(u->id) : INFINITY;
  MBG_TRY(mbg__restart_add(u->ctx, u->id, 'f', x, 1, cost, status));
  return status;
done:
  return err;
}

/* T and q in one block, as they are recorded */
static int fit_linearize(void *user, const double *x, double *T, double *q) {
  const user_data *u = user;
  const size_t n = (size_t)u->id->n;
  int status, err = MBG_OK;
  bool found;
  double *both = mbg__alloc(u->ctx, n * n + n, sizeof(double));
  if (!both) {
    return mbg__fail_memory(u->ctx);
  }
  MBG_TRY(mbg__restart_next(u->ctx, u->id, 'J', x, (int)(n * n + n), both, &status, &found));
  if (!found) {
    MBG_TRY(mbg__identify_reduce(u->ctx, u->id, x, both, both + n * n));
    MBG_TRY(mbg__restart_add(u->ctx, u->id, 'J', x, (int)(n * n + n), both, MBG_OK));
  }
  memcpy(T, both, n * n * sizeof(double));
  memcpy(q, both + n * n, n * sizeof(double));
done:
  mbg__free(u->ctx, both);
  return err;
}

/* cost and gradient in one block */
static int fit_gradient(void *user, const double *x, double *cost, double *gradient) {
  const user_data *u = user;
  const size_t n = (size_t)u->id->n;
  int status = MBG_OK, err = MBG_OK;
  bool found;
  double *both = mbg__alloc(u->ctx, n + 1, sizeof(double));
  if (!both) {
    return mbg__fail_memory(u->ctx);
  }
  MBG_TRY(mbg__restart_next(u->ctx, u->id, 'g', x, (int)n + 1, both, &status, &found));
  if (!found) {
    status = mbg__identify_simulate(u->ctx, u->id, x);
    MBG_TRY(status);
    both[0] = mbg__identify_cost(u->id);
    if (status == MBG_OK) {
      MBG_TRY(mbg__identify_adjoint(u->ctx, u->id, x, both + 1));
    }
    MBG_TRY(mbg__restart_add(u->ctx, u->id, 'g', x, (int)n + 1, both, status));
  }
  if (status == MBG_OK) {
    *cost = both[0];
    memcpy(gradient, both + 1, n * sizeof(double));
  }
  err = status;
done:
  mbg__free(u->ctx, both);
  return err;
}

/* ---------------------------------------------------------------------- one minimization */

static int report(void *user, int iteration, double cost) {
  const user_data *u = user;
  const mbg_identify_options *o = &u->id->o;
  if (o->report) {
    o->report(o->user, iteration, cost);
  }
  return o->run.interrupt && o->run.interrupt(o->run.user);
}

static int report_state(void *user, const mbg__minimize_state *state) {
  return report(user, state->iteration, state->value);
}

static int minimize_lm(user_data *u, double *x, mbg_fit_reason *reason, int *iterations, double *start, double *cost) {
  static const mbg_fit_reason reasons[] = {[MBG__LEAST_SQUARES_GRADIENT] = MBG_FIT_GRADIENT,
                                           [MBG__LEAST_SQUARES_STEP] = MBG_FIT_STEP,
                                           [MBG__LEAST_SQUARES_COST] = MBG_FIT_COST,
                                           [MBG__LEAST_SQUARES_STUCK] = MBG_FIT_STUCK,
                                           [MBG__LEAST_SQUARES_ITERATIONS] = MBG_FIT_ITERATIONS,
                                           [MBG__LEAST_SQUARES_INTERRUPTED] = MBG_FIT_INTERRUPTED};
  mbg_identify *id = u->id;
  const mbg__least_squares_problem problem = {.n = id->n,
                                              .lower = id->lower,
                                              .upper = id->upper,
                                              .typical = id->typical,
                                              .evaluate = fit_cost,
                                              .linearize = fit_linearize,
                                              .progress = report,
                                              .user = u};
  const mbg__least_squares_options o = {id->o.iterations, id->o.tolerance, id->o.tolerance};
  mbg__least_squares_result result;
  const int err = mbg__least_squares(u->ctx, &problem, &o, x, id->T, id->q, &result);
  *reason = reasons[result.reason];
  *iterations = result.iterations;
  *start = result.cost_start;
  *cost = result.cost;
  return err;
}

/* quasi-Newton needs more iterations than Gauss-Newton: ten times as many are allowed */
static int minimize_lbfgs(user_data *u, double *x, mbg_fit_reason *reason, int *iterations, double *start,
                          double *cost) {
  static const mbg_fit_reason reasons[MBG__MINIMIZE_REASONS] = {[MBG__MINIMIZE_GRADIENT] = MBG_FIT_GRADIENT,
                                                                [MBG__MINIMIZE_VALUE] = MBG_FIT_COST,
                                                                [MBG__MINIMIZE_SEARCH] = MBG_FIT_COST,
                                                                [MBG__MINIMIZE_ITERATIONS] = MBG_FIT_ITERATIONS,
                                                                [MBG__MINIMIZE_EVALUATIONS] = MBG_FIT_ITERATIONS,
                                                                [MBG__MINIMIZE_INTERRUPTED] = MBG_FIT_INTERRUPTED};
  mbg_identify *id = u->id;
  double *metric = mbg__alloc(u->ctx, (size_t)id->n, sizeof(double));
  if (!metric) {
    return mbg__fail_memory(u->ctx);
  }
  for (int i = 0; i < id->n; i++) {
    metric[i] = 1 / (id->typical[i] * id->typical[i]);
  }
  const mbg__minimize_problem problem = {.n = id->n,
                                         .lower = id->lower,
                                         .upper = id->upper,
                                         .metric = metric,
                                         .evaluate = fit_gradient,
                                         .progress = report_state,
                                         .user = u};
  mbg__minimize_options o = mbg__minimize_options_default();
  mbg__minimize_result result = {0};
  o.method = MBG__MINIMIZE_LBFGS;
  o.max_iterations = 10 * id->o.iterations;
  o.max_evaluations = 100 * id->o.iterations;
  o.memory = 20;
  o.gradient_relative = fmax(id->o.tolerance, 1e-9); /* half of the digits of the cost and some more */
  o.value_tolerance = 1e-14;
  const int err = mbg__minimize(u->ctx, &problem, &o, x, &result);
  *reason = reasons[result.reason];
  *iterations = result.iterations;
  *start = result.value_start;
  *cost = result.value;
  mbg__free(u->ctx, metric);
  return err;
}

int mbg__identify_minimize(mbg_context *ctx, mbg_identify *id, double *x, mbg_fit_reason *reason, int *iterations,
                           double *start_cost, double *cost) {
  user_data u = {ctx, id};
  return id->o.optimizer == MBG_FIT_LBFGS ? minimize_lbfgs(&u, x, reason, iterations, start_cost, cost)
                                          : minimize_lm(&u, x, reason, iterations, start_cost, cost);
}

/* ---------------------------------------------------------------------- several starts */

static int check_box(mbg_context *ctx, const mbg_identify *id) {
  for (int i = 0; i < id->n; i++) {
    if (!isfinite(id->lower[i]) || !isfinite(id->upper[i])) {
      return mbg__fail(ctx, MBG_ERROR_INPUT,
                       "several starts need bounds: parameter '%s' has no %s; give \"min\" and \"max\"%s",
                       id->parameter[i].name, isfinite(id->lower[i]) ? "max" : "min",
                       id->log[i] ? ", positive ones, because its scale is logarithmic" : "");
    }
  }
  return MBG_OK;
}

static int solve_start(mbg_context *ctx, mbg_identify *id, int k, double *x) {
  mbg_identify_start *s = &id->start[k];
  double *p = MBG_TAKE(&id->arena, double, id->n);
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < id->n; i++) {
    x[i] = k == 0 ? id->x[i] : id->lower[i] + (id->upper[i] - id->lower[i]) * mbg__spread(id->n, k, i, id->o.seed);
    p[i] = mbg__identify_p(id, i, x[i]);
  }
  const int mark = mbg__message_mark(ctx);
  *s = (mbg_identify_start){.parameters = p, .start_cost = NAN, .cost = NAN};
  const int err = mbg__identify_minimize(ctx, id, x, &s->reason, &s->iterations, &s->start_cost, &s->cost);
  id->summary.starts = k + 1;
  /* a start where nothing can be simulated is left out, but not the only one */
  if (err == MBG_ERROR_CONVERGENCE && id->o.starts > 1) {
    mbg__message_rewind(ctx, mark);
    s->cost = s->start_cost = NAN;
    s->reason = MBG_FIT_STUCK;
    return MBG_OK;
  }
  return err;
}

/* the best of all starts, in id->x and the summary */
static int solve_starts(mbg_context *ctx, mbg_identify *id) {
  const size_t n = (size_t)id->n;
  int err = MBG_OK, best = -1;
  double *x = mbg__alloc(ctx, 2 * n + n * n + n, sizeof(double));
  if (!x) {
    return mbg__fail_memory(ctx);
  }
  double *found = x + n, *T = x + 2 * n, *q = T + n * n;
  for (int k = 0; k < id->o.starts; k++) {
    MBG_TRY(solve_start(ctx, id, k, x));
    const mbg_identify_start *s = &id->start[k];
    if (isfinite(s->cost) && (best < 0 || s->cost < id->start[best].cost)) {
      best = k;
      memcpy(found, x, n * sizeof(double));
      memcpy(T, id->T, n * n * sizeof(double));
      memcpy(q, id->q, n * sizeof(double));
    }
    if (s->reason == MBG_FIT_INTERRUPTED) {
      break;
    }
  }
  if (best < 0) {
    err = mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "the model cannot be simulated at any of the %d starts", id->o.starts);
    goto done;
  }
  memcpy(id->x, found, n * sizeof(double));
  memcpy(id->T, T, n * n * sizeof(double));
  memcpy(id->q, q, n * sizeof(double));
  id->summary.cost = id->start[best].cost;
  id->summary.reason =
      id->start[id->summary.starts - 1].reason == MBG_FIT_INTERRUPTED ? MBG_FIT_INTERRUPTED : id->start[best].reason;
  for (int k = 0; k < id->summary.starts; k++) {
    id->summary.iterations += id->start[k].iterations;
  }
done:
  mbg__free(ctx, x);
  return err;
}

/* ---------------------------------------------------------------------- continuation */

/* Parameters of another identification of the same file as starts of this one, or the other way round. */
static void copy_unknowns(const mbg_identify *from, mbg_identify *to) {
  memcpy(to->x, from->x, (size_t)to->n * sizeof(double));
}

/* mass of all bodies in the first experiment, the scale of the tracking forces */
static double mass_of(const mbg_identify *id) {
  const mbg_run *run = id->experiment[0].run;
  mbg_attribute_info info;
  double mass = 0;
  for (int i = 0; i < mbg_run_attribute_count(run); i++) {
    if (mbg_run_attribute(run, i, &info) == MBG_OK && !strcmp(info.key, "mass")) {
      mass += info.value;
    }
  }
  return mass;
}

/* One step: a fit of the model that tracks its data with this gain, from the end of the last step. */
static int fit_tracking(mbg_context *ctx, mbg_identify *id, double gain) {
  const mbg__tracking tracking = {gain, mass_of(id), id->experiment[0].model->size};
  int err = MBG_OK;
  mbg_identify *other = NULL;
  mbg_identify_options o = id->o;
  mbg_fit_reason reason;
  int iterations;
  double start, cost;
  o.restart = NULL;
  o.resume = 0;
  o.homotopy = 0;
  o.starts = 1;
  o.tolerance = fmax(o.tolerance, 1e-4);
  MBG_TRY(mbg__identify_create(ctx, id->path, &o, 1, &tracking, &other));
  if (other->ntracked == 0) {
    err = mbg__fail(
        ctx, MBG_ERROR_INPUT,
        "homotopy: no channel can pull the model: it takes positions, distances, joint coordinates or their rates "
        "as signals of their own (not in expressions); try several starts");
    goto done;
  }
  copy_unknowns(id, other);
  MBG_TRY(mbg__identify_minimize(ctx, other, other->x, &reason, &iterations, &start, &cost));
  copy_unknowns(other, id);
  id->summary.iterations += iterations;
  id->summary.evaluations += other->summary.evaluations;
  id->summary.failures += other->summary.failures;
  if (reason == MBG_FIT_INTERRUPTED) {
    err = MBG_ERROR_INTERRUPTED;
  }
done:
  mbg_identify_destroy(other);
  return err;
}

/* Vyasarayani, Uchida, McPhee 2011: gains from large to small, the last fit is that of the model itself */
static int follow(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  for (int k = 0; k < id->o.homotopy; k++) {
    MBG_TRY(fit_tracking(ctx, id, id->o.gain * pow(1e-3, (double)k / (id->o.homotopy > 1 ? id->o.homotopy - 1 : 1))));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- bias of the step */

/* The stepper is of second order: value(h) = value(0) + c h^2, so that the fit with h/2 from the solution gives
   bias = c h^2 = 4/3 (value(h) - value(h/2)) (theory 2, section 9). */
static int estimate_bias(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  mbg_identify *half = NULL;
  mbg_identify_options o = id->o;
  mbg_fit_reason reason;
  int iterations;
  double start, cost;
  const int mark = mbg__message_mark(ctx);
  o.restart = NULL;
  o.resume = 0;
  o.iterations = 10;
  o.tolerance = 1e-8;
  o.optimizer = MBG_FIT_LM;
  o.report = NULL;
  MBG_TRY(mbg__identify_create(ctx, id->path, &o, 2, NULL, &half));
  copy_unknowns(id, half);
  MBG_TRY(mbg__identify_minimize(ctx, half, half->x, &reason, &iterations, &start, &cost));
  id->summary.evaluations += half->summary.evaluations;
  for (int i = 0; reason != MBG_FIT_INTERRUPTED && i < id->n; i++) {
    id->parameter[i].bias = 4.0 / 3 * (mbg__identify_p(id, i, id->x[i]) - mbg__identify_p(id, i, half->x[i]));
  }
  id->summary.biased = reason != MBG_FIT_INTERRUPTED;
  mbg__message_rewind(ctx, mark); /* said before, for the fit itself */
done:
  mbg_identify_destroy(half);
  if (err == MBG_ERROR_CONVERGENCE || err == MBG_ERROR_SINGULAR) {
    mbg__message_rewind(ctx, mark);
    err = mbg__identify_warn(ctx, id, "the bias of the step could not be estimated: the fit with half the step failed");
  }
  return err;
}

/* every run has a fixed step */
static bool fixed_steps(const mbg_identify *id) {
  for (int k = 0; k < id->nexperiment; k++) {
    if (!(mbg__run_step(id->experiment[k].run) > 0)) {
      return false;
    }
  }
  return true;
}

/* ---------------------------------------------------------------------- the whole */

static bool converged(mbg_fit_reason reason) {
  return reason == MBG_FIT_GRADIENT || reason == MBG_FIT_STEP || reason == MBG_FIT_COST;
}

static int fit(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  err = follow(ctx, id);
  if (err == MBG_ERROR_INTERRUPTED) {
    id->summary.reason = MBG_FIT_INTERRUPTED;
    err = MBG_OK;
    goto done;
  }
  MBG_TRY(err);
  MBG_TRY(solve_starts(ctx, id));
done:
  return err;
}

int mbg_identify_solve(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  mbg_identify_options *o = &id->o;
  MBG_TRY(o->starts > 1 ? check_box(ctx, id) : MBG_OK);
  MBG_TRY(o->restart ? mbg__restart_open(ctx, id) : MBG_OK);
  /* where the start stands: hints about units before anything is bent to fit */
  err = mbg__identify_simulate(ctx, id, id->x);
  if (err == MBG_OK) {
    id->summary.start_cost = mbg__identify_cost(id);
    MBG_TRY(mbg__identify_channels(ctx, id, true));
  }
  MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : err);
  MBG_TRY(fit(ctx, id));
  id->summary.converged = converged(id->summary.reason);
  mbg__restart_close(id);
  /* what was interrupted is reported as it stands */
  id->deaf = id->summary.reason == MBG_FIT_INTERRUPTED;
  MBG_TRY(mbg__identify_report(ctx, id));
  if (o->bias && id->summary.converged && fixed_steps(id)) {
    MBG_TRY(estimate_bias(ctx, id));
  }
done:
  mbg__restart_close(id);
  return err;
}
