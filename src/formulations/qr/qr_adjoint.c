/* Discrete adjoint (theory 3, section 11): the exact transpose of the Runge-Kutta steps that the simulation made, with
   their dense output at samples and points of integrals, and of the start. Per criterion go backward

     lambda   gradient by the state z at the end of a step
     g0       gradient by the frames of the start: H = H0 g, w = Ad(g^-1) w0 + w_g at every evaluation (qr_state.h)
     psi_a    gradient by attributes

   The stages of a step are stored, and the factors of small systems (qr_memory.c): a transposed stage costs the
   kinematics, its linearization and one transposed product for each criterion. A step to a guard has one more column
   (ode_adjoint.h). */
#include "formulations/qr/qr_work.h"
#include "trajectory/ode_adjoint.h"

#include <string.h>

typedef struct {
  mbg__formulation_work *w;
  mbg__arena arena;
  mbg_context *ctx;
  int nc, n; /* columns: criteria, and in a step to a guard one more */
  int ncrit; /* criteria */
  const mbg__criterion_seeds *seeds;
  mbg__nodes nodes;
  real *psi_a; /* events: with a row of the guard           (nc x na) */
  mbg__rk_adjoint *rk;
  mbg__ode_adjoint back;
  mbg__rk_adjoint *guarded; /* events: with one more column */
  int step;                 /* at hand */
  real *seed;               /*                                        (nc x nused) */
  real *density;            /* of integrals by stages                 (nc x nused) */
  double staged;            /* length of the step at hand if its integrals are by stages, else 0 */
  double ahead;             /* weight of the first stage of the step after it, at the end of this one */
  real *lambda;             /*                                        (nc x n) */
  real *g0;                 /*                                        (nc x nw) */
  real *mu, *rho;           /* gradients by v* and a                  (nc x nw) */
  real *gw, *gv;            /* by frames and twists                   (nc x nw) */
  real *reaction;           /* by multipliers                         (nc x nrow) */
  real *zi;                 /*                                        (n) */
  double *x;                /* nodes inside a step, most of them      (room) */
  real *g;                  /* gradients by z there                   (room x nc x n) */
  int room;
} adjoint;

static real *row(real *x, int c, int n) { return x + (size_t)c * (size_t)n; }

static int take_arrays(mbg_context *ctx, adjoint *s) {
  const mbg__formulation_work *w = s->w;
  const size_t nc = (size_t)s->ncrit + (w->plan.events != NULL), n = (size_t)s->n, nw = (size_t)w->m->nw;
  s->room = mbg__step_nodes_inside(&w->nodes, mbg__qr_store_steps(w), w->frozen);
  s->seed = MBG_TAKE(&s->arena, real, nc * (size_t)w->flow->nused);
  s->density = MBG_TAKE(&s->arena, real, nc * (size_t)w->flow->nused);
  s->lambda = MBG_TAKE(&s->arena, real, nc * n);
  s->g0 = MBG_TAKE(&s->arena, real, nc * nw);
  s->mu = MBG_TAKE(&s->arena, real, nc * nw);
  s->rho = MBG_TAKE(&s->arena, real, nc * nw);
  s->gw = MBG_TAKE(&s->arena, real, nc * nw);
  s->gv = MBG_TAKE(&s->arena, real, nc * nw);
  s->reaction = MBG_TAKE(&s->arena, real, nc * (size_t)w->m->nrow);
  s->zi = MBG_TAKE(&s->arena, real, n);
  s->x = MBG_TAKE(&s->arena, double, s->room);
  s->g = MBG_TAKE(&s->arena, real, (size_t)s->room * nc * n);
  return mbg__ode_adjoint_create(ctx, &s->arena, w->plan.events, &w->events, w->m, s->n, s->ncrit, &s->back);
}

/* gradients by attributes of criteria and guard in one block */
static int take_attributes(mbg_context *ctx, adjoint *s) {
  const size_t na = (size_t)s->w->m->na;
  if (s->back.events.ev) {
    s->psi_a = MBG_TAKE(&s->arena, real, ((size_t)s->ncrit + 1) * na);
    s->back.events.guard_a = s->psi_a ? row(s->psi_a, s->ncrit, (int)na) : NULL;
  }
  return mbg__arena_check(ctx, &s->arena);
}

static void clear(adjoint *s, real *x) { memset(x, 0, (size_t)s->nc * (size_t)s->w->m->nw * sizeof(real)); }

/* gradients by frames and twists at z become those by z (nc x n), and by the start */
static void to_state(adjoint *s, const real *z, real *gz) {
  for (int c = 0; c < s->nc; c++) {
    mbg__qr_state_read_pull(&s->w->flow->state, z, row(s->gw, c, s->w->m->nw), row(s->gv, c, s->w->m->nw),
                            row(gz, c, s->n), row(s->g0, c, s->w->m->nw));
  }
}

/* ---------------------------------------------------------------------- nodes */

/* do seeds of the node concern accelerations or reactions? */
static bool needs_accelerations(const adjoint *s) {
  for (int k = 0; k < s->nodes.nused; k++) {
    for (int c = 0; mbg__ode_needs_accelerations(s->w->m, 1, s->nodes.used + k) && c < s->ncrit; c++) {
      if (s->seed[(size_t)c * (size_t)s->nodes.nused + (size_t)k] != 0) {
        return true;
      }
    }
  }
  return false;
}

static int linearize_node(mbg_context *ctx, const adjoint *s, double t, const real *z, bool full) {
  mbg__qr_flow *f = s->w->flow;
  int err = MBG_OK;
  if (!full) {
    return mbg__qr_flow_linearize_signals(ctx, f, t, z);
  }
  MBG_TRY(mbg__qr_flow_eval(ctx, f, t, z));
  MBG_TRY(mbg__qr_point_linearize(ctx, f->point));
  MBG_TRY(mbg__system_linearize_signals(ctx, f->sys));
done:
  return err;
}

/* full: some concern accelerations or reactions, whose cotangents are not touched else */
static void pull_signals(adjoint *s, int node, bool full) {
  const mbg_model *m = s->w->m;
  clear(s, s->gw);
  clear(s, s->gv);
  if (full) {
    clear(s, s->rho);
    memset(s->reaction, 0, (size_t)s->nc * (size_t)m->nrow * sizeof(real));
  }
  for (int c = 0; c < s->ncrit; c++) {
    for (int k = 0; k < s->nodes.nused; k++) {
      const real weight = s->seed[(size_t)c * (size_t)s->nodes.nused + (size_t)k];
      if (weight != 0) {
        mbg__system_signal_pull(s->w->flow->sys, s->nodes.used[k], weight, row(s->gw, c, m->nw), row(s->gv, c, m->nw),
                                row(s->rho, c, m->nw), row(s->reaction, c, m->nrow), row(s->psi_a, c, m->na));
      }
    }
    if (node >= 0) {
      mbg__seeds_add_poses(&s->seeds[c], m->nw, node, row(s->gw, c, m->nw), row(s->gv, c, m->nw));
    }
  }
}

static bool take_seeds(adjoint *s, int node) {
  mbg__seeds_at(s->seeds, s->ncrit, &s->nodes, node, s->seed);
  return mbg__any((size_t)s->ncrit * (size_t)s->nodes.nused, s->seed) ||
         mbg__seeds_have_poses(s->seeds, s->ncrit, s->w->m->nw, node);
}

/* the seeds taken, of a node (-1: a stage) at (t, z), added to the gradient by z (nc x n) */
static int node_gradient(mbg_context *ctx, adjoint *s, int node, double t, const real *z, real *gz) {
  const bool full = needs_accelerations(s);
  int err = MBG_OK;
  MBG_TRY(linearize_node(ctx, s, t, z, full));
  pull_signals(s, node, full);
  if (full) {
    MBG_TRY(mbg__qr_point_pull(ctx, s->w->flow->point, s->nc, NULL, s->rho, s->reaction, s->gw, s->gv, s->psi_a));
  }
  to_state(s, z, gz);
done:
  return err;
}

static void add_densities(adjoint *s, double weight) {
  vn_axpy(s->ncrit * s->nodes.nused, s->seed, weight, s->density);
}

/* the integrands at (t, z) with a weight, added to the gradient by z (nc x n) */
static int density_gradient(adjoint *s, double weight, double t, const real *z, real *gz) {
  const size_t size = (size_t)s->ncrit * (size_t)s->nodes.nused;
  if (weight == 0 || !mbg__any(size, s->density)) {
    return MBG_OK;
  }
  vn_zero((int)size, s->seed);
  add_densities(s, weight);
  return node_gradient(s->ctx, s, -1, t, z, gz);
}

/* the node at the end of a step, at the start, or after an event */
static int end_node(mbg_context *ctx, adjoint *s, int node, double t, const real *z) {
  for (int c = 0; s->back.events.ev && c < s->ncrit; c++) {
    s->back.events.tb[c] += mbg__seed_time(&s->seeds[c], &s->nodes, node);
  }
  const bool any = take_seeds(s, node);
  add_densities(s, s->ahead);
  s->ahead = 0;
  return any || mbg__any((size_t)s->ncrit * (size_t)s->nodes.nused, s->seed)
             ? node_gradient(ctx, s, node, t, z, s->lambda)
             : MBG_OK;
}

/* a node inside a step whose length moves: of an integral, whose weight grows with it, or a sample */
static void by_node(adjoint *s, int node, double t, const real *g) {
  const mbg__formulation_work *w = s->w;
  const bool sample = w->nodes.omega[node] == 0;
  mbg__ode_adjoint_time(&s->back, t, s->ncrit, sample, s->psi_a);
  if (sample && s->back.h > 0) {
    mbg__ode_adjoint_sample(&s->back, w->method, w->r, t, g);
  }
  for (int c = 0; !sample && s->back.h > 0 && c < s->ncrit; c++) {
    s->back.events.hb[c] += mbg__seed_stretch(&s->seeds[c], &s->nodes, node) / s->back.h;
  }
}

/* gradients g of the dense output at x for the nodes inside step k, last first; their number */
static int inner_nodes(mbg_context *ctx, adjoint *s, int k, mbg__qr_step *step, int *node, int *count) {
  mbg__formulation_work *w = s->w;
  const size_t size = (size_t)s->nc * (size_t)s->n;
  int err = MBG_OK;
  *count = 0;
  for (double t; *node > 0 && (t = mbg__step_nodes_time(&w->nodes, *node)) > step->t0; (*node)--) {
    if (!take_seeds(s, *node)) {
      continue;
    }
    real *g = s->g + (size_t)*count * size;
    memset(g, 0, size * sizeof(real));
    MBG_TRY(mbg__qr_step_interpolate(ctx, w, k, step, t, s->zi));
    MBG_TRY(node_gradient(ctx, s, *node, t, s->zi, g));
    if (s->back.events.ev) {
      by_node(s, *node, t, g);
    }
    s->x[(*count)++] = (t - step->t0) / (step->t1 - step->t0);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- stages */

/* h b_i of a stage in the integral over the step */
static double stage_weight(const adjoint *s, int stage) {
  const mbg__rk_method *m = s->w->method;
  return stage < m->nstage ? s->staged * m->A[m->nstage][stage] : 0;
}

/* after an evaluation: gradients b of z' of all criteria become those by z */
static int rates_vjp(adjoint *s, const real *z, int ncol, const real *b, real *b_z) {
  const mbg__qr_flow *f = s->w->flow;
  const int nw = f->m->nw;
  for (int c = 0; c < ncol; c++) {
    mbg__qr_state_rates_pull(&f->state, z, f->v_star, b + (size_t)c * (size_t)s->n, row(b_z, c, s->n),
                             row(s->mu, c, nw), row(s->rho, c, nw));
  }
  clear(s, s->gw);
  clear(s, s->gv);
  const int err = mbg__qr_point_pull(s->ctx, f->point, ncol, s->mu, s->rho, NULL, s->gw, s->gv, s->psi_a);
  if (err == MBG_OK) {
    to_state(s, z, b_z);
  }
  return err;
}

/* the same in a plane, over free velocities */
static void rates_vjp_in_plane(adjoint *s, const real *z, int ncol, const real *b, real *b_z) {
  const mbg__qr_state *state = &s->w->flow->state;
  const int nv = s->w->m->nv, nw = s->w->m->nw;
  for (int c = 0; c < ncol; c++) {
    const real *own = b + (size_t)c * (size_t)s->n;
    mbg__qr_state_flat_rates_pull(state, z, s->w->flow->v_star, own, row(b_z, c, s->n), row(s->mu, c, nv));
    vn_copy(nv, row(s->rho, c, nv), own + state->nplace);
  }
  vn_zero(ncol * nv, s->gw);
  vn_zero(ncol * nv, s->gv);
  mbg__qr_point_pull_in_plane(s->w->flow->point, ncol, s->mu, s->rho, s->gw, s->gv, s->psi_a);
  for (int c = 0; c < ncol; c++) {
    mbg__qr_state_flat_read_pull(state, z, row(s->gw, c, nv), row(s->gv, c, nv), row(b_z, c, s->n), row(s->g0, c, nw));
  }
}

/* gradients b of z' of all criteria, and those of integrals by stages */
static int stage_vjp(void *user, int stage, double t, const real *z, int ncol, const real *b, real *b_z) {
  adjoint *s = user;
  mbg__qr_flow *f = s->w->flow;
  const size_t size = (size_t)ncol * (size_t)s->n;
  int err = MBG_OK;
  memset(b_z, 0, size * sizeof(real));
  MBG_TRY(density_gradient(s, stage_weight(s, stage), t, z, b_z));
  if (!mbg__any(size, b)) { /* no criterion looks at what follows */
    return MBG_OK;
  }
  MBG_TRY(mbg__qr_flow_eval_again(s->ctx, f, s->step, t, z));
  if (s->back.h > 0) {
    mbg__qr_state_rates(&f->state, z, f->v_star, f->a, s->back.rates);
    mbg__ode_adjoint_length(&s->back, ncol, s->back.rates, b);
  }
  if (f->flat) {
    rates_vjp_in_plane(s, z, ncol, b, b_z);
  } else {
    MBG_TRY(rates_vjp(s, z, ncol, b, b_z));
  }
  mbg__ode_adjoint_time(&s->back, t, ncol, false, s->psi_a);
done:
  return err;
}

static const real *stage_argument(void *user, int stage, double t) {
  const adjoint *s = user;
  return mbg__qr_memory_argument(s->w->flow, s->step, stage, s->w->method->nstage, t);
}

/* ---------------------------------------------------------------------- events */

/* the end of a step to a guard, which brings its own column */
static int guard_column(mbg_context *ctx, adjoint *s, int guard, const mbg__qr_step *step) {
  const int nw = s->w->m->nw, g = s->ncrit;
  int err = MBG_OK;
  const mbg__state bodies = mbg__qr_bodies(ctx, s->w, step->t1, step->z1);
  vn_zero(nw, s->gw);
  vn_zero(nw, s->gv);
  MBG_TRY(mbg__events_guard(ctx, s->back.events.ev, guard, &bodies, s->gw, s->gv, s->back.events.guard_a));
  vn_zero(s->n, row(s->lambda, g, s->n));
  vn_zero(nw, row(s->g0, g, nw));
  mbg__qr_state_read_pull(&s->w->flow->state, step->z1, s->gw, s->gv, row(s->lambda, g, s->n), row(s->g0, g, nw));
  s->nc = g + 1;
  mbg__ode_adjoint_time(&s->back, step->t1, s->nc, false, s->psi_a);
done:
  return err;
}

/* at the start of step k: what its length and, with an event, its end leave here */
static void leave(adjoint *s, int k) {
  const bool guarded = mbg__ode_adjoint_leave(&s->back, k, s->psi_a);
  const int nw = s->w->m->nw;
  for (int c = 0; guarded && c < s->ncrit; c++) {
    vn_axpy(s->n, row(s->lambda, c, s->n), -s->back.events.kappa[c], row(s->lambda, s->ncrit, s->n));
    vn_axpy(nw, row(s->g0, c, nw), -s->back.events.kappa[c], row(s->g0, s->ncrit, nw));
  }
  s->nc = s->ncrit;
}

/* step k is an event: from the state after it to that before */
static int undo_event(mbg_context *ctx, adjoint *s, int k, int *node) {
  mbg__formulation_work *w = s->w;
  const mbg__qr_state *state = &w->flow->state;
  mbg__qr_step step;
  int err = MBG_OK;
  MBG_TRY(mbg__qr_store_step(ctx, w, k, &step));
  mbg__qr_at_step(w, k);
  MBG_TRY(end_node(ctx, s, (*node)--, step.t1, step.z1));
  mbg__event_adjoint_clock(&s->back.events, s->psi_a);
  clear(s, s->gw);
  clear(s, s->gv);
  for (int c = 0; c < s->nc; c++) {
    real *rates = row(s->lambda, c, s->n) + state->nplace;
    mbg__to_full(w->m, 1, rates, row(s->gv, c, w->m->nw));
    vn_zero(w->m->nv, rates);
  }
  const mbg__state before = mbg__qr_bodies(ctx, w, step.t0, step.z0);
  MBG_TRY(mbg__event_adjoint_act(ctx, &s->back.events, mbg__ode_events_fired(&w->events, k), &before, s->gw, s->gv,
                                 s->psi_a));
  to_state(s, step.z0, s->lambda);
done:
  return err;
}

/* ---------------------------------------------------------------------- passes */

static bool stays(const mbg__formulation_work *w, int k) {
  return mbg__ode_events_stays(&w->events, w->plan.events, k);
}

/* Do step k and the one before evaluate the state between them alike, at one time? */
static bool goes_on(const mbg__formulation_work *w, int k, double t0) {
  return k > 1 && mbg__step_nodes_goes_on(&w->nodes, t0) && stays(w, k) && stays(w, k - 1);
}

static int back(mbg_context *ctx, adjoint *s, int k, int *node) {
  mbg__formulation_work *w = s->w;
  mbg__qr_step step;
  int err = MBG_OK, count;
  s->step = k;
  MBG_TRY(mbg__qr_store_step(ctx, w, k, &step));
  mbg__qr_at_step(w, k);
  MBG_TRY(end_node(ctx, s, (*node)--, step.t1, step.z1));
  const int guard = mbg__ode_adjoint_enter(&s->back, k, step.t0, step.t1, s->psi_a);
  MBG_TRY(guard >= 0 ? guard_column(ctx, s, guard, &step) : MBG_OK);
  s->staged = mbg__step_nodes_staged(&w->nodes, step.t0, *node) ? step.t1 - step.t0 : 0;
  MBG_TRY(inner_nodes(ctx, s, k, &step, node, &count));
  const bool on = goes_on(w, k, step.t0);
  const mbg__rk_adjoint_run run = {.vjp = stage_vjp, .user = s, .k = step.k, .leave = on, .argument = stage_argument};
  MBG_TRY(mbg__rk_step_adjoint_dense(ctx, s->nc > s->ncrit ? s->guarded : s->rk, &run, step.t0, step.t1, step.z0, count,
                                     s->x, s->g, s->lambda));
  s->ahead = on ? stage_weight(s, 0) : 0;
  leave(s, k);
done:
  return err;
}

/* the numbers of the first frames are constants of the state; the rates are not */
static int start(mbg_context *ctx, adjoint *s) {
  mbg__formulation_work *w = s->w;
  const mbg__qr_state *state = &w->flow->state;
  int err = MBG_OK;
  w->flow->segment = (mbg__segment){-INFINITY, INFINITY};
  mbg__ode_events_at(&w->events, w->plan.events, 0);
  MBG_TRY(end_node(ctx, s, 0, w->plan.t0, w->z0));
  for (int c = 0; c < s->nc; c++) {
    vn_zero(w->m->nw, s->gv);
    mbg__to_full(w->m, 1, row(s->lambda, c, s->n) + state->nplace, s->gv);
    MBG_TRY(mbg__start_pull(ctx, w->start, row(s->g0, c, w->m->nw), s->gv, row(s->psi_a, c, w->m->na)));
  }
done:
  return err;
}

static int passes(mbg_context *ctx, adjoint *s) {
  mbg__formulation_work *w = s->w;
  int err = MBG_OK, node = w->nodes.count - 1;
  for (int i = 0; i < s->ncrit * s->nodes.nused; i++) {
    s->density[i] = mbg__seeds_linear(&s->seeds[i / s->nodes.nused].at, i % s->nodes.nused);
  }
  for (int k = mbg__qr_store_steps(w); k > 0; k--) {
    MBG_TRY(mbg__plan_check_interrupt(ctx, &w->plan, w->frozen[k]));
    MBG_TRY(mbg__ode_events_fired(&w->events, k) >= 0 ? undo_event(ctx, s, k, &node) : back(ctx, s, k, &node));
  }
  MBG_TRY(start(ctx, s));
  mbg__ode_adjoint_time(&s->back, w->plan.t0, s->ncrit, true, s->psi_a);
done:
  return err;
}

int mbg__qr_adjoint(mbg_context *ctx, mbg__formulation_work *w, int ncrit, const mbg__criterion_seeds *seeds,
                    real *psi_a) {
  adjoint s = {.w = w,
               .ctx = ctx,
               .nc = ncrit,
               .ncrit = ncrit,
               .n = w->flow->state.n,
               .seeds = seeds,
               .nodes = mbg__qr_nodes(w),
               .psi_a = psi_a};
  int err = MBG_OK;
  w->flow->ctx = ctx;
  mbg__system_want(w->flow->sys, mbg__seeds_all(seeds, ncrit));
  mbg__arena_init(&s.arena, mbg__context_allocator(ctx));
  MBG_TRY(take_arrays(ctx, &s));
  MBG_TRY(take_attributes(ctx, &s));
  MBG_TRY(mbg__rk_adjoint_create(ctx, s.n, ncrit, s.room, w->method, &s.rk));
  if (w->plan.events) {
    MBG_TRY(mbg__rk_adjoint_create(ctx, s.n, ncrit + 1, s.room, w->method, &s.guarded));
  }
  MBG_TRY(passes(ctx, &s));
  if (s.psi_a != psi_a) {
    vn_axpy(ncrit * w->m->na, psi_a, 1, s.psi_a);
  }
done:
  mbg__rk_adjoint_destroy(ctx, s.guarded);
  mbg__rk_adjoint_destroy(ctx, s.rk);
  mbg__system_want(w->flow->sys, true);
  mbg__arena_destroy(&s.arena);
  return err;
}
