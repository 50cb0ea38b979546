/* Workspace of columns in lanes, and its kernel for the vectors of every processor and for wide ones. */
#ifndef MBG_FORMULATIONS_DCA_DCA_LANES_INTERNAL_H
#define MBG_FORMULATIONS_DCA_DCA_LANES_INTERNAL_H

#include "formulations/dca/dca_articulated_internal.h"
#include "formulations/dca/dca_lanes.h"
#include "tree/tree_lanes_internal.h"

/* mbg__art_side with columns in lanes */
typedef struct {
  lane p[6], pe[6], b[6], q[6], vd[6];
} mbg__art_lanes;

/* Vectors of the tree's workspace serve the recursion when they are no longer needed: dr and k are turned into p and c
   in axes of K. */
struct mbg__dca_lanes {
  const mbg__dca_articulated *k;
  mbg__tree_lanes *t;
  const real *f;         /* wrenches of the joints             (nw) */
  lane *p, *c, *v;       /*                                    (nw) */
  lane *u, *a;           /*                                    (n) */
  mbg__art_lanes *sides; /* of the pieces */
};

/* From dr, k, theta and g of a push to the accelerations a. */
typedef void mbg__art_lanes_kernel(mbg__dca_lanes *x);
mbg__art_lanes_kernel mbg__art_solve_columns, mbg__art_solve_columns_avx2;

#endif
