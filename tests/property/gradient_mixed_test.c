/* The proof of gradients for models that mix rows on rates, joints on curves and surfaces, tendons and couplings with
   trees, loops, modal bodies, beams and states. */
#include "property/gradient_proof.h"

static void test_all(void **state) {
  static const char *const keys[] = {"lie", "dae", "ali3p", "dca"};
  formulations = keys;
  nformulation = MBG_COUNT(keys);
  test_mixed(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
  return cmocka_run_group_tests(tests, NULL, report);
}
