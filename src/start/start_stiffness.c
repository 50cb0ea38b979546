/* Stiffness in the metric at a configuration of the search for an equilibrium. */
#include "start/start_equilibrium.h"

#include "math/spectrum.h"

#include <string.h>

enum { DENSE_MAX = 400 };

double mbg__stiffness_largest(const mbg__start_work *w) {
  const mbg__csc *p = &w->sys->patK;
  double most = 0;
  for (int j = 0; j < w->m->nv; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      most = p->rowind[i] == j ? fmax(most, fabs(re(w->K[i])) / w->W[w->m->full[j]]) : most;
    }
  }
  return most;
}

double mbg__stiffness_added(const mbg__start_work *w) {
  const double most = w->indifferent ? mbg__stiffness_largest(w) : 0;
  return !w->indifferent ? 0 : most > 0 ? 1e-9 * most : 1;
}

/* rows of n numbers: y_i += a z_k / 2 and y_k += a z_i / 2 */
static void add_entry(int n, double a, int i, int k, const double *Z, double *Y) {
  const double *zi = Z + (size_t)i * (size_t)n, *zk = Z + (size_t)k * (size_t)n;
  double *yi = Y + (size_t)i * (size_t)n, *yk = Y + (size_t)k * (size_t)n;
  for (int c = 0; c < n; c++) {
    yi[c] += a * zk[c] / 2;
  }
  for (int c = 0; c < n; c++) {
    yk[c] += a * zi[c] / 2;
  }
}

/* Y = the symmetric part of K and of the blocks times Z, both by rows (nv x n) */
static void stiffness_mul(const mbg__start_work *w, int n, const double *Z, double *Y) {
  const mbg_model *m = w->m;
  const mbg__csc *p = &w->sys->patK;
  memset(Y, 0, (size_t)m->nv * (size_t)n * sizeof(double));
  for (int j = 0; j < m->nv; j++) {
    for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
      add_entry(n, re(w->K[i]), p->rowind[i], j, Z, Y);
    }
  }
  for (int b = 0; b < m->nbody; b++) {
    for (int i = 0; i < 3; i++) {
      for (int k = 3; k < 6; k++) {
        const int row = m->dof[m->bodies[b].voff + i], column = m->dof[m->bodies[b].voff + k];
        if (row >= 0 && column >= 0 && re(w->block[b][6 * i + k]) != 0) {
          add_entry(n, re(w->block[b][6 * i + k]), row, column, Z, Y);
        }
      }
    }
  }
}

/* Z^T Y, of which the lower triangle is wanted: by BLAS where it pays */
static void product(int nv, int n, const double *Z, const double *Y, double *A) {
  if (n >= MBG__LEAST_LARGE) {
    mbg__product_NT(n, nv, Z, Y, A);
    return;
  }
  for (int c = 0; c < n; c++) {
    for (int r = c; r < n; r++) {
      double sum = 0;
      for (size_t j = 0; j < (size_t)nv; j++) {
        sum += Z[j * (size_t)n + (size_t)r] * Y[j * (size_t)n + (size_t)c];
      }
      A[(size_t)r + (size_t)n * (size_t)c] = sum;
    }
  }
}

int mbg__stiffness_least(mbg_context *ctx, const mbg__start_work *w, double *least) {
  const int n = w->m->nv - w->result.rank->nkept;
  const size_t nv = (size_t)w->m->nv, width = (size_t)n;
  int err = MBG_OK;
  mbg__arena arena;
  *least = 0;
  if (n == 0 || w->m->nv > DENSE_MAX) {
    return MBG_OK;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  double *Y = MBG_TAKE(&arena, double, nv *width), *A = MBG_TAKE(&arena, double, width *width);
  double *Z = MBG_TAKE(&arena, double, nv *width);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  MBG_TRY(mbg__rank_motions(ctx, w->result.rank, w->sys, w->B, Y));
  for (size_t j = 0; j < nv; j++) {
    for (size_t c = 0; c < width; c++) {
      Z[j * width + c] = Y[j + nv * c];
    }
  }
  stiffness_mul(w, n, Z, Y);
  product(w->m->nv, n, Z, Y, A);
  MBG_TRY(mbg__eigen_least(ctx, n, A, least));
done:
  mbg__arena_destroy(&arena);
  return err;
}
