#include "twin/twin_math.h"
#include "math/se3.h"

/* ---------------------------------------------------------------------- SE(3) */

static mbg__frame load(const real H[12]) {
  mbg__frame out;
  vn_copy(9, out.R, H);
  vn_copy(3, out.x, H + 9);
  return out;
}

void twin_so3_exp(real R[9], const real w[3]) { mbg__so3_exp(R, w); }
void twin_so3_log(real w[3], const real R[9]) { mbg__so3_log(w, R); }
void twin_so3_tangent(real T[9], const real w[3]) { mbg__so3_tangent(T, w); }
void twin_so3_tangent_inv(real Ti[9], const real w[3]) { mbg__so3_tangent_inv(Ti, w); }

void twin_se3_exp(real H[12], const real h[6]) {
  mbg__frame E;
  mbg__se3_exp(&E, h);
  vn_copy(9, H, E.R);
  vn_copy(3, H + 9, E.x);
}

void twin_se3_log(real h[6], const real H[12]) {
  const mbg__frame E = load(H);
  mbg__se3_log(h, &E);
}

void twin_se3_tangent(real T[36], const real h[6]) { mbg__se3_tangent(T, h); }
void twin_se3_tangent_inv(real Ti[36], const real h[6]) { mbg__se3_tangent_inv(Ti, h); }
void twin_se3_dtangent(real D[36], const real h[6], const real x[6]) { mbg__se3_dtangent(D, h, x); }
void twin_se3_dtangentT(real D[36], const real h[6], const real y[6]) { mbg__se3_dtangentT(D, h, y); }
void twin_se3_dtangent_inv(real D[36], const real h[6], const real y[6]) { mbg__se3_dtangent_inv(D, h, y); }
void twin_se3_dtangent_invT(real D[36], const real h[6], const real y[6]) { mbg__se3_dtangent_invT(D, h, y); }
void twin_quat_from_R(real q[4], const real R[9]) { mbg__quat_from_R(q, R); }
void twin_quat_to_R(real R[9], const real q[4]) { mbg__quat_to_R(R, q); }
