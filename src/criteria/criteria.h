/* criteria: numbers from the signals at the nodes of a trajectory, and their derivatives by these signals.

   Every criterion is an accumulator or an expression of accumulators (theory 0, section 7):

     terminal         y(t_N)
     integral         sum_n omega_n y_n                                      omega: quadrature weights of the nodes
     least squares    1/2 sum_s weight_s (sum_n c_sn y_n - value_s)^2         c: linear interpolation, constant
     smooth maximum   (1/k) ln( (1/T) sum_n omega_n exp(k y_n) )              T = sum_n omega_n
     path             y at every node, or interpolated at multiples of `every`; as one number: the largest
     value            an expression of other criteria and attributes

   Formulations see only seeds: d psi / d y_n for each node and signal, made when a node is visited from what little
   they depend on. The signals themselves, values and derivatives at a state, are evaluated by the system
   (system/system_signals.c); nothing here knows how. */
#ifndef MBG_CRITERIA_CRITERIA_H
#define MBG_CRITERIA_CRITERIA_H

#include "criteria/firing.h"
#include "criteria/node_grid.h"
#include "model/model.h"

typedef struct mbg__criteria mbg__criteria;

/* A term of a criterion's integrand at any time; its derivative by the signal y of this column is
   factor * exp(sharpness (y - top)). */
typedef struct {
  int column;
  double sharpness;
  real factor, top;
} mbg__density_term;

/* d psi / d y at any node, of a weighted sum of criteria: values at nodes and an integrand. */
typedef struct {
  int node, column;
  int order; /* in which weights of a node and column are added */
  real weight;
} mbg__point_seed;
typedef struct {
  int column;
  int place;        /* of its signal among the numbers of a node */
  double sharpness; /* 0: the derivative of the integrand is the weight */
  real weight, top, sum;
} mbg__density_seed; /* weight exp(sharpness (y - top)) / sum */
typedef struct {
  int node;
  real weight; /* d psi / d t of the node, by interpolation between nodes */
} mbg__time_seed;
typedef struct {
  int npoint, ndensity, ntime;
  mbg__point_seed *point; /* ascending nodes                              (npoint) */
  mbg__density_seed *density;
  mbg__time_seed *time; /* runs with events                             (ntime) */
} mbg__seeds;

/* For nnode >= 1 nodes with increasing times t, or (not NULL) those of a grid; both are referenced. Least-squares
   samples outside the run are left out; a criterion without any sample left is an error. Memory in the arena. */
int mbg__criteria_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *model, int nnode, const real *t,
                         const mbg__node_grid *grid, mbg__criteria **out);
/* Warns of samples that were left out. */
void mbg__criteria_warn(mbg_context *ctx, const mbg__criteria *c);
/* The same times in another place. */
void mbg__criteria_times(mbg__criteria *c, const real *t, const mbg__node_grid *grid);

/* The events of the run; referenced. */
void mbg__criteria_events(mbg__criteria *c, int nfiring, const mbg__firing *firings);

/* Signals that criteria use: the first columns of y below belong to them, in this order. */
int mbg__criteria_signals(const mbg__criteria *c, const int **signal);

/* The weight of node n in the trapezoidal rule. */
static inline real mbg__trapezoid(const real *t, int nnode, int n) {
  const real left = n > 0 ? t[n] - t[n - 1] : 0, right = n + 1 < nnode ? t[n + 1] - t[n] : 0;
  return (left + right) / 2;
}

/* The next values are those of a run that keeps little: column k of y is the signal at place[k], -1: only its last
   value and its integral are known, in end and sum. NULL: y is complete. Referenced. */
void mbg__criteria_places(mbg__criteria *c, const int *place, const real *end, const real *sum);
/* The integrals of the next values over steps without weights at nodes, by column; NULL: 0. Referenced. */
void mbg__criteria_staged(mbg__criteria *c, const real *staged);
/* Values psi (ncriterion) from y (nnode x width, row-major), omega (nnode; NULL: trapezoidal rule) and attribute values
   (na). The arrays are referenced until the next call. */
int mbg__criteria_values(mbg_context *ctx, mbg__criteria *c, const real *omega, int width, const real *y,
                         const real *attr, real *psi);

/* Seeds of sum_k weight[k] psi_(first+k), n criteria, at the values of the last call, in the arena. ga (na, may be
   NULL) += the derivatives by attributes. A path criterion stands for its largest value. */
int mbg__criteria_seeds(mbg_context *ctx, mbg__arena *arena, mbg__criteria *c, int first, int n, const double *weight,
                        mbg__seeds *seeds, real *ga);
/* Seeds of a weighted sum of points of path k. */
int mbg__criteria_path_seeds(mbg_context *ctx, mbg__arena *arena, const mbg__criteria *c, int k, int npoint,
                             const int *point, const double *weight, mbg__seeds *seeds);
/* The derivative of the integrand by a column at a node with values y, and that of values at a node:
   d psi / d y_n = omega_n density_n + point_n. */
real mbg__seeds_density(const mbg__seeds *s, int column, const real *y);
real mbg__seeds_point(const mbg__seeds *s, int node, int column);
/* The derivative of the integrand by a column where it is the same at all times: without smooth maxima. */
real mbg__seeds_linear(const mbg__seeds *s, int column);
/* The integrand itself at a node with values y, T the length of the run: for the derivative by times of nodes. */
real mbg__seeds_integrand(const mbg__seeds *s, const real *y, real T);
/* The derivative by the time of a node, by interpolation. */
real mbg__seeds_time(const mbg__seeds *s, int node);

/* The density of sum_k weight[k] psi_(first+k), n criteria, at the values of the last call as a function of time: terms
   (at most ncriterion). */
int mbg__criteria_terms(mbg_context *ctx, mbg__criteria *c, int first, int n, const double *weight,
                        mbg__density_term *terms, int *count);

/* Samples of a least-squares criterion that lie on the grid, in order of time: their number, the column of y they look
   at, and sample i: the model's value there is (1 - s) y[node] + s y[node + 1]. */
typedef struct {
  int node;
  double s;
  double time, value, weight;
} mbg__criteria_sample;
int mbg__criteria_samples(const mbg__criteria *c, int k);
int mbg__criteria_column(const mbg__criteria *c, int k);
mbg__criteria_sample mbg__criteria_sample_at(const mbg__criteria *c, int k, int i);

/* Points of a path criterion: their number; time and value of point i. */
int mbg__criteria_path(const mbg__criteria *c, int k);
double mbg__criteria_path_time(const mbg__criteria *c, int k, int i);
real mbg__criteria_path_value(const mbg__criteria *c, int k, int i);

#endif
