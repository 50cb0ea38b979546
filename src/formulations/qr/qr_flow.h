/* The ordinary differential equation of `qr` and its linearizations, for any integrator: Runge-Kutta pairs and CVODES
   call the same functions.

     forward    z' = F(t, z)                                              (F3), (F5)
     tangent    w' = dv* - ad(v*) w,   dv' = da                           theory 1, section 6
     adjoint    mu' = -vjp_H - F_H + ad(v*)^T mu,   nu' = -vjp_v - F_v    (A3), (A4)
                g'  = -vjp_a - F_a                                        (A5), from the end to the start

   z: qr_state.h. At the ends of a smooth segment time functions take their limits from inside it. */
#ifndef MBG_FORMULATIONS_QR_QR_FLOW_H
#define MBG_FORMULATIONS_QR_QR_FLOW_H

#include "formulations/formulation.h"
#include "formulations/qr/qr_point.h"
#include "formulations/qr/qr_state.h"
#include "system/plane.h"
#include "trajectory/ode.h"

/* Coordinates at the accepted steps of the forward run: whole turns are counted from there. */
typedef struct {
  int count, room;
  double *t;
  real *q; /* values and rates                                        (count x 2 ncoord) */
} mbg__qr_anchors;

/* Evaluations of the last run by rhs, for its backward pass: those of a step in turn, the last ones if it was tried
   several times. */
typedef struct {
  bool on;    /* rhs keeps */
  int width;  /* t, z, the point and turns in a plane: reals of one evaluation */
  int nslot;  /* evaluations of a step */
  int nstep;  /* complete ones */
  int next;   /* evaluation of the step at hand */
  int *last;  /* evaluation at the end of each step, -1: none         (room) */
  int room;   /* steps */
  real *kept; /*                                                      (room x nslot x width) */
} mbg__qr_memory;

typedef struct {
  mbg_context *ctx;
  mbg_allocator allocator;
  const mbg_model *m;
  mbg__system *sys;
  mbg__qr_point *point;
  mbg__qr_state state;
  int nused;
  const int *used;
  const mbg__run_plan *plan;
  bool full;                       /* signals need accelerations or reactions */
  mbg__sampling sampling;          /* what the used ones need */
  mbg__plane_sample *plane_sample; /* ... in a plane, NULL: not */
  mbg__sampling turning;           /* coordinates that count whole turns */
  mbg__plane_sample *plane_turns;  /* ... in a plane */
  bool flat_signals;               /* this run is there */
  mbg__segment segment;            /* around the evaluations */
  real t;                          /* of the last evaluation */
  mbg__frame *H;                   /*                                          (nbody) */
  real *v;                         /*                                          (nw) */
  real *z;                         /* they are those of this state, if read    (n) */
  bool read;
  int *turns, *before;    /* before: those of the evaluation before it (nturn) */
  bool flat;              /* the last eval_again was in a plane */
  bool rated_flat;        /* ... and the last evaluation by rhs */
  const real *v_star, *a; /*                                          (nw) */
  mbg__qr_anchors anchors;
  mbg__qr_memory memory;
  real *q, *qd; /*                                                    (ncoord) */
  struct {
    double t, independence;
    int row;
  } recent[8]; /* last evaluations by rhs */
  int next;    /* oldest of them */
  long evaluations;
} mbg__qr_flow;

/* The plan is referenced. */
int mbg__qr_flow_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, const mbg__rank *rank,
                        const mbg__run_plan *plan, int nused, const int *used, mbg__qr_flow **out);
void mbg__qr_flow_destroy(mbg__qr_flow *f);

/* Begins at a start: z (state.n), first anchor. */
int mbg__qr_flow_begin(mbg_context *ctx, mbg__qr_flow *f, const mbg__start_result *start, real *z);
/* After an evaluation at an accepted step: an anchor there. In a plane the system need not be there. */
int mbg__qr_flow_anchor(mbg_context *ctx, mbg__qr_flow *f, double t);
int mbg__qr_flow_anchor_in_plane(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z);

/* Everything at (t, z): frames, twists, v*, a, factors. */
int mbg__qr_flow_eval(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z);
/* A model in a plane: at (t, z), for the evaluations of qr_point.h in a plane. False: it is not. */
bool mbg__qr_flow_in_plane(mbg__qr_flow *f, real t, const real *z);
/* The constraints alone: the system is at (t, z), and at the rates vd (nw) if they are known. */
int mbg__qr_flow_constraints(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z, const real *vd);
/* Constraints, forces and signals at (t, z), without v* and a. */
int mbg__qr_flow_place(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z);
/* Everything, then z'. Signature and result as an integrator wants it: positive when the state is not possible. */
int mbg__qr_flow_rhs(void *flow, real t, const real *z, real *zd);

/* After eval, or after place when no signal needs accelerations: values y (nused) of the used signals. */
int mbg__qr_flow_signals(mbg_context *ctx, mbg__qr_flow *f, real *y);
/* The same at (t, z), where nothing else is evaluated and the flow keeps its frames: for sampling of level
   kinematics. */
int mbg__qr_flow_sample(mbg_context *ctx, mbg__qr_flow *f, real t, const real *z, real *y);
/* Their derivatives at (t, z), for mbg__system_signal_push and _pull without accelerations and multipliers. */
int mbg__qr_flow_linearize_signals(mbg_context *ctx, mbg__qr_flow *f, double t, const real *z);
/* After place: the evaluation by rhs at the same time, before at most 8 others, was at the same state; the point has
   its residuals and its rank. False: there is none. */
bool mbg__qr_flow_recall(mbg__qr_flow *f);

/* Is a model in a plane there, by its last evaluation by rhs, at time t? Then the point has its residuals and its rank,
   and signals need no more than mbg__qr_flow_sample; the system is somewhere else. */
bool mbg__qr_flow_stands(mbg__qr_flow *f, real t);
/* ... there again, after evaluations elsewhere as for mbg__qr_flow_recall. */
void mbg__qr_flow_recall_in_plane(mbg__qr_flow *f, real t, const real *z);

/* qr_memory.c. A run begins whose steps have at most `stages` evaluations: rhs keeps them while there is room. */
void mbg__qr_memory_begin(mbg__qr_flow *f, int stages);
void mbg__qr_memory_add(mbg__qr_flow *f, const real *z);
/* A step is accepted: its last evaluations but `after` were its stages. It is complete, with those of its nodes. */
void mbg__qr_memory_accept(mbg__qr_flow *f, int after);
void mbg__qr_memory_step(mbg__qr_flow *f);
/* The state at stage i > 0 of step k, whose time is t: NULL if it is not there. count: stages of a step. */
const real *mbg__qr_memory_argument(const mbg__qr_flow *f, int k, int i, int count, double t);
/* The run ends: what it kept stays; what it kept is forgotten. */
void mbg__qr_memory_end(mbg__qr_flow *f);
void mbg__qr_memory_clear(mbg__qr_flow *f);
/* eval at a state of step k = 1, 2, ... or at its start, from memory where it is there; for pull of the point, in a
   plane where `flat` says so. */
int mbg__qr_flow_eval_again(mbg_context *ctx, mbg__qr_flow *f, int k, double t, const real *z);

/* ad(v*) w and ad(v*)^T mu, added with a factor (nw). */
void mbg__qr_flow_add_ad(const mbg__qr_flow *f, real c, const real *w, real *out);
void mbg__qr_flow_add_adT(const mbg__qr_flow *f, real c, const real *mu, real *out);

/* dz'/dz at the last evaluation, column-major n x n; scratch: 4 n nw + n reals. */
int mbg__qr_flow_jacobian(mbg_context *ctx, mbg__qr_flow *f, const real *z, real *J, real *scratch);

#endif
