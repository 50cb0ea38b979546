/* math: products of columns side by side (math/lanes.h) with matrices that they share: Q and R of math/householder.h,
   factors of Cholesky, dense matrices by columns. Plain loops whatever the size: a column has the same bits beside any
   others and on every processor. */
#ifndef MBG_MATH_DENSE_LANES_H
#define MBG_MATH_DENSE_LANES_H

#include "math/dense.h"
#include "math/householder.h"
#include "math/lanes.h"

/* ---------------------------------------------------------------------- vectors */

/* out = a . x, in two sums side by side */
static inline void ln_dot(int n, lane *out, const real *restrict a, const lane *restrict x) {
  lane s = {0}, t = {0};
  int i = 0;
  for (; i + 2 <= n; i += 2) {
    s += a[i] * x[i];
    t += a[i + 1] * x[i + 1];
  }
  if (i < n) {
    s += a[i] * x[i];
  }
  *out = s + t;
}

/* x -= s a */
static inline void ln_subtract(int n, lane *restrict x, const lane *s, const real *restrict a) {
  const lane c = *s;
  int i = 0;
  for (; i + 2 <= n; i += 2) {
    x[i] -= a[i] * c;
    x[i + 1] -= a[i + 1] * c;
  }
  if (i < n) {
    x[i] -= a[i] * c;
  }
}

/* ---------------------------------------------------------------------- dense matrices (m x n) */

/* out = A^T x: four entries of out from one pass over x */
static inline void ln_mulv_T(int m, int n, const real *restrict A, const lane *restrict x, lane *restrict out) {
  int k = 0;
  for (; k + 4 <= n; k += 4, A += 4 * (size_t)m) {
    const real *a = A, *b = a + m, *c = b + m, *d = c + m;
    lane s[4];
    ln_zero(4, s);
    for (int i = 0; i < m; i++) {
      const lane y = x[i];
      s[0] += a[i] * y;
      s[1] += b[i] * y;
      s[2] += c[i] * y;
      s[3] += d[i] * y;
    }
    for (int j = 0; j < 4; j++) {
      out[k + j] = s[j];
    }
  }
  for (; k < n; k++, A += m) {
    lane s = {0};
    for (int i = 0; i < m; i++) {
      s += A[i] * x[i];
    }
    out[k] = s;
  }
}

/* out += A x: four columns in one pass over out */
static inline void ln_mulv_add(int m, int n, const real *restrict A, const lane *restrict x, lane *restrict out) {
  int k = 0;
  for (; k + 4 <= n; k += 4, A += 4 * (size_t)m) {
    const real *a = A, *b = a + m, *c = b + m, *d = c + m;
    const lane p = x[k], q = x[k + 1], r = x[k + 2], s = x[k + 3];
    for (int i = 0; i < m; i++) {
      out[i] = out[i] + a[i] * p + b[i] * q + c[i] * r + d[i] * s;
    }
  }
  for (; k < n; k++, A += m) {
    const lane p = x[k];
    for (int i = 0; i < m; i++) {
      out[i] += A[i] * p;
    }
  }
}

/* ---------------------------------------------------------------------- Q R */

/* x <- x - tau (1, u) (1, u).x */
static inline void reflect_below(int below, real tau, const real *restrict u, lane *restrict x) {
  lane d;
  ln_dot(below, &d, u, x + 1);
  d = tau * (x[0] + d);
  x[0] -= d;
  ln_subtract(below, x + 1, &d, u);
}

/* x <- H_k x; short reflectors, as joints between neighbours make, have code without loops */
static inline void reflect_lanes(const mbg__householder *q, int k, lane *x) {
  const real *u = q->A + (size_t)k * (size_t)q->m + k + 1, tau = q->tau[k];
  const int below = q->end[k] - k - 1;
  switch (below) {
  case 1:
    reflect_below(1, tau, u, x + k);
    break;
  case 2:
    reflect_below(2, tau, u, x + k);
    break;
  case 3:
    reflect_below(3, tau, u, x + k);
    break;
  case 4:
    reflect_below(4, tau, u, x + k);
    break;
  case 5:
    reflect_below(5, tau, u, x + k);
    break;
  default:
    reflect_below(below, tau, u, x + k);
  }
}

/* x <- Q x and x <- Q^T x (m) */
static inline void householder_mul_lanes(const mbg__householder *q, lane *x) {
  for (int k = q->n - 1; k >= 0; k--) {
    reflect_lanes(q, k, x);
  }
}

static inline void householder_mul_T_lanes(const mbg__householder *q, lane *x) {
  for (int k = 0; k < q->n; k++) {
    reflect_lanes(q, k, x);
  }
}

/* x <- R^-1 x and x <- R^-T x (n) */
static inline void householder_solve_lanes(const mbg__householder *q, lane *x) {
  for (int j = q->n - 1; j >= 0; j--) {
    const real *a = q->A + (size_t)j * (size_t)q->m;
    const int first = q->first[j];
    x[j] /= a[j];
    ln_subtract(j - first, x + first, &x[j], a + first);
  }
}

static inline void householder_solve_T_lanes(const mbg__householder *q, lane *x) {
  for (int j = 0; j < q->n; j++) {
    const real *a = q->A + (size_t)j * (size_t)q->m;
    const int first = q->first[j];
    lane s;
    ln_dot(j - first, &s, a + first, x + first);
    x[j] = (x[j] - s) / a[j];
  }
}

/* ---------------------------------------------------------------------- Cholesky */

/* x <- (L L^T)^-1 x */
static inline void cholesky_solve_lanes(const mbg__cholesky *l, lane *x) {
  const size_t n = (size_t)l->n;
  for (int j = 0; j < l->n; j++) {
    const real *a = l->A + (size_t)j * n;
    x[j] /= a[j];
    ln_subtract(l->n - j - 1, x + j + 1, &x[j], a + j + 1);
  }
  for (int j = l->n - 1; j >= 0; j--) {
    const real *a = l->A + (size_t)j * n;
    lane s;
    ln_dot(l->n - j - 1, &s, a + j + 1, x + j + 1);
    x[j] = (x[j] - s) / a[j];
  }
}

#endif
