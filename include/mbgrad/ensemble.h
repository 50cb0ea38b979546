/* Ensembles: criteria and gradients at many parameter vectors of one model, four samples at a time in vector
   instructions (docs/scale.md).

   The numbers of a sample are those of a run of its own, bit by bit: they depend neither on the other samples nor on
   their order, and not on the processor's vectors. What an ensemble cannot do together it computes one by one. */
#ifndef MBGRAD_ENSEMBLE_H
#define MBGRAD_ENSEMBLE_H

#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mbg_ensemble mbg_ensemble;

/* What became of a sample. */
typedef struct {
  int status;    /* MBG_OK, or the negative code with which its run failed */
  bool warned;   /* its run has warnings: a run of its own tells them */
  bool together; /* computed in a vector with others */
} mbg_ensemble_sample;

/* Runs with these options (NULL: defaults) and fixed steps; error control and accuracies are refused. The model is
   referenced; one ensemble serves one thread. */
MBG_API int mbg_ensemble_create(mbg_context *ctx, const mbg_model *model, const mbg_run_options *options,
                                mbg_ensemble **out);
MBG_API void mbg_ensemble_destroy(mbg_ensemble *ensemble); /* accepts NULL */

/* How many samples are computed together: 4, or 1. Then the reason, else NULL. */
MBG_API int mbg_ensemble_width(const mbg_ensemble *ensemble);
MBG_API const char *mbg_ensemble_reason(const mbg_ensemble *ensemble);

/* The criteria whose gradients are wanted; n = 0: all of them, as in the beginning. */
MBG_API int mbg_ensemble_select(mbg_context *ctx, mbg_ensemble *ensemble, int n, const int *criteria);

/* n samples with the parameters p (n x parameters): values of all criteria, psi (n x criteria), and their gradients
   (n x criteria x parameters; NULL: not wanted), NAN for criteria that were not selected. A sample that fails has its
   code in samples (n) and NAN in its rows; the others are computed. */
MBG_API int mbg_ensemble_run(mbg_context *ctx, mbg_ensemble *ensemble, int n, const double *p, double *psi,
                             double *gradient, mbg_ensemble_sample *samples);

#ifdef __cplusplus
}
#endif

#endif
