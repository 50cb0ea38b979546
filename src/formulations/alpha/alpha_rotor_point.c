/* The point c of a rotor on its axle: the place of a joint's marker on the body, or of another rotor's point when a
   fixed joint holds the two together. It follows the parameters, and so do twists and steps (alpha_rotor.c):

     U = U_c - W x c,  U' = U_c' - W' x c        x+ = x + X_u + R c - R+ c */
#include "formulations/alpha/alpha_work.h"

/* ---------------------------------------------------------------------- its place */

static bool is_planar(const mbg__alpha *a, const mbg__rotor *k) { return a->m->bodies[k->body].motion == MBG__PLANAR; }

static const mbg__placed *placed(const mbg__alpha *a, int marker) {
  return mbg__system_design(a->sys)->markers[marker];
}

static void place(const mbg__alpha *a, const mbg__rotor *k, real c[3]) {
  v3_zero(c);
  if (k->marker >= 0) {
    v3_copy(c, placed(a, k->marker)->h.x);
  } else if (k->via >= 0) {
    const mbg__frame *A = &placed(a, k->weld[0])->h, *B = &placed(a, k->weld[1])->h;
    real from[3], y[3], z[3];
    place(a, &a->rotors[k->via], from);
    v3_sub(z, from, A->x);
    m3_mulv_T(y, A->R, z);
    m3_mulv(z, B->R, y);
    v3_add(c, B->x, z);
  }
}

void mbg__rotors_place(mbg__alpha *a) {
  for (int i = 0; i < a->nrotor; i++) {
    mbg__rotor *k = &a->rotors[i];
    place(a, k, k->c);
    if (is_planar(a, k)) {
      k->c[2] = 0;
    }
    k->off_origin = k->c[0] != 0 || k->c[1] != 0 || k->c[2] != 0;
  }
}

/* variation of a marker in its own axes */
static void geometry(const mbg__placed *h, const real *da, real geo[6]) {
  v6_zero(geo);
  for (int k = 0; k < h->ndep; k++) {
    v6_axpy(geo, da[h->dep[k]], h->omega[k]);
  }
}

/* the point of the other rotor as the fixed joint sees it */
static void seen(const mbg__alpha *a, const mbg__rotor *k, real y[3]) {
  const mbg__frame *A = &placed(a, k->weld[0])->h;
  real from[3], z[3];
  place(a, &a->rotors[k->via], from);
  v3_sub(z, from, A->x);
  m3_mulv_T(y, A->R, z);
}

static void push(const mbg__alpha *a, const mbg__rotor *k, const real *da, real dc[3]) {
  real geo[2][6], y[3], dy[3], x[3];
  v3_zero(dc);
  if (k->marker >= 0) {
    geometry(placed(a, k->marker), da, geo[0]);
    m3_mulv(dc, placed(a, k->marker)->h.R, geo[0]);
  } else if (k->via >= 0) {
    push(a, &a->rotors[k->via], da, x);
    seen(a, k, y);
    for (int i = 0; i < 2; i++) {
      geometry(placed(a, k->weld[i]), da, geo[i]);
    }
    m3_mulv_T(dy, placed(a, k->weld[0])->h.R, x);
    for (int i = 0; i < 2; i++) {
      const double s = i ? 1 : -1;
      v3_axpy(dy, s, geo[i]);
      v3_cross_add(dy, s, geo[i] + 3, y);
    }
    m3_mulv(dc, placed(a, k->weld[1])->h.R, dy);
  }
}

void mbg__rotors_push_point(const mbg__alpha *a, const real *da, real *dc) {
  for (int i = 0; i < a->nrotor; i++) {
    push(a, &a->rotors[i], da, dc + 3 * i);
    if (is_planar(a, &a->rotors[i])) {
      dc[3 * i + 2] = 0;
    }
  }
}

static void add_geometry(const mbg__placed *h, const real geo[6], real *ga) {
  for (int k = 0; k < h->ndep; k++) {
    ga[h->dep[k]] += v6_dot(h->omega[k], geo);
  }
}

static void pull(const mbg__alpha *a, const mbg__rotor *k, const real bc[3], real *ga) {
  real geo[6] = {0}, y[3], x[3];
  if (k->marker >= 0) {
    m3_mulv_T(geo, placed(a, k->marker)->h.R, bc);
    add_geometry(placed(a, k->marker), geo, ga);
  } else if (k->via >= 0) {
    seen(a, k, y);
    m3_mulv_T(geo, placed(a, k->weld[1])->h.R, bc);
    v3_cross_add(geo + 3, 1, y, geo);
    add_geometry(placed(a, k->weld[1]), geo, ga);
    m3_mulv(x, placed(a, k->weld[0])->h.R, geo);
    v6_scale(geo, -1, geo);
    add_geometry(placed(a, k->weld[0]), geo, ga);
    pull(a, &a->rotors[k->via], x, ga);
  }
}

void mbg__rotors_pull_point(const mbg__alpha *a, const real *bc, real *ga) {
  for (int i = 0; i < a->nrotor; i++) {
    real b[3];
    v3_copy(b, bc + 3 * i);
    if (is_planar(a, &a->rotors[i])) {
      b[2] = 0;
    }
    pull(a, &a->rotors[i], b, ga);
  }
}

/* ---------------------------------------------------------------------- twists and steps */

void mbg__rotors_push_twist(const mbg__alpha *a, const real *dc, real *dv, real *dvd) {
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    v3_cross_add(dv + k->off, -1, k->W, dc + 3 * i);
    v3_cross_add(dvd + k->off, -1, k->Wd, dc + 3 * i);
  }
}

void mbg__rotors_pull_twist(const mbg__alpha *a, double s, const real *v, const real *vd, real *bc) {
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    v3_cross_add(bc + 3 * i, s, k->W, v + k->off);
    v3_cross_add(bc + 3 * i, s, k->Wd, vd + k->off);
  }
}

/* R+^T R = R^T exp(-X) R */
static void turn(const mbg__rotor *k, const mbg__alpha_node *from, const real *Dx, real C[9]) {
  real E[9], B[9];
  mbg__so3_exp(E, Dx + k->off + 3);
  m3_mul(B, E, from->H[k->body].R);
  m3_mul_TN(C, B, from->H[k->body].R);
}

void mbg__rotors_push_step(const mbg__alpha *a, const mbg__alpha_node *from, const real *Dx, const real *dc, real *w) {
  for (int i = 0; i < a->nrotor; i++) {
    real C[9], x[3];
    turn(&a->rotors[i], from, Dx, C);
    m3_mulv(x, C, dc + 3 * i);
    v3_sub(x, x, dc + 3 * i);
    v3_axpy(w + a->rotors[i].off, 1, x);
  }
}

void mbg__rotors_pull_step(const mbg__alpha *a, const mbg__alpha_node *from, const real *Dx, double s, const real *xi,
                           real *bc) {
  for (int i = 0; i < a->nrotor; i++) {
    real C[9], x[3];
    turn(&a->rotors[i], from, Dx, C);
    m3_mulv_T(x, C, xi + a->rotors[i].off);
    v3_sub(x, x, xi + a->rotors[i].off);
    v3_axpy(bc + 3 * i, s, x);
  }
}
