/* Parts of the search for a static equilibrium: start_equilibrium.c is the whole, start_balance.c has forces and steps,
   start_stiffness.c the stiffness, start_descent.c the descent. */
#ifndef MBG_START_START_EQUILIBRIUM_H
#define MBG_START_START_EQUILIBRIUM_H

#include "start/start_internal.h"

/* ---------------------------------------------------------------------- forces and steps */

/* The constraints at result.H; turn counters follow the angles from one state to the next. */
int mbg__balance_constraints(mbg_context *ctx, mbg__start_work *w, const real *lambda);
/* The same with forces; r in full, phi, K and B. */
int mbg__balance_update(mbg_context *ctx, mbg__start_work *w, const real *lambda);
/* Multipliers k that balance r best in the metric, [W B^T; B 0](a, dlambda) = (-r, 0), with an update there; size of a
   in the metric. */
int mbg__balance(mbg_context *ctx, mbg__start_work *w, double *size);
/* (K + sigma W) h + B^T dlambda = -r, B h = -phi into position.x; block (may be NULL): added to K, per body. */
int mbg__balance_solve(mbg_context *ctx, mbg__start_work *w, double sigma, mat6 *block);
void mbg__balance_step(mbg__start_work *w, double step);
void mbg__balance_keep(mbg__start_work *w);
void mbg__balance_restore(mbg__start_work *w);

/* Largest translation and rotation of a body in a step x (nv), and the bodies. */
typedef struct {
  double shift, turn;
  int shifted, turned;
} mbg__step_motion;
mbg__step_motion mbg__balance_motion(const mbg__start_work *w, const real *x);
/* Length of the step in position.x, in units of the reach and radians; INFINITY when it is not finite. */
double mbg__balance_length(const mbg__start_work *w, double reach);

/* ---------------------------------------------------------------------- stiffness, in the metric */

/* Largest entry of the diagonal of K. */
double mbg__stiffness_largest(const mbg__start_work *w);
/* Added to K for equilibria that are not isolated, else 0. */
double mbg__stiffness_added(const mbg__start_work *w);
/* Smallest stiffness of a motion that the rows allow; 0 for models of many freedoms. */
int mbg__stiffness_least(mbg_context *ctx, const mbg__start_work *w, double *least);

/* ---------------------------------------------------------------------- descent */

typedef enum { MBG__ARRIVED, MBG__AWAY, MBG__STUCK } mbg__search_end;

typedef struct {
  double sigma;           /* added to K in the metric */
  double radius;          /* longest step, in sizes of the model and radians */
  double shifted, turned; /* path so far */
  real *h;                /* the step (nv) */
  double slope, curved;   /* r0.h, h.K h */
  bool stiff;             /* K decides on the step, not sigma */
  /* the moving body, its direction in world axes and the force along it [N or N m], for the message */
  mbg__search_end end;
  int body;
  bool turns;
  bool corner; /* a force changes without limit */
  double along[3], force;
  char why[240]; /* error at the state beyond, "": none */
} mbg__search;

/* Extent of the model, path included. */
static inline double mbg__search_reach(const mbg__start_work *w, const mbg__search *d) {
  return fmax(w->m->size, d->shifted);
}

int mbg__descent(mbg_context *ctx, mbg__start_work *w, mbg__search *d);
/* The search ends here: names the motion of the last step. */
void mbg__descent_stuck(const mbg__start_work *w, mbg__search *d);

#endif
