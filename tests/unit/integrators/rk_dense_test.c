/* Dense output, stored solutions, repeated runs. */
#include "unit/integrators/rk_case.h"

#include <string.h>

/* ---------------------------------------------------------------------- order */

/* Largest error of the dense output of one step of length h from the exact solution at t. */
static double error_inside(const mbg__rk_method *m, double t, double h) {
  mbg_context *ctx = new_context(NULL);
  mbg__rk_options opt = mbg__rk_options_default();
  opt.dense = true;
  opt.fixed = fabs(h);
  mbg__rk *rk = NULL;
  const mbg__rk_run run = {.rhs = kepler_rhs, .t0 = t, .t1 = t + h};
  double y[4], exact[4], most = 0;
  kepler_exact(t, y);
  assert_int_equal(mbg__rk_create(ctx, 4, m, &opt, &rk), MBG_OK);
  assert_int_equal(mbg__rk_start(ctx, rk, &run, y), MBG_OK);
  assert_int_equal(mbg__rk_step(ctx, rk), 1);
  for (int i = 1; i < 20; i++) {
    mbg__rk_interpolate(m, 4, mbg__rk_last(rk)->r, i / 20.0, 0, 4, y, NULL);
    kepler_exact(t + h * i / 20.0, exact);
    most = fmax(most, distance(y, exact, 4));
  }
  mbg__rk_destroy(rk);
  mbg_context_destroy(ctx);
  return most;
}

/* error h^(q+1) inside a step */
static void dense_output_has_its_order(void **state) {
  (void)state;
  const double coarse[METHODS] = {0.02, 0.04, 0.2};
  for (int q = 0; q < METHODS; q++) {
    for (int backward = 0; backward < 2; backward++) {
      const double h = backward ? -coarse[q] : coarse[q];
      const double slope = log2(error_inside(all_methods[q], 1, h) / error_inside(all_methods[q], 1, h / 2));
      print_message("%s: dense output, local order %.2f\n", all_methods[q]->key, slope);
      assert_true(fabs(slope - all_methods[q]->dense_order - 1) < 0.35);
    }
  }
}

/* Dense output on request has the bits of that made at once, and a run that asks for none the same steps, with fewer
   evaluations where it costs some. */
static void late_dense_output(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    mbg_context *ctx = new_context(NULL);
    const mbg__rk_method *m = all_methods[q];
    const mbg__rk_run run = {.rhs = kepler_rhs, .t0 = 1, .t1 = 1.5};
    mbg__rk *rk[2];
    double y[4];
    kepler_exact(1, y);
    for (int late = 0; late < 2; late++) {
      mbg__rk_options opt = mbg__rk_options_default();
      opt.dense = true;
      opt.late = late;
      opt.fixed = 0.1;
      assert_int_equal(mbg__rk_create(ctx, 4, m, &opt, &rk[late]), MBG_OK);
      assert_int_equal(mbg__rk_start(ctx, rk[late], &run, y), MBG_OK);
    }
    for (int i = 0; i < 5; i++) {
      assert_int_equal(mbg__rk_step(ctx, rk[0]), 1);
      assert_int_equal(mbg__rk_step(ctx, rk[1]), 1);
      const mbg__rk_record *a = mbg__rk_last(rk[0]), *b = mbg__rk_last(rk[1]);
      assert_null(b->r);
      assert_memory_equal(a->y1, b->y1, 4 * sizeof(double));
      if (i % 2) {
        assert_int_equal(mbg__rk_complete(ctx, rk[1]), MBG_OK);
        assert_memory_equal(a->r, b->r, (size_t)m->ndense * 4 * sizeof(double));
        assert_memory_equal(a->k, b->k, (size_t)m->nextended * 4 * sizeof(double));
      }
    }
    assert_int_equal(mbg__rk_count(rk[0])->evaluations - mbg__rk_count(rk[1])->evaluations,
                     3 * (m->nextended - m->nstage - 1));
    mbg__rk_destroy(rk[0]);
    mbg__rk_destroy(rk[1]);
    mbg_context_destroy(ctx);
  }
}

/* the arguments of the stages, as the right-hand side gets them */
static int argument_count;
static double arguments[MBG__RK_STAGES][4], argument_times[MBG__RK_STAGES];

static int argument_rhs(void *user, double t, const double *y, double *dydt) {
  if (argument_count < MBG__RK_STAGES) {
    memcpy(arguments[argument_count], y, sizeof arguments[0]);
    argument_times[argument_count++] = t;
  }
  return kepler_rhs(user, t, y, dydt);
}

static void arguments_of_stages(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    mbg_context *ctx = new_context(NULL);
    const mbg__rk_method *m = all_methods[q];
    const mbg__rk_run run = {.rhs = argument_rhs, .t0 = 1, .t1 = 1.1};
    mbg__rk_options opt = mbg__rk_options_default();
    mbg__rk *rk;
    double y[4];
    opt.dense = opt.late = true;
    opt.fixed = 0.1;
    kepler_exact(1, y);
    argument_count = 0;
    assert_int_equal(mbg__rk_create(ctx, 4, m, &opt, &rk), MBG_OK);
    assert_int_equal(mbg__rk_start(ctx, rk, &run, y), MBG_OK);
    assert_int_equal(mbg__rk_step(ctx, rk), 1);
    for (int i = 0; i < m->nstage; i++) {
      assert_true(mbg__rk_stage(rk, i, y) == argument_times[i]);
      assert_memory_equal(y, arguments[i], sizeof y);
    }
    mbg__rk_destroy(rk);
    mbg_context_destroy(ctx);
  }
}

/* ---------------------------------------------------------------------- store */

typedef struct {
  mbg_context *ctx;
  mbg__rk *rk;
  mbg__rk_dense s;
} stored;

static stored store(const mbg__rk_method *m, int n, int nkept, const mbg__rk_run *run, double tol, double *y) {
  stored out = {.ctx = new_context(NULL)};
  mbg__rk_options opt = mbg__rk_options_default();
  opt.rtol = opt.atol = tol;
  opt.fixed = m->error_order == 0 ? pow(tol, 0.25) / 4 : 0;
  opt.dense = true;
  mbg__rk_dense_init(&out.s, m, nkept);
  assert_true(mbg__rk_dense_bytes(&out.s) == 0);
  assert_int_equal(mbg__rk_create(out.ctx, n, m, &opt, &out.rk), MBG_OK);
  assert_int_equal(mbg__rk_integrate(out.ctx, out.rk, run, y, &out.s), MBG_OK);
  return out;
}

static void release(stored *s) {
  mbg__rk_dense_free(mbg__context_allocator(s->ctx), &s->s);
  mbg__rk_destroy(s->rk);
  mbg_context_destroy(s->ctx);
}

/* Between the nodes the error is that at the nodes, within a factor, over 1000 times and both directions. */
static void stored_solution_is_as_good_as_its_nodes(void **state) {
  (void)state;
  for (int q = 0; q < METHODS; q++) {
    for (int backward = 0; backward < 2; backward++) {
      for (double tol = 1e-6; tol > (q == 0 ? 5e-7 : 5e-13); tol *= 1e-3) {
        const mbg__rk_run run = {.rhs = kepler_rhs, .t0 = backward ? 12 : 0, .t1 = backward ? 0 : 12};
        double y[4], exact[4], at_nodes = 0, between = 0, rate_error = 0;
        kepler_exact(run.t0, y);
        stored s = store(all_methods[q], 4, 4, &run, tol, y);
        for (int i = 0; i < s.s.nstep; i++) {
          mbg__rk_dense_eval(&s.s, s.s.t[i], backward ? MBG__RK_LEFT : MBG__RK_RIGHT, 0, 4, y, NULL);
          kepler_exact(s.s.t[i], exact);
          at_nodes = fmax(at_nodes, distance(y, exact, 4));
        }
        for (int i = 0; i <= 1000; i++) {
          double rate[4], f[4];
          mbg__rk_dense_eval(&s.s, 0.012 * i, MBG__RK_RIGHT, 0, 4, y, rate);
          kepler_exact(0.012 * i, exact);
          kepler_rhs(NULL, 0, exact, f);
          between = fmax(between, distance(y, exact, 4));
          rate_error = fmax(rate_error, distance(rate, f, 4));
        }
        print_message("%s tol %.0e, %d steps: nodes %.1e, between %.1e, derivative %.1e\n", all_methods[q]->key, tol,
                      s.s.nstep, at_nodes, between, rate_error);
        assert_true(between < 3 * at_nodes + 30 * tol);
        assert_true(rate_error < 1000 * (at_nodes + tol)); /* one order less */
        release(&s);
      }
    }
  }
}

/* Only leading components, only some of them, clamped outside, equal bits again. */
static void parts_of_a_solution(void **state) {
  (void)state;
  const mbg__rk_run run = {.rhs = kepler_rhs, .t0 = 0, .t1 = 6};
  double y[4], part[2], end[4], again[2];
  kepler_exact(0, y);
  stored all = store(&mbg__rk_dop853, 4, 4, &run, 1e-9, y);
  kepler_exact(0, end);
  stored some = store(&mbg__rk_dop853, 4, 3, &run, 1e-9, end);
  for (int i = 0; i <= 100; i++) {
    mbg__rk_dense_eval(&all.s, 0.06 * i, MBG__RK_LEFT, 0, 4, y, NULL);
    mbg__rk_dense_eval(&some.s, 0.06 * i, MBG__RK_LEFT, 1, 2, part, NULL);
    mbg__rk_dense_eval(&all.s, 0.06 * i, MBG__RK_LEFT, 1, 2, again, NULL);
    assert_memory_equal(part, y + 1, sizeof part);
    assert_memory_equal(again, y + 1, sizeof again);
  }
  mbg__rk_dense_eval(&all.s, 7, MBG__RK_RIGHT, 0, 4, y, NULL);
  assert_close_array(y, end, 4, 1e-15); /* y0 + (y1 - y0) */
  mbg__rk_dense_eval(&all.s, -1, MBG__RK_LEFT, 0, 4, y, NULL);
  kepler_exact(0, end);
  assert_close_array(y, end, 4, 0);
  assert_true(mbg__rk_dense_bytes(&all.s) >= (double)sizeof(double) * (all.s.nstep * 33 + 1));
  assert_true(mbg__rk_dense_bytes(&some.s) < mbg__rk_dense_bytes(&all.s));
  release(&all);
  release(&some);
}

/* ---------------------------------------------------------------------- jumps */

/* y' = slope of the segment; y += 1 at each break */
typedef struct {
  double slope;
  int count;
} steps_case;

static int slope_rhs(void *user, double t, const double *y, double *dydt) {
  (void)t;
  (void)y;
  dydt[0] = ((steps_case *)user)->slope;
  return 0;
}

static int slope_segment(void *user, double ta, double tb, double *y) {
  steps_case *c = user;
  c->slope = fmin(ta, tb); /* 0, 1, 2 */
  y[0] += c->count++ > 0 ? 1 : 0;
  return 0;
}

static void limits_at_breaks(void **state) {
  (void)state;
  const double breaks[] = {1, 2};
  for (int q = 0; q < METHODS; q++) {
    for (int backward = 0; backward < 2; backward++) {
      steps_case c = {0};
      const mbg__rk_run run = {slope_rhs, slope_segment, &c, backward ? 3 : 0, backward ? 0 : 3, 2, breaks, 0, NULL};
      double y = 0, left, right, left_rate, right_rate;
      stored s = store(all_methods[q], 1, 1, &run, 1e-9, &y);
      for (int b = 1; b <= 2; b++) {
        mbg__rk_dense_eval(&s.s, b, MBG__RK_LEFT, 0, 1, &left, &left_rate);
        mbg__rk_dense_eval(&s.s, b, MBG__RK_RIGHT, 0, 1, &right, &right_rate);
        assert_close(left_rate, b - 1, 1e-11); /* rounding over steps of 1e-3 */
        assert_close(right_rate, b, 1e-11);
        assert_close(right - left, backward ? -1 : 1, 1e-12);
      }
      release(&s);
    }
  }
}

/* ---------------------------------------------------------------------- repeated runs */

/* The repetition has the bits of the run, dense output included, and needs no error test. */
static void frozen_runs_repeat_the_bits(void **state) {
  (void)state;
  const double breaks[] = {1, 2.5};
  for (int q = 0; q < METHODS; q++) {
    for (int backward = 0; backward < 2; backward++) {
      mbg__rk_run run = {
          .rhs = kepler_rhs, .t0 = backward ? 6 : 0, .t1 = backward ? 0 : 6, .nbreak = 2, .breaks = breaks};
      double y[4], again[4];
      kepler_exact(run.t0, y);
      stored s = store(all_methods[q], 4, 4, &run, 1e-8, y);
      mbg__rk_dense copy;
      mbg__rk_dense_init(&copy, all_methods[q], 4);
      run.nfrozen = s.s.nstep;
      run.frozen = s.s.t;
      kepler_exact(run.t0, again);
      assert_int_equal(mbg__rk_integrate(s.ctx, s.rk, &run, again, &copy), MBG_OK);
      assert_memory_equal(again, y, sizeof y);
      assert_int_equal(copy.nstep, s.s.nstep);
      assert_memory_equal(copy.t, s.s.t, sizeof *copy.t * (size_t)(copy.nstep + 1));
      assert_memory_equal(copy.r, s.s.r, sizeof *copy.r * (size_t)(copy.nstep * 4 * all_methods[q]->ndense));
      assert_int_equal(mbg__rk_count(s.rk)->rejected, 0);
      mbg__rk_dense_free(mbg__context_allocator(s.ctx), &copy);
      release(&s);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(late_dense_output),           cmocka_unit_test(arguments_of_stages),
      cmocka_unit_test(dense_output_has_its_order),  cmocka_unit_test(stored_solution_is_as_good_as_its_nodes),
      cmocka_unit_test(parts_of_a_solution),         cmocka_unit_test(limits_at_breaks),
      cmocka_unit_test(frozen_runs_repeat_the_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
