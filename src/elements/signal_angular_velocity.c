/* Angular velocity of B relative to A: y = (R W)_k, or W_k in the axes of B. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_COMPONENT, MBG__KEY_IN_AXES};

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  mbg__signal_component(in, in->v + 3, out, out->y_v + 3);
}

const mbg__signal_type mbg__signal_angular_velocity = {
    .key = "angular-velocity",
    .help = "angular velocity of B relative to A",
    .unit = {"rad/s"},
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_VELOCITY,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
