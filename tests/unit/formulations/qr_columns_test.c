/* Columns of direct differentiation in qr: the bits of a column depend neither on the columns beside it nor on the
   processor, and a list of the attributes that vary changes nothing. */
#include "formulations/qr/qr_columns.h"
#include "formulations/qr/qr_point_internal.h"
#include "support/model_case.h"
#include "support/random_model.h"

#include <stdlib.h>

enum { NCOL = 7 };

typedef struct {
  model_case c;
  support_rng rng;
  mbg__rank *rank;
  mbg__qr_point *point;
  double *w, *dv, *da;           /* NCOL columns */
  double *v_star, *a, *lambda;   /* all columns at once */
  double *own_v, *own_a, *own_l; /* others */
} bench;

static double *randoms(bench *b, int n) {
  double *x = model_case_array(&b->c, n);
  for (int i = 0; i < n; i++) {
    x[i] = support_uniform(&b->rng, -1, 1);
  }
  return x;
}

static void setup(bench *b, const char *text, uint64_t seed) {
  const real *v_star, *a;
  b->rng = support_rng_make(seed);
  model_case_open(&b->c, NULL, text);
  model_case_design(&b->c, &b->rng, 0);
  model_case_state(&b->c, &b->rng, 0.02);
  const mbg_model *m = b->c.m;
  assert_int_equal(mbg__rank_analyse(b->c.ctx, &b->c.arena, b->c.sys, NULL, &b->rank), MBG_OK);
  assert_int_equal(mbg__qr_point_create(b->c.ctx, &b->c.arena, b->c.sys, b->rank, 0.5, &b->point), MBG_OK);
  assert_int_equal(mbg__qr_point_eval(b->c.ctx, b->point, b->c.t, b->c.H, b->c.v, b->c.turns, &v_star, &a), MBG_OK);
  b->w = model_case_array(&b->c, NCOL * m->nw);
  b->dv = model_case_array(&b->c, NCOL * m->nw);
  for (int k = 0; k < NCOL; k++) {
    model_case_random_velocity(&b->c, &b->rng, b->w + k * m->nw);
    model_case_random_velocity(&b->c, &b->rng, b->dv + k * m->nw);
  }
  b->da = randoms(b, NCOL * m->na);
  for (int i = 0; i < NCOL * m->na; i++) { /* a third of the attributes varies */
    b->da[i] = i % m->na % 3 == 0 ? 0.1 * b->da[i] : 0;
  }
  double **all[] = {&b->v_star, &b->a, &b->own_v, &b->own_a};
  for (int i = 0; i < MBG_COUNT(all); i++) {
    *all[i] = model_case_array(&b->c, NCOL * m->nw);
  }
  b->lambda = model_case_array(&b->c, NCOL * m->nrow);
  b->own_l = model_case_array(&b->c, NCOL * m->nrow);
}

static void push(bench *b, int first, int n, double *v_star, double *a, double *lambda) {
  const mbg_model *m = b->c.m;
  const size_t at = (size_t)(first * m->nw);
  assert_int_equal(mbg__qr_point_push(b->c.ctx, b->point, n, b->w + at, b->dv + at, b->da + first * m->na, v_star + at,
                                      a + at, lambda + first * m->nrow),
                   MBG_OK);
}

static void assert_same(int n, const double *x, const double *y) {
  for (int i = 0; i < n; i++) {
    assert_true(x[i] == y[i]);
  }
}

static void compare(const bench *b) {
  const mbg_model *m = b->c.m;
  assert_same(NCOL * m->nw, b->v_star, b->own_v);
  assert_same(NCOL * m->nw, b->a, b->own_a);
  assert_same(NCOL * m->nrow, b->lambda, b->own_l);
}

static void check(bench *b) {
  mbg__qr_varied varied;
  push(b, 0, 1, b->v_star, b->a, b->lambda); /* the later ones all place the system themselves */
  push(b, 0, NCOL, b->v_star, b->a, b->lambda);
  for (int k = 0; k < NCOL; k++) {
    push(b, k, 1, b->own_v, b->own_a, b->own_l);
  }
  compare(b);
  b->point->columns->wide = false;
  push(b, 0, NCOL, b->own_v, b->own_a, b->own_l);
  compare(b);
  assert_int_equal(mbg__qr_varied_make(b->c.ctx, &b->c.arena, b->c.m->na, NCOL, b->da, NULL, &varied), MBG_OK);
  assert_int_equal(varied.nblock, (NCOL + MBG__LANES - 1) / MBG__LANES);
  assert_int_equal(varied.block[0].n, (b->c.m->na + 2) / 3);
  mbg__qr_point_varied(b->point, &varied);
  push(b, 0, NCOL, b->own_v, b->own_a, b->own_l);
  compare(b);
  mbg__qr_point_varied(b->point, NULL);
  push(b, 0, NCOL, b->own_v, b->own_a, b->own_l);
  compare(b);
}

static void check_text(const char *text, uint64_t seed, bool *few, bool *rigid) {
  static bench b;
  setup(&b, text, seed);
  check(&b);
  few[few_freedoms(b.point)] = true;
  rigid[b.point->columns->rigid] = true;
  model_case_close(&b.c);
}

/* few freedoms and many, rigid bodies and others */
static void test_bits(void **state) {
  (void)state;
  bool few[2] = {false}, rigid[2] = {false};
  for (uint64_t seed = 1; seed <= (uint64_t)support_rounds(24, 200); seed++) {
    random_model_options options = random_model_mix(seed);
    if (seed % 2) {
      options.forces = seed % 4 == 1;
      options.conservative = true;
      options.contacts = options.states = options.modal = options.beams = options.guides = false;
      options.late = RANDOM_LATE_NONE;
    }
    char *text = random_model(seed, &options);
    check_text(text, seed, few, rigid);
    free(text);
  }
  assert_true(few[0] && few[1] && rigid[0] && rigid[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
