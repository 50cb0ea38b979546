/* Ends of steps for the backward pass: nodes of the store. */
#include "formulations/dca/dca_work.h"

#include <string.h>

/* ---------------------------------------------------------------------- nodes */

/* numbers of the stages of a step; a limit of memory has better uses: stages cost less than steps */
static size_t stage_count(const mbg__formulation_work *w) {
  return w->plan.memory > 0 ? 0 : (size_t)w->method->nextended * 2 * (size_t)w->flow.n;
}

static size_t node_bytes(const mbg__formulation_work *w) {
  return 16 + (size_t)w->m->nbody * sizeof(mbg__frame) + (3 * (size_t)w->flow.n + stage_count(w)) * sizeof(real) +
         (size_t)w->m->nturn * sizeof(int);
}

static mbg__dca_step view(const mbg__formulation_work *w, const void *block) {
  char *p = (char *)(uintptr_t)block;
  mbg__dca_step s = {.t = (double *)(void *)p, .rounds = (int *)(void *)(p + 8)};
  s.E = (mbg__frame *)(void *)(p + 16);
  s.w = (real *)(void *)(s.E + w->m->nbody);
  s.sigma = s.w + w->flow.n;
  s.before = s.sigma + w->flow.n;
  s.k = stage_count(w) > 0 ? s.before + w->flow.n : NULL;
  s.turns = (int *)(void *)(s.before + w->flow.n + stage_count(w));
  return s;
}

static void write_node(const mbg__formulation_work *w, void *block, const mbg__dca_base *base, const real *sigma,
                       const real *k) {
  const mbg__dca_step s = view(w, block);
  const size_t bytes = (size_t)w->flow.n * sizeof(real);
  char *end = (char *)(void *)(s.turns + w->m->nturn);
  memset(block, 0, 16);
  memset(end, 0, w->store.bytes - (size_t)(end - (char *)block));
  *s.t = re(base->t);
  *s.rounds = w->rounds;
  mbg__pool_copy(w->pool, MBG__LOOPS_STORE + 1, (size_t)w->m->nbody * sizeof(mbg__frame), s.E, base->E);
  memcpy(s.w, base->w, bytes);
  memcpy(s.turns, base->turns, (size_t)w->m->nturn * sizeof(int));
  if (sigma) {
    memcpy(s.sigma, sigma, bytes);
    memcpy(s.before, w->before, bytes);
  } else {
    memset(s.sigma, 0, 2 * bytes + stage_count(w) * sizeof(real));
  }
  if (k && s.k) {
    mbg__pool_copy(w->pool, MBG__LOOPS_STORE + 1, stage_count(w) * sizeof(real), s.k, k);
  }
}

void mbg__dca_base_load(const mbg__formulation_work *w, const mbg__dca_step *s, mbg__dca_base *b) {
  b->t = *s->t;
  mbg__pool_copy(w->pool, MBG__LOOPS_STORE + 1, (size_t)w->m->nbody * sizeof(mbg__frame), b->E, s->E);
  memcpy(b->w, s->w, (size_t)w->flow.n * sizeof(real));
  memcpy(b->turns, s->turns, (size_t)w->m->nturn * sizeof(int));
}

/* ---------------------------------------------------------------------- store */

/* one step again, from base `now`, which is made the start */
static int recompute(mbg_context *ctx, void *user, int k, const void *from, void *to) {
  mbg__formulation_work *w = user;
  const mbg__dca_step start = view(w, from);
  const int n = w->flow.n;
  int err = MBG_OK;
  mbg__dca_base_load(w, &start, &w->base[w->now]);
  MBG_TRY(mbg__dca_base_set(ctx, &w->flow, &w->base[w->now]));
  const int fired = mbg__ode_events_fired(&w->events, k);
  if (fired >= 0) {
    const mbg__state before = mbg__dca_bodies(ctx, w, &w->base[w->now]);
    MBG_TRY(mbg__events_act(ctx, w->plan.events, fired, &before, w->events.v));
    MBG_TRY(mbg__dca_restart(ctx, w, w->events.v));
    write_node(w, to, &w->base[!w->now], NULL, NULL);
    return MBG_OK;
  }
  mbg__ode_events_at(&w->events, w->plan.events, k);
  mbg__rk_run run = mbg__ode_run(&w->plan, w->frozen[k], mbg__dca_rhs, mbg__dca_begin_segment, w);
  run.t0 = w->frozen[k - 1];
  run.nfrozen = 1;
  run.frozen = w->frozen + k - 1;
  vn_zero(n, w->y);
  vn_copy(n, w->y + n, start.w);
  MBG_TRY(mbg__rk_start(ctx, w->rk, &run, w->y));
  MBG_TRY(mbg__rk_step(ctx, w->rk));
  const mbg__rk_record *step = mbg__rk_last(w->rk);
  vn_copy(2 * n, w->y, step->y1);
  MBG_TRY(mbg__dca_finish_step(ctx, w, step->t1, w->y));
  write_node(w, to, &w->base[!w->now], w->y, mbg__rk_last(w->rk)->k);
  err = MBG_OK;
done:
  return err;
}

int mbg__dca_store_create(mbg_context *ctx, mbg__formulation_work *w) {
  const int err = mbg__store_create(ctx, node_bytes(w), w->plan.memory, recompute, w, &w->store);
  w->store.pool = w->pool;
  return err;
}

int mbg__dca_store_add(mbg_context *ctx, mbg__formulation_work *w, const mbg__dca_base *base, const real *sigma,
                       const real *k) {
  write_node(w, w->store.spare[0], base, sigma, k);
  const int err = mbg__store_checkpoint(ctx, &w->store, w->store.spare[0]);
  w->counts.bytes = mbg__store_bytes(&w->store);
  return err;
}

int mbg__dca_store_begin(mbg_context *ctx, mbg__formulation_work *w) {
  w->store.memory = mbg__ode_store_share(&w->plan, &w->nodes, mbg__ode_fixed_steps(&w->plan));
  const int err = mbg__store_begin(ctx, &w->store, 0);
  return err < 0 ? err : mbg__dca_store_add(ctx, w, &w->base[w->now], NULL, NULL);
}

int mbg__dca_store_step(mbg_context *ctx, mbg__formulation_work *w, int k, mbg__dca_step *start, mbg__dca_step *end) {
  const void *from, *to;
  const int err = mbg__store_restore_step(ctx, &w->store, k, &from, &to);
  if (err == MBG_OK) {
    *start = view(w, from);
    *end = view(w, to);
  }
  w->counts.recomputed = w->store.recomputed;
  w->counts.bytes = mbg__store_bytes(&w->store);
  return err;
}

void mbg__dca_store_first(const mbg__formulation_work *w, mbg__dca_step *out) {
  *out = view(w, mbg__store_first(&w->store));
}
