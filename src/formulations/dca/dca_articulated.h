/* The rake form for trees of rigid bodies without rows of their own: all pieces are raked from the tips, one body after the other, which is
   an articulated-inertia recursion (theory 3, sections 6 and 13). One thread, linear in the bodies, about the cost of the dynamics itself.

     vd_i = X vd_p + S a + c        f_i = M vd_i - r_i + sum over children X^T f_c        S^T f_i = tau

   in the frames K = H hC of the joints, where S are columns of the unit matrix: joints with several freedoms are eliminated one component
   after the other. A body needs no inertia of its own where what hangs on it has some. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ARTICULATED_H
#define MBG_FORMULATIONS_DCA_DCA_ARTICULATED_H

#include "tree/tree.h"

typedef struct mbg__dca_articulated mbg__dca_articulated;

int mbg__dca_articulated_create(mbg_context *ctx, mbg__arena *arena, const mbg__tree *tree, mbg__dca_articulated **out);
/* Constants of the links after a change of the design. */
void mbg__dca_articulated_refresh(mbg__dca_articulated *k);

/* Accelerations a (n) at joint frames E (nbody, by link) and rates w (n) of a model without forces but gravity: kinematics, factors and
   solution in two passes. */
int mbg__dca_articulated_dynamics(mbg_context *ctx, mbg__dca_articulated *k, double t, const mbg__frame *E,
                                  const real *w, real *a);
/* After it: the wrenches f (nw, body axes) of the joints. */
void mbg__dca_articulated_wrenches(const mbg__dca_articulated *k, real *f);

/* Factors alone at E. */
int mbg__dca_articulated_factor(mbg_context *ctx, mbg__dca_articulated *k, double t, const mbg__frame *E);
/* A right side: r, c (nw, body axes), tau (n), each may be NULL; vd, f (nw, may be NULL), a (n). With iterative refinement where masses
   differ much. scratch: mbg__dca_articulated_scratch(k) reals, one for each thread. */
size_t mbg__dca_articulated_scratch(const mbg__dca_articulated *k);
void mbg__dca_articulated_solve(const mbg__dca_articulated *k, const real *r, const real *tau, const real *c, real *vd,
                                real *a, real *f, real *scratch);
/* Largest residual of the equations above at (vd, a, f), relative to the largest of their terms. */
double mbg__dca_articulated_residual(const mbg__dca_articulated *k, const real *r, const real *tau, const real *c,
                                     const real *vd, const real *a, const real *f, real *scratch);

#endif
