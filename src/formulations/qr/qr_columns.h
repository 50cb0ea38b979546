/* Columns of direct differentiation, up to MBG__LANES side by side: changes of the equations in their directions, and
   what the factors of the point make of them. */
#ifndef MBG_FORMULATIONS_QR_QR_COLUMNS_H
#define MBG_FORMULATIONS_QR_QR_COLUMNS_H

#include "formulations/qr/qr_point.h"
#include "system/system_lanes.h"

/* Attributes that columns vary, by blocks of MBG__LANES columns: others are 0 in all pushes. */
struct mbg__qr_varied {
  int nblock;
  mbg__lanes_varied *block;
};

/* Of ncol columns da (na) each, and in all of them those of `always` (NULL: none). Memory in the arena. */
int mbg__qr_varied_make(mbg_context *ctx, mbg__arena *arena, int na, int ncol, const real *da, const bool *always,
                        mbg__qr_varied *out);

typedef struct mbg__qr_columns {
  mbg__lanes_block *block;
  bool rigid, wide;             /* M by lanes; vectors of the processor */
  const mbg__qr_varied *varied; /* NULL: not known */
  int nc;                       /* columns at hand */
  lane *r, *phi, *phid, *phidd; /* changes                              (nw), (nrow) */
  lane *dv;                     /* directions of velocities             (nw) */
  lane *x, *y, *z, *s;          /* z: results                           (n) */
  lane *k;                      /* of kept rows; results                (r) */
  lane *h;                      /* of freedoms                          (f) */
  lane *full, *full2;           /*                                      (nw) */
  real *column, *column2;       /*                                      (nw) */
} mbg__qr_columns;

int mbg__qr_columns_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, int n, int r,
                           mbg__qr_columns **out);

/* Changes of the columns c ... of ncol, in the directions w, dv, da (nw, nw, na a column; da may be NULL) at the point
   where the system is linearized: r and phidd; of velocities alone: r, phid and phi, and dv as it is. */
void mbg__qr_columns_accelerations(mbg__qr_columns *x, mbg__system *sys, int c, int ncol, const real *w, const real *dv,
                                   const real *da);
void mbg__qr_columns_velocities(mbg__qr_columns *x, mbg__system *sys, int c, int ncol, const real *w, const real *dv,
                                const real *da);

/* Column q of free velocities x, or of kept rows, into a full vector (nw), or rows (nrow). */
void mbg__qr_columns_give(const mbg_model *m, int q, const lane *x, real *full);
void mbg__qr_columns_give_rows(const mbg_model *m, int nkept, const int *kept, int q, const lane *k, real *rows);

/* From the changes: da (T2) in z and, if wanted, dlambda (T3) in k; dv* (T1) in z. */
void mbg__qr_columns_solve(const mbg__qr_point *q, bool multipliers);
void mbg__qr_columns_project(const mbg__qr_point *q);
typedef void mbg__qr_accelerations_kernel(const mbg__qr_point *q, bool multipliers);
mbg__qr_accelerations_kernel mbg__qr_push_accelerations, mbg__qr_push_accelerations_avx2;
typedef void mbg__qr_velocities_kernel(const mbg__qr_point *q);
mbg__qr_velocities_kernel mbg__qr_push_velocities, mbg__qr_push_velocities_avx2;

#endif
