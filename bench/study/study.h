/* study: what the paper of `qr` compares (Held and Seifried), around the library and not in it: the adjoint with a
   Jacobian by finite differences, with the derivatives of the orthogonal factors in closed form and by differentiating
   the algorithm that makes them; closed form and minimal coordinates of the torsional pendulum.

   Only this folder and the tests look into the library; the headers here use public types. */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "mbgrad/run.h"

#include <stdbool.h>

/* How the derivatives of v* and a by frames and twists, of which the adjoint equations consist, are computed. */
typedef enum {
  STUDY_PRODUCTS,    /* transposed products, as the library does: (A1), (A2) */
  STUDY_DIFFERENCES, /* the matrix by forward differences, column by column */
  STUDY_FACTORS,     /* the matrix from the derivatives of the orthogonal factors: (Q1)-(Q3) */
  STUDY_ALGORITHM,   /* the same with derivatives of the factors by differentiating Householder's algorithm */
  STUDY_CENTRAL,     /* the matrix by central differences */
  STUDY_KINDS
} study_kind;

typedef struct study study;

/* Simulates a model by `qr` with a Runge-Kutta pair. options: formulation and integrator are set here. The model is
   referenced. */
int study_open(mbg_context *ctx, const mbg_model *model, const double *p, const mbg_run_options *options, study **out);
void study_close(study *s);

/* Chooses how derivatives are computed from now on; perturbation: of the differences. */
void study_choose(study *s, study_kind kind, double perturbation);

/* The run behind it: criteria, gradients by MBG_METHOD_CONTINUOUS (the study's way) and MBG_METHOD_DIRECT (the
   library's), work. */
mbg_run *study_run(const study *s);

/* Evaluations of the state equations by the last gradient, those for differences included. */
long study_evaluations(const study *s);

/* Free velocities n; the Jacobian of (v*, a) by (frames, twists) at the end of the run, 2n x 2n, column-major. */
int study_size(const study *s);
int study_jacobian(mbg_context *ctx, study *s, double *J);

/* The right-hand side (mu', nu', and those of the parameters) of the adjoint equations at the end of the run, `count`
   times. */
int study_adjoint_rates(mbg_context *ctx, study *s, int count);

/* ---------------------------------------------------------------------- the torsional pendulum */

/* Is the model a point on a massless rod with a torsional spring, and are its criteria the height at the end? Then,
   with the start and the numbers of the study's run, from S38, S39 (closed form) or by minimal coordinates (alpha,
   alpha') with the adjoint of alpha'' = -k alpha and the tolerances of the run: psi (nc) and gradient (nc x np). */
bool study_is_pendulum(const study *s);
int study_pendulum_exact(mbg_context *ctx, study *s, double *psi, double *gradient);
int study_pendulum_minimal(mbg_context *ctx, study *s, double *psi, double *gradient);

/* The same pendulum as a body on a revolute joint: the text of a model with the parameters l, m, c, alpha and the
   criterion psi (to be freed; NULL: no memory); and the gradient by the parameters of the study's model from the one by
   these four. */
char *study_pendulum_revolute(mbg_context *ctx, const study *s);
int study_pendulum_gradient(mbg_context *ctx, study *s, const double by[4], double *gradient);

#endif
