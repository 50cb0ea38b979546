/* linearize: shared by the files of this folder. linearize.c is the whole; linearize_model.c extends the model by
   coordinates, linearize_choose.c picks independent ones, linearize_point.c finds the point and its derivative,
   linearize_steady.c judges motions of wheels, linearize_poles.c has poles, zeros and responses, linearize_null.c the
   poles 0 and linearize_modes.c the modes with wheels, linearize_transition.c the transitions along a run. */
#ifndef MBG_LINEARIZE_LINEARIZE_H
#define MBG_LINEARIZE_LINEARIZE_H

#include "mbgrad/linearize.h"
#include "modes/modes.h"
#include "run/run.h"
#include "system/state_space.h"

struct mbg_linearize {
  mbg__arena arena;
  const mbg_model *model;
  mbg_linearize_summary summary;
  mbg_linearize_name *states, *inputs, *outputs;
  double *matrix[4];     /* A, B, C, D */
  double *derivative[4]; /* of each, one parameter after the other, or NULL */
  int *by;               /* (summary.parameters) */
  double *re, *im;       /* poles (states) */
};

struct mbg_transitions {
  mbg__arena arena;
  mbg_transitions_summary summary;
  mbg_linearize **samples; /* (count + 1) */
  double *matrix[2];       /* A and B of all intervals (count x states x states, count x states x inputs) */
};

/* A coordinate that may become a state. */
typedef struct {
  mbg__q q;
  const char *name, *unit, *what;
  const char *owner; /* joint of a single coordinate: another name for it; else NULL */
} mbg__candidate;

typedef struct {
  mbg_context *ctx;
  const mbg_model *given;
  mbg_model model; /* the given one, with coordinates of all joints and their signals appended */
  mbg_linearize_options opt;
  mbg__arena arena;
  real *p;
  int ncandidate;
  mbg__candidate *candidates;
  mbg__modes_work at; /* the point */
  mbg__q *q;
  int *chosen; /* candidates (spec.nq - spec.nstate) */
  double condition;
  mbg__linear_spec spec;
  mbg__linear linear;
} mbg__linearize_work;

/* linearize_model.c */
int mbg__linearize_extend(mbg__linearize_work *k);

/* linearize_choose.c: k->q, k->chosen, from candidates at the point. */
int mbg__linearize_choose(mbg__linearize_work *k);

/* linearize_point.c */
int mbg__linearize_point(mbg__linearize_work *k);
/* ... about a given state, with its own rates; and memory for one. */
int mbg__linearize_point_at(mbg__linearize_work *k, const mbg__run_state *state);
mbg__state mbg__linearize_state(const mbg__linearize_work *k);
/* Derivatives of the matrices along parameters into the result. */
int mbg__linearize_derivatives(mbg__linearize_work *k, mbg_linearize *out);

/* linearize_steady.c: is it about a steady motion of a model with constraints on rates, which the start gives? Then the
   motion and the linear model must not change along it. */
bool mbg__linearize_rolls(const mbg__linearize_work *k);
int mbg__linearize_check_steady(mbg__linearize_work *k);

/* linearize.c: options over the defaults; inputs and outputs by name; coordinates and the linear model at a point, and
   both; all of it up to k->linear. `object` makes the result of k->linear, with poles. `end` releases the work. */
int mbg__linearize_options_take(mbg_context *ctx, const mbg_linearize_options *given, mbg_linearize_options *options);
int mbg__linearize_lists(mbg__linearize_work *k);
int mbg__linearize_coordinates(mbg__linearize_work *k);
int mbg__linearize_matrices(mbg__linearize_work *k);
int mbg__linearize_at_point(mbg__linearize_work *k);
int mbg__linearize_solve(mbg__linearize_work *k);
int mbg__linearize_object(const mbg__linearize_work *k, mbg_linearize **out);
void mbg__linearize_note_constant(mbg_context *ctx, const mbg_linearize *linear);
void mbg__linearize_end(mbg__linearize_work *k);

/* linearize_null.c: A (n x n, by columns) on its null space with all Jordan chains, Z, and on a complement, T:

     A [Z T] = [Z T] [N X; 0 R],    [Z T] = D Q,  Q orthogonal, D diagonal

   R has the eigenvalues that are not 0, free of the rounding of those that are. Memory in the arena. */
typedef struct {
  int n, rest;       /* size of R; n - rest eigenvalues are 0 */
  double *d;         /* D (n) */
  double *Z, *T, *R; /* by columns: n x (n - rest), n x rest, rest x rest */
} mbg__linear_null;
int mbg__linearize_null(mbg_context *ctx, mbg__arena *arena, int n, const double *A, mbg__linear_null *out);

/* linearize_poles.c: into the result */
int mbg__linearize_find_poles(mbg_context *ctx, mbg_linearize *out);

#endif
