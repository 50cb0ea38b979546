/* math: singular values A = U S V^T of a small square matrix, over LAPACK (dgesvd); double in both builds. */
#ifndef MBG_MATH_SVD_H
#define MBG_MATH_SVD_H

#include "base/base.h"

/* A (n x n, column-major) is overwritten. s: singular values, decreasing (n); V: column j belongs to s_j (n x n).
   Returns MBG_OK, MBG_ERROR_MEMORY, or MBG_ERROR_CONVERGENCE when an entry is not finite; without a message. */
int mbg__svd(mbg_context *ctx, int n, double *A, double *s, double *V);

#endif
