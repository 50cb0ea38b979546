/* curve: splines through points at s = 0, 1, ... and products of functions (theory 8, section 9).

   A spline of degree p is r(s) = sum_j B_j(s) D_j with uniform B-splines B_j; the control points D = C P follow from
   the points P by a matrix C of numbers alone, so that r is linear in the points. Closed splines are periodic; open
   ones are natural: the derivatives of orders (p + 1)/2 to p - 1 vanish at the ends. */
#ifndef MBG_MODEL_CURVE_H
#define MBG_MODEL_CURVE_H

#include "model/model.h"

enum { MBG__CURVE_SAMPLES = 256, MBG__CURVE_DEGREE = 5, MBG__CURVE_POINTS_MAX = 500 };

/* What a signal of a joint on curves is: option 0 of the signal; option 1: 0 the curve of A, 1 that of B. */
#define MBG__CURVE_QUANTITIES "s arc x y z curvature normal"
enum {
  MBG__CURVE_S,
  MBG__CURVE_ARC,
  MBG__CURVE_X,
  MBG__CURVE_Z = MBG__CURVE_X + 2,
  MBG__CURVE_CURVATURE,
  MBG__CURVE_NORMAL
};

/* Number of control points of a spline. */
int mbg__spline_basis(int degree, int npoint, bool closed);
/* C (nbasis x npoint). scratch: for what is needed meanwhile. */
int mbg__spline_matrix(mbg_context *ctx, mbg__arena *scratch, int degree, int npoint, bool closed, double *C);
/* B_j at s and derivatives to third order, B[k][m] of the (degree + 1) control points first, first + 1, ...; indices of
   closed splines run on past the last one and begin again. */
void mbg__spline_at(const mbg__curve *curve, real s, int *first, real B[4][MBG__CURVE_DEGREE + 1]);
/* Control point m of those. */
static inline int mbg__spline_index(const mbg__curve *c, int first, int m) {
  return c->closed ? (first + m) % c->nbasis : first + m;
}

/* A point and its derivatives r[c][k]; D: control points (nbasis x dim), of a spline. */
void mbg__spline_point(const mbg__curve *curve, const real *D, real s, real r[3][4]);

/* s of sample i. */
double mbg__curve_sample(const mbg__curve *curve, int i);

#endif
