/* CVODES behind `qr`: the same numbers as the Runge-Kutta pair on a model with everything that interrupts an
   integration, and a stiff model that only BDF runs with few steps. */
#include "reference/reference_case.h"

/* driven wheel with a spring-mounted bob: control knots, a table, samples, integrals, maxima, reactions */
static const char model[] =
    "{\"mbgrad\": 1,\n"
    " \"parameters\": {\"k\": 40, \"m\": 1.2, \"r\": 0.3, \"u\": {\"value\": [0, 0.8, -0.5, 0.3], \"count\": 4}},\n"
    " \"gravity\": [0, 0, -9.81],\n"
    " \"controls\": {\"torque\": {\"times\": [0, 0.3, 0.7, 1], \"values\": \"u\"}},\n"
    " \"bodies\": {\"wheel\": {\"mass\": 2, \"inertia\": [0.05, 0.09, 0.05], \"com\": [\"0.1*r\", 0, 0]},\n"
    "   \"bob\": {\"motion\": \"point\", \"mass\": \"m\", \"position\": [\"r\", 0, -0.6], \"velocity\": [0, 0.4, "
    "0]}},\n"
    " \"joints\": {\"axle\": {\"type\": \"revolute\", \"between\": [\"ground\", \"wheel\"], \"at\": [0, 0, 0], "
    "\"axis\": [0, 1, 0]}},\n"
    " \"forces\": {\"motor\": {\"type\": \"actuator\", \"joint\": \"axle\", \"force\": \"torque\"},\n"
    "   \"spring\": {\"type\": \"spring-damper\", \"between\": [\"wheel\", \"bob\"],\n"
    "     \"points\": [[\"r\", 0, 0], [0, 0, 0]], \"stiffness\": \"k\", \"rest\": 0.4, \"damping\": 0.5}},\n"
    " \"signals\": {\"z\": {\"type\": \"position\", \"of\": \"bob\", \"component\": \"z\"},\n"
    "   \"pull\": {\"type\": \"force\", \"force\": \"spring\"},\n"
    "   \"a\": {\"type\": \"acceleration\", \"of\": \"bob\", \"component\": \"z\"},\n"
    "   \"F\": {\"type\": \"reaction\", \"joint\": \"axle\", \"component\": \"fz\"}},\n"
    " \"criteria\": {\"end\": {\"terminal\": \"z + 0.01*a\"}, \"mean\": {\"integral\": \"0.01*a^2 + 0.001*F^2\"},\n"
    "   \"fit\": {\"least_squares\": \"z\", \"data\": {\"time\": [0, 0.111, 0.3, 0.55, 1], \"value\": [0, 0, -1, -1, "
    "-1]}},\n"
    "   \"peak\": {\"smooth_maximum\": \"pull\", \"sharpness\": 2},\n"
    "   \"both\": {\"value\": \"mean + 0.1*peak^2\"}},\n"
    " \"run\": {\"end\": 1}}\n";

static void run(gradient_case *c, const char *integrator, double tolerance) {
  c->options.formulation = "qr";
  c->options.integrator = integrator;
  c->options.tolerance = tolerance;
  gradient_case_run(c);
  gradient_case_simulate(c);
}

static double *values(gradient_case *c) {
  double *psi = malloc(((size_t)c->nc + 1) * sizeof(double));
  assert_non_null(psi);
  gradient_case_check(c, mbg_run_criteria(c->ctx, c->run, psi), "criteria");
  return psi;
}

static void compare(const gradient_case *c, const char *what, const double *g, const double *reference, double limit) {
  for (int k = 0; k < c->nc; k++) {
    const size_t at = (size_t)k * (size_t)c->np;
    const double d = gradient_difference(c->np, c->p, g + at, reference + at, 0);
    if (!(d <= limit)) {
      fail_msg("%s: gradients of criterion %d differ by %.2e", what, k, d);
    }
  }
}

/* 1e-7: a hundred times the tolerance, for a run of four segments with kinks */
static void test_same_numbers(void **state) {
  (void)state;
  static const char *const integrators[] = {"dp5", "adams", "bdf"};
  gradient_case c;
  gradient_case_open(&c, NULL, model);
  run(&c, "dop853", 1e-12);
  double *psi = values(&c), *g = gradient_case_gradient(&c, MBG_METHOD_CONTINUOUS);
  double *direct = gradient_case_gradient(&c, MBG_METHOD_DIRECT);
  compare(&c, "direct", direct, g, 1e-9);
  for (int i = 0; i < 3; i++) {
    run(&c, integrators[i], 1e-9);
    double *own = values(&c);
    for (int k = 0; k < c.nc; k++) {
      assert_true(fabs(own[k] - psi[k]) <= 1e-7 * (1 + fabs(psi[k])));
    }
    double *first = gradient_case_gradient(&c, MBG_METHOD_CONTINUOUS);
    compare(&c, integrators[i], first, g, 1e-6);
    /* a second gradient of the same run: CVODES computes the forward solution again */
    double *second = gradient_case_gradient(&c, MBG_METHOD_CONTINUOUS);
    compare(&c, "again", second, first, 1e-12);
    double *tangent = gradient_case_gradient(&c, MBG_METHOD_DIRECT);
    compare(&c, "direct", tangent, g, 1e-6);
    free(own);
    free(first);
    free(second);
    free(tangent);
  }
  free(psi);
  free(g);
  free(direct);
  gradient_case_close(&c);
}

/* a mass on a spring and damper of 1e6 1/s: explicit steps are bound by stability, those of BDF by accuracy */
static const char stiff[] =
    "{\"mbgrad\": 1,\n"
    " \"parameters\": {\"c\": 1e6, \"k\": 1e6},\n"
    " \"bodies\": {\"cart\": {\"motion\": \"point\", \"mass\": 1, \"position\": [1.1, 0, 0]}},\n"
    " \"joints\": {\"rail\": {\"type\": \"point-on-line\", \"between\": [\"ground\", \"cart\"], \"at\": [1.1, 0, 0], "
    "\"axis\": [1, 0, "
    "0]}},\n"
    " \"forces\": {\"strut\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"cart\"], \"stiffness\": "
    "\"k\",\n"
    "   \"rest\": 1, \"damping\": \"c\"}},\n"
    " \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"cart\", \"component\": \"x\"}},\n"
    " \"criteria\": {\"end\": {\"terminal\": \"x\"}},\n"
    " \"run\": {\"end\": 1}}\n";

static void test_stiff(void **state) {
  (void)state;
  gradient_case c;
  mbg_run_work work;
  gradient_case_open(&c, NULL, stiff);
  run(&c, "bdf", 1e-8);
  work = *mbg_run_get_work(c.run);
  assert_true(work.steps < 2000); /* explicit: 1e6/3 at least */
  /* slow root of s^2 + c s + k: x = 1 + 0.1 e^(s t) (1 + O(1e-6)) */
  const double s = (-1e6 + sqrt(1e12 - 4e6)) / 2, e = 0.1 * exp(s) * (1e6 + s) / (1e6 + 2 * s);
  double *psi = values(&c), *g = gradient_case_gradient(&c, MBG_METHOD_CONTINUOUS);
  assert_true(fabs(psi[0] - 1 - e) <= 1e-7);
  /* ds/dk = -1/(c + 2 s), ds/dc = -s/(c + 2 s), to 1e-5 of the leading term */
  assert_true(fabs(g[1] * 1e6 + e) <= 1e-4 * e);
  assert_true(fabs(g[0] * 1e6 - e) <= 1e-4 * e);
  free(psi);
  free(g);
  gradient_case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_numbers),
      cmocka_unit_test(test_stiff),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
