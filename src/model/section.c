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

/* S(r) = sum_n tanh(n pi r/2)/n^5 over odd n, r >= 1, and its derivative: the remainder to 31/32 zeta(5) decays with
   exp(-n pi r), so that five terms are exact to rounding */
static real torsion_sum(real r, real *S_r) {
  real S = 31.0 / 32 * 1.0369277551433699263;
  *S_r = 0;
  for (int n = 1; n <= 9; n += 2) {
    const real u = r_exp(-n * M_PI * r);
    const double n4 = (double)(n * n * n * n);
    S -= 2 * u / (n4 * n * (1 + u));
    *S_r += 2 * M_PI * u / (n4 * (1 + u) * (1 + u));
  }
  return S;
}

/* Saint-Venant's constant of a rectangle, a the longer side:  Jt = a c^3/3 - 64/pi^5 c^4 S(a/c). It is the same
   function on both sides of a = c. */
static void rectangle_torsion(const real *s, properties *p) {
  const int long_side = re(s[0]) >= re(s[1]) ? 0 : 1;
  const double q = 64 / (M_PI * M_PI * M_PI * M_PI * M_PI);
  const real a = s[long_side], c = s[1 - long_side];
  real S_r;
  const real S = torsion_sum(a / c, &S_r);
  p->P[JT] = a * c * c * c / 3 - q * c * c * c * c * S;
  p->P_s[JT][long_side] = c * c * c * (1.0 / 3 - q * S_r);
  p->P_s[JT][1 - long_side] = a * c * c - q * c * c * (4 * c * S - a * S_r);
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
  if (rule->saint_venant && rule->section == MBG__RECTANGLE) {
    rectangle_torsion(s, p);
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
