/* Weights of signals at nodes, pulled back to joints and attributes, through accelerations and multipliers if a signal
   depends on them. */
#include "formulations/dca/dca_work.h"

#include <string.h>

struct mbg__dca_seeds {
  mbg__formulation_work *w;
  int nc, node;
  const mbg__criterion_seeds *poses; /* NULL: none    (nc) */
  real *g[3];                        /* of frames, twists, rates of the bodies   (nc x nw) */
  real *gl;                          /* of multipliers                            (nc x nrow) */
  real *zero;                        /*                                           (nw) */
  mbg__dca_few few;                  /* links that the signals need; n = 0: many */
  bool clear;                        /* g is 0 */
  real *handles;                     /* NULL: attributes at each node             (nc x 12 nbody) */
};

/* ---------------------------------------------------------------------- links that signals need */

/* links on the ways from the ground to the bodies of markers; their number */
static int mark_ways(const mbg__formulation_work *w, const mbg__sampling *sampling, bool *body, bool *on) {
  const mbg__link *links = w->flow.links;
  int count = 0;
  for (int k = 0; k < sampling->nmarker; k++) {
    const int i = w->m->markers[sampling->marker[k]].body;
    if (i >= 0) {
      body[i] = true;
    }
  }
  for (int i = w->m->nbody - 1; i >= 0; i--) {
    on[i] = on[i] || body[links[i].body];
    count += on[i];
    if (on[i] && links[i].parent >= 0) {
      on[links[i].parent] = true;
    }
  }
  return count;
}

static int find_few(mbg_context *ctx, mbg__arena *arena, const mbg__formulation_work *w, mbg__dca_few *few) {
  const mbg__sampling *sampling = &w->flow.sampling;
  if (sampling->level != MBG__SAMPLE_KINEMATICS || w->m->nmodal > 0) {
    return MBG_OK;
  }
  bool *body = MBG_TAKE(arena, bool, w->m->nbody), *on = MBG_TAKE(arena, bool, w->m->nbody);
  const int count = body && on ? mark_ways(w, sampling, body, on) : 0;
  few->link = MBG_TAKE(arena, int, count);
  few->sampling = *sampling;
  few->sampling.few = true;
  /* one thread goes through them */
  for (int i = 0; few->link && 4 * count <= w->m->nbody && i < w->m->nbody; i++) {
    if (on[i]) {
      few->link[few->n++] = i;
    }
  }
  return mbg__arena_check(ctx, arena);
}

int mbg__dca_seeds_create(mbg_context *ctx, mbg__arena *arena, mbg__formulation_work *w, int nc, mbg__dca_seeds **out) {
  const size_t nw = (size_t)w->m->nw;
  mbg__dca_seeds *s = MBG_TAKE(arena, mbg__dca_seeds, 1);
  *out = s;
  if (!s) {
    return mbg__fail_memory(ctx);
  }
  *s = (mbg__dca_seeds){.w = w, .nc = nc};
  s->gl = MBG_TAKE(arena, real, (size_t)nc * (size_t)w->m->nrow);
  s->zero = MBG_TAKE(arena, real, nw);
  for (int i = 0; i < 3; i++) {
    s->g[i] = MBG_TAKE(arena, real, (size_t)nc * nw);
  }
  s->clear = true;
  const int err = mbg__arena_check(ctx, arena);
  return err < 0 ? err : find_few(ctx, arena, w, &s->few);
}

/* ---------------------------------------------------------------------- weights at a node */

static int at_node(mbg_context *ctx, const mbg__dca_seeds *s, const mbg__dca_few *few, const mbg__dca_base *base,
                   double t, const real *y) {
  mbg__dca_flow *f = &s->w->flow;
  int err = MBG_OK;
  if (few) {
    MBG_TRY(mbg__dca_flow_sample_few(ctx, f, few, base, t, y));
    return mbg__system_sample_linearize(ctx, f->sys, &few->sampling);
  }
  if (f->sampling.level == MBG__SAMPLE_KINEMATICS) {
    MBG_TRY(mbg__dca_flow_sample(ctx, f, base, t, y, NULL));
    return mbg__system_sample_linearize(ctx, f->sys, &f->sampling);
  }
  if (f->full) {
    MBG_TRY(mbg__dca_flow_eval(ctx, f, base, t, y));
    MBG_TRY(mbg__dca_point_linearize(ctx, f->point));
  } else {
    MBG_TRY(mbg__dca_flow_place(ctx, f, base, t, y));
    MBG_TRY(mbg__system_linearize(ctx, f->sys));
  }
  MBG_TRY(mbg__system_linearize_signals(ctx, f->sys));
done:
  return err;
}

static real *row(real *x, int c, int n) { return x + (size_t)c * (size_t)n; }

/* all that the signals of the node pull at is 0 */
static void clear(mbg__dca_seeds *s, const mbg__dca_few *few) {
  const size_t nw = (size_t)s->w->m->nw, nc = (size_t)s->nc;
  for (int i = 0; i < 3 && !(few && s->clear); i++) {
    mbg__pool_zero(s->w->pool, MBG__LOOP_SEEDS_CLEAR, nc * nw, s->g[i]);
  }
  mbg__pool_zero(s->w->pool, MBG__LOOP_SEEDS_CLEAR, nc * (size_t)s->w->m->nrow, s->gl);
  s->clear = few != NULL;
}

/* ... again, after the links of a pull */
static void clear_few(const mbg__dca_seeds *s, int c) {
  const mbg_model *m = s->w->m;
  for (int k = 0; k < s->few.n; k++) {
    const int off = m->bodies[s->w->flow.links[s->few.link[k]].body].voff;
    for (int i = 0; i < 3; i++) {
      v6_zero(row(s->g[i], c, m->nw) + off);
    }
  }
}

static void pull(mbg__dca_seeds *s, const mbg__dca_few *few, int c, real *ge, real *gw, real *gattr) {
  const mbg_model *m = s->w->m;
  const real *w = row(s->g[0], c, m->nw), *v = row(s->g[1], c, m->nw), *vd = row(s->g[2], c, m->nw),
             *l = row(s->gl, c, m->nrow);
  real *handles = s->handles ? row(s->handles, c, 12 * m->nbody) : NULL;
  if (few) {
    mbg__tree_sum_handles(s->w->tree, handles);
    mbg__tree_local_pull_some(s->w->tree, few->n, few->link, w, v, ge, gw, gattr);
    clear_few(s, c);
  } else if (s->w->flow.full && (mbg__any((size_t)m->nw, vd) || mbg__any((size_t)m->nrow, l))) {
    const mbg__dca_cotangent cotangent = {.w = w, .v = v, .vd = vd, .lambda = l};
    mbg__dca_point_pull(s->w->point, 1, &cotangent, &ge, &gw, &gattr);
  } else if (m->nmodal > 0) {
    mbg__tree_local_pull(s->w->tree, w, v, s->zero, NULL, NULL, true, ge, gw, gattr);
  } else {
    const bool rates = mbg__any((size_t)m->nw, v);
    mbg__tree_sum_handles(s->w->tree, handles);
    mbg__tree_local_pull(s->w->tree, w, rates ? v : NULL, NULL, NULL, NULL, true, ge, gw, gattr);
  }
  mbg__tree_sum_handles(s->w->tree, NULL);
}

void mbg__dca_seeds_poses(mbg__dca_seeds *s, const mbg__criterion_seeds *seeds, int node) {
  s->poses = seeds;
  s->node = node;
}

static bool has_poses(const mbg__dca_seeds *s) {
  return s->poses && mbg__seeds_have_poses(s->poses, s->nc, s->w->m->nw, s->node);
}

int mbg__dca_seeds_sum(mbg_context *ctx, mbg__arena *arena, mbg__dca_seeds *s) {
  s->handles = MBG_TAKE(arena, real, (size_t)s->nc * 12 * (size_t)s->w->m->nbody);
  return mbg__arena_check(ctx, arena);
}

void mbg__dca_seeds_take(mbg__dca_seeds *s, real *gattr) {
  for (int c = 0; s->handles && c < s->nc; c++) {
    mbg__tree_handles_pull(s->w->tree, row(s->handles, c, 12 * s->w->m->nbody), row(gattr, c, s->w->m->na));
  }
  s->handles = NULL;
}

bool mbg__dca_seeds_any(const mbg__dca_seeds *s, const real *seed, int c) {
  const size_t nused = (size_t)s->w->flow.nused;
  return has_poses(s) || mbg__any(nused, seed + (size_t)c * nused);
}

const mbg__dca_few *mbg__dca_seeds_few(const mbg__dca_seeds *s) {
  return s->few.n > 0 && !has_poses(s) ? &s->few : NULL;
}

int mbg__dca_seeds_at(mbg_context *ctx, mbg__dca_seeds *s, const mbg__dca_base *base, double t, const real *y,
                      const real *seed, real *ge, real *gw, real *gattr) {
  const mbg__formulation_work *w = s->w;
  const mbg__dca_few *few = mbg__dca_seeds_few(s);
  int err = MBG_OK;
  const bool poses = has_poses(s);
  if (!mbg__any((size_t)s->nc * (size_t)w->flow.nused, seed) && !poses) {
    return MBG_OK;
  }
  MBG_TRY(at_node(ctx, s, few, base, t, y));
  clear(s, few);
  for (int c = 0; c < s->nc; c++) {
    for (int k = 0; k < w->flow.nused; k++) {
      const real weight = seed[(size_t)c * (size_t)w->flow.nused + (size_t)k];
      if (weight != 0) {
        mbg__system_signal_pull(w->flow.sys, w->flow.used[k], weight, row(s->g[0], c, w->m->nw),
                                row(s->g[1], c, w->m->nw), row(s->g[2], c, w->m->nw), row(s->gl, c, w->m->nrow),
                                row(gattr, c, w->m->na));
      }
    }
    if (poses) {
      mbg__seeds_add_poses(&s->poses[c], w->m->nw, s->node, row(s->g[0], c, w->m->nw), row(s->g[1], c, w->m->nw));
    }
  }
  for (int c = 0; c < s->nc; c++) {
    if (!mbg__dca_seeds_any(s, seed, c)) {
      continue;
    }
    pull(s, few, c, row(ge, c, 6 * w->m->nbody), row(gw, c, w->flow.n), row(gattr, c, w->m->na));
  }
done:
  return err;
}
