/* Linear models of the gallery and of random models: A, B, C, D against central differences of signals at the first
   node of a run that starts from a varied state, poles against the eigenvalues of mbg_modes, derivatives by parameters
   against the twin, in which the point is found with complex parameters. */
#include "linearize/linearize.h"
#include "mbgrad/modes.h"
#include "run/run.h"
#include "support/random_model.h"
#include "support/support.h"
#include "twin/twin_linearize.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef I

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  char name[120];
} job;

static void must(const job *j, int status) {
  if (status < 0) {
    fail_msg("%s: %s", j->name, mbg_context_error(j->ctx));
  }
}

static void open_file(job *j, const char *file) {
  char path[500];
  *j = (job){0};
  assert_int_equal(mbg_context_create(NULL, &j->ctx), MBG_OK);
  snprintf(j->name, sizeof(j->name), "%s", file);
  snprintf(path, sizeof(path), "%s/%s", MBG_GALLERY_DIR, file);
  must(j, mbg_model_load(j->ctx, path, &j->model));
}

static void open_text(job *j, const char *name, const char *text) {
  *j = (job){0};
  assert_int_equal(mbg_context_create(NULL, &j->ctx), MBG_OK);
  snprintf(j->name, sizeof(j->name), "%s", name);
  must(j, mbg_model_parse(j->ctx, "text", text, strlen(text), NULL, &j->model));
}

static void close_job(job *j) {
  mbg_model_destroy(j->model);
  mbg_context_destroy(j->ctx);
}

static double *numbers(int n) {
  double *x = calloc((size_t)n + 1, sizeof(double));
  assert_non_null(x);
  return x;
}

/* ---------------------------------------------------------------------- differences of a run */

typedef struct {
  const job *j;
  mbg__linearize_work k;
  mbg_run *run;
  int nsignal;
  double *y[5]; /* at four points, and differences */
} fixture;

static void begin(fixture *f, const job *j, mbg_linearize_at at, int ninput, const char *const *inputs) {
  *f = (fixture){.j = j};
  f->k = (mbg__linearize_work){.ctx = j->ctx, .given = j->model};
  mbg_linearize_options_default(&f->k.opt, sizeof(f->k.opt));
  f->k.opt.at = at;
  f->k.opt.ninput = ninput;
  f->k.opt.inputs = inputs;
  mbg__arena_init(&f->k.arena, mbg__context_allocator(j->ctx));
  f->k.p = MBG_TAKE(&f->k.arena, real, j->model->np);
  for (int i = 0; i < j->model->np; i++) {
    f->k.p[i] = j->model->p[i];
  }
  must(j, mbg__linearize_solve(&f->k));
  mbg_run_options o;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = "lie";
  o.step = 1e-6;
  o.end = f->k.at.t + 1e-6;
  o.start = f->k.at.t;
  o.all_signals = true;
  must(j, mbg_run_create(j->ctx, &f->k.model, &o, &f->run));
  f->nsignal = f->k.model.nsignal;
  for (int i = 0; i < 5; i++) {
    f->y[i] = numbers(f->nsignal);
  }
}

static void end(fixture *f) {
  mbg_run_destroy(f->run);
  mbg__linearize_end(&f->k);
  for (int i = 0; i < 5; i++) {
    free(f->y[i]);
  }
}

/* all signals at the first node, from the state moved by eps along lift c; input >= 0: its parameter moves, too */
static void signals_at(fixture *f, int c, int parameter, double eps, double *y) {
  const mbg_model *m = &f->k.model;
  const real *w = f->k.linear.w + (size_t)c * (size_t)m->nw, *dv = f->k.linear.dv + (size_t)c * (size_t)m->nw;
  mbg__frame *H = calloc((size_t)m->nbody + 1, sizeof *H);
  real *v = numbers(m->nw);
  double *p = numbers(m->np);
  for (int b = 0; b < m->nbody; b++) {
    real h[6];
    v6_scale(h, eps, w + m->bodies[b].voff);
    mbg__se3_retract(&H[b], &f->k.at.H[b], h);
  }
  for (int i = 0; i < m->nw; i++) {
    v[i] = f->k.at.v[i] + eps * dv[i];
  }
  for (int i = 0; i < m->np; i++) {
    p[i] = re(f->k.p[i]) + (i == parameter ? eps : 0);
  }
  must(f->j, mbg_run_set_parameters(f->j->ctx, f->run, p));
  mbg__run_give(f->run, &(mbg__run_state){.t = re(f->k.at.t), .H = H, .v = v, .turns = (int *)f->k.at.turns});
  must(f->j, mbg_run_simulate(f->j->ctx, f->run));
  for (int i = 0; i < f->nsignal; i++) {
    y[i] = mbg_run_signal(f->run, 0, i);
  }
  free(H);
  free(v);
  free(p);
}

static double largest(int n, int ld, const real *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(re(x[(size_t)i * (size_t)ld])));
  }
  return most;
}

static double worst;
static int corners;

/* central differences of fourth order into y[4]; states off the constraints by eps^2 do not matter, as they are the
   same for both signs */
static void differences(fixture *f, int c, int parameter, double eps) {
  for (int i = 0; i < 4; i++) {
    signals_at(f, c, parameter, eps * (double[]){1, -1, 2, -2}[i], f->y[i]);
  }
  for (int i = 0; i < f->nsignal; i++) {
    f->y[4][i] = (8 * (f->y[0][i] - f->y[1][i]) - (f->y[2][i] - f->y[3][i])) / (12 * eps);
  }
}

/* entry (row, c) against y[4] of a signal at differences of length eps */
static void compare(fixture *f, const char *what, int row, int c, int parameter, int signal, double exact, double size,
                    double eps) {
  double off = fabs(exact - f->y[4][signal]) / size;
  if (!(off <= 1e-7)) {
    /* forces as |v| v have a corner in their slope: differences converge with eps only */
    differences(f, c, parameter, eps / 100);
    const double closer = fabs(exact - f->y[4][signal]) / size;
    off = closer < off / 20 ? 0 : off;
    corners++;
    differences(f, c, parameter, eps);
  }
  worst = fmax(worst, off);
  if (!(off <= 1e-7)) {
    fail_msg("%s: %s row %d, column %d = %.12g, differences %.12g", f->j->name, what, row, c, exact, f->y[4][signal]);
  }
}

/* column c of (A, C) or (B, D) */
static void check_column(fixture *f, int c, int parameter) {
  const mbg__linear *l = &f->k.linear;
  const bool input = c >= l->n;
  const int ld = input ? l->ninput : l->n, at = input ? c - l->n : c;
  const int nq = f->k.spec.nq - f->k.spec.nstate; /* states have no signals of their rates: C has what uses them */
  const double eps = 1e-4 * (parameter >= 0 ? fmax(1e-3, fabs(re(f->k.p[parameter]))) : 1);
  const real *F = (input ? l->B : l->A) + at, *G = (input ? l->D : l->C) + at;
  const double size = 1e-3 + largest(l->n, ld, F);
  differences(f, c, parameter, eps);
  for (int i = 0; i < nq + mbg__linear_rates(&f->k.spec); i++) {
    const bool rate = i >= nq;
    const mbg__q *q = &f->k.q[rate ? mbg__linear_rate(&f->k.spec, i - nq) : i];
    if (q->kind == MBG__Q_JOINT) {
      /* differences have the rounding of forces that cancel: of the size of the row of A */
      const double row = largest(l->n, 1, l->A + (size_t)i * (size_t)l->n);
      compare(f, input ? "B" : "A", i, c, parameter, q->signal + 1 + rate, re(F[(size_t)i * (size_t)ld]),
              size + row * (parameter < 0 ? 1 : 1e-7 / eps), eps);
    }
  }
  for (int i = 0; i < l->noutput; i++) {
    const int signal = f->k.spec.outputs[i];
    const double row = largest(l->n, 1, l->C + (size_t)i * (size_t)l->n), value = fabs(f->y[0][signal]);
    compare(f, input ? "D" : "C", i, c, parameter, signal, re(G[(size_t)i * (size_t)ld]),
            size + row + fabs(re(G[(size_t)i * (size_t)ld])) + 1e-9 * value / eps, eps);
  }
}

static void check_differences(const job *j, mbg_linearize_at at, int ninput, const char *const *inputs) {
  fixture f;
  begin(&f, j, at, ninput, inputs);
  for (int c = 0; c < f.k.linear.n; c++) {
    check_column(&f, c, -1);
  }
  for (int c = 0; c < f.k.linear.ninput; c++) {
    if (f.k.spec.inputs[c].parameter >= 0) {
      check_column(&f, f.k.linear.n + c, f.k.spec.inputs[c].parameter);
    }
  }
  end(&f);
}

/* inputs: all scalar parameters */
static void all_parameters(const job *j, mbg_linearize_at at) {
  char names[40][256];
  const char *list[40];
  const int np = mbg_model_parameter_count(j->model), n = np < 40 ? np : 40;
  for (int i = 0; i < n; i++) {
    assert_int_equal(mbg_model_parameter_name(j->model, i, names[i], sizeof(names[i])), MBG_OK);
    list[i] = names[i];
  }
  check_differences(j, at, n, list);
}

static void test_differences(void **state) {
  (void)state;
  static const char *const files[] = {"five-bar",    "bricard",  "vehicle", "slider-crank",  "overhead-crane",
                                      "quarter-car", "four-bar", "rssr",    "spatial-chain", "two-body-spatial",
                                      "heavy-top",   "andrews",  "two-arm", "swinging-beam", "flexible-four-bar"};
  for (int i = 0; i < support_rounds(6, MBG_COUNT(files)); i++) {
    job j;
    open_file(&j, files[i]);
    all_parameters(&j, MBG_LINEARIZE_START);
    close_job(&j);
  }
}

static char *random_text(uint64_t seed) {
  random_model_options opt = random_model_mix(seed);
  opt.beams = seed % 4 == 3;
  opt.modal = seed % 4 == 1;
  opt.bodies = opt.beams || opt.modal ? 2 : 0;
  opt.states = seed % 3 == 0;
  return random_model(seed, &opt);
}

static const int seeds = 7000;

/* a start that cannot be had, or accelerations that are not determined */
static bool has_start(const job *j) {
  mbg_linearize_options o;
  mbg_linearize *linear = NULL;
  mbg_linearize_options_default(&o, sizeof(o));
  o.at = MBG_LINEARIZE_START;
  const int err = mbg_linearize_create(j->ctx, j->model, &o, &linear);
  mbg_linearize_destroy(linear);
  return err == MBG_OK;
}

static void check_random(int first, char *(*make)(uint64_t seed)) {
  const int rounds = support_sanitized() ? 4 : support_rounds(12, 100);
  int found = 0;
  for (int i = 0; i < rounds; i++) {
    char name[40], *text = make((uint64_t)(first + i));
    job j;
    snprintf(name, sizeof(name), "seed %d", first + i);
    open_text(&j, name, text);
    if (has_start(&j)) {
      found++;
      all_parameters(&j, MBG_LINEARIZE_START);
    }
    close_job(&j);
    free(text);
  }
  assert_true(found >= rounds / 2);
  assert_true(corners <= 20 * rounds);
}

static void test_random_differences(void **state) {
  (void)state;
  check_random(seeds, random_text);
}

/* wheels, balls and blades */
static char *rolling_text(uint64_t seed) {
  random_model_options opt = random_model_mix(seed);
  opt.rolling = true;
  return random_model(seed, &opt);
}

static void test_rolling_differences(void **state) {
  (void)state;
  corners = 0;
  check_random(19000, rolling_text);
}

/* ---------------------------------------------------------------------- poles and modes */

static mbg_linearize *linearized(const job *j, mbg_linearize_at at, bool gradient) {
  mbg_linearize_options o;
  mbg_linearize *linear = NULL;
  mbg_linearize_options_default(&o, sizeof(o));
  o.at = at;
  o.gradient = gradient;
  must(j, mbg_linearize_create(j->ctx, j->model, &o, &linear));
  return linear;
}

/* each eigenvalue of the modes is a pole, to 1e-12 of its size and the rounding of its condition */
static void check_poles(const job *j, mbg_linearize_at at, double tol) {
  mbg_linearize *linear = linearized(j, at, false);
  const int n = mbg_linearize_get_summary(linear)->states;
  double *re_ = numbers(n), *im_ = numbers(n);
  mbg_modes_options o;
  mbg_modes *modes;
  mbg_modes_options_default(&o, sizeof(o));
  o.at = at == MBG_LINEARIZE_EQUILIBRIUM ? MBG_MODES_EQUILIBRIUM
         : at == MBG_LINEARIZE_START     ? MBG_MODES_START
                                         : MBG_MODES_STEADY;
  must(j, mbg_modes_create(j->ctx, j->model, &o, &modes));
  assert_int_equal(mbg_linearize_poles(linear, re_, im_), MBG_OK);
  assert_int_equal(mbg_modes_get_summary(modes)->freedoms, mbg_linearize_get_summary(linear)->freedoms);
  for (int i = 0; i < mbg_modes_get_summary(modes)->count; i++) {
    const mbg_mode *m = mbg_modes_get_mode(modes, i);
    double near = INFINITY;
    for (int k = 0; k < n && m->kind != MBG_MODE_ZERO; k++) {
      near = fmin(near, hypot(re_[k] - m->re, im_[k] - m->im) / hypot(m->re, m->im));
    }
    if (m->kind != MBG_MODE_ZERO && m->multiplicity == 1 && !(near <= tol)) {
      fail_msg("%s: mode %g%+gi has no pole: off by %.1e", j->name, m->re, m->im, near);
    }
  }
  mbg_modes_destroy(modes);
  mbg_linearize_destroy(linear);
  free(re_);
  free(im_);
}

static void test_modes(void **state) {
  (void)state;
  /* 1e-12 times the spread of the spectrum, where that costs digits of the lowest modes */
  static const struct {
    const char *file;
    mbg_linearize_at at;
    double tol;
  } list[] = {
      {"five-bar", MBG_LINEARIZE_EQUILIBRIUM, 1e-12},      {"quarter-car", MBG_LINEARIZE_EQUILIBRIUM, 1e-12},
      {"engine-mount", MBG_LINEARIZE_EQUILIBRIUM, 1e-12},  {"four-bar", MBG_LINEARIZE_EQUILIBRIUM, 1e-12},
      {"rssr", MBG_LINEARIZE_EQUILIBRIUM, 1e-12},          {"two-body-spatial", MBG_LINEARIZE_EQUILIBRIUM, 1e-12},
      {"spatial-chain", MBG_LINEARIZE_EQUILIBRIUM, 1e-12}, {"heavy-top", MBG_LINEARIZE_EQUILIBRIUM, 1e-12},
      {"bricard", MBG_LINEARIZE_EQUILIBRIUM, 1e-12},       {"vehicle", MBG_LINEARIZE_EQUILIBRIUM, 1e-11}};
  for (int i = 0; i < MBG_COUNT(list); i++) {
    job j;
    open_file(&j, list[i].file);
    check_poles(&j, list[i].at, list[i].tol);
    close_job(&j);
  }
}

/* ---------------------------------------------------------------------- derivatives */

typedef double _Complex cplx;

/* the equilibrium of the library, for the twin */
static twin_modes_given given_of(const mbg__linearize_work *k) {
  double *H = numbers(12 * k->model.nbody);
  for (int b = 0; b < k->model.nbody; b++) {
    memcpy(H + 12 * b, k->at.H[b].R, 9 * sizeof *H);
    memcpy(H + 12 * b + 9, k->at.H[b].x, 3 * sizeof *H);
  }
  return (twin_modes_given){.H = H, .lambda = k->at.lambda, .turns = k->at.turns};
}

static double worst_derivative;

static void check_derivative(const job *j, const mbg_linearize *linear, int p, cplx *const M[4]) {
  for (int q = 0; q < 4; q++) {
    int rows = 0, columns = 0;
    const double *A = mbg_linearize_matrix(linear, "ABCD"[q], &rows, &columns);
    const double *dA = mbg_linearize_derivative(linear, "ABCD"[q], p), value = j->model->p[p];
    double size = 0, off = 0;
    for (int i = 0; i < rows * columns; i++) {
      size = fmax(size, fmax(fabs(dA[i]), fabs(A[i]) / (fabs(value) + 1e-3)));
    }
    for (int i = 0; i < rows * columns; i++) {
      off = fmax(off, fabs(dA[i] - twin_derivative(M[q][i])));
    }
    worst_derivative = fmax(worst_derivative, size > 0 ? off / size : 0);
    if (!(off <= 1e-9 * size)) {
      fail_msg("%s: d%c by parameter %d is off by %.1e of %.1e", j->name, "ABCD"[q], p, off, size);
    }
  }
}

static void check_derivatives(const job *j, const char *file, const char *text, mbg_linearize_at at) {
  mbg_linearize *linear = linearized(j, at, true);
  const mbg_linearize_summary *s = mbg_linearize_get_summary(linear);
  fixture f;
  begin(&f, j, at, -1, NULL);
  twin_modes *twin;
  const twin_modes_given about = given_of(&f.k);
  cplx *p = calloc((size_t)j->model->np + 1, sizeof *p), *M[4];
  for (int q = 0; q < 4; q++) {
    M[q] = calloc((size_t)((q < 2 ? s->states : s->outputs) * (q % 2 ? s->inputs : s->states)) + 1, sizeof **M);
  }
  assert_int_equal(twin_modes_create(file, text, &twin), MBG_OK);
  for (int i = 0; i < s->parameters; i++) {
    for (int k = 0; k < j->model->np; k++) {
      p[k] = twin_step(j->model->p[k], k == i);
    }
    if (twin_linearize_matrices(twin, &f.k.opt, at == MBG_LINEARIZE_EQUILIBRIUM ? &about : NULL, p, M) < 0) {
      fail_msg("%s: twin: %s", j->name, twin_modes_message(twin));
    }
    check_derivative(j, linear, i, M);
  }
  twin_modes_destroy(twin);
  for (int q = 0; q < 4; q++) {
    free(M[q]);
  }
  free(p);
  free((void *)about.H);
  end(&f);
  mbg_linearize_destroy(linear);
}

static void test_derivatives(void **state) {
  (void)state;
  static const struct {
    const char *file;
    mbg_linearize_at at;
  } list[] = {{"five-bar", MBG_LINEARIZE_EQUILIBRIUM},
              {"five-bar", MBG_LINEARIZE_START},
              {"bricard", MBG_LINEARIZE_START},
              {"quarter-car", MBG_LINEARIZE_EQUILIBRIUM},
              {"overhead-crane", MBG_LINEARIZE_START},
              {"vehicle", MBG_LINEARIZE_START},
              {"engine-mount", MBG_LINEARIZE_EQUILIBRIUM},
              {"slider-crank", MBG_LINEARIZE_START}};
  for (int i = 0; i < MBG_COUNT(list); i++) {
    char path[500];
    job j;
    open_file(&j, list[i].file);
    snprintf(path, sizeof(path), "%s/%s", MBG_GALLERY_DIR, list[i].file);
    check_derivatives(&j, path, NULL, list[i].at);
    close_job(&j);
  }
}

static void test_random_derivatives(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 3 : support_rounds(10, 100);
  for (int i = 0; i < rounds; i++) {
    char name[40], *text = random_text((uint64_t)(seeds + i));
    job j;
    snprintf(name, sizeof(name), "seed %d", seeds + i);
    open_text(&j, name, text);
    if (has_start(&j)) {
      check_derivatives(&j, NULL, text, MBG_LINEARIZE_START);
    }
    close_job(&j);
    free(text);
  }
}

/* ---------------------------------------------------------------------- a crane by hand, theory 6, section 8, R1 */

static const char crane[] =
    "{\"mbgrad\": 1, \"parameters\": {\"mt\": 8, \"ml\": 4, \"l\": 1.2, \"c\": 3, \"F\": 4, \"v0\": 0.1},"
    " \"gravity\": [0, -9.81, 0], \"bodies\": {"
    "\"trolley\": {\"motion\": \"planar\", \"mass\": \"mt\", \"inertia\": 0.3},"
    "\"load\": {\"motion\": \"planar\", \"mass\": \"ml\", \"inertia\": 0.15, \"position\": [0, \"-l\", 0]}},"
    " \"joints\": {"
    "\"rail\": {\"type\": \"prismatic\", \"between\": [\"ground\", \"trolley\"], \"at\": [0, 0, 0], \"axis\": [1, 0, "
    "0]},"
    "\"rope\": {\"type\": \"revolute\", \"between\": [\"trolley\", \"load\"], \"at\": [0, 0, 0], \"axis\": [0, 0, 1]}},"
    " \"forces\": {\"drive\": {\"type\": \"actuator\", \"joint\": \"rail\", \"coordinate\": \"slide\","
    " \"force\": \"F - c*v\"}},"
    " \"initial\": {\"pin\": {\"x\": {\"joint\": \"rail\", \"coordinate\": \"slide\", \"value\": 0, \"rate\": \"v0\"},"
    " \"phi\": {\"joint\": \"rope\", \"coordinate\": \"angle\", \"value\": 0.15, \"rate\": 0}}}}";

static void test_crane(void **state) {
  (void)state;
  static const char *const inputs[] = {"l", "F"};
  static const double row[4] = {0, -11.19354095, 0.2942131144, 0},
                      by[4] = {0.05167625921, 0, 1.625764903, -0.09807103814};
  job j;
  mbg_linearize_options o;
  mbg_linearize *linear;
  open_text(&j, "crane", crane);
  mbg_linearize_options_default(&o, sizeof(o));
  o.at = MBG_LINEARIZE_START;
  o.ninput = 2;
  o.inputs = inputs;
  must(&j, mbg_linearize_create(j.ctx, j.model, &o, &linear));
  assert_int_equal(mbg_linearize_get_summary(linear)->states, 4);
  assert_string_equal(mbg_linearize_state(linear, 0)->name, "rail.slide");
  assert_string_equal(mbg_linearize_state(linear, 3)->name, "rope.angle.rate");
  const double *A = mbg_linearize_matrix(linear, 'A', NULL, NULL), *B = mbg_linearize_matrix(linear, 'B', NULL, NULL);
  for (int i = 0; i < 4; i++) {
    assert_true(fabs(A[12 + i] - row[i]) <= 1e-8);
  }
  assert_true(fabs(B[4] - by[0]) <= 1e-9);
  assert_true(fabs(B[6] - by[2]) <= 1e-8);
  assert_true(fabs(B[7] - by[3]) <= 1e-9);
  mbg_linearize_destroy(linear);
  close_job(&j);
}

/* ---------------------------------------------------------------------- a rotating blade */

static const char blade[] =
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

static void test_steady(void **state) {
  (void)state;
  job j;
  open_text(&j, "blade", blade);
  check_poles(&j, MBG_LINEARIZE_STEADY, 1e-10);
  check_derivatives(&j, NULL, blade, MBG_LINEARIZE_STEADY);
  close_job(&j);
}

static int report(void **state) {
  (void)state;
  if (support_rounds(0, 1)) {
    print_message("differences up to %.1e, derivatives up to %.1e\n", worst, worst_derivative);
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_crane),
      cmocka_unit_test(test_steady),
      cmocka_unit_test(test_modes),
      cmocka_unit_test(test_differences),
      cmocka_unit_test(test_random_differences),
      cmocka_unit_test(test_rolling_differences),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_random_derivatives),
  };
  return cmocka_run_group_tests(tests, NULL, report);
}
