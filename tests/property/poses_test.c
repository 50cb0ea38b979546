/* Frames, twists and modal coordinates at the nodes of a run: they reproduce the signals of the same node to
   rounding, in every formulation, for rigid bodies, and for modal bodies and beams in the formulations that take
   them. Keeping them changes no value and no gradient. */
#include "mbgrad/run.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mechanism[] =
    "{'mbgrad': 1, 'gravity': [0, -9.81, 0], 'parameters': {'m': 2}, 'bodies': {"
    "  'arm': {'mass': 'm', 'inertia': [0.1, 0.2, 0.15], 'position': [0.3, 0.1, 0.2], 'rotate': [['x', 0.4], ['z', "
    "1.1]],"
    "          'velocity': [0.1, 0.2, 0.3], 'angular_velocity': [1, -2, 0.5]},"
    "  'bob': {'mass': 1, 'inertia': [0.1, 0.2, 0.15], 'position': [1, 0, 0]}%s}, %s"
    " 'joints': {'pivot': {'type': 'spherical', 'between': ['ground', 'bob'], 'at': [0, 0, 0]}%s%s},"
    " 'forces': {'push': {'type': 'force', 'on': 'arm', 'force': [3, 0, 'm']}},"
    " 'criteria': {'end': {'terminal': 'arm_position_1 + bob_position_1'}, 'path': {'integral': 'arm_velocity_0'}},"
    " 'run': {'end': 0.01, 'step': 1e-4}, 'signals': {";
static const char rod[] =
    ", 'rod': {'type': 'modal', 'modes': 4, 'damping': 1e-4, 'beam': {'length': 1, 'elements': 6, "
    "          'boundary': 'fixed-free', 'E': 1e7, 'nu': 0.3, 'rho': 1000, "
    "          'section': {'type': 'circle', 'diameter': 0.1}}}";
static const char chain[] =
    "'beams': {'chain': {'from': [0, 0, 0.5], 'to': [1, 0, 0.5], 'elements': 2, 'E': 1e7, 'nu': 0.3, 'rho': 1000,"
    "           'damping': 1e-4, 'section': {'type': 'circle', 'diameter': 0.1}}},";
static const char hinge[] =
    ", 'hinge': {'type': 'revolute', 'between': ['ground', 'rod'], 'at': [0, 0, 0], 'axis': [0, 0, 1]}";
static const char clamp[] = ", 'clamp': {'type': 'fixed', 'between': ['ground', 'chain.0'], 'at': [0, 0, 0.5]}";

typedef enum { RIGID, MODAL, BEAM } kind; /* the last one with a modal body, too */

static const char *const bodies[][2] = {{"arm", "arm"}, {"bob", "bob"}, {"rod", "rod"}, {"chain", "chain.2"}};

/* position, velocity and angular velocity of the bodies, modal coordinates and rates */
static char *model_text(kind flexible) {
  static const char *const types[][2] = {
      {"position", "position"}, {"velocity", "velocity"}, {"spin", "angular-velocity"}};
  char *text = malloc(20000);
  int n = sprintf(text, mechanism, flexible ? rod : "", flexible == BEAM ? chain : "", flexible ? hinge : "",
                  flexible == BEAM ? clamp : "");
  for (int b = 0; b < 2 + (int)flexible; b++) {
    for (int t = 0; t < 3; t++) {
      for (int k = 0; k < 3; k++) {
        n += sprintf(text + n, "%s'%s_%s_%d': {'type': '%s', 'of': '%s', 'component': '%c'}", b + t + k ? ", " : "",
                     bodies[b][0], types[t][0], k, types[t][1], bodies[b][1], "xyz"[k]);
      }
    }
  }
  for (int k = 0; flexible && k < 4; k++) {
    n += sprintf(text + n, ", 'mode_%d': {'type': 'modal-coordinate', 'of': 'rod', 'mode': %d}", k, k);
    n += sprintf(text + n, ", 'rate_%d': {'type': 'modal-rate', 'of': 'rod', 'mode': %d}", k, k);
  }
  strcpy(text + n, "}}");
  for (char *c = text; *c; c++) {
    *c = *c == '\'' ? '"' : *c;
  }
  return text;
}

/* a run with all its arrays */
typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  kind flexible;
  int nodes, bodies, signals, modal;
  double *t, *y, *frames, *twists, *q, *qd;
  double psi[2], gradient[2];
} poses;

static double *array(int n, int m) { return calloc((size_t)n * (size_t)m + 1, sizeof(double)); }

static void must(const poses *p, int status) {
  if (status < 0) {
    fail_msg("%s", mbg_context_error(p->ctx));
  }
}

static void open_run(poses *p, const char *formulation, kind flexible, bool keep) {
  char *text = model_text(flexible);
  mbg_run_options o;
  memset(p, 0, sizeof *p);
  p->flexible = flexible;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = formulation;
  o.all_signals = true;
  o.keep_poses = keep;
  must(p, mbg_context_create(NULL, &p->ctx));
  must(p, mbg_model_parse(p->ctx, "poses", text, strlen(text), NULL, &p->model));
  must(p, mbg_run_create(p->ctx, p->model, &o, &p->run));
  must(p, mbg_run_simulate(p->ctx, p->run));
  must(p, mbg_run_criteria(p->ctx, p->run, p->psi));
  must(p, mbg_run_gradient(p->ctx, p->run, mbg_run_adjoint_method(p->run), p->gradient, NULL));
  p->nodes = mbg_run_node_count(p->run);
  p->bodies = mbg_model_body_count(p->model);
  p->signals = mbg_model_signal_count(p->model);
  p->modal = mbg_model_modal_count(p->model);
  p->t = array(p->nodes, 1);
  p->y = array(p->nodes, p->signals);
  p->frames = array(p->nodes, 12 * p->bodies);
  p->twists = array(p->nodes, 6 * p->bodies);
  p->q = array(p->nodes, p->modal);
  p->qd = array(p->nodes, p->modal);
  must(p, mbg_run_times(p->run, p->t));
  must(p, mbg_run_signals(p->run, p->y));
  free(text);
}

static void close_run(poses *p) {
  double *all[] = {p->t, p->y, p->frames, p->twists, p->q, p->qd};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    free(all[i]);
  }
  mbg_run_destroy(p->run);
  mbg_model_destroy(p->model);
  mbg_context_destroy(p->ctx);
}

static double signal(const poses *p, int node, const char *name, int k) {
  char full[64];
  snprintf(full, sizeof full, "%s_%d", name, k);
  for (int i = 0; i < p->signals; i++) {
    const char *own = mbg_model_signal_name(p->model, i);
    if (own && !strcmp(own, full)) {
      assert_close(p->y[node * p->signals + i], mbg_run_signal(p->run, node, i), 0);
      return p->y[node * p->signals + i];
    }
  }
  fail_msg("no signal '%s'", full);
  return NAN;
}

static int find_body(const poses *p, const char *name) {
  int i = 0;
  while (mbg_model_body_name(p->model, i) && strcmp(mbg_model_body_name(p->model, i), name) != 0) {
    i++;
  }
  assert_non_null(mbg_model_body_name(p->model, i));
  return i;
}

/* x of the frame, R U and R W in world axes: rounding of a product */
static void check_body(const poses *p, int node, const char *body, const char *name) {
  const int b = find_body(p, body);
  const double *H = p->frames + 12 * (node * p->bodies + b), *v = p->twists + 6 * (node * p->bodies + b);
  char position[32], velocity[32], spin[32];
  snprintf(position, sizeof position, "%s_position", name);
  snprintf(velocity, sizeof velocity, "%s_velocity", name);
  snprintf(spin, sizeof spin, "%s_spin", name);
  for (int k = 0; k < 3; k++) {
    double U = 0, W = 0;
    for (int j = 0; j < 3; j++) {
      U += H[3 * k + j] * v[j];
      W += H[3 * k + j] * v[3 + j];
    }
    assert_close(H[9 + k], signal(p, node, position, k), 1e-14);
    assert_close(U, signal(p, node, velocity, k), 1e-13);
    assert_close(W, signal(p, node, spin, k), 1e-13);
  }
}

static void check_nodes(const poses *p) {
  double moved = 0;
  for (int n = 0; n < p->nodes; n++) {
    for (int b = 0; b < 2 + (int)p->flexible; b++) {
      check_body(p, n, bodies[b][1], bodies[b][0]);
    }
    for (int k = 0; k < p->modal; k++) {
      assert_close(p->q[4 * n + k], signal(p, n, "mode", k), 1e-15);
      assert_close(p->qd[4 * n + k], signal(p, n, "rate", k), 1e-15);
      moved = fmax(moved, fabs(p->q[4 * n + k]));
    }
  }
  assert_true(moved > 1e-6 || p->modal == 0);
}

static void check_formulation(const char *key, kind flexible) {
  poses p, without;
  open_run(&p, key, flexible, true);
  open_run(&without, key, flexible, false);
  must(&p, mbg_run_frames(p.run, p.frames));
  must(&p, mbg_run_twists(p.run, p.twists));
  must(&p, mbg_run_modal(p.run, p.q, p.qd));
  assert_true(p.nodes > 5);
  assert_int_equal(p.bodies,
                   flexible == BEAM ? 6 : 2 + (int)flexible); /* carriers of modal coordinates are no bodies */
  assert_int_equal(p.modal, flexible ? 4 : 0);
  check_nodes(&p);
  assert_int_equal(mbg_model_modal_body(p.model, 3), flexible ? find_body(&p, "rod") : -1);
  /* the last node is the last state */
  double t, last[6 * 12], twist[6 * 6];
  const int nb = p.bodies;
  must(&p, mbg_run_last_state(p.run, &t, last, twist));
  assert_close(t, p.t[p.nodes - 1], 1e-15);
  assert_close_array(last, p.frames + 12 * nb * (p.nodes - 1), 12 * nb, 1e-12);
  assert_close_array(twist, p.twists + 6 * nb * (p.nodes - 1), 6 * nb, 1e-12);
  /* the same run without them */
  assert_int_equal(without.nodes, p.nodes);
  assert_memory_equal(without.y, p.y, (size_t)p.nodes * (size_t)p.signals * sizeof(double));
  assert_memory_equal(without.psi, p.psi, sizeof p.psi);
  assert_memory_equal(without.gradient, p.gradient, sizeof p.gradient);
  assert_true(p.gradient[0] != 0);
  assert_int_equal(mbg_run_frames(without.run, p.frames), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_twists(without.run, p.twists), MBG_ERROR_INPUT);
  assert_int_equal(mbg_run_modal(without.run, p.q, p.qd), MBG_ERROR_INPUT);
  close_run(&p);
  close_run(&without);
}

static void test_rigid(void **state) {
  (void)state;
  for (int i = 0; i < mbg_formulation_count(); i++) {
    check_formulation(mbg_formulation_key(i), RIGID);
  }
}

static void test_flexible(void **state) {
  (void)state;
  check_formulation("lie", BEAM);
  check_formulation("dae", BEAM);
  check_formulation("qr", MODAL);
  check_formulation("dca", MODAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rigid), cmocka_unit_test(test_flexible)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
