/* Second rate of a modal coordinate: y = (R (Ud + W x U))_k of its carrier. */
#include "elements/modal_keys.h"

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const real *U = in->v, *W = in->v + 3;
  real s[3], row[3];
  v3_copy(s, in->vd);
  v3_cross_add(s, 1, W, U);
  mbg__signal_row(in->G, in->opt[0], MBG__IN_A, row);
  out->y = v3_dot(row, s);
  mbg__signal_turn(row, MBG__IN_A, s, out->y_w);
  v3_cross(out->y_v, row, W);
  v3_cross(out->y_v + 3, U, row);
  v3_copy(out->y_vd, row);
}

const mbg__signal_type mbg__signal_modal_acceleration =
    MBG__MODAL_SIGNAL("modal-acceleration", "second rate of a modal coordinate", MBG__LEVEL_ACCELERATION, eval);
