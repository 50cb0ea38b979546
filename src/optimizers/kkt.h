/* optimizers: conditions of optimality (Karush, Kuhn, Tucker) at a point, and the multipliers that fulfil them best.

     g + J^T lambda + mu = 0,   lambda_i c_i = 0,   lambda_i >= 0 (c_i <= 0),   mu_k <= 0 at lower, >= 0 at upper
     bounds */
#ifndef MBG_OPTIMIZERS_KKT_H
#define MBG_OPTIMIZERS_KKT_H

#include "base/base.h"

typedef struct {
  int n, m;
  const double *x, *lower, *upper; /* (n) */
  const bool *equal;               /* (m) */
  const double *g, *c, *J;         /* (n, m, m x n row-major) */
  double active;                   /* constraints with c >= -active may have a multiplier */
  double near;                     /* bounds as well, for interior points; 0: only those that x is on */
} mbg__kkt_point;

/* Multipliers lambda (m) and mu (n; may be NULL) by least squares; *residual: the larger of |g + J^T lambda + mu| and
   of the products lambda_i |c_i| and |mu_k| (distance to the bound). Memory from the context, given back. */
int mbg__kkt(mbg_context *ctx, const mbg__kkt_point *point, double *lambda, double *mu, double *residual);

/* |g| without the components that bounds hold. */
double mbg__kkt_projected(int n, const double *x, const double *lower, const double *upper, const double *g);

#endif
