/* mbgrad: parameters from measurements. */
#ifndef MBGRAD_IDENTIFY_H
#define MBGRAD_IDENTIFY_H

#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fits parameters p of a model to measured signals: least squares of the residuals

     r_k = sqrt(weight_k) (y(t_k, p) - data_k)         cost = 1/2 sum_k r_k^2

   over the samples of all least_squares criteria of all experiments. The experiments are the runs of the model file
   ("runs"), or the model itself when it has none. Sensitivities are exact for the steps that are made. */
typedef struct mbg_identify mbg_identify;

typedef enum {
  MBG_FIT_LM,   /* Levenberg-Marquardt with bounds, from direct differentiation */
  MBG_FIT_LBFGS /* limited-memory BFGS with bounds, from the adjoint: for many parameters */
} mbg_fit_optimizer;

/* Why a fit stopped. */
typedef enum {
  MBG_FIT_NOT_RUN,
  MBG_FIT_GRADIENT,    /* the gradient is zero up to the tolerance */
  MBG_FIT_STEP,        /* the steps are zero up to the tolerance */
  MBG_FIT_COST,        /* no change of the cost above rounding is left */
  MBG_FIT_ITERATIONS,  /* too many iterations: not converged */
  MBG_FIT_STUCK,       /* no step lowers the cost: not converged */
  MBG_FIT_INTERRUPTED, /* the best point so far is kept */
} mbg_fit_reason;

/* A sentence for a reason; never NULL. */
MBG_API const char *mbg_fit_reason_text(int reason);

/* ---------------------------------------------------------------------- options */

typedef struct {
  mbg_run_options run;      /* of every experiment; interrupt and progress too */
  const char *run_name;     /* this run of the file alone; NULL: all that have data */
  const double *parameters; /* start (mbg_model_parameter_count); NULL: the values of the file */
  mbg_fit_optimizer optimizer;
  int iterations;      /* most; 100 */
  double tolerance;    /* of relative steps and of the gradient; 1e-10 */
  int starts;          /* 1; more: the best of that many starts, spread over the bounds */
  unsigned seed;       /* of their places; 1 */
  int homotopy;        /* steps of the continuation from a model that is pulled to the data; 0: none */
  double gain;         /* of the pull at its first step, relative to the mass of the model; 1000 */
  int bias;            /* 1: estimate the bias of the step by a fit with half of it; 1 */
  const char *restart; /* file to which every evaluation is appended; NULL: none */
  int resume;          /* replay it first */
  void (*report)(void *user, int iteration, double cost); /* after every iteration; may be NULL */
  void *user;                                             /* of report */
} mbg_identify_options;

MBG_API void mbg_identify_options_default(mbg_identify_options *options);

/* ---------------------------------------------------------------------- solving */

/* Loads the model for each of its runs and prepares them. path: as in mbg_model_load. options may be NULL; its texts and
   arrays are referenced. MBG_ERROR_INPUT when there is nothing to identify, no data, or fewer samples than parameters. */
MBG_API int mbg_identify_create(mbg_context *ctx, const char *path, const mbg_identify_options *options,
                                mbg_identify **out);
MBG_API void mbg_identify_destroy(mbg_identify *id); /* accepts NULL */

/* Fits. MBG_OK also when it did not converge or was interrupted: see the summary. A simulation that fails on the way
   makes the optimizer step back; one that fails at the start is an error. */
MBG_API int mbg_identify_solve(mbg_context *ctx, mbg_identify *id);

/* Residuals (summary.samples) and their Jacobian (samples x parameters, column-major, by the parameters themselves; may be
   NULL) at p (parameters: the identified ones, in their order); and the cost and its gradient from the adjoint. For tests
   and for optimizers of one's own. */
MBG_API int mbg_identify_residuals(mbg_context *ctx, mbg_identify *id, const double *p, double *r, double *jacobian);
MBG_API int mbg_identify_gradient(mbg_context *ctx, mbg_identify *id, const double *p, double *cost, double *gradient);

/* ---------------------------------------------------------------------- results */

/* Everything below belongs to the identification and holds for its last solution. */

typedef struct {
  const mbg_model *model; /* for its first experiment */
  const char *formulation;
  mbg_fit_optimizer optimizer;
  int experiments, channels, parameters; /* lengths of lists */
  int samples;
  int starts, combinations, weak, warnings; /* lengths of lists */
  mbg_fit_reason reason;
  int converged;
  int iterations, evaluations, failures; /* failures: simulations that could not be finished */
  double start_cost, cost;
  int sigma_known;  /* every channel has a standard deviation; else the residuals give it */
  double variance;  /* of the weighted residuals: 2 cost / (samples - parameters that are free) */
  double condition; /* of the Jacobian with columns of length 1 */
  int biased;       /* the bias was estimated */
} mbg_identify_summary;
MBG_API const mbg_identify_summary *mbg_identify_summary_of(const mbg_identify *id);

typedef struct {
  const char *name, *unit;
  int index; /* in the parameter vector of the model */
  double start, value, min, max;
  double standard_error; /* NaN: at a bound, or not determined */
  double bias;           /* estimate of what the step adds to the value; NaN: not estimated */
  int at_bound;          /* -1: at min, 1: at max, 0: free */
  int determined;        /* 0: the data say nothing about it alone */
} mbg_identify_parameter;
MBG_API const mbg_identify_parameter *mbg_identify_parameter_at(const mbg_identify *id, int index);

/* Correlation of two estimates; NaN where one of them has no standard error. */
MBG_API double mbg_identify_correlation(const mbg_identify *id, int i, int j);

/* Singular values of the Jacobian with columns of length 1, decreasing (parameters). */
MBG_API const double *mbg_identify_singular_values(const mbg_identify *id);

/* What the data cannot tell apart, a sentence each: "k1 and k2 only through k1 + 1.00 k2"; and what they hardly can. */
MBG_API const char *mbg_identify_combination_at(const mbg_identify *id, int index);
MBG_API const char *mbg_identify_weak_at(const mbg_identify *id, int index);

typedef struct {
  const char *run, *criterion;       /* run: NULL when the model has no runs */
  int samples, missing, outside;     /* used, without a value, outside the run */
  double rms;                        /* of the residual, in units of the signal */
  double chi_square;                 /* sum of squares of the weighted residuals */
  double autocorrelation;            /* of neighbouring residuals: 0 for white noise */
  int white;                         /* 0: it is larger than chance allows */
  const char *hint;                  /* about units or sampling; "" when there is none */
  const double *time, *data, *model; /* (samples) */
} mbg_identify_channel;
MBG_API const mbg_identify_channel *mbg_identify_channel_at(const mbg_identify *id, int index);

typedef struct {
  const double *parameters; /* where it began (parameters) */
  double start_cost, cost;  /* NaN: the simulation failed there */
  mbg_fit_reason reason;
  int iterations;
} mbg_identify_start;
MBG_API const mbg_identify_start *mbg_identify_start_at(const mbg_identify *id, int index);

MBG_API const char *mbg_identify_warning_at(const mbg_identify *id, int index);

/* The model file with the fitted values in place of its own. *text is yours: mbg_text_destroy. */
MBG_API int mbg_identify_model_text(mbg_context *ctx, const mbg_identify *id, char **text);

#ifdef __cplusplus
}
#endif

#endif
