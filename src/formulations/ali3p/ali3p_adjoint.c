/* Discrete adjoint (DAVM; theory 5, section 8): the transpose of the step, its projections and its start. Cotangents ze
   of joint frames (six per link), wb of rates, ab of accelerations; backward through node n:

     Qd muA = -(ab, 0):  ze, wb += A^T muA,  asb = -M muA       Qd muV = -(wb, 0):  ze += V^T muV,  wsb = -M muV
     S^T (mu, muPhi) = -(T^T ze + (2/h) wsb + (4/h^2) asb, 0)
     wsb += C^T mu,  asb += M mu,  ze <- Ad(exp(-S D))^T (ze + K^T mu + Phi_z^T muPhi)
     wb <- -wsb - (4/h) asb,  ab <- -asb
     psi_a += E1_a^T mu + Phi_a^T muPhi + V_a^T muV + A_a^T muA

   With events (theory 7, section 5) the length of the step has the cotangent hb, and a step to a guard one more column,
   whose seed is the gradient of the guard:

     hb = -(2/h^2) D.wsb + (-(8/h^3) D + (4/h^2) w_n).asb

   with Qd = [M Phi_z^T; Phi_z -eps], V and A the residuals of the projections; mu has the signs of the other
   formulations. */
#include "formulations/ali3p/ali3p_work.h"

#include <string.h>

typedef struct {
  mbg__ali3p *a;
  mbg__arena arena;
  int nc;    /* columns: criteria, and in a step to a guard one more */
  int ncrit; /* criteria */
  const mbg__criterion_seeds *seeds;
  mbg__event_adjoint events;
  mbg__ali3p_guard *guard; /* events, else NULL */
  void *after;             /* node after an event */
  bool after_event;        /* an event follows the node */
  real h;                  /* step that follows the node, if its length moves, 0: it does not */
  int fires;               /* firing that it ends at, -1: none */
  real *fw, *fv;           /* events: of the bodies                (nc x nw each) */
  real *hs;                /* events with late rates: their part of hb, NULL: none   (nc) */
  real *zero;              /* events:                              (6 nbody) */
  real *psi_a;
  real *seed;             /* nc x nused */
  real *ze, *wb, *ab;     /* nc x 6 nbody, nc x n */
  real *wsb, *asb;        /* nc x n */
  real *X;                /* (n + rows) x nc */
  real *gq;               /* nc x n */
  real half;              /* h/2 of the step that is pulled, 0: none */
  real *rates;            /* weights of rows on rates in it, NULL: there are none   (nc x rows) */
  mbg__tree_lanes *lanes; /* NULL: column by column */
  void *here, *again;     /* copies of nodes */
  mbg__ali3p_refine *refine;
  bool fresh; /* events: the matrices of a small model cost less than residuals */
  mbg__ali3p_seeds *signals;
} adjoint;

/* unknowns of a model whose matrix costs less than two residuals */
enum { SMALL = 10 };

static int take_arrays(mbg_context *ctx, adjoint *s) {
  const mbg__ali3p *a = s->a;
  const size_t nc = (size_t)s->nc + (a->events != NULL), n = (size_t)a->n, nb = 6 * (size_t)a->m->nbody;
  if (a->events) {
    s->fw = MBG_TAKE(&s->arena, real, nc * (size_t)a->m->nw);
    s->fv = MBG_TAKE(&s->arena, real, nc * (size_t)a->m->nw);
    s->hs = a->late ? MBG_TAKE(&s->arena, real, nc) : NULL;
    s->zero = MBG_TAKE(&s->arena, real, nb);
    s->after = MBG_TAKE(&s->arena, char, mbg__ali3p_node_bytes(a));
  }
  s->seed = MBG_TAKE(&s->arena, real, nc * (size_t)a->nused);
  s->ze = MBG_TAKE(&s->arena, real, nc * nb);
  s->wb = MBG_TAKE(&s->arena, real, nc * n);
  s->ab = MBG_TAKE(&s->arena, real, nc * n);
  s->wsb = MBG_TAKE(&s->arena, real, nc * n);
  s->asb = MBG_TAKE(&s->arena, real, nc * n);
  s->X = MBG_TAKE(&s->arena, real, nc * (n + (size_t)a->nrow));
  s->gq = MBG_TAKE(&s->arena, real, nc * n);
  s->rates = a->rates ? MBG_TAKE(&s->arena, real, nc * (size_t)a->nrow) : NULL;
  s->here = MBG_TAKE(&s->arena, char, mbg__ali3p_node_bytes(a));
  s->again = MBG_TAKE(&s->arena, char, mbg__ali3p_node_bytes(a));
  return mbg__arena_check(ctx, &s->arena);
}

static real *row(real *x, int c, int n) { return x + (size_t)c * (size_t)n; }

static real *attributes_of(const adjoint *s, int c) {
  return c < s->ncrit ? row(s->psi_a, c, s->a->m->na) : s->events.guard_a;
}

/* ---------------------------------------------------------------------- pieces */

void mbg__ali3p_pull(mbg__ali3p *a, mbg__tree_lanes *lanes, int nc, const mbg__tree_weights *k,
                     const mbg__tree_gradient *g) {
  if (lanes && nc > 1) {
    mbg__tree_pull_lanes(lanes, nc, k, g);
    return;
  }
  for (int c = 0; c < nc; c++) {
    mbg__tree_pull(a->tree, &k[c], &g[c]);
  }
}

/* right sides -(x, 0) of all criteria */
static void right_sides(adjoint *s, real *x) {
  const mbg__ali3p *a = s->a;
  for (int c = 0; c < s->nc; c++) {
    real *X = row(s->X, c, a->n + a->nrow);
    vn_scale(a->n, X, -1, row(x, c, a->n));
    vn_zero(a->nrow, X + a->n);
  }
}

static void solve_T(adjoint *s, mbg__tree_matrix *matrix) {
  mbg__tree_matrix_solve_T(s->a->tree, matrix, s->X, s->nc);
  s->a->counts->solves += s->nc;
}

/* weights and results of column c: level of the rows 0, 1, 2; w, v as in pull */
static void column(adjoint *s, int c, int level, real *w, real *v, mbg__tree_weights *k, mbg__tree_gradient *g) {
  const mbg__ali3p *a = s->a;
  const real *X = row(s->X, c, a->n + a->nrow);
  real *rates = s->rates ? row(s->rates, c, a->nrow) : NULL;
  for (int i = 0; rates && i < a->nrow; i++) {
    rates[i] = a->rates[i] ? s->half * X[a->n + i] : 0;
  }
  *k = (mbg__tree_weights){.mu = X,
                           .k0 = level == 0 ? X + a->n : NULL,
                           .k1 = level == 1   ? X + a->n
                                 : level == 0 ? rates
                                              : NULL,
                           .k2 = level == 2 ? X + a->n : NULL};
  *g = (mbg__tree_gradient){.e = row(s->ze, c, 6 * a->m->nbody),
                            .w = w ? row(w, c, a->n) : NULL,
                            .a = v ? row(v, c, a->n) : NULL,
                            .q = row(s->gq, c, a->n),
                            .attributes = attributes_of(s, c)};
}

/* of all columns: adds the gradient of the residual weighted by the solution to ze, w, v (nc x n, NULL: not asked for)
   and psi_a, and puts its part by q into gq */
static void pull(adjoint *s, int level, real *w, real *v) {
  mbg__ali3p *a = s->a;
  mbg__tree_weights k[MBG__LANES];
  mbg__tree_gradient g[MBG__LANES];
  vn_zero(s->nc * a->n, s->gq);
  for (int c = 0; c < s->nc; c += MBG__LANES) {
    const int count = s->nc - c < MBG__LANES ? s->nc - c : MBG__LANES;
    for (int q = 0; q < count; q++) {
      column(s, c + q, level, w, v, &k[q], &g[q]);
    }
    mbg__ali3p_pull(a, s->lanes, count, k, g);
  }
}

static int take_seeds(mbg_context *ctx, adjoint *s, int n, const mbg__ali3p_node *node, bool there) {
  mbg__seeds_at(s->seeds, s->ncrit, mbg__march_nodes(s->a->march), n, s->seed);
  mbg__ali3p_seeds_poses(s->signals, s->seeds, n);
  return mbg__ali3p_seeds_at(ctx, s->signals, node, there, s->seed, s->ze, s->wb, s->ab, s->psi_a);
}

/* ---------------------------------------------------------------------- a step backward */

/* there: the tree is at the projection of accelerations */
static int projections(mbg_context *ctx, adjoint *s, int i, const mbg__ali3p_node *node, bool there) {
  mbg__ali3p *a = s->a;
  const size_t bytes = (size_t)a->n * (size_t)s->nc * sizeof(real);
  int err = MBG_OK;
  if (a->nrow == 0) {
    memcpy(s->asb, s->ab, bytes);
    memcpy(s->wsb, s->wb, bytes);
    return MBG_OK;
  }
  MBG_TRY(there ? MBG_OK : mbg__ali3p_at_accelerations(ctx, a, node));
  MBG_TRY(mbg__ali3p_factor_again(ctx, a, i, node));
  right_sides(s, s->ab);
  solve_T(s, &a->mass);
  pull(s, 2, s->wb, NULL);
  vn_scale(s->nc * a->n, s->asb, -1, s->gq);
  mbg__ali3p_then_rates(a, node);
  right_sides(s, s->wb);
  solve_T(s, &a->mass);
  pull(s, 1, NULL, NULL);
  vn_scale(s->nc * a->n, s->wsb, -1, s->gq);
done:
  return err;
}

/* the correction of late rates; its part by the length of the step */
static void uncorrect(adjoint *s, const mbg__ali3p_node *node) {
  const mbg__ali3p *a = s->a;
  for (int c = 0; a->late && c < s->nc; c++) {
    const real *wb = row(s->wb, c, a->n);
    mbg__ali3p_states_correct_T(a, *node->h / 2, wb, row(s->ab, c, a->n), row(s->asb, c, a->n));
    for (int i = 0; s->hs && i < a->n; i++) {
      s->hs[c] = (i > 0 ? s->hs[c] : 0) + (a->late[i] ? wb[i] / 2 * (node->a[i] - node->as[i]) : 0);
    }
  }
}

/* rates of states by index 1 */
static void unrate(adjoint *s, int c) {
  mbg__ali3p *a = s->a;
  mbg__ali3p_states_pull(a, row(s->ab, c, a->n), row(s->ze, c, 6 * a->m->nbody), row(s->wb, c, a->n),
                         attributes_of(s, c));
}

/* accelerations of states at the projected rates: X = (-ab_S, 0), ab_S = 0; late rates add to ab, and have corrected
   their states */
static int state_rates(mbg_context *ctx, adjoint *s, const mbg__ali3p_node *node) {
  mbg__ali3p *a = s->a;
  const int err = mbg__ali3p_has_states(a) ? mbg__ali3p_at_states(ctx, a, node) : MBG_OK;
  if (err < 0 || !mbg__ali3p_has_states(a)) {
    return err;
  }
  uncorrect(s, node);
  for (int c = 0; a->held && c < s->nc; c++) {
    unrate(s, c);
    vn_axpy(a->n, row(s->ab, c, a->n), 1, row(s->asb, c, a->n));
  }
  if (a->held) {
    return MBG_OK;
  }
  for (int c = 0; c < s->nc; c++) {
    real *X = row(s->X, c, a->n + a->nrow), *ab = row(s->ab, c, a->n);
    vn_zero(a->n + a->nrow, X);
    mbg__ali3p_states_take(a, -1, ab, X);
    if (!a->late) {
      mbg__ali3p_states_take(a, -1, ab, ab);
    }
  }
  pull(s, 0, s->wb, a->late ? s->ab : NULL); /* leaves ab_S = 0 */
  for (int c = 0; a->late && c < s->nc; c++) {
    vn_axpy(a->n, row(s->ab, c, a->n), 1, row(s->asb, c, a->n));
  }
  return MBG_OK;
}

/* late rates at the first node: E1_S' = 0 after the accelerations, whose cotangents they add to */
static void late_rates(adjoint *s) {
  const mbg__ali3p *a = s->a;
  if (!mbg__system_has_late(a->sys) || a->held) {
    return;
  }
  for (int c = 0; c < s->nc; c++) {
    real *X = row(s->X, c, a->n + a->nrow);
    vn_zero(a->n + a->nrow, X);
    mbg__ali3p_states_take(a, -1, row(s->ab, c, a->n), X);
  }
  pull(s, 0, s->wb, s->ab); /* leaves ab_S = 0 */
}

void mbg__ali3p_tangents_T(const mbg__ali3p *a, const mbg__ali3p_node *node, const real *e, real *x) {
  for (int k = 0; k < a->m->nbody; k++) {
    const mbg__link *l = &a->links[k];
    real y[6];
    for (int i = 0; i < l->nz; i++) {
      y[i] = e[6 * k + l->comp[i]];
    }
    mbg__tree_tangent_T(l, node->D, y, x + l->first);
  }
}

static void step_sides(adjoint *s, const mbg__ali3p_node *node) {
  const mbg__ali3p *a = s->a;
  const real h = *node->h;
  for (int c = 0; c < s->nc; c++) {
    const real *wsb = row(s->wsb, c, a->n), *asb = row(s->asb, c, a->n);
    real *X = row(s->X, c, a->n + a->nrow);
    mbg__ali3p_tangents_T(a, node, row(s->ze, c, 6 * a->m->nbody), X);
    for (int i = 0; i < a->n; i++) {
      X[i] = -(X[i] + 2 / h * wsb[i] + 4 / (h * h) * asb[i]);
    }
    vn_zero(a->nrow, X + a->n);
  }
}

/* ze <- Ad(exp(-S D))^T ze */
static void carry(adjoint *s, const mbg__ali3p_node *node) {
  const mbg__ali3p *a = s->a;
  for (int k = 0; k < a->m->nbody; k++) {
    const mbg__link *l = &a->links[k];
    mbg__frame F;
    real d[6] = {0};
    for (int i = 0; i < l->nz; i++) {
      d[l->comp[i]] = node->D[l->first + i];
    }
    mbg__se3_exp(&F, d);
    for (int c = 0; c < s->nc; c++) {
      real *ze = row(s->ze, c, 6 * a->m->nbody) + 6 * k, x[6];
      AdInvT_mul(x, &F, ze);
      v6_copy(ze, x);
    }
  }
}

/* S^T X = X, the tree at the step: with few columns by Newton's factors, which cost residuals instead of a matrix */
static int solve_step(mbg_context *ctx, adjoint *s, int i, const mbg__ali3p_node *node) {
  mbg__ali3p *a = s->a;
  bool near = false;
  mbg__answers found = r_all(false);
  int err = MBG_OK;
  int residuals = 0;
  if (!s->fresh && s->nc <= (s->lanes ? MBG__LANES : 1)) {
    MBG_TRY(mbg__ali3p_newton_factors(ctx, a, i, re(*node->h), s->again, &near));
  }
  MBG_TRY(mbg__ali3p_at_step(ctx, a, node));
  step_sides(s, node);
  if (near) {
    found = mbg__ali3p_refine_T(s->refine, node, s->nc, s->X, &residuals);
    s->fresh = a->events && a->n + a->nrow < SMALL && !(r_every(found) && residuals == 1);
  }
  if (!r_every(found)) {
    MBG_TRY(mbg__ali3p_factor_step(ctx, a, node, false));
    solve_T(s, &a->step);
    mbg__ali3p_refined(s->refine, found, s->nc, s->X);
  }
done:
  return err;
}

static int position_step(mbg_context *ctx, adjoint *s, int number, const mbg__ali3p_node *node) {
  mbg__ali3p *a = s->a;
  const real h = *node->h;
  int err = MBG_OK;
  MBG_TRY(solve_step(ctx, s, number, node));
  for (int c = 0; c < s->nc; c++) {
    real *X = row(s->X, c, a->n + a->nrow);
    vn_scale(a->n, X, h * h / 4, X); /* the matrix has its first rows scaled by h^2/4 */
  }
  s->half = h / 2;
  pull(s, 0, s->wsb, s->asb);
  s->half = 0;
  for (int c = 0; c < s->nc; c++) {
    const real *wsb = row(s->wsb, c, a->n), *asb = row(s->asb, c, a->n);
    real *wb = row(s->wb, c, a->n), *ab = row(s->ab, c, a->n);
    if (re(s->h) > 0) {
      s->events.hb[c] = -2 / (h * h) * (vn_dot(a->n, node->D, wsb) + 4 / h * vn_dot(a->n, node->D, asb));
      s->events.hb[c] += s->hs ? s->hs[c] : 0;
    }
    for (int i = 0; i < a->n; i++) {
      wb[i] = -wsb[i] - 4 / h * asb[i];
      ab[i] = -asb[i];
    }
    mbg__ali3p_states_hold(a, -1, row(s->X, c, a->n + a->nrow), ab);
  }
  carry(s, node);
done:
  return err;
}

/* ---------------------------------------------------------------------- first node */

/* the node without a step, at the start and after an event: cotangents of frames and rates by its accelerations */
static int unaccelerate(mbg_context *ctx, adjoint *s, const mbg__ali3p_node *node) {
  mbg__ali3p *a = s->a;
  int err = MBG_OK;
  MBG_TRY(a->held ? mbg__ali3p_at_states(ctx, a, node) : MBG_OK);
  for (int c = 0; a->held && c < s->nc; c++) {
    unrate(s, c);
  }
  MBG_TRY(mbg__ali3p_at_start(ctx, a, node));
  MBG_TRY(mbg__ali3p_factor_mass(ctx, a, node, true));
  late_rates(s);
  right_sides(s, s->ab);
  solve_T(s, &a->mass);
  pull(s, 2, s->wb, NULL);
done:
  return err;
}

static int start(mbg_context *ctx, adjoint *s, const mbg__ali3p_node *node) {
  mbg__ali3p *a = s->a;
  const int nb = 6 * a->m->nbody;
  const size_t nw = (size_t)a->m->nw;
  int err = MBG_OK;
  real *frames = mbg__alloc_zero(ctx, 2 * nw * (size_t)s->nc + 1, sizeof(real)), *twists = NULL;
  if (!frames) {
    return mbg__fail_memory(ctx);
  }
  twists = frames + nw * (size_t)s->nc;
  MBG_TRY(unaccelerate(ctx, s, node));
  for (int c = 0; c < s->nc; c++) {
    mbg__tree_local_read_pull(a->tree, row(s->ze, c, nb), row(s->wb, c, a->n), row(frames, c, a->m->nw),
                              row(twists, c, a->m->nw), row(s->psi_a, c, a->m->na));
  }
  /* the start uses the system as scratch: after all criteria */
  for (int c = 0; c < s->nc; c++) {
    MBG_TRY(
        mbg__start_pull(ctx, a->start, row(frames, c, a->m->nw), row(twists, c, a->m->nw), row(s->psi_a, c, a->m->na)));
  }
done:
  mbg__free(ctx, frames);
  return err;
}

/* ---------------------------------------------------------------------- events */

static void subtract_last(const adjoint *s, int n, real *x) {
  for (int c = 0; c < s->ncrit; c++) {
    vn_axpy(n, row(x, c, n), -s->events.kappa[c], row(x, s->ncrit, n));
  }
}

/* at the start of a step whose length moves: what its length and, with an event, its end leave here */
static void leave_step(adjoint *s, const mbg__ali3p_node *node) {
  const mbg__ali3p *a = s->a;
  const real h = s->h;
  if (!(re(h) > 0)) {
    for (int c = 0; a->events && !s->after_event && c < s->ncrit; c++) {
      s->events.tb[c] = 0; /* the node stays where it is */
    }
    s->after_event = false;
    return;
  }
  for (int c = 0; c < s->nc; c++) {
    const real *ab = row(s->ab, c, a->n), *X = row(s->X, c, a->n + a->nrow); /* ab = -asb, held: -asb - X */
    for (int i = 0; i < a->n; i++) {
      s->events.hb[c] -= 4 / (h * h) * node->w[i] * (ab[i] + (a->held && a->late[i] ? X[i] : 0));
    }
  }
  mbg__event_adjoint_meet(&s->events, s->fires, s->psi_a);
  if (s->nc > s->ncrit) {
    subtract_last(s, 6 * a->m->nbody, s->ze);
    subtract_last(s, a->n, s->wb);
    subtract_last(s, a->n, s->ab);
  }
  s->nc = s->ncrit;
  s->h = 0;
}

/* before the step to node i is transposed: does its length move? A guard brings its own column. */
static int enter_step(mbg_context *ctx, adjoint *s, int i, const mbg__ali3p_node *node) {
  mbg__ali3p *a = s->a;
  int err = MBG_OK;
  s->fires = mbg__march_fires(a->march, i);
  s->h = s->fires >= 0 || mbg__march_fired(a->march, i - 1) >= 0 ? *node->h : 0;
  const mbg__event *event = mbg__events_which(a->events, s->fires);
  if (event && event->guard >= 0) {
    const mbg__tree_gradient *g = mbg__ali3p_guard_of(s->guard);
    MBG_TRY(mbg__ali3p_guard_at(ctx, s->guard, node, event->guard));
    vn_copy(6 * a->m->nbody, row(s->ze, s->ncrit, 6 * a->m->nbody), g->e);
    vn_copy(a->n, row(s->wb, s->ncrit, a->n), g->w);
    vn_zero(a->n, row(s->ab, s->ncrit, a->n));
    vn_copy(a->m->na, s->events.guard_a, g->attributes);
    s->nc = s->ncrit + 1;
  }
done:
  return err;
}

/* derivatives by the time of an event: by weights of criteria, and by what pulls left at the clock */
static void by_time(adjoint *s, int i) {
  for (int c = 0; c < s->ncrit; c++) {
    s->events.tb[c] += mbg__seed_time(&s->seeds[c], mbg__march_nodes(s->a->march), i);
  }
}

/* from the state after a firing to that before it */
static int event(mbg_context *ctx, adjoint *s, int i, int firing, const void *block) {
  mbg__ali3p *a = s->a;
  const int nw = a->m->nw, nb = 6 * a->m->nbody;
  const size_t bytes = (size_t)s->nc * (size_t)nw * sizeof(real);
  const void *before_block;
  int err = MBG_OK;
  memcpy(s->after, block, mbg__ali3p_node_bytes(a));
  const mbg__ali3p_node node = mbg__ali3p_view(a, s->after);
  MBG_TRY(unaccelerate(ctx, s, &node));
  memset(s->fw, 0, bytes);
  memset(s->fv, 0, bytes);
  for (int c = 0; c < s->nc; c++) {
    vn_zero(nb, s->zero);
    mbg__tree_local_read_pull(a->tree, s->zero, row(s->wb, c, a->n), row(s->fw, c, nw), row(s->fv, c, nw),
                              attributes_of(s, c));
  }
  mbg__event_adjoint_clock(&s->events, s->psi_a);
  by_time(s, i);
  MBG_TRY(mbg__march_restore(ctx, a->march, i - 1, &before_block));
  const mbg__ali3p_node from = mbg__ali3p_view(a, before_block);
  const mbg__state before = mbg__ali3p_bodies(ctx, a, &from);
  MBG_TRY(mbg__event_adjoint_act(ctx, &s->events, firing, &before, s->fw, s->fv, s->psi_a));
  (void)mbg__ali3p_bodies(ctx, a, &from);
  for (int c = 0; c < s->nc; c++) {
    vn_zero(a->n, row(s->wb, c, a->n));
    vn_zero(a->n, row(s->ab, c, a->n));
    mbg__tree_kin_pull(a->tree, row(s->fw, c, nw), row(s->fv, c, nw), NULL, row(s->ze, c, nb), row(s->wb, c, a->n),
                       NULL, attributes_of(s, c));
  }
  mbg__event_adjoint_clock(&s->events, s->psi_a);
  s->after_event = true;
done:
  return err;
}

/* ---------------------------------------------------------------------- all */

static int visit(mbg_context *ctx, void *user, int i, const void *block) {
  adjoint *s = user;
  const mbg__ali3p_node n = mbg__ali3p_view(s->a, memcpy(s->here, block, mbg__ali3p_node_bytes(s->a)));
  const bool there = i > 0 && s->a->nrow > 0 && !s->a->forces && !s->a->reactions && s->a->m->nstate == 0;
  const int fired = mbg__march_fired(s->a->march, i);
  int err = MBG_OK;
  leave_step(s, &n);
  MBG_TRY(there && fired < 0 ? mbg__ali3p_at_accelerations(ctx, s->a, &n) : MBG_OK);
  MBG_TRY(take_seeds(ctx, s, i, &n, there && fired < 0));
  if (fired >= 0) {
    return event(ctx, s, i, fired, block);
  }
  if (i == 0) {
    MBG_TRY(start(ctx, s, &n));
    mbg__event_adjoint_clock(&s->events, s->psi_a);
    return MBG_OK;
  }
  MBG_TRY(s->a->events ? enter_step(ctx, s, i, &n) : MBG_OK);
  MBG_TRY(state_rates(ctx, s, &n));
  MBG_TRY(projections(ctx, s, i, &n, there && s->nc == s->ncrit));
  MBG_TRY(position_step(ctx, s, i, &n));
  mbg__event_adjoint_clock(&s->events, s->psi_a);
  if (re(s->h) > 0) {
    by_time(s, i);
  }
done:
  return err;
}

int mbg__ali3p_adjoint(mbg_context *ctx, mbg__ali3p *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a) {
  adjoint s = {.a = a, .nc = ncrit, .ncrit = ncrit, .seeds = seeds, .fires = -1, .psi_a = psi_a};
  int err = MBG_OK;
  mbg__system_want(a->sys, mbg__seeds_all(seeds, ncrit));
  mbg__arena_init(&s.arena, mbg__context_allocator(ctx));
  MBG_TRY(take_arrays(ctx, &s));
  if (ncrit + (a->events != NULL) > 1 && mbg__tree_lanes_can(a->tree)) {
    MBG_TRY(mbg__tree_lanes_create(ctx, &s.arena, a->tree, &s.lanes));
  }
  MBG_TRY(mbg__ali3p_refine_create(ctx, &s.arena, a, s.lanes, &s.refine));
  MBG_TRY(mbg__ali3p_seeds_create(ctx, &s.arena, a, ncrit, &s.signals));
  MBG_TRY(mbg__event_adjoint_create(ctx, &s.arena, a->events, a->m, ncrit, &s.events));
  MBG_TRY(a->events ? mbg__ali3p_guard_create(ctx, &s.arena, a, &s.guard) : MBG_OK);
  MBG_TRY(mbg__march_backward(ctx, a->march, visit, &s));
done:
  mbg__system_want(a->sys, true);
  mbg__arena_destroy(&s.arena);
  return err;
}
