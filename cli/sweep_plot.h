/* sweep_plot: criteria over varied parameters. */
#ifndef CLI_SWEEP_PLOT_H
#define CLI_SWEEP_PLOT_H

/* A table of points. */
typedef struct {
  const char *title;
  int naxis;
  const char *const *names, *const *units; /* of the varied parameters              (naxis) */
  const int *counts;                       /* of a grid, the last axis runs fastest; NULL: a sample (naxis) */
  int points;
  const double *x; /*                                                           (points x naxis) */
  int ncriterion;
  const char *const *criteria; /*                                               (ncriterion) */
  const double *values;        /* NAN: could not be simulated                   (points x ncriterion) */
  const double *slopes;        /* derivatives, or NULL                          (points x ncriterion x naxis) */
} cli_sweep_table;

/* One varied parameter: each criterion over it, with its slopes; a grid of two: a curve for each value of the one with
   fewer values; more, or a sample: points. Exit status. */
int cli_sweep_plot(const char *path, const cli_sweep_table *table);

#endif
