/* Proof of independence of many rows: singular values in closed form, dependent rows, lack of memory. */
#include "start/rank_full.h"
#include "support/support.h"

enum { NMAX = 3000 };

/* rows (e_i - e_i+1)/sqrt(2), i < n, over n + 1 columns; closed: one more from the last column to the first */
typedef struct {
  int nrow, ncol, count;
  int row[2 * NMAX + 2], col[2 * NMAX + 2];
  double val[2 * NMAX + 2];
} chain;

static void make_chain(chain *c, int n, bool closed) {
  c->nrow = n + closed;
  c->ncol = n + 1;
  c->count = 0;
  for (int i = 0; i < c->nrow; i++) {
    for (int k = 0; k < 2; k++) {
      c->row[c->count] = i;
      c->col[c->count] = (i + k) % (n + 1);
      c->val[c->count++] = k ? -sqrt(0.5) : sqrt(0.5);
    }
  }
}

static double proved(mbg_context *ctx, const chain *c) {
  double sigma;
  assert_int_equal(mbg__rows_independence(ctx, c->nrow, c->ncol, c->count, c->row, c->col, c->val, &sigma), MBG_OK);
  return sigma;
}

static mbg_context *make_context(const mbg_allocator *allocator) {
  mbg_context *ctx;
  assert_int_equal(mbg_context_create(allocator, &ctx), MBG_OK);
  return ctx;
}

/* the eigenvalues of A A^T are 1 - cos(k pi/(n + 1)) */
static void chains_are_independent(void **state) {
  (void)state;
  static chain c;
  mbg_context *ctx = make_context(NULL);
  for (int n = 1; n <= NMAX; n = 1 + 3 * n / 2) {
    const double exact = sqrt(2) * sin(M_PI / (2 * (n + 1)));
    make_chain(&c, n, false);
    const double sigma = proved(ctx, &c);
    assert_true(sigma > exact * (1 - 1e-6) && sigma < 2 * exact);
  }
  mbg_context_destroy(ctx);
}

/* the rows of a ring add up to 0; with more rows than columns nothing is proved either */
static void rings_are_dependent(void **state) {
  (void)state;
  static chain c;
  mbg_context *ctx = make_context(NULL);
  for (int n = 2; n <= NMAX; n = 1 + 3 * n / 2) {
    make_chain(&c, n, true);
    assert_true(proved(ctx, &c) == 0);
    c.ncol++; /* an empty column */
    assert_true(proved(ctx, &c) == 0);
  }
  make_chain(&c, 2, true);
  c.ncol = 2;
  c.count = 0;
  assert_true(proved(ctx, &c) == 0);
  mbg_context_destroy(ctx);
}

/* a ring that almost closes: two rows of unit length at the angle a have the singular value sqrt(1 - cos a) */
static void near_dependence_is_not_proved(void **state) {
  (void)state;
  static chain c;
  mbg_context *ctx = make_context(NULL);
  for (int k = 1; k <= 15; k++) {
    const double a = pow(10, -k / 2.0), exact = sqrt(2) * sin(a / 2);
    c = (chain){.nrow = 2, .ncol = 2, .count = 3, .row = {0, 1, 1}, .col = {0, 0, 1}, .val = {1, cos(a), sin(a)}};
    const double sigma = proved(ctx, &c);
    assert_true(exact > 1.01e-5 ? fabs(sigma - exact) < 1e-3 * exact : sigma == 0 || exact > 0.99e-5);
  }
  mbg_context_destroy(ctx);
}

static void values_that_are_not_finite_prove_nothing(void **state) {
  (void)state;
  static chain c;
  mbg_context *ctx = make_context(NULL);
  make_chain(&c, 5, false);
  c.val[3] = NAN;
  assert_true(proved(ctx, &c) == 0);
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_are_independent),
      cmocka_unit_test(rings_are_dependent),
      cmocka_unit_test(near_dependence_is_not_proved),
      cmocka_unit_test(values_that_are_not_finite_prove_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
