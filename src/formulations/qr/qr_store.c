/* Ends of steps for the backward pass: nodes of the store. A node holds the state at the end of its step and the stages
   of the step, from which the transposed step and the dense output follow without evaluations. */
#include "formulations/qr/qr_work.h"

#include <string.h>

static size_t state_bytes(const mbg__formulation_work *w) { return (size_t)w->flow->state.n * sizeof(real); }

static void write_node(const mbg__formulation_work *w, void *block, const real *z, const real *k) {
  memcpy(block, z, state_bytes(w));
  if (k) {
    memcpy((char *)block + state_bytes(w), k, (size_t)w->method->nextended * state_bytes(w));
  } else {
    memset((char *)block + state_bytes(w), 0, w->store.bytes - state_bytes(w));
  }
}

/* an event again */
static int recompute_event(mbg_context *ctx, mbg__formulation_work *w, int k, int firing, const void *from, void *to) {
  write_node(w, to, from, NULL);
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
  write_node(w, to, mbg__rk_last(w->rk)->y1, mbg__rk_last(w->rk)->k);
  err = MBG_OK;
done:
  w->flow->segment = segment;
  return err;
}

int mbg__qr_store_create(mbg_context *ctx, mbg__formulation_work *w) {
  const size_t bytes = (1 + (size_t)w->method->nextended) * state_bytes(w);
  w->r = MBG_TAKE(&w->arena, real, w->method->ndense * w->flow->state.n);
  const int err = mbg__arena_check(ctx, &w->arena);
  return err < 0 ? err : mbg__store_create(ctx, bytes > 0 ? bytes : 1, w->plan.memory, recompute, w, &w->store);
}

int mbg__qr_store_add(mbg_context *ctx, mbg__formulation_work *w, const real *z, const real *k) {
  write_node(w, w->store.spare[0], z, k);
  const int err = mbg__store_checkpoint(ctx, &w->store, w->store.spare[0]);
  w->counts.bytes = mbg__store_bytes(&w->store);
  return err;
}

int mbg__qr_store_begin(mbg_context *ctx, mbg__formulation_work *w) {
  w->interpolated = 0;
  w->store.memory = mbg__ode_store_share(&w->plan, &w->nodes, mbg__ode_fixed_steps(&w->plan));
  const int err = mbg__store_begin(ctx, &w->store, 0);
  return err < 0 ? err : mbg__qr_store_add(ctx, w, w->z0, NULL);
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

void mbg__qr_step_interpolate(mbg__formulation_work *w, int k, const mbg__qr_step *step, double t, real *z) {
  const int n = w->flow->state.n;
  const double h = step->t1 - step->t0;
  if (w->interpolated != k) {
    mbg__rk_interpolant(NULL, w->method, n, h, step->z0, step->z1, step->k, w->r);
    w->interpolated = k;
  }
  mbg__rk_interpolate(w->method, n, w->r, fmin(1, fmax(0, (t - step->t0) / h)), 0, n, z, NULL);
}

int mbg__qr_store_interpolate(mbg_context *ctx, mbg__formulation_work *w, int k, double t, real *z) {
  mbg__qr_step step = {.t0 = w->frozen[k - 1], .t1 = w->frozen[k]};
  int err = MBG_OK;
  if (w->interpolated != k) {
    MBG_TRY(mbg__qr_store_step(ctx, w, k, &step));
  }
  mbg__qr_step_interpolate(w, k, &step, t, z);
done:
  return err;
}
