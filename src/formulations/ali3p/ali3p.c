/* `ali3p`: semi-recursive augmented Lagrangian, index 3, with projections (Lopez Varela, Dopico, Luaces; theory 5). */
#include "formulations/ali3p/ali3p_work.h"

#include <string.h>

struct mbg__formulation_work {
  mbg__ali3p a;
  mbg__march *march;
  const real *omega; /* of the last run */
};

/* ---------------------------------------------------------------------- preparation */

#define TAKE(field, type, count)                                                                                       \
  do {                                                                                                                 \
    a->field = mbg__arena_take(&a->arena, (size_t)(count), sizeof(type));                                              \
    if (!a->field) {                                                                                                   \
      return mbg__fail_memory(ctx);                                                                                    \
    }                                                                                                                  \
  } while (0)

static int take_arrays(mbg_context *ctx, mbg__ali3p *a) {
  const int *rows;
  (void)mbg__tree_rows(a->tree, &rows);
  TAKE(eps, double, a->nrow);
  TAKE(hard, bool, a->nrow);
  for (int i = 0; i < a->nrow; i++) {
    a->hard[i] = a->m->rows[rows[i]].kind == MBG__ROW_DRIVER;
  }
  TAKE(b, real, a->n + a->nrow);
  TAKE(E1, real, a->n);
  TAKE(zero, real, a->n);
  TAKE(q, real, a->n);
  TAKE(phi, real, a->nrow);
  TAKE(phid, real, a->nrow);
  TAKE(phidd, real, a->nrow);
  TAKE(coords, real, a->m->ncoord);
  TAKE(turns, int, a->m->nturn);
  return MBG_OK;
}

/* do the used signals, or signals in them, need forces? */
static int look_for_forces(mbg_context *ctx, mbg__ali3p *a) {
  const mbg_model *m = a->m;
  bool *mark = MBG_TAKE(&a->arena, bool, m->nsignal);
  if (!mark) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < a->nused; k++) {
    mark[a->used[k]] = true;
  }
  for (int i = m->nsignal - 1; i >= 0; i--) {
    const mbg__signal *sig = &m->signals[i];
    const mbg__signal_of of = sig->type->of;
    a->forces = a->forces || (mark[i] && (of == MBG__OF_FORCE || of == MBG__OF_BODIES || of == MBG__OF_JOINT));
    const mbg__fn *fn = mark[i] && of == MBG__OF_VALUE ? &m->fns[sig->fn] : NULL;
    for (int k = 0; fn && k < fn->ninput; k++) {
      if (fn->input[k].role == MBG__ROLE_SIGNAL) {
        mark[fn->input[k].index] = true;
      }
    }
  }
  return MBG_OK;
}

static int prepare_reactions(mbg_context *ctx, mbg__ali3p *a) {
  const mbg_model *m = a->m;
  for (int k = 0; k < a->nused; k++) {
    a->reactions = a->reactions || m->signals[a->used[k]].level == MBG__LEVEL_REACTION;
  }
  if (!a->reactions) {
    return MBG_OK;
  }
  TAKE(M, real, mbg__csc_count(mbg__system_pattern_K(a->sys)));
  TAKE(B, real, mbg__csc_count(mbg__system_pattern_B(a->sys)));
  TAKE(vd1, real, m->nw);
  TAKE(lambda1, real, m->nrow);
  TAKE(r1, real, m->nw);
  TAKE(gamma1, real, m->nrow);
  TAKE(x1, real, m->nv + m->nrow);
  return mbg__saddle_create(ctx, &a->arena, a->sys, 0, NULL, MBG__KLU_FRESH, &a->index1);
}

static int check_plan(mbg_context *ctx, const mbg__run_plan *plan) {
  if (!(plan->step > 0)) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "formulation 'ali3p' takes fixed steps: give \"step\"; 'lie' and 'dae' take a tolerance");
  }
  if (plan->index == 2) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "formulation 'ali3p' has no index-2 variant (its projections hold velocities); 'lie' has one");
  }
  return MBG_OK;
}

static void destroy(mbg__formulation_work *w) {
  if (!w) {
    return;
  }
  const mbg_allocator allocator = w->a.arena.allocator;
  mbg__march_destroy(w->march);
  mbg__tree_matrix_destroy(&w->a.step);
  mbg__tree_matrix_destroy(&w->a.mass);
  mbg__saddle_destroy(&w->a.index1);
  mbg__tree_destroy(w->a.tree);
  mbg__arena_destroy(&w->a.arena);
  allocator.release(allocator.user, w);
}

static int prepare(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan, int nused,
                   const int *used, mbg__formulation_work **out) {
  int err = MBG_OK;
  mbg__formulation_work *w = mbg__alloc_zero(ctx, 1, sizeof(*w));
  if (!w) {
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  mbg__ali3p *a = &w->a;
  mbg__arena_init(&a->arena, mbg__context_allocator(ctx));
  a->m = mbg__system_model(sys);
  a->sys = sys;
  a->start = start;
  a->nused = nused;
  a->used = used;
  a->rank = mbg__start_result_of(start)->rank;
  a->soft = plan->kappa > 0;
  a->kappa = plan->kappa > 0 ? plan->kappa : 1e4;
  MBG_TRY(check_plan(ctx, plan));
  MBG_TRY(mbg__tree_create(ctx, sys, a->rank, &a->tree));
  a->links = mbg__tree_links(a->tree);
  a->n = mbg__tree_size(a->tree);
  a->nrow = mbg__tree_rows(a->tree, NULL);
  MBG_TRY(take_arrays(ctx, a));
  MBG_TRY(look_for_forces(ctx, a));
  MBG_TRY(mbg__tree_matrix_create(ctx, a->tree, MBG__KLU_FROZEN, &a->step));
  MBG_TRY(mbg__tree_matrix_create(ctx, a->tree, MBG__KLU_FROZEN, &a->mass));
  MBG_TRY(prepare_reactions(ctx, a));
  const mbg__march_method method = {.bytes = mbg__ali3p_node_bytes(a),
                                    .begin = mbg__ali3p_begin,
                                    .step = mbg__ali3p_step,
                                    .record = mbg__ali3p_record};
  MBG_TRY(mbg__march_create(ctx, plan, &method, a, nused, used, &w->march));
done:
  if (err < 0) {
    destroy(w);
    w = NULL;
  }
  *out = w;
  return err;
}

/* ---------------------------------------------------------------------- runs */

static void take_counts(mbg__formulation_work *w) {
  mbg__work_counts *c = mbg__march_counts(w->march);
  c->newton_iterations = w->a.work.newton_iterations;
  c->factorizations = w->a.work.factorizations;
  c->assemblies = w->a.work.assemblies;
  c->solves = w->a.work.solves;
}

static int simulate(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes) {
  (void)frozen; /* the grid is fixed, and eps is that of the first run */
  const int err = mbg__march_simulate(ctx, w->march, nodes);
  w->omega = nodes->omega;
  take_counts(w);
  return err;
}

static int tangent(mbg_context *ctx, mbg__formulation_work *w, int (*take)(void *user, int node, const real *dy),
                   void *user) {
  const int err = mbg__ali3p_tangent(ctx, &w->a, w->march, take, user);
  take_counts(w);
  return err;
}

static int adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg_method method, int ncrit,
                   const mbg__criterion_seeds *seeds, real *psi_a) {
  (void)method; /* the discrete one is the only one */
  const int err = mbg__ali3p_adjoint(ctx, &w->a, w->march, ncrit, seeds, w->omega, psi_a);
  take_counts(w);
  return err;
}

static int last(const mbg__formulation_work *w, double *t, mbg__frame *H, real *v, int *turns) {
  const mbg__ali3p *a = &w->a;
  const void *block = mbg__march_last(w->march);
  if (!block) {
    return MBG_ERROR_INPUT;
  }
  const mbg__ali3p_node n = mbg__ali3p_view(a, block);
  mbg__tree_frames(a->tree, n.E, n.w, H, v);
  *t = *n.t;
  memcpy(turns, n.turns, (size_t)a->m->nturn * sizeof(int));
  return MBG_OK;
}

static const mbg__work_counts *counts(const mbg__formulation_work *w) { return mbg__march_counts(w->march); }

extern const mbg__formulation_ops mbg__ali3p_ops;

const mbg__formulation_ops mbg__ali3p_ops = {
    .prepare = prepare,
    .simulate = simulate,
    .tangent = tangent,
    .adjoint = adjoint,
    .last = last,
    .counts = counts,
    .destroy = destroy,
};
