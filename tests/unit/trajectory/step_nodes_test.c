/* Nodes of `qr`: weights of the Gauss-Kronrod rule, halving, integrals by stages, samples, repeated runs. */
#include "support/support.h"
#include "trajectory/step_nodes.h"

#include <math.h>
#include <string.h>

typedef double (*function)(double t);

typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
  mbg__run_plan plan;
  mbg__quadrature quadrature;
  mbg__step_nodes n;
  function f;
  double ta, tb; /* the step at hand */
} bench;

static int value(void *user, double t, real *y) {
  const bench *b = user;
  y[0] = b->f(t);
  return MBG_OK;
}

static void setup(bench *b, function f, double tolerance, double sharpness) {
  *b = (bench){.f = f, .quadrature = {.column = 0, .sharpness = sharpness}};
  b->plan = (mbg__run_plan){
      .t0 = 0, .t1 = 2, .relative = tolerance, .absolute = tolerance, .nquadrature = 1, .quadratures = &b->quadrature};
  assert_int_equal(mbg_context_create(NULL, &b->ctx), MBG_OK);
  mbg__arena_init(&b->arena, mbg__context_allocator(b->ctx));
  assert_int_equal(mbg__step_nodes_create(b->ctx, &b->arena, &b->plan, 1, &b->n), MBG_OK);
}

static void teardown(bench *b) {
  mbg__step_nodes_destroy(&b->n);
  mbg__arena_destroy(&b->arena);
  mbg_context_destroy(b->ctx);
}

/* steps of a run: 0, 0.3, 1.1, 2 */
static void run(bench *b, bool fixed) {
  static const double ends[] = {0, 0.3, 1.1, 2};
  assert_int_equal(mbg__step_nodes_begin(b->ctx, &b->n, fixed, value, b), MBG_OK);
  for (int i = 1; i < 4; i++) {
    b->ta = ends[i - 1];
    b->tb = ends[i];
    assert_int_equal(mbg__step_nodes_step(b->ctx, &b->n, ends[i - 1], ends[i], value, b), MBG_OK);
  }
}

static double integral(const bench *b) {
  double sum = 0;
  for (int i = 0; i < b->n.count; i++) {
    sum += b->n.omega[i] * b->n.y[i];
  }
  return sum;
}

static int degree;
static double power(double t) { return pow(t, degree); }
static double bump(double t) { return exp(-2000 * (t - 0.7) * (t - 0.7)); }
static double wave(double t) { return sin(3 * t); }
static double kink(double t) { return fabs(t - 0.9); }
static double noise(double t) { return 1 + 0.5 * sin(1e9 * t * t); }
static double jumps(double t) { return fmod(floor(30 * t), 2); }

/* exact to degree 11 without any halving: 3 steps of 7 points and their ends; rounding of the sums */
static void weights_are_exact(void **state) {
  (void)state;
  for (degree = 0; degree <= 11; degree++) {
    bench b;
    setup(&b, power, 0.5, 0);
    run(&b, false);
    assert_int_equal(b.n.count, 3 * 8 + 1);
    const double exact = pow(2, degree + 1) / (degree + 1);
    assert_close(integral(&b), exact, 1e-14 * exact);
    teardown(&b);
  }
  bench b;
  degree = 12;
  setup(&b, power, 0.5, 0);
  run(&b, false);
  assert_true(fabs(integral(&b) / (pow(2, 13) / 13) - 1) > 1e-13); /* no further */
  teardown(&b);
}

/* a narrow bump, width 0.02 in a step of 0.8, and a kink: halved until the tolerance holds */
static void halving_follows_the_tolerance(void **state) {
  (void)state;
  const double exact = sqrt(3.14159265358979323846 / 2000);
  int before = 0;
  for (double tolerance = 1e-4; tolerance > 1e-13; tolerance *= 1e-2) {
    bench b;
    setup(&b, bump, tolerance, 0);
    run(&b, false);
    assert_close(integral(&b), exact, 10 * tolerance * exact + 2 * tolerance);
    assert_true(b.n.count >= before);
    before = b.n.count;
    teardown(&b);
  }
  bench b;
  setup(&b, kink, 1e-9, 0);
  run(&b, false);
  assert_close(integral(&b), (0.9 * 0.9 + 1.1 * 1.1) / 2, 1e-8);
  teardown(&b);
}

/* integral of exp(k y), k y up to 1000: of the size of its largest part, without overflow */
static void sharp_exponentials(void **state) {
  (void)state;
  bench b;
  const double k = 1000, exact = sqrt(2 * 3.14159265358979323846 / (9 * k));
  setup(&b, wave, 1e-10, k);
  run(&b, false);
  double sum = 0;
  for (int i = 0; i < b.n.count; i++) {
    sum += b.n.omega[i] * exp(k * (b.n.y[i] - 1));
  }
  /* Laplace's method to first order 1 + 1/(8 k) + ...: the peak is resolved */
  assert_close(sum / exact, 1 + 1 / (8 * k), 1e-6);
  teardown(&b);
}

/* times ascend, samples stand among them once, with weight 0; a repeated run has the same times and weights */
static void samples_and_repetition(void **state) {
  (void)state;
  static const double samples[] = {0.1, 0.3, 0.5, 1.9999};
  bench b;
  setup(&b, wave, 1e-10, 0);
  b.plan.nsample = 4;
  b.plan.samples = samples;
  run(&b, false);
  int found = 0;
  for (int i = 0; i < b.n.count; i++) {
    assert_true(i == 0 || b.n.t[i] > b.n.t[i - 1]);
    assert_true(b.n.y[i] == wave(b.n.t[i]));
    for (int k = 0; k < 4; k++) {
      found += b.n.t[i] == samples[k];
    }
  }
  assert_int_equal(found, 4);
  const int count = b.n.count;
  const double before = integral(&b);
  b.f = bump; /* what the values are does not matter any more */
  run(&b, true);
  assert_int_equal(b.n.count, count);
  b.f = wave;
  run(&b, true);
  assert_true(integral(&b) == before);
  teardown(&b);
}

/* a run that keeps no values has the same integral, to the last bit, also when it is repeated */
static void little_is_kept(void **state) {
  (void)state;
  const int nowhere = -1, first = 0;
  bench b;
  setup(&b, wave, 1e-12, 0);
  run(&b, false);
  const double sum = integral(&b);
  const int count = b.n.count;
  teardown(&b);
  for (int k = 0; k < 2; k++) {
    setup(&b, wave, 1e-12, 0);
    b.plan.place = k == 0 ? &nowhere : &first;
    assert_int_equal(mbg__step_nodes_create(b.ctx, &b.arena, &b.plan, 1, &b.n), MBG_OK);
    for (int again = 0; again < 2; again++) {
      run(&b, again);
      const mbg__nodes nodes = mbg__step_nodes_of(&b.n, NULL, false);
      assert_true(nodes.sum[0] == sum && nodes.end[0] == wave(2));
      assert_true(nodes.nnode == count && nodes.width == k);
      assert_true(k == 0 || integral(&b) == sum);
    }
    teardown(&b);
  }
}

static int stage_value(void *user, int stage, double *y) {
  const bench *b = user;
  y[0] = b->f(b->ta + (b->tb - b->ta) * b->n.method->c[stage]);
  return MBG_OK;
}

static void setup_stages(bench *b, function f, double tolerance, const mbg__rk_method *m) {
  setup(b, f, tolerance, 0);
  assert_int_equal(mbg__step_nodes_by_stages(b->ctx, &b->arena, &b->n, m, stage_value), MBG_OK);
}

/* The weights of a method of order q integrate functions of time exactly to degree q - 1, without a node inside. */
static void stages_have_the_order(void **state) {
  static const mbg__rk_method *const methods[] = {&mbg__rk_dop853, &mbg__rk_dp5};
  (void)state;
  for (int i = 0; i < 2 * 9; i++) {
    const mbg__rk_method *m = methods[i % 2];
    bench b;
    degree = i / 2;
    setup_stages(&b, power, 1e3, m);
    run(&b, false);
    assert_int_equal(b.n.count, 4);
    const double exact = pow(2, degree + 1) / (degree + 1), error = fabs(b.n.staged[0] / exact - 1);
    assert_true(degree < m->order ? error < 1e-13 : error > 1e-9);
    teardown(&b);
  }
}

/* a step is by stages, or it has nodes; both hold the tolerance, and a repeated run does the same, to the last bit */
static void rough_steps_have_nodes(void **state) {
  static const double tolerances[] = {1e-3, 1e-6, 1e-9, 1e-12};
  static const double ends[] = {0, 0.3, 1.1, 2};
  static const int expected[] = {3, 2, 2, 2,
                                 0, 2, 0, 2}; /* steps of the wave, of the kink, which lies in one of them */
  (void)state;
  for (int i = 0; i < 2 * MBG_COUNT(tolerances); i++) {
    bench b;
    const double tolerance = tolerances[i / 2], exact = i % 2 ? (0.9 * 0.9 + 1.1 * 1.1) / 2 : (1 - cos(6)) / 3;
    int staged = 0, node = 0;
    setup_stages(&b, i % 2 ? kink : wave, tolerance, &mbg__rk_dop853);
    run(&b, false);
    assert_close(integral(&b) + b.n.staged[0], exact, 10 * tolerance);
    for (int k = 1; k < 4; k++) {
      while (node + 1 < b.n.count && b.n.t[node + 1] <= ends[k]) {
        node++;
      }
      staged += mbg__step_nodes_staged(&b.n, ends[k - 1], node);
    }
    assert_int_equal(staged, expected[i]);
    const double sum = integral(&b), rest = b.n.staged[0];
    run(&b, true);
    assert_true(integral(&b) == sum && b.n.staged[0] == rest);
    teardown(&b);
  }
}

/* the first stage has its own value at the start and behind a break, else that of the node there */
static void first_stages(void **state) {
  static const double breaks[] = {0.3};
  (void)state;
  bench b;
  setup_stages(&b, wave, 1e-6, &mbg__rk_dop853);
  b.plan.nbreak = 1;
  b.plan.breaks = breaks;
  assert_false(mbg__step_nodes_goes_on(&b.n, 0));
  assert_false(mbg__step_nodes_goes_on(&b.n, 0.3));
  assert_true(mbg__step_nodes_goes_on(&b.n, 1.1));
  teardown(&b);
}

/* curves have their points in steps by stages, too, without weights; smooth maxima are not by stages */
static void curves_and_maxima(void **state) {
  (void)state;
  bench b;
  setup_stages(&b, wave, 1e-3, &mbg__rk_dop853);
  b.plan.curves = true;
  run(&b, false);
  assert_int_equal(b.n.count, 3 * 8 + 1);
  assert_true(integral(&b) == 0 && b.n.staged[0] != 0);
  teardown(&b);
  setup(&b, wave, 1e-3, 10);
  assert_int_equal(mbg__step_nodes_by_stages(b.ctx, &b.arena, &b.n, &mbg__rk_dop853, stage_value), MBG_OK);
  assert_null(b.n.method);
  teardown(&b);
}

/* without integrals and curves only ends and samples are nodes */
static void no_panels(void **state) {
  (void)state;
  bench b;
  setup(&b, wave, 1e-10, 0);
  mbg__step_nodes_destroy(&b.n);
  b.plan.nquadrature = 0;
  assert_int_equal(mbg__step_nodes_create(b.ctx, &b.arena, &b.plan, 1, &b.n), MBG_OK);
  run(&b, false);
  assert_int_equal(b.n.count, 4);
  teardown(&b);
}

/* Noise is not followed: 256 panels of the last depth, a warning, then coarse steps. Jumps are no noise. */
static void noise_is_not_followed(void **state) {
  (void)state;
  bench b;
  setup(&b, noise, 1e-9, 0);
  b.quadrature.name = "wobble";
  run(&b, false);
  assert_true(b.n.count < 7 * 1024); /* 3 * 7 * 4096 */
  assert_close(integral(&b), 2, 0.2);
  assert_int_equal(mbg_context_message_count(b.ctx), 1);
  const char *message = mbg_context_message(b.ctx, 0);
  const char *expected = "criterion 'wobble': its integral does not converge near t = 0.0";
  if (!strstr(message, expected)) {
    fail_msg("'%s' is not in '%s'", expected, message);
  }
  teardown(&b);
  setup(&b, jumps, 1e-9, 0);
  run(&b, false);
  assert_close(integral(&b), 1, 1e-4);
  assert_int_equal(mbg_context_message_count(b.ctx), 0);
  teardown(&b);
}

/* inner nodes of steps of a few units in the last place lie at the ends of these: an adjoint meets all of them inside
   the step */
static void nodes_at_the_ends(void **state) {
  (void)state;
  double t[] = {0, 1, 1, 1, 2}, inside[] = {0, 0.5, 0.7, 1, 2}, ends[] = {0, 1, 2};
  const mbg__step_nodes n = {.count = 5, .t = t}, regular = {.count = 5, .t = inside};
  assert_int_equal(mbg__step_nodes_inside(&n, 2, ends), 2);
  assert_int_equal(mbg__step_nodes_inside(&regular, 2, ends), 2);
  const mbg__step_nodes one = {.count = 4, .t = t};
  assert_int_equal(mbg__step_nodes_inside(&one, 1, ends), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_exact),
      cmocka_unit_test(halving_follows_the_tolerance),
      cmocka_unit_test(sharp_exponentials),
      cmocka_unit_test(samples_and_repetition),
      cmocka_unit_test(no_panels),
      cmocka_unit_test(noise_is_not_followed),
      cmocka_unit_test(little_is_kept),
      cmocka_unit_test(nodes_at_the_ends),
      cmocka_unit_test(stages_have_the_order),
      cmocka_unit_test(rough_steps_have_nodes),
      cmocka_unit_test(first_stages),
      cmocka_unit_test(curves_and_maxima),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
