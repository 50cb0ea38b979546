/* mbgrad: the error of the steps of a run. */
#ifndef MBGRAD_ERROR_H
#define MBGRAD_ERROR_H

#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Estimated error of the steps in one criterion: the distance of its value and of its gradient from those of the exact
   motion. Relative errors are parts of a size: of a value, the larger of |psi| and max_j |p_j g_j|; of a parameter, the
   larger of its own effect |p_j g_j|, a tenth of the largest effect and 1e-10 |psi| (a vector parameter counts as
   one). */
typedef struct {
  double value;             /* absolute; NAN: not known, because the run with finer steps failed */
  double value_relative;    /* */
  const double *gradient;   /* absolute, by every parameter; NULL when gradients were not asked for */
  double gradient_relative; /* of the worst parameter; 0 when gradients were not asked for */
  int worst;                /* index of that parameter, -1: none */
  double order;             /* the error falls with the step to this power; NAN under error control */
  bool regular;             /* the differences of runs with finer steps fall as they should; false: the estimate is
                               no better than a guess */
} mbg_step_error;

/* Estimates the error of the steps of the last simulation in every criterion, with their gradients when asked for,
   by the method given. Simulates with double and with half the steps, and with a quarter where these disagree (about
   2.5 or 6.5 further simulations and gradients); under error control with a hundredth of the tolerance. The run
   itself keeps its trajectory and its results. */
MBG_API int mbg_run_error(mbg_context *ctx, mbg_run *run, mbg_method method, bool gradients);

/* The last estimate of a criterion, NULL without one. It lives until the next mbg_run_error. */
MBG_API const mbg_step_error *mbg_run_get_error(const mbg_run *run, int criterion);

/* Step of the run; under error control its relative tolerance. */
MBG_API double mbg_run_step(const mbg_run *run);
MBG_API bool mbg_run_controlled(const mbg_run *run);

/* The step (under error control the tolerance) that would bring the relative error of a criterion (-1: of every one)
   and of its gradient to this accuracy, by the last estimate; NAN when the estimate gives none. */
MBG_API double mbg_run_step_for(const mbg_run *run, int criterion, double accuracy);

#ifdef __cplusplus
}
#endif

#endif
