/* Couplings of rates: a blade written as one gives the numbers of the joint in every formulation; direct, adjoint and
   twin agree on sums of rates with factors and a constant that depends on time. */
#include "property/gradient_case.h"

#include <stdio.h>

enum { MOST = 20 };

static void open_model(gradient_case *c, char *path, const char *folder, const char *model, const char *formulation) {
  sprintf(path, "%s/tests/reference/%s/%s.json", MBG_SOURCE_DIR, folder, model);
  gradient_case_open(c, path, NULL);
  c->options.formulation = formulation;
  c->options.step = c->m->run.step;
  if (!strcmp(formulation, "qr")) {
    c->options.step = NAN;
    c->options.tolerance = 1e-12;
  }
}

static void results(const char *folder, const char *model, const char *formulation, double *psi, double *gradient) {
  gradient_case c;
  char path[300];
  open_model(&c, path, folder, model, formulation);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_true(c.nc * c.np <= MOST);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), model);
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  memcpy(gradient, g, (size_t)(c.nc * c.np) * sizeof(double));
  free(g);
  gradient_case_close(&c);
}

/* 1e-11: rounding, the equations are the same */
static void test_sleigh(void **state) {
  static const char *const keys[] = {"lie", "dae", "ali3p", "dca", "qr"};
  (void)state;
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    double a[MOST] = {0}, b[MOST] = {0}, ga[MOST] = {0}, gb[MOST] = {0};
    results("curves", "sleigh", keys[i], a, ga);
    results("rolling", "sleigh-rates", keys[i], b, gb);
    assert_close_array(b, a, 3, 1e-11);
    assert_close_array(gb, ga, 15, 1e-11);
    assert_true(fabs(ga[0]) > 1e-3);
  }
}

static void test_gradients(void **state) {
  static const char *const keys[] = {"lie", "dae", "dca", "ali3p"};
  (void)state;
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    gradient_case c;
    char path[300];
    open_model(&c, path, "rolling", "rates", keys[i]);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_compare(&c, keys[i], 1e-10, 1e-9);
    gradient_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sleigh), cmocka_unit_test(test_gradients)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
