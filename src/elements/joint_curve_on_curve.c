/* Curve on curve: a curve of B touches a curve of A, without friction; both in the common x-y plane. Row:

     psi = n(al).(x + R r_B(s2) - r_A(s1)),  n = (cos al, sin al),  stationary in s1, s2 and al:

   both tangents are normal to n, and n is the direction of the gap, which is the value; regular at gap 0. Minus its
   multiplier is the force by which they press. */
#include "elements/curve_contact.h"

enum { COSINE, SINE, X1, X2, NZ, PLACE_A = NZ, PLACE_B, NORMAL };
enum { CURVE, FOLLOWER, SIDE };
enum { EVERY = 4 }; /* samples of the search */

static const mbg__key keys[] = {
    MBG__CURVE_KEY("curve of A, in its x-y plane"),
    {.name = "follower", .kind = MBG__KEY_CURVE, .required = true, .help = "curve of B, in its x-y plane"},
    MBG__SIDE_KEY,
};

static void base(const mbg__contact_in *in, mbg__form *form) { mbg__curve_offset(in, NORMAL, X1, 2, form); }

/* column d of R = (cosine, -sine; sine, cosine) */
static void along(const mbg__contact_in *in, int curve, int d, const real u[4], int order, mbg__form *form) {
  const mbg__factor place = {PLACE_B, {u[0], u[1], u[2], u[3]}};
  if (curve == 0) {
    mbg__curve_less(in, NORMAL, PLACE_A, d, u, order, form);
    return;
  }
  for (int c = 0; c < 2; c++) {
    const mbg__factor product[3] = {mbg__curve_normal(in, NORMAL, c), place,
                                    mbg__curve_entry(in, c == d ? COSINE : SINE)};
    mbg__form_add(form, order, c == 0 && d == 1 ? -1 : 1, 3, product);
  }
}

/* the nearest pair */
static void nearest(const mbg__contact_in *in, const mbg__curve_samples *samples, int at[2]) {
  const double C = re(in->y[COSINE]), S = re(in->y[SINE]);
  double least = INFINITY;
  for (int j = 0; j < samples[1].count; j += EVERY) {
    const double *b = samples[1].r + 3 * j;
    const double x = re(in->y[X1]) + C * b[0] - S * b[1], y = re(in->y[X2]) + S * b[0] + C * b[1];
    for (int i = 0; i < samples[0].count; i += EVERY) {
      const double dx = x - samples[0].r[3 * i], dy = y - samples[0].r[3 * i + 1], d = dx * dx + dy * dy;
      if (d < least) {
        least = d;
        at[0] = i;
        at[1] = j;
      }
    }
  }
}

static void begin(const mbg__contact_in *in, const real *const tangent[2], real *s) {
  s[NORMAL - NZ] = mbg__curve_normal_angle(tangent[0], in->opt[SIDE]);
}

static const mbg__curve_contact contact = {
    .ncurve = 2,
    .nz = NZ,
    .entry = {MBG__R11, MBG__R21, MBG__X1, MBG__X2},
    .ns = 3,
    .s_of = {PLACE_A - NZ, PLACE_B - NZ},
    .pressed = -1,
    .out = "the curves have the same curvature where they touch: two contact points meet",
    MBG__CURVE_KERNELS,
};

static const mbg__row_spec rows[] = {
    {.name = "normal", .contact = 1, .nentry = 3, .entry = {MBG__R11, MBG__R21, MBG__X1}},
};

const mbg__joint_type mbg__joint_curve_on_curve = {
    .key = "curve-on-curve",
    .help = "a planar curve of B on a planar curve of A: a cam with a curved follower",
    MBG__CURVE_JOINT,
};
