/* mbgrad: second derivatives of criteria. */
#ifndef MBGRAD_HESSIAN_H
#define MBGRAD_HESSIAN_H

#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Second derivatives by the parameters of sum_k weights[k] psi_k (weights: criteria), exact for the steps that the run
   made: the discrete adjoint of the formulation in complex numbers, with an infinitesimal imaginary direction. A
   product costs about three gradients (simulation and adjoint), a matrix as many products as there are parameters. */
typedef struct mbg_hessian mbg_hessian;

/* Of a run that was simulated and has a discrete adjoint (MBG_METHOD_ADJOINT); the run is referenced. Steps, nodes and
   kept rows are those of the run now: after mbg_run_renew a new one is needed. Runs from a given state have none. */
MBG_API int mbg_hessian_create(mbg_context *ctx, mbg_run *run, mbg_hessian **out);
MBG_API void mbg_hessian_destroy(mbg_hessian *hessian); /* accepts NULL */

/* At the present parameters of the run: product = H direction (parameters each); gradient (parameters; may be NULL)
   receives the gradient that it is the derivative of. */
MBG_API int mbg_hessian_product(mbg_context *ctx, mbg_hessian *hessian, const double *weights, const double *direction,
                                double *gradient, double *product);

/* Products of nsum weighted sums of criteria with n directions: weights (nsum x criteria), directions (n x parameters),
   products (nsum x n x parameters). All sums share the trajectory of a direction, which is simulated once; directions
   are shared out among the `threads` of the run's options. Results do not depend on their number. */
MBG_API int mbg_hessian_products(mbg_context *ctx, mbg_hessian *hessian, int nsum, const double *weights, int n,
                                 const double *directions, double *products);

/* The symmetric matrices of nsum sums, weights (nsum x criteria): matrices (nsum x parameters x parameters), each the
   mean of its two halves. asymmetry (nsum; may be NULL): the largest difference of the halves, relative, max |p_i p_j
   (H_ij - H_ji)| / max |p_i p_j H_ij|, where p_i = 0 counts as 1: the error of the matrix by rounding. */
MBG_API int mbg_hessian_matrices(mbg_context *ctx, mbg_hessian *hessian, int nsum, const double *weights,
                                 double *matrices, double *asymmetry);
/* One of them. */
MBG_API int mbg_hessian_matrix(mbg_context *ctx, mbg_hessian *hessian, const double *weights, double *matrix,
                               double *asymmetry);

/* The same for one call. */
MBG_API int mbg_run_hessian_vector(mbg_context *ctx, mbg_run *run, const double *weights, const double *direction,
                                   double *gradient, double *product);
MBG_API int mbg_run_hessian(mbg_context *ctx, mbg_run *run, const double *weights, double *matrix, double *asymmetry);

/* ---------------------------------------------------------------------- proof */

/* For a direction d that changes every parameter by its own size:

     remainder  = |psi(p + eps d) - psi(p) - eps g.d - eps^2/2 d.H d|, of order eps^3 when g and H are exact
     difference = |(g(p + eps d) - g(p - eps d))/(2 eps) - H d|, of order eps^2, relative: max |p_i x_i| of both */
typedef struct {
  double eps, remainder, difference;
} mbg_hessian_point;

enum { MBG_HESSIAN_POINTS = 19 }; /* three a decade, from 0.1 down to 1e-7 */

typedef struct {
  double value, curvature; /* psi, and d.H d */
  double asymmetry;        /* |e.H d - d.H e| of two directions, relative to the sums of their terms */
  double rounding;         /* asymmetry above 1e-11: change of e.H d, relative to the same sums, when the last digits of
                              the parameters change; else 0 */
  mbg_hessian_point points[MBG_HESSIAN_POINTS]; /* eps from large to small; NAN where the model cannot run */
  double floor;                                 /* rounding of psi; smaller remainders have no meaning */
  double slope, decades;                        /* of the remainder, over its widest window; 3 when H is exact */
  double difference_slope, difference_decades;  /* the same of the difference; 2 */
  double best_difference, best_step;            /* the smallest difference, and its eps */
} mbg_hessian_proof;

/* Proves the second derivatives of a criterion at the parameters of the run, which was simulated there and is again at
   the end. */
MBG_API int mbg_run_prove_hessian(mbg_context *ctx, mbg_run *run, int criterion, mbg_hessian_proof *out);

#ifdef __cplusplus
}
#endif

#endif
