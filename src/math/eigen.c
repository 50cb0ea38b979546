#include "math/eigen.h"
#include "math/lapack.h"

/* Fortran: arguments by reference, lengths of the texts at the end. */
void dsygvd_(const int *itype, const char *jobz, const char *uplo, const int *n, double *A, const int *lda, double *B,
             const int *ldb, double *w, double *work, const int *lwork, int *iwork, const int *liwork, int *info,
             size_t jobz_length, size_t uplo_length);
void dposv_(const char *uplo, const int *n, const int *nrhs, double *A, const int *lda, double *B, const int *ldb,
            int *info, size_t uplo_length);

int mbg__eigen_pair(mbg_context *ctx, int n, double *K, double *M, double *w) {
  const int kind = 1, ask = -1;
  double size = 0;
  int info, isize = 0, err = MBG_OK;
  if (n == 0) {
    return MBG_OK;
  }
  MBG__LAPACK(dsygvd_(&kind, "V", "L", &n, K, &n, M, &n, w, &size, &ask, &isize, &ask, &info, 1, 1));
  const int lwork = (int)size, liwork = isize;
  double *work = mbg__alloc(ctx, (size_t)lwork, sizeof(double));
  int *iwork = mbg__alloc(ctx, (size_t)liwork, sizeof(int));
  if (!work || !iwork) {
    err = MBG_ERROR_MEMORY;
  } else {
    MBG__LAPACK(dsygvd_(&kind, "V", "L", &n, K, &n, M, &n, w, work, &lwork, iwork, &liwork, &info, 1, 1));
    err = info == 0 ? MBG_OK : MBG_ERROR_SINGULAR;
  }
  mbg__free(ctx, work);
  mbg__free(ctx, iwork);
  return err;
}

int mbg__solve_spd(int n, double *A, int m, double *B) {
  int info = 0;
  if (n > 0 && m > 0) {
    MBG__LAPACK(dposv_("L", &n, &m, A, &n, B, &n, &info, 1));
  }
  return info == 0 ? MBG_OK : MBG_ERROR_SINGULAR;
}
