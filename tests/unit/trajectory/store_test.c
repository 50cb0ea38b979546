/* The store: every node comes back, in any order, under every memory limit; runs of known and of unknown length. */
#include "support/support.h"
#include "trajectory/store.h"

#include <string.h>

enum { BYTES = 48, NODES_MAX = 300 };

/* a node whose numbers tell whether it went through every step before it */
typedef struct {
  double n, sum, fill[4];
} node;

static node first_node(void) { return (node){.n = 0, .sum = 0.1}; }

static node next_node(const node *from) { return (node){.n = from->n + 1, .sum = from->sum / 3 + from->n}; }

static int recompute(mbg_context *ctx, void *user, int n, const void *from, void *to) {
  const node before = *(const node *)from, after = next_node(&before);
  (void)ctx;
  (*(long *)user)++;
  assert_true(before.n == n - 1);
  memcpy(to, &after, sizeof after);
  return MBG_OK;
}

static void run(mbg_context *ctx, mbg__store *s, int count, bool known, node *all) {
  assert_int_equal(mbg__store_begin(ctx, s, known ? count : 0), MBG_OK);
  for (int n = 0; n < count; n++) {
    all[n] = n == 0 ? first_node() : next_node(&all[n - 1]);
    assert_int_equal(mbg__store_checkpoint(ctx, s, &all[n]), MBG_OK);
  }
}

static void check(mbg_context *ctx, mbg__store *s, int n, const node *all) {
  const void *got;
  assert_int_equal(mbg__store_restore(ctx, s, n, &got), MBG_OK);
  assert_memory_equal(got, &all[n], sizeof *all);
}

static void check_limit(mbg_context *ctx, int count, double memory, bool known) {
  node all[NODES_MAX];
  mbg__store s;
  long steps = 0;
  assert_int_equal(mbg__store_create(ctx, BYTES, memory, recompute, &steps, &s), MBG_OK);
  for (int again = 0; again < 2; again++) {
    run(ctx, &s, count, known, all);
    for (int n = count - 1; n >= 0; n--) {
      check(ctx, &s, n, all);
    }
    check(ctx, &s, count - 1, all); /* the late nodes once more */
    for (int n = count - 1; n > 0; n--) {
      const void *from, *to;
      assert_int_equal(mbg__store_restore_step(ctx, &s, n, &from, &to), MBG_OK);
      assert_memory_equal(from, &all[n - 1], sizeof *all);
      assert_memory_equal(to, &all[n], sizeof *all);
    }
    assert_memory_equal(mbg__store_first(&s), &all[0], sizeof *all);
    /* a handful of nodes is always there */
    assert_true(memory == 0 || mbg__store_bytes(&s) <= fmax(memory, 3 * BYTES));
    assert_true((s.recomputed > 0) == !mbg__store_complete(&s));
  }
  mbg__store_destroy(&s);
}

static void test_limits(void **state) {
  (void)state;
  static const int counts[] = {1, 2, 3, 7, 64, 300};
  mbg_context *ctx;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  for (int i = 0; i < MBG_COUNT(counts); i++) {
    for (int places = 0; places <= 310; places += places < 20 ? 1 : 29) {
      check_limit(ctx, counts[i], places * BYTES, true);
      check_limit(ctx, counts[i], places * BYTES, false);
    }
  }
  mbg_context_destroy(ctx);
}

/* known length, limit of a tenth: each node is recomputed a few times at most */
static void test_work(void **state) {
  (void)state;
  node all[NODES_MAX];
  mbg_context *ctx;
  mbg__store s;
  long steps = 0;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg__store_create(ctx, BYTES, NODES_MAX / 10 * BYTES, recompute, &steps, &s), MBG_OK);
  run(ctx, &s, NODES_MAX, true, all);
  for (int n = NODES_MAX - 1; n >= 0; n--) {
    check(ctx, &s, n, all);
  }
  /* 15 checkpoints 21 nodes apart and 15 places between them: a stretch is walked twice */
  assert_true(steps == s.recomputed && steps < 3 * NODES_MAX);
  mbg__store_destroy(&s);
  mbg_context_destroy(ctx);
}

/* a store that has forgotten its nodes gives them once more, within its limit */
static void test_forget(void **state) {
  (void)state;
  node all[NODES_MAX];
  mbg_context *ctx;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  for (int count = 1; count <= NODES_MAX; count += 37) {
    for (int places = 3; places <= 2 * NODES_MAX; places *= 3) {
      mbg__store s;
      long steps = 0;
      assert_int_equal(mbg__store_create(ctx, BYTES, places * BYTES, recompute, &steps, &s), MBG_OK);
      run(ctx, &s, count, places % 2, all);
      mbg__store_forget(&s);
      assert_true(count < 2 || mbg__store_bytes(&s) == BYTES);
      for (int again = 0; again < 2; again++) {
        for (int n = count - 1; n >= 0; n--) {
          check(ctx, &s, n, all);
        }
      }
      assert_true(mbg__store_bytes(&s) <= places * BYTES);
      run(ctx, &s, count, places % 2, all);
      check(ctx, &s, count - 1, all);
      mbg__store_destroy(&s);
    }
  }
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits), cmocka_unit_test(test_work),
                                     cmocka_unit_test(test_forget)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
