/* Workspace of columns in lanes, and its kernel for the vectors of every processor and for wide ones. */
#ifndef MBG_FORMULATIONS_DCA_DCA_LANES_INTERNAL_H
#define MBG_FORMULATIONS_DCA_DCA_LANES_INTERNAL_H

#include "formulations/dca/dca_articulated_internal.h"
#include "formulations/dca/dca_lanes.h"
#include "tree/tree_lanes_internal.h"

/* mbg__art_side with columns in lanes; variations of frame and twist of the exit, and what they are with the base at
   rest; the exit in axes of the base's body */
typedef struct {
  lane p[6], pe[6], b[6], q[6], vd[6];
  lane eta[6], nu[6], own[2][6];
  mbg__frame G;
} mbg__art_lanes;

/* Vectors of the tree's workspace serve the recursion when they are no longer needed: dr and k are turned into p and c
   in axes of K. Where a thread goes through a tree piece by piece, all but c begin anew with each piece, so that they
   stay in its cache. */
struct mbg__dca_lanes {
  const mbg__dca_articulated *k;
  mbg__tree_lanes *t;
  const real *f; /* wrenches of the joints             (nw) */
  const int *at; /* first number of a link in vectors of bodies but c: one of the next two   (nbody) */
  int *whole, *piece;
  const mbg__dca_lanes_direction *d; /* of a push by pieces */
  real *const *out;
  lane *p, *c, *v;       /*                                    (nw) */
  lane *u, *a;           /*                                    (n) */
  mbg__art_lanes *sides; /* of the pieces */
};

/* From dr, k, theta and g of a push to the accelerations a. */
typedef void mbg__art_lanes_kernel(mbg__dca_lanes *x);
mbg__art_lanes_kernel mbg__art_solve_columns, mbg__art_solve_columns_avx2;
/* From the directions to the results, one piece after the other. */
mbg__art_lanes_kernel mbg__art_push_columns, mbg__art_push_columns_avx2;
/* The same by phases, between which threads meet: pieces (the user is the workspace), and what lies between them. */
mbg__pool_item mbg__art_piece_alone, mbg__art_piece_alone_avx2, mbg__art_piece_up, mbg__art_piece_up_avx2,
    mbg__art_piece_down, mbg__art_piece_down_avx2;
mbg__art_lanes_kernel mbg__art_exits_place, mbg__art_exits_place_avx2, mbg__art_exits_solve, mbg__art_exits_solve_avx2;

#endif
