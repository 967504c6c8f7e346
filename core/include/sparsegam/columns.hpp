// sparsegam/columns.hpp: what the columns of a design are like, gathered once and never asked of the rows again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "types.hpp"

namespace sparsegam {

enum class ColumnKind : std::uint8_t {
    step,   // x <= t: 0 or 1, and nested within the steps of larger t
    level,  // x == level, x is missing: 0 or 1
    raw,    // a number
};

// Columns [first, last) with x_a x_b = x_a for a < b: the thresholds of a feature. Their pairs need no pass
// of their own.
struct Nested {
    Index first, last;
};

struct Columns {
    std::vector<ColumnKind> kind;
    std::vector<double> mean;    // weighted
    std::vector<double> spread;  // sigma^2: squared weighted norm of the centred column
    std::vector<Nested> nested;
    double total_weight = 0.0;
    Index shortlist = 0;  // a scan of at most so many columns costs less than one of all; 0: none does

    Index size() const { return static_cast<Index>(kind.size()); }
    bool zero_one(Index column) const { return kind[column] != ColumnKind::raw; }
    bool all_zero_one() const {
        return std::none_of(kind.begin(), kind.end(), [](ColumnKind k) { return k == ColumnKind::raw; });
    }

    // How far a unit of coefficient moves a typical score.
    double reach(Index column) const { return zero_one(column) ? 1.0 : std::sqrt(spread[column] / total_weight); }
};

}  // namespace sparsegam
