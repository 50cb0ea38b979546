#include "formulations/qr/qr_columns.h"

int mbg__qr_columns_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, mbg__qr_columns *out) {
  const mbg_model *m = mbg__system_model(sys);
  out->r = MBG_TAKE(arena, real, MBG__LANES * (size_t)m->nw);
  out->row = MBG_TAKE(arena, real, MBG__LANES * (size_t)m->nrow);
  out->row2 = MBG_TAKE(arena, real, MBG__LANES * (size_t)m->nrow);
  return mbg__lanes_block_create(ctx, arena, sys, &out->block);
}

/* nc columns from w, dv, da on */
static void push(mbg__qr_columns *x, mbg__system *sys, size_t nc, const real *w, const real *dv, const real *da) {
  const mbg_model *m = mbg__system_model(sys);
  const size_t nw = (size_t)m->nw, na = (size_t)m->na, nr = (size_t)m->nrow;
  mbg__direction d[MBG__LANES] = {{0}};
  real *r[MBG__LANES], *row[MBG__LANES], *row2[MBG__LANES];
  for (size_t q = 0; q < nc; q++) {
    d[q] = (mbg__direction){.w = w + q * nw, .dv = dv ? dv + q * nw : NULL, .da = da ? da + q * na : NULL};
    r[q] = x->r + q * nw;
    row[q] = x->row + q * nr;
    row2[q] = x->row2 + q * nr;
  }
  const mbg__lanes_change to = {.dr = r, .dphi = dv ? NULL : row2, .dphid = dv ? NULL : row, .dphidd = dv ? row : NULL};
  mbg__system_push_block(sys, x->block, (int)nc, d, &to);
}

mbg__qr_change mbg__qr_columns_at(mbg__qr_columns *x, mbg__system *sys, size_t c, size_t ncol, const real *w,
                                  const real *dv, const real *da) {
  const mbg_model *m = mbg__system_model(sys);
  const size_t nw = (size_t)m->nw, nr = (size_t)m->nrow, k = c % MBG__LANES, left = ncol - c;
  if (k == 0) {
    push(x, sys, left < MBG__LANES ? left : MBG__LANES, w + c * nw, dv ? dv + c * nw : NULL,
         da ? da + c * (size_t)m->na : NULL);
  }
  real *row = x->row + k * nr;
  return (mbg__qr_change){
      .r = x->r + k * nw, .phi = x->row2 + k * nr, .phid = dv ? NULL : row, .phidd = dv ? row : NULL};
}
