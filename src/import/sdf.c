/* SDF: links with poses of their own, joints that may close loops: a link whose second joint comes is held by it as
   a loop. Poses relative to the model, to links, joints and frames. */
#include "import/robot.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 50 };

typedef struct {
  mbg__robot *robot;
  const mbg__xml *model; /* whose names count */
  const char *prefix;    /* "arm::" of a nested model, "" otherwise */
  mbg__frame place;      /* of the model in the world */
} scope;

/* ---------------------------------------------------------------------- texts of children */

static const char *text_of(const mbg__xml *at, const char *name) {
  const mbg__xml *child = mbg__xml_child(at, name);
  return child && *child->text ? child->text : NULL;
}

static int number_of(mbg_context *ctx, const mbg__xml *at, const char *name, double *out) {
  const mbg__xml *child = mbg__xml_child(at, name);
  return child && *child->text ? mbg__xml_numbers(ctx, child, "value", child->text, 1, 1, out, NULL) : MBG_OK;
}

static const char *join(mbg__robot *robot, const char *prefix, const char *name) {
  const size_t n = strlen(prefix), m = strlen(name);
  char *out = mbg__arena_take(robot->arena, n + m + 1, 1);
  if (out) {
    memcpy(out, prefix, n);
    memcpy(out + n, name, m + 1);
  }
  return out;
}

static int need_name(mbg__robot *robot, const mbg__xml *at, const char **out) {
  *out = mbg__xml_value(at, "name");
  return *out && **out ? MBG_OK : mbg__xml_fail(robot->ctx, at, "the attribute 'name' is missing");
}

/* ---------------------------------------------------------------------- poses */

static int pose_of(const scope *s, const mbg__xml *element, const char *preset, mbg__frame *out, int depth);

static int read_pose(mbg__robot *robot, const mbg__xml *pose, mbg__frame *out) {
  double values[6] = {0};
  frame_identity(out);
  if (!pose || !*pose->text) {
    return MBG_OK;
  }
  const int err = mbg__xml_numbers(robot->ctx, pose, "pose", pose->text, 6, 6, values, NULL);
  if (err == MBG_OK) {
    v3_copy(out->x, values);
    mbg__robot_rpy(out->R, values + 3);
  }
  return err;
}

/* a link, joint or frame of the model by its name */
static const mbg__xml *named(const scope *s, const char *name) {
  static const char *const kinds[] = {"link", "joint", "frame", "model"};
  for (const mbg__xml *e = s->model->child; e; e = e->next) {
    for (int k = 0; k < MBG_COUNT(kinds); k++) {
      const char *own = mbg__xml_value(e, "name");
      if (!strcmp(e->name, kinds[k]) && own && !strcmp(own, name)) {
        return e;
      }
    }
  }
  return NULL;
}

/* the frame of that name in the model's frame */
static int frame_of(const scope *s, const mbg__xml *at, const char *name, mbg__frame *out, int depth) {
  frame_identity(out);
  if (!strcmp(name, "__model__") || !strcmp(name, "world")) {
    return MBG_OK;
  }
  const mbg__xml *e = named(s, name);
  if (!e && strstr(name, "::")) { /* a link of a nested model, which has been placed */
    const char *full = join(s->robot, s->prefix, name);
    const int link = full ? mbg__robot_find_link(s->robot, full) : -1;
    if (link >= 0) {
      frame_relative(out, &s->place, &s->robot->links[link].place);
      return MBG_OK;
    }
  }
  if (!e) {
    return mbg__xml_fail(s->robot->ctx, at, "there is no link, joint or frame '%s'", name);
  }
  const char *preset = !strcmp(e->name, "joint") ? text_of(e, "child") : mbg__xml_value(e, "attached_to");
  return pose_of(s, e, preset, out, depth + 1);
}

/* <pose relative_to="..."> of an element in the model's frame; without relative_to the preset frame counts */
static int pose_of(const scope *s, const mbg__xml *element, const char *preset, mbg__frame *out, int depth) {
  const mbg__xml *pose = mbg__xml_child(element, "pose");
  const char *to = mbg__xml_value(pose, "relative_to");
  mbg__frame own, base;
  int err = MBG_OK;
  to = to && *to ? to : preset && *preset ? preset : "__model__";
  if (depth > DEPTH_MAX) {
    return mbg__xml_fail(s->robot->ctx, element, "its pose is relative to itself, or through more than %d frames",
                         DEPTH_MAX);
  }
  MBG_TRY(read_pose(s->robot, pose, &own));
  MBG_TRY(frame_of(s, element, to, &base, depth));
  frame_mul(out, &base, &own);
done:
  return err;
}

/* ---------------------------------------------------------------------- links */

static int read_inertial(mbg__robot *robot, const mbg__xml *at, mbg__robot_mass *out) {
  static const char *const entries[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  const mbg__xml *inertia = mbg__xml_child(at, "inertia");
  mbg__robot_mass given = {.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}};
  mbg__frame H;
  int err = MBG_OK;
  MBG_TRY(read_pose(robot, mbg__xml_child(at, "pose"), &H));
  MBG_TRY(number_of(robot->ctx, at, "mass", &given.mass));
  for (int i = 0; i < 6 && inertia; i++) {
    MBG_TRY(number_of(robot->ctx, inertia, entries[i], &given.inertia[i]));
  }
  err = mbg__robot_take_mass(robot, at, &given, &H, out);
done:
  return err;
}

static int numbers_of(mbg_context *ctx, const mbg__xml *at, const char *name, int n, double *out) {
  const mbg__xml *child = mbg__xml_child(at, name);
  return child && *child->text ? mbg__xml_numbers(ctx, child, name, child->text, n, n, out, NULL) : MBG_OK;
}

static int read_visual(mbg__robot *robot, const mbg__xml *at, int link) {
  static const char *const words[MBG__ROBOT_FORMS] = {"box", "cylinder", "sphere", "capsule", "mesh"};
  const mbg__xml *geometry = mbg__xml_child(at, "geometry"), *pose = mbg__xml_child(at, "pose"), *e = NULL;
  mbg__robot_figure f = {.link = link, .rgba = {-1, 0, 0, 1}};
  int err = MBG_OK;
  for (int form = 0; form < MBG__ROBOT_FORMS && !e; form++) {
    e = mbg__xml_child(geometry, words[form]);
    f.form = (mbg__robot_form)form;
  }
  f.form = e && !mbg__xml_value(pose, "relative_to") ? f.form : MBG__ROBOT_FORMS;
  MBG_TRY(read_pose(robot, pose, &f.place));
  if (f.form == MBG__ROBOT_BOX) {
    MBG_TRY(numbers_of(robot->ctx, e, "size", 3, f.size));
  } else if (f.form == MBG__ROBOT_MESH) {
    f.size[0] = f.size[1] = f.size[2] = 1;
    f.file = text_of(e, "uri");
    MBG_TRY(numbers_of(robot->ctx, e, "scale", 3, f.size));
  } else if (e) {
    MBG_TRY(number_of(robot->ctx, e, "radius", &f.size[0]));
    MBG_TRY(number_of(robot->ctx, e, "length", &f.size[1]));
  }
  MBG_TRY(numbers_of(robot->ctx, mbg__xml_child(at, "material"), "diffuse", 4, f.rgba));
  MBG_TRY(mbg__robot_add_figure(robot, at, &f));
done:
  return err;
}

static int read_link(const scope *s, const mbg__xml *at) {
  mbg__robot *robot = s->robot;
  const mbg__xml *inertial = mbg__xml_child(at, "inertial");
  mbg__robot_link *link;
  mbg__frame place;
  const char *name;
  int err = MBG_OK;
  MBG_TRY(need_name(robot, at, &name));
  MBG_TRY(pose_of(s, at, NULL, &place, 0));
  name = join(robot, s->prefix, name);
  if (!name) {
    err = mbg__fail_memory(robot->ctx);
    goto done;
  }
  MBG_TRY(mbg__robot_add_link(robot, at, name, &link));
  frame_mul(&link->place, &s->place, &place);
  if (inertial) {
    MBG_TRY(read_inertial(robot, inertial, &link->own));
  } else {
    link->own = (mbg__robot_mass){.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}};
    mbg__report_add(robot->report, at, "note",
                    "links without <inertial> have the mass 1 and the inertia 1 of the format");
  }
  for (const mbg__xml *c = at->child; c; c = c->next) {
    if (!strcmp(c->name, "visual")) {
      MBG_TRY(read_visual(robot, c, robot->nlink - 1));
    } else if (strcmp(c->name, "inertial") != 0 && strcmp(c->name, "pose") != 0) {
      mbg__report_add(robot->report, c, "left out", "<%s> in <link>", c->name);
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- joints */

static int find_link(const scope *s, const mbg__xml *at, const char *name, int *out) {
  *out = MBG__ROBOT_GROUND;
  if (!strcmp(name, "world")) {
    return MBG_OK;
  }
  const char *full = join(s->robot, s->prefix, name);
  if (!full) {
    return mbg__fail_memory(s->robot->ctx);
  }
  *out = mbg__robot_find_link(s->robot, full);
  return *out >= 0 ? MBG_OK : mbg__xml_fail(s->robot->ctx, at, "there is no link '%s'", name);
}

static int read_kind(mbg__robot *robot, const mbg__xml *at, mbg__robot_kind *out) {
  static const struct {
    const char *word;
    mbg__robot_kind kind;
  } kinds[] = {{"revolute", MBG__ROBOT_REVOLUTE},   {"continuous", MBG__ROBOT_REVOLUTE},
               {"prismatic", MBG__ROBOT_PRISMATIC}, {"fixed", MBG__ROBOT_FIXED},
               {"ball", MBG__ROBOT_SPHERICAL},      {"universal", MBG__ROBOT_UNIVERSAL},
               {"revolute2", MBG__ROBOT_UNIVERSAL}, {"screw", MBG__ROBOT_SCREW}};
  const char *words[MBG_COUNT(kinds)], *type = mbg__xml_value(at, "type");
  char hint[300];
  for (int i = 0; i < MBG_COUNT(kinds); i++) {
    words[i] = kinds[i].word;
    if (type && !strcmp(type, kinds[i].word)) {
      *out = kinds[i].kind;
      return MBG_OK;
    }
  }
  mbg__known(hint, sizeof(hint), type ? type : "", words, MBG_COUNT(kinds));
  return mbg__xml_fail(robot->ctx, at, "unknown type '%.60s' of a joint%s", type ? type : "", hint);
}

/* the axis in the frame of the joint, which stands at H in the model's frame */
static int read_axis(const scope *s, const mbg__xml *axis, const mbg__frame *H, double out[3]) {
  const mbg__xml *xyz = mbg__xml_child(axis, "xyz");
  const char *old = text_of(axis, "use_parent_model_frame"), *in = mbg__xml_value(xyz, "expressed_in");
  double given[3] = {0, 0, 1}, world[3], length;
  mbg__frame base;
  int err = MBG_OK;
  if (xyz) {
    MBG_TRY(mbg__xml_numbers(s->robot->ctx, xyz, "xyz", xyz->text, 3, 3, given, NULL));
  }
  length = sqrt(v3_dot(given, given));
  if (!(length > 0)) {
    err = mbg__xml_fail(s->robot->ctx, xyz, "the axis has no direction");
    goto done;
  }
  v3_scale(out, 1 / length, given);
  if (old && (!strcmp(old, "1") || !strcmp(old, "true"))) {
    in = "__model__";
  }
  if (in && *in) {
    MBG_TRY(frame_of(s, xyz ? xyz : axis, in, &base, 0));
    m3_mulv(world, base.R, out);
    m3_mulv_T(out, H->R, world);
  }
done:
  return err;
}

static int read_dynamics(mbg__robot *robot, const mbg__xml *at, const mbg__xml *axis, mbg__robot_joint *joint) {
  const mbg__xml *limit = mbg__xml_child(axis, "limit"), *dynamics = mbg__xml_child(axis, "dynamics");
  double lower = -1e16, upper = 1e16;
  int err = MBG_OK;
  if (limit) {
    MBG_TRY(number_of(robot->ctx, limit, "effort", &joint->effort));
    MBG_TRY(number_of(robot->ctx, limit, "lower", &lower));
    MBG_TRY(number_of(robot->ctx, limit, "upper", &upper));
  }
  if (lower < upper && strcmp(mbg__xml_value(at, "type"), "continuous") != 0) {
    joint->lower = lower > -1e15 ? lower : NAN;
    joint->upper = upper < 1e15 ? upper : NAN;
  }
  if (dynamics) {
    MBG_TRY(number_of(robot->ctx, dynamics, "damping", &joint->damping));
    MBG_TRY(number_of(robot->ctx, dynamics, "friction", &joint->friction));
    MBG_TRY(number_of(robot->ctx, dynamics, "spring_stiffness", &joint->stiffness));
    MBG_TRY(number_of(robot->ctx, dynamics, "spring_reference", &joint->rest));
  }
done:
  return err;
}

/* axes and data of a joint that stands at H in the model's frame */
static int read_axes(const scope *s, const mbg__xml *at, const mbg__frame *H, mbg__robot_joint *joint) {
  const mbg__xml *axis = mbg__xml_child(at, "axis"), *axis2 = mbg__xml_child(at, "axis2");
  double pitch = 0;
  int err = MBG_OK;
  if (axis) {
    MBG_TRY(read_axis(s, axis, H, joint->axis));
    MBG_TRY(read_dynamics(s->robot, at, axis, joint));
  }
  if (joint->kind == MBG__ROBOT_UNIVERSAL) {
    if (axis2) {
      MBG_TRY(read_axis(s, axis2, H, joint->axis2));
    }
    if (fabs(v3_dot(joint->axis, joint->axis2)) > 1e-6) {
      err = mbg__xml_fail(s->robot->ctx, at, "the axes of '%s' are not at a right angle", joint->name);
    }
  } else if (joint->kind == MBG__ROBOT_SCREW) {
    if (!text_of(at, "screw_thread_pitch")) {
      err = mbg__xml_fail(s->robot->ctx, at, "a screw needs <screw_thread_pitch>, in metres for one turn");
      goto done;
    }
    MBG_TRY(number_of(s->robot->ctx, at, "screw_thread_pitch", &pitch));
    joint->pitch = pitch / 6.283185307179586;
  }
done:
  return err;
}

static int read_joint(const scope *s, const mbg__xml *at) {
  mbg__robot *robot = s->robot;
  const char *parent = text_of(at, "parent"), *child = text_of(at, "child"), *name;
  mbg__robot_joint *joint;
  mbg__frame H, world;
  int err = MBG_OK;
  MBG_TRY(need_name(robot, at, &name));
  if (!parent || !child) {
    err = mbg__xml_fail(robot->ctx, at, "joint '%s' has no <%s>", name, parent ? "child" : "parent");
    goto done;
  }
  name = join(robot, s->prefix, name);
  if (!name) {
    err = mbg__fail_memory(robot->ctx);
    goto done;
  }
  MBG_TRY(mbg__robot_add_joint(robot, at, name, &joint));
  MBG_TRY(read_kind(robot, at, &joint->kind));
  MBG_TRY(find_link(s, at, parent, &joint->parent));
  MBG_TRY(find_link(s, at, child, &joint->child));
  MBG_TRY(pose_of(s, at, child, &H, 0));
  MBG_TRY(read_axes(s, at, &H, joint));
  frame_mul(&world, &s->place, &H);
  joint->in_parent = world;
  if (joint->parent >= 0) {
    frame_relative(&joint->in_parent, &robot->links[joint->parent].place, &world);
  }
  if (joint->child >= 0) {
    frame_relative(&joint->in_child, &robot->links[joint->child].place, &world);
    for (int j = 0; j < robot->njoint - 1 && !joint->loop; j++) {
      joint->loop = !robot->joints[j].loop && robot->joints[j].child == joint->child;
    }
  } else {
    joint->in_child = world;
    joint->loop = true;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- gearboxes */

/* the joint between two links, with the sign of its angle from `from` to `to` about a direction of the world */
static int joint_between(const mbg__robot *robot, int from, int to, const double direction[3], double *sign) {
  for (int j = 0; j < robot->njoint; j++) {
    const mbg__robot_joint *joint = &robot->joints[j];
    const bool along = joint->parent == from && joint->child == to;
    if (joint->kind != MBG__ROBOT_REVOLUTE || (!along && !(joint->parent == to && joint->child == from))) {
      continue;
    }
    mbg__frame H = joint->in_parent;
    double axis[3];
    if (joint->parent >= 0) {
      frame_mul(&H, &robot->links[joint->parent].place, &joint->in_parent);
    }
    m3_mulv(axis, H.R, joint->axis);
    *sign = (along ? 1 : -1) * (v3_dot(axis, direction) > 0 ? 1 : -1);
    return j;
  }
  return -1;
}

/* theta2 = -ratio theta1: angles of the parent about axis and of the child about axis2, both from the reference body */
static int read_gearbox(const scope *s, const mbg__xml *at) {
  mbg__robot *robot = s->robot;
  const char *names[3] = {text_of(at, "gearbox_reference_body"), text_of(at, "parent"), text_of(at, "child")};
  int link[3], joint[2], err = MBG_OK;
  double ratio = 1, sign[2], axis[2][3] = {{0, 0, 1}, {0, 0, 1}}, world[3];
  mbg__frame H;
  if (!names[0] || !names[1] || !names[2]) {
    return mbg__xml_fail(robot->ctx, at, "a gearbox needs <parent>, <child> and <gearbox_reference_body>");
  }
  for (int i = 0; i < 3; i++) {
    MBG_TRY(find_link(s, at, names[i], &link[i]));
  }
  MBG_TRY(number_of(robot->ctx, at, "gearbox_ratio", &ratio));
  MBG_TRY(pose_of(s, at, names[2], &H, 0));
  for (int i = 0; i < 2; i++) {
    const mbg__xml *own = mbg__xml_child(at, i == 0 ? "axis" : "axis2");
    if (own) {
      MBG_TRY(read_axis(s, own, &H, axis[i]));
    }
    m3_mulv(world, H.R, axis[i]);
    m3_mulv(axis[i], s->place.R, world);
    joint[i] = joint_between(robot, link[0], link[1 + i], axis[i], &sign[i]);
  }
  if (joint[0] < 0 || joint[1] < 0) {
    err =
        mbg__xml_fail(robot->ctx, at, "no revolute joint between '%s' and '%s'", names[0], names[joint[0] < 0 ? 1 : 2]);
    goto done;
  }
  if (robot->joints[joint[1]].mimic >= 0) {
    err = mbg__xml_fail(robot->ctx, at, "joint '%s' is in a gearbox already", robot->joints[joint[1]].name);
    goto done;
  }
  robot->joints[joint[1]].mimic = joint[0];
  robot->joints[joint[1]].multiplier = -ratio * sign[0] * sign[1];
done:
  return err;
}

/* ---------------------------------------------------------------------- models */

static bool is_gearbox(const mbg__xml *e) {
  const char *type = mbg__xml_value(e, "type");
  return type && !strcmp(type, "gearbox");
}

static int read_model(const scope *outer, const mbg__xml *model, const char *prefix, int depth);

static int read_nested(const scope *s, int depth) {
  int err = MBG_OK;
  for (const mbg__xml *e = s->model->child; e; e = e->next) {
    if (!strcmp(e->name, "include")) {
      err = mbg__xml_fail(s->robot->ctx, e, "other files are not read; put the model of <uri> in its place");
      goto done;
    }
    if (!strcmp(e->name, "model")) {
      const char *name;
      MBG_TRY(need_name(s->robot, e, &name));
      const char *with = join(s->robot, s->prefix, name), *prefix = with ? join(s->robot, with, "::") : NULL;
      if (!prefix) {
        err = mbg__fail_memory(s->robot->ctx);
        goto done;
      }
      MBG_TRY(read_model(s, e, prefix, depth + 1));
    }
  }
done:
  return err;
}

static int read_model(const scope *outer, const mbg__xml *model, const char *prefix, int depth) {
  static const char *const known[] = {"link", "joint", "frame", "model", "pose", "include", "static"};
  scope s = {.robot = outer->robot, .model = model, .prefix = prefix};
  mbg__frame own;
  int err = MBG_OK;
  if (depth > DEPTH_MAX) {
    return mbg__xml_fail(s.robot->ctx, model, "models nested more than %d deep", DEPTH_MAX);
  }
  MBG_TRY(read_pose(s.robot, mbg__xml_child(model, "pose"), &own));
  frame_mul(&s.place, &outer->place, &own);
  MBG_TRY(read_nested(&s, depth));
  for (const mbg__xml *e = mbg__xml_child(model, "link"); e; e = mbg__xml_next(e)) {
    MBG_TRY(read_link(&s, e));
  }
  for (const mbg__xml *e = mbg__xml_child(model, "joint"); e; e = mbg__xml_next(e)) {
    MBG_TRY(is_gearbox(e) ? MBG_OK : read_joint(&s, e));
  }
  for (const mbg__xml *e = mbg__xml_child(model, "joint"); e; e = mbg__xml_next(e)) {
    MBG_TRY(is_gearbox(e) ? read_gearbox(&s, e) : MBG_OK);
  }
  for (const mbg__xml *e = model->child; e; e = e->next) {
    bool found = false;
    for (int i = 0; i < MBG_COUNT(known); i++) {
      found = found || !strcmp(e->name, known[i]);
    }
    if (!found) {
      mbg__report_add(s.robot->report, e, "left out", "<%s> in <model>", e->name);
    }
  }
done:
  return err;
}

int mbg__robot_read_sdf(mbg__robot *robot, const mbg__xml *root) {
  const mbg__xml *world = mbg__xml_child(root, "world"), *model = mbg__xml_child(world ? world : root, "model");
  scope outer = {.robot = robot, .prefix = ""};
  int err = MBG_OK;
  frame_identity(&outer.place);
  if (!model) {
    return mbg__xml_fail(robot->ctx, root, "there is no <model>");
  }
  const char *name = mbg__xml_value(model, "name");
  robot->name = name && *name ? name : robot->name;
  if (world && text_of(world, "gravity")) {
    const mbg__xml *gravity = mbg__xml_child(world, "gravity");
    MBG_TRY(mbg__xml_numbers(robot->ctx, gravity, "gravity", gravity->text, 3, 3, robot->gravity, NULL));
  }
  if (mbg__xml_next(model)) {
    err = mbg__xml_fail(robot->ctx, mbg__xml_next(model), "a second model; one at a time is imported");
    goto done;
  }
  err = read_model(&outer, model, "", 0);
done:
  return err;
}
