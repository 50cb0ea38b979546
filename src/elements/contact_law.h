/* The scalar laws of a smooth contact, each with its derivatives: elastic force and energy of a depth, the factor of
   its damping, the damping that a coefficient of restitution asks for, friction of a sliding speed. */
#ifndef MBG_ELEMENTS_CONTACT_LAW_H
#define MBG_ELEMENTS_CONTACT_LAW_H

#include "base/base.h"
#include "base/real.h"

/* Elastic force F(d; k, n, w) and its energy E, whose derivative by d is F. */
typedef struct {
  real F, F_d, F_k, F_n, F_w;
  real E, E_k, E_n, E_w;
} mbg__contact_elastic;
void mbg__contact_elastic_at(real d, real k, real n, real w, mbg__contact_elastic *out);

/* Factor P(y; s) of the elastic force at y = c ddot, rounded over s. */
typedef struct {
  real P, P_y, P_s;
} mbg__contact_factor;
void mbg__contact_factor_at(real y, real s, mbg__contact_factor *out);

/* Product u(e; s) of damping and approach speed that returns the fraction e of this speed. False: e is not in (0, 1].
 */
typedef struct {
  real u, u_e, u_s;
} mbg__contact_damping;
bool mbg__contact_damping_of(real e, real s, mbg__contact_damping *out);

/* Friction K(q) of the squared sliding speed q: the force is -N K u. */
typedef struct {
  real K, K_q, K_moving, K_still, K_slip, K_stribeck;
} mbg__contact_friction;
void mbg__contact_friction_at(real q, real moving, real still, real slip, real stribeck, mbg__contact_friction *out);

#endif
