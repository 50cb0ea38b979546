/* plot_axis: ranges, ticks and their labels. */
#ifndef CLI_PLOT_AXIS_H
#define CLI_PLOT_AXIS_H

#include <stdbool.h>

enum { CLI_TICKS = 24, CLI_MINOR = 160 };

/* Data from low to high onto pixels from begin to end. */
typedef struct {
  bool log, whole; /* whole: ticks at whole numbers only */
  double low, high;
  double begin, end;
  int nskipped; /* values that a logarithmic axis cannot show */
  int ntick, nminor;
  double tick[CLI_TICKS], minor[CLI_MINOR];
  char label[CLI_TICKS][24];
  char note[64]; /* factor and offset of the labels, "" without */
} cli_axis;

/* An axis without data. */
cli_axis cli_axis_make(bool logarithmic);
/* Can the value be shown? */
bool cli_axis_fits(const cli_axis *axis, double x);
double cli_axis_place(const cli_axis *axis, double x);
void cli_axis_widen(cli_axis *axis, double x);
/* Makes the range one that can be drawn: not empty; rounded: up to the next ticks. */
void cli_axis_finish(cli_axis *axis, bool rounded);
/* Room on both sides, so that the range becomes `range`. */
void cli_axis_stretch(cli_axis *axis, double range);
/* About `count` ticks, with labels. */
void cli_axis_ticks(cli_axis *axis, int count);
/* Width of the widest label, in pixels at this size. */
double cli_axis_label_width(const cli_axis *axis, double size);

#endif
