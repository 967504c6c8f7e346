// sparsegam/penalty.hpp: penalties and bounds of the columns, and limits on which columns may be in a model together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "types.hpp"

namespace sparsegam {

// Whether an interaction requires a main effect of one (weak) or both (strong) of its source features.
enum class Hierarchy { none, weak, strong };

// The penalty on the coefficients is lambda2 * sum_j u_j w_j^2 + lambda1 * sum_j sqrt(u_j) |w_j|. By default the scale
// u_j is sigma_j^2, the squared norm of the centred column.
struct Penalty {
    double lambda2 = 0.0, lambda1 = 0.0;
    // u_j; empty for the default.
    std::vector<double> penalty_scale;
    // Whether the intercept is fitted; otherwise it is fixed at zero.
    bool free_intercept = true;
    // Factor of lambda0 for each column.
    std::vector<double> cost;
    // Bounds of the coefficients with low <= 0 <= high, for monotone shapes. Empty if there are none.
    std::vector<double> low, high;
    // Whether a column may enter the model.
    std::vector<std::uint8_t> allowed;
    // The source feature of each column or, for interactions, an index that identifies its pair of features.
    std::vector<std::int32_t> group;
    // The columns that are in every model, in ascending order.
    std::vector<Index> always;
    // Limits on the number of source features and on the terms of each; 0 means no limit.
    Index max_groups = 0, max_per_group = 0;
    std::vector<std::pair<Index, Index>>
        // The two source features of each interaction, and none for other columns. Empty if there are no interactions.
        parents;
    // Limit on the interactions of each pair of features; 0 means no limit.
    Index max_per_pair = 0;
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

    // Whether the coefficient is at a bound and the gradient pushes it outwards.
    bool pinned(Index column, double coef, double grad) const {
        return (coef <= lowest(column) && grad > 0) || (coef >= highest(column) && grad < 0);
    }

    // Returns a copy in which the smallest cost of any column is subtracted from all costs. This does not change
    // comparisons of models of one size. If all columns cost the same, all costs become zero, so that results do not
    // depend on lambda0, not even in their last bits.
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
