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

/* y += the symmetric part of the blocks times z */
static void add_blocks(const mbg__start_work *w, const double *z, double *y) {
  const mbg_model *m = w->m;
  for (int b = 0; b < m->nbody; b++) {
    for (int i = 0; i < 3; i++) {
      for (int k = 3; k < 6; k++) {
        const int row = m->dof[m->bodies[b].voff + i], column = m->dof[m->bodies[b].voff + k];
        const double a = row >= 0 && column >= 0 ? re(w->block[b][6 * i + k]) / 2 : 0;
        y[a != 0 ? row : 0] += a != 0 ? a * z[column] : 0;
        y[a != 0 ? column : 0] += a != 0 ? a * z[row] : 0;
      }
    }
  }
}

/* lower triangle of Z^T K Z, the symmetric part */
static void reduced_stiffness(const mbg__start_work *w, int n, const double *Z, double *y, double *A) {
  const mbg__csc *p = &w->sys->patK;
  const size_t nv = (size_t)w->m->nv;
  for (int c = 0; c < n; c++) {
    const double *z = Z + nv * (size_t)c;
    memset(y, 0, nv * sizeof(double));
    for (int j = 0; j < w->m->nv; j++) {
      for (int i = p->colptr[j]; i < p->colptr[j + 1]; i++) {
        y[p->rowind[i]] += re(w->K[i]) * z[j] / 2;
        y[j] += re(w->K[i]) * z[p->rowind[i]] / 2;
      }
    }
    add_blocks(w, z, y);
    for (int r = c; r < n; r++) {
      double sum = 0;
      for (size_t j = 0; j < nv; j++) {
        sum += Z[j + nv * (size_t)r] * y[j];
      }
      A[(size_t)r + (size_t)n * (size_t)c] = sum;
    }
  }
}

int mbg__stiffness_least(mbg_context *ctx, const mbg__start_work *w, double *least) {
  const int n = w->m->nv - w->result.rank->nkept;
  const size_t nv = (size_t)w->m->nv;
  int err = MBG_OK;
  mbg__arena arena;
  *least = 0;
  if (n == 0 || w->m->nv > DENSE_MAX) {
    return MBG_OK;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  double *Z = MBG_TAKE(&arena, double, nv *(size_t)n), *A = MBG_TAKE(&arena, double, (size_t)n *(size_t)n);
  double *y = MBG_TAKE(&arena, double, nv), *value = MBG_TAKE(&arena, double, n);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  MBG_TRY(mbg__rank_motions(ctx, w->result.rank, w->sys, w->B, Z));
  reduced_stiffness(w, n, Z, y, A);
  MBG_TRY(mbg__eigen_symmetric(ctx, n, A, value));
  *least = value[0];
done:
  mbg__arena_destroy(&arena);
  return err;
}
