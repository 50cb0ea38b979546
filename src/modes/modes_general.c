/* Modes of the general problem u'' + C u' + A u = 0. It is solved in the coordinates of the symmetric part of A, as
   (Sigma u, u')' = [[0, Sigma], [-A/Sigma, -C]] (Sigma u, u') with Sigma^2 = |omega^2|: the norm of this matrix is the
   largest frequency instead of its square, so that the low modes keep their digits. Places of states, the last entries
   of u, take no part but by their rates: (Sigma u, u')' is solved for the first nm entries of u and all of u', and the
   place in a mode is the state divided by s. */
#include "modes/modes_reduced.h"

#include "math/spectrum.h"
#include "math/svd.h"

#include <stdlib.h>
#include <string.h>

/* the matrix of the first-order form in A (nm + n) */
static void companion(int n, int nm, const double *K, const double *C, const double *sigma, double *A) {
  const size_t N = (size_t)(nm + n);
  memset(A, 0, N * N * sizeof(double));
  for (int j = 0; j < n; j++) {
    if (j < nm) {
      A[(size_t)j + N * (size_t)(nm + j)] = sigma[j];
    }
    for (int i = 0; i < n; i++) {
      if (j < nm) {
        A[(size_t)(nm + i) + N * (size_t)j] = -K[i + (size_t)n * (size_t)j] / sigma[j];
      }
      A[(size_t)(nm + i) + N * (size_t)(nm + j)] = -C[i + (size_t)n * (size_t)j];
    }
  }
}

/* x or y = Z u for one part of a vector of the first-order form */
static void expand(const mbg__reduced *d, const double *u, double *x) {
  memset(x, 0, (size_t)d->nv * sizeof(double));
  for (int k = 0; k < d->nr; k++) {
    axpy(d->nv, u[k], column(d->Z, d->nv, k), x);
  }
}

/* f = (s^2 M + s C + K) x, transposed for left vectors */
static int quadratic(const mbg__modes_work *w, const double s[2], double *const x[2], bool transposed,
                     double *const f[2]) {
  const int nv = w->m->nv;
  void (*mul)(const mbg__modes_work *, const real *, const double *, double *) =
      transposed ? mbg__modes_mul_T : mbg__modes_mul;
  double *y = mbg__alloc(w->ctx, (size_t)nv, sizeof(double));
  if (!y) {
    return mbg__fail_memory(w->ctx);
  }
  const real *A[3] = {w->K, w->C, w->M};
  const double c[3][2] = {{1, 0}, {s[0], s[1]}, {s[0] * s[0] - s[1] * s[1], 2 * s[0] * s[1]}};
  for (int part = 0; part < 2; part++) {
    memset(f[part], 0, (size_t)nv * sizeof(double));
  }
  for (int part = 0; part < 2; part++) {
    for (int k = 0; k < 3; k++) {
      if (k == 1 && w->opt.undamped) {
        continue;
      }
      mul(w, A[k], x[part], y);
      for (int j = 0; j < nv; j++) {
        f[0][j] += (part ? -c[k][1] : c[k][0]) * y[j];
        f[1][j] += (part ? c[k][0] : c[k][1]) * y[j];
      }
    }
  }
  mbg__free(w->ctx, y);
  return MBG_OK;
}

/* One eigenvalue of the first-order form: column, and the next one for the imaginary parts. */
typedef struct {
  double re, im;
  int column;
} candidate;

static int by_size(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  const double p = hypot(x->re, x->im), q = hypot(y->re, y->im);
  return p < q ? -1 : p > q ? 1 : x->re < y->re ? -1 : x->re > y->re;
}

/* right vector u = a/Sigma, left vector l_b with l the conjugate of what dgeev gives; complex, side by side */
static void take_vectors(int n, int nm, const candidate *c, const double *sigma, const double *X, const double *Y,
                         double *x, double *y) {
  const double size = c->re * c->re + c->im * c->im;
  for (int k = 0; k < n; k++) {
    for (int part = 0; part < 2; part++) {
      const size_t column = (size_t)(nm + n) * (size_t)(c->column + part);
      const bool none = part == 1 && c->im == 0;
      x[2 * k + part] = none ? 0 : X[(size_t)(k < nm ? k : nm + k) + column] / (k < nm ? sigma[k] : 1);
      y[2 * k + part] = none ? 0 : (part ? -1 : 1) * Y[(size_t)(nm + k) + column];
    }
    if (k >= nm && size > 0) { /* the place: state / s */
      const double a = x[2 * k], b = x[2 * k + 1];
      x[2 * k] = (a * c->re + b * c->im) / size;
      x[2 * k + 1] = (b * c->re - a * c->im) / size;
    }
  }
}

static void every_second(int n, const double *x, double *out) {
  for (int k = 0; k < n; k++) {
    out[k] = x[2 * k];
  }
}

static int take_mode(mbg__modes_work *w, mbg__mode *mode) {
  for (int part = 0; part < 2; part++) {
    mode->x[part] = MBG_TAKE(&w->arena, double, w->m->nv);
    mode->y[part] = MBG_TAKE(&w->arena, double, w->m->nv);
    mode->xi[part] = MBG_TAKE(&w->arena, double, w->m->nrow);
    mode->eta[part] = MBG_TAKE(&w->arena, double, w->m->nrow);
  }
  return mbg__arena_check(w->ctx, &w->arena);
}

static int keep_general(mbg__reduced *d, const candidate *c, const double *sigma, const double *X, const double *Y,
                        double zero_limit, mbg__mode *mode) {
  mbg__modes_work *w = d->w;
  const int n = d->nr;
  int err = MBG_OK;
  double *u = MBG_TAKE(&d->arena, double, 5 * (size_t)n);
  double *const f[2] = {MBG_TAKE(&d->arena, double, d->nv), MBG_TAKE(&d->arena, double, d->nv)};
  MBG_TRY(take_mode(w, mode));
  MBG_TRY(mbg__arena_check(w->ctx, &d->arena));
  double *x = u + n, *y = x + 2 * (size_t)n;
  mode->s[0] = c->re;
  mode->s[1] = c->im;
  mode->zero = hypot(c->re, c->im) <= zero_limit;
  take_vectors(n, d->nm, c, sigma, X, Y, x, y);
  if (!mode->zero && mbg__eigen_quadratic(w->ctx, n, d->K, d->C, mode->s, x, y) < 0) {
    return mbg__fail_memory(w->ctx);
  }
  for (int part = 0; part < 2; part++) {
    every_second(n, x + part, u);
    expand(d, u, mode->x[part]);
    every_second(n, y + part, u);
    expand(d, u, mode->y[part]);
    mbg__modes_late_combine_T(w, mode->y[part]);
  }
  for (int left = 0; left < 2; left++) {
    MBG_TRY(quadratic(w, mode->s, left ? mode->y : mode->x, left, f));
    for (int part = 0; part < 2; part++) {
      MBG_TRY(mbg__modes_multipliers(w, f[part], left ? mode->eta[part] : mode->xi[part]));
    }
  }
done:
  return err;
}

/* entry of K_x */
static double stiffness(const mbg__reduced *d, int i, int j) { return column(j < d->nm ? d->K : d->C, d->nr, j)[i]; }

/* null vectors of K_x or K_x^T by singular values, into N (nv each, at most n); how many */
static int null_vectors(mbg__reduced *d, bool transposed, double *N, int *count) {
  mbg__modes_work *w = d->w;
  const int n = d->nr;
  const size_t square = (size_t)n * (size_t)n;
  double *A = mbg__alloc(w->ctx, 2 * square + (size_t)n, sizeof(double));
  if (!A) {
    return mbg__fail_memory(w->ctx);
  }
  double *V = A + square, *s = V + square;
  *count = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      column(A, n, j)[i] = transposed ? stiffness(d, j, i) : stiffness(d, i, j);
    }
  }
  const int err = mbg__svd(w->ctx, n, A, s, V);
  for (int k = n - 1; err >= 0 && k >= 0; k--) {
    double *x = column(N, d->nv, *count);
    expand(d, column(V, n, k), x);
    if (transposed) {
      mbg__modes_late_combine_T(w, x);
    }
    if (s[k] > fmax(mbg__reduced_rounding(d), mbg__modes_stiffness_floor(w, x))) {
      break;
    }
    ++*count;
  }
  mbg__free(w->ctx, A);
  return err < 0 ? mbg__modes_not_found(w, err) : MBG_OK;
}

/* of a symmetric K, whose vectors stand in Z, or a general one */
static int find_zeros(mbg__reduced *d) {
  mbg__modes_work *w = d->w;
  int err = MBG_OK, right = 0, left = 0;
  for (int k = 0; d->w->K_symmetric && k < d->nr; k++) {
    const double *x = column(d->Z, d->nv, k);
    const double limit = fmax(mbg__reduced_rounding(d), mbg__modes_stiffness_floor(w, x));
    if (fabs(d->omega2[k]) <= limit) {
      w->unresolved = fmax(w->unresolved, sqrt(limit));
      MBG_TRY(mbg__modes_keep_zero(w, d->nr, x, NULL));
    }
  }
  if (!d->w->K_symmetric) {
    const size_t room = (size_t)d->nv * (size_t)(d->nr + 1);
    double *X = MBG_TAKE(&d->arena, double, room), *Y = MBG_TAKE(&d->arena, double, room);
    MBG_TRY(mbg__arena_check(w->ctx, &d->arena));
    MBG_TRY(null_vectors(d, false, X, &right));
    MBG_TRY(null_vectors(d, true, Y, &left));
    for (int k = 0; k < right && k < left; k++) {
      MBG_TRY(mbg__modes_keep_zero(w, d->nr, column(X, d->nv, k), column(Y, d->nv, k)));
    }
  }
done:
  return err;
}

/* the low modes of a symmetric K, whose digits the reduction has cost */
static int polish_low(mbg__reduced *d) {
  mbg__modes_work *w = d->w;
  bool zeros;
  const int count = 2 * w->opt.count + MBG__MODES_SPARE;
  w->count = count < d->nr ? count : d->nr;
  const double least = mbg__modes_lowest(w, w->count, d->omega2, d->Z, mbg__reduced_rounding(d), &zeros);
  return least > 0 ? mbg__modes_polish(w, zeros ? -0.1 * least : 0, d->omega2, d->Z) : MBG_OK;
}

/* a motion without stiffness, once, however often s = 0 is an eigenvalue with it */
static int keep_free(mbg__modes_work *w, int q, mbg__mode *mode) {
  int err = MBG_OK;
  double *f = MBG_TAKE(&w->arena, double, w->m->nv);
  MBG_TRY(take_mode(w, mode));
  mode->zero = true;
  mode->x[0] = w->zero[q];
  mode->y[0] = w->zero_left[q];
  mbg__modes_mul(w, w->Kx, mode->x[0], f);
  MBG_TRY(mbg__modes_multipliers(w, f, mode->xi[0]));
  mbg__modes_mul_T(w, w->Kx, mode->y[0], f);
  MBG_TRY(mbg__modes_multipliers(w, f, mode->eta[0]));
done:
  return err;
}

/* eigenvalues with im >= 0 by size, without the zeros of motions without stiffness; a double zero comes out as the root
   of rounding */
static int candidates(mbg__modes_work *w, int N, const double *wr, const double *wi, candidate *c, double *zero_limit) {
  double norm = 0;
  int found = 0;
  for (int k = 0; k < N; k++) {
    norm = fmax(norm, hypot(wr[k], wi[k]));
  }
  *zero_limit = w->nzero > 0 ? 1e2 * sqrt(2.2e-16 * norm * fmax(1, norm)) : 1e-14 * norm;
  for (int k = 0; k < N; k++) {
    w->unresolved = hypot(wr[k], wi[k]) <= *zero_limit ? fmax(w->unresolved, *zero_limit) : w->unresolved;
    if (wi[k] >= 0 && (w->nzero == 0 || hypot(wr[k], wi[k]) > *zero_limit)) {
      c[found++] = (candidate){wr[k], wi[k], k};
    }
  }
  qsort(c, (size_t)found, sizeof(*c), by_size);
  return found;
}

static bool equal(const candidate *a, const candidate *b) {
  return hypot(a->re - b->re, a->im - b->im) <= 1e-9 * hypot(b->re, b->im);
}

static int list_general(mbg__reduced *d, const double *sigma, const double *wr, const double *wi, const double *X,
                        const double *Y) {
  mbg__modes_work *w = d->w;
  int err = MBG_OK;
  double limit;
  candidate *c = MBG_TAKE(&d->arena, candidate, 2 * d->nr);
  MBG_TRY(mbg__arena_check(w->ctx, &d->arena));
  const int found = candidates(w, d->nm + d->nr, wr, wi, c, &limit);
  int count = w->opt.count < found ? w->opt.count : found;
  while (count > 0 && count < found && equal(&c[count], &c[count - 1])) {
    count++;
  }
  w->count = w->nzero + count;
  w->modes = MBG_TAKE(&w->arena, mbg__mode, w->count);
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  MBG_TRY(mbg__modes_factor(w, 0, 0, 1, "modes"));
  for (int q = 0; q < w->nzero; q++) {
    MBG_TRY(keep_free(w, q, &w->modes[q]));
  }
  for (int k = 0; k < count; k++) {
    MBG_TRY(keep_general(d, &c[k], sigma, X, Y, limit, &w->modes[w->nzero + k]));
  }
done:
  return err;
}

int mbg__modes_general(mbg__reduced *d) {
  mbg__modes_work *w = d->w;
  const int n = d->nr;
  const size_t square = (size_t)n * (size_t)n;
  int err = MBG_OK;
  if (d->nr < d->n) {
    return mbg__fail(w->ctx, MBG_ERROR_SINGULAR,
                     "modes with damping need inertia in all freedoms, but %d of them %s none; leave damping out, or "
                     "give the body a mass",
                     d->n - d->nr, d->n - d->nr == 1 ? "has" : "have");
  }
  double *sigma = MBG_TAKE(&d->arena, double, n), *A = MBG_TAKE(&d->arena, double, 4 * square);
  double *X = MBG_TAKE(&d->arena, double, 4 * square), *Y = MBG_TAKE(&d->arena, double, 4 * square);
  double *wr = MBG_TAKE(&d->arena, double, 2 * n), *wi = MBG_TAKE(&d->arena, double, 2 * n);
  MBG_TRY(mbg__arena_check(w->ctx, &d->arena));
  MBG_TRY(find_zeros(d));
  if (d->w->K_symmetric) {
    MBG_TRY(polish_low(d));
    memset(d->K, 0, square * sizeof(double));
    for (int k = 0; k < n; k++) {
      column(d->K, n, k)[k] = d->omega2[k];
    }
    MBG_TRY(mbg__reduced_project(d, n, w->C, d->C));
  }
  if (w->opt.undamped) {
    memset(d->C, 0, square * sizeof(double));
  }
  for (int k = 0; k < d->nm; k++) {
    sigma[k] = sqrt(fmax(fabs(d->omega2[k]), 10 * mbg__reduced_rounding(d)));
    sigma[k] = sigma[k] > 0 ? sigma[k] : 1;
  }
  companion(n, d->nm, d->K, d->C, sigma, A);
  err = mbg__eigen_general(w->ctx, d->nm + n, A, wr, wi, Y, X);
  if (err < 0) {
    return mbg__modes_not_found(w, err);
  }
  MBG_TRY(list_general(d, sigma, wr, wi, X, Y));
done:
  return err;
}
