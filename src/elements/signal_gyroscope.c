/* Gyroscope: angular velocity of B in the axes of B, y = W_k. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_COMPONENT};

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const int k = in->opt[0];
  out->y = in->v[3 + k];
  out->y_v[3 + k] = 1;
}

const mbg__signal_type mbg__signal_gyroscope = {
    .key = "gyroscope",
    .help = "angular velocity in the axes of B",
    .unit = {"rad/s"},
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_VELOCITY,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
