// sparsegam/column_matrix.hpp: raw numeric columns, dense or sparse, behind the few products that Rows asks of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernel_table.hpp"
#include "linalg.hpp"
#include "types.hpp"

namespace sparsegam {

// A matrix of columns, not owned. `channels` are m numbers per row, rows one after the other.
class Matrix {
  public:
    virtual ~Matrix() = default;

    virtual Index n_rows() const = 0;
    virtual Index n_columns() const = 0;

    virtual void gather(Index column, double* out) const = 0;                        // one column, all its rows
    virtual std::unique_ptr<Matrix> pick(std::span<const Index> columns) const = 0;  // a copy of some columns
    virtual std::unique_ptr<Matrix> in_floats() const { return nullptr; }  // a copy in floats, where that is faster
    virtual std::size_t bytes(Index n_columns) const = 0;                  // about how much memory so many columns take
    // out[c * m + j] = sum over rows of x_c * channel j, for columns [first, first + count)
    virtual void products(Index first, Index count, const double* channels, Index m, double* out) const = 0;
    // out[c] = sum over rows of weight * x_c, in doubles whatever the matrix is in: a spread is the rest of such sums
    virtual void sums(Index first, Index count, const double* weight, double* out) const = 0;
    // out[c] = sum over rows of weight * x_c^2
    virtual void squares(Index first, Index count, const double* weight, double* out) const = 0;
};

}  // namespace sparsegam
