/* Discrete adjoint (theory 3, section 11): the transpose of the projections, of the Runge-Kutta steps with their dense
   output, and of the start. ze and wb are the cotangents of the joint frames (six per link) and rates at the end of a
   step. Backward through the step:

     (ze, wb) <- projection^T    (gn, gsigma) = frames^T ze    (gsigma, wb) <- step^T, all stages add to gn    ze <- gn

   Each stage solves with the factors at its own state: K^T = K. Stages come from the store, or with a limit of memory
   from a repeated step. */
#include "formulations/dca/dca_work.h"
#include "trajectory/ode_adjoint.h"

#include <string.h>

typedef struct {
  mbg__formulation_work *w;
  mbg__arena arena;
  mbg_context *ctx;
  int nc, n, nb; /* columns: criteria, and in a step to a guard one more */
  int ncrit;     /* criteria */
  mbg__ode_adjoint back;
  mbg__rk_adjoint *guarded; /* events: with one more column */
  real *fw, *fv, *no_e;     /* events: of the bodies                 (nc x nw each), (nb) */
  const mbg__criterion_seeds *seeds;
  mbg__nodes nodes;
  real *psi_a;
  mbg__rk_adjoint *rk;
  mbg__rk *again; /* repeats one step for its stages */
  const real *k;  /* stages of the step at hand, NULL: not known */
  real *r;        /* its dense output                        (ndense x 2 n) */
  mbg__dca_seeds *signals;
  real *seed;            /*                                        (nc x nused) */
  real *ze, *wb;         /*                                        (nc x nb), (nc x n) */
  real *gn;              /*                                        (nc x nb) */
  real *ge;              /*                                        (nc x nb) */
  real *gw;              /*                                        (nc x n) */
  real *lambda;          /*                                        (nc x 2 n) */
  real *yi;              /*                                        (2 n) */
  int room;              /* inner nodes of a step */
  double *x;             /* where                                  (room) */
  real *g;               /*                                        (room x nc x 2 n) */
  real **pe, **pw, **pa; /* pointers to rows                      (nc) */
  mbg__dca_sums **sums;  /* for attributes; entries may be NULL   (nc) */
  mbg__frame *E;         /*                                        (nbody) */
} adjoint;

static real *row(real *x, int c, int n) { return x + (size_t)c * (size_t)n; }

static int take_arrays(mbg_context *ctx, adjoint *s) {
  const mbg__formulation_work *w = s->w;
  const bool events = w->plan.events != NULL;
  const size_t nc = (size_t)s->nc + events, n = (size_t)s->n, nb = (size_t)s->nb;
  if (events) {
    s->fw = MBG_TAKE(&s->arena, real, nc * (size_t)w->m->nw);
    s->fv = MBG_TAKE(&s->arena, real, nc * (size_t)w->m->nw);
    s->no_e = MBG_TAKE(&s->arena, real, nb);
  }
  s->room = mbg__step_nodes_inside(&w->nodes, w->store.count - 1, w->frozen);
  s->seed = MBG_TAKE(&s->arena, real, nc * (size_t)w->flow.nused);
  s->ze = MBG_TAKE(&s->arena, real, nc * nb);
  s->wb = MBG_TAKE(&s->arena, real, nc * n);
  s->gn = MBG_TAKE(&s->arena, real, nc * nb);
  s->ge = MBG_TAKE(&s->arena, real, nc * nb);
  s->gw = MBG_TAKE(&s->arena, real, nc * n);
  s->lambda = MBG_TAKE(&s->arena, real, nc * 2 * n);
  s->yi = MBG_TAKE(&s->arena, real, 2 * n);
  s->r = MBG_TAKE(&s->arena, real, w->method->ndense * 2 * s->n);
  s->x = MBG_TAKE(&s->arena, double, s->room);
  s->g = MBG_TAKE(&s->arena, real, (size_t)s->room * nc * 2 * n);
  s->pe = MBG_TAKE(&s->arena, real *, nc);
  s->pw = MBG_TAKE(&s->arena, real *, nc);
  s->pa = MBG_TAKE(&s->arena, real *, nc);
  s->E = MBG_TAKE(&s->arena, mbg__frame, w->m->nbody);
  s->sums = MBG_TAKE(&s->arena, mbg__dca_sums *, nc);
  int err = mbg__arena_check(ctx, &s->arena);
  for (size_t c = 0; err == MBG_OK && w->articulated && c < nc; c++) {
    err = mbg__dca_sums_create(ctx, &s->arena, w->articulated, &s->sums[c]);
  }
  return err;
}

/* ---------------------------------------------------------------------- stages */

static real *attributes_of(const adjoint *s, int c) { return mbg__ode_adjoint_attributes(&s->back, s->psi_a, c); }

/* what pulls at time t left at the clock, of columns below n; held: t stays */
static void by_time(adjoint *s, double t, int n, bool held) { mbg__ode_adjoint_time(&s->back, t, n, held, s->psi_a); }

/* weights b of y' at a stage */
static void by_length(adjoint *s, int ncol, const real *y, const real *b) {
  if (s->back.h > 0) {
    mbg__dca_flow_rates(&s->w->flow, y, s->back.rates);
    mbg__ode_adjoint_length(&s->back, ncol, s->back.rates, b);
  }
}

static int stage_rhs(void *user, int stage, double t, const real *y, real *yd) {
  adjoint *s = user;
  mbg__dca_flow *f = &s->w->flow;
  (void)stage;
  const int err = mbg__dca_flow_eval(s->ctx, f, &s->w->base[0], t, y);
  if (err == MBG_OK) {
    mbg__dca_flow_rates(f, y, yd);
  }
  return err;
}

static int again_rhs(void *user, real t, const real *y, real *yd) { return stage_rhs(user, 0, re(t), y, yd); }

/* attributes get what the stages have left to them */
static void take_sums(adjoint *s, int c) {
  if (s->sums[c]) {
    mbg__dca_sums_pull(s->w->articulated, s->sums[c], attributes_of(s, c));
  }
}

/* cotangents b of (sigma', w') of ncol criteria through the accelerations, by pieces side by side; with events each
   step has attributes of its own */
static void pull_grouped(adjoint *s, int ncol, const real *b, real *b_y) {
  for (int c = 0; c < ncol; c++) {
    mbg__dca_point_pull_grouped(s->w->point, b + (size_t)c * 2 * (size_t)s->n + s->n, row(s->ge, c, s->nb),
                                row(b_y, c, 2 * s->n) + s->n, s->sums[c]);
    if (s->back.events.ev) {
      take_sums(s, c);
    }
  }
}

/* ... by the equations of the system */
static int pull_panels(adjoint *s, int ncol, const real *b, real *b_y) {
  const mbg__formulation_work *w = s->w;
  const int err = mbg__dca_point_linearize(s->ctx, w->point);
  for (int c = 0; err == MBG_OK && c < ncol; c += MBG__DCA_PANEL) {
    const int m = ncol - c < MBG__DCA_PANEL ? ncol - c : MBG__DCA_PANEL;
    mbg__dca_cotangent cotangent[MBG__DCA_PANEL];
    real *ge[MBG__DCA_PANEL], *gw[MBG__DCA_PANEL], *ga[MBG__DCA_PANEL];
    for (int q = 0; q < m; q++) {
      cotangent[q] = (mbg__dca_cotangent){.a = b + (size_t)(c + q) * 2 * (size_t)s->n + s->n};
      ge[q] = row(s->ge, c + q, s->nb);
      gw[q] = row(b_y, c + q, 2 * s->n) + s->n;
      ga[q] = attributes_of(s, c + q);
    }
    mbg__dca_point_pull(w->point, m, cotangent, ge, gw, ga);
  }
  return err;
}

/* the state of a stage, as it suits its cotangents */
static int eval_stage(adjoint *s, double t, const real *y) {
  mbg__formulation_work *w = s->w;
  if (!w->articulated) {
    return mbg__dca_flow_eval(s->ctx, &w->flow, &w->base[0], t, y);
  }
  mbg__dca_articulated_group(w->articulated, true);
  const int err = mbg__dca_flow_eval(s->ctx, &w->flow, &w->base[0], t, y);
  mbg__dca_articulated_group(w->articulated, false);
  return err;
}

static int stage_vjp(void *user, int stage, double t, const real *y, int ncol, const real *b, real *b_y) {
  adjoint *s = user;
  mbg__formulation_work *w = s->w;
  mbg__dca_flow *f = &w->flow;
  int err = MBG_OK;
  (void)stage;
  MBG_TRY(eval_stage(s, t, y));
  by_length(s, ncol, y, b);
  mbg__pool_zero(w->pool, MBG__LOOP_ADJOINT_CLEAR, (size_t)ncol * (size_t)s->nb, s->ge);
  mbg__pool_zero(w->pool, MBG__LOOP_ADJOINT_CLEAR, (size_t)ncol * 2 * (size_t)s->n, b_y);
  if (mbg__dca_point_grouped(w->point)) {
    pull_grouped(s, ncol, b, b_y);
  } else {
    MBG_TRY(pull_panels(s, ncol, b, b_y));
  }
  mbg__dca_flow_increments(f, y);
  for (int c = 0; c < ncol; c++) {
    real *out = row(b_y, c, 2 * s->n);
    mbg__dca_flow_increment_pull(f, y, b + (size_t)c * 2 * (size_t)s->n, out, out + s->n);
    mbg__dca_flow_frames_pull(f, y, row(s->ge, c, s->nb), row(s->gn, c, s->nb), out);
  }
  by_time(s, t, ncol, false);
done:
  return err;
}

/* ---------------------------------------------------------------------- nodes */

/* seeds of all criteria at a node; false: all are 0 */
static bool take_seeds(adjoint *s, int node) {
  mbg__seeds_at(s->seeds, s->ncrit, &s->nodes, node, s->seed);
  mbg__dca_seeds_poses(s->signals, s->seeds, node);
  for (int i = 0; i < s->ncrit * s->nodes.nused; i++) {
    if (s->seed[i] != 0) {
      return true;
    }
  }
  return mbg__seeds_have_poses(s->seeds, s->ncrit, s->w->m->nw, node);
}

/* the node at the end of a step, or at the start */
static int end_node(mbg_context *ctx, adjoint *s, int node, const mbg__dca_base *base) {
  vn_zero(s->n, s->yi);
  vn_copy(s->n, s->yi + s->n, base->w);
  for (int c = 0; s->back.events.ev && c < s->ncrit; c++) {
    s->back.events.tb[c] += mbg__seed_time(&s->seeds[c], &s->nodes, node);
  }
  return take_seeds(s, node)
             ? mbg__dca_seeds_at(ctx, s->signals, base, re(base->t), s->yi, s->seed, s->ze, s->wb, s->psi_a)
             : MBG_OK;
}

/* stages that are not known, and the dense output; y1: end of the step (2 n) */
static int make_dense(mbg_context *ctx, adjoint *s, double t0, double t1, const real *y1) {
  const double ends[2] = {t0, t1};
  const mbg__rk_run run = {.rhs = again_rhs, .user = s, .t0 = t0, .t1 = t1, .nfrozen = 1, .frozen = ends};
  int err = MBG_OK;
  vn_zero(s->n, s->yi);
  vn_copy(s->n, s->yi + s->n, s->w->base[0].w);
  if (!s->k) {
    MBG_TRY(mbg__rk_start(ctx, s->again, &run, s->yi));
    MBG_TRY(mbg__rk_step(ctx, s->again));
    s->k = mbg__rk_last(s->again)->k;
  }
  mbg__rk_interpolant(s->w->pool, s->w->method, 2 * s->n, t1 - t0, s->yi, y1, s->k, s->r);
  err = MBG_OK;
done:
  return err;
}

/* a node inside a step whose length moves: of an integral, whose weight grows with it, or a sample */
static void by_node(adjoint *s, int node, double t, const real *g) {
  const bool sample = s->w->nodes.omega[node] == 0;
  by_time(s, t, s->ncrit, sample);
  if (sample && s->back.h > 0) {
    mbg__ode_adjoint_sample(&s->back, s->w->method, s->r, t, g);
  }
  for (int c = 0; !sample && s->back.h > 0 && c < s->ncrit; c++) {
    s->back.events.hb[c] += mbg__seed_stretch(&s->seeds[c], &s->nodes, node) / s->back.h;
  }
}

/* ge and gw of the links that are concerned are 0 */
static void clear_node(adjoint *s, const mbg__dca_few *few) {
  if (!few) {
    mbg__pool_zero(s->w->pool, MBG__LOOP_ADJOINT_CLEAR, (size_t)s->nc * (size_t)s->nb, s->ge);
    mbg__pool_zero(s->w->pool, MBG__LOOP_ADJOINT_CLEAR, (size_t)s->nc * (size_t)s->n, s->gw);
    return;
  }
  for (int c = 0; c < s->nc; c++) {
    for (int i = 0; i < few->n; i++) {
      const mbg__link *l = &s->w->flow.links[few->link[i]];
      v6_zero(row(s->ge, c, s->nb) + 6 * few->link[i]);
      vn_zero(l->nz, row(s->gw, c, s->n) + l->first);
    }
  }
}

/* cotangent g (nc x 2 n) of the dense output for the node at t, at x of the step */
static int inner_node(mbg_context *ctx, adjoint *s, double t, double x, real *g) {
  const mbg__formulation_work *w = s->w;
  const mbg__dca_few *few = mbg__dca_seeds_few(s->signals);
  mbg__rk_interpolate_all(w->pool, w->method, 2 * s->n, s->r, x, s->yi);
  clear_node(s, few);
  mbg__pool_zero(w->pool, MBG__LOOP_ADJOINT_CLEAR, (size_t)s->nc * 2 * (size_t)s->n, g);
  const int err = mbg__dca_seeds_at(ctx, s->signals, &w->base[0], t, s->yi, s->seed, s->ge, s->gw, s->psi_a);
  if (!few) {
    mbg__dca_flow_increments(&w->flow, s->yi);
  }
  for (int c = 0; err == MBG_OK && c < s->ncrit; c++) {
    if (!mbg__dca_seeds_any(s->signals, s->seed, c)) {
      continue;
    }
    real *own = row(g, c, 2 * s->n), *ge = row(s->ge, c, s->nb), *gn = row(s->gn, c, s->nb);
    if (few) {
      mbg__dca_flow_frames_pull_few(&w->flow, few, s->yi, ge, gn, own);
    } else {
      mbg__dca_flow_frames_pull(&w->flow, s->yi, ge, gn, own);
    }
    for (int i = 0; few && i < few->n; i++) {
      const mbg__link *l = &w->flow.links[few->link[i]];
      vn_copy(l->nz, own + s->n + l->first, row(s->gw, c, s->n) + l->first);
    }
    if (!few) {
      vn_copy(s->n, own + s->n, row(s->gw, c, s->n));
    }
  }
  return err;
}

/* cotangents g of the dense output at x for the nodes inside the step from t0 to t1, last first; their number */
static int inner_nodes(mbg_context *ctx, adjoint *s, int *node, double t0, double t1, const real *y1, int *count) {
  const mbg__formulation_work *w = s->w;
  const size_t size = (size_t)s->nc * 2 * (size_t)s->n;
  bool known = false;
  int err = MBG_OK;
  *count = 0;
  for (double t; *node > 0 && (t = mbg__step_nodes_time(&w->nodes, *node)) > t0; (*node)--) {
    if (!take_seeds(s, *node)) {
      continue;
    }
    if (!known) {
      MBG_TRY(make_dense(ctx, s, t0, t1, y1));
      known = true;
    }
    const double x = (t - t0) / (t1 - t0);
    real *g = s->g + (size_t)*count * size;
    MBG_TRY(inner_node(ctx, s, t, x, g));
    if (s->back.events.ev) {
      by_node(s, *node, t, g);
    }
    s->x[(*count)++] = x;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- events */

/* base[1] is the end of a step to a guard, which brings its own column */
static int guard_column(mbg_context *ctx, adjoint *s, int guard) {
  mbg__formulation_work *w = s->w;
  const int nw = w->m->nw, g = s->ncrit;
  real *guard_a = s->back.events.guard_a;
  int err = MBG_OK;
  const mbg__state bodies = mbg__dca_bodies(ctx, w, &w->base[1]);
  vn_zero(nw, s->fw);
  vn_zero(nw, s->fv);
  MBG_TRY(mbg__events_guard(ctx, s->back.events.ev, guard, &bodies, s->fw, s->fv, guard_a));
  vn_zero(s->nb, row(s->ze, g, s->nb));
  vn_zero(s->n, row(s->wb, g, s->n));
  mbg__tree_kin_pull(w->tree, s->fw, s->fv, NULL, row(s->ze, g, s->nb), row(s->wb, g, s->n), NULL, guard_a);
  s->nc = g + 1;
done:
  return err;
}

/* at the start of step k: what its length and, with an event, its end leave here */
static void leave(adjoint *s, int k) {
  const bool guarded = mbg__ode_adjoint_leave(&s->back, k, s->psi_a);
  for (int c = 0; guarded && c < s->ncrit; c++) {
    vn_axpy(s->nb, row(s->ze, c, s->nb), -s->back.events.kappa[c], row(s->ze, s->ncrit, s->nb));
    vn_axpy(s->n, row(s->wb, c, s->n), -s->back.events.kappa[c], row(s->wb, s->ncrit, s->n));
  }
  s->nc = s->ncrit;
}

/* step k is an event: from the state after it to that before */
static int undo_event(mbg_context *ctx, adjoint *s, int k, int *node) {
  mbg__formulation_work *w = s->w;
  const int nw = w->m->nw, firing = mbg__ode_events_fired(&w->events, k);
  const size_t bytes = (size_t)s->nc * (size_t)nw * sizeof(real);
  mbg__dca_step before, after;
  int err = MBG_OK;
  MBG_TRY(mbg__dca_store_step(ctx, w, k, &before, &after));
  mbg__dca_base_load(w, &after, &w->base[1]);
  mbg__dca_base_load(w, &before, &w->base[0]);
  mbg__ode_events_at(&w->events, s->back.events.ev, k);
  MBG_TRY(mbg__dca_base_set(ctx, &w->flow, &w->base[1]));
  MBG_TRY(mbg__dca_base_set(ctx, &w->flow, &w->base[0]));
  MBG_TRY(end_node(ctx, s, (*node)--, &w->base[1]));
  (void)mbg__dca_bodies(ctx, w, &w->base[1]);
  memset(s->fw, 0, bytes);
  memset(s->fv, 0, bytes);
  for (int c = 0; c < s->nc; c++) {
    vn_zero(s->nb, s->no_e);
    mbg__tree_local_read_pull(w->tree, s->no_e, row(s->wb, c, s->n), row(s->fw, c, nw), row(s->fv, c, nw),
                              attributes_of(s, c));
  }
  mbg__event_adjoint_clock(&s->back.events, s->psi_a);
  const mbg__state bodies = mbg__dca_bodies(ctx, w, &w->base[0]);
  MBG_TRY(mbg__event_adjoint_act(ctx, &s->back.events, firing, &bodies, s->fw, s->fv, s->psi_a));
  (void)mbg__dca_bodies(ctx, w, &w->base[0]);
  for (int c = 0; c < s->nc; c++) {
    vn_zero(s->n, row(s->wb, c, s->n));
    mbg__tree_kin_pull(w->tree, row(s->fw, c, nw), row(s->fv, c, nw), NULL, row(s->ze, c, s->nb), row(s->wb, c, s->n),
                       NULL, attributes_of(s, c));
  }
  mbg__event_adjoint_clock(&s->back.events, s->psi_a);
done:
  return err;
}

/* ---------------------------------------------------------------------- a step backward */

/* Does the step before step k end with an evaluation at the state where this one begins? Coordinates of the two differ,
   but sigma' = w in both if the motions of each joint commute. */
static bool goes_on(const adjoint *s, int k, double t0) {
  const mbg__formulation_work *w = s->w;
  bool smooth = k > 1 && !w->project && w->flow.ntwist == 0;
  smooth = smooth && mbg__ode_events_stays(&w->events, w->plan.events, k);
  smooth = smooth && mbg__ode_events_stays(&w->events, w->plan.events, k - 1);
  for (int i = 0; smooth && i < w->plan.nbreak; i++) {
    smooth = w->plan.breaks[i] != t0;
  }
  return smooth;
}

/* base[1] is the end of step k, base[0] becomes its start */
static int back(mbg_context *ctx, adjoint *s, int k, int *node) {
  mbg__formulation_work *w = s->w;
  mbg__dca_step end, start;
  int err = MBG_OK, count = 0;
  /* the end: its own node, then the projection */
  MBG_TRY(mbg__dca_store_step(ctx, w, k, &start, &end));
  mbg__dca_base_load(w, &end, &w->base[1]);
  const double t1 = *end.t;
  const int rounds = *end.rounds;
  vn_copy(s->n, w->y, end.sigma);
  vn_copy(s->n, w->before, end.before);
  mbg__dca_base_load(w, &start, &w->base[0]);
  const double t0 = *start.t;
  mbg__dca_segment(w, t0, t1);
  mbg__ode_events_at(&w->events, s->back.events.ev, k);
  MBG_TRY(mbg__dca_base_set(ctx, &w->flow, &w->base[1]));
  MBG_TRY(end_node(ctx, s, (*node)--, &w->base[1]));
  const int guard = mbg__ode_adjoint_enter(&s->back, k, t0, t1, s->psi_a);
  MBG_TRY(guard >= 0 ? guard_column(ctx, s, guard) : MBG_OK);
  MBG_TRY(mbg__dca_base_set(ctx, &w->flow, &w->base[0]));
  mbg__dca_flow_frames(&w->flow, &w->base[0], w->y, s->E);
  for (int c = 0; c < s->nc; c++) {
    s->pe[c] = row(s->ze, c, s->nb);
    s->pw[c] = row(s->wb, c, s->n);
    s->pa[c] = attributes_of(s, c);
  }
  if (w->project) {
    MBG_TRY(
        mbg__dca_project_pull(ctx, w->project, t1, w->base[1].q, s->E, w->before, rounds, s->nc, s->pe, s->pw, s->pa));
  }
  by_time(s, t1, s->nc, false);
  /* frames of the end from those of the start and the increments */
  mbg__pool_zero(w->pool, MBG__LOOP_ADJOINT_CLEAR, (size_t)s->nc * (size_t)s->nb, s->gn);
  mbg__pool_zero(w->pool, MBG__LOOP_ADJOINT_CLEAR, (size_t)s->nc * 2 * (size_t)s->n, s->lambda);
  mbg__dca_flow_increments(&w->flow, w->y);
  for (int c = 0; c < s->nc; c++) {
    real *own = row(s->lambda, c, 2 * s->n);
    mbg__dca_flow_frames_pull(&w->flow, w->y, s->pe[c], row(s->gn, c, s->nb), own);
    vn_copy(s->n, own + s->n, s->pw[c]);
  }
  s->k = end.k;
  MBG_TRY(inner_nodes(ctx, s, node, t0, t1, end.sigma, &count));
  const mbg__rk_adjoint_run run = {
      .rhs = stage_rhs, .vjp = stage_vjp, .user = s, .k = s->k, .pool = w->pool, .leave = goes_on(s, k, t0)};
  vn_zero(s->n, w->y);
  vn_copy(s->n, w->y + s->n, w->base[0].w);
  MBG_TRY(mbg__rk_step_adjoint_dense(ctx, s->nc > s->ncrit ? s->guarded : s->rk, &run, t0, t1, w->y, count, s->x, s->g,
                                     s->lambda));
  mbg__pool_copy(w->pool, MBG__LOOP_ADJOINT_COPY, (size_t)s->nc * (size_t)s->nb * sizeof(real), s->ze, s->gn);
  for (int c = 0; c < s->nc; c++) {
    vn_copy(s->n, row(s->wb, c, s->n), row(s->lambda, c, 2 * s->n) + s->n);
  }
  leave(s, k);
done:
  return err;
}

static int start(mbg_context *ctx, adjoint *s) {
  mbg__formulation_work *w = s->w;
  const size_t nw = (size_t)w->m->nw;
  mbg__dca_step first;
  int err = MBG_OK;
  real *frames = MBG_TAKE(&s->arena, real, nw * (size_t)s->nc), *twists = MBG_TAKE(&s->arena, real, nw * (size_t)s->nc);
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  mbg__dca_store_first(w, &first);
  mbg__dca_base_load(w, &first, &w->base[0]);
  mbg__dca_segment(w, w->plan.t0, w->plan.nbreak > 0 ? w->plan.breaks[0] : w->plan.t1);
  mbg__ode_events_at(&w->events, s->back.events.ev, 0);
  MBG_TRY(mbg__dca_base_set(ctx, &w->flow, &w->base[0]));
  MBG_TRY(end_node(ctx, s, 0, &w->base[0]));
  mbg__tree_place(w->tree, &(mbg__tree_state){.t = w->plan.t0, .E = w->base[0].E, .w = w->base[0].w});
  for (int c = 0; c < s->nc; c++) {
    mbg__tree_local_read_pull(w->tree, row(s->ze, c, s->nb), row(s->wb, c, s->n), row(frames, c, w->m->nw),
                              row(twists, c, w->m->nw), row(s->psi_a, c, w->m->na));
  }
  /* the start uses the system as scratch: after all criteria */
  for (int c = 0; c < s->nc; c++) {
    MBG_TRY(
        mbg__start_pull(ctx, w->start, row(frames, c, w->m->nw), row(twists, c, w->m->nw), row(s->psi_a, c, w->m->na)));
  }
done:
  return err;
}

static int passes(mbg_context *ctx, adjoint *s) {
  mbg__formulation_work *w = s->w;
  int err = MBG_OK, node = w->nodes.count - 1;
  for (int k = w->store.count - 1; k > 0; k--) {
    MBG_TRY(mbg__plan_check_interrupt(ctx, &w->plan, w->frozen[k]));
    if (mbg__ode_events_fired(&w->events, k) >= 0) {
      MBG_TRY(undo_event(ctx, s, k, &node));
      continue;
    }
    MBG_TRY(back(ctx, s, k, &node));
  }
  for (int c = 0; c < s->ncrit; c++) {
    take_sums(s, c);
  }
  mbg__dca_seeds_take(s->signals, s->psi_a);
  MBG_TRY(start(ctx, s));
  by_time(s, w->plan.t0, s->ncrit, true);
done:
  return err;
}

int mbg__dca_adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg_method method, int ncrit,
                     const mbg__criterion_seeds *seeds, real *psi_a) {
  adjoint s = {.w = w,
               .ctx = ctx,
               .nc = ncrit,
               .ncrit = ncrit,
               .n = w->flow.n,
               .nb = 6 * w->m->nbody,
               .seeds = seeds,
               .nodes = mbg__dca_nodes(w),
               .psi_a = psi_a};
  mbg__rk_options options = mbg__rk_options_default();
  int err = MBG_OK;
  (void)method; /* only the discrete one */
  w->flow.ctx = ctx;
  w->now = 0;
  options.fixed = 1; /* not used: steps are repeated */
  options.dense = true;
  options.pool = w->pool;
  mbg__system_want(w->flow.sys, mbg__seeds_all(seeds, ncrit));
  mbg__arena_init(&s.arena, mbg__context_allocator(ctx));
  MBG_TRY(take_arrays(ctx, &s));
  MBG_TRY(mbg__dca_seeds_create(ctx, &s.arena, w, ncrit, &s.signals));
  if (w->m->nmodal == 0 && !w->plan.events) {
    MBG_TRY(mbg__dca_seeds_sum(ctx, &s.arena, s.signals));
  }
  MBG_TRY(mbg__rk_create(ctx, 2 * s.n, w->method, &options, &s.again));
  MBG_TRY(mbg__rk_adjoint_create(ctx, 2 * s.n, ncrit, s.room, w->method, &s.rk));
  MBG_TRY(mbg__ode_adjoint_create(ctx, &s.arena, w->plan.events, &w->events, w->m, 2 * s.n, ncrit, &s.back));
  if (w->plan.events) {
    MBG_TRY(mbg__rk_adjoint_create(ctx, 2 * s.n, ncrit + 1, s.room, w->method, &s.guarded));
  }
  MBG_TRY(passes(ctx, &s));
done:
  mbg__rk_adjoint_destroy(ctx, s.guarded);
  mbg__rk_adjoint_destroy(ctx, s.rk);
  mbg__rk_destroy(s.again);
  mbg__system_want(w->flow.sys, true);
  mbg__arena_destroy(&s.arena);
  return err;
}
