#include "run/repeat.h"

#include "run/run_internal.h"

/* times and weights of all nodes */
static int list_nodes(mbg_context *ctx, mbg__arena *arena, const mbg_run *run, mbg__run_decisions *out) {
  const mbg__nodes *nodes = &run->nodes;
  double *t = MBG_TAKE(arena, double, nodes->nnode), *omega = MBG_TAKE(arena, double, nodes->nnode);
  for (int n = 0; t && omega && n < nodes->nnode; n++) {
    t[n] = mbg__nodes_time(nodes, n);
    omega[n] = re(mbg__nodes_omega(nodes, n));
  }
  out->nnode = nodes->nnode;
  out->node_t = t;
  out->node_omega = omega;
  return mbg__arena_check(ctx, arena);
}

/* ends of controlled steps; of formulations with free nodes, those of all steps, and the nodes */
static int list_steps(mbg_context *ctx, mbg__arena *arena, const mbg_run *run, mbg__run_decisions *out) {
  const bool free_nodes = run->formulation->ops->ends != NULL;
  if (!free_nodes && !mbg_run_controlled(run)) {
    return MBG_OK;
  }
  out->nstep = run->nodes.nnode - 1;
  const double *ends = free_nodes ? run->formulation->ops->ends(run->work, &out->nstep) : NULL;
  double *copy = MBG_TAKE(arena, double, out->nstep + 1);
  for (int i = 0; copy && i <= out->nstep; i++) {
    copy[i] = ends ? ends[i] : mbg__nodes_time(&run->nodes, i);
  }
  out->ends = copy;
  return free_nodes ? list_nodes(ctx, arena, run, out) : mbg__arena_check(ctx, arena);
}

static bool solved(const void *user, double t, double *x) {
  const mbg_run *run = user;
  return run->simulated && run->formulation->ops->solved(run->work, t, x);
}

int mbg__run_decisions_of(mbg_context *ctx, mbg__arena *arena, const mbg_run *run, mbg__run_decisions *out) {
  const mbg__run_plan *plan = &run->plan;
  *out = (mbg__run_decisions){.options = run->options,
                              .step = plan->step,
                              .tolerance = plan->tolerance,
                              .refine = plan->refine,
                              .relative = plan->relative,
                              .absolute = plan->absolute,
                              .rank = mbg__start_result_of(run->start)->rank,
                              .solved = run->formulation->ops->solved ? solved : NULL,
                              .run = run};
  mbg_run_options *o = &out->options;
  o->formulation = run->formulation->key;
  o->accuracy = NAN;
  o->refine = 0;
  o->all_signals = o->keep_poses = o->criteria_only = false;
  o->node = NULL;
  o->progress = NULL;
  if (run->accuracy > 0 && !mbg_run_controlled(run)) {
    o->step = plan->step; /* no step of the model is meant */
    o->tolerance = NAN;
  }
  return list_steps(ctx, arena, run, out);
}

int mbg__run_repeat(mbg_context *ctx, const mbg_model *model, const mbg__run_decisions *d, mbg_run **out) {
  int err = MBG_OK;
  mbg_run *run = NULL;
  MBG_TRY(mbg_run_create(ctx, model, &d->options, &run));
  mbg__run_plan *plan = &run->plan;
  run->accuracy = 0;
  run->repeats = true;
  plan->step = d->step;
  plan->tolerance = d->tolerance;
  plan->refine = d->refine;
  plan->relative = d->relative;
  plan->absolute = d->absolute;
  plan->nlength = d->nstep;
  plan->ends = d->ends;
  plan->parts = 1;
  plan->nnode = d->nnode;
  plan->node_t = d->node_t;
  plan->node_omega = d->node_omega;
  plan->solved = d->solved;
  plan->repeated = d->run;
  MBG_TRY(mbg__start_take_rank(ctx, run->start, d->rank));
done:
  if (err < 0) {
    mbg_run_destroy(run);
    run = NULL;
  }
  *out = run;
  return err;
}
