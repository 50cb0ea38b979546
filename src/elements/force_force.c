/* Applied force and torque at B's origin, given in the axes of A or of B:

     f = (R^T F, R^T T)   or   f = (F, T),   F and T functions of time, controls and signals up to velocities */
#include "elements/force_clear.h"

enum { FORCE, TORQUE = 3, FUNCTIONS = 6 };
enum { IN_A, IN_B }; /* and IN_WORLD, which the loader accepts where A is the ground */

static const mbg__key keys[] = {
    {.name = "force",
     .kind = MBG__KEY_FN3,
     .unit = "N",
     .uses = MBG__USES_TIME | MBG__USES_CONTROLS | MBG__USES_SIGNALS,
     .help = "force at B's origin, three expressions of t, controls and signals up to velocities"},
    {.name = "torque",
     .kind = MBG__KEY_FN3,
     .unit = "N m",
     .uses = MBG__USES_TIME | MBG__USES_CONTROLS | MBG__USES_SIGNALS,
     .help = "torque, three expressions of the same names"},
    {.name = "in",
     .kind = MBG__KEY_CHOICE,
     .preset = IN_A,
     .choices = "reference body world",
     .help = "axes of force and torque: of A, of B, of the world where A is the ground"},
};

/* column k of the map from (F, T) to f: row k of R in its half, or the unit vector */
static void column(const mbg__frame *G, int in_axes, int k, real g[6]) {
  v6_zero(g);
  if (in_axes != IN_B) {
    v3_copy(g + 3 * (k / 3), G->R + 3 * (k % 3));
  } else {
    g[k] = 1;
  }
}

static int eval(const mbg__force_in *in, mbg__force_out *out) {
  int err = MBG_OK;
  mbg__force_clear(out);
  for (int k = 0; k < FUNCTIONS; k++) {
    mbg__fn_value value;
    real g[6];
    MBG_TRY(mbg__fn_at(in->fn, k, NULL, 1, &value));
    column(in->G, in->opt[0], k, g);
    v6_axpy(out->f, value.f, g);
    if (in->derivatives) {
      mbg__force_fn_column(out, &value, g, NULL);
    }
  }

  /* d(R^T F) = (R^T F)~ W */
  if (in->derivatives && in->opt[0] != IN_B) {
    real S[9];
    m3_skew(S, out->f + FORCE);
    m6_set_block(out->f_G, 0, 1, 1, S);
    m3_skew(S, out->f + TORQUE);
    m6_set_block(out->f_G, 1, 1, 1, S);
  }
done:
  return err;
}

const mbg__force_type mbg__force_force = {
    .key = "force",
    .help = "force and torque by expressions of time, controls and signals",
    .on_one = true,
    .keys = keys,
    .nkey = MBG_COUNT(keys),
    .eval = eval,
};
