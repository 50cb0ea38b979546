/* Products of columns side by side against the same columns one after the other (math/householder.h, math/dense.h), on
   both sides of the sizes from which LAPACK does the work there; a column has the same bits beside any others. */
#include "math/dense_lanes.h"
#include "support/support.h"

#include <string.h>

enum { MMAX = 80 };

/* 1e-12: sums of 80 terms in another order, with triangles of condition 100 */
static const double tol = 1e-12;

typedef struct {
  support_rng rng;
  support_memory memory;
  mbg__arena arena;
  mbg__householder q;
  mbg__cholesky l;
  double A[MMAX * MMAX];
  lane x[MMAX], out[MMAX];
  double own[MBG__LANES][MMAX]; /* the columns */
} bench;

/* the diagonal dominates: triangles are well conditioned */
static void fill(bench *b, int m, int n, int band) {
  support_normals(&b->rng, b->A, m * n);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < m; i++) {
      b->A[m * k + i] = i == k ? 2 * sqrt(m) : band > 0 && (i < k - band || i > k + band) ? 0 : b->A[m * k + i];
    }
  }
}

static void open_bench(bench *b, int m, int n, int band) {
  int first[MMAX], end[MMAX];
  const mbg_allocator allocator = support_allocator(&b->memory);
  mbg__arena_init(&b->arena, &allocator);
  assert_int_equal(mbg__householder_prepare(&b->q, &b->arena, m, n), MBG_OK);
  assert_int_equal(mbg__cholesky_prepare(&b->l, &b->arena, n), MBG_OK);
  fill(b, m, n, band);
  for (int k = 0; k < n; k++) {
    first[k] = k > band ? k - band : 0;
    end[k] = k + band + 1 < m ? k + band + 1 : m;
  }
  if (band > 0) {
    mbg__householder_envelope(&b->q, first, end);
  }
  memcpy(b->q.A, b->A, sizeof *b->A * (size_t)(m * n));
  mbg__householder_factor(&b->q);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      b->l.A[n * j + i] = vn_dot(m, b->A + m * i, b->A + m * j);
    }
  }
  assert_int_equal(mbg__cholesky_factor(&b->l, NULL), MBG_OK);
}

static void draw(bench *b, int n) {
  for (int i = 0; i < n; i++) {
    for (int q = 0; q < MBG__LANES; q++) {
      b->own[q][i] = support_uniform(&b->rng, -1, 1);
      lane_set(&b->x[i], q, b->own[q][i]);
    }
  }
}

static void compare(const bench *b, int n, const lane *x) {
  for (int q = 0; q < MBG__LANES; q++) {
    for (int i = 0; i < n; i++) {
      assert_close(lane_get(&x[i], q), b->own[q][i], tol * (1 + fabs(b->own[q][i])));
    }
  }
}

static void check_orthogonal(bench *b, int m) {
  draw(b, m);
  householder_mul_lanes(&b->q, b->x);
  for (int q = 0; q < MBG__LANES; q++) {
    mbg__householder_mul(&b->q, b->own[q], 1);
  }
  compare(b, m, b->x);
  householder_mul_T_lanes(&b->q, b->x);
  for (int q = 0; q < MBG__LANES; q++) {
    mbg__householder_mul_T(&b->q, b->own[q], 1);
  }
  compare(b, m, b->x);
}

static void check_solutions(bench *b, int n) {
  draw(b, n);
  householder_solve_lanes(&b->q, b->x);
  for (int q = 0; q < MBG__LANES; q++) {
    mbg__householder_solve(&b->q, b->own[q]);
  }
  compare(b, n, b->x);
  householder_solve_T_lanes(&b->q, b->x);
  for (int q = 0; q < MBG__LANES; q++) {
    mbg__householder_solve_T(&b->q, b->own[q]);
  }
  compare(b, n, b->x);
  cholesky_solve_lanes(&b->l, b->x);
  for (int q = 0; q < MBG__LANES; q++) {
    mbg__cholesky_solve(&b->l, b->own[q], 1);
  }
  compare(b, n, b->x);
}

static void check_products(bench *b, int m, int n) {
  draw(b, m);
  ln_mulv_T(m, n, b->A, b->x, b->out);
  for (int q = 0; q < MBG__LANES; q++) {
    double y[MMAX];
    for (int k = 0; k < n; k++) {
      y[k] = vn_dot(m, b->A + m * k, b->own[q]);
    }
    memcpy(b->own[q], y, sizeof *y * (size_t)n);
  }
  compare(b, n, b->out);
  draw(b, n);
  ln_zero(m, b->out);
  ln_mulv_add(m, n, b->A, b->x, b->out);
  for (int q = 0; q < MBG__LANES; q++) {
    double y[MMAX] = {0};
    for (int k = 0; k < n; k++) {
      vn_axpy(m, y, b->own[q][k], b->A + m * k);
    }
    memcpy(b->own[q], y, sizeof *y * (size_t)m);
  }
  compare(b, m, b->out);
}

/* the products of a column beside zeros, and beside others */
static void check_bits(bench *b, int m, int n) {
  static lane alone[MMAX], h[2][MMAX];
  draw(b, m);
  for (int i = 0; i < m; i++) {
    alone[i] = (lane){0};
    lane_set(&alone[i], 1, b->own[1][i]);
  }
  lane *const x[2] = {b->x, alone};
  for (int k = 0; k < 2; k++) {
    householder_mul_lanes(&b->q, x[k]);
    ln_mulv_T(m, n, b->A, x[k], h[k]);
    cholesky_solve_lanes(&b->l, h[k]);
    householder_solve_T_lanes(&b->q, h[k]);
    ln_mulv_add(m, n, b->A, h[k], x[k]);
  }
  for (int i = 0; i < m; i++) {
    assert_true(lane_get(&x[0][i], 1) == lane_get(&x[1][i], 1));
  }
}

static void test_products(void **state) {
  (void)state;
  static bench b;
  b.rng = support_rng_make(5);
  for (int m = 1; m <= MMAX; m += m < 12 ? 1 : 17) {
    for (int n = 1; n <= m; n += n < 7 ? 1 : 9) {
      for (int band = 0; band <= 6; band += 3) {
        open_bench(&b, m, n, band);
        check_orthogonal(&b, m);
        check_solutions(&b, n);
        check_products(&b, m, n);
        check_bits(&b, m, n);
        mbg__arena_destroy(&b.arena);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
