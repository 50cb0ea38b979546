/* Kernels of tendons: their lengths are those of the path, their derivatives agree with the complex step. */
#include "unit/elements/row_kernels.h"

#include "elements/strand_kernels.h"

enum { BEARING, ANGLE, OUT, BACK, KERNELS };
static const mbg__row_kernel kernels[] = {mbg__strand_bearing, mbg__strand_angle, mbg__strand_out, mbg__strand_back};
static const char *const names[] = {"bearing", "angle", "out", "back"};
static const int inputs[] = {2, 3, 4, 4};

static int twin(const void *which, const double _Complex *z, int turns, int order, double _Complex jet[TWIN_JET]) {
  return twin_strand(*(const int *)which, z, turns, order, jet);
}

/* (x1, x2, x3, rho): rho of both signs, 0, and next to the distance; x3 = 0 in the plane of the pulley */
static void sample(int i, double *z) {
  static const double part[] = {0, 0.3, -0.3, 0.95, -0.95, 1e-9};
  support_rng rng = support_rng_make((uint64_t)i + 1);
  support_normals(&rng, z, 4);
  z[2] = i % 2 ? z[2] : 0;
  z[3] = part[i % MBG_COUNT(part)] * hypot(z[0], z[1]);
}

static void derivatives_agree_with_complex_step(void **state) {
  (void)state;
  static report r;
  for (int n = 0; n < KERNELS; n++) {
    for (int i = 0; i < 300; i++) {
      double z[MBG__NZ];
      sample(i, z);
      compare_jets(&r, names[n], kernels[n], twin, &n, inputs[n], z, i % 11 - 5);
    }
  }
  report_assert(&r, 300, 1e-12); /* rounding, which grows near the pulley as (1 - 0.95^2)^-5/2 = 340 */
}

static double length(mbg__row_kernel kernel, const double *z, int quarters) {
  mbg__jet3 jet = {0};
  kernel(z, quarters, 0, &jet);
  return jet.F;
}

/* over a pulley with both ends straight down: two free parts and half the circumference, on either side */
static void half_a_turn(void **state) {
  (void)state;
  const double R = 0.2, down = 1.3, left[4] = {-R, -down, 0, R}, right[4] = {R, -down, 0, -R};
  /* from the left end up, clockwise, r = -R: rho of the first strand is R, of the second -R */
  const double first = length(mbg__strand_back, left, -2), second = length(mbg__strand_out, right, -1);
  assert_close(first + second, 2 * down + M_PI * R, 1e-14);
}

/* a quarter turn round the pulley by a path that is drawn point by point: the shortest outside of the circle */
static void wraps_are_arcs(void **state) {
  (void)state;
  const double R = 0.5, a[4] = {2, 0, 0, -R}, b[4] = {-1, 3, 0, R}; /* counterclockwise from a to b */
  const double free_a = sqrt(4 - R * R), free_b = sqrt(10 - R * R);
  const double from = acos(R / 2), to = atan2(3, -1) - acos(R / sqrt(10)); /* angles of the points of contact */
  const double l = length(mbg__strand_back, a, 0) + length(mbg__strand_out, b, 1);
  assert_close(remainder(l - (free_a + free_b + R * (to - from)), 2 * M_PI * R), 0, 1e-14);
}

/* a pulley without radius is a point; a turn more is a circumference more, whatever the cut */
static void radius_zero_and_turns(void **state) {
  (void)state;
  for (int i = 0; i < 100; i++) {
    double z[MBG__NZ];
    sample(i, z);
    const double rho = z[3];
    assert_close(length(mbg__strand_out, z, 7) - length(mbg__strand_out, z, 3), 2 * M_PI * rho, 1e-13);
    z[3] = 0;
    assert_close(length(mbg__strand_out, z, i), sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]), 1e-14);
  }
}

/* inside the pulley there is no tangent: the mark is 0, not NaN */
static void no_tangent_gives_nothing(void **state) {
  (void)state;
  const double z[4] = {0.1, 0.1, 0, 0.5};
  mbg__jet3 jet = {0};
  mbg__strand_out(z, 0, 3, &jet);
  assert_true(jet.F == 0 && jet.F_z[0] == 0 && jet.F_zzz[3][3][3] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_complex_step),
      cmocka_unit_test(half_a_turn),
      cmocka_unit_test(wraps_are_arcs),
      cmocka_unit_test(radius_zero_and_turns),
      cmocka_unit_test(no_tangent_gives_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
