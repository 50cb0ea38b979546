/* Models in a plane: rigid planar bodies whose plane is z = 0, rows that are entries of relative frames (revolute,
   prismatic and fixed joints), laws along coordinates (springs, dampers), weight. Their equations in three components a
   body and with no more operations than they need: values, and the transposed products of both projections of `qr`.
   The system is not touched. Free velocities are (x, y, turn) of each body in its own axes. Formulas: theory 0,
   sections 2 and 3. */
#ifndef MBG_SYSTEM_PLANE_H
#define MBG_SYSTEM_PLANE_H

#include "system/system.h"

typedef struct mbg__plane mbg__plane;

/* *out: NULL when the model has something else. Memory in the arena. */
int mbg__plane_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, mbg__plane **out);

/* A run begins: markers at its parameters. */
void mbg__plane_begin(mbg__plane *p);

/* Frames, twists (nw) and rows at a state; false: a frame is not in the plane. */
bool mbg__plane_place(mbg__plane *p, const mbg__frame *H, const real *v);
/* The same at free velocities and frames in the plane, which the caller has written: cos, sin, x and y of each body
   (4 nbody). */
real *mbg__plane_frames(mbg__plane *p);
bool mbg__plane_place_frames(mbg__plane *p, const real *v);
/* Frames and twists (nw) of the last place; H may be NULL. */
void mbg__plane_state(const mbg__plane *p, mbg__frame *H, real *v);
/* Then f of M v' = f - B^T lambda (nw), and of all rows (nrow) phi, phid and gamma. */
void mbg__plane_values(mbg__plane *p, real *f, real *phi, real *phid, real *gamma);
/* Where a matrix stands: entry (i, j) at down i + across j. */
typedef struct {
  real *entries;
  size_t count, down, across;
} mbg__strided;

/* B^T, one column over free velocities for each of n rows. */
void mbg__plane_columns(const mbg__plane *p, int n, const int *rows, const mbg__strided *out);
/* 3x3 blocks of M, one for each body (9 nbody): the same array in every run. */
const real *mbg__plane_mass(const mbg__plane *p);
/* y = M x over free velocities. */
void mbg__plane_mass_mul(const mbg__plane *p, const real *x, real *y);

/* Derivatives at the state, its rates a and multipliers lambda, and at the twists u with multipliers kappa. */
void mbg__plane_linearize(mbg__plane *p, const real *a, const real *lambda, const real *u, const real *kappa);
/* Weights of the equations, whose gradients pull adds: z.(M a - f + B^T lambda) + mu.phidd at (v, a), and
   y.(B^T kappa) + nu.(phid + beta phi) at u. */
typedef struct {
  const real *z, *y;   /* over free velocities                        (nv) */
  const real *mu, *nu; /*                                             (nrow) */
  double beta;
} mbg__plane_weights;

/* By frames and twists v, over free velocities (nv), and by attributes (na, may be NULL). After linearize. */
void mbg__plane_pull(mbg__plane *p, const mbg__plane_weights *c, real *gw, real *gv, real *ga);

/* Signals of a sampling of level kinematics in a model of planar bodies, whose other elements do not matter: relative
   motions are placed in three components, the signals themselves are those of system.h. */
typedef struct mbg__plane_sample mbg__plane_sample;

/* *out: NULL when a body is not planar, or the level is another one. `what` is referenced. */
int mbg__plane_sample_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, const mbg__sampling *what,
                             mbg__plane_sample **out);
/* The same for the coordinates that count whole turns, whose sampling becomes *what. */
int mbg__plane_turns_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, mbg__sampling *what,
                            mbg__plane_sample **out);
/* A run begins, with all bodies in the plane: false, a marker is not. */
bool mbg__plane_sample_begin(mbg__plane_sample *p);
/* The bodies it looks at, and where their frames (cos, sin, x and y) go before the calls that follow. */
const int *mbg__plane_sample_bodies(const mbg__plane_sample *p, int *count);
real *mbg__plane_sample_frame(mbg__plane_sample *p, int body);
/* mbg__system_sample, and mbg__system_sample_both, at free velocities v. */
int mbg__plane_sample_values(mbg_context *ctx, mbg__plane_sample *p, real t, const real *v, real *y);
int mbg__plane_sample_both(mbg_context *ctx, mbg__plane_sample *p, real t, const real *v);
/* The coordinates alone: with so many turns (nturn), where mbg__system_coords and mbg__system_coord_rates find them. */
void mbg__plane_sample_coords(mbg__plane_sample *p, real t, const real *v, const int *turns);

#endif
