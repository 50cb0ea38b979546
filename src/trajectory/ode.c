#include "trajectory/ode.h"

#include "trajectory/rank_watch.h"

#include <float.h>

/* ---------------------------------------------------------------------- evaluation */

mbg__segment mbg__segment_between(double ta, double tb) { return (mbg__segment){fmin(ta, tb), fmax(ta, tb)}; }

real mbg__segment_inside(const mbg__segment *s, real t) {
  const double a = fabs(s->ta), b = fabs(s->tb), d = 8 * DBL_EPSILON * (a > b ? a : b);
  if (!(isfinite(d) && s->tb - s->ta > 4 * d)) {
    return t;
  }
  const double x = re(t), low = s->ta + d, high = s->tb - d, above = x > low ? x : low;
  return r_value(above < high ? above : high, t);
}

mbg__segment mbg__plan_segment(const mbg__run_plan *plan, double ta, double tb) {
  const double middle = (ta + tb) / 2;
  const int after = mbg__plan_break_after(plan, middle);
  int before = after - 1;
  while (before >= 0 && !(plan->breaks[before] < middle)) {
    before--;
  }
  return mbg__segment_between(before >= 0 ? plan->breaks[before] : plan->t0,
                              after < plan->nbreak ? plan->breaks[after] : plan->t1);
}

void mbg__ode_turns(mbg__system *sys, double t0, const real *q0, const real *qd0, double t, real *q, real *qd,
                    int *turns) {
  mbg__system_coord_rates(sys, qd);
  for (int i = 0; i < mbg__system_model(sys)->ncoord; i++) {
    q[i] = q0[i] + 0.5 * (qd0[i] + qd[i]) * (t - t0);
  }
  mbg__system_turns(sys, q, turns);
}

bool mbg__ode_needs_accelerations(const mbg_model *m, int n, const int *list) {
  for (int k = 0; k < n; k++) {
    if (m->signals[list ? list[k] : k].level >= MBG__LEVEL_ACCELERATION) {
      return true;
    }
  }
  return false;
}

/* ---------------------------------------------------------------------- runs */

mbg__rk_options mbg__ode_options(const mbg__run_plan *plan, const double *atol) {
  mbg__rk_options options = mbg__rk_options_default();
  options.rtol = plan->relative;
  options.atol_vector = atol;
  options.fixed = plan->step;
  options.dense = true;
  return options;
}

mbg__rk_run mbg__ode_run(const mbg__run_plan *plan, real t1, mbg__rk_rhs rhs, mbg__rk_segment segment, void *user) {
  return (mbg__rk_run){.rhs = rhs,
                       .segment = segment,
                       .user = user,
                       .t0 = plan->t0,
                       .t1 = t1,
                       .nbreak = plan->nbreak,
                       .breaks = plan->breaks};
}

/* replaces the integrator's message, which counts components, by one that names them */
static int explain(mbg_context *ctx, const mbg__run_plan *plan, const mbg__rk *rk, const mbg__ode_steps *steps,
                   int mark, int err) {
  const mbg__rk_failure *why = mbg__rk_why(rk);
  const double t = mbg__time_shown(why->t);
  char label[200], cause[300];
  mbg__rank_watch_explain(plan->watch, cause, sizeof(cause));
  if (why->reason == MBG__RK_FINE || why->reason == MBG__RK_REFUSED || why->reason == MBG__RK_FATAL) {
    return err;
  }
  mbg__message_rewind(ctx, mark);
  if (cause[0]) {
    return mbg__fail(ctx, err,
                     "integration stopped at t = %.9g (step %.2g, %ld attempts refused): no step is small enough; %s; "
                     "choose other dimensions or initial values, or a looser tolerance, which steps across",
                     t, why->h, mbg__rk_count(rk)->rejected + mbg__rk_count(rk)->failed, cause);
  }
  steps->label(steps->user, why->component, label, sizeof(label));
  switch (why->reason) {
  case MBG__RK_NOT_FINITE:
    return mbg__fail(ctx, err,
                     "integration stopped at t = %.9g: the time derivative of %s is not a finite number; the motion "
                     "grows without limit, or the step exceeds the stability limit of an explicit method",
                     t, label);
  case MBG__RK_TOO_MANY:
    return mbg__fail(ctx, err,
                     "integration stopped at t = %.9g after %ld steps (the last one %.2g s): the motion is stiff or "
                     "fast, look at %s; use %s, or a looser tolerance",
                     t, mbg__rk_count(rk)->steps, why->h, label, steps->stiff);
  case MBG__RK_NO_HEADWAY:
    return mbg__fail(
        ctx, err,
        "integration stopped at t = %.9g: the last attempts (step %.2g) made no headway, look at %s; forces "
        "jump or grow without limit there (list jumps as \"breaks\" of the run), the motion is stiff (use "
        "%s), or the tolerance is too tight",
        t, why->h, label, steps->stiff);
  default:
    return mbg__fail(ctx, err,
                     "integration stopped at t = %.9g: no step is small enough for %s; forces jump or grow without "
                     "limit there (list jumps as \"breaks\" of the run), or the tolerance is too tight",
                     t, label);
  }
}

double mbg__ode_turn_limit(const mbg__run_plan *plan, int order, double W) {
  return W > 0 ? 10 * pow(plan->relative, 1.0 / order) / W : 0;
}

static void limit_step(const mbg__run_plan *plan, mbg__rk *rk, const mbg__ode_steps *steps) {
  if (steps->longest_step && plan->step == 0) {
    mbg__rk_limit(rk, steps->longest_step(steps->user));
  }
}

int mbg__ode_step(mbg_context *ctx, const mbg__run_plan *plan, mbg__rk *rk, const mbg__ode_steps *steps) {
  const int mark = mbg__message_mark(ctx);
  limit_step(plan, rk, steps);
  const int err = mbg__rk_step(ctx, rk);
  return err < 0 ? explain(ctx, plan, rk, steps, mark, err) : err;
}

int mbg__ode_integrate(mbg_context *ctx, const mbg__run_plan *plan, mbg__rk *rk, const mbg__ode_steps *steps,
                       bool *partial) {
  int err = MBG_OK;
  while (!(*partial = mbg__plan_interrupted(plan))) {
    err = mbg__ode_step(ctx, plan, rk, steps);
    if (err <= 0) {
      return err;
    }
    MBG_TRY(steps->finish_step(ctx, steps->user));
    if (plan->progress) {
      plan->progress(plan->user, re(mbg__rk_last(rk)->t1));
    }
  }
done:
  return err;
}

int mbg__ode_keep_time(mbg_context *ctx, const mbg_allocator *allocator, double time, int *n, int *room, double **t) {
  if (*n + 1 >= *room) {
    const int more = 2 * *room + 256;
    double *times = allocator->resize(allocator->user, *t, (size_t)more * sizeof(double));
    if (!times) {
      return mbg__fail_memory(ctx);
    }
    *t = times;
    *room = more;
  }
  (*t)[++*n] = time;
  return MBG_OK;
}

int mbg__ode_fixed_steps(const mbg__run_plan *plan) {
  const double n = plan->step > 0 ? ceil((plan->t1 - plan->t0) / plan->step) + plan->nbreak : 0;
  return (int)fmin(n, MBG__STEPS_MAX);
}

double mbg__ode_store_share(const mbg__run_plan *plan, const mbg__step_nodes *n, int nstep) {
  const mbg__nodes nodes = mbg__step_nodes_of(n, NULL, false);
  const int per = n->panels ? MBG__KRONROD + 1 : 1;
  const double each = 2 * sizeof(real), listed = n->compact ? (double)n->entries : (double)per * nstep;
  const double values = (double)per * nodes.width * nstep;
  return mbg__store_share(plan->memory, 8.0 * nstep + each * listed + (double)sizeof(real) * values);
}

int mbg__ode_take_ends(mbg_context *ctx, const mbg_allocator *allocator, const mbg__run_plan *plan, int *n, int *room,
                       double **t) {
  int err = MBG_OK;
  *n = -1;
  for (int i = 0; i <= plan->nlength && err == MBG_OK; i++) {
    err = mbg__ode_keep_time(ctx, allocator, plan->ends[i], n, room, t);
  }
  return err;
}

mbg__nodes mbg__ode_nodes(const mbg__step_nodes *n, const int *used, bool partial) {
  return mbg__step_nodes_of(n, used, partial);
}
