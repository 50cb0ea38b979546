/* modal_reduce: a finite-element model as a modal body. Nodes have three (displacement) or six (and rotation) unknowns,
   in the order of the nodes.

   Modes by Craig and Bampton: the frame is fixed to some nodes; each unknown of the interface nodes gives a static
   mode; the lowest vibrations with the interface held, too, follow. With the rigid motions R = (e_a, e_a x s) and a
   shape turned node by node, A_a phi = e_a x phi, all invariants are products with the mass matrix:

     I3, I4 = R^T M phi    I6 = phi^T M phi    I5_jk.a = (A_a phi_j)^T M phi_k    I8_j,ab = R_a^T M A_b phi_j
     I9_jk,ab = (A_a phi_j)^T M A_b phi_k

   exact for displacements of nodes (three unknowns); of rotations the second-order terms are those of the nodes. */
#ifndef MBG_LOAD_MODAL_REDUCE_H
#define MBG_LOAD_MODAL_REDUCE_H

#include "model/modal.h"

typedef struct {
  int nnode, per_node; /* 3 or 6 unknowns at each */
  const double *place; /* (nnode x 3) */
  const double *M, *K; /* column-major, symmetric */
  const bool *fixed, *interface;
} mbg__mesh;

/* Static modes there are. */
int mbg__mesh_static(const mbg__mesh *mesh);
/* Shapes (unknowns x n, column-major). MBG_ERROR_SINGULAR: the held nodes do not hold the body, or M is not
   positive. */
int mbg__mesh_modes(mbg_context *ctx, const mbg__mesh *mesh, int n, double *shapes);
/* The flat array of model/modal.h (zero damping) from shapes. */
int mbg__mesh_invariants(mbg_context *ctx, const mbg__mesh *mesh, int n, const double *shapes, double *D);

#endif
