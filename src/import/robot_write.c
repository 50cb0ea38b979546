#include "import/robot.h"
#include "io/json_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MASS, COM, INERTIA, DAMPING, FRICTION, STIFFNESS, CLASSES };

static const char *const class_words[CLASSES] = {"mass", "com", "inertia", "damping", "friction", "stiffness"};
static const char *const kind_words[] = {"fixed",     "revolute", "prismatic", "cylindrical", "universal",
                                         "spherical", "planar",   "screw",     "free"};

typedef struct {
  const mbg__robot *robot;
  mbg__json_writer w;
  bool parameter[CLASSES], limits, damping, friction, armature;
} writer;

/* ---------------------------------------------------------------------- names */

static const char *body_word(const mbg__robot *robot, int link) {
  const int body = link < 0 ? MBG__ROBOT_GROUND : robot->links[link].body;
  return body < 0 ? "ground" : robot->links[body].word;
}

/* ---------------------------------------------------------------------- values */

static void key_number(writer *w, const char *key, double value) {
  mbg__json_key(&w->w, key);
  mbg__json_number(&w->w, value);
}

static void key_string(writer *w, const char *key, const char *value) {
  mbg__json_key(&w->w, key);
  mbg__json_string(&w->w, value);
}

static void key_numbers(writer *w, const char *key, const double *values, int n) {
  mbg__json_key(&w->w, key);
  mbg__json_numbers(&w->w, values, n);
}

/* a number of a class: itself, or the name of its parameter */
static void key_class(writer *w, const char *key, int class, const char *word, double value) {
  if (!w->parameter[class]) {
    key_number(w, key, value);
    return;
  }
  char name[300];
  mbg__robot_signal_name(name, class_words[class], word);
  key_string(w, key, name);
}

static void key_class_vector(writer *w, const char *key, int class, const char *word, const double *values, int n) {
  char name[300], entry[320];
  if (!w->parameter[class]) {
    key_numbers(w, key, values, n);
    return;
  }
  mbg__robot_signal_name(name, class_words[class], word);
  mbg__json_key(&w->w, key);
  mbg__json_begin_array(&w->w);
  for (int i = 0; i < n; i++) {
    (void)snprintf(entry, sizeof(entry), "%s[%d]", name, i);
    mbg__json_string(&w->w, entry);
  }
  mbg__json_end_array(&w->w);
}

static void begin(writer *w, const char *key) {
  mbg__json_key(&w->w, key);
  mbg__json_begin_object(&w->w);
}

static void end(writer *w) { mbg__json_end_object(&w->w); }

/* ---------------------------------------------------------------------- parameters */

static bool is_body(const mbg__robot *robot, int l) { return robot->links[l].body == l; }

static void parameter(writer *w, int class, const char *word, const double *values, int n, const char *unit) {
  char name[300];
  mbg__robot_signal_name(name, class_words[class], word);
  begin(w, name);
  if (n > 1) {
    key_numbers(w, "value", values, n);
  } else {
    key_number(w, "value", values[0]);
    key_number(w, "min", 0);
  }
  key_string(w, "unit", unit);
  end(w);
}

static bool turns(const mbg__robot_joint *j) { return j->kind != MBG__ROBOT_PRISMATIC; }

static bool has_coordinate(const mbg__robot_joint *j) {
  return j->kind == MBG__ROBOT_REVOLUTE || j->kind == MBG__ROBOT_PRISMATIC || j->kind == MBG__ROBOT_SCREW;
}

static bool has_damper(const writer *w, const mbg__robot_joint *j) {
  return has_coordinate(j) && ((w->damping && j->damping > 0) || j->stiffness > 0);
}

static bool has_friction(const writer *w, const mbg__robot_joint *j) {
  return has_coordinate(j) && w->friction && j->friction > 0;
}

static void write_parameters(writer *w) {
  const mbg__robot *robot = w->robot;
  begin(w, "parameters");
  for (int l = 0; l < robot->nlink; l++) {
    const mbg__robot_link *link = &robot->links[l];
    const double *values[3] = {&link->total.mass, link->total.com, link->total.inertia};
    static const char *const units[3] = {"kg", "m", "kg m^2"};
    static const int count[3] = {1, 3, 6};
    for (int c = MASS; c <= INERTIA && is_body(robot, l); c++) {
      if (w->parameter[c]) {
        parameter(w, c, link->word, values[c], count[c], units[c]);
      }
    }
  }
  for (int j = 0; j < robot->njoint; j++) {
    const mbg__robot_joint *joint = &robot->joints[j];
    if (w->parameter[DAMPING] && has_damper(w, joint)) {
      parameter(w, DAMPING, joint->word, &joint->damping, 1, turns(joint) ? "N m s" : "N s/m");
    }
    if (w->parameter[STIFFNESS] && has_damper(w, joint)) {
      parameter(w, STIFFNESS, joint->word, &joint->stiffness, 1, turns(joint) ? "N m" : "N/m");
    }
    if (w->parameter[FRICTION] && has_friction(w, joint)) {
      parameter(w, FRICTION, joint->word, &joint->friction, 1, turns(joint) ? "N m" : "N");
    }
  }
  end(w);
}

/* ---------------------------------------------------------------------- bodies, markers, joints */

/* Armature a adds a q'^2/2 to the kinetic energy: a rotor on the ground whose angle is the coordinate of the joint. */
static bool has_rotor(const writer *w, const mbg__robot_joint *j) {
  return w->armature && j->armature > 0 && has_coordinate(j) && !j->loop;
}

static void rotor_word(char out[300], const mbg__robot_joint *j) { (void)snprintf(out, 300, "%s_rotor", j->word); }

static void write_rotor(writer *w, const mbg__robot_joint *joint) {
  const double inertia[3] = {joint->armature / 2, joint->armature / 2, joint->armature};
  char word[300];
  rotor_word(word, joint);
  begin(w, word);
  key_number(w, "mass", joint->armature);
  key_numbers(w, "inertia", inertia, 3);
  mbg__json_key(&w->w, "shape"); /* is not seen */
  mbg__json_numbers(&w->w, inertia, 0);
  end(w);
  mbg__report_add(w->robot->report, joint->at, "note", "armature is a rotor on the ground that turns with its joint");
}

/* Some files have moments that no body can have: the principal ones must not exceed the sum of the others. The largest
   is above trace/2 then: trace/2 E - J has a negative eigenvalue. */
static bool is_impossible(const double I[6]) {
  const double half = (I[0] + I[1] + I[2]) / 2, a = half - I[0], b = half - I[1], c = half - I[2];
  const double minor = a * b - I[3] * I[3], other = a * c - I[4] * I[4], last = b * c - I[5] * I[5];
  const double det = a * last - I[3] * (I[3] * c + I[4] * I[5]) - I[4] * (I[3] * I[5] + I[4] * b), tiny = 1e-9 * half;
  return a < -tiny || b < -tiny || c < -tiny || minor < -tiny * half || other < -tiny * half || last < -tiny * half ||
         det < -tiny * half * half;
}

static void write_bodies(writer *w) {
  const mbg__robot *robot = w->robot;
  begin(w, "bodies");
  for (int l = 0; l < robot->nlink; l++) {
    const mbg__robot_link *link = &robot->links[l];
    if (!is_body(robot, l)) {
      continue;
    }
    begin(w, link->word);
    key_class(w, "mass", MASS, link->word, link->total.mass);
    key_class_vector(w, "com", COM, link->word, link->total.com, 3);
    key_class_vector(w, "inertia", INERTIA, link->word, link->total.inertia, 6);
    if (is_impossible(link->total.inertia)) {
      key_string(w, "moments", "any");
      mbg__report_add(
          robot->report, link->at, "note",
          "the inertia of '%s' is one that no body can have: a principal moment exceeds the sum of the others",
          link->name);
    }
    mbg__robot_write_frame(&w->w, "position", &link->place);
    mbg__robot_write_figures(robot, &w->w, l);
    end(w);
  }
  for (int j = 0; j < robot->njoint; j++) {
    if (has_rotor(w, &robot->joints[j])) {
      write_rotor(w, &robot->joints[j]);
    }
  }
  end(w);
}

/* the frame of a joint in the world, on the side of its parent or child */
static void joint_frame(const mbg__robot *robot, const mbg__robot_joint *joint, bool child, mbg__frame *H) {
  const int link = child ? joint->child : joint->parent;
  const mbg__frame *on = child ? &joint->in_child : &joint->in_parent;
  if (link < 0) {
    *H = *on;
  } else {
    frame_mul(H, &robot->links[link].place, on);
  }
}

static void joint_marker(char out[300], const mbg__robot_joint *joint, bool child) {
  (void)snprintf(out, 300, "%s_%s", joint->word, child ? "b" : "a");
}

/* axes of a marker of a joint: z along the axis; universal: x along the first axis and y along the second */
static void joint_axes(const mbg__robot_joint *joint, double R[9]) {
  double z[3], x[3], y[3];
  if (joint->kind == MBG__ROBOT_UNIVERSAL) {
    v3_copy(x, joint->axis);
    v3_copy(y, joint->axis2);
    v3_cross(z, x, y);
  } else {
    const double *a = joint->axis;
    const double least = fmin(fabs(a[0]), fmin(fabs(a[1]), fabs(a[2])));
    const double other[3] = {fabs(a[0]) == least, fabs(a[0]) != least && fabs(a[1]) == least,
                             fabs(a[0]) != least && fabs(a[1]) != least};
    v3_copy(z, a);
    v3_cross(y, z, other);
    v3_scale(y, 1 / v3_norm(y), y);
    v3_cross(x, y, z);
  }
  for (int i = 0; i < 3; i++) {
    R[3 * i] = x[i];
    R[3 * i + 1] = y[i];
    R[3 * i + 2] = z[i];
  }
}

static void write_loop_marker(writer *w, const mbg__robot_joint *joint, bool child) {
  const int link = child ? joint->child : joint->parent, body = link < 0 ? link : w->robot->links[link].body;
  char name[300];
  mbg__frame at, H, ground;
  double R[9], turned[9];
  joint_marker(name, joint, child);
  joint_frame(w->robot, joint, child, &at);
  frame_identity(&ground);
  frame_relative(&H, body < 0 ? &ground : &w->robot->links[body].place, &at);
  joint_axes(joint, R);
  m3_mul(turned, H.R, R);
  memcpy(H.R, turned, sizeof(turned));
  begin(w, name);
  key_string(w, "on", body_word(w->robot, link));
  mbg__robot_write_frame(&w->w, "at", &H);
  end(w);
}

static void write_markers(writer *w) {
  const mbg__robot *robot = w->robot;
  begin(w, "markers");
  for (int l = 0; l < robot->nlink; l++) {
    const mbg__robot_link *link = &robot->links[l];
    mbg__frame H = link->place;
    if (is_body(robot, l)) {
      continue;
    }
    if (link->body >= 0) {
      frame_relative(&H, &robot->links[link->body].place, &link->place);
    }
    begin(w, link->word);
    key_string(w, "on", body_word(robot, l));
    mbg__robot_write_frame(&w->w, "at", &H);
    mbg__robot_write_figures(robot, &w->w, l);
    end(w);
  }
  for (int j = 0; j < robot->njoint; j++) {
    for (int side = 0; side < 2 && robot->joints[j].loop; side++) {
      write_loop_marker(w, &robot->joints[j], side == 1);
    }
  }
  mbg__robot_write_tie_markers(robot, &w->w);
  mbg__robot_write_rope_markers(robot, &w->w);
  mbg__robot_write_plane_markers(robot, &w->w);
  end(w);
}

static void write_between(writer *w, const char *a, const char *b) {
  mbg__json_key(&w->w, "between");
  mbg__json_begin_array(&w->w);
  mbg__json_string(&w->w, a);
  mbg__json_string(&w->w, b);
  mbg__json_end_array(&w->w);
}

static void write_joint(writer *w, const mbg__robot_joint *joint) {
  const mbg__robot *robot = w->robot;
  mbg__frame H;
  double axis[3];
  begin(w, joint->word);
  key_string(w, "type", kind_words[joint->kind]);
  if (joint->loop) {
    char a[300], b[300];
    joint_marker(a, joint, false);
    joint_marker(b, joint, true);
    write_between(w, a, b);
    mbg__json_key(&w->w, "cut");
    mbg__json_boolean(&w->w, true);
  } else {
    write_between(w, body_word(robot, joint->parent), body_word(robot, joint->child));
    joint_frame(robot, joint, false, &H);
    key_numbers(w, "at", H.x, 3);
    if (joint->kind != MBG__ROBOT_FIXED && joint->kind != MBG__ROBOT_SPHERICAL) {
      m3_mulv(axis, H.R, joint->axis);
      key_numbers(w, "axis", axis, 3);
    }
    if (joint->kind == MBG__ROBOT_UNIVERSAL) {
      m3_mulv(axis, H.R, joint->axis2);
      key_numbers(w, "axis2", axis, 3);
    }
  }
  if (joint->kind == MBG__ROBOT_SCREW) {
    key_number(w, "pitch", joint->pitch);
  }
  end(w);
}

/* a joint between two bodies of the model; those inside a merged body have gone */
static bool is_joint(const mbg__robot *robot, const mbg__robot_joint *joint) {
  const int a = joint->parent < 0 ? joint->parent : robot->links[joint->parent].body,
            b = joint->child < 0 ? joint->child : robot->links[joint->child].body;
  return joint->kind != MBG__ROBOT_FREE && a != b;
}

static void write_joints(writer *w) {
  begin(w, "joints");
  for (int j = 0; j < w->robot->njoint; j++) {
    if (is_joint(w->robot, &w->robot->joints[j])) {
      write_joint(w, &w->robot->joints[j]);
    }
  }
  for (int j = 0; j < w->robot->njoint; j++) {
    static const double origin[3] = {0, 0, 0}, z[3] = {0, 0, 1};
    char word[300];
    if (has_rotor(w, &w->robot->joints[j])) {
      rotor_word(word, &w->robot->joints[j]);
      begin(w, word);
      key_string(w, "type", "revolute");
      write_between(w, "ground", word);
      key_numbers(w, "at", origin, 3);
      key_numbers(w, "axis", z, 3);
      end(w);
    }
  }
  end(w);
}

static void write_term(writer *w, const char *joint, double factor) {
  mbg__json_begin_object(&w->w);
  key_string(w, "joint", joint);
  key_number(w, "factor", factor);
  mbg__json_end_object(&w->w);
}

static void write_coupling(writer *w, const char *name, const char *other, double factor, double constant) {
  begin(w, name);
  mbg__json_key(&w->w, "terms");
  mbg__json_begin_array(&w->w);
  write_term(w, name, 1);
  write_term(w, other, -factor);
  mbg__json_end_array(&w->w);
  key_number(w, "constant", constant);
  end(w);
}

static bool has_coupling(const writer *w) {
  for (int j = 0; j < w->robot->njoint; j++) {
    if (w->robot->joints[j].mimic >= 0 || has_rotor(w, &w->robot->joints[j])) {
      return true;
    }
  }
  return w->robot->ncoupling > 0;
}

static void write_couplings(writer *w) {
  const mbg__robot *robot = w->robot;
  if (!has_coupling(w)) {
    return;
  }
  begin(w, "couplings");
  for (int j = 0; j < robot->njoint; j++) {
    const mbg__robot_joint *joint = &robot->joints[j];
    if (joint->mimic >= 0) {
      write_coupling(w, joint->word, robot->joints[joint->mimic].word, joint->multiplier, joint->offset);
    }
    if (has_rotor(w, joint)) {
      char word[300];
      rotor_word(word, joint);
      write_coupling(w, word, joint->word, 1, 0);
    }
  }
  mbg__robot_write_tendon_couplings(robot, &w->w);
  end(w);
}

/* ---------------------------------------------------------------------- forces, signals, run */

static void begin_force(writer *w, const mbg__robot_joint *joint, const char *what, const char *type) {
  char name[300];
  (void)snprintf(name, sizeof(name), "%s_%s", joint->word, what);
  begin(w, name);
  key_string(w, "type", type);
  key_string(w, "joint", joint->word);
}

/* A limit becomes a soft stop: the effort of the joint, or 10 N m (1000 N), at a depth of 5 degrees (5 mm). Its damping
   c = 1 ms k stays small beside what it pushes, so that it hardly pulls when the joint leaves it: at a rate v by
   4 c^3 v^3/(k w)^2 at most. */
static void write_stop(writer *w, const mbg__robot_joint *joint) {
  const double width = turns(joint) ? 0.08726646259971647 : 5e-3;
  const double force = joint->effort > 0 ? joint->effort : turns(joint) ? 10 : 1000, stiffness = 2 * force / width;
  begin_force(w, joint, "stop", "stop");
  if (isfinite(joint->lower)) {
    key_number(w, "lower", joint->lower);
  }
  if (isfinite(joint->upper)) {
    key_number(w, "upper", joint->upper);
  }
  key_number(w, "stiffness", stiffness);
  key_number(w, "width", width);
  key_number(w, "damping", 0.001 * stiffness);
  end(w);
  mbg__report_add(w->robot->report, joint->at, "approximated",
                  "limits of joints are soft stops; their stiffness is not in the file");
}

/* numbers that belong to one coordinate, of joints with several */
static void report_dynamics(const writer *w, const mbg__robot_joint *j) {
  const bool several =
      j->kind == MBG__ROBOT_UNIVERSAL || j->kind == MBG__ROBOT_PLANAR || j->kind == MBG__ROBOT_CYLINDRICAL;
  const bool limited = isfinite(j->lower) || isfinite(j->upper);
  if (several && (limited || j->damping > 0 || j->friction > 0 || j->stiffness > 0)) {
    mbg__report_add(w->robot->report, j->at, "left out", "limits, springs, damping and friction of %s joints",
                    kind_words[j->kind]);
  }
}

static void write_forces(writer *w) {
  const mbg__robot *robot = w->robot;
  begin(w, "forces");
  for (int j = 0; j < robot->njoint; j++) {
    const mbg__robot_joint *joint = &robot->joints[j];
    if (!is_joint(robot, joint)) {
      continue;
    }
    report_dynamics(w, joint);
    if (has_damper(w, joint)) {
      begin_force(w, joint, "damper", turns(joint) ? "torsion-spring-damper" : "spring-damper");
      if (joint->stiffness > 0) {
        key_class(w, "stiffness", STIFFNESS, joint->word, joint->stiffness);
        key_number(w, "rest", joint->rest);
      }
      key_class(w, "damping", DAMPING, joint->word, w->damping ? joint->damping : 0);
      end(w);
    }
    if (has_friction(w, joint)) {
      begin_force(w, joint, "friction", "friction");
      key_class(w, "torque", FRICTION, joint->word, joint->friction);
      key_number(w, "rate_scale", 0.01);
      end(w);
      mbg__report_add(robot->report, joint->at, "approximated",
                      "dry friction is smooth: it is fully there from a rate of about 0.02 on");
    }
    if (has_coordinate(joint) && w->limits && (isfinite(joint->lower) || isfinite(joint->upper))) {
      write_stop(w, joint);
    }
  }
  mbg__robot_write_ties(robot, &w->w, w->damping);
  mbg__robot_write_tendons(robot, &w->w, w->limits);
  mbg__robot_write_ropes(robot, &w->w, w->limits);
  mbg__robot_write_actuators(robot, &w->w);
  end(w);
}

static void write_signal(writer *w, const char *prefix, const char *type, const char *joint) {
  char name[300];
  mbg__robot_signal_name(name, prefix, joint);
  begin(w, name);
  key_string(w, "type", type);
  key_string(w, "joint", joint);
  end(w);
}

static bool has_loop(const writer *w) {
  for (int j = 0; j < w->robot->njoint; j++) {
    if (w->robot->joints[j].loop) {
      return true;
    }
  }
  return has_coupling(w);
}

static void write_rest(writer *w) {
  const mbg__robot *robot = w->robot;
  begin(w, "signals");
  for (int j = 0; j < robot->njoint; j++) {
    if (is_joint(robot, &robot->joints[j]) && has_coordinate(&robot->joints[j])) {
      write_signal(w, "q", "coordinate", robot->joints[j].word);
      write_signal(w, "w", "rate", robot->joints[j].word);
    }
  }
  mbg__robot_write_tendon_signals(robot, &w->w);
  mbg__robot_write_rope_signals(robot, &w->w);
  mbg__robot_write_signals(robot, &w->w);
  begin(w, "kinetic");
  key_string(w, "type", "kinetic-energy");
  end(w);
  end(w);
  begin(w, "criteria");
  begin(w, "motion");
  key_string(w, "integral", "kinetic");
  end(w);
  end(w);
  begin(w, "run");
  key_string(w, "formulation", has_loop(w) ? "ali3p" : "dca");
  key_number(w, "end", 1);
  key_number(w, "step", 0.001);
  end(w);
}

/* ---------------------------------------------------------------------- options */

static int take_options(writer *w, const mbg_import_options *options) {
  static const char *const left_out[] = {"limits", "damping", "friction", "armature"};
  bool without[4] = {false, false, false, false};
  int err = mbg__robot_take_words(w->robot->ctx, "parameters", options->parameters, class_words, CLASSES, w->parameter);
  if (err == MBG_OK) {
    err = mbg__robot_take_words(w->robot->ctx, "without", options->without, left_out, 4, without);
  }
  w->limits = !without[0];
  w->damping = !without[1];
  w->friction = !without[2];
  w->armature = !without[3];
  return err;
}

int mbg__robot_write(const mbg__robot *robot, const mbg_import_options *options, char **text) {
  writer w = {.robot = robot};
  char note[512];
  const char *name = strrchr(robot->file, '/');
  int err = MBG_OK;
  mbg__json_writer_init(&w.w, robot->ctx, true);
  MBG_TRY(take_options(&w, options));
  MBG_TRY(mbg__robot_make_words(robot));
  mbg__robot_place_ropes(robot);
  mbg__json_begin_object(&w.w);
  mbg__json_key(&w.w, "mbgrad");
  mbg__json_integer(&w.w, 1);
  key_string(&w, "name", robot->name);
  mbg__format(note, sizeof(note), "imported from %.400s", name ? name + 1 : robot->file);
  key_string(&w, "note", note);
  write_parameters(&w);
  mbg__robot_write_controls(robot, &w.w);
  mbg__robot_write_states(robot, &w.w);
  key_numbers(&w, "gravity", robot->gravity, 3);
  write_bodies(&w);
  write_markers(&w);
  write_joints(&w);
  write_couplings(&w);
  write_forces(&w);
  mbg__robot_write_contacts(robot, &w.w);
  mbg__robot_write_start(robot, &w.w, w.armature);
  write_rest(&w);
  mbg__json_end_object(&w.w);
  err = mbg__json_writer_hand_over(&w.w, text);
done:
  mbg__json_writer_destroy(&w.w);
  return err;
}
