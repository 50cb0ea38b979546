/* ode_events: Runge-Kutta runs with events. Steps of the integrator are looked at one after the other; one in which an
   event lies is taken anew with the length that leads to it, and the integrator starts again behind it (theory 7,
   section 2). Nodes of a fixed grid stay where they are, as in march_events.c. */
#ifndef MBG_TRAJECTORY_ODE_EVENTS_H
#define MBG_TRAJECTORY_ODE_EVENTS_H

#include "event/event.h"
#include "trajectory/ode.h"

/* What a formulation does; the trial is the last step that was made. */
typedef struct {
  /* From the present end: steps to t[1] ... t[n] (n = 0: under error control), not made yet. t stays. */
  int (*start)(mbg_context *ctx, void *user, int n, const double *t);
  /* The next of them becomes the trial. *t1: its end. */
  int (*next)(mbg_context *ctx, void *user, real *t1);
  /* A step of length h from the present end becomes the trial; the one made by `next` when it has this length. */
  int (*step)(mbg_context *ctx, void *user, real h);
  /* The state at the trial, or at the present end, with rates. */
  mbg__state (*state)(mbg_context *ctx, void *user, bool trial);
  /* ... inside the trial, by its dense output. */
  mbg__state (*inside)(mbg_context *ctx, void *user, double length);
  /* The trial becomes the present end, with its nodes; stays: `next` goes on from it. The number of its last node. */
  int (*accept)(mbg_context *ctx, void *user, bool stays, int *node);
  /* The same with other twists v (nw), and a node at the same time. */
  int (*restart)(mbg_context *ctx, void *user, const real *v);
  void *user;
} mbg__ode_event_steps;

/* Ends of steps and the firings before each, for passes over the run. */
typedef struct {
  mbg_allocator allocator;
  int n, room;  /* steps, those of events included */
  int *fired;   /* firings before an end or at it              (n + 1) */
  int ngrid;    /* fixed steps, or those of a run to be repeated */
  double *grid; /* their ends; scratch of the run              (ngrid + 1) */
  int nkept;    /* frozen runs: steps of their grid, 0: none */
  double *kept; /* ... their ends                              (nkept + 1) */
  double aim;   /* end of the step in which an event ended the last run, NAN: none did */
  real *v;      /* twists                                      (nw) */
} mbg__ode_events;

int mbg__ode_events_create(mbg_context *ctx, const mbg__run_plan *plan, int nw, mbg__ode_events *out);
void mbg__ode_events_destroy(mbg__ode_events *e);

/* The next run repeats steps under error control, whose ends (nend + 1) those of the last run are; frozen (see
   mbg__events_freeze) also fixed steps. */
int mbg__ode_events_repeat(mbg_context *ctx, mbg__ode_events *e, const mbg__run_plan *plan, int nend,
                           const double *ends);
/* The run, from the present end at t0 of the plan. */
int mbg__ode_events_run(mbg_context *ctx, mbg__ode_events *e, const mbg__run_plan *plan,
                        const mbg__ode_event_steps *steps, bool *partial);

/* The firing that step k is, -1: it is a step; the firing at its end, -1: none. */
int mbg__ode_events_fired(const mbg__ode_events *e, int k);
int mbg__ode_events_fires(const mbg__ode_events *e, const mbg__events *ev, int k);
/* Modes and impulses as in step k. */
void mbg__ode_events_at(const mbg__ode_events *e, mbg__events *ev, int k);
/* Does the length of step k depend on an event? */
bool mbg__ode_events_moves(const mbg__ode_events *e, const mbg__events *ev, int k);
/* Does step k lead from one fixed time to another, without an event? Then the state at an end that it shares with such
   a step is evaluated once. ev may be NULL. */
bool mbg__ode_events_stays(const mbg__ode_events *e, const mbg__events *ev, int k);

#endif
