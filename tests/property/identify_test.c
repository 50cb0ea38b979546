/* Identification of the engine on three mounts: planted values come back, the bias of the step is the one that is
   reported, standard errors are those of a Monte-Carlo; the length of the pendulum from noisy accelerations. */
#include "support/fit_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12 };

static const double truth[N] = {70e3, 60e3, 130e3, 80e3, 50e3, 110e3, 60e3, 90e3, 150e3, 300, 450, 250};

static int setup(void **state) {
  fit_case *c = calloc(1, sizeof(*c));
  *state = c;
  fit_open(c);
  fit_gallery(c, "engine-mount");
  return 0;
}

static int teardown(void **state) {
  fit_close(*state);
  free(*state);
  return 0;
}

/* both experiments at the true parameters */
static void measure(fit_case *c, const mbg_run_options *options, double end, double interval, double sigma,
                    support_rng *rng) {
  static const char *const runs[] = {"starter", "hammer"}, *const files[] = {"starter.csv", "hammer.csv"};
  for (int k = 0; k < 2; k++) {
    const fit_measurement m = {.run = runs[k],
                               .file = files[k],
                               .columns = "head_x head_y head_z gear_x gear_y gear_z",
                               .p = truth,
                               .options = options,
                               .end = end,
                               .interval = interval,
                               .sigma = sigma,
                               .rng = rng};
    fit_measure(c, &m);
  }
}

/* the whole of the gallery's run takes seconds: a part of it will do where time is short */
static double end_of_run(void) { return support_sanitized() ? 0.1 : support_rounds(1, 2) * 0.25; }

static mbg_run_options run_options(double end, double step) {
  mbg_run_options run;
  mbg_run_options_default(&run, sizeof(run));
  run.end = end;
  run.step = step;
  return run;
}

static void test_same_stepper(void **state) {
  fit_case *c = *state;
  mbg_identify_options o = fit_options();
  const mbg_run_options run = run_options(end_of_run(), NAN);
  o.run = &run;
  measure(c, &run, run.end, 0.002, 0, NULL);
  const mbg_identify_summary *s = fit_solve(c, &o);
  assert_true(s->converged);
  for (int i = 0; i < N; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(c->id, i);
    assert_close(fabs(p->start / truth[i] - 1), 0.5, 1e-12);
    /* zero residual: only the tolerance of the steps is left */
    assert_close(p->value / truth[i], 1, 1e-8);
  }
}

/* the Jacobian, transposed, gives the gradient of the adjoint: static equilibrium, bushings, accelerometers, both
   runs */
static void test_direct_and_adjoint(void **state) {
  fit_case *c = *state;
  mbg_identify_options o = fit_options();
  const mbg_run_options run = run_options(0.1, 0.002);
  o.run = &run;
  measure(c, &run, run.end, 0.002, 0, NULL);
  assert_int_equal(fit_load(c, NULL), MBG_OK);
  assert_int_equal(mbg_identify_create(c->ctx, c->model, &o, &c->id), MBG_OK);
  const int m = mbg_identify_get_summary(c->id)->samples;
  double p[N], adjoint[N], cost, *r = calloc((size_t)m, sizeof(double)), *J = calloc((size_t)m * N, sizeof(double));
  for (int i = 0; i < N; i++) {
    p[i] = truth[i] * (1 + 0.03 * (i % 5) - 0.05);
  }
  assert_int_equal(mbg_identify_residuals(c->ctx, c->id, p, r, J), MBG_OK);
  assert_int_equal(mbg_identify_gradient(c->ctx, c->id, p, &cost, adjoint), MBG_OK);
  for (int i = 0; i < N; i++) {
    double g = 0, size = 0;
    for (int k = 0; k < m; k++) {
      g += J[k + m * i] * r[k];
      size += fabs(J[k + m * i] * r[k]);
    }
    /* rounding of index-3 accelerations, eps/(beta h^2), relative to the terms of the sum */
    assert_close(g / size, adjoint[i] / size, 1e-10);
    assert_true(fabs(p[i] * g) > 1e-6);
  }
  free(r);
  free(J);
}

/* data of another formulation, exact in time: off by the bias that is reported, and by less than 1e-3 */
static void test_bias(void **state) {
  fit_case *c = *state;
  mbg_identify_options o = fit_options();
  const mbg_run_options run = run_options(end_of_run(), NAN);
  mbg_run_options fine = run;
  if (support_sanitized()) {
    skip();
  }
  o.run = &run;
  fine.formulation = "qr";
  fine.tolerance = 1e-10;
  o.bias = true;
  o.tolerance = 1e-8;
  measure(c, &fine, run.end, 0.002, 0, NULL);
  const mbg_identify_summary *s = fit_solve(c, &o);
  assert_true(s->converged && s->biased);
  for (int i = 0; i < N; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(c->id, i);
    const double off = p->value - truth[i];
    assert_true(fabs(off) < 1e-3 * truth[i]);
    assert_true(fabs(off) <= 3 * fabs(p->bias));
  }
}

/* ---------------------------------------------------------------------- Monte-Carlo */

/* d^T C^-1 d with the covariance C_ij = s_i s_j correlation_ij: Cholesky */
static double mahalanobis(const fit_case *c) {
  double L[N][N] = {{0}}, y[N], sum = 0;
  for (int i = 0; i < N; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(c->id, i);
    y[i] = (p->value - truth[i]) / p->standard_error;
    for (int j = 0; j <= i; j++) {
      double v = mbg_identify_correlation(c->id, i, j);
      for (int k = 0; k < j; k++) {
        v -= L[i][k] * L[j][k];
      }
      L[i][j] = i == j ? sqrt(v) : v / L[j][j];
    }
    for (int k = 0; k < i; k++) {
      y[i] -= L[i][k] * y[k];
    }
    y[i] /= L[i][i];
    sum += y[i] * y[i];
  }
  return sum;
}

static void test_monte_carlo(void **state) {
  fit_case *c = *state;
  support_rng rng = support_rng_make(20);
  const int rounds = support_sanitized() ? 3 : support_rounds(20, 60);
  double sum = 0, square[N] = {0};
  mbg_identify_options o = fit_options();
  /* short runs of large steps: what is tested is the statistics */
  const mbg_run_options run = run_options(0.2, 0.002);
  o.run = &run;
  o.tolerance = 1e-6;
  o.parameters = truth;
  for (int k = 0; k < rounds; k++) {
    measure(c, &run, run.end, 0.002, 0.2, &rng);
    const mbg_identify_summary *s = fit_solve(c, &o);
    assert_true(s->converged && s->sigma_known);
    sum += mahalanobis(c);
    for (int i = 0; i < N; i++) {
      const mbg_identify_parameter *p = mbg_identify_get_parameter(c->id, i);
      square[i] += pow((p->value - truth[i]) / p->standard_error, 2);
      assert_true(fabs(p->value - truth[i]) < 5 * p->standard_error);
    }
  }
  /* chi-square with rounds * 12 degrees of freedom: four standard deviations */
  const double freedoms = rounds * N;
  assert_close(sum, freedoms, 4 * sqrt(2 * freedoms));
  for (int i = 0; rounds >= 20 && i < N; i++) {
    /* chi-square of each parameter: chance 1e-4 on each side for 20 and more */
    assert_close(square[i] / rounds, 1, 5 * sqrt(2.0 / rounds));
  }
}

/* ---------------------------------------------------------------------- the gallery's data */

/* measured with noise by another stepper: three standard errors */
static void check_gallery(fit_case *c, const char *name, const double *values, int n) {
  mbg_identify_options o = fit_options();
  o.tolerance = 1e-6;
  snprintf(c->path, sizeof(c->path), "%s/%s", MBG_GALLERY_DIR, name);
  assert_int_equal(fit_load(c, NULL), MBG_OK);
  assert_int_equal(mbg_identify_create(c->ctx, c->model, &o, &c->id), MBG_OK);
  assert_int_equal(mbg_identify_solve(c->ctx, c->id), MBG_OK);
  const mbg_identify_summary *s = mbg_identify_get_summary(c->id);
  assert_true(s->converged);
  assert_int_equal(s->parameters, n);
  /* residuals are noise of the deviation that the file says: chi-square, four standard deviations */
  assert_close(s->variance, 1, 4 * sqrt(2.0 / s->samples));
  for (int i = 0; i < n; i++) {
    const mbg_identify_parameter *p = mbg_identify_get_parameter(c->id, i);
    assert_true(fabs(p->value - values[i]) < 3 * p->standard_error);
    assert_true(fabs(p->start / values[i] - 1) > 0.49);
  }
}

static void test_engine_of_gallery(void **state) {
  if (support_sanitized()) {
    skip();
  }
  check_gallery(*state, "engine-mount", truth, N);
}

static void test_pendulum_of_gallery(void **state) {
  const double values[] = {0.8, 0.08};
  check_gallery(*state, "noisy-pendulum", values, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_same_stepper), TEST(test_direct_and_adjoint), TEST(test_bias),
      TEST(test_monte_carlo),  TEST(test_engine_of_gallery),  TEST(test_pendulum_of_gallery)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
