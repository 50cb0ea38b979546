/* Moments of a quadratic function of random numbers (theory 9, section 7), and samples of such numbers.

   With x = L z, L the deviations times the Cholesky factor of the correlations, the numbers z are independent,
   symmetric and of variance 1, and psi + g.x + x.H x/2 becomes psi + G.z + z.A z/2, G = L^T g, A = L^T H L. Their
   fourth and sixth moments m4, m6 are 3, 15 (normal) and 9/5, 27/7 (uniform). */
#include "mbgrad/uncertainty.h"

#include "base/base.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  int n;
  double *L; /* row-major, lower triangle (n x n) */
  double *G; /*                           (n) */
  double *A; /*                           (n x n) */
} standard;

/* ---------------------------------------------------------------------- conditions */

static bool is_uniform(const mbg_scatter *s, int i) { return s->kind && s->kind[i] == MBG_UNIFORM; }

static int check_deviations(mbg_context *ctx, const mbg_scatter *s) {
  for (int i = 0; i < s->n; i++) {
    if (!(s->deviation[i] >= 0) || !isfinite(s->deviation[i])) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "deviation %d is %g: expected a number from 0", i, s->deviation[i]);
    }
  }
  return MBG_OK;
}

static int check_correlations(mbg_context *ctx, const mbg_scatter *s) {
  const double *C = s->correlation;
  for (int i = 0; C && i < s->n; i++) {
    for (int j = 0; j < s->n; j++) {
      const double c = C[(size_t)i * (size_t)s->n + (size_t)j];
      if (!(fabs(c) <= 1) || (i == j && c != 1) || c != C[(size_t)j * (size_t)s->n + (size_t)i]) {
        return mbg__fail(ctx, MBG_ERROR_INPUT,
                         "correlation (%d, %d) is %g: expected a symmetric matrix of numbers from -1 to 1 with ones on "
                         "its diagonal",
                         i, j, c);
      }
      if (i != j && c != 0 && is_uniform(s, i)) {
        return mbg__fail(ctx, MBG_ERROR_INPUT, "number %d is uniform: only normal numbers may be correlated", i);
      }
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- independent numbers */

/* x = L z: the Cholesky factor of the correlations, its rows times the deviations */
static int factor(mbg_context *ctx, const mbg_scatter *s, double *L) {
  const size_t n = (size_t)s->n;
  memset(L, 0, n * n * sizeof(double));
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = s->correlation ? s->correlation[i * n + j] : (double)(i == j);
      for (size_t k = 0; k < j; k++) {
        sum -= L[i * n + k] * L[j * n + k];
      }
      if (i == j ? sum < -1e-12 : L[j * n + j] <= 1e-9 && fabs(sum) > 1e-6) {
        return mbg__fail(ctx, MBG_ERROR_INPUT,
                         "no numbers have these correlations: the matrix is not positive "
                         "semidefinite (row %d)",
                         (int)i);
      }
      L[i * n + j] = i == j ? sqrt(fmax(sum, 0)) : L[j * n + j] > 1e-9 ? sum / L[j * n + j] : 0;
    }
  }
  for (size_t i = 0; i < n * n; i++) {
    L[i] *= s->deviation[i / n];
  }
  return MBG_OK;
}

/* G = L^T g, A = L^T H L */
static void transform(standard *t, const double *g, const double *H, double *work) {
  const size_t n = (size_t)t->n;
  for (size_t j = 0; j < n; j++) {
    t->G[j] = 0;
    for (size_t i = j; i < n; i++) {
      t->G[j] += t->L[i * n + j] * g[i];
    }
  }
  for (size_t i = 0; H && i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      double sum = 0;
      for (size_t k = j; k < n; k++) {
        sum += H[i * n + k] * t->L[k * n + j];
      }
      work[i * n + j] = sum;
    }
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      double sum = 0;
      for (size_t k = i; H && k < n; k++) {
        sum += t->L[k * n + i] * work[k * n + j];
      }
      t->A[i * n + j] = sum;
    }
  }
}

/* ---------------------------------------------------------------------- moments */

/* third central moment: with a_i = A_ii/2, b_ij = A_ij,
   3 sum_i G_i^2 a_i (m4 - 1) + 6 sum_{i<j} G_i G_j b_ij                                     from G.z twice
   + sum_i a_i^3 (m6 - 3 m4 + 2) + 3 sum_{i<j} b_ij^2 (a_i (m4_i - 1) + a_j (m4_j - 1))
   + 6 sum_{i<j<k} b_ij b_jk b_ik */
static double third(const standard *t, const double *m4, const double *m6) {
  const size_t n = (size_t)t->n;
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    const double a = t->A[i * n + i] / 2;
    sum += 3 * t->G[i] * t->G[i] * a * (m4[i] - 1) + a * a * a * (m6[i] - 3 * m4[i] + 2);
    for (size_t j = 0; j < i; j++) {
      const double b = t->A[i * n + j], c = t->A[j * n + j] / 2;
      sum += 6 * t->G[i] * t->G[j] * b + 3 * b * b * (a * (m4[i] - 1) + c * (m4[j] - 1));
      for (size_t k = 0; k < j; k++) {
        sum += 6 * b * t->A[j * n + k] * t->A[i * n + k];
      }
    }
  }
  return sum;
}

static void moments(const standard *t, const double *m4, const double *m6, double psi, mbg_moments *out) {
  const size_t n = (size_t)t->n;
  *out = (mbg_moments){.value = psi};
  for (size_t i = 0; i < n; i++) {
    const double a = t->A[i * n + i] / 2;
    out->shift += a;
    out->linear += t->G[i] * t->G[i];
    out->quadratic += a * a * (m4[i] - 1);
    for (size_t j = 0; j < i; j++) {
      out->quadratic += t->A[i * n + j] * t->A[i * n + j];
    }
  }
  out->mean = psi + out->shift;
  out->deviation = sqrt(out->linear + out->quadratic);
  out->skewness = out->deviation > 0 ? third(t, m4, m6) / pow(out->deviation, 3) : 0;
}

/* Parts of the variance. Independent numbers: what G_i, A_ii and half of each A_ij give. Correlated ones:
   g_i (C g)_i + (H C H C)_ii / 2, the terms of number i in g.C g + tr((H C)^2)/2. */
static void shares(const mbg_scatter *s, const standard *t, const double *m4, const double *g, const double *H,
                   double *work, double *share) {
  const size_t n = (size_t)t->n;
  for (size_t i = 0; !s->correlation && i < n; i++) {
    const double a = t->A[i * n + i] / 2;
    share[i] = t->G[i] * t->G[i] + a * a * (m4[i] - 1);
    for (size_t j = 0; j < n; j++) {
      share[i] += j != i ? t->A[i * n + j] * t->A[i * n + j] / 2 : 0;
    }
  }
  if (!s->correlation) {
    return;
  }
  double *HC = work; /* H C = H L L^T */
  for (size_t i = 0; i < n; i++) {
    double Cg = 0;
    for (size_t j = 0; j < n; j++) {
      const double c = s->correlation[i * n + j] * s->deviation[i] * s->deviation[j];
      Cg += c * g[j];
      HC[j * n + i] = 0;
      for (size_t k = 0; H && k < n; k++) {
        HC[j * n + i] += H[j * n + k] * s->correlation[k * n + i] * s->deviation[k] * s->deviation[i];
      }
    }
    share[i] = g[i] * Cg;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      share[i] += HC[i * n + j] * HC[j * n + i] / 2;
    }
    const double a = t->A[i * n + i] / 2;
    share[i] += is_uniform(s, (int)i) ? a * a * (m4[i] - 3) : 0;
  }
}

/* products of derivatives and deviations may be beyond all numbers */
static int check_moments(mbg_context *ctx, const mbg_scatter *s, const mbg_moments *m, const double *share) {
  double sum = m->value + m->shift + m->linear + m->quadratic + m->skewness + m->mean + m->deviation, largest = 0;
  for (int i = 0; i < s->n; i++) {
    sum += share ? share[i] : 0;
    largest = fmax(largest, s->deviation[i]);
  }
  return isfinite(sum) ? MBG_OK
                       : mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                                   "the scatter of a result is not a finite number: a deviation of %g is too large for "
                                   "derivatives at the nominal values",
                                   largest);
}

int mbg_scatter_moments(mbg_context *ctx, const mbg_scatter *s, double psi, const double *gradient,
                        const double *hessian, mbg_moments *out, double *share) {
  int err = MBG_OK;
  mbg__arena arena;
  if (!ctx) {
    return MBG_ERROR_INPUT;
  }
  if (!s || s->n < 0 || (s->n > 0 && !s->deviation) || !gradient || !out) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "mbg_scatter_moments: an argument is missing");
  }
  const size_t n = (size_t)s->n;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  standard t = {.n = s->n};
  t.L = MBG_TAKE(&arena, double, n *n + 1);
  t.A = MBG_TAKE(&arena, double, n *n + 1);
  t.G = MBG_TAKE(&arena, double, n + 1);
  double *work = MBG_TAKE(&arena, double, n *n + 1), *m4 = MBG_TAKE(&arena, double, n + 1);
  double *m6 = MBG_TAKE(&arena, double, n + 1);
  if (!t.L || !t.A || !t.G || !work || !m4 || !m6) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(check_deviations(ctx, s));
  MBG_TRY(check_correlations(ctx, s));
  MBG_TRY(factor(ctx, s, t.L));
  transform(&t, gradient, hessian, work);
  for (int i = 0; i < s->n; i++) {
    m4[i] = is_uniform(s, i) ? 9.0 / 5 : 3;
    m6[i] = is_uniform(s, i) ? 27.0 / 7 : 15;
  }
  moments(&t, m4, m6, psi, out);
  if (share) {
    shares(s, &t, m4, gradient, hessian, work, share);
  }
  MBG_TRY(check_moments(ctx, s, out, share));
done:
  mbg__arena_destroy(&arena);
  return err;
}

/* With F the square of the factor and a the room to the limit: a - F shift >= k sqrt(F linear + F^2 quadratic). At
   F = 0 it holds; the smallest positive root of (shift^2 - k^2 quadratic) F^2 - (2 a shift + k^2 linear) F + a^2
   ends it. */
static double first_factor(double a, double shift, const mbg_moments *m, double k) {
  const double A = shift * shift - k * k * m->quadratic, B = -(2 * a * shift + k * k * m->linear), C = a * a;
  const double D = B * B - 4 * A * C;
  if (a < 0) {
    return 0;
  }
  if (!isfinite(a) || D < 0) {
    return INFINITY;
  }
  const double q = -(B + copysign(sqrt(D), B)) / 2;
  const double roots[2] = {A != 0 ? q / A : INFINITY, q != 0 ? C / q : INFINITY};
  double first = INFINITY;
  for (int i = 0; i < 2; i++) {
    first = roots[i] >= 0 && roots[i] < first ? roots[i] : first;
  }
  return sqrt(first);
}

double mbg_moments_factor(const mbg_moments *m, double low, double high, double k) {
  if (!m || isnan(low) || isnan(high) || !(k >= 0)) {
    return NAN;
  }
  return fmin(first_factor(high - m->value, m->shift, m, k), first_factor(m->value - low, -m->shift, m, k));
}

/* ---------------------------------------------------------------------- samples */

/* number `index` of a sequence, above 0 and below 1 (splitmix64) */
static double uniform(uint64_t seed, uint64_t index) {
  uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return ((double)((z ^ (z >> 31)) >> 12) + 0.5) * 0x1p-52;
}

/* of mean 0 and variance 1; normal ones by Box and Muller */
static double draw(bool is_uniform_number, uint64_t seed, uint64_t index) {
  const double u = uniform(seed, 2 * index), v = uniform(seed, 2 * index + 1);
  return is_uniform_number ? sqrt(3.0) * (2 * u - 1) : sqrt(-2 * log(u)) * cos(6.283185307179586477 * v);
}

int mbg_scatter_sample(mbg_context *ctx, const mbg_scatter *s, unsigned long seed, unsigned long index, double *x) {
  int err = MBG_OK;
  mbg__arena arena;
  if (!ctx) {
    return MBG_ERROR_INPUT;
  }
  if (!s || s->n < 0 || (s->n > 0 && (!s->deviation || !x))) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "mbg_scatter_sample: an argument is missing");
  }
  const size_t n = (size_t)s->n;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  double *L = MBG_TAKE(&arena, double, n *n + 1), *z = MBG_TAKE(&arena, double, n + 1);
  if (!L || !z) {
    err = mbg__fail_memory(ctx);
    goto done;
  }
  MBG_TRY(check_deviations(ctx, s));
  MBG_TRY(check_correlations(ctx, s));
  MBG_TRY(factor(ctx, s, L));
  for (size_t i = 0; i < n; i++) {
    z[i] = draw(is_uniform(s, (int)i), seed, (uint64_t)index * n + i);
    x[i] = 0;
    for (size_t k = 0; k <= i; k++) {
      x[i] += L[i * n + k] * z[k];
    }
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
