/* The workspace of the stepper; its tangent and adjoint use the same matrices. */
#ifndef MBG_FORMULATIONS_ALPHA_ALPHA_INTERNAL_H
#define MBG_FORMULATIONS_ALPHA_ALPHA_INTERNAL_H

#include "formulations/alpha/alpha.h"

struct mbg__alpha {
  mbg__arena arena;
  const mbg_model *m;
  mbg__system *sys;
  const mbg__rank *rank;
  mbg__alpha_coefs c;
  mbg__saddle saddle;  /* [[beta h^2 (bp M + gp C + K T), B^T], [B T, 0]]: rows and multipliers scaled by beta h^2 */
  mbg__saddle initial; /* [[M, B^T], [B, 0]] */
  real *K, *C, *M, *B, *KT, *BT; /* values by the patterns of the system */
  real *T;                       /* T(Dx) of each body                         (nbody x 36) */
  real *x;                       /* right-hand side and solution               (nv + nrow) */
  real *r, *phi;                 /* residuals                                  (nw, nrow) */
  real *al0;                     /* auxiliary acceleration at the start of the step, rescaled  (nw) */
  real *q;                       /* coordinates at the start of a step         (ncoord) */
  int *turns;                    /* scratch                                    (nturn) */
  double error;
  mbg__alpha_work work;
};

/* Coefficients of a step: bp = (1-am)/(h^2 beta (1-af)), gp = gamma/(h beta). */
static inline double alpha_bp(const mbg__alpha *a, double h) {
  return (1 - a->c.am) / (h * h * a->c.beta * (1 - a->c.af));
}
static inline double alpha_gp(const mbg__alpha *a, double h) { return a->c.gamma / (h * a->c.beta); }

/* Factor of al - vd when the step changes; 1 when it does not (or at the start). */
static inline double alpha_rescale(const mbg__node *from, double h) { return from->h > 0 ? h / from->h : 1; }

enum { MBG__ALPHA_NEWTON_MAX = 15 };

/* Guess of the step: vd_{n+1} = vd_n; sets al0, and t, h, Dx, lambda, turns of `to`. */
void mbg__alpha_predict(mbg__alpha *a, const mbg__node *from, double h, mbg__node *to);
/* al, v, vd from X (Dx itself, but for the index-2 variant) and H from Dx. */
void mbg__alpha_follow(const mbg__alpha *a, const mbg__node *from, const real *X, mbg__node *to);
/* The error of a step that did not converge: names the body or row with the largest residual. */
int mbg__alpha_not_converged(mbg_context *ctx, const mbg__alpha *a, const mbg__node *to, double change);

/* Matrices and factors of the step that led to a node, at the node's state (the system is updated and linearized). */
int mbg__alpha_factor_at(mbg_context *ctx, mbg__alpha *a, const mbg__node *node);
/* ... of the initial accelerations at the first node. */
int mbg__alpha_factor_start(mbg_context *ctx, mbg__alpha *a, const mbg__node *node);

#endif
