/* `dca`: divide and conquer over pieces of the mechanism; direct differentiation and adjoint with the same factors;
   explicit Runge-Kutta steps in joint coordinates (Bhalerao, Poursina, Anderson; theory 3). */
#include "formulations/dca/dca_work.h"

#include "formulations/formulation.h"
#include "trajectory/steps.h"

#include <string.h>

/* ---------------------------------------------------------------------- preparation */

/* preset: the classical method for a fixed step, the pair of order eight for tolerances */
static int find_integrator(mbg_context *ctx, mbg__formulation_work *w) {
  const char *key = w->plan.integrator ? w->plan.integrator : w->plan.step > 0 ? "rk4" : "dop853";
  return mbg__plan_integrator(ctx, &w->plan, key, &w->method);
}

static int check_plan(mbg_context *ctx, const mbg__run_plan *p) {
  const int err = mbg__plan_check_tolerances(ctx, p);
  if (err < 0) {
    return err;
  }
  if (p->stabilization != 0) {
    return mbg__fail(
        ctx, MBG_ERROR_UNSUPPORTED,
        "formulation 'dca' closes its loops by projection after each step; \"stabilization\" is an option of 'qr'");
  }
  if (p->index == 2) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "formulation 'dca' has no index-2 variant; 'lie' has one");
  }
  return MBG_OK;
}

/* the coordinates of a step begin at 0: their tolerance is relative to a length or an angle */
static void fill_tolerances(mbg__formulation_work *w) {
  const int n = w->flow.n;
  for (int k = 0; k < w->m->nbody; k++) {
    const mbg__link *l = &w->flow.links[k];
    for (int i = 0; i < l->nz; i++) {
      const double size = l->comp[i] < 3 ? w->m->size : 1;
      w->atol[l->first + i] = w->plan.absolute + w->plan.relative * size;
      w->atol[n + l->first + i] = w->plan.absolute;
    }
  }
}

static int create_rk(mbg_context *ctx, mbg__formulation_work *w) {
  mbg__rk_options options = mbg__ode_options(&w->plan, w->atol);
  int err = MBG_OK;
  options.max_steps = 100000000;
  options.pool = w->pool;
  MBG_TRY(mbg__rk_create(ctx, 2 * w->flow.n, w->method, &options, &w->rk));
  w->source = w->rk;
  if (w->plan.events) {
    MBG_TRY(mbg__rk_create(ctx, 2 * w->flow.n, w->method, &options, &w->trial));
    w->rated = mbg__events_need_rates(w->plan.events);
  }
  MBG_TRY(mbg__ode_events_create(ctx, &w->plan, w->m->nw, &w->events));
done:
  return err;
}

/* the start's redundant rows, exchanged where the tree drops others */
static int choose_rows(mbg_context *ctx, mbg__formulation_work *w) {
  mbg__rank *rank = mbg__start_result_of(w->start)->rank;
  const int *dropped;
  const int n = mbg__tree_dropped_rows(w->tree, &dropped);
  w->rank = rank;
  return n > 0 ? mbg__rank_choose(ctx, &w->arena, rank, dropped, &w->rank) : MBG_OK;
}

/* the articulated-body recursion suffices: joint coordinates without rows, no signal of a reaction, no late rate */
static bool is_tree(const mbg__formulation_work *w) {
  for (int i = 0; i < w->m->nsignal; i++) {
    if (w->m->signals[i].level == MBG__LEVEL_REACTION) {
      return false;
    }
  }
  return !mbg__system_has_late(w->sys) && w->m->nmodal == 0 && w->m->nelement == 0 &&
         mbg__tree_rows(w->tree, NULL) == 0;
}

static int take_arrays(mbg_context *ctx, mbg__formulation_work *w) {
  const size_t n = (size_t)w->flow.n;
  int err = MBG_OK;
  w->atol = MBG_TAKE(&w->arena, double, 2 * n);
  w->y = MBG_TAKE(&w->arena, real, 2 * n);
  w->yi = MBG_TAKE(&w->arena, real, 2 * n);
  w->before = MBG_TAKE(&w->arena, real, n);
  w->phi = MBG_TAKE(&w->arena, real, w->m->nrow);
  w->phid = mbg__model_has_rates(w->m) ? MBG_TAKE(&w->arena, real, w->m->nrow) : NULL;
  MBG_TRY(mbg__dca_base_create(ctx, &w->arena, &w->flow, &w->base[0]));
  MBG_TRY(mbg__dca_base_create(ctx, &w->arena, &w->flow, &w->base[1]));
  MBG_TRY(mbg__dca_base_create(ctx, &w->arena, &w->flow, &w->final));
done:
  return err;
}

static void destroy(mbg__formulation_work *w) {
  if (!w) {
    return;
  }
  const mbg_allocator a = w->arena.allocator;
  mbg__step_nodes_destroy(&w->nodes);
  mbg__rk_destroy(w->rk);
  mbg__rk_destroy(w->trial);
  mbg__ode_events_destroy(&w->events);
  mbg__store_destroy(&w->store);
  a.release(a.user, w->frozen);
  mbg__tree_destroy(w->tree);
  if (w->sys) {
    mbg__system_share(w->sys, NULL);
  }
  mbg__pool_destroy(w->pool);
  mbg__arena_destroy(&w->arena);
  a.release(a.user, w);
}

static int prepare(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan, int nused,
                   const int *used, mbg__formulation_work **out) {
  int err = MBG_OK;
  mbg__formulation_work *w = mbg__alloc_zero(ctx, 1, sizeof(*w));
  *out = NULL;
  if (!w) {
    return mbg__fail_memory(ctx);
  }
  *w = (mbg__formulation_work){.m = mbg__system_model(sys), .start = start, .plan = *plan};
  mbg__arena_init(&w->arena, mbg__context_allocator(ctx));
  MBG_TRY(check_plan(ctx, plan));
  MBG_TRY(mbg__pool_create(ctx, plan->threads, &w->pool));
  w->sys = sys;
  mbg__system_share(sys, w->pool);
  MBG_TRY(find_integrator(ctx, w));
  MBG_TRY(mbg__plan_thin_breaks(ctx, &w->arena, &w->plan));
  MBG_TRY(mbg__tree_create(ctx, sys, mbg__start_result_of(start)->rank, &w->tree));
  MBG_TRY(mbg__tree_modal_create(ctx, w->tree));
  MBG_TRY(choose_rows(ctx, w));
  if (is_tree(w)) {
    MBG_TRY(mbg__dca_articulated_create(ctx, &w->arena, w->tree, w->pool, &w->articulated));
  } else {
    MBG_TRY(mbg__dca_assembly_create(ctx, &w->arena, sys, w->rank, w->pool, &w->assembly));
  }
  MBG_TRY(mbg__dca_point_create(ctx, &w->arena, sys, w->tree, w->assembly, w->articulated, w->pool, &w->point));
  MBG_TRY(mbg__dca_flow_create(ctx, &w->arena, sys, w->tree, w->point, w->pool, nused, used, &w->flow));
  MBG_TRY(mbg__dca_project_create(ctx, &w->arena, &w->flow, w->assembly, w->rank, &w->project));
  w->node_plan = w->plan;
  w->node_plan.relative = plan->step > 0 ? 1e30 : plan->relative; /* fixed steps: each has the same nodes */
  MBG_TRY(mbg__step_nodes_create(ctx, &w->arena, &w->node_plan, nused, &w->nodes));
  mbg__step_nodes_compact(&w->nodes, &w->frozen);
  MBG_TRY(take_arrays(ctx, w));
  fill_tolerances(w);
  MBG_TRY(create_rk(ctx, w));
  MBG_TRY(mbg__dca_store_create(ctx, w));
  MBG_TRY(mbg__dca_limits(ctx, w));
done:
  if (err < 0) {
    destroy(w);
    w = NULL;
  }
  *out = w;
  return err;
}

/* ---------------------------------------------------------------------- results */

static int last(const mbg__formulation_work *w, double *t, mbg__frame *H, real *v, int *turns) {
  const mbg__dca_base *b = &w->final;
  *t = w->last;
  mbg__tree_place(w->tree, &(mbg__tree_state){.t = w->last, .E = b->E, .w = b->w});
  const mbg__state bodies = mbg__tree_bodies(w->tree);
  memcpy(H, bodies.H, (size_t)w->m->nbody * sizeof(*H));
  memcpy(v, bodies.v, (size_t)w->m->nw * sizeof(real));
  memcpy(turns, b->turns, (size_t)w->m->nturn * sizeof(int));
  return MBG_OK;
}

static void forget(mbg__formulation_work *w, const int *place, mbg__nodes *nodes) {
  (void)place; /* decided before the run */
  (void)nodes;
  mbg__store_forget(&w->store);
}

static const double *ends(const mbg__formulation_work *w, int *nstep) {
  *nstep = w->nfrozen;
  return w->frozen;
}

static const real *node_time(const mbg__formulation_work *w) { return w->dt; }

static const real *node_stretch(const mbg__formulation_work *w) { return w->ratio; }

static const mbg__work_counts *counts(const mbg__formulation_work *w) { return &w->counts; }

extern const mbg__formulation_ops mbg__dca_ops;

const mbg__formulation_ops mbg__dca_ops = {
    .prepare = prepare,
    .simulate = mbg__dca_simulate,
    .tangent = mbg__dca_tangent,
    .node_time = node_time,
    .node_stretch = node_stretch,
    .adjoint = mbg__dca_adjoint,
    .last = last,
    .forget = forget,
    .ends = ends,
    .counts = counts,
    .destroy = destroy,
};
