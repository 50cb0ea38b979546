/* optimizers: a function of many numbers is made small under bounds, from values and gradients.

     minimize f(x),   lower <= x <= upper

   Everything works on doubles. What a minimization does next depends on the values and gradients that it got and on
   nothing else: evaluations that were recorded can be handed out again, and the minimization goes the same way.

   The metric d (n positive numbers) says how lengths are measured: |x|^2 = sum_k d_k x_k^2, so that of a gradient is
   |g|^2 = sum_k g_k^2 / d_k and the direction of steepest descent is -g_k / d_k. For samples of a function of time d_k
   is the integral of the hat function of sample k: |g| is then the L2 norm of the gradient as a function of time, and
   no method depends on the sampling (theory 2, section 8). For numbers of different units d_k = 1 / typical_k^2. */
#ifndef MBG_OPTIMIZERS_MINIMIZE_H
#define MBG_OPTIMIZERS_MINIMIZE_H

#include "base/base.h"

/* ---------------------------------------------------------------------- methods */

typedef enum {
  MBG__MINIMIZE_LBFGS,       /* quasi-Newton with limited memory on the numbers that are not at a bound */
  MBG__MINIMIZE_IPOPT,       /* interior points, quasi-Newton with limited memory */
  MBG__MINIMIZE_CG,          /* nonlinear conjugate gradients (Polak-Ribiere, restarted) */
  MBG__MINIMIZE_STEEPEST,    /* steepest descent */
  MBG__MINIMIZE_IPOPT_EXACT, /* interior points with second derivatives: needs `product`, too */
  MBG__MINIMIZE_NEWTON,      /* trust-region Newton with conjugate gradients: needs `product` */
  MBG__MINIMIZE_METHODS
} mbg__minimize_method;

/* "lbfgs", "ipopt", "cg", "steepest", "ipopt-exact", "newton"; NULL for an unknown method. find: -1, unknown name. */
const char *mbg__minimize_method_name(int method);
int mbg__minimize_method_find(const char *name);

/* ---------------------------------------------------------------------- what the caller provides */

/* Where a minimization stands after an iteration: all belong to the same point. */
typedef struct {
  int iteration, evaluations; /* 0: the start */
  double value, gradient;     /* gradient: norm of the projected one */
  double step;                /* |x - x of the iteration before| */
  const double *x;            /* (n) */
} mbg__minimize_state;

typedef struct {
  int n;
  const double *lower, *upper; /* (n), infinite without a bound; NULL: no bounds; referenced */
  const double *metric;        /* (n) positive; NULL: ones; referenced */
  /* Value and gradient (n) at x, which is within the bounds. 0; positive: not possible here, a smaller step is tried
     (messages filed by such a call are taken back); negative: fatal status with its message filed, handed up unchanged,
     but MBG_ERROR_INTERRUPTED, which ends the minimization as `progress` does. Values that are not finite count as
     positive. */
  int (*evaluate)(void *user, const double *x, double *value, double *gradient);
  /* H d (n) at x, the point of the last iteration: second derivatives. As `evaluate`; a positive result ends the search
     for a direction with what was found so far. NULL: not known. */
  int (*product)(void *user, const double *x, const double *d, double *Hd);
  /* After the start and each iteration; not 0: stop here. NULL: none. */
  int (*progress)(void *user, const mbg__minimize_state *state);
  void *user;
} mbg__minimize_problem;

typedef struct {
  mbg__minimize_method method;
  int max_iterations, max_evaluations;
  int memory;                /* pairs kept by lbfgs and ipopt */
  double gradient_tolerance; /* stop when |projected gradient| <= this ... */
  double gradient_relative;  /* ... or <= this times the one at the start */
  double value_tolerance;    /* stop when an iteration lowers f by at most this times |f|, twice in a row; 0: never */
  double first_step;         /* length of the first step, 0: chosen */
} mbg__minimize_options;

mbg__minimize_options mbg__minimize_options_default(void); /* lbfgs, 500, 5000, 12, 0, 1e-6, 0, 0 */

/* ---------------------------------------------------------------------- minimization */

/* Why it stopped. */
typedef enum {
  MBG__MINIMIZE_GRADIENT,    /* the projected gradient is small: a solution */
  MBG__MINIMIZE_VALUE,       /* f no longer falls by more than its tolerance */
  MBG__MINIMIZE_SEARCH,      /* no lower value along the direction of steepest descent: rounding, or a wrong gradient */
  MBG__MINIMIZE_ITERATIONS,  /* max_iterations */
  MBG__MINIMIZE_EVALUATIONS, /* max_evaluations */
  MBG__MINIMIZE_INTERRUPTED, /* by progress or evaluate */
  MBG__MINIMIZE_REASONS
} mbg__minimize_reason;

/* "converged", "no further progress", ... for reports. */
const char *mbg__minimize_reason_text(mbg__minimize_reason reason);

typedef struct {
  mbg__minimize_reason reason;
  double value, gradient;              /* at the best point; gradient: norm of the projected one */
  double value_start, gradient_start;  /* at the start */
  int iterations, evaluations, failed; /* failed: evaluations that were not possible */
  int active;                          /* numbers at a bound with the gradient pushing outwards */
  int products;                        /* with second derivatives */
} mbg__minimize_result;

/* From x (n, moved into the bounds first) to the lowest point found, which comes back in x. Options may be NULL.
   MBG_ERROR_INPUT: bounds, metric or options are wrong; MBG_ERROR_CONVERGENCE: the start cannot be evaluated (its own
   message stays when it filed one); or what `evaluate` returned. x is the best point whenever the start was
   evaluated. */
int mbg__minimize(mbg_context *ctx, const mbg__minimize_problem *problem, const mbg__minimize_options *options,
                  double *x, mbg__minimize_result *result);

#endif
