/* The articulated-body recursion (Featherstone) for trees of rigid bodies without constraint rows: from the tips to the
   ground each body absorbs the bodies that hang on it. That is assembly (dca_assembly.h) with RAKE operations alone,
   one body after the other (theory 3, sections 6 and 13). Linear in the number of bodies. Large trees are cut into
   pieces, which the threads of a pool share (dca_articulated_pieces.c); the cuts depend on the model alone.

     vd_i = X vd_p + S a + c        f_i = M vd_i - r_i + sum over children X^T f_c        S^T f_i = tau

   in the frames K = H hC of the joints, where the columns of S are unit vectors: a joint with several freedoms is
   eliminated one component after the other. A body needs no inertia of its own if the bodies that hang on it have
   some. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ARTICULATED_H
#define MBG_FORMULATIONS_DCA_DCA_ARTICULATED_H

#include "base/pool.h"
#include "tree/tree.h"

typedef struct mbg__dca_articulated mbg__dca_articulated;

int mbg__dca_articulated_create(mbg_context *ctx, mbg__arena *arena, const mbg__tree *tree, mbg__pool *pool,
                                mbg__dca_articulated **out);
/* Reads the constants of the links from the design: after a change of parameters. */
void mbg__dca_articulated_refresh(mbg__dca_articulated *k);

/* Accelerations a (n) at the joint frames and rates of a state of a model whose only force is gravity: kinematics,
   factors and solution in two passes. */
int mbg__dca_articulated_dynamics(mbg_context *ctx, mbg__dca_articulated *k, const mbg__tree_state *state, real *a);
/* After dynamics by pieces (false: by another way, nothing is written): the rates vd (nw, body axes) of bodies with
   frames H (nbody). Wrenches and right sides come after it. */
bool mbg__dca_articulated_rates(mbg__dca_articulated *k, const mbg__frame *H, real *vd);
/* After dynamics: the wrenches f (nw, body axes) of the joints. */
void mbg__dca_articulated_wrenches(const mbg__dca_articulated *k, real *f);

/* Factors alone at E. */
int mbg__dca_articulated_factor(mbg_context *ctx, mbg__dca_articulated *k, double t, const mbg__frame *E);
/* Solves for one right side. r, c (nw, body axes), tau (n): each may be NULL. vd, f (nw; f may be NULL), a (n). Refined
   iteratively if masses differ much. scratch: mbg__dca_articulated_scratch(k) reals, separate for each thread. */
size_t mbg__dca_articulated_scratch(const mbg__dca_articulated *k);
void mbg__dca_articulated_solve(const mbg__dca_articulated *k, const real *r, const real *tau, const real *c, real *vd,
                                real *a, real *f, real *scratch);
/* Largest residual of the equations above at (vd, a, f), relative to the largest of their terms. */
double mbg__dca_articulated_residual(const mbg__dca_articulated *k, const real *r, const real *tau, const real *c,
                                     const real *vd, const real *a, const real *f, real *scratch);

#endif
