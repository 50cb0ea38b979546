/* Tendons: ropes over markers and pulleys (theory 8, section 11). */
#ifndef MBG_MODEL_TENDON_TYPES_H
#define MBG_MODEL_TENDON_TYPES_H

#include "base/where.h"

#include <stdbool.h>

struct mbg__term;

/* A place that a tendon touches: the origin of a marker, or a pulley about its z axis. */
typedef struct {
  int marker;
  int radius;  /* attribute, -1: a point */
  double side; /* 1: the tendon goes round counterclockwise, -1: clockwise, 0: a point */
  int turns;   /* whole turns of its wrap, beside the angle from 0 to 2 pi at the first guess */
  int in, out; /* strands before and after it, -1: an end; on a pulley the tendon is fixed there */
  const char *name;
} mbg__via;

/* A straight part with its shares of the arcs on the pulleys at its ends. */
typedef struct {
  int tendon;
  int from, to;                 /* vias */
  bool back;                    /* seen from `to`, which is a pulley, and not from `from` */
  struct mbg__term *length;     /* S + rho alpha, or S alone between two points */
  struct mbg__term *angle;      /* radius times the angle of pulley `to` against pulley `from`; NULL: not two pulleys */
  struct mbg__term *bearing[2]; /* the angles of both, whose turns are counted; NULL: none */
  int row_term;                 /* the place of `length` among the terms of rows, `angle` follows; -1: no row */
  int coord[2];                 /* coordinates of `length` and `angle`, -1: not in use */
} mbg__strand;

typedef struct {
  const char *name;
  int via, nvia;
  int strand, nstrand;
  int row;                /* of an inextensible tendon, else -1 */
  int force, nforce;      /* of an elastic one, one force for each coordinate */
  int length_fn, rate_fn; /* functions of signals: length, rate; -1: not in use */
  mbg__where where;
} mbg__tendon;

#endif
