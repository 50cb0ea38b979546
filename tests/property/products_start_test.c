/* Products with the Jacobian by changes of the start: vjp and jvp are adjoint to each other in every formulation, jvp
   is what differences of runs from moved states show, states follow as theory 6, section 8 says; cotangents of frames
   and twists; gradients by attributes; runs from a given state have gradients, too. */
#include "linearize/linearize.h"
#include "run/run_internal.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *model, *formulation; /* a model of the gallery, or a path below tests/reference/states */
  double end, step, tolerance;
} sample;

typedef struct {
  const sample *s;
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  int np, kept, nodes, starts, bodies;
} job;

static void must(const job *j, int status) {
  if (status < 0) {
    fail_msg("%s, %s: %s", j->s->model, j->s->formulation, mbg_context_error(j->ctx));
  }
}

static mbg_run *make_run(const job *j) {
  mbg_run_options o;
  mbg_run *run;
  mbg_run_options_default(&o, sizeof(o));
  o.formulation = j->s->formulation;
  o.end = j->s->end;
  o.step = j->s->tolerance > 0 ? o.step : j->s->step;
  o.tolerance = j->s->tolerance > 0 ? j->s->tolerance : o.tolerance;
  o.all_signals = o.keep_poses = true;
  must(j, mbg_run_create(j->ctx, j->model, &o, &run));
  return run;
}

static job open_job(const sample *s) {
  job j = {.s = s};
  char path[500];
  const bool states = strstr(s->model, ".json") != NULL;
  assert_int_equal(mbg_context_create(NULL, &j.ctx), MBG_OK);
  snprintf(path, sizeof(path), "%s/%s", states ? MBG_SOURCE_DIR "/tests/reference/states" : MBG_GALLERY_DIR, s->model);
  must(&j, mbg_model_load(j.ctx, path, &j.model));
  j.run = make_run(&j);
  must(&j, mbg_run_simulate(j.ctx, j.run));
  j.np = mbg_model_parameter_count(j.model);
  j.kept = mbg_run_kept_count(j.run);
  j.nodes = mbg_run_node_count(j.run);
  j.starts = mbg_run_start_count(j.run);
  j.bodies = mbg_model_body_count(j.model);
  return j;
}

static void close_job(job *j) {
  mbg_run_destroy(j->run);
  mbg_model_destroy(j->model);
  mbg_context_destroy(j->ctx);
}

static double *numbers(int n) {
  double *x = calloc((size_t)n + 1, sizeof(double));
  assert_non_null(x);
  return x;
}

/* cotangents weigh signals by their size, at some nodes */
static void random_cotangent(const job *j, support_rng *rng, double *w) {
  for (int k = 0; k < j->kept; k++) {
    double most = 1e-2;
    for (int n = 0; n < j->nodes; n++) {
      most = fmax(most, fabs(mbg_run_signal(j->run, n, mbg_run_kept_signal(j->run, k))));
    }
    for (int n = 0; n < j->nodes; n++) {
      w[n * j->kept + k] = support_index(rng, 3) == 0 ? 0 : support_normal(rng) / most;
    }
  }
}

/* positions, rates or states (bits 1, 2, 4 of `parts`) of the start, the last by their scales */
static void random_start(const job *j, support_rng *rng, int parts, double *x) {
  const int half = (j->starts - j->model->nstate) / 2;
  for (int i = 0; i < j->starts; i++) {
    const int part = i < half ? 1 : i < 2 * half ? 2 : 4;
    const double size = part == 1 ? 0.3 : part == 2 ? 1 : j->model->states[i - 2 * half].scale;
    x[i] = parts & part ? size * support_normal(rng) : 0;
  }
}

static void pair(int n, const double *a, const double *b, double *sum, double *size) {
  for (int i = 0; i < n; i++) {
    *sum += a[i] * b[i];
    *size += fabs(a[i] * b[i]);
  }
}

static double worst;

static void check_adjoint(job *j, bool parameters, int parts, double tolerance) {
  support_rng rng = support_rng_make(11);
  const int size = j->nodes * j->kept;
  double *w = numbers(size), *dy = numbers(size), *g = numbers(j->np), *d = numbers(j->np), *gs = numbers(j->starts),
         *s = numbers(j->starts), left = 0, right = 0, sizes = 0;
  random_cotangent(j, &rng, w);
  must(j, mbg_run_parameters(j->run, d));
  for (int i = 0; i < j->np; i++) {
    d[i] = parameters ? support_normal(&rng) * fmax(fabs(d[i]), 1e-3) : 0;
  }
  random_start(j, &rng, parts, s);
  must(j, mbg_run_vjp_start(j->ctx, j->run, 1, &(mbg_cotangent){.signals = w}, g, gs, NULL));
  must(j, mbg_run_jvp_start(j->ctx, j->run, d, parts ? s : NULL, dy));
  pair(size, w, dy, &left, &sizes);
  pair(j->np, g, d, &right, &sizes);
  pair(j->starts, gs, s, &right, &sizes);
  worst = fmax(worst, fabs(left - right) / sizes);
  if (support_rounds(0, 1)) {
    print_message("%s, %s, parts %d: %.1e\n", j->s->model, j->s->formulation, parts, fabs(left - right) / sizes);
  }
  if (!(fabs(left - right) <= tolerance * sizes)) {
    fail_msg("%s, %s, parts %d: <w, J d> = %.12g, <J^T w, d> = %.12g, sizes %.3g", j->s->model, j->s->formulation,
             parts, left, right, sizes);
  }
  s[0] = NAN;
  assert_int_equal(mbg_run_jvp_start(j->ctx, j->run, NULL, s, dy), MBG_ERROR_INPUT);
  free(w);
  free(dy);
  free(g);
  free(d);
  free(gs);
  free(s);
}

/* ---------------------------------------------------------------------- differences of runs */

/* independent coordinates at the start */
static void open_coordinates(const job *j, mbg__linearize_work *at) {
  *at = (mbg__linearize_work){.ctx = j->ctx, .given = j->model};
  must(j, mbg__linearize_options_take(j->ctx, NULL, &at->opt));
  at->opt.at = MBG_LINEARIZE_START;
  at->opt.ninput = at->opt.noutput = 0;
  mbg__arena_init(&at->arena, mbg__context_allocator(j->ctx));
  at->p = MBG_TAKE(&at->arena, real, j->model->np);
  for (int i = 0; i < j->model->np; i++) {
    at->p[i] = j->model->p[i];
  }
  must(j, mbg__linearize_solve(at));
}

/* back to the constraints, with coordinates and rates as they are */
static void settle(const job *j, const mbg__linearize_work *at, const mbg__start_result *start, mbg__frame *H,
                   real *v) {
  const mbg_model *m = j->model;
  real *w = numbers(m->nw);
  for (int k = 0; k < 4; k++) {
    const mbg__state state = {.t = start->t, .H = H, .v = v, .turns = start->turns};
    must(j, mbg__linear_settle(j->ctx, at->at.sys, &at->spec, &state, w, v));
    for (int b = 0; b < m->nbody; b++) {
      const mbg__frame before = H[b];
      mbg__se3_retract(&H[b], &before, w + m->bodies[b].voff);
    }
  }
  free(w);
}

/* the run from the start moved by eps (w, v), settled with coordinates unless NULL: signals at its end */
static void run_from(const job *j, const mbg__start_result *start, const mbg__linearize_work *at, double eps,
                     const real *w, const real *v, double *y) {
  const mbg_model *m = j->model;
  mbg_run *run = make_run(j);
  mbg__frame *H = calloc((size_t)m->nbody + 1, sizeof *H);
  real *rates = numbers(m->nw);
  for (int b = 0; b < m->nbody; b++) {
    real h[6];
    v6_scale(h, eps, w + m->bodies[b].voff);
    mbg__se3_retract(&H[b], &start->H[b], h);
  }
  for (int i = 0; i < m->nw; i++) {
    rates[i] = start->v[i] + eps * v[i];
  }
  if (at) {
    settle(j, at, start, H, rates);
  }
  mbg__run_give(run, &(mbg__run_state){.t = re(start->t), .H = H, .v = rates, .turns = start->turns});
  must(j, mbg_run_simulate(j->ctx, run));
  for (int k = 0; k < j->kept; k++) {
    y[k] = mbg_run_signal(run, mbg_run_node_count(run) - 1, mbg_run_kept_signal(run, k));
  }
  free(H);
  free(rates);
  mbg_run_destroy(run);
}

/* the consistent change of the start, steady states included */
static void consistent(job *j, const double *s, real *w, real *v) {
  const mbg_model *m = j->model;
  const int half = (j->starts - m->nstate) / 2;
  real *dw = numbers(m->nw), *dv = numbers(m->nw), *da = numbers(m->na);
  assert_int_equal(m->nmodal, 0);
  for (int i = 0; i < half; i++) {
    const int at = m->bodies[i / 6].voff + i % 6;
    dw[at] = m->dof[at] >= 0 ? s[i] : 0;
    dv[at] = m->dof[at] >= 0 ? s[half + i] : 0;
  }
  for (int i = 0; i < m->nstate; i++) {
    dv[m->bodies[m->states[i].body].voff + m->states[i].component] = s[2 * half + i] / m->states[i].scale;
  }
  must(j, mbg__start_project(j->ctx, j->run->start, 1, dw, dv));
  mbg__start_change(j->run->start, dw, dv);
  must(j, mbg__start_push_column(j->ctx, j->run->start, 0, da, w, v));
  mbg__start_change(j->run->start, NULL, NULL);
  free(dw);
  free(dv);
  free(da);
}

/* Remainders of Taylor's series at the end, of first order: a quarter at half the change. Moved states are off the
   constraints by eps^2, and which redundant rows are kept there may depend on the sign: central differences have an
   error of eps, which goes with that of eps^2 when three of them are joined. */
static void check_taylor(job *j, bool settled) {
  mbg__linearize_work at;
  support_rng rng = support_rng_make(5);
  const mbg__start_result *start = mbg__start_result_of(j->run->start);
  double *s = numbers(j->starts), *dy = numbers(j->nodes * j->kept), *y[7];
  real *w = numbers(j->model->nw), *v = numbers(j->model->nw);
  for (int i = 0; i < 7; i++) {
    y[i] = numbers(j->kept);
  }
  random_start(j, &rng, 7, s);
  must(j, mbg_run_jvp_start(j->ctx, j->run, NULL, s, dy));
  consistent(j, s, w, v);
  const double eps = 1e-4;
  if (settled) {
    open_coordinates(j, &at);
  }
  for (int i = 0; i < 7; i++) {
    run_from(j, start, settled ? &at : NULL, eps * (double[]){1, -1, 2, -2, 0, 4, -4}[i], w, v, y[i]);
  }
  const double *exact = dy + (j->nodes - 1) * j->kept;
  for (int k = 0; k < j->kept; k++) {
    const double one = y[0][k] - y[4][k] - eps * exact[k], two = y[2][k] - y[4][k] - 2 * eps * exact[k];
    const double difference =
        (4 * (y[0][k] - y[1][k]) - 1.5 * (y[2][k] - y[3][k]) + (y[5][k] - y[6][k]) / 8) / (3 * eps);
    const double size = fabs(exact[k]) + 1e-3 + 1e-7 * fabs(y[4][k]) / eps;
    if (!(fabs(difference - exact[k]) <= 1e-6 * size)) {
      fail_msg("%s, %s: signal %d: %.10g, differences %.10g", j->s->model, j->s->formulation, k, exact[k], difference);
    }
    if (fabs(two) > 1e-8 * (fabs(y[4][k]) + 1) && !(fabs(two / one - 4) < 0.2)) {
      fail_msg("%s, %s: signal %d: remainders %g, %g", j->s->model, j->s->formulation, k, one, two);
    }
  }
  for (int i = 0; i < 7; i++) {
    free(y[i]);
  }
  if (settled) {
    mbg__linearize_end(&at);
  }
  free(s);
  free(dy);
  free(w);
  free(v);
}

/* ---------------------------------------------------------------------- frames, twists, attributes */

static double loss(const job *j, mbg_run *run, const mbg_cotangent *c) {
  double *frames = numbers(12 * j->nodes * j->bodies), *twists = numbers(6 * j->nodes * j->bodies), sum = 0, size = 0;
  must(j, mbg_run_frames(run, frames));
  must(j, mbg_run_twists(run, twists));
  pair(12 * j->nodes * j->bodies, c->frames, frames, &sum, &size);
  pair(6 * j->nodes * j->bodies, c->twists, twists, &sum, &size);
  free(frames);
  free(twists);
  return sum;
}

/* by differences along a direction of the parameters; and the gradient by attributes is that by parameters */
static void check_poses(job *j) {
  support_rng rng = support_rng_make(3);
  double *f = numbers(12 * j->nodes * j->bodies), *t = numbers(6 * j->nodes * j->bodies), *g = numbers(j->np),
         *d = numbers(j->np), *p = numbers(j->np), *x = numbers(j->np), *a = numbers(j->model->na), L[4], sum = 0,
         size = 0;
  const mbg_cotangent c = {.frames = f, .twists = t};
  for (int i = 0; i < 12 * j->nodes * j->bodies; i++) {
    f[i] = support_index(&rng, 4) == 0 ? support_normal(&rng) : 0;
    t[i / 2] = support_index(&rng, 4) == 0 ? support_normal(&rng) : 0;
  }
  must(j, mbg_run_parameters(j->run, p));
  must(j, mbg_run_vjp_start(j->ctx, j->run, 1, &c, g, NULL, a));
  real *by = numbers(j->np), *ra = numbers(j->model->na);
  for (int i = 0; i < j->model->na; i++) {
    ra[i] = a[i];
  }
  mbg__design_pull(j->run->design, ra, by);
  const double eps = 1e-3;
  for (int i = 0; i < j->np; i++) {
    assert_true(fabs(re(by[i]) - g[i]) <= 1e-9 * (fabs(g[i]) + 1e-6));
    d[i] = 0.1 * support_normal(&rng) * fmax(fabs(p[i]), 1e-3);
  }
  pair(j->np, g, d, &sum, &size);
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < j->np; i++) {
      x[i] = p[i] + eps * (double[]){1, -1, 2, -2}[k] * d[i];
    }
    must(j, mbg_run_set_parameters(j->ctx, j->run, x));
    must(j, mbg_run_simulate(j->ctx, j->run));
    L[k] = loss(j, j->run, &c);
  }
  must(j, mbg_run_set_parameters(j->ctx, j->run, p));
  must(j, mbg_run_simulate(j->ctx, j->run));
  const double difference = (8 * (L[0] - L[1]) - (L[2] - L[3])) / (12 * eps);
  if (!(fabs(difference - sum) <= 1e-6 * (size + 1e-6))) {
    fail_msg("%s, %s: poses: %.12g, differences %.12g", j->s->model, j->s->formulation, sum, difference);
  }
  f[0] = NAN;
  assert_int_equal(mbg_run_vjp_start(j->ctx, j->run, 1, &c, g, NULL, NULL), MBG_ERROR_INPUT);
  free(f);
  free(t);
  free(g);
  free(d);
  free(p);
  free(x);
  free(a);
  free(by);
  free(ra);
}

/* ---------------------------------------------------------------------- tests */

/* Rounding of accelerations and multipliers, eps/h^2 of the increments, is why vehicle has longer steps: with 2 ms it
   has 1.5e-12. */
static void test_steppers(void **state) {
  (void)state;
  static const char *const models[] = {"five-bar", "vehicle", "bricard"};
  static const char *const formulations[] = {"lie", "dae", "ali3p", "dca"};
  for (int i = 0; i < MBG_COUNT(models); i++) {
    for (int f = 0; f < MBG_COUNT(formulations); f++) {
      const sample s = {.model = models[i], .formulation = formulations[f], .end = 0.1, .step = i == 1 ? 5e-3 : 2e-3};
      job j = open_job(&s);
      check_adjoint(&j, true, 0, 1e-12);
      check_adjoint(&j, false, 1, 1e-12);
      check_adjoint(&j, false, 2, 1e-12);
      check_adjoint(&j, true, 7, 1e-12);
      check_taylor(&j, false);
      check_poses(&j);
      close_job(&j);
    }
  }
}

/* the columns have steps of their own: the products agree to the tolerance */
static void test_qr(void **state) {
  (void)state;
  static const char *const models[] = {"five-bar", "vehicle", "bricard"};
  for (int i = 0; i < MBG_COUNT(models); i++) {
    const sample s = {.model = models[i], .formulation = "qr", .end = 0.1, .tolerance = 1e-12};
    job j = open_job(&s);
    check_adjoint(&j, true, 7, 1e-12);
    check_taylor(&j, true); /* qr starts on the constraints alone */
    check_poses(&j);
    close_job(&j);
  }
}

static void test_states(void **state) {
  (void)state;
  static const char *const formulations[] = {"lie", "dae", "ali3p", "dca"};
  for (int f = 0; f < MBG_COUNT(formulations); f++) {
    const sample crane = {.model = "crane.json", .formulation = formulations[f], .end = 0.2, .step = 5e-3};
    const sample cylinder = {.model = "cylinder.json", .formulation = formulations[f], .end = 0.02, .step = 2e-4};
    const sample *const both[] = {&crane, &cylinder};
    for (int i = 0; i < 2; i++) {
      job j = open_job(both[i]);
      check_adjoint(&j, false, 4, 1e-12);
      check_adjoint(&j, true, 7, 1e-12);
      close_job(&j);
    }
  }
  /* columns of qr have steps of their own: the stiff pressures of the cylinder agree to what its tolerance allows */
  static const sample qr[] = {{.model = "crane.json", .formulation = "qr", .end = 0.2, .tolerance = 1e-12},
                              {.model = "cylinder.json", .formulation = "qr", .end = 0.02, .tolerance = 1e-12}};
  for (int i = 0; i < MBG_COUNT(qr); i++) {
    job j = open_job(&qr[i]);
    check_adjoint(&j, false, 4, 1e-12);
    check_adjoint(&j, true, 7, i == 0 ? 1e-12 : 1e-11);
    close_job(&j);
  }
}

static int attribute(const job *j, const char *owner, const char *key) {
  for (int i = 0; i < mbg_run_attribute_count(j->run); i++) {
    if (!strcmp(mbg_run_attribute_owner(j->run, i), owner) && !strcmp(mbg_run_attribute_key(j->run, i), key)) {
      return i;
    }
  }
  return -1;
}

static int start_of(const job *j, const char *name) {
  char own[256];
  for (int i = 0; i < j->starts; i++) {
    must(j, mbg_run_start_name(j->run, i, own, sizeof(own)));
    if (!strcmp(own, name)) {
      return i;
    }
  }
  fail_msg("no '%s'", name);
  return -1;
}

static void near(double value, double reference) {
  if (!(fabs(value - reference) <= 1e-8 * fabs(reference))) {
    fail_msg("%.10g, not %.10g", value, reference);
  }
}

/* digits of another program: cotangents 1 of X at 0.02 and 0.06 and 1e-6 of pA at 0.06 */
static void test_reference(void **state) {
  (void)state;
  const sample s = {.model = "cylinder.json", .formulation = "lie", .end = 0.06, .step = 1e-3};
  job j = open_job(&s);
  const mbg_model *m = j.model;
  double *w = numbers(j.nodes * j.kept), *g = numbers(j.np), *gs = numbers(j.starts), *ga = numbers(j.model->na);
  for (int k = 0; k < j.kept; k++) {
    const char *name = mbg_model_signal_name(j.model, mbg_run_kept_signal(j.run, k));
    if (name && !strcmp(name, "X")) {
      w[20 * j.kept + k] = w[60 * j.kept + k] = 1;
    } else if (name && !strcmp(name, "pA")) {
      w[60 * j.kept + k] = 1e-6;
    }
  }
  must(&j, mbg_run_vjp_start(j.ctx, j.run, 1, &(mbg_cotangent){.signals = w}, g, gs, ga));
  near(gs[start_of(&j, "pA")], 1.611754109e-9);
  near(gs[start_of(&j, "pB")], -1.371843591e-9);
  near(gs[start_of(&j, "xv")], 1.038844124);
  near(g[mbg_model_parameter_find(j.model, "l1")], 3.820903242);
  near(g[mbg_model_parameter_find(j.model, "rp")], -21.03865373);
  near(g[mbg_model_parameter_find(j.model, "Tv")], 11.78054354);
  near(g[mbg_model_parameter_find(j.model, "pB0")], -1.333841363e-9);
  near(g[mbg_model_parameter_find(j.model, "w0")], 0.01185685806);
  /* the angle of the crank: by the value of its pin, and by the motion of the bodies that belongs to it */
  const int pin = attribute(&j, "pin 'a'", "value");
  assert_true(pin >= 0);
  near(ga[pin], 2.551370692);
  const int half = (j.starts - m->nstate) / 2;
  real *da = numbers(m->na), *dw = numbers(m->nw), *dv = numbers(m->nw);
  double sum = 0;
  da[pin] = 1;
  must(&j, mbg__start_push(j.ctx, j.run->start, da, dw, dv));
  for (int i = 0; i < half; i++) {
    const int at = m->bodies[i / 6].voff + i % 6;
    sum += gs[i] * re(dw[at]) + gs[half + i] * re(dv[at]);
  }
  near(sum, 2.551370692);
  free(w);
  free(g);
  free(gs);
  free(ga);
  free(da);
  free(dw);
  free(dv);
  close_job(&j);
}

/* a run from the state in the middle: no gradient while it goes on with old accelerations; then those of differences */
static void test_given(void **state) {
  (void)state;
  const sample s = {.model = "five-bar", .formulation = "lie", .end = 0.1, .step = 2e-3};
  job j = open_job(&s);
  double *w = numbers(j.nodes * j.kept * 2), *g = numbers(j.np), *p = numbers(j.np), y[2];
  char path[] = "products_start_state.json";
  must(&j, mbg_run_write_state(j.ctx, j.run, path));
  mbg_run_destroy(j.run);
  const sample later = {.model = "five-bar", .formulation = "lie", .end = 0.2, .step = 2e-3};
  j.s = &later;
  j.run = make_run(&j);
  must(&j, mbg_run_read_state(j.ctx, j.run, path));
  must(&j, mbg_run_simulate(j.ctx, j.run));
  w[(mbg_run_node_count(j.run) - 1) * j.kept] = 1;
  assert_int_equal(mbg_run_vjp(j.ctx, j.run, MBG_METHOD_ADJOINT, 1, w, g), MBG_ERROR_UNSUPPORTED);
  assert_non_null(strstr(mbg_context_error(j.ctx), "mbg_run_forget_stepper"));
  mbg_context_clear(j.ctx);
  assert_int_equal(mbg_run_forget_stepper(j.run), MBG_OK);
  must(&j, mbg_run_simulate(j.ctx, j.run));
  j.nodes = mbg_run_node_count(j.run);
  check_adjoint(&j, true, 7, 1e-12);
  must(&j, mbg_run_parameters(j.run, p));
  must(&j, mbg_run_vjp(j.ctx, j.run, MBG_METHOD_ADJOINT, 1, w, g));
  for (int i = 0; i < j.np; i++) {
    const double at = p[i], eps = 1e-4 * at;
    for (int k = 0; k < 2; k++) {
      p[i] = at + (k ? -eps : eps);
      must(&j, mbg_run_set_parameters(j.ctx, j.run, p));
      must(&j, mbg_run_simulate(j.ctx, j.run));
      y[k] = mbg_run_signal(j.run, mbg_run_node_count(j.run) - 1, mbg_run_kept_signal(j.run, 0));
    }
    p[i] = at;
    const double difference = (y[0] - y[1]) / (2 * eps);
    if (!(fabs(difference - g[i]) <= 1e-5 * fabs(g[i]) + 1e-9)) {
      fail_msg("parameter %d: %.10g, differences %.10g", i, g[i], difference);
    }
  }
  remove(path);
  free(w);
  free(g);
  free(p);
  close_job(&j);
}

static int report(void **state) {
  (void)state;
  if (support_rounds(0, 1)) {
    print_message("adjoint to each other to %.1e\n", worst);
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_given),    cmocka_unit_test(test_reference), cmocka_unit_test(test_states),
      cmocka_unit_test(test_steppers), cmocka_unit_test(test_qr),
  };
  return cmocka_run_group_tests(tests, NULL, report);
}
