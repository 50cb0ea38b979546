/* Tension of a law, or a component of the wrench of a force on B, at marker B. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_WRENCH_COMPONENT(false), MBG__KEY_IN_WRENCH_AXES};

const mbg__signal_type mbg__signal_force = {
    .key = "force",
    .help = "tension of a law, or component of a wrench on B",
    .unit = {"N", "N m"},
    .of = MBG__OF_FORCE,
    .level = MBG__LEVEL_VELOCITY,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .role = MBG__ROLE_FORCE,
};
