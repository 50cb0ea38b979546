/* Directional derivatives of the equations: variations go from bodies to markers, pairs, forces and rows, and back as
   changes of the wrenches. */
#include "system/system_internal.h"

#include "elements/inertia.h"

#include <string.h>

/* change of r of one body with frame, twist, rate and its own attributes */
static void body_push(const mbg__system *s, int i, const mbg__direction *d, real dr[6]) {
  const mbg__body *b = &s->model->bodies[i];
  const real *M = s->design->M + 36 * i, *v = s->v + b->voff, *vd = s->vd + b->voff, *g = gravity_on(s, i);
  real moved[6], c[6];
  v6_zero(dr);
  if (!has_inertia(s, i)) {
    return;
  }
  v6_zero(moved);
  /* M (dvd - d(R^T g)) - ad(dv)^T M v - ad(v)^T M dv,  d(R^T g) = (R^T g)~ W */
  if (d->dvd) {
    v6_copy(moved, d->dvd + b->voff);
  }
  if (d->w && has_weight(s, i)) {
    real a[3], turned[3];
    m3_mulv_T(a, s->H[i].R, g);
    v3_cross(turned, a, d->w + b->voff + 3);
    v3_axpy(moved, -1, turned);
  }
  if (d->dvd || (d->w && has_weight(s, i))) {
    m6_mulv_T(dr, M, moved); /* M^T = M */
  }
  if (d->dv) {
    real momentum[6];
    m6_mulv_T(momentum, M, v);
    adT_mul(c, d->dv + b->voff, momentum);
    v6_axpy(dr, -1, c);
    m6_mulv_T(momentum, M, d->dv + b->voff);
    adT_mul(c, v, momentum);
    v6_axpy(dr, -1, c);
  }
  for (int k = 0; d->da && k < b->nattr; k++) {
    if (d->da[b->attr + k] != 0) {
      mbg__inertia_change(M, s->H[i].R, v, vd, g, s->design->M_a[i] + 36 * k, NULL, c);
      v6_axpy(dr, d->da[b->attr + k], c);
    }
  }
  const real *dg = d->da && has_weight(s, i) ? d->da + s->model->gravity : NULL;
  if (dg && (dg[0] != 0 || dg[1] != 0 || dg[2] != 0)) {
    mbg__inertia_change(M, s->H[i].R, v, vd, g, NULL, d->da + s->model->gravity, c);
    v6_axpy(dr, 1, c);
  }
}

static void forces_push(mbg__system *s, const mbg__direction *d) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->npair; i++) {
    if (!s->pair_on[i] && !s->loaded[i]) {
      continue;
    }
    v6_zero(s->p_f[i]);
    if (s->loaded[i]) {
      m6_mulv_add(s->p_f[i], s->F_G[i], s->p_w[i]);
      m6_mulv_add(s->p_f[i], s->F_v[i], s->p_dv[i]);
    }
  }
  for (int i = 0; !s->bare && i < m->nforce; i++) {
    const int pair = m->forces[i].pair;
    if (!force_on(s, i)) {
      continue;
    }
    for (int k = s->force_a0[i]; d->da && k < s->force_a0[i] + s->force_na[i]; k++) {
      v6_axpy(s->p_f[pair], d->da[s->f_aidx[k]], s->f_a[k]);
    }
    for (int c = s->cross_of[i]; cross_goes_on(s, c, i); c++) {
      v6_axpy(s->p_f[pair], mbg__fn_signals_push(s, s->cross[c].fn, d), s->f_fn[s->cross[c].fn]);
    }
  }
}

static void rows_push(mbg__system *s, const mbg__direction *d, real *dphi, real *dphid, real *dphidd) {
  const mbg_model *m = s->model;
  static const vec6 zero = {0};
  real *const out[3] = {dphi, dphid, dphidd};
  for (int k = 0; !s->any_row && k < 3; k++) {
    if (out[k]) {
      vn_zero(m->nrow, out[k]);
    }
  }
  for (int i = 0; s->any_row && i < m->nrow; i++) {
    real p = 0, pd = 0, pdd = 0;
    for (int k = m->rows[i].term; row_on(s, i) && k < m->rows[i].term + m->rows[i].nterm; k++) {
      const int pair = m->terms[k].pair;
      const real *w = pair >= 0 ? s->p_w[pair] : zero, *dv = pair >= 0 ? s->p_dv[pair] : zero;
      const real *dvd = pair >= 0 ? s->p_dvd[pair] : zero, *b = s->term[k].b;
      p += m->rows[i].rate ? 0 : v6_dot(b, w);
      pd += v6_dot(s->row_g[k].phid_G, w) + v6_dot(b, dv);
      pdd += v6_dot(s->row_g[k].phidd_G, w) + v6_dot(s->row_g[k].gamma_v, dv) + v6_dot(b, dvd);
      for (int j = 0; d->da && j < s->term_nattr[k]; j++) {
        const mbg__term_attr *a = &s->term_attr[s->term_attr0[k] + j];
        p += m->rows[i].rate ? 0 : a->phi * d->da[a->attr];
        pd += a->phid * d->da[a->attr];
        pdd += a->phidd * d->da[a->attr];
        if (pair >= 0) {
          v6_axpy(s->p_f[pair], -s->lambda[i] * d->da[a->attr], a->b);
        }
      }
      if (pair >= 0 && d->dlambda) {
        v6_axpy(s->p_f[pair], -d->dlambda[i], b);
      }
    }
    if (dphi) {
      dphi[i] = p;
    }
    if (dphid) {
      dphid[i] = pd;
    }
    if (dphidd) {
      dphidd[i] = pdd;
    }
  }
}

/* r -= d(J^T f) at one marker: J^T (df_m - ad(omega da)^T f_m) */
static void marker_wrench_push(const mbg__system *s, int marker, const vec6 f, const vec6 df, real *dr) {
  const int body = marker_body(s, marker);
  real c[6], fb[6];
  if (s->end[marker]) {
    mbg__modal_end_wrench_push(s, marker, f, df, dr);
    return;
  }
  if (body < 0) {
    return;
  }
  adT_mul(c, s->m_geo[marker], f);
  v6_sub(c, df, c);
  AdInvT_mul(fb, &s->design->markers[marker]->h, c);
  v6_axpy(dr + s->model->bodies[body].voff, -1, fb);
}

/* f_A = -A_i^T F,  df_A = A_i^T (ad(w_rel)^T F - dF) */
void mbg__pair_wrench_push(const mbg__system *s, int i, const vec6 w, const vec6 df, real *dr) {
  real c[6], fA[6], dfA[6];
  marker_wrench_push(s, s->model->pairs[i].B, s->F[i], df, dr);
  AdInvT_mul(fA, &s->G[i], s->F[i]);
  v6_scale(fA, -1, fA);
  adT_mul(c, w, s->F[i]);
  v6_axpy(c, -1, df);
  AdInvT_mul(dfA, &s->G[i], c);
  marker_wrench_push(s, s->model->pairs[i].A, fA, dfA, dr);
}

void mbg__system_push(mbg__system *s, const mbg__direction *d, real *dr, real *dphi, real *dphid, real *dphidd) {
  const mbg_model *m = s->model;
  mbg__kin_push(s, d);
  forces_push(s, d);
  if (!s->bare) {
    mbg__beams_push(s, d);
  }
  rows_push(s, d, dphi, dphid, dphidd);
  if (!dr) {
    return;
  }
  memset(dr, 0, (size_t)m->nw * sizeof(real));
  for (int i = 0; !s->bare && i < m->nbody; i++) {
    body_push(s, i, d, dr + m->bodies[i].voff);
  }
  if (!s->bare) {
    mbg__beams_inertia_push(s, d, dr);
    mbg__modals_inertia_push(s, d, dr);
  }
  for (int i = 0; i < m->npair; i++) {
    if (s->loaded[i] || (d->dlambda && s->pair_on[i])) {
      mbg__pair_wrench_push(s, i, s->p_w[i], s->p_f[i], dr);
    }
  }
  clear_masked(s, dr);
}
