/* Tangents of the point with columns in lanes: the products of qr_point_internal.h. Compiled once for every kind of
   vectors. */
#ifndef MBG_FORMULATIONS_QR_QR_COLUMNS_KERNEL_H
#define MBG_FORMULATIONS_QR_QR_COLUMNS_KERNEL_H

#include "formulations/qr/qr_columns.h"
#include "formulations/qr/qr_point_internal.h"
#include "math/dense_lanes.h"

/* x = c full, over free velocities */
static void lanes_free(const mbg__qr_point *q, real c, const lane *full, lane *x) {
  for (int j = 0; j < q->n; j++) {
    x[j] = c * full[q->m->full[j]];
  }
}

static void lanes_kept(const mbg__qr_point *q, const lane *rows, lane *k) {
  for (int i = 0; i < q->r; i++) {
    k[i] = rows[q->rank->kept[i]];
  }
}

/* out = Q [k; h] */
static void lanes_Q(const mbg__qr_point *q, const lane *k, const lane *h, lane *out) {
  for (int i = 0; i < q->r; i++) {
    out[i] = k[i];
  }
  for (int i = 0; i < q->f; i++) {
    out[q->r + i] = h[i];
  }
  householder_mul_lanes(&q->qr, out);
}

/* h = Q2^T y; y is overwritten */
static void lanes_freedoms(const mbg__qr_point *q, lane *y, lane *h) {
  if (few_freedoms(q)) {
    ln_mulv_T(q->n, q->f, q->Q2, y, h);
    return;
  }
  householder_mul_T_lanes(&q->qr, y);
  for (int i = 0; i < q->f; i++) {
    h[i] = y[q->r + i];
  }
}

/* y = M x one column after the other */
static void columns_M(const mbg__qr_point *q, const lane *x, lane *y) {
  const mbg__qr_columns *c = q->columns;
  for (int k = 0; k < c->nc; k++) {
    mbg__qr_columns_give(q->m, k, x, c->column);
    mbg__system_mass_mul(q->sys, c->column, c->column2);
    for (int j = 0; j < q->n; j++) {
      lane_set(&y[j], k, c->column2[q->m->full[j]]);
    }
  }
}

/* y = M x */
static void lanes_M(const mbg__qr_point *q, const lane *x, lane *y) {
  const mbg__qr_columns *c = q->columns;
  if (!c->rigid) {
    columns_M(q, x, y);
    return;
  }
  if (q->n < q->m->nw) {
    ln_zero(q->m->nw, c->full);
  }
  for (int j = 0; j < q->n; j++) {
    c->full[q->m->full[j]] = x[j];
  }
  LANES(mbg__system_mass_lanes)(q->sys, c->full, c->full2);
  lanes_free(q, 1, c->full2, y);
}

/* k = N^T y; y is overwritten */
static void lanes_N_T(const mbg__qr_point *q, lane *y, lane *k) {
  householder_mul_T_lanes(&q->qr, y);
  for (int i = 0; i < q->r; i++) {
    k[i] = y[i];
  }
  householder_solve_lanes(&q->qr, k);
}

/* (T2) da = Q2 h - N r2 with h = (Q2^T M Q2)^-1 Q2^T (M N r2 + r1), in z; r1 = -dr, r2 = dphidd */
static void accelerations(const mbg__qr_point *q, mbg__qr_columns *c) {
  lanes_kept(q, c->phidd, c->k);
  householder_solve_T_lanes(&q->qr, c->k);
  ln_zero(q->f, c->h);
  lanes_Q(q, c->k, c->h, c->y);
  lanes_M(q, c->y, c->z);
  lanes_free(q, -1, c->r, c->s);
  for (int i = 0; i < q->n; i++) {
    c->z[i] += c->s[i];
  }
  lanes_freedoms(q, c->z, c->h);
  cholesky_solve_lanes(&q->Mr, c->h);
  for (int i = 0; i < q->n; i++) {
    c->z[i] = -c->y[i];
  }
  if (few_freedoms(q)) {
    ln_mulv_add(q->n, q->f, q->Q2, c->h, c->z);
    return;
  }
  for (int i = 0; i < q->r; i++) {
    c->k[i] = -c->k[i];
  }
  lanes_Q(q, c->k, c->h, c->z);
}

/* and (T3) dlambda = N^T (r1 - M da), in k */
void LANES(mbg__qr_push_accelerations)(const mbg__qr_point *q, bool multipliers) {
  mbg__qr_columns *c = q->columns;
  accelerations(q, c);
  if (!multipliers) {
    return;
  }
  lanes_M(q, c->z, c->y);
  for (int i = 0; i < q->n; i++) {
    c->y[i] = c->s[i] - c->y[i];
  }
  lanes_N_T(q, c->y, c->k);
}

/* (T1) dv* = P (dv - r3) - N r4 = Q [-R^-T r4; Q2^T (dv - r3)], in z; r3 = d(B^T kappa), r4 = d(phi_t + beta phi) + dB
   v* */
void LANES(mbg__qr_push_velocities)(const mbg__qr_point *q) {
  mbg__qr_columns *c = q->columns;
  for (int j = 0; j < q->n; j++) {
    const int i = q->m->full[j];
    c->x[j] = c->dv[i] - c->r[i];
  }
  lanes_freedoms(q, c->x, c->h);
  for (int i = 0; i < q->r; i++) {
    const int row = q->rank->kept[i];
    c->k[i] = -(c->phid[row] + q->beta * c->phi[row]);
  }
  householder_solve_T_lanes(&q->qr, c->k);
  lanes_Q(q, c->k, c->h, c->z);
}

#endif
