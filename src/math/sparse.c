#include "math/order.h"
#include "math/sparse_klu.h"

#include <string.h>

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
    goto MBG__TO(done);
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

/* of `count` columns, a constant where it is called: entries and their rows are read once */
static inline void mul_T_columns(real *Y, real s, const mbg__csc *A, const real *X, int count) {
  for (int j = 0; j < A->ncol; j++) {
    real sum[4] = {0};
    for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) {
      const real a = A->val[k], *x = X + A->rowind[k];
      for (int c = 0; c < count; c++) {
        sum[c] += a * x[(size_t)c * (size_t)A->nrow];
      }
    }
    for (int c = 0; c < count; c++) {
      Y[(size_t)c * (size_t)A->ncol + (size_t)j] += s * sum[c];
    }
  }
}

void mbg__csc_mul_T_add(real *Y, real s, const mbg__csc *A, const real *X, int nrhs) {
  const size_t nrow = (size_t)A->nrow, ncol = (size_t)A->ncol;
  int r = 0;
  for (; r + 4 <= nrhs; r += 4) {
    mul_T_columns(Y + (size_t)r * ncol, s, A, X + (size_t)r * nrow, 4);
  }
  Y += (size_t)r * ncol;
  X += (size_t)r * nrow;
  switch (nrhs - r) {
  case 3:
    mul_T_columns(Y, s, A, X, 3);
    break;
  case 2:
    mul_T_columns(Y, s, A, X, 2);
    break;
  case 1:
    mul_T_columns(Y, s, A, X, 1);
    break;
  default:
    break;
  }
}

/* ---------------------------------------------------------------------- KLU */

/* a diagonal entry is the pivot if it has this part of the largest in its column; KLU's default 1e-3 costs digits */
#define PIVOT_MIN 0.1

/* an indefinite matrix this large gets an order of its own, or COLAMD */
enum { INDEFINITE_LARGE = 64, ORDER_COLAMD = 1 };

klu_symbolic *mbg__klu_analyze(const mbg_allocator *allocator, const mbg__csc *A, int ndef, klu_common *common) {
  const int n = A->ncol;
  int *order = NULL;
  klu_symbolic *symbolic;
  klu_defaults(common);
  common->tol = PIVOT_MIN;
  if (n == 0) {
    return NULL;
  }
  if (ndef < n && n >= INDEFINITE_LARGE) {
    common->initmem = 2; /* first room for the factors, in entries of A; the default 10 is a multiple of the need */
    common->ordering = ORDER_COLAMD;
    order = allocator->resize(allocator->user, NULL, (size_t)n * sizeof(int));
  }
  if (order && mbg__order_saddle(allocator, A, ndef, order)) {
    symbolic = klu_analyze_given(n, A->colptr, A->rowind, order, order, common);
  } else {
    symbolic = klu_analyze(n, A->colptr, A->rowind, common);
  }
  allocator->release(allocator->user, order);
  return symbolic;
}

int mbg__csc_bad_column(const mbg__csc *A) {
  for (int j = 0; j < A->ncol; j++) {
    for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) {
      if (!isfinite(re(A->val[k]))) {
        return j;
      }
    }
  }
  return A->ncol;
}

#ifndef MBG_ENSEMBLE /* else see sparse_ensemble.c */

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
#ifdef MBG_COMPLEX
  double *real_part, *imaginary; /* of the values of the last factorization (entries) */
  double *work;                  /*                                        (2 n) */
#endif
};

#ifdef MBG_COMPLEX

/* The imaginary part is infinitesimal: KLU sees the real one alone. */
static bool take_parts(mbg__klu *klu) {
  const size_t n = (size_t)klu->A->colptr[klu->A->ncol], rows = (size_t)klu->A->ncol;
  klu->real_part = klu->allocator.resize(klu->allocator.user, NULL, (2 * n + 2 * rows + 1) * sizeof(double));
  klu->imaginary = klu->real_part ? klu->real_part + n : NULL;
  klu->work = klu->real_part ? klu->real_part + 2 * n : NULL;
  return klu->real_part != NULL;
}

static void release_parts(mbg__klu *klu) { klu->allocator.release(klu->allocator.user, klu->real_part); }

static void split_values(mbg__klu *klu) {
  const int n = klu->A->colptr[klu->A->ncol];
  for (int k = 0; k < n; k++) {
    klu->real_part[k] = re(klu->A->val[k]);
    klu->imaginary[k] = im(klu->A->val[k]);
  }
}

static double *values(const mbg__klu *klu) { return klu->real_part; }

static size_t imaginary_bytes(const mbg__klu *klu) {
  return klu->frozen ? (size_t)klu->A->colptr[klu->A->ncol] * sizeof(double) : 0;
}

static void keep_imaginary(const mbg__klu *klu, void *to) { memcpy(to, klu->imaginary, imaginary_bytes(klu)); }

static void recall_imaginary(mbg__klu *klu, const void *from) { memcpy(klu->imaginary, from, imaginary_bytes(klu)); }

#else

static bool take_parts(const mbg__klu *klu) { return klu != NULL; }

static void release_parts(const mbg__klu *klu) { (void)klu; }

static void split_values(const mbg__klu *klu) { (void)klu; }

static double *values(const mbg__klu *klu) { return klu->A->val; }

static size_t imaginary_bytes(const mbg__klu *klu) {
  (void)klu;
  return 0;
}

static void keep_imaginary(const mbg__klu *klu, void *to) {
  (void)klu;
  (void)to;
}

static void recall_imaginary(mbg__klu *klu, const void *from) {
  (void)klu;
  (void)from;
}

#endif

int mbg__klu_prepare(mbg__klu **out, const mbg_allocator *allocator, const mbg__csc *A, mbg__klu_mode mode, int ndef) {
  assert(A->nrow == A->ncol);
  *out = NULL;
  mbg__klu *klu = allocator->resize(allocator->user, NULL, sizeof *klu);
  if (!klu) {
    return MBG_ERROR_MEMORY;
  }
  *klu = (mbg__klu){.A = A, .mode = mode, .allocator = *allocator};
  klu->symbolic = mbg__klu_analyze(allocator, A, ndef, &klu->common);
  if (A->ncol > 0 && (!klu->symbolic || !take_parts(klu))) {
    mbg__klu_destroy(klu);
    return MBG_ERROR_MEMORY;
  }
  *out = klu;
  return MBG_OK;
}

void mbg__klu_destroy(mbg__klu *klu) {
  if (!klu) {
    return;
  }
  mbg__klu_thaw(klu);
  klu_free_numeric(&klu->fresh, &klu->common);
  klu_free_symbolic(&klu->symbolic, &klu->common);
  release_parts(klu);
  const mbg_allocator a = klu->allocator;
  a.release(a.user, klu);
}

void mbg__klu_thaw(mbg__klu *klu) {
  klu->use = klu->use == klu->frozen ? NULL : klu->use;
  klu_free_numeric(&klu->frozen, &klu->common);
}

static int singular(int *where, int column) {
  if (where) {
    *where = column;
  }
  return MBG_ERROR_SINGULAR;
}

/* *out = factors with pivots chosen from the values; *out is released before */
static int factor_fresh(mbg__klu *klu, klu_numeric **out, int *where) {
  const mbg__csc *A = klu->A;
  klu_free_numeric(out, &klu->common);
  *out = klu_factor(A->colptr, A->rowind, values(klu), klu->symbolic, &klu->common);
  if (klu->common.status == KLU_SINGULAR) {
    const int column = klu->common.singular_col;
    klu_free_numeric(out, &klu->common);
    return singular(where, column >= 0 && column < A->ncol ? column : -1);
  }
  return *out ? MBG_OK : MBG_ERROR_MEMORY;
}

/* new values into the factors with frozen pivots; false: a pivot is zero */
static bool refactor(mbg__klu *klu) {
  const mbg__csc *A = klu->A;
  return klu_refactor(A->colptr, A->rowind, values(klu), klu->symbolic, klu->frozen, &klu->common) &&
         klu->common.status == KLU_OK;
}

/* the reciprocal growth of their entries */
static double rgrowth(mbg__klu *klu) {
  const mbg__csc *A = klu->A;
  return klu_rgrowth(A->colptr, A->rowind, values(klu), klu->symbolic, klu->frozen, &klu->common) ? klu->common.rgrowth
                                                                                                  : 0;
}

/* chooses the frozen pivots */
static int freeze(mbg__klu *klu, int *where) {
  const int err = factor_fresh(klu, &klu->frozen, where);
  if (err == MBG_OK) {
    klu->growth_min = refactor(klu) ? rgrowth(klu) / MBG__KLU_GROWTH_MAX : 0;
  }
  return err;
}

int mbg__klu_factor(mbg__klu *klu, int *where) {
  int err = MBG_OK;
  klu->use = NULL;
  const int bad = mbg__csc_bad_column(klu->A);
  if (bad < klu->A->ncol) {
    return singular(where, bad);
  }
  if (!klu->symbolic) {
    return MBG_OK; /* 0 x 0 */
  }
  split_values(klu);
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

/* ---------------------------------------------------------------------- factors that are kept */

/* What a refactorization writes, part by part: L and U of each block (with their indices, which stay), the diagonal of
   U, entries outside the blocks, scales of the rows. Bytes of part k. */
static size_t part_bytes(const klu_numeric *x, int k, void **part) {
  const int nblocks = x->nblocks;
  void *const rest[3] = {x->Udiag, x->Offx, x->Rs};
  const size_t bytes[3] = {(size_t)x->n * sizeof(double), (size_t)x->nzoff * sizeof(double),
                           (size_t)x->n * sizeof(double)};
  *part = k < nblocks ? x->LUbx[k] : rest[k - nblocks];
  return !*part ? 0 : k < nblocks ? x->LUsize[k] * sizeof(double) : bytes[k - nblocks];
}

static int part_count(const klu_numeric *x) { return x ? x->nblocks + 3 : 0; }

size_t mbg__klu_bytes(const mbg__klu *klu) {
  size_t sum = 0;
  void *part;
  for (int k = 0; k < part_count(klu->frozen); k++) {
    sum += part_bytes(klu->frozen, k, &part);
  }
  return sum + imaginary_bytes(klu);
}

bool mbg__klu_froze(const mbg__klu *klu) { return klu->use && klu->use == klu->frozen; }

bool mbg__klu_keep(const mbg__klu *klu, void *out) {
  char *to = out;
  void *part;
  if (!mbg__klu_froze(klu)) {
    return false;
  }
  for (int k = 0; k < part_count(klu->frozen); k++) {
    const size_t bytes = part_bytes(klu->frozen, k, &part);
    if (bytes > 0) {
      memcpy(to, part, bytes);
    }
    to += bytes;
  }
  keep_imaginary(klu, to);
  return true;
}

void mbg__klu_recall(mbg__klu *klu, const void *kept) {
  const char *from = kept;
  void *part;
  for (int k = 0; k < part_count(klu->frozen); k++) {
    const size_t bytes = part_bytes(klu->frozen, k, &part);
    if (bytes > 0) {
      memcpy(part, from, bytes);
    }
    from += bytes;
  }
  recall_imaginary(klu, from);
  klu->use = klu->frozen;
}

/* ---------------------------------------------------------------------- solutions */

/* B0 <- A^-1 B0, or A^-T B0, in real numbers */
static void solve_real(mbg__klu *klu, bool transposed, double *B, int nrhs) {
  assert(klu->use);
  if (transposed) {
    klu_tsolve(klu->symbolic, klu->use, klu->A->ncol, nrhs, B, &klu->common);
  } else {
    klu_solve(klu->symbolic, klu->use, klu->A->ncol, nrhs, B, &klu->common);
  }
}

#ifdef MBG_COMPLEX

/* y -= E x, or E^T x, with the imaginary part E of A */
static void subtract_imaginary(const mbg__klu *klu, bool transposed, const double *x, double *y) {
  const mbg__csc *A = klu->A;
  for (int j = 0; j < A->ncol; j++) {
    for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) {
      const int i = A->rowind[k];
      if (transposed) {
        y[j] -= klu->imaginary[k] * x[i];
      } else {
        y[i] -= klu->imaginary[k] * x[j];
      }
    }
  }
}

/* (A + i E)(x + i y) = b + i c with i^2 = 0: A x = b, A y = c - E x. The real factors serve both (theory 9, N3). */
static void solve(mbg__klu *klu, bool transposed, real *B, int nrhs) {
  const int n = klu->A->ncol;
  double *x = klu->work, *y = klu->work + n;
  for (int r = 0; r < nrhs; r++, B += n) {
    for (int i = 0; i < n; i++) {
      x[i] = re(B[i]);
      y[i] = im(B[i]);
    }
    solve_real(klu, transposed, x, 1);
    subtract_imaginary(klu, transposed, x, y);
    solve_real(klu, transposed, y, 1);
    for (int i = 0; i < n; i++) {
      __real__ B[i] = x[i];
      __imag__ B[i] = y[i];
    }
  }
}

#else

static void solve(mbg__klu *klu, bool transposed, real *B, int nrhs) { solve_real(klu, transposed, B, nrhs); }

#endif

void mbg__klu_solve(mbg__klu *klu, real *B, int nrhs) {
  if (klu->symbolic && nrhs > 0) {
    solve(klu, false, B, nrhs);
  }
}

void mbg__klu_solve_T(mbg__klu *klu, real *B, int nrhs) {
  if (klu->symbolic && nrhs > 0) {
    solve(klu, true, B, nrhs);
  }
}

void mbg__klu_trust(mbg__klu *klu, bool trust) { klu->trust = trust; }

mbg__part mbg__klu_ratio(mbg__klu *klu) {
  if (!klu->use) {
    return klu->symbolic ? 0 : 1;
  }
  klu_rcond(klu->symbolic, klu->use, &klu->common);
  return klu->common.rcond;
}

#endif
