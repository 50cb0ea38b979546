/* Columns in lanes: their memory, and the kernel for the vectors that every processor has. */
#include "math/avx2.h"

#define LANES(name) name
#include "tree/tree_lanes_kernel.h"
#include "tree/tree_lanes_push_kernel.h"

void mbg__tree_lanes_widen(mbg__tree_lanes *x, bool wide) { x->wide = wide && mbg__lanes_wide(); }

bool mbg__tree_lanes_can(const mbg__tree *t) { return !t->modal && !t->coupled && mbg__system_lanes_fit(t->sys); }

int mbg__tree_lanes_create(mbg_context *ctx, mbg__arena *arena, mbg__tree *t, mbg__tree_lanes **out) {
  mbg__tree_lanes *x = *out = MBG_TAKE(arena, mbg__tree_lanes, 1);
  if (!x) {
    return mbg__fail_memory(ctx);
  }
  lane **bodies[] = {&x->eta, &x->nu, &x->al, &x->du, &x->dr, &x->ct, &x->cg};
  lane **joints[] = {&x->mu, &x->w, &x->a, &x->q};
  x->t = t;
  mbg__tree_lanes_widen(x, true);
  for (int i = 0; i < MBG_COUNT(bodies); i++) {
    *bodies[i] = MBG_TAKE(arena, lane, t->m->nw);
  }
  for (int i = 0; i < MBG_COUNT(joints); i++) {
    *joints[i] = MBG_TAKE(arena, lane, t->n);
  }
  for (int i = 0; i < MBG_COUNT(x->row); i++) {
    x->row[i] = MBG_TAKE(arena, lane, t->m->nrow);
  }
  for (int i = 0; i < MBG_COUNT(x->change); i++) {
    x->change[i] = MBG_TAKE(arena, lane, t->m->nrow);
  }
  x->e = MBG_TAKE(arena, lane, 6 * (size_t)t->m->nbody);
  x->da = MBG_TAKE(arena, lane, t->m->na);
  x->varied = MBG_TAKE(arena, bool, t->m->na);
  return mbg__system_lanes_create(ctx, arena, t->sys, &x->system);
}

void mbg__tree_pull_lanes(mbg__tree_lanes *x, int nc, const mbg__tree_weights *k, const mbg__tree_gradient *g) {
#ifdef MBG__AVX2_BEGIN
  if (x->wide) {
    mbg__tree_pull_columns_avx2(x, nc, k, g);
    return;
  }
#endif
  mbg__tree_pull_columns(x, nc, k, g);
}

void mbg__tree_push_lanes(mbg__tree_lanes *x, int nc, const mbg__tree_direction *d, const mbg__tree_change *out) {
#ifdef MBG__AVX2_BEGIN
  if (x->wide) {
    mbg__tree_push_columns_avx2(x, nc, d, out);
    return;
  }
#endif
  mbg__tree_push_columns(x, nc, d, out);
}

void mbg__tree_local_push_lanes(mbg__tree_lanes *x) {
#ifdef MBG__AVX2_BEGIN
  if (x->wide) {
    mbg__tree_local_push_columns_avx2(x);
    return;
  }
#endif
  mbg__tree_local_push_columns(x);
}
