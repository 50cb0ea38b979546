/* Solutions by elimination along a forest are those of the sparse factors; other models have no forest. */
#include "system/forest.h"

#include "support/model_case.h"
#include "support/random_model.h"
#include "system/saddle.h"

#include <stdio.h>
#include <stdlib.h>

static const double pi = 3.14159265358979;

typedef struct {
  model_case c;
  mbg__saddle saddle;
  mbg__forest *forest;
  bool *keep;
  double *K, *M, *B;
  int n;
} fixture;

static void open_fixture(fixture *f, const char *text, uint64_t seed) {
  support_rng rng = support_rng_make(seed);
  model_case_open(&f->c, NULL, text);
  const mbg_model *m = f->c.m;
  model_case_state(&f->c, &rng, 0.1);
  f->n = m->nv + m->nrow;
  f->K = model_case_array(&f->c, mbg__csc_count(mbg__system_pattern_K(f->c.sys)));
  f->M = model_case_array(&f->c, mbg__csc_count(mbg__system_pattern_K(f->c.sys)));
  f->B = model_case_array(&f->c, mbg__csc_count(mbg__system_pattern_B(f->c.sys)));
  f->keep = calloc((size_t)m->nrow + 1, sizeof(bool));
  for (int i = 0; i < m->nrow; i++) {
    f->keep[i] = true;
  }
  mbg__system_matrices(f->c.sys, &(mbg__matrices){.K = f->K, .M = f->M, .B = f->B});
  assert_int_equal(mbg__forest_create(f->c.ctx, &f->c.arena, f->c.sys, f->keep, &f->forest), MBG_OK);
  assert_int_equal(mbg__saddle_create(f->c.ctx, &f->c.arena, f->c.sys, 0, NULL, MBG__KLU_FRESH, &f->saddle), MBG_OK);
}

static void close_fixture(fixture *f) {
  mbg__saddle_destroy(&f->saddle);
  free(f->keep);
  model_case_close(&f->c);
}

/* k K + c M; 1e-9: matrices with stiffnesses of 200 and inertias of 0.01, two ways of elimination */
static void compare(fixture *f, double k, double c, uint64_t seed) {
  support_rng rng = support_rng_make(seed);
  double *x = model_case_array(&f->c, f->n), *y = model_case_array(&f->c, f->n);
  support_normals(&rng, x, f->n);
  for (int i = 0; i < f->n; i++) {
    x[i] = i >= f->c.m->nv && !f->keep[i - f->c.m->nv] ? 0.5 : x[i];
    y[i] = x[i];
  }
  mbg__saddle_clear(&f->saddle);
  mbg__saddle_add_K(&f->saddle, k, f->K);
  mbg__saddle_add_K(&f->saddle, c, f->M);
  mbg__saddle_add_rows(&f->saddle, f->B, f->B, f->keep, NULL);
  assert_int_equal(mbg__saddle_factor(f->c.ctx, &f->saddle, "test"), MBG_OK);
  mbg__saddle_solve(&f->saddle, false, true, y, 1);
  assert_true(mbg__forest_factor(f->forest, k, f->K, c, f->M, f->B));
  mbg__forest_solve(f->forest, x);
  assert_close_array(x, y, f->n, 1e-9);
}

static void solutions_along_trees_are_those_of_sparse_factors(void **state) {
  (void)state;
  int count = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    fixture f;
    char *text = random_model(seed, &(random_model_options){.kind = RANDOM_TREE, .bodies = 2 + (int)seed % 9});
    open_fixture(&f, text, seed);
    count += f.forest != NULL;
    if (f.forest) {
      compare(&f, 0, 1, seed);
      compare(&f, 1, 1e4, seed);
      compare(&f, 0, 1, seed + 1);
      if (f.c.m->nrow > 0) {
        f.keep[f.c.m->nrow / 2] = false;
        assert_int_equal(mbg__forest_create(f.c.ctx, &f.c.arena, f.c.sys, f.keep, &f.forest), MBG_OK);
        assert_non_null(f.forest);
        compare(&f, 1, 1e4, seed);
      }
    }
    close_fixture(&f);
    free(text);
  }
  assert_int_equal(count, 60);
}

/* a ring of three bodies, and two bodies on the ground that a coupling joins */
static void others_have_no_forest(void **state) {
  (void)state;
  fixture f;
  char ring[2000], *end = ring;
  end += sprintf(end, "{\"mbgrad\": 1, \"bodies\": {");
  for (int i = 0; i < 3; i++) {
    end += sprintf(end, "%s\"b%d\": {\"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [%g, %g, 0]}", i ? ", " : "", i,
                   cos(2 * pi * i / 3), sin(2 * pi * i / 3));
  }
  end += sprintf(end, "}, \"joints\": {");
  for (int i = 0; i < 3; i++) {
    end += sprintf(end, "%s\"j%d\": {\"type\": \"spherical\", \"between\": [\"b%d\", \"b%d\"], \"at\": [%d, 1, 2]}",
                   i ? ", " : "", i, i, (i + 1) % 3, i);
  }
  sprintf(end, "}}");
  open_fixture(&f, ring, 1);
  assert_null(f.forest);
  close_fixture(&f);

  open_fixture(
      &f,
      "{\"mbgrad\": 1, \"bodies\": {\"a\": {\"mass\": 1, \"inertia\": [1, 1, 1]}, \"b\": {\"mass\": 1, "
      "\"inertia\": [1, 1, 1]}}, \"joints\": {\"i\": {\"type\": \"revolute\", \"between\": [\"ground\", \"a\"]}, "
      "\"k\": {\"type\": \"revolute\", \"between\": [\"ground\", \"b\"]}}, \"couplings\": {\"g\": {\"terms\": "
      "[{\"joint\": \"i\", \"coordinate\": \"angle\", \"factor\": 2}, {\"joint\": \"k\", \"coordinate\": "
      "\"angle\", \"factor\": 1}], \"constant\": 0}}}",
      2);
  assert_null(f.forest);
  close_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_along_trees_are_those_of_sparse_factors),
      cmocka_unit_test(others_have_no_forest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
