/* Steady states with late rates (mbg__system_late): accelerations and multipliers at the start follow the states that
   are looked for. With z = (vd, lambda), KKT z + (r, phidd)_0 = 0 and r the residuals at z,

     push     KKT z' = -(r_X X', phidd_X X'),        r' = r_X X' + r_z z'
     pull     KKT^T (mu, kappa) = -r_z^T g,          g_X = r_X^T (g + mu) + phidd_X^T kappa                        */
#include "start/start_internal.h"

#include <string.h>

struct mbg__steady_late {
  mbg__arena arena;
  mbg__saddle kkt;
  real *M, *B;         /* values by the patterns of the system */
  real *x;             /* right-hand side and solution              (nv + nrow) */
  real *vd, *lambda;   /* at the start; carriers of states: 0       (nw, nrow) */
  real *dvd, *dlambda; /* ... their variations or cotangents */
  real *z, *row;       /* scratch                                   (nw, nrow) */
};

int mbg__steady_late_create(mbg_context *ctx, mbg__start_work *w, mbg__steady_late **out) {
  const mbg_model *m = w->m;
  const size_t nw = (size_t)m->nw, nrow = (size_t)m->nrow;
  mbg__steady_late *k = mbg__alloc_zero(ctx, 1, sizeof(*k));
  *out = k;
  if (!k) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena *arena = &k->arena;
  mbg__arena_init(arena, mbg__context_allocator(ctx));
  k->M = MBG_TAKE(arena, real, mbg__csc_count(&w->sys->patK));
  k->B = MBG_TAKE(arena, real, mbg__csc_count(&w->sys->patB));
  k->x = MBG_TAKE(arena, real, m->nv + m->nrow);
  k->vd = MBG_TAKE(arena, real, nw);
  k->lambda = MBG_TAKE(arena, real, nrow);
  k->dvd = MBG_TAKE(arena, real, nw);
  k->dlambda = MBG_TAKE(arena, real, nrow);
  k->z = MBG_TAKE(arena, real, nw);
  k->row = MBG_TAKE(arena, real, nrow);
  const int err = mbg__arena_check(ctx, arena);
  return err < 0 ? err : mbg__saddle_create(ctx, arena, w->sys, 0, NULL, MBG__KLU_FRESH, &k->kkt);
}

void mbg__steady_late_destroy(mbg__steady_late *k) {
  if (k) {
    const mbg_allocator allocator = k->arena.allocator;
    mbg__saddle_destroy(&k->kkt);
    mbg__arena_destroy(&k->arena);
    allocator.release(allocator.user, k);
  }
}

static void clear_states(const mbg__start_work *w, real *x) {
  for (int i = 0; i < w->m->nstate; i++) {
    const mbg__user_state *s = &w->m->states[i];
    x[w->m->bodies[s->body].voff + s->component] = 0;
  }
}

/* (vd, lambda) of a right-hand side -(r, row), without accelerations of states */
static void solve(const mbg__start_work *w, mbg__steady_late *k, const real *r, const real *row, bool transposed,
                  real *vd, real *lambda) {
  const mbg_model *m = w->m;
  const bool *keep = w->result.rank->keep;
  mbg__to_free(m, -1, r, k->x);
  for (int i = 0; i < m->nrow; i++) {
    k->x[m->nv + i] = keep[i] ? -row[i] : 0;
  }
  if (transposed) {
    mbg__klu_solve_T(k->kkt.klu, k->x, 1);
  } else {
    mbg__klu_solve(k->kkt.klu, k->x, 1);
  }
  vn_zero(m->nw, vd);
  mbg__to_full(m, 1, k->x, vd);
  clear_states(w, vd);
  for (int i = 0; i < m->nrow; i++) {
    lambda[i] = keep[i] ? k->x[m->nv + i] : 0;
  }
}

static int factor(mbg_context *ctx, const mbg__start_work *w, mbg__steady_late *k) {
  mbg__system_matrices(w->sys, &(mbg__matrices){.M = k->M, .B = k->B});
  mbg__saddle_clear(&k->kkt);
  mbg__saddle_add_K(&k->kkt, 1, k->M);
  mbg__saddle_add_rows(&k->kkt, k->B, k->B, w->result.rank->keep, NULL);
  return mbg__saddle_factor(ctx, &k->kkt, "accelerations at the start, which rates of steady states use");
}

int mbg__steady_late_update(mbg_context *ctx, mbg__start_work *w, mbg__steady_late *k) {
  mbg__state state = {.t = w->result.t, .H = w->result.H, .v = w->result.v, .turns = w->result.turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(ctx, w->sys, &state));
  MBG_TRY(factor(ctx, w, k));
  mbg__system_residual(w->sys, k->z, NULL, NULL, k->row, NULL);
  solve(w, k, k->z, k->row, false, k->vd, k->lambda);
  state.vd = k->vd;
  state.lambda = k->lambda;
  MBG_TRY(mbg__system_update(ctx, w->sys, &state));
  MBG_TRY(mbg__system_linearize(ctx, w->sys));
done:
  return err;
}

void mbg__steady_late_push(mbg__start_work *w, mbg__steady_late *k, const mbg__direction *d, real *dr) {
  mbg__direction all = *d;
  mbg__system_push(w->sys, d, k->z, NULL, NULL, k->row);
  solve(w, k, k->z, k->row, false, k->dvd, k->dlambda);
  all.dvd = k->dvd;
  all.dlambda = k->dlambda;
  mbg__system_push(w->sys, &all, dr, NULL, NULL, NULL);
}

void mbg__steady_late_pull(mbg__start_work *w, mbg__steady_late *k, const real *g, real *gw, real *gv, real *ga) {
  vn_zero(w->m->nw, k->dvd);
  vn_zero(w->m->nrow, k->dlambda);
  mbg__system_pull(w->sys, g, NULL, NULL, NULL, gw, gv, k->dvd, k->dlambda, ga);
  clear_states(w, k->dvd);
  solve(w, k, k->dvd, k->dlambda, true, k->z, k->row);
  mbg__system_pull(w->sys, k->z, NULL, NULL, k->row, gw, gv, NULL, NULL, ga);
}
