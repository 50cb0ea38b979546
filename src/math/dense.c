#include "math/dense.h"
#include "math/lapack.h"

#include "math/vec.h"

#include <limits.h>

/* ---------------------------------------------------------------------- LAPACK */

/* Fortran: arguments by reference, lengths of the texts at the end. */
MBG__FORTRAN void dgeqp3_(const int *m, const int *n, double *A, const int *lda, int *jpvt, double *tau, double *work,
                          const int *lwork, int *info);
MBG__FORTRAN void dormqr_(const char *side, const char *trans, const int *m, const int *n, const int *k,
                          const double *A, const int *lda, const double *tau, double *C, const int *ldc, double *work,
                          const int *lwork, int *info, size_t side_length, size_t trans_length);

MBG__FORTRAN void dgetrf_(const int *m, const int *n, double *A, const int *lda, int *pivot, int *info);
MBG__FORTRAN void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *A, const int *lda,
                          const int *pivot, double *B, const int *ldb, int *info, size_t trans_length);
MBG__FORTRAN void dpotrf_(const char *uplo, const int *n, double *A, const int *lda, int *info, size_t uplo_length);
MBG__FORTRAN void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *A, const int *lda, double *B,
                          const int *ldb, int *info, size_t uplo_length);

/* rows from which LAPACK pays; in the twin plain loops alone, since LAPACK would conjugate,
   and in ensembles, which leave large mechanisms to single runs */
#if defined(MBG_COMPLEX) || defined(MBG_ENSEMBLE)
enum { LARGE = INT_MAX };
#else
enum { LARGE = 64 };
#endif
enum { MANY = 8 }; /* right sides from which LAPACK pays */

/* leading dimension: LAPACK wants at least 1 */
static int leading(int n) { return n > 0 ? n : 1; }

static int report(int *where, int index) {
  if (where) {
    *where = index;
  }
  return MBG_ERROR_SINGULAR;
}

/* the first diagonal entry that is zero or not finite, or n */
static int bad_diagonal(const real *A, int n) {
  for (int k = 0; k < n; k++) {
    const double d = re(A[(size_t)k * n + k]);
    if (d == 0 || !isfinite(d)) {
      return k;
    }
  }
  return n;
}

/* ---------------------------------------------------------------------- LU */

int mbg__lu_prepare(mbg__lu *lu, mbg__arena *arena, int n) {
  *lu = (mbg__lu){n, MBG_TAKE(arena, real, (size_t)n * n), MBG_TAKE(arena, int, n)};
  return lu->A && lu->pivot ? MBG_OK : MBG_ERROR_MEMORY;
}

static void exchange(int n, real *A, int i, int j) {
  for (int k = 0; i != j && k < n; k++, A += n) {
    const real a = A[i];
    A[i] = A[j];
    A[j] = a;
  }
}

/* column by column; pivots counted from 1 as in LAPACK, a column of zeros is passed over */
static void getrf(real *A, int n, int *pivot) {
  for (int k = 0; k < n; k++) {
    real *Ak = A + (size_t)k * n;
    int p = k;
    for (int i = k + 1; i < n; i++) {
      p = fabs(re(Ak[i])) > fabs(re(Ak[p])) ? i : p;
    }
    pivot[k] = p + 1;
    exchange(n, A, k, p);
    for (int i = k + 1; i < n && re(Ak[k]) != 0; i++) {
      Ak[i] /= Ak[k];
    }
    for (int j = k + 1; j < n; j++) {
      real *Aj = A + (size_t)j * n;
      vn_axpy(n - k - 1, Aj + k + 1, -Aj[k], Ak + k + 1);
    }
  }
}

/* L U x = P^T b */
static void getrs(const real *A, int n, const int *pivot, real *b) {
  for (int k = 0; k < n; k++) {
    exchange(1, b, k, pivot[k] - 1);
  }
  for (int k = 0; k < n; k++) {
    vn_axpy(n - k - 1, b + k + 1, -b[k], A + (size_t)k * n + k + 1);
  }
  for (int k = n - 1; k >= 0; k--) {
    b[k] /= A[(size_t)k * n + k];
    vn_axpy(k, b, -b[k], A + (size_t)k * n);
  }
}

/* U^T L^T P^T x = b */
static void getrs_T(const real *A, int n, const int *pivot, real *b) {
  for (int k = 0; k < n; k++) {
    b[k] = (b[k] - vn_dot_long(k, A + (size_t)k * n, b)) / A[(size_t)k * n + k];
  }
  for (int k = n - 1; k >= 0; k--) {
    b[k] -= vn_dot_long(n - k - 1, A + (size_t)k * n + k + 1, b + k + 1);
  }
  for (int k = n - 1; k >= 0; k--) {
    exchange(1, b, k, pivot[k] - 1);
  }
}

int mbg__lu_factor(mbg__lu *lu, int *where) {
  const int n = lu->n;
  int info = 0;
  if (n < LARGE) {
    getrf(lu->A, n, lu->pivot);
  } else {
    MBG__LAPACK(dgetrf_(&n, &n, (double *)lu->A, &n, lu->pivot, &info));
  }
  assert(info >= 0);
  const int bad = bad_diagonal(lu->A, n);
  return bad < n ? report(where, bad) : MBG_OK;
}

static void lu_solve(const mbg__lu *lu, bool transposed, real *B, int nrhs) {
  const int n = lu->n;
  int info = 0;
  if (n >= LARGE) {
    MBG__LAPACK(dgetrs_(transposed ? "T" : "N", &n, &nrhs, (double *)lu->A, &n, lu->pivot, (double *)B, &n, &info, 1));
    assert(info == 0);
    return;
  }
  for (int k = 0; k < nrhs; k++) {
    (transposed ? getrs_T : getrs)(lu->A, n, lu->pivot, B + (size_t)k * n);
  }
}

void mbg__lu_solve(const mbg__lu *lu, real *B, int nrhs) { lu_solve(lu, false, B, nrhs); }

void mbg__lu_solve_T(const mbg__lu *lu, real *B, int nrhs) { lu_solve(lu, true, B, nrhs); }

double mbg__lu_ratio(const mbg__lu *lu, int *where) {
  double low = INFINITY, high = 0;
  for (int k = 0; k < lu->n; k++) {
    const double d = fabs(re(lu->A[(size_t)k * lu->n + k]));
    if (d < low && where) {
      *where = k;
    }
    low = fmin(low, d);
    high = fmax(high, d);
  }
  return high > 0 ? low / high : lu->n == 0;
}

/* ---------------------------------------------------------------------- Cholesky */

int mbg__cholesky_prepare(mbg__cholesky *chol, mbg__arena *arena, int n) {
  *chol = (mbg__cholesky){n, MBG_TAKE(arena, real, (size_t)n * n)};
  return chol->A ? MBG_OK : MBG_ERROR_MEMORY;
}

/* Aj -= sum of Ak A_jk over the columns k < j, four at a time: Aj is read and written less often */
static void subtract_columns(const real *A, int n, int j, real *Aj) {
  int k = 0;
  for (; k + 4 <= j; k += 4) {
    const real *a = A + (size_t)k * n, *b = a + n, *c = b + n, *d = c + n;
    const real aj = a[j], bj = b[j], cj = c[j], dj = d[j];
    for (int i = j; i < n; i++) {
      Aj[i] = Aj[i] - a[i] * aj - b[i] * bj - c[i] * cj - d[i] * dj;
    }
  }
  for (; k < j; k++) {
    const real *a = A + (size_t)k * n;
    vn_axpy(n - j, Aj + j, -a[j], a + j);
  }
}

static bool usable(real pivot) { return re(pivot) > 0 && isfinite(re(pivot)); }

/* potrf and potrs of two rows: mechanisms with few freedoms solve nothing else, and often */
static int factor_two(real A[4]) {
  if (!usable(A[0])) {
    return 0;
  }
  A[0] = r_sqrt(A[0]);
  A[1] /= A[0];
  A[3] -= A[1] * A[1];
  if (!usable(A[3])) {
    return 1;
  }
  A[3] = r_sqrt(A[3]);
  return 2;
}

static void solve_two(const real A[4], real b[2]) {
  const real x = b[0] / A[0], y = (b[1] - x * A[1]) / A[3] / A[3];
  b[0] = (x - A[1] * y) / A[0];
  b[1] = y;
}

/* A = L L^T without conjugation, column by column; returns the first bad row, or n */
static int potrf(real *A, int n) {
  if (n == 2) {
    return factor_two(A);
  }
  for (int j = 0; j < n; j++) {
    real *Aj = A + (size_t)j * n;
    subtract_columns(A, n, j, Aj);
    if (!usable(Aj[j])) {
      return j;
    }
    Aj[j] = r_sqrt(Aj[j]);
    for (int i = j + 1; i < n; i++) {
      Aj[i] /= Aj[j];
    }
  }
  return n;
}

/* L y = b, then L^T x = y */
static void potrs(const real *A, int n, real *b) {
  if (n == 2) {
    solve_two(A, b);
    return;
  }
  for (int j = 0; j < n; j++) {
    b[j] /= A[(size_t)j * n + j];
    vn_axpy(n - j - 1, b + j + 1, -b[j], A + (size_t)j * n + j + 1);
  }
  for (int j = n - 1; j >= 0; j--) {
    b[j] = (b[j] - vn_dot_long(n - j - 1, A + (size_t)j * n + j + 1, b + j + 1)) / A[(size_t)j * n + j];
  }
}

int mbg__cholesky_factor(mbg__cholesky *chol, int *where) {
  const int n = chol->n;
  int bad = n;
  if (n < LARGE) {
    bad = potrf(chol->A, n);
  } else {
    int info = 0;
    MBG__LAPACK(dpotrf_("L", &n, (double *)chol->A, &n, &info, 1));
    assert(info >= 0);
    bad = info > 0 ? info - 1 : bad_diagonal(chol->A, n);
  }
  return bad < n ? report(where, bad) : MBG_OK;
}

void mbg__cholesky_solve(const mbg__cholesky *chol, real *B, int nrhs) {
  const int n = chol->n;
  int info = 0;
  if (n >= LARGE && nrhs >= MANY) {
    MBG__LAPACK(dpotrs_("L", &n, &nrhs, (double *)chol->A, &n, (double *)B, &n, &info, 1));
    assert(info == 0);
    return;
  }
  for (int k = 0; k < nrhs; k++) {
    potrs(chol->A, n, B + (size_t)k * n);
  }
}

/* ---------------------------------------------------------------------- QR */

static int smaller(int a, int b) { return a < b ? a : b; }

/* C <- Q C or Q^T C; work NULL asks for the size of the workspace */
static int apply_Q(const mbg__qr *qr, const char *trans, double *C, int ncol, double *work, int lwork) {
  const int m = qr->m, k = smaller(qr->m, qr->n), ld = leading(m);
  double size = 0;
  int info;
  MBG__LAPACK(
      dormqr_("L", trans, &m, &ncol, &k, qr->A, &ld, qr->tau, C, &ld, work ? work : &size, &lwork, &info, 1, 1));
  assert(info == 0);
  return (int)size;
}

/* workspace of factor, and of apply_Q for up to m columns at once */
static int workspace(const mbg__qr *qr) {
  const int query = -1, ld = leading(qr->m);
  double factor = 0;
  int info;
  MBG__LAPACK(dgeqp3_(&qr->m, &qr->n, qr->A, &ld, qr->column, qr->tau, &factor, &query, &info));
  assert(info == 0);
  const int apply = apply_Q(qr, "N", NULL, leading(qr->m), NULL, -1);
  return factor > apply ? (int)factor : leading(apply);
}

int mbg__qr_prepare(mbg__qr *qr, mbg__arena *arena, int m, int n) {
  *qr = (mbg__qr){m, n, MBG_TAKE(arena, double, (size_t)m *n), MBG_TAKE(arena, int, n), NULL, NULL, 0};
  qr->tau = MBG_TAKE(arena, double, smaller(m, n));
  if (!qr->A || !qr->column || !qr->tau) {
    return MBG_ERROR_MEMORY;
  }
  qr->lwork = workspace(qr);
  qr->work = MBG_TAKE(arena, double, qr->lwork);
  return qr->work ? MBG_OK : MBG_ERROR_MEMORY;
}

int mbg__qr_factor(mbg__qr *qr) {
  const int ld = leading(qr->m);
  int info;
  for (size_t i = 0; i < (size_t)qr->m * qr->n; i++) {
    if (!isfinite(qr->A[i])) {
      return MBG_ERROR_SINGULAR;
    }
  }
  for (int k = 0; k < qr->n; k++) {
    qr->column[k] = 0; /* free to move */
  }
  MBG__LAPACK(dgeqp3_(&qr->m, &qr->n, qr->A, &ld, qr->column, qr->tau, qr->work, &qr->lwork, &info));
  assert(info == 0);
  for (int k = 0; k < qr->n; k++) {
    qr->column[k] -= 1;
  }
  return MBG_OK;
}

int mbg__qr_rank(const mbg__qr *qr, double tol) {
  const int most = smaller(qr->m, qr->n);
  int rank = 0;
  while (rank < most && fabs(qr->A[(size_t)rank * qr->m + rank]) > tol * fabs(qr->A[0])) {
    rank++;
  }
  return rank;
}

/* back substitution in R11, one dropped column after the other */
void mbg__qr_dependence(const mbg__qr *qr, int rank, double *T) {
  const size_t m = (size_t)qr->m;
  for (int d = rank; d < qr->n; d++) {
    double *t = T + (size_t)(d - rank) * rank;
    for (int i = 0; i < rank; i++) {
      t[i] = qr->A[(size_t)d * m + i];
    }
    for (int j = rank - 1; j >= 0; j--) {
      t[j] /= qr->A[(size_t)j * m + j];
      for (int i = 0; i < j; i++) {
        t[i] -= qr->A[(size_t)j * m + i] * t[j];
      }
    }
  }
}

/* at most m columns at once, for which the workspace was made */
static void mul_Q(const mbg__qr *qr, const char *trans, double *C, int ncol) {
  for (int k = 0; k < ncol; k += leading(qr->m)) {
    apply_Q(qr, trans, C + (size_t)k * qr->m, smaller(ncol - k, leading(qr->m)), qr->work, qr->lwork);
  }
}

void mbg__qr_mul_Q(const mbg__qr *qr, double *C, int ncol) { mul_Q(qr, "N", C, ncol); }

void mbg__qr_mul_Q_T(const mbg__qr *qr, double *C, int ncol) { mul_Q(qr, "T", C, ncol); }
