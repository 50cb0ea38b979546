/* Problems with known solutions, shared by the tests of the Runge-Kutta module. */
#ifndef UNIT_INTEGRATORS_RK_CASE_H
#define UNIT_INTEGRATORS_RK_CASE_H

#include "integrators/rk.h"
#include "support/support.h"

#include <math.h>

static inline mbg_context *new_context(const mbg_allocator *allocator) {
  mbg_context *ctx = NULL;
  assert_int_equal(mbg_context_create(allocator, &ctx), MBG_OK);
  return ctx;
}

/* Kepler's problem, one revolution in 2 pi: q'' = -q/|q|^3, perihelion (1 - e, 0) at t = 0; y = (q, q'). */
static const double kepler_e = 0.25;

static inline int kepler_rhs(void *user, double t, const double *y, double *dydt) {
  (void)user;
  (void)t;
  const double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrt(r2);
  dydt[0] = y[2];
  dydt[1] = y[3];
  dydt[2] = -y[0] / r3;
  dydt[3] = -y[1] / r3;
  return 0;
}

/* E - e sin E = t by Newton; q = (cos E - e, b sin E), q' = (-sin E, b cos E)/(1 - e cos E), b = sqrt(1 - e^2) */
static inline void kepler_exact(double t, double y[4]) {
  const double e = kepler_e, b = sqrt(1 - e * e);
  double E = t;
  for (int i = 0; i < 30; i++) {
    E -= (E - e * sin(E) - t) / (1 - e * cos(E));
  }
  const double rate = 1 / (1 - e * cos(E));
  y[0] = cos(E) - e;
  y[1] = b * sin(E);
  y[2] = -rate * sin(E);
  y[3] = rate * b * cos(E);
}

/* y' = -2 t y^2, y = 1/(1 + t^2): time counts */
static inline int witch_rhs(void *user, double t, const double *y, double *dydt) {
  (void)user;
  dydt[0] = -2 * t * y[0] * y[0];
  return 0;
}

static inline double witch_exact(double t) { return 1 / (1 + t * t); }

static inline double distance(const double *a, const double *b, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(a[i] - b[i]));
  }
  return most;
}

static const mbg__rk_method *const all_methods[] = {&mbg__rk_rk4, &mbg__rk_dp5, &mbg__rk_dop853};
enum { METHODS = 3 };

#endif
