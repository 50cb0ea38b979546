/* q = atan2(R21, R11): rotation of B about z of A, many turns. */
#include "elements/angle_kernels.h"

const mbg__coord_type mbg__coord_angle = {
    .key = "angle",
    .unit = "rad",
    .help = "rotation about z, many turns",
    .angular = true,
    .turns = true,
    .nentry = 2,
    .entry = {MBG__R11, MBG__R21},
    .value = mbg__angle_value,
    .driver = mbg__angle_driver,
    .branch = mbg__angle_branch,
};
