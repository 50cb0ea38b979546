/* Poles 0 of a linear model with constraints on rates. They come in Jordan chains, heading to position, speed to
   distance, and an eigenvalue solver finds them to the root of the rounding alone. Here they are counted by rank: the
   null space of A, then that of the rest of A on its complement, and so on (theory 8, section 7). */
#include "linearize/linearize.h"

#include "math/svd.h"

#include <string.h>

static const double none = 1e-12; /* singular value that counts as 0, relative to the largest of the balanced matrix */

/* entries of the size of rounding are 0: they must not be balanced */
static void clean(int n, double *A) {
  double most = 0;
  for (int i = 0; i < n * n; i++) {
    most = fmax(most, fabs(A[i]));
  }
  for (int i = 0; i < n * n; i++) {
    A[i] = fabs(A[i]) > 1e-14 * most ? A[i] : 0;
  }
}

/* A <- D^-1 A D, d = diag D powers of 2, so that rows and columns have equal sizes as far as they can */
static void balance(int n, double *A, double *d) {
  clean(n, A);
  for (int i = 0; i < n; i++) {
    d[i] = 1;
  }
  for (int sweep = 0; sweep < 20; sweep++) {
    bool same = true;
    for (int i = 0; i < n; i++) {
      double row = 0, col = 0;
      for (int j = 0; j < n; j++) {
        row += j != i ? fabs(column(A, n, j)[i]) : 0;
        col += j != i ? fabs(column(A, n, i)[j]) : 0;
      }
      const double f = row > 0 && col > 0 ? exp2(round(0.5 * log2(row / col))) : 1;
      same = same && f == 1;
      d[i] *= f;
      for (int j = 0; j < n; j++) {
        column(A, n, j)[i] /= f;
        column(A, n, i)[j] *= f;
      }
    }
    if (same) {
      return;
    }
  }
}

typedef struct {
  mbg__linear_null *null;
  double *S, *next; /* scratch (n x n) */
  double *V, *s;    /* singular vectors and values */
} staircase;

/* null vectors of the rest into Z; the rest on their complement */
static void step_down(staircase *q, int nulls) {
  mbg__linear_null *o = q->null;
  const int n = o->n, m = o->rest, left = m - nulls;
  memset(q->next, 0, (size_t)n * (size_t)m * sizeof(double));
  for (int c = 0; c < m; c++) {
    for (int j = 0; j < m; j++) {
      axpy(n, column(q->V, m, c)[j], column(o->T, n, j), column(q->next, n, c));
    }
  }
  memcpy(column(o->Z, n, n - m), column(q->next, n, left), (size_t)n * (size_t)nulls * sizeof(double));
  memcpy(o->T, q->next, (size_t)n * (size_t)left * sizeof(double));
  for (int c = 0; c < left; c++) {
    double *x = q->next;
    memset(x, 0, (size_t)m * sizeof(double));
    for (int j = 0; j < m; j++) {
      axpy(m, column(q->V, m, c)[j], column(o->R, m, j), x);
    }
    for (int i = 0; i < left; i++) {
      column(q->S, left, c)[i] = dot(m, column(q->V, m, i), x);
    }
  }
  memcpy(o->R, q->S, (size_t)left * (size_t)left * sizeof(double));
  o->rest = left;
}

static int descend(mbg_context *ctx, staircase *q) {
  mbg__linear_null *o = q->null;
  double most = 0;
  while (o->rest > 0) {
    int nulls = 0;
    memcpy(q->S, o->R, (size_t)o->rest * (size_t)o->rest * sizeof(double));
    const int err = mbg__svd(ctx, o->rest, q->S, q->s, q->V);
    if (err < 0) {
      return err == MBG_ERROR_MEMORY ? mbg__fail_memory(ctx)
                                     : mbg__fail(ctx, err, "the entries of the linear model are not finite");
    }
    most = most > 0 ? most : q->s[0];
    while (nulls < o->rest && q->s[o->rest - 1 - nulls] <= none * most) {
      nulls++;
    }
    if (nulls == 0) {
      break;
    }
    step_down(q, nulls);
  }
  return MBG_OK;
}

int mbg__linearize_null(mbg_context *ctx, mbg__arena *arena, int n, const double *A, mbg__linear_null *out) {
  const size_t square = (size_t)n * (size_t)n;
  mbg__arena scratch;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  *out = (mbg__linear_null){.n = n,
                            .rest = n,
                            .d = MBG_TAKE(arena, double, n),
                            .Z = MBG_TAKE(arena, double, square),
                            .T = MBG_TAKE(arena, double, square),
                            .R = MBG_TAKE(arena, double, square)};
  staircase q = {.null = out,
                 .S = MBG_TAKE(&scratch, double, square),
                 .next = MBG_TAKE(&scratch, double, square),
                 .V = MBG_TAKE(&scratch, double, square),
                 .s = MBG_TAKE(&scratch, double, n)};
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  memcpy(out->R, A, square * sizeof(double));
  balance(n, out->R, out->d);
  for (int i = 0; i < n; i++) {
    column(out->T, n, i)[i] = out->d[i];
  }
  MBG_TRY(descend(ctx, &q));
done:
  mbg__arena_destroy(&scratch);
  return err;
}
