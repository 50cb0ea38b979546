/* Wrenches: every type of the list has a case here with inputs for its kernel and a plain evaluation of its law. */
#include "elements/contact_law.h"
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

/* theory 7, section 9: vertical force of a tyre that lifts off, and what its load and friction leave of slip forces,
   by the load */
enum { T_WIDTH = 6, T_LOAD, T_MU_X, T_MU_Y, T_SHAPE, T_CURVATURE };

static double press_plain(const double *a, double d, double rd) {
  const double s = d / a[T_WIDTH], u = (1 - a[1] * rd / a[T_LOAD]) / 0.05;
  const double sg = s <= 0 ? 0 : s <= 1 ? pow(s, 3) - pow(s, 4) / 2 : s - 0.5;
  return a[0] * a[T_WIDTH] * sg * 0.05 * (u <= -1 ? 0 : u < 1 ? pow(u + 1, 3) * (3 - u) / 16 : u);
}

static double ellipse_plain(const double *a, double kx, double ky) {
  const double mu_y = a[T_MU_Y] > 0 ? a[T_MU_Y] : a[T_MU_X];
  const double rho = hypot(a[3] * kx / a[T_MU_X], a[4] * ky / mu_y) / a[T_LOAD];
  if (a[T_SHAPE] > 0) {
    const double x = rho / a[T_SHAPE], y = x - a[T_CURVATURE] * (x - atan(x));
    return (rho > 0 ? sin(a[T_SHAPE] * atan(y)) / rho : 1) / a[T_LOAD];
  }
  return (rho > 0 ? tanh(rho) / rho : 1) / a[T_LOAD];
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
  const double r = X[up] - zr, rd = V[up] - slope[0] * V[0] - slope[1] * V[1] - slope[2] * V[2] - zr_t;
  const double Fz = in->opt[1] ? press_plain(in->attr, r0 - r, rd) : kz * (r0 - r) - cz * rd;
  v3_scale(F, Fz, z);
  v3_cross(e_f, e_y, z);
  if (cx != 0 || cy != 0) {
    v3_scale(e_f, 1 / sqrt(v3_dot(e_f, e_f)), e_f);
    v3_cross(e_l, z, e_f);
    const double vf = v3_dot(V, e_f), s = sqrt(vf * vf + v0 * v0);
    const double kx = (vf - om * r) / s, ky = v3_dot(V, e_l) / s;
    const double share = in->opt[1] ? ellipse_plain(in->attr, kx, ky) * Fz : 1;
    v3_axpy(F, -cx * kx * share, e_f);
    v3_axpy(F, -cy * ky * share, e_l);
  }
  const double arm[3] = {-r * z[0], -r * z[1], -r * z[2]}; /* from the centre to the contact point */
  v3_cross(M, arm, F);
}

/* theory 7, section 8, line by line; the damping of a restitution has a test of its own */
enum { PLANE, SPHERE, SOCKET, HOLE, ROAD };
enum {
  A_R,
  A_R_A,
  A_K,
  A_N,
  A_WIDTH,
  A_E,
  A_SPEED,
  A_C,
  A_SMOOTHING,
  A_MU,
  A_MU_STILL,
  A_SLIP,
  A_STRIBECK,
};

/* height of the road of the case below and its derivatives by x and t */
static void road_plain(const input *in, double x, double h[4]) {
  const double *n = in->attr + in->nattr, phase = n[1] * x + n[2] * in->t;
  h[0] = n[0] * sin(phase) + n[2] * x * x / 10;
  h[1] = n[0] * n[1] * cos(phase) + n[2] * x / 5;
  h[2] = -n[0] * n[1] * n[1] * sin(phase) + n[2] / 5;
  h[3] = n[2] * n[0] * cos(phase);
}

static double depth_plain(const input *in, double n[3], double *rise) {
  const double r = in->attr[A_R], ra = in->attr[A_R_A], *x = in->G.x;
  const int shape = in->opt[0], up = in->opt[1], along = up == 0;
  v3_zero(n);
  *rise = 0;
  if (shape == PLANE) {
    n[up] = 1;
    return r - x[up];
  }
  if (shape == ROAD) {
    double h[4], xi = x[along];
    for (int i = 0; i < 30; i++) {
      road_plain(in, xi, h);
      xi += (x[along] - xi + (x[up] - h[0]) * h[1]) / (1 + h[1] * h[1] - (x[up] - h[0]) * h[2]);
    }
    road_plain(in, xi, h);
    n[up] = 1 / hypot(1, h[1]);
    n[along] = -h[1] * n[up];
    *rise = h[3];
    return r - (x[along] - xi) * n[along] - (x[up] - h[0]) * n[up];
  }
  const double y[3] = {x[0], x[1], shape == HOLE ? 0 : x[2]}, size = v3_norm(y);
  v3_scale(n, (shape == SPHERE ? 1 : -1) / size, y);
  return shape == SPHERE ? ra + r - size : size - (ra - r);
}

/* (1 + c ddot)/s of the factor that ends at -1 */
static double damping_plain(const input *in, const double n[3], const double V[3]) {
  const double *a = in->attr;
  mbg__contact_damping back = {0};
  if (a[A_SPEED] > 0) {
    assert_true(mbg__contact_damping_of(a[A_E], a[A_SMOOTHING], &back));
  }
  const double c = a[A_C] + (a[A_SPEED] > 0 ? back.u / a[A_SPEED] : 0);
  return (1 - c * v3_dot(n, V)) / a[A_SMOOTHING];
}

static void contact_plain(const input *in, double F[3], double M[3]) {
  const double *a = in->attr;
  double n[3], V[3], Om[3], l[3], ut[3], rise;
  const double d = depth_plain(in, n, &rise), s = d / a[A_WIDTH];
  v3_zero(F);
  v3_zero(M);
  if (d <= 0) {
    return;
  }
  const double Fe = a[A_K] * pow(a[A_WIDTH] * (s > 1 ? s - 0.5 : pow(s, 3) - pow(s, 4) / 2), a[A_N]);
  m3_mulv(V, in->G.R, in->v);
  m3_mulv(Om, in->G.R, in->v + 3);
  V[in->opt[1]] -= rise;
  const double u = damping_plain(in, n, V);
  const double normal = Fe * a[A_SMOOTHING] * (u <= -1 ? 0 : u < 1 ? pow(u + 1, 3) * (3 - u) / 16 : u);
  v3_scale(l, -a[A_R], n);
  v3_copy(ut, V);
  v3_cross_add(ut, 1, Om, l);
  v3_axpy(ut, -v3_dot(n, ut), n);
  const double slide = v3_norm(ut), still = a[A_MU_STILL] > 0 ? a[A_MU_STILL] : a[A_MU];
  const double mu = a[A_MU] + (still - a[A_MU]) * exp(-pow(slide / a[A_STRIBECK], 2));
  v3_scale(F, normal, n);
  v3_axpy(F, slide > 0 ? -normal * mu * tanh(slide / a[A_SLIP]) / slide : 0, ut);
  v3_cross(M, l, F);
}

/* ---------------------------------------------------------------------- adjustments */

/* Depths: apart, touching, at the beginning of the force, at the end of its width, deep, and anything. The depth in a
   road is a difference of lengths of 0.1 m, rounded to some 1e-17 m, and the force begins as its power 4.5: in the
   first third of the width, 0.6 mm, it has fewer than twelve digits, whatever computes it. */
static double contact_depth(int i, support_rng *rng, double width, bool road) {
  static const double special[] = {-0.5, -1e-9, 0, 1e-9, 1e-3, 0.5, 1, 1 + 1e-12, 3, 20};
  const double share = i % 2 ? special[i / 2 % MBG_COUNT(special)] : support_uniform(rng, 0, 3);
  return width * (road && share >= 0 ? fmax(share, 0.3) : share);
}

/* Inputs whose derivatives have fewer than twelve digits, whatever computes them. At the ends of the rounded factor,
   u = -1 and 1, derivatives by u go to 0 as (1 + u)^2 and (1 - u)^2 times numbers that the twin rounds to 1e-15. Where
   only the road moves, upwards, the sphere slides by the slope at the foot, whose absolute error is 1e-16. */
static bool contact_is_rounded(const input *in) {
  double n[3], V[3], rise;
  depth_plain(in, n, &rise);
  m3_mulv(V, in->G.R, in->v);
  const double speed = v3_norm(V);
  V[in->opt[1]] -= rise;
  const double u = damping_plain(in, n, V), slope = fabs(n[in->opt[1] == 0]);
  return (fabs(u) > 0.9 && fabs(u) < 1) || (in->opt[0] == ROAD && speed < 1e-6 && slope < 1e-3);
}

static bool contact_adjust(int i, support_rng *rng, input *in) {
  static const double exponents[] = {1.5, 1, 2, 1.3}, restitutions[] = {1, 0.8, 0.5, 0.15};
  double *a = in->attr, *road = in->attr + in->nattr, *x = in->G.x, h[4], n[3] = {0};
  const int shape = in->opt[0], up = in->opt[1], along = up == 0;
  a[A_R] = support_uniform(rng, 0.05, 0.15);
  a[A_R_A] = shape == PLANE || shape == ROAD ? 0 : 0.3;
  a[A_K] = support_uniform(rng, 5e3, 2e4);
  a[A_N] = exponents[i % 4];
  a[A_WIDTH] = 2e-3;
  a[A_E] = restitutions[i / 4 % 4];
  a[A_SPEED] = a[A_E] == 1 && i % 3 ? 0 : support_uniform(rng, 0.5, 2);
  a[A_C] = a[A_SPEED] > 0 ? 0 : 0.4;
  a[A_SMOOTHING] = 0.1;
  a[A_MU] = support_uniform(rng, 0.1, 0.5);
  a[A_MU_STILL] = i % 3 ? 0 : 0.6;
  a[A_SLIP] = i % 5 ? 0.05 : 1e-4;
  a[A_STRIBECK] = 0.4;
  road[0] = 0.02;
  road[1] = support_uniform(rng, 1, 3);
  road[2] = support_uniform(rng, -1, 1);
  v3_scale(in->v, i % 7 ? 1 : 3, in->v);
  const double d = contact_depth(i, rng, a[A_WIDTH], shape == ROAD);
  support_direction(rng, x);
  if (shape == PLANE) {
    x[up] = a[A_R] - d;
  } else if (shape == ROAD) {
    road_plain(in, x[along], h);
    n[up] = 1 / hypot(1, h[1]);
    n[along] = -h[1] * n[up];
    x[up] = h[0];
    v3_axpy(x, a[A_R] - d, n);
  } else {
    const double flat = shape == HOLE ? hypot(x[0], x[1]) : 1;
    v3_scale(x, (shape == SPHERE ? a[A_R_A] + a[A_R] - d : a[A_R_A] - a[A_R] + d) / flat, x);
  }
  return !contact_is_rounded(in);
}

static bool bushing_adjust(int i, support_rng *rng, input *in) {
  (void)i, (void)rng;
  return !frame_at_pi(&in->G);
}

/* depths of all kinds; not near the ends of the rounded factor, where derivatives have fewer digits */
static bool lifting_adjust(int i, support_rng *rng, input *in) {
  double *a = in->attr, V[3];
  const double *n = in->attr + in->nattr, *X = in->G.x;
  v3_scale(in->G.x, 1 / fmax(1, v3_norm(X)), X); /* a depth of centimetres has twelve digits */
  const double phase = n[1] * X[0] + n[2] * X[1] + in->t, zr = n[0] * sin(phase) + X[2] * X[2] / 10;
  a[T_WIDTH] = 0.05;
  a[T_LOAD] = support_uniform(rng, 2, 5);
  a[T_MU_X] = support_uniform(rng, 0.6, 1.5);
  a[3] *= 0.1; /* up to 99 % of the limit: beyond, derivatives by slips are differences for the twin */
  a[4] *= 0.1;
  a[5] = fmax(a[5], 0.5);
  a[T_MU_Y] = i % 3 ? 0 : 0.8;
  a[T_SHAPE] = i % 4 < 2 ? 0 : support_uniform(rng, 1.1, 1.9); /* tanh, and the Magic Formula */
  a[T_CURVATURE] = a[T_SHAPE] > 0 ? support_uniform(rng, -2, 0.95) : 0;
  /* at small slips the derivative by C is (1 + E) rho^2/3 less terms of rho^4: a difference near E = -1, for both */
  a[T_CURVATURE] += fabs(1 + a[T_CURVATURE]) < 0.05 ? 0.1 : 0;
  const double d = contact_depth(i, rng, a[T_WIDTH], false);
  a[2] = X[in->opt[0]] - zr + (d > 0 ? fmax(d, 0.01) : d); /* deeper than rounding of the road's height */
  m3_mulv(V, in->G.R, in->v);
  const double rd = V[in->opt[0]] - n[0] * cos(phase) * (n[1] * V[0] + n[2] * V[1] + 1) - X[2] / 5 * V[2];
  const double u = (1 - a[1] * rd / a[T_LOAD]) / 0.05;
  return !(fabs(u) > 0.9 && fabs(u) < 1);
}

/* no vertical axis unless the wheel does not roll; without slip, also close to vertical */
static bool tyre_adjust(int i, support_rng *rng, input *in) {
  const int up = in->opt[0];
  if (in->opt[1] && !lifting_adjust(i, rng, in)) {
    return false;
  }
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
    {"contact", 1, {"a*sin(b*x+c*t) + c*x^2/10"}, contact_plain, contact_adjust, true},
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

static void evaluate_kind(const mbg__force_type *type, const input *in, bool measure, bool derivatives, result *out) {
  const force_case *test = find_case(type->key);
  static double columns[COLUMNS][6], energies[COLUMNS];
  static int index[COLUMNS];
  memset(columns, 0, sizeof columns);
  memset(energies, 0, sizeof energies);
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
  mbg__force_out raw = {.na = in->nattr, .f_a = columns, .aidx = index, .energy_a = energies};
  out->err = measure ? type->measure(&force, &raw) : type->eval(&force, &raw);
  v6_copy(out->f, raw.f);
  m6_copy(out->f_G, raw.f_G);
  m6_copy(out->f_v, raw.f_v);
  out->energy = raw.energy;
  v6_copy(out->energy_G, raw.energy_G);
  assert_true(raw.na <= COLUMNS);
  for (int k = 0; k < raw.na; k++) {
    v6_add(out->f_a[index[k]], out->f_a[index[k]], columns[k]);
    out->energy_a[index[k]] += energies[k];
  }
  fn_bench_destroy(&bench);
}

static void evaluate(const mbg__force_type *type, const input *in, bool derivatives, result *out) {
  evaluate_kind(type, in, false, derivatives, out);
}

/* derivative of wrench (or measures) and energy; kind 0: w, 1: v, 2: attribute, in direction k */
static void twin_derivatives_of(const mbg__force_type *type, const input *in, bool measure, int kind, int k,
                                double f[6], double *energy) {
  const force_case *test = find_case(type->key);
  double w[6];
  double _Complex G[12], v[6], attr[ATTRIBUTES + BENCH_NAMES], fc[6], ec;
  unit6(kind == 0 ? k : 0, w);
  frame_step(&in->G, kind == 0 ? w : NULL, G);
  vector_step(6, in->v, kind == 1 ? k : -1, v);
  vector_step(in->nattr + BENCH_NAMES, in->attr, kind == 2 ? k : -1, attr);
  assert_int_equal(
      twin_force(type->key, G, v, in->t, attr, in->opt, test->nfn, test->texts, in->nattr, measure, fc, &ec), 0);
  for (int i = 0; i < 6; i++) {
    f[i] = twin_derivative(fc[i]);
  }
  *energy = twin_derivative(ec);
}

static void twin_derivatives(const mbg__force_type *type, const input *in, int kind, int k, double f[6],
                             double *energy) {
  twin_derivatives_of(type, in, false, kind, k, f, energy);
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
        report_compare(&r, label, "energy of names", BENCH_NAMES, out.energy_a + in.nattr, e_a + in.nattr);
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

/* ---------------------------------------------------------------------- contacts */

static void measures_agree_with_complex_step(void **state) {
  (void)state;
  static report r;
  const mbg__force_type *type = find_type("contact");
  for (int o = 0; o < option_sample(type->keys, type->nkey, 0, (int[OPTIONS]){0}); o++) {
    for (int i = 0; i < FRAMES; i++) {
      input in;
      static result out;
      double f[6], d[3][12 + COLUMNS], ref[3][12 + COLUMNS], energy, n[3], rise;
      if (!input_sample(type, i, o, &in)) {
        continue;
      }
      const int columns = 12 + in.nattr + BENCH_NAMES;
      evaluate_kind(type, &in, true, true, &out);
      assert_int_equal(out.err, MBG_OK);
      assert_close(out.f[0], depth_plain(&in, n, &rise), 1e-14);
      for (int k = 0; k < columns; k++) {
        twin_derivatives_of(type, &in, true, k < 6 ? 0 : k < 12 ? 1 : 2, k < 12 ? k % 6 : k - 12, f, &energy);
        for (int j = 0; j < 3; j++) {
          ref[j][k] = f[j];
          d[j][k] = k < 6 ? out.f_G[6 * j + k] : k < 12 ? out.f_v[6 * j + k - 6] : out.f_a[k - 12][j];
        }
      }
      char label[40];
      snprintf(label, sizeof label, "measures %d", o);
      report_compare(&r, label, "depth", columns, d[0], ref[0]);
      report_compare(&r, label, "normal", columns, d[1], ref[1]);
      report_compare(&r, label, "slip", columns, d[2], ref[2]);
    }
  }
  report_assert(&r, RANDOM, TOLERANCE);
}

/* the page's kernels, to all digits it prints */
static void contacts_are_those_of_the_page(void **state) {
  (void)state;
  static const struct {
    double x[3], f[6], sum, trace;
  } page[] = {
      {{.1, .2, .095},
       {0.555972018011, 0.433684077932, 2.94348268595, 0.0162229685649, 0.109923467619, -0.0192600332047},
       2218.84250729,
       -3.28362754576},
      {{.2, -.1, .32},
       {3.04443122691, -3.03797411577, 7.56425133212, 0.178760390991, 0.2455383146, 0.0266669256295},
       4257.58254298,
       -7.88578288802},
      {{.1, .1, .16},
       {-15.4672997801, 1.33522834182, -0.120033677193, -0.0376991136196, -0.423245796615, 0.14973888182},
       2788.98159715,
       -10.727305954},
      {{.15, -.14, .3},
       {-0.402728455281, 2.93339820078, 0.624423675763, -0.0830006996886, -0.0039450184642, -0.0349993671864},
       1602.60760181,
       -2.14579592374},
      {{.7, .1, .11},
       {1.23704315934, 0.764845240921, 5.77453706897, 0.0366879246633, 0.214537945197, -0.036275266764},
       2760.78659046,
       -6.326359301},
  };
  const double w[3] = {.3, -.5, .8}, v[6] = {.3, -.2, -.5, 1, 2, -.5};
  for (int shape = PLANE; shape <= ROAD; shape++) {
    /* the road of the case with c = 0: 0.02 sin(3 x) at rest */
    input in = {.attr = {.1, .3, 1e4, 1.5, 2e-3, 1, 0, .4, .1, .3, .5, .05, .4, .02, 3, 0}, .nattr = 13};
    result out;
    double sum = 0, trace = 0;
    in.attr[A_R_A] = shape == PLANE || shape == ROAD ? 0 : .3;
    in.opt[0] = shape;
    in.opt[1] = 2;
    mbg__so3_exp(in.G.R, w);
    v3_copy(in.G.x, page[shape].x);
    v6_copy(in.v, v);
    evaluate(find_type("contact"), &in, true, &out);
    assert_close_array(out.f, page[shape].f, 6, 1e-11);
    for (int i = 0; i < 36; i++) {
      sum += fabs(out.f_G[i]);
      trace += i % 7 ? 0 : out.f_v[i];
    }
    assert_close(sum, page[shape].sum, 1e-11 * page[shape].sum);
    assert_close(trace, page[shape].trace, 1e-10);
  }
}

/* integral of x/P(-x) from 0 to z by Simpson's rule, with P written down again; smooth in 1 - s alone */
static double lost(double z, double s, int sign) {
  const double border = sign < 0 && z > 1 - s ? 1 - s : z;
  double sum = 0;
  for (int part = 0; part < 2; part++) {
    const double from = part ? border : 0, to = part ? z : border;
    const int n = 200000;
    for (int i = 0; i <= n; i++) {
      const double x = from + (to - from) * i / n, u = (1 + sign * x) / s;
      const double P = s * (u <= -1 ? 0 : u < 1 ? pow(u + 1, 3) * (3 - u) / 16 : u);
      sum += x / P * (to - from) / (3. * n) * (i % n == 0 ? 1 : i % 2 ? 4 : 2);
    }
  }
  return sum;
}

/* A bounce with any stiffness: m y dy = -F P(c y) dd, so that the integrals of y/P over approach and return are
   equal. */
static void restitution_is_met(void **state) {
  (void)state;
  static const double page[][2] = {{0.95, 0.078926605287}, {0.8, 0.373146203365}, {0.5, 1.432750533271}};
  static const double e[] = {1, 0.999999, 0.95, 0.8, 0.5, 0.27, 0.2, 0.1, 0.02}, s[] = {0.05, 0.1, 0.5};
  mbg__contact_damping d;
  for (int i = 0; i < MBG_COUNT(page); i++) {
    assert_true(mbg__contact_damping_of(page[i][0], 0.05, &d));
    assert_close(d.u, page[i][1], 1e-11);
  }
  assert_close(d.u_e, -5.36956723082, 1e-11);
  for (int i = 0; i < MBG_COUNT(e); i++) {
    for (int k = 0; k < MBG_COUNT(s); k++) {
      assert_true(mbg__contact_damping_of(e[i], s[k], &d));
      const double in = lost(d.u, s[k], 1), out = lost(e[i] * d.u, s[k], -1);
      assert_true(fabs(in - out) <= 1e-10 * in);
    }
  }
  assert_true(mbg__contact_damping_of(1, 0.05, &d) && d.u == 0);
  assert_false(mbg__contact_damping_of(0, 0.05, &d));
  assert_false(mbg__contact_damping_of(1.0001, 0.05, &d));
  assert_false(mbg__contact_damping_of(NAN, 0.05, &d));
}

/* whatever the rate: the normal force is not negative, and friction takes power */
static void contacts_never_pull_and_never_drive(void **state) {
  (void)state;
  const mbg__force_type *type = find_type("contact");
  for (int o = 0; o < option_sample(type->keys, type->nkey, 0, (int[OPTIONS]){0}); o++) {
    for (int i = 0; i < FRAMES; i++) {
      input in;
      result force, measure, rest;
      if (!input_sample(type, i, o, &in) || in.opt[0] == ROAD) { /* the road of the case moves */
        continue;
      }
      v6_scale(in.v, i % 3 ? 1 : 100, in.v);
      evaluate(type, &in, false, &force);
      evaluate_kind(type, &in, true, false, &measure);
      assert_true(measure.f[1] >= 0);
      const double power = v6_dot(force.f, in.v);
      v6_zero(in.v);
      evaluate(type, &in, true, &rest);
      double stored = 0; /* power that goes into the elastic energy */
      input_sample(type, i, o, &in);
      v6_scale(in.v, i % 3 ? 1 : 100, in.v);
      stored = v6_dot(rest.energy_G, in.v);
      assert_true(power + stored <= 1e-12 * (fabs(power) + fabs(stored)));
    }
  }
}

static void singular_contacts_are_errors(void **state) {
  (void)state;
  input in = {
      .attr = {.1, .3, 1e4, 1.5, 2e-3, 1, 0, .4, .1, .3, .5, .05, .4, .02, 3, 0}, .nattr = 13, .opt = {SPHERE, 2}};
  result out;
  frame_identity(&in.G);
  evaluate(find_type("contact"), &in, true, &out);
  assert_int_equal(out.err, MBG_ERROR_INPUT); /* no direction */
  in.opt[0] = SOCKET;
  evaluate(find_type("contact"), &in, true, &out);
  assert_int_equal(out.err, MBG_OK); /* in the middle nothing touches */
  assert_true(out.f[2] == 0);

  /* a valley of radius 1/18 m */
  in.opt[0] = ROAD;
  in.attr[A_R_A] = 0;
  in.attr[in.nattr] = 0.02;
  in.attr[in.nattr + 1] = 30;
  in.G.x[0] = -M_PI / 60;
  in.G.x[2] = 0.075;
  evaluate(find_type("contact"), &in, true, &out);
  assert_int_equal(out.err, MBG_ERROR_INPUT);
  in.G.x[2] = 5; /* high above */
  evaluate(find_type("contact"), &in, true, &out);
  assert_int_equal(out.err, MBG_OK);
  assert_true(out.f[2] == 0);
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
      cmocka_unit_test(measures_agree_with_complex_step),
      cmocka_unit_test(contacts_are_those_of_the_page),
      cmocka_unit_test(restitution_is_met),
      cmocka_unit_test(contacts_never_pull_and_never_drive),
      cmocka_unit_test(singular_contacts_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
