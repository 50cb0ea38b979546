/* operations: value and derivatives of every operator and function. */
#include "expr/jet.h"
#include "expr/program.h"

/* ---------------------------------------------------------------------- one argument */

static void set(int order, real *d, real d0, real d1, real d2, real d3) {
  const real all[4] = {d0, d1, d2, d3};
  for (int k = 0; k <= order; k++) {
    d[k] = all[k];
  }
}

static const char *derive_negate(real x, int order, real *d) {
  set(order, d, -x, -1, 0, 0);
  return NULL;
}

static const char *derive_sqrt(real x, int order, real *d) {
  if (re(x) < 0) {
    return "the argument must not be negative";
  }
  d[0] = x == 0 ? 0 : r_sqrt(x);
  if (order > 0) {
    const real d1 = 0.5 / d[0], d2 = -0.5 * d1 / x;
    set(order, d, d[0], d1, d2, -1.5 * d2 / x);
  }
  return NULL;
}

static const char *derive_exp(real x, int order, real *d) {
  const real e = r_exp(x);
  set(order, d, e, e, e, e);
  return NULL;
}

static const char *derive_log(real x, int order, real *d) {
  if (re(x) <= 0) {
    return "the argument must be positive";
  }
  const real i = 1 / x;
  set(order, d, r_log(x), i, -i * i, 2 * i * i * i);
  return NULL;
}

static const char *derive_sin(real x, int order, real *d) {
  const real s = r_sin(x), c = order > 0 ? r_cos(x) : 0;
  set(order, d, s, c, -s, -c);
  return NULL;
}

static const char *derive_cos(real x, int order, real *d) {
  const real c = r_cos(x), s = order > 0 ? r_sin(x) : 0;
  set(order, d, c, -s, -c, s);
  return NULL;
}

/* T' = 1 + T^2,  T'' = 2 T T',  T''' = 2 T'^2 + 4 T^2 T' */
static const char *derive_tan(real x, int order, real *d) {
  const real T = r_tan(x), d1 = 1 + T * T;
  set(order, d, T, d1, 2 * T * d1, 2 * d1 * d1 + 4 * T * T * d1);
  return NULL;
}

/* derivatives 1..3 of asin: r, x r^3, (1 + 2 x^2) r^5 with r = (1 - x^2)^-1/2; those of acos with the sign -1 */
static void derive_arc(real x, int order, double sign, real *d) {
  if (order > 0) {
    const real r = 1 / r_sqrt((1 - x) * (1 + x)), r3 = r * r * r;
    set(order, d, d[0], sign * r, sign * x * r3, sign * (1 + 2 * x * x) * r3 * r * r);
  }
}

static const char *derive_asin(real x, int order, real *d) {
  if (fabs(re(x)) > 1) {
    return "the argument must lie in [-1, 1]";
  }
  d[0] = r_asin(x);
  derive_arc(x, order, 1, d);
  return NULL;
}

static const char *derive_acos(real x, int order, real *d) {
  if (fabs(re(x)) > 1) {
    return "the argument must lie in [-1, 1]";
  }
  d[0] = r_acos(x);
  derive_arc(x, order, -1, d);
  return NULL;
}

static const char *derive_atan(real x, int order, real *d) {
  const real r = 1 / (1 + x * x);
  set(order, d, r_atan(x), r, -2 * x * r * r, (6 * x * x - 2) * r * r * r);
  return NULL;
}

static const char *derive_sinh(real x, int order, real *d) {
  const real s = r_sinh(x), c = order > 0 ? r_cosh(x) : 0;
  set(order, d, s, c, s, c);
  return NULL;
}

static const char *derive_cosh(real x, int order, real *d) {
  const real c = r_cosh(x), s = order > 0 ? r_sinh(x) : 0;
  set(order, d, c, s, c, s);
  return NULL;
}

/* T' = 1/cosh^2,  T'' = -2 T T',  T''' = (4 T^2 - 2 T') T'; 1/cosh^2 is 0 where cosh^2 would overflow */
static const char *derive_tanh(real x, int order, real *d) {
  const real T = r_tanh(x), c = fabs(re(x)) < 350 ? r_cosh(x) : 0;
  const real d1 = c == 0 ? 0 : 1 / (c * c);
  set(order, d, T, d1, -2 * T * d1, (4 * T * T - 2 * d1) * d1);
  return NULL;
}

static const char *derive_abs(real x, int order, real *d) {
  set(order, d, r_abs(x), r_where(re(x) < 0, -1, 1), 0, 0);
  return NULL;
}

static const char *derive_sign(real x, int order, real *d) {
  set(order, d, (re(x) > 0) - (re(x) < 0), 0, 0, 0);
  return NULL;
}

/* ---------------------------------------------------------------------- two arguments */

static const char *partial_add(mbg__depth depth, const real *a, const real *b, bool b_active, real *v, real *pa,
                               real *pb) {
  (void)b_active;
  *v = a[0] + b[0];
  if (depth.partials) {
    jet_constant(depth.order, 1, pa);
    jet_constant(depth.order, 1, pb);
  }
  return NULL;
}

static const char *partial_subtract(mbg__depth depth, const real *a, const real *b, bool b_active, real *v, real *pa,
                                    real *pb) {
  (void)b_active;
  *v = a[0] - b[0];
  if (depth.partials) {
    jet_constant(depth.order, 1, pa);
    jet_constant(depth.order, -1, pb);
  }
  return NULL;
}

static const char *partial_multiply(mbg__depth depth, const real *a, const real *b, bool b_active, real *v, real *pa,
                                    real *pb) {
  (void)b_active;
  *v = a[0] * b[0];
  if (depth.partials) {
    jet_copy(depth.order, b, pa);
    jet_copy(depth.order, a, pb);
  }
  return NULL;
}

/* (a/b)_a = 1/b,  (a/b)_b = -(a/b)/b */
static const char *partial_divide(mbg__depth depth, const real *a, const real *b, bool b_active, real *v, real *pa,
                                  real *pb) {
  (void)b_active;
  if (re(b[0]) == 0) {
    return "division by zero";
  }
  *v = a[0] / b[0];
  if (depth.partials) {
    real ratio[3];
    jet_reciprocal(depth.order, b, pa);
    jet_multiply(depth.order, a, pa, ratio);
    jet_multiply(depth.order, ratio, pa, pb);
    jet_scale(depth.order, -1, pb);
  }
  return NULL;
}

/* atan2(y, x):  d/dy = x/(x^2 + y^2),  d/dx = -y/(x^2 + y^2) */
static const char *partial_atan2(mbg__depth depth, const real *y, const real *x, bool b_active, real *v, real *py,
                                 real *px) {
  const int K = depth.order;
  (void)b_active;
  if (re(x[0]) == 0 && re(y[0]) == 0) {
    return "the angle is undefined at the origin";
  }
  *v = r_atan2(y[0], x[0]);
  if (depth.partials) {
    real xx[3], yy[3], r[3];
    jet_multiply(K, x, x, xx);
    jet_multiply(K, y, y, yy);
    for (int k = 0; k <= K; k++) {
      xx[k] += yy[k];
    }
    jet_reciprocal(K, xx, r);
    jet_multiply(K, x, r, py);
    jet_multiply(K, y, r, px);
    jet_scale(K, -1, px);
  }
  return NULL;
}

/* derivative of the chosen one, of the first in a tie */
static const char *partial_choose(mbg__depth depth, mbg__answers first, const real *a, const real *b, real *v, real *pa,
                                  real *pb) {
  *v = r_where(first, a[0], b[0]);
  if (depth.partials) {
    jet_constant(depth.order, r_where(first, 1, 0), pa);
    jet_constant(depth.order, r_where(first, 0, 1), pb);
  }
  return NULL;
}

static const char *partial_min(mbg__depth depth, const real *a, const real *b, bool b_active, real *v, real *pa,
                               real *pb) {
  (void)b_active;
  return partial_choose(depth, re(a[0]) <= re(b[0]), a, b, v, pa, pb);
}

static const char *partial_max(mbg__depth depth, const real *a, const real *b, bool b_active, real *v, real *pa,
                               real *pb) {
  (void)b_active;
  return partial_choose(depth, re(a[0]) >= re(b[0]), a, b, v, pa, pb);
}

/* What rounds the corner of max(a, b), from d = a - b and the width w:  s - |d| = w^2/(s + |d|),  s = sqrt(d^2 + w^2);
   by d: d/s - sign(d) = -sign(d) w^2/(s (s + |d|)), with sign(0) = 1 as max chooses the first in a tie; by w: w/s. */
static const char *partial_smooth(mbg__depth depth, const real *d, const real *w, bool b_active, real *v, real *pd,
                                  real *pw) {
  const int K = depth.order;
  const real sign = r_where(re(d[0]) < 0, -1, 1);
  real q[3], ww[3], s[3], r[3], far[3] = {0}, product[3] = {0}, ds[4] = {0};
  (void)b_active;
  jet_multiply(K, d, d, q);
  jet_multiply(K, w, w, ww);
  for (int k = 0; k <= K; k++) {
    q[k] += ww[k];
  }
  derive_sqrt(q[0], K, ds);
  *v = ds[0] == 0 ? 0 : ww[0] / (ds[0] + sign * d[0]);
  if (depth.partials) {
    jet_compose(K, ds, q, s);
    for (int k = 0; k <= K; k++) {
      far[k] = s[k] + sign * d[k];
    }
    jet_multiply(K, s, far, product);
    jet_reciprocal(K, product, r);
    jet_multiply(K, ww, r, pd);
    jet_scale(K, -sign, pd);
    jet_reciprocal(K, s, r);
    jet_multiply(K, w, r, pw);
  }
  return NULL;
}

static const char *partial_smooth_min(mbg__depth depth, const real *d, const real *w, bool b_active, real *v, real *pd,
                                      real *pw) {
  return partial_smooth(depth, d, w, b_active, v, pd, pw);
}

static const char *partial_smooth_max(mbg__depth depth, const real *d, const real *w, bool b_active, real *v, real *pd,
                                      real *pw) {
  return partial_smooth(depth, d, w, b_active, v, pd, pw);
}

/* ---------------------------------------------------------------------- powers */

/* x^c; small integer powers are products */
static real power_of(real x, real c) {
  const double n = re(c);
  if (c != n || n != floor(n) || fabs(n) > 4) {
    return r_pow(x, c);
  }
  const real y = n < 0 ? 1 / x : x;
  real r = 1;
  for (int k = 0; k < fabs(n); k++) {
    r *= y;
  }
  return r;
}

/* d[k] = c (c-1) .. (c-k+1) x^(c-k): exact zeros after the last power of an integer c, so x may be 0 or negative */
static void derive_power(real x, real c, int order, real *d) {
  real factor = 1;
  for (int k = 0; k <= order; k++) {
    d[k] = factor == 0 ? 0 : factor * power_of(x, c - k);
    factor *= c - k;
  }
}

/* jet of a^c with a varying exponent, a > 0, L = log a:  f' = f (c L)',  f'' = f ((c L)'^2 + (c L)'') */
static void jet_power(int K, const real *a, const real *c, const real *L, real *r) {
  real E[3] = {0};
  jet_multiply(K, c, L, E);
  const real f = r_pow(a[0], c[0]);
  const real d[3] = {f, f, f};
  jet_compose(K, d, E, r);
}

/* jet of (a^b)_b = a^b log a, from f = a^b. At a = 0 it is 0 as long as b exceeds the order (or a rests there). */
static void partial_exponent(int K, const real *a, const real *b, const real *f, real *pb) {
  bool rests = true;
  for (int k = 1; k <= K; k++) {
    rests = rests && a[k] == 0;
  }
  if (re(a[0]) == 0 && re(b[0]) > (rests ? 0 : K)) {
    jet_constant(K, 0, pb);
    return;
  }
  real dl[4] = {0}, L[3] = {0};
  if (derive_log(a[0], K, dl)) {
    jet_constant(K, INFINITY, pb);
    return;
  }
  jet_compose(K, dl, a, L);
  jet_multiply(K, f, L, pb);
}

/* a^b with a varying exponent */
static const char *partial_varying(int K, const real *a, const real *b, real *pa, real *pb) {
  if (re(a[0]) <= 0) {
    return "the exponent varies with time, so the base must be positive";
  }
  real dl[4] = {0}, L[3] = {0}, less[3], f[3];
  derive_log(a[0], K, dl);
  jet_compose(K, dl, a, L);
  jet_copy(K, b, less);
  less[0] -= 1;
  jet_power(K, a, less, L, f);
  jet_multiply(K, b, f, pa);
  jet_power(K, a, b, L, f);
  jet_multiply(K, f, L, pb);
  return NULL;
}

static const char *partial_power(mbg__depth depth, const real *a, const real *b, bool b_active, real *v, real *pa,
                                 real *pb) {
  const int K = depth.order;
  const mbg__answers below = re(a[0]) < 0, zero = re(a[0]) == 0, down = re(b[0]) < 0;
  const mbg__answers broken = re(b[0]) != floor(re(b[0]));
  if (r_some(below & broken)) {
    return "a negative base needs an integer exponent";
  }
  if (r_some(zero & down)) {
    return "zero cannot be raised to a negative power";
  }
  *v = power_of(a[0], b[0]);
  if (!depth.partials) {
    return NULL;
  }
  if ((K > 0 && b[1] != 0) || (K > 1 && b[2] != 0)) {
    return partial_varying(K, a, b, pa, pb);
  }
  real d[4] = {0}, f[3] = {0};
  derive_power(a[0], b[0], K + 1, d);
  jet_compose(K, d + 1, a, pa);
  jet_compose(K, d, a, f);
  if (b_active) {
    partial_exponent(K, a, b, f, pb);
  } else {
    jet_constant(K, 0, pb);
  }
  return NULL;
}

static const char *partial_pow(mbg__depth depth, const real *a, const real *b, bool b_active, real *v, real *pa,
                               real *pb) {
  return partial_power(depth, a, b, b_active, v, pa, pb);
}

/* ---------------------------------------------------------------------- the list */

#define OPERATION_unary(code, symbol) [OP_##code] = {symbol, KIND_unary, derive_##code, NULL},
#define OPERATION_binary(code, symbol) [OP_##code] = {symbol, KIND_binary, NULL, partial_##code},
#define OPERATION_folded(code, symbol) [OP_##code] = {symbol, KIND_folded, NULL, partial_##code},
#define OPERATION_smooth(code, symbol) [OP_##code] = {symbol, KIND_smooth, NULL, partial_##code},
#define OPERATION_truth(code, symbol) [OP_##code] = {symbol, KIND_truth, NULL, NULL},
#define OPERATION_vector(code, symbol) [OP_##code] = {symbol, KIND_vector, NULL, NULL},
#define OPERATION_choice(code, symbol) [OP_##code] = {symbol, KIND_choice, NULL, NULL},

const mbg__operation mbg__operations[OP_count] = {
    [OP_constant] = {"constant", KIND_leaf, NULL, NULL}, [OP_input] = {"input", KIND_leaf, NULL, NULL},
    [OP_table] = {"table", KIND_unary, NULL, NULL},      [OP_grid] = {"table", KIND_binary, NULL, NULL},
    [OP_jump] = {"jump", KIND_jump, NULL, NULL},         [OP_unless] = {"unless", KIND_jump, NULL, NULL},
    [OP_when] = {"when", KIND_jump, NULL, NULL},
#define MBG_OPERATOR(code, symbol, kind) OPERATION_##kind(code, symbol)
#define MBG_FUNCTION(name, least, most, kind, description) OPERATION_##kind(name, #name)
#include "expr/functions.def"
};

/* ---------------------------------------------------------------------- one line */

static mbg__answers truth(int op, mbg__part a, mbg__part b) {
  switch (op) {
  case OP_less:
    return a < b;
  case OP_less_equal:
    return a <= b;
  case OP_greater:
    return a > b;
  case OP_greater_equal:
    return a >= b;
  case OP_equal:
    return a == b;
  case OP_not_equal:
    return a != b;
  case OP_and:
    return (a != 0) & (b != 0);
  case OP_or:
    return (a != 0) | (b != 0);
  default: /* not */
    return a == 0;
  }
}

static const char *apply_unary(const mbg__line *line, mbg__depth depth, const real *a, real *v, real *pa) {
  real d[4];
  const int order = depth.partials ? depth.order + 1 : 0;
  if (line->op == OP_table) {
    if (!mbg__table_at(line->table, a[0], order, d)) {
      return "the argument lies outside the table";
    }
  } else {
    const char *complaint = mbg__operations[line->op].derive(a[0], order, d);
    if (complaint) {
      return complaint;
    }
  }
  v[0] = d[0];
  if (depth.partials) {
    jet_compose(depth.order, d + 1, a, pa);
  }
  return NULL;
}

/* jet of a partial derivative f of a table of two arguments, d its own partial derivatives, along the jets a and b:
     f' = f_x a' + f_y b'      f'' = f_x a'' + f_y b'' + f_xx a'^2 + 2 f_xy a' b' + f_yy b'^2 */
static void jet_partial(int K, real d[4][4], int p, int q, const real *a, const real *b, real *r) {
  r[0] = d[p][q];
  if (K > 0) {
    r[1] = d[p + 1][q] * a[1] + d[p][q + 1] * b[1];
  }
  if (K > 1) {
    r[2] = d[p + 1][q] * a[2] + d[p][q + 1] * b[2] + d[p + 2][q] * a[1] * a[1] + 2 * d[p + 1][q + 1] * a[1] * b[1] +
           d[p][q + 2] * b[1] * b[1];
  }
}

static const char *apply_grid(const mbg__line *line, mbg__depth depth, const real *a, const real *b, real *v, real *pa,
                              real *pb) {
  real d[4][4];
  if (!mbg__table_at_grid(line->table, a[0], b[0], depth.partials ? depth.order + 1 : 0, d)) {
    return "the arguments lie outside the table";
  }
  v[0] = d[0][0];
  if (depth.partials) {
    jet_partial(depth.order, d, 1, 0, a, b, pa);
    jet_partial(depth.order, d, 0, 1, a, b, pb);
  }
  return NULL;
}

const char *mbg__line_apply(const mbg__line *line, mbg__depth depth, bool b_active, const real *a, const real *b,
                            real *v, real *pa, real *pb) {
  const int K = depth.order;
  const mbg__operation *operation = &mbg__operations[line->op];
  const bool unary = operation->kind == KIND_unary;
  if (operation->kind == KIND_truth) {
    jet_constant(K, r_where(truth(line->op, re(a[0]), re(b[0])), 1, 0), v);
    return NULL;
  }
  jet_constant(K, 0, v);
  const char *complaint = unary                 ? apply_unary(line, depth, a, v, pa)
                          : line->op == OP_grid ? apply_grid(line, depth, a, b, v, pa, pb)
                                                : operation->partial(depth, a, b, b_active, v, pa, pb);
  if (complaint) {
    return complaint;
  }
  if (!isfinite(re(v[0]))) {
    return "the result is not a finite number";
  }
  if (K > 0) {
    jet_chain(K, pa, a, v);
    if (!unary) {
      jet_chain(K, pb, b, v);
    }
    if (!isfinite(re(v[1])) || (K > 1 && !isfinite(re(v[2])))) {
      return "the derivative is not finite";
    }
  }
  return NULL;
}

/* "sqrt(-1)", "atan2(0, 0)", "1 / 0", ... */
static void describe(const mbg__line *line, double a, double b, char *text, size_t size) {
  const mbg__operation *operation = &mbg__operations[line->op];
  const char *name = operation->name;
  if (line->op == OP_table) {
    const mbg__spline *s = mbg__table_knots(line->table, 0);
    mbg__format(text, size, "table '%s' on [%.6g, %.6g] at %.6g", mbg__table_name(line->table), s->x[0], s->x[s->n - 1],
                a);
  } else if (line->op == OP_grid) {
    const mbg__spline *s = mbg__table_knots(line->table, 0), *u = mbg__table_knots(line->table, 1);
    mbg__format(text, size, "table '%s' on [%.6g, %.6g] x [%.6g, %.6g] at (%.6g, %.6g)", mbg__table_name(line->table),
                s->x[0], s->x[s->n - 1], u->x[0], u->x[u->n - 1], a, b);
  } else if (operation->kind == KIND_smooth) {
    mbg__format(text, size, "%s with difference %.6g and width %.6g", name, a, b);
  } else if (operation->kind == KIND_unary) {
    mbg__format(text, size, "%s(%.6g)", name, a);
  } else if (line->op >= OP_negate && line->op <= OP_not) {
    const char *open[2] = {a < 0 ? "(" : "", b < 0 ? "(" : ""}, *close[2] = {a < 0 ? ")" : "", b < 0 ? ")" : ""};
    mbg__format(text, size, "%s%.6g%s %s %s%.6g%s", open[0], a, close[0], name, open[1], b, close[1]);
  } else {
    mbg__format(text, size, "%s(%.6g, %.6g)", name, a, b);
  }
}

int mbg__line_fail(mbg_context *ctx, const mbg__where *where, const mbg__line *line, double a, double b,
                   const char *complaint) {
  char text[400];
  describe(line, a, b, text, sizeof(text));
  return mbg__fail_at(ctx, MBG_ERROR_INPUT, where, line->at, "%s: %s", text, complaint);
}
