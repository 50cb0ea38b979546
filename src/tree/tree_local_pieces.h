/* Sweeps over a large tree by pieces, in threads: frames and twists from parent to child, cotangents from child to
   parent. */
#ifndef MBG_TREE_TREE_LOCAL_PIECES_H
#define MBG_TREE_TREE_LOCAL_PIECES_H

#include "tree/tree_internal.h"

/* Cuts a large tree; t->parts stays NULL for a small one. */
int mbg__tree_parts_create(mbg_context *ctx, mbg__tree *t);

/* H and v of all links that are not carriers, from E and w of the state; after the carriers. */
void mbg__tree_parts_place(mbg__tree *t, const mbg__tree_state *state);
/* After it: t->eta and t->nu become the cotangents w, dv (nw) of frames and twists, complete for the same links; k (nw)
   and still as in mbg__tree_local_pull. dv NULL: t->nu stays as it is. */
void mbg__tree_parts_pull(mbg__tree *t, const real *w, const real *dv, const real *k, bool still);

#endif
