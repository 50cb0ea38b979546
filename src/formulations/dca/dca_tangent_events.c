/* Columns of direct differentiation at events: derivatives of a guard, rates after the event (theory 7, section 5). */
#include "formulations/dca/dca_tangent.h"

#include <string.h>

typedef mbg__dca_tangents tangent;

static mbg__tree_direction direction(const tangent *s, int p, const real *da) {
  return (mbg__tree_direction){
      .e = mbg__dca_en(s, p), .dw = mbg__ode_tangent_column(&s->d, s->d.x, p) + s->n, .attributes = da};
}

int mbg__dca_tangent_guard(mbg_context *ctx, void *user, int guard) {
  tangent *s = user;
  mbg__formulation_work *w = s->w;
  real *da = s->workers[0].da, *gw = s->guard_row, *gv = gw + w->m->nw, *ga = gv + w->m->nw;
  int err = MBG_OK;
  const mbg__state bodies = mbg__dca_bodies(ctx, w, &w->base[w->now]);
  vn_zero(2 * w->m->nw + w->m->na, gw);
  MBG_TRY(mbg__events_guard(ctx, w->plan.events, guard, &bodies, gw, gv, ga));
  for (int p = 0; p < s->d.np; p++) {
    mbg__event_tangent_lay(&s->d.events, p, da);
    const mbg__tree_direction d = direction(s, p, da);
    mbg__tree_local_push(w->tree, &d, true, s->fw, s->fv, s->bias);
    s->d.events.g[p] = vn_dot(w->m->nw, gw, s->fw) + vn_dot(w->m->nw, gv, s->fv) + vn_dot(w->m->na, ga, da);
    mbg__event_tangent_clear(&s->d.events, p, da);
  }
done:
  return err;
}

void mbg__dca_tangent_keep(void *user, bool back) {
  tangent *s = user;
  const size_t bytes = (size_t)s->d.nparam * (size_t)s->nb * sizeof(real);
  if (back) {
    memcpy(s->en, s->kept, bytes);
    s->w->now = !s->w->now;
  } else {
    memcpy(s->kept, s->en, bytes);
    vn_zero(s->nb, mbg__dca_en(s, s->d.nparam));
  }
}

int mbg__dca_tangent_event(mbg_context *ctx, void *user, int firing, double t) {
  tangent *s = user;
  mbg__formulation_work *w = s->w;
  const int nw = w->m->nw;
  real *da = s->workers[0].da;
  int err = MBG_OK;
  (void)t;
  mbg__state before = mbg__dca_bodies(ctx, w, &w->base[w->now]);
  for (int p = 0; p < s->d.np; p++) {
    mbg__event_tangent_lay(&s->d.events, p, da);
    const mbg__tree_direction d = direction(s, p, da);
    mbg__tree_local_push(w->tree, &d, true, s->fw + (size_t)p * (size_t)nw, s->fv + (size_t)p * (size_t)nw, s->bias);
    mbg__event_tangent_clear(&s->d.events, p, da);
  }
  MBG_TRY(mbg__event_tangent_act(ctx, &s->d.events, firing, &before, s->fw, s->fv));
  before = mbg__dca_bodies(ctx, w, &w->base[w->now]);
  MBG_TRY(mbg__events_act(ctx, w->plan.events, firing, &before, w->events.v));
  MBG_TRY(mbg__dca_restart(ctx, w, w->events.v));
  w->now = !w->now;
  vn_copy(s->n, s->d.x + s->n, w->base[w->now].w);
  (void)mbg__dca_bodies(ctx, w, &w->base[w->now]);
  for (int p = 0; p < s->d.np; p++) {
    mbg__event_tangent_lay(&s->d.events, p, da);
    mbg__tree_local_read_push(w->tree, s->fw + (size_t)p * (size_t)nw, s->fv + (size_t)p * (size_t)nw, da, s->e_none,
                              mbg__ode_tangent_column(&s->d, s->d.x, p) + s->n);
    mbg__event_tangent_clear(&s->d.events, p, da);
  }
done:
  return err;
}
