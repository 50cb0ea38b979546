/* Ball and free joints of MJCF. */
#include "import/mjcf.h"

#include <string.h>

/* numbers of ball and free joints that are left out where they are not zero */
static int report_numbers(mbg__mjcf *m, const mbg__mjcf_element *e, const char *kind, const char *const *names, int n) {
  int err = MBG_OK;
  for (int i = 0; i < n; i++) {
    double value = 0;
    MBG_TRY(mbg__mjcf_number(m, e, names[i], &value));
    if (value != 0) {
      mbg__report_add(m->robot->report, e->at, "left out", "%s of %s joints", names[i], kind);
    }
  }
done:
  return err;
}

/* spring and damper of free and ball joints become a bushing when all links are known */
int mbg__mjcf_read_free(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_joint *joint) {
  static const char *const others[] = {"armature", "frictionloss"};
  int err = MBG_OK;
  if (!strcmp(e->at->name, "freejoint")) { /* has neither numbers nor defaults */
    return MBG_OK;
  }
  MBG_TRY(mbg__mjcf_number(m, e, "damping", &joint->damping));
  MBG_TRY(mbg__mjcf_number(m, e, "stiffness", &joint->stiffness));
  err = report_numbers(m, e, "free", others, MBG_COUNT(others));
done:
  return err;
}

int mbg__mjcf_read_ball(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_joint *joint) {
  static const char *const others[] = {"armature", "frictionloss"};
  const char *limited = mbg__mjcf_value(m, e, "limited");
  int err = MBG_OK;
  MBG_TRY(mbg__mjcf_number(m, e, "damping", &joint->damping));
  MBG_TRY(mbg__mjcf_number(m, e, "stiffness", &joint->stiffness));
  MBG_TRY(report_numbers(m, e, "ball", others, MBG_COUNT(others)));
  if (mbg__mjcf_value(m, e, "range") && !(limited && !strcmp(limited, "false"))) {
    mbg__report_add(m->robot->report, e->at, "left out", "range of ball joints");
  }
done:
  return err;
}

/* Both act on the vector of the rotation from the start of the joint, and on its angular velocity, alike in all
   directions: so do bushings. Those of free joints act on place and velocity, too. */
int mbg__mjcf_add_balls(mbg__mjcf *m) {
  mbg__robot *robot = m->robot;
  char name[300];
  int err = MBG_OK;
  for (int i = 0; i < robot->njoint; i++) {
    const mbg__robot_joint *joint = &robot->joints[i];
    mbg__robot_tie tie = {.bushing = true,
                          .of_joint = true,
                          .a = joint->parent,
                          .b = joint->child,
                          .in_a = joint->in_parent,
                          .in_b = joint->in_child,
                          .at = joint->at};
    const bool free = joint->kind == MBG__ROBOT_FREE;
    if ((!free && joint->kind != MBG__ROBOT_SPHERICAL) || (!(joint->stiffness > 0) && !(joint->damping > 0))) {
      continue;
    }
    for (int k = free ? 0 : 3; k < 6; k++) {
      tie.stiffness[k] = joint->stiffness;
      tie.damping[k] = joint->damping;
    }
    mbg__format(name, sizeof(name), "bushing_%s", joint->name);
    tie.name = mbg__arena_text(robot->arena, name, strlen(name));
    MBG_TRY(tie.name ? mbg__robot_add_tie(robot, &tie) : mbg__fail_memory(robot->ctx));
  }
done:
  return err;
}
