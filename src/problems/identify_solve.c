/* The fit: one minimization, the best of several, a continuation, the bias of the step. */
#include "optimizers/minimize.h"
#include "problems/cases.h"
#include "problems/identify.h"
#include "problems/sequence.h"
#include "problems/spread.h"
#include "run/run.h"

#include <string.h>

const char *mbg_identify_reason_text(int reason) {
  static const char *const texts[] = {[MBG_IDENTIFY_NOT_RUN] = "not run",
                                      [MBG_IDENTIFY_GRADIENT] = "converged: the gradient is zero",
                                      [MBG_IDENTIFY_STEP] = "converged: the steps are zero",
                                      [MBG_IDENTIFY_COST] = "converged: the cost does not change any more",
                                      [MBG_IDENTIFY_ITERATIONS] = "not converged: too many iterations",
                                      [MBG_IDENTIFY_STUCK] = "not converged: no step lowers the cost",
                                      [MBG_IDENTIFY_INTERRUPTED] = "interrupted"};
  return reason >= 0 && reason < MBG_COUNT(texts) ? texts[reason] : "unknown";
}

/* context of the callbacks of an optimizer */
typedef struct {
  mbg_context *ctx;
  mbg_identify *id;
} user_data;

/* ---------------------------------------------------------------------- evaluations, recorded */

static int fit_cost(void *user, const double *x, double *cost) {
  const user_data *u = user;
  int status, err = MBG_OK;
  bool found;
  MBG_TRY(mbg__work_recorded(u->ctx, &u->id->work, 'f', u->id->n, x, 1, cost, &status, &found));
  if (found) {
    mbg__identify_count(u->id, x, status != MBG_OK);
    return status;
  }
  status = mbg__identify_simulate(u->ctx, u->id, x);
  if (status < 0) {
    return status;
  }
  *cost = status == MBG_OK ? mbg__identify_cost(u->id) : INFINITY;
  MBG_TRY(mbg__work_add_record(u->ctx, &u->id->work, 'f', u->id->n, x, 1, cost, status));
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
  MBG_TRY(mbg__work_recorded(u->ctx, &u->id->work, 'J', u->id->n, x, (int)(n * n + n), both, &status, &found));
  if (!found) {
    MBG_TRY(mbg__identify_reduce(u->ctx, u->id, x, both, both + n * n));
    MBG_TRY(mbg__work_add_record(u->ctx, &u->id->work, 'J', u->id->n, x, (int)(n * n + n), both, MBG_OK));
  } else {
    mbg__identify_count(u->id, x, false);
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
  MBG_TRY(mbg__work_recorded(u->ctx, &u->id->work, 'g', u->id->n, x, (int)n + 1, both, &status, &found));
  if (!found) {
    status = mbg__identify_simulate(u->ctx, u->id, x);
    MBG_TRY(status);
    both[0] = mbg__identify_cost(u->id);
    if (status == MBG_OK) {
      MBG_TRY(mbg__identify_adjoint(u->ctx, u->id, x, both + 1));
    }
    MBG_TRY(mbg__work_add_record(u->ctx, &u->id->work, 'g', u->id->n, x, (int)n + 1, both, status));
  } else {
    mbg__identify_count(u->id, x, status != MBG_OK);
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

static int fit_product(void *user, const double *x, const double *d, double *Hd) {
  const user_data *u = user;
  const size_t n = (size_t)u->id->n;
  int status = MBG_OK, err = MBG_OK;
  bool found;
  double *key = mbg__alloc(u->ctx, 2 * n + 1, sizeof(double));
  if (!key) {
    return mbg__fail_memory(u->ctx);
  }
  memcpy(key, x, n * sizeof(double));
  memcpy(key + n, d, n * sizeof(double));
  MBG_TRY(mbg__work_recorded(u->ctx, &u->id->work, 'p', 2 * (int)n, key, (int)n, Hd, &status, &found));
  if (!found) {
    status = mbg__identify_product(u->ctx, u->id, x, d, Hd);
    MBG_TRY(status);
    MBG_TRY(mbg__work_add_record(u->ctx, &u->id->work, 'p', 2 * (int)n, key, (int)n, Hd, status));
  } else {
    mbg__identify_count(u->id, x, status != MBG_OK);
  }
  err = status;
done:
  mbg__free(u->ctx, key);
  return err;
}

/* ---------------------------------------------------------------------- one minimization */

static int report(void *user, int iteration, double cost) {
  const user_data *u = user;
  const mbg_identify_options *o = &u->id->o;
  const mbg_run_options *run = &u->id->run_options;
  const mbg_identify_state state = {.iteration = iteration, .cost = cost};
  const bool stop = o->progress && o->progress(o->user, &state);
  return mbg__work_any(u->ctx, &u->id->work, stop || (run->interrupt && run->interrupt(run->user)));
}

static int report_state(void *user, const mbg__minimize_state *state) {
  return report(user, state->iteration, state->value);
}

static int minimize_lm(user_data *u, double *x, mbg_identify_start *outcome) {
  static const mbg_identify_reason reasons[] = {[MBG__LEAST_SQUARES_GRADIENT] = MBG_IDENTIFY_GRADIENT,
                                                [MBG__LEAST_SQUARES_STEP] = MBG_IDENTIFY_STEP,
                                                [MBG__LEAST_SQUARES_COST] = MBG_IDENTIFY_COST,
                                                [MBG__LEAST_SQUARES_STUCK] = MBG_IDENTIFY_STUCK,
                                                [MBG__LEAST_SQUARES_ITERATIONS] = MBG_IDENTIFY_ITERATIONS,
                                                [MBG__LEAST_SQUARES_INTERRUPTED] = MBG_IDENTIFY_INTERRUPTED};
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
  outcome->reason = reasons[result.reason];
  outcome->iterations = result.iterations;
  outcome->start_cost = result.cost_start;
  outcome->cost = result.cost;
  return err;
}

/* By the gradient of the cost. Quasi-Newton needs more iterations than Gauss-Newton: ten times as many are allowed, and
   a hundred times as many for methods without a memory. */
static int minimize_by_gradient(user_data *u, mbg__minimize_method method, double *x, mbg_identify_start *outcome) {
  static const mbg_identify_reason reasons[MBG__MINIMIZE_REASONS] = {
      [MBG__MINIMIZE_GRADIENT] = MBG_IDENTIFY_GRADIENT,
      [MBG__MINIMIZE_VALUE] = MBG_IDENTIFY_COST,
      [MBG__MINIMIZE_SEARCH] = MBG_IDENTIFY_COST,
      [MBG__MINIMIZE_ITERATIONS] = MBG_IDENTIFY_ITERATIONS,
      [MBG__MINIMIZE_EVALUATIONS] = MBG_IDENTIFY_ITERATIONS,
      [MBG__MINIMIZE_INTERRUPTED] = MBG_IDENTIFY_INTERRUPTED};
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
                                         .product = fit_product,
                                         .progress = report_state,
                                         .user = u};
  mbg__minimize_options o = mbg__minimize_options_default();
  mbg__minimize_result result = {0};
  const int more = method == MBG__MINIMIZE_LBFGS ? 10 : 100;
  o.method = method;
  o.max_iterations = more * id->o.iterations;
  o.max_evaluations = 10 * more * id->o.iterations;
  o.memory = 20;
  o.gradient_relative = fmax(id->o.tolerance, 1e-9); /* half of the digits of the cost and some more */
  o.value_tolerance = 1e-14;
  const int err = mbg__minimize(u->ctx, &problem, &o, x, &result);
  outcome->reason = reasons[result.reason];
  outcome->iterations = result.iterations;
  outcome->start_cost = result.value_start;
  outcome->cost = result.value;
  mbg__free(u->ctx, metric);
  return err;
}

/* begins anew where it ends with other events than those it began with */
int mbg__identify_minimize(mbg_context *ctx, mbg_identify *id, double *x, mbg_identify_start *outcome) {
  user_data u = {ctx, id};
  const int method = mbg__minimize_method_find(id->o.optimizer);
  mbg_identify_start next = {0};
  uint64_t before, after;
  int err = MBG_OK;
  MBG_TRY(mbg__identify_sequence(ctx, id, x, &after));
  for (int k = 0;; k++) {
    before = after;
    MBG_TRY(method >= 0 ? minimize_by_gradient(&u, method, x, &next) : minimize_lm(&u, x, &next));
    outcome->start_cost = k == 0 ? next.start_cost : outcome->start_cost;
    outcome->iterations = k == 0 ? next.iterations : outcome->iterations + next.iterations;
    outcome->reason = next.reason;
    outcome->cost = next.cost;
    if (next.reason == MBG_IDENTIFY_INTERRUPTED || k == MBG__SEQUENCE_CHANGES) {
      break;
    }
    MBG_TRY(mbg__identify_sequence(ctx, id, x, &after));
    if (after == before) {
      break;
    }
    id->changes++;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- several starts */

static int check_box(mbg_context *ctx, const mbg_identify *id) {
  int err = MBG_OK;
  for (int i = 0; i < id->n && id->o.starts > 1; i++) {
    MBG_TRY(mbg__check_box(ctx, id->parameter[i].name, id->lower[i], id->upper[i], id->log[i]));
  }
done:
  return err;
}

/* A start that another program fits, or has fitted: what it has found. */
static void take_known(const mbg_identify *id, mbg_identify_start *s) {
  const double *p = s->parameters;
  if (id->o.known) {
    *s = id->o.known[s - id->start];
    s->parameters = p;
  }
}

/* simulations of a start; those of a known one are not all made here */
static void count(mbg_identify *id, const mbg_identify_summary *before, mbg_identify_start *s) {
  const mbg_identify_start *known = id->o.known ? &id->o.known[s - id->start] : NULL;
  s->evaluations = known ? known->evaluations : id->summary.evaluations - before->evaluations;
  s->failures = known ? known->failures : id->summary.failures - before->failures;
  id->summary.evaluations = before->evaluations + s->evaluations;
  id->summary.failures = before->failures + s->failures;
}

static int solve_start(mbg_context *ctx, mbg_identify *id, int k, double *x) {
  const mbg_identify_summary before = id->summary;
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
  *s = (mbg_identify_start){.parameters = p, .start_cost = NAN, .cost = NAN, .reason = MBG_IDENTIFY_STUCK};
  id->summary.starts = k + 1;
  if (id->o.place >= 0 && id->o.place != k) {
    take_known(id, s);
    count(id, &before, s);
    return MBG_OK;
  }
  const int err = mbg__identify_minimize(ctx, id, x, s);
  count(id, &before, s);
  /* one of several starts may fail to simulate; the only one may not */
  if (err == MBG_ERROR_CONVERGENCE && id->o.starts > 1) {
    mbg__message_rewind(ctx, mark);
    s->cost = s->start_cost = NAN;
    s->reason = MBG_IDENTIFY_STUCK;
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
    if (s->reason == MBG_IDENTIFY_INTERRUPTED) {
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
  id->summary.reason = id->start[id->summary.starts - 1].reason == MBG_IDENTIFY_INTERRUPTED ? MBG_IDENTIFY_INTERRUPTED
                                                                                            : id->start[best].reason;
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

/* An auxiliary fit from the present unknowns: options without restart and reports, a finer step or tracking forces. The
   caller destroys *other. */
static int fit_other(mbg_context *ctx, mbg_identify *id, mbg_identify_options *o, double refine,
                     const mbg__tracking *tracking, mbg_identify **other, mbg_identify_start *outcome) {
  int err = MBG_OK;
  o->restart = NULL;
  o->resume = false;
  MBG_TRY(mbg__identify_create(ctx, id->model, o, refine, tracking, other));
  if (tracking && (*other)->ntracked == 0) {
    err =
        mbg__fail(ctx, MBG_ERROR_INPUT,
                  "homotopy: no channel can pull the model: it takes positions, distances, joint coordinates or their "
                  "rates as signals of their own (not in expressions); try several starts");
    goto done;
  }
  copy_unknowns(id, *other);
  MBG_TRY(mbg__identify_minimize(ctx, *other, (*other)->x, outcome));
  id->summary.evaluations += (*other)->summary.evaluations;
done:
  return err;
}

/* One step: a fit of the model that tracks its data with this gain, from the end of the last step. */
static int fit_tracking(mbg_context *ctx, mbg_identify *id, double gain) {
  int err = MBG_OK;
  mbg_identify *other = NULL;
  mbg_identify_options o = id->o;
  mbg_identify_start outcome;
  mbg__tracking tracking = {.gain = gain, .size = id->models[0]->size};
  o.homotopy = 0;
  o.starts = 1;
  o.place = -1;
  o.tolerance = fmax(o.tolerance, 1e-4);
  MBG_TRY(mbg__identify_masses(ctx, id));
  tracking.mass = id->experiment[0].mass; /* the scale of the tracking forces */
  MBG_TRY(fit_other(ctx, id, &o, 1, &tracking, &other, &outcome));
  copy_unknowns(other, id);
  id->summary.iterations += outcome.iterations;
  id->summary.failures += other->summary.failures;
  err = outcome.reason == MBG_IDENTIFY_INTERRUPTED ? MBG_ERROR_INTERRUPTED : MBG_OK;
done:
  mbg_identify_destroy(other);
  return err;
}

/* Vyasarayani, Uchida, McPhee 2011: gains from large to small; the last fit uses the model itself */
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
  mbg_identify_start outcome;
  const int mark = mbg__message_mark(ctx);
  o.iterations = 10;
  o.tolerance = 1e-8;
  o.optimizer = "lm";
  o.progress = NULL;
  MBG_TRY(fit_other(ctx, id, &o, 2, NULL, &half, &outcome));
  for (int i = 0; outcome.reason != MBG_IDENTIFY_INTERRUPTED && i < id->n; i++) {
    id->parameter[i].bias = 4.0 / 3 * (mbg__identify_p(id, i, id->x[i]) - mbg__identify_p(id, i, half->x[i]));
  }
  id->summary.biased = outcome.reason != MBG_IDENTIFY_INTERRUPTED;
  mbg__message_rewind(ctx, mark); /* the fit itself has filed these messages */
done:
  mbg_identify_destroy(half);
  if (err == MBG_ERROR_CONVERGENCE || err == MBG_ERROR_SINGULAR) {
    mbg__message_rewind(ctx, mark);
    err =
        mbg__warn(ctx, &id->warnings, "the bias of the step could not be estimated: the fit with half the step failed");
  }
  return err;
}

/* every run has a fixed step */
static bool fixed_steps(const mbg_identify *id) {
  for (int k = 0; k < id->nexperiment; k++) {
    if (!(id->experiment[k].step > 0)) {
      return false;
    }
  }
  return true;
}

/* ---------------------------------------------------------------------- the whole */

static bool converged(mbg_identify_reason reason) {
  return reason == MBG_IDENTIFY_GRADIENT || reason == MBG_IDENTIFY_STEP || reason == MBG_IDENTIFY_COST;
}

static int fit(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  err = follow(ctx, id);
  if (err == MBG_ERROR_INTERRUPTED) {
    id->summary.reason = MBG_IDENTIFY_INTERRUPTED;
    err = MBG_OK;
    goto done;
  }
  MBG_TRY(err);
  MBG_TRY(solve_starts(ctx, id));
done:
  return err;
}

int mbg_identify_solve(mbg_context *ctx, mbg_identify *id) {
  MBG_NEED(ctx, ctx && id);
  int err = MBG_OK;
  MBG_TRY(check_box(ctx, id));
  MBG_TRY(mbg__identify_open_record(ctx, id));
  /* residuals at the start: hints about units before the fit */
  err = mbg__identify_simulate(ctx, id, id->x);
  if (err == MBG_OK) {
    id->summary.start_cost = mbg__identify_cost(id);
    MBG_TRY(mbg__identify_channels(ctx, id, true));
  }
  MBG_TRY(err > 0 ? MBG_ERROR_CONVERGENCE : err);
  MBG_TRY(fit(ctx, id));
  id->summary.converged = converged(id->summary.reason);
  id->summary.replayed = id->work.replayed;
  mbg__work_close_record(&id->work);
  /* an interrupted fit is reported as it stands */
  id->reporting = id->summary.reason == MBG_IDENTIFY_INTERRUPTED;
  const int evaluations = id->summary.evaluations;
  MBG_TRY(mbg__identify_report(ctx, id));
  id->summary.evaluations = evaluations; /* the report simulates only what the fit has not done last */
  MBG_TRY(mbg__identify_note_events(ctx, id));
  if (id->o.bias && id->summary.converged && fixed_steps(id)) {
    MBG_TRY(estimate_bias(ctx, id));
  }
done:
  if (err == MBG_ERROR_INTERRUPTED) {
    mbg__fail(ctx, err, "interrupted before the first step of the fit; there is no result");
  }
  mbg__work_close_record(&id->work);
  return err;
}
