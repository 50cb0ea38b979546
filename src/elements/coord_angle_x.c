/* q = atan2(R32, R22): first angle of a universal joint, G = Rx(q1) Ry(q2), many turns. */
#include "elements/angle_kernels.h"

const mbg__coord_type mbg__coord_angle_x = {
    .key = "angle_x",
    .unit = "rad",
    .help = "rotation about x of A (first angle of a universal joint), many turns",
    .angular = true,
    .turns = true,
    .nentry = 2,
    .entry = {MBG__R22, MBG__R32},
    .value = mbg__angle_value,
    .driver = mbg__angle_driver,
    .branch = mbg__angle_branch,
};
