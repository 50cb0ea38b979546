/* math: eigenvalues of small dense matrices, over LAPACK; double in both builds. Matrices are column-major. Functions
   return MBG_OK, MBG_ERROR_MEMORY, or MBG_ERROR_CONVERGENCE when an entry is not finite or the iteration fails; without
   a message. */
#ifndef MBG_MATH_SPECTRUM_H
#define MBG_MATH_SPECTRUM_H

#include "base/base.h"

/* A x = w x for a symmetric A (n x n), of which the lower triangle is read: w ascending (n), A becomes the
   eigenvectors. */
int mbg__eigen_symmetric(mbg_context *ctx, int n, double *A, double *w);

/* The smallest of these eigenvalues alone; A is overwritten. From MBG__LEAST_LARGE rows on, without the others and
   their vectors. */
enum { MBG__LEAST_LARGE = 64 };
int mbg__eigen_least(mbg_context *ctx, int n, double *A, double *least);

/* A = Z Y^T (n x n) for Z, Y (n x m). */
void mbg__product_NT(int n, int m, const double *Z, const double *Y, double *A);

/* A x = w x and y^H A = w y^H for a general A, which is overwritten. wr + i wi: eigenvalues, conjugate pairs side by
   side (n); X, Y: right and left vectors as dgeev stores them, column j and j + 1 are real and imaginary part of a pair
   (n x n). */
int mbg__eigen_general(mbg_context *ctx, int n, double *A, double *wr, double *wi, double *Y, double *X);

/* Eigenvalues (2 n numbers: re, im) of a complex A (2 n n numbers), which is overwritten. */
int mbg__eigen_complex(mbg_context *ctx, int n, double *A, double *w);

/* B <- A^-1 B for complex A (2 n n numbers), which is overwritten, and B (2 n m numbers). MBG_ERROR_SINGULAR when a
   pivot is 0. */
int mbg__solve_complex(mbg_context *ctx, int n, double *A, int m, double *B);

/* A pair of the quadratic problem (w^2 + w C + K) x = 0, y^T (w^2 + w C + K) = 0 near (w, x, y), improved by inverse
   iteration. Real n x n matrices; complex numbers as (re, im) side by side: w (1), x, y (n). Unchanged when the
   iteration diverges. */
int mbg__eigen_quadratic(mbg_context *ctx, int n, const double *K, const double *C, double w[2], double *x, double *y);

#endif
