/* Sections of beams: Saint-Venant's torsion constant. Derivatives of all coefficients by all numbers are proven on
   whole models (property.chain, property.gradient_beams). */
#include "model/section.h"
#include "support/support.h"

#include <math.h>

static const mbg__beam_rule rule = {
    .section = MBG__RECTANGLE, .shear_modulus = true, .saint_venant = true, .penalty = 3};

/* Jt and its derivatives by width and height, with G = 1 */
static double torsion(double b, double h, double d[2]) {
  real z[MBG__BEAM_NUMBERS] = {
      [MBG__BEAM_E] = 2,      [MBG__BEAM_G] = 1,      [MBG__BEAM_RHO] = 1,     [MBG__BEAM_FILL] = 1,
      [MBG__BEAM_SHEAR2] = 1, [MBG__BEAM_SHEAR3] = 1, [MBG__BEAM_SECTION] = b, [MBG__BEAM_SECTION + 1] = h};
  real c[MBG__BEAM_COEFS], c_z[MBG__BEAM_COEFS][MBG__BEAM_NUMBERS];
  mbg__beam_coefs(&rule, z, c, c_z);
  d[0] = c_z[MBG__BEAM_K + 3][MBG__BEAM_SECTION];
  d[1] = c_z[MBG__BEAM_K + 3][MBG__BEAM_SECTION + 1];
  return c[MBG__BEAM_K + 3];
}

/* the series as books print it, a the longer side; 1000 terms leave 1e-14 */
static double series(double a, double c) {
  double sum = 0;
  for (int n = 1999; n > 0; n -= 2) {
    sum += tanh(n * M_PI * a / (2 * c)) / pow(n, 5);
  }
  return a * c * c * c / 3 * (1 - 192 / pow(M_PI, 5) * c / a * sum);
}

/* Jt/(a c^3) in tables of books (Timoshenko and Goodier, Theory of Elasticity): three digits */
static void test_tables(void **state) {
  (void)state;
  static const double table[][2] = {{1, 0.1406}, {1.2, 0.166}, {1.5, 0.196}, {2, 0.229}, {2.5, 0.249},
                                    {3, 0.263},  {4, 0.281},   {5, 0.291},   {10, 0.312}};
  for (int i = 0; i < MBG_COUNT(table); i++) {
    double d[2];
    assert_true(fabs(torsion(table[i][0], 1, d) - table[i][1] * table[i][0]) < 6e-4 * table[i][0]);
  }
}

static void test_series(void **state) {
  (void)state;
  static const double ratio[] = {1, 1 + 1e-9, 1.01, 1.3, 2, 4, 17, 1e3, 1e6};
  for (int i = 0; i < MBG_COUNT(ratio); i++) {
    const double a = 0.3 * ratio[i], c = 0.3, h = 1e-5 * c;
    double d[2], e[2], up[2], low[2];
    const double J = torsion(a, c, d);
    assert_close(J / series(a, c), 1, 1e-13);
    /* either side may be the longer one; Jt is homogeneous of degree 4 */
    assert_close(torsion(c, a, e) / J, 1, 1e-15);
    assert_close(e[1] / d[0], 1, 1e-15);
    assert_close((a * d[0] + c * d[1]) / (4 * J), 1, 1e-13);
    /* central differences leave h^2; across the square, where the sides change their roles, too */
    assert_close((torsion(a, c + h, up) - torsion(a, c - h, low)) / (2 * h * d[1]), 1, 1e-8);
    if (ratio[i] < 20) {
      assert_close((torsion(a + h, c, up) - torsion(a - h, c, low)) / (2 * h * d[0]), 1, 1e-8);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_series)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
