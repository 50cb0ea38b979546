#include "math/sparse.h"

#include "math/order.h"

#include <klu.h>

/* ---------------------------------------------------------------------- pattern */

/* Stable counting sort: order_out lists order_in by ascending key < nkey. start: nkey + 1 numbers of scratch. */
static void sort_by(int *order_out, const int *order_in, int count, const int *key, int nkey, int *start) {
  for (int i = 0; i <= nkey; i++) {
    start[i] = 0;
  }
  for (int k = 0; k < count; k++) {
    start[key[k] + 1]++;
  }
  for (int i = 0; i < nkey; i++) {
    start[i + 1] += start[i];
  }
  for (int k = 0; k < count; k++) {
    const int pair = order_in[k];
    order_out[start[key[pair]]++] = pair;
  }
}

/* Walks the pairs in order of column and row: numbers the entries, returns how many. entry: of each pair. */
static int merge(int *entry, const int *order, int count, const int *row, const int *col) {
  int entries = 0;
  for (int k = 0; k < count; k++) {
    const int pair = order[k], last = k > 0 ? order[k - 1] : pair;
    entries += k == 0 || row[pair] != row[last] || col[pair] != col[last];
    entry[pair] = entries - 1;
  }
  return entries;
}

/* rowind and colptr from the numbered pairs */
static void fill(mbg__csc *A, const int *entry, int count, const int *row, const int *col, const int *order) {
  for (int k = 0; k < count; k++) {
    const int pair = order[k];
    A->rowind[entry[pair]] = row[pair];
    A->colptr[col[pair] + 1] = entry[pair] + 1;
  }
  for (int j = 0; j < A->ncol; j++) { /* empty columns begin where the last one ended */
    A->colptr[j + 1] = A->colptr[j + 1] > A->colptr[j] ? A->colptr[j + 1] : A->colptr[j];
  }
}

int mbg__csc_build(mbg__csc *A, mbg__arena *arena, int nrow, int ncol, int count, const int *row, const int *col,
                   int *slot) {
  int err = MBG_ERROR_MEMORY;
  mbg__arena scratch;
  mbg__arena_init(&scratch, &arena->allocator);
  *A = (mbg__csc){.nrow = nrow, .ncol = ncol};
  int *given = MBG_TAKE(&scratch, int, count);
  int *order = MBG_TAKE(&scratch, int, count);
  int *start = MBG_TAKE(&scratch, int, (nrow > ncol ? nrow : ncol) + 1);
  int *entry = slot ? slot : MBG_TAKE(&scratch, int, count);
  A->colptr = MBG_TAKE(arena, int, ncol + 1);
  if (!given || !order || !start || !entry || !A->colptr) {
    goto done;
  }

  /* sort by row, then (stable) by column */
  for (int k = 0; k < count; k++) {
    assert(row[k] >= 0 && row[k] < nrow && col[k] >= 0 && col[k] < ncol);
    given[k] = k;
  }
  sort_by(order, given, count, row, nrow, start);
  sort_by(given, order, count, col, ncol, start);

  const int entries = merge(entry, given, count, row, col);
  A->rowind = MBG_TAKE(arena, int, entries);
  A->val = MBG_TAKE(arena, real, entries);
  if (A->rowind && A->val) {
    fill(A, entry, count, row, col, given);
    err = MBG_OK;
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}

/* ---------------------------------------------------------------------- products */

void mbg__csc_zero(mbg__csc *A) {
  for (int k = 0; k < mbg__csc_count(A); k++) {
    A->val[k] = 0;
  }
}

void mbg__csc_mul_add(real *Y, real s, const mbg__csc *A, const real *X, int nrhs) {
  for (int r = 0; r < nrhs; r++, X += A->ncol, Y += A->nrow) {
    for (int j = 0; j < A->ncol; j++) {
      const real x = s * X[j];
      for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) {
        Y[A->rowind[k]] += A->val[k] * x;
      }
    }
  }
}

void mbg__csc_mul_T_add(real *Y, real s, const mbg__csc *A, const real *X, int nrhs) {
  for (int r = 0; r < nrhs; r++, X += A->nrow, Y += A->ncol) {
    for (int j = 0; j < A->ncol; j++) {
      real sum = 0;
      for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) {
        sum += A->val[k] * X[A->rowind[k]];
      }
      Y[j] += s * sum;
    }
  }
}

/* ---------------------------------------------------------------------- KLU */

/* One name per function of KLU; the complex ones take re, im, re, im ... which is the layout of C. */
#ifdef MBG_COMPLEX
#define KLU(name) klu_z_##name
#define TSOLVE(s, n, ld, nrhs, B, c) klu_z_tsolve(s, n, ld, nrhs, B, 0, c)
#else
#define KLU(name) klu_##name
#define TSOLVE(s, n, ld, nrhs, B, c) klu_tsolve(s, n, ld, nrhs, B, c)
#endif

/* a diagonal entry is the pivot if it has this part of the largest in its column; KLU's default 1e-3 costs digits */
#define PIVOT_MIN 0.1

/* frozen pivots are given up for one factorization when the entries grow this much more than when they were chosen */
#define GROWTH_MAX 1e3

/* an indefinite matrix this large gets an order of its own, or COLAMD */
enum { INDEFINITE_LARGE = 64, ORDER_COLAMD = 1 };

struct mbg__klu {
  const mbg__csc *A;
  mbg__klu_mode mode;
  mbg_allocator allocator;
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *frozen; /* holds the frozen pivots; NULL in mode FRESH */
  double growth_min;   /* smallest rgrowth = max |A| / max |U| (by columns) at which they are used */
  klu_numeric *fresh;  /* made with pivots of its own */
  klu_numeric *use;    /* belongs to the last factorization; NULL: none succeeded */
  bool trust;          /* frozen pivots are used without a look at the growth */
};

/* symbolic = analysis in an order found here or by KLU; NULL: no memory */
static void analyze(mbg__klu *klu, int ndef) {
  const mbg__csc *A = klu->A;
  const int n = A->ncol;
  int *order = NULL;
  if (ndef < n && n >= INDEFINITE_LARGE) {
    klu->common.initmem = 2; /* first room for the factors, in entries of A; the default 10 is a multiple of the need */
    klu->common.ordering = ORDER_COLAMD;
    order = klu->allocator.resize(klu->allocator.user, NULL, (size_t)n * sizeof(int));
  }
  if (order && mbg__order_saddle(&klu->allocator, A, ndef, order)) {
    klu->symbolic = klu_analyze_given(n, A->colptr, A->rowind, order, order, &klu->common);
  } else {
    klu->symbolic = klu_analyze(n, A->colptr, A->rowind, &klu->common);
  }
  klu->allocator.release(klu->allocator.user, order);
}

int mbg__klu_prepare(mbg__klu **out, const mbg_allocator *allocator, const mbg__csc *A, mbg__klu_mode mode, int ndef) {
  assert(A->nrow == A->ncol);
  *out = NULL;
  mbg__klu *klu = allocator->resize(allocator->user, NULL, sizeof *klu);
  if (!klu) {
    return MBG_ERROR_MEMORY;
  }
  *klu = (mbg__klu){.A = A, .mode = mode, .allocator = *allocator};
  klu_defaults(&klu->common);
  klu->common.tol = PIVOT_MIN;
  if (A->ncol > 0) {
    analyze(klu, ndef);
    if (!klu->symbolic) {
      mbg__klu_destroy(klu);
      return MBG_ERROR_MEMORY;
    }
  }
  *out = klu;
  return MBG_OK;
}

void mbg__klu_destroy(mbg__klu *klu) {
  if (!klu) {
    return;
  }
  mbg__klu_thaw(klu);
  KLU(free_numeric)(&klu->fresh, &klu->common);
  klu_free_symbolic(&klu->symbolic, &klu->common);
  const mbg_allocator a = klu->allocator;
  a.release(a.user, klu);
}

void mbg__klu_thaw(mbg__klu *klu) {
  klu->use = klu->use == klu->frozen ? NULL : klu->use;
  KLU(free_numeric)(&klu->frozen, &klu->common);
}

static int singular(int *where, int column) {
  if (where) {
    *where = column;
  }
  return MBG_ERROR_SINGULAR;
}

/* the column of the first value that is not finite, or ncol */
static int bad_column(const mbg__csc *A) {
  for (int j = 0; j < A->ncol; j++) {
    for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) {
      if (!isfinite(re(A->val[k]))) {
        return j;
      }
    }
  }
  return A->ncol;
}

/* *out = factors with pivots chosen from the values; *out is released before */
static int factor_fresh(mbg__klu *klu, klu_numeric **out, int *where) {
  const mbg__csc *A = klu->A;
  KLU(free_numeric)(out, &klu->common);
  *out = KLU(factor)(A->colptr, A->rowind, (double *)A->val, klu->symbolic, &klu->common);
  if (klu->common.status == KLU_SINGULAR) {
    const int column = klu->common.singular_col;
    KLU(free_numeric)(out, &klu->common);
    return singular(where, column >= 0 && column < A->ncol ? column : -1);
  }
  return *out ? MBG_OK : MBG_ERROR_MEMORY;
}

/* new values into the factors with frozen pivots; false: a pivot is zero */
static bool refactor(mbg__klu *klu) {
  const mbg__csc *A = klu->A;
  return KLU(refactor)(A->colptr, A->rowind, (double *)A->val, klu->symbolic, klu->frozen, &klu->common) &&
         klu->common.status == KLU_OK;
}

/* the reciprocal growth of their entries */
static double rgrowth(mbg__klu *klu) {
  const mbg__csc *A = klu->A;
  return KLU(rgrowth)(A->colptr, A->rowind, (double *)A->val, klu->symbolic, klu->frozen, &klu->common)
             ? klu->common.rgrowth
             : 0;
}

/* chooses the frozen pivots */
static int freeze(mbg__klu *klu, int *where) {
  const int err = factor_fresh(klu, &klu->frozen, where);
  if (err == MBG_OK) {
    klu->growth_min = refactor(klu) ? rgrowth(klu) / GROWTH_MAX : 0;
  }
  return err;
}

int mbg__klu_factor(mbg__klu *klu, int *where) {
  int err = MBG_OK;
  klu->use = NULL;
  const int bad = bad_column(klu->A);
  if (bad < klu->A->ncol) {
    return singular(where, bad);
  }
  if (!klu->symbolic) {
    return MBG_OK; /* 0 x 0 */
  }
  if (klu->mode == MBG__KLU_FROZEN && !klu->frozen) {
    MBG_TRY(freeze(klu, where));
  }

  /* also the first time: its sums run in a different order from a fresh factorization */
  if (klu->frozen && refactor(klu) && (klu->trust || rgrowth(klu) > klu->growth_min)) {
    klu->use = klu->frozen;
    return MBG_OK;
  }
  MBG_TRY(factor_fresh(klu, &klu->fresh, where));
  klu->use = klu->fresh;
done:
  return err;
}

void mbg__klu_solve(mbg__klu *klu, real *B, int nrhs) {
  if (klu->symbolic && nrhs > 0) {
    assert(klu->use);
    KLU(solve)(klu->symbolic, klu->use, klu->A->ncol, nrhs, (double *)B, &klu->common);
  }
}

void mbg__klu_solve_T(mbg__klu *klu, real *B, int nrhs) {
  if (klu->symbolic && nrhs > 0) {
    assert(klu->use);
    TSOLVE(klu->symbolic, klu->use, klu->A->ncol, nrhs, (double *)B, &klu->common);
  }
}

void mbg__klu_trust(mbg__klu *klu, bool trust) { klu->trust = trust; }

double mbg__klu_ratio(mbg__klu *klu) {
  if (!klu->use) {
    return klu->symbolic ? 0 : 1;
  }
  KLU(rcond)(klu->symbolic, klu->use, &klu->common);
  return klu->common.rcond;
}
