#include "event/event_columns.h"

#include <string.h>

/* ---------------------------------------------------------------------- direct differentiation */

int mbg__event_tangent_create(mbg_context *ctx, mbg__arena *arena, mbg__events *ev, const mbg_model *m,
                              const mbg__design_columns *columns, int nparam, mbg__event_tangent *out) {
  const size_t n = (size_t)nparam + 1;
  *out = (mbg__event_tangent){.ev = ev, .m = m, .columns = columns, .nparam = nparam};
  if (!ev) {
    return MBG_OK;
  }
  real **all[] = {&out->t, &out->h, &out->at, &out->g};
  for (int i = 0; i < MBG_COUNT(all); i++) {
    *all[i] = MBG_TAKE(arena, real, n);
  }
  out->dP = MBG_TAKE(arena, real, n * (size_t)m->nevent);
  return mbg__arena_check(ctx, arena);
}

static real *impulse_of(const mbg__event_tangent *e, int event, int p) {
  return e->dP + (size_t)event * ((size_t)e->nparam + 1) + (size_t)p;
}

void mbg__event_tangent_lay_times(const mbg__event_tangent *e, int p, real *da) {
  if (e->ev) {
    da[e->m->clock] = e->at[p];
    for (int i = 0; i < e->m->nevent; i++) {
      if (e->m->events[i].impulse >= 0) {
        da[e->m->events[i].impulse] = *impulse_of(e, i, p);
      }
    }
  }
}

void mbg__event_tangent_lay(const mbg__event_tangent *e, int p, real *da) {
  if (p < e->nparam) {
    mbg__design_column_lay(e->columns, p, da);
  }
  mbg__event_tangent_lay_times(e, p, da);
}

void mbg__event_tangent_clear(const mbg__event_tangent *e, int p, real *da) {
  if (p < e->nparam) {
    mbg__design_column_clear(e->columns, p, da);
  }
  if (e->ev) {
    da[e->m->clock] = 0;
    for (int i = 0; i < e->m->nevent; i++) {
      if (e->m->events[i].impulse >= 0) {
        da[e->m->events[i].impulse] = 0;
      }
    }
  }
}

int mbg__event_tangent_enter(mbg__event_tangent *e, int firing, real *da) {
  const mbg__event *event = mbg__events_which(e->ev, firing);
  const bool guard = event && event->guard >= 0;
  for (int p = 0; e->ev && p < e->nparam; p++) {
    const real t0 = e->t[p];
    e->t[p] = 0;
    if (event && event->at >= 0) {
      mbg__design_column_lay(e->columns, p, da);
      e->t[p] = da[event->at];
      mbg__design_column_clear(e->columns, p, da);
    }
    e->h[p] = e->t[p] - t0;
    e->at[p] = e->t[p];
  }
  if (e->ev) {
    e->t[e->nparam] = e->h[e->nparam] = e->at[e->nparam] = guard;
  }
  return e->nparam + guard;
}

void mbg__event_tangent_meet(mbg__event_tangent *e) {
  const real all = e->g[e->nparam];
  for (int p = 0; p < e->nparam; p++) {
    e->g[p] /= -all;
    e->t[p] += e->g[p];
    e->h[p] += e->g[p];
    e->at[p] = e->t[p];
  }
}

static void attributes(void *user, int p, real *da, bool clear) {
  const mbg__event_tangent *e = user;
  if (clear) {
    mbg__event_tangent_clear(e, p, da);
  } else {
    mbg__event_tangent_lay(e, p, da);
  }
}

int mbg__event_tangent_act(mbg_context *ctx, mbg__event_tangent *e, int firing, const mbg__state *before, const real *w,
                           real *v) {
  const mbg__event *event = mbg__events_which(e->ev, firing);
  const mbg__event_columns c = {
      .n = e->nparam, .w = w, .dt = e->t, .v = v, .dP = e->g, .attributes = attributes, .user = e};
  int err = MBG_OK;
  memcpy(e->at, e->t, (size_t)e->nparam * sizeof(real));
  MBG_TRY(mbg__events_push(ctx, e->ev, firing, before, &c));
  mbg__events_after(e->ev, firing + 1);
  if (event->impulse >= 0) {
    memcpy(impulse_of(e, (int)(event - e->m->events), 0), e->g, (size_t)e->nparam * sizeof(real));
  }
done:
  return err;
}

void mbg__event_tangent_pull(const mbg__event_tangent *e, const mbg__design *design, int n, const real *ga, real *dy) {
  mbg__design_columns_pull(design, ga, dy);
  for (int p = 0; e->ev && p < n; p++) {
    dy[p] += ga[e->m->clock] * e->at[p];
    for (int i = 0; i < e->m->nevent; i++) {
      dy[p] += e->m->events[i].impulse < 0 ? 0 : ga[e->m->events[i].impulse] * *impulse_of(e, i, p);
    }
  }
}

/* ---------------------------------------------------------------------- adjoint */

int mbg__event_adjoint_create(mbg_context *ctx, mbg__arena *arena, mbg__events *ev, const mbg_model *m, int nc,
                              mbg__event_adjoint *out) {
  *out = (mbg__event_adjoint){.ev = ev, .m = m, .nc = nc};
  if (!ev) {
    return MBG_OK;
  }
  real **all[] = {&out->tb, &out->hb, &out->kappa, &out->Pb};
  for (int i = 0; i < MBG_COUNT(all); i++) {
    *all[i] = MBG_TAKE(arena, real, (size_t)nc + 1);
  }
  out->guard_a = MBG_TAKE(arena, real, m->na);
  return mbg__arena_check(ctx, arena);
}

void mbg__event_adjoint_clock(mbg__event_adjoint *e, real *psi_a) {
  for (int c = 0; e->ev && c <= e->nc; c++) {
    real *clock = (c < e->nc ? psi_a + (size_t)c * (size_t)e->m->na : e->guard_a) + e->m->clock;
    e->tb[c] += *clock;
    *clock = 0;
  }
}

void mbg__event_adjoint_meet(mbg__event_adjoint *e, int firing, real *psi_a) {
  const mbg__event *event = mbg__events_which(e->ev, firing);
  const bool guard = event && event->guard >= 0;
  for (int c = 0; c < e->nc; c++) {
    real *ga = psi_a + (size_t)c * (size_t)e->m->na;
    e->kappa[c] = 0;
    if (guard) {
      e->kappa[c] = (e->hb[c] + e->tb[c]) / (e->hb[e->nc] + e->tb[e->nc]);
      vn_axpy(e->m->na, ga, -e->kappa[c], e->guard_a);
      e->hb[c] -= e->kappa[c] * e->hb[e->nc];
    } else if (event) {
      ga[event->at] += e->hb[c] + e->tb[c];
    }
    e->tb[c] = -e->hb[c];
  }
  memset(e->guard_a, 0, (size_t)e->m->na * sizeof(real));
  e->tb[e->nc] = 0;
  memset(e->hb, 0, ((size_t)e->nc + 1) * sizeof(real));
}

int mbg__event_adjoint_act(mbg_context *ctx, mbg__event_adjoint *e, int firing, const mbg__state *before, real *w,
                           real *v, real *psi_a) {
  const int impulse = mbg__events_which(e->ev, firing)->impulse;
  int err = MBG_OK;
  for (int c = 0; c < e->nc; c++) {
    real *ga = psi_a + (size_t)c * (size_t)e->m->na;
    e->Pb[c] = impulse >= 0 ? ga[impulse] : 0;
    if (impulse >= 0) {
      ga[impulse] = 0;
    }
  }
  MBG_TRY(mbg__events_pull(ctx, e->ev, firing, before, e->nc, NULL, e->Pb, w, v, psi_a));
  mbg__event_adjoint_clock(e, psi_a);
done:
  return err;
}
