/* Tables and the spline basis: planted functions, continuity, complex step, the transpose against the matrix. */
#include "support/support.h"
#include "twin/twin_expr.h"

enum { POINTS = 9 };

typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
} bench;

static void bench_open(bench *b) {
  assert_int_equal(mbg_context_create(NULL, &b->ctx), MBG_OK);
  mbg__arena_init(&b->arena, mbg__context_allocator(b->ctx));
}

static void bench_close(bench *b) {
  mbg__arena_destroy(&b->arena);
  mbg_context_destroy(b->ctx);
}

static mbg__table *make(bench *b, int n, const double *x, const double *y, mbg__interpolation interpolation,
                        mbg__outside outside) {
  mbg__table *table = NULL;
  assert_int_equal(mbg__table_create(b->ctx, &b->arena, NULL, "k", n, x, y, interpolation, outside, &table), MBG_OK);
  return table;
}

static mbg__spline *make_spline(bench *b, int n, const double *x, mbg__interpolation interpolation,
                                mbg__outside outside) {
  mbg__spline *s = NULL;
  assert_int_equal(mbg__spline_create(b->ctx, &b->arena, NULL, "u", n, x, interpolation, outside, &s), MBG_OK);
  return s;
}

/* n random points, distances of different sizes */
static void random_points(support_rng *rng, int n, double *x, double *y) {
  double at = support_uniform(rng, -3, 3);
  for (int i = 0; i < n; i++) {
    x[i] = at;
    y[i] = support_normal(rng);
    at += support_index(rng, 4) ? support_uniform(rng, 0.2, 1) : support_uniform(rng, 0.01, 3);
  }
}

/* ---------------------------------------------------------------------- values */

/* through its points; between them the straight line */
static void test_linear(void **state) {
  const double x[3] = {0, 1, 3}, y[3] = {2, 5, 1};
  double d[4];
  bench b;
  (void)state;
  bench_open(&b);
  mbg__table *table = make(&b, 3, x, y, MBG__LINEAR, MBG__OUTSIDE_ERROR);
  assert_true(mbg__table_at(table, 0.5, 3, d));
  assert_true(d[0] == 3.5 && d[1] == 3 && d[2] == 0 && d[3] == 0);
  /* at a knot the right interval counts, at the last one the last */
  assert_true(mbg__table_at(table, 1, 3, d) && d[0] == 5 && d[1] == -2);
  assert_true(mbg__table_at(table, 3, 3, d) && d[0] == 1 && d[1] == -2);
  assert_true(mbg__table_at(table, 0, 3, d) && d[0] == 2 && d[1] == 3);
  assert_false(mbg__table_at(table, -1e-9, 3, d) || mbg__table_at(table, 3.0001, 3, d));
  assert_false(mbg__table_at(table, NAN, 0, d));
  assert_true(mbg__table_interpolation(table) == MBG__LINEAR && mbg__table_arguments(table) == 1);
  assert_string_equal(mbg__table_name(table), "k");
  assert_int_equal(mbg__table_knots(table, 0)->n, 3);
  assert_true(mbg__table_knots(table, 0)->x[2] == 3 && mbg__table_values(table)[1] == 5);
  bench_close(&b);
}

/* A natural spline planted as truncated powers: s(x) = sum_k c_k (x - x_k)_+^3 + a + b x with s'' = 0 at the right end
   is its own interpolant. 1e-13: rounding of the truncated powers. */
static double planted(const double *x, const double *c, int n, double at, int derivative) {
  double s = derivative == 0 ? 1 + 2 * at : derivative == 1 ? 2 : 0;
  for (int k = 0; k < n; k++) {
    const double u = at > x[k] ? at - x[k] : 0;
    const double powers[4] = {u * u * u, 3 * u * u, 6 * u, at > x[k] ? 6 : 0};
    s += c[k] * powers[derivative];
  }
  return s;
}

static void test_cubic_planted(void **state) {
  support_rng rng = support_rng_make(1);
  bench b;
  (void)state;
  bench_open(&b);
  for (int round = 0; round < 50; round++) {
    const int n = 3 + support_index(&rng, POINTS - 2);
    double x[POINTS], y[POINTS], c[POINTS] = {0}, moment = 0;
    random_points(&rng, n, x, y);
    for (int k = 0; k < n - 2; k++) {
      c[k] = support_normal(&rng);
      moment += c[k] * (x[n - 1] - x[k]);
    }
    c[n - 2] = -moment / (x[n - 1] - x[n - 2]);
    for (int k = 0; k < n; k++) {
      y[k] = planted(x, c, n, x[k], 0);
    }
    mbg__table *table = make(&b, n, x, y, MBG__CUBIC, MBG__OUTSIDE_ERROR);
    assert_int_equal(mbg__table_interpolation(table), MBG__CUBIC);
    for (int i = 0; i < 20; i++) {
      const double at = support_uniform(&rng, x[0], x[n - 1]);
      double d[4], scale = 1;
      assert_true(mbg__table_at(table, at, 3, d));
      for (int k = 0; k < n; k++) {
        scale = fmax(scale, fmax(fabs(y[k]), fabs(c[k]) / (x[1] - x[0])));
      }
      for (int k = 0; k < 4; k++) {
        const double hmin = k ? 0.01 : 1;
        assert_close(d[k], planted(x, c, n, at, k), 1e-13 * scale / pow(hmin, k));
      }
    }
  }
  bench_close(&b);
}

/* two points: the straight line, whatever the kind */
static void test_two_points(void **state) {
  const double x[2] = {1, 3}, y[2] = {4, 8};
  double d[4];
  bench b;
  (void)state;
  bench_open(&b);
  mbg__table *table = make(&b, 2, x, y, MBG__CUBIC, MBG__OUTSIDE_EXTEND);
  for (double at = -1; at < 6; at += 0.5) {
    assert_true(mbg__table_at(table, at, 3, d));
    assert_true(d[0] == 2 + 2 * at && d[1] == 2 && d[2] == 0 && d[3] == 0);
  }
  bench_close(&b);
}

/* C2 over the knots, and over the ends where it is extended; hold: flat outside */
static void test_continuity(void **state) {
  support_rng rng = support_rng_make(2);
  double x[POINTS], y[POINTS], left[4], right[4];
  bench b;
  (void)state;
  bench_open(&b);
  random_points(&rng, POINTS, x, y);
  mbg__table *table = make(&b, POINTS, x, y, MBG__CUBIC, MBG__OUTSIDE_EXTEND);
  for (int i = 0; i < POINTS; i++) {
    assert_true(mbg__table_at(table, nextafter(x[i], -9), 3, left) && mbg__table_at(table, x[i], 3, right));
    assert_close(right[0], y[i], 1e-15);
    assert_close_array(left, right, 3, 1e-13);
    assert_true(mbg__table_at(table, nextafter(x[i], 99), 3, left));
    assert_close_array(left, right, 3, 1e-13);
  }
  table = make(&b, POINTS, x, y, MBG__CUBIC, MBG__OUTSIDE_HOLD);
  assert_true(mbg__table_at(table, x[0] - 5, 3, left));
  assert_true(left[0] == y[0] && left[1] == 0 && left[2] == 0 && left[3] == 0);
  assert_true(mbg__table_at(table, x[POINTS - 1] + 5, 3, left));
  assert_true(left[0] == y[POINTS - 1] && left[1] == 0 && left[2] == 0 && left[3] == 0);
  bench_close(&b);
}

/* PchipInterpolator of SciPy 1.x on the same points: value and slope */
static void test_monotone_reference(void **state) {
  static const double x[] = {0, 1, 3, 4, 6, 7.5}, y[] = {0, 2, 2.5, 2.4, 5, 9};
  static const double known[][3] = {{0, 0, 2.5833333333333335},
                                    {0.3, 0.7811013513513513, 2.5402927927927927},
                                    {1, 2, 0.4864864864864865},
                                    {2.2, 2.4174054054054057, 0.2043243243243243},
                                    {3, 2.5, 0},
                                    {3.4, 2.4648, -0.14400000000000013},
                                    {4, 2.4, 0},
                                    {5.1, 3.410546908055329, 1.5884170056956874},
                                    {6.9, 7.1453815645705, 2.8810568406369876},
                                    {7.5, 9, 3.2523809523809515}};
  double d[4];
  bench b;
  (void)state;
  bench_open(&b);
  mbg__table *table = make(&b, 6, x, y, MBG__MONOTONE, MBG__OUTSIDE_ERROR);
  for (int i = 0; i < MBG_COUNT(known); i++) {
    assert_true(mbg__table_at(table, known[i][0], 3, d));
    assert_close_array(d, known[i] + 1, 2, 1e-14);
  }
  bench_close(&b);
}

/* between two points it stays between their values, its slope has their sign, and it is C1 */
static void test_monotone(void **state) {
  support_rng rng = support_rng_make(11);
  bench b;
  (void)state;
  bench_open(&b);
  for (int round = 0; round < 300; round++) {
    const int n = 2 + support_index(&rng, POINTS - 1);
    double x[POINTS], y[POINTS], d[4], left[4];
    random_points(&rng, n, x, y);
    y[1] = support_index(&rng, 3) ? y[1] : y[0]; /* flat pieces, too */
    mbg__table *table = make(&b, n, x, y, MBG__MONOTONE, MBG__OUTSIDE_EXTEND);
    for (int i = 0; i < 50; i++) {
      const int k = support_index(&rng, n - 1);
      const double at = support_uniform(&rng, x[k], x[k + 1]), rounding = 1e-14 * (fabs(y[k]) + fabs(y[k + 1]));
      assert_true(mbg__table_at(table, at, 3, d));
      assert_true(d[0] >= fmin(y[k], y[k + 1]) - rounding && d[0] <= fmax(y[k], y[k + 1]) + rounding);
      assert_true(d[1] * (y[k + 1] - y[k]) >= -1e-12);
    }
    for (int i = 0; i < n; i++) {
      assert_true(mbg__table_at(table, nextafter(x[i], -9), 3, left) && mbg__table_at(table, x[i], 3, d));
      assert_close(d[0], y[i], 1e-15);
      assert_close_array(left, d, 2, 1e-12 * fmax(1, fabs(left[2]))); /* the slope changes by left[2] times an ulp */
    }
  }
  bench_close(&b);
}

/* a product of two splines is the table of two arguments of the products; linear: the values of the corners */
static void test_grid(void **state) {
  support_rng rng = support_rng_make(12);
  bench b;
  (void)state;
  bench_open(&b);
  for (int round = 0; round < 200; round++) {
    const int n = 2 + support_index(&rng, POINTS - 1), m = 2 + support_index(&rng, POINTS - 1);
    const mbg__interpolation kind = round % 2 ? MBG__CUBIC : MBG__LINEAR;
    const mbg__outside outside = round % 3 ? MBG__OUTSIDE_EXTEND : MBG__OUTSIDE_HOLD;
    double x[POINTS], f[POINTS], y[POINTS], g[POINTS], z[POINTS * POINTS], df[4], dg[4], d[4][4], scale = 1;
    random_points(&rng, n, x, f);
    random_points(&rng, m, y, g);
    for (int k = 0; k < n * m; k++) {
      z[k] = f[k / m] * g[k % m];
    }
    mbg__table *one = make(&b, n, x, f, kind, outside), *two = make(&b, m, y, g, kind, outside), *both = NULL;
    assert_int_equal(mbg__table_create_grid(b.ctx, &b.arena, NULL, "k", n, x, m, y, z, kind, outside, &both), MBG_OK);
    assert_true(mbg__table_arguments(both) == 2 && mbg__table_knots(both, 1)->n == m);
    const double u = support_uniform(&rng, x[0] - 0.5, x[n - 1] + 0.5), v = support_uniform(&rng, y[0], y[m - 1]);
    assert_true(mbg__table_at(one, u, 3, df) && mbg__table_at(two, v, 3, dg) && mbg__table_at_grid(both, u, v, 3, d));
    for (int k = 0; k < 4; k++) {
      scale = fmax(scale, fmax(fabs(df[k]), fabs(dg[k])));
    }
    for (int p = 0; p < 4; p++) {
      for (int q = 0; p + q < 4; q++) {
        assert_close(d[p][q], df[p] * dg[q], 1e-12 * scale * scale);
      }
    }
  }
  bench_close(&b);
}

static void test_grid_errors(void **state) {
  static const struct {
    int n, m;
    double x[2], y[3], z[6];
    const char *message;
  } cases[] = {
      {1, 2, {0}, {0, 1}, {0}, "table 'k' needs at least 2 points, not 1"},
      {2, 1, {0, 1}, {0}, {0}, "table 'k' needs at least 2 values of y, not 1"},
      {2, 3, {0, 1}, {0, 2, 2}, {0}, "table 'k': y must increase, but y[2] = 2 follows y[1] = 2"},
      {2, 3, {0, 1}, {0, 2, NAN}, {0}, "table 'k': y[2] is not a finite number"},
      {2, 3, {0, 1}, {0, 1, 2}, {0, 1, 2, 3, NAN, 5}, "table 'k': z[1][1] is not a finite number"},
      {2, 3, {0, 1}, {0, 1e-300, 2e-300}, {0, 1e10, 0}, "table 'k': the spline through its points overflows"},
  };
  bench b;
  (void)state;
  bench_open(&b);
  for (int i = 0; i < MBG_COUNT(cases); i++) {
    mbg__table *table = NULL;
    mbg_context_clear(b.ctx);
    assert_int_equal(mbg__table_create_grid(b.ctx, &b.arena, NULL, "k", cases[i].n, cases[i].x, cases[i].m, cases[i].y,
                                            cases[i].z, MBG__CUBIC, MBG__OUTSIDE_ERROR, &table),
                     MBG_ERROR_INPUT);
    assert_null(table);
    assert_string_equal(mbg_context_error(b.ctx), cases[i].message);
  }
  bench_close(&b);
}

/* ---------------------------------------------------------------------- derivatives */

/* d[k+1] is the complex step of d[k], inside and outside; 1e-12 of the largest */
static void test_derivatives(void **state) {
  support_rng rng = support_rng_make(3);
  bench b;
  double worst = 0;
  (void)state;
  bench_open(&b);
  for (int round = 0; round < support_rounds(400, 20000); round++) {
    const int n = 2 + support_index(&rng, POINTS - 1);
    const mbg__interpolation kind = (mbg__interpolation)support_index(&rng, 3);
    const mbg__outside outside = support_index(&rng, 2) ? MBG__OUTSIDE_HOLD : MBG__OUTSIDE_EXTEND;
    double x[POINTS], y[POINTS], d[4], step[3], scale = 1;
    double _Complex z[4];
    random_points(&rng, n, x, y);
    const double at = support_uniform(&rng, x[0] - 1, x[n - 1] + 1);
    mbg__table *table = make(&b, n, x, y, kind, outside);
    assert_true(mbg__table_at(table, at, 3, d));
    assert_true(twin_table(n, x, y, kind, outside, twin_step(at, 1), z));
    for (int k = 0; k < 3; k++) {
      step[k] = twin_derivative(z[k]);
      scale = fmax(scale, fabs(d[k + 1]));
    }
    for (int k = 0; k < 3; k++) {
      worst = fmax(worst, fabs(step[k] - d[k + 1]) / scale);
    }
    assert_true(worst <= 1e-12);
    mbg__arena_destroy(&b.arena);
  }
  print_message("worst error of table derivatives %.1e\n", worst);
  bench_close(&b);
}

/* the basis: weights times (y, m) is the table; outside as inside */
static void test_weights(void **state) {
  support_rng rng = support_rng_make(4);
  bench b;
  (void)state;
  bench_open(&b);
  for (int round = 0; round < 200; round++) {
    const mbg__interpolation kind = round % 2 ? MBG__CUBIC : MBG__LINEAR;
    double x[POINTS], y[POINTS], m[POINTS], d[4], sum[4];
    mbg__spline_weights w;
    random_points(&rng, POINTS, x, y);
    mbg__table *table = make(&b, POINTS, x, y, kind, MBG__OUTSIDE_EXTEND);
    mbg__spline *s = make_spline(&b, POINTS, x, kind, MBG__OUTSIDE_EXTEND);
    const double at = support_uniform(&rng, x[0] - 0.5, x[POINTS - 1] + 0.5);
    mbg__spline_curvature(s, y, m);
    assert_true(mbg__spline_weights_at(s, at, &w) && mbg__table_at(table, at, 3, d));
    assert_true(w.i >= 0 && w.i < POINTS - 1);
    for (int k = 0; k < 4; k++) {
      sum[k] = w.w[k][0] * y[w.i] + w.w[k][1] * y[w.i + 1] + w.w[k][2] * m[w.i] + w.w[k][3] * m[w.i + 1];
      assert_true(kind == MBG__CUBIC || (w.w[k][2] == 0 && w.w[k][3] == 0));
    }
    assert_close_array(sum, d, 4, 1e-15);
  }
  mbg__spline *s = make_spline(&b, 2, (double[]){0, 1}, MBG__CUBIC, MBG__OUTSIDE_ERROR);
  mbg__spline_weights w;
  assert_true(mbg__spline_weights_at(s, 1, &w));
  assert_false(mbg__spline_weights_at(s, 1.01, &w) || mbg__spline_weights_at(s, -0.01, &w));
  bench_close(&b);
}

/* columns of S by the forward solve, rows by the transposed one, and complex step of the forward one */
static void test_curvature(void **state) {
  support_rng rng = support_rng_make(5);
  bench b;
  double worst = 0;
  (void)state;
  bench_open(&b);
  for (int round = 0; round < 200; round++) {
    const int n = 2 + support_index(&rng, POINTS - 1);
    double x[POINTS], y[POINTS], S[POINTS][POINTS], largest = 1e-300;
    random_points(&rng, n, x, y);
    mbg__spline *s = make_spline(&b, n, x, MBG__CUBIC, MBG__OUTSIDE_ERROR);
    for (int j = 0; j < n; j++) {
      double m[POINTS], unit[POINTS] = {0};
      double _Complex z[POINTS], mz[POINTS];
      unit[j] = 1;
      mbg__spline_curvature(s, unit, m);
      for (int i = 0; i < n; i++) {
        S[i][j] = m[i];
        z[i] = twin_step(y[i], unit[i]);
        largest = fmax(largest, fabs(m[i]));
      }
      assert_int_equal(twin_spline(n, x, 0, z, mz), MBG_OK);
      for (int i = 0; i < n; i++) {
        worst = fmax(worst, fabs(twin_derivative(mz[i]) - m[i]) / largest);
      }
    }
    for (int i = 0; i < n; i++) {
      double m_bar[POINTS] = {0}, y_bar[POINTS] = {0};
      m_bar[i] = 1;
      mbg__spline_curvature_T(s, m_bar, y_bar);
      for (int j = 0; j < n; j++) {
        worst = fmax(worst, fabs(y_bar[j] - S[i][j]) / largest);
      }
    }
    assert_true(worst <= 1e-13);
  }
  print_message("worst error of the spline system and its transpose %.1e\n", worst);
  bench_close(&b);
}

/* ---------------------------------------------------------------------- errors */

typedef struct {
  int n;
  double x[3], y[3];
  const char *message;
} error_case;

static const error_case errors[] = {
    {1, {0}, {0}, "table 'k' needs at least 2 points, not 1"},
    {0, {0}, {0}, "table 'k' needs at least 2 points, not 0"},
    {3, {0, 1, 1}, {0}, "table 'k': x must increase, but x[2] = 1 follows x[1] = 1"},
    {3, {0, 2, 1.5}, {0}, "table 'k': x must increase, but x[2] = 1.5 follows x[1] = 2"},
    {3, {0, NAN, 1}, {0}, "table 'k': x[1] is not a finite number"},
    {3, {0, 1, INFINITY}, {0}, "table 'k': x[2] is not a finite number"},
    {3, {0, 1, 2}, {0, NAN, 0}, "table 'k': y[1] is not a finite number"},
    {3, {-1e308, 0, 1e308}, {0}, "table 'k': x spans a range that is too large"},
    {3, {0, 1e-300, 2e-300}, {0, 1e10, 0}, "table 'k': the spline through its points overflows"},
};

static void test_errors(void **state) {
  const mbg__where where = {"m.json", 7, 5, NULL};
  bench b;
  (void)state;
  bench_open(&b);
  for (int i = 0; i < MBG_COUNT(errors); i++) {
    const error_case *c = &errors[i];
    char expected[200];
    mbg__table *table = NULL;
    mbg__format(expected, sizeof(expected), "m.json:7:5: %s", c->message);
    mbg_context_clear(b.ctx);
    assert_int_equal(
        mbg__table_create(b.ctx, &b.arena, &where, "k", c->n, c->x, c->y, MBG__CUBIC, MBG__OUTSIDE_ERROR, &table),
        MBG_ERROR_INPUT);
    assert_null(table);
    assert_string_equal(mbg_context_error(b.ctx), expected);
  }
  bench_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_cubic_planted),
      cmocka_unit_test(test_two_points),
      cmocka_unit_test(test_continuity),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_weights),
      cmocka_unit_test(test_curvature),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_monotone_reference),
      cmocka_unit_test(test_monotone),
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_grid_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
