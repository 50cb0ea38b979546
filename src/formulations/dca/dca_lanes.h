/* Columns of direct differentiation of trees without rows, MBG__LANES at once (math/lanes.h): kinematics of the tree,
   changes of the equations, and the articulated-body recursion. */
#ifndef MBG_FORMULATIONS_DCA_DCA_LANES_H
#define MBG_FORMULATIONS_DCA_DCA_LANES_H

#include "event/event_columns.h"
#include "formulations/dca/dca_articulated.h"
#include "math/lanes.h"

typedef struct mbg__dca_lanes mbg__dca_lanes;

/* Trees of rigid bodies without forces by signals. */
bool mbg__dca_lanes_can(const mbg__tree *tree, const mbg__dca_articulated *articulated);
/* Factors and tree are referenced. Memory in the arena. */
int mbg__dca_lanes_create(mbg_context *ctx, mbg__arena *arena, mbg__tree *tree, const mbg__dca_articulated *articulated,
                          mbg__dca_lanes **out);

/* Directions in a step (dca_flow.h): e = Ad(X^-1) e_n + S T(sigma) dsigma. */
typedef struct {
  const mbg__frame *X;
  const real *sigma, *const *dsigma;
} mbg__dca_step_change;

/* Directions of nc <= MBG__LANES columns: e (6 per link) and dw (n) by column, attributes of parameters from `first` on
   (da (na) is 0 and scratch); f (nw): wrenches of the joints at the state. */
typedef struct {
  int nc, first;
  const mbg__dca_step_change *step; /* of a push by pieces: e is that at the start of the step */
  const real *const *e, *const *dw;
  const mbg__event_tangent *columns;
  real *da;
  const real *f;
} mbg__dca_lanes_direction;
/* a' (n each). false: right sides need refinement, one after the other, and nothing is written. */
bool mbg__dca_lanes_push(mbg__dca_lanes *x, const mbg__dca_lanes_direction *d, real *const *out);
/* Trees without forces other than gravity whose factors are those of pieces: one piece after the other, so that the
   columns of a piece stay in the cache, or, if `shared`, in the threads of the pool, which may be NULL. Both have bits
   of their own. */
bool mbg__dca_lanes_pieces(const mbg__dca_lanes *x);
void mbg__dca_lanes_push_pieces(mbg__dca_lanes *x, const mbg__dca_lanes_direction *d, bool shared, mbg__pool *pool,
                                real *const *out);

#endif
