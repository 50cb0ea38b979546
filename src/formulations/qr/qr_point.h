/* The state space of a model at one point (theory 1): an orthogonal decomposition of the constraint Jacobian projects
   the redundant state (H, v), so that it follows an ordinary differential equation.

     B^T = [Q1 Q2] [R; 0],  N = Q1 R^-T,  P = Q2 Q2^T,  Y = Q2 (Q2^T M Q2)^-1 Q2^T
     (F3) v* = P v - N (phi_t + beta phi),  H' = H v*~           (F4) kappa = N^T (v - v*)
     (F5) a  = Y (f + M N gamma) - N gamma, v' = a               (F6) lambda = N^T (f - M a)

   B: the kept rows. The paper has the opposite sign of lambda. */
#ifndef MBG_FORMULATIONS_QR_QR_POINT_H
#define MBG_FORMULATIONS_QR_QR_POINT_H

#include "start/rank.h"
#include "system/plane.h"

typedef struct mbg__qr_point mbg__qr_point;

/* The system and the rank are referenced; the system is used as scratch. beta: stabilization of positions, 0: none.
   Memory in the arena. */
int mbg__qr_point_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, const mbg__rank *rank, double beta,
                         mbg__qr_point **out);

/* A run begins, whose rank decides the kept rows. */
void mbg__qr_point_begin(mbg__qr_point *q);

/* Evaluates v* and a (nw each, valid until the next call) at a state. MBG_ERROR_SINGULAR names time and row of a
   singular configuration, or the body of a freedom without mass. */
int mbg__qr_point_eval(mbg_context *ctx, mbg__qr_point *q, real t, const mbg__frame *H, const real *v, const int *turns,
                       const real **v_star, const real **a);

/* The same after the constraints of the system have been updated (mbg__system_update_bare). */
int mbg__qr_point_eval_placed(mbg_context *ctx, mbg__qr_point *q, real t, const mbg__frame *H, const real *v,
                              const int *turns, const real **v_star, const real **a);

/* May the model be one in a plane (system/plane.h)? Its states need not be there. */
bool mbg__qr_point_has_plane(const mbg__qr_point *q);
mbg__plane *mbg__qr_point_plane(const mbg__qr_point *q);
/* A model in a plane at a state in it: true, and the state is placed; its evaluation, repeated from what was kept, and
   pull without lb, over free velocities (n per column). The system is not there: it has to be updated before it is
   used. mbg__qr_point_in_frames takes free velocities and the frames that the caller has written to
   mbg__qr_point_frames (system/plane.h). */
bool mbg__qr_point_in_plane(mbg__qr_point *q, const mbg__frame *H, const real *v);
bool mbg__qr_point_in_frames(mbg__qr_point *q, const real *v);
real *mbg__qr_point_frames(mbg__qr_point *q);
int mbg__qr_point_eval_in_plane(mbg_context *ctx, mbg__qr_point *q, real t, const int *turns, const real **v_star,
                                const real **a);
void mbg__qr_point_again_in_plane(mbg__qr_point *q, real t, const int *turns, const real *kept, const real **v_star,
                                  const real **a);
void mbg__qr_point_pull_in_plane(mbg__qr_point *q, int ncol, const real *mu, const real *rho, real *gw, real *gv,
                                 real *ga);

/* What eval computed, for another time: count reals. `again` repeats an eval from it at the same state, after the
   constraints of the system have been updated with the rates that were kept (`rates`, NULL: without); residuals and
   distances of rows are not available. */
int mbg__qr_point_count(const mbg__qr_point *q);
void mbg__qr_point_keep(const mbg__qr_point *q, real *kept);
const real *mbg__qr_point_rates(const mbg__qr_point *q, const real *kept);
int mbg__qr_point_again(mbg_context *ctx, mbg__qr_point *q, real t, const mbg__frame *H, const real *v,
                        const int *turns, const real *kept, const real **v_star, const real **a);

/* Brings the system to the full state (H, v, a, lambda), where signals can be evaluated; lambda (nrow, sign of the
   system). After eval, unless the system was used otherwise since. */
int mbg__qr_point_full(mbg_context *ctx, mbg__qr_point *q);
/* The same with the derivatives of the elements. */
int mbg__qr_point_linearize(mbg_context *ctx, mbg__qr_point *q);
const real *mbg__qr_point_lambda(mbg__qr_point *q);

/* Distance of a kept row from the span of the others, relative to its length: the smallest one, and its row (may be
   NULL). */
double mbg__qr_point_independence(const mbg__qr_point *q, int *row);

/* At a place that eval has seen before, with this distance and row, and where the system is now: residuals and distance
   as if eval had been called there. v*, a and their derivatives are not available. */
void mbg__qr_point_recall(mbg__qr_point *q, double independence, int row);
/* ... at a state in a plane that has been placed. */
void mbg__qr_point_recall_in_plane(mbg__qr_point *q, double independence, int row);

/* Largest violations of positions and velocities at the point of the last eval, all rows. */
void mbg__qr_point_drift(const mbg__qr_point *q, double *phi, double *phid);
/* Residuals of positions and velocities of all rows (nrow). */
const real *mbg__qr_point_phi(const mbg__qr_point *q);
const real *mbg__qr_point_phid(const mbg__qr_point *q);

/* Tangents (T1)-(T3) at the point of the last eval: for ncol directions (w, dv: nw each per column; da: na per column)
   the changes of v*, a (nw) and lambda (nrow, may be NULL). */
int mbg__qr_point_push(mbg_context *ctx, mbg__qr_point *q, int ncol, const real *w, const real *dv, const real *da,
                       real *dv_star, real *d_a, real *dlambda);

/* From here on pushes have columns of these attributes (formulations/qr/qr_columns.h); NULL: any. Referenced. */
typedef struct mbg__qr_varied mbg__qr_varied;
void mbg__qr_point_varied(mbg__qr_point *q, const mbg__qr_varied *varied);

/* Transposed (A1)-(A2): for the duals mu of v* (may be NULL), rho of a (nw) and lb of lambda (nrow, sign of the system;
   may be NULL) adds the gradients by frames, twists (nw) and attributes (na); outputs may be NULL. ncol columns. */
int mbg__qr_point_pull(mbg_context *ctx, mbg__qr_point *q, int ncol, const real *mu, const real *rho, const real *lb,
                       real *gw, real *gv, real *ga);

#endif
