// bind/kernels_baseline.cpp: the kernels for any CPU of the architecture, and the selection of a table.
#define SPARSEGAM_ARCH baseline
#include "sparsegam/kernels.hpp"

#if defined(SPARSEGAM_X86) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace sparsegam {

#if defined(SPARSEGAM_X86)
extern const KernelTable avx2_table, avx512_table;

namespace {

#if defined(_MSC_VER)
// Whether the operating system saves the registers in the bit mask `saved`, and the CPU supports FMA and the features
// in the bit mask `wanted` (leaf 7, EBX).
bool has(unsigned long long saved, int wanted) {
    int leaf[4];
    __cpuidex(leaf, 1, 0);
    const bool fma = leaf[2] & (1 << 12);
    if (!fma || !(leaf[2] & (1 << 27)) || (_xgetbv(0) & saved) != saved) return false;
    __cpuidex(leaf, 7, 0);
    return (leaf[1] & wanted) == wanted;
}
bool has_avx2() { return has(0x6, 1 << 5); }
bool has_avx512() { return has(0xe6, 1 << 5 | 1 << 16 | 1 << 17 | 1 << 30 | int(1u << 31)); }
#else
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

}  // namespace

const KernelTable& kernels() noexcept {
    static const KernelTable& chosen = has_avx2() ? avx2_table : baseline::table;
    return chosen;
}

const KernelTable& matrix_kernels() noexcept {
    static const KernelTable& chosen = has_avx512() ? avx512_table : kernels();
    return chosen;
}
#else
const KernelTable& kernels() noexcept { return baseline::table; }
const KernelTable& matrix_kernels() noexcept { return baseline::table; }
#endif

}  // namespace sparsegam
