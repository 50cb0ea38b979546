/* mbg__tree_push for several columns at once: the sums of tree_derivative.c with columns in lanes. */
#ifndef MBG_TREE_TREE_LANES_PUSH_KERNEL_H
#define MBG_TREE_TREE_LANES_PUSH_KERNEL_H

#include "tree/tree_lanes_internal.h"

/* omega of hP or hC; false: it does not vary */
static bool frame_push(const mbg__tree_lanes *x, int marker, bool plain, lane omega[6]) {
  lane y[6];
  bool any = false;
  l6_zero(y);
  l6_zero(omega);
  if (marker < 0) {
    return false;
  }
  const mbg__placed *h = x->t->design->markers[marker];
  for (int i = 0; i < h->ndep; i++) {
    if (x->varied[h->dep[i]]) {
      l6_axpy(y, &x->da[h->dep[i]], h->omega[i]);
      any = true;
    }
  }
  if (plain) {
    lm3_mulv(omega, h->h.R, y);
  } else {
    l6_copy(omega, y);
  }
  return any;
}

/* theta and g of a link; false: g is 0 */
static bool geometry_push(const mbg__tree_lanes *x, int k, const mbg__tree_link_lanes *at) {
  const mbg__tree *t = x->t;
  const mbg__link *l = &t->links[k];
  lane P[6], C[6], y[6];
  l6_copy(y, at->e);
  if (frame_push(x, l->P, l->plain, P)) {
    lane c[6];
    lAdInv_mul(c, &t->E[k], P);
    l6_accumulate(y, c);
  }
  const bool moved = frame_push(x, l->C, l->plain, C);
  if (moved) {
    l6_subtract(y, C);
    lAd_mul(at->g, &t->hC[k], C);
  } else {
    l6_zero(at->g);
  }
  lAd_mul(at->theta, &t->hC[k], y);
  return moved;
}

/* the parent's part of a vector of all bodies, NULL: the ground */
static const lane *parent_lanes(const mbg__tree *t, int k, const lane *x) {
  return t->links[k].parent >= 0 ? x + link_off(t, t->links[k].parent) : NULL;
}

/* out = X x_p + y */
static void carry_add_lanes(const mbg__tree *t, int k, const lane *parent, const lane y[6], lane out[6]) {
  if (parent) {
    lane c[6];
    lAdInv_mul(c, &t->Rel[k], parent);
    l6_add(out, c, y);
  } else {
    l6_copy(out, y);
  }
}

static void joint_sum(const mbg__tree *t, int k, const lane *x, lane out[6]) {
  const mbg__link *l = &t->links[k];
  for (int i = 0; i < l->nz; i++) {
    l6_axpy(out, &x[l->first + i], t->Sb[l->first + i]);
  }
}

/* out += ad(g) s with columns in g */
static void turned(lane out[6], const lane g[6], const real s[6]) {
  lane c[6];
  lad_mul(c, s, g);
  l6_subtract(out, c); /* ad(g) s = -ad(s) g */
}

/* What needs no parent: theta and g of a link, the change y of its twist and c of its rate, without those of the
   parent's and without nu; w, a: changes of joint rates and accelerations, NULL: 0. false: g is 0 */
static bool alone_push(const mbg__tree_lanes *x, int k, const mbg__tree_link_lanes *at, const lane *w, const lane *a,
                       lane y[6], lane c[6]) {
  const mbg__tree *t = x->t;
  const int off = link_off(t, k);
  const bool moved = geometry_push(x, k, at);
  lane ds[6];
  l6_zero(ds);
  if (moved) {
    turned(ds, at->g, t->s + off);
  }
  if (w) {
    joint_sum(t, k, w, ds);
  }
  l6_copy(y, ds);
  lad_add(y, t->Xv + off, at->theta);
  lad_mul(c, t->Xvd + off, at->theta);
  if (moved) {
    turned(c, at->g, t->sa + off);
  }
  if (a) {
    joint_sum(t, k, a, c);
  }
  lad_add(c, t->v + off, ds);
  return moved;
}

/* eta and nu of a link, and c */
static void follow_push(const mbg__tree_lanes *x, int k, const mbg__tree_link_lanes *at, const lane y[6], lane c[6]) {
  const mbg__tree *t = x->t;
  carry_add_lanes(t, k, at->eta_parent, at->theta, at->eta);
  carry_add_lanes(t, k, at->nu_parent, y, at->nu);
  lad_sub(c, t->s + link_off(t, k), at->nu);
}

static bool change_push(const mbg__tree_lanes *x, int k, const mbg__tree_link_lanes *at, const lane *w, const lane *a,
                        lane c[6]) {
  lane y[6];
  const bool moved = alone_push(x, k, at, w, a, y, c);
  follow_push(x, k, at, y, c);
  return moved;
}

void LANES(mbg__tree_push_alone)(const mbg__tree_lanes *x, int k, const mbg__tree_link_lanes *l, lane y[6], lane c[6]) {
  (void)alone_push(x, k, l, x->w, NULL, y, c);
}

void LANES(mbg__tree_push_follow)(const mbg__tree_lanes *x, int k, const mbg__tree_link_lanes *l, lane y[6],
                                  lane c[6]) {
  follow_push(x, k, l, y, c);
}

/* the link in vectors of all bodies */
static mbg__tree_link_lanes link_lanes(const mbg__tree_lanes *x, int k) {
  const int off = link_off(x->t, k);
  return (mbg__tree_link_lanes){.e = x->e + 6 * k,
                                .theta = x->ct + off,
                                .g = x->cg + off,
                                .eta = x->eta + off,
                                .nu = x->nu + off,
                                .eta_parent = parent_lanes(x->t, k, x->eta),
                                .nu_parent = parent_lanes(x->t, k, x->nu)};
}

static void link_push(mbg__tree_lanes *x, int k, const mbg__tree_direction *d) {
  const mbg__tree *t = x->t;
  const int off = link_off(t, k);
  const lane *theta = x->ct + off, *g = x->cg + off;
  lane y[6];
  const mbg__tree_link_lanes at = link_lanes(x, k);
  const bool moved = change_push(x, k, &at, d->dw ? x->w : NULL, d->da ? x->a : NULL, y);
  carry_add_lanes(t, k, parent_lanes(t, k, x->al), y, x->al + off);
  if (t->only_q) {
    lad_mul(y, t->Xq + off, theta);
    if (moved) {
      turned(y, g, t->sq + off);
    }
    if (d->dq) {
      joint_sum(t, k, x->q, y);
    }
    carry_add_lanes(t, k, parent_lanes(t, k, x->du), y, x->du + off);
  }
}

/* dr += M du + M_a da u */
static void inertia_push(mbg__tree_lanes *x) {
  const mbg__tree *t = x->t;
  for (int b = 0; b < t->m->nbody; b++) {
    const mbg__body *body = &t->m->bodies[b];
    const int off = body->voff;
    lane c[6];
    lm6_mulv_T(c, t->design->M + 36 * b, x->du + off); /* M^T = M */
    for (int i = 0; i < body->nattr; i++) {
      if (x->varied[body->attr + i]) {
        real y[6];
        m6_mulv(y, t->design->M_a[b] + 36 * i, t->u + off);
        l6_axpy(c, &x->da[body->attr + i], y);
      }
    }
    for (int i = 0; i < 6; i++) {
      x->dr[off + i] += t->m->dof[off + i] >= 0 ? c[i] : (lane){0};
    }
  }
}

/* dE1 of a link, in mu, from the change of its wrench, which goes on to the parent */
static void wrench_push(mbg__tree_lanes *x, int k) {
  const mbg__tree *t = x->t;
  const mbg__link *l = &t->links[k];
  const int off = link_off(t, k);
  lane y[6];
  l6_copy(y, x->dr + off);
  lcoad_add(y, x->cg + off, t->f + off);
  for (int i = 0; i < l->nz; i++) {
    l6_dot(&x->mu[l->first + i], t->Sb[l->first + i], y);
  }
  if (l->parent >= 0) {
    lane z[6];
    l6_copy(y, x->dr + off);
    lcoad_sub(y, x->ct + off, t->f + off);
    lAdInvT_mul(z, &t->Rel[k], y);
    l6_accumulate(x->dr + link_off(t, l->parent), z);
  }
}

void LANES(mbg__tree_local_push_columns)(mbg__tree_lanes *x) {
  const mbg__tree *t = x->t;
  const mbg__lanes_direction bodies = {.w = x->eta, .dv = x->nu, .da = x->da, .varied = x->varied};
  for (int k = 0; k < t->m->nbody; k++) {
    const mbg__tree_link_lanes at = link_lanes(x, k);
    (void)change_push(x, k, &at, x->w, NULL, x->al + link_off(t, k)); /* k of tree_local.h */
  }
  LANES(mbg__system_push_lanes)(t->sys, x->system, &bodies, x->dr, NULL, NULL, NULL);
}

static void take_column(int n, int q, const real *from, lane *to) {
  for (int i = 0; from && i < n; i++) {
    lane_set(&to[i], q, from[i]);
  }
}

static void take_direction(mbg__tree_lanes *x, int nc, const mbg__tree_direction *d) {
  const mbg__tree *t = x->t;
  const real *attributes[MBG__LANES] = {0};
  ln_zero(6 * t->m->nbody, x->e);
  ln_zero(t->n, x->w);
  ln_zero(t->n, x->a);
  ln_zero(t->n, x->q);
  for (int q = 0; q < nc; q++) {
    take_column(6 * t->m->nbody, q, d[q].e, x->e);
    take_column(t->n, q, d[q].dw, x->w);
    take_column(t->n, q, d[q].da, x->a);
    take_column(t->n, q, d[q].dq, x->q);
    attributes[q] = d[q].attributes;
  }
  mbg__lanes_attributes(t->m->na, nc, attributes, x->da, x->varied);
}

static void give_rows(const mbg__tree *t, int q, const lane *row, real *out) {
  for (int i = 0; out && i < t->nrow; i++) {
    out[i] = lane_get(&row[t->rows[i]], q);
  }
}

void LANES(mbg__tree_push_columns)(mbg__tree_lanes *x, int nc, const mbg__tree_direction *d,
                                   const mbg__tree_change *out) {
  const mbg__tree *t = x->t;
  const mbg__lanes_direction bodies = {.w = x->eta, .dv = x->nu, .dvd = x->al, .da = x->da, .varied = x->varied};
  take_direction(x, nc, d);
  for (int k = 0; k < t->m->nbody; k++) {
    link_push(x, k, d);
  }
  LANES(mbg__system_push_lanes)
  (t->sys, x->system, &bodies, x->dr, out->dphi ? x->change[0] : NULL, out->dphid ? x->change[1] : NULL,
   out->dphidd ? x->change[2] : NULL);
  if (t->only_q) {
    inertia_push(x);
  }
  for (int k = t->m->nbody - 1; k >= 0; k--) {
    wrench_push(x, k);
  }
  for (int q = 0; q < nc; q++) {
    for (int i = 0; i < t->n; i++) {
      out[q].dE1[i] = lane_get(&x->mu[i], q);
    }
    give_rows(t, q, x->change[0], out[q].dphi);
    give_rows(t, q, x->change[1], out[q].dphid);
    give_rows(t, q, x->change[2], out[q].dphidd);
  }
}

#endif
