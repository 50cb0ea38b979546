/* gradient_seeds: the gradient of a sum of weights times signals, from a file of weights. */
#ifndef CLI_GRADIENT_SEEDS_H
#define CLI_GRADIENT_SEEDS_H

#include "run_options.h"

/* `mbgrad gradient --seeds FILE.csv`: simulates the run, which keeps all signals, and prints. Exit status. */
int cli_gradient_seeds(const cli_args *args, cli_run *r);

#endif
