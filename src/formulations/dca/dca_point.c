#include "formulations/dca/dca_point.h"

#include "formulations/dca/dca_loops.h"

#include "system/system_lanes.h"

#include <string.h>

struct mbg__dca_point {
  const mbg_model *m;
  mbg__system *sys;
  mbg__tree *tree;
  mbg__dca_assembly *assembly;
  mbg__dca_panel *panel;
  mbg__pool *pool;
  mbg__tree_state state; /* of the last eval */
  int n;                 /* coordinates */
  real *M, *B;           /* by the patterns of the system */
  real *r, *gamma;       /*                                      (nw), (nrow) */
  real *x;               /* right sides and solutions            ((nv + nrow) x panel) */
  real *vd, *lambda, *a; /*                                      (nw), (nrow), (n) */
  real *c;               /* bias, differences                    (nw) */
  real *w, *dv, *k;      /* of a panel                           (panel x nw) */
  real *dphi;            /*                                      (nrow) */
  double residual;
  /* changes in directions: as many columns at once as lanes hold, or one */
  struct {
    int width;
    mbg__lanes_block *block;
    real *r, *rows, *da; /*                                      (nw), (nrow), (na), width columns each */
  } changes;

  /* trees without rows: instead of the assembly */
  mbg__dca_articulated *articulated;
  bool gravity_only; /* no other forces: dynamics needs no system */
  bool placed;       /* tree and system are at the state ... */
  bool complete;     /* ... with its accelerations and multipliers */
  const bool *rows;  /* all false: rows are not needed         (nrow) */
  real *f;           /* joint wrenches; of the leader in a view (nw) */
  real *tau, *z, *ct, *cg, *scratch;
  mbg__dca_lanes *lanes; /* NULL: column by column */
};

/* ---------------------------------------------------------------------- creation */

static int take_changes(mbg_context *ctx, mbg__arena *arena, mbg__dca_point *p) {
  /* trees without rows have lanes of their own */
  const size_t width = mbg__system_lanes_can(p->sys) && !p->articulated ? MBG__LANES : 1, many = width > 1 ? width : 0;
  p->changes.width = (int)width;
  p->changes.r = MBG_TAKE(arena, real, width * (size_t)p->m->nw);
  p->changes.rows = MBG_TAKE(arena, real, width * (size_t)p->m->nrow);
  p->changes.da = MBG_TAKE(arena, real, many * (size_t)p->m->na);
  return mbg__lanes_block_create(ctx, arena, p->sys, &p->changes.block);
}

static int take_arrays(mbg_context *ctx, mbg__arena *arena, mbg__dca_point *p, mbg__pool *pool) {
  const mbg_model *m = p->m;
  const size_t nw = (size_t)m->nw, wide = p->articulated ? MBG__DCA_PANEL / 2 : MBG__DCA_PANEL;
  p->r = MBG_TAKE(arena, real, nw);
  p->vd = MBG_TAKE(arena, real, nw);
  p->lambda = MBG_TAKE(arena, real, m->nrow);
  p->a = MBG_TAKE(arena, real, p->n);
  p->c = MBG_TAKE(arena, real, nw);
  p->w = MBG_TAKE(arena, real, nw * wide);
  p->dv = MBG_TAKE(arena, real, nw * wide);
  p->k = MBG_TAKE(arena, real, nw * wide);
  p->dphi = MBG_TAKE(arena, real, m->nrow);
  if (p->articulated) {
    p->f = MBG_TAKE(arena, real, nw);
    p->tau = MBG_TAKE(arena, real, p->n);
    p->z = MBG_TAKE(arena, real, nw);
    p->ct = MBG_TAKE(arena, real, nw);
    p->cg = MBG_TAKE(arena, real, nw);
    p->scratch = MBG_TAKE(arena, real, mbg__dca_articulated_scratch(p->articulated));
    p->rows = MBG_TAKE(arena, bool, m->nrow);
    return mbg__arena_check(ctx, arena);
  }
  p->M = MBG_TAKE(arena, real, mbg__csc_count(mbg__system_pattern_K(p->sys)));
  p->B = MBG_TAKE(arena, real, mbg__csc_count(mbg__system_pattern_B(p->sys)));
  p->gamma = MBG_TAKE(arena, real, m->nrow);
  p->x = MBG_TAKE(arena, real, (size_t)(m->nv + m->nrow) * wide);
  return mbg__dca_panel_create(ctx, arena, p->assembly, MBG__DCA_PANEL, pool, &p->panel);
}

int mbg__dca_point_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, mbg__tree *tree,
                          mbg__dca_assembly *assembly, mbg__dca_articulated *articulated, mbg__pool *pool,
                          mbg__dca_point **out) {
  const mbg_model *m = mbg__system_model(sys);
  mbg__dca_point *p = MBG_TAKE(arena, mbg__dca_point, 1);
  *out = p;
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  *p = (mbg__dca_point){.m = m,
                        .sys = sys,
                        .tree = tree,
                        .assembly = assembly,
                        .articulated = articulated,
                        .pool = pool,
                        .n = mbg__tree_size(tree),
                        .gravity_only = m->nforce == 0};
  const int err = take_changes(ctx, arena, p);
  return err < 0 ? err : take_arrays(ctx, arena, p, pool);
}

int mbg__dca_point_columns(mbg_context *ctx, mbg__arena *arena, mbg__dca_point *p) {
  p->lanes = NULL;
  return arena && mbg__dca_lanes_can(p->tree, p->articulated)
             ? mbg__dca_lanes_create(ctx, arena, p->tree, p->articulated, &p->lanes)
             : MBG_OK;
}

const real *mbg__dca_point_a(const mbg__dca_point *p) { return p->a; }

double mbg__dca_point_residual(const mbg__dca_point *p) { return p->residual; }

const bool *mbg__dca_point_rows(const mbg__dca_point *p) { return p->rows; }

/* ---------------------------------------------------------------------- right sides and solutions */

static double solve(mbg__dca_point *p, int m) {
  const double worst = mbg__dca_assembly_solve(p->assembly, p->panel, m, p->x);
  p->residual = fmax(p->residual, worst);
  return worst;
}

/* ---------------------------------------------------------------------- values */

/* tree and system at the state of the last eval, without rates and multipliers */
static int place(mbg_context *ctx, mbg__dca_point *p) {
  mbg__tree_place(p->tree, &p->state);
  mbg__state bodies = mbg__tree_bodies(p->tree);
  bodies.vd = NULL;
  bodies.rows = p->rows;
  p->placed = true;
  return mbg__system_update(ctx, p->sys, &bodies);
}

/* factors by pieces */
static int eval_assembly(mbg_context *ctx, mbg__dca_point *p) {
  int err = MBG_OK;
  MBG_TRY(place(ctx, p));
  mbg__system_residual(p->sys, p->r, NULL, NULL, NULL, p->gamma);
  mbg__system_matrices(p->sys, &(mbg__matrices){.M = p->M, .B = p->B});
  MBG_TRY(mbg__dca_assembly_factor(ctx, p->assembly, p->M, p->B, re(p->state.t)));
  mbg__dca_pack(p->m, 0, 1, -1, p->r, p->gamma, p->x);
  mbg__dca_assembly_motion(p->assembly, mbg__tree_bodies(p->tree).v);
  const double residual = solve(p, 1);
  mbg__dca_assembly_motion(p->assembly, NULL);
  if (residual > 1e-6) {
    err = mbg__fail(ctx, MBG_ERROR_SINGULAR,
                    "t = %g: the accelerations are not unique: a body moves without inertia, or constraints depend on "
                    "each other; check masses and inertias",
                    mbg__time_shown(re(p->state.t)));
    goto done;
  }
  mbg__dca_unpack(p->m, 0, 1, p->x, p->vd, p->lambda);
  if (mbg__system_has_late(p->sys)) {
    mbg__system_complete(p->sys, p->vd, p->lambda);
    MBG_TRY(mbg__system_late(ctx, p->sys, p->vd));
  }
  mbg__tree_joint_rates(p->tree, p->vd, p->a);
  if (mbg__system_has_late(p->sys)) {
    mbg__tree_rates(p->tree, p->a, p->vd);
    p->complete = true;
  }
done:
  return err;
}

static int eval_articulated(mbg_context *ctx, mbg__dca_point *p) {
  const double t = re(p->state.t);
  int err = MBG_OK;
  if (p->gravity_only) {
    return mbg__dca_articulated_dynamics(ctx, p->articulated, &p->state, p->a);
  }
  MBG_TRY(place(ctx, p));
  mbg__system_residual(p->sys, p->r, NULL, NULL, NULL, NULL);
  mbg__tree_bias(p->tree, p->c);
  vn_scale(p->m->nw, p->r, -1, p->r);
  MBG_TRY(mbg__dca_articulated_factor(ctx, p->articulated, t, p->state.E));
  mbg__dca_articulated_solve(p->articulated, p->r, NULL, p->c, p->vd, p->a, p->f, p->scratch);
done:
  return err;
}

int mbg__dca_point_eval(mbg_context *ctx, mbg__dca_point *p, const mbg__tree_state *state) {
  p->state = *state;
  p->placed = p->complete = false;
  const int err = p->articulated ? eval_articulated(ctx, p) : eval_assembly(ctx, p);
  p->state.make = NULL;
  return err;
}

/* tree and system at the state with its accelerations, after dynamics that did not need the system */
static int place_full(mbg_context *ctx, mbg__dca_point *p) {
  mbg__tree_state state = p->state;
  mbg__tree_place(p->tree, &state);
  if (mbg__dca_articulated_rates(p->articulated, mbg__tree_bodies(p->tree).H, p->vd)) {
    mbg__tree_rates(p->tree, p->a, p->vd);
  } else {
    mbg__tree_accelerate(p->tree, p->a);
    vn_copy(p->m->nw, p->vd, mbg__tree_bodies(p->tree).vd);
  }
  mbg__state bodies = mbg__tree_bodies(p->tree);
  bodies.rows = p->rows;
  mbg__dca_articulated_wrenches(p->articulated, p->f);
  p->placed = p->complete = true;
  return mbg__system_update(ctx, p->sys, &bodies);
}

int mbg__dca_point_full(mbg_context *ctx, mbg__dca_point *p) {
  if (!p->placed) {
    return place_full(ctx, p);
  }
  if (!p->complete) {
    mbg__system_complete(p->sys, p->vd, p->lambda);
    mbg__tree_rates(p->tree, p->a, p->vd);
    p->complete = true;
    return mbg__system_late(ctx, p->sys, p->vd);
  }
  return MBG_OK;
}

int mbg__dca_point_linearize(mbg_context *ctx, mbg__dca_point *p) {
  const int err = mbg__dca_point_full(ctx, p);
  return err < 0 ? err : mbg__system_linearize(ctx, p->sys);
}

int mbg__dca_point_follow(mbg_context *ctx, mbg__dca_point *p, const mbg__dca_point *leader) {
  int err = MBG_OK;
  p->state = leader->state;
  p->complete = false;
  if (mbg__system_view(p->sys, leader->sys)) {
    mbg__tree_view(p->tree, leader->tree);
    p->f = leader->f;
    return MBG_OK;
  }
  MBG_TRY(place(ctx, p));
  vn_copy(p->m->nw, p->vd, leader->vd);
  vn_copy(p->m->nrow, p->lambda, leader->lambda);
  vn_copy(p->n, p->a, leader->a);
  if (p->articulated) {
    vn_copy(p->m->nw, p->f, leader->f);
  }
  MBG_TRY(mbg__dca_point_linearize(ctx, p));
done:
  return err;
}

/* ---------------------------------------------------------------------- derivatives */

static real *column(real *x, int q, int n) { return x + (size_t)q * (size_t)n; }

static real *direction_of(const mbg__dca_point *p, int q, const mbg__dca_attributes *attributes) {
  return p->changes.width > 1 ? column(p->changes.da, q, p->m->na) : attributes->da;
}

/* changes of r and phidd of the columns from `first` on, in p->changes; p->k, too */
static void push_block(mbg__dca_point *p, int first, int nc, const real *const *e, const real *const *dw,
                       const mbg__dca_attributes *attributes) {
  const int nw = p->m->nw, nr = p->m->nrow;
  mbg__direction x[MBG__LANES] = {{0}};
  real *r[MBG__LANES], *rows[MBG__LANES];
  for (int q = 0; q < nc; q++) {
    real *w = column(p->w, first + q, nw), *dv = column(p->dv, first + q, nw), *da = direction_of(p, q, attributes);
    const mbg__tree_direction d = {.e = e[first + q], .dw = dw[first + q], .attributes = da};
    x[q] = (mbg__direction){.w = w, .dv = dv, .da = da};
    r[q] = column(p->changes.r, q, nw);
    rows[q] = column(p->changes.rows, q, nr);
    mbg__event_tangent_lay(attributes->columns, attributes->first + first + q, da);
    mbg__tree_local_push(p->tree, &d, false, w, dv, column(p->k, first + q, nw));
  }
  mbg__system_push_block(p->sys, p->changes.block, nc, x, &(mbg__lanes_change){.dr = r, .dphidd = rows});
  for (int q = 0; q < nc; q++) {
    mbg__event_tangent_clear(attributes->columns, attributes->first + first + q, direction_of(p, q, attributes));
  }
}

/* all columns in lanes, if the right sides need no refinement */
static bool push_lanes(mbg__dca_point *p, int ncol, const real *const *e, const real *const *dw,
                       const mbg__dca_attributes *attributes, real *const *da) {
  bool done = p->lanes != NULL;
  for (int q = 0; done && q < ncol; q += MBG__LANES) {
    const mbg__dca_lanes_direction d = {.nc = ncol - q < MBG__LANES ? ncol - q : MBG__LANES,
                                        .first = attributes->first + q,
                                        .e = e + q,
                                        .dw = dw + q,
                                        .columns = attributes->columns,
                                        .da = attributes->da,
                                        .f = p->f};
    done = mbg__dca_lanes_push(p->lanes, &d, da + q);
  }
  return done;
}

bool mbg__dca_point_pieces(const mbg__dca_point *p) { return p->lanes && mbg__dca_lanes_pieces(p->lanes); }

void mbg__dca_point_push_step(mbg__dca_point *p, const mbg__dca_step_columns *step, int ncol, const real *const *en,
                              const real *const *dw, const mbg__dca_attributes *attributes, real *const *da) {
  for (int q = 0; q < ncol; q += MBG__LANES) {
    mbg__dca_step_change change = step->change;
    change.dsigma += q;
    const mbg__dca_lanes_direction d = {.nc = ncol - q < MBG__LANES ? ncol - q : MBG__LANES,
                                        .first = attributes->first + q,
                                        .step = &change,
                                        .e = en + q,
                                        .dw = dw + q,
                                        .columns = attributes->columns,
                                        .da = attributes->da,
                                        .f = p->f};
    mbg__dca_lanes_push_pieces(p->lanes, &d, step->shared, step->pool, da + q);
  }
}

void mbg__dca_point_push(mbg__dca_point *p, int ncol, const real *const *e, const real *const *dw,
                         const mbg__dca_attributes *attributes, real *const *da) {
  const int nw = p->m->nw;
  if (push_lanes(p, ncol, e, dw, attributes, da)) {
    return;
  }
  for (int q = 0; q < ncol; q++) {
    const int width = p->changes.width, k = q % width;
    real *r = column(p->changes.r, k, nw);
    if (k == 0) {
      push_block(p, q, ncol - q < width ? ncol - q : width, e, dw, attributes);
    }
    if (p->articulated) {
      vn_scale(nw, r, -1, r);
      mbg__tree_wrench_push(p->tree, p->f, r, p->tau);
      mbg__dca_articulated_solve(p->articulated, r, p->tau, column(p->k, q, nw), p->z, da[q], NULL, p->scratch);
    } else {
      mbg__dca_pack(p->m, q, ncol, -1, r, column(p->changes.rows, k, p->m->nrow), p->x);
    }
  }
  if (p->articulated) {
    return;
  }
  solve(p, ncol);
  for (int q = 0; q < ncol; q++) {
    mbg__dca_unpack(p->m, q, ncol, p->x, p->r, p->dphi);
    mbg__system_late_push(p->sys, p->r, p->dphi);
    mbg__tree_joint_change(p->tree, p->r, column(p->k, q, nw), da[q]);
  }
}

static void add(int n, real *out, const real *x) {
  if (x) {
    vn_axpy(n, out, 1, x);
  }
}

typedef struct {
  mbg__dca_point *p;
  const mbg__dca_cotangent *c;
} weight_job;

static void copy_or_zero(real out[6], const real *x, int off) {
  if (x) {
    v6_copy(out + off, x + off);
  } else {
    v6_zero(out + off);
  }
}

/* cotangents of frame and twist of a body, and the weights -z and -h of its equations */
static void weigh_body(void *user, int i) {
  const weight_job *j = user;
  mbg__dca_point *p = j->p;
  const int off = p->m->bodies[i].voff;
  copy_or_zero(p->w, j->c->w, off);
  copy_or_zero(p->dv, j->c->v, off);
  v6_scale(p->r + off, -1, p->z + off);
  v6_scale(p->k + off, -1, p->k + off);
}

/* one cotangent by the articulated-body recursion: K (z, y, h) = (vd, a, 0), then the transposed local maps with z, y
   and -h */
static void pull_articulated(mbg__dca_point *p, const mbg__dca_cotangent *c, real *ge, real *gw, real *gattr) {
  mbg__dca_articulated_solve(p->articulated, c->vd, c->a, NULL, p->z, p->tau, p->k, p->scratch);
  mbg__tree_wrench_pull(p->tree, p->f, p->z, p->tau, p->ct, p->cg);
  mbg__pool_each(p->pool, MBG__LOOP_WEIGH, p->m->nbody, weigh_body, &(weight_job){p, c});
  mbg__system_pull(p->sys, p->r, NULL, NULL, NULL, p->w, p->dv, NULL, NULL, gattr);
  mbg__tree_local_pull(p->tree, p->w, p->dv, p->k, p->ct, p->cg, false, ge, gw, gattr);
}

void mbg__dca_point_pull(mbg__dca_point *p, int ncol, const mbg__dca_cotangent *c, real *const *ge, real *const *gw,
                         real *const *gattr) {
  const int nw = p->m->nw;
  for (int q = 0; p->articulated && q < ncol; q++) {
    pull_articulated(p, &c[q], ge[q], gw[q], gattr[q]);
  }
  if (p->articulated) {
    return;
  }
  for (int q = 0; q < ncol; q++) {
    real *k = column(p->k, q, nw);
    vn_zero(nw, k);
    vn_zero(nw, p->r);
    if (c[q].a) {
      mbg__tree_joint_change_T(p->tree, c[q].a, p->r, k);
    }
    add(nw, p->r, c[q].vd);
    const real *lambda = c[q].lambda;
    if (mbg__system_has_late(p->sys)) {
      vn_zero(p->m->nrow, p->dphi);
      add(p->m->nrow, p->dphi, lambda);
      mbg__system_late_pull(p->sys, p->r, p->dphi);
      lambda = p->dphi;
    }
    mbg__dca_pack(p->m, q, ncol, -1, p->r, lambda, p->x);
  }
  solve(p, ncol);
  for (int q = 0; q < ncol; q++) {
    real *w = column(p->w, q, nw), *dv = column(p->dv, q, nw);
    vn_zero(nw, w);
    vn_zero(nw, dv);
    add(nw, w, c[q].w);
    add(nw, dv, c[q].v);
    mbg__dca_unpack(p->m, q, ncol, p->x, p->r, p->dphi);
    mbg__system_pull(p->sys, p->r, NULL, NULL, p->dphi, w, dv, NULL, NULL, gattr[q]);
    mbg__tree_local_pull(p->tree, w, dv, column(p->k, q, nw), NULL, NULL, false, ge[q], gw[q], gattr[q]);
  }
}

bool mbg__dca_point_grouped(const mbg__dca_point *p) {
  return p->articulated && p->gravity_only && mbg__dca_articulated_grouped(p->articulated);
}

void mbg__dca_point_pull_grouped(const mbg__dca_point *p, const real *b, real *ge, real *gw, mbg__dca_sums *sums) {
  mbg__dca_articulated_pull(p->articulated, p->state.w, p->a, b, ge, gw, sums);
}
