/* The proof of gradients for models with beams: parameters in modulus, density, sections, damping, filling, lengths,
   shape. */
#include "property/gradient_proof.h"

int main(void) {
  static const char *const keys[] = {"lie", "dae"};
  formulations = keys;
  nformulation = MBG_COUNT(keys);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_beams)};
  return cmocka_run_group_tests(tests, NULL, report);
}
