/* Wrenches of bodies on axles in world axes, about a point of the axle, for the backward scheme of alpha_second.c. What
   is kept of y (in body axes, about the origin) is y^ = diag(R, R) (f, m - c x f). With S = [[W~, 0], [(c x W)~, W~]]
   its rates are those of y' + S y and of y'' + 2 S y' + (S' + S^2) y. Other bodies keep body axes: S = 0. */
#include "formulations/alpha/alpha_continuous.h"

/* the axle's point of body b, in body axes; NULL: it is on none */
static const real *axle(const mbg__alpha *a, int b) {
  return a->nrotor > 0 && a->rotor_of[b] >= 0 ? a->rotors[a->rotor_of[b]].c : NULL;
}

void mbg__axles_turn(const mbg__alpha *a, const mbg__alpha_node *node, bool back, real *y) {
  for (int b = 0; b < a->m->nbody; b++) {
    const real *c = axle(a, b), *R = node->H[b].R;
    real *f = y + a->m->bodies[b].voff, moment[3], x[6];
    if (c && back) {
      m3_mulv_T(x, R, f), m3_mulv_T(x + 3, R, f + 3);
      v3_cross(moment, c, x);
      v3_axpy(x + 3, 1, moment);
      v6_copy(f, x);
    } else if (c) {
      v3_cross(moment, c, f);
      v3_axpy(f + 3, -1, moment);
      m3_mulv(x, R, f), m3_mulv(x + 3, R, f + 3);
      v6_copy(f, x);
    }
  }
}

/* [[a~, 0], [(c x a)~, a~]] */
static void spin_matrix(real out[36], const real c[3], const real a[3]) {
  real skew[9], cross[3];
  m3_skew(skew, a);
  m6_zero(out);
  m6_set_block(out, 0, 0, 1, skew), m6_set_block(out, 1, 1, 1, skew);
  v3_cross(cross, c, a);
  m3_skew(skew, cross);
  m6_set_block(out, 1, 0, 1, skew);
}

/* S and S' + S^2 */
static void spin_matrices(const mbg__alpha_node *node, int off, const real c[3], real S[36], real S2[36]) {
  real square[36];
  spin_matrix(S, c, node->v + off + 3);
  spin_matrix(S2, c, node->vd + off + 3);
  m6_mul(square, S, S);
  m6_axpy(S2, 1, square);
}

static void add_product(real out[6], real factor, const real A[36], const real x[6]) {
  real product[6];
  m6_mulv(product, A, x);
  v6_axpy(out, factor, product);
}

void mbg__axles_spin(const mbg__alpha *a, const mbg__alpha_node *node, real factor, const real *y, real *out) {
  for (int b = 0; b < a->m->nbody; b++) {
    const int off = a->m->bodies[b].voff;
    const real *c = axle(a, b);
    real S[36];
    if (c) {
      spin_matrix(S, c, node->v + off + 3);
      add_product(out + off, factor, S, y + off);
    }
  }
}

void mbg__axles_rates(const mbg__alpha *a, const mbg__alpha_node *node, const real *y, real *y1, real *y2) {
  for (int b = 0; b < a->m->nbody; b++) {
    const int off = a->m->bodies[b].voff;
    const real *c = axle(a, b);
    real S[36], S2[36];
    if (c) {
      spin_matrices(node, off, c, S, S2);
      add_product(y2 + off, 2, S, y1 + off);
      add_product(y2 + off, 1, S2, y + off);
      add_product(y1 + off, 1, S, y + off);
    }
  }
}

void mbg__axles_blocks(const mbg__alpha *a, const mbg__alpha_node *node, double gp, double bp, real *D1, real *D2) {
  for (int b = 0; b < a->m->nbody; b++, D1 += 36, D2 += 36) {
    const real *c = axle(a, b);
    real S[36] = {0}, S2[36] = {0}, product[36] = {0};
    if (c) {
      spin_matrices(node, a->m->bodies[b].voff, c, S, S2);
    }
    m6_scale(D1, -1, S);
    for (int k = 0; k < 6; k++) {
      D1[7 * k] += gp;
    }
    if (c) {
      m6_mul(product, S, D1);
    }
    for (int k = 0; k < 36; k++) {
      D2[k] = (k % 7 == 0 ? bp : 0) - 2 * product[k] - S2[k];
    }
  }
}
