/* Tendons through points of links and around round ones: markers on what they go around, and an elastic tendon each,
   whose preload has what is not linear: limits, springs with slack, actuators. */
#include "import/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.141592653589793;

/* ---------------------------------------------------------------------- adding */

int mbg__robot_add_place(mbg__robot *robot, const mbg__robot_place *place) {
  void *list = mbg__robot_put(robot->ctx, robot->places, &robot->nplace, &robot->most_places, sizeof(*place), place);
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->places = list;
  return MBG_OK;
}

static bool is_rope(const mbg__robot *robot, const char *word) {
  bool taken = false;
  for (int i = 0; i < robot->nrope; i++) {
    taken = taken || !strcmp(robot->ropes[i].word, word);
  }
  for (int i = 0; i < robot->ntendon; i++) {
    taken = taken || !strcmp(robot->tendons[i].word, word);
  }
  return taken;
}

int mbg__robot_add_rope(mbg__robot *robot, const mbg__robot_rope *given) {
  mbg__robot_rope rope = *given;
  rope.first = robot->nplace - rope.count;
  rope.word = mbg__robot_expression_word(robot, "l", rope.name, is_rope);
  void *list = rope.word
                   ? mbg__robot_put(robot->ctx, robot->ropes, &robot->nrope, &robot->most_ropes, sizeof(rope), &rope)
                   : NULL;
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->ropes = list;
  return MBG_OK;
}

int mbg__robot_find_rope(const mbg__robot *robot, const char *name) {
  for (int i = 0; i < robot->nrope; i++) {
    if (!strcmp(robot->ropes[i].name, name)) {
      return i;
    }
  }
  return -1;
}

/* ---------------------------------------------------------------------- lengths */

/* a frame of a link in the world, joints at zero, or where their springs rest */
static void place_in_world(const mbg__robot *robot, int link, const mbg__frame *own, bool at_rest, mbg__frame *out) {
  *out = *own;
  for (int l = link, n = 0; l >= 0 && n <= robot->nlink; n++) {
    mbg__frame moved, back, a, b;
    if (robot->links[l].joint < 0) { /* a root */
      frame_mul(&a, &robot->links[l].place, out);
      *out = a;
      return;
    }
    const mbg__robot_joint *joint = &robot->joints[robot->links[l].joint];
    frame_identity(&moved);
    if (at_rest && joint->kind == MBG__ROBOT_REVOLUTE) {
      double turn[3];
      v3_scale(turn, joint->rest, joint->axis);
      mbg__so3_exp(moved.R, turn);
    } else if (at_rest && joint->kind == MBG__ROBOT_PRISMATIC) {
      v3_scale(moved.x, joint->rest, joint->axis);
    }
    frame_inv(&back, &joint->in_child);
    frame_mul(&a, &back, out);
    frame_mul(&b, &moved, &a);
    frame_mul(out, &joint->in_parent, &b);
    l = joint->parent;
  }
}

static void point_in_world(const mbg__robot *robot, int link, bool at_rest, double out[3]) {
  mbg__frame none, H;
  frame_identity(&none);
  place_in_world(robot, link, &none, at_rest, &H);
  v3_copy(out, H.x);
}

/* a point in the plane of a wheel with frame H: x, y */
static void in_plane(const mbg__frame *H, const double point[3], double out[3]) {
  double d[3];
  v3_sub(d, point, H->x);
  m3_mulv_T(out, H->R, d);
}

/* the arc from a to b around a circle; below zero: the straight line does not touch it on that side */
static double arc_between(const double a[3], const double b[3], double radius, bool left) {
  const double angle = atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
  const double turn = left ? angle : -angle;
  return (turn < 0 ? turn + 2 * pi : turn) - acos(radius / hypot(a[0], a[1])) - acos(radius / hypot(b[0], b[1]));
}

/* from the place before a wheel to the one behind it */
static double length_around(const mbg__frame *H, const double before[3], const double behind[3],
                            const mbg__robot_place *p) {
  double a[3], b[3];
  in_plane(H, before, a);
  in_plane(H, behind, b);
  const double square = p->radius * p->radius, flat = a[0] * a[0] + a[1] * a[1], other = b[0] * b[0] + b[1] * b[1];
  return sqrt(flat - square + a[2] * a[2]) + sqrt(other - square + b[2] * b[2]) +
         p->radius * arc_between(a, b, p->radius, p->left);
}

static double length_of(const mbg__robot *robot, const mbg__robot_rope *rope, bool at_rest) {
  double last[3] = {0}, next[3], d[3], length = 0;
  const mbg__robot_place *wheel = NULL;
  for (int k = rope->first; k < rope->first + rope->count; k++) {
    const mbg__robot_place *p = &robot->places[k];
    if (p->round) {
      wheel = p->radius > 0 ? p : NULL;
      continue;
    }
    point_in_world(robot, p->link, at_rest, next);
    if (!p->begins && wheel) {
      mbg__frame H;
      place_in_world(robot, wheel->link, &wheel->in_link, at_rest, &H);
      length += p->ratio * length_around(&H, last, next, wheel);
    } else if (!p->begins) {
      v3_sub(d, next, last);
      length += p->ratio * v3_norm(d);
    }
    wheel = NULL;
    v3_copy(last, next);
  }
  return length;
}

/* ---------------------------------------------------------------------- wheels */

/* z along the axis, x anything */
static void frame_about(double R[9], const double z[3]) {
  const int least = fabs(z[0]) <= fabs(z[1]) && fabs(z[0]) <= fabs(z[2]) ? 0 : fabs(z[1]) <= fabs(z[2]) ? 1 : 2;
  const double other[3] = {least == 0, least == 1, least == 2};
  double x[3], y[3];
  v3_cross(x, other, z);
  v3_scale(x, 1 / v3_norm(x), x);
  v3_cross(y, z, x);
  for (int i = 0; i < 3; i++) {
    R[3 * i] = x[i];
    R[3 * i + 1] = y[i];
    R[3 * i + 2] = z[i];
  }
}

/* The plane in which the tendon goes around: across a cylinder halfway between both points, through the centre of a
   ball. False: there is none. */
static bool make_plane(const mbg__robot *robot, mbg__robot_place *p, const double a[3], const double b[3]) {
  mbg__frame H;
  double u[3], v[3], z[3];
  place_in_world(robot, p->link, &p->in_link, false, &H);
  v3_sub(u, a, H.x);
  v3_sub(v, b, H.x);
  if (p->ball) {
    v3_cross(z, u, v);
    const double size = v3_norm(z);
    if (!(size > 1e-9 * v3_norm(u) * v3_norm(v))) {
      return false;
    }
    v3_scale(z, 1 / size, z);
    frame_about(H.R, z);
  } else {
    const double axis[3] = {H.R[2], H.R[5], H.R[8]}, one = v3_dot(axis, u), two = v3_dot(axis, v);
    for (int i = 0; i < 3; i++) {
      H.x[i] += axis[i] * (one + two) / 2;
    }
    if (fabs(one - two) > 1e-9 * (v3_norm(u) + v3_norm(v))) {
      mbg__report_add(robot->report, p->at, "approximated",
                      "a tendon around a cylinder whose sites are not in one plane across it: an arc, no screw line");
    }
  }
  p->in_link = H;
  if (p->link >= 0) {
    frame_relative(&p->in_link, &robot->links[p->link].place, &H);
  }
  return true;
}

/* the point of the straight line next to the centre, without z */
static void nearest(const double a[3], const double b[3], double out[2]) {
  const double d[2] = {b[0] - a[0], b[1] - a[1]}, square = d[0] * d[0] + d[1] * d[1];
  double s = square > 0 ? -(d[0] * a[0] + d[1] * a[1]) / square : 0;
  s = s < 0 ? 0 : s > 1 ? 1 : s;
  out[0] = a[0] + s * d[0];
  out[1] = a[1] + s * d[1];
}

/* the middle of the arc, counted toward a point beside */
static double toward(const double a[3], const double b[3], const double beside[3], double radius, bool left) {
  const double arc = arc_between(a, b, radius, left), sign = left ? 1 : -1;
  const double angle = atan2(a[1], a[0]) + sign * (acos(radius / hypot(a[0], a[1])) + arc / 2);
  return arc < 0 ? -INFINITY : beside[0] * cos(angle) + beside[1] * sin(angle);
}

/* Whether the tendon goes around with all joints at zero, and on which side: the shorter way, or that of the side site.
   Points inside, and sides inside, are left out. */
static void place_wheel(const mbg__robot *robot, mbg__robot_place *p, const double before[3], const double behind[3]) {
  double a[3], b[3], beside[3] = {0}, near[2];
  mbg__frame H;
  const double radius = p->radius;
  p->radius = 0;
  if (!make_plane(robot, p, before, behind)) {
    mbg__report_add(robot->report, p->at, "left out", "<geom> in a tendon that goes through its centre");
    return;
  }
  place_in_world(robot, p->link, &p->in_link, false, &H);
  in_plane(&H, before, a);
  in_plane(&H, behind, b);
  if (p->side >= 0) {
    double point[3];
    point_in_world(robot, p->side, false, point);
    in_plane(&H, point, beside);
  }
  nearest(a, b, near);
  const bool crosses = hypot(near[0], near[1]) <= radius,
             other_side = p->side >= 0 && near[0] * beside[0] + near[1] * beside[1] < 0;
  if (hypot(a[0], a[1]) <= radius || hypot(b[0], b[1]) <= radius ||
      (p->side >= 0 && hypot(beside[0], beside[1]) < radius) || (!crosses && !other_side)) {
    mbg__report_add(robot->report, p->at, "approximated",
                    "<geom> that a tendon does not go around from outside with all joints at zero: it passes by");
    return;
  }
  p->left = p->side >= 0 ? toward(a, b, beside, radius, true) > toward(a, b, beside, radius, false)
                         : arc_between(a, b, radius, true) < arc_between(a, b, radius, false);
  p->radius = radius;
  mbg__report_add(robot->report, p->at, "approximated",
                  "a tendon around a <geom>: a pulley that it must not leave, in the plane of the start");
}

void mbg__robot_place_ropes(const mbg__robot *robot) {
  for (int i = 0; i < robot->nrope; i++) {
    const mbg__robot_rope *rope = &robot->ropes[i];
    for (int k = rope->first + 1; k < rope->first + rope->count - 1; k++) {
      mbg__robot_place *p = &robot->places[k];
      double before[3], behind[3];
      if (p->round) { /* always between two sites */
        point_in_world(robot, robot->places[k - 1].link, false, before);
        point_in_world(robot, robot->places[k + 1].link, false, behind);
        place_wheel(robot, p, before, behind);
      }
    }
  }
}

/* ---------------------------------------------------------------------- writing */

static void wheel_name(const mbg__robot *robot, const mbg__robot_rope *rope, int k, char out[300]) {
  (void)snprintf(out, 280, "tendon_%.240s_wheel%d", rope->word + 2, k - rope->first);
  for (int n = 2; mbg__robot_find_link(robot, out) >= 0 && n < 100; n++) {
    (void)snprintf(out, 290, "tendon_%.240s_wheel%d_%d", rope->word + 2, k - rope->first, n);
  }
}

void mbg__robot_write_rope_markers(const mbg__robot *robot, mbg__json_writer *w) {
  for (int i = 0; i < robot->nrope; i++) {
    const mbg__robot_rope *rope = &robot->ropes[i];
    for (int k = rope->first; k < rope->first + rope->count; k++) {
      const mbg__robot_place *p = &robot->places[k];
      const int body = p->link < 0 ? p->link : robot->links[p->link].body;
      mbg__frame world, H;
      char name[300];
      if (!p->round || !(p->radius > 0)) {
        continue;
      }
      place_in_world(robot, p->link, &p->in_link, false, &world);
      H = world;
      if (body >= 0) {
        frame_relative(&H, &robot->links[body].place, &world);
      }
      wheel_name(robot, rope, k, name);
      mbg__json_key(w, name);
      mbg__json_begin_object(w);
      mbg__json_key(w, "on");
      mbg__json_string(w, body < 0 ? "ground" : robot->links[body].word);
      mbg__robot_write_frame(w, "at", &H);
      mbg__json_end_object(w);
    }
  }
}

static void key_number(mbg__json_writer *w, const char *key, double value) {
  mbg__json_key(w, key);
  mbg__json_number(w, value);
}

static void key_string(mbg__json_writer *w, const char *key, const char *value) {
  mbg__json_key(w, key);
  mbg__json_string(w, value);
}

/* one place of "via" */
static void write_place(const mbg__robot *robot, mbg__json_writer *w, const mbg__robot_rope *rope, int k) {
  const mbg__robot_place *p = &robot->places[k];
  char name[300];
  if (!p->round) {
    mbg__json_string(w, robot->links[p->link].word);
  } else if (p->radius > 0) {
    wheel_name(robot, rope, k, name);
    mbg__json_begin_object(w);
    key_string(w, "pulley", name);
    key_number(w, "radius", p->radius);
    key_string(w, "side", p->left ? "left" : "right");
    mbg__json_end_object(w);
  }
}

/* members of "branches", with their ratios times a factor */
static void write_branches(const mbg__robot *robot, mbg__json_writer *w, const mbg__robot_rope *rope, double factor) {
  for (int k = rope->first; k < rope->first + rope->count; k++) {
    if (robot->places[k].begins) {
      mbg__json_begin_object(w);
      mbg__json_key(w, "via");
      mbg__json_begin_array(w);
    }
    write_place(robot, w, rope, k);
    if (k + 1 == rope->first + rope->count || robot->places[k + 1].begins) {
      mbg__json_end_array(w);
      key_number(w, "ratio", factor * robot->places[k].ratio);
      mbg__json_end_object(w);
    }
  }
}

static void write_path(const mbg__robot *robot, mbg__json_writer *w, const mbg__robot_rope *rope) {
  bool simple = robot->places[rope->first].ratio == 1;
  for (int k = rope->first + 1; k < rope->first + rope->count; k++) {
    simple = simple && !robot->places[k].begins;
  }
  mbg__json_key(w, simple ? "via" : "branches");
  mbg__json_begin_array(w);
  if (simple) {
    for (int k = rope->first; k < rope->first + rope->count; k++) {
      write_place(robot, w, rope, k);
    }
  } else {
    write_branches(robot, w, rope, 1);
  }
  mbg__json_end_array(w);
}

static bool has_actuator(const mbg__robot *robot, int rope) {
  bool found = false;
  for (int i = 0; i < robot->nactuator; i++) {
    found = found || robot->actuators[i].rope == rope;
  }
  return found;
}

static bool is_written(const mbg__robot *robot, int i) {
  const mbg__robot_rope *rope = &robot->ropes[i];
  return rope->pull.stiffness > 0 || rope->pull.damping > 0 || !isnan(rope->pull.upper) || !isnan(rope->pull.lower) ||
         rope->measured || has_actuator(robot, i);
}

static double rest_of(const mbg__robot *robot, const mbg__robot_rope *rope) {
  const mbg__robot_pull *pull = &rope->pull;
  if (!(pull->stiffness > 0) || pull->rest[0] != pull->rest[1]) {
    return 0;
  }
  return pull->at_first ? length_of(robot, rope, true) : pull->rest[0];
}

void mbg__robot_write_ropes(const mbg__robot *robot, mbg__json_writer *w, bool limits) {
  for (int i = 0; i < robot->nrope; i++) {
    const mbg__robot_rope *rope = &robot->ropes[i];
    const mbg__robot_pull *pull = &rope->pull;
    const bool slack = pull->rest[0] != pull->rest[1];
    const char *text = "";
    char name[300];
    mbg__buffer out;
    if (!is_written(robot, i)) {
      mbg__report_add(robot->report, rope->at, "left out", "tendon '%s': no force and no sensor has it", rope->name);
      continue;
    }
    (void)snprintf(name, sizeof(name), "tendon_%s", rope->word + 2);
    mbg__json_key(w, name);
    mbg__json_begin_object(w);
    key_string(w, "type", "elastic-tendon");
    write_path(robot, w, rope);
    key_number(w, "stiffness", slack ? 0 : pull->stiffness);
    key_number(w, "damping", pull->damping);
    key_number(w, "rest", rest_of(robot, rope));
    mbg__buffer_init(&out, robot->ctx);
    mbg__buffer_text(&out, "0");
    mbg__robot_write_slack(&out, pull, 1, 0, rope->word);
    if (limits) {
      mbg__robot_write_limits(robot, &out, pull, 1, 0, rope->word, rope->at);
    }
    mbg__robot_write_rope_drives(robot, &out, i);
    (void)mbg__buffer_finish(&out, &text, NULL);
    if (strcmp(text, "0") != 0) {
      key_string(w, "preload", text);
    }
    mbg__buffer_destroy(&out);
    mbg__json_end_object(w);
  }
}

void mbg__robot_write_rope_signals(const mbg__robot *robot, mbg__json_writer *w) {
  for (int i = 0; i < 2 * robot->nrope; i++) {
    const mbg__robot_rope *rope = &robot->ropes[i / 2];
    char name[300];
    if (!is_written(robot, i / 2)) {
      continue;
    }
    (void)snprintf(name, sizeof(name), "%s%s", rope->word, i % 2 ? "_rate" : "");
    mbg__json_key(w, name);
    mbg__json_begin_object(w);
    key_string(w, "type", "tendon");
    (void)snprintf(name, sizeof(name), "tendon_%s", rope->word + 2);
    key_string(w, "force", name);
    key_string(w, "quantity", i % 2 ? "rate" : "length");
    mbg__json_end_object(w);
  }
}

/* l = l0 + constant, or l + ratio l_other = l0 + ratio l0_other + constant */
void mbg__robot_write_rope_coupling(const mbg__robot *robot, mbg__json_writer *w, const mbg__robot_coupling *c) {
  const mbg__robot_rope *one = &robot->ropes[c->rope], *two = c->other < 0 ? NULL : &robot->ropes[c->other];
  mbg__json_key(w, c->word);
  mbg__json_begin_object(w);
  key_string(w, "type", "tendon");
  if (two) {
    mbg__json_key(w, "branches");
    mbg__json_begin_array(w);
    write_branches(robot, w, one, 1);
    write_branches(robot, w, two, c->ratio);
    mbg__json_end_array(w);
  } else {
    write_path(robot, w, one);
  }
  key_number(w, "length",
             length_of(robot, one, false) + (two ? c->ratio * length_of(robot, two, false) : 0) + c->constant);
  mbg__json_end_object(w);
}
