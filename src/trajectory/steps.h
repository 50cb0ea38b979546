/* The plan of a run as formulations read it: grid, breaks, interruption, tolerances, integrator. */
#ifndef MBG_TRAJECTORY_STEPS_H
#define MBG_TRAJECTORY_STEPS_H

#include "integrators/rk.h"
#include "trajectory/trajectory.h"

enum { MBG__STEPS_MAX = 100000000 };

/* The index of the first break after t, nbreak: none. */
int mbg__plan_break_after(const mbg__run_plan *p, double t);
/* The next break after t, or the end of the run. */
double mbg__plan_next_break(const mbg__run_plan *p, double t);
/* Equal steps between breaks, none longer than p->step: their number, and (h not NULL) their lengths h[1 .. nstep]. */
int mbg__plan_grid(mbg_context *ctx, const mbg__run_plan *p, double *h, int *nstep);

bool mbg__plan_interrupted(const mbg__run_plan *p);
/* MBG_ERROR_INTERRUPTED when the plan interrupts a gradient at time t. */
int mbg__plan_check_interrupt(mbg_context *ctx, const mbg__run_plan *p, double t);

/* MBG__ODE: the breaks inside the run, none twice, in the arena. */
int mbg__plan_thin_breaks(mbg_context *ctx, mbg__arena *arena, mbg__run_plan *p);
int mbg__plan_check_tolerances(mbg_context *ctx, const mbg__run_plan *p);
/* The Runge-Kutta method `key`, one of the formulation's integrators; NULL: it is one, but no Runge-Kutta method. */
int mbg__plan_integrator(mbg_context *ctx, const mbg__run_plan *p, const char *key, const mbg__rk_method **method);

#endif
