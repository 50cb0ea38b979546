/* optimizers: a function is made small under bounds and constraints, from values and gradients.

     minimize f(x),   lower <= x <= upper,   c_i(x) <= 0 or c_i(x) = 0

   Numbers are scaled by the caller: x, f and c of the order of 1. As with minimize.h, what happens next depends on the
   values and gradients and on nothing else, so that recorded evaluations lead the same way again. Every method ends by
   the same rule: the conditions of optimality (kkt.h) at a point where gradients are known. */
#ifndef MBG_OPTIMIZERS_NLP_H
#define MBG_OPTIMIZERS_NLP_H

#include "base/base.h"

/* ---------------------------------------------------------------------- methods */

typedef enum {
  MBG__NLP_LBFGS,       /* minimize.h: bounds alone */
  MBG__NLP_NLOPT_LBFGS, /* NLopt (Luksan, Vlcek): bounds alone */
  MBG__NLP_SLSQP,       /* NLopt: sequential quadratic programs (Kraft 1988), dense */
  MBG__NLP_MMA,         /* NLopt: method of moving asymptotes (Svanberg 2002), inequalities, many unknowns */
  MBG__NLP_CONLIN,      /* convex linearization (Fleury, Braibant 1986), inequalities */
  MBG__NLP_IPOPT,       /* IPOPT: interior points, quasi-Newton with limited memory */
  MBG__NLP_IPOPT_GN,    /* IPOPT with the Gauss-Newton Hessian of a sum of squares */
  MBG__NLP_IPOPT_EXACT, /* IPOPT with second derivatives of the Lagrangian */
  MBG__NLP_NEWTON,      /* minimize.h: trust-region Newton with products; bounds alone */
  MBG__NLP_METHODS
} mbg__nlp_method;

/* "lbfgs", "nlopt-lbfgs", "slsqp", "mma", "conlin", "ipopt", "ipopt-gn", "ipopt-exact", "newton"; NULL for an unknown
   method. find: -1 for an unknown name. */
const char *mbg__nlp_method_name(int method);
int mbg__nlp_method_find(const char *name);
/* Is its library part of this build? */
bool mbg__nlp_available(mbg__nlp_method method);
/* Capabilities of a method: constraints, equality constraints; needs of it: second derivatives. */
bool mbg__nlp_needs_products(mbg__nlp_method method);
bool mbg__nlp_takes_constraints(mbg__nlp_method method);
bool mbg__nlp_takes_equalities(mbg__nlp_method method);
/* Does it end inside the bounds, at a small distance from those that hold? */
bool mbg__nlp_is_interior(mbg__nlp_method method);

/* ---------------------------------------------------------------------- what the caller provides */

/* Where it stands at a point with gradients. */
typedef struct {
  int iteration;
  double value, violation, optimality;
  double step;     /* largest change of x since the iteration before */
  const double *x; /* (n) */
} mbg__nlp_state;

typedef struct {
  int n, m;
  const double *lower, *upper; /* (n), infinite without a bound; referenced */
  const bool *equal;           /* (m); referenced */
  /* The number that x_k stands for: offset + span x_k, or exp of it where log is true; NULL, all three: x_k itself.
     CONLIN expands in these numbers and in their reciprocals.                               (n); referenced */
  const double *offset, *span;
  const bool *log;
  /* f and c (m) at x, which lies within the bounds. Returns 0; positive: not computable here, a smaller step is
     tried (messages are withdrawn); negative: a status for the caller, but MBG_ERROR_INTERRUPTED ends the search. A
     value that is not finite counts as positive. */
  int (*values)(void *user, const double *x, double *f, double *c);
  /* Gradient (n) and Jacobian (m x n, row-major) at the x of the last call of values. */
  int (*derivatives)(void *user, const double *x, double *g, double *J);
  /* Symmetric approximation of the Hessian of f (n x n) at x; NULL: none (MBG__NLP_IPOPT_GN needs it). */
  int (*hessian)(void *user, const double *x, double *H);
  /* Hd (n): the product of second derivatives of factor f + sum_i lambda_i c_i (lambda: m) at x with d; NULL: unknown.
     As `values`. */
  int (*product)(void *user, const double *x, double factor, const double *lambda, const double *d, double *Hd);
  /* After each iteration; not 0: stop here. NULL: none. */
  int (*progress)(void *user, const mbg__nlp_state *state);
  void *user;
} mbg__nlp_problem;

typedef struct {
  mbg__nlp_method method;
  int max_iterations;  /* points with gradients */
  int max_evaluations; /* points */
  int memory;          /* pairs kept by limited-memory methods */
  double feasibility;  /* largest c_i that counts as feasible */
  double optimality;   /* stop when the residual of the conditions is at most this times `reference` */
  double reference;    /* 0: the norm of the projected gradient at the start */
  double
      /* stop when f at the best feasible point changed by less than this times |f| over 10 iterations; 0: never */
      settle;
} mbg__nlp_options;

mbg__nlp_options mbg__nlp_options_default(void); /* slsqp, 200, 2000, 20, 1e-6, 1e-6, 0, 0 */

/* ---------------------------------------------------------------------- solution */

typedef enum {
  MBG__NLP_OPTIMAL,     /* the conditions hold, by our rule or by the method's own, stricter one */
  MBG__NLP_SETTLED,     /* f no longer changes */
  MBG__NLP_STUCK,       /* the method found no further step */
  MBG__NLP_ITERATIONS,  /* max_iterations or max_evaluations */
  MBG__NLP_INTERRUPTED, /* by progress or values */
} mbg__nlp_reason;

typedef struct {
  mbg__nlp_reason reason;
  double value, violation, optimality; /* at the point returned; optimality: relative to `reference`, NaN: not known */
  double reference;
  int iterations, evaluations, failed;
  int products; /* with second derivatives */
} mbg__nlp_result;

/* From x (moved into the bounds first) to a solution, which comes back in x; when none was reached, to the best point:
   the lowest feasible one, else that of least violation. MBG_ERROR_INPUT: bounds contradict each other, or the method
   does not take the constraints; MBG_ERROR_CONVERGENCE: the start cannot be evaluated. */
int mbg__nlp_solve(mbg_context *ctx, const mbg__nlp_problem *problem, const mbg__nlp_options *options, double *x,
                   mbg__nlp_result *result);

#endif
