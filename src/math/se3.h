/* math: frames, twists and the operators of SE(3).

   A frame H = (R, x) maps body coordinates to world coordinates, R row-major. A twist, a variation and an increment are
   real[6] = (U, W), translation first, in body axes; a wrench is dual to a twist: (force, moment). Variations are
   left-trivialised, dH = H w~. Formulas: theory 4, section 1.

     Ad(H) = [[R, x~R], [0, R]]        Ad(H^-1) = [[R^T, -R^T x~], [0, R^T]]        ad(v) = [[W~, U~], [0, W~]]

   Outputs may not alias inputs. Everything compiles for real = double and for the complex twin. */
#ifndef MBG_MATH_SE3_H
#define MBG_MATH_SE3_H

#include "math/vec.h"

typedef struct {
  real R[9]; /* axes of the frame as columns, row-major */
  real x[3]; /* origin */
} mbg__frame;

/* ---------------------------------------------------------------------- frames */

static inline void frame_identity(mbg__frame *out) {
  m3_identity(out->R);
  v3_zero(out->x);
}

/* out = A B = (R_A R_B, x_A + R_A x_B) */
static inline void frame_mul(mbg__frame *out, const mbg__frame *A, const mbg__frame *B) {
  real x[3];
  v3_copy(x, A->x);
  m3_mulv_add(x, A->R, B->x);
  m3_mul(out->R, A->R, B->R);
  v3_copy(out->x, x);
}

/* out = A^-1 = (R^T, -R^T x) */
static inline void frame_inv(mbg__frame *out, const mbg__frame *A) {
  m3_transpose(out->R, A->R);
  m3_mulv_T(out->x, A->R, A->x);
  v3_scale(out->x, -1, out->x);
}

/* out = A^-1 B = (R_A^T R_B, R_A^T (x_B - x_A)); the difference first, so that far from the origin nothing is lost */
static inline void frame_relative(mbg__frame *out, const mbg__frame *A, const mbg__frame *B) {
  real d[3];
  v3_sub(d, B->x, A->x);
  m3_mul_TN(out->R, A->R, B->R);
  m3_mulv_T(out->x, A->R, d);
}

/* out = x + R a: the point a of the frame in world coordinates */
static inline void frame_point(real out[3], const mbg__frame *H, const real a[3]) {
  v3_copy(out, H->x);
  m3_mulv_add(out, H->R, a);
}

/* out = R^T (p - x): the world point p in the frame */
static inline void frame_point_inv(real out[3], const mbg__frame *H, const real p[3]) {
  real d[3];
  v3_sub(d, p, H->x);
  m3_mulv_T(out, H->R, d);
}

/* ---------------------------------------------------------------------- Ad and ad */

/* Ad(H) v = (R U + x x R W, R W) */
static inline void Ad_mul(real out[6], const mbg__frame *H, const real v[6]) {
  m3_mulv(out, H->R, v);
  m3_mulv(out + 3, H->R, v + 3);
  v3_cross_add(out, 1, H->x, out + 3);
}

/* Ad(H^-1) v = (R^T (U - x x W), R^T W) */
static inline void AdInv_mul(real out[6], const mbg__frame *H, const real v[6]) {
  real U[3] = {v[0], v[1], v[2]};
  v3_cross_add(U, -1, H->x, v + 3);
  m3_mulv_T(out, H->R, U);
  m3_mulv_T(out + 3, H->R, v + 3);
}

/* Ad(H)^T f = (R^T f1, R^T (f2 - x x f1)) */
static inline void AdT_mul(real out[6], const mbg__frame *H, const real f[6]) {
  real m[3] = {f[3], f[4], f[5]};
  v3_cross_add(m, -1, H->x, f);
  m3_mulv_T(out, H->R, f);
  m3_mulv_T(out + 3, H->R, m);
}

/* Ad(H^-1)^T f = (R f1, R f2 + x x R f1): a wrench given in H, in the frame H is given in */
static inline void AdInvT_mul(real out[6], const mbg__frame *H, const real f[6]) {
  m3_mulv(out, H->R, f);
  m3_mulv(out + 3, H->R, f + 3);
  v3_cross_add(out + 3, 1, H->x, out);
}

/* ad(v) w = (W_v x U_w + U_v x W_w, W_v x W_w) */
static inline void ad_mul(real out[6], const real v[6], const real w[6]) {
  v3_cross(out, v + 3, w);
  v3_cross_add(out, 1, v, w + 3);
  v3_cross(out + 3, v + 3, w + 3);
}

/* ad(v)^T f = (f1 x W, f1 x U + f2 x W) */
static inline void adT_mul(real out[6], const real v[6], const real f[6]) {
  v3_cross(out, f, v + 3);
  v3_cross(out + 3, f, v);
  v3_cross_add(out + 3, 1, f + 3, v + 3);
}

/* The same as 6x6 matrices. */
void mbg__Ad_matrix(real A[36], const mbg__frame *H);
void mbg__AdInv_matrix(real A[36], const mbg__frame *H);
void mbg__ad_matrix(real A[36], const real v[6]);
/* C(y) with ad(v)^T y = C(y) v:  C((y1, y2)) = [[0, y1~], [y1~, y2~]] */
void mbg__coad_matrix(real C[36], const real y[6]);

/* ---------------------------------------------------------------------- SO(3) */

/* R = exp(w~) = I + s1 w~ + c2 w~^2, any w */
void mbg__so3_exp(real R[9], const real w[3]);
/* w with exp(w~) = R, |w| <= pi; at pi the sign of the axis is arbitrary and the derivative does not exist */
void mbg__so3_log(real w[3], const real R[9]);
/* T = I - c2 w~ + s3 w~^2:  d exp(w~) = exp(w~) (T dw)~ */
void mbg__so3_tangent(real T[9], const real w[3]);
/* c2 and s3 of T with their first two derivatives by z = w.w: any z >= 0 */
void mbg__so3_tangent_coefs(real z, real c2[3], real s3[3]);
/* T^-1 = I + w~/2 + (1 - gam)/t2 w~^2, |w| < 2 pi */
void mbg__so3_tangent_inv(real Ti[9], const real w[3]);

/* ---------------------------------------------------------------------- SE(3) */

/* H = exp(h~), any h */
void mbg__se3_exp(mbg__frame *H, const real h[6]);
/* h with exp(h~) = H, rotation |w| <= pi (at pi as mbg__so3_log).  log(H exp(dw)) = log H + T^-1(log H) dw */
void mbg__se3_log(real h[6], const mbg__frame *H);
/* out = H exp(h~) */
void mbg__se3_retract(mbg__frame *out, const mbg__frame *H, const real h[6]);

/* T(h):  d exp(h) = exp(h) (T(h) dh)~;  its inverse for |w| < 2 pi, where it has a pole */
void mbg__se3_tangent(real T[36], const real h[6]);
void mbg__se3_tangent_inv(real Ti[36], const real h[6]);

/* Derivatives of products with x or y held fixed, D is 6x6:
     dtangent       d(T(h) x)     = D dh           dtangentT      d(T(h)^T y)   = D dh
     dtangent_inv   d(T^-1(h) y)  = D dh           dtangent_invT  d(T^-T(h) y)  = D dh      (D1 and D2 of the theory) */
void mbg__se3_dtangent(real D[36], const real h[6], const real x[6]);
void mbg__se3_dtangentT(real D[36], const real h[6], const real y[6]);
void mbg__se3_dtangent_inv(real D[36], const real h[6], const real y[6]);
void mbg__se3_dtangent_invT(real D[36], const real h[6], const real y[6]);

#endif
