/* Context: messages, status texts, behaviour when out of memory. */
#include "base/base.h"
#include "mbgrad/version.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

static void test_version(void **state) {
  (void)state;
  char text[32];
  snprintf(text, sizeof(text), "%d.%d.%d", MBG_VERSION_MAJOR, MBG_VERSION_MINOR, MBG_VERSION_PATCH);
  assert_string_equal(mbg_version(), MBG_VERSION);
  assert_string_equal(mbg_version(), text);
  assert_int_equal(mbg_version_number(), 10000 * MBG_VERSION_MAJOR + 100 * MBG_VERSION_MINOR + MBG_VERSION_PATCH);
}

static void test_status_texts(void **state) {
  (void)state;
  static const struct {
    int value;
    const char *text;
  } list[] = {{MBG_OK, "done"},
              {MBG_ERROR_MEMORY, "out of memory"},
              {MBG_ERROR_INPUT, "bad input: a model, an option or an argument is wrong"},
              {MBG_ERROR_IO, "a file could not be read or written"},
              {MBG_ERROR_SINGULAR, "a system of equations is singular"},
              {MBG_ERROR_CONVERGENCE, "an iteration did not converge"},
              {MBG_ERROR_UNSUPPORTED, "the formulation or method does not support the request"},
              {MBG_ERROR_INTERRUPTED, "the interrupt callback stopped the computation"}};
  for (int i = 0; i < MBG_COUNT(list); i++) {
    assert_int_equal(list[i].value, -i);
    assert_string_equal(mbg_status_text(list[i].value), list[i].text);
  }
  assert_string_equal(mbg_status_text(-MBG_COUNT(list)), "unknown status");
  assert_string_equal(mbg_status_text(1), "unknown status");
  assert_string_equal(mbg_status_text(-1000), "unknown status");
}

static void test_empty(void **state) {
  (void)state;
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_string_equal(mbg_context_error(ctx), "");
  assert_int_equal(mbg_context_message_count(ctx), 0);
  assert_int_equal(mbg__error_count(ctx), 0);
  assert_string_equal(mbg_context_message(ctx, 0), "");
  assert_string_equal(mbg_context_message(ctx, -1), "");
  mbg_context_destroy(ctx);
  mbg_context_destroy(NULL);
}

static void test_messages(void **state) {
  (void)state;
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);

  /* a note is not an error; the first error is the one that is remembered */
  mbg__note(ctx, MBG_WARNING, "body '%s': no mass", "bob");
  assert_string_equal(mbg_context_error(ctx), "");
  assert_int_equal(mbg__fail(ctx, MBG_ERROR_INPUT, "joint %d: first", 1), MBG_ERROR_INPUT);
  assert_int_equal(mbg__fail(ctx, MBG_ERROR_IO, "joint %d: second", 2), MBG_ERROR_IO);
  assert_string_equal(mbg_context_error(ctx), "joint 1: first");
  assert_int_equal(mbg__error_count(ctx), 2);

  /* all of them, in order */
  assert_int_equal(mbg_context_message_count(ctx), 3);
  assert_int_equal(mbg_context_message_severity(ctx, 0), MBG_WARNING);
  assert_int_equal(mbg_context_message_severity(ctx, 1), MBG_ERROR);
  assert_string_equal(mbg_context_message(ctx, 0), "body 'bob': no mass");
  assert_string_equal(mbg_context_message(ctx, 2), "joint 2: second");

  mbg_context_clear(ctx);
  assert_int_equal(mbg_context_message_count(ctx), 0);
  assert_int_equal(mbg__error_count(ctx), 0);
  assert_string_equal(mbg_context_error(ctx), "");
  mbg_context_destroy(ctx);
}

static void test_too_many_messages(void **state) {
  (void)state;
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  for (int i = 0; i < MBG__MESSAGE_MAX + 7; i++) {
    mbg__fail(ctx, MBG_ERROR_INPUT, "error %d", i);
  }
  assert_int_equal(mbg__error_count(ctx), MBG__MESSAGE_MAX + 7);
  assert_int_equal(mbg_context_message_count(ctx), MBG__MESSAGE_MAX + 1);
  assert_string_equal(mbg_context_message(ctx, MBG__MESSAGE_MAX - 1), "error 99");
  assert_string_equal(mbg_context_message(ctx, MBG__MESSAGE_MAX), "(7 more messages)");
  mbg_context_destroy(ctx);
}

static void test_long_message(void **state) {
  (void)state;
  char text[5000];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = 0;
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  mbg__fail(ctx, MBG_ERROR_INPUT, "%s", text);
  assert_true(strlen(mbg_context_error(ctx)) < sizeof(text));
  assert_int_equal(strncmp(text, mbg_context_error(ctx), strlen(mbg_context_error(ctx))), 0);
  mbg_context_destroy(ctx);
}

/* files more messages than are kept, with every allocation failing in turn */
static void test_out_of_memory(void **state) {
  (void)state;
  for (int once = 0; once < 2; once++) {
    for (long n = 1;; n++) {
      support_memory memory = {.fail_at = n, .once = once};
      const mbg_allocator allocator = support_allocator(&memory);
      mbg_context *ctx = NULL;
      const int status = mbg_context_create(&allocator, &ctx);
      assert_int_equal(status, n == 1 ? MBG_ERROR_MEMORY : MBG_OK);
      if (status < 0) {
        assert_null(ctx);
        assert_int_equal(memory.live, 0);
        continue;
      }
      for (int i = 0; i < MBG__MESSAGE_MAX + 3; i++) {
        mbg__fail(ctx, MBG_ERROR_INPUT, "error %d", i);
      }
      assert_int_equal(mbg__fail_memory(ctx), MBG_ERROR_MEMORY);

      /* the first error survives without memory */
      assert_string_equal(mbg_context_error(ctx), "error 0");
      assert_int_equal(mbg__error_count(ctx), MBG__MESSAGE_MAX + 4);
      mbg_context_destroy(ctx);
      assert_int_equal(memory.live, 0);
      if (memory.requests < n) {
        break;
      }
    }
  }
}

static void test_blocks(void **state) {
  (void)state;
  support_memory memory = {0};
  const mbg_allocator allocator = support_allocator(&memory);
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(&allocator, &ctx), MBG_OK);

  double *x = mbg__alloc_zero(ctx, 100, sizeof(*x));
  for (int i = 0; i < 100; i++) {
    assert_true(x[i] == 0);
    x[i] = i;
  }
  x = mbg__resize(ctx, x, 1000, sizeof(*x));
  assert_non_null(x);
  assert_true(x[99] == 99);
  mbg__free(ctx, x);
  mbg__free(ctx, NULL);

  /* nothing asked for is still a block; a product that overflows is not asked for at all */
  void *empty = mbg__alloc(ctx, 0, sizeof(double));
  assert_non_null(empty);
  mbg__free(ctx, empty);
  const long requests = memory.requests;
  assert_null(mbg__alloc(ctx, SIZE_MAX / 2, 4));
  assert_null(mbg__alloc_zero(ctx, 4, SIZE_MAX / 2));
  assert_null(mbg__resize(ctx, NULL, SIZE_MAX, SIZE_MAX));
  assert_int_equal(memory.requests, requests);

  mbg_context_destroy(ctx);
  assert_int_equal(memory.live, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_version),      cmocka_unit_test(test_status_texts),
      cmocka_unit_test(test_empty),        cmocka_unit_test(test_messages),
      cmocka_unit_test(test_blocks),       cmocka_unit_test(test_too_many_messages),
      cmocka_unit_test(test_long_message), cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
