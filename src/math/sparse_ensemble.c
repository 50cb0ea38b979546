/* Sparse factors of the four matrices of an ensemble. KLU chooses the pivots of each sample. Where they are the same, a
   factorization and the solutions of all samples go through KLU's columns together, in the order of klu_refactor,
   klu_solve and klu_tsolve: each sample has the bits that KLU gives it. Samples with other pivots diverge.

   Where pivots are chosen anew, those of the last time are tried first: as long as KLU would choose each of them again
   in every sample (klu_kernel, lpivot), its columns are the same, and the numbers are those of klu_factor. */
#ifdef MBG_ENSEMBLE

#include "math/sparse_ensemble.h"

#include <string.h>

enum { N = MBG__SAMPLES };

typedef mbg__ensemble_factors factors;

/* ---------------------------------------------------------------------- memory */

static void *take(const mbg__klu *klu, size_t count, size_t size) {
  return klu->allocator.resize(klu->allocator.user, NULL, count * size + 1);
}

static void clear(mbg__klu *klu, factors *f) {
  void *const all[] = {f->LU, f->room, f->Udiag, f->Offx, f->Rs, f->diagonal, f->after};
  for (int i = 0; i < N; i++) {
    klu_free_numeric(&f->of[i], &klu->common);
  }
  for (int i = 0; i < MBG_COUNT(all); i++) {
    klu->allocator.release(klu->allocator.user, all[i]);
  }
  *f = (factors){};
}

int mbg__klu_prepare(mbg__klu **out, const mbg_allocator *allocator, const mbg__csc *A, mbg__klu_mode mode, int ndef) {
  const size_t n = (size_t)A->ncol;
  *out = NULL;
  mbg__klu *klu = (mbg__klu *)allocator->resize(allocator->user, NULL, sizeof(*klu));
  if (!klu) {
    return MBG_ERROR_MEMORY;
  }
  *klu = (mbg__klu){};
  klu->A = A;
  klu->mode = mode;
  klu->allocator = *allocator;
  klu->symbolic = mbg__klu_analyze(allocator, A, ndef, &klu->common);
  klu->values = (double *)take(klu, (size_t)A->colptr[n], sizeof(double));
  klu->X = (real *)take(klu, n, sizeof(real));
  klu->inverse = (int *)take(klu, n, sizeof(int));
  if ((n > 0 && !klu->symbolic) || !klu->values || !klu->X || !klu->inverse) {
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
  const mbg_allocator a = klu->allocator;
  clear(klu, &klu->frozen);
  clear(klu, &klu->fresh);
  klu_free_symbolic(&klu->symbolic, &klu->common);
  a.release(a.user, klu->values);
  a.release(a.user, klu->X);
  a.release(a.user, klu->inverse);
  a.release(a.user, klu);
}

void mbg__klu_thaw(mbg__klu *klu) {
  klu->use = klu->use == &klu->frozen ? NULL : klu->use;
  clear(klu, &klu->frozen);
}

/* ---------------------------------------------------------------------- columns of KLU */

static bool same_column(const klu_numeric *a, const klu_numeric *b, int block, const int *sa, const int *la,
                        const int *sb, const int *lb, int k) {
  const int *ra, *rb;
  (void)mbg__klu_column(a, block, sa, la, k, &ra);
  (void)mbg__klu_column(b, block, sb, lb, k, &rb);
  return sa[k] == sb[k] && la[k] == lb[k] && memcmp(ra, rb, (size_t)la[k] * sizeof(int)) == 0;
}

/* the same pivots, and columns in the same order? */
static bool same_pivots(const mbg__klu *klu, const klu_numeric *a, const klu_numeric *b) {
  const klu_symbolic *s = klu->symbolic;
  const size_t n = (size_t)s->n;
  bool same = memcmp(a->Pnum, b->Pnum, n * sizeof(int)) == 0 && a->nzoff == b->nzoff &&
              memcmp(a->Offp, b->Offp, (n + 1) * sizeof(int)) == 0 &&
              memcmp(a->Offi, b->Offi, (size_t)a->nzoff * sizeof(int)) == 0;
  for (int i = 0; same && i < s->nblocks; i++) {
    const int k1 = s->R[i], nk = s->R[i + 1] - k1;
    same = nk == 1 || a->LUsize[i] == b->LUsize[i];
    for (int k = 0; same && nk > 1 && k < nk; k++) {
      same = same_column(a, b, i, a->Lip + k1, a->Llen + k1, b->Lip + k1, b->Llen + k1, k) &&
             same_column(a, b, i, a->Uip + k1, a->Ulen + k1, b->Uip + k1, b->Ulen + k1, k);
    }
  }
  return same;
}

static size_t block_size(const mbg__klu *klu, const klu_numeric *x, int i) {
  return klu->symbolic->R[i + 1] - klu->symbolic->R[i] > 1 ? x->LUsize[i] : 0;
}

/* ---------------------------------------------------------------------- factorization */

static int singular(int *where, int column) {
  if (where) {
    *where = column;
  }
  return MBG_ERROR_SINGULAR;
}

/* In one block, as klu_kernel: rows by their place in KLU's order before pivots are chosen (P: the row of each column,
   place: the column at which each row becomes the pivot). A row that has lost its column to another one takes the
   column of that one. own: the column whose diagonal each row is. */
static void block_diagonals(int nk, const int *P, const int *place, int *row, int *own, int *diagonal) {
  for (int k = 0; k < nk; k++) {
    row[k] = own[k] = k;
  }
  for (int k = 0; k < nk; k++) {
    const int d = row[k];
    diagonal[k] = place[d];
    if (P[k] != d && place[d] > k) {
      row[own[P[k]]] = d;
      own[d] = own[P[k]];
    }
    row[k] = P[k];
  }
}

/* the diagonals at which KLU has looked, by the rows of the factors */
static bool find_diagonals(mbg__klu *klu, factors *f) {
  const klu_symbolic *s = klu->symbolic;
  const int n = s->n;
  f->diagonal = (int *)take(klu, (size_t)n, sizeof(int));
  int *all = (int *)take(klu, 4 * (size_t)n, sizeof(int)), *before = all, *P = all + n, *place = P + n,
      *row = place + n;
  int *own = klu->inverse;
  for (int k = 0; f->diagonal && all && k < n; k++) {
    before[s->P[k]] = k;
  }
  for (int i = 0; f->diagonal && all && i < s->nblocks; i++) {
    const int k1 = s->R[i], nk = s->R[i + 1] - k1;
    for (int k = 0; k < nk; k++) {
      P[k] = before[f->of[0]->Pnum[k + k1]] - k1;
      place[P[k]] = k;
    }
    block_diagonals(nk, P, place, row, own, f->diagonal + k1);
  }
  klu->allocator.release(klu->allocator.user, all);
  return f->diagonal && all;
}

static bool take_room(mbg__klu *klu, factors *f) {
  const klu_numeric *x = f->of[0];
  const int blocks = klu->symbolic->nblocks, n = klu->symbolic->n;
  f->room = (size_t *)take(klu, (size_t)blocks + 1, sizeof(size_t));
  if (!f->room) {
    return false;
  }
  f->room[0] = 0;
  for (int i = 0; i < blocks; i++) {
    f->room[i + 1] = f->room[i] + block_size(klu, x, i);
  }
  f->LU = (real *)take(klu, f->room[blocks], sizeof(real));
  f->Udiag = (real *)take(klu, (size_t)n, sizeof(real));
  f->Offx = (real *)take(klu, (size_t)x->nzoff, sizeof(real));
  f->Rs = (real *)take(klu, (size_t)n, sizeof(real));
  f->after = (bool *)take(klu, f->room[blocks], sizeof(bool));
  if (f->LU) {
    memset((void *)f->LU, 0, f->room[blocks] * sizeof(real));
  }
  return f->LU && f->Udiag && f->Offx && f->Rs && f->after && find_diagonals(klu, f);
}

/* numbers of one sample into its lane */
static void take_numbers(const mbg__klu *klu, factors *f, int lane) {
  const klu_numeric *x = f->of[lane];
  const klu_symbolic *s = klu->symbolic;
  for (int i = 0; i < s->nblocks; i++) {
    for (size_t k = 0; k < block_size(klu, x, i); k++) {
      f->LU[f->room[i] + k].of[lane] = ((const double *)x->LUbx[i])[k];
    }
  }
  for (int k = 0; k < s->n; k++) {
    f->Udiag[k].of[lane] = ((const double *)x->Udiag)[k];
    f->Rs[k].of[lane] = x->Rs[k];
  }
  for (int k = 0; k < x->nzoff; k++) {
    f->Offx[k].of[lane] = ((const double *)x->Offx)[k];
  }
}

/* numbers of L that are 1: there were as large ones as the pivot; L is at most 1 where the pivot is the largest */
static void find_equals(const mbg__klu *klu, factors *f) {
  for (size_t k = 0; k < f->room[klu->symbolic->nblocks]; k++) {
    f->after[k] = r_some(fabs(re(f->LU[k])) == 1);
  }
}

/* factors of each sample with pivots chosen from its values */
static int factor_anew(mbg__klu *klu, factors *f, int *where) {
  const mbg__csc *A = klu->A;
  clear(klu, f);
  for (int lane = 0; lane < N; lane++) {
    for (int k = 0; k < A->colptr[A->ncol]; k++) {
      klu->values[k] = A->val[k].of[lane];
    }
    f->of[lane] = klu_factor(A->colptr, A->rowind, klu->values, klu->symbolic, &klu->common);
    if (klu->common.status == KLU_SINGULAR) {
      mbg__diverge(); /* the others may be regular */
      clear(klu, f);
      return singular(where, -1);
    }
    if (!f->of[lane]) {
      clear(klu, f);
      return MBG_ERROR_MEMORY;
    }
    if (lane > 0 && !same_pivots(klu, f->of[0], f->of[lane])) {
      mbg__diverge();
    }
  }
  if (!take_room(klu, f)) {
    clear(klu, f);
    return MBG_ERROR_MEMORY;
  }
  for (int lane = 0; lane < N && !mbg__diverged; lane++) {
    take_numbers(klu, f, lane);
  }
  find_equals(klu, f);
  return MBG_OK;
}

/* row of the factors that each row of A has become; the largest entries of the rows of A */
static void scale_rows(mbg__klu *klu, real *Rs) {
  const mbg__csc *A = klu->A;
  const int n = A->ncol;
  for (int i = 0; i < n; i++) {
    Rs[i] = 0;
  }
  for (int k = 0; k < A->colptr[n]; k++) {
    const real a = r_abs(A->val[k]), most = Rs[A->rowind[k]];
    Rs[A->rowind[k]] = r_where(re(a) > re(most), a, most);
  }
  for (int i = 0; i < n; i++) {
    Rs[i] = r_where(re(Rs[i]) == 0, 1, Rs[i]);
  }
}

/* Would KLU choose this pivot (column k, entries of X below it) in every sample? The diagonal if it is large enough,
   else the first of the largest. */
static bool chooses(const mbg__klu *klu, const real *X, int k, int diagonal, int n, const int *below,
                    const bool *after) {
  const mbg__part pivot = fabs(re(X[k]));
  mbg__part most = pivot;
  bool first = true;
  for (int p = 0; p < n; p++) {
    const mbg__part x = fabs(re(X[below[p]]));
    most = r_where_part(x > most, x, most);
    first = first && r_every(after[p] ? x <= pivot : x < pivot);
  }
  if (diagonal == k) {
    return r_every(pivot >= klu->common.tol * most);
  }
  return first && (diagonal < k || r_every(fabs(re(X[diagonal])) < klu->common.tol * pivot));
}

/* columns of a block with more than one, into the numbers of L and U; false: a pivot is zero, or not KLU's choice */
static bool refactor_block(mbg__klu *klu, factors *f, bool choose, int i, int *off) {
  const mbg__csc *A = klu->A;
  const klu_numeric *x = f->of[0];
  const int k1 = klu->symbolic->R[i], nk = klu->symbolic->R[i + 1] - k1, *const Q = klu->symbolic->Q;
  const int *Lip = x->Lip + k1, *Llen = x->Llen + k1, *Uip = x->Uip + k1, *Ulen = x->Ulen + k1, *rows, *below;
  real *LU = f->LU + f->room[i], *X = klu->X;
  for (int k = 0; k < nk; k++) {
    for (int p = A->colptr[Q[k + k1]]; p < A->colptr[Q[k + k1] + 1]; p++) {
      const int row = klu->inverse[A->rowind[p]] - k1;
      const real a = A->val[p] / f->Rs[A->rowind[p]];
      *(row < 0 && *off < x->nzoff ? &f->Offx[(*off)++] : &X[row]) = a;
    }
    real *U = LU + mbg__klu_column(x, i, Uip, Ulen, k, &rows);
    for (int q = 0; q < Ulen[k]; q++) {
      const int j = rows[q];
      const real u = X[j];
      X[j] = 0;
      U[q] = u;
      const real *L = LU + mbg__klu_column(x, i, Lip, Llen, j, &below);
      for (int p = 0; p < Llen[j]; p++) {
        X[below[p]] -= L[p] * u;
      }
    }
    real *L = LU + mbg__klu_column(x, i, Lip, Llen, k, &below);
    if (choose && !chooses(klu, X, k, f->diagonal[k + k1], Llen[k], below, f->after + (L - f->LU))) {
      return false;
    }
    const real pivot = X[k];
    X[k] = 0;
    if (re(pivot) == 0) {
      return false;
    }
    f->Udiag[k + k1] = pivot;
    for (int p = 0; p < Llen[k]; p++) {
      L[p] = X[below[p]] / pivot;
      X[below[p]] = 0;
    }
  }
  return true;
}

static bool refactor_one(mbg__klu *klu, factors *f, int k1, int *off) {
  const mbg__csc *A = klu->A;
  const int column = klu->symbolic->Q[k1];
  real s = 0;
  for (int p = A->colptr[column]; p < A->colptr[column + 1]; p++) {
    const int row = klu->inverse[A->rowind[p]] - k1;
    const real a = A->val[p] / f->Rs[A->rowind[p]];
    *(row < 0 && *off < f->of[0]->nzoff ? &f->Offx[(*off)++] : &s) = a;
  }
  f->Udiag[k1] = s;
  return true;
}

/* klu_refactor: new values into the factors; false: a pivot is zero. choose: klu_factor, as long as it chooses the same
   pivots in every sample; false: it does not. */
static bool refactor(mbg__klu *klu, factors *f, bool choose) {
  const klu_symbolic *s = klu->symbolic;
  int off = 0;
  bool good = true;
  for (int k = 0; k < s->n; k++) {
    klu->X[k] = 0;
    klu->inverse[f->of[0]->Pnum[k]] = k;
  }
  scale_rows(klu, f->Rs);
  for (int i = 0; good && i < s->nblocks; i++) {
    good = s->R[i + 1] - s->R[i] == 1 ? refactor_one(klu, f, s->R[i], &off) : refactor_block(klu, f, choose, i, &off);
  }
  for (int k = 0; k < s->n; k++) {
    klu->X[k] = f->Rs[f->of[0]->Pnum[k]];
  }
  for (int k = 0; k < s->n; k++) {
    f->Rs[k] = klu->X[k];
  }
  return good;
}

/* klu_rgrowth: the least max |A| / max |U| of the columns */
static mbg__part rgrowth(mbg__klu *klu) {
  const mbg__csc *A = klu->A;
  const factors *f = &klu->frozen;
  const klu_numeric *x = f->of[0];
  const klu_symbolic *s = klu->symbolic;
  mbg__part least = 1;
  for (int i = 0; i < s->nblocks; i++) {
    const int k1 = s->R[i], nk = s->R[i + 1] - k1, *rows;
    for (int k = 0; nk > 1 && k < nk; k++) {
      mbg__part most_a = 0, most_u = 0;
      for (int p = A->colptr[s->Q[k + k1]]; p < A->colptr[s->Q[k + k1] + 1]; p++) {
        const int row = klu->inverse[A->rowind[p]];
        const mbg__part a = row < k1 ? mbg__part(0.0) : fabs(re(A->val[p] / f->Rs[row]));
        most_a = r_where_part(a > most_a, a, most_a);
      }
      const real *U = f->LU + f->room[i] + mbg__klu_column(x, i, x->Uip + k1, x->Ulen + k1, k, &rows);
      for (int q = 0; q <= x->Ulen[k1 + k]; q++) {
        const mbg__part u = fabs(re(q < x->Ulen[k1 + k] ? U[q] : f->Udiag[k1 + k]));
        most_u = r_where_part(u > most_u, u, most_u);
      }
      const mbg__part growth = r_where_part(most_u == 0, mbg__part(1.0), most_a / most_u);
      least = r_where_part(growth < least, growth, least);
    }
  }
  return least;
}

static int freeze(mbg__klu *klu, int *where) {
  const int err = factor_anew(klu, &klu->frozen, where);
  if (err == MBG_OK && !mbg__diverged) {
    klu->growth_min = refactor(klu, &klu->frozen, false) ? rgrowth(klu) / MBG__KLU_GROWTH_MAX : mbg__part(0.0);
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
  if (klu->mode == MBG__KLU_FROZEN && !klu->frozen.of[0]) {
    MBG_TRY(freeze(klu, where));
  }
  if (mbg__diverged) {
    return singular(where, -1);
  }
  if (klu->frozen.of[0] && refactor(klu, &klu->frozen, false) && (klu->trust || rgrowth(klu) > klu->growth_min)) {
    klu->use = &klu->frozen;
    return mbg__diverged ? singular(where, -1) : MBG_OK;
  }
  /* most often the pivots are those of the last time */
  if (!klu->fresh.of[0] || !refactor(klu, &klu->fresh, true)) {
    MBG_TRY(factor_anew(klu, &klu->fresh, where));
  }
  klu->use = &klu->fresh;
  if (mbg__diverged) {
    err = singular(where, -1);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- factors that are kept */

/* what a refactorization writes, part by part */
static real *part(const mbg__klu *klu, const factors *f, int k, size_t *count) {
  const size_t n = (size_t)klu->symbolic->n;
  real *const all[] = {f->LU, f->Udiag, f->Offx, f->Rs};
  const size_t counts[] = {f->room[klu->symbolic->nblocks], n, (size_t)f->of[0]->nzoff, n};
  *count = counts[k];
  return all[k];
}

enum { PARTS = 4 };

size_t mbg__klu_bytes(const mbg__klu *klu) {
  size_t sum = 0, count;
  for (int k = 0; klu->frozen.room && k < PARTS; k++) {
    (void)part(klu, &klu->frozen, k, &count);
    sum += count * sizeof(real);
  }
  return sum;
}

bool mbg__klu_froze(const mbg__klu *klu) { return klu->use && klu->use == &klu->frozen; }

bool mbg__klu_keep(const mbg__klu *klu, void *out) {
  char *to = (char *)out;
  if (!mbg__klu_froze(klu)) {
    return false;
  }
  for (int k = 0; k < PARTS; k++) {
    size_t count;
    const real *from = part(klu, &klu->frozen, k, &count);
    memcpy(to, (const void *)from, count * sizeof(real));
    to += count * sizeof(real);
  }
  return true;
}

void mbg__klu_recall(mbg__klu *klu, const void *kept) {
  const char *from = (const char *)kept;
  for (int k = 0; k < PARTS; k++) {
    size_t count;
    real *to = part(klu, &klu->frozen, k, &count);
    memcpy((void *)to, from, count * sizeof(real));
    from += count * sizeof(real);
  }
  klu->use = &klu->frozen;
}

void mbg__klu_trust(mbg__klu *klu, bool trust) { klu->trust = trust; }

#else

typedef int mbg__no_ensemble; /* a file is not empty */

#endif
