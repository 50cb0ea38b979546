/* Kinetic energy 1/2 v^T M v of a body, or of all. */
#include "model/types.h"

const mbg__signal_type mbg__signal_kinetic_energy = {
    .key = "kinetic-energy",
    .help = "kinetic energy of a body, or of all",
    .unit = {"J"},
    .of = MBG__OF_BODIES,
    .level = MBG__LEVEL_VELOCITY,
    .role = MBG__ROLE_KINETIC,
};
