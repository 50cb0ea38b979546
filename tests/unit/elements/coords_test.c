/* Coordinates: every type of the list has a case here with its definition written down a second time. */
#include "unit/elements/row_kernels.h"

#include "elements/lists.h"
/* ---------------------------------------------------------------------- cases */

/* the entries of the table in the theory, R21 = axis 2 of A times axis 1 of B */
#define R_(G, k, l) ((G)->R[3 * ((k)-1) + (l)-1])

static double angle(const mbg__frame *G) { return atan2(R_(G, 2, 1), R_(G, 1, 1)); }
static double angle_x(const mbg__frame *G) { return atan2(R_(G, 3, 2), R_(G, 2, 2)); }
static double angle_y(const mbg__frame *G) { return atan2(R_(G, 1, 3), R_(G, 1, 1)); }
static double polar(const mbg__frame *G) { return atan2(G->x[1], G->x[0]); }
static double distance(const mbg__frame *G) { return hypot(hypot(G->x[0], G->x[1]), G->x[2]); }
static double x_1(const mbg__frame *G) { return G->x[0]; }
static double x_2(const mbg__frame *G) { return G->x[1]; }
static double x_3(const mbg__frame *G) { return G->x[2]; }

typedef struct {
  const char *key;
  double (*value)(const mbg__frame *G);
  bool turns;
} coord_case;

static const coord_case cases[] = {
    {"angle", angle, true}, {"angle_x", angle_x, true}, {"angle_y", angle_y, true}, {"polar", polar, true},
    {"x", x_1, false},      {"y", x_2, false},          {"z", x_3, false},          {"distance", distance, false},
};

static const coord_case *find_case(const char *key) {
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    if (strcmp(cases[i].key, key) == 0) {
      return &cases[i];
    }
  }
  fail_msg("coordinate '%s' has no test case", key);
  return NULL;
}

/* ---------------------------------------------------------------------- inputs */

/* z = (entries, theta); false where the coordinate is not defined: distance 0, point on the axis */
static bool input_sample(const mbg__coord_type *type, int i, support_rng *rng, double z[MBG__NZ]) {
  const mbg__frame G = frame_sample(i, rng);
  double size = 0;
  for (int k = 0; k < type->nentry; k++) {
    z[k] = frame_entry(&G, type->entry[k]);
    size = fmax(size, fabs(z[k]));
  }
  z[type->nentry] = i % 5 == 0 ? M_PI * support_index(rng, 9) : support_uniform(rng, -20, 20);
  return size > 0;
}

typedef struct {
  const char *key;
  twin_coord_kernel kernel;
} twin_of;

static int twin(const void *which, const double _Complex *z, int turns, int order, double _Complex jet[TWIN_JET]) {
  const twin_of *w = which;
  return twin_coord(w->key, w->kernel, z, turns, order, jet);
}

/* ---------------------------------------------------------------------- tests */

static void every_type_is_listed_once(void **state) {
  (void)state;
  int count;
  const mbg__coord_type *const *types = mbg__coord_types(&count);
  assert_int_equal(count, MBG_COUNT(cases));
  for (int i = 0; i < count; i++) {
    assert_non_null(find_case(types[i]->key));
    for (int j = 0; j < i; j++) {
      assert_string_not_equal(types[i]->key, types[j]->key);
    }
  }
}

/* q(G) as defined, plus 2 pi per turn, also on both sides of the cut */
static void values_are_as_defined(void **state) {
  (void)state;
  int count;
  const mbg__coord_type *const *types = mbg__coord_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__coord_type *type = types[n];
    const coord_case *test = find_case(type->key);
    assert_int_equal(type->turns, test->turns);
    assert_int_equal(type->angular, test->turns);
    for (int i = 0; i < FRAMES; i++) {
      support_rng rng = support_rng_make((uint64_t)i + 1);
      const mbg__frame G = frame_sample(i, &rng);
      const int turns = type->turns ? i % 7 - 3 : 0;
      double z[MBG__NZ];
      mbg__jet3 jet = {0};
      for (int k = 0; k < type->nentry; k++) {
        z[k] = frame_entry(&G, type->entry[k]);
      }
      jet.F = z[0];
      if (type->value) {
        type->value(z, turns, 0, &jet);
      } else {
        assert_int_equal(type->nentry, 1);
      }
      assert_close(jet.F, test->value(&G) + 2 * M_PI * turns, 1e-14 * fmax(1, fabs(jet.F))); /* rounding */
    }
  }
}

/* The row of a driver vanishes at theta = q, on the branch that the type calls right, and has slope -scale there. */
static void drivers_hold_their_coordinate(void **state) {
  (void)state;
  int count;
  const mbg__coord_type *const *types = mbg__coord_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__coord_type *type = types[n];
    for (int i = 0; i < FRAMES && type->driver; i++) {
      support_rng rng = support_rng_make((uint64_t)i + 1);
      double z[MBG__NZ];
      if (!input_sample(type, i, &rng, z)) {
        continue;
      }
      mbg__jet3 q = {0}, row = {0}, branch = {0};
      type->value(z, type->turns ? i % 7 - 3 : 0, 1, &q);
      z[type->nentry] = q.F;
      type->driver(z, 0, 1, &row);
      double size = 0;
      for (int k = 0; k < type->nentry; k++) {
        size = fmax(size, fabs(z[k]));
      }
      assert_close(row.F, 0, 1e-14 * fmax(size, fabs(q.F) * size)); /* sin and cos of an angle of some turns */
      if (type->branch) {
        type->branch(z, 0, 0, &branch);
        assert_true(branch.F > 0);
        z[type->nentry] += M_PI;
        branch = (mbg__jet3){0};
        type->branch(z, 0, 0, &branch);
        assert_true(branch.F < 0);
        z[type->nentry] -= M_PI;
      }

      /* held rows move with the coordinate: d row = scale (dq - d theta) */
      const double scale = -row.F_z[type->nentry];
      assert_true(scale > 0);
      for (int k = 0; k < type->nentry; k++) {
        assert_close(row.F_z[k], scale * q.F_z[k], 1e-13 * fmax(1, fabs(q.F)));
      }
    }
  }
}

static void derivatives_agree_with_complex_step(void **state) {
  (void)state;
  static const char *const names[] = {"value", "driver", "branch"};
  static report r;
  int count;
  const mbg__coord_type *const *types = mbg__coord_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__coord_type *type = types[n];
    const mbg__row_kernel kernels[] = {type->value, type->driver, type->branch};
    for (int k = 0; k < 3; k++) {
      const twin_of which = {type->key, (twin_coord_kernel)k};
      char label[40];
      snprintf(label, sizeof label, "%s %s", type->key, names[k]);
      for (int i = 0; i < FRAMES && kernels[k]; i++) {
        support_rng rng = support_rng_make((uint64_t)i + 1);
        double z[MBG__NZ];
        if (input_sample(type, i, &rng, z)) {
          compare_jets(&r, label, kernels[k], twin, &which, type->nentry + (k > 0), z, i % 7 - 3);
          assert_orders(kernels[k], z, i % 7 - 3);
        }
      }
    }
  }
  report_assert(&r, RANDOM, TOLERANCE);
}

/* Where a coordinate is not defined its derivatives are 0, not NaN: the mark of such a place. */
static void undefined_places_have_no_direction(void **state) {
  (void)state;
  int count;
  const mbg__coord_type *const *types = mbg__coord_types(&count);
  const double z[MBG__NZ] = {0};
  for (int n = 0; n < count; n++) {
    if (types[n]->value) {
      mbg__jet3 jet = {0};
      double a[TWIN_JET];
      types[n]->value(z, 0, 3, &jet);
      memcpy(a, &jet, sizeof a);
      for (int k = 0; k < TWIN_JET; k++) {
        assert_true(a[k] == 0);
      }
    }
  }
}

/* lengths whose squares underflow */
static void distance_is_right_when_tiny(void **state) {
  (void)state;
  int count;
  const mbg__coord_type *const *types = mbg__coord_types(&count);
  for (int n = 0; n < count; n++) {
    if (strcmp(types[n]->key, "distance") == 0) {
      const double z[3] = {3e-200, 0, -4e-200}, direction[3] = {0.6, 0, -0.8};
      mbg__jet3 jet = {0};
      types[n]->value(z, 0, 2, &jet);
      assert_close(jet.F / 5e-200, 1, 1e-15);
      assert_close_array(jet.F_z, direction, 3, 1e-15);
      assert_close(jet.F_zz[1][1] * 5e-200, 1, 1e-15);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_is_listed_once),          cmocka_unit_test(values_are_as_defined),
      cmocka_unit_test(drivers_hold_their_coordinate),      cmocka_unit_test(derivatives_agree_with_complex_step),
      cmocka_unit_test(undefined_places_have_no_direction), cmocka_unit_test(distance_is_right_when_tiny),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
