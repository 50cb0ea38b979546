/* The twin: the library's sources compiled with complex scalars. Its functions take complex arrays, so that a test
   compiled with plain double differentiates by complex step: im f(x + i s e)/s with s = TWIN_STEP. */
#ifndef TWIN_H
#define TWIN_H

#include <complex.h>
#undef I /* a good name for a matrix; write CMPLX(re, im) */

#define TWIN_API __attribute__((visibility("default")))

/* the step; its square vanishes against 1, so nothing is truncated */
#define TWIN_STEP 1e-30

#endif
