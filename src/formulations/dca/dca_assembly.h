/* The equations of accelerations and multipliers, factorized on a binary tree of pieces of the mechanism (theory 3,
   sections 5-7):

     M vd + B^T lambda = r        B vd = kappa

   M has one block per body, B the kept rows. A piece is a set of bodies. Its rows are open while one of their bodies is
   outside,

     V = b - Phi lambda        V = B vd over the bodies of the piece

   and are eliminated in the piece that holds all their bodies, with the factor of their block of Phi: the D form of
   theory 3, section 6, with the rows of joints, drivers and couplings for D instead of handles. Loops need nothing
   else: the row of a closing joint stays open longer.

   The tree is a parallel tree contraction (Miller and Reif 1985). Its COMPRESS operation joins pieces in pairs, so that
   each round halves their number. Its RAKE operation lets a body with many neighbours absorb the subtrees that hang on
   it: M += B^T Phi^-1 B. The tree depends on the model alone, so that results do not depend on the number of threads. A
   level is a list of independent nodes. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ASSEMBLY_H
#define MBG_FORMULATIONS_DCA_DCA_ASSEMBLY_H

#include "base/pool.h"
#include "start/rank.h"
#include "system/system.h"

typedef struct mbg__dca_assembly mbg__dca_assembly;

/* Takes the patterns of M and B from the system; rank and system are referenced. The threads of a pool share one
   factorization. Memory in the arena. */
int mbg__dca_assembly_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, const mbg__rank *rank,
                             mbg__pool *pool, mbg__dca_assembly **out);

/* Values of M and B by the patterns of the system, referenced until the next factor. MBG_ERROR_SINGULAR names a body
   without inertia, or a row that depends on others. */
int mbg__dca_assembly_factor(mbg_context *ctx, mbg__dca_assembly *a, const real *M, const real *B, double t);

/* Scratch for up to `columns` right sides at once; the threads of the pool (NULL: none) share the nodes of a level. */
typedef struct mbg__dca_panel mbg__dca_panel;
int mbg__dca_panel_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_assembly *a, int columns, mbg__pool *pool,
                          mbg__dca_panel **out);

/* For residuals of the next solves: accelerations below 1e-6 of centripetal ones at these twists v (nw) count as
   rounding; v NULL: none does. */
void mbg__dca_assembly_motion(mbg__dca_assembly *a, const real *v);

/* x ((nv + nrow) x ncol, row-major): r and kappa in, vd and lambda out; 0 for dropped rows. Refined iteratively if the
   residual is large. Returns the largest relative residual. */
double mbg__dca_assembly_solve(const mbg__dca_assembly *a, mbg__dca_panel *p, int ncol, real *x);

/* Column q of the m columns of x: c times y over the free components (of nw) and z over the rows, NULL: 0; and back
   (z may be NULL). */
void mbg__dca_pack(const mbg_model *model, int q, int m, real c, const real *y, const real *z, real *x);
void mbg__dca_unpack(const mbg_model *model, int q, int m, const real *x, real *y, real *z);

/* The shape of the tree: nodes, levels, largest number of open rows; multiplications and additions of a factorization
   and of a right side, in total and along the longest path. */
typedef struct {
  int nodes, depth, most_open;
  double factor, factor_path, solve, solve_path;
} mbg__dca_shape;
mbg__dca_shape mbg__dca_assembly_shape(const mbg__dca_assembly *a);

#endif
