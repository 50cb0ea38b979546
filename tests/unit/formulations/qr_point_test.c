/* The projected state space at random states off the manifold: equations (F3)-(F6) of theory 1 by what they must
   satisfy, tangents (T1)-(T3) against complex step, transposes (A1)-(A2) against tangents. */
#include "formulations/qr/qr_point.h"
#include "support/model_case.h"
#include "support/random_model.h"

#include <math.h>
#include <stdlib.h>

static const double beta = 0.7;

typedef struct {
  model_case c;
  support_rng rng;
  mbg__rank *rank;
  mbg__qr_point *point;
  const double *v_star, *a;
} bench;

static void setup(bench *b, uint64_t seed) {
  random_model_options options = random_model_mix(seed);
  char *text = random_model(seed, &options);
  b->rng = support_rng_make(seed);
  model_case_open(&b->c, NULL, text);
  free(text);
  model_case_design(&b->c, &b->rng, 0);
  model_case_state(&b->c, &b->rng, 0.02);
  assert_int_equal(mbg__rank_analyse(b->c.ctx, &b->c.arena, b->c.sys, NULL, &b->rank), MBG_OK);
  assert_int_equal(mbg__qr_point_create(b->c.ctx, &b->c.arena, b->c.sys, b->rank, beta, &b->point), MBG_OK);
  const int err = mbg__qr_point_eval(b->c.ctx, b->point, b->c.t, b->c.H, b->c.v, b->c.turns, &b->v_star, &b->a);
  if (err < 0) {
    fail_msg("seed %llu: %s", (unsigned long long)seed, mbg_context_error(b->c.ctx));
  }
}

static void teardown(bench *b) { model_case_close(&b->c); }

static double norm(int n, const double *x) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i] * x[i];
  }
  return sqrt(s);
}

static double distance(int n, const double *x, const double *y) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    s += (x[i] - y[i]) * (x[i] - y[i]);
  }
  return sqrt(s);
}

/* B v* + phi_t + beta phi = 0 and r = 0, phidd = 0 at (a, lambda), on the kept rows */
static void satisfies_its_equations(bench *b) {
  const mbg_model *m = b->c.m;
  double *r = model_case_array(&b->c, m->nw), *phi = model_case_array(&b->c, m->nrow);
  double *phid = model_case_array(&b->c, m->nrow), *phidd = model_case_array(&b->c, m->nrow);
  const mbg__state at_v = {.t = b->c.t, .H = b->c.H, .v = b->v_star, .turns = b->c.turns};
  assert_int_equal(mbg__system_update(b->c.ctx, b->c.sys, &at_v), MBG_OK);
  mbg__system_residual(b->c.sys, NULL, phi, phid, NULL, NULL);
  for (int i = 0; i < b->rank->nkept; i++) {
    const int k = b->rank->kept[i];
    assert_close(phid[k] + beta * phi[k], 0, 1e-11 * (1 + norm(m->nw, b->v_star)));
  }
  assert_int_equal(mbg__qr_point_eval(b->c.ctx, b->point, b->c.t, b->c.H, b->c.v, b->c.turns, &b->v_star, &b->a),
                   MBG_OK);
  assert_int_equal(mbg__qr_point_full(b->c.ctx, b->point), MBG_OK);
  mbg__system_residual(b->c.sys, r, NULL, NULL, phidd, NULL);
  /* conditioning of the rows of random models: 1e4 at most */
  assert_true(norm(m->nw, r) <= 1e-10 * (1 + norm(m->nrow, mbg__qr_point_lambda(b->point)) + norm(m->nw, b->a)));
  for (int i = 0; i < b->rank->nkept; i++) {
    assert_close(phidd[b->rank->kept[i]], 0, 1e-10 * (1 + norm(m->nw, b->a)));
  }
}

typedef struct {
  double *w, *dv, *da;
  double *v_star, *a, *lambda;
} change;

static change make_change(bench *b) {
  const mbg_model *m = b->c.m;
  change d = {model_case_array(&b->c, m->nw), model_case_array(&b->c, m->nw), model_case_array(&b->c, m->na),
              model_case_array(&b->c, m->nw), model_case_array(&b->c, m->nw), model_case_array(&b->c, m->nrow)};
  model_case_random_velocity(&b->c, &b->rng, d.w);
  model_case_random_velocity(&b->c, &b->rng, d.dv);
  for (int i = 0; i < m->na; i++) {
    d.da[i] = 0.1 * support_uniform(&b->rng, -1, 1);
  }
  return d;
}

/* frames H (1 + i h w~), twists v + i h dv */
static void twin_change(bench *b, const change *d, change *out) {
  const mbg_model *m = b->c.m;
  double _Complex *H = calloc((size_t)m->nbody * 12, sizeof *H), *v = calloc((size_t)m->nw, sizeof *v);
  double _Complex *got = calloc(2 * (size_t)m->nw + (size_t)m->nrow + 1, sizeof *got);
  double _Complex *p = calloc((size_t)m->np + 1, sizeof *p);
  for (int i = 0; i < m->np; i++) {
    p[i] = b->c.p[i];
  }
  for (int k = 0; k < m->nbody; k++) {
    const mbg__frame *F = &b->c.H[k];
    const double *w = d->w + m->bodies[k].voff;
    double RW[9], RU[3], W[9];
    m3_skew(W, w + 3);
    m3_mul(RW, F->R, W);
    m3_mulv(RU, F->R, w);
    for (int i = 0; i < 9; i++) {
      H[12 * k + i] = twin_step(F->R[i], RW[i]);
    }
    for (int i = 0; i < 3; i++) {
      H[12 * k + 9 + i] = twin_step(F->x[i], RU[i]);
    }
  }
  for (int i = 0; i < m->nw; i++) {
    v[i] = twin_step(b->c.v[i], d->dv[i]);
  }
  assert_int_equal(twin_system_design(b->c.twin, p), MBG_OK);
  assert_int_equal(twin_system_vary(b->c.twin, d->da), MBG_OK);
  assert_int_equal(twin_system_qr(b->c.twin, beta, b->c.t, H, v, b->c.turns, got, got + m->nw, got + 2 * m->nw),
                   MBG_OK);
  for (int i = 0; i < m->nw; i++) {
    out->v_star[i] = twin_derivative(got[i]);
    out->a[i] = twin_derivative(got[m->nw + i]);
  }
  for (int i = 0; i < m->nrow; i++) {
    out->lambda[i] = twin_derivative(got[2 * m->nw + i]);
  }
  free(H), free(v), free(got), free(p);
}

static void tangents_and_transposes(bench *b) {
  const mbg_model *m = b->c.m;
  change d = make_change(b), twin = make_change(b);
  double *mu = model_case_array(&b->c, m->nw), *rho = model_case_array(&b->c, m->nw);
  double *lb = model_case_array(&b->c, m->nrow), *gw = model_case_array(&b->c, m->nw);
  double *gv = model_case_array(&b->c, m->nw), *ga = model_case_array(&b->c, m->na);
  assert_int_equal(mbg__qr_point_push(b->c.ctx, b->point, 1, d.w, d.dv, d.da, d.v_star, d.a, d.lambda), MBG_OK);
  twin_change(b, &d, &twin);
  /* complex step; 1e-10: rows of condition 1e4 */
  assert_true(distance(m->nw, d.v_star, twin.v_star) <= 1e-10 * (1 + norm(m->nw, d.v_star)));
  assert_true(distance(m->nw, d.a, twin.a) <= 1e-10 * (1 + norm(m->nw, d.a)));
  assert_true(distance(m->nrow, d.lambda, twin.lambda) <= 1e-10 * (1 + norm(m->nrow, d.lambda)));

  model_case_random_velocity(&b->c, &b->rng, mu);
  model_case_random_velocity(&b->c, &b->rng, rho);
  for (int i = 0; i < m->nrow; i++) {
    lb[i] = b->rank->keep[i] ? support_uniform(&b->rng, -1, 1) : 0;
  }
  assert_int_equal(mbg__qr_point_pull(b->c.ctx, b->point, 1, mu, rho, lb, gw, gv, ga), MBG_OK);
  const double forward = vn_dot(m->nw, mu, d.v_star) + vn_dot(m->nw, rho, d.a) + vn_dot(m->nrow, lb, d.lambda);
  const double backward = vn_dot(m->nw, gw, d.w) + vn_dot(m->nw, gv, d.dv) + vn_dot(m->na, ga, d.da);
  const double size = 1 + norm(m->nw, d.a) * norm(m->nw, rho) + norm(m->nrow, d.lambda) * norm(m->nrow, lb);
  assert_close(forward, backward, 1e-11 * size);
}

static void random_states(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= (uint64_t)support_rounds(24, 200); seed++) {
    bench b;
    setup(&b, seed);
    satisfies_its_equations(&b);
    /* off the manifold redundant rows differ, and the twin may drop another one than the library */
    if (b.rank->ndropped == 0) {
      tangents_and_transposes(&b);
    }
    teardown(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_states)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
