// sparsegam/group_shifts.hpp: what 0/1 columns gain beyond the quadratic model, as each shifts a group of rows.
#pragma once

#include <cmath>
#include <vector>

#include "objective.hpp"

namespace sparsegam {

// Of columns known by their place: how pure their groups are, |gradient| / curvature, which is near 1 where nearly all rows
// have one label; and what the loss says of the best shift of such a group.
class GroupShifts {
  public:
    explicit GroupShifts(const Objective& objective) : objective_(objective) {}

    // The curvature of all rows, and of the group of each column, ridge included.
    double total() const { return total_; }
    double curv(Index place) const { return curv_[place]; }
    void set_total(double curv) { total_ = curv; }
    void set(Index place, double curv) { curv_[place] = curv; }
    void add(double curv) { curv_.push_back(curv); }

    // Beside an intercept it is one whether a column holds for a group or for all others: the smaller says more.
    double purity(Index place, Index column, double grad) const {
        const double group = curv_[place], others = total_ - group + 2.0 * objective_.ridge(column);
        const bool smaller_others = objective_.penalty().free_intercept && others > 0.0 && others < group;
        return std::abs(grad) / (smaller_others ? others : group);
    }

    // How many times the quadratic promise a shift gains, as far as the loss can tell, and at most; how many times the
    // Newton step the best shift is.
    double gain_factor(Index column, double purity) const {
        return is_group(column) ? loss().gain_factor(purity) : 1.0;
    }
    double most_gain_factor(Index column, double purity) const {
        return is_group(column) ? loss().most_gain_factor(purity) : 1.0;
    }
    double step_factor(Index column, double purity) const {
        return is_group(column) ? loss().step_factor(purity) : 1.0;
    }

  private:
    const LossTraits& loss() const { return objective_.loss(); }
    bool is_group(Index column) const { return objective_.columns().zero_one(column); }

    const Objective& objective_;
    double total_ = 0.0;
    std::vector<double> curv_;
};

}  // namespace sparsegam
