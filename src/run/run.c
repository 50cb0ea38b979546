/* Runs: options, creation, parameters, simulation. */
#include "event/event.h"
#include "run/plan.h"
#include "run/run_internal.h"
#include "start/rank.h"
#include "trajectory/rank_watch.h"

#include <string.h>
#include <time.h>

double mbg__run_clock(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------- creation */

static const mbg_run_options defaults = {.start = NAN,
                                         .end = NAN,
                                         .step = NAN,
                                         .tolerance = NAN,
                                         .rho_inf = NAN,
                                         .alpha_f = NAN,
                                         .accuracy = NAN,
                                         .adjoint_tolerance = NAN};

void mbg_run_options_default(mbg_run_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

int mbg__run_options_take(mbg_context *ctx, const mbg_run_options *given, mbg_run_options *options) {
  *options = defaults;
  return mbg__options_take(ctx, "run", given, options, sizeof(*options));
}

static int list_signals(mbg_context *ctx, mbg_run *run, bool all) {
  const mbg_model *m = run->m;
  bool *mark = mbg__alloc_zero(ctx, (size_t)m->nsignal, sizeof(bool));
  run->used = MBG_TAKE(&run->arena, int, m->nsignal);
  if (!mark || !run->used) {
    mbg__free(ctx, mark);
    return mbg__fail_memory(ctx);
  }
  /* the order of the criteria's own list comes first, because seeds are laid out by it */
  for (int k = 0; k < m->ncriterion; k++) {
    const int i = m->criteria[k].signal;
    if (m->criteria[k].kind != MBG__COMBINATION && !mark[i]) {
      mark[i] = true;
      run->used[run->nused++] = i;
    }
  }
  for (int i = 0; all && i < m->nsignal; i++) {
    if (!mark[i]) {
      run->used[run->nused++] = i;
    }
  }
  mbg__free(ctx, mark);
  return MBG_OK;
}

/* which signals the run keeps at its nodes, where the caller takes them one node after the other, or not at all */
static int choose_places(mbg_context *ctx, mbg_run *run) {
  const mbg_run_options *o = &run->options;
  const bool ode = (run->formulation->supports & MBG__ODE) != 0;
  if (o->node) {
    run->plan.node = mbg__run_see;
    run->plan.taker = run;
    run->taken = MBG_TAKE(&run->arena, double, run->nused);
  }
  if (o->node && !o->keep_poses) {
    return mbg__run_places(ctx, run, true, &run->plan.place);
  }
  /* the nodes of steppers serve warnings of the first simulation; they go before the error is estimated */
  if (o->criteria_only && run->m->ncriterion > 0 && run->plan.memory > 0 && ode) {
    return mbg__run_places(ctx, run, false, &run->plan.place);
  }
  return MBG_OK;
}

static int prepare(mbg_context *ctx, mbg_run *run, const mbg_run_options *options) {
  const mbg_model *m = run->m;
  mbg_run_options o;
  int err = MBG_OK;
  MBG_TRY(mbg__run_options_take(ctx, options, &o));
  run->options = o;
  MBG_TRY(mbg__run_choose_formulation(ctx, o.formulation, m, &run->formulation));
  run->method = (mbg_method)m->run.method;
  MBG_TRY(list_signals(ctx, run, o.all_signals));
  MBG_TRY(mbg__plan_make(ctx, &run->arena, m, run->formulation, &o, run->used, &run->plan));
  run->plan.stopped = &run->stopped;
  MBG_TRY(choose_places(ctx, run));
  run->accuracy = mbg__plan_accuracy(m, &o);
  run->step = run->plan.step;
  run->relative = run->plan.relative;
  run->absolute = run->plan.absolute;
  run->p = MBG_TAKE(&run->arena, real, m->np);
  run->psi = MBG_TAKE(&run->arena, real, m->ncriterion);
  run->left_out = MBG_TAKE(&run->arena, bool, m->ncriterion);
  run->marks = MBG_TAKE(&run->arena, double, mbg__events_marks(m));
  MBG_TRY(mbg__arena_check(ctx, &run->arena));
  mbg__events_marks_first(m, run->marks);
  for (int i = 0; i < m->np; i++) {
    run->p[i] = m->p[i];
  }
  MBG_TRY(mbg__design_create(ctx, &run->arena, m, &run->design));
  MBG_TRY(mbg__design_update(ctx, run->design, run->p));
  MBG_TRY(mbg__system_create(ctx, m, run->design, &run->sys));
  MBG_TRY(mbg__start_create(ctx, run->sys, &run->start));
done:
  return err;
}

int mbg_run_create(mbg_context *ctx, const mbg_model *model, const mbg_run_options *options, mbg_run **out) {
  MBG_NEED(ctx, ctx && model && out);
  mbg_run *run = *out = mbg__alloc_zero(ctx, 1, sizeof(*run));
  if (!run) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&run->arena, mbg__context_allocator(ctx));
  mbg__arena_init(&run->grid_arena, mbg__context_allocator(ctx));
  mbg__arena_init(&run->proof_arena, mbg__context_allocator(ctx));
  mbg__arena_init(&run->error_arena, mbg__context_allocator(ctx));
  run->m = model;
  const int err = prepare(ctx, run, options);
  if (err < 0) {
    mbg_run_destroy(run);
    *out = NULL;
  }
  return err;
}

void mbg_run_destroy(mbg_run *run) {
  if (!run) {
    return;
  }
  const mbg_allocator allocator = run->arena.allocator;
  if (run->work) {
    run->formulation->ops->destroy(run->work);
  }
  mbg__rank_watch_destroy(run->plan.watch);
  mbg__events_destroy(run->plan.events);
  mbg__start_destroy(run->start);
  mbg__system_destroy(run->sys);
  mbg__arena_destroy(&run->error_arena);
  mbg__arena_destroy(&run->proof_arena);
  mbg__arena_destroy(&run->grid_arena);
  mbg__arena_destroy(&run->arena);
  allocator.release(allocator.user, run);
}

const char *mbg_run_formulation(const mbg_run *run) { return run ? run->formulation->key : NULL; }

double mbg_run_start(const mbg_run *run) { return run ? run->plan.t0 : NAN; }

double mbg_run_end(const mbg_run *run) { return run ? run->plan.t1 : NAN; }

bool mbg_run_controlled(const mbg_run *run) { return run && !(run->plan.step > 0); }

double mbg_run_step(const mbg_run *run) {
  return !run ? NAN : run->plan.step > 0 ? run->plan.step : fmax(run->plan.tolerance, run->plan.relative);
}

static bool controlled(const mbg_run *run) {
  return mbg_run_controlled(run) && (run->formulation->supports & MBG__ODE);
}

double mbg_run_relative_tolerance(const mbg_run *run) { return controlled(run) ? run->plan.relative : 0; }

double mbg_run_absolute_tolerance(const mbg_run *run) { return controlled(run) ? run->plan.absolute : 0; }

const mbg_model *mbg__run_model(const mbg_run *run) { return run->m; }

mbg__formulation_work *mbg__run_work(const mbg_run *run) { return run->work; }

double mbg__run_step(const mbg_run *run) { return run->plan.step; }

/* ---------------------------------------------------------------------- parameters */

static int take_parameters(mbg_context *ctx, mbg_run *run) {
  const int err = mbg__design_update(ctx, run->design, run->p);
  mbg__start_drop_memory(run->start); /* accelerations of a given state were those at other parameters */
  run->simulated = false;
  run->refused = err < 0;
  return err;
}

int mbg__run_set_parameters(mbg_context *ctx, mbg_run *run, const real *p) {
  memcpy(run->p, p, (size_t)run->m->np * sizeof(real));
  return take_parameters(ctx, run);
}

int mbg_run_set_parameters(mbg_context *ctx, mbg_run *run, const double *p) {
  MBG_NEED(ctx, ctx && run);
  for (int i = 0; i < run->m->np; i++) {
    run->p[i] = p ? p[i] : run->m->p[i];
  }
  return take_parameters(ctx, run);
}

int mbg_run_parameters(const mbg_run *run, double *p) {
  MBG_NEED(NULL, run && p);
  for (int i = 0; i < run->m->np; i++) {
    p[i] = re(run->p[i]);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- checks before the first step */

/* signals that criteria use, also through expressions */
static int mark_signals(mbg_context *ctx, const mbg_run *run, bool **out) {
  const mbg_model *m = run->m;
  bool *mark = mbg__alloc_zero(ctx, (size_t)m->nsignal, sizeof(bool));
  *out = mark;
  if (!mark) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < m->ncriterion; k++) {
    if (m->criteria[k].kind != MBG__COMBINATION) {
      mark[m->criteria[k].signal] = true;
    }
  }
  for (int i = m->nsignal - 1; i >= 0; i--) {
    if (mark[i] && m->signals[i].type->role == MBG__ROLE_VALUE) {
      const mbg__fn *fn = &m->fns[m->signals[i].fn];
      for (int k = 0; k < fn->ninput; k++) {
        if (fn->input[k].role == MBG__ROLE_SIGNAL) {
          mark[fn->input[k].index] = true;
        }
      }
    }
  }
  return MBG_OK;
}

/* refuses criteria on reactions that redundant rows leave open, and on signals that oscillate with rho_inf = 1 */
static int check_signals(mbg_context *ctx, mbg_run *run) {
  const mbg_model *m = run->m;
  const mbg__start_result *start = mbg__start_result_of(run->start);
  const mbg__state state = {.t = start->t, .H = start->H, .v = start->v, .turns = start->turns};
  bool *mark = NULL;
  int err = MBG_OK;
  MBG_TRY(mark_signals(ctx, run, &mark));
  MBG_TRY(mbg__system_update(ctx, run->sys, &state));
  for (int i = 0; i < m->nsignal; i++) {
    const mbg__signal *sig = &m->signals[i];
    if (!mark[i]) {
      continue;
    }
    if (sig->type->of == MBG__OF_JOINT && !mbg__rank_reaction_unique(run->sys, start->rank, i)) {
      err =
          mbg__fail_at(ctx, MBG_ERROR_INPUT, &sig->where, 0,
                       "the reaction is not unique, because constraint rows are redundant; a criterion cannot use it");
      goto done;
    }
    if (run->plan.rho_inf == 1 && sig->level >= MBG__LEVEL_ACCELERATION) {
      err = mbg__fail_at(ctx, MBG_ERROR_INPUT, &sig->where, 0,
                         "with rho_inf = 1 accelerations and reactions oscillate; a criterion cannot use them");
      goto done;
    }
  }
  if (run->plan.rho_inf == 1) {
    mbg__note(ctx, MBG_WARNING, "rho_inf = 1: accelerations and reactions oscillate undamped");
  }
done:
  mbg__free(ctx, mark);
  return err;
}

/* ---------------------------------------------------------------------- simulation */

static int make_criteria(mbg_context *ctx, mbg_run *run) {
  if (run->criteria && run->criteria_nodes == run->nodes.nnode && !run->plan.events) {
    mbg__criteria_times(run->criteria, run->nodes.t, run->nodes.grid);
    return MBG_OK;
  }
  mbg__arena_destroy(&run->grid_arena);
  run->criteria = NULL;
  const int err = mbg__criteria_create(ctx, &run->grid_arena, run->m, run->nodes.nnode, run->nodes.t, run->nodes.grid,
                                       &run->criteria);
  if (err == MBG_OK) {
    mbg__criteria_events(run->criteria, run->nodes.nfiring, run->nodes.firings);
  }
  run->criteria_nodes = run->nodes.nnode;
  return err;
}

/* the formulation's workspace and the watch, for the rows that the start has kept */
static int prepare_work(mbg_context *ctx, mbg_run *run) {
  int err = MBG_OK;
  if (run->work) {
    run->formulation->ops->destroy(run->work);
    run->work = NULL;
    run->nodes = (mbg__nodes){0};
    run->criteria = NULL; /* refers to nodes of the work */
    mbg__arena_destroy(&run->grid_arena);
  }
  mbg__rank_watch_destroy(run->plan.watch);
  MBG_TRY(mbg__rank_watch_create(ctx, run->sys, mbg__start_result_of(run->start)->rank, &run->plan.watch));
  mbg__events_destroy(run->plan.events);
  mbg__system_leave_guards(run->sys, run->nused, run->used);
  MBG_TRY(mbg__events_create(ctx, run->sys, run->design, mbg__start_result_of(run->start)->rank, run->marks,
                             &run->plan.events));
  MBG_TRY(run->formulation->ops->prepare(ctx, run->sys, run->start, &run->plan, run->nused, run->used, &run->work));
done:
  return err;
}

int mbg_run_renew(mbg_context *ctx, mbg_run *run) {
  MBG_NEED(ctx, ctx && run);
  /* integrators repeat the nodes inside their steps, too */
  const bool ode = (run->formulation->supports & MBG__ODE) != 0;
  run->reusable = run->started && run->plan.step > 0 && !ode && !(run->accuracy > 0);
  run->plan.step = run->step;
  run->plan.relative = run->relative;
  run->plan.absolute = run->absolute;
  run->started = run->simulated = false;
  return MBG_OK;
}

/* What the first simulation needs and decides before its first step. `kept`: a workspace is there; is it of use? */
static int prepare_first(mbg_context *ctx, mbg_run *run, bool *kept) {
  int err = MBG_OK;
  if (!run->repeats) {
    MBG_TRY(check_signals(ctx, run));
  }
  *kept = *kept && mbg__start_rank_stands(run->start);
  if (!*kept) {
    MBG_TRY(prepare_work(ctx, run));
  } else if (run->formulation->ops->renew) {
    run->formulation->ops->renew(run->work);
  }
  if (!run->repeats) {
    MBG_TRY(mbg__run_look_at_start(ctx, run));
  }
done:
  return err;
}

int mbg__run_before(mbg_context *ctx, mbg_run *run, mbg__run_pass *pass) {
  int err = MBG_OK;
  *pass = (mbg__run_pass){mbg__run_clock(), !run->started && !run->repeats, run->reusable};
  run->simulated = run->reusable = run->stopped = false;
  if (run->refused) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "the parameters of the run were refused; set others before it is simulated");
    goto done;
  }
  if (run->accuracy > 0 && !run->started) {
    MBG_TRY(mbg__run_find_step(ctx, run));
  }
  MBG_TRY(mbg__plan_check(ctx, &run->plan));
  mbg__events_reset(run->m, run->design, run->marks);
  MBG_TRY(mbg__start_solve(ctx, run->start, pass->first));
  if (!run->started) {
    MBG_TRY(prepare_first(ctx, run, &pass->kept));
  }
  mbg__events_resume(run->plan.events, run->given_state);
  mbg__system_warn(NULL, run->sys);
  mbg__system_watch(run->sys, pass->first);
  mbg__rank_watch_begin(run->plan.watch);
  mbg__run_see_nothing(run);
  run->nodes.nnode = run->nodes.nfiring = 0; /* their memory serves the new ones, and a run that fails leaves none */
done:
  return err;
}

int mbg__run_after(mbg_context *ctx, mbg_run *run, const mbg__run_pass *pass) {
  int err = MBG_OK;
  if (pass->first) {
    mbg__system_warn(ctx, run->sys);
    mbg__rank_watch_report(ctx, run->plan.watch);
  }
  MBG_TRY(mbg__run_check_nodes(ctx, run));
  run->started = run->started || !run->nodes.partial;
  run->simulated = true;
  MBG_TRY(make_criteria(ctx, run));
  if (pass->first) {
    mbg__criteria_warn(ctx, run->criteria);
    MBG_TRY(mbg__run_warn_steps(ctx, run));
  }
done:
  return err;
}

int mbg__run_over(mbg_run *run, const mbg__run_pass *pass, int err) {
  run->simulated = run->simulated && err >= 0;
  mbg__events_after(run->plan.events, 0);
  mbg__system_watch(run->sys, false);
  run->effort.seconds_simulate = mbg__run_clock() - pass->begin;
  mbg__run_count_work(run);
  return err;
}

int mbg_run_simulate(mbg_context *ctx, mbg_run *run) {
  MBG_NEED(ctx, ctx && run);
  mbg__run_pass pass;
  int err = MBG_OK;
  MBG_TRY(mbg__run_before(ctx, run, &pass));
  MBG_TRY(run->formulation->ops->simulate(ctx, run->work, run->started || pass.kept, &run->nodes));
  MBG_TRY(mbg__run_after(ctx, run, &pass));
done:
  return mbg__run_over(run, &pass, err);
}

void mbg__run_give(mbg_run *run, const mbg__run_state *s) {
  mbg__start_give(run->start, s->t, s->H, s->v, s->turns);
  mbg__events_marks_copy(run->m, s->marks, run->marks);
  run->plan.t0 = s->t;
  run->given_state = true;
  run->started = run->simulated = run->reusable = false;
}

/* ---------------------------------------------------------------------- work */

void mbg__run_count_work(mbg_run *run) {
  if (run->work) {
    const mbg__work_counts *c = run->formulation->ops->counts(run->work);
    run->effort = (mbg_run_work){.steps = c->steps,
                                 .newton_iterations = c->newton_iterations,
                                 .factorizations = c->factorizations,
                                 .assemblies = c->assemblies,
                                 .solves = c->solves,
                                 .recomputed_steps = c->recomputed,
                                 .seconds_simulate = run->effort.seconds_simulate,
                                 .seconds_gradient = run->effort.seconds_gradient,
                                 .peak_bytes = c->bytes,
                                 .drift_position = c->drift_position,
                                 .drift_velocity = c->drift_velocity};
  }
}

const mbg_run_work *mbg_run_get_work(const mbg_run *run) { return run ? &run->effort : NULL; }
