/* Springs between two points and bushings between two frames of links: two markers and a force each. */
#include "import/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* a word whose markers no link and no joint has */
static const char *make_word(const mbg__robot *robot, const char *name) {
  char word[256], a[270], b[270];
  size_t n = 0;
  for (const char *c = name; *c && n < 230; c++) {
    const bool good = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_';
    word[n++] = good ? *c : '_';
  }
  word[n] = 0;
  for (int k = 2, taken = 1; taken; k++) {
    (void)snprintf(a, sizeof(a), "%s_a", word);
    (void)snprintf(b, sizeof(b), "%s_b", word);
    taken = mbg__robot_find_link(robot, a) >= 0 || mbg__robot_find_link(robot, b) >= 0 ||
            mbg__robot_find_joint(robot, word) >= 0;
    for (int i = 0; i < robot->ntie; i++) {
      taken = taken || !strcmp(word, robot->ties[i].word);
    }
    if (taken) {
      (void)snprintf(word + n, sizeof(word) - n, "_%d", k);
    }
  }
  return mbg__arena_text(robot->arena, word, strlen(word));
}

int mbg__robot_add_tie(mbg__robot *robot, const mbg__robot_tie *given) {
  mbg__robot_tie tie = *given;
  tie.word = make_word(robot, tie.name);
  void *list =
      tie.word ? mbg__robot_put(robot->ctx, robot->ties, &robot->ntie, &robot->most_ties, sizeof(tie), &tie) : NULL;
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->ties = list;
  return MBG_OK;
}

/* an end of a tie in the world, all joints at zero */
static void place_of(const mbg__robot *robot, const mbg__robot_tie *tie, bool second, mbg__frame *H) {
  const int link = second ? tie->b : tie->a;
  const mbg__frame *own = second ? &tie->in_b : &tie->in_a;
  if (link < 0) {
    *H = *own;
  } else {
    frame_mul(H, &robot->links[link].place, own);
  }
}

void mbg__robot_write_tie_markers(const mbg__robot *robot, mbg__json_writer *w) {
  for (int i = 0; i < 2 * robot->ntie; i++) {
    const mbg__robot_tie *tie = &robot->ties[i / 2];
    const int link = i % 2 ? tie->b : tie->a, body = link < 0 ? link : robot->links[link].body;
    char name[300];
    mbg__frame at, H;
    (void)snprintf(name, sizeof(name), "%s_%s", tie->word, i % 2 ? "b" : "a");
    place_of(robot, tie, i % 2, &at);
    H = at;
    if (body >= 0) {
      frame_relative(&H, &robot->links[body].place, &at);
    }
    mbg__json_key(w, name);
    mbg__json_begin_object(w);
    mbg__json_key(w, "on");
    mbg__json_string(w, body < 0 ? "ground" : robot->links[body].word);
    mbg__robot_write_frame(w, "at", &H);
    mbg__json_end_object(w);
  }
}

/* A spring whose ends are on one body does nothing; one of length zero has no direction. */
static bool is_force(const mbg__robot *robot, const mbg__robot_tie *tie) {
  const int a = tie->a < 0 ? tie->a : robot->links[tie->a].body, b = tie->b < 0 ? tie->b : robot->links[tie->b].body;
  if (a == b) {
    mbg__report_add(robot->report, tie->at, "left out", "'%s': both ends are on one body", tie->name);
  }
  return a != b;
}

static void write_numbers(mbg__json_writer *w, const char *key, const double *values, int n) {
  mbg__json_key(w, key);
  if (n > 1) {
    mbg__json_numbers(w, values, n);
  } else {
    mbg__json_number(w, *values);
  }
}

static double rest_of(const mbg__robot *robot, const mbg__robot_tie *tie) {
  mbg__frame a, b;
  double d[3];
  if (!isnan(tie->rest)) {
    return tie->rest;
  }
  place_of(robot, tie, false, &a);
  place_of(robot, tie, true, &b);
  v3_sub(d, b.x, a.x);
  return v3_norm(d);
}

void mbg__robot_write_ties(const mbg__robot *robot, mbg__json_writer *w, bool damping) {
  static const double none[6] = {0};
  for (int i = 0; i < robot->ntie; i++) {
    const mbg__robot_tie *tie = &robot->ties[i];
    const bool damped = damping || !tie->of_joint;
    const int n = tie->bushing ? 6 : 1;
    char name[300];
    if (!is_force(robot, tie) || (!damped && !(tie->stiffness[5] > 0))) {
      continue;
    }
    (void)snprintf(name, sizeof(name), "%s%s", tie->bushing ? "" : "spring_", tie->word);
    mbg__json_key(w, name);
    mbg__json_begin_object(w);
    mbg__json_key(w, "type");
    mbg__json_string(w, tie->bushing ? "bushing" : "spring-damper");
    mbg__json_key(w, "between");
    mbg__json_begin_array(w);
    for (int side = 0; side < 2; side++) {
      (void)snprintf(name, sizeof(name), "%s_%s", tie->word, side ? "b" : "a");
      mbg__json_string(w, name);
    }
    mbg__json_end_array(w);
    write_numbers(w, "stiffness", tie->stiffness, n);
    write_numbers(w, "damping", damped ? tie->damping : none, n);
    if (!tie->bushing) {
      const double rest = rest_of(robot, tie);
      write_numbers(w, "rest", &rest, 1);
    }
    mbg__json_end_object(w);
  }
}
