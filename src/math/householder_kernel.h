/* Factors of small matrices whose columns lie side by side: a reflection changes MBG__LANES columns at a time. Compiled
   once for every kind of vectors. */
#ifndef MBG_MATH_HOUSEHOLDER_KERNEL_H
#define MBG_MATH_HOUSEHOLDER_KERNEL_H

#include "math/householder.h"
#include "math/lanes.h"

/* out = sum_i u_i row_i in the order of vn_dot, and of vn_dot_long for long ones: the bits of one column alone */
static void dot_rows_long(int n, const real *restrict u, const real *restrict row, size_t stride, lane *out) {
  lane s[4];
  int i = 0;
  ln_zero(4, s);
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; k++, row += stride) {
      s[k] += u[i + k] * *(const lane *)row;
    }
  }
  for (; i < n; i++, row += stride) {
    s[0] += u[i] * *(const lane *)row;
  }
  *out = (s[0] + s[1]) + (s[2] + s[3]);
}

static inline void dot_rows(int n, const real *restrict u, const real *restrict row, size_t stride, lane *out) {
  lane s = {0};
  if (n >= MBG__HOUSEHOLDER_SHORT) {
    dot_rows_long(n, u, row, stride, out);
    return;
  }
  for (int i = 0; i < n; i++, row += stride) {
    s += u[i] * *(const lane *)row;
  }
  *out = s;
}

/* H_k on the MBG__LANES columns that begin at `first` of row k, rows stride apart; u below row k */
static inline void reflect_columns(int below, real tau, const real *restrict u, real *restrict first, size_t stride) {
  lane *const top = (lane *)first;
  real *row = first + stride;
  lane d;
  dot_rows(below, u, row, stride, &d);
  d = tau * (*top + d);
  *top -= d;
  for (int i = 0; i < below; i++, row += stride) {
    *(lane *)row -= u[i] * d;
  }
}

/* column k of the rows into a, from row `first` on; the sum of squares above k */
static inline real take_column(const real *restrict from, size_t stride, int first, int k, int end, real *restrict a) {
  real above = 0;
  int i = first;
  from += (size_t)first * stride;
  for (; i < k; i++, from += stride) {
    const real x = *from;
    a[i] = x;
    above += x * x;
  }
  for (; i < end; i++, from += stride) {
    a[i] = *from;
  }
  return above;
}

/* keeps the smallest share of the diagonal in its column; squares that leave the range of numbers are left to
   mbg__householder_ratio */
static inline void compare_share(mbg__householder *q, int k, double above, double diagonal) {
  const double sum = above + diagonal;
  if (!(sum > 1e-280 && sum < 1e280)) {
    q->known = false;
  } else if (diagonal < q->least * sum) {
    q->least = diagonal / sum;
    q->where = k;
  }
}

/* Row i of the matrix begins at rows + stride i. Its columns become those of A one after the other. */
void LANES(mbg__householder_by_rows)(mbg__householder *q) {
  const size_t stride = (size_t)q->stride, m = (size_t)q->m;
  q->known = true;
  q->least = 2;
  for (int k = 0; k < q->n; k++) {
    const int end = q->end[k];
    real *restrict a = q->A + (size_t)k * m;
    const real above = take_column(q->rows + k, stride, q->first[k], k, end, a), s = vn_dot_long(end - k, a + k, a + k);
    compare_share(q, k, re(above), re(s));
    if (re(s) == 0) {
      q->tau[k] = 0;
      continue;
    }
    const real norm = r_sqrt(s), alpha = re(a[k]) > 0 ? -norm : norm, pivot = a[k] - alpha;
    q->tau[k] = -pivot / alpha;
    for (int i = k + 1; i < end; i++) {
      a[i] /= pivot;
    }
    a[k] = alpha;
    for (int j = k + 1; j < q->last[k]; j++) {
      if (q->first[j] <= k) {
        reflect_columns(end - k - 1, q->tau[k], a + k + 1, q->rows + (size_t)k * stride + j, stride);
        j += MBG__LANES - 1;
      }
    }
  }
}

#endif
