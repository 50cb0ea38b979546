/* rank_rates: rows of positions are decided before rows on rates (theory 8, section 5). One decision for all of them
   might drop a row of positions in favour of a row on rates, and positions would drift. */
#ifndef MBG_START_RANK_RATES_H
#define MBG_START_RANK_RATES_H

#include "base/base.h"

/* Rows of a part, as the columns of A (ncol x nrow, of unit length), some of them on rates. order: the kept rows, those
   of positions first, then the dropped ones; T (rank x (nrow - rank)): A_dropped = A_kept T. smallest: the smallest
   pivot. Memory in the arenas; T in `arena`. */
int mbg__rank_rates(mbg_context *ctx, mbg__arena *scratch, mbg__arena *arena, int ncol, int nrow, const double *A,
                    const bool *rate, double tolerance, int *order, int *rank, double **T, double *smallest);

#endif
