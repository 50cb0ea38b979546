/* mbgrad: small vibrations of a model about an equilibrium, its start, or a steady motion: frequencies, damping,
   shapes, and their derivatives by the parameters. */
#ifndef MBGRAD_MODES_H
#define MBGRAD_MODES_H

#include "mbgrad/model.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- solving */

/* What the equations are linearized about. Drivers are held at the value that they have at the start of the run. */
typedef enum {
  MBG_MODES_EQUILIBRIUM, /* the static equilibrium near the start */
  MBG_MODES_START,       /* the start with its rates, and the accelerations that follow: matrices of this instant */
  MBG_MODES_STEADY       /* everything turns and moves as one rigid body, at the rates of the start: in balance with the
                            centrifugal forces, with gyroscopic terms */
} mbg_modes_at;

/* "equilibrium", "start", "steady"; NULL when there is none. find: -1 when unknown. */
MBG_API const char *mbg_modes_at_name(int at);
MBG_API int mbg_modes_at_find(const char *name);

typedef struct {
  const double *parameters; /* the whole parameter vector (referenced); NULL: the values of the file */
  mbg_modes_at at;
  int count;     /* most modes, the lowest ones, besides those that are zero; 0: 10 */
  bool undamped; /* leave damping out; not about a motion */
  bool gradient; /* derivatives by the parameters, too */
} mbg_modes_options;

MBG_API mbg_modes_options mbg_modes_options_default(void); /* equilibrium, 10 modes, with damping, no derivatives */

/* The result. It refers to the model, which must outlive it; all arrays and texts below belong to it. */
typedef struct mbg_modes mbg_modes;

/* Linearizes and solves

     (s^2 M + s C + K) x + B^T xi = 0,   B x = 0

   on the independent constraints; K has the geometric terms of constraints and forces. opt may be NULL (defaults).
   Returns 0, or a negative code with the message in the context: MBG_ERROR_CONVERGENCE when there is no equilibrium
   near the start, MBG_ERROR_INPUT when the motion asked for is none, MBG_ERROR_SINGULAR when a freedom has neither
   inertia nor stiffness. */
MBG_API int mbg_modes_solve(mbg_context *ctx, const mbg_model *model, const mbg_modes_options *opt, mbg_modes **out);
MBG_API void mbg_modes_destroy(mbg_modes *modes); /* accepts NULL */

/* ---------------------------------------------------------------------- summary */

typedef struct {
  const char *model;
  mbg_modes_at at;
  double time;        /* s: at which drivers and laws were evaluated */
  int freedoms;       /* unknowns - independent constraints */
  int redundant;      /* constraints left out */
  int massless;       /* freedoms without inertia: they have no mode of their own */
  int count;          /* modes in the list */
  int zero, unstable; /* of them */
  bool damped;        /* the general problem with complex modes was solved; else K and M alone, symmetric */
  const char *solver; /* "dense" or "shift-invert" */
  int iterations;     /* of the equilibrium */
  int parameters;     /* entries of the gradients: the parameter vector */
  bool gradient;
  int bodies; /* of a shape */
  int lines;  /* of the picture */
} mbg_modes_summary;

MBG_API const mbg_modes_summary *mbg_modes_summary_of(const mbg_modes *modes);

/* ---------------------------------------------------------------------- modes */

typedef enum {
  MBG_MODE_OSCILLATION,
  MBG_MODE_DECAY,   /* real and negative: creeps back without oscillation */
  MBG_MODE_ZERO,    /* no stiffness: a motion that costs no energy */
  MBG_MODE_UNSTABLE /* grows */
} mbg_mode_kind;

MBG_API const char *mbg_mode_kind_name(mbg_mode_kind kind);

typedef struct {
  mbg_mode_kind kind;
  double re, im;    /* s, 1/s; of a pair the one with im > 0 */
  double frequency; /* Hz: |s|/(2 pi), 0 when it does not oscillate */
  double damping;   /* ratio -re/|s| */
  int multiplicity; /* modes with this same eigenvalue (to 1e-9), itself included */
  int first;        /* the first of them */
  int body;         /* the one with the largest share of the kinetic energy, -1: none */
  double share;
} mbg_mode;

/* index: from 0 to the count in the summary; ascending |s|, unstable ones of a symmetric problem first. */
MBG_API const mbg_mode *mbg_mode_at(const mbg_modes *modes, int index);

/* Shape: displacement of the origin and rotation vector of every body, in world axes (bodies x 6); the largest entry is
   1 when rotations are multiplied by the model's size. part 0: real, 1: imaginary part (NULL when there is none). */
MBG_API const double *mbg_mode_shape(const mbg_modes *modes, int index, int part);

/* Derivatives by every parameter, or NULL: of the frequency [Hz], of the damping ratio, of s (part 0: re, 1: im). The
   shift of the equilibrium is part of them. For repeated eigenvalues they are those of the branches into which each
   parameter alone, when it grows, splits the eigenvalue: ascending, a set for each parameter. Zero modes have none.
   NAN: not differentiable, or the parameter ends the equilibrium (it pushes along a motion that nothing holds). */
MBG_API const double *mbg_mode_frequency_gradient(const mbg_modes *modes, int index);
MBG_API const double *mbg_mode_damping_gradient(const mbg_modes *modes, int index);
MBG_API const double *mbg_mode_eigenvalue_gradient(const mbg_modes *modes, int index, int part);

/* ---------------------------------------------------------------------- picture */

/* Frame of a body where the equations were linearized: position and name. */
MBG_API const double *mbg_modes_position(const mbg_modes *modes, int body);
MBG_API const char *mbg_modes_body(const mbg_modes *modes, int body);

/* A line of the mechanism between two points fixed on bodies (-1: the ground); x in world axes. */
typedef struct {
  enum { MBG_LINE_BODY, MBG_LINE_BEAM, MBG_LINE_FORCE } kind;
  int body[2];
  double x[2][3];
} mbg_modes_line;
MBG_API const mbg_modes_line *mbg_modes_line_at(const mbg_modes *modes, int index);

/* Point x (world axes) of a body, displaced by `amplitude` times a mode at the phase [rad] of its oscillation: x +
   re((u + theta x r) exp(i phase)). */
MBG_API void mbg_mode_displace(const mbg_modes *modes, int index, double amplitude, double phase, int body,
                               const double x[3], double out[3]);

/* The whole result as JSON (keys: docs/program.md). *text is yours: mbg_text_destroy. Returns 0 or MBG_ERROR_MEMORY. */
MBG_API int mbg_modes_json(mbg_context *ctx, const mbg_modes *modes, char **text);

#ifdef __cplusplus
}
#endif

#endif
