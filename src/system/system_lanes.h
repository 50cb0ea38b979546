/* Transposed derivatives of the equations for several columns at once (math/lanes.h). */
#ifndef MBG_SYSTEM_SYSTEM_LANES_H
#define MBG_SYSTEM_SYSTEM_LANES_H

#include "math/lanes.h"
#include "system/system.h"

typedef struct {
  lane6 *w, *dv, *dvd, *f; /* of pairs: variations and changes of wrenches; cotangents and test twists  (npair) */
  bool *touched;           /*                                             (npair) */
  lane6 *m_geo, *m_w, *m_dv, *m_dvd; /* variations of markers              (nmarker) */
  bool *moved;                       /* their own motion varies            (nmarker) */
} mbg__system_lanes;

/* Models of rigid bodies without signals in their forces; others go by columns. */
bool mbg__system_lanes_fit(const mbg__system *s);
/* ... which are too small for threads. */
bool mbg__system_lanes_can(const mbg__system *s);
int mbg__system_lanes_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *s, mbg__system_lanes **out);

/* mbg__system_pull: weights z (nw), mu, nu, kappa (rows), NULL: 0; results of frames, twists, rates (nw) and
   multipliers (rows), all but w may be NULL; attributes a[q] (na) of the first nc columns, a NULL: not wanted. */
typedef struct {
  const lane *z, *mu, *nu, *kappa;
} mbg__lanes_weights;
typedef struct {
  lane *w, *v, *vd, *lambda;
  int nc;
  real *const *a;
} mbg__lanes_cotangent;
void mbg__system_pull_lanes(mbg__system *s, mbg__system_lanes *l, const mbg__lanes_weights *x,
                            const mbg__lanes_cotangent *g);
/* Attributes that move a marker, from the cotangent of its own motion. */
void mbg__lanes_marker_attributes(const mbg__system *s, int marker, const lane x[6], const mbg__lanes_cotangent *g);

/* mbg__system_push: directions of frames, twists, rates (nw) and multipliers (rows), NULL: 0; of attributes (na) those
   that vary in a column, da NULL: none. Results dr (nw) and of rows, NULL: not wanted. */
typedef struct {
  const lane *w, *dv, *dvd, *dlambda, *da;
  const bool *varied;
} mbg__lanes_direction;
void mbg__system_push_lanes(mbg__system *s, mbg__system_lanes *l, const mbg__lanes_direction *d, lane *dr, lane *dphi,
                            lane *dphid, lane *dphidd);
void mbg__system_push_lanes_avx2(mbg__system *s, mbg__system_lanes *l, const mbg__lanes_direction *d, lane *dr,
                                 lane *dphi, lane *dphid, lane *dphidd);
/* ... of one body of a model without forces and multipliers, with the variations w, dv of its frame and twist; d: those
   of attributes. */
void mbg__system_push_body(const mbg__system *s, int i, const mbg__lanes_direction *d, const lane *w, const lane *dv,
                           lane dr[6]);
void mbg__system_push_body_avx2(const mbg__system *s, int i, const mbg__lanes_direction *d, const lane *w,
                                const lane *dv, lane dr[6]);
/* y = M x (nw); rigid bodies alone. */
void mbg__system_mass_lanes(const mbg__system *s, const lane *x, lane *y);
void mbg__system_mass_lanes_avx2(const mbg__system *s, const lane *x, lane *y);
/* Attribute directions of nc columns, columns[q] (na) each, into da and varied. */
void mbg__lanes_attributes(int na, int nc, const real *const *columns, lane *da, bool *varied);

/* The same for wide vectors; only where the processor has them. */
void mbg__system_pull_lanes_avx2(mbg__system *s, mbg__system_lanes *l, const mbg__lanes_weights *x,
                                 const mbg__lanes_cotangent *g);
void mbg__lanes_marker_attributes_avx2(const mbg__system *s, int marker, const lane x[6],
                                       const mbg__lanes_cotangent *g);

/* mbg__system_push of nc <= MBG__LANES columns without dlambda: in lanes where the model allows it, else one after the
   other. Results by column, NULL: not wanted. */
typedef struct mbg__lanes_block mbg__lanes_block;
int mbg__lanes_block_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *s, mbg__lanes_block **out);
/* In lanes in large models, too, where columns one after the other would go in threads. */
int mbg__lanes_block_create_large(mbg_context *ctx, mbg__arena *arena, const mbg__system *s, mbg__lanes_block **out);
typedef struct {
  real *const *dr, *const *dphi, *const *dphid, *const *dphidd;
} mbg__lanes_change;
void mbg__system_push_block(mbg__system *s, mbg__lanes_block *b, int nc, const mbg__direction *d,
                            const mbg__lanes_change *to);
/* The same with results side by side. varied: the attributes that are other than 0 in a column (more may be listed),
   NULL: they are looked for. */
typedef struct {
  int n;
  const int *attr;
} mbg__lanes_varied;
typedef struct {
  lane *dr, *dphi, *dphid, *dphidd;
} mbg__lanes_side;
void mbg__system_push_side(mbg__system *s, mbg__lanes_block *b, int nc, const mbg__direction *d,
                           const mbg__lanes_varied *varied, const mbg__lanes_side *to);
/* mbg__system_pull of nc <= MBG__LANES columns: weights, and what their gradients are added to. What is NULL in one
   column is NULL in all; w is wanted. b NULL: one column after the other. */
typedef struct {
  const real *z, *mu, *nu, *kappa;
} mbg__block_weights;
typedef struct {
  real *w, *v, *vd, *lambda, *a;
} mbg__block_sums;
void mbg__system_pull_block(mbg__system *s, mbg__lanes_block *b, int nc, const mbg__block_weights *x,
                            const mbg__block_sums *g);
/* Do nc columns go side by side? */
bool mbg__lanes_block_serves(const mbg__lanes_block *b, int nc);

#endif
