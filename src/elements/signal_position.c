/* Position of B's origin in A: y = x_k, or component k of R^T x in the axes of B. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {MBG__KEY_COMPONENT, MBG__KEY_IN_AXES};

/* d x = R U,  d(R^T x) = U + (R^T x)~ W */
static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const int k = in->opt[0], axes = in->opt[1];
  real p[3], row[3];
  m3_mulv_T(p, in->G->R, in->G->x);
  mbg__signal_row(in->G, k, axes, row);
  out->y = axes != MBG__IN_B ? in->G->x[k] : p[k];
  v3_copy(out->y_w, row);
  if (axes == MBG__IN_B) {
    v3_cross(out->y_w + 3, row, p);
  }
}

const mbg__signal_type mbg__signal_position = {
    .key = "position",
    .help = "position of B's origin relative to A",
    .unit = {"m"},
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_POSITION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
