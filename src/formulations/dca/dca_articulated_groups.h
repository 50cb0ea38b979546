/* Pieces of equal shape side by side: a lane is a piece (math/lanes.h). Four pieces of a chain go through the recursion
   in the vectors of one. The groups depend on the model alone, and so do the bits: threads take groups. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ARTICULATED_GROUPS_H
#define MBG_FORMULATIONS_DCA_DCA_ARTICULATED_GROUPS_H

#include "formulations/dca/dca_articulated_internal.h"
#include "formulations/dca/dca_articulated_pull.h"
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

/* a right side of the adjoint and what the state gets from it (dca_articulated_pull.h) */
typedef struct {
  lane p[6], z[6];   /* right side; solution */
  lane nu[6], ct[6]; /* cotangents of the twist and of the relative frame */
} mbg__lane_cotangent;

/* cotangents of what attributes move, summed over states: mass, first moment and inertia; relative frame, in axes of
   the parent */
typedef struct {
  lane m, mc[3], J[6], frame[6];
} mbg__lane_sums;

typedef struct {
  int n, piece[MBG__LANES]; /* lanes behind n repeat the first piece */
  int count, npath, *path;  /* places on the way from the base to the exit */
  mbg__lane_link *links;    /*                                       (count) */
  mbg__lane_freedom *free_;
  mbg__lane_cotangent *pulls; /*                                     (count) */
  bool bad;
} mbg__art_group;

struct mbg__art_groups {
  int n;
  mbg__art_group *groups;
  bool due;     /* nodes and freedoms of the links are not those of the last dynamics */
  bool current; /* the groups are those of the last dynamics, or factors */
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

/* cotangents of twists that a piece hands to its base without those of its exit, and gets there */
typedef struct {
  real own[6], exit[6];
} mbg__art_up;

/* of a group, for a cotangent of the accelerations (dca_articulated_pull.h) */
typedef struct {
  const mbg__dca_articulated *k;
  const real *w, *a; /* of the state                                (n each) */
  const real *b;     /* cotangent of a                              (n) */
  real *ge, *gw;     /*                                             (6 per link), (n) */
  mbg__dca_sums *sums;
  mbg__art_up *up; /*                                               (pieces) */
} mbg__art_pull;
typedef void mbg__art_pull_kernel(const mbg__art_pull *d, int i);
mbg__art_pull_kernel mbg__group_pull_up, mbg__group_pull_up_avx2;
mbg__art_pull_kernel mbg__group_pull_down, mbg__group_pull_down_avx2;
mbg__art_pull_kernel mbg__group_pull_end, mbg__group_pull_end_avx2;

/* by group */
struct mbg__dca_sums {
  mbg__lane_sums **links; /*                                        (groups; count each) */
  lane (*ground)[3];      /* of the acceleration of the ground      (groups) */
  mbg__art_up *up;        /* scratch                                (pieces) */
  real *marker;           /* scratch: of the frames hC              (6 per link) */
};

/* 1 + Phi Ie of a piece in LU, and N = K^T Ie (1 + Phi Ie)^-1 K. */
typedef void mbg__exit_kernel(mbg__art_piece *x, real N[36]);
mbg__exit_kernel mbg__exit_factor, mbg__exit_factor_avx2;

#endif
