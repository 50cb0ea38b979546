/* Keys that rolling joints share. */
#ifndef MBG_ELEMENTS_ROLLING_KEYS_H
#define MBG_ELEMENTS_ROLLING_KEYS_H

#include "model/types.h"

/* clang-format off */
#define MBG__KEY_LEVEL                                                                                                 \
  {.name = "level", .kind = MBG__KEY_CHOICE, .preset = 0, .choices = "velocity position",                              \
   .help = "how `lie` and `dae` hold the contact: by its rate, with decay, or by its position"}
#define MBG__KEY_STABILIZATION                                                                                         \
  {.name = "stabilization", .kind = MBG__KEY_NUMBER, .preset = 20, .sign = MBG__NOT_NEGATIVE, .unit = "1/s",           \
   .help = "decay of the gap at level `velocity`"}
#define MBG__KEY_PROFILE                                                                                               \
  {.name = "profile", .kind = MBG__KEY_FN, .unit = "m", .args = "x y", .smooth = true,                                 \
   .help = "height of the ground above the plane, a function of x and y in the axes of A, \"0.1*sin(x)\" say"}
/* clang-format on */

#endif
