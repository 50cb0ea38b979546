/* Direction of an axis of B in A: y = R_kl, component k of axis l. */
#include "elements/signal_keys.h"

static const mbg__key keys[] = {
    MBG__KEY_COMPONENT,
    {.name = "axis", .kind = MBG__KEY_CHOICE, .required = true, .choices = "x y z", .help = "axis of B"},
};

static void eval(const mbg__signal_in *in, mbg__signal_out *out) {
  const int k = in->opt[0], l = in->opt[1];
  const real axis[3] = {l == 0, l == 1, l == 2};
  real row[3];
  mbg__signal_row(in->G, k, MBG__IN_A, row);
  out->y = row[l];
  mbg__signal_turn(row, MBG__IN_A, axis, out->y_w);
}

const mbg__signal_type mbg__signal_direction = {
    .key = "direction",
    .help = "component in A of an axis of B",
    .of = MBG__OF_PAIR,
    .level = MBG__LEVEL_POSITION,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
