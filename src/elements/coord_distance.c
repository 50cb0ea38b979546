/* q = |x|: distance of B's origin from A's. At distance 0 it has no direction: the derivatives are given as 0. */
#include "model/types.h"

/* l = |z| and n = z/l of the first three inputs; scaled, so that no square underflows */
static real length_and_direction(const real *z, real n[3]) {
  mbg__part scale = 0;
  for (int i = 0; i < 3; i++) {
    scale = fmax(scale, fabs(re(z[i])));
  }
  v3_zero(n);
  if (scale == 0) {
    return 0;
  }
  v3_scale(n, 1 / scale, z);
  const real l = v3_norm(n);
  v3_scale(n, 1 / l, n);
  return scale * l;
}

/* F_z = n,  F_zz = (1 - n n^T)/l,  F_zzz = (3 n n n - n 1 - 1 n - ...)/l^2 */
static void value(const real *z, int turns, int order, mbg__jet3 *out) {
  (void)turns;
  real n[3];
  const real l = length_and_direction(z, n);
  out->F = l;
  if (re(l) == 0) {
    return;
  }
  for (int i = 0; i < 3 && order >= 1; i++) {
    out->F_z[i] = n[i];
    for (int j = 0; j < 3 && order >= 2; j++) {
      out->F_zz[i][j] = ((i == j) - n[i] * n[j]) / l;
      for (int k = 0; k < 3 && order >= 3; k++) {
        const real delta = (i == j) * n[k] + (i == k) * n[j] + (j == k) * n[i];
        out->F_zzz[i][j][k] = (3 * n[i] * n[j] * n[k] - delta) / l / l;
      }
    }
  }
}

/* F = |x| - theta, z = (x1, x2, x3, theta) */
static void driver(const real *z, int turns, int order, mbg__jet3 *out) {
  value(z, turns, order, out);
  out->F -= z[3];
  if (order >= 1) {
    out->F_z[3] = -1;
  }
}

const mbg__coord_type mbg__coord_distance = {
    .key = "distance",
    .unit = "m",
    .help = "distance of B's origin from A's",
    .nentry = 3,
    .entry = {MBG__X1, MBG__X2, MBG__X3},
    .value = value,
    .driver = driver,
};
