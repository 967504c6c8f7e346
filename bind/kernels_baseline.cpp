// bind/kernels_baseline.cpp: the kernels for any CPU of this architecture, and the choice among the tables.
#define SPARSEGAM_ARCH baseline
#include "sparsegam/kernels.hpp"

#if defined(SPARSEGAM_X86) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace sparsegam {

#if defined(SPARSEGAM_X86)
extern const KernelTable avx2_table;

namespace {

// AVX-512 was measured and does not help: the histograms wait for memory, not for arithmetic.
#if defined(_MSC_VER)
bool has_avx2() {
    int leaf[4];
    __cpuidex(leaf, 1, 0);
    const bool saved = (leaf[2] & (1 << 27)) && (_xgetbv(0) & 0x6) == 0x6;  // the system keeps the wide registers
    const bool fma = leaf[2] & (1 << 12);
    __cpuidex(leaf, 7, 0);
    return saved && fma && (leaf[1] & (1 << 5));
}
#else
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

}  // namespace

const KernelTable& kernels() noexcept {
    static const KernelTable& chosen = has_avx2() ? avx2_table : baseline::table;
    return chosen;
}
#else
const KernelTable& kernels() noexcept { return baseline::table; }
#endif

}  // namespace sparsegam
