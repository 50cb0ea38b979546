/* mbgrad: runs, criteria and gradients. */
#ifndef MBGRAD_RUN_H
#define MBGRAD_RUN_H

#include "mbgrad/context.h"
#include "mbgrad/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- formulations and methods */

/* Formulations by index, with their key ("lie"), name, authors of the paper, and the keys of their integrators separated by
   blanks ("" for one with steps of its own); NULL when there is no such index. */
MBG_API int mbg_formulation_count(void);
MBG_API const char *mbg_formulation_key(int index);
MBG_API const char *mbg_formulation_name(int index);
MBG_API const char *mbg_formulation_paper(int index);
MBG_API const char *mbg_formulation_integrators(int index);

/* How a gradient is computed. AUTO compares the number of parameters with the number of criteria. */
typedef enum {
  MBG_METHOD_AUTO,
  MBG_METHOD_DIRECT,     /* direct differentiation: cost grows with the parameters */
  MBG_METHOD_ADJOINT,    /* discrete adjoint, the exact transpose: cost grows with the criteria */
  MBG_METHOD_CONTINUOUS, /* continuous adjoint: converges to the others as the step goes to 0 */
  MBG_METHOD_PAPER,      /* continuous adjoint in the form of the formulation's paper, for study */
  MBG_METHOD_COUNT
} mbg_method;

/* "auto", "direct", "adjoint", "continuous", "continuous-paper"; NULL when there is no such method. mbg_method_find: -1 when
   unknown. */
MBG_API const char *mbg_method_name(int method);
MBG_API int mbg_method_find(const char *name);

/* 1 when the formulation with this index has the method, else 0. */
MBG_API int mbg_formulation_has(int index, mbg_method method);

/* ---------------------------------------------------------------------- options */

/* Numbers that are NAN (or 0 for memory) and texts that are NULL are taken from the model's run section, then from the
   formulation's presets. A step overrides a tolerance and the other way round. For formulations with error control the
   tolerance is the relative one, the absolute one a thousandth of it. */
typedef struct {
  const char *formulation;
  const char *integrator; /* one of mbg_formulation_integrators */
  double start, end;
  double step, tolerance;
  double rho_inf, alpha_f;
  double memory;   /* most bytes for nodes; more recomputation when small */
  int threads;     /* of formulations that use several ("dca"); 0: one. Results do not depend on it */
  int all_signals; /* keep every signal at every node, not only those of criteria */
  double interval; /* > 0: values are wanted at multiples of it from the start; nodes, where nodes are free */
  int (*interrupt)(void *user); /* asked after each step; not 0: stop, results so far are kept */
  void (*progress)(void *user, double t);
  void *user;
} mbg_run_options;

MBG_API void mbg_run_options_default(mbg_run_options *options);

/* ---------------------------------------------------------------------- runs */

/* Everything one simulation of a model needs. The model is referenced; several runs may share it, each in its thread with
   its context. */
typedef struct mbg_run mbg_run;

/* options may be NULL. */
MBG_API int mbg_run_create(mbg_context *ctx, const mbg_model *model, const mbg_run_options *options, mbg_run **out);
MBG_API void mbg_run_destroy(mbg_run *run);

/* Times at which the run starts and ends when nothing stops it. */
MBG_API void mbg_run_span(const mbg_run *run, double *start, double *end);

/* Sets the parameters of the next simulation: p (mbg_model_parameter_count) or NULL for the nominal ones. */
MBG_API int mbg_run_parameters(mbg_context *ctx, mbg_run *run, const double *p);

/* Simulates. The first simulation decides which redundant rows are dropped and, with a tolerance, the steps; later ones
   repeat these, so that results can be compared and differentiated. MBG_OK also when the interrupt callback stopped it. */
MBG_API int mbg_run_simulate(mbg_context *ctx, mbg_run *run);

/* What was run: key of the formulation, whether the last simulation was stopped early, its nodes. */
MBG_API const char *mbg_run_formulation(const mbg_run *run);
MBG_API int mbg_run_partial(const mbg_run *run);
MBG_API int mbg_run_node_count(const mbg_run *run);
MBG_API double mbg_run_node_time(const mbg_run *run, int node);

/* Tolerances of a run of a differential equation under error control; both 0: its steps are those of a stepper, or fixed. */
MBG_API void mbg_run_tolerances(const mbg_run *run, double *relative, double *absolute);

/* The adjoint that belongs to the run's formulation: ADJOINT, or CONTINUOUS where it solves a differential equation. */
MBG_API mbg_method mbg_run_adjoint_method(const mbg_run *run);

/* Value of a signal at a node; NAN when it was not kept (see all_signals). */
MBG_API double mbg_run_signal(const mbg_run *run, int node, int signal);

/* Values of all criteria (mbg_model_criterion_count). */
MBG_API int mbg_run_criteria(mbg_context *ctx, mbg_run *run, double *psi);

/* ---------------------------------------------------------------------- gradients */

/* Gradient of every criterion by every parameter at the last simulation: ncriteria x nparameters, row-major. used (may be
   NULL) receives the method that AUTO chose. */
MBG_API int mbg_run_gradient(mbg_context *ctx, mbg_run *run, mbg_method method, double *gradient, mbg_method *used);

/* Gradient of sum_k weights[k] psi_k by every parameter (nparameters): one backward pass, however many criteria and
   parameters there are. weights: ncriteria. */
MBG_API int mbg_run_gradient_sum(mbg_context *ctx, mbg_run *run, mbg_method method, const double *weights,
                                 double *gradient);

/* Gradient of one criterion by every number of the model (mbg_run_attribute_count), by the formulation's exact adjoint. That of a
   sample of a cubic control is the whole one, that of the curvatures, which follow from the samples, is 0. */
MBG_API int mbg_run_gradient_all(mbg_context *ctx, mbg_run *run, int criterion, double *gradient);

/* Sensitivities dy/dp of all kept signals at every node, in order of time: take is called with the node, and dy of signal k
   (index among the kept ones, mbg_run_kept_signal) at dy[k * nparameters]. A negative return stops. */
MBG_API int mbg_run_history(mbg_context *ctx, mbg_run *run, int (*take)(void *user, int node, const double *dy),
                            void *user);
MBG_API int mbg_run_kept_count(const mbg_run *run);
MBG_API int mbg_run_kept_signal(const mbg_run *run, int kept);

/* The numbers of the model: owner ("body 'bob'"), key ("mass"), unit, value at the run's parameters, and the scale by which
   they are ranked: the larger of its size and a reference of its unit. Texts are borrowed. */
typedef struct {
  const char *owner, *key, *unit;
  double value, scale;
} mbg_attribute_info;
MBG_API int mbg_run_attribute_count(const mbg_run *run);
MBG_API int mbg_run_attribute(const mbg_run *run, int index, mbg_attribute_info *info);

/* ---------------------------------------------------------------------- state and work */

/* State at the last node: frames as 12 numbers per body (rotation row-major, then position), twists as 6 numbers per body. */
MBG_API int mbg_run_last_state(const mbg_run *run, double *t, double *frames, double *twists);

/* Writes the state at the last node as a JSON file (time, whole turns, frame and twist of each body), and makes the next simulation
   start from such a file instead of the model's own start. A restarted run has no gradients. */
MBG_API int mbg_run_state_write(mbg_context *ctx, const mbg_run *run, const char *path);
MBG_API int mbg_run_restart(mbg_context *ctx, mbg_run *run, const char *path);

typedef struct {
  long steps, newton_iterations, factorizations, assemblies, solves, recomputed_steps;
  double seconds_simulate, seconds_gradient; /* of the last simulation and gradient */
  double peak_bytes;                         /* nodes kept for gradients */
  double drift_position, drift_velocity;     /* error control: largest violations of the constraints */
} mbg_run_work;
MBG_API void mbg_run_work_of(const mbg_run *run, mbg_run_work *work);

#ifdef __cplusplus
}
#endif

#endif
