/* <equality> of MJCF: points and bodies that are held together close loops, relations of joints and tendons are
   couplings. */
#include "import/mjcf.h"

#include <string.h>

static int find_body(mbg__mjcf *m, const mbg__xml *at, const char *key, int *out) {
  const char *name = mbg__xml_value(at, key);
  *out = MBG__ROBOT_GROUND;
  if (!name || !strcmp(name, "world")) {
    return MBG_OK;
  }
  *out = mbg__robot_find_link(m->robot, name);
  return *out >= 0 ? MBG_OK : mbg__xml_fail(m->robot->ctx, at, "there is no body '%s'", name);
}

static int find_site(mbg__mjcf *m, const mbg__xml *at, const char *key, int *out) {
  const char *name = mbg__xml_value(at, key), *word = name ? mbg__mjcf_text(m, "site_%s", name, 0) : NULL;
  if (!name) {
    return mbg__xml_fail(m->robot->ctx, at, "the attribute 'body1' or '%s' is missing", key);
  }
  *out = word ? mbg__robot_find_link(m->robot, word) : -1;
  return *out >= 0 ? MBG_OK : mbg__xml_fail(m->robot->ctx, at, "there is no site '%s'", name);
}

/* connect: a point that both bodies share, or two sites at one place; weld: all of it, as the bodies stand at zero, or
   by relpose */
static int read_hold(mbg__mjcf *m, const mbg__xml *at, const char *name, bool weld) {
  mbg__robot_joint *joint;
  const mbg__mjcf_element e = {.at = at, .tag = at->name, .class = -1};
  double pose[7] = {0};
  int err = MBG_OK;
  MBG_TRY(mbg__robot_add_joint(m->robot, at, name, &joint));
  joint->loop = true;
  joint->kind = weld ? MBG__ROBOT_FIXED : MBG__ROBOT_SPHERICAL;
  mbg__report_add(m->robot->report, at, "note", "<%s> is soft in its own program and exact here", at->name);
  if (!mbg__xml_value(at, "body1")) {
    MBG_TRY(find_site(m, at, "site1", &joint->parent));
    err = find_site(m, at, "site2", &joint->child);
    goto done;
  }
  MBG_TRY(find_body(m, at, "body1", &joint->parent));
  MBG_TRY(find_body(m, at, "body2", &joint->child));
  MBG_TRY(weld ? MBG_OK : mbg__mjcf_numbers(m, &e, "anchor", 3, 3, joint->in_parent.x, NULL));
  MBG_TRY(weld ? mbg__mjcf_numbers(m, &e, "relpose", 7, 7, pose, NULL) : MBG_OK);
  if (pose[3] != 0 || pose[4] != 0 || pose[5] != 0 || pose[6] != 0) { /* of the second body in the first */
    v3_copy(joint->in_parent.x, pose);
    mbg__mjcf_turn(joint->in_parent.R, pose + 3);
  } else {
    joint->anchored = true;
  }
done:
  return err;
}

static int read_joint_equality(mbg__mjcf *m, const mbg__xml *at, const char *name) {
  const char *first = mbg__xml_value(at, "joint1"), *second = mbg__xml_value(at, "joint2");
  const mbg__mjcf_element e = {.at = at, .tag = at->name, .class = -1};
  double c[5] = {0, 1, 0, 0, 0};
  int err = MBG_OK;
  MBG_TRY(mbg__mjcf_numbers(m, &e, "polycoef", 1, 5, c, NULL));
  const int j = first ? mbg__robot_find_joint(m->robot, first) : -1,
            k = second ? mbg__robot_find_joint(m->robot, second) : -1;
  if (j < 0 || (second && k < 0)) {
    err = mbg__xml_fail(m->robot->ctx, at, "there is no joint '%s'", j < 0 ? (first ? first : "") : second);
  } else if (!second && mbg__robot_is_single(&m->robot->joints[j])) {
    err = mbg__mjcf_hold_joint(m, at, name, j);
  } else if (!second || j == k || !mbg__robot_is_single(&m->robot->joints[j]) ||
             !mbg__robot_is_single(&m->robot->joints[k])) {
    mbg__report_add(m->robot->report, at, "left out",
                    "<joint> in <equality> that is no relation of two hinges or slides");
  } else if (c[2] != 0 || c[3] != 0 || c[4] != 0 || m->robot->joints[j].mimic >= 0) {
    err = mbg__mjcf_bind_joints(m, at, name, j, k, c);
  } else {
    m->robot->joints[j].mimic = k;
    m->robot->joints[j].offset = c[0];
    m->robot->joints[j].multiplier = c[1];
  }
done:
  return err;
}

int mbg__mjcf_read_equality(mbg__mjcf *m, const mbg__xml *at) {
  int err = MBG_OK, number = 0;
  for (const mbg__xml *e = at->child; e; e = e->next) {
    const char *name = mbg__xml_value(e, "name"), *active = mbg__xml_value(e, "active");
    name = name && *name ? name : mbg__mjcf_text(m, "equality_%s%d", "", ++number);
    if (!name) {
      return mbg__fail_memory(m->robot->ctx);
    }
    if (active && !strcmp(active, "false")) {
      mbg__report_add(m->robot->report, e, "left out", "<%s> that is not active", e->name);
    } else if (!strcmp(e->name, "connect") || !strcmp(e->name, "weld")) {
      MBG_TRY(read_hold(m, e, name, !strcmp(e->name, "weld")));
    } else if (!strcmp(e->name, "joint")) {
      MBG_TRY(read_joint_equality(m, e, name));
    } else if (!strcmp(e->name, "tendon")) {
      MBG_TRY(mbg__mjcf_read_tendon_equality(m, e, name));
    } else {
      mbg__report_add(m->robot->report, e, "left out", "<%s> in <equality>", e->name);
    }
  }
done:
  return err;
}
