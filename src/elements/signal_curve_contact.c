/* Where a joint on a curve touches it, how the curve bends there, and the force with which they press. */
#include "model/curve.h"

static const mbg__key keys[] = {
    {.name = "quantity",
     .kind = MBG__KEY_CHOICE,
     .required = true,
     .choices = MBG__CURVE_QUANTITIES,
     .help = "curve parameter s, arc length from the first point, contact point x, y, z in the axes of the curve, "
             "curvature (planar: positive where the curve turns left) or normal force (positive: they press)"},
    {.name = "on",
     .kind = MBG__KEY_CHOICE,
     .choices = "curve follower",
     .help = "curve of A, or the follower of B in a curve-on-curve joint"},
};

const mbg__signal_type mbg__signal_curve_contact = {
    .key = "curve-contact",
    .help = "contact point, curvature or normal force of a joint on a curve",
    .of = MBG__OF_JOINT,
    .level = MBG__LEVEL_POSITION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .role = MBG__ROLE_CURVE,
};
