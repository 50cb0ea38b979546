/* mbgrad: designs that minimize criteria, under constraints. */
#ifndef MBGRAD_OPTIMIZE_H
#define MBGRAD_OPTIMIZE_H

#include "mbgrad/ranks.h"
#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- the problem */

/* The section "optimize" of a model: finds parameters p that minimize

     sum_r weight_r psi_r(p)   or   max_r weight_r psi_r(p)            over the load cases r

   within their bounds, with limits of criteria in every load case, of signals at every time step ("path" criteria),
   and of means of parameters. Only the points of a path that may become active are differentiated (theory 4, section
   9). The load cases are the runs of the model; a model without runs, or made for one of them (mbg_model_for_run),
   is the only load case. */
typedef struct mbg_optimize mbg_optimize;

/* Why a search ended. */
typedef enum {
  MBG_OPTIMIZE_NOT_RUN,
  MBG_OPTIMIZE_OPTIMAL,    /* feasible, and the conditions of optimality hold */
  MBG_OPTIMIZE_SETTLED,    /* feasible, and the objective no longer changes ("settle") */
  MBG_OPTIMIZE_STUCK,      /* feasible, but the optimizer found no further step before the conditions held */
  MBG_OPTIMIZE_ITERATIONS, /* limit of iterations */
  MBG_OPTIMIZE_INFEASIBLE, /* no feasible design was found */
  MBG_OPTIMIZE_INTERRUPTED /* the best design so far is kept */
} mbg_optimize_reason;

/* A sentence for a reason; never NULL. */
MBG_API const char *mbg_optimize_reason_text(int reason);

/* Optimizers by index: "lbfgs", "slsqp", "mma", "conlin", "ipopt", "newton", ...; NULL: the index is out of range. */
MBG_API const char *mbg_optimize_optimizer(int index);

/* State of a search after an iteration. */
typedef struct {
  int iteration, most;      /* points at which gradients were computed; their limit */
  double objective;         /* of this point */
  double violation;         /* largest one over all time steps, in units of the constraints' scales */
  double optimality;        /* residual of the conditions of optimality, relative to the start */
  double step;              /* largest relative change of a parameter */
  double best;              /* best feasible objective so far; NAN: none */
  double seconds;           /* since the beginning, without replayed evaluations */
  bool replayed;            /* this evaluation was read from the restart file */
  const double *parameters; /* all of the model at this point (mbg_model_parameter_count) */
} mbg_optimize_state;

typedef struct {
  size_t size;                /* of this structure: set by mbg_optimize_options_default */
  const mbg_run_options *run; /* of every load case, interrupt included, progress ignored; NULL: defaults */
  const double *parameters;   /* start (mbg_model_parameter_count); NULL: the nominal values */
  int place;                  /* 0: start there; k: at place k of a set spread evenly over the bounds */
  unsigned seed;              /* shifts these places; 1 */
  const char *optimizer;      /* NULL: from the model, else by type and size of the problem */
  int iterations;             /* limit; 0: from the model, else 200 */
  double tolerance;           /* of the conditions of optimality; NAN: from the model, else 1e-6 */
  int threads;                /* load cases at a time; 1 */
  const char *restart;        /* file to which every evaluation is appended; NULL: none */
  bool resume;                /* replay the restart file first; an interruption counts when that is done */
  /* Called after every iteration; true stops and keeps the best design; may be NULL. */
  bool (*progress)(void *user, const mbg_optimize_state *state);
  void *user;             /* first argument of progress */
  const mbg_ranks *ranks; /* referenced; a search that one of them stops is stopped in all; NULL: one process */
} mbg_optimize_options;

MBG_API void mbg_optimize_options_default(mbg_optimize_options *options, size_t size);

/* Prepares a run of the model for each load case and simulates it at the start. The model is referenced. */
MBG_API int mbg_optimize_create(mbg_context *ctx, const mbg_model *model, const mbg_optimize_options *options,
                                mbg_optimize **out);
MBG_API void mbg_optimize_destroy(mbg_optimize *opt);

/* Searches. MBG_OK also for a search that did not converge or was interrupted: see the summary. The optimizer steps
   back from designs that cannot be simulated; a simulation that fails at the start is an error. */
MBG_API int mbg_optimize_solve(mbg_context *ctx, mbg_optimize *opt);

/* At values of the optimized parameters, in their order (parameters): objective, largest violation, and the gradient of
   the objective by these parameters (may be NULL), of the worst load case that of the largest objective. For tests and
   for other optimizers. */
MBG_API int mbg_optimize_evaluate(mbg_context *ctx, mbg_optimize *opt, const double *values, double *objective,
                                  double *violation, double *gradient);

/* Estimates the error of the steps in the objective at the solution (mbgrad/error.h) and files it in the summary:
   objective_error. */
MBG_API int mbg_optimize_error(mbg_context *ctx, mbg_optimize *opt);

/* Second order at the solution, by exact second derivatives: two to three gradients for each free parameter. Files
   order, curvatures and shifts. MBG_ERROR_UNSUPPORTED where the model or a limit has no second derivatives
   (mbgrad/hessian.h). */
typedef enum {
  MBG_OPTIMIZE_ORDER_UNKNOWN,
  MBG_OPTIMIZE_MINIMUM, /* strict: the reduced Hessian is positive */
  MBG_OPTIMIZE_VERTEX,  /* bounds and constraints alone determine the design */
  MBG_OPTIMIZE_FLAT,    /* an eigenvalue vanishes: designs nearby are as good to second order */
  MBG_OPTIMIZE_SADDLE   /* an eigenvalue is negative: there are better designs nearby */
} mbg_optimize_order;
MBG_API int mbg_optimize_curvature(mbg_context *ctx, mbg_optimize *opt);
/* A sentence for an order; never NULL. */
MBG_API const char *mbg_optimize_order_text(int order);

/* ---------------------------------------------------------------------- results */

/* Results hold for the last solution. */

typedef struct {
  const mbg_model *model; /* of the first load case */
  const char *formulation, *optimizer;
  int parameters, cases, constraints, active, history, warnings; /* lengths of lists */
  mbg_optimize_reason reason;
  bool converged; /* OPTIMAL or SETTLED */
  bool feasible;
  int solves;                            /* of the optimizer; the list of path points is extended between them */
  int iterations, evaluations, failures; /* failures: simulations that did not reach their end */
  double objective, objective_start;
  double violation;                   /* largest one over all time steps, in units of the constraints' scales */
  double optimality;                  /* residual of the conditions, relative to the projected gradient at the start */
  double gradient, gradient_start;    /* norms of the projected gradient of the objective, by scaled parameters */
  long points, points_differentiated; /* of paths: all limited points; points whose gradients were needed */
  long rows;                          /* gradients computed: of objectives, criteria and points together */
  int direct, adjoint;                /* gradient evaluations by direct differentiation and by the adjoint */
  int replayed;                       /* evaluations from the restart file */
  double seconds;
  double objective_error;   /* of the steps; NAN: not estimated */
  bool error_regular;       /* the estimate is better than a guess */
  long products;            /* with second derivatives; a matrix counts as one for each unknown */
  mbg_optimize_order order; /* mbg_optimize_curvature: second-order conditions */
  int curvatures, shifts;   /* lengths of lists */
} mbg_optimize_summary;
MBG_API const mbg_optimize_summary *mbg_optimize_get_summary(const mbg_optimize *opt);

typedef struct {
  const char *name, *unit;
  int index; /* in the parameter vector of the model */
  double start, value, min, max;
  int at_bound;      /* -1: at min, 1: at max, 0: free */
  double multiplier; /* of the active bound: gain of the objective per unit of the bound; 0: free */
} mbg_optimize_parameter;
MBG_API const mbg_optimize_parameter *mbg_optimize_get_parameter(const mbg_optimize *opt, int index);

/* One side of one limit in one load case. */
typedef struct {
  const char *name, *run; /* run: NULL for a model without runs */
  const char *kind;       /* "min", "max", "equal" */
  double limit, scale;
  double value;       /* nearest to the limit, or furthest beyond it */
  double violation;   /* in units of the scale; 0: satisfied */
  bool path;          /* a limit at every time step */
  int points;         /* of a path, else 1 */
  int listed, active; /* points among the candidates of the last solve; points with a multiplier */
  double time;        /* of the value; NAN: no path */
  double multiplier;  /* sum over its points: gain of the objective per unit of the limit */
} mbg_optimize_constraint;
MBG_API const mbg_optimize_constraint *mbg_optimize_get_constraint(const mbg_optimize *opt, int index);

/* An active point of a constraint. */
typedef struct {
  int constraint;
  double time, multiplier; /* time: NAN: no path */
} mbg_optimize_active;
MBG_API const mbg_optimize_active *mbg_optimize_get_active(const mbg_optimize *opt, int index);

typedef struct {
  const char *run; /* NULL for a model without runs */
  double weight;
  double objective; /* NAN: this load case has limits only */
} mbg_optimize_case;
MBG_API const mbg_optimize_case *mbg_optimize_get_case(const mbg_optimize *opt, int index);

/* An iteration (summary.history). */
typedef struct {
  double objective, violation, optimality, best, step;
} mbg_optimize_record;
MBG_API const mbg_optimize_record *mbg_optimize_get_record(const mbg_optimize *opt, int index);

/* Eigenvalues of the reduced Hessian of the Lagrangian by the scaled unknowns, ascending (summary.curvatures). */
MBG_API const double *mbg_optimize_curvatures(const mbg_optimize *opt);

/* How the optimum moves with a number of the model: a parameter that is not varied, or an attribute of the first load
   case (mbg_run_attributes). Holds until the set of active constraints changes. */
typedef struct {
  const char *owner, *key, *unit; /* "parameter" and its name, or as those of attributes */
  double value, scale;            /* scale: size of a change, for ranking */
  double objective;               /* derivative of the best objective by the number */
  double *by;                     /* derivatives of the optimized parameters by it (parameters) */
} mbg_optimize_shift;
MBG_API const mbg_optimize_shift *mbg_optimize_get_shift(const mbg_optimize *opt, int index);

MBG_API const char *mbg_optimize_warning(const mbg_optimize *opt, int index);

/* All parameters of the model at the solution (mbg_model_parameter_count). */
MBG_API const double *mbg_optimize_parameters(const mbg_optimize *opt);

/* The source of the model with the optimized values in place of its own. */
MBG_API int mbg_optimize_model_text(mbg_context *ctx, const mbg_optimize *opt, char **text);

#ifdef __cplusplus
}
#endif

#endif
