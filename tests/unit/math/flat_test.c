/* Operators in a plane are those of SE(3) at flat arguments. */
#include "math/flat.h"

#include "support/support.h"

#include <string.h>

enum { SAMPLES = 50 };

typedef struct {
  mbg__frame A, B;
  double v[6], w[6];
} sample;

static void random_flat(support_rng *rng, double v[6]) {
  flat_set(v, support_normal(rng), support_normal(rng), support_normal(rng));
}

static sample make(int i) {
  support_rng rng = support_rng_make((uint64_t)i + 1);
  sample s;
  mbg__frame *const frame[2] = {&s.A, &s.B};
  for (int k = 0; k < 2; k++) {
    double h[6];
    random_flat(&rng, h);
    mbg__se3_exp(frame[k], h);
  }
  random_flat(&rng, s.v);
  random_flat(&rng, s.w);
  return s;
}

/* 1e-15: the same products; the others leave rounding in R_33 */
static void compare_frames(const mbg__frame *a, const mbg__frame *b) {
  assert_true(flat_frame(a));
  assert_close_array(a->R, b->R, 9, 1e-15);
  assert_close_array(a->x, b->x, 3, 1e-14);
}

static void compare(const double a[6], const double b[6]) {
  assert_true(flat_vector(a));
  assert_close_array(a, b, 6, 1e-14);
}

static void frames(void **state) {
  (void)state;
  for (int i = 0; i < SAMPLES; i++) {
    const sample s = make(i);
    mbg__frame a, b;
    flat_frame_mul(&a, &s.A, &s.B);
    frame_mul(&b, &s.A, &s.B);
    compare_frames(&a, &b);
    flat_frame_relative(&a, &s.A, &s.B);
    frame_relative(&b, &s.A, &s.B);
    compare_frames(&a, &b);
  }
}

static void adjoint_maps(void **state) {
  (void)state;
  static const int of[3] = {0, 1, 5};
  for (int i = 0; i < SAMPLES; i++) {
    const sample s = make(i);
    double a[6], b[6], small[9], large[36];
    flat_AdInv_mul(a, &s.A, s.v);
    AdInv_mul(b, &s.A, s.v);
    compare(a, b);
    flat_AdInvT_mul(a, &s.A, s.v);
    AdInvT_mul(b, &s.A, s.v);
    compare(a, b);
    flat_ad_mul(a, s.v, s.w);
    ad_mul(b, s.v, s.w);
    compare(a, b);
    flat_adT_mul(a, s.v, s.w);
    adT_mul(b, s.v, s.w);
    compare(a, b);
    v6_copy(b, s.w);
    flat_axpy(b, 2, s.v);
    v6_copy(a, s.w);
    v6_axpy(a, 2, s.v);
    compare(a, b);
    flat_AdInv_matrix(small, &s.A);
    mbg__AdInv_matrix(large, &s.A);
    for (int k = 0; k < 9; k++) {
      assert_close(small[k], large[6 * of[k / 3] + of[k % 3]], 1e-14);
    }
  }
}

static void others_are_not_flat(void **state) {
  (void)state;
  const sample s = make(1);
  const double tilt[6] = {0, 0, 0, 1e-9, 0, 0}, lift[6] = {0, 0, 1e-9, 0, 0, 0};
  mbg__frame H;
  mbg__se3_retract(&H, &s.A, tilt);
  assert_false(flat_frame(&H));
  mbg__se3_retract(&H, &s.A, lift);
  assert_false(flat_frame(&H));
  assert_false(flat_vector(tilt));
  assert_false(flat_vector(lift));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames),
      cmocka_unit_test(adjoint_maps),
      cmocka_unit_test(others_are_not_flat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
