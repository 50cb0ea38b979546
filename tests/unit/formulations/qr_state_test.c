/* The state of `qr` as numbers, for every motion: frames, rates, variations and their changes against complex step. */
#include "formulations/qr/qr_state.h"
#include "support/model_case.h"
#include "support/random_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* quaternions and angles: a few roundings */
static const double tol = 1e-13;

typedef struct {
  model_case c;
  support_rng rng;
  mbg__qr_state s;
  double *z;                 /* away from the start, |q| not 1                (n) */
  mbg__frame *H;             /* of z */
  double *v;                 /*                                               (nw) */
  double _Complex *H0, *out; /* 12 nbody; scratch */
} bench;

static void setup(bench *b, uint64_t seed) {
  random_model_options options = {.kind = RANDOM_MIXED, .bodies = 6};
  char *text = random_model(seed, &options);
  b->rng = support_rng_make(seed);
  model_case_open(&b->c, NULL, text);
  free(text);
  model_case_design(&b->c, &b->rng, 0);
  model_case_state(&b->c, &b->rng, 0.1);
  const mbg_model *m = b->c.m;
  assert_int_equal(mbg__qr_state_create(b->c.ctx, &b->c.arena, m, &b->s), MBG_OK);
  b->z = model_case_array(&b->c, b->s.n);
  b->v = model_case_array(&b->c, m->nw);
  b->H = calloc((size_t)m->nbody, sizeof *b->H);
  b->H0 = calloc(12 * (size_t)m->nbody, sizeof *b->H0);
  b->out = calloc(12 * (size_t)m->nbody + (size_t)m->nw + (size_t)b->s.n, sizeof *b->out);
  mbg__qr_state_begin(&b->s, b->c.H, b->c.v, b->z);
  for (int k = 0; k < m->nbody; k++) {
    for (int i = 0; i < 12; i++) {
      b->H0[12 * k + i] = i < 9 ? b->c.H[k].R[i] : b->c.H[k].x[i - 9];
    }
  }
}

static void teardown(bench *b) {
  free(b->H);
  free(b->H0);
  free(b->out);
  model_case_close(&b->c);
}

static double *randoms(bench *b, int count) {
  double *x = model_case_array(&b->c, count);
  support_normals(&b->rng, x, count);
  return x;
}

/* at the start the numbers give the start */
static void check_start(bench *b) {
  const mbg_model *m = b->c.m;
  mbg__qr_state_read(&b->s, b->z, b->H, b->v);
  for (int k = 0; k < m->nbody; k++) {
    assert_close_array(b->H[k].R, b->c.H[k].R, 9, tol);
    assert_close_array(b->H[k].x, b->c.H[k].x, 3, tol);
  }
  assert_close_array(b->v, b->c.v, m->nw, 0);
}

static void leave_start(bench *b) {
  double *d = randoms(b, b->s.n);
  for (int i = 0; i < b->s.n; i++) {
    b->z[i] += d[i];
  }
  mbg__qr_state_read(&b->s, b->z, b->H, b->v);
}

/* R is a rotation whatever |q|, and does not depend on it */
static void check_rotations(bench *b) {
  const mbg_model *m = b->c.m;
  mbg__frame *H = calloc((size_t)m->nbody, sizeof *H);
  double *v = model_case_array(&b->c, m->nw), *z = model_case_array(&b->c, b->s.n);
  memcpy(z, b->z, (size_t)b->s.n * sizeof(double));
  for (int k = 0; k < m->nbody; k++) {
    double E[9];
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    m3_mul_NT(E, b->H[k].R, b->H[k].R);
    assert_close_array(E, one, 9, tol);
    for (int i = 3; m->bodies[k].motion == MBG__SPATIAL && i < 7; i++) {
      z[b->s.first[k] + i] *= 1.7;
    }
  }
  mbg__qr_state_read(&b->s, z, H, v);
  for (int k = 0; k < m->nbody; k++) {
    assert_close_array(H[k].R, b->H[k].R, 9, tol);
  }
  free(H);
}

/* change of the frames and twists in a direction dz, by complex step, against H w~ and dv */
static void check_motion(bench *b, const double *dz, const double *w, const double *dv) {
  const mbg_model *m = b->c.m;
  double _Complex *z = calloc((size_t)b->s.n, sizeof *z), *v = b->out + 12 * m->nbody;
  for (int i = 0; i < b->s.n; i++) {
    z[i] = twin_step(b->z[i], dz[i]);
  }
  assert_int_equal(twin_system_qr_state(b->c.twin, b->H0, z, b->out, v), MBG_OK);
  for (int k = 0; k < m->nbody; k++) {
    const double *own = w + m->bodies[k].voff;
    double W[9], RW[9], RU[3], got[12], want[12];
    m3_skew(W, own + 3);
    m3_mul(RW, b->H[k].R, W);
    m3_mulv(RU, b->H[k].R, own);
    for (int i = 0; i < 12; i++) {
      got[i] = twin_derivative(b->out[12 * k + i]);
      want[i] = i < 9 ? RW[i] : RU[i - 9];
    }
    assert_close_array(got, want, 12, 10 * tol);
  }
  for (int i = 0; i < m->nw; i++) {
    assert_close(twin_derivative(v[i]), dv[i], tol);
  }
  free(z);
}

/* z' moves the frames with H v*~, and dz varies them with H w~ */
static void check_rates(bench *b) {
  const mbg_model *m = b->c.m;
  double *v_star = model_case_array(&b->c, m->nw), *a = model_case_array(&b->c, m->nw);
  double *w = model_case_array(&b->c, m->nw), *dv = model_case_array(&b->c, m->nw);
  double *zd = model_case_array(&b->c, b->s.n), *dz = randoms(b, b->s.n);
  model_case_random_velocity(&b->c, &b->rng, v_star);
  model_case_random_velocity(&b->c, &b->rng, a);
  mbg__qr_state_rates(&b->s, b->z, v_star, a, zd);
  check_motion(b, zd, v_star, a);
  mbg__qr_state_variation(&b->s, b->z, dz, w, dv);
  check_motion(b, dz, w, dv);
}

static void check_push(bench *b) {
  const mbg_model *m = b->c.m;
  double *x[4], *dz = randoms(b, b->s.n), *dzd = model_case_array(&b->c, b->s.n);
  double _Complex *z = calloc((size_t)b->s.n + 2 * (size_t)m->nw, sizeof *z), *v_star = z + b->s.n, *a = v_star + m->nw;
  for (int i = 0; i < 4; i++) {
    x[i] = model_case_array(&b->c, m->nw);
    model_case_random_velocity(&b->c, &b->rng, x[i]);
  }
  mbg__qr_state_rates_push(&b->s, b->z, dz, x[0], x[1], x[3], dzd);
  for (int i = 0; i < b->s.n; i++) {
    z[i] = twin_step(b->z[i], dz[i]);
  }
  for (int i = 0; i < m->nw; i++) {
    v_star[i] = twin_step(x[0][i], x[1][i]);
    a[i] = twin_step(x[2][i], x[3][i]);
  }
  assert_int_equal(twin_system_qr_rates(b->c.twin, b->H0, z, v_star, a, b->out), MBG_OK);
  for (int i = 0; i < b->s.n; i++) {
    assert_close(dzd[i], twin_derivative(b->out[i]), 10 * tol * (1 + fabs(dzd[i])));
  }
  free(z);
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* <b, push> = <pull b, direction> */
static void check_rates_pull(bench *b) {
  const mbg_model *m = b->c.m;
  const int n = b->s.n;
  double *x[3], *dz = randoms(b, n), *dzd = model_case_array(&b->c, n), *bz = randoms(b, n), *gz = randoms(b, n),
                *before = model_case_array(&b->c, n), *mu = randoms(b, m->nw), *rho = randoms(b, m->nw);
  for (int i = 0; i < 3; i++) {
    x[i] = model_case_array(&b->c, m->nw);
    model_case_random_velocity(&b->c, &b->rng, x[i]);
  }
  memcpy(before, gz, (size_t)n * sizeof(double));
  mbg__qr_state_rates_push(&b->s, b->z, dz, x[0], x[1], x[2], dzd);
  mbg__qr_state_rates_pull(&b->s, b->z, x[0], bz, gz, mu, rho);
  const double pushed = dot(n, bz, dzd), size = sqrt(dot(n, bz, bz) * dot(n, dzd, dzd));
  assert_close(dot(n, gz, dz) - dot(n, before, dz) + dot(m->nw, mu, x[1]) + dot(m->nw, rho, x[2]), pushed,
               10 * tol * (1 + size));
}

/* H = H0 g: dH = H w~ with w = Ad(g^-1) w0 + w_g for a change w0 of the first frame, here in all its components */
static void check_read_pull(bench *b) {
  const mbg_model *m = b->c.m;
  const int n = b->s.n;
  double *w = model_case_array(&b->c, m->nw), *dv = model_case_array(&b->c, m->nw), *w0 = randoms(b, m->nw);
  double *dz = randoms(b, n), *gw = randoms(b, m->nw), *gv = randoms(b, m->nw);
  double *gz = model_case_array(&b->c, n), *g0 = model_case_array(&b->c, m->nw);
  mbg__qr_state_variation(&b->s, b->z, dz, w, dv);
  for (int k = 0; k < m->nbody; k++) {
    const int at = m->bodies[k].voff;
    double moved[6];
    mbg__frame inverse, g;
    frame_inv(&inverse, &b->s.H0[k]);
    frame_mul(&g, &inverse, &b->H[k]);
    AdInv_mul(moved, &g, w0 + at);
    v6_axpy(w + at, 1, moved);
  }
  double *pushed_w = model_case_array(&b->c, m->nw);
  mbg__qr_state_variation(&b->s, b->z, dz, pushed_w, dv);
  mbg__qr_state_start_push(&b->s, b->z, w0, pushed_w);
  for (int i = 0; i < m->nw; i++) {
    assert_close(pushed_w[i], w[i], 10 * tol * (1 + fabs(w[i])));
  }
  mbg__qr_state_read_pull(&b->s, b->z, gw, gv, gz, g0);
  const double pushed = dot(m->nw, gw, w) + dot(m->nw, gv, dv), size = dot(m->nw, w, w) + dot(m->nw, gw, gw);
  assert_close(dot(n, gz, dz) + dot(m->nw, g0, w0), pushed, 10 * tol * (1 + size));
}

static void random_states(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= (uint64_t)support_rounds(20, 200); seed++) {
    bench b;
    setup(&b, seed);
    check_start(&b);
    leave_start(&b);
    check_rotations(&b);
    check_rates(&b);
    check_push(&b);
    check_rates_pull(&b);
    check_read_pull(&b);
    teardown(&b);
  }
}

/* numbers per motion, and what a component is called in messages */
static void test_labels(void **state) {
  (void)state;
  static const char text[] = "{\"mbgrad\": 1, \"bodies\": {\"a\": {\"mass\": 1, \"inertia\": [1, 1, 1]}, "
                             "\"b\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 1}, "
                             "\"c\": {\"motion\": \"point\", \"mass\": 1}, "
                             "\"d\": {\"motion\": \"planar-point\", \"mass\": 1}}}";
  static const struct {
    int component;
    const char *label;
  } expected[] = {{0, "the position of body 'a'"},
                  {6, "the position of body 'a'"},
                  {7, "the position of body 'b'"},
                  {10, "the position of body 'c'"},
                  {14, "the position of body 'd'"},
                  {15, "the velocity of body 'a'"},
                  {21, "the velocity of body 'b'"},
                  {28, "the velocity of body 'd'"},
                  {29, "the state"},
                  {-1, "the state"}};
  model_case c;
  mbg__qr_state s;
  char label[100];
  model_case_open(&c, NULL, text);
  assert_int_equal(mbg__qr_state_create(c.ctx, &c.arena, c.m, &s), MBG_OK);
  assert_int_equal(s.nplace, 7 + 3 + 3 + 2);
  assert_int_equal(s.n, 15 + 6 + 3 + 3 + 2);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    mbg__qr_state_label(&s, expected[i].component, label, sizeof label);
    assert_string_equal(label, expected[i].label);
  }
  model_case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_states), cmocka_unit_test(test_labels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
