/* The stabilised index-2 variant of the step, for simulation (theory 4, section 4): positions and velocities both satisfy their
   constraints. Its sensitivities are not offered. */
#ifndef MBG_FORMULATIONS_ALPHA_ALPHA_INDEX2_H
#define MBG_FORMULATIONS_ALPHA_ALPHA_INDEX2_H

#include "formulations/alpha/alpha.h"

typedef struct mbg__alpha_index2 mbg__alpha_index2;

int mbg__alpha_index2_create(mbg_context *ctx, mbg__alpha *a, mbg__alpha_index2 **out);
void mbg__alpha_index2_destroy(mbg__alpha_index2 *s);

/* As mbg__alpha_step. */
int mbg__alpha_index2_step(mbg_context *ctx, mbg__alpha_index2 *s, const mbg__node *from, double h, mbg__node *to);

#endif
