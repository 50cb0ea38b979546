/* tree_local: the tree joint by joint, nothing gathered and no system behind it (theory 3, sections 5 and 9): for formulations that solve
   for accelerations and joint wrenches together.

     vd_i = X vd_p + Sb a + c        c = ad(v) s

   and its directional derivative, dvd_i = X dvd_p + Sb da + k with

     k = ad(X vd_p) theta + ad(g) Sb a - ad(s) nu + ad(v) ds            theta, g, nu, ds: tree_derivative.c */
#ifndef MBG_TREE_TREE_LOCAL_H
#define MBG_TREE_TREE_LOCAL_H

#include "tree/tree.h"

/* Redundant rows that the tree drops, ascending; their number. */
int mbg__tree_dropped_rows(const mbg__tree *t, const int **rows);

/* Frames, twists and, with a, rates of the bodies at a state; the system is not touched. */
void mbg__tree_place(mbg__tree *t, const mbg__tree_state *state);

/* After place: rates vd (nw) of the bodies, given by the caller instead of by a. */
void mbg__tree_rates(mbg__tree *t, const real *a, const real *vd);

/* c (nw), after place. */
void mbg__tree_bias(const mbg__tree *t, real *c);

/* y_i - X y_p of vectors of the bodies, and transposed: y_i - sum over children X^T y_c. out is not y. */
void mbg__tree_difference(const mbg__tree *t, const real *y, real *out);
void mbg__tree_difference_T(const mbg__tree *t, const real *y, real *out);

/* Components of y (nw) along the joints: a = S^T Ad(hC^-1) y; transposed: y (nw) = Ad(hC^-1)^T S a. */
void mbg__tree_pick(const mbg__tree *t, const real *y, real *a);
void mbg__tree_pick_T(const mbg__tree *t, const real *a, real *y);
/* y (nw) = Sb a, and transposed. */
void mbg__tree_spread(const mbg__tree *t, const real *a, real *y);
void mbg__tree_spread_T(const mbg__tree *t, const real *y, real *a);

/* Variations w, dv (nw) of frames and twists in a direction (e, dw, attributes) and k (nw). After place and rates. still: the last two
   terms of k are left out, for twists u = J a in place of vd. */
void mbg__tree_local_push(mbg__tree *t, const mbg__tree_direction *d, bool still, real *w, real *dv, real *k);
/* Transposed: cotangents w, dv of frames and twists, k of k, and (NULL: 0) ct, cg of theta and g (nw each); adds to ge (6 per link),
   gw (n), gattr (na). */
void mbg__tree_local_pull(mbg__tree *t, const real *w, const real *dv, const real *k, const real *ct, const real *cg,
                          bool still, real *ge, real *gw, real *gattr);

/* Joint wrenches f (nw): what the direction of the last push makes of them in the equations of bodies and joints,
     r_p += X^T ad(theta)^T f        tau = -Sb^T ad(g)^T f
   and transposed: the weights z (nw) of the former, y (n) of the latter on theta and g. */
void mbg__tree_wrench_push(const mbg__tree *t, const real *f, real *r, real *tau);
void mbg__tree_wrench_pull(const mbg__tree *t, const real *f, const real *z, const real *y, real *ct, real *cg);

#endif
