/* Changes of the equations in directions, for direct differentiation: column by column, computed in blocks. */
#ifndef MBG_FORMULATIONS_QR_QR_COLUMNS_H
#define MBG_FORMULATIONS_QR_QR_COLUMNS_H

#include "system/system_lanes.h"

typedef struct {
  mbg__lanes_block *block;
  real *r, *row, *row2; /*                                  (nw), (nrow), (nrow), MBG__LANES columns each */
} mbg__qr_columns;

/* of one column: r (nw) and rows (nrow), which may be changed until the next column */
typedef struct {
  real *r, *phi, *phid, *phidd;
} mbg__qr_change;

int mbg__qr_columns_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, mbg__qr_columns *out);
/* Of column c, one after the other from 0 to ncol - 1, in the directions w, dv, da (nw, nw, na a column; dv and da may
   be NULL) at the point where the system is linearized. With dv: r and phidd; without: r, phid and phi. */
mbg__qr_change mbg__qr_columns_at(mbg__qr_columns *x, mbg__system *sys, size_t c, size_t ncol, const real *w,
                                  const real *dv, const real *da);

#endif
