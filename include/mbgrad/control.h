/* mbgrad: controls u(t) that minimize criteria. */
#ifndef MBGRAD_CONTROL_H
#define MBGRAD_CONTROL_H

#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- the problem */

/* The samples u_k of chosen controls are found that minimize

     J(u) = sum_i weight_i psi_i + sum_c effort_c/2 int u_c(t)^2 dt,      min_c <= u_c,k <= max_c

   with criteria psi_i of the model, on the gradient by the samples from one adjoint run. With several stages the effort's
   weight falls by a factor from one to the next, each starting from the control of the one before. */
typedef struct mbg_control mbg_control;

/* What overrides the section "control" of the model. Numbers that are NAN or 0 and texts that are NULL are taken from it,
   then from the defaults in brackets. */
typedef struct {
  int nname;
  const char *const *names; /* controls to be found                          [all] */
  int samples;              /* of each of them, evenly over the run          [their own times] */
  const char *interpolation;
  double min, max; /* of each of them                                        [none] */
  int nterm;
  const char *const *criteria; /* objective                                  (nterm) */
  const double *weights;       /* NULL: ones                                 (nterm) */
  double effort;               /*                                            [0] */
  int stages;                  /*                                            [1] */
  double reduction;            /* of the effort's weight, per stage          [0.1] */
  const char *optimizer;       /* "lbfgs", "ipopt", "cg", "steepest"         [lbfgs] */
  int iterations;              /* most of a stage                            [200] */
  double gradient_tolerance;   /* fall of the projected gradient             [1e-5] */
  /* After each iteration; not 0: stop, the best control is kept. */
  int (*progress)(void *user, const mbg_control *control);
  void *user;
} mbg_control_options;

MBG_API void mbg_control_options_default(mbg_control_options *options);

/* model is referenced. run, options: may be NULL; the interrupt callback of run stops the search, too. parameters: values
   of the model's parameters, NULL for the nominal ones. */
MBG_API int mbg_control_create(mbg_context *ctx, const mbg_model *model, const mbg_run_options *run,
                               const mbg_control_options *options, const double *parameters, mbg_control **out);
MBG_API void mbg_control_destroy(mbg_control *control);

/* ---------------------------------------------------------------------- solution */

/* Searches. MBG_OK when a control was found that can be simulated, however it ended: see mbg_control_result_of.
   MBG_ERROR_CONVERGENCE (and others of a simulation) when the start control cannot be simulated. */
MBG_API int mbg_control_solve(mbg_context *ctx, mbg_control *control);

typedef struct {
  const char *optimizer;
  const char *status; /* "converged", "limit of iterations", "interrupted", ... */
  int converged, interrupted;
  int stage, stages;                   /* stage: 0 .. stages-1, the one that was reached */
  int iterations, evaluations, failed; /* of all stages; failed: controls that could not be simulated */
  double objective, objective_start; /* with the last stage's weight of the effort; at the best, at the start control */
  double effort;                     /* sum_c effort_c/2 int u_c^2 dt, its part of the objective */
  double gradient, gradient_start;   /* L2 norm of the projected gradient; start: before any restart */
  int at_bounds;                     /* samples at a bound that they would like to cross */
} mbg_control_result;
MBG_API const mbg_control_result *mbg_control_result_of(const mbg_control *control);

/* The terms of the objective: name of the criterion, weight, value at the best control. */
MBG_API int mbg_control_term_count(const mbg_control *control);
MBG_API int mbg_control_term(const mbg_control *control, int index, const char **name, double *weight, double *value);

/* The controls: name, number of samples, their times and values (best so far), bounds. Arrays are borrowed. */
typedef struct {
  const char *name, *interpolation;
  int samples;
  const double *times, *values;
  double min, max;
} mbg_control_samples;
MBG_API int mbg_control_count(const mbg_control *control);
MBG_API int mbg_control_at(const mbg_control *control, int index, mbg_control_samples *samples);

/* The model with these samples as further parameters (vectors called as the controls), and its parameter vector with the
   best ones: for runs with other options. Borrowed. */
MBG_API const mbg_model *mbg_control_model(const mbg_control *control);
MBG_API const double *mbg_control_parameters(const mbg_control *control);

/* ---------------------------------------------------------------------- files */

/* The control as CSV: columns t and the name of the control; several controls in one file when their times agree, else
   index says which one (-1: all). A control reads it back: {"file": ..., "times": "t", "values": NAME}. */
MBG_API int mbg_control_write(mbg_context *ctx, const mbg_control *control, int index, const char *path);
MBG_API int mbg_control_same_times(const mbg_control *control);

/* The model's file with the control found in place of its own. Data files and parts keep their names: write it beside the
   model. MBG_ERROR_UNSUPPORTED when the control belongs to a part. */
MBG_API int mbg_control_write_model(mbg_context *ctx, const mbg_control *control, const char *path);

/* Restart file: stage and best control so far, as JSON. resume makes the next solve start there; the controls must be the
   same, the samples may be others. */
MBG_API int mbg_control_save(mbg_context *ctx, const mbg_control *control, const char *path);
MBG_API int mbg_control_resume(mbg_context *ctx, mbg_control *control, const char *path);

#ifdef __cplusplus
}
#endif

#endif
