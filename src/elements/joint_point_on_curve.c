/* Point on curve: B's origin runs on a curve of A (a slot, the groove of a cam, a wire). Rows:

     in the x-y plane:  n.(x - r(s*)), n the unit normal, whose multiplier is minus the force along it; and x3
     in space:          e_0.(x - r(s*)), e_1.(x - r(s*)) */
#include "elements/curve_contact.h"

enum { NZ = 3, PLACE = NZ, NORMAL };

static const mbg__key keys[] = {MBG__CURVE_KEY("curve of A, of two or three coordinates")};

static void base(const mbg__contact_in *in, mbg__form *form) {
  mbg__curve_offset(in, NORMAL, 0, in->spatial ? 3 : 2, form);
}

static void along(const mbg__contact_in *in, int curve, int c, const real u[4], int order, mbg__form *form) {
  (void)curve;
  mbg__curve_less(in, NORMAL, PLACE, c, u, order, form);
}

static void nearest(const mbg__contact_in *in, const mbg__curve_samples *samples, int at[2]) {
  at[0] = mbg__curve_nearest(samples, in->y, samples->dim);
}

static void begin(const mbg__contact_in *in, const real *const tangent[2], real *s) {
  s[NORMAL - NZ] = in->spatial ? 0 : mbg__curve_normal_angle(tangent[0], 0);
}

static const mbg__curve_contact contact = {
    .ncurve = 1,
    .nz = NZ,
    .entry = {MBG__X1, MBG__X2, MBG__X3},
    .ns = 2,
    .s_of = {PLACE - NZ},
    .out = "the point of the curve that is nearest to B is not unique: B is at the centre of its curvature, or the "
           "curve has a kink there",
    MBG__CURVE_KERNELS,
};

static const mbg__row_spec rows[] = {
    {.name = "normal", .contact = 1, .nentry = 3, .entry = {MBG__X1, MBG__X2, MBG__X3}},
    {.name = "binormal", .contact = 2, .nentry = 3, .entry = {MBG__X1, MBG__X2, MBG__X3}},
};

const mbg__joint_type mbg__joint_point_on_curve = {
    .key = "point-on-curve",
    .help = "B's origin runs on a curve of A: a slot, the groove of a cam, a wire",
    MBG__CURVE_JOINT,
};
