/* mbgrad: linear models x' = A x + B u, y = C x + D u about the start, an equilibrium, a steady motion or a time of a
   run, in minimal coordinates, with poles, zeros, frequency responses, and derivatives by the parameters. */
#ifndef MBGRAD_LINEARIZE_H
#define MBGRAD_LINEARIZE_H

#include "mbgrad/model.h"
#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- linearizing */

/* Point of linearization. */
typedef enum {
  MBG_LINEARIZE_EQUILIBRIUM, /* the static equilibrium near the start; drivers keep their value at the start */
  MBG_LINEARIZE_START,       /* the start with its rates */
  MBG_LINEARIZE_STEADY,      /* all bodies turn and move as one rigid body, at the rates of the start; with constraints
                                on rates the motion of the start, in which wheels spin, when it goes on unchanged */
  MBG_LINEARIZE_RUN          /* the last node of a simulated run */
} mbg_linearize_at;

/* "equilibrium", "start", "steady", "run"; NULL for an unknown value. The index of a name; -1 for an unknown name. */
MBG_API const char *mbg_linearize_at_name(int at);
MBG_API int mbg_linearize_at_find(const char *name);

typedef struct {
  size_t size;                    /* of this structure: set by mbg_linearize_options_default */
  const double *parameters;       /* mbg_model_parameter_count; NULL: the nominal values, or those of the run */
  mbg_linearize_at at;            /* EQUILIBRIUM */
  mbg_run *run;                   /* at RUN: a simulated run of the same model */
  int ninput;                     /* -1: all controls */
  const char *const *inputs;      /* names of controls and of parameters ("k", "rho[3]")            (ninput) */
  int noutput;                    /* -1: all signals that have a name */
  const char *const *outputs;     /* names of signals                                              (noutput) */
  int ncoordinate;                /* coordinates that the caller wants: the first of the states; others are added */
  const char *const *coordinates; /* "crank.angle", "crank" for a joint with one coordinate, "body.x", "body.about_z" */
  bool gradient;                  /* compute derivatives by the parameters */
  int nby;                        /* by these parameters; 0: by all */
  const int *by;                  /* indices of parameters                                           (nby) */
} mbg_linearize_options;

MBG_API void mbg_linearize_options_default(mbg_linearize_options *options, size_t size);

/* The result. The model is referenced. */
typedef struct mbg_linearize mbg_linearize;

/* Linearizes. States are f independent coordinates and their rates, then the first-order states of the model. The rule
   that chooses coordinates is fixed: joint coordinates in the order of the file come first, then positions and
   rotations of bodies; a coordinate is taken when what the ones before leave of it is at least half of the largest
   rest. MBG_ERROR_INPUT for unknown names and for coordinates that depend on each other; MBG_ERROR_SINGULAR when a
   freedom has no inertia; MBG_ERROR_CONVERGENCE without an equilibrium near the start. */
MBG_API int mbg_linearize_create(mbg_context *ctx, const mbg_model *model, const mbg_linearize_options *options,
                                 mbg_linearize **out);
MBG_API void mbg_linearize_destroy(mbg_linearize *linear);

/* ---------------------------------------------------------------------- summary and names */

typedef struct {
  const char *model;
  mbg_linearize_at at;
  double time;  /* s */
  int freedoms; /* of rates: unknowns - independent constraints */
  int states;   /* freedoms of positions and of rates + states of the model */
  int inputs, outputs;
  int redundant;         /* dropped constraints */
  int poles, unstable;   /* states; poles with a positive real part */
  int parameters;        /* of derivatives, 0: not computed */
  double condition;      /* of the choice: smallest part of a coordinate that the ones before leave, 1 is best */
  int position_freedoms; /* more than those of rates with constraints on rates (rolling) */
} mbg_linearize_summary;

MBG_API const mbg_linearize_summary *mbg_linearize_get_summary(const mbg_linearize *linear);

/* A state, input or output. Names live with the result. */
typedef struct {
  const char *name; /* "crank.angle", "crank.angle.rate" */
  const char *unit; /* "" when unknown */
  const char *what; /* "angle of joint 'crank'" */
  double value;     /* at the point; NAN for rotations of a body, which have no value */
  bool constant;    /* an input that moves constraints: its column holds while it does not change */
} mbg_linearize_name;

MBG_API const mbg_linearize_name *mbg_linearize_state(const mbg_linearize *linear, int index);
MBG_API const mbg_linearize_name *mbg_linearize_input(const mbg_linearize *linear, int index);
MBG_API const mbg_linearize_name *mbg_linearize_output(const mbg_linearize *linear, int index);

/* ---------------------------------------------------------------------- matrices */

/* A (states x states), B (states x inputs), C (outputs x states), D (outputs x inputs), row-major; NULL for another
   letter. */
MBG_API const double *mbg_linearize_matrix(const mbg_linearize *linear, char which, int *rows, int *columns);

/* Its derivative by parameter `index` of `by` (of all parameters without a list), the shift of the point included; NULL
   without derivatives. mbg_linearize_by: the parameter, -1 out of range. */
MBG_API const double *mbg_linearize_derivative(const mbg_linearize *linear, char which, int index);
MBG_API int mbg_linearize_by(const mbg_linearize *linear, int index);

/* ---------------------------------------------------------------------- poles, zeros, frequency response */

/* Poles, ascending by |s|, of a conjugate pair im > 0 first: re, im (states each, may be NULL). */
MBG_API int mbg_linearize_poles(const mbg_linearize *linear, double *re, double *im);

/* Transmission zeros from one input to one output; both -1: of all inputs to all outputs. count: their number; re, im:
   room for the number of states each, may be NULL. MBG_ERROR_INPUT when the transfer function is 0 everywhere. */
MBG_API int mbg_linearize_zeros(mbg_context *ctx, const mbg_linearize *linear, int input, int output, int *count,
                                double *re, double *im);

/* Response C (i omega - A)^-1 B + D at an angular frequency [rad/s]: re, im (outputs x inputs, row-major).
   MBG_ERROR_SINGULAR at a pole. */
MBG_API int mbg_linearize_response(mbg_context *ctx, const mbg_linearize *linear, double omega, double *re, double *im);

/* Everything as JSON; the text is ended by mbg_text_destroy. */
MBG_API int mbg_linearize_json(mbg_context *ctx, const mbg_linearize *linear, char **text);

/* ---------------------------------------------------------------------- transitions along a run */

/* Discrete linear models x_(k+1) = A_k x_k + B_k u_k, y_k = C_k x_k + D_k u_k along a run, from sample to sample at
   t_k = start + k interval. x are the states of mbg_linearize, u inputs that are held over an interval. A_k, B_k are
   the exact derivatives of the steps that the formulation makes from one sample to the next, where it begins anew. */
typedef struct mbg_transitions mbg_transitions;

/* Follows the run from its start to its end, with its formulation, steps and parameters, by pieces of its own: the run
   need not be simulated. A rest at the end that is shorter than the interval is left out. Of the options inputs,
   outputs and coordinates count; coordinates are chosen at the start. MBG_ERROR_INPUT when an interval has less than 5
   steps of a formulation that needs them to get going ("lie", "dae"); MBG_ERROR_SINGULAR when the coordinates of the
   start do not describe a later position. */
MBG_API int mbg_transitions_create(mbg_context *ctx, mbg_run *run, const mbg_linearize_options *options,
                                   double interval, mbg_transitions **out);
MBG_API void mbg_transitions_destroy(mbg_transitions *transitions);

typedef struct {
  const char *model, *formulation;
  double start, interval; /* s */
  int count;              /* of intervals */
  int states, inputs, outputs;
} mbg_transitions_summary;

MBG_API const mbg_transitions_summary *mbg_transitions_get_summary(const mbg_transitions *transitions);

/* The linear model about sample k (0 to count): names and values of states, inputs and outputs, and C_k, D_k. */
MBG_API const mbg_linearize *mbg_transitions_sample(const mbg_transitions *transitions, int k);

/* A_k ('A') and B_k ('B') of interval k (0 to count - 1), row-major; NULL for others. */
MBG_API const double *mbg_transitions_matrix(const mbg_transitions *transitions, int k, char which);

/* Everything as JSON; the text is ended by mbg_text_destroy. */
MBG_API int mbg_transitions_json(mbg_context *ctx, const mbg_transitions *transitions, char **text);

#ifdef __cplusplus
}
#endif

#endif
