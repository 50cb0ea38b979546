/* run: internal functions of a run, for tests and other rooms. */
#ifndef MBG_RUN_RUN_H
#define MBG_RUN_RUN_H

#include "base/base.h"
#include "criteria/criteria.h"
#include "math/se3.h"
#include "mbgrad/run.h"

/* Parameters and criteria as `real`: in the complex build they carry a derivative. */
int mbg__run_set_parameters(mbg_context *ctx, mbg_run *run, const real *p);
int mbg__run_criteria(mbg_context *ctx, mbg_run *run, real *psi);
/* Gradient of sum_k weights[k] psi_k by every parameter. */
int mbg__run_gradient_sum(mbg_context *ctx, mbg_run *run, mbg_method method, const double *weights, real *gradient);

/* A state, in arrays of the caller. */
typedef struct {
  double t;
  mbg__frame *H; /* (nbody) */
  real *v;       /* (nw) */
  int *turns;    /* (nturn) */
  double *marks; /* of events: modes, impulses (mbg__events_marks) */
} mbg__run_state;

/* Arrays for a state, in the arena. */
int mbg__run_state_take(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, mbg__run_state *state);

/* State of the last node (MBG_ERROR_INPUT before a simulation), and the start of the next simulation. */
int mbg__run_last(const mbg_run *run, mbg__run_state *out);
void mbg__run_give(mbg_run *run, const mbg__run_state *state);

/* The state that a simulation starts from: of the last one, else it is solved. With an accuracy, the first call
   simulates, which finds the steps. */
int mbg__run_first(mbg_context *ctx, mbg_run *run, mbg__run_state *out);

/* A run with the formulation, steps and parameters of another one from a given state to a time, simulated. plain: the
   model without criteria, which may lie beyond that time; it outlives the result. */
int mbg__run_piece(mbg_context *ctx, const mbg_run *run, const mbg_model *plain, const mbg__run_state *from, double end,
                   mbg_run **out);
/* The same motion again up to its last node, with all signals of a copy of the model that may have more of them; it
   outlives the result. */
int mbg__run_again(mbg_context *ctx, const mbg_run *run, const mbg_model *model, mbg_run **out);
/* The least number of steps of a piece: the first ones of some formulations are of lower order. */
int mbg__run_least_steps(const mbg_run *run);

/* Cotangents of the last node, by frames and then by twists (n x 2 nw), at the start by the exact adjoint: gw, gv
   (n x nw); ga (n x na) += those of the attributes. A run from a given state. */
int mbg__run_pull_end(mbg_context *ctx, mbg_run *run, int n, const real *poses, real *gw, real *gv, real *ga);
/* The same for a run with its own start, whose derivative is part of ga. */
int mbg__run_pull_last(mbg_context *ctx, mbg_run *run, int n, const real *poses, real *ga);

/* Options of a caller, of any size, completed by defaults. */
int mbg__run_options_take(mbg_context *ctx, const mbg_run_options *given, mbg_run_options *options);

const mbg_model *mbg__run_model(const mbg_run *run);

/* The formulation's own workspace, NULL before the first simulation. */
struct mbg__formulation_work *mbg__run_work(const mbg_run *run);
/* Criteria on the nodes of the last simulation; the fixed step of the run, 0 when its steps are controlled; the
   value at a node of the signal in a column of the criteria. */
const mbg__criteria *mbg__run_criteria_of(const mbg_run *run);
double mbg__run_step(const mbg_run *run);
double mbg__run_column(const mbg_run *run, int node, int column);

/* Gradients of chosen rows by every parameter (n x np). A row is a criterion (npoint 0), sum_i weight_i y(t_i) over
   points i of a path criterion, (criterion -1) sum_k weight_k psi_k over all criteria, or the product of a cotangent
   with what the run keeps at its nodes (frames and twists: by the exact adjoint alone). AUTO chooses by their number;
   used (may be NULL): the method taken. */
typedef struct {
  int criterion;
  int npoint;
  const int *point;               /* (npoint) */
  const double *weight;           /* (npoint, or ncriterion) */
  const mbg_cotangent *cotangent; /* NULL: the row is one of the others */
  double *attributes;             /* receives the gradient by every attribute, by an adjoint; NULL: not wanted  (na) */
} mbg__gradient_row;
int mbg__run_gradient_rows(mbg_context *ctx, mbg_run *run, mbg_method method, int n, const mbg__gradient_row *rows,
                           double *gradient, mbg_method *used);
/* The sum of the rows by every parameter (np), by the exact adjoint; and by every attribute (na), when the rows have
   room for them. */
int mbg__run_gradient_total(mbg_context *ctx, mbg_run *run, int n, const mbg__gradient_row *rows, real *gradient,
                            real *attributes);

#endif
