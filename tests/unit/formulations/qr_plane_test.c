/* Models in a plane: evaluation and transposed products of the point in three components a body against the general
   ones, at random states off the manifold, by frames, twists and every attribute; and which models they leave alone. */
#include "formulations/qr/qr_plane.h"
#include "math/avx2.h"
#include "support/model_case.h"
#include "system/system_plane.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* pins off the origins of their bodies, a weld of a turned body, a closed loop, redundant rows, springs to the ground
   and between bodies, centres of mass off the origins */
/* clang-format off */
static const char *const linkage =
    "{\"mbgrad\": 1, \"gravity\": [1, \"-g\", 0], \"parameters\": {\"m\": 1.3, \"k\": 40, \"h\": 0.2, \"g\": 9.81},"
    "\"bodies\": {"
    "\"a\": {\"motion\": \"planar\", \"mass\": \"m\", \"com\": [0.5, \"h\", 0], \"inertia\": 0.3},"
    "\"b\": {\"motion\": \"planar\", \"mass\": 0.7, \"inertia\": \"m/12\", \"position\": [1, \"h\", 0]},"
    "\"c\": {\"motion\": \"planar\", \"mass\": 2, \"inertia\": 0.1, \"position\": [2, 0, 0]},"
    "\"d\": {\"motion\": \"planar\", \"mass\": 0.4, \"com\": [0, \"-h\", 0], \"inertia\": 0.2,"
    "\"position\": [2, 1, 0], \"rotate\": [[\"z\", 0.4]]}},"
    "\"joints\": {"
    "\"pin\": {\"type\": \"revolute\", \"between\": [\"ground\", \"a\"], \"at\": [0, \"h\", 0]},"
    "\"knee\": {\"type\": \"revolute\", \"between\": [\"a\", \"b\"], \"at\": [1, \"h\", 0]},"
    "\"hip\": {\"type\": \"revolute\", \"between\": [\"b\", \"c\"], \"at\": [2, 0, 0]},"
    "\"weld\": {\"type\": \"fixed\", \"between\": [\"c\", \"d\"], \"at\": [2, 1, 0]},"
    "\"end\": {\"type\": \"revolute\", \"between\": [\"d\", \"ground\"], \"at\": [2, 1.5, 0], \"cut\": true},"
    "\"again\": {\"type\": \"revolute\", \"between\": [\"d\", \"ground\"], \"at\": [2, 1.5, 0], \"cut\": true}},"
    "\"markers\": {\"eye\": {\"on\": \"ground\", \"at\": [\"-h\", 3, 0]},"
    "\"tip\": {\"on\": \"d\", \"at\": [0.3, \"h\", 0]},"
    "\"back\": {\"on\": \"a\", \"at\": [\"h\", -0.2, 0]}},"
    "\"forces\": {"
    "\"spring\": {\"type\": \"spring-damper\", \"between\": [\"eye\", \"tip\"], \"stiffness\": \"k\", \"damping\": 3, "
    "\"rest\": \"h\"},"
    "\"strut\": {\"type\": \"spring-damper\", \"between\": [\"back\", \"tip\"], \"stiffness\": \"2*k\", "
    "\"damping\": 1, \"rest\": 0.1}}}";
/* clang-format on */

/* of a point that was evaluated one way: pulled by mu and rho */
typedef struct {
  double *gw, *gv, *ga, *v_star, *a;
} pulled;

enum { COLUMNS = 4 }; /* criteria */

static pulled make_pulled(model_case *c) {
  return (pulled){model_case_array(c, COLUMNS * c->m->nw), model_case_array(c, COLUMNS * c->m->nw),
                  model_case_array(c, COLUMNS * c->m->na), model_case_array(c, c->m->nw),
                  model_case_array(c, c->m->nw)};
}

static void keep(const model_case *c, const pulled *out, const double *v_star, const double *a) {
  memcpy(out->v_star, v_star, (size_t)c->m->nw * sizeof(double));
  memcpy(out->a, a, (size_t)c->m->nw * sizeof(double));
}

/* the pull in a plane goes over free velocities */
static void pull_in_plane(model_case *c, mbg__qr_point *q, const double *mu, const double *rho, const pulled *out) {
  double *x[4]; /* mu, rho, gw, gv */
  for (int i = 0; i < 4; i++) {
    x[i] = model_case_array(c, COLUMNS * c->m->nv);
  }
  for (int k = 0; k < COLUMNS; k++) {
    mbg__to_free(c->m, 1, mu + k * c->m->nw, x[0] + k * c->m->nv);
    mbg__to_free(c->m, 1, rho + k * c->m->nw, x[1] + k * c->m->nv);
  }
  mbg__qr_point_pull_in_plane(q, COLUMNS, x[0], x[1], x[2], x[3], out->ga);
  for (int k = 0; k < COLUMNS; k++) {
    mbg__to_full(c->m, 1, x[2] + k * c->m->nv, out->gw + k * c->m->nw);
    mbg__to_full(c->m, 1, x[3] + k * c->m->nv, out->gv + k * c->m->nw);
  }
}

/* 1e-11: the condition of the constraints, 1e3 at most, times rounding */
static void check(int n, const double *x, const double *y) { assert_close_array(x, y, n, 1e-11); }

static void compare_states(model_case *c, mbg__qr_point *q, support_rng *rng) {
  const double *v_star, *a;
  double *mu = model_case_array(c, COLUMNS * c->m->nw), *rho = model_case_array(c, COLUMNS * c->m->nw);
  const pulled here = make_pulled(c), there = make_pulled(c);
  for (int k = 0; k < COLUMNS; k++) {
    model_case_random_velocity(c, rng, mu + k * c->m->nw);
    model_case_random_velocity(c, rng, rho + k * c->m->nw);
  }
  assert_int_equal(mbg__qr_point_eval(c->ctx, q, c->t, c->H, c->v, c->turns, &v_star, &a), MBG_OK);
  keep(c, &there, v_star, a);
  assert_int_equal(mbg__qr_point_pull(c->ctx, q, COLUMNS, mu, rho, NULL, there.gw, there.gv, there.ga), MBG_OK);
  assert_true(mbg__qr_point_in_plane(q, c->H, c->v));
  assert_int_equal(mbg__qr_point_eval_in_plane(c->ctx, q, c->t, c->turns, &v_star, &a), MBG_OK);
  keep(c, &here, v_star, a);
  pull_in_plane(c, q, mu, rho, &here);
  check(c->m->nw, here.v_star, there.v_star);
  check(c->m->nw, here.a, there.a);
  check(COLUMNS * c->m->nw, here.gw, there.gw);
  check(COLUMNS * c->m->nw, here.gv, there.gv);
  check(COLUMNS * c->m->na, here.ga, there.ga);
}

static void compare(const char *file, const char *text, bool plane) {
  model_case c;
  mbg__rank *rank;
  mbg__qr_point *q;
  support_rng rng = support_rng_make(17);
  model_case_open(&c, file, text);
  model_case_design(&c, &rng, 0);
  model_case_state(&c, &rng, 0);
  assert_int_equal(mbg__rank_analyse(c.ctx, &c.arena, c.sys, NULL, &rank), MBG_OK);
  assert_true(!plane || rank->nkept > 0);
  assert_int_equal(mbg__qr_point_create(c.ctx, &c.arena, c.sys, rank, 0.7, &q), MBG_OK);
  for (int i = 0; i < 5; i++) {
    model_case_state(&c, &rng, 0.02);
    if (plane) {
      compare_states(&c, q, &rng);
    } else {
      assert_false(mbg__qr_point_in_plane(q, c.H, c.v));
    }
  }
  model_case_close(&c);
}

/* n rods on pins: with 33 and more their rows are too many for factors by rows */
static void compare_chain(int n) {
  static char text[1 << 16];
  int at = snprintf(text, sizeof(text),
                    "{\"mbgrad\": 1, \"parameters\": {\"m\": 1.3}, \"gravity\": [0, -9.81, 0], \"bodies\": {");
  for (int i = 0; i < n; i++) {
    at += snprintf(text + at, sizeof(text) - (size_t)at,
                   "%s\"b%d\": {\"motion\": \"planar\", \"mass\": \"m\", \"com\": [0.5, 0.1, 0], \"inertia\": 0.09, "
                   "\"position\": [%d, 0, 0]}",
                   i ? ", " : "", i, i);
  }
  at += snprintf(text + at, sizeof(text) - (size_t)at, "}, \"joints\": {");
  for (int i = 0; i < n; i++) {
    char before[16] = "ground";
    if (i > 0) {
      snprintf(before, sizeof(before), "b%d", i - 1);
    }
    at += snprintf(text + at, sizeof(text) - (size_t)at,
                   "%s\"j%d\": {\"type\": \"revolute\", \"between\": [\"%s\", \"b%d\"], \"at\": [%d, 0, 0]}",
                   i ? ", " : "", i, before, i, i);
  }
  snprintf(text + at, sizeof(text) - (size_t)at, "}}");
  compare(NULL, text, true);
}

static void agrees_with_the_general_point(void **state) {
  (void)state;
  compare(MBG_GALLERY_DIR "/five-bar/model.json", NULL, true);
  compare(NULL, linkage, true);
  compare_chain(3);
  compare_chain(9);
  compare_chain(35);
  compare(MBG_GALLERY_DIR "/five-bar/model.json", NULL, true);
}

/* more freedoms than rows: vectors one after the other */
static void few_rows_have_no_lanes(void **state) {
  (void)state;
  compare(NULL,
          "{\"mbgrad\": 1, \"gravity\": [0, -9.81, 0], \"bodies\": {"
          "\"a\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.3},"
          "\"b\": {\"motion\": \"planar\", \"mass\": 0.7, \"inertia\": 0.1, \"position\": [1, 0.2, 0]}},"
          "\"joints\": {\"pin\": {\"type\": \"revolute\", \"between\": [\"ground\", \"a\"], \"at\": [0, 0.2, 0]}},"
          "\"forces\": {\"spring\": {\"type\": \"spring-damper\", \"between\": [\"a\", \"b\"], \"stiffness\": 10, "
          "\"damping\": 3, \"rest\": 0.4}}}",
          true);
}

/* vectors of the processor, and those that every processor has */
static void bits_do_not_depend_on_the_processor(void **state) {
  (void)state;
  model_case c;
  mbg__rank *rank;
  mbg__qr_point *q;
  const double *v_star, *a;
  support_rng rng = support_rng_make(18);
  model_case_open(&c, NULL, linkage);
  model_case_design(&c, &rng, 0);
  model_case_state(&c, &rng, 0.02);
  assert_int_equal(mbg__rank_analyse(c.ctx, &c.arena, c.sys, NULL, &rank), MBG_OK);
  assert_int_equal(mbg__qr_point_create(c.ctx, &c.arena, c.sys, rank, 0.7, &q), MBG_OK);
  assert_non_null(q->lanes);
  double *mu = model_case_array(&c, COLUMNS * c.m->nw), *rho = model_case_array(&c, COLUMNS * c.m->nw);
  for (int k = 0; k < COLUMNS; k++) {
    model_case_random_velocity(&c, &rng, mu + k * c.m->nw);
    model_case_random_velocity(&c, &rng, rho + k * c.m->nw);
  }
  pulled own[2];
  for (int wide = 0; wide < 2; wide++) {
    own[wide] = make_pulled(&c);
    q->lanes->wide = q->qr.wide = q->plane->wide = wide && mbg__lanes_wide();
    assert_true(mbg__qr_point_in_plane(q, c.H, c.v));
    assert_int_equal(mbg__qr_point_eval_in_plane(c.ctx, q, c.t, c.turns, &v_star, &a), MBG_OK);
    keep(&c, &own[wide], v_star, a);
    pull_in_plane(&c, q, mu, rho, &own[wide]);
  }
  const size_t nw = (size_t)c.m->nw * sizeof(double);
  assert_memory_equal(own[0].v_star, own[1].v_star, nw);
  assert_memory_equal(own[0].a, own[1].a, nw);
  assert_memory_equal(own[0].gw, own[1].gw, COLUMNS * nw);
  assert_memory_equal(own[0].gv, own[1].gv, COLUMNS * nw);
  assert_memory_equal(own[0].ga, own[1].ga, COLUMNS * (size_t)c.m->na * sizeof(double));
  model_case_close(&c);
}

/* ---------------------------------------------------------------------- signals */

/* between bodies and to the ground, in both axes, of both levels, out of the plane, behind an expression */
static const char *const signals =
    ", \"signals\": {"
    "\"x\": {\"type\": \"position\", \"of\": \"tip\", \"component\": \"x\"},"
    "\"y\": {\"type\": \"position\", \"of\": \"tip\", \"relative_to\": \"back\", \"component\": \"y\", "
    "\"in\": \"body\"},"
    "\"z\": {\"type\": \"position\", \"of\": \"back\", \"relative_to\": \"tip\", \"component\": \"z\"},"
    "\"eye\": {\"type\": \"position\", \"of\": \"eye\", \"relative_to\": \"back\", \"component\": \"x\"},"
    "\"u\": {\"type\": \"velocity\", \"of\": \"tip\", \"relative_to\": \"back\", \"component\": \"x\"},"
    "\"v\": {\"type\": \"velocity\", \"of\": \"tip\", \"component\": \"y\", \"in\": \"body\"},"
    "\"w\": {\"type\": \"angular-velocity\", \"of\": \"tip\", \"relative_to\": \"back\", \"component\": \"z\"},"
    "\"d\": {\"type\": \"distance\", \"of\": \"tip\", \"relative_to\": \"back\"},"
    "\"e\": {\"type\": \"distance-rate\", \"of\": \"tip\", \"relative_to\": \"eye\"},"
    "\"f\": {\"type\": \"expression\", \"value\": \"m*x*u + d^2 - sin(w) + t\"}}}";

/* values and gradients (1 for each signal) after `sample` */
typedef struct {
  double *y, *gw, *gv, *ga;
} sampled;

static sampled make_sampled(model_case *c) {
  const int n = c->m->nsignal;
  return (sampled){model_case_array(c, n), model_case_array(c, n * c->m->nw), model_case_array(c, n * c->m->nw),
                   model_case_array(c, n * c->m->na)};
}

static void pull_signals(const model_case *c, const sampled *out) {
  for (int i = 0; i < c->m->nsignal; i++) {
    mbg__system_signal_pull(c->sys, i, 1, out->gw + i * c->m->nw, out->gv + i * c->m->nw, NULL, NULL,
                            out->ga + i * c->m->na);
  }
}

static void compare_signals(model_case *c, const mbg__sampling *what, mbg__plane_sample *p) {
  const mbg__state at = {.t = c->t, .H = c->H, .v = c->v};
  const int n = c->m->nsignal;
  const sampled there = make_sampled(c), here = make_sampled(c), value = make_sampled(c), before = make_sampled(c);
  double *v = model_case_array(c, c->m->nv);
  int count;
  /* the system stands at the state by an update of everything, whose rounding is another one: leave it */
  const mbg__state later = {.t = c->t + 1, .H = c->H, .v = c->v};
  assert_int_equal(mbg__system_sample(c->ctx, c->sys, what, &later, before.y), MBG_OK);
  assert_int_equal(mbg__system_sample(c->ctx, c->sys, what, &at, before.y), MBG_OK);
  assert_int_equal(mbg__system_sample_both(c->ctx, c->sys, what, &at, there.y), MBG_OK);
  pull_signals(c, &there);
  const int *body = mbg__plane_sample_bodies(p, &count);
  for (int i = 0; i < count; i++) {
    const mbg__frame *H = &c->H[body[i]];
    memcpy(mbg__plane_sample_frame(p, i), (const double[4]){H->R[0], H->R[3], H->x[0], H->x[1]}, 4 * sizeof(double));
  }
  mbg__to_free(c->m, 1, c->v, v);
  assert_int_equal(mbg__plane_sample_values(c->ctx, p, c->t, v, value.y), MBG_OK);
  assert_int_equal(mbg__plane_sample_both(c->ctx, p, c->t, v), MBG_OK);
  pull_signals(c, &here);
  assert_close_array(value.y, there.y, n, 1e-13);
  assert_close_array(here.gw, there.gw, n * c->m->nw, 1e-13);
  assert_close_array(here.gv, there.gv, n * c->m->nw, 1e-13);
  assert_close_array(here.ga, there.ga, n * c->m->na, 1e-13);
  /* a general sample after it finds nothing of it */
  assert_int_equal(mbg__system_sample(c->ctx, c->sys, what, &at, value.y), MBG_OK);
  assert_close_array(value.y, before.y, n, 0);
  assert_close_array(value.y, there.y, n, 1e-13);
}

static void signals_agree_with_the_general_ones(void **state) {
  (void)state;
  static char text[1 << 14];
  static int used[16];
  model_case c;
  mbg__sampling what;
  mbg__plane_sample *p;
  support_rng rng = support_rng_make(19);
  snprintf(text, sizeof(text), "%.*s%s", (int)strlen(linkage) - 1, linkage, signals);
  model_case_open(&c, NULL, text);
  model_case_design(&c, &rng, 0.1);
  for (int i = 0; i < c.m->nsignal; i++) {
    used[i] = i;
  }
  assert_int_equal(mbg__sampling_create(c.ctx, &c.arena, c.sys, c.m->nsignal, used, &what), MBG_OK);
  assert_int_equal(mbg__plane_sample_create(c.ctx, &c.arena, c.sys, &what, &p), MBG_OK);
  assert_non_null(p);
  assert_true(mbg__plane_sample_begin(p));
  for (int i = 0; i < 5; i++) {
    model_case_state(&c, &rng, 0.3);
    compare_signals(&c, &what, p);
  }
  model_case_close(&c);
}

/* spatial bodies, sliders, states, torsion springs whose angle counts turns */
static void leaves_other_models_alone(void **state) {
  (void)state;
  compare(MBG_GALLERY_DIR "/spatial-chain/model.json", NULL, false);
  compare(MBG_GALLERY_DIR "/slider-crank/model.json", NULL, false);
  compare(MBG_GALLERY_DIR "/crane-pid/model.json", NULL, false);
  compare(MBG_GALLERY_DIR "/andrews/model.json", NULL, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_the_general_point),       cmocka_unit_test(few_rows_have_no_lanes),
      cmocka_unit_test(bits_do_not_depend_on_the_processor), cmocka_unit_test(signals_agree_with_the_general_ones),
      cmocka_unit_test(leaves_other_models_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
