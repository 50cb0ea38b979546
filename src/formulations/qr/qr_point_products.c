/* Derivatives of the point in directions (T1)-(T3), and their transposes (A1)-(A2). */
#include "formulations/formulation.h"
#include "formulations/qr/qr_columns.h"
#include "formulations/qr/qr_plane.h"

/* the two linearizations: accelerations at (H, v, a, lambda); velocities at (H, v*) with kappa as multipliers */
int mbg__qr_point_linearize(mbg_context *ctx, mbg__qr_point *q) {
  int err = MBG_OK;
  MBG_TRY(mbg__qr_point_full(ctx, q));
  if (q->at != AT_FULL_LINEAR) {
    MBG_TRY(mbg__system_linearize(ctx, q->sys));
    q->at = AT_FULL_LINEAR;
  }
done:
  return err;
}

static void linearize_velocities(mbg__qr_point *q) {
  q->at = AT_VELOCITIES;
  mbg__system_constraints_at(q->sys, q->v_star, q->kappa);
}

/* ---------------------------------------------------------------------- tangents */

/* (T2) and (T3) of the columns c ... of n */
static void push_accelerations(mbg__qr_point *q, int c, int n, const real *w, const real *dv, const real *da, real *d_a,
                               real *dlambda) {
  const size_t nw = (size_t)q->m->nw, nr = (size_t)q->m->nrow;
  mbg__qr_columns *x = q->columns;
  mbg__qr_columns_accelerations(x, q->sys, c, n, w, dv, da);
  mbg__qr_columns_solve(q, dlambda || mbg__system_has_late(q->sys));
  for (int k = 0; k < x->nc; k++) {
    const size_t at = (size_t)(c + k);
    real *rows = dlambda ? dlambda + at * nr : mbg__system_has_late(q->sys) ? q->row2 : NULL;
    mbg__qr_columns_give(q->m, k, x->z, d_a + at * nw);
    if (rows) {
      mbg__qr_columns_give_rows(q->m, q->r, q->rank->kept, k, x->k, rows);
    }
    mbg__system_late_push(q->sys, d_a + at * nw, rows);
  }
}

/* (T1) of the columns c ... of n */
static void push_velocities(mbg__qr_point *q, int c, int n, const real *w, const real *dv, const real *da,
                            real *dv_star) {
  mbg__qr_columns *x = q->columns;
  mbg__qr_columns_velocities(x, q->sys, c, n, w, dv, da);
  mbg__qr_columns_project(q);
  for (int k = 0; k < x->nc; k++) {
    mbg__qr_columns_give(q->m, k, x->z, dv_star + (size_t)(c + k) * (size_t)q->m->nw);
  }
}

int mbg__qr_point_push(mbg_context *ctx, mbg__qr_point *q, int ncol, const real *w, const real *dv, const real *da,
                       real *dv_star, real *d_a, real *dlambda) {
  int err = MBG_OK;
  MBG_TRY(mbg__qr_point_linearize(ctx, q));
  for (int c = 0; c < ncol; c += MBG__LANES) {
    push_accelerations(q, c, ncol, w, dv, da, d_a, dlambda);
  }
  linearize_velocities(q);
  for (int c = 0; c < ncol; c += MBG__LANES) {
    push_velocities(q, c, ncol, w, dv, da, dv_star);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- transposes */

/* (A1) with -s for s: rho' = rho + M s, y = Y rho', sig = N^T (rho' - M y); vjp = r1^T (y - s) - r2^T sig */
static void pull_accelerations(mbg__qr_point *q, const real *rho, const real *lb, real *gw, real *gv, real *ga) {
  if (mbg__system_has_late(q->sys)) {
    vn_copy(q->m->nw, q->full, rho);
    vn_zero(q->m->nrow, q->row2);
    vn_axpy(lb ? q->m->nrow : 0, q->row2, 1, lb);
    mbg__system_late_pull(q->sys, q->full, q->row2);
    rho = q->full;
    lb = q->row2;
  }
  free_of(q, rho, q->x);
  memset(q->s, 0, (size_t)q->n * sizeof(real));
  if (lb) {
    kept_of(q, lb, q->k);
    vn_scale(q->r, q->k, -1, q->k);
    mul_N(q, q->k, q->s);
    mul_M(q, q->s, q->y);
    vn_axpy(q->n, q->x, 1, q->y);
  }
  apply_Y(q, q->x, q->y);
  mul_M(q, q->y, q->z);
  vn_sub(q->n, q->x, q->x, q->z);
  mul_N_T(q, q->x, q->k);
  vn_scale(q->r, q->k, -1, q->k);
  rows_of(q, q->k, q->row);
  /* r1 = -dr: z = -(y - s) */
  vn_sub(q->n, q->s, q->s, q->y);
  full_of(q, q->s, q->full);
  mbg__system_pull(q->sys, q->full, NULL, NULL, q->row, gw, gv, NULL, NULL, ga);
}

/* vjp = -r3^T (P mu) - r4^T (N^T mu), plus P mu for the twists */
static void pull_velocities(mbg__qr_point *q, const real *mu, real *gw, real *gv, real *ga) {
  free_of(q, mu, q->x);
  apply_P_N(q, q->x, q->y, q->k);
  for (int j = 0; gv && j < q->n; j++) {
    gv[q->m->full[j]] += q->y[j];
  }
  vn_scale(q->r, q->k, -1, q->k);
  rows_of(q, q->k, q->row);
  vn_scale(q->m->nrow, q->row2, q->beta, q->row);
  vn_scale(q->n, q->y, -1, q->y);
  full_of(q, q->y, q->full);
  mbg__system_pull(q->sys, q->full, q->row2, q->row, NULL, gw, NULL, NULL, NULL, ga);
}

/* Both at once in a plane: y = Y rho, sig = N^T (rho - M y), P mu and N^T mu. */
static void pull_in_plane(mbg__qr_point *q, const real *mu, const real *rho, real *gw, real *gv, real *ga) {
  vn_copy(q->n, q->x, rho);
  apply_Y(q, q->x, q->s);
  mul_M(q, q->s, q->z);
  vn_sub(q->n, q->x, q->x, q->z);
  mul_N_T(q, q->x, q->k);
  vn_scale(q->r, q->k, -1, q->k);
  rows_of(q, q->k, q->row);
  vn_copy(q->n, q->x, mu);
  apply_P_N(q, q->x, q->y, q->k);
  vn_axpy(q->n, gv, 1, q->y);
  vn_scale(q->r, q->k, -1, q->k);
  rows_of(q, q->k, q->row2);
  vn_scale(q->n, q->s, -1, q->s);
  vn_scale(q->n, q->y, -1, q->y);
  const mbg__plane_weights c = {.z = q->s, .y = q->y, .mu = q->row, .nu = q->row2, .beta = q->beta};
  mbg__plane_pull(q->plane, &c, gw, gv, ga);
}

void mbg__qr_point_pull_in_plane(mbg__qr_point *q, int ncol, const real *mu, const real *rho, real *gw, real *gv,
                                 real *ga) {
  const size_t n = (size_t)q->n, na = (size_t)q->m->na;
  if (q->lanes) {
    mbg__qr_plane_pull(q, ncol, mu, rho, gw, gv, ga);
    return;
  }
  mbg__qr_point_multipliers(q);
  mbg__plane_linearize(q->plane, q->a, q->lambda, q->v_star, q->kappa);
  for (size_t c = 0; c < (size_t)ncol; c++) {
    pull_in_plane(q, mu + c * n, rho + c * n, gw + c * n, gv + c * n, ga + c * na);
  }
}

int mbg__qr_point_pull(mbg_context *ctx, mbg__qr_point *q, int ncol, const real *mu, const real *rho, const real *lb,
                       real *gw, real *gv, real *ga) {
  const size_t nw = (size_t)q->m->nw, na = (size_t)q->m->na, nr = (size_t)q->m->nrow;
  int err = MBG_OK;
  MBG_TRY(mbg__qr_point_linearize(ctx, q));
  for (size_t c = 0; c < (size_t)ncol; c++) {
    if (mbg__any(nw, rho + c * nw) || (lb && mbg__any(nr, lb + c * nr))) {
      pull_accelerations(q, rho + c * nw, lb ? lb + c * nr : NULL, gw ? gw + c * nw : NULL, gv ? gv + c * nw : NULL,
                         ga ? ga + c * na : NULL);
    }
  }
  if (!mu) {
    return MBG_OK;
  }
  linearize_velocities(q);
  for (size_t c = 0; c < (size_t)ncol; c++) {
    pull_velocities(q, mu + c * nw, gw ? gw + c * nw : NULL, gv ? gv + c * nw : NULL, ga ? ga + c * na : NULL);
  }
done:
  return err;
}
