/* optimize_report: the result of an optimization for readers, for programs, as plots. */
#ifndef CLI_OPTIMIZE_REPORT_H
#define CLI_OPTIMIZE_REPORT_H

#include "mbgrad/optimize.h"

#include <stdbool.h>

#include <stdio.h>

/* One of several starts. */
typedef struct {
  int status; /* of the library: 0, or why there is no result */
  double objective_start, objective, violation, optimality;
  int reason, iterations, feasible;
} cli_start;

void cli_optimize_print(const mbg_optimize *opt, int nstart, const cli_start *starts, int best, bool full);
void cli_optimize_json(const mbg_optimize *opt, int nstart, const cli_start *starts, int best);

/* history.svg and, where beams have a filling, design.svg in the folder, which is made. Exit status. */
int cli_optimize_plots(mbg_context *ctx, const mbg_optimize *opt, const mbg_run_options *run, const char *folder);
/* The history as <svg> elements. */
void cli_optimize_put(const mbg_optimize *opt, FILE *file);

#endif
