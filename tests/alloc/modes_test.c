/* Memory: each allocation of modes with their derivatives is made to fail once, and each failure is reported without a
   leak. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <stdio.h>

static int whole(mbg_context *ctx, const char *path, mbg_modes_at at, double *frequency) {
  const mbg_modes_options opt = {.size = sizeof(opt), .at = at, .count = 3, .gradient = true};
  mbg_model *model = NULL;
  mbg_modes *modes = NULL;
  char *text = NULL;
  int err = mbg_model_load(ctx, path, &model);
  err = err < 0 ? err : mbg_modes_create(ctx, model, &opt, &modes);
  err = err < 0 ? err : mbg_modes_json(ctx, modes, &text);
  *frequency = err < 0 ? 0 : mbg_modes_get_mode(modes, 0)->frequency;
  mbg_text_destroy(ctx, text);
  mbg_modes_destroy(modes);
  mbg_model_destroy(model);
  return err;
}

static void check(const char *name, mbg_modes_at at) {
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

static void test_modes(void **state) {
  (void)state;
  check("quarter-car", MBG_MODES_EQUILIBRIUM);
  check("heavy-top", MBG_MODES_EQUILIBRIUM);
  check("five-bar", MBG_MODES_START);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
