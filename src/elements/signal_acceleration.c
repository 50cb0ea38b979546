/* Acceleration of B's origin relative to A: y = (R s)_k with s = Ud + W x U, or s_k in the axes of B. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_COMPONENT, MBG__KEY_IN_AXES};

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const int k = in->opt[0], axes = in->opt[1];
  const real *U = in->v, *W = in->v + 3;
  real s[3], row[3];
  v3_copy(s, in->vd);
  v3_cross_add(s, 1, W, U);
  mbg__signal_row(in->G, k, axes, row);
  out->y = v3_dot(row, s);
  mbg__signal_turn(row, axes, s, out->y_w);

  /* row.(W x U): by U row x W, by W U x row */
  v3_cross(out->y_v, row, W);
  v3_cross(out->y_v + 3, U, row);
  v3_copy(out->y_vd, row);
}

const mbg__signal_type mbg__signal_acceleration = {
    .key = "acceleration",
    .help = "acceleration of B's origin relative to A",
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_ACCELERATION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
