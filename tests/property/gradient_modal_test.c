/* The proof of gradients for models with modal bodies: parameters in invariants, shapes and damping, in modulus,
   density, sections and length of generated beams, in the places of markers. */
#include "property/gradient_proof.h"

int main(void) {
  static const char *const keys[] = {"lie", "dae"};
  formulations = keys;
  nformulation = MBG_COUNT(keys);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modal)};
  return cmocka_run_group_tests(tests, NULL, report);
}
