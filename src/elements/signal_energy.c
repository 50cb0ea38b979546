/* Kinetic plus potential energy. */
#include "model/types.h"

const mbg__signal_type mbg__signal_energy = {
    .key = "energy",
    .help = "kinetic plus potential energy",
    .unit = {"J"},
    .of = MBG__OF_BODIES,
    .level = MBG__LEVEL_VELOCITY,
    .role = MBG__ROLE_ENERGY,
};
