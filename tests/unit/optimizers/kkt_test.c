/* Conditions of optimality: planted multipliers are found, wrong signs and slack constraints are not made up for. */
#include "optimizers/kkt.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum { N = 12, M = 5 };

static mbg_context *context(void) {
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  return ctx;
}

/* A point at which g = -J^T lambda - mu with random lambda and mu of the right signs. */
typedef struct {
  double x[N], lower[N], upper[N], g[N], c[M], J[M * N], lambda[M], mu[N];
  bool equal[M];
} planted;

static mbg__kkt_point plant(planted *p, support_rng *rng) {
  support_normals(rng, p->J, M * N);
  for (int i = 0; i < M; i++) {
    p->equal[i] = i == 0;
    const bool active = i < 3;
    p->lambda[i] = i == 0 ? support_normal(rng) : active ? support_uniform(rng, 0.1, 2) : 0;
    p->c[i] = active ? 0 : -support_uniform(rng, 0.1, 1);
  }
  for (int k = 0; k < N; k++) {
    p->lower[k] = -1;
    p->upper[k] = 1;
    p->x[k] = k < 3 ? -1 : k < 6 ? 1 : support_uniform(rng, -0.5, 0.5);
    p->mu[k] = k < 3 ? -support_uniform(rng, 0, 2) : k < 6 ? support_uniform(rng, 0, 2) : 0;
    p->g[k] = -p->mu[k];
    for (int i = 0; i < M; i++) {
      p->g[k] -= p->J[i * N + k] * p->lambda[i];
    }
  }
  return (mbg__kkt_point){.n = N,
                          .m = M,
                          .x = p->x,
                          .lower = p->lower,
                          .upper = p->upper,
                          .equal = p->equal,
                          .g = p->g,
                          .c = p->c,
                          .J = p->J,
                          .active = 1e-3};
}

/* more equations than multipliers: they are unique; 1e-11: rounding of a small least-squares problem */
static void test_planted(void **state) {
  (void)state;
  mbg_context *ctx = context();
  support_rng rng = support_rng_make(1);
  for (int round = 0; round < support_rounds(200, 5000); round++) {
    planted p;
    double lambda[M], mu[N], residual;
    const mbg__kkt_point q = plant(&p, &rng);
    assert_int_equal(mbg__kkt(ctx, &q, lambda, mu, &residual), MBG_OK);
    assert_close(residual, 0, 1e-11);
    assert_close_array(lambda, p.lambda, M, 1e-10);
    assert_close_array(mu, p.mu, N, 1e-10);
  }
  mbg_context_destroy(ctx);
}

/* a component that nothing takes up, a multiplier of the wrong sign, one of a constraint with slack: the residual says
   so */
static void test_not_optimal(void **state) {
  (void)state;
  mbg_context *ctx = context();
  support_rng rng = support_rng_make(2);
  for (int round = 0; round < 50; round++) {
    planted p;
    double lambda[M], mu[N], residual;
    mbg__kkt_point q = plant(&p, &rng);
    p.g[8] += 0.5;
    assert_int_equal(mbg__kkt(ctx, &q, lambda, mu, &residual), MBG_OK);
    assert_true(residual > 1e-3);
    for (int i = 1; i < M; i++) {
      assert_true(lambda[i] >= 0 && (i < 3 || lambda[i] == 0));
    }
    q = plant(&p, &rng);
    for (int k = 0; k < N; k++) {
      p.g[k] += 3 * p.lambda[1] * p.J[N + k]; /* as if lambda_1 were negative */
    }
    assert_int_equal(mbg__kkt(ctx, &q, lambda, mu, &residual), MBG_OK);
    assert_true(residual > 1e-3);
    q = plant(&p, &rng);
    p.c[1] = -5e-4; /* counts as active, but the product remains */
    assert_int_equal(mbg__kkt(ctx, &q, lambda, mu, &residual), MBG_OK);
    assert_close(residual, 5e-4 * p.lambda[1], 1e-8);
  }
  mbg_context_destroy(ctx);
}

/* interior points: unknowns at a small distance inside the bounds that hold them have multipliers when the point says
   so, and the products with the distance are the residual; 1e-11 as above, with distances up to 1e-4 */
static void test_interior(void **state) {
  (void)state;
  mbg_context *ctx = context();
  support_rng rng = support_rng_make(3);
  for (int round = 0; round < support_rounds(100, 2000); round++) {
    planted p;
    double lambda[M], mu[N], residual, gap = 0;
    mbg__kkt_point q = plant(&p, &rng);
    int held = 0;
    for (int k = 0; k < N; k++) {
      const double away = 1e-4 * support_uniform(&rng, 0.1, 1);
      if (p.mu[k] != 0) {
        p.x[k] += p.mu[k] < 0 ? away : -away;
        gap = fmax(gap, fabs(p.mu[k]) * away);
        held++;
      }
    }
    assert_true(held > 0);
    assert_int_equal(mbg__kkt(ctx, &q, lambda, mu, &residual), MBG_OK);
    assert_true(residual > 1e-3); /* as if they were free */
    q.near = 1e-3;
    assert_int_equal(mbg__kkt(ctx, &q, lambda, mu, &residual), MBG_OK);
    assert_close(residual, gap, 1e-11);
    assert_close_array(lambda, p.lambda, M, 1e-10);
    assert_close_array(mu, p.mu, N, 1e-10);
    q.near = 1e-6; /* farther away than that: free again */
    assert_int_equal(mbg__kkt(ctx, &q, lambda, mu, &residual), MBG_OK);
    assert_true(residual > 1e-3);
  }
  mbg_context_destroy(ctx);
}

/* constraints that depend on each other, more of them than unknowns */
static void test_dependent(void **state) {
  (void)state;
  mbg_context *ctx = context();
  const double x[2] = {0, 0}, lower[2] = {-1, -1}, upper[2] = {1, 1}, g[2] = {-1, -2}, c[4] = {0};
  const double J[8] = {1, 0, 0, 1, 1, 1, 2, 2};
  const bool equal[4] = {0};
  const mbg__kkt_point q = {
      .n = 2, .m = 4, .x = x, .lower = lower, .upper = upper, .equal = equal, .g = g, .c = c, .J = J, .active = 1e-6};
  double lambda[4], residual;
  assert_int_equal(mbg__kkt(ctx, &q, lambda, NULL, &residual), MBG_OK);
  assert_close(residual, 0, 1e-12);
  assert_close(mbg__kkt_projected(2, x, lower, upper, g), sqrt(5), 1e-15);
  assert_close(mbg__kkt_projected(2, upper, lower, upper, g), 0, 0);
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_planted),
      cmocka_unit_test(test_not_optimal),
      cmocka_unit_test(test_interior),
      cmocka_unit_test(test_dependent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
