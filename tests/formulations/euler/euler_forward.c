/* The step, the first node, and the signals at nodes. */
#include "euler/euler_work.h"

#include <string.h>

size_t mbg__euler_node_bytes(const mbg_model *m) {
  return sizeof(mbg__node_head) + (size_t)m->nbody * sizeof(mbg__frame) +
         (2 * (size_t)m->nw + (size_t)m->nrow) * sizeof(real) + (size_t)m->nturn * sizeof(int);
}

mbg__euler_node mbg__euler_view(const mbg_model *m, const void *block) {
  mbg__node_head *head = (mbg__node_head *)(uintptr_t)block;
  mbg__euler_node n = {.t = &head->t, .h = &head->h, .H = (mbg__frame *)(void *)(head + 1)};
  n.v = (real *)(void *)(n.H + m->nbody);
  n.vd = n.v + m->nw;
  n.lambda = n.vd + m->nw;
  n.turns = (int *)(void *)(n.lambda + m->nrow);
  return n;
}

static int update(mbg_context *ctx, mbg__euler *a, const mbg__euler_node *n, bool accelerations) {
  const mbg__state state = {.t = *n->t,
                            .H = n->H,
                            .v = n->v,
                            .vd = accelerations ? n->vd : NULL,
                            .lambda = accelerations ? n->lambda : NULL,
                            .turns = n->turns};
  return mbg__system_update(ctx, a->sys, &state);
}

static int factor(mbg_context *ctx, mbg__euler *a, const mbg__euler_node *n) {
  char what[64];
  mbg__format(what, sizeof(what), "accelerations at t = %g", *n->t);
  mbg__system_matrices(a->sys, &(mbg__matrices){.M = a->M, .B = a->B});
  mbg__saddle_clear(&a->saddle);
  mbg__saddle_add_K(&a->saddle, 1, a->M);
  mbg__saddle_add_rows(&a->saddle, a->B, a->B, a->keep, NULL);
  a->counts->factorizations++;
  return mbg__saddle_factor(ctx, &a->saddle, what);
}

/* [M B^T; B 0] (vd, lambda) = -(r, gamma) at the node, with r and gamma without accelerations and multipliers */
static int accelerate(mbg_context *ctx, mbg__euler *a, const mbg__euler_node *n) {
  int err = MBG_OK;
  MBG_TRY(update(ctx, a, n, false));
  mbg__system_residual(a->sys, a->r, NULL, NULL, NULL, a->gamma);
  MBG_TRY(factor(ctx, a, n));
  mbg__gather(a->m, a->keep, -1, a->r, -1, a->gamma, a->x);
  mbg__klu_solve(a->saddle.klu, a->x, 1);
  a->counts->solves++;
  mbg__scatter(a->m, a->keep, 1, a->x, n->vd, n->lambda);
done:
  return err;
}

static int begin(mbg_context *ctx, void *user, void *block) {
  mbg__euler *a = user;
  const mbg__start_result *start = mbg__start_result_of(a->start);
  const mbg__euler_node n = mbg__euler_view(a->m, block);
  *n.t = re(start->t);
  *n.h = 0;
  memcpy(n.H, start->H, (size_t)a->m->nbody * sizeof(*n.H));
  memcpy(n.v, start->v, (size_t)a->m->nw * sizeof(real));
  memcpy(n.turns, start->turns, (size_t)a->m->nturn * sizeof(int));
  mbg__klu_thaw(a->saddle.klu); /* the first node chooses the pivots of the run */
  return accelerate(ctx, a, &n);
}

static int step(mbg_context *ctx, void *user, const void *from_block, double h, void *to_block) {
  mbg__euler *a = user;
  const mbg__euler_node from = mbg__euler_view(a->m, from_block), to = mbg__euler_view(a->m, to_block);
  int err = MBG_OK;
  *to.t = *from.t + h;
  *to.h = h;
  for (int i = 0; i < a->m->nw; i++) {
    to.v[i] = from.v[i] + h * from.vd[i];
  }
  for (int b = 0; b < a->m->nbody; b++) {
    const int off = a->m->bodies[b].voff;
    real d[6];
    v6_scale(d, h, to.v + off);
    mbg__se3_retract(&to.H[b], &from.H[b], d);
  }
  /* angles are those nearest to the start of the step */
  if (a->m->nturn > 0) {
    memcpy(to.turns, from.turns, (size_t)a->m->nturn * sizeof(int));
    MBG_TRY(update(ctx, a, &from, false));
    mbg__system_coords(a->sys, a->q);
    MBG_TRY(update(ctx, a, &to, false));
    mbg__system_turns(a->sys, a->q, to.turns);
  }
  MBG_TRY(accelerate(ctx, a, &to));
done:
  return err;
}

static int record(mbg_context *ctx, void *user, const void *block, real *y) {
  mbg__euler *a = user;
  const mbg__euler_node n = mbg__euler_view(a->m, block);
  int err = MBG_OK;
  MBG_TRY(update(ctx, a, &n, true));
  MBG_TRY(mbg__system_record(ctx, a->sys, a->nused, a->used, mbg__march_nodes(a->march)->npose, y));
done:
  return err;
}

const mbg__march_method mbg__euler_method = {.begin = begin, .step = step, .record = record};

int mbg__euler_at(mbg_context *ctx, mbg__euler *a, const mbg__euler_node *n) {
  int err = MBG_OK;
  MBG_TRY(update(ctx, a, n, true));
  MBG_TRY(mbg__system_linearize(ctx, a->sys));
  MBG_TRY(factor(ctx, a, n));
  MBG_TRY(mbg__system_linearize_signals(ctx, a->sys));
done:
  return err;
}
