/* Products with M, which is symmetric, go by columns: their sums do not wait for each other. */
#include "elements/inertia.h"

/* out += s M(:,1:3) R^T g */
static void add_weight(real out[6], real s, const real M[36], const real R[9], const real g[3]) {
  real a[3], x[6] = {0};
  m3_mulv_T(a, R, g);
  v3_scale(a, s, a);
  for (int i = 0; i < 3; i++) {
    v6_axpy(x, a[i], M + 6 * i);
  }
  v6_axpy(out, 1, x);
}

void mbg__inertia_residual(const real M[36], const real R[9], const real v[6], const real vd[6], const real g[3],
                           real r[6]) {
  real momentum[6], spin[6];
  m6_mulv_T(momentum, M, v);
  adT_mul(spin, v, momentum);
  m6_mulv_T(r, M, vd);
  v6_sub(r, r, spin);
  add_weight(r, -1, M, R, g);
}

/* M x in components 0, 1 and 5 of a flat x */
static void flat_mul(real out[3], const real M[36], const real x[6]) {
  out[0] = x[0] * M[0] + x[1] * M[6] + x[5] * M[30];
  out[1] = x[0] * M[1] + x[1] * M[7] + x[5] * M[31];
  out[2] = x[0] * M[5] + x[1] * M[11] + x[5] * M[35];
}

void mbg__inertia_flat_residual(const real M[36], const real R[9], const real v[6], const real vd[6], const real g[3],
                                real r[6]) {
  const real a[6] = {R[0] * g[0] + R[3] * g[1], R[1] * g[0] + R[4] * g[1]};
  real y[3], b[3], w[3];
  flat_mul(y, M, v);
  flat_mul(b, M, vd);
  flat_mul(w, M, a);
  r[0] = b[0] - y[1] * v[5] - w[0];
  r[1] = b[1] + y[0] * v[5] - w[1];
  r[2] = r[3] = r[4] = 0;
  r[5] = b[2] - (y[0] * v[1] - y[1] * v[0]) - w[2];
}

void mbg__inertia_derivatives(const real M[36], const real R[9], const real v[6], const real g[3], real r_w[36],
                              real r_v[36]) {
  /* weight */
  real a[3], S[9], skew[36] = {0};
  m3_mulv_T(a, R, g);
  m3_skew(S, a);
  m6_set_block(skew, 0, 1, -1, S);
  m6_mul(r_w, M, skew);

  /* gyroscopic part */
  real momentum[6], ad[36], C[36];
  m6_mulv_T(momentum, M, v);
  mbg__ad_matrix(ad, v);
  mbg__coad_matrix(C, momentum);
  m6_mul_TN(r_v, ad, M);
  m6_add(r_v, r_v, C);
  m6_scale(r_v, -1, r_v);
}

void mbg__inertia_flat_derivatives(const real M[36], const real R[9], const real v[6], const real g[3], real r_w[9],
                                   real r_v[9]) {
  static const int of[3] = {0, 1, 5};
  const real a0 = R[0] * g[0] + R[3] * g[1], a1 = R[1] * g[0] + R[4] * g[1];
  real y[3];
  flat_mul(y, M, v);
  for (int i = 0; i < 3; i++) {
    const real *row = M + 6 * of[i];
    const real m0 = M[of[i]], m1 = M[6 + of[i]];
    r_w[3 * i] = r_w[3 * i + 1] = 0;
    r_w[3 * i + 2] = row[1] * a0 - row[0] * a1;
    r_v[i] = -(v[5] * m1);
    r_v[3 + i] = v[5] * m0;
    r_v[6 + i] = v[0] * m1 - v[1] * m0;
  }
  r_v[2] -= y[1];
  r_v[5] += y[0];
  r_v[6] += y[1];
  r_v[7] -= y[0];
}

void mbg__inertia_change(const real M[36], const real R[9], const real v[6], const real vd[6], const real g[3],
                         const real *dM, const real *dg, real dr[6]) {
  v6_zero(dr);
  if (dM) {
    mbg__inertia_residual(dM, R, v, vd, g, dr); /* linear in M */
  }
  if (dg) {
    add_weight(dr, -1, M, R, dg);
  }
}
