/* The systems of trees eliminated along the tree, without a matrix: behind mbg__tree_matrix (tree.h). */
#ifndef MBG_TREE_TREE_RECURSION_H
#define MBG_TREE_TREE_RECURSION_H

#include "tree/tree_internal.h"

typedef struct mbg__tree_recursion mbg__tree_recursion;

/* No constraint rows, rigid bodies, forces between neighbours in the tree or to the ground. After mbg__tree_blocks. */
bool mbg__tree_recursion_can(const mbg__tree *t);
/* Paths that are long enough to make it cheaper than a sparse matrix; length (nbody): scratch. */
bool mbg__tree_recursion_pays(const mbg__tree *t, int *length);
/* Memory from the arena of the tree; NULL: there is none. */
mbg__tree_recursion *mbg__tree_recursion_create(mbg__tree *t);

/* The system of a step with length h and increment D, h 0: the mass matrix; as mbg__tree_matrix_step and _mass. */
void mbg__tree_recursion_fill(mbg__tree *t, mbg__tree_recursion *r, real h, const real *D);
/* MBG_OK, or MBG_ERROR_SINGULAR and the coordinate. */
int mbg__tree_recursion_factor(mbg__tree *t, mbg__tree_recursion *r, int *where);
/* B (n x nrhs) becomes the solutions. */
void mbg__tree_recursion_solve(mbg__tree_recursion *r, int n, real *B, int nrhs, bool transposed);

size_t mbg__tree_recursion_bytes(const mbg__tree_recursion *r);
void mbg__tree_recursion_keep(const mbg__tree_recursion *r, void *out);
void mbg__tree_recursion_recall(mbg__tree_recursion *r, const void *kept);

#endif
