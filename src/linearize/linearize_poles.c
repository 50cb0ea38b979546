/* Poles, zeros and frequency responses of the linear model. */
#include "linearize/linearize.h"

#include "math/spectrum.h"
#include "math/zeros.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  double re, im;
} root;

static int by_size(const void *a, const void *b) {
  const root *x = a, *y = b;
  const double p = hypot(x->re, x->im), q = hypot(y->re, y->im);
  if (fabs(p - q) > 1e-12 * (p + q)) {
    return p < q ? -1 : 1;
  }
  if (fabs(x->re - y->re) > 1e-12 * (p + q)) {
    return x->re < y->re ? -1 : 1;
  }
  return x->im > y->im ? -1 : x->im < y->im;
}

static int sort_roots(mbg_context *ctx, int n, double *re_, double *im_) {
  root *list = mbg__alloc(ctx, (size_t)n + 1, sizeof(*list));
  if (!list) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < n; i++) {
    list[i] = (root){re_[i], im_[i]};
  }
  qsort(list, (size_t)n, sizeof(*list), by_size);
  for (int i = 0; i < n; i++) {
    re_[i] = list[i].re;
    im_[i] = list[i].im;
  }
  mbg__free(ctx, list);
  return MBG_OK;
}

static int not_found(mbg_context *ctx, const char *what, int err) {
  return err == MBG_ERROR_MEMORY ? mbg__fail_memory(ctx)
                                 : mbg__fail(ctx, err,
                                             "the %s of the linear model were not found: its entries are not "
                                             "finite, or too far apart",
                                             what);
}

/* eigenvalues of A (n x n, by columns, overwritten) into the first places, the rest is 0; room: 2 n^2 */
static int find(mbg_context *ctx, int n, double *A, double *room, mbg_linearize *out) {
  mbg__arena arena;
  mbg__linear_null null = {.rest = n, .R = A};
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  if (mbg__model_has_rates(out->model)) {
    MBG_TRY(mbg__linearize_null(ctx, &arena, n, A, &null));
  }
  if (null.rest > 0) {
    err = mbg__eigen_general(ctx, null.rest, null.R, out->re, out->im, room, room + (size_t)n * (size_t)n);
    err = err < 0 ? not_found(ctx, "poles", err) : MBG_OK;
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}

int mbg__linearize_find_poles(mbg_context *ctx, mbg_linearize *out) {
  const int n = out->summary.states;
  const size_t square = (size_t)n * (size_t)n;
  double *A = mbg__alloc(ctx, 3 * square + 1, sizeof(double));
  if (!A) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      A[i + n * j] = out->matrix[0][(size_t)i * (size_t)n + (size_t)j];
    }
  }
  int err = find(ctx, n, A, A + square, out);
  mbg__free(ctx, A);
  err = err < 0 ? err : sort_roots(ctx, n, out->re, out->im);
  for (int i = 0; i < n; i++) {
    out->summary.unstable += out->re[i] > 1e-9 * hypot(out->re[i], out->im[i]);
  }
  return err;
}

int mbg_linearize_poles(const mbg_linearize *linear, double *re_, double *im_) {
  MBG_NEED(NULL, linear);
  for (int i = 0; i < linear->summary.states; i++) {
    if (re_) {
      re_[i] = linear->re[i];
    }
    if (im_) {
      im_[i] = linear->im[i];
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- zeros */

/* column `input` of B and D, row `output` of C and D; -1: all */
static int pick(const mbg_linearize *s, int input, int output, double *B, double *C, double *D) {
  const int n = s->summary.states, m = s->summary.inputs, p = s->summary.outputs;
  int nb = 0, nc = 0, nd = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      if (input < 0 || j == input) {
        B[nb++] = s->matrix[1][i * m + j];
      }
    }
  }
  for (int i = 0; i < p; i++) {
    for (int j = 0; j < n && (output < 0 || i == output); j++) {
      C[nc++] = s->matrix[2][i * n + j];
    }
    for (int j = 0; j < m && (output < 0 || i == output); j++) {
      if (input < 0 || j == input) {
        D[nd++] = s->matrix[3][i * m + j];
      }
    }
  }
  return MBG_OK;
}

int mbg_linearize_zeros(mbg_context *ctx, const mbg_linearize *s, int input, int output, int *count, double *re_,
                        double *im_) {
  MBG_NEED(ctx, ctx && s && count && (input < 0) == (output < 0) && input < s->summary.inputs &&
                    output < s->summary.outputs);
  const int n = s->summary.states, m = s->summary.inputs, p = s->summary.outputs;
  const size_t nb = (size_t)n * (size_t)m, nc = (size_t)p * (size_t)n, nd = (size_t)p * (size_t)m;
  double *room = mbg__alloc(ctx, nb + nc + nd + 2 * (size_t)n + 1, sizeof(double));
  int rank = 0, err = MBG_OK;
  *count = 0;
  if (!room) {
    return mbg__fail_memory(ctx);
  }
  double *B = room, *C = B + nb, *D = C + nc, *wr = D + nd, *wi = wr + n;
  (void)pick(s, input, output, B, C, D);
  err = mbg__zeros(ctx, n, input < 0 ? m : 1, output < 0 ? p : 1, s->matrix[0], B, C, D, count, wr, wi, &rank);
  if (err < 0) {
    err = not_found(ctx, "zeros", err);
  } else if (rank == 0) {
    *count = 0;
    err = input < 0 ? mbg__fail(ctx, MBG_ERROR_INPUT, "no input acts on any output: there are no zeros")
                    : mbg__fail(ctx, MBG_ERROR_INPUT, "input '%s' does not act on output '%s': there are no zeros",
                                s->inputs[input].name, s->outputs[output].name);
  } else {
    err = sort_roots(ctx, *count, wr, wi);
  }
  for (int i = 0; err == MBG_OK && i < *count; i++) {
    if (re_) {
      re_[i] = wr[i];
    }
    if (im_) {
      im_[i] = wi[i];
    }
  }
  mbg__free(ctx, room);
  return err;
}

/* ---------------------------------------------------------------------- response */

static int respond(mbg_context *ctx, const mbg_linearize *s, double omega, double *work, double *re_, double *im_) {
  const int n = s->summary.states, m = s->summary.inputs, p = s->summary.outputs;
  double *S = work, *X = work + 2 * (size_t)n * (size_t)n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      S[2 * (i + n * j)] = -s->matrix[0][i * n + j];
      S[2 * (i + n * j) + 1] = i == j ? omega : 0;
    }
    for (int j = 0; j < m; j++) {
      X[2 * (i + n * j)] = s->matrix[1][i * m + j];
      X[2 * (i + n * j) + 1] = 0;
    }
  }
  const int err = mbg__solve_complex(ctx, n, S, m, X);
  for (int i = 0; err == MBG_OK && i < p; i++) {
    for (int j = 0; j < m; j++) {
      double sum[2] = {s->matrix[3][i * m + j], 0};
      for (int k = 0; k < n; k++) {
        sum[0] += s->matrix[2][i * n + k] * X[2 * (k + n * j)];
        sum[1] += s->matrix[2][i * n + k] * X[2 * (k + n * j) + 1];
      }
      re_[i * m + j] = sum[0];
      im_[i * m + j] = sum[1];
    }
  }
  return err;
}

int mbg_linearize_response(mbg_context *ctx, const mbg_linearize *s, double omega, double *re_, double *im_) {
  MBG_NEED(ctx, ctx && s && re_ && im_);
  const size_t n = (size_t)s->summary.states, m = (size_t)s->summary.inputs;
  if (!isfinite(omega)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the frequency of a response must be a finite number");
  }
  double *work = mbg__alloc(ctx, 2 * n * (n + m) + 1, sizeof(double));
  if (!work) {
    return mbg__fail_memory(ctx);
  }
  const int err = respond(ctx, s, omega, work, re_, im_);
  mbg__free(ctx, work);
  return err == MBG_OK               ? MBG_OK
         : err == MBG_ERROR_SINGULAR ? mbg__fail(ctx, err, "there is no response at %g rad/s: it is a pole", omega)
                                     : mbg__fail_memory(ctx);
}
