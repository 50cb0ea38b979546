/* Derivatives of eigenvalues: modes_gradient.c is the whole, modes_form.c has the gradient of the form F at a state,
   modes_state_pull.c leads it through the state to the parameters, modes_repeated.c treats repeated eigenvalues. */
#ifndef MBG_MODES_MODES_DERIVATIVE_H
#define MBG_MODES_MODES_DERIVATIVE_H

#include "modes/complex_step.h"
#include "modes/modes.h"

enum { RE, IM };

/* Cotangents of the state and the attributes, real and imaginary part. */
typedef struct {
  real *w[2], *v[2], *vd[2], *lambda[2], *a[2];
} mbg__cotangent_pair;

typedef struct {
  mbg__modes_work *w;
  mbg__arena arena;
  mbg__complex_step *step;
  double *H;                                  /* frames, as complex_step.h wants them (nbody x 12) */
  double *v, *vd, *lambda;                    /* the other parts of the state */
  double *x[2], *dv[2], *dvd[2], *dlambda[2]; /* direction */
  double *z[2], *mu[2];                       /* weights of r and phi: (nw, nrow) */
  mbg__complex_step_pull_out out;             /* of one pull */
  mbg__cotangent_pair g;
  real *gw[2], *gv[2], *gvd[2];        /* gradients of y.r + eta.phi (nw) */
  real *full, *full2, *row, *solution; /* scratch */
  real *singular;                      /* scratch of singular systems (2 x saddle.n) */
  real *kkt_w, *kkt_v, *kkt_a;         /* scratch: pull of the equations of the state */
  real *gp;                            /* scratch (np) */
  double *dp[2];                       /* by the parameters (np) */
  double **Mzero, **Mleft;             /* M times the motions without stiffness */
  double **zero_xi, **left_xi;         /* and their multipliers: K x + B^T xi = 0 */
  bool *ends;                          /* parameters that end the equilibrium (np) */
  double shift;
} mbg__modes_derivative;

/* modes_form.c: gradient of F for the right vectors of a and the left ones of b into g. */
int mbg__modes_form(mbg__modes_derivative *k, const mbg__mode *a, const mbg__mode *b);

/* modes_state_pull.c: the system at the state and the factored matrix of its equations. */
int mbg__modes_state_prepare(mbg__modes_derivative *k);
/* g through the state and the attributes to the parameters: dp. */
int mbg__modes_state_pull(mbg__modes_derivative *k);
/* Motions without stiffness: M times them, multipliers, and a shift of K by M that makes it regular. */
int mbg__modes_state_zeros(mbg__modes_derivative *k);
/* Parameters that end the equilibrium because they act along a motion without stiffness. */
void mbg__modes_state_ends(mbg__modes_derivative *k);

/* modes_gradient.c: y^T (2 s M + C) x, complex, of the left vectors of b and the right ones of a. */
int mbg__modes_scale(const mbg__modes_derivative *k, const mbg__mode *a, const mbg__mode *b, double q[2]);
/* a/b, complex. */
void mbg__modes_divide(const double a[2], const double b[2], double out[2]);
/* ds of mode i by parameter p into all lists; d(omega^2) instead of ds in the symmetric problem. */
void mbg__modes_store(const mbg__modes_derivative *k, mbg_modes *modes, int i, int p, const double ds[2]);

/* modes_repeated.c: derivatives of n modes from `first` on, which have the same eigenvalue. */
int mbg__modes_repeated(mbg__modes_derivative *k, mbg_modes *modes, int first, int n);

#endif
