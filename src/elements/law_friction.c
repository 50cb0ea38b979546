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

/* 1/cosh^2(x), which 1 - tanh^2 loses when x is large */
static real slope_of_tanh(real x) {
  const real e = r_exp(-2 * r_abs(x));
  return 4 * e / ((1 + e) * (1 + e));
}

static void eval(const mbg__law_in *in, mbg__law_out *out) {
  const real T = in->attr[TORQUE], ws = in->attr[RATE_SCALE], c = in->attr[DAMPING];
  const real x = in->qd / ws, slope = slope_of_tanh(x) / ws;
  out->tau = T * r_tanh(x) + c * in->qd;
  out->tau_qd = T * slope + c;
  out->tau_a[TORQUE] = r_tanh(x);
  out->tau_a[RATE_SCALE] = -T * slope * x;
  out->tau_a[DAMPING] = in->qd;
}

/* in h, the friction alone changes the rate by h T / inertia; a motion that is faster keeps its direction */
static double sharp(const mbg__law_in *in, double h, double inertia, const char **key) {
  const double change = h * fabs(re(in->attr[TORQUE])) / inertia;
  *key = keys[RATE_SCALE].name;
  return fabs(re(in->qd)) < 3 * change ? (double)(change / re(in->attr[RATE_SCALE])) : 0;
}

static mbg__energy_kind energy(const real *attr) {
  (void)attr;
  return MBG__ENERGY_FALLS;
}

const mbg__law_type mbg__law_friction = {
    .key = "friction",
    .help = "dry and viscous friction, smooth at rest",
    .coord = "angle",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
    .sharp = sharp,
    .energy = energy,
};
