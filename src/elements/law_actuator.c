/* Actuator: a force (or torque) that increases the coordinate, tau = -force(x, v, t, signals). */
#include "elements/law_force.h"

static const mbg__key keys[] = {
    MBG__LAW_FORCE_KEY(
        MBG__USES_TIME | MBG__USES_CONTROLS | MBG__USES_SIGNALS,
        "force or torque that increases the coordinate, of x, v, t, controls, states and signals up to velocities"),
};

const mbg__law_type mbg__law_actuator = {
    .key = "actuator",
    .help = "force or torque given in time, by a control or by states",
    .coord = "angle",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = mbg__law_force,
};
