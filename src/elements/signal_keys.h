/* Keys that signals share, and the row of a relative quantity. */
#ifndef MBG_ELEMENTS_SIGNAL_KEYS_H
#define MBG_ELEMENTS_SIGNAL_KEYS_H

#include "model/types.h"

/* component of a vector; an option 0, 1 or 2 */
#define MBG__KEY_COMPONENT                                                                                             \
  { .name = "component", .kind = MBG__KEY_CHOICE, .required = true, .choices = "x y z", .help = "component x, y or z" }

/* axes of a vector of a pair; an option MBG__IN_... */
#define MBG__KEY_IN_AXES                                                                                               \
  {                                                                                                                    \
    .name = "in", .kind = MBG__KEY_CHOICE, .preset = MBG__IN_A, .choices = "reference body world",                     \
    .help = "axes of the components: of A (`relative_to`), of B (`of`), of the world where A is the ground"            \
  }

/* component of a wrench, an option 0 .. 5, and its axes, an option 0 .. 2 */
#define MBG__KEY_WRENCH_COMPONENT(is_required)                                                                         \
  {                                                                                                                    \
    .name = "component", .kind = MBG__KEY_CHOICE, .required = (is_required), .choices = "fx fy fz mx my mz",           \
    .help = "component of the wrench"                                                                                  \
  }
#define MBG__KEY_IN_WRENCH_AXES                                                                                        \
  {                                                                                                                    \
    .name = "in", .kind = MBG__KEY_CHOICE, .choices = "body reference world",                                          \
    .help = "axes of the components: of B, of A, of the world"                                                         \
  }

/* "world" is that of A: the loader accepts it where A is the ground */
enum { MBG__IN_A, MBG__IN_B, MBG__IN_WORLD };

/* Component k of a vector b of the relative motion that is given in the axes of B: row = (R, or 1 in the axes of B)_k,
   y = row.b. The caller continues with the derivatives y_b = row. */
static inline void mbg__signal_row(const mbg__frame *G, int k, int in_axes, real row[3]) {
  for (int j = 0; j < 3; j++) {
    row[j] = in_axes != MBG__IN_B ? G->R[3 * k + j] : (real)(j == k);
  }
}

/* ... and by the variation of G at fixed b: d(R b) = -R b~ W, in the axes of B nothing */
static inline void mbg__signal_turn(const real row[3], int in_axes, const real b[3], real y_w[6]) {
  if (in_axes != MBG__IN_B) {
    v3_cross(y_w + 3, b, row);
  }
}

/* The whole signal: the component and axes that the options name; y_b: where its derivative by b goes. */
static inline void mbg__signal_component(const mbg__signal_in *in, const real b[3], mbg__signal_out *out, real y_b[3]) {
  mbg__signal_row(in->G, in->opt[0], in->opt[1], y_b);
  out->y = v3_dot(y_b, b);
  mbg__signal_turn(y_b, in->opt[1], b, out->y_w);
}

#endif
