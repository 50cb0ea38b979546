/* A repeated run evaluates at points of integrals what its signals need, the first one everything that warnings look
   at: their criteria agree to the last bit, and so do gradients after either. A step for an accuracy is not known where
   the error of one criterion is not. */
#include "mbgrad/error.h"
#include "run/run_internal.h"
#include "support/support.h"

#include <stdio.h>

enum { MOST = 64 };

static void check(const char *name, const char *formulation, double tolerance, double end) {
  mbg_context *ctx = NULL;
  mbg_model *model = NULL;
  mbg_run *run = NULL;
  mbg_run_options options;
  double first[MOST], again[MOST], g[MOST * MOST], h[MOST * MOST];
  char path[500];
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  snprintf(path, sizeof(path), "%s/%s", MBG_GALLERY_DIR, name);
  mbg_run_options_default(&options, sizeof(options));
  options.formulation = formulation;
  options.tolerance = tolerance;
  options.end = end;
  const bool made = mbg_model_load(ctx, path, &model) == MBG_OK && mbg_run_create(ctx, model, &options, &run) == MBG_OK;
  if (!made) {
    fail_msg("%s, %s: %s", name, formulation, mbg_context_error(ctx));
  }
  const int n = mbg_model_criterion_count(model), np = mbg_model_parameter_count(model);
  assert_true(n <= MOST && np <= MOST);
  assert_int_equal(mbg_run_simulate(ctx, run), MBG_OK);
  assert_int_equal(mbg_run_criteria(ctx, run, first), MBG_OK);
  assert_int_equal(mbg_run_gradient(ctx, run, MBG_METHOD_ADJOINT, g, NULL), MBG_OK);
  assert_int_equal(mbg_run_simulate(ctx, run), MBG_OK);
  assert_int_equal(mbg_run_criteria(ctx, run, again), MBG_OK);
  assert_int_equal(mbg_run_gradient(ctx, run, MBG_METHOD_ADJOINT, h, NULL), MBG_OK);
  assert_memory_equal(first, again, (size_t)n * sizeof(double));
  assert_memory_equal(g, h, (size_t)n * (size_t)np * sizeof(double));
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
}

/* positions, angles with turns, expressions, velocities, controls, forces, reactions */
static void repeated_runs_agree(void **state) {
  (void)state;
  static const char *const models[] = {"five-bar",     "four-bar", "driven-flap",
                                       "arm-tracking", "two-arm",  "simple-pendulum"};
  for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
    check(models[i], "qr", 1e-6, 0.2);
    check(models[i], "dca", 1e-6, 0.2);
  }
}

static void unknown_errors_give_no_step(void **state) {
  (void)state;
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_load(ctx, MBG_GALLERY_DIR "/quarter-car", &model), MBG_OK);
  assert_int_equal(mbg_run_create(ctx, model, NULL, &run), MBG_OK);
  assert_int_equal(mbg_run_simulate(ctx, run), MBG_OK);
  assert_true(isnan(mbg_run_step_for(run, -1, 1e-3)));
  assert_int_equal(mbg_run_error(ctx, run, MBG_METHOD_AUTO, true), MBG_OK);
  const double all = mbg_run_step_for(run, -1, 1e-3);
  assert_true(all > 0 && all <= mbg_run_step_for(run, 1, 1e-3));
  /* the first of several: fmin and fmax would pass over it */
  for (int k = 0; k < 2; k++) {
    double *part = k == 0 ? &run->errors[0].value_relative : &run->errors[0].gradient_relative;
    const double before = *part;
    *part = NAN;
    assert_true(isnan(mbg_run_step_for(run, -1, 1e-3)));
    assert_true(isnan(mbg_run_step_for(run, 0, 1e-3)));
    assert_true(mbg_run_step_for(run, 1, 1e-3) > 0);
    *part = before;
  }
  assert_close(mbg_run_step_for(run, -1, 1e-3), all, 1e-15);
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(repeated_runs_agree),
                                     cmocka_unit_test(unknown_errors_give_no_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
