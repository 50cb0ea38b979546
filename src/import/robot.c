#include "import/robot.h"

#include <math.h>
#include <string.h>

void mbg__robot_init(mbg__robot *robot, mbg_context *ctx, mbg__arena *arena, mbg__report *report, const char *file) {
  *robot = (mbg__robot){
      .ctx = ctx, .arena = arena, .report = report, .file = file, .name = "robot", .gravity = {0, 0, -9.81}};
  mbg__names_init(&robot->link_names, ctx);
  mbg__names_init(&robot->joint_names, ctx);
}

void mbg__robot_destroy(mbg__robot *robot) {
  mbg__free(robot->ctx, robot->links);
  mbg__free(robot->ctx, robot->joints);
  mbg__free(robot->ctx, robot->actuators);
  mbg__free(robot->ctx, robot->figures);
  mbg__free(robot->ctx, robot->planes);
  mbg__free(robot->ctx, robot->ties);
  mbg__free(robot->ctx, robot->terms);
  mbg__free(robot->ctx, robot->tendons);
  mbg__free(robot->ctx, robot->places);
  mbg__free(robot->ctx, robot->ropes);
  mbg__free(robot->ctx, robot->couplings);
  mbg__free(robot->ctx, robot->signals);
  mbg__names_destroy(&robot->link_names);
  mbg__names_destroy(&robot->joint_names);
}

int mbg__robot_find_link(const mbg__robot *robot, const char *name) {
  return mbg__names_find(&robot->link_names, name);
}

int mbg__robot_find_joint(const mbg__robot *robot, const char *name) {
  return mbg__names_find(&robot->joint_names, name);
}

/* ---------------------------------------------------------------------- adding */

void *mbg__robot_put(mbg_context *ctx, void *list, int *count, int *most, size_t size, const void *item) {
  if (*count == *most) {
    const int more = 2 * *most + 32;
    list = mbg__resize(ctx, list, (size_t)more, size);
    if (!list) {
      return NULL;
    }
    *most = more;
  }
  memcpy((char *)list + (size_t)*count * size, item, size);
  ++*count;
  return list;
}

int mbg__robot_add_link(mbg__robot *robot, const mbg__xml *at, const char *name, mbg__robot_link **out) {
  const int earlier = mbg__robot_find_link(robot, name);
  if (earlier >= 0) {
    return mbg__xml_fail(robot->ctx, at, "a second link '%s'; the first is in line %d", name,
                         robot->links[earlier].at->line);
  }
  mbg__robot_link link = {.name = name, .joint = -1, .body = MBG__ROBOT_GROUND, .at = at};
  frame_identity(&link.place);
  void *list = mbg__names_add(&robot->link_names, name, robot->nlink)
                   ? mbg__robot_put(robot->ctx, robot->links, &robot->nlink, &robot->most_links, sizeof(link), &link)
                   : NULL;
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->links = list;
  *out = &robot->links[robot->nlink - 1];
  return MBG_OK;
}

int mbg__robot_add_joint(mbg__robot *robot, const mbg__xml *at, const char *name, mbg__robot_joint **out) {
  const int earlier = mbg__robot_find_joint(robot, name);
  if (earlier >= 0) {
    return mbg__xml_fail(robot->ctx, at, "a second joint '%s'; the first is in line %d", name,
                         robot->joints[earlier].at->line);
  }
  mbg__robot_joint joint = {.name = name,
                            .parent = MBG__ROBOT_GROUND,
                            .child = MBG__ROBOT_GROUND,
                            .axis = {0, 0, 1},
                            .axis2 = {0, 1, 0},
                            .lower = NAN,
                            .upper = NAN,
                            .mimic = -1,
                            .at = at};
  frame_identity(&joint.in_parent);
  frame_identity(&joint.in_child);
  frame_identity(&joint.moved);
  void *list =
      mbg__names_add(&robot->joint_names, name, robot->njoint)
          ? mbg__robot_put(robot->ctx, robot->joints, &robot->njoint, &robot->most_joints, sizeof(joint), &joint)
          : NULL;
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->joints = list;
  *out = &robot->joints[robot->njoint - 1];
  return MBG_OK;
}

bool mbg__robot_is_single(const mbg__robot_joint *joint) {
  return joint->kind == MBG__ROBOT_REVOLUTE || joint->kind == MBG__ROBOT_PRISMATIC;
}

/* ---------------------------------------------------------------------- mass */

void mbg__robot_rpy(double R[9], const double rpy[3]) {
  const double cr = cos(rpy[0]), sr = sin(rpy[0]), cp = cos(rpy[1]), sp = sin(rpy[1]), cy = cos(rpy[2]),
               sy = sin(rpy[2]);
  const double out[9] = {cy * cp,
                         cy * sp * sr - sy * cr,
                         cy * sp * cr + sy * sr,
                         sy * cp,
                         sy * sp * sr + cy * cr,
                         sy * sp * cr - cy * sr,
                         -sp,
                         cp * sr,
                         cp * cr};
  memcpy(R, out, sizeof(out));
}

/* I += R b R^T + m ((d.d) E - d d^T), entries xx yy zz xy xz yz */
static void add_inertia(double I[6], const double b[6], const double R[9], double mass, const double d[3]) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  const double full[9] = {b[0], b[3], b[4], b[3], b[1], b[5], b[4], b[5], b[2]}, dd = v3_dot(d, d);
  double half[9], turned[9];
  m3_mul(half, R, full);
  m3_mul_NT(turned, half, R);
  for (int k = 0; k < 6; k++) {
    const int i = row[k], j = column[k];
    I[k] += turned[3 * i + j] + mass * ((i == j ? dd : 0) - d[i] * d[j]);
  }
}

void mbg__robot_add_mass(mbg__robot_mass *a, const mbg__robot_mass *b, const mbg__frame *H) {
  static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double mass = a->mass + b->mass;
  double point[3], com[3], d[3], I[6] = {0};
  if (b->mass == 0 && v3_dot(b->inertia, b->inertia) == 0 && v3_dot(b->inertia + 3, b->inertia + 3) == 0) {
    return;
  }
  frame_point(point, H, b->com);
  for (int i = 0; i < 3; i++) {
    com[i] = mass > 0 ? (a->mass * a->com[i] + b->mass * point[i]) / mass : point[i];
  }
  v3_sub(d, a->com, com);
  add_inertia(I, a->inertia, unit, a->mass, d);
  v3_sub(d, point, com);
  add_inertia(I, b->inertia, H->R, b->mass, d);
  /* what is left of equal numbers is rounding: a moment of zero stays zero */
  const double size = a->mass * v3_dot(a->com, a->com) + b->mass * v3_dot(point, point);
  for (int k = 0; k < 6; k++) {
    I[k] = fabs(I[k]) > 1e-14 * size ? I[k] : 0;
  }
  a->mass = mass;
  memcpy(a->com, com, sizeof(com));
  memcpy(a->inertia, I, sizeof(I));
}

int mbg__robot_take_mass(const mbg__robot *robot, const mbg__xml *at, const mbg__robot_mass *given, const mbg__frame *H,
                         mbg__robot_mass *out) {
  *out = (mbg__robot_mass){0};
  if (given->mass < 0) {
    return mbg__xml_fail(robot->ctx, at, "the mass %g is negative", given->mass);
  }
  mbg__robot_add_mass(out, given, H);
  return MBG_OK;
}

/* ---------------------------------------------------------------------- places */

static int carry(mbg__robot *robot) {
  for (int j = 0; j < robot->njoint; j++) {
    mbg__robot_joint *joint = &robot->joints[j];
    if (joint->loop) {
      continue;
    }
    if (joint->child < 0) {
      return mbg__xml_fail(robot->ctx, joint->at, "joint '%s' has the world as its child", joint->name);
    }
    mbg__robot_link *child = &robot->links[joint->child];
    if (joint->child == joint->parent) {
      return mbg__xml_fail(robot->ctx, joint->at, "joint '%s' holds link '%s' to itself", joint->name, child->name);
    }
    if (child->joint >= 0) {
      mbg__report_add(robot->report, joint->at, "note",
                      "link '%s' is the child of joint '%s' already: joint '%s' closes a loop", child->name,
                      robot->joints[child->joint].name, joint->name);
      joint->loop = true;
    } else {
      child->joint = j;
    }
  }
  return MBG_OK;
}

/* The chain of parents of a link down to one that is placed, then back: place = place_parent J_parent J_child^-1.
   `path` has room for all links. */
static int place(mbg__robot *robot, int link, int *path) {
  int n = 0;
  for (int l = link; l >= 0 && !robot->links[l].placed; l = robot->joints[robot->links[l].joint].parent) {
    if (n == robot->nlink) {
      return mbg__xml_fail(robot->ctx, robot->links[link].at, "link '%s' is carried by itself through its joints",
                           robot->links[link].name);
    }
    path[n++] = l;
    if (robot->links[l].joint < 0) {
      break;
    }
  }
  while (n > 0) {
    mbg__robot_link *child = &robot->links[path[--n]];
    child->placed = true;
    if (child->joint < 0) {
      continue;
    }
    const mbg__robot_joint *joint = &robot->joints[child->joint];
    mbg__frame parent, at, back;
    frame_identity(&parent);
    if (joint->parent >= 0) {
      parent = robot->links[joint->parent].place;
    }
    frame_mul(&at, &parent, &joint->in_parent);
    frame_inv(&back, &joint->in_child);
    frame_mul(&child->place, &at, &back);
  }
  return MBG_OK;
}

/* the other side of joints that are given on one: where they are with all joints at zero */
static void anchor(mbg__robot *robot) {
  for (int j = 0; j < robot->njoint; j++) {
    mbg__robot_joint *joint = &robot->joints[j];
    mbg__frame world = joint->in_parent;
    if (!joint->anchored) {
      continue;
    }
    if (joint->parent >= 0) {
      frame_mul(&world, &robot->links[joint->parent].place, &joint->in_parent);
    }
    joint->in_child = world;
    if (joint->child >= 0) {
      frame_relative(&joint->in_child, &robot->links[joint->child].place, &world);
    }
  }
}

/* ---------------------------------------------------------------------- merging */

/* the link that it moves with: through fixed joints toward the root */
static void find_body(mbg__robot *robot, int link, bool free_base, bool keep_fixed) {
  int at = link;
  while (at >= 0) {
    const mbg__robot_link *l = &robot->links[at];
    if (l->joint < 0) {
      at = free_base ? at : MBG__ROBOT_GROUND;
      break;
    }
    const mbg__robot_joint *joint = &robot->joints[l->joint];
    if (joint->kind != MBG__ROBOT_FIXED || keep_fixed) {
      break;
    }
    at = joint->parent;
  }
  robot->links[link].body = at;
}

static void merge(mbg__robot *robot) {
  for (int l = 0; l < robot->nlink; l++) {
    robot->links[l].total = (mbg__robot_mass){0};
  }
  for (int l = 0; l < robot->nlink; l++) {
    mbg__robot_link *link = &robot->links[l];
    if (link->body < 0) {
      continue;
    }
    mbg__frame H;
    frame_relative(&H, &robot->links[link->body].place, &link->place);
    mbg__robot_add_mass(&robot->links[link->body].total, &link->own, &H);
  }
}

static int count_roots(const mbg__robot *robot, int *root) {
  int n = 0;
  for (int l = 0; l < robot->nlink; l++) {
    if (robot->links[l].joint < 0) {
      *root = n++ == 0 ? l : *root;
    }
  }
  return n;
}

int mbg__robot_finish(mbg__robot *robot, const mbg_import_options *options) {
  int err = MBG_OK, root = -1;
  int *path = mbg__alloc(robot->ctx, (size_t)robot->nlink + 1, sizeof(int));
  if (!path) {
    return mbg__fail_memory(robot->ctx);
  }
  if (robot->nlink == 0) {
    err = mbg__fail(robot->ctx, MBG_ERROR_INPUT, "%s: the file has no links", robot->file);
    goto done;
  }
  MBG_TRY(carry(robot));
  for (int l = 0; l < robot->nlink; l++) {
    MBG_TRY(place(robot, l, path));
  }
  anchor(robot);
  if (count_roots(robot, &root) > 1 && !options->free_base) {
    mbg__report_add(robot->report, robot->links[root].at, "note",
                    "several links hang on no joint; each is fixed to the ground");
  }
  for (int l = 0; l < robot->nlink; l++) {
    find_body(robot, l, options->free_base && strcmp(robot->links[l].name, "world") != 0, options->keep_fixed);
  }
  merge(robot);
done:
  mbg__free(robot->ctx, path);
  return err;
}
