/* Links, factors and kernels of the articulated-body recursion, shared by its serial form (dca_articulated.c) and the
   form by pieces (dca_articulated_pieces.c). */
#ifndef MBG_FORMULATIONS_DCA_DCA_ARTICULATED_INTERNAL_H
#define MBG_FORMULATIONS_DCA_DCA_ARTICULATED_INTERNAL_H

#include "formulations/dca/dca_articulated.h"
#include "formulations/dca/dca_loops.h"

#include "system/system_internal.h"

typedef struct mbg__art_pieces mbg__art_pieces;

/* [[A, B], [B^T, C]], A and C symmetric: xx, yy, zz, xy, xz, yz */
typedef struct {
  real A[6], B[9], C[6];
} mbg__art_inertia;

typedef struct {
  int body, parent, first, nz, comp[6], off;
  mbg__frame A;        /* frame of the joint's parent side in the parent's K */
  mbg__frame hC;       /* K in the body */
  real m, mc[3], J[6]; /* mass, first moment, inertia about the origin of K */
} mbg__art_link;

typedef struct {
  mbg__frame Rel;     /* K in the parent's K */
  mbg__art_inertia I; /* of the subtree, then without the motions of the joint */
  real v[6], c[6], p[6], vd[6];
} mbg__art_node;

/* one freedom: U = I S, 1/(S^T U) */
typedef struct {
  real U[6], inverse;
} mbg__art_freedom;

/* A piece (dca_articulated_pieces.c). */
typedef struct {
  int first, count, path, npath, base; /* as in tree_pieces.h */
  mbg__frame G;                        /* exit in axes of the base */
  real s[6], v[6];                     /* twist of the exit relative to the base, whole */
  mbg__art_inertia I, Ie;
  real P[6][6]; /* columns of K^T */
  real Phi[36];
  real LU[36]; /* of 1 + Phi Ie */
  int pivot[6];
  bool bad;
} mbg__art_piece;

/* ... of a right side */
typedef struct {
  real p[6], pe[6], b[6], q[6], vd[6];
} mbg__art_side;

struct mbg__art_pieces {
  int n;
  bool small; /* for pulls alone */
  bool wide;  /* vectors of the processor */
  mbg__art_piece *pieces;
  const int *list, *path;         /* links by piece */
  mbg__art_side *sides;           /* of dynamics                      (n) */
  struct mbg__art_groups *groups; /* pieces side by side in dynamics, NULL: one by one */
};

struct mbg__dca_articulated {
  const mbg__tree *tree;
  const mbg_model *m;
  const mbg__design *design;
  int n, nbody;
  bool refine;
  mbg__pool *pool;
  mbg__art_pieces *pieces; /* NULL: one body after the other */
  bool by_pieces;          /* the factors are those of pieces */
  bool pulls;              /* small trees go by pieces as well */
  mbg__art_link *links;
  mbg__art_node *nodes;
  mbg__art_freedom *free_; /*                                        (n) */
  real *u;                 /* S^T of the right side of dynamics     (n) */
};

/* ---------------------------------------------------------------------- kernels */

/* f = M v */
static inline void momentum(const mbg__art_link *l, const real v[6], real f[6]) {
  const real *J = l->J;
  v3_scale(f, l->m, v);
  v3_cross_add(f, -1, l->mc, v + 3);
  f[3] = J[0] * v[3] + J[3] * v[4] + J[4] * v[5];
  f[4] = J[3] * v[3] + J[1] * v[4] + J[5] * v[5];
  f[5] = J[4] * v[3] + J[5] * v[4] + J[2] * v[5];
  v3_cross_add(f + 3, 1, l->mc, v);
}

static inline void own_inertia(const mbg__art_link *l, mbg__art_inertia *I) {
  I->A[0] = I->A[1] = I->A[2] = l->m;
  I->A[3] = I->A[4] = I->A[5] = 0;
  I->B[0] = I->B[4] = I->B[8] = 0;
  I->B[1] = l->mc[2];
  I->B[2] = -l->mc[1];
  I->B[3] = -l->mc[2];
  I->B[5] = l->mc[0];
  I->B[6] = l->mc[1];
  I->B[7] = -l->mc[0];
  vn_copy(6, I->C, l->J);
}

static inline void column_of(const mbg__art_inertia *I, int c, real U[6]) {
  static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
  for (int i = 0; i < 3; i++) {
    U[i] = c < 3 ? I->A[place[i][c]] : I->B[3 * i + c - 3];
    U[3 + i] = c < 3 ? I->B[3 * c + i] : I->C[place[i][c - 3]];
  }
}

/* I -= s U U^T */
static inline void subtract_outer(mbg__art_inertia *I, real s, const real U[6]) {
  real V[6];
  v6_scale(V, s, U);
  I->A[0] -= V[0] * U[0];
  I->A[1] -= V[1] * U[1];
  I->A[2] -= V[2] * U[2];
  I->A[3] -= V[0] * U[1];
  I->A[4] -= V[0] * U[2];
  I->A[5] -= V[1] * U[2];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      I->B[3 * i + j] -= V[i] * U[3 + j];
    }
  }
  I->C[0] -= V[3] * U[3];
  I->C[1] -= V[4] * U[4];
  I->C[2] -= V[5] * U[5];
  I->C[3] -= V[3] * U[4];
  I->C[4] -= V[3] * U[5];
  I->C[5] -= V[4] * U[5];
}

/* out = R S R^T, S symmetric */
static inline void rotate_symmetric(const real R[9], const real S[6], real out[6]) {
  real T[9];
  for (int i = 0; i < 3; i++) {
    const real *r = R + 3 * i;
    T[3 * i] = r[0] * S[0] + r[1] * S[3] + r[2] * S[4];
    T[3 * i + 1] = r[0] * S[3] + r[1] * S[1] + r[2] * S[5];
    T[3 * i + 2] = r[0] * S[4] + r[1] * S[5] + r[2] * S[2];
  }
  out[0] = v3_dot(T, R);
  out[1] = v3_dot(T + 3, R + 3);
  out[2] = v3_dot(T + 6, R + 6);
  out[3] = v3_dot(T, R + 3);
  out[4] = v3_dot(T, R + 6);
  out[5] = v3_dot(T + 3, R + 6);
}

/* to += X^T I X, X = Ad(Rel^-1): turned by R, then moved by x,
     A' = A        B' = B - A x~        C' = C + x~ B' + (x~ B)^T */
static inline void carry_inertia(const mbg__frame *Rel, const mbg__art_inertia *I, mbg__art_inertia *to) {
  const real *R = Rel->R, *x = Rel->x;
  real A[6], B[9], C[6], T[9], D[9];
  rotate_symmetric(R, I->A, A);
  rotate_symmetric(R, I->C, C);
  m3_mul(T, R, I->B);
  m3_mul_NT(B, T, R);
  /* rows of A, each crossed with x */
  D[0] = B[0] - (A[3] * x[2] - A[4] * x[1]);
  D[1] = B[1] - (A[4] * x[0] - A[0] * x[2]);
  D[2] = B[2] - (A[0] * x[1] - A[3] * x[0]);
  D[3] = B[3] - (A[1] * x[2] - A[5] * x[1]);
  D[4] = B[4] - (A[5] * x[0] - A[3] * x[2]);
  D[5] = B[5] - (A[3] * x[1] - A[1] * x[0]);
  D[6] = B[6] - (A[5] * x[2] - A[2] * x[1]);
  D[7] = B[7] - (A[2] * x[0] - A[4] * x[2]);
  D[8] = B[8] - (A[4] * x[1] - A[5] * x[0]);
  vn_axpy(6, to->A, 1, A);
  vn_axpy(9, to->B, 1, D);
  /* (x~ D + (x~ B)^T)_ij = (x x D_j)_i + (x x B_i)_j */
  to->C[0] += C[0] + x[1] * D[6] - x[2] * D[3] + x[1] * B[6] - x[2] * B[3];
  to->C[1] += C[1] + x[2] * D[1] - x[0] * D[7] + x[2] * B[1] - x[0] * B[7];
  to->C[2] += C[2] + x[0] * D[5] - x[1] * D[2] + x[0] * B[5] - x[1] * B[2];
  to->C[3] += C[3] + x[1] * D[7] - x[2] * D[4] + x[2] * B[0] - x[0] * B[6];
  to->C[4] += C[4] + x[1] * D[8] - x[2] * D[5] + x[0] * B[3] - x[1] * B[0];
  to->C[5] += C[5] + x[2] * D[2] - x[0] * D[8] + x[0] * B[4] - x[1] * B[1];
}

/* out = I v */
static inline void inertia_mul(const mbg__art_inertia *I, const real v[6], real out[6]) {
  const real *A = I->A, *B = I->B, *C = I->C, *U = v, *W = v + 3;
  out[0] = A[0] * U[0] + A[3] * U[1] + A[4] * U[2] + v3_dot(B, W);
  out[1] = A[3] * U[0] + A[1] * U[1] + A[5] * U[2] + v3_dot(B + 3, W);
  out[2] = A[4] * U[0] + A[5] * U[1] + A[2] * U[2] + v3_dot(B + 6, W);
  out[3] = B[0] * U[0] + B[3] * U[1] + B[6] * U[2] + C[0] * W[0] + C[3] * W[1] + C[4] * W[2];
  out[4] = B[1] * U[0] + B[4] * U[1] + B[7] * U[2] + C[3] * W[0] + C[1] * W[1] + C[5] * W[2];
  out[5] = B[2] * U[0] + B[5] * U[1] + B[8] * U[2] + C[4] * W[0] + C[5] * W[1] + C[2] * W[2];
}

/* eliminates the freedoms of a joint from its inertia; false: one has no inertia */
static inline bool eliminate(const mbg__art_link *l, mbg__art_node *n, mbg__art_freedom *x) {
  for (int i = 0; i < l->nz; i++) {
    column_of(&n->I, l->comp[i], x[i].U);
    const real d = x[i].U[l->comp[i]];
    if (!(re(d) > 0)) {
      return false;
    }
    x[i].inverse = 1 / d;
    subtract_outer(&n->I, x[i].inverse, x[i].U);
  }
  return true;
}

/* ---------------------------------------------------------------------- one link */

/* Rel, then the twist from that of the parent (NULL: the ground), own inertia and momentum */
static inline void art_relative(mbg__dca_articulated *k, int i, const mbg__frame *E) {
  frame_mul(&k->nodes[i].Rel, &k->links[i].A, &E[i]);
}

static inline void art_place(mbg__dca_articulated *k, int i, const real *vp, const real *w) {
  const mbg__art_link *l = &k->links[i];
  mbg__art_node *n = &k->nodes[i];
  real s[6] = {0}, Mv[6];
  if (vp) {
    AdInv_mul(n->v, &n->Rel, vp);
  } else {
    v6_zero(n->v);
  }
  if (l->nz == 1 && l->comp[0] == 5) {
    /* ad(v) s of a rotation about z: X v_p suffices, ad(s) s = 0 */
    const real r = w[l->first];
    n->c[0] = n->v[1] * r;
    n->c[1] = -n->v[0] * r;
    n->c[3] = n->v[4] * r;
    n->c[4] = -n->v[3] * r;
    n->c[2] = n->c[5] = 0;
    n->v[5] += r;
  } else {
    for (int j = 0; j < l->nz; j++) {
      s[l->comp[j]] = w[l->first + j];
    }
    v6_axpy(n->v, 1, s);
    ad_mul(n->c, n->v, s);
  }
  own_inertia(l, &n->I);
  momentum(l, n->v, Mv);
  adT_mul(n->p, n->v, Mv);
  v6_scale(n->p, -1, n->p);
}

/* p + Ia c + U (tau - S^T p)/d, added to `to` (parent's, NULL: none); tau NULL: `none`, which is 0 or -0 */
static inline void art_up(const mbg__dca_articulated *k, int i, const real *tau, real none, const real c[6], real p[6],
                          real *u, real *to) {
  const mbg__art_link *l = &k->links[i];
  const mbg__art_node *n = &k->nodes[i];
  const mbg__art_freedom *x = k->free_ + l->first;
  real y[6], z[6];
  for (int j = 0; j < l->nz; j++) {
    const real uj = (tau ? tau[l->first + j] : none) - p[l->comp[j]];
    u[l->first + j] = uj;
    v6_axpy(p, uj * x[j].inverse, x[j].U);
  }
  if (to) {
    inertia_mul(&n->I, c, y);
    v6_axpy(y, 1, p);
    AdInvT_mul(z, &n->Rel, y);
    v6_axpy(to, 1, z);
  }
}

/* v = X vp + c (vp NULL: c), then the accelerations of the joint, into a if wanted */
static inline void art_down(const mbg__dca_articulated *k, int i, const real *vp, const real c[6], const real *u,
                            real v[6], real *a) {
  const mbg__art_link *l = &k->links[i];
  const mbg__art_freedom *x = k->free_ + l->first;
  if (vp) {
    AdInv_mul(v, &k->nodes[i].Rel, vp);
    v6_axpy(v, 1, c);
  } else {
    v6_copy(v, c);
  }
  for (int j = l->nz - 1; j >= 0; j--) {
    const real y = x[j].inverse * (u[l->first + j] - v6_dot(x[j].U, v));
    v[l->comp[j]] += y;
    if (a) {
      a[l->first + j] = y;
    }
  }
}

/* right side in axes of K: -r and c */
static inline void art_load(const mbg__dca_articulated *k, int i, const real *r, const real *c, real p[6], real cK[6]) {
  const mbg__art_link *l = &k->links[i];
  v6_zero(p);
  v6_zero(cK);
  if (r) {
    AdT_mul(p, &l->hC, r + l->off);
    v6_scale(p, -1, p);
  }
  if (c) {
    AdInv_mul(cK, &l->hC, c + l->off);
  }
}

/* vd and, if wanted, f in axes of the body */
static inline void art_unload(const mbg__dca_articulated *k, int i, const real v[6], const real p[6], real *vd,
                              real *f) {
  const mbg__art_link *l = &k->links[i];
  Ad_mul(vd + l->off, &l->hC, v);
  if (f) {
    real y[6];
    inertia_mul(&k->nodes[i].I, v, y);
    v6_axpy(y, 1, p);
    AdInvT_mul(f + l->off, &l->hC, y);
  }
}

/* dca_articulated_pieces.c: cuts a large tree; out is NULL for a small one. */
int mbg__art_pieces_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_articulated *k, mbg__art_pieces **out);
/* reals of scratch for a right side */
size_t mbg__art_pieces_scratch(const mbg__art_pieces *p);
/* false: a piece needs the inertia of what hangs on it; the factors are not valid then. */
bool mbg__art_pieces_dynamics(mbg__dca_articulated *k, const mbg__tree_state *state, const real base[6], real *a);
bool mbg__art_pieces_factor(mbg__dca_articulated *k, const mbg__frame *E);
void mbg__art_pieces_solve(const mbg__dca_articulated *k, const real *r, const real *tau, const real *c, real *vd,
                           real *a, real *f, real *scratch);

/* Between the pieces: wrench q and acceleration vd of each exit from p and b of the sides, for the acceleration of the
   ground, NULL: 0. */
void mbg__art_pieces_coarse(const mbg__art_pieces *s, mbg__art_side *sides, const real *base);

/* dca_articulated_groups.c: pieces side by side; out is NULL if they have many shapes. Constants of the links again. */
int mbg__art_groups_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_articulated *k,
                           struct mbg__art_groups **out);
void mbg__art_groups_refresh(const mbg__dca_articulated *k, struct mbg__art_groups *x);
/* Phases of dynamics of group i (the user is an mbg__art_dynamics); nodes and freedoms of its links after it (the user
   is the recursion). */
void mbg__art_group_place(void *user, int i);
void mbg__art_group_factor(void *user, int i);
void mbg__art_group_accelerate(void *user, int i);
void mbg__art_group_give(void *user, int i);
/* 1 + Phi Ie of a piece in LU, and N = K^T Ie (1 + Phi Ie)^-1 K. */
void mbg__art_exit_factor(const mbg__art_pieces *s, mbg__art_piece *x, real N[36]);
/* After dynamics: nodes and freedoms of all links. */
void mbg__art_pieces_give(mbg__dca_articulated *k);

/* x <- A^-1 x by the factors L U of A (6 x 6), rows exchanged */
static inline void lu_solve(const real A[36], const int pivot[6], real x[6]) {
  for (int j = 0; j < 6; j++) {
    const real y = x[pivot[j]];
    x[pivot[j]] = x[j];
    x[j] = y;
  }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < i; j++) {
      x[i] -= A[6 * i + j] * x[j];
    }
  }
  for (int i = 5; i >= 0; i--) {
    for (int j = i + 1; j < 6; j++) {
      x[i] -= A[6 * i + j] * x[j];
    }
    x[i] /= A[6 * i + i];
  }
}

#endif
