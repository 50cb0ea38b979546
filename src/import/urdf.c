/* URDF: links and joints in a flat list. Extensions: <loop_joint> with <link1> and <link2>, <drake:joint>,
   <drake:ball_constraint>, and those of urdf_extensions.c. */
#include "import/urdf.h"
#include "import/drake.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- pieces */

int mbg__urdf_origin(mbg__robot *robot, const mbg__xml *origin, mbg__frame *out) {
  double rpy[3] = {0, 0, 0};
  int err = MBG_OK;
  frame_identity(out);
  if (!origin) {
    return MBG_OK;
  }
  MBG_TRY(mbg__xml_vector(robot->ctx, origin, "xyz", 3, out->x));
  MBG_TRY(mbg__xml_vector(robot->ctx, origin, "rpy", 3, rpy));
  mbg__robot_rpy(out->R, rpy);
done:
  return err;
}

static int need_name(mbg__robot *robot, const mbg__xml *at, const char *key, const char **out) {
  *out = mbg__xml_value(at, key);
  if (!*out || !**out) {
    return mbg__xml_fail(robot->ctx, at, "the attribute '%s' is missing", key);
  }
  return MBG_OK;
}

/* direction of unit length */
static int read_axis(mbg__robot *robot, const mbg__xml *at, double out[3]) {
  double axis[3] = {1, 0, 0};
  const int err = at ? mbg__xml_vector(robot->ctx, at, "xyz", 3, axis) : MBG_OK;
  if (err < 0) {
    return err;
  }
  const double length = sqrt(v3_dot(axis, axis));
  if (!(length > 0) || !isfinite(length)) {
    return mbg__xml_fail(robot->ctx, at, "the axis has no direction");
  }
  v3_scale(out, 1 / length, axis);
  return MBG_OK;
}

int mbg__urdf_find_link(mbg__robot *robot, const mbg__xml *at, const char *key, int *out) {
  const char *name;
  const int err = need_name(robot, at, key, &name);
  if (err < 0) {
    return err;
  }
  *out = mbg__robot_find_link(robot, name);
  return *out >= 0 ? MBG_OK : mbg__xml_fail(robot->ctx, at, "there is no link '%s'", name);
}

/* lists children that the reader does not know */
static void report_others(mbg__robot *robot, const mbg__xml *at, const char *const *known, int n) {
  for (const mbg__xml *c = at->child; c; c = c->next) {
    bool found = false;
    for (int i = 0; i < n && !found; i++) {
      found = !strcmp(c->name, known[i]);
    }
    if (!found) {
      mbg__report_add(robot->report, c, "left out", "<%s> in <%s>", c->name, at->name);
    }
  }
}

/* ---------------------------------------------------------------------- links */

static int read_inertial(mbg__robot *robot, const mbg__xml *at, mbg__robot_mass *out) {
  static const char *const entries[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  const mbg__xml *mass = mbg__xml_child(at, "mass"), *inertia = mbg__xml_child(at, "inertia");
  mbg__robot_mass in_frame = {0};
  mbg__frame H;
  int err = MBG_OK;
  MBG_TRY(mbg__urdf_origin(robot, mbg__xml_child(at, "origin"), &H));
  if (mass) {
    MBG_TRY(mbg__xml_number(robot->ctx, mass, "value", &in_frame.mass));
  }
  for (int i = 0; i < 6 && inertia; i++) {
    MBG_TRY(mbg__xml_number(robot->ctx, inertia, entries[i], &in_frame.inertia[i]));
  }
  err = mbg__robot_take_mass(robot, mass, &in_frame, &H, out);
done:
  return err;
}

/* <material> of a <visual>: a colour of its own, or the one of that name in the robot */
static int read_color(mbg__robot *robot, const mbg__xml *material, double rgba[4]) {
  const mbg__xml *color = mbg__xml_child(material, "color");
  const char *name = mbg__xml_value(material, "name");
  const mbg__xml *root = material;
  while (root && root->parent) {
    root = root->parent;
  }
  for (const mbg__xml *m = mbg__xml_child(root, "material"); m && !color && name; m = mbg__xml_next(m)) {
    const char *own = mbg__xml_value(m, "name");
    color = own && !strcmp(own, name) ? mbg__xml_child(m, "color") : NULL;
  }
  return color ? mbg__xml_vector(robot->ctx, color, "rgba", 4, rgba) : MBG_OK;
}

static int read_geometry(mbg__robot *robot, const mbg__xml *geometry, mbg__robot_figure *f) {
  static const char *const words[MBG__ROBOT_FORMS] = {"box", "cylinder", "sphere", "capsule", "mesh"};
  const mbg__xml *e = NULL;
  int err = MBG_OK;
  for (int form = 0; form < MBG__ROBOT_FORMS && !e; form++) {
    e = mbg__xml_child(geometry, words[form]);
    f->form = (mbg__robot_form)form;
  }
  if (!e) {
    f->form = MBG__ROBOT_FORMS;
  } else if (f->form == MBG__ROBOT_BOX) {
    MBG_TRY(mbg__xml_vector(robot->ctx, e, "size", 3, f->size));
  } else if (f->form == MBG__ROBOT_MESH) {
    f->size[0] = f->size[1] = f->size[2] = 1;
    f->file = mbg__xml_value(e, "filename");
    MBG_TRY(mbg__xml_vector(robot->ctx, e, "scale", 3, f->size));
  } else {
    MBG_TRY(mbg__xml_number(robot->ctx, e, "radius", &f->size[0]));
    MBG_TRY(mbg__xml_number(robot->ctx, e, "length", &f->size[1]));
  }
done:
  return err;
}

static int read_visual(mbg__robot *robot, const mbg__xml *at, int link) {
  mbg__robot_figure f = {.link = link, .rgba = {-1, 0, 0, 1}};
  int err = MBG_OK;
  MBG_TRY(mbg__urdf_origin(robot, mbg__xml_child(at, "origin"), &f.place));
  MBG_TRY(read_geometry(robot, mbg__xml_child(at, "geometry"), &f));
  MBG_TRY(read_color(robot, mbg__xml_child(at, "material"), f.rgba));
  MBG_TRY(mbg__robot_add_figure(robot, at, &f));
done:
  return err;
}

static int read_link(mbg__robot *robot, const mbg__xml *at) {
  static const char *const known[] = {"inertial", "visual", "collision"};
  const mbg__xml *inertial = mbg__xml_child(at, "inertial");
  mbg__robot_link *link;
  const char *name;
  int err = MBG_OK;
  MBG_TRY(need_name(robot, at, "name", &name));
  MBG_TRY(mbg__robot_add_link(robot, at, name, &link));
  if (inertial) {
    MBG_TRY(read_inertial(robot, inertial, &link->own));
  }
  for (const mbg__xml *c = mbg__xml_child(at, "collision"); c; c = mbg__xml_next(c)) {
    mbg__report_add(robot->report, c, "left out", "<collision> in <link>: contact geometry");
  }
  for (const mbg__xml *c = mbg__xml_child(at, "visual"); c; c = mbg__xml_next(c)) {
    MBG_TRY(read_visual(robot, c, robot->nlink - 1));
  }
  report_others(robot, at, known, 3);
done:
  return err;
}

/* ---------------------------------------------------------------------- joints */

static int read_kind(mbg__robot *robot, const mbg__xml *at, mbg__robot_kind *out) {
  static const struct {
    const char *word;
    mbg__robot_kind kind;
  } kinds[] = {{"revolute", MBG__ROBOT_REVOLUTE},   {"continuous", MBG__ROBOT_REVOLUTE},
               {"prismatic", MBG__ROBOT_PRISMATIC}, {"fixed", MBG__ROBOT_FIXED},
               {"floating", MBG__ROBOT_FREE},       {"planar", MBG__ROBOT_PLANAR},
               {"ball", MBG__ROBOT_SPHERICAL},      {"spherical", MBG__ROBOT_SPHERICAL},
               {"universal", MBG__ROBOT_UNIVERSAL}, {"cylindrical", MBG__ROBOT_CYLINDRICAL},
               {"screw", MBG__ROBOT_SCREW}};
  const char *words[MBG_COUNT(kinds)], *type;
  char hint[300];
  const int err = need_name(robot, at, "type", &type);
  if (err < 0) {
    return err;
  }
  for (int i = 0; i < MBG_COUNT(kinds); i++) {
    words[i] = kinds[i].word;
    if (!strcmp(type, kinds[i].word)) {
      *out = kinds[i].kind;
      return MBG_OK;
    }
  }
  mbg__known(hint, sizeof(hint), type, words, MBG_COUNT(kinds));
  return mbg__xml_fail(robot->ctx, at, "unknown type '%.60s' of a joint%s", type, hint);
}

static int read_limits(mbg__robot *robot, const mbg__xml *at, mbg__robot_joint *joint) {
  const mbg__xml *limit = mbg__xml_child(at, "limit"), *dynamics = mbg__xml_child(at, "dynamics");
  double lower = 0, upper = 0;
  int err = MBG_OK;
  if (limit) {
    MBG_TRY(mbg__xml_number(robot->ctx, limit, "effort", &joint->effort));
    MBG_TRY(mbg__xml_number(robot->ctx, limit, "lower", &lower));
    MBG_TRY(mbg__xml_number(robot->ctx, limit, "upper", &upper));
    if (strcmp(mbg__xml_value(at, "type"), "continuous") != 0 && lower < upper) {
      joint->lower = lower > -1e8 ? lower : NAN; /* beyond: a word for none */
      joint->upper = upper < 1e8 ? upper : NAN;
    }
    if (mbg__xml_value(limit, "velocity")) {
      mbg__report_add(robot->report, limit, "left out", "largest velocities of joints (velocity of <limit>)");
    }
  }
  if (dynamics) {
    MBG_TRY(mbg__xml_number(robot->ctx, dynamics, "damping", &joint->damping));
    MBG_TRY(mbg__xml_number(robot->ctx, dynamics, "friction", &joint->friction));
  }
done:
  return err;
}

static int read_joint(mbg__robot *robot, const mbg__xml *at) {
  static const char *const known[] = {"parent", "child",    "origin", "axis",
                                      "limit",  "dynamics", "mimic",  "drake:screw_thread_pitch"};
  const mbg__xml *parent = mbg__xml_child(at, "parent"), *child = mbg__xml_child(at, "child");
  mbg__robot_joint *joint;
  const char *name;
  int err = MBG_OK;
  MBG_TRY(need_name(robot, at, "name", &name));
  MBG_TRY(mbg__robot_add_joint(robot, at, name, &joint));
  MBG_TRY(read_kind(robot, at, &joint->kind));
  if (!parent || !child) {
    err = mbg__xml_fail(robot->ctx, at, "joint '%s' has no <%s>", name, parent ? "child" : "parent");
    goto done;
  }
  MBG_TRY(mbg__urdf_find_link(robot, parent, "link", &joint->parent));
  MBG_TRY(mbg__urdf_find_link(robot, child, "link", &joint->child));
  MBG_TRY(mbg__urdf_origin(robot, mbg__xml_child(at, "origin"), &joint->in_parent));
  if (joint->kind != MBG__ROBOT_FIXED && joint->kind != MBG__ROBOT_FREE && joint->kind != MBG__ROBOT_SPHERICAL) {
    MBG_TRY(read_axis(robot, mbg__xml_child(at, "axis"), joint->axis));
    MBG_TRY(read_limits(robot, at, joint));
  }
  if (joint->kind == MBG__ROBOT_SCREW) { /* metres for one turn */
    const mbg__xml *pitch = mbg__xml_child(at, "drake:screw_thread_pitch");
    if (!mbg__xml_value(pitch, "value")) {
      err = mbg__xml_fail(robot->ctx, at,
                          "a screw needs <drake:screw_thread_pitch value=\"...\"/>, in metres for one turn");
      goto done;
    }
    MBG_TRY(mbg__xml_number(robot->ctx, pitch, "value", &joint->pitch));
    joint->pitch /= 6.283185307179586;
  }
  if (joint->kind == MBG__ROBOT_UNIVERSAL) {
    const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    v3_copy(joint->axis, x);
    v3_copy(joint->axis2, y);
  }
  report_others(robot, at, known, MBG_COUNT(known));
done:
  return err;
}

static int read_mimic(mbg__robot *robot, const mbg__xml *at) {
  const mbg__xml *mimic = mbg__xml_child(at, "mimic");
  const char *name;
  int err = MBG_OK;
  if (!mimic) {
    return MBG_OK;
  }
  MBG_TRY(need_name(robot, mimic, "joint", &name));
  mbg__robot_joint *joint = &robot->joints[mbg__robot_find_joint(robot, mbg__xml_value(at, "name"))];
  joint->mimic = mbg__robot_find_joint(robot, name);
  joint->multiplier = 1;
  MBG_TRY(mbg__xml_number(robot->ctx, mimic, "multiplier", &joint->multiplier));
  MBG_TRY(mbg__xml_number(robot->ctx, mimic, "offset", &joint->offset));
  if (joint->mimic < 0) {
    mbg__report_add(robot->report, mimic, "left out", "<mimic> of joint '%s': there is no joint '%s'", joint->name,
                    name);
  } else if (robot->joints[joint->mimic].kind == MBG__ROBOT_FIXED || joint->kind == MBG__ROBOT_FIXED) {
    mbg__report_add(robot->report, mimic, "left out", "<mimic> of a joint that is fixed or follows a fixed one");
    joint->mimic = -1;
  } else if (&robot->joints[joint->mimic] == joint) {
    err = mbg__xml_fail(robot->ctx, mimic, "joint '%s' follows itself", name);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- loops */

static int read_side(mbg__robot *robot, const mbg__xml *at, const char *name, int *link, mbg__frame *H) {
  const mbg__xml *side = mbg__xml_child(at, name);
  int err = MBG_OK;
  if (!side) {
    return mbg__xml_fail(robot->ctx, at, "<%s> is missing", name);
  }
  MBG_TRY(mbg__urdf_find_link(robot, side, mbg__xml_value(side, "link") ? "link" : "name", link));
  const mbg__xml *origin = mbg__xml_child(side, "origin");
  MBG_TRY(mbg__urdf_origin(robot, origin ? origin : side, H));
done:
  return err;
}

static int read_loop(mbg__robot *robot, const mbg__xml *at) {
  mbg__robot_joint *joint;
  const char *name;
  int err = MBG_OK;
  MBG_TRY(need_name(robot, at, "name", &name));
  MBG_TRY(mbg__robot_add_joint(robot, at, name, &joint));
  joint->loop = true;
  MBG_TRY(read_kind(robot, at, &joint->kind));
  MBG_TRY(read_side(robot, at, "link1", &joint->parent, &joint->in_parent));
  MBG_TRY(read_side(robot, at, "link2", &joint->child, &joint->in_child));
  MBG_TRY(read_axis(robot, mbg__xml_child(at, "axis"), joint->axis));
done:
  return err;
}

/* ---------------------------------------------------------------------- the file */

/* what needs the joints */
static int read_extensions(mbg__robot *robot, const mbg__xml *root) {
  int err = MBG_OK, number = 0;
  for (const mbg__xml *e = root->child; e; e = e->next) {
    if (mbg__drake_knows(e->name)) {
      MBG_TRY(mbg__urdf_read_drake(robot, e, &number));
    } else if (!strcmp(e->name, "transmission")) {
      MBG_TRY(mbg__urdf_read_transmission(robot, e));
    }
  }
done:
  return err;
}

/* elements of <robot> that are read, but neither links nor joints */
static bool is_known(const char *name) {
  static const char *const known[] = {"link", "material", "frame", "transmission"};
  for (int i = 0; i < MBG_COUNT(known); i++) {
    if (!strcmp(name, known[i])) {
      return true;
    }
  }
  return mbg__drake_knows(name);
}

static bool is_joint(const mbg__xml *e) { return !strcmp(e->name, "joint") || !strcmp(e->name, "drake:joint"); }

static int refuse_xacro(mbg__robot *robot, const mbg__xml *root) {
  static const char *const words[] = {"xacro:include", "xacro:macro", "xacro:property", "xacro:arg", "xacro:if"};
  for (const mbg__xml *e = root->child; e; e = e->next) {
    for (int i = 0; i < MBG_COUNT(words); i++) {
      if (!strcmp(e->name, words[i])) {
        return mbg__xml_fail(robot->ctx, e, "this is a xacro file; expand it first: xacro FILE > robot.urdf");
      }
    }
  }
  return MBG_OK;
}

int mbg__robot_read_urdf(mbg__robot *robot, const mbg__xml *root) {
  int err = MBG_OK;
  const char *name = mbg__xml_value(root, "name");
  robot->name = name && *name ? name : robot->name;
  MBG_TRY(refuse_xacro(robot, root));
  for (const mbg__xml *e = mbg__xml_child(root, "link"); e; e = mbg__xml_next(e)) {
    MBG_TRY(read_link(robot, e));
  }
  for (const mbg__xml *e = root->child; e; e = e->next) {
    if (is_joint(e)) {
      MBG_TRY(read_joint(robot, e));
    } else if (!strcmp(e->name, "loop_joint")) {
      MBG_TRY(read_loop(robot, e));
    } else if (!is_known(e->name)) {
      mbg__report_add(robot->report, e, "left out", "<%s> in <robot>", e->name);
    }
  }
  for (const mbg__xml *e = root->child; e; e = e->next) {
    if (is_joint(e)) {
      MBG_TRY(read_mimic(robot, e));
    }
  }
  err = read_extensions(robot, root);
done:
  return err;
}
