/* Rate of a modal coordinate: y = (R U)_k of its carrier. */
#include "elements/modal_keys.h"

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  mbg__signal_row(in->G, in->opt[0], MBG__IN_A, out->y_v);
  out->y = v3_dot(out->y_v, in->v);
  mbg__signal_turn(out->y_v, MBG__IN_A, in->v, out->y_w);
}

const mbg__signal_type mbg__signal_modal_rate =
    MBG__MODAL_SIGNAL("modal-rate", "rate of a modal coordinate", MBG__LEVEL_VELOCITY, eval);
