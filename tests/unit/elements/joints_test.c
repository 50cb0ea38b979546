/* Joints: every type of the list has a case here with its rows, its coordinates and its free motion. */
#include "unit/elements/row_kernels.h"

#include "elements/lists.h"
/* ---------------------------------------------------------------------- free motions */

enum { FREE = 6 };

/* G = (A B, x) */
static void place(mbg__frame *G, const double x[3], const double A[9], const double B[9]) {
  m3_mul(G->R, A, B);
  v3_copy(G->x, x);
}

/* at (x, y, z), turned about an axis */
static void turned(mbg__frame *G, double x, double y, double z, int axis, double angle) {
  const double place_at[3] = {x, y, z};
  double A[9], one[9];
  turn_about(axis, angle, A);
  m3_identity(one);
  place(G, place_at, A, one);
}

static void fixed(const double *q, const double *attr, mbg__frame *G) {
  (void)q, (void)attr;
  turned(G, 0, 0, 0, 2, 0);
}
static void revolute(const double *q, const double *attr, mbg__frame *G) {
  (void)attr;
  turned(G, 0, 0, 0, 2, q[0]);
}
static void prismatic(const double *q, const double *attr, mbg__frame *G) {
  (void)attr;
  turned(G, 0, 0, q[0], 2, 0);
}
static void cylindrical(const double *q, const double *attr, mbg__frame *G) {
  (void)attr;
  turned(G, 0, 0, q[1], 2, q[0]);
}
static void universal(const double *q, const double *attr, mbg__frame *G) {
  (void)attr;
  double A[9], B[9];
  const double origin[3] = {0};
  turn_about(0, q[0], A);
  turn_about(1, q[1], B);
  place(G, origin, A, B);
}
static void spherical(const double *q, const double *attr, mbg__frame *G) {
  (void)attr;
  mbg__so3_exp(G->R, q);
  v3_zero(G->x);
}
static void planar(const double *q, const double *attr, mbg__frame *G) {
  (void)attr;
  turned(G, q[0], q[1], 0, 2, q[2]);
}
static void screw(const double *q, const double *attr, mbg__frame *G) { turned(G, 0, 0, attr[0] * q[0], 2, q[0]); }
static void distance(const double *q, const double *attr, mbg__frame *G) {
  mbg__so3_exp(G->R, q);
  v3_scale(G->x, attr[0] / sqrt(v3_dot(q + 3, q + 3)), q + 3);
}
static void point_on_line(const double *q, const double *attr, mbg__frame *G) {
  (void)attr;
  mbg__so3_exp(G->R, q + 1);
  v3_zero(G->x);
  G->x[2] = q[0];
}
static void point_on_plane(const double *q, const double *attr, mbg__frame *G) {
  (void)attr;
  mbg__so3_exp(G->R, q + 2);
  v3_zero(G->x);
  G->x[0] = q[0];
  G->x[1] = q[1];
}

/* ---------------------------------------------------------------------- cases */

static double rod_row(const mbg__frame *G, const double *attr, int turns) {
  (void)turns;
  return (v3_dot(G->x, G->x) - attr[0] * attr[0]) / (2 * attr[0]);
}

static double screw_row(const mbg__frame *G, const double *attr, int turns) {
  return G->x[2] - attr[0] * (atan2(G->R[3], G->R[0]) + 2 * M_PI * turns);
}

typedef struct {
  const char *key, *rows, *coords; /* coords: name:type, their values are the first of q */
  void (*motion)(const double *q, const double *attr, mbg__frame *G);
  double (*row)(const mbg__frame *G, const double *attr, int turns); /* the row that has a kernel; NULL: none has */
} joint_case;

static const joint_case cases[] = {
    {"fixed", "x1 x2 x3 R13 R23 R12", "", fixed, NULL},
    {"revolute", "x1 x2 x3 R13 R23", "angle:angle", revolute, NULL},
    {"prismatic", "x1 x2 R13 R23 R12", "slide:z", prismatic, NULL},
    {"cylindrical", "x1 x2 R13 R23", "angle:angle slide:z", cylindrical, NULL},
    {"universal", "x1 x2 x3 R12", "angle1:angle_x angle2:angle_y", universal, NULL},
    {"spherical", "x1 x2 x3", "", spherical, NULL},
    {"planar", "x3 R13 R23", "x:x y:y angle:angle", planar, NULL},
    {"screw", "x1 x2 R13 R23 advance", "angle:angle", screw, screw_row},
    {"distance", "length", "", distance, rod_row},
    {"point-on-line", "x1 x2", "slide:z", point_on_line, NULL},
    {"point-on-plane", "x3", "x:x y:y", point_on_plane, NULL},
};

static const joint_case *find_case(const char *key) {
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    if (strcmp(cases[i].key, key) == 0) {
      return &cases[i];
    }
  }
  fail_msg("joint '%s' has no test case", key);
  return NULL;
}

/* ---------------------------------------------------------------------- rows */

static int row_inputs(const mbg__row_spec *row, const mbg__frame *G, const double *attr, double z[MBG__NZ]) {
  assert_true(row->nentry + row->nattr <= MBG__NZ);
  for (int k = 0; k < row->nentry; k++) {
    z[k] = frame_entry(G, row->entry[k]);
  }
  for (int k = 0; k < row->nattr; k++) {
    z[row->nentry + k] = attr[row->attr[k]];
  }
  return row->nentry + row->nattr;
}

static double row_value(const mbg__row_spec *row, const mbg__frame *G, const double *attr, int turns) {
  double z[MBG__NZ];
  mbg__jet3 jet = {0};
  row_inputs(row, G, attr, z);
  if (!row->kernel) {
    assert_int_equal(row->nentry, 1);
    return z[0];
  }
  row->kernel(z, turns, 0, &jet);
  return jet.F;
}

static const mbg__coord_type *find_coord(const char *key) {
  int count;
  const mbg__coord_type *const *types = mbg__coord_types(&count);
  for (int i = 0; i < count; i++) {
    if (strcmp(types[i]->key, key) == 0) {
      return types[i];
    }
  }
  fail_msg("no coordinate '%s'", key);
  return NULL;
}

/* ---------------------------------------------------------------------- tests */

static void every_type_has_its_rows_and_coordinates(void **state) {
  (void)state;
  int count;
  const mbg__joint_type *const *types = mbg__joint_types(&count);
  assert_int_equal(count, MBG_COUNT(cases));
  for (int i = 0; i < count; i++) {
    const joint_case *test = find_case(types[i]->key);
    char rows[100] = "", coords[100] = "";
    for (int k = 0; k < types[i]->nrow; k++) {
      strcat(strcat(rows, k ? " " : ""), types[i]->rows[k].name);
    }
    for (int k = 0; k < types[i]->ncoord; k++) {
      strcat(strcat(coords, k ? " " : ""), types[i]->coords[k].name);
      strcat(strcat(coords, ":"), types[i]->coords[k].coord);
    }
    assert_string_equal(rows, test->rows);
    assert_string_equal(coords, test->coords);
  }
}

/* Along the free motion of a joint all rows vanish, and its coordinates are those of the motion (many turns). */
static void free_motions_satisfy_the_rows(void **state) {
  (void)state;
  int count;
  const mbg__joint_type *const *types = mbg__joint_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__joint_type *type = types[n];
    for (int i = 0; i < 200; i++) {
      support_rng rng = support_rng_make((uint64_t)i + 1);
      double q[FREE], attr[ATTRIBUTES];
      mbg__frame G;
      for (int k = 0; k < FREE; k++) {
        q[k] = support_uniform(&rng, -10, 10);
      }
      attribute_sample(type->keys, type->nkey, i, &rng, attr);
      find_case(type->key)->motion(q, attr, &G);
      const int turns = (int)floor((q[0] + M_PI) / (2 * M_PI)); /* of the first coordinate; the screw's rows use it */
      for (int k = 0; k < type->nrow; k++) {
        assert_close(row_value(&type->rows[k], &G, attr, turns), 0, 1e-13); /* rounding at coordinates of 10 */
      }
      for (int k = 0; k < type->ncoord; k++) {
        const mbg__coord_type *coord = find_coord(type->coords[k].coord);
        const double z[2] = {frame_entry(&G, coord->entry[0]), frame_entry(&G, coord->entry[1])};
        mbg__jet3 jet = {.F = z[0]};
        if (coord->value) {
          coord->value(z, (int)floor((q[k] + M_PI) / (2 * M_PI)), 0, &jet);
        }
        assert_close(jet.F, q[k], 1e-13);
      }
    }
  }
}

/* With the free directions the rows leave, row gradients and freedoms add up to six: rows are independent. */
static void rows_are_independent(void **state) {
  (void)state;
  int count;
  const mbg__joint_type *const *types = mbg__joint_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__joint_type *type = types[n];
    double B[6][6] = {{0}}, attr[ATTRIBUTES], q[FREE] = {0.3, -0.4, 0.5, 0.2, 0.7, -0.6};
    support_rng rng = support_rng_make(1);
    mbg__frame G;
    attribute_sample(type->keys, type->nkey, 0, &rng, attr);
    find_case(type->key)->motion(q, attr, &G);
    for (int k = 0; k < type->nrow; k++) {
      for (int c = 0; c < 6; c++) {
        double w[6], z[MBG__NZ];
        double _Complex Gc[12];
        unit6(c, w);
        frame_step(&G, w, Gc);
        const mbg__row_spec *row = &type->rows[k];
        mbg__jet3 jet = {.F_z = {1}};
        row_inputs(row, &G, attr, z);
        if (row->kernel) {
          row->kernel(z, 0, 1, &jet);
        }
        for (int e = 0; e < row->nentry; e++) {
          B[k][c] += jet.F_z[e] * twin_derivative(Gc[row->entry[e]]);
        }
      }
    }
    /* Gram-Schmidt: no row vanishes */
    for (int k = 0; k < type->nrow; k++) {
      for (int j = 0; j < k; j++) {
        v6_axpy(B[k], -v6_dot(B[k], B[j]), B[j]);
      }
      const double length = sqrt(v6_dot(B[k], B[k]));
      assert_true(length > 0.1);
      v6_scale(B[k], 1 / length, B[k]);
    }
  }
}

typedef struct {
  const char *key;
  int row;
} twin_of;

static int twin(const void *which, const double _Complex *z, int turns, int order, double _Complex jet[TWIN_JET]) {
  const twin_of *w = which;
  return twin_joint_row(w->key, w->row, z, turns, order, jet);
}

static void derivatives_agree_with_complex_step(void **state) {
  (void)state;
  static report r;
  int count;
  const mbg__joint_type *const *types = mbg__joint_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__joint_type *type = types[n];
    for (int k = 0; k < type->nrow; k++) {
      const mbg__row_spec *row = &type->rows[k];
      const twin_of which = {type->key, k};
      char label[40];
      snprintf(label, sizeof label, "%s %s", type->key, row->name);
      for (int i = 0; i < FRAMES && row->kernel; i++) {
        support_rng rng = support_rng_make((uint64_t)i + 1);
        const mbg__frame G = frame_sample(i, &rng);
        double attr[ATTRIBUTES], z[MBG__NZ];
        attribute_sample(type->keys, type->nkey, i, &rng, attr);
        const int nz = row_inputs(row, &G, attr, z);
        compare_jets(&r, label, row->kernel, twin, &which, nz, z, i % 7 - 3);
        assert_orders(row->kernel, z, i % 7 - 3);
      }
    }
  }
  report_assert(&r, RANDOM, TOLERANCE);
}

/* rows with a kernel, off the constraint too */
static void kernels_are_as_defined(void **state) {
  (void)state;
  int count;
  const mbg__joint_type *const *types = mbg__joint_types(&count);
  for (int n = 0; n < count; n++) {
    const joint_case *test = find_case(types[n]->key);
    int kernels = 0;
    for (int k = 0; k < types[n]->nrow; k++) {
      const mbg__row_spec *row = &types[n]->rows[k];
      for (int i = 0; i < FRAMES && row->kernel; i++) {
        support_rng rng = support_rng_make((uint64_t)i + 1);
        const mbg__frame G = frame_sample(i, &rng);
        double attr[ATTRIBUTES];
        attribute_sample(types[n]->keys, types[n]->nkey, i, &rng, attr);
        assert_non_null(test->row);
        const double phi = test->row(&G, attr, i % 7 - 3);
        assert_close(row_value(row, &G, attr, i % 7 - 3), phi, 1e-14 * fmax(1, fabs(phi)));
      }
      kernels += row->kernel != NULL;
    }
    assert_int_equal(kernels, test->row != NULL);
  }
}

/* at the right length the multiplier of the rod is its force: the row has slope 1 along the rod */
static void slope_of_a_rod_is_one(void **state) {
  (void)state;
  const double z[4] = {0.6 * 2.5, 0, 0.8 * 2.5, 2.5};
  int count;
  const mbg__joint_type *const *types = mbg__joint_types(&count);
  for (int n = 0; n < count; n++) {
    if (strcmp(types[n]->key, "distance") == 0) {
      const double expected[4] = {0.6, 0, 0.8, -1};
      mbg__jet3 jet = {0};
      types[n]->rows[0].kernel(z, 0, 1, &jet);
      assert_close_array(jet.F_z, expected, 4, 1e-15);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_has_its_rows_and_coordinates),
      cmocka_unit_test(free_motions_satisfy_the_rows),
      cmocka_unit_test(rows_are_independent),
      cmocka_unit_test(derivatives_agree_with_complex_step),
      cmocka_unit_test(kernels_are_as_defined),
      cmocka_unit_test(slope_of_a_rod_is_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
