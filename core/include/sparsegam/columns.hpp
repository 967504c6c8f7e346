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
    ramp,   // min(x - t, 0)
    raw,    // a number
};

// Columns of one feature whose pairs need no pass of their own: its steps [first, last), with x_a x_b = x_a for a < b, and
// its ramps, whose products follow from their knots.
struct Nested {
    Index first, last;
    Index first_ramp = 0, last_ramp = 0;
};

struct ColumnInfo {
    std::vector<ColumnKind> kind;
    std::vector<double> mean;             // weighted
    std::vector<double> centred_sq_norm;  // sigma^2: squared weighted norm of the centred column
    std::vector<Nested> nested;
    std::vector<double> knot;  // t of steps and ramps, in the unit of the ramps; empty where there are no ramps
    double total_weight = 0.0;
    Index shortlist = 0;  // a scan of at most so many columns costs less than one of all; 0: none does

    Index size() const { return static_cast<Index>(kind.size()); }
    bool zero_one(Index column) const { return zero_one(kind[column]); }
    bool all_zero_one() const {
        return std::all_of(kind.begin(), kind.end(), [](ColumnKind k) { return zero_one(k); });
    }

    static bool zero_one(ColumnKind kind) { return kind == ColumnKind::step || kind == ColumnKind::level; }

    // How far a unit of coefficient moves a typical score.
    double reach(Index column) const {
        return zero_one(column) ? 1.0 : std::sqrt(centred_sq_norm[column] / total_weight);
    }
};

}  // namespace sparsegam
