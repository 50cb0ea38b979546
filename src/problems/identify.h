/* identify: what the parts of an identification share.

   x are the unknowns of the optimizer: x_i = p_i, or ln p_i for parameters with "scale": "log". */
#ifndef MBG_PROBLEMS_IDENTIFY_H
#define MBG_PROBLEMS_IDENTIFY_H

#include "math/dense.h"
#include "mbgrad/identify.h"
#include "model/model.h"
#include "optimizers/least_squares.h"
#include "problems/record.h"

/* One run of the model with the data that were measured in it. */
typedef struct {
  mbg_model *model;
  mbg_run *run;
  int channel, nchannel; /* its channels */
  double *p;             /* parameters of its last simulation (np) */
} mbg__experiment;

/* One least-squares criterion of an experiment: consecutive rows of r. */
typedef struct {
  int experiment, criterion;
  int row;
  double spacing; /* least distance of two samples */
  mbg_identify_channel shown;
  double *time, *data, *model;
} mbg__channel;

struct mbg_identify {
  mbg__arena arena;
  mbg_identify_options o;
  const char *path;
  bool deaf;                     /* to interruptions: what was interrupted is being reported */
  double refine;                 /* steps are divided by this */
  const mbg__tracking *tracking; /* of the data; NULL: none; only while it is created */
  int ntracked;                  /* channels with a tracking force */
  int nexperiment;
  mbg__experiment *experiment;
  int nchannel;
  mbg__channel *channel;

  int np; /* parameters of the model */
  int n;  /* those that are identified */
  int m;  /* residuals */
  bool *log;
  double *p0;                          /* values of all parameters at the start             (np) */
  double *full;                        /* scratch                                           (np) */
  double *x, *lower, *upper, *typical; /* unknowns: the best so far, bounds, size           (n) */
  double *at;                          /* unknowns of the last simulation                   (n) */
  bool simulated;                      /* ... which can be used */
  double *r;                           /* residuals of the last simulation                  (m) */
  mbg__qr qr;                          /* of the Jacobian                                   (m x n) */
  double *T, *q;                       /* linearization at x (least_squares.h)              (n x n, n) */
  mbg__record *restart;

  mbg_identify_summary summary;
  mbg_identify_parameter *parameter; /*                                                   (n) */
  double *singular, *correlation;    /*                                                   (n, n x n) */
  const char **combination, **weak;  /*                                                   (n, n) */
  const char **warning;
  int warning_room;
  mbg_identify_start *start;
};

/* ---------------------------------------------------------------------- identify.c */

/* As mbg_identify_create, with steps divided by `refine` and models that track their data (NULL: they do not). */
int mbg__identify_create(mbg_context *ctx, const char *path, const mbg_identify_options *options, double refine,
                         const mbg__tracking *tracking, mbg_identify **out);
/* A warning of the result, filed in the context too. */
int mbg__identify_warn(mbg_context *ctx, mbg_identify *id, const char *format, ...) MBG_PRINTF(3, 4);
/* Text kept with the identification. */
const char *mbg__identify_text(mbg_context *ctx, mbg_identify *id, const char *format, ...) MBG_PRINTF(3, 4);

/* ---------------------------------------------------------------------- identify_fit.c: residuals and their derivatives */

double mbg__identify_p(const mbg_identify *id, int i, double x); /* of an unknown */
double mbg__identify_x(const mbg_identify *id, int i, double p);
/* Simulates every experiment at x and fills r. 0; positive: a simulation failed, its message is filed; negative:
   stop. */
int mbg__identify_simulate(mbg_context *ctx, mbg_identify *id, const double *x);
/* Derivatives of r by x into qr.A, at x. */
int mbg__identify_jacobian(mbg_context *ctx, mbg_identify *id, const double *x);
/* The same, reduced: T (n x n), q (n). */
int mbg__identify_reduce(mbg_context *ctx, mbg_identify *id, const double *x, double *T, double *q);
/* Gradient of the cost by x from the adjoint, at x. */
int mbg__identify_adjoint(mbg_context *ctx, mbg_identify *id, const double *x, double *gradient);
double mbg__identify_cost(const mbg_identify *id);

/* ---------------------------------------------------------------------- identify_solve.c */

/* One minimization from x, which moves; T, q at the end. */
int mbg__identify_minimize(mbg_context *ctx, mbg_identify *id, double *x, mbg_fit_reason *reason, int *iterations,
                           double *start_cost, double *cost);

/* ---------------------------------------------------------------------- identify_restart.c: evaluations in a file */

int mbg__restart_open(mbg_context *ctx, mbg_identify *id);
void mbg__restart_close(mbg_identify *id);
/* The next recorded evaluation of that kind at x: *found, with its status and values (count). MBG_ERROR_INPUT when the
   file was written by another identification. */
int mbg__restart_next(mbg_context *ctx, mbg_identify *id, char kind, const double *x, int count, double *values,
                      int *status, bool *found);
int mbg__restart_add(mbg_context *ctx, mbg_identify *id, char kind, const double *x, int count, const double *values,
                     int status);

/* ---------------------------------------------------------------------- identify_report.c: what the fit says */

/* Standard errors, correlations, combinations that cannot be told apart, from T and q at x; statistics of the channels
   from r. */
int mbg__identify_report(mbg_context *ctx, mbg_identify *id);
/* Residuals at the last simulation into the channels; hints about units and sampling. */
int mbg__identify_channels(mbg_context *ctx, mbg_identify *id, bool at_start);

#endif
