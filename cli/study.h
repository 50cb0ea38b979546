/* study: `mbgrad compare MODEL --study`, the comparison of the paper of `qr`. */
#ifndef CLI_STUDY_H
#define CLI_STUDY_H

#include "run_options.h"

/* With --json, --plot FILE and --output DIR of the command line. Exit status. */
int cli_study(const cli_args *args, cli_run *run);

#endif
