/* Identification: planted parameters, standard errors in closed form, what cannot be told apart, gaps and units in the
   data, runs, starts, continuation, interruption and resumption. */
#include "support/fit_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int setup(void **state) {
  fit_case *c = calloc(1, sizeof(*c));
  *state = c;
  fit_open(c);
  return 0;
}

static int teardown(void **state) {
  fit_close(*state);
  free(*state);
  return 0;
}

/* ---------------------------------------------------------------------- models */

/* a mass that is pushed: x = F t^2 / (2 m), which generalized-alpha gives exactly */
#define PUSHED(criteria)                                                                                               \
  "{'mbgrad': 1, 'parameters': {'F': {'value': 1, 'min': -10, 'max': 10}}, 'constants': {'m': 2},"                     \
  " 'bodies': {'b': {'motion': 'planar-point', 'mass': 'm'}},"                                                         \
  " 'forces': {'push': {'type': 'force', 'on': 'b', 'force': ['F', 0, 0]}},"                                           \
  " 'signals': {'x': {'type': 'position', 'of': 'b', 'component': 'x'},"                                               \
  "             'v': {'type': 'velocity', 'of': 'b', 'component': 'x'},"                                               \
  "             'a': {'type': 'acceleration', 'of': 'b', 'component': 'x'}},"                                          \
  " 'criteria': {" criteria "}, 'run': {'end': 1, 'step': 0.1}}"

/* an oscillator on two springs in parallel; `extra` has no use */
#define SPRINGS(more)                                                                                                  \
  "{'mbgrad': 1, 'parameters': {'k1': {'value': 12, 'min': 0.1, 'max': 500}, 'k2': {'value': 5, 'min': 0.1, 'max': "   \
  "500}, 'c': {'value': 0.1, 'min': 0, 'max': 5}, 'extra': {'value': 1, 'min': 0, 'max': 2}},"                         \
  " 'bodies': {'b': {'motion': 'planar-point', 'mass': 1, 'position': [1, 0, 0]}},"                                    \
  " 'forces': {'s': {'type': 'spring-damper', 'between': ['ground', 'b'], 'along': 'x', 'stiffness': 'k1 + k2',"       \
  "   'damping': 'c'}},"                                                                                               \
  " 'signals': {'x': {'type': 'position', 'of': 'b', 'component': 'x'}},"                                              \
  " 'criteria': {'fit': {'least_squares': 'x', 'data': 'x.csv', 'sigma': 0.01}}" more                                  \
  ", 'run': {'end': 5, 'step': 0.02}}"

static void measure_springs(fit_case *c, double k, double damping) {
  const double p[] = {k, 0, damping, 1};
  const fit_measurement m = {.file = "x.csv", .columns = "x", .p = p, .end = 5, .interval = 0.05};
  fit_measure(c, &m);
}

/* ---------------------------------------------------------------------- planted parameters */

/* theory 2, section 13, R1: tip accelerations at all nodes, N = 100; start k = 18, c = 0.4 */
static const char double_pendulum[] =
    "{'mbgrad': 1, 'parameters': {'k': 18, 'c': 0.4}, 'constants': {'th1': -0.6, 'th2': -0.3, 'L1': 1.1},"
    " 'gravity': [0, -9.81, 0], 'bodies': {"
    "  'body1': {'motion': 'planar', 'mass': 1.3, 'inertia': 0.12, 'position': ['L1/2*cos(th1)', 'L1/2*sin(th1)', 0],"
    "    'rotate': [['z', 'th1']]},"
    "  'body2': {'motion': 'planar', 'mass': 0.9, 'com': [0.35, 0, 0], 'inertia': 0.06,"
    "    'position': ['L1*cos(th1)', 'L1*sin(th1)', 0], 'rotate': [['z', 'th2']]}},"
    " 'markers': {'tip': {'on': 'body2', 'at': [0.8, 0, 0]}, 'hook': {'on': 'ground', 'at': [0.9, -0.4, 0]}},"
    " 'joints': {'pivot': {'type': 'revolute', 'between': ['ground', 'body1'], 'points': [[0, 0, 0], ['-L1/2', 0, 0]]},"
    "  'elbow': {'type': 'revolute', 'between': ['body1', 'body2'], 'points': [['L1/2', 0, 0], [0, 0, 0]]}},"
    " 'forces': {'spring': {'type': 'spring-damper', 'between': ['hook', 'tip'], 'stiffness': 'k', 'damping': 'c',"
    "   'rest': 0.5}},"
    " 'signals': {'ax': {'type': 'acceleration', 'of': 'tip', 'component': 'x'},"
    "   'ay': {'type': 'acceleration', 'of': 'tip', 'component': 'y'}},"
    " 'criteria': {'fx': {'least_squares': 'ax', 'data': 'tip.csv', 'column': 'ax'},"
    "   'fy': {'least_squares': 'ay', 'data': 'tip.csv', 'column': 'ay'}},"
    " 'initial': {'pin': {'pivot': {'joint': 'pivot', 'value': 'th1', 'rate': 0.7},"
    "   'elbow': {'joint': 'elbow', 'value': 'th2 - th1', 'rate': -1.1}}},"
    " 'run': {'formulation': 'dae', 'end': 1, 'step': 0.01, 'alpha_f': 0.1}}";

static void test_theory_page(void **state) {
  fit_case *c = *state;
  const double truth[] = {30, 1.5};
  fit_measurement m = {.file = "tip.csv", .columns = "ax ay", .p = truth, .end = 1, .interval = 0.01};
  fit_model(c, double_pendulum);
  fit_measure(c, &m);
  const mbg_identify_summary *s = fit_solve(c, NULL);
  /* the page: k and c to 1e-10 in at most 8 iterations, cost 1.3e4 -> 1e-18 */
  assert_close(fit_value(c, "k"), 30, 30e-10);
  assert_close(fit_value(c, "c"), 1.5, 1.5e-10);
  assert_true(s->converged && s->iterations <= 8);
  assert_close(s->start_cost, 1.3e4, 0.1e4);
  assert_true(s->cost < 1e-16);
  assert_false(s->sigma_known);
  /* exact data at 137 Hz: the bias of the step as on the page, and its estimate */
  const double steps[] = {0.02, 0.01, 0.005}, k[] = {30.275, 30.068, 30.017}, damping[] = {1.5095, 1.5024, 1.5006};
  mbg_run_options fine;
  mbg_run_options_default(&fine, sizeof(fine));
  fine.step = 1e-4;
  m.options = &fine;
  m.interval = 1.0 / 137;
  fit_measure(c, &m);
  for (int i = 0; i < 3; i++) {
    mbg_identify_options o = fit_options();
    mbg_run_options run = fine;
    run.step = steps[i];
    o.run = &run;
    o.bias = true;
    fit_solve(c, &o);
    /* the page leaves out 7 samples: a tenth of the bias */
    assert_close(fit_value(c, "k"), k[i], 0.1 * (k[i] - 30) + 2e-3);
    assert_close(fit_value(c, "c"), damping[i], 0.15 * (damping[i] - 1.5) + 2e-4);
    /* second order: the estimate is right up to the next power of the step */
    assert_close(fit_parameter(c, "k")->bias, fit_value(c, "k") - 30, 0.15 * (k[i] - 30));
  }
}

/* the Jacobian is that of the residuals: transposed it gives the gradient of the adjoint; both optimizers meet */
static void test_direct_and_adjoint(void **state) {
  fit_case *c = *state;
  const double truth[] = {30, 1.5};
  const fit_measurement m = {.file = "tip.csv", .columns = "ax ay", .p = truth, .end = 1, .interval = 0.01};
  fit_model(c, double_pendulum);
  fit_measure(c, &m);
  const mbg_identify_summary *s = fit_solve(c, NULL);
  double *r = calloc((size_t)s->samples, sizeof(double)), *J = calloc(2 * (size_t)s->samples, sizeof(double));
  double g[2] = {0, 0}, adjoint[2], cost, sum = 0;
  const double p[] = {22, 0.9};
  assert_int_equal(mbg_identify_residuals(c->ctx, c->id, p, r, J), MBG_OK);
  assert_int_equal(mbg_identify_gradient(c->ctx, c->id, p, &cost, adjoint), MBG_OK);
  for (int i = 0; i < s->samples; i++) {
    sum += 0.5 * r[i] * r[i];
    g[0] += J[i] * r[i];
    g[1] += J[i + s->samples] * r[i];
  }
  /* rounding of sums of 200 terms */
  assert_close(sum / cost, 1, 1e-13);
  for (int i = 0; i < 2; i++) {
    assert_close(g[i] / adjoint[i], 1, 1e-10);
    assert_true(fabs(g[i]) > 1);
  }
  free(r);
  free(J);
  static const char *const by_gradient[] = {"lbfgs", "cg", "steepest"};
  for (int i = 0; i < 3; i++) {
    mbg_identify_options o = fit_options();
    o.optimizer = by_gradient[i];
    s = fit_solve(c, &o);
    assert_true(s->converged);
    assert_close(fit_value(c, "k"), 30, 30e-6);
    assert_close(fit_value(c, "c"), 1.5, 1.5e-6);
  }
}

/* ---------------------------------------------------------------------- standard errors */

/* x = F t^2/4: standard error sigma / sqrt(sum (t_i^2/4)^2), and the same with the deviation of the residuals */
static void test_standard_error(void **state) {
  fit_case *c = *state;
  support_rng rng = support_rng_make(7);
  double sum = 0;
  const double truth[] = {3};
  fit_measurement m = {.file = "x.csv", .columns = "x", .p = truth, .end = 1, .interval = 0.05, .sigma = 0.01};
  m.rng = &rng;
  fit_model(c, PUSHED("'fit': {'least_squares': 'x', 'data': 'x.csv', 'sigma': 0.02}"));
  fit_measure(c, &m);
  const mbg_identify_summary *s = fit_solve(c, NULL);
  for (int i = 0; i <= 20; i++) {
    /* between the steps the model is a straight line */
    const double t = 0.05 * i, low = floor(t / 0.1 + 1e-9) * 0.1, high = fmin(1, low + 0.1);
    const double y = high > low ? low * low / 4 + (t - low) / (high - low) * (high * high - low * low) / 4 : t * t / 4;
    sum += y * y;
  }
  assert_true(s->sigma_known);
  assert_close(fit_parameter(c, "F")->standard_error, 0.02 / sqrt(sum), 1e-9);
  assert_close(fit_value(c, "F"), 3, 0.06);
  const double expected = sqrt(2 * s->cost / 20) * 0.02 / sqrt(sum);
  fit_model(c, PUSHED("'fit': {'least_squares': 'x', 'data': 'x.csv'}"));
  s = fit_solve(c, NULL);
  assert_false(s->sigma_known);
  assert_close(fit_parameter(c, "F")->standard_error, expected, 1e-9);
  assert_close(mbg_identify_correlation(c->id, 0, 0), 1, 0);
  /* deviations of the file, one for each sample: twice as large for all is twice the error */
  char text[4096] = "time,x,s\n";
  for (int i = 1; i <= 10; i++) {
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%g,%g,%g\n", 0.1 * i, 0.75 * 0.01 * i * i, 0.01 * i);
  }
  fit_file(c, "x.csv", text);
  fit_model(c, PUSHED("'fit': {'least_squares': 'x', 'data': 'x.csv', 'sigma_column': 's'}"));
  fit_solve(c, NULL);
  double weighted = 0;
  for (int i = 1; i <= 10; i++) {
    weighted += pow(0.01 * i * i / 4 / (0.01 * i), 2);
  }
  assert_close(fit_parameter(c, "F")->standard_error, 1 / sqrt(weighted), 1e-9);
  assert_close(fit_value(c, "F"), 3, 1e-9);
}

/* ---------------------------------------------------------------------- what the data cannot tell */

static void test_not_told_apart(void **state) {
  fit_case *c = *state;
  fit_model(c, SPRINGS(""));
  measure_springs(c, 30, 0.2);
  const mbg_identify_summary *s = fit_solve(c, NULL);
  assert_close(fit_value(c, "k1") + fit_value(c, "k2"), 30, 1e-7);
  assert_close(fit_value(c, "c"), 0.2, 1e-8);
  assert_int_equal(s->combinations, 2);
  const char *first = mbg_identify_combination(c->id, 0), *second = mbg_identify_combination(c->id, 1);
  const bool swapped = strstr(first, "extra") != NULL;
  assert_string_equal(swapped ? second : first, "k1 and k2 only through k1 + 1.00 k2");
  assert_string_equal(swapped ? first : second, "extra has no influence on the data");
  assert_true(isnan(fit_parameter(c, "k1")->standard_error) && isnan(fit_parameter(c, "extra")->standard_error));
  assert_true(fit_parameter(c, "c")->standard_error > 0 && fit_parameter(c, "c")->determined);
  assert_false(fit_parameter(c, "k2")->determined);
  assert_true(fit_warned(c, "the data do not tell apart: k1 and k2 only through k1 + 1.00 k2"));
  assert_close(fit_value(c, "extra"), 1, 0);
  /* two of them listed: the other two keep their values */
  fit_model(c, SPRINGS(", 'identify': {'parameters': ['c', 'k1']}"));
  s = fit_solve(c, NULL);
  assert_int_equal(s->parameters, 2);
  assert_int_equal(s->combinations, 0);
  assert_close(fit_value(c, "k1"), 25, 1e-7);
  assert_string_equal(mbg_identify_get_parameter(c->id, 0)->name, "c");
}

static void test_bounds_and_scale(void **state) {
  fit_case *c = *state;
  fit_model(c, SPRINGS(", 'identify': {'parameters': ['c', 'k1']}"));
  measure_springs(c, 300, 0.2);
  fit_model(c, "{'mbgrad': 1, 'parameters': {'k1': {'value': 100, 'min': 0.1, 'max': 200}, 'c': {'value': 0.1, 'min': "
               "0}}, 'bodies': {'b': {'motion': 'planar-point', 'mass': 1, 'position': [1, 0, 0]}},"
               " 'forces': {'s': {'type': 'spring-damper', 'between': ['ground', 'b'], 'along': 'x', 'stiffness': "
               "'k1', 'damping': 'c'}}, 'signals': {'x': {'type': 'position', 'of': 'b', 'component': 'x'}},"
               " 'criteria': {'fit': {'least_squares': 'x', 'data': 'x.csv'}}, 'run': {'end': 0.2, 'step': 0.01}}");
  fit_solve(c, NULL);
  assert_true(fit_value(c, "k1") == 200);
  assert_int_equal(fit_parameter(c, "k1")->at_bound, 1);
  assert_true(isnan(fit_parameter(c, "k1")->standard_error));
  assert_true(fit_warned(c, "parameter 'k1' is at its max 200"));
  /* a logarithmic scale leads to the same values and errors */
  fit_model(c, SPRINGS(", 'identify': {'parameters': ['c', 'k1']}"));
  measure_springs(c, 25, 0.2);
  fit_solve(c, NULL);
  const mbg_identify_parameter linear = *fit_parameter(c, "k1");
  char *text = fit_read(c, "model.json"), *where = strstr(text, "\"value\": 12,");
  assert_non_null(where);
  char *with = malloc(strlen(text) + 64);
  sprintf(with, "%.*s\"scale\": \"log\", %s", (int)(where - text), text, where);
  fit_file(c, "model.json", with);
  fit_solve(c, NULL);
  assert_close(fit_value(c, "k1"), linear.value, 1e-7);
  assert_close(fit_parameter(c, "k1")->standard_error, linear.standard_error, 1e-6 * linear.standard_error);
  free(text);
  free(with);
}

/* ---------------------------------------------------------------------- data */

static void test_gaps(void **state) {
  fit_case *c = *state;
  fit_model(c, PUSHED("'fit': {'least_squares': 'x', 'data': 'x.csv', 'sigma': 0.01}"));
  fit_file(c, "x.csv", "time,x\n-0.5,9\n0,0\n0.2,0.03\n0.4,\n0.6,nan\n0.8,0.48\n1,0.75\n1.5,9\n");
  const mbg_identify_summary *s = fit_solve(c, NULL);
  const mbg_identify_channel *k = mbg_identify_get_channel(c->id, 0);
  assert_close(fit_value(c, "F"), 3, 1e-9);
  assert_int_equal(s->samples, 4);
  assert_int_equal(k->samples, 4);
  assert_int_equal(k->missing, 2);
  assert_int_equal(k->outside, 2);
  assert_true(fit_warned(c, "fit: 2 of 8 rows have no value and are left out"));
  bool outside = false;
  for (int i = 0; i < mbg_context_message_count(c->ctx); i++) {
    outside = outside || strstr(mbg_context_message(c->ctx, i), "2 of 6 samples lie outside the run");
  }
  assert_true(outside);
  /* no sample inside, fewer samples than parameters */
  fit_file(c, "x.csv", "time,x\n2,1\n3,1\n");
  fit_fails(c, NULL, MBG_ERROR_INPUT, "no sample lies between t = 0 and 1");
  fit_model(c, SPRINGS(""));
  fit_file(c, "x.csv", "time,x\n0,1\n1,0.5\n");
  fit_fails(c, NULL, MBG_ERROR_INPUT, "there are 2 samples for 4 parameters; there must be at least as many");
  /* as many samples as parameters, without a sigma: no standard error */
  fit_model(c, PUSHED("'fit': {'least_squares': 'x', 'data': {'time': [1], 'value': [0.75]}}"));
  fit_solve(c, NULL);
  assert_true(fit_warned(c, "as many parameters as samples"));
  assert_true(isnan(fit_parameter(c, "F")->standard_error));
}

static void test_sampling(void **state) {
  fit_case *c = *state;
  const double truth[] = {3};
  const fit_measurement m = {.file = "x.csv", .columns = "x", .p = truth, .end = 1, .interval = 0.02};
  fit_model(c, PUSHED("'fit': {'least_squares': 'x', 'data': 'x.csv'}"));
  fit_measure(c, &m);
  fit_solve(c, NULL);
  assert_true(fit_warned(c, "fit: samples are 0.02 s apart, less than the step 0.1 s"));
}

/* a channel in other units than the model: the fit cannot be good, and says what it may be */
static void check_units(fit_case *c, double factor, const char *hint) {
  char text[4096] = "time,a,v\n";
  for (int i = 0; i <= 10; i++) {
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%g,%.17g,%.17g\n", 0.1 * i, factor * 1.5,
             1.5 * 0.1 * i);
  }
  fit_file(c, "x.csv", text);
  fit_model(c, PUSHED("'fit_a': {'least_squares': 'a', 'data': 'x.csv', 'column': 'a', 'weight': 1e-6}, 'fit_v': "
                      "{'least_squares': 'v', 'data': 'x.csv', 'column': 'v'}"));
  fit_solve(c, NULL);
  if (!strstr(mbg_identify_get_channel(c->id, 0)->hint, hint)) {
    fail_msg("hint: %s", mbg_identify_get_channel(c->id, 0)->hint);
  }
  assert_string_equal(mbg_identify_get_channel(c->id, 1)->hint, "");
  assert_int_equal(fit_warned(c, hint), hint[0] != 0);
}

static void test_units(void **state) {
  fit_case *c = *state;
  check_units(c, 1000, "mm for m");
  check_units(c, 57.29577951308232, "degrees for radians");
  check_units(c, 1 / 9.80665, "g for m/s^2");
  check_units(c, -1, "the opposite sign");
  check_units(c, 1, "");
}

/* residuals of neighbours that are alike: not noise */
static void test_whiteness(void **state) {
  fit_case *c = *state;
  support_rng rng = support_rng_make(11);
  fit_model(c, SPRINGS(", 'identify': {'parameters': ['k1']}"));
  measure_springs(c, 17, 0.1);
  for (int wrong = 0; wrong < 2; wrong++) {
    const double p[] = {12, 5, wrong ? 0.6 : 0.1, 1};
    const fit_measurement m = {
        .file = "x.csv", .columns = "x", .p = p, .end = 5, .interval = 0.05, .sigma = 0.01, .rng = &rng};
    fit_measure(c, &m);
    fit_solve(c, NULL);
    assert_int_equal(mbg_identify_get_channel(c->id, 0)->white, !wrong);
    assert_close(mbg_identify_get_channel(c->id, 0)->autocorrelation, wrong ? 0.97 : 0, wrong ? 0.05 : 0.3);
  }
}

/* ---------------------------------------------------------------------- runs */

static const char two_runs[] =
    "{'mbgrad': 1, 'parameters': {'F': {'value': 1, 'min': -10, 'max': 10}, 'm': {'value': 4, 'min': 0.1, 'max': 9}},"
    " 'constants': {'factor': 1}, 'bodies': {'b': {'motion': 'planar-point', 'mass': 'm'}},"
    " 'forces': {'push': {'type': 'force', 'on': 'b', 'force': ['factor*F', 0, 0]}},"
    " 'signals': {'x': {'type': 'position', 'of': 'b', 'component': 'x'}},"
    " 'criteria': {'fit': {'least_squares': 'x', 'sigma': 0.01}, 'last': {'terminal': 'x'}},"
    " 'run': {'end': 1, 'step': 0.1}, 'runs': {"
    "  'light': {'set': {'m': 2}, 'data': 'light.csv', 'note': 'a known mass'},"
    "  'heavy': {'set': {'factor': 'F/2'}, 'files': {'fit': 'heavy.csv'}, 'end': 0.5, 'step': 0.05},"
    "  'none': {'criteria': ['last'], 'set': {'F': 7}}}}";

/* one of the runs alone */
static void refuse_run(fit_case *c, const char *run, const char *message) {
  mbg_model *model = NULL;
  mbg_identify *id = NULL;
  mbg_context_clear(c->ctx);
  int status = mbg_model_for_run(c->ctx, c->model, run, &model);
  if (status == MBG_OK) {
    status = mbg_identify_create(c->ctx, model, NULL, &id);
  }
  assert_int_equal(status, MBG_ERROR_INPUT);
  assert_null(id);
  assert_non_null(strstr(mbg_context_error(c->ctx), message));
  mbg_model_destroy(model);
}

static void test_runs(void **state) {
  fit_case *c = *state;
  mbg_model *model;
  fit_model(c, two_runs);
  /* light: x = F t^2/4; heavy: x = F^2/2 t^2/(2 m) */
  fit_file(c, "light.csv", "time,x\n0.5,0.1875\n1,0.75\n");
  fit_file(c, "heavy.csv", "time,x\n0.2,0.03\n0.5,0.1875\n");
  const mbg_identify_summary *s = fit_solve(c, NULL);
  assert_int_equal(s->experiments, 2);
  assert_string_equal(mbg_identify_get_channel(c->id, 1)->run, "heavy");
  assert_close(fit_value(c, "F"), 3, 1e-8);
  assert_close(fit_value(c, "m"), 3, 1e-8);
  /* one alone: m is not in it */
  refuse_run(c, "light", "parameter 'm' cannot be identified: every run sets it");
  refuse_run(c, "ligt", "there is no run 'ligt'; did you mean 'light'?");
  refuse_run(c, "none", "there is no least_squares criterion to fit");
  /* what a run is */
  mbg_context_clear(c->ctx);
  assert_int_equal(mbg_model_load_run(c->ctx, c->path, "none", &model), MBG_OK);
  assert_int_equal(mbg_model_run_count(model), 3);
  assert_string_equal(mbg_model_run_name(model, 1), "heavy");
  assert_string_equal(mbg_model_run_note(model, 0), "a known mass");
  assert_string_equal(mbg_model_active_run(model), "none");
  assert_null(mbg_model_run_name(model, 3));
  assert_int_equal(mbg_model_criterion_count(model), 1);
  assert_close(mbg_model_parameter_value(model, 0), 7, 0);
  assert_true(mbg_model_parameter_is_set(model, 0) && !mbg_model_parameter_is_set(model, 1));
  mbg_model_destroy(model);
  /* without one: no data, no fit; the sections apply as they are */
  assert_int_equal(mbg_model_load(c->ctx, c->path, &model), MBG_OK);
  assert_null(mbg_model_active_run(model));
  assert_int_equal(mbg_model_criterion_count(model), 1);
  assert_close(mbg_model_parameter_value(model, 0), 1, 0);
  mbg_model_destroy(model);
}

/* ---------------------------------------------------------------------- poor starts */

static void test_poor_start(void **state) {
  fit_case *c = *state;
  fit_model(c, SPRINGS(", 'identify': {'parameters': ['k1']}"));
  measure_springs(c, 45, 0.1);
  double p[] = {170, 5, 0.1, 1};
  mbg_identify_options o = fit_options();
  o.parameters = p;
  fit_solve(c, &o);
  assert_true(fabs(fit_value(c, "k1") - 40) > 10); /* a local minimum */
  o.homotopy = 6;
  fit_solve(c, &o);
  assert_close(fit_value(c, "k1"), 40, 1e-6);
  assert_true(mbg_identify_get_summary(c->id)->converged);
  /* several starts, on less of the data, where the basin is wider */
  o.homotopy = 0;
  o.starts = 12;
  o.iterations = 30;
  mbg_run_options run;
  mbg_run_options_default(&run, sizeof(run));
  run.end = 2;
  o.run = &run;
  const mbg_identify_summary *s = fit_solve(c, &o);
  assert_close(fit_value(c, "k1"), 40, 1e-6);
  assert_int_equal(s->starts, 12);
  /* places: the file's first, then spread over the bounds, the same again, others with another seed */
  assert_close(mbg_identify_get_start(c->id, 0)->parameters[0], 170, 0);
  double least = 500, most = 0;
  for (int k = 1; k < 12; k++) {
    least = fmin(least, mbg_identify_get_start(c->id, k)->parameters[0]);
    most = fmax(most, mbg_identify_get_start(c->id, k)->parameters[0]);
  }
  assert_true(least > 0 && least < 60 && most > 440 && most < 500);
  const double second = mbg_identify_get_start(c->id, 1)->parameters[0];
  o.starts = 2;
  fit_solve(c, &o);
  assert_close(mbg_identify_get_start(c->id, 1)->parameters[0], second, 0);
  o.seed = 2;
  fit_solve(c, &o);
  assert_true(fabs(mbg_identify_get_start(c->id, 1)->parameters[0] - second) > 1);
  /* nothing to pull: accelerations alone; no box: no bounds */
  o = fit_options();
  o.homotopy = 3;
  fit_model(c, PUSHED("'fit': {'least_squares': 'a', 'data': {'time': [0.5, 1], 'value': [1, 1]}}"));
  fit_fails(c, &o, MBG_ERROR_INPUT, "homotopy: no channel can pull the model");
  o = fit_options();
  o.starts = 3;
  fit_model(c, double_pendulum);
  fit_file(c, "tip.csv", "time,ax,ay\n0,0,0\n1,0,0\n");
  fit_fails(c, &o, MBG_ERROR_INPUT, "several starts need bounds: parameter 'k' has no min");
}

/* starts that several programs share: each fits from one of them, the last one knows what the others have found */
static void test_shared_starts(void **state) {
  enum { STARTS = 3 };
  fit_case *c = *state;
  fit_model(c, SPRINGS(", 'identify': {'parameters': ['k1']}"));
  measure_springs(c, 45, 0.1);
  mbg_identify_options o = fit_options();
  mbg_identify_start known[STARTS];
  o.starts = STARTS;
  o.iterations = 10;
  const mbg_identify_summary whole = *fit_solve(c, &o);
  const double value = fit_value(c, "k1");
  int best = 0;
  for (int k = 0; k < STARTS; k++) {
    const mbg_identify_start expected = *mbg_identify_get_start(c->id, k);
    o.place = k;
    const mbg_identify_summary *s = fit_solve(c, &o);
    known[k] = *mbg_identify_get_start(c->id, k);
    assert_close(s->cost, expected.cost, 0);
    assert_close(known[k].start_cost, expected.start_cost, 0);
    assert_int_equal(known[k].iterations, expected.iterations);
    assert_int_equal(s->starts, STARTS);
    assert_true(isnan(mbg_identify_get_start(c->id, (k + 1) % STARTS)->cost));
    best = known[k].cost < known[best].cost ? k : best;
    o.place = -1;
    fit_solve(c, &o);
  }
  o.place = best;
  o.known = known;
  const mbg_identify_summary *s = fit_solve(c, &o);
  assert_close(fit_value(c, "k1"), value, 0);
  assert_close(s->cost, whole.cost, 0);
  assert_int_equal(s->iterations, whole.iterations);
  assert_int_equal(s->evaluations, whole.evaluations);
  for (int k = 0; k < STARTS; k++) {
    assert_close(mbg_identify_get_start(c->id, k)->cost, known[k].cost, 0);
  }
  o.place = STARTS;
  fit_fails(c, &o, MBG_ERROR_INPUT, "place 3: there are starts 0 to 2");
}

/* a stiffness that an expression does not allow above 30: the optimizer steps back */
static void test_failed_simulation(void **state) {
  fit_case *c = *state;
  fit_model(c, "{'mbgrad': 1, 'parameters': {'k': {'value': 2, 'min': 0, 'max': 1000, 'scale': 'log'}}, 'bodies': "
               "{'b': {'motion': "
               "'planar-point', 'mass': 1, 'position': [1, 0, 0]}}, 'forces': {'s': {'type': 'spring-damper', "
               "'between': ['ground', 'b'], 'along': 'x', 'stiffness': 'k + 0*sqrt(10.6 - k)'}},"
               " 'signals': {'x': {'type': 'position', 'of': 'b', 'component': 'x'}},"
               " 'criteria': {'fit': {'least_squares': 'x', 'data': 'x.csv'}}, 'run': {'end': 1, 'step': 0.01}}");
  const double truth[] = {10.5};
  const fit_measurement m = {.file = "x.csv", .columns = "x", .p = truth, .end = 1, .interval = 0.05};
  fit_measure(c, &m);
  const mbg_identify_summary *s = fit_solve(c, NULL);
  assert_close(fit_value(c, "k"), 10.5, 1e-8);
  assert_true(s->failures > 0 && s->converged);
  /* at the start it is an error, with the reason */
  const double p[] = {12};
  mbg_identify_options o = fit_options();
  o.parameters = p;
  fit_fails(c, &o, MBG_ERROR_INPUT, "sqrt");
}

/* ---------------------------------------------------------------------- interruption */

static bool after(void *user) {
  int *left = user;
  return (*left)-- <= 0;
}

static void test_interrupted(void **state) {
  fit_case *c = *state;
  fit_model(c, SPRINGS(", 'identify': {'parameters': ['k1', 'c']}"));
  measure_springs(c, 25, 0.2);
  mbg_identify_options o = fit_options();
  int left = 1300; /* steps: two or three iterations of 250 */
  mbg_run_options run;
  mbg_run_options_default(&run, sizeof(run));
  run.interrupt = after;
  run.user = &left;
  o.run = &run;
  const mbg_identify_summary *s = fit_solve(c, &o);
  assert_int_equal(s->reason, MBG_IDENTIFY_INTERRUPTED);
  assert_false(s->converged);
  assert_true(s->cost < s->start_cost && s->iterations > 0);
  assert_true(fit_parameter(c, "c")->standard_error > 0);
  assert_true(fit_value(c, "k1") != 12);
}

/* stopped after some iterations and resumed: the same way, to the last bit */
static void check_resumed(fit_case *c, const char *optimizer, int starts) {
  char restart[128];
  snprintf(restart, sizeof(restart), "%s/restart", c->folder);
  mbg_identify_options o = fit_options();
  o.optimizer = optimizer;
  o.starts = starts;
  fit_solve(c, &o);
  const double k1 = fit_value(c, "k1"), damping = fit_value(c, "c"), cost = mbg_identify_get_summary(c->id)->cost;
  const int evaluations = mbg_identify_get_summary(c->id)->evaluations;
  o.restart = restart;
  o.iterations = !strcmp(optimizer, "lm") ? 3 : 1;
  fit_solve(c, &o);
  assert_true(fit_value(c, "k1") != k1);
  o.iterations = 100;
  o.resume = true;
  const mbg_identify_summary *s = fit_solve(c, &o);
  assert_true(s->converged);
  assert_true(fit_value(c, "k1") == k1 && fit_value(c, "c") == damping && s->cost == cost);
  /* once more: everything is recorded, a cut-off line at the end does not matter */
  char *text = fit_read(c, "restart");
  text[strlen(text) - 5] = 0;
  fit_file(c, "restart", text);
  free(text);
  s = fit_solve(c, &o);
  assert_true(fit_value(c, "k1") == k1 && s->cost == cost);
  /* simulations count whether they are made or read, and all but the last were read */
  assert_int_equal(s->evaluations, evaluations);
  assert_true(s->replayed >= evaluations - 1);
}

static void test_resumed(void **state) {
  fit_case *c = *state;
  fit_model(c, SPRINGS(", 'identify': {'parameters': ['k1', 'c']}"));
  measure_springs(c, 25, 0.2);
  check_resumed(c, "lm", 1);
  check_resumed(c, "lbfgs", 1);
  /* a file of another identification, and one that was changed */
  char restart[128];
  snprintf(restart, sizeof(restart), "%s/restart", c->folder);
  mbg_identify_options o = fit_options();
  o.restart = restart;
  o.resume = true;
  fit_fails(c, &o, MBG_ERROR_INPUT, "restart:1: written by another problem");
  o.resume = false;
  fit_solve(c, &o);
  char *text = fit_read(c, "restart");
  char *line = strchr(text, '\n') + 1;
  line[4] = line[4] == '0' ? '1' : '0';
  fit_file(c, "restart", text);
  o.resume = true;
  fit_fails(c, &o, MBG_ERROR_INPUT, "restart:2: the line is damaged"); /* more: record_test.c */
  free(text);
  o.restart = "no-such-folder/restart";
  o.resume = false;
  fit_fails(c, &o, MBG_ERROR_IO, "cannot write 'no-such-folder/restart'");
  o.restart = NULL;
  o.resume = true;
  fit_fails(c, &o, MBG_ERROR_INPUT, "resume needs the restart file");
}

/* ---------------------------------------------------------------------- the fitted model */

static void test_model_text(void **state) {
  fit_case *c = *state;
  char *text;
  fit_model(c, "{'mbgrad': 1, 'name': 'é', 'parameters': {'F': {'value': 1.0, 'note': 'é'}, 'G': 2, 'm':\n {'value': "
               "[2, 2], 'min': 1}, 'w': {'value': 1, 'count': 2}},"
               " 'bodies': {'b': {'motion': 'planar-point', 'mass': 'm[0]'}},"
               " 'forces': {'push': {'type': 'force', 'on': 'b', 'force': ['F', 0, 0]}},"
               " 'signals': {'x': {'type': 'position', 'of': 'b', 'component': 'x'}},"
               " 'criteria': {'fit': {'least_squares': 'x', 'data': {'time': [0.5, 1, 1.5], 'value': [0.1875, 0.75, "
               "1.6875]}}, 'w': {'least_squares': 'w[0] + 2*w[1] + x', 'data': {'time': [1, 2], 'value': [1.75, 4]}}},"
               " 'identify': {'parameters': ['F', 'w'], 'criteria': ['fit', 'w']}, 'run': {'end': 2, 'step': 0.1}}");
  /* the two are one name too many */
  fit_fails(c, NULL, MBG_ERROR_INPUT, "the name is already used by a parameter");
  char *old = fit_read(c, "model.json"), *name = strstr(old, "\"w\": {\"least");
  memcpy(name, "\"v\"", 3);
  memcpy(strstr(old, "\"fit\", \"w\""), "\"fit\", \"v\"", 10);
  fit_file(c, "model.json", old);
  free(old);
  fit_solve(c, NULL);
  assert_int_equal(mbg_identify_model_text(c->ctx, c->id, &text), MBG_OK);
  /* values in their places, everything else as it was; the vector becomes an array */
  assert_non_null(strstr(text, "{\"mbgrad\": 1, \"name\": \"é\", \"parameters\": {\"F\": {\"value\": "));
  assert_non_null(
      strstr(text, ", \"note\": \"é\"}, \"G\": 2, \"m\":\n {\"value\": [2, 2], \"min\": 1}, \"w\": {\"value\": ["));
  assert_non_null(strstr(text, "], \"count\": 2}}, \"bodies\": "));
  fit_file(c, "model.json", text);
  mbg_text_destroy(c->ctx, text);
  const double F = fit_value(c, "F");
  assert_close(F, 3, 1e-8);
  mbg_model *model;
  assert_int_equal(mbg_model_load(c->ctx, c->path, &model), MBG_OK);
  assert_true(mbg_model_parameter_value(model, mbg_model_parameter_find(model, "F")) == F);
  assert_close(mbg_model_parameter_value(model, mbg_model_parameter_find(model, "G")), 2, 0);
  mbg_model_destroy(model);
}

static void test_options(void **state) {
  fit_case *c = *state;
  mbg_identify_options o = fit_options();
  fit_model(c, PUSHED(""));
  fit_fails(c, NULL, MBG_ERROR_INPUT, "model.json: there is no least_squares criterion to fit");
  o.starts = 0;
  fit_fails(c, &o, MBG_ERROR_INPUT, "starts 0");
  fit_model(c, "{'mbgrad': 1, 'bodies': {'b': {'motion': 'planar-point', 'mass': 1}}, 'signals': {'x': {'type': "
               "'position', 'of': 'b', 'component': 'x'}}, 'criteria': {'fit': {'least_squares': 'x', 'data': {'time': "
               "[0], 'value': [0]}}}, 'run': {'end': 1, 'step': 0.1}}");
  fit_fails(c, NULL, MBG_ERROR_INPUT, "the model has no parameters to identify");
  assert_string_equal(mbg_identify_reason_text(MBG_IDENTIFY_INTERRUPTED), "interrupted");
  assert_string_equal(mbg_identify_reason_text(99), "unknown");
  mbg_identify_destroy(NULL);
}

/* a result without some of its warnings is a result; the context says that they are missing */
static bool warnings_missing(const mbg_context *ctx) {
  return strstr(mbg_context_message(ctx, mbg_context_message_count(ctx) - 1), "more message") != NULL;
}

/* every allocation fails once, and nothing is lost */
static void test_memory(void **state) {
  fit_case *c = *state;
  fit_model(c, SPRINGS(""));
  measure_springs(c, 25, 0.2);
  const int stride = support_sanitized() ? 41 : support_rounds(13, 1);
  for (int n = 1;; n += stride) {
    support_memory memory = {.fail_at = n};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx = NULL;
    mbg_identify *id = NULL;
    mbg_identify_options o = fit_options();
    mbg_model *model = NULL;
    mbg_run_options run;
    mbg_run_options_default(&run, sizeof(run));
    run.end = 0.2;
    o.iterations = 2;
    o.run = &run;
    int status = mbg_context_create(&allocator, &ctx);
    if (status == MBG_OK) {
      status = mbg_model_load(ctx, c->path, &model);
    }
    if (status == MBG_OK) {
      status = mbg_identify_create(ctx, model, &o, &id);
    }
    if (status == MBG_OK) {
      status = mbg_identify_solve(ctx, id);
    }
    assert_true(status == MBG_OK || status == MBG_ERROR_MEMORY);
    const bool whole = status == MBG_OK && !warnings_missing(ctx);
    mbg_identify_destroy(id);
    mbg_model_destroy(model);
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      break;
    }
    assert_false(whole);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_theory_page),       TEST(test_direct_and_adjoint),
      TEST(test_standard_error),    TEST(test_not_told_apart),
      TEST(test_bounds_and_scale),  TEST(test_gaps),
      TEST(test_sampling),          TEST(test_units),
      TEST(test_whiteness),         TEST(test_runs),
      TEST(test_poor_start),        TEST(test_shared_starts),
      TEST(test_failed_simulation), TEST(test_interrupted),
      TEST(test_resumed),           TEST(test_model_text),
      TEST(test_options),           TEST(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
