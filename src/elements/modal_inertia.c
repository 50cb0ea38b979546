#include "elements/modal_inertia.h"

/* ---------------------------------------------------------------------- blocks */

/* out += s (A + A^T) */
static void add_sym(real out[9], real s, const real A[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] += s * (A[3 * i + j] + A[3 * j + i]);
    }
  }
}

static void clear(mbg__modal_blocks *b, int n) {
  v3_zero(b->mc);
  m3_zero(b->J);
  vn_zero(3 * n, b->B);
  vn_zero(9 * n, b->N);
}

/* blocks of D at eta; they are linear in D */
static void add_blocks(const mbg__modal_view *D, const real *eta, mbg__modal_blocks *b) {
  const int n = D->n;
  v3_axpy(b->mc, 1, D->I2);
  m3_axpy(b->J, 1, D->I7);
  vn_axpy(3 * n, b->B, 1, D->I4);
  for (int j = 0; j < n; j++) {
    v3_axpy(b->mc, eta[j], D->I3 + 3 * j);
    add_sym(b->J, eta[j], D->I8 + 9 * j);
    vn_axpy(3 * n, b->B, eta[j], D->I5 + 3 * n * j);
    add_sym(b->N + 9 * j, 1, D->I8 + 9 * j);
    for (int k = 0; k < n; k++) {
      const real *I9 = D->I9 + 9 * (n * j + k);
      m3_axpy(b->J, eta[j] * eta[k], I9);
      m3_axpy(b->N + 9 * j, eta[k], I9);
      m3_axpy(b->N + 9 * k, eta[j], I9);
    }
  }
}

/* their change with eta */
static void turn_blocks(const mbg__modal_state *s, const real *deta, mbg__modal_blocks *b) {
  const mbg__modal_view *D = &s->D;
  const int n = D->n;
  for (int j = 0; j < n; j++) {
    if (deta[j] == 0) {
      continue;
    }
    v3_axpy(b->mc, deta[j], D->I3 + 3 * j);
    m3_axpy(b->J, deta[j], s->at.N + 9 * j);
    vn_axpy(3 * n, b->B, deta[j], D->I5 + 3 * n * j);
    for (int k = 0; k < n; k++) {
      m3_axpy(b->N + 9 * k, deta[j], D->I9 + 9 * (n * j + k));
      m3_axpy(b->N + 9 * k, deta[j], D->I9 + 9 * (n * k + j));
    }
  }
}

void mbg__modal_update(mbg__modal_state *s) {
  clear(&s->at, s->D.n);
  add_blocks(&s->D, s->eta, &s->at);
}

/* ---------------------------------------------------------------------- the terms of r, each linear in blocks and D */

/* y += M x; D NULL: its part is left out */
static void add_mass(int n, const mbg__modal_view *D, const mbg__modal_blocks *b, const real *x, real *y) {
  v3_cross_add(y, -1, b->mc, x + 3);
  v3_cross_add(y + 3, 1, b->mc, x);
  m3_mulv_add(y + 3, b->J, x + 3);
  for (int k = 0; k < n; k++) {
    v3_axpy(y + 3, x[6 + k], b->B + 3 * k);
    y[6 + k] += v3_dot(b->B + 3 * k, x + 3);
  }
  if (!D) {
    return;
  }
  v3_axpy(y, D->I1[0], x);
  for (int k = 0; k < n; k++) {
    v3_axpy(y, x[6 + k], D->I3 + 3 * k);
    y[6 + k] += v3_dot(D->I3 + 3 * k, x) + vn_dot(n, D->I6 + n * k, x + 6);
  }
}

/* r += (sum ed_j M_,j) x; N NULL: without it */
static void add_rate(const mbg__modal_view *D, const real *N, const real *ed, const real *x, real *r) {
  const int n = D->n;
  for (int j = 0; j < n; j++) {
    if (N) {
      real y[3];
      m3_mulv(y, N + 9 * j, x + 3);
      v3_axpy(r + 3, ed[j], y);
    }
    v3_cross_add(r, -ed[j], D->I3 + 3 * j, x + 3);
    v3_cross_add(r + 3, ed[j], D->I3 + 3 * j, x);
    for (int k = 0; k < n; k++) {
      const real *I5 = D->I5 + 3 * (n * j + k);
      v3_axpy(r + 3, ed[j] * x[6 + k], I5);
      r[6 + k] += ed[j] * v3_dot(I5, x + 3);
    }
  }
}

static void rate_of_N(int n, const real *N, const real *ed, const real *x, real *r) {
  for (int j = 0; j < n; j++) {
    real y[3];
    m3_mulv(y, N + 9 * j, x + 3);
    v3_axpy(r + 3, ed[j], y);
  }
}

/* r_j -= 1/2 x.M_,j y with x, y in the symmetric form:
   x.M_,j y = I3_j.(Ux x Wy + Uy x Wx) + Wx.N_j Wy + Wx.(I5_j y) + Wy.(I5_j x) */
static void sub_quadratic(const mbg__modal_view *D, const real *N, const real *x, const real *y, real c, real *r) {
  const int n = D->n;
  real UW[3];
  v3_cross(UW, x, y + 3);
  v3_cross_add(UW, 1, y, x + 3);
  for (int j = 0; j < n; j++) {
    real q = v3_dot(D->I3 + 3 * j, UW);
    if (N) {
      real Ny[3];
      m3_mulv(Ny, N + 9 * j, y + 3);
      q += v3_dot(x + 3, Ny);
    }
    for (int k = 0; k < n; k++) {
      const real *I5 = D->I5 + 3 * (n * j + k);
      q += v3_dot(x + 3, I5) * y[6 + k] + v3_dot(y + 3, I5) * x[6 + k];
    }
    r[6 + j] -= c * q;
  }
}

/* r += c M (a, 0, 0) */
static void add_weight(const mbg__modal_view *D, const real mc[3], real c, const real a[3], real *r) {
  v3_axpy(r, c * D->I1[0], a);
  v3_cross_add(r + 3, c, mc, a);
  for (int j = 0; j < D->n; j++) {
    r[6 + j] += c * v3_dot(D->I3 + 3 * j, a);
  }
}

static void add_elastic(const mbg__modal_state *s, const mbg__modal_view *D, const real *eta, const real *ed, real *r) {
  if (eta && !s->inertia_only) {
    mn_mulv_add(D->n, r + 6, D->K, eta);
  }
  if (ed && !s->inertia_only) {
    mn_mulv_add(D->n, r + 6, D->C, ed);
  }
}

void mbg__modal_mass_mul(const mbg__modal_state *s, const real *x, real *y) {
  vn_zero(6 + s->D.n, y);
  add_mass(s->D.n, &s->D, &s->at, x, y);
}

/* (M x)_v alone: the first six */
static void momentum(const mbg__modal_view *D, const mbg__modal_blocks *b, const real *x, real p[6]) {
  v3_cross_add(p, -1, b->mc, x + 3);
  v3_cross_add(p + 3, 1, b->mc, x);
  m3_mulv_add(p + 3, b->J, x + 3);
  for (int k = 0; k < D->n; k++) {
    v3_axpy(p + 3, x[6 + k], b->B + 3 * k);
    v3_axpy(p, x[6 + k], D->I3 + 3 * k);
  }
  v3_axpy(p, D->I1[0], x);
}

/* out -= ad(v)^T p */
static void sub_adT(real out[6], const real v[6], const real p[6]) {
  v3_cross_add(out, -1, p, v + 3);
  v3_cross_add(out + 3, -1, p, v);
  v3_cross_add(out + 3, -1, p + 3, v + 3);
}

void mbg__modal_residual(const mbg__modal_state *s, real *r) {
  const mbg__modal_view *D = &s->D;
  real p[6] = {0};
  vn_zero(6 + D->n, r);
  add_mass(D->n, D, &s->at, s->nud, r);
  add_weight(D, s->at.mc, -1, s->a, r);
  momentum(D, &s->at, s->nu, p);
  sub_adT(r, s->nu, p);
  sub_quadratic(D, s->at.N, s->nu, s->nu, 0.5, r);
  add_rate(D, s->at.N, s->nu + 6, s->nu, r);
  add_elastic(s, D, s->eta, s->nu + 6, r);
}

void mbg__modal_mass_rate(const mbg__modal_state *s, real c, const real *x, real *y) {
  const int n = s->D.n;
  const real *ed = s->nu + 6;
  for (int j = 0; j < n; j++) {
    const real cj = c * ed[j], *I3 = s->D.I3 + 3 * j;
    real Nx[3];
    m3_mulv(Nx, s->at.N + 9 * j, x + 3);
    v3_axpy(y + 3, cj, Nx);
    v3_cross_add(y, -cj, I3, x + 3);
    v3_cross_add(y + 3, cj, I3, x);
    for (int k = 0; k < n; k++) {
      const real *I5 = s->D.I5 + 3 * (n * j + k);
      v3_axpy(y + 3, cj * x[6 + k], I5);
      y[6 + k] += cj * v3_dot(I5, x + 3);
    }
  }
}

/* ---------------------------------------------------------------------- tangent */

/* by the blocks and (dD not NULL) the data */
static void push_data(const mbg__modal_state *s, const mbg__modal_view *dD, const mbg__modal_blocks *b, real *dr) {
  const int n = s->D.n;
  real p[6] = {0}, x[3];
  add_mass(n, dD, b, s->nud, dr);
  v3_cross(x, b->mc, s->a);
  v3_axpy(dr + 3, -1, x);
  if (dD) {
    v3_axpy(dr, -dD->I1[0], s->a);
    for (int j = 0; j < n; j++) {
      dr[6 + j] -= v3_dot(dD->I3 + 3 * j, s->a);
    }
    momentum(dD, b, s->nu, p);
    sub_quadratic(dD, b->N, s->nu, s->nu, 0.5, dr);
    add_rate(dD, b->N, s->nu + 6, s->nu, dr);
    add_elastic(s, dD, s->eta, s->nu + 6, dr);
  } else {
    v3_cross_add(p, -1, b->mc, s->nu + 3);
    v3_cross_add(p + 3, 1, b->mc, s->nu);
    m3_mulv_add(p + 3, b->J, s->nu + 3);
    for (int k = 0; k < n; k++) {
      v3_axpy(p + 3, s->nu[6 + k], b->B + 3 * k);
      m3_mulv(x, b->N + 9 * k, s->nu + 3);
      dr[6 + k] -= 0.5 * v3_dot(s->nu + 3, x);
    }
    rate_of_N(n, b->N, s->nu + 6, s->nu, dr);
  }
  sub_adT(dr, s->nu, p);
}

void mbg__modal_push(const mbg__modal_state *s, const mbg__modal_direction *d, mbg__modal_blocks *work, real *dr) {
  const mbg__modal_view *D = &s->D;
  vn_zero(6 + D->n, dr);
  if (d->deta || d->dD) {
    const mbg__modal_view dD = d->dD ? mbg__modal_of(D->n, d->dD) : (mbg__modal_view){0};
    clear(work, D->n);
    if (d->dD) {
      add_blocks(&dD, s->eta, work);
    }
    if (d->deta) {
      turn_blocks(s, d->deta, work);
      add_elastic(s, D, d->deta, NULL, dr);
    }
    push_data(s, d->dD ? &dD : NULL, work, dr);
  }
  if (d->dnud) {
    add_mass(D->n, D, &s->at, d->dnud, dr);
  }
  if (d->da) {
    add_weight(D, s->at.mc, -1, d->da, dr);
  }
  if (d->dnu) {
    real p[6] = {0};
    momentum(D, &s->at, s->nu, p);
    sub_adT(dr, d->dnu, p);
    v6_zero(p);
    momentum(D, &s->at, d->dnu, p);
    sub_adT(dr, s->nu, p);
    sub_quadratic(D, s->at.N, s->nu, d->dnu, 1, dr);
    add_rate(D, s->at.N, s->nu + 6, d->dnu, dr);
    add_rate(D, s->at.N, d->dnu + 6, s->nu, dr);
    add_elastic(s, D, NULL, d->dnu + 6, dr);
  }
}

/* ---------------------------------------------------------------------- transposed */

/* a flat array of cotangents, by name */
typedef struct {
  real *I1, *I2, *I7, *I3, *I4, *I5, *I6, *I8, *I9, *K, *C;
} bars;

static bars bars_of(int n, real *g) {
  const mbg__modal_layout l = mbg__modal_places(n);
  return (bars){g + l.I1, g + l.I2, g + l.I7, g + l.I3, g + l.I4, g + l.I5,
                g + l.I6, g + l.I8, g + l.I9, g + l.K,  g + l.C};
}

/* cotangents of c x.M y on blocks and data */
static void pull_form(int n, real c, const real *x, const real *y, mbg__modal_blocks *b, const bars *g) {
  v3_cross_add(b->mc, c, x, y + 3);
  v3_cross_add(b->mc, c, y, x + 3);
  m3_outer_add(b->J, c, x + 3, y + 3);
  for (int k = 0; k < n; k++) {
    v3_axpy(b->B + 3 * k, c * y[6 + k], x + 3);
    v3_axpy(b->B + 3 * k, c * x[6 + k], y + 3);
  }
  if (!g) {
    return;
  }
  g->I1[0] += c * v3_dot(x, y);
  for (int k = 0; k < n; k++) {
    v3_axpy(g->I3 + 3 * k, c * y[6 + k], x);
    v3_axpy(g->I3 + 3 * k, c * x[6 + k], y);
    vn_axpy(n, g->I6 + n * k, c * x[6 + k], y + 6);
  }
}

static real form3(const real A[9], const real x[3], const real y[3]) {
  real Ay[3];
  m3_mulv(Ay, A, y);
  return v3_dot(x, Ay);
}

/* from the blocks to eta and data */
static void pull_blocks(const mbg__modal_state *s, const mbg__modal_blocks *b, real *geta, const bars *g) {
  const mbg__modal_view *D = &s->D;
  const int n = D->n;
  for (int j = 0; j < n; j++) {
    const real *N = b->N + 9 * j;
    if (geta) {
      geta[j] +=
          v3_dot(D->I3 + 3 * j, b->mc) + vn_dot(9, s->at.N + 9 * j, b->J) + vn_dot(3 * n, D->I5 + 3 * n * j, b->B);
    }
    for (int k = 0; k < n; k++) {
      if (geta) {
        geta[k] += vn_dot(9, D->I9 + 9 * (n * j + k), N) + vn_dot(9, D->I9 + 9 * (n * k + j), N);
      }
      if (g) {
        m3_axpy(g->I9 + 9 * (n * j + k), s->eta[j] * s->eta[k], b->J);
        m3_axpy(g->I9 + 9 * (n * j + k), s->eta[k], N);
        m3_axpy(g->I9 + 9 * (n * k + j), s->eta[k], N);
      }
    }
    if (g) {
      v3_axpy(g->I3 + 3 * j, s->eta[j], b->mc);
      add_sym(g->I8 + 9 * j, s->eta[j], b->J);
      add_sym(g->I8 + 9 * j, 1, N);
      vn_axpy(3 * n, g->I5 + 3 * n * j, s->eta[j], b->B);
    }
  }
  if (g) {
    v3_axpy(g->I2, 1, b->mc);
    m3_axpy(g->I7, 1, b->J);
    vn_axpy(3 * n, g->I4, 1, b->B);
  }
}

/* z.(sum etad_j M_,j) nu = sum_j etad_j (I3_j.c + z_W.N_j W + sum_k I5_jk.(z_W etad_k + W z_k)),  c = z_U x W + U x
   z_W */
static void pull_rate(const mbg__modal_state *s, const real *z, mbg__modal_blocks *b, real *gnu, const bars *g) {
  const mbg__modal_view *D = &s->D;
  const int n = D->n;
  const real *U = s->nu, *W = s->nu + 3, *ed = s->nu + 6;
  real c[3];
  v3_cross(c, z, W);
  v3_cross_add(c, 1, U, z + 3);
  for (int j = 0; j < n; j++) {
    const real *I3 = D->I3 + 3 * j;
    real x[3];
    m3_outer_add(b->N + 9 * j, ed[j], z + 3, W);
    if (gnu) {
      gnu[6 + j] += v3_dot(I3, c) + form3(s->at.N + 9 * j, z + 3, W);
      v3_cross_add(gnu, ed[j], z + 3, I3);
      v3_cross_add(gnu + 3, ed[j], I3, z);
      m3_mulv_T(x, s->at.N + 9 * j, z + 3);
      v3_axpy(gnu + 3, ed[j], x);
    }
    if (g) {
      v3_axpy(g->I3 + 3 * j, ed[j], c);
    }
    for (int k = 0; k < n; k++) {
      const real *I5 = D->I5 + 3 * (n * j + k);
      if (gnu) {
        gnu[6 + j] += v3_dot(I5, z + 3) * ed[k] + v3_dot(I5, W) * z[6 + k];
        gnu[6 + k] += ed[j] * v3_dot(I5, z + 3);
        v3_axpy(gnu + 3, ed[j] * z[6 + k], I5);
      }
      if (g) {
        v3_axpy(g->I5 + 3 * (n * j + k), ed[j] * ed[k], z + 3);
        v3_axpy(g->I5 + 3 * (n * j + k), ed[j] * z[6 + k], W);
      }
    }
  }
}

/* -sum_j z_j (I3_j.(U x W) + 1/2 W.N_j W + W.sum_k I5_jk etad_k) */
static void pull_quadratic(const mbg__modal_state *s, const real *z, mbg__modal_blocks *b, real *gnu, const bars *g) {
  const mbg__modal_view *D = &s->D;
  const int n = D->n;
  const real *U = s->nu, *W = s->nu + 3, *ed = s->nu + 6;
  for (int j = 0; j < n; j++) {
    const real q = z[6 + j], *I3 = D->I3 + 3 * j;
    real x[3];
    m3_outer_add(b->N + 9 * j, -0.5 * q, W, W);
    if (gnu) {
      v3_cross_add(gnu, -q, W, I3);
      v3_cross_add(gnu + 3, -q, I3, U);
      m3_mulv(x, s->at.N + 9 * j, W);
      v3_axpy(gnu + 3, -0.5 * q, x);
      m3_mulv_T(x, s->at.N + 9 * j, W);
      v3_axpy(gnu + 3, -0.5 * q, x);
    }
    if (g) {
      v3_cross_add(g->I3 + 3 * j, -q, U, W);
    }
    for (int k = 0; k < n; k++) {
      const real *I5 = D->I5 + 3 * (n * j + k);
      if (gnu) {
        v3_axpy(gnu + 3, -q * ed[k], I5);
        gnu[6 + k] -= q * v3_dot(W, I5);
      }
      if (g) {
        v3_axpy(g->I5 + 3 * (n * j + k), -q * ed[k], W);
      }
    }
  }
}

/* -z.M (a, 0, 0) */
static void pull_weight(const mbg__modal_state *s, const real *z, mbg__modal_blocks *b, real *ga, const bars *g) {
  const mbg__modal_view *D = &s->D;
  v3_cross_add(b->mc, -1, s->a, z + 3);
  if (ga) {
    v3_axpy(ga, -D->I1[0], z);
    v3_cross_add(ga, -1, z + 3, s->at.mc);
  }
  if (g) {
    g->I1[0] -= v3_dot(z, s->a);
  }
  for (int j = 0; j < D->n; j++) {
    if (ga) {
      v3_axpy(ga, -z[6 + j], D->I3 + 3 * j);
    }
    if (g) {
      v3_axpy(g->I3 + 3 * j, -z[6 + j], s->a);
    }
  }
}

/* z.(Kf eta + Cf etad) */
static void pull_elastic(const mbg__modal_state *s, const real *z, real *geta, real *gnu, const bars *g) {
  const int n = s->D.n;
  if (geta) {
    mn_mulv_T_add(n, geta, s->D.K, z + 6);
  }
  if (gnu) {
    mn_mulv_T_add(n, gnu + 6, s->D.C, z + 6);
  }
  for (int j = 0; g && j < n; j++) {
    vn_axpy(n, g->K + n * j, z[6 + j], s->eta);
    vn_axpy(n, g->C + n * j, z[6 + j], s->nu + 6);
  }
}

/* -(ad(v) z).(M nu)_v: the form -zt.M nu with zt = (ad(v) z_v, 0), and by v inside ad: ad(z)^T p */
static void pull_gyroscopic(const mbg__modal_state *s, const real *z, mbg__modal_blocks *b, real *gnu, const bars *g) {
  const mbg__modal_view *D = &s->D;
  const real *v = s->nu, *x = s->nu;
  real t[6], p[6] = {0};
  v3_cross(t, v + 3, z);
  v3_cross_add(t, 1, v, z + 3);
  v3_cross(t + 3, v + 3, z + 3);
  if (gnu) {
    momentum(D, &s->at, s->nu, p);
    v3_cross_add(gnu, 1, p, z + 3);
    v3_cross_add(gnu + 3, 1, p, z);
    v3_cross_add(gnu + 3, 1, p + 3, z + 3);
    v6_zero(p);
    /* -M t: t has no modal part */
    v3_axpy(p, D->I1[0], t);
    v3_cross_add(p, -1, s->at.mc, t + 3);
    v3_cross_add(p + 3, 1, s->at.mc, t);
    m3_mulv_add(p + 3, s->at.J, t + 3);
    v6_axpy(gnu, -1, p);
    for (int k = 0; k < D->n; k++) {
      gnu[6 + k] -= v3_dot(D->I3 + 3 * k, t) + v3_dot(s->at.B + 3 * k, t + 3);
    }
  }
  v3_cross_add(b->mc, -1, t, x + 3);
  v3_cross_add(b->mc, -1, x, t + 3);
  m3_outer_add(b->J, -1, t + 3, x + 3);
  for (int k = 0; k < D->n; k++) {
    v3_axpy(b->B + 3 * k, -x[6 + k], t + 3);
    if (g) {
      v3_axpy(g->I3 + 3 * k, -x[6 + k], t);
    }
  }
  if (g) {
    g->I1[0] -= v3_dot(t, x);
  }
}

void mbg__modal_pull(const mbg__modal_state *s, const real *z, mbg__modal_blocks *work, const mbg__modal_gradient *g) {
  const int n = s->D.n;
  const bars own = g->D ? bars_of(n, g->D) : (bars){0}, *b = g->D ? &own : NULL;
  clear(work, n);
  if (g->nud) {
    add_mass(n, &s->D, &s->at, z, g->nud);
  }
  pull_form(n, 1, z, s->nud, work, b);
  pull_gyroscopic(s, z, work, g->nu, b);
  pull_quadratic(s, z, work, g->nu, b);
  pull_rate(s, z, work, g->nu, b);
  pull_weight(s, z, work, g->a, b);
  if (!s->inertia_only) {
    pull_elastic(s, z, g->eta, g->nu, b);
  }
  if (g->eta || b) {
    pull_blocks(s, work, g->eta, b);
  }
}

/* ---------------------------------------------------------------------- energies */

real mbg__modal_kinetic(const mbg__modal_state *s, real *scratch) {
  mbg__modal_mass_mul(s, s->nu, scratch);
  return vn_dot(6 + s->D.n, s->nu, scratch) / 2;
}

void mbg__modal_kinetic_pull(const mbg__modal_state *s, real c, real *scratch, mbg__modal_blocks *work,
                             const mbg__modal_gradient *g) {
  const int n = s->D.n;
  const bars own = g->D ? bars_of(n, g->D) : (bars){0}, *b = g->D ? &own : NULL;
  mbg__modal_mass_mul(s, s->nu, scratch);
  if (g->nu) {
    vn_axpy(6 + n, g->nu, c, scratch);
  }
  clear(work, n);
  pull_form(n, c / 2, s->nu, s->nu, work, b);
  pull_blocks(s, work, g->eta, b);
}

real mbg__modal_strain(const mbg__modal_state *s) {
  real e = 0;
  for (int j = 0; j < s->D.n; j++) {
    e += s->eta[j] * vn_dot(s->D.n, s->D.K + s->D.n * j, s->eta) / 2;
  }
  return e;
}

void mbg__modal_strain_pull(const mbg__modal_state *s, real c, const mbg__modal_gradient *g) {
  const int n = s->D.n;
  const bars own = g->D ? bars_of(n, g->D) : (bars){0};
  if (g->eta) {
    for (int j = 0; j < n; j++) {
      g->eta[j] += c * vn_dot(n, s->D.K + n * j, s->eta);
    }
  }
  for (int j = 0; g->D && j < n; j++) {
    vn_axpy(n, own.K + n * j, c * s->eta[j] / 2, s->eta);
  }
}
