/* Transposed derivatives in joint coordinates for several columns at once (math/lanes.h). */
#ifndef MBG_TREE_TREE_LANES_H
#define MBG_TREE_TREE_LANES_H

#include "math/lanes.h"
#include "tree/tree.h"

typedef struct mbg__tree_lanes mbg__tree_lanes;

/* Trees of rigid bodies without forces by signals. */
bool mbg__tree_lanes_can(const mbg__tree *t);
int mbg__tree_lanes_create(mbg_context *ctx, mbg__arena *arena, mbg__tree *t, mbg__tree_lanes **out);
/* Vectors of the processor are used where it has them; wide false: those that every one has. */
void mbg__tree_lanes_widen(mbg__tree_lanes *x, bool wide);
/* mbg__tree_pull of nc <= MBG__LANES columns with weights k and results g (nc each): what is NULL is so in all, and mu
   is not. */
void mbg__tree_pull_lanes(mbg__tree_lanes *x, int nc, const mbg__tree_weights *k, const mbg__tree_gradient *g);
/* mbg__tree_push of nc columns, without dlambda: results dE1 (n) and rows (NULL: not wanted), attributes not NULL. */
typedef struct {
  real *dE1, *dphi, *dphid, *dphidd;
} mbg__tree_change;
void mbg__tree_push_lanes(mbg__tree_lanes *x, int nc, const mbg__tree_direction *d, const mbg__tree_change *out);

/* mbg__tree_local_push, then mbg__system_push, of large trees as well: from directions e, w and attributes in the
   workspace (tree_lanes_internal.h) to eta, nu, k (in al), theta and g (in ct, cg) and dr there. */
void mbg__tree_local_push_lanes(mbg__tree_lanes *x);

#endif
