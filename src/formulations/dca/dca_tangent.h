/* Columns of direct differentiation, shared by dca_tangent.c and dca_tangent_events.c. */
#ifndef MBG_FORMULATIONS_DCA_DCA_TANGENT_H
#define MBG_FORMULATIONS_DCA_DCA_TANGENT_H

#include "formulations/dca/dca_work.h"

/* objects of one thread */
typedef struct {
  mbg_context *ctx;
  mbg__system *sys;
  mbg__tree *tree;
  mbg__dca_point *point;
  real *da;   /*                                        (na) */
  real *e;    /*                                        (panel x 6 nbody) */
  bool ready; /* the point is the one of the stage */
  int err;
} mbg__dca_worker;

typedef struct {
  mbg__formulation_work *w;
  mbg__arena arena;
  int np, n, nb; /* columns, coordinates, 6 nbody */
  int nparam;    /* parameters: columns, but for one more that finds the time of a guard */
  mbg__event_tangent events;
  double t0, t1;          /* events: the step at hand, if its length moves; else t1 = t0 */
  real *dt, *ratio;       /* events: t' of the node, h'/h of its step                  (nparam) */
  real *kept;             /* events: state and columns at the start of a step          (2 n (1 + np) + np nb) */
  real *fw, *fv, *e_none; /* events: of the bodies                          (np x nw each), (nb) */
  mbg__rk *guard;         /* events: steps with one more column */
  bool held;              /* events: the node stays at its time */
  real *hold;             /* events:                                        (2 n) */
  real *bias;             /* events:                                        (nw) */
  real *guard_row;        /* events: by frames, twists, attributes          (2 nw + na) */
  int nworker;
  mbg__dca_worker *workers;
  mbg__design_columns columns;
  real *en;          /*                                                    (np x nb) */
  real *x, *xi, *xd; /* state and columns                                 (2 n (1 + np)) */
  real **e, **dw;    /* pointers to columns                                (np) */
  real *eye;         /* unit seeds                                         (nused x nused) */
  real *ge, *gw, *gattr;
  int nw;      /* frames that are handed over: nw, or 0 */
  real *frame; /* w, dv and k                                        (3 nw) */
  real *dy;    /*                                                    (nused + nw x np) */
  int width;   /* columns of a panel */
  real *enode; /* e at a node, of each thread                        (threads x nb) */
  mbg__dca_seeds *seeds;
  int (*take)(void *user, int node, const real *dy);
  void *user;
  int node; /* next one to hand over */
} mbg__dca_tangents;

static inline real *mbg__dca_column(const mbg__dca_tangents *s, real *x, int p) {
  return x + 2 * (size_t)s->n * (size_t)(1 + p);
}
static inline real *mbg__dca_en(const mbg__dca_tangents *s, int p) { return s->en + (size_t)p * (size_t)s->nb; }

/* ---------------------------------------------------------------------- dca_tangent.c */

/* Functions of the integrator; the user are the columns. */
int mbg__dca_tangent_rhs(void *user, double t, const real *x, real *xd);
int mbg__dca_tangent_segment(void *user, double ta, double tb, real *x);
/* dy/dp of the used signals at (t, x) after base. */
int mbg__dca_tangent_node(mbg_context *ctx, mbg__dca_tangents *s, const mbg__dca_base *base, double t, const real *x);
/* Nodes inside a step, which are handed over; its end in x: e_n, projection; the integrator goes on from there. */
int mbg__dca_tangent_inner(mbg_context *ctx, mbg__dca_tangents *s, const mbg__rk_record *step);
int mbg__dca_tangent_finish(mbg_context *ctx, mbg__dca_tangents *s, double t1);
int mbg__dca_tangent_restart(mbg_context *ctx, mbg__dca_tangents *s, mbg__rk *rk);

/* ---------------------------------------------------------------------- dca_tangent_events.c */

/* t' at a time of the step at hand: that of its end, less what is left of h'. */
void mbg__dca_tangent_times(mbg__dca_tangents *s, double t);
/* (h'/h) f of steps whose length moves, added to the rates of the columns. */
void mbg__dca_tangent_lengths(const mbg__dca_tangents *s, real *xd);
/* A sample in such a step stays at its time; xd is scratch. */
void mbg__dca_tangent_hold(mbg__dca_tangents *s, const mbg__rk_record *step, double t);
/* The variation of the node's time, and of the length of its step, for those who weigh it. */
void mbg__dca_tangent_hand(const mbg__dca_tangents *s);
/* The run with events. */
int mbg__dca_tangent_events(mbg_context *ctx, mbg__dca_tangents *s, mbg__rk *rk);

#endif
