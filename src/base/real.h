/* The scalar of all kernels.

   Kernels are written once and compile for `double` (the library) and for `double complex` (the twin, a test
   library that differentiates whole computations by complex step). In the twin the imaginary part is an
   infinitesimal: each function below propagates it to first order, f(a + ib) = f(a) + i f'(a) b, which is exact
   for steps of 1e-30. Branches look at the real part only: re(x). A third compilation has four samples in each number
   (base/real_ensemble.h). */
#ifndef MBG_BASE_REAL_H
#define MBG_BASE_REAL_H

#include <math.h>
#include <stdbool.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

#ifdef MBG_ENSEMBLE
#include "base/real_ensemble.h"
#else

#ifdef MBG_COMPLEX

/* Iterations that are short cuts for values must not cut the imaginary part short. */
enum { MBG__TWIN = 1 };

typedef double _Complex real;

static inline double re(real x) { return __real__ x; }
static inline double im(real x) { return __imag__ x; }
/* another value with the imaginary part of x */
static inline real r_value(double value, real x) {
  __real__ x = value;
  return x;
}
static inline real mbg__dual(double f, double df, real x) {
  real y;
  __real__ y = f;
  __imag__ y = df * im(x);
  return y;
}
static inline real r_sqrt(real x) { return mbg__dual(sqrt(re(x)), 0.5 / sqrt(re(x)), x); }
static inline real r_exp(real x) { return mbg__dual(exp(re(x)), exp(re(x)), x); }
static inline real r_log(real x) { return mbg__dual(log(re(x)), 1 / re(x), x); }
static inline real r_sin(real x) { return mbg__dual(sin(re(x)), cos(re(x)), x); }
static inline real r_cos(real x) { return mbg__dual(cos(re(x)), -sin(re(x)), x); }
static inline real r_tan(real x) { return mbg__dual(tan(re(x)), 1 + tan(re(x)) * tan(re(x)), x); }
static inline real r_asin(real x) { return mbg__dual(asin(re(x)), 1 / sqrt(1 - re(x) * re(x)), x); }
static inline real r_acos(real x) { return mbg__dual(acos(re(x)), -1 / sqrt(1 - re(x) * re(x)), x); }
static inline real r_atan(real x) { return mbg__dual(atan(re(x)), 1 / (1 + re(x) * re(x)), x); }
static inline real r_sinh(real x) { return mbg__dual(sinh(re(x)), cosh(re(x)), x); }
static inline real r_cosh(real x) { return mbg__dual(cosh(re(x)), sinh(re(x)), x); }
static inline real r_tanh(real x) { return mbg__dual(tanh(re(x)), 1 / (cosh(re(x)) * cosh(re(x))), x); }
static inline real r_abs(real x) { return re(x) < 0 ? -x : x; }
static inline real r_atan2(real y, real x) {
  const double r2 = re(x) * re(x) + re(y) * re(y);
  real a;
  __real__ a = atan2(re(y), re(x));
  __imag__ a = (re(x) * im(y) - re(y) * im(x)) / r2;
  return a;
}
static inline real r_pow(real x, real y) {
  const double f = pow(re(x), re(y));
  real a;
  __real__ a = f;
  __imag__ a = im(x) == 0 ? 0 : re(y) * pow(re(x), re(y) - 1) * im(x);
  if (im(y) != 0) {
    __imag__ a += f * log(re(x)) * im(y);
  }
  return a;
}

#else

enum { MBG__TWIN = 0 };

typedef double real;

static inline double re(real x) { return x; }
static inline real r_value(double value, real x) { return (void)x, value; }
static inline real r_sqrt(real x) { return sqrt(x); }
static inline real r_exp(real x) { return exp(x); }
static inline real r_log(real x) { return log(x); }
static inline real r_sin(real x) { return sin(x); }
static inline real r_cos(real x) { return cos(x); }
static inline real r_tan(real x) { return tan(x); }
static inline real r_asin(real x) { return asin(x); }
static inline real r_acos(real x) { return acos(x); }
static inline real r_atan(real x) { return atan(x); }
static inline real r_sinh(real x) { return sinh(x); }
static inline real r_cosh(real x) { return cosh(x); }
static inline real r_tanh(real x) { return tanh(x); }
static inline real r_abs(real x) { return fabs(x); }
static inline real r_atan2(real y, real x) { return atan2(y, x); }
static inline real r_pow(real x, real y) { return pow(x, y); }

#endif

/* What the samples of an ensemble may have a number of each: of what branches look at; a choice for each of them. */
typedef double mbg__part;
static inline real r_where(bool which, real a, real b) { return which ? a : b; }
static inline double r_where_part(bool which, double a, double b) { return which ? a : b; }

/* One answer of each sample: the same one for all; do all, does one say yes? r_other: the answer of the samples that
   are not in `but`; r_diverge: some of them are apart. */
typedef bool mbg__answers;
static inline bool r_all(bool x) { return x; }
static inline bool r_every(bool a) { return a; }
static inline bool r_some(bool a) { return a; }
static inline bool r_other(bool but, bool a) { return !but && a; }
static inline void r_diverge(bool apart) { (void)apart; }
static inline void r_diverge_all(void) {}
enum { MBG__SAMPLES = 1 }; /* in a number */

#endif

#endif
