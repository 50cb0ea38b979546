/* Shared by the methods: counted evaluations, bounds, the norm of the projected gradient, the best point. */
#ifndef MBG_OPTIMIZERS_MINIMIZE_INTERNAL_H
#define MBG_OPTIMIZERS_MINIMIZE_INTERNAL_H

#include "optimizers/minimize.h"

/* Positive results inside the optimizers: the method ends with result->reason set. */
enum { MBG__STOP = 1 };

typedef struct {
  mbg_context *ctx;
  const mbg__minimize_problem *problem;
  const mbg__minimize_options *opt;
  mbg__minimize_result *result;
  mbg__arena arena;
  int n;
  double *best_x, *best_g; /* lowest value so far: result->value  (n) */
  double *x_before;        /* at the last progress                (n) */
  bool started;            /* there is a best point */
} mbg__minimizer;

/* Bounds and metric of a number. */
double mbg__minimize_lower(const mbg__minimizer *m, int k);
double mbg__minimize_upper(const mbg__minimizer *m, int k);
double mbg__minimize_metric(const mbg__minimizer *m, int k);

/* x into the bounds. */
void mbg__minimize_project(const mbg__minimizer *m, double *x);
/* Is number k at a bound while the gradient pushes outwards? */
bool mbg__minimize_active(const mbg__minimizer *m, const double *x, const double *g, int k);
/* |projected gradient|, and how many numbers are active (or NULL). */
double mbg__minimize_norm(const mbg__minimizer *m, const double *x, const double *g, int *active);

/* Value and gradient at x. 0; 1: not possible here; negative: fatal. At the limit of evaluations or when interrupted:
   MBG_ERROR_INTERRUPTED with result->reason set and no message. */
int mbg__minimize_evaluate(mbg__minimizer *m, const double *x, double *f, double *g);

/* Reports an iteration at the point (x, f, g) and asks the stopping rules. 0 or MBG__STOP. */
int mbg__minimize_iterated(mbg__minimizer *m, const double *x, double f, const double *g);

/* Step along an arc P(x + a d) that fulfils the strong Wolfe conditions, or at least lowers f. In: x, f, g and the
   direction d with slope g.d < 0 along numbers that are not at a bound; a: first trial; curvature: c2. Out: x1, f1, g1,
   a. 0; 1: no lower value was found; negative: fatal, or interrupted. */
typedef struct {
  const double *x, *g, *d;
  double f, curvature;
  double *x1, *g1;
  double f1, a;
} mbg__search;
int mbg__minimize_search(mbg__minimizer *m, mbg__search *s);

/* The methods: from the best point on, until result->reason is set. 0 or a negative status. */
int mbg__minimize_descent(mbg__minimizer *m);
int mbg__minimize_ipopt(mbg__minimizer *m);
int mbg__minimize_newton(mbg__minimizer *m);

#endif
