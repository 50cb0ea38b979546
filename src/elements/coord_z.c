/* q = x3: third coordinate of B's origin in the axes of A. */
#include "model/types.h"

const mbg__coord_type mbg__coord_z = {
    .key = "z",
    .unit = "m",
    .help = "z of B's origin in the axes of A",
    .nentry = 1,
    .entry = {MBG__X3},
};
