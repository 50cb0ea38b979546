/* report_results: results of searches as sections of a page. */
#ifndef CLI_REPORT_RESULTS_H
#define CLI_REPORT_RESULTS_H

#include "mbgrad/control.h"
#include "mbgrad/identify.h"
#include "mbgrad/optimize.h"
#include "run_options.h"

#include <stdio.h>

/* The searches that the options --optimize, --identify and --control ask for; NULL: not asked for. */
typedef struct {
  mbg_run_options run;
  mbg_optimize *optimize;
  mbg_identify *identify;
  mbg_control *control;
} cli_searches;

/* Prepares the searches that the model describes, from the parameters of the session: a model without such a section
   is found before any long work. searches: zeros; it must stay where it is. Exit status, with messages. */
int cli_searches_make(cli_searches *searches, const cli_args *args, cli_run *run);
void cli_searches_destroy(cli_searches *searches);

/* Run the searches and write their results as sections. Exit status, with messages; CLI_DONE also when one did not
   converge, which the page says. */
int cli_searches_put(FILE *file, cli_searches *searches, cli_run *run);

#endif
