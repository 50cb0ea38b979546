/* The twin: the library's sources compiled with complex scalars. Its functions take complex arrays, so that a test
   compiled with plain double differentiates by complex step: im f(x + i s e)/s with s = TWIN_STEP. */
#ifndef TWIN_H
#define TWIN_H

#include <complex.h>
#undef I /* a good name for a matrix; see twin_step */

#define TWIN_API __attribute__((visibility("default")))

/* the step; its square vanishes against 1, so nothing is truncated */
#define TWIN_STEP 1e-30

/* x + i s dx: the value x, varying with dx */
static inline double _Complex twin_step(double x, double dx) {
  const union {
    double part[2];
    double _Complex z;
  } u = {{x, TWIN_STEP * dx}};
  return u.z;
}

/* The derivative that a result carries. */
static inline double twin_derivative(double _Complex z) { return cimag(z) / TWIN_STEP; }

#endif
