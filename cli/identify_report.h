/* identify_report: the results of an identification for readers, for programs, and as plots. */
#ifndef CLI_IDENTIFY_REPORT_H
#define CLI_IDENTIFY_REPORT_H

#include "mbgrad/identify.h"

#include <stdbool.h>

#include <stdio.h>

void cli_identify_print(const mbg_identify *id, bool full);
void cli_identify_json(const mbg_identify *id);

/* Plots of all channels, fit-RUN-CRITERION.svg, into a folder, which is made. Exit status. */
int cli_identify_plots(const mbg_identify *id, const char *folder);
/* The same as <svg> elements. */
void cli_identify_put(const mbg_identify *id, FILE *file);

#endif
