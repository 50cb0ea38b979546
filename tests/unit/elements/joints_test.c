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

static void anywhere(const double *q, const double *attr, mbg__frame *G) {
  (void)attr;
  mbg__so3_exp(G->R, q);
  v3_copy(G->x, q + 3);
}
static void rolling_ball(const double *q, const double *attr, mbg__frame *G) {
  anywhere(q, attr, G);
  G->x[2] = attr[0];
}
static void rolling_wheel(const double *q, const double *attr, mbg__frame *G) {
  anywhere(q, attr, G);
  G->x[2] = attr[0] * hypot(G->R[6], G->R[7]) + attr[1];
}

/* ---------------------------------------------------------------------- cases */

static double ball_row(const mbg__frame *G, const double *attr, int turns) {
  (void)turns;
  return G->x[2] - attr[0];
}

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
    {"knife-edge", "across", "", anywhere, NULL},
    {"rolling-ball", "gap x y", "", rolling_ball, ball_row},
    {"rolling-wheel", "gap along across", "", rolling_wheel, NULL},
    /* rows of contacts: tests/reference/contacts_test.c */
    {"point-on-curve", "normal binormal", "", NULL, NULL},
    {"roller-on-curve", "normal", "", NULL, NULL},
    {"flat-on-curve", "normal", "", NULL, NULL},
    {"curve-on-curve", "normal", "", NULL, NULL},
    {"point-on-surface", "surface", "", NULL, NULL},
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

static int row_inputs(const mbg__row_spec *row, const mbg__frame *G, const double *attr, double *z) {
  assert_true(row->nentry + row->nattr <= (row->rate ? (int)MBG__NR : (int)MBG__NZ));
  for (int k = 0; k < row->nentry; k++) {
    z[k] = frame_entry(G, row->entry[k]);
  }
  for (int k = 0; k < row->nattr; k++) {
    z[row->nentry + k] = attr[row->attr[k]];
  }
  return row->nentry + row->nattr;
}

static double row_value(const mbg__row_spec *row, const mbg__frame *G, const double *attr, int turns) {
  double z[MBG__NR];
  mbg__jet3 jet = {0};
  if (!row || row->rate) {
    return 0;
  }
  row_inputs(row, G, attr, z);
  if (!row->kernel) {
    assert_int_equal(row->nentry, 1);
    return z[0] + row_value(row->plus, G, attr, turns);
  }
  row->kernel(z, turns, 0, &jet);
  return jet.F + row_value(row->plus, G, attr, turns);
}

/* coefficients of the twist in a row on rates, its terms summed */
static void coefficients(const mbg__row_spec *row, const mbg__frame *G, const double *attr, double n[6]) {
  v6_zero(n);
  for (; row; row = row->plus) {
    double z[MBG__NR];
    mbg__rate_jet jet = {0};
    if (row->rate >= MBG__RATE_U1) {
      jet.n[row->rate - MBG__RATE_U1] = 1;
    } else {
      row_inputs(row, G, attr, z);
      row->coefficients(z, &jet);
    }
    v6_axpy(n, 1, jet.n);
  }
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
    for (int i = 0; i < 200 && !type->rows[0].contact; i++) {
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

/* b of a row: its slope by the motion of the frame, or the coefficients of the twist */
static void row_gradient(const mbg__row_spec *row, const mbg__frame *G, const double *attr, double b[6]) {
  if (row->rate) {
    coefficients(row, G, attr, b);
    return;
  }
  v6_zero(b);
  for (; row; row = row->plus) {
    double z[MBG__NZ];
    mbg__jet3 jet = {.F_z = {1}};
    row_inputs(row, G, attr, z);
    if (row->kernel) {
      row->kernel(z, 0, 1, &jet);
    }
    for (int c = 0; c < 6; c++) {
      double w[6];
      double _Complex Gc[12];
      unit6(c, w);
      frame_step(G, w, Gc);
      for (int e = 0; e < row->nentry; e++) {
        b[c] += jet.F_z[e] * twin_derivative(Gc[row->entry[e]]);
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
    if (type->rows[0].contact) {
      continue;
    }
    attribute_sample(type->keys, type->nkey, 0, &rng, attr);
    find_case(type->key)->motion(q, attr, &G);
    for (int k = 0; k < type->nrow; k++) {
      row_gradient(&type->rows[k], &G, attr, B[k]);
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

/* The rows of a wheel or ball say that the material point p at the plane does not move: its velocity R (U + W x p) is
   the rate of the gap along z, and 0 along two directions in the plane. */
static void rolling_rows_hold_the_contact_point(void **state) {
  (void)state;
  int count;
  const mbg__joint_type *const *types = mbg__joint_types(&count);
  for (int n = 0; n < count; n++) {
    for (int i = 0; types[n]->spatial && i < 100; i++) {
      support_rng rng = support_rng_make((uint64_t)i + 1);
      double attr[ATTRIBUTES], v[6], s[3], row[3], b[6];
      const bool wheel = types[n]->broken != NULL;
      mbg__frame G = frame_sample(i, &rng);
      attribute_sample(types[n]->keys, types[n]->nkey, i, &rng, attr);
      if (wheel && types[n]->broken(&G)) {
        continue;
      }
      for (int k = 0; k < 6; k++) {
        v[k] = support_uniform(&rng, -2, 2);
      }
      const double side = hypot(G.R[6], G.R[7]), r = wheel ? attr[0] : 0, rho = wheel ? attr[1] : attr[0];
      double p[3] = {-r / side * G.R[6] - rho * G.R[6], -r / side * G.R[7] - rho * G.R[7], -rho * G.R[8]}, u[3];
      if (!wheel) {
        v3_scale(p, -rho, G.R + 6);
      }
      v3_cross(u, v + 3, p);
      v3_add(u, u, v);
      m3_mulv(s, G.R, u);
      for (int k = 0; k < 3; k++) {
        row_gradient(&types[n]->rows[k], &G, attr, b);
        row[k] = v6_dot(b, v);
      }
      const double size = 1e-12 * (1 + fabs(r) + fabs(rho));
      assert_close(row[0], s[2], size);
      assert_close(hypot(row[1], row[2]), hypot(s[0], s[1]), size);
      if (!wheel) {
        assert_close(row[1], s[0], size);
        assert_close(row[2], s[1], size);
      }
    }
  }
}

/* n_z by complex step of n, n_zz of n_z */
static void coefficients_agree_with_complex_step(void **state) {
  (void)state;
  static report r;
  int count;
  const mbg__joint_type *const *types = mbg__joint_types(&count);
  for (int n = 0; n < count; n++) {
    for (int k = 0; k < types[n]->nrow; k++) {
      int part = 0;
      for (const mbg__row_spec *row = &types[n]->rows[k]; row; row = row->plus, part++) {
        for (int i = 0; row->coefficients && i < FRAMES; i++) {
          support_rng rng = support_rng_make((uint64_t)i + 1);
          const mbg__frame G = frame_sample(i, &rng);
          double attr[ATTRIBUTES], z[MBG__NR], a[TWIN_RATES], b[TWIN_RATES] = {0};
          mbg__rate_jet jet = {0};
          char label[60];
          attribute_sample(types[n]->keys, types[n]->nkey, i, &rng, attr);
          if (types[n]->broken && types[n]->broken(&G)) {
            continue;
          }
          const int nz = row_inputs(row, &G, attr, z);
          row->coefficients(z, &jet);
          memcpy(a, &jet, sizeof a);
          for (int j = 0; j < nz; j++) {
            double _Complex zj[MBG__NR], out[TWIN_RATES];
            vector_step(nz, z, j, zj);
            assert_int_equal(twin_rate_row(types[n]->key, k, part, zj, out), 0);
            for (int m = 0; m < 6 + 6 * MBG__NR; m++) {
              b[(m < 6 ? 6 + MBG__NR * m : 6 + 6 * MBG__NR + MBG__NR * (m - 6)) + j] = twin_derivative(out[m]);
            }
          }
          snprintf(label, sizeof label, "%s %s", types[n]->key, types[n]->rows[k].name);
          report_compare(&r, label, "n_z", 6 * MBG__NR, a + 6, b + 6);
          report_compare(&r, label, "n_zz", 6 * MBG__NR * MBG__NR, a + 6 + 6 * MBG__NR, b + 6 + 6 * MBG__NR);
        }
      }
    }
  }
  report_assert(&r, RANDOM, TOLERANCE);
}

static void a_wheel_on_its_side_is_refused(void **state) {
  (void)state;
  int count;
  const mbg__joint_type *const *types = mbg__joint_types(&count);
  for (int n = 0; n < count; n++) {
    mbg__frame G = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    if (types[n]->broken) {
      assert_non_null(strstr(types[n]->broken(&G), "lies on its side"));
      turned(&G, 0, 0, 0, 0, 0.01);
      assert_null(types[n]->broken(&G));
    }
  }
}

typedef struct {
  const char *key;
  int row, part;
} twin_of;

static int twin(const void *which, const double _Complex *z, int turns, int order, double _Complex jet[TWIN_JET]) {
  const twin_of *w = which;
  return twin_joint_row(w->key, w->row, w->part, z, turns, order, jet);
}

static void derivatives_agree_with_complex_step(void **state) {
  (void)state;
  static report r;
  int count;
  const mbg__joint_type *const *types = mbg__joint_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__joint_type *type = types[n];
    for (int k = 0; k < 2 * type->nrow; k++) {
      const mbg__row_spec *first = &type->rows[k / 2], *row = k % 2 == 0 ? first : first->plus;
      const twin_of which = {type->key, k / 2, k % 2};
      char label[40];
      if (!row) {
        continue;
      }
      snprintf(label, sizeof label, "%s %s", type->key, first->name);
      for (int i = 0; i < FRAMES && row->kernel; i++) {
        support_rng rng = support_rng_make((uint64_t)i + 1);
        const mbg__frame G = frame_sample(i, &rng);
        double attr[ATTRIBUTES], z[MBG__NZ];
        if (type->broken && type->broken(&G)) {
          continue;
        }
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
      cmocka_unit_test(rolling_rows_hold_the_contact_point),
      cmocka_unit_test(coefficients_agree_with_complex_step),
      cmocka_unit_test(a_wheel_on_its_side_is_refused),
      cmocka_unit_test(rows_are_independent),
      cmocka_unit_test(derivatives_agree_with_complex_step),
      cmocka_unit_test(kernels_are_as_defined),
      cmocka_unit_test(slope_of_a_rod_is_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
