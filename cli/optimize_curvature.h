/* Second order at an optimum, when the command has asked for it. */
#ifndef CLI_OPTIMIZE_CURVATURE_H
#define CLI_OPTIMIZE_CURVATURE_H

#include "mbgrad/optimize.h"

#include <stdbool.h>

/* full: every number of the model, not the most important ones alone */
void cli_curvature_print(const mbg_optimize *opt, bool full);
/* members of an object that has begun */
void cli_curvature_json(const mbg_optimize *opt);

#endif
