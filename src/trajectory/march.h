/* march: runs of a one-step method over fixed or controlled steps, and passes over its nodes. */
#ifndef MBG_TRAJECTORY_MARCH_H
#define MBG_TRAJECTORY_MARCH_H

#include "trajectory/trajectory.h"

/* How every node begins; the method fills it. */
typedef struct {
  double t, h; /* time, and the step that led here (0 at the start) */
} mbg__node_head;

/* What a method must provide; a node is a block of bytes without pointers into itself. */
typedef struct {
  size_t bytes; /* of a node */
  int (*begin)(mbg_context *ctx, void *user, void *node);
  int (*step)(mbg_context *ctx, void *user, const void *from, double h, void *to);
  /* Local error of the last step, relative to the model's size: third order in h. NULL: fixed steps only. */
  double (*error)(const void *user);
  double growth; /* largest ratio of a step under error control to the one before */
  /* Checks of the run at a new node; values of the used signals, then the pose (mbg__system_record). */
  int (*record)(mbg_context *ctx, void *user, const void *node, real *y);
} mbg__march_method;

typedef struct mbg__march mbg__march;

/* plan->step > 0: equal steps between breaks, none longer than it; else plan->lengths, or steps of plan->tolerance. The
   plan is copied. */
int mbg__march_create(mbg_context *ctx, const mbg__run_plan *plan, const mbg__march_method *method, void *user,
                      int nused, const int *used, mbg__march **out);
void mbg__march_destroy(mbg__march *m);

/* frozen: repeats controlled steps of the last run. */
int mbg__march_simulate(mbg_context *ctx, mbg__march *m, bool frozen, mbg__nodes *nodes);
/* mbg__store_forget */
void mbg__march_forget(mbg__march *m);
/* The nodes of the last run. */
const mbg__nodes *mbg__march_nodes(const mbg__march *m);
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
/* One node, valid until the next call. */
int mbg__march_restore(mbg_context *ctx, mbg__march *m, int n, const void **node);

#endif
