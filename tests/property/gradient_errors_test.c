/* Wrong use of runs and gradients is explained: the message names what is wrong and says what would be right. */
#include "reference/reference_case.h"

/* ---------------------------------------------------------------------- helpers */

/* replaces the first `from` by `to`; text is freed */
static char *replace(char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  assert_non_null(at);
  char *out = malloc(strlen(text) + strlen(to) + 1);
  sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  free(text);
  return out;
}

static char *gallery_text(const char *name) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, name);
  return support_read_file(path, NULL);
}

static mbg_run_options short_run(void) {
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = "lie";
  o.end = 0.02;
  o.step = 0.01;
  return o;
}

static void assert_message(const mbg_context *ctx, const char *expected) {
  if (!strstr(mbg_context_error(ctx), expected)) {
    fail_msg("message \"%s\" does not say \"%s\"", mbg_context_error(ctx), expected);
  }
}

/* loads, runs and differentiates; the first error has the message. text is freed. */
static void refused(char *text, const mbg_run_options *options, int status, const char *message) {
  mbg_context *ctx;
  mbg_model *m = NULL;
  mbg_run *run = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  int err = mbg_model_parse(ctx, "model", text, strlen(text), NULL, &m);
  err = err < 0 ? err : mbg_run_create(ctx, m, options, &run);
  err = err < 0 ? err : mbg_run_simulate(ctx, run);
  if (err == MBG_OK) {
    double *g = calloc((size_t)m->ncriterion * (size_t)m->np + 1, sizeof *g);
    err = mbg_run_gradient(ctx, run, MBG_METHOD_ADJOINT, g, NULL);
    free(g);
  }
  assert_int_equal(err, status);
  assert_message(ctx, message);
  mbg_run_destroy(run);
  mbg_model_destroy(m);
  mbg_context_destroy(ctx);
  free(text);
}

/* ---------------------------------------------------------------------- options */

static void test_options(void **state) {
  (void)state;
  mbg_run_options o = short_run();
  o.end = -1;
  refused(gallery_text("heavy-top"), &o, MBG_ERROR_INPUT, "the run must end after it starts: start 0, end -1");
  o = short_run();
  o.end = 0;
  refused(gallery_text("heavy-top"), &o, MBG_ERROR_INPUT, "the run must end after it starts");
  o = short_run();
  o.step = -0.001;
  refused(gallery_text("heavy-top"), &o, MBG_ERROR_INPUT, "the run needs a positive \"step\" or \"tolerance\"");
  o = short_run();
  o.step = 1e-12;
  refused(gallery_text("heavy-top"), &o, MBG_ERROR_INPUT,
          "a step of 1e-12 from t = 0 to 0.02 gives more than 100000000 steps");
  o = short_run();
  o.rho_inf = 2;
  refused(gallery_text("heavy-top"), &o, MBG_ERROR_INPUT, "rho_inf is 2; it must lie between 0 and 1");
  o = short_run();
  o.alpha_f = 0.5;
  refused(gallery_text("heavy-top"), &o, MBG_ERROR_INPUT, "alpha_f is 0.5; it must be positive and at most 1/3");
  o = short_run();
  o.formulation = "lei";
  refused(gallery_text("heavy-top"), &o, MBG_ERROR_INPUT, "unknown formulation 'lei'; did you mean 'lie'?");
}

static void test_methods(void **state) {
  (void)state;
  gradient_case c;
  char *text = reference_open(&c, "heavy-top", NULL, NULL);
  double g[12];
  c.options = short_run();
  gradient_case_run(&c);
  assert_int_equal(mbg_method_find("newton"), -1);
  assert_int_equal(mbg_run_gradient(c.ctx, c.run, MBG_METHOD_ADJOINT, g, NULL), MBG_ERROR_INPUT);
  assert_message(c.ctx, "simulate first: there is no trajectory at these parameters");
  mbg_context_clear(c.ctx);
  gradient_case_simulate(&c);
  assert_int_equal(mbg_run_gradient(c.ctx, c.run, (mbg_method)99, g, NULL), MBG_ERROR_INPUT);
  assert_message(c.ctx, "unknown gradient method 99");
  mbg_context_clear(c.ctx);
  assert_int_equal(mbg_run_gradient_all(c.ctx, c.run, 7, g), MBG_ERROR_INPUT);
  assert_message(c.ctx, "there is no criterion 7; the model has 3");
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- numbers */

static void test_step_too_large(void **state) {
  (void)state;
  mbg_run_options o = short_run();
  o.step = 3e-3;
  o.end = 0.03;
  refused(gallery_text("andrews"), &o, MBG_ERROR_CONVERGENCE, "(h = 0.003): Newton did not converge in 15 iterations");
  refused(gallery_text("andrews"), &o, MBG_ERROR_CONVERGENCE, "take a smaller step");
  refused(gallery_text("andrews"), &o, MBG_ERROR_CONVERGENCE, "worst at joint '");
}

/* the run stays refused until other parameters are set */
static void test_not_finite(void **state) {
  (void)state;
  gradient_case c;
  char *text = reference_open(&c, "heavy-top", NULL, NULL);
  static const double bad[] = {NAN, INFINITY, -1};
  static const char *const message[] = {"parameter 0 of 4 is not finite", "parameter 0 of 4 is not finite",
                                        "mass is -1"};
  c.options = short_run();
  gradient_case_run(&c);
  for (int i = 0; i < 3; i++) {
    c.p[0] = bad[i];
    assert_int_equal(mbg_run_set_parameters(c.ctx, c.run, c.p), MBG_ERROR_INPUT);
    assert_message(c.ctx, message[i]);
    mbg_context_clear(c.ctx);
    assert_int_equal(mbg_run_simulate(c.ctx, c.run), MBG_ERROR_INPUT);
    assert_message(c.ctx, "the parameters of the run were refused");
    mbg_context_clear(c.ctx);
  }
  assert_int_equal(mbg_run_set_parameters(c.ctx, c.run, NULL), MBG_OK);
  gradient_case_simulate(&c);
  reference_close(&c, text);
}

static void test_data(void **state) {
  (void)state;
  const mbg_run_options o = short_run();
  static const char *const data[][2] = {
      {"{\"time\": [0, 0.01], \"value\": [1, null]}", "criterion 'fit': value[1]: expected a plain number, found null"},
      {"{\"time\": [0, 0.01], \"value\": [1, \"nan\"]}",
       "criterion 'fit': value[1]: expected a plain number, found a string"},
      {"{\"time\": [1, 2], \"value\": [1, 2]}", "no sample lies between t = 0 and 0.02"},
  };
  for (int i = 0; i < 3; i++) {
    char more[200];
    snprintf(more, sizeof more, "\"fit\": {\"least_squares\": \"x1\", \"data\": %s}, ", data[i][0]);
    refused(reference_insert(gallery_text("heavy-top"), "criteria", more), &o, MBG_ERROR_INPUT, data[i][1]);
  }
  /* a signal that is not a number says where */
  char *text = reference_insert(gallery_text("heavy-top"), "signals",
                                "\"bad\": {\"type\": \"expression\", \"value\": \"sqrt(0.005 - t)\"}, ");
  refused(reference_insert(text, "criteria", "\"c\": {\"integral\": \"bad\"}, "), &o, MBG_ERROR_INPUT,
          "signal 'bad' value: sqrt(-0.005): the argument must not be negative");
}

/* a parameter that nothing uses, a criterion that depends on nothing: derivatives are exactly 0 by every method */
static void test_nothing(void **state) {
  (void)state;
  char *text = reference_insert(gallery_text("heavy-top"), "parameters", "\"idle\": 3, ");
  text = reference_insert(text, "criteria", "\"two\": {\"integral\": \"2\"}, ");
  gradient_case c;
  gradient_case_open(&c, NULL, text);
  c.options = short_run();
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  const int idle = mbg_model_parameter_find(c.m, "idle"), two = reference_criterion(&c, "two");
  for (int method = MBG_METHOD_DIRECT; method <= MBG_METHOD_CONTINUOUS; method++) {
    double *g = gradient_case_gradient(&c, (mbg_method)method);
    for (int k = 0; k < c.nc; k++) {
      assert_true(g[k * c.np + idle] == 0);
    }
    for (int i = 0; i < c.np; i++) {
      assert_true(g[two * c.np + i] == 0);
    }
    free(g);
  }
  gradient_case_close(&c);
  free(text);
}

/* ---------------------------------------------------------------------- redundant constraints */

/* fz of a planar loop of spatial bodies is not unique, fx is */
static void test_not_unique(void **state) {
  (void)state;
  const mbg_run_options o = short_run();
  char *text = reference_insert(gallery_text("four-bar-spatial"), "signals",
                                "\"side\": {\"type\": \"reaction\", \"joint\": \"D\", \"component\": \"fz\"}, ");
  refused(
      reference_insert(text, "criteria", "\"c\": {\"integral\": \"side^2\"}, "), &o, MBG_ERROR_INPUT,
      "signal 'side': the reaction is not unique, because constraint rows are redundant; a criterion cannot use it");
}

/* axes that would not stay parallel, a pivot that would leave the plane */
static void test_breaks_assembly(void **state) {
  (void)state;
  const mbg_run_options o = short_run();
  static const char D[] = "[[\"L3\", 0, 0], [\"base\", 0, 0]], \"axes\": [[0, 0, 1], [0, 0, 1]]";
  char *text = reference_insert(gallery_text("four-bar-spatial"), "parameters", "\"tilt\": 0, ");
  refused(replace(text, D, "[[\"L3\", 0, 0], [\"base\", 0, 0]], \"axes\": [[0, \"tilt\", 1], [0, 0, 1]]"), &o,
          MBG_ERROR_INPUT, "parameter 'tilt' cannot be varied: the redundant joint '");
  text = reference_insert(gallery_text("four-bar-spatial"), "parameters", "\"up\": 0, ");
  refused(replace(text, D, "[[\"L3\", 0, 0], [\"base\", 0, \"up\"]], \"axes\": [[0, 0, 1], [0, 0, 1]]"), &o,
          MBG_ERROR_INPUT, "parameter 'up' cannot be varied: the redundant joint '");
}

/* rho_inf = 1: positions are fine (gradient_run_test.c), with a warning; accelerations and reactions are refused */
static void test_undamped(void **state) {
  (void)state;
  mbg_run_options o = short_run();
  o.rho_inf = 1;
  refused(gallery_text("four-bar-spatial"), &o, MBG_ERROR_INPUT,
          "signal 'f4x': with rho_inf = 1 accelerations and reactions oscillate; a criterion cannot use them");
  gradient_case c;
  char *text = reference_open(&c, "five-bar", NULL, NULL);
  c.options = o;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_int_equal(mbg_context_message_count(c.ctx), 1);
  assert_int_equal(mbg_context_message_severity(c.ctx, 0), MBG_WARNING);
  assert_string_equal(mbg_context_message(c.ctx, 0), "rho_inf = 1: accelerations and reactions oscillate undamped");
  reference_close(&c, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_options),        cmocka_unit_test(test_methods),
      cmocka_unit_test(test_step_too_large), cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_data),           cmocka_unit_test(test_nothing),
      cmocka_unit_test(test_not_unique),     cmocka_unit_test(test_breaks_assembly),
      cmocka_unit_test(test_undamped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
