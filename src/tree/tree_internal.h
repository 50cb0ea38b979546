/* Workspace of a tree. Vectors of bodies have the layout of the system (nw). */
#ifndef MBG_TREE_TREE_INTERNAL_H
#define MBG_TREE_TREE_INTERNAL_H

#include "system/system_internal.h"
#include "tree/tree.h"

struct mbg__tree {
  mbg__arena arena;
  const mbg_model *m;
  mbg__system *sys;
  const mbg__design *design;
  int n;
  mbg__link *links;         /*                                                (nbody) */
  int *link_of;             /* of each body                                  (nbody) */
  int *link_of_pair;        /* link whose joint is this pair, -1: none       (npair) */
  int nfloating, *floating; /* links without a joint                  (nbody) */
  bool *held;               /* rows that the tree holds                       (nrow) */
  int nrow, *rows;          /* constraint rows */
  int ndropped, *dropped;
  bool *free_rows; /* not held                                        (nrow) */

  /* refresh */
  mbg__frame *hP, *hC, *hCi; /* by link; hCi = hC^-1                  (nbody) */
  vec6 *Sb;                  /* Ad(hC) S in body axes                (n) */

  /* update */
  bool known; /* Rel and H are those of E */
  bool only_q;
  bool early;               /* late rates are left out */
  mbg__frame *E, *Rel;      /* by link                                 (nbody) */
  mbg__frame *H;            /* by body                                 (nbody) */
  real *v, *vd, *u;         /* twists, their rates, J q                (nw) */
  real *Xv, *Xvd, *Xq;      /* of the parent, in body axes             (nw) */
  real *s, *sa, *sq;        /* Sb w, Sb a, Sb q                        (nw) */
  real *lambda;             /* of all rows                             (model's nrow) */
  real *phi, *phid, *phidd; /* of all rows */
  real t;
  const int *turns;

  /* residual */
  real *F, *f; /* of bodies; of their subtrees                        (nw) */

  /* scratch of derivatives */
  real *theta, *g;                 /* Rel^-1 dRel, Ad(hC) omega_C         (nw) */
  real *eta, *nu, *al, *du, *dr;   /*                                   (nw) */
  real *ct, *cg;                   /* cotangents of theta and g           (nw) */
  real *handles;                   /* sums in place of attributes, NULL: none   (12 per link) */
  real *row0, *row1, *row2, *row3; /*                                 (model's nrow) */

  /* matrices: columns of the path of each link */
  int *col0;                                     /* first column of a link in the lists below      (nbody + 1) */
  int *path;                                     /* coordinate of each column */
  vec6 *J;                                       /* motions of the bodies: dH = H (J dz)~           (columns) */
  vec6 *Je, *Jn, *Ja;                            /* variations of frame, twist, rate in a step      (columns) */
  vec6 *work;                                    /*                                                (longest path) */
  real *B;                                       /* values by the pattern of the system */
  real *Z;                                       /* phid_H, NULL: no rows on rates */
  mbg__dense slopes;                             /* K and C of the bodies */
  bool placed;                                   /* J and B are those of the last update */
  int nblock_row;                                /* pairs (row, body) */
  int *block_row, *block_link, (*block_slot)[6]; /* row, link, places in B of the body's free components */
  bool *used; /* blocks of the bodies' matrices that can be nonzero: not those of held rows alone */
  int nslots, nrow_slots;

  /* models with modal bodies, beams or late rates of states: masses, or derivatives by rates, couple bodies */
  bool coupled;
  real *K, *C, *M; /* values by the pattern of the system */
  mat6 *mass;      /* blocks of M, each transposed                    (blocks of the system) */
  bool *has_mass;  /*                                                 (blocks of the system) */
  real *late;      /* late rates by multipliers: scratch */

  struct mbg__tree_parts *parts; /* tree_local_pieces.h: pieces of a large tree; NULL: a small one */
  struct mbg__tree_modal *modal; /* tree_modal.h: joints on modal bodies; NULL: none, or not created */
};

static inline int link_off(const mbg__tree *t, int k) { return t->m->bodies[t->links[k].body].voff; }
static inline const real *parent_of(const mbg__tree *t, int k, const real *x) {
  return t->links[k].parent >= 0 ? x + link_off(t, t->links[k].parent) : NULL;
}

/* tree_topology.c: links, held rows and constraint rows. */
int mbg__tree_topology(mbg_context *ctx, mbg__tree *t, const mbg__rank *rank);

/* tree_derivative.c: theta and g of a link in a direction; transposed: adds to ge (6 per link) and gattr, NULL: not
   wanted. */
void mbg__tree_geometry_push(mbg__tree *t, int link, const mbg__tree_direction *d);
void mbg__tree_geometry_pull(const mbg__tree *t, int link, const real ct[6], const real cg[6], real *ge, real *gattr);

/* tree_matrix.c: memory of the bodies' matrices, and which of their blocks are used; once. */
int mbg__tree_blocks(mbg_context *ctx, mbg__tree *t);
/* Columns of a link's own coordinates, variations of frame, twist and rate in a step of length h and
   increment D, to Je[step i], Jn[step i], Ja[step i]. */
void mbg__tree_own_columns(const mbg__tree *t, int k, real h, const real *D, vec6 *Je, vec6 *Jn, vec6 *Ja, int step);
/* [[M, Phi_z^T], [Phi_z, 0]] with the hard rows alone, 1 on the diagonal of the others. */
void mbg__tree_matrix_hard(mbg__tree *t, mbg__tree_matrix *x, const bool *hard);

/* X y_p: a twist of the parent in axes of the body, 0 on the ground */
static inline void carried(const mbg__tree *t, int k, const real *y, real out[6]) {
  const real *p = parent_of(t, k, y);
  if (p) {
    AdInv_mul(out, &t->Rel[k], p);
  } else {
    v6_zero(out);
  }
}

/* y_p += c X^T x */
static inline void carry_T(const mbg__tree *t, int k, real c, const real x[6], real *y) {
  if (t->links[k].parent >= 0) {
    real z[6];
    AdInvT_mul(z, &t->Rel[k], x);
    v6_axpy(y + link_off(t, t->links[k].parent), c, z);
  }
}

/* x = y_i - X y_p */
static inline void relative(const mbg__tree *t, int k, const real *y, real x[6]) {
  real c[6];
  carried(t, k, y, c);
  v6_sub(x, y + link_off(t, k), c);
}

/* Rel = hP E hC^-1, and with it the frame of the body */
static inline void set_relative(mbg__tree *t, int k) {
  mbg__frame F;
  frame_mul(&F, &t->hP[k], &t->E[k]);
  frame_mul(&t->Rel[k], &F, &t->hCi[k]);
}

/* the frame of the body from Rel and the parent's */
static inline void follow_parent(mbg__tree *t, int k) {
  const mbg__link *l = &t->links[k];
  if (l->parent >= 0) {
    frame_mul(&t->H[l->body], &t->H[t->links[l->parent].body], &t->Rel[k]);
  } else {
    t->H[l->body] = t->Rel[k];
  }
}

static inline void place_link(mbg__tree *t, int k) {
  set_relative(t, k);
  follow_parent(t, k);
}

/* hC^-1 and Sb = Ad(hC) S of a link */
static inline void set_axes(mbg__tree *t, int k) {
  const mbg__link *l = &t->links[k];
  frame_inv(&t->hCi[k], &t->hC[k]);
  for (int i = 0; i < l->nz; i++) {
    real e[6] = {0};
    e[l->comp[i]] = 1;
    Ad_mul(t->Sb[l->first + i], &t->hC[k], e);
  }
}

/* a vector of the constraint rows among all rows (x NULL: 0), and back (out NULL: unwanted) */
static inline void spread_rows(const mbg__tree *t, const real *x, real *out) {
  vn_zero(t->m->nrow, out);
  for (int i = 0; x && i < t->nrow; i++) {
    out[t->rows[i]] = x[i];
  }
}

static inline void pick_rows(const mbg__tree *t, const real *x, real *out) {
  for (int i = 0; out && i < t->nrow; i++) {
    out[i] = x[t->rows[i]];
  }
}

/* out += Sb x over the coordinates of a link, and transposed; x NULL: nothing */
static inline void joint_add(const mbg__tree *t, int k, const real *x, real out[6]) {
  const mbg__link *l = &t->links[k];
  for (int i = 0; x && i < l->nz; i++) {
    v6_axpy(out, x[l->first + i], t->Sb[l->first + i]);
  }
}

static inline void joint_twist(const mbg__tree *t, int k, const real *x, real out[6]) {
  v6_zero(out);
  joint_add(t, k, x, out);
}

static inline void joint_add_T(const mbg__tree *t, int k, const real y[6], real *x) {
  const mbg__link *l = &t->links[k];
  for (int i = 0; x && i < l->nz; i++) {
    x[l->first + i] += v6_dot(t->Sb[l->first + i], y);
  }
}

/* out += sign ad(a) b, and transposed */
static inline void ad_add(real out[6], const real a[6], const real b[6], double sign) {
  real c[6];
  ad_mul(c, a, b);
  v6_axpy(out, sign, c);
}

static inline void adT_add(real out[6], const real a[6], const real b[6], double sign) {
  real c[6];
  adT_mul(c, a, b);
  v6_axpy(out, sign, c);
}

#endif
