/* Strain of a beam element, (d - d0)/L: constant along the element. */
#include "elements/beam_keys.h"

static const mbg__key keys[] = {MBG__KEY_BEAM_COMPONENT};

const mbg__signal_type mbg__signal_strain = {
    .key = "strain",
    .help = "strain of a beam element: extension, shear, twist or curvature",
    .unit = {"", "1/m"},
    .of = MBG__OF_BEAM,
    .level = MBG__LEVEL_POSITION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .role = MBG__ROLE_STRAIN,
};
