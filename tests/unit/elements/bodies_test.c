/* Bodies: every type of the list has a case here that builds the same body from point masses; and the inertia terms. */
#include "elements/inertia.h"
#include "elements/lists.h"
#include "unit/elements/elements.h"

/* ---------------------------------------------------------------------- bodies of point masses */

enum { POINTS = 7 };

typedef struct {
  double mass[POINTS], at[POINTS][3];
} cloud;

static cloud cloud_sample(support_rng *rng) {
  cloud c;
  for (int k = 0; k < POINTS; k++) {
    c.mass[k] = support_uniform(rng, 0.1, 2);
    support_normals(rng, c.at[k], 3);
  }
  return c;
}

/* xx yy zz xy xz yz about a point, in the order of the attributes */
static void cloud_inertia(const cloud *c, const double about[3], double J[6]) {
  vn_zero(6, J);
  for (int k = 0; k < POINTS; k++) {
    double p[3];
    v3_sub(p, c->at[k], about);
    const double x = p[0], y = p[1], z = p[2], m = c->mass[k];
    const double point[6] = {y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z};
    vn_axpy(6, J, m, point);
  }
}

/* attributes of a rigid body: mass, com, inertia about the point of the option */
static void rigid_attributes(const cloud *c, const int *opt, double *attr) {
  const double origin[3] = {0};
  vn_zero(10, attr);
  for (int k = 0; k < POINTS; k++) {
    attr[0] += c->mass[k];
    v3_axpy(attr + 1, c->mass[k], c->at[k]);
  }
  v3_scale(attr + 1, 1 / attr[0], attr + 1);
  cloud_inertia(c, opt[0] == 0 ? attr + 1 : origin, attr + 4);
}

typedef struct {
  const char *key;
  void (*attributes)(const cloud *c, const int *opt, double *attr);
} body_case;

static const body_case cases[] = {{"rigid", rigid_attributes}};

static const body_case *find_case(const char *key) {
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    if (strcmp(cases[i].key, key) == 0) {
      return &cases[i];
    }
  }
  fail_msg("body '%s' has no test case", key);
  return NULL;
}

/* ---------------------------------------------------------------------- mass matrix */

/* v^T M v is the sum of m (U + W x p)^2, for pairs of twists */
static void mass_matrix_is_that_of_the_points(void **state) {
  (void)state;
  int count;
  const mbg__body_type *const *types = mbg__body_types(&count);
  assert_int_equal(count, MBG_COUNT(cases) + 1); /* and the modal body, whose inertia is no matrix of its frame */
  for (int n = 0; n < count; n++) {
    for (int i = 0; !types[n]->modal && i < 200; i++) {
      support_rng rng = support_rng_make((uint64_t)i + 1);
      const cloud c = cloud_sample(&rng);
      double attr[ATTRIBUTES], M[36], ref[36] = {0};
      int opt[OPTIONS];
      option_sample(types[n]->keys, types[n]->nkey, i, opt);
      find_case(types[n]->key)->attributes(&c, opt, attr);
      types[n]->inertia(attr, opt, M, NULL);
      for (int k = 0; k < POINTS; k++) {
        const double *p = c.at[k];
        const double J[3][6] = {{1, 0, 0, 0, p[2], -p[1]}, {0, 1, 0, -p[2], 0, p[0]}, {0, 0, 1, p[1], -p[0], 0}};
        for (int d = 0; d < 3; d++) {
          m6_outer_add(ref, c.mass[k], J[d], J[d]);
        }
      }
      assert_close_array(M, ref, 36, 1e-13); /* sums of seven masses, and back from the centre of mass */
    }
  }
}

static void mass_matrix_derivatives_agree_with_complex_step(void **state) {
  (void)state;
  static report r;
  int count;
  const mbg__body_type *const *types = mbg__body_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__body_type *type = types[n];
    const int nattr = count_attributes(type->keys, type->nkey);
    for (int i = 0; i < 400; i++) {
      support_rng rng = support_rng_make((uint64_t)i + 1);
      double attr[ATTRIBUTES], M[36], M_a[ATTRIBUTES][36];
      int opt[OPTIONS];
      option_sample(type->keys, type->nkey, i, opt);
      attribute_sample(type->keys, type->nkey, i, &rng, attr);
      type->inertia(attr, opt, M, M_a[0]);
      for (int k = 0; k < nattr; k++) {
        double _Complex a[ATTRIBUTES], Mc[36];
        double ref[36];
        char name[20];
        vector_step(nattr, attr, k, a);
        assert_int_equal(twin_body(type->key, a, opt, Mc), 0);
        for (int j = 0; j < 36; j++) {
          ref[j] = twin_derivative(Mc[j]);
        }
        snprintf(name, sizeof name, "M_a %d", k);
        report_compare(&r, type->key, name, 36, M_a[k], ref);
      }
    }
  }
  report_assert(&r, 200, TOLERANCE);
}

/* ---------------------------------------------------------------------- inertia terms */

typedef struct {
  double M[36], dM[36], v[6], vd[6], g[3], dg[3];
  mbg__frame H;
} motion;

static motion motion_sample(int i) {
  support_rng rng = support_rng_make((uint64_t)i + 1);
  const cloud c = cloud_sample(&rng);
  const int opt[OPTIONS] = {0};
  int count;
  double attr[ATTRIBUTES];
  motion m = {.H = frame_sample(i, &rng)};
  rigid_attributes(&c, opt, attr);
  const mbg__body_type *const *types = mbg__body_types(&count);
  types[types[0]->modal]->inertia(attr, opt, m.M, NULL);
  support_normals(&rng, m.dM, 36);
  support_normals(&rng, m.v, 6);
  support_normals(&rng, m.vd, 6);
  support_normals(&rng, m.g, 3);
  support_normals(&rng, m.dg, 3);
  if (i % 4 == 1) {
    v6_scale(m.v, i % 8 == 1 ? 0 : 1e-8, m.v);
  }
  return m;
}

/* r is the sum over points of m times (acceleration - gravity), and its moment; about the frame, in its axes */
static void residual_is_that_of_the_points(void **state) {
  (void)state;
  for (int i = 0; i < FRAMES; i++) {
    const motion m = motion_sample(i);
    support_rng rng = support_rng_make((uint64_t)i + 1);
    const cloud c = cloud_sample(&rng);
    double r[6], ref[6] = {0}, g[3];
    const double *U = m.v, *W = m.v + 3;
    m3_mulv_T(g, m.H.R, m.g);
    for (int k = 0; k < POINTS; k++) {
      /* a = Ud + W x U + Wd x p + W x (W x p) - g */
      double a[3], b[3];
      v3_sub(a, m.vd, g);
      v3_cross_add(a, 1, W, U);
      v3_cross_add(a, 1, m.vd + 3, c.at[k]);
      v3_cross(b, W, c.at[k]);
      v3_cross_add(a, 1, W, b);
      v3_axpy(ref, c.mass[k], a);
      v3_cross_add(ref + 3, c.mass[k], c.at[k], a);
    }
    mbg__inertia_residual(m.M, m.H.R, m.v, m.vd, m.g, r);
    assert_close_array(r, ref, 6, 1e-13); /* as the mass matrix */
  }
}

/* derivative of r; w, dv, dM, dg may be NULL */
static void twin_residual(const motion *m, const double *w, const double *dv, const double *dM, const double *dg,
                          double dr[6]) {
  double _Complex H[12], v[6], vd[6], g[3], M[36], r[6];
  frame_step(&m->H, w, H);
  for (int i = 0; i < 36; i++) {
    M[i] = twin_step(m->M[i], dM ? dM[i] : 0);
  }
  for (int i = 0; i < 6; i++) {
    v[i] = twin_step(m->v[i], dv ? dv[i] : 0);
    vd[i] = m->vd[i];
  }
  for (int i = 0; i < 3; i++) {
    g[i] = twin_step(m->g[i], dg ? dg[i] : 0);
  }
  twin_inertia(M, H, v, vd, g, r);
  for (int i = 0; i < 6; i++) {
    dr[i] = twin_derivative(r[i]);
  }
}

static void residual_derivatives_agree_with_complex_step(void **state) {
  (void)state;
  static report r;
  for (int i = 0; i < FRAMES; i++) {
    const motion m = motion_sample(i);
    double r_w[36], r_v[36], ref_w[36], ref_v[36], dr[6], ref[6];
    mbg__inertia_derivatives(m.M, m.H.R, m.v, m.g, r_w, r_v);
    for (int k = 0; k < 6; k++) {
      double e[6];
      unit6(k, e);
      twin_residual(&m, e, NULL, NULL, NULL, ref);
      for (int j = 0; j < 6; j++) {
        ref_w[6 * j + k] = ref[j];
      }
      twin_residual(&m, NULL, e, NULL, NULL, ref);
      for (int j = 0; j < 6; j++) {
        ref_v[6 * j + k] = ref[j];
      }
    }
    report_compare(&r, "inertia", "r_w", 36, r_w, ref_w);
    report_compare(&r, "inertia", "r_v", 36, r_v, ref_v);

    mbg__inertia_change(m.M, m.H.R, m.v, m.vd, m.g, m.dM, m.dg, dr);
    twin_residual(&m, NULL, NULL, m.dM, m.dg, ref);
    report_compare(&r, "inertia", "dM, dg", 6, dr, ref);
    mbg__inertia_change(m.M, m.H.R, m.v, m.vd, m.g, m.dM, NULL, dr);
    twin_residual(&m, NULL, NULL, m.dM, NULL, ref);
    report_compare(&r, "inertia", "dM", 6, dr, ref);
    mbg__inertia_change(m.M, m.H.R, m.v, m.vd, m.g, NULL, m.dg, dr);
    twin_residual(&m, NULL, NULL, NULL, m.dg, ref);
    report_compare(&r, "inertia", "dg", 6, dr, ref);
  }
  report_assert(&r, RANDOM, TOLERANCE);
}

/* a frame and a twist in the plane, the mass matrix and the weight as they are */
static void flat_residuals_and_derivatives_are_entries_of_all(void **state) {
  (void)state;
  static const int of[3] = {0, 1, 5};
  for (int i = 0; i < FRAMES; i++) {
    motion m = motion_sample(i);
    const double turn[3] = {0, 0, 0.3 * i};
    double r_w[36], r_v[36], flat_w[9], flat_v[9], w[9], v[9], r[6], flat_r[6];
    mbg__so3_exp(m.H.R, turn);
    m.v[2] = m.v[3] = m.v[4] = 0;
    mbg__inertia_derivatives(m.M, m.H.R, m.v, m.g, r_w, r_v);
    mbg__inertia_flat_derivatives(m.M, m.H.R, m.v, m.g, flat_w, flat_v);
    for (int k = 0; k < 9; k++) {
      w[k] = r_w[6 * of[k / 3] + of[k % 3]];
      v[k] = r_v[6 * of[k / 3] + of[k % 3]];
    }
    assert_close_array(flat_w, w, 9, 1e-14); /* the same products; r_w has a few in another order */
    assert_close_array(flat_v, v, 9, 1e-14);
    m.vd[2] = m.vd[3] = m.vd[4] = 0;
    mbg__inertia_residual(m.M, m.H.R, m.v, m.vd, m.g, r);
    mbg__inertia_flat_residual(m.M, m.H.R, m.v, m.vd, m.g, flat_r);
    for (int k = 0; k < 3; k++) {
      assert_close(flat_r[of[k]], r[of[k]], 1e-14);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mass_matrix_is_that_of_the_points),
      cmocka_unit_test(mass_matrix_derivatives_agree_with_complex_step),
      cmocka_unit_test(residual_is_that_of_the_points),
      cmocka_unit_test(residual_derivatives_agree_with_complex_step),
      cmocka_unit_test(flat_residuals_and_derivatives_are_entries_of_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
