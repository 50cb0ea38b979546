/* Error of the steps: the run against runs with double, half and, where these disagree, a quarter of its steps.

   With an error C h^q the differences d0 = |y(2h) - y(h)| and d1 = |y(h) - y(h/2)| have the ratio r = 2^q, and the
   error of y(h) is d1 r/(r - 1) (Richardson). The ratio is measured, because kinks lower the order; it lies between
   3/2 and 2^q with the order q of the formulation. A ratio outside the range of smooth errors makes neither difference
   trustworthy: a quarter of the step decides. Numbers that share a ratio (a value; the derivatives by one named
   parameter) are a group.

   An event lies somewhere in a step: the error is C(theta) h^q with theta = tau/h, and its derivative by a parameter
   C' tau' h^(q - 1): gradients of runs with events are of one order less, and jump from step to step. */
#include "integrators/rk.h"
#include "run/run_internal.h"
#include "trajectory/steps.h"

#include <string.h>

enum { COARSE, HALF, QUARTER, RUNS };
static const double refine_of[RUNS] = {0.5, 2, 4};
/* The ratio of the differences counts as regular between these (the second times 2^q), when they matter at all. */
static const double ratio_least = 1.7, ratio_most = 2.5, matters = 1e-6, negligible = 0.1, rounding = 1e-10;

typedef struct {
  const mbg_run *run;
  int nc, np;
  bool gradients;
  double order;                        /* of the formulation; 0 under error control */
  bool jumps;                          /* events lie in the steps */
  bool known[RUNS];                    /* that run succeeded */
  double *p;                           /* (np) */
  int *group;                          /* parameters of one name: the index of the first     (np) */
  double *psi[RUNS + 1], *g[RUNS + 1]; /* of the runs, then of the run itself   (nc, nc x np) */
  double *rise, *shift;                /* of paths: from the largest node to the peak (nc, nc x np) */
} estimate;

/* ---------------------------------------------------------------------- runs with other steps */

/* Pairs of n steps joined, unless a break lies between: their number, and (not NULL) their lengths. */
static int join_steps(const mbg__run_plan *plan, int n, const double *t, double *h) {
  int joined = 0;
  for (int i = 0; i < n; joined++) {
    const int take = i + 1 < n && mbg__plan_next_break(plan, t[i]) > t[i + 1] * (1 + 1e-12) ? 2 : 1;
    if (h) {
      h[joined] = t[i + take] - t[i];
    }
    i += take;
  }
  return joined;
}

/* the times of the nodes, in the arena */
static const double *times_of(mbg__arena *arena, const mbg__nodes *nodes) {
  double *t = MBG_TAKE(arena, double, nodes->nnode);
  for (int n = 0; t && n < nodes->nnode; n++) {
    t[n] = mbg__nodes_time(nodes, n);
  }
  return t;
}

/* Every step of the last simulation divided by 2 or 4, by its nodes; or pairs of steps joined. */
static int refine_lengths(mbg_context *ctx, mbg__arena *arena, const mbg_run *run, double refine, mbg__run_plan *plan) {
  const int n = run->nodes.nnode - 1;
  const double *t = times_of(arena, &run->nodes);
  if (!t) {
    return mbg__arena_check(ctx, arena);
  }
  if (refine >= 1) {
    plan->parts = (int)refine;
    plan->ends = t;
    plan->nlength = n * plan->parts;
    return MBG_OK;
  }
  plan->nlength = join_steps(plan, n, t, NULL);
  double *h = MBG_TAKE(arena, double, plan->nlength);
  plan->lengths = h;
  if (h) {
    (void)join_steps(plan, n, t, h);
  }
  return mbg__arena_check(ctx, arena);
}

static int set_steps(mbg_context *ctx, const mbg_run *run, double refine, mbg_run *other) {
  mbg__run_plan *plan = &other->plan;
  const bool ode = (run->formulation->supports & MBG__ODE) != 0;
  plan->step = run->plan.step;
  plan->tolerance = run->plan.tolerance;
  plan->relative = run->plan.relative;
  plan->absolute = run->plan.absolute;
  plan->adjoint = fmin(0.5, fmax(run->plan.adjoint * pow(0.1, 2 * log2(refine)), run->plan.adjoint > 0 ? 1e-14 : 0));
  if (run->m->nevent > 0 && !(plan->step > 0) && !ode) {
    plan->tolerance /= refine * refine * refine; /* events have nodes of their own: the local error is of third order */
    return MBG_OK;
  }
  if (plan->step > 0) {
    plan->step /= ode ? refine : 1;
    plan->refine = ode ? 0 : refine * (run->plan.refine > 0 ? run->plan.refine : 1);
    return MBG_OK;
  }
  if (!ode) {
    return refine_lengths(ctx, &other->arena, run, refine, plan);
  }
  const double factor = fmax(pow(0.1, 2 * log2(refine)), fmin(1, 1e-13 / plan->relative));
  plan->relative = fmin(plan->relative * factor, 0.5);
  plan->absolute *= factor;
  return MBG_OK;
}

int mbg__run_places(mbg_context *ctx, mbg_run *run, bool swings, const int **out) {
  const mbg_model *m = run->m;
  *out = NULL;
  if (m->nevent > 0) {
    return MBG_OK; /* weights move with the events: their derivatives need all values */
  }
  int *place = MBG_TAKE(&run->arena, int, run->nused + 1), n = 0;
  *out = place;
  if (!place) {
    return mbg__arena_check(ctx, &run->arena);
  }
  for (int i = 0; i < run->nused; i++) {
    bool each = false;
    for (int k = 0; k < m->ncriterion; k++) {
      const mbg__criterion_kind kind = m->criteria[k].kind;
      const bool own = kind != MBG__COMBINATION && m->criteria[k].signal == run->used[i];
      each = each || (own && kind != MBG__TERMINAL && kind != MBG__INTEGRAL) ||
             (own && swings && mbg__run_swings(run, &m->criteria[k]));
    }
    place[i] = each ? n++ : -1;
  }
  return MBG_OK;
}

int mbg__run_refined(mbg_context *ctx, const mbg_run *run, double refine, mbg_run **out) {
  const int mark = mbg__message_mark(ctx);
  mbg_run_options options = run->options;
  mbg_run *other = NULL;
  int err = MBG_OK;
  options.formulation = run->formulation->key;
  options.accuracy = NAN;
  options.refine = 0;
  if (run->accuracy > 0 && !mbg_run_controlled(run)) {
    options.step = run->plan.step; /* no step of the model is meant */
    options.tolerance = NAN;
  }
  options.all_signals = options.all_signals && run->m->ncriterion == 0;
  options.keep_poses = options.criteria_only = false;
  options.node = NULL;
  MBG_TRY(mbg_run_create(ctx, run->m, &options, &other));
  other->accuracy = 0;
  MBG_TRY(set_steps(ctx, run, refine, other));
  /* nobody looks at its nodes, unless signals are what the runs are compared by */
  if (run->m->ncriterion > 0) {
    MBG_TRY(mbg__run_places(ctx, other, false, &other->plan.place));
  }
  other->plan.memory = mbg__store_share(other->plan.memory, mbg__nodes_bytes(&run->nodes, run->nodes.nnode));
  memcpy(other->left_out, run->left_out, (size_t)run->m->ncriterion * sizeof(bool));
  MBG_TRY(mbg__run_set_parameters(ctx, other, run->p));
  if (run->given_state) {
    const mbg__run_state began = mbg__run_began(run);
    mbg__run_give(other, &began);
  }
  MBG_TRY(mbg_run_simulate(ctx, other));
  if (mbg_run_partial(other)) {
    err = mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "the estimate of the error was interrupted");
    goto done;
  }
  mbg__message_rewind(ctx, mark);
done:
  if (err < 0) {
    mbg_run_destroy(other);
    other = NULL;
  }
  *out = other;
  return err;
}

static int results(mbg_context *ctx, mbg_run *run, mbg_method method, const estimate *e, int i) {
  int err = MBG_OK;
  MBG_TRY(mbg_run_criteria(ctx, run, e->psi[i]));
  if (e->gradients) {
    MBG_TRY(mbg_run_gradient(ctx, run, method, e->g[i], NULL));
  }
done:
  return err;
}

/* A run that fails with these steps is not known; what ends the estimate is no memory, or the user. */
static int run_with(mbg_context *ctx, estimate *e, mbg_method method, int i) {
  const int mark = mbg__message_mark(ctx);
  mbg_run *other = NULL;
  int err = mbg__run_refined(ctx, e->run, refine_of[i], &other);
  err = err < 0 ? err : results(ctx, other, method, e, i);
  mbg_run_destroy(other);
  e->known[i] = err == MBG_OK;
  if (err == MBG_ERROR_MEMORY || err == MBG_ERROR_INTERRUPTED) {
    return err;
  }
  if (err < 0 && i == HALF) {
    mbg__message_rewind(ctx, mark);
    mbg__note(ctx, MBG_WARNING, "the error of the steps is not known: the run with finer steps failed");
  } else {
    mbg__message_rewind(ctx, mark);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- groups */

static double size_of(const estimate *e, int i) { return e->p[i] != 0 ? fabs(e->p[i]) : 1; }

/* largest |x - y| of criterion k in group `head` (-1: the value), parameters by their size; y NULL: of |x| */
static double distance(const estimate *e, int k, int head, const double *const *x, const double *const *y) {
  const size_t at = (size_t)k * (size_t)e->np;
  double d = 0;
  if (head < 0) {
    return fabs(x[0][k] - (y ? y[0][k] : 0));
  }
  for (int i = head; i < e->np; i++) {
    if (e->group[i] == head) {
      const double part = size_of(e, i) * fabs(x[1][at + (size_t)i] - (y ? y[1][at + (size_t)i] : 0));
      d = part > d || isnan(part) ? part : d;
    }
  }
  return d;
}

/* value and gradient of run i (RUNS: the run itself) */
static const double *const *of(const estimate *e, int i, const double *pair[2]) {
  pair[0] = e->psi[i];
  pair[1] = e->g[i];
  return pair;
}

static double between(const estimate *e, int k, int head, int i, int j) {
  const double *x[2], *y[2];
  return distance(e, k, head, of(e, i, x), of(e, j, y));
}

/* The error of a group follows from these. */
typedef struct {
  double error; /* of the worst member, times its size */
  double ratio; /* of differences, within its bounds */
  bool regular;
} group_error;

/* rounding of y stays in differences */
static double trusted(const estimate *e, int k, int head, double d) {
  const double *x[2];
  return d > 1e-13 * distance(e, k, head, of(e, RUNS, x), NULL) ? d : 0;
}

static double clip(double r, double least, double most) { return fmin(fmax(r, least), most); }

/* errors that follow from d0 and d1 alone; NAN: a difference is not known */
static group_error from_two(const estimate *e, double d0, double d1) {
  const double most = pow(2, e->order);
  if (e->order == 0 || !isfinite(d0)) {
    const double ratio = e->order == 0 ? 100 : most;
    return (group_error){d1 * ratio / (ratio - 1), ratio, e->order == 0 || d1 == 0};
  }
  const double ratio = clip(d1 > 0 ? d0 / d1 : INFINITY, 1.5, most);
  const bool regular =
      (d0 == 0 && d1 == 0) || (d0 >= fmin(ratio_least, 0.9 * most) * d1 && d0 <= ratio_most * most * d1);
  return (group_error){fmax(d1 * ratio / (ratio - 1), d0 / (most * most)), ratio, regular};
}

/* with a quarter of the step: |y(h) - y(h/4)| and the rest, d2/(r - 1) */
static group_error from_three(const estimate *e, double far, double d1, double d2) {
  const double ratio = clip(d2 > 0 ? d1 / d2 : INFINITY, 1.5, pow(2, e->order));
  const bool regular = d1 >= fmin(ratio_least, 0.9 * pow(2, e->order)) * d2;
  return (group_error){regular ? far + d2 / (ratio - 1) : fmax(far, fmax(d1, 2 * d2)), ratio, regular};
}

/* of gradients across events: no difference is trusted to fall, the largest counts */
static group_error from_jumps(const estimate *e, double d0, double d1, double far) {
  const double ratio = fmax(2, pow(2, e->order - 1));
  double error = d1 * ratio / (ratio - 1);
  error = isfinite(d0) ? fmax(error, 2 * d0 / ratio) : error;
  error = isfinite(far) ? fmax(error, far) : error;
  return (group_error){error, ratio, true};
}

static group_error judge(const estimate *e, int k, int head) {
  const double d0 = e->known[COARSE] ? trusted(e, k, head, between(e, k, head, COARSE, RUNS)) : NAN;
  const double d1 = e->known[HALF] ? trusted(e, k, head, between(e, k, head, HALF, RUNS)) : NAN;
  if (e->jumps && head >= 0) {
    return from_jumps(e, d0, d1, e->known[QUARTER] ? between(e, k, head, QUARTER, RUNS) : NAN);
  }
  if (!e->known[QUARTER]) {
    return from_two(e, d0, d1);
  }
  return from_three(e, between(e, k, head, QUARTER, RUNS), d1, trusted(e, k, head, between(e, k, head, QUARTER, HALF)));
}

/* ---------------------------------------------------------------------- errors of a criterion */

static double largest_effect(const estimate *e, int k) {
  double effect = 0;
  for (int i = 0; e->gradients && i < e->np; i++) {
    effect = fmax(effect, size_of(e, i) * fabs(e->g[RUNS][(size_t)k * (size_t)e->np + (size_t)i]));
  }
  return effect;
}

static double part_of(double error, double size) { return error == 0 ? 0 : error / size; }

static void note_order(mbg_step_error *s, const estimate *e, const group_error *group, double relative) {
  if (e->order > 0 && relative > matters) {
    s->order = fmin(s->order, log2(group->ratio));
    s->regular = s->regular && group->regular;
  }
}

/* by how much the derivatives of a group change on the way to the peak of a path, as in `distance` */
static double largest_shift(const estimate *e, int k, int head) {
  double most = 0;
  for (int i = head; i < e->np; i++) {
    const double shift = size_of(e, i) * fabs(e->shift[(size_t)k * (size_t)e->np + (size_t)i]);
    most = e->group[i] == head ? fmax(most, shift) : most;
  }
  return most;
}

/* the errors by the parameters of a group, and the worst one */
static void group_gradient(const estimate *e, int k, int head, double effect, double *error, mbg_step_error *s) {
  const double *x[2];
  const size_t at = (size_t)k * (size_t)e->np;
  const group_error group = judge(e, k, head);
  const double far = between(e, k, head, HALF, RUNS), factor = far > 0 ? group.error / far : 0;
  const double peak = e->rise[k] > 0 ? largest_shift(e, k, head) : 0;
  const double least = fmax(negligible * effect, rounding * fabs(e->psi[RUNS][k]));
  const double size = fmax(distance(e, k, head, of(e, RUNS, x), NULL), least);
  const double relative = part_of(fmax(group.error, peak), size);
  double worst = -1;
  int which = head;
  for (int i = head; i < e->np; i++) {
    if (e->group[i] == head) {
      error[i] = fmax(factor * fabs(e->g[HALF][at + (size_t)i] - e->g[RUNS][at + (size_t)i]),
                      e->rise[k] > 0 ? fabs(e->shift[at + (size_t)i]) : 0);
      which = size_of(e, i) * error[i] > worst ? i : which;
      worst = fmax(worst, size_of(e, i) * error[i]);
    }
  }
  note_order(s, e, &group, relative);
  if (peak > group.error && relative > matters && e->order > 0) {
    s->order = fmin(s->order, 1); /* how far the next node is */
  }
  if (relative > s->gradient_relative || isnan(relative) || s->worst < 0) {
    s->gradient_relative = relative;
    s->worst = which;
  }
}

static void criterion_error(const estimate *e, int k, double *error, mbg_step_error *s) {
  const double effect = largest_effect(e, k);
  const group_error value = judge(e, k, -1);
  *s = (mbg_step_error){
      .value = fmax(value.error, e->rise[k]), .worst = -1, .order = e->order > 0 ? e->order : NAN, .regular = true};
  s->value_relative = part_of(s->value, fmax(fabs(e->psi[RUNS][k]), effect));
  s->gradient = e->gradients ? error : NULL;
  note_order(s, e, &value, s->value_relative);
  for (int i = 0; e->gradients && i < e->np; i++) {
    if (e->group[i] == i) {
      group_gradient(e, k, i, effect, error, s);
    }
  }
  if (!e->known[HALF]) {
    s->value = s->value_relative = NAN;
    s->gradient_relative = e->gradients ? NAN : 0;
    s->regular = false;
  }
}

/* ---------------------------------------------------------------------- the estimate */

static int take_arrays(mbg_context *ctx, mbg__arena *arena, estimate *e) {
  const size_t nc = (size_t)e->nc, np = (size_t)e->np;
  e->rise = MBG_TAKE(arena, double, nc);
  e->shift = e->gradients ? MBG_TAKE(arena, double, nc *np) : NULL;
  e->p = MBG_TAKE(arena, double, np);
  e->group = MBG_TAKE(arena, int, np);
  for (int i = 0; i <= RUNS; i++) {
    e->psi[i] = MBG_TAKE(arena, double, nc);
    e->g[i] = e->gradients ? MBG_TAKE(arena, double, nc *np) : NULL;
  }
  return mbg__arena_check(ctx, arena);
}

static void find_groups(estimate *e) {
  for (int k = 0; k < e->run->m->nparameter; k++) {
    const mbg__parameter *p = &e->run->m->parameters[k];
    for (int i = 0; i < p->count; i++) {
      e->group[p->first + i] = p->first;
    }
  }
}

static double order_of(const mbg_run *run) {
  if (!(run->plan.step > 0) && (run->formulation->supports & MBG__ODE)) {
    return 0;
  }
  const mbg__rk_method *rk = run->formulation->order > 0 ? NULL
                             : run->plan.integrator      ? mbg__rk_find(run->plan.integrator)
                                                         : &mbg__rk_rk4;
  return rk ? fmin(rk->order, rk->dense_order + 1) : run->formulation->order;
}

/* a number that matters behaves as no smooth error does: a quarter of the step decides */
static bool doubtful(const estimate *e) {
  for (int k = 0; e->order > 0 && e->known[HALF] && k < e->nc; k++) {
    mbg_step_error s;
    if (e->run->left_out[k]) {
      continue;
    }
    criterion_error(e, k, e->g[QUARTER] ? e->g[QUARTER] : e->p, &s);
    if (!s.regular || !e->known[COARSE]) {
      return true;
    }
  }
  return false;
}

static int compute(mbg_context *ctx, estimate *e, mbg_run *run, mbg_method method) {
  int err = MBG_OK;
  MBG_TRY(mbg_run_parameters(run, e->p));
  find_groups(e);
  MBG_TRY(results(ctx, run, method, e, RUNS));
  for (int k = 0; k < e->nc; k++) {
    if (!run->left_out[k]) {
      double *shift = e->gradients ? e->shift + (size_t)k * (size_t)e->np : NULL;
      MBG_TRY(mbg__run_peak(ctx, run, method, k, &e->rise[k], shift));
    }
  }
  if (run->plan.memory > 0 && run->formulation->ops->forget) {
    const int *place = NULL;
    if (run->options.criteria_only && !run->nodes.place) {
      MBG_TRY(mbg__run_places(ctx, run, false, &place));
    }
    run->formulation->ops->forget(run->work, place, &run->nodes); /* one run at a time */
  }
  MBG_TRY(run_with(ctx, e, method, HALF));
  if (e->known[HALF] && e->order > 0) {
    MBG_TRY(run_with(ctx, e, method, COARSE));
    if (doubtful(e)) {
      MBG_TRY(run_with(ctx, e, method, QUARTER));
    }
  }
done:
  return err;
}

int mbg_run_error(mbg_context *ctx, mbg_run *run, mbg_method method, bool gradients) {
  MBG_NEED(ctx, ctx && run);
  estimate e = {.run = run, .nc = run->m->ncriterion, .np = run->m->np, .order = order_of(run)};
  int err = MBG_OK;
  e.gradients = gradients && e.np > 0;
  e.jumps = run->nodes.nfiring > 0 && e.order > 0;
  run->errors = NULL;
  mbg__arena_destroy(&run->error_arena);
  mbg_step_error *errors = MBG_TAKE(&run->error_arena, mbg_step_error, e.nc);
  double *gradient = MBG_TAKE(&run->error_arena, double, (size_t)e.nc *(size_t)e.np);
  MBG_TRY(take_arrays(ctx, &run->error_arena, &e));
  if (run->given_state && mbg__start_result_of(run->start)->nmemory > 0) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT,
                    "the error of the steps is not known in a run that goes on with the accelerations of the run "
                    "before; let it compute them anew (mbg_run_forget_stepper), or begin at the model's own start");
    goto done;
  }
  MBG_TRY(compute(ctx, &e, run, method));
  for (int k = 0; k < e.nc; k++) {
    criterion_error(&e, k, gradient + (size_t)k * (size_t)e.np, &errors[k]);
  }
  run->errors = errors;
done:
  return err;
}

const mbg_step_error *mbg_run_get_error(const mbg_run *run, int criterion) {
  const bool known = run && run->errors && criterion >= 0 && criterion < run->m->ncriterion;
  return known && !run->left_out[criterion] ? &run->errors[criterion] : NULL;
}

/* error = C h^order: h (accuracy / error)^(1/order), with a margin; tolerances are proportional to errors */
double mbg_run_step_for(const mbg_run *run, int criterion, double accuracy) {
  double factor = INFINITY;
  bool known = true; /* of all of them: fmin and fmax pass over NAN */
  for (int k = 0; run && run->errors && k < run->m->ncriterion; k++) {
    const mbg_step_error *s = &run->errors[k];
    if (run->left_out[k] || (criterion >= 0 && criterion != k)) {
      continue;
    }
    const double worst = fmax(s->value_relative, s->gradient_relative);
    const double order = isnan(s->order) ? 1 : s->order;
    known = known && !isnan(s->value_relative) && !isnan(s->gradient_relative);
    factor = fmin(factor, worst > 0 ? pow(0.8 * accuracy / worst, 1 / order) : INFINITY);
  }
  return run && known && isfinite(factor) ? factor * mbg_run_step(run) : NAN;
}
