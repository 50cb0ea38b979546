/* Minimization under bounds: problems with known solutions, failures, limits, what must not matter. */
#include "optimizers/minimize.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- problems */

enum { NMAX = 60 };

/* A function with counters; every problem below begins with it. */
typedef struct {
  int n, calls, stop_at;
  double goal[NMAX], weight[NMAX];
} function;

/* sum_k w_k/2 (x_k - goal_k)^2 + 1/4 (x_k - goal_k)^4 / n */
static int bowl(void *user, const double *x, double *f, double *g) {
  function *p = user;
  p->calls++;
  *f = 0;
  for (int k = 0; k < p->n; k++) {
    const double e = x[k] - p->goal[k];
    *f += 0.5 * p->weight[k] * e * e + 0.25 * pow(e, 4) / p->n;
    g[k] = p->weight[k] * e + e * e * e / p->n;
  }
  return 0;
}

/* Rosenbrock's valley through n numbers; minimum 0 at (1, ..., 1). */
static int valley(void *user, const double *x, double *f, double *g) {
  function *p = user;
  p->calls++;
  *f = 0;
  memset(g, 0, (size_t)p->n * sizeof(double));
  for (int k = 0; k + 1 < p->n; k++) {
    const double a = x[k + 1] - x[k] * x[k], b = 1 - x[k];
    *f += 100 * a * a + b * b;
    g[k] += -400 * a * x[k] - 2 * b;
    g[k + 1] += 200 * a;
  }
  return 0;
}

/* sum x_k - goal_k ln x_k, not possible for x_k <= 0; minimum at the goal. */
static int logarithm(void *user, const double *x, double *f, double *g) {
  function *p = user;
  p->calls++;
  *f = 0;
  for (int k = 0; k < p->n; k++) {
    if (x[k] <= 0) {
      return 1;
    }
    *f += x[k] - p->goal[k] * log(x[k]);
    g[k] = 1 - p->goal[k] / x[k];
  }
  return 0;
}

/* Products with second derivatives of the three. */
static int bowl_product(void *user, const double *x, const double *d, double *Hd) {
  const function *p = user;
  for (int k = 0; k < p->n; k++) {
    const double e = x[k] - p->goal[k];
    Hd[k] = (p->weight[k] + 3 * e * e / p->n) * d[k];
  }
  return 0;
}

static int valley_product(void *user, const double *x, const double *d, double *Hd) {
  const function *p = user;
  memset(Hd, 0, (size_t)p->n * sizeof(double));
  for (int k = 0; k + 1 < p->n; k++) {
    Hd[k] += (1200 * x[k] * x[k] - 400 * x[k + 1] + 2) * d[k] - 400 * x[k] * d[k + 1];
    Hd[k + 1] += 200 * d[k + 1] - 400 * x[k] * d[k];
  }
  return 0;
}

static int logarithm_product(void *user, const double *x, const double *d, double *Hd) {
  const function *p = user;
  for (int k = 0; k < p->n; k++) {
    Hd[k] = p->goal[k] / (x[k] * x[k]) * d[k];
  }
  return 0;
}

static bool interior(int method) { return method == MBG__MINIMIZE_IPOPT || method == MBG__MINIMIZE_IPOPT_EXACT; }

/* The same as NaN instead of an answer. */
static int logarithm_nan(void *user, const double *x, double *f, double *g) {
  const int err = logarithm(user, x, f, g);
  *f = err > 0 ? NAN : *f;
  return 0;
}

static mbg_context *context(void) {
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  return ctx;
}

static mbg__minimize_options options(mbg__minimize_method method) {
  mbg__minimize_options opt = mbg__minimize_options_default();
  opt.method = method;
  opt.max_iterations = 20000;
  opt.max_evaluations = 100000;
  opt.gradient_relative = 1e-9;
  return opt;
}

/* ---------------------------------------------------------------------- solutions */

/* Bounds cut the goal: the solution is the goal moved into the bounds, since the function is separable. */
static void test_bounds(void **state) {
  (void)state;
  mbg_context *ctx = context();
  for (int method = 0; method < MBG__MINIMIZE_METHODS; method++) {
    support_rng rng = support_rng_make(5);
    function p = {.n = 40};
    double lower[NMAX], upper[NMAX], x[NMAX], solution[NMAX];
    for (int k = 0; k < p.n; k++) {
      p.goal[k] = support_uniform(&rng, -2, 2);
      p.weight[k] = support_uniform(&rng, 1, 20);
      lower[k] = k % 5 == 0 ? -INFINITY : -1;
      upper[k] = k % 7 == 0 ? INFINITY : k % 11 == 0 ? -0.5 : 1;
      x[k] = support_uniform(&rng, -3, 3);
      solution[k] = fmin(fmax(p.goal[k], lower[k]), upper[k]);
    }
    const mbg__minimize_problem problem = {
        .n = p.n, .lower = lower, .upper = upper, .evaluate = bowl, .product = bowl_product, .user = &p};
    const mbg__minimize_options opt = options((mbg__minimize_method)method);
    mbg__minimize_result r;
    assert_int_equal(mbg__minimize(ctx, &problem, &opt, x, &r), MBG_OK);
    /* 1e-7: gradient to 1e-9 of about 100, curvature of at least 1; interior points stay off the bounds by as much */
    assert_close_array(x, solution, p.n, interior(method) ? 1e-6 : 1e-7);
    assert_int_equal(r.reason, MBG__MINIMIZE_GRADIENT);
    assert_int_equal(r.evaluations, p.calls);
    assert_true(r.active > 5 || interior(method));
    assert_true(r.gradient <= 1e-8 * r.gradient_start || interior(method));
    assert_true(r.evaluations < 400);
  }
  mbg_context_destroy(ctx);
}

static void test_valley(void **state) {
  (void)state;
  mbg_context *ctx = context();
  const int evaluations[MBG__MINIMIZE_METHODS] = {300, 1200, 1500, 8000, 300, 100};
  for (int method = 0; method < MBG__MINIMIZE_METHODS; method++) {
    function p = {.n = method == MBG__MINIMIZE_STEEPEST ? 2 : 30};
    double x[NMAX], ones[NMAX];
    for (int k = 0; k < p.n; k++) {
      x[k] = k % 2 ? 1 : -1.2;
      ones[k] = 1;
    }
    const mbg__minimize_problem problem = {.n = p.n, .evaluate = valley, .product = valley_product, .user = &p};
    mbg__minimize_options opt = options((mbg__minimize_method)method);
    opt.max_iterations = 100000;
    mbg__minimize_result r;
    assert_int_equal(mbg__minimize(ctx, &problem, &opt, x, &r), MBG_OK);
    if (fabs(x[0] + 1) > 0.1) { /* the long valley has a second minimum near (-1, 1, 1, ...) */
      assert_close_array(x, ones, p.n, 1e-5);
    }
    assert_true(r.evaluations <= evaluations[method]);
    assert_int_equal(r.failed, 0);
  }
  mbg_context_destroy(ctx);
}

/* Points at which the function says no, or NaN, are stepped back from; messages of such points are taken back. */
static void test_not_possible(void **state) {
  (void)state;
  mbg_context *ctx = context();
  for (int method = 0; method < MBG__MINIMIZE_METHODS; method++) {
    for (int nan = 0; nan < 2; nan++) {
      function p = {.n = 5};
      double x[NMAX];
      for (int k = 0; k < p.n; k++) {
        p.goal[k] = 0.01 * (k + 1);
        x[k] = 3;
      }
      const mbg__minimize_problem problem = {
          .n = p.n, .evaluate = nan ? logarithm_nan : logarithm, .product = logarithm_product, .user = &p};
      mbg__minimize_options opt = options((mbg__minimize_method)method);
      opt.first_step = 20;
      mbg__minimize_result r;
      assert_int_equal(mbg__minimize(ctx, &problem, &opt, x, &r), MBG_OK);
      assert_close_array(x, p.goal, p.n, 1e-7);
      assert_true(r.failed > 0 || interior(method));
      assert_string_equal(mbg_context_error(ctx), "");
    }
  }
  mbg_context_destroy(ctx);
}

/* ---------------------------------------------------------------------- the metric */

/* min int 1/2 (u - w(t))^2 (1 + t) dt by samples at unequal times, sampled twice as finely: with the masses of the hat
   functions as metric, the first step of steepest descent is the same function of time. */
static void sampled(int n, double *t, double *mass) {
  for (int k = 0; k < n; k++) {
    t[k] = pow((double)k / (n - 1), 2);
  }
  for (int k = 0; k < n; k++) {
    mass[k] = 0.5 * ((k + 1 < n ? t[k + 1] : t[k]) - (k > 0 ? t[k - 1] : t[k]));
  }
}

static void first_step(mbg_context *ctx, int n, double *t, double *x) {
  function p = {.n = n};
  double mass[NMAX];
  sampled(n, t, mass);
  for (int k = 0; k < n; k++) {
    p.goal[k] = sin(3 * t[k]);
    p.weight[k] = mass[k] * 1000;
    x[k] = 0;
  }
  mbg__minimize_options opt = options(MBG__MINIMIZE_STEEPEST);
  opt.max_iterations = 1;
  opt.first_step = 1e-3;
  const mbg__minimize_problem problem = {.n = n, .metric = mass, .evaluate = bowl, .product = bowl_product, .user = &p};
  mbg__minimize_result r;
  assert_int_equal(mbg__minimize(ctx, &problem, &opt, x, &r), MBG_OK);
  assert_int_equal(r.reason, MBG__MINIMIZE_ITERATIONS);
}

static void test_metric(void **state) {
  (void)state;
  mbg_context *ctx = context();
  double t[NMAX], x[NMAX], t2[NMAX], x2[NMAX];
  first_step(ctx, 21, t, x);
  first_step(ctx, 41, t2, x2);
  const double size = fabs(x[10]);
  assert_true(size > 1e-3);
  for (int k = 0; k < 21; k++) {
    assert_close(x[k], x2[2 * k], 0.03 * size); /* the quartic part is not weighted; the quadrature is O(1/n^2) */
  }
  mbg_context_destroy(ctx);
}

/* ---------------------------------------------------------------------- pure function of evaluations */

typedef struct {
  function p;
  int count, next;
  double x[4000][8], f[4000], g[4000][8];
  bool replay;
} record;

static int recorded(void *user, const double *x, double *f, double *g) {
  record *r = user;
  if (r->replay) {
    assert_memory_equal(x, r->x[r->next], 6 * sizeof(double));
    *f = r->f[r->next];
    memcpy(g, r->g[r->next++], 6 * sizeof(double));
    return 0;
  }
  assert_true(r->count < 4000);
  const int err = valley(&r->p, x, f, g);
  memcpy(r->x[r->count], x, 6 * sizeof(double));
  memcpy(r->g[r->count], g, 6 * sizeof(double));
  r->f[r->count++] = *f;
  return err;
}

static int recorded_product(void *user, const double *x, const double *d, double *Hd) {
  record *r = user;
  return valley_product(&r->p, x, d, Hd);
}

static void test_replay(void **state) {
  (void)state;
  mbg_context *ctx = context();
  const double lower[6] = {-2, -2, -2, -2, -2, -2}, upper[6] = {2, 0.9, 2, 2, 2, 2};
  const double metric[6] = {1, 2, 3, 1, 2, 3};
  for (int method = 0; method < MBG__MINIMIZE_METHODS; method++) {
    record *rec = calloc(1, sizeof *rec);
    rec->p.n = 6;
    mbg__minimize_problem problem = {.n = 6,
                                     .lower = lower,
                                     .upper = upper,
                                     .metric = metric,
                                     .evaluate = recorded,
                                     .product = recorded_product,
                                     .user = rec};
    mbg__minimize_options opt = options((mbg__minimize_method)method);
    opt.max_iterations = 100;
    double x[2][6];
    mbg__minimize_result r[2];
    for (int i = 0; i < 2; i++) {
      rec->replay = i == 1;
      for (int k = 0; k < 6; k++) {
        x[i][k] = -1 + 0.1 * k;
      }
      assert_int_equal(mbg__minimize(ctx, &problem, &opt, x[i], &r[i]), MBG_OK);
    }
    assert_int_equal(rec->next, rec->count);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_int_equal(r[0].iterations, r[1].iterations);
    assert_close(r[0].value, r[1].value, 0);
    free(rec);
  }
  mbg_context_destroy(ctx);
}

/* ---------------------------------------------------------------------- ends */

static int stop_progress(void *user, const mbg__minimize_state *state) {
  (void)user;
  return state->iteration == 3;
}

static int stopped_bowl(void *user, const double *x, double *f, double *g) {
  function *p = user;
  return p->calls == p->stop_at ? MBG_ERROR_INTERRUPTED : valley(user, x, f, g);
}

/* Limits and interrupts keep the best point. */
static void test_ends(void **state) {
  (void)state;
  mbg_context *ctx = context();
  for (int method = 0; method < MBG__MINIMIZE_METHODS; method++) {
    function p = {.n = 4};
    mbg__minimize_problem problem = {.n = p.n, .evaluate = valley, .product = valley_product, .user = &p};
    mbg__minimize_options opt = options((mbg__minimize_method)method);
    mbg__minimize_result r;
    double f, g[4];

    double x[4] = {-1.2, 1, -1.2, 1};
    opt.max_iterations = 4;
    assert_int_equal(mbg__minimize(ctx, &problem, &opt, x, &r), MBG_OK);
    assert_int_equal(r.reason, MBG__MINIMIZE_ITERATIONS);
    assert_int_equal(r.iterations, 4);
    assert_true(r.value < r.value_start);
    valley(&p, x, &f, g);
    assert_close(f, r.value, 0);

    opt = options((mbg__minimize_method)method);
    opt.max_evaluations = 7;
    assert_int_equal(mbg__minimize(ctx, &problem, &opt, x, &r), MBG_OK);
    assert_int_equal(r.reason, MBG__MINIMIZE_EVALUATIONS);
    assert_int_equal(r.evaluations, 7);

    opt = options((mbg__minimize_method)method);
    problem.progress = stop_progress;
    assert_int_equal(mbg__minimize(ctx, &problem, &opt, x, &r), MBG_OK);
    assert_int_equal(r.reason, MBG__MINIMIZE_INTERRUPTED);
    assert_int_equal(r.iterations, 3);

    problem.progress = NULL;
    problem.evaluate = stopped_bowl;
    p.calls = 0;
    p.stop_at = 5;
    assert_int_equal(mbg__minimize(ctx, &problem, &opt, x, &r), MBG_OK);
    assert_int_equal(r.reason, MBG__MINIMIZE_INTERRUPTED);
    valley(&p, x, &f, g);
    assert_close(f, r.value, 0);
    assert_string_equal(mbg_context_error(ctx), "");
  }
  mbg_context_destroy(ctx);
}

/* A value tolerance ends a slow method; a start at the solution, and one with nothing free, ends at once. */
static void test_tolerances(void **state) {
  (void)state;
  mbg_context *ctx = context();
  function p = {.n = 2};
  double x[2] = {-1.2, 1};
  mbg__minimize_problem problem = {.n = 2, .evaluate = valley, .product = valley_product, .user = &p};
  mbg__minimize_options opt = options(MBG__MINIMIZE_STEEPEST);
  opt.value_tolerance = 0.05;
  mbg__minimize_result r;
  assert_int_equal(mbg__minimize(ctx, &problem, &opt, x, &r), MBG_OK);
  assert_int_equal(r.reason, MBG__MINIMIZE_VALUE);
  for (int method = 0; method < MBG__MINIMIZE_METHODS; method++) {
    opt = options((mbg__minimize_method)method);
    opt.gradient_tolerance = 1e-12;
    double solution[2] = {1, 1}, fixed[2] = {0.3, 0.4};
    assert_int_equal(mbg__minimize(ctx, &problem, &opt, solution, &r), MBG_OK);
    assert_int_equal(r.reason, MBG__MINIMIZE_GRADIENT);
    assert_int_equal(r.evaluations, 1);
    const double bounds[2] = {0.1, 0.2};
    mbg__minimize_problem held = problem;
    held.lower = held.upper = bounds;
    assert_int_equal(mbg__minimize(ctx, &held, &opt, fixed, &r), MBG_OK);
    assert_int_equal(r.reason, MBG__MINIMIZE_GRADIENT);
    assert_int_equal(r.active, 2);
    assert_close_array(fixed, bounds, 2, 0);
  }
  mbg_context_destroy(ctx);
}

/* ---------------------------------------------------------------------- errors */

static int fatal(void *user, const double *x, double *f, double *g) {
  function *p = user;
  return p->calls == 4 ? MBG_ERROR_SINGULAR : valley(user, x, f, g);
}

static int never(void *user, const double *x, double *f, double *g) {
  (void)user, (void)x, (void)f, (void)g;
  return 1;
}

static void expect(mbg_context *ctx, const mbg__minimize_problem *problem, const mbg__minimize_options *opt,
                   double start, int status, const char *message) {
  double x[2] = {start, 0};
  mbg__minimize_result r;
  mbg_context_clear(ctx);
  assert_int_equal(mbg__minimize(ctx, problem, opt, x, &r), status);
  assert_string_equal(mbg_context_error(ctx), message);
}

static void test_errors(void **state) {
  (void)state;
  mbg_context *ctx = context();
  function p = {.n = 2};
  const double lower[2] = {0, 3}, upper[2] = {1, 2}, metric[2] = {1, 0};
  mbg__minimize_problem problem = {.n = 2, .evaluate = valley, .product = valley_product, .user = &p};
  for (int method = 0; method < MBG__MINIMIZE_METHODS; method++) {
    mbg__minimize_options opt = options((mbg__minimize_method)method);
    problem.evaluate = fatal;
    p.calls = 0;
    expect(ctx, &problem, &opt, -1, MBG_ERROR_SINGULAR, "");
    problem.evaluate = never;
    expect(ctx, &problem, &opt, 0, MBG_ERROR_CONVERGENCE, "the function cannot be evaluated at the start");
  }
  mbg__minimize_options opt = options(MBG__MINIMIZE_LBFGS);
  problem.lower = lower;
  problem.upper = upper;
  expect(ctx, &problem, &opt, 0, MBG_ERROR_INPUT, "bounds of variable 1: lower 3 exceeds upper 2");
  problem.lower = problem.upper = NULL;
  expect(ctx, &problem, &opt, NAN, MBG_ERROR_INPUT, "start of variable 0 must be finite, is nan");
  problem.metric = metric;
  expect(ctx, &problem, &opt, 0, MBG_ERROR_INPUT, "metric of variable 1 must be positive, is 0");
  problem.metric = NULL;
  opt.memory = 0;
  expect(ctx, &problem, &opt, 0, MBG_ERROR_INPUT, "memory must be at least 1 pair, is 0");
  opt = options(MBG__MINIMIZE_LBFGS);
  opt.max_evaluations = 0;
  expect(ctx, &problem, &opt, 0, MBG_ERROR_INPUT,
         "the limits of iterations (20000) and evaluations (0) must be at least 0 and 1");
  opt = options(MBG__MINIMIZE_LBFGS);
  opt.value_tolerance = -1;
  expect(ctx, &problem, &opt, 0, MBG_ERROR_INPUT,
         "tolerances (gradient 0, relative 1e-09, value -1) and first step (0) must not be negative");
  mbg_context_destroy(ctx);
}

static void test_memory(void **state) {
  (void)state;
  for (int method = 0; method < MBG__MINIMIZE_METHODS; method++) {
    for (int fail = 1;; fail++) {
      support_memory memory = {0};
      const mbg_allocator allocator = support_allocator(&memory);
      mbg_context *ctx = NULL;
      assert_int_equal(mbg_context_create(&allocator, &ctx), MBG_OK);
      memory.requests = 0;
      memory.fail_at = fail;
      function p = {.n = 4};
      double x[4] = {-1.2, 1, -1.2, 1};
      const mbg__minimize_problem problem = {.n = 4, .evaluate = valley, .product = valley_product, .user = &p};
      mbg__minimize_options opt = options((mbg__minimize_method)method);
      opt.max_iterations = 5; /* all memory is asked for before the first step */
      mbg__minimize_result r;
      const int err = mbg__minimize(ctx, &problem, &opt, x, &r);
      const bool reached = memory.requests >= fail;
      assert_int_equal(err, reached ? MBG_ERROR_MEMORY : MBG_OK);
      mbg_context_destroy(ctx);
      assert_int_equal(memory.live, 0);
      if (!reached) {
        break;
      }
    }
  }
}

static void test_names(void **state) {
  (void)state;
  for (int method = 0; method < MBG__MINIMIZE_METHODS; method++) {
    assert_int_equal(mbg__minimize_method_find(mbg__minimize_method_name(method)), method);
  }
  assert_null(mbg__minimize_method_name(MBG__MINIMIZE_METHODS));
  assert_int_equal(mbg__minimize_method_find("simplex"), -1);
  for (int reason = 0; reason < MBG__MINIMIZE_REASONS; reason++) {
    assert_true(strlen(mbg__minimize_reason_text((mbg__minimize_reason)reason)) > 3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bounds),     cmocka_unit_test(test_valley), cmocka_unit_test(test_not_possible),
      cmocka_unit_test(test_metric),     cmocka_unit_test(test_replay), cmocka_unit_test(test_ends),
      cmocka_unit_test(test_tolerances), cmocka_unit_test(test_errors), cmocka_unit_test(test_memory),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
