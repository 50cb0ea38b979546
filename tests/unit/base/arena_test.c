/* Arena: alignment, cleared memory, growth, failing allocations. */
#include "base/base.h"
#include "support/support.h"

#include <string.h>

enum { BLOCKS = 2000 };

static void test_blocks_stay(void **state) {
  (void)state;
  support_memory memory = {0};
  const mbg_allocator allocator = support_allocator(&memory);
  mbg__arena arena;
  mbg__arena_init(&arena, &allocator);

  /* blocks of many sizes: aligned, cleared, apart from each other */
  support_rng rng = support_rng_make(1);
  unsigned char *block[BLOCKS];
  size_t size[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    size[i] = (size_t)support_index(&rng, i % 100 == 0 ? 200000 : 300);
    block[i] = mbg__arena_take(&arena, size[i], 1);
    assert_non_null(block[i]);
    assert_int_equal((uintptr_t)block[i] % _Alignof(max_align_t), 0);
    for (size_t k = 0; k < size[i]; k++) {
      assert_int_equal(block[i][k], 0);
    }
    memset(block[i], i % 251 + 1, size[i]);
  }
  for (int i = 0; i < BLOCKS; i++) {
    for (size_t k = 0; k < size[i]; k++) {
      assert_int_equal(block[i][k], i % 251 + 1);
    }
  }

  /* few chunks, and the count of bytes covers what was taken */
  size_t total = 0;
  for (int i = 0; i < BLOCKS; i++) {
    total += size[i];
  }
  assert_true(arena.bytes >= total);
  assert_true(memory.requests < 20);
  mbg__arena_destroy(&arena);
  assert_int_equal(memory.live, 0);
  assert_int_equal(arena.bytes, 0);

  /* an arena that was destroyed may be used again */
  assert_non_null(mbg__arena_take(&arena, 3, 8));
  mbg__arena_destroy(&arena);
  mbg__arena_destroy(&arena);
  assert_int_equal(memory.live, 0);
}

static void test_typed_and_text(void **state) {
  (void)state;
  support_memory memory = {0};
  const mbg_allocator allocator = support_allocator(&memory);
  mbg__arena arena;
  mbg__arena_init(&arena, &allocator);
  double *x = MBG_TAKE(&arena, double, 10);
  x[9] = 1;
  char *text = mbg__arena_text(&arena, "crank and rod", 5);
  assert_string_equal(text, "crank");
  assert_string_equal(mbg__arena_text(&arena, "", 0), "");
  assert_true(x[9] == 1);
  mbg__arena_destroy(&arena);
  assert_int_equal(memory.live, 0);
}

static void test_too_large(void **state) {
  (void)state;
  support_memory memory = {0};
  const mbg_allocator allocator = support_allocator(&memory);
  mbg__arena arena;
  mbg__arena_init(&arena, &allocator);
  assert_null(mbg__arena_take(&arena, SIZE_MAX, SIZE_MAX));
  assert_null(mbg__arena_take(&arena, SIZE_MAX / 8, 16));
  assert_int_equal(memory.requests, 0);
  mbg__arena_destroy(&arena);
}

static void test_out_of_memory(void **state) {
  (void)state;
  for (long n = 1;; n++) {
    support_memory memory = {.fail_at = n, .once = true};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg__arena arena;
    mbg__arena_init(&arena, &allocator);
    bool failed = false;
    for (int i = 0; i < 100; i++) {
      const char *text = mbg__arena_text(&arena, "a word", 6);
      const double *x = MBG_TAKE(&arena, double, 5000);
      assert_false(failed && (text || x)); /* nothing is handed out after a failure */
      failed = !text || !x;
    }
    assert_int_equal(failed, memory.requests >= n);
    mbg_context *ctx = NULL;
    assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
    assert_int_equal(mbg__arena_check(ctx, &arena), failed ? MBG_ERROR_MEMORY : MBG_OK);
    assert_int_equal(mbg__error_count(ctx), failed);
    mbg_context_destroy(ctx);
    mbg__arena_destroy(&arena);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      assert_true(n > 2);
      break;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_stay),
      cmocka_unit_test(test_typed_and_text),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
