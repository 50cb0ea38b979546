/* repeat: what the first simulation of a run has decided, as plain numbers, and a run that repeats it: also in another
   compilation of these sources (base/real.h), so that a derivative belongs to the same discretization. */
#ifndef MBG_RUN_REPEAT_H
#define MBG_RUN_REPEAT_H

#include "run/run.h"
#include "start/rank.h"

typedef struct {
  mbg_run_options options;
  double step, tolerance, refine, relative, absolute; /* of the plan */
  int nstep;                                          /* controlled steps, 0: fixed ones */
  const double *ends;                                 /*                        (nstep + 1) */
  int nnode;                                          /* of formulations with free nodes, else 0 */
  const double *node_t, *node_omega;                  /* times and weights      (nnode) */
  const mbg__rank *rank;
  /* of the run that is repeated: unknowns of its steps, as in the plan; NULL: not known */
  bool (*solved)(const void *run, double t, double *x);
  const mbg_run *run; /* only handed to `solved` */
} mbg__run_decisions;

/* Of a simulated run, in the arena; the rank and the run are referenced. */
int mbg__run_decisions_of(mbg_context *ctx, mbg__arena *arena, const mbg_run *run, mbg__run_decisions *out);

/* A run of the model with these decisions, which outlive it. */
int mbg__run_repeat(mbg_context *ctx, const mbg_model *model, const mbg__run_decisions *decisions, mbg_run **out);

#endif
