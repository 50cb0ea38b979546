/* march: a one-step method over a fixed grid: nodes in memory or checkpoints, and the passes over them.

   A backward pass needs one node after the other from the end. When all fit the memory limit they are kept. Otherwise a pass keeps
   checkpoints evenly, and the nodes between two checkpoints are computed again: stretches that fit the rest of the memory directly,
   longer ones by the same rule once more. The repeated steps start from stored nodes and are bit-identical (theory 0, section 8:
   nothing but a node influences what follows). */
#ifndef MBG_TRAJECTORY_MARCH_H
#define MBG_TRAJECTORY_MARCH_H

#include "trajectory/trajectory.h"

/* What a method must provide; a node is a block of bytes without pointers into itself. */
typedef struct {
  size_t bytes;
  int (*begin)(mbg_context *ctx, void *user, void *node);
  int (*step)(mbg_context *ctx, void *user, const void *from, double h, void *to);
  /* time and values of the used signals at a node */
  int (*record)(mbg_context *ctx, void *user, const void *node, double *t, real *y);
} mbg__march_method;

typedef struct mbg__march mbg__march;

/* plan->step must be positive; equal steps between breaks, none longer than it. The plan is copied. */
int mbg__march_create(mbg_context *ctx, const mbg__run_plan *plan, const mbg__march_method *method, void *user,
                      int nused, const int *used, mbg__march **out);
void mbg__march_destroy(mbg__march *m);

int mbg__march_simulate(mbg_context *ctx, mbg__march *m, mbg__nodes *nodes);
/* The last node, NULL: there is none. */
const void *mbg__march_last(const mbg__march *m);
mbg__work_counts *mbg__march_counts(mbg__march *m);

/* Visits all nodes in order; from is NULL at the first. */
int mbg__march_forward(mbg_context *ctx, mbg__march *m,
                       int (*visit)(mbg_context *ctx, void *user, int n, const void *from, const void *node),
                       void *user);
/* ... from the last to the first. */
int mbg__march_backward(mbg_context *ctx, mbg__march *m,
                        int (*visit)(mbg_context *ctx, void *user, int n, const void *node), void *user);

#endif
