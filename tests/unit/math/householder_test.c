/* Orthogonal factors without exchanges: Q R = A, Q^T Q = 1, solutions with R, dependent columns; on both sides of the
   sizes from which LAPACK does the work, full and with envelopes. */
#include "math/householder.h"
#include "support/support.h"

#include <string.h>

enum { MMAX = 100, CMAX = 12 };

static mbg__arena make_arena(support_memory *memory) {
  mbg__arena arena;
  const mbg_allocator allocator = support_allocator(memory);
  mbg__arena_init(&arena, &allocator);
  return arena;
}

/* a random envelope: columns of at most `most` rows, which move down as those of a chain do; A outside becomes 0 */
static void make_envelope(support_rng *rng, int m, int n, int most, double *A, int *first, int *end) {
  for (int k = 0; k < n; k++) {
    first[k] = support_index(rng, most) + k * (m - n) / (n + 1);
    first[k] = first[k] + k / 2 < m ? first[k] + k / 2 : m - 1;
    end[k] = first[k] + 1 + support_index(rng, most);
    end[k] = end[k] > k ? end[k] : k + 1;
    end[k] = end[k] < m ? end[k] : m;
    for (int i = 0; i < m; i++) {
      A[m * k + i] = i >= first[k] && i < end[k] ? A[m * k + i] : 0;
    }
  }
}

/* 1e-13: m eps times the length of a column, about sqrt(m); most: rows of a column, 0: all */
static void check_factors(support_rng *rng, int m, int n, int most) {
  static double A[MMAX * MMAX], C[MMAX * MMAX];
  support_memory memory = {0};
  mbg__arena arena = make_arena(&memory);
  mbg__householder q;
  assert_int_equal(mbg__householder_prepare(&q, &arena, m, n), MBG_OK);
  const long requests = memory.requests;
  support_normals(rng, A, m * n);
  if (most > 0) {
    int first[MMAX], end[MMAX];
    make_envelope(rng, m, n, most, A, first, end);
    mbg__householder_envelope(&q, first, end);
  }
  memcpy(q.A, A, sizeof *A * (size_t)(m * n));
  mbg__householder_factor(&q);

  /* Q R = A, all columns at once and one by one */
  for (int single = 0; single < 2; single++) {
    for (int i = 0; i < m * n; i++) {
      C[i] = i % m <= i / m ? q.A[i] : 0;
    }
    if (!single) {
      mbg__householder_mul(&q, C, n);
    }
    for (int k = 0; single && k < n; k++) {
      mbg__householder_mul(&q, C + m * k, 1);
    }
    assert_close_array(C, A, m * n, 1e-13);
  }

  /* Q^T Q = 1 on random columns, few and many */
  static double X[MMAX * CMAX];
  for (int ncol = 1; ncol <= CMAX; ncol += CMAX - 1) {
    support_normals(rng, X, m * ncol);
    memcpy(C, X, sizeof *X * (size_t)(m * ncol));
    mbg__householder_mul(&q, C, ncol);
    mbg__householder_mul_T(&q, C, ncol);
    assert_close_array(C, X, m * ncol, 1e-13);
  }
  assert_int_equal(memory.requests, requests);
  mbg__arena_destroy(&arena);
}

static void factors_give_the_matrix_back(void **state) {
  (void)state;
  support_rng rng = support_rng_make(11);
  for (int m = 1; m <= MMAX; m += m < 12 ? 1 : 7) {
    for (int most = 0; most < 12; most += 5) {
      check_factors(&rng, m, 0, most);
      check_factors(&rng, m, (m + 1) / 2, most);
      check_factors(&rng, m, m, most);
    }
  }
}

/* x = R^-1 R x and x = R^-T R^T x; strong diagonals keep the condition low */
static void solves_with_R(void **state) {
  (void)state;
  support_rng rng = support_rng_make(12);
  for (int n = 1; n <= MMAX; n += 9) {
    support_memory memory = {0};
    mbg__arena arena = make_arena(&memory);
    mbg__householder q;
    double x[MMAX], b[MMAX] = {0}, bt[MMAX] = {0};
    assert_int_equal(mbg__householder_prepare(&q, &arena, n, n), MBG_OK);
    support_normals(&rng, q.A, n * n);
    for (int i = 0; i < n; i++) {
      q.A[i + n * i] += 3 * sqrt(n);
    }
    mbg__householder_factor(&q);
    support_normals(&rng, x, n);
    for (int j = 0; j < n; j++) {
      for (int i = 0; i <= j; i++) {
        b[i] += q.A[i + n * j] * x[j];
        bt[j] += q.A[i + n * j] * x[i];
      }
    }
    mbg__householder_solve(&q, b);
    mbg__householder_solve_T(&q, bt);
    assert_close_array(b, x, n, 1e-13);
    assert_close_array(bt, x, n, 1e-13);
    mbg__arena_destroy(&arena);
  }
}

/* the ratio finds a dependent column, whatever the scale of the matrix */
static void the_ratio_finds_dependent_columns(void **state) {
  (void)state;
  const double scales[] = {1, 1e-150, 1e150};
  const int m = 9, n = 6;
  support_rng rng = support_rng_make(13);
  for (int s = 0; s < 3; s++) {
    support_memory memory = {0};
    mbg__arena arena = make_arena(&memory);
    mbg__householder q;
    int where = -1;
    assert_int_equal(mbg__householder_prepare(&q, &arena, m, n), MBG_OK);
    support_normals(&rng, q.A, m * n);
    for (int i = 0; i < m; i++) {
      q.A[i + m * 4] = q.A[i + m] - 2 * q.A[i + m * 3];
    }
    for (int i = 0; i < m * n; i++) {
      q.A[i] *= scales[s];
    }
    mbg__householder_factor(&q);
    assert_true(mbg__householder_ratio(&q, &where) < 1e-14);
    assert_int_equal(where, 4);
    mbg__arena_destroy(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_give_the_matrix_back),
      cmocka_unit_test(solves_with_R),
      cmocka_unit_test(the_ratio_finds_dependent_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
