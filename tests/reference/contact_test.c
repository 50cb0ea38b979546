/* A ball dropped on a floor: it bounces, slides and rolls (theory 7, section 12, R8), to the digits of the page.
   Direct, adjoint and complex twin agree in every formulation, with depth, normal force and sliding speed in the
   criteria. */
#include "property/gradient_case.h"

#include <stdio.h>

enum { ROWS = 4, PARAMETERS = 7 };

static const double page[ROWS][1 + PARAMETERS] = {
    {0.3596953782851, -5.812430479e-08, -0.0017949675461, -0.072420867377, 0.0090407008999, 0.25364140605,
     -0.0046254316607, 0.0023249721916},
    {-10.71377605095, 2.4640248228e-08, 0.0015441764643, 1.4381027849e-05, -0.00067055057245, -7.1419438828,
     0.28560995516, -0.00098560992912},
    {0.09511054404391, 8.2260096556e-08, -0.0054497276204, -1.6013066058e-06, -3.0632942979e-07, 1.1640636749e-07,
     4.4809941916e-08, -0.0032904038623},
    {0.5082216356678, 6.874843615e-06, 0.34333012817, 0.31623790752, -0.011885210036, 0.24667756007, 0.015301700016,
     -0.2749937446},
};

static void open_ball(gradient_case *c) {
  static char path[300]; /* the case keeps it */
  snprintf(path, sizeof path, "%s/tests/reference/contact/ball.json", MBG_SOURCE_DIR);
  gradient_case_open(c, path, NULL);
}

static void test_page(void **state) {
  gradient_case c;
  double psi[16];
  (void)state;
  open_ball(&c);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "ball");
  for (int method = 0; method < 2; method++) {
    double *g = gradient_case_gradient(&c, method ? MBG_METHOD_ADJOINT : MBG_METHOD_DIRECT);
    for (int i = 0; i < ROWS; i++) {
      double most = 0;
      for (int k = 0; k < PARAMETERS; k++) {
        most = fmax(most, fabs(c.p[k] * page[i][1 + k]));
      }
      assert_true(fabs(psi[i] - page[i][0]) <= 1e-8 * fabs(page[i][0]));
      for (int k = 0; k < PARAMETERS; k++) {
        const double size = fabs(page[i][1 + k]) + (c.p[k] != 0 ? most / fabs(c.p[k]) : 0);
        if (!(fabs(g[i * c.np + k] - page[i][1 + k]) <= 1e-8 * size)) {
          fail_msg("criterion %d by parameter %d is %.12g, expected %.12g", i, k, g[i * c.np + k], page[i][1 + k]);
        }
      }
    }
    free(g);
  }
  gradient_case_close(&c);
}

static void run_ball(gradient_case *c, const char *formulation) {
  open_ball(c);
  c->options.formulation = formulation;
  c->options.rho_inf = !strcmp(formulation, "lie") ? 0.8 : NAN;
  if (!strcmp(formulation, "dca") || !strcmp(formulation, "qr")) {
    c->options.integrator = "rk4";
    c->options.step = 0.002;
  }
  c->options.end = 0.16;
  gradient_case_run(c);
  gradient_case_simulate(c);
}

static void test_gradients(void **state) {
  static const char *const formulations[] = {"lie", "dae", "dca", "ali3p"};
  (void)state;
  for (int k = 0; k < MBG_COUNT(formulations); k++) {
    gradient_case c;
    run_ball(&c, formulations[k]);
    gradient_case_compare(&c, formulations[k], 1e-10, 1e-9);
    gradient_case_close(&c);
  }
}

static void differ_less(const gradient_case *c, const char *what, const double *a, const double *b, double limit) {
  for (int k = 0; k < c->nc; k++) {
    const double d = gradient_difference(c->np, c->p, a + k * c->np, b + k * c->np, 0);
    if (!(d <= limit)) {
      fail_msg("qr, %s, '%s': %.2e", what, c->m->criteria[k].name, d);
    }
  }
}

/* The adjoint of `qr` is that of its steps; its direct method integrates the equations of the variations, and agrees
   with the adjoint to the accuracy of the steps. */
static void test_qr(void **state) {
  gradient_case c;
  (void)state;
  run_ball(&c, "qr");
  double *adjoint = gradient_case_gradient(&c, MBG_METHOD_ADJOINT), *twin = gradient_case_twin(&c, NULL);
  differ_less(&c, "adjoint and twin", adjoint, twin, 1e-9);
  free(adjoint);
  free(twin);
  gradient_case_close(&c);

  open_ball(&c);
  c.options.formulation = "qr";
  c.options.step = c.options.rho_inf = NAN;
  c.options.tolerance = 1e-11;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  adjoint = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  double *direct = gradient_case_gradient(&c, MBG_METHOD_DIRECT);
  differ_less(&c, "direct and adjoint", direct, adjoint, 1e-8);
  free(adjoint);
  free(direct);
  gradient_case_close(&c);
}

/* ---------------------------------------------------------------------- shapes */

static void open_model(gradient_case *c, const char *name) {
  static char path[2][300]; /* the cases keep them */
  static int next;
  char *to = path[next++ % 2];
  snprintf(to, sizeof path[0], "%s/tests/reference/contact/%s.json", MBG_SOURCE_DIR, name);
  gradient_case_open(c, to, NULL);
}

/* The section "contacts" gives the forces that shapes-forces.json writes out: a ball, a stick and a crate on a floor,
   the ball against the stick; to rounding, with all derivatives. */
static void test_section(void **state) {
  gradient_case c[2];
  double psi[2][16], *g[2];
  (void)state;
  for (int k = 0; k < 2; k++) {
    open_model(&c[k], k ? "shapes-forces" : "shapes");
    gradient_case_run(&c[k]);
    gradient_case_simulate(&c[k]);
    gradient_case_check(&c[k], mbg_run_criteria(c[k].ctx, c[k].run, psi[k]), "shapes");
    g[k] = gradient_case_gradient(&c[k], MBG_METHOD_ADJOINT);
  }
  assert_int_equal(c[0].m->nforce, c[1].m->nforce);
  for (int i = 0; i < c[0].nc; i++) {
    assert_true(fabs(psi[0][i] - psi[1][i]) <= 1e-10 * fabs(psi[0][i])); /* corners by sines or by poses */
    assert_true(gradient_difference(c[0].np, c[0].p, g[0] + i * c[0].np, g[1] + i * c[0].np, 0) <= 1e-8);
  }
  for (int k = 0; k < 2; k++) {
    free(g[k]);
    gradient_case_close(&c[k]);
  }
}

/* by radii, lengths and edges of shapes and the numbers of the group: direct, adjoint and twin; no derivative is 0 */
static void test_shapes(void **state) {
  static const char *const formulations[] = {"lie", "dae", "ali3p", "dca", "qr"};
  (void)state;
  for (int k = 0; k < MBG_COUNT(formulations); k++) {
    gradient_case c;
    open_model(&c, "shapes");
    c.options.formulation = formulations[k];
    if (!strcmp(formulations[k], "dca") || !strcmp(formulations[k], "qr")) {
      c.options.integrator = "rk4";
      c.options.step = 0.0004;
    }
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    /* the direct method of qr agrees to the accuracy of the steps: see test_qr */
    gradient_case_compare(&c, formulations[k], !strcmp(formulations[k], "qr") ? 1e-8 : 1e-10, 1e-9);
    double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
    for (int i = 0; i < c.np; i++) {
      double most = 0;
      for (int n = 0; n < c.nc; n++) {
        most = fmax(most, fabs(g[n * c.np + i]));
      }
      assert_true(most > 0);
    }
    free(g);
    gradient_case_close(&c);
  }
}

/* ---------------------------------------------------------------------- broad phase */

/* Which contacts the sweep leaves out changes no bit: in balls-seen.json a signal looks at each, so that none is. */
static void test_sweep(void **state) {
  static const char *const formulations[] = {"lie", "ali3p", "dca", "dae", "qr"};
  (void)state;
  for (int n = 0; n < MBG_COUNT(formulations); n++) {
    double psi[2][16], *g[2];
    gradient_case c[2];
    for (int k = 0; k < 2; k++) {
      open_model(&c[k], k ? "balls-seen" : "balls");
      c[k].options.formulation = formulations[n];
      if (!strcmp(formulations[n], "dca") || !strcmp(formulations[n], "qr")) {
        c[k].options.integrator = "rk4";
        c[k].options.step = 0.001;
      }
      c[k].options.end = n ? 0.05 : 0.2;
      gradient_case_run(&c[k]);
      gradient_case_simulate(&c[k]);
      gradient_case_check(&c[k], mbg_run_criteria(c[k].ctx, c[k].run, psi[k]), "balls");
      g[k] = gradient_case_gradient(&c[k], n == 2 ? MBG_METHOD_DIRECT : MBG_METHOD_ADJOINT);
    }
    assert_memory_equal(psi[0], psi[1], (size_t)c[0].nc * sizeof(double));
    for (int i = 0; i < c[0].nc * c[0].np; i++) {
      assert_true(g[0][i] == g[1][i] && g[0][i] != 0);
    }
    for (int k = 0; k < 2; k++) {
      free(g[k]);
      gradient_case_close(&c[k]);
    }
  }
}

/* ---------------------------------------------------------------------- energy */

/* Energy at the end and heat of friction are the energy at the start, to the second order of the steps, for a ball that
   bounces five times, slides and rolls. */
static void test_energy(void **state) {
  double miss[3], psi[16];
  (void)state;
  for (int k = 0; k < 3; k++) {
    gradient_case c;
    open_model(&c, "energy");
    c.options.step = 4e-4 / (1 << k);
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "energy");
    miss[k] = fabs(psi[1] + psi[2] - psi[0]);
    assert_true(psi[2] > 0.05 * psi[0]); /* the heat is no small part */
    assert_true(miss[k] <= 1e-3 * psi[0]);
    gradient_case_close(&c);
  }
  for (int k = 0; k < 2; k++) {
    const double order = log2(miss[k] / miss[k + 1]);
    if (!(order > 1.8 && order < 2.3)) {
      fail_msg("the balance of energy falls with order %g: %g %g %g", order, miss[0], miss[1], miss[2]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sweep),  cmocka_unit_test(test_energy), cmocka_unit_test(test_section),
      cmocka_unit_test(test_shapes), cmocka_unit_test(test_page),   cmocka_unit_test(test_gradients),
      cmocka_unit_test(test_qr),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
