/* plan: how a run goes, from the model's run section and the caller's options. */
#ifndef MBG_RUN_PLAN_H
#define MBG_RUN_PLAN_H

#include "formulations/formulation.h"
#include "mbgrad/run.h"

/* used: signals of the criteria first, in the order of the criteria. Memory in the arena. */
int mbg__plan_make(mbg_context *ctx, mbg__arena *arena, const mbg_model *model, const mbg__formulation *formulation,
                   const mbg_run_options *options, const int *used, mbg__run_plan *plan);
/* Accuracy for which the run finds its steps, from the options or the model; 0: none. */
double mbg__plan_accuracy(const mbg_model *model, const mbg_run_options *options);
/* Times and step are possible. */
int mbg__plan_check(mbg_context *ctx, const mbg__run_plan *plan);

#endif
