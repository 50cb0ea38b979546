/* The proof of gradients in joint coordinates with modal bodies, with beams, and with both, by both iterations. */
#include "property/gradient_proof.h"

static void test_beams_alone(void **state) {
  with_modal = false;
  test_beams(state);
}

static void test_both(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 1 : support_rounds(3, 60), before = skipped;
  with_modal = with_beams = true;
  check_seeds(5000, RANDOM_KINDS + 1, rounds);
  few(skipped - before, rounds / 8);
}

/* a step that is long for its modes, so that Newton needs a matrix for each iteration */
static void test_long_step(void **state) {
  (void)state;
  const int before = skipped;
  with_modal = true;
  with_beams = false;
  unit = 1e-3;
  check_random(9085);
  assert_int_equal(skipped, before);
}

/* "iteration": "augmented" on the same models */
static void test_augmented(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 1 : support_rounds(2, 30), before = skipped;
  run_keys = "\"iteration\": \"augmented\", ";
  with_modal = with_beams = true;
  check_seeds(5000 + 3 * (RANDOM_KINDS + 1), RANDOM_KINDS + 1, rounds);
  few(skipped - before, rounds / 8);
  run_keys = "";
}

int main(void) {
  static const char *const keys[] = {"ali3p"};
  formulations = keys;
  nformulation = MBG_COUNT(keys);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modal), cmocka_unit_test(test_beams_alone),
                                     cmocka_unit_test(test_both), cmocka_unit_test(test_long_step),
                                     cmocka_unit_test(test_augmented)};
  return cmocka_run_group_tests(tests, NULL, report);
}
