/* Tangent and adjoint of the alpha stepper: derivatives of exactly what the stepper does (theory 4, sections 5 and 7). */
#ifndef MBG_FORMULATIONS_ALPHA_ALPHA_GRADIENT_H
#define MBG_FORMULATIONS_ALPHA_ALPHA_GRADIENT_H

#include "formulations/alpha/alpha.h"

/* ---------------------------------------------------------------------- tangent */

/* Sensitivities of a node by np parameters: blocks of np columns over free velocities and rows. */
typedef struct mbg__alpha_tangent mbg__alpha_tangent;

int mbg__alpha_tangent_create(mbg_context *ctx, mbg__alpha *a, mbg__alpha_tangent **out);
void mbg__alpha_tangent_destroy(mbg__alpha_tangent *s);

/* At the first node: start and initial accelerations differentiated. */
int mbg__alpha_tangent_begin(mbg_context *ctx, mbg__alpha_tangent *s, mbg__start_work *start, const mbg__node *node);
/* From a node to the next. */
int mbg__alpha_tangent_step(mbg_context *ctx, mbg__alpha_tangent *s, const mbg__node *from, const mbg__node *to);
/* dy/dp (np) of a signal at the node of the last begin or step, explicit dependence on attributes included. The signals of
   the system must be linearized there: mbg__system_linearize_signals. */
void mbg__alpha_tangent_signal(mbg__alpha_tangent *s, int signal, real *dy);

/* ---------------------------------------------------------------------- adjoint */

/* Cotangents of a node for ncrit criteria. */
typedef struct mbg__alpha_adjoint mbg__alpha_adjoint;

int mbg__alpha_adjoint_create(mbg_context *ctx, mbg__alpha *a, int ncrit, mbg__alpha_adjoint **out);
void mbg__alpha_adjoint_destroy(mbg__alpha_adjoint *s);

/* Forgets everything: before the last node of a trajectory. */
void mbg__alpha_adjoint_clear(mbg__alpha_adjoint *s);
/* Weights of signals at a node for each criterion: seed (ncrit x nsignals used), signal (nused). */
typedef struct {
  int nused;
  const int *signal;
  const real *seed; /* ncrit x nused, row-major */
} mbg__seeds;
/* Backward through node n >= 1 (and the step that led to it); psi_a: ncrit x na, added to. */
int mbg__alpha_adjoint_step(mbg_context *ctx, mbg__alpha_adjoint *s, const mbg__node *node, const mbg__seeds *seeds,
                            real *psi_a);
/* The first node and the start. */
int mbg__alpha_adjoint_end(mbg_context *ctx, mbg__alpha_adjoint *s, mbg__start_work *start, const mbg__node *node,
                           const mbg__seeds *seeds, real *psi_a);

#endif
