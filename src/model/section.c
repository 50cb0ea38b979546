#include "model/section.h"

#include <string.h>

/* A, I2, I3, Jt and their derivatives by the four numbers of the section */
typedef struct {
  real P[4], P_s[4][4];
} properties;

enum { A, I2, I3, JT };

/* width b along axis 2, height h along axis 3: A = b h, I2 = b h^3/12, I3 = h b^3/12 */
static void rectangle(const real *s, properties *p) {
  const real b = s[0], h = s[1];
  p->P[A] = b * h;
  p->P[I2] = b * h * h * h / 12;
  p->P[I3] = h * b * b * b / 12;
  p->P_s[A][0] = h;
  p->P_s[A][1] = b;
  p->P_s[I2][0] = h * h * h / 12;
  p->P_s[I2][1] = b * h * h / 4;
  p->P_s[I3][0] = h * b * b / 4;
  p->P_s[I3][1] = b * b * b / 12;
}

/* c times a full circle of diameter d, which has the derivative d_s by number s: A = pi d^2/4, I = pi d^4/64 */
static void add_circle(double c, real d, const real d_s[2], properties *p) {
  const real I = M_PI * d * d * d * d / 64;
  p->P[A] += c * M_PI * d * d / 4;
  p->P[I2] += c * I;
  p->P[I3] += c * I;
  for (int k = 0; k < 2; k++) {
    p->P_s[A][k] += c * M_PI * d / 2 * d_s[k];
    p->P_s[I2][k] += c * M_PI * d * d * d / 16 * d_s[k];
    p->P_s[I3][k] += c * M_PI * d * d * d / 16 * d_s[k];
  }
}

static void section_properties(const mbg__beam_rule *rule, const real *s, properties *p) {
  const real outer[2] = {1, 0}, inner[2] = {1, -2};
  memset(p, 0, sizeof(*p));
  switch (rule->section) {
  case MBG__RECTANGLE:
    rectangle(s, p);
    break;
  case MBG__CIRCLE:
    add_circle(1, s[0], outer, p);
    break;
  case MBG__TUBE:
    add_circle(1, s[0], outer, p);
    add_circle(-1, s[0] - 2 * s[1], inner, p);
    break;
  case MBG__GENERAL:
    for (int k = 0; k < 4; k++) {
      p->P[k] = s[k];
      p->P_s[k][k] = 1;
    }
    return;
  }
  p->P[JT] = p->P[I2] + p->P[I3];
  for (int k = 0; k < 4; k++) {
    p->P_s[JT][k] = p->P_s[I2][k] + p->P_s[I3][k];
  }
}

/* row of a coefficient m P: the part of its section */
static void product(real c_z[MBG__BEAM_NUMBERS], real m, const properties *p, int property) {
  for (int k = 0; k < 4; k++) {
    c_z[MBG__BEAM_SECTION + k] += m * p->P_s[property][k];
  }
}

void mbg__beam_coefs(const mbg__beam_rule *rule, const real z[MBG__BEAM_NUMBERS], real c[MBG__BEAM_COEFS],
                     real c_z[MBG__BEAM_COEFS][MBG__BEAM_NUMBERS]) {
  static const int of_K[6] = {A, A, A, JT, I2, I3};
  properties p;
  section_properties(rule, z + MBG__BEAM_SECTION, &p);
  if (rule->torsion) {
    p.P[JT] = z[MBG__BEAM_TORSION];
    memset(p.P_s[JT], 0, sizeof(p.P_s[JT]));
  }
  /* G = E/(2 (1 + nu)), phi(x) */
  const real E = z[MBG__BEAM_E], nu = z[MBG__BEAM_G], x = z[MBG__BEAM_FILL], rho = z[MBG__BEAM_RHO];
  const real G = rule->shear_modulus ? nu : E / (2 * (1 + nu));
  const real G_E = rule->shear_modulus ? 0 : 1 / (2 * (1 + nu)), G_n = rule->shear_modulus ? 1 : -G / (1 + nu);
  const double s = rule->penalty, low = rule->stiffness_min;
  const real phi = low + (1 - low) * r_pow(x, s), phi_x = (1 - low) * s * r_pow(x, s - 1);
  const real k[6] = {1, z[MBG__BEAM_SHEAR2], z[MBG__BEAM_SHEAR3], 1, 1, 1};
  if (c_z) {
    memset(c_z, 0, MBG__BEAM_COEFS * sizeof(*c_z));
  }
  for (int i = 0; i < 6; i++) {
    const bool shear = i >= 1 && i <= 3;
    const real Y = shear ? G : E, P = p.P[of_K[i]];
    c[i] = phi * k[i] * Y * P;
    if (c_z) {
      c_z[i][MBG__BEAM_E] = phi * k[i] * (shear ? G_E : 1) * P;
      c_z[i][MBG__BEAM_G] = shear ? phi * k[i] * G_n * P : 0;
      c_z[i][MBG__BEAM_FILL] = phi_x * k[i] * Y * P;
      product(c_z[i], phi * k[i] * Y, &p, of_K[i]);
      c_z[i][MBG__BEAM_SHEAR2] = i == 1 ? phi * Y * P : 0;
      c_z[i][MBG__BEAM_SHEAR3] = i == 2 ? phi * Y * P : 0;
      c_z[i][MBG__BEAM_TORSION] = rule->torsion && i == 3 ? phi * Y : 0;
    }
  }
  c[MBG__BEAM_ETA] = z[MBG__BEAM_DAMPING];
  for (int i = 0; i < 3; i++) {
    c[MBG__BEAM_MU + i] = x * rho * p.P[i];
    if (c_z) {
      c_z[MBG__BEAM_MU + i][MBG__BEAM_RHO] = x * p.P[i];
      c_z[MBG__BEAM_MU + i][MBG__BEAM_FILL] = rho * p.P[i];
      product(c_z[MBG__BEAM_MU + i], x * rho, &p, i);
    }
  }
  if (c_z) {
    c_z[MBG__BEAM_ETA][MBG__BEAM_DAMPING] = 1;
  }
}
