/* trajectory: how a run goes (its plan), and what it leaves at its nodes. */
#ifndef MBG_TRAJECTORY_TRAJECTORY_H
#define MBG_TRAJECTORY_TRAJECTORY_H

#include "criteria/criteria.h"

/* An integral that criteria need: of a used signal y, or (sharpness k > 0) of exp(k y). */
typedef struct {
  int column; /* among the used signals */
  double sharpness;
  const char *name; /* of the criterion */
} mbg__quadrature;

/* How to run; every number is decided by the caller. */
typedef struct {
  const char *formulation; /* its key */
  const char *integrators; /* that it has, separated by blanks */
  double t0, t1;
  double step;               /* fixed step, or 0 with a tolerance */
  double tolerance;          /* controlled steps */
  double refine;             /* fixed steps: as many times more of them between two breaks, 0: as `step` says */
  int nlength;               /* steppers: these steps instead of controlled ones, 0: none given */
  const double *lengths;     /*                                        (nlength) */
  double relative, absolute; /* tolerances of MBG__ODE */
  double adjoint;            /* relative tolerance of a backward integration, 0: a tenth of that of the run */
  const char *integrator;    /* MBG__ODE: key, NULL: preset */
  double stabilization;      /* MBG__ODE: rate at which position residuals are made to decay, 0: none */
  int nsample;
  const double *samples; /* ascending times inside the run where values are needed: nodes where nodes are free */
  int nquadrature;
  const mbg__quadrature *quadratures;
  bool curves;             /* nodes serve curves, too: close enough to be joined by lines, where nodes are free */
  double rho_inf, alpha_f; /* damping of generalized-alpha by one of them, the other is NAN */
  double kappa;            /* ali3p: penalty factor of its projections, 0: exact */
  bool augmented;          /* ali3p: augmented Lagrangian iteration, else saddle point */
  double alpha, varsigma;  /* ali3p: penalties of this iteration and of projections, 0: not given */
  bool oblique;            /* ali3p: projections by the matrix of the step */
  int index;               /* 2: velocity constraints hold too; else 3 */
  int nbreak;
  const double *breaks;          /* ascending times that must be nodes */
  double memory;                 /* most bytes of stored nodes, 0: no limit */
  int npose;                     /* mbg__system_pose_count: keep frames and twists at every node; 0: not */
  int threads;                   /* at least 1 */
  struct mbg__rank_watch *watch; /* of singular positions; NULL: there are none */
  bool (*interrupt)(void *user); /* true: stop after the current step; may be NULL */
  void (*progress)(void *user, double t);
  void *user;
} mbg__run_plan;

/* What a run leaves: times of the nodes, quadrature weights, values of the signals asked for. */
typedef struct {
  int nnode; /* nodes computed; fewer than planned when interrupted */
  bool partial;
  double *t;   /*                                        (nnode) */
  real *omega; /* weights of the formulation's own rule, NULL: trapezoidal (nnode) */
  int nused;
  const int *used; /* signals                                (nused) */
  int npose;       /* numbers of the pose at a node, 0: not kept */
  real *y;         /* signals, then the pose                 (nnode x (nused + npose), row-major) */
} mbg__nodes;

static inline real mbg__nodes_omega(const mbg__nodes *nodes, int n) {
  return nodes->omega ? nodes->omega[n] : mbg__trapezoid(nodes->t, nodes->nnode, n);
}
/* The numbers of a node: signals, then the pose. */
static inline real *mbg__nodes_values(const mbg__nodes *nodes, int n) {
  return nodes->y + (size_t)n * (size_t)(nodes->nused + nodes->npose);
}

typedef struct {
  long steps, newton_iterations, factorizations, assemblies, solves, recomputed;
  double bytes;                          /* of stored nodes */
  double drift_position, drift_velocity; /* MBG__ODE: largest violations of the constraints on the way */
} mbg__work_counts;

#endif
