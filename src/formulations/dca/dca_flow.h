/* The differential equation of `dca` in coordinates of a step (theory 3, section 10). From the joint frames E_n at the
   start of the step:

     E = E_n exp(S sigma)        sigma' = T(sigma)^-1 w        w' = a(t, E, w)

   y = (sigma, w). If motions commute, sigma is the increment of the joint coordinate. With the variations e_n of the
   frames at the start (six per link) and dsigma, dw of y,

     e = Ad(exp(-S sigma)) e_n + S T(sigma) dsigma

   The derivative of a discrete solution is exact: at the end of the step e becomes e_(n+1), and dsigma begins at 0
   again. */
#ifndef MBG_FORMULATIONS_DCA_DCA_FLOW_H
#define MBG_FORMULATIONS_DCA_DCA_FLOW_H

#include "formulations/dca/dca_point.h"
#include "formulations/formulation.h"
#include "trajectory/ode.h"

/* The start of a step, from which whole turns of angles are counted. */
typedef struct {
  real t;
  mbg__frame *E; /* by link                                   (nbody) */
  real *w;       /*                                           (n) */
  int *turns;    /*                                           (nturn) */
  real *q, *qd;  /* coordinates and rates, with nturn > 0     (ncoord) */
} mbg__dca_base;

typedef struct {
  mbg_context *ctx;
  mbg__pool *pool;
  const mbg_model *m;
  mbg__system *sys;
  mbg__tree *tree;
  const mbg__link *links;
  mbg__dca_point *point;
  int n;      /* coordinates */
  int ntwist; /* links whose motions do not commute ... */
  int *twist; /* ...                                          (nbody) */
  int nused;
  const int *used;
  bool full;              /* signals need accelerations or reactions */
  mbg__sampling sampling; /* what the used ones need */
  mbg__segment segment;   /* around the evaluations */
  mbg__frame *E;          /* of the last evaluation                    (nbody) */
  mbg__frame *X;          /* exp(S sigma) of the last increments       (nbody) */
  real *w;                /*                                           (n) */
  int *turns;             /*                                           (nturn) */
  real *q, *qd;           /*                                           (ncoord) */
  long evaluations;
} mbg__dca_flow;

int mbg__dca_base_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_flow *f, mbg__dca_base *b);
/* Sets q and qd of a base whose t, E, w and turns are set. */
int mbg__dca_base_set(mbg_context *ctx, mbg__dca_flow *f, mbg__dca_base *b);

int mbg__dca_flow_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, mbg__tree *tree, mbg__dca_point *point,
                         mbg__pool *pool, int nused, const int *used, mbg__dca_flow *f);

/* Evaluates the point at (t, y) of a step that starts at the base. */
int mbg__dca_flow_eval(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_base *b, real t, const real *y);
/* Places tree and system there without accelerations and multipliers, for signals that need none. */
int mbg__dca_flow_place(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_base *b, real t, const real *y);
/* Places the tree there and evaluates the used signals alone (values may be NULL): for sampling of level kinematics. */
int mbg__dca_flow_sample(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_base *b, real t, const real *y,
                         real *values);
/* ... of links that suffice for them, with all links on the ways to these. */
typedef struct {
  int n, *link;           /* ascending */
  mbg__sampling sampling; /* .few */
} mbg__dca_few;
int mbg__dca_flow_sample_few(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_few *few, const mbg__dca_base *b,
                             real t, const real *y);
/* Turn counters at (t, E, w) after the base. */
int mbg__dca_flow_turns(mbg_context *ctx, mbg__dca_flow *f, const mbg__dca_base *b, real t, const mbg__frame *E,
                        const real *w, int *turns);
/* After eval: y'. */
void mbg__dca_flow_rates(const mbg__dca_flow *f, const real *y, real *yd);
/* Values of the used signals. After eval, or, if full is false, after place. */
int mbg__dca_flow_signals(mbg_context *ctx, mbg__dca_flow *f, real *values);

/* E = E_n exp(S sigma); the variation e (6 per link) of (e_n, dsigma); transposed: adds to gn and gsigma (may be
   NULL). Both need the increments at sigma, once for all columns. */
void mbg__dca_flow_frames(const mbg__dca_flow *f, const mbg__dca_base *b, const real *sigma, mbg__frame *E);
void mbg__dca_flow_increments(const mbg__dca_flow *f, const real *sigma);
void mbg__dca_flow_frames_push(const mbg__dca_flow *f, const real *sigma, const real *en, const real *dsigma, real *e);
void mbg__dca_flow_frames_pull(const mbg__dca_flow *f, const real *sigma, const real *ge, real *gn, real *gsigma);
/* ... of some links, with their increments. */
void mbg__dca_flow_frames_pull_few(const mbg__dca_flow *f, const mbg__dca_few *few, const real *sigma, const real *ge,
                                   real *gn, real *gsigma);
/* The variation of sigma' = T^-1 w in the direction (dsigma, dw); transposed: adds to gsigma, gw. */
void mbg__dca_flow_increment_push(const mbg__dca_flow *f, const real *y, const real *dsigma, const real *dw, real *out);
void mbg__dca_flow_increment_pull(const mbg__dca_flow *f, const real *y, const real *g, real *gsigma, real *gw);

#endif
