/* Beams of a random model: straight, curved and through points, all sections, numbers of the elements in every form,
   held at one end by a joint, free or sprung at the other. Stiffnesses are those of the other elements: E A of order
   100, E I of order 1. */
#include "support/random_internal.h"

#include <string.h>

/* a number of all elements: one, one for each, or linear along the beam */
const char *rm_series(rm_gen *g, int n, double x) {
  const int form = support_index(&g->rng, 4);
  if (form == 0) {
    return rm_string(g, "{\"from\": %s, \"to\": %s}", rm_number(g, x, 0.1 * x), rm_number(g, 1.2 * x, 0.1 * x));
  }
  if (form == 1 && n <= 3) {
    const char *a = rm_number(g, x, 0.1 * x), *b = rm_number(g, 0.9 * x, 0.1 * x), *c = rm_number(g, 1.1 * x, 0.1 * x);
    return n == 1   ? rm_string(g, "[%s]", a)
           : n == 2 ? rm_string(g, "[%s, %s]", a, b)
                    : rm_string(g, "[%s, %s, %s]", a, b, c);
  }
  return rm_number(g, x, 0.1 * x);
}

/* decided by numbers that are drawn again later: modal bodies have sections, too, and keep their seeds */
static bool by_saint_venant(rm_gen *g) {
  const support_rng before = g->rng;
  (void)rm_chance(g, 0.5);
  const bool yes = rm_chance(g, 0.5);
  g->rng = before;
  return yes;
}

const char *rm_section(rm_gen *g, int n) {
  const char *shear = rm_chance(g, 0.5) ? rm_string(g, ", \"shear\": [%s, 0.7]", rm_number(g, 0.8, 0.1)) : "";
  const char *torsion = rm_chance(g, 0.3)    ? rm_string(g, ", \"torsion\": %s", rm_series(g, n, 2e-3))
                        : by_saint_venant(g) ? ", \"torsion\": \"saint-venant\""
                                             : "";
  switch (support_index(&g->rng, 4)) {
  case 0:
    return rm_string(g, "{\"type\": \"rectangle\", \"width\": %s, \"height\": %s%s%s}", rm_series(g, n, 0.3),
                     rm_series(g, n, 0.35), shear, torsion);
  case 1:
    return rm_string(g, "{\"type\": \"circle\", \"diameter\": %s%s%s}", rm_series(g, n, 0.35), shear, torsion);
  case 2:
    return rm_string(g, "{\"type\": \"tube\", \"diameter\": %s, \"wall\": %s%s%s}", rm_series(g, n, 0.4),
                     rm_series(g, n, 0.1), shear, torsion);
  default:
    return rm_string(g, "{\"type\": \"general\", \"A\": %s, \"I2\": %s, \"I3\": %s, \"Jt\": %s%s}",
                     rm_series(g, n, 0.1), rm_series(g, n, 1e-3), rm_series(g, n, 1.5e-3), rm_series(g, n, 2e-3),
                     shear);
  }
}

/* Elements turn by 1.5 rad at most: above 2 they warn, at 0.95 pi they are refused, and runs turn them further. */
static void admissible(double k[3], double L) {
  const double turn = L * sqrt(v3_dot(k, k));
  if (turn > 1.5) {
    v3_scale(k, 1.5 / turn, k);
  }
}

/* two to five points that bend off the way from `from` along `along`, and no further apart than elements can turn */
static void put_points(rm_gen *g, const double from[3], double length, const double along[3], const double side[3]) {
  const int count = 2 + support_index(&g->rng, 4);
  rm_put(&g->beam, ", \"points\": [");
  for (int i = 0; i < count; i++) {
    const double s = (double)i / (count - 1);
    double P[3];
    v3_copy(P, from);
    v3_axpy(P, s * length, along);
    v3_axpy(P, s * s * rm_between(g, -0.1, 0.1) * length, side);
    rm_put(&g->beam, "%s%s", i ? ", " : "", rm_world_point(g, P, 0.2));
  }
  rm_put(&g->beam, "]");
}

static void put_shape(rm_gen *g, int n, const double from[3]) {
  double along[3], to[3], side[3], k[3];
  const double length = rm_between(g, 0.5, 1);
  support_direction(&g->rng, along);
  support_direction(&g->rng, side);
  v3_cross_add(side, 2, along, side); /* not along the beam */
  const double way = rm_between(g, 0, 1);
  rm_put(&g->beam, "{\"elements\": %d", n);
  if (way < 0.3) {
    put_points(g, from, length, along, side);
  } else {
    rm_put(&g->beam, ", \"from\": %s", rm_world_point(g, from, 0.2));
  }
  if (way >= 0.3 && way < 0.65) {
    v3_copy(to, from);
    v3_axpy(to, length, along);
    rm_put(&g->beam, ", \"to\": %s", rm_world_point(g, to, 0.2));
  } else if (way >= 0.65) {
    support_normals(&g->rng, k, 3);
    admissible(k, length / n);
    rm_put(&g->beam, ", \"direction\": %s", rm_world_direction(g, along, 0.2));
    rm_put(&g->beam, ", \"length\": %s, \"curvature\": %s", rm_number(g, length, 0.2), rm_vec(g, k, 0.3));
  }
  rm_put(&g->beam, ", \"orient\": %s", rm_world_direction(g, side, 0.2));
}

static void put_material(rm_gen *g, int n) {
  const bool damped = !g->opt->conservative && rm_chance(g, 0.7);
  rm_put(&g->beam, ", \"section\": %s", rm_section(g, n));
  rm_put(&g->beam, ", \"E\": %s", rm_series(g, n, 1000));
  if (rm_chance(g, 0.5)) {
    rm_put(&g->beam, ", \"nu\": %s", rm_series(g, n, 0.3));
  } else {
    rm_put(&g->beam, ", \"G\": %s", rm_series(g, n, 400));
  }
  rm_put(&g->beam, ", \"rho\": %s", rm_series(g, n, 10));
  if (damped) {
    rm_put(&g->beam, ", \"damping\": %s", rm_series(g, n, 0.01));
  }
  if (rm_chance(g, 0.5)) {
    rm_put(&g->beam, ", \"fill\": %s", rm_series(g, n, 0.8));
  }
  if (rm_chance(g, 0.3)) {
    rm_put(&g->beam, ", \"mass\": \"lumped\"");
  }
}

static void put_beam_signals(rm_gen *g, const char *name, int n) {
  static const char *const components[] = {"axial", "shear2", "shear3", "torsion", "bending2", "bending3"};
  const int e = support_index(&g->rng, n);
  const char *base = rm_string(g, "\"beam\": \"%s\", \"element\": %d", name, e);
  rm_entry(&g->signal, rm_string(g, "%s_strain", name));
  rm_put(&g->signal, "{\"type\": \"strain\", %s, \"component\": \"%s\"}", base, components[support_index(&g->rng, 6)]);
  rm_entry(&g->signal, rm_string(g, "%s_force", name));
  rm_put(&g->signal, "{\"type\": \"section-force\", %s, \"component\": %d}", base, 1 + support_index(&g->rng, 6));
  rm_entry(&g->signal, rm_string(g, "%s_stress", name));
  rm_put(&g->signal, "{\"type\": \"stress\", %s, \"y\": %s, \"z\": -0.1}", base, rm_number(g, 0.15, 0.1));
  rm_entry(&g->signal, rm_string(g, "%s_kinetic", name));
  rm_put(&g->signal, "{\"type\": \"kinetic-energy\", \"of\": \"%s.%d\"}", name, e);
  rm_entry(&g->signal, rm_string(g, "%s_energy", name));
  rm_put(&g->signal, "{\"type\": \"strain-energy\"%s}",
         rm_chance(g, 0.7) ? rm_string(g, ", \"beam\": \"%s\"", name) : "");
}

/* the joint that holds the first node; a spherical one without markers takes the axes of the world */
static void put_root(rm_gen *g, const char *name, int body, const char *type, const double from[3], const double z[3],
                     const double x[3]) {
  const bool ball = !strcmp(type, "spherical");
  if (ball && g->opt->indifferent) {
    mbg__frame at = *rm_frame(g, body), h;
    v3_copy(at.x, from);
    frame_relative(&h, rm_frame(g, body), &at);
    const int marker = rm_marker_add(g, body, &h);
    rm_entry(&g->joint, rm_string(g, "%s_root", name));
    rm_put(&g->joint, "{\"type\": \"spherical\", \"between\": [\"%s\", \"%s.0\"]}", rm_marker_name(g, marker), name);
    return;
  }
  rm_entry(&g->joint, rm_string(g, "%s_root", name));
  rm_put(&g->joint, "{\"type\": \"%s\", \"between\": [\"%s\", \"%s.0\"], \"at\": %s", type, rm_body_name(g, body), name,
         rm_world_point(g, from, 0.2));
  if (!ball) {
    rm_put(&g->joint, ", \"axis\": %s", rm_world_direction(g, z, 0.2));
    rm_put(&g->joint, ", \"x\": %s", rm_world_direction(g, x, 0.2));
  }
  rm_put(&g->joint, "}");
}

void rm_make_beams(rm_gen *g) {
  static const char *const joints[] = {"fixed", "spherical", "revolute"}, *const names[] = {"beam0", "beam1"};
  const int count = 1 + support_index(&g->rng, 2);
  for (int i = 0; i < count; i++) {
    const int n = 1 + support_index(&g->rng, 4), type = support_index(&g->rng, 3);
    const char *name = names[i];
    double from[3], W[3], axis[3];
    int body = support_index(&g->rng, g->nbody + 1) - 1;
    body = body >= 0 && (g->bodies[body].motion != RM_SPATIAL || g->bodies[body].outer || g->bodies[body].nodes) ? -1
                                                                                                                 : body;
    support_normals(&g->rng, from, 3);
    support_normals(&g->rng, W, 3);
    support_direction(&g->rng, axis);
    rm_entry(&g->beam, name);
    put_shape(g, n, from);
    put_material(g, n);
    rm_put(&g->beam, ", \"velocity\": %s", rm_world_direction(g, axis, 0.3));
    rm_put(&g->beam, ", \"angular_velocity\": %s}", rm_world_direction(g, W, 0.3));
    put_root(g, name, body, joints[type], from, axis, W);
    if (g->opt->forces && rm_chance(g, 0.6)) {
      rm_entry(&g->force, rm_string(g, "%s_spring", name));
      rm_put(&g->force, "{\"type\": \"spring-damper\", \"between\": [\"%s\", \"%s.%d\"], \"along\": \"distance\"",
             rm_ground(g), name, n);
      rm_put(&g->force, ", \"stiffness\": 20, \"rest\": %s}", rm_number(g, 0.5, 0.3));
    }
    if (g->opt->signals) {
      put_beam_signals(g, name, n);
    }
  }
}
