#include "elements/angle_kernels.h"

/* ---------------------------------------------------------------------- atan2 */

/* imaginary part of i^k (a + i b) */
static real imaginary(int k, real a, real b) {
  const real part[4] = {b, a, -b, -a};
  return part[k];
}

/* The angle is the imaginary part of log(c + i s): with y = 1/(c + i s) its derivatives are the imaginary parts of
   y, -y^2, 2 y^3, times i for each derivative by s. */
void mbg__angle_derivatives(real c, real s, int turns, int order, real D[4][4]) {
  const real r2 = c * c + s * s, scale = re(r2) > 0 ? 1 / r2 : 0;
  const real a = c * scale, b = -s * scale;
  const real a2 = a * a - b * b, b2 = 2 * a * b;
  const real power[3][2] = {{a, b}, {-a2, -b2}, {2 * (a * a2 - b * b2), 2 * (a * b2 + b * a2)}};

  D[0][0] = r_atan2(s, c) + 2 * M_PI * turns;
  for (int n = 1; n <= order; n++) {
    for (int k = 0; k <= n; k++) {
      D[n][k] = imaginary(k, power[n - 1][0], power[n - 1][1]);
    }
  }
}

void mbg__angle_value(const real *z, int turns, int order, mbg__jet3 *out) {
  real D[4][4];
  mbg__angle_derivatives(z[0], z[1], turns, order, D);
  out->F = D[0][0];
  for (int i = 0; i < 2 && order >= 1; i++) {
    out->F_z[i] = D[1][i];
    for (int j = 0; j < 2 && order >= 2; j++) {
      out->F_zz[i][j] = D[2][i + j];
      for (int k = 0; k < 2 && order >= 3; k++) {
        out->F_zzz[i][j][k] = D[3][i + j + k];
      }
    }
  }
}

/* ---------------------------------------------------------------------- driver and branch */

/* F = a . (c, s) with a = (a1, a2)(theta), a[n]: its n-th derivative */
static void turning_row(const real *z, const real a[4][2], int order, mbg__jet3 *out) {
  out->F = a[0][0] * z[0] + a[0][1] * z[1];
  if (order >= 1) {
    out->F_z[0] = a[0][0];
    out->F_z[1] = a[0][1];
    out->F_z[2] = a[1][0] * z[0] + a[1][1] * z[1];
  }
  for (int i = 0; i < 2; i++) {
    if (order >= 2) {
      out->F_zz[i][2] = out->F_zz[2][i] = a[1][i];
    }
    if (order >= 3) {
      out->F_zzz[i][2][2] = out->F_zzz[2][i][2] = out->F_zzz[2][2][i] = a[2][i];
    }
  }
  if (order >= 2) {
    out->F_zz[2][2] = a[2][0] * z[0] + a[2][1] * z[1];
  }
  if (order >= 3) {
    out->F_zzz[2][2][2] = a[3][0] * z[0] + a[3][1] * z[1];
  }
}

void mbg__angle_driver(const real *z, int turns, int order, mbg__jet3 *out) {
  (void)turns;
  const real sn = r_sin(z[2]), cs = r_cos(z[2]);
  const real a[4][2] = {{-sn, cs}, {-cs, -sn}, {sn, -cs}, {cs, sn}};
  turning_row(z, a, order, out);
}

void mbg__angle_branch(const real *z, int turns, int order, mbg__jet3 *out) {
  (void)turns;
  const real sn = r_sin(z[2]), cs = r_cos(z[2]);
  const real a[4][2] = {{cs, sn}, {-sn, cs}, {-cs, -sn}, {sn, -cs}};
  turning_row(z, a, order, out);
}
