/* Force by an expression that may use signals: tau = -force(x, v, t, signals). */
#include "elements/law_force.h"

static const mbg__key keys[] = {
    MBG__LAW_FORCE_KEY(
        MBG__USES_TIME | MBG__USES_CONTROLS | MBG__USES_SIGNALS,
        "force or torque that increases the coordinate, of x, v, t, controls and signals up to velocities"),
};

const mbg__law_type mbg__law_expression = {
    .key = "expression",
    .help = "force or torque by an expression of signals",
    .coord = "distance",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = mbg__law_force,
};
