/* Beams: their elements as forces on the relative motion of two nodes, and their mass, which couples both:

     r_A, r_B += M (vd_A, vd_B) - (ad(v_A)^T p_A, ad(v_B)^T p_B) - m/2 (R^T g, 0 | R^T g, 0)
     p = M (v_A, v_B)     M = sum_j mu_j N_j(d0)     m = mu_1 L                              (theory 4, section 3) */
#include "system/system_beams.h"

#include <string.h>

/* ---------------------------------------------------------------------- forces */

int mbg__beams_update(mbg_context *ctx, mbg__system *s) {
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    const int pair = b.e->pair;
    if (!mbg__beam_eval(&s->G[pair], s->vrel[pair], b.K, b.eta, b.shape->d0, &s->beam[i])) {
      const mbg__beam *beam = &s->model->beams[b.e->beam];
      return mbg__fail_at(ctx, MBG_ERROR_CONVERGENCE, &beam->where, 0,
                          "element %d has turned by nearly pi between its nodes at t = %g; use more elements or "
                          "smaller steps",
                          i - beam->first, mbg__time_shown(re(s->t)));
    }
    v6_axpy(s->F[pair], 1, b.state->f);
  }
  return MBG_OK;
}

void mbg__beams_linearize(mbg__system *s) {
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    const int pair = b.e->pair;
    real f_G[36], f_v[36];
    mbg__beam_derivatives(b.state, s->vrel[pair], b.K, b.eta, b.shape->L, f_G, f_v);
    m6_axpy(s->F_G[pair], 1, f_G);
    m6_axpy(s->F_v[pair], 1, f_v);
  }
}

/* ---------------------------------------------------------------------- attributes */

/* change of the coefficients of an element; false: none */
static bool coefs_push(const mbg__element *b, const real *da, real dc[MBG__BEAM_COEFS]) {
  bool any = false;
  vn_zero(MBG__BEAM_COEFS, dc);
  for (int k = 0; k < MBG__BEAM_NUMBERS; k++) {
    const real dz = b->e->attr[k] < 0 ? 0 : da[b->e->attr[k]];
    for (int i = 0; dz != 0 && i < MBG__BEAM_COEFS; i++) {
      dc[i] += b->data->c_z[i][k] * dz;
      any = true;
    }
  }
  return any;
}

static void coefs_pull(const mbg__element *b, const real gc[MBG__BEAM_COEFS], real *ga) {
  for (int k = 0; k < MBG__BEAM_NUMBERS; k++) {
    real g = 0;
    for (int i = 0; b->e->attr[k] >= 0 && i < MBG__BEAM_COEFS; i++) {
      g += gc[i] * b->data->c_z[i][k];
    }
    if (b->e->attr[k] >= 0) {
      ga[b->e->attr[k]] += g;
    }
  }
}

static void shape_pull(const mbg__beam_shape *shape, const real gd0[6], real *ga) {
  for (int k = 0; k < shape->ndep; k++) {
    ga[shape->dep[k]] += v6_dot(shape->d0_a[k], gd0);
  }
}

void mbg__element_attributes_pull(const mbg__element *b, const real gc[MBG__BEAM_COEFS], const real gd0[6], real *ga) {
  if (ga) {
    coefs_pull(b, gc, ga);
    shape_pull(b->shape, gd0, ga);
  }
}

/* change of d0 and of N along the direction, for each reference */
static void shapes_push(mbg__system *s, const real *da) {
  for (int i = 0; i < s->model->nreference; i++) {
    const mbg__beam_shape *shape = &s->design->shapes[i];
    mbg__beam_work *w = &s->beam_work[i];
    v6_zero(w->d0);
    for (int k = 0; k < shape->ndep; k++) {
      v6_axpy(w->d0, da[shape->dep[k]], shape->d0_a[k]);
    }
    w->any = false;
    memset(w->N, 0, sizeof(w->N));
    for (int k = 0; k < 6; k++) {
      w->any = w->any || w->d0[k] != 0;
      for (int j = 0; w->d0[k] != 0 && j < 3; j++) {
        vn_axpy(144, w->N[j], w->d0[k], shape->N_d[k][j]);
      }
    }
  }
}

void mbg__beams_push(mbg__system *s, const mbg__direction *d) {
  if (!d->da) {
    return;
  }
  shapes_push(s, d->da);
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    const mbg__beam_work *w = &s->beam_work[b.e->reference];
    real dc[MBG__BEAM_COEFS], dy[6], df[6];
    if (coefs_push(&b, d->da, dc) || w->any) {
      mbg__beam_change(b.state, b.K, b.eta, b.shape->d0, dc, dc[MBG__BEAM_ETA], w->d0, dy);
      m6_mulv_T(df, b.state->Ti, dy);
      v6_axpy(s->p_f[b.e->pair], -1, df);
    }
  }
}

/* ---------------------------------------------------------------------- inertia */

/* (ad(v_A) x_A, ad(v_B) x_B) and its transpose */
static void ad_both(real out[12], const real v[12], const real x[12]) {
  ad_mul(out, v, x);
  ad_mul(out + 6, v + 6, x + 6);
}

static void adT_both(real out[12], const real v[12], const real x[12]) {
  adT_mul(out, v, x);
  adT_mul(out + 6, v + 6, x + 6);
}

/* r = M vd - ad(v)^T M v - half (R^T g): linear in M and half */
static void inertia(const mbg__system *s, const mbg__element *b, const real M[144], real half, const real g[3],
                    real r[12]) {
  real v[12], vd[12], p[12], c[12];
  element_gather(s, b, s->v, v);
  element_gather(s, b, s->vd, vd);
  element_mul(p, M, v);
  element_mul(r, M, vd);
  adT_both(c, v, p);
  vn_axpy(12, r, -1, c);
  for (int k = 0; k < 2; k++) {
    real a[3];
    node_gravity(s, b, k, g, a);
    v3_axpy(r + 6 * k, -half, a);
  }
}

void mbg__beams_residual(const mbg__system *s, real *r) {
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    real x[12];
    inertia(s, &b, b.data->M, half_mass(&b), gravity_of(s), x);
    element_scatter(s, &b, 1, x, r);
  }
}

void mbg__beams_mass_mul(const mbg__system *s, const real *x, real *y) {
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    real in[12], out[12];
    element_gather(s, &b, x, in);
    element_mul(out, b.data->M, in);
    element_scatter(s, &b, 1, out, y);
  }
}

/* dM of an element along the direction of the last shapes_push; false: 0 */
static bool mass_change(const mbg__system *s, const mbg__element *b, const real *da, real dc[MBG__BEAM_COEFS],
                        real dM[144]) {
  const mbg__beam_work *w = &s->beam_work[b->e->reference];
  const real *mu = b->data->c + MBG__BEAM_MU;
  if (!coefs_push(b, da, dc) && !w->any) {
    return false;
  }
  vn_zero(144, dM);
  for (int j = 0; j < 3; j++) {
    vn_axpy(144, dM, dc[MBG__BEAM_MU + j], b->shape->N[j]);
    vn_axpy(144, dM, mu[j], w->N[j]);
  }
  return true;
}

/* by attributes: dM = sum_j dmu_j N_j + mu_j dN_j, d half = (dmu_1 L + mu_1 dL)/2; and by gravity */
static void inertia_change(const mbg__system *s, const mbg__element *b, const real *da, real dr[12]) {
  const mbg__beam_work *w = &s->beam_work[b->e->reference];
  const real *mu = b->data->c + MBG__BEAM_MU, L = b->shape->L;
  real dc[MBG__BEAM_COEFS], dM[144];
  vn_zero(12, dr);
  if (mass_change(s, b, da, dc, dM)) {
    const real dL = v3_dot(b->shape->d0, w->d0) / L;
    inertia(s, b, dM, (dc[MBG__BEAM_MU] * L + mu[0] * dL) / 2, gravity_of(s), dr);
  }
  for (int k = 0; s->model->gravity >= 0 && k < 2; k++) {
    real a[3];
    node_gravity(s, b, k, da + s->model->gravity, a);
    v3_axpy(dr + 6 * k, -half_mass(b), a);
  }
}

void mbg__beams_inertia_push(const mbg__system *s, const mbg__direction *d, real *dr) {
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    real v[12], x[12], p[12], c[12], out[12] = {0};
    element_gather(s, &b, s->v, v);
    element_mul(p, b.data->M, v);
    if (d->dv) {
      /* -ad(dv)^T p - ad(v)^T M dv */
      element_gather(s, &b, d->dv, x);
      adT_both(c, x, p);
      vn_axpy(12, out, -1, c);
      element_mul(p, b.data->M, x);
      adT_both(c, v, p);
      vn_axpy(12, out, -1, c);
    }
    if (d->dvd) {
      element_gather(s, &b, d->dvd, x);
      mn_mulv_add(12, out, b.data->M, x);
    }
    for (int k = 0; d->w && k < 2; k++) {
      /* d(R^T g) = R^T g x W */
      real a[3];
      node_gravity(s, &b, k, gravity_of(s), a);
      v3_cross_add(out + 6 * k, -half_mass(&b), a, d->w + s->model->bodies[b.e->body[k]].voff + 3);
    }
    if (d->da) {
      inertia_change(s, &b, d->da, c);
      vn_axpy(12, out, 1, c);
    }
    element_scatter(s, &b, 1, out, dr);
  }
}

void mbg__beams_mass_push(mbg__system *s, const real *u, const real *da, real *dr) {
  if (!da || s->model->nelement == 0) {
    return;
  }
  shapes_push(s, da);
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    real dc[MBG__BEAM_COEFS], dM[144], in[12], out[12];
    if (mass_change(s, &b, da, dc, dM)) {
      element_gather(s, &b, u, in);
      element_mul(out, dM, in);
      element_scatter(s, &b, 1, out, dr);
    }
  }
}

/* ---------------------------------------------------------------------- transposes */

/* y.f of the element with z_rel in p_f: -z.df = (T^-1 z).dy */
static void force_pull(const mbg__system *s, const mbg__element *b, real gc[MBG__BEAM_COEFS], real gd0[6]) {
  real u[6];
  m6_mulv(u, b->state->Ti, s->p_f[b->e->pair]);
  mbg__beam_change_T(b->state, b->K, b->eta, b->shape->d0, u, gc + MBG__BEAM_K, &gc[MBG__BEAM_ETA], gd0);
}

/* z.dM vd - (ad(v) z).dM v = <S, dM> with S = z vd^T - (ad(v) z) v^T, u = ad(v) z; the part of N(d0) is summed over
   the elements that share it */
static void mass_pull(mbg__system *s, const mbg__element *b, const real z[12], const real vd[12], const real u[12],
                      const real v[12], real gc[MBG__BEAM_COEFS]) {
  mbg__beam_work *w = &s->beam_work[b->e->reference];
  const real *mu = b->data->c + MBG__BEAM_MU;
  real S[144];
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 12; j++) {
      S[12 * i + j] = z[i] * vd[j] - u[i] * v[j];
    }
  }
  for (int j = 0; j < 3; j++) {
    gc[MBG__BEAM_MU + j] += vn_dot(144, S, b->shape->N[j]);
    vn_axpy(144, w->N[j], mu[j], S);
  }
}

static void gravity_pull(const mbg__system *s, const mbg__element *b, const real z[12], const mbg__cotangent *g,
                         real gc[MBG__BEAM_COEFS], real gd0[6]) {
  const real half = half_mass(b), L = b->shape->L;
  real q = 0;
  for (int k = 0; s->model->gravity >= 0 && k < 2; k++) {
    const real *zU = z + 6 * k;
    real a[3], x[3];
    node_gravity(s, b, k, gravity_of(s), a);
    q += v3_dot(zU, a);
    if (g->w) {
      v3_cross_add(g->w + s->model->bodies[b->e->body[k]].voff + 3, -half, zU, a);
    }
    if (g->a) {
      m3_mulv(x, s->H[b->e->body[k]].R, zU);
      v3_axpy(g->a + s->model->gravity, -half, x);
    }
  }
  gc[MBG__BEAM_MU] -= q * L / 2;
  v3_axpy(gd0, -q * b->data->c[MBG__BEAM_MU] / (2 * L), b->shape->d0);
}

static void element_pull(mbg__system *s, int i, const real *z, const mbg__cotangent *g) {
  const mbg__element b = element_of(s, i);
  real x[12], v[12], u[12], p[12], c[12], gc[MBG__BEAM_COEFS] = {0};
  element_gather(s, &b, z, x);
  element_gather(s, &b, s->v, v);
  ad_both(u, v, x);
  if (g->v) {
    /* ad(z)^T p - M ad(v) z */
    element_mul(p, b.data->M, v);
    adT_both(c, x, p);
    element_scatter(s, &b, 1, c, g->v);
    element_mul(c, b.data->M, u);
    element_scatter(s, &b, -1, c, g->v);
  }
  if (g->vd) {
    element_mul(c, b.data->M, x);
    element_scatter(s, &b, 1, c, g->vd);
  }
  gravity_pull(s, &b, x, g, gc, s->beam_work[b.e->reference].d0);
  if (g->a) {
    force_pull(s, &b, gc, s->beam_work[b.e->reference].d0);
    element_gather(s, &b, s->vd, p);
    mass_pull(s, &b, x, p, u, v, gc);
    coefs_pull(&b, gc, g->a);
  }
}

static void shapes_begin(mbg__system *s) {
  for (int i = 0; i < s->model->nreference; i++) {
    v6_zero(s->beam_work[i].d0);
    memset(s->beam_work[i].N, 0, sizeof(s->beam_work[i].N));
  }
}

/* cotangents of N and d0, collected from the elements, to attributes */
static void shapes_pull(mbg__system *s, real *ga) {
  for (int i = 0; i < s->model->nreference; i++) {
    mbg__beam_work *w = &s->beam_work[i];
    const mbg__beam_shape *shape = &s->design->shapes[i];
    for (int k = 0; k < 6; k++) {
      for (int j = 0; j < 3; j++) {
        w->d0[k] += vn_dot(144, w->N[j], shape->N_d[k][j]);
      }
    }
    shape_pull(shape, w->d0, ga);
  }
}

void mbg__beams_pull(mbg__system *s, const real *z, const mbg__cotangent *g) {
  shapes_begin(s);
  for (int i = 0; i < s->model->nelement; i++) {
    element_pull(s, i, z, g);
  }
  if (g->a) {
    shapes_pull(s, g->a);
  }
}

void mbg__beams_mass_pull(mbg__system *s, const real *u, const real *z, real *ga) {
  static const real zero[12] = {0};
  if (!ga || s->model->nelement == 0) {
    return;
  }
  shapes_begin(s);
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    real x[12], y[12], gc[MBG__BEAM_COEFS] = {0};
    element_gather(s, &b, z, x);
    element_gather(s, &b, u, y);
    mass_pull(s, &b, x, y, zero, zero, gc);
    coefs_pull(&b, gc, ga);
  }
  shapes_pull(s, ga);
}

/* ---------------------------------------------------------------------- matrices */

static void take_block(const real M[144], int q, int p, real A[36]) {
  for (int i = 0; i < 6; i++) {
    v6_copy(A + 6 * i, M + 12 * (6 * q + i) + 6 * p);
  }
}

/* C_QP = -ad(v_Q)^T M_QP - [Q = P] C(p_Q),  K_QQ = -half (R^T g)~ on the columns of W */
void mbg__beams_matrices(const mbg__system *s, const mbg__matrices *out) {
  for (int i = 0; i < s->model->nelement; i++) {
    const mbg__element b = element_of(s, i);
    real v[12], p[12], A[36], B[36], ad[36], a[3], S[9];
    element_gather(s, &b, s->v, v);
    element_mul(p, b.data->M, v);
    for (int Q = 0; Q < 2; Q++) {
      const int *block = s->pair_blocks[b.e->pair].block[Q];
      mbg__ad_matrix(ad, v + 6 * Q);
      for (int P = 0; P < 2; P++) {
        take_block(b.data->M, Q, P, A);
        mbg__matrix_block(s, block[P], 1, A, out->M);
        if (!s->bare && out->C) {
          m6_mul_TN(B, ad, A);
          mbg__matrix_block(s, block[P], -1, B, out->C);
        }
      }
      if (!s->bare && out->C) {
        mbg__coad_matrix(A, p + 6 * Q);
        mbg__matrix_block(s, block[Q], -1, A, out->C);
      }
      if (!s->bare && out->K && s->model->gravity >= 0) {
        node_gravity(s, &b, Q, gravity_of(s), a);
        m3_skew(S, a);
        m6_zero(A);
        m6_set_block(A, 0, 1, -half_mass(&b), S);
        mbg__matrix_block(s, block[Q], 1, A, out->K);
      }
    }
  }
}
