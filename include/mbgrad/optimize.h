/* mbgrad: designs that minimize criteria, under constraints. */
#ifndef MBGRAD_OPTIMIZE_H
#define MBGRAD_OPTIMIZE_H

#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- the problem */

/* The section "optimize" of a model file: parameters p are found that minimize

     sum_r weight_r psi_r(p)   or   max_r weight_r psi_r(p)            over the load cases r (the runs of the file)

   within their bounds, with limits of criteria in every load case, of signals at every time step ("path" criteria), and of
   means of parameters. Of a path only the points that may become active are differentiated (theory 4, section 9). */
typedef struct mbg_optimize mbg_optimize;

/* Why a search ended. */
typedef enum {
  MBG_OPTIMIZE_NOT_RUN,
  MBG_OPTIMIZE_OPTIMAL,     /* feasible, and the conditions of optimality hold */
  MBG_OPTIMIZE_SETTLED,     /* feasible, and the objective no longer changes ("settle") */
  MBG_OPTIMIZE_STUCK,       /* feasible, but the optimizer found no further step before the conditions held */
  MBG_OPTIMIZE_ITERATIONS,  /* too many iterations */
  MBG_OPTIMIZE_INFEASIBLE,  /* no feasible design was found */
  MBG_OPTIMIZE_INTERRUPTED, /* the best design so far is kept */
} mbg_optimize_reason;

/* A sentence for a reason; never NULL. */
MBG_API const char *mbg_optimize_reason_text(int reason);

/* Optimizers by index: "lbfgs", "slsqp", "mma", "ipopt", ...; NULL when there is no such index. */
MBG_API const char *mbg_optimize_optimizer(int index);

/* Where a search stands, after an iteration. */
typedef struct {
  int iteration, most; /* points at which gradients were computed; the limit */
  double objective;    /* of this point */
  double violation;    /* largest one, of every time step, in units of the constraints' scales */
  double optimality,
      step;       /* residual of the conditions relative to the start; largest relative change of a parameter */
  double best;    /* best feasible objective so far; NaN: none */
  double seconds; /* since the beginning, without what was replayed */
  int replayed;   /* this evaluation was read from the restart file */
} mbg_optimize_state;

typedef struct {
  mbg_run_options run;      /* of every load case; interrupt too */
  const char *run_name;     /* this run of the file alone; NULL: all that count */
  const double *parameters; /* start (mbg_model_parameter_count); NULL: the values of the file */
  int place;                /* 0: start there; k: at place k of those spread evenly over the bounds */
  unsigned seed;            /* shifts these places; 1 */
  const char *optimizer;    /* NULL: that of the file, else by type and size of the problem */
  int iterations;           /* 0: those of the file, else 200 */
  double tolerance;         /* of the conditions of optimality; NAN: that of the file, else 1e-6 */
  int threads;              /* load cases at a time; 1 */
  const char *restart;      /* file to which every evaluation is appended; NULL: none */
  int resume;               /* replay it first */
  int (*progress)(void *user, const mbg_optimize_state *state); /* not 0: stop, the best design is kept; may be NULL */
  void *user;
} mbg_optimize_options;

MBG_API void mbg_optimize_options_default(mbg_optimize_options *options);

/* Loads the model for each of its load cases and simulates each of them at the start. path: as in mbg_model_load. options may
   be NULL; its texts and arrays are referenced. */
MBG_API int mbg_optimize_create(mbg_context *ctx, const char *path, const mbg_optimize_options *options,
                                mbg_optimize **out);
MBG_API void mbg_optimize_destroy(mbg_optimize *opt); /* accepts NULL */

/* Searches. MBG_OK also when it did not converge or was interrupted: see the summary. A simulation that fails on the way makes
   the optimizer step back; one that fails at the start is an error. */
MBG_API int mbg_optimize_solve(mbg_context *ctx, mbg_optimize *opt);

/* Objective and (may be NULL) its gradient by the optimized parameters, in their order, at values of these. For tests and for
   optimizers of one's own. */
MBG_API int mbg_optimize_evaluate(mbg_context *ctx, mbg_optimize *opt, const double *values, double *objective,
                                  double *violation, double *gradient);

/* ---------------------------------------------------------------------- results */

/* Everything below belongs to the problem and holds for its last solution. */

typedef struct {
  const mbg_model *model; /* of its first load case */
  const char *formulation, *optimizer;
  int parameters, cases, constraints, active, history, warnings; /* lengths of lists */
  mbg_optimize_reason reason;
  int converged; /* OPTIMAL or SETTLED */
  int feasible;
  int solves;                            /* of the optimizer: the list of path points was extended between them */
  int iterations, evaluations, failures; /* failures: simulations that could not be finished */
  double objective, objective_start;
  double violation;                /* largest one, in units of the constraints' scales; at every time step */
  double optimality;               /* residual of the conditions, relative to the projected gradient at the start */
  double gradient, gradient_start; /* norms of the projected gradient of the objective, by scaled parameters */
  long points,
      points_differentiated; /* of paths: all that are limited; those of which gradients were needed, once each */
  long rows;                 /* gradients that were computed, of objectives, criteria and points together */
  int direct, adjoint;       /* times that they came from direct differentiation and from the adjoint */
  int replayed;              /* evaluations from the restart file */
  double seconds;
} mbg_optimize_summary;
MBG_API const mbg_optimize_summary *mbg_optimize_summary_of(const mbg_optimize *opt);

typedef struct {
  const char *name, *unit;
  int index; /* in the parameter vector of the model */
  double start, value, min, max;
  int at_bound;      /* -1: at min, 1: at max, 0: free */
  double multiplier; /* of the bound: what the objective would gain per unit of the parameter; 0: free */
} mbg_optimize_parameter;
MBG_API const mbg_optimize_parameter *mbg_optimize_parameter_at(const mbg_optimize *opt, int index);

/* One side of one limit in one load case. */
typedef struct {
  const char *name, *run; /* run: NULL when the model has no runs */
  const char *kind;       /* "min", "max", "equal" */
  double limit, scale;
  double value;       /* the one nearest to the limit, or furthest beyond it */
  double violation;   /* in units of the scale; 0: none */
  int path, points;   /* points: of a path, else 1 */
  int listed, active; /* points among the candidates of the last solve; points with a multiplier */
  double time;        /* of the value; NaN: no path */
  double multiplier;  /* sum over its points: what the objective would gain per unit of the limit */
} mbg_optimize_constraint;
MBG_API const mbg_optimize_constraint *mbg_optimize_constraint_at(const mbg_optimize *opt, int index);

/* Active constraints one by one: which one, time (NaN: no path), multiplier. */
typedef struct {
  int constraint;
  double time, multiplier;
} mbg_optimize_active;
MBG_API const mbg_optimize_active *mbg_optimize_active_at(const mbg_optimize *opt, int index);

/* The load cases: name of the run (NULL: none), weight, objective there (NaN: none). */
MBG_API int mbg_optimize_case(const mbg_optimize *opt, int index, const char **run, double *weight, double *objective);

/* The iterations (summary.history). */
typedef struct {
  double objective, violation, optimality, best, step;
} mbg_optimize_record;
MBG_API const mbg_optimize_record *mbg_optimize_history_at(const mbg_optimize *opt, int index);

MBG_API const char *mbg_optimize_warning_at(const mbg_optimize *opt, int index);

/* All parameters of the model at the solution (mbg_model_parameter_count). */
MBG_API const double *mbg_optimize_parameters(const mbg_optimize *opt);

/* The model file with the optimized values in place of its own. *text is yours: mbg_text_destroy. */
MBG_API int mbg_optimize_model_text(mbg_context *ctx, const mbg_optimize *opt, char **text);

#ifdef __cplusplus
}
#endif

#endif
