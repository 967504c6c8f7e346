// sparsegam/penalty.hpp: what a column costs and what its coefficient may be.
#pragma once

#include <cstdint>
#include <vector>

#include "types.hpp"

namespace sparsegam {

struct Penalty {
    double lambda2 = 0.0;               // ridge: lambda2 * sum_j (sigma_j w_j)^2
    std::vector<double> cost;           // a column's share of lambda0
    std::vector<double> low, high;      // low <= 0 <= high: sign bounds make monotone shapes
    std::vector<std::uint8_t> allowed;  // may the column enter at all
    std::vector<Index> group;           // the source feature of a column

    bool bounded(Index column) const { return low[column] > -infinity || high[column] < infinity; }

    double clip(Index column, double coef) const {
        return coef < low[column] ? low[column] : coef > high[column] ? high[column] : coef;
    }

    double cost_of(const Point& point) const {
        double sum = 0.0;
        for (Index column : point.columns) sum += cost[column];
        return sum;
    }
};

}  // namespace sparsegam
