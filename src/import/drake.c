#include "import/drake.h"

#include <string.h>

static const char *const tags[] = {"drake:ball_constraint", "drake:linear_bushing_rpy", "drake:linear_spring_damper"};

bool mbg__drake_knows(const char *tag) {
  bool known = false;
  for (int i = 0; i < MBG_COUNT(tags); i++) {
    known = known || !strcmp(tag, tags[i]);
  }
  return known;
}

/* the child that must be there, and its text: an attribute in URDF */
static int need(const mbg__drake *d, const mbg__xml *at, const char *tag, const char *key, const mbg__xml **child,
                const char **text) {
  *child = mbg__xml_child(at, tag);
  if (!*child) {
    return mbg__xml_fail(d->robot->ctx, at, "<%s> is missing", tag);
  }
  *text = mbg__xml_value(*child, key);
  *text = *text ? *text : (*child)->text;
  return MBG_OK;
}

static int read_numbers(const mbg__drake *d, const mbg__xml *at, const char *tag, int n, double *out) {
  const mbg__xml *child = NULL;
  const char *text = "";
  const int err = need(d, at, tag, "value", &child, &text);
  return err < 0 ? err : mbg__xml_numbers(d->robot->ctx, child, tag, text, n, n, out, NULL);
}

static int read_frame(const mbg__drake *d, const mbg__xml *at, const char *tag, int *link, mbg__frame *H) {
  const mbg__xml *child = NULL;
  const char *text = "";
  const int err = need(d, at, tag, "name", &child, &text);
  return err < 0 ? err : d->find(d->of, child, text, link, H);
}

/* a body and a point in it */
static int read_point(const mbg__drake *d, const mbg__xml *at, const char *body, const char *point, int *link,
                      mbg__frame *H) {
  mbg__frame own;
  double p[3] = {0};
  int err = MBG_OK;
  MBG_TRY(read_frame(d, at, body, link, &own));
  MBG_TRY(read_numbers(d, at, point, 3, p));
  frame_identity(H);
  frame_point(H->x, &own, p);
done:
  return err;
}

static int read_stiffness(const mbg__drake *d, const mbg__xml *at, const char *tag, int n, double *out) {
  const mbg__xml *child = mbg__xml_child(at, tag);
  int err = MBG_OK;
  if (child) {
    MBG_TRY(read_numbers(d, at, tag, n, out));
  }
  for (int i = 0; i < n && child; i++) {
    if (out[i] < 0) {
      err = mbg__xml_fail(d->robot->ctx, child, "stiffness and damping must not be negative");
    }
  }
done:
  return err;
}

static const char *name_of(const mbg__drake *d, const char *word, int number) {
  char name[300];
  mbg__format(name, sizeof(name), "%.200s%s_%d", d->prefix, word, number);
  return mbg__arena_text(d->robot->arena, name, strlen(name));
}

static int read_ball(const mbg__drake *d, const mbg__xml *at, int number) {
  const char *name = name_of(d, "ball_constraint", number);
  mbg__robot_joint *joint;
  int err = MBG_OK;
  MBG_TRY(name ? mbg__robot_add_joint(d->robot, at, name, &joint) : mbg__fail_memory(d->robot->ctx));
  joint->loop = true;
  joint->kind = MBG__ROBOT_SPHERICAL;
  MBG_TRY(read_point(d, at, "drake:ball_constraint_body_A", "drake:ball_constraint_p_AP", &joint->parent,
                     &joint->in_parent));
  MBG_TRY(
      read_point(d, at, "drake:ball_constraint_body_B", "drake:ball_constraint_p_BQ", &joint->child, &joint->in_child));
done:
  return err;
}

static int read_bushing(const mbg__drake *d, const mbg__xml *at, int number) {
  mbg__robot_tie tie = {.bushing = true, .at = at};
  int err = MBG_OK;
  MBG_TRY(read_frame(d, at, "drake:bushing_frameA", &tie.a, &tie.in_a));
  MBG_TRY(read_frame(d, at, "drake:bushing_frameC", &tie.b, &tie.in_b));
  MBG_TRY(read_stiffness(d, at, "drake:bushing_force_stiffness", 3, tie.stiffness));
  MBG_TRY(read_stiffness(d, at, "drake:bushing_torque_stiffness", 3, tie.stiffness + 3));
  MBG_TRY(read_stiffness(d, at, "drake:bushing_force_damping", 3, tie.damping));
  MBG_TRY(read_stiffness(d, at, "drake:bushing_torque_damping", 3, tie.damping + 3));
  mbg__report_add(d->robot->report, at, "approximated",
                  "bushings measure rotations by their vector, not by roll, pitch and yaw, in the axes of frame C");
  tie.name = name_of(d, "bushing", number);
  err = tie.name ? mbg__robot_add_tie(d->robot, &tie) : mbg__fail_memory(d->robot->ctx);
done:
  return err;
}

static int read_spring(const mbg__drake *d, const mbg__xml *at, int number) {
  mbg__robot_tie tie = {.at = at};
  int err = MBG_OK;
  MBG_TRY(read_point(d, at, "drake:linear_spring_damper_body_A", "drake:linear_spring_damper_p_AP", &tie.a, &tie.in_a));
  MBG_TRY(read_point(d, at, "drake:linear_spring_damper_body_B", "drake:linear_spring_damper_p_BQ", &tie.b, &tie.in_b));
  MBG_TRY(read_numbers(d, at, "drake:linear_spring_damper_free_length", 1, &tie.rest));
  MBG_TRY(read_stiffness(d, at, "drake:linear_spring_damper_stiffness", 1, tie.stiffness));
  MBG_TRY(read_stiffness(d, at, "drake:linear_spring_damper_damping", 1, tie.damping));
  tie.name = name_of(d, "damper", number);
  err = tie.name ? mbg__robot_add_tie(d->robot, &tie) : mbg__fail_memory(d->robot->ctx);
done:
  return err;
}

int mbg__drake_read(const mbg__drake *d, const mbg__xml *at, int *number) {
  static int (*const readers[])(const mbg__drake *d, const mbg__xml *at, int number) = {read_ball, read_bushing,
                                                                                        read_spring};
  int err = MBG_OK;
  ++*number;
  for (int i = 0; i < MBG_COUNT(tags); i++) {
    if (!strcmp(at->name, tags[i])) {
      err = readers[i](d, at, *number);
    }
  }
  return err;
}
