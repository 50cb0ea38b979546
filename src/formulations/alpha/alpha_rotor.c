/* Rotors (theory 4, section 14). Constraint rows whose direction is fixed in space turn in the axes of a spinning body;
   with its histories in these axes the index-3 step explodes at a few tenths of a radian a step. The histories of a
   rotor are therefore in world axes: V = (u, om), the velocity of its origin and its angular velocity, D = V',
   increments X and auxiliary accelerations alike,

     x+ = x + X_u,  R+ = exp(X_om) R        U = R^T u,  W = R^T om,  U' = R^T u' - W x U,  W' = R^T om'

   and the equations see the twist and its rate in body axes as for every other body. Variations, w in body axes:

     v' = G V' + Hv w,   vd' = G D' + Hd V' + Fd w,   w+ = A w + T X'

   x, u and U above belong to the point c of the body on the axle (alpha_rotor_point.c): twists and variations of the
   origin are P^-1 times those of c, P = [[1, -c~], [0, 1]]. */
#include "formulations/alpha/alpha_work.h"

#include <string.h>

/* ---------------------------------------------------------------------- states */

/* twist and rate of the frame at c in body axes */
static void to_point(const mbg__frame *H, const real V[6], const real D[6], real v[6], real vd[6]) {
  for (int k = 0; k < 6; k += 3) {
    m3_mulv_T(v + k, H->R, V + k);
    m3_mulv_T(vd + k, H->R, D + k);
  }
  v3_cross_add(vd, -1, v + 3, v);
}

static void to_body(const mbg__rotor *k, const mbg__frame *H, const real V[6], const real D[6], real v[6], real vd[6]) {
  to_point(H, V, D, v, vd);
  if (k->off_origin) {
    v3_cross_add(v, -1, v + 3, k->c);
    v3_cross_add(vd, -1, vd + 3, k->c);
  }
}

mbg__state mbg__alpha_state(const mbg__alpha *a, const mbg__alpha_node *n) {
  mbg__state s = {.t = *n->t, .H = n->H, .v = n->v, .vd = n->vd, .lambda = n->lambda, .turns = n->turns};
  if (a->nrotor > 0 && n->v != a->v) {
    vn_copy(a->m->nw, a->v, n->v);
    vn_copy(a->m->nw, a->vd, n->vd);
    for (int i = 0; i < a->nrotor; i++) {
      const mbg__rotor *k = &a->rotors[i];
      to_body(k, &n->H[k->body], n->v + k->off, n->vd + k->off, a->v + k->off, a->vd + k->off);
    }
    s.v = a->v;
    s.vd = a->vd;
  }
  return s;
}

mbg__alpha_node mbg__alpha_body_view(const mbg__alpha *a, const void *block) {
  mbg__alpha_node n = mbg__alpha_view(a, block);
  if (a->nrotor > 0) {
    (void)mbg__alpha_state(a, &n);
    n.v = a->v;
    n.vd = a->vd;
  }
  return n;
}

void mbg__rotors_auxiliary(const mbg__alpha *a, const mbg__alpha_node *n, real *al) {
  real v[6];
  vn_copy(a->m->nw, al, n->al);
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    to_body(k, &n->H[k->body], n->v + k->off, n->al + k->off, v, al + k->off);
  }
}

void mbg__rotors_keep(const mbg__alpha *a, const mbg__alpha_node *n) {
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    const real *R = n->H[k->body].R;
    real *v = n->v + k->off, *vd = n->vd + k->off, V[6], D[6];
    if (k->off_origin) {
      v3_cross_add(v, 1, v + 3, k->c);
      v3_cross_add(vd, 1, vd + 3, k->c);
    }
    v3_cross_add(vd, 1, v + 3, v);
    for (int j = 0; j < 6; j += 3) {
      m3_mulv(V + j, R, v + j);
      m3_mulv(D + j, R, vd + j);
    }
    v6_copy(v, V);
    v6_copy(vd, D);
  }
}

/* ---------------------------------------------------------------------- steps of frames */

void mbg__alpha_move(const mbg__alpha *a, int b, const mbg__frame *from, const real *X, mbg__frame *to) {
  if (a->rotor_of[b] < 0) {
    mbg__se3_retract(to, from, X);
    return;
  }
  real E[9];
  mbg__so3_exp(E, X + 3);
  m3_mul(to->R, E, from->R);
  v3_add(to->x, from->x, X);
  const mbg__rotor *k = &a->rotors[a->rotor_of[b]];
  if (k->off_origin) {
    real before[3], after[3];
    m3_mulv(before, from->R, k->c);
    m3_mulv(after, to->R, k->c);
    for (int i = 0; i < 3; i++) {
      to->x[i] += before[i] - after[i];
    }
  }
}

/* A <- P^-1 A, P = [[1, -c~], [0, 1]] from the origin to c; A <- A P */
static void from_point(const mbg__rotor *k, real A[36]) {
  for (int j = 0; k->off_origin && j < 6; j++) {
    const real w[3] = {A[18 + j], A[24 + j], A[30 + j]};
    real x[3] = {0};
    v3_cross_add(x, 1, k->c, w);
    for (int i = 0; i < 3; i++) {
      A[6 * i + j] += x[i];
    }
  }
}

static void of_origin(const mbg__rotor *k, real A[36]) {
  for (int i = 0; k->off_origin && i < 6; i++) {
    v3_cross_add(A + 6 * i + 3, 1, k->c, A + 6 * i); /* u.(-c x w) = (c x u).w */
  }
}

void mbg__alpha_increment(const mbg__alpha *a, int b, const mbg__alpha_node *to, real T[36]) {
  const real *X = to->Dx + a->m->bodies[b].voff, *R = to->H[b].R;
  if (a->rotor_of[b] < 0) {
    mbg__se3_tangent(T, X);
    return;
  }
  real minus[3], L[9], B[9], Rt[9];
  v3_scale(minus, -1, X + 3);
  mbg__so3_tangent(L, minus);
  m3_transpose(Rt, R);
  m3_mul(B, Rt, L);
  m6_zero(T);
  m6_set_block(T, 0, 0, 1, Rt);
  m6_set_block(T, 1, 1, 1, B);
  from_point(&a->rotors[a->rotor_of[b]], T);
}

void mbg__alpha_transport(const mbg__alpha *a, int b, const mbg__frame *from, const real *X, real A[36]) {
  mbg__frame E;
  if (a->rotor_of[b] < 0) {
    mbg__se3_exp(&E, X);
    mbg__AdInv_matrix(A, &E);
    return;
  }
  /* R+^T R = R^T exp(-X) R */
  real B[9], C[9];
  mbg__so3_exp(E.R, X + 3);
  m3_mul(B, E.R, from->R);
  m3_mul_TN(C, B, from->R);
  m6_identity(A);
  m6_set_block(A, 0, 0, 1, C);
  of_origin(&a->rotors[a->rotor_of[b]], A);
  from_point(&a->rotors[a->rotor_of[b]], A);
}

void mbg__alpha_transport_T(const mbg__alpha *a, int b, const mbg__frame *from, const real *X, const real xi[6],
                            real out[6]) {
  if (a->rotor_of[b] < 0) {
    mbg__frame E;
    mbg__se3_exp(&E, X);
    AdInvT_mul(out, &E, xi);
    return;
  }
  real A[36];
  mbg__alpha_transport(a, b, from, X, A);
  m6_mulv_T(out, A, xi);
}

/* ---------------------------------------------------------------------- derivatives */

/* G, Hv, Hd, Fd of the frame at c become those of the origin; Gi = G^-1 */
static void refer_to_origin(mbg__rotor *k) {
  m6_transpose(k->Gi, k->G);
  of_origin(k, k->Gi);
  of_origin(k, k->Hv);
  of_origin(k, k->Fd);
  from_point(k, k->G);
  from_point(k, k->Hv);
  from_point(k, k->Hd);
  from_point(k, k->Fd);
}

void mbg__rotors_linearize(mbg__alpha *a, const mbg__alpha_node *n) {
  for (int i = 0; i < a->nrotor; i++) {
    mbg__rotor *k = &a->rotors[i];
    real v[6], vd[6], Rt[9], B[9], ud[3], omd[3];
    to_point(&n->H[k->body], n->v + k->off, n->vd + k->off, v, vd);
    v3_copy(k->W, v + 3);
    v3_copy(k->Wd, vd + 3);
    m3_transpose(Rt, n->H[k->body].R);
    m3_mulv(ud, Rt, n->vd + k->off);
    m3_mulv(omd, Rt, n->vd + k->off + 3);
    m6_zero(k->G);
    m6_zero(k->Hv);
    m6_zero(k->Hd);
    m6_zero(k->Fd);
    m6_set_block(k->G, 0, 0, 1, Rt);
    m6_set_block(k->G, 1, 1, 1, Rt);
    /* Hv = [[0, U~], [0, W~]] */
    m3_skew(B, v);
    m6_set_block(k->Hv, 0, 1, 1, B);
    m3_skew(B, v + 3);
    m6_set_block(k->Hv, 1, 1, 1, B);
    /* Hd = [[-W~ R^T, U~ R^T], [0, 0]] */
    m3_skew_mul(B, v + 3, Rt);
    m6_set_block(k->Hd, 0, 0, -1, B);
    m3_skew_mul(B, v, Rt);
    m6_set_block(k->Hd, 0, 1, 1, B);
    /* Fd = [[0, (R^T u')~ + U~ W~ - W~ U~], [0, (R^T om')~]] */
    real U[9], W[9], UW[9], WU[9];
    m3_skew(U, v);
    m3_skew(W, v + 3);
    m3_mul(UW, U, W);
    m3_mul(WU, W, U);
    m3_skew(B, ud);
    m3_add(B, B, UW);
    m3_sub(B, B, WU);
    m6_set_block(k->Fd, 0, 1, 1, B);
    m3_skew(B, omd);
    m6_set_block(k->Fd, 1, 1, 1, B);
    refer_to_origin(k);
  }
}

/* x (n) <- x F on the free components of a body */
static void times(int n, const int *comp, const real *x, const real F[36], real *out) {
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      out[j] += x[i] * F[6 * comp[i] + comp[j]];
    }
  }
}

void mbg__rotors_columns(mbg__alpha *a) {
  const mbg__csc *p = mbg__system_pattern_K(a->sys);
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    int start[6], comp[6], count;
    const int n = mbg__body_columns(a->sys, p, k->body, start, comp, &count);
    for (int e = 0; e < count; e++) {
      real M[6], C[6], K[6], hat[3][6] = {{0}};
      for (int j = 0; j < n; j++) {
        M[j] = a->M[start[j] + e];
        C[j] = a->C[start[j] + e];
        K[j] = a->K[start[j] + e];
      }
      times(n, comp, M, k->G, hat[0]);
      times(n, comp, M, k->Hd, hat[1]);
      times(n, comp, C, k->G, hat[1]);
      times(n, comp, M, k->Fd, hat[2]);
      times(n, comp, C, k->Hv, hat[2]);
      for (int j = 0; j < n; j++) {
        a->M[start[j] + e] = hat[0][j];
        a->C[start[j] + e] = hat[1][j];
        a->K[start[j] + e] = K[j] + hat[2][j];
      }
    }
  }
}

void mbg__rotors_rows(const mbg__alpha *a, const real *B, real *BG, real *Z) {
  const mbg__csc *p = mbg__system_pattern_B(a->sys);
  memcpy(BG, B, (size_t)mbg__csc_count(p) * sizeof(real));
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    int start[6], comp[6], count;
    const int n = mbg__body_columns(a->sys, p, k->body, start, comp, &count);
    for (int e = 0; e < count; e++) {
      real b[6], hat[2][6] = {{0}};
      for (int j = 0; j < n; j++) {
        b[j] = B[start[j] + e];
      }
      times(n, comp, b, k->G, hat[0]);
      times(n, comp, b, k->Hv, hat[1]);
      for (int j = 0; j < n; j++) {
        BG[start[j] + e] = hat[0][j];
        if (Z) {
          Z[start[j] + e] += hat[1][j];
        }
      }
    }
  }
}

/* (G^T f)' = G^T f' + R (w_W x f_c), f_c the force and the moment about c */
static void at_point(const mbg__rotor *k, const real f[6], real fc[6]) {
  v6_copy(fc, f);
  if (k->off_origin) {
    v3_cross_add(fc + 3, -1, k->c, f);
  }
}

void mbg__rotors_push_wrench(const mbg__alpha *a, const mbg__alpha_node *n, const real *f, const real *w,
                             const real *dc, real *df) {
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    real x[6], fc[6], turn[3];
    v6_copy(x, df + k->off);
    m6_mulv_T(df + k->off, k->G, x);
    at_point(k, f + k->off, fc);
    for (int j = 0; j < 6; j += 3) {
      v3_cross(turn, w + k->off + 3, fc + j);
      if (j == 3) {
        v3_cross_add(turn, -1, dc + 3 * i, fc);
      }
      m3_mulv(x, n->H[k->body].R, turn);
      v3_add(df + k->off + j, df + k->off + j, x);
    }
  }
}

void mbg__rotors_pull_wrench(const mbg__alpha *a, const mbg__alpha_node *n, const real *f, real *z, real *w, real *bc) {
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    real x[6], fc[6], y[3];
    at_point(k, f + k->off, fc);
    for (int j = 0; j < 6; j += 3) {
      m3_mulv_T(y, n->H[k->body].R, z + k->off + j);
      v3_cross_add(w + k->off + 3, 1, fc + j, y);
    }
    v3_cross_add(bc + 3 * i, -1, fc, y);
    m6_mulv(x, k->G, z + k->off);
    v6_copy(z + k->off, x);
  }
}

void mbg__rotors_pull(const mbg__alpha *a, real *w, real *v, real *vd) {
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    real V[6], D[6];
    m6_mulv_T_add(w + k->off, k->Hv, v + k->off);
    m6_mulv_T_add(w + k->off, k->Fd, vd + k->off);
    m6_mulv_T(V, k->G, v + k->off);
    m6_mulv_T_add(V, k->Hd, vd + k->off);
    m6_mulv_T(D, k->G, vd + k->off);
    v6_copy(v + k->off, V);
    v6_copy(vd + k->off, D);
  }
}

/* D = G^-1 (vd - Hd V - Fd w), V = G^-1 (v - Hv w) */
void mbg__rotors_pull_start(const mbg__alpha *a, real *w, real *V, real *D) {
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    real vd[6], v[6], x[6];
    m6_mulv_T(vd, k->Gi, D + k->off);
    m6_mulv_T(x, k->Hd, vd);
    v6_sub(x, V + k->off, x);
    m6_mulv_T(v, k->Gi, x);
    m6_mulv_T(x, k->Fd, vd);
    v6_axpy(w + k->off, -1, x);
    m6_mulv_T(x, k->Hv, v);
    v6_axpy(w + k->off, -1, x);
    v6_copy(V + k->off, v);
    v6_copy(D + k->off, vd);
  }
}

void mbg__rotors_push_start(const mbg__alpha *a, const real *w, real *v, real *vd) {
  for (int i = 0; i < a->nrotor; i++) {
    const mbg__rotor *k = &a->rotors[i];
    real x[6], y[6], V[6];
    m6_mulv(x, k->Hv, w + k->off);
    v6_sub(x, v + k->off, x);
    m6_mulv(V, k->Gi, x);
    m6_mulv(y, k->Fd, w + k->off);
    m6_mulv_add(y, k->Hd, V);
    v6_sub(y, vd + k->off, y);
    m6_mulv(vd + k->off, k->Gi, y);
    v6_copy(v + k->off, V);
  }
}

void mbg__rotors_put_aside(const mbg__alpha *a, real *w, real *v, real *vd, real *rest) {
  real *const bars[3] = {w, v, vd};
  for (int i = 0; i < a->nrotor; i++) {
    for (int k = 0; k < 3; k++) {
      v6_copy(rest + 18 * i + 6 * k, bars[k] + a->rotors[i].off);
      v6_zero(bars[k] + a->rotors[i].off);
    }
  }
}

void mbg__rotors_take_back(const mbg__alpha *a, real *w, real *v, real *vd, const real *rest, real *bc) {
  real *const bars[3] = {w, v, vd};
  mbg__rotors_pull_twist(a, 1, v, vd, bc);
  mbg__rotors_pull(a, w, v, vd);
  for (int i = 0; i < a->nrotor; i++) {
    for (int k = 0; k < 3; k++) {
      v6_axpy(bars[k] + a->rotors[i].off, 1, rest + 18 * i + 6 * k);
    }
  }
}
