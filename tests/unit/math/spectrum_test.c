/* The least eigenvalue of symmetric matrices against all of them, on both sides of the size from which LAPACK finds it
   alone; products by BLAS against plain sums. */
#include "math/spectrum.h"
#include "support/support.h"

#include <string.h>

enum { NMAX = MBG__LEAST_LARGE + 16 };

static mbg_context *make_context(void) {
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  return ctx;
}

/* symmetric, with a spectrum around `shift` */
static void random_symmetric(support_rng *rng, int n, double shift, double *A) {
  support_normals(rng, A, n * n);
  for (int i = 0; i < n; i++) {
    A[i + n * i] += shift;
    for (int j = 0; j < i; j++) {
      A[j + n * i] = A[i + n * j];
    }
  }
}

static void least_is_the_first_of_all(void **state) {
  (void)state;
  static double A[NMAX * NMAX], B[NMAX * NMAX], w[NMAX];
  support_rng rng = support_rng_make(3);
  mbg_context *ctx = make_context();
  for (int n = 1; n <= NMAX; n++) {
    double least;
    random_symmetric(&rng, n, 10.0 * (n % 5 - 2), A);
    memcpy(B, A, sizeof(A));
    assert_int_equal(mbg__eigen_symmetric(ctx, n, A, w), MBG_OK);
    assert_int_equal(mbg__eigen_least(ctx, n, B, &least), MBG_OK);
    const double room = n < MBG__LEAST_LARGE ? 0 : 1e-12 * (fabs(w[0]) + fabs(w[n - 1]));
    assert_true(fabs(least - w[0]) <= room);
  }
  mbg_context_destroy(ctx);
}

static void least_of_nothing_and_of_no_number(void **state) {
  (void)state;
  static double A[NMAX * NMAX];
  mbg_context *ctx = make_context();
  double least = 1;
  assert_int_equal(mbg__eigen_least(ctx, 0, A, &least), MBG_OK);
  assert_true(least == 0);
  for (int n = 2; n <= NMAX; n += NMAX - 2) {
    memset(A, 0, sizeof(A));
    A[n * n - 1] = NAN;
    assert_int_equal(mbg__eigen_least(ctx, n, A, &least), MBG_ERROR_CONVERGENCE);
  }
  mbg_context_destroy(ctx);
}

static void products_are_sums(void **state) {
  (void)state;
  enum { N = 70, M = 9 };
  static double Z[N * M], Y[N * M], A[N * N];
  support_rng rng = support_rng_make(4);
  support_normals(&rng, Z, N * M);
  support_normals(&rng, Y, N * M);
  mbg__product_NT(N, M, Z, Y, A);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < M; k++) {
        sum += Z[i + N * k] * Y[j + N * k];
      }
      assert_true(fabs(A[i + N * j] - sum) <= 1e-13);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(least_is_the_first_of_all),
      cmocka_unit_test(least_of_nothing_and_of_no_number),
      cmocka_unit_test(products_are_sums),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
