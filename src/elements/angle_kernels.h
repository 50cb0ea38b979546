/* Kernels of every coordinate that is an angle atan2(s, c) + 2 pi turns of two entries c and s of the relative matrix.
   As a driver such a coordinate is held by -sin(theta) c + cos(theta) s = 0, which has two solutions half a turn apart:
   the right one has cos(theta) c + sin(theta) s > 0. */
#ifndef MBG_ELEMENTS_ANGLE_KERNELS_H
#define MBG_ELEMENTS_ANGLE_KERNELS_H

#include "model/types.h"

/* Angle of (c, s) with derivatives: D[n][k] is the n-th derivative, k times by s and n - k times by c; D[0][0] is
   the angle itself, entries beyond `order` are not written. At c = s = 0, where the angle is undefined, all are 0. */
void mbg__angle_derivatives(real c, real s, int turns, int order, real D[4][4]);

/* F = atan2(s, c) + 2 pi turns, z = (c, s) */
void mbg__angle_value(const real *z, int turns, int order, mbg__jet3 *out);
/* F = -sin(theta) c + cos(theta) s, z = (c, s, theta) */
void mbg__angle_driver(const real *z, int turns, int order, mbg__jet3 *out);
/* F = cos(theta) c + sin(theta) s, z = (c, s, theta) */
void mbg__angle_branch(const real *z, int turns, int order, mbg__jet3 *out);

#endif
