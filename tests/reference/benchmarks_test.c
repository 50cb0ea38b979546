/* Published numbers of the field (gallery READMEs give the sources) and exact laws of their gradients, with `lie`. */
#include "reference/reference_case.h"

static double value_of(const gradient_case *c, const char *criterion) {
  double *psi = calloc((size_t)c->nc, sizeof *psi);
  gradient_case_check(c, mbg_run_criteria(c->ctx, c->run, psi), "criteria");
  const double value = psi[reference_criterion(c, criterion)];
  free(psi);
  return value;
}

static char *simulate(gradient_case *c, const char *model, double step, double end) {
  char *text = reference_open(c, model, NULL, NULL);
  c->options.formulation = "lie";
  c->options.step = step;
  c->options.end = end;
  c->options.all_signals = 0;
  gradient_case_run(c);
  gradient_case_simulate(c);
  return text;
}

/* ---------------------------------------------------------------------- SUNDIALS, IFToMM */

/* Printed with 5 or 6 digits by a program with a tolerance of 1e-5 or so: G 3.33662, dG/dk 3.3346e-01 (by differences
   3.3345e-01), dG/dc -3.6375e-01. An independent computation gives 3.336607, 0.333448, -0.363754: 2e-5 is what they are
   good for, end values half a unit of their last digit. */
static void test_slider_crank(void **state) {
  (void)state;
  gradient_case c;
  char *text = simulate(&c, "slider-crank", 0.005, NAN);
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT) + reference_criterion(&c, "G") * c.np;
  assert_close(value_of(&c, "G"), 3.33662, 2e-5);
  assert_close(g[mbg_model_parameter_find(c.m, "k")], 3.3346e-01, 2e-5);
  assert_close(g[mbg_model_parameter_find(c.m, "c")], -3.6375e-01, 2e-5);
  assert_close(value_of(&c, "q_end"), 1.2757, 5e-5);
  assert_close(value_of(&c, "x_end"), 1.0236, 5e-5);
  assert_close(value_of(&c, "p_end"), -4.9881e-01, 5e-6);
  free(g - reference_criterion(&c, "G") * c.np);
  reference_close(&c, text);
}

/* A01, closed form; the error of a step h is 122 h^2 */
static void test_pendulum(void **state) {
  (void)state;
  gradient_case c;
  char *text = simulate(&c, "simple-pendulum", 2.5e-4, NAN);
  assert_close(value_of(&c, "x_end"), -0.27508746257611686, 1e-5);
  assert_close(value_of(&c, "y_end"), -0.96141920509912506, 1e-5);
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- exact laws */

/* sum of power * p * dpsi/dp over parameters named by their first letters: powers 1 or 2 */
typedef struct {
  const char *names; /* separated by spaces */
  double power;
} law;

static bool has_name(const char *names, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = strstr(names, name); at; at = strstr(at + 1, name)) {
    if ((at == names || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0)) {
      return true;
    }
  }
  return false;
}

/* sum_j power_j p_j dpsi/dp_j = expected, relative to the largest term */
static void check_law(const gradient_case *c, const double *g, const law *laws, int count, double expected) {
  double sum = -expected, most = 0;
  for (int i = 0; i < c->np; i++) {
    char name[40];
    mbg_model_parameter_name(c->m, i, name, sizeof name);
    for (int k = 0; k < count; k++) {
      const double term = has_name(laws[k].names, name) ? laws[k].power * c->p[i] * g[i] : 0;
      sum += term;
      most = fmax(most, fabs(term));
    }
  }
  assert_true(most > 0);
  assert_close(sum / most, 0, 1e-9); /* laws hold for the discrete run too: rounding only */
}

static const char masses[] = "m1 m2 m3 m4 m5 m6 m7 i1 i2 i3 i4 i5 i6 i7 c0 mom";
static const char lengths[] = "xa ya xb yb xc yc d da e ea rr ra l0 ss sa sb sc sd ta tb u ua ub zf zt fa";
static const char inertias[] = "i1 i2 i3 i4 i5 i6 i7 mom";

/* Andrews: masses, inertias, c0 and mom together change no motion (and scale reactions); lengths once, inertias and mom
   twice change no angle */
static void test_andrews_laws(void **state) {
  (void)state;
  static const law first[] = {{masses, 1}}, second[] = {{lengths, 1}, {inertias, 2}};
  gradient_case c;
  char *text = simulate(&c, "andrews", 3e-5, 6e-3);
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  for (int k = 0; k < c.nc; k++) {
    const char *name = c.m->criteria[k].name;
    const bool load = strcmp(name, "load") == 0;
    check_law(&c, g + k * c.np, first, 1, load ? 2 * value_of(&c, name) : 0);
    if (!load) {
      check_law(&c, g + k * c.np, second, 2, 0);
    }
  }
  free(g);
  reference_close(&c, text);
}

/* car axis: eps dpsi/deps = 2 M dpsi/dM */
static void test_car_axis_law(void **state) {
  (void)state;
  gradient_case c;
  char *text = simulate(&c, "car-axis", 3e-3, NAN);
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  const int eps = mbg_model_parameter_find(c.m, "eps"), M = mbg_model_parameter_find(c.m, "M");
  for (int k = 0; k < c.nc; k++) {
    const double a = c.p[eps] * g[k * c.np + eps], b = 2 * c.p[M] * g[k * c.np + M];
    assert_close(a / b, 1, 1e-9);
  }
  free(g);
  reference_close(&c, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_slider_crank),
      cmocka_unit_test(test_pendulum),
      cmocka_unit_test(test_andrews_laws),
      cmocka_unit_test(test_car_axis_law),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
