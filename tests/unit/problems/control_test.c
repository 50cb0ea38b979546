/* Control problems: what is asked for and refused, effort, bounds, stages, files, restart, interruption, memory. */
#include "mbgrad/control.h"

#include "model/sampled.h"
#include "problems/control.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- a cart with two controls */

static const char cart[] =
    "{\"mbgrad\": 1, \"name\": \"cart\",\n"
    " \"parameters\": {\"m\": 2, \"goal\": 1}, \"constants\": {\"half\": 0.5, \"unit\": \"2*half*goal\"},\n"
    " \"controls\": {\n"
    "  \"push\": {\"times\": [0, 0.5, 1], \"values\": [1, \"unit\", 0], \"note\": \"in {x}, \\\"forward\\\"\"},\n"
    "  \"lift\": {\"times\": [0, 0.4, 1], \"values\": 0.5, \"interpolation\": \"cubic\"}\n"
    " },\n"
    " \"bodies\": {\"b\": {\"motion\": \"planar-point\", \"mass\": \"m\"}},\n"
    " \"forces\": {\"f\": {\"type\": \"force\", \"on\": \"b\", \"force\": [\"push\", \"lift*sqrt(5 - lift)\", 0]}},\n"
    " \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"b\", \"component\": \"x\"},\n"
    "  \"y\": {\"type\": \"position\", \"of\": \"b\", \"component\": \"y\"}},\n"
    " \"criteria\": {\"miss\": {\"terminal\": \"(x - goal)^2 + (y - 0.3)^2\"}, \"bend\": {\"integral\": \"(y - "
    "0.3*t)^2\"}},\n"
    " \"run\": {\"formulation\": \"dae\", \"end\": 1, \"step\": 0.05},\n"
    " \"control\": {\"controls\": {\"push\": {\"max\": 10}, \"lift\": {\"min\": -2, \"max\": 4, \"effort\": 1e-3}},\n"
    "  \"objective\": {\"miss\": 1, \"bend\": 2}, \"effort\": 1e-4}}\n";

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_control *control;
  mbg_run_options run;
  mbg_control_options o;
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof *f);
  *state = f;
  mbg_run_options_default(&f->run, sizeof(f->run));
  mbg_control_options_default(&f->o, sizeof(f->o));
  f->o.run = &f->run;
  return mbg_context_create(NULL, &f->ctx) == MBG_OK &&
                 mbg_model_parse(f->ctx, "cart", cart, strlen(cart), NULL, &f->model) == MBG_OK
             ? 0
             : 1;
}

static int teardown(void **state) {
  fixture *f = *state;
  mbg_control_destroy(f->control);
  mbg_model_destroy(f->model);
  mbg_context_destroy(f->ctx);
  free(f);
  return 0;
}

static void check(const fixture *f, int err) {
  if (err < 0) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
}

static void create(fixture *f) {
  mbg_control_destroy(f->control);
  check(f, mbg_control_create(f->ctx, f->model, &f->o, &f->control));
}

static const mbg_control_summary *solve(fixture *f) {
  create(f);
  check(f, mbg_control_solve(f->ctx, f->control));
  return mbg_control_get_summary(f->control);
}

static mbg_control_samples samples(const fixture *f, int index) {
  const mbg_control_samples *s = mbg_control_get_samples(f->control, index);
  assert_non_null(s);
  return *s;
}

/* ---------------------------------------------------------------------- what is asked for */

/* the section of the model, then the options; the start is the control of the model */
static void test_section(void **state) {
  fixture *f = *state;
  create(f);
  assert_int_equal(mbg_control_get_summary(f->control)->controls, 2);
  assert_int_equal(mbg_control_get_summary(f->control)->terms, 2);
  mbg_control_samples push = samples(f, 0), lift = samples(f, 1);
  assert_string_equal(push.name, "push");
  assert_string_equal(push.interpolation, "linear");
  assert_int_equal(push.samples, 3);
  assert_close(push.values[1], 1, 0);
  assert_close(push.max, 10, 0);
  assert_true(isinf(push.min));
  assert_string_equal(lift.interpolation, "cubic");
  assert_close(lift.times[1], 0.4, 0);
  const mbg_control_term *term = mbg_control_get_term(f->control, 1);
  assert_string_equal(term->criterion, "bend");
  assert_close(term->weight, 2, 0);
  assert_null(mbg_control_get_term(f->control, 2));
  assert_null(mbg_control_get_samples(f->control, 2));

  static const char *const names[] = {"push"}, *const criteria[] = {"miss"};
  f->o.nname = 1;
  f->o.names = names;
  f->o.nterm = 1;
  f->o.criteria = criteria;
  f->o.samples = 5;
  f->o.interpolation = "cubic";
  f->o.min = -1;
  create(f);
  assert_int_equal(mbg_control_get_summary(f->control)->controls, 1);
  push = samples(f, 0);
  assert_int_equal(push.samples, 5);
  assert_string_equal(push.interpolation, "cubic");
  assert_close(push.times[3], 0.75, 1e-15);
  assert_close(push.values[3], 0.5, 1e-15); /* the straight line between the samples of the file */
  assert_close(push.min, -1, 0);
  assert_close(push.max, 10, 0);
  assert_int_equal(mbg_model_parameter_count(mbg_control_model(f->control)), 2 + 5);
  assert_int_equal(mbg_model_parameter_find(mbg_control_model(f->control), "push[4]"), 6);
}

/* values of controls that depend on parameters start at the parameters given */
static void test_parameters(void **state) {
  fixture *f = *state;
  const double p[2] = {3, 1.5};
  f->o.parameters = p;
  check(f, mbg_control_create(f->ctx, f->model, &f->o, &f->control));
  assert_close(samples(f, 0).values[1], 1.5, 1e-15);
  assert_close(mbg_control_parameters(f->control)[0], 3, 0);
}

/* the sampled model is the model: same criteria, same gradient by its parameters, constants moved behind the new
   ones */
static void test_sampled(void **state) {
  fixture *f = *state;
  double psi[2][2], g[2][2 * 8];
  create(f);
  for (int i = 0; i < 2; i++) {
    const mbg_model *model = i ? mbg_control_model(f->control) : f->model;
    mbg_run *run;
    check(f, mbg_run_create(f->ctx, model, NULL, &run));
    check(f, mbg_run_set_parameters(f->ctx, run, i ? mbg_control_parameters(f->control) : NULL));
    check(f, mbg_run_simulate(f->ctx, run));
    check(f, mbg_run_criteria(f->ctx, run, psi[i]));
    check(f, mbg_run_gradient(f->ctx, run, MBG_METHOD_ADJOINT, g[i], NULL));
    mbg_run_destroy(run);
  }
  assert_close_array(psi[1], psi[0], 2, 1e-15);
  assert_close(g[1][0], g[0][0], 1e-14);
  assert_close(g[0][1], g[1][1] + g[1][3], 1e-14); /* by goal: also through the sample push[1] = goal */
}

/* a control that becomes cubic has four active numbers where it had two */
static void test_becomes_cubic(void **state) {
  fixture *f = *state;
  f->o.interpolation = "cubic";
  f->o.samples = 7;
  const mbg_control_summary *r = solve(f);
  assert_true(r->converged && r->objective < 0.1 * r->objective_start);
}

/* ---------------------------------------------------------------------- effort */

/* exact for a straight line and for a natural spline; its gradient is that of a quadratic function: central differences
   are exact up to rounding */
static void test_effort(void **state) {
  fixture *f = *state;
  create(f);
  mbg_control *c = f->control;
  const double x[6] = {1, 3, -2, 0.3, -1, 2};
  /* straight lines: h/6 (a^2 + a b + b^2) each */
  const double line = 0.5 / 6 * ((1 + 3 + 9) + (9 - 6 + 4));
  c->found[1].effort = 0;
  assert_close(mbg__control_effort(c, x, 1, NULL), 1e-4 * line, 1e-18);
  c->found[1].effort = 1e-3;
  double g[6] = {0}, fine = 0;
  const double effort = mbg__control_effort(c, x, 2, g);
  for (int k = 0; k < 6; k++) {
    double a[6], b[6];
    memcpy(a, x, sizeof a);
    memcpy(b, x, sizeof b);
    a[k] += 1;
    b[k] -= 1;
    assert_close(g[k], mbg__control_effort(c, a, 1, NULL) - mbg__control_effort(c, b, 1, NULL), 1e-15);
  }
  /* the spline through 0.3, -1, 2 by the midpoint rule */
  const real y[3] = {0.3, -1, 2};
  real m[3];
  mbg__spline_curvature(c->found[1].spline, y, m);
  for (int i = 0; i < 20000; i++) {
    mbg__spline_weights w;
    assert_true(mbg__spline_weights_at(c->found[1].spline, (i + 0.5) / 20000, &w));
    const double u = re(w.w[0][0] * y[w.i] + w.w[0][1] * y[w.i + 1] + w.w[0][2] * m[w.i] + w.w[0][3] * m[w.i + 1]);
    fine += u * u / 2 / 20000;
  }
  assert_close(effort - 1e-4 * line, 1e-3 * fine, 1e-10);
}

/* ---------------------------------------------------------------------- solutions */

/* bounds hold, all optimizers find the same, the gradient is that of the objective */
static void test_bounds(void **state) {
  fixture *f = *state;
  static const char *const optimizers[] = {"lbfgs", "ipopt", "cg", "steepest"};
  double objective = NAN;
  f->o.samples = 6;
  f->o.max = 4;
  f->o.gradient_tolerance = 1e-9;
  f->o.iterations = 5000;
  for (int i = 0; i < 4; i++) {
    f->o.optimizer = optimizers[i];
    const mbg_control_summary *r = solve(f);
    assert_string_equal(r->optimizer, optimizers[i]);
    objective = i == 0 ? r->objective : objective;
    assert_close(r->objective, objective, 1e-7);
    assert_true(i == 1 || r->at_bounds > 0);
    for (int k = 0; k < 2; k++) {
      const mbg_control_samples s = samples(f, k);
      for (int j = 0; j < s.samples; j++) {
        assert_true(s.values[j] <= 4 && s.values[j] >= s.min);
      }
    }
  }
}

/* controls that leave the domain of the square root are stepped back from */
static void test_domain(void **state) {
  fixture *f = *state;
  static const char *const names[] = {"lift"}, *const criteria[] = {"miss"};
  f->o.nname = 1;
  f->o.names = names;
  f->o.nterm = 1;
  f->o.criteria = criteria;
  f->o.effort = 0;
  f->o.min = -1e9;
  f->o.max = 1e9;
  f->o.samples = 4;
  const mbg_control_summary *r = solve(f);
  assert_true(r->objective < r->objective_start);
  assert_string_equal(mbg_context_error(f->ctx), "");
}

/* stages end where one does, by way of larger efforts */
static void test_stages(void **state) {
  fixture *f = *state;
  f->o.samples = 6;
  f->o.gradient_tolerance = 1e-8;
  const double one = solve(f)->objective;
  f->o.stages = 3;
  const mbg_control_summary *r = solve(f);
  assert_int_equal(r->stage, 2);
  assert_int_equal(r->stages, 3);
  assert_true(r->converged);
  assert_close(r->objective, one, 1e-9);
  assert_true(r->effort > 0);
}

static bool stop_late(void *user, const mbg_control *control) {
  *(double *)user = mbg_control_get_summary(control)->objective;
  return mbg_control_get_summary(control)->iterations == 2;
}

static int asked;
static bool stop_run(void *user) {
  (void)user;
  return ++asked > 100;
}

/* progress and the interrupt of a run both end the search and keep the best control */
static void test_interrupt(void **state) {
  fixture *f = *state;
  double objective;
  f->o.progress = stop_late;
  f->o.user = &objective;
  const mbg_control_summary *r = solve(f);
  assert_true(r->interrupted && !r->converged);
  assert_int_equal(r->iterations, 2);
  assert_string_equal(r->status, "interrupted");
  assert_close(r->objective, objective, 0);
  assert_true(r->objective < r->objective_start);
  f->o.progress = NULL;
  f->run.interrupt = stop_run;
  r = solve(f);
  assert_true(r->interrupted && r->objective < r->objective_start);
  assert_string_equal(mbg_context_error(f->ctx), "");
}

static void test_limit(void **state) {
  fixture *f = *state;
  f->o.iterations = 2;
  const mbg_control_summary *r = solve(f);
  assert_string_equal(r->status, "limit of iterations");
  assert_false(r->converged);
}

/* ---------------------------------------------------------------------- files */

static double objective_of(fixture *f, const char *path) {
  mbg_model *model = NULL;
  mbg_run *run = NULL;
  double psi[2];
  check(f, mbg_model_load(f->ctx, path, &model));
  check(f, mbg_run_create(f->ctx, model, NULL, &run));
  check(f, mbg_run_simulate(f->ctx, run));
  check(f, mbg_run_criteria(f->ctx, run, psi));
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  return psi[0] + 2 * psi[1];
}

static double found_objective(const fixture *f) {
  const mbg_control_summary *r = mbg_control_get_summary(f->control);
  return r->objective - r->effort;
}

/* the model with the control found, and one that reads it from the CSV file, do what was found */
static void test_files(void **state) {
  fixture *f = *state;
  support_write_file("control_test_cart.json", cart, strlen(cart));
  mbg_model_destroy(f->model);
  check(f, mbg_model_load(f->ctx, "control_test_cart.json", &f->model));
  f->o.samples = 6;
  (void)solve(f);
  check(f, mbg_control_write_model(f->ctx, f->control, "control_test_found.json"));
  assert_close(objective_of(f, "control_test_found.json"), found_objective(f), 1e-15);

  assert_true(mbg_control_same_times(f->control));
  check(f, mbg_control_write(f->ctx, f->control, -1, "control_test.csv"));
  char *text = support_read_file("control_test_found.json", NULL), *from = strstr(text, "\"controls\": {"),
       *to = strstr(text, "\"bodies\""), *model = malloc(strlen(text) + 400);
  sprintf(model,
          "%.*s\"controls\": {\"push\": {\"file\": \"control_test.csv\", \"times\": \"t\", \"values\": \"push\"}, "
          "\"lift\": {\"file\": \"control_test.csv\", \"times\": \"t\", \"values\": \"lift\", "
          "\"interpolation\": \"cubic\"}}, %s",
          (int)(from - text), text, to);
  support_write_file("control_test_csv.json", model, strlen(model));
  assert_close(objective_of(f, "control_test_csv.json"), found_objective(f), 1e-15);
  free(text);
  free(model);

  /* other times for each: a file each */
  f->o.samples = 0;
  create(f);
  assert_false(mbg_control_same_times(f->control));
  assert_int_equal(mbg_control_write(f->ctx, f->control, -1, "control_test.csv"), MBG_ERROR_INPUT);
  assert_string_equal(mbg_context_error(f->ctx),
                      "the controls have different times: write each into a file of its own");
  mbg_context_clear(f->ctx);
  assert_int_equal(mbg_control_write(f->ctx, f->control, 2, "control_test.csv"), MBG_ERROR_INPUT);
  mbg_context_clear(f->ctx);
  check(f, mbg_control_write(f->ctx, f->control, 0, "control_test.csv"));
  text = support_read_file("control_test.csv", NULL);
  assert_string_equal(text, "t,push\n0,1\n0.5,1\n1,0\n");
  free(text);
  assert_int_equal(mbg_control_write(f->ctx, f->control, 0, "no/such/folder.csv"), MBG_ERROR_IO);
}

static void expect_resume(fixture *f, const char *text, const char *message) {
  mbg_context_clear(f->ctx);
  support_write_file("control_test.restart", text, strlen(text));
  assert_int_equal(mbg_control_read_restart(f->ctx, f->control, "control_test.restart"), MBG_ERROR_INPUT);
  assert_string_equal(mbg_context_error(f->ctx), message);
}

/* a restart begins where the file says, also with other samples */
static void test_restart(void **state) {
  fixture *f = *state;
  double first[6];
  f->o.samples = 6;
  f->o.stages = 2;
  f->o.gradient_tolerance = 1e-6;
  const double objective = solve(f)->objective;
  memcpy(first, samples(f, 0).values, sizeof first);
  check(f, mbg_control_write_restart(f->ctx, f->control, "control_test.restart"));
  create(f);
  check(f, mbg_control_read_restart(f->ctx, f->control, "control_test.restart"));
  assert_memory_equal(first, samples(f, 0).values, sizeof first);
  assert_int_equal(mbg_control_get_summary(f->control)->stage, 1);
  check(f, mbg_control_solve(f->ctx, f->control));
  const mbg_control_summary *r = mbg_control_get_summary(f->control);
  assert_close(r->objective_start, objective, 1e-15);
  assert_true(r->objective <= objective);
  /* 11 samples: every second one is an old one */
  f->o.samples = 11;
  create(f);
  check(f, mbg_control_read_restart(f->ctx, f->control, "control_test.restart"));
  assert_close(samples(f, 0).values[4], first[2], 1e-15);
  assert_close(samples(f, 0).values[3], (first[1] + first[2]) / 2, 1e-14);

  expect_resume(f, "{\"mbgrad_control\": 2}", "control_test.restart: not a restart file of a control problem");
  expect_resume(
      f, "{\"mbgrad_control\": 1, \"stage\": 0, \"controls\": {\"push\": {\"times\": [0, 1], \"values\": [1, \"a\"]}}}",
      "control_test.restart: no samples of control 'push', as a restart file of this problem has them");
  expect_resume(
      f, "{\"mbgrad_control\": 1, \"stage\": 0, \"controls\": {\"push\": {\"times\": [0, 0], \"values\": [1, 2]}}}",
      "control_test.restart:1:56: table 'push': x must increase, but x[1] = 0 follows x[0] = 0");
  expect_resume(
      f, "[",
      "control_test.restart:1:2: the file ends inside the array that starts at line 1, column 1; expected a value");
  expect_resume(
      f, "mbgrad control 2: {\"kontrols\": {}}\ns 0 0000000000000000 d9054e5a80fc2ee6\n",
      "control_test.restart:1: the first line has no \"controls\": not a restart file of a control problem, or "
      "a damaged one; remove it or name another file");
  expect_resume(
      f, "mbgrad control 2: {\"controls\": [[0, 1]]}\ns 0 0000000000000000 d9054e5a80fc2ee6\n",
      "control_test.restart:1: the first line has no \"controls\": not a restart file of a control problem, or "
      "a damaged one; remove it or name another file");
  mbg_context_clear(f->ctx);
  assert_int_equal(mbg_control_read_restart(f->ctx, f->control, "no-such.restart"), MBG_ERROR_IO);
}

/* an effort of 1e308 in a record makes the objective of the last stage infinite */
static void test_restart_infinite(void **state) {
  fixture *f = *state;
  f->o.stages = 2;
  f->o.restart = "control_test.record";
  remove(f->o.restart);
  solve(f);
  char *text = support_read_file(f->o.restart, NULL), *line = strstr(text, "\ne ") + 1, *end = strchr(line, '\n');
  const int n = samples(f, 0).samples + samples(f, 1).samples;
  memcpy(line + 3 + 17 * (n + 1) + 1, "7fe1ccf385ebc8a0", 16);
  char sum[17];
  snprintf(sum, sizeof(sum), "%016llx", (unsigned long long)mbg__sum(MBG__SUM_START, line, (size_t)(end - 17 - line)));
  memcpy(end - 16, sum, 16);
  support_write_file(f->o.restart, text, strlen(text));
  free(text);
  f->o.resume = true;
  create(f);
  assert_int_equal(mbg_control_solve(f->ctx, f->control), MBG_ERROR_INPUT);
  assert_string_equal(mbg_context_error(f->ctx),
                      "control_test.record:3: the line gives an objective that is not finite; "
                      "remove the file or name another one");
}

/* ---------------------------------------------------------------------- refused */

static void expect(fixture *f, int status, const char *message) {
  mbg_control *c;
  mbg_context_clear(f->ctx);
  assert_int_equal(mbg_control_create(f->ctx, f->model, &f->o, &c), status);
  assert_null(c);
  assert_string_equal(mbg_context_error(f->ctx), message);
  mbg_control_options_default(&f->o, sizeof(f->o));
  mbg_run_options_default(&f->run, sizeof(f->run));
  f->o.run = &f->run;
}

static void test_refused(void **state) {
  fixture *f = *state;
  static const char *const unknown[] = {"pusch"}, *const twice[] = {"lift", "lift"}, *const miss[] = {"mis"};
  static const char *const both[] = {"miss", "miss"};
  static const double nan_weight[] = {NAN};
  f->o.nname = 1;
  f->o.names = unknown;
  expect(f, MBG_ERROR_INPUT, "unknown control 'pusch'; did you mean 'push'? (the model has push, lift)");
  f->o.nname = 2;
  f->o.names = twice;
  expect(f, MBG_ERROR_INPUT, "control 'lift' is named twice");
  f->o.nterm = 1;
  f->o.criteria = miss;
  expect(f, MBG_ERROR_INPUT, "unknown criterion 'mis'; did you mean 'miss'? (the model has miss, bend)");
  f->o.nterm = 2;
  f->o.criteria = both;
  expect(f, MBG_ERROR_INPUT, "criterion 'miss' is named twice in the objective");
  f->o.nterm = 1;
  f->o.criteria = both;
  f->o.weights = nan_weight;
  expect(f, MBG_ERROR_INPUT, "weight nan of criterion 'miss': must be finite");
  f->o.min = 11;
  expect(f, MBG_ERROR_INPUT, "bounds of control 'push' contradict each other: min 11 is above max 10");
  f->o.samples = 1;
  expect(f, MBG_ERROR_INPUT, "1 sample of control 'push': at least 2 are needed");
  f->o.samples = 5;
  f->run.end = -1;
  expect(f, MBG_ERROR_INPUT,
         "samples of control 'push' are laid over the run, which needs an end after its start (0 to -1)");
  f->o.interpolation = "quintic";
  expect(f, MBG_ERROR_INPUT, "interpolation 'quintic': must be linear or cubic");
  f->o.interpolation = "linear";
  expect(f, MBG_ERROR_INPUT, "control 'lift' is cubic, and its users may need that: make it linear in the model");
  f->o.optimizer = "simplex";
  expect(f, MBG_ERROR_INPUT, "unknown optimizer 'simplex' (known: lbfgs, ipopt, ipopt-exact, newton, cg, steepest)");
  f->o.effort = -1;
  expect(f, MBG_ERROR_INPUT, "effort -1 of control 'push': must not be negative");
  f->o.effort = 0;
  f->o.stages = 2;
  expect(f, MBG_ERROR_INPUT, "2 stages lower the weight of the effort, which is 0: give an effort");
  f->o.stages = -1;
  expect(f, MBG_ERROR_INPUT, "200 iterations and -1 stages: there must be at least 1");
  f->o.reduction = 2;
  expect(f, MBG_ERROR_INPUT, "reduction 2: must lie between 0 and 1");
  f->o.gradient_tolerance = -1;
  expect(f, MBG_ERROR_INPUT, "gradient tolerance -1: must not be negative");
  f->run.step = -1;
  expect(f, MBG_ERROR_INPUT, "the run needs a positive \"step\" or \"tolerance\" (step -1, tolerance 0)");
}

/* models without what a problem needs */
static void test_models(void **state) {
  fixture *f = *state;
  static const char none[] = "{\"mbgrad\": 1, \"run\": {\"end\": 1, \"step\": 0.1}}";
  static const char idle[] = "{\"mbgrad\": 1, \"controls\": {\"u\": {\"times\": [0, 1], \"values\": 0}}}";
  mbg_model_destroy(f->model);
  check(f, mbg_model_parse(f->ctx, "none", none, strlen(none), NULL, &f->model));
  expect(f, MBG_ERROR_INPUT, "the model has no controls to find; give \"controls\" and use them in forces");
  mbg_model_destroy(f->model);
  check(f, mbg_model_parse(f->ctx, "idle", idle, strlen(idle), NULL, &f->model));
  expect(f, MBG_ERROR_INPUT,
         "no objective: give \"control\": {\"objective\": ...} or --objective (criteria of the model: none)");
}

/* a start control that cannot be simulated: why, then what to do */
static void test_start(void **state) {
  fixture *f = *state;
  char *text = malloc(sizeof cart);
  memcpy(text, cart, sizeof cart);
  memcpy(strstr(text, "0.5, \"interpolation\""), "5.5", 3);
  memcpy(strstr(text, "\"max\": 4"), "\"max\": 9", 8);
  mbg_model_destroy(f->model);
  check(f, mbg_model_parse(f->ctx, "cart", text, strlen(text), NULL, &f->model));
  create(f);
  assert_int_equal(mbg_control_solve(f->ctx, f->control), MBG_ERROR_CONVERGENCE);
  assert_non_null(strstr(mbg_context_error(f->ctx), "sqrt"));
  assert_string_equal(mbg_context_message(f->ctx, mbg_context_message_count(f->ctx) - 1),
                      "the control that the search starts from cannot be simulated: give other values in \"controls\"");
  free(text);
}

/* ---------------------------------------------------------------------- memory */

static int whole(mbg_context *ctx) {
  mbg_model *model = NULL;
  mbg_control *control = NULL;
  mbg_control_options o;
  mbg_control_options_default(&o, sizeof(o));
  o.samples = 3;
  o.iterations = 2;
  int err = mbg_model_parse(ctx, "cart", cart, strlen(cart), NULL, &model);
  err = err < 0 ? err : mbg_control_create(ctx, model, &o, &control);
  err = err < 0 ? err : mbg_control_write_restart(ctx, control, "control_test.memory");
  err = err < 0 ? err : mbg_control_read_restart(ctx, control, "control_test.memory");
  err = err < 0 ? err : mbg_control_solve(ctx, control);
  err = err < 0 ? err : mbg_control_write(ctx, control, -1, "control_test.memory");
  mbg_control_destroy(control);
  mbg_model_destroy(model);
  return err;
}

static void test_memory(void **state) {
  (void)state;
  const long stride = support_rounds(support_sanitized() ? 7 : 3, 1);
  for (long n = 2;; n += stride) {
    support_memory memory = {.fail_at = n};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx;
    assert_int_equal(mbg_context_create(&allocator, &ctx), MBG_OK);
    const int err = whole(ctx);
    const bool reached = memory.requests >= n;
    assert_int_equal(err, reached ? MBG_ERROR_MEMORY : MBG_OK);
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (!reached) {
      assert_true(n > 100);
      break;
    }
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_section),
                                     TEST(test_parameters),
                                     TEST(test_sampled),
                                     TEST(test_becomes_cubic),
                                     TEST(test_effort),
                                     TEST(test_bounds),
                                     TEST(test_domain),
                                     TEST(test_stages),
                                     TEST(test_interrupt),
                                     TEST(test_limit),
                                     TEST(test_files),
                                     TEST(test_restart),
                                     TEST(test_restart_infinite),
                                     TEST(test_refused),
                                     TEST(test_models),
                                     TEST(test_start),
                                     cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, support_folder_enter, support_folder_leave);
}
