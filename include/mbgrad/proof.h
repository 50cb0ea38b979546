/* mbgrad: proof of a gradient. */
#ifndef MBGRAD_PROOF_H
#define MBGRAD_PROOF_H

#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One point of a Taylor test: for a direction d scaled to the parameters,
     remainder = |psi(p + eps d) - psi(p) - eps g.d|,  of order eps^2 when the gradient g is exact. */
typedef struct {
  double eps, difference, remainder;
} mbg_taylor_point;

enum { MBG_TAYLOR_POINTS = 25 };

/* Proof of the gradient of one criterion. Differences are relative: |d_k| / (|g_k| + max_j |p_j g_j| / |p_k|). */
typedef struct {
  double value;
  mbg_taylor_point taylor[MBG_TAYLOR_POINTS]; /* eps from large to small */
  double taylor_slope;                        /* of the remainder over its best window; 2 for an exact gradient */
  double taylor_decades;                      /* width of that window in eps */
  int taylor_first, taylor_last;
  double taylor_floor; /* rounding of psi, below which the remainder says nothing */
  double direct_vs_adjoint;
  double finite_difference;      /* best agreement with central differences */
  double finite_difference_step; /* ... at this relative step */
} mbg_proof;

/* Runs the proof for every criterion: proofs (mbg_model_criterion_count), gradient (ncriteria x nparameters, may be NULL).
   The run is simulated at its parameters first and left simulated there. */
MBG_API int mbg_run_proof(mbg_context *ctx, mbg_run *run, mbg_proof *proofs, double *gradient);

#ifdef __cplusplus
}
#endif

#endif
