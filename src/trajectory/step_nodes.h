/* Nodes of a run under error control: the ends of the steps, the times of samples, and where integrals or curves are
   wanted the points of a Gauss-Kronrod rule in each step, with their weights: sum omega_n f(y_n) is the integral under
   error control. Steps whose integrals are not accurate enough are halved for this purpose. Later runs take the same
   times.

   By stages: the integral over a step of a Runge-Kutta method is h sum_i b_i f(Y_i), as that of one more component of
   the state, with the error estimate of the method. Only steps where this is not accurate enough have points. */
#ifndef MBG_TRAJECTORY_STEP_NODES_H
#define MBG_TRAJECTORY_STEP_NODES_H

#include "integrators/rk.h"
#include "trajectory/trajectory.h"

/* y (nused), then the pose (npose of the plan), at a time inside the step at hand. */
typedef int (*mbg__step_value)(void *user, real t, real *y);
/* y (nused) at a stage of the step at hand. */
typedef int (*mbg__stage_value)(void *user, int stage, real *y);

typedef struct {
  mbg_allocator allocator;
  const mbg__run_plan *plan;
  int nused;
  int width;   /* nused + npose: numbers of a node */
  int kept;    /* ... that y holds: fewer with places */
  bool panels; /* inner points are wanted */
  bool fixed;  /* times are decided: a repeated run */
  bool point;  /* the value asked for is at a point of an integral */
  int count;   /* nodes with values */
  int planned; /* nodes with times */
  int room;
  int entries, entry_room; /* times and weights */
  real *t;                 /* of all nodes; when compact, of those of odd steps */
  real *omega, *y;
  bool compact;
  mbg__node_grid grid;
  int nodd, odd_room;
  mbg__odd_step *odd;
  real *end, *sum;              /* with places: see mbg__nodes                      (nused) */
  real *row;                    /* with places: values of one node                  (nused) */
  const mbg__rk_method *method; /* by stages; NULL: not */
  mbg__stage_value stage_value;
  real *staged;  /* integrals by stages                             (nused) */
  real *stage;   /* values at the stages of a step                  (MBG__RK_STAGES x nused) */
  long steps;    /* so far */
  long rough;    /* panels so far that are not accurate, and were not divided any further */
  bool warned;   /* of those */
  int sample;    /* next one */
  real *buffer;  /* values at the points of a panel                 (points x width) */
  double *total; /* integral of |f| so far                          (nquadrature) */
  double *top;   /* largest y so far                                (nquadrature) */
} mbg__step_nodes;

int mbg__step_nodes_create(mbg_context *ctx, mbg__arena *arena, const mbg__run_plan *plan, int nused,
                           mbg__step_nodes *n);
void mbg__step_nodes_destroy(mbg__step_nodes *n);
/* Integrals by stages, unless one of them is that of a smooth maximum, which needs the largest value first. */
int mbg__step_nodes_by_stages(mbg_context *ctx, mbg__arena *arena, mbg__step_nodes *n, const mbg__rk_method *method,
                              mbg__stage_value value);
/* Nodes of regular steps of a run that nobody looks at (plan->place) are not listed: their times follow from the ends
   of the steps, which must be known before mbg__step_nodes_step, and are referenced. */
void mbg__step_nodes_compact(mbg__step_nodes *n, double *const *ends);
double mbg__step_nodes_time(const mbg__step_nodes *n, int i);
/* Has the step from ta that ends at node i, or before it, its integrals from stages, not from nodes? */
bool mbg__step_nodes_staged(const mbg__step_nodes *n, double ta, int i);
/* Does the first stage of a step from ta have the values of the node there? */
bool mbg__step_nodes_goes_on(const mbg__step_nodes *n, double ta);

/* Begins a run with the node at its start. */
int mbg__step_nodes_begin(mbg_context *ctx, mbg__step_nodes *n, bool fixed, mbg__step_value value, void *user);
/* What the run has left so far. */
mbg__nodes mbg__step_nodes_of(const mbg__step_nodes *n, const int *used, bool partial);
/* The largest number of nodes between the start of one of nstep steps with the ends t (nstep + 1) and its last node. */
int mbg__step_nodes_inside(const mbg__step_nodes *n, int nstep, const double *t);
/* All nodes in ]ta, tb], in order. */
int mbg__step_nodes_step(mbg_context *ctx, mbg__step_nodes *n, real ta, real tb, mbg__step_value value, void *user);
/* One more node at t, the end of the last step: the state after an event. Not for compact nodes. */
int mbg__step_nodes_again(mbg_context *ctx, mbg__step_nodes *n, real t, mbg__step_value value, void *user);

#endif
