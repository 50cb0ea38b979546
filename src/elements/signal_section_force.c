/* Section force or moment of a beam element, elastic and viscous part. */
#include "elements/beam_keys.h"

static const mbg__key keys[] = {MBG__KEY_BEAM_COMPONENT};

const mbg__signal_type mbg__signal_section_force = {
    .key = "section-force",
    .help = "normal force, shear force, torque or bending moment in a beam element",
    .unit = {"N", "N m"},
    .of = MBG__OF_BEAM,
    .level = MBG__LEVEL_VELOCITY,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .role = MBG__ROLE_SECTION_FORCE,
};
