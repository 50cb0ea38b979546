/* Gallery models with modal bodies and beams in joint coordinates: values and gradients agree with those of `lie`,
   which shares the elements and no coordinates, within the estimated errors of both. */
#include "reference/reference_case.h"

typedef struct {
  const char *name;
  double end, step;
  bool gradient; /* the steps resolve it */
} flexible_model;

static const flexible_model models[] = {
    {"two-arm", 0.2, 0.002, true},
    {"flexible-slider-crank", 0.004, 5e-5, false},
    {"flexible-pendulum", 0.02, 1e-4, false},
    {"flexible-four-bar", 0.2, 0.005, true},
    {"swinging-beam", 0.2, 0.002, true},
    {"rotating-beam", 1, 0.02, true},
    {"flexible-slider-crank-beam", 0.002, 2e-5, false},
};

/* criteria, then gradients times parameters of each, at one step */
static void run_model(const flexible_model *x, const char *formulation, double step, double *out, int *nc, int *np) {
  gradient_case c;
  char path[300];
  snprintf(path, sizeof path, "%s/%s", MBG_GALLERY_DIR, x->name);
  gradient_case_open(&c, path, NULL);
  c.options.formulation = formulation;
  c.options.end = x->end;
  c.options.step = step;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  *nc = c.nc;
  *np = c.np;
  assert_true(c.nc * (c.np + 1) <= 100);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, out), "criteria");
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  for (int i = 0; i < c.nc * c.np; i++) {
    out[c.nc + i] = g[i] * c.p[i % c.np];
  }
  free(g);
  gradient_case_close(&c);
}

static double largest(const double *a, const double *b, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(a[i] - b[i]));
  }
  return most;
}

/* n numbers at two steps of both formulations: x[formulation][step] */
static void check_group(const char *name, const char *what, double *x[2][2], int n) {
  static const double zero[100] = {0};
  const double apart[2] = {largest(x[0][0], x[1][0], n), largest(x[0][1], x[1][1], n)};
  const double error[2] = {largest(x[0][0], x[0][1], n) / 3, largest(x[1][0], x[1][1], n) / 3};
  const double size = largest(x[0][1], zero, n);
  if (!(apart[1] <= error[0] + error[1] + 1e-12 * size)) {
    fail_msg("%s: %s: %.2e apart, errors %.1e and %.1e", name, what, apart[1], error[0], error[1]);
  }
  /* the errors are not the reason why: they are small */
  if (!(error[0] + error[1] <= 0.15 * size)) {
    fail_msg("%s: %s: errors %.1e and %.1e of %.1e", name, what, error[0], error[1], size);
  }
}

static void test_agrees(void **state) {
  (void)state;
  static const char *const keys[] = {"lie", "ali3p"};
  for (int i = 0; i < MBG_COUNT(models); i++) {
    double all[2][2][100], *x[2][2];
    int nc = 0, np = 0;
    for (int f = 0; f < 2; f++) {
      for (int k = 0; k < 2; k++) {
        run_model(&models[i], keys[f], models[i].step / (k + 1), all[f][k], &nc, &np);
      }
    }
    for (int c = 0; c < nc; c++) {
      for (int q = 0; q < 4; q++) {
        x[q / 2][q % 2] = all[q / 2][q % 2] + c;
      }
      check_group(models[i].name, "value", x, 1);
      for (int q = 0; q < 4; q++) {
        x[q / 2][q % 2] = all[q / 2][q % 2] + nc + c * np;
      }
      if (models[i].gradient) {
        check_group(models[i].name, "gradient", x, np);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
