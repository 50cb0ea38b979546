/* Shared by qr_point.c and qr_point_products.c: the point, and its products with N, P, Y and M. */
#ifndef MBG_FORMULATIONS_QR_QR_POINT_INTERNAL_H
#define MBG_FORMULATIONS_QR_QR_POINT_INTERNAL_H

#include "formulations/qr/qr_point.h"
#include "math/dense.h"
#include "math/householder.h"
#include "system/plane.h"

#include <string.h>

/* last state of the system: (H, v), (H, v, a, lambda), the same with derivatives, (H, v*) with kappa */
typedef enum { AT_NOTHING, AT_STATE, AT_FULL, AT_FULL_LINEAR, AT_VELOCITIES } mbg__qr_point_place;

struct mbg__qr_point {
  const mbg_model *m;
  mbg__system *sys;
  const mbg__rank *rank;
  double beta;
  mbg__plane *plane; /* NULL: the model is not one in a plane */
  bool flat;         /* the point is evaluated there: the system is somewhere else */
  mbg__qr_point_place at;
  int n, r, f;                /* free velocities, kept rows, freedoms */
  mbg__householder qr;        /* B^T of the kept rows                              (n x r) */
  mbg__cholesky Mr;           /* Q2^T M Q2                                         (f x f) */
  real *kept;                 /* factors, drop, F, v* and a: one block */
  real *Q2, *MQ2;             /*                                                   (n x f) */
  real *B;                    /* values by the pattern of the system */
  int *first, *end;           /* of each row: its first free velocity, the one after its last  (nrow) */
  int *kept_first, *kept_end; /* of the kept rows                                   (r) */
  /* the point */
  real t;
  mbg__frame *H;
  real *v, *v_star, *a; /*                                                   (nw) */
  int *turns;
  bool rates;           /* the system is at a as well */
  bool solved;          /* lambda and kappa belong to the point */
  real *lambda, *kappa; /* core's sign; kappa of (F4)                        (nrow) */
  real *phi, *phid;     /*                                                   (nrow) */
  real *gamma;          /*                                                   (nrow) */
  double independence;  /* smallest |R_kk| relative to its row */
  int dependent;        /* that row */
  real *F;              /* f of theory 1                                     (nw) */
  real *drop;           /* R^-T (phid + beta phi): v - v* = Q1 of it         (r) */
  /* scratch */
  real *x, *y, *z, *s; /*                                                   (n) */
  real *k;             /* kept rows                                         (r) */
  real *h;             /* freedoms                                          (f) */
  struct mbg__qr_columns *columns;
  struct mbg__qr_plane *lanes;     /* NULL: points in a plane one vector after the other */
  real *full, *full2, *row, *row2; /*                                         (nw, nw, nrow, nrow) */
};

/* (F4), (F6): signals and derivatives need them, steps do not */
void mbg__qr_point_multipliers(mbg__qr_point *q);

/* ---------------------------------------------------------------------- vectors */

static inline void free_of(const mbg__qr_point *q, const real *full, real *x) { mbg__to_free(q->m, 1, full, x); }

static inline void full_of(const mbg__qr_point *q, const real *x, real *full) {
  memset(full, 0, (size_t)q->m->nw * sizeof(real));
  mbg__to_full(q->m, 1, x, full);
}

static inline void kept_of(const mbg__qr_point *q, const real *rows, real *k) {
  for (int i = 0; i < q->r; i++) {
    k[i] = rows[q->rank->kept[i]];
  }
}

static inline void rows_of(const mbg__qr_point *q, const real *k, real *rows) {
  memset(rows, 0, (size_t)q->m->nrow * sizeof(real));
  for (int i = 0; i < q->r; i++) {
    rows[q->rank->kept[i]] = k[i];
  }
}

/* ---------------------------------------------------------------------- N, P, Y, M */

/* out = N k (n from r); k becomes R^-T k */
static inline void mul_N(const mbg__qr_point *q, real *k, real *out) {
  mbg__householder_solve_T(&q->qr, k);
  memset(out, 0, (size_t)q->n * sizeof(real));
  memcpy(out, k, (size_t)q->r * sizeof(real));
  mbg__householder_mul(&q->qr, out, 1);
}

/* k = N^T y; y is overwritten */
static inline void mul_N_T(const mbg__qr_point *q, real *y, real *k) {
  mbg__householder_mul_T(&q->qr, y, 1);
  memcpy(k, y, (size_t)q->r * sizeof(real));
  mbg__householder_solve(&q->qr, k);
}

/* y <- Y y */
static inline void mul_Y(const mbg__qr_point *q, real *y) {
  mbg__householder_mul_T(&q->qr, y, 1);
  memset(y, 0, (size_t)q->r * sizeof(real));
  mbg__cholesky_solve(&q->Mr, y + q->r, 1);
  mbg__householder_mul(&q->qr, y, 1);
}

/* y = M x over free velocities; uses `full`, `full2` */
static inline void mul_M(const mbg__qr_point *q, const real *x, real *y) {
  if (q->flat) {
    mbg__plane_mass_mul(q->plane, x, y);
    return;
  }
  full_of(q, x, q->full);
  mbg__system_mass_mul(q->sys, q->full, q->full2);
  free_of(q, q->full2, y);
}

/* h = Q2^T y */
static inline void to_freedoms(const mbg__qr_point *q, const real *y, real *h) {
  for (int k = 0; k < q->f; k++) {
    h[k] = vn_dot(q->n, q->Q2 + (size_t)k * (size_t)q->n, y);
  }
}

/* y = Q2 h */
static inline void from_freedoms(const mbg__qr_point *q, const real *h, real *y) {
  vn_zero(q->n, y);
  for (int k = 0; k < q->f; k++) {
    vn_axpy(q->n, y, h[k], q->Q2 + (size_t)k * (size_t)q->n);
  }
}

/* fewer freedoms than rows: products with Q2 cost less than the reflections */
static inline bool few_freedoms(const mbg__qr_point *q) { return q->f < q->r; }

/* out = Y y */
static inline void apply_Y(const mbg__qr_point *q, const real *y, real *out) {
  if (few_freedoms(q)) {
    to_freedoms(q, y, q->h);
    mbg__cholesky_solve(&q->Mr, q->h, 1);
    from_freedoms(q, q->h, out);
  } else {
    vn_copy(q->n, out, y);
    mul_Y(q, out);
  }
}

/* out = P y, k = N^T y; y is overwritten */
static inline void apply_P_N(const mbg__qr_point *q, real *y, real *out, real *k) {
  if (few_freedoms(q)) {
    to_freedoms(q, y, q->h);
    from_freedoms(q, q->h, out);
  }
  mbg__householder_mul_T(&q->qr, y, 1);
  memcpy(k, y, (size_t)q->r * sizeof(real));
  mbg__householder_solve(&q->qr, k);
  if (!few_freedoms(q)) {
    vn_copy(q->n, out, y);
    vn_zero(q->r, out);
    mbg__householder_mul(&q->qr, out, 1);
  }
}

#endif
