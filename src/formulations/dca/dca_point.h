/* Accelerations, multipliers and their derivatives at one state of the tree (theory 3, sections 5, 9, 11):

     K (vd, lambda) = (-r(vd = 0), -gamma)        K = [[M, B^T], [B, 0]] over bodies and kept rows
     a = S^T Ad(hC^-1) (vd - X vd_p - c)

   K is factorized by pieces (dca_assembly.h), or, for trees without rows, by the articulated-body recursion
   (dca_articulated.h). Derivatives use the same factors: K (vd', lambda') = -(r', phidd') with the solution held, K^T =
   K for the adjoint. Factors are never differentiated. */
#ifndef MBG_FORMULATIONS_DCA_DCA_POINT_H
#define MBG_FORMULATIONS_DCA_DCA_POINT_H

#include "event/event_columns.h"
#include "formulations/dca/dca_articulated_pull.h"
#include "formulations/dca/dca_assembly.h"
#include "formulations/dca/dca_lanes.h"
#include "tree/tree_local.h"

enum { MBG__DCA_PANEL = 8 };   /* most columns that are solved together */
enum { MBG__DCA_LARGE = 200 }; /* bodies from which on a model is worked on by many threads */

typedef struct mbg__dca_point mbg__dca_point;

/* System and tree are referenced and used as scratch. The factors belong to the assembly or, if not NULL, to the
   articulated-body recursion; points of several threads share them, and only one point factorizes. Memory in the
   arena. */
int mbg__dca_point_create(mbg_context *ctx, mbg__arena *arena, mbg__system *sys, mbg__tree *tree,
                          mbg__dca_assembly *assembly, mbg__dca_articulated *articulated, mbg__pool *pool,
                          mbg__dca_point **out);

/* At a state (t, E, w, turns): a (n), vd (nw), lambda (nrow), valid until the next call. */
int mbg__dca_point_eval(mbg_context *ctx, mbg__dca_point *p, const mbg__tree_state *state);
const real *mbg__dca_point_a(const mbg__dca_point *p);
double mbg__dca_point_residual(const mbg__dca_point *p); /* largest relative residual since the creation */
/* Rows that states of the system need (nrow): none of a tree without rows; NULL: all. */
const bool *mbg__dca_point_rows(const mbg__dca_point *p);

/* Brings the system to the full state with accelerations and multipliers, where signals can be evaluated; and
   linearizes it. After eval, unless the system was used otherwise since. */
int mbg__dca_point_full(mbg_context *ctx, mbg__dca_point *p);
int mbg__dca_point_linearize(mbg_context *ctx, mbg__dca_point *p);
/* Brings p to the state and solution of a linearized point, and linearizes it: for push alone. */
int mbg__dca_point_follow(mbg_context *ctx, mbg__dca_point *p, const mbg__dca_point *leader);

/* Memory for many columns of push, if the model can have them side by side; arena NULL: it goes away. */
int mbg__dca_point_columns(mbg_context *ctx, mbg__arena *arena, mbg__dca_point *p);

/* Attribute directions of consecutive parameters, written one at a time into a vector (na) that is 0 otherwise. */
typedef struct {
  const mbg__event_tangent *columns;
  int first; /* parameter of column 0 */
  real *da;
} mbg__dca_attributes;

/* After linearize, for up to MBG__DCA_PANEL columns (half as many of trees without rows): a' (n each) in the directions
   (e, dw) and of the attributes. */
void mbg__dca_point_push(mbg__dca_point *p, int ncol, const real *const *e, const real *const *dw,
                         const mbg__dca_attributes *attributes, real *const *da);

/* The same from the variations e at the start of a step and (dsigma, dw) in it, if the columns go by pieces: one piece
   after the other, or shared by the threads of the pool (NULL: none). */
bool mbg__dca_point_pieces(const mbg__dca_point *p);
typedef struct {
  mbg__dca_step_change change;
  bool shared;
  mbg__pool *pool;
} mbg__dca_step_columns;
void mbg__dca_point_push_step(mbg__dca_point *p, const mbg__dca_step_columns *step, int ncol, const real *const *en,
                              const real *const *dw, const mbg__dca_attributes *attributes, real *const *da);

/* Transposed: cotangents of a (n) and of the quantities that signals depend on: frames, twists, rates (nw) and
   multipliers (nrow); any may be NULL. Adds to ge (6 per link), gw (n), gattr (na). */
typedef struct {
  const real *a, *w, *v, *vd, *lambda;
} mbg__dca_cotangent;
/* After linearize. */
void mbg__dca_point_pull(mbg__dca_point *p, int ncol, const mbg__dca_cotangent *c, real *const *ge, real *const *gw,
                         real *const *gattr);

/* The same for a cotangent b (n) of a alone and after eval alone, if that went by pieces side by side (grouped): to the
   sums in place of gattr. */
bool mbg__dca_point_grouped(const mbg__dca_point *p);
void mbg__dca_point_pull_grouped(const mbg__dca_point *p, const real *b, real *ge, real *gw, mbg__dca_sums *sums);

#endif
