/* mbgrad: what a model is: degrees of freedom, redundant constraints, the assembled start, and everything in it. */
#ifndef MBGRAD_CHECK_H
#define MBGRAD_CHECK_H

#include "mbgrad/model.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- checking a model */

/* The result of a check. It refers to the model, which must outlive it; all texts and arrays below belong to it. */
typedef struct mbg_check mbg_check;

typedef struct {
  const double *parameters; /* the whole parameter vector (referenced); NULL: the values of the file */
} mbg_check_options;

MBG_API mbg_check_options mbg_check_options_default(void);

/* Evaluates the model at the parameters, assembles its start, finds redundant constraints and initial accelerations.
   opt may be NULL (defaults). Returns 0, or a negative code with the message in the context: MBG_ERROR_INPUT when the
   mechanism cannot be assembled or pins contradict each other. What is odd but no error is a warning of the result. */
MBG_API int mbg_check_model(mbg_context *ctx, const mbg_model *model, const mbg_check_options *opt, mbg_check **out);
MBG_API void mbg_check_destroy(mbg_check *check); /* accepts NULL */

/* ---------------------------------------------------------------------- summary */

/* How the start came about. Residuals of positions are displacements relative to the model's size, those of rates are
   as they stand (m/s, rad/s). */
typedef struct {
  const char *method;              /* "assemble", "exact" or "equilibrium" */
  double time;                     /* s */
  int iterations;                  /* of the assembly */
  double guess_residual, residual; /* largest one of positions: of the guess, of the result */
  double guess_rate_residual, rate_residual;
  const char *worst;              /* row that the guess violates most, NULL when there is none */
  double most_moved, most_turned; /* m, rad: largest distance of a body from its guess */
  int free_positions, free_rates; /* freedoms that neither constraints nor pins determine */
  bool depends_on_metric;         /* bodies were moved while freedoms are unpinned */
} mbg_check_start;

typedef struct {
  const char *model, *note; /* note: "" when the file has none */
  int unknowns;             /* velocities of all bodies */
  int constraints;          /* rows of joints, drivers, couplings */
  int rank;                 /* independent ones */
  int redundant;            /* constraints - rank */
  int degrees_of_freedom;   /* unknowns - rank */
  int bodies, joints, drivers, couplings, forces, parameters, signals, criteria, links,
      warnings;                            /* lengths of the lists below */
  int attributes;                          /* numbers of the model that a gradient can refer to */
  int parameter_entries;                   /* length of the parameter vector */
  double size;                             /* m: extent of the design configuration */
  double mass;                             /* kg */
  double kinetic_energy, potential_energy; /* J, at the start */
  bool accelerations;                      /* initial accelerations and reactions are determined */
  mbg_check_start start;
} mbg_check_summary;

MBG_API const mbg_check_summary *mbg_check_summary_of(const mbg_check *check);

/* ---------------------------------------------------------------------- lists */

/* Functions NAME_at take an index from 0 to the count in the summary. Order: that of the file. */

typedef struct {
  const char *name, *motion; /* motion: "spatial", "planar", "point", "planar-point" */
  int freedoms;              /* 6, 3, 3, 2 */
  double mass;
  double position[3], rotation[3];         /* of the frame at the start; rotation vector */
  double velocity[3], angular_velocity[3]; /* of the frame at the start, in world axes */
  double moved, turned;                    /* m, rad: from the guess */
  bool connected;                          /* a path of joints leads to the ground */
} mbg_check_body;
MBG_API const mbg_check_body *mbg_check_body_at(const mbg_check *check, int index);

/* A free coordinate of a joint. */
typedef struct {
  const char *name, *unit; /* "angle", "rad" */
  double value, rate;
  const char *driver; /* what prescribes it, or NULL */
} mbg_check_coordinate;

typedef struct {
  const char *name, *type;
  const char *bodies[2]; /* "ground" or a body */
  int rows, redundant;   /* constraints, and how many of them are redundant */
  bool closes_loop;      /* not in the tree of the mechanism */
  int coordinates;
  const mbg_check_coordinate *coordinate; /* (coordinates) */
} mbg_check_joint;
MBG_API const mbg_check_joint *mbg_check_joint_at(const mbg_check *check, int index);

typedef struct {
  const char *name, *joint, *coordinate, *law; /* law: as written */
  double value, rate;                          /* of the coordinate at the start */
} mbg_check_driver;
MBG_API const mbg_check_driver *mbg_check_driver_at(const mbg_check *check, int index);

MBG_API const char *mbg_check_coupling_at(const mbg_check *check, int index); /* its name */

typedef struct {
  const char *name, *type;
  const char *bodies[2];
  const char *joint;          /* a force along a coordinate of a joint; else NULL */
  const char *along;          /* a force along a coordinate; else NULL */
  double length, tension;     /* of that coordinate, along it */
  double force[3], torque[3]; /* on the second body at its marker, in the marker's axes */
} mbg_check_force;
MBG_API const mbg_check_force *mbg_check_force_at(const mbg_check *check, int index);

typedef struct {
  const char *name, *unit, *note; /* unit, note: "" when not given */
  int count;                      /* entries */
  bool vector;                    /* written name[i] */
  const double *values;           /* (count) */
  double min, max;                /* infinite when not given */
  int uses;                       /* numbers of the model that depend on it */
} mbg_check_parameter;
MBG_API const mbg_check_parameter *mbg_check_parameter_at(const mbg_check *check, int index);

typedef struct {
  const char *name, *type;
  double value;    /* at the start; NaN when not determined */
  bool determined; /* false: an acceleration or reaction that has no unique value at the start */
} mbg_check_signal;
MBG_API const mbg_check_signal *mbg_check_signal_at(const mbg_check *check, int index);

typedef struct {
  const char *name, *kind; /* kind: "terminal", "integral", ... */
} mbg_check_criterion;
MBG_API const mbg_check_criterion *mbg_check_criterion_at(const mbg_check *check, int index);

/* The mechanism as a tree: one link per body, before those that hang on it, then one per joint that closes a loop. */
typedef enum {
  MBG_LINK_JOINT, /* the body hangs on `parent` by `joint` */
  MBG_LINK_FREE,  /* the body has no path to the ground and stands for others that hang on it */
  MBG_LINK_LOOP   /* `joint` closes a loop between `body` and `parent` */
} mbg_link_kind;
typedef struct {
  mbg_link_kind kind;
  int depth;                 /* 1: on the ground, or free */
  const char *body, *parent; /* names; parent NULL when free */
  int joint;                 /* index, -1 when free */
  const char *beam;          /* the body is a node of this beam, else NULL */
} mbg_check_link;
MBG_API const mbg_check_link *mbg_check_link_at(const mbg_check *check, int index);

/* Redundant constraints by name ("joint 'crank' row x3"), index from 0 to summary.redundant - 1. */
MBG_API const char *mbg_check_redundant_at(const mbg_check *check, int index);

/* Warnings; the context of mbg_check_model got them too, and a note when start.depends_on_metric. */
MBG_API const char *mbg_check_warning_at(const mbg_check *check, int index);

/* ---------------------------------------------------------------------- for programs */

/* The whole result as JSON (keys: docs/program.md). *text is yours: mbg_text_destroy. Returns 0 or MBG_ERROR_MEMORY. */
MBG_API int mbg_check_json(mbg_context *ctx, const mbg_check *check, char **text);

#ifdef __cplusplus
}
#endif

#endif
