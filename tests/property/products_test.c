/* Products with the Jacobian of a trajectory: J^T of mbg_run_vjp and J of mbg_run_jvp are adjoint to each other in
   every formulation, the adjoint's product is that of direct differentiation, and a seed of one signal gives its
   derivative. */
#include "mbgrad/run.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SETS = 2 };

typedef struct {
  const char *model, *formulation, *integrator;
  double end, step, tolerance;
} sample;

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  int np, kept, nodes;
} job;

static void must(const job *j, const sample *s, int status) {
  if (status < 0) {
    fail_msg("%s, %s: %s", s->model, s->formulation, mbg_context_error(j->ctx));
  }
}

static job open_job(const sample *s) {
  job j = {0};
  assert_int_equal(mbg_context_create(NULL, &j.ctx), MBG_OK);
  mbg_run_options options;
  char path[500];
  mbg_run_options_default(&options, sizeof(options));
  options.formulation = s->formulation;
  options.integrator = s->integrator;
  options.end = s->end;
  options.step = s->tolerance > 0 ? options.step : s->step;
  options.tolerance = s->tolerance > 0 ? s->tolerance : options.tolerance;
  options.all_signals = true;
  snprintf(path, sizeof(path), "%s/%s", MBG_GALLERY_DIR, s->model);
  must(&j, s, mbg_model_load(j.ctx, path, &j.model));
  must(&j, s, mbg_run_create(j.ctx, j.model, &options, &j.run));
  must(&j, s, mbg_run_simulate(j.ctx, j.run));
  j.np = mbg_model_parameter_count(j.model);
  j.kept = mbg_run_kept_count(j.run);
  j.nodes = mbg_run_node_count(j.run);
  return j;
}

static void close_job(job *j) {
  mbg_run_destroy(j->run);
  mbg_model_destroy(j->model);
  mbg_context_destroy(j->ctx);
}

static double *numbers(int n) {
  double *x = calloc((size_t)n + 1, sizeof(double));
  assert_non_null(x);
  return x;
}

/* signals differ in size: a cotangent weighs them by their own */
static void random_cotangent(const job *j, support_rng *rng, double *w) {
  for (int k = 0; k < j->kept; k++) {
    double most = 0;
    for (int n = 0; n < j->nodes; n++) {
      most = fmax(most, fabs(mbg_run_signal(j->run, n, mbg_run_kept_signal(j->run, k))));
    }
    for (int n = 0; n < j->nodes; n++) {
      const bool zero = support_index(rng, 3) == 0;
      w[n * j->kept + k] = zero ? 0 : support_normal(rng) / fmax(most, 1e-2);
    }
  }
}

/* |difference| relative to the sum of magnitudes, which is what rounding sees */
static void check_pairing(const job *j, const sample *s, const double *w, const double *g, const double *d,
                          const double *dy, double tolerance) {
  double left = 0, right = 0, size = 0;
  for (int i = 0; i < j->nodes * j->kept; i++) {
    left += w[i] * dy[i];
    size += fabs(w[i] * dy[i]);
  }
  for (int p = 0; p < j->np; p++) {
    right += g[p] * d[p];
    size += fabs(g[p] * d[p]);
  }
  if (!(fabs(left - right) <= tolerance * size)) {
    fail_msg("%s, %s: <w, J d> = %.12g, <J^T w, d> = %.12g, sizes %.3g", s->model, s->formulation, left, right, size);
  }
}

static void check_sample(const sample *s, double tolerance) {
  support_rng rng = support_rng_make(7);
  job j = open_job(s);
  const int size = j.nodes * j.kept;
  double *w = numbers(SETS * size), *g = numbers(SETS * j.np), *h = numbers(SETS * j.np), *d = numbers(j.np),
         *dy = numbers(size), *p = numbers(j.np);
  must(&j, s, mbg_run_parameters(j.run, p));
  for (int k = 0; k < SETS; k++) {
    random_cotangent(&j, &rng, w + k * size);
  }
  for (int i = 0; i < j.np; i++) {
    d[i] = support_normal(&rng) * fmax(fabs(p[i]), 1e-3);
  }
  must(&j, s, mbg_run_vjp(j.ctx, j.run, mbg_run_adjoint_method(j.run), SETS, w, g));
  must(&j, s, mbg_run_vjp(j.ctx, j.run, MBG_METHOD_DIRECT, SETS, w, h));
  must(&j, s, mbg_run_jvp(j.ctx, j.run, d, dy));
  for (int k = 0; k < SETS; k++) {
    check_pairing(&j, s, w + k * size, g + k * j.np, d, dy, tolerance);
    /* not the same columns: jvp carries one of its own along the direction */
    check_pairing(&j, s, w + k * size, h + k * j.np, d, dy, tolerance);
  }
  w[size / 2] = NAN;
  assert_int_equal(mbg_run_vjp(j.ctx, j.run, MBG_METHOD_AUTO, 1, w, g), MBG_ERROR_INPUT);
  d[0] = INFINITY;
  assert_int_equal(mbg_run_jvp(j.ctx, j.run, d, dy), MBG_ERROR_INPUT);
  free(w);
  free(g);
  free(h);
  free(d);
  free(dy);
  free(p);
  close_job(&j);
}

/* 1e-12. The coupler of rssr is a rod, 12.2 long and 0.1 thick: its inertias differ by 1e4, and rounding grows with
   this ratio (4.5e-12; with a radius of 3 for 0.1 it has 1e-14, with 0.01 4e-11) */
static void test_steppers(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double tolerance;
  } models[] = {
      {"five-bar", 1e-12}, {"quarter-car", 1e-12}, {"bricard", 1e-12}, {"rssr", 1e-11}, {"wishbone-corner", 1e-12}};
  static const char *const formulations[] = {"lie", "dae", "ali3p", "dca"};
  for (int i = 0; i < (int)(sizeof(models) / sizeof(*models)); i++) {
    for (int f = 0; f < (int)(sizeof(formulations) / sizeof(*formulations)); f++) {
      check_sample(&(sample){.model = models[i].name, .formulation = formulations[f], .end = 0.2, .step = 2e-3},
                   models[i].tolerance);
    }
  }
  check_sample(&(sample){.model = "flexible-slider-crank-beam", .formulation = "lie", .end = 0.005, .step = 1e-4},
               1e-12);
  check_sample(&(sample){.model = "two-arm", .formulation = "dca", .end = 0.01, .step = 1e-4}, 1e-12);
}

/* the transpose of dense output and of steps with frozen lengths; 1e-9: states are projected to the rows to 1e-10 */
static void test_qr(void **state) {
  (void)state;
  static const char *const models[] = {"five-bar", "quarter-car", "bricard", "rssr"};
  for (int i = 0; i < (int)(sizeof(models) / sizeof(*models)); i++) {
    check_sample(&(sample){.model = models[i], .formulation = "qr", .end = 0.1, .tolerance = 1e-9}, 1e-9);
  }
}

/* the last node of a terminal criterion's signal: its gradient */
static void test_criterion(void **state) {
  (void)state;
  const sample s = {.model = "five-bar", .formulation = "lie", .end = 0.1, .step = 1e-3};
  job j = open_job(&s);
  const int last = mbg_run_kept_count(j.run) * (j.nodes - 1);
  double *w = numbers(j.nodes * j.kept), *g = numbers(j.np), *dy = numbers(j.nodes * j.kept), *d = numbers(j.np);
  w[last] = 1;
  d[0] = 1;
  must(&j, &s, mbg_run_vjp(j.ctx, j.run, MBG_METHOD_ADJOINT, 1, w, g));
  must(&j, &s, mbg_run_jvp(j.ctx, j.run, d, dy));
  assert_true(fabs(g[0] - dy[last]) <= 1e-12 * fabs(dy[last]));
  assert_int_equal(mbg_run_vjp(j.ctx, j.run, MBG_METHOD_ADJOINT, 0, NULL, NULL), MBG_OK);
  must(&j, &s, mbg_run_set_parameters(j.ctx, j.run, NULL));
  assert_int_equal(mbg_run_vjp(j.ctx, j.run, MBG_METHOD_ADJOINT, 1, w, g), MBG_ERROR_INPUT);
  free(w);
  free(g);
  free(dy);
  free(d);
  close_job(&j);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steppers),
      cmocka_unit_test(test_qr),
      cmocka_unit_test(test_criterion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
