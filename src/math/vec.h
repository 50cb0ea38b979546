/* math: vectors and matrices of size 3 and 6, inline.

   Names: v3_ v6_ vectors, m3_ m6_ square matrices (row-major, real[9] and real[36]). `out` comes first and is written,
   never read, unless the comment says `+=`. Products may not alias their output; sums, scalings and copies may.

     mul       out  = A B          mulv        out  = A x
     mul_TN    out  = A^T B        mulv_T      out  = A^T x
     mul_NT    out  = A B^T        mulv_add    out += A x
                                   mulv_T_add  out += A^T x

   `a~` is the cross-product matrix: a~ b = a x b. */
#ifndef MBG_MATH_VEC_H
#define MBG_MATH_VEC_H

#include "base/real.h"

/* ---------------------------------------------------------------------- any size */

static inline void vn_zero(int n, real *out) {
  for (int i = 0; i < n; i++) {
    out[i] = 0;
  }
}

static inline void vn_copy(int n, real *out, const real *a) {
  for (int i = 0; i < n; i++) {
    out[i] = a[i];
  }
}

static inline void vn_add(int n, real *out, const real *a, const real *b) {
  for (int i = 0; i < n; i++) {
    out[i] = a[i] + b[i];
  }
}

static inline void vn_sub(int n, real *out, const real *a, const real *b) {
  for (int i = 0; i < n; i++) {
    out[i] = a[i] - b[i];
  }
}

static inline void vn_scale(int n, real *out, real s, const real *a) {
  for (int i = 0; i < n; i++) {
    out[i] = s * a[i];
  }
}

/* out += s a */
static inline void vn_axpy(int n, real *out, real s, const real *a) {
  for (int i = 0; i < n; i++) {
    out[i] += s * a[i];
  }
}

static inline real vn_dot(int n, const real *a, const real *b) {
  real s = 0;
  for (int i = 0; i < n; i++) {
    s += a[i] * b[i];
  }
  return s;
}

/* the same for long vectors, in four sums side by side: their additions do not wait for each other */
static inline real vn_dot_long(int n, const real *a, const real *b) {
  real s[4] = {0};
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; k++) {
      s[k] += a[i + k] * b[i + k];
    }
  }
  if (i < n) {
    s[0] += a[i] * b[i];
  }
  if (i + 1 < n) {
    s[0] += a[i + 1] * b[i + 1];
  }
  if (i + 2 < n) {
    s[0] += a[i + 2] * b[i + 2];
  }
  return (s[0] + s[1]) + (s[2] + s[3]);
}

/* out = A x and so on for n x n matrices */
static inline void mn_mulv_add(int n, real *out, const real *A, const real *x) {
  for (int i = 0; i < n; i++) {
    out[i] += vn_dot(n, A + n * i, x);
  }
}

static inline void mn_mulv_T_add(int n, real *out, const real *A, const real *x) {
  for (int i = 0; i < n; i++) {
    vn_axpy(n, out, x[i], A + n * i);
  }
}

static inline void mn_mul(int n, real *out, const real *A, const real *B) {
  vn_zero(n * n, out);
  for (int i = 0; i < n; i++) {
    mn_mulv_T_add(n, out + n * i, B, A + n * i);
  }
}

static inline void mn_mul_TN(int n, real *out, const real *A, const real *B) {
  vn_zero(n * n, out);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) {
      vn_axpy(n, out + n * i, A[n * k + i], B + n * k);
    }
  }
}

static inline void mn_mul_NT(int n, real *out, const real *A, const real *B) {
  vn_zero(n * n, out);
  for (int i = 0; i < n; i++) {
    mn_mulv_add(n, out + n * i, B, A + n * i);
  }
}

static inline void mn_transpose(int n, real *out, const real *A) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      out[n * j + i] = A[n * i + j];
    }
  }
}

static inline void mn_identity(int n, real *out) {
  for (int i = 0; i < n * n; i++) {
    out[i] = i % (n + 1) == 0;
  }
}

/* ---------------------------------------------------------------------- 3 */

static inline void v3_zero(real out[3]) { vn_zero(3, out); }
static inline void v3_copy(real out[3], const real a[3]) { vn_copy(3, out, a); }
static inline void v3_add(real out[3], const real a[3], const real b[3]) { vn_add(3, out, a, b); }
static inline void v3_sub(real out[3], const real a[3], const real b[3]) { vn_sub(3, out, a, b); }
static inline void v3_scale(real out[3], real s, const real a[3]) { vn_scale(3, out, s, a); }
static inline void v3_axpy(real out[3], real s, const real a[3]) { vn_axpy(3, out, s, a); }
static inline real v3_dot(const real a[3], const real b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static inline real v3_norm(const real a[3]) { return r_sqrt(v3_dot(a, a)); } /* twin: not at a = 0 */

/* out = a x b */
static inline void v3_cross(real out[3], const real a[3], const real b[3]) {
  const real x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

/* out += s a x b */
static inline void v3_cross_add(real out[3], real s, const real a[3], const real b[3]) {
  const real x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] += s * x;
  out[1] += s * y;
  out[2] += s * z;
}

static inline void m3_zero(real out[9]) { vn_zero(9, out); }
static inline void m3_identity(real out[9]) { mn_identity(3, out); }
static inline void m3_copy(real out[9], const real A[9]) { vn_copy(9, out, A); }
static inline void m3_add(real out[9], const real A[9], const real B[9]) { vn_add(9, out, A, B); }
static inline void m3_sub(real out[9], const real A[9], const real B[9]) { vn_sub(9, out, A, B); }
static inline void m3_scale(real out[9], real s, const real A[9]) { vn_scale(9, out, s, A); }
static inline void m3_axpy(real out[9], real s, const real A[9]) { vn_axpy(9, out, s, A); }
static inline void m3_transpose(real out[9], const real A[9]) { mn_transpose(3, out, A); }
static inline void m3_mul_NT(real out[9], const real A[9], const real B[9]) { mn_mul_NT(3, out, A, B); }
static inline void m3_mulv_add(real out[3], const real A[9], const real x[3]) { mn_mulv_add(3, out, A, x); }
static inline void m3_mulv_T_add(real out[3], const real A[9], const real x[3]) { mn_mulv_T_add(3, out, A, x); }

/* products are summed in registers */
static inline void m3_mul(real out[9], const real A[9], const real B[9]) {
  real X[9];
  mn_mul(3, X, A, B);
  m3_copy(out, X);
}

static inline void m3_mul_TN(real out[9], const real A[9], const real B[9]) {
  real X[9];
  mn_mul_TN(3, X, A, B);
  m3_copy(out, X);
}

static inline void m3_mulv(real out[3], const real A[9], const real x[3]) {
  real y[3] = {0};
  m3_mulv_add(y, A, x);
  v3_copy(out, y);
}

static inline void m3_mulv_T(real out[3], const real A[9], const real x[3]) {
  real y[3] = {0};
  m3_mulv_T_add(y, A, x);
  v3_copy(out, y);
}

static inline real m3_det(const real A[9]) {
  return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
}

/* out += s a~ */
static inline void m3_skew_add(real out[9], real s, const real a[3]) {
  out[1] -= s * a[2];
  out[2] += s * a[1];
  out[3] += s * a[2];
  out[5] -= s * a[0];
  out[6] -= s * a[1];
  out[7] += s * a[0];
}

/* out = a~ */
static inline void m3_skew(real out[9], const real a[3]) {
  m3_zero(out);
  m3_skew_add(out, 1, a);
}

/* out += s a b^T */
static inline void m3_outer_add(real out[9], real s, const real a[3], const real b[3]) {
  for (int i = 0; i < 3; i++) {
    vn_axpy(3, out + 3 * i, s * a[i], b);
  }
}

/* out = a~ B, column by column a x b */
static inline void m3_skew_mul(real out[9], const real a[3], const real B[9]) {
  for (int j = 0; j < 3; j++) {
    out[j] = a[1] * B[6 + j] - a[2] * B[3 + j];
    out[3 + j] = a[2] * B[j] - a[0] * B[6 + j];
    out[6 + j] = a[0] * B[3 + j] - a[1] * B[j];
  }
}

/* out += s (a~ b~ + b~ a~) = s (a b^T + b a^T - 2 (a.b) I) */
static inline void m3_skew_square_add(real out[9], real s, const real a[3], const real b[3]) {
  const real ab = v3_dot(a, b);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] += s * (a[i] * b[j] + b[i] * a[j]);
    }
    out[4 * i] -= 2 * s * ab;
  }
}

/* ---------------------------------------------------------------------- 6 */

static inline void v6_zero(real out[6]) { vn_zero(6, out); }
static inline void v6_copy(real out[6], const real a[6]) { vn_copy(6, out, a); }
static inline void v6_add(real out[6], const real a[6], const real b[6]) { vn_add(6, out, a, b); }
static inline void v6_sub(real out[6], const real a[6], const real b[6]) { vn_sub(6, out, a, b); }
static inline void v6_scale(real out[6], real s, const real a[6]) { vn_scale(6, out, s, a); }
static inline void v6_axpy(real out[6], real s, const real a[6]) { vn_axpy(6, out, s, a); }
static inline real v6_dot(const real a[6], const real b[6]) { return vn_dot(6, a, b); }

static inline void m6_zero(real out[36]) { vn_zero(36, out); }
static inline void m6_identity(real out[36]) { mn_identity(6, out); }
static inline void m6_copy(real out[36], const real A[36]) { vn_copy(36, out, A); }
static inline void m6_add(real out[36], const real A[36], const real B[36]) { vn_add(36, out, A, B); }
static inline void m6_sub(real out[36], const real A[36], const real B[36]) { vn_sub(36, out, A, B); }
static inline void m6_scale(real out[36], real s, const real A[36]) { vn_scale(36, out, s, A); }
static inline void m6_axpy(real out[36], real s, const real A[36]) { vn_axpy(36, out, s, A); }
static inline void m6_transpose(real out[36], const real A[36]) { mn_transpose(6, out, A); }

/* products of 6x6 matrices: a row at a time, summed in registers */
static inline void m6_mul(real out[36], const real A[36], const real B[36]) {
  for (int i = 0; i < 6; i++) {
    real x[6] = {0};
    mn_mulv_T_add(6, x, B, A + 6 * i);
    v6_copy(out + 6 * i, x);
  }
}

static inline void m6_mul_TN(real out[36], const real A[36], const real B[36]) {
  for (int i = 0; i < 6; i++) {
    real x[6] = {0};
    for (int k = 0; k < 6; k++) {
      v6_axpy(x, A[6 * k + i], B + 6 * k);
    }
    v6_copy(out + 6 * i, x);
  }
}

static inline void m6_mul_NT(real out[36], const real A[36], const real B[36]) { mn_mul_NT(6, out, A, B); }
static inline void m6_mulv_add(real out[6], const real A[36], const real x[6]) { mn_mulv_add(6, out, A, x); }

static inline void m6_mulv_T_add(real out[6], const real A[36], const real x[6]) {
  real y[6];
  v6_copy(y, out);
  mn_mulv_T_add(6, y, A, x);
  v6_copy(out, y);
}

static inline void m6_mulv(real out[6], const real A[36], const real x[6]) {
  real y[6] = {0};
  m6_mulv_add(y, A, x);
  v6_copy(out, y);
}

static inline void m6_mulv_T(real out[6], const real A[36], const real x[6]) {
  real y[6] = {0};
  m6_mulv_T_add(y, A, x);
  v6_copy(out, y);
}

/* out += s a b^T */
static inline void m6_outer_add(real out[36], real s, const real a[6], const real b[6]) {
  for (int i = 0; i < 6; i++) {
    vn_axpy(6, out + 6 * i, s * a[i], b);
  }
}

/* 3x3 block (i, j), i and j 0 or 1:  out_ij = s B,  out_ij += s B */
static inline void m6_set_block(real out[36], int i, int j, real s, const real B[9]) {
  for (int k = 0; k < 3; k++) {
    vn_scale(3, out + 6 * (3 * i + k) + 3 * j, s, B + 3 * k);
  }
}

static inline void m6_add_block(real out[36], int i, int j, real s, const real B[9]) {
  for (int k = 0; k < 3; k++) {
    vn_axpy(3, out + 6 * (3 * i + k) + 3 * j, s, B + 3 * k);
  }
}

#endif
