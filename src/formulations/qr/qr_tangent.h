/* Columns of direct differentiation, shared by qr_tangent.c and qr_tangent_events.c. */
#ifndef MBG_FORMULATIONS_QR_QR_TANGENT_H
#define MBG_FORMULATIONS_QR_QR_TANGENT_H

#include "formulations/qr/qr_columns.h"
#include "formulations/qr/qr_work.h"
#include "trajectory/ode_tangent.h"

/* A column is (w, dv), or with events dz: the derivative of the steps themselves, whose lengths then move. */
typedef struct {
  mbg__formulation_work *w;
  mbg__ode_tangent d; /* np: columns; x: state and columns */
  int n, column;      /* entries of the state and of a column */
  real *da;           /* attributes by columns                 (np x na) */
  real *W, *dv;       /*                                        (np x nw) */
  real *dv_star, *d_a;
  real *dlambda;         /*                                            (np x nrow) */
  int nw;                /* frames that are handed over: nw, or 0 */
  double *atol;          /*                                            (n + np column) */
  double *size;          /* largest w and dv of each column so far     (2 np) */
  bool full;             /* used signals need accelerations or reactions */
  bool pulled;           /* they are so few that the point is transposed for each, instead of carrying all columns */
  real *dy_of;           /* gradient of a signal: frames, twists, rates, multipliers, attributes (3 nw + nrow + na) */
  mbg__qr_varied varied; /* attributes that columns vary */
  int part, point;       /* integrals by stages: step of the run and point in it that come next */
  int last;              /* ... the last node of that step */
  mbg__design_columns columns;
  real *W0;        /* events: of the frames at the start       (np x nw) */
  real *guard_row; /* events: by frames, twists, attributes    (2 nw + na) */
} mbg__qr_tangents;

/* W and dv of all columns at x; events: attributes by time and impulses. */
void mbg__qr_tangent_read(mbg__qr_tangents *s, const real *x);

/* qr_tangent_events.c. After the arrays are there: the start of z and columns; the run. */
int mbg__qr_tangent_start_events(mbg_context *ctx, mbg__arena *arena, mbg__qr_tangents *s);
int mbg__qr_tangent_events(mbg_context *ctx, mbg__qr_tangents *s, mbg__rk_rhs rhs,
                           int (*node)(mbg_context *ctx, void *user, double t, const real *x, bool inside));

#endif
