#include "math/householder.h"
#include "math/avx2.h"
#include "math/lapack.h"

#define LANES(name) name
#include "math/householder_kernel.h"

#include <string.h>

/* ---------------------------------------------------------------------- plain loops */

enum { LARGE = 64 }; /* columns from which calls of LAPACK pay */

/* c <- H_k c with H = 1 - tau u u^T, u_k = 1: u below the diagonal, as LAPACK keeps it */
static inline void reflect(const mbg__householder *q, int k, real *c) {
  const real *restrict u = q->A + (size_t)k * (size_t)q->m + k + 1;
  real *restrict x = c + k + 1;
  const int below = q->end[k] - k - 1;
  const real d = q->tau[k] * (c[k] + (below < MBG__HOUSEHOLDER_SHORT ? vn_dot(below, u, x) : vn_dot_long(below, u, x)));
  int i = 0;
  c[k] -= d;
  for (; i + 2 <= below; i += 2) {
    x[i] -= d * u[i];
    x[i + 1] -= d * u[i + 1];
  }
  if (i < below) {
    x[i] -= d * u[i];
  }
}

void mbg__householder_factor_rows(mbg__householder *q) {
#ifdef MBG__AVX2_BEGIN
  if (q->wide) {
    mbg__householder_by_rows_avx2(q);
    return;
  }
#endif
  mbg__householder_by_rows(q);
}

/* A to rows */
static void transpose(mbg__householder *q) {
  memset(q->rows, 0, (size_t)q->m * (size_t)q->stride * sizeof(real));
  for (int k = 0; k < q->n; k++) {
    for (int i = q->first[k]; i < q->end[k]; i++) {
      q->rows[(size_t)i * (size_t)q->stride + (size_t)k] = q->A[(size_t)k * (size_t)q->m + (size_t)i];
    }
  }
}

static void factor_small(mbg__householder *q) {
  if (q->rows) {
    transpose(q);
    mbg__householder_factor_rows(q);
    return;
  }
  for (int k = 0; k < q->n; k++) {
    real *a = q->A + (size_t)k * (size_t)q->m;
    const real s = vn_dot_long(q->end[k] - k, a + k, a + k);
    if (re(s) == 0) {
      q->tau[k] = 0;
      continue;
    }
    const real norm = r_sqrt(s), alpha = re(a[k]) > 0 ? -norm : norm, pivot = a[k] - alpha;
    q->tau[k] = -pivot / alpha;
    for (int i = k + 1; i < q->end[k]; i++) {
      a[i] /= pivot;
    }
    a[k] = alpha;
    for (int j = k + 1; j < q->n; j++) {
      if (q->first[j] <= k) {
        reflect(q, k, q->A + (size_t)j * (size_t)q->m);
      }
    }
  }
}

static void multiply_small(const mbg__householder *q, bool transposed, real *C, int ncol) {
  for (int j = 0; j < ncol; j++) {
    for (int k = 0; k < q->n; k++) {
      reflect(q, transposed ? k : q->n - 1 - k, C + (size_t)j * (size_t)q->m);
    }
  }
}

/* ---------------------------------------------------------------------- envelope */

enum { GAIN = 4 }; /* LAPACK's blocked products cost this much less than as many plain ones */

/* Reflector k has row k and changes the columns that begin before its end; they begin at row k then, and end no earlier
   than it. */
static double fill(mbg__householder *q) {
  double work = 0;
  for (int k = 0; k < q->n; k++) {
    q->first[k] = q->first[k] < k ? q->first[k] : k;
    q->end[k] = q->end[k] > k ? q->end[k] : k + 1;
    for (int j = k + 1; j < q->n; j++) {
      if (q->first[j] < q->end[k]) {
        q->first[j] = q->first[j] < k ? q->first[j] : k;
        q->end[j] = q->end[j] > q->end[k] ? q->end[j] : q->end[k];
        work += q->end[k] - k;
      }
    }
  }
  return work;
}

/* the columns that a reflector changes */
static void find_last(mbg__householder *q) {
  for (int k = 0; k < q->n; k++) {
    q->last[k] = k + 1;
    for (int j = k + 1; j < q->n; j++) {
      q->last[k] = q->first[j] <= k ? j + 1 : q->last[k];
    }
  }
}

void mbg__householder_envelope(mbg__householder *q, const int *first, const int *end) {
  const double m = q->m, n = q->n;
  memcpy(q->first, first, (size_t)q->n * sizeof(int));
  memcpy(q->end, end, (size_t)q->n * sizeof(int));
  q->sparse = GAIN * fill(q) < n * n * (m - n / 3) / 2;
  find_last(q);
}

/* ---------------------------------------------------------------------- LAPACK for large ones */

#ifndef MBG_COMPLEX

void dgeqrf_(const int *m, const int *n, double *A, const int *lda, double *tau, double *work, const int *lwork,
             int *info);
void dormqr_(const char *side, const char *trans, const int *m, const int *n, const int *k, const double *A,
             const int *lda, const double *tau, double *C, const int *ldc, double *work, const int *lwork, int *info,
             size_t side_length, size_t trans_length);

enum { BLOCK = 64 }; /* columns that LAPACK treats at once: room for its workspace */
enum { MANY = 8 };   /* columns of C from which they pay: each call prepares blocks, however few columns there are */

static int work_size(int m, int n) { return n < LARGE ? 1 : BLOCK * (m > n ? m : n) + BLOCK * BLOCK + 1; }

static bool factor_large(mbg__householder *q) {
  int info = 0;
  const bool large = q->n >= LARGE && !q->sparse;
  if (large) {
    MBG__LAPACK(dgeqrf_(&q->m, &q->n, q->A, &q->m, q->tau, q->work, &q->lwork, &info));
    assert(info == 0);
  }
  return large;
}

static bool multiply_large(const mbg__householder *q, bool transposed, real *C, int ncol) {
  const bool large = q->n >= LARGE && ncol >= MANY && !q->sparse;
  int info = 0;
  if (large) {
    MBG__LAPACK(dormqr_("L", transposed ? "T" : "N", &q->m, &ncol, &q->n, q->A, &q->m, q->tau, C, &q->m, q->work,
                        &q->lwork, &info, 1, 1));
    assert(info == 0);
  }
  return large;
}

#else

static int work_size(int m, int n) {
  (void)m, (void)n;
  return 1;
}

static bool factor_large(mbg__householder *q) {
  (void)q;
  return false;
}

static bool multiply_large(const mbg__householder *q, bool transposed, real *C, int ncol) {
  (void)q, (void)transposed, (void)C, (void)ncol;
  return false;
}

#endif

void mbg__householder_factor(mbg__householder *q) {
  if (!factor_large(q)) {
    factor_small(q);
  }
}

void mbg__householder_mul(const mbg__householder *q, real *C, int ncol) {
  if (!multiply_large(q, false, C, ncol)) {
    multiply_small(q, false, C, ncol);
  }
}

void mbg__householder_mul_T(const mbg__householder *q, real *C, int ncol) {
  if (!multiply_large(q, true, C, ncol)) {
    multiply_small(q, true, C, ncol);
  }
}

int mbg__householder_prepare(mbg__householder *q, mbg__arena *arena, int m, int n) {
  real *A = MBG_TAKE(arena, real, (size_t)(m > 0 ? m : 1) * (size_t)n), *tau = MBG_TAKE(arena, real, n);
  return mbg__householder_prepare_in(q, arena, m, n, A, tau);
}

int mbg__householder_prepare_in(mbg__householder *q, mbg__arena *arena, int m, int n, real *A, real *tau) {
  *q = (mbg__householder){
      .m = m > 0 ? m : 1, .n = n, .A = A, .tau = tau, .lwork = work_size(m, n), .wide = mbg__lanes_wide()};
  q->first = MBG_TAKE(arena, int, n);
  q->end = MBG_TAKE(arena, int, n);
  q->last = MBG_TAKE(arena, int, n);
  q->work = MBG_TAKE(arena, real, q->lwork);
  if (n < LARGE) {
    q->stride = n + MBG__LANES - 1;
    q->rows = MBG_TAKE(arena, real, (size_t)q->m * (size_t)q->stride);
  }
  if (!q->A || !q->tau || !q->first || !q->end || !q->last || !q->work || (n < LARGE && !q->rows)) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; k < n; k++) {
    q->end[k] = q->m;
    q->last[k] = n;
  }
  return MBG_OK;
}

void mbg__householder_solve(const mbg__householder *q, real *x) {
  for (int j = q->n - 1; j >= 0; j--) {
    const real *a = q->A + (size_t)j * (size_t)q->m;
    const int first = q->first[j];
    x[j] /= a[j];
    vn_axpy(j - first, x + first, -x[j], a + first);
  }
}

void mbg__householder_solve_T(const mbg__householder *q, real *x) {
  for (int j = 0; j < q->n; j++) {
    const real *a = q->A + (size_t)j * (size_t)q->m;
    const int first = q->first[j];
    x[j] = (x[j] - vn_dot_long(j - first, a + first, x + first)) / a[j];
  }
}

/* square of the length of R's column k */
static double column_square(const real *column, int first, int k) {
  double sum = 0;
  for (int i = first; i <= k; i++) {
    sum += re(column[i]) * re(column[i]);
  }
  return sum;
}

/* the same part for very long and very short columns, whose squares leave the range of numbers */
static double part_of_length(const real *column, int first, int k) {
  double length = 0;
  for (int i = first; i <= k; i++) {
    length = hypot(length, re(column[i]));
  }
  return length > 0 ? fabs(re(column[k])) / length : 0;
}

double mbg__householder_ratio(const mbg__householder *q, int *where) {
  double least = INFINITY;
  if (q->known && q->n > 0) {
    if (where) {
      *where = q->where;
    }
    return sqrt(q->least);
  }
  for (int k = 0; k < q->n; k++) {
    const real *column = q->A + (size_t)k * (size_t)q->m;
    const double sum = column_square(column, q->first[k], k), d = re(column[k]);
    const bool plain = sum > 1e-280 && sum < 1e280;
    const double x = plain ? 0 : part_of_length(column, q->first[k], k), square = plain ? d * d / sum : x * x;
    if (!(square >= least)) {
      least = square;
      if (where) {
        *where = k;
      }
    }
  }
  return q->n > 0 ? sqrt(least) : 1;
}
