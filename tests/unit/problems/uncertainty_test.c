/* Moments of quadratic functions of random numbers against quadrature, factors that limits allow, samples. */
#include "mbgrad/uncertainty.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum { N = 3, NODES = 4 };

static mbg_context *ctx;

static int setup(void **state) {
  (void)state;
  return mbg_context_create(NULL, &ctx);
}

static int teardown(void **state) {
  (void)state;
  mbg_context_destroy(ctx);
  return 0;
}

static const double g[N] = {0.7, -1.3, 0.4}, H[N * N] = {0.9, -0.5, 0.3, -0.5, 1.7, 0.8, 0.3, 0.8, -0.6};
static const double deviation[N] = {0.5, 1.2, 0.8};

/* Nodes and weights of Gauss, exact to degree 7, for numbers of variance 1: the third moment has degree 6. */
static void gauss(mbg_distribution kind, double *x, double *w) {
  if (kind == MBG_UNIFORM) {
    const double a = sqrt(3.0 / 7 - 2.0 / 7 * sqrt(6.0 / 5)), b = sqrt(3.0 / 7 + 2.0 / 7 * sqrt(6.0 / 5));
    const double wa = (18 + sqrt(30.0)) / 72, wb = (18 - sqrt(30.0)) / 72;
    const double nodes[NODES] = {-b, -a, a, b}, weights[NODES] = {wb, wa, wa, wb};
    for (int i = 0; i < NODES; i++) {
      x[i] = nodes[i] * sqrt(3.0);
      w[i] = weights[i];
    }
  } else {
    const double a = sqrt(3 - sqrt(6.0)), b = sqrt(3 + sqrt(6.0));
    const double nodes[NODES] = {-b, -a, a, b};
    for (int i = 0; i < NODES; i++) {
      const double h3 = nodes[i] * (nodes[i] * nodes[i] - 3);
      x[i] = nodes[i];
      w[i] = 24 / (16 * h3 * h3); /* n! / (n He_{n-1}(x))^2 */
    }
  }
}

static double polynomial(const double *x) {
  double sum = 2.5;
  for (int i = 0; i < N; i++) {
    sum += g[i] * x[i];
    for (int j = 0; j < N; j++) {
      sum += H[N * i + j] * x[i] * x[j] / 2;
    }
  }
  return sum;
}

/* mean, variance, third central moment by quadrature; x = L z */
static void quadrature(const mbg_distribution *kind, const double *L, double *out) {
  double x[N][NODES], w[N][NODES];
  for (int i = 0; i < N; i++) {
    gauss(kind[i], x[i], w[i]);
  }
  out[0] = out[1] = out[2] = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < NODES * NODES * NODES; k++) {
      const int at[N] = {k % NODES, k / NODES % NODES, k / NODES / NODES};
      double p[N], weight = 1;
      for (int i = 0; i < N; i++) {
        weight *= w[i][at[i]];
        p[i] = 0;
        for (int j = 0; j < N; j++) {
          p[i] += L[N * i + j] * x[j][at[j]];
        }
      }
      const double y = polynomial(p), d = y - out[0];
      out[0] += pass == 0 ? weight * y : 0;
      out[1] += pass == 1 ? weight * d * d : 0;
      out[2] += pass == 1 ? weight * d * d * d : 0;
    }
  }
}

static void compare(const mbg_scatter *s, const mbg_distribution *kind, const double *L) {
  double expected[3], share[N], sum = 0;
  mbg_moments m;
  quadrature(kind, L, expected);
  assert_int_equal(mbg_scatter_moments(ctx, s, 2.5, g, H, &m, share), MBG_OK);
  assert_close(m.mean, expected[0], 1e-13);
  assert_close(m.deviation, sqrt(expected[1]), 1e-13);
  assert_close(m.skewness, expected[2] / pow(expected[1], 1.5), 1e-13);
  for (int i = 0; i < N; i++) {
    sum += share[i];
  }
  assert_close(sum, m.linear + m.quadratic, 1e-13);
}

static void test_independent(void **state) {
  (void)state;
  const mbg_distribution kinds[3][N] = {{MBG_NORMAL, MBG_NORMAL, MBG_NORMAL},
                                        {MBG_UNIFORM, MBG_UNIFORM, MBG_UNIFORM},
                                        {MBG_NORMAL, MBG_UNIFORM, MBG_NORMAL}};
  const double L[N * N] = {deviation[0], 0, 0, 0, deviation[1], 0, 0, 0, deviation[2]};
  for (int k = 0; k < 3; k++) {
    const mbg_scatter s = {.n = N, .kind = kinds[k], .deviation = deviation};
    compare(&s, kinds[k], L);
  }
}

static void test_correlated(void **state) {
  (void)state;
  const mbg_distribution kind[N] = {MBG_NORMAL, MBG_NORMAL, MBG_UNIFORM};
  const double c = 0.6, s = 0.8;
  const double correlation[N * N] = {1, c, 0, c, 1, 0, 0, 0, 1};
  const double L[N * N] = {deviation[0], 0, 0, deviation[1] * c, deviation[1] * s, 0, 0, 0, deviation[2]};
  const mbg_scatter scatter = {.n = N, .kind = kind, .deviation = deviation, .correlation = correlation};
  compare(&scatter, kind, L);
}

/* two numbers that are one: a singular matrix of correlations is one, too */
static void test_same_number(void **state) {
  (void)state;
  const double ones[4] = {1, 1, 1, 1}, d[2] = {0.5, 0.25}, slope[2] = {1, 2}, bend[4] = {0};
  const mbg_scatter s = {.n = 2, .deviation = d, .correlation = ones};
  mbg_moments m;
  assert_int_equal(mbg_scatter_moments(ctx, &s, 0, slope, bend, &m, NULL), MBG_OK);
  assert_close(m.deviation, 1, 1e-15);
}

static void test_factor(void **state) {
  (void)state;
  const mbg_scatter s = {.n = N, .deviation = deviation};
  mbg_moments m, scaled;
  double less[N];
  assert_int_equal(mbg_scatter_moments(ctx, &s, 2.5, g, H, &m, NULL), MBG_OK);
  for (int side = 0; side < 2; side++) {
    const double low = side ? 1 : -INFINITY, high = side ? INFINITY : 4;
    const double f = mbg_moments_factor(&m, low, high, 3);
    for (int i = 0; i < N; i++) {
      less[i] = f * deviation[i];
    }
    const mbg_scatter small = {.n = N, .deviation = less};
    assert_int_equal(mbg_scatter_moments(ctx, &small, 2.5, g, H, &scaled, NULL), MBG_OK);
    assert_close(scaled.mean + (side ? -3 : 3) * scaled.deviation, side ? low : high, 1e-12);
  }
  assert_true(mbg_moments_factor(&m, 3, 4, 3) == 0);
  assert_true(isinf(mbg_moments_factor(&m, -INFINITY, INFINITY, 3)));
  const mbg_moments still = {.value = 1, .mean = 1};
  assert_true(isinf(mbg_moments_factor(&still, 0, 2, 3)));
  assert_true(isnan(mbg_moments_factor(&m, NAN, 2, 3)));
}

/* 40,000 samples: errors of means are 1/200 of a deviation; three times that, and as much again for variances */
static void test_samples(void **state) {
  (void)state;
  enum { SAMPLES = 40000 };
  const mbg_distribution kind[N] = {MBG_NORMAL, MBG_NORMAL, MBG_UNIFORM};
  const double correlation[N * N] = {1, -0.7, 0, -0.7, 1, 0, 0, 0, 1};
  const mbg_scatter s = {.n = N, .kind = kind, .deviation = deviation, .correlation = correlation};
  double sum[N] = {0}, product[N * N] = {0}, x[N], again[N], most = 0;
  for (unsigned long k = 0; k < SAMPLES; k++) {
    assert_int_equal(mbg_scatter_sample(ctx, &s, 7, k, x), MBG_OK);
    most = fmax(most, fabs(x[2]));
    for (int i = 0; i < N; i++) {
      sum[i] += x[i] / deviation[i];
      for (int j = 0; j < N; j++) {
        product[N * i + j] += x[i] * x[j] / (deviation[i] * deviation[j]);
      }
    }
  }
  for (int i = 0; i < N; i++) {
    assert_true(fabs(sum[i] / SAMPLES) < 0.015);
    for (int j = 0; j < N; j++) {
      assert_true(fabs(product[N * i + j] / SAMPLES - correlation[N * i + j]) < 0.03);
    }
  }
  assert_true(most <= sqrt(3.0) * deviation[2]);
  assert_int_equal(mbg_scatter_sample(ctx, &s, 7, SAMPLES - 1, again), MBG_OK);
  assert_memory_equal(x, again, sizeof(x));
  assert_int_equal(mbg_scatter_sample(ctx, &s, 8, SAMPLES - 1, again), MBG_OK);
  assert_true(memcmp(x, again, sizeof(x)) != 0);
}

static void refused(const mbg_scatter *s, const char *words) {
  mbg_moments m;
  assert_int_equal(mbg_scatter_moments(ctx, s, 0, g, H, &m, NULL), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(ctx), words));
  mbg_context_clear(ctx);
}

static void test_refused(void **state) {
  (void)state;
  const double negative[N] = {1, -1, 1}, none[N] = {1, NAN, 1};
  const double wrong[N * N] = {1, 0.5, 0, 0.4, 1, 0, 0, 0, 1},
                         impossible[N * N] = {1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1};
  const mbg_distribution uniform[N] = {MBG_UNIFORM, MBG_NORMAL, MBG_NORMAL};
  const double pair[N * N] = {1, 0.5, 0, 0.5, 1, 0, 0, 0, 1};
  refused(&(mbg_scatter){.n = N, .deviation = negative}, "deviation 1 is -1");
  refused(&(mbg_scatter){.n = N, .deviation = none}, "deviation 1 is nan");
  refused(&(mbg_scatter){.n = N, .deviation = deviation, .correlation = wrong}, "correlation (0, 1) is 0.5");
  refused(&(mbg_scatter){.n = N, .deviation = deviation, .correlation = impossible}, "not positive semidefinite");
  refused(&(mbg_scatter){.n = N, .kind = uniform, .deviation = deviation, .correlation = pair}, "number 0 is uniform");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_independent), cmocka_unit_test(test_correlated), cmocka_unit_test(test_same_number),
      cmocka_unit_test(test_factor),      cmocka_unit_test(test_samples),    cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
