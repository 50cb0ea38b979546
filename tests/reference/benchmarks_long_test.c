/* Published numbers that need many steps of a second-order method. The error of the step is the tolerance; it was found
   by halving. */
#include "reference/reference_case.h"

typedef struct {
  const char *criterion;
  double value;
} printed;

static void check(const char *model, const char *formulation, double step, const printed *list, int count, double tol) {
  gradient_case c;
  char *text = reference_open(&c, model, NULL, NULL);
  double psi[20];
  c.options.formulation = formulation;
  c.options.step = step;
  c.options.all_signals = 0;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "criteria");
  for (int i = 0; i < count; i++) {
    const double off = fabs(psi[reference_criterion(&c, list[i].criterion)] - list[i].value);
    print_message("%-14s %-12s off by %.1e\n", model, list[i].criterion, off);
    assert_true(off <= tol);
  }
  reference_close(&c, text);
}

/* angles at t = 0.03, right to 9-10 digits */
static void test_andrews(void **state) {
  (void)state;
  static const printed angles[] = {{"beta_end", 0.1581077119629904e+2},   {"Theta_end", -0.1575637105984298e+2},
                                   {"gamma_end", 0.4082224013073101e-1},  {"Phi_end", -0.5347301163226948e+0},
                                   {"delta_end", 0.5244099658805304e+0},  {"Omega_end", 0.5347301163226948e+0},
                                   {"epsilon_end", 0.1048080741042263e+1}};
  check("andrews", "lie", 8e-7, angles, 7, 1e-6);
}

/* positions at t = 3, right to 12-13 digits */
static void test_car_axis(void **state) {
  (void)state;
  static const printed positions[] = {{"xl_end", 0.493455784275402809122e-1},
                                      {"yl_end", 0.496989460230171153861},
                                      {"xr_end", 0.104174252488542151681e1},
                                      {"yr_end", 0.373911027265361256927}};
  check("car-axis", "lie", 5e-5, positions, 4, 1e-6);
}

/* A02, two windows: the equivalent motion of one angle */
static void test_windows(void **state) {
  (void)state;
  static const printed joint[] = {{"x_end", 0.32845811154081538},
                                  {"y_end", 0.94451853817860096},
                                  {"vx_end", 1.4230514702069441},
                                  {"vy_end", -0.49486884548704296}};
  check("four-bar-chain", "lie", 2.5e-4, joint, 4, 1e-5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_andrews),
      cmocka_unit_test(test_car_axis),
      cmocka_unit_test(test_windows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
