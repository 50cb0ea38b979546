/* math: sparse matrices by compressed columns, and their LU factorization by KLU.

   A pattern is built once from (row, col) pairs, duplicates merged; each pair gets its slot, and assembly is
   A.val[slot[k]] += x. Blocks of vectors are column-major without gaps. */
#ifndef MBG_MATH_SPARSE_H
#define MBG_MATH_SPARSE_H

#include "base/base.h"

/* ---------------------------------------------------------------------- matrix */

typedef struct {
  int nrow, ncol;
  int *colptr; /* column j has the entries colptr[j] .. colptr[j+1]-1          (ncol + 1) */
  int *rowind; /* row of each entry, ascending inside a column                 (colptr[ncol]) */
  real *val;   /* value of each entry                                          (colptr[ncol]) */
} mbg__csc;

/* Builds the pattern of the pairs (row[k], col[k]), k < count, with values zero; slot (count, may be NULL) receives the
   entry of each pair. Memory from the arena. MBG_OK or MBG_ERROR_MEMORY. The pairs must lie inside the matrix. */
int mbg__csc_build(mbg__csc *A, mbg__arena *arena, int nrow, int ncol, int count, const int *row, const int *col,
                   int *slot);

static inline int mbg__csc_count(const mbg__csc *A) { return A->colptr[A->ncol]; }

/* A = 0, pattern kept */
void mbg__csc_zero(mbg__csc *A);
/* Y += s A X,  X is ncol x nrhs, Y is nrow x nrhs */
void mbg__csc_mul_add(real *Y, real s, const mbg__csc *A, const real *X, int nrhs);
/* Y += s A^T X,  X is nrow x nrhs, Y is ncol x nrhs */
void mbg__csc_mul_T_add(real *Y, real s, const mbg__csc *A, const real *X, int nrhs);

/* ---------------------------------------------------------------------- LU by KLU */

/* Where the pivots of a factorization come from:

     MBG__KLU_FRESH    chosen anew each time: the factors depend on the values of A alone. Allocates in each factor.
     MBG__KLU_FROZEN   chosen at the first factor after prepare (or mbg__klu_thaw) and kept (klu_refactor, several times
                       faster, does not allocate). When they suit the values badly, that one factorization is made with
                       fresh pivots, and the frozen ones stay for the next: the factors depend on the values of A and
                       of the first A, not on what came between.

   In both modes a recomputation is bit-identical: in the second if it starts from the same first matrix. */
typedef enum { MBG__KLU_FRESH, MBG__KLU_FROZEN } mbg__klu_mode;

typedef struct mbg__klu mbg__klu;

/* Symbolic analysis of the square A, which is referenced: its values are read at each factor. The allocator is copied
   and serves the object itself; KLU takes its own memory from malloc. MBG_OK or MBG_ERROR_MEMORY, *out NULL then.

   ndef: the first unknowns with a diagonal that can be a pivot, all in a definite matrix. The others have zeros there:
   from 64 unknowns on such a matrix is eliminated in the order of mbg__order_saddle, or by COLAMD where that has none.
   AMD, which KLU takes otherwise, minimizes the fill for pivots on the diagonal of a symmetric pattern; with others the
   factors of a mechanism with many loops become dense. */
int mbg__klu_prepare(mbg__klu **out, const mbg_allocator *allocator, const mbg__csc *A, mbg__klu_mode mode, int ndef);
void mbg__klu_destroy(mbg__klu *klu); /* accepts NULL */

/* MBG_OK, MBG_ERROR_MEMORY, or MBG_ERROR_SINGULAR with the first column whose pivot is zero, or whose values are not
   finite, in *where (may be NULL; -1: not known). Singular up to rounding is not noticed: see mbg__klu_ratio. */
int mbg__klu_factor(mbg__klu *klu, int *where);
/* B <- A^-1 B and B <- A^-T B (not conjugated), B is n x nrhs; after a factor that succeeded. */
void mbg__klu_solve(mbg__klu *klu, real *B, int nrhs);
void mbg__klu_solve_T(mbg__klu *klu, real *B, int nrhs);
/* Smallest pivot divided by the largest, after row scaling: a cheap and crude estimate of the condition. */
mbg__part mbg__klu_ratio(mbg__klu *klu);
/* Factors with frozen pivots can be kept and used again. Bytes of such a copy, 0: there are no frozen pivots. */
size_t mbg__klu_bytes(const mbg__klu *klu);
/* The factors of the last factor into out (mbg__klu_bytes); false: they have pivots of their own, and nothing is kept.
 */
bool mbg__klu_keep(const mbg__klu *klu, void *out);
/* Do the factors of the last factor have the frozen pivots? */
bool mbg__klu_froze(const mbg__klu *klu);
/* They become the factors again, as long as the pivots stay frozen. */
void mbg__klu_recall(mbg__klu *klu, const void *kept);
/* Forgets the frozen pivots: the next factor chooses. */
void mbg__klu_thaw(mbg__klu *klu);
/* Frozen pivots are used from now on without a look at the growth of entries, or with it. For iterations, which notice
   poor factors themselves. */
void mbg__klu_trust(mbg__klu *klu, bool trust);

#endif
