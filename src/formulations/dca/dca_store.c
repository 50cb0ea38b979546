/* Ends of steps for the backward pass. */
#include "formulations/dca/dca_work.h"

#include <string.h>

size_t mbg__dca_step_bytes(const mbg__formulation_work *w) {
  const size_t bytes = 16 + (size_t)w->m->nbody * sizeof(mbg__frame) + 3 * (size_t)w->flow.n * sizeof(real) +
                       (size_t)w->m->nturn * sizeof(int);
  return (bytes + 15) / 16 * 16;
}

mbg__dca_step mbg__dca_step_view(const mbg__formulation_work *w, const void *block) {
  char *p = (char *)(uintptr_t)block;
  mbg__dca_step s = {.t = (double *)(void *)p, .rounds = (int *)(void *)(p + 8)};
  s.E = (mbg__frame *)(void *)(p + 16);
  s.w = (real *)(void *)(s.E + w->m->nbody);
  s.sigma = s.w + w->flow.n;
  s.before = s.sigma + w->flow.n;
  s.turns = (int *)(void *)(s.before + w->flow.n);
  return s;
}

static void *grow(const mbg__formulation_work *w, void *block, size_t count, size_t size) {
  return w->allocator.resize(w->allocator.user, block, count * size + 1);
}

static char *place(const mbg__dca_store *s, char *block, int i) { return block + (size_t)i * s->bytes; }

void mbg__dca_store_free(mbg__formulation_work *w) {
  w->allocator.release(w->allocator.user, w->store.block);
  w->allocator.release(w->allocator.user, w->store.stretch);
}

int mbg__dca_store_begin(mbg_context *ctx, mbg__formulation_work *w) {
  mbg__dca_store *s = &w->store;
  s->bytes = mbg__dca_step_bytes(w);
  s->count = s->kept = s->filled = 0;
  s->stride = 1;
  return mbg__dca_store_add(ctx, w, &w->base[w->now], NULL);
}

static void write_step(const mbg__formulation_work *w, char *block, const mbg__dca_base *base, const real *sigma) {
  const mbg__dca_step s = mbg__dca_step_view(w, block);
  const size_t bytes = (size_t)w->flow.n * sizeof(real);
  memset(block, 0, w->store.bytes);
  *s.t = base->t;
  *s.rounds = w->rounds;
  memcpy(s.E, base->E, (size_t)w->m->nbody * sizeof(mbg__frame));
  memcpy(s.w, base->w, bytes);
  memcpy(s.turns, base->turns, (size_t)w->m->nturn * sizeof(int));
  if (sigma) {
    memcpy(s.sigma, sigma, bytes);
    memcpy(s.before, w->before, bytes);
  }
}

/* half of the memory holds kept ends: when it is full every second one goes */
static int most_kept(const mbg__formulation_work *w) {
  const double n = w->plan.memory > 0 ? floor(w->plan.memory / 2 / (double)w->store.bytes) : 1e9;
  return n < 4 ? 4 : (int)fmin(n, 1e9);
}

static void thin(mbg__dca_store *s) {
  int kept = 0;
  for (int i = 0; i < s->kept; i += 2) {
    memmove(place(s, s->block, kept++), place(s, s->block, i), s->bytes);
  }
  s->kept = kept;
  s->stride *= 2;
}

int mbg__dca_store_add(mbg_context *ctx, mbg__formulation_work *w, const mbg__dca_base *base, const real *sigma) {
  mbg__dca_store *s = &w->store;
  const int k = s->count++;
  if (s->kept == most_kept(w)) {
    thin(s);
  }
  if (k % s->stride != 0) {
    return MBG_OK;
  }
  if (s->kept == s->room) {
    const int room = s->room < 16 ? 64 : 2 * s->room, most = most_kept(w);
    char *block = grow(w, s->block, (size_t)(room < most ? room : most), s->bytes);
    if (!block) {
      return mbg__fail_memory(ctx);
    }
    s->block = block;
    s->room = room < most ? room : most;
  }
  write_step(w, place(s, s->block, s->kept++), base, sigma);
  w->counts.bytes = (double)s->room * (double)s->bytes;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- what was left out */

static void load_base(mbg__formulation_work *w, mbg__dca_base *b, const mbg__dca_step *s) {
  b->t = *s->t;
  memcpy(b->E, s->E, (size_t)w->m->nbody * sizeof(mbg__frame));
  memcpy(b->w, s->w, (size_t)w->flow.n * sizeof(real));
  memcpy(b->turns, s->turns, (size_t)w->m->nturn * sizeof(int));
}

static int rhs(void *user, double t, const real *y, real *yd) {
  mbg__formulation_work *w = user;
  const int err = mbg__dca_flow_eval(w->flow.ctx, &w->flow, &w->base[w->now], t, y);
  if (err == MBG_OK) {
    mbg__dca_flow_rates(&w->flow, y, yd);
  }
  return mbg__ode_status(err);
}

static int segment(void *user, double ta, double tb, real *y) {
  (void)y;
  mbg__dca_segment(user, ta, tb);
  return MBG_OK;
}

/* the ends from kept one `from` to the next one */
static int repeat(mbg_context *ctx, mbg__formulation_work *w, int from) {
  mbg__dca_store *s = &w->store;
  const int first = from * s->stride, steps = s->count - 1 - first < s->stride ? s->count - 1 - first : s->stride;
  const mbg__dca_step start = mbg__dca_step_view(w, place(s, s->block, from));
  const int n = w->flow.n;
  int err = MBG_OK;
  load_base(w, &w->base[w->now], &start);
  MBG_TRY(mbg__dca_base_set(ctx, &w->flow, &w->base[w->now]));
  memcpy(s->stretch, place(s, s->block, from), s->bytes);
  const mbg__rk_run run = {.rhs = rhs,
                           .segment = segment,
                           .user = w,
                           .t0 = w->frozen[first],
                           .t1 = w->frozen[first + steps],
                           .nbreak = w->plan.nbreak,
                           .breaks = w->plan.breaks,
                           .nfrozen = steps,
                           .frozen = w->frozen + first};
  vn_zero(n, w->y);
  vn_copy(n, w->y + n, start.w);
  MBG_TRY(mbg__rk_start(ctx, w->rk, &run, w->y));
  for (int i = 1; i <= steps; i++) {
    MBG_TRY(mbg__rk_step(ctx, w->rk));
    const mbg__rk_record *step = mbg__rk_last(w->rk);
    vn_copy(2 * n, w->y, step->y1);
    w->rounds = 0;
    MBG_TRY(mbg__dca_finish_step(ctx, w, step->t1, w->y, false));
    write_step(w, place(s, s->stretch, i), &w->base[!w->now], w->y);
    w->now = !w->now;
    w->counts.recomputed++;
    vn_zero(n, w->y);
    vn_copy(n, w->y + n, w->base[w->now].w);
    MBG_TRY(mbg__rk_rebase(ctx, w->rk, w->y, NULL));
  }
  err = MBG_OK;
  s->first = first;
  s->filled = steps + 1;
done:
  return err;
}

/* ends from .. to, at most a step apart, in memory */
static int bring(mbg_context *ctx, mbg__formulation_work *w, int from, int to) {
  mbg__dca_store *s = &w->store;
  if (s->stride == 1 || (s->filled > 0 && from >= s->first && to < s->first + s->filled)) {
    return MBG_OK;
  }
  char *stretch = grow(w, s->stretch, (size_t)s->stride + 1, s->bytes);
  if (!stretch) {
    return mbg__fail_memory(ctx);
  }
  s->stretch = stretch;
  s->filled = 0;
  return repeat(ctx, w, from / s->stride);
}

static mbg__dca_step end_of(const mbg__formulation_work *w, int k) {
  const mbg__dca_store *s = &w->store;
  return mbg__dca_step_view(w, s->stride == 1 ? place(s, s->block, k) : place(s, s->stretch, k - s->first));
}

int mbg__dca_store_step(mbg_context *ctx, mbg__formulation_work *w, int k, mbg__dca_step *start, mbg__dca_step *end) {
  const int err = bring(ctx, w, k - 1, k);
  if (err == MBG_OK) {
    *start = end_of(w, k - 1);
    *end = end_of(w, k);
  }
  return err;
}

void mbg__dca_store_first(const mbg__formulation_work *w, mbg__dca_step *out) {
  *out = mbg__dca_step_view(w, w->store.block);
}
