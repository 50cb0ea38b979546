/* Modes against printed numbers and closed forms: theory 4, section 12, R3 (b), rotating beams (tools/beam-limits),
   pendulums, oscillators, buckling, repeated and zero eigenvalues, freedoms without inertia; and what is refused. */
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_modes *modes;
} fixture;

#define OWN_SIZE .size = sizeof(mbg_modes_options)

static mbg_modes_options default_options(void) {
  mbg_modes_options o;
  mbg_modes_options_default(&o, sizeof(o));
  return o;
}

static int solve(fixture *f, mbg_modes_options opt, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int solve(fixture *f, mbg_modes_options opt, const char *format, ...) {
  char text[4000];
  va_list list;
  va_start(list, format);
  assert_true(vsnprintf(text, sizeof text, format, list) < (int)sizeof text);
  va_end(list);
  *f = (fixture){0};
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  if (mbg_model_parse(f->ctx, "model", text, strlen(text), NULL, &f->model) < 0) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
  return mbg_modes_create(f->ctx, f->model, &opt, &f->modes);
}

static void done(fixture *f) {
  mbg_modes_destroy(f->modes);
  mbg_model_destroy(f->model);
  mbg_context_destroy(f->ctx);
}

static void solved(const fixture *f, int result) {
  if (result < 0) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
}

static const mbg_mode *mode(const fixture *f, int i) {
  const mbg_mode *m = mbg_modes_get_mode(f->modes, i);
  assert_non_null(m);
  return m;
}

static double omega(const fixture *f, int i) { return 2 * pi * mode(f, i)->frequency; }

/* ---------------------------------------------------------------------- beams */

static const char cantilever[] = "{\"mbgrad\": 1, \"parameters\": {\"b\": 0.02, \"h\": %g}, \"beams\": {\"arm\": "
                                 "{\"elements\": %d, \"to\": [1, 0, 0], \"section\": "
                                 "{\"type\": \"rectangle\", \"width\": \"b\", \"height\": \"h\"}, \"E\": 2.1e11, "
                                 "\"nu\": 0.3, \"rho\": 7800}}, \"joints\": {\"clamp\": "
                                 "{\"type\": \"fixed\", \"between\": [\"ground\", \"arm.0\"]}}}";

/* theory 4, section 12, R3 (b): all digits given */
static void test_cantilever(void **state) {
  (void)state;
  static const double printed[3][2] = {{53.30537, 106.58497}, {52.82062, 105.61590}, {52.70071, 105.37618}};
  for (int i = 0; i < 3; i++) {
    fixture f;
    solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .count = 2}, cantilever, 0.01, 4 << i));
    assert_false(mbg_modes_get_summary(f.modes)->damped);
    for (int k = 0; k < 2; k++) {
      assert_close(omega(&f, k), printed[i][k], 0.5e-5 + 1e-9);
    }
    done(&f);
  }
}

/* Many elements go another way (no dense matrices). Frequencies are even in 1/n: those of 20 and 40 elements predict
   those of 80 to the next order, (7.9/20)^4/1000 = 2e-5 for the third; the section is square, so that each comes
   twice. */
static void test_many_elements(void **state) {
  (void)state;
  double w[3][6];
  for (int i = 0; i < 3; i++) {
    fixture f;
    solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .count = 6, .gradient = i == 2}, cantilever, 0.02, 20 << i));
    assert_string_equal(mbg_modes_get_summary(f.modes)->solver, i < 2 ? "dense" : "shift-invert");
    assert_int_equal(mbg_modes_get_summary(f.modes)->count, 6);
    for (int k = 0; k < 6; k++) {
      w[i][k] = omega(&f, k);
      assert_int_equal(mode(&f, k)->multiplicity, 2);
    }
    done(&f);
  }
  for (int k = 0; k < 6; k++) {
    const double limit = w[1][k] + (w[1][k] - w[0][k]) / 3, predicted = limit + (w[1][k] - limit) / 4;
    assert_close(w[2][k] / predicted, 1, 2e-5);
  }
}

/* frequencies of flapping of a rotating beam of Euler and Bernoulli, dimensionless: tools/beam-limits. Slenderness
   1/300, 40 elements: shear and rotary inertia 1e-4, mesh 1e-3 of the square. Along the plane of rotation omega^2 is
   less by the square of the speed. */
static void test_rotating(void **state) {
  (void)state;
  static const struct {
    double speed, flap;
  } printed[] = {{0, 3.5160}, {1, 3.6816}, {3, 4.7973}, {5, 6.4495}, {10, 11.2023}};
  const int n = support_rounds(24, 40);
  for (int i = 0; i < (int)(sizeof(printed) / sizeof(printed[0])); i++) {
    fixture f;
    const double W = printed[i].speed;
    solved(
        &f,
        solve(
            &f, (mbg_modes_options){OWN_SIZE, .at = MBG_MODES_STEADY, .count = 2},
            "{\"mbgrad\": 1, \"beams\": {\"blade\": {\"elements\": %d, \"to\": [1, 0, 0], \"section\": {\"type\": "
            "\"general\", \"A\": 1, \"I2\": 1e-5, \"I3\": 1e-5, \"Jt\": 2e-5}, \"E\": 1e5, \"nu\": 0.3, \"rho\": 1, "
            "\"angular_velocity\": [0, 0, %g]}}, \"joints\": {\"hub\": {\"type\": \"revolute\", \"between\": "
            "[\"ground\", \"blade.0\"], \"at\": [0, 0, 0], \"axis\": [0, 0, 1]}}, \"drivers\": {\"motor\": {\"joint\": "
            "\"hub\", \"law\": \"%g*t\"}}}",
            n, W, W));
    const double low = omega(&f, 0), high = omega(&f, 1);
    const double flap2 = printed[i].flap * printed[i].flap;
    assert_close(high * high / flap2, 1, 2e-3);
    assert_close((low * low + W * W) / flap2, 1, 2e-3);
    done(&f);
  }
}

/* ---------------------------------------------------------------------- flexible bodies: laws of similarity */

/* f by E, rho and a factor s of all lengths: f = sqrt(E/rho)/s times a number. Exact for every mode, whatever the mesh
   or the basis; rounding times the spread of the spectrum, 1e5 */
static void scales(const char *what, const char *text) {
  fixture f;
  solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .count = 6, .gradient = true}, "%s", text));
  assert_true(mbg_modes_get_summary(f.modes)->count >= 2);
  for (int i = 0; i < mbg_modes_get_summary(f.modes)->count; i++) {
    static const double powers[3] = {0.5, -0.5, -1};
    const double *d = mbg_modes_frequency_gradient(f.modes, i), w = mode(&f, i)->frequency;
    assert_int_equal(mode(&f, i)->kind, MBG_MODE_OSCILLATION);
    for (int k = 0; k < 3; k++) {
      const double p = mbg_model_parameter_value(f.model, k);
      if (!(fabs(p * d[k] / w - powers[k]) <= 1e-9)) {
        fail_msg("%s, mode %d: exponent %.12g instead of %g", what, i, p * d[k] / w, powers[k]);
      }
    }
  }
  done(&f);
}

static void test_similarity(void **state) {
  (void)state;
  static const char head[] = "{\"mbgrad\": 1, \"parameters\": {\"E\": 2.1e11, \"rho\": 7800, \"s\": 0.7}, ",
                    section[] = "\"section\": {\"type\": \"rectangle\", \"width\": \"0.02*s\", \"height\": {\"from\": "
                                "\"0.05*s\", \"to\": \"0.03*s\"}}, \"E\": \"E\", \"nu\": 0.3, \"rho\": \"rho\"",
                    clamp[] = "\"joints\": {\"clamp\": {\"type\": \"fixed\", \"between\": [\"ground\", \"arm%s\"]}}}";
  static const char *const kinds[] = {"\"boundary\": \"fixed-free\"",
                                      "\"boundary\": \"fixed-free\", \"theory\": \"euler-bernoulli\"",
                                      "\"boundary\": \"craig-bampton\""};
  char text[2000], joint[200];
  sprintf(joint, clamp, ".0");
  snprintf(text, sizeof text, "%s\"beams\": {\"arm\": {\"elements\": 5, \"to\": [\"s\", 0, 0], %s}}, %s", head, section,
           joint);
  scales("beam", text);
  sprintf(joint, clamp, "");
  for (int i = 0; i < 3; i++) {
    snprintf(text, sizeof text,
             "%s\"bodies\": {\"arm\": {\"type\": \"modal\", \"modes\": 8, \"beam\": {\"length\": \"s\", %s, %s}}}, %s",
             head, kinds[i], section, joint);
    scales(kinds[i], text);
  }
  /* matrices of a file: factors of stiffness, E s, and mass, rho s^3 */
  snprintf(text, sizeof text,
           "%s\"bodies\": {\"arm\": {\"type\": \"modal\", \"modes\": 2, \"files\": {\"mass\": "
           "\"%s/tests/errors/models/modal-mass.mtx\", \"stiffness\": \"%s/tests/errors/models/modal-stiffness.mtx\", "
           "\"nodes\": \"%s/tests/errors/models/modal-nodes.csv\", \"fixed\": [1], \"mass_factor\": "
           "\"1e-4*rho*s^3\", \"stiffness_factor\": \"1e-11*E*s\"}}}, \"joints\": {\"clamp\": {\"type\": \"fixed\", "
           "\"between\": [\"ground\", \"arm\"]}}}",
           head, MBG_SOURCE_DIR, MBG_SOURCE_DIR, MBG_SOURCE_DIR);
  scales("files", text);
}

/* The basis of a generated beam is that of the nominal parameters; first derivatives of frequencies do not know it
   (Rayleigh): they are those of beams whose basis is made anew. Central difference, 1e-4: truncation 1e-8 */
static void test_basis(void **state) {
  (void)state;
  static const char text[] =
      "{\"mbgrad\": 1, \"parameters\": {\"h\": %.17g}, \"bodies\": {\"arm\": {\"type\": \"modal\", \"motion\": "
      "\"planar\", \"modes\": 3, \"beam\": {\"length\": 1, \"section\": {\"type\": \"rectangle\", \"width\": 0.02, "
      "\"height\": {\"from\": \"h\", \"to\": 0.01}}, \"E\": 2e11, \"nu\": 0.3, \"rho\": 7800}}}, \"joints\": "
      "{\"clamp\": {\"type\": \"fixed\", \"between\": [\"ground\", \"arm\"]}}}";
  const double h = 0.04, eps = 1e-4 * h;
  double w[2][3], d[3];
  fixture f;
  for (int side = 0; side < 2; side++) {
    solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .count = 3}, text, h + (side ? eps : -eps)));
    for (int i = 0; i < 3; i++) {
      w[side][i] = mode(&f, i)->frequency;
    }
    done(&f);
  }
  solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .count = 3, .gradient = true}, text, h));
  for (int i = 0; i < 3; i++) {
    d[i] = mbg_modes_frequency_gradient(f.modes, i)[0];
    assert_close(d[i], (w[1][i] - w[0][i]) / (2 * eps), 1e-7 * fabs(d[i]));
  }
  done(&f);
}

/* ---------------------------------------------------------------------- equilibria that are far */

/* a mass on a spring, drawn as one point: it hangs 9.81 m below; f = sqrt(k/m)/(2 pi) */
static void test_no_extent(void **state) {
  (void)state;
  fixture f;
  solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .gradient = true},
                   "{\"mbgrad\": 1, \"parameters\": {\"k\": 10, \"m\": 10}, \"gravity\": [0, -9.81, 0], \"bodies\": "
                   "{\"mass\": {\"mass\": \"m\", \"inertia\": [1, 1, 1]}}, \"joints\": {\"guide\": {\"type\": "
                   "\"prismatic\", \"between\": [\"ground\", \"mass\"], \"at\": [0, 0, 0], \"axis\": [0, 1, 0]}}, "
                   "\"forces\": {\"spring\": {\"type\": \"spring-damper\", \"joint\": \"guide\", \"coordinate\": "
                   "\"slide\", \"stiffness\": \"k\"}}}"));
  assert_close(omega(&f, 0), 1, 1e-12);
  assert_close(mbg_modes_body_position(f.modes, 0)[1], -9.81, 1e-10);
  assert_close(mbg_modes_eigenvalue_gradient(f.modes, 0, 1)[0], 0.05, 1e-12);
  assert_close(mbg_modes_eigenvalue_gradient(f.modes, 0, 1)[1], -0.05, 1e-12);
  done(&f);
}

/* a chain of five rods that stands nearly upright, each a little askew: the equilibrium of such a guess is the hanging
   chain, not one of the 31 others, in which rods stand */
static void chain(char *text, size_t size, bool upright) {
  int n = snprintf(text, size, "{\"mbgrad\": 1, \"gravity\": [0, -9.81, 0], \"bodies\": {");
  for (int i = 0; i < 5; i++) {
    const double at = (upright ? 1 : -1) * (i + 0.5);
    n += snprintf(text + n, size - (size_t)n,
                  "%s\"r%d\": {\"mass\": 1, \"inertia\": [0.02, 0.02, 0.02], \"motion\": \"planar\", \"position\": "
                  "[%g, %g, 0]}",
                  i ? ", " : "", i, 0.05 * at, 0.4 * at);
  }
  n += snprintf(text + n, size - (size_t)n, "}, \"joints\": {");
  for (int i = 0; i < 5; i++) {
    char before[20] = "ground";
    if (i > 0) {
      snprintf(before, sizeof before, "r%d", i - 1);
    }
    n += snprintf(text + n, size - (size_t)n,
                  "%s\"j%d\": {\"type\": \"revolute\", \"between\": [\"%s\", \"r%d\"], \"at\": [%g, %g, 0], "
                  "\"axis\": [0, 0, 1]}",
                  i ? ", " : "", i, before, i, (upright ? 0.05 : -0.05) * i, (upright ? 0.4 : -0.4) * i);
  }
  snprintf(text + n, size - (size_t)n, "}}");
}

static void test_upright(void **state) {
  (void)state;
  char text[4000];
  double w[5];
  fixture f;
  for (int upright = 0; upright < 2; upright++) {
    chain(text, sizeof text, upright);
    solved(&f, solve(&f, default_options(), "%s", text));
    assert_int_equal(mbg_modes_get_summary(f.modes)->count, 5);
    for (int i = 0; i < 5; i++) {
      assert_int_equal(mode(&f, i)->kind, MBG_MODE_OSCILLATION);
      w[i] = upright ? w[i] : omega(&f, i);
      assert_close(omega(&f, i), w[i], 1e-10 * w[i]);
    }
    done(&f);
  }
}

/* a spring that is wound by 5 rad, beyond half a turn: k (angle - rest) + m g l cos(angle) = 0, J w^2 = k - m g l
   sin(angle) */
static void test_wound(void **state) {
  (void)state;
  const double k = 20, rest = 5, load = 9.81 * 0.5, J = 0.1 + 0.25;
  double angle = rest;
  fixture f;
  for (int i = 0; i < 30; i++) {
    angle -= (k * (angle - rest) + load * cos(angle)) / (k - load * sin(angle));
  }
  const double w = sqrt((k - load * sin(angle)) / J), turned = k / (k - load * sin(angle)); /* by rest */
  solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .gradient = true},
                   "{\"mbgrad\": 1, \"parameters\": {\"rest\": 5}, \"gravity\": [0, -9.81, 0], \"bodies\": {\"rod\": "
                   "{\"mass\": 1, \"inertia\": [0.1, 0.1, 0.1], \"motion\": \"planar\", \"position\": [0.5, 0, 0]}}, "
                   "\"joints\": {\"hinge\": {\"type\": \"revolute\", \"between\": [\"ground\", \"rod\"], \"at\": [0, "
                   "0, 0], \"axis\": [0, 0, 1]}}, \"forces\": {\"spring\": {\"type\": \"torsion-spring-damper\", "
                   "\"joint\": \"hinge\", \"coordinate\": \"angle\", \"stiffness\": 20, \"rest\": \"rest\"}}}"));
  assert_close(omega(&f, 0), w, 1e-11);
  assert_close(mbg_modes_eigenvalue_gradient(f.modes, 0, 1)[0], -load * cos(angle) * turned / (2 * J * w), 1e-10);
  done(&f);
}

/* a mass on a spring that may slide across it: an inclination of gravity would send it away, so that frequencies have
   no derivative by it; those by the others are of the equilibrium that does not slide */
static void test_sliding(void **state) {
  (void)state;
  fixture f;
  solved(
      &f,
      solve(&f, (mbg_modes_options){OWN_SIZE, .gradient = true},
            "{\"mbgrad\": 1, \"parameters\": {\"k\": 50, \"m\": 2, \"slope\": 0}, \"gravity\": [\"9.81*sin(slope)\", "
            "\"-9.81*cos(slope)\", 0], \"bodies\": {\"mass\": {\"mass\": \"m\", \"motion\": \"planar-point\"}}, "
            "\"forces\": {\"spring\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"mass\"], \"along\": "
            "\"y\", \"stiffness\": \"k\"}}}"));
  assert_int_equal(mbg_modes_get_summary(f.modes)->zero, 1);
  assert_int_equal(mode(&f, 0)->kind, MBG_MODE_ZERO);
  assert_null(mbg_modes_frequency_gradient(f.modes, 0));
  assert_close(omega(&f, 1), 5, 1e-12);
  const double *d = mbg_modes_eigenvalue_gradient(f.modes, 1, 1);
  assert_close(d[0], 0.05, 1e-12);
  assert_close(d[1], -1.25, 1e-11);
  assert_true(isnan(d[2]));
  done(&f);
}

/* A modal body that turns with its hub: a linear mode in the plane of rotation feels the centrifugal force, w^2 = w0^2
   - W^2, one along the axis does not */
static void test_turning_modes(void **state) {
  (void)state;
  for (int along = 0; along < 2; along++) {
    fixture f;
    const double W = 3, w0 = 7, w = along ? w0 : sqrt(w0 * w0 - W * W);
    solved(
        &f,
        solve(&f, (mbg_modes_options){OWN_SIZE, .at = MBG_MODES_STEADY, .gradient = true},
              "{\"mbgrad\": 1, \"parameters\": {\"W\": 3, \"k\": 98}, \"bodies\": {\"arm\": {\"type\": \"modal\", "
              "\"modes\": 1, \"angular_velocity\": [0, 0, \"W\"], \"invariants\": {\"I1\": 12, \"I2\": [0, 0, 0], "
              "\"I7\": [1, 1, 1, 0, 0, 0], \"I4\": [[0, 0, 0]], \"I5\": [[[0, 0, 0]]], \"I6\": [[2]], \"I8\": [[[0, 0, "
              "0], [0, 0, 0], [0, 0, 0]]], \"K\": [[\"k\"]], %s}}}, \"joints\": {\"axle\": {\"type\": \"revolute\", "
              "\"between\": [\"base\", \"hub\"]}}, \"markers\": {\"base\": {\"on\": \"ground\"}, \"hub\": {\"on\": "
              "\"arm\", \"node\": \"frame\"}}, \"drivers\": {\"motor\": {\"joint\": \"axle\", \"law\": \"W*t\"}}}",
              along ? "\"I3\": [[0, 0, 2]], \"I9\": [[[[2, 0, 0], [0, 2, 0], [0, 0, 0]]]]"
                    : "\"I3\": [[0, 2, 0]], \"I9\": [[[[2, 0, 0], [0, 0, 0], [0, 0, 2]]]]"));
    assert_int_equal(mbg_modes_get_summary(f.modes)->count, 1);
    assert_close(mode(&f, 0)->im, w, 1e-10);
    const double *d = mbg_modes_eigenvalue_gradient(f.modes, 0, 1);
    assert_close(d[0], along ? 0 : -W / w, 1e-10);
    assert_close(d[1], 1 / (2 * 2 * w), 1e-10);
    done(&f);
  }
}

/* ---------------------------------------------------------------------- closed forms */

/* a pendulum, its derivatives by length (the equilibrium moves with it) and gravity; upside down it falls over at the
   same rate */
static void test_pendulum(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    fixture f;
    const double l = 0.7, g = 9.81, w = sqrt(g / l);
    solved(&f,
           solve(&f, (mbg_modes_options){OWN_SIZE, .gradient = true},
                 "{\"mbgrad\": 1, \"parameters\": {\"l\": %g, \"g\": %g}, \"gravity\": [0, \"-g\", 0], \"bodies\": "
                 "{\"bob\": "
                 "{\"motion\": \"planar-point\", \"mass\": 2, \"position\": [0, \"%s*l\", 0]}}, \"joints\": {\"rod\": "
                 "{\"type\": \"distance\", \"between\": [\"ground\", \"bob\"], \"length\": \"l\"}}}",
                 l, g, i ? "1" : "-1"));
    assert_int_equal(mbg_modes_get_summary(f.modes)->count, 1);
    assert_int_equal(mode(&f, 0)->kind, i ? MBG_MODE_UNSTABLE : MBG_MODE_OSCILLATION);
    assert_close(i ? mode(&f, 0)->re : mode(&f, 0)->im, w, 1e-12);
    const double *d = mbg_modes_eigenvalue_gradient(f.modes, 0, i ? 0 : 1);
    assert_close(d[0], -w / (2 * l), 1e-10);
    assert_close(d[1], w / (2 * g), 1e-10);
    done(&f);
  }
}

static const char oscillator[] =
    "{\"mbgrad\": 1, \"parameters\": {\"m\": 2, \"c\": %g, \"k\": 50}, \"gravity\": [0, 0, "
    "-9.81], \"bodies\": {\"mass\": "
    "{\"mass\": \"m\", \"inertia\": [1, 1, 1], \"position\": [0, 0, 1]}}, \"joints\": {\"guide\": {\"type\": "
    "\"prismatic\", \"between\": [\"ground\", "
    "\"mass\"], \"at\": [0, 0, 0], \"axis\": [0, 0, 1]}}, \"forces\": {\"spring\": "
    "{\"type\": \"spring-damper\", \"joint\": "
    "\"guide\", \"coordinate\": \"slide\", \"stiffness\": \"k\", \"damping\": \"c\"}}}";

/* m u'' + c u' + k u = 0: below and above critical damping; without damping when asked */
static void test_oscillator(void **state) {
  (void)state;
  fixture f;
  solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .gradient = true}, oscillator, 1.2));
  assert_true(mbg_modes_get_summary(f.modes)->damped);
  assert_close(mode(&f, 0)->frequency, 5 / (2 * pi), 1e-13);
  assert_close(mode(&f, 0)->damping, 1.2 / 20, 1e-13);
  /* |s| = sqrt(k/m), ratio c/(2 sqrt(k m)) */
  const double *df = mbg_modes_frequency_gradient(f.modes, 0), *dz = mbg_modes_damping_gradient(f.modes, 0);
  assert_close(df[0], -5 / (4 * 2 * pi), 1e-11);
  assert_close(df[1], 0, 1e-13);
  assert_close(df[2], 5 / (2 * 50 * 2 * pi), 1e-11);
  assert_close(dz[0], -0.06 / 4, 1e-11);
  assert_close(dz[1], 1.0 / 20, 1e-11);
  assert_close(dz[2], -0.06 / 100, 1e-11);
  done(&f);
  solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .undamped = true}, oscillator, 1.2));
  assert_false(mbg_modes_get_summary(f.modes)->damped);
  assert_close(omega(&f, 0), 5, 1e-13);
  done(&f);
  /* s = -6.25 +- 3.75 */
  solved(&f, solve(&f, default_options(), oscillator, 25.0));
  assert_int_equal(mbg_modes_get_summary(f.modes)->count, 2);
  assert_int_equal(mode(&f, 0)->kind, MBG_MODE_DECAY);
  assert_close(mode(&f, 0)->re, -2.5, 1e-12);
  assert_close(mode(&f, 1)->re, -10, 1e-12);
  done(&f);
}

static const char plate[] =
    "{\"mbgrad\": 1, \"parameters\": {\"k\": 100, \"Jx\": 0.5, \"Jy\": 0.5}, \"bodies\": {\"plate\": {\"mass\": 4, "
    "\"inertia\": [\"Jx\", "
    "\"Jy\", 1]}}, \"markers\": {\"a\": {\"on\": \"plate\", \"at\": [1, 1, 0]}, \"b\": {\"on\": \"plate\", \"at\": "
    "[-1, 1, 0]}, \"c\": "
    "{\"on\": \"plate\", \"at\": [-1, -1, 0]}, \"d\": {\"on\": \"plate\", \"at\": [1, -1, 0]}}, \"forces\": {\"fa\": "
    "{\"type\": "
    "\"spring-damper\", \"between\": [\"ground\", \"a\"], \"along\": \"z\", \"stiffness\": \"k\"}, \"fb\": "
    "{\"type\": "
    "\"spring-damper\", \"between\": [\"ground\", \"b\"], \"along\": \"z\", \"stiffness\": \"k\"}, \"fc\": "
    "{\"type\": "
    "\"spring-damper\", \"between\": [\"ground\", \"c\"], \"along\": \"z\", \"stiffness\": \"k\"}, \"fd\": "
    "{\"type\": "
    "\"spring-damper\", \"between\": [\"ground\", \"d\"], \"along\": \"z\", \"stiffness\": \"k\"}}}";

static void check_hessian(const double *H, const double want[3][3], double size) {
  for (int i = 0; i < 9; i++) {
    assert_true(fabs(H[i] - want[i / 3][i % 3]) <= 1e-9 * size);
  }
}

/* f = sqrt(k/m)/(2 pi) and ratio c/(2 sqrt(k m)), twice; 1e-9: the accuracy that mbg_modes_hessian promises */
static void test_second_derivatives(void **state) {
  (void)state;
  fixture f;
  const double m = 2, c = 1.2, k = 50, w = sqrt(k / m) / (2 * pi), z = c / (2 * sqrt(k * m));
  const double frequency[3][3] = {
      {0.75 * w / (m * m), 0, -0.25 * w / (m * k)}, {0, 0, 0}, {-0.25 * w / (m * k), 0, -0.25 * w / (k * k)}};
  const double damping[3][3] = {{0.75 * z / (m * m), -0.5 * z / (m * c), 0.25 * z / (m * k)},
                                {-0.5 * z / (m * c), 0, -0.5 * z / (c * k)},
                                {0.25 * z / (m * k), -0.5 * z / (c * k), 0.75 * z / (k * k)}};
  const int parameters[] = {0, 1, 2}, wrong[] = {3};
  const mbg_modes_options o = {OWN_SIZE, .gradient = true};
  double H[2][9], asymmetry = 1;
  solved(&f, solve(&f, o, oscillator, c));
  solved(&f, mbg_modes_hessian(f.ctx, f.modes, &o, 3, parameters, H[0], H[1], &asymmetry));
  check_hessian(H[0], frequency, 1);
  check_hessian(H[1], damping, 1);
  assert_true(asymmetry <= 1e-9);
  /* one of them, of some parameters */
  double one;
  solved(&f, mbg_modes_hessian(f.ctx, f.modes, NULL, 1, parameters + 2, NULL, &one, NULL));
  assert_close(one, damping[2][2], 1e-7);
  assert_int_equal(mbg_modes_hessian(f.ctx, f.modes, &o, 1, wrong, H[0], NULL, NULL), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(f.ctx), "there is no parameter 3: expected 0 to 2"));
  done(&f);
  solved(&f, solve(&f, default_options(), oscillator, c));
  assert_int_equal(mbg_modes_hessian(f.ctx, f.modes, &o, 3, parameters, H[0], H[1], NULL), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(f.ctx), "second derivatives need modes with gradients"));
  done(&f);
  /* two equal modes have none, nor have zero modes; heave, f = sqrt(4 k/4)/(2 pi), has them */
  double F[6][9];
  solved(&f, solve(&f, o, "%s", plate));
  solved(&f, mbg_modes_hessian(f.ctx, f.modes, &o, 3, parameters, F[0], NULL, NULL));
  for (int i = 0; i < 6; i++) {
    assert_true(isnan(F[i][0]) == (i != 3));
  }
  assert_close(F[3][0], -0.25 * 10 / (2 * pi) / 1e4, 1e-7);
  done(&f);
}

/* A square plate on four equal springs: two equal rocking modes, which the inertia of one axis alone splits; moving
   along the plane costs nothing: three zero modes. One corner mass less body: a freedom without inertia follows the
   others. */
static void test_repeated(void **state) {
  (void)state;
  fixture f;
  solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .gradient = true}, "%s", plate));
  assert_int_equal(mbg_modes_get_summary(f.modes)->freedoms, 6);
  assert_int_equal(mbg_modes_get_summary(f.modes)->zero, 3);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(mode(&f, i)->kind, MBG_MODE_ZERO);
    assert_null(mbg_modes_frequency_gradient(f.modes, i));
  }
  /* heave 4 k/m; rocking 4 k/J twice, and each inertia moves one of the two */
  assert_close(omega(&f, 3), 10, 1e-12);
  const double w = sqrt(4 * 100 / 0.5), dw = -w / (2 * 0.5);
  for (int i = 4; i < 6; i++) {
    assert_close(omega(&f, i), w, 1e-12);
    assert_int_equal(mode(&f, i)->multiplicity, 2);
    const double *d = mbg_modes_eigenvalue_gradient(f.modes, i, 1);
    assert_close(d[0], w / 200, 1e-11);
    for (int p = 1; p < 3; p++) {
      assert_true(fabs(d[p] - (i == 4 ? dw : 0)) < 1e-9);
    }
  }
  done(&f);
}

/* two masses on springs in a row, the middle one without mass: springs in series */
static void test_massless(void **state) {
  (void)state;
  fixture f;
  solved(
      &f,
      solve(
          &f, default_options(),
          "{\"mbgrad\": 1, \"bodies\": {\"middle\": {\"motion\": \"point\", \"mass\": 0, \"position\": [1, 0, 0]}, "
          "\"end\": "
          "{\"motion\": \"point\", \"mass\": 2, \"position\": [2, 0, 0]}}, \"joints\": {\"g1\": {\"type\": "
          "\"point-on-line\", \"between\": [\"ground\", \"middle\"], \"at\": [1, 0, 0], \"axis\": [1, 0, 0]}, \"g2\": "
          "{\"type\": "
          "\"point-on-line\", \"between\": [\"ground\", \"end\"], \"at\": [2, 0, 0], \"axis\": [1, 0, 0]}}, "
          "\"forces\": "
          "{\"s1\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"middle\"], \"along\": \"distance\", "
          "\"stiffness\": 30, \"rest\": 1}, \"s2\": {\"type\": \"spring-damper\", \"between\": [\"middle\", \"end\"], "
          "\"along\": \"distance\", \"stiffness\": 60, \"rest\": 1}}}"));
  assert_int_equal(mbg_modes_get_summary(f.modes)->massless, 1);
  assert_int_equal(mbg_modes_get_summary(f.modes)->count, 1);
  assert_close(omega(&f, 0), sqrt(20 / 2.0), 1e-12);
  done(&f);
}

/* Euler's column, clamped and free: the lowest frequency falls to 0 at pi^2 EI/(4 L^2) and the column is unstable
   above. 16 elements: the load is met to 1/(12 n^2) pi^2/4 = 8e-4. */
static void test_buckling(void **state) {
  (void)state;
  const double EI = 1e4 * 1e-4 / 12, critical = pi * pi * EI / 4;
  for (int i = 0; i < 2; i++) {
    fixture f;
    solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .count = 3},
                     "{\"mbgrad\": 1, \"beams\": {\"arm\": {\"elements\": 16, \"to\": [1, 0, 0], \"section\": "
                     "{\"type\": \"general\", "
                     "\"A\": 100, \"I2\": %.17g, \"I3\": 1, \"Jt\": 1}, \"E\": 1e4, \"nu\": 0.3, \"rho\": 1}}, "
                     "\"joints\": {\"clamp\": "
                     "{\"type\": \"fixed\", \"between\": [\"ground\", \"arm.0\"]}}, \"forces\": {\"load\": {\"type\": "
                     "\"force\", "
                     "\"on\": \"arm.16\", \"force\": [%.17g, 0, 0]}}}",
                     1e-4 / 12, -critical * (i ? 1.003 : 0.997)));
    assert_int_equal(mbg_modes_get_summary(f.modes)->unstable, i);
    assert_int_equal(mode(&f, 0)->kind, i ? MBG_MODE_UNSTABLE : MBG_MODE_OSCILLATION);
    done(&f);
  }
}

/* shapes: a massless rod with two equal masses hinged at one end turns; displacement and rotation fit */
static void test_shape(void **state) {
  (void)state;
  fixture f;
  solved(
      &f,
      solve(&f, default_options(),
            "{\"mbgrad\": 1, \"gravity\": [0, -9.81, 0], \"bodies\": {\"arm\": {\"motion\": \"planar\", \"mass\": 1, "
            "\"inertia\": 0.1, \"position\": [0, -2, 0]}}, \"joints\": {\"pin\": {\"type\": \"revolute\", \"between\": "
            "[\"ground\", \"arm\"], \"at\": [0, 0, 0], \"axis\": [0, 0, 1]}}}"));
  const double *x = mbg_modes_shape(f.modes, 0, 0);
  assert_close(fabs(x[0]), 2 * fabs(x[5]), 1e-12);
  assert_true(x[0] * x[5] > 0 && mbg_modes_shape(f.modes, 0, 1) == NULL);
  /* the pin does not move, the mass does */
  double out[3];
  mbg_modes_displace(f.modes, 0, 1, 0, 0, (const double[]){0, 0, 0}, out);
  assert_true(fabs(out[0]) < 1e-12 && fabs(out[1]) < 1e-12);
  assert_close(omega(&f, 0), sqrt(9.81 * 2 / 4.1), 1e-12);
  assert_int_equal(mode(&f, 0)->body, 0);
  assert_true(mbg_modes_get_line(f.modes, 0) && !mbg_modes_get_line(f.modes, 1000) && !mbg_modes_get_mode(f.modes, 5));
  done(&f);
}

/* ---------------------------------------------------------------------- refusals */

static void says(fixture *f, int result, int expected, const char *text) {
  assert_int_equal(result, expected);
  if (!strstr(mbg_context_error(f->ctx), text)) {
    fail_msg("'%s' is not in '%s'", text, mbg_context_error(f->ctx));
  }
  done(f);
}

static void test_messages(void **state) {
  (void)state;
  static const char falling[] =
      "{\"mbgrad\": 1, \"gravity\": [0, 0, -9.81], \"bodies\": {\"stone\": {\"mass\": 1, \"inertia\": [1, 1, 1]}}}";
  static const char turning[] =
      "{\"mbgrad\": 1, \"gravity\": [%g, 0, 0], \"bodies\": {\"rotor\": {\"mass\": 1, \"com\": [0.1, 0, 0], "
      "\"inertia\": [1, 1, 1], "
      "\"angular_velocity\": [0, 0, 2]}}, \"joints\": {\"axle\": {\"type\": \"revolute\", \"between\": [\"ground\", "
      "\"rotor\"], "
      "\"at\": [0, 0, 0], \"axis\": [0, 0, 1]}}, \"drivers\": {\"motor\": {\"joint\": \"axle\", \"law\": \"2*t%s\"}}}";
  fixture f;
  says(&f, solve(&f, default_options(), "%s", falling), MBG_ERROR_CONVERGENCE,
       "no static equilibrium was found: body 'stone' moves along (0, 0, -1), pushed by 9.81 N, and nothing stops it; "
       "support the mechanism");
  says(&f,
       solve(&f, default_options(),
             "{\"mbgrad\": 1, \"bodies\": {\"wheel\": {\"mass\": 1, \"inertia\": [1, 1, 1]}}, \"joints\": {\"axle\": "
             "{\"type\": \"revolute\", \"between\": [\"ground\", \"wheel\"], \"at\": [0, 0, 0], \"axis\": [0, 0, 1]}}, "
             "\"forces\": {\"motor\": {\"type\": \"actuator\", \"joint\": \"axle\", \"coordinate\": \"angle\", "
             "\"force\": -5}}}"),
       MBG_ERROR_CONVERGENCE,
       "no static equilibrium was found: body 'wheel' turns about (0, 0, -1), pushed by 5 N m, and nothing stops it");
  says(&f,
       solve(&f, default_options(),
             "{\"mbgrad\": 1, \"bodies\": {\"bob\": {\"mass\": 1, \"motion\": \"point\", \"position\": [1, 0.2, 0]}}, "
             "\"forces\": {\"pull\": {\"type\": \"actuator\", \"between\": [\"ground\", \"bob\"], \"along\": "
             "\"distance\", \"force\": -5}}}"),
       MBG_ERROR_CONVERGENCE,
       "pushed by 5 N, to a point where a force has no direction (a spring of length 0, a polar angle at its centre)");
  says(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .count = -1}, "%s", falling), MBG_ERROR_INPUT,
       "the number of modes must not be negative, is -1");
  says(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .at = (mbg_modes_at)7}, "%s", falling), MBG_ERROR_INPUT,
       "modes are computed about the equilibrium");
  says(&f,
       solve(&f, (mbg_modes_options){OWN_SIZE, .at = MBG_MODES_STEADY},
             "{\"mbgrad\": 1, \"bodies\": {\"a\": {\"mass\": 1, \"inertia\": [1, 1, 1], \"velocity\": [1, 0, 0]}, "
             "\"b\": {\"mass\": 1, "
             "\"inertia\": [1, 1, 1]}}}"),
       MBG_ERROR_INPUT, "no steady motion: at the start body 'b' does not move with body 'a' as one rigid body");
  says(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .at = MBG_MODES_STEADY}, turning, 0.0, " + t^2"), MBG_ERROR_INPUT,
       "no steady motion: driver 'motor' does not hold when the mechanism has moved on");
  says(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .at = MBG_MODES_START, .undamped = true}, turning, 0.0, ""),
       MBG_ERROR_INPUT, "damping cannot be left out about a motion");
  says(&f,
       solve(&f, default_options(),
             "{\"mbgrad\": 1, \"bodies\": {\"ghost\": {\"motion\": \"point\", \"mass\": 0}, \"mass\": {\"motion\": "
             "\"point\", \"mass\": 1}}, "
             "\"forces\": {\"s\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"mass\"], \"along\": \"x\", "
             "\"stiffness\": 5}}}"),
       MBG_ERROR_SINGULAR, "a freedom has neither inertia nor stiffness");
}

/* a driven rotor has no freedom left: no modes, no error */
static void test_none(void **state) {
  (void)state;
  fixture f;
  solved(&f, solve(&f, (mbg_modes_options){OWN_SIZE, .gradient = true},
                   "{\"mbgrad\": 1, \"bodies\": {\"rotor\": {\"mass\": 1, \"inertia\": [1, 1, 1]}}, \"joints\": "
                   "{\"weld\": {\"type\": "
                   "\"fixed\", \"between\": [\"ground\", \"rotor\"]}}}"));
  assert_int_equal(mbg_modes_get_summary(f.modes)->count, 0);
  assert_int_equal(mbg_modes_get_summary(f.modes)->freedoms, 0);
  done(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cantilever), cmocka_unit_test(test_many_elements),
      cmocka_unit_test(test_rotating),   cmocka_unit_test(test_similarity),
      cmocka_unit_test(test_basis),      cmocka_unit_test(test_no_extent),
      cmocka_unit_test(test_upright),    cmocka_unit_test(test_wound),
      cmocka_unit_test(test_sliding),    cmocka_unit_test(test_turning_modes),
      cmocka_unit_test(test_pendulum),   cmocka_unit_test(test_oscillator),
      cmocka_unit_test(test_repeated),   cmocka_unit_test(test_massless),
      cmocka_unit_test(test_buckling),   cmocka_unit_test(test_second_derivatives),
      cmocka_unit_test(test_shape),      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
