/* The system between a piece and what hangs on its exit (dca_articulated_pieces.c): 6 x 6 matrices by rows, whose
   columns lie in lanes. Compiled once for every kind of vectors. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ARTICULATED_EXIT_KERNEL_H
#define MBG_FORMULATIONS_DCA_DCA_ARTICULATED_EXIT_KERNEL_H

#include "formulations/dca/dca_articulated_groups.h"

/* rows of 6 x 6 matrices, whose columns lie in lanes */
enum { ROW = (6 + MBG__LANES - 1) / MBG__LANES };
typedef lane row6[ROW];

static inline void row_set(row6 to, const real x[6]) {
  to[ROW - 1] = (lane){0};
  for (int j = 0; j < 6; j++) {
    ((real *)to)[j] = x[j];
  }
}

static inline real row_get(const row6 x, int j) { return ((const real *)x)[j]; }

static inline void row_axpy(row6 to, real s, const row6 x) {
  for (int j = 0; j < ROW; j++) {
    to[j] += s * x[j];
  }
}

/* row i of A B, from entries A(i, k) a[k stride] */
static inline void row_product(row6 to, const real *a, int stride, row6 B[6]) {
  for (int j = 0; j < ROW; j++) {
    to[j] = a[0] * B[0][j];
  }
  for (int k = 1; k < 6; k++) {
    row_axpy(to, a[k * stride], B[k]);
  }
}

static void swap_rows(row6 a, row6 b) {
  for (int j = 0; j < ROW; j++) {
    const lane y = a[j];
    a[j] = b[j];
    b[j] = y;
  }
}

/* L U of A with rows exchanged (lu_solve), and K <- A^-1 K */
static void factor_and_solve(row6 A[6], row6 K[6], real LU[36], int pivot[6]) {
  for (int j = 0; j < 6; j++) {
    int most = j;
    for (int i = j + 1; i < 6; i++) {
      most = fabs(re(row_get(A[i], j))) > fabs(re(row_get(A[most], j))) ? i : most;
    }
    pivot[j] = most;
    if (most != j) {
      swap_rows(A[j], A[most]);
      swap_rows(K[j], K[most]);
      for (int q = 0; q < j; q++) {
        const real y = LU[6 * j + q];
        LU[6 * j + q] = LU[6 * most + q];
        LU[6 * most + q] = y;
      }
    }
    for (int i = j + 1; i < 6; i++) {
      const real f = row_get(A[i], j) / row_get(A[j], j);
      LU[6 * i + j] = f;
      row_axpy(A[i], -f, A[j]);
      row_axpy(K[i], -f, K[j]);
    }
    for (int q = j; q < 6; q++) {
      LU[6 * j + q] = row_get(A[j], q);
    }
  }
  for (int i = 5; i >= 0; i--) {
    const real scale = 1 / LU[7 * i];
    for (int j = i + 1; j < 6; j++) {
      row_axpy(K[i], -LU[6 * i + j], K[j]);
    }
    for (int j = 0; j < ROW; j++) {
      K[i][j] *= scale;
    }
  }
}

static void full_inertia(const mbg__art_inertia *I, real M[36]) {
  static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      M[6 * i + j] = I->A[place[i][j]];
      M[6 * (3 + i) + 3 + j] = I->C[place[i][j]];
      M[6 * i + 3 + j] = M[6 * (3 + j) + i] = I->B[3 * i + j];
    }
  }
}

/* 1 + Phi Ie, then N = K^T Ie (1 + Phi Ie)^-1 K with the rows of K in P */
void LANES(mbg__exit_factor)(mbg__art_piece *x, real N[36]) {
  row6 Ie[6], A[6], K[6], Y[6], n;
  real full[36];
  full_inertia(&x->Ie, full);
  for (int i = 0; i < 6; i++) {
    row_set(Ie[i], full + 6 * i);
    row_set(K[i], x->P[i]);
  }
  for (int i = 0; i < 6; i++) {
    row_product(A[i], x->Phi + 6 * i, 1, Ie);
    ((real *)A[i])[i] += 1;
  }
  factor_and_solve(A, K, x->LU, x->pivot);
  for (int i = 0; i < 6; i++) {
    row_product(Y[i], full + 6 * i, 1, K);
  }
  for (int i = 0; i < 6; i++) {
    row_product(n, x->P[0] + i, 6, Y);
    for (int j = 0; j < 6; j++) {
      N[6 * i + j] = row_get(n, j);
    }
  }
}

#endif
