/* Impact with restitution through all constraints (theory 7, section 4):

     M (v+ - v-) + B^T L = D^T P     B v+ + phi_t = 0     N v+ + gap_t = -e (N v- + gap_t)
     D = N - mu tanh(u/vs) T,  u = T v- the sliding speed before

   By S = [[M, B^T], [B, 0]] alone: (v+ - v-, L) = x0 + P x1, x0 = S^-1 (0, -phid), phid = B v- + phi_t what the step
   has left, x1 = S^-1 (D, 0). S knows no velocities: accelerations after the impact share its factors. With the
   transposed K^T nu = (v+b, 0, Pb), nu = (a, b, c): (a, b) = y0 - c y1, y0 = S^-1 (v+b, 0), y1 = S^-1 (N, 0). */
#include "event/event_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- solution */

static real dot_free(const mbg_model *m, const real *full, const real *x) {
  real s = 0;
  for (int j = 0; j < m->nv; j++) {
    s += full[m->full[j]] * x[j];
  }
  return s;
}

/* x = S^-1 (f, g), each may be NULL */
static void solve(mbg__events *ev, const real *f, const real *g, real *x) {
  const mbg_model *m = ev->m;
  if (f) {
    mbg__to_free(m, 1, f, x);
  } else {
    vn_zero(m->nv, x);
  }
  for (int i = 0; i < m->nrow; i++) {
    x[m->nv + i] = g && ev->rank->keep[i] ? g[i] : 0;
  }
  mbg__klu_solve(ev->saddle->klu, x, 1);
}

/* f (nw) and g (nrow), 0 in masked components and dropped rows */
static void split(const mbg__events *ev, const real *x, real *f, real *g) {
  const mbg_model *m = ev->m;
  memset(f, 0, (size_t)m->nw * sizeof(real));
  mbg__to_full(m, 1, x, f);
  for (int i = 0; i < m->nrow; i++) {
    g[i] = ev->rank->keep[i] ? x[m->nv + i] : 0;
  }
}

static void masked_to_zero(const mbg_model *m, real *full) {
  for (int i = 0; i < m->nw; i++) {
    full[i] = m->dof[i] >= 0 ? full[i] : 0;
  }
}

/* rows of the gap and of sliding, and what is explicit in time, at the state before */
static int take_rows(mbg_context *ctx, mbg__events *ev, const mbg__event *e, const mbg__state *before) {
  const mbg_model *m = ev->m;
  int err = MBG_OK;
  const size_t bytes = (size_t)m->nw * sizeof(real);
  MBG_TRY(mbg__event_sample(ctx, ev, &ev->guards, before));
  memset(ev->N, 0, bytes);
  memset(ev->T, 0, bytes);
  memset(ev->ga, 0, (size_t)m->na * sizeof(real));
  mbg__system_signal_pull(ev->sys, e->guard, 1, ev->N, NULL, NULL, NULL, ev->ga);
  ev->gap_t = ev->ga[m->clock];
  masked_to_zero(m, ev->N);
  memcpy(ev->D, ev->N, bytes);
  ev->mu = ev->th = ev->th1 = ev->slip = 0;
  ev->vs = 1;
  if (e->tangent >= 0) {
    MBG_TRY(mbg__event_sample(ctx, ev, &ev->gaps[e - m->events], before));
    mbg__system_signal_pull(ev->sys, e->tangent, 1, NULL, ev->T, NULL, NULL, NULL);
    masked_to_zero(m, ev->T);
    ev->slip = ev->y[2 * e->nbase];
    ev->mu = ev->design->attr[e->friction];
    ev->vs = ev->design->attr[e->slip_speed];
    ev->th = r_tanh(ev->slip / ev->vs);
    ev->th1 = 1 - ev->th * ev->th;
    vn_axpy(m->nw, ev->D, -ev->mu * ev->th, ev->T);
  }
done:
  return err;
}

/* the system at a state with twists v, rates and multipliers; the constraints are all that is needed of rigid bodies */
static int place(mbg_context *ctx, mbg__events *ev, const mbg__state *at, const real *v, const real *vd,
                 const real *lambda) {
  mbg__state state = *at;
  state.v = v;
  state.vd = vd;
  state.lambda = lambda;
  state.early = true;
  return ev->rigid ? mbg__system_update_bare(ctx, ev->sys, &state) : mbg__system_update(ctx, ev->sys, &state);
}

static int factor(mbg_context *ctx, mbg__events *ev, const mbg__event *e) {
  int err = MBG_OK;
  MBG_TRY(mbg__system_linearize(ctx, ev->sys));
  mbg__system_matrices(ev->sys, &(mbg__matrices){.M = ev->M, .B = ev->B});
  mbg__saddle_clear(ev->saddle);
  mbg__saddle_add_K(ev->saddle, 1, ev->M);
  mbg__saddle_add_rows(ev->saddle, ev->B, ev->B, ev->rank->keep, NULL);
  MBG_TRY(mbg__saddle_factor(ctx, ev->saddle, ev->what[e - ev->m->events]));
done:
  return err;
}

/* Does an impulse change the rate of the gap by more than rounding? N M^-1 N^T >= (N N^T)^2/(N M N^T) is the change
   without constraints. */
static bool is_free(const mbg__events *ev) {
  const int nw = ev->m->nw;
  real *MN = ev->f[0];
  vn_zero(nw, MN);
  mbg__system_mass_mul(ev->sys, ev->N, MN);
  const double NN = re(vn_dot(nw, ev->N, ev->N)), NMN = re(vn_dot(nw, ev->N, MN));
  const double size = sqrt(NN * re(vn_dot(ev->m->nv, ev->x1, ev->x1)));
  return fabs(re(ev->Nx1)) > 1e-12 * size && fabs(re(ev->Nx1)) * NMN > 1e-12 * NN * NN;
}

static int check_numbers(mbg_context *ctx, const mbg__events *ev, const mbg__event *e) {
  const double mu = re(ev->mu), vs = re(ev->vs);
  if (!(re(ev->e) >= 0)) {
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, &e->where, 0, "restitution must be between 0 and 1, is %g", re(ev->e));
  }
  if (!(mu >= 0 && vs > 0)) {
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, &e->where, 0, "%s must %s, is %g", mu >= 0 ? "slip_speed" : "friction",
                        mu >= 0 ? "be positive" : "not be negative", mu >= 0 ? vs : mu);
  }
  return MBG_OK;
}

static int check(mbg_context *ctx, const mbg__events *ev, const mbg__event *e, double t) {
  if (!is_free(ev)) {
    return mbg__fail_at(ctx, MBG_ERROR_SINGULAR, &e->where, 0,
                        "at t = %g no impulse changes the rate of the gap: constraints hold it, or friction wedges", t);
  }
  if (!(re(ev->P) > 0)) {
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, &e->where, 0,
                        "at t = %g the impulse is %g; an impact pushes, and its gap must close there", t, re(ev->P));
  }
  return MBG_OK;
}

int mbg__impact_solve(mbg_context *ctx, mbg__events *ev, int event, const mbg__state *before) {
  const mbg_model *m = ev->m;
  const mbg__event *e = &m->events[event];
  const bool given = ev->given;
  int err = MBG_OK;
  ev->given = ev->left = false;
  MBG_TRY(take_rows(ctx, ev, e, before));
  MBG_TRY(place(ctx, ev, before, before->v, NULL, NULL));
  MBG_TRY(given ? MBG_OK : factor(ctx, ev, e));
  ev->left = true;
  mbg__system_residual(ev->sys, NULL, NULL, ev->row[0], NULL, NULL);
  vn_scale(m->nrow, ev->row[0], -1, ev->row[0]);
  solve(ev, NULL, ev->row[0], ev->x0);
  solve(ev, ev->D, NULL, ev->x1);
  ev->e = ev->design->attr[e->restitution];
  MBG_TRY(check_numbers(ctx, ev, e));
  ev->rate = vn_dot(m->nw, ev->N, before->v) + ev->gap_t;
  ev->Nx1 = dot_free(m, ev->N, ev->x1);
  ev->P = (-(1 + ev->e) * ev->rate - dot_free(m, ev->N, ev->x0)) / ev->Nx1;
  MBG_TRY(check(ctx, ev, e, re(before->t)));
  for (int j = 0; j < m->nv + m->nrow; j++) {
    ev->x0[j] += ev->P * ev->x1[j];
  }
  split(ev, ev->x0, ev->vp, ev->L);
  for (int j = 0; j < m->nv; j++) {
    ev->vp[m->full[j]] += before->v[m->full[j]];
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- derivatives */

/* f[5] = v+ - v-, or 0 */
static void step_of(mbg__events *ev, const mbg__state *before, bool none) {
  for (int i = 0; i < ev->m->nw; i++) {
    ev->f[5][i] = none ? 0 : ev->vp[i] - before->v[i];
  }
}

/* The system with M (v+ - v-) + B^T L in its residual, or (bare) without them: their difference is free of forces. */
static int put(mbg_context *ctx, mbg__events *ev, const mbg__state *before, bool bare) {
  mbg__state state = *before;
  int err = MBG_OK;
  step_of(ev, before, bare);
  vn_zero(ev->m->nrow, ev->row[1]);
  state.v = ev->vp;
  state.vd = ev->f[5];
  state.lambda = bare ? ev->row[1] : ev->L;
  state.early = true;
  MBG_TRY(mbg__system_update(ctx, ev->sys, &state));
  MBG_TRY(mbg__system_linearize(ctx, ev->sys));
done:
  return err;
}

/* ---------------------------------------------------------------------- transposed */

/* Columns of criteria: solutions x of S^T, then multiples of y1 by the impulse, and (a, b) of nu. */
typedef struct {
  real *x;       /*                    (n x (nv + nrow)) */
  real *a, *b;   /*                    (n x nw, n x nrow) */
  real *za, *zb; /* -a, -b */
  real *c;       /*                    (n) */
  real *rates;   /* with friction: gradients of N (v+ + e v-) + (1 + e) gap_t and of T v-, v fixed   (2 x (nw + na)) */
} multipliers;

static int take_columns(mbg_context *ctx, mbg__events *ev, int n, multipliers *s) {
  const size_t nv = (size_t)ev->m->nv, nw = (size_t)ev->m->nw, nrow = (size_t)ev->m->nrow, all = (size_t)n;
  if (n > ev->ncolumn) {
    const size_t rates = 2 * (nw + (size_t)ev->m->na);
    ev->columns = MBG_TAKE(&ev->arena, real, all * (nv + 3 * nrow + 2 * nw + 1) + rates);
    ev->ncolumn = ev->columns ? n : 0;
  }
  s->x = ev->columns;
  s->a = s->x + all * (nv + nrow);
  s->za = s->a + all * nw;
  s->b = s->za + all * nw;
  s->zb = s->b + all * nrow;
  s->c = s->zb + all * nrow;
  s->rates = s->c + all;
  return mbg__arena_check(ctx, &ev->arena);
}

/* nu of all criteria; v is 0 in masked components then */
static void adjoint_solve(mbg__events *ev, int n, const real *y1, const real *Pb, real *v, multipliers *s) {
  const mbg_model *m = ev->m;
  const int size = m->nv + m->nrow;
  const real Dy1 = dot_free(m, ev->D, y1);
  for (int c = 0; c < n; c++) {
    real *x = s->x + (size_t)c * (size_t)size, *vc = v + (size_t)c * (size_t)m->nw;
    masked_to_zero(m, vc);
    mbg__to_free(m, 1, vc, x);
    vn_zero(m->nrow, x + m->nv);
  }
  mbg__klu_solve(ev->saddle->klu, s->x, n);
  for (int c = 0; c < n; c++) {
    real *x = s->x + (size_t)c * (size_t)size;
    s->c[c] = (Pb[c] + dot_free(m, ev->D, x)) / Dy1;
    vn_axpy(size, x, -s->c[c], y1);
    split(ev, x, s->a + (size_t)c * (size_t)m->nw, s->b + (size_t)c * (size_t)m->nrow);
  }
  vn_scale(n * m->nw, s->za, -1, s->a);
  vn_scale(n * m->nrow, s->zb, -1, s->b);
}

/* with friction: what all columns share */
static int take_rates(mbg_context *ctx, mbg__events *ev, int event, const mbg__state *before, real *rates) {
  const int nw = ev->m->nw, n = nw + ev->m->na;
  int err = MBG_OK;
  vn_zero(2 * n, rates);
  for (int i = 0; i < nw; i++) {
    ev->f[2][i] = ev->vp[i] + ev->e * before->v[i];
  }
  MBG_TRY(mbg__gap_pull(ctx, ev, event, before, ev->f[2], 1, 1 + ev->e, 0, rates, rates + nw));
  MBG_TRY(mbg__gap_pull(ctx, ev, event, before, before->v, 0, 0, 1, rates + n, rates + n + nw));
done:
  return err;
}

/* the parts of gap and friction: -P D a + c (N (v+ + e v-) + (1 + e) gap_t + ...) with a minus sign */
static int pull_rows(mbg_context *ctx, mbg__events *ev, int event, const mbg__state *before, const real *rates,
                     const real *a, real c, real *w, real *v, real *ga) {
  const mbg_model *m = ev->m;
  const mbg__event *e = &m->events[event];
  const real Ta = vn_dot(m->nw, ev->T, a), s = ev->P * ev->mu;
  int err = MBG_OK;
  for (int i = 0; i < m->nw; i++) {
    ev->f[2][i] = ev->P * a[i] - c * (ev->vp[i] + ev->e * before->v[i]);
    v[i] -= ev->e * c * ev->N[i] + s * ev->th1 / ev->vs * Ta * ev->T[i];
  }
  ga[e->restitution] -= c * ev->rate;
  if (e->tangent < 0) {
    return mbg__gap_pull(ctx, ev, event, before, ev->f[2], 1, -c * (1 + ev->e), 0, w, ga);
  }
  ga[e->friction] -= ev->P * ev->th * Ta;
  ga[e->slip_speed] += s * ev->th1 * ev->slip / (ev->vs * ev->vs) * Ta;
  MBG_TRY(mbg__gap_pull(ctx, ev, event, before, a, ev->P, 0, -s * ev->th, w, ga));
  for (int k = 0; k < 2; k++) {
    const real *g = rates + k * (m->nw + m->na), weight = k == 0 ? -c : -s * ev->th1 / ev->vs * Ta;
    vn_axpy(m->nw, w, weight, g);
    vn_axpy(m->na, ga, weight, g + m->nw);
  }
done:
  return err;
}

/* w, psi_a += the gradient of z.r + mu.phid where the system stands, all columns side by side */
static void pull_columns(mbg__events *ev, mbg__lanes_block *block, int n, const real *z, const real *mu, real *w,
                         real *psi_a) {
  const mbg_model *m = ev->m;
  for (int first = 0; first < n; first += MBG__LANES) {
    const int count = n - first < MBG__LANES ? n - first : MBG__LANES;
    mbg__block_weights x[MBG__LANES];
    mbg__block_sums g[MBG__LANES];
    for (int q = 0; q < count; q++) {
      const size_t c = (size_t)(first + q), at = c * (size_t)m->nw;
      x[q] = (mbg__block_weights){.z = z + at, .nu = mu ? mu + c * (size_t)m->nrow : NULL};
      g[q] = (mbg__block_sums){.w = w + at, .a = psi_a + c * (size_t)m->na};
    }
    mbg__system_pull_block(ev->sys, block, count, x, g);
  }
}

/* w, ga += what nu leaves there by M (v+ - v-) + B^T L and B v+; v becomes the part of v- by M. The system is moved. */
static int pull_system(mbg_context *ctx, mbg__events *ev, const mbg__state *before, int n, mbg__lanes_block *block,
                       const multipliers *s, real *w, real *v, real *psi_a) {
  const mbg_model *m = ev->m;
  int err = MBG_OK;
  if (ev->rigid) {
    /* the constraints alone, and M, which only attributes change */
    step_of(ev, before, false);
    MBG_TRY(place(ctx, ev, before, ev->vp, NULL, ev->L));
    MBG_TRY(mbg__system_linearize(ctx, ev->sys));
    pull_columns(ev, block, n, s->za, s->zb, w, psi_a);
  } else {
    MBG_TRY(put(ctx, ev, before, true));
    pull_columns(ev, block, n, s->a, NULL, w, psi_a);
    MBG_TRY(put(ctx, ev, before, false));
    pull_columns(ev, block, n, s->za, s->zb, w, psi_a);
  }
  for (int c = 0; c < n; c++) {
    const size_t at = (size_t)c * (size_t)m->nw;
    if (ev->rigid) {
      mbg__system_mass_pull(ev->sys, s->za + at, ev->f[5], psi_a + (size_t)c * (size_t)m->na);
    }
    mbg__system_mass_mul(ev->sys, s->a + at, v + at);
    masked_to_zero(m, v + at);
  }
done:
  return err;
}

int mbg__events_pull(mbg_context *ctx, mbg__events *ev, int k, const mbg__state *before, int n, mbg__lanes_block *block,
                     const real *Pb, real *w, real *v, real *psi_a) {
  const mbg_model *m = ev->m;
  const int event = ev->firings[k].event;
  multipliers s;
  int err = MBG_OK;
  mbg__events_after(ev, k);
  if (!m->events[event].impact) {
    ev->given = false;
    return MBG_OK;
  }
  MBG_TRY(take_columns(ctx, ev, n, &s));
  MBG_TRY(mbg__impact_recall(ev, k) ? MBG_OK : mbg__impact_solve(ctx, ev, event, before));
  solve(ev, ev->N, NULL, ev->x1);
  adjoint_solve(ev, n, ev->x1, Pb, v, &s);
  MBG_TRY(pull_system(ctx, ev, before, n, block, &s, w, v, psi_a));
  MBG_TRY(m->events[event].tangent >= 0 ? take_rates(ctx, ev, event, before, s.rates) : MBG_OK);
  for (int c = 0; c < n; c++) {
    const size_t at = (size_t)c * (size_t)m->nw;
    MBG_TRY(pull_rows(ctx, ev, event, before, s.rates, s.a + at, s.c[c], w + at, v + at,
                      psi_a + (size_t)c * (size_t)m->na));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- directions */

/* right sides of all columns; f[4] = P dD of one column and what depends on the gap come from gradients at fixed u */
typedef struct {
  mbg__events *ev;
  int event;
  const mbg__state *before;
  const mbg__event_columns *c;
  real *r;  /* of dynamics                    (n x nw) */
  real *q;  /* of the rows                    (n x nrow) */
  real *s;  /* of restitution                 (n) */
  real *dD; /* factor of T in -dD             (n) */
  real *gw, *ga, *da;
} push;

static void lay(const push *p, int k, bool clear) {
  p->c->attributes(p->c->user, k, p->da, clear);
  p->da[p->ev->m->clock] = clear ? 0 : p->c->dt[k];
}

/* the gradient in gw, ga times column k */
static real times(const push *p, int k) {
  const mbg_model *m = p->ev->m;
  lay(p, k, false);
  const real x = vn_dot(m->nw, p->gw, p->c->w + (size_t)k * (size_t)m->nw) + vn_dot(m->na, p->ga, p->da);
  lay(p, k, true);
  return x;
}

static void no_gradient(const push *p) {
  memset(p->gw, 0, (size_t)p->ev->m->nw * sizeof(real));
  memset(p->ga, 0, (size_t)p->ev->m->na * sizeof(real));
}

static int push_system(mbg_context *ctx, const push *p, bool bare) {
  mbg__events *ev = p->ev;
  const mbg_model *m = ev->m;
  const int err = put(ctx, ev, p->before, bare);
  for (int k = 0; err == MBG_OK && k < p->c->n; k++) {
    const size_t at = (size_t)k * (size_t)m->nw;
    const mbg__direction d = {.w = p->c->w + at, .da = p->da};
    lay(p, k, false);
    mbg__system_push(ev->sys, &d, ev->f[1], NULL, bare ? NULL : p->q + (size_t)k * (size_t)m->nrow, NULL);
    lay(p, k, true);
    vn_axpy(m->nw, p->r + at, bare ? 1 : -1, ev->f[1]);
    if (!bare) {
      mbg__system_mass_mul(ev->sys, p->c->v + at, ev->f[1]);
      vn_axpy(m->nw, p->r + at, 1, ev->f[1]);
    }
  }
  return err;
}

/* dN (v+ + e v-) + (1 + e) d gap_t + e N dv- + de (N v- + gap_t), and the change of friction */
static int push_rates(mbg_context *ctx, const push *p) {
  mbg__events *ev = p->ev;
  const mbg_model *m = ev->m;
  const mbg__event *e = &m->events[p->event];
  int err = MBG_OK;
  for (int i = 0; i < m->nw; i++) {
    ev->f[2][i] = ev->vp[i] + ev->e * p->before->v[i];
  }
  no_gradient(p);
  MBG_TRY(mbg__gap_pull(ctx, ev, p->event, p->before, ev->f[2], 1, 1 + ev->e, 0, p->gw, p->ga));
  p->ga[e->restitution] += ev->rate;
  for (int k = 0; k < p->c->n; k++) {
    p->s[k] = -times(p, k) - ev->e * vn_dot(m->nw, ev->N, p->c->v + (size_t)k * (size_t)m->nw);
  }
  if (e->tangent < 0) {
    return MBG_OK;
  }
  no_gradient(p);
  MBG_TRY(mbg__gap_pull(ctx, ev, p->event, p->before, p->before->v, 0, 0, ev->mu * ev->th1 / ev->vs, p->gw, p->ga));
  p->ga[e->friction] += ev->th;
  p->ga[e->slip_speed] -= ev->mu * ev->th1 * ev->slip / (ev->vs * ev->vs);
  for (int k = 0; k < p->c->n; k++) {
    p->dD[k] = times(p, k) + ev->mu * ev->th1 / ev->vs * vn_dot(m->nw, ev->T, p->c->v + (size_t)k * (size_t)m->nw);
  }
done:
  return err;
}

/* r += P dD: component i by the rate of the gap with the unit twist i */
static int push_impulse(mbg_context *ctx, const push *p) {
  mbg__events *ev = p->ev;
  const mbg_model *m = ev->m;
  int err = MBG_OK;
  memset(ev->f[2], 0, (size_t)m->nw * sizeof(real));
  for (int j = 0; j < m->nv; j++) {
    const int i = m->full[j];
    no_gradient(p);
    ev->f[2][i] = 1;
    MBG_TRY(mbg__gap_pull(ctx, ev, p->event, p->before, ev->f[2], 1, 0, -ev->mu * ev->th, p->gw, p->ga));
    ev->f[2][i] = 0;
    for (int k = 0; k < p->c->n; k++) {
      p->r[(size_t)k * (size_t)m->nw + (size_t)i] += ev->P * (times(p, k) - p->dD[k] * ev->T[i]);
    }
  }
done:
  return err;
}

static void finish(const push *p) {
  mbg__events *ev = p->ev;
  const mbg_model *m = ev->m;
  for (int k = 0; k < p->c->n; k++) {
    const size_t at = (size_t)k * (size_t)m->nw;
    real *q = p->q + (size_t)k * (size_t)m->nrow;
    for (int i = 0; i < m->nrow; i++) {
      q[i] = -q[i];
    }
    solve(ev, p->r + at, q, ev->x0);
    const real dP = (p->s[k] - dot_free(m, ev->N, ev->x0)) / ev->Nx1;
    for (int j = 0; j < m->nv + m->nrow; j++) {
      ev->x0[j] += dP * ev->x1[j];
    }
    p->c->dP[k] = dP;
    memset(p->c->v + at, 0, (size_t)m->nw * sizeof(real));
    mbg__to_full(m, 1, ev->x0, p->c->v + at);
  }
}

int mbg__events_push(mbg_context *ctx, mbg__events *ev, int k, const mbg__state *before, const mbg__event_columns *c) {
  const mbg_model *m = ev->m;
  const size_t n = (size_t)c->n;
  push p = {.ev = ev, .event = ev->firings[k].event, .before = before, .c = c};
  mbg__arena arena;
  int err = MBG_OK;
  mbg__events_after(ev, k);
  memset(c->dP, 0, n * sizeof(real));
  if (!m->events[p.event].impact) {
    return MBG_OK;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  p.r = MBG_TAKE(&arena, real, n * (size_t)m->nw);
  p.q = MBG_TAKE(&arena, real, n * (size_t)m->nrow);
  p.s = MBG_TAKE(&arena, real, n);
  p.dD = MBG_TAKE(&arena, real, n);
  p.gw = MBG_TAKE(&arena, real, m->nw);
  p.ga = MBG_TAKE(&arena, real, m->na);
  p.da = MBG_TAKE(&arena, real, m->na);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  MBG_TRY(mbg__impact_solve(ctx, ev, p.event, before));
  MBG_TRY(push_system(ctx, &p, false));
  MBG_TRY(push_system(ctx, &p, true));
  MBG_TRY(push_rates(ctx, &p));
  MBG_TRY(push_impulse(ctx, &p));
  finish(&p);
done:
  mbg__arena_destroy(&arena);
  return err;
}
