/* Residuals of the assembled equations and refinement of their solutions. */
#include "formulations/dca/dca_assembly_internal.h"

#include "math/vec.h"

#include <string.h>

/* ---------------------------------------------------------------------- entries by rows */

/* the pattern A by rows, columns ascending */
static void by_rows(const mbg__csc *A, int *first, int *entry, int *col) {
  for (int j = 0; j < A->ncol; j++) {
    for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) {
      first[A->rowind[k] + 1]++;
    }
  }
  for (int i = 0; i < A->nrow; i++) {
    first[i + 1] += first[i];
  }
  for (int j = A->ncol - 1; j >= 0; j--) {
    for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) {
      const int at = --first[A->rowind[k] + 1];
      entry[at] = k;
      col[at] = j;
    }
  }
  /* first[i + 1] is where row i begins now */
  for (int i = 0; i < A->nrow; i++) {
    first[i] = first[i + 1];
  }
  first[A->nrow] = A->colptr[A->ncol];
}

int mbg__dca_assembly_rows(mbg_context *ctx, mbg__arena *arena, mbg__dca_assembly *a) {
  const int nM = mbg__csc_count(a->patM), nB = mbg__csc_count(a->patB);
  a->rowM = MBG_TAKE(arena, int, a->patM->nrow + 1);
  a->rowB = MBG_TAKE(arena, int, a->patB->nrow + 1);
  a->entryM = MBG_TAKE(arena, int, nM);
  a->entryB = MBG_TAKE(arena, int, nB);
  a->colM = MBG_TAKE(arena, int, nM);
  a->colB = MBG_TAKE(arena, int, nB);
  a->most_B = mbg__arena_take(arena, (size_t)mbg__pool_threads(a->pool), sizeof(*a->most_B));
  if (arena->failed) {
    return mbg__fail_memory(ctx);
  }
  by_rows(a->patM, a->rowM, a->entryM, a->colM);
  by_rows(a->patB, a->rowB, a->entryB, a->colB);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- refinement */

/* is free velocity j an angular one? */
static bool turns(const mbg_model *m, int j) { return m->full[j] % 6 >= 3 && m->bodies[m->full[j] / 6].carrier < 0; }

/* the largest mass, or inertia divided by the model's size squared */
static double heaviest(const mbg__dca_assembly *a) {
  const double length = a->m->size > 0 ? a->m->size : 1;
  double most = 0;
  for (int j = 0; j < a->m->nv; j++) {
    const double scale = turns(a->m, j) ? length : 1;
    for (int k = a->patM->colptr[j]; k < a->patM->colptr[j + 1]; k++) {
      most = a->patM->rowind[k] == j ? fmax(most, fabs(re(a->M[k])) / (scale * scale)) : most;
    }
  }
  return most;
}

/* fmax without a call */
static inline double larger(double a, double b) { return b > a ? b : a; }

static void largest_of(void *user, int thread, int first, int end) {
  const mbg__dca_assembly *a = user;
  double *most = a->most_B[thread];
  for (int j = first; j < end; j++) {
    double own = 0;
    for (int k = a->patB->colptr[j]; k < a->patB->colptr[j + 1]; k++) {
      own = a->rank->keep[a->patB->rowind[k]] ? larger(own, fabs(re(a->B[k]))) : own;
    }
    const int turning = turns(a->m, j);
    most[turning] = larger(most[turning], own);
  }
}

/* items of a piece */
static int piece_of(mbg__pool *pool, int n) { return n / (3 * mbg__pool_threads(pool)) + 32; }

double mbg__dca_largest_row(const mbg__dca_assembly *a) {
  const double length = a->m->size > 0 ? a->m->size : 1;
  const int threads = mbg__pool_threads(a->pool);
  double most[2] = {0};
  memset(a->most_B, 0, (size_t)threads * sizeof(*a->most_B));
  mbg__pool_for(a->pool, MBG__LOOP_LARGEST, a->m->nv, piece_of(a->pool, a->m->nv), largest_of, (void *)a);
  for (int i = 0; i < threads; i++) {
    most[0] = larger(most[0], a->most_B[i][0]);
    most[1] = larger(most[1], a->most_B[i][1]);
  }
  return larger(most[0], most[1] / length);
}

/* Where forces and reactions balance each other, all accelerations are rounding, and without forces so are the forces.
   The least acceleration that counts is what the largest force would give the largest mass, and what the motion says:
   a->least. */
static double least_acceleration(const mbg__dca_assembly *a, int m, int q, const double *force, double mass) {
  const double length = a->m->size > 0 ? a->m->size : 1;
  double strongest = 0;
  for (int j = 0; j < a->m->nv; j++) {
    strongest = fmax(strongest, force[(size_t)j * (size_t)m + (size_t)q] / (turns(a->m, j) ? length : 1));
  }
  return mass > 0 ? fmax(a->least, strongest / mass) : a->least;
}

typedef struct {
  const mbg__dca_assembly *a;
  mbg__dca_panel *p;
  int m;
  const real *x;
} rest;

/* dx_i -= A_ij x_j for one entry, size_i += |A_ij x_j| */
static void subtract(const rest *r, real *dx, double *size, real value, int j) {
  const real *x = r->x + (size_t)j * (size_t)r->m;
  for (int q = 0; q < r->m; q++) {
    const real z = value * x[q];
    dx[q] -= z;
    size[q] += fabs(re(z));
  }
}

/* equation i: of a body, or of a row */
static void equation(const rest *r, int i) {
  const mbg__dca_assembly *a = r->a;
  const int nv = a->m->nv, row = i - nv;
  const size_t at = (size_t)i * (size_t)r->m;
  real *dx = r->p->dx + at;
  double *size = r->p->size + at;
  for (int q = 0; q < r->m; q++) {
    dx[q] = r->p->x0[at + (size_t)q];
    size[q] = fabs(re(dx[q]));
  }
  if (row < 0) {
    for (int e = a->rowM[i]; e < a->rowM[i + 1]; e++) {
      subtract(r, dx, size, a->M[a->entryM[e]], a->colM[e]);
    }
    for (int k = a->patB->colptr[i]; k < a->patB->colptr[i + 1]; k++) {
      if (a->rank->keep[a->patB->rowind[k]]) {
        subtract(r, dx, size, a->B[k], nv + a->patB->rowind[k]);
      }
    }
  } else if (a->rank->keep[row]) {
    for (int e = a->rowB[row]; e < a->rowB[row + 1]; e++) {
      subtract(r, dx, size, a->B[a->entryB[e]], a->colB[e]);
    }
  }
}

/* Largest entries that a thread has seen, of each column: residuals and terms in the equations of bodies, then of rows,
   then accelerations scaled to lengths. */
static void note(const rest *r, int i, double *most) {
  const mbg__dca_assembly *a = r->a;
  const int nv = a->m->nv, part = i >= nv, m = r->m;
  const size_t at = (size_t)i * (size_t)m;
  const double length = a->m->size > 0 ? a->m->size : 1, scale = !part && turns(a->m, i) ? length : 1;
  const bool dropped = part && a->owner[i - nv] < 0;
  for (int q = 0; q < m; q++) {
    if (dropped) {
      r->p->dx[at + (size_t)q] = 0;
      continue;
    }
    double *own = most + 2 * part * m + q;
    own[0] = larger(own[0], fabs(re(r->p->dx[at + (size_t)q])));
    own[m] = larger(own[m], r->p->size[at + (size_t)q]);
    if (!part) {
      most[4 * m + q] = larger(most[4 * m + q], scale * fabs(re(r->x[at + (size_t)q])));
    }
  }
}

static void equations(void *user, int thread, int first, int end) {
  const rest *r = user;
  for (int i = first; i < end; i++) {
    equation(r, i);
    note(r, i, r->p->most + (size_t)thread * r->p->nmost);
  }
}

/* over all threads, into those of the first */
static void gather_most(mbg__dca_panel *p) {
  for (size_t i = p->nmost; i < p->nmost * (size_t)mbg__pool_threads(p->pool); i++) {
    p->most[i % p->nmost] = larger(p->most[i % p->nmost], p->most[i]);
  }
}

/* dx = x0 - K x; the largest entry relative to the terms of its equations, or (balanced) to terms that count. The size
   of B x follows from norms: the largest entry of B times the largest acceleration. The terms of a row may all be
   rounding, because a body pinned at its origin does not accelerate there; they are no measure of the residual then. */
static double residual(const mbg__dca_assembly *a, mbg__dca_panel *p, int m, const real *x, bool balanced) {
  const double mass = balanced ? heaviest(a) : 0;
  const int n = a->m->nv + a->m->nrow;
  double worst = 0;
  memset(p->most, 0, p->nmost * (size_t)mbg__pool_threads(p->pool) * sizeof(double));
  mbg__pool_for(p->pool, MBG__LOOP_RESIDUAL, n, piece_of(p->pool, n), equations, &(rest){a, p, m, x});
  gather_most(p);
  for (int q = 0; q < m; q++) {
    const double least = balanced ? least_acceleration(a, m, q, p->size, mass) : 0;
    const double bodies = larger(mass * a->least * fmin(1, a->m->size), p->most[m + q]);
    const double rows = larger(a->largest_row * larger(least, p->most[4 * m + q]), p->most[3 * m + q]);
    worst = bodies > 0 ? larger(worst, p->most[q] / bodies) : worst;
    worst = rows > 0 ? larger(worst, p->most[2 * m + q] / rows) : worst;
  }
  return worst;
}

void mbg__dca_assembly_motion(mbg__dca_assembly *a, const real *v) {
  const double length = a->m->size > 0 ? a->m->size : 1;
  double fastest = 0;
  for (int j = 0; v && j < a->m->nv; j++) {
    fastest = larger(fastest, (turns(a->m, j) ? 1 : 1 / length) * fabs(re(v[a->m->full[j]])));
  }
  a->least = 1e-6 * fastest * fastest * length;
}

double mbg__dca_assembly_solve(const mbg__dca_assembly *a, mbg__dca_panel *p, int ncol, real *x) {
  const size_t n = (size_t)(a->m->nv + a->m->nrow) * (size_t)ncol;
  memcpy(p->x0, x, n * sizeof(real));
  mbg__dca_sweep(a, p, ncol, x);
  double worst = residual(a, p, ncol, x, false);
  const bool hard = a->regularized || a->close;
  const int rounds = hard ? 6 : 2, least = hard || sizeof(real) > sizeof(double) ? 2 : a->always_refine;
  for (int round = 0; round < rounds && (worst > 1e-12 || round < least); round++) {
    mbg__dca_sweep(a, p, ncol, p->dx);
    for (size_t i = 0; i < n; i++) {
      x[i] += p->dx[i];
    }
    worst = residual(a, p, ncol, x, false);
  }
  return worst > 1e-9 ? residual(a, p, ncol, x, true) : worst;
}
