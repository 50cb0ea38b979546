#include "trajectory/ode_tangent.h"

#include <string.h>

int mbg__ode_tangent_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__design_columns *columns,
                            mbg__ode_tangent *d) {
  mbg__events *ev = d->plan->events;
  const size_t np = (size_t)d->nparam + (ev != NULL), all = (size_t)d->n * (1 + np);
  mbg__rk_options options = mbg__rk_options_default();
  int err = MBG_OK;
  d->np = d->nparam;
  d->x = MBG_TAKE(arena, real, all);
  d->xi = MBG_TAKE_RAW(arena, real, all);
  d->xd = MBG_TAKE_RAW(arena, real, all);
  if (ev) {
    d->dt = MBG_TAKE(arena, real, np);
    d->ratio = MBG_TAKE(arena, real, np);
    d->hold = MBG_TAKE(arena, real, d->n);
    d->kept = MBG_TAKE(arena, real, all);
    d->da = MBG_TAKE(arena, real, m->na);
    options.fixed = 1; /* not used: steps are repeated */
    options.dense = true;
    options.pool = d->pool;
    MBG_TRY(mbg__rk_create(ctx, (int)all, d->method, &options, &d->guard));
  }
  MBG_TRY(mbg__event_tangent_create(ctx, arena, ev, m, columns, d->nparam, &d->events));
  MBG_TRY(mbg__arena_check(ctx, arena));
done:
  return err;
}

void mbg__ode_tangent_destroy(mbg__ode_tangent *d) { mbg__rk_destroy(d->guard); }

/* ---------------------------------------------------------------------- times */

void mbg__ode_tangent_times(mbg__ode_tangent *d, double t) {
  const double left = d->t1 > d->t0 ? (d->t1 - t) / (d->t1 - d->t0) : 0;
  for (int p = 0; d->events.ev && p < d->np; p++) {
    d->events.at[p] = d->held ? 0 : d->events.t[p] - left * d->events.h[p];
  }
}

void mbg__ode_tangent_lengths(const mbg__ode_tangent *d, real *xd) {
  for (int p = 0; d->t1 > d->t0 && p < d->np; p++) {
    vn_axpy(d->n, mbg__ode_tangent_column(d, xd, p), d->events.h[p] / (d->t1 - d->t0), xd);
  }
}

/* a sample in a step whose length moves stays at its time; xd is scratch */
static void hold(mbg__ode_tangent *d, const mbg__rk_record *step, double t) {
  const real h = step->t1 - step->t0;
  d->held = d->t1 > d->t0 && d->nodes->omega[d->node] == 0;
  if (!d->held) {
    return;
  }
  mbg__rk_interpolate(d->method, d->n * (1 + d->np), step->r, (t - step->t0) / h, 0, d->n, d->hold, d->xd);
  d->held = false;
  mbg__ode_tangent_times(d, t);
  for (int p = 0; p < d->np; p++) {
    vn_axpy(d->n, mbg__ode_tangent_column(d, d->xi, p), -d->events.at[p] / h, d->xd);
  }
  d->held = true;
}

/* ---------------------------------------------------------------------- nodes */

/* with the variation of the node's time, and of the length of its step, for those who weigh it */
static int hand(mbg_context *ctx, mbg__ode_tangent *d, const mbg__ode_tangent_ops *ops, double t, const real *x,
                bool inside) {
  int err = MBG_OK;
  mbg__ode_tangent_times(d, t);
  MBG_TRY(ops->node(ctx, ops->user, t, x, inside));
  for (int p = 0; d->events.ev && p < d->nparam; p++) {
    d->dt[p] = d->events.at[p];
    d->ratio[p] = d->t1 > d->t0 ? d->events.h[p] / (d->t1 - d->t0) : 0;
  }
  MBG_TRY(d->take(d->user, d->node++, d->dy));
done:
  return err;
}

int mbg__ode_tangent_inner(mbg_context *ctx, mbg__ode_tangent *d, const mbg__ode_tangent_ops *ops,
                           const mbg__rk_record *step) {
  const int all = d->n * (1 + d->np);
  int err = MBG_OK;
  for (double t; d->node < d->nodes->count && (t = mbg__step_nodes_time(d->nodes, d->node)) < re(step->t1);) {
    const real at = (t - step->t0) / (step->t1 - step->t0);
    if (d->parts) {
      mbg__rk_interpolate_parts(d->pool, d->method, all, step->r, at, d->parts, d->xi);
    } else {
      mbg__rk_interpolate_all(d->pool, d->method, all, step->r, at, d->xi);
    }
    hold(d, step, t);
    err = hand(ctx, d, ops, t, d->xi, true);
    d->held = false;
    MBG_TRY(err);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- steps */

static int start_steps(mbg_context *ctx, mbg__ode_tangent *d, const mbg__ode_tangent_ops *ops, mbg__rk *rk, int k,
                       int n) {
  mbg__rk_run run = mbg__ode_run(d->plan, d->ends[k - 1 + n], ops->rhs, ops->segment, ops->user);
  run.t0 = d->ends[k - 1];
  run.nfrozen = n;
  run.frozen = d->ends + k - 1;
  return mbg__rk_start(ctx, rk, &run, d->x);
}

static int one_step(mbg_context *ctx, mbg__ode_tangent *d, mbg__rk *rk) {
  const int err = mbg__rk_step(ctx, rk);
  if (err > 0) {
    mbg__rk_copy(d->pool, d->n * (1 + d->np), d->x, mbg__rk_last(rk)->y1);
  }
  return err < 0 ? err : MBG_OK;
}

static int finish(mbg_context *ctx, mbg__ode_tangent *d, const mbg__ode_tangent_ops *ops, double t1) {
  mbg__ode_tangent_times(d, t1);
  return ops->finish ? ops->finish(ctx, ops->user, t1) : MBG_OK;
}

/* the time of a guard: its step with one more column, which is then taken back */
static int find_time(mbg_context *ctx, mbg__ode_tangent *d, const mbg__ode_tangent_ops *ops, int k, int guard) {
  const size_t all = (size_t)d->n * (1 + (size_t)d->nparam);
  int err = MBG_OK;
  memcpy(d->kept, d->x, all * sizeof(real));
  if (ops->keep) {
    ops->keep(ops->user, false);
  }
  d->np = d->nparam + 1;
  vn_zero(d->n, mbg__ode_tangent_column(d, d->x, d->nparam));
  MBG_TRY(start_steps(ctx, d, ops, d->guard, k, 1));
  MBG_TRY(one_step(ctx, d, d->guard));
  MBG_TRY(finish(ctx, d, ops, d->t1));
  MBG_TRY(ops->guard(ctx, ops->user, guard));
  mbg__event_tangent_meet(&d->events);
  memcpy(d->x, d->kept, all * sizeof(real));
  if (ops->keep) {
    ops->keep(ops->user, true);
  }
done:
  d->np = d->nparam;
  return err;
}

/* steps k, k + 1, ... up to the next one whose length moves */
static int steps_that_stay(const mbg__ode_tangent *d, int k) {
  int n = 0;
  while (k + n <= d->nend && mbg__ode_events_fired(d->lists, k + n) < 0 &&
         !mbg__ode_events_moves(d->lists, d->plan->events, k + n)) {
    n++;
  }
  return n;
}

/* n steps from k on */
static int run_steps(mbg_context *ctx, mbg__ode_tangent *d, const mbg__ode_tangent_ops *ops, mbg__rk *rk, int k,
                     int n) {
  int err = MBG_OK;
  MBG_TRY(start_steps(ctx, d, ops, rk, k, n));
  for (int i = 0; i < n; i++) {
    const double t1 = d->ends[k + i];
    MBG_TRY(mbg__plan_check_interrupt(ctx, d->plan, t1));
    MBG_TRY(one_step(ctx, d, rk));
    MBG_TRY(mbg__ode_tangent_inner(ctx, d, ops, mbg__rk_last(rk)));
    MBG_TRY(finish(ctx, d, ops, t1));
    MBG_TRY(hand(ctx, d, ops, t1, d->x, false));
    MBG_TRY(i + 1 < n && ops->go_on ? ops->go_on(ctx, ops->user, rk) : MBG_OK);
  }
done:
  return err;
}

static int event(mbg_context *ctx, mbg__ode_tangent *d, const mbg__ode_tangent_ops *ops, int firing, double t) {
  int err = MBG_OK;
  mbg__ode_tangent_times(d, t);
  MBG_TRY(ops->event(ctx, ops->user, firing, t));
  MBG_TRY(hand(ctx, d, ops, t, d->x, false));
done:
  return err;
}

int mbg__ode_tangent_run(mbg_context *ctx, mbg__ode_tangent *d, const mbg__ode_tangent_ops *ops, mbg__rk *rk) {
  mbg__events *ev = d->plan->events;
  int err = MBG_OK;
  mbg__ode_events_at(d->lists, ev, 0);
  MBG_TRY(hand(ctx, d, ops, d->plan->t0, d->x, false));
  for (int k = 1; k <= d->nend;) {
    const int fired = mbg__ode_events_fired(d->lists, k), n = steps_that_stay(d, k);
    d->t0 = d->t1 = d->ends[k];
    mbg__ode_events_at(d->lists, ev, k);
    if (fired >= 0) {
      MBG_TRY(event(ctx, d, ops, fired, d->ends[k++]));
    } else if (n > 0) {
      (void)mbg__event_tangent_enter(&d->events, -1, d->da);
      MBG_TRY(run_steps(ctx, d, ops, rk, k, n));
      k += n;
    } else {
      const int fires = mbg__ode_events_fires(d->lists, ev, k);
      d->t0 = d->ends[k - 1];
      if (mbg__event_tangent_enter(&d->events, fires, d->da) > d->nparam) {
        MBG_TRY(find_time(ctx, d, ops, k, mbg__events_which(ev, fires)->guard));
      }
      MBG_TRY(run_steps(ctx, d, ops, rk, k++, 1));
    }
  }
done:
  return err;
}
