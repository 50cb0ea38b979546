/* Accelerations, multipliers and their derivatives at one state of the tree (theory 3, sections 5, 9, 11).

     K (vd, lambda) = (-r(vd = 0), -gamma)        K = [[M, B^T], [B, 0]] over the bodies and kept rows, factorized by pieces
     a = S^T Ad(hC^-1) (vd - X vd_p - c)

   or, for trees without rows, by the rake form over bodies and joints (dca_articulated.h). Derivatives use the same factors: K (vd', lambda') = -(r', phidd') with the solution held, K^T = K for the adjoint. Factors are never
   differentiated. */
#ifndef MBG_FORMULATIONS_DCA_DCA_POINT_H
#define MBG_FORMULATIONS_DCA_DCA_POINT_H

#include "formulations/dca/dca_articulated.h"
#include "formulations/dca/dca_assembly.h"
#include "model/design_columns.h"
#include "tree/tree_local.h"

enum { MBG__DCA_PANEL = 8 }; /* columns that are solved together */

typedef struct mbg__dca_point mbg__dca_point;

/* A point of a model: system and tree are referenced and used as scratch. The factors are those of the assembly or (not NULL) of the rake;
   they are shared, and read by all points but that which factorizes. Memory in the arena. */
int mbg__dca_point_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, mbg__tree *tree,
                          mbg__dca_assembly *assembly, mbg__dca_articulated *articulated, int threads,
                          mbg__dca_point **out);

/* At a state (t, E, w, turns): a (n), vd (nw), lambda (nrow), valid until the next call. */
int mbg__dca_point_eval(mbg_context *ctx, mbg__dca_point *p, const mbg__tree_state *state);
const real *mbg__dca_point_a(const mbg__dca_point *p);
double mbg__dca_point_residual(const mbg__dca_point *p); /* largest relative one since the creation */

/* After eval, the system not used for anything else since: brings the system to the full state, where signals can be evaluated; and
   linearizes it. */
int mbg__dca_point_full(mbg_context *ctx, mbg__dca_point *p);
int mbg__dca_point_linearize(mbg_context *ctx, mbg__dca_point *p);
/* Another point at the state and solution of a point that is linearized: linearized, too. */
int mbg__dca_point_follow(mbg_context *ctx, mbg__dca_point *p, const mbg__dca_point *leader);

/* The attributes of consecutive parameters: laid into one vector (na, 0 otherwise), each at its time. */
typedef struct {
  const mbg__design_columns *columns;
  int first; /* parameter of column 0 */
  real *da;
} mbg__dca_attributes;

/* After linearize, for up to MBG__DCA_PANEL columns: a' (n each) in the directions (e, dw) and of the attributes. */
void mbg__dca_point_push(mbg__dca_point *p, int ncol, const real *const *e, const real *const *dw,
                         const mbg__dca_attributes *attributes, real *const *da);

/* Transposed, one cotangent at a time: of a (n), and what signals ask for: of frames, twists, rates (nw) and multipliers (nrow); any may
   be NULL. Adds to ge (6 per link), gw (n), gattr (na). */
typedef struct {
  const real *a, *w, *v, *vd, *lambda;
} mbg__dca_cotangent;
void mbg__dca_point_pull(mbg__dca_point *p, int ncol, const mbg__dca_cotangent *c, real *const *ge, real *const *gw,
                         real *const *gattr);

#endif
