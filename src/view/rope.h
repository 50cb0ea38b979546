/* rope: tendons as lines over markers and around pulleys, and their sheaves as shapes of the scene. */
#ifndef MBG_VIEW_ROPE_H
#define MBG_VIEW_ROPE_H

#include "view/scene.h"

enum { MBG__ROPE_ARC = 24 }; /* pieces of the line on a pulley */

/* Half the thickness of a rope. */
static inline double mbg__rope_radius(const mbg__scene *s) { return 0.005 * s->part; }

/* The last place of the path (of the whole tendon, or of a branch) that begins with place `first`. */
int mbg__rope_last(const mbg_model *m, int first);

/* Radius of a pulley, negative where its axle lies on the right of the line; 0: a point. */
double mbg__rope_left(const mbg__scene *scene, int place);

/* Number of points of the line of a path. */
int mbg__rope_count(const mbg_model *m, int first, int last);

/* The line of a path. place: frames of its markers in the world (12 numbers each, from `first` on). */
void mbg__rope_line(const mbg__scene *scene, int first, int last, const double (*place)[12], double (*out)[3]);

/* Sheaves of the pulleys. */
void mbg__ropes_add(mbg__scene *scene);

#endif
