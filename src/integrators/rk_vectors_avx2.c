/* The sums for processors with AVX2: the same operations in the same order, and no fused ones. */
#include "integrators/rk_internal.h"
#include "math/avx2.h"

#ifdef MBG__AVX2_BEGIN
MBG__AVX2_BEGIN
#define LANES(name) name##_avx2
#include "integrators/rk_vectors_kernel.h"
MBG__AVX2_END
#endif
