#include "elements/modal_marker.h"

#include <stddef.h>

/* sum_j x_j phi_j: displacement (off 0) or rotation (off 3) */
static void combine(const mbg__modal_marker *m, const real *P, int off, const real *x, real out[3]) {
  for (int j = 0; P && x && j < m->n; j++) {
    v3_axpy(out, x[j], P + 6 * j + off);
  }
}

/* ---------------------------------------------------------------------- T(th) x and its derivatives */

static void T_mul(const mbg__modal_marker *m, const real x[3], real out[3]) { m3_mulv(out, m->T, x); }

/* d(T x) with x held: -a_s s' th x x - a th' x x + b_s s' th x (th x x) + b (th' x (th x x) + th x (th' x x)) */
static void T_change(const mbg__modal_marker *m, const real dth[3], const real x[3], real out[3]) {
  const real ds = 2 * v3_dot(m->th, dth);
  real tx[3], dx[3];
  v3_cross(tx, m->th, x);
  v3_cross(dx, dth, x);
  v3_scale(out, -m->a[1] * ds, tx);
  v3_axpy(out, -m->a[0], dx);
  v3_cross_add(out, m->b[1] * ds, m->th, tx);
  v3_cross_add(out, m->b[0], dth, tx);
  v3_cross_add(out, m->b[0], m->th, dx);
}

/* its transpose: adds the gradient of Q.d(T x) by dth */
static void T_change_T(const mbg__modal_marker *m, const real x[3], const real Q[3], real gth[3]) {
  real tx[3], ttx[3], Qt[3];
  v3_cross(tx, m->th, x);
  v3_cross(ttx, m->th, tx);
  v3_cross(Qt, Q, m->th);
  v3_axpy(gth, 2 * (m->b[1] * v3_dot(ttx, Q) - m->a[1] * v3_dot(tx, Q)), m->th);
  v3_cross_add(gth, -m->a[0], x, Q);
  v3_cross_add(gth, m->b[0], tx, Q);
  v3_cross_add(gth, m->b[0], x, Qt);
}

/* c = d(T d)[d] for d = thd: -2 a_s q X + b Y + 2 b_s q Z,  q = th.d, X = th x d, Y = d x X, Z = th x X */
typedef struct {
  real q, X[3], Y[3], Z[3];
} second;

static void second_at(const mbg__modal_marker *m, second *c) {
  c->q = v3_dot(m->th, m->thd);
  v3_cross(c->X, m->th, m->thd);
  v3_cross(c->Y, m->thd, c->X);
  v3_cross(c->Z, m->th, c->X);
}

static void second_value(const mbg__modal_marker *m, real out[3]) {
  second c;
  second_at(m, &c);
  v3_scale(out, -2 * m->a[1] * c.q, c.X);
  v3_axpy(out, m->b[0], c.Y);
  v3_axpy(out, 2 * m->b[1] * c.q, c.Z);
}

static void second_push(const mbg__modal_marker *m, const real dth[3], const real dthd[3], real out[3]) {
  second c;
  second_at(m, &c);
  const real ds = 2 * v3_dot(m->th, dth), dq = v3_dot(dth, m->thd) + v3_dot(m->th, dthd);
  real dX[3];
  v3_cross(dX, dth, m->thd);
  v3_cross_add(dX, 1, m->th, dthd);
  v3_scale(out, -2 * (m->a[2] * ds * c.q + m->a[1] * dq), c.X);
  v3_axpy(out, -2 * m->a[1] * c.q, dX);
  v3_axpy(out, m->b[1] * ds, c.Y);
  v3_cross_add(out, m->b[0], dthd, c.X);
  v3_cross_add(out, m->b[0], m->thd, dX);
  v3_axpy(out, 2 * (m->b[2] * ds * c.q + m->b[1] * dq), c.Z);
  v3_cross_add(out, 2 * m->b[1] * c.q, dth, c.X);
  v3_cross_add(out, 2 * m->b[1] * c.q, m->th, dX);
}

static void second_pull(const mbg__modal_marker *m, const real Q[3], real gth[3], real gthd[3]) {
  second c;
  second_at(m, &c);
  const real XQ = v3_dot(c.X, Q), YQ = v3_dot(c.Y, Q), ZQ = v3_dot(c.Z, Q);
  const real gs = -2 * m->a[2] * c.q * XQ + m->b[1] * YQ + 2 * m->b[2] * c.q * ZQ;
  const real gq = -2 * m->a[1] * XQ + 2 * m->b[1] * ZQ, bq = 2 * m->b[1] * c.q;
  real gX[3];
  v3_scale(gX, -2 * m->a[1] * c.q, Q);
  v3_cross_add(gX, m->b[0], Q, m->thd);
  v3_cross_add(gX, bq, Q, m->th);
  v3_axpy(gth, 2 * gs, m->th);
  v3_axpy(gth, gq, m->thd);
  v3_cross_add(gth, 1, m->thd, gX);
  v3_cross_add(gth, bq, c.X, Q);
  v3_axpy(gthd, gq, m->th);
  v3_cross_add(gthd, 1, gX, m->th);
  v3_cross_add(gthd, m->b[0], c.X, Q);
}

/* ---------------------------------------------------------------------- values */

void mbg__modal_marker_place(mbg__modal_marker *m, const real *eta) {
  real X[9], x[3], y[3];
  m->eta = eta;
  v3_zero(m->th);
  combine(m, m->P, 3, eta, m->th);
  mbg__so3_exp(X, m->th);
  m3_mul(m->E.R, X, m->h->R);
  v3_copy(m->E.x, m->h->x);
  combine(m, m->P, 0, eta, m->E.x);
  mbg__so3_tangent(m->T, m->th);
  mbg__so3_tangent_coefs(v3_dot(m->th, m->th), m->a, m->b);
  for (int j = 0; j < m->n; j++) {
    v3_copy(x, m->P + 6 * j);
    m3_mulv_T(m->Psi + 6 * j, m->E.R, x);
    T_mul(m, m->P + 6 * j + 3, y);
    m3_mulv_T(m->Psi + 6 * j + 3, m->h->R, y);
  }
}

/* Psi x */
static void modal_mul(const mbg__modal_marker *m, const real *x, real out[6]) {
  v6_zero(out);
  for (int j = 0; x && j < m->n; j++) {
    v6_axpy(out, x[j], m->Psi + 6 * j);
  }
}

void mbg__modal_marker_mul(const mbg__modal_marker *m, const real x[6], const real *xm, real y[6]) {
  real f[6];
  modal_mul(m, xm, y);
  AdInv_mul(f, &m->E, x);
  v6_axpy(y, 1, f);
}

void mbg__modal_marker_mul_T(const mbg__modal_marker *m, real c, const real f[6], real x[6], real *xm) {
  real y[6];
  AdInvT_mul(y, &m->E, f);
  v6_axpy(x, c, y);
  for (int j = 0; j < m->n; j++) {
    xm[j] += c * v6_dot(m->Psi + 6 * j, f);
  }
}

void mbg__modal_marker_twist(mbg__modal_marker *m, const real v[6], const real *etad, real vm[6]) {
  real c[3];
  m->etad = etad;
  v3_zero(m->thd);
  combine(m, m->P, 3, etad, m->thd);
  AdInv_mul(m->vE, &m->E, v);
  modal_mul(m, etad, m->s);
  v6_add(vm, m->vE, m->s);
  v3_cross(m->k, m->s, m->s + 3);
  second_value(m, c);
  m3_mulv_T(m->k + 3, m->h->R, c);
}

void mbg__modal_marker_gamma(const mbg__modal_marker *m, real gamma[6]) {
  real c[6];
  ad_mul(c, m->s, m->vE);
  v6_sub(gamma, m->k, c);
}

void mbg__modal_marker_rate(mbg__modal_marker *m, const real vd[6], const real *etadd, real vdm[6]) {
  real c[6];
  m->etadd = etadd;
  v3_zero(m->thdd);
  combine(m, m->P, 3, etadd, m->thdd);
  AdInv_mul(m->vdE, &m->E, vd);
  modal_mul(m, etadd, m->sd);
  v6_add(vdm, m->vdE, m->sd);
  mbg__modal_marker_gamma(m, c);
  v6_axpy(vdm, 1, c);
}

/* ---------------------------------------------------------------------- variations */

static void change_of(const mbg__modal_marker *m, const mbg__modal_marker_direction *d, mbg__modal_marker_change *c) {
  real x[3] = {0}, y[3];
  v3_zero(c->e);
  v3_zero(c->dth);
  if (d->omega) {
    v3_copy(c->e, d->omega + 3);
    m3_mulv(x, m->h->R, d->omega);
  }
  combine(m, m->P, 0, d->deta, x);
  combine(m, d->dP, 0, m->eta, x);
  m3_mulv_T(c->eps, m->E.R, x);
  combine(m, m->P, 3, d->deta, c->dth);
  combine(m, d->dP, 3, m->eta, c->dth);
  T_mul(m, c->dth, y);
  m3_mulv_T(c->eps + 3, m->h->R, y);
  v3_axpy(c->eps + 3, 1, c->e);
}

/* d(Psi x) with y = Psi x, xi = sum phir_j x_j and the change dx of x (NULL: 0):
     [-eps_W x y_t + R_E^T (sum dphit x + phit dx); -e x y_r + R0^T (dT xi + T (sum dphir x + phir dx))] */
static void modal_push(const mbg__modal_marker *m, const mbg__modal_marker_direction *d,
                       const mbg__modal_marker_change *c, const real *x, const real *dx, const real y[6],
                       const real xi[3], real out[6]) {
  real u[3] = {0}, r[3] = {0}, t[3], z[3];
  combine(m, d->dP, 0, x, u);
  combine(m, m->P, 0, dx, u);
  m3_mulv_T(out, m->E.R, u);
  v3_cross_add(out, -1, c->eps + 3, y);
  combine(m, d->dP, 3, x, r);
  combine(m, m->P, 3, dx, r);
  T_mul(m, r, t);
  T_change(m, c->dth, xi, z);
  v3_axpy(t, 1, z);
  m3_mulv_T(out + 3, m->h->R, t);
  v3_cross_add(out + 3, -1, c->e, y + 3);
}

/* d(Ad(E^-1) x) = -ad(eps) xE + Ad(E^-1) dx */
static void frame_push(const mbg__modal_marker *m, const mbg__modal_marker_change *c, const real xE[6], const real *dx,
                       real out[6]) {
  real y[6];
  ad_mul(out, c->eps, xE);
  v6_scale(out, -1, out);
  if (dx) {
    AdInv_mul(y, &m->E, dx);
    v6_axpy(out, 1, y);
  }
}

/* d gamma = -ad(ds) vE - ad(s) dvE + dk */
static void gamma_push(const mbg__modal_marker *m, const mbg__modal_marker_direction *d,
                       const mbg__modal_marker_change *c, const real ds[6], const real dvE[6], real out[6]) {
  real x[6], dthd[3] = {0}, dc[3], y[3];
  ad_mul(out, ds, m->vE);
  ad_mul(x, m->s, dvE);
  v6_axpy(out, 1, x);
  v6_scale(out, -1, out);
  v3_cross_add(out, 1, ds, m->s + 3);
  v3_cross_add(out, 1, m->s, ds + 3);
  combine(m, d->dP, 3, m->etad, dthd);
  combine(m, m->P, 3, d->detad, dthd);
  second_push(m, c->dth, dthd, dc);
  m3_mulv_T(y, m->h->R, dc);
  v3_axpy(out + 3, 1, y);
  v3_cross_add(out + 3, -1, c->e, m->k + 3);
}

void mbg__modal_marker_push(const mbg__modal_marker *m, const mbg__modal_marker_direction *d,
                            mbg__modal_marker_change *change, real w[6], real dv[6], real dvd[6]) {
  real x[6], ds[6], dvE[6];
  change_of(m, d, change);
  v6_copy(w, change->eps);
  if (d->w) {
    AdInv_mul(x, &m->E, d->w);
    v6_axpy(w, 1, x);
  }
  frame_push(m, change, m->vE, d->dv, dvE);
  modal_push(m, d, change, m->etad, d->detad, m->s, m->thd, ds);
  v6_add(dv, dvE, ds);
  frame_push(m, change, m->vdE, d->dvd, dvd);
  modal_push(m, d, change, m->etadd, d->detadd, m->sd, m->thdd, x);
  v6_axpy(dvd, 1, x);
  gamma_push(m, d, change, ds, dvE, x);
  v6_axpy(dvd, 1, x);
}

/* d(Psi_j) of one mode */
static void column_push(const mbg__modal_marker *m, const mbg__modal_marker_direction *d,
                        const mbg__modal_marker_change *c, int j, real out[6]) {
  real t[3], z[3];
  v3_zero(out);
  if (d->dP) {
    m3_mulv_T(out, m->E.R, d->dP + 6 * j);
  }
  v3_cross_add(out, -1, c->eps + 3, m->Psi + 6 * j);
  T_change(m, c->dth, m->P + 6 * j + 3, t);
  if (d->dP) {
    T_mul(m, d->dP + 6 * j + 3, z);
    v3_axpy(t, 1, z);
  }
  m3_mulv_T(out + 3, m->h->R, t);
  v3_cross_add(out + 3, -1, c->e, m->Psi + 6 * j + 3);
}

void mbg__modal_marker_wrench_push(const mbg__modal_marker *m, const mbg__modal_marker_direction *d,
                                   const mbg__modal_marker_change *change, real c, const real f[6], const real df[6],
                                   real x[6], real *xm) {
  real y[6], z[6];
  adT_mul(y, change->eps, f);
  v6_sub(y, df, y);
  AdInvT_mul(z, &m->E, y);
  v6_axpy(x, c, z);
  for (int j = 0; j < m->n; j++) {
    column_push(m, d, change, j, y);
    xm[j] += c * (v6_dot(m->Psi + 6 * j, df) + v6_dot(y, f));
  }
}

/* ---------------------------------------------------------------------- transposes */

/* cotangents of the change, gathered from everything that depends on it */
typedef struct {
  real eps[6], e[3], dth[3];
} change_bar;

static void combine_T(const mbg__modal_marker *m, const real Q[3], int off, const real *x, real *gx, real *gP) {
  for (int j = 0; j < m->n; j++) {
    if (gx) {
      gx[j] += v3_dot(m->P + 6 * j + off, Q);
    }
    if (gP && x) {
      v3_axpy(gP + 6 * j + off, x[j], Q);
    }
  }
}

static void frame_pull(const mbg__modal_marker *m, const real xE[6], const real g[6], change_bar *c, real *gx) {
  real y[6];
  adT_mul(y, xE, g);
  v6_axpy(c->eps, 1, y);
  if (gx) {
    AdInvT_mul(y, &m->E, g);
    v6_axpy(gx, 1, y);
  }
}

static void modal_pull(const mbg__modal_marker *m, const real *x, const real y[6], const real xi[3], const real g[6],
                       change_bar *c, real *gx, real *gP) {
  real G[3], Q[3], q[3];
  m3_mulv(G, m->E.R, g);
  combine_T(m, G, 0, x, gx, gP);
  v3_cross_add(c->eps + 3, -1, y, g);
  v3_cross_add(c->e, -1, y + 3, g + 3);
  m3_mulv(Q, m->h->R, g + 3);
  T_change_T(m, xi, Q, c->dth);
  m3_mulv_T(q, m->T, Q);
  combine_T(m, q, 3, x, gx, gP);
}

/* adds to the cotangents of ds and dvE */
static void gamma_pull(const mbg__modal_marker *m, const real g[6], change_bar *c, real gs[6], real gvE[6],
                       const mbg__modal_marker_gradient *out) {
  real y[6], Q[3], gthd[3] = {0};
  adT_mul(y, m->vE, g);
  v6_axpy(gs, 1, y);
  adT_mul(y, m->s, g);
  v6_axpy(gvE, -1, y);
  v3_cross_add(gs, 1, m->s + 3, g);
  v3_cross_add(gs + 3, 1, g, m->s);
  v3_cross_add(c->e, -1, m->k + 3, g + 3);
  m3_mulv(Q, m->h->R, g + 3);
  second_pull(m, Q, c->dth, gthd);
  combine_T(m, gthd, 3, m->etad, out->detad, out->dP);
}

static void change_pull(const mbg__modal_marker *m, change_bar *c, const mbg__modal_marker_gradient *out) {
  real G[3], y[3], z[3];
  m3_mulv(G, m->E.R, c->eps);
  combine_T(m, G, 0, m->eta, out->deta, out->dP);
  m3_mulv(y, m->h->R, c->eps + 3);
  m3_mulv_T(z, m->T, y);
  v3_axpy(c->dth, 1, z);
  combine_T(m, c->dth, 3, m->eta, out->deta, out->dP);
  if (out->omega) {
    m3_mulv_T(y, m->h->R, G);
    v3_axpy(out->omega, 1, y);
    v3_axpy(out->omega + 3, 1, c->e);
    v3_axpy(out->omega + 3, 1, c->eps + 3);
  }
}

void mbg__modal_marker_pull(const mbg__modal_marker *m, const real gw[6], const real *gv, const real *gvd,
                            const mbg__modal_marker_gradient *g) {
  change_bar c = {{0}, {0}, {0}};
  real gs[6] = {0}, gvE[6] = {0}, y[6];
  v6_copy(c.eps, gw);
  if (g->w) {
    AdInvT_mul(y, &m->E, gw);
    v6_axpy(g->w, 1, y);
  }
  if (gvd) {
    frame_pull(m, m->vdE, gvd, &c, g->dvd);
    modal_pull(m, m->etadd, m->sd, m->thdd, gvd, &c, g->detadd, g->dP);
    gamma_pull(m, gvd, &c, gs, gvE, g);
  }
  if (gv) {
    v6_axpy(gs, 1, gv);
    v6_axpy(gvE, 1, gv);
  }
  if (gv || gvd) {
    frame_pull(m, m->vE, gvE, &c, g->dv);
    modal_pull(m, m->etad, m->s, m->thd, gs, &c, g->detad, g->dP);
  }
  change_pull(m, &c, g);
}

void mbg__modal_marker_test_pull(const mbg__modal_marker *m, const real z[6], const real *zm, const real f[6],
                                 const mbg__modal_marker_gradient *g) {
  change_bar c = {{0}, {0}, {0}};
  real zE[6], y[6], xi[3] = {0};
  AdInv_mul(zE, &m->E, z);
  modal_mul(m, zm, y);
  combine(m, m->P, 3, zm, xi);
  frame_pull(m, zE, f, &c, NULL);
  modal_pull(m, zm, y, xi, f, &c, NULL, g->dP);
  change_pull(m, &c, g);
}
