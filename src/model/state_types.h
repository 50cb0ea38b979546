/* state_types: what a model holds of its states. */
#ifndef MBG_MODEL_STATE_TYPES_H
#define MBG_MODEL_STATE_TYPES_H

#include "base/where.h"

#include <stdbool.h>

/* A state x of the file: x' = rate. It is s times a velocity y of a body that carries three states, has mass 1 and
   no weight, and moves along the axes of a frame that never turns; the rate pushes this body along a coordinate
   q = s times its place, by the hidden force `force`, so that y' = rate / s. So formulations, starts and stores need
   not know of states: what the theory calls a velocity without position is a velocity whose position nobody reads. */
typedef struct {
  const char *name, *unit;
  int body, component; /* of the velocity */
  int coord;           /* its rate is the state */
  int signal;          /* the state */
  int force;           /* whose function is the rate */
  int initial;         /* attribute: value at the start, or the guess of it */
  bool steady;         /* starts where its rate is 0 */
  int start;           /* signal whose value at the start it has, -1: none */
  double scale;        /* s > 0, at the nominal parameters; in no equation */
  mbg__where where;
} mbg__user_state;

#endif
