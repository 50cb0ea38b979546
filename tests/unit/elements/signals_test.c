/* Signals: every type of the list has a case here: a pair signal its value written down a second time, others what the
   signal layer is told to compute. */
#include "unit/elements/elements.h"

#include "elements/lists.h"
/* ---------------------------------------------------------------------- cases */

typedef struct {
  mbg__frame G;
  double v[6], vd[6], gravity[3];
  int opt[OPTIONS];
} input;

/* component opt[0] of a vector given in B, in the axes of A (opt[1] 0 or 2) or of B (1) */
static double component(const input *in, const double b[3], bool in_B) {
  double a[3];
  m3_mulv(a, in->G.R, b);
  return in_B ? b[in->opt[0]] : a[in->opt[0]];
}

static void acceleration_in_B(const input *in, double s[3]) {
  v3_cross(s, in->v + 3, in->v);
  v3_add(s, s, in->vd);
}

static double position(const input *in) {
  double p[3];
  m3_mulv_T(p, in->G.R, in->G.x);
  return component(in, p, in->opt[1] == 1);
}
static double velocity(const input *in) { return component(in, in->v, in->opt[1] == 1); }
static double acceleration(const input *in) {
  double s[3];
  acceleration_in_B(in, s);
  return component(in, s, in->opt[1] == 1);
}
static double angular_velocity(const input *in) { return component(in, in->v + 3, in->opt[1] == 1); }
static double angular_acceleration(const input *in) { return component(in, in->vd + 3, in->opt[1] == 1); }
static double accelerometer(const input *in) {
  double s[3], g[3];
  acceleration_in_B(in, s);
  m3_mulv_T(g, in->G.R, in->gravity);
  v3_sub(s, s, g);
  return component(in, s, true);
}
static double gyroscope(const input *in) { return component(in, in->v + 3, true); }
static double direction(const input *in) {
  const double axis[3] = {in->opt[1] == 0, in->opt[1] == 1, in->opt[1] == 2};
  return component(in, axis, false);
}
static double distance(const input *in) { return sqrt(v3_dot(in->G.x, in->G.x)); }
static double distance_rate(const input *in) {
  double V[3];
  m3_mulv(V, in->G.R, in->v);
  return v3_dot(in->G.x, V) / distance(in);
}

/* letters of the sequence, entries by the letters: R(i, j) */
static const char *const sequences[] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx",
                                        "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"};
static double euler_angle(const input *in) {
  const char *word = sequences[in->opt[0]];
  const int i = word[0] - 'x', j = word[1] - 'x', k = 3 - i - j;
  const double e = (i + 1) % 3 == j ? 1 : -1, (*R)[3] = (const double(*)[3])in->G.R;
  const bool two = word[0] == word[2];
  const double across = hypot(R[i][j], two ? R[i][k] : R[i][i]);
  if (in->opt[1] == 1) {
    return two ? atan2(across, R[i][i]) : atan2(e * R[i][k], across);
  }
  if (across < 1e-14) {
    return in->opt[1] == 0 ? atan2(e * R[k][j], R[j][j]) : 0;
  }
  if (in->opt[1] == 0) {
    return two ? atan2(R[j][i], -e * R[k][i]) : atan2(-e * R[j][k], R[k][k]);
  }
  return two ? atan2(R[i][j], e * R[i][k]) : atan2(-e * R[i][j], R[i][i]);
}

typedef struct {
  const char *key;
  mbg__level level;
  double (*value)(const input *in); /* pairs */
  mbg__signal_of of;                /* others */
  int role;
  const char *rate; /* key of the signal that is its derivative by time, with the same options in the axes of A */
} signal_case;

static const signal_case cases[] = {
    {"position", MBG__LEVEL_POSITION, position, MBG__OF_PAIR, MBG__ROLE_NONE, "velocity"},
    {"velocity", MBG__LEVEL_VELOCITY, velocity, MBG__OF_PAIR, MBG__ROLE_NONE, "acceleration"},
    {"acceleration", MBG__LEVEL_ACCELERATION, acceleration, MBG__OF_PAIR, MBG__ROLE_NONE, NULL},
    {"angular-velocity", MBG__LEVEL_VELOCITY, angular_velocity, MBG__OF_PAIR, MBG__ROLE_NONE, "angular-acceleration"},
    {"angular-acceleration", MBG__LEVEL_ACCELERATION, angular_acceleration, MBG__OF_PAIR, MBG__ROLE_NONE, NULL},
    {"accelerometer", MBG__LEVEL_ACCELERATION, accelerometer, MBG__OF_PAIR, MBG__ROLE_NONE, NULL},
    {"gyroscope", MBG__LEVEL_VELOCITY, gyroscope, MBG__OF_PAIR, MBG__ROLE_NONE, NULL},
    {"direction", MBG__LEVEL_POSITION, direction, MBG__OF_PAIR, MBG__ROLE_NONE, NULL},
    {"euler-angle", MBG__LEVEL_POSITION, euler_angle, MBG__OF_PAIR, MBG__ROLE_NONE, NULL},
    {"distance", MBG__LEVEL_POSITION, distance, MBG__OF_PAIR, MBG__ROLE_NONE, "distance-rate"},
    {"distance-rate", MBG__LEVEL_VELOCITY, distance_rate, MBG__OF_PAIR, MBG__ROLE_NONE, NULL},
    {"coordinate", MBG__LEVEL_POSITION, NULL, MBG__OF_COORD, MBG__ROLE_COORD_VALUE, NULL},
    {"rate", MBG__LEVEL_VELOCITY, NULL, MBG__OF_COORD, MBG__ROLE_COORD_RATE, NULL},
    {"coordinate-acceleration", MBG__LEVEL_ACCELERATION, NULL, MBG__OF_COORD, MBG__ROLE_COORD_ACCELERATION, NULL},
    {"reaction", MBG__LEVEL_REACTION, NULL, MBG__OF_JOINT, MBG__ROLE_REACTION, NULL},
    {"axial-force", MBG__LEVEL_REACTION, NULL, MBG__OF_JOINT, MBG__ROLE_AXIAL, NULL},
    {"curve-contact", MBG__LEVEL_POSITION, NULL, MBG__OF_JOINT, MBG__ROLE_CURVE, NULL},
    {"tendon", MBG__LEVEL_POSITION, NULL, MBG__OF_TENDON, MBG__ROLE_NONE, NULL},
    {"contact", MBG__LEVEL_VELOCITY, NULL, MBG__OF_FORCE, MBG__ROLE_CONTACT, NULL},
    {"force", MBG__LEVEL_VELOCITY, NULL, MBG__OF_FORCE, MBG__ROLE_FORCE, NULL},
    {"kinetic-energy", MBG__LEVEL_VELOCITY, NULL, MBG__OF_BODIES, MBG__ROLE_KINETIC, NULL},
    {"potential-energy", MBG__LEVEL_POSITION, NULL, MBG__OF_BODIES, MBG__ROLE_POTENTIAL, NULL},
    {"energy", MBG__LEVEL_VELOCITY, NULL, MBG__OF_BODIES, MBG__ROLE_ENERGY, NULL},
    {"control", MBG__LEVEL_TIME, NULL, MBG__OF_CONTROL, MBG__ROLE_CONTROL, NULL},
    {"expression", MBG__LEVEL_TIME, NULL, MBG__OF_VALUE, MBG__ROLE_VALUE, NULL},
    {"impulse", MBG__LEVEL_TIME, NULL, MBG__OF_EVENT, MBG__ROLE_VALUE, NULL},
    {"strain", MBG__LEVEL_POSITION, NULL, MBG__OF_BEAM, MBG__ROLE_STRAIN, NULL},
    {"section-force", MBG__LEVEL_VELOCITY, NULL, MBG__OF_BEAM, MBG__ROLE_SECTION_FORCE, NULL},
    {"stress", MBG__LEVEL_POSITION, NULL, MBG__OF_BEAM, MBG__ROLE_STRESS, NULL},
    {"strain-energy", MBG__LEVEL_POSITION, NULL, MBG__OF_BEAM, MBG__ROLE_STRAIN_ENERGY, NULL},
    {"modal-coordinate", MBG__LEVEL_POSITION, position, MBG__OF_PAIR, MBG__ROLE_NONE, "modal-rate"},
    {"modal-rate", MBG__LEVEL_VELOCITY, velocity, MBG__OF_PAIR, MBG__ROLE_NONE, "modal-acceleration"},
    {"modal-acceleration", MBG__LEVEL_ACCELERATION, acceleration, MBG__OF_PAIR, MBG__ROLE_NONE, NULL},
};

static const signal_case *find_case(const char *key) {
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    if (strcmp(cases[i].key, key) == 0) {
      return &cases[i];
    }
  }
  fail_msg("signal '%s' has no test case", key);
  return NULL;
}

static const mbg__signal_type *find_type(const char *key) {
  int count;
  const mbg__signal_type *const *types = mbg__signal_types(&count);
  for (int i = 0; i < count; i++) {
    if (strcmp(types[i]->key, key) == 0) {
      return types[i];
    }
  }
  fail_msg("no signal '%s'", key);
  return NULL;
}

/* ---------------------------------------------------------------------- inputs */

/* where the first and the third axis coincide */
static bool euler_singular(const input *in) {
  const char *word = sequences[in->opt[0]];
  const int i = word[0] - 'x', j = word[1] - 'x', k = word[0] == word[2] ? 3 - i - j : i;
  return hypot(in->G.R[3 * i + j], in->G.R[3 * i + k]) < 2e-14;
}

/* false where a distance has no direction, an Euler angle no derivative */
static bool input_sample(const mbg__signal_type *type, int i, int options, input *in) {
  support_rng rng = support_rng_make((uint64_t)(i + 1000 * options) + 1);
  *in = (input){.G = frame_sample(i, &rng)};
  support_normals(&rng, in->v, 6);
  support_normals(&rng, in->vd, 6);
  support_normals(&rng, in->gravity, 3);
  if (i % 4 == 1) {
    v6_scale(in->v, i % 8 == 1 ? 0 : 1e-8, in->v);
  }
  option_sample(type->keys, type->nkey, options, in->opt);
  if (strcmp(type->key, "euler-angle") == 0) {
    return !euler_singular(in);
  }
  return v3_dot(in->G.x, in->G.x) > 0 || strncmp(type->key, "distance", 8) != 0;
}

static mbg__signal_out evaluate(const mbg__signal_type *type, const input *in) {
  const mbg__signal_in signal = {.G = &in->G,
                                 .v = in->v,
                                 .vd = type->level >= MBG__LEVEL_ACCELERATION ? in->vd : NULL,
                                 .opt = in->opt,
                                 .attr = type->gravity ? in->gravity : NULL};
  mbg__signal_out out = {0};
  type->eval(&signal, &out);
  return out;
}

/* derivatives by w, v, vd, gravity: 6 + 6 + 6 + 3 */
static void twin_derivatives(const mbg__signal_type *type, const input *in, double y[21]) {
  for (int k = 0; k < 21; k++) {
    double w[6];
    double _Complex G[12], v[6], vd[6], g[3], out;
    unit6(k < 6 ? k : 0, w);
    frame_step(&in->G, k < 6 ? w : NULL, G);
    vector_step(6, in->v, k - 6, v);
    vector_step(6, in->vd, k - 12, vd);
    vector_step(3, in->gravity, k - 18, g);
    assert_int_equal(twin_signal(type->key, G, v, vd, in->opt, g, &out), 0);
    y[k] = twin_derivative(out);
  }
}

/* ---------------------------------------------------------------------- tests */

static void every_type_is_listed(void **state) {
  (void)state;
  int count;
  const mbg__signal_type *const *types = mbg__signal_types(&count);
  assert_int_equal(count, MBG_COUNT(cases));
  for (int i = 0; i < count; i++) {
    const signal_case *test = find_case(types[i]->key);
    assert_int_equal(types[i]->level, test->level);
    assert_int_equal(types[i]->of, test->of);
    assert_int_equal(types[i]->role, test->role);
    assert_int_equal(types[i]->eval != NULL, test->value != NULL);
    assert_int_equal(types[i]->of == MBG__OF_PAIR, test->value != NULL);
  }
}

static void values_are_as_defined(void **state) {
  (void)state;
  int count;
  const mbg__signal_type *const *types = mbg__signal_types(&count);
  for (int n = 0; n < count; n++) {
    int opt[OPTIONS];
    for (int o = 0; types[n]->eval && o < option_sample(types[n]->keys, types[n]->nkey, 0, opt); o++) {
      for (int i = 0; i < FRAMES; i++) {
        input in;
        if (input_sample(types[n], i, o, &in)) {
          const double y = find_case(types[n]->key)->value(&in);
          assert_close(evaluate(types[n], &in).y, y, 1e-13 * fmax(1, fabs(y))); /* rounding at lengths of 100 */
        }
      }
    }
  }
}

static void derivatives_agree_with_complex_step(void **state) {
  (void)state;
  static report r;
  int count;
  const mbg__signal_type *const *types = mbg__signal_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__signal_type *type = types[n];
    int opt[OPTIONS];
    for (int o = 0; type->eval && o < option_sample(type->keys, type->nkey, 0, opt); o++) {
      for (int i = 0; i < FRAMES; i++) {
        input in;
        double y[21];
        if (input_sample(type, i, o, &in)) {
          const mbg__signal_out out = evaluate(type, &in);
          twin_derivatives(type, &in, y);
          report_compare(&r, type->key, "y_w", 6, out.y_w, y);
          report_compare(&r, type->key, "y_v", 6, out.y_v, y + 6);
          report_compare(&r, type->key, "y_vd", 6, out.y_vd, y + 12);
          report_compare(&r, type->key, "y_a", type->gravity ? 3 : 0, out.y_a, y + 18);
        }
      }
    }
  }
  report_assert(&r, RANDOM, TOLERANCE);
}

/* along a motion, dG = G v~ dt and dv = vd dt: the gradient gives the signal one level higher */
static void rates_follow_from_the_gradients(void **state) {
  (void)state;
  for (int n = 0; n < MBG_COUNT(cases); n++) {
    if (!cases[n].rate) {
      continue;
    }
    const mbg__signal_type *type = find_type(cases[n].key), *rate = find_type(cases[n].rate);
    for (int i = 0; i < FRAMES; i++) {
      input in;
      if (input_sample(type, i, i % 3, &in)) { /* options 0..2: component x, y, z in the axes of A */
        const mbg__signal_out y = evaluate(type, &in);
        const double yd = v6_dot(y.y_w, in.v) + v6_dot(y.y_v, in.vd);
        assert_close(yd, evaluate(rate, &in).y, 1e-13 * fmax(1, fabs(yd)));
      }
    }
  }
}

/* at rest on the ground an accelerometer shows 1 g upwards; in free fall nothing */
static void accelerometers_feel_support_not_gravity(void **state) {
  (void)state;
  const mbg__signal_type *type = find_type("accelerometer");
  input in = {.gravity = {0, 0, -9.81}, .opt = {2}};
  frame_identity(&in.G);
  assert_close(evaluate(type, &in).y, 9.81, 0);
  in.vd[2] = -9.81;
  assert_close(evaluate(type, &in).y, 0, 0);
}

static mbg__frame turned(const char *word, const double angle[3]) {
  mbg__frame G;
  frame_identity(&G);
  for (int n = 0; n < 3; n++) {
    double T[9], R[9];
    turn_about(word[n] - 'x', angle[n], T);
    m3_mul(R, G.R, T);
    memcpy(G.R, R, sizeof R);
  }
  return G;
}

static void euler_angles_of(int sequence, const mbg__frame *G, double angle[3], double *slope) {
  for (int n = 0; n < 3; n++) {
    const input in = {.G = *G, .opt = {sequence, n}};
    const mbg__signal_out out = evaluate(find_type("euler-angle"), &in);
    angle[n] = out.y;
    *slope += v6_dot(out.y_w, out.y_w);
  }
}

/* the angles of three turns about moving axes are the angles; 1e-12: the second one 0.05 from the end of its range */
static void euler_angles_are_the_angles_of_the_turns(void **state) {
  (void)state;
  support_rng rng = support_rng_make(5);
  for (int n = 0; n < MBG_COUNT(sequences); n++) {
    for (int round = 0; round < 100; round++) {
      const bool two = sequences[n][0] == sequences[n][2];
      const double low = two ? 0.05 : 0.05 - M_PI / 2;
      const double a[3] = {support_uniform(&rng, -M_PI, M_PI), support_uniform(&rng, low, low + M_PI - 0.1),
                           support_uniform(&rng, -M_PI, M_PI)};
      const mbg__frame G = turned(sequences[n], a);
      double found[3], slope = 0;
      euler_angles_of(n, &G, found, &slope);
      assert_close_array(found, a, 3, 1e-12);
    }
  }
}

/* where the first and the third axis coincide the third angle is 0, the turns give the same frame, nothing is NaN; the
   first angle has the derivative of a turn about the axis, the others 0 */
static void euler_angles_at_singular_positions(void **state) {
  (void)state;
  for (int n = 0; n < MBG_COUNT(sequences); n++) {
    const bool two = sequences[n][0] == sequences[n][2];
    for (int end = 0; end < 2; end++) {
      const double a[3] = {0.4, two ? end * M_PI : (end - 0.5) * M_PI, 1.1};
      const mbg__frame G = turned(sequences[n], a);
      double found[3], slope = 0;
      euler_angles_of(n, &G, found, &slope);
      const mbg__frame again = turned(sequences[n], found);
      assert_true(found[2] == 0);
      assert_close(slope, 1, 1e-14);
      assert_close(found[1], a[1], 1e-15);
      assert_close_array(again.R, G.R, 9, 1e-15);
    }
  }
}

/* no NaN where a distance has no direction */
static void distances_at_zero_are_zero(void **state) {
  (void)state;
  const char *const keys[] = {"distance", "distance-rate"};
  for (int n = 0; n < 2; n++) {
    input in = {.v = {1, 2, 3, 4, 5, 6}};
    frame_identity(&in.G);
    const mbg__signal_out out = evaluate(find_type(keys[n]), &in);
    assert_true(out.y == 0 && v6_dot(out.y_w, out.y_w) == 0 && v6_dot(out.y_v, out.y_v) == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_is_listed),
      cmocka_unit_test(values_are_as_defined),
      cmocka_unit_test(derivatives_agree_with_complex_step),
      cmocka_unit_test(rates_follow_from_the_gradients),
      cmocka_unit_test(accelerometers_feel_support_not_gravity),
      cmocka_unit_test(euler_angles_are_the_angles_of_the_turns),
      cmocka_unit_test(euler_angles_at_singular_positions),
      cmocka_unit_test(distances_at_zero_are_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
