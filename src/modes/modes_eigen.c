/* Eigenvalues of the linearized model. Unknowns are scaled by the metric, x = S q^, S = W^-1/2; the constraints are taken out by an
   orthonormal basis Z of the motions they allow, and the mass matrix by its eigenvalues:

     Z^T S M S Z = Q diag(mu) Q^T,   x = S Z Q mu^-1/2 u:   symmetric   A u = omega^2 u
                                                            general     u'' + C u' + A u = 0

   The general problem is solved in the coordinates of the symmetric part of A, as (Sigma u, u')' = [[0, Sigma], [-A/Sigma, -C]] ...
   with Sigma^2 = |omega^2|: its norm is the largest frequency instead of its square, so that the low modes keep their digits. */
#include "modes/modes.h"

#include "math/dense.h"
#include "math/spectrum.h"
#include "math/svd.h"

#include <stdlib.h>
#include <string.h>

enum { DENSE_MAX = 400, GENERAL_MAX = 250, SPARE = 6 };

static const double massless_limit = 1e-13; /* inertia of a freedom relative to the largest, in the metric */

/* The reduced problem. */
typedef struct {
  mbg__modes_work *w;
  mbg__arena arena;
  int nv, n, nr; /* unknowns, freedoms, freedoms with inertia */
  double *Z;     /* S Z, later the map from u to x: (nv x n), (nv x nr) */
  double *K, *C; /* in u: (nr x nr) */
  double *mu, *Q;
  double *omega2; /* eigenvalues of the symmetric part of K  (nr) */
} reduced;

/* ---------------------------------------------------------------------- motions that the constraints allow */

static int null_space(reduced *d) {
  const mbg__modes_work *w = d->w;
  const mbg__csc *P = mbg__system_pattern_B(w->sys);
  const mbg__rank *rank = w->result->rank;
  mbg__qr qr;
  int *place = MBG_TAKE(&d->arena, int, w->m->nrow);
  d->Z = MBG_TAKE(&d->arena, double, (size_t)d->nv *(size_t)d->n);
  if (!place || !d->Z || mbg__qr_prepare(&qr, &d->arena, d->nv, rank->nkept) < 0) {
    return mbg__fail_memory(w->ctx);
  }
  for (int i = 0; i < rank->nkept; i++) {
    place[rank->kept[i]] = i;
  }
  for (int j = 0; j < d->nv; j++) {
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      if (rank->keep[P->rowind[i]]) {
        qr.A[j + (size_t)d->nv * (size_t)place[P->rowind[i]]] = re(w->B[i]) / sqrt(w->W[j]);
      }
    }
  }
  if (rank->nkept > 0 && mbg__qr_factor(&qr) < 0) {
    return mbg__fail(w->ctx, MBG_ERROR_SINGULAR, "the constraints are not finite");
  }
  for (int k = 0; k < d->n; k++) {
    d->Z[rank->nkept + k + (size_t)d->nv * (size_t)k] = 1;
  }
  if (rank->nkept > 0) {
    mbg__qr_mul_Q(&qr, d->Z, d->n);
  }
  for (int k = 0; k < d->n; k++) {
    for (int j = 0; j < d->nv; j++) {
      d->Z[j + (size_t)d->nv * (size_t)k] /= sqrt(w->W[j]);
    }
  }
  return MBG_OK;
}

/* out (n x n) = Z^T A Z */
static int project(const reduced *d, int n, const real *A, double *out) {
  double *y = mbg__alloc(d->w->ctx, (size_t)d->nv, sizeof(double));
  if (!y) {
    return mbg__fail_memory(d->w->ctx);
  }
  for (int k = 0; k < n; k++) {
    mbg__modes_mul(d->w, A, d->Z + (size_t)d->nv * (size_t)k, y);
    for (int i = 0; i < n; i++) {
      const double *z = d->Z + (size_t)d->nv * (size_t)i;
      double sum = 0;
      for (int j = 0; j < d->nv; j++) {
        sum += z[j] * y[j];
      }
      out[i + (size_t)n * (size_t)k] = sum;
    }
  }
  mbg__free(d->w->ctx, y);
  return MBG_OK;
}

/* Z <- Z T, T is n x k; in place with a row of scratch */
static int times(reduced *d, int n, int k, const double *T) {
  double *row = mbg__alloc(d->w->ctx, (size_t)n, sizeof(double));
  if (!row) {
    return mbg__fail_memory(d->w->ctx);
  }
  for (int j = 0; j < d->nv; j++) {
    for (int i = 0; i < n; i++) {
      row[i] = d->Z[j + (size_t)d->nv * (size_t)i];
    }
    for (int c = 0; c < k; c++) {
      double sum = 0;
      for (int i = 0; i < n; i++) {
        sum += row[i] * T[i + (size_t)n * (size_t)c];
      }
      d->Z[j + (size_t)d->nv * (size_t)c] = sum;
    }
  }
  mbg__free(d->w->ctx, row);
  return MBG_OK;
}

static double largest(size_t n, const double *A) {
  double most = 0;
  for (size_t i = 0; i < n; i++) {
    most = fmax(most, fabs(A[i]));
  }
  return most;
}

static int nothing_holds(const reduced *d) {
  return mbg__fail(
      d->w->ctx, MBG_ERROR_SINGULAR,
      "a freedom has neither inertia nor stiffness: it has no mode and cannot be left out; give its body a mass");
}

/* freedoms without inertia follow the others: columns of Z become those with inertia 1, corrected by -K_ss^-1 K_sr */
static int condense(reduced *d, const double *K) {
  const int n = d->n, s = n - d->nr;
  mbg__lu lu;
  int err = MBG_OK;
  double *T = MBG_TAKE(&d->arena, double, (size_t)n *(size_t)d->nr);
  real *R = MBG_TAKE(&d->arena, real, (size_t)s * (size_t)d->nr);
  double *KQ = MBG_TAKE(&d->arena, double, (size_t)n *(size_t)n);
  if (!T || !R || !KQ || mbg__lu_prepare(&lu, &d->arena, s) < 0) {
    return mbg__fail_memory(d->w->ctx);
  }
  for (int c = 0; c < n; c++) {
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int k = 0; k < n; k++) {
        sum += K[i + (size_t)n * (size_t)k] * d->Q[k + (size_t)n * (size_t)c];
      }
      KQ[i + (size_t)n * (size_t)c] = sum;
    }
  }
  /* the first s columns of Q have no inertia */
  for (int c = 0; c < n; c++) {
    for (int i = 0; i < s; i++) {
      double sum = 0;
      for (int k = 0; k < n; k++) {
        sum += d->Q[k + (size_t)n * (size_t)i] * KQ[k + (size_t)n * (size_t)c];
      }
      if (c < s) {
        lu.A[i + (size_t)s * (size_t)c] = sum;
      } else {
        R[i + (size_t)s * (size_t)(c - s)] = -sum;
      }
    }
  }
  if (s > 0 && (mbg__lu_factor(&lu, NULL) < 0 || mbg__lu_ratio(&lu, NULL) < 1e-14)) {
    return nothing_holds(d);
  }
  if (s > 0) {
    mbg__lu_solve(&lu, R, d->nr);
  }
  for (int c = 0; c < d->nr; c++) {
    const double scale = 1 / sqrt(d->mu[s + c]);
    for (int i = 0; i < n; i++) {
      double sum = d->Q[i + (size_t)n * (size_t)(s + c)];
      for (int k = 0; k < s; k++) {
        sum += d->Q[i + (size_t)n * (size_t)k] * re(R[k + (size_t)s * (size_t)c]);
      }
      T[i + (size_t)n * (size_t)c] = scale * sum;
    }
  }
  MBG_TRY(times(d, n, d->nr, T));
done:
  return err;
}

static int no_convergence(const mbg__modes_work *w, int err) {
  return err == MBG_ERROR_MEMORY ? mbg__fail_memory(w->ctx)
                                 : mbg__fail(w->ctx, err, "the eigenvalues of the linearized model were not found");
}

/* Z becomes the map from u to x; K and C in u */
static int reduce(reduced *d) {
  const mbg__modes_work *w = d->w;
  const int n = d->n;
  const size_t square = (size_t)n * (size_t)n;
  int err = MBG_OK;
  d->mu = MBG_TAKE(&d->arena, double, n);
  d->Q = MBG_TAKE(&d->arena, double, square);
  d->K = MBG_TAKE(&d->arena, double, square);
  d->C = MBG_TAKE(&d->arena, double, square);
  if (!d->mu || !d->Q || !d->K || !d->C) {
    return mbg__fail_memory(w->ctx);
  }
  MBG_TRY(null_space(d));
  MBG_TRY(project(d, n, w->M, d->Q));
  err = mbg__eigen_symmetric(w->ctx, n, d->Q, d->mu);
  if (err < 0) {
    return no_convergence(w, err);
  }
  d->nr = n;
  for (int i = 0; i < n && d->mu[i] <= massless_limit * d->mu[n - 1]; i++) {
    d->nr--;
  }
  MBG_TRY(project(d, n, w->K, d->K));
  MBG_TRY(condense(d, d->K));
  MBG_TRY(project(d, d->nr, w->K, d->K));
  MBG_TRY(project(d, d->nr, w->C, d->C));
done:
  return err;
}

/* ---------------------------------------------------------------------- symmetric */

static bool is_undamped(const reduced *d) {
  const size_t square = (size_t)d->nr * (size_t)d->nr;
  return d->w->opt.undamped || largest(square, d->C) <= 1e-14 * sqrt(largest(square, d->K));
}

/* K <- (K + K^T)/2 */
static void symmetrize(int n, double *K) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double *a = &K[i + (size_t)n * (size_t)j], *b = &K[j + (size_t)n * (size_t)i];
      *a = *b = (*a + *b) / 2;
    }
  }
}

/* A <- U^T A U with scratch T, all n x n */
static void rotate(int n, const double *U, double *A, double *T) {
  for (int pass = 0; pass < 2; pass++) {
    /* T = (A U)^T, then A = (T U)^T = U^T A U */
    double *from = pass ? T : A, *to = pass ? A : T;
    for (int i = 0; i < n; i++) {
      for (int c = 0; c < n; c++) {
        double sum = 0;
        for (int k = 0; k < n; k++) {
          sum += from[i + (size_t)n * (size_t)k] * U[k + (size_t)n * (size_t)c];
        }
        to[c + (size_t)n * (size_t)i] = sum;
      }
    }
  }
}

/* u becomes the coordinates of the modes of the symmetric part of K: Z, K, C in these */
static int decompose(reduced *d) {
  const mbg__modes_work *w = d->w;
  const int n = d->nr;
  const size_t square = (size_t)n * (size_t)n;
  int err = MBG_OK;
  double *U = MBG_TAKE(&d->arena, double, square), *T = MBG_TAKE(&d->arena, double, square);
  d->omega2 = MBG_TAKE(&d->arena, double, n);
  if (!U || !T || !d->omega2) {
    return mbg__fail_memory(w->ctx);
  }
  memcpy(U, d->K, square * sizeof(double));
  symmetrize(n, U);
  err = mbg__eigen_symmetric(w->ctx, n, U, d->omega2);
  if (err < 0) {
    return no_convergence(w, err);
  }
  MBG_TRY(times(d, n, n, U));
  rotate(n, U, d->K, T);
  rotate(n, U, d->C, T);
done:
  return err;
}

/* what K amounts to by rounding for a motion with x^T M x = 1: less is no stiffness */
static double stiffness_floor(const mbg__modes_work *w, const double *x) {
  const mbg__csc *P = mbg__system_pattern_K(w->sys);
  double most = 0, size = 0;
  for (int j = 0; j < w->m->nv; j++) {
    size += x[j] * x[j] * w->W[j];
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      most = fmax(most, fabs(re(w->K[i])) / sqrt(w->W[j] * w->W[P->rowind[i]]));
    }
  }
  return 2e-13 * most * size;
}

int mbg__modes_multipliers(mbg__modes_work *w, const double *f, double *xi) {
  real *x = mbg__alloc_zero(w->ctx, (size_t)w->saddle.n, sizeof(real));
  if (!x) {
    return mbg__fail_memory(w->ctx);
  }
  for (int j = 0; j < w->m->nv; j++) {
    x[j] = -f[j];
  }
  mbg__klu_solve(w->saddle.klu, x, 1);
  for (int i = 0; i < w->m->nrow; i++) {
    xi[i] = w->result->rank->keep[i] ? re(x[w->m->nv + i]) : 0;
  }
  mbg__free(w->ctx, x);
  return MBG_OK;
}

#define VECTOR(out, count)                                                                                             \
  do {                                                                                                                 \
    (out) = MBG_TAKE(&w->arena, double, count);                                                                        \
    if (!(out)) {                                                                                                      \
      return mbg__fail_memory(w->ctx);                                                                                 \
    }                                                                                                                  \
  } while (0)

/* a pair of the symmetric problem; multipliers need the metric's factors */
static int keep_symmetric(mbg__modes_work *w, mbg__mode *mode, double omega2, const double *X, bool zero) {
  const int nv = w->m->nv;
  int err = MBG_OK;
  double *f, *g;
  VECTOR(mode->x[0], nv);
  VECTOR(mode->xi[0], w->m->nrow);
  memcpy(mode->x[0], X, (size_t)nv * sizeof(double));
  mode->y[0] = mode->x[0];
  mode->eta[0] = mode->xi[0];
  mode->zero = zero;
  mode->s2 = mode->zero ? 0 : -omega2;
  mode->s[0] = mode->s2 > 0 ? sqrt(mode->s2) : 0;
  mode->s[1] = mode->s2 < 0 ? sqrt(-mode->s2) : 0;
  VECTOR(f, nv);
  VECTOR(g, nv);
  mbg__modes_mul(w, w->K, X, f);
  mbg__modes_mul(w, w->M, X, g);
  for (int j = 0; j < nv; j++) {
    f[j] += mode->s2 * g[j];
  }
  MBG_TRY(mbg__modes_multipliers(w, f, mode->xi[0]));
done:
  return err;
}

/* lowest eigenvalue that is no rounding (of the size `off`), for the shift */
static double lowest(const mbg__modes_work *w, int count, const double *omega2, const double *X, double off,
                     bool *zeros) {
  double least = 0;
  *zeros = false;
  for (int k = 0; k < count; k++) {
    const bool zero = fabs(omega2[k]) <= fmax(off, stiffness_floor(w, X + (size_t)w->m->nv * (size_t)k));
    *zeros = *zeros || zero;
    least = !zero && (least == 0 || fabs(omega2[k]) < least) ? fabs(omega2[k]) : least;
  }
  return least;
}

/* of squares: frequencies that are equal to 1e-9, as in modes.c */
static bool same(double a, double b) { return fabs(a - b) <= 2e-9 * fmax(fabs(a), fabs(b)); }

/* modes to be listed: those asked for, zeros besides, and the rest of a set that has the same eigenvalue as the last one */
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

/* a motion that nothing holds; y NULL: x */
static int keep_zero(mbg__modes_work *w, int room, const double *x, const double *y) {
  const size_t bytes = (size_t)w->m->nv * sizeof(double);
  if (!w->zero) {
    w->zero = MBG_TAKE(&w->arena, double *, room);
    w->zero_left = MBG_TAKE(&w->arena, double *, room);
    if (!w->zero || !w->zero_left) {
      return mbg__fail_memory(w->ctx);
    }
  }
  VECTOR(w->zero[w->nzero], w->m->nv);
  memcpy(w->zero[w->nzero], x, bytes);
  w->zero_left[w->nzero] = w->zero[w->nzero];
  if (y) {
    VECTOR(w->zero_left[w->nzero], w->m->nv);
    memcpy(w->zero_left[w->nzero], y, bytes);
  }
  w->nzero++;
  return MBG_OK;
}

static int finish_symmetric(mbg__modes_work *w, int found, double *omega2, double *X, double off) {
  const size_t nv = (size_t)w->m->nv;
  int err = MBG_OK;
  bool zeros, *zero = MBG_TAKE(&w->arena, bool, found);
  if (!zero) {
    return mbg__fail_memory(w->ctx);
  }
  w->count = found;
  const double least = lowest(w, found, omega2, X, off, &zeros);
  if (least > 0) {
    MBG_TRY(mbg__modes_polish(w, zeros ? -0.1 * least : 0, omega2, X));
  }
  for (int k = 0; k < found; k++) {
    zero[k] = fabs(omega2[k]) <= fmax(stiffness_floor(w, X + nv * (size_t)k), least > 0 ? 1e-10 * least : off);
  }
  w->count = listed(w, found, omega2, zero);
  w->modes = MBG_TAKE(&w->arena, mbg__mode, w->count);
  if (!w->modes) {
    return mbg__fail_memory(w->ctx);
  }
  MBG_TRY(mbg__modes_factor(w, 0, 0, 1, "modes"));
  for (int k = 0; k < w->count; k++) {
    const double *x = X + nv * (size_t)k;
    MBG_TRY(keep_symmetric(w, &w->modes[k], omega2[k], x, zero[k]));
    if (zero[k]) {
      MBG_TRY(keep_zero(w, w->count, x, NULL));
    }
  }
done:
  return err;
}

static double rounding(const reduced *d) { return 1e-13 * fmax(fabs(d->omega2[0]), fabs(d->omega2[d->nr - 1])); }

static int solve_symmetric(reduced *d) {
  int found = 0, others = 0;
  while (found < d->nr && others < d->w->opt.count + SPARE) {
    others += fabs(d->omega2[found++]) > rounding(d);
  }
  return finish_symmetric(d->w, found, d->omega2, d->Z, rounding(d));
}

/* ---------------------------------------------------------------------- general */

/* the matrix of the first-order form in A (2n x 2n) */
static void companion(int n, const double *K, const double *C, const double *sigma, double *A) {
  const size_t N = 2 * (size_t)n;
  memset(A, 0, N * N * sizeof(double));
  for (int j = 0; j < n; j++) {
    A[(size_t)j + N * (size_t)(n + j)] = sigma[j];
    for (int i = 0; i < n; i++) {
      A[(size_t)(n + i) + N * (size_t)j] = -K[i + (size_t)n * (size_t)j] / sigma[j];
      A[(size_t)(n + i) + N * (size_t)(n + j)] = -C[i + (size_t)n * (size_t)j];
    }
  }
}

/* x or y = Z u for one part of a vector of the first-order form */
static void expand(const reduced *d, const double *u, double *x) {
  memset(x, 0, (size_t)d->nv * sizeof(double));
  for (int k = 0; k < d->nr; k++) {
    for (int j = 0; j < d->nv; j++) {
      x[j] += d->Z[j + (size_t)d->nv * (size_t)k] * u[k];
    }
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
static void take_vectors(int n, const candidate *c, const double *sigma, const double *X, const double *Y, double *x,
                         double *y) {
  for (int k = 0; k < n; k++) {
    for (int part = 0; part < 2; part++) {
      const size_t column = 2 * (size_t)n * (size_t)(c->column + part);
      const bool none = part == 1 && c->im == 0;
      x[2 * k + part] = none ? 0 : X[(size_t)k + column] / sigma[k];
      y[2 * k + part] = none ? 0 : (part ? -1 : 1) * Y[(size_t)(n + k) + column];
    }
  }
}

static void every_second(int n, const double *x, double *out) {
  for (int k = 0; k < n; k++) {
    out[k] = x[2 * k];
  }
}

static int keep_general(reduced *d, const candidate *c, const double *sigma, const double *X, const double *Y,
                        double zero_limit, mbg__mode *mode) {
  mbg__modes_work *w = d->w;
  const int n = d->nr;
  int err = MBG_OK;
  double *f[2], *u = MBG_TAKE(&d->arena, double, 5 * (size_t)n);
  if (!u) {
    return mbg__fail_memory(w->ctx);
  }
  double *x = u + n, *y = x + 2 * (size_t)n;
  mode->s[0] = c->re;
  mode->s[1] = c->im;
  mode->zero = hypot(c->re, c->im) <= zero_limit;
  take_vectors(n, c, sigma, X, Y, x, y);
  if (!mode->zero && mbg__eigen_quadratic(w->ctx, n, d->K, d->C, mode->s, x, y) < 0) {
    return mbg__fail_memory(w->ctx);
  }
  for (int part = 0; part < 2; part++) {
    VECTOR(mode->x[part], d->nv);
    VECTOR(mode->y[part], d->nv);
    VECTOR(mode->xi[part], w->m->nrow);
    VECTOR(mode->eta[part], w->m->nrow);
    VECTOR(f[part], d->nv);
    every_second(n, x + part, u);
    expand(d, u, mode->x[part]);
    every_second(n, y + part, u);
    expand(d, u, mode->y[part]);
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

/* null vectors of K or K^T by singular values, into N (nv each, at most n); how many */
static int null_vectors(reduced *d, bool transposed, double *N, int *count) {
  mbg__modes_work *w = d->w;
  const int n = d->nr;
  const size_t square = (size_t)n * (size_t)n;
  double *A = mbg__alloc(w->ctx, 2 * square + (size_t)n, sizeof(double)), *V = A ? A + square : NULL;
  int err = A ? MBG_OK : MBG_ERROR_MEMORY;
  *count = 0;
  for (int i = 0; A && i < n; i++) {
    for (int j = 0; j < n; j++) {
      A[i + (size_t)n * (size_t)j] = transposed ? d->K[j + (size_t)n * (size_t)i] : d->K[i + (size_t)n * (size_t)j];
    }
  }
  double *s = A ? V + square : NULL;
  err = err < 0 ? err : mbg__svd(w->ctx, n, A, s, V);
  for (int k = n - 1; err >= 0 && k >= 0; k--) {
    double *x = N + (size_t)d->nv * (size_t)*count;
    expand(d, V + (size_t)n * (size_t)k, x);
    if (s[k] > fmax(rounding(d), stiffness_floor(w, x))) {
      break;
    }
    ++*count;
  }
  mbg__free(w->ctx, A);
  return err < 0 ? no_convergence(w, err) : MBG_OK;
}

/* of a symmetric K, whose vectors stand in Z, or a general one */
static int find_zeros(reduced *d) {
  mbg__modes_work *w = d->w;
  int err = MBG_OK, right = 0, left = 0;
  for (int k = 0; d->w->K_symmetric && k < d->nr; k++) {
    const double *x = d->Z + (size_t)d->nv * (size_t)k;
    if (fabs(d->omega2[k]) <= fmax(rounding(d), stiffness_floor(w, x))) {
      MBG_TRY(keep_zero(w, d->nr, x, NULL));
    }
  }
  if (!d->w->K_symmetric) {
    const size_t room = (size_t)d->nv * (size_t)(d->nr + 1);
    double *X = MBG_TAKE(&d->arena, double, room), *Y = MBG_TAKE(&d->arena, double, room);
    if (!X || !Y) {
      return mbg__fail_memory(w->ctx);
    }
    MBG_TRY(null_vectors(d, false, X, &right));
    MBG_TRY(null_vectors(d, true, Y, &left));
    for (int k = 0; k < right && k < left; k++) {
      MBG_TRY(keep_zero(w, d->nr, X + (size_t)d->nv * (size_t)k, Y + (size_t)d->nv * (size_t)k));
    }
  }
done:
  return err;
}

/* the low modes of a symmetric K, whose digits the reduction has cost */
static int polish_low(reduced *d) {
  mbg__modes_work *w = d->w;
  bool zeros;
  w->count = 2 * w->opt.count + SPARE < d->nr ? 2 * w->opt.count + SPARE : d->nr;
  const double least = lowest(w, w->count, d->omega2, d->Z, rounding(d), &zeros);
  return least > 0 ? mbg__modes_polish(w, zeros ? -0.1 * least : 0, d->omega2, d->Z) : MBG_OK;
}

/* a motion that nothing holds, once, however often s = 0 is an eigenvalue with it */
static int keep_free(mbg__modes_work *w, int q, mbg__mode *mode) {
  int err = MBG_OK;
  double *f;
  *mode = (mbg__mode){.zero = true, .x = {w->zero[q]}, .y = {w->zero_left[q]}};
  VECTOR(mode->x[1], w->m->nv);
  VECTOR(mode->y[1], w->m->nv);
  VECTOR(f, w->m->nv);
  for (int part = 0; part < 2; part++) {
    VECTOR(mode->xi[part], w->m->nrow);
    VECTOR(mode->eta[part], w->m->nrow);
  }
  mbg__modes_mul(w, w->K, mode->x[0], f);
  MBG_TRY(mbg__modes_multipliers(w, f, mode->xi[0]));
  mbg__modes_mul_T(w, w->K, mode->y[0], f);
  MBG_TRY(mbg__modes_multipliers(w, f, mode->eta[0]));
done:
  return err;
}

/* eigenvalues with im >= 0 by size, without those that are 0 by a motion that nothing holds; a double zero comes out as the root of
   rounding */
static int candidates(const mbg__modes_work *w, int N, const double *wr, const double *wi, candidate *c,
                      double *zero_limit) {
  double norm = 0;
  int found = 0;
  for (int k = 0; k < N; k++) {
    norm = fmax(norm, hypot(wr[k], wi[k]));
  }
  *zero_limit = w->nzero > 0 ? 1e2 * sqrt(2.2e-16 * norm * fmax(1, norm)) : 1e-14 * norm;
  for (int k = 0; k < N; k++) {
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

static int list_general(reduced *d, const double *sigma, const double *wr, const double *wi, const double *X,
                        const double *Y) {
  mbg__modes_work *w = d->w;
  int err = MBG_OK;
  double limit;
  candidate *c = MBG_TAKE(&d->arena, candidate, 2 * d->nr);
  if (!c) {
    return mbg__fail_memory(w->ctx);
  }
  const int found = candidates(w, 2 * d->nr, wr, wi, c, &limit);
  int count = w->opt.count < found ? w->opt.count : found;
  while (count > 0 && count < found && equal(&c[count], &c[count - 1])) {
    count++;
  }
  w->count = w->nzero + count;
  w->modes = MBG_TAKE(&w->arena, mbg__mode, w->count);
  if (!w->modes) {
    return mbg__fail_memory(w->ctx);
  }
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

static int solve_general(reduced *d) {
  mbg__modes_work *w = d->w;
  const int n = d->nr;
  const size_t square = (size_t)n * (size_t)n;
  int err = MBG_OK;
  if (d->nr < d->n) {
    return mbg__fail(
        w->ctx, MBG_ERROR_SINGULAR,
        "%d freedom%s without inertia: modes with damping need all of them; leave damping out, or give the body a "
        "mass",
        d->n - d->nr, d->n - d->nr == 1 ? " is" : "s are");
  }
  double *sigma = MBG_TAKE(&d->arena, double, n), *A = MBG_TAKE(&d->arena, double, 4 * square);
  double *X = MBG_TAKE(&d->arena, double, 4 * square), *Y = MBG_TAKE(&d->arena, double, 4 * square);
  double *wr = MBG_TAKE(&d->arena, double, 2 * n), *wi = MBG_TAKE(&d->arena, double, 2 * n);
  if (!sigma || !A || !X || !Y || !wr || !wi) {
    return mbg__fail_memory(w->ctx);
  }
  MBG_TRY(find_zeros(d));
  if (d->w->K_symmetric) {
    MBG_TRY(polish_low(d));
    memset(d->K, 0, square * sizeof(double));
    for (int k = 0; k < n; k++) {
      d->K[k + (size_t)n * (size_t)k] = d->omega2[k];
    }
    MBG_TRY(project(d, n, w->C, d->C));
  }
  if (w->opt.undamped) {
    memset(d->C, 0, square * sizeof(double));
  }
  for (int k = 0; k < n; k++) {
    sigma[k] = sqrt(fmax(fabs(d->omega2[k]), 10 * rounding(d)));
    sigma[k] = sigma[k] > 0 ? sigma[k] : 1;
  }
  companion(n, d->K, d->C, sigma, A);
  err = mbg__eigen_general(w->ctx, 2 * n, A, wr, wi, Y, X);
  if (err < 0) {
    return no_convergence(w, err);
  }
  MBG_TRY(list_general(d, sigma, wr, wi, X, Y));
done:
  return err;
}

/* ---------------------------------------------------------------------- many freedoms */

static int solve_many(mbg__modes_work *w) {
  const int found = w->opt.count + SPARE;
  double off;
  int err = MBG_OK;
  w->symmetric = w->K_symmetric;
  for (int i = 0; !w->opt.undamped && i < mbg__csc_count(mbg__system_pattern_K(w->sys)); i++) {
    w->symmetric = w->symmetric && w->C[i] == 0;
  }
  if (!w->symmetric) {
    err = mbg__fail(
        w->ctx, MBG_ERROR_UNSUPPORTED,
        "%d freedoms with damping or a motion are too many (at most %d); leave damping out, or take fewer elements",
        w->n, GENERAL_MAX);
    goto done;
  }
  double *omega2 = MBG_TAKE(&w->arena, double, found),
         *X = MBG_TAKE(&w->arena, double, (size_t)found *(size_t)w->m->nv);
  if (!omega2 || !X) {
    return mbg__fail_memory(w->ctx);
  }
  w->count = found;
  w->solver = "shift-invert";
  MBG_TRY(mbg__modes_krylov(w, omega2, X, &off));
  MBG_TRY(finish_symmetric(w, found, omega2, X, off));
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

int mbg__modes_eigen(mbg__modes_work *w) {
  reduced d = {.w = w, .nv = w->m->nv, .n = w->n};
  int err = MBG_OK;
  w->solver = "dense";
  w->symmetric = true;
  if (w->n == 0) {
    return MBG_OK;
  }
  if (w->n > DENSE_MAX || (double)w->m->nv * w->n > 4e6) {
    return solve_many(w);
  }
  mbg__arena_init(&d.arena, mbg__context_allocator(w->ctx));
  MBG_TRY(reduce(&d));
  w->massless = d.n - d.nr;
  if (d.nr == 0) {
    goto done;
  }
  MBG_TRY(decompose(&d));
  w->symmetric = w->K_symmetric && is_undamped(&d);
  if (!w->symmetric && d.nr > GENERAL_MAX) {
    err = mbg__fail(
        w->ctx, MBG_ERROR_UNSUPPORTED,
        "%d freedoms with damping or a motion are too many (at most %d); leave damping out, or take fewer elements",
        w->n, GENERAL_MAX);
    goto done;
  }
  MBG_TRY(w->symmetric ? solve_symmetric(&d) : solve_general(&d));
done:
  mbg__arena_destroy(&d.arena);
  return err;
}
