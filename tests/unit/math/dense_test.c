/* Dense factorizations: planted solutions, singular matrices, ranks by construction, complex step in the twin. */
#include "math/dense.h"
#include "support/support.h"
#include "twin/twin_math.h"

#include <string.h>

/* sizes and right sides on both sides of those from which LAPACK does the work; ranks by smaller ones */
enum { NMAX = 80, RANK_MAX = 40, RHS = 9 };

static mbg__arena make_arena(support_memory *memory) {
  mbg__arena arena;
  const mbg_allocator allocator = support_allocator(memory);
  mbg__arena_init(&arena, &allocator);
  return arena;
}

/* out = A X or A^T X; A m x n, column-major */
static void multiply(double *out, const double *A, int m, int n, const double *X, int ncol, bool transposed) {
  const int rows = transposed ? n : m, inner = transposed ? m : n;
  for (int c = 0; c < ncol; c++) {
    for (int i = 0; i < rows; i++) {
      double s = 0;
      for (int k = 0; k < inner; k++) {
        s += (transposed ? A[k + m * i] : A[i + m * k]) * X[k + inner * c];
      }
      out[i + rows * c] = s;
    }
  }
}

/* random with a strong diagonal: condition below 10 or so, hence 1e-13 below is n eps times that */
static void random_matrix(support_rng *rng, double *A, int n) {
  support_normals(rng, A, n * n);
  for (int i = 0; i < n; i++) {
    A[i + n * i] += 2 * sqrt(n) * (support_index(rng, 2) ? 1 : -1);
  }
}

/* A = B B^T + I */
static void random_spd(support_rng *rng, double *A, int n) {
  static double B[NMAX * NMAX], Bt[NMAX * NMAX];
  support_normals(rng, B, n * n);
  for (int i = 0; i < n * n; i++) {
    Bt[i % n * n + i / n] = B[i];
  }
  multiply(A, B, n, n, Bt, n, false);
  for (int i = 0; i < n; i++) {
    A[i + n * i] += n;
  }
}

/* ---------------------------------------------------------------------- LU */

static void lu_finds_planted_solutions(void **state) {
  (void)state;
  static double A[NMAX * NMAX], X[NMAX * RHS], B[NMAX * RHS];
  support_rng rng = support_rng_make(1);
  for (int n = 0; n <= NMAX; n++) {
    support_memory memory = {0};
    mbg__arena arena = make_arena(&memory);
    mbg__lu lu;
    int where = -7;
    assert_int_equal(mbg__lu_prepare(&lu, &arena, n), MBG_OK);
    const long requests = memory.requests;
    for (int transposed = 0; transposed < 2; transposed++) { /* twice with one object */
      random_matrix(&rng, A, n);
      support_normals(&rng, X, n * RHS);
      multiply(B, A, n, n, X, RHS, transposed);
      memcpy(lu.A, A, sizeof *A * (size_t)(n * n));
      assert_int_equal(mbg__lu_factor(&lu, &where), MBG_OK);
      (transposed ? mbg__lu_solve_T : mbg__lu_solve)(&lu, B, RHS);
      assert_close_array(B, X, n * RHS, 1e-13);
      assert_true(mbg__lu_ratio(&lu, NULL) > 1e-3);
    }
    assert_int_equal(memory.requests, requests); /* factor and solve take no memory */
    assert_int_equal(where, -7);
    mbg__arena_destroy(&arena);
    assert_int_equal(memory.live, 0);
  }
}

/* a zero column, a NaN, and a rank deficit up to rounding, which only the ratio shows */
static void lu_reports_singular_matrices(void **state) {
  (void)state;
  const int n = 8;
  support_memory memory = {0};
  mbg__arena arena = make_arena(&memory);
  support_rng rng = support_rng_make(2);
  mbg__lu lu;
  int where = -1;
  assert_int_equal(mbg__lu_prepare(&lu, &arena, n), MBG_OK);

  random_matrix(&rng, lu.A, n);
  memset(lu.A + 5 * n, 0, sizeof *lu.A * (size_t)n);
  assert_int_equal(mbg__lu_factor(&lu, &where), MBG_ERROR_SINGULAR);
  assert_int_equal(where, 5);

  random_matrix(&rng, lu.A, n);
  lu.A[3 + 2 * n] = NAN;
  assert_int_equal(mbg__lu_factor(&lu, &where), MBG_ERROR_SINGULAR);
  assert_in_range(where, 0, n - 1);
  random_matrix(&rng, lu.A, n);
  lu.A[0 + 7 * n] = INFINITY;
  assert_int_equal(mbg__lu_factor(&lu, NULL), MBG_ERROR_SINGULAR);

  random_matrix(&rng, lu.A, n);
  for (int i = 0; i < n; i++) {
    lu.A[i + 7 * n] = lu.A[i + n] / 3 + lu.A[i + 4 * n];
  }
  mbg__lu_factor(&lu, NULL);
  assert_true(mbg__lu_ratio(&lu, &where) < 1e-14);
  assert_int_equal(where, 7);
  mbg__arena_destroy(&arena);
}

/* ---------------------------------------------------------------------- Cholesky */

static void cholesky_finds_planted_solutions(void **state) {
  (void)state;
  static double A[NMAX * NMAX], X[NMAX * RHS], B[NMAX * RHS];
  support_rng rng = support_rng_make(3);
  for (int n = 0; n <= NMAX; n++) {
    support_memory memory = {0};
    mbg__arena arena = make_arena(&memory);
    mbg__cholesky chol;
    assert_int_equal(mbg__cholesky_prepare(&chol, &arena, n), MBG_OK);
    random_spd(&rng, A, n);
    support_normals(&rng, X, n * RHS);
    multiply(B, A, n, n, X, RHS, false);
    for (int i = 0; i < n * n; i++) { /* the upper triangle is not looked at */
      chol.A[i] = i % n >= i / n ? A[i] : NAN;
    }
    assert_int_equal(mbg__cholesky_factor(&chol, NULL), MBG_OK);
    mbg__cholesky_solve(&chol, B, RHS);
    assert_close_array(B, X, n * RHS, 1e-13);
    mbg__arena_destroy(&arena);
  }
}

static void cholesky_reports_the_row(void **state) {
  (void)state;
  const int n = 6;
  support_memory memory = {0};
  mbg__arena arena = make_arena(&memory);
  support_rng rng = support_rng_make(4);
  mbg__cholesky chol;
  int where = -1;
  assert_int_equal(mbg__cholesky_prepare(&chol, &arena, n), MBG_OK);
  random_spd(&rng, chol.A, n);
  chol.A[4 + 4 * n] = -1;
  assert_int_equal(mbg__cholesky_factor(&chol, &where), MBG_ERROR_SINGULAR);
  assert_int_equal(where, 4);
  random_spd(&rng, chol.A, n);
  chol.A[5 + 2 * n] = NAN;
  assert_int_equal(mbg__cholesky_factor(&chol, &where), MBG_ERROR_SINGULAR);
  assert_int_equal(where, 5);
  mbg__arena_destroy(&arena);
}

/* ---------------------------------------------------------------------- QR */

/* A = P Q of rank r: rank found, dropped columns are A_kept T, Q R gives A back, the complement is orthogonal to A */
static void check_qr(support_rng *rng, int m, int n, int rank) {
  static double P[NMAX * NMAX], Q[NMAX * NMAX], A[NMAX * NMAX], T[NMAX * NMAX], C[NMAX * NMAX], kept[NMAX * NMAX];
  support_memory memory = {0};
  mbg__arena arena = make_arena(&memory);
  mbg__qr qr;
  support_normals(rng, P, m * rank);
  support_normals(rng, Q, rank * n);
  multiply(A, P, m, rank, Q, n, false);
  assert_int_equal(mbg__qr_prepare(&qr, &arena, m, n), MBG_OK);
  const long requests = memory.requests;
  memcpy(qr.A, A, sizeof *A * (size_t)(m * n));
  assert_int_equal(mbg__qr_factor(&qr), MBG_OK);
  assert_int_equal(mbg__qr_rank(&qr, 1e-10), rank);

  /* dropped = kept T; 1e-10: R11 has a condition of up to 1e4 here */
  mbg__qr_dependence(&qr, rank, T);
  for (int k = 0; k < rank; k++) {
    memcpy(kept + m * k, A + m * qr.column[k], sizeof *A * (size_t)m);
  }
  multiply(C, kept, m, rank, T, n - rank, false);
  for (int k = rank; k < n; k++) {
    assert_close_array(C + m * (k - rank), A + m * qr.column[k], m, 1e-10);
  }

  /* Q R = A P, column by column; m = 40: 1e-13 */
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < m; i++) {
      C[i + m * k] = i <= k ? qr.A[i + m * k] : 0;
    }
  }
  mbg__qr_mul_Q(&qr, C, n);
  for (int k = 0; k < n; k++) {
    assert_close_array(C + m * k, A + m * qr.column[k], m, 1e-13);
  }

  /* Q^T A = R P^T: rows below the rank vanish */
  memcpy(C, A, sizeof *A * (size_t)(m * n));
  mbg__qr_mul_Q_T(&qr, C, n);
  for (int i = 0; i < m * n; i++) {
    assert_true(i % m < rank || fabs(C[i]) < 1e-13);
  }
  assert_int_equal(memory.requests, requests);
  mbg__arena_destroy(&arena);
}

static void qr_finds_ranks(void **state) {
  (void)state;
  support_rng rng = support_rng_make(5);
  for (int i = 0; i < 100; i++) {
    const int m = 1 + support_index(&rng, RANK_MAX), n = 1 + support_index(&rng, RANK_MAX);
    check_qr(&rng, m, n, support_index(&rng, 1 + (m < n ? m : n)));
  }
}

static void qr_edges(void **state) {
  (void)state;
  support_memory memory = {0};
  mbg__arena arena = make_arena(&memory);
  mbg__qr qr;
  assert_int_equal(mbg__qr_prepare(&qr, &arena, 5, 0), MBG_OK);
  assert_int_equal(mbg__qr_factor(&qr), MBG_OK);
  assert_int_equal(mbg__qr_rank(&qr, 1e-10), 0);
  assert_int_equal(mbg__qr_prepare(&qr, &arena, 0, 4), MBG_OK);
  assert_int_equal(mbg__qr_factor(&qr), MBG_OK);
  assert_int_equal(mbg__qr_rank(&qr, 1e-10), 0);
  assert_int_equal(mbg__qr_prepare(&qr, &arena, 3, 3), MBG_OK);
  assert_int_equal(mbg__qr_factor(&qr), MBG_OK);
  assert_int_equal(mbg__qr_rank(&qr, 1e-10), 0); /* the zero matrix */
  qr.A[4] = NAN;
  assert_int_equal(mbg__qr_factor(&qr), MBG_ERROR_SINGULAR);
  mbg__arena_destroy(&arena);
}

/* ---------------------------------------------------------------------- memory */

static void every_prepare_survives_lack_of_memory(void **state) {
  (void)state;
  for (int n = 1;; n++) {
    support_memory memory = {.fail_at = n};
    mbg__arena arena = make_arena(&memory);
    mbg__lu lu;
    mbg__cholesky chol;
    mbg__qr qr;
    const int err[3] = {mbg__lu_prepare(&lu, &arena, 200), mbg__cholesky_prepare(&chol, &arena, 300),
                        mbg__qr_prepare(&qr, &arena, 300, 300)};
    for (int i = 0; i < 3; i++) {
      assert_true(err[i] == MBG_OK || err[i] == MBG_ERROR_MEMORY);
    }
    assert_int_equal(err[2] == MBG_OK, memory.requests < n);
    mbg__arena_destroy(&arena);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      break;
    }
  }
}

/* ---------------------------------------------------------------------- twin */

/* A x = b  =>  A dx = db - dA x; and A^T likewise: a conjugation would turn the sign of the derivative */
static void check_twin(support_rng *rng, int n, int kind) {
  static double A[NMAX * NMAX], dA[NMAX * NMAX], x[NMAX], dx[NMAX], b[NMAX], db[NMAX], t[NMAX];
  static double _Complex Ac[NMAX * NMAX], bc[NMAX];
  const bool transposed = kind == 1, symmetric = kind == 2;
  int where = -1;
  if (symmetric) {
    random_spd(rng, A, n);
    random_spd(rng, dA, n);
  } else {
    random_matrix(rng, A, n);
    support_normals(rng, dA, n * n);
  }
  support_normals(rng, x, n);
  support_normals(rng, dx, n);
  multiply(b, A, n, n, x, 1, transposed);
  multiply(db, A, n, n, dx, 1, transposed);
  multiply(t, dA, n, n, x, 1, transposed);
  for (int i = 0; i < n * n; i++) {
    Ac[i] = twin_step(A[i], dA[i]);
  }
  for (int i = 0; i < n; i++) {
    bc[i] = twin_step(b[i], db[i] + t[i]);
  }
  assert_int_equal(
      symmetric ? twin_cholesky_solve(n, Ac, bc, 1, &where) : twin_lu_solve(n, Ac, transposed, bc, 1, &where), MBG_OK);
  for (int i = 0; i < n; i++) {
    assert_close(creal(bc[i]), x[i], 1e-13);
    assert_close(twin_derivative(bc[i]), dx[i], 1e-12); /* its right-hand side is up to 1e3 times larger */
  }
}

static void twin_differentiates_solutions(void **state) {
  (void)state;
  support_rng rng = support_rng_make(6);
  for (int i = 0; i < 90; i++) {
    check_twin(&rng, 1 + support_index(&rng, NMAX), i % 3);
  }
}

static void twin_reports_singular_matrices(void **state) {
  (void)state;
  double _Complex A[9] = {1, 0, 0, 0, 0, 0, 0, 0, 1}, b[3] = {1, 1, 1};
  int where = -1;
  assert_int_equal(twin_lu_solve(3, A, 0, b, 1, &where), MBG_ERROR_SINGULAR);
  assert_int_equal(where, 1);
  A[4] = 1;
  A[8] = -1;
  assert_int_equal(twin_cholesky_solve(3, A, b, 1, &where), MBG_ERROR_SINGULAR);
  assert_int_equal(where, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lu_finds_planted_solutions),
      cmocka_unit_test(lu_reports_singular_matrices),
      cmocka_unit_test(cholesky_finds_planted_solutions),
      cmocka_unit_test(cholesky_reports_the_row),
      cmocka_unit_test(qr_finds_ranks),
      cmocka_unit_test(qr_edges),
      cmocka_unit_test(every_prepare_survives_lack_of_memory),
      cmocka_unit_test(twin_differentiates_solutions),
      cmocka_unit_test(twin_reports_singular_matrices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
