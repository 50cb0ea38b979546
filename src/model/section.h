/* section: stiffness, damping and mass per length of a beam element from its numbers, with exact derivatives.

     K6 = phi diag(E A, k2 G A, k3 G A, G Jt, E I2, E I3)     D6 = eta K6     phi = k_min + (1 - k_min) x^s
     mu = x rho (A, I2, I3)                                                             (theory 4, section 3)

   x is the filling of the element (topology variable), 1 unless given. Axis 1 is the axis of the beam. Jt = I2 + I3, or
   given, or that of Saint-Venant. */
#ifndef MBG_MODEL_SECTION_H
#define MBG_MODEL_SECTION_H

#include "base/base.h"
#include "base/real.h"

/* Rotation between the nodes of an element: above the first its accuracy suffers, at the second the logarithm is given
   up (its branch ends at pi). */
#define MBG__BEAM_TURN_WARN 2.0
#define MBG__BEAM_TURN_MAX (0.95 * M_PI)

typedef enum { MBG__RECTANGLE, MBG__CIRCLE, MBG__TUBE, MBG__GENERAL } mbg__section_kind;

/* The numbers of an element. */
enum {
  MBG__BEAM_E,
  MBG__BEAM_G, /* Poisson's ratio, or the shear modulus */
  MBG__BEAM_RHO,
  MBG__BEAM_DAMPING,
  MBG__BEAM_FILL,
  MBG__BEAM_SHEAR2,
  MBG__BEAM_SHEAR3,
  MBG__BEAM_SECTION,                         /* width, height | diameter | diameter, wall | A, I2, I3, Jt */
  MBG__BEAM_TORSION = MBG__BEAM_SECTION + 4, /* Jt instead of I2 + I3; absent for most */
  MBG__BEAM_NUMBERS
};

/* The resulting coefficients: K6 (6), eta, rho A, rho I2, rho I3. */
enum { MBG__BEAM_K, MBG__BEAM_ETA = 6, MBG__BEAM_MU, MBG__BEAM_COEFS = MBG__BEAM_MU + 3 };

typedef struct {
  mbg__section_kind section;
  bool shear_modulus; /* number MBG__BEAM_G is G, not nu */
  bool torsion;       /* number MBG__BEAM_TORSION is given */
  bool saint_venant;  /* Jt is Saint-Venant's */
  double penalty, stiffness_min;
} mbg__beam_rule;

/* c (MBG__BEAM_COEFS) and its derivatives by the numbers z; c_z may be NULL. */
void mbg__beam_coefs(const mbg__beam_rule *rule, const real z[MBG__BEAM_NUMBERS], real c[MBG__BEAM_COEFS],
                     real c_z[MBG__BEAM_COEFS][MBG__BEAM_NUMBERS]);

#endif
