/* Axial force of a distance joint: the multiplier of its row, positive where the rod pulls its ends together. */
#include "model/types.h"

const mbg__signal_type mbg__signal_axial_force = {
    .key = "axial-force",
    .help = "force along a distance joint, positive in tension",
    .unit = {"N"},
    .of = MBG__OF_JOINT,
    .level = MBG__LEVEL_REACTION,
    .role = MBG__ROLE_AXIAL,
};
