/* `ali3p`: semi-recursive augmented Lagrangian, index 3, with projections (Lopez Varela, Dopico, Luaces; theory 5). */
#include "formulations/ali3p/ali3p_work.h"

#include <string.h>

/* ---------------------------------------------------------------------- nodes */

size_t mbg__ali3p_node_bytes(const mbg__ali3p *a) {
  return sizeof(mbg__node_head) + (size_t)a->m->nbody * sizeof(mbg__frame) +
         (5 * (size_t)a->n + 3 * (size_t)a->nrow) * sizeof(real) + (size_t)a->m->nturn * sizeof(int);
}

mbg__ali3p_node mbg__ali3p_view(const mbg__ali3p *a, const void *block) {
  mbg__node_head *head = (mbg__node_head *)(uintptr_t)block;
  mbg__ali3p_node n = {.t = &head->t, .h = &head->h, .E = (mbg__frame *)(void *)(head + 1)};
  real *x = (real *)(void *)(n.E + a->m->nbody), **part[] = {&n.w, &n.a, &n.ws, &n.as, &n.D};
  for (int i = 0; i < MBG_COUNT(part); i++, x += a->n) {
    *part[i] = x;
  }
  n.lambda = x;
  n.y = x + a->nrow;
  n.x = x + 2 * a->nrow;
  n.turns = (int *)(void *)(x + 3 * a->nrow);
  return n;
}

/* ---------------------------------------------------------------------- preparation */

static void take_arrays(mbg__ali3p *a) {
  const int *rows;
  (void)mbg__tree_rows(a->tree, &rows);
  a->eps = MBG_TAKE(&a->arena, mbg__part, a->nrow);
  a->softness = MBG_TAKE(&a->arena, mbg__part, a->nrow);
  a->hard = MBG_TAKE(&a->arena, bool, a->nrow);
  for (int i = 0; a->hard && i < a->nrow; i++) {
    a->hard[i] = mbg__row_in_time(a->m, rows[i]);
  }
  a->b = MBG_TAKE(&a->arena, real, a->n + a->nrow);
  a->E1 = MBG_TAKE(&a->arena, real, a->n);
  a->zero = MBG_TAKE(&a->arena, real, a->n);
  a->q = MBG_TAKE(&a->arena, real, a->n);
  a->phi = MBG_TAKE(&a->arena, real, a->nrow);
  a->phid = MBG_TAKE(&a->arena, real, a->nrow);
  a->phidd = MBG_TAKE(&a->arena, real, a->nrow);
  a->coords = MBG_TAKE(&a->arena, real, a->m->ncoord);
  a->turns = MBG_TAKE(&a->arena, int, a->m->nturn);
  a->known = MBG_TAKE(&a->arena, double, a->n + a->nrow);
}

/* do the used signals, or signals in them, need forces? */
static int look_for_forces(mbg_context *ctx, mbg__ali3p *a) {
  const mbg_model *m = a->m;
  bool *mark = MBG_TAKE(&a->arena, bool, m->nsignal);
  if (!mark) {
    return mbg__arena_check(ctx, &a->arena);
  }
  for (int k = 0; k < a->nused; k++) {
    mark[a->used[k]] = true;
  }
  for (int i = m->nsignal - 1; i >= 0; i--) {
    const mbg__signal *sig = &m->signals[i];
    const mbg__signal_of of = sig->type->of;
    a->forces = a->forces ||
                (mark[i] && (of == MBG__OF_FORCE || of == MBG__OF_BODIES || of == MBG__OF_JOINT || of == MBG__OF_BEAM));
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
  a->reactions = a->reactions || a->held;
  if (!a->reactions) {
    return MBG_OK;
  }
  a->M = MBG_TAKE(&a->arena, real, mbg__csc_count(mbg__system_pattern_K(a->sys)));
  a->B = MBG_TAKE(&a->arena, real, mbg__csc_count(mbg__system_pattern_B(a->sys)));
  a->vd1 = MBG_TAKE(&a->arena, real, m->nw);
  a->lambda1 = MBG_TAKE(&a->arena, real, m->nrow);
  a->r1 = MBG_TAKE(&a->arena, real, m->nw);
  a->gamma1 = MBG_TAKE(&a->arena, real, m->nrow);
  a->x1 = MBG_TAKE(&a->arena, real, m->nv + m->nrow);
  const int err = mbg__arena_check(ctx, &a->arena);
  return err < 0 ? err : mbg__saddle_create(ctx, &a->arena, a->sys, 0, NULL, MBG__KLU_FRESH, &a->index1);
}

static int check_plan(mbg_context *ctx, const mbg__run_plan *plan) {
  if (!(plan->step > 0)) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "formulation 'ali3p' takes fixed steps: give \"step\"; 'lie' and 'dae' take a tolerance");
  }
  if (plan->events && plan->varsigma > 0 && !(plan->alpha > 0)) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "\"varsigma\" without \"alpha\" makes projections depend on the step, whose length events change; "
                     "give both, or none");
  }
  if (plan->index == 2) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "formulation 'ali3p' has no index-2 variant (its projections hold velocities); 'lie' has one");
  }
  return MBG_OK;
}

static void destroy(mbg__ali3p *a) {
  if (!a) {
    return;
  }
  const mbg_allocator allocator = a->arena.allocator;
  mbg__march_destroy(a->march);
  mbg__ali3p_kept_clear(a);
  mbg__penalty_destroy(a->penalty);
  mbg__tree_matrix_destroy(&a->step);
  mbg__tree_matrix_destroy(&a->mass);
  mbg__saddle_destroy(&a->index1);
  mbg__tree_destroy(a->tree);
  mbg__arena_destroy(&a->arena);
  allocator.release(allocator.user, a);
}

static int create_march(mbg_context *ctx, mbg__ali3p *a, const mbg__run_plan *plan) {
  mbg__march_method method = mbg__ali3p_method;
  method.bytes = mbg__ali3p_node_bytes(a);
  const int err = mbg__march_create(ctx, plan, &method, a, a->m->nw, a->nused, a->used, &a->march);
  a->counts = a->march ? mbg__march_counts(a->march) : NULL;
  return err;
}

static int create_tree(mbg_context *ctx, mbg__ali3p *a) {
  int err = mbg__tree_create(ctx, a->sys, a->rank, &a->tree);
  err = err < 0 ? err : mbg__tree_modal_create(ctx, a->tree);
  if (err == MBG_OK) {
    a->links = mbg__tree_links(a->tree);
    a->n = mbg__tree_size(a->tree);
    a->nrow = mbg__tree_rows(a->tree, NULL);
  }
  return err;
}

/* rows on rates: in the step by the saddle point, with projections by the mass matrix */
static int create_rates(mbg_context *ctx, mbg__ali3p *a, const mbg__run_plan *plan) {
  const int *rows;
  if (!mbg__model_has_rates(a->m)) {
    return MBG_OK;
  }
  if (plan->augmented || plan->oblique) {
    return mbg__rates_refused(ctx, a->m,
                              plan->augmented ? "\"iteration\": \"augmented\"" : "\"projection\": \"tangent\"",
                              plan->augmented ? "take \"saddle\"" : "take \"mass\"");
  }
  (void)mbg__tree_rows(a->tree, &rows);
  a->rates = MBG_TAKE(&a->arena, bool, a->nrow);
  for (int i = 0; a->rates && i < a->nrow; i++) {
    a->rates[i] = a->m->rows[rows[i]].rate;
  }
  return mbg__arena_check(ctx, &a->arena);
}

/* the augmented iteration takes its matrix from that of the step */
static int create_matrices(mbg_context *ctx, mbg__ali3p *a, const mbg__run_plan *plan) {
  mbg__tree_matrix *both[] = {&a->step, &a->mass};
  int err = MBG_OK;
  for (int i = 0; err == MBG_OK && i < MBG_COUNT(both); i++) {
    err = plan->augmented ? mbg__tree_matrix_create(ctx, a->tree, MBG__KLU_FROZEN, both[i])
                          : mbg__tree_matrix_create_recursive(ctx, a->tree, MBG__KLU_FROZEN, both[i]);
  }
  return err;
}

static int prepare(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan, int nused,
                   const int *used, mbg__formulation_work **out) {
  int err = MBG_OK;
  mbg__ali3p *a = mbg__alloc_zero(ctx, 1, sizeof(*a));
  *out = NULL;
  if (!a) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&a->arena, mbg__context_allocator(ctx));
  a->m = mbg__system_model(sys);
  a->sys = sys;
  a->start = start;
  a->nused = nused;
  a->used = used;
  a->rank = mbg__start_result_of(start)->rank;
  a->events = plan->events;
  a->soft = plan->kappa > 0 || plan->varsigma > 0;
  a->oblique = plan->oblique;
  a->solved = plan->solved;
  a->repeated = plan->repeated;
  a->alpha = plan->alpha;
  a->varsigma = plan->varsigma;
  a->kappa = plan->kappa > 0 ? plan->kappa : 1e4;
  MBG_TRY(check_plan(ctx, plan));
  MBG_TRY(create_tree(ctx, a));
  MBG_TRY(create_rates(ctx, a, plan));
  MBG_TRY(mbg__ali3p_states_create(ctx, a));
  take_arrays(a);
  MBG_TRY(mbg__arena_check(ctx, &a->arena));
  MBG_TRY(look_for_forces(ctx, a));
  MBG_TRY(create_matrices(ctx, a, plan));
  MBG_TRY(plan->augmented ? mbg__penalty_create(ctx, a) : MBG_OK);
  MBG_TRY(prepare_reactions(ctx, a));
  MBG_TRY(create_march(ctx, a, plan));
done:
  if (err < 0) {
    destroy(a);
    a = NULL;
  }
  *out = a;
  return err;
}

/* ---------------------------------------------------------------------- table */

static void renew(mbg__ali3p *a) { a->scaled = false; }

/* the grid is fixed, and eps stays as the first run found it */
static int simulate(mbg_context *ctx, mbg__ali3p *a, bool frozen, mbg__nodes *nodes) {
  const int err = mbg__march_simulate(ctx, a->march, frozen, nodes);
  mbg__ali3p_kept_end(a);
  return err;
}

static int check_gradient(mbg_context *ctx, const mbg__ali3p *a) {
  return a->oblique && a->nrow > 0
             ? mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                         "\"projection\": \"tangent\" has no gradients: those of its matrix need second derivatives of "
                         "all forces; take \"mass\"")
             : MBG_OK;
}

static int tangent(mbg_context *ctx, mbg__ali3p *a, int (*take)(void *user, int node, const real *dy), void *user) {
  const int err = check_gradient(ctx, a);
  return err < 0 ? err : mbg__ali3p_tangent(ctx, a, take, user);
}

static int adjoint(mbg_context *ctx, mbg__ali3p *a, mbg_method method, int ncrit, const mbg__criterion_seeds *seeds,
                   real *psi_a) {
  const int err = check_gradient(ctx, a);
  (void)method; /* the discrete adjoint is the only one */
  return err < 0 ? err : mbg__ali3p_adjoint(ctx, a, ncrit, seeds, psi_a);
}

static int last(const mbg__ali3p *a, double *t, mbg__frame *H, real *v, int *turns) {
  const void *block = mbg__march_last(a->march);
  if (!block) {
    return MBG_ERROR_INPUT;
  }
  const mbg__ali3p_node n = mbg__ali3p_view(a, block);
  mbg__tree_frames(a->tree, n.E, n.w, H, v);
  *t = re(*n.t);
  memcpy(turns, n.turns, (size_t)a->m->nturn * sizeof(int));
  return MBG_OK;
}

static int memory(const mbg__ali3p *a, real *numbers) {
  const void *block = mbg__march_last(a->march);
  if (!block) {
    return 0;
  }
  if (numbers) {
    const mbg__ali3p_node n = mbg__ali3p_view(a, block);
    vn_copy(a->n, numbers, n.a);
    vn_copy(a->nrow, numbers + a->n, n.lambda);
  }
  return a->n + a->nrow;
}

static void forget(mbg__ali3p *a, const int *place, mbg__nodes *nodes) {
  mbg__ali3p_kept_clear(a);
  mbg__march_forget(a->march, place);
  *nodes = *mbg__march_nodes(a->march);
}

static const real *node_time(const mbg__ali3p *a) { return a->dt; }

static bool solved(const mbg__ali3p *a, double t, double *x) {
  const void *block = mbg__march_find(a->march, t);
  if (!block) {
    return false;
  }
  const mbg__ali3p_node n = mbg__ali3p_view(a, block);
  for (int i = 0; i < a->n; i++) {
    x[i] = re(n.D[i]);
  }
  for (int i = 0; i < a->nrow; i++) {
    x[a->n + i] = re(n.lambda[i]);
  }
  return true;
}

static const mbg__work_counts *counts(const mbg__ali3p *a) { return a->counts; }

extern const mbg__formulation_ops mbg__ali3p_ops;

const mbg__formulation_ops mbg__ali3p_ops = {
    .prepare = prepare,
    .renew = renew,
    .simulate = simulate,
    .tangent = tangent,
    .node_time = node_time,
    .adjoint = adjoint,
    .last = last,
    .memory = memory,
    .forget = forget,
    .solved = solved,
    .counts = counts,
    .destroy = destroy,
};
