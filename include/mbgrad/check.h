/* mbgrad: inspection of a model: degrees of freedom, redundant constraints, the assembled start, and lists of its
   parts. */
#ifndef MBGRAD_CHECK_H
#define MBGRAD_CHECK_H

#include "mbgrad/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- checking a model */

/* The result of a check. The model is referenced. */
typedef struct mbg_check mbg_check;

typedef struct {
  size_t size;              /* of this structure: set by mbg_check_options_default */
  const double *parameters; /* mbg_model_parameter_count; NULL: the nominal values */
} mbg_check_options;

MBG_API void mbg_check_options_default(mbg_check_options *options, size_t size);

/* Evaluates the model at the parameters, assembles its start, finds redundant constraints and initial accelerations.
   MBG_ERROR_INPUT when the mechanism cannot be assembled or pins contradict each other. Oddities that are no errors
   become warnings of the result. */
MBG_API int mbg_check_create(mbg_context *ctx, const mbg_model *model, const mbg_check_options *options,
                             mbg_check **out);
MBG_API void mbg_check_destroy(mbg_check *check);

/* ---------------------------------------------------------------------- summary */

/* How the start was found. Residuals of positions are displacements relative to the model's size; residuals of rates
   are in m/s and rad/s. */
typedef struct {
  const char *method;              /* "assemble", "exact" or "equilibrium" */
  double time;                     /* s */
  int iterations;                  /* of the assembly */
  double guess_residual, residual; /* largest position residual: of the guess, of the result */
  double guess_rate_residual, rate_residual;
  const char *worst;              /* the row with the largest violation by the guess; NULL without violation */
  double most_moved, most_turned; /* m, rad: largest distance of a body from its guess */
  int free_positions, free_rates; /* freedoms that neither constraints nor pins determine */
  bool depends_on_metric;         /* bodies were moved while freedoms are unpinned */
} mbg_check_start;

typedef struct {
  const char *model, *note; /* note: "" without one */
  int unknowns;             /* velocities of all bodies */
  int constraints;          /* rows of joints, drivers, couplings */
  int rank;                 /* independent rows */
  int redundant;            /* constraints - rank */
  int degrees_of_freedom;   /* unknowns - rank: of rates */
  int bodies, joints, drivers, couplings, forces, parameters, signals, criteria, links,
      warnings;                            /* lengths of the lists below */
  int attributes;                          /* every number of the model: mbg_run_gradient_all */
  int parameter_entries;                   /* length of the parameter vector */
  double size;                             /* m: extent of the design configuration */
  double mass;                             /* kg */
  double kinetic_energy, potential_energy; /* J, at the start */
  bool accelerations;                      /* initial accelerations and reactions are determined */
  mbg_check_start start;
  int states;            /* first-order states beside the mechanism; not among the unknowns */
  int position_freedoms; /* unknowns - independent rows of positions; more than degrees_of_freedom with rolling */
} mbg_check_summary;

MBG_API const mbg_check_summary *mbg_check_get_summary(const mbg_check *check);

/* ---------------------------------------------------------------------- lists */

/* The summary has the counts. Lists are in the order of the file; an index out of range gives NULL. */

typedef struct {
  const char *name, *motion; /* motion: "spatial", "planar", "point", "planar-point" */
  int freedoms;              /* 6, 3, 3, 2 */
  double mass;
  double position[3], rotation[3];         /* of the frame at the start; rotation vector */
  double velocity[3], angular_velocity[3]; /* of the frame at the start, in world axes */
  double moved, turned;                    /* m, rad: from the guess */
  bool connected;                          /* a path of joints leads to the ground */
} mbg_check_body;
MBG_API const mbg_check_body *mbg_check_get_body(const mbg_check *check, int index);

/* A free coordinate of a joint. */
typedef struct {
  const char *name, *unit; /* "angle", "rad" */
  double value, rate;
  const char *driver; /* name of its driver, or NULL */
} mbg_check_coordinate;

typedef struct {
  const char *name, *type;
  const char *bodies[2]; /* "ground" or a body */
  int rows, redundant;   /* constraint rows, and the redundant ones among them */
  bool closes_loop;      /* not in the tree of the mechanism */
  int coordinates;
  const mbg_check_coordinate *coordinate; /* (coordinates) */
} mbg_check_joint;
MBG_API const mbg_check_joint *mbg_check_get_joint(const mbg_check *check, int index);

typedef struct {
  const char *name, *joint, *coordinate, *law; /* law: as written */
  double value, rate;                          /* of the coordinate at the start */
} mbg_check_driver;
MBG_API const mbg_check_driver *mbg_check_get_driver(const mbg_check *check, int index);

MBG_API const char *mbg_check_coupling(const mbg_check *check, int index); /* name */

typedef struct {
  const char *name, *type;
  const char *bodies[2];
  const char *joint;          /* of a force along a joint coordinate; else NULL */
  const char *along;          /* coordinate of a force along a coordinate; else NULL */
  double length, tension;     /* value of that coordinate, force along it */
  double force[3], torque[3]; /* on the second body at its marker, in the marker's axes */
} mbg_check_force;
MBG_API const mbg_check_force *mbg_check_get_force(const mbg_check *check, int index);

typedef struct {
  const char *name, *unit, *note; /* unit, note: "" when not given */
  int count;                      /* entries */
  bool vector;                    /* written name[i] */
  const double *values;           /* (count) */
  double min, max;                /* infinite when not given */
  int uses;                       /* attributes that depend on it */
  const char *decides;            /* place of a comparison or sign that it decides, without derivative; "": none */
} mbg_check_parameter;
MBG_API const mbg_check_parameter *mbg_check_get_parameter(const mbg_check *check, int index);

typedef struct {
  const char *name, *type;
  double value;    /* at the start; NAN when not determined */
  bool determined; /* false: an acceleration or reaction without a unique value at the start */
} mbg_check_signal;
MBG_API const mbg_check_signal *mbg_check_get_signal(const mbg_check *check, int index);

typedef struct {
  const char *name, *kind; /* kind: "terminal", "integral", ... */
} mbg_check_criterion;
MBG_API const mbg_check_criterion *mbg_check_get_criterion(const mbg_check *check, int index);

/* The mechanism as a tree: one link per body, parents before children, then one per joint that closes a loop. */
typedef enum {
  MBG_LINK_JOINT, /* `joint` connects the body to `parent` */
  MBG_LINK_FREE,  /* the body has no path to the ground: root of its component */
  MBG_LINK_LOOP   /* `joint` closes a loop between `body` and `parent` */
} mbg_link_kind;
typedef struct {
  mbg_link_kind kind;
  int depth;                 /* 1: on the ground, or free */
  const char *body, *parent; /* names; parent NULL when free */
  int joint;                 /* index, -1 when free */
  const char *beam;          /* the body is a node of this beam, else NULL */
} mbg_check_link;
MBG_API const mbg_check_link *mbg_check_get_link(const mbg_check *check, int index);

/* Redundant constraints by name: "joint 'crank' row x3". */
MBG_API const char *mbg_check_redundant(const mbg_check *check, int index);

/* Warnings, which the context of mbg_check_create received as well. */
MBG_API const char *mbg_check_warning(const mbg_check *check, int index);

/* ---------------------------------------------------------------------- for programs */

/* The whole result as JSON (keys: docs/program.md). */
MBG_API int mbg_check_json(mbg_context *ctx, const mbg_check *check, char **text);

#ifdef __cplusplus
}
#endif

#endif
