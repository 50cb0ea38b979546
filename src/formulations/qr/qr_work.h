/* Workspace of a run of `qr`. */
#ifndef MBG_FORMULATIONS_QR_QR_WORK_H
#define MBG_FORMULATIONS_QR_QR_WORK_H

#include "formulations/formulation.h"
#include "formulations/qr/qr_flow.h"
#include "integrators/rk.h"
#include "trajectory/ode_events.h"
#include "trajectory/step_nodes.h"
#include "trajectory/store.h"

typedef struct mbg__qr_cvodes mbg__qr_cvodes;

/* Replaces mbg__qr_point_pull in studies that compare other ways to its products. */
typedef int (*mbg__qr_pull)(void *user, mbg_context *ctx, int ncol, const real *mu, const real *rho, const real *lb,
                            real *gw, real *gv, real *ga);

struct mbg__formulation_work {
  mbg__arena arena;
  const mbg_model *m;
  mbg__start_work *start;
  mbg__run_plan plan, node_plan; /* breaks sorted */
  mbg__qr_flow *flow;
  mbg__step_nodes nodes;
  double *atol; /* of the state                                     (n) */
  real *z0;     /* state at the start                               (n) */
  real *z;      /* at the last node                                 (n) */
  real *zi;     /* interpolated                                     (n) */
  int *turns;   /* at the last node                                 (nturn) */
  real last;    /* time of the last node */
  bool partial;
  double speed; /* largest velocity so far */
  mbg__work_counts counts;
  mbg__qr_pull pull; /* NULL: that of the point */
  void *pull_user;

  /* Runge-Kutta pairs */
  const mbg__rk_method *method; /* NULL: CVODES */
  mbg__rk *rk;
  mbg__rk *source; /* of the last step: rk, or with events `trial` */
  mbg__rk *trial;  /* steps of any length, NULL: no events */
  double pair[2];  /* the ends of such a step */
  mbg__ode_events events;
  bool rated;             /* guards depend on rates */
  const real *dt, *ratio; /* direct differentiation with events: t' of the node, h'/h of its step (columns) */
  real *staged;           /* of direct differentiation: derivatives of integrals by stages       (nused x np) */
  int nfrozen, frozen_room;
  double *frozen; /* ends of the steps of the first run             (nfrozen + 1) */
  mbg__store store;
  int interpolated; /* step of the dense output r, 0: none */
  real *r;          /*                                              (ndense x n) */
  real *stages;     /* of a step that gets those of its dense output   (nextended x n) */

  mbg__qr_cvodes *cvodes;
};

/* ---------------------------------------------------------------------- shared by the integrators */

/* After a step from t0 to t1 that ends at z: its nodes with values at times of the step, then checks of drift, rank and
   redundant rows. */
int mbg__qr_finish_step(mbg_context *ctx, mbg__formulation_work *w, real t0, real t1, const real *z,
                        mbg__step_value value, void *user);

/* Values y of a node at (t, z), inside a step or at its end; same: the last evaluation by rhs at this time was at z. */
int mbg__qr_node_value(mbg_context *ctx, mbg__formulation_work *w, real t, const real *z, bool inside, bool same,
                       real *y);

/* ---------------------------------------------------------------------- steps of Runge-Kutta pairs */

/* A segment of smooth time functions begins; the user is the flow, whose plan has the breaks. */
int mbg__qr_begin_segment(void *user, double ta, double tb, real *z);

/* After a step of `source`: store, nodes, checks. */
int mbg__qr_end_step(mbg_context *ctx, mbg__formulation_work *w);
int mbg__qr_keep_time(mbg_context *ctx, mbg__formulation_work *w, double t);
/* Values at a time of the last step of `source`, or at its end; the user is the formulation. */
int mbg__qr_value_at(void *user, real t, real *y);
/* ... of the signals alone at a stage of this step. */
int mbg__qr_stage_value(void *user, int stage, real *y);

/* qr_events.c: the run with events. The bodies at (t, z), with accelerations where guards need them. */
int mbg__qr_integrate_events(mbg_context *ctx, mbg__formulation_work *w, const mbg__ode_steps *steps);
mbg__state mbg__qr_bodies(mbg_context *ctx, mbg__formulation_work *w, real t, const real *z);
/* z (n) after a firing, from that before it. */
int mbg__qr_act(mbg_context *ctx, mbg__formulation_work *w, int firing, double t, const real *before, real *z);
/* Time functions and modes as in step k, or as in the step before an event. */
void mbg__qr_at_step(mbg__formulation_work *w, int k);

/* A step of the last run. */
typedef struct {
  double t0, t1;
  const real *z0, *z1; /*                                           (n) */
  const real *k;       /* stages, with those of the dense output if the run used it (nextended x n) */
} mbg__qr_step;

/* qr_store.c */
int mbg__qr_store_create(mbg_context *ctx, mbg__formulation_work *w);
int mbg__qr_store_begin(mbg_context *ctx, mbg__formulation_work *w);
/* The next end of a step: z (n), and the stages k (nextended x n) that led there, NULL: none; dense: with those of the
   dense output. */
int mbg__qr_store_add(mbg_context *ctx, mbg__formulation_work *w, const real *z, const real *k, bool dense);
/* Number of steps; step k = 1, 2, ..., recomputed if it is not stored, valid until the next call. */
int mbg__qr_store_steps(const mbg__formulation_work *w);
int mbg__qr_store_step(mbg_context *ctx, mbg__formulation_work *w, int k, mbg__qr_step *out);
/* z (n) at a time of step k by its dense output, for which the step gets the stages it lacks. */
int mbg__qr_step_interpolate(mbg_context *ctx, mbg__formulation_work *w, int k, mbg__qr_step *step, double t, real *z);
int mbg__qr_store_interpolate(mbg_context *ctx, mbg__formulation_work *w, int k, double t, real *z);

/* ---------------------------------------------------------------------- continuous adjoint of any integrator */

/* y = (mu: nw, nu: nv, g: wanted attributes) for each criterion in turn. */
typedef struct {
  mbg__formulation_work *w;
  int nc, n; /* criteria, entries of each */
  const mbg__criterion_seeds *seeds;
  bool densities;
  int nwanted, *wanted;
  double *weight;       /* of entries of y: makes them comparable within a group           (n) */
  double *scale;        /* of the groups mu, nu, g of each criterion                       (3 nc) */
  double *atol;         /*                                                                 (nc n) */
  int loosened;         /* decades by which too many short steps have loosened the tolerance */
  real *mu, *rho;       /*                                                                 (nc x nw) */
  real *gw, *gv, *gvd;  /*                                                                 (nc x nw) */
  real *lb;             /*                                                                 (nc x nrow) */
  real *ga;             /*                                                                 (nc x na) */
  real *signals, *rate; /*                                                           (nused, nc n) */
  /* forward state at t, for the integrator at hand */
  int (*forward)(void *user, double t, real *z);
  void *user;
} mbg__qr_continuous;

int mbg__qr_continuous_create(mbg_context *ctx, mbg__arena *arena, mbg__formulation_work *w, int ncrit,
                              const mbg__criterion_seeds *seeds, mbg__qr_continuous *a);
/* y' of (A3)-(A5) at the flow's current evaluation; and with the forward state looked up. */
int mbg__qr_continuous_rates(mbg_context *ctx, mbg__qr_continuous *a, const real *y, real *yd);
int mbg__qr_continuous_rhs(void *adjoint, real t, const real *y, real *yd);
/* The jump of y by the values of criteria at the nodes of time t. */
int mbg__qr_continuous_jump(mbg_context *ctx, mbg__qr_continuous *a, double t, real *y);
/* Absolute tolerances relative to the largest y so far; at the beginning of a segment the rate of y replaces a group
   that is still zero. */
void mbg__qr_continuous_scales(mbg__qr_continuous *a, const real *y);
int mbg__qr_continuous_begin(mbg__qr_continuous *a, double t, const real *y);
/* psi_a += contribution of the start, and the integrals g. */
int mbg__qr_continuous_finish(mbg_context *ctx, mbg__qr_continuous *a, const real *y, real *psi_a);

/* Times inside the run where a criterion has values, with the breaks: sorted. Memory in the arena. */
int mbg__qr_continuous_breaks(mbg_context *ctx, mbg__arena *arena, const mbg__qr_continuous *a, int *count,
                              double **times);

/* ---------------------------------------------------------------------- passes */

mbg__nodes mbg__qr_nodes(const mbg__formulation_work *w); /* of the last run */
int mbg__qr_simulate(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes);
int mbg__qr_tangent(mbg_context *ctx, mbg__formulation_work *w, int (*take)(void *user, int node, const real *dy),
                    void *user);
int mbg__qr_adjoint(mbg_context *ctx, mbg__formulation_work *w, int ncrit, const mbg__criterion_seeds *seeds,
                    real *psi_a);
int mbg__qr_continuous_run(mbg_context *ctx, mbg__formulation_work *w, int ncrit, const mbg__criterion_seeds *seeds,
                           real *psi_a);

/* CVODES (Adams, BDF). */
int mbg__qr_cvodes_create(mbg_context *ctx, mbg__formulation_work *w, bool stiff, mbg__qr_cvodes **out);
void mbg__qr_cvodes_destroy(mbg__qr_cvodes *c);
int mbg__qr_cvodes_simulate(mbg_context *ctx, mbg__formulation_work *w, bool fixed);
int mbg__qr_cvodes_adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg__qr_continuous *a, real *y);

#endif
