/* Linear models in complex arithmetic: derivatives of A, B, C, D by parameters, with the point found anew. */
#ifndef TWIN_LINEARIZE_H
#define TWIN_LINEARIZE_H

#include "mbgrad/linearize.h"
#include "twin/twin.h"
#include "twin/twin_modes.h"

/* A, B, C, D by rows at the parameters p (np), as mbg_linearize_create has them with these options. about: the
   equilibrium that the library found; NULL: the point is found anew. */
TWIN_API int twin_linearize_matrices(twin_modes *t, const mbg_linearize_options *opt, const twin_modes_given *about,
                                     const double _Complex *p, double _Complex *const matrices[4]);

#endif
