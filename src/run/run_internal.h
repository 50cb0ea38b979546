/* run: the object behind mbgrad/run.h, shared by the files of src/run. */
#ifndef MBG_RUN_RUN_INTERNAL_H
#define MBG_RUN_RUN_INTERNAL_H

#include "formulations/formulation.h"
#include "mbgrad/error.h"
#include "mbgrad/proof.h"
#include "model/design.h"
#include "run/run.h"
#include "run/step_periods.h"

/* What passed at the nodes of a run whose signals are taken one node after the other. */
typedef struct {
  double most, most_t;         /* the largest number beyond any mechanism, 0: there was none */
  double bad_t;                /* of the first number that is not finite */
  int most_column, bad_column; /* ... among the used signals, -1: there was none */
} mbg__run_seen;

struct mbg_run {
  mbg__arena arena;       /* lives with the run */
  mbg__arena grid_arena;  /* lives with the grid of nodes */
  mbg__arena proof_arena; /* lives until the next proof */
  mbg__arena error_arena; /* lives until the next estimate of the error */
  const mbg_model *m;
  mbg__design *design;
  mbg__system *sys;
  mbg__start_work *start;
  const mbg__formulation *formulation;
  mbg__formulation_work *work;
  mbg_run_options options; /* of the caller, completed by defaults */
  double accuracy;         /* > 0: the first simulation finds steps for it */
  mbg__run_plan plan;
  double step, relative, absolute; /* of the plan, before an accuracy has changed them */
  mbg_method method;               /* of the model's run section */
  int nused;
  int *used; /* kept signals: of the criteria first, in their order   (nused) */
  real *p;
  bool refused;             /* the last parameters were invalid */
  bool repeats;             /* rank and steps are those of another run, which looked at them (repeat.c) */
  bool started;             /* rank and steps are decided */
  bool reusable;            /* the workspace serves a new decision that comes out the same: fixed steps */
  bool simulated;           /* at the present parameters */
  bool stopped;             /* inside a step, by the interrupt */
  bool given_state;         /* the start is a given state: no gradients */
  double *marks;            /* of events, that the run begins with            (mbg__events_marks) */
  mbg__start_motion begins; /* fixed steps: the motion that begins at the start */
  double beam_step;         /* explicit steps up to this are stable for beams */
  mbg__nodes nodes;
  mbg__run_seen seen; /* options.node only */
  double *taken;      /* ... signals of one node                               (nused) */
  mbg__criteria *criteria;
  int criteria_nodes; /* nodes of the grid of `criteria` */
  real *psi;          /* (ncriterion) */
  bool *left_out;     /* criteria whose gradients are not wanted              (ncriterion) */
  mbg_run_work effort;
  mbg_proof *proofs;      /* (ncriterion), NULL before the first proof */
  mbg_step_error *errors; /* (ncriterion), NULL before the first estimate */
};

/* ---------------------------------------------------------------------- run.c */

/* Seconds of a clock. */
double mbg__run_clock(void);
/* Brings the public counts of work up to date. */
void mbg__run_count_work(mbg_run *run);

/* A simulation: what comes before the formulation, what follows, and the end in any case. */
typedef struct {
  double begin;
  bool first, kept; /* it decides and warns; the workspace of the one before serves it */
} mbg__run_pass;
int mbg__run_before(mbg_context *ctx, mbg_run *run, mbg__run_pass *pass);
int mbg__run_after(mbg_context *ctx, mbg_run *run, const mbg__run_pass *pass);
int mbg__run_over(mbg_run *run, const mbg__run_pass *pass, int err);

/* ---------------------------------------------------------------------- gradient.c */

/* Gradients of the same rows of several runs (n x np each), whose adjoints are made together: psi_a[i] (n x na) += that
   of run i. */
typedef int mbg__run_adjoints(mbg_context *ctx, void *user, int n, const mbg__criterion_seeds *const *seeds,
                              real *const *psi_a);
int mbg__run_gradients(mbg_context *ctx, int nrun, mbg_run *const *runs, int n, const mbg__gradient_row *rows,
                       mbg__run_adjoints *adjoints, void *user, double *const *gradients);

/* Conditions of direct differentiation. */
int mbg__run_check_differentiable(mbg_context *ctx, mbg_run *run);

/* ---------------------------------------------------------------------- products.c */

/* Seeds of the product of a cotangent with what the run keeps at its nodes; memory in the arena. */
int mbg__run_cotangent_seeds(mbg_context *ctx, const mbg_run *run, mbg__arena *arena, const mbg_cotangent *cotangent,
                             mbg__criterion_seeds *seeds);
/* Direct differentiation along n directions: da (n x na), and changes of the start w, v (n x nw), consistent ones. */
int mbg__run_columns(mbg_context *ctx, mbg_run *run, int n, const real *da, const real *w, const real *v,
                     int (*take)(void *user, int node, const real *dy), void *user);

/* ---------------------------------------------------------------------- error.c */

/* A run of the same model, formulation and parameters, simulated with refine times as many steps (under error
   control: refine 2 takes a hundredth of the tolerance). Its messages are dropped when it succeeds. */
int mbg__run_refined(mbg_context *ctx, const mbg_run *run, double refine, mbg_run **out);

/* The places of the signals that criteria look at in every node, -1: of others the last value and the sum suffice. In
   the arena of the run. swings: those in which warnings look for swings have a place, too. */
int mbg__run_places(mbg_context *ctx, mbg_run *run, bool swings, const int **place);

/* ---------------------------------------------------------------------- accuracy.c */

/* Finds the step (the tolerance) that reaches run->accuracy at the present parameters, for all later simulations. */
int mbg__run_find_step(mbg_context *ctx, mbg_run *run);

/* ---------------------------------------------------------------------- methods.c */

/* Formulation of the options, else of the model, else `lie`. */
int mbg__run_choose_formulation(mbg_context *ctx, const char *option, const mbg_model *m, const mbg__formulation **out);
/* The formulation of the run offers the method; the message names one that does. */
int mbg__run_check_method(mbg_context *ctx, const mbg_run *run, mbg_method method);
/* The given method, else the model's, else the cheaper one for this number of criteria. */
mbg_method mbg__run_choose_method(const mbg_run *run, mbg_method method, int ncriterion);

/* ---------------------------------------------------------------------- error_peaks.c */

/* From the largest node of path k to its peak between the nodes: the value grows by *rise, the gradient changes by
   shift (np; NULL: not asked for), which is set where *rise > 0. 0 for other criteria. */
int mbg__run_peak(mbg_context *ctx, mbg_run *run, mbg_method method, int k, double *rise, double *shift);

/* ---------------------------------------------------------------------- step_warnings.c */

/* Before the first simulation: the motion that begins at the start, against a fixed step. */
int mbg__run_look_at_start(mbg_context *ctx, mbg_run *run);
/* After the first simulation: warnings of steps and models that cannot be right, from what was seen at the nodes. */
int mbg__run_warn_steps(mbg_context *ctx, const mbg_run *run);
/* Do warnings look for swings in the signal of this criterion? */
bool mbg__run_swings(const mbg_run *run, const mbg__criterion *criterion);

/* ---------------------------------------------------------------------- results.c */

/* The state that the last simulation began with; its arrays are those of the run. */
mbg__run_state mbg__run_began(const mbg_run *run);

/* A frame as 12 numbers (rotation row-major, position), a twist as 6. */
void mbg__run_flatten(const mbg__frame *H, const real *v, double frame[12], double twist[6]);

/* ---------------------------------------------------------------------- finite.c */

/* options.node: before a simulation, and at its nodes (the taker of the plan). */
void mbg__run_see_nothing(mbg_run *run);
void mbg__run_see(void *run, double t, bool inner, const real *y);
/* Every number is finite, or an error names the first one that is not: signals and poses at the nodes; values of the
   criteria; one row of a gradient by the parameters (np), or by the attributes (na); sensitivities at a node (rows x
   np). */
int mbg__run_check_nodes(mbg_context *ctx, const mbg_run *run);
int mbg__run_check_criteria(mbg_context *ctx, const mbg_run *run);
int mbg__run_check_gradient(mbg_context *ctx, const mbg_run *run, const mbg__gradient_row *row, const double *gradient);
int mbg__run_check_attributes(mbg_context *ctx, const mbg_run *run, int criterion, const double *gradient);
int mbg__run_check_history(mbg_context *ctx, const mbg_run *run, int node, int rows, const double *dy);

#endif
