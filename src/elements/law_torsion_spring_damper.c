/* Spring and damper about an axis, many turns.
   tau = k (q - rest) + c qd + preload. */
#include "elements/law_linear.h"

static const mbg__key keys[] = {MBG__LAW_LINEAR_KEYS("rad", "N m")};

const mbg__law_type mbg__law_torsion_spring_damper = {
    .key = "torsion-spring-damper",
    .help = "linear spring and damper about an axis, many turns",
    .coord = "angle",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = mbg__law_linear,
    .energy = mbg__law_linear_energy,
};
