/* lookahead: which redundant rows to drop, so that the kept ones stay independent when the mechanism moves.

   The dependence of rows changes with the configuration. With the null vectors n(q) of B^T, dropping the rows D leaves
   independent rows as long as the part n_D(q) is regular; a good set at the start may fail a moment later. So D is
   chosen over several configurations around the start: the rows whose parts of the null vectors have the largest
   minimum. */
#ifndef MBG_START_LOOKAHEAD_H
#define MBG_START_LOOKAHEAD_H

#include "start/rank.h"

/* More redundant rows are left as the factorization at the start chose them. */
enum { MBG__LOOKAHEAD_MAX = 64 };

typedef struct mbg__lookahead mbg__lookahead;

/* For a rank decision with dropped rows; memory in the arena. */
int mbg__lookahead_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *model, const mbg__rank *rank,
                          mbg__lookahead **out);
/* Adds the configuration of the last update when it has as many redundant rows as the start. */
int mbg__lookahead_add(mbg_context *ctx, mbg__arena *arena, mbg__lookahead *look, mbg__system *sys);
/* Rows to drop (ndropped, ascending), or NULL when nothing was added. */
const int *mbg__lookahead_choose(mbg__lookahead *look);

#endif
