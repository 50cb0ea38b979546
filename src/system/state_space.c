#include "system/state_space.h"

#include "math/dense.h"
#include "system/system_internal.h"

#include <string.h>

typedef struct {
  mbg_context *ctx;
  mbg__system *sys;
  const mbg_model *m;
  const mbg__linear_spec *spec;
  const mbg__state *at;
  mbg__linear *out;
  mbg__arena arena;
  int nkept, *place; /* of a kept row among them (nrow) */
  int nhold, *hold;  /* ... of a kept row of positions; `place` itself without rows on rates */
  mbg__lu lift, kkt; /* [B; J] and [M B^T; B 0] on free velocities and kept rows */
  mbg__lu rates;     /* [B; J] of rates; without rows on rates `lift` */
  real *x;           /* right-hand sides (nv + nkept) */
  real *vd, *lambda; /* at the state (nw, nrow) */
  /* a column: changes of frames, twists, their rates, multipliers, attributes */
  real *w, *dv, *dvd, *dlambda, *da;
  real *full, *row, *dp; /* scratch (nw, nrow, np) */
} work;

/* ---------------------------------------------------------------------- memory */

int mbg__linear_make(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__linear_spec *spec,
                     mbg__linear *out) {
  const size_t n = (size_t)mbg__linear_states(spec), nin = (size_t)spec->ninput, nout = (size_t)spec->noutput;
  *out = (mbg__linear){.n = (int)n, .ninput = spec->ninput, .noutput = spec->noutput};
  out->A = MBG_TAKE(arena, real, n * n);
  out->B = MBG_TAKE(arena, real, n * nin);
  out->C = MBG_TAKE(arena, real, nout * n);
  out->D = MBG_TAKE(arena, real, nout * nin);
  out->q = MBG_TAKE(arena, real, spec->nq);
  out->qd = MBG_TAKE(arena, real, spec->nq);
  out->qdd = MBG_TAKE(arena, real, spec->nq);
  out->y = MBG_TAKE(arena, real, nout);
  out->vd = MBG_TAKE(arena, real, m->nw);
  out->spin = MBG_TAKE(arena, real, m->nw);
  out->w = MBG_TAKE(arena, real, (size_t)m->nw * (n + nin));
  out->dv = MBG_TAKE(arena, real, (size_t)m->nw * (n + nin));
  out->moves = MBG_TAKE(arena, bool, nin);
  return mbg__arena_check(ctx, arena);
}

/* kept rows of positions among themselves */
static void hold_positions(work *k) {
  const mbg_model *m = k->m;
  k->hold = MBG_TAKE(&k->arena, int, m->nrow);
  k->nhold = 0;
  for (int i = 0; k->hold && k->place && i < m->nrow; i++) {
    k->hold[i] = k->place[i] >= 0 && !m->rows[i].rate ? k->nhold++ : -1;
  }
  (void)mbg__lu_prepare(&k->rates, &k->arena, m->nv);
}

static int make(work *k) {
  const mbg_model *m = k->m;
  mbg__arena *arena = &k->arena;
  mbg__arena_init(arena, mbg__context_allocator(k->ctx));
  k->place = MBG_TAKE(arena, int, m->nrow);
  for (int i = 0; k->place && i < m->nrow; i++) {
    k->place[i] = k->spec->keep[i] ? k->nkept++ : -1;
  }
  k->nhold = k->nkept;
  k->hold = k->place;
  if (k->spec->rate) {
    hold_positions(k);
  }
  const int n = m->nv + k->nkept;
  k->x = MBG_TAKE(arena, real, n);
  k->vd = MBG_TAKE(arena, real, m->nw);
  k->lambda = MBG_TAKE(arena, real, m->nrow);
  k->w = MBG_TAKE(arena, real, m->nw);
  k->dv = MBG_TAKE(arena, real, m->nw);
  k->dvd = MBG_TAKE(arena, real, m->nw);
  k->dlambda = MBG_TAKE(arena, real, m->nrow);
  k->da = MBG_TAKE(arena, real, m->na);
  k->full = MBG_TAKE(arena, real, m->nw);
  k->row = MBG_TAKE(arena, real, m->nrow);
  k->dp = MBG_TAKE(arena, real, m->np);
  (void)mbg__lu_prepare(&k->lift, arena, m->nv);
  (void)mbg__lu_prepare(&k->kkt, arena, n);
  return mbg__arena_check(k->ctx, arena);
}

/* ---------------------------------------------------------------------- coordinates */

static int first_of(const work *k, const mbg__q *q) { return k->m->bodies[q->body].voff; }

/* of a rate in components of the twist */
static double size_of(const mbg__q *q) { return q->kind == MBG__Q_STATE ? q->scale : 1; }

void mbg__q_row(mbg__system *s, const mbg__q *q, real *J) {
  const mbg_model *m = s->model;
  memset(J, 0, (size_t)m->nw * sizeof(real));
  if (q->kind == MBG__Q_JOINT) {
    mbg__system_signal_pull(s, q->signal, 1, J, NULL, NULL, NULL, NULL);
    return;
  }
  real *own = J + m->bodies[q->body].voff;
  for (int j = 0; j < 3; j++) {
    own[j] = q->kind == MBG__Q_SHIFT ? s->H[q->body].R[3 * q->axis + j] : 0;
  }
  if (q->kind == MBG__Q_OWN || q->kind == MBG__Q_STATE) {
    own[q->axis] = size_of(q);
  }
}

void mbg__q_pull(mbg__system *s, const mbg__q *q, bool rate, real *gw, real *gv, real *ga) {
  if (q->kind == MBG__Q_JOINT) {
    mbg__system_signal_pull(s, q->signal + (rate ? 1 : 0), 1, gw, gv, NULL, NULL, ga);
    return;
  }
  const int at = s->model->bodies[q->body].voff;
  real *own = (rate ? gv : gw) + at;
  if (q->kind != MBG__Q_SHIFT) {
    own[q->axis] += size_of(q);
    return;
  }
  const real *axis = s->H[q->body].R + 3 * q->axis;
  for (int j = 0; j < 3; j++) {
    own[j] += axis[j];
  }
  if (rate) { /* R (w x v) */
    v3_cross_add(gw + at + 3, 1, s->v + at, axis);
  }
}

/* row `axis` of R times x */
static real along(const work *k, const mbg__q *q, const real x[3]) {
  return v3_dot(k->at->H[q->body].R + 3 * q->axis, x);
}

/* s with v' = -ad(s) v, the spin of a body of revolution about its axle e (theory 8, section 7): s = Omega e, Omega
   that fits v' best; of a ball e is its angular velocity */
static void spin_of(const work *k, const mbg__q *q, real s[6]) {
  v6_zero(s);
  if (q->kind != MBG__Q_OWN || q->axle == 0 || k->spec->rest) {
    return;
  }
  const real *v = k->at->v + first_of(k, q), *vd = k->vd + first_of(k, q);
  real own[6] = {0, 0, 0, 0, 0, 1}, e[6], g[6];
  mbg__frame h;
  frame_relative(&h, &k->at->H[q->body], &k->sys->Hm[q->axle - 1]);
  for (int i = 0; q->ball && i < 3; i++) {
    own[3 + i] = h.R[i] * v[3] + h.R[3 + i] * v[4] + h.R[6 + i] * v[5];
  }
  Ad_mul(e, &h, own);
  ad_mul(g, e, v);
  const real size = v6_dot(g, g);
  if (fabs(re(size)) > 1e-24 * fabs(re(v6_dot(v, v)))) {
    v6_scale(s, -v6_dot(g, vd) / size, e);
  }
}

/* x += ad(s) v, component k */
static real turned(const work *k, const mbg__q *q, const real *v) {
  real s[6], x[6];
  spin_of(k, q, s);
  ad_mul(x, s, v);
  return x[q->axis];
}

/* change of the rate of a coordinate along (w, dv, da) */
static real rate_push(const work *k, const mbg__q *q, const mbg__direction *d) {
  if (q->kind == MBG__Q_JOINT) {
    return mbg__system_signal_push(k->sys, q->signal + 1, d);
  }
  const real *v = k->at->v + first_of(k, q), *w = d->w + first_of(k, q);
  static const real zero[6] = {0};
  const real *dv = d->dv ? d->dv + first_of(k, q) : zero;
  if (q->kind == MBG__Q_OWN || q->kind == MBG__Q_STATE) {
    return size_of(q) * dv[q->axis];
  }
  real x[3];
  v3_copy(x, dv);
  v3_cross_add(x, 1, w + 3, v);
  return along(k, q, x);
}

/* ... and of its acceleration along (w, dv, dvd, da): x'' = R (U' + W x U) */
static real acceleration_push(const work *k, const mbg__q *q, const mbg__direction *d) {
  if (q->kind == MBG__Q_JOINT) {
    return mbg__system_signal_push(k->sys, q->signal + 2, d);
  }
  const int at = first_of(k, q);
  const real *v = k->at->v + at, *w = d->w + at, *dv = d->dv + at, *dvd = d->dvd + at;
  if (q->kind == MBG__Q_OWN || q->kind == MBG__Q_STATE) {
    return size_of(q) * (dvd[q->axis] + turned(k, q, dv));
  }
  real a[3], x[3];
  v3_copy(a, k->vd + at);
  v3_cross_add(a, 1, v + 3, v);
  v3_copy(x, dvd);
  v3_cross_add(x, 1, w + 3, a);
  v3_cross_add(x, 1, dv + 3, v);
  v3_cross_add(x, 1, v + 3, dv);
  return along(k, q, x);
}

/* q' - qd along a column, of own motions alone: -(ad(v - s) w)_k */
static real drift(const work *k, const mbg__q *q) {
  if (q->kind != MBG__Q_OWN) {
    return 0;
  }
  real x[6];
  ad_mul(x, k->at->v + first_of(k, q), k->w + first_of(k, q));
  return turned(k, q, k->w + first_of(k, q)) - x[q->axis];
}

static void values(work *k, const real *y) {
  for (int i = 0; i < k->spec->nq; i++) {
    const mbg__q *q = &k->spec->q[i];
    if (q->kind == MBG__Q_JOINT) {
      k->out->q[i] = y[q->signal];
      k->out->qd[i] = y[q->signal + 1];
      k->out->qdd[i] = y[q->signal + 2];
      continue;
    }
    const real *v = k->at->v + first_of(k, q), *vd = k->vd + first_of(k, q);
    real a[3];
    if (q->axle > 0) {
      spin_of(k, q, k->out->spin + first_of(k, q));
    }
    v3_copy(a, vd);
    v3_cross_add(a, 1, v + 3, v);
    k->out->q[i] = q->kind == MBG__Q_SHIFT ? k->at->H[q->body].x[q->axis] : 0;
    k->out->qd[i] = q->kind == MBG__Q_SHIFT ? along(k, q, v) : size_of(q) * v[q->axis];
    k->out->qdd[i] = q->kind == MBG__Q_SHIFT ? along(k, q, a) : size_of(q) * (vd[q->axis] + turned(k, q, v));
  }
  for (int i = 0; i < k->spec->noutput; i++) {
    k->out->y[i] = y[k->spec->outputs[i]];
  }
  vn_copy(k->m->nw, k->out->vd, k->vd);
}

/* ---------------------------------------------------------------------- matrices */

/* M and B of the system, dense: the KKT matrix, and the upper rows of the lift */
static int fill(work *k) {
  const mbg_model *m = k->m;
  const mbg__csc *P = mbg__system_pattern_K(k->sys), *Q = mbg__system_pattern_B(k->sys);
  const size_t nv = (size_t)m->nv, n = nv + (size_t)k->nkept;
  real *M = MBG_TAKE(&k->arena, real, mbg__csc_count(P)), *B = MBG_TAKE(&k->arena, real, mbg__csc_count(Q));
  const int err = mbg__arena_check(k->ctx, &k->arena);
  if (err < 0) {
    return err;
  }
  mbg__system_matrices(k->sys, &(mbg__matrices){.M = M, .B = B});
  memset(k->kkt.A, 0, n * n * sizeof(real));
  memset(k->lift.A, 0, nv * nv * sizeof(real));
  if (k->spec->rate) {
    memset(k->rates.A, 0, nv * nv * sizeof(real));
  }
  for (size_t j = 0; j < nv; j++) {
    for (int i = P->colptr[j]; i < P->colptr[j + 1]; i++) {
      k->kkt.A[(size_t)P->rowind[i] + n * j] = M[i];
    }
    for (int i = Q->colptr[j]; i < Q->colptr[j + 1]; i++) {
      const int row = k->place[Q->rowind[i]];
      if (row >= 0) {
        k->kkt.A[nv + (size_t)row + n * j] = B[i];
        k->kkt.A[j + n * (nv + (size_t)row)] = B[i];
        if (k->spec->rate) {
          k->rates.A[(size_t)row + nv * j] = B[i];
        }
      }
      if (k->hold[Q->rowind[i]] >= 0) {
        k->lift.A[(size_t)k->hold[Q->rowind[i]] + nv * j] = B[i];
      }
    }
  }
  return MBG_OK;
}

static int factor_kkt(work *k) {
  if (mbg__lu_factor(&k->kkt, NULL) < 0 || mbg__lu_ratio(&k->kkt, NULL) < 1e-15) {
    return mbg__fail(k->ctx, MBG_ERROR_SINGULAR,
                     "a freedom without inertia: its acceleration is not determined, and there is no linear model with "
                     "it; give its body a mass");
  }
  return MBG_OK;
}

/* row `at` of a lift */
static void put_row(work *k, mbg__lu *lu, int at) {
  const size_t nv = (size_t)k->m->nv;
  for (size_t j = 0; j < nv; j++) {
    lu->A[(size_t)at + nv * j] = k->full[k->m->full[j]];
  }
}

static int factor_lift(work *k) {
  const mbg__linear_spec *spec = k->spec;
  for (int i = 0; i < spec->nq; i++) {
    mbg__q_row(k->sys, &spec->q[i], k->full);
    put_row(k, &k->lift, k->nhold + i);
  }
  for (int i = 0; spec->rate && i < spec->nrate + spec->nstate; i++) {
    mbg__q_row(k->sys, &spec->q[mbg__linear_rate(spec, i)], k->full);
    put_row(k, &k->rates, k->nkept + i);
  }
  if (mbg__lu_factor(&k->lift, NULL) < 0) {
    return mbg__fail(k->ctx, MBG_ERROR_SINGULAR, "the coordinates do not determine the positions of all bodies");
  }
  if (spec->rate && mbg__lu_factor(&k->rates, NULL) < 0) {
    return mbg__fail(k->ctx, MBG_ERROR_SINGULAR, "the rates of the coordinates do not determine those of all bodies");
  }
  return MBG_OK;
}

/* right side of the KKT system from `full` over velocities and `row` over rows, with the sign c */
static void solve_kkt(work *k, double c, bool rows, real *vd, real *lambda) {
  const mbg_model *m = k->m;
  mbg__to_free(m, c, k->full, k->x);
  for (int i = 0; i < m->nrow; i++) {
    if (k->place[i] >= 0) {
      k->x[m->nv + k->place[i]] = rows ? c * k->row[i] : 0;
    }
  }
  mbg__lu_solve(&k->kkt, k->x, 1);
  memset(vd, 0, (size_t)m->nw * sizeof(real));
  mbg__to_full(m, 1, k->x, vd);
  for (int i = 0; i < m->nrow; i++) {
    lambda[i] = k->place[i] >= 0 ? k->x[m->nv + k->place[i]] : 0;
  }
}

/* accelerations, multipliers, and the system linearized there */
static int prepare(work *k) {
  mbg__state state = *k->at;
  const real *y;
  int err = MBG_OK;
  state.vd = state.lambda = NULL;
  MBG_TRY(mbg__system_update(k->ctx, k->sys, &state));
  MBG_TRY(mbg__system_linearize(k->ctx, k->sys));
  MBG_TRY(fill(k));
  MBG_TRY(factor_kkt(k));
  mbg__system_residual(k->sys, k->full, NULL, NULL, NULL, k->row);
  solve_kkt(k, -1, !k->spec->rest, k->vd, k->lambda);
  if (k->spec->rest) {
    memset(k->vd, 0, (size_t)k->m->nw * sizeof(real));
  }
  state.vd = k->vd;
  state.lambda = k->lambda;
  MBG_TRY(mbg__system_update(k->ctx, k->sys, &state));
  MBG_TRY(mbg__system_late(k->ctx, k->sys, k->vd));
  MBG_TRY(mbg__system_linearize(k->ctx, k->sys));
  MBG_TRY(mbg__system_linearize_signals(k->ctx, k->sys));
  MBG_TRY(mbg__system_signals(k->ctx, k->sys, &y));
  values(k, y);
  MBG_TRY(factor_lift(k));
done:
  return err;
}

/* ---------------------------------------------------------------------- columns */

/* a lift: kept rows of `row` and coordinates, changed by `own` (nq) at place `unit` (-1: none) */
static void lift(work *k, const real *own, int unit, real *out) {
  const mbg_model *m = k->m;
  for (int i = 0; i < m->nrow; i++) {
    if (k->hold[i] >= 0) {
      k->x[k->hold[i]] = -k->row[i];
    }
  }
  for (int i = 0; i < k->spec->nq; i++) {
    k->x[k->nhold + i] = (i == unit ? 1 : 0) - own[i];
  }
  mbg__lu_solve(&k->lift, k->x, 1);
  mbg__to_full(m, 1, k->x, out);
}

/* the same of rates, at rate `unit` */
static void lift_rates(work *k, const real *own, int unit, real *out) {
  const mbg__linear_spec *spec = k->spec;
  if (!spec->rate) {
    lift(k, own, unit, out);
    return;
  }
  for (int i = 0; i < k->m->nrow; i++) {
    if (k->place[i] >= 0) {
      k->x[k->place[i]] = -k->row[i];
    }
  }
  for (int i = 0; i < spec->nrate + spec->nstate; i++) {
    k->x[k->nkept + i] = (i == unit ? 1 : 0) - own[mbg__linear_rate(spec, i)];
  }
  mbg__lu_solve(&k->rates, k->x, 1);
  mbg__to_full(k->m, 1, k->x, out);
}

void mbg__linear_outside(const mbg__design *design, const mbg__frame *H, const real *da, real *w) {
  const mbg_model *m = design->model;
  memset(w, 0, (size_t)m->nw * sizeof(real));
  for (int b = 0; b < m->nbody; b++) {
    real wbar[6], vbar[6], x[6];
    mbg__frame G;
    mbg__design_guess_push(design, b, da, wbar, vbar);
    frame_relative(&G, &design->poses[m->bodies[b].guess].h, &H[b]);
    AdInv_mul(x, &G, wbar);
    for (int c = 0; c < 6; c++) {
      const int i = m->bodies[b].voff + c;
      w[i] = m->dof[i] < 0 ? x[c] : 0;
    }
  }
}

static void outside(work *k) { mbg__linear_outside(k->sys->design, k->at->H, k->da, k->w); }

/* frames, twists, rates and multipliers along a unit change of coordinate y or rate u, or of attributes (input) */
static void column(work *k, real *own, int y, int u, bool input) {
  const mbg_model *m = k->m;
  const real *da = input ? k->da : NULL;
  mbg__direction d = {.w = k->w, .da = da};
  memset(k->w, 0, (size_t)m->nw * sizeof(real));
  memset(k->dv, 0, (size_t)m->nw * sizeof(real));
  if (input) {
    outside(k);
  }
  mbg__system_push(k->sys, &d, NULL, k->row, NULL, NULL);
  for (int i = 0; i < k->spec->nq; i++) {
    const mbg__q *q = &k->spec->q[i];
    own[i] = input && q->kind == MBG__Q_JOINT ? mbg__system_signal_push(k->sys, q->signal, &d) : 0;
  }
  lift(k, own, y, k->w);
  mbg__system_push(k->sys, &d, NULL, NULL, k->row, NULL);
  for (int i = 0; i < k->spec->nq; i++) {
    own[i] = rate_push(k, &k->spec->q[i], &d);
  }
  for (int i = 0; k->spec->rest && i < m->nrow; i++) {
    k->row[i] = 0;
  }
  lift_rates(k, own, u, k->dv);
  d.dv = k->dv;
  mbg__system_push(k->sys, &d, k->full, NULL, NULL, k->row);
  solve_kkt(k, -1, !k->spec->rest, k->dvd, k->dlambda);
  mbg__system_late_push(k->sys, k->dvd, k->dlambda);
}

/* column c of a matrix pair: derivatives of the states into F, of the outputs into G, ld entries a row */
static void read_off(work *k, bool input, int ld, int c, real *F, real *G) {
  const mbg__linear_spec *spec = k->spec;
  const mbg__direction d = {.w = k->w, .dv = k->dv, .dvd = k->dvd, .dlambda = k->dlambda, .da = input ? k->da : NULL};
  const size_t step = (size_t)ld, at = (size_t)c, nw = (size_t)k->m->nw, lifted = (input ? (size_t)k->out->n : 0) + at;
  vn_copy(k->m->nw, k->out->w + nw * lifted, k->w);
  vn_copy(k->m->nw, k->out->dv + nw * lifted, k->dv);
  const int places = mbg__linear_places(spec);
  for (int i = 0; i < places; i++) {
    const real own = spec->rate ? rate_push(k, &spec->q[i], &d) : !input && c == places + i ? 1 : 0;
    F[(size_t)i * step + at] = own + drift(k, &spec->q[i]);
  }
  for (int i = 0; i < mbg__linear_rates(spec) + spec->nstate; i++) {
    F[(size_t)(places + i) * step + at] = acceleration_push(k, &spec->q[mbg__linear_rate(spec, i)], &d);
  }
  for (int i = 0; i < spec->noutput; i++) {
    G[(size_t)i * step + at] = mbg__system_signal_push(k->sys, spec->outputs[i], &d);
  }
}

void mbg__linear_input_push(const mbg__design *design, const mbg__linear_input *input, real *dp, real *da) {
  const mbg_model *m = design->model;
  if (input->control >= 0) {
    memset(da, 0, (size_t)m->na * sizeof(real));
    const mbg__control *u = &m->controls[input->control];
    for (int i = 0; i < u->spline->n; i++) {
      da[u->attr + i] = 1;
    }
    return;
  }
  dp[input->parameter] = 1;
  mbg__design_push(design, dp, da);
  dp[input->parameter] = 0;
}

static bool moves_rows(work *k) {
  const mbg__direction d = {.w = k->w, .da = k->da};
  bool any = false;
  outside(k);
  mbg__system_push(k->sys, &d, NULL, k->row, NULL, NULL);
  for (int i = 0; i < k->m->nrow; i++) {
    any = any || (k->place[i] >= 0 && k->row[i] != 0);
  }
  return any;
}

static int columns(work *k) {
  const mbg__linear_spec *spec = k->spec;
  mbg__linear *out = k->out;
  real *own = MBG_TAKE(&k->arena, real, spec->nq);
  const int err = mbg__arena_check(k->ctx, &k->arena);
  if (err < 0) {
    return err;
  }
  const int places = mbg__linear_places(spec);
  for (int c = 0; c < out->n; c++) {
    column(k, own, c < places ? c : -1, c < places ? -1 : c - places, false);
    read_off(k, false, out->n, c, out->A, out->C);
  }
  for (int c = 0; c < spec->ninput; c++) {
    mbg__linear_input_push(k->sys->design, &spec->inputs[c], k->dp, k->da);
    out->moves[c] = moves_rows(k);
    column(k, own, -1, -1, true);
    read_off(k, true, spec->ninput, c, out->B, out->D);
  }
  return MBG_OK;
}

int mbg__linear_model(mbg_context *ctx, mbg__system *sys, const mbg__linear_spec *spec, const mbg__state *state,
                      mbg__linear *out) {
  work k = {.ctx = ctx, .sys = sys, .m = mbg__system_model(sys), .spec = spec, .at = state, .out = out};
  int err = MBG_OK;
  MBG_TRY(make(&k));
  assert(k.nhold + spec->nq == k.m->nv && k.nkept + mbg__linear_rates(spec) + spec->nstate == k.m->nv);
  MBG_TRY(prepare(&k));
  MBG_TRY(columns(&k));
done:
  mbg__arena_destroy(&k.arena);
  return err;
}

int mbg__linear_settle(mbg_context *ctx, mbg__system *sys, const mbg__linear_spec *spec, const mbg__state *state,
                       real *w, real *v) {
  work k = {.ctx = ctx, .sys = sys, .m = mbg__system_model(sys), .spec = spec, .at = state};
  int err = MBG_OK;
  MBG_TRY(make(&k));
  real *same = MBG_TAKE(&k.arena, real, spec->nq);
  MBG_TRY(mbg__arena_check(ctx, &k.arena));
  MBG_TRY(mbg__system_update(ctx, sys, state));
  MBG_TRY(mbg__system_linearize(ctx, sys));
  MBG_TRY(mbg__system_linearize_signals(ctx, sys));
  MBG_TRY(fill(&k));
  MBG_TRY(factor_lift(&k));
  if (w) {
    vn_zero(k.m->nw, w);
    mbg__system_residual(sys, NULL, k.row, NULL, NULL, NULL);
    lift(&k, same, -1, w);
  }
  mbg__system_residual(sys, NULL, NULL, k.row, NULL, NULL);
  lift_rates(&k, same, -1, k.dv);
  for (int i = 0; i < k.m->nw; i++) {
    v[i] = state->v[i] + k.dv[i];
  }
done:
  mbg__arena_destroy(&k.arena);
  return err;
}
