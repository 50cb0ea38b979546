/* Workspace, segments and steps. */
#include "integrators/rk_internal.h"
#include "math/vec.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------------- options, workspace */

mbg__rk_options mbg__rk_options_default(void) {
  return (mbg__rk_options){.rtol = 1e-8, .atol = 1e-10, .max_steps = 1000000};
}

static bool not_negative(double x) { return x >= 0 && isfinite(x); }

static int check_tolerances(mbg_context *ctx, const mbg__rk_options *opt) {
  const double rtol_min = 100 * DBL_EPSILON;
  if (!not_negative(opt->rtol) || (opt->rtol > 0 && opt->rtol < rtol_min)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "relative tolerance %g: must be 0 or at least %.2g, the limit of doubles",
                     opt->rtol, rtol_min);
  }
  if (!not_negative(opt->atol)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "absolute tolerance %g: must be a number of at least 0", opt->atol);
  }
  if (opt->rtol == 0 && opt->atol == 0 && !opt->atol_vector) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "tolerances are 0: one of relative and absolute must be positive");
  }
  return MBG_OK;
}

static int check_options(mbg_context *ctx, int n, const mbg__rk_method *method, const mbg__rk_options *opt) {
  if (!not_negative(opt->h0) || !not_negative(opt->hmax) || !not_negative(opt->fixed)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "step sizes (first %g, longest %g, fixed %g): must not be negative", opt->h0,
                     opt->hmax, opt->fixed);
  }
  if (opt->ncontrol < 0 || opt->ncontrol > n) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%d components under error control: must be 0 to %d", opt->ncontrol, n);
  }
  if (opt->max_steps < 1) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "at most %ld steps: must be at least 1", opt->max_steps);
  }
  return method->error_order > 0 && opt->fixed == 0 ? check_tolerances(ctx, opt) : MBG_OK;
}

int mbg__rk_create(mbg_context *ctx, int n, const mbg__rk_method *method, const mbg__rk_options *opt, mbg__rk **out) {
  *out = NULL;
  const int err = check_options(ctx, n, method, opt);
  if (err < 0) {
    return err;
  }
  mbg__rk *rk = mbg__alloc_zero(ctx, 1, sizeof *rk);
  if (!rk) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&rk->arena, mbg__context_allocator(ctx));
  rk->method = method;
  rk->opt = *opt;
  rk->n = n;
  rk->ncontrol = opt->ncontrol > 0 ? opt->ncontrol : n;
  rk->y = MBG_TAKE_RAW(&rk->arena, real, n);
  rk->y1 = MBG_TAKE_RAW(&rk->arena, real, n);
  rk->Y = MBG_TAKE_RAW(&rk->arena, real, (size_t)n * (opt->late ? (size_t)method->nstage : 1));
  rk->k = MBG_TAKE_RAW(&rk->arena, real, (size_t)n * (size_t)method->nextended);
  rk->r = MBG_TAKE_RAW(&rk->arena, real, (size_t)n * (size_t)method->ndense);
  if (!rk->y || !rk->y1 || !rk->Y || !rk->k || !rk->r) {
    mbg__rk_destroy(rk);
    return mbg__fail_memory(ctx);
  }
  *out = rk;
  return MBG_OK;
}

void mbg__rk_destroy(mbg__rk *rk) {
  if (rk) {
    const mbg_allocator allocator = rk->arena.allocator;
    mbg__arena_destroy(&rk->arena);
    allocator.release(allocator.user, rk);
  }
}

const mbg__rk_record *mbg__rk_last(const mbg__rk *rk) { return &rk->last; }
const mbg__rk_counts *mbg__rk_count(const mbg__rk *rk) { return &rk->count; }
const mbg__rk_failure *mbg__rk_why(const mbg__rk *rk) { return &rk->why; }

/* ---------------------------------------------------------------------- start */

static int check_run(mbg_context *ctx, const mbg__rk *rk, const mbg__rk_run *run) {
  if (!isfinite(re(run->t0)) || !isfinite(re(run->t1))) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "time from %g to %g: must be finite", re(run->t0), re(run->t1));
  }
  for (int i = 0; i < run->nbreak; i++) {
    if (isnan(run->breaks[i]) || (i > 0 && run->breaks[i] < run->breaks[i - 1])) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "break times must ascend: %g is number %d", run->breaks[i], i + 1);
    }
  }
  if (run->frozen) {
    if (run->frozen[0] != re(run->t0) || run->frozen[run->nfrozen] != re(run->t1)) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "steps from %g to %g cannot be repeated from %g to %g", run->frozen[0],
                       run->frozen[run->nfrozen], re(run->t0), re(run->t1));
    }
  } else if (rk->method->error_order == 0 && rk->opt.fixed == 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s has no error control: give a fixed step", rk->method->name);
  }
  return MBG_OK;
}

int mbg__rk_start(mbg_context *ctx, mbg__rk *rk, const mbg__rk_run *run, const real *y) {
  const int err = check_run(ctx, rk, run);
  if (err < 0) {
    return err;
  }
  rk->run = *run;
  rk->dir = re(run->t1) < re(run->t0) ? -1 : 1;
  rk->controlled = !run->frozen && rk->opt.fixed == 0;
  rk->t = rk->ta = rk->tb = run->t0;
  rk->next = 0;
  rk->h = rk->opt.h0;
  rk->worst = -1;
  rk->ahead = false;
  rk->refused = 0;
  rk->mark_t = re(run->t0);
  rk->mark_attempts = 0;
  rk->count = (mbg__rk_counts){0};
  rk->why = (mbg__rk_failure){.t = re(run->t0), .component = -1};
  vn_copy(rk->n, rk->y, y);
  rk->last = (mbg__rk_record){.t0 = run->t0, .t1 = run->t0, .y0 = rk->y, .y1 = rk->y};
  return MBG_OK;
}

/* ---------------------------------------------------------------------- failures */

static int stop(mbg__rk *rk, mbg__rk_reason reason, double h) {
  rk->why = (mbg__rk_failure){.reason = reason, .t = re(rk->t), .h = h};
  rk->why.component = reason == MBG__RK_REFUSED || reason == MBG__RK_FATAL ? -1 : rk->worst;
  return MBG_ERROR_CONVERGENCE;
}

/* Files why no step of length h or longer is possible from t. */
static int fail_step(mbg_context *ctx, mbg__rk *rk, mbg__rk_reason reason, double h) {
  const int status = stop(rk, reason, h);
  const double t = mbg__time_shown(re(rk->t));
  const char *advice = rk->controlled || rk->run.frozen || h == 0 ? "" : "; smaller steps or error control may help";
  switch (reason) {
  case MBG__RK_NOT_FINITE:
    return mbg__fail(ctx, status,
                     "integration stopped at t = %.9g, step %.3g: derivative of component %d is not finite%s", t, h,
                     rk->worst, advice);
  case MBG__RK_REFUSED:
    return mbg__fail(ctx, status, "integration stopped at t = %.9g, step %.3g: right-hand side cannot be evaluated%s",
                     t, h, advice);
  case MBG__RK_TOO_MANY:
    return mbg__fail(ctx, status,
                     "integration stopped at t = %.9g, step %.3g: more than %ld steps (largest error in component %d); "
                     "loosen the tolerances, raise the limit, or use a method for stiff problems",
                     t, h, rk->opt.max_steps, rk->worst);
  case MBG__RK_NO_HEADWAY:
    return mbg__fail(
        ctx, status,
        "integration stopped at t = %.9g, step %.3g: no headway in %d attempts (largest error in component "
        "%d); the solution is singular here, or the tolerances are too tight",
        t, h, rk->refused >= MBG__RK_REFUSALS ? rk->refused : MBG__RK_WINDOW, rk->worst);
  default:
    return mbg__fail(ctx, status,
                     "integration stopped at t = %.9g: step %.3g is too small (largest error in component %d); the "
                     "solution is singular here, jumps without a break, or the tolerances are too tight",
                     t, h, rk->worst);
  }
}

/* ---------------------------------------------------------------------- evaluations */

int mbg__rk_evaluate(mbg__rk *rk, real t, const real *y, real *k) {
  rk->count.evaluations++;
  const int status = rk->run.rhs(rk->run.user, t, y, k);
  if (status != 0) {
    return status < 0 ? status : MBG__RK_REFUSED;
  }
  const int bad = mbg__rk_first_bad(rk->opt.pool, rk->n, k);
  if (bad >= 0) {
    rk->worst = bad;
    return MBG__RK_NOT_FINITE;
  }
  return 0;
}

real mbg__rk_stage_time(const mbg__rk_method *method, int i, real t0, real t1) {
  if (method->c[i] == 1) {
    return t1;
  }
  const real t = t0 + method->c[i] * (t1 - t0);
  const bool beyond = re(t0) < re(t1) ? re(t) > re(t1) : re(t) < re(t1);
  return beyond ? t1 : t;
}

real mbg__rk_argument(const mbg__rk_method *method, int n, int i, real t0, real t1, const real *y0, const real *k,
                      real *Y) {
  mbg__rk_combine(NULL, n, Y, y0, t1 - t0, i, method->A[i], k);
  return mbg__rk_stage_time(method, i, t0, t1);
}

real mbg__rk_stage(const mbg__rk *rk, int i, real *Y) {
  const mbg__rk_record *last = &rk->last;
  if (rk->opt.late && i > 0 && i < rk->method->nstage) {
    vn_copy(rk->n, Y, rk->Y + (size_t)i * (size_t)rk->n);
    return mbg__rk_stage_time(rk->method, i, last->t0, last->t1);
  }
  return mbg__rk_argument(rk->method, rk->n, i, last->t0, last->t1, last->y0, last->k, Y);
}

/* Y = y + h sum_j<i a_ij k_j,  k_i = f(t + c_i h, Y) */
static int stage(mbg__rk *rk, int i, real t1, real *Y) {
  const mbg__rk_method *m = rk->method;
  mbg__rk_combine(rk->opt.pool, rk->n, Y, rk->y, t1 - rk->t, i, m->A[i], rk->k);
  return mbg__rk_evaluate(rk, mbg__rk_stage_time(m, i, rk->t, t1), Y, rk->k + (size_t)i * (size_t)rk->n);
}

/* Stages from ... to-1; the argument of stage s is y1. 0, or why not. */
static int stages(mbg__rk *rk, int from, int to, real t1) {
  for (int i = from; i < to; i++) {
    real *const Y = rk->opt.late ? rk->Y + (size_t)i * (size_t)rk->n : rk->Y;
    const int status = stage(rk, i, t1, i == rk->method->nstage ? rk->y1 : Y);
    if (status != 0) {
      return status;
    }
  }
  return 0;
}

/* Error test; y1 is computed first where stage s did not do so. */
static int test_error(mbg__rk *rk, real t1) {
  const mbg__rk_method *m = rk->method;
  if (!rk->controlled) {
    return 0;
  }
  if (!m->error_at_end) {
    mbg__rk_combine(rk->opt.pool, rk->n, rk->y1, rk->y, t1 - rk->t, m->nstage, m->A[m->nstage], rk->k);
  }
  mbg__rk_estimate(rk, re(t1 - rk->t));
  if (rk->error > 1 && fabs(re(t1 - rk->t)) <= 1.001 * rk->opt.hmin) {
    rk->count.forced++;
    return 0;
  }
  return rk->error <= 1 ? 0 : MBG__RK_TOO_SMALL;
}

/* Tries a step to t1: 0 when it is good, a positive mbg__rk_reason why not, or a fatal status. */
static int attempt(mbg__rk *rk, real t1) {
  const mbg__rk_method *m = rk->method;
  const int tested = m->nstage + (m->error_at_end ? 1 : 0);
  int status = stages(rk, 1, tested, t1);
  if (status == 0) {
    status = test_error(rk, t1);
  }
  if (status == 0) {
    status = stages(rk, tested, rk->opt.dense && !rk->opt.late ? m->nextended : m->nstage + 1, t1);
  }
  return status;
}

int mbg__rk_complete(mbg_context *ctx, mbg__rk *rk) {
  const mbg__rk_method *m = rk->method;
  mbg__rk_record *last = &rk->last;
  for (int i = m->nstage + 1; !last->r && i < m->nextended; i++) {
    const real t = mbg__rk_stage(rk, i, rk->Y);
    const int status = mbg__rk_evaluate(rk, t, rk->Y, rk->k + (size_t)i * (size_t)rk->n);
    if (status != 0) {
      return status < 0 ? status : fail_step(ctx, rk, (mbg__rk_reason)status, re(last->t1 - last->t0));
    }
  }
  if (!last->r) {
    mbg__rk_interpolant_parts(rk->opt.pool, m, rk->n, last->t1 - last->t0, last->y0, last->y1, rk->k, rk->opt.parts,
                              rk->r);
    last->r = rk->r;
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- segments */

/* The next break in the direction of the run, or t1. */
static real segment_end(mbg__rk *rk) {
  const mbg__rk_run *run = &rk->run;
  for (; rk->next < run->nbreak; rk->next++) {
    const double b = run->breaks[rk->dir > 0 ? rk->next : run->nbreak - 1 - rk->next];
    if ((b - re(rk->t)) * rk->dir > 0) {
      return (re(run->t1) - b) * rk->dir > 0 ? b : run->t1;
    }
  }
  return run->t1;
}

/* Length of the first step of a segment. */
static int first_length(mbg_context *ctx, mbg__rk *rk) {
  const int mark = mbg__message_mark(ctx);
  rk->error_old = 0;
  rk->h = rk->opt.h0;
  const int err = rk->count.steps > 0 || rk->h == 0 ? mbg__rk_first_step(rk, &rk->h) : MBG_OK;
  if (err == MBG_OK) {
    mbg__message_rewind(ctx, mark);
  }
  return err;
}

static int begin_segment(mbg_context *ctx, mbg__rk *rk) {
  int err = MBG_OK;
  rk->ta = rk->t;
  rk->tb = segment_end(rk);
  rk->done = 0;
  rk->ahead = false;
  if (rk->run.segment) {
    MBG_TRY(rk->run.segment(rk->run.user, re(rk->ta), re(rk->tb), rk->y));
  }
  MBG_TRY(mbg__rk_evaluate(rk, rk->t, rk->y, rk->k));
  if (err > 0) {
    return fail_step(ctx, rk, (mbg__rk_reason)err, 0);
  }
  if (rk->controlled) {
    MBG_TRY(first_length(ctx, rk));
  } else if (!rk->run.frozen) {
    const double count = ceil(fabs(re(rk->tb - rk->ta)) / rk->opt.fixed * (1 - 1e-9));
    rk->nfixed = count < 1e15 ? (long)fmax(count, 1) : (long)1e15; /* max_steps ends such a run */
  }
done:
  if (err < 0) {
    stop(rk, MBG__RK_FATAL, 0);
  }
  return err;
}

/* ---------------------------------------------------------------------- steps */

/* End of a controlled step: the last steps of a segment share the time that is left. */
static real controlled_end(const mbg__rk *rk) {
  const double left = fabs(re(rk->tb - rk->t));
  const double h = rk->opt.hmax > 0 ? fmin(rk->h, rk->opt.hmax) : rk->h;
  if (h >= left * (1 - 1e-12)) {
    return rk->tb;
  }
  return re(rk->t) + rk->dir * (2 * h > left ? left / 2 : h);
}

/* End of the next attempt. */
static int next_end(mbg_context *ctx, const mbg__rk *rk, real *t1) {
  if (rk->run.frozen) {
    const double end = rk->run.frozen[rk->count.steps + 1];
    *t1 = end == re(rk->run.t1) ? rk->run.t1 : end;
    if ((re(rk->tb) - end) * rk->dir < 0) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "steps cannot be repeated: the break at t = %.9g is not one of their ends",
                       re(rk->tb));
    }
  } else if (rk->controlled) {
    *t1 = controlled_end(rk);
  } else {
    const double part = (double)(rk->done + 1) / (double)rk->nfixed;
    *t1 = rk->done + 1 == rk->nfixed ? rk->tb : rk->ta + (rk->tb - rk->ta) * part;
  }
  return MBG_OK;
}

/* Shortest step that rounding of t leaves meaning to; a shorter one may only end a segment. */
static bool too_small(const mbg__rk *rk, real t1) {
  const double span = fabs(re(rk->run.t1 - rk->run.t0)), h = re(t1 - rk->t);
  const double hmin = rk->controlled ? 16 * DBL_EPSILON * fmax(fabs(re(rk->t)), 1e-6 * span) : 0;
  return h * rk->dir <= 0 || (re(t1) != re(rk->tb) && fabs(h) < hmin);
}

/* Takes the attempt: y1 becomes y; stage s will be the first one of the next step. */
static void accept(mbg__rk *rk, real t1, bool retried) {
  const real h = t1 - rk->t;
  const bool dense = rk->opt.dense && !rk->opt.late;
  if (dense) {
    mbg__rk_interpolant_parts(rk->opt.pool, rk->method, rk->n, h, rk->y, rk->y1, rk->k, rk->opt.parts, rk->r);
  }
  if (rk->controlled) {
    mbg__rk_control(rk, fabs(re(h)), retried);
  }
  real *const y0 = rk->y;
  rk->y = rk->y1;
  rk->y1 = y0;
  rk->ahead = true;
  rk->last = (mbg__rk_record){.t0 = rk->t,
                              .t1 = t1,
                              .y0 = y0,
                              .y1 = rk->y,
                              .r = dense ? rk->r : NULL,
                              .k = rk->opt.dense ? rk->k : NULL,
                              .first = rk->done == 0};
  rk->t = t1;
  rk->done++;
  rk->count.steps++;
}

/* After a refused attempt: counts it and shortens the step, or fails when it cannot be shorter. */
static int refuse(mbg_context *ctx, mbg__rk *rk, double h, mbg__rk_reason reason) {
  *(reason == MBG__RK_TOO_SMALL ? &rk->count.rejected : &rk->count.failed) += 1;
  rk->refused++;
  if (!rk->controlled) {
    return fail_step(ctx, rk, reason, h);
  }
  mbg__rk_reduce(rk, fabs(h), reason);
  real t1;
  const int err = next_end(ctx, rk, &t1);
  return err == MBG_OK && too_small(rk, t1) ? fail_step(ctx, rk, reason, h) : err;
}

/* Does a controlled run advance? Looked at every MBG__RK_WINDOW attempts. */
static bool stands_still(mbg__rk *rk) {
  const long attempts = rk->count.steps + rk->count.rejected + rk->count.failed;
  if (!rk->controlled) {
    return false;
  }
  if (rk->refused >= MBG__RK_REFUSALS) {
    return true;
  }
  if (attempts < rk->mark_attempts + MBG__RK_WINDOW) {
    return false;
  }
  const bool still = fabs(re(rk->t) - rk->mark_t) < 1e-8 * fabs(re(rk->run.t1 - rk->run.t0));
  rk->mark_t = re(rk->t);
  rk->mark_attempts = attempts;
  return still;
}

static int make_step(mbg_context *ctx, mbg__rk *rk) {
  int err = MBG_OK;
  const int mark = mbg__message_mark(ctx);
  if (rk->ahead) {
    mbg__rk_copy(rk->opt.pool, rk->n, rk->k, mbg__rk_rate(rk));
    rk->ahead = false;
  }
  for (bool retried = false;; retried = true) {
    const mbg__rk_counts *c = &rk->count;
    real t1;
    MBG_TRY(next_end(ctx, rk, &t1));
    if (too_small(rk, t1)) {
      return fail_step(ctx, rk, MBG__RK_TOO_SMALL, re(t1 - rk->t));
    }
    if (!rk->run.frozen && c->steps + c->rejected + c->failed >= rk->opt.max_steps) {
      return fail_step(ctx, rk, MBG__RK_TOO_MANY, re(t1 - rk->t));
    }
    if (stands_still(rk)) {
      return fail_step(ctx, rk, MBG__RK_NO_HEADWAY, re(t1 - rk->t));
    }
    MBG_TRY(attempt(rk, t1));
    if (err == 0) {
      rk->refused = 0;
      accept(rk, t1, retried);
      return 1;
    }
    const mbg__rk_reason reason = (mbg__rk_reason)err;
    err = refuse(ctx, rk, re(t1 - rk->t), reason);
    if (err < 0) {
      return err;
    }
    mbg__message_rewind(ctx, mark);
  }
done:
  stop(rk, MBG__RK_FATAL, rk->h * rk->dir);
  return err;
}

const real *mbg__rk_rate(const mbg__rk *rk) {
  return rk->k + (rk->ahead ? (size_t)rk->method->nstage * (size_t)rk->n : 0);
}

/* a segment that has ended begins anew anyway */
void mbg__rk_limit(mbg__rk *rk, double h) { rk->opt.hmax = h; }

int mbg__rk_rebase(mbg_context *ctx, mbg__rk *rk, const real *y, const real *dydt) {
  mbg__rk_copy(rk->opt.pool, rk->n, rk->y, y);
  if (dydt) {
    mbg__rk_copy(rk->opt.pool, rk->n, rk->k, dydt);
    rk->ahead = false;
  } else if (re(rk->t) != re(rk->tb)) {
    rk->ahead = false;
    const int status = mbg__rk_evaluate(rk, rk->t, rk->y, rk->k);
    return status > 0 ? fail_step(ctx, rk, (mbg__rk_reason)status, 0) : status;
  }
  return MBG_OK;
}

int mbg__rk_step(mbg_context *ctx, mbg__rk *rk) {
  if (re(rk->t) == re(rk->run.t1)) {
    return 0;
  }
  if (re(rk->t) == re(rk->tb)) {
    const int err = begin_segment(ctx, rk);
    if (err < 0) {
      return err;
    }
  }
  return make_step(ctx, rk);
}

int mbg__rk_integrate(mbg_context *ctx, mbg__rk *rk, const mbg__rk_run *run, real *y, mbg__rk_dense *s) {
  assert(!s || rk->opt.dense);
  if (s) {
    mbg__rk_dense_clear(s);
  }
  int err = mbg__rk_start(ctx, rk, run, y);
  if (err < 0) {
    return err;
  }
  while ((err = mbg__rk_step(ctx, rk)) > 0) {
    if (s) {
      MBG_TRY(mbg__rk_dense_add(ctx, s, rk));
    }
  }
done:
  vn_copy(rk->n, y, rk->last.y1);
  return err;
}
