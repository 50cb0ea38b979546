/* Sums of stages, MBG__LANES entries at a time. Compiled once for every kind of vectors. */
#ifndef MBG_INTEGRATORS_RK_VECTORS_KERNEL_H
#define MBG_INTEGRATORS_RK_VECTORS_KERNEL_H

#include "integrators/rk_internal.h"
#include "math/lanes.h"

/* out += sum of four terms a_m of_m */
static inline void add_four(int n, real *restrict out, const double a[4], const real *const of[4]) {
  const real *p = of[0], *q = of[1], *r = of[2], *s = of[3];
  int i = 0;
  for (; i + MBG__LANES <= n; i += MBG__LANES) {
    *(lane *)(out + i) = *(lane *)(out + i) + a[0] * *(const lane *)(p + i) + a[1] * *(const lane *)(q + i) +
                         a[2] * *(const lane *)(r + i) + a[3] * *(const lane *)(s + i);
  }
  for (; i < n; i++) {
    out[i] = out[i] + a[0] * p[i] + a[1] * q[i] + a[2] * r[i] + a[3] * s[i];
  }
}

static inline void add_one(int n, real *restrict out, double a, const real *x) {
  int i = 0;
  for (; i + MBG__LANES <= n; i += MBG__LANES) {
    *(lane *)(out + i) += a * *(const lane *)(x + i);
  }
  for (; i < n; i++) {
    out[i] += a * x[i];
  }
}

/* out += sum_j w_j k_j, the k_j N apart: terms one after the other, four in one pass */
void LANES(mbg__rk_add_terms)(int n, real *out, int s, const double *w, const real *k, size_t N) {
  const real *of[4];
  double a[4];
  int m = 0;
  for (int j = 0; j < s; j++) {
    if (w[j] != 0) {
      of[m] = k + (size_t)j * N;
      a[m++] = w[j];
    }
    if (m == 4) {
      add_four(n, out, a, of);
      m = 0;
    }
  }
  for (int j = 0; j < m; j++) {
    add_one(n, out, a[j], of[j]);
  }
}

/* out = y + h sum_j w_j k_j */
void LANES(mbg__rk_combine_terms)(int n, real *out, const real *y, real h, int s, const double *w, const real *k,
                                  size_t N) {
  int i = 0;
  for (; i + MBG__LANES <= n; i += MBG__LANES) {
    *(lane *)(out + i) = (lane){0};
  }
  for (; i < n; i++) {
    out[i] = 0;
  }
  LANES(mbg__rk_add_terms)(n, out, s, w, k, N);
  for (i = 0; i + MBG__LANES <= n; i += MBG__LANES) {
    *(lane *)(out + i) = *(const lane *)(y + i) + h * *(const lane *)(out + i);
  }
  for (; i < n; i++) {
    out[i] = y[i] + h * out[i];
  }
}

#endif
