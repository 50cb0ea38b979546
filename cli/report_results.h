/* report_results: results of searches as sections of a page. */
#ifndef CLI_REPORT_RESULTS_H
#define CLI_REPORT_RESULTS_H

#include "run_options.h"

#include <stdio.h>

/* Runs the search that the model describes, from the parameters of the session, and writes its results. Exit status,
   with messages; CLI_DONE also when it did not converge, which the page says. */
int cli_report_optimize(FILE *file, cli_run *run);
int cli_report_identify(FILE *file, cli_run *run);
int cli_report_control(FILE *file, cli_run *run);

#endif
