/* hessian: products with second derivatives for other rooms. */
#ifndef MBG_HESSIAN_HESSIAN_H
#define MBG_HESSIAN_HESSIAN_H

#include "mbgrad/hessian.h"
#include "run/run.h"

/* As mbg_hessian_product, for the sum of rows: criteria, or points of paths, whose times stay. attributes (NULL: not
   wanted; else every row has room for them): the derivative along the direction of the gradient by every attribute. */
int mbg__hessian_rows(mbg_context *ctx, mbg_hessian *hessian, int nrow, const mbg__gradient_row *rows,
                      const double *direction, double *gradient, double *product, double *attributes);

#endif
