/* Nodes of the assembly tree. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ASSEMBLY_INTERNAL_H
#define MBG_FORMULATIONS_DCA_DCA_ASSEMBLY_INTERNAL_H

#include "formulations/dca/dca_assembly.h"
#include "formulations/dca/dca_loops.h"

/* A body (leaf) with the pieces that it has absorbed, or the join of two pieces. Bodies whose masses couple are one
   leaf, that of the first of them: the frame and the modal coordinates of a modal body, the nodes of beams. The front
   has the rows that are eliminated here, then the rows that stay open. */
typedef struct {
  int body;                 /* leaf, else -1 */
  int child[2];             /* join; -1 for a leaf */
  int nabsorbed, *absorbed; /* leaf: nodes absorbed by it */
  int nelim, nopen;         /* rows */
  int *rows;                /*                                          (nelim + nopen) */
  int *place[2];            /* of the open rows of a child in the front  (nopen of the child) */
  int bodies, level;        /* in the piece; height in the tree */
  int *B;                   /* leaf: entries of B by rows of the front   ((nelim + nopen) x nf, -1: 0) */
  int **Z;                  /* leaf: of the rows of each absorbed node (its nopen x nf) */
  int nf, *dof;             /* leaf: free velocities                        (nf) */
  int *from;    /* leaf of beams: first entry in each row of the factor of M, which has few; else NULL  (nf) */
  const int *M; /* leaf: entries of M                        (nf x nf) */

  /* filled by factor */
  real *L;   /* factor of the eliminated block                    (nelim x nelim) */
  real *Q;   /* its coupling to the open rows                     (nelim x nopen) */
  real *SQ;  /* L^-T L^-1 Q                                       (nelim x nopen) */
  real *Phi; /*                                                   (nopen x nopen) */
  real *F;   /* the front while it is built                       (nelim + nopen squared) */
  real *LM;  /* leaf: factor of M                                 (nf x nf) */
  real *Y;   /* leaf: M^-1 B^T by rows of the front               ((nelim + nopen) x nf) */
  real **LR; /* leaf: factors of Phi of each absorbed node        (its nopen squared) */
  real **P;  /* leaf: Phi^-1 Z of each absorbed node              (its nopen x nf) */

  bool regularized; /* leaf: inertia was added */
  bool close;       /* rows that close or were absorbed here nearly depend on each other */
  int b;            /* first open row of the node among those of all nodes */
} mbg__dca_node;

/* Why a node could not be factorized. */
typedef struct {
  bool body; /* without inertia; else a dependent row */
  int index; /* -1: nothing */
} mbg__dca_failure;

struct mbg__dca_assembly {
  const mbg_model *m;
  const mbg__system *sys;
  const mbg__rank *rank;
  const mbg__csc *patM, *patB;
  int nnode;
  mbg__dca_node *nodes; /* leaves in the order of the bodies, then joins */
  int *order, *level;   /* nodes by level: order[level[l]] ..                 (nnode), (depth + 2) */
  int *owner;           /* node that eliminates a row, or the leaf that absorbed it; -1: dropped   (nrow) */
  int nb;               /* open rows of all nodes */
  int most_open, most_front, most_free, depth;
  mbg__dca_failure *failed; /*                                                (nnode) */
  double *path;             /* scratch                                        (nnode) */
  mbg__pool *pool;
  bool always_refine;   /* masses differ much */
  double least;         /* accelerations below this count as rounding */
  double largest_row;   /* largest entry of B, scaled to lengths */
  double (*most_B)[16]; /* scratch of each thread for it */
  bool regularized;     /* some leaf is */
  bool close;           /* some node has rows that nearly depend on each other */
  const real *M, *B;
  int *rowM, *entryM, *colM; /* M and B by rows: where row i begins, entries, columns */
  int *rowB, *entryB, *colB;
};

struct mbg__dca_panel {
  int columns;
  mbg__pool *pool;
  size_t front_size;
  real *front;  /* of each thread                     (threads x (most_front + most_free) x columns) */
  real *b;      /* of the open rows of all nodes      (nb x columns) */
  real *x0;     /* right side, for refinement         ((nv + nrow) x columns) */
  real *dx;     /* correction                         ((nv + nrow) x columns) */
  double *size; /* of the terms of an equation        ((nv + nrow) x columns) */
  size_t nmost; /* numbers of a thread in: */
  double *most; /* largest entries seen by it (dca_assembly_residual.c)      (threads x nmost) */
};

/* dca_assembly_shape.c: nodes by level, children first. */
int mbg__dca_assembly_levels(mbg_context *ctx, mbg__arena *arena, mbg__dca_assembly *a);
/* dca_assembly.c: x <- K^-1 x by the factors, m columns. */
void mbg__dca_sweep(const mbg__dca_assembly *a, mbg__dca_panel *p, int m, real *x);
/* dca_assembly_residual.c: M and B by rows; the largest entry of B. */
int mbg__dca_assembly_rows(mbg_context *ctx, mbg__arena *arena, mbg__dca_assembly *a);
double mbg__dca_largest_row(const mbg__dca_assembly *a);
/* dca_assembly_tree.c: builds the tree of pieces. */
int mbg__dca_assembly_tree_build(mbg_context *ctx, mbg__arena *arena, mbg__dca_assembly *a);

#endif
