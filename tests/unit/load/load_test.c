/* The loader: what a model file becomes. Files that must fail are in tests/errors. */
#include "mbgrad/mbgrad.h"
#include "model/design.h"
#include "model/model.h"
#include "support/support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- helpers */

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg__arena arena;
  mbg__design *design; /* at the nominal parameters */
} loaded;

/* single quotes become double ones */
static char *json(const char *text) {
  char *copy = calloc(strlen(text) + 1, 1);
  assert_non_null(copy);
  for (size_t i = 0; text[i]; i++) {
    copy[i] = text[i] == '\'' ? '"' : text[i];
  }
  return copy;
}

static void make_design(loaded *l) {
  mbg__arena_init(&l->arena, mbg__context_allocator(l->ctx));
  assert_int_equal(mbg__design_create(l->ctx, &l->arena, l->model, &l->design), MBG_OK);
  if (mbg__design_update(l->ctx, l->design, l->model->p) < 0) {
    fail_msg("%s", mbg_context_error(l->ctx));
  }
}

static loaded load_in(const char *base, const char *text) {
  loaded l = {0};
  char *copy = json(text);
  assert_int_equal(mbg_context_create(NULL, &l.ctx), MBG_OK);
  if (mbg_model_parse(l.ctx, "test.json", copy, strlen(copy), base, &l.model) < 0) {
    fail_msg("%s", mbg_context_error(l.ctx));
  }
  free(copy);
  make_design(&l);
  return l;
}

static loaded load(const char *text) { return load_in(NULL, text); }

static void unload(loaded *l) {
  mbg__arena_destroy(&l->arena);
  mbg_model_destroy(l->model);
  mbg_context_destroy(l->ctx);
}

#define FIND(list, count, wanted)                                                                                      \
  static int find_##list(const mbg_model *m, const char *wanted) {                                                     \
    for (int i = 0; i < m->count; i++) {                                                                               \
      if (m->list[i].name && strcmp(m->list[i].name, wanted) == 0) {                                                   \
        return i;                                                                                                      \
      }                                                                                                                \
    }                                                                                                                  \
    fail_msg("there is no '%s'", wanted);                                                                              \
    return -1;                                                                                                         \
  }
FIND(bodies, nbody, name)
FIND(markers, nmarker, name)
FIND(joints, njoint, name)
FIND(drivers, ndriver, name)
FIND(forces, nforce, name)
FIND(signals, nsignal, name)
FIND(criteria, ncriterion, name)
FIND(parameters, nparameter, name)
FIND(constants, nconstant, name)
FIND(controls, ncontrol, name)

/* frame of a marker in the world, bodies in their design configuration */
static mbg__frame world_of(const loaded *l, int marker) {
  const mbg__marker *m = &l->model->markers[marker];
  mbg__frame F = l->design->markers[marker]->h, out = F;
  if (m->body >= 0) {
    frame_mul(&out, &l->design->poses[l->model->bodies[m->body].design].h, &F);
  }
  return out;
}

static mbg__frame relative_of(const loaded *l, int pair) {
  const mbg__frame A = world_of(l, l->model->pairs[pair].A), B = world_of(l, l->model->pairs[pair].B);
  mbg__frame G;
  frame_relative(&G, &A, &B);
  return G;
}

/* 1e-12: rounding of a few products of rotations */
static void assert_frames(const mbg__frame *a, const mbg__frame *b) {
  assert_close_array(a->R, b->R, 9, 1e-12);
  assert_close_array(a->x, b->x, 3, 1e-12);
}

static void assert_identity(const mbg__frame *G) {
  mbg__frame I;
  frame_identity(&I);
  assert_frames(G, &I);
}

/* ---------------------------------------------------------------------- numbers */

static void test_attributes(void **state) {
  (void)state;
  loaded l =
      load("{'mbgrad': 1, 'parameters': {'m': 2}, 'constants': {'c': '3*m', 'd': 'c + 1'},"
           " 'bodies': {'bob': {'mass': 'm', 'com': [0, 'd', 0], 'inertia': [5, 5, 5], 'position': [0, 0, 'c']}}}");
  const mbg_model *m = l.model;
  const mbg__body *b = &m->bodies[0];
  static const char *const keys[] = {"mass",       "com[0]",     "com[1]",     "com[2]",     "inertia.xx",
                                     "inertia.yy", "inertia.zz", "inertia.xy", "inertia.xz", "inertia.yz"};
  static const double values[] = {2, 0, 7, 0, 5, 5, 5, 0, 0, 0};
  assert_int_equal(b->nattr, 10);
  for (int i = 0; i < 10; i++) {
    assert_string_equal(m->attributes[b->attr + i].label->key, keys[i]);
    assert_string_equal(m->attributes[b->attr + i].owner, "body 'bob'");
    assert_close(l.design->attr[b->attr + i], values[i], 0);
  }
  assert_string_equal(m->attributes[b->attr].label->unit, "kg");
  assert_int_equal(m->attributes[b->attr].line, 1);
  assert_close(l.design->poses[b->design].h.x[2], 6, 0);

  /* da/dp: mass 1, com[1] 3, position[2] 3 */
  double da[64], dp = 1;
  assert_true(m->na <= 64);
  mbg__design_push(l.design, &dp, da);
  assert_close(da[b->attr], 1, 0);
  assert_close(da[b->attr + 2], 3, 0);
  unload(&l);
}

/* a rotation and an inertia as matrices are the same model as in their other forms, derivatives included */
static void test_matrices(void **state) {
  (void)state;
  loaded l = load("{'mbgrad': 1, 'parameters': {'phi': 0.4, 'J': 0.1}, 'bodies': {"
                  " 'a': {'mass': 1, 'inertia': [[2, 'J', 0.2], ['J', 3, 0.3], [0.2, 0.3, 4]],"
                  " 'rotate': [['cos(phi)', '-sin(phi)', 0], ['sin(phi)', 'cos(phi)', 0], [0, 0, 1]]},"
                  " 'b': {'mass': 1, 'inertia': [2, 3, 4, 'J', 0.2, 0.3], 'rotate': [['z', 'phi']]},"
                  " 'c': {'mass': 1, 'inertia': [2, 3, 4], 'rotate': [[0.707, 0, 0.707], [0, 1, 0], [-0.707, 0, "
                  "0.707]]}}}");
  const mbg_model *m = l.model;
  const mbg__body *a = &m->bodies[0], *b = &m->bodies[1];
  assert_close_array(l.design->poses[a->design].h.R, l.design->poses[b->design].h.R, 9, 1e-15);
  assert_close_array(l.design->attr + a->attr, l.design->attr + b->attr, 10, 0);
  double da[128], dp[2] = {1, 1}, w[2][6], dv[6];
  assert_true(m->na <= 128);
  mbg__design_push(l.design, dp, da);
  assert_close_array(da + a->attr, da + b->attr, 10, 0);
  for (int i = 0; i < 2; i++) {
    mbg__design_guess_push(l.design, i, da, w[i], dv);
  }
  assert_close_array(w[0], w[1], 6, 1e-15);
  assert_close(w[0][5], 1, 1e-15);
  /* a rounded matrix becomes an exact rotation */
  assert_close(l.design->poses[m->bodies[2].design].h.R[0], sqrt(0.5), 1e-15);
  unload(&l);
}

static void test_constants_in_any_order(void **state) {
  (void)state;
  loaded l = load("{'mbgrad': 1, 'constants': {'a': 'b + 1', 'b': 'c*2', 'c': 3, 'f': 'a - b'}}");
  const int a = find_constants(l.model, "a"), b = find_constants(l.model, "b"), c = find_constants(l.model, "c");
  assert_true(c < b && b < a);
  assert_close(l.design->constants[a], 7, 0);
  assert_close(l.design->constants[find_constants(l.model, "f")], 1, 0);
  unload(&l);
}

static void test_vectors(void **state) {
  (void)state;
  loaded l = load(
      "{'mbgrad': 1, 'parameters': {'a': {'value': 1, 'unit': 'm', 'min': 0, 'note': 'n'}, 'rho': {'value': [4, 5, 6]},"
      " 'v': {'value': 0.5, 'count': 12, 'scale': 'log'}},"
      " 'bodies': {'b': {'mass': 'rho[0] + rho[2]', 'com': ['v[11]', 0, 0]}}}");
  const mbg_model *m = l.model;
  char name[32];
  const char *group;
  int first, count;
  assert_int_equal(mbg_model_parameter_count(m), 16);
  assert_int_equal(mbg_model_parameter_group_count(m), 3);
  assert_int_equal(mbg_model_parameter_name(m, 0, name, sizeof(name)), MBG_OK);
  assert_string_equal(name, "a");
  assert_int_equal(mbg_model_parameter_name(m, 3, name, sizeof(name)), MBG_OK);
  assert_string_equal(name, "rho[2]");
  assert_int_equal(mbg_model_parameter_name(m, 16, name, sizeof(name)), MBG_ERROR_INPUT);
  for (int i = 0; i < 16; i++) {
    assert_int_equal(mbg_model_parameter_name(m, i, name, sizeof(name)), MBG_OK);
    assert_int_equal(mbg_model_parameter_find(m, name), i);
  }
  static const char *const none[] = {"",        "b",       "rho",  "rho[3]", "rho[",
                                     "rho[01]", "rho[1]x", "a[0]", "v[12]",  "rho[-1]"};
  for (int i = 0; i < MBG_COUNT(none); i++) {
    assert_int_equal(mbg_model_parameter_find(m, none[i]), -1);
  }
  assert_int_equal(mbg_model_parameter_group(m, 1, &group, &first, &count), MBG_OK);
  assert_string_equal(group, "rho");
  assert_int_equal(first, 1);
  assert_int_equal(count, 3);
  assert_int_equal(mbg_model_parameter_group(m, 0, &group, &first, &count), MBG_OK);
  assert_int_equal(count, 0);
  assert_close(mbg_model_parameter_value(m, 2), 5, 0);
  assert_close(mbg_model_parameter_min(m, 0), 0, 0);
  assert_true(isinf(mbg_model_parameter_max(m, 0)));
  assert_string_equal(mbg_model_parameter_unit(m, 0), "m");
  assert_string_equal(mbg_model_parameter_note(m, 0), "n");
  assert_int_equal(mbg_model_parameter_log_scale(m, 15), 1);
  assert_close(l.design->attr[m->bodies[0].attr], 10, 0);
  unload(&l);
}

static void test_controls(void **state) {
  (void)state;
  loaded l = load("{'mbgrad': 1, 'parameters': {'a': 2, 'w': {'value': [1, 0, 1]}},"
                  " 'controls': {'u': {'times': [0, 0.5, 1], 'values': [1, '2*a', 3]},"
                  " 'q': {'times': {'from': 0, 'to': 2, 'count': 3}, 'values': 'w', 'interpolation': 'cubic'},"
                  " 'z': {'times': [0, 1], 'values': 'a'}}}");
  const mbg_model *m = l.model;
  const mbg__control *u = &m->controls[find_controls(m, "u")], *q = &m->controls[find_controls(m, "q")];
  assert_int_equal(u->spline->n, 3);
  assert_close(l.design->attr[u->attr + 1], 4, 0);
  assert_string_equal(m->attributes[u->attr + 1].label->key, "values[1]");
  assert_close(q->spline->x[1], 1, 0);
  /* curvature of the natural spline through (0, 1), (1, 0), (2, 1): 0, 3, 0 */
  assert_int_equal(m->attributes[q->attr + 4].control, find_controls(m, "q"));
  assert_string_equal(m->attributes[q->attr + 4].label->key, "curvature[1]");
  assert_close(l.design->attr[q->attr + 4], 3, 1e-14);
  assert_close(l.design->attr[m->controls[find_controls(m, "z")].attr + 1], 2, 0);
  unload(&l);
}

static void test_functions(void **state) {
  (void)state;
  loaded l =
      load("{'mbgrad': 1, 'parameters': {'k1': 2, 'x': 9, 'r': {'value': [7, 8]}}, 'bodies': {'b': {'mass': 1}},"
           " 'controls': {'u': {'times': [0, 1], 'values': [0, 1], 'interpolation': 'cubic'}},"
           " 'signals': {'y': {'type': 'position', 'of': 'b', 'component': 1}},"
           " 'forces': {'s': {'type': 'nonlinear-spring', 'between': ['ground', 'b'], 'law': 'k1*x + k1*v + r[1]*t'},"
           " 'c': {'type': 'actuator', 'between': ['ground', 'b'], 'along': 'x', 'force': 5},"
           " 'd': {'type': 'actuator', 'between': ['ground', 'b'], 'along': 'x', 'force': '2*3'},"
           " 'e': {'type': 'expression', 'between': ['ground', 'b'], 'along': 'x', 'force': 'u*y'}}}");
  const mbg_model *m = l.model;
  const mbg__force *s = &m->forces[find_forces(m, "s")], *c = &m->forces[find_forces(m, "c")];
  const mbg__fn *law = &m->fns[s->fn];
  /* x is the argument, not the parameter; names are attributes, each once */
  int roles[5] = {0};
  for (int k = 0; k < law->ninput; k++) {
    roles[law->input[k].role]++;
  }
  assert_int_equal(roles[MBG__ROLE_ARG], 2);
  assert_int_equal(roles[MBG__ROLE_ATTR], 2);
  assert_int_equal(roles[MBG__ROLE_T], 1);
  assert_int_equal(law->nact, 2);
  assert_int_equal(s->nact, 2);
  assert_string_equal(law->text, "k1*x + k1*v + r[1]*t");
  bool found[2] = {false, false};
  for (int i = 0; i < m->na; i++) {
    found[0] = found[0] || strcmp(m->attributes[i].label->key, "law: k1") == 0;
    found[1] = found[1] || strcmp(m->attributes[i].label->key, "law: r[1]") == 0;
  }
  assert_true(found[0] && found[1]);

  /* a number is an attribute that the function returns */
  const mbg__fn *number = &m->fns[c->fn];
  assert_int_equal(number->ninput, 1);
  assert_int_equal(number->input[0].role, MBG__ROLE_ATTR);
  assert_close(l.design->attr[number->input[0].index], 5, 0);
  assert_string_equal(m->attributes[number->input[0].index].label->key, "force");
  assert_close(l.design->attr[m->fns[m->forces[find_forces(m, "d")].fn].input[0].index], 6, 0);

  /* four active samples of a cubic control, one signal */
  const mbg__fn *product = &m->fns[m->forces[find_forces(m, "e")].fn];
  assert_int_equal(product->nact, 4);
  assert_int_equal(product->nsignal, 1);
  unload(&l);
}

/* ---------------------------------------------------------------------- geometry */

static void test_joint_in_world(void **state) {
  (void)state;
  /* both markers coincide in the design configuration, so that all coordinates are 0 there */
  loaded l = load(
      "{'mbgrad': 1, 'bodies': {'a': {'mass': 1, 'position': [1, 2, 3], 'rotate': [['x', 0.3], ['z', 1]]},"
      " 'b': {'mass': 1, 'position': [0, 1, 0], 'rotate': {'vector': [0.1, 0.7, -0.2]}}}, 'joints': {"
      " 'r': {'type': 'revolute', 'between': ['a', 'b'], 'at': [0.5, 0, 1], 'axis': [1, 2, 3]},"
      " 'x': {'type': 'prismatic', 'between': ['a', 'ground'], 'at': [0.5, 0, 1], 'axis': [0, 0, 2], 'x': [0, 1, 5]},"
      " 'u': {'type': 'universal', 'between': ['b', 'a'], 'at': [1, 1, 1], 'axis': [0, 3, 0], 'axis2': [1, 0, 1]},"
      " 's': {'type': 'spherical', 'between': ['a', 'b'], 'at': [1, 1, 1]}}}");
  const mbg_model *m = l.model;
  for (int i = 0; i < m->njoint; i++) {
    const mbg__frame G = relative_of(&l, m->joints[i].pair);
    assert_identity(&G);
  }
  const mbg__frame R = world_of(&l, m->pairs[m->joints[find_joints(m, "r")].pair].A);
  assert_close(R.R[2] / R.R[5], 0.5, 1e-14);
  assert_close(R.R[8] / R.R[5], 1.5, 1e-14);
  const mbg__frame X = world_of(&l, m->pairs[m->joints[find_joints(m, "x")].pair].A);
  const double y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
  for (int k = 0; k < 3; k++) {
    assert_close(X.R[3 * k], y[k], 1e-15);
    assert_close(X.R[3 * k + 2], z[k], 1e-15);
  }
  /* universal: x along the first axis, y along the second */
  const mbg__frame U = world_of(&l, m->pairs[m->joints[find_joints(m, "u")].pair].B);
  assert_close(U.R[3], 1, 1e-14);
  assert_close(U.R[1], sqrt(0.5), 1e-14);
  assert_close(U.R[7], sqrt(0.5), 1e-14);
  unload(&l);
}

static void test_points(void **state) {
  (void)state;
  /* points and axes in body axes: own rule on each side, so that the angle is that between the bodies' axes; the rows
     of a prismatic joint hold in the design configuration all the same */
  loaded l = load("{'mbgrad': 1, 'parameters': {'phi': 0.4}, 'bodies': {'a': {'mass': 1, 'position': [1, 0, 0], "
                  "'rotate': [['z', 'phi']]},"
                  " 'b': {'mass': 1, 'position': [1, 0, 2], 'rotate': [['z', 1]]}}, 'joints': {"
                  " 'r': {'type': 'revolute', 'between': ['a', 'b'], 'points': [[0, 0, 1], [0, 0, -1]], 'axes': [[0, "
                  "0, 1], [0, 0, 2]]},"
                  " 'p': {'type': 'prismatic', 'between': ['a', 'b'], 'points': [[0, 0, 1], [0, 0, 0]], 'axes': [[0, "
                  "0, 1], [0, 0, 1]]},"
                  " 'w': {'type': 'cylindrical', 'between': ['a', 'b'], 'points': [[1, 0, 1], [1, 0, 3]], 'axes': [[0, "
                  "0, 1], [0, 0, 1]], 'in': 'world'}}}");
  const mbg_model *m = l.model;
  const mbg__frame R = relative_of(&l, m->joints[find_joints(m, "r")].pair);
  assert_close(atan2(R.R[3], R.R[0]), 0.6, 1e-14);
  const mbg__frame P = relative_of(&l, m->joints[find_joints(m, "p")].pair);
  assert_close(P.x[2], 1, 1e-14);
  assert_close(P.R[1], 0, 1e-14);
  const mbg__frame W = relative_of(&l, m->joints[find_joints(m, "w")].pair);
  assert_close(W.x[2], 2, 1e-14);
  assert_close(W.R[3], 0, 1e-14);
  unload(&l);
}

static void test_markers(void **state) {
  (void)state;
  loaded l = load("{'mbgrad': 1, 'parameters': {'s': 0.5}, 'bodies': {'a': {'mass': 1, 'position': ['s', 0, 0], "
                  "'rotate': [['y', 's']]}},"
                  " 'markers': {'local': {'on': 'a', 'at': [1, 2, 3], 'rotate': [['x', 0.1]]},"
                  " 'world': {'on': 'a', 'at': [1, 2, 3], 'in': 'world', 'rotate': {'z': [1, 1, 0]}},"
                  " 'g': {'on': 'ground', 'at': [4, 5, 6]}},"
                  " 'signals': {'d': {'type': 'distance', 'of': 'a'}, 'e': {'type': 'distance', 'of': 'a', "
                  "'relative_to': 'ground'}}}");
  const mbg_model *m = l.model;
  const mbg__frame W = world_of(&l, find_markers(m, "world")), *L = &l.design->markers[find_markers(m, "local")]->h;
  const double at[3] = {1, 2, 3};
  assert_close_array(W.x, at, 3, 1e-14);
  assert_close(W.R[2], sqrt(0.5), 1e-14);
  assert_close_array(L->x, at, 3, 0);
  assert_close(l.design->markers[find_markers(m, "g")]->h.x[1], 5, 0);
  /* a body's own frame is one marker, and both signals are on one pair */
  assert_int_equal(m->nmarker, 5);
  assert_int_equal(m->npair, 1);
  unload(&l);
}

/* ---------------------------------------------------------------------- rows */

static int rows_of(const mbg_model *m, const char *joint) { return m->joints[find_joints(m, joint)].nrow; }

static void test_masks(void **state) {
  (void)state;
  loaded l = load("{'mbgrad': 1, 'bodies': {'a': {'mass': 1, 'motion': 'planar', 'rotate': [['z', 1]]}, 'b': {'mass': "
                  "1, 'motion': 'planar'},"
                  " 'p': {'mass': 1, 'motion': 'planar-point', 'position': [1, 1, 0]}, 'q': {'mass': 1, 'motion': "
                  "'point', 'position': [1, 1, 0]},"
                  " 's': {'mass': 1}}, 'joints': {"
                  " 'rev': {'type': 'revolute', 'between': ['a', 'b'], 'at': [1, 2, 0], 'axis': [0, 0, 1]},"
                  " 'rev0': {'type': 'revolute', 'between': ['ground', 'b'], 'at': [1, 2, 0]},"
                  " 'pri': {'type': 'prismatic', 'between': ['ground', 'a'], 'at': [1, 2, 0], 'axis': [1, 2, 0]},"
                  " 'fix': {'type': 'fixed', 'between': ['ground', 'a'], 'at': [1, 2, 0]},"
                  " 'cyl': {'type': 'cylindrical', 'between': ['ground', 'a'], 'at': [1, 2, 0], 'axis': [0, 0, 1]},"
                  " 'pla': {'type': 'planar', 'between': ['ground', 'a'], 'at': [1, 2, 0], 'axis': [0, 0, 1]},"
                  " 'sph': {'type': 'spherical', 'between': ['a', 'p'], 'at': [1, 1, 0]},"
                  " 'sphq': {'type': 'spherical', 'between': ['a', 'q'], 'at': [1, 1, 0]},"
                  " 'lin': {'type': 'point-on-line', 'between': ['a', 'p'], 'at': [1, 1, 0], 'axis': [0, 1, 0]},"
                  " 'rod': {'type': 'distance', 'between': ['a', 'p'], 'length': 1},"
                  " 'mix': {'type': 'revolute', 'between': ['s', 'b'], 'at': [1, 2, 0], 'axis': [0, 0, 1]}}}");
  const mbg_model *m = l.model;
  static const struct {
    const char *joint;
    int rows;
  } expected[] = {{"rev", 2}, {"rev0", 2}, {"pri", 2}, {"fix", 3}, {"cyl", 2}, {"pla", 0},
                  {"sph", 2}, {"sphq", 3}, {"lin", 1}, {"rod", 1}, {"mix", 5}};
  for (int i = 0; i < MBG_COUNT(expected); i++) {
    assert_int_equal(rows_of(m, expected[i].joint), expected[i].rows);
  }
  assert_int_equal(m->nw, 30);
  assert_int_equal(m->nv, 3 + 3 + 2 + 3 + 6);
  assert_int_equal(m->dof[5], 2);
  assert_int_equal(m->dof[2], -1);
  assert_int_equal(m->full[2], 5);
  const mbg__joint *rev = &m->joints[find_joints(m, "rev")];
  assert_string_equal(m->rows[rev->row].name, "x1");
  assert_string_equal(m->rows[rev->row + 1].name, "x2");
  unload(&l);
}

static void test_drivers_and_couplings(void **state) {
  (void)state;
  loaded l = load(
      "{'mbgrad': 1, 'parameters': {'w': 2}, 'bodies': {'a': {'mass': 1}, 'b': {'mass': 1}}, 'joints': {"
      " 'j': {'type': 'revolute', 'between': ['ground', 'a']}, 'k': {'type': 'cylindrical', 'between': ['a', 'b']}},"
      " 'drivers': {'d': {'joint': 'j', 'law': 'w*t'}, 'e': {'joint': 'k', 'coordinate': 'slide', 'law': 0.1}},"
      " 'couplings': {'g': {'terms': [{'joint': 'j'}, {'joint': 'k', 'coordinate': 'angle', 'factor': '-w'}], "
      "'constant': 0.5}},"
      " 'signals': {'f': {'type': 'reaction', 'joint': 'j', 'component': 'mz'}, 'h': {'type': 'reaction', 'driver': "
      "'e', 'component': 'fz'},"
      " 'q': {'type': 'coordinate', 'joint': 'j'}, 'v': {'type': 'rate', 'joint': 'j', 'coordinate': 'angle'}}}");
  const mbg_model *m = l.model;
  assert_int_equal(m->nrow, 5 + 4 + 2 + 1);
  const mbg__driver *d = &m->drivers[find_drivers(m, "d")];
  const mbg__term *t = &m->terms[m->rows[d->row].term];
  assert_int_equal(m->rows[d->row].kind, MBG__ROW_DRIVER);
  assert_int_equal(t->law, d->law);
  assert_int_equal(t->pair, m->joints[0].pair);

  /* two coordinates and the constant */
  const mbg__row *sum = &m->rows[m->couplings[0].row];
  assert_int_equal(sum->nterm, 3);
  assert_close(l.design->attr[m->terms[sum->term].factor], 1, 0);
  assert_close(l.design->attr[m->terms[sum->term + 1].factor], -2, 0);
  assert_int_equal(m->terms[sum->term + 2].pair, -1);
  assert_close(m->terms[sum->term + 2].sign * l.design->attr[m->terms[sum->term + 2].factor], -0.5, 0);
  assert_true(m->terms[sum->term].turn >= 0);

  /* the reaction of a joint includes its drivers; one coordinate for driver, coupling, signals */
  const mbg__signal *f = &m->signals[find_signals(m, "f")];
  assert_int_equal(f->nrow, 5);
  assert_int_equal(f->nrows, 6);
  assert_int_equal(f->rows[5], d->row);
  assert_int_equal(m->signals[find_signals(m, "h")].nrows, 1);
  assert_int_equal(m->signals[find_signals(m, "q")].coord, d->coord);
  assert_int_equal(m->signals[find_signals(m, "v")].coord, d->coord);
  assert_int_equal(m->ncoord, 3);
  assert_int_equal(m->nturn, 2);
  unload(&l);
}

/* ---------------------------------------------------------------------- signals, criteria, start */

static void test_signals_and_criteria(void **state) {
  (void)state;
  loaded l = load("{'mbgrad': 1, 'parameters': {'w': 2}, 'bodies': {'a': {'mass': 1}}, 'signals': {"
                  " 'c': {'type': 'expression', 'value': 'b + 1'}, 'b': {'type': 'expression', 'value': 'y*w + acc'},"
                  " 'y': {'type': 'position', 'of': 'a', 'component': 'y'}, 'acc': {'type': 'acceleration', 'of': 'a', "
                  "'component': 2},"
                  " 'e': {'type': 'energy'}, 't1': {'type': 'expression', 'value': '2*t'}}, 'criteria': {"
                  " 'sum': {'value': 'w*end + area'}, 'end': {'terminal': 'y'}, 'area': {'integral': 'y^2 + c'},"
                  " 'fit': {'least_squares': 'y', 'data': {'time': [0, 1], 'value': [2, 3]}, 'sigma': 0.5},"
                  " 'top': {'smooth_maximum': 'y', 'sharpness': 50}, 'way': {'path': 'y', 'max': 3}}}");
  const mbg_model *m = l.model;
  const int y = find_signals(m, "y"), b = find_signals(m, "b"), c = find_signals(m, "c");
  assert_true(y < b && b < c);
  assert_int_equal(m->signals[c].level, MBG__LEVEL_ACCELERATION);
  assert_int_equal(m->signals[find_signals(m, "t1")].level, MBG__LEVEL_TIME);
  assert_int_equal(m->signals[find_signals(m, "e")].body, -1);
  const mbg__fn *fn = &m->fns[m->signals[c].fn];
  for (int k = 0; k < fn->ninput; k++) {
    assert_true(fn->input[k].role != MBG__ROLE_SIGNAL || fn->input[k].index == b);
  }

  const mbg__criterion *end = &m->criteria[find_criteria(m, "end")], *area = &m->criteria[find_criteria(m, "area")];
  const mbg__criterion *sum = &m->criteria[find_criteria(m, "sum")], *fit = &m->criteria[find_criteria(m, "fit")];
  assert_int_equal(end->signal, y);
  assert_null(m->signals[area->signal].name);
  assert_int_equal(m->signals[area->signal].level, MBG__LEVEL_ACCELERATION);
  assert_true(sum > end && sum > area);
  int criteria = 0, names = 0;
  for (int k = 0; k < sum->ninput; k++) {
    const mbg__input *in = &sum->input[k];
    criteria += in->role == MBG__ROLE_SIGNAL && (in->index == end - m->criteria || in->index == area - m->criteria);
    names += in->role == MBG__ROLE_ATTR && l.design->attr[in->index] == 2;
  }
  assert_int_equal(criteria, 2);
  assert_int_equal(names, 1);
  assert_int_equal(fit->nsample, 2);
  assert_close(fit->weight[1], 4, 1e-15);
  assert_close(fit->value[1], 3, 0);
  assert_close(m->criteria[find_criteria(m, "way")].upper, 3, 0);
  assert_true(isinf(m->criteria[find_criteria(m, "way")].lower));
  unload(&l);
}

static void test_start_and_run(void **state) {
  (void)state;
  loaded l = load("{'mbgrad': 1, 'name': 'n', 'constants': {'T': 5}, 'bodies': {'a': {'mass': 1, 'position': [1, 0, "
                  "0], 'rotate': [['z', 1]],"
                  " 'velocity': [1, 2, 3]}}, 'joints': {'j': {'type': 'revolute', 'between': ['ground', 'a']}}, "
                  "'initial': {'start': 'exact',"
                  " 'bodies': {'a': {'position': [2, 0, 0], 'angular_velocity': [0, 0, 4]}},"
                  " 'pin': {'p': {'joint': 'j', 'value': 0.5}}},"
                  " 'run': {'formulation': 'lie', 'end': 'T', 'step': 'T/100', 'rho_inf': 0.8, 'breaks': [1, 2], "
                  "'redundant': 'error'}}");
  const mbg_model *m = l.model;
  const mbg__body *a = &m->bodies[0];
  assert_string_equal(mbg_model_name(m), "n");
  assert_close(l.design->poses[a->design].h.x[0], 1, 0);
  assert_close(l.design->poses[a->guess].h.x[0], 2, 0);
  assert_close_array(l.design->poses[a->guess].h.R, l.design->poses[a->design].h.R, 9, 0);
  assert_close(l.design->attr[a->velocity + 1], 2, 0);
  assert_close(l.design->attr[a->velocity + 5], 4, 0);
  assert_int_equal(m->start, MBG__START_EXACT);
  assert_int_equal(m->npin, 1);
  assert_close(l.design->attr[m->pins[0].value], 0.5, 0);
  assert_int_equal(m->pins[0].rate, -1);
  assert_string_equal(m->run.formulation, "lie");
  assert_close(m->run.step, 0.05, 0);
  assert_int_equal(m->run.nbreak, 2);
  assert_true(m->run.redundant_error);
  assert_true(isnan(m->run.alpha_f));
  unload(&l);
}

/* ---------------------------------------------------------------------- parts */

static const char part_text[] =
    "{'mbgrad': 1, 'parameters': {'k': 10, 'c': 1, 'v': {'value': 2, 'count': 3}}, 'constants': {'k2': '2*k'},"
    " 'gravity': [1, 2, 3],"
    " 'bodies': {'frame': {'outer': 'frame'}, 'arm': {'mass': 2, 'com': [0.1, 0.2, 0.3], 'inertia': [5, 6, 7, 0.1, "
    "0.2, 0.3],"
    "   'position': [1, 2, 0.5], 'rotate': [['z', 0.3], ['x', 0.2]], 'velocity': [1, 2, 3], 'angular_velocity': [4, 5, "
    "6]}},"
    " 'markers': {'tip': {'on': 'arm', 'at': [0.3, 0.2, 0.1], 'rotate': [['y', 0.7]]},"
    "   'post': {'on': 'ground', 'at': [1, 1, 0], 'rotate': [['x', 0.5]]}, 'eye': {'on': 'arm', 'in': 'world', 'at': "
    "[2, 3, 4]}},"
    " 'joints': {'hinge': {'type': 'revolute', 'between': ['frame', 'arm'], 'at': [1, 2, 0], 'axis': [1, 0.2, 0.3]},"
    "   'thread': {'type': 'screw', 'between': ['frame', 'arm'], 'at': [1, 2, 0], 'axis': [1, 0.2, 0.3], 'pitch': "
    "0.1}},"
    " 'drivers': {'turn': {'joint': 'hinge', 'law': 'c*t'}},"
    " 'forces': {'spring': {'type': 'spring-damper', 'between': ['post', 'tip'], 'stiffness': 'k2'},"
    "   'push': {'type': 'force', 'on': 'tip', 'force': [1, 't', 'v[2]'], 'torque': [4, 5, 6]},"
    "   'twist': {'type': 'torsion-spring-damper', 'joint': 'hinge', 'stiffness': 1}},"
    " 'signals': {'x': {'type': 'position', 'of': 'tip', 'component': 'x'}, 'xx': {'type': 'expression', 'value': "
    "'2*x'}},"
    " 'initial': {'pin': {'p': {'joint': 'hinge', 'value': 0.1}}}, 'run': {'end': 1}}";

static char folder[] = "/tmp/mbgrad-load-XXXXXX";

static int write_parts(void **state) {
  (void)state;
  char path[128];
  if (!mkdtemp(folder)) {
    return -1;
  }
  char *text = json(part_text);
  snprintf(path, sizeof(path), "%s/part.json", folder);
  support_write_file(path, text, strlen(text));
  free(text);
  text = json("{'mbgrad': 1, 'bodies': {'hub': {'mass': 1}}, 'parts': {'in': {'use': 'part.json', 'mirror': 'x',"
              " 'at': [0, 0, 1], 'bind': {'frame': 'hub'}}}}");
  snprintf(path, sizeof(path), "%s/nested.json", folder);
  support_write_file(path, text, strlen(text));
  free(text);
  return 0;
}

static int remove_parts(void **state) {
  (void)state;
  char path[128];
  snprintf(path, sizeof(path), "%s/part.json", folder);
  remove(path);
  snprintf(path, sizeof(path), "%s/nested.json", folder);
  remove(path);
  return rmdir(folder);
}

/* P S F S for the reflection S of axis `mirror` */
static mbg__frame image(const mbg__frame *P, int mirror, const mbg__frame *F) {
  mbg__frame M = *F, out;
  for (int i = 0; i < 3; i++) {
    M.x[i] *= i == mirror ? -1 : 1;
    for (int j = 0; j < 3; j++) {
      M.R[3 * i + j] *= (i == mirror) != (j == mirror) ? -1 : 1;
    }
  }
  frame_mul(&out, P, &M);
  return out;
}

static void test_parts(void **state) {
  (void)state;
  loaded l = load_in(folder, "{'mbgrad': 1, 'parameters': {'kf': 30}, 'bodies': {'base': {'mass': 1}}, 'parts': {"
                             " 'R': {'use': 'part.json', 'bind': {'frame': 'base'}, 'set': {'k': 'kf + 1'}},"
                             " 'L': {'use': 'part.json', 'bind': {'frame': 'base'}}},"
                             " 'criteria': {'end': {'terminal': 'R.xx'}, 'sum': {'terminal': 'R.x + L.x*L.c'}}}");
  const mbg_model *m = l.model;
  /* parameters: kf; R.c, R.v; L.k, L.c, L.v. The one that is set is a constant */
  assert_int_equal(m->nparameter, 6);
  assert_int_equal(m->np, 1 + 1 + 3 + 1 + 1 + 3);
  assert_close(l.design->constants[find_constants(m, "R.k")], 31, 0);
  assert_close(l.design->constants[find_constants(m, "R.k2")], 62, 0);
  assert_close(l.design->constants[find_constants(m, "L.k2")], 20, 0);
  assert_close(l.design->attr[m->forces[find_forces(m, "R.spring")].attr], 62, 0);
  assert_int_equal(find_parameters(m, "L.k") >= 0, 1);
  /* base, R.arm, L.arm; gravity and run are the model's own */
  assert_int_equal(m->nbody, 3);
  assert_int_equal(m->gravity, -1);
  assert_true(isnan(m->run.end));
  assert_int_equal(m->npin, 2);
  const mbg__joint *hinge = &m->joints[find_joints(m, "R.hinge")];
  assert_int_equal(m->markers[m->pairs[hinge->pair].A].body, find_bodies(m, "base"));
  assert_int_equal(m->criteria[find_criteria(m, "end")].signal, find_signals(m, "R.xx"));
  unload(&l);
}

/* T = (S, det(S) S) of the reflection S of an axis */
static void mirror_signs(int axis, double T[6]) {
  for (int i = 0; i < 6; i++) {
    T[i] = ((i % 3 == axis) != (i >= 3)) ? -1 : 1;
  }
}

/* com and products of inertia are mirrored, so that M' = T M T */
static void check_mirrored_inertia(const loaded *l, const mbg__body *r, const mbg__body *b, const double T[6]) {
  const double *Mr = l->design->M + 36 * (r - l->model->bodies), *Ml = l->design->M + 36 * (b - l->model->bodies);
  const double *vr = l->design->guess_v + r->voff, *vl = l->design->guess_v + b->voff;
  for (int i = 0; i < 6; i++) {
    assert_close(vl[i], T[i] * vr[i], 1e-12);
    for (int j = 0; j < 6; j++) {
      assert_close(Ml[6 * i + j], T[i] * T[j] * Mr[6 * i + j], 1e-12);
    }
  }
}

static void check_mirror(int axis) {
  static const char *const names[] = {"x", "y", "z"};
  char text[1024];
  snprintf(
      text, sizeof(text),
      "{'mbgrad': 1, 'bodies': {'base': {'mass': 1}}, 'parts': {'R': {'use': 'part.json', 'bind': {'frame': 'base'}},"
      " 'L': {'use': 'part.json', 'bind': {'frame': 'base'}, 'mirror': '%s', 'at': [1, 2, 3], 'rotate': [['z', 0.4], "
      "['y', 0.2]]}}}",
      names[axis]);
  loaded l = load_in(folder, text);
  const mbg_model *m = l.model;
  /* the place of the part: the frame of its ground */
  const mbg__pair *push = &m->pairs[m->forces[find_forces(m, "L.push")].pair];
  const mbg__frame P = world_of(&l, push->A);
  assert_close(P.x[1], 2, 0);

  static const char *const markers[] = {"tip", "post", "eye"};
  for (int i = 0; i < 3; i++) {
    char right[16], left[16];
    snprintf(right, sizeof(right), "R.%s", markers[i]);
    snprintf(left, sizeof(left), "L.%s", markers[i]);
    const mbg__frame R = world_of(&l, find_markers(m, right)), L = world_of(&l, find_markers(m, left));
    const mbg__frame expected = image(&P, axis, &R);
    assert_frames(&L, &expected);
  }
  const mbg__body *r = &m->bodies[find_bodies(m, "R.arm")], *b = &m->bodies[find_bodies(m, "L.arm")];
  const mbg__frame expected = image(&P, axis, &l.design->poses[r->design].h);
  assert_frames(&l.design->poses[b->design].h, &expected);

  double T[6];
  mirror_signs(axis, T);
  check_mirrored_inertia(&l, r, b, T);

  /* wrench: functions with the signs of T */
  const mbg__force *pr = &m->forces[find_forces(m, "R.push")], *pl = &m->forces[find_forces(m, "L.push")];
  for (int k = 0; k < 6; k++) {
    const mbg__fn *fr = &m->fns[pr->fn + k], *fl = &m->fns[pl->fn + k];
    double xr[4], xl[4], scratch[64], yr, yl;
    for (int i = 0; i < fr->ninput; i++) {
      xr[i] = fr->input[i].role == MBG__ROLE_T ? 0.7 : l.design->attr[fr->input[i].index];
      xl[i] = fl->input[i].role == MBG__ROLE_T ? 0.7 : l.design->attr[fl->input[i].index];
    }
    assert_true(mbg__expr_scratch(fr->expr) <= 64 && mbg__expr_scratch(fl->expr) <= 64);
    assert_int_equal(mbg__expr_value(l.ctx, fr->expr, xr, scratch, &yr), MBG_OK);
    assert_int_equal(mbg__expr_value(l.ctx, fl->expr, xl, scratch, &yl), MBG_OK);
    assert_close(yl, T[k] * yr, 0);
  }

  /* coordinates are those of the part as it is written: angle about z of the markers */
  const double sign = axis == 2 ? 1 : -1;
  const mbg__driver *d = &m->drivers[find_drivers(m, "L.turn")];
  assert_close(m->coords[d->coord].sign, sign, 0);
  assert_close(m->terms[m->rows[d->row].term].sign, sign, 0);
  assert_close(m->coords[m->forces[find_forces(m, "L.twist")].coord].sign, sign, 0);
  const mbg__joint *screw = &m->joints[find_joints(m, "L.thread")];
  assert_close(m->terms[m->rows[screw->row + screw->nrow - 1].term].attr_sign, -1, 0);
  assert_close(screw->sign[0], sign, 0);
  unload(&l);
}

static void test_mirrored_parts(void **state) {
  (void)state;
  for (int axis = 0; axis < 3; axis++) {
    check_mirror(axis);
  }
}

static void test_nested_parts(void **state) {
  (void)state;
  /* P1 S1 (P2 S2 F S2) S1 with S1 = S2: the reflections cancel but for the place of the inner part */
  loaded l = load_in(folder, "{'mbgrad': 1, 'bodies': {'base': {'mass': 1}}, 'parts': {"
                             " 'R': {'use': 'part.json', 'bind': {'frame': 'base'}},"
                             " 'N': {'use': 'nested.json', 'mirror': 'x', 'at': [5, 0, 0], 'rotate': [['z', 0.4]]}}}");
  const mbg_model *m = l.model;
  mbg__frame P = {{cos(0.4), -sin(0.4), 0, sin(0.4), cos(0.4), 0, 0, 0, 1}, {5, 0, 1}}, expected;
  const mbg__frame R = world_of(&l, find_markers(m, "R.tip")), N = world_of(&l, find_markers(m, "N.in.tip"));
  frame_mul(&expected, &P, &R);
  assert_frames(&N, &expected);
  assert_close(m->joints[find_joints(m, "N.in.hinge")].sign[0], 1, 0);
  unload(&l);
}

/* ---------------------------------------------------------------------- files, memory, threads */

static void test_gallery(void **state) {
  (void)state;
  DIR *gallery = opendir(MBG_GALLERY_DIR);
  assert_non_null(gallery);
  int count = 0;
  for (const struct dirent *entry; (entry = readdir(gallery)) != NULL;) {
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s/model.json", MBG_GALLERY_DIR, entry->d_name);
    if (entry->d_name[0] == '.' || access(path, R_OK) != 0) {
      continue;
    }
    path[strlen(path) - strlen("/model.json")] = 0;
    loaded l = {0};
    assert_int_equal(mbg_context_create(NULL, &l.ctx), MBG_OK);
    if (mbg_model_load(l.ctx, path, &l.model) < 0) {
      fail_msg("%s: %s", path, mbg_context_error(l.ctx));
    }
    make_design(&l);
    assert_string_equal(mbg_model_name(l.model), entry->d_name);
    assert_true(l.model->size > 0);
    unload(&l);
    count++;
  }
  closedir(gallery);
  assert_true(count > 0);
}

static void test_missing_file(void **state) {
  (void)state;
  mbg_context *ctx;
  mbg_model *model;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_load(ctx, "/no/such/model.json", &model), MBG_ERROR_IO);
  assert_null(model);
  assert_non_null(strstr(mbg_context_error(ctx), "/no/such/model.json"));
  mbg_context_destroy(ctx);
}

/* A model keeps its text and the texts of its parts: another run of it needs no file, and its messages are the same. */
static void test_for_run(void **state) {
  (void)state;
  char path[128];
  mbg_model *one, *two, *none;
  snprintf(path, sizeof(path), "%s/gone.json", folder);
  char *part = json(part_text);
  support_write_file(path, part, strlen(part));
  free(part);
  loaded l = load_in(folder, "{'mbgrad': 1, 'parameters': {'kf': 30}, 'bodies': {'base': {'mass': 1}},"
                             " 'parts': {'R': {'use': 'gone.json', 'bind': {'frame': 'base'}},"
                             " 'L': {'use': 'gone.json', 'bind': {'frame': 'base'}}},"
                             " 'runs': {'soft': {'set': {'kf': 3}, 'end': 2}, 'hard': {'set': {'kf': 300}}}}");
  remove(path);
  /* a file that two parts use is kept once */
  assert_non_null(l.model->sources->next);
  assert_null(l.model->sources->next->next);
  assert_int_equal(mbg_model_for_run(l.ctx, l.model, "soft", &one), MBG_OK);
  assert_string_equal(mbg_model_active_run(one), "soft");
  assert_close(mbg_model_parameter_value(one, 0), 3, 0);
  assert_close(one->run.end, 2, 0);
  assert_int_equal(one->nbody, l.model->nbody);
  assert_int_equal(mbg_model_for_run(l.ctx, l.model, "stiff", &none), MBG_ERROR_INPUT);
  assert_null(none);
  assert_non_null(strstr(mbg_context_error(l.ctx), "test.json: there is no run 'stiff'"));
  mbg_model_destroy(l.model);
  /* a model made from another one keeps its own copy */
  assert_int_equal(mbg_model_for_run(l.ctx, one, "hard", &two), MBG_OK);
  assert_close(mbg_model_parameter_value(two, 0), 300, 0);
  mbg_model_destroy(one);
  assert_int_equal(mbg_model_for_run(l.ctx, two, NULL, &l.model), MBG_OK);
  assert_null(mbg_model_active_run(l.model));
  assert_close(mbg_model_parameter_value(l.model, 0), 30, 0);
  mbg_model_destroy(two);
  unload(&l);
}

static void test_schema(void **state) {
  (void)state;
  mbg_context *ctx;
  char *text;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_schema(ctx, &text), MBG_OK);
  char *kept = support_read_file(MBG_SOURCE_DIR "/docs/model.schema.json", NULL);
  if (strcmp(text, kept) != 0) {
    support_write_file("model.schema.json", text, strlen(text));
    fail_msg("docs/model.schema.json is not what the tables give; the new one is model.schema.json in this folder");
  }
  free(kept);
  mbg_text_destroy(ctx, text);
  mbg_context_destroy(ctx);
}

/* everything that allocates in its own way: parts, tables, controls, expressions, data, suggestions */
static const char rich_text[] =
    "{'mbgrad': 1, 'parameters': {'kf': 30, 'v': {'value': 1, 'count': 3}}, 'constants': {'a': 'b + 1', 'b': 'kf'},"
    " 'tables': {'f': {'x': [0, 1, 2], 'y': [0, 1, 4], 'interpolation': 'cubic', 'extrapolation': 'hold'}},"
    " 'controls': {'u': {'times': [0, 1, 2], 'values': 'v', 'interpolation': 'cubic'}},"
    " 'bodies': {'base': {'mass': 1}, 'p': {'mass': 1, 'motion': 'planar'}},"
    " 'parts': {'R': {'use': 'part.json', 'bind': {'frame': 'base'}, 'set': {'k': 'kf + 1'}, 'mirror': 'y'}},"
    " 'joints': {'j': {'type': 'universal', 'between': ['ground', 'base'], 'at': [0, 0, 0], 'axis': [1, 0, 0], "
    "'axis2': [0, 1, 0]},"
    "   'k': {'type': 'prismatic', 'between': ['ground', 'p'], 'points': [[0, 0, 0], [0, 0, 0]], 'axes': [[1, 0, 0], "
    "[1, 0, 0]]}},"
    " 'drivers': {'d': {'joint': 'j', 'coordinate': 'angle1', 'law': 'f(t) + u'}},"
    " 'couplings': {'c': {'terms': [{'joint': 'k', 'factor': 2}]}},"
    " 'signals': {'s': {'type': 'expression', 'value': 'R.x*u + a'}, 'r': {'type': 'reaction', 'joint': 'j', "
    "'component': 'fx'}},"
    " 'criteria': {'c1': {'integral': 's^2'}, 'c2': {'value': '2*c1 + a'},"
    "   'c3': {'least_squares': 's', 'data': {'time': [0, 1], 'value': [1, 2]}}},"
    " 'initial': {'bodies': {'p': {'velocity': [1, 0, 0]}}}, 'run': {'method': 'direct', 'end': 1, 'breaks': [0.5]}}";

static void check_memory(const char *text, int expected, bool once) {
  char *copy = json(text);
  for (long n = 1;; n++) {
    support_memory memory = {.fail_at = n, .once = once};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx;
    mbg_model *model = NULL;
    if (mbg_context_create(&allocator, &ctx) < 0) {
      assert_int_equal(memory.live, 0);
      continue;
    }
    const int status = mbg_model_parse(ctx, "test.json", copy, strlen(copy), folder, &model);
    const bool failed = memory.requests >= n;
    if (failed && expected == MBG_OK) {
      assert_int_equal(status, MBG_ERROR_MEMORY);
    } else if (!failed) {
      assert_int_equal(status, expected);
    }
    assert_true((model != NULL) == (status == MBG_OK));
    mbg_model_destroy(model);
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (!failed) {
      assert_true(n > 10);
      break;
    }
  }
  free(copy);
}

static void test_memory(void **state) {
  (void)state;
  check_memory(rich_text, MBG_OK, false);
  check_memory(rich_text, MBG_OK, true);
  /* errors on the way: messages may be lost, memory not */
  const char *bad =
      "{'mbgrad': 1, 'constants': {'alpha': 'alhpa', 'beta': 'gamma', 'gamma': 'beta'}, 'bodies': {'b': {'mas': 1}},"
      " 'joints': {'j': {'type': 'revolut'}}, 'signals': {'s': {'type': 'position', 'of': 'bb'}}}";
  check_memory(bad, MBG_ERROR_INPUT, false);
  check_memory(bad, MBG_ERROR_INPUT, true);
}

/* a list that repeats one mistake does not become a list of messages */
static void test_many_errors(void **state) {
  (void)state;
  enum { COUNT = 5000 };
  char *text = calloc(COUNT, 40), *at = text;
  assert_non_null(text);
  at += sprintf(at, "{\"mbgrad\": 1, \"bodies\": {");
  for (int i = 0; i < COUNT; i++) {
    at += sprintf(at, "%s\"b%d\": {\"mas\": 1}", i ? "," : "", i);
  }
  sprintf(at, "}}");
  mbg_context *ctx;
  mbg_model *model;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  assert_int_equal(mbg_model_parse(ctx, "test.json", text, strlen(text), NULL, &model), MBG_ERROR_INPUT);
  assert_true(mbg_context_message_count(ctx) <= MBG__MESSAGE_MAX + 1);
  mbg_context_destroy(ctx);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_attributes),
      cmocka_unit_test(test_matrices),
      cmocka_unit_test(test_constants_in_any_order),
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_controls),
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_joint_in_world),
      cmocka_unit_test(test_points),
      cmocka_unit_test(test_markers),
      cmocka_unit_test(test_masks),
      cmocka_unit_test(test_drivers_and_couplings),
      cmocka_unit_test(test_signals_and_criteria),
      cmocka_unit_test(test_start_and_run),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_mirrored_parts),
      cmocka_unit_test(test_nested_parts),
      cmocka_unit_test(test_gallery),
      cmocka_unit_test(test_missing_file),
      cmocka_unit_test(test_for_run),
      cmocka_unit_test(test_schema),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_many_errors),
  };
  return cmocka_run_group_tests(tests, write_parts, remove_parts);
}
