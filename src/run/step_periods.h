/* step_periods: the motion that begins at the start, against the step. */
#ifndef MBG_RUN_STEP_PERIODS_H
#define MBG_RUN_STEP_PERIODS_H

#include "start/start.h"
#include "trajectory/trajectory.h"

/* What the linearized model at the start says of the step. */
typedef struct {
  double energy; /* in vibrations of more than MBG__SWING_LEAST-th of a period in a step; 0: none, or not known */
  double period; /* of these, and the body that moves most in them */
  int body;
  double rate;  /* explicit steps: the largest rate of a vibration or decay, 1/s; 0: not known */
  int stiffest; /* and the body that moves most in it */
} mbg__start_motion;

enum { MBG__SWING_LEAST = 10 }; /* steps in a period: fewer do not follow it */

/* Costs about as much as two steps. After start_solve; the system is used as scratch. explicit_: `rate` is wanted. A
   model whose accelerations are not determined leaves zeros. */
int mbg__start_motion_find(mbg_context *ctx, mbg__system *sys, const mbg__start_result *start, double step,
                           bool explicit_, mbg__start_motion *out);

#endif
