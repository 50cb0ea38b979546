/* The proof of gradients by divide and conquer, and with modal bodies and beams. */
#define PROOF_RANDOM 8
#define PROOF_GALLERY 3
#include "property/gradient_proof.h"

/* a loop over a joint on a modal body whose modes move from the start: rates are projected where they have rates of
   their own */
static void test_modal_loop(void **state) {
  (void)state;
  const int before = skipped;
  unit = 1e-3;
  with_modal = true;
  check_random(9085);
  assert_int_equal(skipped, before);
}

int main(void) {
  static const char *const keys[] = {"dca"};
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modal), cmocka_unit_test(test_modal_loop),
                                     cmocka_unit_test(test_beams)};
  beam_step = 5e-4;
  const int failed = gradient_proof(MBG_COUNT(keys), keys);
  return cmocka_run_group_tests(tests, NULL, report) + failed;
}
