/* The stabilised index-2 variant: velocities satisfy their constraints to rounding, second order. */
#include "unit/formulations/alpha_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 50 };

/* largest violations of positions and velocities over a run */
static void violations(int index, double *phi_most, double *phid_most) {
  alpha_bench b[1];
  double phi[16], phid[16];
  int now = 0;
  alpha_bench_open(b, MBG_GALLERY_DIR "/double-pendulum-spring", index);
  *phi_most = *phid_most = 0;
  assert_int_equal(mbg__alpha_begin(b->ctx, b->alpha, &b->node[0]), MBG_OK);
  for (int n = 0; n < STEPS; n++, now = !now) {
    const mbg__alpha_node *from = &b->node[now], *to = &b->node[!now];
    assert_int_equal(mbg__alpha_step(b->ctx, b->alpha, from, 0.02, to), MBG_OK);
    mbg__system_residual(b->sys, NULL, phi, phid, NULL, NULL);
    for (int i = 0; i < b->model->nrow; i++) {
      *phi_most = fmax(*phi_most, fabs(phi[i]));
      *phid_most = fmax(*phid_most, fabs(phid[i]));
    }
  }
  alpha_bench_close(b);
}

static void velocities_satisfy_their_constraints(void **state) {
  (void)state;
  double phi, phid;
  violations(3, &phi, &phid);
  /* index 3: positions to rounding, velocities to the order of the method only */
  assert_true(phi < 1e-13 && phid > 1e-6);
  violations(2, &phi, &phid);
  /* rounding of rates of order 10 */
  assert_true(phi < 1e-13 && phid < 1e-12);
}

/* the model with "index": 2 in its run section, and the stepper of `lie` */
static char *index2_text(void) {
  size_t size;
  char *text = support_read_file(MBG_GALLERY_DIR "/double-pendulum-spring/model.json", &size);
  char *key = strstr(text, "\"alpha_f\": 0.1");
  assert_non_null(key);
  memcpy(key, "\"index\"  :   2", 14);
  return text;
}

static void second_order(void **state) {
  (void)state;
  char *text = index2_text();
  double error[3];
  for (int k = 0; k < 3; k++) {
    mbg_context *ctx;
    mbg_model *model;
    mbg_run *run;
    mbg_run_options options;
    double psi[3];
    mbg_run_options_default(&options, sizeof(options));
    options.formulation = "lie";
    options.step = 0.01 / (1 << k);
    assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
    assert_int_equal(mbg_model_parse(ctx, "model.json", text, strlen(text), NULL, &model), MBG_OK);
    assert_int_equal(mbg_run_create(ctx, model, &options, &run), MBG_OK);
    assert_int_equal(mbg_run_simulate(ctx, run), MBG_OK);
    assert_int_equal(mbg_run_criteria(ctx, run, psi), MBG_OK);
    /* J in the limit of small steps: theory 2, section 13, R1 */
    error[k] = fabs(psi[2] - 4.420140425433);
    mbg_run_destroy(run);
    mbg_model_destroy(model);
    mbg_context_destroy(ctx);
  }
  for (int k = 0; k < 2; k++) {
    const double order = log2(error[k] / error[k + 1]);
    assert_true(order > 1.85 && order < 2.15);
  }
  free(text);
}

/* error control of the variant: J of theory 2, section 13, R1, nearer and by more steps for a smaller tolerance */
static void controlled_steps(void **state) {
  (void)state;
  char *text = index2_text();
  int nodes[2];
  for (int k = 0; k < 2; k++) {
    mbg_context *ctx;
    mbg_model *model;
    mbg_run *run;
    mbg_run_options options;
    double psi[3];
    mbg_run_options_default(&options, sizeof(options));
    options.formulation = "lie";
    options.tolerance = k ? 1e-7 : 1e-5;
    assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
    assert_int_equal(mbg_model_parse(ctx, "model.json", text, strlen(text), NULL, &model), MBG_OK);
    assert_int_equal(mbg_run_create(ctx, model, &options, &run), MBG_OK);
    assert_int_equal(mbg_run_simulate(ctx, run), MBG_OK);
    assert_int_equal(mbg_run_criteria(ctx, run, psi), MBG_OK);
    nodes[k] = mbg_run_node_count(run);
    assert_true(fabs(psi[2] - 4.420140425433) < (k ? 1e-3 : 2e-2));
    mbg_run_destroy(run);
    mbg_model_destroy(model);
    mbg_context_destroy(ctx);
  }
  assert_true(nodes[1] > 3 * nodes[0]);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(velocities_satisfy_their_constraints),
      cmocka_unit_test(second_order),
      cmocka_unit_test(controlled_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
