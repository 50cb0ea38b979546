/* Spring and damper on the direction in which A sees B's origin, about z of A, many turns.
   tau = k (q - rest) + c qd + preload. */
#include "elements/law_linear.h"

static const mbg__key keys[] = {MBG__LAW_LINEAR_KEYS("rad", "N m")};

const mbg__law_type mbg__law_torsion_about_point = {
    .key = "torsion-about-point",
    .help = "linear spring and damper on the polar angle of a point, many turns",
    .coord = "polar",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = mbg__law_linear,
    .energy = mbg__law_linear_energy,
};
