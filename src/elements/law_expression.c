/* Force by an expression that may use signals: tau = -force(x, v, t, signals). */
#include "model/types.h"

enum { FORCE };

static const mbg__key keys[] = {
    {.name = "force",
     .kind = MBG__KEY_FN,
     .required = true,
     .unit = "N",
     .args = "x v",
     .uses = MBG__USES_TIME | MBG__USES_CONTROLS | MBG__USES_SIGNALS,
     .help = "force or torque that increases the coordinate, of x, v, t, controls and signals up to velocities"},
};

static void eval(const mbg__law_in *in, mbg__law_out *out) {
  out->tau = -in->fn[FORCE];
  out->tau_fn[FORCE] = -1;
}

const mbg__law_type mbg__law_expression = {
    .key = "expression",
    .help = "force or torque by an expression of signals",
    .coord = "distance",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
