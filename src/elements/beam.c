#include "elements/beam.h"

bool mbg__beam_eval(const mbg__frame *G, const real v[6], const real K[6], real eta, const real d0[6],
                    mbg__beam_state *s) {
  const real L = v3_norm(d0);
  mbg__se3_log(s->d, G);
  const double turn = re(v3_dot(s->d + 3, s->d + 3));
  if (!(turn < MBG__BEAM_TURN_MAX * MBG__BEAM_TURN_MAX)) {
    return false;
  }
  mbg__se3_tangent_inv(s->Ti, s->d);
  v6_sub(s->e, s->d, d0);
  m6_mulv(s->rate, s->Ti, v);
  s->energy = 0;
  for (int k = 0; k < 6; k++) {
    s->y[k] = K[k] * (s->e[k] + eta * s->rate[k]) / L;
    s->energy += K[k] * s->e[k] * s->e[k] / (2 * L);
  }
  m6_mulv_T(s->f, s->Ti, s->y);
  v6_scale(s->f, -1, s->f);
  return true;
}

/* y_G = K/L (1 + eta d(T^-1 v)/dd) T^-1,  y_v = eta K/L T^-1 */
void mbg__beam_section_forces(const mbg__beam_state *s, const real v[6], const real K[6], real eta, real L,
                              real y_G[36], real y_v[36]) {
  real D[36] = {0};
  if (re(eta) != 0) {
    mbg__se3_dtangent_inv(D, s->d, v);
  }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      D[6 * i + j] = K[i] / L * ((i == j) + eta * D[6 * i + j]);
      y_v[6 * i + j] = eta * K[i] / L * s->Ti[6 * i + j];
    }
  }
  m6_mul(y_G, D, s->Ti);
}

/* f_G = -d(T^-T y)/dd T^-1 - T^-T y_G,  f_v = -T^-T y_v */
void mbg__beam_derivatives(const mbg__beam_state *s, const real v[6], const real K[6], real eta, real L, real f_G[36],
                           real f_v[36]) {
  real y_G[36], y_v[36], A[36], B[36];
  mbg__beam_section_forces(s, v, K, eta, L, y_G, y_v);
  mbg__se3_dtangent_invT(A, s->d, s->y);
  m6_mul(B, A, s->Ti);
  m6_mul_TN(f_G, s->Ti, y_G);
  m6_add(f_G, f_G, B);
  m6_scale(f_G, -1, f_G);
  m6_mul_TN(f_v, s->Ti, y_v);
  m6_scale(f_v, -1, f_v);
}

/* dy = dK (e + eta d')/L + K deta d'/L - K dd0/L - y dL/L,  dL = d0_U.dd0_U/L */
void mbg__beam_change(const mbg__beam_state *s, const real K[6], real eta, const real d0[6], const real dK[6],
                      real deta, const real dd0[6], real dy[6]) {
  const real L = v3_norm(d0), stretch = v3_dot(d0, dd0) / (L * L);
  for (int k = 0; k < 6; k++) {
    dy[k] = (dK[k] * (s->e[k] + eta * s->rate[k]) + K[k] * (deta * s->rate[k] - dd0[k])) / L - s->y[k] * stretch;
  }
}

void mbg__beam_change_T(const mbg__beam_state *s, const real K[6], real eta, const real d0[6], const real u[6],
                        real gK[6], real *geta, real gd0[6]) {
  const real L = v3_norm(d0), uy = v6_dot(u, s->y);
  for (int k = 0; k < 6; k++) {
    gK[k] += u[k] * (s->e[k] + eta * s->rate[k]) / L;
    *geta += u[k] * K[k] * s->rate[k] / L;
    gd0[k] -= u[k] * K[k] / L;
  }
  v3_axpy(gd0, -uy / (L * L), d0);
}
