/* math: the operators of SE(3) in a plane. A frame is flat when it turns about z and stays at z = 0,

     R = [[c, -s, 0], [s, c, 0], [0, 0, 1]],   x = (x1, x2, 0)

   and a twist, wrench or variation is flat when its components 2, 3 and 4 are 0. Each product takes flat arguments and
   is that of math/se3.h without the terms that are 0. */
#ifndef MBG_MATH_FLAT_H
#define MBG_MATH_FLAT_H

#include "math/se3.h"

#include <stdbool.h>

/* products of turns leave rounding in R_33 */
static inline bool flat_frame(const mbg__frame *H) {
  return H->R[2] == 0 && H->R[5] == 0 && H->R[6] == 0 && H->R[7] == 0 && H->x[2] == 0 && fabs(re(H->R[8]) - 1) < 1e-12;
}

static inline bool flat_vector(const real v[6]) { return v[2] == 0 && v[3] == 0 && v[4] == 0; }

static inline void flat_set(real out[6], real x, real y, real turn) {
  out[0] = x;
  out[1] = y;
  out[2] = out[3] = out[4] = 0;
  out[5] = turn;
}

static inline void flat_axpy(real out[6], real s, const real a[6]) {
  out[0] += s * a[0];
  out[1] += s * a[1];
  out[5] += s * a[5];
}

/* ---------------------------------------------------------------------- frames */

static inline void flat_frame_set(mbg__frame *out, real a, real b, real c, real d, real x, real y) {
  out->R[0] = a;
  out->R[1] = b;
  out->R[3] = c;
  out->R[4] = d;
  out->R[2] = out->R[5] = out->R[6] = out->R[7] = out->x[2] = 0;
  out->R[8] = 1;
  out->x[0] = x;
  out->x[1] = y;
}

/* frame_mul */
static inline void flat_frame_mul(mbg__frame *out, const mbg__frame *A, const mbg__frame *B) {
  const real *a = A->R, *b = B->R;
  flat_frame_set(out, a[0] * b[0] + a[1] * b[3], a[0] * b[1] + a[1] * b[4], a[3] * b[0] + a[4] * b[3],
                 a[3] * b[1] + a[4] * b[4], A->x[0] + a[0] * B->x[0] + a[1] * B->x[1],
                 A->x[1] + a[3] * B->x[0] + a[4] * B->x[1]);
}

/* frame_relative */
static inline void flat_frame_relative(mbg__frame *out, const mbg__frame *A, const mbg__frame *B) {
  const real *a = A->R, *b = B->R, x = B->x[0] - A->x[0], y = B->x[1] - A->x[1];
  flat_frame_set(out, a[0] * b[0] + a[3] * b[3], a[0] * b[1] + a[3] * b[4], a[1] * b[0] + a[4] * b[3],
                 a[1] * b[1] + a[4] * b[4], a[0] * x + a[3] * y, a[1] * x + a[4] * y);
}

/* ---------------------------------------------------------------------- Ad and ad */

/* AdInv_mul */
static inline void flat_AdInv_mul(real out[6], const mbg__frame *H, const real v[6]) {
  const real *R = H->R, x = v[0] - H->x[1] * v[5], y = v[1] + H->x[0] * v[5];
  flat_set(out, R[0] * x + R[3] * y, R[1] * x + R[4] * y, v[5]);
}

/* ad_mul */
static inline void flat_ad_mul(real out[6], const real v[6], const real w[6]) {
  flat_set(out, v[1] * w[5] - v[5] * w[1], v[5] * w[0] - v[0] * w[5], 0);
}

/* adT_mul */
static inline void flat_adT_mul(real out[6], const real v[6], const real f[6]) {
  flat_set(out, f[1] * v[5], -(f[0] * v[5]), f[0] * v[1] - f[1] * v[0]);
}

/* mbg__AdInv_matrix on components 0, 1 and 5, row-major 3 x 3 */
static inline void flat_AdInv_matrix(real A[9], const mbg__frame *H) {
  const real *R = H->R, *x = H->x;
  A[0] = R[0];
  A[1] = R[3];
  A[2] = x[0] * R[3] - x[1] * R[0];
  A[3] = R[1];
  A[4] = R[4];
  A[5] = x[0] * R[4] - x[1] * R[1];
  A[6] = A[7] = 0;
  A[8] = 1;
}

/* AdInvT_mul */
static inline void flat_AdInvT_mul(real out[6], const mbg__frame *H, const real f[6]) {
  const real *R = H->R, x = R[0] * f[0] + R[1] * f[1], y = R[3] * f[0] + R[4] * f[1];
  flat_set(out, x, y, f[5] + (H->x[0] * y - H->x[1] * x));
}

#endif
