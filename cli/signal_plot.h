/* signal_plot: signals of a run in panels, over time or over each other, with other runs beside them. */
#ifndef CLI_SIGNAL_PLOT_H
#define CLI_SIGNAL_PLOT_H

#include "results.h"

#define CLI_OPTIONS_PANELS                                                                                             \
  {"panels", "A,B;X:Y", false, "with --plot: signals A and B in one panel, Y over X in another, ..."},                 \
      {"log", "AXES", false, "with --plot: logarithmic axes: x, y or xy"},                                             \
      {"columns", "N", false, "with --plot: panels beside each other"}, {                                              \
    "beside", "FILE.csv", true, "with --plot: the same signals of another run, written by --out"                       \
  }

/* Errors of these options that are visible before the run. */
int cli_signal_plot_check(const cli_args *args, const mbg_model *model);
/* Draws what the options say. Exit status. */
int cli_signal_plot(const cli_args *args, const cli_series *series, const mbg_model *model, const char *path);
/* Each signal (at most 24 of them) as an <svg> element. */
void cli_signal_plot_put(FILE *file, const cli_series *series, const mbg_model *model);

#endif
