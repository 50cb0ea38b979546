/* Modes of the symmetric problem: no damping, K symmetric. */
#include "modes/modes_reduced.h"

#include <string.h>

double mbg__modes_stiffness_floor(const mbg__modes_work *w, const double *x) {
  const mbg__csc *P = mbg__system_pattern_K(w->sys);
  double most = 0, size = 0;
  for (int j = 0; j < w->m->nv; j++) {
    size += x[j] * x[j] * w->W[j];
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      most = fmax(most, fabs(re(w->Kx[i])) / sqrt(w->W[j] * w->W[P->rowind[i]]));
    }
  }
  return 2e-13 * most * size;
}

/* a pair of the symmetric problem; multipliers need the metric's factors */
static int keep_symmetric(mbg__modes_work *w, mbg__mode *mode, double omega2, const double *X, bool zero) {
  const int nv = w->m->nv;
  int err = MBG_OK;
  double *f = MBG_TAKE(&w->arena, double, nv), *g = MBG_TAKE(&w->arena, double, nv);
  mode->x[0] = MBG_TAKE(&w->arena, double, nv);
  mode->xi[0] = MBG_TAKE(&w->arena, double, w->m->nrow);
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  memcpy(mode->x[0], X, (size_t)nv * sizeof(double));
  mode->y[0] = mode->x[0];
  mode->eta[0] = mode->xi[0];
  mode->zero = zero;
  mode->s2 = mode->zero ? 0 : -omega2;
  mode->s[0] = mode->s2 > 0 ? sqrt(mode->s2) : 0;
  mode->s[1] = mode->s2 < 0 ? sqrt(-mode->s2) : 0;
  mbg__modes_mul(w, w->K, X, f);
  mbg__modes_mul(w, w->M, X, g);
  axpy(nv, mode->s2, g, f);
  MBG_TRY(mbg__modes_multipliers(w, f, mode->xi[0]));
done:
  return err;
}

double mbg__modes_lowest(const mbg__modes_work *w, int count, const double *omega2, double *X, double off,
                         bool *zeros) {
  double least = 0;
  *zeros = false;
  for (int k = 0; k < count; k++) {
    const bool zero = fabs(omega2[k]) <= fmax(off, mbg__modes_stiffness_floor(w, column(X, w->m->nv, k)));
    *zeros = *zeros || zero;
    least = !zero && (least == 0 || fabs(omega2[k]) < least) ? fabs(omega2[k]) : least;
  }
  return least;
}

/* of squares: frequencies that are equal to 1e-9, as in modes.c */
static bool same(double a, double b) { return fabs(a - b) <= 2e-9 * fmax(fabs(a), fabs(b)); }

/* modes to be listed: those asked for, zeros besides, and the rest of a set that has the same eigenvalue as the last
   one */
static int listed(const mbg__modes_work *w, int found, const double *omega2, const bool *zero) {
  int n = 0, others = 0;
  while (n < found && others < w->opt.count) {
    others += !zero[n++];
  }
  while (n > 0 && n < found && (zero[n] || same(omega2[n], omega2[n - 1]))) {
    n++;
  }
  return n;
}

int mbg__modes_keep_zero(mbg__modes_work *w, int room, const double *x, const double *y) {
  const size_t bytes = (size_t)w->m->nv * sizeof(double);
  if (!w->zero) {
    w->zero = MBG_TAKE(&w->arena, double *, room);
    w->zero_left = MBG_TAKE(&w->arena, double *, room);
  }
  double *right = MBG_TAKE(&w->arena, double, w->m->nv), *left = y ? MBG_TAKE(&w->arena, double, w->m->nv) : right;
  if (mbg__arena_check(w->ctx, &w->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  memcpy(right, x, bytes);
  memcpy(left, y ? y : x, bytes);
  w->zero[w->nzero] = right;
  w->zero_left[w->nzero++] = left;
  return MBG_OK;
}

static int finish_symmetric(mbg__modes_work *w, int found, double *omega2, double *X, double off) {
  int err = MBG_OK;
  bool zeros, *zero = MBG_TAKE(&w->arena, bool, found);
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  w->count = found;
  const double least = mbg__modes_lowest(w, found, omega2, X, off, &zeros);
  if (least > 0) {
    MBG_TRY(mbg__modes_polish(w, zeros ? -0.1 * least : 0, omega2, X));
  }
  for (int k = 0; k < found; k++) {
    const double limit = fmax(mbg__modes_stiffness_floor(w, column(X, w->m->nv, k)), least > 0 ? 1e-10 * least : off);
    zero[k] = fabs(omega2[k]) <= limit;
    w->unresolved = zero[k] ? fmax(w->unresolved, sqrt(limit)) : w->unresolved;
  }
  w->count = listed(w, found, omega2, zero);
  w->modes = MBG_TAKE(&w->arena, mbg__mode, w->count);
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  MBG_TRY(mbg__modes_factor(w, 0, 0, 1, "modes"));
  for (int k = 0; k < w->count; k++) {
    const double *x = column(X, w->m->nv, k);
    MBG_TRY(keep_symmetric(w, &w->modes[k], omega2[k], x, zero[k]));
    if (zero[k]) {
      MBG_TRY(mbg__modes_keep_zero(w, w->count, x, NULL));
    }
  }
done:
  return err;
}

int mbg__modes_symmetric(mbg__reduced *d) {
  int found = 0, others = 0;
  while (found < d->nr && others < d->w->opt.count + MBG__MODES_SPARE) {
    others += fabs(d->omega2[found++]) > mbg__reduced_rounding(d);
  }
  return finish_symmetric(d->w, found, d->omega2, d->Z, mbg__reduced_rounding(d));
}

int mbg__modes_symmetric_sparse(mbg__modes_work *w) {
  const int found = w->opt.count + MBG__MODES_SPARE;
  double off, *omega2 = MBG_TAKE(&w->arena, double, found);
  double *X = MBG_TAKE(&w->arena, double, (size_t)found *(size_t)w->m->nv);
  int err = MBG_OK;
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  w->count = found;
  w->solver = "shift-invert";
  MBG_TRY(mbg__modes_krylov(w, omega2, X, &off));
  MBG_TRY(finish_symmetric(w, found, omega2, X, off));
done:
  return err;
}
