/* sdf: what the files of this reader share: scopes of names, poses, included files. */
#ifndef MBG_IMPORT_SDF_H
#define MBG_IMPORT_SDF_H

#include "import/robot.h"

enum { MBG__SDF_DEPTH_MAX = 50, MBG__SDF_STEPS_MAX = 1000000 };

typedef struct {
  mbg__robot *robot;
  const mbg__xml *model; /* whose names count; NULL: none */
  const char *prefix;    /* "arm::" of a nested model, "" otherwise */
  mbg__frame place;      /* of the model in the world */
  bool fixed;            /* <static>: its links are fixed to the ground */
  int *steps;            /* from frame to frame, of the whole file: bounded */
} mbg__sdf_scope;

/* The text of a child, NULL without one; prefix and name in one word, NULL when out of memory. */
const char *mbg__sdf_text(const mbg__xml *at, const char *name);
const char *mbg__sdf_join(mbg__robot *robot, const char *prefix, const char *name);

/* ---------------------------------------------------------------------- sdf_pose.c */

/* A link, joint, frame or nested model of a model by its name, of n letters; NULL: none. */
const mbg__xml *mbg__sdf_named(const mbg__xml *model, const char *name, size_t n);
/* The nested model in which a name is to be looked for, and the rest of the name there: "arm::hand" in "arm", and a
   name of a model that is merged into this one. NULL: here. */
const mbg__xml *mbg__sdf_nested(const mbg__sdf_scope *s, const char *name, const char **rest);
/* The scope of a nested model, without its place. */
int mbg__sdf_enter(const mbg__sdf_scope *s, const mbg__xml *model, mbg__sdf_scope *out);

/* Six numbers; the identity without an element or text. */
int mbg__sdf_read_pose(mbg__robot *robot, const mbg__xml *pose, mbg__frame *out);
/* <pose relative_to="..."> of an element in the model's frame; without relative_to the preset frame counts. */
int mbg__sdf_pose(const mbg__sdf_scope *s, const mbg__xml *element, const char *preset, mbg__frame *out, int depth);
/* The frame of that name in the model's frame. */
int mbg__sdf_frame(const mbg__sdf_scope *s, const mbg__xml *at, const char *name, mbg__frame *out, int depth);
/* The frame of a nested model in the frame of s: its pose is that of its placement_frame, where it has one. */
int mbg__sdf_model_frame(const mbg__sdf_scope *s, const mbg__xml *model, mbg__frame *out, int depth);

/* ---------------------------------------------------------------------- sdf_include.c */

/* Puts the model of another file in the place of each <include>, with the name, pose, placement frame and <static> that
   this gives it. */
int mbg__sdf_include(mbg__robot *robot, mbg__xml *root);

#endif
