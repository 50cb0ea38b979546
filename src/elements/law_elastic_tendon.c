/* Elastic tendon, whose length and rate are q and qd:

     tau = T              T = k (q - rest) + c qd + preload
     tau = (T + sqrt(T^2 + w^2))/2       with slack w > 0: it never pushes, and w/2 remains at T = 0

   Energy: the integral of tau from q = rest on, at qd = 0. */
#include "model/types.h"

enum { STIFFNESS, DAMPING, REST, SLACK };

static const mbg__key keys[] = {
    {.name = "stiffness",
     .kind = MBG__KEY_NUMBER,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "N/m",
     .help = "stiffness k of the whole tendon"},
    {.name = "damping", .kind = MBG__KEY_NUMBER, .sign = MBG__NOT_NEGATIVE, .unit = "N s/m", .help = "damping c"},
    {.name = "rest", .kind = MBG__KEY_NUMBER, .unit = "m", .help = "length of the unstretched tendon"},
    {.name = "slack",
     .kind = MBG__KEY_NUMBER,
     .sign = MBG__NOT_NEGATIVE,
     .unit = "N",
     .help = "tension over which it goes slack smoothly; absent: it also pushes"},
    {.name = "preload",
     .kind = MBG__KEY_FN,
     .unit = "N",
     .uses = MBG__USES_TIME | MBG__USES_CONTROLS | MBG__USES_SIGNALS,
     .help = "part of the tension that does not depend on the length: of a muscle or motor, too"},
};

/* p(T) = (T + sqrt(T^2 + w^2))/2, its slopes, its integral P, and their derivatives by w */
typedef struct {
  real p, p_T, p_w, P, P_w;
} ramp;

static ramp ramp_at(real T, real w) {
  const real r = r_sqrt(T * T + w * w), size = r_abs(T), up = r_log((size + r) / w), log = re(T) < 0 ? -up : up;
  const real p_T = re(T) > 0 ? (1 + T / r) / 2 : w * w / (2 * r * (r - T)); /* without cancellation */
  return (ramp){.p = re(T) > 0 ? (T + r) / 2 : w * w / (2 * (r - T)),
                .p_T = p_T,
                .p_w = w / (2 * r),
                .P = (T * (T + r) + w * w * log) / 4,
                .P_w = w * log / 2};
}

static void linear_energy(const mbg__law_in *in, real y, real preload, mbg__law_out *out) {
  const real k = in->attr[STIFFNESS];
  out->energy = k * y * y / 2 + preload * y;
  out->energy_q = k * y + preload;
  out->energy_a[STIFFNESS] = y * y / 2;
  out->energy_a[REST] = -out->energy_q;
  out->energy_fn[0] = y;
}

/* E = (P(k y + preload) - P(preload))/k */
static void slack_energy(const mbg__law_in *in, real y, real preload, mbg__law_out *out) {
  const real k = in->attr[STIFFNESS], w = in->attr[SLACK];
  const ramp a = ramp_at(k * y + preload, w), b = ramp_at(preload, w);
  const bool soft = re(k) == 0;
  out->energy = soft ? b.p * y + k * b.p_T * y * y / 2 : (a.P - b.P) / k;
  out->energy_q = a.p;
  out->energy_a[STIFFNESS] = soft ? b.p_T * y * y / 2 : (a.p * y - out->energy) / k;
  out->energy_a[REST] = -a.p;
  out->energy_a[SLACK] = soft ? b.p_w * y : (a.P_w - b.P_w) / k;
  out->energy_fn[0] = soft ? b.p_T * y : (a.p - b.p) / k;
}

static void eval(const mbg__law_in *in, mbg__law_out *out) {
  const real k = in->attr[STIFFNESS], c = in->attr[DAMPING], w = in->attr[SLACK], y = in->q - in->attr[REST];
  const real T = k * y + c * in->qd + in->fn[0];
  const bool slack = re(w) > 0;
  const ramp r = slack ? ramp_at(T, w) : (ramp){.p = T, .p_T = 1};
  out->tau = r.p;
  out->tau_q = r.p_T * k;
  out->tau_qd = r.p_T * c;
  out->tau_a[STIFFNESS] = r.p_T * y;
  out->tau_a[DAMPING] = r.p_T * in->qd;
  out->tau_a[REST] = -r.p_T * k;
  out->tau_a[SLACK] = r.p_w;
  out->tau_fn[0] = r.p_T;
  if (slack) {
    slack_energy(in, y, in->fn[0], out);
  } else {
    linear_energy(in, y, in->fn[0], out);
  }
}

static mbg__energy_kind energy(const real *attr) { return mbg__energy_damped(attr[DAMPING]); }

const mbg__law_type mbg__law_elastic_tendon = {
    .key = "elastic-tendon",
    .help = "elastic rope over markers and pulleys",
    .coord = "distance",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
    .energy = energy,
    .tendon = true,
};
