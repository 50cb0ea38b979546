/* The assembled start has exact derivatives, forwards and backwards: drivers with parameters in their time law, pins of
   coordinates and signals, guesses, lengths and markers that depend on parameters, redundant rows, static equilibrium.
   Against complex step of the whole assembler, attributes a = A(p) included.

   Tolerance 1e-9 of the larger of the derivative and 1: the assembler stops at steps of 1e-13 of the model's size, and
   its system is solved with condition numbers up to 1e4. The transpose is compared to 1e-11: only rounding is left. */
#include "start/start_internal.h"
#include "support/model_case.h"
#include "support/random_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double tol = 1e-9, transpose_tol = 1e-11;
static double worst, worst_transpose;
static char label[80]; /* of the model at hand */

/* ---------------------------------------------------------------------- one model */

typedef struct {
  model_case c;
  support_rng rng;
  mbg__start_work *start;
  double *dp, *da, *w, *v, *exact_w, *exact_v, *gw, *gv, *ga;
  double _Complex *p, *H, *z, *lambda;
} fixture;

static double _Complex *complex_array(fixture *f, int n) {
  double _Complex *z = mbg__arena_take(&f->c.arena, (size_t)n + 1, sizeof *z);
  assert_non_null(z);
  return z;
}

static void make(fixture *f) {
  model_case *c = &f->c;
  const mbg_model *m = c->m;
  f->dp = model_case_array(c, m->np);
  f->da = model_case_array(c, m->na);
  f->ga = model_case_array(c, m->na);
  double **velocities[] = {&f->w, &f->v, &f->exact_w, &f->exact_v, &f->gw, &f->gv};
  for (int k = 0; k < MBG_COUNT(velocities); k++) {
    *velocities[k] = model_case_array(c, m->nw);
  }
  f->p = complex_array(f, m->np);
  f->H = complex_array(f, 12 * m->nbody);
  f->z = complex_array(f, m->nw);
  f->lambda = complex_array(f, m->nrow);
}

static bool solve(fixture *f) {
  assert_int_equal(mbg__start_create(f->c.ctx, f->c.sys, &f->start), MBG_OK);
  return mbg__start_solve(f->c.ctx, f->start, true) == MBG_OK;
}

/* w = (H^-1 dH)^vee of a complex frame */
static void variation(const double _Complex H[12], double w[6]) {
  double R[9], dR[9], dx[3], S[9];
  for (int i = 0; i < 9; i++) {
    R[i] = creal(H[i]);
    dR[i] = twin_derivative(H[i]);
  }
  for (int i = 0; i < 3; i++) {
    dx[i] = twin_derivative(H[9 + i]);
  }
  m3_mulv_T(w, R, dx);
  m3_mul_TN(S, R, dR);
  w[3] = S[7];
  w[4] = S[2];
  w[5] = S[3];
}

/* derivative of the start by the twin, in direction dp of the parameters or (vary) da of the attributes */
static void twin_start(fixture *f, bool vary) {
  const mbg_model *m = f->c.m;
  for (int i = 0; i < m->np; i++) {
    f->p[i] = twin_step(f->c.p[i], vary ? 0 : f->dp[i]);
  }
  assert_int_equal(twin_system_design(f->c.twin, f->p), 0);
  if (vary) {
    assert_int_equal(twin_system_vary(f->c.twin, f->da), 0);
  }
  if (twin_system_start(f->c.twin, f->H, f->z, f->lambda) < 0) {
    fail_msg("%s, twin: %s", label, twin_system_message(f->c.twin));
  }
  for (int b = 0; b < m->nbody; b++) {
    variation(f->H + 12 * b, f->exact_w + m->bodies[b].voff);
  }
  for (int i = 0; i < m->nw; i++) {
    f->exact_v[i] = twin_derivative(f->z[i]);
  }
}

static double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

static void compare(const fixture *f, const char *what, const char *direction, const double *a, const double *b) {
  const double scale = fmax(largest(f->c.m->nw, b), 1);
  for (int i = 0; i < f->c.m->nw; i++) {
    const double deviation = fabs(a[i] - b[i]) / scale;
    worst = deviation <= worst ? worst : deviation;
    if (!(deviation <= tol)) {
      fail_msg("%s: %s by %s, component %d: %.15g, exact %.15g", label, what, direction, i, a[i], b[i]);
    }
  }
}

/* same start, same derivative; false when the direction breaks a redundant assembly */
static bool check_direction(fixture *f, const char *direction, bool vary) {
  const mbg__start_result *r = mbg__start_result_of(f->start);
  if (mbg__start_push(f->c.ctx, f->start, f->da, f->w, f->v) < 0) {
    assert_true(r->rank->ndropped > 0);
    return false;
  }
  twin_start(f, vary);
  for (int b = 0; b < f->c.m->nbody; b++) {
    for (int i = 0; i < 12; i++) {
      assert_close(creal(f->H[12 * b + i]), i < 9 ? r->H[b].R[i] : r->H[b].x[i - 9], 1e-11);
    }
  }
  compare(f, "frames", direction, f->w, f->exact_w);
  compare(f, "rates", direction, f->v, f->exact_v);
  return true;
}

/* gw.w + gv.v = ga.da; frames may vary outside the motions of their bodies, twists do not. all: da is any direction,
   not that of a parameter. */
static void check_transpose(fixture *f, bool all) {
  const mbg_model *m = f->c.m;
  double forward = 0, backward = 0, scale = 1;
  mbg__system_want(f->c.sys, all);
  support_normals(&f->rng, f->gw, m->nw);
  model_case_random_velocity(&f->c, &f->rng, f->gv);
  memset(f->ga, 0, (size_t)m->na * sizeof(double));
  assert_int_equal(mbg__start_pull(f->c.ctx, f->start, f->gw, f->gv, f->ga), MBG_OK);
  mbg__system_want(f->c.sys, true);
  for (int i = 0; i < m->nw; i++) {
    forward += f->gw[i] * f->w[i] + f->gv[i] * f->v[i];
    scale += fabs(f->gw[i] * f->w[i]) + fabs(f->gv[i] * f->v[i]);
  }
  for (int i = 0; i < m->na; i++) {
    backward += f->ga[i] * f->da[i];
    scale += fabs(f->ga[i] * f->da[i]);
  }
  const double deviation = fabs(forward - backward) / scale;
  worst_transpose = deviation <= worst_transpose ? worst_transpose : deviation;
  if (!(deviation <= transpose_tol)) {
    fail_msg("%s: transpose of the start: %.15g forward, %.15g backward", label, forward, backward);
  }
}

/* Every parameter, and a random direction of all attributes. Returns how many directions break the assembly. */
static int check_derivatives(fixture *f, int most) {
  const mbg_model *m = f->c.m;
  char name[40];
  int broken = 0;
  for (int k = 0; k < m->np; k++) {
    if (m->np > most && support_index(&f->rng, m->np) >= most) {
      continue;
    }
    memset(f->dp, 0, (size_t)m->np * sizeof(double));
    f->dp[k] = 1;
    mbg__design_push(f->c.design, f->dp, f->da);
    snprintf(name, sizeof name, "parameter %d", k);
    const bool smooth = check_direction(f, name, false);
    broken += !smooth;
    if (smooth) {
      check_transpose(f, false);
    }
  }
  if (broken == 0 && mbg__start_result_of(f->start)->rank->ndropped == 0) {
    support_normals(&f->rng, f->da, m->na);
    check_direction(f, "all attributes", true);
    check_transpose(f, true);
  }
  return broken;
}

static void open_case(fixture *f, const char *file, const char *text, uint64_t seed) {
  *f = (fixture){.rng = support_rng_make(seed)};
  model_case_open(&f->c, file, text);
  make(f);
}

static void close_case(fixture *f) {
  mbg__start_destroy(f->start);
  model_case_close(&f->c);
}

/* ---------------------------------------------------------------------- random models */

/* no forces: they have no part in the start */
static void test_random(void **state) {
  (void)state;
  const int rounds = support_rounds(50, 200);
  int solved = 0;
  for (int i = 0; i < rounds; i++) {
    fixture f;
    random_model_options opt = random_model_mix((uint64_t)i);
    opt.forces = false;
    snprintf(label, sizeof label, "seed %d", i);
    char *text = random_model((uint64_t)i, &opt);
    open_case(&f, NULL, text, (uint64_t)i);
    if (solve(&f)) {
      solved++;
      check_derivatives(&f, support_rounds(6, 1000));
    }
    close_case(&f);
    free(text);
  }
  /* a few pins or drivers may ask for more than the mechanism can do */
  assert_true(solved >= 0.95 * rounds);
}

static void test_parts(void **state) {
  (void)state;
  char folder[] = "/tmp/mbgrad-start-XXXXXX", path[64];
  const int rounds = support_rounds(8, 60);
  int solved = 0;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/model.json", folder);
  for (int i = 0; i < rounds; i++) {
    fixture f;
    random_model_options opt = random_model_mix((uint64_t)i);
    opt.forces = false;
    opt.folder = folder;
    snprintf(label, sizeof label, "parts, seed %d", i);
    free(random_model((uint64_t)i, &opt));
    open_case(&f, path, NULL, (uint64_t)i);
    if (solve(&f)) {
      solved++;
      check_derivatives(&f, support_rounds(6, 1000));
    }
    close_case(&f);
  }
  for (int k = 0; k < 2; k++) {
    snprintf(path, sizeof path, "%s/%s.json", folder, k ? "part" : "model");
    remove(path);
  }
  rmdir(folder);
  assert_true(solved >= 0.9 * rounds);
}

/* ---------------------------------------------------------------------- written by hand */

/* where all parameters move the start as they move the guess */
static const char follower[] = "rods, the guess follows";

/* text with ' for "; redundant rows and directions that break the assembly are known */
typedef struct {
  const char *name;
  int redundant, broken;
  const char *text;
} hand;

#define FOUR_BAR                                                                                                       \
  "'constants': {'q1': 1, 'q2': -0.55, 'q3': -1.99, 'xB': 'L1*cos(q1)', 'yB': 'L1*sin(q1)',"                           \
  "  'xC': 'xB + L2*cos(q1 + q2)', 'yC': 'yB + L2*sin(q1 + q2)'},"                                                     \
  "'bodies': {"                                                                                                        \
  "  'crank': {'mass': 1, 'com': [0.1, 0, 0], 'inertia': [0.1, 0.1, 0.1], 'rotate': [['z', 'q1 + tilt']]},"            \
  "  'coupler': {'mass': 1, 'com': [0.3, 0, 0], 'inertia': [0.1, 0.1, 0.1], 'position': ['xB', 'yB', 'tilt'],"         \
  "    'rotate': [['z', 'q1 + q2']], 'velocity': ['0.3*tilt', 0.2, 0.1], 'angular_velocity': [0.1, 'tilt', 0.3]},"     \
  "  'rocker': {'mass': 1, 'inertia': [0.1, 0.1, 0.1], 'position': ['xC', 'yC', 0],"                                   \
  "    'rotate': [['z', 'q1 + q2 + q3'], ['x', 'tilt']]}},"                                                            \
  "'joints': {"                                                                                                        \
  "  'A': {'type': 'revolute', 'between': ['ground', 'crank'], 'points': [[0, 0, 0], [0, 0, 0]],"                      \
  "    'axes': [[0, 0, 1], [0, 0, 1]]},"                                                                               \
  "  'B': {'type': 'revolute', 'between': ['crank', 'coupler'], 'points': [['L1', 0, 0], [0, 0, 0]],"                  \
  "    'axes': [[0, 0, 1], [0, 0, 1]]},"                                                                               \
  "  'C': {'type': 'revolute', 'between': ['coupler', 'rocker'], 'points': [['L2', 0, 0], [0, 0, 0]],"                 \
  "    'axes': [[0, 0, 1], [0, 0, 1]]},"                                                                               \
  "  'D': {'type': 'revolute', 'between': ['rocker', 'ground'], 'points': [['L3', 0, 0], ['base', 0, 0]],"             \
  "    'axes': [[0, 0, 1], [0, 0, 1]]}}"

#define FOUR_BAR_PARAMETERS "'L1': 0.3, 'L2': 0.8, 'L3': 0.6, 'base': 0.9, 'tilt': 0.05"

/* rods whose guesses follow all parameters, if the pin of the second one is at the end of the first */
#define RODS(end)                                                                                                      \
  "'bodies': {'one': {'motion': 'planar', 'mass': 'm', 'inertia': 0.2, 'rotate': [['z', 'q']],"                        \
  "    'angular_velocity': [0, 0, 'om']},"                                                                             \
  "  'two': {'motion': 'planar', 'mass': 2, 'inertia': 0.1, 'position': ['a*cos(q)', 'a*sin(q)', 0],"                  \
  "    'rotate': [['z', 'b']], 'velocity': ['-a*om*sin(q)', 'a*om*cos(q)', 0]}},"                                      \
  "'joints': {"                                                                                                        \
  "  'A': {'type': 'revolute', 'between': ['ground', 'one'], 'points': [[0, 0, 0], [0, 0, 0]]},"                       \
  "  'B': {'type': 'revolute', 'between': ['one', 'two'], 'points': [[" end ", 0, 0], [0, 0, 0]]}}"

#define ROD_PARAMETERS "'a': 0.7, 'b': 0.3, 'q': 0, 'om': 2, 'm': 1.5"

static const hand cases[] = {
    {"four-bar of spatial bodies, nothing pinned", 3, 0,
     "{'mbgrad': 1, 'parameters': {" FOUR_BAR_PARAMETERS "}, " FOUR_BAR "}"},
    {"four-bar of spatial bodies, driven", 3, 0,
     "{'mbgrad': 1, 'parameters': {" FOUR_BAR_PARAMETERS ", 'a': 0.3, 'om': 2, 'ph': 0.4}, " FOUR_BAR
     ", 'drivers': {'m': {'joint': 'A', 'law': '1 + a*sin(om*t + ph)'}}, 'run': {'start': 0.7, 'end': 1}}"},
    {"four-bar of spatial bodies, pinned", 3, 0,
     "{'mbgrad': 1, 'parameters': {" FOUR_BAR_PARAMETERS ", 'q0': 1.1, 'w0': 0.7}, " FOUR_BAR
     ", 'initial': {'pin': {'p': {'joint': 'A', 'value': 'q0', 'rate': 'w0*q0'}}}}"},
    {"four-bar of spatial bodies, pinned by signals", 3, 0,
     "{'mbgrad': 1, 'parameters': {" FOUR_BAR_PARAMETERS ", 'h': 0.5, 'w0': 0.7}, " FOUR_BAR
     ", 'signals': {'y': {'type': 'position', 'of': 'rocker', 'component': 'y'},"
     "  'spin': {'type': 'gyroscope', 'of': 'coupler', 'component': 'z'}},"
     "'initial': {'pin': {'p': {'signal': 'y', 'value': 'h'}, 'q': {'signal': 'spin', 'value': 'w0'}}}}"},
    {"four-bar whose gears and screw count turns", 3, 0,
     "{'mbgrad': 1, 'parameters': {" FOUR_BAR_PARAMETERS ", 'ratio': 2.5, 'pitch': 0.1}, " FOUR_BAR
     ", 'couplings': {'gear': {'terms': [{'joint': 'A', 'factor': 'ratio'}, {'joint': 'B'}], 'constant': '2.5 - "
     "0.56'}}}"},
    {"door with two hinges", 5, 0,
     "{'mbgrad': 1, 'parameters': {'x': 0.2, 'lean': 0.3, 'a': 0.4, 'om': 1.5},"
     "'bodies': {'door': {'mass': 3, 'inertia': [1, 1, 1], 'position': ['x + 0.5', 0.1, 0.02], 'rotate': [['y', "
     "'lean']],"
     "  'angular_velocity': [0, 0.2, 'a']}},"
     "'markers': {"
     "  'low': {'on': 'ground', 'at': ['x', 0, 0], 'rotate': [['y', 'lean']]},"
     "  'high': {'on': 'ground', 'at': ['x + 2*sin(lean)', 0, '2*cos(lean)'], 'rotate': [['y', 'lean']]},"
     "  'below': {'on': 'door', 'at': [-0.5, 0, 0]}, 'above': {'on': 'door', 'at': [-0.5, 0, 2]}},"
     "'joints': {'l': {'type': 'revolute', 'between': ['low', 'below']}, 'h': {'type': 'revolute', 'between': ['high', "
     "'above']}},"
     "'drivers': {'d': {'joint': 'h', 'law': 'a*cos(om*t) - 0.2*a'}}, 'run': {'start': 0.2, 'end': 1}}"},
    {"door of which one hinge leans", 5, 1,
     "{'mbgrad': 1, 'parameters': {'x': 0.2, 'lean': 0},"
     "'bodies': {'door': {'mass': 3, 'inertia': [1, 1, 1], 'position': ['x + 0.5', 0.1, 0.02]}},"
     "'markers': {"
     "  'low': {'on': 'ground', 'at': ['x', 0, 0], 'rotate': [['y', 'lean']]}, 'high': {'on': 'ground', 'at': ['x', 0, "
     "2]},"
     "  'below': {'on': 'door', 'at': [-0.5, 0, 0]}, 'above': {'on': 'door', 'at': [-0.5, 0, 2]}},"
     "'joints': {'l': {'type': 'revolute', 'between': ['low', 'below']}, 'h': {'type': 'revolute', 'between': ['high', "
     "'above']}}}"},
    {"two parallel slides", 5, 0,
     "{'mbgrad': 1, 'parameters': {'d': 0.7, 's': 0.3, 'u': 0.2, 'turn': 0.4},"
     "'bodies': {'sled': {'mass': 1, 'inertia': [1, 1, 1], 'position': [0.02, 'd', 's'], 'rotate': {'vector': ['turn', "
     "0.01, 0.02]}}},"
     "'markers': {"
     "  'g1': {'on': 'ground', 'rotate': [['x', 'turn']]},"
     "  'g2': {'on': 'ground', 'at': [0, 'd*cos(turn)', 'd*sin(turn)'], 'rotate': [['x', 'turn']]},"
     "  's1': {'on': 'sled', 'at': [0, '-d', 0]}, 's2': {'on': 'sled'}},"
     "'joints': {'a': {'type': 'prismatic', 'between': ['g1', 's1']}, 'b': {'type': 'prismatic', 'between': ['g2', "
     "'s2']}},"
     "'initial': {'pin': {'p': {'joint': 'a', 'value': 's*u', 'rate': 'u'}}}}"},
    {"screw after several turns", 0, 0,
     "{'mbgrad': 1, 'parameters': {'pitch': 0.05, 'q': 7.5, 'w': 3},"
     "'bodies': {'nut': {'mass': 1, 'inertia': [1, 1, 1], 'position': [0, 0, 'pitch*q'], 'rotate': [['z', 'q']]},"
     "  'wheel': {'mass': 1, 'inertia': [1, 1, 1], 'position': [1, 0, 0]}},"
     "'joints': {'s': {'type': 'screw', 'between': ['ground', 'nut'], 'pitch': 'pitch'},"
     "  'r': {'type': 'revolute', 'between': ['ground', 'wheel'], 'at': [1, 0, 0], 'axis': [0, 0, 1]}},"
     "'couplings': {'c': {'terms': [{'joint': 's'}, {'joint': 'r', 'factor': '-3*pitch'}], 'constant': '7.5 - 2*pi'}},"
     "'initial': {'pin': {'p': {'joint': 's', 'rate': 'w'}}}}"},
    {"balls whose velocities are pinned", 0, 0,
     "{'mbgrad': 1, 'parameters': {'L': 0.7, 'u': 0.4, 'w': 0.3, 'turn': 0.6},"
     "'bodies': {'a': {'mass': 1, 'inertia': [1, 1, 1], 'position': [0.1, 0.05, 0.02], 'rotate': [['x', 'turn']],"
     "    'angular_velocity': [0.1, 'u', 0.3]},"
     "  'b': {'mass': 1, 'inertia': [1, 1, 1], 'position': ['L', 0.1, 0.3], 'angular_velocity': ['w', 0.2, 0]}},"
     "'markers': {'tip': {'on': 'a', 'at': ['L', 0, 0]}, 'eye': {'on': 'ground', 'rotate': [['y', 'turn'], ['z', "
     "0.3]]}},"
     "'joints': {'o': {'type': 'spherical', 'between': ['ground', 'a']}, 'p': {'type': 'spherical', 'between': ['tip', "
     "'b']}},"
     "'signals': {"
     "  'v1': {'type': 'velocity', 'of': 'tip', 'relative_to': 'eye', 'component': 'y'},"
     "  'v2': {'type': 'velocity', 'of': 'b', 'relative_to': 'eye', 'component': 'z', 'in': 'body'},"
     "  'v3': {'type': 'angular-velocity', 'of': 'b', 'relative_to': 'a', 'component': 'x'},"
     "  'd': {'type': 'direction', 'of': 'b', 'axis': 'x', 'component': 'y', 'relative_to': 'a'}},"
     "'initial': {'pin': {'p1': {'signal': 'v1', 'value': 'u'}, 'p2': {'signal': 'v2', 'value': 'w*u'},"
     "  'p3': {'signal': 'v3', 'value': 'w'}, 'p4': {'signal': 'd', 'value': '0.2*turn', 'rate': 'u'}}}}"},
    {"pendulums in equilibrium", 0, 0,
     "{'mbgrad': 1, 'parameters': {'k': 30, 'L': 0.5, 'm': 1.5, 'g': 9.81, 'rest': 0.2, 'f': 2}, 'gravity': [0, '-g', "
     "0],"
     "'bodies': {'a': {'motion': 'planar', 'mass': 'm', 'com': ['L/2', 0, 0], 'inertia': 0.1},"
     "  'b': {'motion': 'planar', 'mass': 1, 'com': [0.2, 0, 0], 'inertia': 0.1, 'position': ['L', 0, 0],"
     "    'velocity': [0, 'L', 0], 'angular_velocity': [0, 0, 0.5]}},"
     "'markers': {'tip': {'on': 'b', 'at': [0.4, 0, 0]}, 'hook': {'on': 'ground', 'at': [1, 'L', 0]}},"
     "'joints': {'o': {'type': 'revolute', 'between': ['ground', 'a'], 'at': [0, 0, 0], 'axis': [0, 0, 1]},"
     "  'p': {'type': 'revolute', 'between': ['a', 'b'], 'at': ['L', 0, 0], 'axis': [0, 0, 1]}},"
     "'forces': {'s': {'type': 'spring-damper', 'between': ['hook', 'tip'], 'stiffness': 'k', 'rest': 'rest', "
     "'damping': 1},"
     "  't': {'type': 'torsion-spring-damper', 'joint': 'p', 'stiffness': '0.3*k'},"
     "  'push': {'type': 'force', 'on': 'tip', 'force': ['f*cos(t)', 0, 0]}},"
     "'initial': {'start': 'equilibrium'}, 'run': {'start': 0.3, 'end': 1}}"},
    {"four-bar of spatial bodies in equilibrium", 3, 0,
     "{'mbgrad': 1, 'parameters': {" FOUR_BAR_PARAMETERS ", 'k': 40, 'g': 9.81}, 'gravity': [0, '-g', 0], " FOUR_BAR
     ", 'forces': {'s': {'type': 'torsion-spring-damper', 'joint': 'A', 'stiffness': 'k', 'rest': 0.1},"
     "  'b': {'type': 'bushing', 'between': ['ground', 'crank'], 'stiffness': ['k', 'k', 'k', 1, 2, '0.1*k'],"
     "    'preload_torque': [0, 0, 'L1']}},"
     "'initial': {'start': 'equilibrium'}}"},
    {follower, 0, 0, "{'mbgrad': 1, 'parameters': {" ROD_PARAMETERS "}, " RODS("'a'") "}"},
    {"rods, the pin leaves the guess", 0, 0,
     "{'mbgrad': 1, 'parameters': {" ROD_PARAMETERS ", 'off': 0}, " RODS("'a + off'") "}"},
};

static char *with_quotes(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  assert_non_null(copy);
  strcpy(copy, text);
  for (char *c = copy; *c; c++) {
    *c = *c == '\'' ? '"' : *c;
  }
  return copy;
}

static bool follows(fixture *f) {
  bool yes;
  mbg__system_want(f->c.sys, false);
  assert_int_equal(mbg__start_follows_guess(f->c.ctx, f->start, &yes), MBG_OK);
  mbg__system_want(f->c.sys, true);
  return yes;
}

static void test_by_hand(void **state) {
  (void)state;
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    fixture f;
    char *text = with_quotes(cases[i].text);
    snprintf(label, sizeof label, "%s", cases[i].name);
    open_case(&f, NULL, text, (uint64_t)i);
    if (!solve(&f)) {
      fail_msg("%s: %s", label, mbg_context_error(f.c.ctx));
    }
    assert_int_equal(mbg__start_result_of(f.start)->rank->ndropped, cases[i].redundant);
    assert_int_equal(check_derivatives(&f, 1000), cases[i].broken);
    assert_int_equal(follows(&f), cases[i].name == follower);
    close_case(&f);
    free(text);
  }
}

/* ---------------------------------------------------------------------- the gallery */

static void test_gallery(void **state) {
  (void)state;
  static const char *const names[] = {"torsional-pendulum", "driven-flap", "two-body-spatial", "double-pendulum-spring",
                                      "overhead-crane",     "four-bar",    "heavy-top",        "quarter-car",
                                      "five-bar",           "rssr",        "andrews",          "car-axis",
                                      "slider-crank",       "bricard",     "four-bar-spatial"};
  for (int i = 0; i < MBG_COUNT(names); i++) {
    fixture f;
    char path[400];
    snprintf(label, sizeof label, "%s", names[i]);
    snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, names[i]);
    open_case(&f, path, NULL, (uint64_t)i);
    if (!solve(&f)) {
      fail_msg("%s: %s", label, mbg_context_error(f.c.ctx));
    }
    assert_int_equal(check_derivatives(&f, 50), 0);
    close_case(&f);
  }
}

static int report(void **state) {
  (void)state;
  if (support_rounds(0, 1)) {
    print_message("worst deviation %.1e, of the transpose %.1e\n", worst, worst_transpose);
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_by_hand), cmocka_unit_test(test_gallery)};
  return cmocka_run_group_tests(tests, NULL, report);
}
