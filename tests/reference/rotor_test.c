/* Bodies that spin: digits of theory 4, section 14, at h W from 0.05 to 2, and the guard where index 3 would
   explode. */
#include "property/gradient_case.h"

#include <stdio.h>

/* a rotor of 50 rad/s in a revolute joint on a cart with a spring; %s: more keys of the rotor, of the run */
static const char cart[] =
    "{\"mbgrad\": 1, \"parameters\": {\"k\": 40, \"m\": 1}, \"gravity\": [0, 0, -9.81],"
    " \"bodies\": {\"cart\": {\"mass\": 3, \"inertia\": [0.1, 0.1, 0.1]},"
    "  \"rotor\": {\"mass\": \"m\", \"inertia\": [0.02, 0.02, 0.04], \"position\": [0, 0.2, 0],"
    "   \"rotate\": [[\"x\", \"90 deg\"]], \"angular_velocity\": [0, -50, 0]%s}},"
    " \"joints\": {\"rail\": {\"type\": \"prismatic\", \"between\": [\"ground\", \"cart\"], \"at\": [0, 0, 0],"
    "   \"axis\": [1, 0, 0]},"
    "  \"axle\": {\"type\": \"revolute\", \"between\": [\"cart\", \"rotor\"], \"at\": [0, 0.2, 0], \"axis\": [0, 1, "
    "0]}},"
    " \"forces\": {\"spring\": {\"type\": \"spring-damper\", \"joint\": \"rail\", \"stiffness\": \"k\", \"rest\": "
    "0.1}},"
    " \"signals\": {\"x\": {\"type\": \"coordinate\", \"joint\": \"rail\"},"
    "  \"f\": {\"type\": \"reaction\", \"joint\": \"axle\", \"component\": \"fx\", \"in\": \"world\"}},"
    " \"criteria\": {\"J\": {\"integral\": \"x^2\"}, \"F\": {\"integral\": \"f^2\"}, \"end\": {\"terminal\": \"x\"}},"
    " \"initial\": {\"pin\": {\"spin\": {\"joint\": \"axle\", \"value\": 0, \"rate\": -50},"
    "  \"rail\": {\"joint\": \"rail\", \"value\": 0, \"rate\": 0}}}, \"run\": {\"end\": 4, \"step\": 0.01%s}}";

/* a rotor on a carrier that turns: its axle changes its direction */
static const char gyro[] =
    "{\"mbgrad\": 1, \"parameters\": {\"k\": 1.5, \"m\": 1.2, \"W\": 50}, \"gravity\": [0, 0, -9.81],"
    " \"bodies\": {\"carrier\": {\"mass\": 2, \"inertia\": [0.03, 0.04, 0.05], \"position\": [0.1, 0, 0]},"
    "  \"rotor\": {\"mass\": \"m\", \"inertia\": [0.018, 0.01, 0.01], \"position\": [0.3, 0, 0.1]}},"
    " \"joints\": {\"yaw\": {\"type\": \"revolute\", \"between\": [\"ground\", \"carrier\"], \"at\": [0, 0, 0],"
    "   \"axis\": [0, 0, 1]},"
    "  \"axle\": {\"type\": \"revolute\", \"between\": [\"carrier\", \"rotor\"], \"at\": [0.3, 0, 0.1],"
    "   \"axis\": [1, 0, 0]}},"
    " \"forces\": {\"spring\": {\"type\": \"torsion-spring-damper\", \"joint\": \"yaw\", \"stiffness\": \"k\","
    "   \"rest\": 0.4}},"
    " \"signals\": {\"angle\": {\"type\": \"coordinate\", \"joint\": \"yaw\"},"
    "  \"fx\": {\"type\": \"reaction\", \"joint\": \"axle\", \"component\": \"fx\", \"in\": \"world\"},"
    "  \"fy\": {\"type\": \"reaction\", \"joint\": \"axle\", \"component\": \"fy\", \"in\": \"world\"},"
    "  \"fz\": {\"type\": \"reaction\", \"joint\": \"axle\", \"component\": \"fz\", \"in\": \"world\"}},"
    " \"criteria\": {\"A\": {\"integral\": \"angle^2\"}, \"F\": {\"integral\": \"fx^2 + fy^2 + fz^2\"},"
    "  \"end\": {\"terminal\": \"angle\"}},"
    " \"initial\": {\"pin\": {\"yaw\": {\"joint\": \"yaw\", \"value\": 0, \"rate\": 1.5},"
    "  \"spin\": {\"joint\": \"axle\", \"value\": 0, \"rate\": \"W\"}}}, \"run\": {\"end\": 1, \"step\": 0.01}}";

static char *cart_text(const char *rotor, const char *run) {
  char *text = malloc(sizeof cart + strlen(rotor) + strlen(run));
  assert_non_null(text);
  sprintf(text, cart, rotor, run);
  return text;
}

/* values and adjoint gradients, row by row: criterion, then its derivatives */
static void check(const char *text, const char *formulation, double step, const double *wanted) {
  gradient_case c;
  double psi[3];
  gradient_case_open(&c, NULL, text);
  c.options.formulation = formulation;
  c.options.step = step;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "criteria");
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  for (int k = 0; k < c.nc; k++) {
    const double *row = wanted + k * (1 + c.np);
    /* 12 to 14 digits are printed; rounding of reactions is eps/(beta h^2) */
    assert_close(psi[k], row[0], 1e-10 * fabs(row[0]));
    for (int i = 0; i < c.np; i++) {
      assert_close(g[k * c.np + i], row[1 + i], 2e-9 * fabs(row[1 + i]));
    }
  }
  free(g);
  gradient_case_compare(&c, formulation, 1e-10, 1e-9);
  gradient_case_close(&c);
}

static void test_cart(void **state) {
  (void)state;
  static const double lie[] = {.05961276779616, -.000745022363733, .00745022363733, 2.0128454864559, .1251366063294,
                               2.774324909618,  .000332995372506,  .00128887329665, -.0128887329665};
  static const double lie2[] = {.059628454613357, -.0007448255680806, .007448255680806, 2.0123120361526, .1251049071973,
                                2.773575000333,   .000306546485288,   .001235351177806, -.01235351177806};
  static const double dae[] = {.059613683993372, -.0007450118899578, .007450118899578, 2.0128053228535, .125135330754,
                               2.774257338167,   .00033166192832,    .00128551772578,  -.0128551772578};
  char *text = cart_text("", "");
  check(text, "lie", 0.01, lie);
  check(text, "lie", 0.02, lie2);
  check(text, "dae", 0.01, dae);
  free(text);
}

static void test_index2(void **state) {
  (void)state;
  static const double wanted[] = {
      .060759098150169, -.0007576215893616, .007915749721798,  2.1839948673479, .1359134361872,
      2.932809251873,   .00130798342661,    -.002466162863484, .02619843844395,
  };
  char *text = cart_text("", ", \"index\": 2");
  check(text, "lie", 0.01, wanted);
  free(text);
}

static void test_gyro(void **state) {
  (void)state;
  static const double wanted[] = {.63853638761852, -.1144071236647, .08192353871282, 1.929459242837e-5,
                                  141.1318242967,  1.983926065451,  233.6991456997,  .008078554480658,
                                  .94519779856243, -.4137402983616, .2973455465019,  -1.957412241902e-5};
  check(gyro, "lie", 0.01, wanted);
}

/* order 2 in J against the exact value .0596075302074, up to h W = 2 */
static void test_large_steps(void **state) {
  (void)state;
  char *text = cart_text("", "");
  double before = 0;
  for (double h = 0.001; h < 0.05; h *= 2) {
    gradient_case c;
    double psi[3];
    gradient_case_open(&c, NULL, text);
    c.options.step = h;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "criteria");
    const double error = fabs(psi[0] - .0596075302074);
    assert_true(before == 0 || (error / before > 3.5 && error / before < 4.5));
    before = error;
    gradient_case_close(&c);
  }
  free(text);
}

/* bodies that are no rotors: the run ends with a message, never with a number that is wrong by more than 10 % */
static void stops(const char *more, double step, const char *message) {
  char *text = cart_text(more, "");
  gradient_case c;
  gradient_case_open(&c, NULL, text);
  c.options.step = step;
  gradient_case_run(&c);
  assert_int_equal(mbg_run_simulate(c.ctx, c.run), MBG_ERROR_CONVERGENCE);
  if (!strstr(mbg_context_error(c.ctx), message)) {
    fail_msg("%s", mbg_context_error(c.ctx));
  }
  gradient_case_close(&c);
  free(text);
}

static void test_guard(void **state) {
  (void)state;
  stops(", \"axes\": \"body\"", 0.01, "the reaction of joint 'axle' row x1 jumps from step to step and grows");
  stops(", \"axes\": \"body\"", 0.04, "jumps from step to step and grows");
  stops(", \"com\": [0.05, 0, 0], \"axes\": \"body\"", 0.01, "the reaction of joint 'axle' row");
  stops(", \"com\": [0.15, 0, 0]", 0.01, "the reaction of joint 'axle' row");
}

/* next to the limit reactions alternate and do not grow: a warning, once */
static void test_warning(void **state) {
  (void)state;
  char *text = cart_text(", \"axes\": \"body\"", "");
  gradient_case c;
  gradient_case_open(&c, NULL, text);
  c.options.step = 0.008;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_simulate(&c);
  assert_int_equal(mbg_context_message_count(c.ctx), 1);
  assert_int_equal(mbg_context_message_severity(c.ctx, 0), MBG_WARNING);
  assert_non_null(
      strstr(mbg_context_message(c.ctx, 0), "the reaction of joint 'axle' row x1 alternates from step to step"));
  assert_non_null(strstr(mbg_context_message(c.ctx, 0), "take a smaller step or \"index\": 2"));
  gradient_case_close(&c);
  free(text);
}

/* "axes": "world" makes a rotor of a body that is too lopsided to be taken for one */
static void test_axes(void **state) {
  (void)state;
  char *text = cart_text(", \"com\": [0.01, 0, 0], \"axes\": \"world\"", "");
  gradient_case c;
  gradient_case_open(&c, NULL, text);
  c.options.step = 0.004;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_compare(&c, "world axes", 1e-10, 1e-9);
  gradient_case_close(&c);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cart),        cmocka_unit_test(test_index2), cmocka_unit_test(test_gyro),
      cmocka_unit_test(test_large_steps), cmocka_unit_test(test_guard),  cmocka_unit_test(test_warning),
      cmocka_unit_test(test_axes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
