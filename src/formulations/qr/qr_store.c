/* Ends of steps for the backward pass: nodes of the store. A node holds the state at the end of its step and the stages
   of the step, from which the transposed step and the dense output follow without evaluations. The stages of the dense
   output alone are there if the run has used them; else the first of their numbers is none. */
#include "formulations/qr/qr_work.h"

#include <string.h>

static size_t state_bytes(const mbg__formulation_work *w) { return (size_t)w->flow->state.n * sizeof(real); }

/* where the stages k say whether those of the dense output are there; NULL: it has none of its own */
static real *mark_of(const mbg__formulation_work *w, real *k) {
  const size_t n = (size_t)w->flow->state.n, stages = (size_t)w->method->nextended;
  return n > 0 && w->method->nextended > w->method->nstage + 1 ? k + (stages - 1) * n : NULL;
}

static void write_node(const mbg__formulation_work *w, void *block, const real *z, const real *k, bool dense) {
  real *stages = (real *)((char *)block + state_bytes(w)), *mark = mark_of(w, stages);
  memcpy(block, z, state_bytes(w));
  if (k) {
    memcpy(stages, k, (size_t)w->method->nextended * state_bytes(w));
  } else {
    memset(stages, 0, w->store.bytes - state_bytes(w));
  }
  if (mark && !dense) {
    *mark = NAN;
  }
}

/* an event again */
static int recompute_event(mbg_context *ctx, mbg__formulation_work *w, int k, int firing, const void *from, void *to) {
  write_node(w, to, from, NULL, true);
  return mbg__qr_act(ctx, w, firing, w->frozen[k], from, to);
}

/* one step again; the flow may be in a segment of its user, who looks a state up */
static int recompute(mbg_context *ctx, void *user, int k, const void *from, void *to) {
  mbg__formulation_work *w = user;
  mbg__rk_run run = mbg__ode_run(&w->plan, w->frozen[k], mbg__qr_flow_rhs, mbg__qr_begin_segment, w->flow);
  const mbg__segment segment = w->flow->segment;
  const int fired = mbg__ode_events_fired(&w->events, k);
  int err = MBG_OK;
  mbg__qr_at_step(w, k);
  if (fired >= 0) {
    MBG_TRY(recompute_event(ctx, w, k, fired, from, to));
    goto done;
  }
  run.t0 = w->frozen[k - 1];
  run.nfrozen = 1;
  run.frozen = w->frozen + k - 1;
  MBG_TRY(mbg__rk_start(ctx, w->rk, &run, from));
  MBG_TRY(mbg__rk_step(ctx, w->rk));
  write_node(w, to, mbg__rk_last(w->rk)->y1, mbg__rk_last(w->rk)->k, mbg__rk_last(w->rk)->r != NULL);
  err = MBG_OK;
done:
  w->flow->segment = segment;
  return err;
}

int mbg__qr_store_create(mbg_context *ctx, mbg__formulation_work *w) {
  const size_t bytes = (1 + (size_t)w->method->nextended) * state_bytes(w);
  w->r = MBG_TAKE(&w->arena, real, w->method->ndense * w->flow->state.n);
  w->stages = MBG_TAKE(&w->arena, real, w->method->nextended * w->flow->state.n);
  const int err = mbg__arena_check(ctx, &w->arena);
  return err < 0 ? err : mbg__store_create(ctx, bytes > 0 ? bytes : 1, w->plan.memory, recompute, w, &w->store);
}

int mbg__qr_store_add(mbg_context *ctx, mbg__formulation_work *w, const real *z, const real *k, bool dense) {
  write_node(w, w->store.spare[0], z, k, dense);
  const int err = mbg__store_checkpoint(ctx, &w->store, w->store.spare[0]);
  w->counts.bytes = mbg__store_bytes(&w->store);
  return err;
}

int mbg__qr_store_begin(mbg_context *ctx, mbg__formulation_work *w) {
  w->interpolated = 0;
  w->store.memory = mbg__ode_store_share(&w->plan, &w->nodes, mbg__ode_fixed_steps(&w->plan));
  const int err = mbg__store_begin(ctx, &w->store, 0);
  return err < 0 ? err : mbg__qr_store_add(ctx, w, w->z0, NULL, true);
}

int mbg__qr_store_steps(const mbg__formulation_work *w) { return w->store.count - 1; }

int mbg__qr_store_step(mbg_context *ctx, mbg__formulation_work *w, int k, mbg__qr_step *out) {
  const void *from, *to;
  const int err = mbg__store_restore_step(ctx, &w->store, k, &from, &to);
  if (err == MBG_OK) {
    *out = (mbg__qr_step){
        .t0 = w->frozen[k - 1], .t1 = w->frozen[k], .z0 = from, .z1 = to, .k = (const real *)to + w->flow->state.n};
  }
  w->counts.recomputed = w->store.recomputed;
  w->counts.bytes = mbg__store_bytes(&w->store);
  return err;
}

/* the stages of the dense output of a step, if it has none, as the run would have found them */
static int complete(mbg_context *ctx, mbg__formulation_work *w, int k, mbg__qr_step *step) {
  const mbg__rk_method *m = w->method;
  const mbg__segment segment = w->flow->segment;
  const size_t n = (size_t)w->flow->state.n;
  const real *mark = mark_of(w, (real *)step->k);
  int err = MBG_OK;
  if (!mark || !isnan(re(*mark))) {
    return MBG_OK;
  }
  memcpy(w->stages, step->k, (size_t)(m->nstage + 1) * n * sizeof(real));
  mbg__qr_at_step(w, k);
  w->flow->segment = mbg__plan_segment(&w->plan, step->t0, step->t1);
  for (int i = m->nstage + 1; i < m->nextended; i++) {
    const real t = mbg__rk_argument(m, (int)n, i, step->t0, step->t1, step->z0, w->stages, w->zi);
    MBG_TRY(mbg__qr_flow_rhs(w->flow, t, w->zi, w->stages + (size_t)i * n));
  }
  step->k = w->stages;
done:
  w->flow->segment = segment;
  return err > 0 ? mbg__fail(ctx, MBG_ERROR_SINGULAR, "t = %g: the step cannot be evaluated inside",
                             mbg__time_shown(step->t0))
                 : err;
}

int mbg__qr_step_interpolate(mbg_context *ctx, mbg__formulation_work *w, int k, mbg__qr_step *step, double t, real *z) {
  const int n = w->flow->state.n;
  const double h = step->t1 - step->t0;
  int err = MBG_OK;
  if (w->interpolated != k) {
    MBG_TRY(complete(ctx, w, k, step));
    mbg__rk_interpolant(NULL, w->method, n, h, step->z0, step->z1, step->k, w->r);
    w->interpolated = k;
  }
  mbg__rk_interpolate(w->method, n, w->r, fmin(1, fmax(0, (t - step->t0) / h)), 0, n, z, NULL);
done:
  return err;
}

int mbg__qr_store_interpolate(mbg_context *ctx, mbg__formulation_work *w, int k, double t, real *z) {
  mbg__qr_step step = {.t0 = w->frozen[k - 1], .t1 = w->frozen[k]};
  int err = MBG_OK;
  if (w->interpolated != k) {
    MBG_TRY(mbg__qr_store_step(ctx, w, k, &step));
  }
  MBG_TRY(mbg__qr_step_interpolate(ctx, w, k, &step, t, z));
done:
  return err;
}
