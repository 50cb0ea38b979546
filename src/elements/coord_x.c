/* q = x1: first coordinate of B's origin in the axes of A. */
#include "model/types.h"

const mbg__coord_type mbg__coord_x = {
    .key = "x",
    .unit = "m",
    .help = "x of B's origin in the axes of A",
    .nentry = 1,
    .entry = {MBG__X1},
};
