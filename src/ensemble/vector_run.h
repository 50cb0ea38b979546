/* vector_run: the steps of four runs at once, forward and backward.

   The sources of a formulation are compiled a third time, by a C++ compiler, with a number of each of four samples as
   `real` (base/real_ensemble.h), and linked into the library with these functions as their only entries. Everything
   before the first step and after the last one belongs to runs of the samples in the library itself: start, criteria,
   seeds, warnings, gradients by parameters. So only the steps must give the same bits. */
#ifndef MBG_ENSEMBLE_VECTOR_RUN_H
#define MBG_ENSEMBLE_VECTOR_RUN_H

#include "start/rank.h"
#include "system/kernels.h"
#include "trajectory/trajectory.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MBG__VECTOR_SAMPLES = 4 };

typedef struct mbg__vector_run mbg__vector_run;

/* A state of one sample. Frames: 12 numbers each, rotation row-major, then position. */
typedef struct {
  double t;
  double *H;  /* (nbody x 12) */
  double *v;  /* (nw) */
  int *turns; /* (nturn) */
} mbg__vector_state;

/* Calls into the runs of the samples. */
typedef struct {
  void *user;
  /* the start: ga (na) += (dw0/da)^T gw + (dv0/da)^T gv */
  int (*pull)(void *user, int sample, const double *gw, const double *gv, double *ga);
  /* seeds of a node (ncrit x nused) */
  void (*seeds)(void *user, int sample, int ncrit, int nused, int node, double *seed);
  /* the watch of singular positions: does it look at the node at t1, and the look */
  bool (*due)(void *user, int sample, double t0, double t1);
  int (*look)(void *user, int sample, double t0, double t1, const mbg__vector_state *state);
} mbg__vector_calls;

typedef struct {
  const mbg_model *model;
  const mbg__kernels *kernels; /* of the model: those of the library */
  const mbg__run_plan *plan;
  const mbg__rank *rank; /* all rows are kept */
  int nused;
  const int *used;
  bool watched; /* by calls.look */
  mbg__vector_calls calls;
} mbg__vector_setup;

/* What was watched at the nodes, of one sample: value and time of each peak, as in mbg__watch. */
typedef struct {
  double *spin, *push, *pull; /* (2 nbody), (2 (nforce + njoint)) each */
  int nodes;
  double slow, fast, first, least, rise[2], change[2];
} mbg__vector_watch;

/* Everything in the setup is referenced. */
int mbg__vector_run_create(mbg_context *ctx, const mbg__vector_setup *setup, mbg__vector_run **out);
void mbg__vector_run_destroy(mbg__vector_run *run); /* accepts NULL */

/* All functions below return MBG_OK, or 1 when the samples cannot go together (a failure is one, too): each of them is
   then computed by its run. */

/* From the starts of the samples at their parameters (np each). */
int mbg__vector_run_simulate(mbg__vector_run *run, const double *const *p, const mbg__vector_state *starts);
/* Nodes and the numbers at each of them; after a simulation that succeeded. */
int mbg__vector_run_nodes(const mbg__vector_run *run, int *width);
/* Of one sample: times, and values (nodes x width). */
void mbg__vector_run_values(const mbg__vector_run *run, int sample, double *t, double *y);
void mbg__vector_run_watched(const mbg__vector_run *run, int sample, mbg__vector_watch *out);
/* psi_a[sample] (ncrit x na) += gradients by attributes. */
int mbg__vector_run_adjoint(mbg__vector_run *run, int ncrit, double *const *psi_a);

#ifdef __cplusplus
}
#endif

#endif
