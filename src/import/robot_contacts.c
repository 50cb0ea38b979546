/* Planes of the world that shapes of links touch: a marker and groups of contacts for each. */
#include "import/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Compliance: the whole weight on one sphere sinks by DEPTH; a sphere that arrives with SPEED leaves with a fifth of
   it. The formats say nothing of the kind. */
static const double DEPTH = 1e-3, WIDTH = 1e-4, SPEED = 1, RESTITUTION = 0.2;

int mbg__robot_add_plane(mbg__robot *robot, const mbg__robot_plane *plane) {
  void *list = mbg__robot_put(robot->ctx, robot->planes, &robot->nplane, &robot->most_planes, sizeof(*plane), plane);
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->planes = list;
  return MBG_OK;
}

/* "plane_1", ...: a word that no link has */
static void plane_word(const mbg__robot *robot, int plane, char word[64]) {
  int n = snprintf(word, 64, "plane_%d", plane + 1);
  for (bool taken = true; taken && n < 60;) {
    taken = false;
    for (int l = 0; l < robot->nlink; l++) {
      taken = taken || !strcmp(robot->links[l].word, word);
    }
    if (taken) {
      word[n++] = '_';
      word[n] = 0;
    }
  }
}

static bool meet(const mbg__robot_touch *a, const mbg__robot_touch *b) {
  return (a->type & b->affinity) != 0 || (b->type & a->affinity) != 0;
}

/* The friction between a link and a plane, the larger of both; -1: nothing of the link touches it. */
static double friction_of(const mbg__robot *robot, int link, const mbg__robot_plane *plane) {
  double friction = -1;
  for (int i = 0; i < robot->nfigure && robot->links[link].body >= 0; i++) {
    const mbg__robot_figure *f = &robot->figures[i];
    const bool solid = f->form == MBG__ROBOT_BALL || f->form == MBG__ROBOT_CAPSULE || f->form == MBG__ROBOT_BOX;
    if (f->link == link && solid && meet(&f->touch, &plane->touch)) {
      friction = fmax(friction, fmax(f->touch.friction, plane->touch.friction));
    }
  }
  return friction;
}

void mbg__robot_write_plane_markers(const mbg__robot *robot, mbg__json_writer *w) {
  for (int i = 0; i < robot->nplane; i++) {
    char word[64];
    plane_word(robot, i, word);
    mbg__json_key(w, word);
    mbg__json_begin_object(w);
    mbg__json_key(w, "on");
    mbg__json_string(w, "ground");
    mbg__robot_write_frame(w, "at", &robot->planes[i].place);
    mbg__json_end_object(w);
  }
}

static void number(mbg__json_writer *w, const char *key, double value) {
  mbg__json_key(w, key);
  mbg__json_number(w, value);
}

static double stiffness(const mbg__robot *robot) {
  const double g = sqrt(v3_dot(robot->gravity, robot->gravity));
  double mass = 0;
  for (int l = 0; l < robot->nlink; l++) {
    mass += robot->links[l].own.mass;
  }
  return (mass > 0 ? mass : 1) * (g > 0 ? g : 9.81) / DEPTH;
}

/* the links of one friction on one plane */
static void write_group(const mbg__robot *robot, mbg__json_writer *w, int plane, double friction) {
  char word[64];
  plane_word(robot, plane, word);
  mbg__json_key(w, "between");
  mbg__json_begin_array(w);
  mbg__json_begin_array(w);
  for (int l = 0; l < robot->nlink; l++) {
    if (friction_of(robot, l, &robot->planes[plane]) == friction) {
      mbg__json_string(w, robot->links[l].word);
    }
  }
  mbg__json_end_array(w);
  mbg__json_string(w, word);
  mbg__json_end_array(w);
  number(w, "stiffness", stiffness(robot));
  number(w, "exponent", 1);
  number(w, "width", WIDTH);
  number(w, "restitution", RESTITUTION);
  number(w, "speed", SPEED);
  number(w, "friction", friction);
}

/* a link before this one has the same friction on the plane */
static bool is_written(const mbg__robot *robot, int link, const mbg__robot_plane *plane, double friction) {
  for (int l = 0; l < link; l++) {
    if (friction_of(robot, l, plane) == friction) {
      return true;
    }
  }
  return false;
}

void mbg__robot_write_contacts(const mbg__robot *robot, mbg__json_writer *w) {
  bool any = false;
  for (int i = 0; i < robot->nplane; i++) {
    int group = 0;
    for (int l = 0; l < robot->nlink; l++) {
      const double friction = friction_of(robot, l, &robot->planes[i]);
      char name[64];
      if (friction < 0 || is_written(robot, l, &robot->planes[i], friction)) {
        continue;
      }
      if (!any) {
        mbg__json_key(w, "contacts");
        mbg__json_begin_object(w);
        any = true;
      }
      (void)snprintf(name, sizeof(name), "on_plane_%d_%d", i + 1, ++group);
      mbg__json_key(w, name);
      mbg__json_begin_object(w);
      write_group(robot, w, i, friction);
      mbg__json_end_object(w);
    }
  }
  if (any) {
    mbg__json_end_object(w);
  }
}
