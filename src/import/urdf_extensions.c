/* Extensions of URDF beside its links and joints: frames and bushings of Drake, transmissions. */
#include "import/urdf.h"

#include <string.h>

/* ---------------------------------------------------------------------- bushings */

/* <frame name link xyz rpy>, or a link of that name */
static int find_frame(mbg__robot *robot, const mbg__xml *at, int *link, mbg__frame *H) {
  const char *name = mbg__xml_value(at, "name");
  const mbg__xml *root = at;
  while (root->parent) {
    root = root->parent;
  }
  frame_identity(H);
  for (const mbg__xml *f = mbg__xml_child(root, "frame"); f && name; f = mbg__xml_next(f)) {
    const char *own = mbg__xml_value(f, "name");
    if (own && !strcmp(own, name)) {
      const int err = mbg__urdf_find_link(robot, f, "link", link);
      return err < 0 ? err : mbg__urdf_origin(robot, f, H);
    }
  }
  *link = name ? mbg__robot_find_link(robot, name) : -1;
  return *link >= 0 ? MBG_OK : mbg__xml_fail(robot->ctx, at, "there is no frame or link '%s'", name ? name : "");
}

static int read_numbers(mbg__robot *robot, const mbg__xml *at, const char *name, double out[3]) {
  const mbg__xml *e = mbg__xml_child(at, name);
  int err = MBG_OK;
  if (e) {
    MBG_TRY(mbg__xml_vector(robot->ctx, e, "value", 3, out));
  }
  for (int i = 0; i < 3 && e; i++) {
    if (out[i] < 0) {
      err = mbg__xml_fail(robot->ctx, e, "stiffness and damping must not be negative");
    }
  }
done:
  return err;
}

int mbg__urdf_read_bushing(mbg__robot *robot, const mbg__xml *at, int number) {
  static const char *const frames[2] = {"drake:bushing_frameA", "drake:bushing_frameC"};
  mbg__robot_tie tie = {.bushing = true, .at = at};
  char name[40];
  int err = MBG_OK;
  for (int side = 0; side < 2; side++) {
    const mbg__xml *frame = mbg__xml_child(at, frames[side]);
    if (!frame) {
      return mbg__xml_fail(robot->ctx, at, "<%s> is missing", frames[side]);
    }
    MBG_TRY(find_frame(robot, frame, side ? &tie.b : &tie.a, side ? &tie.in_b : &tie.in_a));
  }
  MBG_TRY(read_numbers(robot, at, "drake:bushing_force_stiffness", tie.stiffness));
  MBG_TRY(read_numbers(robot, at, "drake:bushing_torque_stiffness", tie.stiffness + 3));
  MBG_TRY(read_numbers(robot, at, "drake:bushing_force_damping", tie.damping));
  MBG_TRY(read_numbers(robot, at, "drake:bushing_torque_damping", tie.damping + 3));
  mbg__format(name, sizeof(name), "bushing_%d", number);
  tie.name = mbg__arena_text(robot->arena, name, strlen(name));
  mbg__report_add(robot->report, at, "approximated",
                  "bushings measure rotations by their vector, not by roll, pitch and yaw, in the axes of frame C");
  err = tie.name ? mbg__robot_add_tie(robot, &tie) : mbg__fail_memory(robot->ctx);
done:
  return err;
}

/* ---------------------------------------------------------------------- transmissions */

static int read_text_number(mbg__robot *robot, const mbg__xml *at, const char *name, double *out) {
  const mbg__xml *e = mbg__xml_child(at, name);
  const char *value = mbg__xml_value(e, "value");
  if (e && !value && !strcmp(e->text, "reduction")) { /* what a template forgot, in files that are around */
    mbg__report_add(robot->report, e, "left out", "<%s> that is no number", name);
    return MBG_OK;
  }
  return e ? mbg__xml_numbers(robot->ctx, e, name, value ? value : e->text, 1, 1, out, NULL) : MBG_OK;
}

int mbg__urdf_read_transmission(mbg__robot *robot, const mbg__xml *at) {
  const mbg__xml *joint = mbg__xml_child(at, "joint"), *actuator = mbg__xml_child(at, "actuator");
  const char *name = mbg__xml_value(joint, "name"), *own = mbg__xml_value(actuator, "name");
  mbg__robot_actuator a = {.tendon = -1, .gear = 1, .gain = {1, 0, 0}, .at = at};
  double rotor = 0, ratio = 1;
  int err = MBG_OK;
  a.joint = name ? mbg__robot_find_joint(robot, name) : -1;
  a.name = own && *own ? own : name;
  if (a.joint < 0 || !actuator || mbg__xml_next(joint) || mbg__xml_next(actuator) ||
      !mbg__robot_is_single(&robot->joints[a.joint])) {
    mbg__report_add(robot->report, at, "left out", "<transmission> that is not of one actuator and one joint");
    goto done;
  }
  MBG_TRY(read_text_number(robot, at, "mechanicalReduction", &a.gear));
  MBG_TRY(read_text_number(robot, joint, "mechanicalReduction", &a.gear));
  MBG_TRY(read_text_number(robot, actuator, "mechanicalReduction", &a.gear));
  MBG_TRY(read_text_number(robot, actuator, "drake:rotor_inertia", &rotor));
  MBG_TRY(read_text_number(robot, actuator, "drake:gear_ratio", &ratio));
  if (rotor < 0) {
    err = mbg__xml_fail(robot->ctx, actuator, "the inertia of the rotor is negative");
    goto done;
  }
  robot->joints[a.joint].armature += rotor * ratio * ratio;
  err = mbg__robot_add_actuator(robot, &a);
done:
  return err;
}
