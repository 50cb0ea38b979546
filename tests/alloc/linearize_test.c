/* Memory: each allocation of linear models with their derivatives is made to fail once, and each failure is reported
   without a leak. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <stdio.h>

static int whole(mbg_context *ctx, const char *path, mbg_linearize_at at, double *value) {
  mbg_linearize_options opt;
  mbg_model *model = NULL;
  mbg_linearize *linear = NULL;
  char *text = NULL;
  int count;
  mbg_linearize_options_default(&opt, sizeof(opt));
  opt.at = at;
  opt.gradient = true;
  opt.ninput = 1;
  opt.inputs = (const char *const[]){"m1"};
  int err = mbg_model_load(ctx, path, &model);
  err = err < 0 ? err : mbg_linearize_create(ctx, model, &opt, &linear);
  err = err < 0 ? err : mbg_linearize_zeros(ctx, linear, -1, -1, &count, NULL, NULL);
  err = err < 0 ? err : mbg_linearize_json(ctx, linear, &text);
  *value = err < 0 ? 0 : mbg_linearize_matrix(linear, 'A', NULL, NULL)[2];
  mbg_text_destroy(ctx, text);
  mbg_linearize_destroy(linear);
  mbg_model_destroy(model);
  return err;
}

static void check(const char *name, mbg_linearize_at at) {
  char path[1024];
  double expected, got;
  mbg_context *ctx;
  snprintf(path, sizeof(path), "%s/%s", MBG_GALLERY_DIR, name);
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(whole(ctx, path, at, &expected), MBG_OK);
  mbg_context_destroy(ctx);
  for (long n = 2;; n++) {
    support_memory memory = {.fail_at = n, .once = n % 2 == 0};
    const mbg_allocator allocator = support_allocator(&memory);
    assert_int_equal(mbg_context_create(&allocator, &ctx), MBG_OK);
    const int err = whole(ctx, path, at, &got);
    const long asked = memory.requests;
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (asked < n) {
      assert_int_equal(err, MBG_OK);
      assert_true(n > 100);
      return;
    }
    /* a message that finds no memory is lost; nothing else may survive a failure */
    if (err != MBG_ERROR_MEMORY && (err != MBG_OK || got != expected)) {
      fail_msg("%s: allocation %ld: status %d", name, n, err);
    }
  }
}

static void test_linearize(void **state) {
  (void)state;
  check("five-bar", MBG_LINEARIZE_EQUILIBRIUM);
  check("five-bar", MBG_LINEARIZE_START);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_linearize)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
