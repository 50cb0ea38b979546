/* Tendons over markers and, in the plane, a pulley; couplings of rates; gears, belts, racks and differentials. */
#include "support/random_internal.h"

#include <math.h>

/* ---------------------------------------------------------------------- tendons */

enum { PLACES = 4 };

/* places of one tendon in their order; in the plane the second may be a pulley */
typedef struct {
  int n, marker[PLACES];
  bool pulley;
  double radius, length; /* of the design */
  const char *side;
} rope;

static double apart(const rm_gen *g, int a, int b, double d[3]) {
  mbg__frame A, B;
  rm_marker_frame(g, a, &A);
  rm_marker_frame(g, b, &B);
  v3_sub(d, B.x, A.x);
  return v3_norm(d);
}

/* length over a pulley between two markers; false where the tendon hardly lies on it */
static bool wrap(rope *r, const double to[3], const double from[3]) {
  const double d1 = v3_norm(to), d2 = v3_norm(from), R = r->radius;
  const double turn = atan2(to[0] * from[1] - to[1] * from[0], to[0] * from[0] + to[1] * from[1]);
  if (fabs(turn) < 0.4 || fabs(turn) > 2.6 || d1 < 2 * R || d2 < 2 * R) {
    return false;
  }
  r->side = turn > 0 ? "left" : "right";
  r->length += R * (fabs(turn) + asin(R / d1) + asin(R / d2)) + sqrt(d1 * d1 - R * R) + sqrt(d2 * d2 - R * R);
  return true;
}

/* markers of different bodies that are not near each other */
static bool choose_places(rm_gen *g, rope *r) {
  double d[PLACES][3];
  r->n = 2 + support_index(&g->rng, PLACES - 1);
  r->pulley = g->opt->kind == RANDOM_PLANAR && r->n >= 3 && rm_chance(g, 0.7);
  r->radius = rm_between(g, 0.02, 0.06);
  r->length = 0;
  for (int i = 0; i < r->n; i++) {
    r->marker[i] = g->pool + support_index(&g->rng, g->npool - g->pool);
    if (i > 0 && (apart(g, r->marker[i - 1], r->marker[i], d[i]) < 0.25 ||
                  g->markers[r->marker[i - 1]].body == g->markers[r->marker[i]].body)) {
      return false;
    }
  }
  if (r->pulley && !wrap(r, d[1], d[2])) {
    return false;
  }
  for (int i = r->pulley ? 3 : 1; i < r->n; i++) {
    r->length += v3_norm(d[i]);
  }
  return true;
}

static void put_via(rm_gen *g, rm_text *text, const rope *r) {
  rm_put(text, "\"via\": [");
  for (int i = 0; i < r->n; i++) {
    const char *name = rm_marker_name(g, r->marker[i]);
    rm_put(text, "%s", i ? ", " : "");
    if (r->pulley && i == 1) {
      rm_put(text, "{\"pulley\": \"%s\", \"radius\": %s, \"side\": \"%s\"}", name, rm_number(g, r->radius, 0.01),
             r->side);
    } else {
      rm_put(text, "\"%s\"", name);
    }
  }
  rm_put(text, "]");
}

static void put_signals(rm_gen *g, const char *kind, const char *name) {
  static const char *const quantities[] = {"length", "rate", "tension"};
  for (int k = 0; k < MBG_COUNT(quantities) && g->opt->signals; k++) {
    rm_entry(&g->signal, rm_string(g, "%s_%s", name, quantities[k]));
    rm_put(&g->signal, "{\"type\": \"tendon\", \"%s\": \"%s\", \"quantity\": \"%s\"}", kind, name, quantities[k]);
  }
}

/* one or two branches; the sum of ratio x length */
static double put_branches(rm_gen *g, rm_text *text, const rope *first) {
  rope second;
  if (!rm_chance(g, 0.3) || !choose_places(g, &second)) {
    put_via(g, text, first);
    return first->length;
  }
  const double ratio = rm_between(g, 0.2, 0.6);
  rm_put(text, "\"branches\": [{");
  put_via(g, text, first);
  rm_put(text, "}, {");
  put_via(g, text, &second);
  rm_put(text, ", \"ratio\": %s}]", rm_number(g, ratio, 0.1));
  return first->length + ratio * second.length;
}

static void put_elastic(rm_gen *g) {
  rope r;
  const char *name = rm_string(g, "rope%d", g->nrope++);
  while (!choose_places(g, &r)) {
  }
  rm_entry(&g->force, name);
  rm_put(&g->force, "{\"type\": \"elastic-tendon\", ");
  const double length = put_branches(g, &g->force, &r);
  rm_put(&g->force, ", \"stiffness\": %s", rm_number(g, rm_between(g, 10, 100), 1));
  rm_put(&g->force, ", \"rest\": %s", rm_number(g, rm_between(g, 0.8, 1.1) * length, 0.1));
  if (rm_chance(g, 0.7)) {
    rm_put(&g->force, ", \"damping\": %s", rm_number(g, rm_between(g, 0.1, 2), 0.1));
  }
  if (rm_chance(g, 0.5)) {
    rm_put(&g->force, ", \"slack\": %s", rm_number(g, rm_between(g, 0.5, 3), 0.1));
  }
  if (rm_chance(g, 0.5)) {
    rm_put(&g->force, ", \"preload\": \"%s\"", rm_law(g, rm_between(g, 0, 3)));
  }
  rm_put(&g->force, "}");
  put_signals(g, "force", name);
}

/* a row: its ends are as free against each other as a loop asks for */
static void put_inextensible(rm_gen *g) {
  rope r;
  int free = 0, turn, tries = 0, A = 0, B = 0;
  do {
    if (tries++ == 40) {
      return;
    }
    if (choose_places(g, &r)) {
      A = g->markers[r.marker[0]].body;
      B = g->markers[r.marker[r.n - 1]].body;
      rm_path(g, A, B, 0, &free, &turn);
    }
  } while (free < (g->opt->kind == RANDOM_PLANAR ? 2 : 3) || rm_parents(g, A, B));
  const char *name = rm_string(g, "rope%d", g->nrope++);
  rm_path(g, A, B, 1, &free, &turn);
  rm_entry(&g->coupling, name);
  rm_put(&g->coupling, "{\"type\": \"tendon\", ");
  const double length = put_branches(g, &g->coupling, &r);
  if (rm_chance(g, 0.5)) {
    rm_put(&g->coupling, ", \"length\": %s}", rm_number(g, length, 0.05));
  } else {
    rm_put(&g->coupling, ", \"length\": \"%s\"}", rm_law(g, length));
  }
  put_signals(g, "coupling", name);
}

/* ---------------------------------------------------------------------- couplings */

/* joints whose angle is about z, or whose displacement is along z, and alone of its kind */
static bool suits(const rm_joint *j, int k) {
  return j->type == RM_REVOLUTE || j->type == RM_PRISMATIC || j->type == RM_CYLINDRICAL || j->type == RM_SCREW ||
         (j->type == RM_PLANAR_JOINT && k == 2);
}

static int find(rm_gen *g, int wanted, rm_joint *j[], int k[]) {
  int n = 0;
  for (int tries = 0; tries < 20 && n < wanted; tries++) {
    if (!rm_find_coordinate(g, &j[n], &k[n]) || !suits(j[n], k[n])) {
      continue;
    }
    bool again = false;
    for (int i = 0; i < n; i++) {
      again = again || j[i] == j[n];
    }
    n += !again;
  }
  return n;
}

static void put_velocity(rm_gen *g) {
  static const char *const components[] = {"vx", "vy", "wz", "vz", "wx", "wy"};
  const int marker = g->pool + support_index(&g->rng, g->npool - g->pool), body = g->markers[marker].body;
  if (body >= 0 && rm_turns(g, body)) {
    rm_put(&g->coupling, ", {\"of\": \"%s\", \"component\": \"%s\", \"factor\": %s}", rm_marker_name(g, marker),
           components[support_index(&g->rng, rm_in_plane(g, body) ? 3 : 6)], rm_number(g, rm_sign(g, 0.2, 1), 0.1));
  }
}

static void put_rates(rm_gen *g) {
  rm_joint *j[2];
  int k[2];
  const int n = find(g, 1 + support_index(&g->rng, 2), j, k);
  if (n == 0) {
    return;
  }
  rm_entry(&g->coupling, rm_string(g, "rates%d", g->nrope++));
  rm_put(&g->coupling, "{\"type\": \"rates\", \"rates\": [");
  for (int i = 0; i < n; i++) {
    rm_put(&g->coupling, "%s", i ? ", " : "");
    rm_put_coordinate(g, &g->coupling, j[i], k[i]);
    rm_put(&g->coupling, ", \"factor\": %s}", rm_number(g, rm_sign(g, 0.5, 2), 0.2));
  }
  if (rm_chance(g, 0.5)) {
    put_velocity(g);
  }
  if (rm_chance(g, 0.5)) {
    rm_put(&g->coupling, "], \"constant\": %s}", rm_number(g, rm_sign(g, 0, 0.5), 0.1));
  } else {
    rm_put(&g->coupling, "], \"constant\": \"%s\"}", rm_law(g, rm_sign(g, 0, 0.5)));
  }
  rm_take(g, j[0], k[0]);
}

/* two wheels, a pinion with its rack, or a differential */
static void put_named(rm_gen *g) {
  rm_joint *j[3];
  int k[3];
  bool turns = true;
  const int n = find(g, 2 + support_index(&g->rng, 2), j, k);
  for (int i = 0; i < n; i++) {
    turns = turns && rm_coordinate_turns(j[i]->type, k[i]);
  }
  if (n < 2) {
    return;
  }
  const bool rack = n == 2 && rm_coordinate_turns(j[0]->type, k[0]) != rm_coordinate_turns(j[1]->type, k[1]);
  if (!turns && !rack) {
    return;
  }
  const double a = rm_between(g, 0.5, 2), b = rm_between(g, 0.5, 2), q0 = j[0]->q[k[0]], q1 = j[1]->q[k[1]];
  double constant = rm_sign(g, 0, 0.05);
  rm_entry(&g->coupling, rm_string(g, "wheels%d", g->nrope++));
  if (n == 3) {
    constant += a * (q1 + j[2]->q[k[2]]) - 2 * q0;
    rm_put(&g->coupling, "{\"type\": \"differential\", \"input\": \"%s\", \"outputs\": [\"%s\", \"%s\"], \"ratio\": %s",
           j[0]->name, j[1]->name, j[2]->name, rm_number(g, a, 0.1));
  } else if (rack) {
    const int p = rm_coordinate_turns(j[0]->type, k[0]) ? 0 : 1;
    constant += p == 0 ? q1 - a * q0 : q0 - a * q1;
    rm_put(&g->coupling, "{\"type\": \"rack\", \"pinion\": \"%s\", \"rack\": \"%s\", \"radius\": %s", j[p]->name,
           j[1 - p]->name, rm_number(g, a, 0.1));
  } else {
    const bool belt = rm_chance(g, 0.5);
    constant += a * q0 + (belt ? -b : b) * q1;
    rm_put(&g->coupling, "{\"type\": \"%s\", \"joints\": [\"%s\", \"%s\"], \"%s\": [%s, %s]", belt ? "belt" : "gear",
           j[0]->name, j[1]->name, belt ? "radii" : "teeth", rm_number(g, a, 0.1), rm_number(g, b, 0.1));
  }
  rm_put(&g->coupling, ", \"constant\": %s}", rm_number(g, constant, 0.1));
  rm_take(g, j[0], k[0]);
}

void rm_make_ropes(rm_gen *g) {
  if (rm_chance(g, 0.7)) {
    put_inextensible(g);
  }
  if (g->opt->forces && rm_chance(g, 0.7)) {
    put_elastic(g);
  }
  if (!g->opt->mirrorable && rm_chance(g, 0.5)) {
    put_rates(g);
  }
  if (rm_chance(g, 0.5)) {
    put_named(g);
  }
}
