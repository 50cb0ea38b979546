/* Columns of direct differentiation at events: the time of a guard, twists after the event (theory 7, section 5). */
#include "formulations/alpha/alpha_tangent.h"

#include <string.h>

typedef mbg__alpha_tangents tangent;

static void add_column(int n, real *x, int p, int from, real c) {
  for (int i = 0; i < n; i++) {
    x[(size_t)p * (size_t)n + (size_t)i] += c * x[(size_t)from * (size_t)n + (size_t)i];
  }
}

/* before a step: t0' is t; h' with an end that stays, and in the last column of a step to a guard 1 for h' and t' */
void mbg__alpha_tangent_enter(tangent *s, bool guard, int time_event) {
  const mbg_model *m = s->a->m;
  const int last = s->nparam;
  s->np = s->nparam + guard;
  s->moves = guard;
  memcpy(s->h_old, s->h, (size_t)s->nparam * sizeof(real));
  for (int p = 0; p < s->nparam; p++) {
    const real t0 = s->t[p];
    s->t[p] = 0;
    if (time_event >= 0) {
      mbg__alpha_tangent_lay(s, p);
      s->t[p] = s->da[time_event];
      mbg__alpha_tangent_unlay(s, p);
    }
    s->h[p] = s->t[p] - t0;
    s->moves = s->moves || s->h[p] != 0 || s->h_old[p] != 0;
  }
  if (!guard) {
    return;
  }
  s->t[last] = s->h[last] = 1;
  s->h_old[last] = 0;
  for (int i = 0; i < m->nevent; i++) {
    s->dP[(size_t)i * (size_t)s->room + (size_t)last] = 0;
  }
  real *blocks[] = {s->W, s->V, s->A, s->Al};
  for (int k = 0; k < MBG_COUNT(blocks); k++) {
    memset(blocks[k] + (size_t)last * (size_t)m->nv, 0, (size_t)m->nv * sizeof(real));
  }
}

/* after a step to a guard: its time, and the columns with it */
void mbg__alpha_tangent_meet(tangent *s, int guard) {
  const mbg_model *m = s->a->m;
  const int last = s->nparam;
  mbg__alpha_tangent_signal(s, guard, s->g);
  for (int p = 0; p < last; p++) {
    const real dt = -s->g[p] / s->g[last];
    real *blocks[] = {s->W, s->V, s->A, s->Al};
    for (int k = 0; k < MBG_COUNT(blocks); k++) {
      add_column(m->nv, blocks[k], p, last, dt);
    }
    add_column(m->nrow, s->L, p, last, dt);
    s->t[p] += dt;
    s->h[p] += dt;
  }
}

static void event_attributes(void *user, int p, real *da, bool clear) {
  tangent *s = user;
  real *own = s->da;
  s->da = da;
  if (clear) {
    mbg__alpha_tangent_unlay(s, p);
  } else {
    mbg__alpha_tangent_lay(s, p);
  }
  s->da = own;
}

/* the twists after an event, and accelerations */
int mbg__alpha_tangent_event(mbg_context *ctx, tangent *s, int firing, const mbg__alpha_node *from,
                             const mbg__alpha_node *node) {
  const mbg__alpha *a = s->a;
  const mbg_model *m = a->m;
  mbg__events *ev = a->events;
  const mbg__state before = mbg__alpha_state(a, from);
  const int which = mbg__events_firings(ev)[firing].event;
  mbg__event_columns c = {
      .n = s->nparam, .w = s->fw, .dt = s->t, .v = s->fv, .dP = s->g, .attributes = event_attributes, .user = s};
  int err = MBG_OK;
  for (int p = 0; p < s->nparam; p++) {
    const size_t at = (size_t)p * (size_t)m->nw, free = (size_t)p * (size_t)m->nv;
    memcpy(s->fw + at, s->Wm + at, (size_t)m->nw * sizeof(real));
    memset(s->fv + at, 0, (size_t)m->nw * sizeof(real));
    mbg__to_full(m, 1, s->W + free, s->fw + at);
    mbg__to_full(m, 1, s->V + free, s->fv + at);
  }
  MBG_TRY(mbg__events_push(ctx, ev, firing, &before, &c));
  mbg__events_after(ev, firing + 1);
  for (int p = 0; p < s->nparam; p++) {
    mbg__to_free(m, 1, s->fv + (size_t)p * (size_t)m->nw, s->V + (size_t)p * (size_t)m->nv);
    if (m->events[which].impulse >= 0) {
      s->dP[(size_t)which * (size_t)s->room + (size_t)p] = s->g[p];
    }
  }
  memset(s->h, 0, (size_t)s->nparam * sizeof(real));
  s->np = s->nparam;
  MBG_TRY(mbg__alpha_tangent_accelerate(ctx, s, node));
done:
  return err;
}
