/* mbg__tree_pull for several columns at once: the sums of tree_derivative.c with columns in lanes. Compiled once for
   every kind of vectors. */
#ifndef MBG_TREE_TREE_LANES_KERNEL_H
#define MBG_TREE_TREE_LANES_KERNEL_H

#include "tree/tree_lanes_internal.h"

/* ---------------------------------------------------------------------- columns and lanes */

static void gather(int n, int q, const real *x, lane *to) {
  for (int i = 0; i < n; i++) {
    lane_set(&to[i], q, x[i]);
  }
}

static void scatter(int n, int q, const lane *x, real *to) {
  for (int i = 0; to && i < n; i++) {
    to[i] += lane_get(&x[i], q);
  }
}

/* the other rows stay 0 */
static void gather_rows(const mbg__tree *t, int q, const real *x, lane *to) {
  for (int i = 0; i < t->nrow; i++) {
    lane_set(&to[t->rows[i]], q, x ? x[i] : 0);
  }
}

static void take_weights(mbg__tree_lanes *x, int nc, const mbg__tree_weights *k) {
  const mbg__tree *t = x->t;
  ln_zero(t->n, x->mu);
  for (int q = 0; q < nc; q++) {
    const real *const rows[] = {k[q].k0, k[q].k1, k[q].k2};
    const bool any[] = {k->k0, k->k1, k->k2};
    gather(t->n, q, k[q].mu, x->mu);
    for (int i = 0; i < 3; i++) {
      if (any[i]) {
        gather_rows(t, q, rows[i], x->row[i]);
      }
    }
  }
}

static void give(const mbg__tree_lanes *x, int nc, const mbg__tree_gradient *g) {
  const mbg__tree *t = x->t;
  for (int q = 0; q < nc; q++) {
    scatter(6 * t->m->nbody, q, x->e, g[q].e);
    scatter(t->n, q, x->w, g[q].w);
    scatter(t->n, q, x->a, g[q].a);
    scatter(t->n, q, x->q, g[q].q);
    for (int i = 0; g[q].lambda && i < t->nrow; i++) {
      g[q].lambda[i] = lane_get(&x->row[3][t->rows[i]], q);
    }
  }
}

/* ---------------------------------------------------------------------- recursions */

static void carry_T_lanes(const mbg__tree *t, int k, const lane x[6], lane *y) {
  if (t->links[k].parent >= 0) {
    lane z[6];
    lAdInvT_mul(z, &t->Rel[k], x);
    l6_accumulate(y + link_off(t, t->links[k].parent), z);
  }
}

static void joint_T(const mbg__tree *t, int k, const lane y[6], lane *x) {
  const mbg__link *l = &t->links[k];
  for (int i = 0; i < l->nz; i++) {
    lane d;
    l6_dot(&d, t->Sb[l->first + i], y);
    x[l->first + i] += d;
  }
}

/* the twist of a body by mu; its sums are 0 */
static void test_twist(mbg__tree_lanes *x, int k) {
  const mbg__tree *t = x->t;
  const mbg__link *l = &t->links[k];
  const int off = link_off(t, k);
  lane s[6], c[6];
  l6_zero(x->eta + off);
  l6_zero(x->nu + off);
  l6_zero(x->al + off);
  l6_zero(x->du + off);
  l6_zero(s);
  for (int i = 0; i < l->nz; i++) {
    l6_axpy(s, &x->mu[l->first + i], t->Sb[l->first + i]);
  }
  if (l->parent >= 0) {
    lAdInv_mul(c, &t->Rel[k], x->dr + link_off(t, l->parent));
  } else {
    l6_zero(c);
  }
  l6_add(x->dr + off, c, s);
  lcoad_mul(x->ct + off, c, t->f + off);
  lcoad_mul(x->cg + off, s, t->f + off);
  l6_negate(x->cg + off, x->cg + off);
}

/* plain: h = (1, x), the motion of the marker is R^T of the cotangent of its point */
static void frame_pull(const mbg__tree *t, int marker, bool plain, const lane c[6], const mbg__lanes_cotangent *g) {
  lane x[6];
  l6_copy(x, c);
  if (plain) {
    lm3_mulv_T(x, t->design->markers[marker]->h.R, c);
    ln_zero(3, x + 3);
  }
  LANES(mbg__lanes_marker_attributes)(t->sys, marker, x, g);
}

static bool marker_counts(const mbg__tree *t, int marker, const mbg__lanes_cotangent *g) {
  return g->a && marker >= 0 && t->sys->marker_wanted[marker] && t->design->markers[marker]->ndep > 0;
}

static void geometry_pull(mbg__tree_lanes *x, int k, const mbg__lanes_cotangent *g) {
  const mbg__tree *t = x->t;
  const mbg__link *l = &t->links[k];
  const int off = link_off(t, k);
  lane ce[6], c[6];
  lAdT_mul(ce, &t->hC[k], x->ct + off);
  l6_copy(x->e + 6 * k, ce);
  if (marker_counts(t, l->P, g)) {
    lAdInvT_mul(c, &t->E[k], ce);
    frame_pull(t, l->P, l->plain, c, g);
  }
  if (marker_counts(t, l->C, g)) {
    lAdT_mul(c, &t->hC[k], x->cg + off);
    l6_subtract(c, ce);
    frame_pull(t, l->C, l->plain, c, g);
  }
}

static void link_pull(mbg__tree_lanes *x, int k, bool rates, bool accelerations, const mbg__lanes_cotangent *g) {
  const mbg__tree *t = x->t;
  const int off = link_off(t, k);
  const bool C = marker_counts(t, t->links[k].C, g);
  lane *ct = x->ct + off, *cg = x->cg + off, *al = x->al + off, *nu = x->nu + off, *du = x->du + off, ds[6];
  l6_zero(ds);
  if (accelerations) {
    carry_T_lanes(t, k, al, x->al);
    ladT_add(ct, t->Xvd + off, al);
    joint_T(t, k, al, x->a);
    ladT_sub(nu, t->s + off, al);
    ladT_mul(ds, t->v + off, al);
    if (C) {
      ladT_sub(cg, t->sa + off, al);
    }
  }
  if (rates) {
    carry_T_lanes(t, k, nu, x->nu);
    ladT_add(ct, t->Xv + off, nu);
    l6_accumulate(ds, nu);
    joint_T(t, k, ds, x->w);
    if (C) {
      ladT_sub(cg, t->s + off, ds);
    }
  }
  if (t->only_q) {
    carry_T_lanes(t, k, du, x->du);
    ladT_add(ct, t->Xq + off, du);
    joint_T(t, k, du, x->q);
    if (C) {
      ladT_sub(cg, t->sq + off, du);
    }
  }
  carry_T_lanes(t, k, x->eta + off, x->eta);
  l6_accumulate(ct, x->eta + off);
  geometry_pull(x, k, g);
}

/* z . M u: cotangent of u, and of the attributes of the bodies */
static void inertia_pull(mbg__tree_lanes *x, const mbg__lanes_cotangent *g) {
  const mbg__tree *t = x->t;
  for (int b = 0; b < t->m->nbody; b++) {
    const mbg__body *body = &t->m->bodies[b];
    const int off = body->voff;
    lane z[6];
    for (int i = 0; i < 6; i++) {
      z[i] = t->m->dof[off + i] >= 0 ? x->dr[off + i] : (lane){0};
    }
    lm6_mulv_T(x->du + off, t->design->M + 36 * b, z);
    for (int i = 0; g->a && i < body->nattr; i++) {
      if (wanted(t->sys, body->attr + i)) {
        real y[6];
        lane d;
        m6_mulv(y, t->design->M_a[b] + 36 * i, t->u + off);
        l6_dot(&d, y, z);
        for (int q = 0; q < g->nc; q++) {
          g->a[q][body->attr + i] += lane_get(&d, q);
        }
      }
    }
  }
}

static void clear(mbg__tree_lanes *x, bool multipliers) {
  const mbg__tree *t = x->t;
  ln_zero(t->n, x->w);
  ln_zero(t->n, x->a);
  ln_zero(t->n, x->q);
  if (multipliers) {
    for (int i = 0; i < t->nrow; i++) {
      x->row[3][t->rows[i]] = (lane){0};
    }
  }
}

void LANES(mbg__tree_pull_columns)(mbg__tree_lanes *x, int nc, const mbg__tree_weights *k,
                                   const mbg__tree_gradient *g) {
  const mbg__tree *t = x->t;
  real *attributes[MBG__LANES] = {0};
  for (int q = 0; q < nc; q++) {
    attributes[q] = g[q].attributes;
  }
  const mbg__lanes_weights weights = {
      .z = x->dr, .mu = k->k0 ? x->row[0] : NULL, .nu = k->k1 ? x->row[1] : NULL, .kappa = k->k2 ? x->row[2] : NULL};
  const mbg__lanes_cotangent to = {.w = x->eta,
                                   .v = x->nu,
                                   .vd = x->al,
                                   .lambda = g->lambda ? x->row[3] : NULL,
                                   .nc = nc,
                                   .a = g->attributes ? attributes : NULL};
  take_weights(x, nc, k);
  clear(x, g->lambda != NULL);
  for (int i = 0; i < t->m->nbody; i++) {
    test_twist(x, i);
  }
  LANES(mbg__system_pull_lanes)(t->sys, x->system, &weights, &to);
  if (t->only_q) {
    inertia_pull(x, &to);
  }
  for (int i = t->m->nbody - 1; i >= 0; i--) {
    link_pull(x, i, !t->only_q || k->k1 || k->k2, !t->only_q || k->k2, &to);
  }
  give(x, nc, g);
}

#endif
