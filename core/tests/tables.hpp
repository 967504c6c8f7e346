// core/tests/tables.hpp: all tables of kernels that this CPU can run.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "sparsegam/kernels.hpp"

namespace sparsegam {

#if defined(SPARSEGAM_X86)
extern const KernelTable avx2_table, avx512_table;
#endif

struct NamedTable {
    std::string name;
    const KernelTable* table;
};

// The baseline table is compiled here, as in bind/kernels_baseline.cpp. The CPU supports AVX2 or AVX-512 if their
// tables are selected.
inline std::vector<NamedTable> tables() {
    std::vector<NamedTable> out{{"baseline", &SPARSEGAM_ARCH::table}};
#if defined(SPARSEGAM_X86)
    if (&kernels() == &avx2_table)
        out.push_back({"avx2", &avx2_table});
    else
        std::printf("no AVX2 on this CPU: its table is not tested\n");
    if (&matrix_kernels() == &avx512_table)
        out.push_back({"avx512", &avx512_table});
    else
        std::printf("no AVX-512 on this CPU: its table is not tested\n");
#endif
    return out;
}

}  // namespace sparsegam
