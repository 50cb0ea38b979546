/* Machines with controllers of the gallery: criteria, and the gradient of the first one, in the limit of small steps,
   which equations written for each machine alone confirm (the READMEs say how), and the proof of gradients on a part of
   each run: direct, adjoint and complex twin. */
#include "reference/reference_case.h"

typedef struct {
  const char *model;
  int nc;
  double psi[4], gradient[13];
} limit;

static const limit limits[] = {
    {"crane-pid",
     3,
     {7.4089547773, 1.2943844278, -9.8608691085},
     {0.23435031586, -0.16173134233, -2.1581170701, 0.01374322758, 0.003847106165, -0.0039406126364, -0.0076362552802,
      -0.01400929893, -4.6872015701, 5.1004475987, -0.0031076690058, 15.397237488}},
    {"inverted-pendulum",
     3,
     {0.58247963663, -0.0010431717891, 0.00020080824735},
     {0.22741022809, 0.13121155678, 0.17520062228, 0.00075313916648, 1.0540809164, 0.0024231075436, 0.00053597005736,
      -0.0048955702122, -0.0040909441865, 3.1124218949, 2.3292303786}},
    {"active-suspension",
     4,
     {1.3663937672, 1.1245612316, 0.012184072502, 0.0078648504219},
     {-0.0090154895988, 0.043231970972, 3.3017461885e-05, 0.0017597611753, -2.9059934627e-06, 3.2974243558e-05,
      0.0049044547323, -0.0017619131417, 2.1135234429, 2.846598147e-06}},
    {"drone",
     4,
     {1.2923497785, 0.025691039661, 109.95568054, 1.4941536906},
     {0.16906785462, -0.49300288561, 0.029029675015, -0.023524693802, 0.0037723951589, 0.045102776213, -0.048062773546,
      0.37857711899, -3.5561685048, 2.4331365404, -0.0023712884494, 0.00051924309196, -0.0036512000789}},
    {"hydraulic-four-bar",
     4,
     {0.15188567887, -0.0040399046303, 4.7737122196, 0.32336518364},
     {0.74505396246, 0.30564511566, -0.43470005593, 0.00089622196693, 173.30481351, -571.43152885, -2.5168958007e-09,
      304866.2894, -4.0088737376e-11, 3879752383.1, -0.030941280226, 7.1789011063}},
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
      const double size = fabs(l->gradient[k]) + fabs(psi[0] / c.p[k]);
      assert_true(fabs(g[k] - l->gradient[k]) <= 1e-8 * size);
    }
    free(g);
    reference_close(&c, text);
  }
}

static void test_gradients(void **state) {
  static const char *const formulations[] = {"lie", "dae", "ali3p"};
  (void)state;
  for (int i = 0; i < MBG_COUNT(limits); i++) {
    for (int k = 0; k < MBG_COUNT(formulations); k++) {
      gradient_case c;
      char *text = reference_open(&c, limits[i].model, NULL, NULL);
      c.options.formulation = formulations[k];
      c.options.rho_inf = NAN;
      c.options.end = 20 * c.options.step;
      gradient_case_run(&c);
      gradient_case_simulate(&c);
      gradient_case_compare(&c, limits[i].model, 1e-10, 1e-9);
      reference_close(&c, text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits), cmocka_unit_test(test_gradients)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
