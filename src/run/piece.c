/* Pieces of a run: from a state to a time, and the exact adjoint from the end of a piece to its start. */
#include "event/event.h"
#include "run/run_internal.h"
#include "trajectory/rank_watch.h"

#include <string.h>

enum { WARM_STEPS = 5 };

int mbg__run_least_steps(const mbg_run *run) { return run->formulation->supports & MBG__WARM ? WARM_STEPS : 1; }

int mbg__run_first(mbg_context *ctx, mbg_run *run, mbg__run_state *out) {
  const mbg_model *m = run->m;
  int err = MBG_OK;
  if (run->accuracy > 0 && !run->started) {
    MBG_TRY(mbg_run_simulate(ctx, run));
  } else if (!run->simulated) {
    MBG_TRY(run->refused ? mbg__fail(ctx, MBG_ERROR_INPUT, "the parameters of the run were refused; set others")
                         : mbg__start_solve(ctx, run->start, !run->started));
  }
  const mbg__start_result *start = mbg__start_result_of(run->start);
  out->t = re(start->t);
  memcpy(out->H, start->H, (size_t)m->nbody * sizeof(*out->H));
  memcpy(out->v, start->v, (size_t)m->nw * sizeof(real));
  memcpy(out->turns, start->turns, (size_t)m->nturn * sizeof(int));
  mbg__events_marks_copy(m, run->marks, out->marks);
done:
  return err;
}

static void take_steps(const mbg_run *run, mbg_run *other) {
  other->accuracy = 0;
  other->step = other->plan.step = run->plan.step;
  other->relative = other->plan.relative = run->plan.relative;
  other->absolute = other->plan.absolute = run->plan.absolute;
  other->plan.tolerance = run->plan.tolerance;
}

int mbg__run_piece(mbg_context *ctx, const mbg_run *run, const mbg_model *plain, const mbg__run_state *from, double end,
                   mbg_run **out) {
  mbg_run_options options = run->options;
  mbg_run *other = NULL;
  int err = MBG_OK;
  options.formulation = run->formulation->key;
  options.end = end;
  options.interval = 0;
  options.all_signals = options.keep_poses = false;
  MBG_TRY(mbg_run_create(ctx, plain, &options, &other));
  take_steps(run, other);
  MBG_TRY(mbg__run_set_parameters(ctx, other, run->p));
  mbg__run_give(other, from);
  MBG_TRY(mbg_run_simulate(ctx, other));
  if (mbg_run_partial(other)) {
    err = mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "the run was interrupted");
  }
done:
  if (err < 0) {
    mbg_run_destroy(other);
    other = NULL;
  }
  *out = other;
  return err;
}

/* ---------------------------------------------------------------------- the same motion again */

typedef struct {
  double end, t;
} stop;

static void passed(void *user, double t) { ((stop *)user)->t = t; }

static bool stops(void *user) {
  const stop *s = user;
  return s->t >= s->end;
}

int mbg__run_again(mbg_context *ctx, const mbg_run *run, const mbg_model *model, mbg_run **out) {
  const int mark = mbg__message_mark(ctx);
  stop end = {.end = mbg_run_node_time(run, mbg_run_node_count(run) - 1), .t = -INFINITY};
  mbg_run_options options = run->options;
  mbg_run *other = NULL;
  int err = MBG_OK;
  options.formulation = run->formulation->key;
  options.accuracy = NAN;
  options.all_signals = true;
  options.keep_poses = false;
  options.progress = NULL;
  if (mbg_run_partial(run)) {
    options.progress = passed;
    options.interrupt = stops;
    options.user = &end;
  }
  MBG_TRY(mbg_run_create(ctx, model, &options, &other));
  take_steps(run, other);
  MBG_TRY(mbg__run_set_parameters(ctx, other, run->p));
  if (run->given_state) {
    const mbg__run_state began = mbg__run_began(run);
    mbg__run_give(other, &began);
  }
  MBG_TRY(mbg_run_simulate(ctx, other));
  if (mbg_run_partial(other) && !mbg_run_partial(run)) {
    MBG_TRY(mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "the run was interrupted"));
  }
  mbg__message_rewind(ctx, mark);
done:
  if (err < 0) {
    mbg_run_destroy(other);
    other = NULL;
  }
  *out = other;
  return err;
}

/* Error control follows the motion, not its variations: at rest it takes steps of any length. The continuous adjoint
   controls its own. */
static mbg_method pull_method(const mbg_run *run) {
  const bool own = !(run->plan.step > 0) && mbg__formulation_has(run->formulation, MBG_METHOD_CONTINUOUS) &&
                   (run->formulation->supports & MBG__ODE);
  return own ? MBG_METHOD_CONTINUOUS : mbg_run_adjoint_method(run);
}

/* gw, gv NULL: the start belongs to the attributes */
static int pull_last(mbg_context *ctx, mbg_run *run, int n, const real *poses, real *gw, real *gv, real *ga) {
  const mbg_method method = pull_method(run);
  const size_t width = 2 * (size_t)run->m->nw;
  mbg__criterion_seeds *seeds = mbg__alloc_zero(ctx, (size_t)n + 1, sizeof(*seeds));
  int err = seeds ? MBG_OK : mbg__fail_memory(ctx);
  MBG_TRY(err);
  MBG_TRY(mbg__run_check_method(ctx, run, method));
  MBG_TRY(mbg__rank_watch_gradient(ctx, run->plan.watch));
  for (int k = 0; k < n; k++) {
    seeds[k] =
        (mbg__criterion_seeds){.all = true, .poses = poses + (size_t)k * width, .poses_from = run->nodes.nnode - 1};
  }
  mbg__start_keep(run->start, gw, gv);
  err = n > 0 ? run->formulation->ops->adjoint(ctx, run->work, method, n, seeds, ga) : MBG_OK;
  mbg__start_keep(run->start, NULL, NULL);
  mbg__run_count_work(run);
done:
  mbg__free(ctx, seeds);
  return err;
}

int mbg__run_pull_end(mbg_context *ctx, mbg_run *run, int n, const real *poses, real *gw, real *gv, real *ga) {
  assert(run->given_state && run->simulated);
  return pull_last(ctx, run, n, poses, gw, gv, ga);
}

int mbg__run_pull_last(mbg_context *ctx, mbg_run *run, int n, const real *poses, real *ga) {
  const int err = mbg__run_check_differentiable(ctx, run);
  return err < 0 ? err : pull_last(ctx, run, n, poses, NULL, NULL, ga);
}
