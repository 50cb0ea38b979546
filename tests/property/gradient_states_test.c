/* The proof of gradients for models with states: lags, nonlinear filters, integrators, oscillators, stiff lags, steady
   starts, states in force laws; parameters in rates and initial values. */
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_implicit), cmocka_unit_test(test_explicit)};
  return cmocka_run_group_tests(tests, NULL, report);
}
