/* Actuators of MJCF on joints and tendons: force = gear (g y + b) with g = g0 + g1 l + g2 l', b likewise and the
   length l = gear q of the transmission. y is the control, or a state that follows it. Others are listed. */
#include "import/mjcf.h"

#include <string.h>

static bool is_word(const char *value, const char *word) { return value && !strcmp(value, word); }

/* y' = (u - y)/lag, or y' = u; false: something else */
static bool take_dynamics(mbg__robot_actuator *a, const char *type, double lag) {
  if (!type || is_word(type, "none")) {
    a->dynamics = MBG__ROBOT_DIRECT;
  } else if (is_word(type, "integrator")) {
    a->dynamics = MBG__ROBOT_INTEGRATOR;
  } else if (is_word(type, "filter") || is_word(type, "filterexact")) {
    a->dynamics = lag > 0 ? MBG__ROBOT_LAG : MBG__ROBOT_DIRECT;
    a->lag = lag;
  } else {
    return false;
  }
  return true;
}

static int read_servo(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_actuator *a, bool *known) {
  const bool integrates = is_word(e->at->name, "intvelocity");
  double kp = 1, kv = 0, lag = 0;
  int err = MBG_OK;
  MBG_TRY(mbg__mjcf_number(m, e, "kp", &kp));
  MBG_TRY(mbg__mjcf_number(m, e, "kv", &kv));
  MBG_TRY(mbg__mjcf_number(m, e, "timeconst", &lag));
  MBG_TRY(mbg__mjcf_number(m, e, "dampratio", &a->ratio));
  *known = take_dynamics(a, integrates ? "integrator" : "filter", lag);
  a->gain[0] = kp;
  a->bias[1] = -kp;
  a->bias[2] = -kv;
done:
  return err;
}

static int read_general(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_actuator *a, bool *known) {
  const char *gain = mbg__mjcf_value(m, e, "gaintype"), *bias = mbg__mjcf_value(m, e, "biastype");
  double g[10] = {1}, b[10] = {0}, d[10] = {1};
  int err = MBG_OK;
  MBG_TRY(mbg__mjcf_numbers(m, e, "gainprm", 0, 10, g, NULL));
  MBG_TRY(mbg__mjcf_numbers(m, e, "biasprm", 0, 10, b, NULL));
  MBG_TRY(mbg__mjcf_numbers(m, e, "dynprm", 0, 10, d, NULL));
  *known = (!gain || is_word(gain, "fixed") || is_word(gain, "affine")) &&
           (!bias || is_word(bias, "none") || is_word(bias, "affine")) &&
           take_dynamics(a, mbg__mjcf_value(m, e, "dyntype"), d[0]);
  for (int i = 0; i < 3; i++) {
    a->gain[i] = i == 0 || is_word(gain, "affine") ? g[i] : 0;
    a->bias[i] = is_word(bias, "affine") ? b[i] : 0;
  }
done:
  return err;
}

/* gain and bias; false: something else */
static int read_law(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_actuator *a, bool *known) {
  const char *kind = e->at->name;
  double kv = 1;
  int err = MBG_OK;
  *known = true;
  if (is_word(kind, "motor")) {
    a->gain[0] = 1;
  } else if (is_word(kind, "position") || is_word(kind, "intvelocity")) {
    err = read_servo(m, e, a, known);
  } else if (is_word(kind, "velocity")) {
    err = mbg__mjcf_number(m, e, "kv", &kv);
    a->gain[0] = kv;
    a->bias[2] = -kv;
  } else if (is_word(kind, "damper")) {
    err = mbg__mjcf_number(m, e, "kv", &kv);
    a->gain[2] = -kv;
  } else if (is_word(kind, "general")) {
    err = read_general(m, e, a, known);
  } else {
    *known = false;
  }
  return err;
}

/* the joint or the tendon; false: something else */
static int read_transmission(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_actuator *a, bool *known) {
  const char *joint = mbg__mjcf_value(m, e, "joint"), *tendon = mbg__mjcf_value(m, e, "tendon");
  *known = false;
  a->tendon = a->joint = a->rope = -1;
  if (joint) {
    a->joint = mbg__robot_find_joint(m->robot, joint);
    if (a->joint < 0) {
      return mbg__xml_fail(m->robot->ctx, e->at, "there is no joint '%s'", joint);
    }
    *known = mbg__robot_is_single(&m->robot->joints[a->joint]);
  } else if (tendon) {
    a->tendon = mbg__robot_find_tendon(m->robot, tendon);
    a->rope = mbg__robot_find_rope(m->robot, tendon);
    *known = a->tendon >= 0 || a->rope >= 0;
  }
  return MBG_OK;
}

/* those that are left out have states in keyframes, too */
static int count_states(mbg__mjcf *m, const mbg__mjcf_element *e, const mbg__robot_actuator *a, bool law) {
  const char *type = mbg__mjcf_value(m, e, "dyntype"), *kind = e->at->name;
  double count = is_word(kind, "muscle") || is_word(kind, "cylinder") ||
                 (is_word(kind, "general") && type && !is_word(type, "none"));
  if (law) {
    count = a->dynamics != MBG__ROBOT_DIRECT;
  }
  const int err = mbg__mjcf_number(m, e, "actdim", &count);
  m->actuators++;
  m->states += count > 0 && count < 1000 ? (int)count : 0;
  return err;
}

static int read_actuator(mbg__mjcf *m, const mbg__xml *at, int number) {
  static const char *const ranges[] = {"ctrlrange", "forcerange", "actrange"};
  const char *name = mbg__xml_value(at, "name");
  mbg__mjcf_element e;
  mbg__robot_actuator a = {.number = number - 1, .state = m->states, .at = at};
  double gear[6] = {1};
  char own[40];
  bool law, place;
  int err = MBG_OK;
  MBG_TRY(mbg__mjcf_element_of(m, at, NULL, &e));
  MBG_TRY(read_law(m, &e, &a, &law));
  MBG_TRY(count_states(m, &e, &a, law));
  MBG_TRY(mbg__mjcf_numbers(m, &e, "gear", 0, 6, gear, NULL));
  MBG_TRY(read_transmission(m, &e, &a, &place));
  if (!law || !place) {
    mbg__report_add(m->robot->report, at, "left out",
                    "<%s> in <actuator>: other dynamics, other gains, sites, bodies or balls", at->name);
    goto done;
  }
  for (int i = 0; i < MBG_COUNT(ranges); i++) {
    if (mbg__mjcf_value(m, &e, ranges[i])) {
      mbg__report_add(m->robot->report, at, "left out", "ranges of controls and forces of actuators");
      break;
    }
  }
  if (a.rope >= 0 && a.ratio > 0) {
    mbg__report_add(m->robot->report, at, "left out", "dampratio of actuators on spatial tendons");
    a.ratio = 0;
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
