/* Spring and damper along a line between two points (or along any coordinate).
   tau = k (q - rest) + c qd + preload. */
#include "elements/law_linear.h"

static const mbg__key keys[] = {MBG__LAW_LINEAR_KEYS("m", "N")};

const mbg__law_type mbg__law_spring_damper = {
    .key = "spring-damper",
    .help = "linear spring and damper between two points",
    .coord = "distance",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = mbg__law_linear,
    .energy = mbg__law_linear_energy,
};
