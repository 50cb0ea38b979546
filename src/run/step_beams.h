/* step_beams: the fastest vibration of the beams of a model, which limits explicit steps. */
#ifndef MBG_RUN_STEP_BEAMS_H
#define MBG_RUN_STEP_BEAMS_H

#include "model/design.h"

typedef struct {
  int element;  /* the fastest; -1: none */
  double omega; /* rad/s */
  double decay; /* 1/s: x'' + 2 decay x' + omega^2 x = 0 */
} mbg__beam_vibration;

/* Elements alone, with free ends: no vibration of the assembled beams is faster. */
int mbg__beam_vibration_find(mbg_context *ctx, const mbg__design *design, mbg__beam_vibration *out);

#endif
