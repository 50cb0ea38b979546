/* Potential energy: gravity, and the elastic parts of the forces that have one. */
#include "model/types.h"

const mbg__signal_type mbg__signal_potential_energy = {
    .key = "potential-energy",
    .help = "potential energy of gravity and of elastic forces",
    .unit = {"J"},
    .of = MBG__OF_BODIES,
    .level = MBG__LEVEL_POSITION,
    .role = MBG__ROLE_POTENTIAL,
};
