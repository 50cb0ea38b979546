/* order: in which order the unknowns of a sparse saddle point system [[A, B^T], [B, 0]] are eliminated. */
#ifndef MBG_MATH_ORDER_H
#define MBG_MATH_ORDER_H

#include "math/sparse.h"

/* The unknowns of a matrix whose first ndef have a diagonal that can be a pivot while the others have zeros there. The
   first ones are ordered by minimum degree, and each of the others follows one that it acts on: by then its diagonal is
   no longer zero, so that all pivots can lie on the diagonal and the fill is that of the order. false: there is no
   memory, or rows act on so many unknowns that this order would be costly to find. order: (ncol). */
bool mbg__order_saddle(const mbg_allocator *allocator, const mbg__csc *A, int ndef, int *order);

#endif
