/* Derivatives of eigenvalues by the parameters. With right and left vectors (x, xi) and (y, eta), F(theta) = y^T (s^2 M + s C + K) x +
   y^T B^T xi + eta^T B x at fixed s, x, y, and

     ds = -dF / (y^T (2 s M + C) x)          symmetric: d(omega^2) = dF for x^T M x = 1

   F is the derivative of y.r + eta.phi along the motion w = x, dv = s x + ad(v) x, dvd = s^2 x + s ad(v) x + ad(vd) x,
   dlambda = xi; so that one second pull (modes/complex_step.h) gives its gradient by frames, twists, multipliers and all attributes at
   once. What the state adds follows from the equations that determine it, transposed. Frames: F varies with H exp(w2~) exp(x~),
   the pull with H exp(x~) exp(w2~), hence gw <- gw - ad(x)^T g, g the gradient of y.r + eta.phi itself. */
#include "modes/modes.h"

#include "elements/lists.h"
#include "math/spectrum.h"
#include "modes/complex_step.h"

#include <string.h>

enum { RE, IM };

/* Cotangents of the state and the attributes, real and imaginary part. */
typedef struct {
  real *w[2], *v[2], *vd[2], *lambda[2], *a[2];
} cotangent;

typedef struct {
  mbg__modes_work *w;
  mbg__arena arena;
  mbg__complex_step *second;
  double *H;                                  /* frames in plain numbers (nbody x 12) */
  double *v, *vd, *lambda;                    /* the state in plain numbers */
  double *x[2], *dv[2], *dvd[2], *dlambda[2]; /* direction */
  double *z[2], *mu[2];                       /* weights of r and phi: (nw, nrow) */
  mbg__complex_step_pull_out out;             /* of one pull */
  cotangent g;
  real *gw[2], *gv[2], *gvd[2];        /* gradients of y.r + eta.phi (nw) */
  real *full, *full2, *row, *solution; /* scratch */
  real *singular;                      /* scratch of singular systems (2 x saddle.n) */
  real *kkt_w, *kkt_v, *kkt_a;         /* scratch: pull of the equations of the state */
  real *gp;                            /* scratch (np) */
  double *dp[2];                       /* by the parameters (np) */
  double **Mzero, **Mleft;             /* M times the motions without stiffness */
  double **zero_xi, **left_xi;         /* and their multipliers: K x + B^T xi = 0 */
  bool *ends;                          /* parameters that push along a motion without stiffness (np) */
  double shift;
} work;

/* ---------------------------------------------------------------------- life */

#define TAKE(field, type, count)                                                                                       \
  do {                                                                                                                 \
    k->field = MBG_TAKE(&k->arena, type, count);                                                                       \
    if (!k->field) {                                                                                                   \
      return mbg__fail_memory(k->w->ctx);                                                                              \
    }                                                                                                                  \
  } while (0)

static int take(work *k) {
  const mbg_model *m = k->w->m;
  TAKE(H, double, 12 * (size_t)m->nbody);
  TAKE(v, double, m->nw);
  TAKE(vd, double, m->nw);
  TAKE(lambda, double, m->nrow);
  for (int part = 0; part < 2; part++) {
    TAKE(x[part], double, m->nw);
    TAKE(dv[part], double, m->nw);
    TAKE(dvd[part], double, m->nw);
    TAKE(dlambda[part], double, m->nrow);
    TAKE(z[part], double, m->nw);
    TAKE(mu[part], double, m->nrow);
    TAKE(g.w[part], real, m->nw);
    TAKE(g.v[part], real, m->nw);
    TAKE(g.vd[part], real, m->nw);
    TAKE(g.lambda[part], real, m->nrow);
    TAKE(g.a[part], real, m->na);
    TAKE(gw[part], real, m->nw);
    TAKE(gv[part], real, m->nw);
    TAKE(gvd[part], real, m->nw);
    TAKE(dp[part], double, m->np);
  }
  TAKE(gp, real, m->np);
  TAKE(out.w, double, m->nw);
  TAKE(out.v, double, m->nw);
  TAKE(out.vd, double, m->nw);
  TAKE(out.lambda, double, m->nrow);
  TAKE(out.a, double, m->na);
  TAKE(full, real, m->nw);
  TAKE(full2, real, m->nw);
  TAKE(row, real, m->nrow);
  TAKE(kkt_w, real, m->nw);
  TAKE(kkt_v, real, m->nw);
  TAKE(kkt_a, real, m->na);
  TAKE(solution, real, k->w->saddle.n);
  return MBG_OK;
}

static void plain(int n, const real *x, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = re(x[i]);
  }
}

static int create_second(work *k) {
  const mbg__modes_work *w = k->w;
  mbg__complex_step_types types = {.node = &mbg__beam_node, .carrier = &mbg__modes_carrier};
  int n;
  double *p = MBG_TAKE(&k->arena, double, w->m->np);
  if (!p) {
    return mbg__fail_memory(w->ctx);
  }
  plain(w->m->np, w->p, p);
  types.types[0] = (const void *const *)mbg__coord_types(&n);
  types.types[1] = (const void *const *)mbg__joint_types(&n);
  types.types[2] = (const void *const *)mbg__law_types(&n);
  types.types[3] = (const void *const *)mbg__force_types(&n);
  types.types[4] = (const void *const *)mbg__signal_types(&n);
  types.types[5] = (const void *const *)mbg__body_types(&n);
  for (int b = 0; b < w->m->nbody; b++) {
    plain(9, w->H[b].R, k->H + 12 * (size_t)b);
    plain(3, w->H[b].x, k->H + 12 * (size_t)b + 9);
  }
  plain(w->m->nw, w->v, k->v);
  plain(w->m->nw, w->vd, k->vd);
  plain(w->m->nrow, w->lambda, k->lambda);
  return mbg__complex_step_create(w->ctx, w->m, &types, p, &k->second);
}

/* ---------------------------------------------------------------------- gradient of F */

/* free velocities to full ones */
static void spread(const mbg_model *m, const double *x, double *full) {
  memset(full, 0, (size_t)m->nw * sizeof(double));
  for (int j = 0; x && j < m->nv; j++) {
    full[m->full[j]] = x[j];
  }
}

/* out += c ad(v) x for all bodies */
static void ad_add(const mbg_model *m, double c, const real *v, const double *x, double *out) {
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real y[6], xb[6];
    for (int i = 0; i < 6; i++) {
      xb[i] = x[off + i];
    }
    ad_mul(y, v + off, xb);
    for (int i = 0; i < 6; i++) {
      out[off + i] += c * re(y[i]);
    }
  }
}

static void add(int n, double c, const double *x, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] += c * x[i];
  }
}

/* the direction of a mode: complex products with s */
static void set_direction(work *k, const mbg__mode *a) {
  const mbg__modes_work *w = k->w;
  const mbg_model *m = w->m;
  const bool rates = !w->symmetric && !w->opt.undamped;
  const double *s = a->s;
  const double s2[2] = {w->symmetric ? a->s2 : s[0] * s[0] - s[1] * s[1], w->symmetric ? 0 : 2 * s[0] * s[1]};
  for (int part = 0; part < 2; part++) {
    spread(m, a->x[part], k->x[part]);
    memset(k->dv[part], 0, (size_t)m->nw * sizeof(double));
    memset(k->dvd[part], 0, (size_t)m->nw * sizeof(double));
    memset(k->dlambda[part], 0, (size_t)m->nrow * sizeof(double));
    if (a->xi[part]) {
      memcpy(k->dlambda[part], a->xi[part], (size_t)m->nrow * sizeof(double));
    }
  }
  for (int q = 0; q < 2; q++) { /* part of x */
    add(m->nw, s2[0], k->x[q], k->dvd[q]);
    add(m->nw, q ? -s2[1] : s2[1], k->x[q], k->dvd[1 - q]);
    if (rates) {
      add(m->nw, s[0], k->x[q], k->dv[q]);
      add(m->nw, q ? -s[1] : s[1], k->x[q], k->dv[1 - q]);
    }
    if (w->moving) {
      ad_add(m, 1, w->v, k->x[q], k->dv[q]);
      ad_add(m, s[0], w->v, k->x[q], k->dvd[q]);
      ad_add(m, q ? -s[1] : s[1], w->v, k->x[q], k->dvd[1 - q]);
      ad_add(m, 1, w->vd, k->x[q], k->dvd[q]);
    }
  }
}

static void set_weights(work *k, const mbg__mode *b) {
  const mbg_model *m = k->w->m;
  for (int part = 0; part < 2; part++) {
    spread(m, b->y[part], k->z[part]);
    memset(k->mu[part], 0, (size_t)m->nrow * sizeof(double));
    if (b->eta[part]) {
      memcpy(k->mu[part], b->eta[part], (size_t)m->nrow * sizeof(double));
    }
  }
}

static void clear_cotangent(const mbg_model *m, cotangent *g) {
  for (int part = 0; part < 2; part++) {
    memset(g->w[part], 0, (size_t)m->nw * sizeof(real));
    memset(g->v[part], 0, (size_t)m->nw * sizeof(real));
    memset(g->vd[part], 0, (size_t)m->nw * sizeof(real));
    memset(g->lambda[part], 0, (size_t)m->nrow * sizeof(real));
    memset(g->a[part], 0, (size_t)m->na * sizeof(real));
  }
}

static void add_real(int n, double c, const double *x, real *out) {
  for (int i = 0; i < n; i++) {
    out[i] += c * x[i];
  }
}

/* second pull with one part of the direction and one of the weights, added with its sign to one part of g */
static int add_pull(work *k, int direction, int weight) {
  const mbg_model *m = k->w->m;
  const int part = direction == weight ? RE : IM;
  const double c = direction == IM && weight == IM ? -1 : 1;
  const mbg__complex_step_state state = {.t = re(k->w->t),
                                         .H = k->H,
                                         .v = k->v,
                                         .vd = k->vd,
                                         .lambda = k->lambda,
                                         .turns = k->w->turns,
                                         .w = k->x[direction],
                                         .dv = k->dv[direction],
                                         .dvd = k->dvd[direction],
                                         .dlambda = k->dlambda[direction]};
  const int err = mbg__complex_step_pull(k->w->ctx, k->second, &state, k->z[weight], k->mu[weight], &k->out);
  add_real(m->nw, c, k->out.w, k->g.w[part]);
  add_real(m->nw, c, k->out.v, k->g.v[part]);
  add_real(m->nw, c, k->out.vd, k->g.vd[part]);
  add_real(m->nrow, c, k->out.lambda, k->g.lambda[part]);
  add_real(m->na, c, k->out.a, k->g.a[part]);
  return err;
}

/* out -= c ad(x)^T g for all bodies */
static void sub_adT(const mbg_model *m, double c, const double *x, const real *g, real *out) {
  for (int b = 0; b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    real y[6], xb[6];
    for (int i = 0; i < 6; i++) {
      xb[i] = x[off + i];
    }
    adT_mul(y, xb, g + off);
    v6_axpy(out + off, -c, y);
  }
}

/* complex: out -= ad(x)^T g */
static void sub_adT_complex(const mbg_model *m, double *const x[2], real *const g[2], real *const out[2]) {
  sub_adT(m, 1, x[RE], g[RE], out[RE]);
  sub_adT(m, -1, x[IM], g[IM], out[RE]);
  sub_adT(m, 1, x[RE], g[IM], out[IM]);
  sub_adT(m, 1, x[IM], g[RE], out[IM]);
}

/* gradients of y.r + eta.phi at the state: by frames, and C^T y, M y */
static void first_pulls(work *k) {
  const mbg_model *m = k->w->m;
  for (int part = 0; part < 2; part++) {
    for (int i = 0; i < m->nw; i++) {
      k->full[i] = k->z[part][i];
    }
    for (int i = 0; i < m->nrow; i++) {
      k->row[i] = k->mu[part][i];
    }
    memset(k->gw[part], 0, (size_t)m->nw * sizeof(real));
    memset(k->gv[part], 0, (size_t)m->nw * sizeof(real));
    memset(k->gvd[part], 0, (size_t)m->nw * sizeof(real));
    mbg__system_pull(k->w->sys, k->full, k->row, NULL, NULL, k->gw[part], k->gv[part], k->gvd[part], NULL, NULL);
  }
}

/* what the direction itself depends on: dv has ad(v) x, dvd has s ad(v) x + ad(vd) x */
static void direction_terms(work *k, const mbg__mode *a) {
  const mbg_model *m = k->w->m;
  real *const sgvd[2] = {k->full, k->full2}; /* C^T y + s M y */
  for (int i = 0; i < m->nw; i++) {
    sgvd[RE][i] = k->gv[RE][i] + a->s[0] * k->gvd[RE][i] - a->s[1] * k->gvd[IM][i];
    sgvd[IM][i] = k->gv[IM][i] + a->s[0] * k->gvd[IM][i] + a->s[1] * k->gvd[RE][i];
  }
  sub_adT_complex(m, k->x, sgvd, k->g.v);
  sub_adT_complex(m, k->x, k->gvd, k->g.vd);
}

/* gradient of F for the right vectors of a and the left ones of b into g */
static int gradient_of_form(work *k, const mbg__mode *a, const mbg__mode *b) {
  const bool complex_a = a->x[IM] != NULL, complex_b = b->y[IM] != NULL;
  int err = MBG_OK;
  set_direction(k, a);
  set_weights(k, b);
  clear_cotangent(k->w->m, &k->g);
  MBG_TRY(add_pull(k, RE, RE));
  if (complex_a) {
    MBG_TRY(add_pull(k, IM, RE));
  }
  if (complex_b) {
    MBG_TRY(add_pull(k, RE, IM));
  }
  if (complex_a && complex_b) {
    MBG_TRY(add_pull(k, IM, IM));
  }
  first_pulls(k);
  sub_adT_complex(k->w->m, k->x, k->gw, k->g.w);
  if (k->w->moving) {
    direction_terms(k, a);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- the state */

/* solution of [[K, B^T], [B, 0]]^T or of what is factored; motions without stiffness are left out of it */
static void solve_T(work *k, const real *gw, const real *glambda) {
  const mbg_model *m = k->w->m;
  const mbg__modes_work *w = k->w;
  memset(k->solution, 0, (size_t)w->saddle.n * sizeof(real));
  for (int j = 0; j < m->nv; j++) {
    k->solution[j] = gw[m->full[j]];
  }
  for (int i = 0; i < m->nrow; i++) {
    k->solution[m->nv + i] = w->result->rank->keep[i] && glambda ? glambda[i] : 0;
  }
  mbg__klu_solve_T(w->saddle.klu, k->solution, 1);
}

/* out -= c (pull of the equations that determine the state), with z and mu (or kappa) the solution */
static void pull_state(work *k, bool accelerations) {
  const mbg_model *m = k->w->m;
  memset(k->full, 0, (size_t)m->nw * sizeof(real));
  memset(k->kkt_w, 0, (size_t)m->nw * sizeof(real));
  memset(k->kkt_v, 0, (size_t)m->nw * sizeof(real));
  memset(k->kkt_a, 0, (size_t)m->na * sizeof(real));
  for (int j = 0; j < m->nv; j++) {
    k->full[m->full[j]] = k->solution[j];
  }
  for (int i = 0; i < m->nrow; i++) {
    k->row[i] = k->w->result->rank->keep[i] ? k->solution[m->nv + i] : 0;
  }
  mbg__system_pull(k->w->sys, k->full, accelerations ? NULL : k->row, NULL, accelerations ? k->row : NULL, k->kkt_w,
                   k->kkt_v, NULL, NULL, k->kkt_a);
}

static void sub(int n, const real *x, real *out) {
  for (int i = 0; i < n; i++) {
    out[i] -= x[i];
  }
}

/* With motions x that nothing holds, (x, xi) is a null vector. The system with K + e M is solved instead, and iterated, which
   converges by e/omega^2 a time; parts along null vectors of the transposed system mean nothing. */
static void deflate(const work *k, real *y) {
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

/* what pushes along free motions is not answered by the equilibrium */
static void make_consistent(const work *k, real *b) {
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

static void solve_singular(work *k, const real *gw, const real *glambda) {
  const mbg__modes_work *w = k->w;
  const mbg_model *m = w->m;
  mbg__csc M = *mbg__system_pattern_K(w->sys);
  real *b = k->singular, *total = b + w->saddle.n;
  M.val = w->M;
  memset(b, 0, 2 * (size_t)w->saddle.n * sizeof(real));
  for (int j = 0; j < m->nv; j++) {
    b[j] = gw[m->full[j]];
  }
  for (int i = 0; i < m->nrow; i++) {
    b[m->nv + i] = w->result->rank->keep[i] && glambda ? glambda[i] : 0;
  }
  make_consistent(k, b);
  for (int it = 0; it < 6; it++) {
    /* residual with K: that of K + e M plus e M x */
    memcpy(k->solution, b, (size_t)w->saddle.n * sizeof(real));
    mbg__csc_mul_T_add(k->solution, -1, &w->saddle.A, total, 1);
    mbg__csc_mul_T_add(k->solution, k->shift, &M, total, 1);
    make_consistent(k, k->solution);
    mbg__klu_solve_T(w->saddle.klu, k->solution, 1);
    deflate(k, k->solution);
    for (int i = 0; i < w->saddle.n; i++) {
      total[i] += k->solution[i];
    }
  }
  memcpy(k->solution, total, (size_t)w->saddle.n * sizeof(real));
}

/* equilibrium: r(H, lambda) = 0, phi(H) = 0 */
static int pull_equilibrium(work *k, int part) {
  const mbg_model *m = k->w->m;
  if (k->w->nzero > 0) {
    solve_singular(k, k->g.w[part], k->g.lambda[part]);
  } else {
    solve_T(k, k->g.w[part], k->g.lambda[part]);
  }
  pull_state(k, false);
  sub(m->na, k->kkt_a, k->g.a[part]);
  sub(m->nw, k->kkt_w, k->g.w[part]);
  mbg__start_pull_masked(k->w->start, k->g.w[part], k->g.a[part]);
  return MBG_OK;
}

/* start: (vd, lambda) from r = 0, phidd = 0, then frames and twists from the assembly */
static int pull_start(work *k, int part) {
  const mbg_model *m = k->w->m;
  solve_T(k, k->g.vd[part], k->g.lambda[part]);
  pull_state(k, true);
  sub(m->na, k->kkt_a, k->g.a[part]);
  sub(m->nw, k->kkt_w, k->g.w[part]);
  sub(m->nw, k->kkt_v, k->g.v[part]);
  return mbg__start_pull(k->w->ctx, k->w->start, k->g.w[part], k->g.v[part], k->g.a[part]);
}

/* gw += ad(v)^T gv, gtwist += Ad(H^-1)^T gv: v = Ad(H^-1) twist */
static void pull_rates(const work *k, const real *gv, real *gw, real gtwist[6]) {
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

/* steady motion: r(H, Ad(H^-1) twist, 0, lambda) = 0, phi = 0; the twist is that of the reference body at the start */
static int pull_steady(work *k, int part) {
  const mbg__modes_work *w = k->w;
  const mbg_model *m = w->m;
  real gtwist[6] = {0}, minus[6], y[6];
  pull_rates(k, k->g.v[part], k->g.w[part], gtwist);
  solve_T(k, k->g.w[part], k->g.lambda[part]);
  pull_state(k, false);
  real gt[6] = {0};
  pull_rates(k, k->kkt_v, k->kkt_w, gt);
  v6_axpy(gtwist, -1, gt);
  sub(m->na, k->kkt_a, k->g.a[part]);
  sub(m->nw, k->kkt_w, k->g.w[part]);
  mbg__start_pull_masked(w->start, k->g.w[part], k->g.a[part]);
  /* twist = Ad(H0) v0, d twist = Ad(H0) (dv0 - ad(v0) w0) */
  const mbg__frame *H0 = &w->result->H[w->reference];
  const int off = m->bodies[w->reference].voff;
  mbg__frame inverse;
  frame_inv(&inverse, H0);
  memset(k->full, 0, (size_t)m->nw * sizeof(real));
  memset(k->full2, 0, (size_t)m->nw * sizeof(real));
  AdInvT_mul(k->full2 + off, &inverse, gtwist);
  adT_mul(y, w->result->v + off, k->full2 + off);
  v6_scale(minus, -1, y);
  v6_copy(k->full + off, minus);
  return mbg__start_pull(w->ctx, w->start, k->full, k->full2, k->g.a[part]);
}

/* the state's matrix, factored; and the system at the state */
static int prepare_state(work *k) {
  mbg__modes_work *w = k->w;
  const mbg__state state = {.t = w->t, .H = w->H, .v = w->v, .vd = w->vd, .lambda = w->lambda, .turns = w->turns};
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(w->ctx, w->sys, &state));
  MBG_TRY(mbg__system_linearize(w->ctx, w->sys));
  if (w->opt.at == MBG_MODES_START) {
    MBG_TRY(mbg__modes_factor(w, 0, 1, 0, "modes"));
  } else {
    MBG_TRY(mbg__modes_factor(w, 1, k->shift, 0, "modes"));
  }
done:
  return err;
}

/* g through the state and the attributes to the parameters: dp */
static int to_parameters(work *k) {
  mbg__modes_work *w = k->w;
  const int parts = w->symmetric ? 1 : 2;
  int err = MBG_OK;
  for (int part = 0; part < parts; part++) {
    MBG_TRY(prepare_state(k)); /* the start uses the system as scratch */
    MBG_TRY(w->opt.at == MBG_MODES_EQUILIBRIUM ? pull_equilibrium(k, part)
            : w->opt.at == MBG_MODES_START     ? pull_start(k, part)
                                               : pull_steady(k, part));
    memset(k->gp, 0, (size_t)w->m->np * sizeof(real));
    mbg__design_pull(w->design, k->g.a[part], k->gp);
    plain(w->m->np, k->gp, k->dp[part]);
  }
  MBG_TRY(prepare_state(k));
done:
  return err;
}

/* ---------------------------------------------------------------------- eigenvalues */

/* y^T (2 s M + C) x, complex */
static int scale_of(const work *k, const mbg__mode *a, const mbg__mode *b, double q[2]) {
  const mbg__modes_work *w = k->w;
  const int nv = w->m->nv;
  double *f = mbg__alloc(w->ctx, (size_t)nv, sizeof(double));
  if (!f) {
    return mbg__fail_memory(w->ctx);
  }
  q[0] = q[1] = 0;
  for (int matrix = 0; matrix < 2; matrix++) {
    if (matrix && w->opt.undamped) {
      continue;
    }
    double sum[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
      mbg__modes_mul(w, matrix ? w->C : w->M, a->x[i], f);
      for (int l = 0; l < 2; l++) {
        double c = 0;
        for (int j = 0; j < nv; j++) {
          c += b->y[l][j] * f[j];
        }
        sum[i == l ? RE : IM] += i && l ? -c : c;
      }
    }
    q[0] += matrix ? sum[0] : 2 * (a->s[0] * sum[0] - a->s[1] * sum[1]);
    q[1] += matrix ? sum[1] : 2 * (a->s[0] * sum[1] + a->s[1] * sum[0]);
  }
  mbg__free(w->ctx, f);
  return MBG_OK;
}

static void divide(const double a[2], const double b[2], double out[2]) {
  const double n = b[0] * b[0] + b[1] * b[1];
  const double re_ = (a[0] * b[0] + a[1] * b[1]) / n, im_ = (a[1] * b[0] - a[0] * b[1]) / n;
  out[0] = re_;
  out[1] = im_;
}

/* ds of mode i by parameter p into all lists */
static void store(mbg_modes *modes, int i, int p, const double ds[2]) {
  const mbg_mode *mode = &modes->modes[i];
  const double size = hypot(mode->re, mode->im), dsize = (mode->re * ds[0] + mode->im * ds[1]) / size;
  modes->gradient[0][i][p] = mode->frequency > 0 ? dsize / (2 * M_PI) : 0;
  modes->gradient[1][i][p] = (-ds[0] * size + mode->re * dsize) / (size * size);
  modes->gradient[2][i][p] = ds[0];
  modes->gradient[3][i][p] = ds[1];
}

/* symmetric: d(omega^2) to ds, s^2 = -omega^2 */
static void root(const mbg__mode *mode, double domega2, double ds[2]) {
  ds[0] = mode->s2 > 0 ? -domega2 / (2 * mode->s[0]) : 0;
  ds[1] = mode->s2 < 0 ? domega2 / (2 * mode->s[1]) : 0;
}

static int simple(work *k, mbg_modes *modes, int i) {
  const mbg__modes_work *w = k->w;
  const mbg__mode *mode = &w->modes[i];
  double q[2] = {1, 0}, ds[2];
  int err = MBG_OK;
  MBG_TRY(gradient_of_form(k, mode, mode));
  MBG_TRY(to_parameters(k));
  if (!w->symmetric) {
    MBG_TRY(scale_of(k, mode, mode, q));
  }
  for (int p = 0; p < w->m->np; p++) {
    const double dF[2] = {-k->dp[RE][p], -k->dp[IM][p]};
    if (w->symmetric) {
      root(mode, k->dp[RE][p], ds);
    } else {
      divide(dF, q, ds);
    }
    store(modes, i, p, ds);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- repeated eigenvalues */

/* forms of all pairs of the set: D (2 numbers each: n x n x np), N = y_i^T (2 s M + C) x_j */
static int forms(work *k, int first, int n, double *D, double *N) {
  const mbg__modes_work *w = k->w;
  int err = MBG_OK;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const size_t at = (size_t)(i + n * j);
      MBG_TRY(gradient_of_form(k, &w->modes[first + j], &w->modes[first + i]));
      MBG_TRY(to_parameters(k));
      for (int p = 0; p < w->m->np; p++) {
        D[2 * (at + (size_t)(n * n) * (size_t)p)] = k->dp[RE][p];
        D[2 * (at + (size_t)(n * n) * (size_t)p) + 1] = k->dp[IM][p];
      }
      if (!w->symmetric) {
        MBG_TRY(scale_of(k, &w->modes[first + j], &w->modes[first + i], N + 2 * at));
      }
    }
  }
done:
  return err;
}

/* A <- -N^-1 A by elimination with pivots, complex n x n; false when N is singular: the eigenvalue is defective */
static bool solve_small(int n, double *N, double *A) {
  double most = 0;
  for (int i = 0; i < n * n; i++) {
    most = fmax(most, hypot(N[2 * i], N[2 * i + 1]));
  }
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int i = c; i < n; i++) {
      pivot =
          hypot(N[2 * (i + n * c)], N[2 * (i + n * c) + 1]) > hypot(N[2 * (pivot + n * c)], N[2 * (pivot + n * c) + 1])
              ? i
              : pivot;
    }
    if (hypot(N[2 * (pivot + n * c)], N[2 * (pivot + n * c) + 1]) <= 1e-6 * most) {
      return false;
    }
    for (int j = 0; j < n; j++) {
      for (int part = 0; part < 2; part++) {
        const double t = N[2 * (c + n * j) + part], u = A[2 * (c + n * j) + part];
        N[2 * (c + n * j) + part] = N[2 * (pivot + n * j) + part];
        N[2 * (pivot + n * j) + part] = t;
        A[2 * (c + n * j) + part] = A[2 * (pivot + n * j) + part];
        A[2 * (pivot + n * j) + part] = u;
      }
    }
    for (int i = 0; i < n; i++) {
      double f[2];
      if (i == c) {
        continue;
      }
      divide(N + 2 * (i + n * c), N + 2 * (c + n * c), f);
      for (int j = 0; j < n; j++) {
        double *const rows[2] = {N, A};
        for (int q = 0; q < 2; q++) {
          const double *from = rows[q] + 2 * (c + n * j);
          double *to = rows[q] + 2 * (i + n * j);
          const double re_ = f[0] * from[0] - f[1] * from[1], im_ = f[0] * from[1] + f[1] * from[0];
          to[0] -= re_;
          to[1] -= im_;
        }
      }
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double out[2];
      divide(A + 2 * (i + n * j), N + 2 * (i + n * i), out);
      A[2 * (i + n * j)] = -out[0];
      A[2 * (i + n * j) + 1] = -out[1];
    }
  }
  return true;
}

/* derivatives of the branches by one parameter: n numbers of two, ascending in size of the part that matters */
static int branches(work *k, int n, double *D, const double *N, double *ds, double *scratch) {
  const mbg__modes_work *w = k->w;
  if (w->symmetric) {
    for (int i = 0; i < n * n; i++) {
      const int r = i % n, c = i / n;
      scratch[i] = (D[2 * (r + n * c)] + D[2 * (c + n * r)]) / 2;
    }
    double *omega2 = scratch + n * n;
    const int err = mbg__eigen_symmetric(w->ctx, n, scratch, omega2);
    for (int i = 0; i < n; i++) {
      ds[2 * i] = omega2[i];
      ds[2 * i + 1] = 0;
    }
    return err;
  }
  memcpy(scratch, N, 2 * (size_t)(n * n) * sizeof(double));
  if (!solve_small(n, scratch, D)) {
    for (int i = 0; i < 2 * n; i++) {
      ds[i] = NAN;
    }
    return MBG_OK;
  }
  const int err = mbg__eigen_complex(w->ctx, n, D, ds);
  for (int i = 1; i < n; i++) { /* ascending in the imaginary part, then in the real one */
    for (int j = i;
         j > 0 && (ds[2 * j + 1] < ds[2 * j - 1] || (ds[2 * j + 1] == ds[2 * j - 1] && ds[2 * j] < ds[2 * j - 2]));
         j--) {
      for (int part = 0; part < 2; part++) {
        const double t = ds[2 * j + part];
        ds[2 * j + part] = ds[2 * j - 2 + part];
        ds[2 * j - 2 + part] = t;
      }
    }
  }
  return err;
}

static int repeated(work *k, mbg_modes *modes, int first, int n) {
  const mbg__modes_work *w = k->w;
  const size_t square = (size_t)(n * n);
  int err = MBG_OK;
  double *D = mbg__alloc_zero(w->ctx, 2 * square * (size_t)(w->m->np + 1), sizeof(double));
  double *N = mbg__alloc_zero(w->ctx, 2 * square, sizeof(double));
  double *ds = mbg__alloc_zero(w->ctx, 2 * (size_t)n, sizeof(double));
  double *scratch = mbg__alloc_zero(w->ctx, 2 * square + (size_t)n, sizeof(double));
  if (!D || !N || !ds || !scratch) {
    err = mbg__fail_memory(w->ctx);
    goto done;
  }
  MBG_TRY(forms(k, first, n, D, N));
  for (int p = 0; p < w->m->np; p++) {
    err = branches(k, n, D + 2 * square * (size_t)p, N, ds, scratch);
    if (err < 0) {
      err = err == MBG_ERROR_MEMORY ? mbg__fail_memory(w->ctx)
                                    : mbg__fail(w->ctx, err, "the branches of a repeated eigenvalue were not found");
      goto done;
    }
    for (int i = 0; i < n; i++) {
      double own[2] = {ds[2 * i], ds[2 * i + 1]};
      if (w->symmetric) {
        root(&w->modes[first + i], ds[2 * i], own);
      }
      store(modes, first + i, p, own);
    }
  }
done:
  mbg__free(w->ctx, D);
  mbg__free(w->ctx, N);
  mbg__free(w->ctx, ds);
  mbg__free(w->ctx, scratch);
  return err;
}

/* ---------------------------------------------------------------------- all */

/* M times the motions without stiffness, and a shift of K by M with which it can be factored */
static int take_zeros(work *k) {
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
  TAKE(Mzero, double *, w->nzero);
  TAKE(zero_xi, double *, w->nzero);
  TAKE(Mleft, double *, w->nzero);
  TAKE(left_xi, double *, w->nzero);
  TAKE(singular, real, 2 * (size_t)w->saddle.n);
  MBG_TRY(mbg__modes_factor(k->w, 0, 0, 1, "modes"));
  for (int i = 0; i < w->nzero; i++) {
    TAKE(Mzero[i], double, w->m->nv);
    TAKE(zero_xi[i], double, w->m->nrow);
    TAKE(Mleft[i], double, w->m->nv);
    TAKE(left_xi[i], double, w->m->nrow);
    mbg__modes_mul(w, w->K, w->zero[i], k->Mzero[i]);
    MBG_TRY(mbg__modes_multipliers(k->w, k->Mzero[i], k->zero_xi[i]));
    mbg__modes_mul(w, w->M, w->zero[i], k->Mzero[i]);
    mbg__modes_mul_T(w, w->K, w->zero_left[i], k->Mleft[i]);
    MBG_TRY(mbg__modes_multipliers(k->w, k->Mleft[i], k->left_xi[i]));
    mbg__modes_mul(w, w->M, w->zero_left[i], k->Mleft[i]);
  }
done:
  return err;
}

/* what counts as no force along a motion y: rounding of stiffness times the model's size, and of reactions */
static double force_floor(const work *k, const double *y) {
  const mbg__modes_work *w = k->w;
  const mbg_model *m = w->m;
  const mbg__csc *K = mbg__system_pattern_K(w->sys), *B = mbg__system_pattern_B(w->sys);
  double stiff = 0, reaction = 0, size = 0;
  for (int j = 0; j < m->nv; j++) {
    double own = 0;
    for (int i = K->colptr[j]; i < K->colptr[j + 1]; i++) {
      stiff = fmax(stiff, fabs(re(w->K[i])) / sqrt(w->W[j] * w->W[K->rowind[i]]));
    }
    for (int i = B->colptr[j]; i < B->colptr[j + 1]; i++) {
      own += fabs(re(w->B[i] * w->lambda[B->rowind[i]]));
    }
    reaction = fmax(reaction, own / sqrt(w->W[j]));
    size += y[j] * y[j] * w->W[j];
  }
  return (1e-12 * stiff * m->size + 1e-9 * reaction) * sqrt(size);
}

/* A parameter may push along a motion that nothing holds, y.r_p + eta.phi_p != 0: then the equilibrium is gone when it varies. */
static int find_ends(work *k) {
  const mbg__modes_work *w = k->w;
  const mbg_model *m = w->m;
  TAKE(ends, bool, m->np);
  for (int q = 0; q < w->nzero; q++) {
    const double floor = force_floor(k, w->zero_left[q]);
    memset(k->solution, 0, (size_t)w->saddle.n * sizeof(real));
    for (int j = 0; j < m->nv; j++) {
      k->solution[j] = w->zero_left[q][j];
    }
    for (int i = 0; i < m->nrow; i++) {
      k->solution[m->nv + i] = k->left_xi[q][i];
    }
    pull_state(k, false);
    mbg__start_pull_masked(w->start, k->kkt_w, k->kkt_a);
    memset(k->gp, 0, (size_t)m->np * sizeof(real));
    mbg__design_pull(w->design, k->kkt_a, k->gp);
    for (int p = 0; p < m->np; p++) {
      k->ends[p] = k->ends[p] || fabs(re(k->gp[p])) * fmax(fabs(re(w->p[p])), 1e-3) > floor;
    }
  }
  return MBG_OK;
}

/* no derivatives by parameters that end the equilibrium */
static void leave_out(const work *k, mbg_modes *modes) {
  for (int i = 0; i < k->w->count; i++) {
    for (int p = 0; p < k->w->m->np; p++) {
      for (int what = 0; what < 4 && k->ends[p] && modes->gradient[what][i]; what++) {
        modes->gradient[what][i][p] = NAN;
      }
    }
  }
}

static int all(work *k, mbg_modes *modes) {
  const bool free_motions = k->w->opt.at == MBG_MODES_EQUILIBRIUM && k->w->nzero > 0;
  int err = MBG_OK;
  MBG_TRY(take(k));
  MBG_TRY(take_zeros(k));
  MBG_TRY(create_second(k));
  MBG_TRY(prepare_state(k));
  if (free_motions) {
    MBG_TRY(find_ends(k));
  }
  for (int i = 0; i < k->w->count; i += modes->modes[i].multiplicity) {
    if (k->w->modes[i].zero) {
      continue;
    }
    MBG_TRY(modes->modes[i].multiplicity == 1 ? simple(k, modes, i)
                                              : repeated(k, modes, i, modes->modes[i].multiplicity));
  }
  if (free_motions) {
    leave_out(k, modes);
  }
done:
  return err;
}

int mbg__modes_gradient(mbg__modes_work *w, mbg_modes *modes) {
  work k = {.w = w};
  mbg__arena_init(&k.arena, mbg__context_allocator(w->ctx));
  const int err = all(&k, modes);
  mbg__complex_step_destroy(k.second);
  mbg__arena_destroy(&k.arena);
  return err;
}
