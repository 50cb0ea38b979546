/* Elastic energy of an element, of a beam, or of all beams. */
#include "model/types.h"

const mbg__signal_type mbg__signal_strain_energy = {
    .key = "strain-energy",
    .help = "elastic energy of an element, a beam or all beams",
    .unit = {"J"},
    .of = MBG__OF_BEAM,
    .level = MBG__LEVEL_POSITION,
    .role = MBG__ROLE_STRAIN_ENERGY,
};
