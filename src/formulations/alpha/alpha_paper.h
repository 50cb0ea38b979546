/* The papers' continuous adjoint, index 3, with consistent end conditions (theory 2, section 7.3; theory 4, section 8 in first-order
   form, where y = -xi): for the study of the papers. Integrals and end values only. */
#ifndef MBG_FORMULATIONS_ALPHA_ALPHA_PAPER_H
#define MBG_FORMULATIONS_ALPHA_ALPHA_PAPER_H

#include "formulations/alpha/alpha_continuous.h"

/* Nodes at the end whose multipliers are polluted by the start of the backward run: they are extrapolated from the three before
   them, when mbg__alpha_paper_late is called for each of them, after the others. */
enum { MBG__PAPER_LATE = 4, MBG__PAPER_NODES_MIN = MBG__PAPER_LATE + 3 };

/* Backward to node n of a trajectory with `last` as its last node. */
int mbg__alpha_paper_node(mbg_context *ctx, mbg__alpha_continuous *s, const mbg__node *node, int n, int last,
                          double omega, const mbg__criterion_seeds *seeds, mbg__start_work *start, real *psi_a);
/* Part of node n > last - MBG__PAPER_LATE that waits for the extrapolation. */
int mbg__alpha_paper_late(mbg_context *ctx, mbg__alpha_continuous *s, const mbg__node *node, double omega, real *psi_a);

#endif
