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
};

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
  return mbg__arena_check(ctx, arena);
}

static int at_node(mbg_context *ctx, const mbg__dca_seeds *s, const mbg__dca_base *base, double t, const real *y) {
  mbg__dca_flow *f = &s->w->flow;
  int err = MBG_OK;
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

enum { CLEAR = MBG__LOOPS_DCA + 101 };

static real *row(real *x, int c, int n) { return x + (size_t)c * (size_t)n; }

static void pull(mbg__dca_seeds *s, int c, real *ge, real *gw, real *gattr) {
  const mbg_model *m = s->w->m;
  const real *w = row(s->g[0], c, m->nw), *v = row(s->g[1], c, m->nw), *vd = row(s->g[2], c, m->nw),
             *l = row(s->gl, c, m->nrow);
  if (s->w->flow.full && (mbg__any((size_t)m->nw, vd) || mbg__any((size_t)m->nrow, l))) {
    const mbg__dca_cotangent cotangent = {.w = w, .v = v, .vd = vd, .lambda = l};
    mbg__dca_point_pull(s->w->point, 1, &cotangent, &ge, &gw, &gattr);
  } else {
    mbg__tree_local_pull(s->w->tree, w, v, s->zero, NULL, NULL, true, ge, gw, gattr);
  }
}

void mbg__dca_seeds_poses(mbg__dca_seeds *s, const mbg__criterion_seeds *seeds, int node) {
  s->poses = seeds;
  s->node = node;
}

static bool has_poses(const mbg__dca_seeds *s) {
  return s->poses && mbg__seeds_have_poses(s->poses, s->nc, s->w->m->nw, s->node);
}

int mbg__dca_seeds_at(mbg_context *ctx, mbg__dca_seeds *s, const mbg__dca_base *base, double t, const real *y,
                      const real *seed, real *ge, real *gw, real *gattr) {
  const mbg__formulation_work *w = s->w;
  const size_t nw = (size_t)w->m->nw, nc = (size_t)s->nc;
  int err = MBG_OK;
  const bool poses = has_poses(s);
  if (!mbg__any(nc * (size_t)w->flow.nused, seed) && !poses) {
    return MBG_OK;
  }
  MBG_TRY(at_node(ctx, s, base, t, y));
  for (int i = 0; i < 3; i++) {
    mbg__pool_zero(w->pool, CLEAR, nc * nw, s->g[i]);
  }
  mbg__pool_zero(w->pool, CLEAR, nc * (size_t)w->m->nrow, s->gl);
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
    if (!poses && !mbg__any((size_t)w->flow.nused, seed + (size_t)c * (size_t)w->flow.nused)) {
      continue;
    }
    pull(s, c, row(ge, c, 6 * w->m->nbody), row(gw, c, w->flow.n), row(gattr, c, w->m->na));
  }
done:
  return err;
}
