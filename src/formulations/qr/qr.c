/* `qr`: redundant coordinates projected to a state space by a QR decomposition of the constraint Jacobian, integrated
   under error control, with the continuous adjoint (Held and Seifried; theory 1). */
#include "formulations/qr/qr_work.h"

#include "formulations/formulation.h"
#include "trajectory/steps.h"

#include <string.h>

/* ---------------------------------------------------------------------- preparation */

/* "dop853", "dp5": Runge-Kutta pairs; "adams", "bdf": CVODES, without a method */
static int find_integrator(mbg_context *ctx, mbg__formulation_work *w) {
  return mbg__plan_integrator(ctx, &w->plan, w->plan.integrator ? w->plan.integrator : "dop853", &w->method);
}

static int check_plan(mbg_context *ctx, const mbg__run_plan *p) {
  const int err = mbg__plan_check_tolerances(ctx, p);
  if (err < 0) {
    return err;
  }
  if (!(p->stabilization >= 0) || !isfinite(p->stabilization)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "stabilization %g: expected a rate of at least 0 per second",
                     p->stabilization);
  }
  return MBG_OK;
}

/* steps of varying order cannot be taken again with another length */
static int check_events(mbg_context *ctx, const mbg__formulation_work *w) {
  if (!w->plan.events || w->method) {
    return MBG_OK;
  }
  return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                   "integrator '%s' takes no events; 'dop853', 'dp5' and 'rk4' do, and for stiff models the "
                   "formulations 'lie' and 'dae'",
                   w->plan.integrator);
}

/* positions, measured from an arbitrary origin, have a tolerance relative to the size of the model; modal coordinates
   do not */
static void fill_tolerances(mbg__formulation_work *w) {
  const mbg__qr_state *s = &w->flow->state;
  for (int i = 0; i < s->n; i++) {
    w->atol[i] = w->plan.absolute;
  }
  for (int b = 0; b < w->m->nbody; b++) {
    const int translations = w->m->bodies[b].motion == MBG__SPATIAL || w->m->bodies[b].motion == MBG__POINT ? 3 : 2;
    const int end = b + 1 < w->m->nbody ? s->first[b + 1] : s->nplace;
    for (int i = s->first[b]; w->m->bodies[b].carrier < 0 && i < end; i++) {
      w->atol[i] += w->plan.relative * (i < s->first[b] + translations ? w->m->size : 1);
    }
  }
}

static int create_rk(mbg_context *ctx, mbg__formulation_work *w) {
  mbg__rk_options options = mbg__ode_options(&w->plan, w->atol);
  int err = MBG_OK;
  options.late = w->nodes.method != NULL;
  MBG_TRY(mbg__rk_create(ctx, w->flow->state.n, w->method, &options, &w->rk));
  w->source = w->rk;
  if (w->plan.events) {
    MBG_TRY(mbg__rk_create(ctx, w->flow->state.n, w->method, &options, &w->trial));
    w->rated = mbg__events_need_rates(w->plan.events);
  }
  MBG_TRY(mbg__ode_events_create(ctx, &w->plan, w->m->nw, &w->events));
  MBG_TRY(mbg__qr_store_create(ctx, w));
done:
  return err;
}

static void destroy(mbg__formulation_work *w) {
  if (!w) {
    return;
  }
  const mbg_allocator a = w->arena.allocator;
  mbg__qr_cvodes_destroy(w->cvodes);
  mbg__step_nodes_destroy(&w->nodes);
  mbg__qr_flow_destroy(w->flow);
  mbg__rk_destroy(w->rk);
  mbg__rk_destroy(w->trial);
  mbg__ode_events_destroy(&w->events);
  mbg__store_destroy(&w->store);
  a.release(a.user, w->frozen);
  a.release(a.user, w->staged);
  mbg__arena_destroy(&w->arena);
  a.release(a.user, w);
}

/* steps that event location does not change, and that have an error estimate */
static bool controlled(const mbg__formulation_work *w) {
  return !(w->plan.step > 0) && !w->plan.events && w->method->e != NULL;
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
  MBG_TRY(find_integrator(ctx, w));
  MBG_TRY(check_events(ctx, w));
  MBG_TRY(mbg__plan_thin_breaks(ctx, &w->arena, &w->plan));
  MBG_TRY(mbg__qr_flow_create(ctx, &w->arena, sys, mbg__start_result_of(start)->rank, &w->plan, nused, used, &w->flow));
  w->node_plan = w->plan;
  if (plan->events && plan->step > 0) {
    w->node_plan.relative = 1e30; /* each step has the same nodes, in runs that find their events anew, too */
  }
  MBG_TRY(mbg__step_nodes_create(ctx, &w->arena, &w->node_plan, nused, &w->nodes));
  const int n = w->flow->state.n;
  w->atol = MBG_TAKE(&w->arena, double, n);
  w->z0 = MBG_TAKE(&w->arena, real, n);
  w->z = MBG_TAKE(&w->arena, real, n);
  w->zi = MBG_TAKE(&w->arena, real, n);
  w->turns = MBG_TAKE(&w->arena, int, w->m->nturn);
  MBG_TRY(mbg__arena_check(ctx, &w->arena));
  fill_tolerances(w);
  if (n == 0 && !w->method) { /* CVODES has no vectors without entries, and the steps matter to integrals alone */
    w->method = &mbg__rk_dop853;
  }
  if (w->method) {
    MBG_TRY(controlled(w) ? mbg__step_nodes_by_stages(ctx, &w->arena, &w->nodes, w->method, mbg__qr_stage_value)
                          : MBG_OK);
    mbg__step_nodes_compact(&w->nodes, &w->frozen);
    MBG_TRY(create_rk(ctx, w));
  } else {
    MBG_TRY(mbg__qr_cvodes_create(ctx, w, !strcmp(plan->integrator, "bdf"), &w->cvodes));
  }
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
  *t = re(w->last);
  mbg__qr_state_read(&w->flow->state, w->z, H, v);
  memcpy(turns, w->turns, (size_t)w->m->nturn * sizeof(int));
  return MBG_OK;
}

static void forget(mbg__formulation_work *w, const int *place, mbg__nodes *nodes) {
  (void)place; /* decided before the run */
  (void)nodes;
  mbg__store_forget(&w->store);
  mbg__qr_memory_clear(w->flow);
}

static const double *ends(const mbg__formulation_work *w, int *nstep) {
  *nstep = w->nfrozen;
  return w->frozen;
}

static const real *node_time(const mbg__formulation_work *w) { return w->dt; }

static const real *node_stretch(const mbg__formulation_work *w) { return w->ratio; }

static const real *staged(const mbg__formulation_work *w) { return w->staged; }

static const mbg__work_counts *counts(const mbg__formulation_work *w) { return &w->counts; }

/* CVODES has no steps that could be transposed: its method chooses order and interpolation as it goes */
static bool has(const mbg__run_plan *plan, mbg_method method) {
  return method != MBG_METHOD_ADJOINT || !plan->integrator || mbg__rk_find(plan->integrator);
}

static int adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg_method method, int ncrit,
                   const mbg__criterion_seeds *seeds, real *psi_a) {
  if (method == MBG_METHOD_ADJOINT) {
    return mbg__qr_adjoint(ctx, w, ncrit, seeds, psi_a);
  }
  if (w->plan.events) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "the continuous adjoint of formulation 'qr' knows no events; use the method 'adjoint' or "
                     "'direct'");
  }
  return mbg__qr_continuous_run(ctx, w, ncrit, seeds, psi_a);
}

extern const mbg__formulation_ops mbg__qr_ops;

const mbg__formulation_ops mbg__qr_ops = {
    .prepare = prepare,
    .simulate = mbg__qr_simulate,
    .tangent = mbg__qr_tangent,
    .node_time = node_time,
    .node_stretch = node_stretch,
    .staged = staged,
    .adjoint = adjoint,
    .has = has,
    .last = last,
    .forget = forget,
    .ends = ends,
    .counts = counts,
    .destroy = destroy,
};
