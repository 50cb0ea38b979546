/* Frames -> markers -> relative frames, their variations and the transpose of these (theory 0, section 2):

     v_m = J v,  vd_m = J vd,  J = Ad(h^-1)           w_m = J w + omega da
     dv_m = J dv + ad(v_m) omega da                   dvd_m = J dvd + ad(vd_m) omega da
     w_rel   = w_B - A_i w_A                          A_i = Ad(G^-1), a = A_i v_A
     dv_rel  = dv_B - A_i dv_A - ad(a) w_rel
     dvd_rel = dvd_B - A_i dvd_A + X w_rel - ad(a) (dv_B - A_i dv_A) + ad(v_rel) A_i dv_A
     X       = -ad(A_i vd_A) + (ad(a) + ad(v_rel)) ad(a) */
#include "math/flat.h"
#include "system/system_internal.h"

/* ---------------------------------------------------------------------- values */

static void marker_frame(void *user, int i) {
  mbg__system *s = user;
  const int body = marker_body(s, i);
  if (!s->marker_on[i]) {
    return;
  }
  if (s->end[i]) {
    mbg__modal_end_update(s, i);
  } else if (body >= 0) {
    frame_mul(&s->Hm[i], &s->H[body], &s->design->markers[i]->h);
  } else {
    s->Hm[i] = s->design->markers[i]->h;
  }
}

static void pair_frame(void *user, int i) {
  const mbg__system *s = user;
  if (s->pair_on[i]) {
    frame_relative(&s->G[i], &s->Hm[s->model->pairs[i].A], &s->Hm[s->model->pairs[i].B]);
  }
}

/* out = J v for a marker in use, by `end` for those on modal bodies; on the ground vm, vdm, a and ad are 0 from the
   beginning */
static void update_marker(mbg__system *s, int i, const real *v, vec6 *out, void (*end)(mbg__system *, int)) {
  if (s->marker_on[i] && s->end[i]) {
    end(s, i);
  } else if (s->marker_on[i] && marker_body(s, i) >= 0) {
    AdInv_mul(out[i], &s->design->markers[i]->h, v + s->model->bodies[marker_body(s, i)].voff);
  }
}

static void marker_twist(void *user, int i) {
  mbg__system *s = user;
  update_marker(s, i, s->v, s->vm, mbg__modal_end_twist);
}

static void marker_rate(void *user, int i) {
  mbg__system *s = user;
  if (s->rest) {
    v6_zero(s->vdm[i]);
  } else {
    update_marker(s, i, s->vd, s->vdm, mbg__modal_end_rate);
  }
}

static void pair_twist(void *user, int i) {
  const mbg__system *s = user;
  const mbg__pair *pair = &s->model->pairs[i];
  if (!s->pair_on[i]) {
    return;
  }
  if (marker_body(s, pair->A) >= 0) {
    AdInv_mul(s->a[i], &s->G[i], s->vm[pair->A]);
  }
  v6_sub(s->vrel[i], s->vm[pair->B], s->a[i]);
}

void mbg__kin_update_twists(mbg__system *s) {
  mbg__modals_twists(s);
  mbg__pool_each(s->pool, MBG__EACH_TWIST_MARKER, s->model->nmarker, marker_twist, s);
  mbg__pool_each(s->pool, MBG__EACH_TWIST_PAIR, s->model->npair, pair_twist, s);
}

/* vd_rel = vd_B - A_i vd_A + ad(v_rel) a */
static void pair_rate(void *user, int i) {
  const mbg__system *s = user;
  const mbg__pair *pair = &s->model->pairs[i];
  if (!s->pair_on[i]) {
    return;
  }
  if (marker_body(s, pair->A) < 0) {
    v6_copy(s->vdrel[i], s->vdm[pair->B]);
    return;
  }
  if (s->rest) {
    v6_zero(s->ad[i]);
    ad_mul(s->vdrel[i], s->vrel[i], s->a[i]);
    return;
  }
  real c[6];
  AdInv_mul(s->ad[i], &s->G[i], s->vdm[pair->A]);
  v6_sub(s->vdrel[i], s->vdm[pair->B], s->ad[i]);
  ad_mul(c, s->vrel[i], s->a[i]);
  v6_axpy(s->vdrel[i], 1, c);
}

void mbg__kin_update_rates(mbg__system *s) {
  mbg__modals_rates(s);
  mbg__pool_each(s->pool, MBG__EACH_RATE_MARKER, s->model->nmarker, marker_rate, s);
  mbg__pool_each(s->pool, MBG__EACH_RATE_PAIR, s->model->npair, pair_rate, s);
}

typedef struct {
  mbg__system *s;
  bool still;
} update_job;

static void marker_update(void *user, int i) {
  const update_job *j = user;
  if (!j->still) {
    marker_frame(j->s, i);
  }
  marker_twist(j->s, i);
  marker_rate(j->s, i);
}

static void pair_update(void *user, int i) {
  const update_job *j = user;
  v6_zero(j->s->F[i]);
  if (!j->still) {
    pair_frame(j->s, i);
  }
  pair_twist(j->s, i);
  pair_rate(j->s, i);
}

/* ... in a plane */
static void flat_marker_update(void *user, int i) {
  const update_job *j = user;
  mbg__system *s = j->s;
  const mbg__frame *h = &s->design->markers[i]->h;
  const int body = marker_body(s, i), off = body >= 0 ? s->model->bodies[body].voff : 0;
  if (s->rest) {
    v6_zero(s->vdm[i]);
  }
  if (!s->marker_on[i]) {
    return;
  }
  if (body < 0) {
    s->Hm[i] = *h;
    return;
  }
  if (!j->still) {
    flat_frame_mul(&s->Hm[i], &s->H[body], h);
  }
  flat_AdInv_mul(s->vm[i], h, s->v + off);
  if (!s->rest) {
    flat_AdInv_mul(s->vdm[i], h, s->vd + off);
  }
}

static void flat_pair_update(void *user, int i) {
  const update_job *j = user;
  const mbg__system *s = j->s;
  const int A = s->model->pairs[i].A, B = s->model->pairs[i].B;
  v6_zero(s->F[i]);
  if (!s->pair_on[i]) {
    return;
  }
  if (!j->still) {
    flat_frame_relative(&s->G[i], &s->Hm[A], &s->Hm[B]);
  }
  if (marker_body(s, A) < 0) {
    v6_sub(s->vrel[i], s->vm[B], s->a[i]);
    v6_copy(s->vdrel[i], s->vdm[B]);
    return;
  }
  real c[6];
  flat_AdInv_mul(s->a[i], &s->G[i], s->vm[A]);
  flat_AdInv_mul(s->ad[i], &s->G[i], s->vdm[A]); /* at rest 0 */
  for (int k = 0; k < 6; k++) {
    s->vrel[i][k] = s->vm[B][k] - s->a[i][k];
    s->vdrel[i][k] = s->vdm[B][k] - s->ad[i][k];
  }
  flat_ad_mul(c, s->vrel[i], s->a[i]);
  flat_axpy(s->vdrel[i], 1, c);
}

/* are frames, twists, rates and markers flat? */
static bool in_plane(const mbg__system *s) {
  const mbg_model *m = s->model;
  bool all = s->planar;
  for (int b = 0; all && b < m->nbody; b++) {
    const int off = m->bodies[b].voff;
    all = flat_frame(&s->H[b]) && flat_vector(s->v + off) && flat_vector(s->vd + off);
  }
  for (int i = 0; all && i < m->nmarker; i++) {
    all = !s->marker_on[i] || flat_frame(&s->design->markers[i]->h);
  }
  return all;
}

/* frames, twists and rates together: few loops for threads */
void mbg__kin_update(mbg__system *s, bool still) {
  update_job j = {s, still};
  s->flat = in_plane(s);
  if (s->flat) {
    mbg__pool_each(s->pool, MBG__EACH_MARKER, s->model->nmarker, flat_marker_update, &j);
    if (!still) {
      mbg__broad_sweep(s);
    }
    mbg__pool_each(s->pool, MBG__EACH_PAIR, s->model->npair, flat_pair_update, &j);
    return;
  }
  mbg__modals_update(s, still);
  mbg__pool_each(s->pool, MBG__EACH_MARKER, s->model->nmarker, marker_update, &j);
  if (!still) {
    mbg__broad_sweep(s);
  }
  mbg__pool_each(s->pool, MBG__EACH_PAIR, s->model->npair, pair_update, &j);
}

void mbg__kin_update_some(mbg__system *s, const mbg__sampling *w) {
  s->flat = false;
  for (int k = 0; k < w->nmarker; k++) {
    marker_frame(s, w->marker[k]);
    marker_twist(s, w->marker[k]);
  }
  for (int k = 0; k < w->npair; k++) {
    pair_frame(s, w->pair[k]);
    pair_twist(s, w->pair[k]);
  }
}

/* ---------------------------------------------------------------------- variations */

static void add_mul(vec6 out, const mbg__frame *h, const real *x, int off) {
  if (x) {
    real y[6];
    AdInv_mul(y, h, x + off);
    v6_axpy(out, 1, y);
  }
}

void mbg__kin_marker_push(const mbg__system *s, int marker, const mbg__direction *d, vec6 geo, vec6 w, vec6 dv,
                          vec6 dvd) {
  const mbg__placed *h = s->design->markers[marker];
  const int body = marker_body(s, marker);
  v6_zero(geo);
  for (int k = 0; d->da && k < h->ndep; k++) {
    v6_axpy(geo, d->da[h->dep[k]], h->omega[k]);
  }
  if (s->end[marker]) {
    mbg__modal_end_push(s, marker, d, geo, w, dv, dvd);
    return;
  }
  v6_copy(w, geo);
  if (body < 0) {
    v6_zero(dv);
    v6_zero(dvd);
    return;
  }
  const int off = s->model->bodies[body].voff;
  ad_mul(dv, s->vm[marker], geo);
  ad_mul(dvd, s->vdm[marker], geo);
  add_mul(w, &h->h, d->w, off);
  add_mul(dv, &h->h, d->dv, off);
  add_mul(dvd, &h->h, d->dvd, off);
}

/* variations of the relative motion from the variations of its two markers */
static void pair_push(const mbg__system *s, int i, const vec6 wA, const vec6 dvA, const vec6 dvdA, const vec6 wB,
                      const vec6 dvB, const vec6 dvdB, vec6 w, vec6 dv, vec6 dvd) {
  const mbg__frame *G = &s->G[i];
  real x[6], y[6], AdvA[6], c[6];
  AdInv_mul(x, G, wA);
  v6_sub(w, wB, x);
  AdInv_mul(AdvA, G, dvA);
  v6_sub(dv, dvB, AdvA);
  AdInv_mul(x, G, dvdA);
  v6_sub(dvd, dvdB, x);
  ad_mul(c, s->a[i], dv);
  v6_axpy(dvd, -1, c);
  ad_mul(c, s->vrel[i], AdvA);
  v6_axpy(dvd, 1, c);
  /* X w, and - ad(a) w for the twist */
  ad_mul(y, s->a[i], w);
  ad_mul(c, s->ad[i], w);
  v6_axpy(dvd, -1, c);
  v6_add(x, s->a[i], s->vrel[i]);
  ad_mul(c, x, y);
  v6_axpy(dvd, 1, c);
  v6_axpy(dv, -1, y);
}

void mbg__kin_push(mbg__system *s, const mbg__direction *d) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nmarker; i++) {
    if (s->marker_on[i]) {
      mbg__kin_marker_push(s, i, d, s->m_geo[i], s->m_w[i], s->m_dv[i], s->m_dvd[i]);
    }
  }
  for (int i = 0; i < m->npair; i++) {
    const int A = m->pairs[i].A, B = m->pairs[i].B;
    if (s->pair_on[i]) {
      pair_push(s, i, s->m_w[A], s->m_dv[A], s->m_dvd[A], s->m_w[B], s->m_dv[B], s->m_dvd[B], s->p_w[i], s->p_dv[i],
                s->p_dvd[i]);
    }
  }
}

void mbg__kin_pair_push(const mbg__system *s, int pair, const mbg__direction *d, vec6 w, vec6 dv, vec6 dvd) {
  vec6 geo, x[2][3];
  const int ends[2] = {s->model->pairs[pair].A, s->model->pairs[pair].B};
  for (int k = 0; k < 2; k++) {
    mbg__kin_marker_push(s, ends[k], d, geo, x[k][0], x[k][1], x[k][2]);
  }
  pair_push(s, pair, x[0][0], x[0][1], x[0][2], x[1][0], x[1][1], x[1][2], w, dv, dvd);
}

/* ---------------------------------------------------------------------- transposes */

/* out += J^T g; either may be NULL */
static void add_mul_T(real *out, const mbg__frame *h, const real *g, int off) {
  if (out && g) {
    real y[6];
    AdInvT_mul(y, h, g);
    v6_axpy(out + off, 1, y);
  }
}

void mbg__kin_marker_pull(const mbg__system *s, int marker, const vec6 gw, const real *gv, const real *gvd,
                          const mbg__cotangent *g) {
  const mbg__placed *h = s->design->markers[marker];
  const int body = marker_body(s, marker);
  real geo[6], c[6];
  if (s->end[marker]) {
    mbg__modal_end_pull(s, marker, gw, gv, gvd, g);
    return;
  }
  if (body >= 0) {
    const int off = s->model->bodies[body].voff;
    add_mul_T(g->w, &h->h, gw, off);
    add_mul_T(g->v, &h->h, gv, off);
    add_mul_T(g->vd, &h->h, gvd, off);
  }
  if (!g->a || !s->marker_wanted[marker] || h->ndep == 0) {
    return;
  }
  v6_copy(geo, gw);
  if (body >= 0 && gv) {
    adT_mul(c, s->vm[marker], gv);
    v6_axpy(geo, 1, c);
  }
  if (body >= 0 && gvd) {
    adT_mul(c, s->vdm[marker], gvd);
    v6_axpy(geo, 1, c);
  }
  marker_attributes_pull(s, marker, geo, g->a);
}

/* What a marker passes on: cotangents of its frame, twist and rate to its body, and to the attributes that move it. */
typedef struct {
  bool w, v, vd;
} receivers;

static receivers receivers_of(const mbg__system *s, int marker, bool rates, const mbg__cotangent *g) {
  const bool on_body = marker_body(s, marker) >= 0, end = s->end[marker] != NULL;
  const bool moved = g->a && s->marker_wanted[marker] && s->design->markers[marker]->ndep > 0;
  return (receivers){.w = end || (on_body && g->w) || moved,
                     .v = end || (on_body && (g->v || moved)),
                     .vd = rates && (end || (on_body && (g->vd || moved)))};
}

/* cotangents of marker B, frame, twist and rate, from those of the relative motion, gvd NULL: 0; gA: by A_i dv_A
   besides */
static void pair_pull(const mbg__system *s, int i, const vec6 gw, const vec6 gv, const real *gvd, vec6 B[3], vec6 gA) {
  real c[6], x[6], y[6];
  v6_copy(B[0], gw);
  v6_copy(B[1], gv);
  v6_zero(gA);
  adT_mul(c, s->a[i], gv);
  v6_axpy(B[0], -1, c);
  if (gvd) {
    v6_copy(B[2], gvd);
    adT_mul(y, s->a[i], gvd);
    v6_axpy(B[1], -1, y);
    adT_mul(gA, s->vrel[i], gvd);
    /* X^T gvd = -ad(A_i vd_A)^T gvd + ad(a)^T (ad(a) + ad(v_rel))^T gvd */
    adT_mul(c, s->ad[i], gvd);
    v6_axpy(B[0], -1, c);
    v6_add(x, y, gA);
    adT_mul(c, s->a[i], x);
    v6_axpy(B[0], 1, c);
  }
}

/* ... of marker A, those that somebody receives */
static void far_pull(const mbg__system *s, int i, receivers to, vec6 B[3], const vec6 gA, vec6 A[3]) {
  const mbg__frame *G = &s->G[i];
  real x[6];
  if (to.w) {
    AdInvT_mul(A[0], G, B[0]);
    v6_scale(A[0], -1, A[0]);
  }
  if (to.v) {
    v6_sub(x, gA, B[1]);
    AdInvT_mul(A[1], G, x);
  }
  if (to.vd) {
    AdInvT_mul(A[2], G, B[2]);
    v6_scale(A[2], -1, A[2]);
  }
}

void mbg__kin_pair_pull(const mbg__system *s, int pair, const vec6 gw, const vec6 gv, const real *gvd,
                        const mbg__cotangent *g) {
  const int mA = s->model->pairs[pair].A, mB = s->model->pairs[pair].B;
  const receivers to = receivers_of(s, mA, gvd != NULL, g);
  vec6 A[3], B[3], gA;
  pair_pull(s, pair, gw, gv, gvd, B, gA);
  if (to.w || to.v || to.vd) {
    far_pull(s, pair, to, B, gA, A);
    mbg__kin_marker_pull(s, mA, A[0], to.v ? A[1] : NULL, to.vd ? A[2] : NULL, g);
  }
  mbg__kin_marker_pull(s, mB, B[0], B[1], gvd ? B[2] : NULL, g);
}

void mbg__kin_jacobian(const mbg__system *s, int pair, int side, real X[36]) {
  const int marker = side ? s->model->pairs[pair].B : s->model->pairs[pair].A;
  mbg__frame H = s->design->markers[marker]->h;
  if (side) {
    mbg__AdInv_matrix(X, &H);
    return;
  }
  /* - Ad(G^-1) Ad(h_A^-1) = - Ad((h_A G)^-1) */
  frame_mul(&H, &s->design->markers[marker]->h, &s->G[pair]);
  mbg__AdInv_matrix(X, &H);
  m6_scale(X, -1, X);
}

/* ---------------------------------------------------------------------- ... in a plane */

static bool is_flat(const vec6 x) { return !(r_some(x[2] != 0) || r_some(x[3] != 0) || r_some(x[4] != 0)); }

/* out = Ad(h^-1)^T f */
static void flat_pull(vec6 out, const mbg__frame *h, const vec6 f) {
  const real *R = h->R, x = R[0] * f[0] + R[1] * f[1], y = R[3] * f[0] + R[4] * f[1];
  out[0] = x;
  out[1] = y;
  out[5] = f[5] + (h->x[0] * y - h->x[1] * x);
}

/* f += s ad(v)^T g */
static void flat_turn(vec6 f, double s, const vec6 v, const vec6 g) {
  f[0] += s * (g[1] * v[5]);
  f[1] -= s * (g[0] * v[5]);
  f[5] += s * (g[0] * v[1] - g[1] * v[0]);
}

static void flat_give(const mbg__frame *h, const vec6 f, real *out) {
  vec6 x;
  flat_pull(x, h, f);
  out[0] += x[0];
  out[1] += x[1];
  out[5] += x[5];
}

/* gw is lost */
static void flat_marker_pull(const mbg__system *s, int marker, vec6 gw, const real *gv, const mbg__cotangent *g) {
  const mbg__placed *h = s->design->markers[marker];
  const int body = marker_body(s, marker);
  const int off = body >= 0 ? s->model->bodies[body].voff : 0;
  if (body >= 0 && g->w) {
    flat_give(&h->h, gw, g->w + off);
  }
  if (body >= 0 && gv && g->v) {
    flat_give(&h->h, gv, g->v + off);
  }
  if (g->a && s->marker_wanted[marker] && h->ndep > 0) {
    if (body >= 0 && gv) {
      flat_turn(gw, 1, s->vm[marker], gv);
    }
    marker_attributes_pull(s, marker, gw, g->a);
  }
}

/* mbg__kin_pair_pull without rates; gv NULL: 0 */
static void flat_pair_pull(const mbg__system *s, int pair, const vec6 gw, const real *gv, const mbg__cotangent *g) {
  const int mA = s->model->pairs[pair].A, mB = s->model->pairs[pair].B;
  const receivers to = receivers_of(s, mA, false, g);
  vec6 w, A, v = {0};
  v6_copy(w, gw);
  if (gv) {
    flat_turn(w, -1, s->a[pair], gv);
  }
  if (to.w || (to.v && gv)) {
    v6_zero(A);
    flat_pull(A, &s->G[pair], w);
    v6_scale(A, -1, A);
    if (gv) {
      flat_pull(v, &s->G[pair], gv);
      v6_scale(v, -1, v);
    }
    flat_marker_pull(s, mA, A, gv ? v : NULL, g);
  }
  flat_marker_pull(s, mB, w, gv, g);
}

void mbg__kin_signal_pull(const mbg__system *s, int pair, mbg__level level, const vec6 gw, const vec6 gv,
                          const vec6 gvd, const mbg__cotangent *g) {
  if (s->flat && level <= MBG__LEVEL_VELOCITY && is_flat(gw) && is_flat(gv)) {
    flat_pair_pull(s, pair, gw, level == MBG__LEVEL_POSITION ? NULL : gv, g);
  } else {
    mbg__kin_pair_pull(s, pair, gw, gv, level >= MBG__LEVEL_ACCELERATION ? gvd : NULL, g);
  }
}
