/* What a formulation must provide.

   A formulation turns a model into numbers at the nodes of a trajectory and differentiates exactly what it did. It
   knows no criteria: a criterion reaches it as seeds, weights of signals at nodes. Its folder exports one const table
   of functions; a line of formulations.def gives it a key. */
#ifndef MBG_FORMULATIONS_FORMULATION_H
#define MBG_FORMULATIONS_FORMULATION_H

#include "criteria/criteria.h"
#include "mbgrad/run.h"
#include "start/start.h"
#include "system/system.h"
#include "trajectory/trajectory.h"

/* What a formulation is. */
enum {
  MBG__ODE = 1,   /* integrates an ordinary differential equation with relative and absolute tolerances */
  MBG__RIGID = 2, /* takes no beams and no modal bodies, whose masses couple several bodies */
  MBG__WARM = 4,  /* the first step from a given state is of lower order than those that follow */
  MBG__EVENTS = 8 /* takes events */
};

typedef struct mbg__formulation_work mbg__formulation_work;

/* Seeds of a criterion: of its integrand (mbg__seeds_density, per unit of time) and of values at nodes
   (mbg__seeds_point). The discrete methods take them together: mbg__seeds_at. terms: the density as a function of time,
   for formulations that integrate backward with steps of their own. */
typedef struct {
  mbg__seeds at;
  int nterm;
  const mbg__density_term *terms;
  bool all;          /* every attribute is wanted, not only those that depend on parameters */
  const real *poses; /* by frames and twists at the nodes, for exact adjoints; NULL: 0   (nodes x 2 nw) */
  int poses_from;    /* the first node of `poses`; 0 before it */
#ifdef MBG_ENSEMBLE
  /* the seeds of a node, criterion by criterion (ncrit x nused); nothing else is set */
  void (*source)(const void *user, int ncrit, int nused, int node, real *seed);
  const void *user;
#endif
} mbg__criterion_seeds;

/* The discrete seed of used signal k at a node. */
static inline real mbg__seed(const mbg__criterion_seeds *s, const mbg__nodes *nodes, int node, int k) {
  return mbg__nodes_omega(nodes, node) * mbg__seeds_density(&s->at, k, mbg__nodes_values(nodes, node)) +
         mbg__seeds_point(&s->at, node, k);
}
/* The discrete seeds of ncrit criteria at a node: seed (ncrit x nused). */
void mbg__seeds_at(const mbg__criterion_seeds *seeds, int ncrit, const mbg__nodes *nodes, int node, real *seed);
/* d psi / d t of a node, by the weights of integrals and by interpolation; with the signals fixed. */
real mbg__seed_time(const mbg__criterion_seeds *seeds, const mbg__nodes *nodes, int node);
/* The part of an integral at a node of the formulation's own rule, whose weight grows with the length of its step: its
   change is this times h'/h. */
real mbg__seed_stretch(const mbg__criterion_seeds *seeds, const mbg__nodes *nodes, int node);
/* Has one of the criteria seeds of frames and twists at a node? And gw, gv (nw) += those of one criterion. */
bool mbg__seeds_have_poses(const mbg__criterion_seeds *seeds, int ncrit, int nw, int node);
void mbg__seeds_add_poses(const mbg__criterion_seeds *seeds, int nw, int node, real *gw, real *gv);
/* Is every attribute wanted by one of the criteria? */
bool mbg__seeds_all(const mbg__criterion_seeds *seeds, int ncrit);

/* Is an entry not 0? */
bool mbg__any(size_t n, const real *x);

/* An error at the first state with a late rate (mbg__system_late), if there is one: "..., which WHAT does not take; use
   OTHER". */
int mbg__formulation_late(mbg_context *ctx, const mbg_model *m, const char *what, const char *other);

/* Unknowns of [M B^T; B 0] and full vectors: x (nv + nrow) = (c f, d g) over free velocities and kept rows, 0 in
   dropped rows; f (nw) and g (nrow) = (c, 1) x, 0 in masked components and dropped rows. */
void mbg__gather(const mbg_model *m, const bool *keep, real c, const real *f, double d, const real *g, real *x);
void mbg__scatter(const mbg_model *m, const bool *keep, real c, const real *x, real *f, real *g);

/* What a formulation does: mbg__FOLDER_ops of its folder. */
typedef struct {
  /* The system and the start are referenced and used as scratch; used signals are referenced. */
  int (*prepare)(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan, int nused,
                 const int *used, mbg__formulation_work **out);
  /* The next simulation is that of a new run: what the first one decided and later ones keep is forgotten. NULL:
     nothing is kept. */
  void (*renew)(mbg__formulation_work *w);
  /* Runs from the start that was solved last. frozen: repeat the steps of the last run (their lengths and number). */
  int (*simulate)(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes);
  /* dy at every node, in order: np numbers for each used signal, then, if the plan keeps poses, for each component of
     w (nw), the variation of the frames, dH = H w~. */
  int (*tangent)(mbg_context *ctx, mbg__formulation_work *w, int (*take)(void *user, int node, const real *dy),
                 void *user);
  /* Events: the variation of the time of the node that `take` gets (np); NULL: times stay. */
  const real *(*node_time)(const mbg__formulation_work *w);
  /* ... and, where it has weights of its own, h'/h of the step in which the node lies (np); NULL: lengths stay. */
  const real *(*node_stretch)(const mbg__formulation_work *w);
  /* After tangent, for nodes with integrals by stages: their derivatives (nused x np). NULL: there are none. */
  const real *(*staged)(const mbg__formulation_work *w);
  /* Is a method of the table possible with the plan's integrator? NULL: always. */
  bool (*has)(const mbg__run_plan *plan, mbg_method method);
  /* psi_a (ncrit x na) += gradient by attributes of ncrit criteria; the method is an adjoint that the formulation has.
     */
  int (*adjoint)(mbg_context *ctx, mbg__formulation_work *w, mbg_method method, int ncrit,
                 const mbg__criterion_seeds *seeds, real *psi_a);
  /* Frames, twists ... of the last node, for a restart: into a caller's arrays (H: nbody, v: nw, turns: nturn). */
  int (*last)(const mbg__formulation_work *w, double *t, mbg__frame *H, real *v, int *turns);
  /* What a step needs besides them: accelerations, multipliers, the step before. memory (NULL: not wanted) is filled;
     returns how many numbers there are. A start that was given them (mbg__start_result) goes on as if the run had not
     ended. NULL: nothing. */
  int (*memory)(const mbg__formulation_work *w, real *memory);
  /* Releases the memory of the nodes of the last run but the first; what asks for them computes them again. NULL:
     nothing is released. place (NULL: all): the signals that are looked at from now on; nodes: what is left. */
  void (*forget)(mbg__formulation_work *w, const int *place, mbg__nodes *nodes);
  /* The unknowns of the step of the last run that ended at t: increments, then multipliers. False: not in memory. NULL:
     steps have no unknowns. */
  bool (*solved)(const mbg__formulation_work *w, double t, double *x);
  /* The ends of the controlled steps of the last run (*nstep + 1). NULL: they are its nodes. */
  const double *(*ends)(const mbg__formulation_work *w, int *nstep);
  const mbg__work_counts *(*counts)(const mbg__formulation_work *w);
  void (*destroy)(mbg__formulation_work *w);
} mbg__formulation_ops;

/* A line of formulations.def, which explains the members. */
typedef struct {
  const char *key, *name, *paper;
  unsigned methods; /* bit 1 << method for each mbg_method but AUTO */
  unsigned supports;
  int order;
  double rho_inf, alpha_f;
  const char *integrators;
  double cost_direct, cost_adjoint, cost_pass;
  const mbg__formulation_ops *ops;
} mbg__formulation;

/* All formulations, and one by key (NULL: unknown). */
const mbg__formulation *mbg__formulations(int *count);
const mbg__formulation *mbg__formulation_find(const char *key);
bool mbg__formulation_has(const mbg__formulation *f, mbg_method method);

#endif
