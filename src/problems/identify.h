/* identify: the object behind mbgrad/identify.h, shared by src/problems/identify*.c.

   x are the unknowns of the optimizer: x_i = p_i, or ln p_i for parameters with "scale": "log". */
#ifndef MBG_PROBLEMS_IDENTIFY_H
#define MBG_PROBLEMS_IDENTIFY_H

#include "math/dense.h"
#include "mbgrad/hessian.h"
#include "mbgrad/identify.h"
#include "model/model.h"
#include "optimizers/least_squares.h"
#include "problems/case_work.h"
#include "problems/warnings.h"

/* One run of the model with the data that were measured in it, and a context of its own for its thread. */
typedef struct {
  mbg_context *ctx;
  const mbg_model *model;
  mbg_model *own; /* the model, when it was made here */
  mbg_run *run;
  int channel, nchannel; /* its channels */
  double *p;             /* parameters of its last simulation (np) */
  mbg_hessian *second;   /* NULL: not asked for yet */
  int status;
  double step;     /* of its run */
  double mass;     /* of all bodies */
  uint64_t events; /* sequence of events of its last simulation */
  double *by_p;    /* gradient of its part of the cost   (np) */
  double *product; /* its part of the Hessian by x times a direction   (n) */
} mbg__experiment;

/* What is done with every experiment, and which of its results other ranks get (NULL: none). */
typedef struct {
  int (*evaluate)(mbg_context *ctx, mbg_identify *id, mbg__experiment *e);
  void (*results)(mbg_identify *id, mbg__experiment *e, mbg__parcel *p);
} mbg__fit_stage;

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
  mbg_run_options run_options;
  const mbg_model *model;        /* the caller's */
  bool reporting;                /* an interrupted fit is reported: no further interruptions */
  double refine;                 /* steps are divided by this */
  const mbg__tracking *tracking; /* of the data; NULL: none; only while it is created */
  int ntracked;                  /* channels with a tracking force */
  int nexperiment;
  mbg__experiment *experiment;
  mbg__case_work work;      /* of them; the restart file */
  const mbg_model **models; /* of the experiments                                 (nexperiment) */
  int nchannel;
  mbg__channel *channel;

  int np; /* parameters of the model */
  int n;  /* identified parameters */
  int m;  /* residuals */
  bool *log;
  double *p0;                          /* values of all parameters at the start             (np) */
  double *x, *lower, *upper, *typical; /* unknowns: the best so far, bounds, size           (n) */
  double *at;                          /* unknowns of the last simulation                   (n) */
  const double *along;                 /* direction of a product                            (n) */
  bool simulated;                      /* ... which can be used */
  double *counted;                     /* unknowns of the last simulation that counts       (n) */
  bool stands;                         /* ... which did not fail */
  double *r;                           /* residuals of the last simulation                  (m) */
  mbg__qr qr;                          /* of the Jacobian                                   (m x n) */
  double *T, *q;                       /* linearization at x (least_squares.h)              (n x n, n) */
  int changes;                         /* searches that ended with other events than they began with */

  mbg_identify_summary summary;
  mbg_identify_parameter *parameter; /*                                                   (n) */
  double *singular, *correlation;    /*                                                   (n, n x n) */
  const char **combination, **weak;  /*                                                   (n, n) */
  mbg__warnings warnings;
  mbg_identify_start *start;
};

/* ---------------------------------------------------------------------- identify.c */

/* As mbg_identify_create, with steps divided by `refine` and models that track their data (NULL: they do not). */
int mbg__identify_create(mbg_context *ctx, const mbg_model *model, const mbg_identify_options *options, double refine,
                         const mbg__tracking *tracking, mbg_identify **out);

/* ---------------------------------------------------------------------- identify_work.c: experiments in threads and
   ranks */

/* Threads and ranks of the experiments, whose runs are open. */
int mbg__identify_make_work(mbg_context *ctx, mbg_identify *id);
/* Every experiment; the first status that is not good, as mbg__work_evaluate. */
int mbg__identify_evaluate_all(mbg_context *ctx, mbg_identify *id, const mbg__fit_stage *stage);
/* First simulations, which decide steps, redundant rows and the samples of the channels. */
int mbg__identify_first(mbg_context *ctx, mbg_identify *id);
/* Times and data of the samples into the channels. */
int mbg__identify_samples(mbg_context *ctx, mbg_identify *id);
/* The sequence of events of all experiments at x; 0 without events, or where it cannot be simulated. */
int mbg__identify_sequence(mbg_context *ctx, mbg_identify *id, const double *x, uint64_t *sum);
/* Notes about the events at the end. */
int mbg__identify_note_events(mbg_context *ctx, mbg_identify *id);
/* The mass of all bodies into each experiment. */
int mbg__identify_masses(mbg_context *ctx, mbg_identify *id);

/* ---------------------------------------------------------------------- identify_fit.c: residuals and their
   derivatives */

double mbg__identify_p(const mbg_identify *id, int i, double x); /* of an unknown */
double mbg__identify_x(const mbg_identify *id, int i, double p);
/* Simulates every experiment at x and fills r. 0; positive: a simulation failed, its message is filed; negative:
   stop. */
int mbg__identify_simulate(mbg_context *ctx, mbg_identify *id, const double *x);
/* Counts a simulation at x, made or replayed, unless it is the last one again: a search that was killed and resumed has
   the counts of one that was not. */
void mbg__identify_count(mbg_identify *id, const double *x, bool failed);
/* Derivatives of r by x into qr.A, at x. */
int mbg__identify_jacobian(mbg_context *ctx, mbg_identify *id, const double *x);
/* The same, reduced: T (n x n), q (n). */
int mbg__identify_reduce(mbg_context *ctx, mbg_identify *id, const double *x, double *T, double *q);
/* Gradient of the cost by x from the adjoint, at x. */
int mbg__identify_adjoint(mbg_context *ctx, mbg_identify *id, const double *x, double *gradient);
double mbg__identify_cost(const mbg_identify *id);

/* ---------------------------------------------------------------------- identify_second.c */

/* H d of the cost by x (n), by second derivatives, at x. As mbg__identify_simulate. */
int mbg__identify_product(mbg_context *ctx, mbg_identify *id, const double *x, const double *d, double *Hd);
/* Standard errors by the true Hessian, from the covariance by Gauss-Newton's (n x n, NAN: undetermined). */
int mbg__identify_true_errors(mbg_context *ctx, mbg_identify *id, double variance);

/* ---------------------------------------------------------------------- identify_solve.c */

/* One minimization from x, which moves; T, q at the end. Fills reason, iterations and costs of the outcome. */
int mbg__identify_minimize(mbg_context *ctx, mbg_identify *id, double *x, mbg_identify_start *outcome);

/* ---------------------------------------------------------------------- identify_restart.c */

int mbg__identify_open_record(mbg_context *ctx, mbg_identify *id);

/* ---------------------------------------------------------------------- identify_report.c */

/* Standard errors, correlations, combinations that cannot be told apart, from T and q at x; statistics of the channels
   from r. */
int mbg__identify_report(mbg_context *ctx, mbg_identify *id);
/* Residuals at the last simulation into the channels; hints about units and sampling. */
int mbg__identify_channels(mbg_context *ctx, mbg_identify *id, bool at_start);

#endif
