/* Gradients of "index": 2: the proof on gallery, random models, modal bodies and beams; world axes, controlled steps,
   checkpoints, half turns; the continuous adjoints converge to them. */
#define PROOF_RANDOM 8
#define PROOF_GALLERY 6
#define PROOF_NO_RATES /* index 2 refuses them by name */
#include "property/gradient_proof.h"

static char *gallery_index2(const char *name) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, name);
  return with_run_keys(support_read_file(path, NULL));
}

static void check_text(const char *what, const char *text, double tolerance) {
  gradient_case c;
  gradient_case_open(&c, NULL, text);
  c.options.formulation = "lie";
  c.options.tolerance = tolerance;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_compare(&c, what, tol_direct, tol_twin);
  gradient_case_close(&c);
}

/* a rotor that is not round on a carrier that turns, in a driven joint, with redundant rows (a second hinge), and its
   spin, axes and places as parameters; a planar one; a spring whose angle passes half a turn inside a step */
static const char gyro[] =
    "{\"mbgrad\": 1, \"parameters\": {\"k\": 1.5, \"m\": 1.2, \"W\": 20, \"e\": 0.02, \"l\": 0.3, \"y\": 0.7},"
    " \"gravity\": [0, 0, -9.81],"
    " \"bodies\": {\"carrier\": {\"mass\": 2, \"inertia\": [0.03, 0.04, 0.05], \"position\": [0.1, 0, 0]},"
    "  \"rotor\": {\"mass\": \"m\", \"inertia\": [0.018, 0.01, 0.013, 0.001, 0, 0.002], \"com\": [0.01, \"e\", 0],"
    "   \"position\": [\"l\", 0, 0.1], \"axes\": \"%s\"},"
    "  \"flat\": {\"motion\": \"planar\", \"mass\": \"m\", \"inertia\": 0.1, \"com\": [\"e\", 0.1, 0], "
    "\"axes\": \"%s\"}},"
    " \"joints\": {\"yaw\": {\"type\": \"revolute\", \"between\": [\"ground\", \"carrier\"], \"at\": [0, 0, 0],"
    "   \"axis\": [0, 0, 1]},"
    "  \"axle\": {\"type\": \"revolute\", \"between\": [\"carrier\", \"rotor\"], \"at\": [\"l\", 0, 0.1],"
    "   \"axis\": [1, 0, 0]},"
    "  \"more\": {\"type\": \"revolute\", \"between\": [\"carrier\", \"rotor\"], \"at\": [\"l + 0.2\", 0, 0.1],"
    "   \"axis\": [1, 0, 0]},"
    "  \"pin\": {\"type\": \"revolute\", \"between\": [\"ground\", \"flat\"], \"at\": [0, 0, 0]}},"
    " \"drivers\": {%s},"
    " \"forces\": {\"spring\": {\"type\": \"torsion-spring-damper\", \"joint\": \"yaw\", \"stiffness\": \"k\","
    "   \"rest\": 0.4}, \"other\": {\"type\": \"torsion-spring-damper\", \"joint\": \"pin\", \"stiffness\": \"k\"}},"
    " \"signals\": {\"angle\": {\"type\": \"coordinate\", \"joint\": \"yaw\"},"
    "  \"q\": {\"type\": \"coordinate\", \"joint\": \"pin\"},"
    "  \"f\": {\"type\": \"reaction\", \"joint\": \"pin\", \"component\": \"fy\", \"in\": \"world\"},"
    "  \"a\": {\"type\": \"acceleration\", \"of\": \"rotor\", \"component\": \"z\"}},"
    " \"criteria\": {\"A\": {\"integral\": \"angle^2 + q^2\"}, \"F\": {\"integral\": \"f^2 + a^2\"},"
    "  \"end\": {\"terminal\": \"angle + q\"}},"
    " \"initial\": {\"pin\": {\"yaw\": {\"joint\": \"yaw\", \"value\": 0, \"rate\": \"y\"},"
    "  \"spin\": {\"joint\": \"axle\", \"value\": 0, \"rate\": \"W\"},"
    "  \"flat\": {\"joint\": \"pin\", \"value\": 2.9, \"rate\": 4}}},"
    " \"run\": {\"end\": 0.4, \"step\": 0.01}}";

static void test_special(void **state) {
  (void)state;
  static const char *const axes[] = {"body", "world"};
  static const char driver[] = "\"drive\": {\"joint\": \"axle\", \"coordinate\": \"angle\", \"law\": \"W*t + l*t^2\"}";
  for (int i = 0; i < 4; i++) {
    char *text = malloc(sizeof gyro + 200);
    sprintf(text, gyro, axes[i % 2], axes[i % 2], i / 2 ? driver : "");
    char *pins = strstr(text, "\"spin\": {\"joint\": \"axle\", \"value\": 0, \"rate\": \"W\"},");
    if (i / 2) {
      memset(pins, ' ', strlen("\"spin\": {\"joint\": \"axle\", \"value\": 0, \"rate\": \"W\"},"));
    }
    text = with_run_keys(text);
    check_text(axes[i % 2], text, NAN);
    check_text("controlled steps", text, 1e-4);
    free(text);
  }
}

/* the same bits from every method with a fiftieth of the memory, and with controlled steps */
static void test_checkpoints(void **state) {
  (void)state;
  char *text = gallery_index2("quarter-car");
  for (int controlled = 0; controlled < 2; controlled++) {
    double *whole[MBG_METHOD_COUNT] = {NULL}, bytes = 0;
    for (int limited = 0; limited < 2; limited++) {
      gradient_case c;
      gradient_case_open(&c, NULL, text);
      c.options.step = controlled ? NAN : 0.002;
      c.options.tolerance = controlled ? 1e-5 : NAN;
      c.options.memory = limited ? bytes / 50 : 0;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      for (int method = MBG_METHOD_DIRECT; method <= MBG_METHOD_CONTINUOUS; method++) {
        double *g = gradient_case_gradient(&c, (mbg_method)method);
        if (limited) {
          assert_memory_equal(g, whole[method], (size_t)(c.nc * c.np) * sizeof(double));
          free(whole[method]);
          free(g);
        } else {
          whole[method] = g;
        }
      }
      bytes = mbg_run_get_work(c.run)->peak_bytes;
      gradient_case_close(&c);
    }
  }
  free(text);
}

/* The continuous adjoints see the nodes only: second order. The paper's form takes end values and integrals. */
static void test_continuous(void **state) {
  (void)state;
  char *text = malloc(sizeof gyro + 200);
  double off[2][2];
  sprintf(text, gyro, "body", "world", "");
  text = with_run_keys(text);
  for (int i = 0; i < 2; i++) {
    gradient_case c;
    gradient_case_open(&c, NULL, text);
    c.options.formulation = "lie";
    c.options.step = 0.001 / (1 << i);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
    for (int k = 0; k < 2; k++) {
      double *a = gradient_case_gradient(&c, k ? MBG_METHOD_PAPER : MBG_METHOD_CONTINUOUS);
      off[i][k] = gradient_difference(c.np, c.p, a, g, 0);
      free(a);
    }
    free(g);
    gradient_case_close(&c);
  }
  for (int k = 0; k < 2; k++) {
    const double order = log2(off[0][k] / off[1][k]);
    if (!(order > 1.8 && order < 2.2)) {
      fail_msg("%s: %.2e, order %.3f", k ? "paper" : "index 1", off[1][k], order);
    }
  }
  free(text);
}

/* modal bodies, then beams without them */
static void test_flexible(void **state) {
  test_modal(state);
  with_modal = false;
  test_beams(state);
}

int main(void) {
  static const char *const keys[] = {"lie", "dae"};
  run_keys = "\"index\": 2, ";
  formulations = keys;
  nformulation = MBG_COUNT(keys);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_special),  cmocka_unit_test(test_checkpoints), cmocka_unit_test(test_continuous),
      cmocka_unit_test(test_gallery),  cmocka_unit_test(test_random),      cmocka_unit_test(test_special_models),
      cmocka_unit_test(test_flexible),
  };
  const struct CMUnitTest one[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_special_models)};
  return getenv("MBG_SEED") ? cmocka_run_group_tests(one, NULL, report) : cmocka_run_group_tests(tests, NULL, report);
}
