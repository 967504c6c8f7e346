// bind/kernels_avx2.cpp: the kernels compiled for AVX2.
#define SPARSEGAM_ARCH avx2
#include "sparsegam/kernels.hpp"

namespace sparsegam {

extern const KernelTable avx2_table;
const KernelTable avx2_table = avx2::table;

}  // namespace sparsegam
