/* Sensors of a robot: members of "signals". */
#include "import/robot.h"

#include <stdio.h>
#include <string.h>

static bool is_signal(const mbg__robot *robot, const char *word) {
  for (int i = 0; i < robot->nsignal; i++) {
    if (!strcmp(robot->signals[i].word, word)) {
      return true;
    }
  }
  return false;
}

int mbg__robot_add_signal(mbg__robot *robot, const mbg__robot_signal *given) {
  mbg__robot_signal signal = *given;
  char name[300];
  (void)snprintf(name, sizeof(name), "%.240s%s%s", signal.name, signal.component ? "_" : "",
                 signal.component ? signal.component : "");
  signal.word = mbg__robot_expression_word(robot, "sensor", name, is_signal);
  void *list = signal.word ? mbg__robot_put(robot->ctx, robot->signals, &robot->nsignal, &robot->most_signals,
                                            sizeof(signal), &signal)
                           : NULL;
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->signals = list;
  return MBG_OK;
}

static void write_string(mbg__json_writer *w, const char *key, const char *value) {
  if (value) {
    mbg__json_key(w, key);
    mbg__json_string(w, value);
  }
}

void mbg__robot_write_signals(const mbg__robot *robot, mbg__json_writer *w) {
  for (int i = 0; i < robot->nsignal; i++) {
    const mbg__robot_signal *s = &robot->signals[i];
    mbg__json_key(w, s->word);
    mbg__json_begin_object(w);
    write_string(w, "type", s->type);
    write_string(w, "value", s->value);
    write_string(w, "joint", s->joint >= 0 ? robot->joints[s->joint].word : NULL);
    write_string(w, "of", s->link >= 0 ? robot->links[s->link].word : NULL);
    write_string(w, "relative_to", s->reference >= 0 ? robot->links[s->reference].word : NULL);
    write_string(w, "axis", s->axis);
    write_string(w, "component", s->component);
    write_string(w, "in", s->axes);
    mbg__json_end_object(w);
  }
}
