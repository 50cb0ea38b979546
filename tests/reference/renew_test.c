/* A renewed run gives what a new run gives, bit for bit, with the same messages: models of the gallery with fixed steps
   and under error control, with and without redundant rows, at parameters far from each other. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *formulation;
  double span; /* of the run, s */
} cases[] = {
    {"five-bar", "lie", 0.05},
    {"five-bar", "dae", 0.05},
    {"five-bar", "qr", 0.05},
    {"five-bar", "ali3p", 0.05},
    {"five-bar", "dca", 0.05},
    {"quarter-car", "lie", 0.1},
    {"quarter-car", "ali3p", 0.1},
    {"bricard", "lie", 0.05},
    {"bricard", "dae", 0.05},
    {"bricard", "qr", 0.05},
    {"rssr", "lie", 0.05},
    {"torsional-pendulum", "qr", 0.5},
    {"torsional-pendulum", "dca", 0.5},
    {"slider-crank", "ali3p", 0.1},
    {"vehicle", "lie", 0.02},
};

enum { POINTS = 6 };

typedef struct {
  int status;
  double *numbers; /* criteria, then their gradients */
  size_t bytes;
  char messages[8192];
} outcome;

static outcome evaluate(mbg_context *ctx, const mbg_model *m, mbg_run *run, const double *p) {
  const size_t nc = (size_t)mbg_model_criterion_count(m), np = (size_t)mbg_model_parameter_count(m);
  outcome o = {.numbers = calloc(nc * (1 + np) + 1, sizeof(double)), .bytes = nc * (1 + np) * sizeof(double)};
  assert_non_null(o.numbers);
  mbg_context_clear(ctx);
  o.status = mbg_run_set_parameters(ctx, run, p);
  o.status = o.status < 0 ? o.status : mbg_run_simulate(ctx, run);
  o.status = o.status < 0 ? o.status : mbg_run_criteria(ctx, run, o.numbers);
  o.status = o.status < 0 ? o.status : mbg_run_gradient(ctx, run, MBG_METHOD_AUTO, o.numbers + nc, NULL);
  for (int i = 0; i < mbg_context_message_count(ctx); i++) {
    const size_t used = strlen(o.messages);
    snprintf(o.messages + used, sizeof(o.messages) - used, "%s\n", mbg_context_message(ctx, i));
  }
  return o;
}

static void check_case(mbg_context *ctx, const mbg_model *m, const mbg_run_options *options, const char *what) {
  const int np = mbg_model_parameter_count(m);
  double *p = calloc((size_t)np + 1, sizeof(double));
  mbg_run *kept = NULL;
  unsigned seed = 1;
  int succeeded = 0;
  assert_non_null(p);
  assert_int_equal(mbg_run_create(ctx, m, options, &kept), MBG_OK);
  for (int k = 0; k < POINTS; k++) {
    mbg_run *fresh = NULL;
    for (int i = 0; i < np; i++) {
      seed = seed * 1664525u + 1013904223u;
      const double far = k == 0 ? 0 : k % 2 ? 0.02 : 0.5; /* far away some mechanisms cannot be assembled */
      p[i] = mbg_model_parameter_value(m, i) * (1 + far * ((double)(seed >> 8) / (1 << 23) - 1));
    }
    assert_int_equal(mbg_run_create(ctx, m, options, &fresh), MBG_OK);
    outcome a = evaluate(ctx, m, fresh, p), b = evaluate(ctx, m, kept, p);
    if (a.status != b.status || memcmp(a.numbers, b.numbers, a.bytes) != 0 || strcmp(a.messages, b.messages) != 0) {
      fail_msg("%s, point %d: status %d %d, value %.17g %.17g, messages:\n%s%s", what, k, a.status, b.status,
               a.numbers[0], b.numbers[0], a.messages, b.messages);
    }
    succeeded += a.status >= 0;
    free(a.numbers);
    free(b.numbers);
    mbg_run_destroy(fresh);
    assert_int_equal(mbg_run_renew(ctx, kept), MBG_OK);
  }
  assert_true(succeeded >= POINTS / 2);
  mbg_run_destroy(kept);
  free(p);
}

static void test_renewed(void **state) {
  (void)state;
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char path[512], what[128];
    mbg_model *m = NULL;
    mbg_run_options options;
    snprintf(path, sizeof(path), MBG_GALLERY_DIR "/%s/model.json", cases[i].name);
    snprintf(what, sizeof(what), "%s by %s", cases[i].name, cases[i].formulation);
    assert_int_equal(mbg_model_load(ctx, path, &m), MBG_OK);
    mbg_run_options_default(&options, sizeof(options));
    options.formulation = cases[i].formulation;
    options.end = cases[i].span;
    check_case(ctx, m, &options, what);
    mbg_model_destroy(m);
  }
  mbg_context_destroy(ctx);
}

/* the step that an accuracy finds at other parameters does not stay */
static void test_accuracy(void **state) {
  (void)state;
  mbg_context *ctx = NULL;
  mbg_model *m = NULL;
  mbg_run_options options;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_load(ctx, MBG_GALLERY_DIR "/simple-pendulum/model.json", &m), MBG_OK);
  mbg_run_options_default(&options, sizeof(options));
  options.end = 0.5;
  options.accuracy = 1e-3;
  check_case(ctx, m, &options, "simple-pendulum with an accuracy");
  mbg_model_destroy(m);
  mbg_context_destroy(ctx);
}

static const char four_bar[] =
    "{'mbgrad': 1, 'parameters': {'r': 0.2, 'l': 0.5, 'g': 0.45}, 'gravity': [0, -9.81, 0], 'bodies': {"
    "'crank': {'motion': 'planar', 'mass': 1, 'inertia': 0.01, 'position': ['r/2', 0, 0]},"
    "'rod': {'motion': 'planar', 'mass': 1, 'inertia': 0.02, 'position': ['r + l/2', 0, 0]},"
    "'rocker': {'motion': 'planar', 'mass': 1, 'inertia': 0.02, 'position': ['r + l', 'g/2', 0]}}, 'joints': {"
    "'A': {'type': 'revolute', 'between': ['ground', 'crank'], 'at': [0, 0, 0]},"
    "'B': {'type': 'revolute', 'between': ['crank', 'rod'], 'at': ['r', 0, 0]},"
    "'C': {'type': 'revolute', 'between': ['rod', 'rocker'], 'at': ['r + l', 0, 0]},"
    "'D': {'type': 'revolute', 'between': ['ground', 'rocker'], 'at': ['r + l', 'g', 0]}},"
    "'signals': {'a': {'type': 'coordinate', 'joint': 'A'}}, 'criteria': {'J': {'integral': 'a^2'}},"
    "'initial': {'pin': {'p': {'joint': 'A', 'value': 0.1, 'rate': 8}}},"
    "'run': {'formulation': 'ali3p', 'iteration': 'augmented', 'end': 0.2}}";

static const char corner[] =
    "{'mbgrad': 1, 'parameters': {'k': 20, 'w': 4}, 'joints': {'h': {'type': 'revolute', 'between': ['ground', "
    "'arm']}},"
    "'bodies': {'arm': {'motion': 'planar', 'mass': 1, 'inertia': 0.1}},"
    "'forces': {'f': {'type': 'actuator', 'joint': 'h', 'force': 'if(x > 0.1, -k*x, 2)'}},"
    "'signals': {'q': {'type': 'coordinate', 'joint': 'h'}}, 'criteria': {'J': {'integral': 'q^2'},"
    "'fit': {'least_squares': 'q', 'data': {'time': [0.1, 0.2, 9], 'value': [0, 0, 0]}}},"
    "'initial': {'pin': {'p': {'joint': 'h', 'value': 0, 'rate': 'w'}}}, 'run': {'end': 0.5}}";

/* what a first simulation decides besides rows and steps: masses of soft rows, nodes inside the steps of an integrator,
   warnings of samples outside the run */
static void test_decisions(void **state) {
  static const struct {
    const char *text, *formulation, *integrator;
  } models[] = {{four_bar, "ali3p", NULL}, {corner, "qr", NULL},  {corner, "qr", "rk4"},
                {corner, "dca", "rk4"},    {corner, "lie", NULL}, {corner, "ali3p", NULL}};
  (void)state;
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
    mbg_model *m = NULL;
    mbg_run_options options;
    char *text = support_quotes(models[i].text);
    assert_int_equal(mbg_model_parse(ctx, "model.json", text, strlen(text), NULL, &m), MBG_OK);
    mbg_run_options_default(&options, sizeof(options));
    options.formulation = models[i].formulation;
    options.integrator = models[i].integrator;
    options.step = 0.01;
    check_case(ctx, m, &options, models[i].formulation);
    mbg_model_destroy(m);
    free(text);
  }
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_renewed), cmocka_unit_test(test_accuracy),
                                     cmocka_unit_test(test_decisions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
