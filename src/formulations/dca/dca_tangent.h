/* Columns of direct differentiation, shared by dca_tangent.c and dca_tangent_events.c. */
#ifndef MBG_FORMULATIONS_DCA_DCA_TANGENT_H
#define MBG_FORMULATIONS_DCA_DCA_TANGENT_H

#include "formulations/dca/dca_work.h"
#include "trajectory/ode_tangent.h"

/* objects of one thread; the first one has those of the run */
typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
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
  mbg__ode_tangent d; /* state and columns (dsigma, dw) */
  int n, nb;          /* coordinates, 6 nbody */
  real *kept;         /* events: e_n at the start of a step                (np x nb) */
  real *fw, *fv;      /* events: of the bodies                             (np x nw each) */
  real *e_none;       /* events:                                           (nb) */
  real *bias;         /* events:                                           (nw) */
  real *guard_row;    /* events: by frames, twists, attributes             (2 nw + na) */
  int nworker;
  mbg__dca_worker *workers;
  mbg__design_columns columns;
  real *en;       /*                                                       (np x nb) */
  real **e, **dw; /* pointers to columns                                   (np) */
  real *eye;      /* unit seeds                                            (nused x nused) */
  real *ge, *gw, *gattr;
  bool listed;   /* columns are lists of attributes, without events */
  real *gn, *gs; /* cotangents of e_n and dsigma                          (nused x nb, nused x n) */
  int nw;        /* frames that are handed over: nw, or 0 */
  real *frame;   /* w, dv and k                                        (3 nw) */
  int width;     /* columns of a panel */
  bool *shared;  /* panels whose pieces threads share            (panels) */
  real *enode;   /* e at a node, where frames are handed over          (nb) */
  mbg__dca_seeds *seeds;
  const mbg__dca_few *few; /* links that nodes need, NULL: all */
  mbg__rk_parts own;       /* ... their coordinates, */
  mbg__rk_parts parts;     /* ... and these and their rates in state and columns */
} mbg__dca_tangents;

static inline real *mbg__dca_en(const mbg__dca_tangents *s, int p) { return s->en + (size_t)p * (size_t)s->nb; }

/* dca_tangent_nodes.c: where the signals depend on few links, and bodies are not handed over, nodes read no others. */
int mbg__dca_tangent_few(mbg_context *ctx, mbg__dca_tangents *s);
/* dy/dp of the used signals at (t, x); the user are the columns. */
int mbg__dca_tangent_node(mbg_context *ctx, void *user, double t, const real *x, bool inside);

/* dca_tangent_events.c; the user are the columns: see mbg__ode_tangent_ops. */
int mbg__dca_tangent_guard(mbg_context *ctx, void *user, int guard);
int mbg__dca_tangent_event(mbg_context *ctx, void *user, int firing, double t);
void mbg__dca_tangent_keep(void *user, bool back);

#endif
