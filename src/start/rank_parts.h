/* rank_parts: null vectors of B^T in parts without a common row, each of which is decided apart. */
#ifndef MBG_START_RANK_PARTS_H
#define MBG_START_RANK_PARTS_H

#include "start/rank.h"

/* Null vectors lambda_d = 1, lambda_I = -T_d, one for each dropped row. */
typedef struct {
  int *root;           /* of the part of a vector: its first one                  (ndropped) */
  int *part;           /* of a row: the root of its vectors, -1: none             (nrow) */
  int *row, *next_row; /* first row of a part (at its root), the next one; -1 ends (ndropped, nrow) */
  int *vector, *next;  /* its vectors alike                                       (ndropped each) */
  int *place;          /* of a vector in its part                                 (ndropped) */
  int *index;          /* of a row in the part at hand                            (nrow) */
  int nrow, nd, *rows; /* the part at hand                                        (nrow) */
  double *N;           /* its vectors by rows                                     (nrow x nd) */
} mbg__null_parts;

/* Finds the parts. A vector d with root[d] = d stands for its part. */
int mbg__null_parts_find(mbg_context *ctx, mbg__arena *arena, const mbg__rank *rank, mbg__null_parts *out);
/* Takes the part of a root at hand; its vectors lie in the arena. */
int mbg__null_parts_take(mbg_context *ctx, mbg__arena *arena, const mbg__rank *rank, mbg__null_parts *parts, int root);

/* rank.c: a decision that keeps all rows, lists not made yet; NULL when out of memory. */
mbg__rank *mbg__rank_take(mbg_context *ctx, mbg__arena *arena, int nrow);
/* Lists kept and dropped rows by `keep`. */
void mbg__rank_list(mbg__rank *rank);
/* Room for so many entries of each dropped row, counted in d_start[d + 1]. */
int mbg__rank_reserve(mbg_context *ctx, mbg__arena *arena, mbg__rank *rank);

#endif
