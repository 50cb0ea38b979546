/* Events in models with rows on rates (theory 7, section 4: impulses go through all constraints, those of blades and
   wheels among them). The jump of a sleigh with a blade is held against its closed form in the two rates that the blade
   leaves; impacts, switches, times and free ends on blades and wheels against the complex twin. */
#include "property/gradient_case.h"

#include <stdio.h>

static const char *const all[] = {"lie", "dae", "ali3p", "dca", "qr"};

/* a sleigh whose corner hits a wall; the centre of mass lies a ahead of the blade */
static const char sleigh[] =
    "{\"mbgrad\": 1, \"parameters\": {\"m\": 2, \"J\": 0.15, \"a\": 0.3, \"u0\": 0.9, \"om0\": 0.4, \"e\": 0.6, "
    "\"wall\": 0.7, \"c\": 0.4, \"b\": 0.15, \"tau\": 0.9}, \"modes\": {\"push\": 1},"
    "\"bodies\": {\"sleigh\": {\"motion\": \"planar\", \"mass\": \"m\", \"com\": [\"a\", 0, 0], \"inertia\": \"J\", "
    "\"velocity\": [\"u0\", 0, 0], \"angular_velocity\": [0, 0, \"om0\"]}},"
    "\"markers\": {\"corner\": {\"on\": \"sleigh\", \"at\": [\"c\", \"b\", 0]}},"
    "\"joints\": {\"blade\": {\"type\": \"knife-edge\", \"between\": [\"ground\", \"sleigh\"]}},"
    "\"forces\": {\"motor\": {\"type\": \"force\", \"on\": \"corner\", \"force\": [\"0.8*push\", 0.1, 0]}},"
    "\"signals\": {\"x\": {\"type\": \"position\", \"of\": \"corner\", \"component\": 1}, \"y\": {\"type\": "
    "\"position\", \"of\": \"corner\", \"component\": 2}, \"ahead\": {\"type\": \"direction\", \"of\": \"sleigh\", "
    "\"axis\": \"x\", \"component\": 1}, \"aside\": {\"type\": \"direction\", \"of\": \"sleigh\", \"axis\": \"x\", "
    "\"component\": 2}, \"u\": {\"type\": \"velocity\", \"of\": \"sleigh\", \"component\": 1, \"in\": \"body\"}, "
    "\"side\": {\"type\": \"velocity\", \"of\": \"sleigh\", \"component\": 2, \"in\": \"body\"}, \"om\": {\"type\": "
    "\"angular-velocity\", \"of\": \"sleigh\", \"component\": 3}, \"hold\": {\"type\": \"reaction\", \"joint\": "
    "\"blade\", \"component\": \"fy\"}, \"P\": {\"type\": \"impulse\", \"event\": \"hit\"}},"
    "\"events\": {\"hit\": {\"guard\": \"wall - x\", \"impact\": {\"restitution\": \"e\"}}, \"off\": {\"at\": "
    "\"tau\", \"set\": {\"push\": 0}}, \"goal\": {\"guard\": \"y - 0.6\", \"direction\": \"+\", \"end\": true}},"
    "\"criteria\": {\"where\": {\"terminal\": \"x + 0.4*y\"}, \"turn\": {\"terminal\": \"om + u\"}, \"effort\": "
    "{\"integral\": \"hold^2 + x^2\"}, \"when\": {\"terminal\": \"t\", \"at\": \"hit\"}, \"pushes\": {\"sum\": \"P\", "
    "\"at\": \"hit\"}, \"until\": {\"terminal\": \"t\"}}, \"run\": {\"end\": 1.6, \"step\": 0.01}}";

/* a vehicle with two driven wheels and a bumper: rows on rates, a plane, redundant rows across */
static const char drive[] =
    "{\"mbgrad\": 1, \"parameters\": {\"m\": 5, \"d\": 0.02, \"r\": 0.1, \"e\": 0.5, \"kl\": 0.3, \"kr\": 0.34, "
    "\"wall\": 0.35, \"half\": 0.15},"
    "\"bodies\": {\"chassis\": {\"mass\": \"m\", \"com\": [\"d\", 0, 0], \"inertia\": [0.03, 0.04, 0.05], "
    "\"position\": [0, 0, \"r\"]}, \"wheel1\": {\"mass\": 0.4, \"inertia\": [0.001, 0.001, 0.002], \"position\": [0, "
    "\"half\", \"r\"], \"rotate\": [[\"x\", \"-90 deg\"]]}, \"wheel2\": {\"mass\": 0.4, \"inertia\": [0.001, 0.001, "
    "0.002], \"position\": [0, \"-half\", \"r\"], \"rotate\": [[\"x\", \"-90 deg\"]]}},"
    "\"markers\": {\"bumper\": {\"on\": \"chassis\", \"at\": [0.2, 0.1, 0]}},"
    "\"joints\": {\"floor\": {\"type\": \"planar\", \"between\": [\"ground\", \"chassis\"], \"at\": [0, 0, \"r\"], "
    "\"axis\": [0, 0, 1]}, \"hub1\": {\"type\": \"revolute\", \"between\": [\"chassis\", \"wheel1\"], \"at\": [0, "
    "\"half\", \"r\"], \"axis\": [0, 1, 0]}, \"hub2\": {\"type\": \"revolute\", \"between\": [\"chassis\", "
    "\"wheel2\"], \"at\": [0, \"-half\", \"r\"], \"axis\": [0, 1, 0]}, \"tyre1\": {\"type\": \"rolling-wheel\", "
    "\"between\": [\"ground\", \"wheel1\"], \"radius\": \"r\"}, \"tyre2\": {\"type\": \"rolling-wheel\", \"between\": "
    "[\"ground\", \"wheel2\"], \"radius\": \"r\"}},"
    "\"forces\": {\"motor1\": {\"type\": \"actuator\", \"joint\": \"hub1\", \"force\": \"kl\"}, \"motor2\": {\"type\": "
    "\"actuator\", \"joint\": \"hub2\", \"force\": \"kr\"}},"
    "\"signals\": {\"x\": {\"type\": \"position\", \"of\": \"bumper\", \"component\": 1}, \"y\": {\"type\": "
    "\"position\", \"of\": \"chassis\", \"component\": 2}, \"P\": {\"type\": \"impulse\", \"event\": \"hit\"}, \"om\": "
    "{\"type\": \"angular-velocity\", \"of\": \"chassis\", \"component\": 3}},"
    "\"events\": {\"hit\": {\"guard\": \"wall - x\", \"impact\": {\"restitution\": \"e\"}}},"
    "\"criteria\": {\"where\": {\"terminal\": \"x + y\"}, \"turn\": {\"terminal\": \"om\"}, \"way\": {\"integral\": "
    "\"x^2 + y^2\"}, \"when\": {\"terminal\": \"t\", \"at\": \"hit\"}, \"pushes\": {\"sum\": \"P\", \"at\": "
    "\"hit\"}}, \"run\": {\"end\": 1.2, \"step\": 0.01}}";

static double value(const gradient_case *c, const char *name, int node) {
  int k = 0;
  while (strcmp(c->m->signals[k].name, name) != 0) {
    k++;
  }
  return mbg_run_signal(c->run, node, k);
}

/* KE = m u^2/2 + (J + m a^2) om^2/2, gap rate N (u, om) with N = (-cos, c sin + b cos):
   P = -(1 + e) N (u, om)/(N M^-1 N^T). 1e-9: the drift of the rates before it, of dca and qr in fixed steps. */
static void check_jump(const gradient_case *c, const char *formulation, const mbg_run_event *hit) {
  enum { M, J, A, U0, OM0, E, WALL, C, B };
  const double *p = c->p, co = value(c, "ahead", hit->node), si = value(c, "aside", hit->node);
  const double u = value(c, "u", hit->node), om = value(c, "om", hit->node);
  const double N[2] = {-co, p[C] * si + p[B] * co}, inertia = p[J] + p[M] * p[A] * p[A];
  const double P = -(1 + p[E]) * (N[0] * u + N[1] * om) / (N[0] * N[0] / p[M] + N[1] * N[1] / inertia);
  assert_true(P > 0.1);
  if (!(fabs(hit->impulse - P) <= 1e-9 && fabs(value(c, "u", hit->node + 1) - u - P * N[0] / p[M]) <= 1e-9 &&
        fabs(value(c, "om", hit->node + 1) - om - P * N[1] / inertia) <= 1e-9 &&
        fabs(value(c, "side", hit->node + 1)) <= 1e-9)) {
    fail_msg("%s: impulse %.12g, expected %.12g; across the blade %.2e", formulation, hit->impulse, P,
             value(c, "side", hit->node + 1));
  }
}

static void test_jump(void **state) {
  (void)state;
  for (int f = 0; f < MBG_COUNT(all); f++) {
    gradient_case c;
    mbg_run_event hit;
    gradient_case_open(&c, NULL, sleigh);
    c.options.formulation = all[f];
    c.options.step = 0.01;
    c.options.all_signals = true;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    assert_int_equal(mbg_run_event_count(c.run), 3);
    assert_int_equal(mbg_run_event_at(c.run, 0, &hit), MBG_OK);
    assert_string_equal(hit.name, "hit");
    check_jump(&c, all[f], &hit);
    gradient_case_close(&c);
  }
}

/* direct, adjoint and twin: 1e-10, rounding */
static void check_gradients(const char *text, const char *formulation) {
  gradient_case c;
  gradient_case_open(&c, NULL, text);
  c.options.formulation = formulation;
  c.options.step = 0.01;
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  assert_true(mbg_run_event_count(c.run) > 0);
  double *adjoint = gradient_case_gradient(&c, MBG_METHOD_ADJOINT);
  double *other[2] = {gradient_case_gradient(&c, MBG_METHOD_DIRECT), gradient_case_twin(&c, NULL)};
  for (int i = 0; i < 2 * c.nc; i++) {
    const int k = i / 2;
    const double d = gradient_difference(c.np, c.p, other[i % 2] + k * c.np, adjoint + k * c.np, 1e-6);
    if (!(d <= 1e-10)) {
      fail_msg("%s: %s and adjoint of '%s' differ by %.2e", formulation, i % 2 ? "twin" : "direct",
               c.m->criteria[k].name, d);
    }
  }
  free(adjoint);
  free(other[0]);
  free(other[1]);
  gradient_case_close(&c);
}

static void test_gradients(void **state) {
  (void)state;
  for (int f = 0; f < MBG_COUNT(all); f++) {
    check_gradients(sleigh, all[f]);
    check_gradients(drive, all[f]);
  }
}

/* Five formulations, one limit, that of qr at 1e-10. 1e-4: errors of the second order at a step of 0.0025. */
static void test_one_answer(void **state) {
  double limit[16], psi[16];
  (void)state;
  for (int f = MBG_COUNT(all) - 1; f >= 0; f--) {
    gradient_case c;
    const bool qr = f == MBG_COUNT(all) - 1;
    gradient_case_open(&c, NULL, sleigh);
    c.options.formulation = all[f];
    c.options.step = qr ? NAN : 0.0025;
    c.options.tolerance = qr ? 1e-10 : NAN;
    gradient_case_run(&c);
    gradient_case_simulate(&c);
    gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, qr ? limit : psi), all[f]);
    for (int k = 0; !qr && k < c.nc; k++) {
      if (!(fabs(psi[k] - limit[k]) <= 1e-4 * (1 + fabs(limit[k])))) {
        fail_msg("%s: '%s' is %.9g, expected %.9g", all[f], c.m->criteria[k].name, psi[k], limit[k]);
      }
    }
    gradient_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_jump), cmocka_unit_test(test_gradients),
                                     cmocka_unit_test(test_one_answer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
