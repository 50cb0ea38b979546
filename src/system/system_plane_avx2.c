/* The kernel for processors with AVX2: the same operations in the same order, and no fused ones. */
#include "math/avx2.h"
#include "system/system_plane.h"

#ifdef MBG__AVX2_BEGIN
MBG__AVX2_BEGIN
#define LANES(name) name##_avx2
#include "system/system_plane_kernel.h"
MBG__AVX2_END
#endif
