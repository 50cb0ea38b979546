/* uncertainty_report: how criteria, or frequencies of modes, scatter, as tables and as JSON. */
#ifndef CLI_UNCERTAINTY_REPORT_H
#define CLI_UNCERTAINTY_REPORT_H

#include "gradient_table.h"
#include "run_options.h"
#include "scatter.h"

/* What samples say of a criterion. */
typedef struct {
  int count;
  double mean, deviation, skewness; /* count - 1 in the variance */
  double mean_error;                /* standard error of the mean */
  double within;                    /* share of the samples within the limits; NAN without limits */
} cli_sampled;

/* Limits of a criterion; infinite: none. */
typedef struct {
  bool given;
  double low, high;
} cli_limits;

typedef struct {
  cli_run *run;
  const cli_scatter *scatter;
  cli_criteria chosen;      /* criteria of a run */
  const char *about;        /* NULL: criteria; else the point about which modes vibrate */
  int count;                /* of criteria, or of numbers of modes */
  const char **name;        /*                                             (count) */
  bool *has;                /* second derivatives exist                    (count) */
  mbg_moments *moments;     /*                                             (count) */
  double *gradient, *share; /* of the scattering parameters                (count x scatter.count) */
  double *hessian;          /*                                             (count x scatter.count x scatter.count) */
  cli_limits *limits;       /*                                             (count) */
  double sigmas;            /* the limits hold at mean +- this many deviations */
  int samples, failed;      /* 0: none were asked for */
  cli_sampled *sampled;     /*                                             (count) */
} cli_uncertainty;

void cli_uncertainty_print(const cli_uncertainty *u);
void cli_uncertainty_json(const cli_uncertainty *u);

#endif
