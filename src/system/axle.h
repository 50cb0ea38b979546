/* axle: the line on which all joints of a body lie, if there is one: a balanced body that spins about it looks the same
   at any angle (theory 4, section 14). */
#ifndef MBG_SYSTEM_AXLE_H
#define MBG_SYSTEM_AXLE_H

#include "model/design.h"

typedef struct {
  bool any, unfit; /* the body has a joint; they do not lie on one line through its origin, or are of other types */
  double d[3];     /* direction of the line, in body axes */
} mbg__axle;

/* The line of all joints of each body: axles (nbody), cleared by the caller. */
void mbg__axles_find(const mbg__design *design, mbg__axle *axles);
/* Does the origin of this marker lie on the axle of its body? */
bool mbg__axle_has(const mbg__design *design, int marker, const mbg__axle *axle);
/* Does the mass matrix M (36) look the same after a turn about d? planar: turns in the plane are enough. */
bool mbg__axle_balanced(const real M[36], const double d[3], bool planar);

#endif
