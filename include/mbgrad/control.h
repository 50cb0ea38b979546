/* mbgrad: controls u(t) that minimize criteria. */
#ifndef MBGRAD_CONTROL_H
#define MBGRAD_CONTROL_H

#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- the problem */

/* Finds samples u_k of chosen controls that minimize

     J(u) = sum_i weight_i psi_i + sum_c effort_c/2 int u_c(t)^2 dt,      min_c <= u_c,k <= max_c

   with criteria psi_i of the model. The gradient by all samples comes from one adjoint run. With several stages the
   weight of the effort falls by a factor from stage to stage; each stage starts from the control of the previous
   one. */
typedef struct mbg_control mbg_control;

/* Overrides of the section "control" of the model. Numbers that are NAN or 0 and texts that are NULL come from the
   section, then from the defaults in brackets. */
typedef struct {
  size_t size;                /* of this structure: set by mbg_control_options_default */
  const mbg_run_options *run; /* NULL: defaults; its interrupt callback stops the search as well */
  const double *parameters;   /* mbg_model_parameter_count; NULL: the nominal values */
  int nname;
  const char *const *names; /* controls to be found                          [all] (nname) */
  int samples;              /* of each control, evenly over the run          [their own times] */
  const char *interpolation;
  double min, max; /* of each control                                        [unbounded] */
  int nterm;
  const char *const *criteria; /* objective                                  (nterm) */
  const double *weights;       /* NULL: ones                                 (nterm) */
  double effort;               /*                                            [0] */
  int stages;                  /*                                            [1] */
  double reduction;            /* of the effort's weight, per stage          [0.1] */
  const char *optimizer;       /* "lbfgs", "ipopt", "ipopt-exact", "newton", "cg", "steepest"   [lbfgs] */
  int iterations;              /* limit of a stage                           [200] */
  double gradient_tolerance;   /* reduction of the projected gradient        [1e-5] */
  const char *restart;         /* file to which every evaluation is appended; NULL: none */
  bool resume;                 /* replay the restart file first; of another search: begin with its best control */
  /* Called after each iteration, with the summary up to date; true stops and keeps the best control; may be NULL. */
  bool (*progress)(void *user, const mbg_control *control);
  void *user; /* first argument of progress */
} mbg_control_options;

MBG_API void mbg_control_options_default(mbg_control_options *options, size_t size);

/* The model is referenced. */
MBG_API int mbg_control_create(mbg_context *ctx, const mbg_model *model, const mbg_control_options *options,
                               mbg_control **out);
MBG_API void mbg_control_destroy(mbg_control *control);

/* Searches. MBG_OK when a control was found that can be simulated, converged or not: see the summary. A status of the
   simulation when the first control cannot be simulated. */
MBG_API int mbg_control_solve(mbg_context *ctx, mbg_control *control);

/* ---------------------------------------------------------------------- results */

typedef struct {
  const char *optimizer;
  const char *status; /* "converged", "limit of iterations", "interrupted", ... */
  bool converged, interrupted;
  int controls, terms;                 /* lengths of the lists below */
  int stage, stages;                   /* stage: the last one reached, from 0 */
  int iterations, evaluations, failed; /* of all stages; failed: controls that could not be simulated */
  double objective, objective_start; /* with the effort's weight of the last stage: of the best and the first control */
  double effort;                     /* sum_c effort_c/2 int u_c^2 dt, its part of the objective */
  double gradient, gradient_start;   /* L2 norm of the projected gradient; start: before any restart */
  int at_bounds;                     /* samples at an active bound */
} mbg_control_summary;
MBG_API const mbg_control_summary *mbg_control_get_summary(const mbg_control *control);

/* A term of the objective, with the value at the best control. */
typedef struct {
  const char *criterion;
  double weight, value;
} mbg_control_term;
MBG_API const mbg_control_term *mbg_control_get_term(const mbg_control *control, int index);

/* A control: times and values of the best samples so far, bounds. */
typedef struct {
  const char *name, *interpolation;
  int samples;
  const double *times, *values; /* (samples) */
  double min, max;
} mbg_control_samples;
MBG_API const mbg_control_samples *mbg_control_get_samples(const mbg_control *control, int index);

/* The model with the samples as additional parameters (vectors named after the controls), and its parameter vector
   at the best control: for runs with other options. */
MBG_API const mbg_model *mbg_control_model(const mbg_control *control);
MBG_API const double *mbg_control_parameters(const mbg_control *control);

/* ---------------------------------------------------------------------- files */

/* Writes the best samples as CSV: columns t and the name of the control. index -1 writes all controls into one file,
   which needs equal times. A model reads it back: {"file": ..., "times": "t", "values": NAME}. */
MBG_API int mbg_control_write(mbg_context *ctx, const mbg_control *control, int index, const char *path);
/* True when all controls have the same times. */
MBG_API bool mbg_control_same_times(const mbg_control *control);

/* Writes the model with the best samples in place of its own. Data files and parts keep their names: write it beside
   the model. MBG_ERROR_UNSUPPORTED when the control belongs to a part. */
MBG_API int mbg_control_write_model(mbg_context *ctx, const mbg_control *control, const char *path);

/* Stage and best control so far, as JSON. After reading it, or the restart file of another search, the next solve
   starts there; the controls must be the same, their samples may differ. */
MBG_API int mbg_control_write_restart(mbg_context *ctx, const mbg_control *control, const char *path);
MBG_API int mbg_control_read_restart(mbg_context *ctx, mbg_control *control, const char *path);

#ifdef __cplusplus
}
#endif

#endif
