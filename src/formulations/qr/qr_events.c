/* Runs with events: trial steps of any length, the state after an event. */
#include "formulations/qr/qr_work.h"

#include <string.h>

mbg__state mbg__qr_bodies(mbg_context *ctx, mbg__formulation_work *w, real t, const real *z) {
  mbg__qr_flow *f = w->flow;
  const bool rates = w->rated && mbg__qr_flow_eval(ctx, f, t, z) == MBG_OK;
  if (!rates) {
    (void)mbg__qr_flow_constraints(ctx, f, t, z, NULL); /* the guards are evaluated there, and say what fails */
  }
  return (mbg__state){.t = f->t, .H = f->H, .v = f->v, .vd = rates ? f->a : NULL, .turns = f->turns};
}

int mbg__qr_act(mbg_context *ctx, mbg__formulation_work *w, int firing, double t, const real *before, real *z) {
  const mbg__state bodies = mbg__qr_bodies(ctx, w, t, before);
  const int err = mbg__events_act(ctx, w->plan.events, firing, &bodies, w->events.v);
  if (err == MBG_OK) {
    mbg__to_free(w->m, 1, w->events.v, z + w->flow->state.nplace);
  }
  return err;
}

void mbg__qr_at_step(mbg__formulation_work *w, int k) {
  int step = k;
  while (mbg__ode_events_fired(&w->events, step) >= 0) {
    step--;
  }
  w->flow->segment = mbg__plan_segment(&w->plan, w->frozen[step - 1], w->frozen[step]);
  mbg__ode_events_at(&w->events, w->plan.events, k);
}

/* ---------------------------------------------------------------------- steps of the run */

typedef struct {
  mbg__formulation_work *w;
  const mbg__ode_steps *steps;
  real length; /* of the integrator's own step */
} stepper;

static int begin_steps(mbg_context *ctx, mbg__rk *rk, mbg__formulation_work *w, int n, const double *t, real t1) {
  mbg__rk_run run = mbg__ode_run(&w->plan, t1, mbg__qr_flow_rhs, mbg__qr_begin_segment, w->flow);
  run.t0 = w->last;
  run.nfrozen = n;
  run.frozen = t;
  return mbg__rk_start(ctx, rk, &run, w->z);
}

static int start(mbg_context *ctx, void *user, int n, const double *t) {
  const stepper *s = user;
  return begin_steps(ctx, s->w->rk, s->w, n, t, n > 0 ? t[n] : s->w->plan.t1);
}

static int next(mbg_context *ctx, void *user, real *t1) {
  stepper *s = user;
  mbg__formulation_work *w = s->w;
  const int err = mbg__ode_step(ctx, &w->plan, w->rk, s->steps);
  const mbg__rk_record *step = mbg__rk_last(w->rk);
  w->source = w->rk;
  *t1 = step->t1;
  s->length = step->t1 - step->t0;
  return err < 0 ? err : MBG_OK;
}

static int trial_step(mbg_context *ctx, void *user, real h) {
  stepper *s = user;
  mbg__formulation_work *w = s->w;
  int err = MBG_OK;
  w->source = w->rk;
  if (h == s->length) {
    return MBG_OK;
  }
  w->source = w->trial;
  const real t1 = w->last + h;
  w->pair[0] = re(w->last);
  w->pair[1] = re(t1);
  MBG_TRY(begin_steps(ctx, w->trial, w, 1, w->pair, t1));
  MBG_TRY(mbg__ode_step(ctx, &w->plan, w->trial, s->steps));
done:
  return err < 0 ? err : MBG_OK;
}

static mbg__state state(mbg_context *ctx, void *user, bool trial) {
  mbg__formulation_work *w = ((stepper *)user)->w;
  const mbg__rk_record *step = mbg__rk_last(w->source);
  return trial ? mbg__qr_bodies(ctx, w, step->t1, step->y1) : mbg__qr_bodies(ctx, w, w->last, w->z);
}

static mbg__state inside(mbg_context *ctx, void *user, double length) {
  mbg__formulation_work *w = ((stepper *)user)->w;
  const mbg__rk_record *step = mbg__rk_last(w->rk);
  const int n = w->flow->state.n;
  mbg__rk_interpolate(w->method, n, step->r, length / (step->t1 - step->t0), 0, n, w->zi, NULL);
  return mbg__qr_bodies(ctx, w, step->t0 + length, w->zi);
}

static int accept(mbg_context *ctx, void *user, bool stays, int *node) {
  mbg__formulation_work *w = ((stepper *)user)->w;
  const int err = mbg__qr_end_step(ctx, w);
  (void)stays; /* the integrator is there */
  *node = w->nodes.count - 1;
  return err;
}

static int value_after(void *user, real t, real *y) {
  mbg__formulation_work *w = user;
  return mbg__qr_node_value(w->flow->ctx, w, t, w->z, false, false, y);
}

/* an event is a step without stages */
static int restart(mbg_context *ctx, void *user, const real *v) {
  mbg__formulation_work *w = ((stepper *)user)->w;
  int err = MBG_OK;
  mbg__to_free(w->m, 1, v, w->z + w->flow->state.nplace);
  mbg__qr_memory_step(w->flow);
  MBG_TRY(mbg__qr_store_add(ctx, w, w->z, NULL, true));
  MBG_TRY(mbg__qr_keep_time(ctx, w, re(w->last)));
  MBG_TRY(mbg__step_nodes_again(ctx, &w->nodes, w->last, value_after, w));
  MBG_TRY(mbg__qr_flow_anchor(ctx, w->flow, re(w->last)));
done:
  return err;
}

int mbg__qr_integrate_events(mbg_context *ctx, mbg__formulation_work *w, const mbg__ode_steps *steps) {
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
