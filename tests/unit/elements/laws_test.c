/* Force laws: every type of the list has a case here with its tension written down a second time. */
#include "unit/elements/elements.h"

#include "elements/lists.h"
/* ---------------------------------------------------------------------- cases */

static double linear(double q, double qd, const double *a, const double *fn) {
  (void)fn;
  return a[0] * (q - a[2]) + a[1] * qd + a[3];
}

static double function(double q, double qd, const double *a, const double *fn) {
  (void)q, (void)qd, (void)a;
  return fn[0];
}

static double minus_function(double q, double qd, const double *a, const double *fn) { return -function(q, qd, a, fn); }

static double friction(double q, double qd, const double *a, const double *fn) {
  (void)q, (void)fn;
  return a[0] * tanh(qd / a[1]) + a[2] * qd;
}

static double ramp(double d, double w) {
  const double s = d / w;
  return s <= 0 ? 0 : s < 1 ? w * (pow(s, 3) - pow(s, 4) / 2) : d - w / 2;
}

static double ramp_slope(double d, double w) {
  const double s = d / w;
  return s <= 0 ? 0 : s < 1 ? 3 * pow(s, 2) - 2 * pow(s, 3) : 1;
}

/* attributes: lower, upper, stiffness, width, damping */
static double stop(double q, double qd, const double *a, const double *fn) {
  (void)fn;
  const double up = q - a[1], low = a[0] - q, k = a[2], w = a[3], c = a[4];
  return k * ramp(up, w) - k * ramp(low, w) + c * qd * (ramp_slope(up, w) + ramp_slope(low, w));
}

/* inside, in the ramp, beyond it, at each border, one limit or both */
static void stop_sample(int i, support_rng *rng, double *attr, double *q, double *qd) {
  (void)qd;
  static const double depth[] = {-1, -1e-9, 0, 1e-9, 0.3, 0.9, 1 - 1e-9, 1, 1 + 1e-9, 3};
  const double w = attr[3], d = w * depth[i % MBG_COUNT(depth)];
  attr[0] = support_uniform(rng, -2, -1);
  attr[1] = support_uniform(rng, 1, 2);
  *q = i % 2 ? attr[1] + d : attr[0] - d;
  if (d == w && attr[2] == 0) {
    attr[2] = 1; /* 6 s (1 - s) at s = 1, all that damping alone leaves there, is rounding */
  }
  if (i % 6 == 4) {
    attr[i % 2 ? 0 : 1] = i % 2 ? -1e300 : 1e300; /* the other limit is absent */
  } else if (i % 6 == 5) {
    attr[i % 2 ? 0 : 1] = i % 2 ? -INFINITY : INFINITY;
  }
}

/* at rest, creeping, sliding; saturation has its own test, for the twin knows 1 - tanh^2 to 1e-16 of 1 only */
static void friction_sample(int i, support_rng *rng, double *attr, double *q, double *qd) {
  (void)q;
  static const double scales[] = {0, 1e-9, 1, 3};
  *qd = attr[1] * scales[i % MBG_COUNT(scales)] * support_uniform(rng, -1, 1);
}

/* attributes: stiffness, damping, rest, slack */
static double tendon(double q, double qd, const double *a, const double *fn) {
  const double T = a[0] * (q - a[2]) + a[1] * qd + fn[0];
  return a[3] > 0 ? (T > 0 ? (T + hypot(T, a[3])) / 2 : a[3] * a[3] / (2 * (hypot(T, a[3]) - T))) : T;
}

/* taut, at the border, slack; without stiffness; with the option and without it */
static void tendon_sample(int i, support_rng *rng, double *attr, double *q, double *qd) {
  (void)qd;
  attr[0] = i % 5 == 4 ? 0 : support_uniform(rng, 1, 20);
  attr[3] = i % 3 == 0 ? 0 : support_uniform(rng, 0.5, 3);
  *q = attr[2] + support_uniform(rng, -1, 1);
}

typedef struct {
  const char *key;
  const char *coord;
  double (*tension)(double q, double qd, const double *attr, const double *fn);
  void (*sample)(int i, support_rng *rng, double *attr, double *q, double *qd); /* NULL: any numbers */
  bool elastic;                                                                 /* has an energy */
} law_case;

static const law_case cases[] = {
    {"spring-damper", "distance", linear, NULL, true},
    {"torsion-spring-damper", "angle", linear, NULL, true},
    {"torsion-about-point", "polar", linear, NULL, true},
    {"nonlinear-spring", "distance", function, NULL, false},
    {"actuator", "angle", minus_function, NULL, false},
    {"expression", "distance", minus_function, NULL, false},
    {"friction", "angle", friction, friction_sample, false},
    {"stop", "angle", stop, stop_sample, true},
    {"elastic-tendon", "distance", tendon, tendon_sample, true},
};

static const law_case *find_case(const char *key) {
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    if (strcmp(cases[i].key, key) == 0) {
      return &cases[i];
    }
  }
  fail_msg("law '%s' has no test case", key);
  return NULL;
}

/* ---------------------------------------------------------------------- inputs */

enum { INPUTS = 300 };

typedef struct {
  double q, qd, attr[ATTRIBUTES], fn[MBG__LAW_FN];
  int nattr, nfn, opt[OPTIONS];
} input;

static input input_sample(const mbg__law_type *type, int i) {
  static const double scales[] = {1, 0, 1e-9, 30};
  const law_case *test = find_case(type->key);
  support_rng rng = support_rng_make((uint64_t)i + 1);
  input in = {.nattr = count_attributes(type->keys, type->nkey), .nfn = count_functions(type->keys, type->nkey)};
  in.q = support_uniform(&rng, -10, 10);
  in.qd = scales[i % MBG_COUNT(scales)] * support_normal(&rng);
  support_normals(&rng, in.fn, MBG__LAW_FN);
  attribute_sample(type->keys, type->nkey, i, &rng, in.attr);
  if (test->sample) {
    test->sample(i, &rng, in.attr, &in.q, &in.qd);
  }
  return in;
}

static mbg__law_out evaluate(const mbg__law_type *type, const input *in) {
  const mbg__law_in law = {.q = in->q, .qd = in->qd, .attr = in->attr, .opt = in->opt, .fn = in->fn};
  mbg__law_out out = {0};
  type->eval(&law, &out);
  return out;
}

/* the derivatives of tension and energy by number `k` of (q, qd, attributes, functions) */
static void twin_derivatives(const mbg__law_type *type, const input *in, int k, double *tau, double *energy) {
  double _Complex attr[ATTRIBUTES], fn[MBG__LAW_FN], t, e;
  vector_step(in->nattr, in->attr, k - 2, attr);
  vector_step(in->nfn, in->fn, k - 2 - in->nattr, fn);
  assert_int_equal(twin_law(type->key, twin_step(in->q, k == 0), twin_step(in->qd, k == 1), attr, in->opt, fn, &t, &e),
                   0);
  *tau = twin_derivative(t);
  *energy = twin_derivative(e);
}

/* ---------------------------------------------------------------------- tests */

static void every_type_is_listed_and_fits(void **state) {
  (void)state;
  int count;
  const mbg__law_type *const *types = mbg__law_types(&count);
  assert_int_equal(count, MBG_COUNT(cases));
  for (int i = 0; i < count; i++) {
    assert_string_equal(types[i]->coord, find_case(types[i]->key)->coord);
    assert_true(count_attributes(types[i]->keys, types[i]->nkey) <= MBG__LAW_ATTR);
    assert_true(count_functions(types[i]->keys, types[i]->nkey) <= MBG__LAW_FN);
  }
}

static void tensions_are_as_defined(void **state) {
  (void)state;
  int count;
  const mbg__law_type *const *types = mbg__law_types(&count);
  for (int n = 0; n < count; n++) {
    for (int i = 0; i < INPUTS; i++) {
      const input in = input_sample(types[n], i);
      const double tau = find_case(types[n]->key)->tension(in.q, in.qd, in.attr, in.fn);
      assert_close(evaluate(types[n], &in).tau, tau, 1e-14 * fmax(1, fabs(tau))); /* rounding */
    }
  }
}

static void derivatives_agree_with_complex_step(void **state) {
  (void)state;
  static report r;
  int count;
  const mbg__law_type *const *types = mbg__law_types(&count);
  for (int n = 0; n < count; n++) {
    const mbg__law_type *type = types[n];
    for (int i = 0; i < INPUTS; i++) {
      const input in = input_sample(type, i);
      const mbg__law_out out = evaluate(type, &in);
      double tau[2 + MBG__LAW_ATTR + MBG__LAW_FN], energy[2 + MBG__LAW_ATTR + MBG__LAW_FN];
      for (int k = 0; k < 2 + in.nattr + in.nfn; k++) {
        twin_derivatives(type, &in, k, &tau[k], &energy[k]);
      }
      report_compare(&r, type->key, "tau_q", 1, &out.tau_q, tau);
      report_compare(&r, type->key, "tau_qd", 1, &out.tau_qd, tau + 1);
      report_compare(&r, type->key, "tau_a", in.nattr, out.tau_a, tau + 2);
      report_compare(&r, type->key, "tau_fn", in.nfn, out.tau_fn, tau + 2 + in.nattr);
      report_compare(&r, type->key, "energy_q", 1, &out.energy_q, energy);
      report_compare(&r, type->key, "energy_a", in.nattr, out.energy_a, energy + 2);
      assert_true(energy[1] == 0);
    }
  }
  report_assert(&r, 200, TOLERANCE);
}

/* at rest an elastic law pulls with the slope of its energy, others store none */
static void tension_at_rest_is_the_slope_of_the_energy(void **state) {
  (void)state;
  int count;
  const mbg__law_type *const *types = mbg__law_types(&count);
  for (int n = 0; n < count; n++) {
    for (int i = 0; i < INPUTS; i++) {
      input in = input_sample(types[n], i);
      in.qd = 0;
      const mbg__law_out out = evaluate(types[n], &in);
      const bool elastic = find_case(types[n]->key)->elastic;
      assert_close(out.energy_q, elastic ? out.tau : 0, 1e-14 * fmax(1, fabs(out.tau)));
      assert_true(elastic || out.energy == 0);
    }
  }
}

/* friction and damping never feed energy in: rate times the rate-dependent part of the tension */
static void dissipation_is_not_negative(void **state) {
  (void)state;
  int count;
  const mbg__law_type *const *types = mbg__law_types(&count);
  for (int n = 0; n < count; n++) {
    for (int i = 0; i < INPUTS; i++) {
      input in = input_sample(types[n], i);
      const double moving = evaluate(types[n], &in).tau, qd = in.qd;
      in.qd = 0;
      assert_true((moving - evaluate(types[n], &in).tau) * qd >= -1e-13 * fabs(moving * qd));
    }
  }
}

/* the slope of tanh is 1/cosh^2 to all digits, however fast the motion */
static void saturated_friction_keeps_its_slope(void **state) {
  (void)state;
  int count;
  const mbg__law_type *const *types = mbg__law_types(&count);
  for (int n = 0; n < count; n++) {
    for (int i = -2000; strcmp(types[n]->key, "friction") == 0 && i <= 2000; i++) {
      const long double x = i / 2.0L, slope = 1 / (coshl(x) * coshl(x));
      const input in = {.qd = 2 * i / 2.0, .attr = {3, 2, 0}, .nattr = 3};
      const mbg__law_out out = evaluate(types[n], &in);
      assert_close(out.tau_qd, (double)(1.5L * slope), (double)(1e-12L * slope) + 1e-300); /* exp(-2000 x 1e-16) */
      assert_close(out.tau_a[1], (double)(-1.5L * slope * x), (double)(1e-12L * slope * fabsl(x)) + 1e-300);
    }
  }
}

/* value, slope and curvature of the stop's force have no jump where its pieces meet */
static void stops_are_smooth(void **state) {
  (void)state;
  int count;
  const mbg__law_type *const *types = mbg__law_types(&count);
  for (int n = 0; n < count; n++) {
    if (strcmp(types[n]->key, "stop") != 0) {
      continue;
    }
    for (int k = 0; k < 4; k++) {
      /* lower -1, upper 1, stiffness 5, width 0.25, damping 2 */
      input left = {.qd = 0.7, .attr = {-1, 1, 5, 0.25, 2}, .nattr = 5}, right = left;
      const double border = (k % 2 ? -1 : 1) * (k < 2 ? 1 : 1.25), h = 1e-10;
      left.q = border - h;
      right.q = border + h;
      const mbg__law_out a = evaluate(types[n], &left), b = evaluate(types[n], &right);
      assert_close(a.tau, b.tau, 1e-8); /* h times the largest slope, 5 + 0.7 * 2 * 24 */
      assert_close(a.tau_q, b.tau_q, 1e-7);
      assert_close(a.tau_qd, b.tau_qd, 1e-8);
      assert_close(a.energy, b.energy, 1e-8);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_is_listed_and_fits),
      cmocka_unit_test(tensions_are_as_defined),
      cmocka_unit_test(derivatives_agree_with_complex_step),
      cmocka_unit_test(tension_at_rest_is_the_slope_of_the_energy),
      cmocka_unit_test(dissipation_is_not_negative),
      cmocka_unit_test(saturated_friction_keeps_its_slope),
      cmocka_unit_test(stops_are_smooth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
