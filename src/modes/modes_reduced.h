/* The dense eigenproblem on the motions that the constraints allow. */
#ifndef MBG_MODES_MODES_REDUCED_H
#define MBG_MODES_MODES_REDUCED_H

#include "modes/modes.h"

typedef struct {
  mbg__modes_work *w;
  mbg__arena arena;
  int nv, n, nr; /* unknowns, freedoms, freedoms with inertia */
  int nm;        /* without states of the model, whose places are the last of the nr coordinates u */
  double *Z;     /* S Z, later the map from u to x: (nv x n), (nv x nr) */
  double *K, *C; /* in u: (nr x nr) */
  double *mu, *Q;
  bool massless_damped; /* damping acts in freedoms without inertia */
  double *omega2;       /* eigenvalues of the symmetric part of K  (nm), then 0 (nr) */
} mbg__reduced;

enum { MBG__MODES_SPARE = 6 }; /* modes computed beyond those asked for */

/* modes_reduce.c: Z, K and C in the coordinates u of the modes of the symmetric part of K, and omega2. */
int mbg__reduced_create(mbg__reduced *d);
/* out (n x n) = Z^T A Z. */
int mbg__reduced_project(const mbg__reduced *d, int n, const real *A, double *out);
/* Size of eigenvalues that are rounding. */
double mbg__reduced_rounding(const mbg__reduced *d);

/* modes_symmetric.c */
int mbg__modes_symmetric(mbg__reduced *d);
/* Many freedoms: no dense matrices. */
int mbg__modes_symmetric_sparse(mbg__modes_work *w);
/* Rounding of x^T K x for a motion x (nv) with x^T M x = 1: below it there is no stiffness. */
double mbg__modes_stiffness_floor(const mbg__modes_work *w, const double *x);
/* Lowest of `count` eigenvalues that is not rounding (of the size `off`), for the shift; *zeros: some are. */
double mbg__modes_lowest(const mbg__modes_work *w, int count, const double *omega2, double *X, double off, bool *zeros);
/* Adds a motion without stiffness to w->zero and w->zero_left (y NULL: x), which have room for `room`. */
int mbg__modes_keep_zero(mbg__modes_work *w, int room, const double *x, const double *y);

/* modes_general.c */
int mbg__modes_general(mbg__reduced *d);

#endif
