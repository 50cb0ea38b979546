/* Extensions of URDF beside its links and joints: elements of Drake, transmissions. */
#include "import/drake.h"
#include "import/urdf.h"

#include <string.h>

/* ---------------------------------------------------------------------- Drake */

/* <frame name link xyz rpy>, a link, or the world */
static int find_frame(const void *of, const mbg__xml *at, const char *name, int *link, mbg__frame *H) {
  const mbg__drake *d = of;
  const mbg__xml *root = at;
  while (root->parent) {
    root = root->parent;
  }
  frame_identity(H);
  for (const mbg__xml *f = mbg__xml_child(root, "frame"); f; f = mbg__xml_next(f)) {
    const char *own = mbg__xml_value(f, "name");
    if (own && !strcmp(own, name)) {
      const int err = mbg__urdf_find_link(d->robot, f, "link", link);
      return err < 0 ? err : mbg__urdf_origin(d->robot, f, H);
    }
  }
  *link = mbg__robot_find_link(d->robot, name);
  if (*link < 0 && !strcmp(name, "world")) {
    *link = MBG__ROBOT_GROUND;
    return MBG_OK;
  }
  return *link >= 0 ? MBG_OK : mbg__xml_fail(d->robot->ctx, at, "there is no frame or link '%s'", name);
}

int mbg__urdf_read_drake(mbg__robot *robot, const mbg__xml *at, int *number) {
  mbg__drake d = {.robot = robot, .prefix = "", .find = find_frame};
  d.of = &d;
  return mbg__drake_read(&d, at, number);
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
  mbg__robot_actuator a = {.tendon = -1, .rope = -1, .gear = 1, .gain = {1, 0, 0}, .at = at};
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
