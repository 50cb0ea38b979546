/* Where two shapes touch: depth and normal of a sphere on B against a plane, sphere, socket, hole or road on A. */
#ifndef MBG_ELEMENTS_CONTACT_SHAPE_H
#define MBG_ELEMENTS_CONTACT_SHAPE_H

#include "model/types.h"

typedef enum {
  MBG__CONTACT_PLANE,
  MBG__CONTACT_SPHERE,
  MBG__CONTACT_SOCKET,
  MBG__CONTACT_HOLE,
  MBG__CONTACT_ROAD
} mbg__contact_kind;

/* keys of a force "contact" that describe shapes: the first ones, shape, radius and radius_a; and the last one, road */
enum { MBG__CONTACT_FIRST_KEYS = 3, MBG__CONTACT_LAST_KEYS = 1 };

/* Of one contact; vectors in the axes of A. */
typedef struct {
  mbg__contact_kind kind;
  int up, along;      /* axes of A: normal of the plane, vertical of the road; direction of the road's profile */
  real d;             /* depth, negative: distance */
  real n[3];          /* unit normal from A to B */
  real far;           /* spheres: distance of the centres from which n comes; 0: n does not turn */
  mbg__fn_value road; /* at the foot, */
  real slope, height; /* its slope there, height of the centre over the foot */
  real s, curve;      /* sqrt(1 + slope^2); derivative of the foot's equation */
} mbg__contact_place;

/* Changes of what a place is made of, and what follows. */
typedef struct {
  real x[3];                        /* of the centre */
  real d;                           /* of the depth, without that by x */
  real road, road_slope, road_rate; /* of the road's height, slope and rate at the foot */
  real n[3], rate;                  /* out: of the normal, of the road's rate */
} mbg__contact_change;

/* opt: shape, up. A NULL function: no road. *why: what is wrong with the position when the status is an error. */
int mbg__contact_place_at(const mbg__force_in *in, real radius, real radius_a, mbg__contact_place *out,
                          const char **why);
/* Sets c->n and c->rate, adds the rest to c->d. */
void mbg__contact_place_push(const mbg__contact_place *p, mbg__contact_change *c);

#endif
