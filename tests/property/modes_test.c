/* Modes of random models and of the gallery: the pairs satisfy their equations, and the derivatives of eigenvalues are
   those that follow from the matrices of the twin, differentiated by complex step with equilibrium, start and all:

     ds = -(y^T (s^2 dM + s dC + dK) x + y^T dB^T xi + eta^T dB x) / (y^T (2 s M + C) x)

   Tolerance 1e-8 in the measure of theory 0, section 11: eigenvectors are exact to rounding times the spread of the
   spectrum, up to 1e6 in these models. */
#include "modes/modes.h"
#include "support/random_model.h"
#include "support/support.h"
#include "twin/twin_modes.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef I

typedef double _Complex cplx;

static const double tol = 1e-8;
static double worst, worst_residual;
static char worst_name[100];
static int compared, ended;

/* ---------------------------------------------------------------------- one linearized model */

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  twin_modes *twin;
  mbg__modes_work w;
  mbg_modes *modes;
  int nK, nB;
  double *p;
} fixture;

static cplx number(double re_, double im_) {
  cplx z;
  __real__ z = re_;
  __imag__ z = im_;
  return z;
}

static cplx entry(double *const x[2], int i) { return number(x[0][i], x[1] ? x[1][i] : 0); }

/* y^T A x for values A by the pattern of K */
static cplx form(const fixture *f, const mbg__mode *m, const double *A) {
  const mbg__csc *P = mbg__system_pattern_K(f->w.sys);
  cplx sum = 0;
  for (int j = 0; j < f->w.m->nv; j++) {
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      sum += entry(m->y, P->rowind[i]) * A[i] * entry(m->x, j);
    }
  }
  return sum;
}

/* y^T B^T xi + eta^T B x on the kept rows */
static cplx form_rows(const fixture *f, const mbg__mode *m, const double *B) {
  const mbg__csc *P = mbg__system_pattern_B(f->w.sys);
  cplx sum = 0;
  for (int j = 0; j < f->w.m->nv; j++) {
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      const int row = P->rowind[i];
      sum += B[i] * (entry(m->y, j) * entry(m->xi, row) + entry(m->eta, row) * entry(m->x, j));
    }
  }
  return sum;
}

/* |(s^2 M + s C + K) x + B^T xi| relative to the sizes of its parts, in the metric */
static double residual(const fixture *f, const mbg__mode *m) {
  const mbg__csc *P = mbg__system_pattern_K(f->w.sys), *Q = mbg__system_pattern_B(f->w.sys);
  const cplx s = number(m->s[0], m->s[1]);
  const bool damped = !f->w.symmetric && !f->w.opt.undamped;
  cplx *r = calloc((size_t)f->w.m->nv, sizeof *r);
  double *size = calloc((size_t)f->w.m->nv, sizeof *size), most = 0, scale = 0;
  for (int j = 0; j < f->w.m->nv; j++) {
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      const cplx x = entry(m->x, j), a[3] = {s * s * f->w.M[i], damped ? s * f->w.C[i] : 0, f->w.K[i]};
      for (int k = 0; k < 3; k++) {
        r[P->rowind[i]] += a[k] * x;
        size[P->rowind[i]] += cabs(a[k] * x);
      }
    }
    for (int i = Q->colptr[j]; i < Q->colptr[j + 1]; i++) {
      r[j] += f->w.B[i] * entry(m->xi, Q->rowind[i]);
      size[j] += cabs(f->w.B[i] * entry(m->xi, Q->rowind[i]));
    }
  }
  for (int j = 0; j < f->w.m->nv; j++) {
    most = fmax(most, cabs(r[j]) / sqrt(f->w.W[j]));
    scale = fmax(scale, size[j] / sqrt(f->w.W[j]));
  }
  free(r);
  free(size);
  return scale > 0 ? most / scale : 0;
}

/* ---------------------------------------------------------------------- derivatives */

static void step_parameters(const fixture *f, int k, cplx *p) {
  for (int i = 0; i < f->w.m->np; i++) {
    p[i] = twin_step(f->p[i], i == k);
  }
}

static void derivative(int n, const cplx *A, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = twin_derivative(A[i]);
  }
}

/* the equilibrium of the library, for the twin */
static twin_modes_given given_of(const fixture *f) {
  const mbg__modes_work *w = &f->w;
  double *H = malloc(12 * ((size_t)w->m->nbody + 1) * sizeof *H);
  for (int b = 0; b < w->m->nbody; b++) {
    memcpy(H + 12 * b, w->H[b].R, 9 * sizeof *H);
    memcpy(H + 12 * b + 9, w->H[b].x, 3 * sizeof *H);
  }
  return (twin_modes_given){
      .H = H, .lambda = w->lambda, .turns = w->turns, .nzero = w->nzero, .zero = w->zero, .zero_left = w->zero_left};
}

/* ds of all simple modes by parameter k into ds (count), and what it pushes along motions that nothing holds */
static void twin_derivatives(fixture *f, int k, const twin_modes_given *about, double *push, cplx *ds) {
  cplx *p = calloc((size_t)f->w.m->np + 1, sizeof *p), *A[4];
  double *d[4];
  for (int q = 0; q < 4; q++) {
    A[q] = calloc((size_t)(q < 3 ? f->nK : f->nB) + 1, sizeof **A);
    d[q] = calloc((size_t)(q < 3 ? f->nK : f->nB) + 1, sizeof **d);
  }
  step_parameters(f, k, p);
  if (twin_modes_matrices(f->twin, &f->w.opt, about, p, push, A[0], A[1], A[2], A[3]) < 0) {
    fail_msg("twin: %s", twin_modes_message(f->twin));
  }
  for (int q = 0; q < 4; q++) {
    derivative(q < 3 ? f->nK : f->nB, A[q], d[q]);
  }
  const bool damped = !f->w.symmetric && !f->w.opt.undamped;
  for (int i = 0; i < f->w.count; i++) {
    const mbg__mode *m = &f->w.modes[i];
    const cplx s = number(m->s[0], m->s[1]);
    cplx F = form(f, m, d[0]) + s * s * form(f, m, d[2]) + form_rows(f, m, d[3]), N = 2 * s * form(f, m, f->w.M);
    if (damped) {
      F += s * form(f, m, d[1]);
      N += form(f, m, f->w.C);
    }
    ds[i] = -F / N;
  }
  for (int q = 0; q < 4; q++) {
    free(A[q]);
    free(d[q]);
  }
  free(p);
}

static bool simple(const fixture *f, int i) {
  const mbg_mode *m = mbg_modes_get_mode(f->modes, i);
  return m->kind != MBG_MODE_ZERO && m->multiplicity == 1;
}

static void compare(fixture *f, const char *name) {
  const int np = f->w.m->np, n = f->w.count;
  cplx *ds = calloc((size_t)(np * n) + 1, sizeof *ds);
  double *push = calloc((size_t)np + 1, sizeof *push);
  const twin_modes_given about = given_of(f);
  for (int k = 0; k < np; k++) {
    twin_derivatives(f, k, f->w.opt.at == MBG_MODES_EQUILIBRIUM ? &about : NULL, &push[k], ds + (size_t)k * (size_t)n);
  }
  free((void *)about.H);
  for (int i = 0; i < n; i++) {
    double most = 0;
    if (!simple(f, i)) {
      continue;
    }
    const double *re_ = mbg_modes_eigenvalue_gradient(f->modes, i, 0),
                 *im_ = mbg_modes_eigenvalue_gradient(f->modes, i, 1);
    for (int k = 0; k < np; k++) {
      most = fmax(most, fabs(f->p[k]) * cabs(ds[k * n + i]));
    }
    /* what is a rounding of the eigenvalue itself is none of its derivatives */
    most = fmax(most, 1e-4 * hypot(f->w.modes[i].s[0], f->w.modes[i].s[1]));
    for (int k = 0; k < np; k++) {
      const cplx exact = ds[k * n + i];
      const double size = fabs(f->p[k]) > 0 ? fabs(f->p[k]) : 1;
      /* a parameter that pushes along a motion that nothing holds ends the equilibrium: no derivative; forces are of
         order 1 */
      const bool ends = push[k] * size > 1e-7;
      if (ends != isnan(re_[k])) {
        fail_msg("%s: parameter %d pushes by %.1e along a free motion, derivative %g", name, k, push[k], re_[k]);
      }
      if (ends) {
        ended++;
        continue;
      }
      const double off = cabs(exact - number(re_[k], im_[k])) / (cabs(exact) + most / size);
      compared++;
      if (off > worst) {
        worst = off;
        snprintf(worst_name, sizeof worst_name, "%s", name);
      }
      if (!(off <= tol)) {
        fail_msg("%s: mode %d (s = %g%+gi) by parameter %d: %.12g%+.12gi, twin %.12g%+.12gi (off by %.1e)", name, i,
                 f->w.modes[i].s[0], f->w.modes[i].s[1], k, re_[k], im_[k], creal(exact), cimag(exact), off);
      }
    }
  }
  free(ds);
  free(push);
}

/* ---------------------------------------------------------------------- life */

/* Why a random model has no modes: nothing stops it; it falls into a point where a force has no direction; its start
   cannot be had (a driver out of reach, a singular start); the search was given up. */
enum { FOUND, AWAY, CORNER, NO_START, GIVEN_UP, REASONS };
static int reasons[REASONS];

static int reason_of(const char *message) {
  static const struct {
    const char *part;
    int reason;
  } list[] = {{"nothing stops it", AWAY},
              {"a force has no direction", CORNER},
              {"cannot be assembled", NO_START},
              {"at the start are not determined", NO_START}};
  for (int i = 0; i < MBG_COUNT(list); i++) {
    if (strstr(message, list[i].part)) {
      return list[i].reason;
    }
  }
  return GIVEN_UP;
}

/* FOUND, or why there are no modes */
static int open_modes(fixture *f, const char *file, const char *text, mbg_modes_options opt, const char *name) {
  *f = (fixture){0};
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  if ((text ? mbg_model_parse(f->ctx, "model", text, strlen(text), NULL, &f->model)
            : mbg_model_load(f->ctx, file, &f->model)) < 0) {
    fail_msg("%s: %s", name, mbg_context_error(f->ctx));
  }
  assert_int_equal(twin_modes_create(file, text, &f->twin), MBG_OK);
  opt.gradient = true;
  f->p = calloc((size_t)f->model->np + 1, sizeof(double));
  memcpy(f->p, f->model->p, (size_t)f->model->np * sizeof(double));
  const int err = mbg_modes_create(f->ctx, f->model, &opt, &f->modes);
  if (err == MBG_ERROR_CONVERGENCE || err == MBG_ERROR_SINGULAR || err == MBG_ERROR_INPUT) {
    if (getenv("MBG_SEED")) {
      print_message("%s: %s\n", name, mbg_context_error(f->ctx));
    }
    return reason_of(mbg_context_error(f->ctx));
  }
  if (err < 0) {
    fail_msg("%s: %s", name, mbg_context_error(f->ctx));
  }
  f->w = (mbg__modes_work){.ctx = f->ctx, .given = f->model, .opt = opt, .p = f->p};
  f->w.opt.count = opt.count > 0 ? opt.count : 10;
  mbg__arena_init(&f->w.arena, mbg__context_allocator(f->ctx));
  assert_int_equal(mbg__modes_state(&f->w), MBG_OK);
  assert_int_equal(mbg__modes_eigen(&f->w), MBG_OK);
  f->nK = mbg__csc_count(mbg__system_pattern_K(f->w.sys));
  f->nB = mbg__csc_count(mbg__system_pattern_B(f->w.sys));
  assert_int_equal(f->w.count, mbg_modes_get_summary(f->modes)->count);
  return FOUND;
}

static void close_modes(fixture *f) {
  if (f->w.ctx) {
    mbg__saddle_destroy(&f->w.saddle);
    mbg__start_destroy(f->w.start);
    mbg__system_destroy(f->w.sys);
    mbg__arena_destroy(&f->w.arena);
  }
  mbg_modes_destroy(f->modes);
  twin_modes_destroy(f->twin);
  mbg_model_destroy(f->model);
  mbg_context_destroy(f->ctx);
  free(f->p);
}

static int check(const char *file, const char *text, mbg_modes_options opt, const char *name) {
  fixture f;
  const int reason = open_modes(&f, file, text, opt, name);
  for (int i = 0; reason == FOUND && i < f.w.count; i++) {
    const double off = residual(&f, &f.w.modes[i]);
    worst_residual = fmax(worst_residual, off);
    if (!(off <= 1e-9) && !f.w.modes[i].zero) {
      fail_msg("%s: mode %d: residual %.1e", name, i, off);
    }
  }
  if (reason == FOUND) {
    compare(&f, name);
  }
  close_modes(&f);
  return reason;
}

/* ---------------------------------------------------------------------- random models */

typedef struct {
  bool beams, modal, conservative;
} mixture;

static void check_random(uint64_t seed, mixture mix, mbg_modes_at at) {
  char name[60];
  random_model_options opt = random_model_mix(seed);
  opt.signals = false;
  opt.beams = mix.beams;
  opt.modal = mix.modal;
  opt.conservative = mix.conservative;
  opt.bodies = mix.beams || mix.modal ? 2 : 0;
  char *text = random_model(seed, &opt);
  const mbg_modes_options modes = {
      .size = sizeof(modes), .at = at, .count = 8, .undamped = at == MBG_MODES_EQUILIBRIUM && seed % 3 == 0};
  snprintf(name, sizeof name, "seed %llu at the %s", (unsigned long long)seed, mbg_modes_at_name((int)at));
  reasons[check(NULL, text, modes, name)]++;
  free(text);
}

/* beams in one of four, modal bodies in one of four */
static mixture mixture_of(int i, bool conservative) {
  return (mixture){.beams = i % 4 == 3, .modal = i % 4 == 1, .conservative = conservative};
}

static void check_randoms(uint64_t first, int rounds, bool conservative, mbg_modes_at at) {
  const char *one = getenv("MBG_SEED");
  const uint64_t seed = one ? strtoull(one, NULL, 10) : 0;
  memset(reasons, 0, sizeof reasons);
  for (int i = 0; i < rounds; i++) {
    if (!one || seed == first + (uint64_t)i) {
      check_random(first + (uint64_t)i, mixture_of(i, conservative), at);
    }
  }
  if (support_rounds(0, 1)) {
    print_message("%d random models at the %s: %d found, %d that nothing stops, %d that fall into a point without "
                  "direction, %d without a start, %d given up\n",
                  rounds, mbg_modes_at_name((int)at), reasons[FOUND], reasons[AWAY], reasons[CORNER], reasons[NO_START],
                  reasons[GIVEN_UP]);
  }
}

static void test_start(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 4 : support_rounds(12, 200);
  check_randoms(3000, rounds, false, MBG_MODES_START);
  assert_true(reasons[NO_START] <= rounds / 8);
  assert_int_equal(reasons[GIVEN_UP], 0);
}

/* Forces of all kinds: many push for ever, or have no equilibrium by design (actuators, tensions without a spring). Two
   in a hundred may be given up, because forces without a potential lead round in circles. */
static void test_equilibrium(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 4 : support_rounds(12, 200);
  check_randoms(4000, rounds, false, MBG_MODES_EQUILIBRIUM);
  assert_true(reasons[GIVEN_UP] <= (rounds + 49) / 50);
  assert_true(support_sanitized() || getenv("MBG_SEED") || reasons[FOUND] >= rounds / 2);
}

/* springs, stops, bushings and gravity */
static void test_conservative(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 4 : support_rounds(12, 200);
  check_randoms(5000, rounds, true, MBG_MODES_EQUILIBRIUM);
  assert_true(reasons[GIVEN_UP] <= (rounds + 99) / 100);
  assert_true(support_sanitized() || getenv("MBG_SEED") || reasons[FOUND] >= 2 * rounds / 3);
}

/* ---------------------------------------------------------------------- models of the gallery, a blade */

static void test_gallery(void **state) {
  (void)state;
  static const char *const names[] = {"quarter-car", "five-bar",      "engine-mount",  "four-bar",         "andrews",
                                      "heavy-top",   "rssr",          "spatial-chain", "two-body-spatial", "bricard",
                                      "vehicle",     "swinging-beam", "cantilever"};
  const int n = support_rounds(4, MBG_COUNT(names));
  for (int i = 0; i < n; i++) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", MBG_GALLERY_DIR, names[i]);
    const mbg_modes_options opt = {.size = sizeof(opt), .count = 6};
    if (check(path, NULL, opt, names[i]) != FOUND) {
      fail_msg("%s has no modes", names[i]);
    }
  }
}

/* a rotating blade with damping and a hinge: gyroscopic terms, the equilibrium with centrifugal forces moves with the
   speed */
static void test_steady(void **state) {
  (void)state;
  static const char text[] =
      "{\"mbgrad\": 1, \"parameters\": {\"W\": 5, \"E\": 1e7, \"rho\": 1000, \"l\": 1, \"m\": 0.02, \"c\": 0.001, "
      "\"k\": 0.5}, "
      "\"gravity\": [0, 0, -9.81], \"beams\": {\"blade\": {\"elements\": 4, \"to\": [\"l\", 0, \"0.1*l\"], "
      "\"section\": {\"type\": "
      "\"general\", \"A\": 1e-4, \"I2\": 1e-8, \"I3\": 2e-8, \"Jt\": 3e-8}, \"E\": \"E\", \"nu\": 0.3, \"rho\": "
      "\"rho\", \"damping\": "
      "\"c\", \"angular_velocity\": [0, 0, \"W\"]}}, \"bodies\": {\"hub\": {\"mass\": 1, \"inertia\": [1, 1, 1], "
      "\"angular_velocity\": [0, 0, \"W\"]}, \"tip\": {\"mass\": \"m\", \"inertia\": [1e-5, 1e-5, 2e-5], \"position\": "
      "[\"l\", 0, "
      "\"0.1*l\"], \"velocity\": [0, \"W*l\", 0], \"angular_velocity\": [0, 0, \"W\"]}}, \"joints\": {\"axle\": "
      "{\"type\": "
      "\"revolute\", \"between\": [\"ground\", \"hub\"], \"at\": [0, 0, 0], \"axis\": [0, 0, 1]}, \"flap\": {\"type\": "
      "\"revolute\", "
      "\"between\": [\"hub\", \"blade.0\"], \"at\": [0, 0, 0], \"axis\": [0, 1, 0]}, \"weld\": {\"type\": \"fixed\", "
      "\"between\": "
      "[\"blade.4\", \"tip\"], \"at\": [\"l\", 0, \"0.1*l\"]}}, \"forces\": {\"hinge\": {\"type\": "
      "\"torsion-spring-damper\", \"joint\": \"flap\", "
      "\"coordinate\": "
      "\"angle\", \"stiffness\": \"k\", \"damping\": \"c\"}}, \"drivers\": {\"motor\": {\"joint\": \"axle\", \"law\": "
      "\"W*t\"}}}";
  const mbg_modes_options opt = {.size = sizeof(opt), .at = MBG_MODES_STEADY, .count = 8};
  if (check(NULL, text, opt, "blade") != FOUND) {
    fail_msg("the blade has no steady motion");
  }
}

static int report(void **state) {
  (void)state;
  if (support_rounds(0, 1)) {
    print_message(
        "%d derivatives, worst %.1e (%s), %d by parameters that end the equilibrium; residuals of modes up to %.1e\n",
        compared, worst, worst_name, ended, worst_residual);
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gallery), cmocka_unit_test(test_steady),
                                     cmocka_unit_test(test_start), cmocka_unit_test(test_equilibrium),
                                     cmocka_unit_test(test_conservative)};
  return cmocka_run_group_tests(tests, NULL, report);
}
