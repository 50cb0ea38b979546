/* redundancy: which parameters may vary when constraint rows are redundant (theory 0, section 5). */
#ifndef MBG_START_REDUNDANCY_H
#define MBG_START_REDUNDANCY_H

#include "start/start.h"

/* A parameter that would break the redundant assembly has no gradient: MBG_ERROR_INPUT that names parameter and row.
   The dependence of the rows, B_D = T B_I, must hold to first order at the varied start, for positions and for all
   motions that the constraints allow. After the start is solved; the system is used as scratch. */
int mbg__check_parameters(mbg_context *ctx, mbg__system *sys, mbg__start_work *start);

#endif
