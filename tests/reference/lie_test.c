/* Printed numbers of theory 4, section 12 (lie) and theory 2, section 13 (dae): discrete values with their gradients,
   starts, orders of convergence. Long: not under sanitizers.

   Tolerance of discrete values 1e-8 relative: they are printed with 10 to 13 digits by an independent program that
   makes the same steps, so that only rounding is between. */
#include "reference/reference_case.h"

static const double tol = 1e-8;

/* ---------------------------------------------------------------------- theory 4, section 12 */

/* R1: step 1e-3, rho_inf 0.9; the page's multipliers are minus the force on the top */
static void test_heavy_top(void **state) {
  (void)state;
  static const double x[3] = {-0.7293445639, 0.0323066256, -0.6833833397};
  static const double dm[3] = {0.03498743511, -0.06161839427, -0.04025350985};
  static const double dJ2[3] = {-1.1498490806, 2.0012281738, 1.3217897673};
  static const double dWy[3] = {-0.004146646161, 0.007350550324, 0.004773024339};
  static const char *const end[] = {"W1", "W2", "W3", "fx", "fy", "fz"};
  static const double at_end[] = {0.1417900344, 150, 5.8698176937, 548.877915, 364.261217, 335.287291};
  static const char *const name[3] = {"x", "y", "z"};
  gradient_case c;
  char *text = reference_open(&c, "heavy-top", NULL, NULL);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  double psi[3], *g = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  mbg_run_criteria(c.ctx, c.run, psi);
  for (int k = 0; k < 3; k++) {
    const int i = reference_criterion(&c, name[k]);
    reference_close_to(name[k], psi[i], x[k], tol);
    reference_close_to("by m", g[4 * i], dm[k], tol);
    reference_close_to("by J2", g[4 * i + 2], dJ2[k], tol);
    reference_close_to("by Wy", g[4 * i + 3], dWy[k], tol);
  }
  for (int k = 0; k < 6; k++) {
    reference_close_to(end[k], reference_value(&c, mbg_run_node_count(c.run) - 1, end[k]), at_end[k], tol);
  }
  free(g);
  reference_close(&c, text);
}

/* gradient of a signal at a node from the histories */
typedef struct {
  int node, kept, np;
  double *dy;
} at_node;

static int take_node(void *user, int node, const double *dy) {
  const at_node *a = user;
  if (node == a->node) {
    memcpy(a->dy, dy + a->kept * a->np, (size_t)a->np * sizeof(double));
  }
  return 0;
}

static void check_extreme(gradient_case *c, const char *signal, double sign, int step, double value, const double *g) {
  const int s = reference_signal(c, signal);
  double dy[4];
  at_node a = {.node = 0, .np = c->np, .dy = dy};
  for (int n = 0; n < mbg_run_node_count(c->run); n++) {
    a.node = sign * mbg_run_signal(c->run, n, s) > sign * mbg_run_signal(c->run, a.node, s) ? n : a.node;
  }
  while (mbg_run_kept_signal(c->run, a.kept) != s) {
    a.kept++;
  }
  assert_int_equal(a.node, step);
  reference_close_to(signal, mbg_run_signal(c->run, a.node, s), value, tol);
  gradient_case_check(c, mbg_run_history(c->ctx, c->run, take_node, &a), "history");
  for (int i = 0; i < 4; i++) {
    reference_close_to(signal, dy[i], g[i], tol);
  }
}

/* R2: step 1/200, rho_inf 0.8 */
static void test_quarter_car(void **state) {
  (void)state;
  static const double psi0[] = {3.3625424578e-05, 2.3326700225e-04, -7.8328610961e-03, -8.2115569550};
  static const double psiL[] = {-1.9236020064e-04, 3.3416016445e-05, 1.1136991828e-01, -33.772703775};
  static const double F1[] = {1.7057189934e-02, -1.8694273982e-02, 7.9990460854, -1322.9043604};
  static const double most[] = {2.0549614128e-02, 1.0787790644e-01, 7.3432956143, -4354.8554780};
  static const double least[] = {1.8986432044e-06, 8.5700767387e-07, -2.1787118922e-04, -1.7248809783e-01};
  gradient_case c;
  char *text = reference_open(&c, "quarter-car", NULL, NULL);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_int_equal(mbg_run_node_count(c.run), 201);
  reference_check(&c, "psi0", 0.7576035293958, psi0, tol);
  reference_check(&c, "psiL", 17.1724202012, psiL, tol);
  reference_check(&c, "F1", 4152.4702014994, F1, tol);
  reference_check(&c, "F_path", 5684.98489465, most, tol);
  check_extreme(&c, "F", 1, 34, 5684.98489465, most);
  check_extreme(&c, "length", -1, 42, 0.496445210607, least);
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- theory 2, section 13 */

/* signals that give the page's accelerations: U' = R^T x'' - W x U */
#define BODY(b)                                                                                                        \
  "\"" b "_ux\": {\"type\": \"velocity\", \"of\": \"" b "\", \"component\": \"x\", \"in\": \"body\"}, "                \
  "\"" b "_uy\": {\"type\": \"velocity\", \"of\": \"" b "\", \"component\": \"y\", \"in\": \"body\"}, "                \
  "\"" b "_uz\": {\"type\": \"velocity\", \"of\": \"" b "\", \"component\": \"z\", \"in\": \"body\"}, "                \
  "\"" b "_wx\": {\"type\": \"gyroscope\", \"of\": \"" b "\", \"component\": \"x\"}, "                                 \
  "\"" b "_wy\": {\"type\": \"gyroscope\", \"of\": \"" b "\", \"component\": \"y\"}, "                                 \
  "\"" b "_wz\": {\"type\": \"gyroscope\", \"of\": \"" b "\", \"component\": \"z\"}, "                                 \
  "\"" b "_ax\": {\"type\": \"acceleration\", \"of\": \"" b "\", \"component\": \"x\", \"in\": \"body\"}, "            \
  "\"" b "_ay\": {\"type\": \"acceleration\", \"of\": \"" b "\", \"component\": \"y\", \"in\": \"body\"}, "            \
  "\"" b "_az\": {\"type\": \"acceleration\", \"of\": \"" b "\", \"component\": \"z\", \"in\": \"body\"}, "            \
  "\"" b "_dx\": {\"type\": \"angular-acceleration\", \"of\": \"" b "\", \"component\": \"x\", \"in\": \"body\"}, "    \
  "\"" b "_dy\": {\"type\": \"angular-acceleration\", \"of\": \"" b "\", \"component\": \"y\", \"in\": \"body\"}, "    \
  "\"" b "_dz\": {\"type\": \"angular-acceleration\", \"of\": \"" b "\", \"component\": \"z\", \"in\": \"body\"}, "
#define FORCE(joint, name)                                                                                             \
  "\"" name "x\": {\"type\": \"reaction\", \"joint\": \"" joint "\", \"component\": \"fx\", \"in\": \"world\"}, "      \
  "\"" name "y\": {\"type\": \"reaction\", \"joint\": \"" joint "\", \"component\": \"fy\", \"in\": \"world\"}, "      \
  "\"" name "z\": {\"type\": \"reaction\", \"joint\": \"" joint "\", \"component\": \"fz\", \"in\": \"world\"}, "
#define MOMENT(joint, name)                                                                                            \
  "\"" name "x\": {\"type\": \"reaction\", \"joint\": \"" joint "\", \"component\": \"mx\"}, "                         \
  "\"" name "y\": {\"type\": \"reaction\", \"joint\": \"" joint "\", \"component\": \"my\"}, "

static void three(const gradient_case *c, int node, const char *prefix, double x[3]) {
  for (int i = 0; i < 3; i++) {
    char name[40];
    snprintf(name, sizeof name, "%s%c", prefix, "xyz"[i]);
    x[i] = reference_value(c, node, name);
  }
}

/* rate of the twist (U', W') of a body at a node */
static void twist_rate(const gradient_case *c, int node, const char *body, double a[6]) {
  double U[3], W[3];
  char name[40];
  snprintf(name, sizeof name, "%s_u", body);
  three(c, node, name, U);
  snprintf(name, sizeof name, "%s_w", body);
  three(c, node, name, W);
  snprintf(name, sizeof name, "%s_a", body);
  three(c, node, name, a);
  snprintf(name, sizeof name, "%s_d", body);
  three(c, node, name, a + 3);
  a[0] -= W[1] * U[2] - W[2] * U[1];
  a[1] -= W[2] * U[0] - W[0] * U[2];
  a[2] -= W[0] * U[1] - W[1] * U[0];
}

/* R1: 50 steps; joints in world axes: ground joint rows "point of body 1", elbow rows "body 1 minus body 2" */
static void test_double_pendulum(void **state) {
  (void)state;
  static const double J[] = {0.289038142997, -1.61473155825, -4.46748463914,
                             13.3149561412,  7.77977682596,  0.372945121618};
  static const double a1[6] = {0, -7.5747663407, 0, 0, 0, -13.7723024377};
  static const double a2[6] = {-5.2861630351, -14.2225957487, 0, 0, 0, 22.3908972673};
  static const double f0[4] = {-1.4919155152, 3.2519937808, 4.3573860601, -1.5715869434};
  static const double fN[4] = {3.06403469700, 9.34472862613, 0.386101898209, -2.09186377377};
  static const double v1[3] = {0, 0.355319719157, 0.646035853013},
                      v2[3] = {0.232479727176, -0.671529749117, 0.469211624035};
  gradient_case c;
  char *text = reference_open(&c, "double-pendulum-spring",
                              BODY("body1") BODY("body2") FORCE("pivot", "p") FORCE("elbow", "e"), NULL);
  double a[6], f[3];
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_int_equal(mbg_run_node_count(c.run), 51);
  reference_check(&c, "J", 4.38723213717181, J, tol);
  twist_rate(&c, 0, "body1", a);
  assert_close_array(a, a1, 6, 1e-10); /* printed to 10 digits */
  twist_rate(&c, 0, "body2", a);
  assert_close_array(a, a2, 6, 1e-10);
  for (int node = 0; node <= 50; node += 50) {
    const double *expected = node ? fN : f0;
    three(&c, node, "p", f);
    assert_close_array(f, expected, 2, tol);
    three(&c, node, "e", f);
    assert_close_array(f, expected + 2, 2, tol);
  }
  for (int b = 0; b < 2; b++) {
    three(&c, 50, b ? "body2_u" : "body1_u", f);
    f[2] = reference_value(&c, 50, b ? "body2_wz" : "body1_wz");
    assert_close_array(f, b ? v2 : v1, 3, tol);
  }
  reference_close(&c, text);
}

/* R2: 60 steps */
static void test_crane(void **state) {
  (void)state;
  static const double J[] = {12.2979165815,  3.36216712044,  -4.04671113441, -6.96504614816, -5.81658785476,
                             -4.98820727119, -3.55650512113, -1.66332441803, -0.294947694303};
  gradient_case c;
  char *text = reference_open(&c, "overhead-crane", NULL, NULL);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_int_equal(mbg_run_node_count(c.run), 61);
  reference_check(&c, "J", 86.460643010896, J, tol);
  reference_close(&c, text);
}

/* R3: 50 steps. Rows 7, 8 are (R1 e_x).(R2 e_y), (R1 e_z).(R2 e_y); with R2 = R1 Rot_y(-0.4) their moment on body 2 is
   -lam7 e_y x (c, 0, -s) - lam8 e_y x (s, 0, c). The marker's axes are x = -e_x, y = e_z, z = e_y of the body. */
static void test_spatial_chain(void **state) {
  (void)state;
  static const double J[] = {-0.00115004850116, 0.0433638037895, 3.00915242713,  2.85706566522,
                             0.846079588145,    0.255063082452,  -0.144851355457};
  static const double a1[6] = {0, 0, 0, 4.86263180216, 8.42053504485, 0.385614430151};
  static const double a2[6] = {5.06874746328,  -2.58742037372, -4.84772495088,
                               -3.36853937597, 5.50009231630,  2.65713722096};
  static const double lam[8] = {-1.56819477056, 8.93482297395, -16.2959674193,  -2.52737357833,
                                -1.04637894993, 2.71504123865, -0.479344583350, 0.367496906238};
  const double co = cos(0.4), si = sin(0.4), moment[2] = {-(lam[6] * si - lam[7] * co), lam[6] * co + lam[7] * si};
  gradient_case c;
  char *text =
      reference_open(&c, "spatial-chain",
                     BODY("body1") BODY("body2") FORCE("socket", "s") FORCE("hinge", "h") MOMENT("hinge", "m"), NULL);
  double a[6], f[3];
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_int_equal(mbg_run_node_count(c.run), 51);
  reference_check(&c, "J", 2.91326196353095, J, tol);
  twist_rate(&c, 0, "body1", a);
  assert_close_array(a, a1, 6, 1e-10);
  twist_rate(&c, 0, "body2", a);
  assert_close_array(a, a2, 6, 1e-10);
  three(&c, 0, "s", f);
  for (int i = 0; i < 3; i++) {
    assert_close(f[i], -lam[i], 1e-9);
  }
  three(&c, 0, "h", f);
  assert_close_array(f, lam + 3, 3, 1e-9);
  assert_close(reference_value(&c, 0, "mx"), moment[0], 1e-9);
  assert_close(reference_value(&c, 0, "my"), moment[1], 1e-9);
  reference_close(&c, text);
}

/* ---------------------------------------------------------------------- orders */

enum { LEVELS = 3 }; /* steps h, h/2, h/4: two halvings */

/* one model at steps h, h/2, h/4 */
typedef struct {
  gradient_case c[LEVELS];
  char *text[LEVELS];
  double *psi[LEVELS], *g[LEVELS];
} orders;

static void open_orders(orders *o, const char *model, const char *signals, const char *criteria, double h, double end) {
  for (int l = 0; l < LEVELS; l++) {
    gradient_case *c = &o->c[l];
    o->text[l] = reference_open(c, model, signals, criteria);
    c->options.step = h / (1 << l);
    c->options.end = end;
    gradient_case_run(c);
    gradient_case_simulate(c);
    o->psi[l] = calloc((size_t)c->nc, sizeof(double));
    gradient_case_check(c, mbg_run_criteria(c->ctx, c->run, o->psi[l]), "criteria");
    o->g[l] = gradient_case_gradient(c, MBG_METHOD_ADJOINT);
  }
}

static void close_orders(orders *o) {
  for (int l = 0; l < LEVELS; l++) {
    free(o->psi[l]);
    free(o->g[l]);
    reference_close(&o->c[l], o->text[l]);
  }
}

/* log2 of the ratio of the differences of neighbours */
static void assert_second_order(const char *model, const char *what, const double d[LEVELS - 1]) {
  const double order = log2(d[0] / d[1]);
  if (support_rounds(0, 1)) {
    print_message("%-12s %-30s order %.3f\n", model, what, order);
  }
  if (!(order >= 1.85 && order <= 2.15)) {
    fail_msg("%s, %s: order %.3f", model, what, order);
  }
}

/* criteria with their gradients, a group of like ones (NULL at the end) together, weighted by the parameters */
static void check_group(const orders *o, const char *model, const char *const *names) {
  double value[LEVELS - 1] = {0}, gradient[LEVELS - 1] = {0};
  char what[60];
  for (const char *const *name = names; *name; name++) {
    const int k = reference_criterion(&o->c[0], *name), np = o->c[0].np;
    for (int l = 0; l + 1 < LEVELS; l++) {
      value[l] = fmax(value[l], fabs(o->psi[l][k] - o->psi[l + 1][k]));
      for (int i = k * np; i < (k + 1) * np; i++) {
        gradient[l] = fmax(gradient[l], fabs(o->c[0].p[i - k * np] * (o->g[l][i] - o->g[l + 1][i])));
      }
    }
  }
  assert_second_order(model, names[0], value);
  snprintf(what, sizeof what, "gradient of %s", names[0]);
  assert_second_order(model, what, gradient);
}

/* a reaction at the nodes of the coarsest run, without the first tenth: the start of index 3 (theory 4, section 4) */
static void check_reaction(const orders *o, const char *model, const char *signal) {
  const int n = mbg_run_node_count(o->c[0].run), s = reference_signal(&o->c[0], signal);
  double d[LEVELS - 1] = {0};
  for (int l = 0; l + 1 < LEVELS; l++) {
    assert_int_equal((n - 1) << (l + 1), mbg_run_node_count(o->c[l + 1].run) - 1);
    for (int i = (n - 1) / 10; i < n; i++) {
      d[l] =
          fmax(d[l], fabs(mbg_run_signal(o->c[l].run, i << l, s) - mbg_run_signal(o->c[l + 1].run, i << (l + 1), s)));
    }
  }
  assert_second_order(model, signal, d);
}

/* positions, rates and integrals of a top that turns by 150 rad/s */
static void test_order_heavy_top(void **state) {
  (void)state;
  static const char *const x[] = {"x", "y", "z", NULL}, *const W[] = {"Wx", "Wz", NULL}, *const sum[] = {"sum", NULL};
  orders o;
  open_orders(&o, "heavy-top", NULL,
              "\"Wx\": {\"terminal\": \"W1\"}, \"Wz\": {\"terminal\": \"W3\"}, \"sum\": {\"integral\": \"x1^2\"}, ",
              2.5e-4, 0.5);
  check_group(&o, "heavy-top", x);
  check_group(&o, "heavy-top", W);
  check_group(&o, "heavy-top", sum);
  check_reaction(&o, "heavy-top", "fx");
  close_orders(&o);
}

static void test_order_quarter_car(void **state) {
  (void)state;
  static const char *const names[][2] = {{"psi0"}, {"psiL"}, {"F1"}, {"position"}, {"rate"}, {"sum"}};
  orders o;
  open_orders(
      &o, "quarter-car",
      "\"length_d\": {\"type\": \"distance-rate\", \"of\": \"strut_lower\", \"relative_to\": \"strut_upper\"}, ",
      "\"position\": {\"terminal\": \"length\"}, \"rate\": {\"terminal\": \"length_d\"}, "
      "\"sum\": {\"integral\": \"length^2\"}, ",
      1.0 / 800, 1);
  for (int i = 0; i < 6; i++) {
    check_group(&o, "quarter-car", names[i]);
  }
  check_reaction(&o, "quarter-car", "fx");
  check_reaction(&o, "quarter-car", "fy");
  close_orders(&o);
}

static void test_order_rssr(void **state) {
  (void)state;
  static const char *const names[][2] = {{"phi_end"}, {"psi_end"}, {"loss"}, {"load"}, {"rate"}};
  orders o;
  open_orders(&o, "rssr", NULL, "\"rate\": {\"terminal\": \"psi_d\"}, ", 2e-3, 1);
  for (int i = 0; i < 5; i++) {
    check_group(&o, "rssr", names[i]);
  }
  check_reaction(&o, "rssr", "fz");
  close_orders(&o);
}

static int report(void **state) {
  (void)state;
  if (support_rounds(0, 1)) {
    print_message("worst relative deviation of printed numbers %.1e\n", reference_worst);
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heavy_top),         cmocka_unit_test(test_quarter_car),
      cmocka_unit_test(test_double_pendulum),   cmocka_unit_test(test_crane),
      cmocka_unit_test(test_spatial_chain),     cmocka_unit_test(test_order_heavy_top),
      cmocka_unit_test(test_order_quarter_car), cmocka_unit_test(test_order_rssr),
  };
  return cmocka_run_group_tests(tests, NULL, report);
}
