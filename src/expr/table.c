#include "expr/table.h"

#include <string.h>

struct mbg__table {
  const char *name;
  mbg__spline *spline;
  double *y; /* values at the knots              (n) */
  double *m; /* second derivatives at the knots  (n); a model is the same in both builds */
};

/* ---------------------------------------------------------------------- basis */

static int check_knots(mbg_context *ctx, const mbg__where *where, const char *name, int n, const double *x) {
  if (n < 2) {
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0, "%s needs at least 2 points, not %d", name, n);
  }
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0, "%s: x[%d] is not a finite number", name, i);
    }
    if (i > 0 && !(x[i] > x[i - 1])) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0,
                          "%s: x must increase, but x[%d] = %.17g follows x[%d] = %.17g", name, i, x[i], i - 1,
                          x[i - 1]);
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

int mbg__spline_create(mbg_context *ctx, mbg__arena *arena, const mbg__where *where, const char *name, int n,
                       const double *x, mbg__interpolation interpolation, mbg__outside outside, mbg__spline **out) {
  *out = NULL;
  const int err = check_knots(ctx, where, name, n, x);
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
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0, "%s: x spans a range that is too large", name);
  }
  *out = s;
  return MBG_OK;
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

/* m = S y, by way of scratch copies in the kernel's scalar */
static int fill_curvature(mbg_context *ctx, const mbg__where *where, mbg__table *table) {
  const int n = table->spline->n;
  real *y = mbg__alloc(ctx, 2 * (size_t)n, sizeof(*y));
  if (!y) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < n; i++) {
    y[i] = table->y[i];
  }
  mbg__spline_curvature(table->spline, y, y + n);
  for (int i = 0; i < n; i++) {
    table->m[i] = re(y[n + i]);
  }
  mbg__free(ctx, y);
  for (int i = 0; i < n; i++) {
    if (!isfinite(table->m[i])) {
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, 0, "table '%s': the spline through its points overflows",
                          table->name);
    }
  }
  return MBG_OK;
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
  table->name = mbg__arena_text(arena, name, strlen(name));
  table->y = MBG_TAKE(arena, double, n);
  table->m = MBG_TAKE(arena, double, n);
  MBG_TRY(mbg__arena_check(ctx, arena));
  memcpy(table->y, y, (size_t)n * sizeof(*y));
  MBG_TRY(fill_curvature(ctx, where, table));
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

const char *mbg__table_name(const mbg__table *table) { return table->name; }

bool mbg__table_is_linear(const mbg__table *table) { return table->spline->interpolation == MBG__LINEAR; }

const mbg__spline *mbg__table_spline(const mbg__table *table) { return table->spline; }

const double *mbg__table_values(const mbg__table *table) { return table->y; }
