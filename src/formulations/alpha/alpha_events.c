/* Runs with events: the state of a node, nodes inside a step and after an event. */
#include "event/event.h"
#include "formulations/alpha/alpha_work.h"

#include <string.h>

mbg__state mbg__alpha_state_for_events(mbg_context *ctx, void *user, const void *block) {
  mbg__alpha *a = user;
  (void)ctx;
  const mbg__alpha_node n = mbg__alpha_view(a, block);
  if (re(*n.t) != a->ended || mbg__events_disturb(a->events)) {
    a->ended = NAN; /* else the system goes on standing at the end of the last step */
  }
  return mbg__alpha_state(a, &n);
}

int mbg__alpha_restart(mbg_context *ctx, void *user, const void *from_block, const real *v, void *to_block) {
  mbg__alpha *a = user;
  const mbg__alpha_node from = mbg__alpha_view(a, from_block), to = mbg__alpha_view(a, to_block);
  *to.t = *from.t;
  *to.h = -1;
  *to.guessed = 0;
  a->t_q = a->t_end = a->ended = NAN;
  memcpy(to.H, from.H, (size_t)a->m->nbody * sizeof(*to.H));
  memcpy(to.turns, from.turns, (size_t)a->m->nturn * sizeof(int));
  return mbg__alpha_accelerate(ctx, a, &to, v, mbg__events_factored(a->events));
}

int mbg__alpha_factors_of(mbg_context *ctx, mbg__alpha *a, int firing, const mbg__alpha_node *node) {
  const bool kept = firing >= 0 && !mbg__rank_close(a->rank) && mbg__events_recall_factors(a->events, firing);
  const mbg__state state = mbg__alpha_state(a, node);
  int err = MBG_OK;
  if (!kept) {
    return mbg__alpha_factor_start(ctx, a, node, false);
  }
  MBG_TRY(mbg__system_update(ctx, a->sys, &state));
  MBG_TRY(mbg__system_linearize(ctx, a->sys));
done:
  return err;
}

/* by the formulas of a step of this length, with accelerations between those of both ends; al begins as vd, whatever it
   was before */
void mbg__alpha_inside(void *user, const void *from_block, const void *to_block, double length, void *block) {
  const mbg__alpha *a = user;
  const mbg__alpha_node from = mbg__alpha_view(a, from_block), to = mbg__alpha_view(a, to_block);
  const mbg__alpha_node n = mbg__alpha_view(a, block);
  const real s = alpha_rescale(*from.h == 0 ? a->h_before : *from.h, length), x = length / *to.h;
  const mbg__alpha_coefs *c = &a->c;
  *n.t = *from.t + length;
  *n.h = length;
  memcpy(n.lambda, to.lambda, (size_t)a->m->nrow * sizeof(real));
  memcpy(n.turns, to.turns, (size_t)a->m->nturn * sizeof(int));
  for (int i = 0; i < a->m->nw; i++) {
    const real al0 = from.vd[i] + s * (from.al[i] - from.vd[i]);
    n.al[i] = from.vd[i] + x * (to.al[i] - from.vd[i]);
    n.vd[i] = from.vd[i] + x * (to.vd[i] - from.vd[i]);
    n.v[i] = from.v[i] + (1 - c->gamma) * length * al0 + c->gamma * length * n.al[i];
    n.Dx[i] = length * (from.v[i] + (0.5 - c->beta) * length * al0 + c->beta * length * n.al[i]);
  }
  for (int b = 0; b < a->m->nbody; b++) {
    mbg__alpha_move(a, b, &from.H[b], n.Dx + a->m->bodies[b].voff, &n.H[b]);
  }
}
