/* src/integrators in complex arithmetic. The right-hand side is the test's own, written with complex numbers. */
#ifndef TWIN_RK_H
#define TWIN_RK_H

#include "twin/twin.h"

typedef int (*twin_rk_rhs)(void *user, double _Complex t, const double _Complex *y, double _Complex *dydt);

/* Integrates y (n) in place from t0 to t1 with the method of that key: with the tolerance (relative and absolute), or
   repeating the nodes t (nstep + 1) when they are given. steps, if not NULL, gets the number of steps. Returns the
   status. */
TWIN_API int twin_rk_integrate(const char *method, int n, twin_rk_rhs rhs, void *user, double t0, double t1,
                               double tolerance, int nstep, const double *t, double _Complex *y, long *steps);

#endif
