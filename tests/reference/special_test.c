/* Special positions: pivots at the origin of a body with reactions, drivers on modal bodies. All formulations that take
   such a model agree with `qr`, and adjoint with direct differentiation. */
#include "support/support.h"

#include "mbgrad/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

typedef struct {
  int nc, np;
  double p[MOST], psi[MOST], g[MOST];
} result;

static result run(const char *name, const char *formulation, double step, double tolerance, mbg_method method) {
  char path[400];
  mbg_context *ctx = NULL;
  mbg_model *model = NULL;
  mbg_run *r = NULL;
  mbg_run_options o;
  result out;
  snprintf(path, sizeof path, MBG_SOURCE_DIR "/tests/reference/special/%s.json", name);
  mbg_run_options_default(&o, sizeof o);
  o.formulation = formulation;
  o.integrator = step > 0 && !strcmp(formulation, "dca") ? "dop853" : NULL;
  o.step = step > 0 ? step : NAN;
  o.tolerance = step > 0 ? NAN : tolerance;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_load(ctx, path, &model), MBG_OK);
  out.nc = mbg_model_criterion_count(model);
  out.np = mbg_model_parameter_count(model);
  assert_true(out.nc * out.np <= MOST);
  assert_int_equal(mbg_run_create(ctx, model, &o, &r), MBG_OK);
  if (mbg_run_simulate(ctx, r) != MBG_OK) {
    fail_msg("%s, %s: %s", name, formulation, mbg_context_error(ctx));
  }
  assert_int_equal(mbg_run_parameters(r, out.p), MBG_OK);
  assert_int_equal(mbg_run_criteria(ctx, r, out.psi), MBG_OK);
  assert_int_equal(mbg_run_gradient(ctx, r, method, out.g, NULL), MBG_OK);
  mbg_run_destroy(r);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return out;
}

/* largest |d_k| / (|g_k| + max_j |p_j g_j| / |p_k|) of all criteria (theory 0, section 11) */
static double distance(const result *a, const result *b) {
  double worst = 0;
  for (int c = 0; c < b->nc; c++) {
    const double *x = a->g + c * b->np, *y = b->g + c * b->np;
    double most = 0;
    for (int k = 0; k < b->np; k++) {
      most = fmax(most, fabs(b->p[k] * y[k]));
    }
    for (int k = 0; k < b->np; k++) {
      worst = fmax(worst, fabs(x[k] - y[k]) / (fabs(y[k]) + most / fabs(b->p[k])));
    }
  }
  return worst;
}

static void close_to(const char *what, const char *name, double got, double limit) {
  if (!(got <= limit)) {
    fail_msg("%s: %s differs by %.2e (limit %.0e)", name, what, got, limit);
  }
}

/* qr at 1e-12; steps of order 8 small enough for 1e-8, the sum of both errors */
static void check_dca(const char *name, double step) {
  const result reference = run(name, "qr", 0, 1e-12, MBG_METHOD_DIRECT);
  const result direct = run(name, "dca", step, 0, MBG_METHOD_DIRECT);
  const result adjoint = run(name, "dca", step, 0, MBG_METHOD_ADJOINT);
  close_to("dca, direct,", name, distance(&direct, &reference), 1e-8);
  close_to("dca, adjoint,", name, distance(&adjoint, &reference), 1e-8);
  /* 1e-10: the limit of the proof */
  close_to("adjoint against direct", name, distance(&adjoint, &direct), 1e-10);
}

static void test_rigid_pivot(void **state) {
  (void)state;
  check_dca("rigid-pendulum", 1e-2);
}

static void test_modal_pivot(void **state) {
  (void)state;
  check_dca("modal-pendulum", 1e-3);
}

static void test_modal_driver(void **state) {
  (void)state;
  check_dca("modal-driver", 5e-5);
}

/* Nothing accelerates: forces and reactions balance each other, and accelerations are rounding. */
static void test_balanced_screw(void **state) {
  (void)state;
  check_dca("balanced-screw", 1e-2);
}

/* The state of a balanced rotor lets controlled steps be long, but its derivative by an eccentricity turns with it:
   steps that turn it by less than 10 tolerance^(1/8), 1 rad here. 1e-6: the error of such a derivative after 75 rad. */
static void test_balanced_rotor(void **state) {
  (void)state;
  const result reference = run("balanced-rotor", "qr", 0, 1e-12, MBG_METHOD_DIRECT);
  const result direct = run("balanced-rotor", "dca", 0, 1e-8, MBG_METHOD_DIRECT);
  const result adjoint = run("balanced-rotor", "dca", 0, 1e-8, MBG_METHOD_ADJOINT);
  close_to("dca, direct,", "balanced-rotor", distance(&direct, &reference), 1e-6);
  close_to("dca, adjoint,", "balanced-rotor", distance(&adjoint, &reference), 1e-6);
}

/* An angle that stays at half a turn while loops are closed: rounding moves it to and fro across +-pi, and no turn may
   be counted. Its torque is the angle itself. */
static void test_half_turn(void **state) {
  (void)state;
  static const char *const keys[] = {"lie", "dae", "ali3p", "qr", "dca"};
  for (int i = 0; i < 5; i++) {
    const bool steps = i < 3;
    const result r = run("half-turn", keys[i], steps ? 1e-3 : 0, 1e-10, MBG_METHOD_DIRECT);
    close_to(keys[i], "half-turn", fabs(fabs(r.psi[0]) - 3.14159265358979324), 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rigid_pivot),    cmocka_unit_test(test_modal_pivot),    cmocka_unit_test(test_modal_driver),
      cmocka_unit_test(test_balanced_screw), cmocka_unit_test(test_balanced_rotor), cmocka_unit_test(test_half_turn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
