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

/* what stands above row k in its column of the rows, into a; its sum of squares */
static inline real take_above(const real *restrict from, size_t stride, int first, int k, real *restrict a) {
  real sum = 0;
  from += (size_t)first * stride;
  for (int i = first; i < k; i++, from += stride) {
    const real x = *from;
    a[i] = x;
    sum += x * x;
  }
  return sum;
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

/* Column k from its diagonal on, n entries: into a, which becomes its reflector; then the columns behind it. */
static inline void reflect_by(mbg__householder *q, int k, int n, real above, real *restrict a) {
  const size_t stride = (size_t)q->stride;
  real *const rows = q->rows + (size_t)k * stride;
  for (int i = 0; i < n; i++) {
    a[i] = rows[(size_t)i * stride + (size_t)k];
  }
  const real s = vn_dot_long(n, a, a);
  compare_share(q, k, re(above), re(s));
  if (re(s) == 0) {
    q->tau[k] = 0;
    return;
  }
  const real norm = r_sqrt(s), alpha = re(a[0]) > 0 ? -norm : norm, pivot = a[0] - alpha, tau = -pivot / alpha;
  q->tau[k] = tau;
  for (int i = 1; i < n; i++) {
    a[i] /= pivot;
  }
  a[0] = alpha;
  for (int j = k + 1; j < q->last[k]; j++) {
    if (q->first[j] <= k) {
      reflect_columns(n - 1, tau, a + 1, rows + j, stride);
      j += MBG__LANES - 1;
    }
  }
}

/* Row i of the matrix begins at rows + stride i. Its columns become those of A one after the other. Short reflectors,
   as joints between neighbours make, have code without loops. */
void LANES(mbg__householder_by_rows)(mbg__householder *q) {
  q->known = true;
  q->least = 2;
  for (int k = 0; k < q->n; k++) {
    real *const a = q->A + (size_t)k * (size_t)q->m;
    const real above = take_above(q->rows + k, (size_t)q->stride, q->first[k], k, a);
    switch (q->end[k] - k) {
    case 2:
      reflect_by(q, k, 2, above, a + k);
      break;
    case 3:
      reflect_by(q, k, 3, above, a + k);
      break;
    case 4:
      reflect_by(q, k, 4, above, a + k);
      break;
    case 5:
      reflect_by(q, k, 5, above, a + k);
      break;
    case 6:
      reflect_by(q, k, 6, above, a + k);
      break;
    default:
      reflect_by(q, k, q->end[k] - k, above, a + k);
    }
  }
}

#endif
