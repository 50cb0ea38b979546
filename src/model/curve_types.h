/* curve_types: curves of a model, and the joints on them. */
#ifndef MBG_MODEL_CURVE_TYPES_H
#define MBG_MODEL_CURVE_TYPES_H

#include "base/where.h"

/* r(s): expressions of s, or a spline r = sum_j B_j(s) D_j through points at s = 0, 1, ..., D = C P (model/curve.h). */
typedef struct {
  const char *name;
  int dim; /* 2: in the x-y plane; 3 */
  bool closed;
  double from, to; /* closed: to - from is the period */
  int degree;      /* of a spline; 0: expressions */
  int npoint;
  int attr; /* of the points, dim each */
  int nbasis;
  const double *C; /* control points from points       (nbasis x npoint) */
  int fn;          /* first of dim functions of s, else -1 */
  mbg__where where;
} mbg__curve;

/* A joint on curves, or (surface >= 0) on the surface where a function of x, y, z is 0. */
typedef struct {
  int joint;
  int curve[2];
  int surface;
  int nact; /* most attributes that move it */
  int nrow;
} mbg__contact;

#endif
