/* Normal stress of a beam element at a point (y, z) of its section: E (axial + z bending2 - y bending3). */
#include "model/types.h"

static const mbg__key keys[] = {
    {.name = "y", .kind = MBG__KEY_NUMBER, .unit = "m", .help = "place of the fibre along axis 2"},
    {.name = "z", .kind = MBG__KEY_NUMBER, .unit = "m", .help = "place of the fibre along axis 3"},
};

const mbg__signal_type mbg__signal_stress = {
    .key = "stress",
    .help = "normal stress at a point of the section of a beam element",
    .unit = {"Pa"},
    .of = MBG__OF_BEAM,
    .level = MBG__LEVEL_POSITION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .role = MBG__ROLE_STRESS,
};
