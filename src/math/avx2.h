/* math: functions between MBG__AVX2_BEGIN and MBG__AVX2_END are compiled for AVX2, also the kernels of math/lanes.h,
   which is included between them. Not defined in the twin and on other processors. */
#ifndef MBG_MATH_AVX2_H
#define MBG_MATH_AVX2_H

#include <stdbool.h>

#if defined(__x86_64__) && !defined(MBG_COMPLEX) && !defined(MBG_ENSEMBLE)
#ifdef __clang__
#define MBG__AVX2_BEGIN _Pragma("clang attribute push(__attribute__((target(\"avx2\"))), apply_to = function)")
#define MBG__AVX2_END _Pragma("clang attribute pop")
#else
#define MBG__AVX2_BEGIN _Pragma("GCC push_options") _Pragma("GCC target(\"avx2\")")
#define MBG__AVX2_END _Pragma("GCC pop_options")
#endif
#endif

/* Has this processor them? */
static inline bool mbg__lanes_wide(void) {
#ifdef MBG__AVX2_BEGIN
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

#endif
