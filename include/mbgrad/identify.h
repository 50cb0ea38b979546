/* mbgrad: parameters from measurements. */
#ifndef MBGRAD_IDENTIFY_H
#define MBGRAD_IDENTIFY_H

#include "mbgrad/ranks.h"
#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fits parameters p of a model to measured signals: least squares of the residuals

     r_k = sqrt(weight_k) (y(t_k, p) - data_k)         cost = 1/2 sum_k r_k^2

   over the samples of all least_squares criteria of all experiments. The experiments are the runs of the model; a
   model without runs, or made for one of them (mbg_model_for_run), is the only experiment. Sensitivities are exact
   for the steps that are made. */
typedef struct mbg_identify mbg_identify;

/* Why a fit stopped. */
typedef enum {
  MBG_IDENTIFY_NOT_RUN,
  MBG_IDENTIFY_GRADIENT,   /* the gradient is zero up to the tolerance */
  MBG_IDENTIFY_STEP,       /* the steps are zero up to the tolerance */
  MBG_IDENTIFY_COST,       /* the cost changes by rounding only */
  MBG_IDENTIFY_ITERATIONS, /* limit of iterations: not converged */
  MBG_IDENTIFY_STUCK,      /* no step lowers the cost: not converged */
  MBG_IDENTIFY_INTERRUPTED /* the best point so far is kept */
} mbg_identify_reason;

/* A sentence for a reason; never NULL. */
MBG_API const char *mbg_identify_reason_text(int reason);

/* ---------------------------------------------------------------------- options */

/* State of a fit after an iteration. */
typedef struct {
  int iteration;
  double cost;
} mbg_identify_state;

typedef struct {
  size_t size;                /* of this structure: set by mbg_identify_options_default */
  const mbg_run_options *run; /* of every experiment, callbacks included; NULL: defaults */
  const double *parameters;   /* start (mbg_model_parameter_count); NULL: the nominal values */
  const char *optimizer;      /* "lm": Levenberg-Marquardt on direct differentiation (NULL: this one);
                                 on the adjoint, for many parameters: "lbfgs", "cg" (conjugate gradients),
                                 "steepest" (descent); "newton": with second derivatives */
  int iterations;             /* limit; 100 */
  double tolerance;           /* of relative steps and of the gradient; 1e-10 */
  int starts;                 /* 1; more: the best of several starts, spread over the bounds */
  unsigned seed;              /* of their places; 1 */
  int homotopy;               /* steps of a continuation whose model is pulled to the data; 0: none */
  double gain;                /* of the pull in its first step, relative to the mass of the model; 1000 */
  bool bias;                  /* estimate the bias of the step by a fit with half the step; true */
  const char *restart;        /* file to which every evaluation is appended; NULL: none */
  bool resume;                /* replay the restart file first */
  /* Called after every iteration; true stops and keeps the best parameters; may be NULL. */
  bool (*progress)(void *user, const mbg_identify_state *state);
  void *user;   /* first argument of progress */
  bool hessian; /* standard errors by second derivatives, too: about two to three gradients per parameter; false */
  int place;    /* -1: fits from all starts; k: from start k alone, as one of several programs that share them */
  const struct mbg_identify_start *known; /* with a place: what the others have found (starts); NULL: nothing */
  int threads;                            /* experiments at a time; 1. With more, the progress of runs is not told */
  const mbg_ranks *ranks; /* referenced; a fit that one of them stops is stopped in all; NULL: one process */
} mbg_identify_options;

MBG_API void mbg_identify_options_default(mbg_identify_options *options, size_t size);

/* ---------------------------------------------------------------------- solving */

/* Prepares a run of the model for each experiment and simulates it at the start. The model is referenced.
   MBG_ERROR_INPUT without parameters, without data, or with fewer samples than parameters. */
MBG_API int mbg_identify_create(mbg_context *ctx, const mbg_model *model, const mbg_identify_options *options,
                                mbg_identify **out);
MBG_API void mbg_identify_destroy(mbg_identify *id);

/* Fits. MBG_OK also for a fit that did not converge or was interrupted: see the summary. The optimizer steps back from
   parameters that cannot be simulated; a simulation that fails at the start is an error. */
MBG_API int mbg_identify_solve(mbg_context *ctx, mbg_identify *id);

/* At values p of the identified parameters, in their order (parameters): residuals r (samples) and their Jacobian by p
   (samples x parameters, column-major; may be NULL); cost and its gradient (parameters) from the adjoint. For tests and
   for other optimizers. */
MBG_API int mbg_identify_residuals(mbg_context *ctx, mbg_identify *id, const double *p, double *r, double *jacobian);
MBG_API int mbg_identify_gradient(mbg_context *ctx, mbg_identify *id, const double *p, double *cost, double *gradient);

/* ---------------------------------------------------------------------- results */

/* Results hold for the last solution. */

typedef struct {
  const mbg_model *model; /* of the first experiment */
  const char *formulation, *optimizer;
  int experiments, channels, parameters; /* lengths of lists */
  int samples;
  int starts, combinations, weak, warnings; /* lengths of lists */
  mbg_identify_reason reason;
  bool converged;
  int iterations, evaluations, failures; /* failures: simulations that did not reach their end */
  double start_cost, cost;
  bool sigma_known; /* every channel has a standard deviation; false: estimated from the residuals */
  double variance;  /* of the weighted residuals: 2 cost / (samples - free parameters) */
  double condition; /* of the Jacobian with columns of length 1; NAN: no free parameter moves a measured signal */
  bool biased;      /* the bias was estimated */
  int replayed;     /* evaluations from the restart file; simulations among them count as made */
} mbg_identify_summary;
MBG_API const mbg_identify_summary *mbg_identify_get_summary(const mbg_identify *id);

typedef struct {
  const char *name, *unit;
  int index; /* in the parameter vector of the model */
  double start, value, min, max;
  double standard_error; /* NAN: at a bound, or not determined */
  double bias;           /* estimated contribution of the step to the value; NAN: not estimated */
  int at_bound;          /* -1: at min, 1: at max, 0: free */
  bool determined;       /* false: the data do not determine it alone */
  double hessian_error;  /* standard error by second derivatives; NAN: not asked for, or not determined */
} mbg_identify_parameter;
MBG_API const mbg_identify_parameter *mbg_identify_get_parameter(const mbg_identify *id, int index);

/* Correlation of two estimates; NAN when one of them has no standard error. */
MBG_API double mbg_identify_correlation(const mbg_identify *id, int i, int j);

/* Singular values of the Jacobian with columns of length 1, decreasing (parameters). */
MBG_API const double *mbg_identify_singular_values(const mbg_identify *id);

/* Combinations of parameters that the data cannot tell apart, and weakly determined ones, a sentence each: "k1 and
   k2 only through k1 + 1.00 k2". */
MBG_API const char *mbg_identify_combination(const mbg_identify *id, int index);
MBG_API const char *mbg_identify_weak(const mbg_identify *id, int index);

/* A least_squares criterion of an experiment. */
typedef struct {
  const char *run, *criterion;       /* run: NULL for a model without runs */
  int samples, missing, outside;     /* used, without a value, outside the run */
  double rms;                        /* of the residual, in units of the signal */
  double chi_square;                 /* sum of squares of the weighted residuals */
  double autocorrelation;            /* of neighbouring residuals: 0 for white noise, and where they are rounding */
  bool white;                        /* false: the autocorrelation is larger than chance allows */
  const char *hint;                  /* about units or sampling; "" without one */
  const double *time, *data, *model; /* (samples) */
} mbg_identify_channel;
MBG_API const mbg_identify_channel *mbg_identify_get_channel(const mbg_identify *id, int index);

typedef struct mbg_identify_start {
  const double *parameters; /* of this start (parameters) */
  double start_cost, cost;  /* NAN: the simulation failed */
  mbg_identify_reason reason;
  int iterations, evaluations, failures;
} mbg_identify_start;
MBG_API const mbg_identify_start *mbg_identify_get_start(const mbg_identify *id, int index);

MBG_API const char *mbg_identify_warning(const mbg_identify *id, int index);

/* The source of the model with the fitted values in place of its own. */
MBG_API int mbg_identify_model_text(mbg_context *ctx, const mbg_identify *id, char **text);

#ifdef __cplusplus
}
#endif

#endif
