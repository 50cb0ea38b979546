/* URDF: links whose frames are those of their joints. The frame of a link keeps the axes of its body; its origin moves
   to the joint where the body turns about another point. */
#include "export/export.h"

#include <math.h>
#include <string.h>

typedef struct {
  const mbg__export *x;
  mbg__buffer *out;
  const char *ground; /* its link */
} writer;

/* ---------------------------------------------------------------------- frames */

/* the origin of the link's frame in its body */
static void origin_of(const mbg__export *x, int link, double out[3]) {
  const mbg__robot_joint *joint = &x->robot.joints[x->robot.links[link].joint];
  const bool turns = joint->kind == MBG__ROBOT_REVOLUTE || joint->kind == MBG__ROBOT_PLANAR;
  double axis[3], across[3];
  m3_mulv(axis, joint->in_child.R, joint->axis);
  v3_cross(across, axis, joint->in_child.x);
  v3_zero(out);
  if (turns && v3_norm(across) > 1e-15 * x->size) {
    v3_copy(out, joint->in_child.x);
  }
}

/* a frame on a body, seen from the frame of the link */
static void in_link(const mbg__export *x, int link, const mbg__frame *on_body, mbg__frame *out) {
  double origin[3];
  *out = *on_body;
  if (link >= 0) {
    origin_of(x, link, origin);
    v3_sub(out->x, on_body->x, origin);
  }
}

static void write_origin(const writer *w, int level, const mbg__frame *H) {
  double rpy[3];
  mbg__export_rpy(H->R, rpy);
  mbg__export_line(w->out, level);
  mbg__buffer_text(w->out, "<origin");
  mbg__export_numbers(w->out, "xyz", H->x, 3, w->x->size);
  mbg__export_numbers(w->out, "rpy", rpy, 3, 0.1);
  mbg__buffer_text(w->out, "/>");
}

/* ---------------------------------------------------------------------- links */

static void write_inertial(const writer *w, int link, const mbg__robot_mass *mass) {
  static const char *const entries[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  mbg__frame H, at;
  frame_identity(&H);
  v3_copy(H.x, mass->com);
  in_link(w->x, link, &H, &at);
  mbg__export_line(w->out, 2);
  mbg__buffer_text(w->out, "<inertial>");
  write_origin(w, 3, &at);
  mbg__export_line(w->out, 3);
  mbg__buffer_text(w->out, "<mass");
  mbg__export_number(w->out, "value", mass->mass);
  mbg__buffer_text(w->out, "/>");
  mbg__export_line(w->out, 3);
  mbg__buffer_text(w->out, "<inertia");
  for (int i = 0; i < 6; i++) {
    mbg__export_number(w->out, entries[i], mass->inertia[i]);
  }
  mbg__buffer_text(w->out, "/>");
  mbg__export_line(w->out, 2);
  mbg__buffer_text(w->out, "</inertial>");
}

static void write_link(const writer *w, int l) {
  const mbg__robot_link *link = &w->x->robot.links[l];
  mbg__export_line(w->out, 1);
  mbg__buffer_text(w->out, "<link");
  mbg__export_text(w->out, "name", link->name);
  mbg__buffer_text(w->out, ">");
  write_inertial(w, l, &link->own);
  mbg__export_line(w->out, 1);
  mbg__buffer_text(w->out, "</link>");
}

/* ---------------------------------------------------------------------- joints */

static void write_end(const writer *w, const char *end, const char *link) {
  mbg__export_line(w->out, 2);
  mbg__buffer_format(w->out, "<%s", end);
  mbg__export_text(w->out, "link", link);
  mbg__buffer_text(w->out, "/>");
}

static void begin_joint(const writer *w, const char *name, const char *type, int parent, const char *child) {
  mbg__export_line(w->out, 1);
  mbg__buffer_text(w->out, "<joint");
  mbg__export_text(w->out, "name", name);
  mbg__export_text(w->out, "type", type);
  mbg__buffer_text(w->out, ">");
  write_end(w, "parent", parent < 0 ? w->ground : w->x->robot.links[parent].name);
  write_end(w, "child", child);
}

static void end_joint(const writer *w) {
  mbg__export_line(w->out, 1);
  mbg__buffer_text(w->out, "</joint>");
}

static void write_dynamics(const writer *w, const mbg__robot_joint *joint) {
  if (joint->kind == MBG__ROBOT_PRISMATIC || isfinite(joint->lower) || isfinite(joint->upper)) {
    mbg__export_line(w->out, 2);
    mbg__buffer_text(w->out, "<limit");
    mbg__export_number(w->out, "lower", isfinite(joint->lower) ? joint->lower : -1e9);
    mbg__export_number(w->out, "upper", isfinite(joint->upper) ? joint->upper : 1e9);
    mbg__export_number(w->out, "effort", joint->effort);
    mbg__export_number(w->out, "velocity", 1e9);
    mbg__buffer_text(w->out, "/>");
  }
  if (joint->damping > 0 || joint->friction > 0) {
    mbg__export_line(w->out, 2);
    mbg__buffer_text(w->out, "<dynamics");
    mbg__export_number(w->out, "damping", joint->damping);
    mbg__export_number(w->out, "friction", joint->friction);
    mbg__buffer_text(w->out, "/>");
  }
  if (joint->stiffness > 0) {
    mbg__report_add(w->x->robot.report, NULL, "left out", "stiffness on joint '%s': URDF has no springs", joint->name);
  }
  if (joint->mimic >= 0) {
    mbg__export_line(w->out, 2);
    mbg__buffer_text(w->out, "<mimic");
    mbg__export_text(w->out, "joint", w->x->robot.joints[joint->mimic].name);
    mbg__export_number(w->out, "multiplier", joint->multiplier);
    mbg__export_number(w->out, "offset", joint->offset);
    mbg__buffer_text(w->out, "/>");
  }
}

static const char *type_of(const mbg__robot_joint *joint) {
  const bool limited = isfinite(joint->lower) || isfinite(joint->upper);
  switch (joint->kind) {
  case MBG__ROBOT_FIXED:
    return "fixed";
  case MBG__ROBOT_REVOLUTE:
    return limited ? "revolute" : "continuous";
  case MBG__ROBOT_PRISMATIC:
    return "prismatic";
  case MBG__ROBOT_PLANAR:
    return "planar";
  case MBG__ROBOT_FREE:
    return "floating";
  default:
    return NULL;
  }
}

static int write_joint(const writer *w, const mbg__robot_joint *joint) {
  const char *type = type_of(joint);
  mbg__frame parent, child, H, back;
  double axis[3];
  if (joint->loop) {
    return mbg__fail(w->x->robot.ctx, MBG_ERROR_UNSUPPORTED,
                     "joint '%s' closes a loop, and URDF has trees only; MJCF has loops", joint->name);
  }
  if (!type) {
    return mbg__fail(
        w->x->robot.ctx, MBG_ERROR_UNSUPPORTED,
        "joint '%s': URDF has no such joint (spherical, universal, cylindrical, screw); MJCF has the first "
        "three",
        joint->name);
  }
  in_link(w->x, joint->parent, &joint->in_parent, &parent);
  in_link(w->x, joint->child, &joint->in_child, &child);
  frame_inv(&back, &child);
  frame_mul(&H, &parent, &back);
  m3_mulv(axis, child.R, joint->axis);
  v3_scale(axis, 1 / v3_norm(axis), axis);
  begin_joint(w, joint->name, type, joint->parent, w->x->robot.links[joint->child].name);
  write_origin(w, 2, &H);
  if (joint->kind != MBG__ROBOT_FIXED && joint->kind != MBG__ROBOT_FREE) {
    mbg__export_line(w->out, 2);
    mbg__buffer_text(w->out, "<axis");
    mbg__export_numbers(w->out, "xyz", axis, 3, 1);
    mbg__buffer_text(w->out, "/>");
    write_dynamics(w, joint);
  }
  end_joint(w);
  return MBG_OK;
}

/* a marker: a link without mass */
static void write_marker(const writer *w, const mbg__export_marker *marker) {
  char name[300];
  mbg__frame H;
  mbg__format(name, sizeof(name), "%.250s_fixed", marker->name);
  mbg__export_line(w->out, 1);
  mbg__buffer_text(w->out, "<link");
  mbg__export_text(w->out, "name", marker->name);
  mbg__buffer_text(w->out, "/>");
  begin_joint(w, name, "fixed", marker->link, marker->name);
  in_link(w->x, marker->link, &marker->at, &H);
  write_origin(w, 2, &H);
  end_joint(w);
}

/* ---------------------------------------------------------------------- the file */

int mbg__export_urdf(const mbg__export *x, mbg__buffer *out) {
  static const double earth[3] = {0, 0, -9.81};
  const mbg__robot *robot = &x->robot;
  writer w = {.x = x, .out = out, .ground = mbg__robot_find_link(robot, "world") < 0 ? "world" : "world_of_robot"};
  double off[3];
  int err = MBG_OK;
  v3_sub(off, robot->gravity, earth);
  if (v3_norm(off) > 0) {
    mbg__report_add(robot->report, NULL, "left out", "gravity: URDF has none, and programs take 9.81 m/s^2 along -z");
  }
  mbg__buffer_text(out, "<?xml version=\"1.0\"?>\n<robot");
  mbg__export_text(out, "name", robot->name);
  mbg__buffer_text(out, ">");
  mbg__export_line(out, 1);
  mbg__buffer_text(out, "<link");
  mbg__export_text(out, "name", w.ground);
  mbg__buffer_text(out, "/>");
  for (int l = 0; l < robot->nlink; l++) {
    write_link(&w, l);
  }
  for (int j = 0; j < robot->njoint; j++) {
    MBG_TRY(write_joint(&w, &robot->joints[j]));
  }
  for (int k = 0; k < x->nmarker; k++) {
    write_marker(&w, &x->markers[k]);
  }
  mbg__buffer_text(out, "\n</robot>\n");
done:
  return err;
}
