/* control: the problem behind mbgrad/control.h, shared by src/problems/control*.c. */
#ifndef MBG_PROBLEMS_CONTROL_H
#define MBG_PROBLEMS_CONTROL_H

#include "base/base.h"
#include "mbgrad/control.h"
#include "mbgrad/hessian.h"
#include "model/model.h"
#include "optimizers/minimize.h"
#include "problems/record.h"
#include "run/run.h"

/* One control that is found: samples first .. first+n-1 of x. */
typedef struct {
  int control;
  const char *name;
  int n, first;
  const mbg__spline *spline; /* of the sampled model */
  double effort;
  mbg_control_samples shown;
} mbg__found_control;

struct mbg_control {
  mbg__arena arena;
  const mbg_model *m; /* the user's */
  mbg_model *sampled; /* with the samples as parameters */
  mbg_run *run;
  mbg_hessian *second; /* of the run; NULL: not asked for yet */
  bool (*progress)(void *user, const mbg_control *control);
  void *user;
  mbg__minimize_options minimize;
  mbg_control_summary summary;
  int count;                        /* controls that are found */
  mbg__found_control *found;        /* (count) */
  int n;                            /* samples of all controls */
  double *x, *lower, *upper;        /* start, then solution of a stage; bounds                 (n) */
  double *metric;                   /* masses of the hat functions                             (n) */
  double *p, *best, *g;             /* parameters of the sampled model, the best, a gradient   (np) */
  double *weights, *psi, *psi_best; /* of the criteria                                         (ncriterion) */
  int *term;                        /* criteria of the objective                               (terms) */
  mbg_control_term *terms;          /*                                                         (terms) */
  real *curvature, *u_bar, *m_bar;  /* scratch of the effort                                   (most samples) */
  real *u;
  bool simulated;       /* the run was, at simulated_x */
  double *simulated_x;  /*                                                                    (n) */
  double reduction;     /* of the effort's weight, per stage */
  double tolerance;     /* fall of the gradient ... */
  double reference;     /* ... from here: at the very start, before any restart; 0: not known yet */
  double factor;        /* of the effort in this stage */
  double value_best;    /* objective of this stage at best */
  double effort_best;   /* of the last stage's weight */
  const char *restart;  /* file of the record, NULL: none */
  bool resume;          /* replay it first */
  mbg__record *record;  /* during a solve */
  int changes;          /* searches that ended with other events than they began with */
  int record_error;     /* it could not be written between evaluations */
  double *along, *bent; /* a direction, H times it, by all parameters; then the key of a record  (np), (np + 2 n + 1) */
  double *recorded;     /* of an evaluation: objective, effort, criteria, gradient             (2 + ncriterion + n) */
  mbg_context *ctx;     /* during a solve */
  int stage_iterations; /* of the stages before */
  int stage_evaluations, /* ... */
      stage_failed;
};

/* sum_c effort_c/2 int u_c^2 dt of the samples x, exactly; factor times its gradient is added to g (NULL: not
   wanted). */
double mbg__control_effort(mbg_control *c, const double *x, double factor, double *g);

/* Opens the record of a search that has one, and takes up what is in it. */
int mbg__control_open_record(mbg_context *ctx, mbg_control *c);

#endif
