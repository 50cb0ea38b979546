/* Actuators: a control each, zero until somebody sets it, a state where they lag, and forces that depend on it. */
#include "import/robot.h"
#include "io/number.h"

#include <stdio.h>
#include <string.h>

static bool is_control(const mbg__robot *robot, const char *word) {
  for (int i = 0; i < robot->nactuator; i++) {
    if (!strcmp(word, robot->actuators[i].word)) {
      return true;
    }
  }
  return false;
}

int mbg__robot_add_actuator(mbg__robot *robot, const mbg__robot_actuator *given) {
  mbg__robot_actuator actuator = *given;
  actuator.word = mbg__robot_expression_word(robot, "u", actuator.name, is_control);
  void *list = actuator.word ? mbg__robot_put(robot->ctx, robot->actuators, &robot->nactuator, &robot->most_actuators,
                                              sizeof(actuator), &actuator)
                             : NULL;
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->actuators = list;
  return MBG_OK;
}

void mbg__robot_write_controls(const mbg__robot *robot, mbg__json_writer *w) {
  static const double times[2] = {0, 1};
  if (robot->nactuator == 0) {
    return;
  }
  mbg__json_key(w, "controls");
  mbg__json_begin_object(w);
  for (int k = 0; k < robot->nactuator; k++) {
    const double values[2] = {robot->actuators[k].control, robot->actuators[k].control};
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

/* the input of the force: its control, or act_NAME */
static void input_name(const mbg__robot_actuator *a, char out[300]) {
  (void)snprintf(out, 300, "%s%s", a->dynamics == MBG__ROBOT_DIRECT ? "" : "act_",
                 a->word + (a->dynamics == MBG__ROBOT_DIRECT ? 0 : 2));
}

void mbg__robot_write_states(const mbg__robot *robot, mbg__json_writer *w) {
  bool any = false;
  for (int k = 0; k < robot->nactuator; k++) {
    const mbg__robot_actuator *a = &robot->actuators[k];
    char name[300], rate[700], lag[MBG__NUMBER_SIZE];
    if (a->dynamics == MBG__ROBOT_DIRECT) {
      continue;
    }
    if (!any) {
      mbg__json_key(w, "states");
      mbg__json_begin_object(w);
      any = true;
    }
    input_name(a, name);
    (void)mbg__number_format(lag, a->lag);
    if (a->dynamics == MBG__ROBOT_LAG) {
      (void)snprintf(rate, sizeof(rate), "(%s - %s)/%s", a->word, name, lag);
    } else {
      (void)snprintf(rate, sizeof(rate), "%s", a->word);
    }
    mbg__json_key(w, name);
    mbg__json_begin_object(w);
    mbg__json_key(w, "rate");
    mbg__json_string(w, rate);
    if (a->first != 0) {
      mbg__json_key(w, "initial");
      mbg__json_number(w, a->first);
    }
    mbg__json_end_object(w);
  }
  if (any) {
    mbg__json_end_object(w);
  }
}

/* factor times the force, by the length x and its rate v; the length of the format is x + zero, times the gear */
static void write_terms(mbg__buffer *out, const mbg__robot_actuator *a, double factor, double zero, const char *x,
                        const char *v) {
  const double f = factor * a->gear, square = f * a->gear;
  char y[300], product[700];
  input_name(a, y);
  (void)snprintf(product, sizeof(product), "%s*%s", x, y);
  mbg__robot_write_sum(out, square * a->gain[1], product);
  (void)snprintf(product, sizeof(product), "%s*%s", v, y);
  mbg__robot_write_sum(out, square * a->gain[2], product);
  mbg__robot_write_sum(out, f * a->bias[0] + square * a->bias[1] * zero, "");
  mbg__robot_write_sum(out, square * a->bias[1], x);
  mbg__robot_write_sum(out, square * a->bias[2], v);
}

static void write_force(const mbg__robot *robot, mbg__json_writer *w, const mbg__robot_actuator *a, double factor,
                        double zero, const char *x, const char *v) {
  const double f = factor * a->gear;
  const char *text = "";
  char y[300];
  mbg__buffer out;
  input_name(a, y);
  mbg__buffer_init(&out, robot->ctx);
  mbg__buffer_number(&out, f * a->gain[0] + f * a->gear * a->gain[1] * zero);
  mbg__buffer_format(&out, "*%s", y);
  write_terms(&out, a, factor, zero, x, v);
  (void)mbg__buffer_finish(&out, &text, NULL);
  mbg__json_key(w, "force");
  mbg__json_string(w, text);
  mbg__buffer_destroy(&out);
}

void mbg__robot_write_rope_drives(const mbg__robot *robot, mbg__buffer *out, int rope) {
  for (int k = 0; k < robot->nactuator; k++) {
    const mbg__robot_actuator *a = &robot->actuators[k];
    const char *x = robot->ropes[rope].word;
    char y[300], v[300];
    if (a->rope == rope) { /* a force that lengthens it is no tension */
      input_name(a, y);
      (void)snprintf(v, sizeof(v), "%.280s_rate", x);
      mbg__robot_write_sum(out, -a->gear * a->gain[0], y);
      write_terms(out, a, -1, 0, x, v);
    }
  }
}

static void begin_force(mbg__json_writer *w, const char *name, bool states, const char *joint) {
  mbg__json_key(w, name);
  mbg__json_begin_object(w);
  mbg__json_key(w, "type");
  mbg__json_string(w, states ? "expression" : "actuator");
  mbg__json_key(w, "joint");
  mbg__json_string(w, joint);
}

void mbg__robot_write_actuators(const mbg__robot *robot, mbg__json_writer *w) {
  for (int k = 0; k < robot->nactuator; k++) {
    const mbg__robot_actuator *a = &robot->actuators[k];
    char name[600], rate[300];
    if (a->rope >= 0) {
      continue; /* in the preload of its tendon */
    }
    if (a->tendon < 0) {
      (void)snprintf(name, sizeof(name), "drive_%s", a->word + 2);
      begin_force(w, name, a->dynamics != MBG__ROBOT_DIRECT, robot->joints[a->joint].word);
      write_force(robot, w, a, 1, robot->joints[a->joint].zero, "x", "v");
      mbg__json_end_object(w);
      continue;
    }
    const mbg__robot_tendon *t = &robot->tendons[a->tendon];
    for (int i = t->first; i < t->first + t->count; i++) {
      const char *joint = robot->joints[robot->terms[i].joint].word;
      (void)snprintf(name, sizeof(name), "drive_%s_%.250s", a->word + 2, joint);
      (void)snprintf(rate, sizeof(rate), "%.280s_rate", t->word);
      begin_force(w, name, true, joint);
      write_force(robot, w, a, robot->terms[i].factor, t->zero, t->word, rate);
      mbg__json_end_object(w);
    }
  }
}
