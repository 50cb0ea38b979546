/* The start at a keyframe: bodies where its joints put them, and pins on the coordinates where no loop or coupling
   could contradict them. */
#include "import/robot.h"

#include <math.h>
#include <stdio.h>

/* H = H_parent in_parent moved in_child^-1; the twist goes along, and gets that of the joint */
static void follow(mbg__robot *robot, mbg__robot_link *link, const mbg__robot_joint *joint) {
  mbg__frame base, at, inner, back;
  double below[6] = {0}, twist[6], through[6];
  frame_identity(&base);
  if (joint->parent >= 0) {
    base = robot->links[joint->parent].at_start;
    vn_copy(6, below, robot->links[joint->parent].twist);
  }
  frame_mul(&at, &base, &joint->in_parent);
  frame_mul(&inner, &at, &joint->moved);
  frame_inv(&back, &joint->in_child);
  frame_mul(&link->at_start, &inner, &back);
  AdInv_mul(twist, &joint->in_parent, below);
  AdInv_mul(through, &joint->moved, twist);
  vn_add(6, through, through, joint->twist);
  Ad_mul(link->twist, &joint->in_child, through);
}

void mbg__robot_find_start(mbg__robot *robot) {
  for (int l = 0; l < robot->nlink; l++) {
    mbg__robot_link *link = &robot->links[l];
    link->at_start = link->place;
    if (link->joint >= 0) {
      follow(robot, link, &robot->joints[link->joint]);
    }
  }
}

/* ---------------------------------------------------------------------- writing */

static void write_rotation(mbg__json_writer *w, const double R[9]) {
  mbg__json_key(w, "rotate");
  mbg__json_begin_array(w);
  for (int i = 0; i < 3; i++) {
    mbg__json_numbers(w, R + 3 * i, 3);
  }
  mbg__json_end_array(w);
}

static void write_body(mbg__json_writer *w, const char *name, const mbg__frame *H, const double twist[6]) {
  static const char *const keys[2] = {"velocity", "angular_velocity"};
  mbg__json_key(w, name);
  mbg__json_begin_object(w);
  mbg__json_key(w, "position");
  mbg__json_numbers(w, H->x, 3);
  write_rotation(w, H->R);
  for (int i = 0; i < 2; i++) {
    mbg__json_key(w, keys[i]);
    mbg__json_numbers(w, twist + 3 * (size_t)i, 3);
  }
  mbg__json_key(w, "in");
  mbg__json_string(w, "body");
  mbg__json_end_object(w);
}

static void write_bodies(const mbg__robot *robot, mbg__json_writer *w, bool rotors) {
  mbg__json_key(w, "bodies");
  mbg__json_begin_object(w);
  for (int l = 0; l < robot->nlink; l++) {
    if (robot->links[l].body == l) {
      write_body(w, robot->links[l].word, &robot->links[l].at_start, robot->links[l].twist);
    }
  }
  for (int j = 0; j < robot->njoint && rotors; j++) {
    const mbg__robot_joint *joint = &robot->joints[j];
    const double turn[3] = {0, 0, joint->start}, twist[6] = {0, 0, 0, 0, 0, joint->start_rate};
    mbg__frame H;
    char word[300];
    if (joint->armature > 0 && mbg__robot_is_single(joint) && !joint->loop) {
      frame_identity(&H);
      mbg__so3_exp(H.R, turn);
      (void)snprintf(word, sizeof(word), "%s_rotor", joint->word);
      write_body(w, word, &H, twist);
    }
  }
  mbg__json_end_object(w);
}

/* only a tree of joints takes any coordinates */
static bool is_tree(const mbg__robot *robot) {
  for (int j = 0; j < robot->njoint; j++) {
    if (robot->joints[j].loop || robot->joints[j].mimic >= 0) {
      return false;
    }
  }
  return robot->ncoupling == 0;
}

static void write_pins(const mbg__robot *robot, mbg__json_writer *w) {
  mbg__json_key(w, "pin");
  mbg__json_begin_object(w);
  for (int j = 0; j < robot->njoint; j++) {
    const mbg__robot_joint *joint = &robot->joints[j];
    if (!mbg__robot_is_single(joint)) {
      continue;
    }
    mbg__json_key(w, joint->word);
    mbg__json_begin_object(w);
    mbg__json_key(w, "joint");
    mbg__json_string(w, joint->word);
    mbg__json_key(w, "value");
    mbg__json_number(w, joint->start);
    mbg__json_key(w, "rate");
    mbg__json_number(w, joint->start_rate);
    mbg__json_end_object(w);
  }
  mbg__json_end_object(w);
}

void mbg__robot_write_start(const mbg__robot *robot, mbg__json_writer *w, bool rotors) {
  if (!robot->start) {
    return;
  }
  mbg__json_key(w, "initial");
  mbg__json_begin_object(w);
  write_bodies(robot, w, rotors);
  if (is_tree(robot)) {
    write_pins(robot, w);
  } else {
    mbg__report_add(robot->report, NULL, "note",
                    "the keyframe is a guess: the start is the nearest one where loops close");
  }
  mbg__json_end_object(w);
}
