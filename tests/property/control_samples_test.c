/* Gradients by the samples of controls, straight and cubic: equal to the complex twin's, direct equal to adjoint,
   Taylor slope 2; beside parameters in a constraint and in the start. What sums and lists of them must be. */
#include "property/gradient_case.h"

#include <stdio.h>

/* crane whose rope length is in a constraint and in the start, with so many samples */
static char *crane(const char *interpolation, int samples, const char *values) {
  char *text = malloc(4096);
  snprintf(text, 4096,
           "{\"mbgrad\": 1, \"parameters\": {\"L\": 1.5, \"d\": 0.8, \"x0\": 0.1, \"u0\": 3, "
           "\"uk\": {\"value\": 2, \"count\": %d}}, "
           "\"controls\": {\"u\": {\"times\": {\"from\": 0, \"to\": 1, \"count\": %d}, \"values\": \"%s\", "
           "\"interpolation\": \"%s\"}}, \"gravity\": [0, -9.81, 0], "
           "\"bodies\": {\"trolley\": {\"motion\": \"planar-point\", \"mass\": 10}, "
           "\"load\": {\"motion\": \"planar-point\", \"mass\": 4, \"position\": [0, \"-L\", 0]}}, "
           "\"joints\": {\"rail\": {\"type\": \"point-on-line\", \"between\": [\"ground\", \"trolley\"], "
           "\"at\": [0, 0, 0], \"axis\": [1, 0, 0]}, "
           "\"rope\": {\"type\": \"distance\", \"between\": [\"trolley\", \"load\"], \"length\": \"L\"}}, "
           "\"forces\": {\"drive\": {\"type\": \"actuator\", \"joint\": \"rail\", \"force\": \"u*(1 + u/50) - d*v\"}}, "
           "\"signals\": {\"x\": {\"type\": \"position\", \"of\": \"load\", \"component\": \"x\"}, "
           "\"a\": {\"type\": \"acceleration\", \"of\": \"load\", \"component\": \"x\"}, "
           "\"f\": {\"type\": \"reaction\", \"joint\": \"rope\", \"component\": \"fy\"}, "
           "\"s\": {\"type\": \"control\", \"control\": \"u\"}}, "
           "\"criteria\": {\"h\": {\"integral\": \"(x - t)^2 + 0.01*a^2 + 1e-4*f^2 + 1e-3*s^2*x\"}, "
           "\"S\": {\"terminal\": \"x^2 + 0.1*s\"}}, "
           "\"initial\": {\"pin\": {\"p\": {\"joint\": \"rail\", \"coordinate\": \"slide\", \"value\": \"x0\", "
           "\"rate\": 0}, "
           "\"q\": {\"signal\": \"x\", \"value\": \"x0/2\", \"rate\": \"x0\"}}}, "
           "\"run\": {\"formulation\": \"dae\", \"end\": 1, \"step\": 0.05}}",
           samples, samples, values, interpolation);
  return text;
}

static void open_crane(gradient_case *c, const char *text) {
  gradient_case_open(c, NULL, text);
  /* samples that differ */
  for (int i = 4; i < c->np; i++) {
    c->p[i] = c->m->p[i] = 4 * cos(0.7 * i);
  }
  gradient_case_run(c);
  gradient_case_check(c, mbg_run_set_parameters(c->ctx, c->run, c->p), "parameters");
  gradient_case_simulate(c);
}

static void test_samples(void **state) {
  (void)state;
  for (int cubic = 0; cubic < 2; cubic++) {
    char *text = crane(cubic ? "cubic" : "linear", 9, "uk");
    gradient_case c;
    open_crane(&c, text);
    double *direct = gradient_case_gradient(&c, MBG_METHOD_DIRECT);
    double *adjoint = gradient_case_gradient(&c, MBG_METHOD_ADJOINT), *exact = gradient_case_twin(&c, NULL);
    for (int k = 0; k < c.nc; k++) {
      /* complex step and transposition: rounding */
      assert_true(gradient_difference(c.np, c.p, adjoint + k * c.np, exact + k * c.np, 0) < 1e-9);
      assert_true(gradient_difference(c.np, c.p, adjoint + k * c.np, direct + k * c.np, 0) < 1e-10);
      for (int i = 4; i < c.np; i++) {
        assert_true(fabs(adjoint[k * c.np + i]) > 1e-6);
      }
    }
    gradient_case_check(&c, mbg_run_prove(c.ctx, c.run), "proof");
    for (int k = 0; k < c.nc; k++) {
      const mbg_proof *q = mbg_run_get_proof(c.run, k);
      assert_true(q->taylor_slope > 1.95 && q->taylor_decades >= 3 - 1e-9);
    }
    free(direct);
    free(adjoint);
    free(exact);
    gradient_case_close(&c);
    free(text);
  }
}

/* a weighted sum has the sum of the gradients, by every method */
static void test_sum(void **state) {
  (void)state;
  char *text = crane("cubic", 7, "uk");
  gradient_case c;
  open_crane(&c, text);
  const double weights[2] = {0.3, -2};
  for (int method = MBG_METHOD_DIRECT; method <= MBG_METHOD_CONTINUOUS; method++) {
    double *g = gradient_case_gradient(&c, (mbg_method)method), *sum = calloc((size_t)c.np, sizeof *sum);
    gradient_case_check(&c, mbg_run_gradient_sum(c.ctx, c.run, (mbg_method)method, weights, sum), "sum");
    for (int i = 0; i < c.np; i++) {
      const double expected = weights[0] * g[i] + weights[1] * g[c.np + i];
      assert_close(sum[i], expected, 1e-11 * (1 + fabs(expected)));
    }
    free(g);
    free(sum);
  }
  gradient_case_close(&c);
  free(text);
}

/* the list of all numbers has the whole derivative at a sample, and nothing at the curvatures that follow from it */
static void test_all(void **state) {
  (void)state;
  char *text = crane("cubic", 7, "uk");
  gradient_case c;
  open_crane(&c, text);
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT), *all = calloc((size_t)c.m->na, sizeof *all);
  gradient_case_check(&c, mbg_run_gradient_all(c.ctx, c.run, 0, all), "all");
  const int first = c.m->controls[0].attr;
  for (int k = 0; k < 7; k++) {
    assert_close(all[first + k], g[4 + k], 1e-12 * (1 + fabs(g[4 + k])));
    assert_close(all[first + 7 + k], 0, 0);
  }
  free(g);
  free(all);
  gradient_case_close(&c);
  free(text);
}

/* ten thousand samples: a common shift of all of them is the derivative by the one number that they are in another
   model */
static void test_many(void **state) {
  (void)state;
  for (int cubic = 0; cubic < 2; cubic++) {
    const int n = support_sanitized() ? 1000 : 10000;
    char *many = crane(cubic ? "cubic" : "linear", n, "uk"), *one = crane(cubic ? "cubic" : "linear", n, "u0");
    gradient_case a, b;
    gradient_case_open(&a, NULL, many);
    gradient_case_open(&b, NULL, one);
    for (int i = 4; i < a.np; i++) {
      a.p[i] = a.p[3];
    }
    gradient_case_run(&a);
    gradient_case_run(&b);
    gradient_case_check(&a, mbg_run_set_parameters(a.ctx, a.run, a.p), "parameters");
    gradient_case_simulate(&a);
    gradient_case_simulate(&b);
    double *g = gradient_case_gradient(&a, MBG_METHOD_ADJOINT), *h = gradient_case_gradient(&b, MBG_METHOD_ADJOINT);
    for (int k = 0; k < 2; k++) {
      double sum = 0;
      for (int i = 4; i < a.np; i++) {
        sum += g[k * a.np + i];
      }
      assert_close(sum, h[k * b.np + 3], 1e-9 * fabs(sum)); /* rounding of ten thousand steps of index 3 */
    }
    free(g);
    free(h);
    gradient_case_close(&a);
    gradient_case_close(&b);
    free(many);
    free(one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples), cmocka_unit_test(test_sum),
                                     cmocka_unit_test(test_all), cmocka_unit_test(test_many)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
