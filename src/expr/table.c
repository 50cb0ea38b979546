#include "expr/table.h"

#include <string.h>

/* a model is the same in both builds, so that the data are plain numbers */
struct mbg__table {
  const char *name;
  mbg__spline *spline;
  mbg__spline *second; /* of two arguments, else NULL */
  double *y;           /* values at the knots                                      (n, or n x m of two arguments) */
  double *m;           /* second derivatives (monotone: slopes) at the knots       (the same; by x) */
  double *m2, *m12;    /* of two arguments: second derivatives by y, and of these by x  (n x m each) */
};

/* ---------------------------------------------------------------------- basis */

/* letter: of the argument */
static int check_knots(mbg_context *ctx, const mbg__where *where, const char *name, char letter, int n,
                       const double *x) {
  if (n < 2) {
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0, "%s needs at least 2 %s, not %d", name,
                        letter == 'x' ? "points" : "values of y", n);
  }
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0, "%s: %c[%d] is not a finite number", name, letter, i);
    }
    if (i > 0 && !(x[i] > x[i - 1])) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0,
                          "%s: %c must increase, but %c[%d] = %.17g follows %c[%d] = %.17g", name, letter, letter, i,
                          x[i], letter, i - 1, x[i - 1]);
    }
  }
  return MBG_OK;
}

/* L D L^T of the spline system, rows 1..n-2:  h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1} = right side */
static bool factor(int n, const double *x, double *pivot, double *lower) {
  double previous = 0; /* lower_{i-1} h_{i-1} */
  for (int i = 1; i < n - 1; i++) {
    pivot[i] = 2 * (x[i + 1] - x[i - 1]) - previous;
    lower[i] = (x[i + 1] - x[i]) / pivot[i];
    previous = lower[i] * (x[i + 1] - x[i]);
    if (!isfinite(pivot[i]) || !isfinite(previous)) {
      return false;
    }
  }
  return true;
}

static int create(mbg_context *ctx, mbg__arena *arena, const mbg__where *where, const char *name, char letter, int n,
                  const double *x, mbg__interpolation interpolation, mbg__outside outside, mbg__spline **out) {
  *out = NULL;
  const int err = check_knots(ctx, where, name, letter, n, x);
  if (err < 0) {
    return err;
  }
  const bool cubic = interpolation == MBG__CUBIC;
  mbg__spline *s = MBG_TAKE(arena, mbg__spline, 1);
  double *knots = MBG_TAKE(arena, double, n);
  double *factors = MBG_TAKE(arena, double, cubic ? 2 * (size_t)n : 0);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  memcpy(knots, x, (size_t)n * sizeof(*x));
  *s = (mbg__spline){n, knots, interpolation, outside, cubic ? factors : NULL, cubic ? factors + n : NULL};
  if (!isfinite(x[n - 1] - x[0]) || (cubic && !factor(n, knots, factors, factors + n))) {
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0, "%s: %c spans a range that is too large", name, letter);
  }
  *out = s;
  return MBG_OK;
}

int mbg__spline_create(mbg_context *ctx, mbg__arena *arena, const mbg__where *where, const char *name, int n,
                       const double *x, mbg__interpolation interpolation, mbg__outside outside, mbg__spline **out) {
  return create(ctx, arena, where, name, 'x', n, x, interpolation, outside, out);
}

/* interval i with x_i <= x < x_{i+1}; the first or last one outside */
static int find_interval(const mbg__spline *s, double x) {
  int low = 0, high = s->n - 1;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (x < s->x[middle]) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return low;
}

static void set_weights(real w[4], real y0, real y1, real m0, real m1) {
  w[0] = y0;
  w[1] = y1;
  w[2] = m0;
  w[3] = m1;
}

static void linear_weights(real A, real B, double h, real w[4][4]) {
  set_weights(w[0], A, B, 0, 0);
  set_weights(w[1], -1 / h, 1 / h, 0, 0);
  set_weights(w[2], 0, 0, 0, 0);
  set_weights(w[3], 0, 0, 0, 0);
}

/* the formula of the header and its derivatives, A' = -1/h and B' = 1/h */
static void cubic_weights(real A, real B, double h, real w[4][4]) {
  const double c = h * h / 6;
  set_weights(w[0], A, B, c * A * (A * A - 1), c * B * (B * B - 1));
  set_weights(w[1], -1 / h, 1 / h, h / 6 * (1 - 3 * A * A), h / 6 * (3 * B * B - 1));
  set_weights(w[2], 0, 0, A, B);
  set_weights(w[3], 0, 0, -1 / h, 1 / h);
}

/* the cubic of given ends and slopes */
static void monotone_weights(real A, real B, double h, real w[4][4]) {
  set_weights(w[0], A * A * (1 + 2 * B), B * B * (1 + 2 * A), h * B * A * A, -h * A * B * B);
  set_weights(w[1], -6 * A * B / h, 6 * A * B / h, A * (A - 2 * B), B * (B - 2 * A));
  set_weights(w[2], 6 * (B - A) / (h * h), 6 * (A - B) / (h * h), (2 * B - 4 * A) / h, (4 * B - 2 * A) / h);
  set_weights(w[3], 12 / (h * h * h), -12 / (h * h * h), 6 / (h * h), 6 / (h * h));
}

/* beyond an end with weights w: y = y_end + outward * y'_end, outward = 0 when held */
static void outside_weights(real outward, bool extend, real w[4][4]) {
  for (int k = 0; k < 4; k++) {
    w[0][k] += extend ? outward * w[1][k] : 0;
    w[1][k] = extend ? w[1][k] : 0;
    w[2][k] = w[3][k] = 0;
  }
}

bool mbg__spline_weights_at(const mbg__spline *s, real x, mbg__spline_weights *weights) {
  const bool below = re(x)<s->x[0], above = re(x)> s->x[s->n - 1];
  if (isnan(re(x)) || ((below || above) && s->outside == MBG__OUTSIDE_ERROR)) {
    return false;
  }
  const int i = find_interval(s, re(x));
  const double left = s->x[i], right = s->x[i + 1], h = right - left;
  const real inside = below ? left : above ? right : x;
  const real A = (right - inside) / h, B = (inside - left) / h;
  weights->i = i;
  if (s->interpolation == MBG__CUBIC) {
    cubic_weights(A, B, h, weights->w);
  } else if (s->interpolation == MBG__MONOTONE) {
    monotone_weights(A, B, h, weights->w);
  } else {
    linear_weights(A, B, h, weights->w);
  }
  if (below || above) {
    outside_weights(x - inside, s->outside == MBG__OUTSIDE_EXTEND, weights->w);
  }
  return true;
}

/* r := (L D L^T)^-1 r on the rows 1..n-2 */
static void solve(const mbg__spline *s, real *r) {
  for (int i = 2; i < s->n - 1; i++) {
    r[i] -= s->lower[i - 1] * r[i - 1];
  }
  for (int i = s->n - 2; i > 0; i--) {
    r[i] /= s->pivot[i];
    if (i < s->n - 2) {
      r[i] -= s->lower[i] * r[i + 1];
    }
  }
}

void mbg__spline_curvature(const mbg__spline *s, const real *y, real *m) {
  const double *x = s->x;
  m[0] = m[s->n - 1] = 0;
  for (int i = 1; i < s->n - 1; i++) {
    const real slope = (y[i + 1] - y[i]) / (x[i + 1] - x[i]), before = (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
    m[i] = s->interpolation == MBG__CUBIC ? 6 * (slope - before) : 0;
  }
  if (s->interpolation == MBG__CUBIC) {
    solve(s, m);
  }
}

void mbg__spline_curvature_T(const mbg__spline *s, real *m_bar, real *y_bar) {
  if (s->interpolation != MBG__CUBIC) {
    return;
  }
  solve(s, m_bar);
  for (int i = 1; i < s->n - 1; i++) {
    const real right = 6 * m_bar[i] / (s->x[i + 1] - s->x[i]), left = 6 * m_bar[i] / (s->x[i] - s->x[i - 1]);
    y_bar[i + 1] += right;
    y_bar[i] -= right + left;
    y_bar[i - 1] += left;
  }
}

/* ---------------------------------------------------------------------- tables */

/* slope at the end of two intervals of lengths h0, h1 with slopes d0, d1: of the parabola, kept from overshooting */
static double end_slope(double h0, double h1, double d0, double d1) {
  const double s = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
  if (!(s * d0 > 0)) {
    return 0;
  }
  return d0 * d1 <= 0 && fabs(s) > 3 * fabs(d0) ? 3 * d0 : s;
}

/* slopes of a monotone table: weighted harmonic means of the slopes on both sides, 0 at a peak (Fritsch, Butland) */
static void monotone_slopes(int n, const double *x, const double *y, double *s) {
  for (int i = 0; i < n; i++) {
    const int k = i == 0 ? 1 : i == n - 1 ? n - 2 : i;
    const double h0 = x[k] - x[k - 1], d0 = (y[k] - y[k - 1]) / h0;
    if (n == 2) {
      s[i] = (y[1] - y[0]) / (x[1] - x[0]);
      continue;
    }
    const double h1 = x[k + 1] - x[k], d1 = (y[k + 1] - y[k]) / h1, w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
    s[i] = i == 0        ? end_slope(h0, h1, d0, d1)
           : i == n - 1  ? end_slope(h1, h0, d1, d0)
           : d0 * d1 > 0 ? (w0 + w1) / (w0 / d0 + w1 / d1)
                         : 0;
  }
}

/* m = S y of n values in steps of `stride`, by way of scratch copies (2 n) in the kernel's scalar */
static void curvature(const mbg__spline *s, int stride, const double *y, double *m, real *scratch) {
  for (int i = 0; i < s->n; i++) {
    scratch[i] = y[(size_t)i * (size_t)stride];
  }
  mbg__spline_curvature(s, scratch, scratch + s->n);
  for (int i = 0; i < s->n; i++) {
    m[(size_t)i * (size_t)stride] = re(scratch[s->n + i]);
  }
}

/* rows of a table of two arguments run along y, columns along x */
static void fill(mbg__table *table, real *scratch) {
  const mbg__spline *s = table->spline, *t = table->second;
  const int m = t ? t->n : 1;
  if (s->interpolation == MBG__MONOTONE) {
    monotone_slopes(s->n, s->x, table->y, table->m);
    return;
  }
  for (int i = 0; t && i < s->n; i++) {
    curvature(t, 1, table->y + (size_t)i * (size_t)m, table->m2 + (size_t)i * (size_t)m, scratch);
  }
  for (int j = 0; j < m; j++) {
    curvature(s, m, table->y + j, table->m + j, scratch);
    if (t) {
      curvature(s, m, table->m2 + j, table->m12 + j, scratch);
    }
  }
}

static bool all_finite(size_t n, const double *x) {
  for (size_t i = 0; x && i < n; i++) {
    if (!isfinite(x[i])) {
      return false;
    }
  }
  return true;
}

/* copies the values and fills the rest */
static int finish(mbg_context *ctx, mbg__arena *arena, const mbg__where *where, const char *name, const double *y,
                  mbg__table *table) {
  const int most = table->second && table->second->n > table->spline->n ? table->second->n : table->spline->n;
  const size_t n = (size_t)table->spline->n * (size_t)(table->second ? table->second->n : 1);
  int err = MBG_OK;
  real *scratch = NULL;
  table->name = mbg__arena_text(arena, name, strlen(name));
  table->y = MBG_TAKE(arena, double, n);
  table->m = MBG_TAKE(arena, double, n);
  table->m2 = table->second ? MBG_TAKE(arena, double, n) : NULL;
  table->m12 = table->second ? MBG_TAKE(arena, double, n) : NULL;
  MBG_TRY(mbg__arena_check(ctx, arena));
  memcpy(table->y, y, n * sizeof(*y));
  scratch = mbg__alloc(ctx, 2 * (size_t)most, sizeof(*scratch));
  if (!scratch) {
    return mbg__fail_memory(ctx);
  }
  fill(table, scratch);
  mbg__free(ctx, scratch);
  if (!all_finite(n, table->m) || !all_finite(n, table->m2) || !all_finite(n, table->m12)) {
    err = mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0, "table '%s': the spline through its points overflows", name);
  }
done:
  return err;
}

int mbg__table_create(mbg_context *ctx, mbg__arena *arena, const mbg__where *where, const char *name, int n,
                      const double *x, const double *y, mbg__interpolation interpolation, mbg__outside outside,
                      mbg__table **out) {
  int err = MBG_OK;
  mbg__table *table = MBG_TAKE(arena, mbg__table, 1);
  *out = NULL;
  char label[300];
  mbg__format(label, sizeof(label), "table '%s'", name);
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(mbg__spline_create(ctx, arena, where, label, n, x, interpolation, outside, &table->spline));
  for (int i = 0; i < n; i++) {
    if (!isfinite(y[i])) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0, "%s: y[%d] is not a finite number", label, i);
    }
  }
  table->second = NULL;
  MBG_TRY(finish(ctx, arena, where, name, y, table));
  *out = table;
done:
  return err;
}

int mbg__table_create_grid(mbg_context *ctx, mbg__arena *arena, const mbg__where *where, const char *name, int n,
                           const double *x, int m, const double *y, const double *z, mbg__interpolation interpolation,
                           mbg__outside outside, mbg__table **out) {
  int err = MBG_OK;
  mbg__table *table = MBG_TAKE(arena, mbg__table, 1);
  *out = NULL;
  char label[300];
  mbg__format(label, sizeof(label), "table '%s'", name);
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(create(ctx, arena, where, label, 'x', n, x, interpolation, outside, &table->spline));
  MBG_TRY(create(ctx, arena, where, label, 'y', m, y, interpolation, outside, &table->second));
  for (int k = 0; k < n * m; k++) {
    if (!isfinite(z[k])) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0, "%s: z[%d][%d] is not a finite number", label, k / m, k % m);
    }
  }
  MBG_TRY(finish(ctx, arena, where, name, z, table));
  *out = table;
done:
  return err;
}

bool mbg__table_at(const mbg__table *table, real x, int order, real *d) {
  mbg__spline_weights weights;
  if (!mbg__spline_weights_at(table->spline, x, &weights)) {
    return false;
  }
  const double *y = table->y + weights.i, *m = table->m + weights.i;
  for (int k = 0; k <= order; k++) {
    const real *w = weights.w[k];
    d[k] = w[0] * y[0] + w[1] * y[1] + w[2] * m[0] + w[3] * m[1];
  }
  return true;
}

/* sum over the four corners of the cell, along y first: value and curvature of both rows, then along x */
bool mbg__table_at_grid(const mbg__table *table, real x, real y, int order, real d[4][4]) {
  const int m = table->second->n;
  mbg__spline_weights u, v;
  if (!mbg__spline_weights_at(table->spline, x, &u) || !mbg__spline_weights_at(table->second, y, &v)) {
    return false;
  }
  const size_t at = (size_t)u.i * (size_t)m + (size_t)v.i;
  for (int q = 0; q <= order; q++) {
    const real *w = v.w[q];
    real row[4];
    for (int k = 0; k < 2; k++) {
      const size_t a = at + (size_t)k * (size_t)m;
      row[k] = w[0] * table->y[a] + w[1] * table->y[a + 1] + w[2] * table->m2[a] + w[3] * table->m2[a + 1];
      row[2 + k] = w[0] * table->m[a] + w[1] * table->m[a + 1] + w[2] * table->m12[a] + w[3] * table->m12[a + 1];
    }
    for (int p = 0; p + q <= order; p++) {
      d[p][q] = u.w[p][0] * row[0] + u.w[p][1] * row[1] + u.w[p][2] * row[2] + u.w[p][3] * row[3];
    }
  }
  return true;
}

const char *mbg__table_name(const mbg__table *table) { return table->name; }

int mbg__table_arguments(const mbg__table *table) { return table->second ? 2 : 1; }

mbg__interpolation mbg__table_interpolation(const mbg__table *table) { return table->spline->interpolation; }

const mbg__spline *mbg__table_knots(const mbg__table *table, int argument) {
  return argument == 0 ? table->spline : table->second;
}

const double *mbg__table_values(const mbg__table *table) { return table->y; }
