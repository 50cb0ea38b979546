/* Loops in threads: every item once, thread numbers in range, loops inside loops, pools without threads. */
#include "base/pool.h"
#include "support/support.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000 };

typedef struct {
  mbg__pool *pool;
  int threads;
  atomic_int count[ITEMS];
  atomic_int wrong;
  double x[ITEMS];
  bool nested;
} job;

static void count_inner(void *user, int thread, int first, int end) {
  job *j = user;
  atomic_fetch_add(&j->wrong, thread != 0);
  atomic_fetch_add(&j->count[0], end - first);
}

static void count_items(void *user, int thread, int first, int end) {
  job *j = user;
  atomic_fetch_add(&j->wrong, thread < 0 || thread >= j->threads || first >= end);
  for (int i = first; i < end; i++) {
    double x = i;
    for (int k = 0; k < 50; k++) {
      x = sqrt(x * x + 1);
    }
    j->x[i] = x;
    atomic_fetch_add(&j->count[i], 1);
    if (j->nested && i > 0) {
      mbg__pool_for(j->pool, 1, 3, 1, count_inner, j);
    }
  }
}

static void every_item_once(void **state) {
  (void)state;
  static double first[ITEMS];
  static const int threads[] = {0, 1, 2, 3, 8}, sizes[] = {1, 2, 7, 64, ITEMS}, pieces[] = {1, 5, 64, 2 * ITEMS};
  for (int t = 0; t < 5; t++) {
    mbg_context *ctx;
    mbg__pool *pool;
    assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
    assert_int_equal(mbg__pool_create(ctx, threads[t], &pool), MBG_OK);
    assert_in_range(mbg__pool_threads(pool), 1, threads[t] > 1 ? threads[t] : 1);
    for (int round = 0; round < 400; round++) {
      static job j;
      const int n = sizes[round % 5], piece = pieces[round % 4];
      memset(&j, 0, sizeof(j));
      j.pool = pool;
      j.threads = mbg__pool_threads(pool);
      mbg__pool_for(pool, round % 200, n, piece, count_items, &j);
      for (int i = 0; i < ITEMS; i++) {
        assert_int_equal(atomic_load(&j.count[i]), i < n);
      }
      assert_int_equal(atomic_load(&j.wrong), 0);
      if (t == 0 && n == ITEMS) {
        memcpy(first, j.x, sizeof(first));
      }
      assert_memory_equal(j.x, t == 0 && n < ITEMS ? j.x : first, (size_t)n * sizeof(double));
    }
    mbg__pool_destroy(pool);
    mbg_context_destroy(ctx);
  }
}

static void loops_inside_loops_are_not_shared(void **state) {
  (void)state;
  mbg_context *ctx;
  mbg__pool *pool;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg__pool_create(ctx, 3, &pool), MBG_OK);
  for (int round = 0; round < 50; round++) {
    static job j;
    memset(&j, 0, sizeof(j));
    j.pool = pool;
    j.threads = 3;
    j.nested = true;
    mbg__pool_for(pool, 0, 100, 3, count_items, &j);
    assert_int_equal(atomic_load(&j.wrong), 0);
    assert_int_equal(atomic_load(&j.count[0]), 1 + 3 * 99);
  }
  mbg__pool_destroy(pool);
  mbg__pool_destroy(NULL);
  mbg_context_destroy(ctx);
}

static void vectors_are_cleared(void **state) {
  (void)state;
  enum { MANY = 40000 };
  mbg_context *ctx;
  mbg__pool *pool;
  real *x = malloc((MANY + 2) * sizeof *x);
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg__pool_create(ctx, 4, &pool), MBG_OK);
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < MANY + 2; i++) {
      x[i] = 1;
    }
    mbg__pool_zero(round % 2 ? pool : NULL, 2, MANY, x + 1);
    for (int i = 0; i < MANY + 2; i++) {
      assert_true(x[i] == (i == 0 || i == MANY + 1));
    }
  }
  free(x);
  mbg__pool_destroy(pool);
  mbg_context_destroy(ctx);
}

static void no_pool_is_the_caller(void **state) {
  (void)state;
  static job j;
  memset(&j, 0, sizeof(j));
  j.threads = 1;
  mbg__pool_for(NULL, 0, 10, 2, count_items, &j);
  mbg__pool_for(NULL, 0, 0, 2, count_items, &j);
  assert_int_equal(mbg__pool_threads(NULL), 1);
  for (int i = 0; i < ITEMS; i++) {
    assert_int_equal(atomic_load(&j.count[i]), i < 10);
  }
  assert_int_equal(atomic_load(&j.wrong), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_item_once),
      cmocka_unit_test(loops_inside_loops_are_not_shared),
      cmocka_unit_test(vectors_are_cleared),
      cmocka_unit_test(no_pool_is_the_caller),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
