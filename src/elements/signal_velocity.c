/* Velocity of B's origin relative to A: y = (R U)_k, or U_k in the axes of B. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_COMPONENT, MBG__KEY_IN_AXES};

static void eval(const mbg__signal_in *in, mbg__signal_out *out) { mbg__signal_component(in, in->v, out, out->y_v); }

const mbg__signal_type mbg__signal_velocity = {
    .key = "velocity",
    .help = "velocity of B's origin relative to A",
    .unit = {"m/s"},
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_VELOCITY,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
