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

/* What becomes of an event when parameters change. */
typedef enum { MBG_EVENT_GONE, MBG_EVENT_NEW, MBG_EVENT_MOVED /* in the order */ } mbg_sequence_change;

/* Proof of the gradient of one criterion. Differences are relative: |d_k| / (|g_k| + max_j |p_j g_j| / |p_k|). */
typedef struct {
  double value;                               /* of the criterion */
  const double *gradient;                     /* by the exact adjoint (parameters) */
  mbg_taylor_point taylor[MBG_TAYLOR_POINTS]; /* eps from large to small */
  double taylor_slope;                        /* of the remainder over its best window; 2 for an exact gradient */
  double taylor_decades;                      /* width of that window in eps */
  int taylor_first, taylor_last;              /* points of that window */
  double taylor_floor;                        /* rounding of psi; smaller remainders have no meaning */
  double direct_vs_adjoint;                   /* difference of the two gradients */
  double finite_difference;                   /* best agreement with central differences */
  double finite_difference_step;              /* relative step of that agreement */
  /* Events: the sequence (names in their order) is that of the run at every eps of the test below this one, where it
     changes; INFINITY: nowhere. */
  double sequence_eps;
  const char *sequence_event; /* first event that is another one there, NULL: none */
  double sequence_time;       /* its time; of a new one at that eps */
  mbg_sequence_change sequence_change;
} mbg_proof;

/* Proves the gradients of all criteria at the parameters of the run, which is simulated there at the beginning and
   at the end. */
MBG_API int mbg_run_prove(mbg_context *ctx, mbg_run *run);

/* The last proof of a criterion, NULL without one. It lives until the next mbg_run_prove. */
MBG_API const mbg_proof *mbg_run_get_proof(const mbg_run *run, int criterion);

#ifdef __cplusplus
}
#endif

#endif
