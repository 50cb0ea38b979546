/* Turning and moving a whole model with its gravity changes nothing that is measured in it: equations in body axes,
   rows, coordinates, signals, their derivatives by every parameter, the matrices, and the assembled start.

   Moved in two ways: the numbers of the file are transformed by the generator, and the file is used as a part with `at`
   and `rotate`. Tolerance 1e-10 of the block: the frames of the moved model differ by rounding of 1e-16 times its
   distance from the origin, which stiffnesses up to 200 and second derivatives magnify. */
#include "start/start.h"
#include "support/model_case.h"
#include "support/random_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double tol = 1e-10;
static double worst;
static uint64_t seed;
static int solved; /* starts that were compared */
static int noisy;  /* of them with derivatives whose rounding is larger than the tolerance */
static uint64_t last_noisy = UINT64_MAX;

/* ---------------------------------------------------------------------- comparison */

static double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

static void compare(const char *what, int n, const double *a, const double *b, double block) {
  const double scale = fmax(fmax(largest(n, a), block), 1);
  for (int i = 0; i < n; i++) {
    const double deviation = fabs(a[i] - b[i]) / scale;
    worst = deviation <= worst ? worst : deviation;
    if (!(deviation <= tol)) {
      fail_msg("seed %llu: %s[%d]: %.15g before, %.15g after the move", (unsigned long long)seed, what, i, a[i], b[i]);
    }
  }
}

/* Signals that a move changes, and what is made of them: wrenches in world axes, energies when weights are lifted. */
static void mark_world(const mbg_model *m, bool lifted, bool *world) {
  for (int i = 0; i < m->nsignal; i++) {
    const mbg__signal *s = &m->signals[i];
    const bool energy = s->type->role == MBG__ROLE_POTENTIAL || s->type->role == MBG__ROLE_ENERGY;
    const bool wrench =
        s->type->role == MBG__ROLE_REACTION || (s->type->role == MBG__ROLE_FORCE && m->forces[s->force].type);
    world[i] = (wrench && s->opt[1] == 2) || (energy && lifted);
    for (int k = 0; s->fn >= 0 && k < m->fns[s->fn].ninput; k++) {
      const mbg__input *in = &m->fns[s->fn].input[k];
      world[i] = world[i] || (in->role == MBG__ROLE_SIGNAL && world[in->index]);
    }
  }
}

/* ---------------------------------------------------------------------- two models */

/* a as it is, b moved by P: H_b = P H_a */
typedef struct {
  model_case a, b;
  mbg__frame P;
  support_rng rng;
  int nsignal;
  bool *world;
  model_change ca, cb, block;
  double *da, *db;
} pair;

/* every other model is turned only, so that energies are compared too */
static void random_place(support_rng *rng, uint64_t number, mbg__frame *P) {
  support_rotation(rng, P->R);
  support_normals(rng, P->x, 3);
  if (number / 2 % 2 == 0) {
    v3_zero(P->x);
  }
}

static void make(pair *p) {
  const mbg_model *m = p->a.m, *n = p->b.m;
  /* the signals made for criteria come last; a part brings none */
  p->nsignal = m->nsignal < n->nsignal ? m->nsignal : n->nsignal;
  assert_true(m->nbody == n->nbody && m->nrow == n->nrow && m->np == n->np && p->nsignal >= m->nsignal - m->ncriterion);
  assert_true(m->nw == n->nw && m->ncoord == n->ncoord && m->nturn == n->nturn && m->nv == n->nv);
  p->world = calloc((size_t)m->nsignal + 1, sizeof(bool));
  mark_world(m, v3_dot(p->P.x, p->P.x) > 0, p->world);
  p->ca = model_change_make(&p->a);
  p->cb = model_change_make(&p->b);
  p->block = model_change_make(&p->a);
  p->da = model_case_array(&p->a, m->na);
  p->db = model_case_array(&p->b, n->na);
}

/* modal coordinates know of no place */
static void move_frame(const pair *p, int body, const mbg__frame *H, mbg__frame *out) {
  if (p->a.m->bodies[body].carrier >= 0) {
    *out = *H;
  } else {
    frame_mul(out, &p->P, H);
  }
}

/* the same state in both */
static void move_state(pair *p, double distance) {
  const mbg_model *m = p->a.m;
  model_case_state(&p->a, &p->rng, distance);
  for (int i = 0; i < m->nbody; i++) {
    move_frame(p, i, &p->a.H[i], &p->b.H[i]);
  }
  memcpy(p->b.v, p->a.v, (size_t)m->nw * sizeof(double));
  memcpy(p->b.vd, p->a.vd, (size_t)m->nw * sizeof(double));
  memcpy(p->b.lambda, p->a.lambda, (size_t)m->nrow * sizeof(double));
  memcpy(p->b.turns, p->a.turns, (size_t)m->nturn * sizeof(int));
  p->b.t = p->a.t;
  model_case_update(&p->b);
}

static void compare_changes(pair *p, const char *what) {
  char label[80];
  const mbg_model *m = p->a.m;
  const model_change *x = &p->ca, *y = &p->cb;
  const char *const part[] = {"r", "phi", "phid", "phidd"};
  const double *const a[] = {x->r, x->phi, x->phid, x->phidd}, *const b[] = {y->r, y->phi, y->phid, y->phidd};
  for (int k = 0; k < 4; k++) {
    snprintf(label, sizeof label, "%s%s", part[k], what);
    compare(label, k == 0 ? m->nw : m->nrow, a[k], b[k], 0);
  }
  for (int i = 0; i < p->nsignal; i++) {
    if (!p->world[i]) {
      snprintf(label, sizeof label, "signal '%s' (%s)%s", m->signals[i].name ? m->signals[i].name : "",
               m->signals[i].type->key, what);
      compare(label, 1, &x->y[i], &y->y[i], 0);
    }
  }
}

static void compare_values(pair *p) {
  model_case *c[2] = {&p->a, &p->b};
  model_change *x[2] = {&p->ca, &p->cb};
  double *q[2], *qd[2];
  for (int k = 0; k < 2; k++) {
    const real *y;
    mbg__system_residual(c[k]->sys, x[k]->r, x[k]->phi, x[k]->phid, x[k]->phidd, NULL);
    assert_int_equal(mbg__system_signals(c[k]->ctx, c[k]->sys, &y), MBG_OK);
    memcpy(x[k]->y, y, (size_t)c[k]->m->nsignal * sizeof(double));
    q[k] = model_case_array(c[k], c[k]->m->ncoord);
    qd[k] = model_case_array(c[k], c[k]->m->ncoord);
    mbg__system_coords(c[k]->sys, q[k]);
    mbg__system_coord_rates(c[k]->sys, qd[k]);
  }
  compare_changes(p, "");
  compare("coordinate", p->a.m->ncoord, q[0], q[1], 0);
  compare("rate", p->a.m->ncoord, qd[0], qd[1], 0);
}

/* direction of parameter k in both; gravity is not moved by the parameters of a part */
static void parameter_direction(pair *p, int k, bool gravity) {
  double *dp = calloc((size_t)p->a.m->np + 1, sizeof(double));
  dp[k] = 1;
  mbg__design_push(p->a.design, dp, p->da);
  mbg__design_push(p->b.design, dp, p->db);
  for (int i = 0; !gravity && i < 3; i++) {
    p->da[p->a.m->gravity + i] = 0;
  }
  free(dp);
}

static void compare_derivatives(pair *p, bool gravity) {
  char label[80];
  for (int k = 0; k < p->a.m->np; k++) {
    parameter_direction(p, k, gravity);
    model_case_push(&p->a, &(model_direction){.da = p->da}, &p->ca);
    model_case_push(&p->b, &(model_direction){.da = p->db}, &p->cb);
    snprintf(label, sizeof label, " by parameter %d", k);
    compare_changes(p, label);
  }
}

static void compare_matrices(pair *p) {
  const int nK = mbg__csc_count(mbg__system_pattern_K(p->a.sys)), nB = mbg__csc_count(mbg__system_pattern_B(p->a.sys));
  model_case *c[2] = {&p->a, &p->b};
  mbg__matrices x[2];
  assert_int_equal(nK, mbg__csc_count(mbg__system_pattern_K(p->b.sys)));
  assert_int_equal(nB, mbg__csc_count(mbg__system_pattern_B(p->b.sys)));
  for (int k = 0; k < 2; k++) {
    x[k] = (mbg__matrices){.K = model_case_array(c[k], nK),
                           .C = model_case_array(c[k], nK),
                           .M = model_case_array(c[k], nK),
                           .B = model_case_array(c[k], nB),
                           .Z = model_case_array(c[k], nB),
                           .A_H = model_case_array(c[k], nB),
                           .A_v = model_case_array(c[k], nB)};
    mbg__system_matrices(c[k]->sys, &x[k]);
  }
  compare("K", nK, x[0].K, x[1].K, 0);
  compare("C", nK, x[0].C, x[1].C, 0);
  compare("M", nK, x[0].M, x[1].M, 0);
  compare("B", nB, x[0].B, x[1].B, 0);
  compare("Z", nB, x[0].Z, x[1].Z, 0);
  compare("A_H", nB, x[0].A_H, x[1].A_H, 0);
  compare("A_v", nB, x[0].A_v, x[1].A_v, 0);
}

/* ---------------------------------------------------------------------- start */

/* The few models whose pins ask for too much are refused in both places; so are parameters that break a redundant
   assembly. */
static bool solve_starts(pair *p, mbg__start_work *s[2]) {
  model_case *c[2] = {&p->a, &p->b};
  int err[2];
  for (int k = 0; k < 2; k++) {
    assert_int_equal(mbg__start_create(c[k]->ctx, c[k]->sys, &s[k]), MBG_OK);
    err[k] = mbg__start_solve(c[k]->ctx, s[k], true);
  }
  if (err[0] != err[1]) {
    fail_msg("seed %llu: the start '%s' becomes '%s'", (unsigned long long)seed, mbg_context_error(p->a.ctx),
             mbg_context_error(p->b.ctx));
  }
  solved += err[0] == MBG_OK;
  return err[0] == MBG_OK;
}

/* do derivatives of frames w and rates v agree to the tolerance? */
static bool agree(pair *p, double *const w[2], double *const v[2]) {
  const int n = p->a.m->nw;
  double off = 0;
  for (int i = 0; i < n; i++) {
    off = fmax(off, fabs(w[0][i] - w[1][i]) / fmax(largest(n, w[0]), 1));
    off = fmax(off, fabs(v[0][i] - v[1][i]) / fmax(largest(n, v[0]), 1));
  }
  return off <= tol;
}

/* Ten times what these derivatives of model a, in the direction da, change by when its parameters change in their last
   digits: their rounding, which starts near singular positions magnify. */
static void start_noise(pair *p, const double *da, const double *w, const double *v, double *most_w, double *most_v) {
  const int n = p->a.m->nw;
  double *dw = model_case_array(&p->a, n), *dv = model_case_array(&p->a, n);
  support_rng rng = support_rng_make(3);
  *most_w = *most_v = 0;
  for (int round = 0; round < 4; round++) {
    mbg__start_work *s;
    model_case_design(&p->a, &rng, 1e-14);
    assert_int_equal(mbg__start_create(p->a.ctx, p->a.sys, &s), MBG_OK);
    assert_int_equal(mbg__start_solve(p->a.ctx, s, true), MBG_OK);
    assert_int_equal(mbg__start_push(p->a.ctx, s, da, dw, dv), MBG_OK);
    for (int i = 0; i < n; i++) {
      *most_w = fmax(*most_w, 10 * fabs(dw[i] - w[i]));
      *most_v = fmax(*most_v, 10 * fabs(dv[i] - v[i]));
    }
    mbg__start_destroy(s);
  }
  model_case_design(&p->a, NULL, 0);
}

static void compare_start_derivatives(pair *p, double *const w[2], double *const v[2]) {
  double most[2] = {0};
  if (!agree(p, w, v)) {
    start_noise(p, p->da, w[0], v[0], &most[0], &most[1]);
    last_noisy = seed;
  }
  /* a block of most/tol has the tolerance `most` */
  compare("derivative of the assembled frames", p->a.m->nw, w[0], w[1], most[0] / tol);
  compare("derivative of the assembled rates", p->a.m->nw, v[0], v[1], most[1] / tol);
}

static void compare_solutions(pair *p, mbg__start_work *const s[2], bool gravity) {
  const mbg_model *m = p->a.m;
  const mbg__start_result *ra = mbg__start_result_of(s[0]), *rb = mbg__start_result_of(s[1]);
  for (int i = 0; i < m->nbody; i++) {
    mbg__frame H;
    move_frame(p, i, &ra->H[i], &H);
    compare("assembled position", 3, H.x, rb->H[i].x, 0);
    compare("assembled rotation", 9, H.R, rb->H[i].R, 0);
  }
  compare("assembled rates", m->nw, ra->v, rb->v, 0);
  double *w[2], *v[2];
  for (int k = 0; k < 2; k++) {
    w[k] = model_case_array(&p->a, m->nw);
    v[k] = model_case_array(&p->a, m->nw);
  }
  for (int k = 0; k < m->np; k++) {
    parameter_direction(p, k, gravity);
    const int err = mbg__start_push(p->a.ctx, s[0], p->da, w[0], v[0]);
    assert_int_equal(mbg__start_push(p->b.ctx, s[1], p->db, w[1], v[1]), err);
    if (err == MBG_OK) {
      compare_start_derivatives(p, w, v);
    }
  }
}

static void compare_start(pair *p, bool gravity) {
  mbg__start_work *s[2];
  if (solve_starts(p, s)) {
    compare_solutions(p, s, gravity);
    noisy += last_noisy == seed;
    last_noisy = UINT64_MAX;
  }
  mbg__start_destroy(s[0]);
  mbg__start_destroy(s[1]);
}

/* ---------------------------------------------------------------------- runs */

static void compare_models(pair *p, bool gravity) {
  make(p);
  support_rng ra = p->rng, rb = p->rng;
  model_case_design(&p->a, &ra, 0.03);
  model_case_design(&p->b, &rb, 0.03);
  move_state(p, 0.1);
  compare_values(p);
  compare_derivatives(p, gravity);
  compare_matrices(p);
  model_case_design(&p->a, NULL, 0);
  model_case_design(&p->b, NULL, 0);
  compare_start(p, gravity);
  free(p->world);
  model_case_close(&p->a);
  model_case_close(&p->b);
}

static void test_numbers(void **state) {
  (void)state;
  const int rounds = support_rounds(10, 100);
  solved = noisy = 0;
  for (int i = 0; i < rounds; i++) {
    pair p = {.rng = support_rng_make(77 + (uint64_t)i)};
    seed = (uint64_t)i;
    random_model_options opt = random_model_mix(seed);
    double place[12];
    opt.kind = i % 2 ? RANDOM_LOOP : RANDOM_TREE;
    opt.indifferent = true;
    opt.beams = i % 3 == 0;
    opt.modal = i % 3 == 1;
    opt.curves = opt.guides = i % 5 < 2;
    opt.rolling = i % 5 == 0;
    random_place(&p.rng, seed, &p.P);
    memcpy(place, p.P.R, 9 * sizeof(double));
    memcpy(place + 9, p.P.x, 3 * sizeof(double));
    char *here = random_model(seed, &opt);
    opt.placement = place;
    char *there = random_model(seed, &opt);
    model_case_open(&p.a, NULL, here);
    model_case_open(&p.b, NULL, there);
    compare_models(&p, true);
    free(here);
    free(there);
  }
  assert_true(solved >= 0.8 * rounds && noisy <= rounds / 20);
}

/* the outer file: gravity and one part */
static void write_outer(const char *folder, const mbg__frame *P, const double gravity[3]) {
  char path[80], text[1000];
  double g[3], w[3];
  m3_mulv(g, P->R, gravity);
  mbg__so3_log(w, P->R);
  const int size =
      snprintf(text, sizeof text,
               "{\"mbgrad\": 1, \"gravity\": [%.17g, %.17g, %.17g], \"parts\": {\"M\": {\"use\": \"inner.json\", "
               "\"at\": [%.17g, %.17g, %.17g], \"rotate\": {\"vector\": [%.17g, %.17g, %.17g]}}}}",
               g[0], g[1], g[2], P->x[0], P->x[1], P->x[2], w[0], w[1], w[2]);
  snprintf(path, sizeof path, "%s/outer.json", folder);
  support_write_file(path, text, (size_t)size);
}

static void check_part(const char *folder, uint64_t number) {
  pair p = {.rng = support_rng_make(99 + number)};
  char inner[80], outer[80];
  seed = number;
  random_model_options opt = random_model_mix(number);
  opt.kind = number % 2 ? RANDOM_LOOP : RANDOM_TREE;
  opt.local_road = true;
  opt.beams = number % 3 == 0;
  opt.modal = number % 3 == 1;
  opt.curves = opt.guides = number % 5 > 2;
  opt.rolling = number % 5 == 3;
  snprintf(inner, sizeof inner, "%s/inner.json", folder);
  snprintf(outer, sizeof outer, "%s/outer.json", folder);
  random_place(&p.rng, seed, &p.P);
  char *text = random_model(number, &opt);
  support_write_file(inner, text, strlen(text));
  model_case_open(&p.a, inner, NULL);
  /* gravity of the design that is compared: its parameters are those of the same random numbers */
  support_rng rng = p.rng;
  model_case_design(&p.a, &rng, 0.03);
  write_outer(folder, &p.P, p.a.design->attr + p.a.m->gravity);
  model_case_open(&p.b, outer, NULL);
  compare_models(&p, false);
  free(text);
  remove(inner);
  remove(outer);
}

static void test_part(void **state) {
  (void)state;
  char folder[] = "/tmp/mbgrad-frame-XXXXXX";
  const int rounds = support_rounds(10, 100);
  assert_non_null(mkdtemp(folder));
  solved = noisy = 0;
  for (int i = 0; i < rounds; i++) {
    check_part(folder, (uint64_t)i);
  }
  rmdir(folder);
  assert_true(solved >= 0.8 * rounds && noisy <= rounds / 20);
}

static int report(void **state) {
  (void)state;
  if (support_rounds(0, 1)) {
    print_message("worst deviation %.1e; %d starts of the last test, %d near singular positions\n", worst, solved,
                  noisy);
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_part)};
  return cmocka_run_group_tests(tests, NULL, report);
}
