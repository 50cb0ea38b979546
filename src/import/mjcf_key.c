/* Keyframes of MJCF: coordinates and rates of all joints, states and controls of all actuators, each in their order. */
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

/* one more keyframe than are named in messages */
enum { NAMES_MAX = 50 };

static const char *key_name(mbg__mjcf *m, const mbg__xml *at, int number) {
  const char *name = mbg__xml_value(at, "name");
  char own[40];
  mbg__format(own, sizeof(own), "key_%d", number);
  return name && *name ? name : mbg__arena_text(m->robot->arena, own, strlen(own));
}

static bool moves(const mbg__robot_joint *joint) { return !joint->loop && joint->kind != MBG__ROBOT_FIXED; }

static int positions(mbg__robot_kind kind) {
  return kind == MBG__ROBOT_FREE ? 7 : kind == MBG__ROBOT_SPHERICAL ? 4 : 1;
}

static int rates(mbg__robot_kind kind) { return kind == MBG__ROBOT_FREE ? 6 : kind == MBG__ROBOT_SPHERICAL ? 3 : 1; }

/* exactly n numbers of an attribute; *out NULL where there is none */
static int read_list(mbg__mjcf *m, const mbg__xml *at, const char *key, int n, double **out) {
  const char *text = mbg__xml_value(at, key);
  *out = NULL;
  if (!text) {
    return MBG_OK;
  }
  double *numbers = MBG_TAKE(m->robot->arena, double, n + 1);
  if (!numbers) {
    return mbg__fail_memory(m->robot->ctx);
  }
  const int err = mbg__xml_numbers(m->robot->ctx, at, key, text, n, n, numbers, NULL);
  *out = err == MBG_OK ? numbers : NULL;
  return err;
}

static int turn(mbg__mjcf *m, const mbg__xml *at, const double q[4], double R[9]) {
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(square > 0) || !isfinite(square)) {
    return mbg__xml_fail(m->robot->ctx, at, "qpos has a quaternion without direction");
  }
  mbg__mjcf_turn(R, q);
  return MBG_OK;
}

/* where the joint stands: hinges and slides count from their ref, free bodies in the world */
static int take_position(mbg__mjcf *m, const mbg__xml *at, const double *q, mbg__robot_joint *joint) {
  double w[3];
  mbg__frame world;
  int err = MBG_OK;
  if (mbg__robot_is_single(joint)) {
    joint->start = q[0] - joint->zero;
    v3_scale(joint->kind == MBG__ROBOT_PRISMATIC ? joint->moved.x : w, joint->start, joint->axis);
    if (joint->kind == MBG__ROBOT_REVOLUTE) {
      mbg__so3_exp(joint->moved.R, w);
    }
  } else if (joint->kind == MBG__ROBOT_SPHERICAL) {
    err = turn(m, at, q, joint->moved.R);
  } else {
    v3_copy(world.x, q);
    err = turn(m, at, q + 3, world.R);
    frame_relative(&joint->moved, &joint->in_parent, &world);
  }
  return err;
}

/* rates of a free body: of its origin in the world, and about its own axes */
static void take_rate(const double *v, mbg__robot_joint *joint) {
  if (mbg__robot_is_single(joint)) {
    joint->start_rate = v[0];
    v3_scale(joint->twist + (joint->kind == MBG__ROBOT_REVOLUTE ? 3 : 0), v[0], joint->axis);
  } else if (joint->kind == MBG__ROBOT_SPHERICAL) {
    v3_copy(joint->twist + 3, v);
  } else {
    mbg__frame world;
    frame_mul(&world, &joint->in_parent, &joint->moved);
    m3_mulv_T(joint->twist, world.R, v);
    v3_copy(joint->twist + 3, v + 3);
  }
}

static int take_joints(mbg__mjcf *m, const mbg__xml *at) {
  mbg__robot *robot = m->robot;
  double *q, *v;
  int err = MBG_OK, nq = 0, nv = 0;
  for (int j = 0; j < robot->njoint; j++) {
    nq += moves(&robot->joints[j]) ? positions(robot->joints[j].kind) : 0;
    nv += moves(&robot->joints[j]) ? rates(robot->joints[j].kind) : 0;
  }
  MBG_TRY(read_list(m, at, "qpos", nq, &q));
  MBG_TRY(read_list(m, at, "qvel", nv, &v));
  for (int j = 0; j < robot->njoint; j++) {
    mbg__robot_joint *joint = &robot->joints[j];
    if (!moves(joint)) {
      continue;
    }
    if (q) {
      MBG_TRY(take_position(m, at, q, joint));
      q += positions(joint->kind);
    }
    if (v) {
      take_rate(v, joint);
      v += rates(joint->kind);
    }
  }
done:
  return err;
}

static int take_key(mbg__mjcf *m, const mbg__xml *at) {
  static const char *const others[] = {"time", "mpos", "mquat"};
  double *act, *ctrl;
  int err = MBG_OK;
  MBG_TRY(take_joints(m, at));
  MBG_TRY(read_list(m, at, "act", m->states, &act));
  MBG_TRY(read_list(m, at, "ctrl", m->actuators, &ctrl));
  for (int i = 0; i < m->robot->nactuator; i++) {
    mbg__robot_actuator *a = &m->robot->actuators[i];
    a->control = ctrl ? ctrl[a->number] : 0;
    a->first = act && a->dynamics != MBG__ROBOT_DIRECT ? act[a->state] : 0;
  }
  for (int i = 0; i < MBG_COUNT(others); i++) {
    if (mbg__xml_value(at, others[i])) {
      mbg__report_add(m->robot->report, at, "left out", "%s of <key>", others[i]);
    }
  }
done:
  return err;
}

int mbg__mjcf_read_keys(mbg__mjcf *m, const mbg__xml *root) {
  const char *names[NAMES_MAX], *start = m->robot->start;
  char hint[400];
  int err = MBG_OK, number = 0;
  for (const mbg__xml *s = mbg__xml_child(root, "keyframe"); s; s = mbg__xml_next(s)) {
    for (const mbg__xml *e = mbg__xml_child(s, "key"); e; e = mbg__xml_next(e)) {
      const char *name = key_name(m, e, ++number);
      if (!name) {
        return mbg__fail_memory(m->robot->ctx);
      }
      names[number <= NAMES_MAX ? number - 1 : NAMES_MAX - 1] = name;
      if (start && !strcmp(name, start)) {
        return take_key(m, e);
      }
      if (!start) {
        mbg__report_add(m->robot->report, e, "left out", "keyframe '%.100s': the option start takes it", name);
      }
    }
  }
  if (start) {
    mbg__known(hint, sizeof(hint), start, names, number < NAMES_MAX ? number : NAMES_MAX);
    err = mbg__xml_fail(m->robot->ctx, root, "there is no keyframe '%.100s'%s", start, number > 0 ? hint : "");
  }
  return err;
}
