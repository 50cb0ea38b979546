/* math: transmission zeros of a linear system, by the reduction of Emami-Naeini and Van Dooren (Automatica 18, 1982);
   double in both builds. */
#ifndef MBG_MATH_ZEROS_H
#define MBG_MATH_ZEROS_H

#include "base/base.h"

/* Zeros of x' = A x + B u, y = C x + D u with n states, m inputs, p outputs; row-major matrices. re, im: room for n;
   *count zeros; *rank: the normal rank of the transfer function, 0 when it is 0 everywhere. MBG_OK, MBG_ERROR_MEMORY or
   MBG_ERROR_CONVERGENCE; without a message. */
int mbg__zeros(mbg_context *ctx, int n, int m, int p, const double *A, const double *B, const double *C,
               const double *D, int *count, double *re, double *im, int *rank);

#endif
