/* trajectory: how a run goes (its plan), and what it leaves at its nodes. */
#ifndef MBG_TRAJECTORY_TRAJECTORY_H
#define MBG_TRAJECTORY_TRAJECTORY_H

#include "criteria/criteria.h"
#include "criteria/node_grid.h"

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
  double step;           /* fixed step, or 0 with a tolerance */
  double tolerance;      /* controlled steps */
  double refine;         /* fixed steps: as many times more of them between two breaks, 0: as `step` says */
  int nlength;           /* these steps instead of controlled ones, 0: none given; MBG__ODE: by ends, one part each */
  const double *lengths; /* NULL: see ends                         (nlength) */
  const double *ends;    /* of other steps, each of which becomes `parts` equal ones (nlength / parts + 1) */
  int parts;
  /* MBG__ODE: nodes and their weights, to be repeated with the steps of `ends`; NULL: they are decided  (nnode) */
  int nnode;
  const double *node_t, *node_omega;
  /* A run that is repeated: the unknowns of its step that ends at t, increments, then multipliers (reals of the other
     compilation); false: they are not in memory. NULL: no run is repeated. */
  bool (*solved)(const void *repeated, double t, double *x);
  const void *repeated;
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
  const int *place;              /* NULL, or a run whose nodes nobody looks at: see mbg__nodes (nused); no poses then */
  int npose;                     /* mbg__system_pose_count: keep frames and twists at every node; 0: not */
  int threads;                   /* at least 1 */
  struct mbg__rank_watch *watch; /* of singular positions; NULL: there are none */
  struct mbg__events *events;    /* NULL: there are none */
  bool (*interrupt)(void *user); /* true: stop after the current step; may be NULL */
  bool *stopped;                 /* set when a step itself was cut short by it: the run ends there; may be NULL */
  void (*progress)(void *user, double t);
  void *user;
  /* takes the used signals at every node, in order; NULL: nobody asks */
  void (*node)(void *taker, double t, bool inner, const real *y);
  void *taker;
} mbg__run_plan;

/* What a run leaves: times of the nodes, quadrature weights, values of the signals asked for. */
typedef struct {
  int nnode; /* nodes computed; fewer than planned when interrupted */
  bool partial;
  real *t;                    /* NULL: see grid                         (nnode) */
  real *omega;                /* weights of the formulation's own rule, NULL: trapezoidal (nnode) */
  const mbg__node_grid *grid; /* times and weights, NULL: the arrays have them */
  int nused;
  const int *used; /* signals                                (nused) */
  int npose;       /* numbers of the pose at a node, 0: not kept */
  int width;       /* numbers kept at a node: nused + npose, or fewer by `place` */
  real *y;         /* signals, then the pose                 (nnode x width, row-major) */
  /* Of a run whose nodes nobody looks at: where the numbers of a node hold a used signal, -1: they do not, as criteria
     need its last value and integral alone; NULL: all are held in their order. */
  const int *place;           /*                                        (nused) */
  int nfiring;                /* events */
  const mbg__firing *firings; /* two nodes at the time of each, but the one that ends the run  (nfiring) */
  real *end, *sum;            /* with a place: the last values, and sum omega_n y_n   (nused) */
  const real *staged;         /* integrals over steps by their stages, without nodes; NULL: there are none (nused) */
} mbg__nodes;

static inline double mbg__nodes_time(const mbg__nodes *nodes, int n) {
  return nodes->grid ? mbg__grid_time(nodes->grid, n) : (double)re(nodes->t[n]);
}
static inline real mbg__nodes_omega(const mbg__nodes *nodes, int n) {
  return nodes->grid    ? mbg__grid_omega(nodes->grid, n)
         : nodes->omega ? nodes->omega[n]
                        : mbg__trapezoid(nodes->t, nodes->nnode, n);
}
/* The numbers of a node: signals, then the pose; fewer by `place`. */
static inline real *mbg__nodes_values(const mbg__nodes *nodes, int n) {
  return nodes->y + (size_t)n * (size_t)nodes->width;
}
/* Bytes of n nodes. */
static inline double mbg__nodes_bytes(const mbg__nodes *nodes, int n) {
  const size_t own =
      nodes->grid ? sizeof(double) / (nodes->grid->per > 1 ? 2 : 1) : sizeof(real) + (nodes->omega ? sizeof(real) : 0);
  return (double)n * (double)(own + (size_t)nodes->width * sizeof(real));
}
/* What other memory leaves of a limit (0: there is none) for stored nodes: an eighth of it at least, and up to 1 MB
   half of it, because few of them cost much time. */
static inline double mbg__store_share(double limit, double other) {
  return fmax(limit - other, fmin(limit / 2, fmax(limit / 8, 1e6)));
}
/* How many signals have a place. */
static inline int mbg__nodes_places(const int *place, int nused) {
  int n = 0;
  for (int k = 0; k < nused; k++) {
    n += place[k] >= 0;
  }
  return n;
}
/* With places: the values (nused) of node n; their part of the integrals. */
static inline void mbg__nodes_take(const mbg__nodes *nodes, int n, const real *values) {
  for (int k = 0; k < nodes->nused; k++) {
    if (nodes->place[k] >= 0) {
      mbg__nodes_values(nodes, n)[nodes->place[k]] = values[k];
    }
    nodes->end[k] = values[k];
  }
}
static inline void mbg__nodes_sum(const mbg__nodes *nodes, real omega, const real *values) {
  for (int k = 0; k < nodes->nused; k++) {
    nodes->sum[k] += omega * values[k];
  }
}

typedef struct {
  long steps, newton_iterations, factorizations, assemblies, solves, recomputed;
  double bytes;                          /* of stored nodes */
  double drift_position, drift_velocity; /* MBG__ODE: largest violations of the constraints on the way */
} mbg__work_counts;

#endif
