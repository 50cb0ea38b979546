/* Laws that give the force (or torque) itself: tau = -force. */
#ifndef MBG_ELEMENTS_LAW_FORCE_H
#define MBG_ELEMENTS_LAW_FORCE_H

#include "model/types.h"

/* The only key: a function of x, v and the quantities of `used` (MBG__USES_...). */
#define MBG__LAW_FORCE_KEY(used, text)                                                                                 \
  { .name = "force", .kind = MBG__KEY_FN, .required = true, .unit = "N", .args = "x v", .uses = (used), .help = (text) }

static inline void mbg__law_force(const mbg__law_in *in, mbg__law_out *out) {
  out->tau = -in->fn[0];
  out->tau_fn[0] = -1;
}

#endif
