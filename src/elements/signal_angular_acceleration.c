/* Angular acceleration of B relative to A: y = (R Wd)_k, or Wd_k in the axes of B. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_COMPONENT, MBG__KEY_IN_AXES};

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  mbg__signal_component(in, in->vd + 3, out, out->y_vd + 3);
}

const mbg__signal_type mbg__signal_angular_acceleration = {
    .key = "angular-acceleration",
    .help = "angular acceleration of B relative to A",
    .unit = {"rad/s^2"},
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_ACCELERATION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
