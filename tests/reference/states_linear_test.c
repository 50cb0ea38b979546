/* Linear models and modes of models with states (theory 6, sections 6 to 8): the digits of the theory, eigenvalues of
   modes against poles, their derivatives against those of A, and A's against differences. */
#include "mbgrad/linearize.h"
#include "mbgrad/modes.h"
#include "support/support.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef I

typedef double _Complex cplx;

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  const char *name;
  double *p; /* parameters */
  int np;
} job;

static void must(const job *j, int status) {
  if (status < 0) {
    fail_msg("%s: %s", j->name, mbg_context_error(j->ctx));
  }
}

static void open_job(job *j, const char *name) {
  char path[500];
  *j = (job){.name = name};
  assert_int_equal(mbg_context_create(NULL, &j->ctx), MBG_OK);
  snprintf(path, sizeof(path), "%s/tests/reference/states/%s.json", MBG_SOURCE_DIR, name);
  must(j, mbg_model_load(j->ctx, path, &j->model));
  j->np = mbg_model_parameter_count(j->model);
  j->p = calloc((size_t)j->np + 1, sizeof(double));
  assert_non_null(j->p);
  for (int i = 0; i < j->np; i++) {
    j->p[i] = mbg_model_parameter_value(j->model, i);
  }
}

static void close_job(job *j) {
  free(j->p);
  mbg_model_destroy(j->model);
  mbg_context_destroy(j->ctx);
}

static mbg_linearize *linearized(const job *j, mbg_linearize_at at, int ninput, const char *const *inputs,
                                 bool gradient) {
  mbg_linearize_options o;
  mbg_linearize *linear = NULL;
  mbg_linearize_options_default(&o, sizeof(o));
  o.at = at;
  o.parameters = j->p;
  o.ninput = ninput;
  o.inputs = inputs;
  o.gradient = gradient;
  must(j, mbg_linearize_create(j->ctx, j->model, &o, &linear));
  return linear;
}

static mbg_modes *modes_of(const job *j, mbg_modes_at at) {
  mbg_modes_options o;
  mbg_modes *modes = NULL;
  mbg_modes_options_default(&o, sizeof(o));
  o.at = at;
  o.parameters = j->p;
  o.count = 50;
  o.gradient = true;
  must(j, mbg_modes_create(j->ctx, j->model, &o, &modes));
  return modes;
}

static void near(const job *j, const char *what, int i, double found, double wanted) {
  if (!(fabs(found - wanted) <= 1e-9 * fmax(1, fabs(wanted)))) {
    fail_msg("%s: %s %d is %.12g, not %.12g", j->name, what, i, found, wanted);
  }
}

static int find(const mbg_linearize *s, int count, const mbg_linearize_name *(*get)(const mbg_linearize *, int),
                const char *name) {
  for (int i = 0; i < count; i++) {
    if (!strcmp(get(s, i)->name, name)) {
      return i;
    }
  }
  fail_msg("no '%s'", name);
  return -1;
}

static int state_of(const mbg_linearize *s, const char *name) {
  return find(s, mbg_linearize_get_summary(s)->states, mbg_linearize_state, name);
}

/* ---------------------------------------------------------------------- matrices at the start */

static void check_row(const job *j, const mbg_linearize *s, const char *of, const char *const *by, const double *row) {
  const int n = mbg_linearize_get_summary(s)->states, at = state_of(s, of);
  const double *A = mbg_linearize_matrix(s, 'A', NULL, NULL);
  for (int i = 0; i < n; i++) {
    near(j, of, i, A[at * n + state_of(s, by[i])], row[i]);
  }
}

static void test_crane(void **state) {
  (void)state;
  static const char *const inputs[] = {"l"};
  static const char *const order[] = {"rail.slide", "pivot.angle", "rail.slide.rate", "pivot.angle.rate", "xi", "xf",
                                      "F"};
  job j;
  open_job(&j, "crane-loop");
  mbg_linearize *s = linearized(&j, MBG_LINEARIZE_START, 1, inputs, false);
  const mbg_linearize_summary *summary = mbg_linearize_get_summary(s);
  assert_int_equal(summary->freedoms, 2);
  assert_int_equal(summary->states, 7);
  for (int i = 0; i < 7; i++) {
    assert_string_equal(mbg_linearize_state(s, i)->name, order[i]);
  }
  assert_string_equal(mbg_linearize_state(s, 6)->unit, "N");
  assert_string_equal(mbg_linearize_state(s, 6)->what, "state of the model");
  assert_true(mbg_linearize_state(s, 6)->value == 4);
  check_row(&j, s, "pivot.angle.rate", order, (const double[]){0, -11.19354095, 0.2942131144, 0, 0, 0, -0.09807103814});
  const double *B = mbg_linearize_matrix(s, 'B', NULL, NULL);
  near(&j, "B", 0, B[2], 0.05167625921);
  near(&j, "B", 1, B[3], 1.625764903);
  /* rates of states are signals, too: rows of A and C are the same */
  const double *A = mbg_linearize_matrix(s, 'A', NULL, NULL), *C = mbg_linearize_matrix(s, 'C', NULL, NULL);
  const int rate = find(s, summary->outputs, mbg_linearize_output, "F_rate");
  const int value = find(s, summary->outputs, mbg_linearize_output, "F");
  for (int i = 0; i < 7; i++) {
    near(&j, "rate of F by", i, A[6 * 7 + i], C[rate * 7 + i]);
    assert_true(C[value * 7 + i] == (i == 6));
  }
  mbg_linearize_destroy(s);
  close_job(&j);
}

static void test_cylinder(void **state) {
  (void)state;
  static const char *const inputs[] = {"l1"};
  static const char *const order[] = {"shaft.angle", "shaft.angle.rate", "pA", "pB", "xv"};
  job j;
  open_job(&j, "cylinder");
  mbg_linearize *s = linearized(&j, MBG_LINEARIZE_START, 1, inputs, false);
  const int X = find(s, mbg_linearize_get_summary(s)->outputs, mbg_linearize_output, "X");
  check_row(&j, s, "shaft.angle.rate", order,
            (const double[]){-2125.025438, -8.845746226, 4.437081438e-4, -2.958054292e-4, 0});
  check_row(&j, s, "pA", order,
            (const double[]){4.520653815e8, -1.087775321e9, -3343.359071, 78.83032136, 3.839796713e10});
  near(&j, "B", 0, mbg_linearize_matrix(s, 'B', NULL, NULL)[1], -15246.24232);
  near(&j, "C", 0, mbg_linearize_matrix(s, 'C', NULL, NULL)[5 * X], -0.1976848618);
  near(&j, "D", 0, mbg_linearize_matrix(s, 'D', NULL, NULL)[X], 0.3631547950);
  mbg_linearize_destroy(s);
  close_job(&j);
}

/* ---------------------------------------------------------------------- closed loops */

static void check_modes(const char *name, int count, const double (*wanted)[2]) {
  job j;
  open_job(&j, name);
  mbg_modes *modes = modes_of(&j, MBG_MODES_EQUILIBRIUM);
  assert_int_equal(mbg_modes_get_summary(modes)->count, count);
  for (int i = 0; i < count; i++) {
    near(&j, "re", i, mbg_modes_get_mode(modes, i)->re, wanted[i][0]);
    near(&j, "im", i, mbg_modes_get_mode(modes, i)->im, wanted[i][1]);
  }
  mbg_modes_destroy(modes);
  close_job(&j);
}

static void test_eigenvalues(void **state) {
  (void)state;
  static const double crane[][2] = {{-0.2627357133, 0},
                                    {-1.062523024, 0},
                                    {-0.6171934520, 2.522559759},
                                    {-2.480824160, 7.460905858},
                                    {-25.34900679, 0}};
  static const double cylinder[][2] = {
      {-21.10153242, 0}, {-42.56868504, 0}, {-100, 0}, {-1799.934282, 0}, {-4276.840904, 0}};
  check_modes("crane-loop", 5, crane);
  check_modes("cylinder-equilibrium", 5, cylinder);
}

static void test_eigenvalue_derivatives(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double re, im;
  } by[] = {
      {"l", 0.6260223141, -0.8951939146}, {"kp", 4.217202044e-3, -5.067093166e-3}, {"Ta", 0.4582356803, -1.515990443}};
  job j;
  open_job(&j, "crane-loop");
  mbg_modes *modes = modes_of(&j, MBG_MODES_EQUILIBRIUM);
  for (int i = 0; i < 3; i++) {
    const int p = mbg_model_parameter_find(j.model, by[i].name);
    near(&j, by[i].name, 0, mbg_modes_eigenvalue_gradient(modes, 2, 0)[p], by[i].re);
    near(&j, by[i].name, 1, mbg_modes_eigenvalue_gradient(modes, 2, 1)[p], by[i].im);
  }
  assert_string_equal(mbg_modes_get_mode(modes, 0)->state, "xi");
  mbg_modes_destroy(modes);
  close_job(&j);
}

/* ---------------------------------------------------------------------- modes and poles */

/* every pole is a mode, once */
static void check_poles(const job *j, const mbg_linearize *s, const mbg_modes *modes) {
  const int n = mbg_linearize_get_summary(s)->states;
  double x[64], y[64];
  int listed = 0;
  assert_true(n <= 64);
  assert_int_equal(mbg_linearize_poles(s, x, y), MBG_OK);
  assert_int_equal(mbg_modes_get_summary(modes)->freedoms, mbg_linearize_get_summary(s)->freedoms);
  for (int i = 0; i < mbg_modes_get_summary(modes)->count; i++) {
    const mbg_mode *m = mbg_modes_get_mode(modes, i);
    double off = INFINITY;
    for (int k = 0; k < n; k++) {
      off = fmin(off, hypot(x[k] - m->re, y[k] - m->im));
    }
    listed += m->im > 0 ? 2 : 1;
    if (!(off <= 1e-9 * fmax(1, hypot(m->re, m->im)))) {
      fail_msg("%s: mode %d, %.12g%+.12gi, is no pole: off by %.1e", j->name, i + 1, m->re, m->im, off);
    }
  }
  assert_int_equal(listed, n);
}

/* sum of s^(k-1) ds over all eigenvalues = trace(A^(k-1) dA), k = 1 to n: as many equations as derivatives */
static void check_traces(const job *j, const mbg_linearize *s, const mbg_modes *modes, int p) {
  const int n = mbg_linearize_get_summary(s)->states;
  const double *A = mbg_linearize_matrix(s, 'A', NULL, NULL), *dA = mbg_linearize_derivative(s, 'A', p);
  double *P = calloc((size_t)(n * n), sizeof(double)), *Q = calloc((size_t)(n * n), sizeof(double));
  memcpy(P, dA, (size_t)(n * n) * sizeof(double));
  for (int k = 1; k <= n; k++) {
    double trace = 0, size = 0;
    cplx sum = 0;
    for (int i = 0; i < n; i++) {
      trace += P[i * n + i];
      size += fabs(P[i * n + i]);
    }
    for (int i = 0; i < mbg_modes_get_summary(modes)->count; i++) {
      const mbg_mode *m = mbg_modes_get_mode(modes, i);
      cplx x, z;
      __real__ x = mbg_modes_eigenvalue_gradient(modes, i, 0)[p];
      __imag__ x = mbg_modes_eigenvalue_gradient(modes, i, 1)[p];
      __real__ z = m->re;
      __imag__ z = m->im;
      x *= cpow(z, k - 1);
      sum += m->im > 0 ? 2 * creal(x) : x;
      size += cabs(x) + 1e-3 * pow(cabs(z), k) / fmax(fabs(j->p[p]), 1e-3);
    }
    if (!(fabs(creal(sum) - trace) <= 1e-9 * size)) {
      fail_msg("%s: parameter %d, power %d: modes say %.12g, the matrix %.12g", j->name, p, k, creal(sum), trace);
    }
    for (int i = 0; i < n * n; i++) {
      Q[i] = 0;
      for (int l = 0; l < n; l++) {
        Q[i] += A[i / n * n + l] * P[l * n + i % n];
      }
    }
    memcpy(P, Q, (size_t)(n * n) * sizeof(double));
  }
  free(P);
  free(Q);
}

static void test_poles(void **state) {
  (void)state;
  static const struct {
    const char *model;
    mbg_linearize_at linear;
    mbg_modes_at modes;
  } list[] = {{"crane-loop", MBG_LINEARIZE_EQUILIBRIUM, MBG_MODES_EQUILIBRIUM},
              {"crane-equilibrium", MBG_LINEARIZE_EQUILIBRIUM, MBG_MODES_EQUILIBRIUM},
              {"cylinder-equilibrium", MBG_LINEARIZE_EQUILIBRIUM, MBG_MODES_EQUILIBRIUM},
              {"cylinder-equilibrium", MBG_LINEARIZE_START, MBG_MODES_START},
              {"gate-equilibrium", MBG_LINEARIZE_EQUILIBRIUM, MBG_MODES_EQUILIBRIUM}};
  for (int i = 0; i < (int)(sizeof(list) / sizeof(*list)); i++) {
    job j;
    open_job(&j, list[i].model);
    mbg_linearize *s = linearized(&j, list[i].linear, 0, NULL, true);
    mbg_modes *modes = modes_of(&j, list[i].modes);
    check_poles(&j, s, modes);
    for (int p = 0; p < j.np; p++) {
      check_traces(&j, s, modes, p);
    }
    mbg_modes_destroy(modes);
    mbg_linearize_destroy(s);
    close_job(&j);
  }
}

/* ---------------------------------------------------------------------- differences */

/* dA by central differences of fourth order, the equilibrium found again at each */
static void check_difference(job *j, const mbg_linearize *s, int p) {
  const int n = mbg_linearize_get_summary(s)->states;
  const double *A = mbg_linearize_matrix(s, 'A', NULL, NULL), *dA = mbg_linearize_derivative(s, 'A', p), own = j->p[p];
  const double eps = 1e-3 * fmax(fabs(own), 1e-12);
  double *sum = calloc((size_t)(n * n), sizeof(double));
  for (int k = 0; k < 4; k++) {
    j->p[p] = own + eps * (double[]){1, -1, 2, -2}[k];
    mbg_linearize *moved = linearized(j, mbg_linearize_get_summary(s)->at, 0, NULL, false);
    const double *other = mbg_linearize_matrix(moved, 'A', NULL, NULL);
    for (int i = 0; i < n * n; i++) {
      sum[i] += (double[]){8, -8, -1, 1}[k] * other[i] / (12 * eps);
    }
    mbg_linearize_destroy(moved);
  }
  j->p[p] = own;
  for (int i = 0; i < n * n; i++) {
    double row = 0;
    for (int k = 0; k < n; k++) {
      row = fmax(row, fmax(fabs(dA[i / n * n + k]), fabs(A[i / n * n + k] / own)));
    }
    if (!(fabs(dA[i] - sum[i]) <= 1e-7 * row)) {
      fail_msg("%s: dA[%d] by parameter %d is %.12g, differences %.12g", j->name, i, p, dA[i], sum[i]);
    }
  }
  free(sum);
}

static void test_differences(void **state) {
  (void)state;
  static const char *const models[] = {"crane-equilibrium", "cylinder-equilibrium", "gate-equilibrium"};
  for (int i = 0; i < 2; i++) {
    job j;
    open_job(&j, models[i]);
    mbg_linearize *s = linearized(&j, MBG_LINEARIZE_EQUILIBRIUM, 0, NULL, true);
    for (int p = 0; p < j.np; p++) {
      check_difference(&j, s, p);
    }
    mbg_linearize_destroy(s);
    close_job(&j);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_crane),       cmocka_unit_test(test_cylinder),
      cmocka_unit_test(test_eigenvalues), cmocka_unit_test(test_eigenvalue_derivatives),
      cmocka_unit_test(test_poles),       cmocka_unit_test(test_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
