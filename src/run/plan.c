#include "run/plan.h"

#include "trajectory/steps.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* presets of formulations with error control */
static const double preset_relative = 1e-9, absolute_to_relative = 1e-3;

/* an option, else the model's, else the default */
static double choose(double option, double model, double preset) {
  return !isnan(option) ? option : !isnan(model) ? model : preset;
}

/* Times are doubles: far from 0 they are coarse. A fixed step must have 10^4 of their units, so that nodes divide the
   run evenly; a run with free steps, 10^6. */
static int check_resolution(mbg_context *ctx, const mbg__run_plan *p) {
  const double unit = DBL_EPSILON * fmax(fabs(p->t0), fabs(p->t1)), span = p->t1 - p->t0;
  if (p->step > 0 && p->step < 1e4 * unit && span / p->step <= MBG__STEPS_MAX) {
    return mbg__fail(
        ctx, MBG_ERROR_INPUT,
        "the step %g is too small for times near t = %.10g, which double precision resolves to %.2g: start "
        "the run at 0 and shift the functions of time, or take a step of at least %.2g",
        p->step, p->t0, unit, 1e4 * unit);
  }
  if (span < 1e6 * unit) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "the run of %g s is too short for times near t = %.10g, which double precision resolves to %.2g: "
                     "start the run at 0 and shift the functions of time",
                     span, p->t0, unit);
  }
  return MBG_OK;
}

int mbg__plan_check(mbg_context *ctx, const mbg__run_plan *p) {
  if (isnan(p->t1)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the run has no end: give \"run\": {\"end\": ...} or --end");
  }
  if (!isfinite(p->t0) || !isfinite(p->t1) || !(p->t1 > p->t0)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the run must end after it starts: start %g, end %g", p->t0, p->t1);
  }
  if (!(p->step >= 0) || !isfinite(p->step) || !(p->tolerance >= 0) ||
      (p->step == 0 && p->tolerance == 0 && p->relative == 0)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the run needs a positive \"step\" or \"tolerance\" (step %g, tolerance %g)",
                     p->step, p->tolerance);
  }
  if (!isnan(p->rho_inf) && !(p->rho_inf >= 0 && p->rho_inf <= 1)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "rho_inf is %g; it must lie between 0 and 1", p->rho_inf);
  }
  if (!isnan(p->alpha_f) && !(p->alpha_f > 0 && p->alpha_f <= 1.0 / 3)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "alpha_f is %g; it must be positive and at most 1/3", p->alpha_f);
  }
  return check_resolution(ctx, p);
}

/* ---------------------------------------------------------------------- breaks */

/* times in a list that is counted first (at NULL), then filled */
typedef struct {
  int n;
  double *at;
} times;

static void add_times(times *list, int n, const double *t) {
  if (list->at && n > 0) {
    memcpy(list->at + list->n, t, (size_t)n * sizeof(double));
  }
  list->n += n;
}

static int by_time(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

static void sort_times(const times *list) {
  if (list->at && list->n > 0) {
    qsort(list->at, (size_t)list->n, sizeof(double), by_time);
  }
}

/* breaks of the model, knots of its controls and of tables that are functions of t become nodes */
static void collect_breaks(const mbg_model *m, times *list) {
  list->n = 0;
  add_times(list, m->run.nbreak, m->run.breaks);
  for (int i = 0; i < m->ncontrol; i++) {
    add_times(list, m->controls[i].spline->n, m->controls[i].spline->x);
  }
  for (int i = 0; i < m->nfn; i++) {
    for (int k = 0; k < m->fns[i].ninput; k++) {
      const mbg__spline *knots;
      for (int j = 0; m->fns[i].input[k].role == MBG__ROLE_T && (knots = mbg__expr_knots_of(m->fns[i].expr, k, j));
           j++) {
        add_times(list, knots->n, knots->x);
      }
    }
  }
}

static void list_breaks(mbg__arena *arena, const mbg_model *m, mbg__run_plan *plan) {
  times list = {0};
  collect_breaks(m, &list);
  list.at = MBG_TAKE(arena, double, list.n);
  collect_breaks(m, &list);
  sort_times(&list);
  plan->nbreak = list.n;
  plan->breaks = list.at;
}

/* ---------------------------------------------------------------------- nodes and integrals of criteria */

enum { SAMPLES_MAX = 10000000 };

static double multiples(const mbg__run_plan *plan, double every) {
  return floor((plan->t1 - plan->t0) / every * (1 + 1e-12)) + 1;
}

/* refuses intervals of which too many fit the run */
static int check_intervals(mbg_context *ctx, const mbg_model *m, const mbg__run_plan *plan, double interval) {
  if (interval > 0 && multiples(plan, interval) > SAMPLES_MAX) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "values every %g s are %.0f values over the run; at most %d", interval,
                     multiples(plan, interval), SAMPLES_MAX);
  }
  for (int k = 0; k < m->ncriterion; k++) {
    const mbg__criterion *c = &m->criteria[k];
    if (c->kind == MBG__PATH && c->every > 0 && multiples(plan, c->every) > SAMPLES_MAX) {
      return mbg__fail(ctx, MBG_ERROR_INPUT,
                       "criterion '%s': points every %g s are %.0f points over the run; at most %d", c->name, c->every,
                       multiples(plan, c->every), SAMPLES_MAX);
    }
  }
  return MBG_OK;
}

/* multiples of an interval, as criteria and results compute them */
static void add_multiples(times *list, const mbg__run_plan *plan, double every) {
  const double n = multiples(plan, every);
  for (int i = 0; i < (int)n; i++) {
    const double t = plan->t0 + i * every;
    add_times(list, 1, &t);
  }
}

/* samples of data, points of paths, times that the caller wants */
static void collect_samples(const mbg_model *m, const mbg__run_plan *plan, double interval, times *list) {
  list->n = 0;
  if (interval > 0) {
    add_multiples(list, plan, interval);
  }
  for (int k = 0; k < m->ncriterion; k++) {
    const mbg__criterion *c = &m->criteria[k];
    if (c->kind == MBG__LEAST_SQUARES) {
      add_times(list, c->nsample, c->time);
    } else if (c->kind == MBG__PATH && c->every > 0) {
      add_multiples(list, plan, c->every);
    }
  }
}

static void list_samples(mbg__arena *arena, const mbg_model *m, double interval, mbg__run_plan *plan) {
  times list = {0};
  int n = 0;
  collect_samples(m, plan, interval, &list);
  double *t = list.at = MBG_TAKE(arena, double, list.n);
  collect_samples(m, plan, interval, &list);
  sort_times(&list);
  for (int i = 0; t && i < list.n; i++) {
    if (t[i] > plan->t0 && t[i] < plan->t1 && (n == 0 || t[i] > t[n - 1])) {
      t[n++] = t[i];
    }
  }
  plan->nsample = n;
  plan->samples = t;
}

static void list_quadratures(mbg__arena *arena, const mbg_model *m, const int *used, mbg__run_plan *plan) {
  mbg__quadrature *q = MBG_TAKE(arena, mbg__quadrature, m->ncriterion);
  plan->quadratures = q;
  for (int k = 0; q && k < m->ncriterion; k++) {
    const mbg__criterion *c = &m->criteria[k];
    if (c->kind == MBG__INTEGRAL || c->kind == MBG__SMOOTH_MAXIMUM) {
      int column = 0;
      while (used[column] != c->signal) {
        column++;
      }
      q[plan->nquadrature++] = (mbg__quadrature){column, c->kind == MBG__SMOOTH_MAXIMUM ? c->sharpness : 0, c->name};
    }
  }
}

/* ---------------------------------------------------------------------- steps and tolerances */

double mbg__plan_accuracy(const mbg_model *m, const mbg_run_options *o) {
  return !isnan(o->accuracy) ? o->accuracy : isnan(o->step) && isnan(o->tolerance) ? m->run.accuracy : 0;
}

/* Steps and tolerances of steppers: an option, else the model's. */
static void choose_step(mbg_context *ctx, const mbg_model *m, const mbg_run_options *o, mbg__run_plan *plan) {
  const mbg__run *r = &m->run;
  if (!isnan(o->step)) {
    plan->step = o->step;
  } else if (!isnan(o->tolerance)) {
    plan->tolerance = o->tolerance;
  } else if (r->step > 0) {
    plan->step = r->step;
  } else if (r->tolerance > 0 && !(mbg__plan_accuracy(m, o) > 0)) {
    plan->tolerance = r->tolerance;
  } else if (mbg__plan_accuracy(m, o) > 0) {
    plan->step = (plan->t1 - plan->t0) / 100; /* where the search begins */
  } else {
    plan->step = (plan->t1 - plan->t0) / 1000;
    const bool tolerances = r->relative_tolerance > 0 || r->absolute_tolerance > 0;
    mbg__note(ctx, MBG_NOTE, "no step is given: %g (a thousandth of the run) is taken%s", plan->step,
              tolerances ? "; the tolerances of the file are for formulations with error control" : "");
  }
}

/* Tolerances of differential equations. A step of the file is meant for steppers, unless the file itself asks for this
   formulation with nothing but a step. */
static void choose_tolerances(const mbg_model *m, const mbg__formulation *formulation, const mbg_run_options *o,
                              mbg__run_plan *plan) {
  const mbg__run *r = &m->run;
  const bool own = r->formulation && !strcmp(r->formulation, formulation->key);
  const bool given = r->relative_tolerance > 0 || r->tolerance > 0;
  plan->relative = !isnan(o->tolerance)        ? o->tolerance
                   : r->relative_tolerance > 0 ? r->relative_tolerance
                   : r->tolerance > 0          ? r->tolerance
                                               : preset_relative;
  plan->absolute =
      isnan(o->tolerance) && r->absolute_tolerance > 0 ? r->absolute_tolerance : absolute_to_relative * plan->relative;
  plan->step = !isnan(o->step) ? o->step : isnan(o->tolerance) && own && !given && r->step > 0 ? r->step : 0;
  const double accuracy = mbg__plan_accuracy(m, o);
  if (accuracy > 0) {
    plan->step = 0;
    plan->relative = fmax(0.1 * accuracy, 1e-13); /* where the search begins */
    plan->absolute = absolute_to_relative * plan->relative;
  }
}

/* Damping: the formulation's own kind, from its preset when not given. The other kind is for another formulation; a
   note says so when the caller has chosen this one and the file damps the other. */
static void choose_damping(mbg_context *ctx, const mbg__formulation *f, const mbg_run_options *o, const mbg__run *r,
                           mbg__run_plan *plan) {
  const bool by_rho = !isnan(f->rho_inf), by_alpha = !isnan(f->alpha_f);
  plan->rho_inf = !by_rho ? NAN : isnan(plan->rho_inf) ? f->rho_inf : plan->rho_inf;
  plan->alpha_f = !by_alpha ? NAN : isnan(plan->alpha_f) ? f->alpha_f : plan->alpha_f;
  if (!o->formulation) {
    return; /* the loader compares the keys of the file */
  }
  if (by_rho && isnan(r->rho_inf) && !isnan(r->alpha_f)) {
    mbg__note(ctx, MBG_NOTE, "alpha_f of the run is not for '%s', which takes rho_inf = %g", f->key, plan->rho_inf);
  } else if (by_alpha && isnan(r->alpha_f) && !isnan(r->rho_inf)) {
    mbg__note(ctx, MBG_NOTE, "rho_inf of the run is not for '%s', which takes alpha_f = %g", f->key, plan->alpha_f);
  }
}

/* Of the run from its own start: what is left of it after a restart may be shorter than a step. */
static int check_spans(mbg_context *ctx, const mbg_model *m, double interval, const mbg__run_plan *plan) {
  const double span = (plan->t1 - plan->t0) * (1 + 1e-9);
  if (plan->step > span) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "the step of %g s is longer than the run, from t = %g to %g; take a smaller one", plan->step,
                     plan->t0, plan->t1);
  }
  if (interval > span) {
    mbg__note(ctx, MBG_WARNING, "the interval of %g s between values is longer than the run, from t = %g to %g",
              interval, plan->t0, plan->t1);
  }
  for (int k = 0; k < m->ncriterion; k++) {
    const mbg__criterion *c = &m->criteria[k];
    if (c->kind == MBG__PATH && c->every > span) {
      mbg__note(ctx, MBG_WARNING,
                "%s:%d:%d: path '%s': \"every\" is %g s, longer than the run, from t = %g to %g: its only point is the "
                "start",
                c->where.file, c->where.line, c->where.column, c->name, c->every, plan->t0, plan->t1);
    }
  }
  return MBG_OK;
}

/* Options that the caller names for a formulation without them. Keys of the file may be for another formulation. */
static int check_foreign(mbg_context *ctx, const mbg__formulation *formulation, const mbg_run_options *o,
                         const mbg__run_plan *plan) {
  if (o->integrator && !formulation->integrators[0]) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "formulation '%s' takes steps of its own; an integrator is an option of 'qr' and 'dca'",
                     formulation->key);
  }
  const bool backward = (formulation->supports & MBG__ODE) && mbg__formulation_has(formulation, MBG_METHOD_CONTINUOUS);
  if (!isnan(o->adjoint_tolerance) && !backward) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "formulation '%s' integrates nothing backward under error control; the adjoint tolerance is an "
                     "option of 'qr' with method 'continuous'",
                     formulation->key);
  }
  if (plan->adjoint != 0 && !(plan->adjoint >= 1e-14 && plan->adjoint < 1)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "adjoint tolerance %g: must be at least 1e-14 and below 1", plan->adjoint);
  }
  return MBG_OK;
}

int mbg__plan_make(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__formulation *formulation,
                   const mbg_run_options *o, const int *used, mbg__run_plan *plan) {
  const mbg__run *r = &m->run;
  int err = MBG_OK;
  *plan = (mbg__run_plan){.formulation = formulation->key,
                          .integrators = formulation->integrators,
                          .t0 = choose(o->start, r->start, 0),
                          .t1 = choose(o->end, r->end, NAN),
                          .rho_inf = choose(o->rho_inf, r->rho_inf, NAN),
                          .alpha_f = choose(o->alpha_f, r->alpha_f, NAN),
                          .kappa = r->kappa,
                          .augmented = r->augmented,
                          .alpha = r->alpha,
                          .varsigma = r->varsigma,
                          .oblique = r->oblique,
                          .index = r->index,
                          .integrator = o->integrator ? o->integrator : r->integrator,
                          .stabilization = r->stabilization,
                          .adjoint = choose(o->adjoint_tolerance, 0, 0),
                          .curves = o->all_signals || o->keep_poses,
                          .npose = o->keep_poses ? mbg__system_pose_count(m) : 0,
                          .memory = o->memory > 0 ? o->memory : r->memory,
                          .threads = o->threads > 1 ? o->threads : 1,
                          .interrupt = o->interrupt,
                          .progress = o->progress,
                          .user = o->user};
  const int given = !isnan(o->step) + !isnan(o->tolerance) + !isnan(o->accuracy);
  if (given > 1) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "give one of step, tolerance and accuracy, not several");
    goto done;
  }
  if (!isnan(o->accuracy) && !(o->accuracy >= 1e-12 && o->accuracy < 1)) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "accuracy %g: must be at least 1e-12 and below 1", o->accuracy);
    goto done;
  }
  MBG_TRY(check_foreign(ctx, formulation, o, plan));
  if (formulation->supports & MBG__ODE) {
    choose_tolerances(m, formulation, o, plan);
  } else {
    choose_step(ctx, m, o, plan);
  }
  if (plan->step > 0 && o->refine > 0) {
    plan->step /= formulation->supports & MBG__ODE ? o->refine : 1;
    plan->refine = formulation->supports & MBG__ODE ? 0 : o->refine;
  }
  MBG_TRY(mbg__plan_check(ctx, plan));
  MBG_TRY(check_spans(ctx, m, o->interval, plan));
  MBG_TRY(check_intervals(ctx, m, plan, o->interval));
  choose_damping(ctx, formulation, o, r, plan);
  list_breaks(arena, m, plan);
  list_samples(arena, m, o->interval, plan);
  list_quadratures(arena, m, used, plan);
  MBG_TRY(mbg__arena_check(ctx, arena));
done:
  return err;
}
