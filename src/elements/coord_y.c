/* q = x2: second coordinate of B's origin in the axes of A. */
#include "model/types.h"

const mbg__coord_type mbg__coord_y = {
    .key = "y",
    .unit = "m",
    .help = "y of B's origin in the axes of A",
    .nentry = 1,
    .entry = {MBG__X2},
};
