/* mbg__system_pull for several columns at once, in models of rigid bodies whose forces do not depend on signals: the
   same sums as in system_pull.c and system_kinematics.c, with columns in lanes. Compiled once for every kind of vectors
   (system_lanes.h). */
#ifndef MBG_SYSTEM_SYSTEM_LANES_KERNEL_H
#define MBG_SYSTEM_SYSTEM_LANES_KERNEL_H

#include "system/system_internal.h"
#include "system/system_lanes.h"

/* ga[q][attr] += x */
static void to_attribute(const mbg__lanes_cotangent *g, int attr, const lane *x) {
  for (int q = 0; q < g->nc; q++) {
    g->a[q][attr] += lane_get(x, q);
  }
}

void LANES(mbg__lanes_marker_attributes)(const mbg__system *s, int marker, const lane x[6],
                                         const mbg__lanes_cotangent *g) {
  const mbg__placed *h = s->design->markers[marker];
  const int first = s->moved_only ? s->moved0[marker] : 0, last = s->moved_only ? s->moved0[marker + 1] : h->ndep;
  for (int i = first; i < last; i++) {
    const int k = s->moved_only ? s->moved[i] : i;
    lane y;
    l6_dot(&y, h->omega[k], x);
    to_attribute(g, h->dep[k], &y);
  }
}

/* ---------------------------------------------------------------------- bodies */

static bool any_wanted(const mbg__system *s, const mbg__body *b) {
  for (int k = 0; k < b->nattr; k++) {
    if (wanted(s, b->attr + k)) {
      return true;
    }
  }
  return false;
}

/* <M_a, W>, W = z (vd - R^T g)^T - (ad(v) z) v^T */
static void mass_pull(const mbg__system *s, int i, const lane z[6], const lane adz[6], const real a[6],
                      const mbg__lanes_cotangent *g) {
  const mbg__body *b = &s->model->bodies[i];
  const mbg__places *p = &s->mass_a[i];
  const real *v = s->v + b->voff;
  for (int k = 0; k < b->nattr; k++) {
    const real *M_a = s->design->M_a[i] + 36 * k;
    lane sum = (lane){0};
    for (int e = p->start[k]; wanted(s, b->attr + k) && e < p->start[k + 1]; e++) {
      const int row = p->place[e] / 6, col = p->place[e] % 6;
      sum += M_a[p->place[e]] * (z[row] * a[col] - adz[row] * v[col]);
    }
    if (wanted(s, b->attr + k)) {
      to_attribute(g, b->attr + k, &sum);
    }
  }
}

static void body_pull(const mbg__system *s, int i, const lane *whole, const mbg__lanes_cotangent *g) {
  const mbg__body *b = &s->model->bodies[i];
  const real *M = s->design->M + 36 * i, *v = s->v + b->voff, *vd = s->vd + b->voff;
  const lane *z = whole + b->voff;
  const bool masses = g->a && any_wanted(s, b);
  real a[6] = {0}, momentum[6];
  lane c[6], Mz[6], adz[6];
  if (!has_inertia(s, i)) {
    return;
  }
  m3_mulv_T(a, s->H[i].R, gravity_on(s, i));
  lm6_mulv_T(Mz, M, z);
  l3_cross_add(g->w + b->voff + 3, a, Mz);
  if (g->v || masses) {
    lad_mul(adz, v, z);
  }
  if (g->v) {
    m6_mulv_T(momentum, M, v);
    lcoad_mul(c, z, momentum);
    l6_accumulate(g->v + b->voff, c);
    lm6_mulv_T(c, M, adz);
    l6_subtract(g->v + b->voff, c);
  }
  if (g->vd) {
    l6_accumulate(g->vd + b->voff, Mz);
  }
  if (masses) {
    v6_sub(a, vd, a);
    mass_pull(s, i, z, adz, a, g);
  }
  if (g->a && has_weight(s, i)) {
    lm3_mulv(c, s->H[i].R, Mz);
    for (int k = 0; k < 3; k++) {
      c[k] = -c[k];
      to_attribute(g, s->model->gravity + k, &c[k]);
    }
  }
}

/* ---------------------------------------------------------------------- pairs */

static void marker_test(const mbg__system *s, int marker, const lane *z, lane out[6]) {
  const int body = marker_body(s, marker);
  if (body < 0) {
    l6_zero(out);
  } else {
    lAdInv_mul(out, &s->design->markers[marker]->h, z + s->model->bodies[body].voff);
  }
}

static void marker_geometry_pull(const mbg__system *s, int marker, const lane z[6], const real f[6],
                                 const mbg__lanes_cotangent *g) {
  lane c[6];
  if (g->a && s->marker_wanted[marker]) {
    lcoad_mul(c, z, f);
    l6_negate(c, c);
    LANES(mbg__lanes_marker_attributes)(s, marker, c, g);
  }
}

static void pair_test(const mbg__system *s, mbg__system_lanes *l, int i, const lane *z, const mbg__lanes_cotangent *g) {
  const int A = s->model->pairs[i].A, B = s->model->pairs[i].B;
  const bool moves = marker_body(s, A) >= 0;
  lane zA[6], zB[6], x[6], c[6];
  l6_zero(zA);
  marker_test(s, B, z, zB);
  l6_copy(l->f[i], zB);
  if (moves) {
    marker_test(s, A, z, zA);
    lAdInv_mul(x, &s->G[i], zA);
    l6_sub(l->f[i], zB, x);
  }
  lm6_mulv_T(c, s->F_G[i], l->f[i]);
  l6_subtract(l->w[i], c);
  if (!s->bare) {
    lm6_mulv_T(c, s->F_v[i], l->f[i]);
    l6_subtract(l->dv[i], c);
  }
  if (moves) {
    lcoad_mul(c, x, s->F[i]);
    l6_accumulate(l->w[i], c);
  }
  marker_geometry_pull(s, B, zB, s->F[i], g);
  if (moves && g->a && s->marker_wanted[A]) {
    real fA[6];
    AdInvT_mul(fA, &s->G[i], s->F[i]);
    v6_scale(fA, -1, fA);
    marker_geometry_pull(s, A, zA, fA, g);
  }
}

static void term_pull(const mbg__system *s, mbg__system_lanes *l, int row, int k, const mbg__lanes_weights *x,
                      const mbg__lanes_cotangent *g) {
  const int pair = s->model->terms[k].pair;
  const real *b = s->term[k].b;
  const lane *c0 = x->mu && !s->model->rows[row].rate ? x->mu + row : NULL, *c1 = x->nu ? x->nu + row : NULL;
  const lane *c2 = x->kappa ? x->kappa + row : NULL;
  if (pair >= 0) {
    l->touched[pair] = true;
    if (c0) {
      l6_axpy(l->w[pair], c0, b);
    }
    if (c1) {
      l6_axpy(l->w[pair], c1, s->row_g[k].phid_G);
      l6_axpy(l->dv[pair], c1, b);
    }
    if (c2) {
      l6_axpy(l->w[pair], c2, s->row_g[k].phidd_G);
      l6_axpy(l->dv[pair], c2, s->row_g[k].gamma_v);
      l6_axpy(l->dvd[pair], c2, b);
    }
    if (x->z && g->lambda) {
      lane y;
      l6_dot(&y, b, l->f[pair]);
      g->lambda[row] += y;
    }
  }
  for (int j = 0; g->a && j < s->term_nattr[k]; j++) {
    const mbg__term_attr *a = &s->term_attr[s->term_attr0[k] + j];
    lane y = (lane){0}, d;
    if (s->model->terms[k].law < 0 && !wanted(s, a->attr)) {
      continue;
    }
    y += c0 ? *c0 * a->phi : (lane){0};
    y += c1 ? *c1 * a->phid : (lane){0};
    y += c2 ? *c2 * a->phidd : (lane){0};
    if (x->z && pair >= 0) {
      l6_dot(&d, a->b, l->f[pair]);
      y += s->lambda[row] * d;
    }
    to_attribute(g, a->attr, &y);
  }
}

static void rows_pull(const mbg__system *s, mbg__system_lanes *l, const mbg__lanes_weights *x,
                      const mbg__lanes_cotangent *g) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nrow; i++) {
    if (!row_on(s, i)) {
      continue;
    }
    for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
      term_pull(s, l, i, k, x, g);
    }
  }
}

static void forces_pull(const mbg__system *s, const mbg__system_lanes *l, const mbg__lanes_cotangent *g) {
  for (int i = 0; g->a && !s->bare && i < s->model->nforce; i++) {
    for (int k = s->force_a0[i]; force_on(s, i) && k < s->force_a0[i] + s->force_na[i]; k++) {
      lane y;
      l6_dot(&y, s->f_a[k], l->f[s->model->forces[i].pair]);
      y = -y;
      to_attribute(g, s->f_aidx[k], &y);
    }
  }
}

static void add_mul_T(lane *out, const mbg__frame *h, const lane *x, int off) {
  if (out && x) {
    lane y[6];
    lAdInvT_mul(y, h, x);
    l6_accumulate(out + off, y);
  }
}

static void marker_pull(const mbg__system *s, int marker, const lane *gw, const lane *gv, const lane *gvd,
                        const mbg__lanes_cotangent *g) {
  const mbg__placed *h = s->design->markers[marker];
  const int body = marker_body(s, marker);
  lane geo[6];
  if (body >= 0) {
    const int off = s->model->bodies[body].voff;
    add_mul_T(g->w, &h->h, gw, off);
    add_mul_T(g->v, &h->h, gv, off);
    add_mul_T(g->vd, &h->h, gvd, off);
  }
  if (!g->a || !s->marker_wanted[marker] || h->ndep == 0) {
    return;
  }
  l6_copy(geo, gw);
  if (body >= 0 && gv) {
    ladT_add(geo, s->vm[marker], gv);
  }
  if (body >= 0 && gvd) {
    ladT_add(geo, s->vdm[marker], gvd);
  }
  LANES(mbg__lanes_marker_attributes)(s, marker, geo, g);
}

/* system_kinematics.c: pair_pull, far_pull, mbg__kin_pair_pull */
static void pair_pull(const mbg__system *s, const mbg__system_lanes *l, int i, bool rates,
                      const mbg__lanes_cotangent *g) {
  const int mA = s->model->pairs[i].A, mB = s->model->pairs[i].B;
  const mbg__frame *G = &s->G[i];
  const lane *gvd = rates ? l->dvd[i] : NULL;
  const bool far = marker_body(s, mA) >= 0 || (g->a && s->marker_wanted[mA]);
  lane B[2][6], gA[6], A[3][6], x[6], y[6];
  l6_copy(B[0], l->w[i]);
  l6_copy(B[1], l->dv[i]);
  l6_zero(gA);
  ladT_sub(B[0], s->a[i], l->dv[i]);
  if (gvd) {
    ladT_mul(y, s->a[i], gvd);
    l6_subtract(B[1], y);
    ladT_mul(gA, s->vrel[i], gvd);
    ladT_sub(B[0], s->ad[i], gvd);
    l6_add(x, y, gA);
    ladT_add(B[0], s->a[i], x);
  }
  if (far) {
    lAdInvT_mul(A[0], G, B[0]);
    l6_negate(A[0], A[0]);
    l6_sub(x, gA, B[1]);
    lAdInvT_mul(A[1], G, x);
    if (gvd) {
      lAdInvT_mul(A[2], G, gvd);
      l6_negate(A[2], A[2]);
    }
    marker_pull(s, mA, A[0], A[1], gvd ? A[2] : NULL, g);
  }
  marker_pull(s, mB, B[0], B[1], gvd, g);
}

static void pairs_pull(const mbg__system *s, mbg__system_lanes *l, const mbg__lanes_weights *x,
                       const mbg__lanes_cotangent *g, bool rows) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->npair; i++) {
    if (s->pair_on[i]) {
      l6_zero(l->w[i]);
      l6_zero(l->dv[i]);
      l6_zero(l->dvd[i]);
    }
    l->touched[i] = x->z && s->pair_on[i] && (s->loaded[i] || g->lambda);
    if (l->touched[i]) {
      pair_test(s, l, i, x->z, g);
    }
  }
  if (rows) {
    rows_pull(s, l, x, g);
  }
  if (x->z) {
    forces_pull(s, l, g);
  }
  for (int i = 0; i < m->npair; i++) {
    if (l->touched[i]) {
      pair_pull(s, l, i, x->kappa != NULL, g);
    }
  }
}

void LANES(mbg__system_pull_lanes)(mbg__system *s, mbg__system_lanes *l, const mbg__lanes_weights *x,
                                   const mbg__lanes_cotangent *g) {
  const mbg_model *m = s->model;
  const bool rows = x->mu || x->nu || x->kappa || g->lambda || !s->unloaded;
  if (rows || (!s->bare && m->nforce > 0)) {
    pairs_pull(s, l, x, g, rows);
  }
  for (int i = 0; x->z && !s->bare && i < m->nbody; i++) {
    body_pull(s, i, x->z, g);
  }
  for (int i = 0; i < m->nw; i++) {
    if (m->dof[i] < 0 && g->v) {
      g->v[i] = (lane){0};
    }
    if (m->dof[i] < 0 && g->vd) {
      g->vd[i] = (lane){0};
    }
  }
}

#endif
