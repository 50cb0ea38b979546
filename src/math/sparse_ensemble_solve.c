/* Solutions by the factors of an ensemble (sparse_ensemble.c), in KLU's order. */
#ifdef MBG_ENSEMBLE

#include "math/sparse_ensemble.h"

static void solve_block(const mbg__ensemble_factors *f, int i, int k1, int nk, real *X) {
  const klu_numeric *x = f->of[0];
  const int *rows;
  for (int k = 0; k < nk; k++) {
    const real *L = f->LU + f->room[i] + mbg__klu_column(x, i, x->Lip + k1, x->Llen + k1, k, &rows), x0 = X[k];
    for (int p = 0; p < x->Llen[k1 + k]; p++) {
      X[rows[p]] -= L[p] * x0;
    }
  }
  for (int k = nk - 1; k >= 0; k--) {
    const real *U = f->LU + f->room[i] + mbg__klu_column(x, i, x->Uip + k1, x->Ulen + k1, k, &rows);
    const real x0 = X[k] = X[k] / f->Udiag[k1 + k];
    for (int p = 0; p < x->Ulen[k1 + k]; p++) {
      X[rows[p]] -= U[p] * x0;
    }
  }
}

/* klu_solve */
static void solve(mbg__klu *klu, real *B) {
  const mbg__ensemble_factors *f = klu->use;
  const klu_numeric *x = f->of[0];
  const klu_symbolic *s = klu->symbolic;
  real *X = klu->X;
  for (int k = 0; k < s->n; k++) {
    X[k] = B[x->Pnum[k]] / f->Rs[k];
  }
  for (int i = s->nblocks - 1; i >= 0; i--) {
    const int k1 = s->R[i], k2 = s->R[i + 1];
    if (k2 - k1 == 1) {
      X[k1] = X[k1] / f->Udiag[k1];
    } else {
      solve_block(f, i, k1, k2 - k1, X + k1);
    }
    for (int k = k1; i > 0 && k < k2; k++) {
      for (int p = x->Offp[k]; p < x->Offp[k + 1]; p++) {
        X[x->Offi[p]] -= f->Offx[p] * X[k];
      }
    }
  }
  for (int k = 0; k < s->n; k++) {
    B[s->Q[k]] = X[k];
  }
}

static void solve_block_T(const mbg__ensemble_factors *f, int i, int k1, int nk, real *X) {
  const klu_numeric *x = f->of[0];
  const int *rows;
  for (int k = 0; k < nk; k++) {
    const real *U = f->LU + f->room[i] + mbg__klu_column(x, i, x->Uip + k1, x->Ulen + k1, k, &rows);
    real x0 = X[k];
    for (int p = 0; p < x->Ulen[k1 + k]; p++) {
      x0 -= U[p] * X[rows[p]];
    }
    X[k] = x0 / f->Udiag[k1 + k];
  }
  for (int k = nk - 1; k >= 0; k--) {
    const real *L = f->LU + f->room[i] + mbg__klu_column(x, i, x->Lip + k1, x->Llen + k1, k, &rows);
    real x0 = X[k];
    for (int p = 0; p < x->Llen[k1 + k]; p++) {
      x0 -= L[p] * X[rows[p]];
    }
    X[k] = x0;
  }
}

/* klu_tsolve */
static void solve_T(mbg__klu *klu, real *B) {
  const mbg__ensemble_factors *f = klu->use;
  const klu_numeric *x = f->of[0];
  const klu_symbolic *s = klu->symbolic;
  real *X = klu->X;
  for (int k = 0; k < s->n; k++) {
    X[k] = B[s->Q[k]];
  }
  for (int i = 0; i < s->nblocks; i++) {
    const int k1 = s->R[i], k2 = s->R[i + 1];
    for (int k = k1; i > 0 && k < k2; k++) {
      real x0 = X[k];
      for (int p = x->Offp[k]; p < x->Offp[k + 1]; p++) {
        x0 -= f->Offx[p] * X[x->Offi[p]];
      }
      X[k] = x0;
    }
    if (k2 - k1 == 1) {
      X[k1] = X[k1] / f->Udiag[k1];
    } else {
      solve_block_T(f, i, k1, k2 - k1, X + k1);
    }
  }
  for (int k = 0; k < s->n; k++) {
    B[x->Pnum[k]] = X[k] / f->Rs[k];
  }
}

void mbg__klu_solve(mbg__klu *klu, real *B, int nrhs) {
  for (int r = 0; klu->use && r < nrhs; r++, B += klu->A->ncol) {
    solve(klu, B);
  }
}

void mbg__klu_solve_T(mbg__klu *klu, real *B, int nrhs) {
  for (int r = 0; klu->use && r < nrhs; r++, B += klu->A->ncol) {
    solve_T(klu, B);
  }
}

/* klu_rcond */
mbg__part mbg__klu_ratio(mbg__klu *klu) {
  if (!klu->use) {
    return klu->symbolic ? 0.0 : 1.0;
  }
  mbg__part least = fabs(re(klu->use->Udiag[0])), most = least, zero = 1;
  for (int k = 0; k < klu->symbolic->n; k++) {
    const mbg__part u = fabs(re(klu->use->Udiag[k]));
    least = r_where_part(u < least, u, least);
    most = r_where_part(u > most, u, most);
    zero = r_where_part(u > 0, zero, mbg__part(0.0));
  }
  return r_where_part(zero == 0, mbg__part(0.0), least / most);
}

#else

typedef int mbg__no_ensemble_solve; /* a file is not empty */

#endif
