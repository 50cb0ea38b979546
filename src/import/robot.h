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
  mbg__frame at_start; /* in the world, and the twist in its own axes */
  double twist[6];
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
  double spring_time, spring_ratio; /* MJCF: give stiffness and damping by the inertia; 0: they do not */
  double zero;                      /* the coordinate of the format where the one of the model is 0 */
  mbg__frame moved;                 /* at the start: the joint's frame on the child seen from the parent's, */
  double twist[6];                  /* its twist in the child's */
  double start, start_rate;         /* and the coordinate of a hinge or slide */
  int mimic;                        /* -1: none; q = multiplier q_mimic + offset */
  double multiplier, offset;
  const mbg__xml *at;
} mbg__robot_joint;

/* Of what it touches others: bits as in MJCF, and its coefficient of friction. */
typedef struct {
  unsigned type, affinity;
  double friction;
} mbg__robot_touch;

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
  mbg__robot_touch touch;
} mbg__robot_figure;

/* A plane of the world, z its normal. */
typedef struct {
  mbg__frame place;
  mbg__robot_touch touch;
} mbg__robot_plane;

/* A spring and damper between two points, or a bushing between two frames. */
typedef struct {
  const char *name, *word;
  bool bushing;
  bool of_joint;                   /* its damping is left out with that of joints */
  int a, b;                        /* links, or the ground */
  mbg__frame in_a, in_b;           /* spring: x alone counts */
  double stiffness[6], damping[6]; /* bushing: translation, then rotation; spring: the first */
  double rest;                     /* spring; NAN: its length with all joints at zero */
  const mbg__xml *at;
} mbg__robot_tie;

/* The tension along a tendon of length l: k (l - rest) + c l', without k between both rests where they differ, and
   soft stops at its limits. */
typedef struct {
  double stiffness, damping;
  double rest[2];      /* as the format has it; -INFINITY: it never pushes */
  bool at_first;       /* a rope: it rests where the springs of the joints do */
  double lower, upper; /* NAN: none */
  bool turns;          /* a fixed one of hinges only: an angle, if anything */
} mbg__robot_pull;

/* A length l = sum of factor q over terms of joints, zero where the coordinates are zero. */
typedef struct {
  int joint;
  double factor;
  const char *law; /* of a coupling: a function of the coordinate x, NULL: x */
} mbg__robot_term;

typedef struct {
  const char *name, *word; /* word: for expressions */
  int first, count;        /* of its terms */
  mbg__robot_pull pull;
  double zero; /* what the format calls its length where l is zero */
  const mbg__xml *at;
} mbg__robot_tendon;

/* A place that a rope passes: the origin of a link, or something round. */
typedef struct {
  int link;
  bool begins;  /* the first one of a branch */
  double ratio; /* of its branch */
  bool round, ball;
  double radius;      /* 0: it passes by */
  mbg__frame in_link; /* of what is round: z along the axis */
  int side;           /* a link on the side on which the rope passes, -1: the shorter way */
  bool left;          /* the axis is to the left of the rope */
  const mbg__xml *at;
} mbg__robot_place;

/* A tendon in space. Its length is that of the path: the sum of ratio times length over branches. */
typedef struct {
  const char *name, *word;
  int first, count; /* of its places */
  mbg__robot_pull pull;
  bool measured; /* a sensor has it */
  const mbg__xml *at;
} mbg__robot_rope;

/* The sum of factor q over terms is a constant; or a rope, or one plus ratio times another, keeps its length at zero
   plus a constant. */
typedef struct {
  const char *name, *word;
  int first, count; /* count 0: ropes */
  int rope, other;  /* other -1: none */
  double ratio;
  double constant;
  const mbg__xml *at;
} mbg__robot_coupling;

/* A force gear (g y + b) on a joint, a tendon or a rope; g = g0 + g1 l + g2 l' and b likewise, l = gear q. Its input y
   is the control u, or a state: y' = (u - y)/lag, or y' = u. */
typedef struct {
  const char *name, *word; /* word: the control */
  int joint, tendon, rope; /* one of them is not -1 */
  double gear, gain[3], bias[3];
  double ratio; /* MJCF: damping ratio of a servo, gives bias[2] by the inertia; 0: it does not */
  enum { MBG__ROBOT_DIRECT, MBG__ROBOT_LAG, MBG__ROBOT_INTEGRATOR } dynamics;
  double lag;
  int state;             /* MJCF: number of its state among those of all actuators */
  int number;            /* and its own */
  double control, first; /* at the start: the control, the state */
  const mbg__xml *at;
} mbg__robot_actuator;

/* A signal: of a link, or of a joint. */
typedef struct {
  const char *name, *word;
  const char *type;      /* as in the model */
  const char *component; /* "x", "y", "z", NULL: a signal without components */
  int link, reference;   /* "of", "relative_to": links, or the ground */
  int joint;             /* -1: of a link */
  const char *axes;      /* "in", or NULL */
  const char *axis;      /* of a direction, or NULL */
  const char *value;     /* of an expression, or NULL */
  const mbg__xml *at;
} mbg__robot_signal;

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
  bool contacts; /* shapes touch planes */
  mbg__robot_plane *planes;
  int nplane, most_planes;
  double gravity[3];
  mbg__robot_actuator *actuators;
  int nactuator, most_actuators;
  mbg__robot_tie *ties;
  int ntie, most_ties;
  mbg__robot_term *terms; /* of tendons and couplings */
  int nterm, most_terms;
  mbg__robot_tendon *tendons;
  int ntendon, most_tendons;
  mbg__robot_place *places; /* of ropes */
  int nplace, most_places;
  mbg__robot_rope *ropes;
  int nrope, most_ropes;
  mbg__robot_coupling *couplings;
  int ncoupling, most_couplings;
  mbg__robot_signal *signals;
  int nsignal, most_signals;
  const char *start; /* the keyframe at which the model starts, NULL: all joints at zero */
} mbg__robot;

void mbg__robot_init(mbg__robot *robot, mbg_context *ctx, mbg__arena *arena, mbg__report *report, const char *file);
void mbg__robot_destroy(mbg__robot *robot);

/* Where a file or folder is that a file names (package://, model://, a path beside the file), or NULL. */
const char *mbg__robot_path(mbg__robot *robot, const char *file, const char *name);
/* The same of a mesh that the main file names. */
const char *mbg__robot_mesh_path(mbg__robot *robot, const char *name);

/* Puts one more item behind a list. Returns the list, which may have moved, or NULL when out of memory. */
void *mbg__robot_put(mbg_context *ctx, void *list, int *count, int *most, size_t size, const void *item);

/* One more link or joint; a name that is there already is an error. The pointer holds until the next one is added. */
int mbg__robot_add_link(mbg__robot *robot, const mbg__xml *at, const char *name, mbg__robot_link **out);
int mbg__robot_add_joint(mbg__robot *robot, const mbg__xml *at, const char *name, mbg__robot_joint **out);
/* One more figure; the report lists one without a size, and a mesh that is not there or cannot be read. */
int mbg__robot_add_figure(mbg__robot *robot, const mbg__xml *at, const mbg__robot_figure *figure);
/* Index of a link or joint, or -1. */
int mbg__robot_find_link(const mbg__robot *robot, const char *name);
int mbg__robot_find_joint(const mbg__robot *robot, const char *name);

/* A hinge or a slide. */
bool mbg__robot_is_single(const mbg__robot_joint *joint);

/* Adds the mass properties b, given in frame H of the axes of a. */
void mbg__robot_add_mass(mbg__robot_mass *a, const mbg__robot_mass *b, const mbg__frame *H);
/* Mass properties of a link that are given in frame H of its axes; a negative mass is an error at `at`. */
int mbg__robot_take_mass(const mbg__robot *robot, const mbg__xml *at, const mbg__robot_mass *given, const mbg__frame *H,
                         mbg__robot_mass *out);

/* Places all links, finds cycles and links that hang on nothing, merges links that are fixed to each other. */
int mbg__robot_finish(mbg__robot *robot, const mbg_import_options *options);

/* A word for expressions: prefix_name with letters, digits and _; a number where `taken` says so. NULL: no memory. */
const char *mbg__robot_expression_word(const mbg__robot *robot, const char *prefix, const char *name,
                                       bool (*taken)(const mbg__robot *robot, const char *word));

/* prefix_word, without '-': parameters and signals */
void mbg__robot_signal_name(char out[300], const char *prefix, const char *word);

/* The words of links and joints in the model; the report names those that differ from the file. */
int mbg__robot_make_words(const mbg__robot *robot);
/* out[i] for each of the known words in a list with commas or blanks; a message names the option of another one. */
int mbg__robot_take_words(mbg_context *ctx, const char *option, const char *list, const char *const *known, int n,
                          bool *out);

/* robot_actuators.c: one more; "controls" and "states" of the model file, and members of "forces". */
int mbg__robot_add_actuator(mbg__robot *robot, const mbg__robot_actuator *actuator);
void mbg__robot_write_controls(const mbg__robot *robot, mbg__json_writer *w);
void mbg__robot_write_states(const mbg__robot *robot, mbg__json_writer *w);
void mbg__robot_write_actuators(const mbg__robot *robot, mbg__json_writer *w);
/* their tension in a rope, behind other terms */
void mbg__robot_write_rope_drives(const mbg__robot *robot, mbg__buffer *out, int rope);

/* robot_ties.c: one more; members of "markers" and "forces". */
int mbg__robot_add_tie(mbg__robot *robot, const mbg__robot_tie *tie);
void mbg__robot_write_tie_markers(const mbg__robot *robot, mbg__json_writer *w);
/* damping: with that of joints */
void mbg__robot_write_ties(const mbg__robot *robot, mbg__json_writer *w, bool damping);

/* robot_tendons.c: terms, then the tendon or coupling that has the last `count` of them; members of "couplings",
   "signals" and "forces". */
int mbg__robot_add_term(mbg__robot *robot, int joint, double factor, const char *law);
int mbg__robot_add_tendon(mbg__robot *robot, const mbg__robot_tendon *tendon);
int mbg__robot_add_coupling(mbg__robot *robot, const mbg__robot_coupling *coupling);
int mbg__robot_find_tendon(const mbg__robot *robot, const char *name); /* -1: none */
void mbg__robot_write_tendon_couplings(const mbg__robot *robot, mbg__json_writer *w);
void mbg__robot_write_tendon_signals(const mbg__robot *robot, mbg__json_writer *w);
void mbg__robot_write_tendons(const mbg__robot *robot, mbg__json_writer *w, bool limits);
/* + c*word, where c is not zero */
void mbg__robot_write_sum(mbg__buffer *out, double c, const char *word);
/* + factor*tension of a spring with slack, and of limits; the word is the length, zero what the format adds to it */
void mbg__robot_write_slack(mbg__buffer *out, const mbg__robot_pull *pull, double factor, double zero,
                            const char *word);
void mbg__robot_write_limits(const mbg__robot *robot, mbg__buffer *out, const mbg__robot_pull *pull, double factor,
                             double zero, const char *word, const mbg__xml *at);

/* robot_ropes.c: places, then the rope that has the last `count` of them; where they go around, once the links have
   their places; members of "markers", "couplings", "signals" and "forces". */
int mbg__robot_add_place(mbg__robot *robot, const mbg__robot_place *place);
int mbg__robot_add_rope(mbg__robot *robot, const mbg__robot_rope *rope);
int mbg__robot_find_rope(const mbg__robot *robot, const char *name); /* -1: none */
void mbg__robot_place_ropes(const mbg__robot *robot);
void mbg__robot_write_rope_markers(const mbg__robot *robot, mbg__json_writer *w);
void mbg__robot_write_rope_coupling(const mbg__robot *robot, mbg__json_writer *w, const mbg__robot_coupling *coupling);
void mbg__robot_write_rope_signals(const mbg__robot *robot, mbg__json_writer *w);
void mbg__robot_write_ropes(const mbg__robot *robot, mbg__json_writer *w, bool limits);

/* robot_start.c: places and twists of the links at the start, which come after those that carry them; "initial". */
void mbg__robot_find_start(mbg__robot *robot);
void mbg__robot_write_start(const mbg__robot *robot, mbg__json_writer *w, bool rotors);

/* robot_signals.c: one more; members of "signals". */
int mbg__robot_add_signal(mbg__robot *robot, const mbg__robot_signal *signal);
void mbg__robot_write_signals(const mbg__robot *robot, mbg__json_writer *w);

/* The model file. */
int mbg__robot_write(const mbg__robot *robot, const mbg_import_options *options, char **text);

/* robot_contacts.c: one more plane; planes as markers, and groups of "contacts" of the links that touch them. */
int mbg__robot_add_plane(mbg__robot *robot, const mbg__robot_plane *plane);
void mbg__robot_write_plane_markers(const mbg__robot *robot, mbg__json_writer *w);
void mbg__robot_write_contacts(const mbg__robot *robot, mbg__json_writer *w);

/* robot_figures.c: a frame as "rotate" and a place under a key; the figures of a link as "shape". */
void mbg__robot_write_frame(mbg__json_writer *w, const char *place, const mbg__frame *H);
void mbg__robot_write_figures(const mbg__robot *robot, mbg__json_writer *w, int link);

/* R = Rz(yaw) Ry(pitch) Rx(roll), as URDF and SDF have it */
void mbg__robot_rpy(double R[9], const double rpy[3]);

/* Reads a file by the reader of its format. */
int mbg__robot_read(mbg__robot *robot, mbg__xml *root);

/* The readers: one for each format. */
int mbg__robot_read_urdf(mbg__robot *robot, const mbg__xml *root);
int mbg__robot_read_sdf(mbg__robot *robot, mbg__xml *root);  /* and so */
int mbg__robot_read_mjcf(mbg__robot *robot, mbg__xml *root); /* puts included files into the tree */

#endif
