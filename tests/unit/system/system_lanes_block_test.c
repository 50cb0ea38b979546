/* Up to four columns side by side against the same columns one after the other, in random models without forces by
   signals and in a tree that is large enough for threads. */
#include "support/model_case.h"
#include "support/random_model.h"
#include "support/tree_text.h"
#include "system/system_lanes.h"

#include <stdlib.h>
#include <string.h>

/* rounding of sums in another order, relative to the largest entry of a result */
static const double tol = 1e-12;

enum { W, V, VD, LAMBDA, A, PARTS };

static double *randoms(model_case *c, support_rng *rng, int n) {
  double *out = model_case_array(c, n);
  for (int i = 0; i < n; i++) {
    out[i] = support_uniform(rng, -1, 1);
  }
  return out;
}

static void compare(const char *what, int n, const double *a, const double *b) {
  double scale = 1;
  for (int i = 0; i < n; i++) {
    scale = fmax(scale, fabs(b[i]));
  }
  for (int i = 0; i < n; i++) {
    if (!(fabs(a[i] - b[i]) <= tol * scale)) {
      fail_msg("%s[%d]: %.15g and %.15g", what, i, a[i], b[i]);
    }
  }
}

/* sums start at numbers of their own, which are added to */
static void check_pull(model_case *c, support_rng *rng, mbg__lanes_block *block, int nc, bool multipliers) {
  const int size[PARTS] = {c->m->nw, c->m->nw, c->m->nw, c->m->nrow, c->m->na};
  static const char *const name[PARTS] = {"frames", "twists", "rates", "multipliers", "attributes"};
  mbg__block_weights x[MBG__LANES] = {0};
  mbg__block_sums g[MBG__LANES] = {0};
  double *out[2][MBG__LANES][PARTS];
  for (int q = 0; q < nc; q++) {
    x[q] = (mbg__block_weights){.z = randoms(c, rng, c->m->nw),
                                .mu = randoms(c, rng, c->m->nrow),
                                .nu = multipliers ? NULL : randoms(c, rng, c->m->nrow)};
    for (int k = 0; k < PARTS; k++) {
      out[0][q][k] = randoms(c, rng, size[k]);
      out[1][q][k] = model_case_array(c, size[k]);
      memcpy(out[1][q][k], out[0][q][k], (size_t)size[k] * sizeof(double));
    }
    double **o = out[0][q], **s = out[1][q];
    g[q] = (mbg__block_sums){o[W], o[V], o[VD], multipliers ? o[LAMBDA] : NULL, multipliers ? NULL : o[A]};
    mbg__system_pull(c->sys, x[q].z, x[q].mu, x[q].nu, NULL, s[W], s[V], s[VD], multipliers ? s[LAMBDA] : NULL,
                     multipliers ? NULL : s[A]);
  }
  mbg__system_pull_block(c->sys, block, nc, x, g);
  for (int q = 0; q < nc; q++) {
    for (int k = 0; k < PARTS; k++) {
      compare(name[k], size[k], out[0][q][k], out[1][q][k]);
    }
  }
}

static void check_push(model_case *c, support_rng *rng, mbg__lanes_block *block, int nc) {
  const mbg_model *m = c->m;
  mbg__direction d[MBG__LANES];
  double *dr[MBG__LANES], *dphi[MBG__LANES];
  for (int q = 0; q < nc; q++) {
    d[q] = (mbg__direction){.w = randoms(c, rng, m->nw),
                            .dv = randoms(c, rng, m->nw),
                            .dvd = randoms(c, rng, m->nw),
                            .da = randoms(c, rng, m->na)};
    dr[q] = model_case_array(c, m->nw);
    dphi[q] = model_case_array(c, m->nrow);
  }
  mbg__system_push_block(c->sys, block, nc, d, &(mbg__lanes_change){.dr = dr, .dphi = dphi});
  for (int q = 0; q < nc; q++) {
    double *r = model_case_array(c, m->nw), *phi = model_case_array(c, m->nrow);
    mbg__system_push(c->sys, &d[q], r, phi, NULL, NULL);
    compare("dr", m->nw, dr[q], r);
    compare("dphi", m->nrow, dphi[q], phi);
  }
}

static bool check_text(const char *text, uint64_t seed) {
  support_rng rng = support_rng_make(seed);
  model_case c;
  mbg__lanes_block *block;
  model_case_open(&c, NULL, text);
  model_case_state(&c, &rng, 0.1);
  assert_int_equal(mbg__lanes_block_create_large(c.ctx, &c.arena, c.sys, &block), MBG_OK);
  const bool serves = mbg__lanes_block_serves(block, 2);
  for (int nc = 1; nc <= MBG__LANES; nc++) {
    check_pull(&c, &rng, block, nc, false);
    check_pull(&c, &rng, block, nc, true);
    check_push(&c, &rng, block, nc);
  }
  check_pull(&c, &rng, NULL, 3, false);
  model_case_close(&c);
  return serves;
}

static void test_random(void **state) {
  (void)state;
  int served = 0;
  for (int i = 0; i < support_rounds(20, 200); i++) {
    random_model_options options = random_model_mix((uint64_t)i);
    options.forces = i % 2;
    options.conservative = options.drivers = options.couplings = options.rolling = true;
    options.contacts = options.states = options.modal = options.beams = options.guides = false;
    options.late = RANDOM_LATE_NONE;
    char *text = random_model((uint64_t)i, &options);
    served += check_text(text, (uint64_t)i);
    free(text);
  }
  assert_int_equal(served, support_rounds(20, 200));
}

static void test_large(void **state) {
  (void)state;
  char *text = tree_text(80, false, true);
  assert_true(check_text(text, 1));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_large)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
