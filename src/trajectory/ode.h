/* ode: runs of formulations that integrate an ordinary differential equation: evaluation between breaks, angles that
   count whole turns, the loop over Runge-Kutta steps and the message when it fails. */
#ifndef MBG_TRAJECTORY_ODE_H
#define MBG_TRAJECTORY_ODE_H

#include "integrators/rk.h"
#include "system/system.h"
#include "trajectory/step_nodes.h"
#include "trajectory/steps.h"

/* ---------------------------------------------------------------------- evaluation */

/* Times between two breaks, where time functions are smooth. */
typedef struct {
  double ta, tb;
} mbg__segment;

mbg__segment mbg__segment_between(double ta, double tb); /* in any order */
/* t moved off the ends by a few units in the last place: time functions take their limits from inside. */
real mbg__segment_inside(const mbg__segment *s, real t);

/* Between the breaks around ta .. tb: equal for a run that is repeated from the middle. */
mbg__segment mbg__plan_segment(const mbg__run_plan *plan, double ta, double tb);

/* Turn counters by continuity: angles nearest to q0 + (q0' + q') (t - t0)/2, with coordinates q0 and rates qd0 at an
   earlier time t0 and the system at t. q, qd (ncoord): scratch. */
void mbg__ode_turns(mbg__system *sys, double t0, const real *q0, const real *qd0, double t, real *q, real *qd,
                    int *turns);

/* Result of a right-hand side: a state that fails may succeed with a smaller step, unless memory is short. */
static inline int mbg__ode_status(int status) { return status < 0 && status != MBG_ERROR_MEMORY ? 1 : status; }

/* Does one of the n signals (of all, when list is NULL) depend on accelerations or reactions? */
bool mbg__ode_needs_accelerations(const mbg_model *m, int n, const int *list);

/* ---------------------------------------------------------------------- runs */

/* Tolerances and fixed step of the plan, dense output; atol (n) is referenced. */
mbg__rk_options mbg__ode_options(const mbg__run_plan *plan, const double *atol);
/* From t0 of the plan to t1, with its breaks. */
mbg__rk_run mbg__ode_run(const mbg__run_plan *plan, real t1, mbg__rk_rhs rhs, mbg__rk_segment segment, void *user);

/* What a formulation does in a forward run. */
typedef struct {
  int (*finish_step)(mbg_context *ctx, void *user); /* after each step */
  /* "the velocity of body 'b'": component i of the state, for messages */
  void (*label)(const void *user, int i, char *label, size_t size);
  /* the longest step from here, or 0: any; NULL: any (controlled steps only) */
  double (*longest_step)(const void *user);
  const char *stiff; /* remedy for a stiff model: "--integrator bdf" */
  void *user;
} mbg__ode_steps;

/* The longest controlled step of a method of this order when a body or joint turns at a rate W. The state of a rotor is
   smooth and lets steps be long, but its derivatives by numbers that unbalance it turn with it: (h W)^order is kept at
   the tolerance, but for a factor. 0: any. */
double mbg__ode_turn_limit(const mbg__run_plan *plan, int order, double W);

/* After mbg__rk_start: one step, as mbg__rk_step, with a message that names components. */
int mbg__ode_step(mbg_context *ctx, const mbg__run_plan *plan, mbg__rk *rk, const mbg__ode_steps *steps);

/* After mbg__rk_start: steps until the end, or until the plan interrupts (*partial). */
int mbg__ode_integrate(mbg_context *ctx, const mbg__run_plan *plan, mbg__rk *rk, const mbg__ode_steps *steps,
                       bool *partial);

/* The end of the next step, to be repeated by later runs: t[++n], with more room when it is full. */
int mbg__ode_keep_time(mbg_context *ctx, const mbg_allocator *allocator, double time, int *n, int *room, double **t);

/* Bytes of the store that the times of steps and the nodes leave: by the plan before a run with fixed steps, by the run
   itself after one under error control. */
double mbg__ode_store_share(const mbg__run_plan *plan, const mbg__step_nodes *n, int nstep);
/* The number of fixed steps, 0: steps under error control. */
int mbg__ode_fixed_steps(const mbg__run_plan *plan);

/* The ends of the plan's own steps, in the same list. */
int mbg__ode_take_ends(mbg_context *ctx, const mbg_allocator *allocator, const mbg__run_plan *plan, int *n, int *room,
                       double **t);

/* The result of a run. */
mbg__nodes mbg__ode_nodes(const mbg__step_nodes *n, const int *used, bool partial);

#endif
