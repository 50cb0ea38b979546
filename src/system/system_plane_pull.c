/* Transposed derivatives of models in a plane by bodies and attributes; those of pairs: system_plane_kernel.h. */
#include "system/system_plane.h"

/* ---------------------------------------------------------------------- bodies */

void mbg__plane_pull_bodies(mbg__plane *p) {
  for (int b = 0; b < p->s->model->nbody; b++) {
    const real *M = p->mass + 9 * b, *v = p->v[b], *z = p->z[b];
    vec3 weight = {0}, Mz, momentum, x;
    plane_weight(p, b, weight);
    plane_mass(M, z, Mz);
    plane_mass(M, v, momentum);
    p->gw[b][2] += weight[0] * Mz[1] - weight[1] * Mz[0];
    plane_mass(M, (const real[3]){v[1] * z[2] - v[2] * z[1], v[2] * z[0] - v[0] * z[2], 0}, x);
    v3_axpy(p->gv[b], -1, x);
    plane_adT_add(p->gv[b], 1, z, momentum);
  }
}

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

static void pull_mass(const mbg__plane *p, int b, real *ga) {
  const mbg__system *s = p->s;
  const mbg__body *body = &s->model->bodies[b];
  const int *start = s->design->start + body->attr;
  if (s->moved_only && start[0] == start[body->nattr]) {
    return;
  }
  const real *v = p->v[b], *z = p->z[b];
  const vec3 c = {v[1] * z[2] - v[2] * z[1], v[2] * z[0] - v[0] * z[2], 0};
  vec3 a, weight = {0};
  plane_weight(p, b, weight);
  v3_sub(a, p->a[b], weight);
  for (int k = 0; k < body->nattr; k++) {
    if (wanted(s, body->attr + k)) {
      ga[body->attr + k] += mass_dot(s->design->M_a[b] + 36 * k, z, a, c, v);
    }
  }
}

static void pull_gravity(const mbg__plane *p, real *ga) {
  const mbg_model *m = p->s->model;
  const bool any = m->gravity >= 0 && (wanted(p->s, m->gravity) || wanted(p->s, m->gravity + 1));
  for (int b = 0; any && b < m->nbody; b++) {
    const mbg__plane_frame *H = &p->H[b];
    vec3 Mz;
    plane_mass(p->mass + 9 * b, p->z[b], Mz);
    ga[m->gravity] -= H->c * Mz[0] - H->s * Mz[1];
    ga[m->gravity + 1] -= H->s * Mz[0] + H->c * Mz[1];
  }
}

/* ---------------------------------------------------------------------- markers */

static void take_lane(const lane3 x, int q, vec3 out) {
  for (int k = 0; k < 3; k++) {
    out[k] = lane_get(&x[k], q);
  }
}

/* x += s ad(v)^T f */
static void add_lane(real s, const lane3 v, const lane3 f, int q, vec3 x) {
  vec3 a, b;
  take_lane(v, q, a);
  take_lane(f, q, b);
  v3_scale(b, s, b);
  plane_adT_add(x, 1, a, b);
}

/* -Ad(G^-1)^T f */
static void to_A(const mbg__plane_pairs *p, const lane3 f, int q, lane3 out) {
  const real c = lane_get(&p->G.c, q), s = lane_get(&p->G.s, q);
  const real x = c * lane_get(&f[0], q) - s * lane_get(&f[1], q), y = s * lane_get(&f[0], q) + c * lane_get(&f[1], q);
  lane_set(&out[0], q, -x);
  lane_set(&out[1], q, -y);
  lane_set(&out[2], q, -(lane_get(&f[2], q) + (lane_get(&p->G.x, q) * y - lane_get(&p->G.y, q) * x)));
}

/* attributes that move a marker; F, F2: wrenches on it */
static void move_end(const mbg__plane *p, const mbg__plane_end *e, int q, const lane3 F, const lane3 F2, real *ga) {
  vec3 x;
  take_lane(e->w, q, x);
  if (e->body[q] < p->s->model->nbody) {
    add_lane(1, e->v, e->gv, q, x);
    add_lane(1, e->d, e->gd, q, x);
    add_lane(1, e->u, e->gu, q, x);
    add_lane(-1, e->z, F, q, x);
    add_lane(-1, e->y, F2, q, x);
  }
  marker_attributes_pull(p->s, e->marker[q], (const real[6]){x[0], x[1], 0, 0, 0, x[2]}, ga);
}

static void pull_marker(const mbg__plane *p, const mbg__plane_moved *m, real *ga) {
  mbg__plane_pairs *pair = &p->pairs[m->pairs];
  lane3 F, F2;
  if (!p->s->marker_wanted[(m->far ? &pair->A : &pair->B)->marker[m->q]]) {
    return;
  }
  if (!m->far) {
    move_end(p, &pair->B, m->q, pair->F, pair->F2, ga);
    return;
  }
  to_A(pair, pair->B.gd, m->q, pair->A.gd);
  to_A(pair, pair->B.gu, m->q, pair->A.gu);
  to_A(pair, pair->F, m->q, F);
  to_A(pair, pair->F2, m->q, F2);
  move_end(p, &pair->A, m->q, F, F2, ga);
}

/* ---------------------------------------------------------------------- all */

/* the wrench of a law is -b tau */
static void pull_law(const mbg__plane *p, const mbg__plane_law *l, real *ga) {
  vec3 test;
  take_lane(p->pairs[l->pairs].test, l->q, test);
  const real rate = plane_dot(l->b, test);
  for (int k = 0; k < l->force->nattr; k++) {
    ga[l->force->attr + k] += l->tau_a[k] * rate;
  }
}

void mbg__plane_pull_attributes(const mbg__plane *p, real *ga) {
  for (int i = 0; i < p->nmoved; i++) {
    pull_marker(p, &p->moved[i], ga);
  }
  for (int i = 0; i < p->nlaw; i++) {
    pull_law(p, &p->laws[i], ga);
  }
  for (int b = 0; b < p->s->model->nbody; b++) {
    pull_mass(p, b, ga);
  }
  pull_gravity(p, ga);
}
