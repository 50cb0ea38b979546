/* Joints on curves and surfaces in random models: slots, wires, rollers, flat faces, curved followers, surfaces. Curves
   are ellipses with a bump, helices, and splines through points of both; markers stand where the joint holds, of
   splines nearly so. They close loops of the tree, and leave freedoms on their path. */
#include "support/random_internal.h"

#include <math.h>

typedef enum { SLOT, WIRE, ROLLER, FACE, TOUCH, SURFACE, KINDS } guide;

/* an ellipse with a bump, or a helix, and the place of contact */
typedef struct {
  bool spatial;
  double a, b, s, x[3], n[2]; /* half axes or radius and rise; point and normal to the outside */
  const char *name;
} path;

enum { POINTS = 9 }; /* of splines; contacts begin between two of them */

static const double bump = 0.02;

static void point_of(const path *c, double s, double x[3]) {
  x[0] = c->a * cos(s);
  x[1] = c->spatial ? c->a * sin(s) : c->b * sin(s) + bump * cos(3 * s);
  x[2] = c->spatial ? c->b * s : 0;
}

static void put_spline(rm_gen *g, const path *c) {
  rm_put(&g->curve, "{\"points\": [");
  for (int k = 0; k < POINTS; k++) {
    const double s = c->spatial ? c->s + (k - POINTS / 2 - 0.5) * 0.6 : 2 * M_PI * k / POINTS;
    double x[3];
    point_of(c, s, x);
    rm_put(&g->curve, "%s[%s, %s", k ? ", " : "", rm_number(g, x[0], 0.02), rm_number(g, x[1], 0.02));
    rm_put(&g->curve, "%s%s]", c->spatial ? ", " : "", c->spatial ? rm_number(g, x[2], 0.02) : "");
  }
  rm_put(&g->curve, "]%s}", c->spatial ? "" : ", \"closed\": true");
}

static void put_expressions(rm_gen *g, const path *c) {
  const char *a = rm_expression(g, c->a, 0.05), *b = rm_expression(g, c->b, 0.05);
  if (c->spatial) {
    rm_put(&g->curve, "{\"x\": \"(%s)*cos(s)\", \"y\": \"(%s)*sin(s)\", \"z\": \"(%s)*s\", \"from\": -6, \"to\": 12}",
           a, a, b);
  } else {
    rm_put(&g->curve, "{\"x\": \"(%s)*cos(s)\", \"y\": \"(%s)*sin(s) + %g*cos(3*s)\", \"to\": \"2*pi\", ", a, b, bump);
    rm_put(&g->curve, "\"closed\": true}");
  }
}

static path make_path(rm_gen *g, bool spatial) {
  path c = {.spatial = spatial, .a = rm_between(g, 0.4, 0.8), .b = rm_between(g, 0.4, 0.8)};
  c.s = 2 * M_PI * (1.5 + support_index(&g->rng, POINTS - 3)) / POINTS; /* s of closed curves does not begin again */
  point_of(&c, c.s, c.x);
  const double t[2] = {-c.a * sin(c.s), c.b * cos(c.s) - 3 * bump * sin(3 * c.s)}, l = hypot(t[0], t[1]);
  c.n[0] = t[1] / l;
  c.n[1] = -t[0] / l;
  c.name = rm_string(g, "curve%d", g->ncurve++);
  rm_entry(&g->curve, c.name);
  if (rm_chance(g, 0.5)) {
    put_spline(g, &c);
  } else {
    put_expressions(g, &c);
  }
  return c;
}

/* ---------------------------------------------------------------------- one joint */

static void turn_z(double angle, double R[9]) {
  const double w[3] = {0, 0, angle};
  mbg__so3_exp(R, w);
}

/* keys of the joint, and the frame of marker B in that of A */
static const char *make_joint(rm_gen *g, guide kind, bool flat, mbg__frame *G) {
  rm_random_rotation(g, flat, G->R);
  if (kind == SURFACE) {
    const double a = rm_sign(g, 0.2, 0.8), b = flat ? 0 : rm_sign(g, 0.2, 0.8);
    G->x[0] = rm_sign(g, 0, 0.4);
    G->x[1] = rm_sign(g, 0, 0.4);
    G->x[2] = a * sin(G->x[0]) + b * G->x[1] * G->x[1];
    if (flat) {
      G->x[1] = G->x[2];
      G->x[2] = 0;
      return rm_string(g, "\"point-on-surface\", \"surface\": \"y - (%s)*sin(x)\"", rm_expression(g, a, 0.1));
    }
    return rm_string(g, "\"point-on-surface\", \"surface\": \"z - (%s)*sin(x) - (%s)*y^2\"", rm_expression(g, a, 0.1),
                     rm_expression(g, b, 0.1));
  }
  const path c = make_path(g, kind == WIRE);
  v3_copy(G->x, c.x);
  if (kind == SLOT || kind == WIRE) {
    return rm_string(g, "\"point-on-curve\", \"curve\": \"%s\"", c.name);
  }
  const double side = atan2(c.n[1], c.n[0]);
  if (kind == ROLLER) {
    const double r = rm_between(g, 0.05, 0.1);
    G->x[0] += r * c.n[0];
    G->x[1] += r * c.n[1];
    G->x[2] = flat ? 0 : rm_sign(g, 0, 0.3);
    return rm_string(g, "\"roller-on-curve\", \"curve\": \"%s\", \"radius\": %s", c.name, rm_number(g, r, 0.01));
  }
  if (kind == FACE) { /* y of B along the normal, its origin beside the contact */
    const double beside = rm_sign(g, 0, 0.3);
    turn_z(side - M_PI / 2, G->R);
    G->x[0] -= beside * c.n[1];
    G->x[1] += beside * c.n[0];
    return rm_string(g, "\"flat-on-curve\", \"curve\": \"%s\"", c.name);
  }
  const path d = make_path(g, false);
  double x[3];
  turn_z(side + M_PI - atan2(d.n[1], d.n[0]), G->R);
  m3_mulv(x, G->R, d.x);
  v3_sub(G->x, G->x, x);
  return rm_string(g, "\"curve-on-curve\", \"curve\": \"%s\", \"follower\": \"%s\"", c.name, d.name);
}

static void put_signals(rm_gen *g, guide kind, const char *joint) {
  static const char *const quantities[] = {"s", "arc", "x", "curvature", "normal"};
  const int count = kind == WIRE ? 4 : MBG_COUNT(quantities);
  for (int k = 0; k < count && kind != SURFACE && g->opt->signals; k++) {
    rm_entry(&g->signal, rm_string(g, "%s_%s", joint, quantities[k]));
    rm_put(&g->signal, "{\"type\": \"curve-contact\", \"joint\": \"%s\", \"quantity\": \"%s\"%s}", joint, quantities[k],
           kind == TOUCH && k != 4 && rm_chance(g, 0.5) ? ", \"on\": \"follower\"" : "");
  }
}

static void put_guide(rm_gen *g, guide kind, int A, int B, bool flat) {
  mbg__frame h = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}}, HB, G = h, inverse, HA, hA;
  if (rm_turns(g, B)) {
    rm_random_rotation(g, flat, h.R);
    h.x[0] = rm_sign(g, 0, 0.3);
    h.x[1] = rm_sign(g, 0, 0.3);
    h.x[2] = flat ? 0 : rm_sign(g, 0, 0.3);
  }
  frame_mul(&HB, rm_frame(g, B), &h);
  const char *keys = make_joint(g, kind, flat, &G), *name = rm_string(g, "guide%d", g->nguide++);
  frame_inv(&inverse, &G);
  frame_mul(&HA, &HB, &inverse);
  frame_relative(&hA, rm_frame(g, A), &HA);
  const int a = rm_marker_add(g, A, &hA), b = rm_marker_add(g, B, &h);
  rm_entry(&g->joint, name);
  rm_put(&g->joint, "{\"type\": %s, \"between\": [\"%s\", \"%s\"]}", keys, rm_marker_name(g, a), rm_marker_name(g, b));
  put_signals(g, kind, name);
}

/* ---------------------------------------------------------------------- where */

static int rows_of(guide kind, bool flat) { return !flat && (kind == SLOT || kind == WIRE) ? 2 : 1; }

static bool is_plain(const rm_gen *g, int body) {
  return body < 0 || (!g->bodies[body].rotor && !g->bodies[body].outer);
}

static bool fits(rm_gen *g, guide kind, int A, int B, bool flat) {
  const bool space = !flat && (A < 0 || g->bodies[A].motion == RM_SPATIAL) &&
                     (g->bodies[B].motion == RM_SPATIAL || g->bodies[B].motion == RM_POINT);
  int free, turn;
  rm_path(g, A, B, 0, &free, &turn);
  if (rm_parents(g, A, B) || !rm_turns(g, A) || !is_plain(g, A) || !is_plain(g, B) || !(flat || space)) {
    return false;
  }
  if (flat ? kind == WIRE : kind == FACE || kind == TOUCH) {
    return false;
  }
  return free >= rows_of(kind, flat) + (flat ? 1 : 2) && ((kind != FACE && kind != TOUCH) || rm_turns(g, B));
}

void rm_make_guides(rm_gen *g) {
  const int wanted = 1 + support_index(&g->rng, 2);
  for (int tries = 0; tries < 80 && g->nguide < wanted; tries++) {
    const int A = support_index(&g->rng, g->nbody + 1) - 1, B = support_index(&g->rng, g->nbody);
    const guide kind = (guide)support_index(&g->rng, KINDS);
    const bool flat = g->opt->kind == RANDOM_PLANAR || (rm_in_plane(g, B) && A >= 0 && rm_in_plane(g, A));
    int free, turn;
    if (A != B && fits(g, kind, A, B, flat)) {
      put_guide(g, kind, A, B, flat);
      rm_path(g, A, B, rows_of(kind, flat), &free, &turn);
    }
  }
}
