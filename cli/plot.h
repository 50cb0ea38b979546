/* plot: panels of curves, as SVG, PNG and PDF files or inside of pages. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include "canvas.h"

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
  int colour, dash;    /* > 0: number of its colour and of its dashes; 0: by its place in the panel */
} cli_curve;

/* Legends stand above the axes, where they cover nothing. */
typedef struct {
  const char *title, *x_label, *y_label; /* may be NULL */
  bool log_x, log_y;
  bool whole_x;       /* x counts: ticks at whole numbers */
  bool equal;         /* one length in x and y is the same on paper */
  bool no_order;      /* curves of a plane: x runs to and fro */
  double high;        /* > 0: height of the axes in parts of the usual one */
  const char *remark; /* small, beside the title; may be NULL */
  int ncurve;
  const cli_curve *curves; /* (ncurve) */
} cli_panel;

/* Panels in rows of `columns`, 0: as many as their number suggests. cli_plot_write: CLI_DONE, or CLI_FAILED with a
   message when the file cannot be written; cli_plot_put: an <svg> element in another document. */
int cli_plot_write(const char *path, const char *title, const cli_panel *panels, int npanel);
int cli_plot_grid(const char *path, const char *title, const cli_panel *panels, int npanel, int columns);
void cli_plot_put(FILE *file, const char *title, const cli_panel *panels, int npanel, int columns);

/* Name and unit for an axis, "F [N]"; the name alone when the unit is "". To be freed. */
char *cli_plot_label(const char *name, const char *unit);

/* Colour and dashes of curve number k: 14 that differ, also for readers who see few colours, then again. */
const char *cli_plot_colour(int k);
const char *cli_plot_dash(int k);

#endif
