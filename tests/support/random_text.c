/* Texts, numbers as expressions, vectors and rotations of a random model. */
#include "support/random_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- text */

static void put_v(rm_text *text, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  const size_t more = (size_t)vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (text->size + more + 1 > text->room) {
    text->room = 2 * (text->size + more + 1);
    text->at = realloc(text->at, text->room);
    assert_non_null(text->at);
  }
  vsnprintf(text->at + text->size, more + 1, format, args);
  text->size += more;
}

void rm_put(rm_text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  put_v(text, format, args);
  va_end(args);
}

void rm_entry(rm_text *text, const char *name) { rm_put(text, "%s    \"%s\": ", text->size ? ",\n" : "", name); }

static char *ring(rm_gen *g) { return g->ring[g->next++ % RM_RING]; }

const char *rm_string(rm_gen *g, const char *format, ...) {
  char *out = ring(g);
  va_list args;
  va_start(args, format);
  const int size = vsnprintf(out, RM_STRING, format, args);
  va_end(args);
  assert_true(size < RM_STRING);
  return out;
}

bool rm_chance(rm_gen *g, double p) { return support_uniform(&g->rng, 0, 1) < p; }

double rm_between(rm_gen *g, double low, double high) { return support_uniform(&g->rng, low, high); }

double rm_sign(rm_gen *g, double low, double high) {
  const double x = rm_between(g, low, high);
  return rm_chance(g, 0.5) ? x : -x;
}

/* ---------------------------------------------------------------------- numbers */

static const rm_quantity *some_name(rm_gen *g) { return &g->names[support_index(&g->rng, g->nname)]; }

const char *rm_name(rm_gen *g) { return some_name(g)->text; }

/* all forms give x at the nominal parameters, up to rounding */
const char *rm_expression(rm_gen *g, double x, double scale) {
  const rm_quantity *p = some_name(g), *q = some_name(g);
  const double k = rm_sign(g, 0.2, 0.8) * scale;
  const int form = support_index(&g->rng, 9);
  switch ((form == 0 || form == 2) && (p->value == 0 || q->value == 0) ? 1 : form) {
  case 0:
    return rm_string(g, "%.17g*%s", x / p->value, p->text);
  case 1:
    return rm_string(g, "%.17g + %.3g*(%s - %.17g)", x, k, p->text, p->value);
  case 2:
    return rm_string(g, "%.17g*%s/%s", x * q->value / p->value, p->text, q->text);
  case 3:
    return rm_string(g, "%.17g*exp(0.5*(%s - %.17g))", x, p->text, p->value);
  case 4:
    return rm_string(g, "%.17g + %.3g*sin(%s*%s - %.17g)", x, k, p->text, q->text, p->value * q->value);
  default:
    return rm_string(g, "%.17g", x);
  }
}

/* zero up to rounding: stays zero, so that what lies in a plane stays in it */
static bool nothing(double x) { return fabs(x) < 1e-14; }

const char *rm_number(rm_gen *g, double x, double scale) {
  const char *text = nothing(x) ? "0" : rm_expression(g, x, scale);
  char *end;
  (void)strtod(text, &end);
  return *end ? rm_string(g, "\"%s\"", text) : text;
}

const char *rm_vec(rm_gen *g, const double x[3], double scale) {
  const char *e[3];
  for (int i = 0; i < 3; i++) {
    e[i] = rm_number(g, x[i], scale);
  }
  return rm_string(g, "[%s, %s, %s]", e[0], e[1], e[2]);
}

/* P x (+ shift): the components x are expressions, P and the shift numbers */
static const char *moved(rm_gen *g, const double x[3], double scale, bool point) {
  const double *P = g->opt->placement;
  if (!P) {
    return rm_vec(g, x, scale);
  }
  const char *e[3], *row[3];
  for (int i = 0; i < 3; i++) {
    e[i] = nothing(x[i]) ? "0" : rm_expression(g, x[i], scale);
  }
  for (int i = 0; i < 3; i++) {
    row[i] = rm_string(g, "\"%.17g*(%s) + %.17g*(%s) + %.17g*(%s) + %.17g\"", P[3 * i], e[0], P[3 * i + 1], e[1],
                       P[3 * i + 2], e[2], point ? P[9 + i] : 0.0);
  }
  return rm_string(g, "[%s, %s, %s]", row[0], row[1], row[2]);
}

const char *rm_world_point(rm_gen *g, const double x[3], double scale) { return moved(g, x, scale, true); }

const char *rm_world_direction(rm_gen *g, const double n[3], double scale) { return moved(g, n, scale, false); }

/* ---------------------------------------------------------------------- rotations */

/* R = Rz(a) Ry(b) Rx(c) */
static void euler_zyx(const double R[9], double e[3]) {
  const bool edge = fabs(R[6]) > 1 - 1e-15; /* the first and the last turn are about one line */
  e[0] = edge ? atan2(-R[1], R[4]) : atan2(R[3], R[0]);
  e[1] = asin(fmax(-1, fmin(1, -R[6])));
  e[2] = edge ? 0 : atan2(R[7], R[8]);
}

static const char *angle(rm_gen *g, double x) {
  return rm_chance(g, 0.2) ? rm_string(g, "\"%.17g deg\"", x * 180 / M_PI) : rm_number(g, x, 0.3);
}

/* list of turns; a first one is taken out of R at random */
static const char *rotate_list(rm_gen *g, const double R[9]) {
  static const char *const axes[] = {"x", "y", "z"};
  const int axis = support_index(&g->rng, 3);
  double w[3] = {0, 0, 0}, first[9], rest[9], e[3];
  w[axis] = rm_sign(g, 0.1, 1);
  mbg__so3_exp(first, w);
  m3_mul_TN(rest, first, R);
  euler_zyx(rest, e);
  const char *a = angle(g, w[axis]), *z = angle(g, e[0]), *y = angle(g, e[1]), *x = angle(g, e[2]);
  return rm_string(g, "[[\"%s\", %s], [\"z\", %s], [\"y\", %s], [\"x\", %s]]", axes[axis], a, z, y, x);
}

static const char *rotate_vector(rm_gen *g, const double R[9]) {
  double w[3];
  mbg__so3_log(w, R);
  return rm_string(g, "{\"vector\": %s}", rm_vec(g, w, 0.3));
}

static const char *rotate_axis(rm_gen *g, const double R[9]) {
  double w[3];
  mbg__so3_log(w, R);
  const double length = v3_norm(w), size = rm_sign(g, 0.3, 2);
  v3_scale(w, size / length, w);
  const char *axis = rm_vec(g, w, 0.3), *a = angle(g, size > 0 ? length : -length);
  return rm_string(g, "{\"axis\": %s, \"angle\": %s}", axis, a);
}

/* z and a vector in the half plane of z and x; moved with the model when `world` */
static const char *rotate_zx(rm_gen *g, const double R[9], bool flat, bool world) {
  const double a = rm_between(g, 0.5, 2), b = rm_between(g, 0.5, 2), c = flat ? 0 : rm_sign(g, 0, 1);
  double z[3], x[3];
  for (int i = 0; i < 3; i++) {
    z[i] = a * R[3 * i + 2];
    x[i] = b * R[3 * i] + c * R[3 * i + 2];
  }
  const char *zt = world ? rm_world_direction(g, z, 0.2) : rm_vec(g, z, 0.2);
  const char *xt = world ? rm_world_direction(g, x, 0.2) : rm_vec(g, x, 0.2);
  return rm_string(g, "{\"z\": %s, \"x\": %s}", zt, xt);
}

bool rm_is_flat(const double R[9]) { return R[8] > 1 - 1e-12 || R[6] < -1 + 1e-12; }

/* about z, in all forms; or Rz(a) Ry(90 deg), which keeps z in the plane */
static const char *rotate_flat(rm_gen *g, const double R[9]) {
  if (fabs(R[8]) < 0.5) {
    return rm_string(g, "[[\"z\", %s], [\"y\", \"90 deg\"]]", angle(g, atan2(R[5], R[2])));
  }
  const double a = atan2(R[3], R[0]), w[3] = {0, 0, a};
  const char *z;
  switch (support_index(&g->rng, 4)) {
  case 0:
    return rm_string(g, "{\"vector\": %s}", rm_vec(g, w, 0.3));
  case 1:
    z = rm_number(g, 2, 0.3);
    return rm_string(g, "{\"axis\": [0, 0, %s], \"angle\": %s}", z, angle(g, a));
  case 2:
    return rotate_zx(g, R, true, false);
  default:
    return rm_string(g, "[[\"z\", %s]]", angle(g, a));
  }
}

const char *rm_rotate(rm_gen *g, const double R[9]) {
  const char *special = rm_special_rotate(g, R);
  if (special) {
    return special;
  }
  if (rm_is_flat(R)) {
    return rotate_flat(g, R);
  }
  switch (support_index(&g->rng, 4)) {
  case 0:
    return rotate_vector(g, R);
  case 1:
    return rotate_axis(g, R);
  case 2:
    return rotate_zx(g, R, false, false);
  default:
    return rotate_list(g, R);
  }
}

/* where a placement may follow: directions, or a list that begins with the placement's own turns */
const char *rm_world_rotate(rm_gen *g, const double R[9]) {
  if (!g->opt->indifferent) {
    return rm_rotate(g, R);
  }
  if (rm_chance(g, 0.5)) {
    return rotate_zx(g, R, false, true);
  }
  const char *list = rotate_list(g, R);
  if (!g->opt->placement) {
    return list;
  }
  double e[3];
  euler_zyx(g->opt->placement, e);
  return rm_string(g, "[[\"z\", %.17g], [\"y\", %.17g], [\"x\", %.17g], %s", e[0], e[1], e[2], list + 1);
}

/* ---------------------------------------------------------------------- names */

static rm_quantity *add_name(rm_gen *g, double value, const char *text) {
  rm_quantity *q = &g->names[g->nname++];
  assert_true(g->nname <= RM_NAMES);
  snprintf(q->text, sizeof q->text, "%s", text);
  q->value = value;
  return q;
}

static double make_scalar(rm_gen *g, int i) {
  const double value = rm_between(g, 0.6, 1.6);
  const char *name = rm_string(g, "%s%d", g->prefix, i);
  rm_entry(&g->parameters, name);
  if (rm_chance(g, 0.5)) {
    rm_put(&g->parameters, "%.17g", value);
  } else {
    rm_put(&g->parameters, "{\"value\": %.17g, \"min\": 0.1, \"max\": 5, \"unit\": \"1\", \"scale\": \"%s\"}", value,
           rm_chance(g, 0.5) ? "log" : "linear");
  }
  add_name(g, value, name);
  return value;
}

static void make_vector(rm_gen *g) {
  rm_entry(&g->parameters, "rho");
  rm_put(&g->parameters, "{\"value\": [");
  for (int i = 0; i < 4; i++) {
    const double value = rm_between(g, 0.6, 1.6);
    rm_put(&g->parameters, "%s%.17g", i ? ", " : "", value);
    add_name(g, value, rm_string(g, "rho[%d]", i));
  }
  rm_put(&g->parameters, "]}");
  rm_entry(&g->parameters, "sigma");
  rm_put(&g->parameters, "{\"value\": 0.75, \"count\": 5}");
  add_name(g, 0.75, "sigma[2]");
}

/* constants of parameters and of each other, not in order */
static void make_constants(rm_gen *g, double p0, double p1) {
  const double c1 = sin(p0) + 0.6, c0 = c1 * p1, c2 = c0 / (1 + p0 * p0);
  rm_entry(&g->constants, "kappa");
  rm_put(&g->constants, "\"mu*%s1\"", g->prefix);
  rm_entry(&g->constants, "mu");
  rm_put(&g->constants, "\"sin(%s0) + 0.6\"", g->prefix);
  rm_entry(&g->constants, "nu");
  rm_put(&g->constants, "\"kappa/(1 + %s0^2)\"", g->prefix);
  rm_entry(&g->constants, "alpha");
  rm_put(&g->constants, "\"40 deg\"");
  add_name(g, c0, "kappa");
  add_name(g, c1, "mu");
  add_name(g, c2, "nu");
  add_name(g, 40 * M_PI / 180, "alpha");
}

void rm_make_names(rm_gen *g) {
  if (g->opt->special) {
    rm_make_special_names(g);
    return;
  }
  double p[2];
  const int count = g->part ? 3 : 8;
  for (int i = 0; i < count; i++) {
    const double value = make_scalar(g, i);
    if (i < 2) {
      p[i] = value;
    }
  }
  if (!g->part) {
    make_vector(g);
  }
  make_constants(g, p[0], p[1]);
}
