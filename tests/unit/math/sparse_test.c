/* Sparse matrices and KLU: patterns against dense pictures, planted solutions, frozen pivots, complex step. */
#include "math/sparse.h"
#include "support/support.h"
#include "twin/twin_math.h"

#include <SuiteSparse_config.h>
#include <stdlib.h>
#include <string.h>

enum { NMAX = 30, PAIRS = 300, RHS = 5 };

static mbg__arena make_arena(support_memory *memory) {
  mbg__arena arena;
  const mbg_allocator allocator = support_allocator(memory);
  mbg__arena_init(&arena, &allocator);
  return arena;
}

/* ---------------------------------------------------------------------- random matrices */

/* A sum of entries, and the same matrix in full (row-major). */
typedef struct {
  int nrow, ncol, count;
  int row[PAIRS], col[PAIRS];
  double val[PAIRS], full[NMAX * NMAX];
} entries;

static void push(entries *e, int row, int col, double val) {
  e->row[e->count] = row;
  e->col[e->count] = col;
  e->val[e->count++] = val;
  e->full[row * e->ncol + col] += val;
}

/* count entries in random places, many of them twice */
static void random_entries(entries *e, support_rng *rng, int nrow, int ncol, int count) {
  *e = (entries){.nrow = nrow, .ncol = ncol};
  while (nrow > 0 && ncol > 0 && e->count < count) {
    const int row = support_index(rng, nrow), col = support_index(rng, ncol);
    push(e, row, col, support_normal(rng));
  }
}

/* Square, well conditioned, no strong diagonal: random entries + a permutation that outweighs them. */
static void random_regular(entries *e, support_rng *rng, int n) {
  const int shift = support_index(rng, n), count = support_index(rng, PAIRS - n);
  random_entries(e, rng, n, n, count);
  for (int i = 0; i < n; i++) {
    push(e, (i + shift) % n, i, 1 + 4 * sqrt(count));
  }
}

static void assemble(mbg__csc *A, const entries *e, const int *slot) {
  mbg__csc_zero(A);
  for (int k = 0; k < e->count; k++) {
    A->val[slot[k]] += e->val[k];
  }
}

/* the matrix A with pattern and values of e */
static void build(mbg__csc *A, mbg__arena *arena, const entries *e) {
  int slot[PAIRS];
  assert_int_equal(mbg__csc_build(A, arena, e->nrow, e->ncol, e->count, e->row, e->col, slot), MBG_OK);
  assemble(A, e, slot);
}

/* out = A x or A^T x with the full matrix */
static void multiply(double *out, const entries *e, const double *x, bool transposed) {
  const int rows = transposed ? e->ncol : e->nrow, inner = transposed ? e->nrow : e->ncol;
  for (int i = 0; i < rows; i++) {
    out[i] = 0;
    for (int k = 0; k < inner; k++) {
      out[i] += (transposed ? e->full[k * e->ncol + i] : e->full[i * e->ncol + k]) * x[k];
    }
  }
}

/* ---------------------------------------------------------------------- pattern, products */

static void patterns_merge_duplicates(void **state) {
  (void)state;
  support_rng rng = support_rng_make(1);
  for (int i = 0; i < 200; i++) {
    entries e;
    support_memory memory = {0};
    mbg__arena arena = make_arena(&memory);
    mbg__csc A;
    const int nrow = support_index(&rng, NMAX), ncol = support_index(&rng, NMAX);
    random_entries(&e, &rng, nrow, ncol, support_index(&rng, PAIRS));
    build(&A, &arena, &e);

    /* sorted, no entry twice, the same matrix */
    assert_int_equal(A.colptr[0], 0);
    for (int j = 0; j < e.ncol; j++) {
      for (int k = A.colptr[j]; k < A.colptr[j + 1]; k++) {
        assert_true(k == A.colptr[j] || A.rowind[k] > A.rowind[k - 1]);
        assert_close(A.val[k], e.full[A.rowind[k] * e.ncol + j], 0); /* summed in the same order */
        e.full[A.rowind[k] * e.ncol + j] = 0;
      }
    }
    for (int k = 0; k < e.nrow * e.ncol; k++) {
      assert_close(e.full[k], 0, 0);
    }

    /* without slots the same pattern */
    mbg__csc B;
    assert_int_equal(mbg__csc_build(&B, &arena, e.nrow, e.ncol, e.count, e.row, e.col, NULL), MBG_OK);
    assert_memory_equal(A.colptr, B.colptr, sizeof(int) * ((size_t)e.ncol + 1));
    assert_memory_equal(A.rowind, B.rowind, sizeof(int) * (size_t)mbg__csc_count(&A));
    mbg__arena_destroy(&arena);
    assert_int_equal(memory.live, 0);
  }
}

static void products_add(void **state) {
  (void)state;
  support_rng rng = support_rng_make(2);
  for (int i = 0; i < 200; i++) {
    entries e;
    support_memory memory = {0};
    mbg__arena arena = make_arena(&memory);
    mbg__csc A;
    double X[NMAX * RHS], Y[NMAX * RHS], Z[NMAX * RHS], ref[NMAX];
    const bool transposed = i % 2;
    const int nrow = 1 + support_index(&rng, NMAX - 1), ncol = 1 + support_index(&rng, NMAX - 1);
    random_entries(&e, &rng, nrow, ncol, PAIRS);
    build(&A, &arena, &e);
    support_normals(&rng, X, NMAX * RHS);
    support_normals(&rng, Y, NMAX * RHS);
    memcpy(Z, Y, sizeof Y);
    (transposed ? mbg__csc_mul_T_add : mbg__csc_mul_add)(Z, -2, &A, X, RHS);
    const int out = transposed ? e.ncol : e.nrow, in = transposed ? e.nrow : e.ncol;
    for (int r = 0; r < RHS; r++) {
      multiply(ref, &e, X + r * in, transposed);
      for (int k = 0; k < out; k++) {
        assert_close(Z[r * out + k], Y[r * out + k] - 2 * ref[k], 1e-13); /* up to 300 terms in another order */
      }
    }
    mbg__arena_destroy(&arena);
  }
}

/* ---------------------------------------------------------------------- KLU */

static void klu_finds_planted_solutions(void **state) {
  (void)state;
  support_rng rng = support_rng_make(3);
  for (int i = 0; i < 200; i++) {
    entries e;
    support_memory memory = {0};
    mbg__arena arena = make_arena(&memory);
    mbg__csc A;
    mbg__klu *klu;
    const int n = 1 + support_index(&rng, NMAX);
    random_regular(&e, &rng, n);
    build(&A, &arena, &e);
    const mbg_allocator allocator = support_allocator(&memory);
    const mbg__klu_mode mode = i % 2 ? MBG__KLU_FRESH : MBG__KLU_FROZEN;
    assert_int_equal(mbg__klu_prepare(&klu, &allocator, &A, mode, i % 3 == 0 ? 0 : A.ncol), MBG_OK);
    assert_int_equal(mbg__klu_factor(klu, NULL), MBG_OK);
    for (int transposed = 0; transposed < 2; transposed++) {
      double X[NMAX * RHS], B[NMAX * RHS];
      support_normals(&rng, X, n * RHS);
      for (int r = 0; r < RHS; r++) {
        multiply(B + n * r, &e, X + n * r, transposed);
      }
      (transposed ? mbg__klu_solve_T : mbg__klu_solve)(klu, B, RHS);
      assert_close_array(B, X, n * RHS, 1e-13); /* condition below 10 */
    }
    assert_true(mbg__klu_ratio(klu) > 1e-4);
    mbg__klu_destroy(klu);
    mbg__arena_destroy(&arena);
    assert_int_equal(memory.live, 0);
  }
}

/* a column without entries, a zero column, two equal columns, a NaN; and afterwards the object still works */
static void klu_reports_singular_matrices(void **state) {
  (void)state;
  support_memory memory = {0};
  mbg__arena arena = make_arena(&memory);
  const mbg_allocator allocator = support_allocator(&memory);
  for (int mode = MBG__KLU_FRESH; mode <= MBG__KLU_FROZEN; mode++) {
    mbg__csc A;
    mbg__klu *klu;
    int where = -7, slot[5];
    const int row[5] = {0, 1, 2, 1, 2}, col[5] = {0, 1, 2, 2, 1};

    assert_int_equal(mbg__csc_build(&A, &arena, 3, 3, 2, row, col, slot), MBG_OK); /* column 2 is empty */
    A.val[0] = A.val[1] = 1;
    assert_int_equal(mbg__klu_prepare(&klu, &allocator, &A, mode, A.ncol), MBG_OK);
    assert_int_equal(mbg__klu_factor(klu, &where), MBG_ERROR_SINGULAR);
    assert_int_equal(where, 2);
    mbg__klu_destroy(klu);

    assert_int_equal(mbg__csc_build(&A, &arena, 3, 3, 5, row, col, slot), MBG_OK);
    assert_int_equal(mbg__klu_prepare(&klu, &allocator, &A, mode, A.ncol), MBG_OK);
    A.val[slot[1]] = A.val[slot[2]] = 1; /* column 0 is zero */
    assert_int_equal(mbg__klu_factor(klu, &where), MBG_ERROR_SINGULAR);
    assert_int_equal(where, 0);
    assert_close(mbg__klu_ratio(klu), 0, 0);

    for (int k = 0; k < 5; k++) {
      A.val[slot[k]] = 1;
    }
    assert_int_equal(mbg__klu_factor(klu, &where), MBG_ERROR_SINGULAR); /* columns 1 and 2 are equal */
    assert_in_range(where, 1, 2);

    A.val[slot[3]] = NAN;
    assert_int_equal(mbg__klu_factor(klu, &where), MBG_ERROR_SINGULAR);
    assert_int_equal(where, 2);

    A.val[slot[3]] = 0; /* [1, 0, 0; 0, 1, 0; 0, 1, 1] */
    assert_int_equal(mbg__klu_factor(klu, &where), MBG_OK);
    double b[3] = {1, 2, 5};
    const double x[3] = {1, 2, 3};
    mbg__klu_solve(klu, b, 1);
    assert_close_array(b, x, 3, 1e-15);
    mbg__klu_destroy(klu);
  }
  mbg__arena_destroy(&arena);
  assert_int_equal(memory.live, 0);
}

static void klu_accepts_nothing(void **state) {
  (void)state;
  support_memory memory = {0};
  mbg__arena arena = make_arena(&memory);
  const mbg_allocator allocator = support_allocator(&memory);
  mbg__csc A;
  mbg__klu *klu;
  assert_int_equal(mbg__csc_build(&A, &arena, 0, 0, 0, NULL, NULL, NULL), MBG_OK);
  assert_int_equal(mbg__klu_prepare(&klu, &allocator, &A, MBG__KLU_FROZEN, A.ncol), MBG_OK);
  assert_int_equal(mbg__klu_factor(klu, NULL), MBG_OK);
  mbg__klu_solve(klu, NULL, 1);
  mbg__klu_destroy(klu);
  mbg__klu_destroy(NULL);
  mbg__arena_destroy(&arena);
}

/* ---------------------------------------------------------------------- history */

/* Factors the values of e and solves for a fixed right-hand side. */
static void solution(double x[NMAX], mbg__klu *klu, mbg__csc *A, const entries *e, const int *slot) {
  assemble(A, e, slot);
  assert_int_equal(mbg__klu_factor(klu, NULL), MBG_OK);
  for (int k = 0; k < A->ncol; k++) {
    x[k] = 1 + k;
  }
  mbg__klu_solve(klu, x, 1);
}

/* new values, the old pattern */
static void vary(entries *e, support_rng *rng, double size) {
  memset(e->full, 0, sizeof e->full);
  for (int k = 0; k < e->count; k++) {
    e->val[k] *= 1 + size * support_normal(rng);
    e->full[e->row[k] * e->ncol + e->col[k]] += e->val[k];
  }
}

/* one value after the other: each solution is right, and bit by bit what an object that saw only the first and this
   one computes (frozen), or only this one (fresh) */
static void check_history(support_rng *rng, mbg__klu_mode mode) {
  entries first, e;
  support_memory memory = {0};
  mbg__arena arena = make_arena(&memory);
  const mbg_allocator allocator = support_allocator(&memory);
  mbg__csc A;
  mbg__klu *klu;
  int slot[PAIRS];
  double x[NMAX], y[NMAX], b[NMAX];
  random_regular(&first, rng, 1 + support_index(rng, NMAX));
  assert_int_equal(mbg__csc_build(&A, &arena, first.nrow, first.ncol, first.count, first.row, first.col, slot), MBG_OK);
  assert_int_equal(mbg__klu_prepare(&klu, &allocator, &A, mode, A.ncol), MBG_OK);
  solution(x, klu, &A, &first, slot);
  for (int k = 0; k < 4; k++) {
    e = first;
    if (k < 3) {
      vary(&e, rng, 0.02 * k); /* not at all (the first again), then more */
    }
    solution(x, klu, &A, &e, slot);
    multiply(b, &e, x, false);
    for (int i = 0; i < A.ncol; i++) {
      assert_close(b[i], 1 + i, 1e-13);
    }
    mbg__klu *other;
    assert_int_equal(mbg__klu_prepare(&other, &allocator, &A, mode, A.ncol), MBG_OK);
    if (mode == MBG__KLU_FROZEN) {
      solution(y, other, &A, &first, slot);
    }
    solution(y, other, &A, &e, slot);
    assert_memory_equal(x, y, sizeof *x * (size_t)A.ncol);
    mbg__klu_destroy(other);
  }
  mbg__klu_destroy(klu);
  mbg__arena_destroy(&arena);
}

static void recomputation_is_bit_identical(void **state) {
  (void)state;
  support_rng rng = support_rng_make(4);
  for (int i = 0; i < 100; i++) {
    check_history(&rng, i % 2 ? MBG__KLU_FRESH : MBG__KLU_FROZEN);
  }
}

/* factors that were kept solve as they did, bit by bit, whatever was factorized since */
static void kept_factors_return(void **state) {
  (void)state;
  support_rng rng = support_rng_make(11);
  for (int round = 0; round < 50; round++) {
    entries first, e;
    support_memory memory = {0};
    mbg__arena arena = make_arena(&memory);
    const mbg_allocator allocator = support_allocator(&memory);
    mbg__csc A;
    mbg__klu *klu;
    int slot[PAIRS];
    double x[NMAX], y[NMAX];
    random_regular(&first, &rng, 1 + support_index(&rng, NMAX));
    assert_int_equal(mbg__csc_build(&A, &arena, first.nrow, first.ncol, first.count, first.row, first.col, slot),
                     MBG_OK);
    assert_int_equal(mbg__klu_prepare(&klu, &allocator, &A, MBG__KLU_FROZEN, A.ncol), MBG_OK);
    assert_int_equal(mbg__klu_bytes(klu), 0);
    solution(x, klu, &A, &first, slot);
    void *kept = malloc(mbg__klu_bytes(klu));
    assert_true(mbg__klu_keep(klu, kept));
    for (int k = 0; k < A.ncol; k++) {
      x[k] = y[k] = 2 - k;
    }
    mbg__klu_solve_T(klu, x, 1);
    e = first;
    vary(&e, &rng, 0.1);
    double z[NMAX];
    solution(z, klu, &A, &e, slot);
    mbg__klu_recall(klu, kept);
    mbg__klu_solve_T(klu, y, 1);
    assert_memory_equal(x, y, sizeof *x * (size_t)A.ncol);
    free(kept);
    mbg__klu_destroy(klu);
    mbg__arena_destroy(&arena);
    assert_int_equal(memory.live, 0);
  }
}

/* refactor and fresh factorization agree, on [a b; c d] with pivots that suit, and with pivots that become zero */
static void frozen_pivots_give_way_once(void **state) {
  (void)state;
  support_memory memory = {0};
  mbg__arena arena = make_arena(&memory);
  const mbg_allocator allocator = support_allocator(&memory);
  entries e = {.nrow = 2, .ncol = 2};
  mbg__csc A;
  mbg__klu *klu;
  int slot[4];
  double x[NMAX], y[NMAX], z[NMAX];
  for (int k = 0; k < 4; k++) {
    push(&e, k / 2, k % 2, 0);
  }
  const double suits[4] = {5, 1, 2, 3}, zero[4] = {0, 1, 2, 3}, tiny[4] = {1e-14, 1, 2, 3};
  assert_int_equal(mbg__csc_build(&A, &arena, 2, 2, 4, e.row, e.col, slot), MBG_OK);
  assert_int_equal(mbg__klu_prepare(&klu, &allocator, &A, MBG__KLU_FROZEN, A.ncol), MBG_OK);
  memcpy(e.val, suits, sizeof suits);
  solution(x, klu, &A, &e, slot);
  memcpy(e.val, zero, sizeof zero);
  solution(z, klu, &A, &e, slot); /* y = 1, 2 x + 3 y = 2 */
  assert_close(z[0], -0.5, 1e-15);
  assert_close(z[1], 1, 1e-15);
  memcpy(e.val, tiny, sizeof tiny);
  solution(z, klu, &A, &e, slot);
  assert_false(mbg__klu_keep(klu, NULL)); /* pivots of its own */
  assert_close(z[0], -0.5, 1e-13);        /* the pivot 1e-14 would leave two digits */
  assert_close(z[1], 1, 1e-13);
  memcpy(e.val, suits, sizeof suits);
  solution(y, klu, &A, &e, slot);
  assert_memory_equal(x, y, 2 * sizeof *x);

  /* thawed, the pivots of the next matrix are frozen */
  mbg__klu_thaw(klu);
  memcpy(e.val, zero, sizeof zero);
  solution(z, klu, &A, &e, slot);
  assert_close(z[0], -0.5, 1e-15);
  mbg__klu_destroy(klu);
  mbg__arena_destroy(&arena);
  assert_int_equal(memory.live, 0);
}

/* ---------------------------------------------------------------------- memory */

static void building_survives_lack_of_memory(void **state) {
  (void)state;
  support_rng rng = support_rng_make(5);
  entries e;
  random_regular(&e, &rng, 20);
  for (int n = 1;; n++) {
    support_memory memory = {.fail_at = n};
    mbg__arena arena = make_arena(&memory);
    const mbg_allocator allocator = support_allocator(&memory);
    mbg__csc A;
    mbg__klu *klu = NULL;
    int err = mbg__csc_build(&A, &arena, e.nrow, e.ncol, e.count, e.row, e.col, NULL);
    if (err == MBG_OK) {
      err = mbg__klu_prepare(&klu, &allocator, &A, MBG__KLU_FRESH, A.ncol);
    }
    assert_int_equal(err, memory.requests < n ? MBG_OK : MBG_ERROR_MEMORY);
    mbg__klu_destroy(klu);
    mbg__arena_destroy(&arena);
    assert_int_equal(memory.live, 0);
    if (err == MBG_OK) {
      break;
    }
  }
}

/* KLU's own requests, made to fail one by one through the hooks of SuiteSparse (of this process; the library does not
   touch them) */
static long klu_requests, klu_fail_at;

static bool klu_fails(void) { return ++klu_requests == klu_fail_at; }
static void *hook_malloc(size_t size) { return klu_fails() ? NULL : malloc(size); }
static void *hook_realloc(void *block, size_t size) { return klu_fails() ? NULL : realloc(block, size); }

static void set_hooks(void *(*f_malloc)(size_t), void *(*f_realloc)(void *, size_t)) {
#if SUITESPARSE_MAIN_VERSION >= 6
  SuiteSparse_config_malloc_func_set(f_malloc);
  SuiteSparse_config_realloc_func_set(f_realloc);
#else
  SuiteSparse_config.malloc_func = f_malloc;
  SuiteSparse_config.realloc_func = f_realloc;
#endif
}

static void klu_survives_lack_of_memory(void **state) {
  (void)state;
  support_rng rng = support_rng_make(6);
  support_memory memory = {0};
  mbg__arena arena = make_arena(&memory);
  const mbg_allocator allocator = support_allocator(&memory);
  entries e;
  mbg__csc A;
  random_regular(&e, &rng, 20);
  build(&A, &arena, &e);
  set_hooks(hook_malloc, hook_realloc);
  for (int mode = MBG__KLU_FRESH; mode <= MBG__KLU_FROZEN; mode++) {
    int failed = 0;
    for (klu_fail_at = 1;; klu_fail_at++) {
      mbg__klu *klu;
      klu_requests = 0;
      int err = mbg__klu_prepare(&klu, &allocator, &A, mode, A.ncol);
      if (err == MBG_OK) {
        err = mbg__klu_factor(klu, NULL);
      }
      failed += err == MBG_ERROR_MEMORY;
      const bool done = klu_requests < klu_fail_at;
      assert_true(err == MBG_OK || (err == MBG_ERROR_MEMORY && !done));
      if (done) {
        const long requests = klu_requests;
        klu_fail_at = 0;
        double b[20] = {1};
        mbg__klu_solve(klu, b, 1);
        mbg__klu_solve_T(klu, b, 1);
        assert_int_equal(mbg__klu_factor(klu, NULL), MBG_OK);
        assert_true(mode == MBG__KLU_FRESH || klu_requests == requests); /* frozen: no memory after the first */
      }
      mbg__klu_destroy(klu);
      if (done) {
        break;
      }
    }
    assert_true(failed > 5);
  }
  set_hooks(malloc, realloc);
  mbg__arena_destroy(&arena);
  assert_int_equal(memory.live, 0);
}

/* ---------------------------------------------------------------------- twin */

/* A x = b  =>  A dx = db - dA x; and A^T likewise, not conjugated */
static void twin_differentiates_solutions(void **state) {
  (void)state;
  support_rng rng = support_rng_make(7);
  for (int i = 0; i < 100; i++) {
    entries e, d;
    double x[NMAX], dx[NMAX], b[NMAX], db[NMAX], t[NMAX];
    double _Complex val[PAIRS], B[NMAX];
    const int n = 1 + support_index(&rng, NMAX);
    const bool transposed = i % 2;
    random_regular(&e, &rng, n);
    d = e;
    vary(&d, &rng, 1);
    support_normals(&rng, x, n);
    support_normals(&rng, dx, n);
    multiply(b, &e, x, transposed);
    multiply(db, &e, dx, transposed);
    multiply(t, &d, x, transposed);
    for (int k = 0; k < e.count; k++) {
      val[k] = twin_step(e.val[k], d.val[k]);
    }
    for (int k = 0; k < n; k++) {
      B[k] = twin_step(b[k], db[k] + t[k]);
    }
    assert_int_equal(twin_klu_solve(n, e.count, e.row, e.col, val, transposed, B, 1, NULL), MBG_OK);
    for (int k = 0; k < n; k++) {
      assert_close(creal(B[k]), x[k], 1e-13);
      assert_close(twin_derivative(B[k]), dx[k], 1e-12); /* its right-hand side is up to 1e3 times larger */
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(patterns_merge_duplicates),
      cmocka_unit_test(products_add),
      cmocka_unit_test(klu_finds_planted_solutions),
      cmocka_unit_test(klu_reports_singular_matrices),
      cmocka_unit_test(klu_accepts_nothing),
      cmocka_unit_test(recomputation_is_bit_identical),
      cmocka_unit_test(kept_factors_return),
      cmocka_unit_test(frozen_pivots_give_way_once),
      cmocka_unit_test(building_survives_lack_of_memory),
      cmocka_unit_test(klu_survives_lack_of_memory),
      cmocka_unit_test(twin_differentiates_solutions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
