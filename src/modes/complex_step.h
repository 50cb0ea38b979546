/* second: second derivatives of the equations of a model, exact to rounding.

   The sources below the formulations are compiled a second time for complex numbers (base/real.h) and linked into the library with
   these functions as their only entry. Along a direction of the state the pull of the residual is evaluated at x + i s d, s = 1e-30:
   its imaginary part over s is the derivative of the gradient along d, without truncation. A new element therefore needs nothing
   of its own here. */
#ifndef MBG_MODES_COMPLEX_STEP_H
#define MBG_MODES_COMPLEX_STEP_H

#include "mbgrad/context.h"

#include <stdbool.h>

typedef struct mbg__complex_step mbg__complex_step;

/* A state and a direction in it, in plain numbers. Frames are 12 numbers: R row-major, then x. */
typedef struct {
  double t;
  const double *H;                      /* frames             (nbody x 12) */
  const double *v, *vd;                 /* twists, rates      (nw)         */
  const double *lambda;                 /* multipliers        (nrow)       */
  const int *turns;                     /* turn counters      (nturn)      */
  const double *w, *dv, *dvd, *dlambda; /* direction: dH = H w~, ... (nw, nw, nw, nrow) */
} mbg__complex_step_state;

/* Cotangents: outputs of a pull. */
typedef struct {
  double *w, *v, *vd; /* (nw)   */
  double *lambda;     /* (nrow) */
  double *a;          /* (na)   */
} mbg__complex_step_pull_out;

/* The lists of types of the caller, in the order coordinates, joints, laws, forces, signals, bodies: the twin has the same lists. */
typedef struct {
  const void *const *types[6];
  const void *node, *carrier; /* types of nodes of beams, of carriers of modal coordinates */
} mbg__complex_step_types;

/* model: an mbg_model, referenced; parameters: np. */
int mbg__complex_step_create(mbg_context *ctx, const void *model, const mbg__complex_step_types *types,
                             const double *parameters, mbg__complex_step **out);
void mbg__complex_step_destroy(mbg__complex_step *second); /* accepts NULL */

/* Derivative along the direction of the gradient of z.r + mu.phi by (frames, twists, rates, multipliers, attributes); frames are
   varied by H exp(d~) exp(w~). z: nw, mu: nrow. Sets the outputs. */
int mbg__complex_step_pull(mbg_context *ctx, mbg__complex_step *second, const mbg__complex_step_state *state,
                           const double *z, const double *mu, const mbg__complex_step_pull_out *out);

#endif
