/* criteria: numbers from the signals at the nodes of a trajectory, and their derivatives by these signals.

   Every criterion is an accumulator or an expression of accumulators (theory 0, section 7):

     terminal         y(t_N)
     integral         sum_n omega_n y_n                                      omega: quadrature weights of the nodes
     least squares    1/2 sum_s weight_s (sum_n c_sn y_n - value_s)^2         c: linear interpolation, constant
     smooth maximum   (1/k) ln( (1/T) sum_n omega_n exp(k y_n) )              T = sum_n omega_n
     path             y at every node, or interpolated at multiples of `every`; as one number: the largest
     value            an expression of other criteria and attributes

   Formulations see only seeds: d psi / d y_n for each node and signal. The signals themselves, values and derivatives
   at a state, are evaluated by the system (system/system_signals.c); nothing here knows how. */
#ifndef MBG_CRITERIA_CRITERIA_H
#define MBG_CRITERIA_CRITERIA_H

#include "model/model.h"

typedef struct mbg__criteria mbg__criteria;

/* A term of a criterion's integrand at any time; its derivative by the signal y of this column is
   factor * exp(sharpness (y - top)). */
typedef struct {
  int column;
  double sharpness;
  real factor, top;
} mbg__density_term;

/* For a grid of nnode >= 1 increasing times; copied. Least-squares samples outside the grid are left out with a
   warning; a criterion without any sample left is an error. Memory in the arena. */
int mbg__criteria_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *model, int nnode, const double *t,
                         mbg__criteria **out);

/* Signals that criteria use: y below has one column for each of them, in this order. */
int mbg__criteria_signals(const mbg__criteria *c, const int **signal);

/* Values psi (ncriterion) from y (nnode x nused, row-major), omega (nnode) and attribute values (na). */
int mbg__criteria_values(mbg_context *ctx, mbg__criteria *c, const real *omega, const real *y, const real *attr,
                         real *psi);

/* Seeds of criterion k at the values of the last call, times weight, added: density (nnode x nused), the derivative of
   the integrand, and point (nnode x nused), of values at nodes; d psi_k/dy_n = omega_n density_n + point_n. ga (na, may
   be NULL) += weight d psi_k/da. A path criterion stands for its largest value. */
int mbg__criteria_seeds(mbg_context *ctx, mbg__criteria *c, int k, double weight, real *density, real *point, real *ga);

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

/* Points of a path criterion: their number; time and value of point i; its seed. */
int mbg__criteria_path(const mbg__criteria *c, int k);
double mbg__criteria_path_time(const mbg__criteria *c, int k, int i);
real mbg__criteria_path_value(const mbg__criteria *c, int k, int i);
void mbg__criteria_path_seed(const mbg__criteria *c, int k, int i, real weight, real *seed);

#endif
