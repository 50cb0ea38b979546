/* The proof of gradients by divide and conquer, and with modal bodies. */
#define PROOF_RANDOM 8
#define PROOF_GALLERY 3
#include "property/gradient_proof.h"

int main(void) {
  static const char *const keys[] = {"dca"};
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modal)};
  const int failed = gradient_proof(MBG_COUNT(keys), keys);
  return cmocka_run_group_tests(tests, NULL, report) + failed;
}
