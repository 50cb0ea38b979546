/* Actuator: a force (or torque) that increases the coordinate, tau = -force(x, v, t). */
#include "model/types.h"

enum { FORCE };

static const mbg__key keys[] = {
    {.name = "force",
     .kind = MBG__KEY_FN,
     .required = true,
     .unit = "N",
     .args = "x v",
     .uses = MBG__USES_TIME | MBG__USES_CONTROLS,
     .help = "force or torque that increases the coordinate, of t, controls, the coordinate x and its rate v"},
};

static void eval(const mbg__law_in *in, mbg__law_out *out) {
  out->tau = -in->fn[FORCE];
  out->tau_fn[FORCE] = -1;
}

const mbg__law_type mbg__law_actuator = {
    .key = "actuator",
    .help = "force or torque given in time or by a control",
    .coord = "angle",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
