/* math: the factors of an ensemble (sparse_ensemble.c), which solutions read (sparse_ensemble_solve.c). */
#ifndef MBG_MATH_SPARSE_ENSEMBLE_H
#define MBG_MATH_SPARSE_ENSEMBLE_H

#include "math/sparse_klu.h"

/* The factors of all samples: numbers at the places of KLU's, whose indices are those of the first sample. */
typedef struct {
  klu_numeric *of[MBG__SAMPLES]; /* NULL: none */
  real *LU;                      /* all blocks, one after the other; room[block] begins one */
  size_t *room;                  /* (nblocks + 1) */
  real *Udiag, *Offx, *Rs;
  int *diagonal; /* which row was the diagonal when the pivot of each column was chosen, less than it: none  (n) */
  bool *after;   /* of each number of L: as large as the pivot, it was not chosen; KLU takes the first one */
} mbg__ensemble_factors;

struct mbg__klu {
  const mbg__csc *A;
  mbg__klu_mode mode;
  mbg_allocator allocator;
  klu_common common;
  klu_symbolic *symbolic;
  mbg__ensemble_factors frozen, fresh;
  mbg__part growth_min;
  mbg__ensemble_factors *use;
  bool trust;
  double *values; /* of one sample   (entries) */
  real *X;        /*                 (n) */
  int *inverse;   /* row of the factors of each row    (n) */
};

/* A column of L or U: its length, its rows, and where its numbers begin, in units of the block. */
static inline size_t mbg__klu_column(const klu_numeric *x, int block, const int *start, const int *length, int k,
                                     const int **rows) {
  const double *at = (const double *)x->LUbx[block] + start[k];
  *rows = (const int *)at;
  return (size_t)start[k] + ((size_t)length[k] * sizeof(int) + sizeof(double) - 1) / sizeof(double);
}

#endif
