/* Transmission zeros of planted systems: transfer functions with given zeros in every relative degree, states that
   nothing reaches or sees, several inputs and outputs, and no transfer at all. */
#include "math/zeros.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { N = 6 };

/* x' in companion form of poles -1 .. -n, y = product of (s - zero) over the first nz */
typedef struct {
  int n;
  double A[N * N], B[N], C[N], D;
} plant;

static void multiply(double *p, int degree, double root) {
  for (int i = degree + 1; i >= 0; i--) {
    p[i] = (i > 0 ? p[i - 1] : 0) - (i <= degree ? root * p[i] : 0);
  }
}

static plant make(int n, int nz, const double *zeros) {
  plant s = {.n = n};
  double den[N + 2] = {1}, num[N + 2] = {3};
  for (int i = 0; i < n; i++) {
    multiply(den, i, -1 - i);
  }
  for (int i = 0; i < nz; i++) {
    multiply(num, i, zeros[i]);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      s.A[i * n + j] = i + 1 < n ? (j == i + 1) : -den[j];
    }
    s.B[i] = i + 1 == n;
    s.C[i] = num[i] - (nz == n ? num[n] * den[i] : 0);
  }
  s.D = nz == n ? num[n] : 0;
  return s;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void test_planted(void **state) {
  (void)state;
  static const double zeros[N] = {-7.5, -4.25, -0.5, 0.75, 2.5, 11};
  mbg_context *ctx;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  for (int n = 1; n <= N; n++) {
    for (int nz = 0; nz <= n; nz++) {
      const plant s = make(n, nz, zeros);
      double re_[N], im_[N];
      int count = -1, rank = -1;
      assert_int_equal(mbg__zeros(ctx, n, 1, 1, s.A, s.B, s.C, &s.D, &count, re_, im_, &rank), MBG_OK);
      assert_int_equal(rank, 1);
      assert_int_equal(count, nz);
      qsort(re_, (size_t)count, sizeof *re_, by_value);
      for (int i = 0; i < nz; i++) {
        assert_close(re_[i], zeros[i], 1e-8);
      }
    }
  }
  mbg_context_destroy(ctx);
}

/* a state that the input does not reach is a zero; units far apart change nothing */
static void test_decoupled(void **state) {
  (void)state;
  static const double A[9] = {-1, 2e6, 0, 0, -2, 0, 0, 0, -5}, B[3] = {0, 1e-6, 0}, C[3] = {1, 1e6, 1}, D = 0;
  mbg_context *ctx;
  double re_[3], im_[3];
  int count, rank;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg__zeros(ctx, 3, 1, 1, A, B, C, &D, &count, re_, im_, &rank), MBG_OK);
  /* C (s - A)^-1 B = 2/((s+1)(s+2)) + 1/(s+2) = (s+3)/((s+1)(s+2)) */
  assert_int_equal(count, 2);
  qsort(re_, 2, sizeof *re_, by_value);
  assert_close(re_[0], -5, 1e-10);
  assert_close(re_[1], -3, 1e-10);
  mbg_context_destroy(ctx);
}

static void test_several(void **state) {
  (void)state;
  /* two chains side by side, diag((s-4)/((s+1)(s+2)), 1/(s+3)), mixed by constant matrices */
  static const double A[9] = {0, 1, 0, -2, -3, 0, 0, 0, -3}, B[6] = {0, 0, 1, 2, 3, 1}, C[6] = {-4, 1, 1, -8, 2, 5};
  static const double D[4] = {0};
  mbg_context *ctx;
  double re_[3], im_[3];
  int count, rank;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg__zeros(ctx, 3, 2, 2, A, B, C, D, &count, re_, im_, &rank), MBG_OK);
  assert_int_equal(rank, 2);
  assert_int_equal(count, 1);
  assert_close(re_[0], 4, 1e-10);
  /* more outputs than inputs: no common zero */
  assert_int_equal(mbg__zeros(ctx, 3, 1, 2, A, (const double[]){0, 1, 3}, C, D, &count, re_, im_, &rank), MBG_OK);
  assert_int_equal(rank, 1);
  assert_int_equal(count, 0);
  /* nothing at all: the outputs do not see what the input moves */
  assert_int_equal(
      mbg__zeros(ctx, 3, 1, 1, A, (const double[]){0, 0, 1}, (const double[]){1, 1, 0}, D, &count, re_, im_, &rank),
      MBG_OK);
  assert_int_equal(rank, 0);
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_planted), cmocka_unit_test(test_decoupled),
                                     cmocka_unit_test(test_several)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
