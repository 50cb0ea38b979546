/* Derivatives of models in a plane and their transposes: system_kinematics.c and system_pull.c in three components. */
#include "system/system_plane.h"

#include <string.h>

/* ---------------------------------------------------------------------- linearization */

static void rates_of(const mbg__plane *p, const mbg__plane_end *e, const real *full, vec3 out) {
  vec3 own;
  if (e->body >= 0) {
    plane_take(own, full + p->s->model->bodies[e->body].voff);
    plane_in(&e->h, own, out);
  }
}

/* F -= lambda b, F_G -= lambda L */
static void load(const mbg__plane_row *row, real lambda, real F[3], real F_G[9]) {
  v3_axpy(F, -lambda, row->b);
  F_G[2] -= lambda * row->b[1];
  F_G[5] += lambda * row->b[0];
  F_G[8] -= lambda * row->slope;
}

void mbg__plane_linearize(mbg__plane *p, const real *a, const real *lambda, const real *u, const real *kappa) {
  mbg__plane_laws(p, true);
  memcpy(p->a, a, (size_t)p->s->model->nw * sizeof(real));
  for (int i = 0; i < p->npair; i++) {
    mbg__plane_pair *q = &p->pairs[i];
    rates_of(p, &q->A, a, q->dA);
    rates_of(p, &q->B, a, q->dB);
    plane_in(&q->G, q->dA, q->ad);
    v3_sub(q->drel, q->dB, q->ad);
    v3_axpy(q->drel, 1, q->rest);
    if (q->first < 0) { /* the other twists belong to rows */
      continue;
    }
    rates_of(p, &q->A, u, q->uA);
    rates_of(p, &q->B, u, q->uB);
    plane_in(&q->G, q->uA, q->ua);
    v3_sub(q->urel, q->uB, q->ua);
    v3_zero(q->F2);
    m3_zero(q->F2_G);
    for (int k = q->first; k >= 0; k = p->rows[k].next) {
      load(&p->rows[k], lambda[k], q->F, q->F_G);
      load(&p->rows[k], kappa[k], q->F2, q->F2_G);
    }
  }
}

/* ---------------------------------------------------------------------- pairs */

/* z at both ends of a pair, Ad(G^-1) z_A, and z_rel */
typedef struct {
  vec3 A, B, far, rel;
} test;

static void test_pair(const mbg__plane_pair *q, const real *z, test *t) {
  *t = (test){0};
  if (q->A.body >= 0) {
    plane_in(&q->A.h, z + 3 * q->A.body, t->A);
    plane_in(&q->G, t->A, t->far);
  }
  if (q->B.body >= 0) {
    plane_in(&q->B.h, z + 3 * q->B.body, t->B);
  }
  v3_sub(t->rel, t->B, t->far);
}

/* out -= A^T z */
static void slopes(real out[3], const real A[9], const real z[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] -= A[k] * z[0] + A[3 + k] * z[1] + A[6 + k] * z[2];
  }
}

/* cotangents of the relative frame, twist and rate, and of the other twist */
typedef struct {
  vec3 w, v, vd, u;
} cotangents;

static void pull_row(const mbg__plane_pair *q, const mbg__plane_row *row, real mu, real eta, real nu, cotangents *g) {
  const real *b = row->b, *v = q->rel, *d = q->drel, *u = q->urel;
  if (row->l < 0) {
    g->w[2] += mu * (d[0] * b[1] - d[1] * b[0] - v[2] * (v[0] * b[0] + v[1] * b[1]));
    g->w[2] += nu * (u[0] * b[1] - u[1] * b[0]);
    v3_axpy(g->v, mu, (const real[3]){b[1] * v[2], -b[0] * v[2], v[0] * b[1] - v[1] * b[0]});
  } else {
    g->w[2] += mu * (row->slope * d[2] - b[2] * v[2] * v[2]) + nu * row->slope * u[2];
    g->v[2] += mu * 2 * row->slope * v[2];
  }
  v3_axpy(g->w, eta, b);
  v3_axpy(g->vd, mu, b);
  v3_axpy(g->u, nu, b);
}

/* of the relative motion to those of marker B: w and v change; gA: by Ad(G^-1) dv_A besides */
static void to_end(const mbg__plane_pair *q, cotangents *g, vec3 gA) {
  vec3 x = {0};
  plane_adT_add(g->w, -1, q->a, g->v);
  plane_adT_add(g->w, -1, q->ad, g->vd);
  plane_adT_add(g->w, -1, q->ua, g->u);
  plane_adT_add(x, 1, q->a, g->vd);
  v3_axpy(g->v, -1, x);
  v3_zero(gA);
  plane_adT_add(gA, 1, q->rel, g->vd);
  v3_axpy(x, 1, gA);
  plane_adT_add(g->w, 1, q->a, x);
}

static void far_end(const mbg__plane_pair *q, const cotangents *B, const vec3 gA, cotangents *A) {
  vec3 x;
  plane_out(&q->G, B->w, A->w);
  v3_scale(A->w, -1, A->w);
  v3_sub(x, gA, B->v);
  plane_out(&q->G, x, A->v);
}

static void give_end(const mbg__plane *p, const mbg__plane_end *e, const cotangents *g) {
  vec3 x;
  if (e->body >= 0) {
    plane_out(&e->h, g->w, x);
    v3_axpy(p->gw[e->body], 1, x);
    plane_out(&e->h, g->v, x);
    v3_axpy(p->gv[e->body], 1, x);
  }
}

/* attributes that move a marker; d, u: its rate and other twist, F, F2: wrenches on it, z, y: weights there */
static void move_end(const mbg__plane *p, const mbg__plane_end *e, const cotangents *g, const vec3 d, const vec3 u,
                     const real *F[2], const real *z[2], real *ga) {
  vec3 x;
  v3_copy(x, g->w);
  if (e->body >= 0) {
    plane_adT_add(x, 1, e->v, g->v);
    plane_adT_add(x, 1, d, g->vd);
    plane_adT_add(x, 1, u, g->u);
    plane_adT_add(x, -1, z[0], F[0]);
    plane_adT_add(x, -1, z[1], F[1]);
  }
  marker_attributes_pull(p->s, e->marker, (const real[6]){x[0], x[1], 0, 0, 0, x[2]}, ga);
}

static bool moves(const mbg__plane *p, const mbg__plane_end *e) {
  return p->s->marker_wanted[e->marker] && p->s->design->markers[e->marker]->ndep > 0;
}

static void pull_moves(const mbg__plane *p, const mbg__plane_pair *q, const cotangents *B, cotangents *A, const test *z,
                       const test *y, real *ga) {
  if (moves(p, &q->B)) {
    move_end(p, &q->B, B, q->dB, q->uB, (const real *[]){q->F, q->F2}, (const real *[]){z->B, y->B}, ga);
  }
  if (moves(p, &q->A)) {
    vec3 F, F2;
    plane_out(&q->G, B->vd, A->vd);
    plane_out(&q->G, B->u, A->u);
    plane_out(&q->G, q->F, F);
    plane_out(&q->G, q->F2, F2);
    v3_scale(A->vd, -1, A->vd);
    v3_scale(A->u, -1, A->u);
    v3_scale(F, -1, F);
    v3_scale(F2, -1, F2);
    move_end(p, &q->A, A, q->dA, q->uA, (const real *[]){F, F2}, (const real *[]){z->A, y->A}, ga);
  }
}

/* attributes of the laws on a pair: the wrench is -b tau */
static void pull_laws(const mbg__plane *p, const mbg__plane_pair *q, const test *z, real *ga) {
  for (int i = 0; q->law && i < p->nlaw; i++) {
    const mbg__plane_law *l = &p->laws[i];
    const real rate = &p->pairs[l->pair] == q ? plane_dot(l->b, z->rel) : 0;
    for (int k = 0; &p->pairs[l->pair] == q && k < l->force->nattr; k++) {
      ga[l->force->attr + k] += l->tau_a[k] * rate;
    }
  }
}

static void pull_pair(const mbg__plane *p, const mbg__plane_pair *q, const mbg__plane_weights *c, real *ga) {
  cotangents B = {0}, A;
  test z, y = {0};
  vec3 gA;
  test_pair(q, c->z, &z);
  slopes(B.w, q->F_G, z.rel);
  if (q->law) {
    slopes(B.v, q->F_v, z.rel);
  }
  plane_adT_add(B.w, 1, z.far, q->F);
  if (q->first >= 0) {
    test_pair(q, c->y, &y);
    slopes(B.w, q->F2_G, y.rel);
    plane_adT_add(B.w, 1, y.far, q->F2);
  }
  for (int k = q->first; k >= 0; k = p->rows[k].next) {
    pull_row(q, &p->rows[k], c->mu[k], c->eta[k], c->nu[k], &B);
  }
  to_end(q, &B, gA);
  give_end(p, &q->B, &B);
  if (q->A.body >= 0 || (ga && moves(p, &q->A))) {
    far_end(q, &B, gA, &A);
    give_end(p, &q->A, &A);
  }
  if (ga) {
    pull_moves(p, q, &B, &A, &z, &y, ga);
    pull_laws(p, q, &z, ga);
  }
}

/* ---------------------------------------------------------------------- bodies */

/* <M_a, W> of an attribute of a body, W = z (a - R^T g)^T - (ad(v) z) v^T */
static real mass_dot(const real *M_a, const real z[3], const real a[3], const real c[3], const real v[3]) {
  static const int at[3] = {0, 1, 5};
  real sum = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      sum += M_a[6 * at[i] + at[j]] * (z[i] * a[j] - c[i] * v[j]);
    }
  }
  return sum;
}

static void pull_body(const mbg__plane *p, int b, const real z[3], real *ga) {
  const mbg__system *s = p->s;
  const mbg__body *body = &s->model->bodies[b];
  const real *M = plane_M(p, b);
  vec3 v, a, weight = {0}, Mz, momentum, c, x;
  plane_take(v, p->v + body->voff);
  plane_weight(p, b, weight);
  plane_mass(M, z, Mz);
  plane_mass(M, v, momentum);
  p->gw[b][2] += weight[0] * Mz[1] - weight[1] * Mz[0];
  v3_copy(c, (const real[3]){v[1] * z[2] - v[2] * z[1], v[2] * z[0] - v[0] * z[2], 0});
  plane_mass(M, c, x);
  v3_axpy(p->gv[b], -1, x);
  plane_adT_add(p->gv[b], 1, z, momentum);
  if (!ga) {
    return;
  }
  plane_take(a, p->a + body->voff);
  v3_sub(a, a, weight);
  const int *start = s->design->start + body->attr;
  const bool any = !s->moved_only || start[0] < start[body->nattr];
  for (int k = 0; any && k < body->nattr; k++) {
    if (wanted(s, body->attr + k)) {
      ga[body->attr + k] += mass_dot(s->design->M_a[b] + 36 * k, z, a, c, v);
    }
  }
  if (s->model->gravity >= 0) {
    const mbg__plane_frame *H = &p->H[b];
    ga[s->model->gravity] -= H->c * Mz[0] - H->s * Mz[1];
    ga[s->model->gravity + 1] -= H->s * Mz[0] + H->c * Mz[1];
  }
}

void mbg__plane_pull(mbg__plane *p, const mbg__plane_weights *c, real *gw, real *gv, real *ga) {
  const mbg_model *m = p->s->model;
  memset(p->gw, 0, (size_t)m->nbody * sizeof(*p->gw));
  memset(p->gv, 0, (size_t)m->nbody * sizeof(*p->gv));
  for (int i = 0; i < p->npair; i++) {
    pull_pair(p, &p->pairs[i], c, ga);
  }
  for (int b = 0; b < m->nbody; b++) {
    pull_body(p, b, c->z + 3 * b, ga);
    if (gw) {
      plane_give(gw + m->bodies[b].voff, p->gw[b]);
    }
    if (gv) {
      plane_give(gv + m->bodies[b].voff, p->gv[b]);
    }
  }
}
