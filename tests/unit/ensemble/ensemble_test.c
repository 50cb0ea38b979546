/* Ensembles against runs of their own: the same bits, for any order of the samples and any neighbours. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 11 };

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_run_options options;
  mbg_ensemble *ensemble;
  size_t np, nc;
  double *p, *psi, *gradient; /* of all samples */
  mbg_ensemble_sample samples[COUNT];
  int together;
} study;

static void allocate(study *s) {
  s->p = calloc(COUNT * (s->np + s->nc * (1 + s->np)), sizeof(double));
  assert_non_null(s->p);
  s->psi = s->p + COUNT * s->np;
  s->gradient = s->psi + COUNT * s->nc;
}

/* name: of a gallery model, or the text of one with single quotes */
static void begin(study *s, const char *name, double end, double step) {
  char path[512];
  *s = (study){0};
  assert_int_equal(mbg_context_create(NULL, &s->ctx), MBG_OK);
  if (*name == '{') {
    char *text = support_quotes(name);
    assert_int_equal(mbg_model_parse(s->ctx, "model.json", text, strlen(text), NULL, &s->model), MBG_OK);
    free(text);
  } else {
    snprintf(path, sizeof(path), "%s/%s/model.json", MBG_GALLERY_DIR, name);
    assert_int_equal(mbg_model_load(s->ctx, path, &s->model), MBG_OK);
  }
  mbg_run_options_default(&s->options, sizeof(s->options));
  s->options.formulation = "ali3p";
  s->options.end = end;
  s->options.step = step;
  s->np = (size_t)mbg_model_parameter_count(s->model);
  s->nc = (size_t)mbg_model_criterion_count(s->model);
  allocate(s);
  assert_int_equal(mbg_ensemble_create(s->ctx, s->model, &s->options, &s->ensemble), MBG_OK);
}

static void end(study *s) {
  free(s->p);
  mbg_ensemble_destroy(s->ensemble);
  mbg_model_destroy(s->model);
  mbg_context_destroy(s->ctx);
}

/* every parameter by a random part of `by` */
static void vary(study *s, double by) {
  support_rng rng = support_rng_make(25);
  for (size_t i = 0; i < COUNT * s->np; i++) {
    s->p[i] = mbg_model_parameter_value(s->model, (int)(i % s->np)) * (1 + by * support_uniform(&rng, -1, 1));
  }
}

static void compute(study *s, int count) {
  assert_int_equal(mbg_ensemble_run(s->ctx, s->ensemble, count, s->p, s->psi, s->gradient, s->samples), MBG_OK);
  s->together = 0;
  for (int k = 0; k < count; k++) {
    s->together += s->samples[k].together;
  }
}

/* the same bits; NAN is NAN */
static void assert_same(size_t n, const double *a, const double *b) {
  for (size_t i = 0; i < n; i++) {
    if (!(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])))) {
      fail_msg("number %zu of %zu: %.17g, not %.17g", i, n, a[i], b[i]);
    }
  }
}

static bool has_warning(const mbg_context *ctx) {
  bool yes = false;
  for (int i = 0; i < mbg_context_message_count(ctx); i++) {
    yes = yes || mbg_context_message_severity(ctx, i) == MBG_WARNING;
  }
  return yes;
}

/* sample k by a run of its own */
static int single(const study *s, mbg_run *run, size_t k, double *psi, double *gradient, bool *warned) {
  int err = mbg_run_renew(s->ctx, run);
  err = err < 0 ? err : mbg_run_set_parameters(s->ctx, run, s->p + k * s->np);
  err = err < 0 ? err : mbg_run_simulate(s->ctx, run);
  err = err < 0 ? err : mbg_run_criteria(s->ctx, run, psi);
  err = err < 0 ? err : mbg_run_gradient(s->ctx, run, MBG_METHOD_AUTO, gradient, NULL);
  *warned = has_warning(s->ctx);
  mbg_context_clear(s->ctx);
  return err;
}

static void assert_as_single(const study *s) {
  mbg_run *run;
  double *psi = calloc(s->nc * (1 + s->np), sizeof(double)), *gradient = psi + s->nc;
  assert_non_null(psi);
  assert_int_equal(mbg_run_create(s->ctx, s->model, &s->options, &run), MBG_OK);
  for (size_t k = 0; k < COUNT; k++) {
    bool warned;
    const int err = single(s, run, k, psi, gradient, &warned);
    assert_int_equal(s->samples[k].status, err);
    assert_int_equal(s->samples[k].warned, warned);
    if (err == MBG_OK) {
      assert_same(s->nc, s->psi + k * s->nc, psi);
      assert_same(s->nc * s->np, s->gradient + k * s->nc * s->np, gradient);
    }
  }
  mbg_run_destroy(run);
  free(psi);
}

/* the samples in another order */
static void assert_any_order(const study *s) {
  study t = *s;
  allocate(&t);
  for (size_t k = 0; k < COUNT; k++) {
    memcpy(t.p + k * t.np, s->p + (k * 7 + 3) % COUNT * s->np, s->np * sizeof(double));
  }
  compute(&t, COUNT);
  for (size_t k = 0; k < COUNT; k++) {
    const size_t i = (k * 7 + 3) % COUNT;
    assert_int_equal(t.samples[k].status, s->samples[i].status);
    assert_int_equal(t.samples[k].warned, s->samples[i].warned);
    assert_same(s->nc, t.psi + k * s->nc, s->psi + i * s->nc);
    assert_same(s->nc * s->np, t.gradient + k * s->nc * s->np, s->gradient + i * s->nc * s->np);
  }
  free(t.p);
}

static void check(const char *name, double until, double step, double by, bool together) {
  study s;
  begin(&s, name, until, step);
  vary(&s, by);
  compute(&s, COUNT);
  if (together && mbg_ensemble_width(s.ensemble) > 1) {
    assert_int_equal(s.together, COUNT);
  }
  assert_as_single(&s);
  assert_any_order(&s);
  end(&s);
}

static void test_five_bar(void **state) {
  (void)state;
  check("five-bar", 0.5, 0.005, 0.05, true);
}

/* five criteria of all kinds, reactions among them */
static void test_quarter_car(void **state) {
  (void)state;
  check("quarter-car", 0.4, 0.005, 0.005, false);
}

/* whatever cannot go together goes alone */
static void test_others(void **state) {
  static const char *const names[] = {"double-pendulum-spring", "four-bar", "slider-crank", "two-arm", "bouncing-ball"};
  (void)state;
  for (int i = 0; i < 5; i++) {
    check(names[i], 0.1, 0.005, 0.002, false);
  }
}

/* a sample that fails leaves the others as they are */
static void test_failure(void **state) {
  study s;
  (void)state;
  begin(&s, "five-bar", 0.2, 0.005);
  vary(&s, 0.05);
  const int mass = mbg_model_parameter_find(s.model, "m2");
  s.p[2 * s.np + (size_t)mass] = -1;
  s.p[4 * s.np + (size_t)mass] = NAN;
  compute(&s, COUNT);
  assert_true(s.samples[2].status < 0 && s.samples[4].status < 0);
  assert_true(isnan(s.psi[2 * s.nc]) && isnan(s.gradient[4 * s.nc * s.np]));
  assert_as_single(&s);
  end(&s);
}

#define PENDULUM(force, criteria, run)                                                                                 \
  "{'mbgrad': 1, 'parameters': {'w': 1}, 'joints': {'h': {'type': 'revolute', 'between': ['ground', 'arm']}},"         \
  "'bodies': {'arm': {'motion': 'planar', 'mass': 1, 'inertia': 0.1}},"                                                \
  "'forces': {'f': {'type': 'actuator', 'joint': 'h', 'force': '" force "'}},"                                         \
  "'signals': {'q': {'type': 'coordinate', 'joint': 'h'}}, 'criteria': {" criteria "},"                                \
  "'initial': {'pin': {'p': {'joint': 'h', 'value': 0, 'rate': 'w'}}}, 'run': {" run "}}"

static void rates(study *s, double from, double to) {
  for (size_t k = 0; k < COUNT; k++) {
    s->p[k] = from + (to - from) * (double)k / (COUNT - 1);
  }
  compute(s, COUNT);
  assert_as_single(s);
  assert_any_order(s);
}

/* in some samples Newton's iteration ends with a message, or their laws have other branches than those of others */
static void test_branches(void **state) {
  static const char *const forces[] = {"100*x^3", "if(x > 0.1, -50*x, 2)", "-log(1.2 + x)", "1/(x - 0.2)", "-100*v^2"};
  (void)state;
  for (int i = 0; i < 5; i++) {
    char text[1024];
    study s;
    snprintf(text, sizeof(text), PENDULUM("%s", "'e': {'terminal': 'q'}, 'J': {'integral': 'q^2'}", ""), forces[i]);
    begin(&s, text, 0.5, 0.01);
    rates(&s, -20, 20);
    rates(&s, 20, 20); /* all fail, at the same place */
    end(&s);
  }
}

/* Newton takes more matrices in some samples than in others, where the spring is stiff for the step; gradients use the
   last one of each */
static void test_matrices(void **state) {
  static const char text[] =
      "{'mbgrad': 1, 'parameters': {'m': 1, 'k': 2.5e6, 'c': 1e4},"
      "'bodies': {'bob': {'motion': 'planar-point', 'mass': 'm', 'velocity': [1, 0, 0]}},"
      "'forces': {'pull': {'type': 'spring-damper', 'between': ['ground', 'bob'], 'points': [[0, 1, 0], [0, 0, 0]],"
      "'stiffness': 'k', 'damping': 'c', 'rest': 1}},"
      "'signals': {'x': {'type': 'position', 'of': 'bob', 'component': 'x'}},"
      "'criteria': {'way': {'integral': 'x^2 + x'}}}";
  study s;
  (void)state;
  begin(&s, text, 0.24, 0.024);
  vary(&s, 0.05);
  compute(&s, COUNT);
  assert_true(mbg_ensemble_width(s.ensemble) == 1 || s.together > 0);
  assert_as_single(&s);
  assert_any_order(&s);
  end(&s);
}

/* warnings of a run that is used again are those of a new one */
static void test_warnings(void **state) {
  static const char text[] =
      PENDULUM("-x", "'fit': {'least_squares': 'q', 'data': {'time': [0.1, 0.2, 9], 'value': [0, 0, 0]}}", "");
  study s;
  (void)state;
  begin(&s, text, 0.5, 0.01);
  rates(&s, 0, 1);
  for (int k = 0; k < COUNT; k++) {
    assert_true(s.samples[k].warned);
  }
  end(&s);
}

/* a method that the formulation does not have is refused for each sample, as by its run */
static void test_method(void **state) {
  study s;
  (void)state;
  begin(&s, PENDULUM("-x", "'e': {'terminal': 'q'}", "'method': 'continuous'"), 0.1, 0.01);
  assert_non_null(mbg_ensemble_reason(s.ensemble));
  rates(&s, 0, 1);
  assert_int_equal(s.samples[0].status, MBG_ERROR_UNSUPPORTED);
  end(&s);
}

static void test_selection(void **state) {
  const int chosen[] = {3, 1};
  study s;
  (void)state;
  begin(&s, "quarter-car", 0.1, 0.005);
  vary(&s, 0.005);
  assert_int_equal(mbg_ensemble_select(s.ctx, s.ensemble, 2, chosen), MBG_OK);
  compute(&s, 4);
  assert_true(isnan(s.gradient[0]) && isnan(s.gradient[2 * s.np]) && isnan(s.gradient[4 * s.np]));
  assert_false(isnan(s.gradient[s.np]) || isnan(s.gradient[3 * s.np]));
  assert_int_equal(mbg_ensemble_select(s.ctx, s.ensemble, 1, (const int[]){99}), MBG_ERROR_INPUT);
  end(&s);
}

static void test_refused(void **state) {
  study s;
  mbg_ensemble *other;
  (void)state;
  begin(&s, "five-bar", 0.1, 0.005);
  s.options.formulation = "lie";
  assert_int_equal(mbg_ensemble_create(s.ctx, s.model, &s.options, &other), MBG_OK);
  assert_int_equal(mbg_ensemble_width(other), 1);
  assert_non_null(mbg_ensemble_reason(other));
  mbg_ensemble_destroy(other);
  s.options.step = NAN;
  s.options.tolerance = 1e-6;
  assert_int_equal(mbg_ensemble_create(s.ctx, s.model, &s.options, &other), MBG_ERROR_UNSUPPORTED);
  assert_null(other);
  assert_non_null(strstr(mbg_context_error(s.ctx), "fixed steps"));
  end(&s);
}

static bool count_steps(void *user) {
  ++*(int *)user;
  return false;
}

/* redundant constraints are found when the first samples begin: they go alone then, and once */
static void test_redundant(void **state) {
  study s;
  int steps = 0;
  (void)state;
  begin(&s, "bricard", 0.02, 0.002);
  vary(&s, 0);
  mbg_ensemble_destroy(s.ensemble);
  s.options.interrupt = count_steps;
  s.options.user = &steps;
  assert_int_equal(mbg_ensemble_create(s.ctx, s.model, &s.options, &s.ensemble), MBG_OK);
  compute(&s, 4);
  const int four = steps;
  assert_int_equal(mbg_ensemble_width(s.ensemble), 1);
  compute(&s, 1);
  assert_true(steps > four);
  assert_int_equal(four, 4 * (steps - four));
  end(&s);
}

/* every 23rd request of memory fails once: a message or a result, and nothing is left behind */
static void test_memory(void **state) {
  study s;
  (void)state;
  begin(&s, "five-bar", 0.01, 0.005);
  vary(&s, 0.05);
  for (int n = 1;; n += 23) {
    support_memory memory = {.fail_at = n, .once = true};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx = NULL;
    mbg_ensemble *e = NULL;
    int err = mbg_context_create(&allocator, &ctx);
    err = err < 0 ? err : mbg_ensemble_create(ctx, s.model, &s.options, &e);
    err = err < 0 ? err : mbg_ensemble_run(ctx, e, 5, s.p, s.psi, s.gradient, s.samples);
    assert_true(err == MBG_OK || err == MBG_ERROR_MEMORY);
    for (int k = 0; err == MBG_OK && k < 5; k++) {
      assert_true(s.samples[k].status == MBG_OK || s.samples[k].status == MBG_ERROR_MEMORY);
    }
    mbg_ensemble_destroy(e);
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      break;
    }
  }
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_five_bar),  cmocka_unit_test(test_quarter_car), cmocka_unit_test(test_others),
      cmocka_unit_test(test_failure),   cmocka_unit_test(test_selection),   cmocka_unit_test(test_refused),
      cmocka_unit_test(test_redundant), cmocka_unit_test(test_memory),      cmocka_unit_test(test_branches),
      cmocka_unit_test(test_warnings),  cmocka_unit_test(test_method),      cmocka_unit_test(test_matrices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
