/* table: tabulated functions y(x) and z(x, y), and the spline basis of control signals.

   Linear:  y = A y_i + B y_{i+1}                                    A = (x_{i+1} - x)/h,  B = (x - x_i)/h
   Cubic:   y = A y_i + B y_{i+1} + h^2/6 ((A^3 - A) m_i + (B^3 - B) m_{i+1}),   m_i = y''(x_i)
   Monotone: y = A^2 (1 + 2 B) y_i + B^2 (1 + 2 A) y_{i+1} + h A B (A s_i - B s_{i+1}),   s_i = y'(x_i)
   with h = x_{i+1} - x_i. The cubic one is the natural C2 spline (m = 0 at both ends). The monotone one (PCHIP of
   Fritsch and Butland, 1984) is C1, rises and falls where its points do and overshoots nowhere.

   A linear table has kinks: at a knot the derivatives are those of the interval to the right (at the last knot, of
   the last interval), its second derivative is 0 everywhere. Outside the knots: an error, the value of the nearest
   end ("hold": derivatives 0), or the tangent of the nearest end ("extend": continues a natural spline C2). */
#ifndef MBG_EXPR_TABLE_H
#define MBG_EXPR_TABLE_H

#include "base/where.h"

typedef enum { MBG__LINEAR, MBG__CUBIC, MBG__MONOTONE } mbg__interpolation;
typedef enum { MBG__OUTSIDE_ERROR, MBG__OUTSIDE_HOLD, MBG__OUTSIDE_EXTEND } mbg__outside;

/* ---------------------------------------------------------------------- basis */

/* The knots of a piecewise function and the factors of its spline system; immutable, lives in an arena. */
typedef struct {
  int n;           /* number of knots, at least 2 */
  const double *x; /* knots, strictly increasing               (n) */
  mbg__interpolation interpolation;
  mbg__outside outside;
  const double *pivot, *lower; /* L D L^T of the spline system; NULL when linear   (n each) */
} mbg__spline;

/* Value and derivatives as sums over the knot data around x:
     y^(k)(x) = w[k][0] y_i + w[k][1] y_{i+1} + w[k][2] m_i + w[k][3] m_{i+1},    k = 0..3
   (w[k][2] = w[k][3] = 0 when linear; the slopes s take the place of m when monotone). In a complex build w carries the
   derivative by x. */
typedef struct {
  int i;
  real w[4][4];
} mbg__spline_weights;

/* Copies the knots into the arena. where and name (what the messages call it, e.g. "table 'k'") are used for errors:
   fewer than two knots, knots that are not finite or do not increase. */
int mbg__spline_create(mbg_context *ctx, mbg__arena *arena, const mbg__where *where, const char *name, int n,
                       const double *x, mbg__interpolation interpolation, mbg__outside outside, mbg__spline **out);

/* Weights at x, by bisection. Returns false when x is outside the knots (or not a number) and that is an error; no
   message is filed. */
bool mbg__spline_weights_at(const mbg__spline *s, real x, mbg__spline_weights *weights);

/* Second derivatives at the knots: m = S y, with S the inverse of the tridiagonal spline system times the second
   differences; y and m have n entries and do not overlap. All zero when linear. */
void mbg__spline_curvature(const mbg__spline *s, const real *y, real *m);

/* Transposed: y_bar += S^T m_bar, for gradients by y. m_bar (n) is used as scratch: its contents are lost. */
void mbg__spline_curvature_T(const mbg__spline *s, real *m_bar, real *y_bar);

/* ---------------------------------------------------------------------- tables */

/* A tabulated function; immutable, lives in an arena. */
typedef struct mbg__table mbg__table;

/* x and y have n entries and are copied, as is the name. */
int mbg__table_create(mbg_context *ctx, mbg__arena *arena, const mbg__where *where, const char *name, int n,
                      const double *x, const double *y, mbg__interpolation interpolation, mbg__outside outside,
                      mbg__table **out);

/* d[0..order] = value and derivatives at x, order 0..3. Returns false outside (see mbg__spline_weights_at). */
bool mbg__table_at(const mbg__table *table, real x, int order, real *d);

/* A table of two arguments: z has n rows of m, z[i m + j] at (x_i, y_j). It is the tensor product of two linear or two
   cubic interpolations. */
int mbg__table_create_grid(mbg_context *ctx, mbg__arena *arena, const mbg__where *where, const char *name, int n,
                           const double *x, int m, const double *y, const double *z, mbg__interpolation interpolation,
                           mbg__outside outside, mbg__table **out);

/* d[p][q] = p-th derivative by x, q-th by y, p + q <= order, order 0..3. Returns false outside. */
bool mbg__table_at_grid(const mbg__table *table, real x, real y, int order, real d[4][4]);

const char *mbg__table_name(const mbg__table *table);
int mbg__table_arguments(const mbg__table *table); /* 1 or 2 */
mbg__interpolation mbg__table_interpolation(const mbg__table *table);
const mbg__spline *mbg__table_knots(const mbg__table *table, int argument); /* knots: n, x */
const double *mbg__table_values(const mbg__table *table);                   /* y (or z) at the knots */

#endif
