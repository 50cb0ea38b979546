/* math: orthogonal factors A = Q R of a tall matrix without exchanges: small ones by loops over MBG__LANES columns side
   by side, large ones over LAPACK (dgeqrf, dormqr); a few columns are always multiplied by plain loops. In the twin by
   reflections without conjugation, so that derivatives pass through. Column-major; memory from an arena. */
#ifndef MBG_MATH_HOUSEHOLDER_H
#define MBG_MATH_HOUSEHOLDER_H

#include "base/base.h"

enum { MBG__HOUSEHOLDER_SHORT = 8 }; /* reflectors below whose length sums are best made one after the other */

typedef struct {
  int m, n;  /* m >= n */
  real *A;   /* matrix in, R and reflectors out   (m x n) */
  real *tau; /*                                   (n) */
  /* Envelope: column k of R begins at row first[k], reflector k ends before row end[k]. Without one: 0 and m. */
  int *first, *end; /*                                   (n) */
  int *last;        /* reflector k changes no column from last[k] on       (n) */
  bool sparse;      /* plain loops over the envelope cost less than LAPACK */
  bool wide;        /* vectors of the processor */
  real *rows;       /* small ones: the matrix by rows, NULL: none          (m x stride) */
  int stride;
  bool known;   /* by the factors: square of mbg__householder_ratio, and where */
  double least; /* 2: not yet */
  int where;
  real *work;
  int lwork;
} mbg__householder;

int mbg__householder_prepare(mbg__householder *q, mbg__arena *arena, int m, int n);
/* The same with memory of the caller: A (m x n), tau (n). */
int mbg__householder_prepare_in(mbg__householder *q, mbg__arena *arena, int m, int n, real *A, real *tau);
/* From here on column k of matrices is 0 outside the rows first[k] ... end[k] - 1. */
void mbg__householder_envelope(mbg__householder *q, const int *first, const int *end);
void mbg__householder_factor(mbg__householder *q);
/* The same of a small matrix that is in `rows` instead of A, with zeros behind its columns. */
void mbg__householder_factor_rows(mbg__householder *q);
/* C <- Q C and C <- Q^T C with the full m x m Q, C is m x ncol */
void mbg__householder_mul(const mbg__householder *q, real *C, int ncol);
void mbg__householder_mul_T(const mbg__householder *q, real *C, int ncol);
/* x <- R^-1 x and x <- R^-T x, n entries */
void mbg__householder_solve(const mbg__householder *q, real *x);
void mbg__householder_solve_T(const mbg__householder *q, real *x);
/* Smallest |R_kk| in units of its column's length: 0 when the column depends on those before it; 1 when n = 0. */
double mbg__householder_ratio(const mbg__householder *q, int *where);

typedef void mbg__householder_kernel(mbg__householder *q);
mbg__householder_kernel mbg__householder_by_rows, mbg__householder_by_rows_avx2;

#endif
