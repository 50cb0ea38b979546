/* math: eigenvalues of symmetric pairs K x = w M x, over LAPACK (dsygvd), and linear systems with a symmetric positive
   definite matrix and many right-hand sides (dposv); double in both builds. */
#ifndef MBG_MATH_EIGEN_H
#define MBG_MATH_EIGEN_H

#include "base/base.h"

/* K, M: n x n, symmetric, M positive definite; both are overwritten, K by the eigenvectors (columns, x.M x = 1). w:
   increasing (n). Returns MBG_OK, MBG_ERROR_MEMORY, or MBG_ERROR_SINGULAR when M is not positive definite; without a
   message. */
int mbg__eigen_pair(mbg_context *ctx, int n, double *K, double *M, double *w);

/* B (n x m, column-major) <- A^-1 B; A is overwritten. MBG_ERROR_SINGULAR when A is not positive definite. */
int mbg__solve_spd(int n, double *A, int m, double *B);

#endif
