/* optimizers: a sum of squares is made small under bounds, from residuals and their Jacobian.

     minimize 1/2 |r(x)|^2,   lower <= x <= upper

   Levenberg-Marquardt (theory 2, section 9). The residuals themselves stay with the caller: a linearization reaches the
   optimizer as an n x n matrix T and n numbers q with

     |r + J d|^2 = |q + T d|^2 + constant        from J = Q [T; 0], q = (Q^T r)_1..n: never J^T J

   What is done next depends on the costs, T and q that came in and on nothing else: evaluations that were recorded can
   be handed out again, and the minimization goes the same way. Everything works on doubles. */
#ifndef MBG_OPTIMIZERS_LEAST_SQUARES_H
#define MBG_OPTIMIZERS_LEAST_SQUARES_H

#include "base/base.h"

typedef struct {
  int n;
  const double *lower, *upper; /* (n), infinite without a bound; NULL: no bounds; referenced */
  const double *typical;       /* (n) positive: steps are measured relative to these; NULL: ones; referenced */
  /* 1/2 |r|^2 at x, which lies within the bounds. Returns 0; positive: not computable here, a smaller step is tried
     (messages filed by such a call are withdrawn); negative: a status for the caller, MBG_ERROR_INTERRUPTED ends the
     minimization. A cost that is not finite counts as positive. */
  int (*evaluate)(void *user, const double *x, double *cost);
  /* The linearization at x, the point that was evaluated last: T (n x n, column-major), q (n). */
  int (*linearize)(void *user, const double *x, double *T, double *q);
  /* After the start and each iteration; not 0: stop here. NULL: none. */
  int (*progress)(void *user, int iteration, double cost);
  void *user;
} mbg__least_squares_problem;

typedef struct {
  int max_iterations;
  double step;     /* stop at a step below this times typical ... */
  double gradient; /* ... or when no column of J is nearer to r than this (cosine of their angle) */
} mbg__least_squares_options;

mbg__least_squares_options mbg__least_squares_options_default(void); /* 100, 1e-10, 1e-10 */

typedef enum {
  MBG__LEAST_SQUARES_GRADIENT,
  MBG__LEAST_SQUARES_STEP,
  MBG__LEAST_SQUARES_COST,       /* the predicted decrease is below rounding */
  MBG__LEAST_SQUARES_STUCK,      /* no step lowers the cost by the predicted amount */
  MBG__LEAST_SQUARES_ITERATIONS, /* max_iterations */
  MBG__LEAST_SQUARES_INTERRUPTED /* by progress or evaluate */
} mbg__least_squares_reason;

typedef struct {
  mbg__least_squares_reason reason;
  double cost_start, cost;
  int iterations, evaluations, failed; /* failed: evaluations that were not possible */
} mbg__least_squares_result;

/* From x (n, moved into the bounds first) to the lowest point found, which comes back in x. options may be NULL.
   MBG_ERROR_CONVERGENCE: the start cannot be evaluated (its own message stays when it filed one); or what the callbacks
   returned. T and q (may be NULL) receive the linearization at the point that comes back. */
int mbg__least_squares(mbg_context *ctx, const mbg__least_squares_problem *problem,
                       const mbg__least_squares_options *options, double *x, double *T, double *q,
                       mbg__least_squares_result *result);

#endif
