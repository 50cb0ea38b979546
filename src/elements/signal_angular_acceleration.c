/* Angular acceleration of B relative to A: y = (R Wd)_k, or Wd_k in the axes of B. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_COMPONENT, MBG__KEY_IN_AXES};

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const int k = in->opt[0], axes = in->opt[1];
  const real *Wd = in->vd + 3;
  real row[3];
  mbg__signal_row(in->G, k, axes, row);
  out->y = v3_dot(row, Wd);
  mbg__signal_turn(row, axes, Wd, out->y_w);
  v3_copy(out->y_vd + 3, row);
}

const mbg__signal_type mbg__signal_angular_acceleration = {
    .key = "angular-acceleration",
    .help = "angular acceleration of B relative to A",
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_ACCELERATION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
