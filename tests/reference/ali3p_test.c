/* Printed numbers of theory 5, section 16: discrete values with kappa = 1e4 and their gradients, second order towards
   the exact ones, constraints on all three levels. Long: not under sanitizers.

   Tolerance of discrete values 1e-8 relative, or half a unit of the last digit where 8 are printed. */
#include "reference/reference_case.h"

static const double tol = 1e-8;

/* a gallery model with kappa = 1e4 in its run, and further markers, signals (NULL: none) */
static char *open_soft(gradient_case *c, const char *name, const char *kappa, const char *markers,
                       const char *signals) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, name);
  char *text = support_read_file(path, NULL);
  text = reference_insert(text, "run", kappa);
  text = markers ? reference_insert(text, "markers", markers) : text;
  text = signals ? reference_insert(text, "signals", signals) : text;
  *strrchr(path, '/') = 0;
  gradient_case_open(c, path, text);
  c->file = NULL;
  c->options.formulation = "ali3p";
  c->options.all_signals = signals != NULL;
  return text;
}

static void simulate(gradient_case *c, double step) {
  c->options.step = step;
  gradient_case_run(c);
  gradient_case_simulate(c);
}

/* value and gradient of a criterion by both methods, NAN: not printed */
static void check_printed(gradient_case *c, const char *criterion, double value, const double *gradient, double off) {
  static const mbg_method methods[] = {MBG_METHOD_DIRECT, MBG_METHOD_ADJOINT};
  const int k = reference_criterion(c, criterion);
  double *psi = calloc((size_t)c->nc, sizeof *psi);
  gradient_case_check(c, mbg_run_criteria(c->ctx, c->run, psi), "criteria");
  reference_close_to(criterion, psi[k], value, tol);
  for (int m = 0; m < 2; m++) {
    double *g = gradient_case_gradient(c, methods[m]);
    for (int i = 0; i < c->np; i++) {
      char what[100];
      snprintf(what, sizeof what, "%s of '%s' by parameter %d", mbg_method_name(methods[m]), criterion, i);
      if (!isnan(gradient[i])) {
        reference_close_to(what, g[k * c->np + i], gradient[i], off);
      }
    }
    free(g);
  }
  free(psi);
}

/* ---------------------------------------------------------------------- discrete values */

static void test_five_bar(void **state) {
  (void)state;
  static const double step[] = {0.01, 0.005, 0.001};
  static const double psi[] = {0.72687247, 0.72687682, 0.72687744};
  static const double L01[] = {-4.22938776, -4.22895764, -4.22881676}, L02[] = {3.21058564, 3.21135282, 3.21159409};
  for (int i = 0; i < support_rounds(2, 3); i++) {
    const double g[] = {L01[i], L02[i], NAN, NAN, NAN, NAN, NAN, NAN};
    gradient_case c;
    char *text = open_soft(&c, "five-bar", "\"kappa\": 1e4, ", NULL, NULL);
    simulate(&c, step[i]);
    check_printed(&c, "psi", psi[i], g, tol);
    reference_close(&c, text);
  }
}

/* psi4 takes the multipliers of index 1: second order, 0.320118864; those of the step would give 0.32011199 */
static void test_wishbone_corner(void **state) {
  (void)state;
  const double psi1[] = {-2.17508641e-05, NAN, NAN, NAN, -4.47111495, 3.51885943, NAN, NAN};
  const double psi4[] = {NAN, NAN, NAN, NAN, -0.2413757209, NAN, NAN, NAN};
  gradient_case c;
  char *text = open_soft(&c, "wishbone-corner", "\"kappa\": 1e4, ", NULL, NULL);
  simulate(&c, 0.001);
  check_printed(&c, "psi1", 6.224167028, psi1, tol);
  check_printed(&c, "psi4", 0.320118864, psi4, tol);
  reference_close(&c, text);
}

/* psi1 by parameters to 2e-7: it is made of accelerations, of which the soft projection leaves 1/kappa of the
   violation, by rows; the page takes the rows of the ball joints in world axes, the library in those of a body that
   leans by some degrees */
static void test_vehicle(void **state) {
  (void)state;
  const double psi1[] = {6.730541e-06,   3.8712463e-05, 4.5609637e-06, 5.7909734e-05, 1.9932111e-06,
                         -0.00075062613, 0.34923983,    0.076938919,   0.50023469};
  const double psi3[] = {1.4294749e-05, -6.8735866e-06, -1.3612237e-05, -5.036727e-06, -5.1497109e-08,
                         0.00035343294, 7.8466808,      -31.293695,     -198.82149};
  const double none[] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  gradient_case c;
  char *text = open_soft(&c, "vehicle", "\"kappa\": 1e4, ", NULL, NULL);
  simulate(&c, 0.002);
  check_printed(&c, "psi1", 0.313127867, psi1, 2e-7);
  check_printed(&c, "psi2", 0.0271573083, none, tol);
  check_printed(&c, "psi3", -2.06748416, psi3, 4e-8);
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- second order */

/* largest |p dg|/max |p g| of all parameters of a criterion against the exact values */
static double gradient_error(gradient_case *c, const char *criterion, const double *exact) {
  const int k = reference_criterion(c, criterion);
  double *g = gradient_case_gradient(c, MBG_METHOD_ADJOINT), most = 0, off = 0;
  for (int i = 0; i < c->np; i++) {
    const double p = c->p[i] != 0 ? c->p[i] : 1;
    most = fmax(most, fabs(p * exact[i]));
    off = fmax(off, fabs(p * (g[k * c->np + i] - exact[i])));
  }
  free(g);
  return off / most;
}

/* the error falls by four when the step is halved */
static void check_order(const char *name, const char *criterion, double step, const double *exact) {
  gradient_case c;
  double d[2];
  char *text = open_soft(&c, name, "", NULL, NULL);
  for (int i = 0; i < 2; i++) {
    simulate(&c, step / (1 + i));
    d[i] = gradient_error(&c, criterion, exact);
  }
  if (!(d[0] / d[1] > 3.8 && d[0] / d[1] < 4.2)) {
    fail_msg("%s, gradient of '%s': errors %.2e, %.2e, ratio %.3f", name, criterion, d[0], d[1], d[0] / d[1]);
  }
  if (support_rounds(0, 1)) {
    print_message("%-16s %-5s errors %.2e, %.2e, ratio %.3f\n", name, criterion, d[0], d[1], d[0] / d[1]);
  }
  reference_close(&c, text);
}

static void test_order(void **state) {
  (void)state;
  static const double five[] = {-4.2288108552, 3.2116041030, -0.003351280338, -0.006825912538,
                                0.3167008385,  0.5413499914, 0.03593592363,   -0.1649104235};
  static const double psi1[] = {-2.173842709e-05, -2.189808068e-03, 8.858955842e-08,  4.1694441333e-02,
                                -4.4698695302,    3.5184801114,     4.1338193666e-01, 1.5501589189e-02};
  static const double psi4[] = {-3.104202303e-06,  -3.216023397e-06, -2.919345979e-08, -8.202775039e-04,
                                -2.4138828263e-01, 5.4608291636e-01, -3.0173062495,    2.7808960793e-04};
  static const double psi3[] = {1.42947385e-05, -6.87249624e-06, -1.36120722e-05, -5.03693098e-06, -5.15281066e-08,
                                0.000353428805, 7.84671859,      -31.2938454,     -198.821292};
  check_order("five-bar", "psi", 0.005, five);
  check_order("wishbone-corner", "psi1", 0.002, psi1);
  check_order("wishbone-corner", "psi4", 0.002, psi4);
  if (support_rounds(0, 1)) {
    check_order("vehicle", "psi3", 0.002, psi3);
  }
}

/* ---------------------------------------------------------------------- constraints */

/* Relative positions, velocities and accelerations at cut joints are zero at every node, to 1e-9 (accelerations scaled
   by 1 + the largest of the chassis). */
static void check_cut(gradient_case *c, const char *const *names, double acceleration) {
  for (int n = 0; n < mbg_run_node_count(c->run); n++) {
    for (int k = 0; names[k]; k++) {
      const double x = reference_value(c, n, names[k]), scale = names[k][0] == 'a' ? 1 + acceleration : 1;
      if (!(fabs(x) <= 1e-9 * scale)) {
        fail_msg("%s at node %d: %.2e", names[k], n, x);
      }
    }
  }
}

static void test_constraints(void **state) {
  (void)state;
  static const char *const names[] = {"px", "py", "pz", "vvx", "vvy", "vvz", "ax", "ay", "az", "rod", "vrod", NULL};
  gradient_case c;
  char *text =
      open_soft(&c, "wishbone-corner", "", "\"U2\": {\"on\": \"UCA\", \"at\": [-0.02, 0.66, 0.47], \"in\": \"world\"},",
                "\"px\": {\"type\": \"position\", \"of\": \"U2\", \"relative_to\": \"UBJ\", \"component\": 1},"
                "\"py\": {\"type\": \"position\", \"of\": \"U2\", \"relative_to\": \"UBJ\", \"component\": 2},"
                "\"pz\": {\"type\": \"position\", \"of\": \"U2\", \"relative_to\": \"UBJ\", \"component\": 3},"
                "\"vvx\": {\"type\": \"velocity\", \"of\": \"U2\", \"relative_to\": \"UBJ\", \"component\": 1},"
                "\"vvy\": {\"type\": \"velocity\", \"of\": \"U2\", \"relative_to\": \"UBJ\", \"component\": 2},"
                "\"vvz\": {\"type\": \"velocity\", \"of\": \"U2\", \"relative_to\": \"UBJ\", \"component\": 3},"
                "\"ax\": {\"type\": \"acceleration\", \"of\": \"U2\", \"relative_to\": \"UBJ\", \"component\": 1},"
                "\"ay\": {\"type\": \"acceleration\", \"of\": \"U2\", \"relative_to\": \"UBJ\", \"component\": 2},"
                "\"az\": {\"type\": \"acceleration\", \"of\": \"U2\", \"relative_to\": \"UBJ\", \"component\": 3},"
                "\"l\": {\"type\": \"distance\", \"of\": \"Ti\", \"relative_to\": \"To\"},"
                "\"vrod\": {\"type\": \"distance-rate\", \"of\": \"Ti\", \"relative_to\": \"To\"},"
                "\"rod\": {\"type\": \"expression\", \"value\": \"l - L\"},");
  simulate(&c, 0.002);
  double most = 0;
  for (int n = 0; n < mbg_run_node_count(c.run); n++) {
    most = fmax(most, fabs(reference_value(&c, n, "aC")));
  }
  check_cut(&c, names, most);
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- singular positions */

/* IFToMM A02, N = 2: through flat positions for 10 s. Positions and velocities at the end to 1e-5 with 1 ms, gradients
   by length, v0 and gravity to 2e-5, energy within 2e-4 of its value; errors of second order: 16 times as large with 4
   ms. */
static void test_flat(void **state) {
  (void)state;
  static const char *const names[] = {"x_end", "y_end", "vx_end", "vy_end"};
  static const double value[] = {0.32845811154081538, 0.94451853817860096, 1.4230514702069441, -0.49486884548704296};
  static const double gradient[][3] = {{-9.0881044, 4.6026103, 0.49071888},
                                       {4.2191460, -1.6005665, -0.17064842},
                                       {-18.163375, 9.6993345, 1.0078585},
                                       {22.219439, -11.146046, -1.1792316}};
  const double step = support_rounds(0, 1) ? 0.001 : 0.004, grow = step * step / 1e-6;
  gradient_case c;
  double psi[4];
  char *text = reference_open(&c, "four-bar-chain", NULL, NULL);
  c.options.formulation = "ali3p";
  simulate(&c, step);
  double *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, psi), "criteria");
  for (int k = 0; k < 4; k++) {
    const int i = reference_criterion(&c, names[k]);
    assert_true(fabs(psi[i] - value[k]) < 1e-5 * grow);
    for (int p = 0; p < 3; p++) {
      assert_true(fabs(g[i * c.np + 1 + p] / gradient[k][p] - 1) < 2e-5 * grow);
    }
  }
  const double E0 = reference_value(&c, 0, "E");
  for (int n = 0; n < mbg_run_node_count(c.run); n++) {
    assert_true(fabs(reference_value(&c, n, "E") / E0 - 1) < 2e-4 * grow);
  }
  free(g);
  reference_close(&c, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_five_bar), cmocka_unit_test(test_wishbone_corner), cmocka_unit_test(test_vehicle),
      cmocka_unit_test(test_order),    cmocka_unit_test(test_constraints),     cmocka_unit_test(test_flat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
