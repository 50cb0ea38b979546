/* Error norm, controller, first step. All look at real parts only. */
#include "integrators/rk_internal.h"

#include <math.h>

static const double safety = 0.9, shrink_most = 0.2, grow_most = 6, error_least = 1e-4;

static double tolerance(const mbg__rk *rk, int i, double size) {
  return (rk->opt.atol_vector ? rk->opt.atol_vector[i] : rk->opt.atol) + rk->opt.rtol * size;
}

/* ---------------------------------------------------------------------- error norm */

/* sum_j e_j k_j of component i */
static double weighted_sum(const mbg__rk *rk, const double *e, int i) {
  double sum = 0;
  for (int j = 0; j <= rk->method->nstage; j++) {
    if (e[j] != 0) {
      sum += e[j] * re(rk->k[(size_t)j * (size_t)rk->n + (size_t)i]);
    }
  }
  return sum;
}

/* ||e|| = |h| rms(e_i/tol_i); with a second estimate |h| E^2/sqrt(E^2 + 0.01 E_low^2), E = rms(...), which falls as h^8
   for the orders 5 and 3 (Hairer, Norsett, Wanner, II.10). */
void mbg__rk_estimate(mbg__rk *rk, double h) {
  const mbg__rk_method *m = rk->method;
  double sum = 0, sum_low = 0, largest = -1;
  for (int i = 0; i < rk->ncontrol; i++) {
    const double tol = tolerance(rk, i, fmax(fabs(re(rk->y[i])), fabs(re(rk->y1[i]))));
    const double error = weighted_sum(rk, m->e, i);
    if (error == 0) {
      continue; /* also where the tolerance is 0 */
    }
    const double x = error / tol, x_low = m->e_low ? weighted_sum(rk, m->e_low, i) / tol : 0;
    sum += x * x;
    sum_low += x_low * x_low;
    if (!(fabs(x) <= largest)) {
      largest = fabs(x);
      rk->worst = i;
    }
  }
  const double scale = m->e_low && sum > 0 ? sqrt(sum / (sum + 0.01 * sum_low)) : 1;
  rk->error = rk->ncontrol > 0 ? fabs(h) * sqrt(sum / rk->ncontrol) * scale : 0;
}

/* ---------------------------------------------------------------------- controller */

/* PI: h_new = h safety error^-alpha error_old^beta, alpha = 1/q - 0.75 beta, beta = 0.2/q. A good step that the end of
   its segment cut short does not shorten the next one. */
void mbg__rk_control(mbg__rk *rk, double h, bool retried) {
  const double beta = 0.2 / rk->method->error_order, alpha = 1.0 / rk->method->error_order - 0.75 * beta;
  const double error = fmax(rk->error, 1e-12), old = fmax(rk->error_old, error_least);
  const double most = retried ? 1 : grow_most;
  const double factor = fmin(most, fmax(shrink_most, safety * pow(error, -alpha) * pow(old, beta)));
  const double planned = rk->opt.hmax > 0 ? fmin(rk->h, rk->opt.hmax) : rk->h;
  const bool cut = h < 0.999 * planned;
  rk->h = fmax(cut && factor >= 1 ? fmax(planned, h * factor) : h * factor, rk->opt.hmin);
  rk->error_old = rk->error;
}

void mbg__rk_reduce(mbg__rk *rk, double h, mbg__rk_reason reason) {
  double factor = shrink_most;
  if (reason == MBG__RK_TOO_SMALL && isfinite(rk->error)) {
    factor = fmin(safety, fmax(shrink_most, safety * pow(rk->error, -1.0 / rk->method->error_order)));
  }
  rk->h = reason == MBG__RK_TOO_SMALL ? fmax(h * factor, fmin(h, rk->opt.hmin)) : h * factor;
}

/* ---------------------------------------------------------------------- first step */

/* rms((a_i - b_i)/tol_i); b may be NULL */
static double norm(const mbg__rk *rk, const real *a, const real *b) {
  double sum = 0;
  for (int i = 0; i < rk->ncontrol; i++) {
    const double x = re(a[i]) - (b ? re(b[i]) : 0);
    if (x != 0) {
      const double q = x / tolerance(rk, i, fabs(re(rk->y[i])));
      sum += q * q;
    }
  }
  return rk->ncontrol > 0 ? sqrt(sum / rk->ncontrol) : 0;
}

/* An Euler step of length *h, shortened until f can be evaluated: the size of y'' by a difference of y'. */
static int second_derivative(mbg__rk *rk, double *h, double *size) {
  const int n = rk->n;
  real *const k1 = rk->k + n;
  int status = 1;
  for (int i = 0; i < 20 && status > 0; i++) {
    *h *= i > 0 ? 0.1 : 1;
    const double one = 1;
    mbg__rk_combine(rk->opt.pool, n, rk->Y, rk->y, rk->dir * *h, 1, &one, rk->k);
    const double t = re(rk->t) + rk->dir * *h, end = re(rk->tb);
    status = mbg__rk_evaluate(rk, rk->dir > 0 ? fmin(t, end) : fmax(t, end), rk->Y, k1);
  }
  *size = status == 0 ? norm(rk, k1, rk->k) / *h : 0;
  return status < 0 ? status : MBG_OK;
}

/* A first guess changes y by a hundredth of its size, which may be rounding; then h^q max(|y'|, |y''|) = 0.01 in units
   of the tolerance (Hairer, Norsett, Wanner, II.4), not beyond a hundred guesses. */
int mbg__rk_first_step(mbg__rk *rk, double *h) {
  const double span = fabs(re(rk->run.t1 - rk->run.t0)), left = fabs(re(rk->tb - rk->ta));
  const double most = rk->opt.hmax > 0 ? fmin(rk->opt.hmax, left) : left;
  const double d0 = norm(rk, rk->y, NULL), d1 = norm(rk, rk->k, NULL);
  const bool sized = d0 > 1e-5 && d1 > 1e-5 && isfinite(d0) && isfinite(d1);
  double guess = fmin(most, sized ? fmax(0.01 * d0 / d1, 1e-8 * span) : 1e-6 * span), d2 = 0;
  const int err = second_derivative(rk, &guess, &d2);
  const double d = fmax(d1, d2);
  const double wanted =
      d > 1e-15 && isfinite(d) ? pow(0.01 / d, 1.0 / rk->method->error_order) : fmax(1e-6 * span, 1e-3 * guess);
  *h = fmin(most, fmax(fmin(100 * guess, wanted), rk->opt.hmin));
  return err;
}
