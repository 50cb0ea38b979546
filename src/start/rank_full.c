#include "start/rank_full.h"

#include "math/vec.h"

enum { ITERATIONS = 12 };
static const double certain = 1e-5;

typedef struct {
  mbg__arena arena;
  mbg__csc A;
  mbg__klu *klu;
  int nrow, ncol;
  real *x; /* (ncol + nrow) */
} factors;

/* [1 A^T; A 0]: values, then factors; *regular: they exist. The pattern has all of the diagonal, which spares the
   search for another one. */
static int factor(mbg_context *ctx, factors *f, int count, const int *row, const int *col, const double *val,
                  bool *regular) {
  const int n = f->ncol + f->nrow, entries = n + 2 * count;
  int *i = MBG_TAKE(&f->arena, int, entries), *j = MBG_TAKE(&f->arena, int, entries);
  int *slot = MBG_TAKE(&f->arena, int, entries);
  f->x = MBG_TAKE(&f->arena, real, n);
  if (mbg__arena_check(ctx, &f->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; k < n; k++) {
    i[k] = j[k] = k;
  }
  for (int k = 0; k < count; k++) {
    i[n + 2 * k] = j[n + 2 * k + 1] = f->ncol + row[k];
    j[n + 2 * k] = i[n + 2 * k + 1] = col[k];
  }
  if (mbg__csc_build(&f->A, &f->arena, n, n, entries, i, j, slot) < 0) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < entries; k++) {
    f->A.val[slot[k]] += k < f->ncol ? 1 : k < n ? 0 : val[(k - n) / 2];
  }
  if (mbg__klu_prepare(&f->klu, &f->arena.allocator, &f->A, MBG__KLU_FRESH, f->ncol) < 0) {
    return mbg__fail_memory(ctx);
  }
  const int err = mbg__klu_factor(f->klu, NULL);
  *regular = err == MBG_OK;
  return err == MBG_ERROR_MEMORY ? mbg__fail_memory(ctx) : MBG_OK;
}

/* One inverse iteration on y, the last part of x: S^-1 y, S = A A^T, has the length 1/sigma^2. The first part of x,
   A^T S^-1 y of length 1/sigma, would not do: it vanishes where y A = 0. */
static double iterate(factors *f) {
  real *y = f->x + f->ncol;
  double length = 0;
  vn_zero(f->ncol, f->x);
  mbg__klu_solve(f->klu, f->x, 1);
  for (int i = 0; i < f->nrow; i++) {
    length += re(y[i]) * re(y[i]);
  }
  length = sqrt(length);
  vn_scale(f->nrow, y, 1 / length, y);
  return 1 / sqrt(length);
}

int mbg__rows_independence(mbg_context *ctx, int nrow, int ncol, int count, const int *row, const int *col,
                           const double *val, double *sigma) {
  factors f = {.nrow = nrow, .ncol = ncol};
  bool regular = false;
  int err = MBG_OK;
  *sigma = 0;
  if (nrow > ncol) {
    return MBG_OK;
  }
  mbg__arena_init(&f.arena, mbg__context_allocator(ctx));
  MBG_TRY(factor(ctx, &f, count, row, col, val, &regular));
  for (int i = 0; regular && i < nrow; i++) {
    const double x = sin(12.9898 * (i + 1)) * 43758.5453;
    f.x[ncol + i] = 2 * (x - floor(x)) - 1;
  }
  for (int it = 0; regular && it <= ITERATIONS; it++) { /* the first gives y its length */
    *sigma = iterate(&f);
  }
  if (!(*sigma >= certain)) { /* not a number, too */
    *sigma = 0;
  }
done:
  mbg__klu_destroy(f.klu);
  mbg__arena_destroy(&f.arena);
  return err;
}
