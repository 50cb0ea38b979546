#include "formulations/dca/dca_point.h"

#include <string.h>

struct mbg__dca_point {
  const mbg_model *m;
  mbg__system *sys;
  mbg__tree *tree;
  mbg__dca_assembly *assembly;
  mbg__dca_panel *panel;
  mbg__tree_state state; /* of the last eval */
  int n, nx;             /* coordinates; nv + nrow */
  real *M, *B;           /* by the patterns of the system */
  real *r, *gamma;       /*                                      (nw), (nrow) */
  real *x;               /* right sides and solutions            (nx x panel) */
  real *vd, *lambda, *a; /*                                      (nw), (nrow), (n) */
  real *c;               /* bias, differences                    (nw) */
  real *w, *dv, *k;      /* of a panel                           (panel x nw) */
  real *dphi;            /*                                      (nrow) */
  double residual;

  /* trees: the rake form instead of pieces */
  mbg__dca_rake *rake;
  bool free_;       /* no forces but gravity: dynamics needs no system */
  bool placed;      /* tree and system are at the state ... */
  bool complete;    /* ... with its accelerations and multipliers */
  const bool *rows; /* none of the model's rows matter       (nrow) */
  real *f;          /* joint wrenches                        (nw) */
  real *tau, *z, *ct, *cg, *scratch;
};

/* ---------------------------------------------------------------------- creation */

#define TAKE(field, count)                                                                                             \
  do {                                                                                                                 \
    p->field = MBG_TAKE(arena, real, (size_t)(count) + 1);                                                             \
    if (!p->field) {                                                                                                   \
      return mbg__fail_memory(ctx);                                                                                    \
    }                                                                                                                  \
  } while (0)

static int take_arrays(mbg_context *ctx, mbg__arena *arena, mbg__dca_point *p) {
  const mbg_model *m = p->m;
  const size_t nw = (size_t)m->nw, wide = MBG__DCA_PANEL;
  TAKE(r, nw);
  TAKE(vd, nw);
  TAKE(lambda, m->nrow);
  TAKE(a, p->n);
  TAKE(c, nw);
  TAKE(w, nw * wide);
  TAKE(dv, nw * wide);
  TAKE(k, nw * wide);
  TAKE(dphi, m->nrow);
  if (p->rake) {
    TAKE(f, nw);
    TAKE(tau, p->n);
    TAKE(z, nw);
    TAKE(ct, nw);
    TAKE(cg, nw);
    TAKE(scratch, mbg__dca_rake_scratch(p->rake));
    return MBG_OK;
  }
  TAKE(M, mbg__csc_count(mbg__system_pattern_K(p->sys)));
  TAKE(B, mbg__csc_count(mbg__system_pattern_B(p->sys)));
  TAKE(gamma, m->nrow);
  TAKE(x, (size_t)p->nx * wide);
  return MBG_OK;
}

int mbg__dca_point_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, mbg__tree *tree,
                          mbg__dca_assembly *assembly, mbg__dca_rake *rake, int threads, mbg__dca_point **out) {
  const mbg_model *m = mbg__system_model(sys);
  int err = MBG_OK;
  mbg__dca_point *p = MBG_TAKE(arena, mbg__dca_point, 1);
  *out = p;
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  *p = (mbg__dca_point){.m = m, .sys = sys, .tree = tree, .assembly = assembly, .rake = rake};
  p->n = mbg__tree_size(tree);
  p->nx = m->nv + m->nrow;
  p->free_ = m->nforce == 0;
  MBG_TRY(take_arrays(ctx, arena, p));
  if (rake) {
    p->rows = MBG_TAKE(arena, bool, m->nrow + 1);
    return p->rows ? MBG_OK : mbg__fail_memory(ctx);
  }
  MBG_TRY(mbg__dca_panel_create(ctx, arena, assembly, MBG__DCA_PANEL, threads, &p->panel));
done:
  return err;
}

const real *mbg__dca_point_a(const mbg__dca_point *p) { return p->a; }

const real *mbg__dca_point_vd(const mbg__dca_point *p) { return p->vd; }

const real *mbg__dca_point_lambda(const mbg__dca_point *p) { return p->lambda; }

double mbg__dca_point_residual(const mbg__dca_point *p) { return p->residual; }

/* ---------------------------------------------------------------------- right sides and solutions */

/* x of column q of m = c (y over velocities, z over rows) */
static void lay(mbg__dca_point *p, int q, int m, real c, const real *y, const real *z) {
  const int nv = p->m->nv;
  for (int j = 0; j < nv; j++) {
    p->x[(size_t)j * (size_t)m + (size_t)q] = y ? c * y[p->m->full[j]] : 0;
  }
  for (int i = 0; i < p->m->nrow; i++) {
    p->x[(size_t)(nv + i) * (size_t)m + (size_t)q] = z ? c * z[i] : 0;
  }
}

static void take(const mbg__dca_point *p, int q, int m, real *y, real *z) {
  const int nv = p->m->nv;
  memset(y, 0, (size_t)p->m->nw * sizeof(real));
  for (int j = 0; j < nv; j++) {
    y[p->m->full[j]] = p->x[(size_t)j * (size_t)m + (size_t)q];
  }
  for (int i = 0; z && i < p->m->nrow; i++) {
    z[i] = p->x[(size_t)(nv + i) * (size_t)m + (size_t)q];
  }
}

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

/* pieces */
static int eval_assembly(mbg_context *ctx, mbg__dca_point *p) {
  int err = MBG_OK;
  MBG_TRY(place(ctx, p));
  mbg__system_residual(p->sys, p->r, NULL, NULL, NULL, p->gamma);
  mbg__system_matrices(p->sys, &(mbg__matrices){.M = p->M, .B = p->B});
  MBG_TRY(mbg__dca_assembly_factor(ctx, p->assembly, p->M, p->B, re(p->state.t)));
  lay(p, 0, 1, -1, p->r, p->gamma);
  if (solve(p, 1) > 1e-6) {
    err = mbg__fail(ctx, MBG_ERROR_SINGULAR,
                    "t = %g: accelerations are not determined: a body moves without inertia, or constraints depend on "
                    "each other; look at masses and inertias, or take formulation 'lie', 'dae' or 'ali3p'",
                    re(p->state.t));
    goto done;
  }
  take(p, 0, 1, p->vd, p->lambda);
  mbg__tree_joint_rates(p->tree, p->vd, p->a);
done:
  return err;
}

static int eval_rake(mbg_context *ctx, mbg__dca_point *p) {
  const double t = re(p->state.t);
  int err = MBG_OK;
  if (p->free_) {
    return mbg__dca_rake_dynamics(ctx, p->rake, t, p->state.E, p->state.w, p->a);
  }
  MBG_TRY(place(ctx, p));
  mbg__system_residual(p->sys, p->r, NULL, NULL, NULL, NULL);
  mbg__tree_bias(p->tree, p->c);
  vn_scale(p->m->nw, p->r, -1, p->r);
  MBG_TRY(mbg__dca_rake_factor(ctx, p->rake, t, p->state.E));
  mbg__dca_rake_solve(p->rake, p->r, NULL, p->c, p->vd, p->a, p->f, p->scratch);
done:
  return err;
}

int mbg__dca_point_eval(mbg_context *ctx, mbg__dca_point *p, const mbg__tree_state *state) {
  p->state = *state;
  p->placed = p->complete = false;
  return p->rake ? eval_rake(ctx, p) : eval_assembly(ctx, p);
}

/* what dynamics without a system has left out: tree and system at the state with its accelerations */
static int catch_up(mbg_context *ctx, mbg__dca_point *p) {
  mbg__tree_state state = p->state;
  state.a = p->a;
  mbg__tree_place(p->tree, &state);
  mbg__state bodies = mbg__tree_bodies(p->tree);
  bodies.rows = p->rows;
  vn_copy(p->m->nw, p->vd, bodies.vd);
  mbg__dca_rake_wrenches(p->rake, p->f);
  p->placed = p->complete = true;
  return mbg__system_update(ctx, p->sys, &bodies);
}

int mbg__dca_point_full(mbg_context *ctx, mbg__dca_point *p) {
  if (!p->placed) {
    return catch_up(ctx, p);
  }
  if (!p->complete) {
    mbg__system_complete(p->sys, p->vd, p->lambda);
    mbg__tree_rates(p->tree, p->a, p->vd);
    p->complete = true;
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
  MBG_TRY(place(ctx, p));
  vn_copy(p->m->nw, p->vd, leader->vd);
  vn_copy(p->m->nrow, p->lambda, leader->lambda);
  vn_copy(p->n, p->a, leader->a);
  if (p->rake) {
    vn_copy(p->m->nw, p->f, leader->f);
  }
  MBG_TRY(mbg__dca_point_linearize(ctx, p));
done:
  return err;
}

/* ---------------------------------------------------------------------- derivatives */

static real *column(real *x, int q, int n) { return x + (size_t)q * (size_t)n; }

void mbg__dca_point_push(mbg__dca_point *p, int ncol, const real *const *e, const real *const *dw,
                         const mbg__dca_attributes *attributes, real *const *da) {
  const int nw = p->m->nw;
  for (int q = 0; q < ncol; q++) {
    real *w = column(p->w, q, nw), *dv = column(p->dv, q, nw);
    const mbg__tree_direction d = {.e = e[q], .dw = dw[q], .attributes = attributes->da};
    const mbg__direction x = {.w = w, .dv = dv, .da = attributes->da};
    mbg__design_column_lay(attributes->columns, attributes->first + q, attributes->da);
    mbg__tree_local_push(p->tree, &d, false, w, dv, column(p->k, q, nw));
    mbg__system_push(p->sys, &x, p->r, NULL, NULL, p->dphi);
    mbg__design_column_clear(attributes->columns, attributes->first + q, attributes->da);
    if (p->rake) {
      vn_scale(nw, p->r, -1, p->r);
      mbg__tree_wrench_push(p->tree, p->f, p->r, p->tau);
      mbg__dca_rake_solve(p->rake, p->r, p->tau, column(p->k, q, nw), p->z, da[q], NULL, p->scratch);
    } else {
      lay(p, q, ncol, -1, p->r, p->dphi);
    }
  }
  if (p->rake) {
    return;
  }
  solve(p, ncol);
  for (int q = 0; q < ncol; q++) {
    take(p, q, ncol, p->r, NULL);
    mbg__tree_joint_change(p->tree, p->r, column(p->k, q, nw), da[q]);
  }
}

static void add(int n, real *out, const real *x) {
  if (x) {
    vn_axpy(n, out, 1, x);
  }
}

/* one cotangent by the rake form: K (z, y, h) = (vd, a, 0), then the transposed local maps with z, y and -h */
static void pull_rake(mbg__dca_point *p, const mbg__dca_cotangent *c, real *ge, real *gw, real *gattr) {
  const int nw = p->m->nw;
  mbg__dca_rake_solve(p->rake, c->vd, c->a, NULL, p->z, p->tau, p->k, p->scratch);
  vn_zero(nw, p->w);
  vn_zero(nw, p->dv);
  add(nw, p->w, c->w);
  add(nw, p->dv, c->v);
  mbg__tree_wrench_pull(p->tree, p->f, p->z, p->tau, p->ct, p->cg);
  vn_scale(nw, p->r, -1, p->z);
  vn_scale(nw, p->k, -1, p->k);
  mbg__system_pull(p->sys, p->r, NULL, NULL, NULL, p->w, p->dv, NULL, NULL, gattr);
  mbg__tree_local_pull(p->tree, p->w, p->dv, p->k, p->ct, p->cg, false, ge, gw, gattr);
}

void mbg__dca_point_pull(mbg__dca_point *p, int ncol, const mbg__dca_cotangent *c, real *const *ge, real *const *gw,
                         real *const *gattr) {
  const int nw = p->m->nw;
  for (int q = 0; p->rake && q < ncol; q++) {
    pull_rake(p, &c[q], ge[q], gw[q], gattr[q]);
  }
  if (p->rake) {
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
    lay(p, q, ncol, -1, p->r, c[q].lambda);
  }
  solve(p, ncol);
  for (int q = 0; q < ncol; q++) {
    real *w = column(p->w, q, nw), *dv = column(p->dv, q, nw);
    vn_zero(nw, w);
    vn_zero(nw, dv);
    add(nw, w, c[q].w);
    add(nw, dv, c[q].v);
    take(p, q, ncol, p->r, p->dphi);
    mbg__system_pull(p->sys, p->r, NULL, NULL, p->dphi, w, dv, NULL, NULL, gattr[q]);
    mbg__tree_local_pull(p->tree, w, dv, column(p->k, q, nw), NULL, NULL, false, ge[q], gw[q], gattr[q]);
  }
}
