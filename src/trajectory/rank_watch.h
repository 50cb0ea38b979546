/* rank_watch: how near a run comes to positions where its constraints lose rank.

   The measure is sigma, the smallest singular value of the kept constraint rows, each scaled to unit length in the
   metric of the model (lengths, and angles times the model's size): 1 for rows that are orthogonal, 0 where one depends
   on the others. Its inverse is the condition number of the position. With the singular vectors y (rows) and x
   (velocities), kept continuous from sample to sample, sigma has a sign: it changes where the mechanism passes a
   singular position, or comes so near to one that the steps cannot tell. */
#ifndef MBG_TRAJECTORY_RANK_WATCH_H
#define MBG_TRAJECTORY_RANK_WATCH_H

#include "start/rank.h"
#include "system/plane.h"

typedef struct mbg__rank_watch mbg__rank_watch;

/* Puts the system at a time inside the last step. */
typedef int (*mbg__rank_watch_place)(void *user, double t);

/* Everything is allocated here. *out is NULL for mechanisms without loops, whose rows are always independent; every
   function below accepts NULL. */
int mbg__rank_watch_create(mbg_context *ctx, mbg__system *sys, const mbg__rank *rank, mbg__rank_watch **out);
void mbg__rank_watch_destroy(mbg__rank_watch *watch);

/* Before a run. */
void mbg__rank_watch_begin(mbg__rank_watch *watch);
/* After a step from t0 to t1 (t0 = t1: at the start), with the system at t1. place may be NULL; else the system is put
   to further times where steps are long, and last to t1. MBG_ERROR_SINGULAR: the run left its branch in a singular
   position. */
int mbg__rank_watch_step(mbg_context *ctx, mbg__rank_watch *watch, double t0, double t1, mbg__rank_watch_place place,
                         void *user);
/* The same of a model in a plane, which is at t1 instead of the system: place puts the plane to a time, and the system
   is put there only where a singular position has been passed. For watches of few rows: mbg__rank_watch_small. */
typedef struct {
  mbg__plane *plane;
  mbg__rank_watch_place place, place_system;
  void *user;
} mbg__rank_watch_plane;
int mbg__rank_watch_step_in_plane(mbg_context *ctx, mbg__rank_watch *watch, double t0, double t1,
                                  const mbg__rank_watch_plane *flat);
bool mbg__rank_watch_small(const mbg__rank_watch *watch);
/* MBG_ERROR_SINGULAR when the last run passed a singular position that a change of a parameter takes apart. */
int mbg__rank_watch_gradient(mbg_context *ctx, const mbg__rank_watch *watch);
/* Does mbg__rank_watch_step without `place` look at the state at t1? */
bool mbg__rank_watch_due(const mbg__rank_watch *watch, double t0, double t1);
/* After a run: warns if it came near a singular position. */
void mbg__rank_watch_report(mbg_context *ctx, const mbg__rank_watch *watch);
/* For a run that stopped: "at t = 1.68 joint 'C' row x1 nearly depends on the other constraints ...", or nothing when
   the last sample is regular. */
void mbg__rank_watch_explain(const mbg__rank_watch *watch, char *text, size_t size);

#endif
