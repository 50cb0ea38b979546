/* Continuous adjoint in index-1 form on the nodes of a run (theory 2, section 7.2): converges to the discrete one with
   second order; for cross-checks and for data with noise. */
#ifndef MBG_FORMULATIONS_ALPHA_ALPHA_CONTINUOUS_H
#define MBG_FORMULATIONS_ALPHA_ALPHA_CONTINUOUS_H

#include "formulations/alpha/alpha.h"
#include "formulations/formulation.h"

typedef struct mbg__alpha_continuous mbg__alpha_continuous;

int mbg__alpha_continuous_create(mbg_context *ctx, mbg__alpha *a, int ncrit, int nused, const int *used,
                                 mbg__alpha_continuous **out);
void mbg__alpha_continuous_destroy(mbg__alpha_continuous *s);

/* Backward to node n (the last node first); psi_a (ncrit x na) is added to. start: at the first node, else NULL. */
int mbg__alpha_continuous_node(mbg_context *ctx, mbg__alpha_continuous *s, const mbg__node *node, int n, double omega,
                               const mbg__criterion_seeds *seeds, mbg__start_work *start, real *psi_a);

#endif
