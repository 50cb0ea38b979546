/* Beams: their elements as forces on the relative motion of two nodes, and their mass, which couples both:

     r_A, r_B += M (vd_A, vd_B) - (ad(v_A)^T p_A, ad(v_B)^T p_B) - m/2 (R^T g, 0 | R^T g, 0)
     p = M (v_A, v_B)     M = sum_j mu_j N_j(d0)     m = mu_1 L                              (theory 4, section 3) */
#include "system/system_internal.h"

#include <string.h>

/* what an element consists of */
typedef struct {
  const mbg__beam_element *e;
  const mbg__beam_data *data;
  const mbg__beam_shape *shape;
  const real *K; /* coefficients by name */
  real eta;
  const mbg__beam_state *state;
} element;

static element element_of(const mbg__system *s, int i) {
  const mbg__beam_element *e = &s->model->elements[i];
  const mbg__beam_data *data = &s->design->elements[i];
  return (element){.e = e,
                   .data = data,
                   .shape = &s->design->shapes[e->reference],
                   .K = data->c + MBG__BEAM_K,
                   .eta = data->c[MBG__BEAM_ETA],
                   .state = &s->beam[i]};
}

/* ---------------------------------------------------------------------- forces */

int mbg__beams_update(mbg_context *ctx, mbg__system *s) {
  for (int i = 0; i < s->model->nelement; i++) {
    const element b = element_of(s, i);
    const int pair = b.e->pair;
    if (!mbg__beam_eval(&s->G[pair], s->vrel[pair], b.K, b.eta, b.shape->d0, &s->beam[i])) {
      const mbg__beam *beam = &s->model->beams[b.e->beam];
      return mbg__fail_at(ctx, MBG_ERROR_CONVERGENCE, &beam->where, 0,
                          "element %d has turned by nearly pi between its nodes at t = %g; give the beam more "
                          "elements, or smaller steps",
                          i - beam->first, re(s->t));
    }
    v6_axpy(s->F[pair], 1, b.state->f);
  }
  return MBG_OK;
}

/* the strain is constant along an element, which loses its accuracy when it turns far (theory 4, section 10) */
void mbg__beams_watch(mbg__system *s) {
  for (int i = 0; i < s->model->nelement; i++) {
    const int number = s->model->elements[i].beam;
    mbg__beam_watch *w = &s->beam_watch[number];
    const double turn2 = re(v3_dot(s->beam[i].d + 3, s->beam[i].d + 3));
    if (turn2 <= MBG__BEAM_TURN_WARN * MBG__BEAM_TURN_WARN) {
      continue;
    }
    w->when = w->count > 0 ? w->when : re(s->t);
    w->count += !s->turned[i];
    s->turned[i] = true;
    if (sqrt(turn2) > w->turn) {
      w->turn = sqrt(turn2);
      w->element = i - s->model->beams[number].first;
    }
  }
}

void mbg__beams_warn(mbg_context *ctx, mbg__system *s) {
  for (int i = 0; i < s->model->nbeam; i++) {
    const mbg__beam *beam = &s->model->beams[i];
    mbg__beam_watch *w = &s->beam_watch[i];
    if (ctx && w->count > 0) {
      mbg__note(ctx, MBG_WARNING,
                "%s:%d:%d: beam '%s': element %d turns by up to %.3g rad between its nodes, %d of %d elements by more "
                "than %g, first at t = %g; give the beam more elements",
                beam->where.file, beam->where.line, beam->where.column, beam->name, w->element, w->turn, w->count,
                beam->count, MBG__BEAM_TURN_WARN, w->when);
    }
    w->turn = w->when = 0;
    w->element = w->count = 0;
  }
  if (s->model->nelement > 0) {
    memset(s->turned, 0, (size_t)s->model->nelement * sizeof(*s->turned));
  }
}

void mbg__beams_linearize(mbg__system *s) {
  for (int i = 0; i < s->model->nelement; i++) {
    const element b = element_of(s, i);
    const int pair = b.e->pair;
    real f_G[36], f_v[36];
    mbg__beam_derivatives(b.state, s->vrel[pair], b.K, b.eta, b.shape->L, f_G, f_v);
    m6_axpy(s->F_G[pair], 1, f_G);
    m6_axpy(s->F_v[pair], 1, f_v);
  }
}

/* ---------------------------------------------------------------------- attributes */

/* change of the coefficients of an element; false: none */
static bool coefs_push(const element *b, const real *da, real dc[MBG__BEAM_COEFS]) {
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

static void coefs_pull(const element *b, const real gc[MBG__BEAM_COEFS], real *ga) {
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
    const element b = element_of(s, i);
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

static const real *gravity_of(const mbg__system *s) {
  static const real none[3] = {0, 0, 0};
  return s->model->gravity >= 0 ? s->design->attr + s->model->gravity : none;
}

static void gather(const mbg__system *s, const element *b, const real *x, real out[12]) {
  v6_copy(out, x + s->model->bodies[b->e->body[0]].voff);
  v6_copy(out + 6, x + s->model->bodies[b->e->body[1]].voff);
}

static void scatter(const mbg__system *s, const element *b, real c, const real x[12], real *out) {
  v6_axpy(out + s->model->bodies[b->e->body[0]].voff, c, x);
  v6_axpy(out + s->model->bodies[b->e->body[1]].voff, c, x + 6);
}

static void mul(real out[12], const real M[144], const real x[12]) {
  vn_zero(12, out);
  mn_mulv_add(12, out, M, x);
}

/* (ad(v_A) x_A, ad(v_B) x_B) and its transpose */
static void ad_both(real out[12], const real v[12], const real x[12]) {
  ad_mul(out, v, x);
  ad_mul(out + 6, v + 6, x + 6);
}

static void adT_both(real out[12], const real v[12], const real x[12]) {
  adT_mul(out, v, x);
  adT_mul(out + 6, v + 6, x + 6);
}

/* gravity in the axes of node k */
static void node_gravity(const mbg__system *s, const element *b, int k, const real g[3], real a[3]) {
  m3_mulv_T(a, s->H[b->e->body[k]].R, g);
}

static real half_mass(const element *b) { return b->data->c[MBG__BEAM_MU] * b->shape->L / 2; }

/* r = M vd - ad(v)^T M v - half (R^T g): linear in M and half */
static void inertia(const mbg__system *s, const element *b, const real M[144], real half, const real g[3], real r[12]) {
  real v[12], vd[12], p[12], c[12];
  gather(s, b, s->v, v);
  gather(s, b, s->vd, vd);
  mul(p, M, v);
  mul(r, M, vd);
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
    const element b = element_of(s, i);
    real x[12];
    inertia(s, &b, b.data->M, half_mass(&b), gravity_of(s), x);
    scatter(s, &b, 1, x, r);
  }
}

void mbg__beams_mass_mul(const mbg__system *s, const real *x, real *y) {
  for (int i = 0; i < s->model->nelement; i++) {
    const element b = element_of(s, i);
    real in[12], out[12];
    gather(s, &b, x, in);
    mul(out, b.data->M, in);
    scatter(s, &b, 1, out, y);
  }
}

/* by attributes: dM = sum_j dmu_j N_j + mu_j dN_j, d half = (dmu_1 L + mu_1 dL)/2; and by gravity */
static void inertia_change(const mbg__system *s, const element *b, const real *da, real dr[12]) {
  const mbg__beam_work *w = &s->beam_work[b->e->reference];
  const real *mu = b->data->c + MBG__BEAM_MU, L = b->shape->L;
  real dc[MBG__BEAM_COEFS], dM[144] = {0};
  vn_zero(12, dr);
  if (coefs_push(b, da, dc) || w->any) {
    for (int j = 0; j < 3; j++) {
      vn_axpy(144, dM, dc[MBG__BEAM_MU + j], b->shape->N[j]);
      vn_axpy(144, dM, mu[j], w->N[j]);
    }
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
    const element b = element_of(s, i);
    real v[12], x[12], p[12], c[12], out[12] = {0};
    gather(s, &b, s->v, v);
    mul(p, b.data->M, v);
    if (d->dv) {
      /* -ad(dv)^T p - ad(v)^T M dv */
      gather(s, &b, d->dv, x);
      adT_both(c, x, p);
      vn_axpy(12, out, -1, c);
      mul(p, b.data->M, x);
      adT_both(c, v, p);
      vn_axpy(12, out, -1, c);
    }
    if (d->dvd) {
      gather(s, &b, d->dvd, x);
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
    scatter(s, &b, 1, out, dr);
  }
}

/* ---------------------------------------------------------------------- transposes */

/* y.f of the element with z_rel in p_f: -z.df = (T^-1 z).dy */
static void force_pull(const mbg__system *s, const element *b, real gc[MBG__BEAM_COEFS], real gd0[6]) {
  real u[6];
  m6_mulv(u, b->state->Ti, s->p_f[b->e->pair]);
  mbg__beam_change_T(b->state, b->K, b->eta, b->shape->d0, u, gc + MBG__BEAM_K, &gc[MBG__BEAM_ETA], gd0);
}

/* z.dM vd - (ad(v) z).dM v = <S, dM> with S = z vd^T - (ad(v) z) v^T; the part of N(d0) is summed over the elements that share it */
static void mass_pull(mbg__system *s, const element *b, const real z[12], const real u[12], const real v[12],
                      real gc[MBG__BEAM_COEFS]) {
  mbg__beam_work *w = &s->beam_work[b->e->reference];
  const real *mu = b->data->c + MBG__BEAM_MU;
  real vd[12], S[144];
  gather(s, b, s->vd, vd);
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

static void gravity_pull(const mbg__system *s, const element *b, const real z[12], real *gw, real *ga,
                         real gc[MBG__BEAM_COEFS], real gd0[6]) {
  const real half = half_mass(b), L = b->shape->L;
  real q = 0;
  for (int k = 0; s->model->gravity >= 0 && k < 2; k++) {
    const real *zU = z + 6 * k;
    real a[3], x[3];
    node_gravity(s, b, k, gravity_of(s), a);
    q += v3_dot(zU, a);
    if (gw) {
      v3_cross_add(gw + s->model->bodies[b->e->body[k]].voff + 3, -half, zU, a);
    }
    if (ga) {
      m3_mulv(x, s->H[b->e->body[k]].R, zU);
      v3_axpy(ga + s->model->gravity, -half, x);
    }
  }
  gc[MBG__BEAM_MU] -= q * L / 2;
  v3_axpy(gd0, -q * b->data->c[MBG__BEAM_MU] / (2 * L), b->shape->d0);
}

static void element_pull(mbg__system *s, int i, const real *z, real *gw, real *gv, real *gvd, real *ga) {
  const element b = element_of(s, i);
  real x[12], v[12], u[12], p[12], c[12], gc[MBG__BEAM_COEFS] = {0};
  gather(s, &b, z, x);
  gather(s, &b, s->v, v);
  ad_both(u, v, x);
  if (gv) {
    /* ad(z)^T p - M ad(v) z */
    mul(p, b.data->M, v);
    adT_both(c, x, p);
    scatter(s, &b, 1, c, gv);
    mul(c, b.data->M, u);
    scatter(s, &b, -1, c, gv);
  }
  if (gvd) {
    mul(c, b.data->M, x);
    scatter(s, &b, 1, c, gvd);
  }
  gravity_pull(s, &b, x, gw, ga, gc, s->beam_work[b.e->reference].d0);
  if (ga) {
    force_pull(s, &b, gc, s->beam_work[b.e->reference].d0);
    mass_pull(s, &b, x, u, v, gc);
    coefs_pull(&b, gc, ga);
  }
}

void mbg__beams_pull(mbg__system *s, const real *z, real *gw, real *gv, real *gvd, real *ga) {
  for (int i = 0; i < s->model->nreference; i++) {
    v6_zero(s->beam_work[i].d0);
    memset(s->beam_work[i].N, 0, sizeof(s->beam_work[i].N));
  }
  for (int i = 0; i < s->model->nelement; i++) {
    element_pull(s, i, z, gw, gv, gvd, ga);
  }
  for (int i = 0; ga && i < s->model->nreference; i++) {
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

/* ---------------------------------------------------------------------- matrices */

static void take_block(const real M[144], int q, int p, real A[36]) {
  for (int i = 0; i < 6; i++) {
    v6_copy(A + 6 * i, M + 12 * (6 * q + i) + 6 * p);
  }
}

/* C_QP = -ad(v_Q)^T M_QP - [Q = P] C(p_Q),  K_QQ = -half (R^T g)~ on the columns of W */
void mbg__beams_matrices(const mbg__system *s, const mbg__matrices *out) {
  for (int i = 0; i < s->model->nelement; i++) {
    const element b = element_of(s, i);
    real v[12], p[12], A[36], B[36], ad[36], a[3], S[9];
    gather(s, &b, s->v, v);
    mul(p, b.data->M, v);
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

/* ---------------------------------------------------------------------- energies */

static void range_of(const mbg_model *m, const mbg__signal *sig, int *first, int *last) {
  *first = 0;
  *last = m->nelement;
  if (sig && sig->element >= 0) {
    *first = sig->element;
    *last = sig->element + 1;
  } else if (sig && sig->beam >= 0) {
    *first = m->beams[sig->beam].first;
    *last = *first + m->beams[sig->beam].count;
  }
}

real mbg__beams_strain_energy(const mbg__system *s, const mbg__signal *sig) {
  int first, last;
  real e = 0;
  range_of(s->model, sig, &first, &last);
  for (int i = first; i < last; i++) {
    e += s->beam[i].energy;
  }
  return e;
}

/* Twists of an element, and (z) those of node `body` alone, of both when it is -1; false: it is no node of the element. The energy
   of a node is its share z.M v/2, so that those of all nodes add up to that of the beam. */
static bool share(const mbg__system *s, const element *b, int body, real v[12], real z[12]) {
  gather(s, b, s->v, v);
  vn_copy(12, z, v);
  for (int k = 0; body >= 0 && k < 2; k++) {
    if (b->e->body[k] != body) {
      v6_zero(z + 6 * k);
    }
  }
  return body < 0 || b->e->body[0] == body || b->e->body[1] == body;
}

real mbg__beams_kinetic(const mbg__system *s, int body) {
  real e = 0;
  for (int i = 0; i < s->model->nelement; i++) {
    const element b = element_of(s, i);
    real v[12], z[12], p[12];
    if (share(s, &b, body, v, z)) {
      mul(p, b.data->M, v);
      e += vn_dot(12, z, p) / 2;
    }
  }
  return e;
}

/* -half g.(x_A + x_B) */
real mbg__beams_gravity(const mbg__system *s) {
  real e = 0;
  for (int i = 0; s->model->gravity >= 0 && i < s->model->nelement; i++) {
    const element b = element_of(s, i);
    const real *g = gravity_of(s);
    e -= half_mass(&b) * (v3_dot(g, s->H[b.e->body[0]].x) + v3_dot(g, s->H[b.e->body[1]].x));
  }
  return e;
}

/* by v: (E M v + M z)/2 with z = E v */
static void kinetic_pull_v(const mbg__system *s, const element *b, int body, const real v[12], const real z[12], real c,
                           real *gv) {
  real p[12];
  mul(p, b->data->M, v);
  for (int k = 0; k < 2; k++) {
    if (body < 0 || b->e->body[k] == body) {
      v6_axpy(gv + s->model->bodies[b->e->body[k]].voff, c / 2, p + 6 * k);
    }
  }
  mul(p, b->data->M, z);
  scatter(s, b, c / 2, p, gv);
}

void mbg__beams_kinetic_pull(const mbg__system *s, int body, real c, real *gv, real *ga) {
  for (int i = 0; i < s->model->nelement; i++) {
    const element b = element_of(s, i);
    const real *mu = b.data->c + MBG__BEAM_MU;
    real v[12], z[12], p[12], gc[MBG__BEAM_COEFS] = {0}, gd0[6] = {0};
    if (!share(s, &b, body, v, z)) {
      continue;
    }
    if (gv) {
      kinetic_pull_v(s, &b, body, v, z, c, gv);
    }
    for (int j = 0; ga && j < 3; j++) {
      mul(p, b.shape->N[j], v);
      gc[MBG__BEAM_MU + j] = c * vn_dot(12, z, p) / 2;
      for (int k = 0; k < 6; k++) {
        mul(p, b.shape->N_d[k][j], v);
        gd0[k] += c * mu[j] * vn_dot(12, z, p) / 2;
      }
    }
    if (ga) {
      coefs_pull(&b, gc, ga);
      shape_pull(b.shape, gd0, ga);
    }
  }
}

void mbg__beams_gravity_pull(const mbg__system *s, real c, real *gw, real *ga) {
  for (int i = 0; s->model->gravity >= 0 && i < s->model->nelement; i++) {
    const element b = element_of(s, i);
    const real half = half_mass(&b), *g = gravity_of(s);
    real gc[MBG__BEAM_COEFS] = {0}, gd0[6] = {0}, q = 0;
    for (int k = 0; k < 2; k++) {
      const mbg__frame *H = &s->H[b.e->body[k]];
      real a[3];
      q += v3_dot(g, H->x);
      if (gw) {
        node_gravity(s, &b, k, g, a);
        v3_axpy(gw + s->model->bodies[b.e->body[k]].voff, -c * half, a);
      }
      if (ga) {
        v3_axpy(ga + s->model->gravity, -c * half, H->x);
      }
    }
    if (ga) {
      gc[MBG__BEAM_MU] = -c * q * b.shape->L / 2;
      v3_axpy(gd0, -c * q * b.data->c[MBG__BEAM_MU] / (2 * b.shape->L), b.shape->d0);
      coefs_pull(&b, gc, ga);
      shape_pull(b.shape, gd0, ga);
    }
  }
}

/* energy e.K e/(2 L):  by G: T^-T K e/L;  by K_k: e_k^2/(2 L);  by d0: -K e/L - energy d0_U/L^2 */
void mbg__beams_strain_energy_pull(const mbg__system *s, const mbg__signal *sig, real c, real *gw, real *gv, real *gvd,
                                   real *ga) {
  int first, last;
  const vec6 zero = {0};
  range_of(s->model, sig, &first, &last);
  for (int i = first; i < last; i++) {
    const element b = element_of(s, i);
    const real L = b.shape->L;
    real y[6], w[6], gc[MBG__BEAM_COEFS] = {0}, gd0[6];
    for (int k = 0; k < 6; k++) {
      y[k] = c * b.K[k] * b.state->e[k] / L;
      gc[MBG__BEAM_K + k] = c * b.state->e[k] * b.state->e[k] / (2 * L);
      gd0[k] = -y[k];
    }
    v3_axpy(gd0, -c * b.state->energy / (L * L), b.shape->d0);
    m6_mulv_T(w, b.state->Ti, y);
    mbg__kin_pair_pull(s, b.e->pair, w, zero, NULL, gw, gv, gvd, ga);
    if (ga) {
      coefs_pull(&b, gc, ga);
      shape_pull(b.shape, gd0, ga);
    }
  }
}

/* ---------------------------------------------------------------------- strains, section forces, stresses */

/* Stress of the solid material at the point (y, z) of the section: E (eps_1 + z eps_5 - y eps_6). Weights of the strains. */
static void stress_weights(const mbg__system *s, const mbg__signal *sig, const element *b, real q[6]) {
  const real E = s->design->attr[b->e->attr[MBG__BEAM_E]], *at = s->design->attr + sig->attr;
  v6_zero(q);
  q[0] = E;
  q[4] = E * at[1];
  q[5] = -E * at[0];
}

static void strain_weights(const mbg__system *s, const mbg__signal *sig, const element *b, real q[6]) {
  if (sig->type->role == MBG__ROLE_STRESS) {
    stress_weights(s, sig, b, q);
    return;
  }
  v6_zero(q);
  q[sig->opt[0]] = 1;
}

real mbg__beam_signal(const mbg__system *s, const mbg__signal *sig) {
  const element b = element_of(s, sig->element);
  real q[6];
  if (sig->type->role == MBG__ROLE_SECTION_FORCE) {
    return b.state->y[sig->opt[0]];
  }
  strain_weights(s, sig, &b, q);
  return v6_dot(q, b.state->e) / b.shape->L;
}

static void section_force_pull(const mbg__system *s, const element *b, int k, real c, vec6 gw, vec6 gv,
                               real gc[MBG__BEAM_COEFS], real gd0[6]) {
  real y_G[36], y_v[36], u[6] = {0};
  mbg__beam_section_forces(b->state, s->vrel[b->e->pair], b->K, b->eta, b->shape->L, y_G, y_v);
  v6_scale(gw, c, y_G + 6 * k);
  v6_scale(gv, c, y_v + 6 * k);
  u[k] = c;
  mbg__beam_change_T(b->state, b->K, b->eta, b->shape->d0, u, gc + MBG__BEAM_K, &gc[MBG__BEAM_ETA], gd0);
}

void mbg__beam_signal_pull(const mbg__system *s, const mbg__signal *sig, real c, real *gw, real *gv, real *gvd,
                           real *ga) {
  const element b = element_of(s, sig->element);
  const real L = b.shape->L;
  vec6 w, v = {0};
  real q[6], gc[MBG__BEAM_COEFS] = {0}, gd0[6] = {0};
  if (sig->type->role == MBG__ROLE_SECTION_FORCE) {
    section_force_pull(s, &b, sig->opt[0], c, w, v, gc, gd0);
  } else {
    /* y = q.e/L:  by G: T^-T q/L;  by d0: -q/L - y d0_U/L^2 */
    strain_weights(s, sig, &b, q);
    const real y = v6_dot(q, b.state->e) / L;
    m6_mulv_T(w, b.state->Ti, q);
    v6_scale(w, c / L, w);
    v6_axpy(gd0, -c / L, q);
    v3_axpy(gd0, -c * y / (L * L), b.shape->d0);
    if (ga && sig->type->role == MBG__ROLE_STRESS) {
      const int E = b.e->attr[MBG__BEAM_E];
      ga[E] += c * y / s->design->attr[E];
      ga[sig->attr] -= c * s->design->attr[E] * b.state->e[5] / L;
      ga[sig->attr + 1] += c * s->design->attr[E] * b.state->e[4] / L;
    }
  }
  mbg__kin_pair_pull(s, b.e->pair, w, v, NULL, gw, gv, gvd, ga);
  if (ga) {
    coefs_pull(&b, gc, ga);
    shape_pull(b.shape, gd0, ga);
  }
}
