/* Gallery models with rolling, tendons and gears against closed forms and independent models: the sleigh of Chaplygin
   in every formulation, the ball on a turning table with its derivatives, energy of the rolling disc (MBG_TEST_LONG:
   over 10,000 revolutions), the tendon finger, the vehicle with rack and pinion. */
#include "reference/reference_case.h"

#include <math.h>

enum { MOST = 8 };

static void run(gradient_case *c, const char *formulation, double step, double end, double *psi) {
  c->options.formulation = formulation;
  c->options.all_signals = 0;
  if (step > 0) {
    c->options.step = step;
    c->options.tolerance = NAN;
  }
  if (end > 0) {
    c->options.end = end;
  }
  gradient_case_run(c);
  gradient_case_simulate(c);
  assert_true(c->nc <= MOST);
  gradient_case_check(c, mbg_run_criteria(c->ctx, c->run, psi), "criteria");
}

/* u = C tanh(k(t - t0)), om = C sqrt(m/I)/cosh(k(t - t0)); limits: 2e-10 of qr at 1e-11, 4e-6 by the order of the
   others at steps of 0.002, found by halving */
static void test_sleigh(void **state) {
  static const char *const keys[] = {"qr", "lie", "dae", "ali3p", "dca"};
  const double m = 2, J = 0.15, a = 0.3, u0 = 0.5, om0 = 1.2, T = 2;
  const double I = J + m * a * a, C = sqrt(u0 * u0 + I * om0 * om0 / m), k = a * m * C / I;
  const double z = k * T + atanh(u0 / C), u = C * tanh(z), om = C * sqrt(m / I) / cosh(z);
  (void)state;
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    gradient_case c;
    char *text = reference_open(&c, "chaplygin-sleigh", NULL, NULL);
    double psi[MOST];
    run(&c, keys[i], i == 0 ? 0 : 0.002, 0, psi);
    const double tol = i == 0 ? 2e-10 : 4e-6;
    assert_close(psi[reference_criterion(&c, "speed")], u, tol);
    assert_close(psi[reference_criterion(&c, "turn")], om, tol);
    reference_close(&c, text);
  }
}

/* the centre goes round with n = Omega k/(1 + k), y = (v/n) sin(n t): y_n = 2 pi v/n after a round */
static void test_ball(void **state) {
  const double pi = 3.14159265358979323846, k = 0.4, Omega = 3.5, v = 0.2;
  gradient_case c;
  double psi[MOST];
  char *text = reference_open(&c, "ball-on-turntable", NULL, NULL);
  (void)state;
  run(&c, "qr", 0, 0, psi);
  assert_close(psi[0], 0.3, 1e-8);
  assert_close(psi[1], 0, 1e-8);
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  const int by_k = mbg_model_parameter_find(c.m, "k"), by_Omega = mbg_model_parameter_find(c.m, "Omega");
  assert_close(g[c.np + by_Omega], 2 * pi * v * k / (1 + k), 1e-7);
  assert_close(g[c.np + by_k], 2 * pi * v * Omega / ((1 + k) * (1 + k)), 1e-7);
  free(g);
  reference_close(&c, text);
}

static double energy_error(double step, double end) {
  gradient_case c;
  double psi[MOST];
  char *text = reference_open(&c, "rolling-disc", NULL, NULL);
  run(&c, "lie", step, end, psi);
  const double E = psi[reference_criterion(&c, "energy")];
  reference_close(&c, text);
  return fabs(E - 5.989119114);
}

/* the energy is kept to the order of the steps: a third at half of them, or less */
static void test_disc(void **state) {
  (void)state;
  const double end = support_rounds(3, 8976); /* 7 rad/s: 10,000 revolutions take 8976 s */
  const double coarse = energy_error(0.01, end), fine = energy_error(0.005, end);
  print_message("energy of the disc after %g s: off by %.3g, %.3g J\n", end, coarse, fine);
  /* the damping of the steps: 0.126 J of 5.99 J over 10,000 revolutions, at half the step 0.021 J */
  assert_true(coarse < (end > 100 ? 0.15 : 1e-3));
  assert_true(fine < coarse / 3);
}

/* a model in joint angles with the tendon as one equation, Runge-Kutta of order 8 with 1e-12; derivatives by its
   differences, whose error is 1e-8. Others, by halving of the steps: 7e-7 and, in the effort, 9e-6 at 0.0025. */
static void test_finger(void **state) {
  static const char *const keys[] = {"qr", "lie", "dae", "ali3p", "dca"};
  static const double exact[3] = {0.022165059871378, -0.076940170291968, 6.024904752365851};
  static const struct {
    const char *name;
    double by[3];
  } slopes[] = {{"h[1]", {0.557815853, 0.0633270688, -487.175419}},
                {"k[0]", {1.01385416, 0.741528033, 76.3893654}},
                {"pull", {-3.09075872, 0.806701144, 264.559954}}};
  (void)state;
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    gradient_case c;
    double psi[MOST];
    char *text = reference_open(&c, "tendon-finger", NULL, NULL);
    c.options.tolerance = i == 0 ? 1e-11 : NAN;
    run(&c, keys[i], i == 0 ? 0 : 0.0025, 0, psi);
    double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
    for (int k = 0; k < 3; k++) {
      const double size = fabs(exact[k]), tol = i == 0 ? 1e-9 : k == 2 ? 1e-5 : 1e-6;
      assert_close(psi[k], exact[k], tol * size);
      for (int j = 0; i == 0 && j < MBG_COUNT(slopes); j++) {
        assert_close(g[k * c.np + mbg_model_parameter_find(c.m, slopes[j].name)], slopes[j].by[k],
                     1e-7 * fabs(slopes[j].by[k]));
      }
    }
    free(g);
    reference_close(&c, text);
  }
}

/* The rack travels by r * turn = A of the vehicle: the same criteria, psi_r = turn psi_A, psi_turn = r psi_A; the
   torque is r times the force of the vehicle's driver. 200 steps. 1e-8: light bodies of 1e-9 kg. */
static void test_rack(void **state) {
  const double r = 0.008, turn = 1.25, end = 0.4;
  gradient_case c[2];
  char *text[2];
  double psi[2][MOST], *g[2];
  (void)state;
  text[0] = reference_open(&c[0], "vehicle",
                           "\"force\": {\"type\": \"reaction\", \"driver\": \"steer\", \"component\": \"fz\"},",
                           "\"effort\": {\"integral\": \"force^2\"},");
  text[1] = reference_open(&c[1], "vehicle-rack", NULL, NULL);
  for (int i = 0; i < 2; i++) {
    run(&c[i], "ali3p", 0.002, end, psi[i]);
    g[i] = gradient_case_gradient(&c[i], MBG_METHOD_ADJOINT);
  }
  const int A = mbg_model_parameter_find(c[0].m, "A"), by_r = mbg_model_parameter_find(c[1].m, "r"),
            by_turn = mbg_model_parameter_find(c[1].m, "turn");
  for (int k = 0; k < 3; k++) {
    char name[16];
    snprintf(name, sizeof name, "psi%d", k + 1);
    const int a = reference_criterion(&c[0], name), b = reference_criterion(&c[1], name);
    const double slope = g[0][a * c[0].np + A];
    assert_close(psi[1][b], psi[0][a], 1e-8 * fabs(psi[0][a]));
    assert_close(g[1][b * c[1].np + by_r], turn * slope, 1e-8 * fabs(turn * slope));
    assert_close(g[1][b * c[1].np + by_turn], r * slope, 1e-8 * fabs(r * slope));
  }
  const double force = psi[0][reference_criterion(&c[0], "effort")];
  assert_close(psi[1][reference_criterion(&c[1], "effort")], r * r * force, 1e-6 * r * r * force);
  for (int i = 0; i < 2; i++) {
    free(g[i]);
    reference_close(&c[i], text[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sleigh), cmocka_unit_test(test_ball),
                                     cmocka_unit_test(test_disc), cmocka_unit_test(test_finger),
                                     cmocka_unit_test(test_rack)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
