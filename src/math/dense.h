/* math: dense factorizations: plain loops for small matrices, LAPACK for large ones and for ranks.

   Matrices are column-major without gaps: entry (i, j) of an m x n matrix is A[i + m j]; blocks of right-hand sides
   are n x nrhs. `prepare` takes all memory from an arena, once; nothing else allocates. The caller writes the matrix
   into the object's A, `factor` overwrites it with the factors. Objects have no destroy: they live with the arena.

   Twin: LU and Cholesky work on complex symmetric or general matrices; transposed never means conjugated.

   Threads: none. The build links a LAPACK without threads (cmake/FindSerialLAPACK.cmake), so that digits do not depend
   on the environment; a host program may put a LAPACK with threads in its place. */
#ifndef MBG_MATH_DENSE_H
#define MBG_MATH_DENSE_H

#include "base/base.h"

/* ---------------------------------------------------------------------- LU with row exchange: A = P L U */

typedef struct {
  int n;
  real *A;    /* matrix in, factors out   (n x n) */
  int *pivot; /* row exchanges            (n) */
} mbg__lu;

/* MBG_OK or MBG_ERROR_MEMORY. n may be 0. */
int mbg__lu_prepare(mbg__lu *lu, mbg__arena *arena, int n);
/* MBG_OK, or MBG_ERROR_SINGULAR with the first column whose pivot is zero or not finite in *where (may be NULL). A
   matrix that is singular up to rounding is not noticed: see mbg__lu_ratio. */
int mbg__lu_factor(mbg__lu *lu, int *where);
/* B <- A^-1 B and B <- A^-T B, B is n x nrhs */
void mbg__lu_solve(const mbg__lu *lu, real *B, int nrhs);
void mbg__lu_solve_T(const mbg__lu *lu, real *B, int nrhs);
/* Smallest pivot divided by the largest, a crude estimate of the condition; *where (may be NULL): its column. */
double mbg__lu_ratio(const mbg__lu *lu, int *where);

/* ---------------------------------------------------------------------- Cholesky: A = L L^T */

typedef struct {
  int n;
  real *A; /* symmetric positive definite matrix in, L out; only the lower triangle is used   (n x n) */
} mbg__cholesky;

int mbg__cholesky_prepare(mbg__cholesky *chol, mbg__arena *arena, int n);
/* MBG_OK, or MBG_ERROR_SINGULAR with the first row in *where (may be NULL) at which A is not positive definite. */
int mbg__cholesky_factor(mbg__cholesky *chol, int *where);
/* B <- A^-1 B */
void mbg__cholesky_solve(const mbg__cholesky *chol, real *B, int nrhs);

/* ---------------------------------------------------------------------- QR with column exchange: A P = Q R */

/* For questions of rank; double in both builds. |R_00| >= |R_11| >= ... */
typedef struct {
  int m, n;
  double *A;   /* matrix in, R and reflectors out                     (m x n) */
  int *column; /* column[k]: which column of A stands in place k      (n) */
  double *tau, *work;
  int lwork;
} mbg__qr;

int mbg__qr_prepare(mbg__qr *qr, mbg__arena *arena, int m, int n);
/* MBG_OK, or MBG_ERROR_SINGULAR when an entry is not finite. */
int mbg__qr_factor(mbg__qr *qr);
/* Number of k with |R_kk| > tol |R_00|: columns column[0..rank-1] are kept, the others depend on them (theory 0,
   section 5). */
int mbg__qr_rank(const mbg__qr *qr, double tol);
/* How they depend: A_dropped = A_kept T, T = R11^-1 R12, rank x (n - rank), column-major. */
void mbg__qr_dependence(const mbg__qr *qr, int rank, double *T);
/* C <- Q C and C <- Q^T C with the full m x m Q, C is m x ncol. The last m - rank columns of Q span the complement. */
void mbg__qr_mul_Q(const mbg__qr *qr, double *C, int ncol);
void mbg__qr_mul_Q_T(const mbg__qr *qr, double *C, int ncol);

#endif
