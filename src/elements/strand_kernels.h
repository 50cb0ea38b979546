/* Kernels of tendons (theory 8, section 11): straight parts, each with its shares of the arcs on the pulleys at its
   ends. Angles are counted in quarter turns: `quarters` says between which half-axes the direction lies at turn 0, so
   that the cut of atan2 lies behind it, plus four for each whole turn. */
#ifndef MBG_ELEMENTS_STRAND_KERNELS_H
#define MBG_ELEMENTS_STRAND_KERNELS_H

#include "model/types.h"

/* F = angle of (c, s), z = (c, s) */
void mbg__strand_bearing(const real *z, int quarters, int order, mbg__jet3 *out);
/* F = radius times that angle, z = (c, s, radius) */
void mbg__strand_angle(const real *z, int quarters, int order, mbg__jet3 *out);

/* The origin of B, z = (x1, x2, x3, rho), seen from the pulley A; rho = r_A - r_B, the radii with their signs.
     F = S + rho alpha,   S = sqrt(x1^2 + x2^2 - rho^2 + x3^2),   alpha = angle of (x1, x2) + asin(rho/|(x1, x2)|)
   Back: the tendon runs from B to A, alpha is half a turn more. */
void mbg__strand_out(const real *z, int quarters, int order, mbg__jet3 *out);
void mbg__strand_back(const real *z, int quarters, int order, mbg__jet3 *out);

/* alpha alone: the direction of the tendon in the axes of the pulley A. */
real mbg__strand_direction(const real *z, int quarters, bool back);

#endif
