// sparsegam/penalty.hpp: what columns cost, what their coefficients may be, and which may stand together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "types.hpp"

namespace sparsegam {

// lambda2 * sum_j u_j w_j^2 + lambda1 * sum_j sqrt(u_j) |w_j|, where u_j is the spread sigma_j^2 of the column unless units
// are given.
struct Penalty {
    double lambda2 = 0.0, lambda1 = 0.0;
    std::vector<double> unit;                 // u_j; none: the spreads
    bool free_intercept = true;               // or is it held at zero
    std::vector<double> cost;                 // a column's share of lambda0
    std::vector<double> low, high;            // low <= 0 <= high: sign bounds make monotone shapes
    std::vector<std::uint8_t> allowed;        // may the column enter at all
    std::vector<Index> group;                 // the source feature of a column
    std::vector<Index> always;                // columns that are in every model, in ascending order
    Index max_groups = 0, max_per_group = 0;  // limits on source features and on the terms of one; 0: none

    bool bounded(Index column) const { return low[column] > -infinity || high[column] < infinity; }
    bool limited() const { return max_groups > 0 || max_per_group > 0; }
    bool is_always(Index column) const { return std::binary_search(always.begin(), always.end(), column); }

    double clip(Index column, double coef) const { return std::clamp(coef, low[column], high[column]); }

    // Is the coefficient at a bound, with the slope pushing it out?
    bool pinned(Index column, double coef, double grad) const {
        return (coef <= low[column] && grad > 0) || (coef >= high[column] && grad < 0);
    }

    double cost_of(const Point& point) const {
        double sum = 0.0;
        for (Index column : point.columns) sum += cost[column];
        return sum;
    }
};

// The source features on a support: may a column join them, another having left?
class Limits {
  public:
    Limits(const Penalty& penalty, std::span<const Index> columns) : penalty_(penalty) {
        for (Index c : columns) ++terms_[penalty.group[c]];
    }

    bool allow(Index dropped, Index added, Index n_added = 1) const {
        if (!penalty_.limited()) return true;
        const Index from = dropped < 0 ? -1 : penalty_.group[dropped], to = penalty_.group[added];
        const Index in_group = terms(to) - (from == to) + n_added;
        const Index left = static_cast<Index>(terms_.size()) - (from >= 0 && terms(from) == 1);
        const Index groups = left + (in_group == n_added);
        return (penalty_.max_per_group == 0 || in_group <= penalty_.max_per_group) &&
               (penalty_.max_groups == 0 || groups <= penalty_.max_groups);
    }

  private:
    Index terms(Index group) const {
        const auto at = terms_.find(group);
        return at == terms_.end() ? 0 : at->second;
    }

    const Penalty& penalty_;
    std::unordered_map<Index, Index> terms_;
};

}  // namespace sparsegam
