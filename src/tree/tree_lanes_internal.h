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

typedef void mbg__tree_pull_kernel(mbg__tree_lanes *x, int nc, const mbg__tree_weights *k, const mbg__tree_gradient *g);
mbg__tree_pull_kernel mbg__tree_pull_columns, mbg__tree_pull_columns_avx2;
typedef void mbg__tree_push_kernel(mbg__tree_lanes *x, int nc, const mbg__tree_direction *d,
                                   const mbg__tree_change *out);
mbg__tree_push_kernel mbg__tree_push_columns, mbg__tree_push_columns_avx2;
typedef void mbg__tree_local_kernel(mbg__tree_lanes *x);
mbg__tree_local_kernel mbg__tree_local_push_columns, mbg__tree_local_push_columns_avx2;

#endif
