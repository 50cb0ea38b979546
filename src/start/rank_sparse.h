/* rank_sparse: which of many connected rows depend on the others, at a cost that follows the fill of a sparse
   elimination. */
#ifndef MBG_START_RANK_SPARSE_H
#define MBG_START_RANK_SPARSE_H

#include "math/sparse.h"

/* a matrix of unit rows */
typedef struct {
  int nrow, ncol, ngroup;
  int *start;  /* of the entries of a row                                     (nrow + 1) */
  int *col;    /*                                                             (start[nrow]) */
  double *val; /*                                                             (start[nrow]) */
  int *group;  /* of a column: columns of one body are eliminated together    (ncol) */
} mbg__unit_rows;

/* Rows in the order of elimination: the first `rank` are kept, the others, d = 0 .. nrow - rank - 1, are
   sum T[e] (kept row pivot[e]), start[d] <= e < start[d + 1]. */
typedef struct {
  int rank;
  int *row;        /*                                                        (nrow) */
  int *start;      /*                                                        (nrow - rank + 1) */
  int *pivot;      /* ascending inside a row                                 (start[nrow - rank]) */
  double *T;       /*                                                        (start[nrow - rank]) */
  double smallest; /* pivot of the kept rows */
} mbg__sparse_rank;

/* Decides at the tolerance given, relative to the rows. Memory of the result in `arena`. */
int mbg__rank_sparse(mbg_context *ctx, mbg__arena *arena, const mbg__unit_rows *A, double tolerance,
                     mbg__sparse_rank *out);

#endif
