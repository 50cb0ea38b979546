/* Robots of the gallery that were imported from files of other programs: criteria and gradients in the limit of small
   steps, and the proof of gradients on a part of each run: direct, adjoint and complex twin. */
#include "reference/reference_case.h"

typedef struct {
  const char *model;
  int nc;
  double psi[2], gradient[2]; /* of the first criterion */
} limit;

static const limit limits[] = {
    {"delta-robot", 1, {5.1374030613}, {1.5327091846, 3.6057373262}},
    {"stewart-platform", 2, {0.03560735098, 0.1236157381}, {0.01077764344}},
};

/* 1e-8: the tolerance of 1e-10 over a run, in states whose size is not known beforehand */
static void test_limits(void **state) {
  (void)state;
  for (int i = 0; i < MBG_COUNT(limits); i++) {
    const limit *l = &limits[i];
    gradient_case c;
    double psi[8], *g;
    char *text = reference_open(&c, l->model, NULL, NULL);
    c.options.formulation = "qr";
    c.options.step = c.options.rho_inf = NAN;
    c.options.tolerance = 1e-10;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), l->model);
    assert_int_equal(c.nc, l->nc);
    for (int k = 0; k < c.nc; k++) {
      reference_close_to(l->model, psi[k], l->psi[k], 1e-8);
    }
    g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
    for (int k = 0; k < c.np; k++) {
      reference_close_to(l->model, g[k], l->gradient[k], 1e-8);
    }
    free(g);
    reference_close(&c, text);
  }
}

static void test_gradients(void **state) {
  static const char *const models[] = {"delta-robot", "stewart-platform", "quadruped"};
  static const char *const formulations[] = {"lie", "dae", "ali3p"};
  (void)state;
  for (int i = 0; i < MBG_COUNT(models); i++) {
    for (int k = 0; k < MBG_COUNT(formulations); k++) {
      gradient_case c;
      char *text = reference_open(&c, models[i], NULL, NULL);
      c.options.formulation = formulations[k];
      c.options.rho_inf = NAN;
      c.options.end = 20 * c.options.step;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      gradient_case_compare(&c, models[i], 1e-10, 1e-9);
      reference_close(&c, text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits), cmocka_unit_test(test_gradients)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
