/* Geometrically exact beam element on SE(3): force on node B relative to node A, a function of the relative frame G.

     d = log G     e = d - d0     d' = T^-1(d) v     y = (K e + eta K d')/L     f = -T^-T(d) y     energy = e.K e/(2 L)

   y are the section forces (N, Q2, Q3, T, M2, M3), e/L the strains, constant along the element (theory 4, section
   3). */
#ifndef MBG_ELEMENTS_BEAM_H
#define MBG_ELEMENTS_BEAM_H

#include "base/base.h"
#include "math/se3.h"
#include "model/section.h"

typedef struct {
  real d[6], e[6], rate[6]; /* log G, its change from the reference, its rate */
  real y[6];                /* section forces */
  real Ti[36];              /* T^-1(d) */
  real f[6];                /* wrench on B */
  real energy;
} mbg__beam_state;

/* K (6), eta, reference d0 with L = |d0_U|. False when the element has turned by MBG__BEAM_TURN_MAX or more. */
bool mbg__beam_eval(const mbg__frame *G, const real v[6], const real K[6], real eta, const real d0[6],
                    mbg__beam_state *out);

/* f_G and f_v at that state. */
void mbg__beam_derivatives(const mbg__beam_state *s, const real v[6], const real K[6], real eta, real L, real f_G[36],
                           real f_v[36]);

/* y by the variation of G and by v (6 x 6). */
void mbg__beam_section_forces(const mbg__beam_state *s, const real v[6], const real K[6], real eta, real L,
                              real y_G[36], real y_v[36]);

/* Change of y with K, eta and d0 (dK (6), dd0 (6)). */
void mbg__beam_change(const mbg__beam_state *s, const real K[6], real eta, const real d0[6], const real dK[6],
                      real deta, const real dd0[6], real dy[6]);

/* Transposed: adds the gradient of u.y. */
void mbg__beam_change_T(const mbg__beam_state *s, const real K[6], real eta, const real d0[6], const real u[6],
                        real gK[6], real *geta, real gd0[6]);

#endif
