// bind/kernels_avx512.cpp: the kernels compiled for AVX-512, used by matrix_kernels().
#define SPARSEGAM_ARCH avx512
#include "sparsegam/kernels.hpp"

namespace sparsegam {

extern const KernelTable avx512_table;
const KernelTable avx512_table = avx512::table;

}  // namespace sparsegam
