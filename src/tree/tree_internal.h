/* The workspace behind tree/tree.h. Vectors of bodies are laid out like those of the system (nw). */
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
  mbg__link *links; /*                                                (nbody) */
  int *link_of;     /* of each body                                  (nbody) */
  bool *held;       /* rows that the tree holds                       (nrow) */
  int nrow, *rows;  /* constraint rows */
  int ndropped, *dropped;
  bool *free_rows; /* not held                                        (nrow) */

  /* refresh */
  mbg__frame *hP, *hC, *hCi; /* by link; hCi = hC^-1                  (nbody) */
  vec6 *Sb;                  /* Ad(hC) S in body axes                (n) */

  /* update */
  bool known; /* Rel and H are those of E */
  bool only_q;
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
  real *F, *f; /* of bodies; with all that hangs on them              (nw) */

  /* scratch of derivatives */
  real *theta, *g;                 /* Rel^-1 dRel, Ad(hC) omega_C         (nw) */
  real *eta, *nu, *al, *du, *dr;   /*                                   (nw) */
  real *ct, *cg;                   /* cotangents of theta and g           (nw) */
  real *row0, *row1, *row2, *row3; /*                                 (model's nrow) */

  /* matrices: columns of the path of each link */
  int *col0;                                     /* first column of a link in the lists below      (nbody + 1) */
  int *path;                                     /* coordinate of each column */
  vec6 *J;                                       /* motions of the bodies: dH = H (J dz)~           (columns) */
  vec6 *Je, *Jn, *Ja;                            /* variations of frame, twist, rate in a step      (columns) */
  vec6 *work;                                    /*                                                (longest path) */
  real *B;                                       /* values by the pattern of the system */
  mbg__dense slopes;                             /* K and C of the bodies */
  bool placed;                                   /* J and B are those of the last update */
  int nblock_row;                                /* pairs (row, body) */
  int *block_row, *block_link, (*block_slot)[6]; /* row, link, places in B of the body's free components */
  bool *used; /* blocks of the bodies' matrices that can be other than 0: not those of held rows alone */
  int nslots, nrow_slots;

  struct mbg__tree_bending
      *bends; /* tree_bend.c: links on modal bodies; NULL: there are none, or nobody asked for them */
};

static inline int link_off(const mbg__tree *t, int k) { return t->m->bodies[t->links[k].body].voff; }
static inline const real *parent_of(const mbg__tree *t, int k, const real *x) {
  return t->links[k].parent >= 0 ? x + link_off(t, t->links[k].parent) : NULL;
}

/* tree_derivative.c: theta and g of a link in a direction, and transposed: adds to ge (6 per link) and gattr; these may be NULL. */
void mbg__tree_geometry_push(mbg__tree *t, int link, const mbg__tree_direction *d);
void mbg__tree_geometry_pull(const mbg__tree *t, int link, const real ct[6], const real cg[6], real *ge, real *gattr);

/* out += Sb x over the coordinates of a link, and transposed; x NULL: nothing */
static inline void joint_add(const mbg__tree *t, int k, const real *x, real out[6]) {
  const mbg__link *l = &t->links[k];
  for (int i = 0; x && i < l->nz; i++) {
    v6_axpy(out, x[l->first + i], t->Sb[l->first + i]);
  }
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
