/* Workspace of a run of `dca`. */
#ifndef MBG_FORMULATIONS_DCA_DCA_WORK_H
#define MBG_FORMULATIONS_DCA_DCA_WORK_H

#include "formulations/dca/dca_flow.h"
#include "formulations/dca/dca_loops.h"
#include "formulations/dca/dca_project.h"
#include "formulations/formulation.h"
#include "integrators/rk.h"
#include "trajectory/ode_events.h"
#include "trajectory/step_nodes.h"
#include "trajectory/store.h"

/* The end of a step, seen in its block of memory: the base of the next one, and how it was reached. */
typedef struct {
  double *t;
  int *rounds;   /* solves of frames of the projection */
  mbg__frame *E; /*                                            (nbody) */
  real *w;       /*                                            (n) */
  real *sigma;   /* increments of the step                     (n) */
  real *before;  /* rates before the projection                (n) */
  real *k;       /* stages of the step, NULL: not kept         (nextended x 2 n) */
  int *turns;    /*                                            (nturn) */
} mbg__dca_step;

struct mbg__formulation_work {
  mbg__arena arena;
  const mbg_model *m;
  mbg__system *sys; /* that the pool serves */
  mbg__start_work *start;
  mbg__run_plan plan, node_plan; /* breaks sorted */
  mbg__pool *pool;
  mbg__rank *rank; /* with the rows that the tree drops */
  mbg__tree *tree;
  mbg__dca_assembly *assembly;       /* factors by pieces, or ... */
  mbg__dca_articulated *articulated; /* ... of trees without rows */
  mbg__dca_point *point;
  mbg__dca_flow flow;
  mbg__dca_project *project; /* NULL: no loops */
  mbg__step_nodes nodes;
  double *atol; /*                                            (2 n) */
  real *y, *yi; /*                                            (2 n) */
  mbg__dca_base base[2];
  mbg__dca_base final; /* the last one of the last run */
  int now;             /* base of the step at hand */
  int rounds;          /* solves of frames in the last projection */
  real *before;        /* rates before it                              (n) */
  real *phi;           /*                                              (nrow) */
  real *phid;          /* NULL: no rows on rates                       (nrow) */
  double last;
  bool partial;
  mbg__work_counts counts;
  const mbg__rk_method *method;
  mbg__rk *rk;
  mbg__rk *source; /* of the last step: rk, or with events `trial` */
  mbg__rk *trial;  /* steps of any length, NULL: no events */
  double pair[2];  /* the ends of such a step */
  mbg__ode_events events;
  bool rated;             /* guards depend on rates */
  const real *dt, *ratio; /* direct differentiation with events: t' of the node, h'/h of its step (columns) */
  int nfrozen;
  double *frozen; /* ends of the steps of the first run        (nfrozen + 1) */
  int frozen_room;
  mbg__store store;
};

/* The segment of smooth time functions around ta .. tb. */
void mbg__dca_segment(mbg__formulation_work *w, double ta, double tb);

/* With events: the bodies at a base, with accelerations where guards need them. */
mbg__state mbg__dca_bodies(mbg_context *ctx, mbg__formulation_work *w, const mbg__dca_base *base);
/* base[!now] is base[now] with the twists v (nw). */
int mbg__dca_restart(mbg_context *ctx, mbg__formulation_work *w, const real *v);
/* After a step: nodes, checks, store. */
int mbg__dca_end_step(mbg_context *ctx, mbg__formulation_work *w);
/* ... the integrator goes on from it. */
int mbg__dca_go_on(mbg_context *ctx, mbg__formulation_work *w);
int mbg__dca_keep_time(mbg_context *ctx, mbg__formulation_work *w, double t);
int mbg__dca_value_at(void *user, real t, real *values);
/* dca_events.c: the run with events. */
int mbg__dca_integrate_events(mbg_context *ctx, mbg__formulation_work *w, const mbg__ode_steps *steps);

/* After a step with increments and rates y1 (2 n) from base `now` to t1: sets the other base to its end, projected. */
int mbg__dca_finish_step(mbg_context *ctx, mbg__formulation_work *w, real t1, const real *y1);

/* Functions of the integrator; the user is the formulation. */
int mbg__dca_rhs(void *user, real t, const real *y, real *yd);
int mbg__dca_begin_segment(void *user, double ta, double tb, real *y);

/* dca_store.c: ends of steps, with their stages unless memory is limited. */
int mbg__dca_store_create(mbg_context *ctx, mbg__formulation_work *w);
int mbg__dca_store_begin(mbg_context *ctx, mbg__formulation_work *w);
/* The other base and how it was reached, as the next end. */
int mbg__dca_store_add(mbg_context *ctx, mbg__formulation_work *w, const mbg__dca_base *base, const real *sigma,
                       const real *k);
/* The start of the last run; both ends of its step k = 1, 2, ..., recomputed if they are not stored (the bases of w are
   then scratch). Valid until the next call. */
void mbg__dca_store_first(const mbg__formulation_work *w, mbg__dca_step *out);
int mbg__dca_store_step(mbg_context *ctx, mbg__formulation_work *w, int k, mbg__dca_step *start, mbg__dca_step *end);
/* Frames, rates and turns of an end into a base, which is not set yet. */
void mbg__dca_base_load(const mbg__formulation_work *w, const mbg__dca_step *s, mbg__dca_base *b);

/* dca_signals.c: from weights of signals at a node, seed (nc x nused), adds to ge (6 per link), gw (n) at the state of
   the node and to gattr (na), for each of nc criteria. */
typedef struct mbg__dca_seeds mbg__dca_seeds;
int mbg__dca_seeds_create(mbg_context *ctx, mbg__arena *arena, mbg__formulation_work *w, int nc, mbg__dca_seeds **out);
/* ... with the seeds of frames and twists at a node besides those of signals. */
void mbg__dca_seeds_poses(mbg__dca_seeds *s, const mbg__criterion_seeds *seeds, int node);
/* From now on what moves the joints at nodes is summed, until the attributes gattr (nc x na) get it. Not with modal
   bodies. */
int mbg__dca_seeds_sum(mbg_context *ctx, mbg__arena *arena, mbg__dca_seeds *s);
void mbg__dca_seeds_take(mbg__dca_seeds *s, real *gattr);
/* Has criterion c a weight at this node? */
bool mbg__dca_seeds_any(const mbg__dca_seeds *s, const real *seed, int c);
/* The links of ge and gw that change at this node; NULL: all. */
const mbg__dca_few *mbg__dca_seeds_few(const mbg__dca_seeds *s);
int mbg__dca_seeds_at(mbg_context *ctx, mbg__dca_seeds *s, const mbg__dca_base *base, double t, const real *y,
                      const real *seed, real *ge, real *gw, real *gattr);

/* dca_limits.c: notes the longest stable step of modal bodies, warns if the step of the run is longer. */
int mbg__dca_limits(mbg_context *ctx, mbg__formulation_work *w);

/* dca_forward.c, dca_tangent.c, dca_adjoint.c */
mbg__nodes mbg__dca_nodes(const mbg__formulation_work *w); /* of the last run */
int mbg__dca_simulate(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes);
int mbg__dca_tangent(mbg_context *ctx, mbg__formulation_work *w, int (*take)(void *user, int node, const real *dy),
                     void *user);
int mbg__dca_adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg_method method, int ncrit,
                     const mbg__criterion_seeds *seeds, real *psi_a);

#endif
