/* Stops at both ends of a range, twice differentiable:

     tau = k P(q - upper) - k P(lower - q) + c qd (P'(q - upper) + P'(lower - q))

   with the ramp P(d) = 0 for d <= 0, w (s^3 - s^4/2) with s = d/w for 0 < s < 1, d - w/2 beyond. */
#include "model/types.h"

enum { LOWER, UPPER, STIFFNESS, WIDTH, DAMPING };

/* a limit that is never reached */
#define NO_LIMIT 1e300

static const mbg__key keys[] = {
    [LOWER] = {.name = "lower",
               .kind = MBG__KEY_NUMBER,
               .preset = -NO_LIMIT,
               .unit = "rad",
               .help = "lower limit; absent: none"},
    [UPPER] = {.name = "upper",
               .kind = MBG__KEY_NUMBER,
               .preset = NO_LIMIT,
               .unit = "rad",
               .help = "upper limit; absent: none"},
    [STIFFNESS] = {.name = "stiffness",
                   .kind = MBG__KEY_NUMBER,
                   .required = true,
                   .sign = MBG__NOT_NEGATIVE,
                   .unit = "N m/rad",
                   .help = "stiffness k beyond the limit"},
    [WIDTH] = {.name = "width",
               .kind = MBG__KEY_NUMBER,
               .required = true,
               .sign = MBG__POSITIVE,
               .unit = "rad",
               .help = "depth w over which the stiffness grows to k"},
    [DAMPING] = {.name = "damping",
                 .kind = MBG__KEY_NUMBER,
                 .sign = MBG__NOT_NEGATIVE,
                 .unit = "N m s/rad",
                 .help = "damping c beyond the limit"},
};

/* The ramp, its derivatives by depth and width, and its integral Q with Q' = P. */
typedef struct {
  real P, P_d, P_dd, P_w, P_dw, Q, Q_w;
} ramp;

static ramp ramp_at(real d, real w) {
  ramp r = {0};
  if (re(d) <= 0) {
    return r;
  }
  const real s = d / w;
  if (re(s) >= 1) {
    r.P = d - w / 2;
    r.P_d = 1;
    r.P_w = -0.5;
    r.Q = d * (d - w) / 2 + 0.15 * w * w;
    r.Q_w = -d / 2 + 0.3 * w;
    return r;
  }
  const real s2 = s * s, s3 = s2 * s, s4 = s2 * s2;
  r.P = w * (s3 - s4 / 2);
  r.P_d = 3 * s2 - 2 * s3;
  r.P_dd = 6 * (s - s2) / w;
  r.P_w = 1.5 * s4 - 2 * s3;
  r.P_dw = -s * r.P_dd;
  r.Q = w * w * (s4 / 4 - s4 * s / 10);
  r.Q_w = w * (0.3 * s4 * s - 0.5 * s4);
  return r;
}

static void eval(const mbg__law_in *in, mbg__law_out *out) {
  const real k = in->attr[STIFFNESS], w = in->attr[WIDTH], c = in->attr[DAMPING], cv = c * in->qd;
  const ramp up = ramp_at(in->q - in->attr[UPPER], w), low = ramp_at(in->attr[LOWER] - in->q, w);

  out->tau = k * (up.P - low.P) + cv * (up.P_d + low.P_d);
  out->tau_q = k * (up.P_d + low.P_d) + cv * (up.P_dd - low.P_dd);
  out->tau_qd = c * (up.P_d + low.P_d);
  out->tau_a[UPPER] = -k * up.P_d - cv * up.P_dd;
  out->tau_a[LOWER] = -k * low.P_d + cv * low.P_dd;
  out->tau_a[STIFFNESS] = up.P - low.P;
  out->tau_a[WIDTH] = k * (up.P_w - low.P_w) + cv * (up.P_dw + low.P_dw);
  out->tau_a[DAMPING] = in->qd * (up.P_d + low.P_d);

  out->energy = k * (up.Q + low.Q);
  out->energy_q = k * (up.P - low.P);
  out->energy_a[UPPER] = -k * up.P;
  out->energy_a[LOWER] = k * low.P;
  out->energy_a[STIFFNESS] = up.Q + low.Q;
  out->energy_a[WIDTH] = k * (up.Q_w + low.Q_w);
}

/* in h, the coordinate moves by h qd; a limit out of reach does not matter */
static double sharp(const mbg__law_in *in, double h, double inertia, const char **key) {
  (void)inertia;
  const double move = h * fabs(re(in->qd)), q = re(in->q);
  *key = keys[WIDTH].name;
  return q + move > re(in->attr[UPPER]) || q - move < re(in->attr[LOWER]) ? (double)(move / re(in->attr[WIDTH])) : 0;
}

static mbg__energy_kind energy(const real *attr) { return mbg__energy_damped(attr[DAMPING]); }

/* the damper pulls when the stop is left faster than it springs back */
static real pull(const mbg__law_in *in) {
  const real k = in->attr[STIFFNESS], w = in->attr[WIDTH], cv = in->attr[DAMPING] * in->qd;
  const ramp up = ramp_at(in->q - in->attr[UPPER], w), low = ramp_at(in->attr[LOWER] - in->q, w);
  return -(k * (up.P + low.P) + cv * (up.P_d - low.P_d));
}

const mbg__law_type mbg__law_stop = {
    .key = "stop",
    .help = "smooth stops beyond a lower and an upper limit",
    .coord = "angle",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
    .sharp = sharp,
    .energy = energy,
    .pull = pull,
};
