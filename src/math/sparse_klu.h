/* math: what the factors by KLU of one matrix (sparse.c) and of those of four samples (sparse_ensemble.c) share. */
#ifndef MBG_MATH_SPARSE_KLU_H
#define MBG_MATH_SPARSE_KLU_H

#include "math/sparse.h"

#include <klu.h>

/* frozen pivots are given up for one factorization when the entries grow this much more than when they were chosen */
#define MBG__KLU_GROWTH_MAX 1e3

/* Options, and the analysis in an order found here or by KLU; NULL: no memory, or 0 x 0. */
klu_symbolic *mbg__klu_analyze(const mbg_allocator *allocator, const mbg__csc *A, int ndef, klu_common *common);

/* The column of the first value that is not finite, or ncol. */
int mbg__csc_bad_column(const mbg__csc *A);

#endif
