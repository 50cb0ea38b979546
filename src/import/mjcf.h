/* mjcf: what the files of this reader share: classes of defaults, orientations, inertia of geoms. */
#ifndef MBG_IMPORT_MJCF_H
#define MBG_IMPORT_MJCF_H

#include "import/robot.h"

typedef struct {
  const char *name; /* "main" for the outermost */
  int parent;       /* index, -1: none */
  const mbg__xml *at;
} mbg__mjcf_class;

typedef struct {
  mbg__robot *robot;
  const mbg__xml *root;
  int includes; /* files so far, and their bytes */
  size_t include_bytes;
  const char *meshdir;      /* folder of meshes, NULL: the file's own */
  mbg__mjcf_class *classes; /* owned */
  int nclass, most_classes;
  int main; /* the class of elements that name none, -1 without defaults */
  mbg__names class_names;
  double angle; /* radians of a unit of angle: 1, or pi/180 */
  char eulerseq[4];
  bool autolimits;
  enum { MBG__MJCF_AUTO, MBG__MJCF_GEOMS, MBG__MJCF_INERTIAL } inertia_from;
  double group_range[2]; /* geoms of these groups count */
  double boundmass, boundinertia, total_mass;
  int actuators, states; /* of the file, those that were left out, too */
} mbg__mjcf;

/* ---------------------------------------------------------------------- mjcf_defaults.c */

/* Puts the elements of included files in the place of <include>. */
int mbg__mjcf_include(mbg__mjcf *m, mbg__xml *root);
int mbg__mjcf_read_defaults(mbg__mjcf *m, const mbg__xml *root);

/* An element with the class that counts for it. */
typedef struct {
  const mbg__xml *at;
  const char *tag; /* under which defaults are given */
  int class;       /* -1: no defaults */
} mbg__mjcf_element;

/* class: the class of the element's surroundings (childclass), or NULL */
int mbg__mjcf_element_of(mbg__mjcf *m, const mbg__xml *at, const char *childclass, mbg__mjcf_element *out);
const char *mbg__mjcf_value(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *key);
/* n numbers of an attribute, or at least `least`; unchanged where there is none. */
int mbg__mjcf_numbers(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *key, int least, int n, double *out,
                      int *found);
int mbg__mjcf_number(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *key, double *out);

/* pos with quat, euler, axisangle, xyaxes or zaxis, in the body: <frame>s around it move it */
int mbg__mjcf_frame(const mbg__mjcf *m, const mbg__mjcf_element *e, mbg__frame *out);

/* The product of the <frame>s around an element inside of a body; the class for its children of the next one that has
   any, or the preset. */
int mbg__mjcf_outer_frame(const mbg__mjcf *m, const mbg__xml *at, mbg__frame *out);
const char *mbg__mjcf_childclass(const mbg__xml *at, const char *preset);
/* The next element in a body, and in its <frame>s, behind the last one (NULL: the first) of a tag (NULL: any). */
const mbg__xml *mbg__mjcf_inside(const mbg__xml *body, const char *tag, const mbg__xml *last);

/* R of a quaternion w x y z of any length but 0 */
void mbg__mjcf_turn(double R[9], const double q[4]);

/* mjcf_actuator.c, mjcf_tendon.c, mjcf_sensor.c: the sections <actuator>, <tendon> and <sensor> */
int mbg__mjcf_read_actuators(mbg__mjcf *m, const mbg__xml *root);
int mbg__mjcf_read_tendons(mbg__mjcf *m, const mbg__xml *root);
int mbg__mjcf_read_sensors(mbg__mjcf *m, const mbg__xml *root);
/* mjcf_equality.c: one section <equality> */
int mbg__mjcf_read_equality(mbg__mjcf *m, const mbg__xml *at);
/* a name by a format with a word and a number; NULL: no memory */
const char *mbg__mjcf_text(mbg__mjcf *m, const char *format, const char *name, int number);
/* mjcf_rope.c: <spatial> */
int mbg__mjcf_read_rope(mbg__mjcf *m, const mbg__xml *at, const char *name, const mbg__robot_pull *pull);
/* <joint> of one joint, and <tendon>, in <equality> */
int mbg__mjcf_hold_joint(mbg__mjcf *m, const mbg__xml *at, const char *name, int joint);
int mbg__mjcf_bind_joints(mbg__mjcf *m, const mbg__xml *at, const char *name, int j, int k, const double c[5]);
int mbg__mjcf_read_tendon_equality(mbg__mjcf *m, const mbg__xml *at, const char *name);

/* mjcf_inertia.c: stiffness and damping of `springdamper` and `dampratio`, once all masses are known */
int mbg__mjcf_take_ratios(mbg__mjcf *m);
/* mjcf_key.c: the keyframe robot->start; without one the report names those that are there */
int mbg__mjcf_read_keys(mbg__mjcf *m, const mbg__xml *root);

/* ---------------------------------------------------------------------- mjcf_geom.c */

/* Mass properties of a geom in axes of its body; zero for planes and what has no mass. */
int mbg__mjcf_geom_mass(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_mass *out);
/* mjcf_mesh.c: the same of a mesh of density 1, in axes of the geom. */
int mbg__mjcf_mesh_mass(mbg__mjcf *m, const mbg__mjcf_element *geom, mbg__robot_mass *out);
/* mjcf_figure.c: a plane that shapes touch; what pictures show of a geom. */
int mbg__mjcf_plane(mbg__mjcf *m, const mbg__mjcf_element *e);
int mbg__mjcf_geom_figure(mbg__mjcf *m, const mbg__mjcf_element *e, int link);
/* The <mesh> of a geom and its file below meshdir; NULL: it has none. */
int mbg__mjcf_find_mesh(mbg__mjcf *m, const mbg__mjcf_element *geom, mbg__mjcf_element *mesh, const char **file);
/* Half lengths, or a radius and a half length; from `fromto` where it is given. */
int mbg__mjcf_geom_size(const mbg__mjcf *m, const mbg__mjcf_element *e, const char *type, double size[3]);

/* mjcf_ball.c: numbers of ball and free joints; their bushings, when all links are known. */
int mbg__mjcf_read_free(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_joint *joint);
int mbg__mjcf_read_ball(mbg__mjcf *m, const mbg__mjcf_element *e, mbg__robot_joint *joint);
int mbg__mjcf_add_balls(mbg__mjcf *m);

#endif
