/* Rows on rates in random models: blades between planar bodies, wheels and balls, some on hills, between spatial ones.
   They close loops of the tree, and leave two freedoms more than they take on their path. */
#include "support/random_internal.h"

#include <math.h>

typedef enum { BLADE, BALL, WHEEL, KINDS } roller;

static bool fits(rm_gen *g, roller kind, int A, int B) {
  const bool spatial = (A < 0 || g->bodies[A].motion == RM_SPATIAL) && g->bodies[B].motion == RM_SPATIAL;
  const bool plain = !(A >= 0 && (g->bodies[A].modal || g->bodies[A].rotor || g->bodies[A].outer)) &&
                     !g->bodies[B].modal && !g->bodies[B].rotor && !g->bodies[B].outer;
  int free, turn;
  rm_path(g, A, B, 0, &free, &turn);
  return plain && rm_turns(g, A) && rm_turns(g, B) && !rm_parents(g, A, B) && (spatial || kind == BLADE) &&
         free >= (kind == BLADE ? 1 : 3) + 2 && turn >= (kind == BLADE ? 1 : 2);
}

/* a wheel that does not lie on its side; in the plane both markers keep their z axes */
static void relative_rotation(rm_gen *g, roller kind, bool flat, double R[9]) {
  do {
    rm_random_rotation(g, flat, R);
  } while (kind == WHEEL && hypot(R[6], R[7]) < 0.4);
}

/* hills that are level where the wheel or ball stands */
static void put_profile(rm_gen *g, roller kind, const mbg__frame *G, double r) {
  double at[2] = {G->x[0], G->x[1]};
  const double s = hypot(G->R[6], G->R[7]);
  for (int k = 0; k < 2 && kind == WHEEL; k++) {
    at[k] -= r * (G->R[3 * k] * G->R[6] + G->R[3 * k + 1] * G->R[7]) / s;
  }
  const char *a = rm_expression(g, rm_sign(g, 0.05, 0.3), 0.05), *b = rm_expression(g, rm_sign(g, 0.05, 0.3), 0.05);
  rm_put(&g->joint, ", \"profile\": \"(%s)*(x - %.17g)^2 + (%s)*sin(x - %.17g)*(y - %.17g) + 0.2*(y - %.17g)^3\"", a,
         at[0], b, at[0], at[1], at[1]);
}

static void put_roller(rm_gen *g, roller kind, int A, int B) {
  static const char *const keys[] = {"knife-edge", "rolling-ball", "rolling-wheel"};
  const bool flat = g->bodies[B].motion != RM_SPATIAL || (A >= 0 && g->bodies[A].motion != RM_SPATIAL);
  const double r = rm_between(g, 0.2, 0.6), tube = kind == WHEEL && rm_chance(g, 0.6) ? rm_between(g, 0.02, 0.1) : 0;
  mbg__frame h = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}}, HB, G = h, inverse, HA, hA;
  rm_random_rotation(g, flat, h.R);
  h.x[0] = rm_sign(g, 0, 0.4);
  h.x[1] = rm_sign(g, 0, 0.4);
  h.x[2] = flat ? 0 : rm_sign(g, 0, 0.4);
  frame_mul(&HB, rm_frame(g, B), &h);
  relative_rotation(g, kind, flat, G.R);
  G.x[0] = rm_sign(g, 0, 0.5);
  G.x[1] = rm_sign(g, 0, 0.5);
  G.x[2] = kind == BALL ? r : kind == WHEEL ? r * hypot(G.R[6], G.R[7]) + tube : 0;
  frame_inv(&inverse, &G);
  frame_mul(&HA, &HB, &inverse);
  frame_relative(&hA, rm_frame(g, A), &HA);
  const int markers[2] = {rm_marker_add(g, A, &hA), rm_marker_add(g, B, &h)};
  rm_entry(&g->joint, rm_string(g, "roll%d", g->nroller++));
  rm_put(&g->joint, "{\"type\": \"%s\", \"between\": [\"%s\", \"%s\"]", keys[kind], rm_marker_name(g, markers[0]),
         rm_marker_name(g, markers[1]));
  if (kind != BLADE) {
    rm_put(&g->joint, ", \"radius\": %s", rm_number(g, r, 0.1));
    rm_put(&g->joint, ", \"level\": \"%s\"", rm_chance(g, 0.5) ? "velocity" : "position");
    if (rm_chance(g, 0.5)) {
      rm_put(&g->joint, ", \"stabilization\": %s", rm_number(g, rm_between(g, 5, 30), 1));
    }
  }
  if (kind != BLADE && g->opt->guides && rm_chance(g, 0.4)) {
    put_profile(g, kind, &G, r);
  }
  if (tube > 0) {
    rm_put(&g->joint, ", \"tube\": %s", rm_number(g, tube, 0.01));
  }
  rm_put(&g->joint, "}");
}

void rm_make_rollers(rm_gen *g) {
  const int wanted = 1 + support_index(&g->rng, 2);
  for (int tries = 0; tries < 60 && g->nroller < wanted; tries++) {
    const int A = support_index(&g->rng, g->nbody + 1) - 1, B = support_index(&g->rng, g->nbody);
    const roller kind = (roller)support_index(&g->rng, KINDS);
    int free, turn;
    if (A == B || !fits(g, kind, A, B)) {
      continue;
    }
    put_roller(g, kind, A, B);
    rm_path(g, A, B, kind == BLADE ? 1 : 3, &free, &turn);
  }
}
