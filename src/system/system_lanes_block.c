/* Directional derivatives of up to MBG__LANES columns and their transposes, in lanes where the model allows it. */
#include "math/avx2.h"
#include "system/system_internal.h"
#include "system/system_lanes.h"

#include <string.h>

struct mbg__lanes_block {
  bool lanes, wide;
  mbg__system_lanes *system;
  lane *w, *dv, *dvd, *dr; /*                                     (nw) */
  lane *row[4];            /*                                     (nrow) */
  lane *da;                /*                                     (na) */
  bool *varied;            /*                                     (na) */
  real *column, *rows[3];  /* columns one after the other         (nw), (nrow) */
};

static int take_column(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, mbg__lanes_block *b) {
  b->column = MBG_TAKE(arena, real, m->nw);
  for (int i = 0; i < MBG_COUNT(b->rows); i++) {
    b->rows[i] = MBG_TAKE(arena, real, m->nrow);
  }
  return mbg__arena_check(ctx, arena);
}

static int create(mbg_context *ctx, mbg__arena *arena, const mbg__system *s, bool lanes, mbg__lanes_block **out) {
  const mbg_model *m = s->model;
  mbg__lanes_block *b = *out = MBG_TAKE(arena, mbg__lanes_block, 1);
  if (!b) {
    return mbg__fail_memory(ctx);
  }
  b->lanes = lanes;
  b->wide = mbg__lanes_wide();
  if (!b->lanes) {
    return take_column(ctx, arena, m, b);
  }
  lane **bodies[] = {&b->w, &b->dv, &b->dvd, &b->dr};
  for (int i = 0; i < MBG_COUNT(bodies); i++) {
    *bodies[i] = MBG_TAKE(arena, lane, m->nw);
  }
  for (int i = 0; i < MBG_COUNT(b->row); i++) {
    b->row[i] = MBG_TAKE(arena, lane, m->nrow);
  }
  b->da = MBG_TAKE(arena, lane, m->na);
  b->varied = MBG_TAKE(arena, bool, m->na);
  return mbg__system_lanes_create(ctx, arena, s, &b->system);
}

int mbg__lanes_block_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *s, mbg__lanes_block **out) {
  return create(ctx, arena, s, mbg__system_lanes_can(s), out);
}

int mbg__lanes_block_create_large(mbg_context *ctx, mbg__arena *arena, const mbg__system *s, mbg__lanes_block **out) {
  return create(ctx, arena, s, mbg__system_lanes_fit(s), out);
}

/* a member x of all columns, structs of `size` bytes, into to; NULL in one is NULL in all */
static lane *take_member(int n, int nc, const void *columns, size_t size, size_t member, lane *to) {
  for (int q = 0; q < nc; q++) {
    const real *x = *(const real *const *)((const char *)columns + size * (size_t)q + member);
    if (!x) {
      return NULL;
    }
    for (int i = 0; i < n; i++) {
      lane_set(&to[i], q, x[i]);
    }
  }
  return to;
}

static const lane *take(int n, int nc, const mbg__direction *d, size_t member, lane *to) {
  return take_member(n, nc, d, sizeof(*d), member, to);
}

static void give(int n, int nc, const lane *x, real *const *out) {
  for (int q = 0; out && q < nc; q++) {
    for (int i = 0; i < n; i++) {
      out[q][i] = lane_get(&x[i], q);
    }
  }
}

static void push_lanes(mbg__system *s, mbg__lanes_block *b, const mbg__lanes_direction *x, const mbg__lanes_side *to) {
#ifdef MBG__AVX2_BEGIN
  if (b->wide) {
    mbg__system_push_lanes_avx2(s, b->system, x, to->dr, to->dphi, to->dphid, to->dphidd);
    return;
  }
#endif
  mbg__system_push_lanes(s, b->system, x, to->dr, to->dphi, to->dphid, to->dphidd);
}

/* attributes of all columns; a list keeps b->varied as it is without attributes */
static void take_attributes(const mbg__system *s, mbg__lanes_block *b, int nc, const mbg__direction *d,
                            const mbg__lanes_varied *varied) {
  const real *attributes[MBG__LANES];
  for (int q = 0; q < nc; q++) {
    attributes[q] = d[q].da;
  }
  if (d->da && !varied) {
    mbg__lanes_attributes(s->model->na, nc, attributes, b->da, b->varied);
  }
  for (int i = 0; d->da && varied && i < varied->n; i++) {
    const int attr = varied->attr[i];
    b->varied[attr] = true;
    b->da[attr] = (lane){0};
    for (int q = 0; q < nc; q++) {
      lane_set(&b->da[attr], q, attributes[q][attr]);
    }
  }
}

static void clear_attributes(const mbg__system *s, mbg__lanes_block *b, const mbg__lanes_varied *varied) {
  if (!varied) {
    memset(b->varied, 0, (size_t)s->model->na * sizeof(bool));
    return;
  }
  for (int i = 0; i < varied->n; i++) {
    b->varied[varied->attr[i]] = false;
  }
}

/* in lanes, of models that allow it */
static void push_side(mbg__system *s, mbg__lanes_block *b, int nc, const mbg__direction *d,
                      const mbg__lanes_varied *varied, const mbg__lanes_side *to) {
  const mbg_model *m = s->model;
  take_attributes(s, b, nc, d, varied);
  const mbg__lanes_direction x = {.w = take(m->nw, nc, d, offsetof(mbg__direction, w), b->w),
                                  .dv = take(m->nw, nc, d, offsetof(mbg__direction, dv), b->dv),
                                  .dvd = take(m->nw, nc, d, offsetof(mbg__direction, dvd), b->dvd),
                                  .da = d->da ? b->da : NULL,
                                  .varied = b->varied};
  push_lanes(s, b, &x, to);
  if (d->da) {
    clear_attributes(s, b, varied);
  }
}

static void lay(int n, int q, const real *x, lane *to) {
  for (int i = 0; to && i < n; i++) {
    lane_set(&to[i], q, x[i]);
  }
}

void mbg__system_push_side(mbg__system *s, mbg__lanes_block *b, int nc, const mbg__direction *d,
                           const mbg__lanes_varied *varied, const mbg__lanes_side *to) {
  lane *const rows[] = {to->dphi, to->dphid, to->dphidd};
  if (b->lanes) {
    push_side(s, b, nc, d, varied, to);
    return;
  }
  for (int q = 0; q < nc; q++) {
    mbg__system_push(s, &d[q], to->dr ? b->column : NULL, to->dphi ? b->rows[0] : NULL, to->dphid ? b->rows[1] : NULL,
                     to->dphidd ? b->rows[2] : NULL);
    lay(s->model->nw, q, b->column, to->dr);
    for (int i = 0; i < MBG_COUNT(rows); i++) {
      lay(s->model->nrow, q, b->rows[i], rows[i]);
    }
  }
}

void mbg__system_push_block(mbg__system *s, mbg__lanes_block *b, int nc, const mbg__direction *d,
                            const mbg__lanes_change *to) {
  const mbg_model *m = s->model;
  const mbg__lanes_side side = {.dr = to->dr ? b->dr : NULL,
                                .dphi = to->dphi ? b->row[0] : NULL,
                                .dphid = to->dphid ? b->row[1] : NULL,
                                .dphidd = to->dphidd ? b->row[2] : NULL};
  for (int q = 0; !b->lanes && q < nc; q++) {
    mbg__system_push(s, &d[q], to->dr ? to->dr[q] : NULL, to->dphi ? to->dphi[q] : NULL,
                     to->dphid ? to->dphid[q] : NULL, to->dphidd ? to->dphidd[q] : NULL);
  }
  if (!b->lanes) {
    return;
  }
  push_side(s, b, nc, d, NULL, &side);
  give(m->nw, nc, b->dr, to->dr);
  give(m->nrow, nc, b->row[0], to->dphi);
  give(m->nrow, nc, b->row[1], to->dphid);
  give(m->nrow, nc, b->row[2], to->dphidd);
}

/* ---------------------------------------------------------------------- transposed */

bool mbg__lanes_block_serves(const mbg__lanes_block *b, int nc) { return b && b->lanes && nc > 1 && nc <= MBG__LANES; }

static void pull_lanes(mbg__system *s, mbg__lanes_block *b, const mbg__lanes_weights *x,
                       const mbg__lanes_cotangent *g) {
#ifdef MBG__AVX2_BEGIN
  if (b->wide) {
    mbg__system_pull_lanes_avx2(s, b->system, x, g);
    return;
  }
#endif
  mbg__system_pull_lanes(s, b->system, x, g);
}

static const lane *weight(int n, int nc, const mbg__block_weights *x, size_t member, lane *to) {
  return take_member(n, nc, x, sizeof(*x), member, to);
}

static lane *sum(int n, int nc, const mbg__block_sums *g, size_t member, lane *to) {
  return take_member(n, nc, g, sizeof(*g), member, to);
}

void mbg__system_pull_block(mbg__system *s, mbg__lanes_block *b, int nc, const mbg__block_weights *x,
                            const mbg__block_sums *g) {
  const int nw = s->model->nw, nrow = s->model->nrow;
  real *to[5][MBG__LANES];
  if (!mbg__lanes_block_serves(b, nc)) {
    for (int q = 0; q < nc; q++) {
      mbg__system_pull(s, x[q].z, x[q].mu, x[q].nu, x[q].kappa, g[q].w, g[q].v, g[q].vd, g[q].lambda, g[q].a);
    }
    return;
  }
  for (int q = 0; q < nc; q++) {
    to[0][q] = g[q].w;
    to[1][q] = g[q].v;
    to[2][q] = g[q].vd;
    to[3][q] = g[q].lambda;
    to[4][q] = g[q].a;
  }
  const mbg__lanes_weights weights = {.z = weight(nw, nc, x, offsetof(mbg__block_weights, z), b->dr),
                                      .mu = weight(nrow, nc, x, offsetof(mbg__block_weights, mu), b->row[0]),
                                      .nu = weight(nrow, nc, x, offsetof(mbg__block_weights, nu), b->row[1]),
                                      .kappa = weight(nrow, nc, x, offsetof(mbg__block_weights, kappa), b->row[2])};
  const mbg__lanes_cotangent out = {.w = sum(nw, nc, g, offsetof(mbg__block_sums, w), b->w),
                                    .v = sum(nw, nc, g, offsetof(mbg__block_sums, v), b->dv),
                                    .vd = sum(nw, nc, g, offsetof(mbg__block_sums, vd), b->dvd),
                                    .lambda = sum(nrow, nc, g, offsetof(mbg__block_sums, lambda), b->row[3]),
                                    .nc = nc,
                                    .a = g->a ? to[4] : NULL};
  pull_lanes(s, b, &weights, &out);
  give(nw, nc, out.w, to[0]);
  give(nw, nc, out.v, out.v ? to[1] : NULL);
  give(nw, nc, out.vd, out.vd ? to[2] : NULL);
  give(nrow, nc, out.lambda, out.lambda ? to[3] : NULL);
}
