/* Actuators of MJCF on joints: force = gear (g u + b0 + b1 l + b2 l'), with the control u and the length l = gear q of
   the transmission. Others are listed. */
#include "import/mjcf.h"

#include <string.h>

static bool is_word(const char *value, const char *word) { return value && !strcmp(value, word); }

/* g and b of the shortcuts, and of <general> with a fixed gain; false: something else */
static int read_law(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_actuator *a, bool *known) {
  const char *gain = mbg__mjcf_value(m, e, "gaintype"), *bias = mbg__mjcf_value(m, e, "biastype"),
             *dynamics = mbg__mjcf_value(m, e, "dyntype");
  double kp = 1, kv = 0, g[10] = {1}, b[10] = {0};
  int err = MBG_OK;
  *known = true;
  if (is_word(e->at->name, "motor")) {
    a->gain = 1;
  } else if (is_word(e->at->name, "position")) {
    MBG_TRY(mbg__mjcf_number(m, e, "kp", &kp));
    MBG_TRY(mbg__mjcf_number(m, e, "kv", &kv));
    *known = !mbg__mjcf_value(m, e, "dampratio") && !mbg__mjcf_value(m, e, "timeconst");
    a->gain = kp;
    a->bias[1] = -kp;
    a->bias[2] = -kv;
  } else if (is_word(e->at->name, "velocity")) {
    kv = 1;
    MBG_TRY(mbg__mjcf_number(m, e, "kv", &kv));
    a->gain = kv;
    a->bias[2] = -kv;
  } else if (is_word(e->at->name, "general")) {
    MBG_TRY(mbg__mjcf_numbers(m, e, "gainprm", 0, 10, g, NULL));
    MBG_TRY(mbg__mjcf_numbers(m, e, "biasprm", 0, 10, b, NULL));
    *known = (!gain || is_word(gain, "fixed")) && (!bias || is_word(bias, "none") || is_word(bias, "affine")) &&
             (!dynamics || is_word(dynamics, "none"));
    a->gain = g[0];
    for (int i = 0; i < 3 && is_word(bias, "affine"); i++) {
      a->bias[i] = b[i];
    }
  } else {
    *known = false;
  }
done:
  return err;
}

static int read_actuator(mbg__mjcf *m, const mbg__xml *at, int number) {
  mbg__mjcf_element e;
  mbg__robot_actuator a = {.at = at};
  double gear[6] = {1};
  char own[40];
  bool known;
  int err = MBG_OK;
  MBG_TRY(mbg__mjcf_element_of(m, at, NULL, &e));
  const char *joint = mbg__mjcf_value(m, &e, "joint"), *name = mbg__xml_value(at, "name");
  MBG_TRY(read_law(m, &e, &a, &known));
  MBG_TRY(mbg__mjcf_numbers(m, &e, "gear", 0, 6, gear, NULL));
  if (joint) {
    a.joint = mbg__robot_find_joint(m->robot, joint);
    if (a.joint < 0) {
      err = mbg__xml_fail(m->robot->ctx, at, "there is no joint '%s'", joint);
      goto done;
    }
    known = known && (m->robot->joints[a.joint].kind == MBG__ROBOT_REVOLUTE ||
                      m->robot->joints[a.joint].kind == MBG__ROBOT_PRISMATIC);
  }
  if (!joint || !known) {
    mbg__report_add(m->robot->report, at, "left out",
                    "<%s> in <actuator>: dynamics, other gains, tendons, sites, bodies or balls", at->name);
    goto done;
  }
  if (mbg__mjcf_value(m, &e, "ctrlrange") || mbg__mjcf_value(m, &e, "forcerange")) {
    mbg__report_add(m->robot->report, at, "left out", "ranges of controls and forces of actuators");
  }
  mbg__format(own, sizeof(own), "actuator_%d", number);
  a.gear = gear[0];
  a.name = name && *name ? name : mbg__arena_text(m->robot->arena, own, strlen(own));
  err = a.name ? mbg__robot_add_actuator(m->robot, &a) : mbg__fail_memory(m->robot->ctx);
done:
  return err;
}

int mbg__mjcf_read_actuators(mbg__mjcf *m, const mbg__xml *root) {
  int err = MBG_OK, number = 0;
  for (const mbg__xml *s = mbg__xml_child(root, "actuator"); s; s = mbg__xml_next(s)) {
    for (const mbg__xml *e = s->child; e; e = e->next) {
      MBG_TRY(read_actuator(m, e, ++number));
    }
  }
done:
  return err;
}
