/* jet: Taylor arithmetic up to order 2. A jet is (u, u', u''), derivatives and not Taylor coefficients; K is the order
   after which it is cut. Results do not overlap arguments. */
#ifndef MBG_EXPR_JET_H
#define MBG_EXPR_JET_H

#include "base/real.h"

/* d w, where nothing times anything is nothing: a derivative that does not exist is not used */
static inline real jet_term(real d, real w) { return w == 0 ? 0 : d * w; }

static inline void jet_constant(int K, real c, real *r) {
  r[0] = c;
  for (int k = 1; k <= K; k++) {
    r[k] = 0;
  }
}

static inline void jet_copy(int K, const real *a, real *r) {
  for (int k = 0; k <= K; k++) {
    r[k] = a[k];
  }
}

static inline void jet_scale(int K, real c, real *r) {
  for (int k = 0; k <= K; k++) {
    r[k] *= c;
  }
}

/* (a b)'' = a'' b + 2 a' b' + a b'' */
static inline void jet_multiply(int K, const real *a, const real *b, real *r) {
  r[0] = a[0] * b[0];
  if (K > 0) {
    r[1] = a[1] * b[0] + a[0] * b[1];
  }
  if (K > 1) {
    r[2] = a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2];
  }
}

/* r = phi(u) from d[k] = phi^(k)(u):  r'' = phi' u'' + phi'' u'^2 */
static inline void jet_compose(int K, const real *d, const real *u, real *r) {
  r[0] = d[0];
  if (K > 0) {
    r[1] = jet_term(d[1], u[1]);
  }
  if (K > 1) {
    r[2] = jet_term(d[1], u[2]) + jet_term(d[2], u[1] * u[1]);
  }
}

/* 1/u */
static inline void jet_reciprocal(int K, const real *u, real *r) {
  const real i = 1 / u[0];
  const real d[3] = {i, -i * i, 2 * i * i * i};
  jet_compose(K, d, u, r);
}

/* adds to v what operand u brings by the chain rule, p = dv/du:  v' += p u',  v'' += p' u' + p u'' */
static inline void jet_chain(int K, const real *p, const real *u, real *v) {
  if (K > 0) {
    v[1] += jet_term(p[0], u[1]);
  }
  if (K > 1) {
    v[2] += jet_term(p[1], u[1]) + jet_term(p[0], u[2]);
  }
}

#endif
