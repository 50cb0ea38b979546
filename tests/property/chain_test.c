/* The equations of random models have exact derivatives: frames, twists, accelerations, multipliers, every attribute,
   parameters and time, forwards and backwards, as products and as matrices.

   Tolerance 1e-12 of the block: the derivatives are sums of a few hundred products of order-1 numbers (stiffnesses up
   to 200), and complex step has no truncation error, so that only rounding is left. */
#include "elements/lists.h"
#include "mbgrad/model.h"
#include "support/model_case.h"
#include "support/random_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double tol = 1e-12;

/* ---------------------------------------------------------------------- comparison */

/* the worst deviation of each kind, to be printed by the long run */
enum {
  PUSH,
  PUSH_SIGNALS,
  ATTRIBUTES,
  ATTRIBUTES_SIGNALS,
  PULL,
  PULL_SIGNALS,
  MATRICES,
  PRODUCTS,
  DESIGN,
  GUESS,
  TIME,
  POWER,
  KINDS
};
static const char *const kind_name[KINDS] = {"push",
                                             "push of signals",
                                             "push by attribute",
                                             "signals by attribute",
                                             "pull",
                                             "pull of signals",
                                             "matrices",
                                             "products",
                                             "dA/dp",
                                             "guesses",
                                             "time",
                                             "power"};
static double worst[KINDS];
static uint64_t worst_seed[KINDS];
static uint64_t seed; /* of the model at hand */

static double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

static void note(int kind, const char *what, double deviation) {
  if (!(deviation <= worst[kind])) {
    worst[kind] = deviation;
    worst_seed[kind] = seed;
  }
  if (!(deviation <= tol)) {
    fail_msg("seed %llu: %s, %s: deviation %.2e", (unsigned long long)seed, kind_name[kind], what, deviation);
  }
}

/* max |a - b| relative to the block: the larger of max |b| and `block` */
static void compare(int kind, const char *what, int n, const double *a, const double *b, double block) {
  const double scale = fmax(largest(n, b), block);
  double off = 0;
  for (int i = 0; i < n; i++) {
    off = fabs(a[i] - b[i]) <= off ? off : fabs(a[i] - b[i]);
  }
  note(kind, what, off == 0 ? 0 : off / scale);
}

/* ---------------------------------------------------------------------- the checks of one model */

typedef struct {
  model_case c;
  support_rng rng;
  model_direction all; /* a random direction of everything */
  model_change exact, got, block;
} fixture;

static void make_direction(fixture *f) {
  model_case *c = &f->c;
  f->all = (model_direction){.w = model_case_array(c, c->m->nw),
                             .dv = model_case_array(c, c->m->nw),
                             .dvd = model_case_array(c, c->m->nw),
                             .dlambda = model_case_array(c, c->m->nrow),
                             .da = model_case_array(c, c->m->na)};
  f->exact = model_change_make(c);
  f->got = model_change_make(c);
  f->block = model_change_make(c);
}

/* frames may vary outside the motions of their bodies: heights and axes depend on parameters */
static void random_direction(fixture *f) {
  support_normals(&f->rng, f->all.w, f->c.m->nw);
  model_case_random_velocity(&f->c, &f->rng, f->all.dv);
  model_case_random_velocity(&f->c, &f->rng, f->all.dvd);
  support_normals(&f->rng, f->all.dlambda, f->c.m->nrow);
  support_normals(&f->rng, f->all.da, f->c.m->na);
}

/* magnitude of a signal's derivative: sum |gradient| |direction| of a random direction, at least 1: signals that hardly
   vary (the moment of a tyre about the vertical) are differences of numbers of order 1 */
static double signal_scale(fixture *f, int signal, const model_direction *d) {
  const mbg_model *m = f->c.m;
  const int n[5] = {m->nw, m->nw, m->nw, m->nrow, m->na};
  const double *x[5] = {d->w, d->dv, d->dvd, d->dlambda, d->da};
  double *g[5], sum = 1;
  for (int k = 0; k < 5; k++) {
    g[k] = calloc((size_t)n[k] + 1, sizeof(double));
  }
  mbg__system_signal_pull(f->c.sys, signal, 1, g[0], g[1], g[2], g[3], g[4]);
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < n[k]; i++) {
      sum += fabs(g[k][i] * x[k][i]);
    }
    free(g[k]);
  }
  return sum;
}

/* sizes of the blocks: everything in a random direction */
static void measure(fixture *f) {
  random_direction(f);
  model_case_push(&f->c, &f->all, &f->block);
  for (int i = 0; i < f->c.m->nsignal; i++) {
    f->block.y[i] = signal_scale(f, i, &f->all);
  }
}

static void compare_signals(fixture *f, int kind, const char *what) {
  char label[300];
  for (int i = 0; i < f->c.m->nsignal; i++) {
    const mbg__signal *s = &f->c.m->signals[i];
    snprintf(label, sizeof label, "signal '%s' (%s) by %s", s->name ? s->name : "", s->type->key, what);
    compare(kind, label, 1, &f->got.y[i], &f->exact.y[i], f->block.y[i]);
  }
}

static void compare_change(fixture *f, int kind, const char *what) {
  char label[300];
  const char *const part[] = {"r", "phi", "phid", "phidd"};
  const model_change *a = &f->got, *b = &f->exact, *s = &f->block;
  const double *const x[] = {a->r, a->phi, a->phid, a->phidd}, *const y[] = {b->r, b->phi, b->phid, b->phidd};
  const double *const size[] = {s->r, s->phi, s->phid, s->phidd};
  for (int k = 0; k < 4; k++) {
    const int n = k == 0 ? f->c.m->nw : f->c.m->nrow;
    snprintf(label, sizeof label, "%s by %s", part[k], what);
    compare(kind, label, n, x[k], y[k], largest(n, size[k]));
  }
}

static void check_direction(fixture *f, const char *what, const model_direction *d) {
  model_case_twin(&f->c, d, &f->exact);
  model_case_push(&f->c, d, &f->got);
  compare_change(f, PUSH, what);
  compare_signals(f, PUSH_SIGNALS, what);
}

static void check_push(fixture *f) {
  measure(f);
  check_direction(f, "w", &(model_direction){.w = f->all.w});
  check_direction(f, "dv", &(model_direction){.dv = f->all.dv});
  check_direction(f, "dvd", &(model_direction){.dvd = f->all.dvd});
  check_direction(f, "dlambda", &(model_direction){.dlambda = f->all.dlambda});
  check_direction(f, "da", &(model_direction){.da = f->all.da});
  check_direction(f, "everything", &f->all);
}

/* one attribute at a time */
static void check_attributes(fixture *f, int most) {
  const mbg_model *m = f->c.m;
  char label[200];
  for (int k = 0; k < m->na; k++) {
    if (m->na > most && support_index(&f->rng, m->na) >= most) {
      continue;
    }
    double *da = f->all.da;
    memset(da, 0, (size_t)m->na * sizeof(double));
    da[k] = 1;
    const model_direction d = {.da = da};
    snprintf(label, sizeof label, "%s of %s", m->attributes[k].label->key, m->attributes[k].owner);
    model_case_twin(&f->c, &d, &f->exact);
    model_case_push(&f->c, &d, &f->got);
    compare_change(f, ATTRIBUTES, label);
    compare_signals(f, ATTRIBUTES_SIGNALS, label);
  }
}

/* z.dr + mu.dphi + ... against the gradient times the direction */
typedef struct {
  double value, scale;
} product;

static product dot(int n, const double *a, const double *b) {
  product p = {0, 0};
  for (int i = 0; i < n; i++) {
    p.value += a[i] * b[i];
    p.scale += fabs(a[i] * b[i]);
  }
  return p;
}

static product dot_all(const mbg_model *m, const model_direction *g, const model_direction *d) {
  const int n[5] = {m->nw, m->nw, m->nw, m->nrow, m->na};
  const double *x[5] = {g->w, g->dv, g->dvd, g->dlambda, g->da}, *y[5] = {d->w, d->dv, d->dvd, d->dlambda, d->da};
  product sum = {0, 0};
  for (int k = 0; k < 5; k++) {
    const product p = dot(n[k], x[k], y[k]);
    sum.value += p.value;
    sum.scale += p.scale;
  }
  return sum;
}

static model_direction gradient_make(model_case *c) {
  return (model_direction){.w = model_case_array(c, c->m->nw),
                           .dv = model_case_array(c, c->m->nw),
                           .dvd = model_case_array(c, c->m->nw),
                           .dlambda = model_case_array(c, c->m->nrow),
                           .da = model_case_array(c, c->m->na)};
}

/* each of the four residuals alone, then all */
static void check_pull(fixture *f) {
  model_case *c = &f->c;
  const mbg_model *m = c->m;
  double *z = model_case_array(c, m->nw), *mu[3];
  random_direction(f);
  model_case_random_velocity(c, &f->rng, z);
  for (int k = 0; k < 3; k++) {
    mu[k] = model_case_array(c, m->nrow);
    support_normals(&f->rng, mu[k], m->nrow);
  }
  model_case_push(c, &f->all, &f->got);
  for (int k = 0; k < 5; k++) {
    const model_direction g = gradient_make(c);
    const double *x[4] = {k == 0 || k == 4 ? z : NULL, k == 1 || k == 4 ? mu[0] : NULL, k == 2 || k == 4 ? mu[1] : NULL,
                          k == 3 || k == 4 ? mu[2] : NULL};
    const double *y[4] = {f->got.r, f->got.phi, f->got.phid, f->got.phidd};
    product forward = {0, 0};
    mbg__system_pull(c->sys, x[0], x[1], x[2], x[3], g.w, g.dv, g.dvd, g.dlambda, g.da);
    for (int i = 0; i < 4; i++) {
      const product p = x[i] ? dot(i == 0 ? m->nw : m->nrow, x[i], y[i]) : (product){0, 0};
      forward.value += p.value;
      forward.scale += p.scale;
    }
    const product backward = dot_all(m, &g, &f->all);
    const double scale = fmax(forward.scale, backward.scale);
    note(PULL, "transpose", scale > 0 ? fabs(forward.value - backward.value) / scale : 0);
  }
}

static void check_signal_pull(fixture *f) {
  model_case *c = &f->c;
  for (int i = 0; i < c->m->nsignal; i++) {
    const model_direction g = gradient_make(c);
    const double weight = support_normal(&f->rng);
    mbg__system_signal_pull(c->sys, i, weight, g.w, g.dv, g.dvd, g.dlambda, g.da);
    const product p = dot_all(c->m, &g, &f->all);
    note(PULL_SIGNALS, "transpose", fabs(p.value - weight * f->got.y[i]) / fmax(p.scale, 1));
  }
}

/* ---------------------------------------------------------------------- matrices */

/* column j of a matrix as a full vector: rows of velocities (full index) or of constraints */
static void column(const mbg_model *m, const mbg__csc *p, const double *val, int j, bool velocities, double *out) {
  memset(out, 0, (size_t)(velocities ? m->nw : m->nrow) * sizeof(double));
  for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
    out[velocities ? m->full[p->rowind[e]] : p->rowind[e]] += val[e];
  }
}

typedef struct {
  const mbg__csc *pK, *pB;
  mbg__matrices v;
} matrices;

static void matrices_make(fixture *f, matrices *x) {
  x->pK = mbg__system_pattern_K(f->c.sys);
  x->pB = mbg__system_pattern_B(f->c.sys);
  const int nK = mbg__csc_count(x->pK), nB = mbg__csc_count(x->pB);
  x->v = (mbg__matrices){.K = model_case_array(&f->c, nK),
                         .C = model_case_array(&f->c, nK),
                         .M = model_case_array(&f->c, nK),
                         .B = model_case_array(&f->c, nB),
                         .Z = model_case_array(&f->c, nB),
                         .A_H = model_case_array(&f->c, nB),
                         .A_v = model_case_array(&f->c, nB)};
  mbg__system_matrices(f->c.sys, &x->v);
}

static void compare_column(fixture *f, const matrices *x, const char *what, const double *val, int j, bool velocities,
                           const double *exact) {
  const mbg__csc *p = velocities ? x->pK : x->pB;
  double *got = calloc((size_t)(velocities ? f->c.m->nw : f->c.m->nrow) + 1, sizeof(double));
  column(f->c.m, p, val, j, velocities, got);
  compare(MATRICES, what, velocities ? f->c.m->nw : f->c.m->nrow, got, exact, largest(mbg__csc_count(p), val));
  free(got);
}

static void check_matrices(fixture *f) {
  const mbg_model *m = f->c.m;
  const model_change *g = &f->got;
  double *e = model_case_array(&f->c, m->nw);
  matrices x;
  matrices_make(f, &x);
  for (int j = 0; j < m->nv; j++) {
    e[m->full[j]] = 1;
    model_case_push(&f->c, &(model_direction){.w = e}, g);
    compare_column(f, &x, "K", x.v.K, j, true, g->r);
    compare_column(f, &x, "B", x.v.B, j, false, g->phi);
    compare_column(f, &x, "Z", x.v.Z, j, false, g->phid);
    compare_column(f, &x, "A_H", x.v.A_H, j, false, g->phidd);
    model_case_push(&f->c, &(model_direction){.dv = e}, g);
    compare_column(f, &x, "C", x.v.C, j, true, g->r);
    compare_column(f, &x, "B of phid", x.v.B, j, false, g->phid);
    compare_column(f, &x, "A_v", x.v.A_v, j, false, g->phidd);
    model_case_push(&f->c, &(model_direction){.dvd = e}, g);
    compare_column(f, &x, "M", x.v.M, j, true, g->r);
    compare_column(f, &x, "B of phidd", x.v.B, j, false, g->phidd);
    e[m->full[j]] = 0;
  }
  /* rows alone go another way in a plane (system_matrices_flat.c) */
  double *alone = model_case_array(&f->c, mbg__csc_count(x.pB));
  mbg__system_matrices(f->c.sys, &(mbg__matrices){.B = alone});
  compare(MATRICES, "B alone", mbg__csc_count(x.pB), alone, x.v.B, 0);
}

/* ---------------------------------------------------------------------- products and identities */

/* M x, B x, B^T y; phid = B v + phi_t and phidd = B vd + gamma; r(lambda) - r(0) = B^T lambda */
static void check_products(fixture *f) {
  model_case *c = &f->c;
  const mbg_model *m = c->m;
  double *x = f->all.dv, *y = f->all.dlambda, *Bx = model_case_array(c, m->nrow), *Mx = model_case_array(c, m->nw);
  double *BTy = model_case_array(c, m->nw), *phidd = model_case_array(c, m->nrow),
         *gamma = model_case_array(c, m->nrow);
  random_direction(f);
  mbg__system_B_mul(c->sys, x, Bx);
  model_case_push(c, &(model_direction){.w = x}, &f->got);
  compare(PRODUCTS, "B x", m->nrow, Bx, f->got.phi, 0);
  mbg__system_mass_mul(c->sys, x, Mx);
  model_case_push(c, &(model_direction){.dvd = x}, &f->got);
  compare(PRODUCTS, "M x", m->nw, Mx, f->got.r, 0);
  mbg__system_B_mul_T(c->sys, y, BTy);
  model_case_push(c, &(model_direction){.dlambda = y}, &f->got);
  compare(PRODUCTS, "B^T y", m->nw, BTy, f->got.r, 0);
  const product a = dot(m->nrow, y, Bx), b = dot(m->nw, x, BTy);
  note(PRODUCTS, "y.(B x) = x.(B^T y)", m->nrow ? fabs(a.value - b.value) / fmax(a.scale, b.scale) : 0);
  /* phidd = B vd + gamma */
  mbg__system_residual(c->sys, NULL, NULL, NULL, phidd, gamma);
  mbg__system_B_mul(c->sys, c->vd, Bx);
  vn_add(m->nrow, Bx, Bx, gamma);
  compare(PRODUCTS, "phidd = B vd + gamma", m->nrow, Bx, phidd, fmax(largest(m->nrow, gamma), 1));
}

/* along the motion: dphi/dt = phid and dphid/dt = phidd, explicit time included */
static void check_time(fixture *f) {
  model_case *c = &f->c;
  double *phid = model_case_array(c, c->m->nrow), *phidd = model_case_array(c, c->m->nrow);
  const model_direction d = {.w = c->v, .dv = c->vd, .dt = 1};
  mbg__system_residual(c->sys, NULL, NULL, phid, phidd, NULL);
  model_case_twin(c, &d, &f->exact);
  compare(TIME, "phid", c->m->nrow, phid, f->exact.phi, 0);
  compare(TIME, "phidd", c->m->nrow, phidd, f->exact.phid, 0);
}

/* ---------------------------------------------------------------------- design */

static void twin_attributes(const model_case *c, const double *dp, double *da) {
  double _Complex *p = malloc(((size_t)c->m->np + 1) * sizeof *p);
  for (int i = 0; i < c->m->np; i++) {
    p[i] = twin_step(c->p[i], dp[i]);
  }
  assert_int_equal(twin_system_design(c->twin, p), 0);
  for (int i = 0; i < c->m->na; i++) {
    da[i] = twin_derivative(twin_system_attributes(c->twin)[i]);
  }
  free(p);
}

/* each parameter alone; an attribute is measured by its own size, since their units differ */
static void check_design(fixture *f) {
  model_case *c = &f->c;
  const mbg_model *m = c->m;
  double *dp = model_case_array(c, m->np), *exact = model_case_array(c, m->na), *da = model_case_array(c, m->na);
  double *gp = model_case_array(c, m->np);
  for (int k = 0; k < m->np; k++) {
    dp[k] = 1;
    twin_attributes(c, dp, exact);
    mbg__design_push(c->design, dp, da);
    for (int i = 0; i < m->na; i++) {
      const double size = fmin(fabs(c->design->attr[i]), 1e6);
      compare(DESIGN, m->attributes[i].label->key, 1, &da[i], &exact[i], size);
    }
    dp[k] = 0;
  }
  support_normals(&f->rng, dp, m->np);
  support_normals(&f->rng, exact, m->na);
  mbg__design_push(c->design, dp, da);
  mbg__design_pull(c->design, exact, gp);
  const product a = dot(m->na, exact, da), b = dot(m->np, gp, dp);
  note(DESIGN, "transpose", a.scale > 0 ? fabs(a.value - b.value) / fmax(a.scale, b.scale) : 0);
}

/* guessed frames and twists: R^T dR and R^T dx by the complex step of the frame itself */
static void twin_guess(const model_case *c, int body, double w[6], double dv[6]) {
  double _Complex H[12], v[6];
  double R[9], dR[9], dx[3], S[9];
  twin_system_guess(c->twin, body, H, v);
  for (int i = 0; i < 12; i++) {
    if (i < 9) {
      R[i] = creal(H[i]);
      dR[i] = twin_derivative(H[i]);
    } else {
      dx[i - 9] = twin_derivative(H[i]);
    }
  }
  for (int i = 0; i < 6; i++) {
    dv[i] = twin_derivative(v[i]);
  }
  m3_mulv_T(w, R, dx);
  m3_mul_TN(S, R, dR);
  w[3] = S[7];
  w[4] = S[2];
  w[5] = S[3];
}

/* the twist's masked components are none of the start's business: they are 0 in the design */
static void check_guess(fixture *f) {
  model_case *c = &f->c;
  const mbg_model *m = c->m;
  double *da = f->all.da, *ga = model_case_array(c, m->na);
  support_normals(&f->rng, da, m->na);
  double _Complex *p = malloc(((size_t)m->np + 1) * sizeof *p);
  for (int i = 0; i < m->np; i++) {
    p[i] = twin_step(c->p[i], 0);
  }
  assert_int_equal(twin_system_design(c->twin, p), 0);
  assert_int_equal(twin_system_vary(c->twin, da), 0);
  free(p);
  for (int b = 0; b < m->nbody; b++) {
    double w[6], dv[6], exact_w[6], exact_v[6], gw[6], gv[6];
    mbg__design_guess_push(c->design, b, da, w, dv);
    twin_guess(c, b, exact_w, exact_v);
    support_normals(&f->rng, gw, 6);
    support_normals(&f->rng, gv, 6);
    memset(ga, 0, (size_t)m->na * sizeof(double));
    mbg__design_guess_pull(c->design, b, gw, gv, ga);
    const product forward = {v6_dot(gw, w) + v6_dot(gv, dv), 0}, backward = dot(m->na, ga, da);
    note(GUESS, "transpose", backward.scale > 0 ? fabs(forward.value - backward.value) / backward.scale : 0);
    for (int k = 0; k < 6; k++) {
      dv[k] = m->bodies[b].mask >> k & 1 ? dv[k] : 0;
    }
    compare(GUESS, "frame", 6, w, exact_w, 0);
    compare(GUESS, "twist", 6, dv, exact_v, 1);
  }
}

/* ---------------------------------------------------------------------- runs */

static void check_model(uint64_t number, const char *file, const char *text) {
  fixture f = {.rng = support_rng_make(number + 1000003)};
  seed = number;
  model_case_open(&f.c, file, text);
  make_direction(&f);
  model_case_design(&f.c, &f.rng, 0.03);
  check_design(&f);
  check_guess(&f);
  model_case_design(&f.c, &f.rng, 0.03);
  for (int i = 0; i < 3; i++) {
    static const double distance[3] = {0, 0.05, 0.2};
    model_case_state(&f.c, &f.rng, distance[i]);
    check_push(&f);
    check_pull(&f);
    check_signal_pull(&f);
    check_products(&f);
    check_time(&f);
  }
  check_matrices(&f);
  check_attributes(&f, support_rounds(30, 1000000));
  model_case_close(&f.c);
}

static void check_kind(random_kind kind) {
  const int rounds = support_rounds(5, 25);
  for (int i = 0; i < rounds; i++) {
    const uint64_t number = (uint64_t)(i * RANDOM_KINDS) + (uint64_t)kind;
    random_model_options opt = random_model_mix(number);
    opt.contacts = true;
    char *text = random_model(number, &opt);
    check_model(number, NULL, text);
    free(text);
  }
}

static void test_trees(void **state) {
  (void)state;
  check_kind(RANDOM_TREE);
}

static void test_loops(void **state) {
  (void)state;
  check_kind(RANDOM_LOOP);
}

static void test_planar(void **state) {
  (void)state;
  check_kind(RANDOM_PLANAR);
}

static void test_mixed(void **state) {
  (void)state;
  check_kind(RANDOM_MIXED);
}

/* spatial models with beams */
static void test_beams(void **state) {
  (void)state;
  const int rounds = support_rounds(10, 60);
  for (int i = 0; i < rounds; i++) {
    const uint64_t number = 3000 + (uint64_t)(i * RANDOM_KINDS) + (i % 2 ? RANDOM_TREE : RANDOM_LOOP);
    random_model_options opt = random_model_mix(number);
    opt.beams = true;
    char *text = random_model(number, &opt);
    check_model(number, NULL, text);
    free(text);
  }
}

/* models with modal bodies of all kinds */
static void test_modal(void **state) {
  (void)state;
  const int rounds = support_rounds(12, 100);
  for (int i = 0; i < rounds; i++) {
    const uint64_t number = 7000 + (uint64_t)i;
    random_model_options opt = random_model_mix(number);
    opt.modal = opt.contacts = true;
    opt.beams = i % 4 == 0;
    char *text = random_model(number, &opt);
    check_model(number, NULL, text);
    free(text);
  }
}

/* ---------------------------------------------------------------------- power */

/* v.r = dE/dt + lambda.(B v) where every force has an energy: values of inertia, forces and energies fit each other */
static void check_power(fixture *f) {
  model_case *c = &f->c;
  const mbg_model *m = c->m;
  double *Bv = model_case_array(c, m->nrow);
  mbg__system_residual(c->sys, f->got.r, NULL, NULL, NULL, NULL);
  mbg__system_B_mul(c->sys, c->v, Bv);
  const product power = dot(m->nw, c->v, f->got.r), rows = dot(m->nrow, c->lambda, Bv);
  for (int i = 0; i < m->nsignal; i++) {
    if (m->signals[i].type->role == MBG__ROLE_ENERGY) {
      const double dE = mbg__system_signal_push(c->sys, i, &(mbg__direction){.w = c->v, .dv = c->vd});
      note(POWER, "energy", fabs(power.value - dE - rows.value) / (power.scale + rows.scale));
    }
  }
}

static void test_power(void **state) {
  (void)state;
  const int rounds = support_rounds(12, 100);
  for (int i = 0; i < rounds; i++) {
    fixture f = {.rng = support_rng_make((uint64_t)i)};
    random_model_options opt = random_model_mix((uint64_t)i);
    opt.conservative = opt.contacts = true;
    opt.beams = i % 2;
    opt.modal = i % 3 == 0;
    seed = (uint64_t)i;
    char *text = random_model(seed, &opt);
    model_case_open(&f.c, NULL, text);
    make_direction(&f);
    model_case_state(&f.c, &f.rng, 0.1);
    check_power(&f);
    model_case_close(&f.c);
    free(text);
  }
}

/* models with a part used twice, once mirrored */
static void test_parts(void **state) {
  (void)state;
  char folder[] = "/tmp/mbgrad-chain-XXXXXX", path[64];
  const int rounds = support_rounds(4, 20);
  assert_non_null(mkdtemp(folder));
  for (int i = 0; i < rounds; i++) {
    const uint64_t number = 5000 + (uint64_t)i;
    random_model_options opt = random_model_mix(number);
    opt.folder = folder;
    opt.beams = i % 2;
    opt.modal = i % 4 > 1;
    free(random_model(number, &opt));
    snprintf(path, sizeof path, "%s/model.json", folder);
    check_model(number, path, NULL);
  }
  for (int k = 0; k < 2; k++) {
    snprintf(path, sizeof path, "%s/%s.json", folder, k ? "part" : "model");
    remove(path);
  }
  rmdir(folder);
}

/* ---------------------------------------------------------------------- the catalogue */

/* marks the entry of a list that the models use */
#define USED(family, type_used)                                                                                        \
  do {                                                                                                                 \
    int n_;                                                                                                            \
    const mbg__##family##_type *const *list_ = mbg__##family##_types(&n_);                                             \
    for (int k_ = 0; k_ < n_; k_++) {                                                                                  \
      used->family[k_] = used->family[k_] || list_[k_] == (type_used);                                                 \
    }                                                                                                                  \
  } while (0)

#define ALL_USED(family)                                                                                               \
  do {                                                                                                                 \
    int n_;                                                                                                            \
    const mbg__##family##_type *const *list_ = mbg__##family##_types(&n_);                                             \
    for (int k_ = 0; k_ < n_; k_++) {                                                                                  \
      if (!used.family[k_]) {                                                                                          \
        fail_msg(#family " '%s' is in no random model", list_[k_]->key);                                               \
      }                                                                                                                \
    }                                                                                                                  \
  } while (0)

typedef struct {
  bool joint[64], law[64], force[64], signal[64], coord[64], motion[4], driver, coupling, pin, guess;
} usage;

extern const mbg__signal_type mbg__signal_tendon;

static void take_usage(const mbg_model *m, usage *used) {
  for (int i = 0; i < m->njoint; i++) {
    USED(joint, m->joints[i].type);
  }
  for (int i = 0; i < m->nforce; i++) {
    USED(law, m->forces[i].law);
    USED(force, m->forces[i].type);
  }
  for (int i = 0; i < m->nsignal; i++) {
    USED(signal, m->signals[i].type);
  }
  for (int i = 0; i < m->ncoord; i++) {
    USED(coord, m->coords[i].type);
  }
  for (int i = 0; i < m->nbody; i++) {
    used->motion[m->bodies[i].motion] = true;
    used->guess = used->guess || m->bodies[i].guess != m->bodies[i].design;
  }
  if (m->ntendon > 0) { /* its signals become expressions, reactions and forces */
    USED(signal, &mbg__signal_tendon);
  }
  used->driver = used->driver || m->ndriver > 0;
  used->coupling = used->coupling || m->ncoupling > 0;
  used->pin = used->pin || m->npin > 0;
}

/* rolling joints and impacts have models of their own */
static void take_references(usage *used) {
  static const char *const models[] = {"curves/sleigh", "curves/wheel",   "curves/ball",       "events/ball",
                                       "contacts/cam",  "contacts/flat",  "contacts/ellipses", "contacts/wire",
                                       "contacts/bowl", "curves/tendons", "curves/pulleys",    "contacts/signals"};
  for (int i = 0; i < MBG_COUNT(models); i++) {
    char path[300];
    mbg_context *ctx;
    mbg_model *m;
    snprintf(path, sizeof path, "%s/tests/reference/%s.json", MBG_SOURCE_DIR, models[i]);
    assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
    assert_int_equal(mbg_model_load(ctx, path, &m), MBG_OK);
    take_usage(m, used);
    mbg_model_destroy(m);
    mbg_context_destroy(ctx);
  }
}

/* the random models of the long run use every type there is */
static void test_catalogue(void **state) {
  (void)state;
  usage used = {0};
  for (uint64_t number = 0; number < 100; number++) {
    random_model_options opt = random_model_mix(number);
    opt.contacts = true;
    opt.beams = number % 4 == 0;
    opt.modal = number % 4 == 1;
    mbg_context *ctx;
    mbg_model *m;
    char *text = random_model(number, &opt);
    assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
    assert_int_equal(mbg_model_parse(ctx, "random", text, strlen(text), NULL, &m), MBG_OK);
    take_usage(m, &used);
    mbg_model_destroy(m);
    mbg_context_destroy(ctx);
    free(text);
  }
  take_references(&used);
  ALL_USED(joint);
  ALL_USED(law);
  ALL_USED(force);
  ALL_USED(signal);
  ALL_USED(coord);
  assert_true(used.motion[0] && used.motion[1] && used.motion[2] && used.motion[3]);
  assert_true(used.driver && used.coupling && used.pin && used.guess);
}

static int report(void **state) {
  (void)state;
  for (int k = 0; support_rounds(0, 1) && k < KINDS; k++) {
    print_message("worst of %-20s %.1e (seed %llu)\n", kind_name[k], worst[k], (unsigned long long)worst_seed[k]);
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_trees), cmocka_unit_test(test_loops), cmocka_unit_test(test_planar),
      cmocka_unit_test(test_mixed), cmocka_unit_test(test_power), cmocka_unit_test(test_parts),
      cmocka_unit_test(test_beams), cmocka_unit_test(test_modal), cmocka_unit_test(test_catalogue),
  };
  return cmocka_run_group_tests(tests, NULL, report);
}
