/* The products for processors with AVX2: the same operations in the same order, and no fused ones. */
#include "formulations/qr/qr_plane.h"
#include "math/avx2.h"

#ifdef MBG__AVX2_BEGIN
MBG__AVX2_BEGIN
#define LANES(name) name##_avx2
#include "formulations/qr/qr_plane_kernel.h"
MBG__AVX2_END
#endif
