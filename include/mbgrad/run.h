/* mbgrad: runs of a model: simulation, signals, criteria and gradients. */
#ifndef MBGRAD_RUN_H
#define MBGRAD_RUN_H

#include "mbgrad/context.h"
#include "mbgrad/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- formulations and methods */

/* Formulations by index: key ("lie"), name, authors of the paper, and the keys of the integrators separated by
   blanks ("" for a formulation with steps of its own); NULL when the index is out of range. */
MBG_API int mbg_formulation_count(void);
MBG_API const char *mbg_formulation_key(int index);
MBG_API const char *mbg_formulation_name(int index);
MBG_API const char *mbg_formulation_paper(int index);
MBG_API const char *mbg_formulation_integrators(int index);

/* Methods of differentiation. AUTO compares the number of parameters with the number of criteria. */
typedef enum {
  MBG_METHOD_AUTO,
  MBG_METHOD_DIRECT,     /* direct differentiation: cost grows with the parameters */
  MBG_METHOD_ADJOINT,    /* discrete adjoint, the exact transpose: cost grows with the criteria */
  MBG_METHOD_CONTINUOUS, /* continuous adjoint: converges to the others as the step goes to 0 */
  MBG_METHOD_PAPER,      /* continuous adjoint in the form of the formulation's paper, for study */
  MBG_METHOD_COUNT
} mbg_method;

/* Names "auto", "direct", "adjoint", "continuous", "continuous-paper"; NULL for an unknown method. The index of a name;
   -1 for an unknown name. */
MBG_API const char *mbg_method_name(int method);
MBG_API int mbg_method_find(const char *name);

/* True when the formulation of this index offers the method. */
MBG_API bool mbg_formulation_has(int index, mbg_method method);

/* ---------------------------------------------------------------------- options */

/* Numbers that are NAN (0 for memory, threads, interval and refine) and texts that are NULL come from the run section
   of the model, then from the presets of the formulation. Of step, tolerance and accuracy the caller gives at most one,
   which overrides all three of the model. For formulations with error control the tolerance is the relative one; the
   absolute tolerance is a thousandth of it. */
typedef struct {
  size_t size;             /* of this structure: set by mbg_run_options_default */
  const char *formulation; /* key */
  const char *integrator;  /* one of mbg_formulation_integrators */
  double start, end;       /* s */
  double step, tolerance;
  double rho_inf, alpha_f; /* numerical damping: rho_inf of lie, alpha_f of dae */
  double memory;           /* most bytes of what grows with the steps; nodes that do not fit are recomputed */
  int threads;             /* of formulations with threads ("dca"), and of Hessians; results do not depend on it */
  double interval;         /* > 0: place nodes at its multiples from the start, for formulations with free nodes */
  bool all_signals;        /* keep every signal at every node, not only the signals of criteria */
  bool keep_poses;         /* keep frames, twists and modal coordinates at every node: mbg_run_frames, ... */
  bool (*interrupt)(void *user); /* called after each step; true stops the run and keeps its results; may be NULL */
  void (*progress)(void *user, double t); /* called after each step; may be NULL */
  void *user;                             /* first argument of both */
  double refine;   /* > 0: as many times more steps than step, accuracy or the model say; not under error control */
  double accuracy; /* the first simulation finds the step (qr, dca: the tolerance) for which the estimated relative
                      error of every criterion and gradient is at most this; mbgrad/error.h */
  double adjoint_tolerance; /* qr, method continuous: relative tolerance of the backward integration */
  bool criteria_only;       /* criteria and gradients are all that is asked for: with `memory`, signals at nodes and the
                         array of times are not kept for the caller */
  /* Called at every node of a simulation, in order, with the kept signals (mbg_run_kept_signal); inner as in
     mbg_run_node_inner. Without keep_poses, the run itself then keeps at its nodes what criteria need alone: its memory
     does not grow with the signals. May be NULL. */
  void (*node)(void *node_user, double t, bool inner, const double *signals);
  void *node_user;
} mbg_run_options;

MBG_API void mbg_run_options_default(mbg_run_options *options, size_t size);

/* ---------------------------------------------------------------------- runs */

/* A model with parameters, a formulation and the trajectory of the last simulation. The model is referenced; several
   runs may share it, each in a thread with a context of its own. */
typedef struct mbg_run mbg_run;

MBG_API int mbg_run_create(mbg_context *ctx, const mbg_model *model, const mbg_run_options *options, mbg_run **out);
MBG_API void mbg_run_destroy(mbg_run *run);

/* Key of the formulation; start and end of the run [s]. */
MBG_API const char *mbg_run_formulation(const mbg_run *run);
MBG_API double mbg_run_start(const mbg_run *run);
MBG_API double mbg_run_end(const mbg_run *run);

/* Tolerances of a run under error control; both are 0 for fixed steps and for steppers. */
MBG_API double mbg_run_relative_tolerance(const mbg_run *run);
MBG_API double mbg_run_absolute_tolerance(const mbg_run *run);

/* The exact adjoint of the run's formulation: ADJOINT, or CONTINUOUS for a formulation that solves a differential
   equation; AUTO when run is NULL. */
MBG_API mbg_method mbg_run_adjoint_method(const mbg_run *run);

/* Parameters of the next simulation: p (mbg_model_parameter_count), NULL: the nominal values. The getter copies the
   current ones into p. */
MBG_API int mbg_run_set_parameters(mbg_context *ctx, mbg_run *run, const double *p);
MBG_API int mbg_run_parameters(const mbg_run *run, double *p);

/* Simulates. The first simulation decides which redundant rows are dropped and, with a tolerance, the steps; later ones
   repeat both, so that results can be compared and differentiated. MBG_OK also when the interrupt callback stopped it:
   mbg_run_partial. */
MBG_API int mbg_run_simulate(mbg_context *ctx, mbg_run *run);

/* Makes the next simulation the first one again: it decides rows and steps anew and warns, and its results are those of
   a new run, bit for bit. Memory is kept where it serves, so that many parameters cost less than as many runs. */
MBG_API int mbg_run_renew(mbg_context *ctx, mbg_run *run);

/* True when the interrupt callback stopped the last simulation. */
MBG_API bool mbg_run_partial(const mbg_run *run);

/* ---------------------------------------------------------------------- results at the nodes */

/* The nodes of the last simulation: their number, the time of one, and all times (t: nodes). */
MBG_API int mbg_run_node_count(const mbg_run *run);
MBG_API double mbg_run_node_time(const mbg_run *run, int node);
MBG_API int mbg_run_times(const mbg_run *run, double *t);
/* The events of the last simulation in their order. An event has two nodes at its time, before and after it acts,
   unless it ends the run. mbg_run_event_at: MBG_ERROR_INPUT when there is no such event. */
typedef struct {
  const char *name; /* of the model */
  double time;
  double rate;    /* of the guard; NAN: an event at a given time */
  double grazing; /* the share of its range by which the guard may move until the event is gone; INFINITY: no guard */
  double impulse; /* of an impact, else 0 */
  double jump;    /* of the rate of the gap */
  int node;       /* before it acts */
} mbg_run_event;
MBG_API int mbg_run_event_count(const mbg_run *run);
MBG_API int mbg_run_event_at(const mbg_run *run, int index, mbg_run_event *event);
/* True for a node inside a fixed step, which serves the integrals of criteria. */
MBG_API bool mbg_run_node_inner(const mbg_run *run, int node);

/* Value of a signal at a node; NAN when it was not kept (all_signals). All values at once: values is nodes x signals
   (mbg_model_signal_count), row-major, with NAN for signals that were not kept. */
MBG_API double mbg_run_signal(const mbg_run *run, int node, int signal);
MBG_API int mbg_run_signals(const mbg_run *run, double *values);

/* The signals that the run keeps: their number, and the index of the signal with number `kept` (-1: out of range). */
MBG_API int mbg_run_kept_count(const mbg_run *run);
MBG_API int mbg_run_kept_signal(const mbg_run *run, int kept);

/* Poses at every node of a run with keep_poses; else MBG_ERROR_INPUT. Bodies are those of mbg_model_body_count,
   nodes of beams included. frames: nodes x bodies x 12, rotation row-major, then position. twists: nodes x bodies x
   6, velocity, then angular velocity, in the axes of the body. Modal coordinates and their rates: nodes x modal
   coordinates (mbg_model_modal_count) each. */
MBG_API int mbg_run_frames(const mbg_run *run, double *frames);
MBG_API int mbg_run_twists(const mbg_run *run, double *twists);
MBG_API int mbg_run_modal(const mbg_run *run, double *coordinates, double *rates);

/* The same numbers where they lie, without a copy, until the next simulation, proof or end of the run; NULL before a
   simulation. times: nodes. Values: nodes x mbg_run_value_width, row-major; column k < mbg_run_kept_count holds kept
   signal k. With keep_poses 12 numbers of a body's frame begin at mbg_run_frame_column, 6 of its twist at
   mbg_run_twist_column (-1: not kept). */
MBG_API const double *mbg_run_time_array(const mbg_run *run);
MBG_API const double *mbg_run_value_array(const mbg_run *run);
MBG_API int mbg_run_value_width(const mbg_run *run);
MBG_API int mbg_run_frame_column(const mbg_run *run, int body);
MBG_API int mbg_run_twist_column(const mbg_run *run, int body);

/* State at the last node: time, frames (bodies x 12: rotation row-major, then position) and twists (bodies x 6:
   velocity, then angular velocity, in the axes of the body). Nodes of beams are bodies (mbg_model_body_count).
   MBG_ERROR_INPUT before a simulation. */
MBG_API int mbg_run_last_state(const mbg_run *run, double *t, double *frames, double *twists);

/* Writes the state at the last node as a JSON file (time, whole turns, frame and twist of each body). The reader makes
   the next simulation start from such a file instead of the model's own start; such a run has gradients after
   mbg_run_forget_stepper. */
MBG_API int mbg_run_write_state(mbg_context *ctx, const mbg_run *run, const char *path);
MBG_API int mbg_run_read_state(mbg_context *ctx, mbg_run *run, const char *path);

/* ---------------------------------------------------------------------- criteria and gradients */

/* All of these need a simulation at the present parameters and may be called any number of times after it. */

/* Values of all criteria: psi (mbg_model_criterion_count). */
MBG_API int mbg_run_criteria(mbg_context *ctx, mbg_run *run, double *psi);

/* The criteria whose gradients and errors are wanted; n = 0: all of them, as in the beginning. */
MBG_API int mbg_run_select(mbg_context *ctx, mbg_run *run, int n, const int *criteria);

/* Gradient of every criterion by every parameter: criteria x parameters, row-major, NAN for criteria that
   mbg_run_select left out. used (may be NULL) receives the method that AUTO chose. */
MBG_API int mbg_run_gradient(mbg_context *ctx, mbg_run *run, mbg_method method, double *gradient, mbg_method *used);

/* Gradient of sum_k weights[k] psi_k by every parameter (parameters): one backward pass for any number of criteria and
   parameters. weights: criteria. */
MBG_API int mbg_run_gradient_sum(mbg_context *ctx, mbg_run *run, mbg_method method, const double *weights,
                                 double *gradient);

/* Gradient of one criterion by every attribute of the model (mbg_run_attribute_count), by the exact adjoint of the
   formulation. The derivative by a sample of a cubic control includes the curvatures, which follow from the samples;
   their own derivative is reported as 0. */
MBG_API int mbg_run_gradient_all(mbg_context *ctx, mbg_run *run, int criterion, double *gradient);

/* Sensitivities dy/dp of all kept signals at every node, in order of time: `take` receives the node and dy, with the
   derivatives of kept signal k at dy[k * parameters]. A negative return of `take` stops and is returned. */
MBG_API int mbg_run_history(mbg_context *ctx, mbg_run *run, int (*take)(void *user, int node, const double *dy),
                            void *user);

/* Derivatives of the poses of a run with keep_poses, in the same way: `take` receives the node and dx, 6 numbers for
   each body (mbg_model_body_count: displacement, then rotation, both in the axes of the body), then the modal
   coordinates (mbg_model_modal_count); number i by parameter k at dx[i * parameters + k]. The frame H of a body becomes
   H exp(dx dp) to first order. */
MBG_API int mbg_run_pose_history(mbg_context *ctx, mbg_run *run, int (*take)(void *user, int node, const double *dx),
                                 void *user);

/* Products with the Jacobian J = dy/dp of all kept signals y at all nodes (nodes x kept signals, row-major, as
   mbg_run_kept_signal numbers them). vjp: for each of `count` cotangents (count x nodes x kept) the gradient of sum
   cotangent y, with the cotangent held (count x parameters), by any method: the adjoint makes one backward pass. A loss
   that is written outside of the model passes its derivatives by y as the cotangent. jvp: dy = J direction (nodes x
   kept), direction: parameters. */
MBG_API int mbg_run_vjp(mbg_context *ctx, mbg_run *run, mbg_method method, int count, const double *cotangents,
                        double *gradient);
MBG_API int mbg_run_jvp(mbg_context *ctx, mbg_run *run, const double *direction, double *dy);

/* Changes of the start: for each body (mbg_model_body_count) a motion along and about its axes (6 numbers, m and rad),
   then the modal coordinates; as many changes of twists and of modal rates; then one number for each state. Their
   number and names ("bar.x", "bar.turn-z.rate", "rod.mode[0]", ...). Of changes that constraints forbid, the nearest
   possible ones count, where a rotation counts as the way of a point at the size of the model; pins do not hold a
   change. States that start steady follow positions and rates. */
MBG_API int mbg_run_start_count(const mbg_run *run);
MBG_API int mbg_run_start_name(const mbg_run *run, int index, char *buffer, size_t size);

/* Derivatives of a loss by what a run keeps at its nodes; NULL: 0. frames (nodes x bodies x 12) and twists (nodes x
   bodies x 6) as mbg_run_frames and mbg_run_twists give them, of a run with keep_poses. */
typedef struct {
  const double *signals; /* nodes x kept signals */
  const double *frames, *twists;
} mbg_cotangent;

/* mbg_run_vjp, by the exact adjoint, with cotangents of all kinds, and besides the gradient by the parameters those by
   changes of the start (count x mbg_run_start_count) and by every attribute (count x mbg_run_attribute_count; samples
   of controls are among them, see mbg_run_gradient_all); NULL: not wanted. mbg_run_jvp along a change of the start,
   too; direction and start may be NULL: 0. */
MBG_API int mbg_run_vjp_start(mbg_context *ctx, mbg_run *run, int count, const mbg_cotangent *cotangents,
                              double *gradient, double *start, double *attributes);
MBG_API int mbg_run_jvp_start(mbg_context *ctx, mbg_run *run, const double *direction, const double *start, double *dy);

/* Cotangents of signals (nodes x kept signals) from a CSV file: a column t, and one for each signal with its weights at
   these times; empty cells are 0, weights at the same time add up. Between two nodes a signal is linear. */
MBG_API int mbg_run_read_cotangent(mbg_context *ctx, const mbg_run *run, const char *path, double *signals);

/* The next simulations from a given state compute accelerations and multipliers anew instead of going on with those of
   the run before, and start from the nearest state on the constraints, as a change of the start does; so the start
   follows the parameters, and the run has gradients, exact at the parameters of the first of these simulations. */
MBG_API int mbg_run_forget_stepper(mbg_run *run);

/* ---------------------------------------------------------------------- attributes: every number of the model */

/* Owner ("body 'bob'"), key ("mass") and unit ("" when unknown) of an attribute; NULL when the index is out of
   range. */
MBG_API int mbg_run_attribute_count(const mbg_run *run);
MBG_API const char *mbg_run_attribute_owner(const mbg_run *run, int index);
MBG_API const char *mbg_run_attribute_key(const mbg_run *run, int index);
MBG_API const char *mbg_run_attribute_unit(const mbg_run *run, int index);

/* Values of all attributes at the run's parameters, and the scales by which gradients are ranked: the larger of the
   attribute's magnitude and a reference of its unit. Both: mbg_run_attribute_count; either may be NULL. */
MBG_API int mbg_run_attributes(const mbg_run *run, double *values, double *scales);

/* ---------------------------------------------------------------------- work */

typedef struct {
  long steps, newton_iterations, factorizations, assemblies, solves, recomputed_steps;
  double seconds_simulate, seconds_gradient; /* of the last simulation and the last gradient */
  double peak_bytes;                         /* of the trajectory kept for gradients */
  double drift_position, drift_velocity;     /* error control: largest violations of the constraints */
} mbg_run_work;

/* Work of the run so far. The structure is updated by every call that simulates or differentiates. */
MBG_API const mbg_run_work *mbg_run_get_work(const mbg_run *run);

#ifdef __cplusplus
}
#endif

#endif
