/* Derivatives of poses by parameters, against complex steps of the whole run: rigid bodies, nodes of beams and modal
   coordinates, in every formulation. */
#include "mbgrad/run.h"
#include "support/support.h"
#include "twin/twin_run.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double h = 1e-40;

typedef struct {
  const char *model, *formulation;
  double end, step, tolerance; /* of a run; tolerance > 0: instead of the step, which is the interval of its nodes */
  double error;                /* relative to the largest derivative by the same parameter */
} sample;

typedef struct {
  const sample *s;
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  int np, nb, nm, nodes, rows;
  double *dx, *frames; /* (nodes x rows x np), (nodes x nb x 12) */
} job;

static void must(const job *j, int status) {
  if (status < 0) {
    fail_msg("%s, %s: %s", j->s->model, j->s->formulation, mbg_context_error(j->ctx));
  }
}

static double *numbers(size_t n) {
  double *x = calloc(n + 1, sizeof(double));
  assert_non_null(x);
  return x;
}

static int keep(void *user, int node, const double *dx) {
  job *j = user;
  const size_t n = (size_t)j->rows * (size_t)j->np;
  memcpy(j->dx + (size_t)node * n, dx, n * sizeof(double));
  return MBG_OK;
}

static mbg_run_options options_of(const sample *s) {
  mbg_run_options options;
  mbg_run_options_default(&options, sizeof(options));
  options.formulation = s->formulation;
  options.end = s->end;
  options.step = s->tolerance > 0 ? options.step : s->step;
  options.tolerance = s->tolerance > 0 ? s->tolerance : options.tolerance;
  options.interval = s->tolerance > 0 ? s->step : 0;
  options.keep_poses = true;
  return options;
}

static job open_job(const sample *s, const char *path) {
  job j = {.s = s};
  const mbg_run_options options = options_of(s);
  assert_int_equal(mbg_context_create(NULL, &j.ctx), MBG_OK);
  must(&j, mbg_model_load(j.ctx, path, &j.model));
  must(&j, mbg_run_create(j.ctx, j.model, &options, &j.run));
  must(&j, mbg_run_simulate(j.ctx, j.run));
  j.np = mbg_model_parameter_count(j.model);
  j.nb = mbg_model_body_count(j.model);
  j.nm = mbg_model_modal_count(j.model);
  j.nodes = mbg_run_node_count(j.run);
  j.rows = 6 * j.nb + j.nm;
  j.dx = numbers((size_t)j.nodes * (size_t)j.rows * (size_t)j.np);
  j.frames = numbers((size_t)j.nodes * (size_t)j.nb * 12);
  must(&j, mbg_run_frames(j.run, j.frames));
  must(&j, mbg_run_pose_history(j.ctx, j.run, keep, &j));
  return j;
}

static void close_job(job *j) {
  free(j->dx);
  free(j->frames);
  mbg_run_destroy(j->run);
  mbg_model_destroy(j->model);
  mbg_context_destroy(j->ctx);
}

static double at(const job *j, int node, int row, int p) {
  return j->dx[((size_t)node * (size_t)j->rows + (size_t)row) * (size_t)j->np + (size_t)p];
}

/* dH = H w~ */
static void frame_change(const double H[12], const double w[6], double d[12]) {
  const double skew[9] = {0, -w[5], w[4], w[5], 0, -w[3], -w[4], w[3], 0};
  for (int i = 0; i < 3; i++) {
    d[9 + i] = 0;
    for (int k = 0; k < 3; k++) {
      d[3 * i + k] = 0;
      for (int l = 0; l < 3; l++) {
        d[3 * i + k] += H[3 * i + l] * skew[3 * l + k];
      }
      d[9 + i] += H[3 * i + k] * w[k];
    }
  }
}

typedef struct {
  double error[3], size[3]; /* of rotations, positions, modal coordinates */
} worst;

static void compare(worst *o, int kind, double got, double right) {
  o->error[kind] = fmax(o->error[kind], fabs(got - right));
  o->size[kind] = fmax(o->size[kind], fabs(right));
}

/* node of the run, and the one of the twin at the same time */
static void compare_node(const job *j, const twin_run *twin, int node, int same, int p, worst *o) {
  for (int b = 0; b < j->nb; b++) {
    double _Complex H[12];
    double w[6], d[12];
    twin_run_frame(twin, same, b, H);
    for (int i = 0; i < 6; i++) {
      w[i] = at(j, node, 6 * b + i, p);
    }
    frame_change(j->frames + ((size_t)node * (size_t)j->nb + (size_t)b) * 12, w, d);
    for (int i = 0; i < 12; i++) {
      compare(o, i < 9 ? 0 : 1, d[i], cimag(H[i]) / h);
    }
  }
  for (int k = 0; k < j->nm; k++) {
    compare(o, 2, at(j, node, 6 * j->nb + k, p), cimag(twin_run_modal(twin, same, k)) / h);
  }
}

/* Under error control the twin rounds otherwise and takes other steps: nodes that both have are the multiples of the
   interval, most of them inside a step. Returns how many there are. */
static int compare_nodes(const job *j, const twin_run *twin, int p, worst *o) {
  const int n = twin_run_node_count(twin);
  int count = 0;
  for (int i = 0, k = 0; i < j->nodes; i++) {
    const double t = mbg_run_node_time(j->run, i);
    while (k + 1 < n && twin_run_node_time(twin, k) < t) {
      k++;
    }
    if (twin_run_node_time(twin, k) == t) {
      compare_node(j, twin, i, k, p, o);
      count++;
    }
  }
  return count;
}

static void check_sample(const sample *s) {
  char path[500];
  twin_run *twin;
  snprintf(path, sizeof(path), "%s/%s", MBG_GALLERY_DIR, s->model);
  job j = open_job(s, path);
  const mbg_run_options options = options_of(s);
  assert_int_equal(twin_run_create(path, NULL, &options, &twin), MBG_OK);
  double *p0 = numbers((size_t)j.np);
  double _Complex *p = calloc((size_t)j.np + 1, sizeof(*p)),
                  *psi = calloc((size_t)mbg_model_criterion_count(j.model) + 1, sizeof(*psi));
  must(&j, mbg_run_parameters(j.run, p0));
  for (int k = -1; k < j.np; k++) {
    worst o = {{0}, {0}};
    for (int i = 0; i < j.np; i++) {
      p[i] = p0[i] + (i == k ? h * _Complex_I : 0);
    }
    if (twin_run_criteria(twin, p, psi) < 0) {
      fail_msg("%s: %s", s->model, twin_run_message(twin));
    }
    const int compared = k >= 0 ? compare_nodes(&j, twin, k, &o) : j.nodes;
    assert_true(compared >= (s->tolerance > 0 ? (int)(s->end / s->step) : j.nodes));
    for (int i = 0; i < 3; i++) {
      const double none = 1e-14 / fmax(k < 0 ? 1 : fabs(p0[k]), 1e-3); /* no effect at all */
      if (!(o.error[i] <= s->error * fmax(o.size[i], 1e-6 * fmax(o.size[0], o.size[1])) + none)) {
        fail_msg("%s, %s, parameter %d, kind %d: off by %.3g of %.3g", s->model, s->formulation, k, i, o.error[i],
                 o.size[i]);
      }
    }
  }
  twin_run_destroy(twin);
  free(p0);
  free(p);
  free(psi);
  close_job(&j);
}

/* loops, redundant rows, a start that parameters move, wheels that turn fast */
static void test_rigid(void **state) {
  (void)state;
  static const char *const models[] = {"five-bar", "bricard", "wishbone-corner", "quarter-car", "heavy-top"};
  static const char *const formulations[] = {"lie", "dae", "ali3p", "dca"};
  for (int i = 0; i < (int)(sizeof(models) / sizeof(*models)); i++) {
    for (int f = 0; f < (int)(sizeof(formulations) / sizeof(*formulations)); f++) {
      check_sample(
          &(sample){.model = models[i], .formulation = formulations[f], .end = 0.05, .step = 2e-3, .error = 1e-9});
    }
  }
}

static void test_flexible(void **state) {
  (void)state;
  check_sample(&(sample){"flexible-slider-crank-beam", "lie", .end = 0.004, .step = 1e-4, .error = 1e-8});
  check_sample(&(sample){"flexible-slider-crank", "lie", .end = 0.01, .step = 2e-4, .error = 1e-8});
  check_sample(&(sample){"flexible-slider-crank", "ali3p", .end = 0.01, .step = 2e-4, .error = 1e-8});
  check_sample(&(sample){"two-arm", "dca", .end = 0.005, .step = 1e-4, .error = 1e-8});
}

/* direct differentiation integrates the columns under error control of their own */
static void test_qr(void **state) {
  (void)state;
  check_sample(&(sample){"five-bar", "qr", .end = 0.05, .step = 1e-3, .tolerance = 1e-9, .error = 1e-5});
  check_sample(&(sample){"wishbone-corner", "qr", .end = 0.02, .step = 1e-3, .tolerance = 1e-9, .error = 1e-5});
}

static int nothing(void *user, int node, const double *dx) {
  (void)user;
  (void)node;
  (void)dx;
  return MBG_OK;
}

static void test_refused(void **state) {
  (void)state;
  const sample s = {"five-bar", "lie", .end = 0.01, .step = 1e-3};
  char path[500];
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  mbg_run_options options = options_of(&s);
  options.keep_poses = false;
  snprintf(path, sizeof(path), "%s/%s", MBG_GALLERY_DIR, s.model);
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_load(ctx, path, &model), MBG_OK);
  assert_int_equal(mbg_run_create(ctx, model, &options, &run), MBG_OK);
  assert_int_equal(mbg_run_pose_history(ctx, run, nothing, NULL), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(ctx), "simulate first"));
  assert_int_equal(mbg_run_simulate(ctx, run), MBG_OK);
  mbg_context_clear(ctx);
  assert_int_equal(mbg_run_pose_history(ctx, run, nothing, NULL), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(ctx), "keep_poses"));
  mbg_run_destroy(run);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rigid),
      cmocka_unit_test(test_flexible),
      cmocka_unit_test(test_qr),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
