/* Rate of the distance of B's origin from A's: y = n.U with n = R^T x/|x|. At distance 0, where it has no
   direction, it is given as 0. */
#include "model/types.h"

/* dn = (1 - n n^T)/|x| U_w + n x W_w */
static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const real *U = in->v, xx = v3_dot(in->G->x, in->G->x);
  if (re(xx) == 0) {
    return;
  }
  const real l = r_sqrt(xx);
  real n[3];
  m3_mulv_T(n, in->G->R, in->G->x);
  v3_scale(n, 1 / l, n);
  out->y = v3_dot(n, U);
  for (int i = 0; i < 3; i++) {
    out->y_w[i] = (U[i] - out->y * n[i]) / l;
  }
  v3_cross(out->y_w + 3, U, n);
  v3_copy(out->y_v, n);
}

const mbg__signal_type mbg__signal_distance_rate = {
    .key = "distance-rate",
    .help = "rate of the distance of B's origin from A's",
    .unit = {"m/s"},
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_VELOCITY,
    .eval = eval,
};
