/* Factorizations by LAPACK in two threads at once give the bits of one thread (math/lapack.h). Without the lock about
   one of a hundred is wrong: 2000 in each thread find it. */
#include "math/dense.h"
#include "math/lapack.h"
#include "support/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void dposv_(const char *uplo, const int *n, const int *nrhs, double *A, const int *lda, double *B, const int *ldb,
            int *info, size_t length);

enum { N = 64, SMALL = 12, ROUNDS = 2000 };

typedef struct {
  mbg__lu lu;
  double A[N * N], first[N * N];
  int wrong;
} job;

static void fill(job *j, int seed) {
  support_rng rng = support_rng_make((uint64_t)seed);
  support_normals(&rng, j->A, N * N);
}

/* the same matrix again and again; lu of the first round is what all must be */
static void *factor(void *user) {
  job *j = user;
  for (int round = 0; round < ROUNDS; round++) {
    memcpy(j->lu.A, j->A, sizeof j->A);
    (void)mbg__lu_factor(&j->lu, NULL);
    if (round == 0) {
      memcpy(j->first, j->lu.A, sizeof j->first);
    }
    j->wrong += memcmp(j->first, j->lu.A, sizeof j->first) != 0;
  }
  return NULL;
}

/* A = 2 n I + a symmetric part, as the modes solve it */
static void *solve(void *user) {
  job *j = user;
  const int n = SMALL, one = 1;
  for (int round = 0; round < 10 * ROUNDS; round++) {
    double A[SMALL * SMALL], x[SMALL];
    int info;
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < n; k++) {
        A[i + n * k] = j->A[i + n * k] + j->A[k + n * i] + (i == k ? 4 * n : 0);
      }
      x[i] = i + 1;
    }
    MBG__LAPACK(dposv_("L", &n, &one, A, &n, x, &n, &info, 1));
    if (round == 0) {
      memcpy(j->first, x, sizeof x);
    }
    j->wrong += memcmp(j->first, x, sizeof x) != 0;
  }
  return NULL;
}

static void run_two(void *(*work)(void *)) {
  support_memory memory = {0};
  const mbg_allocator allocator = support_allocator(&memory);
  mbg__arena arena;
  pthread_t threads[2];
  job *jobs = calloc(2, sizeof *jobs);
  assert_non_null(jobs);
  mbg__arena_init(&arena, &allocator);
  for (int i = 0; i < 2; i++) {
    fill(&jobs[i], i + 1);
    assert_int_equal(mbg__lu_prepare(&jobs[i].lu, &arena, N), MBG_OK);
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(jobs[i].wrong, 0);
  }
  mbg__arena_destroy(&arena);
  free(jobs);
}

static void test_factors(void **state) {
  (void)state;
  run_two(factor);
}

static void test_solutions(void **state) {
  (void)state;
  run_two(solve);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_factors), cmocka_unit_test(test_solutions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
