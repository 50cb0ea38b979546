/* Actuators: a control each, zero until somebody sets it, and a force that depends on it. */
#include "import/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* u_NAME, with letters of expressions alone; a number keeps two names apart */
static const char *control_name(const mbg__robot *robot, const char *name) {
  char out[300];
  (void)snprintf(out, 280, "u_%.250s", name);
  for (char *c = out; *c; c++) {
    const bool good = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_';
    *c = good ? *c : '_';
  }
  for (int i = 0; i < robot->nactuator; i++) {
    if (!strcmp(out, robot->actuators[i].word)) {
      (void)snprintf(out + strlen(out), 20, "_%d", robot->nactuator + 1);
      break;
    }
  }
  return mbg__arena_text(robot->arena, out, strlen(out));
}

int mbg__robot_add_actuator(mbg__robot *robot, const mbg__robot_actuator *actuator) {
  if (robot->nactuator == robot->most_actuators) {
    const int most = 2 * robot->most_actuators + 16;
    mbg__robot_actuator *more = mbg__resize(robot->ctx, robot->actuators, (size_t)most, sizeof(*more));
    if (!more) {
      return mbg__fail_memory(robot->ctx);
    }
    robot->actuators = more;
    robot->most_actuators = most;
  }
  const char *word = control_name(robot, actuator->name);
  if (!word) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->actuators[robot->nactuator] = *actuator;
  robot->actuators[robot->nactuator++].word = word;
  return MBG_OK;
}

void mbg__robot_write_controls(const mbg__robot *robot, mbg__json_writer *w) {
  static const double times[2] = {0, 1}, values[2] = {0, 0};
  if (robot->nactuator == 0) {
    return;
  }
  mbg__json_key(w, "controls");
  mbg__json_begin_object(w);
  for (int k = 0; k < robot->nactuator; k++) {
    mbg__json_key(w, robot->actuators[k].word);
    mbg__json_begin_object(w);
    mbg__json_key(w, "times");
    mbg__json_numbers(w, times, 2);
    mbg__json_key(w, "values");
    mbg__json_numbers(w, values, 2);
    mbg__json_end_object(w);
  }
  mbg__json_end_object(w);
}

/* + c*word, where it is not zero */
static void add_term(mbg__buffer *out, double c, const char *word) {
  if (c != 0) {
    mbg__buffer_text(out, c < 0 ? " - " : " + ");
    mbg__buffer_number(out, fabs(c));
    mbg__buffer_format(out, "%s%s", *word ? "*" : "", word);
  }
}

/* q of the format is the coordinate x and what it is at x = 0 */
void mbg__robot_write_actuators(const mbg__robot *robot, mbg__json_writer *w) {
  for (int k = 0; k < robot->nactuator; k++) {
    const mbg__robot_actuator *a = &robot->actuators[k];
    const mbg__robot_joint *joint = &robot->joints[a->joint];
    const double square = a->gear * a->gear;
    const char *text = "";
    char name[320];
    mbg__buffer out;
    (void)snprintf(name, sizeof(name), "drive_%s", a->word + 2);
    mbg__buffer_init(&out, robot->ctx);
    mbg__buffer_number(&out, a->gear * a->gain);
    mbg__buffer_format(&out, "*%s", a->word);
    add_term(&out, a->gear * a->bias[0] + square * a->bias[1] * joint->zero, "");
    add_term(&out, square * a->bias[1], "x");
    add_term(&out, square * a->bias[2], "v");
    (void)mbg__buffer_finish(&out, &text, NULL);
    mbg__json_key(w, name);
    mbg__json_begin_object(w);
    mbg__json_key(w, "type");
    mbg__json_string(w, "actuator");
    mbg__json_key(w, "joint");
    mbg__json_string(w, joint->word);
    mbg__json_key(w, "force");
    mbg__json_string(w, text);
    mbg__json_end_object(w);
    mbg__buffer_destroy(&out);
  }
}
