/* ode_tangent: direct differentiation of a Runge-Kutta run with events (theory 7, section 5). The steps of the run are
   repeated, with one column for each parameter beside the state: x = (y, y_1', ..., y_np').

   A step that leads to an event, and the one that follows it, have lengths that move. At a time t of such a step t' is
   that of its end less what is left of h', and d(h f)/h has (h'/h) f. A step to a guard is made twice, first with one
   more column, whose length alone changes: it gives t' of the end. */
#ifndef MBG_TRAJECTORY_ODE_TANGENT_H
#define MBG_TRAJECTORY_ODE_TANGENT_H

#include "event/event_columns.h"
#include "trajectory/ode_events.h"

typedef struct {
  const mbg__run_plan *plan;
  const mbg__ode_events *lists;
  const mbg__step_nodes *nodes;
  const mbg__rk_method *method;
  mbg__pool *pool;
  int nend;
  const double *ends; /* of the steps of the run                        (nend + 1) */
  int n;              /* numbers of the state, and of a column */
  int np;             /* columns: parameters, and for the time of a guard one more */
  int nparam;
  mbg__event_tangent events;
  double t0, t1;              /* events: the step at hand, if its length moves; else t1 = t0 */
  bool held;                  /* events: the node stays at its time */
  real *x, *xi, *xd;          /* state and columns; at a node inside a step; their rates    (n (1 + np)) */
  real *dy;                   /* derivatives at a node; of the formulation */
  real *dt, *ratio;           /* events: t' of the node, h'/h of its step                    (nparam) */
  real *hold;                 /* events:                                                     (n) */
  real *kept;                 /* events: x at the start of a step                            (n (1 + nparam)) */
  real *da;                   /* events:                                                     (na) */
  mbg__rk *guard;             /* events: steps with one more column */
  const mbg__rk_parts *parts; /* components of x that nodes read; NULL: all; without events */
  int node;                   /* next one to hand over */
  int (*take)(void *user, int node, const real *dy);
  void *user;
} mbg__ode_tangent;

/* What a formulation does with columns. */
typedef struct {
  mbg__rk_rhs rhs; /* mbg__ode_tangent_times first, mbg__ode_tangent_lengths last */
  mbg__rk_segment segment;
  /* dy at (t, x), inside a step or at the present end. */
  int (*node)(mbg_context *ctx, void *user, double t, const real *x, bool inside);
  /* x is the end of a step: it becomes the start of the next one. NULL: it is. */
  int (*finish)(mbg_context *ctx, void *user, double t1);
  /* The integrator goes on from there. NULL: it does. */
  int (*go_on)(mbg_context *ctx, void *user, mbg__rk *rk);
  /* Derivatives of a guard at the present end: events.g (np). */
  int (*guard)(mbg_context *ctx, void *user, int guard);
  /* x becomes the state after a firing. */
  int (*event)(mbg_context *ctx, void *user, int firing, double t);
  /* Keeps what a step changes besides x, with 0 for the column of a guard; or takes the step back. NULL: nothing. */
  void (*keep)(void *user, bool back);
  void *user;
} mbg__ode_tangent_ops;

/* Memory in the arena for n and nparam, which are set, as are the members before them. */
int mbg__ode_tangent_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__design_columns *columns,
                            mbg__ode_tangent *d);
void mbg__ode_tangent_destroy(mbg__ode_tangent *d);

static inline real *mbg__ode_tangent_column(const mbg__ode_tangent *d, real *x, int p) {
  return x + (size_t)d->n * (size_t)(1 + p);
}
static inline const real *mbg__ode_tangent_column_of(const mbg__ode_tangent *d, const real *x, int p) {
  return x + (size_t)d->n * (size_t)(1 + p);
}

/* t' at a time of the step at hand, into events.at. */
void mbg__ode_tangent_times(mbg__ode_tangent *d, double t);
/* (h'/h) f of steps whose length moves, added to the rates of the columns. */
void mbg__ode_tangent_lengths(const mbg__ode_tangent *d, real *xd);
/* Nodes inside a step are handed over. */
int mbg__ode_tangent_inner(mbg_context *ctx, mbg__ode_tangent *d, const mbg__ode_tangent_ops *ops,
                           const mbg__rk_record *step);
/* The run with events, from its start in x. */
int mbg__ode_tangent_run(mbg_context *ctx, mbg__ode_tangent *d, const mbg__ode_tangent_ops *ops, mbg__rk *rk);

#endif
