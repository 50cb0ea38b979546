/* design_picture: beams with a filling, drawn with the width that each element has kept. */
#ifndef CLI_DESIGN_PICTURE_H
#define CLI_DESIGN_PICTURE_H

#include "mbgrad/optimize.h"

/* Nothing is written when no beam of the model has a filling per element. Exit status. */
int cli_design_picture(mbg_context *ctx, const mbg_optimize *opt, const mbg_run_options *run, const char *path);

#endif
