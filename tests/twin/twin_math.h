/* src/math in complex arithmetic. A frame is an array of 12: R row-major, then x. Results come first. */
#ifndef TWIN_MATH_H
#define TWIN_MATH_H

#include "twin/twin.h"

/* ---------------------------------------------------------------------- SE(3), as in math/se3.h */

TWIN_API void twin_so3_exp(double _Complex R[9], const double _Complex w[3]);
TWIN_API void twin_so3_log(double _Complex w[3], const double _Complex R[9]);
TWIN_API void twin_so3_tangent(double _Complex T[9], const double _Complex w[3]);
TWIN_API void twin_so3_tangent_inv(double _Complex Ti[9], const double _Complex w[3]);
TWIN_API void twin_se3_exp(double _Complex H[12], const double _Complex h[6]);
TWIN_API void twin_se3_log(double _Complex h[6], const double _Complex H[12]);
TWIN_API void twin_se3_tangent(double _Complex T[36], const double _Complex h[6]);
TWIN_API void twin_se3_tangent_inv(double _Complex Ti[36], const double _Complex h[6]);
TWIN_API void twin_se3_dtangent(double _Complex D[36], const double _Complex h[6], const double _Complex x[6]);
TWIN_API void twin_se3_dtangentT(double _Complex D[36], const double _Complex h[6], const double _Complex y[6]);
TWIN_API void twin_se3_dtangent_inv(double _Complex D[36], const double _Complex h[6], const double _Complex y[6]);
TWIN_API void twin_se3_dtangent_invT(double _Complex D[36], const double _Complex h[6], const double _Complex y[6]);

/* ---------------------------------------------------------------------- linear systems */

/* Solves A X = B or A^T X = B (transposed not zero) in place; A is n x n, B n x nrhs, both column-major. Returns the
   status of the factorization, with the pivot in *where. */
TWIN_API int twin_lu_solve(int n, const double _Complex *A, int transposed, double _Complex *B, int nrhs, int *where);
/* The same with the Cholesky factors of a symmetric (not Hermitian) A, of which the lower triangle is read. */
TWIN_API int twin_cholesky_solve(int n, const double _Complex *A, double _Complex *B, int nrhs, int *where);
/* The same for the sum of the entries (row, col, val) with KLU. */
TWIN_API int twin_klu_solve(int n, int count, const int *row, const int *col, const double _Complex *val,
                            int transposed, double _Complex *B, int nrhs, int *where);

#endif
