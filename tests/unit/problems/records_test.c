/* Folders of records: what is added is read back bit by bit, plans that differ are refused, identities tell models,
   options and numbers apart, and each allocation is made to fail once. */
#include "mbgrad/mbgrad.h"

#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const inputs[] = {"a"}, *const outputs[] = {"x, y", "z"};
static const mbg_records_plan plan = {"test", "model", "0123456789abcdef", 4, 1, 2, inputs, outputs};

static void make_folder(char *folder) {
  strcpy(folder, "/tmp/mbgrad-records-XXXXXX");
  assert_non_null(mkdtemp(folder));
}

static void remove_folder(const char *folder) {
  char command[128];
  snprintf(command, sizeof(command), "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

static void test_round_trip(void **state) {
  (void)state;
  char folder[64];
  mbg_context *ctx;
  mbg_records *r;
  const double row[] = {0.1, -0.0, 5e-324}, bad[] = {2, 0, 0};
  make_folder(folder);
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_records_create(ctx, folder, &plan, &r), MBG_OK);
  assert_int_equal(mbg_records_add(ctx, r, 3, 1, row), MBG_OK);
  assert_int_equal(mbg_records_add(ctx, r, 1, MBG_ERROR_SINGULAR, bad), MBG_OK);
  assert_int_equal(mbg_records_add(ctx, r, 2, MBG_ERROR_INTERRUPTED, row), MBG_OK);
  assert_int_equal(mbg_records_add(ctx, r, 4, 1, row), MBG_ERROR_INPUT);
  assert_int_equal(mbg_records_sync(ctx, r), MBG_OK);
  mbg_records_destroy(r);
  assert_int_equal(mbg_records_create(ctx, folder, NULL, &r), MBG_OK);
  const mbg_records_summary *s = mbg_records_get_summary(r);
  assert_true(s->done == 1 && s->failed == 1 && s->missing == 2 && s->damaged == 0 && s->files == 1);
  assert_string_equal(mbg_records_get_plan(r)->outputs[0], "x, y");
  assert_memory_equal(mbg_records_row(r, 3), row, sizeof(row));
  assert_int_equal(mbg_records_status(r, 1), MBG_ERROR_SINGULAR);
  assert_true(mbg_records_row(r, 1)[0] == 2 && isnan(mbg_records_row(r, 1)[1]));
  assert_null(mbg_records_row(r, 2));
  assert_null(mbg_records_row(r, -1));
  mbg_records_destroy(r);
  mbg_records_plan other = plan;
  other.identity = "0123456789abcdee";
  assert_int_equal(mbg_records_create(ctx, folder, &other, &r), MBG_ERROR_INPUT);
  mbg_context_destroy(ctx);
  remove_folder(folder);
}

static void test_identity(void **state) {
  (void)state;
  mbg_context *ctx;
  mbg_model *model;
  mbg_run_options o;
  char a[MBG_RECORDS_IDENTITY_SIZE], b[MBG_RECORDS_IDENTITY_SIZE], path[1024];
  const double x[] = {1, 2}, y[] = {1, 3};
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  snprintf(path, sizeof(path), "%s/five-bar", MBG_GALLERY_DIR);
  assert_int_equal(mbg_model_load(ctx, path, &model), MBG_OK);
  mbg_run_options_default(&o, sizeof(o));
  assert_int_equal(mbg_records_identity(ctx, model, NULL, 2, x, a), MBG_OK);
  assert_int_equal(mbg_records_identity(ctx, model, &o, 2, x, b), MBG_OK);
  assert_string_equal(a, b);
  assert_int_equal(mbg_records_identity(ctx, model, &o, 2, y, b), MBG_OK);
  assert_string_not_equal(a, b);
  o.end = 0.5;
  assert_int_equal(mbg_records_identity(ctx, model, &o, 2, x, b), MBG_OK);
  assert_string_not_equal(a, b);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
}

static int whole(mbg_context *ctx, const char *folder) {
  mbg_records *r = NULL, *again = NULL;
  const double row[] = {1, 2, 3};
  int err = mbg_records_create(ctx, folder, &plan, &r);
  err = err < 0 ? err : mbg_records_add(ctx, r, 0, 1, row);
  err = err < 0 ? err : mbg_records_create(ctx, folder, NULL, &again);
  mbg_records_destroy(again);
  mbg_records_destroy(r);
  return err;
}

static void test_memory(void **state) {
  (void)state;
  for (long n = 2;; n++) {
    char folder[64];
    make_folder(folder); /* empty: what is read takes memory, too */
    support_memory memory = {.fail_at = n, .once = n % 2 == 0};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx;
    assert_int_equal(mbg_context_create(&allocator, &ctx), MBG_OK);
    const int err = whole(ctx, folder);
    const long asked = memory.requests;
    mbg_context_destroy(ctx);
    remove_folder(folder);
    assert_int_equal(memory.live, 0);
    if (asked < n) {
      assert_int_equal(err, MBG_OK);
      assert_true(n > 10);
      break;
    }
    assert_true(err == MBG_ERROR_MEMORY || err == MBG_OK);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
