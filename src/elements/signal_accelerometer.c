/* Accelerometer at B's origin: specific force in the axes of B, y = (Ud + W x U - R^T g)_k, relative to the ground. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_COMPONENT};

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const int k = in->opt[0];
  const real *U = in->v, *W = in->v + 3, *gravity = in->attr;
  real row[3], s[3], g[3];
  mbg__signal_row(in->G, k, MBG__IN_B, row);
  m3_mulv_T(g, in->G->R, gravity);
  v3_sub(s, in->vd, g);
  v3_cross_add(s, 1, W, U);
  out->y = s[k];

  /* d(R^T g) = (R^T g)~ W; row.(W x U): by U row x W, by W U x row */
  v3_cross(out->y_w + 3, g, row);
  v3_cross(out->y_v, row, W);
  v3_cross(out->y_v + 3, U, row);
  v3_copy(out->y_vd, row);
  for (int j = 0; j < 3; j++) {
    out->y_a[j] = -in->G->R[3 * j + k];
  }
}

const mbg__signal_type mbg__signal_accelerometer = {
    .key = "accelerometer",
    .help = "specific force: inertial acceleration minus gravity, axes of B",
    .unit = {"m/s^2"},
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_ACCELERATION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .gravity = true,
    .eval = eval,
};
