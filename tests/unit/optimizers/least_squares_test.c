/* Levenberg-Marquardt with bounds: planted solutions, bounds that hold, points that cannot be evaluated, singular
   Jacobians. */
#include "optimizers/least_squares.h"

#include "math/svd.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4, M = 40 };

/* residuals of a test: m of them and their Jacobian, column-major */
typedef struct {
  mbg_context *ctx;
  int m, n;
  void (*residuals)(const double *x, double *r, double *J);
  double forbidden; /* points with x_0 above it cannot be evaluated */
  int evaluations, stop_at;
  double last[N];
} test_problem;

static int evaluate(void *user, const double *x, double *cost) {
  test_problem *t = user;
  double r[M];
  t->evaluations++;
  memcpy(t->last, x, (size_t)t->n * sizeof(double));
  if (t->forbidden != 0 && x[0] > t->forbidden) {
    return mbg__fail(t->ctx, MBG_ERROR_CONVERGENCE, "did not converge at %g", x[0]) < 0 ? 1 : 0;
  }
  t->residuals(x, r, NULL);
  *cost = 0;
  for (int i = 0; i < t->m; i++) {
    *cost += 0.5 * r[i] * r[i];
  }
  return MBG_OK;
}

/* by QR, as identification does it */
static int linearize(void *user, const double *x, double *T, double *q) {
  test_problem *t = user;
  double r[M], J[M * N];
  /* it is asked for at the point that was evaluated last */
  assert_memory_equal(x, t->last, (size_t)t->n * sizeof(double));
  t->residuals(x, r, J);
  /* modified Gram-Schmidt is enough for a test */
  memset(T, 0, (size_t)(t->n * t->n) * sizeof(double));
  for (int k = 0; k < t->n; k++) {
    double *v = J + t->m * k, s = 0;
    for (int i = 0; i < t->m; i++) {
      s += v[i] * v[i];
    }
    s = sqrt(s);
    T[k + t->n * k] = s;
    q[k] = 0;
    for (int i = 0; i < t->m; i++) {
      v[i] = s > 0 ? v[i] / s : 0;
      q[k] += v[i] * r[i];
    }
    for (int j = k + 1; j < t->n; j++) {
      double *w = J + t->m * j, d = 0;
      for (int i = 0; i < t->m; i++) {
        d += v[i] * w[i];
      }
      T[k + t->n * j] = d;
      for (int i = 0; i < t->m; i++) {
        w[i] -= d * v[i];
      }
    }
  }
  return MBG_OK;
}

static int progress(void *user, int iteration, double cost) {
  const test_problem *t = user;
  (void)cost;
  return t->stop_at > 0 && iteration >= t->stop_at;
}

static int solve(test_problem *t, const double *lower, const double *upper, double *x, double *T, double *q,
                 mbg__least_squares_result *result) {
  const mbg__least_squares_problem problem = {.n = t->n,
                                              .lower = lower,
                                              .upper = upper,
                                              .evaluate = evaluate,
                                              .linearize = linearize,
                                              .progress = progress,
                                              .user = t};
  return mbg__least_squares(t->ctx, &problem, NULL, x, T, q, result);
}

static int setup(void **state) {
  test_problem *t = calloc(1, sizeof(*t));
  *state = t;
  return t && mbg_context_create(NULL, &t->ctx) == MBG_OK ? 0 : 1;
}

static int teardown(void **state) {
  test_problem *t = *state;
  mbg_context_destroy(t->ctx);
  free(t);
  return 0;
}

/* ---------------------------------------------------------------------- problems */

/* Rosenbrock: r = (10 (y - x^2), 1 - x), solution (1, 1) */
static void rosenbrock(const double *x, double *r, double *J) {
  r[0] = 10 * (x[1] - x[0] * x[0]);
  r[1] = 1 - x[0];
  if (J) {
    J[0] = -20 * x[0];
    J[1] = -1;
    J[2] = 10;
    J[3] = 0;
  }
}

/* r_i = a exp(-b t_i) - 2 exp(-0.7 t_i), columns of very different size */
static void decay(const double *x, double *r, double *J) {
  for (int i = 0; i < 20; i++) {
    const double t = 0.2 * i;
    r[i] = 1e-6 * x[0] * exp(-x[1] * t) - 2 * exp(-0.7 * t);
    if (J) {
      J[i] = 1e-6 * exp(-x[1] * t);
      J[20 + i] = -1e-6 * x[0] * t * exp(-x[1] * t);
    }
  }
}

/* r = (x + y - 3, x - y - 1, z + x - 2): linear, solution (2, 1, 0) */
static void linear(const double *x, double *r, double *J) {
  static const double A[] = {1, 1, 1, 1, -1, 0, 0, 0, 1};
  r[0] = x[0] + x[1] - 3;
  r[1] = x[0] - x[1] - 1;
  r[2] = x[2] + x[0] - 2;
  if (J) {
    memcpy(J, A, sizeof(A));
  }
}

/* only x + y is seen: r = ((x + y)^2 - 4, x + y - 2) */
static void sum_only(const double *x, double *r, double *J) {
  const double s = x[0] + x[1];
  r[0] = s * s - 4;
  r[1] = s - 2;
  if (J) {
    J[0] = J[2] = 2 * s;
    J[1] = J[3] = 1;
  }
}

/* ---------------------------------------------------------------------- tests */

static void test_planted(void **state) {
  test_problem *t = *state;
  mbg__least_squares_result result;
  double x[N] = {-1.2, 1}, T[N * N], q[N];
  t->n = t->m = 2;
  t->residuals = rosenbrock;
  assert_int_equal(solve(t, NULL, NULL, x, T, q, &result), MBG_OK);
  /* zero residual: quadratic convergence to rounding */
  assert_close(x[0], 1, 1e-12);
  assert_close(x[1], 1, 1e-12);
  assert_true(result.cost < 1e-24 && result.cost_start > 10);
  assert_true(result.reason <= MBG__LEAST_SQUARES_COST);
  assert_true(result.iterations > 3 && result.iterations < 30);
  assert_int_equal(result.evaluations, t->evaluations);
  /* the linearization is that of the solution: T^T T = J^T J */
  assert_close(T[0] * T[0], 401, 1e-9);

  t->n = 2;
  t->m = 20;
  t->residuals = decay;
  double y[N] = {1e5, 3};
  assert_int_equal(solve(t, NULL, NULL, y, NULL, NULL, &result), MBG_OK);
  assert_close(y[0] / 2e6, 1, 1e-9);
  assert_close(y[1], 0.7, 1e-9);
}

/* a linear problem with and without bounds: Karush-Kuhn-Tucker point from hand */
static void test_bounds(void **state) {
  test_problem *t = *state;
  mbg__least_squares_result result;
  t->n = t->m = 3;
  t->residuals = linear;
  double x[N] = {0, 0, 0};
  assert_int_equal(solve(t, NULL, NULL, x, NULL, NULL, &result), MBG_OK);
  const double free_solution[] = {2, 1, 0};
  assert_close_array(x, free_solution, 3, 1e-10);
  /* x <= 1: then min (y - 2)^2 + y^2 + (z - 1)^2: y = 1, z = 1; the start lies outside and is moved in */
  const double lower[] = {-INFINITY, -INFINITY, -INFINITY}, upper[] = {1, INFINITY, INFINITY};
  double y[N] = {5, 0, 0};
  assert_int_equal(solve(t, lower, upper, y, NULL, NULL, &result), MBG_OK);
  const double bounded[] = {1, 1, 1};
  assert_close_array(y, bounded, 3, 1e-9);
  assert_true(y[0] == 1); /* exactly at the bound */
  /* every number at a bound: nothing is left to do */
  const double corner_low[] = {3, 3, 3}, corner_high[] = {4, 4, 4};
  double z[N] = {3.5, 3.5, 3.5};
  assert_int_equal(solve(t, corner_low, corner_high, z, NULL, NULL, &result), MBG_OK);
  for (int i = 0; i < 3; i++) {
    assert_true(z[i] == 3);
  }
  assert_int_equal(result.reason, MBG__LEAST_SQUARES_GRADIENT);
}

/* where residuals cannot be had the step is shortened, and nothing is left of the messages */
static void test_failures(void **state) {
  test_problem *t = *state;
  mbg__least_squares_result result;
  double x[N] = {-1.2, 1};
  t->n = t->m = 2;
  t->residuals = rosenbrock;
  t->forbidden = 1.0000001;
  assert_int_equal(solve(t, NULL, NULL, x, NULL, NULL, &result), MBG_OK);
  assert_close(x[0], 1, 1e-6);
  assert_int_equal(mbg_context_message_count(t->ctx), 0);
  /* at the start it is an error, with the reason that was given */
  double y[N] = {2, 1};
  assert_int_equal(solve(t, NULL, NULL, y, NULL, NULL, &result), MBG_ERROR_CONVERGENCE);
  assert_string_equal(mbg_context_error(t->ctx), "did not converge at 2");
}

static void test_singular(void **state) {
  test_problem *t = *state;
  mbg__least_squares_result result;
  double x[N] = {5, -1};
  t->n = t->m = 2;
  t->residuals = sum_only;
  assert_int_equal(solve(t, NULL, NULL, x, NULL, NULL, &result), MBG_OK);
  assert_close(x[0] + x[1], 2, 1e-9);
  assert_true(isfinite(x[0]) && fabs(x[0]) < 10);
}

static void test_interrupted(void **state) {
  test_problem *t = *state;
  mbg__least_squares_result result;
  double x[N] = {-1.2, 1};
  t->n = t->m = 2;
  t->residuals = rosenbrock;
  t->stop_at = 2;
  assert_int_equal(solve(t, NULL, NULL, x, NULL, NULL, &result), MBG_OK);
  assert_int_equal(result.reason, MBG__LEAST_SQUARES_INTERRUPTED);
  assert_int_equal(result.iterations, 2);
  assert_true(result.cost < result.cost_start);
}

/* A = U S V^T of a planted matrix, and of one that is not finite */
static void test_svd(void **state) {
  test_problem *t = *state;
  support_rng rng = support_rng_make(3);
  double U[9], V[9], A[9], s[3], W[9];
  const double planted[] = {7, 2, 1e-9};
  support_rotation(&rng, U);
  support_rotation(&rng, V);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      A[i + 3 * j] = 0;
      for (int k = 0; k < 3; k++) {
        A[i + 3 * j] += U[3 * i + k] * planted[k] * V[3 * j + k];
      }
    }
  }
  assert_int_equal(mbg__svd(t->ctx, 3, A, s, W), MBG_OK);
  assert_close_array(s, planted, 3, 1e-14);
  for (int k = 0; k < 3; k++) {
    double dot = 0;
    for (int j = 0; j < 3; j++) {
      dot += W[j + 3 * k] * V[3 * j + k];
    }
    assert_close(fabs(dot), 1, 1e-8); /* the smallest is known to 1e-16 / 1e-9 */
  }
  A[4] = NAN;
  assert_int_equal(mbg__svd(t->ctx, 3, A, s, W), MBG_ERROR_CONVERGENCE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_planted, setup, teardown),
      cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
      cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
      cmocka_unit_test_setup_teardown(test_singular, setup, teardown),
      cmocka_unit_test_setup_teardown(test_interrupted, setup, teardown),
      cmocka_unit_test_setup_teardown(test_svd, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
