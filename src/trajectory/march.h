/* march: runs of a one-step method over fixed or controlled steps, and passes over its nodes. */
#ifndef MBG_TRAJECTORY_MARCH_H
#define MBG_TRAJECTORY_MARCH_H

#include "system/system.h"
#include "trajectory/trajectory.h"

/* How every node begins; the method fills it. */
typedef struct {
  real t, h; /* time, and the step that led here (0 at the start); imaginary parts move with events */
} mbg__node_head;

/* What a method must provide; a node is a block of bytes without pointers into itself. */
typedef struct {
  size_t bytes; /* of a node */
  int (*begin)(mbg_context *ctx, void *user, void *node);
  int (*step)(mbg_context *ctx, void *user, const void *from, real h, void *to);
  /* Local error of the last step, relative to the model's size: third order in h. NULL: fixed steps only. */
  double (*error)(const void *user);
  double growth; /* largest ratio of a step under error control to the one before */
  /* Checks of the run at a new node; values of the used signals, then the pose (mbg__system_record). */
  int (*record)(mbg_context *ctx, void *user, const void *node, real *y);
  /* Events, NULL: they are not possible. The state of a node with its rates, for a caller that moves the system, valid
     until the next call; a node at the same time with other twists v (nw), and accelerations from them (h of its head
     is not positive). */
  mbg__state (*state)(mbg_context *ctx, void *user, const void *node);
  int (*restart)(mbg_context *ctx, void *user, const void *from, const real *v, void *to);
  /* Events: steps shorter than this share of the grid's have lost their digits to rounding; 0: they keep them. */
  double shortest;
  /* Events: a node at a length inside the step from a node to a node, near that of a step of this length. */
  void (*inside)(void *user, const void *from, const void *to, double length, void *node);
  /* Events: `to` is the end of the step made last, from this node; it becomes that of a shorter one of length h, to
     rounding, by the guess and the factors that the longer one has left. NULL: there is nothing to gain. */
  int (*shorten)(mbg_context *ctx, void *user, const void *from, real h, void *to);
} mbg__march_method;

typedef struct mbg__march mbg__march;

/* plan->step > 0: equal steps between breaks, none longer than it; else plan->lengths, or steps of plan->tolerance. The
   plan is copied. */
int mbg__march_create(mbg_context *ctx, const mbg__run_plan *plan, const mbg__march_method *method, void *user, int nw,
                      int nused, const int *used, mbg__march **out);
void mbg__march_destroy(mbg__march *m);

/* frozen: repeats controlled steps of the last run. */
int mbg__march_simulate(mbg_context *ctx, mbg__march *m, bool frozen, mbg__nodes *nodes);
/* mbg__store_forget; place (not NULL, referenced): signals that are looked at from now on, as in the plan. */
void mbg__march_forget(mbg__march *m, const int *place);
/* The nodes of the last run. */
const mbg__nodes *mbg__march_nodes(const mbg__march *m);
/* The last node, NULL: there is none. */
const void *mbg__march_last(const mbg__march *m);
mbg__work_counts *mbg__march_counts(mbg__march *m);
/* Steps of a run that has begun, and the bytes that a limit of memory leaves beside its nodes: 0 when it does not hold
   them all, or may not, INFINITY without a limit. */
int mbg__march_steps(const mbg__march *m);
/* ... with events: of the grid, 0 under error control. */
int mbg__march_planned(const mbg__march *m);
double mbg__march_left(const mbg__march *m);

/* Runs with events: the firing after which node n is the state, -1: none; the firing before which it is, -1: none. */
int mbg__march_fired(const mbg__march *m, int n);
int mbg__march_fires(const mbg__march *m, int n);

/* Visits all nodes in order; from is NULL at the first. */
int mbg__march_forward(mbg_context *ctx, mbg__march *m,
                       int (*visit)(mbg_context *ctx, void *user, int n, const void *from, const void *node),
                       void *user);
/* ... from the last to the first. */
int mbg__march_backward(mbg_context *ctx, mbg__march *m,
                        int (*visit)(mbg_context *ctx, void *user, int n, const void *node), void *user);
/* The node at exactly this time, the last one of several, when all nodes are in memory; else NULL. */
const void *mbg__march_find(const mbg__march *m, double t);
/* One node, valid until the next call. */
int mbg__march_restore(mbg_context *ctx, mbg__march *m, int n, const void **node);

#endif
