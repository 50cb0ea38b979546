/* event_types: modes and events of a model file. */
#ifndef MBG_MODEL_EVENT_TYPES_H
#define MBG_MODEL_EVENT_TYPES_H

#include "base/where.h"

/* An integer that is constant between events and may stand in functions: an attribute that events set. */
typedef struct {
  const char *name;
  int attr;
  double first;
  mbg__where where;
} mbg__event_mode;

typedef struct {
  int mode;
  double value;
} mbg__event_setting;

/* What happens where a guard passes 0, or at a given time (theory 7). */
typedef struct {
  const char *name;
  int guard;     /* signal, or -1: a time event */
  int at;        /* attribute: time of a time event, or -1 */
  int direction; /* -1: from above 0 to below, 1: the reverse */
  int armed;     /* function of modes, or -1: always */
  bool end;
  int nset;
  const mbg__event_setting *set;
  bool impact;              /* the guard is the gap, a function of positions */
  int restitution;          /* attribute */
  int impulse;              /* attribute, which the last impact sets */
  int friction, slip_speed; /* attributes, or -1 */
  int tangent;              /* signal: sliding speed, or -1 */
  int nbase;                /* signals in the gap ... */
  const int *base, *rate;   /* ... and their rates                    (nbase) */
  mbg__where where;
} mbg__event;

#endif
