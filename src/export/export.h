/* export: a model as links and joints of a tree with loops, and the files that are made of it. */
#ifndef MBG_EXPORT_EXPORT_H
#define MBG_EXPORT_EXPORT_H

#include "import/robot.h"
#include "io/json_write.h"
#include "mbgrad/export.h"
#include "model/design.h"

typedef struct {
  const char *name;
  int link; /* or the ground */
  mbg__frame at;
} mbg__export_marker;

/* Links are the bodies of the model; link->place is where a body stands with all joints at zero. Each link has one
   joint that carries it, from its parent; joints that close loops come in between. */
typedef struct {
  const mbg_model *model;
  mbg__robot robot;
  mbg__export_marker *markers;
  int nmarker;
  double size; /* of the model, for numbers that are zero but for rounding */
} mbg__export;

/* ---------------------------------------------------------------------- export_model.c */

/* The model at parameters p. What no robot has is refused by its name; what the formats do not have (signals, other
   forces) goes into the report. Everything lives in the arena or belongs to x->robot. */
int mbg__export_read(mbg_context *ctx, mbg__arena *arena, mbg__report *report, const mbg_model *m, const double *p,
                     mbg__export *x);

/* Coordinates of a joint that can have springs, limits and friction: one of an angle or a length. */
static inline bool mbg__export_has_coordinate(const mbg__robot_joint *j) {
  return j->kind == MBG__ROBOT_REVOLUTE || j->kind == MBG__ROBOT_PRISMATIC || j->kind == MBG__ROBOT_SCREW;
}

/* ---------------------------------------------------------------------- export_xml.c */

/* key="1 2 3", a blank before it. Places and directions have a scale: they are rounded to 1e-14 of it, so that 0.1 is
   not 0.10000000000000002; scale 0: exactly these numbers. */
void mbg__export_numbers(mbg__buffer *out, const char *key, const double *values, int n, double scale);
void mbg__export_number(mbg__buffer *out, const char *key, double value);
/* key="text", with what XML wants. */
void mbg__export_text(mbg__buffer *out, const char *key, const char *text);
/* line break and two blanks for each level */
void mbg__export_line(mbg__buffer *out, int level);
/* angles of R = Rz(yaw) Ry(pitch) Rx(roll), good at every R */
void mbg__export_rpy(const double R[9], double rpy[3]);
/* w x y z */
void mbg__export_quaternion(const double R[9], double q[4]);

/* ---------------------------------------------------------------------- the formats */

int mbg__export_urdf(const mbg__export *x, mbg__buffer *out);
int mbg__export_mjcf(mbg__export *x, mbg__buffer *out);
/* The file `path` with masses, damping, friction and stiffness of the model; everything else stays letter by letter. */
int mbg__export_into(mbg_context *ctx, mbg__arena *arena, const mbg__export *x, const char *path, mbg__buffer *out);

#endif
