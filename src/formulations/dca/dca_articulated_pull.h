/* The transpose of dynamics (dca_articulated.h) of a tree whose pieces go side by side, from its links alone: no frames
   of bodies, no equations of the system. In axes of the joint frames K = H hC, with the acceleration -g of the ground,

     v = X v_p + S w        vd = X vd_p + S a + ad(v) S w        f = M vd - ad(v)^T M v + sum over children X^T f_c
     S^T f = 0              X = Ad(Rel^-1), Rel = A E, A = hC_p^-1 hP

   A cotangent b of a has the multipliers z, h of the same system (K^T = K; theory 3, section 11),

     z = X z_p + S y        h = M z + sum over children X^T h_c        S^T h = b

   and the cotangents of twists, rates, relative frames (theta = Rel^-1 dRel) and mass matrices are

     nu = ad(S w)^T h - ad(z)^T M v + M ad(v) z + sum over children X^T nu_c        w: S^T (nu - ad(v)^T h)
     theta: ad(X v_p)^T nu - ad(X vd_p)^T h - ad(X z_p)^T f                         M: (ad(v) z) v^T - z vd^T

   Attributes move M and A, and both are linear in what does not change during a run: their cotangents are summed over
   all states, and attributes get theirs once. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ARTICULATED_PULL_H
#define MBG_FORMULATIONS_DCA_DCA_ARTICULATED_PULL_H

#include "formulations/dca/dca_articulated.h"

/* Trees of less than 512 bodies, which the recursion from body to body serves better otherwise: from now on their
   dynamics go by pieces side by side as well, if these have one shape. */
void mbg__dca_articulated_group(mbg__dca_articulated *k, bool on);
/* Were the last dynamics those of pieces side by side? */
bool mbg__dca_articulated_grouped(const mbg__dca_articulated *k);

/* Sums for the attributes, 0; NULL: pieces do not go side by side. Memory in the arena. */
typedef struct mbg__dca_sums mbg__dca_sums;
int mbg__dca_sums_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_articulated *k, mbg__dca_sums **out);
/* Adds to ga (na) the cotangents of the attributes that are wanted, and clears the sums. */
void mbg__dca_sums_pull(const mbg__dca_articulated *k, mbg__dca_sums *sums, real *ga);

/* After dynamics of pieces side by side at rates w with accelerations a: the cotangent b (n) of a adds to ge (6 per
   link), gw (n) and the sums. */
void mbg__dca_articulated_pull(const mbg__dca_articulated *k, const real *w, const real *a, const real *b, real *ge,
                               real *gw, mbg__dca_sums *sums);

#endif
