/* Minimization under constraints: problems with known solutions, infeasible starts, points that cannot be evaluated,
   limits, replay. */
#include "optimizers/nlp.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

enum { NMAX = 8, MMAX = 4, CALLS = 4000 };

typedef struct {
  double x[NMAX];
} place;

/* A problem with its solution, and what happened to it. */
typedef struct {
  int n, m;
  double lower[NMAX], upper[NMAX], start[NMAX], solution[NMAX], value;
  bool equal[MMAX];
  int (*f)(const double *x, double *f, double *c, double *g, double *J); /* 1: not possible */
  bool squares;
  int calls, failures, stop_at;
  bool nan; /* not possible shows as NaN */
  place path[CALLS];
} problem;

/* ---------------------------------------------------------------------- problems */

/* Hock, Schittkowski 71: optimum 17.0140173 */
static int hs71(const double *x, double *f, double *c, double *g, double *J) {
  *f = x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2];
  c[0] = (25 - x[0] * x[1] * x[2] * x[3]) / 25;
  c[1] = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] - 40) / 40;
  g[0] = x[3] * (2 * x[0] + x[1] + x[2]);
  g[1] = x[0] * x[3];
  g[2] = x[0] * x[3] + 1;
  g[3] = x[0] * (x[0] + x[1] + x[2]);
  for (int k = 0; k < 4; k++) {
    J[k] = -1 / 25.0;
    for (int i = 0; i < 4; i++) {
      J[k] *= i == k ? 1 : x[i];
    }
    J[4 + k] = 2 * x[k] / 40;
  }
  return 0;
}

/* the point of the unit disc next to (2, 1); it cannot be evaluated for x > 1.2 */
static int disc(const double *x, double *f, double *c, double *g, double *J) {
  if (x[0] > 1.2) {
    return 1;
  }
  *f = ((x[0] - 2) * (x[0] - 2) + (x[1] - 1) * (x[1] - 1)) / 5;
  c[0] = x[0] * x[0] + x[1] * x[1] - 1;
  g[0] = 2 * (x[0] - 2) / 5;
  g[1] = 2 * (x[1] - 1) / 5;
  J[0] = 2 * x[0];
  J[1] = 2 * x[1];
  return 0;
}

/* 1/2 sum (x_k^2 - k - 1)^2 / 10, the solution sqrt(k + 1) within 0 <= x <= 1.6: bounds alone */
static int roots(const double *x, double *f, double *c, double *g, double *J) {
  (void)c, (void)J;
  *f = 0;
  for (int k = 0; k < 3; k++) {
    const double r = x[k] * x[k] - k - 1;
    *f += 0.05 * r * r;
    g[k] = 0.2 * r * x[k];
  }
  return 0;
}

/* Svanberg 1987, section 6: cantilever of five segments, weight 0.0624 sum X, limited deflection of the tip; X = 5 x.
   Optimum in closed form: X_k = load_k^(1/4) (sum load^(1/4))^(1/3), value 1.340 */
static int cantilever(const double *x, double *f, double *c, double *g, double *J) {
  static const double load[] = {61, 37, 19, 7, 1};
  *f = 0;
  c[0] = -1;
  for (int k = 0; k < 5; k++) {
    const double X = 5 * x[k];
    *f += 0.0624 * X;
    c[0] += load[k] / (X * X * X);
    g[k] = 5 * 0.0624;
    J[k] = -5 * 3 * load[k] / (X * X * X * X);
  }
  return 0;
}

/* Svanberg 1987, section 6: two-bar truss, x0 area of the bars, x1 half their distance, limited stresses. Optimum: the
   first stress is active and 16 x1^3 + x1^2 = 1, value 1.51 */
static int truss(const double *x, double *f, double *c, double *g, double *J) {
  const double w = sqrt(1 + x[1] * x[1]), w_1 = x[1] / w;
  *f = x[0] * w;
  g[0] = w;
  g[1] = x[0] * w_1;
  for (int i = 0; i < 2; i++) {
    const double sign = i == 0 ? 1 : -1, force = 8 / x[0] + sign / (x[0] * x[1]);
    c[i] = 0.124 * w * force - 1;
    J[2 * i] = -0.124 * w * force / x[0];
    J[2 * i + 1] = 0.124 * (w_1 * force - w * sign / (x[0] * x[1] * x[1]));
  }
  return 0;
}

static problem make_cantilever(void) {
  return (problem){.n = 5,
                   .m = 1,
                   .lower = {0.2, 0.2, 0.2, 0.2, 0.2},
                   .upper = {2, 2, 2, 2, 2},
                   .start = {1, 1, 1, 1, 1},
                   .solution = {1.203203179, 1.061834771, 0.898865915, 0.700294994, 0.430533066},
                   .value = 1.339956361,
                   .f = cantilever};
}

static problem make_truss(void) {
  return (problem){.n = 2,
                   .m = 2,
                   .lower = {0.2, 0.1},
                   .upper = {4, 1.6},
                   .start = {1.5, 0.5},
                   .solution = {1.411631137, 0.3770724337},
                   .value = 1.508652418,
                   .f = truss};
}

static problem make(const char *name) {
  problem p = {.stop_at = -1};
  if (!strcmp(name, "hs71")) {
    p = (problem){.n = 4,
                  .m = 2,
                  .lower = {1, 1, 1, 1},
                  .upper = {5, 5, 5, 5},
                  .start = {1, 5, 5, 1},
                  .solution = {1, 4.74299964, 3.82114998, 1.37940829},
                  .value = 17.0140173,
                  .equal = {false, true},
                  .f = hs71};
  } else if (!strcmp(name, "disc")) {
    p = (problem){.n = 2,
                  .m = 1,
                  .lower = {-3, -3},
                  .upper = {3, 3},
                  .start = {-2, -2}, /* outside of the disc */
                  .solution = {2 / sqrt(5), 1 / sqrt(5)},
                  .value = (sqrt(5) - 1) * (sqrt(5) - 1) / 5,
                  .f = disc};
  } else if (!strcmp(name, "cantilever")) {
    p = make_cantilever();
  } else if (!strcmp(name, "truss")) {
    p = make_truss();
  } else {
    p = (problem){.n = 3,
                  .lower = {0, 0, 0},
                  .upper = {1.6, 1.6, 1.6},
                  .start = {0.5, 0.5, 0.5},
                  .solution = {1, sqrt(2), 1.6},
                  .value = 0.05 * (1.6 * 1.6 - 3) * (1.6 * 1.6 - 3),
                  .f = roots,
                  .squares = true};
  }
  p.stop_at = -1;
  return p;
}

/* ---------------------------------------------------------------------- callbacks */

static int values(void *user, const double *x, double *f, double *c) {
  problem *p = user;
  double g[NMAX], J[MMAX * NMAX];
  assert_true(p->calls < CALLS);
  memcpy(p->path[p->calls].x, x, (size_t)p->n * sizeof(double));
  if (p->calls++ == p->stop_at) {
    return MBG_ERROR_INTERRUPTED;
  }
  for (int k = 0; k < p->n; k++) {
    assert_true(x[k] >= p->lower[k] && x[k] <= p->upper[k]);
  }
  const int status = p->f(x, f, c, g, J);
  p->failures += status;
  if (status && p->nan) {
    *f = NAN;
    c[0] = 0;
    return 0;
  }
  return status;
}

static int derivatives(void *user, const double *x, double *g, double *J) {
  const problem *p = user;
  double f, c[MMAX];
  return p->f(x, &f, c, g, J);
}

/* of roots: sum of squares of r_k = sqrt(0.1) (x_k^2 - k - 1) */
static int hessian(void *user, const double *x, double *H) {
  const problem *p = user;
  memset(H, 0, (size_t)(p->n * p->n) * sizeof(double));
  for (int k = 0; k < p->n; k++) {
    H[k * p->n + k] = 0.4 * x[k] * x[k];
  }
  return 0;
}

/* gradient of the Lagrangian at x + h d */
static int lagrangian(const problem *p, const double *x, double h, double factor, const double *lambda, const double *d,
                      double *L_x) {
  double X[NMAX], f, c[MMAX], g[NMAX], J[MMAX * NMAX];
  for (int k = 0; k < p->n; k++) {
    X[k] = x[k] + h * d[k];
  }
  const int status = p->f(X, &f, c, g, J);
  for (int k = 0; status == 0 && k < p->n; k++) {
    L_x[k] = factor * g[k];
    for (int i = 0; i < p->m; i++) {
      L_x[k] += lambda[i] * J[i * p->n + k];
    }
  }
  return status;
}

/* by differences of gradients, which are central where both sides are possible */
static int product(void *user, const double *x, double factor, const double *lambda, const double *d, double *Hd) {
  const problem *p = user;
  double side[2][NMAX], h[2] = {1e-5, -1e-5};
  for (int i = 0; i < 2; i++) {
    if (lagrangian(p, x, h[i], factor, lambda, d, side[i]) != 0) {
      h[i] = 0;
      assert_int_equal(lagrangian(p, x, 0, factor, lambda, d, side[i]), 0);
    }
  }
  for (int k = 0; k < p->n; k++) {
    Hd[k] = (side[0][k] - side[1][k]) / (h[0] - h[1]);
  }
  return 0;
}

static int solve(mbg_context *ctx, problem *p, const mbg__nlp_options *o, double *x, mbg__nlp_result *r) {
  const mbg__nlp_problem q = {.n = p->n,
                              .m = p->m,
                              .lower = p->lower,
                              .upper = p->upper,
                              .equal = p->equal,
                              .values = values,
                              .derivatives = derivatives,
                              .hessian = p->squares ? hessian : NULL,
                              .product = product,
                              .user = p};
  memcpy(x, p->start, (size_t)p->n * sizeof(double));
  return mbg__nlp_solve(ctx, &q, o, x, r);
}

static bool fits(const problem *p, mbg__nlp_method method) {
  bool equalities = false;
  for (int i = 0; i < p->m; i++) {
    equalities = equalities || p->equal[i];
  }
  return (p->m == 0 || mbg__nlp_takes_constraints(method)) && (!equalities || mbg__nlp_takes_equalities(method)) &&
         (p->squares || method != MBG__NLP_IPOPT_GN);
}

static mbg_context *context(void) {
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  return ctx;
}

/* ---------------------------------------------------------------------- tests */

static const char *const all[] = {"hs71", "disc", "roots", "truss"};

/* every method that takes the problem finds its solution; 1e-5: the conditions hold to 1e-7 of the start */
static void test_solutions(void **state) {
  (void)state;
  mbg_context *ctx = context();
  for (int i = 0; i < MBG_COUNT(all); i++) {
    for (int method = 0; method < MBG__NLP_METHODS; method++) {
      problem p = make(all[i]);
      mbg__nlp_options o = mbg__nlp_options_default();
      mbg__nlp_result r;
      double x[NMAX];
      o.method = (mbg__nlp_method)method;
      o.optimality = 1e-7;
      if (!fits(&p, o.method)) {
        continue;
      }
      assert_int_equal(solve(ctx, &p, &o, x, &r), MBG_OK);
      assert_int_equal(r.reason, MBG__NLP_OPTIMAL);
      assert_close_array(x, p.solution, p.n, 1e-5);
      assert_close(r.value, p.value, 1e-5 * p.value);
      assert_true(r.violation <= o.feasibility && r.optimality <= 1e-7);
      assert_int_equal(mbg_context_message_count(ctx), 0);
    }
  }
  mbg_context_destroy(ctx);
}

/* CONLIN is made for problems like this one. NLopt's MMA stays 5e-7 outside of the limit, the tolerance of its own dual
   search, and finds 5 digits; the others end at the closed form */
static void test_cantilever(void **state) {
  (void)state;
  static const mbg__nlp_method methods[] = {MBG__NLP_SLSQP, MBG__NLP_CONLIN, MBG__NLP_IPOPT, MBG__NLP_MMA};
  mbg_context *ctx = context();
  for (int i = 0; i < MBG_COUNT(methods); i++) {
    problem p = make_cantilever();
    mbg__nlp_options o = mbg__nlp_options_default();
    mbg__nlp_result r;
    double x[NMAX];
    const bool mma = methods[i] == MBG__NLP_MMA;
    p.stop_at = -1;
    o.method = methods[i];
    o.optimality = 1e-7;
    assert_int_equal(solve(ctx, &p, &o, x, &r), MBG_OK);
    assert_close_array(x, p.solution, p.n, mma ? 2e-4 : 1e-6);
    assert_close(r.value, p.value, 1e-6);
    assert_int_equal(r.reason, mma ? MBG__NLP_ITERATIONS : MBG__NLP_OPTIMAL);
    assert_true(methods[i] != MBG__NLP_CONLIN || r.iterations <= 30);
  }
  mbg_context_destroy(ctx);
}

/* the same problem in logarithms, and measured from the lower bound: CONLIN sees the numbers behind x and takes the
   same way, up to rounding */
static int cantilever_log(const double *x, double *f, double *c, double *g, double *J) {
  double X[NMAX];
  for (int k = 0; k < 5; k++) {
    X[k] = exp(x[k]);
  }
  const int status = cantilever(X, f, c, g, J);
  for (int k = 0; k < 5; k++) {
    g[k] *= X[k];
    J[k] *= X[k];
  }
  return status;
}

static int cantilever_moved(const double *x, double *f, double *c, double *g, double *J) {
  double X[NMAX];
  for (int k = 0; k < 5; k++) {
    X[k] = 0.2 + x[k];
  }
  return cantilever(X, f, c, g, J);
}

static void test_numbers(void **state) {
  (void)state;
  static const double offset[2][NMAX] = {{0}, {0.2, 0.2, 0.2, 0.2, 0.2}}, span[NMAX] = {1, 1, 1, 1, 1};
  static const bool log_scale[2][NMAX] = {{true, true, true, true, true}, {false}};
  mbg_context *ctx = context();
  for (int moved = 0; moved < 2; moved++) {
    static problem p, q;
    mbg__nlp_options o = mbg__nlp_options_default();
    mbg__nlp_result r;
    double x[NMAX];
    o.method = MBG__NLP_CONLIN;
    p = make_cantilever();
    p.stop_at = -1;
    assert_int_equal(solve(ctx, &p, &o, x, &r), MBG_OK);
    q = make_cantilever();
    q.stop_at = -1;
    q.f = moved ? cantilever_moved : cantilever_log;
    for (int k = 0; k < q.n; k++) {
      q.lower[k] = moved ? 0 : log(0.2);
      q.upper[k] = moved ? 1.8 : log(2);
      x[k] = moved ? 0.8 : 0;
    }
    const mbg__nlp_problem numbers = {.n = q.n,
                                      .m = q.m,
                                      .lower = q.lower,
                                      .upper = q.upper,
                                      .equal = q.equal,
                                      .offset = offset[moved],
                                      .span = span,
                                      .log = log_scale[moved],
                                      .values = values,
                                      .derivatives = derivatives,
                                      .user = &q};
    assert_int_equal(mbg__nlp_solve(ctx, &numbers, &o, x, &r), MBG_OK);
    assert_int_equal(r.reason, MBG__NLP_OPTIMAL);
    for (int i = 0; i < 8; i++) { /* 1e-7: the multipliers are known to 1e-12 of the constraint */
      for (int k = 0; k < q.n; k++) {
        const double number = moved ? 0.2 + q.path[i].x[k] : exp(q.path[i].x[k]);
        assert_close(number, p.path[i].x[k], 1e-7);
      }
    }
  }
  mbg_context_destroy(ctx);
}

/* a region that cannot be evaluated is stepped back from, whether it says so or gives NaN */
static void test_not_possible(void **state) {
  (void)state;
  mbg_context *ctx = context();
  int failures = 0;
  for (int method = 0; method < MBG__NLP_METHODS; method++) {
    for (int nan = 0; nan < 2; nan++) {
      problem p = make("disc");
      mbg__nlp_options o = mbg__nlp_options_default();
      mbg__nlp_result r;
      double x[NMAX];
      o.method = (mbg__nlp_method)method;
      p.nan = nan;
      if (!fits(&p, o.method)) {
        continue;
      }
      assert_int_equal(solve(ctx, &p, &o, x, &r), MBG_OK);
      assert_int_equal(r.reason, MBG__NLP_OPTIMAL);
      assert_close_array(x, p.solution, p.n, 1e-4);
      assert_int_equal(r.failed, p.failures);
      failures += p.failures;
    }
  }
  assert_true(failures > 0); /* somebody went there */
  mbg_context_destroy(ctx);
}

/* the same values lead the same way, to the last bit */
static void test_replay(void **state) {
  (void)state;
  mbg_context *ctx = context();
  for (int method = 0; method < MBG__NLP_METHODS; method++) {
    static problem first, second;
    mbg__nlp_options o = mbg__nlp_options_default();
    mbg__nlp_result r;
    double x[NMAX];
    o.method = (mbg__nlp_method)method;
    first = make(!fits(&(problem){.m = 1}, (mbg__nlp_method)method) ? "roots" : "disc");
    second = first;
    assert_int_equal(solve(ctx, &first, &o, x, &r), MBG_OK);
    assert_int_equal(solve(ctx, &second, &o, x, &r), MBG_OK);
    assert_int_equal(first.calls, second.calls);
    assert_memory_equal(first.path, second.path, (size_t)first.calls * sizeof(place));
  }
  mbg_context_destroy(ctx);
}

/* limits and interruptions keep the best point */
static void test_ends(void **state) {
  (void)state;
  mbg_context *ctx = context();
  for (int method = 0; method < MBG__NLP_METHODS; method++) {
    problem p = make(!fits(&(problem){.m = 1}, (mbg__nlp_method)method) ? "roots" : "disc");
    mbg__nlp_options o = mbg__nlp_options_default();
    mbg__nlp_result r;
    double x[NMAX], f, c[MMAX], g[NMAX], J[MMAX * NMAX];
    o.method = (mbg__nlp_method)method;
    o.max_iterations = 3;
    assert_int_equal(solve(ctx, &p, &o, x, &r), MBG_OK);
    assert_int_equal(r.reason, MBG__NLP_ITERATIONS);
    assert_int_equal(r.iterations, 3);
    assert_int_equal(p.f(x, &f, c, g, J), 0);
    assert_close(f, r.value, 0);

    o.max_iterations = 200;
    p.calls = 0;
    p.stop_at = 2;
    assert_int_equal(solve(ctx, &p, &o, x, &r), MBG_OK);
    assert_int_equal(r.reason, MBG__NLP_INTERRUPTED);
    assert_int_equal(mbg_context_message_count(ctx), 0);

    o.settle = 10; /* anything counts as settled after ten iterations */
    o.optimality = 0;
    p.calls = 0;
    p.stop_at = -1;
    assert_int_equal(solve(ctx, &p, &o, x, &r), MBG_OK);
    assert_true(r.reason == MBG__NLP_SETTLED || r.reason == MBG__NLP_STUCK || r.reason == MBG__NLP_OPTIMAL);
  }
  mbg_context_destroy(ctx);
}

static void expect(mbg_context *ctx, problem *p, mbg__nlp_method method, int status, const char *message) {
  mbg__nlp_options o = mbg__nlp_options_default();
  mbg__nlp_result r;
  double x[NMAX];
  o.method = method;
  assert_int_equal(solve(ctx, p, &o, x, &r), status);
  assert_string_equal(mbg_context_message(ctx, 0), message);
  mbg_context_clear(ctx);
}

static void test_errors(void **state) {
  (void)state;
  mbg_context *ctx = context();
  problem p = make("disc");
  expect(ctx, &p, MBG__NLP_LBFGS, MBG_ERROR_INPUT,
         "optimizer 'lbfgs' does not support constraints; use slsqp, mma or ipopt");
  expect(ctx, &p, MBG__NLP_IPOPT_GN, MBG_ERROR_INPUT,
         "optimizer 'ipopt-gn' needs an objective that is a sum of squares");
  p = make("hs71");
  expect(ctx, &p, MBG__NLP_MMA, MBG_ERROR_INPUT,
         "optimizer 'mma' does not support equality constraints; use slsqp or ipopt");
  p = make("disc");
  p.lower[1] = 4;
  expect(ctx, &p, MBG__NLP_SLSQP, MBG_ERROR_INPUT, "bounds of variable 1: lower 4 exceeds upper 3");
  p = make("disc");
  p.start[0] = NAN;
  expect(ctx, &p, MBG__NLP_SLSQP, MBG_ERROR_INPUT, "start of variable 0 must be finite, is nan");
  p = make("disc");
  p.start[0] = 2;
  expect(ctx, &p, MBG__NLP_SLSQP, MBG_ERROR_CONVERGENCE,
         "objective and constraints cannot be evaluated at the start: they are not finite");
  mbg_context_destroy(ctx);
}

/* every allocation of our own fails once */
static void fail_each(mbg__nlp_method method) {
  for (int n = 1;; n++) {
    support_memory memory = {.fail_at = n};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx = NULL;
    problem p = make("disc");
    mbg__nlp_options o = mbg__nlp_options_default();
    mbg__nlp_result r;
    double x[NMAX];
    o.method = method;
    int err = mbg_context_create(&allocator, &ctx);
    if (err == MBG_OK) {
      err = solve(ctx, &p, &o, x, &r);
    }
    assert_true(err == MBG_OK || err == MBG_ERROR_MEMORY);
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      break;
    }
  }
}

static void test_memory(void **state) {
  (void)state;
  fail_each(MBG__NLP_SLSQP);
  fail_each(MBG__NLP_CONLIN);
}

static void test_names(void **state) {
  (void)state;
  for (int method = 0; method < MBG__NLP_METHODS; method++) {
    assert_int_equal(mbg__nlp_method_find(mbg__nlp_method_name(method)), method);
  }
  assert_null(mbg__nlp_method_name(MBG__NLP_METHODS));
  assert_int_equal(mbg__nlp_method_find("simplex"), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_solutions),    cmocka_unit_test(test_cantilever), cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_not_possible), cmocka_unit_test(test_replay),     cmocka_unit_test(test_ends),
      cmocka_unit_test(test_errors),       cmocka_unit_test(test_memory),     cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
