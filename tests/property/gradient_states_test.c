/* The proof of gradients for models with states: lags, nonlinear filters, integrators, oscillators, stiff lags, steady
   starts, states in force laws; parameters in rates and initial values; rates that use accelerations, reactions, forces
   and energies (late ones); in 'ali3p' rates that use accelerations alone take another way. */
#include "property/gradient_proof.h"

static void test_implicit(void **state) {
  static const char *const keys[] = {"lie", "dae", "ali3p"};
  formulations = keys;
  nformulation = MBG_COUNT(keys);
  with_stiff = true;
  test_states(state);
}

static void test_explicit(void **state) {
  static const char *const keys[] = {"dca"};
  formulations = keys;
  nformulation = MBG_COUNT(keys);
  with_stiff = false;
  test_states(state);
}

static void test_late_rates(void **state) {
  static const char *const keys[] = {"lie", "dae", "dca", "ali3p"}, *const accelerations[] = {"ali3p"};
  formulations = keys;
  nformulation = MBG_COUNT(keys);
  with_stiff = false;
  with_late = RANDOM_LATE_ALL;
  test_late(state);
  if (!support_sanitized()) {
    check_seeds(13305, 1, 1); /* bodies a radian from their guesses: steps to the nearest start went astray */
  }
  formulations = accelerations;
  nformulation = MBG_COUNT(accelerations);
  with_late = RANDOM_LATE_ACCELERATIONS;
  test_late(state);
  with_late = RANDOM_LATE_NONE;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_implicit), cmocka_unit_test(test_explicit),
                                     cmocka_unit_test(test_late_rates)};
  return cmocka_run_group_tests(tests, NULL, report);
}
