/* Columns of direct differentiation at events: the time of a guard, rates after the event (theory 7, section 5). */
#include "formulations/dca/dca_tangent.h"

#include <string.h>

typedef mbg__dca_tangents tangent;

/* ---------------------------------------------------------------------- times */

/* t' at a time of the step at hand: that of its end, less what is left of h' */
void mbg__dca_tangent_times(tangent *s, double t) {
  const double left = s->t1 > s->t0 ? (s->t1 - t) / (s->t1 - s->t0) : 0;
  for (int p = 0; s->events.ev && p < s->np; p++) {
    s->events.at[p] = s->held ? 0 : s->events.t[p] - left * s->events.h[p];
  }
}

/* steps whose length moves: d(h f)/h has (h'/h) f (theory 7, section 5) */
void mbg__dca_tangent_lengths(const tangent *s, real *xd) {
  for (int p = 0; s->t1 > s->t0 && p < s->np; p++) {
    vn_axpy(2 * s->n, mbg__dca_column(s, xd, p), s->events.h[p] / (s->t1 - s->t0), xd);
  }
}

/* the variation of the node's time, and of the length of its step, for those who weigh it */
void mbg__dca_tangent_hand(const tangent *s) {
  mbg__formulation_work *w = s->w;
  for (int p = 0; s->events.ev && p < s->nparam; p++) {
    s->dt[p] = s->events.at[p];
    s->ratio[p] = s->t1 > s->t0 ? s->events.h[p] / (s->t1 - s->t0) : 0;
  }
  w->dt = s->dt;
  w->ratio = s->ratio;
}

/* a sample in a step whose length moves stays at its time; xd is scratch */
void mbg__dca_tangent_hold(tangent *s, const mbg__rk_record *step, double t) {
  const mbg__formulation_work *w = s->w;
  const double h = step->t1 - step->t0;
  s->held = s->t1 > s->t0 && w->nodes.omega[s->node] == 0;
  if (!s->held) {
    return;
  }
  mbg__rk_interpolate(w->method, 2 * s->n * (1 + s->np), step->r, (t - step->t0) / h, 0, 2 * s->n, s->hold, s->xd);
  s->held = false;
  mbg__dca_tangent_times(s, t);
  for (int p = 0; p < s->np; p++) {
    vn_axpy(2 * s->n, mbg__dca_column(s, s->xi, p), -s->events.at[p] / h, s->xd);
  }
  s->held = true;
}

/* ---------------------------------------------------------------------- events */

static int end_node(mbg_context *ctx, tangent *s, double t) {
  int err = MBG_OK;
  MBG_TRY(mbg__dca_tangent_node(ctx, s, &s->w->base[s->w->now], t, s->x));
  mbg__dca_tangent_hand(s);
  MBG_TRY(s->take(s->user, s->node++, s->dy));
done:
  return err;
}

static int start_steps(mbg_context *ctx, tangent *s, mbg__rk *rk, int k, int n) {
  const mbg__formulation_work *w = s->w;
  mbg__rk_run run = mbg__ode_run(&w->plan, w->frozen[k - 1 + n], mbg__dca_tangent_rhs, mbg__dca_tangent_segment, s);
  run.t0 = w->frozen[k - 1];
  run.nfrozen = n;
  run.frozen = w->frozen + k - 1;
  return mbg__rk_start(ctx, rk, &run, s->x);
}

static int one_step(mbg_context *ctx, tangent *s, mbg__rk *rk) {
  const int err = mbg__rk_step(ctx, rk);
  if (err > 0) {
    mbg__rk_copy(s->w->pool, 2 * s->n * (1 + s->np), s->x, mbg__rk_last(rk)->y1);
  }
  return err < 0 ? err : MBG_OK;
}

/* the derivative of a guard at the end of a step, for all columns */
static int guard_columns(mbg_context *ctx, tangent *s, int guard) {
  mbg__formulation_work *w = s->w;
  real *da = s->workers[0].da, *gw = s->guard_row, *gv = gw + w->m->nw, *ga = gv + w->m->nw;
  int err = MBG_OK;
  const mbg__state bodies = mbg__dca_bodies(ctx, w, &w->base[w->now]);
  vn_zero(2 * w->m->nw + w->m->na, gw);
  MBG_TRY(mbg__events_guard(ctx, w->plan.events, guard, &bodies, gw, gv, ga));
  for (int p = 0; p < s->np; p++) {
    mbg__event_tangent_lay(&s->events, p, da);
    const mbg__tree_direction d = {.e = mbg__dca_en(s, p), .dw = mbg__dca_column(s, s->x, p) + s->n, .attributes = da};
    mbg__tree_local_push(w->tree, &d, true, s->fw, s->fv, s->bias);
    s->events.g[p] = vn_dot(w->m->nw, gw, s->fw) + vn_dot(w->m->nw, gv, s->fv) + vn_dot(w->m->na, ga, da);
    mbg__event_tangent_clear(&s->events, p, da);
  }
done:
  return err;
}

/* The time of a guard: its step with one more column, which is then taken back. */
static int find_time(mbg_context *ctx, tangent *s, int k, int guard) {
  mbg__formulation_work *w = s->w;
  const size_t all = 2 * (size_t)s->n * (1 + (size_t)s->nparam), en = (size_t)s->nparam * (size_t)s->nb;
  int err = MBG_OK;
  memcpy(s->kept, s->x, all * sizeof(real));
  memcpy(s->kept + all, s->en, en * sizeof(real));
  s->np = s->nparam + 1;
  vn_zero(2 * s->n, mbg__dca_column(s, s->x, s->nparam));
  vn_zero(s->nb, mbg__dca_en(s, s->nparam));
  MBG_TRY(start_steps(ctx, s, s->guard, k, 1));
  MBG_TRY(one_step(ctx, s, s->guard));
  mbg__dca_tangent_times(s, s->t1);
  MBG_TRY(mbg__dca_tangent_finish(ctx, s, s->t1));
  MBG_TRY(guard_columns(ctx, s, guard));
  mbg__event_tangent_meet(&s->events);
  w->now = !w->now;
  memcpy(s->x, s->kept, all * sizeof(real));
  memcpy(s->en, s->kept + all, en * sizeof(real));
done:
  s->np = s->nparam;
  return err;
}

static int event(mbg_context *ctx, tangent *s, int firing, double t) {
  mbg__formulation_work *w = s->w;
  const int nw = w->m->nw;
  real *da = s->workers[0].da;
  int err = MBG_OK;
  mbg__dca_tangent_times(s, t);
  mbg__state before = mbg__dca_bodies(ctx, w, &w->base[w->now]);
  for (int p = 0; p < s->np; p++) {
    mbg__event_tangent_lay(&s->events, p, da);
    const mbg__tree_direction d = {.e = mbg__dca_en(s, p), .dw = mbg__dca_column(s, s->x, p) + s->n, .attributes = da};
    mbg__tree_local_push(w->tree, &d, true, s->fw + (size_t)p * (size_t)nw, s->fv + (size_t)p * (size_t)nw, s->bias);
    mbg__event_tangent_clear(&s->events, p, da);
  }
  MBG_TRY(mbg__event_tangent_act(ctx, &s->events, firing, &before, s->fw, s->fv));
  before = mbg__dca_bodies(ctx, w, &w->base[w->now]);
  MBG_TRY(mbg__events_act(ctx, w->plan.events, firing, &before, w->events.v));
  MBG_TRY(mbg__dca_restart(ctx, w, w->events.v));
  w->now = !w->now;
  vn_copy(s->n, s->x + s->n, w->base[w->now].w);
  (void)mbg__dca_bodies(ctx, w, &w->base[w->now]);
  for (int p = 0; p < s->np; p++) {
    mbg__event_tangent_lay(&s->events, p, da);
    mbg__tree_local_read_push(w->tree, s->fw + (size_t)p * (size_t)nw, s->fv + (size_t)p * (size_t)nw, da, s->e_none,
                              mbg__dca_column(s, s->x, p) + s->n);
    mbg__event_tangent_clear(&s->events, p, da);
  }
  MBG_TRY(end_node(ctx, s, t));
done:
  return err;
}

/* steps k, k + 1, ... up to the next one whose length moves */
static int steps_that_stay(const mbg__formulation_work *w, int k) {
  int n = 0;
  while (k + n <= w->nfrozen && mbg__ode_events_fired(&w->events, k + n) < 0 &&
         !mbg__ode_events_moves(&w->events, w->plan.events, k + n)) {
    n++;
  }
  return n;
}

/* n steps from k on */
static int run_steps(mbg_context *ctx, tangent *s, mbg__rk *rk, int k, int n) {
  mbg__formulation_work *w = s->w;
  int err = MBG_OK;
  MBG_TRY(start_steps(ctx, s, rk, k, n));
  for (int i = 0; i < n; i++) {
    const double t1 = w->frozen[k + i];
    MBG_TRY(mbg__plan_check_interrupt(ctx, &w->plan, t1));
    MBG_TRY(one_step(ctx, s, rk));
    MBG_TRY(mbg__dca_tangent_inner(ctx, s, mbg__rk_last(rk)));
    mbg__dca_tangent_times(s, t1);
    MBG_TRY(mbg__dca_tangent_finish(ctx, s, t1));
    MBG_TRY(end_node(ctx, s, t1));
    MBG_TRY(i + 1 < n ? mbg__dca_tangent_restart(ctx, s, rk) : MBG_OK);
  }
done:
  return err;
}

int mbg__dca_tangent_events(mbg_context *ctx, tangent *s, mbg__rk *rk) {
  mbg__formulation_work *w = s->w;
  mbg__events *ev = w->plan.events;
  int err = MBG_OK;
  mbg__dca_segment(w, w->plan.t0, w->plan.nbreak > 0 ? w->plan.breaks[0] : w->plan.t1);
  mbg__ode_events_at(&w->events, ev, 0);
  MBG_TRY(end_node(ctx, s, w->plan.t0));
  for (int k = 1; k <= w->nfrozen;) {
    const int fired = mbg__ode_events_fired(&w->events, k), n = steps_that_stay(w, k);
    s->t0 = s->t1 = w->frozen[k];
    mbg__ode_events_at(&w->events, ev, k);
    if (fired >= 0) {
      MBG_TRY(event(ctx, s, fired, w->frozen[k++]));
    } else if (n > 0) {
      (void)mbg__event_tangent_enter(&s->events, -1, s->workers[0].da);
      MBG_TRY(run_steps(ctx, s, rk, k, n));
      k += n;
    } else {
      const int fires = mbg__ode_events_fires(&w->events, ev, k);
      s->t0 = w->frozen[k - 1];
      if (mbg__event_tangent_enter(&s->events, fires, s->workers[0].da) > s->nparam) {
        MBG_TRY(find_time(ctx, s, k, mbg__events_which(ev, fires)->guard));
      }
      MBG_TRY(run_steps(ctx, s, rk, k++, 1));
    }
  }
done:
  w->dt = w->ratio = NULL;
  return err;
}
