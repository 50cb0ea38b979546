/* Sensors of MJCF as signals: of joints, tendons, sites and bodies. Others are listed. */
#include "import/mjcf.h"

#include <string.h>

typedef enum { OF_JOINT, OF_TENDON, OF_SITE, OF_FRAME, OF_ALL } source;

static const struct {
  const char *tag;
  source from;
  const char *type; /* of the signal */
  const char *axes, *axis;
  bool relative; /* reftype and refname are taken */
} kinds[] = {
    {"jointpos", OF_JOINT, "coordinate", NULL, NULL, false},
    {"jointvel", OF_JOINT, "rate", NULL, NULL, false},
    {"tendonpos", OF_TENDON, "expression", NULL, NULL, false},
    {"tendonvel", OF_TENDON, "expression", NULL, NULL, false},
    {"accelerometer", OF_SITE, "accelerometer", NULL, NULL, false},
    {"gyro", OF_SITE, "gyroscope", NULL, NULL, false},
    {"velocimeter", OF_SITE, "velocity", "body", NULL, false},
    {"framepos", OF_FRAME, "position", NULL, NULL, true},
    {"framexaxis", OF_FRAME, "direction", NULL, "x", true},
    {"frameyaxis", OF_FRAME, "direction", NULL, "y", true},
    {"framezaxis", OF_FRAME, "direction", NULL, "z", true},
    {"framelinvel", OF_FRAME, "velocity", NULL, NULL, false},
    {"frameangvel", OF_FRAME, "angular-velocity", NULL, NULL, false},
    {"frameangacc", OF_FRAME, "angular-acceleration", NULL, NULL, false},
    {"e_kinetic", OF_ALL, "kinetic-energy", NULL, NULL, false},
    {"e_potential", OF_ALL, "potential-energy", NULL, NULL, false},
};

static int left_out(mbg__mjcf *m, const mbg__xml *at) {
  mbg__report_add(m->robot->report, at, "left out", "<%s> in <sensor>", at->name);
  return MBG_OK;
}

/* the link of a site, or of a body in its own axes (xbody); -1: another object */
static int find_object(mbg__mjcf *m, const char *type, const char *name) {
  char word[300];
  if (!type || !name) {
    return -1;
  }
  mbg__format(word, sizeof(word), "%s%.280s", !strcmp(type, "site") ? "site_" : "", name);
  return !strcmp(type, "site") || !strcmp(type, "xbody") ? mbg__robot_find_link(m->robot, word) : -1;
}

static int add_components(mbg__mjcf *m, mbg__robot_signal *s) {
  static const char *const components[3] = {"x", "y", "z"};
  int err = MBG_OK;
  for (int i = 0; i < 3 && err == MBG_OK; i++) {
    s->component = components[i];
    err = mbg__robot_add_signal(m->robot, s);
  }
  return err;
}

static int read_tendon(mbg__mjcf *m, const mbg__xml *at, mbg__robot_signal *s) {
  const char *name = mbg__xml_value(at, "tendon");
  const int tendon = name ? mbg__robot_find_tendon(m->robot, name) : -1;
  const int rope = name ? mbg__robot_find_rope(m->robot, name) : -1;
  char text[340];
  if (tendon < 0 && rope < 0) {
    return left_out(m, at);
  }
  if (rope >= 0) {
    m->robot->ropes[rope].measured = true;
  }
  mbg__format(text, sizeof(text), "%s%s", rope >= 0 ? m->robot->ropes[rope].word : m->robot->tendons[tendon].word,
              !strcmp(at->name, "tendonvel") ? "_rate" : "");
  s->value = mbg__arena_text(m->robot->arena, text, strlen(text));
  return s->value ? mbg__robot_add_signal(m->robot, s) : mbg__fail_memory(m->robot->ctx);
}

static int read_joint(mbg__mjcf *m, const mbg__xml *at, mbg__robot_signal *s) {
  const char *name = mbg__xml_value(at, "joint");
  s->joint = name ? mbg__robot_find_joint(m->robot, name) : -1;
  if (s->joint < 0) {
    return mbg__xml_fail(m->robot->ctx, at, "there is no joint '%s'", name ? name : "");
  }
  return mbg__robot_is_single(&m->robot->joints[s->joint]) ? mbg__robot_add_signal(m->robot, s) : left_out(m, at);
}

/* of a site or a body: three components */
static int read_frame(mbg__mjcf *m, const mbg__xml *at, int kind, mbg__robot_signal *s) {
  const char *reference = mbg__xml_value(at, "refname");
  if (kinds[kind].from == OF_SITE) {
    s->link = find_object(m, "site", mbg__xml_value(at, "site"));
  } else {
    s->link = find_object(m, mbg__xml_value(at, "objtype"), mbg__xml_value(at, "objname"));
    s->reference = find_object(m, mbg__xml_value(at, "reftype"), reference);
  }
  if (s->link < 0 || (reference && (!kinds[kind].relative || s->reference < 0))) {
    return left_out(m, at);
  }
  return add_components(m, s);
}

static int read_sensor(mbg__mjcf *m, const mbg__xml *at, const char *name) {
  mbg__robot_signal s = {.name = name, .link = -1, .reference = -1, .joint = -1, .at = at};
  int k = 0;
  while (k < MBG_COUNT(kinds) && strcmp(at->name, kinds[k].tag) != 0) {
    k++;
  }
  if (k == MBG_COUNT(kinds)) {
    return left_out(m, at);
  }
  s.type = kinds[k].type;
  s.axes = kinds[k].axes;
  s.axis = kinds[k].axis;
  switch (kinds[k].from) {
  case OF_ALL:
    return mbg__robot_add_signal(m->robot, &s);
  case OF_TENDON:
    return read_tendon(m, at, &s);
  case OF_JOINT:
    return read_joint(m, at, &s);
  default:
    return read_frame(m, at, k, &s);
  }
}

int mbg__mjcf_read_sensors(mbg__mjcf *m, const mbg__xml *root) {
  int err = MBG_OK, number = 0;
  for (const mbg__xml *s = mbg__xml_child(root, "sensor"); s; s = mbg__xml_next(s)) {
    for (const mbg__xml *e = s->child; e; e = e->next) {
      const char *name = mbg__xml_value(e, "name");
      char own[40];
      mbg__format(own, sizeof(own), "%d", ++number);
      name = name && *name ? name : mbg__arena_text(m->robot->arena, own, strlen(own));
      MBG_TRY(name ? read_sensor(m, e, name) : mbg__fail_memory(m->robot->ctx));
      if (mbg__xml_value(e, "noise") || mbg__xml_value(e, "cutoff")) {
        mbg__report_add(m->robot->report, e, "left out", "noise and cutoff of sensors");
      }
    }
  }
done:
  return err;
}
