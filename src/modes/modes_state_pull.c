/* Gradients through the state about which modes are computed: the equations that determine it, transposed. */
#include "modes/modes_derivative.h"

/* cotangents as a right-hand side (saddle.n) */
static void right_side(const mbg__modes_derivative *k, const real *gw, const real *glambda, real *b) {
  const mbg_model *m = k->w->m;
  mbg__to_free(m, 1, gw, b);
  for (int i = 0; i < m->nrow; i++) {
    b[m->nv + i] = k->w->result->rank->keep[i] ? glambda[i] : 0;
  }
}

/* solution of the transposed matrix that is factored */
static void solve_T(mbg__modes_derivative *k, const real *gw, const real *glambda) {
  right_side(k, gw, glambda, k->solution);
  mbg__klu_solve_T(k->w->saddle.klu, k->solution, 1);
}

/* pull of the equations that determine the state into kkt_w, kkt_v, kkt_a, with z and mu (or kappa) the solution */
static void pull_state(mbg__modes_derivative *k, bool accelerations) {
  const mbg_model *m = k->w->m;
  vn_zero(m->nw, k->full);
  vn_zero(m->nw, k->kkt_w);
  vn_zero(m->nw, k->kkt_v);
  vn_zero(m->na, k->kkt_a);
  mbg__to_full(m, 1, k->solution, k->full);
  for (int i = 0; i < m->nrow; i++) {
    k->row[i] = k->w->result->rank->keep[i] ? k->solution[m->nv + i] : 0;
  }
  mbg__system_pull(k->w->sys, k->full, accelerations ? NULL : k->row, NULL, accelerations ? k->row : NULL, k->kkt_w,
                   k->kkt_v, NULL, NULL, k->kkt_a);
}

/* With motions x without stiffness, (x, xi) is a null vector. The system with K + e M is solved instead, and iterated,
   which converges by e/omega^2 a time; parts along null vectors of the transposed system have no meaning and are taken
   out. */
static void deflate(const mbg__modes_derivative *k, real *y) {
  const mbg_model *m = k->w->m;
  for (int q = 0; q < k->w->nzero; q++) {
    double c = 0;
    for (int j = 0; j < m->nv; j++) {
      c += k->Mleft[q][j] * re(y[j]);
    }
    for (int j = 0; j < m->nv; j++) {
      y[j] -= c * k->w->zero_left[q][j];
    }
    for (int i = 0; i < m->nrow; i++) {
      y[m->nv + i] -= c * k->left_xi[q][i];
    }
  }
}

/* forces along free motions, which no equilibrium answers, are taken out */
static void make_consistent(const mbg__modes_derivative *k, real *b) {
  const mbg_model *m = k->w->m;
  for (int q = 0; q < k->w->nzero; q++) {
    double c = 0;
    for (int j = 0; j < m->nv; j++) {
      c += k->w->zero[q][j] * re(b[j]);
    }
    for (int i = 0; i < m->nrow; i++) {
      c += k->zero_xi[q][i] * re(b[m->nv + i]);
    }
    for (int j = 0; j < m->nv; j++) {
      b[j] -= c * k->Mzero[q][j];
    }
  }
}

static void solve_singular(mbg__modes_derivative *k, const real *gw, const real *glambda) {
  const mbg__modes_work *w = k->w;
  mbg__csc M = *mbg__system_pattern_K(w->sys);
  real *b = k->singular, *total = b + w->saddle.n;
  M.val = w->M;
  vn_zero(w->saddle.n, total);
  right_side(k, gw, glambda, b);
  make_consistent(k, b);
  for (int it = 0; it < 6; it++) {
    /* residual with K: the residual with K + e M, plus e M x */
    vn_copy(w->saddle.n, k->solution, b);
    mbg__csc_mul_T_add(k->solution, -1, &w->saddle.A, total, 1);
    mbg__csc_mul_T_add(k->solution, k->shift, &M, total, 1);
    make_consistent(k, k->solution);
    mbg__klu_solve_T(w->saddle.klu, k->solution, 1);
    deflate(k, k->solution);
    vn_add(w->saddle.n, total, total, k->solution);
  }
  vn_copy(w->saddle.n, k->solution, total);
}

/* equilibrium: r(H, lambda) = 0, phi(H) = 0; unknowns of states stand in their places */
static void pull_equilibrium(mbg__modes_derivative *k, int part) {
  const mbg_model *m = k->w->m;
  mbg__modes_states_move(m, k->g.v[part], k->g.w[part]);
  if (k->w->nzero > 0) {
    solve_singular(k, k->g.w[part], k->g.lambda[part]);
  } else {
    solve_T(k, k->g.w[part], k->g.lambda[part]);
  }
  pull_state(k, false);
  vn_sub(m->na, k->g.a[part], k->g.a[part], k->kkt_a);
  vn_sub(m->nw, k->g.w[part], k->g.w[part], k->kkt_w);
  mbg__start_pull_masked(k->w->start, k->g.w[part], k->g.a[part]);
}

/* start: (vd, lambda) from r = 0, phidd = 0, then frames and twists from the assembly */
static int pull_start(mbg__modes_derivative *k, int part) {
  const mbg_model *m = k->w->m;
  solve_T(k, k->g.vd[part], k->g.lambda[part]);
  pull_state(k, true);
  vn_sub(m->na, k->g.a[part], k->g.a[part], k->kkt_a);
  vn_sub(m->nw, k->g.w[part], k->g.w[part], k->kkt_w);
  vn_sub(m->nw, k->g.v[part], k->g.v[part], k->kkt_v);
  return mbg__start_pull(k->w->ctx, k->w->start, k->g.w[part], k->g.v[part], k->g.a[part]);
}

/* gw += ad(v)^T gv, gtwist += Ad(H^-1)^T gv: v = Ad(H^-1) twist */
static void pull_rates(const mbg__modes_derivative *k, const real *gv, real *gw, real gtwist[6]) {
  const mbg_model *m = k->w->m;
  for (int b = 0; b < mbg__frames(m); b++) {
    const int off = m->bodies[b].voff;
    real y[6];
    adT_mul(y, k->w->v + off, gv + off);
    v6_axpy(gw + off, 1, y);
    AdInvT_mul(y, &k->w->H[b], gv + off);
    v6_axpy(gtwist, 1, y);
  }
}

/* steady motion: r(H, Ad(H^-1) twist, 0, lambda) = 0, phi = 0; the reference body gives the twist, at the start */
static int pull_steady(mbg__modes_derivative *k, int part) {
  const mbg__modes_work *w = k->w;
  const mbg_model *m = w->m;
  real gtwist[6] = {0}, minus[6], y[6];
  pull_rates(k, k->g.v[part], k->g.w[part], gtwist);
  mbg__modes_states_move(m, k->g.v[part], k->g.w[part]); /* unknowns of states stand in their places */
  solve_T(k, k->g.w[part], k->g.lambda[part]);
  pull_state(k, false);
  real gt[6] = {0};
  pull_rates(k, k->kkt_v, k->kkt_w, gt);
  v6_axpy(gtwist, -1, gt);
  vn_sub(m->na, k->g.a[part], k->g.a[part], k->kkt_a);
  vn_sub(m->nw, k->g.w[part], k->g.w[part], k->kkt_w);
  mbg__start_pull_masked(w->start, k->g.w[part], k->g.a[part]);
  /* twist = Ad(H0) v0, d twist = Ad(H0) (dv0 - ad(v0) w0) */
  const mbg__frame *H0 = &w->result->H[w->reference];
  const int off = m->bodies[w->reference].voff;
  mbg__frame inverse;
  frame_inv(&inverse, H0);
  vn_zero(m->nw, k->full);
  vn_zero(m->nw, k->full2);
  AdInvT_mul(k->full2 + off, &inverse, gtwist);
  adT_mul(y, w->result->v + off, k->full2 + off);
  v6_scale(minus, -1, y);
  v6_copy(k->full + off, minus);
  return mbg__start_pull(w->ctx, w->start, k->full, k->full2, k->g.a[part]);
}

int mbg__modes_state_prepare(mbg__modes_derivative *k) {
  mbg__modes_work *w = k->w;
  const mbg__state state = {.t = w->t, .H = w->H, .v = w->v, .vd = w->vd, .lambda = w->lambda, .turns = w->turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(w->ctx, w->sys, &state));
  MBG_TRY(mbg__system_linearize(w->ctx, w->sys));
  MBG_TRY(w->opt.at == MBG_MODES_START ? mbg__modes_factor(w, 0, 1, 0, "modes")
                                       : mbg__modes_factor(w, 1, k->shift, 0, "modes"));
done:
  return err;
}

static int pull_kind(mbg__modes_derivative *k, int part) {
  switch (k->w->opt.at) {
  case MBG_MODES_START:
    return pull_start(k, part);
  case MBG_MODES_STEADY:
    return pull_steady(k, part);
  default:
    pull_equilibrium(k, part);
    return MBG_OK;
  }
}

int mbg__modes_state_pull(mbg__modes_derivative *k) {
  mbg__modes_work *w = k->w;
  const int parts = w->symmetric ? 1 : 2;
  int err = MBG_OK;
  for (int part = 0; part < parts; part++) {
    MBG_TRY(mbg__modes_state_prepare(k)); /* the start uses the system as scratch */
    MBG_TRY(pull_kind(k, part));
    vn_zero(w->m->np, k->gp);
    mbg__design_pull(w->design, k->g.a[part], k->gp);
    for (int p = 0; p < w->m->np; p++) {
      k->dp[part][p] = re(k->gp[p]);
    }
  }
  MBG_TRY(mbg__modes_state_prepare(k));
done:
  return err;
}

/* ---------------------------------------------------------------------- motions without stiffness */

int mbg__modes_state_zeros(mbg__modes_derivative *k) {
  const mbg__modes_work *w = k->w;
  int err = MBG_OK;
  double least = 0;
  for (int i = 0; i < w->count; i++) {
    const double size = hypot(w->modes[i].s[0], w->modes[i].s[1]);
    least = !w->modes[i].zero && (least == 0 || size * size < least) ? size * size : least;
  }
  if (w->nzero == 0) {
    return MBG_OK;
  }
  k->shift = 1e-4 * (least > 0 ? least : 1);
  k->Mzero = MBG_TAKE(&k->arena, double *, w->nzero);
  k->zero_xi = MBG_TAKE(&k->arena, double *, w->nzero);
  k->Mleft = MBG_TAKE(&k->arena, double *, w->nzero);
  k->left_xi = MBG_TAKE(&k->arena, double *, w->nzero);
  k->singular = MBG_TAKE(&k->arena, real, 2 * (size_t)w->saddle.n);
  MBG_TRY(mbg__arena_check(w->ctx, &k->arena));
  MBG_TRY(mbg__modes_factor(k->w, 0, 0, 1, "modes"));
  for (int i = 0; i < w->nzero; i++) {
    k->Mzero[i] = MBG_TAKE(&k->arena, double, w->m->nv);
    k->zero_xi[i] = MBG_TAKE(&k->arena, double, w->m->nrow);
    k->Mleft[i] = MBG_TAKE(&k->arena, double, w->m->nv);
    k->left_xi[i] = MBG_TAKE(&k->arena, double, w->m->nrow);
    MBG_TRY(mbg__arena_check(w->ctx, &k->arena));
    mbg__modes_mul(w, w->Kx, w->zero[i], k->Mzero[i]);
    MBG_TRY(mbg__modes_multipliers(k->w, k->Mzero[i], k->zero_xi[i]));
    mbg__modes_mul(w, w->M, w->zero[i], k->Mzero[i]);
    mbg__modes_mul_T(w, w->Kx, w->zero_left[i], k->Mleft[i]);
    MBG_TRY(mbg__modes_multipliers(k->w, k->Mleft[i], k->left_xi[i]));
    mbg__modes_mul(w, w->M, w->zero_left[i], k->Mleft[i]);
  }
done:
  return err;
}

/* rounding of a force along a motion y: of stiffness times the model's size, and of reactions */
static double force_floor(const mbg__modes_derivative *k, const double *y) {
  const mbg__modes_work *w = k->w;
  const mbg_model *m = w->m;
  const mbg__csc *K = mbg__system_pattern_K(w->sys), *B = mbg__system_pattern_B(w->sys);
  double stiff = 0, reaction = 0, size = 0;
  for (int j = 0; j < m->nv; j++) {
    double own = 0;
    for (int i = K->colptr[j]; i < K->colptr[j + 1]; i++) {
      stiff = fmax(stiff, fabs(re(w->Kx[i])) / sqrt(w->W[j] * w->W[K->rowind[i]]));
    }
    for (int i = B->colptr[j]; i < B->colptr[j + 1]; i++) {
      own += fabs(re(w->B[i] * w->lambda[B->rowind[i]]));
    }
    reaction = fmax(reaction, own / sqrt(w->W[j]));
    size += y[j] * y[j] * w->W[j];
  }
  return (1e-12 * stiff * m->size + 1e-9 * reaction) * sqrt(size);
}

/* A parameter may act along a motion without stiffness, y.r_p + eta.phi_p != 0: the equilibrium ends when it varies. */
void mbg__modes_state_ends(mbg__modes_derivative *k) {
  const mbg__modes_work *w = k->w;
  const mbg_model *m = w->m;
  for (int q = 0; q < w->nzero; q++) {
    const double floor = force_floor(k, w->zero_left[q]);
    for (int j = 0; j < m->nv; j++) {
      k->solution[j] = w->zero_left[q][j];
    }
    for (int i = 0; i < m->nrow; i++) {
      k->solution[m->nv + i] = k->left_xi[q][i];
    }
    pull_state(k, false);
    mbg__start_pull_masked(w->start, k->kkt_w, k->kkt_a);
    vn_zero(m->np, k->gp);
    mbg__design_pull(w->design, k->kkt_a, k->gp);
    for (int p = 0; p < m->np; p++) {
      k->ends[p] = k->ends[p] || fabs(re(k->gp[p])) * fmax(fabs(re(w->p[p])), 1e-3) > floor;
    }
  }
}
