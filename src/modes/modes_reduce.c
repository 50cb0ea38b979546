/* Reduction of the linearized model to its freedoms with inertia. Unknowns are scaled by the metric, x = S q^, S =
   W^-1/2; an orthonormal basis Z of the allowed motions takes out the constraints, and the eigenvalues of the mass
   matrix take it out:

     Z^T S M S Z = Q diag(mu) Q^T,   x = S Z Q mu^-1/2 u:   symmetric   A u = omega^2 u
                                                            general     u'' + C u' + A u = 0 */
#include "modes/modes_reduced.h"

#include "math/dense.h"
#include "math/spectrum.h"

#include <string.h>

static const double massless_limit = 1e-13; /* inertia of a freedom relative to the largest, in the metric */

/* sum_k A_ik x_k, A n x n */
static double row_dot(int n, const double *A, int i, const double *x) {
  double sum = 0;
  for (int k = 0; k < n; k++) {
    sum += A[i + (size_t)n * (size_t)k] * x[k];
  }
  return sum;
}

int mbg__reduced_project(const mbg__reduced *d, int n, const real *A, double *out) {
  double *y = mbg__alloc(d->w->ctx, (size_t)d->nv, sizeof(double));
  if (!y) {
    return mbg__fail_memory(d->w->ctx);
  }
  for (int k = 0; k < n; k++) {
    mbg__modes_mul(d->w, A, column(d->Z, d->nv, k), y);
    mbg__modes_late_combine(d->w, y);
    for (int i = 0; i < n; i++) {
      column(out, n, k)[i] = dot(d->nv, column(d->Z, d->nv, i), y);
    }
  }
  mbg__free(d->w->ctx, y);
  return MBG_OK;
}

/* Z <- Z T, T is n x k; in place with a row of scratch */
static int times(mbg__reduced *d, int n, int k, double *T) {
  double *row = mbg__alloc(d->w->ctx, (size_t)n, sizeof(double));
  if (!row) {
    return mbg__fail_memory(d->w->ctx);
  }
  for (int j = 0; j < d->nv; j++) {
    for (int i = 0; i < n; i++) {
      row[i] = column(d->Z, d->nv, i)[j];
    }
    for (int c = 0; c < k; c++) {
      column(d->Z, d->nv, c)[j] = dot(n, row, column(T, n, c));
    }
  }
  mbg__free(d->w->ctx, row);
  return MBG_OK;
}

/* freedoms without inertia follow the others: columns of Z become those with inertia 1, corrected by -K_ss^-1 K_sr */
static int condense(mbg__reduced *d) {
  const int n = d->n, s = n - d->nr;
  mbg__lu lu;
  int err = MBG_OK;
  double *T = MBG_TAKE(&d->arena, double, (size_t)n *(size_t)d->nr);
  real *R = MBG_TAKE(&d->arena, real, (size_t)s * (size_t)d->nr);
  double *KQ = MBG_TAKE(&d->arena, double, (size_t)n *(size_t)n);
  (void)mbg__lu_prepare(&lu, &d->arena, s);
  MBG_TRY(mbg__arena_check(d->w->ctx, &d->arena));
  /* the first s columns of Q have no inertia */
  for (int c = 0; c < n; c++) {
    for (int i = 0; i < n; i++) {
      column(KQ, n, c)[i] = row_dot(n, d->K, i, column(d->Q, n, c));
    }
    for (int i = 0; i < s; i++) {
      const double sum = dot(n, column(d->Q, n, i), column(KQ, n, c));
      if (c < s) {
        lu.A[i + (size_t)s * (size_t)c] = sum;
      } else {
        R[i + (size_t)s * (size_t)(c - s)] = -sum;
      }
    }
  }
  if (s > 0 && (mbg__lu_factor(&lu, NULL) < 0 || mbg__lu_ratio(&lu, NULL) < 1e-14)) {
    err = mbg__fail(d->w->ctx, MBG_ERROR_SINGULAR,
                    "a freedom has neither inertia nor stiffness: it has no mode and cannot be left out; give its body "
                    "a mass");
    goto done;
  }
  if (s > 0) {
    mbg__lu_solve(&lu, R, d->nr);
  }
  for (int c = 0; c < d->nr; c++) {
    const double scale = 1 / sqrt(d->mu[s + c]);
    for (int i = 0; i < n; i++) {
      double sum = column(d->Q, n, s + c)[i];
      for (int k = 0; k < s; k++) {
        sum += column(d->Q, n, k)[i] * re(R[k + (size_t)s * (size_t)c]);
      }
      column(T, n, c)[i] = scale * sum;
    }
  }
  MBG_TRY(times(d, n, d->nr, T));
done:
  return err;
}

/* does damping act in freedoms without inertia? C in the metric */
static bool damps_massless(const mbg__reduced *d) {
  const int n = d->n;
  double within = 0, most = 0;
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) {
      most = fmax(most, fabs(column(d->C, n, k)[i]));
    }
  }
  for (int k = 0; k < n - d->nr; k++) {
    const double *q = column(d->Q, n, k);
    double sum = 0;
    for (int i = 0; i < n; i++) {
      sum += q[i] * row_dot(n, d->C, i, q);
    }
    within = fmax(within, fabs(sum));
  }
  return within > 1e-12 * most;
}

/* Z becomes the map from u to x; K and C in u */
static int reduce(mbg__reduced *d) {
  const mbg__modes_work *w = d->w;
  const int n = d->n;
  int err = MBG_OK;
  MBG_TRY(mbg__rank_motions(w->ctx, w->result->rank, w->sys, w->B, d->Z));
  MBG_TRY(mbg__reduced_project(d, n, w->M, d->Q));
  err = mbg__eigen_symmetric(w->ctx, n, d->Q, d->mu);
  if (err < 0) {
    return mbg__modes_not_found(w, err);
  }
  d->nr = n;
  for (int i = 0; i < n && d->mu[i] <= massless_limit * d->mu[n - 1]; i++) {
    d->nr--;
  }
  MBG_TRY(mbg__reduced_project(d, n, w->K, d->K));
  MBG_TRY(mbg__reduced_project(d, n, w->C, d->C));
  d->massless_damped = damps_massless(d);
  MBG_TRY(condense(d));
  MBG_TRY(mbg__reduced_project(d, d->nr, w->K, d->K));
  MBG_TRY(mbg__reduced_project(d, d->nr, w->C, d->C));
done:
  return err;
}

/* (K + K^T)/2 */
static void symmetrize(int n, double *K) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double *a = &K[i + (size_t)n * (size_t)j], *b = &K[j + (size_t)n * (size_t)i];
      *a = *b = (*a + *b) / 2;
    }
  }
}

/* A <- U^T A U with scratch T, all n x n: T = (A U)^T, then A = (T U)^T */
static void rotate(int n, double *U, double *A, double *T) {
  for (int pass = 0; pass < 2; pass++) {
    double *from = pass ? T : A, *to = pass ? A : T;
    for (int i = 0; i < n; i++) {
      for (int c = 0; c < n; c++) {
        column(to, n, i)[c] = row_dot(n, from, i, column(U, n, c));
      }
    }
  }
}

/* Z, K, C <- Z U, U^T K U, U^T C U with scratch T */
static int change(mbg__reduced *d, double *U, double *T) {
  const int err = times(d, d->nr, d->nr, U);
  rotate(d->nr, U, d->K, T);
  rotate(d->nr, U, d->C, T);
  return err;
}

/* row of Z that is the place of a state */
static int place_of(const mbg__reduced *d, int state) { return d->w->m->dof[mbg__modes_place(d->w->m, state)]; }

/* The places of states become the last coordinates. Z^T M Z = 1, and their masses are 1 and touch no others: so the
   rows of Z at places are the places in u, orthonormal, and their complement is the null space of P = sum of row^T row.
   */
static int separate(mbg__reduced *d, double *U, double *T) {
  const int n = d->nr, nx = n - d->nm;
  memset(U, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int s = 0; s < nx; s++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        column(U, n, j)[i] += column(d->Z, d->nv, i)[place_of(d, s)] * column(d->Z, d->nv, j)[place_of(d, s)];
      }
    }
  }
  int err = mbg__eigen_symmetric(d->w->ctx, n, U, d->omega2); /* 0 nm times, then 1 */
  if (err < 0) {
    return mbg__modes_not_found(d->w, err);
  }
  for (int s = 0; s < nx; s++) {
    for (int i = 0; i < n; i++) {
      column(U, n, d->nm + s)[i] = column(d->Z, d->nv, i)[place_of(d, s)];
    }
  }
  MBG_TRY(change(d, U, T));
  /* without the rounding of the change */
  for (int s = 0; s < nx; s++) {
    memset(column(d->K, n, d->nm + s), 0, (size_t)n * sizeof(double));
    memset(column(d->Z, d->nv, d->nm + s), 0, (size_t)d->nv * sizeof(double));
    for (int i = 0; i < n; i++) {
      column(d->Z, d->nv, i)[place_of(d, s)] = i == d->nm + s;
    }
  }
  memset(d->omega2, 0, (size_t)n * sizeof(double));
done:
  return err;
}

/* u becomes the coordinates of the modes of the symmetric part of K: Z, K, C in these */
static int decompose(mbg__reduced *d) {
  const int n = d->nr, nm = d->nm;
  const size_t square = (size_t)n * (size_t)n;
  int err = MBG_OK;
  double *U = MBG_TAKE(&d->arena, double, square), *T = MBG_TAKE(&d->arena, double, square);
  d->omega2 = MBG_TAKE(&d->arena, double, n);
  MBG_TRY(mbg__arena_check(d->w->ctx, &d->arena));
  if (nm < n) {
    MBG_TRY(separate(d, U, T));
  }
  for (int j = 0; j < nm; j++) {
    memcpy(column(T, nm, j), column(d->K, n, j), (size_t)nm * sizeof(double));
  }
  symmetrize(nm, T);
  err = nm > 0 ? mbg__eigen_symmetric(d->w->ctx, nm, T, d->omega2) : MBG_OK;
  if (err < 0) {
    return mbg__modes_not_found(d->w, err);
  }
  memset(U, 0, square * sizeof(double));
  for (int j = 0; j < n; j++) {
    memcpy(column(U, n, j), column(T, nm, j), (size_t)(j < nm ? nm : 0) * sizeof(double));
    column(U, n, j)[j] = j < nm ? column(U, n, j)[j] : 1;
  }
  MBG_TRY(change(d, U, T));
done:
  return err;
}

int mbg__reduced_create(mbg__reduced *d) {
  const size_t square = (size_t)d->n * (size_t)d->n;
  int err = MBG_OK;
  d->mu = MBG_TAKE(&d->arena, double, d->n);
  d->Q = MBG_TAKE(&d->arena, double, square);
  d->K = MBG_TAKE(&d->arena, double, square);
  d->C = MBG_TAKE(&d->arena, double, square);
  d->Z = MBG_TAKE(&d->arena, double, (size_t)d->nv *(size_t)d->n);
  MBG_TRY(mbg__arena_check(d->w->ctx, &d->arena));
  MBG_TRY(reduce(d));
  d->nm = d->nr - d->w->m->nstate;
  if (d->nr > 0) {
    MBG_TRY(decompose(d));
  }
done:
  return err;
}

double mbg__reduced_rounding(const mbg__reduced *d) {
  return d->nm > 0 ? 1e-13 * fmax(fabs(d->omega2[0]), fabs(d->omega2[d->nm - 1])) : 0;
}
