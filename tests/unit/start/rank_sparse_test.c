/* Dependent rows by sparse elimination: rings and grids with known dependences, random rows beside the dense QR, rows
   that are nearly dependent, values that are not finite. */
#include "math/dense.h"
#include "start/rank_sparse.h"
#include "support/support.h"

enum { ROWS = 700, COLS = 600, ENTRIES = 12 * ROWS };
static const double tolerance = 1e-7;

typedef struct {
  mbg__unit_rows A;
  int start[ROWS + 1], col[ENTRIES], group[COLS];
  double val[ENTRIES];
} matrix;

/* no rows, columns in groups of `size` */
static void begin(matrix *m, int ncol, int size) {
  m->A = (mbg__unit_rows){.ncol = ncol,
                          .ngroup = (ncol + size - 1) / size,
                          .start = m->start,
                          .col = m->col,
                          .val = m->val,
                          .group = m->group};
  m->start[0] = 0;
  for (int j = 0; j < ncol; j++) {
    m->group[j] = j / size;
  }
}

/* one more row, scaled to unit length */
static void add_row(matrix *m, int n, const int *col, const double *val) {
  int at = m->start[m->A.nrow];
  double length = 0;
  for (int k = 0; k < n; k++) {
    length += val[k] * val[k];
  }
  for (int k = 0; k < n; k++) {
    m->col[at] = col[k];
    m->val[at++] = val[k] / sqrt(length);
  }
  assert_true(at <= ENTRIES && m->A.nrow < ROWS);
  m->start[++m->A.nrow] = at;
}

/* an edge of a graph: rows of a ring of edges add up to 0 */
static void add_edge(matrix *m, int from, int to) { add_row(m, 2, (int[]){from, to}, (double[]){-1, 1}); }

static void add_to(const mbg__unit_rows *A, int row, double factor, double *x) {
  for (int k = A->start[row]; k < A->start[row + 1]; k++) {
    x[A->col[k]] += factor * A->val[k];
  }
}

/* Every row stands once, and the dependent ones are what T says: to 1e-9, far above rounding, far below the tolerance,
   or to the limit given. The kept rows are chosen well: T is not large. */
static void check_dependence(const mbg__unit_rows *A, const mbg__sparse_rank *r, double limit) {
  bool seen[ROWS] = {false};
  for (int k = 0; k < A->nrow; k++) {
    assert_false(seen[r->row[k]]);
    seen[r->row[k]] = true;
  }
  for (int d = 0; d < A->nrow - r->rank; d++) {
    double x[COLS] = {0};
    add_to(A, r->row[r->rank + d], -1, x);
    for (int e = r->start[d]; e < r->start[d + 1]; e++) {
      assert_true(r->pivot[e] < r->rank && (e == r->start[d] || r->pivot[e - 1] < r->pivot[e]));
      assert_true(fabs(r->T[e]) < 1e6);
      add_to(A, r->row[r->pivot[e]], r->T[e], x);
    }
    for (int j = 0; j < A->ncol; j++) {
      assert_true(fabs(x[j]) < limit);
    }
  }
}

static int rank_of(const matrix *m, double limit, int *entries) {
  mbg_context *ctx;
  mbg__arena arena;
  mbg__sparse_rank r;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  assert_int_equal(mbg__rank_sparse(ctx, &arena, &m->A, tolerance, &r), MBG_OK);
  check_dependence(&m->A, &r, limit);
  *entries = r.start[m->A.nrow - r.rank];
  mbg__arena_destroy(&arena);
  mbg_context_destroy(ctx);
  return r.rank;
}

/* a connected graph of n nodes has n - 1 independent edges; the ring drops one of them, which all others make up */
static void rings_lose_one_row(void **state) {
  (void)state;
  static matrix m;
  for (int n = 2; n <= COLS; n = 1 + 2 * n) {
    int entries;
    begin(&m, n, 1);
    for (int i = 0; i < n; i++) {
      add_edge(&m, i, (i + 1) % n);
    }
    assert_int_equal(rank_of(&m, 1e-9, &entries), n - 1);
    assert_int_equal(entries, n - 1);
  }
}

/* a ladder of squares: one row less for each of them, and the dependences stay near */
static void loops_that_share_rows(void **state) {
  (void)state;
  static matrix m;
  for (int n = 2; 3 * n - 2 <= ROWS; n *= 2) {
    int entries;
    begin(&m, 2 * n, 2);
    for (int i = 0; i < n; i++) {
      add_edge(&m, 2 * i, 2 * i + 1);
      if (i > 0) {
        add_edge(&m, 2 * i - 2, 2 * i);
        add_edge(&m, 2 * i - 1, 2 * i + 1);
      }
    }
    assert_int_equal(rank_of(&m, 1e-9, &entries), 2 * n - 1);
    assert_true(entries < 3 * (n - 1) * (2 + log2(n))); /* three of each square, more where loops are joined */
  }
}

static int dense_rank(const mbg__unit_rows *A) {
  mbg_context *ctx;
  mbg__arena arena;
  mbg__qr qr;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  assert_int_equal(mbg__qr_prepare(&qr, &arena, A->ncol, A->nrow), MBG_OK);
  for (int i = 0; i < A->nrow; i++) {
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
      qr.A[A->col[k] + (size_t)A->ncol * (size_t)i] += A->val[k];
    }
  }
  assert_int_equal(mbg__qr_factor(&qr), MBG_OK);
  const int rank = mbg__qr_rank(&qr, tolerance);
  mbg__arena_destroy(&arena);
  mbg_context_destroy(ctx);
  return rank;
}

/* rows of two bodies with six columns each, and in the planes of four of them: more rows than can be independent */
static void random_rows_as_by_qr(void **state) {
  (void)state;
  static matrix m;
  support_rng rng = support_rng_make(7);
  for (int round = 0; round < support_rounds(12, 200); round++) {
    const int bodies = 4 + support_index(&rng, 40), planar = 1 + support_index(&rng, 6);
    int entries;
    begin(&m, 6 * bodies, 6);
    for (int i = 0; i < 5 * bodies + support_index(&rng, 3 * bodies); i++) {
      const int a = support_index(&rng, bodies), b = (a + 1 + support_index(&rng, 3)) % bodies;
      int col[12], n = 0;
      double val[12];
      for (int k = 0; k < planar; k++) {
        for (int end = 0; end < 2; end++) {
          col[n] = 6 * (end ? b : a) + k;
          val[n++] = support_uniform(&rng, -1, 1);
        }
      }
      add_row(&m, n, col, val);
    }
    assert_int_equal(rank_of(&m, 1e-9, &entries), dense_rank(&m.A));
  }
}

/* rows at the angle a, of which the second one comes before a better one */
static void near_dependence(void **state) {
  (void)state;
  static matrix m;
  for (int k = 2; k <= 20; k++) {
    const double a = 1.1 * pow(10, -k / 2.0); /* not at the tolerance itself */
    int entries;
    begin(&m, 2, 2);
    add_row(&m, 1, (int[]){0}, (double[]){1});
    add_row(&m, 2, (int[]){0, 1}, (double[]){cos(a), sin(a)});
    assert_int_equal(rank_of(&m, 2 * tolerance, &entries), a > tolerance ? 2 : 1);
    add_row(&m, 1, (int[]){1}, (double[]){1});
    assert_int_equal(rank_of(&m, 2 * tolerance, &entries), 2); /* and T of the one at the angle is at most 1 */
  }
}

static void values_that_are_not_finite(void **state) {
  (void)state;
  static matrix m;
  mbg_context *ctx;
  mbg__arena arena;
  mbg__sparse_rank r;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  begin(&m, 2, 1);
  add_edge(&m, 0, 1);
  m.val[1] = NAN;
  assert_int_equal(mbg__rank_sparse(ctx, &arena, &m.A, tolerance, &r), MBG_ERROR_SINGULAR);
  assert_string_equal(mbg_context_error(ctx), "the constraint Jacobian is not finite");
  mbg__arena_destroy(&arena);
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rings_lose_one_row),         cmocka_unit_test(loops_that_share_rows),
      cmocka_unit_test(random_rows_as_by_qr),       cmocka_unit_test(near_dependence),
      cmocka_unit_test(values_that_are_not_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
