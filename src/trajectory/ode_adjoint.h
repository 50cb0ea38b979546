/* ode_adjoint: steps of a Runge-Kutta run with events, backward (theory 7, section 5). A step whose length moves has
   cotangents of the time of its end, tb, and of its length, hb: stage i at t1 - (1 - c_i) h with weight beta_i adds
   f_t.beta_i to tb, f_i.beta_i/h - (1 - c_i) f_t.beta_i to hb. A step to a guard has one more column, that of the
   guard. */
#ifndef MBG_TRAJECTORY_ODE_ADJOINT_H
#define MBG_TRAJECTORY_ODE_ADJOINT_H

#include "event/event_columns.h"
#include "trajectory/ode_events.h"

typedef struct {
  mbg__event_adjoint events; /* ev NULL: no events, and nothing below is used */
  const mbg__ode_events *lists;
  int n;             /* numbers of a state */
  double h, t1;      /* length of the step at hand if it moves, else 0; its end */
  real *rates, *y_x; /*                                                        (n) */
} mbg__ode_adjoint;

/* Memory in the arena. */
int mbg__ode_adjoint_create(mbg_context *ctx, mbg__arena *arena, mbg__events *ev, const mbg__ode_events *lists,
                            const mbg_model *m, int n, int ncrit, mbg__ode_adjoint *out);

/* Gradient by attributes of column c: of psi_a (ncrit x na), or that of the guard. */
static inline real *mbg__ode_adjoint_attributes(const mbg__ode_adjoint *a, real *psi_a, int c) {
  return a->events.ev && c == a->events.nc ? a->events.guard_a : psi_a + (size_t)c * (size_t)a->events.m->na;
}

/* What pulls at time t left at the clock, of columns below ncol; a step that does not move drops it. held: t stays. */
void mbg__ode_adjoint_time(mbg__ode_adjoint *a, double t, int ncol, bool held, real *psi_a);
/* Weights b (ncol x n) of the rates (n) at a stage: d(h y') = h' y'. */
void mbg__ode_adjoint_length(mbg__ode_adjoint *a, int ncol, const real *rates, const real *b);
/* A sample in a step whose length moves stays where it is, so that its place in the step moves: weights g (nc x n) of
   the dense output r at t. */
void mbg__ode_adjoint_sample(mbg__ode_adjoint *a, const mbg__rk_method *method, const real *r, double t, const real *g);

/* Step k from t0 to t1 begins backward, its last node is taken: does its length move? The signal of the guard that ends
   it, -1: none. */
int mbg__ode_adjoint_enter(mbg__ode_adjoint *a, int k, double t0, double t1, real *psi_a);
/* At the start of step k: what its length and, with an event, its end leave here. True: the caller subtracts
   events.kappa times the column of the guard from each. */
bool mbg__ode_adjoint_leave(mbg__ode_adjoint *a, int k, real *psi_a);

#endif
