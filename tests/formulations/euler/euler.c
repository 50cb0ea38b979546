/* Table, preparation and end of `euler`. */
#include "euler/euler_work.h"

#include <string.h>

static void destroy(mbg__euler *a) {
  if (!a) {
    return;
  }
  const mbg_allocator allocator = a->arena.allocator;
  mbg__march_destroy(a->march);
  mbg__saddle_destroy(&a->saddle);
  mbg__arena_destroy(&a->arena);
  allocator.release(allocator.user, a);
}

/* everything that steps need: nothing is allocated in a step */
static void take_arrays(mbg__euler *a) {
  a->M = MBG_TAKE(&a->arena, real, mbg__csc_count(mbg__system_pattern_K(a->sys)));
  a->B = MBG_TAKE(&a->arena, real, mbg__csc_count(mbg__system_pattern_B(a->sys)));
  a->r = MBG_TAKE(&a->arena, real, a->m->nw);
  a->gamma = MBG_TAKE(&a->arena, real, a->m->nrow);
  a->x = MBG_TAKE(&a->arena, real, a->m->nv + a->m->nrow);
  a->q = MBG_TAKE(&a->arena, real, a->m->ncoord);
}

static int prepare(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan, int nused,
                   const int *used, mbg__formulation_work **out) {
  mbg__march_method method = mbg__euler_method;
  int err = MBG_OK;
  mbg__euler *a = mbg__alloc_zero(ctx, 1, sizeof(*a));
  *out = NULL;
  if (!a) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&a->arena, mbg__context_allocator(ctx));
  a->m = mbg__system_model(sys);
  a->sys = sys;
  a->start = start;
  a->keep = mbg__start_result_of(start)->rank->keep;
  a->nused = nused;
  a->used = used;
  method.bytes = mbg__euler_node_bytes(a->m);
  if (!(plan->step > 0)) {
    err = mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "formulation 'euler' takes fixed steps: give \"step\"");
    goto done;
  }
  take_arrays(a);
  MBG_TRY(mbg__arena_check(ctx, &a->arena));
  MBG_TRY(mbg__saddle_create(ctx, &a->arena, sys, 0, NULL, MBG__KLU_FROZEN, &a->saddle));
  MBG_TRY(mbg__march_create(ctx, plan, &method, a, a->m->nw, nused, used, &a->march));
  a->counts = mbg__march_counts(a->march);
done:
  if (err < 0) {
    destroy(a);
    a = NULL;
  }
  *out = a;
  return err;
}

static int simulate(mbg_context *ctx, mbg__euler *a, bool frozen, mbg__nodes *nodes) {
  return mbg__march_simulate(ctx, a->march, frozen, nodes);
}

static int last(const mbg__euler *a, double *t, mbg__frame *H, real *v, int *turns) {
  const void *block = mbg__march_last(a->march);
  if (!block) {
    return MBG_ERROR_INPUT;
  }
  const mbg__euler_node n = mbg__euler_view(a->m, block);
  *t = *n.t;
  memcpy(H, n.H, (size_t)a->m->nbody * sizeof(*H));
  memcpy(v, n.v, (size_t)a->m->nw * sizeof(real));
  memcpy(turns, n.turns, (size_t)a->m->nturn * sizeof(int));
  return MBG_OK;
}

static const mbg__work_counts *counts(const mbg__euler *a) { return a->counts; }

extern const mbg__formulation_ops mbg__euler_ops;

const mbg__formulation_ops mbg__euler_ops = {
    .prepare = prepare,
    .simulate = simulate,
    .tangent = mbg__euler_tangent,
    .adjoint = mbg__euler_adjoint,
    .last = last,
    .counts = counts,
    .destroy = destroy,
};
