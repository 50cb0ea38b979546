/* kinks: laws that have no second derivatives everywhere. */
#ifndef MBG_HESSIAN_KINKS_H
#define MBG_HESSIAN_KINKS_H

#include "model/model.h"

/* Warns of functions of the file whose value or slope jumps as the motion goes on (abs, min, max, if, a linear table
   of a coordinate or signal): what each crossing adds to the second derivative is left out (theory 9, section 8). */
int mbg__hessian_warn_kinks(mbg_context *ctx, const mbg_model *m);

#endif
