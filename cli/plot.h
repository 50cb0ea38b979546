/* plot: line plots as SVG files. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stdio.h>

/* A line through points; points that are not finite, or not positive on a logarithmic axis, interrupt it. */
typedef struct {
  const char *name; /* for the legend; NULL: not in it */
  int count;
  const double *x, *y; /* (count) */
  bool dots;           /* a dot at every point */
  bool dashed;         /* a thin grey line for comparison */
  bool no_line;        /* dots alone */
} cli_curve;

typedef struct {
  const char *title, *x_label, *y_label; /* may be NULL */
  bool log_x, log_y;
  bool legend_right; /* names in the upper right corner instead of the left one */
  int ncurve;
  const cli_curve *curves; /* (ncurve) */
} cli_panel;

/* Panels one below the other. Returns CLI_DONE, or CLI_BAD_INPUT with a message when the file cannot be written. */
int cli_plot_write(const char *path, const char *title, const cli_panel *panels, int npanel);

/* Text as SVG has it. */
void cli_svg_text(FILE *file, const char *text);

#endif
