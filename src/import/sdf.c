/* SDF: links with poses of their own, joints that may close loops: a link whose second joint comes is held by it as
   a loop. Poses relative to the model, to links, joints, frames and nested models. */
#include "import/sdf.h"
#include "import/drake.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- texts of children */

static int number_of(mbg_context *ctx, const mbg__xml *at, const char *name, double *out) {
  const mbg__xml *child = mbg__xml_child(at, name);
  return child && *child->text ? mbg__xml_numbers(ctx, child, "value", child->text, 1, 1, out, NULL) : MBG_OK;
}

static int need_name(mbg__robot *robot, const mbg__xml *at, const char **out) {
  *out = mbg__xml_value(at, "name");
  return *out && **out ? MBG_OK : mbg__xml_fail(robot->ctx, at, "the attribute 'name' is missing");
}

/* ---------------------------------------------------------------------- links */

static int read_inertial(mbg__robot *robot, const mbg__xml *at, mbg__robot_mass *out) {
  static const char *const entries[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  const mbg__xml *inertia = mbg__xml_child(at, "inertia");
  mbg__robot_mass given = {.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}};
  mbg__frame H;
  int err = MBG_OK;
  MBG_TRY(mbg__sdf_read_pose(robot, mbg__xml_child(at, "pose"), &H));
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
  MBG_TRY(mbg__sdf_read_pose(robot, pose, &f.place));
  if (f.form == MBG__ROBOT_BOX) {
    MBG_TRY(numbers_of(robot->ctx, e, "size", 3, f.size));
  } else if (f.form == MBG__ROBOT_MESH) {
    f.size[0] = f.size[1] = f.size[2] = 1;
    f.file = mbg__sdf_text(e, "uri");
    const char *there = f.file ? mbg__robot_path(robot, at->file, f.file) : NULL;
    f.file = there ? there : f.file;
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

/* of a static model: held by the ground where it stands */
static int fix_link(const mbg__sdf_scope *s, const mbg__xml *at, const char *name) {
  mbg__robot *robot = s->robot;
  const char *fixed = mbg__sdf_join(robot, name, "_fixed");
  mbg__robot_joint *joint;
  const int err = fixed ? mbg__robot_add_joint(robot, at, fixed, &joint) : mbg__fail_memory(robot->ctx);
  if (err == MBG_OK) {
    joint->child = robot->nlink - 1;
    joint->in_parent = robot->links[robot->nlink - 1].place;
  }
  return err;
}

static int read_link(const mbg__sdf_scope *s, const mbg__xml *at) {
  mbg__robot *robot = s->robot;
  const mbg__xml *inertial = mbg__xml_child(at, "inertial");
  mbg__robot_link *link;
  mbg__frame place;
  const char *name;
  int err = MBG_OK;
  MBG_TRY(need_name(robot, at, &name));
  MBG_TRY(mbg__sdf_pose(s, at, NULL, &place, 0));
  name = mbg__sdf_join(robot, s->prefix, name);
  if (!name) {
    err = mbg__fail_memory(robot->ctx);
    goto done;
  }
  MBG_TRY(mbg__robot_add_link(robot, at, name, &link));
  frame_mul(&link->place, &s->place, &place);
  MBG_TRY(s->fixed ? fix_link(s, at, name) : MBG_OK);
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

/* the link that a name means: a frame is attached to one, a model has its canonical link or the first one */
static int find_attached(const mbg__sdf_scope *s, const mbg__xml *at, const char *name, int *out, int depth) {
  const char *rest, *full = mbg__sdf_join(s->robot, s->prefix, name), *next = NULL;
  int err = MBG_OK;
  mbg__sdf_scope inner;
  *out = MBG__ROBOT_GROUND;
  if (!strcmp(name, "world")) {
    return MBG_OK;
  }
  if (!full) {
    return mbg__fail_memory(s->robot->ctx);
  }
  *out = mbg__robot_find_link(s->robot, full);
  if (*out >= 0 || depth > MBG__SDF_DEPTH_MAX) {
    return *out >= 0 ? MBG_OK : mbg__xml_fail(s->robot->ctx, at, "'%s' is attached to itself", name);
  }
  const mbg__xml *e = mbg__sdf_named(s->model, name, strlen(name)),
                 *nested = e ? NULL : mbg__sdf_nested(s, name, &rest);
  if (e && !strcmp(e->name, "model")) {
    nested = e;
    rest = "__model__";
  }
  if (nested) {
    MBG_TRY(mbg__sdf_enter(s, nested, &inner));
    err = find_attached(&inner, at, rest, out, depth + 1);
    goto done;
  }
  if (e) {
    next = !strcmp(e->name, "joint") ? mbg__sdf_text(e, "child") : mbg__xml_value(e, "attached_to");
    next = next && *next ? next : strcmp(e->name, "frame") == 0 ? "__model__" : NULL;
  } else if (!strcmp(name, "__model__")) {
    const mbg__xml *link = mbg__xml_child(s->model, "link"), *model = mbg__xml_child(s->model, "model");
    next = mbg__xml_value(s->model, "canonical_link");
    next = next && *next ? next : mbg__xml_value(link ? link : model, "name");
  }
  err = next ? find_attached(s, at, next, out, depth + 1)
             : mbg__xml_fail(s->robot->ctx, at, "there is no link '%s'", name);
done:
  return err;
}

static int find_link(const mbg__sdf_scope *s, const mbg__xml *at, const char *name, int *out) {
  return find_attached(s, at, name, out, 0);
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
static int read_axis(const mbg__sdf_scope *s, const mbg__xml *axis, const mbg__frame *H, double out[3]) {
  const mbg__xml *xyz = mbg__xml_child(axis, "xyz");
  const char *old = mbg__sdf_text(axis, "use_parent_model_frame"), *in = mbg__xml_value(xyz, "expressed_in");
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
    MBG_TRY(mbg__sdf_frame(s, xyz ? xyz : axis, in, &base, 0));
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

/* children of an element that are not read */
static void report_others(mbg__robot *robot, const mbg__xml *at, const char *const *known, int n) {
  for (const mbg__xml *c = at ? at->child : NULL; c; c = c->next) {
    bool found = false;
    for (int i = 0; i < n; i++) {
      found = found || !strcmp(c->name, known[i]);
    }
    if (!found) {
      mbg__report_add(robot->report, c, "left out", "<%s> in <%s>", c->name, at->name);
    }
  }
}

static void report_joint(mbg__robot *robot, const mbg__xml *at) {
  static const char *const joint[] = {"parent",
                                      "child",
                                      "pose",
                                      "axis",
                                      "axis2",
                                      "thread_pitch",
                                      "screw_thread_pitch",
                                      "gearbox_ratio",
                                      "gearbox_reference_body"};
  static const char *const axis[] = {"xyz", "use_parent_model_frame", "limit", "dynamics", "mimic"};
  static const char *const limit[] = {"lower", "upper", "effort"};
  static const char *const dynamics[] = {"damping", "friction", "spring_stiffness", "spring_reference"};
  report_others(robot, at, joint, MBG_COUNT(joint));
  for (int i = 0; i < 2; i++) {
    const mbg__xml *own = mbg__xml_child(at, i == 0 ? "axis" : "axis2");
    report_others(robot, own, axis, MBG_COUNT(axis));
    report_others(robot, mbg__xml_child(own, "limit"), limit, MBG_COUNT(limit));
    report_others(robot, mbg__xml_child(own, "dynamics"), dynamics, MBG_COUNT(dynamics));
  }
}

/* axes and data of a joint that stands at H in the model's frame */
static int read_axes(const mbg__sdf_scope *s, const mbg__xml *at, const mbg__frame *H, mbg__robot_joint *joint) {
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
      MBG_TRY(read_dynamics(s->robot, at, axis2, joint)); /* for the report */
    }
    if (fabs(v3_dot(joint->axis, joint->axis2)) > 1e-6) {
      err = mbg__xml_fail(s->robot->ctx, at, "the axes of '%s' are not at a right angle", joint->name);
    }
  } else if (joint->kind == MBG__ROBOT_SCREW) {
    if (!mbg__sdf_text(at, "screw_thread_pitch")) {
      err = mbg__xml_fail(s->robot->ctx, at, "a screw needs <screw_thread_pitch>, in metres for one turn");
      goto done;
    }
    MBG_TRY(number_of(s->robot->ctx, at, "screw_thread_pitch", &pitch));
    joint->pitch = pitch / 6.283185307179586;
  }
done:
  return err;
}

static int read_joint(const mbg__sdf_scope *s, const mbg__xml *at) {
  mbg__robot *robot = s->robot;
  const char *parent = mbg__sdf_text(at, "parent"), *child = mbg__sdf_text(at, "child"), *name;
  mbg__robot_joint *joint;
  mbg__frame H, world;
  int err = MBG_OK;
  MBG_TRY(need_name(robot, at, &name));
  if (!parent || !child) {
    err = mbg__xml_fail(robot->ctx, at, "joint '%s' has no <%s>", name, parent ? "child" : "parent");
    goto done;
  }
  name = mbg__sdf_join(robot, s->prefix, name);
  if (!name) {
    err = mbg__fail_memory(robot->ctx);
    goto done;
  }
  MBG_TRY(mbg__robot_add_joint(robot, at, name, &joint));
  MBG_TRY(read_kind(robot, at, &joint->kind));
  MBG_TRY(find_link(s, at, parent, &joint->parent));
  MBG_TRY(find_link(s, at, child, &joint->child));
  MBG_TRY(mbg__sdf_pose(s, at, child, &H, 0));
  MBG_TRY(read_axes(s, at, &H, joint));
  report_joint(robot, at);
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
static int read_gearbox(const mbg__sdf_scope *s, const mbg__xml *at) {
  mbg__robot *robot = s->robot;
  const char *names[3] = {mbg__sdf_text(at, "gearbox_reference_body"), mbg__sdf_text(at, "parent"),
                          mbg__sdf_text(at, "child")};
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
  MBG_TRY(mbg__sdf_pose(s, at, names[2], &H, 0));
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

/* <mimic joint="..."> of an axis: q = multiplier (q_leader - reference) + offset */
static int read_mimic(const mbg__sdf_scope *s, const mbg__xml *at) {
  mbg__robot *robot = s->robot;
  const mbg__xml *mimic = mbg__xml_child(mbg__xml_child(at, "axis"), "mimic");
  const char *name = mbg__xml_value(mimic, "joint"), *own = mbg__sdf_join(robot, s->prefix, mbg__xml_value(at, "name")),
             *leader = name ? mbg__sdf_join(robot, s->prefix, name) : NULL;
  double multiplier = 1, offset = 0, reference = 0;
  int err = MBG_OK;
  if (!mimic) {
    return MBG_OK;
  }
  const int j = own ? mbg__robot_find_joint(robot, own) : -1, k = leader ? mbg__robot_find_joint(robot, leader) : -1;
  MBG_TRY(number_of(robot->ctx, mimic, "multiplier", &multiplier));
  MBG_TRY(number_of(robot->ctx, mimic, "offset", &offset));
  MBG_TRY(number_of(robot->ctx, mimic, "reference", &reference));
  if (k < 0 || k == j) {
    err = mbg__xml_fail(robot->ctx, mimic, "there is no other joint '%s'", name ? name : "");
  } else if (!mbg__robot_is_single(&robot->joints[j]) || !mbg__robot_is_single(&robot->joints[k])) {
    mbg__report_add(robot->report, mimic, "left out", "<mimic> of joints with other than one coordinate");
  } else {
    robot->joints[j].mimic = k;
    robot->joints[j].multiplier = multiplier;
    robot->joints[j].offset = offset - multiplier * reference;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- models */

static bool is_gearbox(const mbg__xml *e) {
  const char *type = mbg__xml_value(e, "type");
  return type && !strcmp(type, "gearbox");
}

static int read_model(mbg__sdf_scope *s, int depth);

static bool is_true(const char *text) { return text && (!strcmp(text, "true") || !strcmp(text, "1")); }

static int read_nested(const mbg__sdf_scope *s, int depth) {
  int err = MBG_OK;
  for (const mbg__xml *e = mbg__xml_child(s->model, "model"); e; e = mbg__xml_next(e)) {
    mbg__sdf_scope inner;
    mbg__frame own;
    MBG_TRY(mbg__sdf_enter(s, e, &inner));
    MBG_TRY(mbg__sdf_model_frame(s, e, &own, 0));
    frame_mul(&inner.place, &s->place, &own);
    MBG_TRY(read_model(&inner, depth + 1));
  }
done:
  return err;
}

/* the link of a link or frame, and where that is in it */
static int find_drake(const void *of, const mbg__xml *at, const char *name, int *link, mbg__frame *H) {
  const mbg__sdf_scope *s = of;
  mbg__frame own, world;
  int err = MBG_OK;
  frame_identity(H);
  MBG_TRY(find_link(s, at, name, link));
  if (*link >= 0) {
    MBG_TRY(mbg__sdf_frame(s, at, name, &own, 0));
    frame_mul(&world, &s->place, &own);
    frame_relative(H, &s->robot->links[*link].place, &world);
  }
done:
  return err;
}

static int read_drake(const mbg__sdf_scope *s) {
  const mbg__drake d = {.robot = s->robot, .prefix = s->prefix, .find = find_drake, .of = s};
  int err = MBG_OK, number = 0;
  for (const mbg__xml *e = s->model->child; e; e = e->next) {
    MBG_TRY(mbg__drake_knows(e->name) ? mbg__drake_read(&d, e, &number) : MBG_OK);
  }
done:
  return err;
}

static void report_children(const mbg__sdf_scope *s) {
  static const char *const known[] = {"link", "joint", "frame", "model", "pose", "static", "gravity"};
  for (const mbg__xml *e = s->model->child; e; e = e->next) {
    bool found = false;
    for (int i = 0; i < MBG_COUNT(known); i++) {
      found = found || !strcmp(e->name, known[i]);
    }
    if (!found && !mbg__drake_knows(e->name)) {
      mbg__report_add(s->robot->report, e, "left out", "<%s> in <%s>", e->name, s->model->name);
    }
  }
}

/* a model at its place: nested ones first, then links, joints and gearboxes */
static int read_model(mbg__sdf_scope *s, int depth) {
  const mbg__xml *model = s->model;
  int err = MBG_OK;
  if (depth > MBG__SDF_DEPTH_MAX) {
    return mbg__xml_fail(s->robot->ctx, model, "models nested more than %d deep", MBG__SDF_DEPTH_MAX);
  }
  s->fixed = s->fixed || is_true(mbg__sdf_text(model, "static"));
  MBG_TRY(read_nested(s, depth));
  for (const mbg__xml *e = mbg__xml_child(model, "link"); e; e = mbg__xml_next(e)) {
    MBG_TRY(read_link(s, e));
  }
  for (const mbg__xml *e = mbg__xml_child(model, "joint"); e; e = mbg__xml_next(e)) {
    if (s->fixed) {
      mbg__report_add(s->robot->report, e, "left out", "<joint> of static models: their links are fixed to the ground");
    } else if (!is_gearbox(e)) {
      MBG_TRY(read_joint(s, e));
    }
  }
  for (const mbg__xml *e = mbg__xml_child(model, "joint"); e && !s->fixed; e = mbg__xml_next(e)) {
    MBG_TRY(is_gearbox(e) ? read_gearbox(s, e) : read_mimic(s, e));
  }
  MBG_TRY(read_drake(s));
  report_children(s);
done:
  return err;
}

int mbg__robot_read_sdf(mbg__robot *robot, mbg__xml *root) {
  int err = MBG_OK;
  MBG_TRY(mbg__sdf_include(robot, root));
  const mbg__xml *world = mbg__xml_child(root, "world"), *all = world ? world : root;
  const mbg__xml *model = mbg__xml_child(all, "model");
  int steps = 0;
  mbg__sdf_scope s = {.robot = robot, .prefix = "", .steps = &steps};
  frame_identity(&s.place);
  if (!model) {
    return mbg__xml_fail(robot->ctx, root, "there is no <model>");
  }
  const bool single = !mbg__xml_next(model) && !mbg__xml_child(all, "joint");
  const char *name = mbg__xml_value(single ? model : all, "name");
  robot->name = name && *name ? name : robot->name;
  if (world && mbg__sdf_text(world, "gravity")) {
    const mbg__xml *gravity = mbg__xml_child(world, "gravity");
    MBG_TRY(mbg__xml_numbers(robot->ctx, gravity, "gravity", gravity->text, 3, 3, robot->gravity, NULL));
  }
  s.model = all; /* several models are nested in their world */
  if (single) {
    MBG_TRY(mbg__sdf_model_frame(&s, model, &s.place, 0));
    report_children(&s);
    s.model = model;
  }
  err = read_model(&s, 0);
done:
  return err;
}
