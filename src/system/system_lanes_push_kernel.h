/* mbg__system_push for several columns at once: the sums of system_push.c and system_kinematics.c with columns in
   lanes. */
#ifndef MBG_SYSTEM_SYSTEM_LANES_PUSH_KERNEL_H
#define MBG_SYSTEM_SYSTEM_LANES_PUSH_KERNEL_H

#include "elements/inertia.h"
#include "system/system_internal.h"
#include "system/system_lanes.h"

/* the attribute varies in one of the columns */
static bool vary(const mbg__lanes_direction *d, int attr) { return d->da && d->varied[attr]; }

/* ---------------------------------------------------------------------- kinematics */

static void add_carried(lane out[6], const mbg__frame *h, const lane *x, int off) {
  if (x) {
    lane y[6];
    lAdInv_mul(y, h, x + off);
    l6_accumulate(out, y);
  }
}

static void marker_push(const mbg__system *s, mbg__system_lanes *l, int i, const mbg__lanes_direction *d, bool rates) {
  const mbg__placed *h = s->design->markers[i];
  const int body = marker_body(s, i);
  lane *geo = l->m_geo[i];
  l6_zero(geo);
  l->moved[i] = false;
  for (int k = 0; k < h->ndep; k++) {
    if (vary(d, h->dep[k])) {
      l6_axpy(geo, &d->da[h->dep[k]], h->omega[k]);
      l->moved[i] = true;
    }
  }
  l6_copy(l->m_w[i], geo);
  l6_zero(l->m_dv[i]);
  l6_zero(l->m_dvd[i]);
  if (body < 0) {
    return;
  }
  const int off = s->model->bodies[body].voff;
  if (l->moved[i]) {
    lad_mul(l->m_dv[i], s->vm[i], geo);
  }
  add_carried(l->m_w[i], &h->h, d->w, off);
  add_carried(l->m_dv[i], &h->h, d->dv, off);
  if (rates) {
    if (l->moved[i]) {
      lad_mul(l->m_dvd[i], s->vdm[i], geo);
    }
    add_carried(l->m_dvd[i], &h->h, d->dvd, off);
  }
}

/* system_kinematics.c: pair_push */
static void pair_push(const mbg__system *s, mbg__system_lanes *l, int i, bool rates) {
  const int A = s->model->pairs[i].A, B = s->model->pairs[i].B;
  const mbg__frame *G = &s->G[i];
  const bool still = marker_body(s, A) < 0 && !l->moved[A];
  lane x[6], y[6], AdvA[6];
  real a[6];
  if (still) { /* the far marker is at rest, and so is a = A_i v_A */
    l6_copy(l->w[i], l->m_w[B]);
    l6_copy(l->dv[i], l->m_dv[B]);
    l6_copy(l->dvd[i], l->m_dvd[B]);
    return;
  }
  lAdInv_mul(x, G, l->m_w[A]);
  l6_sub(l->w[i], l->m_w[B], x);
  lAdInv_mul(AdvA, G, l->m_dv[A]);
  l6_sub(l->dv[i], l->m_dv[B], AdvA);
  lad_mul(y, s->a[i], l->w[i]);
  if (rates) {
    lAdInv_mul(x, G, l->m_dvd[A]);
    l6_sub(l->dvd[i], l->m_dvd[B], x);
    lad_sub(l->dvd[i], s->a[i], l->dv[i]);
    lad_add(l->dvd[i], s->vrel[i], AdvA);
    lad_sub(l->dvd[i], s->ad[i], l->w[i]);
    v6_add(a, s->a[i], s->vrel[i]);
    lad_add(l->dvd[i], a, y);
  }
  l6_subtract(l->dv[i], y);
}

/* ---------------------------------------------------------------------- forces, rows */

static void forces_push(const mbg__system *s, mbg__system_lanes *l, const mbg__lanes_direction *d) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->npair; i++) {
    if (!s->pair_on[i] && !s->loaded[i]) {
      continue;
    }
    l6_zero(l->f[i]);
    if (s->loaded[i]) {
      lm6_mulv_add(l->f[i], s->F_G[i], l->w[i]);
      lm6_mulv_add(l->f[i], s->F_v[i], l->dv[i]);
    }
  }
  for (int i = 0; d->da && !s->bare && i < m->nforce; i++) {
    for (int k = s->force_a0[i]; force_on(s, i) && k < s->force_a0[i] + s->force_na[i]; k++) {
      if (vary(d, s->f_aidx[k])) {
        l6_axpy(l->f[m->forces[i].pair], &d->da[s->f_aidx[k]], s->f_a[k]);
      }
    }
  }
}

/* sums over the terms of a row: out[0] phi, [1] phid, [2] phidd */
static void row_push(const mbg__system *s, mbg__system_lanes *l, int i, const mbg__lanes_direction *d, bool rates,
                     lane out[3]) {
  const mbg_model *m = s->model;
  const bool place = !m->rows[i].rate;
  lane x;
  for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
    const int pair = m->terms[k].pair;
    const real *b = s->term[k].b;
    if (pair >= 0) {
      if (place) {
        l6_dot(&x, b, l->w[pair]);
        out[0] += x;
      }
      l6_dot(&x, s->row_g[k].phid_G, l->w[pair]);
      out[1] += x;
      l6_dot(&x, b, l->dv[pair]);
      out[1] += x;
    }
    if (pair >= 0 && rates) {
      l6_dot(&x, s->row_g[k].phidd_G, l->w[pair]);
      out[2] += x;
      l6_dot(&x, s->row_g[k].gamma_v, l->dv[pair]);
      out[2] += x;
      l6_dot(&x, b, l->dvd[pair]);
      out[2] += x;
    }
    for (int j = 0; d->da && j < s->term_nattr[k]; j++) {
      const mbg__term_attr *a = &s->term_attr[s->term_attr0[k] + j];
      const lane *da = &d->da[a->attr];
      if (!vary(d, a->attr)) {
        continue;
      }
      if (place) {
        out[0] += a->phi * *da;
      }
      out[1] += a->phid * *da;
      out[2] += a->phidd * *da;
      if (pair >= 0) {
        x = -s->lambda[i] * *da;
        l6_axpy(l->f[pair], &x, a->b);
      }
    }
    if (pair >= 0 && d->dlambda) {
      x = -d->dlambda[i];
      l6_axpy(l->f[pair], &x, b);
    }
  }
}

static void rows_push(const mbg__system *s, mbg__system_lanes *l, const mbg__lanes_direction *d, lane *const out[3]) {
  for (int i = 0; i < s->model->nrow; i++) {
    lane sum[3];
    ln_zero(3, sum);
    if (s->any_row && row_on(s, i)) {
      row_push(s, l, i, d, out[2] != NULL, sum);
    }
    for (int k = 0; k < 3; k++) {
      if (out[k]) {
        out[k][i] = sum[k];
      }
    }
  }
}

/* ---------------------------------------------------------------------- bodies, wrenches */

void LANES(mbg__system_mass_lanes)(const mbg__system *s, const lane *x, lane *y) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nbody; i++) {
    const int off = m->bodies[i].voff;
    lm6_mulv_T(y + off, s->design->M + 36 * i, x + off); /* M^T = M */
  }
  for (int i = 0; i < m->nw; i++) {
    if (m->dof[i] < 0) {
      y[i] = (lane){0};
    }
  }
}

/* dr of body i for the variations of its frame, twist and rate, NULL: 0 */
static void body_push(const mbg__system *s, int i, const mbg__lanes_direction *d, const lane *w, const lane *dv,
                      const lane *dvd, lane dr[6]) {
  const mbg__body *b = &s->model->bodies[i];
  const real *M = s->design->M + 36 * i, *v = s->v + b->voff, *vd = s->vd + b->voff, *g = gravity_on(s, i);
  const int gravity = s->model->gravity;
  lane moved[6], c[6];
  real a[6], momentum[6];
  if (s->bare || !has_inertia(s, i)) {
    l6_zero(dr);
    return;
  }
  l6_zero(moved);
  if (dvd) {
    l6_copy(moved, dvd);
  }
  if (w && has_weight(s, i)) {
    m3_mulv_T(a, s->H[i].R, g);
    l3_cross_sub(moved, a, w + 3);
  }
  lm6_mulv_T(dr, M, moved);
  if (dv) {
    m6_mulv_T(momentum, M, v);
    lcoad_sub(dr, dv, momentum);
    lm6_mulv_T(c, M, dv);
    ladT_sub(dr, v, c);
  }
  for (int k = 0; k < b->nattr; k++) {
    if (vary(d, b->attr + k)) {
      mbg__inertia_change(M, s->H[i].R, v, vd, g, s->design->M_a[i] + 36 * k, NULL, a);
      l6_axpy(dr, &d->da[b->attr + k], a);
    }
  }
  for (int k = 0; k < 3 && has_weight(s, i); k++) {
    if (vary(d, gravity + k)) {
      const real unit[3] = {k == 0, k == 1, k == 2};
      mbg__inertia_change(M, s->H[i].R, v, vd, g, NULL, unit, a);
      l6_axpy(dr, &d->da[gravity + k], a);
    }
  }
}

void LANES(mbg__system_push_body)(const mbg__system *s, int i, const mbg__lanes_direction *d, const lane *w,
                                  const lane *dv, lane dr[6]) {
  const int off = s->model->bodies[i].voff;
  body_push(s, i, d, w, dv, NULL, dr);
  for (int k = 0; k < 6; k++) {
    if (s->model->dof[off + k] < 0) {
      dr[k] = (lane){0};
    }
  }
}

/* dr -= J^T (df - ad(omega da)^T f) */
static void marker_wrench_push(const mbg__system *s, const mbg__system_lanes *l, int marker, const real f[6],
                               const lane df[6], lane *dr) {
  const int body = marker_body(s, marker);
  lane c[6], fb[6];
  if (body < 0) {
    return;
  }
  l6_copy(c, df);
  if (l->moved[marker]) {
    lcoad_sub(c, l->m_geo[marker], f);
  }
  lAdInvT_mul(fb, &s->design->markers[marker]->h, c);
  l6_subtract(dr + s->model->bodies[body].voff, fb);
}

static void pair_wrench_push(const mbg__system *s, const mbg__system_lanes *l, int i, lane *dr) {
  const int A = s->model->pairs[i].A;
  lane c[6], dfA[6];
  real fA[6];
  marker_wrench_push(s, l, s->model->pairs[i].B, s->F[i], l->f[i], dr);
  if (marker_body(s, A) < 0) {
    return;
  }
  AdInvT_mul(fA, &s->G[i], s->F[i]);
  v6_scale(fA, -1, fA);
  lcoad_mul(c, l->w[i], s->F[i]);
  l6_subtract(c, l->f[i]);
  lAdInvT_mul(dfA, &s->G[i], c);
  marker_wrench_push(s, l, A, fA, dfA, dr);
}

void LANES(mbg__system_push_lanes)(mbg__system *s, mbg__system_lanes *l, const mbg__lanes_direction *d, lane *dr,
                                   lane *dphi, lane *dphid, lane *dphidd) {
  const mbg_model *m = s->model;
  lane *const rows[3] = {dphi, dphid, dphidd};
  for (int i = 0; i < m->nmarker; i++) {
    if (s->marker_on[i]) {
      marker_push(s, l, i, d, dphidd != NULL);
    }
  }
  for (int i = 0; i < m->npair; i++) {
    if (s->pair_on[i]) {
      pair_push(s, l, i, dphidd != NULL);
    }
  }
  forces_push(s, l, d);
  rows_push(s, l, d, rows);
  if (!dr) {
    return;
  }
  for (int i = 0; i < m->nbody; i++) {
    const int off = m->bodies[i].voff;
    body_push(s, i, d, d->w ? d->w + off : NULL, d->dv ? d->dv + off : NULL, d->dvd ? d->dvd + off : NULL, dr + off);
  }
  for (int i = 0; i < m->npair; i++) {
    if (s->loaded[i] || (d->dlambda && s->pair_on[i])) {
      pair_wrench_push(s, l, i, dr);
    }
  }
  for (int i = 0; i < m->nw; i++) {
    if (m->dof[i] < 0) {
      dr[i] = (lane){0};
    }
  }
}

#endif
