/* Spring with any characteristic: tau = law(x, v, t). */
#include "model/types.h"

enum { LAW };

static const mbg__key keys[] = {
    {.name = "law",
     .kind = MBG__KEY_FN,
     .required = true,
     .unit = "N",
     .args = "x v",
     .uses = MBG__USES_TIME | MBG__USES_CONTROLS,
     .help = "tension as a function of the coordinate x and its rate v"},
};

static void eval(const mbg__law_in *in, mbg__law_out *out) {
  out->tau = in->fn[LAW];
  out->tau_fn[LAW] = 1;
}

const mbg__law_type mbg__law_nonlinear_spring = {
    .key = "nonlinear-spring",
    .help = "spring with any characteristic",
    .coord = "distance",
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
