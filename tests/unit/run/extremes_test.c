/* Numbers and moments at the edge: models without criteria, runs that are stopped before their first step, forces
   beyond all measure, frames that are no rotations. Each ends with a result or with a message. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOB(mass, stiffness, criteria)                                                                                 \
  "{\"mbgrad\": 1, \"parameters\": {\"m\": " mass ", \"k\": " stiffness "}, \"gravity\": [0, -9.81, 0],"               \
  " \"bodies\": {\"bob\": {\"motion\": \"planar\", \"mass\": \"m\", \"inertia\": 1, \"position\": [1, 0.2, 0]}},"      \
  " \"forces\": {\"pull\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"bob\"], \"stiffness\": \"k\","    \
  " \"rest\": 0.5}}, \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"bob\", \"component\": \"x\"}},"           \
  " \"criteria\": {" criteria "}, \"run\": {\"end\": 1, \"step\": 0.01}}"

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  mbg_run_options options;
  int left; /* steps until the interrupt */
} fixture;

static bool stop(void *user) { return --((fixture *)user)->left < 0; }

static void begin(fixture *f, const char *text, const char *formulation, const char *integrator) {
  *f = (fixture){.left = 1000000};
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  assert_int_equal(mbg_model_parse(f->ctx, "model.json", text, strlen(text), NULL, &f->model), MBG_OK);
  mbg_run_options_default(&f->options, sizeof(f->options));
  f->options.formulation = formulation;
  f->options.integrator = integrator;
  f->options.interrupt = stop;
  f->options.user = f;
}

static void make_run(fixture *f) { assert_int_equal(mbg_run_create(f->ctx, f->model, &f->options, &f->run), MBG_OK); }

static void end(fixture *f) {
  mbg_run_destroy(f->run);
  mbg_model_destroy(f->model);
  mbg_context_destroy(f->ctx);
}

static void assert_message(const fixture *f, const char *part) {
  if (!strstr(mbg_context_error(f->ctx), part)) {
    fail_msg("'%s' is not in '%s'", part, mbg_context_error(f->ctx));
  }
}

static void test_no_criteria(void **state) {
  (void)state;
  static const char *const integrators[] = {"adams", "bdf", "dop853"};
  for (int i = 0; i < 3; i++) {
    fixture f;
    double none = 0;
    begin(&f, BOB("1", "10", ""), "qr", integrators[i]);
    make_run(&f);
    assert_int_equal(mbg_run_simulate(f.ctx, f.run), MBG_OK);
    assert_int_equal(mbg_run_gradient(f.ctx, f.run, MBG_METHOD_CONTINUOUS, &none, NULL), MBG_OK);
    end(&f);
  }
}

/* with a tolerance the steps are found first: none is there when the callback stops at once */
static void test_stopped_at_once(void **state) {
  (void)state;
  static const char *const formulations[] = {"lie", "dae"};
  for (int i = 0; i < 2; i++) {
    fixture f;
    begin(&f, BOB("1", "10", "\"J\": {\"terminal\": \"x\"}"), formulations[i], NULL);
    f.options.tolerance = 1e-4;
    f.left = 0;
    make_run(&f);
    assert_int_equal(mbg_run_simulate(f.ctx, f.run), MBG_OK);
    assert_true(mbg_run_partial(f.run));
    end(&f);
  }
}

static void test_part_of_a_run_by_cvodes(void **state) {
  (void)state;
  fixture f;
  double g[2];
  begin(&f, BOB("1", "10", "\"J\": {\"terminal\": \"x\"}"), "qr", "bdf");
  f.left = 3;
  make_run(&f);
  assert_int_equal(mbg_run_simulate(f.ctx, f.run), MBG_OK);
  assert_true(mbg_run_partial(f.run));
  f.left = 1000000;
  assert_int_equal(mbg_run_gradient(f.ctx, f.run, MBG_METHOD_CONTINUOUS, g, NULL), MBG_ERROR_INTERRUPTED);
  assert_message(&f, "CVODES gives no gradient of a part of a run");
  end(&f);
}

/* CVODES went on for ever */
static void test_infinite_force(void **state) {
  (void)state;
  static const char *const integrators[] = {"bdf", "adams"};
  for (int i = 0; i < 2; i++) {
    fixture f;
    begin(&f, BOB("1", "1.7e308", "\"J\": {\"terminal\": \"x\"}"), "qr", integrators[i]);
    make_run(&f);
    assert_int_equal(mbg_run_simulate(f.ctx, f.run), MBG_ERROR_CONVERGENCE);
    assert_message(&f, "rates are not finite");
    end(&f);
  }
}

/* the mass and the height are finite, their product is not */
static void test_infinite_energy(void **state) {
  (void)state;
  fixture f;
  mbg_check *check = NULL;
  begin(&f, BOB("1e308", "10", "\"J\": {\"terminal\": \"x\"}"), "lie", NULL);
  assert_int_equal(mbg_check_create(f.ctx, f.model, NULL, &check), MBG_ERROR_CONVERGENCE);
  assert_message(&f, "the potential energy of the model at the start is not a finite number");
  mbg_check_destroy(check);
  end(&f);
}

/* twice as wide and half as high: the determinant is 1 */
static void test_sheared_frame(void **state) {
  (void)state;
  static const char text[] = "{\"version\": 2, \"time\": 0, \"turns\": [], \"bodies\": {\"bob\": {"
                             "\"frame\": [2, 0, 0, 0, 0.5, 0, 0, 0, 1, 1, 0.2, 0], \"twist\": [0, 0, 0, 0, 0, 0]}}}";
  fixture f;
  begin(&f, BOB("1", "10", "\"J\": {\"terminal\": \"x\"}"), "lie", NULL);
  make_run(&f);
  support_write_file("state.json", text, strlen(text));
  assert_int_equal(mbg_run_read_state(f.ctx, f.run, "state.json"), MBG_ERROR_INPUT);
  assert_message(&f, "nine numbers that are no rotation");
  end(&f);
}

/* no signal shows where the body goes */
static void test_infinite_path(void **state) {
  (void)state;
  static const char text[] = "{\"mbgrad\": 1, \"bodies\": {\"bob\": {\"motion\": \"planar-point\", \"mass\": 1,"
                             " \"velocity\": [0, 1e308, 0]}}, \"run\": {\"end\": 100, \"step\": 10}}";
  fixture f;
  begin(&f, text, "dae", NULL);
  make_run(&f);
  assert_int_equal(mbg_run_simulate(f.ctx, f.run), MBG_ERROR_CONVERGENCE);
  assert_true(mbg_context_error(f.ctx)[0] != 0);
  end(&f);
}

/* the plane of planar bodies: such a joint has no row, and no reaction */
static void test_reaction_without_rows(void **state) {
  (void)state;
  static const char text[] =
      "{\"mbgrad\": 1, \"bodies\": {\"bob\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 1}},"
      " \"joints\": {\"table\": {\"type\": \"point-on-plane\", \"between\": [\"ground\", \"bob\"]}},"
      " \"signals\": {\"f\": {\"type\": \"reaction\", \"joint\": \"table\", \"component\": \"fx\"}},"
      " \"criteria\": {\"J\": {\"terminal\": \"f\"}}, \"run\": {\"end\": 1, \"step\": 0.1}}";
  fixture f;
  double psi = 1;
  begin(&f, text, "lie", NULL);
  make_run(&f);
  assert_int_equal(mbg_run_simulate(f.ctx, f.run), MBG_OK);
  assert_int_equal(mbg_run_criteria(f.ctx, f.run, &psi), MBG_OK);
  assert_true(psi == 0);
  end(&f);
}

/* after the simulation that creates the fit, in the first one of its search */
static void test_stopped_fit(void **state) {
  (void)state;
  fixture f;
  mbg_identify_options o;
  mbg_identify *id = NULL;
  begin(&f,
        BOB("1", "10", "\"J\": {\"least_squares\": \"x\", \"data\": {\"time\": [0.1, 0.5, 1], \"value\": [1, 1, 1]}}"),
        "lie", NULL);
  for (int left = 101; left < 500 && !id; left += 20) {
    mbg_identify_options_default(&o, sizeof(o));
    o.run = &f.options;
    o.optimizer = "lbfgs";
    f.left = 1000000;
    assert_int_equal(mbg_identify_create(f.ctx, f.model, &o, &id), MBG_OK);
    f.left = left - 101;
    mbg_context_clear(f.ctx);
    const int err = mbg_identify_solve(f.ctx, id);
    assert_true(err == MBG_OK || mbg_context_error(f.ctx)[0] != 0);
    mbg_identify_destroy(id);
    id = NULL;
  }
  end(&f);
}

/* what a run keeps besides is not what a search reads */
static void test_optimize_with_poses(void **state) {
  (void)state;
  char *text = support_read_file(MBG_SOURCE_DIR "/tests/fuzz/corpus/design.json", NULL);
  double found[2];
  for (int k = 0; k < 2; k++) {
    fixture f;
    mbg_optimize_options o;
    mbg_optimize *opt = NULL;
    begin(&f, text, NULL, NULL);
    f.options.keep_poses = f.options.all_signals = k;
    mbg_optimize_options_default(&o, sizeof(o));
    o.run = &f.options;
    o.iterations = 3;
    assert_int_equal(mbg_optimize_create(f.ctx, f.model, &o, &opt), MBG_OK);
    assert_int_equal(mbg_optimize_solve(f.ctx, opt), MBG_OK);
    found[k] = mbg_optimize_get_summary(opt)->objective;
    mbg_optimize_destroy(opt);
    end(&f);
  }
  assert_true(found[0] == found[1]);
  free(text);
}

/* knots of controls are nodes: the grid takes time in proportion to their number, not to its square */
static void test_million_knots(void **state) {
  (void)state;
  static const char text[] =
      "{\"mbgrad\": 1, \"controls\": {\"u\": {\"times\": {\"from\": 0, \"to\": 1, \"count\": 1000000}, \"values\": 0}},"
      " \"bodies\": {\"b\": {\"motion\": \"planar-point\", \"mass\": 1}},"
      " \"forces\": {\"f\": {\"type\": \"force\", \"on\": \"b\", \"force\": [\"u\", 0, 0]}},"
      " \"run\": {\"end\": 1, \"step\": 0.1}}";
  for (int i = 0; i < mbg_formulation_count(); i++) {
    fixture f;
    begin(&f, text, mbg_formulation_key(i), NULL);
    f.left = 3;
    make_run(&f);
    assert_int_equal(mbg_run_simulate(f.ctx, f.run), MBG_OK);
    assert_true(mbg_run_partial(f.run));
    end(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_criteria),
                                     cmocka_unit_test(test_stopped_at_once),
                                     cmocka_unit_test(test_part_of_a_run_by_cvodes),
                                     cmocka_unit_test(test_infinite_force),
                                     cmocka_unit_test(test_infinite_energy),
                                     cmocka_unit_test(test_sheared_frame),
                                     cmocka_unit_test(test_stopped_fit),
                                     cmocka_unit_test(test_infinite_path),
                                     cmocka_unit_test(test_reaction_without_rows),
                                     cmocka_unit_test(test_optimize_with_poses),
                                     cmocka_unit_test(test_million_knots)};
  return cmocka_run_group_tests(tests, support_folder_enter, support_folder_leave);
}
