/* creep: what regularized friction leaves in the criteria. A body that friction holds creeps, at its slip speed times
   atanh of the share of the limit; without it a criterion is nearly psi - vs dpsi/dvs (theory 7, section 10). */
#ifndef MBGRAD_CLI_CREEP_H
#define MBGRAD_CLI_CREEP_H

#include "gradient_table.h"
#include "mbgrad/run.h"

/* A table of the frictions whose creep changes one of the criteria by more than 1e-6 of it; nothing without frictions.
   The run is simulated at the parameters. */
void cli_creep_print(mbg_context *ctx, mbg_run *run, const mbg_model *model, const double *parameters,
                     const cli_criteria *chosen);

#endif
