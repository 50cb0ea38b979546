/* The equations of accelerations and multipliers, factorized on a binary tree of pieces of the mechanism (theory 3, sections 5-7):

     M vd + B^T lambda = r        B vd = kappa

   M is one block per body, B the kept rows. A piece is a set of bodies; its rows are open as long as one of their bodies is outside,

     V = b - Phi lambda        V = B vd over the bodies of the piece

   and are eliminated in the piece that holds all their bodies, with the factor of their own block of Phi: the D form of theory 3,
   section 6, with D the rows of joints, drivers and couplings instead of handles. Loops need nothing else: a closing joint is a row that
   stays open longer. A body with many neighbours takes trees that hang on it by the rake sum, M += B^T Phi^-1 B.

   Pieces are joined two by two, each round halving their number; the tree depends on the model alone, so that results do not depend on
   the number of threads. Levels are lists of independent nodes of like size: all numbers of a node lie in one block, the blocks of a
   level one after the other. */
#ifndef MBG_FORMULATIONS_DCA_DCA_ASSEMBLY_H
#define MBG_FORMULATIONS_DCA_DCA_ASSEMBLY_H

#include "start/rank.h"
#include "system/system.h"

typedef struct mbg__dca_assembly mbg__dca_assembly;

/* Patterns of M and B are those of the system; rank and system are referenced. threads: at most so many work on one factorization. */
int mbg__dca_assembly_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, const mbg__rank *rank,
                             int threads, mbg__dca_assembly **out);

/* Values of M and B by the patterns of the system; they are referenced until the next factor. A body without inertia or rows that
   depend on each other are MBG_ERROR_SINGULAR, named. */
int mbg__dca_assembly_factor(mbg_context *ctx, mbg__dca_assembly *a, const real *M, const real *B, double t);

/* Room for solves of up to `columns` right sides together, by `threads` threads that share the nodes of a level. */
typedef struct mbg__dca_panel mbg__dca_panel;
int mbg__dca_panel_create(mbg_context *ctx, mbg__arena *arena, const mbg__dca_assembly *a, int columns, int threads,
                          mbg__dca_panel **out);

/* x ((nv + nrow) x ncol, rows one after the other): r and kappa in, vd and lambda out; dropped rows: 0. One step of iterative refinement
   where the residual asks for it. Returns the largest relative residual. */
double mbg__dca_assembly_solve(const mbg__dca_assembly *a, mbg__dca_panel *p, int ncol, real *x);

/* Column q of the m columns of x: c (y over the free components of nw, z over rows; NULL: 0), and back (z may be NULL). */
void mbg__dca_pack(const mbg_model *model, int q, int m, real c, const real *y, const real *z, real *x);
void mbg__dca_unpack(const mbg_model *model, int q, int m, const real *x, real *y, real *z);

/* What the tree looks like: nodes, levels, most open rows; counted multiplications and additions of a factorization and of a right side,
   all and along the longest path. */
typedef struct {
  int nodes, depth, most_open;
  double factor, factor_path, solve, solve_path;
} mbg__dca_shape;
mbg__dca_shape mbg__dca_assembly_shape(const mbg__dca_assembly *a);

#endif
