/* The vehicle: 32 parameters of its suspension, until the projected gradient is a millionth of that at the start; the
   bicycle of the widest range of stable speeds, the tendon finger of least effort. */
#include "mbgrad/optimize.h"
#include "support/support.h"

#include <math.h>

static void test_vehicle(void **state) {
  (void)state;
  mbg_context *ctx = NULL;
  mbg_optimize *opt = NULL;
  mbg_model *model = NULL;
  mbg_optimize_options o;
  mbg_run_options run;
  mbg_run_options_default(&run, sizeof(run));
  mbg_optimize_options_default(&o, sizeof(o));
  o.run = &run;
  run.step = 0.004;                             /* twice that of the file: half the time, nearly the same problem */
  o.iterations = support_sanitized() ? 5 : 400; /* ten times as slow there */
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_load(ctx, MBG_GALLERY_DIR "/vehicle-design", &model), MBG_OK);
  assert_int_equal(mbg_optimize_create(ctx, model, &o, &opt), MBG_OK);
  assert_int_equal(mbg_optimize_solve(ctx, opt), MBG_OK);
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  assert_int_equal(s->parameters, 32);
  assert_int_equal(s->direct, 0);
  assert_true(s->objective < 0.9 * s->objective_start);
  if (!support_sanitized()) {
    assert_int_equal(s->reason, MBG_OPTIMIZE_OPTIMAL);
    assert_true(s->gradient <= 1e-6 * s->gradient_start);
    assert_close(s->objective, 1.3957, 0.01); /* of the step of the file; this one adds less than a percent */
  }
  mbg_optimize_destroy(opt);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
}

/* objectives of gallery models at their optima, as their pages have them */
static void test_found(void **state) {
  static const struct {
    const char *path;
    double objective, tol;
  } found[] = {{MBG_GALLERY_DIR "/bicycle-design", -4.594159, 1e-5},
               {MBG_GALLERY_DIR "/tendon-finger", 0.764914, 1e-5}};
  (void)state;
  for (int i = 0; i < (int)(sizeof found / sizeof *found); i++) {
    mbg_context *ctx = NULL;
    mbg_optimize *opt = NULL;
    mbg_model *model = NULL;
    assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
    assert_int_equal(mbg_model_load(ctx, found[i].path, &model), MBG_OK);
    assert_int_equal(mbg_optimize_create(ctx, model, NULL, &opt), MBG_OK);
    assert_int_equal(mbg_optimize_solve(ctx, opt), MBG_OK);
    const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
    assert_int_equal(s->reason, MBG_OPTIMIZE_OPTIMAL);
    assert_close(s->objective, found[i].objective, found[i].tol);
    mbg_optimize_destroy(opt);
    mbg_model_destroy(model);
    mbg_context_destroy(ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_vehicle), cmocka_unit_test(test_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
