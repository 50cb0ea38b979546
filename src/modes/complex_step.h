/* complex_step: second derivatives of the equations of a model, exact to rounding.

   The sources below the start are compiled a second time for complex numbers (base/real.h) and linked into the library
   with these functions as their only entry. The pull of the residual is evaluated at x + i s d, d a direction of the
   state and s = 1e-30: its imaginary part over s is the derivative of the gradient along d, without truncation. A new
   element therefore needs nothing of its own here. */
#ifndef MBG_MODES_COMPLEX_STEP_H
#define MBG_MODES_COMPLEX_STEP_H

#include "mbgrad/context.h"
#include "system/kernels.h"
#include "system/state_space.h"

typedef struct mbg__complex_step mbg__complex_step;

/* A state and a direction in it as real numbers. Frames are 12 numbers: R row-major, then x. */
typedef struct {
  double t;
  const double *H;                      /* frames             (nbody x 12) */
  const double *v, *vd;                 /* twists, rates      (nw)         */
  const double *lambda;                 /* multipliers        (nrow)       */
  const int *turns;                     /* turn counters      (nturn)      */
  const double *w, *dv, *dvd, *dlambda; /* direction: dH = H w~, ... (nw, nw, nw, nrow) */
} mbg__complex_step_state;

/* Outputs of a pull: derivatives of its cotangents. */
typedef struct {
  double *w, *v, *vd; /* (nw)   */
  double *lambda;     /* (nrow) */
  double *a;          /* (na)   */
} mbg__complex_step_pull_out;

/* model: referenced; kernels: its types, those of the real compilation; parameters: np. */
int mbg__complex_step_create(mbg_context *ctx, const mbg_model *model, const mbg__kernels *kernels,
                             const double *parameters, mbg__complex_step **out);
void mbg__complex_step_destroy(mbg__complex_step *step); /* accepts NULL */

/* Derivative along the direction of the gradient of z.r + mu.phi by (frames, twists, rates, multipliers, attributes);
   frames vary by H exp(d~) exp(w~). z: nw, mu: nrow. Sets the outputs. */
int mbg__complex_step_pull(mbg_context *ctx, mbg__complex_step *step, const mbg__complex_step_state *state,
                           const double *z, const double *mu, const mbg__complex_step_pull_out *out);

/* Derivatives of the matrices of a linear model (system/state_space.h) along a direction (w, dv) of the state and dp of
   the parameters (np): A, B, C, D by rows; each may be NULL. */
int mbg__complex_step_linear(mbg_context *ctx, mbg__complex_step *step, const mbg__linear_spec *spec,
                             const mbg__complex_step_state *state, const double *dp, double *const matrices[4]);

#endif
