/* transitions: discrete linear models along a run, printed and written. */
#ifndef CLI_TRANSITIONS_H
#define CLI_TRANSITIONS_H

#include "run_options.h"

#include "mbgrad/linearize.h"

/* mbgrad linearize --transition: tables or JSON, and the file of --out. Exit status. */
int cli_transitions(cli_run *run, const cli_args *args, const mbg_linearize_options *options, double interval);

#endif
