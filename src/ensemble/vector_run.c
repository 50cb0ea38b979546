/* Compiled for ensembles alone, as C++: see vector_run.h. */
#include "ensemble/vector_run.h"

#include "formulations/formulation.h"
#include "model/design.h"
#include "system/system_internal.h"
#include "trajectory/rank_watch.h"

#include <string.h>

__thread int mbg__diverged;

void mbg__diverge() { mbg__diverged = 1; }

/* What formulations know of the start and of the watch: the runs of the samples have them. */
struct mbg__start_work {
  mbg__start_result result;
  const mbg__vector_calls *calls;
  const mbg_model *m;
  double *gw, *gv, *ga; /* of one sample   (nw), (nw), (na) */
};

struct mbg__rank_watch {
  const mbg__vector_calls *calls;
  const mbg_model *m;
  mbg__system *sys;
  mbg__vector_state state; /* of one sample */
};

struct mbg__vector_run {
  mbg_allocator given;
  mbg_context *ctx; /* with memory that is aligned */
  mbg__arena arena;
  mbg__vector_setup setup;
  mbg_model model; /* with kernels for vectors */
  mbg__run_plan plan;
  mbg__design *design;
  mbg__system *sys;
  mbg__start_work start;
  mbg__rank_watch watch;
  mbg__formulation_work *work;
  mbg__nodes nodes;
  real *p; /* (np) */
};

extern const mbg__formulation_ops mbg__ali3p_ops;

/* ---------------------------------------------------------------------- start */

const mbg__start_result *mbg__start_result_of(const mbg__start_work *start) { return &start->result; }

static void one(int n, const real *from, int sample, double *to) {
  for (int i = 0; i < n; i++) {
    to[i] = from[i].of[sample];
  }
}

static void put(int n, const double *from, int sample, real *to) {
  for (int i = 0; i < n; i++) {
    to[i].of[sample] = from[i];
  }
}

int mbg__start_pull(mbg_context *ctx, mbg__start_work *s, const real *gw, const real *gv, real *ga) {
  int err = MBG_OK;
  (void)ctx;
  for (int i = 0; i < MBG__SAMPLES && err == MBG_OK; i++) {
    one(s->m->nw, gw, i, s->gw);
    one(s->m->nw, gv, i, s->gv);
    one(s->m->na, ga, i, s->ga);
    err = s->calls->pull(s->calls->user, i, s->gw, s->gv, s->ga);
    put(s->m->na, s->ga, i, ga);
  }
  return err;
}

/* direct differentiation is not made in vectors */
int mbg__start_push_column(mbg_context *ctx, mbg__start_work *start, int p, const real *da, real *w0, real *v0) {
  (void)ctx, (void)start, (void)p, (void)da, (void)w0, (void)v0;
  r_diverge_all();
  return MBG_ERROR_UNSUPPORTED;
}

/* ---------------------------------------------------------------------- watch of singular positions */

static void take_state(const mbg__rank_watch *w, int sample) {
  const mbg__system *s = w->sys;
  for (int b = 0; b < w->m->nbody; b++) {
    one(9, s->H[b].R, sample, w->state.H + 12 * b);
    one(3, s->H[b].x, sample, w->state.H + 12 * b + 9);
  }
  one(w->m->nw, s->v, sample, w->state.v);
  memcpy(w->state.turns, s->turns, (size_t)w->m->nturn * sizeof(int));
}

int mbg__rank_watch_step(mbg_context *ctx, mbg__rank_watch *w, double t0, double t1, mbg__rank_watch_place place,
                         void *user) {
  int err = MBG_OK;
  (void)ctx, (void)place, (void)user;
  for (int i = 0; w && i < MBG__SAMPLES && err == MBG_OK; i++) {
    if (w->calls->due(w->calls->user, i, t0, t1)) {
      take_state(w, i);
      w->state.t = t1;
      err = w->calls->look(w->calls->user, i, t0, t1, &w->state);
    }
  }
  return err;
}

void mbg__rank_watch_begin(mbg__rank_watch *w) { (void)w; }

/* of a run that stops, whose samples are computed one by one */
void mbg__rank_watch_explain(const mbg__rank_watch *w, char *text, size_t size) {
  (void)w;
  if (size > 0) {
    text[0] = '\0';
  }
}

/* ---------------------------------------------------------------------- memory */

enum { ALIGNMENT = 32, MARGIN = 2 * ALIGNMENT };

/* in front of each block: where the memory begins from which it was taken */
static void **origin(void *block) { return (void **)block - 1; }

/* by the given allocator, `user` */
static void *resize_aligned(void *user, void *block, size_t size) {
  const mbg_allocator *a = (const mbg_allocator *)user;
  char *before = block ? (char *)*origin(block) : NULL;
  const size_t offset = block ? (size_t)((char *)block - before) : 0;
  char *memory = (char *)a->resize(a->user, before, size + MARGIN);
  if (!memory) {
    return NULL;
  }
  char *out = memory + (2 * ALIGNMENT - (uintptr_t)memory % ALIGNMENT);
  if (block && (size_t)(out - memory) != offset) {
    memmove(out, memory + offset, size);
  }
  *origin(out) = memory;
  return out;
}

static void release_aligned(void *user, void *block) {
  const mbg_allocator *a = (const mbg_allocator *)user;
  if (block) {
    a->release(a->user, *origin(block));
  }
}

/* ---------------------------------------------------------------------- creation */

static bool interrupt(void *user) {
  const mbg__vector_run *r = (const mbg__vector_run *)user;
  const mbg__run_plan *plan = r->setup.plan;
  return mbg__diverged || (plan->interrupt && plan->interrupt(plan->user));
}

static void take_arrays(mbg__vector_run *r) {
  const mbg_model *m = &r->model;
  mbg__arena *a = &r->arena;
  r->p = MBG_TAKE(a, real, m->np);
  r->start.gw = MBG_TAKE(a, double, m->nw);
  r->start.gv = MBG_TAKE(a, double, m->nw);
  r->start.ga = MBG_TAKE(a, double, m->na);
  r->start.result.H = MBG_TAKE(a, mbg__frame, m->nbody);
  r->start.result.v = MBG_TAKE(a, real, m->nw);
  r->start.result.turns = MBG_TAKE(a, int, m->nturn);
  r->watch.state.H = MBG_TAKE(a, double, 12 * (size_t)m->nbody);
  r->watch.state.v = MBG_TAKE(a, double, m->nw);
  r->watch.state.turns = MBG_TAKE(a, int, m->nturn);
}

static int make(mbg_context *ctx, mbg__vector_run *r) {
  const mbg__vector_setup *s = &r->setup;
  int err = MBG_OK;
  MBG_TRY(mbg__kernels_exchange(ctx, &r->arena, s->model, s->kernels, &r->model));
  take_arrays(r);
  MBG_TRY(mbg__arena_check(ctx, &r->arena));
  for (int i = 0; i < r->model.np; i++) {
    r->p[i] = r->model.p[i];
  }
  MBG_TRY(mbg__design_create(ctx, &r->arena, &r->model, &r->design));
  MBG_TRY(mbg__design_update(ctx, r->design, r->p));
  MBG_TRY(mbg__system_create(ctx, &r->model, r->design, &r->sys));
  r->start.result.rank = (mbg__rank *)s->rank;
  r->start.calls = r->watch.calls = &s->calls;
  r->start.m = r->watch.m = &r->model;
  r->watch.sys = r->sys;
  r->plan = *s->plan;
  r->plan.watch = s->watched ? &r->watch : NULL;
  r->plan.threads = 1;
  r->plan.interrupt = interrupt;
  r->plan.progress = NULL;
  r->plan.user = r;
  r->plan.stopped = NULL;
  MBG_TRY(mbg__ali3p_ops.prepare(ctx, r->sys, &r->start, &r->plan, s->nused, s->used, &r->work));
done:
  return err;
}

int mbg__vector_run_create(mbg_context *ctx, const mbg__vector_setup *setup, mbg__vector_run **out) {
  mbg__vector_run *r = (mbg__vector_run *)mbg__alloc_zero(ctx, 1, sizeof(*r));
  *out = r;
  if (!r) {
    return mbg__fail_memory(ctx);
  }
  r->given = *mbg__context_allocator(ctx);
  r->setup = *setup;
  mbg__diverged = 0;
  const mbg_allocator aligned = {.resize = resize_aligned, .release = release_aligned, .user = &r->given};
  mbg__arena_init(&r->arena, &aligned);
  int err = mbg_context_create(&aligned, &r->ctx);
  err = err == MBG_OK ? make(r->ctx, r) : err;
  if (err < 0) {
    mbg__vector_run_destroy(r);
    *out = NULL;
  }
  return err;
}

void mbg__vector_run_destroy(mbg__vector_run *r) {
  if (!r) {
    return;
  }
  const mbg_allocator allocator = r->given;
  if (r->work) {
    mbg__ali3p_ops.destroy(r->work);
  }
  mbg__system_destroy(r->sys);
  mbg__arena_destroy(&r->arena);
  mbg_context_destroy(r->ctx);
  allocator.release(allocator.user, r);
}

/* ---------------------------------------------------------------------- simulation */

static void take_starts(mbg__vector_run *r, const double *const *p, const mbg__vector_state *starts) {
  const mbg_model *m = &r->model;
  mbg__start_result *to = &r->start.result;
  to->t = starts[0].t;
  memcpy(to->turns, starts[0].turns, (size_t)m->nturn * sizeof(int));
  for (int i = 0; i < MBG__SAMPLES; i++) {
    put(m->np, p[i], i, r->p);
    put(m->nw, starts[i].v, i, to->v);
    for (int b = 0; b < m->nbody; b++) {
      put(9, starts[i].H + 12 * b, i, to->H[b].R);
      put(3, starts[i].H + 12 * b + 9, i, to->H[b].x);
    }
    if (memcmp(to->turns, starts[i].turns, (size_t)m->nturn * sizeof(int)) != 0 || starts[i].t != starts[0].t) {
      r_diverge_all();
    }
  }
}

/* the last node of each sample has finite numbers; runs check it, too */
static int check_last(const mbg__vector_run *r, mbg__arena *arena) {
  const mbg_model *m = &r->model;
  double t;
  mbg__frame *H = MBG_TAKE(arena, mbg__frame, m->nbody);
  real *v = MBG_TAKE(arena, real, m->nw);
  int *turns = MBG_TAKE(arena, int, m->nturn);
  if (!H || !v || !turns || mbg__ali3p_ops.last(r->work, &t, H, v, turns) < 0) {
    return MBG_ERROR_MEMORY;
  }
  bool finite = true;
  for (int b = 0; b < m->nbody; b++) {
    finite = finite && r_every(isfinite(re(H[b].x[0] + H[b].x[1] + H[b].x[2])));
  }
  for (int i = 0; i < m->nw; i++) {
    finite = finite && r_every(isfinite(re(v[i])));
  }
  return finite ? MBG_OK : MBG_ERROR_CONVERGENCE;
}

int mbg__vector_run_simulate(mbg__vector_run *r, const double *const *p, const mbg__vector_state *starts) {
  mbg_context *ctx = r->ctx;
  mbg__arena scratch;
  int err = MBG_OK;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  mbg__diverged = 0;
  take_starts(r, p, starts);
  MBG_TRY(mbg__design_update(ctx, r->design, r->p));
  mbg__system_watch(r->sys, true);
  MBG_TRY(mbg__ali3p_ops.simulate(ctx, r->work, true, &r->nodes));
  MBG_TRY(r->nodes.partial ? MBG_ERROR_INTERRUPTED : check_last(r, &scratch));
done:
  mbg__system_watch(r->sys, false);
  mbg_context_clear(ctx);
  mbg__arena_destroy(&scratch);
  return err < 0 || mbg__diverged;
}

int mbg__vector_run_nodes(const mbg__vector_run *r, int *width) {
  *width = r->nodes.width;
  return r->nodes.nnode;
}

void mbg__vector_run_values(const mbg__vector_run *r, int sample, double *t, double *y) {
  one(r->nodes.nnode, r->nodes.t, sample, t);
  one(r->nodes.nnode * r->nodes.width, r->nodes.y, sample, y);
}

static void peaks(int n, const mbg__peak *from, int sample, double *to) {
  for (int i = 0; i < n; i++) {
    to[2 * i] = from[i].most.of[sample];
    to[2 * i + 1] = from[i].t.of[sample];
  }
}

void mbg__vector_run_watched(const mbg__vector_run *r, int sample, mbg__vector_watch *out) {
  const mbg__watch *w = mbg__system_watched(r->sys);
  const int contacts = r->model.nforce + r->model.njoint;
  peaks(r->model.nbody, w->spin, sample, out->spin);
  peaks(contacts, w->push, sample, out->push);
  peaks(contacts, w->pull, sample, out->pull);
  peaks(1, &w->rise, sample, out->rise);
  peaks(1, &w->change, sample, out->change);
  out->nodes = w->nodes;
  out->slow = w->slow.of[sample];
  out->fast = w->fast.of[sample];
  out->first = w->first.of[sample];
  out->least = w->least.of[sample];
}

/* ---------------------------------------------------------------------- gradients */

typedef struct {
  const mbg__vector_calls *calls;
  double *seed; /* of one sample */
} seed_source;

static void take_seeds(const void *user, int ncrit, int nused, int node, real *seed) {
  const seed_source *s = (const seed_source *)user;
  for (int i = 0; i < MBG__SAMPLES; i++) {
    s->calls->seeds(s->calls->user, i, ncrit, nused, node, s->seed);
    put(ncrit * nused, s->seed, i, seed);
  }
}

int mbg__vector_run_adjoint(mbg__vector_run *r, int ncrit, double *const *psi_a) {
  mbg_context *ctx = r->ctx;
  const int n = ncrit * r->model.na;
  seed_source source = {&r->setup.calls, NULL};
  mbg__arena scratch;
  int err = MBG_OK;
  mbg__diverged = 0;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  source.seed = MBG_TAKE(&scratch, double, ncrit * r->setup.nused);
  mbg__criterion_seeds *seeds = MBG_TAKE(&scratch, mbg__criterion_seeds, ncrit);
  real *all = MBG_TAKE(&scratch, real, n);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  for (int c = 0; c < ncrit; c++) {
    seeds[c].source = take_seeds;
    seeds[c].user = &source;
  }
  for (int i = 0; i < MBG__SAMPLES; i++) {
    put(n, psi_a[i], i, all);
  }
  MBG_TRY(mbg__ali3p_ops.adjoint(ctx, r->work, MBG_METHOD_ADJOINT, ncrit, seeds, all));
  for (int i = 0; i < MBG__SAMPLES; i++) {
    one(n, all, i, psi_a[i]);
  }
done:
  mbg_context_clear(ctx);
  mbg__arena_destroy(&scratch);
  return err < 0 || mbg__diverged;
}
