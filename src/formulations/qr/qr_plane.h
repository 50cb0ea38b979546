/* Points of models in a plane whose factors are small: vectors that go through the same factors do so side by side. */
#ifndef MBG_FORMULATIONS_QR_QR_PLANE_H
#define MBG_FORMULATIONS_QR_QR_PLANE_H

#include "formulations/qr/qr_point_internal.h"
#include "math/lanes.h"

enum { MBG__QR_SIDE = 4 }; /* columns of a pull at a time: two criteria, or multipliers and one criterion */

typedef struct mbg__qr_plane {
  bool wide;        /* vectors of the processor */
  const real *mass; /* by bodies                                    (9 nbody) */
  lane *x, *y;      /* columns                                      (groups x n) */
  lane *z;          /*                                              (n) */
  lane *h;          /* of freedoms                                  (f x groups) */
} mbg__qr_plane;

/* groups that hold so many columns */
static inline int columns_groups(int count) { return (count + MBG__LANES - 1) / MBG__LANES; }

/* column c of columns with n entries: entry j is [j * MBG__LANES] */
static inline real *column_of(lane *x, int n, int c) { return (real *)&x[c / MBG__LANES * n] + c % MBG__LANES; }

/* q->lanes: NULL where vectors one after the other, or LAPACK, cost less. Memory in the arena. */
int mbg__qr_plane_create(mbg_context *ctx, mbg__arena *arena, mbg__qr_point *q);
/* After the factors of B: Q2, Mr, drop, and h = Q2^T (f + M N gamma). */
void mbg__qr_plane_begin(mbg__qr_point *q);
/* After the factors of Mr: v* and a. */
void mbg__qr_plane_finish(mbg__qr_point *q);
/* mbg__qr_point_pull_in_plane */
void mbg__qr_plane_pull(mbg__qr_point *q, int ncol, const real *mu, const real *rho, real *gw, real *gv, real *ga);

typedef void mbg__qr_plane_columns_kernel(mbg__qr_point *q);
mbg__qr_plane_columns_kernel mbg__qr_plane_columns, mbg__qr_plane_columns_avx2;
typedef void mbg__qr_plane_rows_kernel(mbg__qr_point *q, int count, bool multipliers);
mbg__qr_plane_rows_kernel mbg__qr_plane_rows, mbg__qr_plane_rows_avx2;

#endif
