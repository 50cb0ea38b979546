/* Directions down the tree and cotangents up (theory 5, section 4), with markers that depend on attributes at both
   ends:

     theta = Rel^-1 dRel = Ad(hC) (Ad(E^-1) omega_P + e - omega_C)         g = Ad(hC) omega_C,  dSb = ad(g) Sb
     eta = X eta_p + theta                                                  ds = ad(g) s + Sb dw
     nu  = X nu_p + ad(X v_p) theta + ds
     al  = X al_p + ad(X vd_p) theta + ad(g) Sb a + Sb da - ad(s) nu + ad(v) ds
     du  = X du_p + ad(X u_p) theta + ad(g) Sb q + Sb dq                    of u = J q
     df_p += X^T (df - ad(theta)^T f),   dE1 = Sb^T (df + ad(g)^T f) */
#include "tree/tree_internal.h"
#include "tree/tree_modal.h"

#include <string.h>

/* ---------------------------------------------------------------------- frames of the joints */

/* omega of hP or hC in direction da; plain: h = (1, x), omega = (R U, 0) */
static void frame_push(const mbg__tree *t, int marker, bool plain, const real *da, real omega[6]) {
  real x[6] = {0};
  v6_zero(omega);
  if (marker < 0 || !da) {
    return;
  }
  const mbg__placed *h = t->design->markers[marker];
  for (int i = 0; i < h->ndep; i++) {
    v6_axpy(x, da[h->dep[i]], h->omega[i]);
  }
  if (plain) {
    m3_mulv(omega, h->h.R, x);
  } else {
    v6_copy(omega, x);
  }
}

static void frame_pull(const mbg__tree *t, int marker, bool plain, const real c[6], real *ga) {
  real x[6] = {0};
  if (marker < 0 || !ga || t->design->markers[marker]->ndep == 0) {
    return;
  }
  const mbg__placed *h = t->design->markers[marker];
  if (plain) {
    m3_mulv_T(x, h->h.R, c);
  } else {
    v6_copy(x, c);
  }
  marker_attributes_pull(t->sys, marker, x, ga);
}

/* out = X x_p + y */
static void carry_add(const mbg__tree *t, int k, const real *x, const real y[6], real out[6]) {
  const real *p = parent_of(t, k, x);
  if (p) {
    AdInv_mul(out, &t->Rel[k], p);
    v6_axpy(out, 1, y);
  } else {
    v6_copy(out, y);
  }
}

/* ---------------------------------------------------------------------- down */

void mbg__tree_geometry_push(mbg__tree *t, int k, const mbg__tree_direction *d) {
  const mbg__link *l = &t->links[k];
  const int off = link_off(t, k);
  real P[6], C[6], x[6];
  frame_push(t, l->P, l->plain, d->attributes, P);
  frame_push(t, l->C, l->plain, d->attributes, C);
  AdInv_mul(x, &t->E[k], P);
  v6_axpy(x, -1, C);
  if (d->e) {
    v6_axpy(x, 1, d->e + 6 * k);
  }
  Ad_mul(t->theta + off, &t->hC[k], x);
  Ad_mul(t->g + off, &t->hC[k], C);
}

static void link_push(mbg__tree *t, int k, const mbg__tree_direction *d) {
  const int off = link_off(t, k);
  const real *theta = t->theta + off, *g = t->g + off;
  real ds[6], y[6];
  mbg__tree_geometry_push(t, k, d);
  carry_add(t, k, t->eta, theta, t->eta + off);
  ad_mul(ds, g, t->s + off);
  joint_add(t, k, d->dw, ds);
  v6_copy(y, ds);
  ad_add(y, t->Xv + off, theta, 1);
  carry_add(t, k, t->nu, y, t->nu + off);
  ad_mul(y, t->Xvd + off, theta);
  ad_add(y, g, t->sa + off, 1);
  joint_add(t, k, d->da, y);
  ad_add(y, t->s + off, t->nu + off, -1);
  ad_add(y, t->v + off, ds, 1);
  carry_add(t, k, t->al, y, t->al + off);
  if (t->only_q) {
    ad_mul(y, t->Xq + off, theta);
    ad_add(y, g, t->sq + off, 1);
    joint_add(t, k, d->dq, y);
    carry_add(t, k, t->du, y, t->du + off);
  }
}

static void kin_push(mbg__tree *t, const mbg__tree_direction *d) {
  /* modal coordinates first */
  for (int k = 0; t->modal && k < t->m->nbody; k++) {
    if (mbg__tree_carrier(t, k)) {
      link_push(t, k, d);
    }
  }
  for (int k = 0; k < t->m->nbody; k++) {
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_link_push(t, k, d);
    } else {
      link_push(t, k, d);
    }
  }
}

static void copy_out(const mbg__tree *t, const real *x, real *out) {
  if (out) {
    memcpy(out, x, (size_t)t->m->nw * sizeof(real));
  }
}

void mbg__tree_kin_push(mbg__tree *t, const mbg__tree_direction *d, real *w, real *dv, real *dvd) {
  kin_push(t, d);
  copy_out(t, t->eta, w);
  copy_out(t, t->nu, dv);
  copy_out(t, t->al, dvd);
}

/* ---------------------------------------------------------------------- up */

static bool marker_wanted(const mbg__tree *t, int marker) { return marker >= 0 && t->sys->marker_wanted[marker]; }

void mbg__tree_handle_pull(const mbg__tree *t, int k, bool child, const real c[6], real *ga) {
  const mbg__link *l = &t->links[k];
  const int marker = child ? l->C : l->P;
  if (marker_wanted(t, marker)) {
    frame_pull(t, marker, l->plain, c, ga);
  }
}

void mbg__tree_sum_handles(mbg__tree *t, real *sums) { t->handles = sums; }

void mbg__tree_handles_pull(const mbg__tree *t, const real *sums, real *ga) {
  for (int k = 0; k < t->m->nbody; k++) {
    mbg__tree_handle_pull(t, k, false, sums + 12 * (size_t)k, ga);
    mbg__tree_handle_pull(t, k, true, sums + 12 * (size_t)k + 6, ga);
  }
}

/* cotangent c of a handle: to the attributes, or to the sums */
static void handle_pull(const mbg__tree *t, int k, bool child, const real c[6], real *ga) {
  const mbg__link *l = &t->links[k];
  if (t->handles) {
    v6_axpy(t->handles + 12 * (size_t)k + (child ? 6 : 0), 1, c);
  } else {
    frame_pull(t, child ? l->C : l->P, l->plain, c, ga);
  }
}

void mbg__tree_geometry_pull(const mbg__tree *t, int k, const real ct[6], const real cg[6], real *ge, real *gattr) {
  const mbg__link *l = &t->links[k];
  real ce[6], c[6], x[6];
  AdT_mul(ce, &t->hC[k], ct);
  if (ge) {
    v6_axpy(ge + 6 * k, 1, ce);
  }
  if (gattr && marker_wanted(t, l->P)) {
    AdInvT_mul(c, &t->E[k], ce);
    handle_pull(t, k, false, c, gattr);
  }
  if (gattr && marker_wanted(t, l->C)) {
    AdT_mul(x, &t->hC[k], cg);
    v6_axpy(x, -1, ce);
    handle_pull(t, k, true, x, gattr);
  }
}

/* from cotangents in eta, nu, al (and du) of all bodies, ct and cg of the geometry to coordinates and attributes;
   rates, accelerations: nu, al are not 0 */
static void link_pull(mbg__tree *t, int k, bool rates, bool accelerations, const mbg__tree_gradient *o) {
  const mbg__link *l = &t->links[k];
  const int off = link_off(t, k);
  const bool C = o->attributes && marker_wanted(t, l->C);
  real *ct = t->ct + off, *cg = t->cg + off, *al = t->al + off, *nu = t->nu + off, ds[6] = {0};
  if (accelerations) {
    carry_T(t, k, 1, al, t->al);
    adT_add(ct, t->Xvd + off, al, 1);
    joint_add_T(t, k, al, o->a);
    adT_add(nu, t->s + off, al, -1);
    adT_mul(ds, t->v + off, al);
    if (C) {
      adT_add(cg, t->sa + off, al, -1);
    }
  }
  if (rates) {
    carry_T(t, k, 1, nu, t->nu);
    adT_add(ct, t->Xv + off, nu, 1);
    v6_axpy(ds, 1, nu);
    joint_add_T(t, k, ds, o->w);
    if (C) {
      adT_add(cg, t->s + off, ds, -1);
    }
  }
  /* u = J q */
  if (t->only_q) {
    const real *du = t->du + off;
    carry_T(t, k, 1, du, t->du);
    adT_add(ct, t->Xq + off, du, 1);
    joint_add_T(t, k, du, o->q);
    if (C) {
      adT_add(cg, t->sq + off, du, -1);
    }
  }
  /* eta, then the frames */
  carry_T(t, k, 1, t->eta + off, t->eta);
  v6_axpy(ct, 1, t->eta + off);
  mbg__tree_geometry_pull(t, k, ct, cg, o->e, o->attributes);
}

static void kin_pull(mbg__tree *t, bool rates, bool accelerations, const mbg__tree_gradient *o) {
  for (int k = t->m->nbody - 1; k >= 0; k--) {
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_link_pull(t, k, o);
    } else if (!t->modal || !mbg__tree_carrier(t, k)) {
      link_pull(t, k, rates || accelerations, accelerations, o);
    }
  }
  for (int k = 0; t->modal && k < t->m->nbody; k++) {
    if (mbg__tree_carrier(t, k)) {
      link_pull(t, k, true, true, o);
    }
  }
}

static void copy_in(const mbg__tree *t, const real *x, real *to) {
  if (x) {
    memcpy(to, x, (size_t)t->m->nw * sizeof(real));
  } else {
    memset(to, 0, (size_t)t->m->nw * sizeof(real));
  }
}

void mbg__tree_kin_pull(mbg__tree *t, const real *w, const real *dv, const real *dvd, real *ge, real *gw, real *ga,
                        real *gattr) {
  const mbg__tree_gradient o = {.e = ge, .w = gw, .a = ga, .attributes = gattr};
  const bool only_q = t->only_q;
  t->only_q = false; /* without u = J q */
  copy_in(t, w, t->eta);
  copy_in(t, dv, t->nu);
  copy_in(t, dvd, t->al);
  copy_in(t, NULL, t->ct);
  copy_in(t, NULL, t->cg);
  kin_pull(t, dv != NULL, dvd != NULL, &o);
  t->only_q = only_q;
}

/* ---------------------------------------------------------------------- reading joints from bodies */

/* e = Ad(hC^-1) theta - Ad(E^-1) omega_P + omega_C,  dw = P Ad(hC^-1) (nu - X nu_p - ad(X v_p) theta - ad(g) s) */
void mbg__tree_read_push(mbg__tree *t, const real *w, const real *dv, const real *da, real *e, real *dw) {
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    const int off = link_off(t, k);
    real theta[6], x[6], P[6], C[6], g[6];
    relative(t, k, w, theta);
    relative(t, k, dv, x);
    frame_push(t, l->P, l->plain, da, P);
    frame_push(t, l->C, l->plain, da, C);
    Ad_mul(g, &t->hC[k], C);
    ad_add(x, t->Xv + off, theta, -1);
    ad_add(x, g, t->s + off, -1);
    AdInv_mul(e + 6 * k, &t->hC[k], theta);
    v6_axpy(e + 6 * k, 1, C);
    AdInv_mul(C, &t->E[k], P);
    v6_axpy(e + 6 * k, -1, C);
    AdInv_mul(g, &t->hC[k], x);
    for (int i = 0; i < l->nz; i++) {
      dw[l->first + i] = g[l->comp[i]];
    }
  }
}

void mbg__tree_read_pull(mbg__tree *t, const real *ge, const real *gw_joint, real *gw, real *gv, real *ga) {
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__link *l = &t->links[k];
    const int off = link_off(t, k);
    const real *ce = ge + 6 * k;
    real y[6], b[6], ct[6], cg[6], c[6], x[6];
    mbg__link_twist(l, gw_joint, y);
    AdInvT_mul(b, &t->hC[k], y);
    AdInvT_mul(ct, &t->hC[k], ce);
    adT_add(ct, t->Xv + off, b, -1);
    adT_mul(cg, t->s + off, b);
    v6_axpy(gw + off, 1, ct);
    v6_axpy(gv + off, 1, b);
    carry_T(t, k, -1, ct, gw);
    carry_T(t, k, -1, b, gv);
    AdInvT_mul(c, &t->E[k], ce);
    v6_scale(c, -1, c);
    frame_pull(t, l->P, l->plain, c, ga);
    AdT_mul(x, &t->hC[k], cg);
    v6_axpy(x, 1, ce);
    frame_pull(t, l->C, l->plain, x, ga);
  }
}

/* ---------------------------------------------------------------------- residual */

/* dF += d(M u) of modal bodies and beams */
static void coupled_push(mbg__tree *t, const real *da, real *dF) {
  vn_zero(t->m->nw, t->ct);
  mbg__beams_mass_mul(t->sys, t->du, t->ct);
  mbg__modals_mass_mul(t->sys, t->du, t->ct);
  mbg__beams_mass_push(t->sys, t->u, da, t->ct);
  mbg__modals_mass_push(t->sys, t->u, t->eta, da, t->ct);
  for (int i = 0; i < t->m->nw; i++) {
    dF[i] += t->m->dof[i] >= 0 ? t->ct[i] : 0;
  }
}

/* dF += M du + M_a da u */
static void inertia_push(const mbg__tree *t, const real *da, real *dF) {
  for (int b = 0; b < t->m->nbody; b++) {
    const mbg__body *body = &t->m->bodies[b];
    const int off = body->voff;
    real c[6], x[6];
    m6_mulv_T(c, t->design->M + 36 * b, t->du + off); /* M^T = M */
    for (int i = 0; da && i < body->nattr; i++) {
      if (da[body->attr + i] != 0) {
        m6_mulv(x, t->design->M_a[b] + 36 * i, t->u + off);
        v6_axpy(c, da[body->attr + i], x);
      }
    }
    for (int i = 0; i < 6; i++) {
      dF[off + i] += t->m->dof[off + i] >= 0 ? c[i] : 0;
    }
  }
}

/* dE1 of a link from the change of its wrench in dr, which goes on to the parent */
static void wrench_push(mbg__tree *t, int k, real *dE1) {
  const mbg__link *l = &t->links[k];
  const int off = link_off(t, k);
  real y[6];
  v6_copy(y, t->dr + off);
  adT_add(y, t->g + off, t->f + off, 1);
  for (int i = 0; i < l->nz; i++) {
    dE1[l->first + i] = v6_dot(t->Sb[l->first + i], y);
  }
  v6_copy(y, t->dr + off);
  adT_add(y, t->theta + off, t->f + off, -1);
  carry_T(t, k, 1, y, t->dr);
}

void mbg__tree_push(mbg__tree *t, const mbg__tree_direction *d, real *dE1, real *dphi, real *dphid, real *dphidd) {
  kin_push(t, d);
  spread_rows(t, d->dlambda, t->row0);
  const mbg__direction x = {
      .w = t->eta, .dv = t->nu, .dvd = t->al, .dlambda = d->dlambda ? t->row0 : NULL, .da = d->attributes};
  mbg__system_push(t->sys, &x, dE1 ? t->dr : NULL, t->row1, t->row2, t->row3);
  pick_rows(t, t->row1, dphi);
  pick_rows(t, t->row2, dphid);
  pick_rows(t, t->row3, dphidd);
  if (!dE1) {
    return;
  }
  if (t->only_q) {
    inertia_push(t, d->attributes, t->dr);
  }
  if (t->only_q && t->coupled) {
    coupled_push(t, d->attributes, t->dr);
  }
  for (int k = t->m->nbody - 1; k >= 0; k--) {
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_wrench_push(t, k, d, t->eta, t->f + link_off(t, k), t->dr, dE1);
    } else if (!t->modal || !mbg__tree_carrier(t, k)) {
      wrench_push(t, k, dE1);
    }
  }
  for (int k = 0; t->modal && k < t->m->nbody; k++) {
    if (mbg__tree_carrier(t, k)) {
      wrench_push(t, k, dE1);
    }
  }
}

/* test twists z = X z_p + Sb mu in dr, and the part of the geometry: f . (ad(X z_p) theta + ad(g) Sb mu) */
static void test_twist(mbg__tree *t, int k, const real *mu) {
  const int off = link_off(t, k);
  real s[6], x[6];
  joint_twist(t, k, mu, s);
  carried(t, k, t->dr, x);
  v6_add(t->dr + off, x, s);
  adT_mul(t->ct + off, x, t->f + off);
  adT_mul(t->cg + off, s, t->f + off);
  v6_scale(t->cg + off, -1, t->cg + off);
}

static void test_twists(mbg__tree *t, const real *mu, const mbg__tree_gradient *g) {
  for (int k = 0; t->modal && k < t->m->nbody; k++) {
    if (mbg__tree_carrier(t, k)) {
      test_twist(t, k, mu);
    }
  }
  for (int k = 0; k < t->m->nbody; k++) {
    if (mbg__tree_on_modes(t, k)) {
      mbg__tree_modal_forward(t, k, mu, NULL, t->dr);
      mbg__tree_modal_test_pull(t, k, t->f + link_off(t, k), t->dr, g);
    } else {
      test_twist(t, k, mu);
    }
  }
}

/* z . M u of modal bodies and beams: adds to the cotangents of u, of modes and of attributes */
static void coupled_pull(mbg__tree *t, real *ga) {
  for (int i = 0; i < t->m->nw; i++) {
    t->dr[i] = t->m->dof[i] >= 0 ? t->dr[i] : 0;
  }
  mbg__beams_mass_mul(t->sys, t->dr, t->du);
  mbg__modals_mass_mul(t->sys, t->dr, t->du);
  mbg__beams_mass_pull(t->sys, t->u, t->dr, ga);
  mbg__modals_mass_pull(t->sys, t->u, t->dr, t->eta, ga);
}

/* z . M u: cotangent of u, and of the attributes of the bodies */
static void inertia_pull(mbg__tree *t, real *ga) {
  for (int b = 0; b < t->m->nbody; b++) {
    const mbg__body *body = &t->m->bodies[b];
    const int off = body->voff;
    real z[6], x[6];
    for (int i = 0; i < 6; i++) {
      z[i] = t->m->dof[off + i] >= 0 ? t->dr[off + i] : 0;
    }
    m6_mulv_T(t->du + off, t->design->M + 36 * b, z);
    for (int i = 0; ga && i < body->nattr; i++) {
      if (wanted(t->sys, body->attr + i)) {
        m6_mulv(x, t->design->M_a[b] + 36 * i, t->u + off);
        ga[body->attr + i] += v6_dot(z, x);
      }
    }
  }
}

void mbg__tree_pull(mbg__tree *t, const mbg__tree_weights *k, const mbg__tree_gradient *g) {
  copy_in(t, NULL, t->eta);
  copy_in(t, NULL, t->nu);
  copy_in(t, NULL, t->al);
  copy_in(t, NULL, t->du);
  copy_in(t, NULL, t->ct);
  copy_in(t, NULL, t->cg);
  spread_rows(t, k->k0, t->row0);
  spread_rows(t, k->k1, t->row1);
  spread_rows(t, k->k2, t->row2);
  if (k->mu) {
    test_twists(t, k->mu, g);
  }
  if (g->lambda) {
    vn_zero(t->m->nrow, t->row3);
  }
  mbg__system_pull(t->sys, k->mu ? t->dr : NULL, k->k0 ? t->row0 : NULL, k->k1 ? t->row1 : NULL, k->k2 ? t->row2 : NULL,
                   t->eta, t->nu, t->al, g->lambda ? t->row3 : NULL, g->attributes);
  pick_rows(t, t->row3, g->lambda);
  if (k->mu && t->only_q) {
    inertia_pull(t, g->attributes);
  }
  if (k->mu && t->only_q && t->coupled) {
    coupled_pull(t, g->attributes);
  }
  const bool whole = k->mu && !t->only_q;
  kin_pull(t, whole || k->k1, whole || k->k2, g);
}
