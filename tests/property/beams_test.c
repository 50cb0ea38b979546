/* Beam elements at small and large rotations, and what is refused: derivatives against complex step of the twin to
   1e-12 of their block (rounding of sums of a few hundred products), messages. */
#include "property/gradient_case.h"
#include "support/model_case.h"

#include <stdio.h>

static const char two_nodes[] =
    "{\"mbgrad\": 1, \"parameters\": {\"E\": 1000, \"b\": 0.3, \"L\": 0.8}, \"gravity\": [0, 1, -9.81], \"beams\": "
    "{\"arm\": "
    "{\"elements\": 1, \"to\": [\"L\", 0, 0], \"section\": {\"type\": \"rectangle\", \"width\": \"b\", \"height\": "
    "0.2}, "
    "\"E\": \"E\", \"nu\": 0.3, \"rho\": 10, \"damping\": 0.02}}, \"signals\": {\"e\": {\"type\": \"energy\"}, \"m\": "
    "{\"type\": \"section-force\", \"beam\": \"arm\", \"element\": 0, \"component\": 5}}, \"criteria\": {\"c\": "
    "{\"terminal\": \"e\"}}, \"run\": {\"end\": 0.01, \"step\": 0.001}%s}";

static double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

static void compare(double angle, int n, const double *a, const double *b) {
  const double scale = fmax(largest(n, b), 1);
  for (int i = 0; i < n; i++) {
    if (!(fabs(a[i] - b[i]) <= 1e-12 * scale)) {
      fail_msg("rotation %g: %.17g, by complex step %.17g (block %.1e)", angle, a[i], b[i], scale);
    }
  }
}

/* node B turned by `angle` against node A about a random axis, everything varied at once */
static void check_rotation(model_case *c, support_rng *rng, double angle) {
  const mbg_model *m = c->m;
  model_direction d = {.w = model_case_array(c, m->nw),
                       .dv = model_case_array(c, m->nw),
                       .dvd = model_case_array(c, m->nw),
                       .dlambda = model_case_array(c, m->nrow),
                       .da = model_case_array(c, m->na)};
  model_change exact = model_change_make(c), got = model_change_make(c);
  double h[6];
  model_case_state(c, rng, 0.1);
  support_normals(rng, h, 3);
  support_direction(rng, h + 3);
  v3_scale(h + 3, angle, h + 3);
  mbg__se3_retract(&c->H[1], &c->H[0], h);
  model_case_update(c);
  support_normals(rng, d.w, m->nw);
  support_normals(rng, d.dv, m->nw);
  support_normals(rng, d.dvd, m->nw);
  support_normals(rng, d.da, m->na);
  model_case_twin(c, &d, &exact);
  model_case_push(c, &d, &got);
  compare(angle, m->nw, got.r, exact.r);
  compare(angle, m->nsignal, got.y, exact.y);
}

static void test_rotations(void **state) {
  (void)state;
  static const double angles[] = {0, 1e-9, 1e-5, 1e-3, 0.1, 0.2499, 0.2501, 0.5, 0.999, 1.001, 2, 2.8};
  model_case c;
  support_rng rng = support_rng_make(4);
  char text[1200];
  snprintf(text, sizeof text, two_nodes, "");
  model_case_open(&c, NULL, text);
  for (int i = 0; i < MBG_COUNT(angles); i++) {
    for (int k = 0; k < 5; k++) {
      check_rotation(&c, &rng, angles[i]);
    }
  }
  model_case_close(&c);
}

static void says(const gradient_case *c, const char *what) {
  if (!strstr(mbg_context_error(c->ctx), what)) {
    fail_msg("'%s' is not in '%s'", what, mbg_context_error(c->ctx));
  }
  mbg_context_clear(c->ctx);
}

/* every formulation takes beams */
static void test_formulations(void **state) {
  (void)state;
  static const char *const keys[] = {"lie", "dae", "qr", "ali3p", "dca"};
  gradient_case c;
  char text[1200];
  snprintf(text, sizeof text, two_nodes, "");
  gradient_case_open(&c, NULL, text);
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    c.options.formulation = keys[i];
    gradient_case_check(&c, mbg_run_create(c.ctx, c.m, &c.options, &c.run), keys[i]);
    mbg_run_destroy(c.run);
    c.run = NULL;
  }
  gradient_case_close(&c);
}

/* ---------------------------------------------------------------------- stress of all elements */

static const char three_elements[] =
    "{\"mbgrad\": 1, \"parameters\": {\"E\": 1000, \"b\": {\"value\": [0.3, 0.25, 0.2]}, \"h\": 0.2, \"L\": 0.8}, "
    "\"beams\": {\"arm\": {\"elements\": 3, \"to\": [\"L\", 0, 0], \"section\": {%s}, \"E\": \"E\", \"nu\": 0.3, "
    "\"rho\": 10}}, \"signals\": {\"s\": {\"type\": \"stress\", \"beam\": \"arm\", \"element\": \"all\"%s}}, "
    "\"criteria\": {\"c\": {\"terminal\": \"s\"}}, \"run\": {\"end\": 0.01, \"step\": 0.001}}";

static const struct {
  const char *section, *points;
  double y, z; /* of the fibres; z < 0: a circle of radius y */
} outlines[] = {
    {"\"type\": \"rectangle\", \"width\": 0.3, \"height\": \"h\"", "", 0.15, 0.1},
    {"\"type\": \"rectangle\", \"width\": \"b\", \"height\": \"h\"", "", 0, 0}, /* a width for each element */
    {"\"type\": \"circle\", \"diameter\": \"h\"", "", 0.1, -1},
    {"\"type\": \"tube\", \"diameter\": \"h\", \"wall\": 0.02", "", 0.1, -1},
    {"\"type\": \"general\", \"A\": 0.1, \"I2\": 1e-3, \"I3\": 1e-3, \"Jt\": 1e-3", ", \"y\": \"h/2\", \"z\": 0.03",
     0.1, 0.03},
    {"\"type\": \"general\", \"A\": 0.1, \"I2\": 1e-3, \"I3\": 1e-3, \"Jt\": 1e-3", ", \"z\": 0.03", 0, 0.03},
};

/* the largest stress of all fibres, from the strains e = (log G - d0)/L; returns their number */
static int largest_stress(const model_case *c, double y, double z, double *most) {
  const double L = 0.8 / 3, E = 1000;
  int n = 0;
  *most = 0;
  for (int i = 0; i < 3; i++) {
    mbg__frame G;
    double e[6];
    frame_relative(&G, &c->H[i], &c->H[i + 1]);
    mbg__se3_log(e, &G);
    e[0] -= L;
    v6_scale(e, 1 / L, e);
    const double bent = z < 0 ? y * sqrt(e[4] * e[4] + e[5] * e[5]) : z * fabs(e[4]) + y * fabs(e[5]);
    *most = fmax(*most, E * (fabs(e[0]) + bent));
    n += z < 0 || y == 0 ? 2 : 4;
  }
  return n;
}

/* by complex step: bent at random, nearly straight, one element alone */
static void check_all_elements(model_case *c, support_rng *rng, double distance) {
  model_direction d = {.w = model_case_array(c, c->m->nw), .da = model_case_array(c, c->m->na)};
  model_change exact = model_change_make(c), got = model_change_make(c);
  model_case_state(c, rng, distance);
  support_normals(rng, d.w, c->m->nw);
  support_normals(rng, d.da, c->m->na);
  model_case_twin(c, &d, &exact);
  model_case_push(c, &d, &got);
  compare(distance, 1, got.y, exact.y);
  assert_true(fabs(got.y[0]) > 1e-3);
}

static void test_all_elements(void **state) {
  (void)state;
  static const double distances[] = {0.3, 0.1, 1e-3, 1e-6};
  support_rng rng = support_rng_make(8);
  for (int i = 0; i < MBG_COUNT(outlines); i++) {
    model_case c;
    char text[1200];
    snprintf(text, sizeof text, three_elements, outlines[i].section, outlines[i].points);
    model_case_open(&c, NULL, text);
    for (int k = 0; k < 40; k++) {
      const real *y;
      double most;
      check_all_elements(&c, &rng, distances[k % MBG_COUNT(distances)]);
      if (outlines[i].y > 0 || outlines[i].z > 0) {
        const int n = largest_stress(&c, outlines[i].y, outlines[i].z, &most);
        assert_int_equal(mbg__system_signals(c.ctx, c.sys, &y), MBG_OK);
        assert_true(y[0] >= most * (1 - 1e-12) && y[0] <= most * pow(n, 0.01) * (1 + 1e-12));
      }
    }
    model_case_close(&c);
  }
}

/* without stress: 0, and no derivative */
static void test_no_stress(void **state) {
  (void)state;
  gradient_case c;
  char text[1200];
  double psi, g[8];
  snprintf(text, sizeof text, three_elements, outlines[0].section, "");
  gradient_case_open(&c, NULL, text);
  gradient_case_run(&c);
  gradient_case_simulate(&c);
  gradient_case_check(&c, mbg_run_criteria(c.ctx, c.run, &psi), "criteria");
  gradient_case_check(&c, mbg_run_gradient(c.ctx, c.run, MBG_METHOD_ADJOINT, g, NULL), "gradient");
  assert_true(fabs(psi) < 1e-9);
  for (int j = 0; j < c.np; j++) {
    assert_true(isfinite(g[j]));
  }
  gradient_case_close(&c);
}

/* near pi between two nodes, sections and lengths that parameters spoil */
static void test_messages(void **state) {
  (void)state;
  gradient_case c;
  char text[1400];
  snprintf(text, sizeof text, two_nodes,
           ", \"initial\": {\"bodies\": {\"arm.1\": {\"position\": [0.8, 0, 0], \"rotate\": [[\"z\", 3.1]]}}}");
  gradient_case_open(&c, NULL, text);
  gradient_case_run(&c);
  assert_true(mbg_run_simulate(c.ctx, c.run) < 0);
  says(&c, "beam 'arm': element 0 has turned by nearly pi between its nodes at t = 0; use more elements or smaller "
           "steps");
  gradient_case_close(&c);

  snprintf(text, sizeof text, two_nodes, "");
  gradient_case_open(&c, NULL, text);
  gradient_case_run(&c);
  const double width[3] = {1000, -0.3, 0.8}, modulus[3] = {0, 0.3, 0.8}, length[3] = {1000, 0.3, 0};
  assert_true(mbg_run_set_parameters(c.ctx, c.run, width) < 0 || mbg_run_simulate(c.ctx, c.run) < 0);
  says(&c, "beam 'arm': width is -0.3 at these parameters; it must be positive");
  assert_true(mbg_run_set_parameters(c.ctx, c.run, modulus) < 0 || mbg_run_simulate(c.ctx, c.run) < 0);
  says(&c, "beam 'arm': E is 0 at these parameters; it must be positive");
  assert_true(mbg_run_set_parameters(c.ctx, c.run, length) < 0 || mbg_run_simulate(c.ctx, c.run) < 0);
  says(&c, "beam 'arm': the elements have length 0 at these parameters; it must be positive");
  gradient_case_close(&c);
}

/* a warning above 2 rad per element; the refusal at 0.95 pi is tests/errors/models/beam-curvature-large */
static void test_turn(void **state) {
  (void)state;
  static const char bent[] =
      "{\"mbgrad\": 1, \"beams\": {\"arm\": {\"elements\": 2, \"section\": {\"type\": \"circle\", \"diameter\": 0.1}, "
      "\"E\": 1e9, "
      "\"nu\": 0.3, \"rho\": 1000, \"length\": 1, \"direction\": [1, 0, 0], \"curvature\": [0, 0, %g]}}}";
  for (int i = 0; i < 2; i++) {
    model_case c;
    char text[400];
    snprintf(text, sizeof text, bent, i ? 4.2 : 4.0);
    model_case_open(&c, NULL, text);
    assert_int_equal(mbg_context_message_count(c.ctx), i);
    if (i) {
      assert_int_equal(mbg_context_message_severity(c.ctx, 0), MBG_WARNING);
      assert_non_null(strstr(mbg_context_message(c.ctx, 0),
                             "beam 'arm': each element turns by 2.1 rad; above 2 rad use more elements"));
    }
    model_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rotations),    cmocka_unit_test(test_all_elements), cmocka_unit_test(test_no_stress),
      cmocka_unit_test(test_formulations), cmocka_unit_test(test_messages),     cmocka_unit_test(test_turn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
