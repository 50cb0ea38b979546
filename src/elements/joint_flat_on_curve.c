/* Flat on curve: a flat face through B's origin, normal m = y of B, lies on a curve in the x-y plane of A, which is on
   the side -m. Row: psi = m.(x - r(s*)), stationary in s: m.r' = 0. Minus its multiplier is the force by which they
   press. */
#include "elements/curve_contact.h"

enum { MX, MY, X1, X2, NZ, PLACE = NZ };

static const mbg__key keys[] = {MBG__CURVE_KEY("curve of A, in its x-y plane")};

static void base(const mbg__contact_in *in, mbg__form *form) {
  for (int c = 0; c < 2; c++) {
    const mbg__factor product[2] = {mbg__curve_entry(in, MX + c), mbg__curve_entry(in, X1 + c)};
    mbg__form_add(form, 3, 1, 2, product);
  }
}

static void along(const mbg__contact_in *in, int curve, int c, const real u[4], int order, mbg__form *form) {
  (void)curve;
  const mbg__factor product[2] = {mbg__curve_entry(in, MX + c), {PLACE, {u[0], u[1], u[2], u[3]}}};
  mbg__form_add(form, order, -1, 2, product);
}

/* the sample that reaches farthest along m */
static void nearest(const mbg__contact_in *in, const mbg__curve_samples *samples, int at[2]) {
  double most = -INFINITY;
  for (int i = 0; i < samples->count; i++) {
    const double h = re(in->y[MX]) * samples->r[3 * i] + re(in->y[MY]) * samples->r[3 * i + 1];
    if (h > most) {
      most = h;
      at[0] = i;
    }
  }
}

static void begin(const mbg__contact_in *in, const real *const tangent[2], real *s) {
  (void)in, (void)tangent, (void)s;
}

static const mbg__curve_contact contact = {
    .ncurve = 1,
    .nz = NZ,
    .entry = {MBG__R12, MBG__R22, MBG__X1, MBG__X2},
    .ns = 1,
    .s_of = {0},
    .pressed = -1,
    .out = "the face lies on a straight or hollow part of the curve: the contact point is not unique",
    MBG__CURVE_KERNELS,
};

static const mbg__row_spec rows[] = {
    {.name = "normal", .contact = 1, .nentry = 3, .entry = {MBG__R12, MBG__R22, MBG__X1}},
};

const mbg__joint_type mbg__joint_flat_on_curve = {
    .key = "flat-on-curve",
    .help = "a flat face of B (normal y) on a planar curve of A: a cam with flat follower",
    MBG__CURVE_JOINT,
};
