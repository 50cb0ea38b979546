#include "math/svd.h"
#include "math/lapack.h"

/* Fortran: arguments by reference, lengths of the texts at the end. */
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *A, const int *lda, double *s,
             double *U, const int *ldu, double *VT, const int *ldvt, double *work, const int *lwork, int *info,
             size_t jobu_length, size_t jobvt_length);

static void transpose(int n, double *V) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      const double v = V[i + (size_t)n * (size_t)j];
      V[i + (size_t)n * (size_t)j] = V[j + (size_t)n * (size_t)i];
      V[j + (size_t)n * (size_t)i] = v;
    }
  }
}

int mbg__svd(mbg_context *ctx, int n, double *A, double *s, double *V) {
  const int ask = -1, one = 1;
  double size = 0;
  int info;
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) {
    if (!isfinite(A[i])) {
      return MBG_ERROR_CONVERGENCE;
    }
  }
  if (n == 0) {
    return MBG_OK;
  }
  MBG__LAPACK(dgesvd_("N", "A", &n, &n, A, &n, s, NULL, &one, V, &n, &size, &ask, &info, 1, 1));
  const int lwork = (int)size;
  double *work = mbg__alloc(ctx, (size_t)lwork, sizeof(double));
  if (!work) {
    return MBG_ERROR_MEMORY;
  }
  MBG__LAPACK(dgesvd_("N", "A", &n, &n, A, &n, s, NULL, &one, V, &n, work, &lwork, &info, 1, 1));
  mbg__free(ctx, work);
  transpose(n, V);
  return info == 0 ? MBG_OK : MBG_ERROR_CONVERGENCE;
}
