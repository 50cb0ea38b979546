/* Columns of direct differentiation, shared by alpha_tangent.c and alpha_tangent_events.c. */
#ifndef MBG_FORMULATIONS_ALPHA_ALPHA_TANGENT_H
#define MBG_FORMULATIONS_ALPHA_ALPHA_TANGENT_H

#include "event/event.h"
#include "formulations/alpha/alpha_work.h"
#include "model/design_columns.h"
#include "system/system_lanes.h"

typedef struct {
  mbg__alpha *a;
  mbg__arena arena;
  int np;              /* columns of the present step: parameters, and one more when it ends at a guard */
  int room;            /* ... at most */
  bool moves;          /* events: h' of the step or of the one before is not 0 */
  int nparam;          /* parameters */
  real *t, *h, *h_old; /* events: t' of the node; h' of the step that leads to it, and of the one before  (np each) */
  real *g;             /* events: of a guard               (np) */
  real *dP;            /* events: of impulses              (nevent x room) */
  real *fw, *fv;       /* events: w, v' in full            (np x nw each) */
  int (*take)(void *user, int node, const real *dy);
  void *user;
  real *W, *V, *A, *Al; /* w, v', vd', al'                 (nv x np) */
  real *Wm;             /* masked components of w          (nw x np) */
  bool *outside;        /* ... are not all 0               (np) */
  real *L;              /* lambda'                         (nrow x np) */
  real *cv, *cd;        /*                                 (nv x np) */
  real *X;              /* right-hand sides and solutions  (n x np, n of the stepper) */
  real *R, *P;          /* scratch products                (nv x np, nrow x np) */
  real *I, *Q;          /* index 2: of increment and phid  (nv x np, nrow x np) */
  int nw;               /* frames that are handed over: nw, or 0 */
  real *dy;             /* of the used signals and frames  (nused + nw x np) */
  real *dc, *bc;        /* of points of rotors             (3 nrotor x np, 3 nrotor) */
  mbg__design_columns columns;
  mbg__lanes_block *block;    /* columns side by side */
  real *side[MBG__LANES][6];  /* ... their directions, changes and attributes   (nw, nw, nw, nw, nrow, na) */
  real *da;                   /*                                 (na) */
  real *full[5], *row;        /*                                 (nw each, nrow) */
  mbg__csc K, C, M, B, Z, BG; /* views of the stepper's matrices */
} mbg__alpha_tangents;

/* ---------------------------------------------------------------------- alpha_tangent.c */

/* Attributes of column p into s->da: by the parameter, by time, by impulses; and zero again. */
void mbg__alpha_tangent_lay(mbg__alpha_tangents *s, int p);
void mbg__alpha_tangent_unlay(mbg__alpha_tangents *s, int p);
/* vd', lambda' and al' from w and v' at a node without a step. */
int mbg__alpha_tangent_accelerate(mbg_context *ctx, mbg__alpha_tangents *s, const mbg__alpha_node *node);
/* dy (np): of a signal at the node. */
void mbg__alpha_tangent_signal(mbg__alpha_tangents *s, int signal, real *dy);

/* ---------------------------------------------------------------------- alpha_tangent_events.c */

/* Before a step: lengths and times; guard: it ends at one; time_event: attribute of the time at which it ends,
   or -1. */
void mbg__alpha_tangent_enter(mbg__alpha_tangents *s, bool guard, int time_event);
/* After a step to a guard: its time, and the columns with it. */
void mbg__alpha_tangent_meet(mbg__alpha_tangents *s, int guard);
/* The twists after an event, and accelerations. */
int mbg__alpha_tangent_event(mbg_context *ctx, mbg__alpha_tangents *s, int firing, const mbg__alpha_node *from,
                             const mbg__alpha_node *node);

#endif
