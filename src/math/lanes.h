/* math: columns side by side. A lane holds one number of each of MBG__LANES columns (directions, or cotangents).
   Kernels with small matrices of the linearization, which all columns share, run over lanes in vector instructions. The
   order of operations is fixed and none are fused, so that bits do not depend on the width of the processor's vectors.
   In the twin a lane is one number.

   Names: l3_ l6_ vectors of lanes, otherwise as in vec.h. Lanes go by reference. */
#ifndef MBG_MATH_LANES_H
#define MBG_MATH_LANES_H

#include "math/se3.h"

#ifdef MBG_COMPLEX
enum { MBG__LANES = 1 };
typedef real lane;
#elif defined(MBG_ENSEMBLE)
enum { MBG__LANES = 4 };
struct lane {
  real of[4];
};
#define MBG__OPERATOR(op)                                                                                              \
  static inline lane operator op(const lane &a, const lane &b) {                                                       \
    return lane{a.of[0] op b.of[0], a.of[1] op b.of[1], a.of[2] op b.of[2], a.of[3] op b.of[3]};                       \
  }                                                                                                                    \
  static inline lane operator op(const real &a, const lane &b) {                                                       \
    return lane{a op b.of[0], a op b.of[1], a op b.of[2], a op b.of[3]};                                               \
  }                                                                                                                    \
  static inline lane operator op(const lane &a, const real &b) {                                                       \
    return lane{a.of[0] op b, a.of[1] op b, a.of[2] op b, a.of[3] op b};                                               \
  }                                                                                                                    \
  static inline lane &operator op##=(lane &a, const lane &b) { return a = a op b; }                                    \
  static inline lane &operator op##=(lane &a, const real &b) { return a = a op b; }
MBG__OPERATOR(+)
MBG__OPERATOR(-)
MBG__OPERATOR(*)
MBG__OPERATOR(/)
#undef MBG__OPERATOR
static inline lane operator-(const lane &a) { return lane{-a.of[0], -a.of[1], -a.of[2], -a.of[3]}; }
#else
enum { MBG__LANES = 4 };
typedef real lane __attribute__((vector_size(32), aligned(8)));
#endif

typedef lane lane6[6];

/* column q of a lane */
static inline real lane_get(const lane *x, int q) { return ((const real *)x)[q]; }
static inline void lane_set(lane *x, int q, real value) { ((real *)x)[q] = value; }

static inline void ln_zero(int n, lane *out) {
  for (int i = 0; i < n; i++) {
    out[i] = (lane){0};
  }
}

static inline void l6_zero(lane out[6]) {
  const lane zero = {0};
  out[0] = out[1] = out[2] = out[3] = out[4] = out[5] = zero;
}

static inline void l6_copy(lane out[6], const lane a[6]) {
  for (int i = 0; i < 6; i++) {
    out[i] = a[i];
  }
}

static inline void l6_add(lane out[6], const lane a[6], const lane b[6]) {
  for (int i = 0; i < 6; i++) {
    out[i] = a[i] + b[i];
  }
}

static inline void l6_sub(lane out[6], const lane a[6], const lane b[6]) {
  for (int i = 0; i < 6; i++) {
    out[i] = a[i] - b[i];
  }
}

static inline void l6_negate(lane out[6], const lane a[6]) {
  for (int i = 0; i < 6; i++) {
    out[i] = -a[i];
  }
}

static inline void l6_accumulate(lane out[6], const lane a[6]) {
  for (int i = 0; i < 6; i++) {
    out[i] += a[i];
  }
}

static inline void l6_subtract(lane out[6], const lane a[6]) {
  for (int i = 0; i < 6; i++) {
    out[i] -= a[i];
  }
}

/* out += s a, s different in each column */
static inline void l6_axpy(lane out[6], const lane *s, const real a[6]) {
  for (int i = 0; i < 6; i++) {
    out[i] += *s * a[i];
  }
}

/* out = a . b */
static inline void l6_dot(lane *out, const real a[6], const lane b[6]) {
  lane s = (lane){0};
  for (int i = 0; i < 6; i++) {
    s += a[i] * b[i];
  }
  *out = s;
}

static inline void l3_cross(lane out[3], const real a[3], const lane b[3]) {
  const lane x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

static inline void l3_cross_add(lane out[3], const real a[3], const lane b[3]) {
  lane c[3];
  l3_cross(c, a, b);
  for (int i = 0; i < 3; i++) {
    out[i] += c[i];
  }
}

static inline void l3_cross_sub(lane out[3], const real a[3], const lane b[3]) {
  lane c[3];
  l3_cross(c, a, b);
  for (int i = 0; i < 3; i++) {
    out[i] -= c[i];
  }
}

static inline void lm3_mulv(lane out[3], const real A[9], const lane x[3]) {
  lane y[3];
  for (int i = 0; i < 3; i++) {
    y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
  }
  for (int i = 0; i < 3; i++) {
    out[i] = y[i];
  }
}

static inline void lm3_mulv_T(lane out[3], const real A[9], const lane x[3]) {
  lane y[3];
  for (int i = 0; i < 3; i++) {
    y[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
  }
  for (int i = 0; i < 3; i++) {
    out[i] = y[i];
  }
}

static inline void lm6_mulv_T(lane out[6], const real A[36], const lane x[6]) {
  for (int i = 0; i < 6; i++) {
    lane s = A[i] * x[0];
    for (int k = 1; k < 6; k++) {
      s += A[6 * k + i] * x[k];
    }
    out[i] = s;
  }
}

/* out += A x */
static inline void lm6_mulv_add(lane out[6], const real A[36], const lane x[6]) {
  for (int i = 0; i < 6; i++) {
    lane s;
    l6_dot(&s, A + 6 * i, x);
    out[i] += s;
  }
}

/* Ad(H) v, Ad(H^-1) v, Ad(H)^T f, Ad(H^-1)^T f */
static inline void lAd_mul(lane out[6], const mbg__frame *H, const lane v[6]) {
  lm3_mulv(out, H->R, v);
  lm3_mulv(out + 3, H->R, v + 3);
  l3_cross_add(out, H->x, out + 3);
}

static inline void lAdInv_mul(lane out[6], const mbg__frame *H, const lane v[6]) {
  lane U[3] = {v[0], v[1], v[2]};
  l3_cross_sub(U, H->x, v + 3);
  lm3_mulv_T(out, H->R, U);
  lm3_mulv_T(out + 3, H->R, v + 3);
}

static inline void lAdT_mul(lane out[6], const mbg__frame *H, const lane f[6]) {
  lane m[3] = {f[3], f[4], f[5]};
  l3_cross_sub(m, H->x, f);
  lm3_mulv_T(out, H->R, f);
  lm3_mulv_T(out + 3, H->R, m);
}

static inline void lAdInvT_mul(lane out[6], const mbg__frame *H, const lane f[6]) {
  lm3_mulv(out, H->R, f);
  lm3_mulv(out + 3, H->R, f + 3);
  l3_cross_add(out + 3, H->x, out);
}

/* ad(v) w */
static inline void lad_mul(lane out[6], const real v[6], const lane w[6]) {
  l3_cross(out, v + 3, w);
  l3_cross_add(out, v, w + 3);
  l3_cross(out + 3, v + 3, w + 3);
}

/* out += ad(v) w */
static inline void lad_add(lane out[6], const real v[6], const lane w[6]) {
  l3_cross_add(out, v + 3, w);
  l3_cross_add(out, v, w + 3);
  l3_cross_add(out + 3, v + 3, w + 3);
}

static inline void lad_sub(lane out[6], const real v[6], const lane w[6]) {
  l3_cross_sub(out, v + 3, w);
  l3_cross_sub(out, v, w + 3);
  l3_cross_sub(out + 3, v + 3, w + 3);
}

/* out += ad(v)^T f with columns in v */
static inline void lcoad_add(lane out[6], const lane v[6], const real f[6]) {
  l3_cross_add(out, f, v + 3);
  l3_cross_add(out + 3, f, v);
  l3_cross_add(out + 3, f + 3, v + 3);
}

static inline void lcoad_sub(lane out[6], const lane v[6], const real f[6]) {
  l3_cross_sub(out, f, v + 3);
  l3_cross_sub(out + 3, f, v);
  l3_cross_sub(out + 3, f + 3, v + 3);
}

/* ad(v)^T f = -(W x f1, U x f1 + W x f2); the same with columns in v: ad(v)^T f = (f1 x W, f1 x U + f2 x W) */
static inline void ladT_mul(lane out[6], const real v[6], const lane f[6]) {
  lane c[6];
  l3_cross(c, v + 3, f);
  l3_cross(c + 3, v, f);
  l3_cross_add(c + 3, v + 3, f + 3);
  l6_negate(out, c);
}

static inline void lcoad_mul(lane out[6], const lane v[6], const real f[6]) {
  l3_cross(out, f, v + 3);
  l3_cross(out + 3, f, v);
  l3_cross_add(out + 3, f + 3, v + 3);
}

static inline void ladT_add(lane out[6], const real v[6], const lane f[6]) {
  l3_cross_sub(out, v + 3, f);
  l3_cross_sub(out + 3, v, f);
  l3_cross_sub(out + 3, v + 3, f + 3);
}

static inline void ladT_sub(lane out[6], const real v[6], const lane f[6]) {
  l3_cross_add(out, v + 3, f);
  l3_cross_add(out + 3, v, f);
  l3_cross_add(out + 3, v + 3, f + 3);
}

#endif
