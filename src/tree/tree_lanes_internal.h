/* Workspace of columns in lanes, and its kernels for the vectors of every processor and for wide ones. */
#ifndef MBG_TREE_TREE_LANES_INTERNAL_H
#define MBG_TREE_TREE_LANES_INTERNAL_H

#include "system/system_lanes.h"
#include "tree/tree_internal.h"
#include "tree/tree_lanes.h"

struct mbg__tree_lanes {
  mbg__tree *t;
  bool wide; /* vectors of the processor */
  mbg__system_lanes *system;
  lane *eta, *nu, *al, *du, *dr, *ct, *cg; /* push: ct, cg are theta, g      (nw) */
  lane *row[4];                            /* pull: 0 but for the rows of the tree   (model's nrow) */
  lane *change[3];                         /* push                    (model's nrow) */
  lane *mu, *w, *a, *q;                    /*                         (n) */
  lane *e;                                 /*                         (6 nbody) */
  lane *da;                                /*                         (na) */
  bool *varied;                            /*                         (na) */
};

/* Columns at one link: e, what is set there, and frames and twists of the parent (NULL: the ground). */
typedef struct {
  const lane *e;
  lane *theta, *g, *eta, *nu;
  const lane *eta_parent, *nu_parent;
} mbg__tree_link_lanes;

typedef void mbg__tree_pull_kernel(mbg__tree_lanes *x, int nc, const mbg__tree_weights *k, const mbg__tree_gradient *g);
mbg__tree_pull_kernel mbg__tree_pull_columns, mbg__tree_pull_columns_avx2;
typedef void mbg__tree_push_kernel(mbg__tree_lanes *x, int nc, const mbg__tree_direction *d,
                                   const mbg__tree_change *out);
mbg__tree_push_kernel mbg__tree_push_columns, mbg__tree_push_columns_avx2;
typedef void mbg__tree_local_kernel(mbg__tree_lanes *x);
mbg__tree_local_kernel mbg__tree_local_push_columns, mbg__tree_local_push_columns_avx2;
/* ... of one link, in two parts: what needs no parent, with the change y of its rate and c, k of tree_local.h without
   nu; then eta, nu and c. */
typedef void mbg__tree_link_kernel(const mbg__tree_lanes *x, int k, const mbg__tree_link_lanes *l, lane y[6],
                                   lane c[6]);
mbg__tree_link_kernel mbg__tree_push_alone, mbg__tree_push_alone_avx2, mbg__tree_push_follow,
    mbg__tree_push_follow_avx2;

#endif
