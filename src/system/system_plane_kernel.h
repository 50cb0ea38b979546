/* Pairs of models in a plane, MBG__LANES at a time: system_kinematics.c and system_pull.c in three components. Compiled
   once for every kind of vectors. */
#ifndef MBG_SYSTEM_SYSTEM_PLANE_KERNEL_H
#define MBG_SYSTEM_SYSTEM_PLANE_KERNEL_H

#include "system/system_plane.h"

/* ---------------------------------------------------------------------- lanes and bodies */

/* out[k] = component k of the bodies' arrays with `width` components, n of them: rows of four numbers are turned, so
   that behind the last body there is room for one more */
static inline void gather(const real *from, int width, int n, const int *body, lane *out) {
#ifdef MBG_COMPLEX
  for (int k = 0; k < n; k++) {
    out[k] = from[width * body[0] + k];
  }
#else
  const lane a = *(const lane *)(from + width * body[0]), b = *(const lane *)(from + width * body[1]);
  const lane c = *(const lane *)(from + width * body[2]), d = *(const lane *)(from + width * body[3]);
  const lane ab = {a[0], b[0], a[2], b[2]}, cd = {c[0], d[0], c[2], d[2]};
  const lane ab1 = {a[1], b[1], a[3], b[3]}, cd1 = {c[1], d[1], c[3], d[3]};
  out[0] = (lane){ab[0], ab[1], cd[0], cd[1]};
  out[1] = (lane){ab1[0], ab1[1], cd1[0], cd1[1]};
  out[2] = (lane){ab[2], ab[3], cd[2], cd[3]};
  if (n > 3) {
    out[3] = (lane){ab1[2], ab1[3], cd1[2], cd1[3]};
  }
#endif
}

/* of bodies += x */
static inline void scatter3(vec3 *to, const int *body, const lane3 x) {
  for (int q = 0; q < MBG__LANES; q++) {
    for (int k = 0; k < 3; k++) {
      to[body[q]][k] += lane_get(&x[k], q);
    }
  }
}

/* ---------------------------------------------------------------------- frames */

/* Ad(H^-1) v */
static inline void take_in(const mbg__plane_frame_lanes *H, const lane3 v, lane3 out) {
  const lane x = v[0] - H->y * v[2], y = v[1] + H->x * v[2];
  out[0] = H->c * x + H->s * y;
  out[1] = H->c * y - H->s * x;
  out[2] = v[2];
}

/* Ad(H^-1)^T f */
static inline void take_out(const mbg__plane_frame_lanes *H, const lane3 f, lane3 out) {
  const lane x = H->c * f[0] - H->s * f[1], y = H->s * f[0] + H->c * f[1];
  out[0] = x;
  out[1] = y;
  out[2] = f[2] + (H->x * y - H->y * x);
}

/* out = ad(v)^T f, out += it, out -= it */
static inline void coad(const lane3 v, const lane3 f, lane3 out) {
  out[0] = f[1] * v[2];
  out[1] = -(f[0] * v[2]);
  out[2] = f[0] * v[1] - f[1] * v[0];
}

static inline void coad_add(const lane3 v, const lane3 f, lane3 out) {
  out[0] += f[1] * v[2];
  out[1] -= f[0] * v[2];
  out[2] += f[0] * v[1] - f[1] * v[0];
}

static inline void coad_sub(const lane3 v, const lane3 f, lane3 out) {
  out[0] -= f[1] * v[2];
  out[1] += f[0] * v[2];
  out[2] -= f[0] * v[1] - f[1] * v[0];
}

static inline void sub3(const lane3 a, const lane3 b, lane3 out) {
  for (int k = 0; k < 3; k++) {
    out[k] = a[k] - b[k];
  }
}

static inline void add3(const lane3 a, lane3 out) {
  for (int k = 0; k < 3; k++) {
    out[k] += a[k];
  }
}

static inline void negate3(const lane3 a, lane3 out) {
  for (int k = 0; k < 3; k++) {
    out[k] = -a[k];
  }
}

/* ---------------------------------------------------------------------- kinematics */

static inline void place_end(const mbg__plane *p, mbg__plane_end *e) {
  const mbg__plane_frame_lanes *m = &e->h;
  mbg__plane_frame_lanes H;
  lane3 v;
  gather(&p->H[0].c, 4, 4, e->body, &H.c);
  gather(p->v[0], 3, 3, e->body, v);
  e->H.c = H.c * m->c - H.s * m->s;
  e->H.s = H.s * m->c + H.c * m->s;
  e->H.x = H.x + H.c * m->x - H.s * m->y;
  e->H.y = H.y + H.s * m->x + H.c * m->y;
  take_in(m, v, e->v);
}

/* G, the relative twist and ad(v_rel) a */
static inline void place_relative(mbg__plane_pairs *q) {
  const mbg__plane_frame_lanes *A = &q->A.H, *B = &q->B.H;
  const lane x = B->x - A->x, y = B->y - A->y;
  q->G.c = A->c * B->c + A->s * B->s;
  q->G.s = A->c * B->s - A->s * B->c;
  q->G.x = A->c * x + A->s * y;
  q->G.y = A->c * y - A->s * x;
  take_in(&q->G, q->A.v, q->a);
  sub3(q->B.v, q->a, q->rel);
  q->rest[0] = q->rel[1] * q->a[2] - q->rel[2] * q->a[1];
  q->rest[1] = q->rel[2] * q->a[0] - q->rel[0] * q->a[2];
}

/* what rows are made of: values, rates, second derivatives by the motion (system_plane.c) */
static inline void place_kinds(mbg__plane_pairs *q) {
  const lane c = q->G.c, s = q->G.s, turn = q->rel[2], square = turn * turn;
  const lane x = c * q->rel[0] - s * q->rel[1], y = s * q->rel[0] + c * q->rel[1];
  q->phi[0] = q->G.x;
  q->phi[1] = q->G.y;
  q->phi[2] = s;
  q->phi[3] = -c;
  q->phid[0] = x;
  q->phid[1] = y;
  q->phid[2] = c * turn;
  q->phid[3] = s * turn;
  q->gamma[0] = (c * q->rest[0] - s * q->rest[1]) - y * turn;
  q->gamma[1] = (s * q->rest[0] + c * q->rest[1]) + x * turn;
  q->gamma[2] = -(s * square);
  q->gamma[3] = c * square;
}

/* gradients by the twists of the bodies */
static inline void place_gradients(mbg__plane_pairs *q) {
  const lane c = q->G.c, s = q->G.s, zero = {0}, one = zero + 1.0;
  const lane3 b[2] = {{c, -s, zero}, {s, c, zero}}, a[2] = {{one, zero, -q->G.y}, {zero, one, q->G.x}};
  for (int k = 0; k < 2; k++) {
    take_out(&q->B.h, b[k], q->on_B[k]);
    take_out(&q->A.h, a[k], q->on_A[k]);
  }
  q->on_B[2][2] = q->on_A[2][2] = c;
  q->on_B[3][2] = q->on_A[3][2] = s;
}

void LANES(mbg__plane_place_pairs)(mbg__plane *p) {
  for (int i = 0; i < p->npairs; i++) {
    mbg__plane_pairs *q = &p->pairs[i];
    place_end(p, &q->A);
    place_end(p, &q->B);
    place_relative(q);
    place_kinds(q);
    place_gradients(q);
  }
}

void LANES(mbg__plane_force_pairs)(mbg__plane *p) {
  for (int i = 0; i < p->npairs; i++) {
    const mbg__plane_pairs *q = &p->pairs[i];
    if (q->laws) {
      lane3 x, y;
      take_out(&q->B.h, q->F, x);
      scatter3(p->gw, q->B.body, x);
      take_out(&q->G, q->F, y);
      take_out(&q->A.h, y, x);
      negate3(x, x);
      scatter3(p->gw, q->A.body, x);
    }
  }
}

/* ---------------------------------------------------------------------- linearization */

/* sum over rows: b = sum_k x_k b_k, and what is its derivative by the turn */
static inline void row_sum(const mbg__plane_pairs *q, const lane *x, lane3 b, lane *slope) {
  const lane c = q->G.c, s = q->G.s;
  b[0] = c * x[0] + s * x[1];
  b[1] = c * x[1] - s * x[0];
  b[2] = c * x[2] + s * x[3];
  *slope = c * x[3] - s * x[2];
}

static inline void linearize_end(const mbg__plane *p, mbg__plane_end *e) {
  lane3 x;
  gather(p->a[0], 3, 3, e->body, x);
  take_in(&e->h, x, e->d);
  gather(p->u[0], 3, 3, e->body, x);
  take_in(&e->h, x, e->u);
}

/* F -= sum lambda b, F_G -= sum lambda L, and the same of kappa */
static inline void load_rows(mbg__plane_pairs *q) {
  lane3 b;
  lane slope;
  row_sum(q, q->row[0], b, &slope);
  for (int k = 0; k < 3; k++) {
    q->F[k] -= b[k];
  }
  q->F_G[2] -= b[1];
  q->F_G[5] += b[0];
  q->F_G[8] -= slope;
  row_sum(q, q->row[1], b, &slope);
  negate3(b, q->F2);
  q->F2_G[0] = -b[1];
  q->F2_G[1] = b[0];
  q->F2_G[2] = -slope;
}

void LANES(mbg__plane_linearize_pairs)(mbg__plane *p) {
  for (int i = 0; i < p->npairs; i++) {
    mbg__plane_pairs *q = &p->pairs[i];
    linearize_end(p, &q->A);
    linearize_end(p, &q->B);
    take_in(&q->G, q->A.d, q->ad);
    sub3(q->B.d, q->ad, q->drel);
    q->drel[0] += q->rest[0];
    q->drel[1] += q->rest[1];
    take_in(&q->G, q->A.u, q->ua);
    sub3(q->B.u, q->ua, q->urel);
    load_rows(q);
  }
}

/* ---------------------------------------------------------------------- transposed */

static inline void weigh_end(const mbg__plane *p, mbg__plane_end *e) {
  lane3 x;
  gather(p->z[0], 3, 3, e->body, x);
  take_in(&e->h, x, e->z);
  gather(p->y[0], 3, 3, e->body, x);
  take_in(&e->h, x, e->y);
}

/* of wrenches: -A^T of the relative weights, and what moves the wrench on the far end */
static inline void pull_wrenches(mbg__plane_pairs *q) {
  lane3 far;
  lane *w = q->B.w;
  take_in(&q->G, q->A.z, far);
  sub3(q->B.z, far, q->test);
  coad(far, q->F, w);
  for (int k = 0; k < 3; k++) {
    q->B.gv[k] = (lane){0};
    w[2] -= q->F_G[3 * k + 2] * q->test[k];
  }
  for (int k = 0; q->laws && k < 3; k++) {
    w[0] -= q->F_G[3 * k] * q->test[k];
    w[1] -= q->F_G[3 * k + 1] * q->test[k];
    for (int j = 0; j < 3; j++) {
      q->B.gv[j] -= q->F_v[3 * k + j] * q->test[k];
    }
  }
  take_in(&q->G, q->A.y, far);
  sub3(q->B.y, far, q->test2);
  coad_add(far, q->F2, w);
  w[2] -= q->F2_G[0] * q->test2[0] + q->F2_G[1] * q->test2[1] + q->F2_G[2] * q->test2[2];
}

/* mu, nu: sums of rows with their weights */
static inline void pull_rows(mbg__plane_pairs *q, double beta) {
  const lane *v = q->rel, *d = q->drel, *u = q->urel;
  lane *w = q->B.w, *mu = q->B.gd, *nu = q->B.gu, m, n;
  row_sum(q, q->row[0], mu, &m);
  row_sum(q, q->row[1], nu, &n);
  w[2] += (d[0] * mu[1] - d[1] * mu[0]) + m * d[2] - v[2] * (v[0] * mu[0] + v[1] * mu[1] + mu[2] * v[2]);
  w[2] += (u[0] * nu[1] - u[1] * nu[0]) + n * u[2];
  q->B.gv[0] += mu[1] * v[2];
  q->B.gv[1] -= mu[0] * v[2];
  q->B.gv[2] += (v[0] * mu[1] - v[1] * mu[0]) + 2.0 * (m * v[2]);
  for (int k = 0; k < 3; k++) {
    w[k] += beta * nu[k];
  }
}

/* of the relative motion to those of marker B; those of marker A */
static inline void to_ends(mbg__plane_pairs *q) {
  mbg__plane_end *A = &q->A, *B = &q->B;
  lane3 x, far;
  coad_sub(q->a, B->gv, B->w);
  coad_sub(q->ad, B->gd, B->w);
  coad_sub(q->ua, B->gu, B->w);
  coad(q->a, B->gd, x);
  sub3(B->gv, x, B->gv);
  coad(q->rel, B->gd, far);
  add3(far, x);
  coad_add(q->a, x, B->w);
  take_out(&q->G, B->w, A->w);
  negate3(A->w, A->w);
  sub3(far, B->gv, x);
  take_out(&q->G, x, A->gv);
}

static inline void give_end(mbg__plane *p, const mbg__plane_end *e) {
  lane3 x;
  take_out(&e->h, e->w, x);
  scatter3(p->gw, e->body, x);
  take_out(&e->h, e->gv, x);
  scatter3(p->gv, e->body, x);
}

void LANES(mbg__plane_pull_pairs)(mbg__plane *p, double beta) {
  for (int i = 0; i < p->npairs; i++) {
    mbg__plane_pairs *q = &p->pairs[i];
    weigh_end(p, &q->A);
    weigh_end(p, &q->B);
    pull_wrenches(q);
    pull_rows(q, beta);
    to_ends(q);
    give_end(p, &q->B);
    give_end(p, &q->A);
  }
}

#endif
