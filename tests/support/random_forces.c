/* Controls, tables, forces, signals and criteria of a random model. */
#include "support/random_internal.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------- functions of time */

/* tables tl (linear) and tc (cubic), near 1; controls ul, ue (linear), uc, ur (cubic), near 1 */
void rm_make_controls(rm_gen *g) {
  g->controls = true;
  rm_entry(&g->tables, "tl");
  rm_put(&g->tables, "{\"x\": [-3, -0.7, 0.13, 0.9, 4], \"y\": [0.8, 1.1, 0.9, 1.2, 1], \"extrapolation\": \"hold\"}");
  rm_entry(&g->tables, "tc");
  rm_put(&g->tables, "{\"x\": [-2, -0.5, 0.3, 1, 3], \"y\": [0.9, 1.1, 1, 1.2, 0.8], \"interpolation\": \"cubic\", "
                     "\"extrapolation\": \"extend\"}");
  rm_entry(&g->control, "ul");
  rm_put(&g->control, "{\"times\": [0, 0.37, 0.81, 2], \"values\": [%s", rm_number(g, rm_between(g, 0.7, 1.3), 0.5));
  for (int i = 0; i < 3; i++) {
    rm_put(&g->control, ", %s", rm_number(g, rm_between(g, 0.7, 1.3), 0.5));
  }
  rm_put(&g->control, "]}");
  rm_entry(&g->control, "uc");
  rm_put(&g->control,
         "{\"times\": {\"from\": -0.1, \"to\": 1.7, \"count\": 5}, \"interpolation\": \"cubic\", \"values\": [%s",
         rm_number(g, 1, 0.5));
  for (int i = 0; i < 4; i++) {
    rm_put(&g->control, ", %s", rm_number(g, rm_between(g, 0.7, 1.3), 0.5));
  }
  rm_put(&g->control, "]}");
  rm_entry(&g->control, "ue");
  rm_put(&g->control, "{\"times\": [0, 1], \"values\": \"0.8*%s\"}", rm_name(g));
  if (!g->part && !g->opt->special) {
    rm_entry(&g->control, "ur");
    rm_put(&g->control, "{\"times\": [0, 0.2, 0.5, 0.9, 1.6], \"values\": \"sigma\", \"interpolation\": \"cubic\"}");
  }
}

/* a function of time near 1 */
static const char *time_factor(rm_gen *g) {
  switch (support_index(&g->rng, 5)) {
  case 0:
    return "ul";
  case 1:
    return "uc";
  case 2:
    return "ue*tc(t)";
  case 3:
    return g->part || g->opt->special ? "tl(t)" : "ur";
  default:
    return rm_string(g, "(1 + 0.3*sin(%s*t))", rm_name(g));
  }
}

/* ---------------------------------------------------------------------- where a force acts */

static int some_marker(rm_gen *g) { return g->pool + support_index(&g->rng, g->npool - g->pool); }

/* two markers on different bodies, not close together */
static void marker_pair(rm_gen *g, int m[2], mbg__frame *G) {
  for (int tries = 0;; tries++) {
    mbg__frame A, B;
    m[0] = some_marker(g);
    m[1] = some_marker(g);
    rm_marker_frame(g, m[0], &A);
    rm_marker_frame(g, m[1], &B);
    frame_relative(G, &A, &B);
    if (g->markers[m[0]].body != g->markers[m[1]].body && v3_norm(G->x) > 0.2) {
      return;
    }
    assert_true(tries < 1000);
  }
}

typedef enum { DISTANCE, X, Y, Z, ANGLE, POLAR, ANGLE_X, ANGLE_Y, COORDINATES } coordinate;
static const char *const coordinate_name[] = {"distance", "x", "y", "z", "angle", "polar", "angle_x", "angle_y"};

/* value, and for angles the squared radius: away from 0 */
static double coordinate_value(const mbg__frame *G, coordinate c, double *radius) {
  const double *R = G->R, *x = G->x;
  const double cs[COORDINATES][2] = {
      [ANGLE] = {R[0], R[3]}, [POLAR] = {x[0], x[1]}, [ANGLE_X] = {R[4], R[7]}, [ANGLE_Y] = {R[0], R[2]}};
  if (c < ANGLE) {
    *radius = 1;
    return c == DISTANCE ? v3_norm(x) : x[c - X];
  }
  *radius = sqrt(cs[c][0] * cs[c][0] + cs[c][1] * cs[c][1]) / (c == POLAR ? v3_norm(x) : 1);
  return atan2(cs[c][1], cs[c][0]);
}

static bool fit(const rm_gen *g, const int m[2], const mbg__frame *G, coordinate c) {
  double radius;
  coordinate_value(G, c, &radius);
  const bool turn = rm_turns(g, g->markers[m[0]].body) && rm_turns(g, g->markers[m[1]].body);
  const bool flat = g->opt->kind == RANDOM_PLANAR;
  /* at half a turn in the plane the sign of a zero decides */
  if (g->opt->modal && g->opt->kind == RANDOM_MIXED && (c == ANGLE_X || c == ANGLE_Y)) {
    return false;
  }
  if ((g->part || g->opt->mirrorable) && c == POLAR) { /* has no mirror image in planes along y and z */
    return false;
  }
  if (flat && (c == Z || c == ANGLE_X || c == ANGLE_Y)) {
    return false;
  }
  return (c < ANGLE || c == POLAR || turn) && radius > 0.4;
}

/* "between" and "along" for one of the coordinates allowed (bits); returns its value in the design configuration; NAN:
   no pair of a special model fits */
static double put_between(rm_gen *g, unsigned allowed, coordinate preset) {
  int m[2];
  mbg__frame G;
  coordinate c;
  double radius;
  int tries = 0;
  do {
    if (g->opt->special && tries > 500) {
      return NAN;
    }
    assert_true(tries++ < 5000);
    marker_pair(g, m, &G);
    c = (coordinate)support_index(&g->rng, COORDINATES);
  } while (!(allowed >> c & 1) || !fit(g, m, &G, c));
  const int body[2] = {g->markers[m[0]].body, g->markers[m[1]].body};
  const bool nodes = (body[0] >= 0 && g->bodies[body[0]].nodes) || (body[1] >= 0 && g->bodies[body[1]].nodes);
  if (c == DISTANCE && !nodes && rm_chance(g, 0.3)) {
    mbg__frame H[2];
    rm_marker_frame(g, m[0], &H[0]);
    rm_marker_frame(g, m[1], &H[1]);
    const char *A = rm_world_point(g, H[0].x, 0.2), *B = rm_world_point(g, H[1].x, 0.2);
    rm_put(&g->force, ", \"between\": [\"%s\", \"%s\"], \"points\": [%s, %s], \"in\": \"world\"",
           rm_body_name(g, body[0]), rm_body_name(g, body[1]), A, B);
  } else {
    rm_put(&g->force, ", \"between\": [\"%s\", \"%s\"]", rm_marker_name(g, m[0]), rm_marker_name(g, m[1]));
  }
  if (c != preset || rm_chance(g, 0.3)) {
    rm_put(&g->force, ", \"along\": \"%s\"", coordinate_name[c]);
  }
  return coordinate_value(&G, c, &radius);
}

/* a coordinate of a joint with a known value; false when there is none */
static bool put_on_joint(rm_gen *g, bool angles, double *q) {
  for (int tries = 0; tries < 30 && g->njoint > 0; tries++) {
    const rm_joint *j = &g->joints[support_index(&g->rng, g->njoint)];
    const int k = support_index(&g->rng, 3);
    const char *name = rm_coordinate(j->type, k);
    if (name && j->known && j->stuck != k && (!angles || rm_coordinate_turns(j->type, k))) {
      rm_put(&g->force, ", \"joint\": \"%s\", \"coordinate\": \"%s\"", j->name, name);
      *q = j->q[k];
      return true;
    }
  }
  return false;
}

static const unsigned lengths = 1u << DISTANCE | 1u << X | 1u << Y | 1u << Z;
static const unsigned angles = 1u << ANGLE | 1u << POLAR | 1u << ANGLE_X | 1u << ANGLE_Y;

static double put_place(rm_gen *g, unsigned allowed, coordinate preset) {
  double q;
  if (rm_chance(g, 0.5) && put_on_joint(g, allowed == angles, &q)) {
    return q;
  }
  return put_between(g, allowed, preset);
}

/* ---------------------------------------------------------------------- laws */

static void put_linear_law(rm_gen *g, double q) {
  rm_put(&g->force, ", \"stiffness\": %s", rm_number(g, rm_between(g, 10, 200), 10));
  rm_put(&g->force, ", \"rest\": %s", rm_number(g, q * rm_between(g, 0.7, 1.2) + 0.01, 0.1));
  if (!g->opt->conservative && rm_chance(g, 0.7)) {
    rm_put(&g->force, ", \"damping\": %s", rm_number(g, rm_between(g, 0.1, 2), 0.5));
  }
  if (rm_chance(g, 0.4)) {
    rm_put(&g->force, ", \"preload\": %s", rm_number(g, rm_sign(g, 1, 5), 2));
  }
}

static void put_friction(rm_gen *g) {
  rm_put(&g->force, ", \"torque\": %s", rm_number(g, rm_between(g, 0.2, 2), 0.1));
  rm_put(&g->force, ", \"rate_scale\": %s", rm_number(g, rm_between(g, 0.3, 1), 0.1));
  if (rm_chance(g, 0.5)) {
    rm_put(&g->force, ", \"damping\": %s", rm_number(g, rm_between(g, 0.1, 1), 0.05));
  }
}

/* one limit or both, reached or not */
static void put_stop(rm_gen *g, double q) {
  const int which = support_index(&g->rng, 3);
  const double lower = rm_between(g, -0.4, 0.2), upper = lower + rm_between(g, 0.1, 0.4);
  if (which != 0) {
    rm_put(&g->force, ", \"lower\": %s", rm_number(g, q + lower, 0.1));
  }
  if (which != 1) {
    rm_put(&g->force, ", \"upper\": %s", rm_number(g, q + upper, 0.1));
  }
  rm_put(&g->force, ", \"stiffness\": %s", rm_number(g, rm_between(g, 10, 100), 10));
  rm_put(&g->force, ", \"width\": %s", rm_number(g, rm_between(g, 0.1, 0.4), 0.05));
  if (!g->opt->conservative && rm_chance(g, 0.5)) {
    rm_put(&g->force, ", \"damping\": %s", rm_number(g, rm_between(g, 0.1, 1), 0.05));
  }
}

static void put_nonlinear(rm_gen *g, double q) {
  const char *rest = rm_expression(g, q + 0.05, 0.2), *k = rm_expression(g, rm_between(g, 10, 60), 5);
  const char *c = rm_expression(g, rm_between(g, 0.1, 1), 0.2), *u = time_factor(g);
  switch (support_index(&g->rng, 3)) {
  case 0:
    rm_put(&g->force, ", \"law\": \"(%s)*(x - (%s)) + 30*(x - (%s))^3 + (%s)*v\"", k, rest, rest, c);
    return;
  case 1:
    rm_put(&g->force, ", \"law\": \"(%s)*(x - (%s))*tc(x) + (%s)*v*abs(v)*%s\"", k, rest, c, u);
    return;
  default:
    rm_put(&g->force, ", \"law\": \"(%s)*sinh(x - (%s))*%s + tl(x)*tanh(v/(%s))\"", k, rest, u, c);
    return;
  }
}

static void put_actuator(rm_gen *g) {
  const char *a = rm_expression(g, rm_sign(g, 0.5, 3), 0.5), *b = rm_expression(g, rm_between(g, 0.1, 1), 0.2);
  const char *u1 = time_factor(g), *u2 = time_factor(g);
  if (rm_chance(g, 0.5)) {
    rm_put(&g->force, ", \"force\": \"(%s)*%s\"", a, u1);
  } else {
    rm_put(&g->force, ", \"force\": \"(%s)*%s - (%s)*v - 2*sin(x)*%s\"", a, u1, b, u2);
  }
}

/* a signal that a force law may use, or a number */
static const char *law_signal(rm_gen *g) {
  for (int tries = 0; tries < 20 && g->nsignal > 0; tries++) {
    const rm_item *s = &g->signals[support_index(&g->rng, g->nsignal)];
    if (s->plain) {
      return s->name;
    }
  }
  return rm_name(g);
}

static void put_expression(rm_gen *g) {
  const char *a = rm_expression(g, rm_sign(g, 1, 5), 1), *s1 = law_signal(g), *s2 = law_signal(g), *s3 = law_signal(g);
  switch (support_index(&g->rng, 3)) {
  case 0:
    rm_put(&g->force, ", \"force\": \"-(%s)*%s + 0.5*%s*x - 0.3*v\"", a, s1, s2);
    return;
  case 1:
    rm_put(&g->force, ", \"force\": \"(%s)*sin(%s)*cos(%s) - 0.2*%s*%s\"", a, s1, s2, s3, time_factor(g));
    return;
  default:
    rm_put(&g->force, ", \"force\": \"(%s)*tanh(%s*%s) + x*v*exp(-%s^2)*%s\"", a, s1, s2, s3, time_factor(g));
    return;
  }
}

/* ---------------------------------------------------------------------- wrenches */

static int turning_marker(rm_gen *g) {
  for (int tries = 0; tries < 200; tries++) {
    const int m = some_marker(g);
    if (g->markers[m].body >= 0 && rm_turns(g, g->markers[m].body)) {
      return m;
    }
  }
  return -1;
}

static const char *force_component(rm_gen *g) {
  const char *c = rm_expression(g, rm_sign(g, 1, 5), 1), *u = time_factor(g);
  return rm_chance(g, 0.4) ? rm_number(g, rm_sign(g, 1, 5), 1) : rm_string(g, "\"(%s)*%s\"", c, u);
}

/* a component with a signal of positions or velocities in it; takes no random numbers */
static const char *with_signal(rm_gen *g, const char *component) {
  for (int i = 0; i < g->nsignal && !g->opt->mirrorable && !g->opt->conservative; i++) {
    const rm_item *s = &g->signals[(g->nforce + i) % g->nsignal];
    if (s->plain && strcmp(component, "0") != 0) {
      const bool text = component[0] == '"';
      return rm_string(g, "\"%.*s + 0.3*sin(%s)\"", (int)strlen(component) - (text ? 2 : 0), component + text, s->name);
    }
  }
  return component;
}

static void put_force(rm_gen *g, const char *on) {
  const bool flat = g->opt->kind == RANDOM_PLANAR || g->opt->kind == RANDOM_MIXED;
  const char *f[3], *t[3];
  for (int i = 0; i < 3; i++) {
    f[i] = flat && i == 2 ? "0" : force_component(g);
    t[i] = flat && i < 2 ? "0" : force_component(g);
  }
  f[g->nforce % 2] = with_signal(g, f[g->nforce % 2]);
  t[2] = with_signal(g, t[2]);
  const bool base = g->opt->indifferent || rm_chance(g, 0.2);
  if (base) {
    rm_put(&g->force, ", \"between\": [\"%s\", \"%s\"]", rm_ground(g), on);
  } else {
    rm_put(&g->force, ", \"on\": \"%s\"", on);
  }
  const int what = support_index(&g->rng, 3);
  if (what != 0) {
    rm_put(&g->force, ", \"force\": [%s, %s, %s]", f[0], f[1], f[2]);
  }
  if (what != 1) {
    rm_put(&g->force, ", \"torque\": [%s, %s, %s]", t[0], t[1], t[2]);
  }
  if (rm_chance(g, 0.6)) {
    rm_put(&g->force, ", \"in\": \"%s\"", rm_chance(g, 0.5) ? "body" : "reference");
  }
}

static void put_six(rm_gen *g, const char *key, double low, double high) {
  double S[36], d[6];
  for (int i = 0; i < 6; i++) {
    d[i] = rm_between(g, low, high) * (i < 3 ? 1 : 0.1);
  }
  rm_put(&g->force, ", \"%s\": [", key);
  if (rm_chance(g, 0.5)) {
    for (int i = 0; i < 6; i++) {
      rm_put(&g->force, "%s%s", i ? ", " : "", rm_number(g, d[i], 0.1 * d[i]));
    }
    rm_put(&g->force, "]");
    return;
  }
  /* symmetric, dominated by its diagonal; equal texts on both sides */
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j <= i; j++) {
      S[6 * i + j] = S[6 * j + i] = i == j ? d[i] : rm_sign(g, 0, 0.1) * fmin(d[i], d[j]);
    }
  }
  for (int i = 0; i < 6; i++) {
    rm_put(&g->force, "%s[", i ? ", " : "");
    for (int j = 0; j < 6; j++) {
      const rm_quantity *p = &g->names[(i + j) % g->nname];
      rm_put(&g->force, "%s\"%.6g*%s%s\"", j ? ", " : "", S[6 * i + j], p->value == 0 ? "cos" : "",
             p->value == 0 ? rm_string(g, "(%s)", p->text) : p->text);
    }
    rm_put(&g->force, "]");
  }
  rm_put(&g->force, "]");
}

/* to a second marker that stands near the first one in the design configuration */
static bool put_bushing(rm_gen *g) {
  const int m = turning_marker(g);
  const bool flat = g->opt->kind == RANDOM_PLANAR;
  mbg__frame H, G, N, h;
  double w[6] = {0, 0, 0, 0, 0, rm_sign(g, 0.05, 0.4)};
  if (m < 0) {
    return false;
  }
  int other = support_index(&g->rng, g->nbody + 1) - 1;
  if (other == g->markers[m].body || !rm_turns(g, other)) {
    other = -1;
  }
  for (int i = 0; i < (flat ? 2 : 6); i++) {
    w[i] = rm_sign(g, 0.01, 0.2);
  }
  rm_marker_frame(g, m, &H);
  mbg__se3_exp(&G, w);
  frame_mul(&N, &H, &G);
  frame_relative(&h, rm_frame(g, other), &N);
  const int n = rm_marker_add(g, other, &h);
  rm_put(&g->force, ", \"between\": [\"%s\", \"%s\"]", rm_marker_name(g, m), rm_marker_name(g, n));
  put_six(g, "stiffness", 20, 150);
  if (!g->opt->conservative && rm_chance(g, 0.7)) {
    put_six(g, "damping", 0.5, 3);
  }
  if (!g->opt->conservative && !flat && rm_chance(g, 0.5)) {
    double f[3], t[3];
    support_normals(&g->rng, f, 3);
    support_normals(&g->rng, t, 3);
    rm_put(&g->force, ", \"preload_force\": %s", rm_vec(g, f, 0.5));
    rm_put(&g->force, ", \"preload_torque\": %s", rm_vec(g, t, 0.5));
  }
  return true;
}

static void put_drag(rm_gen *g) {
  int m[2];
  mbg__frame G;
  marker_pair(g, m, &G);
  if (!g->opt->indifferent && rm_chance(g, 0.5) && g->markers[m[1]].body >= 0) {
    rm_put(&g->force, ", \"on\": \"%s\"", rm_marker_name(g, m[1]));
  } else {
    rm_put(&g->force, ", \"between\": [\"%s\", \"%s\"]", rm_marker_name(g, m[0]), rm_marker_name(g, m[1]));
  }
  rm_put(&g->force, ", \"linear\": %s", rm_number(g, rm_between(g, 0.1, 1), 0.05));
  rm_put(&g->force, ", \"quadratic\": %s", rm_number(g, rm_between(g, 0.1, 1), 0.05));
  if (rm_chance(g, 0.5)) {
    rm_put(&g->force, ", \"angular\": %s", rm_number(g, rm_between(g, 0.1, 1), 0.05));
    rm_put(&g->force, ", \"smoothing\": %s", rm_number(g, rm_between(g, 0.05, 0.2), 0.02));
  }
}

/* R = base [x y z], z along the unit vector given and x near the other one */
static void axes_from(const double z[3], double x[3], const double base[9], double R[9]) {
  double y[3], T[9];
  v3_axpy(x, -v3_dot(x, z), z);
  v3_scale(x, 1 / v3_norm(x), x);
  v3_cross(y, z, x);
  for (int i = 0; i < 3; i++) {
    T[3 * i] = x[i];
    T[3 * i + 1] = y[i];
    T[3 * i + 2] = z[i];
  }
  m3_mul(R, base, T);
}

/* the spin axis is level in the design configuration, within half a radian */
static bool put_tyre(rm_gen *g) {
  const int m = turning_marker(g);
  const bool flat = g->opt->kind == RANDOM_PLANAR;
  mbg__frame H;
  double e[3], axis[3] = {0, 0, 1};
  if (m < 0) {
    return false;
  }
  rm_marker_frame(g, m, &H);
  if (!flat) {
    const double a = rm_between(g, 0, 2 * M_PI), b = rm_sign(g, 0, 0.5);
    e[0] = cos(a) * cos(b);
    e[1] = sin(a) * cos(b);
    e[2] = sin(b);
    m3_mulv_T(axis, H.R, e);
  }
  const double height = H.x[flat ? 1 : 2], radius = rm_between(g, 0.3, 0.5), deep = rm_between(g, 0.02, 0.1);
  if (!flat && (g->opt->indifferent || g->opt->local_road || rm_chance(g, 0.2))) {
    /* a marker with z along the axis */
    double x[3] = {axis[1], axis[2], axis[0]};
    mbg__frame h = g->markers[m].h;
    axes_from(axis, x, g->markers[m].h.R, h.R);
    const int spin = rm_marker_add(g, g->markers[m].body, &h);
    rm_put(&g->force, ", \"between\": [\"%s\", \"%s\"]", rm_ground(g), rm_marker_name(g, spin));
  } else {
    rm_put(&g->force, ", \"on\": \"%s\", \"axis\": %s", rm_marker_name(g, m), rm_vec(g, axis, 0.1));
  }
  rm_put(&g->force, ", \"stiffness\": %s", rm_number(g, rm_between(g, 50, 200), 10));
  rm_put(&g->force, ", \"damping\": %s", rm_number(g, rm_between(g, 0.5, 2), 0.2));
  rm_put(&g->force, ", \"radius\": %s", rm_number(g, radius, 0.05));
  rm_put(&g->force, ", \"slip_x\": %s", rm_number(g, rm_between(g, 1, 5), 0.5));
  rm_put(&g->force, ", \"slip_y\": %s", rm_number(g, rm_between(g, 1, 5), 0.5));
  if (rm_chance(g, 0.6)) {
    rm_put(&g->force, ", \"slip_speed\": %s", rm_number(g, rm_between(g, 0.3, 0.6), 0.05));
  }
  const char *level = rm_expression(g, height - radius + deep, 0.05), *a = rm_name(g), *b = rm_name(g);
  rm_put(&g->force, ", \"road\": \"%s + 0.05*%s*sin(2*x + %s*t)%s*%s\"", level, a, b, flat ? "" : "*cos(1.5*y)",
         time_factor(g));
  if (flat) {
    rm_put(&g->force, ", \"up\": \"y\"");
  }
  return true;
}

/* about as deep as its width in the design configuration */
static void put_contact(rm_gen *g) {
  static const char *const quantity[] = {"depth", "normal", "slip"};
  int m[2];
  mbg__frame G;
  marker_pair(g, m, &G);
  const int shape = support_index(&g->rng, 3);
  const double width = rm_between(g, 0.05, 0.1), deep = rm_between(g, 0.3, 2) * width, far = v3_norm(G.x);
  rm_entry(&g->force, "touch");
  rm_put(&g->force, "{\"type\": \"contact\", \"between\": [\"%s\", \"%s\"]", rm_marker_name(g, m[0]),
         rm_marker_name(g, m[1]));
  if (shape == 2) {
    rm_put(&g->force, ", \"shape\": \"sphere-road\", \"up\": \"y\", \"radius\": %s", rm_number(g, 0.3, 0.05));
    rm_put(&g->force, ", \"road\": \"%s + 0.02*sin(2*x + %s*t)\"", rm_expression(g, G.x[1] - 0.3 + deep, 0.05),
           g->opt->conservative ? "0" : rm_name(g));
  } else {
    const double own = shape == 0 ? far / 2 : 0.2, other = shape == 0 ? far / 2 + deep : far + 0.2 - deep;
    rm_put(&g->force, ", \"shape\": \"%s\", \"radius\": %s", shape == 0 ? "sphere-sphere" : "sphere-socket",
           rm_number(g, own, 0.02));
    rm_put(&g->force, ", \"radius_a\": %s", rm_number(g, other, 0.02));
  }
  rm_put(&g->force, ", \"stiffness\": %s", rm_number(g, rm_between(g, 50, 200), 10));
  rm_put(&g->force, ", \"exponent\": %s", rm_number(g, rm_between(g, 1.2, 1.6), 0.1));
  rm_put(&g->force, ", \"width\": %s", rm_number(g, width, 0.01));
  if (!g->opt->conservative) {
    rm_put(&g->force, ", \"restitution\": %s", rm_number(g, rm_between(g, 0.4, 0.9), 0.05));
    rm_put(&g->force, ", \"speed\": %s, \"smoothing\": %s", rm_number(g, 2, 0.1), rm_number(g, 0.2, 0.05));
    rm_put(&g->force, ", \"friction\": %s", rm_number(g, rm_between(g, 0.2, 0.5), 0.05));
    rm_put(&g->force, ", \"static_friction\": %s", rm_number(g, rm_between(g, 0.5, 0.8), 0.05));
    rm_put(&g->force, ", \"slip_speed\": %s", rm_number(g, 0.5, 0.05));
    rm_put(&g->force, ", \"stribeck_speed\": %s", rm_number(g, 1, 0.1));
  }
  rm_put(&g->force, "}");
  for (int k = 0; g->opt->signals && k < 3; k++) {
    rm_entry(&g->signal, quantity[k]);
    rm_put(&g->signal, "{\"type\": \"contact\", \"force\": \"touch\", \"quantity\": \"%s\"}", quantity[k]);
  }
}

/* ---------------------------------------------------------------------- forces */

enum { FORCE_KINDS = 12 };

static bool put_wrench(rm_gen *g, int kind) {
  static const char *const key[] = {"force", "bushing", "drag", "tyre"};
  rm_put(&g->force, "{\"type\": \"%s\"", key[kind]);
  switch (kind) {
  case 0: {
    const int m = turning_marker(g);
    if (m >= 0) {
      put_force(g, rm_marker_name(g, m));
    }
    return m >= 0;
  }
  case 1:
    return put_bushing(g);
  case 2:
    put_drag(g);
    return true;
  default:
    return put_tyre(g);
  }
}

static bool put_law(rm_gen *g, int kind) {
  static const char *const key[] = {"spring-damper",
                                    "torsion-spring-damper",
                                    "torsion-about-point",
                                    "nonlinear-spring",
                                    "friction",
                                    "stop",
                                    "actuator",
                                    "expression"};
  double q;
  rm_put(&g->force, "{\"type\": \"%s\"", key[kind]);
  switch (kind) {
  case 0:
    q = rm_chance(g, 0.5) ? put_between(g, lengths, DISTANCE) : put_place(g, lengths, DISTANCE);
    put_linear_law(g, q);
    break;
  case 1:
    q = put_place(g, angles, ANGLE);
    put_linear_law(g, q);
    break;
  case 2:
    q = put_between(g, 1u << POLAR, POLAR);
    put_linear_law(g, q);
    break;
  case 3:
    q = put_place(g, lengths, DISTANCE);
    put_nonlinear(g, q);
    break;
  case 4:
    q = put_place(g, angles | lengths, ANGLE);
    put_friction(g);
    break;
  case 5:
    q = put_place(g, angles | lengths, ANGLE);
    put_stop(g, q);
    break;
  case 6:
    q = put_place(g, angles | lengths, ANGLE);
    put_actuator(g);
    break;
  default:
    q = put_place(g, angles | lengths, DISTANCE);
    put_expression(g);
    break;
  }
  return !isnan(q);
}

static void make_force(rm_gen *g, int kind) {
  rm_item *f = &g->forces[g->nforce];
  const size_t mark = g->force.size;
  *f = (rm_item){.law = kind < 8};
  snprintf(f->name, sizeof f->name, "f%d", g->nforce);
  rm_entry(&g->force, f->name);
  if (f->law ? !put_law(g, kind) : !put_wrench(g, kind - 8)) {
    g->force.size = mark; /* no body fits */
    g->force.at[mark] = 0;
    return;
  }
  rm_put(&g->force, "}");
  g->nforce++;
}

void rm_make_forces(rm_gen *g) {
  int order[FORCE_KINDS];
  for (int i = 0; i < FORCE_KINDS; i++) {
    const int k = support_index(&g->rng, i + 1);
    order[i] = order[k];
    order[k] = i;
  }
  const int most = g->part ? 3 : 6 + support_index(&g->rng, 4);
  const int count = rm_special(g, RANDOM_SPARSE) ? 1 : most;
  for (int i = 0; i < (g->opt->conservative ? FORCE_KINDS : count); i++) {
    const int kind = order[i];
    const bool elastic = kind < 3 || kind == 5 || kind == 9;
    const bool mirror = kind != 2 && kind != 7 && kind != 11;
    if ((!g->part || kind != 2) && (!g->opt->conservative || elastic) && (!g->opt->mirrorable || mirror)) {
      make_force(g, kind);
    }
  }
  if (!g->opt->conservative && !g->opt->mirrorable) {
    make_force(g, 7); /* with signals */
  }
  if (g->opt->contacts && !g->part) {
    const support_rng rng = g->rng; /* old seeds keep their models */
    put_contact(g);
    g->rng = rng;
  }
}

/* ---------------------------------------------------------------------- signals */

static rm_item *signal_add(rm_gen *g, const char *type, int level, bool plain) {
  rm_item *s = &g->signals[g->nsignal];
  assert_true(g->nsignal < RM_LIST);
  *s = (rm_item){.level = level, .plain = plain, .acceleration = level == 3 && strstr(type, "accel")};
  snprintf(s->name, sizeof s->name, "y%d", g->nsignal++);
  rm_entry(&g->signal, s->name);
  rm_put(&g->signal, "{\"type\": \"%s\"", type);
  return s;
}

static void put_component(rm_gen *g) {
  static const char *const letters[] = {"\"x\"", "\"y\"", "\"z\"", "1", "2", "3"};
  rm_put(&g->signal, ", \"component\": %s", letters[support_index(&g->rng, 6)]);
}

static void put_of(rm_gen *g) {
  int m[2];
  mbg__frame G;
  marker_pair(g, m, &G);
  if (g->markers[m[1]].body < 0) {
    const int k = m[0];
    m[0] = m[1];
    m[1] = k;
  }
  if (rm_chance(g, 0.1)) {
    /* the other marker of the same body */
    m[0] = g->pool + ((m[1] - g->pool) ^ 1);
  }
  rm_put(&g->signal, ", \"of\": \"%s\"", rm_marker_name(g, m[1]));
  const bool absent = !g->opt->indifferent && rm_chance(g, 0.3);
  mbg__frame H;
  rm_marker_frame(g, m[1], &H);
  /* at the origin of the ground a distance has a kink */
  if (!absent || (g->opt->special && v3_norm(H.x) < 0.2)) {
    rm_put(&g->signal, ", \"relative_to\": \"%s\"", rm_marker_name(g, m[0]));
  }
}

static const struct {
  const char *key;
  int level;
  bool component, in, axis;
} of_pairs[] = {
    {"position", 1, true, true, false},
    {"velocity", 2, true, true, false},
    {"angular-velocity", 2, true, true, false},
    {"direction", 1, true, false, true},
    {"distance", 1, false, false, false},
    {"distance-rate", 2, false, false, false},
    {"gyroscope", 2, true, false, false},
    {"acceleration", 3, true, true, false},
    {"angular-acceleration", 3, true, true, false},
    {"accelerometer", 3, true, false, false},
};

static void pair_signal(rm_gen *g, int kind) {
  static const char *const axes[] = {"x", "y", "z"};
  signal_add(g, of_pairs[kind].key, of_pairs[kind].level, of_pairs[kind].level < 3);
  const bool alone = strcmp(of_pairs[kind].key, "gyroscope") == 0 || strcmp(of_pairs[kind].key, "accelerometer") == 0;
  if (alone) {
    const int m = turning_marker(g);
    rm_put(&g->signal, ", \"of\": \"%s\"", m < 0 ? rm_body_name(g, 0) : rm_marker_name(g, m));
  } else {
    put_of(g);
  }
  if (of_pairs[kind].component) {
    put_component(g);
  }
  if (of_pairs[kind].axis) {
    rm_put(&g->signal, ", \"axis\": \"%s\"", axes[support_index(&g->rng, 3)]);
  }
  if (of_pairs[kind].in && rm_chance(g, 0.5)) {
    rm_put(&g->signal, ", \"in\": \"%s\"", rm_chance(g, 0.5) ? "reference" : "body");
  }
  rm_put(&g->signal, "}");
}

/* of a joint; with `rates` and accelerations too */
static void coordinate_signal(rm_gen *g, int kind) {
  static const char *const key[] = {"coordinate", "rate", "coordinate-acceleration"};
  for (int tries = 0; tries < 30 && g->njoint > 0; tries++) {
    const rm_joint *j = &g->joints[support_index(&g->rng, g->njoint)];
    const int k = support_index(&g->rng, 3);
    if (rm_coordinate(j->type, k) && j->stuck != k && (j->known || !g->opt->indifferent)) {
      signal_add(g, key[kind], kind + 1, kind < 2);
      rm_put(&g->signal, ", \"joint\": \"%s\", \"coordinate\": \"%s\"}", j->name, rm_coordinate(j->type, k));
      return;
    }
  }
}

static const char *some_signal(rm_gen *g, bool plain) {
  for (;;) {
    const rm_item *s = &g->signals[support_index(&g->rng, g->nsignal)];
    if (s->plain || !plain) {
      return s->name;
    }
  }
}

static void expression_signal(rm_gen *g, bool plain) {
  const char *a = some_signal(g, plain), *b = some_signal(g, plain), *p = rm_expression(g, rm_sign(g, 0.5, 2), 0.5);
  const char *u = time_factor(g);
  signal_add(g, "expression", 3, plain);
  switch (support_index(&g->rng, 3)) {
  case 0:
    rm_put(&g->signal, ", \"value\": \"(%s)*%s + sin(%s)\"}", p, a, b);
    return;
  case 1:
    rm_put(&g->signal, ", \"value\": \"tanh(0.3*%s*%s) - (%s)*%s\"}", a, b, p, u);
    return;
  default:
    rm_put(&g->signal, ", \"value\": \"%s^2/(1 + %s^2) + (%s)*t\"}", a, b, p);
    return;
  }
}

void rm_make_base_signals(rm_gen *g) {
  for (int i = 0; i < 3; i++) {
    pair_signal(g, support_index(&g->rng, 7));
  }
  coordinate_signal(g, 0);
  coordinate_signal(g, 1);
  signal_add(g, "control", 0, true);
  rm_put(&g->signal, ", \"control\": \"%s\"}", rm_chance(g, 0.5) ? "uc" : "ul");
  expression_signal(g, true);
  expression_signal(g, true);
}

static void reaction_signal(rm_gen *g) {
  static const char *const axes[] = {"reference", "body", "world"};
  static const char *const part[] = {"fx", "fy", "fz", "mx", "my", "mz"};
  const int kinds = g->njoint + g->ndriver + g->ncoupling;
  if (kinds == 0) {
    return;
  }
  const int k = support_index(&g->rng, kinds);
  signal_add(g, "reaction", 3, false);
  if (k < g->njoint) {
    rm_put(&g->signal, ", \"joint\": \"%s\"", g->joints[k].name);
  } else if (k < g->njoint + g->ndriver) {
    rm_put(&g->signal, ", \"driver\": \"d%d\"", k - g->njoint);
  } else {
    rm_put(&g->signal, ", \"coupling\": \"c%d\"", k - g->njoint - g->ndriver);
  }
  rm_put(&g->signal, ", \"component\": \"%s\"", part[support_index(&g->rng, 6)]);
  if (rm_chance(g, 0.7)) {
    rm_put(&g->signal, ", \"in\": \"%s\"", axes[support_index(&g->rng, g->opt->indifferent ? 2 : 3)]);
  }
  rm_put(&g->signal, "}");
}

static void force_signal(rm_gen *g, int i) {
  static const char *const axes[] = {"reference", "body", "world"};
  static const char *const part[] = {"fx", "fy", "fz", "mx", "my", "mz"};
  const rm_item *f = &g->forces[i];
  signal_add(g, "force", 2, false);
  rm_put(&g->signal, ", \"force\": \"%s\"", f->name);
  if (!f->law) {
    rm_put(&g->signal, ", \"component\": \"%s\"", part[support_index(&g->rng, 6)]);
    if (rm_chance(g, 0.7)) {
      rm_put(&g->signal, ", \"in\": \"%s\"", axes[support_index(&g->rng, g->opt->indifferent ? 2 : 3)]);
    }
  }
  rm_put(&g->signal, "}");
}

static void energy_signals(rm_gen *g) {
  signal_add(g, "kinetic-energy", 2, false);
  rm_put(&g->signal, "}");
  signal_add(g, "kinetic-energy", 2, false);
  rm_put(&g->signal, ", \"of\": \"%s\"}", rm_body_name(g, g->nbody - 1));
  signal_add(g, "potential-energy", 1, false);
  rm_put(&g->signal, "}");
  signal_add(g, "energy", 2, false);
  rm_put(&g->signal, "}");
}

/* expressions of the tension of a law that uses signals itself, and of each other */
static void tension_signals(rm_gen *g) {
  if (g->nforce == 0 || !g->forces[g->nforce - 1].law) {
    return;
  }
  signal_add(g, "force", 2, false);
  rm_put(&g->signal, ", \"force\": \"%s\"}", g->forces[g->nforce - 1].name);
  const char *tension = g->signals[g->nsignal - 1].name, *a = some_signal(g, true), *b = some_signal(g, true);
  signal_add(g, "expression", 2, false);
  const char *mixed = g->signals[g->nsignal - 1].name;
  rm_put(&g->signal, ", \"value\": \"0.1*%s*%s + sin(%s)\"}", tension, a, b);
  signal_add(g, "expression", 2, false);
  rm_put(&g->signal, ", \"value\": \"%s + 0.2*%s*%s\"}", mixed, tension, some_signal(g, true));
}

/* signals that no other part of the model uses: they take no random numbers, so that old seeds keep their models */
static void unused_signals(rm_gen *g) {
  static const char *const sequences[] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx",
                                          "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"};
  static const char *const which[] = {"first", "second", "third"};
  if (!g->opt->indifferent) {
    rm_entry(&g->signal, "euler");
    rm_put(&g->signal, "{\"type\": \"euler-angle\", \"of\": \"%s\", \"sequence\": \"%s\", \"angle\": \"%s\"}",
           rm_body_name(g, g->nbody - 1), sequences[(g->nbody + g->nsignal) % 12], which[(g->njoint + g->nforce) % 3]);
  }
  for (int k = 0; k < g->njoint; k++) {
    if (g->joints[k].type == RM_DISTANCE) {
      rm_entry(&g->signal, "axial");
      rm_put(&g->signal, "{\"type\": \"axial-force\", \"joint\": \"%s\"}", g->joints[k].name);
      return;
    }
  }
}

void rm_make_signals(rm_gen *g) {
  const int pairs = MBG_COUNT(of_pairs);
  for (int i = 0; i < (g->part || rm_special(g, RANDOM_SPARSE) ? 3 : 8); i++) {
    pair_signal(g, i < 3 ? pairs - 1 - i : support_index(&g->rng, pairs));
  }
  for (int i = 0; i < 3; i++) {
    coordinate_signal(g, i);
    reaction_signal(g);
  }
  for (int i = 0; i < g->nforce; i++) {
    force_signal(g, i);
  }
  energy_signals(g);
  expression_signal(g, false);
  expression_signal(g, false);
  tension_signals(g);
  unused_signals(g);
}

/* ---------------------------------------------------------------------- criteria */

void rm_make_criteria(rm_gen *g) {
  rm_entry(&g->criteria, "psi0");
  rm_put(&g->criteria, "{\"terminal\": \"%s\"}", some_signal(g, true));
  rm_entry(&g->criteria, "psi1");
  const char *y = some_signal(g, true);
  rm_put(&g->criteria, "{\"integral\": \"%s^2*%s\"}", y, rm_name(g));
  rm_entry(&g->criteria, "psi2");
  rm_put(&g->criteria, "{\"value\": \"psi0 + 2*psi1*%s\"}", rm_name(g));
}
