/* Modal coordinate: y = x_k of its carrier. */
#include "elements/modal_keys.h"

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  out->y = in->G->x[in->opt[0]];
  mbg__signal_row(in->G, in->opt[0], MBG__IN_A, out->y_w);
}

const mbg__signal_type mbg__signal_modal_coordinate =
    MBG__MODAL_SIGNAL("modal-coordinate", "modal coordinate of a modal body", MBG__LEVEL_POSITION, eval);
