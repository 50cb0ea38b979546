/* Gallery models with rolling against closed forms: the sleigh of Chaplygin in every formulation, the ball on a turning
   table with its derivatives, energy of the rolling disc (MBG_TEST_LONG: over 10,000 revolutions). */
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sleigh), cmocka_unit_test(test_ball),
                                     cmocka_unit_test(test_disc)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
