/* event: what happens in a run where a guard passes 0 or at a given time, and the derivatives of it (theory 7).

   An event takes two nodes at its time tau: the end of a real step, and the state after the event, from which the run
   goes on with new accelerations. Frames never jump; twists do by an impact. Modes and impulses are attributes that
   events set, and functions of time are differentiated by the attribute `clock` of the model as by time: so what is
   explicit in time needs no derivative of its own.

   Formulations provide steps of any length (mbg__event_steps); all that concerns events is here. */
#ifndef MBG_EVENT_EVENT_H
#define MBG_EVENT_EVENT_H

#include "criteria/firing.h"
#include "start/rank.h"
#include "system/saddle.h"
#include "system/system_lanes.h"

typedef struct mbg__events mbg__events;

/* *out is NULL for models without events; every function below accepts NULL where it says so. The design belongs to the
   system and is written to: modes and impulses. marks: those that runs begin with, referenced. */
int mbg__events_create(mbg_context *ctx, mbg__system *sys, mbg__design *design, const mbg__rank *rank,
                       const double *marks, mbg__events **out);
void mbg__events_destroy(mbg__events *ev);

/* Impacts of a formulation that has its own [[M, B^T], [B, 0]] factor that one, from now on. */
void mbg__events_share(mbg__events *ev, mbg__saddle *saddle);
/* Its factors are those at the frames of the next impact that is solved. */
void mbg__events_factors(mbg__events *ev);
/* They become those of the impact of firing k, as the run made them; false: they are not kept, or not its own. */
bool mbg__events_recall_factors(mbg__events *ev, int k);
/* Are they those of the impact that has been solved last? Asked once: then they are the caller's. */
bool mbg__events_factored(mbg__events *ev);

/* ---------------------------------------------------------------------- modes */

/* What events leave behind in a state: the values of all modes, then the impulse of the last impact of each event
   (mbg__events_marks numbers). Before any event; after those firings of a run that have acted at a node. */
int mbg__events_marks(const mbg_model *m);
void mbg__events_marks_first(const mbg_model *m, double *marks);
void mbg__events_marks_copy(const mbg_model *m, const double *from, double *marks);
void mbg__events_marks_after(const mbg_model *m, int nfiring, const mbg__firing *firings, int node, double *marks);
/* A copy of a model whose runs and states begin with these marks; memory in the arena. */
int mbg__events_marks_model(mbg_context *ctx, mbg__arena *arena, mbg_model *m, const double *marks);

/* Attributes as before the first event of a run that begins with these marks. */
void mbg__events_reset(const mbg_model *m, mbg__design *design, const double *marks);
/* ... after the first `count` firings of the run; ev NULL: nothing. */
void mbg__events_after(mbg__events *ev, int count);

/* ---------------------------------------------------------------------- runs */

/* The present node, and trial steps from it. */
typedef struct {
  /* a step of length h becomes the trial */
  int (*step)(mbg_context *ctx, void *user, real h);
  /* the state at the trial, or at the present node, with rates */
  mbg__state (*state)(mbg_context *ctx, void *user, bool trial);
  void *user;
  /* the state inside the trial, at a length from its start, by its dense output; NULL: shorter steps are tried */
  mbg__state (*inside)(mbg_context *ctx, void *user, double length);
  /* the trial, made last, becomes a shorter step of length h, to rounding; NULL: a step of its own is as good */
  int (*shorten)(mbg_context *ctx, void *user, real h);
} mbg__event_steps;

/* Frozen: nodes that events dropped from a grid, and steps under error control, are those of the run before, so that
   values depend smoothly on parameters as long as the sequence of events stays. NULL: nothing, false. */
void mbg__events_freeze(mbg__events *ev, bool frozen);
bool mbg__events_frozen(const mbg__events *ev);
/* Do the next runs go on from a state? Then guards may be on their closed side there. NULL: nothing. */
void mbg__events_resume(mbg__events *ev, bool yes);
/* Before a run: no firings. */
int mbg__events_begin(mbg_context *ctx, mbg__events *ev);
/* Do guards need more than frames and twists? Then they move the system away from the state that is searched; else it
   stands there as before. */
bool mbg__events_disturb(const mbg__events *ev);
/* At the first node, and after an event has acted. */
int mbg__events_arm(mbg_context *ctx, mbg__events *ev, const mbg__state *state);
/* After a trial step of length h from time t. *h1: length of the step to the first event in it, *event; -1: none. The
   trial is then the step of length *h1. beyond: largest length that a later event may have, where it takes the place of
   the end of the step (h: none).
   In complex numbers all lengths are found by real parts; then that of *h1 follows from the guard, or the time. */
int mbg__events_search(mbg_context *ctx, mbg__events *ev, const mbg__event_steps *steps, real t, real h, double beyond,
                       real *h1, int *event);
/* The trial becomes the present node. */
void mbg__events_accept(mbg__events *ev);
/* The step that leads to the next firing has this share of the grid's, and rounding matters where it is small (`lie`,
   `dae`). The error where it is too small to be made: h1 after t. */
void mbg__events_lead(mbg__events *ev, double share);
int mbg__events_too_near(mbg_context *ctx, const mbg__events *ev, int event, double t, double h1);
/* The event fires at the present node, `node` of the run. */
int mbg__events_fire(mbg_context *ctx, mbg__events *ev, int event, int node, double t, const mbg__state *before);
/* After a firing, with the step h of the grid: an error when the event accumulates. */
int mbg__events_zeno(mbg_context *ctx, mbg__events *ev, double h);
/* The next event that must act at the present time, because the last one carried its guard across 0; -1: none. */
int mbg__events_next(mbg__events *ev);

/* Does a guard depend on velocities, so that its rate needs accelerations? */
bool mbg__events_need_rates(const mbg__events *ev);
/* Does the event end the run? */
bool mbg__events_ends(const mbg__events *ev, int event);
int mbg__events_count(const mbg__events *ev);
/* The event that fires; NULL for -1. */
const mbg__event *mbg__events_which(const mbg__events *ev, int firing);
const mbg__firing *mbg__events_firings(const mbg__events *ev);
/* Does a firing of the last run lie within `near` of t? */
bool mbg__events_at(const mbg__events *ev, double t, double near);

/* ---------------------------------------------------------------------- what an event does to twists */

/* v (nw): twists after firing k, from the state before it. */
int mbg__events_act(mbg_context *ctx, mbg__events *ev, int k, const mbg__state *before, real *v);

/* Directional derivatives of n columns: frames w, twists v (n x nw each; v becomes that after the firing), time dt (n),
   attributes (lay into da, clear). dP (n): of the impulse. */
typedef struct {
  int n;
  const real *w, *dt;
  real *v, *dP;
  void (*attributes)(void *user, int p, real *da, bool clear);
  void *user;
} mbg__event_columns;
int mbg__events_push(mbg_context *ctx, mbg__events *ev, int k, const mbg__state *before, const mbg__event_columns *c);

/* Transposed: cotangents of n criteria. v (n x nw): of the twists after the firing, becomes that before it; w (n x nw)
   and psi_a (n x na) are added to; Pb (n): of the impulse. Columns go side by side by the block, NULL: one by one. */
int mbg__events_pull(mbg_context *ctx, mbg__events *ev, int k, const mbg__state *before, int n, mbg__lanes_block *block,
                     const real *Pb, real *w, real *v, real *psi_a);

/* ---------------------------------------------------------------------- gradients */

/* The gradient of a guard, a signal, at a state: adds to gw, gv (nw) and ga (na). */
int mbg__events_guard(mbg_context *ctx, mbg__events *ev, int guard, const mbg__state *state, real *gw, real *gv,
                      real *ga);

/* MBG_OK, or an error that says why a run with these events has no gradient. */
int mbg__events_differentiable(mbg_context *ctx, const mbg__events *ev);

#endif
