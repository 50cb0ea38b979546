/* system: the equations of a model at a state, with exact derivatives. The chain rule from relative frames to bodies
   and attributes is written once, here; formulations call this and know no element.

     r = M vd - ad(v)^T M v - f + B^T lambda        phi, phid = B v + phi_t, phidd = B vd + gamma      (theory 0)

   Vectors over velocities are full: nw entries (six per body). Masked components of twists and rates are 0 and ignored.
   Masked components of w are not: the height of a planar body or the axes of a point may depend on parameters.
   Rows are all nrow rows of the model, kept or redundant; a caller that works on kept rows gives lambda = 0 elsewhere.

   A push is a directional derivative, a pull its transpose: (w, dv, ...) -> (dr, dphi, ...) and back (the pushforward
   and pullback of differential geometry). */
#ifndef MBG_SYSTEM_SYSTEM_H
#define MBG_SYSTEM_SYSTEM_H

#include "math/sparse.h"
#include "model/design.h"
#include "model/fn.h"

/* A state; arrays belong to the caller. */
typedef struct {
  real t;
  const mbg__frame *H; /* frames                       (nbody) */
  const real *v;       /* twists                       (nw)    */
  const real *vd;      /* their rates, NULL: 0         (nw)    */
  const real *lambda;  /* multipliers, NULL: 0         (nrow)  */
  const int *turns;    /* turn counters                (nturn) */
  const bool *rows;    /* active rows, NULL: all; the others count as 0 and have no multiplier   (nrow) */
  bool still;          /* nothing but twists, rates and multipliers may have changed since the last update */
  bool early;          /* late rates are left out, as they are when vd is NULL (see mbg__system_late) */
} mbg__state;

typedef struct mbg__system mbg__system;

/* Workspace for a model; the design is referenced. Everything is allocated here. */
int mbg__system_create(mbg_context *ctx, const mbg_model *model, const mbg__design *design, mbg__system **out);
void mbg__system_destroy(mbg__system *sys);
const mbg_model *mbg__system_model(const mbg__system *sys);
const mbg__design *mbg__system_design(const mbg__system *sys);

/* Threads for the loops over elements of evaluations, matrices of bodies and rows, and pulls; NULL: none. Results do
   not depend on their number. */
struct mbg__pool;
void mbg__system_share(mbg__system *sys, struct mbg__pool *pool);
/* `view` shows state and linearization of `of`, a system of the same model, for pushes alone (mbg__system_push),
   which may run at the same time in several views. False: nothing is done; beams and forces that depend on signals need
   a system of their own. */
bool mbg__system_can_view(const mbg__system *of);
bool mbg__system_view(mbg__system *view, const mbg__system *of);
/* A view with no memory but for what pushes write to; `of` can be viewed and lives longer. */
int mbg__system_create_view(mbg_context *ctx, const mbg__system *of, mbg__system **out);

/* ---------------------------------------------------------------------- vectors of velocities */

/* free (nv) = c full (nw); the free components of full = c free, masked ones untouched. */
static inline void mbg__to_free(const mbg_model *m, real c, const real *full, real *free_) {
  for (int j = 0; j < m->nv; j++) {
    free_[j] = c * full[m->full[j]];
  }
}
static inline void mbg__to_full(const mbg_model *m, real c, const real *free_, real *full) {
  for (int j = 0; j < m->nv; j++) {
    full[m->full[j]] = c * free_[j];
  }
}
/* out = H exp(step x), x over the free velocities (nv); out may be H. */
void mbg__system_retract(const mbg_model *m, const mbg__frame *H, double step, const real *x, mbg__frame *out);

/* ---------------------------------------------------------------------- values */

/* Evaluates markers, relative frames, rows, signals of velocity level and forces at a state. */
int mbg__system_update(mbg_context *ctx, mbg__system *sys, const mbg__state *state);

/* The same for the constraints alone: until the next update r = B^T lambda, without inertia and forces. */
int mbg__system_update_bare(mbg_context *ctx, mbg__system *sys, const mbg__state *state);

/* After update_bare: the forces, as if update had been called. */
int mbg__system_update_forces(mbg_context *ctx, mbg__system *sys);

/* After an update without multipliers: adds them to the state (nrow), and rates (nw; NULL: those of the update). */
void mbg__system_complete(mbg__system *sys, const real *vd, const real *lambda);

/* Late rates are those of states x that use accelerations, reactions, forces or energies: y' = F(H, v, vd, lambda) of
   their carriers. No force uses F, so the equations are block triangular: vd and lambda of the mechanism come first, by
   the equations without late rates, and F after them. An update with vd evaluates them. After mbg__system_complete
   mbg__system_late does, and puts them into vd (nw), the places of their carriers. */
bool mbg__system_has_late(const mbg__system *sys);
bool mbg__system_late_reactions(const mbg__system *sys); /* ... that uses reactions */
int mbg__system_late(mbg_context *ctx, mbg__system *sys, real *vd);

/* After update. Each output may be NULL: r (nw), phi, phid, phidd, gamma (nrow each). */
void mbg__system_residual(const mbg__system *sys, real *r, real *phi, real *phid, real *phidd, real *gamma);

/* y = M x, y += B^T x (nw from nrow), y = B x (nrow from nw). After update. */
void mbg__system_mass_mul(const mbg__system *sys, const real *x, real *y);
/* ga += the gradient of z.M x by attributes of rigid bodies, whose M is constant otherwise. */
void mbg__system_mass_pull(const mbg__system *sys, const real *z, const real *x, real *ga);
/* y += c M' x, M' the rate of M along the motion; only modal bodies have one. */
void mbg__system_mass_rate(const mbg__system *sys, real c, const real *x, real *y);
void mbg__system_B_mul(const mbg__system *sys, const real *x, real *y);
void mbg__system_B_mul_T(const mbg__system *sys, const real *x, real *y);

/* Values of all signals (nsignal), accelerations and reactions included. After update; at a node, which is watched. */
int mbg__system_signals(mbg_context *ctx, mbg__system *sys, const real **y);
/* The same at a state that is no node. */
int mbg__system_signal_values(mbg_context *ctx, mbg__system *sys, const real **y);

/* A node of a run, after update: values of the used signals into y (nused), then the pose. */
int mbg__system_record(mbg_context *ctx, mbg__system *sys, int nused, const int *used, int npose, real *y);
/* The pose alone: frames (12 per body) and twists (nw) as they are, or nothing when npose is 0. */
void mbg__system_pose(const mbg__system *sys, int npose, real *pose);
static inline int mbg__system_pose_count(const mbg_model *m) { return 12 * m->nbody + m->nw; }

/* What a set of signals needs: the least that must be evaluated, and for kinematics the signals (expressions after
   those they use), markers, pairs and coordinates concerned. */
typedef enum { MBG__SAMPLE_KINEMATICS, MBG__SAMPLE_FORCES, MBG__SAMPLE_ACCELERATIONS } mbg__sampling_level;
typedef struct {
  mbg__sampling_level level;
  int nused, nsignal, nmarker, npair, ncoord;
  const int *used;
  int *signal, *marker, *pair, *coord;
  bool few; /* states have frames and twists of the bodies of the markers alone */
} mbg__sampling;
/* The list of used signals is referenced. Memory in the arena. */
int mbg__sampling_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, int nused, const int *used,
                         mbg__sampling *out);
/* At a point of an integral, level kinematics: y (nused, may be NULL) at the frames, twists and time of a state. Where
   an update has left the system there, it stays as it is; else it has frames, twists and these signals until the next
   update, nothing else. */
int mbg__system_sample(mbg_context *ctx, mbg__system *sys, const mbg__sampling *what, const mbg__state *state, real *y);
/* ... with their derivatives, functions evaluated once. */
int mbg__system_sample_both(mbg_context *ctx, mbg__system *sys, const mbg__sampling *what, const mbg__state *state,
                            real *y);

/* Warns of modal bodies beyond linear deformation, and of beam elements that turned too far between their nodes, at the
   nodes whose signals were evaluated since the last call; ctx NULL: forgets them. */
void mbg__system_warn(mbg_context *ctx, mbg__system *sys);
/* What to do after a step of length h that failed, for messages: `other`, unless a force law changes over less than the
   step; then its name and the number that smooths it. */
void mbg__system_sharp(const mbg__system *s, double h, const char *other, char *advice, size_t size);

/* What a run did at the nodes whose signals were evaluated while it was watched. */
typedef struct {
  mbg__part most, t; /* largest value, not below 0, and its time */
} mbg__peak;

typedef struct {
  bool on;                /* nodes are watched */
  bool by_bodies;         /* ... for nothing but frames and twists of bodies */
  mbg__peak *spin;        /* angular velocity                        (nbody) */
  mbg__peak *push, *pull; /* of contacts, 0 for others    (nforce + njoint) */
  int nodes;
  mbg__part slow, fast;   /* least and largest kinetic energy */
  mbg__energy_kind kind;  /* of the model's energy; what follows is not filled when it is MBG__ENERGY_OPEN */
  mbg__part first, least; /* energy at the first node, the least */
  mbg__part seen;         /* latest time so far */
  mbg__peak rise;         /* above the least energy before */
  mbg__peak change;       /* from the first energy, up or down */
} mbg__watch;

/* Begins to watch, everything forgotten, or ends (what was seen stays). Costs a small part of an update at a node. */
void mbg__system_watch(mbg__system *sys, bool on);
const mbg__watch *mbg__system_watched(const mbg__system *sys);
/* Nobody watches, or the watch asks no more of a node than the frames and twists that mbg__system_sample has set: then
   mbg__system_watch_sample looks at them. */
bool mbg__system_sample_suffices(const mbg__system *sys);
void mbg__system_watch_sample(mbg__system *sys);

/* ---------------------------------------------------------------------- derivatives */

/* Computes element derivatives at the state of the last update; needed by everything below. */
int mbg__system_linearize(mbg_context *ctx, mbg__system *sys);

/* After linearize: the constraints alone, as if update_bare and linearize had been called with other twists v (nw) and
   multipliers (nrow) at the same frames and time. Until the next update r = B^T lambda; accelerations (phidd, gamma)
   are not defined. */
void mbg__system_constraints_at(mbg__system *sys, const real *v, const real *lambda);

/* After update_bare and linearize: the same with other multipliers (nrow). */
void mbg__system_multipliers_at(mbg__system *sys, const real *lambda);

/* A direction in which everything may vary; NULL: 0. */
typedef struct {
  const real *w, *dv, *dvd; /* frames (dH = H w~), twists, their rates   (nw)   */
  const real *dlambda;      /*                                           (nrow) */
  const real *da;           /* attributes                                (na)   */
} mbg__direction;

/* Directional derivatives; outputs may be NULL: dr (nw), dphi, dphid, dphidd (nrow). Nothing is formed. */
void mbg__system_push(mbg__system *sys, const mbg__direction *d, real *dr, real *dphi, real *dphid, real *dphidd);

/* Transposed: adds to gw, gv, gvd (nw), glambda (nrow), ga (na), each may be NULL, the gradient of
   z.r + mu.phi + nu.phid + kappa.phidd; z, mu, nu, kappa may be NULL. */
void mbg__system_pull(mbg__system *sys, const real *z, const real *mu, const real *nu, const real *kappa, real *gw,
                      real *gv, real *gvd, real *glambda, real *ga);
/* The cotangent W of the mass matrix of a rigid body: adds to its attributes that are wanted. */
void mbg__system_inertia_pull(const mbg__system *sys, int body, const real W[36], real *ga);

/* Around solutions of [[M, B^T], [B, 0]] (dvd, dlambda) = ..., which leaves out the derivatives of late rates by vd and
   lambda. After a solution: adds them to dvd (nw). Before a transposed one: adds the parts of the cotangents of late
   rates, which stand in gvd (nw), to gvd and glambda (nrow). */
void mbg__system_late_push(mbg__system *sys, real *dvd, const real *dlambda);
void mbg__system_late_pull(mbg__system *sys, real *gvd, real *glambda);

/* Attributes whose derivatives pulls compute: all (after creation), or only those that parameters move. */
void mbg__system_want(mbg__system *sys, bool all);

/* Derivatives of all signals at the state of the last update; needed by the two functions below, after linearize. */
int mbg__system_linearize_signals(mbg_context *ctx, mbg__system *sys);

/* Signals that only events use, guards without a name in the file and rates of gaps, are left out of the signals from
   now on, but for those among `used`: events ask for them. So are impulses that nothing uses. */
void mbg__system_leave_guards(mbg__system *sys, int nused, const int *used);
/* After mbg__system_linearize_signals: value and derivatives of a guard. */
int mbg__system_linearize_guard(mbg_context *ctx, mbg__system *sys, int signal);

/* After mbg__system_sample_linearize: the rate of a signal of positions by relative twists; has: can it be had? */
bool mbg__system_has_position_rate(const mbg__system *sys, const mbg__sampling *what, int signal);
real mbg__system_position_rate(mbg__system *sys, int signal);

/* The same after mbg__system_sample, for its signals. */
int mbg__system_sample_linearize(mbg_context *ctx, mbg__system *sys, const mbg__sampling *what);

/* Signals: directional derivative of signal k, and weight * gradient added (any output may be NULL). */
real mbg__system_signal_push(mbg__system *sys, int signal, const mbg__direction *d);
void mbg__system_signal_pull(mbg__system *sys, int signal, real weight, real *gw, real *gv, real *gvd, real *glambda,
                             real *ga);

/* ---------------------------------------------------------------------- matrices */

/* Sparse matrices over free velocities (nv) and rows; patterns are fixed when the system is created.
   K = r_H, C = r_v, M (nv x nv); B, Z = phid_H, A_H = phidd_H, A_v = phidd_v (nrow x nv, one pattern). */
const mbg__csc *mbg__system_pattern_K(const mbg__system *sys); /* K, C and M share it */
const mbg__csc *mbg__system_pattern_B(const mbg__system *sys);
/* Fills the arrays that are not NULL; values are ordered by the patterns. After linearize. */
typedef struct {
  real *K, *C, *M, *B, *Z, *A_H, *A_v;
  struct mbg__dense *dense; /* not NULL: K and C go here, block by block */
  real *late;               /* not NULL: r_lambda of late rates goes here, and their other parts into K, C, M
                               (rows of mbg__system_late_rows) */
} mbg__matrices;
void mbg__system_matrices(mbg__system *sys, const mbg__matrices *out);
/* Number of late rates; their places among the free velocities may be NULL. `late` has nrow entries for each. */
int mbg__system_late_rows(const mbg__system *sys, const int **rows);

/* ---------------------------------------------------------------------- angles */

/* Values of all coordinates of the model (ncoord), with the state's turn counters; after update. */
void mbg__system_coords(const mbg__system *sys, real *q);
/* Rates of all coordinates. */
void mbg__system_coord_rates(const mbg__system *sys, real *qd);
/* turns (nturn): nearest to the coordinate values `previous` (ncoord) at the frames of the last update. */
void mbg__system_turns(const mbg__system *sys, const real *previous, int *turns);

#endif
