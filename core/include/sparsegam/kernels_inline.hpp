// sparsegam/kernels_inline.hpp: what all kernels are written with: the namespace of the instruction set, and roots.
#pragma once

#include <math.h>  // C's: its functions are not instantiated anywhere

#include <cstdint>
#include <cstring>

#include "kernel_table.hpp"

#ifndef SPARSEGAM_ARCH
#error "define SPARSEGAM_ARCH before including kernels.hpp"
#endif

#if defined(_MSC_VER)
#define SPARSEGAM_INLINE static __forceinline
#else
#define SPARSEGAM_INLINE static inline __attribute__((always_inline))
#endif

namespace sparsegam::SPARSEGAM_ARCH {

#if defined(_MSC_VER)
SPARSEGAM_INLINE float root(float x) { return sqrtf(x); }
SPARSEGAM_INLINE double root(double x) { return sqrt(x); }
#else
SPARSEGAM_INLINE float root(float x) { return __builtin_sqrtf(x); }
SPARSEGAM_INLINE double root(double x) { return __builtin_sqrt(x); }
#endif

}  // namespace sparsegam::SPARSEGAM_ARCH
