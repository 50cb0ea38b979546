/* The workspace of the formulation: stepper, tangent and adjoint use the same matrices.

   Letters of theory 5 in the code: z the joint frames E, w their rates, a the joint accelerations; D the increment of a
   step; ws, as rates and accelerations of the trapezoidal rule before the projections; y, x the multipliers of the
   projections of rates and of accelerations; lambda the multipliers of the step, in the signs of the core. */
#ifndef MBG_FORMULATIONS_ALI3P_ALI3P_WORK_H
#define MBG_FORMULATIONS_ALI3P_ALI3P_WORK_H

#include "event/event_columns.h"
#include "formulations/formulation.h"
#include "system/saddle.h"
#include "trajectory/march.h"
#include "tree/tree.h"
#include "tree/tree_lanes.h"
#include "tree/tree_local.h"

/* A node, seen in its block of memory. */
typedef struct {
  real *t, *h;               /* h: step that led here, 0 at the start and after an event */
  mbg__frame *E;             /* joint frames by link                (nbody) */
  real *w, *a, *ws, *as, *D; /*                                     (n) */
  real *lambda, *y, *x;      /*                                     (rows) */
  int *turns;                /*                                     (nturn) */
} mbg__ali3p_node;

typedef struct mbg__penalty mbg__penalty;

/* Factors of the last run, step by step. */
typedef struct {
  bool on;         /* a run is under way */
  bool pending;    /* it has not made a step */
  bool wanted;     /* the run is one whose passes use them, kept or made again */
  int count, room; /* steps */
  size_t bytes;    /* of a step */
  char *block;     /*                                               (room x bytes) */
} mbg__ali3p_kept;

typedef struct mbg__formulation_work {
  mbg__arena arena;
  mbg__march *march;
  mbg__work_counts *counts; /* of the march */
  const mbg_model *m;
  mbg__system *sys;
  mbg__start_work *start;
  mbg__tree *tree;
  const mbg__link *links;
  mbg__events *events; /* of the plan, NULL: none */
  double ended;        /* events: time of the node where the tree stands, as signals need it; NAN: elsewhere */
  const real *dt;      /* direct differentiation with events: variation of the time of the node (columns) */
  int n, nrow;         /* coordinates, constraint rows */
  int nused;
  const int *used;
  bool forces;           /* used signals need forces */
  bool soft;             /* projections with eps, else exact */
  bool oblique;          /* projections by the matrix of the step instead of the mass matrix: no gradients */
  bool scaled;           /* eps is known */
  double kappa;          /* of the penalty */
  bool *rates;           /* rows on rates, NULL: there are none                 (rows) */
  bool *hard;            /* rows that follow time                               (rows) */
  bool *late;            /* states with late rates that are corrected after a step, NULL: there are none   (n) */
  real *held;            /* late rates by reactions, else NULL: a_S at the start of the step               (n) */
  mbg__part *eps;        /* diag(Phi_z M^-1 Phi_z^T)/kappa                      (rows) */
  double alpha;          /* augmented: penalty of all rows, 0: 4/(h^2 eps) */
  double varsigma;       /* projections with 1/(varsigma alpha) instead of eps, 0: not */
  mbg__part *softness;   /* the former                                     (rows) */
  mbg__penalty *penalty; /* of the augmented iteration, NULL: saddle point */
  mbg__tree_matrix step, mass;
  bool softened;                                             /* the step's factors are those of soft rows */
  mbg__ali3p_kept kept, kept_step;                           /* of the projections, of Newton's matrix */
  mbg__ali3p_kept aside;                                     /* samples: Newton's matrix, before and after */
  real *b;                                                   /* right side and solution             (n + rows) */
  real *E1, *zero, *q;                                       /*                                     (n) */
  real *phi, *phid, *phidd;                                  /*                                     (rows) */
  bool (*solved)(const void *repeated, double t, double *x); /* of the plan */
  const void *repeated;
  double *known; /* its numbers                         (n + rows) */
  real *coords;  /* at the start of a step              (ncoord) */
  int *turns;    /*                                     (nturn) */

  /* reactions: accelerations and multipliers of all rows at a node */
  bool reactions;
  const mbg__rank *rank;
  mbg__saddle index1;          /* [[M, B^T], [B, 0]] over bodies */
  real *M, *B, *vd1, *lambda1; /* (patterns), (nw), (model's rows) */
  real *r1, *gamma1, *x1;      /*                                     (nw), (rows), (nv + rows) */
  real *dvd1, *dlambda1;       /* held: changes or cotangents         (nw), (rows) */
  real *bodies1[2];            /* held: of frames, of twists          (nw) */
} mbg__ali3p;

size_t mbg__ali3p_node_bytes(const mbg__ali3p *a);
mbg__ali3p_node mbg__ali3p_view(const mbg__ali3p *a, const void *block);

/* ali3p_forward.c: functions of the march; `user` is the formulation. */
extern const mbg__march_method mbg__ali3p_method;

/* ali3p_events.c: of the march; the guess of a step of length h, shorter than the one that `to` ends, as inside it. */
void mbg__ali3p_inside(void *user, const void *from_block, const void *to_block, double length, void *block);
void mbg__ali3p_predict_shorter(const mbg__ali3p *a, const mbg__ali3p_node *from, real h, const mbg__ali3p_node *to);

/* The bodies at a node with their rates; the tree is moved there. */
mbg__state mbg__ali3p_bodies(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n);

/* The three states of a step, updated and linearized with E1 computed: E1 at (z, ws, as, lambda); the projections of
   rates and of accelerations, M q + Phi_z^T y with q = w - ws and y, or q = a - as and x. */
int mbg__ali3p_at_step(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n);
int mbg__ali3p_at_rates(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n);
int mbg__ali3p_at_accelerations(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n);
/* One projection after the other at the same node. */
void mbg__ali3p_then_rates(mbg__ali3p *a, const mbg__ali3p_node *n);
void mbg__ali3p_then_accelerations(mbg__ali3p *a, const mbg__ali3p_node *n);
/* The first node: E1 and phidd at (z, w, a, lambda). */
int mbg__ali3p_at_start(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n);
/* Factors of the step and of the mass matrix there; the latter with eps unless `exact`. */
int mbg__ali3p_factor_step(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n, bool penalty);
int mbg__ali3p_factor_mass(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n, bool exact);

/* ali3p_kept.c: a run begins after its first factorization of the mass matrix, adds those of each further node, by the
   step made last or (step false) without one, and ends. */
void mbg__ali3p_kept_begin(mbg__ali3p *a);
void mbg__ali3p_kept_add(mbg__ali3p *a, bool step);
void mbg__ali3p_kept_end(mbg__ali3p *a);
void mbg__ali3p_kept_clear(mbg__ali3p *a);
/* Factors of the step but of samples that are held, whose last ones remain: those of a run of their own. */
int mbg__ali3p_factor_others(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n, bool penalty,
                             mbg__answers held);
/* Factors of the projections of step i, which led to node n. */
int mbg__ali3p_factor_again(mbg_context *ctx, mbg__ali3p *a, int i, const mbg__ali3p_node *n);
/* The last factors of Newton's matrix in step i of length h. Where they are not kept the step is made again into
   scratch, a node: the tree is elsewhere then, and nodes seen before are gone. *near: they are there. */
int mbg__ali3p_newton_factors(mbg_context *ctx, mbg__ali3p *a, int i, double h, void *scratch, bool *near);

/* Pieces of the step. E1, phi of the step's equations with the multipliers lambda; the same with those of the node,
   angles near those at the start of the step. */
int mbg__ali3p_evaluate(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *to, const real *lambda);
int mbg__ali3p_evaluate_near(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *to);
void mbg__ali3p_predict(const mbg__ali3p *a, const mbg__ali3p_node *from, real h, const mbg__ali3p_node *to);
/* z+, ws, as from D. */
void mbg__ali3p_follow(const mbg__ali3p *a, const mbg__ali3p_node *from, const mbg__ali3p_node *to);
/* A step without its projections: Newton, or the augmented iteration. */
int mbg__ali3p_solve(mbg_context *ctx, mbg__ali3p *a, const void *from, real h, void *to);
mbg__part mbg__ali3p_largest(int n, const real *x);
/* who: of the iteration; advice NULL: a smaller step. */
int mbg__ali3p_not_converged(mbg_context *ctx, const mbg__ali3p *a, const mbg__ali3p_node *to, const char *who,
                             int iterations, double change, const char *advice);

/* ali3p_augmented.c: a->penalty after a->step; destroy accepts NULL. */
int mbg__penalty_create(mbg_context *ctx, mbg__ali3p *a);
void mbg__penalty_thaw(mbg__penalty *p);
void mbg__penalty_destroy(mbg__penalty *p);
/* Penalty of a row that is not a driver's. */
mbg__part mbg__ali3p_alpha(const mbg__ali3p *a, int row, double h);
/* The step by the augmented iteration; E1 at its end. */
int mbg__ali3p_augmented(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *from, const mbg__ali3p_node *to,
                         real h);
/* Multipliers that satisfy E1 best, by the factors of the projections. */
void mbg__ali3p_polish(mbg__ali3p *a, const mbg__ali3p_node *n);

/* ali3p_refine.c: X <- S^-T X, nc <= MBG__LANES columns of n + rows, by factors of a matrix near S and residuals with S
   itself. The tree is at the step to n. False: it converges slowly, and X is as it was. residuals: how many it took. Of
   samples that differ, those found go back into X by mbg__ali3p_refined, when X has the solutions of the others. */
typedef struct mbg__ali3p_refine mbg__ali3p_refine;
int mbg__ali3p_refine_create(mbg_context *ctx, mbg__arena *arena, mbg__ali3p *a, mbg__tree_lanes *lanes,
                             mbg__ali3p_refine **out);
mbg__answers mbg__ali3p_refine_T(mbg__ali3p_refine *f, const mbg__ali3p_node *n, int nc, real *X, int *residuals);
void mbg__ali3p_refined(const mbg__ali3p_refine *f, mbg__answers found, int nc, real *X);

/* ali3p_states.c: states beside rows. Their entries of a vector (n): copied, added; their accelerations at the
   projected rates. */
bool mbg__ali3p_has_states(const mbg__ali3p *a);
void mbg__ali3p_states_held(const mbg__ali3p *a, const real *from, real *to);
void mbg__ali3p_states_take(const mbg__ali3p *a, double c, const real *from, real *to);
int mbg__ali3p_states_rates(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n);
/* a->late; the tree where the accelerations of states were evaluated; with late rates w_S += c (v_S - as_S), and
   transposed: ab_S += c wb_S, asb_S = -c wb_S, 0 elsewhere. */
int mbg__ali3p_states_create(mbg_context *ctx, mbg__ali3p *a);
int mbg__ali3p_at_states(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n);
/* Late rates by reactions: to_S += c from_S; after at_states, derivatives of all a_S in a direction into v (n), and
   transposed: ab_S, which is 0 then, adds to ze (6 nbody), wb (n) and gattr (na). */
void mbg__ali3p_states_hold(const mbg__ali3p *a, real c, const real *from, real *to);
void mbg__ali3p_states_push(mbg__ali3p *a, const mbg__tree_direction *d, real *v);
void mbg__ali3p_states_pull(mbg__ali3p *a, real *ab, real *ze, real *wb, real *gattr);
void mbg__ali3p_states_correct(const mbg__ali3p *a, real c, const real *v, const real *as, real *w);
void mbg__ali3p_states_correct_T(const mbg__ali3p *a, real c, const real *wb, real *ab, real *asb);

/* ali3p_signals.c */
/* lambda1, vd1 of index 1 at the bodies of the tree's last update. */
int mbg__ali3p_index1(mbg_context *ctx, mbg__ali3p *a);
/* Weights of signals at a node, seed (nc x nused): adds to ge (nc x 6 nbody), gw, ga (nc x n), gattr (nc x na). there:
   the tree is linearized at the node's positions, rates and accelerations, which is enough without forces and
   reactions. */
typedef struct mbg__ali3p_seeds mbg__ali3p_seeds;
int mbg__ali3p_seeds_create(mbg_context *ctx, mbg__arena *arena, mbg__ali3p *a, int nc, mbg__ali3p_seeds **out);
/* ... with the seeds of frames and twists at a node besides those of signals. */
void mbg__ali3p_seeds_poses(mbg__ali3p_seeds *s, const mbg__criterion_seeds *seeds, int node);
int mbg__ali3p_seeds_at(mbg_context *ctx, mbg__ali3p_seeds *s, const mbg__ali3p_node *n, bool there, const real *seed,
                        real *ge, real *gw, real *ga, real *gattr);

/* The gradient of a guard, a signal of positions and rates, at a node: by joint frames e (6 nbody), rates w (n) and
   attributes (na). */
typedef struct mbg__ali3p_guard mbg__ali3p_guard;
int mbg__ali3p_guard_create(mbg_context *ctx, mbg__arena *arena, mbg__ali3p *a, mbg__ali3p_guard **out);
int mbg__ali3p_guard_at(mbg_context *ctx, mbg__ali3p_guard *g, const mbg__ali3p_node *n, int signal);
const mbg__tree_gradient *mbg__ali3p_guard_of(const mbg__ali3p_guard *g);

/* ali3p_tangent.c, ali3p_adjoint.c */
/* mbg__tree_pull of nc <= MBG__LANES columns; lanes NULL: one after the other. */
void mbg__ali3p_pull(mbg__ali3p *a, mbg__tree_lanes *lanes, int nc, const mbg__tree_weights *k,
                     const mbg__tree_gradient *g);
/* x = T^T e over the links: cotangents of the increment of a step from those of frames (6 nbody). */
void mbg__ali3p_tangents_T(const mbg__ali3p *a, const mbg__ali3p_node *node, const real *e, real *x);
int mbg__ali3p_tangent(mbg_context *ctx, mbg__ali3p *a, int (*take)(void *user, int node, const real *dy), void *user);
int mbg__ali3p_adjoint(mbg_context *ctx, mbg__ali3p *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a);

#endif
