/* Dry and viscous friction, smooth at rest: tau = T tanh(qd/ws) + c qd. */
#include "model/types.h"

enum { TORQUE, RATE_SCALE, DAMPING };

static const mbg__key keys[] = {
    [TORQUE] = {.name = "torque",
                .kind = MBG__KEY_NUMBER,
                .required = true,
                .sign = MBG__NOT_NEGATIVE,
                .unit = "N m",
                .help = "friction torque or force T of a fast motion"},
    [RATE_SCALE] = {.name = "rate_scale",
                    .kind = MBG__KEY_NUMBER,
                    .required = true,
                    .sign = MBG__POSITIVE,
                    .unit = "rad/s",
                    .help = "rate ws at which the friction has 76 percent of T"},
    [DAMPING] = {.name = "damping",
                 .kind = MBG__KEY_NUMBER,
                 .sign = MBG__NOT_NEGATIVE,
                 .unit = "N m s/rad",
                 .help = "viscous part c"},
};

static void eval(const mbg__law_in *in, mbg__law_out *out) {
  const real T = in->attr[TORQUE], ws = in->attr[RATE_SCALE], c = in->attr[DAMPING];
  const real th = r_tanh(in->qd / ws), slope = (1 - th) * (1 + th) / ws;
  out->tau = T * th + c * in->qd;
  out->tau_qd = T * slope + c;
  out->tau_a[TORQUE] = th;
  out->tau_a[RATE_SCALE] = -T * slope * in->qd / ws;
  out->tau_a[DAMPING] = in->qd;
}

const mbg__law_type mbg__law_friction = {
    .key = "friction",
    .help = "dry and viscous friction, smooth at rest",
    .coord = "angle",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
