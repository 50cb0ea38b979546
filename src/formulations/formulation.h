/* What a formulation must provide.

   A formulation turns a model into numbers at the nodes of a trajectory and differentiates exactly what it did. It knows
   no criteria: a criterion reaches it as seeds, weights of signals at nodes. One folder per formulation, one const table
   each; the list is in formulations.c. */
#ifndef MBG_FORMULATIONS_FORMULATION_H
#define MBG_FORMULATIONS_FORMULATION_H

#include "criteria/criteria.h"
#include "start/start.h"
#include "system/system.h"
#include "trajectory/trajectory.h"

/* Capabilities. */
enum {
  MBG__LOOPS = 1,
  MBG__REDUNDANT = 2,
  MBG__DIRECT = 4,
  MBG__ADJOINT = 8, /* exact transpose of the discrete run */
  MBG__ADJOINT_CONTINUOUS = 16,
  MBG__ADJOINT_PAPER = 32, /* the continuous form of the paper, for study */
  MBG__CONTROLLED_STEPS = 64,
  MBG__BEAMS = 256, /* elements whose mass couples two bodies */
  MBG__MODAL = 512, /* bodies with modal coordinates */
  MBG__ODE = 128    /* integrates an ordinary differential equation with relative and absolute tolerances */
};

typedef enum { MBG__METHOD_DIRECT, MBG__METHOD_ADJOINT, MBG__METHOD_CONTINUOUS, MBG__METHOD_PAPER } mbg__method;

typedef struct mbg__formulation_work mbg__formulation_work;

/* Seeds of a criterion: of its integrand (density, per unit of time) and of values at nodes (point). For the discrete
   methods they count together: omega * density + point. nnode x nused each. terms: the density as a function of time, for
   formulations that integrate backward with steps of their own. */
typedef struct {
  const real *density, *point;
  int nterm;
  const mbg__density_term *terms;
  bool all; /* every attribute is wanted, not only those that depend on parameters */
} mbg__criterion_seeds;

typedef struct mbg__formulation {
  const char *key, *name, *paper;
  unsigned supports;
  double cost_direct, cost_adjoint; /* a further column, in simulations: for the choice of a method */

  /* The system and the start are referenced and used as scratch; used signals are referenced. */
  int (*prepare)(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan, int nused,
                 const int *used, mbg__formulation_work **out);
  /* Runs from the start that was solved last. frozen: repeat the steps of the last run (their lengths and number). */
  int (*simulate)(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes);
  /* dy (np per used signal) at every node, in order; NULL where not supported. */
  int (*tangent)(mbg_context *ctx, mbg__formulation_work *w, int (*take)(void *user, int node, const real *dy),
                 void *user);
  /* psi_a (ncrit x na) += gradient by attributes of ncrit criteria. */
  int (*adjoint)(mbg_context *ctx, mbg__formulation_work *w, mbg__method method, int ncrit,
                 const mbg__criterion_seeds *seeds, real *psi_a);
  /* Frames, twists ... of the last node, for a restart: into a caller's arrays (H: nbody, v: nw, turns: nturn). */
  int (*last)(const mbg__formulation_work *w, double *t, mbg__frame *H, real *v, int *turns);
  const mbg__work_counts *(*counts)(const mbg__formulation_work *w);
  void (*destroy)(mbg__formulation_work *w);
} mbg__formulation;

/* All formulations, and one by key (NULL: unknown). */
const mbg__formulation *const *mbg__formulations(int *count);
const mbg__formulation *mbg__formulation_find(const char *key);

#endif
