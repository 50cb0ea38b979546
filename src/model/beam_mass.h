/* beam_mass: consistent and lumped mass matrices of a beam element with the reference d0 = log(H_A^-1 H_B).

     M = sum_j mu_j N_j(d0),   N_j = L int_0^1 Q^T D_j Q dxi,   L = |d0_U|
     Q(xi) = [Ad(exp(-xi d0)) - S Ad(exp(-d0)), S],   S = xi T(xi d0) T^-1(d0)             (theory 4, section 3)
     D_1 = diag(1, 1, 1, 0, 0, 0),   D_2 = diag(0, 0, 0, 1, 1, 0),   D_3 = diag(0, 0, 0, 1, 0, 1)

   The same D_j at both nodes with L/2 when lumped. 12 x 12 over (v_A, v_B), row-major. */
#ifndef MBG_MODEL_BEAM_MASS_H
#define MBG_MODEL_BEAM_MASS_H

#include "base/base.h"
#include "math/se3.h"

/* N (3) and its derivatives by the six entries of d0 (6 x 3). */
void mbg__beam_mass(const real d0[6], bool lumped, real N[3][144], real N_d[6][3][144]);

#endif
