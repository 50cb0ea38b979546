/* Functions of the inputs of a rate kernel with their first and second derivatives: sums and products. */
#ifndef MBG_ELEMENTS_RATE_JETS_H
#define MBG_ELEMENTS_RATE_JETS_H

#include "model/types.h"

typedef struct {
  real f, f_z[MBG__NR], f_zz[MBG__NR][MBG__NR];
} mbg__jet2;

/* the input i itself */
static inline mbg__jet2 jet2_input(const real *z, int i) {
  mbg__jet2 x = {.f = z[i]};
  x.f_z[i] = 1;
  return x;
}

/* c x + d y */
static inline mbg__jet2 jet2_sum(real c, const mbg__jet2 *x, real d, const mbg__jet2 *y) {
  mbg__jet2 s = {.f = c * x->f + d * y->f};
  for (int i = 0; i < MBG__NR; i++) {
    s.f_z[i] = c * x->f_z[i] + d * y->f_z[i];
    for (int k = 0; k < MBG__NR; k++) {
      s.f_zz[i][k] = c * x->f_zz[i][k] + d * y->f_zz[i][k];
    }
  }
  return s;
}

/* x y */
static inline mbg__jet2 jet2_mul(const mbg__jet2 *x, const mbg__jet2 *y) {
  mbg__jet2 s = {.f = x->f * y->f};
  for (int i = 0; i < MBG__NR; i++) {
    s.f_z[i] = x->f_z[i] * y->f + x->f * y->f_z[i];
    for (int k = 0; k < MBG__NR; k++) {
      s.f_zz[i][k] = x->f_zz[i][k] * y->f + x->f_z[i] * y->f_z[k] + x->f_z[k] * y->f_z[i] + x->f * y->f_zz[i][k];
    }
  }
  return s;
}

/* coefficient j of a row += c x */
static inline void jet2_put(mbg__rate_jet *out, int j, real c, const mbg__jet2 *x) {
  out->n[j] += c * x->f;
  for (int i = 0; i < MBG__NR; i++) {
    out->n_z[j][i] += c * x->f_z[i];
    for (int k = 0; k < MBG__NR; k++) {
      out->n_zz[j][i][k] += c * x->f_zz[i][k];
    }
  }
}

#endif
