/* The functions of the march: nodes as blocks, the local error, what is recorded of a node. */
#include "event/event.h"
#include "formulations/alpha/alpha_work.h"

/* the local error of positions is |beta - 1/6| h^3 times the rate of the accelerations */
static double estimate(const mbg__alpha *a, const mbg__alpha_node *from, const mbg__alpha_node *to) {
  const mbg_model *m = a->m;
  double most = 0;
  for (int i = 0; i < m->nw; i++) {
    const double w = (i - m->bodies[0].voff) % 6 < 3 ? 1 / m->size : 1;
    most = fmax(most, w * fabs(re(to->vd[i] - from->vd[i])));
  }
  return fabs(a->c.beta - 1.0 / 6) * re(*to->h) * re(*to->h) * most;
}

static int begin(mbg_context *ctx, void *user, void *block) {
  mbg__alpha *a = user;
  const mbg__alpha_node node = mbg__alpha_view(a, block);
  return mbg__alpha_begin(ctx, a, &node);
}

static int step(mbg_context *ctx, void *user, const void *from_block, real h, void *to_block) {
  mbg__alpha *a = user;
  const mbg__alpha_node from = mbg__alpha_view(a, from_block), to = mbg__alpha_view(a, to_block);
  int err = MBG_OK;
  MBG_TRY(mbg__alpha_step(ctx, a, &from, h, &to));
  a->error = estimate(a, &from, &to);
done:
  return err;
}

static int shorten(mbg_context *ctx, void *user, const void *from_block, real h, void *to_block) {
  mbg__alpha *a = user;
  const mbg__alpha_node from = mbg__alpha_view(a, from_block), to = mbg__alpha_view(a, to_block);
  return mbg__alpha_shorten(ctx, a, &from, h, &to);
}

static double error(const void *user) { return ((const mbg__alpha *)user)->error; }

/* after a step: phi is still the residual of its end, where the system stands */
static int record(mbg_context *ctx, void *user, const void *block, real *y) {
  mbg__alpha *a = user;
  const mbg__alpha_node n = mbg__alpha_view(a, block);
  const mbg__state state = mbg__alpha_state(a, &n);
  const int npose = mbg__march_nodes(a->march)->npose;
  int err = MBG_OK;
  if (re(*n.h) != 0) {
    mbg__alpha_kept_add(a, &n);
  }
  MBG_TRY(mbg__alpha_guard_step(ctx, a, &n));
  if (re(*n.h) > 0) {
    MBG_TRY(mbg__alpha_rates_check(ctx, a, re(*n.t)));
  }
  if (a->nused + npose > 0) {
    MBG_TRY(re(*n.t) == a->ended ? MBG_OK : mbg__system_update(ctx, a->sys, &state));
    MBG_TRY(mbg__system_record(ctx, a->sys, a->nused, a->used, npose, y));
  }
  a->ended = NAN;
done:
  return err;
}

const mbg__march_method mbg__alpha_method = {.begin = begin,
                                             .step = step,
                                             .error = error,
                                             .record = record,
                                             .state = mbg__alpha_state_for_events,
                                             .restart = mbg__alpha_restart,
                                             .inside = mbg__alpha_inside,
                                             .shorten = shorten};
