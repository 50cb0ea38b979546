/* Inertia of a body in its own frame: H = (R, x), twist v, rate vd, mass matrix M, gravity g in world axes.

     r = M vd - ad(v)^T M v - M(:,1:3) R^T g

   Gravity enters as the acceleration -R^T g of the frame, so that no mass and no centre of mass is needed apart. */
#ifndef MBG_ELEMENTS_INERTIA_H
#define MBG_ELEMENTS_INERTIA_H

#include "math/se3.h"

/* r as above. */
void mbg__inertia_residual(const real M[36], const real R[9], const real v[6], const real vd[6], const real g[3],
                           real r[6]);

/* The same for a flat frame, twist and rate (math/flat.h), components 0, 1 and 5; the others become 0. */
void mbg__inertia_flat_residual(const real M[36], const real R[9], const real v[6], const real vd[6], const real g[3],
                                real r[6]);

/* r_w = [0, -M(:,1:3) (R^T g)~]  by the variation of the frame,  r_v = -ad(v)^T M - C(M v)  with ad(v)^T y = C(y) v.
   (r_vd = M.) Row-major 6x6. */
void mbg__inertia_derivatives(const real M[36], const real R[9], const real v[6], const real g[3], real r_w[36],
                              real r_v[36]);

/* The same for a flat frame and twist, rows and columns 0, 1 and 5 alone. Row-major 3x3. */
void mbg__inertia_flat_derivatives(const real M[36], const real R[9], const real v[6], const real g[3], real r_w[9],
                                   real r_v[9]);

/* Change of r with mass matrix and gravity; dM (36) or dg (3) may be NULL:
   dr = dM vd - ad(v)^T dM v - dM(:,1:3) R^T g - M(:,1:3) R^T dg. */
void mbg__inertia_change(const real M[36], const real R[9], const real v[6], const real vd[6], const real g[3],
                         const real *dM, const real *dg, real dr[6]);

#endif
