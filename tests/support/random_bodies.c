/* Bodies, markers, joints and the start of a random model. */
#include "support/random_internal.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------- joint types */

/* rows and rotations among the freedoms between spatial bodies, and between bodies in the plane (-1: not there) */
static const struct {
  const char *key;
  int rows, turn, flat_rows, flat_turn;
  const char *coords[3];
} types[RM_JOINT_TYPES] = {
    [RM_FIXED] = {"fixed", 6, 0, 3, 0, {NULL}},
    [RM_REVOLUTE] = {"revolute", 5, 1, 2, 1, {"angle"}},
    [RM_PRISMATIC] = {"prismatic", 5, 0, 2, 0, {"slide"}},
    [RM_CYLINDRICAL] = {"cylindrical", 4, 1, -1, 0, {"angle", "slide"}},
    [RM_UNIVERSAL] = {"universal", 4, 2, -1, 0, {"angle1", "angle2"}},
    [RM_SPHERICAL] = {"spherical", 3, 3, 2, 1, {NULL}},
    [RM_PLANAR_JOINT] = {"planar", 3, 1, -1, 0, {"x", "y", "angle"}},
    [RM_SCREW] = {"screw", 5, 1, -1, 0, {"angle"}},
    [RM_DISTANCE] = {"distance", 1, 3, 1, 1, {NULL}},
    [RM_ON_LINE] = {"point-on-line", 2, 3, 1, 1, {"slide"}},
    [RM_ON_PLANE] = {"point-on-plane", 1, 3, 1, 1, {"x", "y"}},
};

const char *rm_coordinate(rm_type type, int k) { return k < 3 ? types[type].coords[k] : NULL; }

bool rm_coordinate_turns(rm_type type, int k) { return strncmp(types[type].coords[k], "angle", 5) == 0; }

/* ---------------------------------------------------------------------- bodies */

static const mbg__frame identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};

const mbg__frame *rm_frame(const rm_gen *g, int body) { return body < 0 ? &identity : &g->bodies[body].H; }

const char *rm_body_name(const rm_gen *g, int body) { return body < 0 ? "ground" : g->bodies[body].name; }

bool rm_in_plane(const rm_gen *g, int body) {
  return body < 0 || g->bodies[body].motion == RM_PLANAR || g->bodies[body].motion == RM_PLANAR_POINT;
}

bool rm_turns(const rm_gen *g, int body) {
  return body < 0 || g->bodies[body].motion == RM_SPATIAL || g->bodies[body].motion == RM_PLANAR;
}

void rm_random_rotation(rm_gen *g, bool flat, double R[9]) {
  if (g->opt->special && rm_special_rotation(g, flat, R)) {
    return;
  }
  const double w[3] = {0, 0, rm_sign(g, 0.1, 2.5)};
  if (flat) {
    mbg__so3_exp(R, w);
  } else {
    support_rotation(&g->rng, R);
  }
}

static void random_offset(rm_gen *g, bool flat, double low, double high, double x[3]) {
  if (g->opt->special && rm_special_offset(g, flat, low, high, x)) {
    return;
  }
  const double length = rm_between(g, low, high), a = rm_between(g, 0, 2 * M_PI);
  if (flat) {
    x[0] = length * cos(a);
    x[1] = length * sin(a);
    x[2] = 0;
  } else {
    support_direction(&g->rng, x);
    v3_scale(x, length, x);
  }
}

/* inertia about the centre of mass: diag(b + c, a + c, a + b) and small products */
static void put_inertia(rm_gen *g, double m, const double c[3], bool flat) {
  const bool origin = rm_chance(g, 0.4);
  double d[3], J[9], S[9] = {0};
  for (int i = 0; i < 3; i++) {
    d[i] = m * rm_between(g, 0.01, 0.05);
  }
  const double xy = m * rm_sign(g, 0, 0.003), xz = m * rm_sign(g, 0, 0.003), yz = m * rm_sign(g, 0, 0.003);
  double Jc[9] = {d[1] + d[2], xy, xz, xy, d[0] + d[2], yz, xz, yz, d[0] + d[1]};
  rm_special_inertia(g, m, Jc);
  m3_skew_square_add(S, origin ? -m : 0, c, c);
  m3_add(J, Jc, S);
  if (origin) {
    rm_put(&g->body, ", \"inertia_about\": \"origin\"");
  }
  if (flat) {
    rm_put(&g->body, ", \"inertia\": %s", rm_number(g, J[8], 0.1 * J[8]));
    return;
  }
  static const int entry[6] = {0, 4, 8, 1, 2, 5};
  const int count = !origin && rm_chance(g, 0.3) ? 3 : 6;
  rm_put(&g->body, ", \"inertia\": [");
  for (int i = 0; i < count; i++) {
    rm_put(&g->body, "%s%s", i ? ", " : "", rm_number(g, J[entry[i]], 0.1 * J[entry[i]]));
  }
  rm_put(&g->body, "]");
}

static void put_rates(rm_gen *g, rm_text *text, int body) {
  const rm_motion motion = g->bodies[body].motion;
  const bool flat = rm_in_plane(g, body), local = rm_chance(g, 0.4);
  double V[3], W[3] = {0, 0, rm_sign(g, 0, 1)};
  random_offset(g, flat, 0, 1, V);
  if (motion == RM_SPATIAL) {
    random_offset(g, false, 0, 1, W);
  }
  rm_put(text, ", \"velocity\": %s", local ? rm_vec(g, V, 0.5) : rm_world_direction(g, V, 0.5));
  if (rm_turns(g, body)) {
    rm_put(text, ", \"angular_velocity\": %s", local ? rm_vec(g, W, 0.5) : rm_world_direction(g, W, 0.5));
  }
  if (local || rm_chance(g, 0.2)) {
    rm_put(text, ", \"in\": \"%s\"", local ? "body" : "world");
  }
}

static void put_rigid(rm_gen *g, int i) {
  static const char *const motions[] = {"spatial", "planar", "point", "planar-point"};
  rm_body *b = &g->bodies[i];
  const bool flat = rm_in_plane(g, i);
  double com[3];
  rm_put(&g->body, "{\"mass\": %s", rm_number(g, b->mass, 0.2));
  if (b->motion != RM_SPATIAL || rm_chance(g, 0.2)) {
    rm_put(&g->body, ", \"motion\": \"%s\"", motions[b->motion]);
  }
  if (rm_turns(g, i)) {
    random_offset(g, flat, 0.02, 0.2, com);
    if (rm_chance(g, 0.2) || v3_norm(com) == 0) {
      v3_zero(com);
    } else {
      rm_put(&g->body, ", \"com\": %s", rm_vec(g, com, 0.1));
    }
    put_inertia(g, b->mass, com, flat);
  }
}

static void put_body(rm_gen *g, int i) {
  rm_body *b = &g->bodies[i];
  rm_entry(&g->body, b->name);
  if (b->outer) {
    rm_put(&g->body, "{\"outer\": \"%s\"}", b->name);
    return;
  }
  if (b->modal) {
    rm_put_modal(g, i);
  } else {
    put_rigid(g, i);
  }
  rm_put(&g->body, ", \"position\": %s", rm_world_point(g, b->H.x, 0.2));
  if (fabs(b->H.R[0]) < 1 || fabs(b->H.R[4]) < 1) {
    rm_put(&g->body, ", \"rotate\": %s", rm_world_rotate(g, b->H.R));
  }
  if (g->opt->guesses && rm_chance(g, 0.6) && !rm_special(g, RANDOM_REST)) {
    put_rates(g, &g->body, i);
  }
  rm_put(&g->body, "}");
}

/* ---------------------------------------------------------------------- markers */

void rm_marker_frame(const rm_gen *g, int marker, mbg__frame *H) {
  frame_mul(H, rm_frame(g, g->markers[marker].body), &g->markers[marker].h);
}

const char *rm_marker_name(const rm_gen *g, int marker) { return g->markers[marker].name; }

const char *rm_ground(const rm_gen *g) { return g->opt->indifferent ? "base" : "ground"; }

int rm_marker_add(rm_gen *g, int body, const mbg__frame *h) {
  rm_marker *m = &g->markers[g->nmarker];
  assert_true(g->nmarker < RM_MARKERS);
  snprintf(m->name, sizeof m->name, "k%d", g->nmarker);
  m->body = body;
  m->h = *h;
  mbg__frame H;
  rm_marker_frame(g, g->nmarker, &H);
  const bool outer = body >= 0 && g->bodies[body].outer;
  const bool world = outer || body < 0 || rm_chance(g, 0.3);
  rm_entry(&g->marker, m->name);
  rm_put(&g->marker, "{\"on\": \"%s\"", rm_body_name(g, body));
  if (world) {
    rm_put(&g->marker, ", \"at\": %s", rm_world_point(g, H.x, 0.2));
    rm_put(&g->marker, ", \"rotate\": %s", rm_world_rotate(g, H.R));
  } else {
    rm_put(&g->marker, ", \"at\": %s", rm_vec(g, h->x, 0.2));
    rm_put(&g->marker, ", \"rotate\": %s", rm_rotate(g, h->R));
  }
  if (body >= 0 && (world || rm_chance(g, 0.3))) {
    rm_put(&g->marker, ", \"in\": \"%s\"", world ? "world" : "body");
  }
  if (body >= 0 && g->bodies[body].nodes > 0) {
    rm_put(&g->marker, ", \"node\": \"n%d\"", support_index(&g->rng, g->bodies[body].nodes));
  }
  rm_put(&g->marker, "}");
  return g->nmarker++;
}

/* ---------------------------------------------------------------------- one joint */

/* relative frame of B's marker in A's where the joint holds; extra: pitch or length */
static void relative_frame(rm_gen *g, rm_joint *j, bool at_zero, double *extra, mbg__frame *G) {
  const double a = at_zero ? 0 : rm_sign(g, 0.1, 0.7), s = at_zero ? 0 : rm_sign(g, 0.05, 0.3);
  const double s2 = at_zero ? 0 : rm_sign(g, 0.05, 0.3), a2 = at_zero ? 0 : rm_sign(g, 0.1, 0.7);
  const double wx[3] = {a, 0, 0}, wy[3] = {0, a2, 0}, wz[3] = {0, 0, a};
  double Rx[9], Ry[9];
  *G = identity;
  *extra = rm_sign(g, 0.05, 0.3);
  memset(j->q, 0, sizeof j->q);
  switch (j->type) {
  case RM_REVOLUTE:
  case RM_CYLINDRICAL:
  case RM_PLANAR_JOINT:
  case RM_SCREW:
    mbg__so3_exp(G->R, wz);
    G->x[2] = j->type == RM_SCREW ? *extra * a : j->type == RM_CYLINDRICAL ? s : 0;
    G->x[0] = j->type == RM_PLANAR_JOINT ? s : 0;
    G->x[1] = j->type == RM_PLANAR_JOINT ? s2 : 0;
    j->q[0] = j->type == RM_PLANAR_JOINT ? s : a;
    j->q[1] = j->type == RM_PLANAR_JOINT ? s2 : s;
    j->q[2] = a;
    return;
  case RM_PRISMATIC:
    G->x[2] = j->q[0] = s;
    return;
  case RM_UNIVERSAL:
    mbg__so3_exp(Rx, wx);
    mbg__so3_exp(Ry, wy);
    m3_mul(G->R, Rx, Ry);
    j->q[0] = a;
    j->q[1] = a2;
    return;
  case RM_FIXED:
    return;
  default:
    break;
  }
  if (!at_zero) {
    rm_random_rotation(g, false, G->R);
  }
  if (j->type == RM_DISTANCE) {
    random_offset(g, j->planar, 0.3, 0.9, G->x);
    *extra = v3_norm(G->x);
  } else if (j->type == RM_ON_LINE) {
    G->x[2] = j->q[0] = s;
  } else if (j->type == RM_ON_PLANE) {
    G->x[0] = j->q[0] = s;
    G->x[1] = j->q[1] = s2;
  }
}

/* In the plane a marker turns about z, or (edge-on) has its z in the plane: prismatic, line, plane. */
static bool edge_on(const rm_joint *j) {
  return j->planar && (j->type == RM_PRISMATIC || j->type == RM_ON_LINE || j->type == RM_ON_PLANE);
}

/* R <- Rz(a) or, edge-on, Rz(a) Ry(90 deg) with x = -z of the world */
static void flat_rotation(rm_gen *g, bool edge, double R[9]) {
  static const double quarter[3] = {0, M_PI / 2, 0};
  double Rz[9], Ry[9];
  rm_random_rotation(g, true, Rz);
  mbg__so3_exp(Ry, quarter);
  if (edge) {
    m3_mul(R, Rz, Ry);
  } else {
    m3_copy(R, Rz);
  }
}

/* rotations in the plane for what relative_frame has made in space */
static void flatten(rm_gen *g, const rm_joint *j, mbg__frame *G) {
  if (j->type == RM_DISTANCE || j->type == RM_SPHERICAL) {
    rm_random_rotation(g, true, G->R);
  } else if (j->type == RM_ON_LINE || j->type == RM_ON_PLANE) {
    m3_identity(G->R);
  }
  if (j->type == RM_ON_PLANE) {
    /* x of the edge-on marker is -z of the world */
    G->x[0] = 0;
  }
}

/* both markers named in the file; a body may stand for a marker at its own frame */
static void put_between_markers(rm_gen *g, const rm_joint *j, const mbg__frame *HA, const mbg__frame *HB) {
  const mbg__frame *H[2] = {HA, HB};
  const int body[2] = {j->A, j->B};
  const char *name[2];
  for (int i = 0; i < 2; i++) {
    mbg__frame h;
    frame_relative(&h, rm_frame(g, body[i]), H[i]);
    double w[6];
    mbg__se3_log(w, &h);
    const bool own = v6_dot(w, w) < 1e-24 && body[i] >= 0 && !g->bodies[body[i]].outer;
    name[i] = own ? rm_body_name(g, body[i]) : rm_marker_name(g, rm_marker_add(g, body[i], &h));
  }
  rm_put(&g->joint, ", \"between\": [\"%s\", \"%s\"]", name[0], name[1]);
}

static void axis_of(const mbg__frame *H, int k, double out[3]) {
  for (int i = 0; i < 3; i++) {
    out[i] = H->R[3 * i + k];
  }
}

/* one place and one axis in the world: both markers coincide there */
static void put_at(rm_gen *g, const rm_joint *j, const mbg__frame *H) {
  double axis[3], second[3];
  rm_put(&g->joint, ", \"between\": [\"%s\", \"%s\"]", rm_body_name(g, j->A), rm_body_name(g, j->B));
  rm_put(&g->joint, ", \"at\": %s", rm_world_point(g, H->x, 0.2));
  if (j->type == RM_SPHERICAL || j->type == RM_FIXED) {
    return;
  }
  axis_of(H, j->type == RM_UNIVERSAL ? 0 : 2, axis);
  v3_scale(axis, rm_between(g, 0.5, 2), axis);
  if (j->type == RM_UNIVERSAL) {
    /* plain numbers: the two axes stay at right angles */
    const double *P = g->opt->placement ? g->opt->placement : identity.R;
    double a[3], b[3];
    axis_of(H, 1, second);
    m3_mulv(a, P, axis);
    m3_mulv(b, P, second);
    rm_put(&g->joint, ", \"axis\": [%.17g, %.17g, %.17g], \"axis2\": [%.17g, %.17g, %.17g]", a[0], a[1], a[2], b[0],
           b[1], b[2]);
    return;
  }
  rm_put(&g->joint, ", \"axis\": %s", rm_world_direction(g, axis, 0.2));
  if (!j->planar && (g->opt->indifferent || rm_chance(g, 0.4))) {
    double z[3];
    axis_of(H, 0, second);
    axis_of(H, 2, z);
    v3_axpy(second, rm_sign(g, 0, 1), z);
    rm_put(&g->joint, ", \"x\": %s", rm_world_direction(g, second, 0.2));
  }
}

/* joints that hold (or advance with) the rotation about their axis */
static bool rolled(rm_type type) { return type == RM_PRISMATIC || type == RM_SCREW; }

/* a point and, where needed, an axis for each side */
static void put_points(rm_gen *g, const rm_joint *j, const mbg__frame *HA, const mbg__frame *HB) {
  const bool outer = (j->A >= 0 && g->bodies[j->A].outer) || (j->B >= 0 && g->bodies[j->B].outer);
  const bool world = outer || rolled(j->type) || rm_chance(g, 0.4);
  const mbg__frame *H[2] = {HA, HB};
  const int body[2] = {j->A, j->B};
  const char *point[2], *axis[2];
  for (int i = 0; i < 2; i++) {
    const int k = j->type == RM_UNIVERSAL ? i : 2;
    double n[3];
    if (world || body[i] < 0) {
      axis_of(H[i], k, n);
      point[i] = rm_world_point(g, H[i]->x, 0.2);
      axis[i] = rm_world_direction(g, n, 0.2);
    } else {
      mbg__frame h;
      frame_relative(&h, rm_frame(g, body[i]), H[i]);
      axis_of(&h, k, n);
      point[i] = rm_vec(g, h.x, 0.2);
      axis[i] = rm_vec(g, n, 0.2);
    }
  }
  if (rolled(j->type)) {
    axis[1] = axis[0]; /* where the axes agree for all parameters, B takes its x from A */
  }
  rm_put(&g->joint, ", \"between\": [\"%s\", \"%s\"], \"points\": [%s, %s]", rm_body_name(g, j->A),
         rm_body_name(g, j->B), point[0], point[1]);
  if (j->type != RM_SPHERICAL && j->type != RM_DISTANCE) {
    rm_put(&g->joint, ", \"axes\": [%s, %s]", axis[0], axis[1]);
  }
  if (world || rm_chance(g, 0.3)) {
    rm_put(&g->joint, ", \"in\": \"%s\"", world ? "world" : "body");
  }
}

/* the way the joint is written; by points its angles follow from a rule of the loader: they are not known here */
typedef enum { BY_MARKERS, BY_PLACE, BY_POINTS } way;

static way choose_way(rm_gen *g, rm_type type, bool flat) {
  if (g->opt->indifferent && (type == RM_FIXED || type == RM_SPHERICAL || type == RM_DISTANCE)) {
    return BY_MARKERS; /* without an axis they take the axes of the world */
  }
  if (type == RM_DISTANCE) {
    return rm_chance(g, 0.5) ? BY_MARKERS : BY_POINTS;
  }
  const bool no_points = type == RM_FIXED || g->opt->indifferent || (flat && rolled(type));
  const int k = support_index(&g->rng, no_points ? 2 : 3);
  return k == 0 ? BY_MARKERS : k == 1 ? BY_PLACE : BY_POINTS;
}

/* a modal body without markers of its own making */
static bool needs_node(const rm_gen *g, int body) {
  return body >= 0 && g->bodies[body].modal && g->bodies[body].nodes > 0;
}

/* A's marker: on the way to B */
static void first_marker(rm_gen *g, const rm_joint *j, int A, int B, bool by_markers, mbg__frame *H) {
  double to[3];
  const bool flat = j->planar;
  v3_sub(to, rm_frame(g, B)->x, rm_frame(g, A)->x);
  random_offset(g, flat, 0.05, 0.2, H->x);
  v3_axpy(H->x, 0.5, to);
  v3_add(H->x, H->x, rm_frame(g, A)->x);
  if (flat) {
    flat_rotation(g, edge_on(j), H->R);
  } else {
    rm_random_rotation(g, false, H->R);
  }
  if (by_markers && !flat && A >= 0 && rm_chance(g, 0.2)) {
    *H = *rm_frame(g, A);
  } else if (rm_special(g, RANDOM_COINCIDENT) && rm_chance(g, 0.6)) {
    v3_copy(H->x, rm_frame(g, rm_chance(g, 0.5) ? A : B)->x);
  }
}

/* Joins B to A where they stand; or (move_B) B is moved so that its own frame is the marker. */
static rm_joint *join(rm_gen *g, rm_type type, int A, int B, bool move_B) {
  rm_joint *j = &g->joints[g->njoint++];
  assert_true(g->njoint <= RM_JOINTS);
  *j = (rm_joint){.type = type, .A = A, .B = B, .edge = -1, .planar = rm_in_plane(g, A) && rm_in_plane(g, B)};
  snprintf(j->name, sizeof j->name, "j%d", g->njoint - 1);
  const bool nodes = needs_node(g, A) || needs_node(g, B);
  const way how = move_B || nodes ? BY_MARKERS : choose_way(g, type, j->planar);
  mbg__frame hA, HA, HB, G;
  double extra;
  const bool flat = j->planar;

  first_marker(g, j, A, B, how == BY_MARKERS, &HA);
  frame_relative(&hA, rm_frame(g, A), &HA);
  relative_frame(g, j,
                 how == BY_PLACE || rm_special(g, RANDOM_COINCIDENT | RANDOM_ALIGNED) ||
                     (how == BY_POINTS && type == RM_SCREW),
                 &extra, &G);
  if (flat) {
    flatten(g, j, &G);
  }
  frame_mul(&HB, &HA, &G);
  if (move_B) {
    g->bodies[B].H = HB;
  }
  j->known = how != BY_POINTS || rolled(type);
  /* out of the plane: x of our edge-on markers, y by the loader's rule */
  j->stuck = flat && type == RM_ON_PLANE ? (how == BY_MARKERS ? 0 : 1) : -1;

  rm_entry(&g->joint, j->name);
  rm_put(&g->joint, "{\"type\": \"%s\"", types[type].key);
  if (how == BY_MARKERS) {
    put_between_markers(g, j, &HA, &HB);
  } else if (how == BY_PLACE) {
    put_at(g, j, &HA);
  } else {
    put_points(g, j, &HA, &HB);
  }
  if (type == RM_SCREW) {
    rm_put(&g->joint, ", \"pitch\": %s", rm_number(g, extra, 0.05));
  } else if (type == RM_DISTANCE) {
    rm_put(&g->joint, ", \"length\": %s", rm_number(g, extra, 0.1));
  }
  if (rm_chance(g, 0.1)) {
    rm_put(&g->joint, ", \"cut\": %s", rm_chance(g, 0.5) ? "true" : "false");
  }
  rm_put(&g->joint, "}");
  return j;
}

/* ---------------------------------------------------------------------- the tree */

/* A body is joined to its parent with all its freedoms counted: no joint leaves the body's own ones. */
static void count_edge(rm_gen *g, int body, const rm_joint *j) {
  static const int own_free[] = {6, 3, 3, 2}, own_turn[] = {3, 1, 0, 0};
  rm_body *b = &g->bodies[body];
  b->free = own_free[b->motion];
  b->turn = own_turn[b->motion];
  if (j) {
    b->free -= j->planar ? types[j->type].flat_rows : types[j->type].rows;
    const int turn = j->planar ? types[j->type].flat_turn : types[j->type].turn;
    b->turn = turn < b->turn ? turn : b->turn;
  }
}

/* A type that takes no more than the child's own freedoms, whatever the parent does. */
static int tree_type(rm_gen *g, int parent, int child) {
  static const rm_type flat[] = {RM_REVOLUTE, RM_REVOLUTE, RM_PRISMATIC, RM_SPHERICAL,
                                 RM_DISTANCE, RM_ON_LINE,  RM_ON_PLANE,  RM_FIXED};
  static const rm_type point[] = {RM_DISTANCE, RM_ON_LINE, RM_ON_PLANE, RM_SPHERICAL};
  static const rm_type lower[] = {RM_REVOLUTE, RM_PRISMATIC, RM_CYLINDRICAL, RM_SPHERICAL, RM_FIXED, RM_PLANAR_JOINT};
  const rm_motion motion = g->bodies[child].motion;
  if (motion == RM_SPATIAL && g->opt->lower) {
    return (int)lower[support_index(&g->rng, MBG_COUNT(lower))];
  }
  if (motion == RM_SPATIAL) {
    /* a marker's axes on a point body do not turn: only what holds points */
    const bool to_point = !rm_turns(g, parent);
    return to_point ? (rm_chance(g, 0.5) ? RM_DISTANCE : RM_SPHERICAL) : support_index(&g->rng, RM_JOINT_TYPES);
  }
  if (!rm_in_plane(g, parent)) {
    return motion == RM_POINT ? (int)point[support_index(&g->rng, 4)] : RM_DISTANCE;
  }
  if (motion == RM_PLANAR) {
    return rm_turns(g, parent) ? (int)flat[support_index(&g->rng, MBG_COUNT(flat))] : RM_DISTANCE;
  }
  return point[support_index(&g->rng, rm_turns(g, parent) ? 4 : 1)];
}

static void place(rm_gen *g, int parent, int body) {
  rm_body *b = &g->bodies[body];
  const bool flat = rm_in_plane(g, body);
  random_offset(g, flat, 0.4, 0.8, b->H.x);
  if (rm_special(g, RANDOM_COINCIDENT) && rm_chance(g, 0.3)) {
    v3_zero(b->H.x);
  }
  v3_add(b->H.x, b->H.x, rm_frame(g, parent)->x);
  m3_identity(b->H.R);
  if (flat) {
    b->H.x[2] = 0;
  }
  if (rm_turns(g, body) || rm_chance(g, 0.3)) {
    rm_random_rotation(g, flat, b->H.R);
  }
}

static rm_body *body_add(rm_gen *g, rm_motion motion) {
  rm_body *b = &g->bodies[g->nbody++];
  *b = (rm_body){.motion = motion, .H = identity, .parent = -1};
  b->mass = rm_special_mass(g, rm_between(g, 0.5, 3));
  snprintf(b->name, sizeof b->name, "b%d", g->nbody - 1);
  if (g->opt->modal && (motion == RM_SPATIAL || motion == RM_PLANAR) && rm_chance(g, 0.5)) {
    b->modal = true;
    b->nodes = rm_chance(g, 0.5) ? 2 + support_index(&g->rng, 2) : 0;
  }
  return b;
}

/* parent -1 or a body before; chains are likely */
static int choose_parent(rm_gen *g, int body) {
  const int last = body - 1;
  return body == 0 ? -1 : rm_chance(g, 0.6) ? last : support_index(&g->rng, body + 1) - 1;
}

static void grow(rm_gen *g, int body) {
  rm_body *b = &g->bodies[body];
  b->parent = choose_parent(g, body);
  place(g, b->parent, body);
  if (rm_chance(g, 0.1)) {
    count_edge(g, body, NULL);
    put_body(g, body);
    return;
  }
  const rm_type type = (rm_type)tree_type(g, b->parent, body);
  const bool move = b->motion == RM_SPATIAL && rm_chance(g, 0.2);
  rm_joint *j = join(g, type, b->parent, body, move);
  j->edge = body;
  count_edge(g, body, j);
  put_body(g, body);
}

static rm_motion choose_motion(rm_gen *g) {
  switch (g->opt->kind) {
  case RANDOM_PLANAR:
    return rm_chance(g, 0.8) ? RM_PLANAR : RM_PLANAR_POINT;
  case RANDOM_MIXED:
    return (rm_motion)support_index(&g->rng, 4);
  default:
    return RM_SPATIAL;
  }
}

void rm_make_bodies(rm_gen *g) {
  const int count = g->opt->bodies ? g->opt->bodies : 2 + support_index(&g->rng, 5);
  for (int i = 0; i < count; i++) {
    body_add(g, choose_motion(g));
    grow(g, i);
  }
}

/* the outer body stands where it stands: its frame is not known here, and not needed for what is given in the world */
void rm_make_part_bodies(rm_gen *g) {
  const rm_motion motion = g->opt->kind == RANDOM_PLANAR ? RM_PLANAR : RM_SPATIAL;
  rm_body *hub = body_add(g, motion);
  snprintf(hub->name, sizeof hub->name, "hub");
  hub->outer = true;
  hub->modal = false;
  hub->nodes = 0;
  put_body(g, 0);
  const int count = 1 + support_index(&g->rng, 2);
  for (int i = 1; i <= count; i++) {
    body_add(g, motion);
    grow(g, i);
  }
}

/* ---------------------------------------------------------------------- loops */

static int depth(const rm_gen *g, int body) {
  int n = 0;
  for (; body >= 0; body = g->bodies[body].parent) {
    n++;
  }
  return n;
}

void rm_path(rm_gen *g, int A, int B, int take, int *free, int *turn) {
  *free = *turn = 0;
  while (A != B) {
    int *up = depth(g, A) >= depth(g, B) ? &A : &B;
    rm_body *b = &g->bodies[*up];
    *free += b->free;
    *turn += b->turn;
    const int taken = take < b->free ? take : b->free;
    b->free -= taken;
    take -= taken;
    b->turn = b->turn < b->free ? b->turn : b->free;
    *up = b->parent;
  }
}

/* rows that hold orientations need turning freedoms on the path */
static int orientation_rows(rm_type type, bool flat) {
  static const int space[RM_JOINT_TYPES] = {3, 2, 3, 2, 1, 0, 2, 2, 0, 0, 0};
  return flat ? (type == RM_PRISMATIC || type == RM_FIXED) : space[type];
}

/* two joints between flexible bodies: what would be redundant between rigid ones is held by their stiffness then */
static bool joined(const rm_gen *g, int A, int B) {
  for (int i = 0; g->opt->modal && i < g->njoint; i++) {
    const rm_joint *j = &g->joints[i];
    if ((j->A == A && j->B == B) || (j->A == B && j->B == A)) {
      return true;
    }
  }
  return false;
}

static bool may_close(rm_gen *g, rm_type type, int A, int B) {
  const bool flat = rm_in_plane(g, A) && rm_in_plane(g, B), plain = rm_turns(g, A) && rm_turns(g, B);
  const int rows = flat ? types[type].flat_rows : types[type].rows, o = orientation_rows(type, flat);
  int free, turn;
  rm_path(g, A, B, 0, &free, &turn);
  if (rows < 0 || joined(g, A, B) || type == RM_FIXED ||
      (g->opt->kind == RANDOM_MIXED && type != RM_DISTANCE && !flat)) {
    return false;
  }
  if (!plain && type != RM_DISTANCE) {
    return false;
  }
  return free >= rows + (flat ? 1 : 2) && (o == 0 || turn > o);
}

bool rm_parents(const rm_gen *g, int A, int B) {
  return A == B || (A >= 0 && g->bodies[A].parent == B) || (B >= 0 && g->bodies[B].parent == A);
}

void rm_close_loops(rm_gen *g) {
  const int wanted = 1 + support_index(&g->rng, 3);
  for (int tries = 0, made = 0; tries < 60 && made < wanted; tries++) {
    const int A = support_index(&g->rng, g->nbody + 1) - 1, B = support_index(&g->rng, g->nbody);
    const rm_type type = (rm_type)support_index(&g->rng, RM_JOINT_TYPES);
    if (rm_parents(g, A, B) || !may_close(g, type, A, B)) {
      continue;
    }
    int free, turn;
    const rm_joint *j = join(g, type, A, B, false);
    rm_path(g, A, B, j->planar ? types[type].flat_rows : types[type].rows, &free, &turn);
    made++;
  }
}

/* ---------------------------------------------------------------------- drivers, couplings, pins */

/* a free coordinate of a joint of the tree with a known value; false when there is none */
bool rm_find_coordinate(rm_gen *g, rm_joint **joint, int *k) {
  for (int tries = 0; tries < 40 && g->njoint > 0; tries++) {
    rm_joint *j = &g->joints[support_index(&g->rng, g->njoint)];
    *k = support_index(&g->rng, 3);
    const char *name = rm_coordinate(j->type, *k);
    if (!name || j->edge < 0 || !j->known || j->taken[*k] || j->stuck == *k) {
      continue;
    }
    const bool angle = rm_coordinate_turns(j->type, *k);
    const rm_body *b = &g->bodies[j->edge];
    if (b->free > 0 && (!angle || b->turn > 0)) {
      *joint = j;
      return true;
    }
  }
  return false;
}

void rm_take(rm_gen *g, rm_joint *j, int k) {
  rm_body *b = &g->bodies[j->edge];
  j->taken[k] = true;
  b->free--;
  b->turn -= rm_coordinate_turns(j->type, k);
  b->turn = b->turn < b->free ? b->turn : b->free;
}

static bool only_coordinate(rm_type type) { return rm_coordinate(type, 0) && !rm_coordinate(type, 1); }

void rm_put_coordinate(rm_gen *g, rm_text *text, const rm_joint *j, int k) {
  rm_put(text, "{\"joint\": \"%s\"", j->name);
  if (!only_coordinate(j->type) || rm_chance(g, 0.5)) {
    rm_put(text, ", \"coordinate\": \"%s\"", rm_coordinate(j->type, k));
  }
}

/* q(t) near the design value at t = 0, with parameters in rate, phase and amplitude */
const char *rm_law(rm_gen *g, double q) {
  const double amplitude = rm_sign(g, 0.02, 0.1), rate = rm_between(g, 0.5, 2), phase = rm_sign(g, 0, 1);
  const char *a = rm_expression(g, amplitude, 0.1), *w = rm_expression(g, rate, 0.5), *p = rm_expression(g, phase, 0.5);
  const char *base = rm_expression(g, q, 0.1);
  switch (support_index(&g->rng, g->controls ? 5 : 3)) {
  case 0:
    return rm_string(g, "%s + (%s)*sin((%s)*t + %s)", base, a, w, p);
  case 1:
    return rm_string(g, "%s + (%s)*t^2*exp(-%s*t)", base, a, rm_name(g));
  case 2:
    return rm_string(g, "%s + (%s)*tanh((%s)*(t - 0.2))", base, a, w);
  case 3:
    return rm_string(g, "%s + (%s)*uc + 0.05*uc*sin((%s)*t)", base, a, w);
  default:
    return rm_string(g, "%s + (%s)*(tc((%s)*t) - 1)", base, a, w);
  }
}

void rm_make_drivers(rm_gen *g) {
  const int wanted = 1 + support_index(&g->rng, 2);
  rm_joint *j;
  int k;
  for (int i = 0; i < wanted && rm_find_coordinate(g, &j, &k); i++) {
    rm_entry(&g->driver, rm_string(g, "d%d", g->ndriver++));
    rm_put_coordinate(g, &g->driver, j, k);
    rm_put(&g->driver, ", \"law\": \"%s\"}", rm_law(g, j->q[k]));
    rm_take(g, j, k);
  }
}

/* a law of a coordinate with its value at q, or NULL: none */
static const char *coupling_law(rm_gen *g, double q, double *value) {
  const double a = rm_sign(g, 0.1, 0.6);
  const char *text = rm_expression(g, a, 0.1);
  switch (support_index(&g->rng, 4)) {
  case 0:
    *value = q + a * sin(q);
    return rm_string(g, "x + (%s)*sin(x)", text);
  case 1:
    *value = q * exp(a * q / 4);
    return rm_string(g, "x*exp((%s)*x/4)", text);
  case 2:
    *value = tanh(q) + (2 + a) * q;
    return rm_string(g, "tanh(x) + (2 + %s)*x", text);
  default:
    return NULL;
  }
}

void rm_make_couplings(rm_gen *g) {
  rm_joint *j[3];
  int k[3], n = 0;
  while (n < 3 && rm_find_coordinate(g, &j[n], &k[n])) {
    j[n]->taken[k[n]] = true;
    n++;
  }
  if (n < 2) {
    for (int i = 0; i < n; i++) {
      j[i]->taken[k[i]] = false;
    }
    return;
  }
  double constant = rm_sign(g, 0, 0.05);
  rm_entry(&g->coupling, rm_string(g, "c%d", g->ncoupling++));
  rm_put(&g->coupling, "{\"terms\": [");
  for (int i = 0; i < n; i++) {
    const double factor = rm_sign(g, 0.5, 2);
    const bool one = i > 0 && rm_chance(g, 0.2);
    double value = j[i]->q[k[i]];
    const char *law = g->opt->curves ? coupling_law(g, value, &value) : NULL;
    constant += (one ? 1 : factor) * value;
    rm_put(&g->coupling, "%s", i ? ", " : "");
    rm_put_coordinate(g, &g->coupling, j[i], k[i]);
    if (law) {
      rm_put(&g->coupling, ", \"law\": \"%s\"", law);
    }
    if (!one) {
      rm_put(&g->coupling, ", \"factor\": %s", rm_number(g, factor, 0.2));
    }
    rm_put(&g->coupling, "}");
  }
  if (g->opt->curves && rm_chance(g, 0.4)) {
    rm_put(&g->coupling, "], \"constant\": \"%s\"}", rm_law(g, constant));
  } else {
    rm_put(&g->coupling, "], \"constant\": %s}", rm_number(g, constant, 0.1));
  }
  rm_take(g, j[0], k[0]);
}

/* the distance of a body's frame from a place on the ground, when its path is free enough */
static void pin_signal(rm_gen *g) {
  const int body = support_index(&g->rng, g->nbody);
  int free, turn;
  rm_path(g, -1, body, 0, &free, &turn);
  if (free < 4 || turn < 1 || g->opt->kind == RANDOM_PLANAR) {
    return;
  }
  mbg__frame h = identity;
  random_offset(g, false, 0.9, 1.2, h.x);
  v3_add(h.x, h.x, rm_frame(g, body)->x);
  double x[3];
  v3_sub(x, h.x, rm_frame(g, body)->x);
  const int marker = rm_marker_add(g, -1, &h);
  const char *signal = rm_string(g, "reach%d", g->npin);
  rm_entry(&g->signal, signal);
  rm_put(&g->signal, "{\"type\": \"distance\", \"of\": \"%s\", \"relative_to\": \"%s\"}", rm_body_name(g, body),
         rm_marker_name(g, marker));
  rm_entry(&g->pin, rm_string(g, "p%d", g->npin++));
  rm_put(&g->pin, "{\"signal\": \"%s\", \"value\": %s", signal, rm_number(g, v3_norm(x), 0.1));
  rm_put(&g->pin, ", \"rate\": %s}", rm_number(g, rm_sign(g, 0, 0.5), 0.2));
  rm_path(g, -1, body, 1, &free, &turn);
}

/* a component of a body's velocity, seen from another body's or the ground's axes */
static void pin_velocity(rm_gen *g) {
  static const char *const axes[] = {"x", "y", "z"};
  const int body = support_index(&g->rng, g->nbody);
  int free, turn;
  rm_path(g, -1, body, 0, &free, &turn);
  if (free < 4 || turn < 1 || !rm_turns(g, body) || g->opt->kind == RANDOM_PLANAR) {
    return;
  }
  const bool angular = g->bodies[body].motion == RM_SPATIAL && rm_chance(g, 0.5);
  mbg__frame h = identity;
  rm_random_rotation(g, false, h.R);
  const int marker = rm_marker_add(g, -1, &h), axis = support_index(&g->rng, rm_in_plane(g, body) ? 2 : 3);
  const char *signal = rm_string(g, "speed%d", g->npin);
  rm_entry(&g->signal, signal);
  rm_put(&g->signal, "{\"type\": \"%s\", \"of\": \"%s\", \"relative_to\": \"%s\", \"component\": \"%s\"",
         angular ? "angular-velocity" : "velocity", rm_body_name(g, body), rm_marker_name(g, marker), axes[axis]);
  rm_put(&g->signal, ", \"in\": \"%s\"}", rm_chance(g, 0.5) ? "reference" : "body");
  rm_entry(&g->pin, rm_string(g, "p%d", g->npin++));
  rm_put(&g->pin, "{\"signal\": \"%s\", \"value\": %s}", signal, rm_number(g, rm_sign(g, 0, 0.5), 0.2));
  rm_path(g, -1, body, 1, &free, &turn);
}

void rm_make_pins(rm_gen *g) {
  const int wanted = support_index(&g->rng, 3);
  rm_joint *j;
  int k;
  for (int i = 0; i < wanted && rm_find_coordinate(g, &j, &k); i++) {
    const int what = support_index(&g->rng, 3);
    rm_entry(&g->pin, rm_string(g, "p%d", g->npin++));
    rm_put_coordinate(g, &g->pin, j, k);
    if (what != 0) {
      rm_put(&g->pin, ", \"value\": %s", rm_number(g, j->q[k] + rm_sign(g, 0, 0.05), 0.1));
    }
    if (what != 1) {
      rm_put(&g->pin, ", \"rate\": %s", rm_number(g, rm_sign(g, 0, 0.5), 0.2));
    }
    rm_put(&g->pin, "}");
    rm_take(g, j, k);
  }
  if (g->opt->signals && rm_chance(g, 0.5)) {
    pin_signal(g);
  }
  if (g->opt->signals && !g->opt->mirrorable && rm_chance(g, 0.5)) {
    pin_velocity(g);
  }
}

/* guesses near the design configuration */
void rm_make_guesses(rm_gen *g) {
  for (int i = 0; i < g->nbody; i++) {
    const rm_body *b = &g->bodies[i];
    const bool flat = rm_in_plane(g, i);
    if (b->outer || b->rotor || rm_chance(g, 0.6)) {
      continue;
    }
    mbg__frame H = b->H;
    double x[3], w[3] = {0, 0, rm_sign(g, 0, 0.05)}, R[9];
    random_offset(g, flat, 0, 0.04, x);
    v3_add(H.x, H.x, x);
    if (b->motion == RM_SPATIAL) {
      random_offset(g, false, 0, 0.05, w);
    }
    mbg__so3_exp(R, w);
    m3_mul(H.R, b->H.R, R);
    rm_entry(&g->guess, b->name);
    rm_put(&g->guess, "{\"position\": %s", rm_world_point(g, H.x, 0.1));
    if (rm_turns(g, i) && rm_chance(g, 0.6)) {
      rm_put(&g->guess, ", \"rotate\": %s", rm_world_rotate(g, H.R));
    }
    if (rm_turns(g, i) && rm_chance(g, 0.5) && !rm_special(g, RANDOM_REST)) {
      put_rates(g, &g->guess, i);
    }
    rm_put(&g->guess, "}");
  }
}

/* ---------------------------------------------------------------------- markers for forces and signals */

/* the ground's frame as a marker that moves with the model */
static void put_base(rm_gen *g) {
  const double *P = g->opt->placement ? g->opt->placement : identity.R, *x = P == identity.R ? identity.x : P + 9;
  rm_entry(&g->marker, "base");
  rm_put(&g->marker, "{\"on\": \"ground\", \"at\": [%.17g, %.17g, %.17g]", x[0], x[1], x[2]);
  rm_put(&g->marker, ", \"rotate\": {\"z\": [%.17g, %.17g, %.17g], \"x\": [%.17g, %.17g, %.17g]}}", P[2], P[5], P[8],
         P[0], P[3], P[6]);
}

void rm_make_pool(rm_gen *g) {
  g->pool = g->nmarker;
  if (g->opt->indifferent) {
    put_base(g);
  }
  for (int i = -1; i < g->nbody; i++) {
    const bool flat = i < 0 ? g->opt->kind == RANDOM_PLANAR : rm_in_plane(g, i);
    for (int k = 0; k < 2 && (i < 0 || !g->bodies[i].rotor); k++) {
      mbg__frame h = identity, H;
      random_offset(g, flat, 0.1, 0.3, h.x);
      if (k == 1 && g->opt->special) {
        h.x[i & 1] += 0.25 + 0.125 * (i + 1); /* apart from all others */
      }
      if (i < 0 || rm_turns(g, i)) {
        rm_random_rotation(g, flat, h.R);
      }
      if (i < 0) {
        /* beside the bodies, not among them */
        frame_mul(&H, rm_frame(g, support_index(&g->rng, g->nbody)), &h);
        v3_copy(h.x, H.x);
        h.x[2] = flat ? 0 : h.x[2];
      }
      rm_marker_add(g, i, &h);
    }
  }
  g->npool = g->nmarker;
}
