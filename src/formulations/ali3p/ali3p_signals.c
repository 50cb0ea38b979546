/* Signals at nodes and their gradients. Positions, rates and accelerations are those of the projected node. Reactions
   come from accelerations and multipliers of index 1 at the node (theory 5, section 9), for all rows, also rows of the
   tree:

     M vd1 + B^T lambda1 = -r(vd = 0),  B vd1 = -gamma      over the bodies */
#include "formulations/ali3p/ali3p_work.h"

#include <string.h>

int mbg__ali3p_index1(mbg_context *ctx, mbg__ali3p *a) {
  const mbg_model *m = a->m;
  mbg__state s = mbg__tree_bodies(a->tree);
  int err = MBG_OK;
  s.vd = NULL;
  MBG_TRY(mbg__system_update(ctx, a->sys, &s));
  mbg__system_residual(a->sys, a->r1, NULL, NULL, NULL, a->gamma1);
  mbg__system_matrices(a->sys, &(mbg__matrices){.M = a->M, .B = a->B});
  mbg__saddle_clear(&a->index1);
  mbg__saddle_add_K(&a->index1, 1, a->M);
  mbg__saddle_add_rows(&a->index1, a->B, a->B, a->rank->keep, NULL);
  a->counts->factorizations++;
  MBG_TRY(mbg__saddle_factor(ctx, &a->index1, "reactions"));
  mbg__gather(m, a->rank->keep, -1, a->r1, -1, a->gamma1, a->x1);
  mbg__klu_solve(a->index1.klu, a->x1, 1);
  mbg__scatter(m, a->rank->keep, 1, a->x1, a->vd1, a->lambda1);
done:
  return err;
}

/* ---------------------------------------------------------------------- gradients */

struct mbg__ali3p_seeds {
  mbg__ali3p *a;
  int nc, node;
  const mbg__criterion_seeds *poses; /* NULL: none    (nc) */
  real *g[3];                        /* cotangents of frames, twists, rates of the bodies   (nc x nw) */
  real *gl;                          /* ... of multipliers                                   (nc x rows) */
  real *mu, *kappa;                  /*                                                (nw), (rows) */
};

int mbg__ali3p_seeds_create(mbg_context *ctx, mbg__arena *arena, mbg__ali3p *a, int nc, mbg__ali3p_seeds **out) {
  mbg__ali3p_seeds *s = MBG_TAKE(arena, mbg__ali3p_seeds, 1);
  *out = s;
  if (s) {
    s->a = a;
    s->nc = nc;
    s->gl = MBG_TAKE(arena, real, (size_t)nc * (size_t)a->m->nrow);
    s->mu = MBG_TAKE(arena, real, a->m->nw);
    s->kappa = MBG_TAKE(arena, real, a->m->nrow);
    for (int i = 0; i < MBG_COUNT(s->g); i++) {
      s->g[i] = MBG_TAKE(arena, real, (size_t)nc * (size_t)a->m->nw);
    }
  }
  return mbg__arena_check(ctx, arena);
}

static bool any(int n, const real *x) {
  for (int i = 0; i < n; i++) {
    if (r_some(x[i] != 0)) {
      return true;
    }
  }
  return false;
}

/* [M B^T; B 0] (mu, kappa) = -(0, gl): its part of frames, twists and attributes at (vd1, lambda1) */
static void reaction_pull(mbg__ali3p_seeds *s, int c, real *gattr) {
  mbg__ali3p *a = s->a;
  const mbg_model *m = a->m;
  const size_t nw = (size_t)m->nw;
  const real *gl = s->gl + (size_t)c * (size_t)m->nrow;
  memset(a->x1, 0, (size_t)m->nv * sizeof(real));
  for (int i = 0; i < m->nrow; i++) {
    a->x1[m->nv + i] = a->rank->keep[i] ? -gl[i] : 0;
  }
  mbg__klu_solve_T(a->index1.klu, a->x1, 1);
  mbg__scatter(m, a->rank->keep, 1, a->x1, s->mu, s->kappa);
  mbg__system_pull(a->sys, s->mu, NULL, NULL, s->kappa, s->g[0] + (size_t)c * nw, s->g[1] + (size_t)c * nw, NULL, NULL,
                   gattr);
}

static int reactions_pull(mbg_context *ctx, mbg__ali3p_seeds *s, real *gattr) {
  mbg__ali3p *a = s->a;
  mbg__state bodies = mbg__tree_bodies(a->tree);
  int err = MBG_OK;
  bodies.vd = a->vd1;
  bodies.lambda = a->lambda1;
  MBG_TRY(mbg__system_update(ctx, a->sys, &bodies));
  MBG_TRY(mbg__system_linearize(ctx, a->sys));
  for (int c = 0; c < s->nc; c++) {
    if (any(a->m->nrow, s->gl + (size_t)c * (size_t)a->m->nrow)) {
      reaction_pull(s, c, gattr + (size_t)c * (size_t)a->m->na);
    }
  }
done:
  return err;
}

/* the system at the node, in the state that its signals need */
static int at_signals(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  const mbg__tree_state s = {
      .t = *n->t, .E = n->E, .w = n->w, .a = n->a, .q = a->forces ? NULL : a->zero, .turns = n->turns};
  int err = MBG_OK;
  MBG_TRY(mbg__tree_update(ctx, a->tree, &s));
  if (a->reactions) {
    MBG_TRY(mbg__ali3p_index1(ctx, a));
    mbg__state bodies = mbg__tree_bodies(a->tree);
    bodies.lambda = a->lambda1;
    MBG_TRY(mbg__system_update(ctx, a->sys, &bodies));
  }
  MBG_TRY(mbg__system_linearize(ctx, a->sys));
  MBG_TRY(mbg__system_linearize_signals(ctx, a->sys));
done:
  return err;
}

void mbg__ali3p_seeds_poses(mbg__ali3p_seeds *s, const mbg__criterion_seeds *seeds, int node) {
  s->poses = seeds;
  s->node = node;
}

static bool has_poses(const mbg__ali3p_seeds *s) {
  return s->poses && mbg__seeds_have_poses(s->poses, s->nc, s->a->m->nw, s->node);
}

int mbg__ali3p_seeds_at(mbg_context *ctx, mbg__ali3p_seeds *s, const mbg__ali3p_node *n, bool there, const real *seed,
                        real *ge, real *gw, real *ga, real *gattr) {
  mbg__ali3p *a = s->a;
  const size_t nw = (size_t)a->m->nw, nr = (size_t)a->m->nrow, na = (size_t)a->m->na, nc = (size_t)s->nc;
  int err = MBG_OK;
  const bool poses = has_poses(s);
  if (!any(s->nc * a->nused, seed) && !poses) {
    return MBG_OK;
  }
  MBG_TRY(there ? mbg__system_linearize_signals(ctx, a->sys) : at_signals(ctx, a, n));
  for (int i = 0; i < 3; i++) {
    memset(s->g[i], 0, nc * nw * sizeof(real));
  }
  memset(s->gl, 0, nc * nr * sizeof(real));
  for (size_t c = 0; c < nc; c++) {
    for (int k = 0; k < a->nused; k++) {
      const real weight = seed[c * (size_t)a->nused + (size_t)k];
      if (r_some(weight != 0)) {
        mbg__system_signal_pull(a->sys, a->used[k], weight, s->g[0] + c * nw, s->g[1] + c * nw, s->g[2] + c * nw,
                                s->gl + c * nr, gattr + c * na);
      }
    }
    if (poses) {
      mbg__seeds_add_poses(&s->poses[c], a->m->nw, s->node, s->g[0] + c * nw, s->g[1] + c * nw);
    }
  }
  if (any((int)(nc * nr), s->gl)) {
    MBG_TRY(reactions_pull(ctx, s, gattr));
  }
  for (size_t c = 0; c < nc; c++) {
    const real *frames = s->g[0] + c * nw, *rates = s->g[1] + c * nw, *accelerations = s->g[2] + c * nw;
    rates = any((int)nw, rates) ? rates : NULL;
    accelerations = any((int)nw, accelerations) ? accelerations : NULL;
    if (rates || accelerations || any((int)nw, frames)) {
      mbg__tree_kin_pull(a->tree, frames, rates, accelerations, ge + c * 6 * (size_t)a->m->nbody, gw + c * (size_t)a->n,
                         ga + c * (size_t)a->n, gattr + c * na);
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- guards of events */

struct mbg__ali3p_guard {
  mbg__ali3p *a;
  mbg__tree_gradient g;
  real *bodies[2]; /* by frames and twists                 (nw each) */
};

int mbg__ali3p_guard_create(mbg_context *ctx, mbg__arena *arena, mbg__ali3p *a, mbg__ali3p_guard **out) {
  mbg__ali3p_guard *g = MBG_TAKE(arena, mbg__ali3p_guard, 1);
  *out = g;
  if (g) {
    g->a = a;
    g->g.e = MBG_TAKE(arena, real, 6 * (size_t)a->m->nbody);
    g->g.w = MBG_TAKE(arena, real, a->n);
    g->g.attributes = MBG_TAKE(arena, real, a->m->na);
    g->bodies[0] = MBG_TAKE(arena, real, a->m->nw);
    g->bodies[1] = MBG_TAKE(arena, real, a->m->nw);
  }
  return mbg__arena_check(ctx, arena);
}

int mbg__ali3p_guard_at(mbg_context *ctx, mbg__ali3p_guard *g, const mbg__ali3p_node *n, int signal) {
  mbg__ali3p *a = g->a;
  int err = MBG_OK;
  const mbg__state bodies = mbg__ali3p_bodies(ctx, a, n);
  vn_zero(6 * a->m->nbody, g->g.e);
  vn_zero(a->n, g->g.w);
  vn_zero(a->m->na, g->g.attributes);
  vn_zero(a->m->nw, g->bodies[0]);
  vn_zero(a->m->nw, g->bodies[1]);
  MBG_TRY(mbg__events_guard(ctx, a->events, signal, &bodies, g->bodies[0], g->bodies[1], g->g.attributes));
  mbg__tree_kin_pull(a->tree, g->bodies[0], g->bodies[1], NULL, g->g.e, g->g.w, NULL, g->g.attributes);
done:
  return err;
}

const mbg__tree_gradient *mbg__ali3p_guard_of(const mbg__ali3p_guard *g) { return &g->g; }
