/* What the files of the generator share. Bodies are numbered from 0; -1 is the ground. */
#ifndef SUPPORT_RANDOM_INTERNAL_H
#define SUPPORT_RANDOM_INTERNAL_H

#include "base/base.h"
#include "math/se3.h"
#include "support/random_model.h"
#include "support/support.h"

enum {
  RM_NAME = 24, /* characters of a name */
  RM_BODIES = 12,
  RM_MARKERS = 80,
  RM_JOINTS = 32,
  RM_NAMES = 24,
  RM_LIST = 64, /* forces, signals */
  RM_RING = 96, /* strings that live at a time */
  RM_STRING = 2048
};

typedef enum { RM_SPATIAL, RM_PLANAR, RM_POINT, RM_PLANAR_POINT } rm_motion;

typedef enum {
  RM_FIXED,
  RM_REVOLUTE,
  RM_PRISMATIC,
  RM_CYLINDRICAL,
  RM_UNIVERSAL,
  RM_SPHERICAL,
  RM_PLANAR_JOINT,
  RM_SCREW,
  RM_DISTANCE,
  RM_ON_LINE,
  RM_ON_PLANE,
  RM_JOINT_TYPES
} rm_type;

/* A text that grows; entries of an object are separated by commas. */
typedef struct {
  char *at;
  size_t size, room;
} rm_text;

typedef struct {
  char text[RM_NAME]; /* as written in expressions */
  double value;
} rm_quantity;

typedef struct {
  char name[RM_NAME];
  rm_motion motion;
  mbg__frame H;   /* design */
  bool outer;     /* of the outer file: its frame is not known, markers on it are given in the world */
  int parent;     /* body that it was joined to */
  int free, turn; /* freedoms of that joint that nothing has taken; rotations among them */
  double mass;
  bool rotor;       /* spins: nothing else acts on it */
  bool modal;       /* frame and modes */
  int modes, nodes; /* 0 nodes: markers may be anywhere */
} rm_body;

typedef struct {
  char name[RM_NAME];
  int body;
  mbg__frame h; /* in the body */
} rm_marker;

typedef struct {
  char name[RM_NAME];
  rm_type type;
  int A, B;
  int edge;    /* body that it joined to the tree, or -1: it closed a loop */
  bool planar; /* both ends move in the plane */
  bool known;  /* q is its coordinates in the design configuration */
  double q[3];
  int stuck;     /* a coordinate that cannot move, or -1 */
  bool taken[3]; /* driven, coupled, pinned */
} rm_joint;

typedef struct {
  char name[RM_NAME];
  bool law;          /* a tension, not a wrench */
  int level;         /* signals: 0 time, 1 position, 2 velocity, 3 acceleration or reaction */
  bool plain;        /* signals: of a pair or coordinate, or made of these: fit for force laws */
  bool acceleration; /* signals: an acceleration */
} rm_item;

typedef struct {
  const random_model_options *opt;
  support_rng rng;
  bool part;          /* writes a part */
  const char *prefix; /* of the names of parameters */
  char ring[RM_RING][RM_STRING];
  int next;

  int nname;
  rm_quantity names[RM_NAMES];
  int nbody;
  rm_body bodies[RM_BODIES];
  int nmarker;
  rm_marker markers[RM_MARKERS];
  int pool, npool; /* markers for forces and signals: first and one beyond the last */
  int njoint;
  rm_joint joints[RM_JOINTS];
  int ndriver, ncoupling, npin, nroller, nguide, ncurve, nrope;
  int nforce;
  rm_item forces[RM_LIST];
  int nsignal;
  rm_item signals[RM_LIST];
  bool controls;

  rm_text parameters, constants, tables, control, body, marker, joint, driver, coupling, force, beam, signal, criteria,
      guess, pin, parts, state, curve;
} rm_gen;

/* ---------------------------------------------------------------------- random_text.c */

void rm_put(rm_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Begins the next entry of an object: a comma when there is one before, the name, a colon. */
void rm_entry(rm_text *text, const char *name);
/* A string of the ring, made by a format. */
const char *rm_string(rm_gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool rm_chance(rm_gen *g, double p);
double rm_between(rm_gen *g, double low, double high);
double rm_sign(rm_gen *g, double low, double high); /* of either sign */

/* An expression with the nominal value x that varies by about `scale` when a parameter varies by 1; the same as a value
   of JSON; without parameters. */
const char *rm_expression(rm_gen *g, double x, double scale);
const char *rm_number(rm_gen *g, double x, double scale);
const char *rm_name(rm_gen *g); /* of a parameter or constant, near 1 */
/* Three numbers as an array; zeros stay zeros. */
const char *rm_vec(rm_gen *g, const double x[3], double scale);
/* The same for points and directions in the world: moved with the model. */
const char *rm_world_point(rm_gen *g, const double x[3], double scale);
const char *rm_world_direction(rm_gen *g, const double n[3], double scale);
/* A value of "rotate" in one of its forms. A flat rotation, about z and then perhaps (edge-on) by 90 deg about y, stays
   one when the parameters vary. */
const char *rm_rotate(rm_gen *g, const double R[9]);
const char *rm_world_rotate(rm_gen *g, const double R[9]);
bool rm_is_flat(const double R[9]);
void rm_make_names(rm_gen *g);

/* ---------------------------------------------------------------------- random_bodies.c */

const mbg__frame *rm_frame(const rm_gen *g, int body);
const char *rm_body_name(const rm_gen *g, int body); /* "ground" for -1 */
bool rm_turns(const rm_gen *g, int body);            /* not a point */
/* Adds a marker with that frame on the body (written in body or world axes), returns its index. */
int rm_marker_add(rm_gen *g, int body, const mbg__frame *h);
void rm_marker_frame(const rm_gen *g, int marker, mbg__frame *H);
const char *rm_marker_name(const rm_gen *g, int marker);
const char *rm_ground(const rm_gen *g); /* name of a marker that is the ground's frame, moved with the model */
void rm_make_bodies(rm_gen *g);         /* with the joints of the tree */
void rm_make_part_bodies(rm_gen *g);
void rm_close_loops(rm_gen *g);
/* Freedoms on the path between two bodies, rotations among them; take > 0: as many are taken away. */
void rm_path(rm_gen *g, int A, int B, int take, int *free, int *turn);
bool rm_parents(const rm_gen *g, int A, int B); /* joined by the tree, or the same */
void rm_random_rotation(rm_gen *g, bool flat, double R[9]);
bool rm_in_plane(const rm_gen *g, int body); /* moves in the x-y plane, or is the ground */
/* A free coordinate of a joint of the tree with a known value, false when there is none; takes it; writes an object
   that names it and is left open; a function of time near q at t = 0. */
bool rm_find_coordinate(rm_gen *g, rm_joint **joint, int *k);
void rm_take(rm_gen *g, rm_joint *joint, int k);
void rm_put_coordinate(rm_gen *g, rm_text *text, const rm_joint *joint, int k);
const char *rm_law(rm_gen *g, double q);

/* random_rolling.c */
void rm_make_rollers(rm_gen *g);

/* random_guides.c */
void rm_make_guides(rm_gen *g); /* joints on curves and surfaces */

/* random_ropes.c */
void rm_make_ropes(rm_gen *g); /* tendons, couplings of rates and those with names, after the pool */

void rm_make_pool(rm_gen *g); /* markers for forces and signals */
void rm_make_drivers(rm_gen *g);
void rm_make_couplings(rm_gen *g);
void rm_make_pins(rm_gen *g);
void rm_make_guesses(rm_gen *g);
const char *rm_coordinate(rm_type type, int k); /* name of a free coordinate or NULL */
bool rm_coordinate_turns(rm_type type, int k);  /* an angle */

/* ---------------------------------------------------------------------- random_special.c */

bool rm_special(const rm_gen *g, unsigned bit);
/* False or NULL where the switches ask for nothing special. */
bool rm_special_offset(rm_gen *g, bool flat, double low, double high, double x[3]);
bool rm_special_rotation(rm_gen *g, bool flat, double R[9]);
const char *rm_special_rotate(rm_gen *g, const double R[9]);
bool rm_special_inertia(const rm_gen *g, double m, double J[9]);
double rm_special_mass(rm_gen *g, double m);
void rm_make_special_names(rm_gen *g);
void rm_make_reactions(rm_gen *g);
void rm_make_rotors(rm_gen *g);

/* ---------------------------------------------------------------------- random_forces.c */

void rm_make_controls(rm_gen *g);
void rm_make_forces(rm_gen *g);
/* Signals come in two steps: those that force laws use, then the rest. */
void rm_make_base_signals(rm_gen *g);
void rm_make_signals(rm_gen *g);
void rm_make_criteria(rm_gen *g);

/* ---------------------------------------------------------------------- random_beams.c */

void rm_make_beams(rm_gen *g);
const char *rm_section(rm_gen *g, int n);
const char *rm_series(rm_gen *g, int n, double x); /* a number of n elements */

/* ---------------------------------------------------------------------- random_states.c */

void rm_make_states(rm_gen *g);      /* after the signals that force laws use, before the forces */
void rm_make_late_states(rm_gen *g); /* after all signals */

/* ---------------------------------------------------------------------- random_modal.c */

void rm_put_modal(rm_gen *g, int body);
void rm_make_modal_signals(rm_gen *g);

#endif
