/* Reference cases of theory 2 with `dae`: limits of small steps (section 13) and errors of the methods (section 12).
   The values at given steps are in lie_test.c. */
#include "reference/reference_case.h"

enum { ENTRIES_MAX = 12, LEVELS = 5 };

typedef struct {
  const char *model;
  double end;
  int steps, np;
  double exact[ENTRIES_MAX]; /* J, then its gradient */
  double tol;
  double table[3][3]; /* errors at steps, 2 steps, 4 steps: discrete, continuous, the paper's */
} limit_case;

/* tol: digits printed; the derivative by k of R3 is a difference of large parts, 1e-3 of the others */
static const limit_case cases[] = {
    {"double-pendulum-spring",
     1,
     100,
     6,
     {4.420140425433, 0.3000869868, -1.6530264857, -4.7218967076, 13.5190469903, 8.2925176644, 0.3357480171},
     1e-9,
     {{9.6e-3, 2.4e-3, 6.0e-4}, {1.4e-2, 3.4e-3, 8.6e-4}, {2.2e-2, 4.6e-3, 1.1e-3}}},
    {"overhead-crane",
     3,
     60,
     9,
     {86.406671886451, 12.3581811880, 3.3702450508, -4.0506234418, -6.9660350867, -5.8135507117, -4.9843035395,
      -3.5525582119, -1.6603284465, -0.2934363756},
     1e-9,
     {{4.9e-3, 1.2e-3, 2.9e-4}, {1.1e-2, 2.5e-3, 5.8e-4}, {7.8e-2, 7.3e-3, 1.6e-3}}},
    {"spatial-chain",
     0.5,
     50,
     7,
     {2.913021651129, -0.0011581742622, 0.0437027758574, 3.0127648749, 2.8592946795, 0.8462552091, 0.2550370741,
      -0.1460599284},
     3e-8,
     {{1.2e-3, 3.0e-4, 7.5e-5}, {5.8e-3, 1.6e-3, 4.1e-4}, {4.2e-3, 3.6e-3, 7.6e-4}}}};

/* J and its gradient at so many steps */
static void at_steps(const limit_case *q, int steps, mbg_method method, double *out) {
  gradient_case c;
  char *text = reference_open(&c, q->model, NULL, NULL);
  c.options.formulation = "dae";
  c.options.step = q->end / steps;
  c.options.all_signals = 0;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  const int k = reference_criterion(&c, "J");
  double *psi = calloc((size_t)c.nc, sizeof *psi), *g = gradient_case_gradient(&c, method);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "criteria");
  assert_int_equal(c.np, q->np);
  out[0] = psi[k];
  memcpy(out + 1, g + k * c.np, (size_t)c.np * sizeof(double));
  free(psi);
  free(g);
  reference_close(&c, text);
}

/* errors h^2, h^3, ... taken out one after the other */
static void test_limits(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const limit_case *q = &cases[i];
    double R[LEVELS][ENTRIES_MAX];
    for (int l = 0; l < LEVELS; l++) {
      at_steps(q, q->steps << l, MBG_METHOD_ADJOINT, R[l]);
    }
    for (int order = 2; order < LEVELS; order++) { /* the last halving is left to judge by */
      for (int l = 0; l + order - 1 < LEVELS; l++) {
        for (int e = 0; e <= q->np; e++) {
          R[l][e] = (pow(2, order) * R[l + 1][e] - R[l][e]) / (pow(2, order) - 1);
        }
      }
    }
    for (int e = 0; e <= q->np; e++) {
      reference_close_to(q->model, R[1][e], q->exact[e], q->tol);
    }
  }
}

/* largest error relative to the largest entry, as in the page's table, which has two digits; the continuous forms
   within a third of it but for the first row, whose steps are too large for the paper's form; all of second order */
static void test_errors(void **state) {
  (void)state;
  static const mbg_method methods[] = {MBG_METHOD_ADJOINT, MBG_METHOD_CONTINUOUS, MBG_METHOD_PAPER};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const limit_case *q = &cases[i];
    double most = 0, error[3][3] = {{0}};
    for (int e = 1; e <= q->np; e++) {
      most = fmax(most, fabs(q->exact[e]));
    }
    for (int m = 0; m < 3; m++) {
      for (int l = 0; l < 3; l++) {
        double x[ENTRIES_MAX];
        at_steps(q, q->steps << l, methods[m], x);
        for (int e = 1; e <= q->np; e++) {
          error[m][l] = fmax(error[m][l], fabs(x[e] - q->exact[e]) / most);
        }
        if (l > 0 || m < 2) {
          assert_close(error[m][l], q->table[m][l], (m == 0 ? 0.05 : 0.34) * q->table[m][l]);
        }
      }
      const double order = log2(error[m][1] / error[m][2]);
      assert_true(order > 1.9 && order < 2.3);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits), cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
