/* tree_modal: joints whose markers move with the modes of their body (theory 3, sections 3 and 8). With the marker P on
   the parent and C on the body, their twists v_P = J_P nu_p, v_C = J_C nu and rates vd_P, vd_C,

     H = H_p hP(eta_p) E hC(eta)^-1      v_C = Ad(E^-1) v_P + S w      vd_C = Ad(E^-1) vd_P + S a + ad(v_C) S w

   Modal coordinates are links of their own: free carriers, which come first. tree_local.c calls these functions for
   joints on modal bodies. */
#ifndef MBG_TREE_TREE_MODAL_H
#define MBG_TREE_TREE_MODAL_H

#include "tree/tree_internal.h"

/* One end of a link's joint. */
typedef struct {
  int marker, body; /* body -1: ground */
  int modal;        /* modal body that the marker moves with, -1: rigid */
  mbg__modal_marker m;
  real *dP, *gP; /* variation and cotangent of its modal columns */
  int *col;      /* of the modes among the columns of the link's path (tree_modal_matrix.c) */
  real v[6], vd[6];
} mbg__tree_end;

/* A joint on a modal body. */
typedef struct {
  mbg__tree_end P, C;
  real w[6];          /* S w */
  real XvP[6], vC[6]; /* Ad(E^-1) v_P, v_C */
  real XvdP[6];       /* Ad(E^-1) vd_P */
} mbg__tree_modal_joint;

struct mbg__tree_modal {
  mbg__tree_modal_joint **link;                                  /* NULL: rigid ends                    (nbody) */
  real **eta, **etad, **etadd, **deta, **detad, **geta, **getad; /* of each modal body                  (nmodal) */
  real *vd;                                                      /* rates of the bodies                 (nw) */
  real *dP; /* of a view: dP of all ends, one after the other; else NULL    (6 for each mode of the largest body) */
  real *y[3], *e, *x[2]; /* scratch of columns, zero between calls           (nw), (6 nbody), (n) */
};

/* Creates t->modal; it stays NULL if the model has no modal bodies. */
int mbg__tree_modal_create(mbg_context *ctx, mbg__tree *t);
/* Of a view: what its pushes write to; the state. */
int mbg__tree_modal_create_view(mbg_context *ctx, mbg__tree *view, const mbg__tree *of);
void mbg__tree_modal_view(mbg__tree *view, const mbg__tree *of);

static inline bool mbg__tree_carrier(const mbg__tree *t, int k) { return t->m->bodies[t->links[k].body].carrier >= 0; }
bool mbg__tree_on_modes(const mbg__tree *t, int k);

/* Copies the modal coordinates, and their rates, from the frames and twists of their carriers. */
void mbg__tree_modal_take(mbg__tree *t, const mbg__frame *H, const real *v);
void mbg__tree_modal_take_rates(mbg__tree *t, const real *vd);

/* One link: frames and twist; rates; a of the rates vd. */
void mbg__tree_modal_place_alone(mbg__tree *t, int k, const real *w); /* without the parent, ... */
void mbg__tree_modal_place_after(mbg__tree *t, int k);                /* ... after it, then the twist of C */
void mbg__tree_modal_place_ends(mbg__tree *t, int k);
/* For sweeps by pieces: s in v = X v_p + s; the twists of both ends when those of the bodies are known. */
void mbg__tree_modal_relative_twist(mbg__tree *t, int k, real s[6]);
void mbg__tree_modal_place_both(mbg__tree *t, int k);
void mbg__tree_modal_rates(mbg__tree *t, int k);
void mbg__tree_modal_joint_rates(mbg__tree *t, int k, real *a);

/* dvd (nw) and k of the link (6, in axes of C) to da, and transposed: adds to q (nw), sets k. */
void mbg__tree_modal_change(const mbg__tree *t, int k, const real *dvd, const real *kC, real *da);
void mbg__tree_modal_change_T(const mbg__tree *t, int k, const real *ga, real *q, real *kC);

/* The functions of tree_local.h for one link; w, dv, k are vectors of all bodies. */
void mbg__tree_modal_push(mbg__tree *t, int k, const mbg__tree_direction *d, bool still, real *w, real *dv, real *kC);
void mbg__tree_modal_pull(mbg__tree *t, int k, const real *kC, bool still, real *w, real *dv, real *ge, real *gw,
                          real *gattr);
/* The same in two parts: nu of the link becomes complete, and what its parent gets beside X^T nu is in `parent`; then
   everything that goes to modes, coordinates and attributes. */
void mbg__tree_modal_pull_up(const mbg__tree *t, int k, const real *kC, bool still, real nu[6], real parent[6]);
void mbg__tree_modal_pull_rest(mbg__tree *t, int k, const real *kC, bool still, real *w, real *dv, real *ge, real *gw,
                               real *gattr);
void mbg__tree_modal_read(mbg__tree *t, int k, const mbg__frame *H, const real *v, mbg__frame *E, real *w);
void mbg__tree_modal_read_push(mbg__tree *t, int k, const real *w, const real *dv, const real *da, real *e, real *dw);
void mbg__tree_modal_read_pull(mbg__tree *t, int k, const real *ge, const real *gw_joint, real *gw, real *gv, real *ga);

/* The functions of tree.h for one link, with vectors of all bodies in the tree; carriers and the parent come first.
   accelerate: rates by a (NULL: 0). link_push, link_pull: eta, nu, al and, with q, du. */
void mbg__tree_modal_accelerate(mbg__tree *t, int k, const real *a);
void mbg__tree_modal_link_push(mbg__tree *t, int k, const mbg__tree_direction *d);
void mbg__tree_modal_link_pull(mbg__tree *t, int k, const mbg__tree_gradient *o);
/* The linear part for a vector y of all bodies,
     y_k = Ad(hC) (Ad(E^-1) J_P y + S x + c - Psi_C y)
   with x (n) and c (6, axes of C); NULL: 0. Transposed: from y_k, adds to y of parent and modes and to x, sets c. */
void mbg__tree_modal_forward(const mbg__tree *t, int k, const real *x, const real *c, real *y);
void mbg__tree_modal_backward(const mbg__tree *t, int k, real *y, real *x, real c[6]);
/* Wrench f on the subtree of link k in the direction (w of the modes, e, attributes), with its change in dr: adds to dr
   of the parent and of the modes, sets dE1 of the link. */
void mbg__tree_modal_wrench_push(mbg__tree *t, int k, const mbg__tree_direction *d, const real *w, const real f[6],
                                 real *dr, real *dE1);
/* The gradient of f.z_k with z = J mu (nw), mu and the z of parent and modes held: adds to t->eta and o. */
void mbg__tree_modal_test_pull(mbg__tree *t, int k, const real f[6], real *z, const mbg__tree_gradient *o);

/* Columns (tree_matrix.c): modes that a link adds to the path of its parent and of its own coordinates; their list at
   `path`; values of the columns; d(J^T) f in a step of length h, at the slots of the diagonal block. */
int mbg__tree_modal_more(const mbg__tree *t, int k);
int mbg__tree_modal_paths(mbg_context *ctx, mbg__tree *t);
void mbg__tree_modal_more_columns(const mbg__tree *t, int k, int *path);
void mbg__tree_modal_motions(mbg__tree *t, int k);
void mbg__tree_modal_variations(mbg__tree *t, int k, real h, const real *D);
void mbg__tree_modal_geometry(mbg__tree *t, int k, real h, const real *D, const int *slot, real *val);

/* ---------------------------------------------------------------------- shared by the files of the module */

/* place of modal coordinate j among the velocities of the bodies */
static inline int mode_at(const mbg__tree *t, int modal, int j) {
  return t->m->bodies[mbg__modal_carrier(&t->m->modals[modal], j)].voff + j % 3;
}

static inline void gather_modes(const mbg__tree *t, int modal, const real *x, real *out) {
  for (int j = 0; j < t->m->modals[modal].n; j++) {
    out[j] = x[mode_at(t, modal, j)];
  }
}

/* the part of an end's body in a vector of all bodies; NULL: ground, or y NULL */
static inline const real *of_body(const mbg__tree *t, const mbg__tree_end *x, const real *y) {
  return x->body >= 0 && y ? y + t->m->bodies[x->body].voff : NULL;
}

/* out = J y of a vector y of all bodies (NULL: 0) and of the modal coordinates in the list `modes`. */
void mbg__tree_end_twist(const mbg__tree *t, mbg__tree_end *x, const real *y, real **modes, real out[6]);

#endif
