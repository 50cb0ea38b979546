/* Pieces of equal shape side by side: a lane is a piece (math/lanes.h). Four pieces of a chain go through the recursion
   in the vectors of one. The groups depend on the model alone, and so do the bits: threads take groups. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ARTICULATED_GROUPS_H
#define MBG_FORMULATIONS_DCA_DCA_ARTICULATED_GROUPS_H

#include "formulations/dca/dca_articulated_internal.h"
#include "math/lanes.h"

typedef struct {
  lane R[9], x[3];
} mbg__lane_frame;

/* as mbg__art_inertia */
typedef struct {
  lane A[6], B[9], C[6];
} mbg__lane_inertia;

/* one link of each piece */
typedef struct {
  int link[MBG__LANES];
  int parent; /* place in the group, -1: the base */
  int nz, comp[6], first;
  mbg__lane_frame A;   /* of mbg__art_link ... */
  lane m, mc[3], J[6]; /* ... and its inertia */
  mbg__lane_frame Rel; /* of mbg__art_node */
  mbg__lane_inertia I;
  lane v[6], c[6], p[6], vd[6];
} mbg__lane_link;

typedef struct {
  lane U[6], inverse, u;
} mbg__lane_freedom;

typedef struct {
  int n, piece[MBG__LANES]; /* lanes behind n repeat the first piece */
  int count, npath, *path;  /* places on the way from the base to the exit */
  mbg__lane_link *links;    /*                                       (count) */
  mbg__lane_freedom *free_;
  bool bad;
} mbg__art_group;

struct mbg__art_groups {
  int n;
  mbg__art_group *groups;
  bool due; /* nodes and freedoms of the links are not those of the last dynamics */
};

/* of a group, for the state and right side of dynamics (dca_articulated_pieces.c) */
typedef struct {
  mbg__dca_articulated *k;
  const mbg__frame *E;
  const real *w, *base;
  real *a;
  const mbg__tree_state *state; /* sets E of a link if it has `make`; NULL: E is set */
} mbg__art_dynamics;
typedef void mbg__art_group_kernel(const mbg__art_dynamics *d, mbg__art_group *g);
mbg__art_group_kernel mbg__group_place, mbg__group_place_avx2;
mbg__art_group_kernel mbg__group_factor, mbg__group_factor_avx2;
mbg__art_group_kernel mbg__group_accelerate, mbg__group_accelerate_avx2;

/* 1 + Phi Ie of a piece in LU, and N = K^T Ie (1 + Phi Ie)^-1 K. */
typedef void mbg__exit_kernel(mbg__art_piece *x, real N[36]);
mbg__exit_kernel mbg__exit_factor, mbg__exit_factor_avx2;

#endif
