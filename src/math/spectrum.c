#include "math/spectrum.h"
#include "math/lapack.h"

/* Fortran: arguments by reference, lengths of the texts at the end. */
void dsyev_(const char *jobz, const char *uplo, const int *n, double *A, const int *lda, double *w, double *work,
            const int *lwork, int *info, size_t jobz_length, size_t uplo_length);
void dsyevx_(const char *jobz, const char *range, const char *uplo, const int *n, double *A, const int *lda,
             const double *vl, const double *vu, const int *il, const int *iu, const double *abstol, int *m, double *w,
             double *Z, const int *ldz, double *work, const int *lwork, int *iwork, int *ifail, int *info,
             size_t jobz_length, size_t range_length, size_t uplo_length);
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *A, const int *lda, const double *B, const int *ldb, const double *beta, double *C,
            const int *ldc, size_t transa_length, size_t transb_length);
void dgeev_(const char *jobvl, const char *jobvr, const int *n, double *A, const int *lda, double *wr, double *wi,
            double *VL, const int *ldvl, double *VR, const int *ldvr, double *work, const int *lwork, int *info,
            size_t jobvl_length, size_t jobvr_length);
void zgeev_(const char *jobvl, const char *jobvr, const int *n, double *A, const int *lda, double *w, double *VL,
            const int *ldvl, double *VR, const int *ldvr, double *work, const int *lwork, double *rwork, int *info,
            size_t jobvl_length, size_t jobvr_length);

void zgetrf_(const int *m, const int *n, double *A, const int *lda, int *pivot, int *info);
void zgetrs_(const char *trans, const int *n, const int *nrhs, const double *A, const int *lda, const int *pivot,
             double *B, const int *ldb, int *info, size_t trans_length);

static bool finite_all(size_t n, const double *A) {
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(A[i])) {
      return false;
    }
  }
  return true;
}

static int status(int info) { return info == 0 ? MBG_OK : MBG_ERROR_CONVERGENCE; }

int mbg__eigen_symmetric(mbg_context *ctx, int n, double *A, double *w) {
  const int ask = -1;
  double size;
  int info;
  if (n == 0 || !finite_all((size_t)n * (size_t)n, A)) {
    return n == 0 ? MBG_OK : MBG_ERROR_CONVERGENCE;
  }
  MBG__LAPACK(dsyev_("V", "L", &n, A, &n, w, &size, &ask, &info, 1, 1));
  const int lwork = (int)size;
  double *work = mbg__alloc(ctx, (size_t)lwork, sizeof(double));
  if (!work) {
    return MBG_ERROR_MEMORY;
  }
  MBG__LAPACK(dsyev_("V", "L", &n, A, &n, w, work, &lwork, &info, 1, 1));
  mbg__free(ctx, work);
  return status(info);
}

/* by bisection on the tridiagonal form */
static int least_of_many(mbg_context *ctx, int n, double *A, double *least) {
  const int ask = -1, one = 1;
  const double none = 0;
  double size, *w = mbg__alloc(ctx, (size_t)n, sizeof(double));
  int info, count = 0, ifail = 0, *iwork = mbg__alloc(ctx, 5 * (size_t)n, sizeof(int)), err = MBG_ERROR_MEMORY;
  MBG__LAPACK(dsyevx_("N", "I", "L", &n, A, &n, &none, &none, &one, &one, &none, &count, w, NULL, &one, &size, &ask,
                      iwork, &ifail, &info, 1, 1, 1));
  const int lwork = (int)size;
  double *work = mbg__alloc(ctx, (size_t)lwork, sizeof(double));
  if (w && iwork && work) {
    MBG__LAPACK(dsyevx_("N", "I", "L", &n, A, &n, &none, &none, &one, &one, &none, &count, w, NULL, &one, work, &lwork,
                        iwork, &ifail, &info, 1, 1, 1));
    *least = w[0];
    err = count == 1 ? status(info) : MBG_ERROR_CONVERGENCE;
  }
  mbg__free(ctx, work);
  mbg__free(ctx, iwork);
  mbg__free(ctx, w);
  return err;
}

int mbg__eigen_least(mbg_context *ctx, int n, double *A, double *least) {
  double w[MBG__LEAST_LARGE];
  *least = 0;
  if (n == 0 || !finite_all((size_t)n * (size_t)n, A)) {
    return n == 0 ? MBG_OK : MBG_ERROR_CONVERGENCE;
  }
  if (n >= MBG__LEAST_LARGE) {
    return least_of_many(ctx, n, A, least);
  }
  const int err = mbg__eigen_symmetric(ctx, n, A, w);
  *least = err < 0 ? 0 : w[0];
  return err;
}

void mbg__product_NT(int n, int m, const double *Z, const double *Y, double *A) {
  const double one = 1, zero = 0;
  if (n > 0) {
    MBG__LAPACK(dgemm_("N", "T", &n, &n, &m, &one, Z, &n, Y, &n, &zero, A, &n, 1, 1));
  }
}

int mbg__eigen_general(mbg_context *ctx, int n, double *A, double *wr, double *wi, double *Y, double *X) {
  const int ask = -1;
  double size;
  int info;
  if (n == 0 || !finite_all((size_t)n * (size_t)n, A)) {
    return n == 0 ? MBG_OK : MBG_ERROR_CONVERGENCE;
  }
  MBG__LAPACK(dgeev_("V", "V", &n, A, &n, wr, wi, Y, &n, X, &n, &size, &ask, &info, 1, 1));
  const int lwork = (int)size;
  double *work = mbg__alloc(ctx, (size_t)lwork, sizeof(double));
  if (!work) {
    return MBG_ERROR_MEMORY;
  }
  MBG__LAPACK(dgeev_("V", "V", &n, A, &n, wr, wi, Y, &n, X, &n, work, &lwork, &info, 1, 1));
  mbg__free(ctx, work);
  return status(info);
}

int mbg__eigen_complex(mbg_context *ctx, int n, double *A, double *w) {
  const int lwork = 4 * n, one = 1;
  int info;
  if (n == 0 || !finite_all(2 * (size_t)n * (size_t)n, A)) {
    return n == 0 ? MBG_OK : MBG_ERROR_CONVERGENCE;
  }
  double *work = mbg__alloc(ctx, (size_t)(2 * lwork + 2 * n), sizeof(double));
  if (!work) {
    return MBG_ERROR_MEMORY;
  }
  MBG__LAPACK(zgeev_("N", "N", &n, A, &n, w, NULL, &one, NULL, &one, work, &lwork, work + 2 * lwork, &info, 1, 1));
  mbg__free(ctx, work);
  return status(info);
}

/* ---------------------------------------------------------------------- quadratic */

static double length(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < 2 * n; i++) {
    sum += x[i] * x[i];
  }
  return sqrt(sum);
}

/* out += c A x for a real A (transposed: A^T) and complex c, x */
static void add_product(int n, const double *A, bool transposed, const double c[2], const double *x, double *out) {
  for (int i = 0; i < n; i++) {
    double re_ = 0, im_ = 0;
    for (int k = 0; k < n; k++) {
      const double a = transposed ? A[k + (size_t)n * (size_t)i] : A[i + (size_t)n * (size_t)k];
      re_ += a * x[2 * k];
      im_ += a * x[2 * k + 1];
    }
    out[2 * i] += c[0] * re_ - c[1] * im_;
    out[2 * i + 1] += c[0] * im_ + c[1] * re_;
  }
}

/* f = (2 w + C) x */
static void slope(int n, const double *C, bool transposed, const double w[2], const double *x, double *f) {
  for (int i = 0; i < n; i++) {
    f[2 * i] = 2 * (w[0] * x[2 * i] - w[1] * x[2 * i + 1]);
    f[2 * i + 1] = 2 * (w[0] * x[2 * i + 1] + w[1] * x[2 * i]);
  }
  add_product(n, C, transposed, (const double[]){1, 0}, x, f);
}

/* Q = w^2 + w C + K */
static void fill(int n, const double *K, const double *C, const double w[2], double *Q) {
  for (int i = 0; i < n * n; i++) {
    Q[2 * i] = K[i] + w[0] * C[i];
    Q[2 * i + 1] = w[1] * C[i];
  }
  for (int i = 0; i < n; i++) {
    Q[2 * (size_t)(i * (n + 1))] += w[0] * w[0] - w[1] * w[1];
    Q[2 * (size_t)(i * (n + 1)) + 1] += 2 * w[0] * w[1];
  }
}

/* one step: d = Q^-1 (2 w + C) x, w -= x_k/d_k for the largest entry k, x = d/|d|; false when Q is singular to the last
   digit */
static bool step(int n, const double *C, const double *Q, const int *pivot, bool transposed, double w[2], double *x,
                 double *d) {
  const int one = 1;
  int info, k = 0;
  slope(n, C, transposed, w, x, d);
  MBG__LAPACK(zgetrs_(transposed ? "T" : "N", &n, &one, Q, &n, pivot, d, &n, &info, 1));
  for (int i = 1; i < n; i++) {
    k = hypot(d[2 * i], d[2 * i + 1]) > hypot(d[2 * k], d[2 * k + 1]) ? i : k;
  }
  const double size = d[2 * k] * d[2 * k] + d[2 * k + 1] * d[2 * k + 1], l = length(n, d);
  if (!(size > 0) || !isfinite(l)) {
    return false;
  }
  w[0] -= (x[2 * k] * d[2 * k] + x[2 * k + 1] * d[2 * k + 1]) / size;
  w[1] -= (x[2 * k + 1] * d[2 * k] - x[2 * k] * d[2 * k + 1]) / size;
  for (int i = 0; i < 2 * n; i++) {
    x[i] = d[i] / l;
  }
  return true;
}

static void improve(int n, const double *K, const double *C, double *Q, int *pivot, double w[2], double *x, double *y,
                    double *d) {
  for (int it = 0; it < 4; it++) {
    int info;
    double other[2] = {w[0], w[1]};
    fill(n, K, C, w, Q);
    MBG__LAPACK(zgetrf_(&n, &n, Q, &n, pivot, &info));
    if (info != 0 || !step(n, C, Q, pivot, true, other, y, d) || !step(n, C, Q, pivot, false, w, x, d)) {
      return;
    }
  }
}

int mbg__eigen_quadratic(mbg_context *ctx, int n, const double *K, const double *C, double w[2], double *x, double *y) {
  const size_t vector = 2 * (size_t)n;
  double *Q = mbg__alloc(ctx, vector * (size_t)n, sizeof(double)), *work = mbg__alloc(ctx, 3 * vector, sizeof(double));
  int *pivot = mbg__alloc(ctx, (size_t)n, sizeof(int));
  const bool room = Q && work && pivot;
  if (room) {
    double *nx = work + vector, *ny = work + 2 * vector, nw[2] = {w[0], w[1]};
    for (size_t i = 0; i < vector; i++) {
      nx[i] = x[i];
      ny[i] = y[i];
    }
    improve(n, K, C, Q, pivot, nw, nx, ny, work);
    const double moved = hypot(nw[0] - w[0], nw[1] - w[1]);
    if (moved <= 1e-4 * hypot(w[0], w[1]) && finite_all(vector, nx) && finite_all(vector, ny)) {
      w[0] = nw[0];
      w[1] = w[1] == 0 ? 0 : nw[1];
      for (size_t i = 0; i < vector; i++) {
        x[i] = nx[i];
        y[i] = ny[i];
      }
    }
  }
  mbg__free(ctx, Q);
  mbg__free(ctx, work);
  mbg__free(ctx, pivot);
  return room ? MBG_OK : MBG_ERROR_MEMORY;
}

int mbg__solve_complex(mbg_context *ctx, int n, double *A, int m, double *B) {
  int info = 0;
  if (n == 0 || m == 0) {
    return MBG_OK;
  }
  int *pivot = mbg__alloc(ctx, (size_t)n, sizeof(int));
  if (!pivot) {
    return MBG_ERROR_MEMORY;
  }
  MBG__LAPACK(zgetrf_(&n, &n, A, &n, pivot, &info));
  const bool singular = info != 0;
  if (!singular) {
    MBG__LAPACK(zgetrs_("N", &n, &m, A, &n, pivot, B, &n, &info, 1));
  }
  mbg__free(ctx, pivot);
  return singular ? MBG_ERROR_SINGULAR : status(info);
}
