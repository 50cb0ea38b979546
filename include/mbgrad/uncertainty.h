/* mbgrad: how criteria spread when parameters do. */
#ifndef MBGRAD_UNCERTAINTY_H
#define MBGRAD_UNCERTAINTY_H

#include "mbgrad/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n random numbers x, the changes of parameters from their nominal values, all of mean 0. */
typedef struct {
  int n;
  const mbg_distribution *kind; /* of each; NULL: all normal                                   (n) */
  const double *deviation;      /* standard deviations, >= 0                                   (n) */
  const double *correlation;    /* symmetric, ones on its diagonal, between normal numbers; NULL: independent (n x n) */
} mbg_scatter;

/* Moments of psi + g.x + x.H x/2, exact for this polynomial. By first order the mean is psi, the deviation
   sqrt(linear). */
typedef struct {
  double value;     /* psi */
  double shift;     /* mean - psi */
  double linear;    /* variance by first order */
  double quadratic; /* what second order adds to it */
  double skewness;  /* third central moment / deviation^3; 0 without any variance */
  double mean;      /* value + shift */
  double deviation; /* sqrt(linear + quadratic) */
} mbg_moments;

/* gradient: n, hessian: n x n, symmetric; NULL: zero (first order). share (n, may be NULL): parts of the variance
   linear + quadratic that belong to each number, a pair's half to each of both; parts of correlated numbers may be
   negative. MBG_ERROR_INPUT for deviations that are negative or not finite, and for correlations that no numbers have
   or that are not between normal ones. */
MBG_API int mbg_scatter_moments(mbg_context *ctx, const mbg_scatter *scatter, double psi, const double *gradient,
                                const double *hessian, mbg_moments *out, double *share);

/* The largest factor on all deviations at which mean - k deviation >= low and mean + k deviation <= high: infinite when
   none is too large, 0 when the nominal value is outside already. */
MBG_API double mbg_moments_factor(const mbg_moments *moments, double low, double high, double k);

/* Sample number `index` of a sequence that `seed` names: x (n). It depends on nothing else. */
MBG_API int mbg_scatter_sample(mbg_context *ctx, const mbg_scatter *scatter, unsigned long seed, unsigned long index,
                               double *x);

#ifdef __cplusplus
}
#endif

#endif
