#include "start/rank_rates.h"

#include "math/dense.h"

#include <string.h>

/* one of the two stages: its rows, its factors, how many are kept */
typedef struct {
  int n, *row; /* places of the rows in A */
  mbg__qr qr;
  int kept;
  double *T; /* kept x (n - kept) */
} stage;

static void list_rows(int nrow, const bool *rate, bool want, stage *s) {
  for (int i = 0; i < nrow; i++) {
    if (rate[i] == want) {
      s->row[s->n++] = i;
    }
  }
}

static int factor(mbg_context *ctx, mbg__arena *scratch, stage *s, double tolerance, double *smallest) {
  if (s->n > 0 && mbg__qr_factor(&s->qr) < 0) {
    return mbg__fail(ctx, MBG_ERROR_SINGULAR, "the constraint Jacobian is not finite");
  }
  const int most = s->qr.m < s->n ? s->qr.m : s->n;
  while (s->kept < most && fabs(s->qr.A[(size_t)s->kept * (size_t)(s->qr.m + 1)]) > tolerance) {
    *smallest = fmin(*smallest, fabs(s->qr.A[(size_t)s->kept * (size_t)(s->qr.m + 1)]));
    s->kept++;
  }
  s->T = MBG_TAKE(scratch, double, (size_t)s->kept *(size_t)(s->n - s->kept));
  const int err = mbg__arena_check(ctx, scratch);
  if (err == MBG_OK && s->n > s->kept) {
    mbg__qr_dependence(&s->qr, s->kept, s->T);
  }
  return err;
}

/* columns of A into a matrix of the stage's factors */
static void fill(int ncol, const double *A, const stage *s, double *to) {
  for (int k = 0; k < s->n; k++) {
    memcpy(to + (size_t)ncol * (size_t)k, A + (size_t)ncol * (size_t)s->row[k], (size_t)ncol * sizeof(double));
  }
}

/* x <- R11^-1 x of the kept rows of positions */
static void back(const stage *h, double *x) {
  for (int i = h->kept - 1; i >= 0; i--) {
    for (int j = i + 1; j < h->kept; j++) {
      x[i] -= h->qr.A[(size_t)i + (size_t)h->qr.m * (size_t)j] * x[j];
    }
    x[i] /= h->qr.A[(size_t)i * (size_t)(h->qr.m + 1)];
  }
}

/* a dropped row on rates by the kept rows: S = Q^T N, T of the rates from the second stage, the rest by R11 */
static void depend(int ncol, const stage *h, const stage *r, const double *S, int d, double *T) {
  const double *own = S + (size_t)ncol * (size_t)r->qr.column[r->kept + d];
  memcpy(T, own, (size_t)h->kept * sizeof(double));
  for (int k = 0; k < r->kept; k++) {
    const double t = r->T[(size_t)k + (size_t)r->kept * (size_t)d];
    const double *other = S + (size_t)ncol * (size_t)r->qr.column[k];
    for (int i = 0; i < h->kept; i++) {
      T[i] -= t * other[i];
    }
    T[h->kept + k] = t;
  }
  back(h, T);
}

static void list_order(const stage *s, int from, int to, int *order) {
  for (int k = from; k < to; k++) {
    order[k - from] = s->row[s->qr.column[k]];
  }
}

int mbg__rank_rates(mbg_context *ctx, mbg__arena *scratch, mbg__arena *arena, int ncol, int nrow, const double *A,
                    const bool *rate, double tolerance, int *order, int *rank, double **T, double *smallest) {
  stage h = {.row = MBG_TAKE(scratch, int, nrow)}, r = {.row = MBG_TAKE(scratch, int, nrow)};
  int err = MBG_OK;
  MBG_TRY(mbg__arena_check(ctx, scratch));
  list_rows(nrow, rate, false, &h);
  list_rows(nrow, rate, true, &r);
  (void)mbg__qr_prepare(&h.qr, scratch, ncol, h.n);
  (void)mbg__qr_prepare(&r.qr, scratch, ncol, r.n);
  double *S = MBG_TAKE(scratch, double, (size_t)ncol *(size_t)r.n);
  MBG_TRY(mbg__arena_check(ctx, scratch));
  *smallest = 1;
  fill(ncol, A, &h, h.qr.A);
  MBG_TRY(factor(ctx, scratch, &h, tolerance, smallest));
  fill(ncol, A, &r, S);
  if (h.n > 0) {
    mbg__qr_mul_Q_T(&h.qr, S, r.n);
  }
  memcpy(r.qr.A, S, (size_t)ncol * (size_t)r.n * sizeof(double));
  for (int k = 0; k < r.n; k++) {
    memset(r.qr.A + (size_t)ncol * (size_t)k, 0, (size_t)h.kept * sizeof(double));
  }
  MBG_TRY(factor(ctx, scratch, &r, tolerance, smallest));
  *rank = h.kept + r.kept;
  *T = MBG_TAKE(arena, double, (size_t)*rank *(size_t)(nrow - *rank));
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int d = 0; d < h.n - h.kept; d++) {
    memcpy(*T + (size_t)*rank * (size_t)d, h.T + (size_t)h.kept * (size_t)d, (size_t)h.kept * sizeof(double));
  }
  for (int d = 0; d < r.n - r.kept; d++) {
    depend(ncol, &h, &r, S, d, *T + (size_t)*rank * (size_t)(h.n - h.kept + d));
  }
  list_order(&h, 0, h.kept, order);
  list_order(&r, 0, r.kept, order + h.kept);
  list_order(&h, h.kept, h.n, order + *rank);
  list_order(&r, r.kept, r.n, order + *rank + h.n - h.kept);
done:
  return err;
}
