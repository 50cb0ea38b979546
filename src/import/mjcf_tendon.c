/* Tendons of MJCF: fixed ones are sums of joint coordinates, spatial ones are in mjcf_rope.c. Equalities of tendons and
   of one joint are couplings. */
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

static const char *tendon_name(mbg__mjcf *m, const mbg__xml *at, int number) {
  const char *name = mbg__xml_value(at, "name");
  char own[40];
  mbg__format(own, sizeof(own), "tendon_%d", number);
  return name && *name ? name : mbg__arena_text(m->robot->arena, own, strlen(own));
}

/* range counts as that of joints does */
static int read_range(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_pull *out) {
  const char *word = mbg__mjcf_value(m, e, "limited");
  const bool limited = word && strcmp(word, "auto") != 0 ? !strcmp(word, "true") : m->autolimits;
  double range[2] = {0, 0};
  int found = 0;
  const int err = mbg__mjcf_numbers(m, e, "range", 2, 2, range, &found);
  out->lower = found && limited && range[0] < range[1] && range[0] > -1e8 ? range[0] : NAN;
  out->upper = found && limited && range[0] < range[1] && range[1] < 1e8 ? range[1] : NAN;
  return err;
}

/* stiffness, damping, limits; where the spring is slack: between two numbers, at one, or where the joints' springs
   rest (-1) */
static int read_pull(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_pull *out) {
  static const char *const others[] = {"frictionloss", "armature",       "margin",         "solreflimit",
                                       "solimplimit",  "solreffriction", "solimpfriction", "actuatorfrcrange"};
  double rest[2] = {-1, -1};
  int err = MBG_OK, found = 0;
  *out = (mbg__robot_pull){0};
  MBG_TRY(mbg__mjcf_number(m, e, "stiffness", &out->stiffness));
  MBG_TRY(mbg__mjcf_number(m, e, "damping", &out->damping));
  MBG_TRY(mbg__mjcf_numbers(m, e, "springlength", 1, 2, rest, &found));
  MBG_TRY(read_range(m, e, out));
  rest[1] = found == 2 ? rest[1] : rest[0];
  out->at_first = rest[0] == -1 && rest[1] == -1;
  memcpy(out->rest, rest, sizeof(rest));
  if (out->stiffness < 0 || out->damping < 0) {
    err = mbg__xml_fail(m->robot->ctx, e->at, "stiffness and damping must not be negative");
    goto done;
  }
  if (rest[0] > rest[1]) {
    err = mbg__xml_fail(m->robot->ctx, e->at, "springlength: the first number must not exceed the second");
    goto done;
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

static int read_fixed(mbg__mjcf *m, const mbg__mjcf_element *e, const char *name, const mbg__robot_pull *pull) {
  mbg__robot_tendon t = {.name = name, .pull = *pull, .at = e->at};
  double rest = 0;
  int err = MBG_OK, joint;
  t.pull.turns = true;
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
    rest += factor * (m->robot->joints[joint].zero + m->robot->joints[joint].rest);
    t.pull.turns = t.pull.turns && m->robot->joints[joint].kind == MBG__ROBOT_REVOLUTE;
    MBG_TRY(mbg__robot_add_term(m->robot, joint, factor, NULL));
    t.count++;
  }
  if (pull->at_first) {
    t.pull.rest[0] = t.pull.rest[1] = rest;
  }
  err = mbg__robot_add_tendon(m->robot, &t);
done:
  return err;
}

int mbg__mjcf_read_tendons(mbg__mjcf *m, const mbg__xml *root) {
  int err = MBG_OK, number = 0;
  for (const mbg__xml *s = mbg__xml_child(root, "tendon"); s; s = mbg__xml_next(s)) {
    for (const mbg__xml *t = s->child; t; t = t->next) {
      const char *name = tendon_name(m, t, ++number);
      mbg__mjcf_element e;
      mbg__robot_pull pull;
      MBG_TRY(name ? mbg__mjcf_element_of(m, t, NULL, &e) : mbg__fail_memory(m->robot->ctx));
      e.tag = "tendon"; /* defaults of both kinds */
      if (!strcmp(t->name, "fixed")) {
        MBG_TRY(read_pull(m, &e, &pull));
        MBG_TRY(read_fixed(m, &e, name, &pull));
      } else if (!strcmp(t->name, "spatial")) {
        MBG_TRY(read_pull(m, &e, &pull));
        MBG_TRY(mbg__mjcf_read_rope(m, t, name, &pull));
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
  err = mbg__robot_add_coupling(
      m->robot, &(mbg__robot_coupling){.name = name, .count = 1, .other = -1, .constant = c[0], .at = at});
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

/* one spatial tendon that keeps its length, or two whose lengths change against each other */
static int bind_ropes(mbg__mjcf *m, const mbg__xml *at, const char *name, int one, int two, const double c[5],
                      bool *good) {
  const mbg__robot_coupling coupling = {
      .name = name, .rope = one, .other = two, .ratio = -c[1], .constant = c[0], .at = at};
  *good = *good && (two < 0 || (two != one && c[1] < 0));
  return *good ? mbg__robot_add_coupling(m->robot, &coupling) : MBG_OK;
}

/* sums of joint coordinates */
static int bind_tendons(mbg__mjcf *m, const mbg__xml *at, const char *name, const int tendons[2], const double c[5]) {
  mbg__robot_coupling coupling = {.name = name, .other = -1, .constant = c[0], .at = at};
  int err = MBG_OK;
  for (int side = 0; side < 2 && tendons[side] >= 0; side++) {
    const int first = m->robot->tendons[tendons[side]].first, count = m->robot->tendons[tendons[side]].count;
    for (int i = first; i < first + count; i++) {
      const mbg__robot_term term = m->robot->terms[i];
      MBG_TRY(mbg__robot_add_term(m->robot, term.joint, side == 0 ? term.factor : -c[1] * term.factor, NULL));
      coupling.count++;
    }
  }
  err = mbg__robot_add_coupling(m->robot, &coupling);
done:
  return err;
}

int mbg__mjcf_read_tendon_equality(mbg__mjcf *m, const mbg__xml *at, const char *name) {
  const char *names[2] = {mbg__xml_value(at, "tendon1"), mbg__xml_value(at, "tendon2")};
  int ropes[2], tendons[2], err = MBG_OK;
  double c[5] = {0, 1, 0, 0, 0};
  bool good;
  MBG_TRY(linear(m, at, c, &good));
  good = good || !names[1]; /* without a second one only the constant counts */
  for (int side = 0; side < 2; side++) {
    ropes[side] = names[side] ? mbg__robot_find_rope(m->robot, names[side]) : -1;
    tendons[side] = names[side] ? mbg__robot_find_tendon(m->robot, names[side]) : -1;
  }
  if (ropes[0] >= 0 && (!names[1] || ropes[1] >= 0)) {
    MBG_TRY(bind_ropes(m, at, name, ropes[0], ropes[1], c, &good));
  } else if (tendons[0] >= 0 && m->robot->tendons[tendons[0]].count > 0 && (!names[1] || tendons[1] >= 0) && good) {
    MBG_TRY(bind_tendons(m, at, name, tendons, c));
  } else {
    good = false;
  }
  if (!good) {
    mbg__report_add(m->robot->report, at, "left out",
                    "<tendon> in <equality> that is no linear relation of fixed tendons, or of spatial ones that "
                    "change against each other");
  }
done:
  return err;
}
