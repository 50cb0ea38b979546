/* robot: links and joints as URDF, SDF and MJCF have them, before they become a model of mbgrad. Readers fill it;
   robot.c places the links, merges those that are fixed to each other; robot_write.c writes the model file. */
#ifndef MBG_IMPORT_ROBOT_H
#define MBG_IMPORT_ROBOT_H

#include "import/names.h"
#include "import/report.h"
#include "import/xml.h"
#include "io/json_write.h"
#include "math/se3.h"
#include "mbgrad/import.h"

enum { MBG__ROBOT_GROUND = -1 };

typedef enum {
  MBG__ROBOT_FIXED,
  MBG__ROBOT_REVOLUTE,
  MBG__ROBOT_PRISMATIC,
  MBG__ROBOT_CYLINDRICAL,
  MBG__ROBOT_UNIVERSAL,
  MBG__ROBOT_SPHERICAL,
  MBG__ROBOT_PLANAR,
  MBG__ROBOT_SCREW,
  MBG__ROBOT_FREE
} mbg__robot_kind;

/* Mass properties in axes of the link; the inertia xx yy zz xy xz yz is about the centre of mass. */
typedef struct {
  double mass, com[3], inertia[6];
} mbg__robot_mass;

typedef struct {
  const char *name;           /* as in the file */
  const char *word;           /* as in the model: letters, digits, _ and - */
  mbg__robot_mass own, total; /* total: with the links that are merged into it */
  mbg__frame place;           /* in the world, all joints at zero */
  int joint;                  /* that carries it; -1: root */
  int body;                   /* the link it moves with after merging; MBG__ROBOT_GROUND */
  bool placed;
  const mbg__xml *at;
} mbg__robot_link;

typedef struct {
  const char *name, *word;
  mbg__robot_kind kind;
  int parent, child;              /* links, or the ground */
  mbg__frame in_parent, in_child; /* the frame of the joint on both sides */
  double axis[3], axis2[3];       /* in the frame of the joint */
  double pitch;                   /* screw: metres per radian */
  bool loop;                      /* closes a loop: places no link */
  bool anchored;                  /* only in_parent is given; in_child is where it is with all joints at zero */
  double lower, upper;            /* NAN: none */
  double effort;                  /* 0: unknown */
  double damping, friction, stiffness, rest, armature;
  double zero; /* the coordinate of the format where the one of the model is 0 */
  int mimic;   /* -1: none; q = multiplier q_mimic + offset */
  double multiplier, offset;
  const mbg__xml *at;
} mbg__robot_joint;

/* What pictures show on a link. */
typedef enum {
  MBG__ROBOT_BOX,
  MBG__ROBOT_CYLINDER,
  MBG__ROBOT_BALL,
  MBG__ROBOT_CAPSULE,
  MBG__ROBOT_MESH,
  MBG__ROBOT_FORMS
} mbg__robot_form;

typedef struct {
  int link;
  mbg__robot_form form;
  double size[3];   /* edges | radius, length along z (capsule: between the centres of its ends) | factors of a mesh */
  mbg__frame place; /* in the link */
  const char *file; /* MESH: as written, then where it is */
  double rgba[4];   /* from 0 to 1; rgba[0] < 0: none */
} mbg__robot_figure;

/* A force gear (gain u + bias0 + bias1 l + bias2 l') on a joint, l = gear q, with a control u. */
typedef struct {
  const char *name, *word; /* word: the control */
  int joint;
  double gear, gain, bias[3];
  const mbg__xml *at;
} mbg__robot_actuator;

typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  mbg__report *report;
  const char *file, *name;
  mbg__robot_link *links;
  mbg__robot_joint *joints;
  mbg__names link_names, joint_names;
  int nlink, njoint, most_links, most_joints;
  mbg__robot_figure *figures;
  int nfigure, most_figures;
  double gravity[3];
  mbg__robot_actuator *actuators;
  int nactuator, most_actuators;
} mbg__robot;

void mbg__robot_init(mbg__robot *robot, mbg_context *ctx, mbg__arena *arena, mbg__report *report, const char *file);
void mbg__robot_destroy(mbg__robot *robot);

/* Where the mesh is that a file names (package://, a path beside the file), or NULL. */
const char *mbg__robot_mesh_path(mbg__robot *robot, const char *name);

/* One more link or joint; a name that is there already is an error. The pointer holds until the next one is added. */
int mbg__robot_add_link(mbg__robot *robot, const mbg__xml *at, const char *name, mbg__robot_link **out);
int mbg__robot_add_joint(mbg__robot *robot, const mbg__xml *at, const char *name, mbg__robot_joint **out);
/* One more figure; the report lists one without a size, and a mesh that is not there or cannot be read. */
int mbg__robot_add_figure(mbg__robot *robot, const mbg__xml *at, const mbg__robot_figure *figure);
/* Index of a link or joint, or -1. */
int mbg__robot_find_link(const mbg__robot *robot, const char *name);
int mbg__robot_find_joint(const mbg__robot *robot, const char *name);

/* Adds the mass properties b, given in frame H of the axes of a. */
void mbg__robot_add_mass(mbg__robot_mass *a, const mbg__robot_mass *b, const mbg__frame *H);
/* Mass properties of a link that are given in frame H of its axes; a negative mass is an error at `at`. */
int mbg__robot_take_mass(const mbg__robot *robot, const mbg__xml *at, const mbg__robot_mass *given, const mbg__frame *H,
                         mbg__robot_mass *out);

/* Places all links, finds cycles and links that hang on nothing, merges links that are fixed to each other. */
int mbg__robot_finish(mbg__robot *robot, const mbg_import_options *options);

/* The words of links and joints in the model; the report names those that differ from the file. */
int mbg__robot_make_words(const mbg__robot *robot);
/* out[i] for each of the known words in a list with commas or blanks; a message names the option of another one. */
int mbg__robot_take_words(mbg_context *ctx, const char *option, const char *list, const char *const *known, int n,
                          bool *out);

/* robot_actuators.c: one more; "controls" of the model file, and members of "forces". */
int mbg__robot_add_actuator(mbg__robot *robot, const mbg__robot_actuator *actuator);
void mbg__robot_write_controls(const mbg__robot *robot, mbg__json_writer *w);
void mbg__robot_write_actuators(const mbg__robot *robot, mbg__json_writer *w);

/* The model file. */
int mbg__robot_write(const mbg__robot *robot, const mbg_import_options *options, char **text);

/* robot_figures.c: a frame as "rotate" and a place under a key; the figures of a link as "shape". */
void mbg__robot_write_frame(mbg__json_writer *w, const char *place, const mbg__frame *H);
void mbg__robot_write_figures(const mbg__robot *robot, mbg__json_writer *w, int link);

/* R = Rz(yaw) Ry(pitch) Rx(roll), as URDF and SDF have it */
void mbg__robot_rpy(double R[9], const double rpy[3]);

/* Reads a file by the reader of its format. */
int mbg__robot_read(mbg__robot *robot, mbg__xml *root);

/* The readers: one for each format. */
int mbg__robot_read_urdf(mbg__robot *robot, const mbg__xml *root);
int mbg__robot_read_sdf(mbg__robot *robot, const mbg__xml *root);
int mbg__robot_read_mjcf(mbg__robot *robot, mbg__xml *root); /* puts included files into the tree */

#endif
