/* Text: bounded formatting, the nearest word. */
#include "base/base.h"
#include "support/support.h"

#include <string.h>

static const char *const joints[] = {"fixed",  "revolute", "prismatic", "cylindrical",   "universal",     "spherical",
                                     "planar", "screw",    "distance",  "point-on-line", "point-on-plane"};

static const char *nearest(const char *word) { return mbg__nearest(word, joints, MBG_COUNT(joints)); }

static void test_nearest(void **state) {
  (void)state;
  /* the word itself; a letter missing, added, changed; neighbours swapped */
  assert_string_equal(nearest("revolute"), "revolute");
  assert_string_equal(nearest("revolut"), "revolute");
  assert_string_equal(nearest("revolutes"), "revolute");
  assert_string_equal(nearest("revolote"), "revolute");
  assert_string_equal(nearest("rveolute"), "revolute");
  assert_string_equal(nearest("scrwe"), "screw");
  assert_string_equal(nearest("spheric"), "spherical");
  assert_string_equal(nearest("point-on-lien"), "point-on-line");
}

static void test_nothing_near(void **state) {
  (void)state;
  assert_null(nearest("hinge"));
  assert_null(nearest("x"));
  assert_null(nearest(""));
  assert_null(mbg__nearest("revolute", joints, 0));
}

static void test_distance(void **state) {
  (void)state;
  /* a word of n letters has a candidate within (n + 2)/3 edits: here 2 and 3 edits of 6 letters */
  const char *const two[] = {"spxing"}, *const three[] = {"xxxing"};
  assert_string_equal(mbg__nearest("sprign", two, 1), "spxing");
  assert_null(mbg__nearest("spring", three, 1));

  /* a swap of neighbours counts once: one edit is all a word of three letters allows */
  const char *const swap[] = {"abc"};
  assert_string_equal(mbg__nearest("acb", swap, 1), "abc");
  assert_null(mbg__nearest("cab", swap, 1));

  /* the nearer one wins; of two equal ones the first */
  const char *const many[] = {"damping", "damper", "dampen"};
  assert_string_equal(mbg__nearest("damped", many, 3), "damper");
}

static void test_long_words(void **state) {
  (void)state;
  /* 63 letters are the longest word that is compared */
  char a[64], b[64];
  memset(a, 'a', 63);
  a[63] = 0;
  memcpy(b, a, 64);
  b[62] = 'b';
  const char *const candidates[] = {b};
  assert_string_equal(mbg__nearest(a, candidates, 1), b);
}

static void test_format(void **state) {
  (void)state;
  char buffer[8];
  mbg__format(buffer, sizeof(buffer), "%d-%s", 12, "ab");
  assert_string_equal(buffer, "12-ab");
  mbg__format(buffer, sizeof(buffer), "%s", "longer than the buffer");
  assert_string_equal(buffer, "longer ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nearest),    cmocka_unit_test(test_nothing_near), cmocka_unit_test(test_distance),
      cmocka_unit_test(test_long_words), cmocka_unit_test(test_format),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
