/* The third way to the derivatives of the orthogonal factors, which the paper avoids: the algorithm of the
   decomposition is differentiated operation by operation, once for each direction.

     H_k = 1 - b v v^T,  v = x - alpha e,  alpha = -sign(x_1) |x|,  b = 2/(v.v)        Q = H_1 ... H_r,  R = Q^T B^T
     dalpha = -sign(x_1) x.dx/|x|,  dv = dx - dalpha e,  db = -b^2 v.dv
     N R^T = Q1,  dN R^T = dQ1 - N dR^T

   This dQ2 has another gauge than (Q1): the columns of Q2 turn among themselves. The equations of motion do not see it.
   Matrices are column-major. */
#include "bench/study/study_internal.h"

#include <math.h>
#include <string.h>

int study_algorithm_prepare(mbg_context *ctx, study *s) {
  const size_t n = (size_t)s->n, r = (size_t)s->r;
  mbg__arena *a = &s->arena;
  double **const matrices[] = {&s->A, &s->dA, &s->V, &s->dV};
  for (int i = 0; i < MBG_COUNT(matrices); i++) {
    *matrices[i] = MBG_TAKE(a, double, n *r);
  }
  s->b = MBG_TAKE(a, double, r);
  s->db = MBG_TAKE(a, double, r);
  s->column[0] = MBG_TAKE(a, double, n);
  s->column[1] = MBG_TAKE(a, double, n);
  return mbg__arena_check(ctx, a);
}

/* a <- H_k a and its change */
static void reflect(const study *s, int k, double *a, double *da) {
  const int n = s->n;
  const double *v = s->V + (size_t)n * (size_t)k, *dv = s->dV + (size_t)n * (size_t)k;
  const double va = vn_dot(n, v, a), c = s->b[k] * va;
  const double dc = s->db[k] * va + s->b[k] * (vn_dot(n, dv, a) + vn_dot(n, v, da));
  vn_axpy(n, da, -dc, v);
  vn_axpy(n, da, -c, dv);
  vn_axpy(n, a, -c, v);
}

/* the reflection that clears column k below its diagonal */
static void make_reflection(study *s, int k) {
  const int n = s->n;
  const size_t at = (size_t)n * (size_t)k;
  double *v = s->V + at, *dv = s->dV + at;
  vn_zero(k, v);
  vn_zero(k, dv);
  memcpy(v + k, s->A + at + k, (size_t)(n - k) * sizeof(double));
  memcpy(dv + k, s->dA + at + k, (size_t)(n - k) * sizeof(double));
  const double length = sqrt(vn_dot(n, v, v)), sign = v[k] < 0 ? 1 : -1;
  const double dalpha = sign * vn_dot(n, v, dv) / length;
  v[k] -= sign * length;
  dv[k] -= dalpha;
  s->b[k] = 2 / vn_dot(n, v, v);
  s->db[k] = -s->b[k] * s->b[k] * vn_dot(n, v, dv);
}

/* column j of Q and dQ */
static void orthogonal_column(study *s, int j) {
  vn_zero(s->n, s->column[0]);
  vn_zero(s->n, s->column[1]);
  s->column[0][j] = 1;
  for (int k = s->r - 1; k >= 0; k--) {
    reflect(s, k, s->column[0], s->column[1]);
  }
}

/* N and dN, columns from the last: N_j = (Q1_j - sum_k>j N_k R_jk)/R_jj */
static void solve_N(study *s) {
  const int n = s->n;
  for (int j = s->r - 1; j >= 0; j--) {
    double *N = s->N + (size_t)n * (size_t)j, *dN = s->dN + (size_t)n * (size_t)j;
    orthogonal_column(s, j);
    memcpy(N, s->column[0], (size_t)n * sizeof(double));
    memcpy(dN, s->column[1], (size_t)n * sizeof(double));
    for (int k = j + 1; k < s->r; k++) {
      const size_t at = (size_t)j + (size_t)n * (size_t)k;
      vn_axpy(n, N, -s->A[at], s->N + (size_t)n * (size_t)k);
      vn_axpy(n, dN, -s->A[at], s->dN + (size_t)n * (size_t)k);
      vn_axpy(n, dN, -s->dA[at], s->N + (size_t)n * (size_t)k);
    }
    const size_t diagonal = (size_t)j + (size_t)n * (size_t)j;
    vn_scale(n, N, 1 / s->A[diagonal], N);
    vn_axpy(n, dN, -s->dA[diagonal], N);
    vn_scale(n, dN, 1 / s->A[diagonal], dN);
  }
}

void study_algorithm(study *s, const double *dB) {
  const int n = s->n, r = s->r;
  study_fill_B_T(s, s->A);
  for (int i = 0; i < r; i++) {
    for (int j = 0; j < n; j++) {
      s->dA[j + n * i] = dB ? dB[i + r * j] : 0;
    }
  }
  for (int k = 0; k < r; k++) {
    make_reflection(s, k);
    for (int i = k; i < r; i++) {
      reflect(s, k, s->A + (size_t)n * (size_t)i, s->dA + (size_t)n * (size_t)i);
    }
  }
  solve_N(s);
  for (int k = 0; k < s->f; k++) {
    orthogonal_column(s, r + k);
    memcpy(s->Q2 + (size_t)n * (size_t)k, s->column[0], (size_t)n * sizeof(double));
    memcpy(s->dQ2 + (size_t)n * (size_t)k, s->column[1], (size_t)n * sizeof(double));
  }
}
