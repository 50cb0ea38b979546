/* Roller on curve: a roller of radius rho about B's origin rolls, without friction, on a curve in the x-y plane of A.
   Row: n.(x - r(s*)) - rho, n the unit normal towards B; minus its multiplier is the force by which they press. */
#include "elements/curve_contact.h"

enum { NZ = 2, PLACE = NZ, NORMAL };
enum { RADIUS };
enum { CURVE, SIDE };

static const mbg__key keys[] = {
    MBG__CURVE_KEY("curve of A, in its x-y plane"),
    MBG__SIDE_KEY,
    {.name = "radius",
     .kind = MBG__KEY_NUMBER,
     .required = true,
     .sign = MBG__POSITIVE,
     .unit = "m",
     .help = "radius of the roller"},
};

static void base(const mbg__contact_in *in, mbg__form *form) {
  mbg__curve_offset(in, NORMAL, 0, 2, form);
  form->f -= in->attr[RADIUS];
}

static void along(const mbg__contact_in *in, int curve, int c, const real u[4], int order, mbg__form *form) {
  (void)curve;
  mbg__curve_less(in, NORMAL, PLACE, c, u, order, form);
}

static void own(const mbg__contact_in *in, int attr, mbg__form *form) {
  (void)in;
  form->f = attr == RADIUS ? -1 : 0;
}

static void nearest(const mbg__contact_in *in, const mbg__curve_samples *samples, int at[2]) {
  at[0] = mbg__curve_nearest(samples, in->y, 2);
}

static void begin(const mbg__contact_in *in, const real *const tangent[2], real *s) {
  s[NORMAL - NZ] = mbg__curve_normal_angle(tangent[0], in->opt[SIDE]);
}

static const mbg__curve_contact contact = {
    .ncurve = 1,
    .nz = NZ,
    .entry = {MBG__X1, MBG__X2},
    .ns = 2,
    .s_of = {PLACE - NZ},
    .pressed = -1,
    .out = "the roller is as large as the curvature of the curve allows: two contact points meet",
    .own = own,
    MBG__CURVE_KERNELS,
};

static const mbg__row_spec rows[] = {
    {.name = "normal", .contact = 1, .nentry = 2, .entry = {MBG__X1, MBG__X2}},
};

const mbg__joint_type mbg__joint_roller_on_curve = {
    .key = "roller-on-curve",
    .help = "a roller about B's origin on a planar curve of A: a cam with roller follower",
    MBG__CURVE_JOINT,
};
