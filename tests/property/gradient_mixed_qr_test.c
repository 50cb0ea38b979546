/* The proof of gradients of `qr` for models that mix rows on rates, joints on curves and surfaces, tendons and
   couplings with all others: the discrete adjoint equals the complex twin and has Taylor slope 2, direct and continuous
   agree to the tolerance of error control. */
#include "property/gradient_qr_proof.h"

static void test_exact(void **state) {
  (void)state;
  with_mixed = true;
  check_seeds_exact(20000, support_sanitized() ? 1 : support_rounds(2, 300));
}

static void test_controlled(void **state) {
  (void)state;
  check_with_qr(20001, support_sanitized() ? 0 : support_rounds(0, 100), &with_mixed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_controlled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
