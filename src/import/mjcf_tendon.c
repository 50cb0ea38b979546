/* Tendons of MJCF: fixed ones are sums of joint coordinates; a spatial one between two sites is a spring. Others are
   listed. Equalities of tendons and of one joint are couplings. */
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

static const char *tendon_name(mbg__mjcf *m, const mbg__xml *at, int number) {
  const char *name = mbg__xml_value(at, "name");
  char own[40];
  mbg__format(own, sizeof(own), "tendon_%d", number);
  return name && *name ? name : mbg__arena_text(m->robot->arena, own, strlen(own));
}

/* stiffness, damping; where the spring is slack: given as one number or two, -1 as the tendon is at first */
typedef struct {
  double stiffness, damping, rest;
  bool at_first;
} spring;

static int read_spring(mbg__mjcf *m, const mbg__mjcf_element *e, spring *out) {
  static const char *const others[] = {"range", "frictionloss", "armature", "margin", "solreflimit", "solimplimit"};
  double rest[2] = {-1, -1};
  int err = MBG_OK, found = 0;
  *out = (spring){0};
  MBG_TRY(mbg__mjcf_number(m, e, "stiffness", &out->stiffness));
  MBG_TRY(mbg__mjcf_number(m, e, "damping", &out->damping));
  MBG_TRY(mbg__mjcf_numbers(m, e, "springlength", 1, 2, rest, &found));
  out->at_first = rest[0] < 0 && (found < 2 || rest[1] < 0);
  out->rest = rest[0];
  if (out->stiffness < 0 || out->damping < 0) {
    err = mbg__xml_fail(m->robot->ctx, e->at, "stiffness and damping must not be negative");
    goto done;
  }
  if (found == 2 && rest[0] != rest[1] && out->stiffness > 0) {
    mbg__report_add(m->robot->report, e->at, "approximated",
                    "springlength of tendons: the first number counts, without the slack up to the second");
  }
  for (int i = 0; i < MBG_COUNT(others); i++) {
    if (mbg__mjcf_value(m, e, others[i])) {
      mbg__report_add(m->robot->report, e->at, "left out", "%s of tendons", others[i]);
    }
  }
done:
  return err;
}

static int find_single(mbg__mjcf *m, const mbg__xml *at, const char *key, int *out) {
  const char *name = mbg__xml_value(at, key);
  *out = name ? mbg__robot_find_joint(m->robot, name) : -1;
  if (*out < 0) {
    return mbg__xml_fail(m->robot->ctx, at, "there is no joint '%s'", name ? name : "");
  }
  return mbg__robot_is_single(&m->robot->joints[*out])
             ? MBG_OK
             : mbg__xml_fail(m->robot->ctx, at, "joint '%s' is no hinge and no slide", name);
}

static int read_fixed(mbg__mjcf *m, const mbg__mjcf_element *e, const char *name) {
  mbg__robot_tendon t = {.name = name, .at = e->at};
  spring s;
  int err = MBG_OK, joint;
  MBG_TRY(read_spring(m, e, &s));
  for (const mbg__xml *c = mbg__xml_child(e->at, "joint"); c; c = mbg__xml_next(c)) {
    double factor = 0;
    MBG_TRY(find_single(m, c, "joint", &joint));
    MBG_TRY(mbg__xml_number(m->robot->ctx, c, "coef", &factor));
    for (int i = m->robot->nterm - t.count; i < m->robot->nterm; i++) {
      if (m->robot->terms[i].joint == joint) {
        err = mbg__xml_fail(m->robot->ctx, c, "joint '%s' is there twice", m->robot->joints[joint].name);
        goto done;
      }
    }
    t.zero += factor * m->robot->joints[joint].zero;
    MBG_TRY(mbg__robot_add_term(m->robot, joint, factor, NULL));
    t.count++;
  }
  t.stiffness = s.stiffness;
  t.damping = s.damping;
  t.rest = s.at_first ? 0 : s.rest - t.zero;
  err = mbg__robot_add_tendon(m->robot, &t);
done:
  return err;
}

/* two sites and nothing else */
static int read_spatial(mbg__mjcf *m, const mbg__mjcf_element *e, const char *name) {
  mbg__robot_tie tie = {.name = name, .rest = NAN, .at = e->at};
  spring s;
  int err = MBG_OK, ends = 0, others = 0;
  for (const mbg__xml *c = e->at->child; c; c = c->next) {
    const char *site = mbg__xml_value(c, "site");
    char word[300];
    if (strcmp(c->name, "site") != 0 || !site || ends == 2) {
      others++;
      continue;
    }
    mbg__format(word, sizeof(word), "site_%.280s", site);
    const int link = mbg__robot_find_link(m->robot, word);
    if (link < 0) {
      return mbg__xml_fail(m->robot->ctx, c, "there is no site '%s'", site);
    }
    *(ends++ == 0 ? &tie.a : &tie.b) = link;
  }
  MBG_TRY(read_spring(m, e, &s));
  if (others > 0 || ends != 2) {
    mbg__report_add(m->robot->report, e->at, "left out", "<spatial> in <tendon> that is no line between two sites");
  } else if (s.stiffness > 0 || s.damping > 0) {
    tie.stiffness[0] = s.stiffness;
    tie.damping[0] = s.damping;
    tie.rest = s.at_first ? NAN : s.rest;
    frame_identity(&tie.in_a);
    frame_identity(&tie.in_b);
    err = mbg__robot_add_tie(m->robot, &tie);
  }
done:
  return err;
}

int mbg__mjcf_read_tendons(mbg__mjcf *m, const mbg__xml *root) {
  int err = MBG_OK, number = 0;
  for (const mbg__xml *s = mbg__xml_child(root, "tendon"); s; s = mbg__xml_next(s)) {
    for (const mbg__xml *t = s->child; t; t = t->next) {
      const char *name = tendon_name(m, t, ++number);
      mbg__mjcf_element e;
      MBG_TRY(name ? mbg__mjcf_element_of(m, t, NULL, &e) : mbg__fail_memory(m->robot->ctx));
      e.tag = "tendon"; /* defaults of both kinds */
      if (!strcmp(t->name, "fixed")) {
        MBG_TRY(read_fixed(m, &e, name));
      } else if (!strcmp(t->name, "spatial")) {
        MBG_TRY(read_spatial(m, &e, name));
      } else {
        mbg__report_add(m->robot->report, t, "left out", "<%s> in <tendon>", t->name);
      }
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- equalities */

/* y = c0 + c1 x of two lengths, counted from where they are at first; one without x is held */
static int linear(mbg__mjcf *m, const mbg__xml *at, double c[5], bool *out) {
  const mbg__mjcf_element e = {.at = at, .tag = at->name, .class = -1};
  const int err = mbg__mjcf_numbers(m, &e, "polycoef", 1, 5, c, NULL);
  *out = c[2] == 0 && c[3] == 0 && c[4] == 0;
  return err;
}

int mbg__mjcf_hold_joint(mbg__mjcf *m, const mbg__xml *at, const char *name, int joint) {
  double c[5] = {0, 1, 0, 0, 0};
  bool good;
  int err = MBG_OK;
  MBG_TRY(linear(m, at, c, &good)); /* without a second joint only the constant counts */
  MBG_TRY(mbg__robot_add_term(m->robot, joint, 1, NULL));
  err = mbg__robot_add_coupling(m->robot, &(mbg__robot_coupling){.name = name, .count = 1, .constant = c[0], .at = at});
done:
  return err;
}

/* q_j = c0 + c1 q_k + ... + c4 q_k^4 */
int mbg__mjcf_bind_joints(mbg__mjcf *m, const mbg__xml *at, const char *name, int j, int k, const double c[5]) {
  mbg__buffer law;
  const char *text = "";
  int err = MBG_OK;
  mbg__buffer_init(&law, m->robot->ctx);
  mbg__buffer_number(&law, c[1]);
  mbg__buffer_text(&law, "*x");
  for (int i = 2; i < 5; i++) {
    char power[8];
    mbg__format(power, sizeof(power), "x^%d", i);
    mbg__robot_write_sum(&law, c[i], power);
  }
  MBG_TRY(mbg__buffer_finish(&law, &text, NULL));
  const char *kept = mbg__arena_text(m->robot->arena, text, strlen(text));
  MBG_TRY(kept ? mbg__robot_add_term(m->robot, j, 1, NULL) : mbg__fail_memory(m->robot->ctx));
  MBG_TRY(mbg__robot_add_term(m->robot, k, -1, kept));
  err = mbg__robot_add_coupling(m->robot, &(mbg__robot_coupling){.name = name, .count = 2, .constant = c[0], .at = at});
done:
  mbg__buffer_destroy(&law);
  return err;
}

int mbg__mjcf_read_tendon_equality(mbg__mjcf *m, const mbg__xml *at, const char *name) {
  const char *names[2] = {mbg__xml_value(at, "tendon1"), mbg__xml_value(at, "tendon2")};
  mbg__robot_coupling coupling = {.name = name, .at = at};
  double c[5] = {0, 1, 0, 0, 0};
  bool good;
  int err = MBG_OK;
  MBG_TRY(linear(m, at, c, &good));
  for (int side = 0; side < 2 && good; side++) {
    const int t = names[side] ? mbg__robot_find_tendon(m->robot, names[side]) : -1;
    if (t < 0) {
      good = side == 1 && !names[side];
      continue;
    }
    const int first = m->robot->tendons[t].first, count = m->robot->tendons[t].count;
    for (int i = first; i < first + count; i++) {
      const mbg__robot_term term = m->robot->terms[i];
      MBG_TRY(mbg__robot_add_term(m->robot, term.joint, side == 0 ? term.factor : -c[1] * term.factor, NULL));
      coupling.count++;
    }
  }
  coupling.constant = c[0];
  if (!good || coupling.count == 0) {
    mbg__report_add(m->robot->report, at, "left out",
                    "<tendon> in <equality> that is no linear relation of fixed tendons");
  } else {
    err = mbg__robot_add_coupling(m->robot, &coupling);
  }
done:
  return err;
}
