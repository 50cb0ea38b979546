/* How long the steps of a method may be for x'' + 2 d x' + omega^2 x = 0: its eigenvalues l with |R(h l)| <= 1, R(z) =
   1 + z b^T (I - z A)^-1 1 the stability function of the method. */
#include "integrators/rk.h"

#include <complex.h>

static double growth(const mbg__rk_method *method, double complex z) {
  double complex k[MBG__RK_STAGES] = {0};
  for (int i = 0; i <= method->nstage; i++) { /* row nstage of A is b */
    k[i] = 1;
    for (int j = 0; j < i; j++) {
      k[i] += z * method->A[i][j] * k[j];
    }
  }
  return cabs(k[method->nstage]);
}

double mbg__rk_stable(const mbg__rk_method *method, double omega, double d) {
  const double size = fmax(omega, 2 * d), grid = 0.01;
  const double complex root = csqrt(d * d - omega * omega), l[2] = {(-d + root) / size, (-d - root) / size};
  int n = 0;
  if (!(size > 0)) {
    return INFINITY;
  }
  /* 1e-4: dp5 amplifies vibrations by less than that up to omega h = 1.1, in theory from 0 on */
  while (n < 1000 && growth(method, (n + 1) * grid * l[0]) <= 1 + 1e-4 &&
         growth(method, (n + 1) * grid * l[1]) <= 1 + 1e-4) {
    n++;
  }
  return n * grid / size;
}
