/* Runs with events: trial steps of any length, the state after an event. */
#include "formulations/dca/dca_work.h"

#include <string.h>

/* at (t, yi) after a base with accelerations; false: they are not asked for */
static bool with_rates(mbg_context *ctx, mbg__formulation_work *w, const mbg__dca_base *base, real t) {
  return w->rated && mbg__dca_flow_eval(ctx, &w->flow, base, t, w->yi) == MBG_OK &&
         mbg__dca_point_full(ctx, w->point) == MBG_OK;
}

mbg__state mbg__dca_bodies(mbg_context *ctx, mbg__formulation_work *w, const mbg__dca_base *base) {
  const int n = w->flow.n;
  const real t = mbg__segment_inside(&w->flow.segment, base->t);
  vn_zero(n, w->yi);
  vn_copy(n, w->yi + n, base->w);
  if (with_rates(ctx, w, base, t)) {
    return mbg__tree_bodies(w->tree);
  }
  mbg__tree_place(w->tree, &(mbg__tree_state){.t = t, .E = base->E, .w = base->w, .turns = base->turns});
  mbg__state bodies = mbg__tree_bodies(w->tree);
  bodies.vd = NULL;
  return bodies;
}

int mbg__dca_restart(mbg_context *ctx, mbg__formulation_work *w, const real *v) {
  const mbg__dca_base *from = &w->base[w->now];
  mbg__dca_base *to = &w->base[!w->now];
  const mbg__state bodies = mbg__dca_bodies(ctx, w, from);
  to->t = from->t;
  mbg__tree_local_read(w->tree, bodies.H, v, to->E, to->w);
  memcpy(to->E, from->E, (size_t)w->m->nbody * sizeof(*to->E));
  memcpy(to->turns, from->turns, (size_t)w->m->nturn * sizeof(int));
  w->rounds = 0;
  return mbg__dca_base_set(ctx, &w->flow, to);
}

/* ---------------------------------------------------------------------- steps of the run */

typedef struct {
  mbg__formulation_work *w;
  const mbg__ode_steps *steps;
  real length; /* of the integrator's own step */
} stepper;

static int begin_steps(mbg_context *ctx, mbg__rk *rk, mbg__formulation_work *w, int n, const double *t, real t1) {
  mbg__rk_run run = mbg__ode_run(&w->plan, t1, mbg__dca_rhs, mbg__dca_begin_segment, w);
  run.t0 = w->base[w->now].t;
  run.nfrozen = n;
  run.frozen = t;
  vn_zero(w->flow.n, w->y);
  vn_copy(w->flow.n, w->y + w->flow.n, w->base[w->now].w);
  return mbg__rk_start(ctx, rk, &run, w->y);
}

static int start(mbg_context *ctx, void *user, int n, const double *t) {
  const stepper *s = user;
  return begin_steps(ctx, s->w->rk, s->w, n, t, n > 0 ? t[n] : s->w->plan.t1);
}

/* the end of a step, projected */
static int finish(mbg_context *ctx, mbg__formulation_work *w, mbg__rk *source) {
  const mbg__rk_record *step = mbg__rk_last(source);
  w->source = source;
  vn_copy(2 * w->flow.n, w->y, step->y1);
  return mbg__dca_finish_step(ctx, w, step->t1, w->y);
}

static int next(mbg_context *ctx, void *user, real *t1) {
  stepper *s = user;
  const int err = mbg__ode_step(ctx, &s->w->plan, s->w->rk, s->steps);
  const mbg__rk_record *step = mbg__rk_last(s->w->rk);
  *t1 = step->t1;
  s->length = step->t1 - step->t0;
  return err < 0 ? err : finish(ctx, s->w, s->w->rk);
}

static int trial_step(mbg_context *ctx, void *user, real h) {
  stepper *s = user;
  mbg__formulation_work *w = s->w;
  int err = MBG_OK;
  if (h == s->length) {
    return finish(ctx, w, w->rk);
  }
  const real t1 = w->base[w->now].t + h;
  w->pair[0] = re(w->base[w->now].t);
  w->pair[1] = re(t1);
  MBG_TRY(begin_steps(ctx, w->trial, w, 1, w->pair, t1));
  MBG_TRY(mbg__ode_step(ctx, &w->plan, w->trial, s->steps));
  MBG_TRY(finish(ctx, w, w->trial));
done:
  return err < 0 ? err : MBG_OK;
}

static mbg__state state(mbg_context *ctx, void *user, bool trial) {
  mbg__formulation_work *w = ((stepper *)user)->w;
  return mbg__dca_bodies(ctx, w, &w->base[trial ? !w->now : w->now]);
}

static mbg__state inside(mbg_context *ctx, void *user, double length) {
  mbg__formulation_work *w = ((stepper *)user)->w;
  const mbg__rk_record *step = mbg__rk_last(w->rk);
  const mbg__dca_base *base = &w->base[w->now];
  mbg__rk_interpolate_all(w->pool, w->method, 2 * w->flow.n, step->r, length / (step->t1 - step->t0), w->yi);
  if (with_rates(ctx, w, base, base->t + length)) {
    return mbg__tree_bodies(w->tree);
  }
  mbg__dca_flow_frames(&w->flow, base, w->yi, w->flow.E);
  mbg__tree_place(
      w->tree, &(mbg__tree_state){.t = base->t + length, .E = w->flow.E, .w = w->yi + w->flow.n, .turns = base->turns});
  mbg__state bodies = mbg__tree_bodies(w->tree);
  bodies.vd = NULL;
  return bodies;
}

static int accept(mbg_context *ctx, void *user, bool stays, int *node) {
  mbg__formulation_work *w = ((stepper *)user)->w;
  int err = MBG_OK;
  MBG_TRY(mbg__dca_end_step(ctx, w));
  *node = w->nodes.count - 1;
  MBG_TRY(stays ? mbg__dca_go_on(ctx, w) : MBG_OK);
done:
  return err;
}

static int restart(mbg_context *ctx, void *user, const real *v) {
  mbg__formulation_work *w = ((stepper *)user)->w;
  int err = MBG_OK;
  MBG_TRY(mbg__dca_restart(ctx, w, v));
  MBG_TRY(mbg__dca_store_add(ctx, w, &w->base[!w->now], NULL, NULL));
  MBG_TRY(mbg__dca_keep_time(ctx, w, re(w->base[!w->now].t)));
  MBG_TRY(mbg__step_nodes_again(ctx, &w->nodes, w->base[!w->now].t, mbg__dca_value_at, w));
  w->now = !w->now;
done:
  return err;
}

int mbg__dca_integrate_events(mbg_context *ctx, mbg__formulation_work *w, const mbg__ode_steps *steps) {
  stepper s = {.w = w, .steps = steps};
  const mbg__ode_event_steps run = {.start = start,
                                    .next = next,
                                    .step = trial_step,
                                    .state = state,
                                    .inside = inside,
                                    .accept = accept,
                                    .restart = restart,
                                    .user = &s};
  return mbg__ode_events_run(ctx, &w->events, &w->plan, &run, &w->partial);
}
