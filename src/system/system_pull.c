/* Transposes of the directional derivatives (system_push.c): z.r + mu.phi + nu.phid + kappa.phidd, from pairs back to
   bodies and attributes. */
#include "math/flat.h"
#include "system/system_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- attributes that count */

static int entries(const real *M_a, int nattr, int *start, unsigned char *place) {
  int count = 0;
  for (int i = 0; i < 36 * nattr; i++) {
    if (i % 36 == 0) {
      start[i / 36] = count;
    }
    if (r_some(M_a[i] != 0)) {
      place[count++] = (unsigned char)(i % 36);
    }
  }
  start[nattr] = count;
  return count;
}

static bool same_places(int nattr, const mbg__places *a, const int *start, const unsigned char *place) {
  return a && memcmp(a->start, start, ((size_t)nattr + 1) * sizeof(*start)) == 0 &&
         memcmp(a->place, place, (size_t)start[nattr]) == 0;
}

/* of all mass matrices, from derivatives at numbers that make no entry 0 by chance; bodies in turn share their lists */
static int find_places(mbg_context *ctx, mbg__system *s) {
  enum { MOST = 16 }; /* attributes of a body */
  const mbg__places *last = NULL;
  int last_n = -1;
  for (int i = 0; i < s->model->nbody; i++) {
    const mbg__body *b = &s->model->bodies[i];
    real attr[MOST], M[36], M_a[36 * MOST] = {0};
    unsigned char place[36 * MOST];
    int start[MOST + 1];
    if (b->nattr == 0 || !has_inertia(s, i)) {
      continue;
    }
    assert(b->nattr <= MOST);
    for (int k = 0; k < b->nattr; k++) {
      attr[k] = 1 + 0.37 * k + 0.011 * k * k;
    }
    b->type->inertia(attr, b->opt, M, M_a);
    const int count = entries(M_a, b->nattr, start, place);
    if (last_n != b->nattr || !same_places(b->nattr, last, start, place)) {
      int *own = MBG_TAKE(&s->arena, int, b->nattr + 1);
      unsigned char *list = MBG_TAKE(&s->arena, unsigned char, count);
      if (!own || !list) {
        return mbg__fail_memory(ctx);
      }
      memcpy(own, start, ((size_t)b->nattr + 1) * sizeof(*own));
      memcpy(list, place, (size_t)count);
      s->mass_a[i] = (mbg__places){own, list};
    } else {
      s->mass_a[i] = *last;
    }
    last = &s->mass_a[i];
    last_n = b->nattr;
  }
  return MBG_OK;
}

int mbg__pull_create(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  int ndep = 0;
  for (int i = 0; i < m->nmarker; i++) {
    ndep += m->poses[m->markers[i].pose].ndep;
  }
  s->marker_wanted = MBG_TAKE(&s->arena, bool, m->nmarker);
  s->moved0 = MBG_TAKE(&s->arena, int, m->nmarker + 1);
  s->moved = MBG_TAKE(&s->arena, int, ndep);
  s->mass_a = MBG_TAKE(&s->arena, mbg__places, m->nbody);
  int err = mbg__arena_check(ctx, &s->arena);
  if (err == MBG_OK) {
    mbg__system_want(s, true);
    err = find_places(ctx, s);
  }
  return err;
}

void mbg__system_want(mbg__system *s, bool all) {
  int count = 0;
  s->moved_only = !all;
  for (int i = 0; i < s->model->nmarker; i++) {
    const mbg__placed *h = s->design->markers[i];
    s->moved0[i] = count;
    for (int k = 0; !all && k < h->ndep; k++) {
      if (wanted(s, h->dep[k])) {
        s->moved[count++] = k;
      }
    }
    s->marker_wanted[i] = all || count > s->moved0[i];
  }
  s->moved0[s->model->nmarker] = count;
}

/* ---------------------------------------------------------------------- bodies */

static bool any_wanted(const mbg__system *s, int attr, int n) {
  for (int k = 0; k < n; k++) {
    if (wanted(s, attr + k)) {
      return true;
    }
  }
  return false;
}

/* somebody asks for the derivative by gravity */
static bool weight_counts(const mbg__system *s, const mbg__cotangent *g) {
  return g->a && s->model->gravity >= 0 && any_wanted(s, s->model->gravity, 3);
}

/* <M_a, W> of an attribute of a body */
static real mass_dot(const mbg__system *s, int body, int k, const real W[36]) {
  const mbg__places *p = &s->mass_a[body];
  const real *M_a = s->design->M_a[body] + 36 * k;
  real sum = 0;
  for (int e = p->start[k]; e < p->start[k + 1]; e++) {
    sum += M_a[p->place[e]] * W[p->place[e]];
  }
  return sum;
}

void mbg__system_inertia_pull(const mbg__system *s, int body, const real W[36], real *ga) {
  const mbg__body *b = &s->model->bodies[body];
  for (int k = 0; k < b->nattr && has_inertia(s, body); k++) {
    if (wanted(s, b->attr + k)) {
      ga[b->attr + k] += mass_dot(s, body, k, W);
    }
  }
}

/* out = M x */
static void mass_mul(bool flat, real out[6], const real M[36], const real x[6]) {
  if (!flat) {
    m6_mulv_T(out, M, x);
    return;
  }
  for (int j = 0; j < 6; j++) {
    out[j] = x[0] * M[j] + x[1] * M[6 + j] + x[5] * M[30 + j];
  }
}

/* z.r of a body is linear in its mass matrix: <M, W> with W = z (vd - R^T g)^T - (ad(v) z) v^T; the weight acts in the
   first three components */
static void body_pull(const mbg__system *s, int i, const real *z, const mbg__cotangent *g) {
  const mbg__body *b = &s->model->bodies[i];
  const real *M = s->design->M + 36 * i, *v = s->v + b->voff, *vd = s->vd + b->voff;
  const real *zb = z + b->voff;
  real a[6], c[6], Mz[6], adz[6];
  if (!has_inertia(s, i)) {
    return;
  }
  const bool flat = s->flat && flat_vector(zb);
  v6_zero(a);
  m3_mulv_T(a, s->H[i].R, gravity_on(s, i));
  ad_mul(adz, v, zb);
  mass_mul(flat, Mz, M, zb);
  if (g->w) {
    /* d(R^T g) = (R^T g)~ W */
    v3_cross(c, a, Mz);
    v3_axpy(g->w + b->voff + 3, 1, c);
  }
  if (g->v) {
    real momentum[6];
    mass_mul(flat, momentum, M, v);
    adT_mul(c, zb, momentum);
    v6_axpy(g->v + b->voff, 1, c);
    mass_mul(flat, c, M, adz);
    v6_axpy(g->v + b->voff, -1, c);
  }
  if (g->vd) {
    v6_axpy(g->vd + b->voff, 1, Mz);
  }
  if (g->a && any_wanted(s, b->attr, b->nattr)) {
    real W[36];
    v6_sub(a, vd, a);
    m6_zero(W);
    m6_outer_add(W, 1, zb, a);
    m6_outer_add(W, -1, adz, v);
    mbg__system_inertia_pull(s, i, W, g->a);
  }
  if (weight_counts(s, g) && has_weight(s, i)) {
    m3_mulv(s->weight3[i], s->H[i].R, Mz);
  }
}

void mbg__system_mass_pull(const mbg__system *s, const real *z, const real *x, real *ga) {
  for (int i = 0; i < s->model->nbody; i++) {
    const mbg__body *b = &s->model->bodies[i];
    real W[36] = {0};
    if (any_wanted(s, b->attr, b->nattr)) {
      m6_outer_add(W, 1, z + b->voff, x + b->voff);
      mbg__system_inertia_pull(s, i, W, ga);
    }
  }
}

/* ---------------------------------------------------------------------- pairs */

/* J z at a marker, 0 on the ground */
static void marker_test(const mbg__system *s, int marker, const real *z, vec6 out) {
  const int body = marker_body(s, marker);
  if (s->end[marker]) {
    mbg__modal_end_test(s, marker, z, out);
  } else if (body < 0) {
    v6_zero(out);
  } else {
    AdInv_mul(out, &s->design->markers[marker]->h, z + s->model->bodies[body].voff);
  }
}

/* -z . d(J^T f) by the marker's own geometry (and the modes it moves with):
   + f . ad(omega da) z_m = -(ad(z_m)^T f) . omega da */
static void marker_geometry_pull(const mbg__system *s, int marker, const real *whole, const vec6 z, const vec6 f,
                                 const mbg__cotangent *g) {
  real c[6];
  if (s->end[marker]) {
    mbg__modal_end_test_pull(s, marker, whole, f, -1, g);
    return;
  }
  if (!g->a || !s->marker_wanted[marker]) {
    return;
  }
  adT_mul(c, z, f);
  v6_scale(c, -1, c);
  marker_attributes_pull(s, marker, c, g->a);
}

/* contribution of z . r at one pair: z_rel = z_B - A_i z_A is kept in p_f, cotangents in p_w, p_dv */
static void pair_test(mbg__system *s, int i, const real *z, const mbg__cotangent *g) {
  const int A = s->model->pairs[i].A, B = s->model->pairs[i].B;
  const bool moves = s->end[A] || marker_body(s, A) >= 0; /* else z_A = 0 */
  real zA[6] = {0}, zB[6], x[6], fA[6], c[6];
  marker_test(s, B, z, zB);
  if (moves) {
    marker_test(s, A, z, zA);
    AdInv_mul(x, &s->G[i], zA);
    v6_sub(s->p_f[i], zB, x);
  } else {
    v6_copy(s->p_f[i], zB);
  }
  m6_mulv_T(c, s->F_G[i], s->p_f[i]);
  v6_axpy(s->p_w[i], -1, c);
  if (!s->bare) {
    m6_mulv_T(c, s->F_v[i], s->p_f[i]);
    v6_axpy(s->p_dv[i], -1, c);
  }
  if (moves) {
    /* -(A_i z_A) . ad(w_rel)^T F = (ad(A_i z_A)^T F) . w_rel */
    adT_mul(c, x, s->F[i]);
    v6_axpy(s->p_w[i], 1, c);
  }
  marker_geometry_pull(s, B, z, zB, s->F[i], g);
  if (s->end[A] || (g->a && s->marker_wanted[A])) {
    AdInvT_mul(fA, &s->G[i], s->F[i]);
    v6_scale(fA, -1, fA);
    marker_geometry_pull(s, A, z, zA, fA, g);
  }
}

/* J z in a plane, 0 on the ground; false: z is not flat there */
static bool flat_test(const mbg__system *s, int marker, const real *z, vec6 out) {
  const int body = marker_body(s, marker);
  const real *zb = body >= 0 ? z + s->model->bodies[body].voff : NULL;
  v6_zero(out);
  if (!zb) {
    return true;
  }
  flat_AdInv_mul(out, &s->design->markers[marker]->h, zb);
  return flat_vector(zb);
}

/* out -= A^T x, x flat */
static void flat_slopes_sub(real out[6], const real A[36], const real x[6]) {
  for (int j = 0; j < 6; j++) {
    out[j] -= x[0] * A[j] + x[1] * A[6 + j] + x[5] * A[30 + j];
  }
}

/* pair_test in a plane; false: weights or the wrench are not flat */
static bool flat_pair_test(mbg__system *s, int i, const real *z, const mbg__cotangent *g) {
  const int A = s->model->pairs[i].A, B = s->model->pairs[i].B;
  real zA[6], zB[6], x[6], fA[6], c[6];
  if (!s->flat || !flat_vector(s->F[i]) || !flat_test(s, B, z, zB) || !flat_test(s, A, z, zA)) {
    return false;
  }
  flat_AdInv_mul(x, &s->G[i], zA); /* on the ground 0 */
  v6_sub(s->p_f[i], zB, x);
  flat_slopes_sub(s->p_w[i], s->F_G[i], s->p_f[i]);
  if (!s->bare) {
    flat_slopes_sub(s->p_dv[i], s->F_v[i], s->p_f[i]);
  }
  flat_adT_mul(c, x, s->F[i]);
  flat_axpy(s->p_w[i], 1, c);
  marker_geometry_pull(s, B, z, zB, s->F[i], g);
  if (g->a && s->marker_wanted[A]) {
    flat_AdInvT_mul(fA, &s->G[i], s->F[i]);
    v6_scale(fA, -1, fA);
    marker_geometry_pull(s, A, z, zA, fA, g);
  }
  return true;
}

static void rows_pull(mbg__system *s, const real *z, const real *mu, const real *nu, const real *kappa,
                      const mbg__cotangent *g) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nrow; i++) {
    const real c0 = mu && !m->rows[i].rate ? mu[i] : 0, c1 = nu ? nu[i] : 0, c2 = kappa ? kappa[i] : 0;
    if (!r_some((c0 != 0) | (c1 != 0) | (c2 != 0) | (s->lambda[i] != 0)) && !g->lambda) {
      continue;
    }
    for (int k = m->rows[i].term; k < m->rows[i].term + m->rows[i].nterm; k++) {
      const int pair = m->terms[k].pair;
      const real *b = s->term[k].b;
      if (pair >= 0) {
        s->touched[pair] = true;
        if (r_some(c0 != 0)) {
          v6_axpy(s->p_w[pair], c0, b);
        }
        if (r_some(c1 != 0)) {
          v6_axpy(s->p_w[pair], c1, s->row_g[k].phid_G);
          v6_axpy(s->p_dv[pair], c1, b);
        }
        if (r_some(c2 != 0)) {
          v6_axpy(s->p_w[pair], c2, s->row_g[k].phidd_G);
          v6_axpy(s->p_dv[pair], c2, s->row_g[k].gamma_v);
          v6_axpy(s->p_dvd[pair], c2, b);
        }
        if (z && g->lambda) {
          g->lambda[i] += v6_dot(b, s->p_f[pair]);
        }
      }
      for (int j = 0; g->a && j < s->term_nattr[k]; j++) {
        const mbg__term_attr *a = &s->term_attr[s->term_attr0[k] + j];
        /* attributes of a law may follow from other attributes */
        if (m->terms[k].law < 0 && !wanted(s, a->attr)) {
          continue;
        }
        g->a[a->attr] += c0 * a->phi + c1 * a->phid + c2 * a->phidd;
        if (z && pair >= 0) {
          g->a[a->attr] += s->lambda[i] * v6_dot(a->b, s->p_f[pair]);
        }
      }
    }
  }
}

static void forces_pull(mbg__system *s, const mbg__cotangent *g) {
  const mbg_model *m = s->model;
  for (int i = 0; !s->bare && i < m->nforce; i++) {
    const int pair = m->forces[i].pair;
    if (!force_on(s, i)) {
      continue;
    }
    for (int k = s->force_a0[i]; g->a && k < s->force_a0[i] + s->force_na[i]; k++) {
      g->a[s->f_aidx[k]] -= v6_dot(s->f_a[k], s->p_f[pair]);
    }
    for (int c = s->cross_of[i]; cross_goes_on(s, c, i); c++) {
      /* r contains -X^T f */
      mbg__fn_signals_pull(s, s->cross[c].fn, -v6_dot(s->f_fn[s->cross[c].fn], s->p_f[pair]), g);
    }
  }
}

typedef struct {
  mbg__system *s;
  const real *z;
  const mbg__cotangent *g;
  bool rates;
} pull_job;

static void each_clear(void *user, int i) {
  const pull_job *j = user;
  const mbg__system *s = j->s;
  v6_zero(s->p_w[i]);
  v6_zero(s->p_dv[i]);
  v6_zero(s->p_dvd[i]);
  s->touched[i] = j->z && s->pair_on[i] && (s->loaded[i] || j->g->lambda);
}

static void each_test(void *user, int i) {
  const pull_job *j = user;
  if (j->s->touched[i] && !flat_pair_test(j->s, i, j->z, j->g)) {
    pair_test(j->s, i, j->z, j->g);
  }
}

static void each_pair(void *user, int i) {
  const pull_job *j = user;
  const mbg__system *s = j->s;
  if (s->touched[i]) {
    mbg__kin_signal_pull(s, i, j->rates ? MBG__LEVEL_ACCELERATION : MBG__LEVEL_VELOCITY, s->p_w[i], s->p_dv[i],
                         s->p_dvd[i], j->g);
  }
}

static void each_body(void *user, int i) {
  const pull_job *j = user;
  body_pull(j->s, i, j->z, j->g);
}

/* attributes of a body are its own; gravity belongs to all, in their order */
static void bodies_pull(const mbg__system *s, pull_job *job) {
  const mbg_model *m = s->model;
  mbg__pool_each(s->pool, MBG__EACH_BODY_PULL, m->nbody, each_body, job);
  for (int i = 0; weight_counts(s, job->g) && i < m->nbody; i++) {
    if (has_inertia(s, i) && has_weight(s, i)) {
      v3_axpy(job->g->a + m->gravity, -1, s->weight3[i]);
    }
  }
}

/* rows and forces */
static void pairs_pull(pull_job *job, const real *mu, const real *nu, const real *kappa, bool rows) {
  mbg__system *s = job->s;
  mbg__pool_each(s->pool, MBG__EACH_TOUCHED, s->model->npair, each_clear, job);
  if (job->z) {
    mbg__each_class(s, MBG__EACH_TEST, each_test, job);
  }
  if (rows) {
    rows_pull(s, job->z, mu, nu, kappa, job->g);
  }
  if (job->z) {
    forces_pull(s, job->g);
  }
  mbg__each_class(s, MBG__EACH_PAIR_PULL, each_pair, job);
}

void mbg__system_pull(mbg__system *s, const real *z, const real *mu, const real *nu, const real *kappa, real *gw,
                      real *gv, real *gvd, real *glambda, real *ga) {
  const mbg_model *m = s->model;
  const mbg__cotangent g = {gw, gv, gvd, glambda, ga};
  pull_job job = {s, z, &g, kappa != NULL};
  const bool rows = mu || nu || kappa || glambda || !s->unloaded;
  if (rows || (!s->bare && m->nforce + m->nelement > 0)) {
    pairs_pull(&job, mu, nu, kappa, rows);
  }
  if (z && !s->bare) {
    bodies_pull(s, &job);
  }
  if (z && !s->bare) {
    mbg__beams_pull(s, z, &g);
    mbg__modals_pull(s, z, &g);
  }
  /* gw stays whole: frames may vary with parameters outside their motions */
  for (int k = 0; k < 2; k++) {
    if (k ? gvd : gv) {
      clear_masked(s, k ? gvd : gv);
    }
  }
}
