/* Columns side by side: their memory and directions, and their products for the vectors that every processor has. */
#include "math/avx2.h"

#define LANES(name) name
#include "formulations/qr/qr_columns_kernel.h"

/* ---------------------------------------------------------------------- creation */

int mbg__qr_columns_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, int n, int r,
                           mbg__qr_columns **out) {
  const mbg_model *m = mbg__system_model(sys);
  mbg__qr_columns *x = *out = MBG_TAKE(arena, mbg__qr_columns, 1);
  if (!x) {
    return mbg__fail_memory(ctx);
  }
  lane **full[] = {&x->r, &x->dv, &x->full, &x->full2};
  lane **rows[] = {&x->phi, &x->phid, &x->phidd};
  lane **free_[] = {&x->x, &x->y, &x->z, &x->s};
  *x = (mbg__qr_columns){.rigid = mbg__system_lanes_fit(sys), .wide = mbg__lanes_wide()};
  for (int i = 0; i < MBG_COUNT(full); i++) {
    *full[i] = MBG_TAKE(arena, lane, m->nw);
  }
  for (int i = 0; i < MBG_COUNT(rows); i++) {
    *rows[i] = MBG_TAKE(arena, lane, m->nrow);
  }
  for (int i = 0; i < MBG_COUNT(free_); i++) {
    *free_[i] = MBG_TAKE(arena, lane, n);
  }
  x->k = MBG_TAKE(arena, lane, r);
  x->h = MBG_TAKE(arena, lane, n - r);
  x->column = MBG_TAKE(arena, real, m->nw);
  x->column2 = MBG_TAKE(arena, real, m->nw);
  return mbg__lanes_block_create(ctx, arena, sys, &x->block);
}

/* ---------------------------------------------------------------------- attributes */

static bool varies(int na, int nc, const real *da, const bool *always, int attr) {
  bool any = always && always[attr];
  for (int q = 0; !any && q < nc; q++) {
    any = r_some(da[(size_t)q * (size_t)na + (size_t)attr] != 0);
  }
  return any;
}

/* counts them; attr NULL: does no more */
static int list_varied(int na, int nc, const real *da, const bool *always, int *attr) {
  int n = 0;
  for (int i = 0; i < na; i++) {
    if (varies(na, nc, da, always, i)) {
      if (attr) {
        attr[n] = i;
      }
      n++;
    }
  }
  return n;
}

int mbg__qr_varied_make(mbg_context *ctx, mbg__arena *arena, int na, int ncol, const real *da, const bool *always,
                        mbg__qr_varied *out) {
  const int nblock = (ncol + MBG__LANES - 1) / MBG__LANES;
  *out = (mbg__qr_varied){.nblock = nblock, .block = MBG_TAKE(arena, mbg__lanes_varied, nblock)};
  for (int b = 0; out->block && b < nblock; b++) {
    const int c = b * MBG__LANES, nc = ncol - c < MBG__LANES ? ncol - c : MBG__LANES;
    const real *own = da + (size_t)c * (size_t)na;
    const int n = list_varied(na, nc, own, always, NULL);
    int *attr = MBG_TAKE(arena, int, n);
    if (attr) {
      (void)list_varied(na, nc, own, always, attr);
    }
    out->block[b] = (mbg__lanes_varied){.n = n, .attr = attr};
  }
  return mbg__arena_check(ctx, arena);
}

/* ---------------------------------------------------------------------- columns */

/* dv NULL: those of velocities */
static void push(mbg__qr_columns *x, mbg__system *sys, int c, const real *w, const real *dv, const real *da,
                 const mbg__lanes_side *to) {
  const mbg_model *m = mbg__system_model(sys);
  const size_t nw = (size_t)m->nw, na = (size_t)m->na;
  mbg__direction d[MBG__LANES] = {{0}};
  for (int q = 0; q < x->nc; q++) {
    const size_t k = (size_t)(c + q);
    d[q] = (mbg__direction){.w = w + k * nw, .dv = dv ? dv + k * nw : NULL, .da = da ? da + k * na : NULL};
  }
  mbg__system_push_side(sys, x->block, x->nc, d, da && x->varied ? &x->varied->block[c / MBG__LANES] : NULL, to);
}

static void begin(mbg__qr_columns *x, int c, int ncol) { x->nc = ncol - c < MBG__LANES ? ncol - c : MBG__LANES; }

void mbg__qr_columns_accelerations(mbg__qr_columns *x, mbg__system *sys, int c, int ncol, const real *w, const real *dv,
                                   const real *da) {
  begin(x, c, ncol);
  push(x, sys, c, w, dv, da, &(mbg__lanes_side){.dr = x->r, .dphidd = x->phidd});
}

void mbg__qr_columns_velocities(mbg__qr_columns *x, mbg__system *sys, int c, int ncol, const real *w, const real *dv,
                                const real *da) {
  const mbg_model *m = mbg__system_model(sys);
  begin(x, c, ncol);
  push(x, sys, c, w, NULL, da, &(mbg__lanes_side){.dr = x->r, .dphi = x->phi, .dphid = x->phid});
  for (int q = 0; q < x->nc; q++) {
    const real *own = dv + (size_t)(c + q) * (size_t)m->nw;
    for (int i = 0; i < m->nw; i++) {
      lane_set(&x->dv[i], q, own[i]);
    }
  }
}

void mbg__qr_columns_solve(const mbg__qr_point *q, bool multipliers) {
#ifdef MBG__AVX2_BEGIN
  if (q->columns->wide) {
    mbg__qr_push_accelerations_avx2(q, multipliers);
    return;
  }
#endif
  mbg__qr_push_accelerations(q, multipliers);
}

void mbg__qr_columns_project(const mbg__qr_point *q) {
#ifdef MBG__AVX2_BEGIN
  if (q->columns->wide) {
    mbg__qr_push_velocities_avx2(q);
    return;
  }
#endif
  mbg__qr_push_velocities(q);
}

void mbg__qr_columns_give(const mbg_model *m, int q, const lane *x, real *full) {
  if (m->nv < m->nw) {
    vn_zero(m->nw, full);
  }
  for (int j = 0; j < m->nv; j++) {
    full[m->full[j]] = lane_get(&x[j], q);
  }
}

void mbg__qr_columns_give_rows(const mbg_model *m, int nkept, const int *kept, int q, const lane *k, real *rows) {
  vn_zero(m->nrow, rows);
  for (int i = 0; i < nkept; i++) {
    rows[kept[i]] = lane_get(&k[i], q);
  }
}
