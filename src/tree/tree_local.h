/* tree_local: the tree joint by joint, without sums over subtrees and without the system (theory 3, sections 5 and 9),
   for formulations that solve for accelerations and joint wrenches together:

     vd_i = X vd_p + Sb a + c        c = ad(v) s

   and its directional derivative, dvd_i = X dvd_p + Sb da + k with

     k = ad(X vd_p) theta + ad(g) Sb a - ad(s) nu + ad(v) ds            theta, g, nu, ds: tree_derivative.c */
#ifndef MBG_TREE_TREE_LOCAL_H
#define MBG_TREE_TREE_LOCAL_H

#include "tree/tree.h"

/* Redundant rows that the tree drops, ascending; their number. */
int mbg__tree_dropped_rows(const mbg__tree *t, const int **rows);

/* Frames and twists of the bodies at a state; the system is not touched. */
void mbg__tree_place(mbg__tree *t, const mbg__tree_state *state);
/* The same for some links alone, with all links on the ways to them; ascending. Not of models with modal bodies. */
void mbg__tree_place_some(mbg__tree *t, const mbg__tree_state *state, int nlink, const int *link);
/* After place: their rates, of a tree without modal bodies. */
void mbg__tree_accelerate(mbg__tree *t, const real *a);

/* After place: rates vd (nw) of the bodies, given by the caller instead of by a. */
void mbg__tree_rates(mbg__tree *t, const real *a, const real *vd);

/* c (nw), after place. */
void mbg__tree_bias(const mbg__tree *t, real *c);

/* a (n) of rates vd (nw) of the bodies; d (n) of twists u = J d (nw). After place. */
void mbg__tree_joint_rates(mbg__tree *t, const real *vd, real *a);
void mbg__tree_joint_twists(const mbg__tree *t, const real *u, real *d);

/* da (n) of dvd and the k of a local push (nw), and transposed: cotangents q of dvd, k of k (nw, written). */
void mbg__tree_joint_change(const mbg__tree *t, const real *dvd, const real *k, real *da);
void mbg__tree_joint_change_T(const mbg__tree *t, const real *ga, real *q, real *k);

/* mbg__tree_read and its derivatives, joints on modal bodies included. */
int mbg__tree_modal_create(mbg_context *ctx, mbg__tree *t);
void mbg__tree_local_read(mbg__tree *t, const mbg__frame *H, const real *v, mbg__frame *E, real *w);
void mbg__tree_local_read_push(mbg__tree *t, const real *w, const real *dv, const real *da, real *e, real *dw);
void mbg__tree_local_read_pull(mbg__tree *t, const real *ge, const real *gw_joint, real *gw, real *gv, real *ga);

/* `view` shows the state of `of`, a tree of the same model, for local_push (not still), joint_change and wrench_push
   alone, which may run at the same time in several views. */
void mbg__tree_view(mbg__tree *view, const mbg__tree *of);
/* ... with no memory but for what these write to; `of` lives longer. */
int mbg__tree_create_view(mbg_context *ctx, mbg__system *sys, const mbg__tree *of, mbg__tree **out);

/* Variations w, dv (nw) of frames and twists in a direction (e, dw, attributes) and k (nw). After place and rates.
   still: without the last two terms of k, for twists u = J a in place of vd. */
void mbg__tree_local_push(mbg__tree *t, const mbg__tree_direction *d, bool still, real *w, real *dv, real *k);
/* Transposed: cotangents w, dv of frames and twists, k of k, and (NULL: 0) ct, cg of theta and g (nw each); adds to ge
   (6 per link), gw (n), gattr (na). Without modal bodies and still, dv and k may be NULL: 0. */
void mbg__tree_local_pull(mbg__tree *t, const real *w, const real *dv, const real *k, const real *ct, const real *cg,
                          bool still, real *ge, real *gw, real *gattr);

/* After place_some: local_pull of the cotangents w, dv of frames and twists of these links, still, with k = 0. */
void mbg__tree_local_pull_some(mbg__tree *t, int nlink, const int *link, const real *w, const real *dv, real *ge,
                               real *gw, real *gattr);

/* Where cotangents of many states go to attributes, which are the same at all of them: until a call with NULL,
   local_pull adds those of hP and hC to sums (12 per link) in place of gattr. Attributes get the sums once. Not of
   models with modal bodies. */
void mbg__tree_sum_handles(mbg__tree *t, real *sums);
void mbg__tree_handles_pull(const mbg__tree *t, const real *sums, real *gattr);

/* The cotangent c of a change omega of hC (child) or hP of a link, in its own axes: adds to the attributes that move it
   and are wanted. */
void mbg__tree_handle_pull(const mbg__tree *t, int link, bool child, const real c[6], real *gattr);

/* Joint wrenches f (nw) in the direction of the last push: their contributions to the equations of bodies and joints,
     r_p += X^T ad(theta)^T f        tau = -Sb^T ad(g)^T f
   and transposed: from weights z (nw) of r and y (n) of tau to cotangents of theta and g. */
void mbg__tree_wrench_push(const mbg__tree *t, const real *f, real *r, real *tau);
void mbg__tree_wrench_pull(const mbg__tree *t, const real *f, const real *z, const real *y, real *ct, real *cg);

#endif
