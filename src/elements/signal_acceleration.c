/* Acceleration of B's origin relative to A: y = (R s)_k with s = Ud + W x U, or s_k in the axes of B. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_COMPONENT, MBG__KEY_IN_AXES};

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const real *U = in->v, *W = in->v + 3, *row = out->y_vd;
  real s[3];
  v3_copy(s, in->vd);
  v3_cross_add(s, 1, W, U);
  mbg__signal_component(in, s, out, out->y_vd);

  /* row.(W x U): by U row x W, by W U x row */
  v3_cross(out->y_v, row, W);
  v3_cross(out->y_v + 3, U, row);
}

const mbg__signal_type mbg__signal_acceleration = {
    .key = "acceleration",
    .help = "acceleration of B's origin relative to A",
    .unit = {"m/s^2"},
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_ACCELERATION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
