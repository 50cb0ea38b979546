#include "trajectory/ode_adjoint.h"

#include <string.h>

int mbg__ode_adjoint_create(mbg_context *ctx, mbg__arena *arena, mbg__events *ev, const mbg__ode_events *lists,
                            const mbg_model *m, int n, int ncrit, mbg__ode_adjoint *out) {
  *out = (mbg__ode_adjoint){.lists = lists, .n = n};
  if (ev) {
    out->rates = MBG_TAKE(arena, real, n);
    out->y_x = MBG_TAKE(arena, real, n);
  }
  return mbg__event_adjoint_create(ctx, arena, ev, m, ncrit, &out->events);
}

void mbg__ode_adjoint_time(mbg__ode_adjoint *a, double t, int ncol, bool held, real *psi_a) {
  for (int c = 0; a->events.ev && c < ncol; c++) {
    real *clock = mbg__ode_adjoint_attributes(a, psi_a, c) + a->events.m->clock;
    if (a->h > 0 && !held) {
      a->events.tb[c] += *clock;
      a->events.hb[c] -= (a->t1 - t) / a->h * *clock;
    }
    *clock = 0;
  }
}

void mbg__ode_adjoint_length(mbg__ode_adjoint *a, int ncol, const real *rates, const real *b) {
  for (int c = 0; a->h > 0 && c < ncol; c++) {
    a->events.hb[c] += vn_dot(a->n, rates, b + (size_t)c * (size_t)a->n) / a->h;
  }
}

void mbg__ode_adjoint_sample(mbg__ode_adjoint *a, const mbg__rk_method *method, const real *r, double t,
                             const real *g) {
  const double left = (a->t1 - t) / a->h;
  mbg__rk_interpolate(method, a->n, r, 1 - left, 0, a->n, a->rates, a->y_x);
  for (int c = 0; c < a->events.nc; c++) {
    const real q = vn_dot(a->n, a->y_x, g + (size_t)c * (size_t)a->n) / a->h;
    a->events.tb[c] -= q;
    a->events.hb[c] += left * q;
  }
}

int mbg__ode_adjoint_enter(mbg__ode_adjoint *a, int k, double t0, double t1, real *psi_a) {
  mbg__events *ev = a->events.ev;
  if (!ev) {
    return -1;
  }
  const mbg__event *event = mbg__events_which(ev, mbg__ode_events_fires(a->lists, ev, k));
  a->h = mbg__ode_events_moves(a->lists, ev, k) ? t1 - t0 : 0;
  a->t1 = t1;
  if (!(a->h > 0)) {
    memset(a->events.tb, 0, (size_t)a->events.nc * sizeof(real)); /* the end stays where it is */
  }
  mbg__ode_adjoint_time(a, t1, a->events.nc, false, psi_a);
  return event ? event->guard : -1;
}

bool mbg__ode_adjoint_leave(mbg__ode_adjoint *a, int k, real *psi_a) {
  mbg__events *ev = a->events.ev;
  if (!(a->h > 0)) {
    return false;
  }
  const int firing = mbg__ode_events_fires(a->lists, ev, k);
  const mbg__event *event = mbg__events_which(ev, firing);
  mbg__event_adjoint_meet(&a->events, firing, psi_a);
  a->h = 0;
  return event && event->guard >= 0;
}
