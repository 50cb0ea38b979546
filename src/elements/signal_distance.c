/* Distance of B's origin from A's: y = |x|. At distance 0, where it has no direction, the derivative is given as 0. */
#include "model/types.h"

/* dy = n . R U, n = x/|x| */
static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const real xx = v3_dot(in->G->x, in->G->x);
  if (re(xx) == 0) {
    return;
  }
  out->y = r_sqrt(xx);
  m3_mulv_T(out->y_w, in->G->R, in->G->x);
  v3_scale(out->y_w, 1 / out->y, out->y_w);
}

const mbg__signal_type mbg__signal_distance = {
    .key = "distance",
    .help = "distance of B's origin from A's",
    .unit = {"m"},
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_POSITION,
    .eval = eval,
};
