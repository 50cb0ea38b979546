/* Order of saddle point systems: a permutation in which rows follow unknowns they act on, whose factors grow linearly
   with the number of bodies. */
#include "math/order.h"
#include "support/support.h"

#include <klu.h>
#include <stdlib.h>

/* a mechanism as a graph: a body has V velocities, a joint R rows between two bodies (other < 0: the ground) */
enum { V = 6, R = 5 };

typedef struct {
  int nbody, njoint;
  int (*joint)[2];
} mechanism;

static mechanism create(int nbody, int njoint) {
  mechanism m = {.nbody = nbody, .joint = calloc((size_t)njoint + 1, sizeof(*m.joint))};
  assert_non_null(m.joint);
  return m;
}

static void join(mechanism *m, int a, int b) {
  m->joint[m->njoint][0] = a;
  m->joint[m->njoint++][1] = b;
}

/* a block of entries rows x columns, full */
static int block(int row0, int nrow, int col0, int ncol, int n, int *row, int *col) {
  for (int i = 0; i < nrow; i++) {
    for (int j = 0; j < ncol; j++, n++) {
      row[n] = row0 + i;
      col[n] = col0 + j;
    }
  }
  return n;
}

static void build(const mechanism *m, mbg__arena *arena, mbg__csc *A) {
  const int nv = V * m->nbody, size = nv + R * m->njoint;
  const size_t most = (size_t)m->nbody * V * V + (size_t)m->njoint * (4 * V * R + R);
  int *row = calloc(most, sizeof(int)), *col = calloc(most, sizeof(int)), n = 0;
  assert_true(row && col);
  for (int b = 0; b < m->nbody; b++) {
    n = block(V * b, V, V * b, V, n, row, col);
  }
  for (int j = 0; j < m->njoint; j++) {
    for (int s = 0; s < 2; s++) {
      if (m->joint[j][s] >= 0) {
        n = block(V * m->joint[j][s], V, nv + R * j, R, n, row, col);
        n = block(nv + R * j, R, V * m->joint[j][s], V, n, row, col);
      }
    }
    for (int i = 0; i < R; i++, n++) {
      row[n] = col[n] = nv + R * j + i;
    }
  }
  assert_int_equal(mbg__csc_build(A, arena, size, size, n, row, col, NULL), MBG_OK);
  free(row);
  free(col);
}

/* values: mass matrices with a strong diagonal, random rows, zeros on their diagonal */
static void fill(const mbg__csc *A, int nv, support_rng *rng) {
  for (int j = 0; j < A->ncol; j++) {
    for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) {
      const bool diagonal = A->rowind[k] == j;
      A->val[k] = diagonal ? (j < nv ? 10 : 0) : support_normal(rng);
    }
  }
}

/* entries of the factors in the order, after it has been checked */
static double factor(const mechanism *m, support_rng *rng) {
  support_memory memory = {0};
  const mbg_allocator allocator = support_allocator(&memory);
  const int nv = V * m->nbody;
  mbg__arena arena;
  mbg__csc A;
  mbg__arena_init(&arena, &allocator);
  build(m, &arena, &A);
  fill(&A, nv, rng);
  int *order = MBG_TAKE(&arena, int, A.ncol), *place = MBG_TAKE(&arena, int, A.ncol);
  assert_true(mbg__order_saddle(&allocator, &A, nv, order));
  for (int i = 0; i < A.ncol; i++) {
    place[i] = -1;
  }
  for (int i = 0; i < A.ncol; i++) {
    assert_in_range(order[i], 0, A.ncol - 1);
    assert_int_equal(place[order[i]], -1);
    place[order[i]] = i;
  }
  for (int i = nv; i < A.ncol; i++) {
    bool follows = false;
    for (int k = A.colptr[i]; k < A.colptr[i + 1]; k++) {
      follows = follows || (A.rowind[k] < nv && place[A.rowind[k]] < place[i]);
    }
    assert_true(follows);
  }
  klu_common common;
  klu_defaults(&common);
  common.tol = 0.1;
  klu_symbolic *symbolic = klu_analyze_given(A.ncol, A.colptr, A.rowind, order, order, &common);
  klu_numeric *numeric = klu_factor(A.colptr, A.rowind, A.val, symbolic, &common);
  assert_non_null(numeric);
  const double entries = (double)numeric->lnz + numeric->unz;
  klu_free_numeric(&numeric, &common);
  klu_free_symbolic(&symbolic, &common);
  mbg__arena_destroy(&arena);
  return entries;
}

static double random_tree(int n, int reach, support_rng *rng) {
  mechanism m = create(n, n);
  for (int b = 0; b < n; b++) {
    const int back = 1 + support_index(rng, reach);
    join(&m, b, b - back >= 0 ? b - back : -1);
  }
  const double entries = factor(&m, rng);
  free(m.joint);
  return entries;
}

/* two rails with rungs: a loop in each cell */
static double ladder(int cells, support_rng *rng) {
  mechanism m = create(3 * cells, 4 * cells);
  for (int c = 0; c < cells; c++) {
    const int left = 3 * c, right = left + 1, rung = left + 2;
    join(&m, left, c > 0 ? left - 3 : -1);
    join(&m, right, c > 0 ? right - 3 : -1);
    join(&m, rung, left);
    join(&m, rung, right);
  }
  const double entries = factor(&m, rng);
  free(m.joint);
  return entries;
}

/* Without fill a body and its joint take V^2 + 2 R V + R^2 entries and 2 V (V + R) towards its neighbour; pivots beside
   the diagonal add some. */
static void test_trees(void **state) {
  (void)state;
  support_rng rng = support_rng_make(1);
  for (int k = 0; k < 40; k++) {
    const int n = 2 + support_index(&rng, 200);
    const double entries = random_tree(n, k % 4 == 0 ? 1 : n, &rng);
    assert_true(entries < n * 2.0 * (V + R) * (V + R + V));
  }
}

static void test_ladders(void **state) {
  (void)state;
  support_rng rng = support_rng_make(2);
  const double few = ladder(50, &rng), many = ladder(400, &rng);
  assert_true(many < 9 * few);
}

/* a row that acts on every unknown: no order of its own */
static void test_star(void **state) {
  (void)state;
  support_memory memory = {0};
  const mbg_allocator allocator = support_allocator(&memory);
  enum { N = 3000 };
  int *row = calloc(3 * N, sizeof(int)), *col = calloc(3 * N, sizeof(int)), *order = calloc(N + 1, sizeof(int)), n = 0;
  mbg__arena arena;
  mbg__csc A;
  mbg__arena_init(&arena, &allocator);
  for (int i = 0; i < N; i++, n += 3) {
    row[n] = col[n] = i;
    row[n + 1] = col[n + 2] = i;
    col[n + 1] = row[n + 2] = N;
  }
  assert_int_equal(mbg__csc_build(&A, &arena, N + 1, N + 1, n, row, col, NULL), MBG_OK);
  assert_false(mbg__order_saddle(&allocator, &A, N, order));
  mbg__arena_destroy(&arena);
  free(row);
  free(col);
  free(order);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_trees),
      cmocka_unit_test(test_ladders),
      cmocka_unit_test(test_star),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
