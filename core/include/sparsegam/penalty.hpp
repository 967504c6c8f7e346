// sparsegam/penalty.hpp: what columns cost, what their coefficients may be, and the limits on which stand together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "types.hpp"

namespace sparsegam {

// Must a product stand beside a plain term of one of its source features, or of both?
enum class Hierarchy { none, weak, strong };

// lambda2 * sum_j u_j w_j^2 + lambda1 * sum_j sqrt(u_j) |w_j|, where u_j is the spread sigma_j^2 of the column unless units
// are given.
struct Penalty {
    double lambda2 = 0.0, lambda1 = 0.0;
    std::vector<double> penalty_scale;        // u_j; none: the spreads
    bool free_intercept = true;               // or is it held at zero
    std::vector<double> cost;                 // a column's share of lambda0
    std::vector<double> low, high;            // low <= 0 <= high: sign bounds make monotone shapes; none: no bounds
    std::vector<std::uint8_t> allowed;        // may the column enter at all
    std::vector<std::int32_t> group;          // the source feature of a column; of a product its pair of them
    std::vector<Index> always;                // columns that are in every model, in ascending order
    Index max_groups = 0, max_per_group = 0;  // limits on source features and on the terms of one; 0: none
    std::vector<std::pair<Index, Index>>
        parents;             // of a product its two source features, else none; empty: no products
    Index max_per_pair = 0;  // limit on the products of two source features; 0: none
    Hierarchy hierarchy = Hierarchy::none;

    double lowest(Index column) const { return low.empty() ? -infinity : low[column]; }
    double highest(Index column) const { return high.empty() ? infinity : high[column]; }
    bool bounded(Index column) const { return lowest(column) > -infinity || highest(column) < infinity; }
    bool limited() const {
        return max_groups > 0 || max_per_group > 0 || max_per_pair > 0 || hierarchy != Hierarchy::none;
    }
    bool has_interactions() const { return !parents.empty(); }
    bool is_interaction(Index column) const { return has_interactions() && parents[column].second != none; }
    bool is_always(Index column) const { return std::binary_search(always.begin(), always.end(), column); }

    double clip(Index column, double coef) const { return std::clamp(coef, lowest(column), highest(column)); }

    // Is the coefficient at a bound, with the slope pushing it out?
    bool pinned(Index column, double coef, double grad) const {
        return (coef <= lowest(column) && grad > 0) || (coef >= highest(column) && grad < 0);
    }

    // The same with the least that any column costs taken off the cost of each. Models of one size compare alike, and
    // where all cost the same, by the same numbers as without a price.
    Penalty above_least_cost() const {
        const auto is_free = [&](std::size_t c) { return is_always(static_cast<Index>(c)); };
        double least = infinity;
        for (std::size_t c = 0; c < cost.size(); ++c)
            if (allowed[c] && !is_free(c)) least = std::min(least, cost[c]);
        Penalty out = *this;
        for (std::size_t c = 0; c < cost.size() && least < infinity; ++c)
            if (!is_free(c)) out.cost[c] -= least;
        return out;
    }

    double cost_of(const Point& point) const {
        double sum = 0.0;
        for (Index column : point.columns) sum += cost[column];
        return sum;
    }
};

}  // namespace sparsegam
