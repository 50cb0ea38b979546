/* Direct differentiation across events: the steps of the run with columns dz (theory 7, section 5), the derivatives of
   a guard, rates after an event. */
#include "formulations/qr/qr_tangent.h"

#include <string.h>

typedef mbg__qr_tangents tangent;

int mbg__qr_tangent_start_events(mbg_context *ctx, mbg__arena *arena, tangent *s) {
  const mbg_model *m = s->w->m;
  const size_t nw = (size_t)m->nw, na = (size_t)m->na;
  int err = MBG_OK;
  s->W0 = MBG_TAKE(arena, real, ((size_t)s->d.nparam + 1) * nw);
  s->guard_row = MBG_TAKE(arena, real, 2 * nw + na);
  MBG_TRY(mbg__arena_check(ctx, arena));
  memcpy(s->d.x, s->w->z0, (size_t)s->n * sizeof(real));
  MBG_TRY(mbg__start_push_all(ctx, s->w->start, &s->columns, s->d.nparam, s->da, s->W0, s->dv));
  for (int p = 0; p < s->d.nparam; p++) { /* the numbers of the first frames are constants of the state */
    mbg__to_free(m, 1, s->dv + (size_t)p * nw, mbg__ode_tangent_column(&s->d, s->d.x, p) + s->w->flow->state.nplace);
    mbg__design_column_lay(&s->columns, p, s->da + (size_t)p * na);
  }
done:
  return err;
}

static int guard_columns(mbg_context *ctx, void *user, int guard) {
  tangent *s = user;
  mbg__formulation_work *w = s->w;
  const mbg_model *m = w->m;
  real *gw = s->guard_row, *gv = gw + m->nw, *ga = gv + m->nw;
  int err = MBG_OK;
  const mbg__state bodies = mbg__qr_bodies(ctx, w, s->d.t1, s->d.x);
  vn_zero(2 * m->nw + m->na, gw);
  MBG_TRY(mbg__events_guard(ctx, w->plan.events, guard, &bodies, gw, gv, ga));
  mbg__qr_tangent_read(s, s->d.x);
  for (int p = 0; p < s->d.np; p++) {
    const size_t at = (size_t)p * (size_t)m->nw;
    s->d.events.g[p] = vn_dot(m->nw, gw, s->W + at) + vn_dot(m->nw, gv, s->dv + at) +
                       vn_dot(m->na, ga, s->da + (size_t)p * (size_t)m->na);
  }
done:
  return err;
}

static int event(mbg_context *ctx, void *user, int firing, double t) {
  tangent *s = user;
  mbg__formulation_work *w = s->w;
  const int nplace = w->flow->state.nplace;
  int err = MBG_OK;
  mbg__qr_tangent_read(s, s->d.x);
  const mbg__state before = mbg__qr_bodies(ctx, w, t, s->d.x);
  MBG_TRY(mbg__event_tangent_act(ctx, &s->d.events, firing, &before, s->W, s->dv));
  MBG_TRY(mbg__qr_act(ctx, w, firing, t, s->d.x, s->d.x));
  for (int p = 0; p < s->d.np; p++) {
    mbg__to_free(w->m, 1, s->dv + (size_t)p * (size_t)w->m->nw, mbg__ode_tangent_column(&s->d, s->d.x, p) + nplace);
  }
done:
  return err;
}

static int begin_segment(void *user, double ta, double tb, real *x) {
  return mbg__qr_begin_segment(((tangent *)user)->w->flow, ta, tb, x);
}

int mbg__qr_tangent_events(mbg_context *ctx, tangent *s, mbg__rk_rhs rhs,
                           int (*node)(mbg_context *ctx, void *user, double t, const real *x, bool inside)) {
  mbg__formulation_work *w = s->w;
  const mbg__ode_tangent_ops ops = {
      .rhs = rhs, .segment = begin_segment, .node = node, .guard = guard_columns, .event = event, .user = s};
  mbg__rk_options options = mbg__rk_options_default();
  mbg__rk *rk = NULL;
  int err = MBG_OK;
  options.fixed = 1; /* not used: steps are repeated */
  options.dense = true;
  MBG_TRY(mbg__rk_create(ctx, s->n * (1 + s->d.nparam), w->method, &options, &rk));
  w->dt = s->d.dt;
  w->ratio = s->d.ratio;
  MBG_TRY(mbg__ode_tangent_run(ctx, &s->d, &ops, rk));
done:
  w->dt = w->ratio = NULL;
  mbg__rk_destroy(rk);
  return err;
}
