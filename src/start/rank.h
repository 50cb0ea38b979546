/* rank: one analysis of redundant constraints for all formulations (theory 0, section 5).

   Rows are scaled to unit length; column-pivoted QR of B^T, rank at 1e-7. Kept rows I, dropped rows D, B_D = T B_I.
   Rows of bodies that hang on by independent rows (tree parts) are kept beforehand. The others are decided in parts
   without a common column. Sparse factors prove that all rows of a part of 200 or more are independent (rank_full.h);
   where they do not, a part of 400 rows or more is decided by sparse elimination (rank_sparse.h), and a smaller one by
   the dense factors. So long chains and many loops cost linear time. */
#ifndef MBG_START_RANK_H
#define MBG_START_RANK_H

#include "system/system.h"

typedef struct {
  int nrow;
  bool *keep;             /*                                               (nrow) */
  int nkept, *kept;       /* ascending                              (nkept) */
  int ndropped, *dropped; /* ascending                              (ndropped) */
  /* B_D = T B_I by rows: dropped row d depends on kept row `depends[k]` (in kept, ascending) by T[k], d_start[d] <= k <
     d_start[d + 1]; parts without a common column do not depend on each other */
  int *d_start; /*                                                         (ndropped + 1) */
  int *depends; /*                                                         (d_start[ndropped]) */
  double *T;
  double smallest; /* smallest pivot of the kept rows relative to the largest, or the smallest singular value of
                             a part that was proved; 1 when nothing was factored */
} mbg__rank;

/* Do kept rows nearly depend on each other? Solutions of saddle systems are refined then: rounding costs eps times the
   squared condition of the rows, 1e-10 at this limit. */
static inline bool mbg__rank_close(const mbg__rank *rank) { return rank->smallest < 1e-3; }

/* Analyses B at the state of the last update (linearize is not needed). Memory in the arena. room: space for the
   entries of B, which the analysis overwrites; NULL: it takes its own. */
int mbg__rank_analyse(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, real *room, mbg__rank **out);

/* The same decision with other rows dropped (rank->ndropped of them, ascending): T follows from the null vectors. *out
   is `rank` itself when these rows cannot be dropped at this configuration. */
int mbg__rank_choose(mbg_context *ctx, mbg__arena *arena, mbg__rank *rank, const int *dropped, mbg__rank **out);

/* How many of the kept rows are on rates. */
int mbg__rank_kept_rates(const mbg_model *model, const mbg__rank *rank);

/* An error at the first row on rates (rolling, a blade), if there is one: "..., which WHAT does not take; OTHER". */
int mbg__rates_refused(mbg_context *ctx, const mbg_model *model, const char *what, const char *other);

/* True when the reaction signal does not depend on the null space of B^T (tolerance 1e-6 relative). */
bool mbg__rank_reaction_unique(const mbg__system *sys, const mbg__rank *rank, int signal);

/* phi_a da of the dropped rows against T phi_a da of the kept ones: the mechanism cannot follow a direction da that
   changes phi inconsistently. dphi (nrow) = phi_a da, or (rates) phid_a da; differences below `floor` are rounding.
   Returns the worst dropped row, or -1 when all agree to 1e-6 relative. Rows on rates have no part in positions. */
int mbg__rank_inconsistent(const mbg_model *model, const mbg__rank *rank, const real *dphi, bool rates, double floor);

/* Orthonormal basis, in the metric W of the velocities, of the motions that the kept rows allow: Z (nv x (nv - nkept),
   by columns), Z^T W Z = 1, B Z = 0; B: values by the system's pattern. */
int mbg__rank_motions(mbg_context *ctx, const mbg__rank *rank, const mbg__system *sys, const real *B, double *Z);

/* The kept rows of positions alone: a decision of which only keep, nkept and kept are set, memory in the arena; `rank`
   itself without rows on rates. NULL: no memory. */
const mbg__rank *mbg__rank_positions(mbg__arena *arena, const mbg_model *model, const mbg__rank *rank);

/* Dropped rows must keep following from the kept ones during a run. Checks phi (nrow) of the dropped rows at time t
   against `tolerance` times the model's size (at least 1 m): MBG_OK, or mbg__rank_lost of the first row beyond it. phi
   of rows on rates: their phid (mbg__rank_violations). */
int mbg__rank_check(mbg_context *ctx, const mbg_model *model, const mbg__rank *rank, double t, const real *phi,
                    double tolerance);

/* phi (nrow) at the state of the last update, of rows on rates phid. rates: scratch (nrow), NULL: there are none. */
void mbg__rank_violations(const mbg__system *sys, real *phi, real *rates);

/* The error "redundant constraint became independent": dropped row `row` is violated at time t. rate < 0: not known. */
int mbg__rank_lost(mbg_context *ctx, const mbg_model *model, int row, double t, double violation, double rate);

#endif
