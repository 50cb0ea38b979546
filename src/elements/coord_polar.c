/* q = atan2(x2, x1): direction in which A sees B's origin, about z of A, many turns. Not defined on the axis. */
#include "elements/angle_kernels.h"

const mbg__coord_type mbg__coord_polar = {
    .key = "polar",
    .unit = "rad",
    .help = "polar angle of B's origin about z of A, many turns",
    .angular = true,
    .turns = true,
    .nentry = 2,
    .entry = {MBG__X1, MBG__X2},
    .value = mbg__angle_value,
    .driver = mbg__angle_driver,
    .branch = mbg__angle_branch,
};
