/* Drag at B's origin: V and W are the relative velocity and angular velocity in the axes of B,

     f = (-(c1 + c2 s) V, -ca W),   s = sqrt(V.V + e^2): smooth at rest */
#include "elements/force_clear.h"

enum { LINEAR, QUADRATIC, ANGULAR, SMOOTHING };

static const mbg__key keys[] = {
    [LINEAR] = {.name = "linear",
                .kind = MBG__KEY_NUMBER,
                .sign = MBG__NOT_NEGATIVE,
                .unit = "N s/m",
                .help = "linear coefficient c1"},
    [QUADRATIC] = {.name = "quadratic",
                   .kind = MBG__KEY_NUMBER,
                   .sign = MBG__NOT_NEGATIVE,
                   .unit = "N s^2/m^2",
                   .help = "quadratic coefficient c2"},
    [ANGULAR] = {.name = "angular",
                 .kind = MBG__KEY_NUMBER,
                 .sign = MBG__NOT_NEGATIVE,
                 .unit = "N m s",
                 .help = "angular coefficient ca"},
    [SMOOTHING] = {.name = "smoothing",
                   .kind = MBG__KEY_NUMBER,
                   .preset = 1e-6,
                   .sign = MBG__POSITIVE,
                   .unit = "m/s",
                   .help = "speed e below which the quadratic part is linear"},
};

/* f_V = -(c1 + c2 s) 1 - c2/s V V^T */
static void derivatives(const mbg__force_in *in, real s, mbg__force_out *out) {
  const real *V = in->v, c2 = in->attr[QUADRATIC], c = in->attr[LINEAR] + c2 * s;
  real D[9] = {0};
  m3_outer_add(D, -c2 / s, V, V);
  m6_set_block(out->f_v, 0, 0, 1, D);
  for (int i = 0; i < 3; i++) {
    out->f_v[7 * i] -= c;
    out->f_v[7 * (3 + i)] = -in->attr[ANGULAR];
  }
  v3_scale(out->f_a[LINEAR], -1, V);
  v3_scale(out->f_a[QUADRATIC], -s, V);
  v3_scale(out->f_a[ANGULAR] + 3, -1, in->v + 3);
  v3_scale(out->f_a[SMOOTHING], -c2 * in->attr[SMOOTHING] / s, V);
}

static int eval(const mbg__force_in *in, mbg__force_out *out) {
  const real *V = in->v, *W = in->v + 3, e = in->attr[SMOOTHING];
  const real s = r_sqrt(v3_dot(V, V) + e * e);
  mbg__force_clear(out);
  v3_scale(out->f, -(in->attr[LINEAR] + in->attr[QUADRATIC] * s), V);
  v3_scale(out->f + 3, -in->attr[ANGULAR], W);
  if (in->derivatives) {
    derivatives(in, s, out);
  }
  return MBG_OK;
}

static mbg__energy_kind energy(const real *attr) {
  (void)attr;
  return MBG__ENERGY_FALLS;
}

const mbg__force_type mbg__force_drag = {
    .key = "drag",
    .help = "linear and quadratic drag, angular drag",
    .on_one = true,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
    .energy = energy,
};
