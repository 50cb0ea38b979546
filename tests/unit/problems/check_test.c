/* Check of a model: degrees of freedom of the gallery, initial accelerations and reactions with known answers, freedoms
   without inertia, the tree, parameters, warnings, JSON, failing allocations. */
#include "mbgrad/check.h"

#include "io/json.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- fixture */

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_check *check;
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof(*f));
  *state = f;
  return f && mbg_context_create(NULL, &f->ctx) == MBG_OK ? 0 : 1;
}

static void forget(fixture *f) {
  mbg_check_destroy(f->check);
  mbg_model_destroy(f->model);
  f->check = NULL;
  f->model = NULL;
  mbg_context_clear(f->ctx);
}

static int teardown(void **state) {
  fixture *f = *state;
  forget(f);
  mbg_context_destroy(f->ctx);
  free(f);
  return 0;
}

static void load(fixture *f, const char *text) {
  forget(f);
  if (mbg_model_parse(f->ctx, "test", text, strlen(text), NULL, &f->model) < 0) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
}

static int check_at(fixture *f, const double *parameters) {
  const mbg_check_options opt = {.size = sizeof(opt), .parameters = parameters};
  return mbg_check_create(f->ctx, f->model, &opt, &f->check);
}

/* `text` with single quotes instead of double ones */
static const mbg_check_summary *check_text(fixture *f, const char *text) {
  char *json = malloc(strlen(text) + 1);
  strcpy(json, text);
  for (char *c = json; *c; c++) {
    *c = *c == '\'' ? '"' : *c;
  }
  load(f, json);
  free(json);
  if (check_at(f, NULL) < 0) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
  return mbg_check_get_summary(f->check);
}

static void load_gallery(fixture *f, const char *name) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", MBG_GALLERY_DIR, name);
  forget(f);
  if (mbg_model_load(f->ctx, path, &f->model) < 0) {
    fail_msg("%s", mbg_context_error(f->ctx));
  }
}

static const mbg_check_signal *signal_of(const fixture *f, const char *name) {
  for (int i = 0; i < mbg_check_get_summary(f->check)->signals; i++) {
    if (!strcmp(mbg_check_get_signal(f->check, i)->name, name)) {
      return mbg_check_get_signal(f->check, i);
    }
  }
  fail_msg("no signal '%s'", name);
  return NULL;
}

static void assert_signal(const fixture *f, const char *name, double expected) {
  const mbg_check_signal *s = signal_of(f, name);
  assert_true(s->determined);
  assert_close(s->value, expected, 1e-12 * fmax(1, fabs(expected))); /* rounding of a few small solves */
}

static bool warned(const fixture *f, const char *part) {
  for (int i = 0; i < mbg_check_get_summary(f->check)->warnings; i++) {
    if (strstr(mbg_check_warning(f->check, i), part)) {
      return true;
    }
  }
  return false;
}

/* ---------------------------------------------------------------------- degrees of freedom */

static void test_gallery(void **state) {
  static const struct {
    const char *name;
    int freedoms, redundant;
  } expected[] = {{"andrews", 1, 0},
                  {"bricard", 1, 1},
                  {"car-axis", 2, 0},
                  {"driven-flap", 1, 1},
                  {"five-bar", 2, 0},
                  {"double-pendulum-spring", 2, 0},
                  {"four-bar", 1, 0},
                  {"four-bar-chain", 1, 0},
                  {"four-bar-spatial", 1, 3},
                  {"heavy-top", 3, 0},
                  {"overhead-crane", 2, 0},
                  {"quarter-car", 2, 0},
                  {"rssr", 2, 0},
                  {"slider-crank", 1, 0},
                  {"simple-pendulum", 1, 0},
                  {"spatial-chain", 4, 0},
                  {"torsional-pendulum", 1, 0},
                  {"two-body-spatial", 4, 0}};
  fixture *f = *state;
  for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
    load_gallery(f, expected[i].name);
    assert_int_equal(check_at(f, NULL), MBG_OK);
    const mbg_check_summary *s = mbg_check_get_summary(f->check);
    assert_string_equal(s->model, expected[i].name);
    assert_int_equal(s->degrees_of_freedom, expected[i].freedoms);
    assert_int_equal(s->redundant, expected[i].redundant);
    assert_int_equal(s->unknowns - s->rank, expected[i].freedoms);
    assert_true(s->start.residual < 1e-9 && s->start.rate_residual < 1e-9);
    assert_true(s->accelerations);
    assert_int_equal(s->warnings, 0);
  }
}

/* ---------------------------------------------------------------------- accelerations and reactions */

/* point on a rod, (1, 0) at speed 2: ax = -v^2/l, ay = -g, and the rod pulls with m v^2/l */
static void test_point_on_rod(void **state) {
  fixture *f = *state;
  const mbg_check_summary *s = check_text(
      f, "{'mbgrad': 1, 'gravity': [0, -9.81, 0],"
         "'bodies': {'bob': {'motion': 'planar-point', 'mass': 3, 'position': [1, 0, 0], 'velocity': [0, 2, 0]}},"
         "'joints': {'rod': {'type': 'distance', 'between': ['ground', 'bob'], 'length': 1}},"
         "'signals': {'ax': {'type': 'acceleration', 'of': 'bob', 'component': 'x'},"
         "            'ay': {'type': 'acceleration', 'of': 'bob', 'component': 'y'},"
         "            'fx': {'type': 'reaction', 'joint': 'rod', 'component': 'fx'}}}");
  assert_signal(f, "ax", -4);
  assert_signal(f, "ay", -9.81);
  assert_signal(f, "fx", -12);
  assert_close(s->kinetic_energy, 6, 1e-12);
  assert_close(s->potential_energy, 0, 1e-12);
  assert_close(s->mass, 3, 0);
}

/* uniform rod held at its end, horizontal: angular acceleration -3 g/(2 l), a quarter of the weight on the hinge */
static const char rod[] =
    "{'mbgrad': 1, 'gravity': [0, -10, 0],"
    "'bodies': {'rod': {'mass': 12, 'inertia': [0, 4, 4], 'position': [1, 0, 0]}},"
    "'joints': {'hinge': {'type': 'revolute', 'between': ['ground', 'rod'], 'at': [0, 0, 0], 'axis': [0, 0, 1]}%s},"
    "'signals': {'alpha': {'type': 'coordinate-acceleration', 'joint': 'hinge', 'coordinate': 'angle'},"
    "            'fy': {'type': 'reaction', 'joint': 'hinge', 'component': 'fy', 'in': 'world'},"
    "            'mz': {'type': 'reaction', 'joint': 'hinge', 'component': 'mz'},"
    "            'half': {'type': 'expression', 'value': 'fy/2'}},"
    "'criteria': {'load': {'terminal': 'half'}}}";

static void test_rod(void **state) {
  fixture *f = *state;
  char text[2048];
  snprintf(text, sizeof(text), rod, "");
  const mbg_check_summary *s = check_text(f, text);
  assert_int_equal(s->degrees_of_freedom, 1);
  assert_signal(f, "alpha", -7.5);
  assert_signal(f, "fy", 30);
  assert_signal(f, "mz", 0);
  assert_signal(f, "half", 15);
  assert_int_equal(s->warnings, 0);
}

/* a second hinge on the same axis: the same motion, but who carries the weight is open */
static void test_two_hinges(void **state) {
  fixture *f = *state;
  char text[2048];
  snprintf(text, sizeof(text), rod,
           ", 'second': {'type': 'revolute', 'between': ['ground', 'rod'], 'at': [0, 0, 1], 'axis': [0, 0, 1]}");
  const mbg_check_summary *s = check_text(f, text);
  assert_int_equal(s->degrees_of_freedom, 1);
  assert_int_equal(s->redundant, 5);
  assert_signal(f, "alpha", -7.5);
  assert_signal(f, "mz", 0); /* no row carries it */
  assert_false(signal_of(f, "fy")->determined);
  assert_false(signal_of(f, "half")->determined);
  assert_true(isnan(signal_of(f, "fy")->value));
  assert_true(warned(f, "criterion 'load'"));
  assert_int_equal(mbg_check_get_joint(f->check, 0)->redundant + mbg_check_get_joint(f->check, 1)->redundant, 5);
  for (int i = 0; i < s->redundant; i++) {
    assert_non_null(strstr(mbg_check_redundant(f->check, i), " row "));
  }
}

/* two discs, gear q1 = 3 q2, torque T on the first: alpha1 = T/(J1 + J2/9) */
static void test_gear(void **state) {
  fixture *f = *state;
  const mbg_check_summary *s =
      check_text(f, "{'mbgrad': 1, 'bodies': {'d1': {'motion': 'planar', 'mass': 1, 'inertia': 2},"
                    "  'd2': {'motion': 'planar', 'mass': 1, 'inertia': 9, 'position': [1, 0, 0]}},"
                    "'joints': {'j1': {'type': 'revolute', 'between': ['ground', 'd1'], 'at': [0, 0, 0]},"
                    "           'j2': {'type': 'revolute', 'between': ['ground', 'd2'], 'at': [1, 0, 0]}},"
                    "'couplings': {'gear': {'terms': [{'joint': 'j1'}, {'joint': 'j2', 'factor': -3}]}},"
                    "'forces': {'motor': {'type': 'actuator', 'joint': 'j1', 'force': '6'}},"
                    "'signals': {'a1': {'type': 'coordinate-acceleration', 'joint': 'j1', 'coordinate': 'angle'},"
                    "            'a2': {'type': 'coordinate-acceleration', 'joint': 'j2', 'coordinate': 'angle'}}}");
  assert_int_equal(s->degrees_of_freedom, 1);
  assert_signal(f, "a1", 2);
  assert_signal(f, "a2", 2.0 / 3);
  assert_string_equal(mbg_check_coupling(f->check, 0), "gear");
  assert_string_equal(mbg_check_get_force(f->check, 0)->joint, "j1");
  assert_close(mbg_check_get_force(f->check, 0)->tension, -6, 1e-15);
}

/* ---------------------------------------------------------------------- freedoms without inertia */

static void test_massless(void **state) {
  static const char text[] = "{'mbgrad': 1, 'gravity': [0, 0, -9.81],"
                             "'bodies': {'anchor': {'mass': 1000, 'inertia': [10, 10, 10], 'position': [0, 5, 0]},"
                             "           'needle': {'mass': 1, 'inertia': [%s, 1, 1], 'position': [1, 0, 0]}},"
                             "'joints': {'tip': {'type': '%s', 'between': ['ground', 'needle'], 'at': [0, 0, 0]%s}},"
                             "'signals': {'az': {'type': 'acceleration', 'of': 'needle', 'component': 'z'},"
                             "            'z': {'type': 'position', 'of': 'needle', 'component': 'z'}}}";
  fixture *f = *state;
  char buffer[2048];
  /* nothing turns it about its own axis */
  snprintf(buffer, sizeof(buffer), text, "0", "spherical", "");
  assert_false(check_text(f, buffer)->accelerations);
  assert_true(warned(f, "body 'needle' has a freedom without inertia"));
  assert_false(signal_of(f, "az")->determined);
  assert_signal(f, "z", 0);
  /* a little inertia is enough, and so is a joint that holds it */
  snprintf(buffer, sizeof(buffer), text, "1e-7", "spherical", "");
  assert_true(check_text(f, buffer)->accelerations);
  assert_signal(f, "az", -9.81 / 2);
  snprintf(buffer, sizeof(buffer), text, "0", "revolute", ", 'axis': [0, 1, 0]");
  assert_true(check_text(f, buffer)->accelerations);
  assert_signal(f, "az", -9.81 / 2);
}

static void test_nothing_moves(void **state) {
  fixture *f = *state;
  const mbg_check_summary *s = check_text(f, "{'mbgrad': 1}");
  assert_int_equal(s->degrees_of_freedom, 0);
  assert_int_equal(s->links, 0);
  s = check_text(f, "{'mbgrad': 1, 'bodies': {'a': {'mass': 0}},"
                    "'joints': {'j': {'type': 'fixed', 'between': ['ground', 'a']}}}");
  assert_int_equal(s->degrees_of_freedom, 0);
  assert_true(s->accelerations);
}

/* ---------------------------------------------------------------------- tree */

static void assert_link(const fixture *f, int i, mbg_link_kind kind, int depth, const char *body, const char *parent) {
  const mbg_check_link *l = mbg_check_get_link(f->check, i);
  assert_int_equal(l->kind, kind);
  assert_string_equal(l->body, body);
  if (parent) {
    assert_string_equal(l->parent, parent);
  } else {
    assert_null(l->parent);
  }
  if (kind != MBG_LINK_LOOP) {
    assert_int_equal(l->depth, depth);
  }
}

static void test_tree(void **state) {
  fixture *f = *state;
  load_gallery(f, "five-bar");
  assert_int_equal(check_at(f, NULL), MBG_OK);
  assert_int_equal(mbg_check_get_summary(f->check)->links, 5);
  assert_link(f, 0, MBG_LINK_JOINT, 1, "rod1", "ground");
  assert_link(f, 1, MBG_LINK_JOINT, 2, "rod2", "rod1");
  assert_link(f, 2, MBG_LINK_JOINT, 3, "rod3", "rod2");
  assert_link(f, 3, MBG_LINK_JOINT, 4, "rod4", "rod3"); /* the file cuts at B */
  assert_link(f, 4, MBG_LINK_LOOP, 0, "ground", "rod4");
  assert_true(mbg_check_get_joint(f->check, 4)->closes_loop);
  assert_false(mbg_check_get_joint(f->check, 0)->closes_loop);
}

/* a free pair, a branch, a joint written from the outer body to the inner one, a rod that closes a loop */
static void test_forest(void **state) {
  fixture *f = *state;
  const mbg_check_summary *s = check_text(
      f, "{'mbgrad': 1, 'bodies': {'x': {'mass': 1, 'inertia': [1, 1, 1]}, 'y': {'mass': 1, 'inertia': [1, 1, 1]},"
         "  'a': {'mass': 1, 'inertia': [1, 1, 1]}, 'b': {'mass': 1, 'inertia': [1, 1, 1], 'position': [2, 0, 0]},"
         "  'c': {'mass': 1, 'inertia': [1, 1, 1]}},"
         "'joints': {'rod': {'type': 'distance', 'between': ['ground', 'b'], 'length': 2},"
         "  'xy': {'type': 'spherical', 'between': ['y', 'x']},"
         "  'ba': {'type': 'spherical', 'between': ['b', 'a'], 'at': [1, 0, 0]},"
         "  'ga': {'type': 'revolute', 'between': ['ground', 'a'], 'at': [0, 0, 0], 'axis': [0, 0, 1]},"
         "  'ac': {'type': 'fixed', 'between': ['a', 'c']}}}");
  assert_int_equal(s->links, 6);
  assert_link(f, 0, MBG_LINK_JOINT, 1, "a", "ground");
  assert_link(f, 1, MBG_LINK_JOINT, 2, "b", "a");
  assert_link(f, 2, MBG_LINK_JOINT, 2, "c", "a");
  assert_link(f, 3, MBG_LINK_FREE, 1, "x", NULL);
  assert_link(f, 4, MBG_LINK_JOINT, 2, "y", "x");
  assert_link(f, 5, MBG_LINK_LOOP, 0, "b", "ground");
  assert_false(mbg_check_get_body(f->check, 0)->connected);
  assert_false(mbg_check_get_body(f->check, 1)->connected);
  assert_true(mbg_check_get_body(f->check, 3)->connected);
}

/* long chains neither recurse nor take quadratic time */
static void test_long_chain(void **state) {
  enum { N = 2000, SIZE = 400 * N };
  fixture *f = *state;
  char *text = malloc(SIZE);
  int n = snprintf(text, SIZE, "{\"mbgrad\": 1, \"bodies\": {");
  for (int i = 0; i < N; i++) {
    n += snprintf(text + n, (size_t)(SIZE - n),
                  "%s\"b%d\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 1, \"position\": [%d, 0, 0]}",
                  i ? ", " : "", i, i);
  }
  n += snprintf(text + n, (size_t)(SIZE - n), "}, \"joints\": {");
  for (int i = 0; i < N; i++) {
    char parent[16] = "ground";
    snprintf(parent, sizeof(parent), i ? "b%d" : "ground", i - 1);
    n += snprintf(text + n, (size_t)(SIZE - n),
                  "%s\"j%d\": {\"type\": \"revolute\", \"between\": [\"%s\", \"b%d\"], \"at\": [%d, 0, 0]}",
                  i ? ", " : "", i, parent, i, i);
  }
  snprintf(text + n, (size_t)(SIZE - n), "}}");
  load(f, text);
  free(text);
  assert_int_equal(check_at(f, NULL), MBG_OK);
  assert_int_equal(mbg_check_get_summary(f->check)->degrees_of_freedom, N);
  assert_link(f, N - 1, MBG_LINK_JOINT, N, "b1999", "b1998");
}

/* ---------------------------------------------------------------------- joints, parameters, start */

static void test_coordinates(void **state) {
  fixture *f = *state;
  (void)check_text(f, "{'mbgrad': 1, 'parameters': {'q': 0.3},"
                      "'bodies': {'a': {'mass': 1, 'inertia': [1, 1, 1], 'position': [1, 0, 0]}},"
                      "'joints': {'j': {'type': 'cylindrical', 'between': ['ground', 'a'], 'at': [0, 0, 0],"
                      "                 'axis': [0, 0, 1]}},"
                      "'drivers': {'m': {'joint': 'j', 'coordinate': 'angle', 'law': 'q + 2*t'}},"
                      "'initial': {'pin': {'s': {'joint': 'j', 'coordinate': 'slide', 'value': 0.5, 'rate': -1}}}}");
  const mbg_check_joint *j = mbg_check_get_joint(f->check, 0);
  assert_int_equal(j->coordinates, 2);
  assert_string_equal(j->bodies[0], "ground");
  assert_string_equal(j->bodies[1], "a");
  assert_string_equal(j->coordinate[0].name, "angle");
  assert_string_equal(j->coordinate[0].driver, "m");
  assert_close(j->coordinate[0].value, 0.3, 1e-12);
  assert_close(j->coordinate[0].rate, 2, 1e-12);
  assert_string_equal(j->coordinate[1].unit, "m");
  assert_null(j->coordinate[1].driver);
  assert_close(j->coordinate[1].value, 0.5, 1e-12);
  assert_close(j->coordinate[1].rate, -1, 1e-12);
  const mbg_check_driver *d = mbg_check_get_driver(f->check, 0);
  assert_string_equal(d->law, "q + 2*t");
  assert_string_equal(d->joint, "j");
  assert_string_equal(d->coordinate, "angle");
  const mbg_check_body *b = mbg_check_get_body(f->check, 0);
  assert_close_array(b->position, ((const double[]){cos(0.3), sin(0.3), 0.5}), 3, 1e-12);
  assert_close_array(b->rotation, ((const double[]){0, 0, 0.3}), 3, 1e-12);
  assert_close_array(b->velocity, ((const double[]){-2 * sin(0.3), 2 * cos(0.3), -1}), 3, 1e-12);
  assert_close_array(b->angular_velocity, ((const double[]){0, 0, 2}), 3, 1e-12);
  assert_close(b->moved, hypot(2 * sin(0.15), 0.5), 1e-12);
  assert_close(b->turned, 0.3, 1e-12);
}

static void test_parameters(void **state) {
  fixture *f = *state;
  const mbg_check_summary *s =
      check_text(f, "{'mbgrad': 1, 'parameters': {'m': {'value': 2, 'min': 1, 'max': 3, 'unit': 'kg'}, 'unused': 1,"
                    "  'r': {'value': [1, 2, 3], 'max': 10}},"
                    "'bodies': {'a': {'mass': 'm', 'inertia': ['m*r[0]', 'r[0] + r[1]', 'r[0] + r[1]']}}}");
  assert_int_equal(s->parameters, 3);
  assert_int_equal(s->parameter_entries, 5);
  const mbg_check_parameter *m = mbg_check_get_parameter(f->check, 0), *r = mbg_check_get_parameter(f->check, 2);
  assert_int_equal(m->uses, 2);
  assert_string_equal(m->unit, "kg");
  assert_int_equal(r->count, 3);
  assert_true(r->vector);
  assert_int_equal(r->uses, 3);
  assert_true(isinf(r->min) && r->min < 0);
  assert_true(warned(f, "parameter 'unused' has no effect on the model"));
  assert_int_equal(s->warnings, 1);
  /* other values; the model itself stays as it is */
  mbg_check_destroy(f->check);
  assert_int_equal(check_at(f, (const double[]){4, 1, 1, 2, 3}), MBG_OK);
  assert_close(mbg_check_get_body(f->check, 0)->mass, 4, 0);
  assert_true(warned(f, "parameter 'm' is 4, outside its bounds 1 to 3"));
  assert_close(mbg_model_parameter_value(f->model, 0), 2, 0);
  /* a mass below zero is an error at these parameters */
  mbg_check_destroy(f->check);
  assert_int_equal(check_at(f, (const double[]){-4, 1, 1, 2, 3}), MBG_ERROR_INPUT);
  assert_null(f->check);
}

static void test_start_fails(void **state) {
  fixture *f = *state;
  load(f, "{\"mbgrad\": 1, \"bodies\": {\"a\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 1}}, \"joints\": "
          "{\"j\": {\"type\": \"revolute\", \"between\": [\"ground\", \"a\"]}}, \"initial\": {\"pin\": {"
          "\"one\": {\"joint\": \"j\", \"coordinate\": \"angle\", \"value\": 0.1}, "
          "\"two\": {\"joint\": \"j\", \"coordinate\": \"angle\", \"value\": 0.2}}}}");
  assert_int_equal(check_at(f, NULL), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(f->ctx), "contradict"));
  assert_null(f->check);
}

/* ---------------------------------------------------------------------- JSON */

static double number_at(const mbg__json *root, const char *a, const char *b, const char *c) {
  const mbg__json *j = mbg__json_member(root, a);
  j = b ? mbg__json_member(j, b) : j;
  j = c ? mbg__json_member(j, c) : j;
  assert_non_null(j);
  assert_int_equal(j->kind, MBG__JSON_NUMBER);
  return j->number;
}

static void test_json(void **state) {
  static const char *const keys[] = {"model",     "note",        "degrees_of_freedom",
                                     "unknowns",  "constraints", "rank",
                                     "redundant", "size",        "mass",
                                     "energy",    "start",       "bodies",
                                     "joints",    "drivers",     "couplings",
                                     "forces",    "parameters",  "attributes",
                                     "signals",   "criteria",    "tree",
                                     "warnings"};
  fixture *f = *state;
  char *text;
  mbg__arena arena;
  mbg__json *root;
  load_gallery(f, "four-bar-spatial");
  assert_int_equal(check_at(f, NULL), MBG_OK);
  assert_int_equal(mbg_check_json(f->ctx, f->check, &text), MBG_OK);
  mbg__arena_init(&arena, mbg__context_allocator(f->ctx));
  assert_int_equal(mbg__json_parse(f->ctx, &arena, "check", text, strlen(text), &root), MBG_OK);
  mbg_text_destroy(f->ctx, text);
  assert_int_equal(root->count, sizeof(keys) / sizeof(keys[0]));
  const mbg__json *member = root->child;
  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++, member = member->next) {
    assert_string_equal(member->key, keys[i]);
  }
  assert_int_equal(mbg__json_member(root, "redundant")->count, 3);
  assert_close(number_at(root, "degrees_of_freedom", NULL, NULL), 1, 0);
  assert_close(number_at(root, "bodies", "coupler", "mass"), 1.2, 0);
  assert_close(number_at(root, "parameters", "L1", "value"), 0.3, 0);
  assert_close(number_at(root, "signals", "f4y", "value"), signal_of(f, "f4y")->value, 0);
  assert_int_equal(mbg__json_member(root, "tree")->count, 4);
  mbg__arena_destroy(&arena);
}

/* ---------------------------------------------------------------------- memory */

/* every allocation fails once: an error, no leak; then all succeed */
static void test_failing_memory(void **state) {
  (void)state;
  for (long n = 1;; n++) {
    support_memory memory = {.fail_at = n, .once = true};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx = NULL;
    mbg_model *model = NULL;
    mbg_check *check = NULL;
    char *text = NULL;
    int err = mbg_context_create(&allocator, &ctx);
    err = err < 0 ? err : mbg_model_load(ctx, MBG_GALLERY_DIR "/driven-flap", &model);
    err = err < 0 ? err : mbg_check_create(ctx, model, NULL, &check);
    err = err < 0 ? err : mbg_check_json(ctx, check, &text);
    assert_true(err == MBG_OK || err == MBG_ERROR_MEMORY);
    assert_true(err == MBG_OK || memory.requests >= n);
    if (text) {
      mbg_text_destroy(ctx, text);
    }
    mbg_check_destroy(check);
    mbg_model_destroy(model);
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      assert_int_equal(err, MBG_OK);
      break;
    }
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_gallery),       TEST(test_point_on_rod), TEST(test_rod),
      TEST(test_two_hinges),    TEST(test_gear),         TEST(test_massless),
      TEST(test_nothing_moves), TEST(test_tree),         TEST(test_forest),
      TEST(test_long_chain),    TEST(test_coordinates),  TEST(test_parameters),
      TEST(test_start_fails),   TEST(test_json),         cmocka_unit_test(test_failing_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
