#include "math/zeros.h"

#include "math/dense.h"
#include "math/spectrum.h"

#include <string.h>

static const double zero = 1e-11; /* entries below this, of balanced matrices of size 1, are rounding */

/* A system in one matrix [A B; C D], column-major with the leading dimension ld. */
typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  int n, m, p, ld;
  double *S, *T; /* the system, scratch (ld x ld) */
  double scale;  /* size of its entries */
} pencil;

static double *at(const pencil *s, int i, int j) { return s->S + (size_t)i + (size_t)s->ld * (size_t)j; }

/* ---------------------------------------------------------------------- balancing */

/* sums of magnitudes of row and column i besides the diagonal */
static void sums(const pencil *s, int i, double *row, double *col) {
  *row = *col = 0;
  for (int j = 0; j < s->n + s->m; j++) {
    *row += j != i ? fabs(*at(s, i, j)) : 0;
  }
  for (int j = 0; j < s->n + s->p; j++) {
    *col += j != i ? fabs(*at(s, j, i)) : 0;
  }
}

static void scale_state(pencil *s, int i, double f) {
  for (int j = 0; j < s->n + s->m; j++) {
    *at(s, i, j) /= f;
  }
  for (int j = 0; j < s->n + s->p; j++) {
    *at(s, j, i) *= f;
  }
}

/* rows of outputs and columns of inputs get the largest entry 1, states are scaled until rows and columns are alike */
static void balance(pencil *s) {
  for (int pass = 0; pass < 20; pass++) {
    for (int i = 0; i < s->n; i++) {
      double row, col;
      sums(s, i, &row, &col);
      if (row > 0 && col > 0) {
        scale_state(s, i, exp2(floor(0.5 * log2(row / col) + 0.5)));
      }
    }
    for (int k = 0; k < s->m + s->p; k++) {
      const bool input = k < s->m;
      const int own = s->n + (input ? k : k - s->m), count = s->n + (input ? s->p : s->m);
      double most = 0;
      for (int j = 0; j < count; j++) {
        most = fmax(most, fabs(input ? *at(s, j, own) : *at(s, own, j)));
      }
      for (int j = 0; most > 0 && j < count; j++) {
        *(input ? at(s, j, own) : at(s, own, j)) /= most;
      }
    }
  }
  s->scale = 1;
  for (int i = 0; i < s->n; i++) {
    for (int j = 0; j < s->n; j++) {
      s->scale = fmax(s->scale, fabs(*at(s, i, j)));
    }
  }
}

/* ---------------------------------------------------------------------- reduction */

/* rank of a factored matrix */
static int rank_of(const mbg__qr *qr, double floor) {
  const int n = qr->m < qr->n ? qr->m : qr->n;
  int rank = 0;
  while (rank < n && fabs(qr->A[(size_t)rank + (size_t)qr->m * (size_t)rank]) > floor) {
    rank++;
  }
  return rank;
}

/* [C D] <- Q^T [C D], so that D has its rows of full rank first; their number, or a negative status */
static int compress_rows(pencil *s) {
  mbg__qr qr;
  if (mbg__qr_prepare(&qr, s->arena, s->p, s->m) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int j = 0; j < s->m; j++) {
    memcpy(qr.A + (size_t)s->p * (size_t)j, at(s, s->n, s->n + j), (size_t)s->p * sizeof(double));
  }
  if (mbg__qr_factor(&qr) < 0) {
    return MBG_ERROR_CONVERGENCE;
  }
  for (int j = 0; j < s->n + s->m; j++) {
    mbg__qr_mul_Q_T(&qr, at(s, s->n, j), 1);
  }
  return rank_of(&qr, zero);
}

/* states turned by V, so that the last tau rows of C have entries in their first columns alone; how many, or a
   status */
static int compress_columns(pencil *s, int tau) {
  const size_t n = (size_t)s->n;
  mbg__qr qr;
  if (mbg__qr_prepare(&qr, s->arena, s->n, tau) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < tau; i++) {
    for (int j = 0; j < s->n; j++) {
      qr.A[(size_t)j + n * (size_t)i] = *at(s, s->n + s->p - tau + i, j);
    }
  }
  if (mbg__qr_factor(&qr) < 0) {
    return MBG_ERROR_CONVERGENCE;
  }
  for (int j = 0; j < s->n + s->m; j++) {
    mbg__qr_mul_Q_T(&qr, at(s, 0, j), 1);
  }
  /* the columns of the states times V: V^T times their rows */
  for (int i = 0; i < s->n + s->p; i++) {
    for (int j = 0; j < s->n; j++) {
      s->T[j] = *at(s, i, j);
    }
    mbg__qr_mul_Q_T(&qr, s->T, 1);
    for (int j = 0; j < s->n; j++) {
      *at(s, i, j) = s->T[j];
    }
  }
  return rank_of(&qr, zero);
}

/* the first rho states go: their rows become outputs, after the first sigma of them */
static void remove_states(pencil *s, int sigma, int rho) {
  const int n = s->n - rho, p = sigma + rho;
  memset(s->T, 0, (size_t)s->ld * (size_t)s->ld * sizeof(double));
  for (int j = 0; j < n + s->m; j++) {
    double *to = s->T + (size_t)s->ld * (size_t)j;
    for (int i = 0; i < n; i++) {
      to[i] = *at(s, rho + i, rho + j);
    }
    for (int i = 0; i < sigma; i++) {
      to[n + i] = *at(s, s->n + i, rho + j);
    }
    for (int i = 0; i < rho; i++) {
      to[n + sigma + i] = *at(s, i, rho + j);
    }
  }
  memcpy(s->S, s->T, (size_t)s->ld * (size_t)s->ld * sizeof(double));
  s->n = n;
  s->p = p;
}

/* until D has full row rank; rows without entries go */
static int reduce(pencil *s) {
  while (s->p > 0) {
    const int sigma = compress_rows(s), tau = s->p - sigma;
    if (sigma < 0 || tau == 0) {
      return sigma < 0 ? sigma : MBG_OK;
    }
    const int rho = s->n > 0 ? compress_columns(s, tau) : 0;
    if (rho < 0) {
      return rho;
    }
    remove_states(s, sigma, rho);
    if (rho == 0) {
      return MBG_OK;
    }
  }
  return MBG_OK;
}

static void transpose(pencil *s) {
  const int rows = s->n + s->p, columns = s->n + s->m;
  memset(s->T, 0, (size_t)s->ld * (size_t)s->ld * sizeof(double));
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      s->T[(size_t)j + (size_t)s->ld * (size_t)i] = *at(s, i, j);
    }
  }
  memcpy(s->S, s->T, (size_t)s->ld * (size_t)s->ld * sizeof(double));
  const int p = s->p;
  s->p = s->m;
  s->m = p;
}

/* ---------------------------------------------------------------------- zeros */

/* eigenvalues of A - B D^-1 C, D square and regular */
static int eigenvalues(pencil *s, double *re, double *im) {
  const size_t n = (size_t)s->n;
  mbg__qr qr;
  double *A = MBG_TAKE(s->arena, double, n *n + 1), *X = MBG_TAKE(s->arena, double, n *n + 1);
  double *Y = MBG_TAKE(s->arena, double, n *n + 1), *c = MBG_TAKE(s->arena, double, s->m + 1);
  if (!A || !X || !Y || !c || mbg__qr_prepare(&qr, s->arena, s->m, s->m) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int j = 0; j < s->m; j++) {
    memcpy(qr.A + (size_t)s->m * (size_t)j, at(s, s->n, s->n + j), (size_t)s->m * sizeof(double));
  }
  if (s->m > 0 && mbg__qr_factor(&qr) < 0) {
    return MBG_ERROR_CONVERGENCE;
  }
  for (int j = 0; j < s->n; j++) {
    memcpy(A + n * (size_t)j, at(s, 0, j), n * sizeof(double));
    if (s->m == 0) {
      continue;
    }
    memcpy(c, at(s, s->n, j), (size_t)s->m * sizeof(double));
    mbg__qr_mul_Q_T(&qr, c, 1);
    for (int k = s->m - 1; k >= 0; k--) {
      for (int q = k + 1; q < s->m; q++) {
        c[k] -= qr.A[(size_t)k + (size_t)s->m * (size_t)q] * c[q];
      }
      c[k] /= qr.A[(size_t)k + (size_t)s->m * (size_t)k];
      for (int i = 0; i < s->n; i++) {
        A[(size_t)i + n * (size_t)j] -= *at(s, i, s->n + qr.column[k]) * c[k];
      }
    }
  }
  return mbg__eigen_general(s->ctx, s->n, A, re, im, Y, X);
}

static int find(pencil *s, int *count, double *re, double *im, int *rank) {
  int err = MBG_OK;
  balance(s);
  MBG_TRY(reduce(s));
  transpose(s);
  MBG_TRY(reduce(s));
  transpose(s);
  *rank = s->m;
  *count = s->n;
  MBG_TRY(s->n > 0 ? eigenvalues(s, re, im) : MBG_OK);
done:
  return err;
}

int mbg__zeros(mbg_context *ctx, int n, int m, int p, const double *A, const double *B, const double *C,
               const double *D, int *count, double *re, double *im, int *rank) {
  mbg__arena arena;
  pencil s = {.ctx = ctx, .arena = &arena, .n = n, .m = m, .p = p, .ld = n + m + p + 1};
  int err = MBG_ERROR_MEMORY;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  s.S = MBG_TAKE(&arena, double, (size_t)s.ld *(size_t)s.ld);
  s.T = MBG_TAKE(&arena, double, (size_t)s.ld *(size_t)s.ld);
  if (s.S && s.T) {
    for (int i = 0; i < n + p; i++) {
      for (int j = 0; j < n + m; j++) {
        const double *from = i < n ? (j < n ? A + i * n + j : B + i * m + j - n)
                                   : (j < n ? C + (i - n) * n + j : D + (i - n) * m + j - n);
        *at(&s, i, j) = *from;
      }
    }
    err = find(&s, count, re, im, rank);
  }
  mbg__arena_destroy(&arena);
  return err;
}
