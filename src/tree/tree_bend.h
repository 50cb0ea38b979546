/* tree_bend: links whose joint sits on markers that move with the modes of their body (theory 3, sections 3 and 8). With the marker P on the
   parent and C on the body, their twists v_P = J_P nu_p, v_C = J_C nu and rates vd_P, vd_C,

     H = H_p hP(eta_p) E hC(eta)^-1      v_C = Ad(E^-1) v_P + S w      vd_C = Ad(E^-1) vd_P + S a + ad(v_C) S w

   Modal coordinates are links of their own: free carriers, which come first. tree_local.c calls these functions for such links. */
#ifndef MBG_TREE_TREE_BEND_H
#define MBG_TREE_TREE_BEND_H

#include "tree/tree_internal.h"

/* Takes what it needs where the model has modal bodies; t->bends stays NULL without them. */
int mbg__tree_bends_create(mbg_context *ctx, mbg__tree *t);

static inline bool mbg__tree_carrier(const mbg__tree *t, int k) { return t->m->bodies[t->links[k].body].carrier >= 0; }
bool mbg__tree_bends(const mbg__tree *t, int k);

/* Coordinates and rates of all modal bodies, once their carriers have H and v. */
void mbg__tree_bends_take(mbg__tree *t, const mbg__frame *H, const real *v);
void mbg__tree_bends_take_rates(mbg__tree *t, const real *vd);

/* One link: frames and twist; rates; a of the rates vd. */
void mbg__tree_bend_place(mbg__tree *t, int k, const real *w);
void mbg__tree_bend_rates(mbg__tree *t, int k);
void mbg__tree_bend_joint(mbg__tree *t, int k, const real *w, real *a);

/* dvd (nw) and k of the link (6, in axes of C) to da, and transposed: adds to q (nw), sets k. */
void mbg__tree_bend_change(const mbg__tree *t, int k, const real *dvd, const real *kC, real *da);
void mbg__tree_bend_change_T(const mbg__tree *t, int k, const real *ga, real *q, real *kC);

/* As the functions of tree_local.h, for one link; w, dv, k are vectors of all bodies. */
void mbg__tree_bend_push(mbg__tree *t, int k, const mbg__tree_direction *d, bool still, real *w, real *dv, real *kC);
void mbg__tree_bend_pull(mbg__tree *t, int k, const real *kC, bool still, real *w, real *dv, real *ge, real *gw,
                         real *gattr);
void mbg__tree_bend_read(mbg__tree *t, int k, const mbg__frame *H, const real *v, mbg__frame *E, real *w);
void mbg__tree_bend_read_push(mbg__tree *t, int k, const real *w, const real *dv, const real *da, real *e, real *dw);
void mbg__tree_bend_read_pull(mbg__tree *t, int k, const real *ge, const real *gw_joint, real *gw, real *gv, real *ga);

#endif
