/* Transitions along a run: A_k, B_k are gradients of a run over one interval, differences of runs from moved states and
   the exponential of A to the order of the formulation; their product is the gradient of the whole run. */
#include "linearize/linearize.h"
#include "mbgrad/linearize.h"
#include "run/run_internal.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const formulations[] = {"lie", "dae", "ali3p", "dca", "qr"};

typedef struct {
  const char *model, *formulation; /* of the gallery, a path below tests/reference/states, or NULL: the cart */
  double end, step, interval;
  int ninput;
  const char *const *inputs;
} sample;

typedef struct {
  const sample *s;
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  mbg_transitions *t;
  int n;
} job;

/* a cart of 2 kg on a rail with spring and damper, and a point mass on a rod, at rest; pushed by the control u */
static const char cart[] =
    "{\"mbgrad\": 1, \"parameters\": {\"l\": 0.5, \"c\": 0.4},"
    " \"controls\": {\"u\": {\"times\": [0, 1, 2], \"values\": [0, 0, 0], \"interpolation\": \"linear\"}},"
    " \"gravity\": [0, -9.81, 0], \"bodies\": {"
    "\"cart\": {\"motion\": \"planar\", \"mass\": 2, \"inertia\": 1},"
    "\"bob\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.01, \"position\": [0, \"-l\", 0]}},"
    " \"joints\": {"
    "\"rail\": {\"type\": \"prismatic\", \"between\": [\"ground\", \"cart\"], \"at\": [0, 0, 0], \"axis\": [1, 0, 0]},"
    "\"pin\": {\"type\": \"revolute\", \"between\": [\"cart\", \"bob\"], \"at\": [0, 0, 0], \"axis\": [0, 0, 1]}},"
    " \"forces\": {\"drive\": {\"type\": \"actuator\", \"joint\": \"rail\", \"coordinate\": \"slide\","
    " \"force\": \"u - c*v - 20*x\"}}, \"run\": {\"end\": 0.4, \"step\": 0.01},"
    " \"signals\": {\"x\": {\"type\": \"position\", \"of\": \"cart\", \"component\": \"x\"}}}";

static void must(const job *j, int status) {
  if (status < 0) {
    fail_msg("%s, %s: %s", j->s->model ? j->s->model : "cart", j->s->formulation, mbg_context_error(j->ctx));
  }
}

static void load(job *j) {
  char path[500];
  const char *model = j->s->model;
  const bool states = model && strstr(model, ".json") != NULL;
  assert_int_equal(mbg_context_create(NULL, &j->ctx), MBG_OK);
  if (!model) {
    must(j, mbg_model_parse(j->ctx, "cart", cart, strlen(cart), NULL, &j->model));
    return;
  }
  snprintf(path, sizeof(path), "%s/%s", states ? MBG_SOURCE_DIR "/tests/reference/states" : MBG_GALLERY_DIR, model);
  must(j, mbg_model_load(j->ctx, path, &j->model));
}

static job open_job(const sample *s) {
  job j = {.s = s};
  mbg_run_options o;
  mbg_linearize_options options;
  load(&j);
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = s->formulation;
  o.end = s->end;
  if (!strcmp(s->formulation, "qr")) {
    o.tolerance = 1e-12;
  } else {
    o.step = s->step;
  }
  mbg_linearize_options_default(&options, sizeof(options));
  options.ninput = s->ninput;
  options.inputs = s->inputs;
  must(&j, mbg_run_create(j.ctx, j.model, &o, &j.run));
  must(&j, mbg_transitions_create(j.ctx, j.run, &options, s->interval, &j.t));
  j.n = mbg_transitions_get_summary(j.t)->states;
  return j;
}

static void close_job(job *j) {
  mbg_transitions_destroy(j->t);
  mbg_run_destroy(j->run);
  mbg_model_destroy(j->model);
  mbg_context_destroy(j->ctx);
}

static double *numbers(int n) {
  double *x = calloc((size_t)n + 1, sizeof(double));
  assert_non_null(x);
  return x;
}

static int state_of(const job *j, const char *name) {
  for (int i = 0; i < j->n; i++) {
    if (!strcmp(mbg_linearize_state(mbg_transitions_sample(j->t, 0), i)->name, name)) {
      return i;
    }
  }
  fail_msg("no state '%s'", name);
  return -1;
}

/* ---------------------------------------------------------------------- gradients of a run */

/* the crane: psi4 is its state F at the end; v0, xi0 and F0 are initial values of states, the others inputs */
static const char *const initial[][2] = {{"v0", "rail.slide.rate"}, {"xi0", "xi"}, {"F0", "F"}};
static const char *const inputs[] = {"mt", "ml", "l", "kp", "Ta"};

static void near(const job *j, const char *name, double value, double reference, double tolerance) {
  if (!(fabs(value - reference) <= tolerance * (fabs(reference) + 1e-3))) {
    fail_msg("%s, by %s: %.12g, not %.12g", j->s->formulation, name, value, reference);
  }
}

/* gradient of psi4 at the end of the run */
static double *gradient_of(job *j) {
  const int np = mbg_model_parameter_count(j->model);
  double *g = numbers(mbg_model_criterion_count(j->model) * np), *own = numbers(np);
  must(j, mbg_run_simulate(j->ctx, j->run));
  must(j, mbg_run_gradient(j->ctx, j->run, mbg_run_adjoint_method(j->run), g, NULL));
  for (int k = 0; k < mbg_model_criterion_count(j->model); k++) {
    if (!strcmp(mbg_model_criterion_name(j->model, k), "psi4")) {
      memcpy(own, g + k * np, (size_t)np * sizeof(double));
    }
  }
  free(g);
  return own;
}

static void test_gradients(void **state) {
  (void)state;
  for (int f = 0; f < MBG_COUNT(formulations); f++) {
    const sample s = {"crane.json", formulations[f], 0.2, 0.01, 0.2, MBG_COUNT(inputs), inputs};
    job j = open_job(&s);
    double *g = gradient_of(&j);
    const double *A = mbg_transitions_matrix(j.t, 0, 'A'), *B = mbg_transitions_matrix(j.t, 0, 'B');
    const int F = state_of(&j, "F");
    const double tolerance = f == 4 ? 1e-9 : 1e-10;
    assert_int_equal(j.n, 9);
    for (int i = 0; i < MBG_COUNT(initial); i++) {
      near(&j, initial[i][0], A[F * j.n + state_of(&j, initial[i][1])],
           g[mbg_model_parameter_find(j.model, initial[i][0])], tolerance);
    }
    for (int i = 0; i < MBG_COUNT(inputs); i++) {
      near(&j, inputs[i], B[F * MBG_COUNT(inputs) + i], g[mbg_model_parameter_find(j.model, inputs[i])], tolerance);
    }
    free(g);
    close_job(&j);
  }
}

/* row F of A_(N-1) ... A_0 */
static void product_row(const job *j, double *row) {
  const mbg_transitions_summary *s = mbg_transitions_get_summary(j->t);
  double next[16];
  memset(row, 0, (size_t)j->n * sizeof(double));
  row[state_of(j, "F")] = 1;
  for (int k = s->count - 1; k >= 0; k--) {
    const double *A = mbg_transitions_matrix(j->t, k, 'A');
    for (int c = 0; c < j->n; c++) {
      next[c] = 0;
      for (int i = 0; i < j->n; i++) {
        next[c] += row[i] * A[i * j->n + c];
      }
    }
    memcpy(row, next, (size_t)j->n * sizeof(double));
  }
}

/* largest difference of the product from the gradient of the whole run */
static double chain_error(const char *formulation, double step) {
  const sample s = {"crane.json", formulation, 0.4, step, 0.1, 0, NULL};
  job j = open_job(&s);
  double *g = gradient_of(&j), row[16], worst = 0;
  assert_int_equal(mbg_transitions_get_summary(j.t)->count, 4);
  product_row(&j, row);
  for (int i = 0; i < MBG_COUNT(initial); i++) {
    const double exact = g[mbg_model_parameter_find(j.model, initial[i][0])];
    worst = fmax(worst, fabs(row[state_of(&j, initial[i][1])] - exact) / fabs(exact));
  }
  free(g);
  close_job(&j);
  return worst;
}

/* where a step needs nothing but the state the product is exact; else the new starts cost an error of the order of the
   formulation */
static void test_chain(void **state) {
  (void)state;
  assert_true(chain_error("dca", 5e-3) <= 1e-11);
  assert_true(chain_error("qr", 5e-3) <= 1e-9);
  for (int f = 0; f < 3; f++) {
    const double coarse = chain_error(formulations[f], 5e-3), fine = chain_error(formulations[f], 2.5e-3);
    if (!(coarse <= 2e-2) || !(fine <= 1e-11 || (coarse / fine > 3.2 && coarse / fine < 5))) {
      fail_msg("%s: %g, %g", formulations[f], coarse, fine);
    }
  }
}

/* ---------------------------------------------------------------------- the exponential */

/* X = exp(A), by the series of A / 2^30 */
static void exponential(int n, const double *A, double *X) {
  double *E = numbers(n * n), *P = numbers(n * n), *Q = numbers(n * n);
  for (int i = 0; i < n * n; i++) {
    E[i] = ldexp(A[i], -10);
    X[i] = P[i] = i % (n + 1) == 0;
  }
  for (int k = 1; k <= 30; k++) {
    for (int i = 0; i < n * n; i++) {
      Q[i] = 0;
      for (int c = 0; c < n; c++) {
        Q[i] += P[i / n * n + c] * E[c * n + i % n] / k;
      }
    }
    memcpy(P, Q, (size_t)(n * n) * sizeof(double));
    for (int i = 0; i < n * n; i++) {
      X[i] += P[i];
    }
  }
  for (int k = 0; k < 10; k++) {
    for (int i = 0; i < n * n; i++) {
      Q[i] = 0;
      for (int c = 0; c < n; c++) {
        Q[i] += X[i / n * n + c] * X[c * n + i % n];
      }
    }
    memcpy(X, Q, (size_t)(n * n) * sizeof(double));
  }
  free(E);
  free(P);
  free(Q);
}

/* largest entry of (A_k, B_k) - (exp(A Ts), its integral times B), all intervals */
static double exponential_error(const char *formulation, double step) {
  static const char *const in[] = {"u"};
  const sample s = {NULL, formulation, 0.4, step, 0.2, 1, in};
  job j = open_job(&s);
  const int n = j.n + 1;
  double *M = numbers(n * n), *X = numbers(n * n), worst = 0;
  const double *A = mbg_linearize_matrix(mbg_transitions_sample(j.t, 0), 'A', NULL, NULL),
               *B = mbg_linearize_matrix(mbg_transitions_sample(j.t, 0), 'B', NULL, NULL);
  assert_int_equal(j.n, 4);
  for (int i = 0; i < j.n; i++) {
    for (int c = 0; c < j.n; c++) {
      M[i * n + c] = 0.2 * A[i * j.n + c];
    }
    M[i * n + j.n] = 0.2 * B[i];
  }
  exponential(n, M, X);
  for (int k = 0; k < 2; k++) {
    const double *Ak = mbg_transitions_matrix(j.t, k, 'A'), *Bk = mbg_transitions_matrix(j.t, k, 'B');
    for (int i = 0; i < j.n; i++) {
      for (int c = 0; c < j.n; c++) {
        worst = fmax(worst, fabs(Ak[i * j.n + c] - X[i * n + c]));
      }
      worst = fmax(worst, fabs(Bk[i] - X[i * n + j.n]));
    }
  }
  free(M);
  free(X);
  close_job(&j);
  return worst;
}

static void test_exponential(void **state) {
  (void)state;
  assert_true(exponential_error("qr", 0.01) <= 1e-9);
  for (int f = 0; f < 4; f++) {
    const double coarse = exponential_error(formulations[f], 0.01), fine = exponential_error(formulations[f], 0.005);
    const double order = log2(coarse / fine);
    if (!(coarse <= 2e-2) || !(fabs(order - (f == 3 ? 4 : 2)) < 0.15)) {
      fail_msg("%s: %g, %g: order %g", formulations[f], coarse, fine, order);
    }
  }
}

/* ---------------------------------------------------------------------- differences of runs */

/* moved along straight lines the state is off the constraints: back to them, with coordinates and rates as they are */
static void settle(job *j, const mbg__linearize_work *at, mbg__run_state *s) {
  const mbg_model *m = j->model;
  real *w = numbers(m->nw);
  for (int k = 0; k < 4; k++) {
    const mbg__state state = {.t = s->t, .H = s->H, .v = s->v, .turns = s->turns};
    must(j, mbg__linear_settle(j->ctx, at->at.sys, &at->spec, &state, w, s->v));
    for (int b = 0; b < m->nbody; b++) {
      const mbg__frame H = s->H[b];
      mbg__se3_retract(&s->H[b], &H, w + m->bodies[b].voff);
    }
  }
  free(w);
}

/* the states at the end of the interval from a start that is moved by eps along state c */
static void run_moved(job *j, const mbg__linearize_work *at, const mbg__linear_spec *spec, int c, double eps,
                      double *x) {
  const mbg_model *m = j->model;
  const size_t nw = (size_t)m->nw;
  const real *w = at->linear.w + nw * (size_t)c, *dv = at->linear.dv + nw * (size_t)c;
  mbg_model plain = *m;
  mbg_run *piece;
  mbg__arena arena;
  mbg__run_state from, to;
  plain.ncriterion = 0;
  mbg__arena_init(&arena, mbg__context_allocator(j->ctx));
  must(j, mbg__run_state_take(j->ctx, &arena, m, &from));
  must(j, mbg__run_state_take(j->ctx, &arena, m, &to));
  must(j, mbg__run_first(j->ctx, j->run, &from));
  for (int b = 0; b < m->nbody; b++) {
    real h[6];
    const mbg__frame H = from.H[b];
    v6_scale(h, eps, w + m->bodies[b].voff);
    mbg__se3_retract(&from.H[b], &H, h);
  }
  for (size_t i = 0; i < nw; i++) {
    from.v[i] += eps * dv[i];
  }
  settle(j, at, &from);
  must(j, mbg__run_piece(j->ctx, j->run, &plain, &from, from.t + j->s->interval, &piece));
  must(j, mbg__run_last(piece, &to));
  mbg__linearize_work end = {.ctx = j->ctx, .given = m, .opt = at->opt, .p = at->p};
  mbg__arena_init(&end.arena, mbg__context_allocator(j->ctx));
  must(j, mbg__linearize_extend(&end));
  must(j, mbg__linearize_lists(&end));
  must(j, mbg__linearize_point_at(&end, &to));
  end.spec.q = spec->q;
  end.spec.nq = spec->nq;
  end.spec.nstate = spec->nstate;
  must(j, mbg__linearize_matrices(&end));
  const int places = spec->nq - spec->nstate;
  for (int i = 0; i < j->n; i++) {
    x[i] = re(i < places ? end.linear.q[i] : end.linear.qd[i - places]);
  }
  mbg__linearize_end(&end);
  mbg_run_destroy(piece);
  mbg__arena_destroy(&arena);
}

/* values of coordinates: rotations of bodies have none */
static bool has_value(const mbg__linear_spec *spec, int i) {
  const int places = spec->nq - spec->nstate;
  return i >= places || spec->q[i].kind != MBG__Q_OWN;
}

static void check_column(job *j, const mbg__linearize_work *at, int c) {
  double *y[4];
  const double *A = mbg_transitions_matrix(j->t, 0, 'A');
  const int places = at->spec.nq - at->spec.nstate;
  const double eps = 3e-4;
  const double size = c >= 2 * places ? j->model->states[c - 2 * places].scale : 1;
  for (int k = 0; k < 4; k++) {
    y[k] = numbers(j->n);
    run_moved(j, at, &at->spec, c, size * eps * (double[]){1, -1, 2, -2}[k], y[k]);
  }
  for (int i = 0; i < j->n; i++) {
    const double difference = (8 * (y[0][i] - y[1][i]) - (y[2][i] - y[3][i])) / (12 * eps * size);
    const double own = i >= 2 * places ? j->model->states[i - 2 * places].scale : 1;
    if (has_value(&at->spec, i) &&
        !(fabs(A[i * j->n + c] - difference) * size <= 1e-7 * (fabs(A[i * j->n + c]) * size + own))) {
      fail_msg("%s, %s: %s by %s: %.10g, differences %.10g", j->s->model, j->s->formulation,
               mbg_linearize_state(mbg_transitions_sample(j->t, 0), i)->name,
               mbg_linearize_state(mbg_transitions_sample(j->t, 0), c)->name, A[i * j->n + c], difference);
    }
  }
  for (int k = 0; k < 4; k++) {
    free(y[k]);
  }
}

static void check_differences(const sample *s) {
  job j = open_job(s);
  mbg__linearize_work at = {.ctx = j.ctx, .given = j.model};
  must(&j, mbg__linearize_options_take(j.ctx, NULL, &at.opt));
  at.opt.at = MBG_LINEARIZE_START;
  at.opt.ninput = at.opt.noutput = 0;
  mbg__arena_init(&at.arena, mbg__context_allocator(j.ctx));
  at.p = MBG_TAKE(&at.arena, real, j.model->np);
  for (int i = 0; i < j.model->np; i++) {
    at.p[i] = j.model->p[i];
  }
  must(&j, mbg__linearize_solve(&at));
  for (int c = 0; c < j.n; c++) {
    check_column(&j, &at, c);
  }
  mbg__linearize_end(&at);
  close_job(&j);
}

static void test_differences(void **state) {
  (void)state;
  for (int f = 0; f < MBG_COUNT(formulations); f++) {
    check_differences(&(sample){"five-bar", formulations[f], 0.05, 5e-3, 0.05, 0, NULL});
    check_differences(&(sample){"bricard", formulations[f], 0.05, 5e-3, 0.05, 0, NULL});
    check_differences(&(sample){"crane.json", formulations[f], 0.1, 0.01, 0.1, 0, NULL});
    check_differences(&(sample){"cylinder.json", formulations[f], 0.01, f == 3 ? 2e-4 : 1e-3, 0.01, 0, NULL});
  }
  check_differences(&(sample){"vehicle", "lie", 0.025, 5e-3, 0.025, 0, NULL});
  check_differences(&(sample){"vehicle", "dca", 0.025, 5e-3, 0.025, 0, NULL});
}

/* ---------------------------------------------------------------------- refusals */

static void refused(mbg_context *ctx, mbg_run *run, const mbg_linearize_options *o, double interval, int status,
                    const char *part) {
  mbg_transitions *t;
  mbg_context_clear(ctx);
  assert_int_equal(mbg_transitions_create(ctx, run, o, interval, &t), status);
  assert_null(t);
  if (!strstr(mbg_context_error(ctx), part)) {
    fail_msg("'%s' is not in '%s'", part, mbg_context_error(ctx));
  }
}

static void test_refusals(void **state) {
  (void)state;
  const sample s = {NULL, "lie", 0.4, 0.01, 0.1, 0, NULL};
  job j = open_job(&s);
  mbg_linearize_options o;
  mbg_linearize_options_default(&o, sizeof(o));
  refused(j.ctx, j.run, &o, 0, MBG_ERROR_INPUT, "must be a positive time");
  refused(j.ctx, j.run, &o, NAN, MBG_ERROR_INPUT, "must be a positive time");
  refused(j.ctx, j.run, &o, 0.5, MBG_ERROR_INPUT, "has no intervals of 0.5 s");
  refused(j.ctx, j.run, &o, 1e-9, MBG_ERROR_INPUT, "has more than a million intervals");
  refused(j.ctx, j.run, &o, 0.04, MBG_ERROR_INPUT, "has 4 steps of formulation 'lie', which needs 5");
  o.ncoordinate = 1;
  o.coordinates = (const char *const[]){"rod"};
  refused(j.ctx, j.run, &o, 0.1, MBG_ERROR_INPUT, "there is no coordinate 'rod'");
  mbg_linearize_options_default(&o, sizeof(o));
  o.gradient = true;
  refused(j.ctx, j.run, &o, 0.1, MBG_ERROR_UNSUPPORTED, "no derivatives by the parameters");
  /* a rest of the run is left out; the last sample has no matrices of its own */
  mbg_transitions *t;
  mbg_linearize_options_default(&o, sizeof(o));
  must(&j, mbg_transitions_create(j.ctx, j.run, &o, 0.15, &t));
  assert_int_equal(mbg_transitions_get_summary(t)->count, 2);
  assert_non_null(mbg_transitions_sample(t, 2));
  assert_null(mbg_transitions_sample(t, 3));
  assert_null(mbg_transitions_matrix(t, 2, 'A'));
  assert_null(mbg_transitions_matrix(t, 0, 'C'));
  assert_close(mbg_linearize_get_summary(mbg_transitions_sample(t, 2))->time, 0.3, 1e-12);
  mbg_transitions_destroy(t);
  close_job(&j);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gradients),   cmocka_unit_test(test_chain),    cmocka_unit_test(test_exponential),
      cmocka_unit_test(test_differences), cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
