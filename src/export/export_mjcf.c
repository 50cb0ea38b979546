/* MJCF: nested bodies. A chain of bodies without mass becomes one body with several joints, a rotor that follows a
   joint its armature. Loops are soft there: connect, weld. */
#include "export/export.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 190 };

typedef struct {
  mbg__export *x;
  mbg__buffer *out;
  mbg__arena *arena;
  int *first, *next; /* children of each link and of the ground (at nlink); next sibling */
  int *ends;         /* loops, markers and followers that a link has */
  double *armature;  /* of each joint */
  bool *rotor;       /* links that are rotors */
  bool *site;        /* joints whose ends are sites */
} writer;

static int fail(const writer *w, const char *format, const char *name) {
  return mbg__fail(w->x->robot.ctx, MBG_ERROR_UNSUPPORTED, format, name);
}

/* ---------------------------------------------------------------------- structure */

static int make_lists(writer *w) {
  const mbg__robot *robot = &w->x->robot;
  const int n = robot->nlink;
  w->first = MBG_TAKE(w->arena, int, n + 1);
  w->next = MBG_TAKE(w->arena, int, n + 1);
  w->ends = MBG_TAKE(w->arena, int, n + 1);
  w->armature = MBG_TAKE(w->arena, double, robot->njoint + 1);
  w->rotor = MBG_TAKE(w->arena, bool, n + 1);
  const int err = mbg__arena_check(robot->ctx, w->arena);
  if (err < 0) {
    return err;
  }
  for (int l = 0; l <= n; l++) {
    w->first[l] = -1;
  }
  for (int l = n - 1; l >= 0; l--) { /* so that the first one comes first */
    const int parent = robot->joints[robot->links[l].joint].parent, at = parent < 0 ? n : parent;
    w->next[l] = w->first[at];
    w->first[at] = l;
  }
  for (int j = 0; j < robot->njoint; j++) {
    const mbg__robot_joint *joint = &robot->joints[j];
    w->armature[j] = joint->armature;
    if (joint->loop) {
      w->ends[joint->parent < 0 ? n : joint->parent]++;
      w->ends[joint->child < 0 ? n : joint->child]++;
    }
  }
  for (int k = 0; k < w->x->nmarker; k++) {
    w->ends[w->x->markers[k].link < 0 ? n : w->x->markers[k].link]++;
  }
  return MBG_OK;
}

/* A link on the ground that only turns, about an axis through its centre of mass, and follows another joint: it is felt
   as inertia of that joint alone. */
static void find_rotors(writer *w) {
  mbg__robot *robot = &w->x->robot;
  for (int l = 0; l < robot->nlink; l++) {
    const mbg__robot_joint *joint = &robot->joints[robot->links[l].joint];
    const mbg__robot_mass *own = &robot->links[l].own;
    const double *I = own->inertia;
    double a[3], d[3], across[3];
    if (joint->kind != MBG__ROBOT_REVOLUTE || joint->parent >= 0 || joint->mimic < 0 || w->first[l] >= 0 ||
        w->ends[l] > 0 || joint->damping > 0 || joint->stiffness > 0 || joint->friction > 0 || isfinite(joint->lower) ||
        isfinite(joint->upper)) {
      continue;
    }
    m3_mulv(a, joint->in_child.R, joint->axis);
    v3_sub(d, own->com, joint->in_child.x);
    v3_cross(across, a, d);
    bool followed = false;
    for (int j = 0; j < robot->njoint; j++) {
      followed = followed || robot->joints[j].mimic == robot->links[l].joint;
    }
    if (followed || v3_norm(across) > 1e-12 * w->x->size) {
      continue;
    }
    const double inertia = I[0] * a[0] * a[0] + I[1] * a[1] * a[1] + I[2] * a[2] * a[2] +
                           2 * (I[3] * a[0] * a[1] + I[4] * a[0] * a[2] + I[5] * a[1] * a[2]);
    w->rotor[l] = true;
    w->armature[joint->mimic] += joint->multiplier * joint->multiplier * inertia;
  }
}

/* a body without mass between two joints */
static bool is_passage(const writer *w, int l) {
  const mbg__robot *robot = &w->x->robot;
  const mbg__robot_mass *own = &robot->links[l].own;
  const mbg__robot_kind kind = robot->joints[robot->links[l].joint].kind;
  const int child = w->first[l];
  double sum = own->mass;
  for (int i = 0; i < 6; i++) {
    sum += fabs(own->inertia[i]);
  }
  return sum == 0 && w->ends[l] == 0 && child >= 0 && w->next[child] < 0 && kind != MBG__ROBOT_FREE &&
         kind != MBG__ROBOT_FIXED && robot->joints[robot->links[child].joint].kind != MBG__ROBOT_FIXED;
}

/* ---------------------------------------------------------------------- joints */

/* the frame of a joint, seen from a link, with all joints at zero */
static void joint_frame(const mbg__robot *robot, const mbg__robot_joint *joint, int link, mbg__frame *out) {
  mbg__frame world;
  frame_mul(&world, &robot->links[joint->child].place, &joint->in_child);
  frame_relative(out, &robot->links[link].place, &world);
}

static void write_single(const writer *w, int level, const mbg__robot_joint *joint, const char *end, const char *type,
                         const mbg__frame *H, const double axis[3]) {
  double turned[3];
  char name[300];
  mbg__format(name, sizeof(name), "%.250s%s", joint->name, end);
  m3_mulv(turned, H->R, axis);
  v3_scale(turned, 1 / v3_norm(turned), turned);
  mbg__export_line(w->out, level);
  mbg__buffer_text(w->out, "<joint");
  mbg__export_text(w->out, "name", name);
  mbg__export_text(w->out, "type", type);
  mbg__export_numbers(w->out, "pos", H->x, 3, w->x->size);
  if (strcmp(type, "ball") != 0) {
    mbg__export_numbers(w->out, "axis", turned, 3, 1);
  }
}

static void write_dynamics(const writer *w, const mbg__robot_joint *joint) {
  const double armature = w->armature[joint - w->x->robot.joints];
  if (joint->damping > 0) {
    mbg__export_number(w->out, "damping", joint->damping);
  }
  if (joint->friction > 0) {
    mbg__export_number(w->out, "frictionloss", joint->friction);
  }
  if (joint->stiffness > 0) {
    mbg__export_number(w->out, "stiffness", joint->stiffness);
    mbg__export_number(w->out, "springref", joint->rest);
  }
  if (armature > 0) {
    mbg__export_number(w->out, "armature", armature);
  }
  if (isfinite(joint->lower) || isfinite(joint->upper)) {
    const double range[2] = {isfinite(joint->lower) ? joint->lower : -1e9, isfinite(joint->upper) ? joint->upper : 1e9};
    const double force[2] = {-joint->effort, joint->effort};
    mbg__export_numbers(w->out, "range", range, 2, 0);
    if (joint->effort > 0) {
      mbg__export_numbers(w->out, "actuatorfrcrange", force, 2, 0);
    }
  }
}

/* the joint of a link, seen from the link `seen` that it ends up in */
static int write_joint(const writer *w, int level, const mbg__robot_joint *joint, int seen) {
  static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
  mbg__frame H;
  joint_frame(&w->x->robot, joint, seen, &H);
  switch (joint->kind) {
  case MBG__ROBOT_REVOLUTE:
  case MBG__ROBOT_PRISMATIC:
    write_single(w, level, joint, "", joint->kind == MBG__ROBOT_REVOLUTE ? "hinge" : "slide", &H, joint->axis);
    write_dynamics(w, joint);
    break;
  case MBG__ROBOT_SPHERICAL:
    write_single(w, level, joint, "", "ball", &H, joint->axis);
    break;
  case MBG__ROBOT_CYLINDRICAL:
    write_single(w, level, joint, "_slide", "slide", &H, joint->axis);
    mbg__buffer_text(w->out, "/>");
    write_single(w, level, joint, "_angle", "hinge", &H, joint->axis);
    break;
  case MBG__ROBOT_UNIVERSAL:
    write_single(w, level, joint, "_angle1", "hinge", &H, joint->axis);
    mbg__buffer_text(w->out, "/>");
    write_single(w, level, joint, "_angle2", "hinge", &H, joint->axis2);
    break;
  case MBG__ROBOT_PLANAR:
    write_single(w, level, joint, "_x", "slide", &H, x);
    mbg__buffer_text(w->out, "/>");
    write_single(w, level, joint, "_y", "slide", &H, y);
    mbg__buffer_text(w->out, "/>");
    write_single(w, level, joint, "_angle", "hinge", &H, joint->axis);
    break;
  case MBG__ROBOT_FREE:
    mbg__export_line(w->out, level);
    mbg__buffer_text(w->out, "<freejoint");
    mbg__export_text(w->out, "name", joint->name);
    break;
  case MBG__ROBOT_FIXED:
    return MBG_OK;
  default:
    return fail(w, "joint '%s': MJCF has no screws", joint->name);
  }
  mbg__buffer_text(w->out, "/>");
  return MBG_OK;
}

/* ---------------------------------------------------------------------- bodies */

static void write_place(const writer *w, const mbg__frame *H) {
  double q[4];
  mbg__export_quaternion(H->R, q);
  mbg__export_numbers(w->out, "pos", H->x, 3, w->x->size);
  if (fabs(q[1]) + fabs(q[2]) + fabs(q[3]) > 1e-15) {
    mbg__export_numbers(w->out, "quat", q, 4, 0.1);
  }
}

static void write_inertial(const writer *w, int level, const mbg__robot_mass *own) {
  const bool full = own->inertia[3] != 0 || own->inertia[4] != 0 || own->inertia[5] != 0;
  mbg__export_line(w->out, level);
  mbg__buffer_text(w->out, "<inertial");
  mbg__export_numbers(w->out, "pos", own->com, 3, 0);
  mbg__export_number(w->out, "mass", own->mass);
  mbg__export_numbers(w->out, full ? "fullinertia" : "diaginertia", own->inertia, full ? 6 : 3, 0);
  mbg__buffer_text(w->out, "/>");
}

static void write_site(const writer *w, int level, const char *name, const mbg__frame *at) {
  mbg__export_line(w->out, level);
  mbg__buffer_text(w->out, "<site");
  mbg__export_text(w->out, "name", name);
  write_place(w, at);
  mbg__buffer_text(w->out, "/>");
}

/* The point of a loop on one of its bodies. A revolute joint has a second one on its axis, one length of the model
   away. */
static void loop_point(const mbg__export *x, const mbg__robot_joint *joint, bool child, int number, mbg__frame *out) {
  double along[3];
  *out = child ? joint->in_child : joint->in_parent;
  v3_scale(along, number * x->size, joint->axis);
  m3_mulv_add(out->x, out->R, along);
}

static void end_name(char out[300], const mbg__robot_joint *joint, bool child, int number) {
  mbg__format(out, 300, "%.250s%s_%s", joint->name, number > 0 ? "_axis" : "", child ? "b" : "a");
}

/* imported sites were called site_NAME; a marker of that NAME keeps it */
static const char *site_name(const mbg__export *x, const char *name) {
  const char *own = !strncmp(name, "site_", 5) && name[5] ? name + 5 : name;
  for (int k = 0; k < x->nmarker && own != name; k++) {
    own = !strcmp(x->markers[k].name, own) ? name : own;
  }
  return own;
}

/* markers of a link, and the ends of loops that are open with all joints at zero */
static void write_sites(const writer *w, int level, int link) {
  const mbg__export *x = w->x;
  for (int k = 0; k < x->nmarker; k++) {
    if (x->markers[k].link == link) {
      write_site(w, level, site_name(x, x->markers[k].name), &x->markers[k].at);
    }
  }
  for (int j = 0; j < x->robot.njoint; j++) {
    const mbg__robot_joint *joint = &x->robot.joints[j];
    const int points = joint->kind == MBG__ROBOT_REVOLUTE ? 2 : 1;
    for (int k = 0; k < 2 * points && joint->loop && w->site[j]; k++) {
      const bool child = k % 2 == 1;
      if ((child ? joint->child : joint->parent) == link) {
        char name[300];
        mbg__frame H;
        loop_point(x, joint, child, k / 2, &H);
        end_name(name, joint, child, k / 2);
        write_site(w, level, name, &H);
      }
    }
  }
}

static int write_bodies(const writer *w, int level, int parent);

static int write_body(const writer *w, int level, int parent, int first) {
  const mbg__robot *robot = &w->x->robot;
  int last = first, err = MBG_OK;
  mbg__frame H;
  while (is_passage(w, last)) {
    last = w->first[last];
  }
  const mbg__robot_link *link = &robot->links[last];
  H = link->place;
  if (parent >= 0) {
    frame_relative(&H, &robot->links[parent].place, &link->place);
  }
  mbg__export_line(w->out, level);
  mbg__buffer_text(w->out, "<body");
  mbg__export_text(w->out, "name", link->name);
  write_place(w, &H);
  mbg__buffer_text(w->out, ">");
  for (int l = first;; l = w->first[l]) {
    MBG_TRY(write_joint(w, level + 1, &robot->joints[robot->links[l].joint], last));
    if (l == last) {
      break;
    }
  }
  write_inertial(w, level + 1, &link->own);
  if (link->own.mass == 0 && robot->joints[link->joint].kind != MBG__ROBOT_FIXED) {
    mbg__report_add(robot->report, NULL, "note", "body '%s' moves without mass, which MuJoCo refuses", link->name);
  }
  write_sites(w, level + 1, last);
  MBG_TRY(write_bodies(w, level + 1, last));
  mbg__export_line(w->out, level);
  mbg__buffer_text(w->out, "</body>");
done:
  return err;
}

static int write_bodies(const writer *w, int level, int parent) {
  int err = MBG_OK;
  if (level > DEPTH_MAX) {
    return fail(w, "the bodies of '%s' are nested too deep for a file of MJCF", w->x->robot.name);
  }
  for (int l = w->first[parent < 0 ? w->x->robot.nlink : parent]; l >= 0; l = w->next[l]) {
    if (!w->rotor[l]) {
      MBG_TRY(write_body(w, level, parent, l));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- loops, couplings */

/* how far a loop is open with all joints at zero: both frames as one end sees them */
static bool is_open(const mbg__export *x, const mbg__robot_joint *joint) {
  mbg__frame a = joint->in_parent, b = joint->in_child, gap;
  double turn = 0;
  if (joint->parent >= 0) {
    frame_mul(&a, &x->robot.links[joint->parent].place, &joint->in_parent);
  }
  if (joint->child >= 0) {
    frame_mul(&b, &x->robot.links[joint->child].place, &joint->in_child);
  }
  frame_relative(&gap, &a, &b);
  for (int i = 0; i < 9; i++) {
    turn = fmax(turn, fabs(gap.R[i] - (i % 4 == 0)));
  }
  const bool turned = joint->kind == MBG__ROBOT_FIXED      ? turn > 1e-13
                      : joint->kind == MBG__ROBOT_REVOLUTE ? fmax(fabs(gap.R[2]), fabs(gap.R[5])) > 1e-13
                                                           : false;
  return turned || v3_norm(gap.x) > 1e-13 * x->size;
}

static void write_ends(const writer *w, const mbg__robot_joint *joint, int number, bool sites) {
  const bool swap = joint->parent < 0;
  const int a = swap ? joint->child : joint->parent, b = swap ? joint->parent : joint->child;
  char name[300];
  mbg__frame H;
  if (sites) {
    end_name(name, joint, false, number);
    mbg__export_text(w->out, "site1", name);
    end_name(name, joint, true, number);
    mbg__export_text(w->out, "site2", name);
    return;
  }
  mbg__export_text(w->out, "body1", w->x->robot.links[a].name);
  if (b >= 0) {
    mbg__export_text(w->out, "body2", w->x->robot.links[b].name);
  }
  if (joint->kind != MBG__ROBOT_FIXED) {
    loop_point(w->x, joint, swap, number, &H);
    mbg__export_numbers(w->out, "anchor", H.x, 3, w->x->size);
  }
}

static int write_loop(const writer *w, int j) {
  const mbg__robot_joint *joint = &w->x->robot.joints[j];
  const int points = joint->kind == MBG__ROBOT_REVOLUTE ? 2 : 1;
  if (joint->kind != MBG__ROBOT_SPHERICAL && joint->kind != MBG__ROBOT_FIXED && points == 1) {
    return fail(w, "joint '%s' closes a loop: MJCF has loops of spherical, revolute and fixed joints", joint->name);
  }
  for (int number = 0; number < points; number++) {
    char name[300];
    mbg__format(name, sizeof(name), "%.250s%s", joint->name, number > 0 ? "_axis" : "");
    mbg__export_line(w->out, 2);
    mbg__buffer_text(w->out, joint->kind == MBG__ROBOT_FIXED ? "<weld" : "<connect");
    mbg__export_text(w->out, "name", name);
    write_ends(w, joint, number, w->site[j]);
    mbg__buffer_text(w->out, "/>");
  }
  mbg__report_add(w->x->robot.report, NULL, "approximated", "loops are soft in MuJoCo (<connect>, <weld>)");
  return MBG_OK;
}

static int write_equality(const writer *w) {
  const mbg__robot *robot = &w->x->robot;
  int err = MBG_OK;
  bool any = false;
  for (int j = 0; j < robot->njoint; j++) {
    const mbg__robot_joint *joint = &robot->joints[j];
    const bool follows = joint->mimic >= 0 && !w->rotor[joint->child];
    if (!joint->loop && !follows) {
      continue;
    }
    mbg__buffer_text(w->out, any ? "" : "\n  <equality>");
    any = true;
    if (joint->loop) {
      MBG_TRY(write_loop(w, j));
      continue;
    }
    const double c[5] = {joint->offset, joint->multiplier, 0, 0, 0};
    mbg__export_line(w->out, 2);
    mbg__buffer_text(w->out, "<joint");
    mbg__export_text(w->out, "joint1", joint->name);
    mbg__export_text(w->out, "joint2", robot->joints[joint->mimic].name);
    mbg__export_numbers(w->out, "polycoef", c, 5, 0);
    mbg__buffer_text(w->out, "/>");
    mbg__report_add(robot->report, NULL, "approximated", "couplings of joints are soft in MuJoCo");
  }
  mbg__buffer_text(w->out, any ? "\n  </equality>" : "");
done:
  return err;
}

int mbg__export_mjcf(mbg__export *x, mbg__buffer *out) {
  writer w = {.x = x, .out = out, .arena = x->robot.arena};
  int err = MBG_OK;
  MBG_TRY(make_lists(&w));
  w.site = MBG_TAKE(w.arena, bool, x->robot.njoint + 1);
  MBG_TRY(mbg__arena_check(x->robot.ctx, w.arena));
  for (int j = 0; j < x->robot.njoint; j++) {
    w.site[j] = x->robot.joints[j].loop && is_open(x, &x->robot.joints[j]);
  }
  find_rotors(&w);
  mbg__buffer_text(out, "<mujoco");
  mbg__export_text(out, "model", x->robot.name);
  mbg__buffer_text(out, ">\n  <compiler angle=\"radian\"/>\n  <option");
  mbg__export_numbers(out, "gravity", x->robot.gravity, 3, 0);
  mbg__buffer_text(out, "/>\n  <worldbody>");
  write_sites(&w, 2, MBG__ROBOT_GROUND);
  MBG_TRY(write_bodies(&w, 2, MBG__ROBOT_GROUND));
  mbg__buffer_text(out, "\n  </worldbody>");
  MBG_TRY(write_equality(&w));
  mbg__buffer_text(out, "\n</mujoco>\n");
done:
  return err;
}
