/* What `qr` cannot do ends with a message that says where, why, and what to do. */
#include "property/gradient_case.h"

/* a free point with a force, or whatever the pieces say */
#define MODEL(bodies, more, run)                                                                                       \
  "{\"mbgrad\": 1, \"parameters\": {\"k\": 1}, \"bodies\": {" bodies "}, " more                                        \
  "\"signals\": {\"y\": {\"type\": \"position\", \"of\": \"b\", \"component\": \"y\"}}, "                              \
  "\"criteria\": {\"c\": {\"terminal\": \"y\"}}, \"run\": {\"formulation\": \"qr\", \"end\": 1" run "}}"
#define POINT(more) "\"b\": {\"motion\": \"planar-point\", \"mass\": 1" more "}"
#define LAW(law)                                                                                                       \
  "\"forces\": {\"f\": {\"type\": \"nonlinear-spring\", \"between\": [\"ground\", \"b\"], \"along\": \"x\", "          \
  "\"law\": \"" law "\"}}, "
#define BAR(name, x)                                                                                                   \
  "\"" name "\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.1, \"position\": [" x ", 0, 0]}"
#define HINGE(name, a, b, x)                                                                                           \
  "\"" name "\": {\"type\": \"revolute\", \"between\": [\"" a "\", \"" b "\"], \"at\": [" x ", 0, 0]}"

static const struct {
  const char *what, *text;
  int status;
  const char *message[3]; /* parts of it */
} cases[] = {
    {"singular start",
     MODEL(BAR("a", "0.5") ", " BAR("b", "1.5") ", " BAR("c", "2.5"),
           "\"gravity\": [0, -9.81, 0], \"joints\": {" HINGE("A", "ground", "a", "0") ", " HINGE(
               "B", "a", "b", "1") ", " HINGE("C", "b", "c", "2") ", " HINGE("D", "c", "ground", "3") "}, ",
           ""),
     MBG_ERROR_SINGULAR,
     {"redundant constraint became independent at t = ", "joint '", "is a singular configuration"}},
    {"circles that touch",
     MODEL(POINT(", \"position\": [1, 0, 0], \"velocity\": [0, 1, 0]"),
           "\"joints\": {\"r1\": {\"type\": \"distance\", \"between\": [\"ground\", \"b\"], \"length\": 1}, \"r2\": "
           "{\"type\": "
           "\"distance\", \"between\": [\"ground\", \"b\"], \"points\": [[2.5, 0, 0], [0, 0, 0]], \"length\": 1.5}}, ",
           ""),
     MBG_ERROR_SINGULAR,
     {"redundant constraint became independent at t = ", "joint 'r", "start elsewhere"}},
    {"inconsistent start",
     MODEL(
         POINT(", \"position\": [1.2, 0, 0]"),
         "\"joints\": {\"r\": {\"type\": \"distance\", \"between\": [\"ground\", \"b\"], \"length\": 1}}, \"initial\": "
         "{\"start\": \"exact\"}, ",
         ""),
     MBG_ERROR_INPUT,
     {"the start is not exact: joint 'r' row length is violated by 0.1", "\"start\": \"assemble\""}},
    {"a force without limit in time",
     MODEL(POINT(""),
           "\"forces\": {\"f\": {\"type\": \"force\", \"on\": \"b\", \"force\": [\"k/(0.5 - t)^3\", 0, 0]}}, ", ""),
     MBG_ERROR_CONVERGENCE,
     {"integration stopped at t = 0.5", "the velocity of body 'b'", "grow without limit"}},
    {"a motion that ends in finite time",
     MODEL(POINT(", \"velocity\": [2, 0, 0]"), LAW("-50*k*x^3"), ""),
     MBG_ERROR_CONVERGENCE,
     {"integration stopped at t = 0.586", "of body 'b'", "grow without limit"}},
    {"a law out of its domain", MODEL(POINT(", \"velocity\": [1, 0, 0]"), LAW("sqrt(0.3 - x)"), ""), 0, {"force 'f'"}},
    {"a force that overflows",
     MODEL(POINT(", \"velocity\": [1, 0, 0]"), LAW("-exp(k*800*(x + 1))"), ""),
     0,
     {"force 'f'"}},
    {"no mass",
     MODEL("\"b\": {\"motion\": \"planar-point\", \"mass\": 0}",
           "\"forces\": {\"f\": {\"type\": \"force\", \"on\": \"b\", \"force\": [\"k\", 0, 0]}}, ", ""),
     MBG_ERROR_SINGULAR,
     {"t = 0: a degree of freedom has no mass (look at body 'b')"}},
    {"tolerances that doubles cannot give",
     MODEL(POINT(""), "", ", \"relative_tolerance\": 1e-15"),
     MBG_ERROR_INPUT,
     {"relative tolerance 1e-15: doubles cannot give less than 2.2e-14"}},
    {"a tolerance that is none",
     MODEL(POINT(""), "", ", \"relative_tolerance\": 3"),
     MBG_ERROR_INPUT,
     {"tolerances 3 (relative) and 0.003 (absolute): must be below 1"}},
};

static void check(size_t i) {
  gradient_case c;
  gradient_case_open(&c, NULL, cases[i].text);
  gradient_case_run(&c);
  const int err = mbg_run_simulate(c.ctx, c.run);
  const char *message = mbg_context_error(c.ctx);
  bool good = err < 0 && (cases[i].status == 0 || err == cases[i].status);
  for (int k = 0; good && k < 3 && cases[i].message[k]; k++) {
    good = strstr(message, cases[i].message[k]) != NULL;
  }
  if (!good) {
    fail_msg("%s: status %d, '%s'", cases[i].what, err, message);
  }
  gradient_case_close(&c);
}

static void test_runs(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check(i);
  }
}

/* options of the program's kind: what is asked for counts, not what the file says */
static void test_options(void **state) {
  (void)state;
  static const char text[] = MODEL(POINT(", \"velocity\": [0, 1, 0]"), "", "");
  static const struct {
    const char *integrator;
    double tolerance;
    const char *message;
  } options[] = {
      {"dop583", NAN,
       "formulation 'qr' has no integrator 'dop583'; did you mean 'dop853'? (known: dop853, dp5, adams, bdf, rk4)"},
      {"euler", NAN, "formulation 'qr' has no integrator 'euler' (known: dop853, dp5, adams, bdf, rk4)"},
      {"rk4", NAN, "integrator 'rk4' has no error control: it needs a step"},
      {NULL, 1e-16, "relative tolerance 1e-16: doubles cannot give less"},
      {NULL, -1, "relative tolerance -1"},
  };
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    gradient_case c;
    gradient_case_open(&c, NULL, text);
    c.options.integrator = options[i].integrator;
    c.options.tolerance = options[i].tolerance;
    int err = mbg_run_create(c.ctx, c.m, &c.options, &c.run);
    err = err < 0 ? err : mbg_run_simulate(c.ctx, c.run);
    if (err != MBG_ERROR_INPUT || !strstr(mbg_context_error(c.ctx), options[i].message)) {
      fail_msg("%s: %d, '%s'", options[i].message, err, mbg_context_error(c.ctx));
    }
    gradient_case_close(&c);
  }
}

/* CVODES has no discrete adjoint, and the message says what it has; auto does not choose it */
static void test_methods(void **state) {
  (void)state;
  static const char text[] = MODEL(POINT(", \"velocity\": [0, \"k\", 0]"), "", "");
  static const char *const integrators[] = {"dop853", "adams"};
  for (int k = 0; k < 2; k++) {
    gradient_case c;
    double g;
    mbg_method used;
    gradient_case_open(&c, NULL, text);
    c.options.integrator = integrators[k];
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    assert_int_equal(mbg_run_gradient(c.ctx, c.run, MBG_METHOD_PAPER, &g, NULL), MBG_ERROR_UNSUPPORTED);
    mbg_context_clear(c.ctx);
    if (k == 1) {
      assert_int_equal(mbg_run_gradient(c.ctx, c.run, MBG_METHOD_ADJOINT, &g, NULL), MBG_ERROR_UNSUPPORTED);
      assert_non_null(strstr(mbg_context_error(c.ctx), "integrator 'adams' has no method 'adjoint'"));
      assert_non_null(strstr(mbg_context_error(c.ctx), "take method 'continuous'"));
      mbg_context_clear(c.ctx);
    }
    gradient_case_check(&c, mbg_run_gradient(c.ctx, c.run, MBG_METHOD_AUTO, &g, &used), "auto");
    assert_int_equal(used, k == 1 ? MBG_METHOD_CONTINUOUS : MBG_METHOD_ADJOINT);
    for (int method = MBG_METHOD_DIRECT; method <= MBG_METHOD_CONTINUOUS; method++) {
      if (k == 0 || method != MBG_METHOD_ADJOINT) {
        gradient_case_check(&c, mbg_run_gradient(c.ctx, c.run, (mbg_method)method, &g, NULL), "");
        assert_close(g, 1, 1e-9);
      }
    }
    gradient_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs), cmocka_unit_test(test_options),
                                     cmocka_unit_test(test_methods)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
