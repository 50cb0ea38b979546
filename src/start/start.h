/* start: consistent initial configuration and rates, and their exact derivatives (theory 0, section 6).

     positions   min 1/2 |log(Hbar^-1 H)|_W^2   subject to phi = 0 and the pins, Newton on the KKT system with curvature
     rates       min 1/2 |v - vbar|_W^2          subject to phid = 0 and the pins of rates
     equilibrium r(H, 0, 0, lambda) = 0, phi = 0 instead of the first line

   W = 1 for translation and l_ref^2 for rotation. */
#ifndef MBG_START_START_H
#define MBG_START_START_H

#include "model/design_columns.h"
#include "start/rank.h"
#include "system/system.h"

typedef struct mbg__start_work mbg__start_work;

/* The result; arrays belong to the work. */
typedef struct {
  real t;
  mbg__frame *H; /*                                            (nbody) */
  real *v;       /*                                            (nw)    */
  int *turns;    /*                                            (nturn) */
  real *lambda;  /* equilibrium: multipliers; else 0           (nrow)  */
  mbg__rank *rank;
  int iterations;
  double phi, phid;               /* largest scaled residuals of the result                     */
  double guess_phi, guess_phid;   /* ... of the guess                                */
  int worst;                      /* row with the largest residual of the guess, -1 when there is none */
  double *moved;                  /* distance of each body's frame from its guess  (nbody) */
  double *turned;                 /* angle                                         (nbody) */
  int free_positions, free_rates; /* freedoms that neither rows nor pins determine */
  int half_turn;                  /* a coordinate that starts at half a turn, -1: none */
  bool metric_matters;            /* moved by more than 1e-6 l_ref while freedoms are unpinned */
  int nmemory;                    /* of a given state: what the formulation remembers, 0: nothing */
  const real *memory;             /*                                               (nmemory) */
} mbg__start_result;

/* The system (and its design) is referenced and used as scratch. */
int mbg__start_create(mbg_context *ctx, mbg__system *sys, mbg__start_work **out);
void mbg__start_destroy(mbg__start_work *start);

/* A state that the next solves take as it is, instead of assembling one; copied. It must satisfy the constraints to
   1e-6. Such a start does not follow the parameters; one that moves its constraints is refused by mbg__start_push. */
void mbg__start_give(mbg__start_work *start, double t, const mbg__frame *H, const real *v, const int *turns);
/* The next solves take the state on the constraints that is nearest to a given one in the metric, so that it follows
   all parameters. The first of them makes it the given state; derivatives are exact at its parameters. */
void mbg__start_let_follow(mbg__start_work *start);
bool mbg__start_follows(const mbg__start_work *start);
/* The memory of the formulation at that state; copied. */
int mbg__start_give_memory(mbg_context *ctx, mbg__start_work *start, int count, const real *memory);
void mbg__start_drop_memory(mbg__start_work *start);

/* Equilibria that are not isolated, because no force acts on some freedom (a vehicle on the plane): a billionth of the
   largest stiffness is added to every freedom, towards the iterate, so that the equilibrium near the guess is found.
   Such an equilibrium has no derivatives here. */
void mbg__start_indifferent(mbg__start_work *start, bool yes);

/* One solve follows and nothing but its result is read: factors and scratch are released on the way, and a large guess
   that holds to rounding is taken as it is, without factors. */
void mbg__start_brief(mbg__start_work *start);

/* Solves at the design's parameters. The rank decision of the first solve is kept for later ones (frozen) unless
   `fresh`. Errors: no assembly (with the worst row and its residual), contradicting pins (named), not exact, ... */
int mbg__start_solve(mbg_context *ctx, mbg__start_work *start, bool fresh);
/* The next solves keep the rows of a decision made elsewhere, unless they are fresh; copied. */
int mbg__start_take_rank(mbg_context *ctx, mbg__start_work *start, const mbg__rank *rank);
/* Has the last fresh solve come to the decision that stood before? Then references to the rank remain valid. */
bool mbg__start_rank_stands(const mbg__start_work *start);
const mbg__start_result *mbg__start_result_of(const mbg__start_work *start);

/* Derivative of the start: (w0, v0') (nw each) in direction da (na). After a solve.
   Returns MBG_ERROR_INPUT when the direction breaks a redundant assembly, with the row in the message. */
int mbg__start_push(mbg_context *ctx, mbg__start_work *start, const real *da, real *w0, real *v0);
/* The same for all np parameters: da (na) is 0 and scratch, w0 and v0 (np x nw) are 0. */
int mbg__start_push_all(mbg_context *ctx, mbg__start_work *start, const mbg__design_columns *columns, int np, real *da,
                        real *w0, real *v0);
/* After mbg__start_push_all: does parameter p surely leave frames, markers, joints and rates of the start as they are?
   Never where the start is given or changed. da (na) is 0 and scratch. */
bool mbg__start_is_still(const mbg__start_work *start, const mbg__design_columns *columns, int p, real *da);

/* The same for column p of direct differentiation, with its change of the start (p < 0: none). */
int mbg__start_push_column(mbg_context *ctx, mbg__start_work *start, int p, const real *da, real *w0, real *v0);

/* Changes of the start besides those of the attributes, one for each column: w, v (n x nw), referenced; NULL: none.
   Steady states follow the changes of frames and twists, not those of other states. And where pulls leave the
   cotangents of these changes, one row each in the order of the calls: gw, gv (n x nw); NULL: nowhere. */
void mbg__start_change(mbg__start_work *start, const real *w, const real *v);
void mbg__start_keep(mbg__start_work *start, real *gw, real *gv);

/* Consistent changes of the start nearest in the metric to given ones (theory 6, section 8), on the kept rows without
   pins: w0 = P w, v0 = P v - R phid_H w0. And transposed, in place. After a solve. */
int mbg__start_project(mbg_context *ctx, mbg__start_work *start, int n, real *w, real *v);
int mbg__start_project_T(mbg_context *ctx, mbg__start_work *start, int n, real *gw, real *gv);

/* Components of w0 outside the motions of the bodies follow the guess: ga (na) += (dw0/da)^T gw of these alone. */
void mbg__start_pull_masked(const mbg__start_work *start, const real *gw, real *ga);

/* Transposed: ga (na) += (dw0/da)^T gw + (dv0/da)^T gv. */
int mbg__start_pull(mbg_context *ctx, mbg__start_work *start, const real *gw, const real *gv, real *ga);

/* Rates of the twists (nw) and multipliers (nrow; dropped rows: 0) at a start:

     [ M  B^T ] [ vd     ]   [ f + ad(v)^T M v ]
     [ B  0   ] [ lambda ] = [ -gamma          ]      on the kept rows

   *massless: a body with a freedom without inertia, which has no unique solution (vd, lambda are 0 then); else -1.
   Afterwards the system is at the start with these. */
int mbg__start_accelerations(mbg_context *ctx, mbg__system *sys, const mbg__start_result *start, real *vd, real *lambda,
                             int *massless);

/* Does the inertia of single bodies prove that no freedom is without? (No: it may have one.) */
bool mbg__start_has_inertia(const mbg__system *sys);

#endif
