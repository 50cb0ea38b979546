/* Actuator: a force (or torque) that increases the coordinate, tau = -force(x, v, t). */
#include "elements/law_force.h"

static const mbg__key keys[] = {
    MBG__LAW_FORCE_KEY(
        MBG__USES_TIME | MBG__USES_CONTROLS,
        "force or torque that increases the coordinate, of t, controls, the coordinate x and its rate v"),
};

const mbg__law_type mbg__law_actuator = {
    .key = "actuator",
    .help = "force or torque given in time or by a control",
    .coord = "angle",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = mbg__law_force,
};
