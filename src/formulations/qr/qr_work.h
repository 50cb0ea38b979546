/* Workspace of a run of `qr`. */
#ifndef MBG_FORMULATIONS_QR_QR_WORK_H
#define MBG_FORMULATIONS_QR_QR_WORK_H

#include "formulations/formulation.h"
#include "formulations/qr/qr_flow.h"
#include "integrators/rk.h"
#include "trajectory/step_nodes.h"

typedef struct mbg__qr_cvodes mbg__qr_cvodes;

/* Replaces mbg__qr_point_pull in studies that compare other ways to its products. */
typedef int (*mbg__qr_pull)(void *user, mbg_context *ctx, int ncol, const real *mu, const real *rho, const real *lb,
                            real *gw, real *gv, real *ga);

struct mbg__formulation_work {
  mbg__arena arena;
  const mbg_model *m;
  mbg__start_work *start;
  mbg__run_plan plan; /* breaks sorted */
  mbg__qr_flow *flow;
  mbg__step_nodes nodes;
  double *atol; /* of the state                                     (n) */
  real *z0;     /* state at the start                               (n) */
  real *z;      /* at the last node                                 (n) */
  real *zi;     /* interpolated                                     (n) */
  int *turns;   /* at the last node                                 (nturn) */
  double last;  /* time of the last node */
  bool partial;
  double speed; /* largest velocity so far */
  mbg__work_counts counts;
  mbg__qr_pull pull; /* NULL: that of the point */
  void *pull_user;

  /* Runge-Kutta pairs */
  const mbg__rk_method *method; /* NULL: CVODES */
  mbg__rk *rk;
  mbg__rk_dense dense;
  int nfrozen;
  double *frozen; /* nodes of the first run                         (nfrozen + 1) */

  mbg__qr_cvodes *cvodes;
};

/* ---------------------------------------------------------------------- shared by the integrators */

/* After a step from t0 to t1 that ends at z: its nodes with values at times of the step, then checks of drift, rank and
   redundant rows. */
int mbg__qr_finish_step(mbg_context *ctx, mbg__formulation_work *w, double t0, double t1, const real *z,
                        mbg__step_value value, void *user);

/* ---------------------------------------------------------------------- adjoint of any integrator */

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
} mbg__qr_adjoint;

int mbg__qr_adjoint_create(mbg_context *ctx, mbg__arena *arena, mbg__formulation_work *w, int ncrit,
                           const mbg__criterion_seeds *seeds, mbg__qr_adjoint *a);
/* y' of (A3)-(A5) at the flow's current evaluation; and with the forward state looked up. */
int mbg__qr_adjoint_rates(mbg_context *ctx, mbg__qr_adjoint *a, const real *y, real *yd);
int mbg__qr_adjoint_rhs(void *adjoint, double t, const real *y, real *yd);
/* The jump of y by the values of criteria at the nodes of time t. */
int mbg__qr_adjoint_jump(mbg_context *ctx, mbg__qr_adjoint *a, double t, real *y);
/* Absolute tolerances relative to the largest y so far; at the beginning of a segment the rate of y replaces a group
   that is still zero. */
void mbg__qr_adjoint_scales(mbg__qr_adjoint *a, const real *y);
int mbg__qr_adjoint_begin(mbg__qr_adjoint *a, double t, const real *y);
/* psi_a += contribution of the start, and the integrals g. */
int mbg__qr_adjoint_finish(mbg_context *ctx, mbg__qr_adjoint *a, const real *y, real *psi_a);

/* Times inside the run where a criterion has values, with the breaks: sorted. Memory in the arena. */
int mbg__qr_adjoint_breaks(mbg_context *ctx, mbg__arena *arena, const mbg__qr_adjoint *a, int *count, double **times);

/* ---------------------------------------------------------------------- passes */

int mbg__qr_simulate(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes);
int mbg__qr_tangent(mbg_context *ctx, mbg__formulation_work *w, int (*take)(void *user, int node, const real *dy),
                    void *user);
int mbg__qr_adjoint_run(mbg_context *ctx, mbg__formulation_work *w, mbg_method method, int ncrit,
                        const mbg__criterion_seeds *seeds, real *psi_a);

/* CVODES (Adams, BDF). */
int mbg__qr_cvodes_create(mbg_context *ctx, mbg__formulation_work *w, bool stiff, mbg__qr_cvodes **out);
void mbg__qr_cvodes_destroy(mbg__qr_cvodes *c);
int mbg__qr_cvodes_simulate(mbg_context *ctx, mbg__formulation_work *w, bool fixed);
int mbg__qr_cvodes_adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg__qr_adjoint *a, real *y);

#endif
