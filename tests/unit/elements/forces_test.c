/* Wrenches: every type of the list has a case here with inputs for its kernel and a plain evaluation of its law. */
#include "elements/lists.h"
#include "unit/elements/elements.h"
#include "unit/elements/fn_bench.h"

/* ---------------------------------------------------------------------- inputs */

typedef struct {
  mbg__frame G;
  double v[6], t;
  double attr[ATTRIBUTES + BENCH_NAMES]; /* own attributes, then a b c of the functions */
  int opt[OPTIONS];
  int nattr;
} input;

/* wrench on B about B's origin in the axes of A, written down a second time */
typedef void (*plain_law)(const input *in, double F[3], double M[3]);

typedef struct {
  const char *key;
  int nfn;
  const char *texts[BENCH_FNS];
  plain_law plain;
  bool (*adjust)(int i, support_rng *rng, input *in); /* false: skip this input; NULL: take all */
  bool elastic;
} force_case;

/* ---------------------------------------------------------------------- plain laws */

static void force_plain(const input *in, double F[3], double M[3]) {
  const double *n = in->attr + in->nattr, a = n[0], b = n[1], c = n[2], t = in->t;
  const double force[3] = {a * sin(b * t), b * b, c + t}, torque[3] = {0, a * b * c, exp(-t) * c};
  if (in->opt[0] != 1) { /* axes of A; of the world, where A has them */
    v3_copy(F, force);
    v3_copy(M, torque);
  } else {
    m3_mulv(F, in->G.R, force);
    m3_mulv(M, in->G.R, torque);
  }
}

static void drag_plain(const input *in, double F[3], double M[3]) {
  const double *a = in->attr, *V = in->v;
  const double speed = sqrt(V[0] * V[0] + V[1] * V[1] + V[2] * V[2] + a[3] * a[3]);
  m3_mulv(F, in->G.R, in->v);
  m3_mulv(M, in->G.R, in->v + 3);
  v3_scale(F, -(a[0] + a[1] * speed), F);
  v3_scale(M, -a[2], M);
}

/* its elastic part is also checked against the slope of the energy below */
static void bushing_plain(const input *in, double F[3], double M[3]) {
  double d[6], K[36], D[36], Ti[36], y[6], f[6], Dv[6];
  for (int i = 0, n = 0; i < 6; i++) {
    for (int j = i; j < 6; j++, n++) {
      K[6 * i + j] = K[6 * j + i] = in->attr[n];
      D[6 * i + j] = D[6 * j + i] = in->attr[21 + n];
    }
  }
  mbg__se3_log(d, &in->G);
  m6_mulv(y, K, d);
  m6_mulv(Dv, D, in->v);
  mbg__se3_tangent_inv(Ti, d);
  m6_mulv_T(f, Ti, y);
  for (int k = 0; k < 6; k++) {
    f[k] = in->attr[42 + k] - f[k] - Dv[k];
  }
  m3_mulv(F, in->G.R, f);
  m3_mulv(M, in->G.R, f + 3);
}

/* theory 5, section 15, line by line, in the axes of A turned so that the vertical is z; zr = a sin(b x + c y + t) +
   z^2/10 */
static void tyre_plain(const input *in, double F[3], double M[3]) {
  const double kz = in->attr[0], cz = in->attr[1], r0 = in->attr[2], cx = in->attr[3], cy = in->attr[4],
               v0 = in->attr[5];
  const double *n = in->attr + in->nattr, *X = in->G.x;
  const double phase = n[1] * X[0] + n[2] * X[1] + in->t, zr = n[0] * sin(phase) + X[2] * X[2] / 10;
  const double slope[3] = {n[0] * n[1] * cos(phase), n[0] * n[2] * cos(phase), X[2] / 5}, zr_t = n[0] * cos(phase);
  const int up = in->opt[0];
  double V[3], om = 0, z[3] = {0}, e_f[3], e_l[3];
  const double e_y[3] = {in->G.R[2], in->G.R[5], in->G.R[8]};
  z[up] = 1;
  m3_mulv(V, in->G.R, in->v);
  for (int i = 0; i < 3; i++) {
    double omega_i = 0; /* angular velocity in A times the spin axis in A */
    for (int j = 0; j < 3; j++) {
      omega_i += in->G.R[3 * i + j] * in->v[3 + j];
    }
    om += omega_i * e_y[i];
  }
  const double r = X[up] - zr;
  const double Fz = kz * (r0 - r) - cz * (V[up] - slope[0] * V[0] - slope[1] * V[1] - slope[2] * V[2] - zr_t);
  v3_scale(F, Fz, z);
  v3_cross(e_f, e_y, z);
  if (cx != 0 || cy != 0) {
    v3_scale(e_f, 1 / sqrt(v3_dot(e_f, e_f)), e_f);
    v3_cross(e_l, z, e_f);
    const double vf = v3_dot(V, e_f), s = sqrt(vf * vf + v0 * v0);
    v3_axpy(F, -cx * (vf - om * r) / s, e_f);
    v3_axpy(F, -cy * v3_dot(V, e_l) / s, e_l);
  }
  const double arm[3] = {-r * z[0], -r * z[1], -r * z[2]}; /* from the centre to the contact point */
  v3_cross(M, arm, F);
}

/* ---------------------------------------------------------------------- adjustments */

static bool bushing_adjust(int i, support_rng *rng, input *in) {
  (void)i, (void)rng;
  return !frame_at_pi(&in->G);
}

/* no vertical axis unless the wheel does not roll; without slip, also close to vertical */
static bool tyre_adjust(int i, support_rng *rng, input *in) {
  const int up = in->opt[0];
  if (i % 5 == 4) {
    in->attr[3] = in->attr[4] = 0;
    if (i % 2) {
      turn_about(up, 0.3, in->G.R); /* z of B along z of A: vertical for up = z */
      return true;
    }
  }
  const double *R = in->G.R, tilt = 1 - fabs(R[3 * up + 2]);
  if (tilt < 1e-4) {
    support_rotation(rng, in->G.R); /* the special rotations for up = z */
  }
  return 1 - fabs(R[3 * up + 2]) > 1e-4;
}

static const force_case cases[] = {
    {"force", 6, {"a*sin(b*t)", "b^2", "c+t", "0", "a*b*c", "exp(-t)*c"}, force_plain, NULL, false},
    {"bushing", 0, {NULL}, bushing_plain, bushing_adjust, true},
    {"drag", 0, {NULL}, drag_plain, NULL, false},
    {"tyre", 1, {"a*sin(b*x+c*y+t) + z^2/10"}, tyre_plain, tyre_adjust, false},
};

static const force_case *find_case(const char *key) {
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    if (strcmp(cases[i].key, key) == 0) {
      return &cases[i];
    }
  }
  fail_msg("force '%s' has no test case", key);
  return NULL;
}

/* ---------------------------------------------------------------------- evaluation */

enum { COLUMNS = ATTRIBUTES + BENCH_FNS * BENCH_NAMES };

/* f_a and energy_a by attribute: the columns of one attribute added up */
typedef struct {
  double f[6], f_G[36], f_v[36], f_a[COLUMNS][6], energy, energy_G[6], energy_a[COLUMNS];
  int err;
} result;

static bool input_sample(const mbg__force_type *type, int i, int options, input *in) {
  const force_case *test = find_case(type->key);
  support_rng rng = support_rng_make((uint64_t)(i + 1000 * options) + 1);
  *in = (input){.G = frame_sample(i, &rng), .nattr = count_attributes(type->keys, type->nkey)};
  in->t = support_uniform(&rng, 0, 2);
  support_normals(&rng, in->v, 6);
  if (i % 4 == 1) {
    v6_scale(in->v, i % 8 == 1 ? 0 : 1e-8, in->v);
  }
  option_sample(type->keys, type->nkey, options, in->opt);
  attribute_sample(type->keys, type->nkey, i, &rng, in->attr);
  support_normals(&rng, in->attr + in->nattr, BENCH_NAMES);
  return !test->adjust || test->adjust(i, &rng, in);
}

static void evaluate(const mbg__force_type *type, const input *in, bool derivatives, result *out) {
  const force_case *test = find_case(type->key);
  static double columns[COLUMNS][6];
  static int index[COLUMNS];
  memset(columns, 0, sizeof columns);
  memset(out, 0, sizeof *out);
  for (int k = 0; k < in->nattr; k++) {
    index[k] = k;
  }
  fn_bench bench;
  fn_bench_make(&bench, test->nfn, test->texts, in->attr, in->nattr, in->t);
  const mbg__force_in force = {.G = &in->G,
                               .v = in->v,
                               .t = in->t,
                               .attr = in->attr,
                               .opt = in->opt,
                               .fn = &bench.env,
                               .derivatives = derivatives};
  mbg__force_out raw = {.na = in->nattr, .f_a = columns, .aidx = index, .energy_a = out->energy_a};
  out->err = type->eval(&force, &raw);
  v6_copy(out->f, raw.f);
  m6_copy(out->f_G, raw.f_G);
  m6_copy(out->f_v, raw.f_v);
  out->energy = raw.energy;
  v6_copy(out->energy_G, raw.energy_G);
  assert_true(raw.na <= COLUMNS);
  for (int k = 0; k < raw.na; k++) {
    v6_add(out->f_a[index[k]], out->f_a[index[k]], columns[k]);
  }
  fn_bench_destroy(&bench);
}

/* derivative of wrench and energy; kind 0: w, 1: v, 2: attribute, in direction k */
static void twin_derivatives(const mbg__force_type *type, const input *in, int kind, int k, double f[6],
                             double *energy) {
  const force_case *test = find_case(type->key);
  double w[6];
  double _Complex G[12], v[6], attr[ATTRIBUTES + BENCH_NAMES], fc[6], ec;
  unit6(kind == 0 ? k : 0, w);
  frame_step(&in->G, kind == 0 ? w : NULL, G);
  vector_step(6, in->v, kind == 1 ? k : -1, v);
  vector_step(in->nattr + BENCH_NAMES, in->attr, kind == 2 ? k : -1, attr);
  assert_int_equal(twin_force(type->key, G, v, in->t, attr, in->opt, test->nfn, test->texts, in->nattr, fc, &ec), 0);
  for (int i = 0; i < 6; i++) {
    f[i] = twin_derivative(fc[i]);
  }
  *energy = twin_derivative(ec);
}

/* ---------------------------------------------------------------------- tests */

static void every_type_is_listed(void **state) {
  (void)state;
  int count;
  const mbg__force_type *const *types = mbg__force_types(&count);
  assert_int_equal(count, MBG_COUNT(cases));
  for (int i = 0; i < count; i++) {
    assert_int_equal(find_case(types[i]->key)->nfn, count_functions(types[i]->keys, types[i]->nkey));
  }
}

static void wrenches_are_as_defined(void **state) {
  (void)state;
  int count;
  const mbg__force_type *const *types = mbg__force_types(&count);
  for (int n = 0; n < count; n++) {
    int seen = 0, opt[OPTIONS];
    for (int o = 0; o < option_sample(types[n]->keys, types[n]->nkey, 0, opt); o++) {
      for (int i = 0; i < FRAMES; i++) {
        input in;
        result out, value;
        double F[6], ref[6];
        if (!input_sample(types[n], i, o, &in)) {
          continue;
        }
        evaluate(types[n], &in, true, &out);
        assert_int_equal(out.err, MBG_OK);
        find_case(types[n]->key)->plain(&in, ref, ref + 3);
        m3_mulv(F, in.G.R, out.f);
        m3_mulv(F + 3, in.G.R, out.f + 3);
        assert_close_array(F, ref, 6, 1e-12); /* at lengths of 100 stiffness times length is rounded */

        /* the same numbers when no derivatives are asked for */
        evaluate(types[n], &in, false, &value);
        assert_memory_equal(value.f, out.f, sizeof out.f);
        assert_true(value.energy == out.energy);
        seen++;
      }
    }
    assert_true(seen >= RANDOM);
  }
}

static void derivatives_agree_with_complex_step(void **state) {
  (void)state;
  static report r;
  int count;
  const mbg__force_type *const *types = mbg__force_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__force_type *type = types[n];
    int opt[OPTIONS];
    for (int o = 0; o < option_sample(type->keys, type->nkey, 0, opt); o++) {
      char label[40];
      snprintf(label, sizeof label, "%s %d", type->key, o);
      for (int i = 0; i < FRAMES; i++) {
        input in;
        static result out;
        double f[6], f_G[36], f_v[36], f_a[COLUMNS][6], e_G[6], e_v[6], e_a[COLUMNS];
        if (!input_sample(type, i, o, &in)) {
          continue;
        }
        evaluate(type, &in, true, &out);
        for (int k = 0; k < 6; k++) {
          twin_derivatives(type, &in, 0, k, f, &e_G[k]);
          for (int j = 0; j < 6; j++) {
            f_G[6 * j + k] = f[j];
          }
          twin_derivatives(type, &in, 1, k, f, &e_v[k]);
          for (int j = 0; j < 6; j++) {
            f_v[6 * j + k] = f[j];
          }
          assert_true(e_v[k] == 0);
        }
        for (int k = 0; k < in.nattr + BENCH_NAMES; k++) {
          twin_derivatives(type, &in, 2, k, f_a[k], &e_a[k]);
        }
        report_compare(&r, label, "f_G", 36, out.f_G, f_G);
        report_compare(&r, label, "f_v", 36, out.f_v, f_v);
        for (int k = 0; k < type->nkey; k++) {
          const int first = count_attributes(type->keys, k), size = key_attributes(&type->keys[k]);
          if (size > 0) {
            report_compare(&r, label, type->keys[k].name, 6 * size, out.f_a[first], f_a[first]);
          }
        }
        report_compare(&r, label, "names", 6 * BENCH_NAMES, out.f_a[in.nattr], f_a[in.nattr]);
        report_compare(&r, label, "energy_G", 6, out.energy_G, e_G);
        report_compare(&r, label, "energy_a", in.nattr, out.energy_a, e_a);
      }
    }
  }
  report_assert(&r, RANDOM, TOLERANCE);
}

/* without preload and at rest an elastic wrench is minus the slope of its energy; others store none */
static void wrench_at_rest_is_the_slope_of_the_energy(void **state) {
  (void)state;
  int count;
  const mbg__force_type *const *types = mbg__force_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__force_type *type = types[n];
    for (int i = 0; i < FRAMES; i++) {
      input in;
      result out;
      if (!input_sample(type, i, 0, &in)) {
        continue;
      }
      v6_zero(in.v);
      for (int k = 0; k < type->nkey; k++) {
        if (strncmp(type->keys[k].name, "preload", 7) == 0) {
          v3_zero(in.attr + count_attributes(type->keys, k));
        }
      }
      evaluate(type, &in, false, &out);
      if (!find_case(type->key)->elastic) {
        assert_true(out.energy == 0);
        continue;
      }
      double slope[6], f[6];
      for (int k = 0; k < 6; k++) {
        twin_derivatives(type, &in, 0, k, f, &slope[k]);
        slope[k] = -slope[k];
      }
      assert_close_array(out.f, slope, 6, TOLERANCE);
    }
  }
}

static const mbg__force_type *find_type(const char *key) {
  int count;
  const mbg__force_type *const *types = mbg__force_types(&count);
  for (int i = 0; i < count; i++) {
    if (strcmp(types[i]->key, key) == 0) {
      return types[i];
    }
  }
  fail_msg("no force '%s'", key);
  return NULL;
}

/* slip needs a direction of rolling; without slip the wheel stands on its spring */
static void vertical_wheel_axis_is_an_error(void **state) {
  (void)state;
  const mbg__force_type *tyre = find_type("tyre");
  input in = {.attr = {1000, 10, 0.3, 0, 0, 0.1}, .nattr = 6, .opt = {2}};
  result out;
  frame_identity(&in.G);
  in.G.x[2] = 0.25;
  evaluate(tyre, &in, true, &out);
  assert_int_equal(out.err, MBG_OK);
  assert_close(out.f[2], 56.25, 1e-12); /* kz (r0 - r), with a = b = c = 0 the road is z^2/10 = 0.00625 high */

  in.attr[3] = 1;
  evaluate(tyre, &in, true, &out);
  assert_int_equal(out.err, MBG_ERROR_INPUT);
  turn_about(0, 1e-3, in.G.R);
  evaluate(tyre, &in, true, &out);
  assert_int_equal(out.err, MBG_OK);
}

/* the page's wheel: spin axis y, rolling without slip on a flat road at its own weight */
static void rolling_wheel_has_only_its_vertical_force(void **state) {
  (void)state;
  const mbg__force_type *tyre = find_type("tyre");
  input in = {.attr = {200000, 150, 0.3171, 30000, 40000, 0.1}, .nattr = 6, .opt = {2}};
  result out;
  turn_about(0, -M_PI / 2, in.G.R); /* z of the marker is y of the world */
  v3_zero(in.G.x);
  in.G.x[2] = 0.3;
  const double r = 0.3 - 0.3 * 0.3 / 10, V[3] = {15, 0, 0};
  m3_mulv_T(in.v, in.G.R, V);
  in.v[5] = 15 / r;
  evaluate(tyre, &in, true, &out);
  double F[3], M[3];
  m3_mulv(F, in.G.R, out.f);
  m3_mulv(M, in.G.R, out.f + 3);
  const double expected[3] = {0, 0, 200000 * (0.3171 - r)}, none[3] = {0};
  assert_close_array(F, expected, 3, 1e-12);
  assert_close_array(M, none, 3, 1e-10);

  /* a faster spin drives forward: e_f is the direction of travel */
  in.v[5] *= 1.01;
  evaluate(tyre, &in, true, &out);
  m3_mulv(F, in.G.R, out.f);
  assert_close(F[0], 30000 * 0.01, 0.1); /* cx times slip, s = 15 (1 + 2e-5) */
}

static void bushings_have_no_negative_stiffness(void **state) {
  (void)state;
  const mbg__force_type *bushing = find_type("bushing");
  double attr[ATTRIBUTES] = {0};
  char why[100] = "";
  assert_true(bushing->check(attr, NULL, why, sizeof why));
  attr[0] = attr[11] = 5; /* K11 and K33 */
  assert_true(bushing->check(attr, NULL, why, sizeof why));
  attr[2] = 5; /* K13: eigenvalues 10 and 0 */
  assert_true(bushing->check(attr, NULL, why, sizeof why));
  attr[2] = 5.1;
  assert_false(bushing->check(attr, NULL, why, sizeof why));
  assert_string_equal(why, "stiffness has a negative eigenvalue");
  attr[2] = 0;
  attr[1] = 0.1; /* K12 beside K22 = 0 */
  assert_false(bushing->check(attr, NULL, why, sizeof why));
  attr[1] = 0;
  attr[21] = -1e-3;
  assert_false(bushing->check(attr, NULL, why, sizeof why));
  assert_string_equal(why, "damping has a negative eigenvalue");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_is_listed),
      cmocka_unit_test(wrenches_are_as_defined),
      cmocka_unit_test(derivatives_agree_with_complex_step),
      cmocka_unit_test(wrench_at_rest_is_the_slope_of_the_energy),
      cmocka_unit_test(vertical_wheel_axis_is_an_error),
      cmocka_unit_test(rolling_wheel_has_only_its_vertical_force),
      cmocka_unit_test(bushings_have_no_negative_stiffness),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
