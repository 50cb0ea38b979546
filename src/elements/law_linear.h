/* Linear laws: tension of a spring and a damper in parallel, with preload.

     tau = k (q - rest) + c qd + preload        energy = 1/2 k (q - rest)^2 + preload (q - rest) */
#ifndef MBG_ELEMENTS_LAW_LINEAR_H
#define MBG_ELEMENTS_LAW_LINEAR_H

#include "model/types.h"

/* The keys, with the unit of the coordinate ("m", "rad") and of the tension. */
#define MBG__LAW_LINEAR_KEYS(coord_unit, tension_unit)                                                                 \
  {.name = "stiffness",                                                                                                \
   .kind = MBG__KEY_NUMBER,                                                                                            \
   .sign = MBG__NOT_NEGATIVE,                                                                                          \
   .unit = tension_unit "/" coord_unit,                                                                                \
   .help = "stiffness k"},                                                                                             \
      {.name = "damping",                                                                                              \
       .kind = MBG__KEY_NUMBER,                                                                                        \
       .sign = MBG__NOT_NEGATIVE,                                                                                      \
       .unit = tension_unit " s/" coord_unit,                                                                          \
       .help = "damping c"},                                                                                           \
      {.name = "rest", .kind = MBG__KEY_NUMBER, .unit = coord_unit, .help = "coordinate of the unstretched spring"}, { \
    .name = "preload", .kind = MBG__KEY_NUMBER, .unit = tension_unit, .help = "constant part of the tension"           \
  }

static inline void mbg__law_linear(const mbg__law_in *in, mbg__law_out *out) {
  const real k = in->attr[0], c = in->attr[1], rest = in->attr[2], preload = in->attr[3];
  const real stretch = in->q - rest;

  out->tau = k * stretch + c * in->qd + preload;
  out->tau_q = k;
  out->tau_qd = c;
  out->tau_a[0] = stretch;
  out->tau_a[1] = in->qd;
  out->tau_a[2] = -k;
  out->tau_a[3] = 1;

  out->energy = k * stretch * stretch / 2 + preload * stretch;
  out->energy_q = k * stretch + preload;
  out->energy_a[0] = stretch * stretch / 2;
  out->energy_a[2] = -k * stretch - preload;
  out->energy_a[3] = stretch;
}

static inline mbg__energy_kind mbg__law_linear_energy(const real *attr) { return mbg__energy_damped(attr[1]); }

#endif
