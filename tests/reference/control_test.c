/* Control problems with known answers: theory 2, section 13, R4 (closed form); the crane that follows a path. Long:
   not under sanitizers. */
#include "mbgrad/control.h"
#include "reference/reference_case.h"

#include <math.h>
#include <stdio.h>

static mbg_context *context(void) {
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  return ctx;
}

static void check(const mbg_context *ctx, int err, const char *what) {
  if (err < 0) {
    fail_msg("%s: %s", what, mbg_context_error(ctx));
  }
}

/* ---------------------------------------------------------------------- R4 */

/* free point, u(t) = -(A + Bq (T - t)) is optimal: linear, so two samples hold it */
static const double A = 2.10221433243, Bq = -2.12323647575, T = 2, J_exact = 1.59242735682;

static const char rest_to_rest[] =
    "{\"mbgrad\": 1, \"parameters\": {\"uk\": {\"value\": [2.14425861907, -2.10221433243]}}, "
    "\"controls\": {\"u\": {\"times\": [0, 2], \"values\": \"uk\"}}, "
    "\"bodies\": {\"b\": {\"motion\": \"planar-point\", \"mass\": 1}}, "
    "\"forces\": {\"f\": {\"type\": \"force\", \"on\": \"b\", \"force\": [\"u\", 0, 0]}}, "
    "\"signals\": {\"x\": {\"type\": \"position\", \"of\": \"b\", \"component\": \"x\"}, "
    "\"v\": {\"type\": \"velocity\", \"of\": \"b\", \"component\": \"x\"}, "
    "\"s\": {\"type\": \"control\", \"control\": \"u\"}}, "
    "\"criteria\": {\"energy\": {\"integral\": \"s^2/2\"}, \"end\": {\"terminal\": \"25*((x - 1.5)^2 + v^2)\"}, "
    "\"J\": {\"value\": \"energy + end\"}}, "
    "\"run\": {\"formulation\": \"dae\", \"end\": 2, \"step\": 0.04}}";

/* the discrete gradient at the exact optimum, printed to seven places behind the point */
static void test_gradient(void **state) {
  (void)state;
  static const double printed[3][2] = {{-0.0626742, -0.0361350}, {-0.0156930, -0.0090437}, {-0.0039262, -0.0022623}};
  for (int l = 0; l < 3; l++) {
    gradient_case c;
    gradient_case_open(&c, NULL, rest_to_rest);
    c.options.step = T / (50 << l);
    assert_close(c.p[0], -(A + Bq * T), 1e-10);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
    const int k = reference_criterion(&c, "J");
    assert_close(g[k * 2], printed[l][0], 6e-8);
    assert_close(g[k * 2 + 1], printed[l][1], 6e-8);
    free(g);
    gradient_case_close(&c);
  }
}

/* optimum of the discrete problem, from u = 0 */
static void solve_at(int steps, int samples, const char *optimizer, bool own_effort, double *J, double u[2]) {
  mbg_context *ctx = context();
  mbg_model *model = NULL;
  mbg_control *control = NULL;
  mbg_run_options run;
  mbg_control_options o;
  static const char *const names[] = {"energy", "end"};
  static const double weights[] = {0, 1}, zero[2] = {0, 0};
  mbg_run_options_default(&run, sizeof(run));
  mbg_control_options_default(&o, sizeof(o));
  run.step = T / steps;
  o.run = &run;
  o.parameters = zero;
  o.samples = samples;
  o.optimizer = optimizer;
  o.gradient_tolerance = 1e-10;
  o.iterations = 1000;
  o.nterm = 2;
  o.criteria = names;
  o.weights = own_effort ? weights : NULL;
  o.effort = own_effort ? 1 : NAN;
  check(ctx, mbg_model_parse(ctx, "r4", rest_to_rest, strlen(rest_to_rest), NULL, &model), "model");
  check(ctx, mbg_control_create(ctx, model, &o, &control), "problem");
  check(ctx, mbg_control_solve(ctx, control), "search");
  const mbg_control_summary *r = mbg_control_get_summary(control);
  assert_true(r->converged);
  assert_close(r->objective_start, 25 * 1.5 * 1.5, 1e-12);
  *J = r->objective;
  const mbg_control_samples *s = mbg_control_get_samples(control, 0);
  u[0] = s->values[0];
  u[1] = s->values[s->samples - 1];
  mbg_control_destroy(control);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
}

/* two samples: J and u tend to the closed form with the square of the step; all optimizers agree */
static void test_optimum(void **state) {
  (void)state;
  double R[5][3];
  for (int l = 0; l < 5; l++) {
    solve_at(50 << l, 2, "lbfgs", false, &R[l][0], &R[l][1]);
  }
  for (int order = 2; order < 5; order++) {
    for (int l = 0; l + order - 1 < 5; l++) {
      for (int e = 0; e < 3; e++) {
        R[l][e] = (pow(2, order) * R[l + 1][e] - R[l][e]) / (pow(2, order) - 1);
      }
    }
  }
  /* 1e-9: digits after three extrapolations; samples are known to the root of the rounding of J times their
     condition */
  assert_close(R[1][0], J_exact, 1e-9);
  assert_close(R[1][1], -(A + Bq * T), 1e-7);
  assert_close(R[1][2], -A, 1e-7);
  for (int k = 0; k < 3; k++) {
    static const char *const others[] = {"ipopt", "cg", "steepest"};
    double J[2], u[2][2];
    solve_at(50, 2, "lbfgs", false, &J[0], u[0]);
    solve_at(50, 2, others[k], false, &J[1], u[1]);
    assert_close(J[1], J[0], 1e-10);
    assert_close(u[1][0], u[0][0], 1e-6);
    assert_close(u[1][1], u[0][1], 1e-6);
  }
}

/* the effort of the problem is the integral of the model when both are exact: one step per sample makes the trapezoidal
   rule differ by h^2; the optimum is linear in time, so more samples change it by what the steps do to its ends */
static void test_effort(void **state) {
  (void)state;
  double J[2], u[2][2];
  solve_at(200, 2, "lbfgs", false, &J[0], u[0]);
  solve_at(200, 2, "lbfgs", true, &J[1], u[1]);
  assert_close(J[1], J[0], 1e-4);
  assert_close(u[1][0], u[0][0], 2e-4);
  solve_at(200, 11, "lbfgs", true, &J[1], u[1]);
  assert_close(J[1], J_exact, 1e-3);
  assert_close(u[1][0], -(A + Bq * T), 1e-2);
}

/* ---------------------------------------------------------------------- crane */

/* criterion `rms` of the model with the control found, replayed by another formulation or step */
static double replay(mbg_context *ctx, const mbg_control *control, const char *formulation, double step) {
  const mbg_model *model = mbg_control_model(control);
  mbg_run *run = NULL;
  mbg_run_options o;
  double psi[8];
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = formulation;
  o.step = step;
  check(ctx, mbg_run_create(ctx, model, &o, &run), "replay");
  check(ctx, mbg_run_set_parameters(ctx, run, mbg_control_parameters(control)), "replay");
  check(ctx, mbg_run_simulate(ctx, run), "replay");
  assert_true(mbg_model_criterion_count(model) <= 8);
  check(ctx, mbg_run_criteria(ctx, run, psi), "replay");
  mbg_run_destroy(run);
  for (int k = 0; k < mbg_model_criterion_count(model); k++) {
    if (!strcmp(mbg_model_criterion_name(model, k), "rms")) {
      return psi[k];
    }
  }
  fail_msg("no criterion 'rms'");
  return NAN;
}

/* path of degree 9 over 2 m: within 1 mm rms by its own steps; replayed within 2 mm by steps of 2 ms and, where this
   version has it, by the formulation `qr`, whose integration is error-controlled and shares nothing with `dae` */
static void test_crane(void **state) {
  (void)state;
  mbg_context *ctx = context();
  mbg_model *model = NULL;
  mbg_control *control = NULL;
  check(ctx, mbg_model_load(ctx, MBG_GALLERY_DIR "/overhead-crane", &model), "model");
  check(ctx, mbg_control_create(ctx, model, NULL, &control), "problem");
  check(ctx, mbg_control_solve(ctx, control), "search");
  assert_true(mbg_control_get_summary(control)->converged);
  const mbg_control_samples *s = mbg_control_get_samples(control, 0);
  assert_true(s->samples >= 100);
  assert_string_equal(s->interpolation, "cubic");
  assert_true(replay(ctx, control, "dae", NAN) < 1e-3);
  assert_true(replay(ctx, control, "lie", 0.002) < 2e-3);
  for (int i = 0; i < mbg_formulation_count(); i++) {
    if (!strcmp(mbg_formulation_key(i), "qr")) {
      assert_true(replay(ctx, control, "qr", NAN) < 2e-3);
    }
  }
  mbg_control_destroy(control);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradient), cmocka_unit_test(test_optimum),
                                     cmocka_unit_test(test_effort), cmocka_unit_test(test_crane)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
