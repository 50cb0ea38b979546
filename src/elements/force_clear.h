/* Clears the outputs at the start of every force kernel. */
#ifndef MBG_ELEMENTS_FORCE_CLEAR_H
#define MBG_ELEMENTS_FORCE_CLEAR_H

#include "model/types.h"

/* No wrench, no derivatives by the motion, no energy. (Columns of attributes are cleared by the caller.) */
static inline void mbg__force_clear(mbg__force_out *out) {
  v6_zero(out->f);
  m6_zero(out->f_G);
  m6_zero(out->f_v);
  out->energy = 0;
  v6_zero(out->energy_G);
}

#endif
