/* Steps: convergence, error control, both directions, breaks, failures. */
#include "unit/integrators/rk_case.h"

#include <string.h>

/* ---------------------------------------------------------------------- convergence */

/* Largest error at the end with steps of length h. */
static double error_fixed(const mbg__rk_method *m, bool witch, double t0, double t1, double h) {
  mbg_context *ctx = new_context(NULL);
  mbg__rk_options opt = mbg__rk_options_default();
  opt.fixed = h;
  mbg__rk *rk = NULL;
  const int n = witch ? 1 : 4;
  const mbg__rk_run run = {.rhs = witch ? witch_rhs : kepler_rhs, .t0 = t0, .t1 = t1};
  double y[4] = {0}, exact[4] = {0};
  if (witch) {
    y[0] = witch_exact(t0);
    exact[0] = witch_exact(t1);
  } else {
    kepler_exact(t0, y);
    kepler_exact(t1, exact);
  }
  assert_int_equal(mbg__rk_create(ctx, n, m, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(ctx, rk, &run, y, NULL), MBG_OK);
  assert_int_equal(mbg__rk_count(rk)->steps, lround(fabs(t1 - t0) / h));
  assert_int_equal(mbg__rk_count(rk)->evaluations, 1 + m->nstage * mbg__rk_count(rk)->steps);
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
  return distance(y, exact, n);
}

/* log2 of the ratio at halved steps; the steps are such that h is small and rounding still far away: 0.35 */
static void steps_converge_with_their_order(void **state) {
  (void)state;
  const double coarse[METHODS] = {5.0 / 400, 5.0 / 200, 5.0 / 45}, coarse_t[METHODS] = {5.0 / 400, 5.0 / 200, 5.0 / 20};
  for (int q = 0; q < METHODS; q++) {
    for (int backward = 0; backward < 2; backward++) {
      const double a = backward ? 5 : 0, b = 5 - a, h = coarse[q], ht = coarse_t[q];
      const mbg__rk_method *m = all_methods[q];
      const double slope = log2(error_fixed(m, false, a, b, h) / error_fixed(m, false, a, b, h / 2));
      const double slope_t = log2(error_fixed(m, true, a, b, ht) / error_fixed(m, true, a, b, ht / 2));
      print_message("%s: order %.2f on Kepler, %.2f on y' = -2ty^2\n", m->key, slope, slope_t);
      assert_true(slope > m->order - 0.35 && slope < m->order + 1.2);
      assert_true(slope_t > m->order - 0.35);
    }
  }
}

/* ---------------------------------------------------------------------- error control */

typedef struct {
  double error;
  mbg__rk_counts count;
} outcome;

static outcome run_controlled(const mbg__rk_method *m, double t0, double t1, double tol, double hmax) {
  mbg_context *ctx = new_context(NULL);
  mbg__rk_options opt = mbg__rk_options_default();
  opt.rtol = opt.atol = tol;
  opt.hmax = hmax;
  mbg__rk *rk = NULL;
  const mbg__rk_run run = {.rhs = kepler_rhs, .t0 = t0, .t1 = t1};
  double y[4], exact[4];
  kepler_exact(t0, y);
  kepler_exact(t1, exact);
  assert_int_equal(mbg__rk_create(ctx, 4, m, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(ctx, rk, &run, y, NULL), MBG_OK);
  assert_true(mbg__rk_last(rk)->t1 == t1);
  const outcome out = {distance(y, exact, 4), *mbg__rk_count(rk)};
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
  return out;
}

/* One revolution multiplies the error of a step by some ten; between 1e-3 and 300 tolerances is what such control
   gives. */
static void error_follows_the_tolerance(void **state) {
  (void)state;
  for (int q = 1; q < METHODS; q++) {
    for (int backward = 0; backward < 2; backward++) {
      const double end = 2 * M_PI;
      for (double tol = 1e-4; tol > 5e-13; tol *= 1e-2) {
        const outcome o = run_controlled(all_methods[q], backward ? end : 0, backward ? 0 : end, tol, 0);
        print_message("%s tol %.0e: error %.1e, %ld steps, %ld rejected, %ld evaluations\n", all_methods[q]->key, tol,
                      o.error, o.count.steps, o.count.rejected, o.count.evaluations);
        assert_true(o.error < 300 * tol && o.error > 1e-3 * tol);
        assert_true(o.count.rejected <= 2 + o.count.steps / 5);
      }
    }
  }
}

static void longest_step_is_kept(void **state) {
  (void)state;
  const outcome o = run_controlled(&mbg__rk_dop853, 0, 10, 1e-3, 0.01);
  assert_true(o.count.steps >= 1000 && o.count.steps <= 1010);
}

/* y_1 is as rough as a step function, but only y_0 counts. */
static int rough_rhs(void *user, double t, const double *y, double *dydt) {
  (void)user;
  dydt[0] = -y[0];
  dydt[1] = sin(1e4 * t) > 0 ? 1e3 : -1e3;
  return 0;
}

/* y' = 1 at t < 1/3, -1 after: no step across the jump is good enough, but those of hmin are taken, and counted */
static int jump_rhs(void *user, double t, const double *y, double *dydt) {
  (void)user;
  (void)y;
  dydt[0] = t < 1.0 / 3 ? 1 : -1;
  return 0;
}

static void shortest_step_is_taken(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    long steps[2] = {0};
    for (int i = 0; all_methods[q]->error_order > 0 && i < 2; i++) {
      mbg_context *ctx = new_context(NULL);
      mbg__rk_options opt = mbg__rk_options_default();
      opt.rtol = opt.atol = 1e-10;
      opt.hmin = i ? 1e-3 : 0;
      mbg__rk *rk = NULL;
      const mbg__rk_run run = {.rhs = jump_rhs, .t0 = 0, .t1 = 1};
      double y = 0;
      assert_int_equal(mbg__rk_create(ctx, 1, all_methods[q], &opt, &rk), MBG_OK);
      assert_int_equal(mbg__rk_start(ctx, rk, &run, &y), MBG_OK);
      int err;
      while ((err = mbg__rk_step(ctx, rk)) > 0) {
        const mbg__rk_record *step = mbg__rk_last(rk);
        assert_true(step->t1 == 1 || step->t1 - step->t0 >= 0.999 * opt.hmin);
      }
      assert_int_equal(err, 0);
      /* the error of the steps across the jump: their length times the sum of the weights, which alternate */
      assert_close(mbg__rk_last(rk)->y1[0], -1.0 / 3, i ? 1e-2 : 1e-8);
      assert_true(i ? mbg__rk_count(rk)->forced >= 1 && mbg__rk_count(rk)->forced <= 3
                    : mbg__rk_count(rk)->forced == 0);
      steps[i] = mbg__rk_count(rk)->steps + mbg__rk_count(rk)->rejected;
      mbg__rk_destroy(rk);
      mbg_context_destroy(ctx);
    }
    assert_true(steps[1] <= steps[0]);
  }
}

static void only_controlled_components_count(void **state) {
  (void)state;
  mbg_context *ctx = new_context(NULL);
  mbg__rk_options opt = mbg__rk_options_default();
  const double atol[2] = {1e-9, 1e-9};
  opt.atol_vector = atol;
  opt.ncontrol = 1;
  mbg__rk *rk = NULL;
  const mbg__rk_run run = {.rhs = rough_rhs, .t0 = 0, .t1 = 1};
  double y[2] = {1, 0};
  assert_int_equal(mbg__rk_create(ctx, 2, &mbg__rk_dop853, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(ctx, rk, &run, y, NULL), MBG_OK);
  assert_close(y[0], exp(-1), 1e-8);
  assert_true(mbg__rk_count(rk)->steps < 20);
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
}

/* ---------------------------------------------------------------------- breaks */

/* y' = s y + s with s = +-1 by segment, watched for its times; user: see there */
typedef struct {
  double ta, tb, sign;
  int segments;
  long outside;
  double jump; /* added to y at each break but the first start */
} switched;

static int switched_rhs(void *user, double t, const double *y, double *dydt) {
  switched *s = user;
  s->outside += t < fmin(s->ta, s->tb) || t > fmax(s->ta, s->tb);
  dydt[0] = s->sign * (y[0] + 1);
  return 0;
}

static int switched_segment(void *user, double ta, double tb, double *y) {
  switched *s = user;
  y[0] += s->segments > 0 ? s->jump : 0;
  s->ta = ta;
  s->tb = tb;
  s->sign = (int)floor(0.5 * (ta + tb)) % 2 == 0 ? 1 : -1; /* breaks at the integers */
  s->segments++;
  return 0;
}

/* (y + 1) grows by e in even units of time, shrinks by e in odd ones; jumps are added between. */
static void breaks_are_met(void **state) {
  (void)state;
  const double breaks[] = {-1, 0, 1, 2, 2, 3, 4, 7}; /* outside, at an end, doubled */
  for (int q = 0; q < METHODS; q++) {
    for (int backward = 0; backward < 2; backward++) {
      mbg_context *ctx = new_context(NULL);
      mbg__rk_options opt = mbg__rk_options_default();
      opt.rtol = opt.atol = 1e-11;
      opt.fixed = q == 0 ? 1e-3 : 0;
      mbg__rk *rk = NULL;
      switched s = {.jump = 0.25};
      const double t0 = backward ? 3.5 : 0, t1 = 3.5 - t0;
      const mbg__rk_run run = {switched_rhs, switched_segment, &s, t0, t1, MBG_COUNT(breaks), breaks, 0, NULL};
      double y = 1, z = 2;
      assert_int_equal(mbg__rk_create(ctx, 1, all_methods[q], &opt, &rk), MBG_OK);
      assert_int_equal(mbg__rk_integrate(ctx, rk, &run, &y, NULL), MBG_OK);
      for (int i = 0; i < 4; i++) { /* z = y + 1 */
        const int unit = backward ? 3 - i : i;
        const double length = unit == 3 ? 0.5 : 1;
        z = (z + (i > 0 ? 0.25 : 0)) * exp((unit % 2 == 0 ? 1 : -1) * (backward ? -length : length));
      }
      assert_close(y, z - 1, 1e-9); /* tolerance 1e-11, some tens of steps */
      assert_int_equal(s.segments, 4);
      assert_int_equal(s.outside, 0);
      mbg__rk_destroy(rk);
      mbg_context_destroy(ctx);
    }
  }
}

/* Segments of a few ulps and of very different length are possible. */
static void tiny_segments(void **state) {
  (void)state;
  const double near = nextafter(1.0, 2.0);
  const double breaks[] = {1e-300, 1e-9, 1, near, 1.5};
  mbg_context *ctx = new_context(NULL);
  mbg__rk_options opt = mbg__rk_options_default();
  mbg__rk *rk = NULL;
  const mbg__rk_run run = {.rhs = witch_rhs, .t0 = 0, .t1 = 2, .nbreak = MBG_COUNT(breaks), .breaks = breaks};
  double y = 1;
  assert_int_equal(mbg__rk_create(ctx, 1, &mbg__rk_dop853, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(ctx, rk, &run, &y, NULL), MBG_OK);
  assert_close(y, witch_exact(2), 1e-7);
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
}

static void empty_runs(void **state) {
  (void)state;
  mbg_context *ctx = new_context(NULL);
  mbg__rk_options opt = mbg__rk_options_default();
  mbg__rk *rk = NULL;
  double y = 3;
  assert_int_equal(mbg__rk_create(ctx, 1, &mbg__rk_dp5, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(ctx, rk, &(mbg__rk_run){.rhs = witch_rhs, .t0 = 1, .t1 = 1}, &y, NULL), MBG_OK);
  assert_true(y == 3 && mbg__rk_count(rk)->evaluations == 0);
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
}

static int nothing_rhs(void *user, double t, const double *y, double *dydt) {
  (void)user;
  (void)t;
  (void)y;
  (void)dydt;
  return 0;
}

static void no_components(void **state) {
  (void)state;
  mbg_context *ctx = new_context(NULL);
  mbg__rk_options opt = mbg__rk_options_default();
  opt.dense = true;
  mbg__rk *rk = NULL;
  mbg__rk_dense s;
  double y;
  mbg__rk_dense_init(&s, &mbg__rk_dop853, 0);
  assert_int_equal(mbg__rk_create(ctx, 0, &mbg__rk_dop853, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(ctx, rk, &(mbg__rk_run){.rhs = nothing_rhs, .t0 = 0, .t1 = 1}, &y, &s), MBG_OK);
  assert_true(s.nstep > 0 && s.t[s.nstep] == 1);
  mbg__rk_dense_free(mbg__context_allocator(ctx), &s);
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
}

/* ---------------------------------------------------------------------- failures */

typedef struct {
  mbg_context *ctx;
  int kind; /* what happens beyond the limit */
  double limit;
  long calls_bad;
} troubled;

enum { TROUBLE_REFUSES, TROUBLE_NAN, TROUBLE_FATAL };

/* y' = 10 - y, not beyond y = limit: stages that look too far ahead meet the wall */
static int troubled_rhs(void *user, double t, const double *y, double *dydt) {
  troubled *s = user;
  (void)t;
  dydt[0] = 0;
  dydt[1] = 10 - y[1];
  if (y[1] > s->limit) {
    s->calls_bad++;
    if (s->kind == TROUBLE_NAN) {
      dydt[1] = NAN;
      return 0;
    }
    mbg__fail(s->ctx, MBG_ERROR_SINGULAR, "wall at %g", s->limit);
    return s->kind == TROUBLE_FATAL ? MBG_ERROR_SINGULAR : 1;
  }
  return 0;
}

static int run_troubled(troubled *s, const mbg__rk_method *m, double fixed, double t1, mbg__rk_failure *why) {
  mbg__rk_options opt = mbg__rk_options_default();
  opt.h0 = fixed > 0 ? 0 : 20;
  opt.fixed = fixed;
  mbg__rk *rk = NULL;
  const mbg__rk_run run = {.rhs = troubled_rhs, .user = s, .t0 = 0, .t1 = t1};
  double y[2] = {0, 0};
  assert_int_equal(mbg__rk_create(s->ctx, 2, m, &opt, &rk), MBG_OK);
  const int err = mbg__rk_integrate(s->ctx, rk, &run, y, NULL);
  *why = *mbg__rk_why(rk);
  assert_true(err < 0 || mbg__rk_count(rk)->failed > 0);
  mbg__rk_destroy(rk);
  return err;
}

/* The solution does not reach the wall, but the first attempt does. */
static void refused_steps_are_retried(void **state) {
  (void)state;
  for (int kind = TROUBLE_REFUSES; kind <= TROUBLE_NAN; kind++) {
    for (int q = 1; q < METHODS; q++) {
      mbg_context *ctx = new_context(NULL);
      troubled s = {.ctx = ctx, .kind = kind, .limit = 10.5};
      mbg__rk_failure why;
      assert_int_equal(run_troubled(&s, all_methods[q], 0, 20, &why), MBG_OK);
      assert_true(s.calls_bad > 0);
      assert_int_equal(why.reason, MBG__RK_FINE);
      assert_int_equal(mbg_context_message_count(ctx), 0); /* taken back */
      mbg_context_destroy(ctx);
    }
  }
}

static void walls_stop_a_run(void **state) {
  (void)state;
  const mbg__rk_reason reason[] = {MBG__RK_REFUSED, MBG__RK_NOT_FINITE, MBG__RK_FATAL};
  const char *text[] = {"wall at 5", "derivative of component 1 is not finite", "wall at 5"};
  for (int kind = TROUBLE_REFUSES; kind <= TROUBLE_FATAL; kind++) {
    for (int q = 0; q < METHODS; q++) {
      mbg_context *ctx = new_context(NULL);
      troubled s = {.ctx = ctx, .kind = kind, .limit = 5};
      mbg__rk_failure why;
      const int err = run_troubled(&s, all_methods[q], q == 0 ? 0.01 : 0, 50, &why);
      assert_int_equal(err, kind == TROUBLE_FATAL ? MBG_ERROR_SINGULAR : MBG_ERROR_CONVERGENCE);
      assert_int_equal(why.reason, reason[kind]);
      assert_int_equal(why.component, kind == TROUBLE_NAN ? 1 : -1);
      assert_non_null(strstr(mbg_context_error(ctx), text[kind]));
      if (kind != TROUBLE_FATAL) { /* it came as near as steps allow: y = 5 at t = log 2 */
        assert_close(why.t, log(2), q == 0 ? 0.02 : 1e-7);
      }
      mbg_context_destroy(ctx);
    }
  }
}

/* y' = y^2, y = 1/(1 - t) */
static int blow_up_rhs(void *user, double t, const double *y, double *dydt) {
  (void)user;
  (void)t;
  dydt[0] = 0;
  dydt[1] = y[1] * y[1];
  return 0;
}

static int bad_start_rhs(void *user, double t, const double *y, double *dydt) {
  (void)user;
  (void)y;
  dydt[0] = 1;
  dydt[1] = 1 / t;
  return 0;
}

static void expect_failure(const mbg__rk_run *run, long max_steps, mbg__rk_reason reason, const char *text) {
  mbg_context *ctx = new_context(NULL);
  mbg__rk_options opt = mbg__rk_options_default();
  opt.max_steps = max_steps;
  mbg__rk *rk = NULL;
  double y[2] = {1, 1};
  assert_int_equal(mbg__rk_create(ctx, 2, &mbg__rk_dop853, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(ctx, rk, run, y, NULL), MBG_ERROR_CONVERGENCE);
  assert_int_equal(mbg__rk_why(rk)->reason, reason);
  assert_int_equal(mbg__rk_why(rk)->component, 1);
  assert_non_null(strstr(mbg_context_error(ctx), text));
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
}

static void failures_name_time_and_component(void **state) {
  (void)state;
  const mbg__rk_run blow_up = {.rhs = blow_up_rhs, .t0 = 0, .t1 = 2};
  expect_failure(&blow_up, 100000, MBG__RK_TOO_SMALL, "stopped at t = 1: step");
  expect_failure(&blow_up, 100000, MBG__RK_TOO_SMALL, "component 1");
  expect_failure(&blow_up, 10, MBG__RK_TOO_MANY, "more than 10 steps (largest error in component 1)");
  const mbg__rk_run bad_start = {.rhs = bad_start_rhs, .t0 = 0, .t1 = 1};
  expect_failure(&bad_start, 10, MBG__RK_NOT_FINITE, "t = 0, step 0: derivative of component 1 is not finite");
}

static void expect_bad(const mbg__rk_method *m, mbg__rk_options opt, const char *text) {
  mbg_context *ctx = new_context(NULL);
  mbg__rk *rk = NULL;
  assert_int_equal(mbg__rk_create(ctx, 2, m, &opt, &rk), MBG_ERROR_INPUT);
  assert_null(rk);
  assert_non_null(strstr(mbg_context_error(ctx), text));
  mbg_context_destroy(ctx);
}

/* noise that no step resolves: errors of h times 1, so that steps of 1e-13 are accepted and creep */
static int noise_rhs(void *user, double t, const real *y, real *dydt) {
  (void)user, (void)y;
  uint64_t bits;
  memcpy(&bits, &t, sizeof(bits));
  bits *= 0x9e3779b97f4a7c15u;
  bits ^= bits >> 29;
  bits *= 0xbf58476d1ce4e5b9u;
  dydt[0] = (double)(bits >> 40) / (1 << 24);
  return 0;
}

static void runs_without_headway_end(void **state) {
  (void)state;
  mbg_context *ctx = new_context(NULL);
  mbg__rk_options opt = mbg__rk_options_default();
  mbg__rk *rk = NULL;
  real y[1] = {0};
  const mbg__rk_run run = {.rhs = noise_rhs, .t0 = 0, .t1 = 1};
  opt.rtol = 0;
  opt.atol = 1e-13;
  assert_int_equal(mbg__rk_create(ctx, 1, all_methods[1], &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(ctx, rk, &run, y, NULL), MBG_ERROR_CONVERGENCE);
  assert_int_equal(mbg__rk_why(rk)->reason, MBG__RK_NO_HEADWAY);
  const mbg__rk_counts *count = mbg__rk_count(rk);
  assert_true(count->steps + count->rejected + count->failed <= 2 * MBG__RK_WINDOW);
  assert_non_null(strstr(mbg_context_message(ctx, 0), "no headway in"));
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
}

static void bad_options_are_named(void **state) {
  (void)state;
  const mbg__rk_method *m = &mbg__rk_dp5;
  mbg__rk_options opt = mbg__rk_options_default();
#define EXPECT_BAD(field, value, text)                                                                                 \
  do {                                                                                                                 \
    const mbg__rk_options keep = opt;                                                                                  \
    opt.field = value;                                                                                                 \
    expect_bad(m, opt, text);                                                                                          \
    opt = keep;                                                                                                        \
  } while (0)
  EXPECT_BAD(rtol, 1e-15, "relative tolerance 1e-15");
  EXPECT_BAD(rtol, -1, "relative tolerance -1");
  EXPECT_BAD(rtol, NAN, "relative tolerance nan");
  EXPECT_BAD(atol, -1, "absolute tolerance -1");
  EXPECT_BAD(h0, -1, "step sizes (first -1");
  EXPECT_BAD(hmax, NAN, "step sizes");
  EXPECT_BAD(fixed, -1, "step sizes");
  EXPECT_BAD(ncontrol, 3, "3 components under error control");
  EXPECT_BAD(max_steps, 0, "at most 0 steps");
  opt.rtol = 0;
  EXPECT_BAD(atol, 0, "tolerances are 0");
#undef EXPECT_BAD
}

static void expect_bad_run(const mbg__rk_method *m, mbg__rk_run run, const char *text) {
  mbg_context *ctx = new_context(NULL);
  const mbg__rk_options opt = mbg__rk_options_default();
  mbg__rk *rk = NULL;
  double y = 1;
  run.rhs = witch_rhs;
  assert_int_equal(mbg__rk_create(ctx, 1, m, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(ctx, rk, &run, &y, NULL), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(ctx), text));
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
}

static void bad_runs_are_named(void **state) {
  (void)state;
  const double wrong[] = {2, 1}, nodes[] = {0, 0.5, 1}, at[] = {0.6};
  expect_bad_run(&mbg__rk_dp5, (mbg__rk_run){.t1 = INFINITY}, "must be finite");
  expect_bad_run(&mbg__rk_dp5, (mbg__rk_run){.t1 = 1, .nbreak = 2, .breaks = wrong}, "break times must ascend");
  expect_bad_run(&mbg__rk_dp5, (mbg__rk_run){.t1 = 2, .nfrozen = 2, .frozen = nodes}, "cannot be repeated");
  expect_bad_run(&mbg__rk_dp5, (mbg__rk_run){.t1 = 1, .nbreak = 1, .breaks = at, .nfrozen = 2, .frozen = nodes},
                 "break at t = 0.6");
  expect_bad_run(&mbg__rk_rk4, (mbg__rk_run){.t1 = 1}, "give a fixed step");
}

/* ---------------------------------------------------------------------- memory */

static int store_run(mbg_context *ctx, support_memory *memory, long *in_steps) {
  int err = MBG_OK;
  mbg__rk_options opt = mbg__rk_options_default();
  opt.dense = true;
  mbg__rk *rk = NULL;
  mbg__rk_adjoint *adjoint = NULL;
  mbg__rk_dense s;
  const mbg__rk_run run = {.rhs = kepler_rhs, .t0 = 0, .t1 = 40};
  double y[4];
  kepler_exact(0, y);
  mbg__rk_dense_init(&s, &mbg__rk_dop853, 4);
  MBG_TRY(mbg__rk_create(ctx, 4, &mbg__rk_dop853, &opt, &rk));
  MBG_TRY(mbg__rk_adjoint_create(ctx, 4, 3, 0, &mbg__rk_dop853, &adjoint));
  MBG_TRY(mbg__rk_integrate(ctx, rk, &run, y, &s));
  const long before = memory->requests;
  kepler_exact(0, y);
  MBG_TRY(mbg__rk_integrate(ctx, rk, &run, y, &s)); /* the store is large enough now */
  *in_steps = memory->requests - before;
done:
  mbg__rk_dense_free(mbg__context_allocator(ctx), &s);
  mbg__rk_adjoint_destroy(ctx, adjoint);
  mbg__rk_destroy(rk);
  return err;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  for (int n = 1;; n++) {
    support_memory memory = {.fail_at = n};
    const mbg_allocator allocator = support_allocator(&memory);
    mbg_context *ctx = NULL;
    long in_steps = -1;
    int err = mbg_context_create(&allocator, &ctx);
    if (err == MBG_OK) {
      err = store_run(ctx, &memory, &in_steps);
    }
    mbg_context_destroy(ctx);
    assert_int_equal(memory.live, 0);
    if (memory.requests < n) {
      assert_int_equal(err, MBG_OK);
      assert_int_equal(in_steps, 0);
      assert_true(n > 6);
      break;
    }
    assert_int_equal(err, MBG_ERROR_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_converge_with_their_order),
      cmocka_unit_test(error_follows_the_tolerance),
      cmocka_unit_test(longest_step_is_kept),
      cmocka_unit_test(shortest_step_is_taken),
      cmocka_unit_test(only_controlled_components_count),
      cmocka_unit_test(breaks_are_met),
      cmocka_unit_test(tiny_segments),
      cmocka_unit_test(empty_runs),
      cmocka_unit_test(no_components),
      cmocka_unit_test(refused_steps_are_retried),
      cmocka_unit_test(walls_stop_a_run),
      cmocka_unit_test(failures_name_time_and_component),
      cmocka_unit_test(runs_without_headway_end),
      cmocka_unit_test(bad_options_are_named),
      cmocka_unit_test(bad_runs_are_named),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
