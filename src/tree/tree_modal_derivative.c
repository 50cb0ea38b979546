/* Directions and cotangents through joints on modal bodies. */
#include "tree/tree_modal.h"

/* ---------------------------------------------------------------------- the linear part */

/* out += x, x <- 0 */
static void scatter_modes(const mbg__tree *t, int modal, real *x, real *out) {
  for (int j = 0; j < t->m->modals[modal].n; j++) {
    out[mode_at(t, modal, j)] += x[j];
    x[j] = 0;
  }
}

/* J y of a vector of bodies */
static void end_mul(const mbg__tree *t, const mbg__tree_end *x, const real *y, real out[6]) {
  const real *v = of_body(t, x, y);
  v6_zero(out);
  if (x->modal >= 0) {
    real *modes = t->modal->geta[x->modal];
    gather_modes(t, x->modal, y, modes);
    mbg__modal_marker_mul(&x->m, v, modes, out);
    vn_zero(t->m->modals[x->modal].n, modes);
  } else if (v) {
    AdInv_mul(out, &t->design->markers[x->marker]->h, v);
  }
}

/* y += c J^T f */
static void end_mul_T(const mbg__tree *t, const mbg__tree_end *x, real c, const real f[6], real *y) {
  if (x->body < 0) {
    return;
  }
  real *v = y + t->m->bodies[x->body].voff;
  if (x->modal >= 0) {
    real *modes = t->modal->geta[x->modal];
    mbg__modal_marker_mul_T(&x->m, c, f, v, modes);
    scatter_modes(t, x->modal, modes, y);
  } else {
    real z[6];
    AdInvT_mul(z, &t->design->markers[x->marker]->h, f);
    v6_axpy(v, c, z);
  }
}

void mbg__tree_modal_change(const mbg__tree *t, int k, const real *dvd, const real *kC, real *da) {
  const mbg__link *l = &t->links[k];
  const mbg__tree_modal_joint *b = t->modal->link[k];
  real C[6], P[6], x[6];
  end_mul(t, &b->C, dvd, C);
  end_mul(t, &b->P, dvd, P);
  AdInv_mul(x, &t->E[k], P);
  for (int i = 0; i < l->nz; i++) {
    const int c = l->comp[i];
    da[l->first + i] = C[c] - x[c] - kC[c];
  }
}

void mbg__tree_modal_change_T(const mbg__tree *t, int k, const real *ga, real *q, real *kC) {
  const mbg__tree_modal_joint *b = t->modal->link[k];
  real f[6], x[6];
  mbg__link_twist(&t->links[k], ga, f);
  end_mul_T(t, &b->C, 1, f, q);
  AdInvT_mul(x, &t->E[k], f);
  end_mul_T(t, &b->P, -1, x, q);
  v6_scale(kC, -1, f);
}

/* ---------------------------------------------------------------------- ends: variations */

/* omega of the marker, and its modal columns, in direction da */
static void end_geometry(const mbg__tree *t, mbg__tree_end *x, const real *da, real omega[6], const real **dP) {
  const mbg__placed *h = t->design->markers[x->marker];
  v6_zero(omega);
  *dP = NULL;
  if (!da) {
    return;
  }
  for (int i = 0; i < h->ndep; i++) {
    v6_axpy(omega, da[h->dep[i]], h->omega[i]);
  }
  real *own = t->modal->dP ? t->modal->dP : x->dP;
  if (x->modal >= 0 && mbg__modal_map_push(&t->design->handles[x->marker].map, da, 6 * x->m.n, own)) {
    *dP = own;
  }
}

static void geometry_pull(const mbg__tree *t, const mbg__tree_end *x, const real omega[6], const real *gP, real *ga) {
  const mbg__placed *h = t->design->markers[x->marker];
  if (!ga) {
    return;
  }
  for (int i = 0; i < h->ndep; i++) {
    ga[h->dep[i]] += wanted(t->sys, h->dep[i]) ? v6_dot(h->omega[i], omega) : 0;
  }
  if (x->modal >= 0) {
    mbg__modal_map_pull(&t->design->handles[x->marker].map, gP, ga);
  }
}

/* w_m, dv_m and, without the rates of the bodies, dvd_m in a direction of the body (NULL: 0) and its modes; rates: also
   in that of the modes' rates */
static void end_push(mbg__tree *t, mbg__tree_end *x, const real *w, const real *dv, bool rates, const real *da,
                     real out[3][6]) {
  const real *wb = of_body(t, x, w), *vb = of_body(t, x, dv), *dP;
  real omega[6], y[6];
  end_geometry(t, x, da, omega, &dP);
  if (x->modal >= 0) {
    const mbg__modal_marker_direction d = {.w = wb,
                                           .dv = vb,
                                           .deta = t->modal->deta[x->modal],
                                           .detad = rates ? t->modal->detad[x->modal] : NULL,
                                           .omega = omega,
                                           .dP = dP};
    mbg__modal_marker_change change;
    mbg__modal_marker_push(&x->m, &d, &change, out[0], out[1], out[2]);
    return;
  }
  v6_copy(out[0], omega);
  ad_mul(out[1], x->v, omega);
  ad_mul(out[2], x->vd, omega);
  if (wb) {
    AdInv_mul(y, &t->design->markers[x->marker]->h, wb);
    v6_axpy(out[0], 1, y);
  }
  if (vb) {
    AdInv_mul(y, &t->design->markers[x->marker]->h, vb);
    v6_axpy(out[1], 1, y);
  }
}

/* transposed: adds to w, dv (vectors of bodies, NULL: not wanted), to the cotangents of the modes and (rates) of their
   rates, and to attributes; g[1], g[2] may be NULL */
static void end_pull(mbg__tree *t, mbg__tree_end *x, const real *g[3], real *w, real *dv, bool rates, real *ga) {
  static const real none[6] = {0};
  real omega[6] = {0}, y[6];
  real *wb = x->body >= 0 && w ? w + t->m->bodies[x->body].voff : NULL;
  real *vb = x->body >= 0 && dv ? dv + t->m->bodies[x->body].voff : NULL;
  if (x->modal >= 0) {
    vn_zero(6 * x->m.n, x->gP);
    const mbg__modal_marker_gradient out = {.w = wb,
                                            .dv = vb,
                                            .deta = t->modal->geta[x->modal],
                                            .detad = rates ? t->modal->getad[x->modal] : NULL,
                                            .omega = omega,
                                            .dP = x->gP};
    mbg__modal_marker_pull(&x->m, g[0] ? g[0] : none, g[1], g[2], &out);
    geometry_pull(t, x, omega, x->gP, ga);
    return;
  }
  if (g[0]) {
    v6_copy(omega, g[0]);
    if (wb) {
      AdInvT_mul(y, &t->design->markers[x->marker]->h, g[0]);
      v6_axpy(wb, 1, y);
    }
  }
  for (int i = 1; i < 3; i++) {
    if (g[i]) {
      adT_mul(y, i == 1 ? x->v : x->vd, g[i]);
      v6_axpy(omega, 1, y);
    }
  }
  if (g[1] && vb) {
    AdInvT_mul(y, &t->design->markers[x->marker]->h, g[1]);
    v6_axpy(vb, 1, y);
  }
  geometry_pull(t, x, omega, NULL, ga);
}

static void take_directions(mbg__tree *t, const mbg__tree_modal_joint *b, const real *w, const real *dv) {
  const int modal[2] = {b->P.modal, b->C.modal};
  for (int i = 0; i < 2; i++) {
    if (modal[i] >= 0) {
      gather_modes(t, modal[i], w, t->modal->deta[modal[i]]);
      gather_modes(t, modal[i], dv, t->modal->detad[modal[i]]);
    }
  }
}

/* cotangents of the modes of both ends to their carriers */
static void scatter_cotangents(mbg__tree *t, const mbg__tree_modal_joint *b, real *w, real *dv) {
  const int modal[2] = {b->P.modal, b->C.modal};
  for (int i = 0; i < 2; i++) {
    if (modal[i] >= 0) {
      scatter_modes(t, modal[i], t->modal->geta[modal[i]], w);
      scatter_modes(t, modal[i], t->modal->getad[modal[i]], dv);
    }
  }
}

/* the twist of an end with u = vd in place of v: J u, kept in x->vd, and back again */
static void end_as_u(mbg__tree *t, mbg__tree_end *x) {
  mbg__tree_end_twist(t, x, t->modal->vd, t->modal->etadd, x->vd);
}

static void end_as_v(mbg__tree *t, mbg__tree_end *x) { mbg__tree_end_twist(t, x, t->v, t->modal->etad, x->v); }

/* d(J u) with the body held */
static void end_rest(mbg__tree *t, mbg__tree_end *x, const real *da, real rest[6]) {
  real out[3][6], v[6];
  if (x->modal < 0) {
    /* x->vd = J u serves as the twist */
    v6_copy(v, x->v);
    v6_copy(x->v, x->vd);
    end_push(t, x, NULL, NULL, false, da, out);
    v6_copy(x->v, v);
  } else {
    end_as_u(t, x);
    end_push(t, x, NULL, NULL, false, da, out);
    end_as_v(t, x);
  }
  v6_copy(rest, out[1]);
}

static void end_rest_pull(mbg__tree *t, mbg__tree_end *x, const real g[6], real *ga) {
  const real *cotangents[3] = {NULL, g, NULL};
  real v[6];
  if (x->modal < 0) {
    v6_copy(v, x->v);
    v6_copy(x->v, x->vd);
    end_pull(t, x, cotangents, NULL, NULL, false, ga);
    v6_copy(x->v, v);
  } else {
    end_as_u(t, x);
    end_pull(t, x, cotangents, NULL, NULL, false, ga);
    end_as_v(t, x);
  }
}

/* ---------------------------------------------------------------------- links: variations */

void mbg__tree_modal_push(mbg__tree *t, int k, const mbg__tree_direction *d, bool still, real *w, real *dv, real *kC) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  const int off = link_off(t, k);
  const real *da = d->attributes;
  static const real none[6] = {0};
  const real *e = d->e ? d->e + 6 * k : none;
  real P[3][6], C[3][6], wC[6], dvC[6], x[6], Sdw[6];
  take_directions(t, b, w, dv);
  end_push(t, &b->P, w, dv, true, da, P);
  mbg__link_twist(&t->links[k], d->dw, Sdw);
  AdInv_mul(wC, &t->E[k], P[0]);
  v6_axpy(wC, 1, e);
  AdInv_mul(dvC, &t->E[k], P[1]);
  ad_add(dvC, b->XvP, e, 1);
  v6_axpy(dvC, 1, Sdw);
  /* the body from its marker */
  end_push(t, &b->C, NULL, NULL, true, da, C);
  v6_sub(x, wC, C[0]);
  Ad_mul(w + off, &t->hC[k], x);
  v6_sub(x, dvC, C[1]);
  Ad_mul(dv + off, &t->hC[k], x);
  if (still) {
    end_rest(t, &b->P, da, P[2]);
    end_rest(t, &b->C, da, C[2]);
    AdInv_mul(b->XvdP, &t->E[k], b->P.vd); /* J_P u alone, without the parts of the twists */
  } else {
    end_push(t, &b->C, w, dv, true, da, C);
  }
  ad_mul(kC, b->XvdP, e);
  AdInv_mul(x, &t->E[k], P[2]);
  v6_axpy(kC, 1, x);
  v6_axpy(kC, -1, C[2]);
  if (!still) {
    ad_add(kC, b->w, dvC, -1);
    ad_add(kC, b->vC, Sdw, 1);
  }
}

static bool is_zero(const real x[6]) {
  return x[0] == 0 && x[1] == 0 && x[2] == 0 && x[3] == 0 && x[4] == 0 && x[5] == 0;
}

/* k of the joint: the rates of its ends */
static void rates_pull(mbg__tree *t, int k, const real *kC, const real up[6], bool still, real *dv, real *gattr) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  real minus[6];
  if (still && is_zero(kC)) {
    return;
  }
  v6_scale(minus, -1, kC);
  if (still) {
    end_rest_pull(t, &b->C, minus, gattr);
    end_rest_pull(t, &b->P, up, gattr);
    AdInv_mul(b->XvdP, &t->E[k], b->P.vd);
  } else {
    const real *rest[3] = {NULL, NULL, minus};
    end_pull(t, &b->C, rest, NULL, dv, true, gattr);
  }
}

/* own: also the part of dv of the link that comes from its rate, and w, dv of the parent */
static void joint_pull(mbg__tree *t, int k, const real *kC, bool still, bool own, real *w, real *dv, real *ge, real *gw,
                       real *gattr) {
  const mbg__link *l = &t->links[k];
  mbg__tree_modal_joint *b = t->modal->link[k];
  const int off = link_off(t, k);
  real up[6], wC[6], dvC[6], ce[6], cdw[6], x[6], y[6], z[6];
  AdInvT_mul(up, &t->E[k], kC);
  rates_pull(t, k, kC, up, still, own ? dv : NULL, gattr);
  /* the body from its marker */
  AdT_mul(wC, &t->hC[k], w + off);
  AdT_mul(dvC, &t->hC[k], dv + off);
  v6_scale(x, -1, wC);
  v6_scale(y, -1, dvC);
  const real *inverse[3] = {x, y, NULL};
  end_pull(t, &b->C, inverse, NULL, NULL, true, gattr);
  /* the joint */
  adT_mul(ce, b->XvdP, kC);
  v6_zero(cdw);
  if (!still) {
    adT_add(dvC, b->w, kC, -1);
    adT_add(cdw, b->vC, kC, 1);
  }
  adT_add(ce, b->XvP, dvC, 1);
  v6_axpy(ce, 1, wC);
  v6_axpy(cdw, 1, dvC);
  for (int i = 0; gw && i < l->nz; i++) {
    gw[l->first + i] += cdw[l->comp[i]];
  }
  if (ge) {
    v6_axpy(ge + 6 * k, 1, ce);
  }
  AdInvT_mul(y, &t->E[k], wC);
  AdInvT_mul(z, &t->E[k], dvC);
  const real *parent[3] = {y, z, still ? NULL : up};
  end_pull(t, &b->P, parent, own ? w : NULL, own ? dv : NULL, true, gattr);
  scatter_cotangents(t, b, w, dv);
}

void mbg__tree_modal_pull(mbg__tree *t, int k, const real *kC, bool still, real *w, real *dv, real *ge, real *gw,
                          real *gattr) {
  joint_pull(t, k, kC, still, true, w, dv, ge, gw, gattr);
}

/* The rate of a marker contains -ad(s) vE, with the twists s of the modes and vE of the body. */
void mbg__tree_modal_pull_up(const mbg__tree *t, int k, const real *kC, bool still, real nu[6], real parent[6]) {
  const mbg__tree_modal_joint *b = t->modal->link[k];
  real x[6], y[6], z[6];
  v6_zero(parent);
  if (still) {
    return;
  }
  if (b->C.modal >= 0) {
    adT_mul(x, b->C.m.s, kC);
    AdInvT_mul(y, &t->hC[k], x);
    v6_axpy(nu, 1, y);
  }
  adT_mul(x, b->w, kC);
  AdInvT_mul(z, &t->E[k], x);
  if (b->P.modal >= 0) {
    AdInvT_mul(x, &t->E[k], kC);
    adT_add(z, b->P.m.s, x, 1);
  }
  AdInvT_mul(parent, &t->hP[k], z);
  v6_scale(parent, -1, parent);
}

void mbg__tree_modal_pull_rest(mbg__tree *t, int k, const real *kC, bool still, real *w, real *dv, real *ge, real *gw,
                               real *gattr) {
  joint_pull(t, k, kC, still, false, w, dv, ge, gw, gattr);
}

void mbg__tree_modal_read_push(mbg__tree *t, int k, const real *w, const real *dv, const real *da, real *e, real *dw) {
  const mbg__link *l = &t->links[k];
  mbg__tree_modal_joint *b = t->modal->link[k];
  real P[3][6], C[3][6], x[6];
  take_directions(t, b, w, dv);
  end_push(t, &b->P, w, dv, true, da, P);
  end_push(t, &b->C, w, dv, true, da, C);
  AdInv_mul(x, &t->E[k], P[0]);
  v6_sub(e + 6 * k, C[0], x);
  AdInv_mul(x, &t->E[k], P[1]);
  ad_add(x, b->XvP, e + 6 * k, 1);
  for (int i = 0; i < l->nz; i++) {
    dw[l->first + i] = C[1][l->comp[i]] - x[l->comp[i]];
  }
}

void mbg__tree_modal_read_pull(mbg__tree *t, int k, const real *ge, const real *gw_joint, real *gw, real *gv,
                               real *ga) {
  mbg__tree_modal_joint *b = t->modal->link[k];
  real f[6], ce[6], x[6], y[6];
  mbg__link_twist(&t->links[k], gw_joint, f);
  v6_copy(ce, ge + 6 * k);
  adT_add(ce, b->XvP, f, -1);
  const real *C[3] = {ce, f, NULL};
  end_pull(t, &b->C, C, gw, gv, true, ga);
  AdInvT_mul(x, &t->E[k], ce);
  AdInvT_mul(y, &t->E[k], f);
  v6_scale(x, -1, x);
  v6_scale(y, -1, y);
  const real *P[3] = {x, y, NULL};
  end_pull(t, &b->P, P, gw, gv, true, ga);
  scatter_cotangents(t, b, gw, gv);
}

/* ---------------------------------------------------------------------- sweeps over the tree */

/* y += c Psi x of the modes in a vector of bodies */
static void modes_add(const mbg__tree *t, const mbg__tree_end *x, double c, const real *y, real out[6]) {
  for (int j = 0; x->modal >= 0 && j < x->m.n; j++) {
    v6_axpy(out, c * y[mode_at(t, x->modal, j)], x->m.Psi + 6 * j);
  }
}

void mbg__tree_modal_forward(const mbg__tree *t, int k, const real *x, const real *c, real *y) {
  const mbg__tree_modal_joint *b = t->modal->link[k];
  real P[6], C[6], own[6];
  end_mul(t, &b->P, y, P);
  AdInv_mul(C, &t->E[k], P);
  mbg__link_twist(&t->links[k], x, own);
  v6_axpy(C, 1, own);
  if (c) {
    v6_axpy(C, 1, c);
  }
  modes_add(t, &b->C, -1, y, C);
  Ad_mul(y + link_off(t, k), &t->hC[k], C);
}

void mbg__tree_modal_backward(const mbg__tree *t, int k, real *y, real *x, real c[6]) {
  const mbg__link *l = &t->links[k];
  const mbg__tree_modal_joint *b = t->modal->link[k];
  real P[6];
  AdT_mul(c, &t->hC[k], y + link_off(t, k));
  for (int i = 0; x && i < l->nz; i++) {
    x[l->first + i] += c[l->comp[i]];
  }
  for (int j = 0; b->C.modal >= 0 && j < b->C.m.n; j++) {
    y[mode_at(t, b->C.modal, j)] -= v6_dot(b->C.m.Psi + 6 * j, c);
  }
  AdInvT_mul(P, &t->E[k], c);
  end_mul_T(t, &b->P, 1, P, y);
}

/* variation eps of an end's frame by attributes and, in w, its modes */
static void end_change(mbg__tree *t, mbg__tree_end *x, const real *da, const real *w, real omega[6],
                       mbg__modal_marker_direction *d, mbg__modal_marker_change *change) {
  const real *dP;
  real out[3][6];
  end_geometry(t, x, da, omega, &dP);
  v6_copy(change->eps, omega);
  if (x->modal >= 0) {
    gather_modes(t, x->modal, w, t->modal->deta[x->modal]);
    *d = (mbg__modal_marker_direction){.deta = t->modal->deta[x->modal], .omega = omega, .dP = dP};
    mbg__modal_marker_push(&x->m, d, change, out[0], out[1], out[2]);
  }
}

/* dr += c d(J^T f); body false: of the modes alone */
static void end_wrench_push(mbg__tree *t, mbg__tree_end *x, const mbg__modal_marker_direction *d,
                            const mbg__modal_marker_change *change, double c, const real f[6], const real df[6],
                            bool body, real *dr) {
  real y[6] = {0}, z[6];
  if (x->modal >= 0) {
    mbg__modal_marker_wrench_push(&x->m, d, change, c, f, df, y, t->modal->geta[x->modal]);
    scatter_modes(t, x->modal, t->modal->geta[x->modal], dr);
  } else {
    adT_mul(z, change->eps, f);
    v6_sub(z, df, z);
    AdInvT_mul(y, &t->design->markers[x->marker]->h, z);
    v6_scale(y, c, y);
  }
  if (body && x->body >= 0) {
    v6_axpy(dr + t->m->bodies[x->body].voff, 1, y);
  }
}

void mbg__tree_modal_wrench_push(mbg__tree *t, int k, const mbg__tree_direction *d, const real *w, const real f[6],
                                 real *dr, real *dE1) {
  const mbg__link *l = &t->links[k];
  mbg__tree_modal_joint *b = t->modal->link[k];
  mbg__modal_marker_direction by;
  mbg__modal_marker_change change;
  real omega[6], fC[6], dfC[6], fP[6], dfP[6];
  end_change(t, &b->C, d->attributes, w, omega, &by, &change);
  AdT_mul(fC, &t->hC[k], f);
  AdT_mul(dfC, &t->hC[k], dr + link_off(t, k));
  adT_add(dfC, change.eps, fC, 1);
  for (int i = 0; i < l->nz; i++) {
    dE1[l->first + i] = dfC[l->comp[i]];
  }
  if (b->C.modal >= 0) {
    end_wrench_push(t, &b->C, &by, &change, -1, fC, dfC, false, dr);
  }
  AdInvT_mul(fP, &t->E[k], fC);
  if (d->e) {
    adT_add(dfC, d->e + 6 * k, fC, -1);
  }
  AdInvT_mul(dfP, &t->E[k], dfC);
  end_change(t, &b->P, d->attributes, w, omega, &by, &change);
  end_wrench_push(t, &b->P, &by, &change, 1, fP, dfP, true, dr);
}

/* the rates that a joint sees become x (nw) */
static void see(mbg__tree *t, int k, const mbg__tree_modal_joint *b, real *x) {
  const int modal[2] = {b->P.modal, b->C.modal};
  t->modal->vd = x;
  for (int i = 0; i < 2; i++) {
    if (modal[i] >= 0) {
      gather_modes(t, modal[i], x, t->modal->etadd[modal[i]]);
    }
  }
  mbg__tree_modal_rates(t, k);
}

void mbg__tree_modal_link_push(mbg__tree *t, int k, const mbg__tree_direction *d) {
  const mbg__tree_modal_joint *b = t->modal->link[k];
  real c[6], *vd = t->modal->vd;
  mbg__tree_modal_push(t, k, d, false, t->eta, t->nu, c);
  mbg__tree_modal_forward(t, k, d->da, c, t->al);
  if (t->only_q) {
    see(t, k, b, t->u);
    mbg__tree_modal_push(t, k, d, true, t->eta, t->nu, c);
    mbg__tree_modal_forward(t, k, d->dq, c, t->du);
    see(t, k, b, vd);
  }
}

/* c: cotangent of the k of twists u = J q; the link's own cotangents wait */
static void still_pull(mbg__tree *t, int k, real *u, const real c[6], const mbg__tree_gradient *o) {
  const mbg__tree_modal_joint *b = t->modal->link[k];
  real *eta = t->eta + link_off(t, k), *nu = t->nu + link_off(t, k), *vd = t->modal->vd, keep[2][6];
  v6_copy(keep[0], eta);
  v6_copy(keep[1], nu);
  v6_zero(eta);
  v6_zero(nu);
  see(t, k, b, u);
  mbg__tree_modal_pull(t, k, c, true, t->eta, t->nu, o->e, NULL, o->attributes);
  see(t, k, b, vd);
  v6_copy(eta, keep[0]);
  v6_copy(nu, keep[1]);
}

void mbg__tree_modal_link_pull(mbg__tree *t, int k, const mbg__tree_gradient *o) {
  real c[6];
  if (t->only_q) {
    mbg__tree_modal_backward(t, k, t->du, o->q, c);
    still_pull(t, k, t->u, c, o);
  }
  mbg__tree_modal_backward(t, k, t->al, o->a, c);
  mbg__tree_modal_pull(t, k, c, false, t->eta, t->nu, o->e, o->w, o->attributes);
}

void mbg__tree_modal_test_pull(mbg__tree *t, int k, const real f[6], real *z, const mbg__tree_gradient *o) {
  real c[6];
  AdT_mul(c, &t->hC[k], f);
  still_pull(t, k, z, c, o);
}
