/* Reference cases of theory 1, section 11, and the accuracy that tolerances buy; not under sanitizers. */
#include "reference/reference_case.h"

static void run_at(gradient_case *c, double tolerance) {
  c->options.formulation = "qr";
  c->options.tolerance = tolerance;
  gradient_case_run(c);
  gradient_case_simulate(c);
}

/* ---------------------------------------------------------------------- theory 1, section 11 */

static const double psi_1 = 0.23063577850529748, psi_l = 12.272774250081078;

/* relative errors of the gradient of R1 at a tolerance: direct, adjoint */
static void pendulum_errors(double tolerance, const char *integrator, double error[2]) {
  gradient_case c;
  double psi;
  char *text = reference_open(&c, "torsional-pendulum", NULL, NULL);
  c.options.all_signals = 0;
  c.options.integrator = integrator;
  run_at(&c, tolerance);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, &psi), "criteria");
  reference_close_to("psi", psi, psi_1, 1e3 * (isnan(tolerance) ? 1e-11 : tolerance));
  for (int i = 0; i < 2; i++) {
    double *g = gradient_case_gradient(&c, i ? MBG_METHOD_CONTINUOUS : MBG_METHOD_DIRECT);
    error[i] = fabs(g[0] / psi_l - 1);
    free(g);
  }
  reference_close(&c, text);
}

/* R1 against its closed form (40 digits): the paper's accuracy at the tolerances of the file, 1e-11, and 3e-12 at
   1e-13 */
static void test_pendulum(void **state) {
  (void)state;
  double error[2];
  pendulum_errors(NAN, NULL, error);
  assert_true(error[0] <= 4.2e-10 && error[1] <= 4.2e-10);
  pendulum_errors(1e-13, NULL, error);
  assert_true(error[0] <= 3e-12 && error[1] <= 3e-12);
}

/* every integrator reaches what it was asked for; 1000: growth of errors over the 10 seconds of R1 */
static void test_integrators(void **state) {
  (void)state;
  static const char *const integrators[] = {"dop853", "dp5", "adams", "bdf"};
  for (int i = 0; i < 4; i++) {
    double error[2];
    pendulum_errors(1e-9, integrators[i], error);
    if (!(error[0] <= 1e-6) || !(error[1] <= 1e-6)) {
      fail_msg("%s: %.2e, %.2e", integrators[i], error[0], error[1]);
    }
  }
}

/* relative error of the continuous adjoint of R1 with tolerances apart; by the options of the run and, at a fixed step,
   backward under error control */
static double apart(const char *integrator, double tolerance, double step, double adjoint) {
  gradient_case c;
  char *text = reference_open(&c, "torsional-pendulum", NULL, NULL);
  c.options.all_signals = 0;
  c.options.integrator = integrator;
  c.options.step = step;
  c.options.adjoint_tolerance = adjoint;
  run_at(&c, tolerance);
  double *g = gradient_case_gradient(&c, MBG_METHOD_CONTINUOUS);
  const double error = g[0] / psi_l - 1;
  free(g);
  reference_close(&c, text);
  return error;
}

/* the looser of the two tolerances decides about the error; without the option it is a tenth of the other */
static void test_tolerances_apart(void **state) {
  (void)state;
  static const char *const integrators[] = {"dop853", "adams"};
  for (int i = 0; i < 2; i++) {
    const double both = fabs(apart(integrators[i], 1e-11, NAN, NAN)),
                 backward = fabs(apart(integrators[i], 1e-11, NAN, 1e-6)),
                 forward = fabs(apart(integrators[i], 1e-6, NAN, 1e-11));
    assert_true(both < 1e-7 && backward > 10 * both && backward < 1e-3 && forward > 10 * both && forward < 1e-2);
    assert_true(apart(integrators[i], 1e-11, NAN, 0.1 * 1e-11) == apart(integrators[i], 1e-11, NAN, NAN));
  }
  const double fixed = apart("dop853", NAN, 0.02, NAN), controlled = apart("dop853", NAN, 0.02, 1e-12);
  assert_true(fixed != controlled && fabs(fixed) < 1e-6 && fabs(controlled) < 1e-6);
}

/* R2: quaternions, rheonomic drive, one redundant row; criterion with accelerations and a reaction. 6e-10: the page
   prints ten digits */
static void test_driven_flap(void **state) {
  (void)state;
  static const double g[] = {1.3283169397,  10.45369788,  -1.9395299947,  1.5943336816, -0.04543713198,
                             -2.9679509286, 3.5407010053, -0.32747635027, 14.095246973};
  gradient_case c;
  char *text = reference_open(&c, "driven-flap", NULL, NULL);
  c.options.all_signals = 0;
  run_at(&c, NAN);
  reference_check(&c, "psi", 1.2017234051, g, 6e-10);
  reference_close(&c, text);
}

/* R3: two spatial bodies; initial state that depends on parameters */
static void test_two_bodies(void **state) {
  (void)state;
  static const double g[] = {-6.0507653076, 3.5271071223, -0.049732737983, -1.3043006789, 17.811838823,
                             -2.8845525074, 119.82466051, 1.6732260313,    286.08459314};
  gradient_case c;
  char *text = reference_open(&c, "two-body-spatial", NULL, NULL);
  c.options.all_signals = 0;
  run_at(&c, NAN);
  reference_check(&c, "psi", 5.2104468968, g, 6e-10);
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- stabilization */

static char *open_stabilized(gradient_case *c, const char *name, bool stabilized) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, name);
  char *text = support_read_file(path, NULL);
  text = stabilized ? reference_insert(text, "run", "\"stabilization\": 8, ") : text;
  gradient_case_open(c, NULL, text);
  return text;
}

/* (F3s) changes the adjoints, not the gradient, and takes the drift of positions away (theory 1, section 4) */
static void test_stabilization(void **state) {
  (void)state;
  static const char *const names[] = {"torsional-pendulum", "two-body-spatial", "driven-flap"};
  for (int i = 0; i < 3; i++) {
    double *g[2][2], drift[2], p[16];
    int np = 0, nc = 0;
    for (int beta = 0; beta < 2; beta++) {
      gradient_case c;
      mbg_run_work work;
      char *text = open_stabilized(&c, names[i], beta);
      run_at(&c, NAN);
      work = *mbg_run_get_work(c.run);
      drift[beta] = work.drift_position;
      g[beta][0] = gradient_case_gradient(&c, MBG_METHOD_DIRECT);
      g[beta][1] = gradient_case_gradient(&c, MBG_METHOD_CONTINUOUS);
      np = c.np, nc = c.nc;
      memcpy(p, c.p, (size_t)np * sizeof(double));
      reference_close(&c, text);
    }
    for (int k = 0; k < nc; k++) {
      for (int method = 0; method < 2; method++) {
        assert_true(gradient_difference(np, p, g[1][method] + k * np, g[0][0] + k * np, 0) < 1e-9);
      }
    }
    /* where there is a drift that can be seen; 1e-11: the tolerance */
    assert_true(i == 0 ? drift[1] < drift[0] / 3 : drift[1] < 1e-11);
    for (int j = 0; j < 4; j++) {
      free(g[j / 2][j % 2]);
    }
  }
}

/* ---------------------------------------------------------------------- tolerances */

/* largest error of the smooth criteria against g */
static double gradient_error(const gradient_case *c, const double *a, const double *g) {
  double error = 0;
  for (int k = 0; k < c->nc; k++) {
    const double d = gradient_difference(c->np, c->p, a + k * c->np, g + k * c->np, 0);
    error = c->m->criteria[k].kind == MBG__PATH ? error : fmax(error, d);
  }
  return error;
}

/* A hundred times tighter, at least thirty times better, down to 1e-11 and below. Reference: direct at 1e-13. */
static void test_tolerances(void **state) {
  (void)state;
  static const char *const names[] = {"torsional-pendulum", "driven-flap",   "two-body-spatial",
                                      "five-bar",           "spatial-chain", "quarter-car"};
  static const double tolerances[] = {1e-7, 1e-9, 1e-11, 1e-13};
  for (int i = 0; i < (support_sanitized() ? 1 : 6); i++) {
    double error[4], *exact = NULL;
    for (int j = 3; j >= 0; j--) {
      gradient_case c;
      char *text = reference_open(&c, names[i], NULL, NULL);
      c.options.all_signals = 0;
      run_at(&c, tolerances[j]);
      exact = exact ? exact : gradient_case_gradient(&c, MBG_METHOD_DIRECT);
      double *g = gradient_case_gradient(&c, MBG_METHOD_CONTINUOUS);
      error[j] = gradient_error(&c, g, exact);
      free(g);
      reference_close(&c, text);
    }
    for (int j = 1; j < 4; j++) {
      if (!(error[j] <= fmax(error[j - 1] / 30, 1e-12))) {
        fail_msg("%s: %.2e at 1e-7, %.2e at 1e-9, %.2e at 1e-11, %.2e at 1e-13", names[i], error[0], error[1], error[2],
                 error[3]);
      }
    }
    assert_true(error[3] <= 1e-11);
    free(exact);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pendulum),         cmocka_unit_test(test_integrators),   cmocka_unit_test(test_driven_flap),
      cmocka_unit_test(test_two_bodies),       cmocka_unit_test(test_stabilization), cmocka_unit_test(test_tolerances),
      cmocka_unit_test(test_tolerances_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
