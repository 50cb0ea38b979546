/* Special models: what hand-written models are full of and a generator of general numbers never meets. Points coincide,
   offsets are 0, axes lie along coordinate axes, bodies are alike, nothing moves at the start, parameters are 0 or 1;
   few bodies and few elements, so that nothing else hides a fault; rotors that turn by 0.05 to 2 rad a step. Switches,
   drawn from the seed, are on or off for the whole model. */
#include "support/random_internal.h"

#include <stdio.h>

bool rm_special(const rm_gen *g, unsigned bit) { return (g->opt->special & bit) != 0; }

random_model_options random_model_special(uint64_t seed) {
  static const double chance[] = {0.6, 0.5, 0.4, 0.5, 0.4, 0.7, 0.6, 0.2, 0.5, 0.3, 0.5};
  random_model_options opt = random_model_mix(seed);
  support_rng rng = support_rng_make(seed ^ 0x9e3779b9u);
  for (int i = 0; i < MBG_COUNT(chance); i++) {
    opt.special |= support_uniform(&rng, 0, 1) < chance[i] ? 1u << i : 0;
  }
  opt.special |= RANDOM_SPECIAL;
  opt.pins = support_uniform(&rng, 0, 1) < 0.3;
  opt.guesses = support_uniform(&rng, 0, 1) < 0.5;
  if (opt.special & RANDOM_SPARSE) {
    opt.bodies = 1 + support_index(&rng, 2);
    opt.forces = support_uniform(&rng, 0, 1) < 0.5;
  }
  return opt;
}

/* ---------------------------------------------------------------------- places */

/* the largest power of two between the bounds, exact in every sum of a few of them */
static double round_length(double low, double high) {
  double x = 1;
  while (x >= high) {
    x /= 2;
  }
  return fmax(x, low);
}

/* A length between the bounds, or 0 where it need not be large; false: a general one is wanted. */
bool rm_special_offset(rm_gen *g, bool flat, double low, double high, double x[3]) {
  if (rm_special(g, RANDOM_COINCIDENT) && low < 0.3 && rm_chance(g, 0.7)) {
    v3_zero(x);
    return true;
  }
  if (!rm_special(g, RANDOM_ALIGNED)) {
    return false;
  }
  v3_zero(x);
  x[support_index(&g->rng, flat ? 2 : 3)] = rm_chance(g, 0.5) ? round_length(low, high) : -round_length(low, high);
  return true;
}

/* the identity or quarter turns, entries exactly 0 and 1; in the plane about z */
bool rm_special_rotation(rm_gen *g, bool flat, double R[9]) {
  if (!rm_special(g, RANDOM_ALIGNED)) {
    return false;
  }
  m3_zero(R);
  const int first = flat ? support_index(&g->rng, 2) : support_index(&g->rng, 3);
  const int second = flat ? 1 - first : (first + 1 + support_index(&g->rng, 2)) % 3, third = 3 - first - second;
  const double s = rm_chance(g, 0.5) ? 1 : -1;
  if (rm_chance(g, 0.4)) {
    m3_identity(R);
    return true;
  }
  /* columns: s e_first, t e_second, and their product */
  const double t = flat ? (first == 0 ? s : -s) : rm_chance(g, 0.5) ? 1 : -1;
  const double product = second == (first + 1) % 3 ? s * t : -s * t;
  R[3 * first] = s;
  R[3 * second + 1] = t;
  R[3 * third + 2] = product;
  return true;
}

/* entries 0 and +-1 only */
static bool is_permutation(const double R[9]) {
  for (int i = 0; i < 9; i++) {
    if (R[i] != 0 && fabs(R[i]) != 1) {
      return false;
    }
  }
  return true;
}

/* A zero that a parameter moves out of its special place. */
static const char *entry(rm_gen *g, double x) {
  if (x == 0 && rm_special(g, RANDOM_LEANING) && rm_chance(g, 0.4)) {
    const rm_quantity *p = &g->names[support_index(&g->rng, g->nname)];
    return rm_string(g, "\"0.3*(%s - %.17g)\"", p->text, p->value);
  }
  return rm_number(g, x, 0.2);
}

/* Quarter turns in their forms; NULL: not made of these. */
const char *rm_special_rotate(rm_gen *g, const double R[9]) {
  if (!rm_special(g, RANDOM_ALIGNED) || !is_permutation(R)) {
    return NULL;
  }
  const bool flat = R[8] == 1 || g->opt->kind == RANDOM_PLANAR || g->opt->kind == RANDOM_MIXED;
  if (!flat && rm_chance(g, 0.6)) {
    const char *z[3], *x[3];
    for (int i = 0; i < 3; i++) {
      z[i] = entry(g, R[3 * i + 2]);
      x[i] = entry(g, R[3 * i]);
    }
    return rm_string(g, "{\"z\": [%s, %s, %s], \"x\": [%s, %s, %s]}", z[0], z[1], z[2], x[0], x[1], x[2]);
  }
  /* R = Rz(a) Ry(b) Rx(c) in quarters; where b is a quarter c is 0 */
  const bool edge = fabs(R[6]) == 1;
  const double a = edge ? atan2(-R[1], R[4]) : atan2(R[3], R[0]), b = edge ? -R[6] * M_PI / 2 : 0;
  const double c = edge ? 0 : atan2(R[7], R[8]);
  const char *turn = "";
  const double angle[3] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    const int quarters = (int)lround(angle[i] / (M_PI / 2));
    if (quarters != 0 || (i == 0 && b == 0 && c == 0)) {
      turn = rm_string(g, "%s%s[\"%c\", \"%d deg\"]", turn, *turn ? ", " : "", "zyx"[i], 90 * quarters);
    }
  }
  return rm_string(g, "[%s]", turn);
}

/* ---------------------------------------------------------------------- masses */

double rm_special_mass(rm_gen *g, double m) {
  m = rm_special(g, RANDOM_EQUAL) ? 1 : m;
  /* beside forces no lighter than explicit integrators with small steps can take */
  return rm_special(g, RANDOM_LIGHT) && rm_chance(g, 0.4) ? (g->opt->forces ? 1e-2 : 1e-6) * m : m;
}

/* moments of a ball or of a wheel about z, no products */
bool rm_special_inertia(const rm_gen *g, double m, double J[9]) {
  if (!rm_special(g, RANDOM_EQUAL)) {
    return false;
  }
  m3_zero(J);
  J[0] = J[4] = 0.0625 * m;
  J[8] = (g->opt->special & RANDOM_REST ? 0.125 : 0.0625) * m;
  return true;
}

/* ---------------------------------------------------------------------- names */

/* Few parameters, in many places each: of value 0, of value 1, any; one in no place. */
void rm_make_special_names(rm_gen *g) {
  const double any = rm_between(g, 0.6, 1.6), value[] = {1, 0, any, 1};
  for (int i = 0; i < MBG_COUNT(value); i++) {
    const char *name = rm_string(g, "%s%d", g->prefix, i);
    rm_entry(&g->parameters, name);
    rm_put(&g->parameters, "%.17g", value[i]);
    if (i < 3) {
      rm_quantity *q = &g->names[g->nname++];
      snprintf(q->text, sizeof q->text, "%s", name);
      q->value = value[i];
    }
  }
}

/* ---------------------------------------------------------------------- reactions */

/* all six components of every joint, driver and coupling; every frame takes its turn */
static void reactions_of(rm_gen *g, const char *kind, const char *name, int turn) {
  static const char *const axes[] = {"reference", "body", "world"};
  static const char *const part[] = {"fx", "fy", "fz", "mx", "my", "mz"};
  for (int i = 0; i < 6; i++) {
    rm_entry(&g->signal, rm_string(g, "r_%s_%s", name, part[i]));
    rm_put(&g->signal, "{\"type\": \"reaction\", \"%s\": \"%s\", \"component\": \"%s\", \"in\": \"%s\"}", kind, name,
           part[i], axes[(turn + i) % 3]);
  }
}

void rm_make_reactions(rm_gen *g) {
  for (int i = 0; i < g->njoint; i++) {
    reactions_of(g, "joint", g->joints[i].name, i);
  }
  for (int i = 0; i < g->ndriver; i++) {
    reactions_of(g, "driver", rm_string(g, "d%d", i), i);
  }
  for (int i = 0; i < g->ncoupling; i++) {
    reactions_of(g, "coupling", rm_string(g, "c%d", i), i);
  }
}

/* ---------------------------------------------------------------------- rotors */

/* where the frame and the centre of mass of a rotor lie */
typedef enum { CENTRED, FRAME_OFF, ECCENTRIC } balance;

static void put_rotor(rm_gen *g, const rm_body *b, balance how, const mbg__frame *axle, double W) {
  double z[3] = {axle->R[2], axle->R[5], axle->R[8]}, w[3], v[3], arm[3], c[3], local[3];
  const double J = 0.03 * b->mass;
  v3_scale(w, W, z);
  v3_sub(arm, b->H.x, axle->x);
  v3_cross(v, w, arm);
  /* centre of mass in the body: on the axle, or 2 cm beside it */
  v3_scale(c, -1, arm);
  m3_mulv_T(local, b->H.R, c);
  local[0] += how == ECCENTRIC ? 0.02 : 0;
  rm_entry(&g->body, b->name);
  rm_put(&g->body, "{\"mass\": %s", rm_number(g, b->mass, 0.2));
  if (b->motion == RM_PLANAR) {
    rm_put(&g->body, ", \"motion\": \"planar\", \"inertia\": %s", rm_number(g, J, 0.1 * J));
  } else {
    rm_put(&g->body, ", \"inertia\": [%.17g, %.17g, %s]", 0.6 * J, 0.6 * J, rm_number(g, J, 0.1 * J));
  }
  if (how != CENTRED) {
    rm_put(&g->body, ", \"com\": [%.17g, %.17g, %.17g]", local[0], local[1], local[2]);
  }
  rm_put(&g->body, ", \"position\": [%.17g, %.17g, %.17g]", b->H.x[0], b->H.x[1], b->H.x[2]);
  rm_put(&g->body, ", \"rotate\": %s", rm_rotate(g, b->H.R));
  rm_put(&g->body, ", \"velocity\": [%.17g, %.17g, %.17g]", v[0], v[1], v[2]);
  rm_put(&g->body, ", \"angular_velocity\": [%s, %s, %s]}", rm_number(g, w[0], 0.5 * w[0]),
         rm_number(g, w[1], 0.5 * w[1]), rm_number(g, w[2], 0.5 * w[2]));
}

/* A body that carries axles: its axes turn, and in the plane it is planar. Seldom the ground: reactions of an axle that
   does not move act back on nothing. */
static int carrier(rm_gen *g, int count) {
  const rm_motion motion = g->opt->kind == RANDOM_PLANAR ? RM_PLANAR : RM_SPATIAL;
  const bool ground = rm_chance(g, 0.15);
  for (int tries = 0; tries < 20 && !ground; tries++) {
    const int i = support_index(&g->rng, count);
    if (g->bodies[i].motion == motion) {
      return i;
    }
  }
  return -1;
}

/* adds a rotor on the body (-1: the ground), returns its joint */
static rm_joint *add_rotor(rm_gen *g, int on, double W) {
  static const rm_type types[] = {RM_REVOLUTE, RM_REVOLUTE, RM_CYLINDRICAL, RM_SPHERICAL};
  const bool flat = g->opt->kind == RANDOM_PLANAR;
  rm_body *b = &g->bodies[g->nbody];
  rm_joint *j = &g->joints[g->njoint];
  mbg__frame h = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}}, axle;
  assert_true(g->nbody < RM_BODIES && g->njoint < RM_JOINTS);
  const balance how = (balance)support_index(&g->rng, 3);
  *b = (rm_body){.motion = flat ? RM_PLANAR : RM_SPATIAL, .parent = on, .mass = rm_between(g, 0.5, 2), .rotor = true};
  b->mass = rm_special(g, RANDOM_EQUAL) ? 1 : b->mass;
  snprintf(b->name, sizeof b->name, "b%d", g->nbody);
  *j = (rm_joint){.type = flat ? RM_REVOLUTE : types[support_index(&g->rng, 4)], .A = on, .B = g->nbody};
  j->edge = g->nbody;
  j->known = true;
  j->planar = flat;
  j->stuck = -1;
  j->taken[0] = j->taken[1] = j->taken[2] = true;
  snprintf(j->name, sizeof j->name, "j%d", g->njoint++);
  if (!rm_special_rotation(g, flat, h.R)) {
    const double turn[3] = {0, 0, rm_sign(g, 0.1, 2)};
    if (flat) {
      mbg__so3_exp(h.R, turn);
    } else {
      support_rotation(&g->rng, h.R);
    }
  }
  if (rm_chance(g, 0.6)) {
    h.x[0] = rm_sign(g, 0.1, 0.3);
    h.x[1] = rm_sign(g, 0.1, 0.3);
  }
  frame_mul(&axle, rm_frame(g, on), &h);
  b->H = axle;
  mbg__frame own = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
  if (how == FRAME_OFF) {
    own.x[0] = 0.0625; /* of the axle in the rotor */
    mbg__frame back;
    frame_inv(&back, &own);
    frame_mul(&b->H, &axle, &back);
  }
  const int body = g->nbody++;
  put_rotor(g, b, how, &axle, W);
  const int A = rm_marker_add(g, on, &h), B = rm_marker_add(g, body, &own);
  rm_entry(&g->joint, j->name);
  rm_put(&g->joint, "{\"type\": \"%s\", \"between\": [\"%s\", \"%s\"]}",
         j->type == RM_REVOLUTE      ? "revolute"
         : j->type == RM_CYLINDRICAL ? "cylindrical"
                                     : "spherical",
         rm_marker_name(g, A), rm_marker_name(g, B));
  return j;
}

/* One or two rotors, h W = 0.05 to 2 at h = 0.01; two on axles that turn by angles may be gears. */
void rm_make_rotors(rm_gen *g) {
  const int count = g->nbody, on = carrier(g, count);
  const double W = (rm_chance(g, 0.5) ? 1 : -1) * 5 * exp(rm_between(g, 0, log(40)));
  const rm_joint *a = add_rotor(g, on, W);
  if (rm_chance(g, 0.5)) {
    return;
  }
  const double ratio = rm_sign(g, 0.5, 2);
  const bool same = rm_chance(g, 0.6);
  const rm_joint *b = add_rotor(g, same ? on : carrier(g, count), -W / ratio);
  if (same && a->type != RM_SPHERICAL && b->type != RM_SPHERICAL) {
    rm_entry(&g->coupling, rm_string(g, "c%d", g->ncoupling++));
    rm_put(&g->coupling, "{\"terms\": [{\"joint\": \"%s\", \"coordinate\": \"angle\"}, {\"joint\": \"%s\", ", a->name,
           b->name);
    rm_put(&g->coupling, "\"coordinate\": \"angle\", \"factor\": %s}], \"constant\": 0}", rm_number(g, ratio, 0.2));
  }
}
