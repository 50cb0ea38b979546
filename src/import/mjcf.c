/* MJCF: nested bodies with any number of joints each. A body with several joints becomes a chain of links without mass;
   armature becomes a rotor on the ground that turns with its joint. */
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 190 };

const char *mbg__mjcf_text(mbg__mjcf *m, const char *format, const char *name, int number) {
  char out[300];
  mbg__format(out, sizeof(out), format, name, number);
  return mbg__arena_text(m->robot->arena, out, strlen(out));
}

/* ---------------------------------------------------------------------- compiler, option */

static bool is_true(const char *value, bool preset) { return value ? !strcmp(value, "true") : preset; }

static int read_compiler(mbg__mjcf *m, const mbg__xml *at) {
  static const char *const known[] = {
      "angle",         "eulerseq",     "autolimits",     "inertiafromgeom", "inertiagrouprange",
      "boundmass",     "boundinertia", "settotalmass",   "meshdir",         "texturedir",
      "assetdir",      "coordinate",   "balanceinertia", "strippath",       "fusestatic",
      "discardvisual", "convexhull",   "usethread",      "exactmeshinertia"};
  const mbg__mjcf_element e = {.at = at, .tag = at->name, .class = -1};
  const char *angle = mbg__xml_value(at, "angle"), *sequence = mbg__xml_value(at, "eulerseq"),
             *from = mbg__xml_value(at, "inertiafromgeom"), *coordinate = mbg__xml_value(at, "coordinate");
  int err = MBG_OK;
  m->angle = angle ? (!strcmp(angle, "radian") ? 1 : 0.017453292519943295) : m->angle;
  m->autolimits = is_true(mbg__xml_value(at, "autolimits"), m->autolimits);
  if (sequence && (strlen(sequence) != 3 || strspn(sequence, "xyzXYZ") != 3)) {
    return mbg__xml_fail(m->robot->ctx, at, "eulerseq: '%.20s' is not three of x, y, z, X, Y, Z", sequence);
  }
  if (sequence) {
    memcpy(m->eulerseq, sequence, 4);
  }
  if (coordinate && !strcmp(coordinate, "global")) {
    return mbg__xml_fail(m->robot->ctx, at, "coordinate=\"global\" is no longer part of the format");
  }
  if (from) {
    m->inertia_from = !strcmp(from, "true")    ? MBG__MJCF_GEOMS
                      : !strcmp(from, "false") ? MBG__MJCF_INERTIAL
                                               : MBG__MJCF_AUTO;
  }
  MBG_TRY(mbg__mjcf_numbers(m, &e, "inertiagrouprange", 2, 2, m->group_range, NULL));
  MBG_TRY(mbg__mjcf_number(m, &e, "boundmass", &m->boundmass));
  MBG_TRY(mbg__mjcf_number(m, &e, "boundinertia", &m->boundinertia));
  MBG_TRY(mbg__mjcf_number(m, &e, "settotalmass", &m->total_mass));
  if (is_true(mbg__xml_value(at, "balanceinertia"), false)) {
    mbg__report_add(m->robot->report, at, "left out", "balanceinertia: inertias are taken as they are");
  }
  for (const mbg__xml_attribute *a = at->attributes; a; a = a->next) {
    bool found = false;
    for (int i = 0; i < MBG_COUNT(known); i++) {
      found = found || !strcmp(a->key, known[i]);
    }
    if (!found) {
      mbg__report_add(m->robot->report, at, "left out", "%s of <compiler>", a->key);
    }
  }
done:
  return err;
}

static int read_option(mbg__mjcf *m, const mbg__xml *at) {
  static const char *const fluid[] = {"density", "viscosity", "wind"};
  const char *gravity = mbg__xml_value(mbg__xml_child(at, "flag"), "gravity");
  const int err = mbg__xml_vector(m->robot->ctx, at, "gravity", 3, m->robot->gravity);
  if (gravity && !strcmp(gravity, "disable")) {
    m->robot->gravity[0] = m->robot->gravity[1] = m->robot->gravity[2] = 0;
  }
  for (int i = 0; i < 3; i++) {
    if (mbg__xml_value(at, fluid[i])) {
      mbg__report_add(m->robot->report, at, "left out", "%s of <option>: forces of a fluid", fluid[i]);
    }
  }
  return err;
}

/* ---------------------------------------------------------------------- mass */

static int read_inertial(mbg__mjcf *m, const mbg__xml *at, mbg__robot_mass *out) {
  const mbg__mjcf_element e = {.at = at, .tag = at->name, .class = -1};
  mbg__robot_mass own = {0};
  mbg__frame H;
  int err = MBG_OK, found = 0;
  MBG_TRY(mbg__mjcf_number(m, &e, "mass", &own.mass));
  MBG_TRY(mbg__mjcf_numbers(m, &e, "diaginertia", 3, 3, own.inertia, &found));
  if (!found) { /* xx yy zz xy xz yz, as here */
    MBG_TRY(mbg__mjcf_numbers(m, &e, "fullinertia", 6, 6, own.inertia, NULL));
  }
  MBG_TRY(mbg__mjcf_frame(m, &e, &H));
  err = mbg__robot_take_mass(m->robot, at, &own, &H, out);
done:
  return err;
}

static int read_mass(mbg__mjcf *m, const mbg__xml *body, const char *childclass, mbg__robot_mass *out) {
  const mbg__xml *inertial = mbg__xml_child(body, "inertial");
  int err = MBG_OK;
  *out = (mbg__robot_mass){0};
  if (inertial && m->inertia_from != MBG__MJCF_GEOMS) {
    err = read_inertial(m, inertial, out);
  } else if (m->inertia_from != MBG__MJCF_INERTIAL) {
    for (const mbg__xml *g = mbg__mjcf_inside(body, "geom", NULL); g; g = mbg__mjcf_inside(body, "geom", g)) {
      static const mbg__frame unit = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
      mbg__mjcf_element e;
      mbg__robot_mass geom;
      MBG_TRY(mbg__mjcf_element_of(m, g, mbg__mjcf_childclass(g, childclass), &e));
      MBG_TRY(mbg__mjcf_geom_mass(m, &e, &geom));
      mbg__robot_add_mass(out, &geom, &unit);
    }
  }
  if (out->mass < m->boundmass) {
    out->mass = m->boundmass;
    mbg__report_add(m->robot->report, body, "note", "boundmass raises the mass of bodies");
  }
  for (int i = 0; i < 3; i++) {
    if (out->inertia[i] < m->boundinertia) {
      out->inertia[i] = m->boundinertia;
      mbg__report_add(m->robot->report, body, "approximated", "boundinertia raises moments about the axes of bodies");
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- joints */

static int joint_kind(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_kind *out) {
  static const char *const words[] = {"hinge", "slide", "ball", "free"};
  static const mbg__robot_kind kinds[] = {MBG__ROBOT_REVOLUTE, MBG__ROBOT_PRISMATIC, MBG__ROBOT_SPHERICAL,
                                          MBG__ROBOT_FREE};
  const char *type = mbg__mjcf_value(m, e, "type");
  char hint[200];
  *out = !strcmp(e->at->name, "freejoint") ? MBG__ROBOT_FREE : MBG__ROBOT_REVOLUTE;
  for (int i = 0; type && i < 4; i++) {
    if (!strcmp(type, words[i])) {
      *out = kinds[i];
      return MBG_OK;
    }
  }
  if (!type) {
    return MBG_OK;
  }
  mbg__known(hint, sizeof(hint), type, words, 4);
  return mbg__xml_fail(m->robot->ctx, e->at, "unknown type '%.40s' of a joint%s", type, hint);
}

/* attributes of joints without a counterpart */
static void report_joint(mbg__mjcf *m, const mbg__mjcf_element *e) {
  static const char *const others[] = {"solreflimit", "solimplimit", "solreffriction", "solimpfriction", "margin"};
  for (int i = 0; i < MBG_COUNT(others); i++) {
    if (mbg__mjcf_value(m, e, others[i])) {
      mbg__report_add(m->robot->report, e->at, "left out", "%s of <joint>", others[i]);
    }
  }
}

/* range, damping, spring, friction, rotor of a hinge or slide */
static int read_dynamics(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_joint *joint) {
  const char *word = mbg__mjcf_value(m, e, "limited");
  const bool limited = word && strcmp(word, "auto") != 0 ? !strcmp(word, "true") : m->autolimits;
  const double unit = joint->kind == MBG__ROBOT_REVOLUTE ? m->angle : 1;
  double range[2] = {0, 0}, force[2] = {0, 0}, both[2] = {0, 0}, ref = 0, spring = 0;
  int err = MBG_OK, found = 0;
  MBG_TRY(mbg__mjcf_number(m, e, "ref", &ref));
  MBG_TRY(mbg__mjcf_number(m, e, "springref", &spring));
  MBG_TRY(mbg__mjcf_number(m, e, "damping", &joint->damping));
  MBG_TRY(mbg__mjcf_number(m, e, "stiffness", &joint->stiffness));
  MBG_TRY(mbg__mjcf_number(m, e, "frictionloss", &joint->friction));
  MBG_TRY(mbg__mjcf_number(m, e, "armature", &joint->armature));
  MBG_TRY(mbg__mjcf_numbers(m, e, "springdamper", 2, 2, both, NULL));
  joint->spring_time = both[0];
  joint->spring_ratio = both[1];
  MBG_TRY(mbg__mjcf_numbers(m, e, "actuatorfrcrange", 2, 2, force, NULL));
  joint->effort = fmax(fabs(force[0]), fabs(force[1]));
  MBG_TRY(mbg__mjcf_numbers(m, e, "range", 2, 2, range, &found));
  if (found && limited && range[0] < range[1]) {
    joint->lower = range[0] > -1e8 ? unit * (range[0] - ref) : NAN; /* beyond: a word for none */
    joint->upper = range[1] < 1e8 ? unit * (range[1] - ref) : NAN;
  }
  joint->rest = unit * (spring - ref);
  joint->zero = unit * ref;
  if (ref != 0) {
    mbg__report_add(m->robot->report, e->at, "note", "the coordinate of joint '%s' begins at 0, not at its ref",
                    joint->name);
  }
done:
  return err;
}

static int read_joint(mbg__mjcf *m, const mbg__mjcf_element *e, const char *name, int parent, int child,
                      const mbg__frame *H) {
  mbg__robot *robot = m->robot;
  mbg__robot_joint *joint;
  mbg__frame around;
  double length, pos[3] = {0}, axis[3] = {0, 0, 1};
  int err = MBG_OK;
  MBG_TRY(mbg__robot_add_joint(robot, e->at, name, &joint));
  MBG_TRY(joint_kind(m, e, &joint->kind));
  joint->parent = parent;
  joint->child = child;
  if (joint->kind == MBG__ROBOT_FREE) {
    joint->in_parent = *H;
    err = mbg__mjcf_read_free(m, e, joint);
    goto done;
  }
  MBG_TRY(mbg__mjcf_numbers(m, e, "pos", 3, 3, pos, NULL));
  MBG_TRY(mbg__mjcf_outer_frame(m, e->at, &around));
  frame_point(joint->in_child.x, &around, pos);
  frame_mul(&joint->in_parent, H, &joint->in_child);
  if (joint->kind == MBG__ROBOT_SPHERICAL) {
    err = mbg__mjcf_read_ball(m, e, joint);
    goto done;
  }
  MBG_TRY(mbg__mjcf_numbers(m, e, "axis", 3, 3, axis, NULL));
  m3_mulv(joint->axis, around.R, axis);
  length = sqrt(v3_dot(joint->axis, joint->axis));
  if (!(length > 0) || !isfinite(length)) {
    err = mbg__xml_fail(robot->ctx, e->at, "the axis of joint '%s' has no direction", name);
    goto done;
  }
  v3_scale(joint->axis, 1 / length, joint->axis);
  report_joint(m, e);
  MBG_TRY(read_dynamics(m, e, joint));
done:
  return err;
}

/* ---------------------------------------------------------------------- bodies */

typedef struct {
  mbg__mjcf *m;
  int bodies, joints; /* without a name so far */
} walk;

static bool is_joint(const mbg__xml *e) { return !strcmp(e->name, "joint") || !strcmp(e->name, "freejoint"); }

static int add_link(walk *w, const mbg__xml *at, const char *name, int *index) {
  mbg__robot_link *link;
  if (!name) {
    return mbg__fail_memory(w->m->robot->ctx);
  }
  *index = w->m->robot->nlink;
  return mbg__robot_add_link(w->m->robot, at, name, &link);
}

/* One joint after the other: all but the last carry links without mass. Without joints the body is fixed. */
static int read_chain(walk *w, const mbg__xml *body, const char *name, const char *childclass, int parent,
                      const mbg__frame *H, int *out) {
  mbg__mjcf *m = w->m;
  mbg__frame at = *H;
  int err = MBG_OK, left = 0, number = 0;
  for (const mbg__xml *j = mbg__mjcf_inside(body, NULL, NULL); j; j = mbg__mjcf_inside(body, NULL, j)) {
    left += is_joint(j);
  }
  if (left == 0) {
    mbg__robot_joint *joint;
    const char *fixed = mbg__mjcf_text(m, "%s_fixed", name, 0);
    MBG_TRY(add_link(w, body, name, out));
    MBG_TRY(fixed ? mbg__robot_add_joint(m->robot, body, fixed, &joint) : mbg__fail_memory(m->robot->ctx));
    joint->parent = parent;
    joint->child = *out;
    joint->in_parent = at;
  }
  for (const mbg__xml *j = mbg__mjcf_inside(body, NULL, NULL); j; j = mbg__mjcf_inside(body, NULL, j)) {
    const char *class = mbg__mjcf_childclass(j, childclass);
    mbg__mjcf_element e;
    const char *own = mbg__xml_value(j, "name");
    int link = -1;
    if (!is_joint(j)) {
      continue;
    }
    own = own && *own ? own : mbg__mjcf_text(m, "joint_%s%d", "", ++w->joints);
    MBG_TRY(add_link(w, j, --left > 0 ? mbg__mjcf_text(m, "%s_%d", name, ++number) : name, &link));
    MBG_TRY(own ? mbg__mjcf_element_of(m, j, class, &e) : mbg__fail_memory(m->robot->ctx));
    MBG_TRY(read_joint(m, &e, own, parent, link, &at));
    frame_identity(&at);
    parent = *out = link;
  }
done:
  return err;
}

static int read_bodies(walk *w, const mbg__xml *parent, int link, const char *childclass, int depth);

static void report_children(mbg__mjcf *m, const mbg__xml *body) {
  static const char *const known[] = {"body", "joint", "freejoint", "inertial", "site"};
  for (const mbg__xml *c = mbg__mjcf_inside(body, NULL, NULL); c; c = mbg__mjcf_inside(body, NULL, c)) {
    bool found = false;
    for (int i = 0; i < MBG_COUNT(known); i++) {
      found = found || !strcmp(c->name, known[i]);
    }
    if (!found) {
      mbg__report_add(m->robot->report, c, "left out",
                      !strcmp(c->name, "geom")
                          ? (m->robot->contacts ? "<%s>: contact with others than planes" : "<%s>: contact")
                          : "<%s>",
                      c->name);
    }
  }
}

/* sites are links that are fixed to their body: they become markers */
static int read_sites(walk *w, const mbg__xml *body, int link, const char *childclass) {
  mbg__mjcf *m = w->m;
  int err = MBG_OK;
  for (const mbg__xml *s = mbg__mjcf_inside(body, "site", NULL); s; s = mbg__mjcf_inside(body, "site", s)) {
    const char *name = mbg__xml_value(s, "name");
    mbg__mjcf_element e;
    mbg__robot_joint *joint;
    int own = -1;
    if (!name || !*name) {
      continue; /* a drawing */
    }
    const char *word = mbg__mjcf_text(m, "site_%s", name, 0), *fixed = mbg__mjcf_text(m, "site_%s_fixed", name, 0);
    MBG_TRY(mbg__mjcf_element_of(m, s, mbg__mjcf_childclass(s, childclass), &e));
    MBG_TRY(add_link(w, s, word, &own));
    MBG_TRY(fixed ? mbg__robot_add_joint(m->robot, s, fixed, &joint) : mbg__fail_memory(m->robot->ctx));
    joint->parent = link;
    joint->child = own;
    MBG_TRY(mbg__mjcf_frame(m, &e, &joint->in_parent));
  }
done:
  return err;
}

static int read_body(walk *w, const mbg__xml *body, int parent, const char *childclass, int depth) {
  mbg__mjcf *m = w->m;
  const mbg__mjcf_element e = {.at = body, .tag = "body", .class = -1};
  const char *name = mbg__xml_value(body, "name"), *class = mbg__xml_value(body, "childclass");
  mbg__frame H;
  mbg__robot_mass mass;
  int err = MBG_OK, link = -1;
  if (depth > DEPTH_MAX) {
    return mbg__xml_fail(m->robot->ctx, body, "bodies nested more than %d deep", DEPTH_MAX);
  }
  childclass = class ? class : childclass;
  name = name && *name ? name : mbg__mjcf_text(m, "body_%s%d", "", ++w->bodies);
  MBG_TRY(name ? mbg__mjcf_frame(m, &e, &H) : mbg__fail_memory(m->robot->ctx));
  if (mbg__xml_value(body, "gravcomp")) {
    mbg__report_add(m->robot->report, body, "left out", "gravcomp of <body>");
  }
  MBG_TRY(read_chain(w, body, name, childclass, parent, &H, &link));
  MBG_TRY(read_mass(m, body, childclass, &mass));
  m->robot->links[link].own = mass;
  for (const mbg__xml *g = mbg__mjcf_inside(body, "geom", NULL); g; g = mbg__mjcf_inside(body, "geom", g)) {
    mbg__mjcf_element geom;
    MBG_TRY(mbg__mjcf_element_of(m, g, mbg__mjcf_childclass(g, childclass), &geom));
    MBG_TRY(mbg__mjcf_geom_figure(m, &geom, link));
  }
  report_children(m, body);
  MBG_TRY(read_sites(w, body, link, childclass));
  MBG_TRY(read_bodies(w, body, link, childclass, depth + 1));
done:
  return err;
}

/* the bodies in a body or in the world */
static int read_bodies(walk *w, const mbg__xml *parent, int link, const char *childclass, int depth) {
  int err = MBG_OK;
  for (const mbg__xml *c = mbg__mjcf_inside(parent, "body", NULL); c; c = mbg__mjcf_inside(parent, "body", c)) {
    MBG_TRY(read_body(w, c, link, mbg__mjcf_childclass(c, childclass), depth));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- the file */

static void set_total_mass(mbg__mjcf *m) {
  double mass = 0;
  for (int l = 0; l < m->robot->nlink; l++) {
    mass += m->robot->links[l].own.mass;
  }
  for (int l = 0; l < m->robot->nlink && m->total_mass > 0 && mass > 0; l++) {
    mbg__robot_mass *own = &m->robot->links[l].own;
    own->mass *= m->total_mass / mass;
    for (int i = 0; i < 6; i++) {
      own->inertia[i] *= m->total_mass / mass;
    }
  }
}

/* Geoms of the world are seen on the marker "world" of the ground; planes and fields have no end. */
static int read_scenery(walk *w, const mbg__xml *world) {
  int err = MBG_OK, link = mbg__robot_find_link(w->m->robot, "world");
  const char *class = mbg__xml_value(world, "childclass");
  for (const mbg__xml *g = mbg__mjcf_inside(world, "geom", NULL); g; g = mbg__mjcf_inside(world, "geom", g)) {
    mbg__mjcf_element e;
    MBG_TRY(mbg__mjcf_element_of(w->m, g, mbg__mjcf_childclass(g, class), &e));
    const char *type = mbg__mjcf_value(w->m, &e, "type");
    if (type && !strcmp(type, "plane") && w->m->robot->contacts) {
      MBG_TRY(mbg__mjcf_plane(w->m, &e));
      continue;
    }
    if (type && (!strcmp(type, "plane") || !strcmp(type, "hfield"))) {
      mbg__report_add(w->m->robot->report, g, "left out", "<geom> of the world: %s", type);
      continue;
    }
    if (link < 0) {
      MBG_TRY(add_link(w, g, "world", &link));
    }
    MBG_TRY(mbg__mjcf_geom_figure(w->m, &e, link));
  }
done:
  return err;
}

static int read_sections(mbg__mjcf *m, const mbg__xml *root) {
  static const char *const known[] = {"compiler",  "option", "default",  "worldbody", "equality", "size",    "visual",
                                      "statistic", "asset",  "actuator", "tendon",    "sensor",   "keyframe"};
  walk w = {.m = m};
  int err = MBG_OK;
  for (const mbg__xml *e = mbg__xml_child(root, "compiler"); e; e = mbg__xml_next(e)) {
    const char *folder = mbg__xml_value(e, "meshdir");
    folder = folder ? folder : mbg__xml_value(e, "assetdir");
    m->meshdir = folder ? folder : m->meshdir;
    MBG_TRY(read_compiler(m, e));
  }
  for (const mbg__xml *e = mbg__xml_child(root, "option"); e; e = mbg__xml_next(e)) {
    MBG_TRY(read_option(m, e));
  }
  MBG_TRY(mbg__mjcf_read_defaults(m, root));
  for (const mbg__xml *e = mbg__xml_child(root, "worldbody"); e; e = mbg__xml_next(e)) {
    report_children(m, e);
    MBG_TRY(read_scenery(&w, e));
    MBG_TRY(read_sites(&w, e, MBG__ROBOT_GROUND, mbg__xml_value(e, "childclass")));
    MBG_TRY(read_bodies(&w, e, MBG__ROBOT_GROUND, mbg__xml_value(e, "childclass"), 0));
  }
  MBG_TRY(mbg__mjcf_add_balls(m));
  MBG_TRY(mbg__mjcf_read_tendons(m, root));
  for (const mbg__xml *e = mbg__xml_child(root, "equality"); e; e = mbg__xml_next(e)) {
    MBG_TRY(mbg__mjcf_read_equality(m, e));
  }
  MBG_TRY(mbg__mjcf_read_actuators(m, root));
  MBG_TRY(mbg__mjcf_read_sensors(m, root));
  for (const mbg__xml *e = root->child; e; e = e->next) {
    bool found = false;
    for (int i = 0; i < MBG_COUNT(known); i++) {
      found = found || !strcmp(e->name, known[i]);
    }
    for (const mbg__xml *c = e->child; c && !found; c = c->next) {
      mbg__report_add(m->robot->report, c, "left out", "<%s> in <%s>", c->name, e->name);
    }
  }
  set_total_mass(m);
  MBG_TRY(mbg__mjcf_take_ratios(m));
  MBG_TRY(mbg__mjcf_read_keys(m, root));
done:
  return err;
}

int mbg__robot_read_mjcf(mbg__robot *robot, mbg__xml *root) {
  const char *name = mbg__xml_value(root, "model");
  mbg__mjcf m = {.main = -1,
                 .robot = robot,
                 .root = root,
                 .angle = 0.017453292519943295,
                 .eulerseq = "xyz",
                 .autolimits = true,
                 .group_range = {0, 5}};
  robot->name = name && *name ? name : robot->name;
  mbg__names_init(&m.class_names, robot->ctx);
  int err = mbg__mjcf_include(&m, root);
  if (err == MBG_OK) {
    err = read_sections(&m, root);
  }
  mbg__free(robot->ctx, m.classes);
  mbg__names_destroy(&m.class_names);
  return err;
}
