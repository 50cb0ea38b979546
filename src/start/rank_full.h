/* A proof that many connected rows are independent, at a cost that follows the number of their entries. */
#ifndef MBG_START_RANK_FULL_H
#define MBG_START_RANK_FULL_H

#include "math/sparse.h"

/* Entries (row[k], col[k], val[k]), k < count, of a matrix A (nrow x ncol) whose rows have unit length. *sigma receives
   the smallest singular value of A by inverse iteration on the sparse factors of [1 A^T; A 0], or 0 when A may depend
   on fewer rows: below 1e-5 the rounding errors of the factors, about the square root of 1e-15, are too near. Twelve
   iterations from a vector without symmetry overestimate sigma by less than a factor of two for any number of rows that
   fits into memory: the relative gain of an iteration is at most nrow^(1/25). */
int mbg__rows_independence(mbg_context *ctx, int nrow, int ncol, int count, const int *row, const int *col,
                           const double *val, double *sigma);

#endif
