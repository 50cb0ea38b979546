/* The proof of gradients of `qr` for random models with states, also such whose rates use accelerations, reactions,
   forces and energies: the discrete adjoint equals the complex twin and has Taylor slope 2, direct and continuous agree
   to the tolerance of error control. Explicit steps: no stiff states. */
#include "property/gradient_qr_proof.h"

static void test_exact(void **state) {
  (void)state;
  with_states = true;
  check_seeds_exact(11000, support_sanitized() ? 1 : support_rounds(3, 150));
  with_late = RANDOM_LATE_ALL;
  check_seeds_exact(13000, support_sanitized() ? 1 : support_rounds(3, 150));
  with_late = RANDOM_LATE_NONE;
}

static void test_controlled(void **state) {
  (void)state;
  check_with_qr(11001, support_sanitized() ? 1 : support_rounds(1, 100), &with_states);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_controlled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
