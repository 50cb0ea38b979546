/* firing: one event of a run. */
#ifndef MBG_CRITERIA_FIRING_H
#define MBG_CRITERIA_FIRING_H

#include "base/real.h"

#include <stdbool.h>

typedef struct {
  int event;      /* of the model */
  int node;       /* the node before it acts; the next one is the state after it, unless it ends the run */
  double t;       /* tau */
  double gdot;    /* rate of the guard */
  double grazing; /* gdot^2 / (2 |gdd| ghat): share of ghat by which the guard may move until the event is gone */
  real impulse;   /* of an impact */
  double jump;    /* of the rate of its gap */
  double lead;    /* share of the step that leads to it in the grid's, where rounding matters; else 1 */
  bool follows;   /* at the time of the firing before it, which carried its guard across 0 */
  bool together;  /* ... whose guard passed 0 at the same time: no gradient */
} mbg__firing;

#endif
