/* Criteria: values and seeds against an independent evaluation in complex numbers (complex step). */
#include "criteria/criteria.h"
#include "support/support.h"

#include <complex.h>
#include <string.h>

enum { NODES = 23, SIGNALS = 3, SAMPLES = 9 };

/* complex step: the derivative is exact to rounding */
static const double step = 1e-30;

typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
  mbg_model model;
  mbg__criterion criteria[7];
  mbg__input inputs[3];
  double t[NODES], omega[NODES], attr[1];
  double time[SAMPLES], value[SAMPLES], weight[SAMPLES];
} bench;

static int resolve(void *user, const char *name, int index, const char **hint) {
  (void)user, (void)index, (void)hint;
  return !strcmp(name, "a") ? 0 : !strcmp(name, "b") ? 1 : 2;
}

static void setup(bench *b, uint64_t seed) {
  support_rng rng = support_rng_make(seed);
  memset(b, 0, sizeof(*b));
  assert_int_equal(mbg_context_create(NULL, &b->ctx), MBG_OK);
  mbg__arena_init(&b->arena, mbg__context_allocator(b->ctx));
  b->t[0] = 0.5;
  for (int n = 1; n < NODES; n++) {
    b->t[n] = b->t[n - 1] + support_uniform(&rng, 0.05, 0.2);
  }
  for (int n = 0; n < NODES; n++) {
    const double left = n > 0 ? b->t[n] - b->t[n - 1] : 0, right = n + 1 < NODES ? b->t[n + 1] - b->t[n] : 0;
    b->omega[n] = (left + right) / 2;
  }
  for (int i = 0; i < SAMPLES; i++) {
    /* the last one lies outside */
    b->time[i] = b->t[0] + (b->t[NODES - 1] - b->t[0]) * (i == SAMPLES - 1 ? 1.2 : support_uniform(&rng, 0, 1));
    b->value[i] = support_uniform(&rng, -1, 1);
    b->weight[i] = support_uniform(&rng, 0.1, 2);
  }
  b->time[0] = b->t[0];
  b->time[1] = b->t[NODES - 1];
  b->attr[0] = 0.7;
  b->criteria[0] = (mbg__criterion){.name = "end", .kind = MBG__TERMINAL, .signal = 1};
  b->criteria[1] = (mbg__criterion){.name = "int", .kind = MBG__INTEGRAL, .signal = 0};
  b->criteria[2] = (mbg__criterion){.name = "fit",
                                    .kind = MBG__LEAST_SQUARES,
                                    .signal = 2,
                                    .nsample = SAMPLES,
                                    .time = b->time,
                                    .value = b->value,
                                    .weight = b->weight};
  b->criteria[3] = (mbg__criterion){.name = "max", .kind = MBG__SMOOTH_MAXIMUM, .signal = 0, .sharpness = 8};
  b->criteria[4] = (mbg__criterion){.name = "path", .kind = MBG__PATH, .signal = 1};
  b->criteria[5] = (mbg__criterion){.name = "coarse", .kind = MBG__PATH, .signal = 2, .every = 0.13};
  mbg__expr *expr;
  const mbg__scope scope = {.resolve = resolve, .t_input = -1};
  assert_int_equal(mbg__expr_compile(b->ctx, &b->arena, "a^2*sin(b) + c*a", NULL, &scope, &expr), MBG_OK);
  b->inputs[0] = (mbg__input){MBG__ROLE_SIGNAL, 1};
  b->inputs[1] = (mbg__input){MBG__ROLE_SIGNAL, 3};
  b->inputs[2] = (mbg__input){MBG__ROLE_ATTR, 0};
  b->criteria[6] = (mbg__criterion){
      .name = "all", .kind = MBG__COMBINATION, .signal = -1, .expr = expr, .ninput = 3, .input = b->inputs};
  for (int k = 0; k < 7; k++) {
    b->criteria[k].event = -1;
  }
  b->model.ncriterion = 7;
  b->model.criteria = b->criteria;
  b->model.nsignal = SIGNALS;
  b->model.na = 1;
}

static void teardown(bench *b) {
  mbg__arena_destroy(&b->arena);
  mbg_context_destroy(b->ctx);
}

/* ---------------------------------------------------------------------- independent evaluation */

static double _Complex interpolate(const bench *b, const double _Complex (*y)[SIGNALS], int s, double t) {
  int n = 0;
  while (n < NODES - 2 && b->t[n + 1] <= t) {
    n++;
  }
  const double x = (t - b->t[n]) / (b->t[n + 1] - b->t[n]);
  return (1 - x) * y[n][s] + x * y[n + 1][s];
}

static void reference(const bench *b, const double _Complex (*y)[SIGNALS], double _Complex attr, double _Complex *psi) {
  double _Complex sum = 0;
  double T = 0;
  psi[0] = y[NODES - 1][1];
  psi[1] = psi[2] = 0;
  psi[4] = y[0][1];
  psi[5] = y[0][2];
  for (int n = 0; n < NODES; n++) {
    psi[1] += b->omega[n] * y[n][0];
    sum += b->omega[n] * cexp(8 * y[n][0]);
    T += b->omega[n];
    psi[4] = creal(y[n][1]) > creal(psi[4]) ? y[n][1] : psi[4];
  }
  for (int i = 0; i < SAMPLES - 1; i++) {
    const double _Complex r = interpolate(b, y, 2, b->time[i]) - b->value[i];
    psi[2] += 0.5 * b->weight[i] * r * r;
  }
  psi[3] = clog(sum / T) / 8;
  for (double t = b->t[0]; t <= b->t[NODES - 1]; t += 0.13) {
    const double _Complex x = interpolate(b, y, 2, t);
    psi[5] = creal(x) > creal(psi[5]) ? x : psi[5];
  }
  psi[6] = psi[1] * psi[1] * csin(psi[3]) + attr * psi[1];
}

/* ---------------------------------------------------------------------- tests */

static void values_and_seeds(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    bench b;
    mbg__criteria *c;
    const int *used;
    setup(&b, seed);
    assert_int_equal(mbg__criteria_create(b.ctx, &b.arena, &b.model, NODES, b.t, NULL, &c), MBG_OK);
    assert_int_equal(mbg__criteria_signals(c, &used), SIGNALS);
    support_rng rng = support_rng_make(1000 + seed);
    double y[NODES][SIGNALS], psi[7];
    double _Complex z[NODES][SIGNALS], expected[7];
    double dy[NODES][SIGNALS], da = support_uniform(&rng, -1, 1);
    for (int n = 0; n < NODES; n++) {
      for (int i = 0; i < SIGNALS; i++) {
        y[n][i] = support_uniform(&rng, -1, 1);
        dy[n][i] = support_uniform(&rng, -1, 1);
        z[n][used[i]] = y[n][i] + _Complex_I * step * dy[n][i];
      }
    }
    assert_int_equal(mbg__criteria_values(b.ctx, c, b.omega, SIGNALS, &y[0][0], b.attr, psi), MBG_OK);
    reference(&b, (const double _Complex(*)[SIGNALS])z, b.attr[0] + _Complex_I * step * da, expected);
    for (int k = 0; k < 7; k++) {
      const double two = 2;
      double ga[1] = {0}, d = 0, size = 0;
      mbg__seeds seeds;
      assert_int_equal(mbg__criteria_seeds(b.ctx, &b.arena, c, k, 1, &two, &seeds, ga), MBG_OK);
      for (int n = 0; n < NODES; n++) {
        for (int i = 0; i < SIGNALS; i++) {
          const double total = b.omega[n] * mbg__seeds_density(&seeds, i, y[n]) + mbg__seeds_point(&seeds, n, i);
          d += total * dy[n][i] / 2;
          size += fabs(total);
        }
      }
      d += ga[0] * da / 2;
      /* rounding of sums of 23 terms */
      assert_close(psi[k], creal(expected[k]), 1e-13 * (1 + fabs(psi[k])));
      assert_close(d, cimag(expected[k]) / step, 1e-13 * (1 + size));
      assert_true(size > 0);
    }
    teardown(&b);
  }
}

static void path_points(void **state) {
  (void)state;
  bench b;
  mbg__criteria *c;
  setup(&b, 5);
  assert_int_equal(mbg__criteria_create(b.ctx, &b.arena, &b.model, NODES, b.t, NULL, &c), MBG_OK);
  assert_int_equal(mbg__criteria_path(c, 4), NODES);
  assert_close(mbg__criteria_path_time(c, 5, 3), b.t[0] + 3 * 0.13, 1e-14);
  teardown(&b);
}

static void samples_outside(void **state) {
  (void)state;
  bench b;
  mbg__criteria *c;
  setup(&b, 7);
  assert_int_equal(mbg__criteria_create(b.ctx, &b.arena, &b.model, NODES, b.t, NULL, &c), MBG_OK);
  assert_int_equal(mbg_context_message_count(b.ctx), 0);
  mbg__criteria_warn(b.ctx, c);
  assert_int_equal(mbg_context_message_count(b.ctx), 1);
  assert_string_equal(mbg_context_message(b.ctx, 0),
                      "criterion 'fit': 1 of 9 samples lie outside the run and are left out");
  for (int i = 0; i < SAMPLES; i++) {
    b.time[i] = 99;
  }
  assert_int_equal(mbg__criteria_create(b.ctx, &b.arena, &b.model, NODES, b.t, NULL, &c), MBG_ERROR_INPUT);
  assert_non_null(strstr(mbg_context_error(b.ctx), "no sample lies between"));
  teardown(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_and_seeds),
      cmocka_unit_test(path_points),
      cmocka_unit_test(samples_outside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
