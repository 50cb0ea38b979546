/* The adjoint of the paper of `lie`, method `continuous-paper`: how fast it approaches the discrete one. The errors are
   those of the table in docs/formulations/lie.md; MBG_PRINT=1 prints them. Long: not under sanitizers. */
#include "reference/reference_case.h"

enum { LEVELS = 4 };

typedef struct {
  const char *model, *criterion;
  double step;          /* the longest; then halves */
  double error[LEVELS]; /* max |p dg| / max |p g|, two digits */
} convergence;

/* integrals of accelerations and of reactions, end values, the largest and least of a path; samples of measured data;
   start-up errors of reactions; loops */
static const convergence cases[] = {
    {"quarter-car", "psi0", 0.0025, {4.6e-4, 1.2e-4, 2.9e-5, 7.2e-6}},
    {"quarter-car", "psiL", 0.0025, {1.1e-5, 2.8e-6, 7.1e-7, 1.8e-7}},
    {"quarter-car", "F1", 0.0025, {5.1e-4, 1.3e-4, 3.2e-5, 7.9e-6}},
    {"quarter-car", "F_path", 0.0025, {4.0e-4, 1.0e-4, 2.5e-5, 6.3e-6}},
    {"quarter-car", "length_path", 0.0025, {2.6e-5, 6.5e-6, 1.6e-6, 4.0e-7}},
    {"heavy-top", "x", 5e-4, {9.1e-3, 2.2e-3, 5.4e-4, 1.3e-4}},
    {"heavy-top", "z", 5e-4, {9.5e-3, 2.4e-3, 6.1e-4, 1.5e-4}},
    {"rssr", "phi_end", 0.004, {7.3e-3, 1.8e-3, 4.6e-4, 1.2e-4}},
    {"rssr", "load", 0.004, {1.3e-2, 3.1e-3, 7.6e-4, 1.9e-4}},
    {"four-bar-spatial", "load", 0.002, {8.1e-2, 2.0e-2, 5.0e-3, 1.2e-3}},
    {"spatial-chain", "J", 0.005, {1.8e-4, 4.6e-5, 1.1e-5, 2.9e-6}},
    {"noisy-pendulum", "fit_y", 0.002, {7.7e-6, 1.9e-6, 4.8e-7, 1.2e-7}},
};

/* distance of the method from the discrete adjoint, of a criterion */
static double distance(gradient_case *c, mbg_method method, int k) {
  double *g = gradient_case_gradient(c, MBG_METHOD_ADJOINT), *a = gradient_case_gradient(c, method);
  double off = 0, most = 0;
  for (int i = 0; i < c->np; i++) {
    const int at = k * c->np + i;
    off = fmax(off, fabs(c->p[i] * (a[at] - g[at])));
    most = fmax(most, fabs(c->p[i] * g[at]));
  }
  free(a);
  free(g);
  return off / most;
}

static void test_convergence(void **state) {
  (void)state;
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    const convergence *q = &cases[i];
    double error[LEVELS];
    gradient_case c;
    char *text = reference_open(&c, q->model, NULL, NULL);
    c.options.formulation = "lie";
    c.options.all_signals = 0;
    for (int l = 0; l < LEVELS; l++) {
      c.options.step = q->step / (1 << l);
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      error[l] = distance(&c, MBG_METHOD_PAPER, reference_criterion(&c, q->criterion));
    }
    reference_close(&c, text);
    if (getenv("MBG_PRINT")) {
      printf("%s %s: %.2e %.2e %.2e %.2e\n", q->model, q->criterion, error[0], error[1], error[2], error[3]);
    }
    for (int l = 0; l < LEVELS; l++) {
      const double order = l ? log2(error[l - 1] / error[l]) : 2;
      if (!(order > 1.8 && order < 2.2) || !(fabs(error[l] - q->error[l]) <= 0.06 * q->error[l])) {
        fail_msg("%s, %s, step %g: %.2e, order %.3f", q->model, q->criterion, q->step / (1 << l), error[l], order);
      }
    }
  }
}

/* wheels that turn by one radian a step are followed in world axes: in body axes the backward run explodes */
static void test_spin(void **state) {
  (void)state;
  static const char *const models[] = {"wheel", "welded", "eccentric"};
  for (int i = 0; i < MBG_COUNT(models); i++) {
    gradient_case c;
    char path[300];
    sprintf(path, "%s/tests/reference/spin/%s.json", MBG_SOURCE_DIR, models[i]);
    gradient_case_open(&c, path, NULL);
    c.options.formulation = "lie";
    c.options.step = 0.02;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    for (int k = 0; k < c.nc; k++) {
      const double off = distance(&c, MBG_METHOD_PAPER, k);
      if (!(off < 0.04)) { /* 3.1e-2, 1.3e-3 and 4.7e-3 at most */
        fail_msg("%s: criterion %d is off by %.2e", models[i], k, off);
      }
    }
    gradient_case_close(&c);
  }
}

/* steps that change, and no damping in the motion: the backward run has its own */
static void test_steps(void **state) {
  (void)state;
  gradient_case c;
  char *text = reference_open(&c, "quarter-car", NULL, NULL);
  double off[2];
  c.options.all_signals = 0;
  for (int i = 0; i < 2; i++) {
    c.options.tolerance = i ? 1e-6 : 1e-4;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    off[i] = distance(&c, MBG_METHOD_PAPER, reference_criterion(&c, "F1"));
  }
  /* 2.2e-1 and 3.0e-3: the motion is calm at the end, where the adjoint begins, and steps are long there */
  assert_true(off[0] < 0.25 && off[1] < 4e-3);
  reference_close(&c, text);
  text = reference_open(&c, "heavy-top", NULL, NULL);
  c.options.step = 2.5e-4;
  c.options.rho_inf = 1;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_true(distance(&c, MBG_METHOD_PAPER, reference_criterion(&c, "x")) < 5e-3);
  reference_close(&c, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_convergence), cmocka_unit_test(test_spin),
                                     cmocka_unit_test(test_steps)};
  return support_sanitized() ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
