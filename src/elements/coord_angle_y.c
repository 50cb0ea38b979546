/* q = atan2(R13, R11): second angle of a universal joint, G = Rx(q1) Ry(q2), many turns. */
#include "elements/angle_kernels.h"

const mbg__coord_type mbg__coord_angle_y = {
    .key = "angle_y",
    .unit = "rad",
    .help = "rotation about y of B (second angle of a universal joint), many turns",
    .angular = true,
    .turns = true,
    .nentry = 2,
    .entry = {MBG__R11, MBG__R13},
    .value = mbg__angle_value,
    .driver = mbg__angle_driver,
    .branch = mbg__angle_branch,
};
