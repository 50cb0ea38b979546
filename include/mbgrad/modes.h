/* mbgrad: small vibrations about an equilibrium, the start, or a steady motion: frequencies, damping, shapes, and their
   derivatives by the parameters. */
#ifndef MBGRAD_MODES_H
#define MBGRAD_MODES_H

#include "mbgrad/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- solving */

/* Point of linearization. Drivers keep their value at the start of the run. */
typedef enum {
  MBG_MODES_EQUILIBRIUM, /* the static equilibrium near the start */
  MBG_MODES_START,       /* the start with its rates and the resulting accelerations: matrices of this instant */
  MBG_MODES_STEADY       /* all bodies turn and move as one rigid body, at the rates of the start: in balance with the
                            centrifugal forces, with gyroscopic terms. With constraints on rates: the motion of the
                            start, in which wheels spin, when it goes on unchanged */
} mbg_modes_at;

/* "equilibrium", "start", "steady"; NULL for an unknown value. The index of a name; -1 for an unknown name. */
MBG_API const char *mbg_modes_at_name(int at);
MBG_API int mbg_modes_at_find(const char *name);

typedef struct {
  size_t size;              /* of this structure: set by mbg_modes_options_default */
  const double *parameters; /* mbg_model_parameter_count; NULL: the nominal values */
  mbg_modes_at at;          /* EQUILIBRIUM */
  int count;                /* limit: the lowest modes, besides zero modes; 10 */
  bool undamped;            /* leave damping out; not about a motion */
  bool gradient;            /* compute derivatives by the parameters */
} mbg_modes_options;

MBG_API void mbg_modes_options_default(mbg_modes_options *options, size_t size);

/* The result. The model is referenced. */
typedef struct mbg_modes mbg_modes;

/* Linearizes and solves

     (s^2 M + s C + K) x + B^T xi = 0,   B x = 0

   on the independent constraints; K has the geometric terms of constraints and forces. First-order states of the model
   take part, so that modes are those of the closed loop; in equilibrium their rates are 0, and initial values only
   guesses. With constraints on rates (rolling) the modes are the eigenvalues of the linear model of
   mbg_linearize_create, positions having more freedoms than rates. MBG_ERROR_CONVERGENCE without an equilibrium near
   the start, MBG_ERROR_INPUT when the motion is not steady, MBG_ERROR_SINGULAR when a freedom has neither inertia nor
   stiffness. */
MBG_API int mbg_modes_create(mbg_context *ctx, const mbg_model *model, const mbg_modes_options *options,
                             mbg_modes **out);
MBG_API void mbg_modes_destroy(mbg_modes *modes);

/* ---------------------------------------------------------------------- summary */

typedef struct {
  const char *model;
  mbg_modes_at at;
  double time;        /* s: of drivers and laws */
  int freedoms;       /* of rates: unknowns - independent constraints */
  int redundant;      /* dropped constraints */
  int massless;       /* freedoms without inertia, which have no mode of their own */
  int count;          /* modes in the list */
  int zero, unstable; /* among them */
  bool damped;        /* true: the general problem with complex modes; false: K and M alone, symmetric */
  const char *solver; /* "dense" or "shift-invert" */
  int iterations;     /* of the equilibrium */
  int parameters;     /* entries of a gradient: mbg_model_parameter_count */
  bool gradient;
  int bodies;            /* of a shape */
  int lines;             /* of the picture */
  int states;            /* first-order states of the model, which join the freedoms in modes of a closed loop */
  int position_freedoms; /* more than those of rates with constraints on rates (rolling) */
} mbg_modes_summary;

MBG_API const mbg_modes_summary *mbg_modes_get_summary(const mbg_modes *modes);

/* ---------------------------------------------------------------------- modes */

typedef enum {
  MBG_MODE_OSCILLATION,
  MBG_MODE_DECAY,   /* real and negative: creeps back without oscillation */
  MBG_MODE_ZERO,    /* no stiffness: a motion without energy */
  MBG_MODE_UNSTABLE /* grows */
} mbg_mode_kind;

MBG_API const char *mbg_mode_kind_name(mbg_mode_kind kind);

typedef struct {
  mbg_mode_kind kind;
  double re, im;    /* s, 1/s; im > 0 of a conjugate pair */
  double frequency; /* Hz: |s|/(2 pi), 0 without oscillation */
  double damping;   /* ratio -re/|s| */
  int multiplicity; /* modes with the same eigenvalue (to 1e-9), itself included */
  int first;        /* index of the first of them */
  int body;         /* with the largest share of the kinetic energy, -1: none, or a state has it */
  double share;
  const char *state; /* state with the largest share, each counted as the velocity of 1 kg in units of its scale; NULL:
                        a body has it. Lives with the model. */
} mbg_mode;

/* Order: ascending |s|; the unstable modes of a symmetric problem come first. */
MBG_API const mbg_mode *mbg_modes_get_mode(const mbg_modes *modes, int index);

/* Shape: displacement of the origin and rotation vector of every body, in world axes (bodies x 6); the largest entry is
   1 when rotations are multiplied by the model's size. part 0: real part, 1: imaginary part (NULL for a real shape). */
MBG_API const double *mbg_modes_shape(const mbg_modes *modes, int index, int part);

/* Derivatives by every parameter (parameters), or NULL: of the frequency [Hz], of the damping ratio, of s (part 0: re,
   1: im). They include the shift of the equilibrium. At a repeated eigenvalue they belong to the branches into which
   the growth of each parameter alone splits it, ascending, one set per parameter. Zero modes have none. NAN: not
   differentiable, or the parameter pushes along a free motion and so ends the equilibrium. */
MBG_API const double *mbg_modes_frequency_gradient(const mbg_modes *modes, int index);
MBG_API const double *mbg_modes_damping_gradient(const mbg_modes *modes, int index);
MBG_API const double *mbg_modes_eigenvalue_gradient(const mbg_modes *modes, int index, int part);

/* Second derivatives of the frequencies [Hz] and of the damping ratios of all modes by n parameters, given by their
   indices: frequency, damping (modes x n x n; NULL: not asked). modes: made with `options` and gradients. Differences
   of fourth order of the exact gradients, 4 n solutions: about 1e-9 of the largest entry, in units of the parameters.
   *asymmetry (may be NULL): the largest difference of both halves, in the same units. NAN: zero and repeated modes, and
   modes that cannot be told from a neighbour within a change of 0.2 % of a parameter. */
MBG_API int mbg_modes_hessian(mbg_context *ctx, const mbg_modes *modes, const mbg_modes_options *options, int n,
                              const int *parameters, double *frequency, double *damping, double *asymmetry);

/* ---------------------------------------------------------------------- picture */

/* Position (3) and name of a body at the point of linearization. */
MBG_API const double *mbg_modes_body_position(const mbg_modes *modes, int body);
MBG_API const char *mbg_modes_body_name(const mbg_modes *modes, int body);

typedef enum { MBG_LINE_BODY, MBG_LINE_BEAM, MBG_LINE_FORCE } mbg_line_kind;

/* A line of the mechanism between two points fixed on bodies (-1: the ground); x in world axes. */
typedef struct {
  mbg_line_kind kind;
  int body[2];
  double x[2][3];
} mbg_modes_line;
MBG_API const mbg_modes_line *mbg_modes_get_line(const mbg_modes *modes, int index);

/* Point x (world axes) of a body, displaced by `amplitude` times a mode at a phase [rad] of its oscillation:
   out = x + re((u + theta x r) exp(i phase)). */
MBG_API int mbg_modes_displace(const mbg_modes *modes, int index, double amplitude, double phase, int body,
                               const double x[3], double out[3]);

/* The whole result as JSON (keys: docs/program.md). */
MBG_API int mbg_modes_json(mbg_context *ctx, const mbg_modes *modes, char **text);

#ifdef __cplusplus
}
#endif

#endif
