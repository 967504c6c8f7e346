// sparsegam/column_gram.hpp: X' diag(h) X of a few columns, by parts of the rows.
#pragma once

#include <algorithm>
#include <vector>

#include "kernel_table.hpp"
#include "linalg.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace sparsegam {

// In floats or in doubles. How many parts there are depends on the rows alone, so that bits do not depend on threads.
template <class Real>
Symmetric gram_of(Index n_rows, const std::vector<const double*>& x, const double* h, Pool& pool) {
    constexpr Index least_rows = 4096, most_parts = 64;  // each part has a matrix of its own
    const Index size = static_cast<Index>(x.size()),
                rows = std::max(least_rows, (n_rows + most_parts - 1) / most_parts);
    std::vector<std::vector<Real>> sums((n_rows + rows - 1) / rows);
    pool.run(static_cast<Index>(sums.size()), [&](Index part) {
        const Index begin = part * rows;
        std::vector<const double*> here;
        for (const double* column : x) here.push_back(column + begin);
        std::vector<Real> work(gram_room(size));
        sums[part].resize(size * size);
        matrix_kernels().dense<Real>().add_gram(std::min(rows, n_rows - begin), size, here.data(), h + begin,
                                                sums[part].data(), work.data());
    });
    Symmetric gram(size);
    for (const auto& sum : sums)
        for (Index j = 0; j < size; ++j)
            for (Index i = 0; i <= j; ++i) gram(i, j) += sum[j * size + i];
    for (Index j = 0; j < size; ++j)
        for (Index i = 0; i < j; ++i) gram(j, i) = gram(i, j);
    return gram;
}

}  // namespace sparsegam
