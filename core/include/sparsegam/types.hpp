// sparsegam/types.hpp: the nouns every other header speaks of.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace sparsegam {

using Index = std::int64_t;  // rows and columns: 2^31 rows are not out of reach

inline constexpr Index none = -1;
inline constexpr double infinity = std::numeric_limits<double>::infinity();

// One model: score = intercept + sum of coef[s] * column[s], with the loss (a sum over rows) and the ridge it has.
struct Point {
    double intercept = 0.0;
    std::vector<Index> columns;
    std::vector<double> coef;
    double loss = infinity;
    double ridge = 0.0;

    Index size() const { return static_cast<Index>(columns.size()); }
    double value() const { return loss + ridge; }  // the objective without its lambda0 part
};

// What a search did, in numbers that do not depend on the machine.
struct Counts {
    Index scans = 0;         // passes that score every add, drop and swap
    Index rescans = 0;       // the same with the curvature of the last scan held
    Index trials = 0;        // moves verified on the rows
    Index failed = 0;        // of them, those that did not lower the objective
    Index moves = 0;         // of them, those made
    Index newton_steps = 0;  // steps of refits
};

}  // namespace sparsegam
