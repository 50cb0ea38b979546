/* optimize: the object behind mbgrad/optimize.h, shared by src/problems/optimize*.c.

   x are the unknowns of the optimizer, between 0 and 1 where there are bounds: u = offset + span x is the value of
   the parameter or, with "scale": "log", its logarithm; filtered vectors are p = W u. In the worst case of several
   runs the last unknown is the bound t of all objectives. */
#ifndef MBG_PROBLEMS_OPTIMIZE_H
#define MBG_PROBLEMS_OPTIMIZE_H

#include "hessian/hessian.h"
#include "mbgrad/optimize.h"
#include "model/model.h"
#include "optimizers/nlp.h"
#include "problems/case_work.h"
#include "problems/sequence.h"
#include "problems/warnings.h"
#include "run/run.h"

/* One run of the model, with a context of its own for its thread. */
typedef struct {
  mbg_context *ctx;
  const mbg_model *model;
  mbg_model *own; /* the model, when it was made here */
  mbg_run *run;
  mbg_optimize_case shown;
  int objective; /* criterion, -1: it has limits alone */
  double *p;     /* parameters of its last simulation             (np) */
  double *value; /* its criteria, then the points of its paths    (nvalue) */
  int *path;     /* of a path criterion: its first point in value (ncriterion) */
  int *npath;    /* its points                                    (ncriterion) */
  double *time;  /* of the points of paths, as value              (nvalue) */
  double step;   /* of its run */
  int nvalue;
  bool simulated; /* at p */
  int status;
  uint64_t events; /* sequence of events of its last simulation */
  double error;    /* of the steps, in the objective */
  bool regular;    /* ... an estimate better than a guess */
  /* rows to be differentiated */
  int nrow, room;
  mbg__gradient_row *row;
  double *gradient; /*                                              (nrow x np) */
  mbg_method used;
  double *hessian; /* of a sum of squares, by p; NULL: not wanted   (np x np) */
  /* robust design: psi + robust s instead of psi, s^2 = g.C g of the scatter of parameters; 0: not */
  double robust, deviation; /* and s                                               */
  double *toward;           /* C g / s                                         (np) */
  /* second derivatives of the Lagrangian */
  mbg_hessian *second;            /* NULL: not asked for yet */
  int nterm;                      /* its terms: all criteria, then points of paths   (nlimit + 1) */
  mbg__gradient_row *term;        /* ... */
  double *weight;                 /* of the criteria                              (ncriterion) */
  double *along, *by_p, *product; /* a direction, gradient, H times the direction (np) */
  double *by_a;                   /* the same product by attributes, NULL: not wanted (na) */
  /* first derivatives of a sum of rows by numbers */
  int ntotal;                     /* rows; 0: not wanted */
  const mbg__gradient_row *total; /* ... */
  double *by_numbers;             /* parameters, then attributes                  (np + na) */
} mbg__case;

/* One side of one limit in one load case: c = side (value - bound) / scale <= 0, or = 0 when side is 0. */
typedef struct {
  const mbg__task_limit *of;
  int load; /* case; -1: mean of parameters */
  int side;
  double bound, scale;
  bool path, aggregated;
  int npoint;
  int nlisted;
  int *listed;  /* points that are constraints of the solve, in order of time    (npoint) */
  bool *known;  /* points that were differentiated                              (npoint) */
  double *soft; /* aggregated: weights of the points in the sum                  (npoint) */
  int *point;   /* aggregated: 0, 1, ...                                         (npoint) */
  double *pull; /* second derivatives: weights of listed points in the Lagrangian  (npoint) */
  int row;      /* first of its constraints */
  mbg_optimize_constraint shown;
} mbg__limit;

/* A vector that is smoothed: p_i = sum_j max(0, r - |i - j|) u_j / sum of these weights. */
typedef struct {
  int first, count; /* unknowns */
  double radius;
} mbg__filter;

struct mbg_optimize {
  mbg__arena arena;
  mbg_optimize_options o;
  mbg_run_options run_options;
  const mbg_model *model; /* the caller's */
  const mbg__optimize_task *task;
  bool reporting; /* a finished search is reported: no further interruptions */
  int ncase;
  mbg__case *load;
  mbg__case_work work;      /* of them; the restart file */
  const mbg_model **models; /* of the load cases                          (ncase) */
  int nlimit;
  mbg__limit *limit;
  int nfilter;
  mbg__filter *filter;

  int np; /* parameters of the model */
  int n;  /* varied parameters */
  int nx; /* unknowns: one more in the worst case */
  int m;  /* constraints of the solve */
  bool *log;
  double *offset, *span;
  double *p0, *p;    /* start and present values of all parameters   (np) */
  double *u, *chain; /* of the unknowns: values before the filter, d/dx (n) */
  double *x;         /* start, then the solution                      (nx) */
  double *lower, *upper;
  double f_scale;
  bool squares; /* the objective is a sum of squares */

  int nvalue;    /* of all cases */
  double *value; /* recorded values of an evaluation                     (nvalue) */
  double *at;    /* unknowns of it                                       (nx) */
  bool valued;   /* ... which can be used */

  /* the present solve */
  mbg__arena solve;
  bool *equal; /* (m) */
  mbg__nlp_options nlp;
  bool chosen;   /* the optimizer was, by the problem */
  bool replayed; /* the last evaluation */
  double begin;
  double *best_x; /* best feasible one                                   (nx) */
  double *shown;  /* parameters of the iteration at hand, then unknowns  (np + n) */
  double best;    /* its objective; NaN: none */

  mbg_optimize_summary summary;
  mbg_optimize_parameter *parameter; /* (n) */
  mbg_optimize_active *active;
  double *lambda, *J; /* at the solution: multipliers and gradients of constraints (m), (m x nx); NULL: none */
  double *curvatures; /*                                             (summary.curvatures) */
  mbg_optimize_shift *shift;
  mbg_optimize_record *history;
  int history_room;
  mbg__warnings warnings;
};

/* ---------------------------------------------------------------------- optimize_unknowns.c */

/* Parameters (np) at x. */
void mbg__optimize_parameters_at(mbg_optimize *opt, const double *x);
/* The same into arrays of the caller: unknowns before the filter (n), parameters (np). */
void mbg__optimize_parameters_of(const mbg_optimize *opt, const double *x, double *unknowns, double *p);
/* The change of the parameters (np) along d (nx) at x of the last mbg__optimize_parameters_at; by_u: scratch (n). */
void mbg__optimize_push(const mbg_optimize *opt, const double *d, double *by_u, double *along);
/* Adds factor d/dx (n) of d/dp (np), for one row; by_u: scratch (n). */
void mbg__optimize_pull(const mbg_optimize *opt, const double *by_p, double *by_u, double factor, double *by_x);

/* ---------------------------------------------------------------------- optimize_evaluate.c: load cases */

/* Simulates every case at x, or reads it from the record: opt->value. 0; positive: one failed, its message is filed. */
int mbg__optimize_values(mbg_context *ctx, mbg_optimize *opt, const double *x);
/* Gradients of the objectives and listed constraints by x, scaled: g (nx), J (m x nx). At the x of the last values. */
int mbg__optimize_gradients(mbg_context *ctx, mbg_optimize *opt, const double *x, double *g, double *J);
/* Error of the steps in the objective of every case, at the parameters of its last values. */
int mbg__optimize_case_errors(mbg_context *ctx, mbg_optimize *opt);
/* What is done with every case, and which of its results other ranks get. */
typedef struct {
  void (*evaluate)(mbg__case *c);
  void (*results)(mbg__case *c, mbg__parcel *p);
} mbg__stage;
/* Evaluates every case, in threads of its rank; the first status that is not good, in the order of the cases. all:
   notes, too. */
int mbg__optimize_evaluate_all(mbg_context *ctx, mbg_optimize *opt, const mbg__stage *stage, bool all);
/* The sequence of events at the x of the last values, in *sum: one number for all cases; 0 without events. */
int mbg__optimize_sequence(mbg_context *ctx, mbg_optimize *opt, uint64_t *sum);
/* Simulates a case at its parameters unless it was. */
int mbg__case_simulated(mbg__case *c);
/* A mean of parameters by the parameters (np). */
void mbg__limit_mean(const mbg_optimize *opt, const mbg__limit *l, double *by_p);
/* Threads and ranks of the load cases, which are open. */
int mbg__optimize_make_work(mbg_context *ctx, mbg_optimize *opt);
/* First simulations, which decide steps and redundant rows; places of the values. */
int mbg__optimize_first(mbg_context *ctx, mbg_optimize *opt);

/* ---------------------------------------------------------------------- optimize_squares.c */

/* Gauss-Newton Hessian (nx x nx). */
int mbg__optimize_hessian(mbg_context *ctx, mbg_optimize *opt, const double *x, double *H);

/* ---------------------------------------------------------------------- optimize_robust.c */

/* Robust cases, if the model asks for them. */
int mbg__optimize_make_robust(mbg_context *ctx, mbg_optimize *opt);
/* Adds k s to the objective of a robust case that was simulated; k grad s to its gradient (np). */
int mbg__case_scatter(mbg__case *c, double *value);
int mbg__case_add_scatter(mbg__case *c, double *gradient);

/* ---------------------------------------------------------------------- optimize_second.c */

/* An error that names what has no second derivatives: aggregated limits. */
int mbg__optimize_check_second(mbg_context *ctx, const mbg_optimize *opt);
/* Hd (nx): H of factor f + sum_i lambda_i c_i (lambda: m, NULL without constraints) times d (nx). At x, recorded. */
int mbg__optimize_product(mbg_context *ctx, mbg_optimize *opt, const double *x, double factor, const double *lambda,
                          const double *d, double *Hd);
/* ---------------------------------------------------------------------- optimize_limits.c: objective and
   constraints */

/* From opt->value: the objective (not scaled), constraint values c (m) of the listed rows, the largest violation of
   all. */
double mbg__optimize_objective(const mbg_optimize *opt);
void mbg__optimize_constraints(mbg_optimize *opt, const double *x, double *c);
double mbg__optimize_violation(const mbg_optimize *opt);
/* Value of point k of a limit, and its c. */
double mbg__limit_value(const mbg_optimize *opt, const mbg__limit *l, int k);
double mbg__limit_c(const mbg_optimize *opt, const mbg__limit *l, int k);
double mbg__limit_time(const mbg_optimize *opt, const mbg__limit *l, int k);
/* Weights of an aggregated path at the present values; returns its c. */
double mbg__limit_aggregate(const mbg_optimize *opt, const mbg__limit *l, double *soft);
/* Adds points that may become active at the present values to the lists, and numbers the constraints. */
int mbg__optimize_select(mbg_context *ctx, mbg_optimize *opt);
/* Largest violation of a point that is not listed. */
double mbg__optimize_unlisted(const mbg_optimize *opt);
int mbg__optimize_make_limits(mbg_context *ctx, mbg_optimize *opt);

/* ---------------------------------------------------------------------- optimize_report.c */

int mbg__optimize_report(mbg_context *ctx, mbg_optimize *opt);

#endif
